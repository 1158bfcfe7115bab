/* SPDX-License-Identifier: MIT */
/* Queries cell by cell of a grid over the mesh, cells along a Morton curve: neighbours then meet the same nodes and leaves
 * while a cache has them. The columns of a query lie far apart, so they are not gathered by an order of indices: one pass
 * reads all of them as they lie and puts those of a query together, where its cell has its place. */
#include "order.h"

#include <stdatomic.h>
#include <string.h>

enum { BLOCK = CAROMI_BLOCK };

cell_grid caromi_grid_of(const carom_mesh_info *mesh)
{
    cell_grid grid;
    for (int k = 0; k < 3; k++) {
        const float length = mesh->upper[k] - mesh->lower[k];
        grid.lower[k] = mesh->lower[k];
        grid.per_length[k] = length > 0 ? (float)(1 << CELL_DIGITS) / length : 0;
    }
    return grid;
}

/* The cell of each query, and how many a cell has. Returns how many are in the cell of the one before. */
static uint32_t find_cells(const carom_mesh_info *mesh, const caromi_ordered *o, uint32_t *cell, uint32_t *per_cell)
{
    const cell_grid grid = caromi_grid_of(mesh);
    float at[3][BLOCK];
    uint32_t last = CELL_COUNT, same = 0;
    for (uint32_t from = 0; from < o->count; from += BLOCK) {
        const uint32_t n = o->count - from < BLOCK ? o->count - from : BLOCK;
        for (int k = 0; k < 3; k++)
            caromi_gather(at[k], &o->in[k], o->first + from, n);
        uint32_t of[BLOCK];
        for (uint32_t i = 0; i < n; i++)
            of[i] = cell_of(at[0][i], at[1][i], at[2][i], &grid);
        for (uint32_t i = 0; i < n; i++) {
            per_cell[of[i]]++;
            same += of[i] == last;
            last = of[i];
        }
        memcpy(cell + from, of, n * sizeof *of);
    }
    return same;
}

/* One number for all queries? It is not copied. */
static int is_shared(const caromi_in_column *column)
{
    return column->stride == 0;
}

/* Each query into the next place of its cell. */
static void fill_rows(const caromi_ordered *o, const uint32_t *cell, uint32_t *place, float *rows)
{
    float column[CAROMI_MESH_IN][BLOCK];
    const int last = o->width - 1;
    for (uint32_t from = 0; from < o->count; from += BLOCK) {
        const uint32_t n = o->count - from < BLOCK ? o->count - from : BLOCK;
        for (int k = 0, own = 0; k < o->columns; k++)
            if (!is_shared(&o->in[k]))
                caromi_gather(column[own++], &o->in[k], o->first + from, n);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t number = from + i;
            float *to = rows + (size_t)o->width * place[cell[number]]++;
            for (int k = 0; k < last; k++)
                to[k] = column[k][i];
            memcpy(to + last, &number, sizeof number);
        }
    }
}

/* Rows of the queries, cell after cell; 0: as they come is as good. */
static int put_in_order(const carom_mesh_info *mesh, caromi_ordered *o, uint32_t *cell, float *rows)
{
    uint32_t place[CELL_COUNT] = {0}, sum = 0;
    if (find_cells(mesh, o, cell, place) > o->count / 2)
        return 0;
    for (int c = 0; c < CELL_COUNT; c++) {
        const uint32_t n = place[c];
        place[c] = sum;
        sum += n;
    }
    fill_rows(o, cell, place, rows);
    return 1;
}

caromi_ordered caromi_order(const carom_mesh_info *mesh, const caromi_in_column *in, int columns, uint64_t first,
                            uint32_t count, void *scratch)
{
    caromi_ordered o = {.in = in, .columns = columns, .first = first, .count = count};
    if (scratch == NULL)
        return o;
    for (int k = 0; k < columns; k++)
        o.width += !is_shared(&in[k]);
    o.width++;
    float *rows = scratch;
    uint32_t *cell = (uint32_t *)scratch + (size_t)count * (size_t)(columns + 1);
    o.rows = put_in_order(mesh, &o, cell, rows) ? rows : NULL;
    return o;
}

void caromi_gather_rows(const caromi_in_column *in, int columns, const uint64_t *rows, size_t count,
                        float (*to)[CAROMI_BLOCK])
{
    for (int c = 0; c < columns; c++)
        for (size_t i = 0; i < count; i++)
            memcpy(&to[c][i], (const char *)in[c].base + rows[i] * in[c].stride, sizeof(float));
}

static void take_rows(const caromi_ordered *o, const float *rows, uint32_t count, uint64_t *row,
                      float (*to)[CAROMI_BLOCK])
{
    const size_t width = (size_t)o->width;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number;
        memcpy(&number, rows + width * i + width - 1, sizeof number);
        row[i] = o->first + number;
    }
    for (int k = 0, own = 0; k < o->columns; k++) {
        if (is_shared(&o->in[k])) {
            caromi_gather(to[k], &o->in[k], o->first, count);
            continue;
        }
        for (uint32_t i = 0; i < count; i++)
            to[k][i] = rows[width * i + (size_t)own];
        own++;
    }
}

void caromi_ordered_take(const caromi_ordered *o, uint32_t from, uint32_t count, uint64_t *row,
                         float (*to)[CAROMI_BLOCK])
{
    if (o->rows != NULL) {
        take_rows(o, o->rows + (size_t)o->width * from, count, row, to);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        row[i] = o->first + from + i;
    for (int k = 0; k < o->columns; k++)
        caromi_gather(to[k], &o->in[k], o->first + from, count);
}

/* ---- a batch in this order ------------------------------------------------------------------------------------------ */

enum {
    OWN_FEW = 1 << 15,
    SLICE = 1 << 16,      /* queries that a task puts in order */
    UNORDERED = 8 * BLOCK /* that a task takes as they come */
};

typedef struct block_job {
    const carom_mesh *mesh;
    const caromi_in_column *in;
    int columns;
    caromi_block_fn *run;
    const void *user;
    char *own; /* `size` bytes for each thread */
    size_t size;
    char *scratch; /* for an order of a slice, for each thread; NULL: queries are taken as they come */
    uint64_t first, end, slice;
    atomic_uint_fast64_t settled;
} block_job;

static void run_slice(void *user, uint64_t task, uint32_t thread)
{
    block_job *job = user;
    const uint64_t first = job->first + task * job->slice, left = job->end - first;
    const uint32_t count = (uint32_t)(left < job->slice ? left : job->slice);
    void *scratch = NULL;
    if (job->scratch != NULL)
        scratch = job->scratch + thread * job->slice * CAROMI_ORDER_BYTES(job->columns);
    const caromi_ordered queries = caromi_order(&job->mesh->info, job->in, job->columns, first, count, scratch);
    for (uint32_t from = 0; from < count; from += BLOCK)
        atomic_fetch_add(&job->settled, job->run(job->user, job->own + thread * job->size, &queries, from,
                                                 count - from < BLOCK ? count - from : BLOCK));
}

/* Queries of a task, no more than `most`: of so many tasks that all threads end at about the same time. */
static uint64_t slice_of(uint64_t count, uint32_t threads, uint64_t most)
{
    const uint64_t least = threads > 1 ? 4 * (uint64_t)threads : 1, needed = (count + most - 1) / most;
    const uint64_t tasks = needed < least ? least : (needed + threads - 1) / threads * threads;
    return ((count + tasks - 1) / tasks + BLOCK - 1) / BLOCK * BLOCK;
}

carom_status caromi_run_blocks(const carom_context *c, const carom_mesh *mesh, const caromi_in_column *in, int columns,
                               uint64_t first, uint64_t end, size_t own, caromi_block_fn *run, const void *user,
                               carom_stats *stats, carom_error *err)
{
    const uint64_t count = end - first;
    const uint32_t threads = count > BLOCK ? caromi_pool_threads(c->pool) : 1;
    const int ordered = mesh->leaf_count >= CAROMI_ORDER_LEAVES;
    block_job job = {.mesh = mesh, .in = in, .columns = columns, .run = run, .user = user, .first = first, .end = end};
    job.slice = slice_of(count, threads, ordered ? SLICE : UNORDERED);
    job.size = (own + 63) / 64 * 64;
    _Alignas(64) char few[OWN_FEW]; /* a batch of one would wait for the allocator */
    job.own = count <= BLOCK && job.size <= OWN_FEW ? few : caromi_alloc(c, threads, job.size);
    if (job.own == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage a batch (%u threads x %zu bytes)",
                           threads, job.size);
    /* Without memory for it there is no order, and no other answer. */
    if (job.slice > BLOCK && ordered)
        job.scratch = caromi_alloc(c, threads * job.slice, CAROMI_ORDER_BYTES(columns));
    caromi_parallel(c->pool, (count + job.slice - 1) / job.slice, run_slice, &job);
    stats->by_integers += job.settled;
    caromi_free(c, job.scratch);
    if (job.own != few)
        caromi_free(c, job.own);
    return CAROM_OK;
}
