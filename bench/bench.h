/* SPDX-License-Identifier: MIT */
/* What the benchmark's files share: the settings, the contexts that are measured, and the sections. */
#ifndef CAROM_BENCH_BENCH_H
#define CAROM_BENCH_BENCH_H

#include <carom/carom.h>
#include <stddef.h>
#include <stdint.h>

#include "measure.h"
#include "report.h"

enum { BENCH_CACHED = 4096, BENCH_SIZES_MAX = 2, BENCH_ISAS_MAX = 5, BENCH_DEVICES_MAX = 8 };

typedef struct bench_backend {
    char name[64]; /* short: it stands in the table */
    carom_isa isa;
    carom_context *context;
    carom_device_info device; /* of an OpenCL context */
} bench_backend;

typedef struct bench {
    report *report;
    int quick;
    uint32_t threads;              /* of the sections that use more than one */
    measure_plan one, many;        /* for one thread, for several */
    size_t sizes[BENCH_SIZES_MAX]; /* pairs that come from memory */
    int size_count;
    double last_cache;                  /* bytes; 0: unknown */
    bench_backend isas[BENCH_ISAS_MAX]; /* one thread each, the lowest first */
    int isa_count;
    bench_backend cpu; /* the best instruction set, all threads */
    bench_backend devices[BENCH_DEVICES_MAX];
    int device_count;
} bench;

/* Sections: each measures and reports. */
void bench_pairs_cache(bench *b);
void bench_pairs_memory(bench *b);
void bench_overlap(bench *b);
void bench_devices(bench *b);
void bench_mesh(bench *b);

/* Ends the program if there is no CPU path. */
void bench_open_cpu(bench *b);
/* Not before the sections of one thread: devices bring threads along. */
void bench_open_devices(bench *b);
void bench_close(bench *b);
/* The best instruction set, one thread. */
bench_backend *bench_best(bench *b);
bench_backend *bench_find_isa(bench *b, carom_isa isa);

/* splitmix64, and a number in [low, high) from it; scenes.c */
uint64_t bench_bits(uint64_t *state);
double bench_range(uint64_t *state, double low, double high);
/* A hash of memory, to be chained: start with 0. */
uint64_t bench_hash(uint64_t hash, const void *memory, size_t size);
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
