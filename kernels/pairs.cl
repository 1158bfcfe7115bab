/* SPDX-License-Identifier: MIT */
/* Pair programs of fast mode. */
#define PAIR_SOLVERS
#include "pairs.h"
#include "pairs_kernel.h"
