/* SPDX-License-Identifier: MIT */
/* What the cores of this machine do at most, by loops that do nothing else. */
#ifndef CAROM_BENCH_LIMITS_H
#define CAROM_BENCH_LIMITS_H

#include "bench.h"

/* By loops for `isa`; all zero if there are none. */
bench_limits limits_measure(carom_isa isa, uint32_t threads, int quick);

/* What copies reach on the device, by its number; zeros, and why, if they cannot be measured. */
const char *limits_of_device(bench_device *device, int quick);

#endif
