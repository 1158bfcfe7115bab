/* SPDX-License-Identifier: MIT */
#define LANES 4
#define ISA_NAME neon
#include "isa_second_template.h"
