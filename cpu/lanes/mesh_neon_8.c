/* SPDX-License-Identifier: MIT */
#define LANES 4
#define ISA_NAME neon
#define MESH_WIDTH 8
#include "mesh_template.h"
