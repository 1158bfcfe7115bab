/* SPDX-License-Identifier: MIT */
#define LANES 4
#define ISA_NAME sse41
#include "isa_second_template.h"
