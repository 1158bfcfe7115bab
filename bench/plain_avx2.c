/* SPDX-License-Identifier: MIT */
/* The plain loops for AVX2; compiled with -mavx2. */
#define PLAIN_TABLE plain_avx2
#define PLAIN_NAME "avx2"
#define PLAIN_BITS 256
#include "plain_template.h"
