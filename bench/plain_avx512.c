/* SPDX-License-Identifier: MIT */
/* The plain loops for AVX-512; compiled with -mavx512f, dq, bw, vl and vectors of 512 bits. */
#define PLAIN_TABLE plain_avx512
#define PLAIN_NAME "avx512"
#define PLAIN_BITS 512
#include "plain_template.h"
