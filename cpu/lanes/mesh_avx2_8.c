/* SPDX-License-Identifier: MIT */
#define LANES 8
#define ISA_NAME avx2
#define MESH_WIDTH 8
#include "mesh_template.h"
