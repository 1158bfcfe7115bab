/* SPDX-License-Identifier: MIT */
/* A result of carom bench: its rows and what they were measured on; written, and read, in the shape of Google
 * Benchmark's JSON. */
#ifndef CAROM_CLI_BENCH_BENCH_JSON_H
#define CAROM_CLI_BENCH_BENCH_JSON_H

#include "bench/bench.h"
#include "bench/machine.h"
#include "cli/base/output.h"

/* The version of what is written. 1, without the number in it, had no rounds and no machine, and is read, too. */
enum { BENCH_SCHEMA = 2 };
enum { BENCH_DEVICES = 8 };

typedef struct bench_json {
    bench_row *rows;
    size_t row_count, row_room;
    char *notes, *findings; /* joined by newlines */
    bench_device devices[BENCH_DEVICES];
    int device_count;
    bench_limits limits[BENCH_LIMITS];
    int limit_count;
    char cpu[128], commit[64], compiler[64], flags[512], date[32];
    char warning[BENCH_WARNING]; /* of a load that disturbed the run; empty: none */
    double load[3];              /* before the run, over 1, 5 and 15 minutes; below 0: not known */
    int schema;
    machine machine; /* without facts if the schema is 1 */
    int quick, processors;
    int partial; /* not all that the run was to measure */
} bench_json;

/* What a round has, per batch. */
enum { BENCH_COLUMNS = 5 };
typedef struct bench_column {
    const char *name;
    double (*of)(const measure_round *round); /* NAN: not known */
} bench_column;
extern const bench_column bench_columns[BENCH_COLUMNS];

/* A run of this program on this machine, without rows yet: a partial result until the caller says otherwise. */
void bench_json_begin(bench_json *json, const bench_settings *settings);
void bench_json_device(bench_json *json, const bench_device *device);
void bench_json_limits(bench_json *json, const bench_limits *limits);
/* These return 0 where there is no memory. */
int bench_json_note(bench_json *json, const char *text);
int bench_json_finding(bench_json *json, const char *text);
int bench_json_row(bench_json *json, const bench_row *row); /* with a copy of its samples */
void bench_json_write(const bench_json *json, output *out);
/* An earlier result. Returns an exit status with the message printed. */
int bench_json_read(bench_json *json, const char *path);
void bench_json_end(bench_json *json);

#endif
