/* SPDX-License-Identifier: MIT */
/* What carom is compared with that is not carom: loops in plain C over separate arrays that the compiler vectorises,
 * compiled once per instruction set (plain_baseline.c, plain_avx2.c, plain_avx512.c).
 *
 * - Ericson's sphere/triangle test as published, the rival of carom_overlap_pairs.
 * - A sweep without branches, the rival of carom_sweep_pairs: the least of the times of plane, edges and corners.
 * - Loops that do one thing only: what the core can do at most.
 * - Loops that read as many input columns and write as many output columns as a query does and compute next to
 *   nothing, with ordinary loads and stores: the time that the traffic alone costs. */
#ifndef CAROM_BENCH_PLAIN_H
#define CAROM_BENCH_PLAIN_H

#include <stddef.h>
#include <stdint.h>

/* in: center x y z, radius, then x y z of the triangle's three vertices. Masks are numbered as carom's axes. */
typedef void plain_ericson_fn(const float *const *in, uint8_t *overlap, uint8_t *axes, size_t count);

/* in: the columns of a sweep, scenes.h. The first touch from time 0 on, or PLAIN_NEVER. */
#define PLAIN_NEVER 3e38f
typedef void plain_sweep_fn(const float *const *in, float *time, size_t count);

/* The columns of a query. Each must have room for a multiple of PLAIN_BLOCK elements. */
enum { PLAIN_BLOCK = 1024 };
typedef struct plain_columns {
    const float *in[16];
    float *number[8];
    uint8_t *byte[3];
    int in_count, number_count, byte_count;
    size_t count;
} plain_columns;
typedef void plain_stream_fn(const plain_columns *columns);

/* Loops over three arrays that do not overlap, and a result for each element: a + s b, PLAIN_MULTIPLY_ADDS products and
 * sums in registers, b / c, the root of b. */
enum { PLAIN_MULTIPLY_ADDS = 32 };
typedef void plain_rate_fn(float *a, const float *b, const float *c, size_t count);

typedef struct plain_loops {
    const char *name;
    plain_ericson_fn *ericson_overlap; /* `axes` is not written */
    plain_ericson_fn *ericson_axes;    /* both are written */
    plain_sweep_fn *sweep_first;
    plain_stream_fn *stream_rows;    /* a register of each column, then the next of each */
    plain_stream_fn *stream_columns; /* PLAIN_BLOCK elements of a column at a time: fewer streams at once */
    plain_rate_fn *triad, *multiply_add, *divide, *root;
} plain_loops;

extern const plain_loops plain_baseline;
#if defined(__x86_64__)
extern const plain_loops plain_avx2, plain_avx512;
#endif

/* The loops for instruction set `isa` (a carom_isa), or NULL if this machine or build has none. */
const plain_loops *plain_for_isa(int isa);

#endif
