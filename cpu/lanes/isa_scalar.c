/* SPDX-License-Identifier: MIT */
#define LANES 1
#define ISA_NAME scalar
#define ISA_MESH_WIDTH 8
#include "isa_template.h"
