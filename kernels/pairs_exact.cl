/* SPDX-License-Identifier: MIT */
/* Pair programs of exact mode. */
#include "pairs.h"
#include "pairs_exact.h"
#include "pairs_kernel.h"
