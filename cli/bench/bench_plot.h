/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_BENCH_BENCH_PLOT_H
#define CAROM_CLI_BENCH_BENCH_PLOT_H

#include "bench_json.h"

/* Can a picture of this name be drawn: its ending is known, gnuplot is there? Returns an exit status with the message
 * printed. */
int bench_plot_check(const char *path);
/* A panel of the scenes, with the limit of one core above them, and one for each series that --scaling has taken. */
int bench_plot(const bench_json *json, const char *path);

#endif
