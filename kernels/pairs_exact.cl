/* SPDX-License-Identifier: MIT */
/* Pair programs of exact mode. */
#define PAIR_SOLVERS
#include "wide.h" /* first: headers have exact bodies where it is */
#include "pairs_exact.h"
#include "pairs_kernel.h"
