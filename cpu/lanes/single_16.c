/* SPDX-License-Identifier: MIT */
#define MESH_WIDTH 16
#include "single_template.h"
