/* SPDX-License-Identifier: MIT */
#include "resolve.h"

#include <string.h>

#include "cpu/exact/exact.h"
#include "kernels/second_state.h"

enum { RUN = 64 /* pairs that are tested together for undecided ones */ };

/* By exact kernel, from the table of kernels: the function that decides one of its pairs in integers. */
typedef void resolve_fn(caromi_exact_pair *pair);
#define RESOLVE(name, in_count, radii, out_count, bytes) [CAROMI_PAIR_##name] = caromi_resolve_##name,
static resolve_fn *const resolve_one[] = {PAIR_KERNELS_OF(RESOLVE, _exact)};

/* The mark of an undecided pair, as a real. A comparison of values could depend on the float mode. */
static int is_nan(const float *x)
{
    uint32_t bits;
    memcpy(&bits, x, sizeof bits);
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* Whether a pair's first output has the mark of an undecided pair: OVERLAP_UNDECIDED, or NaN. */
static int is_undecided(const caromi_pair_shape *shape, const void *marks, size_t i)
{
    if (shape->out_bytes & 1)
        return ((const uint8_t *)marks)[i] == OVERLAP_UNDECIDED;
    return is_nan((const float *)marks + i);
}

/* Whether any of the pairs [from, to) is undecided. This is rare, so the loop has no branch. */
static int any_undecided(const caromi_pair_shape *shape, const void *marks, size_t from, size_t to)
{
    int some = 0;
    for (size_t i = from; i < to; i++)
        some |= is_undecided(shape, marks, i);
    return some;
}

/* Scatters the answer of one pair to the caller's arrays. */
static void store_pair(const caromi_pair_batch *batch, const caromi_pair_shape *shape, uint64_t at,
                       const caromi_exact_pair *pair)
{
    for (uint32_t column = 0; column < shape->out_count; column++) {
        const size_t size = caromi_out_size(shape, column);
        caromi_scatter(&batch->out[column], at, size == 1 ? (const void *)&pair->byte[column] : &pair->real[column], 1,
                       size);
    }
}

/* Resolves one pair in integers, from the caller's arrays to the caller's arrays. */
static void resolve_pair(const caromi_pair_batch *batch, const caromi_pair_shape *shape, uint64_t at)
{
    caromi_exact_pair pair;
    for (uint32_t column = 0; column < shape->in_count; column++)
        memcpy(&pair.in[column], caromi_element(&batch->in[column], at), sizeof pair.in[column]);
    resolve_one[batch->kernel](&pair);
    store_pair(batch, shape, at, &pair);
}

/* ---- second filter ----------------------------------------------------------------------------------------------- */

void caromi_second_filter(const caromi_isa_table *isa, float (*in)[CAROMI_SECOND_SWEEPS], void *const *out,
                          uint32_t count)
{
    const uint32_t padded = (count + isa->lanes - 1) / isa->lanes * isa->lanes;
    const float *columns[IN_SWEEP_MOVING];
    for (int column = 0; column < IN_SWEEP_MOVING; column++) {
        for (uint32_t i = count; i < padded; i++)
            in[column][i] = in[column][count - 1];
        columns[column] = in[column];
    }
    isa->second_sweep(columns, out, padded);
}

/* Undecided pairs of a batch, waiting for the second filter. */
typedef struct packed_pairs {
    const caromi_pair_batch *batch;
    const caromi_pair_shape *shape;
    uint64_t at[CAROMI_SECOND_SWEEPS];
    uint32_t count;
    caromi_rungs rungs;
} packed_pairs;

/* Whether the second filter answers a kernel: all sweeps. */
static int has_second_filter(const caromi_pair_batch *batch)
{
    const enum caromi_pair_kernel kernel = batch->kernel;
    return batch->isa != NULL &&
           (kernel == CAROMI_PAIR_sweep_first_exact || kernel == CAROMI_PAIR_sweep_times_exact ||
            kernel == CAROMI_PAIR_sweep_full_exact || kernel == CAROMI_PAIR_sweep_first_moving_exact ||
            kernel == CAROMI_PAIR_sweep_times_moving_exact || kernel == CAROMI_PAIR_sweep_full_moving_exact);
}

/* The columns of waiting pairs. */
typedef struct packed_columns {
    _Alignas(64) float in[IN_SWEEP_MOVING][CAROMI_SECOND_SWEEPS];
    float real[OUT_SWEEP_FULL][CAROMI_SECOND_SWEEPS];
    uint8_t byte[OUT_SWEEP_FULL][CAROMI_SECOND_SWEEPS];
} packed_columns;

/* Gathers the inputs. */
static void load_packed(const packed_pairs *packed, packed_columns *columns)
{
    for (uint32_t column = 0; column < IN_SWEEP_MOVING; column++) {
        float *to = columns->in[column];
        if (column >= packed->shape->in_count) { /* a triangle at rest */
            memset(to, 0, packed->count * sizeof *to);
            continue;
        }
        for (uint32_t i = 0; i < packed->count; i++)
            memcpy(&to[i], caromi_element(&packed->batch->in[column], packed->at[i]), sizeof *to);
    }
}

/* Whether a sweep's output column has bytes. */
static int has_bytes(uint32_t column)
{
    return BYTES_FULL >> column & 1;
}

/* Answers the waiting pairs: by the second filter, then in integers. */
static void flush_packed(packed_pairs *packed)
{
    packed_columns columns;
    void *out[OUT_SWEEP_FULL] = {0};
    const uint32_t wanted = packed->shape->out_count > OUT_SWEEP_TIMES ? OUT_SWEEP_FULL : OUT_SWEEP_TIMES;
    if (packed->count == 0)
        return;
    load_packed(packed, &columns);
    for (uint32_t column = 0; column < wanted; column++)
        out[column] = has_bytes(column) ? (void *)columns.byte[column] : columns.real[column];
    caromi_second_filter(packed->batch->isa, columns.in, out, packed->count);
    for (uint32_t i = 0; i < packed->count; i++) {
        if (is_nan(&columns.real[OUT_T_FIRST][i])) {
            resolve_pair(packed->batch, packed->shape, packed->at[i]);
            packed->rungs.integers++;
            continue;
        }
        caromi_exact_pair pair;
        for (uint32_t column = 0; column < packed->shape->out_count; column++)
            if (has_bytes(column))
                pair.byte[column] = columns.byte[column][i] & (column == OUT_STATE ? SECOND_STATE : 0xff);
            else
                pair.real[column] = columns.real[column][i];
        store_pair(packed->batch, packed->shape, packed->at[i], &pair);
        packed->rungs.second_filter++;
    }
    packed->count = 0;
}

/* Answers an undecided pair, or lets it wait. */
static void resolve_undecided(packed_pairs *packed, int waits, uint64_t at)
{
    if (!waits) {
        resolve_pair(packed->batch, packed->shape, at);
        packed->rungs.integers++;
        return;
    }
    packed->at[packed->count++] = at;
    if (packed->count == CAROMI_SECOND_SWEEPS)
        flush_packed(packed);
}

/* Looks through the marks run by run, because undecided pairs are rare. */
caromi_rungs caromi_resolve_pairs(const caromi_pair_batch *batch, const void *marks, uint64_t first, size_t count)
{
    const caromi_pair_shape *shape = &caromi_pair_shapes[batch->kernel];
    const int waits = has_second_filter(batch);
    packed_pairs packed = {.batch = batch, .shape = shape, .count = 0, .rungs = {0, 0}};
    for (size_t from = 0; from < count; from += RUN) {
        const size_t to = count - from < RUN ? count : from + RUN;
        if (!any_undecided(shape, marks, from, to))
            continue;
        for (size_t i = from; i < to; i++)
            if (is_undecided(shape, marks, i))
                resolve_undecided(&packed, waits, first + i);
    }
    if (waits)
        flush_packed(&packed);
    return packed.rungs;
}

uint32_t caromi_undecided_pairs(const caromi_pair_batch *batch, const void *marks, uint32_t count, uint32_t *pairs)
{
    const caromi_pair_shape *shape = &caromi_pair_shapes[batch->kernel];
    uint32_t found = 0;
    for (uint32_t from = 0; from < count; from += RUN) {
        const uint32_t to = count - from < RUN ? count : from + RUN;
        if (!any_undecided(shape, marks, from, to))
            continue;
        for (uint32_t i = from; i < to; i++)
            if (is_undecided(shape, marks, i))
                pairs[found++] = i;
    }
    return found;
}
