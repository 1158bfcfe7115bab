/* SPDX-License-Identifier: MIT */
#ifndef CAROM_BENCH_BASELINE_H
#define CAROM_BENCH_BASELINE_H

#include "peers.h"

/* The plain loops that a user would write first, as peers; NULL beyond the last. */
const peer *baseline_peer(size_t index);

#endif
