/* SPDX-License-Identifier: MIT */
#define LANES 1
#define ISA_NAME scalar
#include "isa_template.h"
