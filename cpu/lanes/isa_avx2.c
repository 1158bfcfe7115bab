/* SPDX-License-Identifier: MIT */
#define LANES 8
#define ISA_NAME avx2
#define ISA_MESH_WIDTH 8
#include "isa_template.h"
