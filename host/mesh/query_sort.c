/* SPDX-License-Identifier: MIT */
/* Sorts queries by the cells of a grid over the mesh, along a Morton curve, so that neighbouring queries visit the same
 * nodes and leaves while these are cached. It is a counting sort of whole rows: one pass reads the columns in order and
 * scatters each query's numbers together. Gathering through sorted indices would read columns that are far apart in
 * memory. Queries in empty space (clearance.h) are culled first: they come last and are not searched. */
#include "clearance.h"
#include "query_sort.h"

#include <stdatomic.h>
#include <string.h>

enum {
    BLOCK = CAROMI_BLOCK,
    SORT_LEAVES = 1 << 13 /* least leaves of a mesh for sorting to pay (3 MB with nodes); prefetching hides the latency
                             of smaller meshes */
};

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

/* ---- culling ------------------------------------------------------------------------------------------- */

/* Sets, for queries in columns, whether each certainly hits nothing. */
static void cull(const carom_mesh *mesh, float (*column)[BLOCK], uint32_t count, int options, uint8_t *is_clear)
{
    const caromi_isa_table *isa = mesh->context->isa;
    const float *in[CAROMI_MESH_IN];
    const size_t padded = (count + isa->lanes - 1) / isa->lanes * isa->lanes;
    for (int k = 0; k < CAROMI_MESH_IN; k++) {
        for (size_t i = count; i < padded; i++)
            column[k][i] = column[k][count - 1];
        in[k] = column[k];
    }
    isa->clear(mesh->clearance, in, padded, options, is_clear);
}

static void gather_columns(const caromi_sorted_queries *o, int columns, uint32_t from, uint32_t count,
                           float (*to)[BLOCK])
{
    for (int k = 0; k < columns; k++)
        caromi_gather(to[k], &o->in[k], o->first + from, count);
}

/* Whether culling pays, from a sample of the queries: it costs a test for each query and saves the search of the clear
 * ones. Small batches are never culled. */
static int pays_to_cull(const carom_mesh *mesh, const caromi_sorted_queries *o)
{
    enum { RUN = 8, RUNS = CAROMI_CLEARANCE_LEAST / RUN, ONE_OF = 8 };
    float column[CAROMI_MESH_IN][BLOCK];
    uint8_t is_clear[BLOCK];
    uint32_t clear = 0;
    if (o->columns < CAROMI_MESH_IN) /* closest points: a query always has an answer */
        return 0;
    if (!mesh->clearance_known || o->count < CAROMI_CLEARANCE_LEAST)
        return 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        gather_columns(o, o->columns, (uint32_t)caromi_slice_start(o->count, RUNS, run), RUN, column);
        cull(mesh, column, RUN, o->options, is_clear);
        for (uint32_t i = 0; i < RUN; i++)
            clear += is_clear[i];
    }
    return clear * ONE_OF >= CAROMI_CLEARANCE_LEAST;
}

/* Compaction: lists the numbers of the active queries, then of the clear ones. */
static void list_active(const carom_mesh *mesh, caromi_sorted_queries *o, uint32_t *number)
{
    float column[CAROMI_MESH_IN][BLOCK];
    uint8_t is_clear[BLOCK];
    uint32_t active = 0, clear = o->count;
    for (uint32_t from = 0; from < o->count; from += BLOCK) {
        const uint32_t n = o->count - from < BLOCK ? o->count - from : BLOCK;
        gather_columns(o, o->columns, from, n, column);
        cull(mesh, column, n, o->options, is_clear);
        for (uint32_t i = 0; i < n; i++) { /* without a branch, which would be mispredicted */
            number[active] = number[clear - 1] = from + i;
            active += !is_clear[i];
            clear -= is_clear[i];
        }
    }
    o->number = number;
    o->active = active;
    o->clear = number + active;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Computes the cell of each query and the histogram of cells; with culling, clear queries go into the last cell.
 * Returns the number of active queries that are in the same cell as the query before. */
static uint32_t count_cells(const carom_mesh *mesh, const caromi_sorted_queries *o, int culls, uint32_t *cell,
                            uint32_t *per_cell)
{
    const cell_grid grid = caromi_grid_of(&mesh->info);
    float at[CAROMI_MESH_IN][BLOCK];
    uint8_t is_clear[BLOCK] = {0};
    uint32_t last = CELL_KINDS, same = 0;
    for (uint32_t from = 0; from < o->count; from += BLOCK) {
        const uint32_t n = o->count - from < BLOCK ? o->count - from : BLOCK;
        gather_columns(o, culls ? o->columns : 3, from, n, at);
        if (culls)
            cull(mesh, at, n, o->options, is_clear);
        uint32_t of[BLOCK];
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t own = cell_of(at[0][i], at[1][i], at[2][i], &grid);
            of[i] = is_clear[i] ? CELL_CLEAR : own;
        }
        for (uint32_t i = 0; i < n; i++) {
            per_cell[of[i]]++;
            same += of[i] == last;
            last = of[i] == CELL_CLEAR ? last : of[i];
        }
        memcpy(cell + from, of, n * sizeof *of);
    }
    return same;
}

/* Whether all queries have the same number in a column, which is then not copied. */
static int is_shared(const caromi_in_column *column)
{
    return column->stride == 0;
}

/* Scatters each active query to the next free row of its cell; the numbers of clear queries go behind all rows. */
static void scatter_rows(const caromi_sorted_queries *o, const uint32_t *cell, uint32_t *place, float *rows)
{
    float column[CAROMI_MESH_IN][BLOCK];
    const int last = o->width - 1;
    uint32_t *clear = (uint32_t *)(void *)(rows + (size_t)o->width * o->active);
    for (uint32_t from = 0; from < o->count; from += BLOCK) {
        const uint32_t n = o->count - from < BLOCK ? o->count - from : BLOCK;
        for (int k = 0, own = 0; k < o->columns; k++)
            if (!is_shared(&o->in[k]))
                caromi_gather(column[own++], &o->in[k], o->first + from, n);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t number = from + i;
            if (cell[number] == CELL_CLEAR) {
                *clear++ = number;
                continue;
            }
            float *to = rows + (size_t)o->width * place[cell[number]]++;
            for (int k = 0; k < last; k++)
                to[k] = column[k][i];
            memcpy(to + last, &number, sizeof number);
        }
    }
}

/* Sorts the rows of the queries by cell. Returns 0 if they are nearly in that order already. */
static int counting_sort(const carom_mesh *mesh, caromi_sorted_queries *o, int culls, uint32_t *cell, float *rows)
{
    uint32_t place[CELL_KINDS] = {0}, sum = 0;
    const uint32_t same = count_cells(mesh, o, culls, cell, place), active = o->count - place[CELL_CLEAR];
    if (same > active / 2)
        return 0;
    o->active = active;
    o->clear = (uint32_t *)(void *)(rows + (size_t)o->width * o->active);
    for (int c = 0; c < CELL_COUNT; c++) { /* prefix sum */
        const uint32_t n = place[c];
        place[c] = sum;
        sum += n;
    }
    scatter_rows(o, cell, place, rows);
    o->rows = rows;
    return 1;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

size_t caromi_sort_bytes(const carom_mesh *mesh, int columns)
{
    return mesh->leaf_count >= SORT_LEAVES ? ((size_t)columns + 2) * sizeof(float) : sizeof(uint32_t);
}

caromi_sorted_queries caromi_sort_queries(const carom_mesh *mesh, const caromi_in_column *in, int columns, int options,
                                          uint64_t first, uint32_t count, void *scratch)
{
    caromi_sorted_queries o = {
        .in = in, .columns = columns, .options = options, .first = first, .count = count, .active = count};
    if (scratch == NULL)
        return o;
    const int culls = pays_to_cull(mesh, &o);
    if (mesh->leaf_count >= SORT_LEAVES && count > BLOCK) {
        for (int k = 0; k < columns; k++)
            o.width += !is_shared(&in[k]);
        o.width++;
        uint32_t *cell = (uint32_t *)scratch + (size_t)count * (size_t)(columns + 1);
        if (counting_sort(mesh, &o, culls, cell, scratch))
            return o;
    }
    if (culls)
        list_active(mesh, &o, scratch);
    return o;
}

void caromi_gather_rows(const caromi_in_column *in, int columns, const uint64_t *rows, size_t count,
                        float (*to)[CAROMI_BLOCK])
{
    for (int c = 0; c < columns; c++)
        for (size_t i = 0; i < count; i++)
            memcpy(&to[c][i], caromi_element(&in[c], rows[i]), sizeof(float));
}

static void unpack_rows(const caromi_sorted_queries *o, const float *rows, uint32_t count, uint64_t *row,
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

uint32_t caromi_sorted_block_size(const caromi_sorted_queries *o, uint32_t from, uint32_t most)
{
    const uint32_t left = (from < o->active ? o->active : o->count) - from;
    return left < most ? left : most;
}

static void rows_of(const caromi_sorted_queries *o, const uint32_t *number, uint32_t count, uint64_t *row)
{
    for (uint32_t i = 0; i < count; i++)
        row[i] = o->first + number[i];
}

void caromi_sorted_gather(const caromi_sorted_queries *o, uint32_t from, uint32_t count, uint64_t *row,
                          float (*to)[CAROMI_BLOCK])
{
    if (from >= o->active) {
        rows_of(o, o->clear + (from - o->active), count, row);
    } else if (o->rows != NULL) {
        unpack_rows(o, o->rows + (size_t)o->width * from, count, row, to);
    } else if (o->number != NULL) {
        rows_of(o, o->number + from, count, row);
        caromi_gather_rows(o->in, o->columns, row, count, to);
    } else {
        for (uint32_t i = 0; i < count; i++)
            row[i] = o->first + from + i;
        gather_columns(o, o->columns, from, count, to);
    }
}

/* ---- blocks of a batch ------------------------------------------------------------------------------------------ */

enum {
    OWN_ON_STACK = 1 << 15,
    SLICE = 1 << 16,     /* most queries that a task sorts */
    UNSORTED = 8 * BLOCK /* most queries of a task without sorting */
};

typedef struct block_job {
    const carom_mesh *mesh;
    const caromi_in_column *in;
    int columns, options;
    caromi_block_fn *run;
    const void *user;
    char *own; /* [threads] `size` bytes each */
    size_t size;
    char *scratch; /* [threads] for sorting a slice; NULL: slices are not sorted */
    uint64_t first, end, slice;
    atomic_uint_fast64_t resolved;
} block_job;

static void run_slice(void *user, uint64_t task, uint32_t thread)
{
    block_job *job = user;
    const uint64_t first = job->first + task * job->slice, left = job->end - first;
    const uint32_t count = (uint32_t)(left < job->slice ? left : job->slice);
    uint32_t few[BLOCK];
    void *scratch = count <= BLOCK ? few : NULL;
    if (job->scratch != NULL)
        scratch = job->scratch + thread * job->slice * caromi_sort_bytes(job->mesh, job->columns);
    const caromi_sorted_queries queries =
        caromi_sort_queries(job->mesh, job->in, job->columns, job->options, first, count, scratch);
    for (uint32_t from = 0, n; from < count; from += n) {
        n = caromi_sorted_block_size(&queries, from, BLOCK);
        atomic_fetch_add(&job->resolved, job->run(job->user, job->own + thread * job->size, &queries, from, n));
    }
}

/* The number of queries of a task, at most `most`: small enough that all threads end at about the same time. */
static uint64_t slice_of(uint64_t count, uint32_t threads, uint64_t most)
{
    const uint64_t least = threads > 1 ? 4 * (uint64_t)threads : 1, needed = (count + most - 1) / most;
    const uint64_t tasks = needed < least ? least : (needed + threads - 1) / threads * threads;
    return ((count + tasks - 1) / tasks + BLOCK - 1) / BLOCK * BLOCK;
}

carom_status caromi_run_blocks(const carom_context *c, carom_mesh *mesh, const caromi_in_column *in, int columns,
                               int options, uint64_t first, uint64_t end, size_t own, caromi_block_fn *run,
                               const void *user, carom_stats *stats, carom_error *err)
{
    const uint64_t count = end - first;
    const uint32_t threads = count > BLOCK ? caromi_pool_threads(c->pool) : 1;
    if (columns == CAROMI_MESH_IN)
        caromi_clearance_report(mesh, count);
    block_job job = {.mesh = mesh,
                     .in = in,
                     .columns = columns,
                     .options = options,
                     .run = run,
                     .user = user,
                     .first = first,
                     .end = end};
    job.slice = slice_of(count, threads, mesh->leaf_count >= SORT_LEAVES ? SLICE : UNSORTED);
    job.size = (own + 63) / 64 * 64;
    _Alignas(64) char few[OWN_ON_STACK]; /* on the stack: an allocation would dominate the time of a single query */
    job.own = count <= BLOCK && job.size <= OWN_ON_STACK ? few : caromi_alloc(c, threads, job.size);
    if (job.own == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage a batch (%u threads x %zu bytes)",
                           threads, job.size);
    /* If there is no memory for sorting, queries stay unsorted; the answers are the same. */
    if (job.slice > BLOCK)
        job.scratch = caromi_alloc(c, threads * job.slice, caromi_sort_bytes(mesh, columns));
    caromi_parallel(c->pool, (count + job.slice - 1) / job.slice, run_slice, &job);
    stats->by_integers += job.resolved;
    caromi_free(c, job.scratch);
    if (job.own != few)
        caromi_free(c, job.own);
    return CAROM_OK;
}
