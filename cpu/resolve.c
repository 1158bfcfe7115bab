/* SPDX-License-Identifier: MIT */
#include "resolve.h"

#include <string.h>

#include "cpu/exact/exact.h"

enum { RUN = 64 }; /* pairs that are tested together for undecided ones */

/* By exact kernel, from the table of kernels: the function that decides one of its pairs in integers. */
typedef void resolve_fn(caromi_exact_pair *pair);
#define RESOLVE(name, in_count, radii, out_count, bytes) [CAROMI_PAIR_##name] = caromi_resolve_##name,
static resolve_fn *const resolve_one[] = {PAIR_KERNELS_OF(RESOLVE, _exact)};

/* Whether a pair's first output has the mark of an undecided pair: OVERLAP_UNDECIDED, or NaN. */
static int is_undecided(const caromi_pair_shape *shape, const void *marks, size_t i)
{
    if (shape->out_bytes & 1)
        return ((const uint8_t *)marks)[i] == OVERLAP_UNDECIDED;
    uint32_t bits; /* a comparison of values could depend on the float mode */
    memcpy(&bits, (const float *)marks + i, sizeof bits);
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* Whether any of the pairs [from, to) is undecided. This is rare, so the loop has no branch. */
static int any_undecided(const caromi_pair_shape *shape, const void *marks, size_t from, size_t to)
{
    int some = 0;
    for (size_t i = from; i < to; i++)
        some |= is_undecided(shape, marks, i);
    return some;
}

/* Resolves one pair in integers, from the caller's arrays to the caller's arrays. */
static void resolve_pair(const caromi_pair_batch *batch, const caromi_pair_shape *shape, uint64_t at)
{
    caromi_exact_pair pair;
    for (uint32_t column = 0; column < shape->in_count; column++)
        caromi_gather(&pair.in[column], &batch->in[column], at, 1);
    resolve_one[batch->kernel](&pair);
    for (uint32_t column = 0; column < shape->out_count; column++) {
        const size_t size = caromi_out_size(shape, column);
        caromi_scatter(&batch->out[column], at, size == 1 ? (const void *)&pair.byte[column] : &pair.real[column], 1,
                       size);
    }
}

/* Looks through the marks run by run, because undecided pairs are rare. */
uint64_t caromi_resolve_pairs(const caromi_pair_batch *batch, const void *marks, uint64_t first, size_t count)
{
    const caromi_pair_shape *shape = &caromi_pair_shapes[batch->kernel];
    uint64_t undecided = 0;
    for (size_t from = 0; from < count; from += RUN) {
        const size_t to = count - from < RUN ? count : from + RUN;
        if (!any_undecided(shape, marks, from, to))
            continue;
        for (size_t i = from; i < to; i++)
            if (is_undecided(shape, marks, i)) {
                resolve_pair(batch, shape, first + i);
                undecided++;
            }
    }
    return undecided;
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
