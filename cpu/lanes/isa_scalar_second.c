/* SPDX-License-Identifier: MIT */
#define LANES 1
#define ISA_NAME scalar
#include "isa_second_template.h"
