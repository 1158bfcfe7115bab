/* SPDX-License-Identifier: MIT */
/* The table that carom bench prints, piece by piece. */
#ifndef CAROM_CLI_BENCH_BENCH_TABLE_H
#define CAROM_CLI_BENCH_BENCH_TABLE_H

#include "bench_json.h"

void bench_table_head(output *out, const bench_json *json);
void bench_table_machine(output *out, const machine *m);
void bench_table_device(output *out, const bench_device *d);
void bench_table_limits(output *out, const bench_limits *l);
void bench_table_scene(output *out, const char *name, const char *what);
void bench_table_row(output *out, const bench_row *r);
void bench_table_lines(output *out, const char *lines);

#endif
