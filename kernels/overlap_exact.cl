/* SPDX-License-Identifier: MIT */
/* The pair program of exact overlap. Its floating-point filter is in binary32, so devices without binary64 have it
 * too. */
#define PAIR_SOLVERS
#include "pairs.h"
#include "overlap_exact.h"
#include "pairs_kernel.h"
