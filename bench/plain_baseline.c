/* SPDX-License-Identifier: MIT */
/* The plain loops for what every machine of its kind has: SSE2 on x86-64, NEON on aarch64. */
#define PLAIN_TABLE plain_baseline
#define PLAIN_NAME "baseline"
#define PLAIN_BITS 128
#include "plain_template.h"
