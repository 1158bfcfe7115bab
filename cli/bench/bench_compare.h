/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_BENCH_BENCH_COMPARE_H
#define CAROM_CLI_BENCH_BENCH_COMPARE_H

#include "bench_json.h"

/* Rows of `now` over those of the same name in `old`: the ratio of their times, and a word where it is further from 1
 * than twice the spread of both. What only one of them has is counted, another machine or batch size is said. */
void bench_compare(const bench_json *old, const bench_json *now, const char *old_path, output *out);

#endif
