/* SPDX-License-Identifier: MIT */
#define LANES 16
#define ISA_NAME avx512
#include "isa_second_template.h"
