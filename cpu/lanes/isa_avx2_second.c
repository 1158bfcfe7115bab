/* SPDX-License-Identifier: MIT */
#define LANES 8
#define ISA_NAME avx2
#include "isa_second_template.h"
