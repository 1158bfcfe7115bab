/* SPDX-License-Identifier: MIT */
/* SVG within the report: medians with their intervals, lines of series, a roofline. */
#ifndef CAROM_CLI_BENCH_REPORT_PLOT_H
#define CAROM_CLI_BENCH_REPORT_PLOT_H

#include "bench_compare.h"

/* Rows of one scene: nanoseconds per query, one below the other. */
void report_plot_scene(output *out, const bench_row *rows, size_t count);
/* Rows of a series over their size. */
void report_plot_series(output *out, const bench_row *rows, size_t count);
/* Rows that have limits of as many threads. Returns how many there are; nothing is drawn of none. */
int report_plot_roofline(output *out, const bench_json *json, const bench_limits *limits);
/* What rows have moved by, those with a verdict first. */
void report_plot_moves(output *out, const bench_comparison *c);

const char *report_colour(const bench_row *r);
const char *report_subject(const bench_row *r); /* behind the scene */
int report_is_exact(const bench_row *r);

#endif
