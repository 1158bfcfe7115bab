/* SPDX-License-Identifier: MIT */
#define LANES 16
#define ISA_NAME avx512
#define MESH_WIDTH 16
#include "mesh_template.h"
