/* SPDX-License-Identifier: MIT */
/* Pair programs of fast mode. */
#include "pairs.h"
#include "pairs_kernel.h"
