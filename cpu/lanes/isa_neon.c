/* SPDX-License-Identifier: MIT */
#define LANES 4
#define ISA_NAME neon
#define ISA_MESH_WIDTH 8
#include "isa_template.h"
