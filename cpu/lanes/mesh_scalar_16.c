/* SPDX-License-Identifier: MIT */
#define LANES 1
#define ISA_NAME scalar
#define MESH_WIDTH 16
#include "mesh_template.h"
