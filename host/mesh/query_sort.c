/* SPDX-License-Identifier: MIT */
/* Sorts queries by the cells of a grid over the mesh, along a Morton curve, so that neighbouring queries visit the same
 * nodes and leaves while these are cached. It is a counting sort of whole rows: one pass reads the columns in order and
 * scatters each query's numbers together. Gathering through sorted indices would read columns that are far apart in
 * memory. Queries in empty space (clearance.h) are culled first: they come last and are not searched. */
#include "clearance.h"
#include "query_sort.h"

#include <string.h>

#include "host/core/batch.h"

enum {
    BLOCK = CAROMI_BLOCK,
    SORT_BYTES = 2621440 /* least bytes of a mesh's leaves for sorting to pay; prefetching hides the latency of smaller
                            meshes */
};

/* The grid over a mesh's bounding box. */
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

static void gather_columns(const caromi_sorted_queries *sorted, int columns, uint32_t from, uint32_t count,
                           float (*to)[BLOCK])
{
    for (int k = 0; k < columns; k++)
        caromi_gather(to[k], &sorted->in[k], sorted->first + from, count);
}

/* Whether culling pays, from a sample of the queries: it costs a test for each query and saves the search of the clear
 * ones. Small batches are never culled. */
static int pays_to_cull(const carom_mesh *mesh, const caromi_sorted_queries *sorted)
{
    /* Runs of consecutive queries are sampled. Culling pays if at least one of ONE_OF queries is clear. */
    enum { RUN = 8, RUNS = CAROMI_CLEARANCE_LEAST / RUN, ONE_OF = 8 };
    float column[CAROMI_MESH_IN][BLOCK];
    uint8_t is_clear[BLOCK];
    uint32_t clear = 0;
    if (sorted->columns < CAROMI_MESH_IN) /* closest points: a query always has an answer */
        return 0;
    if (!mesh->clearance_known || sorted->count < CAROMI_CLEARANCE_LEAST)
        return 0;
    if ((sorted->options & MESH_CARRIED) != 0) /* instances move into what is empty */
        return 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        gather_columns(sorted, sorted->columns, (uint32_t)caromi_slice_start(sorted->count, RUNS, run), RUN, column);
        cull(mesh, column, RUN, sorted->options, is_clear);
        for (uint32_t i = 0; i < RUN; i++)
            clear += is_clear[i];
    }
    return clear * ONE_OF >= CAROMI_CLEARANCE_LEAST;
}

/* Compaction: lists the numbers of the active queries, then of the clear ones. */
static void list_active(const carom_mesh *mesh, caromi_sorted_queries *sorted, uint32_t *number)
{
    float column[CAROMI_MESH_IN][BLOCK];
    uint8_t is_clear[BLOCK];
    uint32_t active = 0, clear = sorted->count;
    for (uint32_t from = 0; from < sorted->count; from += BLOCK) {
        const uint32_t block_count = sorted->count - from < BLOCK ? sorted->count - from : BLOCK;
        gather_columns(sorted, sorted->columns, from, block_count, column);
        cull(mesh, column, block_count, sorted->options, is_clear);
        /* Both lists grow in one array, from its ends. There is no branch, which would be mispredicted. */
        for (uint32_t i = 0; i < block_count; i++) {
            number[active] = number[clear - 1] = from + i;
            active += !is_clear[i];
            clear -= is_clear[i];
        }
    }
    sorted->number = number;
    sorted->active = active;
    sorted->clear = number + active;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Computes the cell of each query and the histogram of cells; with culling, clear queries go into the last cell.
 * Returns the number of active queries that are in the same cell as the query before. */
static uint32_t count_cells(const carom_mesh *mesh, const caromi_sorted_queries *sorted, int culls, uint32_t *cell,
                            uint32_t *per_cell)
{
    const cell_grid grid = caromi_grid_of(&mesh->info);
    float column[CAROMI_MESH_IN][BLOCK];
    uint8_t is_clear[BLOCK] = {0};
    uint32_t cell_before = CELL_KINDS, same = 0;
    for (uint32_t from = 0; from < sorted->count; from += BLOCK) {
        const uint32_t block_count = sorted->count - from < BLOCK ? sorted->count - from : BLOCK;
        /* Culling needs all columns; the cell of a query needs only x, y and z. */
        gather_columns(sorted, culls ? sorted->columns : 3, from, block_count, column);
        if (culls)
            cull(mesh, column, block_count, sorted->options, is_clear);
        uint32_t block_cell[BLOCK];
        for (uint32_t i = 0; i < block_count; i++) {
            const uint32_t query_cell = cell_of(column[0][i], column[1][i], column[2][i], &grid);
            block_cell[i] = is_clear[i] ? CELL_CLEAR : query_cell;
        }
        for (uint32_t i = 0; i < block_count; i++) {
            per_cell[block_cell[i]]++;
            same += block_cell[i] == cell_before;
            cell_before = block_cell[i] == CELL_CLEAR ? cell_before : block_cell[i];
        }
        memcpy(cell + from, block_cell, block_count * sizeof *block_cell);
    }
    return same;
}

/* Whether all queries have the same number in a column, which is then not copied. */
static int is_shared(const caromi_in_column *column)
{
    return column->stride == 0;
}

/* Scatters each active query to the next free row of its cell; the numbers of clear queries go behind all rows. */
static void scatter_rows(const caromi_sorted_queries *sorted, const uint32_t *cell, uint32_t *next_row, float *rows)
{
    float column[CAROMI_MESH_IN][BLOCK];
    const int columns = sorted->width - 1;
    uint32_t *clear = (uint32_t *)(void *)(rows + (size_t)sorted->width * sorted->active);
    for (uint32_t from = 0; from < sorted->count; from += BLOCK) {
        const uint32_t block_count = sorted->count - from < BLOCK ? sorted->count - from : BLOCK;
        /* Columns with one number for all queries are left out of the rows. */
        for (int k = 0, packed = 0; k < sorted->columns; k++)
            if (!is_shared(&sorted->in[k]))
                caromi_gather(column[packed++], &sorted->in[k], sorted->first + from, block_count);
        for (uint32_t i = 0; i < block_count; i++) {
            const uint32_t number = from + i;
            if (cell[number] == CELL_CLEAR) {
                *clear++ = number;
                continue;
            }
            float *to = rows + (size_t)sorted->width * next_row[cell[number]]++;
            for (int k = 0; k < columns; k++)
                to[k] = column[k][i];
            memcpy(to + columns, &number, sizeof number);
        }
    }
}

/* Sorts the rows of the queries by cell. Returns 0 if they are nearly in that order already. */
static int counting_sort(const carom_mesh *mesh, caromi_sorted_queries *sorted, int culls, uint32_t *cell, float *rows)
{
    uint32_t per_cell[CELL_KINDS] = {0}, sum = 0;
    const uint32_t in_order = count_cells(mesh, sorted, culls, cell, per_cell),
                   active = sorted->count - per_cell[CELL_CLEAR];
    if (in_order > active / 2)
        return 0;
    sorted->active = active;
    sorted->clear = (uint32_t *)(void *)(rows + (size_t)sorted->width * sorted->active);
    for (int cell_number = 0; cell_number < CELL_COUNT; cell_number++) { /* prefix sum */
        const uint32_t queries = per_cell[cell_number];
        per_cell[cell_number] = sum;
        sum += queries;
    }
    scatter_rows(sorted, cell, per_cell, rows);
    sorted->rows = rows;
    return 1;
}

/* ---- culling and sorting ----------------------------------------------------------------------------------------- */

size_t caromi_sort_bytes(const carom_mesh *mesh, int columns)
{
    return caromi_bytes_of_leaves(mesh) >= SORT_BYTES ? ((size_t)columns + 2) * sizeof(float) : sizeof(uint32_t);
}

/* Culls and sorts queries where that pays. */
caromi_sorted_queries caromi_sort_queries(const carom_mesh *mesh, const caromi_in_column *in, int columns, int options,
                                          uint64_t first, uint32_t count, void *scratch)
{
    caromi_sorted_queries sorted = {
        .in = in, .columns = columns, .options = options, .first = first, .count = count, .active = count};
    if (scratch == NULL)
        return sorted;
    const int culls = pays_to_cull(mesh, &sorted);
    if (caromi_bytes_of_leaves(mesh) >= SORT_BYTES &&
        count > BLOCK) { /* a row: the columns that differ, and the number */
        for (int k = 0; k < columns; k++)
            sorted.width += !is_shared(&in[k]);
        sorted.width++;
        uint32_t *cell = (uint32_t *)scratch + (size_t)count * (size_t)(columns + 1);
        if (counting_sort(mesh, &sorted, culls, cell, scratch))
            return sorted;
    }
    if (culls)
        list_active(mesh, &sorted, scratch);
    return sorted;
}

void caromi_gather_rows(const caromi_in_column *in, int columns, const uint64_t *rows, size_t count,
                        float (*to)[CAROMI_BLOCK])
{
    for (int c = 0; c < columns; c++)
        for (size_t i = 0; i < count; i++)
            memcpy(&to[c][i], caromi_element(&in[c], rows[i]), sizeof(float));
}

/* Reads the columns of a block from sorted rows. A row ends with the query's number. */
static void unpack_rows(const caromi_sorted_queries *sorted, const float *rows, uint32_t count, uint64_t *row,
                        float (*to)[CAROMI_BLOCK])
{
    const size_t width = (size_t)sorted->width;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number;
        memcpy(&number, rows + width * i + width - 1, sizeof number);
        row[i] = sorted->first + number;
    }
    for (int k = 0, packed = 0; k < sorted->columns; k++) {
        if (is_shared(&sorted->in[k])) {
            caromi_gather(to[k], &sorted->in[k], sorted->first, count);
            continue;
        }
        for (uint32_t i = 0; i < count; i++)
            to[k][i] = rows[width * i + (size_t)packed];
        packed++;
    }
}

/* The size of the block from position `from` on: at most `most`, all active or all clear. */
uint32_t caromi_sorted_block_size(const caromi_sorted_queries *sorted, uint32_t from, uint32_t most)
{
    const uint32_t left = (from < sorted->active ? sorted->active : sorted->count) - from;
    return left < most ? left : most;
}

/* The rows in the batch of listed queries. */
static void rows_of(const caromi_sorted_queries *sorted, const uint32_t *number, uint32_t count, uint64_t *row)
{
    for (uint32_t i = 0; i < count; i++)
        row[i] = sorted->first + number[i];
}

/* Gathers a block of queries, in whichever way they are stored. */
void caromi_sorted_gather(const caromi_sorted_queries *sorted, uint32_t from, uint32_t count, uint64_t *row,
                          float (*to)[CAROMI_BLOCK])
{
    if (from >= sorted->active) { /* clear queries: no column is needed */
        rows_of(sorted, sorted->clear + (from - sorted->active), count, row);
    } else if (sorted->rows != NULL) { /* sorted by cell */
        unpack_rows(sorted, sorted->rows + (size_t)sorted->width * from, count, row, to);
    } else if (sorted->number != NULL) { /* culled, not sorted */
        rows_of(sorted, sorted->number + from, count, row);
        caromi_gather_rows(sorted->in, sorted->columns, row, count, to);
    } else { /* neither: consecutive queries */
        for (uint32_t i = 0; i < count; i++)
            row[i] = sorted->first + from + i;
        gather_columns(sorted, sorted->columns, from, count, to);
    }
}

/* ---- blocks of a batch ------------------------------------------------------------------------------------------ */

enum {
    OWN_ON_STACK = 1 << 15, /* bytes */
    SLICE = 1 << 16,        /* most queries that a task sorts */
    UNSORTED = 8 * BLOCK    /* most queries of a task without sorting */
};

/* A batch that is answered in blocks. */
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
    caromi_rung_sums rungs;
} block_job;

/* Task: culls and sorts a slice of the queries, then answers it block by block. */
static void run_slice(void *user, uint64_t task, uint32_t thread)
{
    block_job *job = user;
    const uint64_t first = job->first + task * job->slice, remaining = job->end - first;
    const uint32_t count = (uint32_t)(remaining < job->slice ? remaining : job->slice);
    if (caromi_watch_ends(job->mesh->context->watch))
        return;
    uint32_t stack_memory[BLOCK];
    void *scratch = count <= BLOCK ? stack_memory : NULL;
    if (job->scratch != NULL)
        scratch = job->scratch + thread * job->slice * caromi_sort_bytes(job->mesh, job->columns);
    const caromi_sorted_queries queries =
        caromi_sort_queries(job->mesh, job->in, job->columns, job->options, first, count, scratch);
    caromi_watch *watch = job->mesh->context->watch;
    for (uint32_t from = 0, block_count; from < count && !caromi_watch_look(watch); from += block_count) {
        block_count = caromi_sorted_block_size(&queries, from, BLOCK);
        caromi_rungs_add(&job->rungs, job->run(job->user, job->own + thread * job->size, &queries, from, block_count));
    }
}

/* The number of queries of a task, at most `most`: small enough that all threads end at about the same time. */
static uint64_t slice_of(uint64_t count, uint32_t threads, uint64_t most, uint32_t grain)
{
    const uint64_t tasks_least = threads > 1 ? 4 * (uint64_t)threads : 1, tasks_needed = (count + most - 1) / most;
    const uint64_t tasks = tasks_needed < tasks_least ? tasks_least : (tasks_needed + threads - 1) / threads * threads;
    return ((count + tasks - 1) / tasks + grain - 1) / grain * grain;
}

/* Runs a callback on all queries in blocks: allocates each thread's memory, and runs the slices as tasks. */
carom_status caromi_run_blocks(const carom_context *context, carom_mesh *mesh, const caromi_in_column *in, int columns,
                               int options, uint64_t first, uint64_t end, size_t own_bytes, uint32_t grain,
                               caromi_block_fn *run, const void *user, carom_stats *stats, carom_error *err)
{
    const uint64_t count = end - first;
    const uint32_t threads = count > grain ? caromi_pool_threads(context->pool) : 1;
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
    job.slice = slice_of(count, threads, caromi_bytes_of_leaves(mesh) >= SORT_BYTES ? SLICE : UNSORTED, grain);
    job.size = (own_bytes + 63) / 64 * 64;
    /* On the stack: an allocation would dominate the time of a single query. */
    _Alignas(64) char stack_memory[OWN_ON_STACK];
    job.own = threads == 1 && count <= BLOCK && job.size <= OWN_ON_STACK ? stack_memory
                                                                         : caromi_alloc(context, threads, job.size);
    if (job.own == NULL)
        return caromi_fail_memory(err, "no memory to stage a batch (%u threads x %zu bytes)", threads, job.size);
    /* If there is no memory for sorting, queries stay unsorted; the answers are the same. */
    if (job.slice > BLOCK)
        job.scratch = caromi_alloc(context, threads * job.slice, caromi_sort_bytes(mesh, columns));
    caromi_parallel(context->pool, (count + job.slice - 1) / job.slice, run_slice, &job);
    caromi_count_rungs(stats, caromi_rungs_of(&job.rungs));
    caromi_free(context, job.scratch);
    if (job.own != stack_memory)
        caromi_free(context, job.own);
    return caromi_went_on(context);
}
