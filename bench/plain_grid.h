/* SPDX-License-Identifier: MIT */
#ifndef CAROM_BENCH_PLAIN_GRID_H
#define CAROM_BENCH_PLAIN_GRID_H

#include "peers.h"

/* The pairs of a cloud by a uniform grid; the state is the task. */
void plain_grid_run(void *state, size_t count);

#endif
