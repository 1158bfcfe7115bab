/* SPDX-License-Identifier: MIT */
/* The table on standard output and the same rows as JSON. */
#ifndef CAROM_BENCH_REPORT_H
#define CAROM_BENCH_REPORT_H

#include <stddef.h>

typedef struct report report;
typedef enum report_bound { REPORT_NO_BOUND, REPORT_AT_LEAST, REPORT_AT_MOST } report_bound;

/* A time is per query; its queries/s follow from it, and GB/s if a query's bytes are given. */
typedef struct report_time {
    double median, best; /* seconds for `queries` queries */
    double queries, bytes;
    const char *unit;   /* "ns/pair", "ns/query" */
    report_bound bound; /* on the median in nanoseconds */
    double asked;
} report_time;

report *report_create(void);
void report_destroy(report *r);

/* What was measured on: shown in the head, and fields of "machine" in the JSON file. */
void report_fact(report *r, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
void report_section(report *r, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
void report_add_time(report *r, const char *label, const report_time *time);
void report_add_ratio(report *r, const char *label, double ratio, report_bound bound, double asked);
/* A number without a requirement, e.g. a share or a size. */
void report_add_value(report *r, const char *label, double value, const char *unit);
/* Whether answers that should have the same bits have them; if not, the run has failed. */
void report_add_same(report *r, const char *label, int same);
void report_add_skip(report *r, const char *label, const char *reason);

/* All requirements once more and the totals; 0 if answers differed. */
int report_finish(report *r);
/* 0 if the file cannot be written. */
int report_write_json(const report *r, const char *path);

#endif
