/* SPDX-License-Identifier: MIT */
#define LANES 4
#define ISA_NAME sse41
#define ISA_MESH_WIDTH 8
#include "isa_template.h"
