/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_BENCH_BENCH_CSV_H
#define CAROM_CLI_BENCH_BENCH_CSV_H

#include "bench_json.h"

/* A line for each round of each row, for programs that test by their own methods. Returns an exit status with the
 * message printed. */
int bench_csv(const bench_json *json, const char *path);

#endif
