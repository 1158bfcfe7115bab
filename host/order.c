/* SPDX-License-Identifier: MIT */
/* Queries along a Morton curve: neighbours then meet the same nodes and leaves while a cache has them. */
#include "order.h"

#include <stdatomic.h>
#include <string.h>

enum {
    CELLS = 6, /* bits per axis: a slice has far fewer queries than there are cells */
    NEAR = 3,  /* bits of the key that neighbours on the curve may differ in */
    DIGIT = 9, /* bits per pass of the radix sort, of which there are two */
    DIGITS = 1 << DIGIT
};

/* Six bits, two zeros between each. */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 8) & 0x300fu;
    x = (x | x << 4) & 0x30c3u;
    return (x | x << 2) & 0x9249u;
}

/* Without a branch, so that compilers take several at once. NaN: 0 */
static uint32_t cell(float x, float lower, float per_length)
{
    const float last = (float)((1 << CELLS) - 1), at = (x - lower) * per_length, from = at > 0 ? at : 0;
    return (uint32_t)(int32_t)(from < last ? from : last);
}

static void fill_keys(const carom_mesh_info *mesh, const caromi_in_column *center, uint64_t first, uint32_t count,
                      uint64_t *keys)
{
    enum { BLOCK = 256 };
    float at[3][BLOCK], lower[3], per_length[3];
    for (int k = 0; k < 3; k++) {
        const float length = mesh->upper[k] - mesh->lower[k];
        lower[k] = mesh->lower[k];
        per_length[k] = length > 0 ? (float)(1 << CELLS) / length : 0;
    }
    for (uint32_t from = 0; from < count; from += BLOCK) {
        const uint32_t n = count - from < BLOCK ? count - from : BLOCK;
        uint32_t key[BLOCK];
        for (int k = 0; k < 3; k++)
            caromi_gather(at[k], &center[k], first + from, n);
        for (uint32_t i = 0; i < n; i++)
            key[i] = spread(cell(at[0][i], lower[0], per_length[0])) |
                     spread(cell(at[1][i], lower[1], per_length[1])) << 1 |
                     spread(cell(at[2][i], lower[2], per_length[2])) << 2;
        for (uint32_t i = 0; i < n; i++)
            keys[from + i] = (uint64_t)key[i] << 32 | (from + i);
    }
}

/* Do most queries lie near the one before them already? */
static int in_order(const uint64_t *keys, uint32_t count)
{
    uint32_t near = 0;
    for (uint32_t i = 1; i < count; i++)
        near += (keys[i] ^ keys[i - 1]) >> (32 + NEAR) == 0;
    return near > count / 2;
}

static void sort_pass(const uint64_t *from, uint64_t *to, uint32_t count, int shift)
{
    uint32_t place[DIGITS] = {0}, sum = 0;
    for (uint32_t i = 0; i < count; i++)
        place[from[i] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        const uint32_t n = place[d];
        place[d] = sum;
        sum += n;
    }
    for (uint32_t i = 0; i < count; i++)
        to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

const uint64_t *caromi_order(const carom_mesh_info *mesh, const caromi_in_column *center, uint64_t first,
                             uint32_t count, uint64_t *scratch)
{
    uint64_t *const a = scratch, *const b = scratch + count;
    fill_keys(mesh, center, first, count, a);
    if (in_order(a, count))
        return NULL;
    sort_pass(a, b, count, 32);
    sort_pass(b, a, count, 32 + DIGIT);
    return a;
}

/* ---- a batch in this order ------------------------------------------------------------------------------------------ */

enum {
    BLOCK = CAROMI_BLOCK,
    OWN_FEW = 1 << 15,
    SLICE = 1 << 13,      /* queries that a task puts in order, and whose columns stay in its cache meanwhile */
    UNORDERED = 8 * BLOCK /* that a task takes as they come */
};

typedef struct block_job {
    const carom_mesh *mesh;
    const caromi_in_column *center;
    caromi_block_fn *run;
    const void *user;
    char *own; /* `size` bytes for each thread */
    size_t size;
    uint64_t *keys; /* [2 * slice] per thread; NULL: queries are taken as they come */
    uint64_t first, end, slice;
    atomic_uint_fast64_t settled;
} block_job;

static void run_slice(void *user, uint64_t task, uint32_t thread)
{
    block_job *job = user;
    const uint64_t first = job->first + task * job->slice, left = job->end - first;
    const uint32_t count = (uint32_t)(left < job->slice ? left : job->slice);
    const uint64_t *order = NULL;
    uint64_t row[BLOCK];
    if (job->keys != NULL)
        order =
            caromi_order(&job->mesh->info, job->center, first, count, job->keys + (uint64_t)thread * 2 * job->slice);
    for (uint32_t from = 0; from < count; from += BLOCK) {
        const uint32_t n = count - from < BLOCK ? count - from : BLOCK;
        for (uint32_t i = 0; i < n; i++)
            row[i] = first + (order != NULL ? (uint32_t)order[from + i] : from + i);
        atomic_fetch_add(&job->settled, job->run(job->user, job->own + thread * job->size, row, n));
    }
}

/* Queries of a task, no more than `most`: of so many tasks that all threads end at about the same time. */
static uint64_t slice_of(uint64_t count, uint32_t threads, uint64_t most)
{
    const uint64_t least = 4 * (uint64_t)threads, needed = (count + most - 1) / most;
    const uint64_t tasks = needed < least ? least : (needed + threads - 1) / threads * threads;
    return ((count + tasks - 1) / tasks + BLOCK - 1) / BLOCK * BLOCK;
}

carom_status caromi_run_blocks(const carom_context *c, const carom_mesh *mesh, const caromi_in_column *center,
                               uint64_t first, uint64_t end, size_t own, caromi_block_fn *run, const void *user,
                               carom_stats *stats, carom_error *err)
{
    const uint64_t count = end - first;
    const uint32_t threads = count > BLOCK ? caromi_pool_threads(c->pool) : 1;
    const int ordered = mesh->leaf_count >= CAROMI_ORDER_LEAVES;
    block_job job = {.mesh = mesh, .center = center, .run = run, .user = user, .first = first, .end = end};
    job.slice = slice_of(count, threads, ordered ? SLICE : UNORDERED);
    job.size = (own + 63) / 64 * 64;
    _Alignas(64) char few[OWN_FEW]; /* a batch of one would wait for the allocator */
    job.own = count <= BLOCK && job.size <= OWN_FEW ? few : caromi_alloc(c, threads, job.size);
    if (job.own == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage a batch (%u threads x %zu bytes)",
                           threads, job.size);
    /* Without memory for it there is no order, and no other answer. */
    if (job.slice > BLOCK && ordered)
        job.keys = caromi_alloc(c, threads * job.slice, 2 * sizeof *job.keys);
    caromi_parallel(c->pool, (count + job.slice - 1) / job.slice, run_slice, &job);
    stats->by_integers += job.settled;
    caromi_free(c, job.keys);
    if (job.own != few)
        caromi_free(c, job.own);
    return CAROM_OK;
}
