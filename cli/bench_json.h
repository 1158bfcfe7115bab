/* SPDX-License-Identifier: MIT */
/* The rows of carom bench in the shape of Google Benchmark's JSON, kept until the run is over. */
#ifndef CAROM_CLI_BENCH_JSON_H
#define CAROM_CLI_BENCH_JSON_H

#include "bench/bench.h"
#include "output.h"

typedef struct bench_json {
    bench_row *rows;
    size_t row_count, row_room;
    char *notes, *findings; /* joined by newlines */
    bench_limits limits;
    int quick;
} bench_json;

/* What the run is made on goes to `shown` too, as the head of the table. */
void bench_json_begin(bench_json *json, const bench_settings *settings, output *shown);
void bench_json_limits(bench_json *json, const bench_limits *limits);
/* These return 0 where there is no memory. */
int bench_json_note(bench_json *json, const char *text);
int bench_json_finding(bench_json *json, const char *text);
int bench_json_row(bench_json *json, const bench_row *row);
void bench_json_write(const bench_json *json, output *out);
void bench_json_end(bench_json *json);

#endif
