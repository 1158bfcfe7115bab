/* SPDX-License-Identifier: MIT */
/* A pair batch over all cores: contiguous slices, staged in blocks where the caller's arrays are not columns
 * already. */
#include <stdatomic.h>
#include <string.h>

#include "resolve.h"

enum { BLOCK = 512 };    /* pairs that are staged at a time: 96 KiB of scratch, within the second-level cache */
enum { LOOK_EVERY = 8 }; /* blocks between looks at the clock */
enum { SMALL = 8192 };   /* pairs: smaller batches, of half a megabyte, are likely in a cache and are not prefetched */
enum {
    LANES_MOST = 16,
    ENDS_MAX = 8, /* first and last members of the structures that are prefetched */
    RUN = 128,    /* pairs whose structures are prefetched together: 16 to 32 KiB of a first-level cache */
    LINE = 64     /* bytes of a cache's line */
};

size_t caromi_cpu_scratch_size(uint64_t count)
{
    const size_t most = count < BLOCK ? (size_t)(count + LANES_MOST - 1) / LANES_MOST * LANES_MOST : BLOCK;
    return 2 * COLUMNS_MAX * most * sizeof(float);
}

/* ---- structures that are indexed --------------------------------------------------------------------------------- */

/* First and last members of the structures that a batch's indices select, which may lie anywhere in memory. */
typedef struct indexed_structures {
    caromi_in_column end[ENDS_MAX];
    uint32_t count;
} indexed_structures;

/* Returns no structures for a batch without indices, or with so many separate arrays that prefetching does not pay. */
static indexed_structures find_structures(const caromi_pair_batch *batch, uint32_t columns)
{
    indexed_structures structures = {.count = 0};
    uint32_t start = 0; /* of the structure that the column before belongs to */
    for (uint32_t column_number = 0; batch->in[0].index.base != NULL && column_number < columns; column_number++) {
        const caromi_in_column *column = &batch->in[column_number], *first = &structures.end[start];
        const int is_member = column_number > 0 && column->index.base == first->index.base &&
                              column->stride == first->stride &&
                              (uintptr_t)column->base - (uintptr_t)first->base < LINE;
        if (is_member && structures.count - start > 1)
            structures.count--; /* a later member takes its place as the last */
        if (structures.count == ENDS_MAX)
            return (indexed_structures){.count = 0};
        start = is_member ? start : structures.count;
        structures.end[structures.count++] = *column;
    }
    return structures;
}

/* Prefetches all cache lines of a run, then gathers. Both ends are prefetched, because a structure of 28 bytes may lie
 * in two lines. */
static void gather_structures(const indexed_structures *structures, const caromi_pair_batch *batch, uint32_t columns,
                              uint64_t first, size_t count, float *to, size_t apart)
{
    for (size_t from = 0; from < count; from += RUN) {
        const size_t run = count - from < RUN ? count - from : RUN;
        for (uint32_t end = 0; end < structures->count; end++)
            for (size_t pair = 0; pair < run; pair++)
                __builtin_prefetch(caromi_element(&structures->end[end], first + from + pair));
        for (uint32_t column = 0; column < columns; column++)
            caromi_gather(to + column * apart + from, &batch->in[column], first + from, run);
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* One block through the kernel; contiguous columns of whole groups of lanes are used in place. Returns how many pairs
 * the later rungs of exact mode decided. */
static caromi_rungs run_block(const caromi_isa_table *isa, float *scratch, const caromi_pair_batch *batch,
                              uint64_t first, size_t count)
{
    const caromi_pair_shape *shape = &caromi_pair_shapes[batch->kernel];
    const size_t padded = (count + isa->lanes - 1) / isa->lanes * isa->lanes;
    const float *in[COLUMNS_MAX];
    void *out[COLUMNS_MAX] = {0};
    const indexed_structures structures = find_structures(batch, shape->in_count);
    /* Inputs: columns of whole groups are used in place, others are gathered and padded with the last pair. */
    if (structures.count > 0)
        gather_structures(&structures, batch, shape->in_count, first, count, scratch, padded);
    for (uint32_t c = 0; c < shape->in_count; c++) {
        const caromi_in_column *column = &batch->in[c];
        if (padded == count && column->index.base == NULL && column->stride == sizeof(float)) {
            in[c] = (const float *)column->base + first;
            continue;
        }
        float *staged = scratch + (size_t)c * padded;
        if (structures.count == 0)
            caromi_gather(staged, column, first, count);
        for (size_t i = count; i < padded; i++)
            staged[i] = staged[count - 1];
        in[c] = staged;
    }
    /* Outputs: in place, or staged. */
    for (uint32_t c = 0; c < shape->out_count; c++) {
        const caromi_out_column *column = &batch->out[c];
        const size_t size = caromi_out_size(shape, c);
        const int direct = padded == count && column->base != NULL && column->stride == size;
        out[c] = direct ? (void *)((char *)column->base + first * size)
                        : (void *)(scratch + (size_t)(COLUMNS_MAX + c) * padded);
    }
    /* The kernel; then staged outputs are scattered, and undecided pairs resolved. */
    isa->pairs[batch->kernel](in, out, padded, batch->count > SMALL);
    for (uint32_t c = 0; c < shape->out_count; c++)
        if (out[c] == (void *)(scratch + (size_t)(COLUMNS_MAX + c) * padded))
            caromi_scatter(&batch->out[c], first, out[c], count, caromi_out_size(shape, c));
    return caromi_is_exact(batch->kernel) ? caromi_resolve_pairs(batch, out[0], first, count) : (caromi_rungs){0, 0};
}

/* A contiguous range of blocks is a task. */
typedef struct pair_job {
    const caromi_isa_table *isa;
    char *scratch;
    const caromi_pair_batch *batch;
    uint64_t first, count, slices;
    caromi_watch *watch;
    caromi_rung_sums rungs;
} pair_job;

/* Answers one slice, block by block. */
static void run_slice(void *user, uint64_t slice, uint32_t thread)
{
    pair_job *job = user;
    caromi_rungs rungs = {0, 0};
    const uint64_t blocks = (job->count + BLOCK - 1) / BLOCK;
    const uint64_t from = caromi_slice_start(blocks, job->slices, slice);
    const uint64_t to = caromi_slice_start(blocks, job->slices, slice + 1);
    float *scratch = (float *)(void *)(job->scratch + thread * caromi_cpu_scratch_size(job->count));
    for (uint64_t block = from; block < to; block++) {
        if (block % LOOK_EVERY == 0 && caromi_watch_look(job->watch))
            return;
        const uint64_t left = job->count - block * BLOCK;
        const caromi_rungs more =
            run_block(job->isa, scratch, job->batch, job->first + block * BLOCK, left < BLOCK ? (size_t)left : BLOCK);
        rungs.second_filter += more.second_filter;
        rungs.integers += more.integers;
    }
    caromi_rungs_add(&job->rungs, rungs);
}

caromi_rungs caromi_cpu_pairs(const caromi_isa_table *isa, caromi_pool *pool, void *scratch,
                              const caromi_pair_batch *batch, uint64_t first, uint64_t count, caromi_watch *watch)
{
    /* Waking a thread costs about as much as four blocks. More slices than threads, because a core may be taken
     * away. */
    const uint64_t useful = count / (4 * BLOCK), most = 16 * (uint64_t)caromi_pool_threads(pool);
    pair_job job = {isa, scratch, batch, first, count, useful < most ? useful : most, watch, {0, 0}};
    if (job.slices == 0)
        job.slices = 1;
    caromi_parallel(pool, job.slices, run_slice, &job);
    return caromi_rungs_of(&job.rungs);
}
