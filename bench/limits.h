/* SPDX-License-Identifier: MIT */
/* What one core of this machine does at most, by loops that do nothing else. */
#ifndef CAROM_BENCH_LIMITS_H
#define CAROM_BENCH_LIMITS_H

#include "bench.h"

/* For the best instruction set up to `isa`; all zero if there are no plain loops for it. */
bench_limits limits_measure(carom_isa isa, int quick);

#endif
