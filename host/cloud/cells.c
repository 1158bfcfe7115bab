/* SPDX-License-Identifier: MIT */
/* Sorts spheres into rows of cells, by two counting sorts. The cloud is cut into as many parts as there are threads.
 * Each part makes a histogram of its spheres by row. Then the rows of all parts are merged in order, and a prefix sum
 * says where each part's spheres go. Last, each row is sorted by cell. Both sorts are stable: the spheres of a cell
 * keep the order of their indices.
 *
 * If the bounding box has few enough rows, each has a number in the order of (level, z, y), and the histogram is an
 * array ("dense"). Else only rows that hold spheres get a number, by a hash table. */
#include <math.h>
#include <string.h>

#include "build.h"
#include "crowded.h"

/* A sphere after the sort by row and before the sort by cell. */
typedef struct record {
    float position[4]; /* x, y, z and reach in the slice */
    uint32_t index;
    int32_t x;                  /* number of its cell along its row */
    uint32_t mask, unused;      /* `unused`: so that no record straddles two cache lines */
    float given[CLOUD_COLUMNS]; /* the caller's inputs; only of spheres in motion */
} record;
enum {
    TASKS_EACH = 32, /* tasks of each thread. A task has consecutive rows, as a core's prefetcher reads into cache lines
                        that another writes */
    RECORD_SHORT = offsetof(record, given),
    AHEAD = 16 /* how many spheres ahead their record's cache line is prefetched, as the store would wait for it */
};

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

/* Record i. `size` is a constant in every caller, so that the product is cheap once this is inlined. */
static inline record *record_at(const caromi_build *job, uint32_t i, size_t size)
{
    return (record *)(void *)(job->records + i * size);
}

static inline __attribute__((always_inline)) void scatter_records(caromi_build *job, caromi_build_part *p,
                                                                  const caromi_cloud_batch *batch, size_t size)
{
    int32_t level[CAROMI_CLOUD_BLOCK], x[CAROMI_CLOUD_BLOCK];
    uint32_t *counts = p->counts;
    const uint32_t *rows = job->row_of + p->begin + p->count;
    const caromi_in_column mask = job->cloud->mask;
    const float *const at[] = {batch->position[0], batch->position[1], batch->position[2], batch->position[3]};
    caromi_cloud_block given; /* a block of the caller's inputs that holds the next sphere */
    given.first = given.count = 0;
    caromi_build_levels(job, batch, level);
    caromi_build_cells(job, batch, level, 0, x);
    for (uint32_t i = 0; i < batch->count; i++) {
        if (i + AHEAD < batch->count)
            __builtin_prefetch(record_at(job, counts[rows[i + AHEAD]], size), 1);
        record *r = record_at(job, counts[rows[i]]++, size);
        r->position[0] = at[0][i];
        r->position[1] = at[1][i];
        r->position[2] = at[2][i];
        r->position[3] = at[3][i];
        r->index = batch->index[i];
        r->x = x[i];
        if (mask.base != NULL)
            memcpy(&r->mask, caromi_element(&mask, batch->index[i]), sizeof r->mask);
        if (size == sizeof *r && batch->index[i] - given.first >= given.count)
            caromi_cloud_read(job->cloud, batch->index[i], job->cloud->count, &given);
        for (int c = 0; size == sizeof *r && c < CLOUD_COLUMNS; c++)
            r->given[c] = given.in[c][batch->index[i] - given.first];
    }
    p->count += batch->count;
}

static void position(void *user, const caromi_cloud_batch *batch)
{
    const caromi_build_user *to = user;
    if (to->job->has_given)
        scatter_records(to->job, to->part, batch, sizeof(record));
    else
        scatter_records(to->job, to->part, batch, RECORD_SHORT);
}

/* The most cells of a row with n spheres; it has one more entry in `starts`. A row whose level has more cells merges
 * 2^shift neighbours into one. */
#define CELLS_MOST(n) (4 * (int64_t)(n) + 8)
static uint64_t starts_before(uint64_t spheres, uint64_t rows)
{
    return (uint64_t)CELLS_MOST(spheres) - (uint64_t)CELLS_MOST(0) + rows * (uint64_t)(CELLS_MOST(0) + 1);
}

/* Chooses a row's cells. They go from its first sphere to its last, as fine as CELLS_MOST allows; if the level has
 * fewer cells than the row has spheres, they are all of the level's. */
static inline void set_cells(const caromi_build *job, caromi_cloud_row *row, size_t size)
{
    const int32_t most = job->cells->levels[row->level].most[0];
    if ((uint32_t)most < row->end - row->begin) {
        row->count = most + 1;
        return;
    }
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (uint32_t i = row->begin; i < row->end; i++) {
        const int32_t x = record_at(job, i, size)->x;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    const int64_t wide = (int64_t)high - low;
    while (wide >> row->shift >= CELLS_MOST(row->end - row->begin))
        row->shift++;
    row->low = low;
    row->count = (int32_t)(wide >> row->shift) + 1;
}

static inline void put_records(const caromi_build *job, const caromi_cloud_row *row, uint32_t *starts, size_t size)
{
    caromi_cloud_cells *const c = job->cells;
    float *const x = c->column[CLOUD_POSITION_X], *const y = c->column[CLOUD_POSITION_Y],
                 *const z = c->column[CLOUD_POSITION_Z], *const reach = c->column[CLOUD_REACH];
    uint32_t *const index = c->index, *const mask = c->mask;
    float *const given = c->given;
    const int has_columns = c->column[CLOUD_GIVEN] != NULL;
    const int32_t low = row->low, shift = row->shift;
    for (uint32_t i = row->begin, end = row->end; i < end; i++) {
        const record *r = record_at(job, i, size);
        const uint32_t to = starts[(r->x - low) >> shift]++;
        x[to] = r->position[0];
        y[to] = r->position[1];
        z[to] = r->position[2];
        reach[to] = r->position[3];
        index[to] = r->index;
        if (mask)
            mask[to] = r->mask;
        if (size == sizeof *r)
            memcpy(given + (size_t)CLOUD_COLUMNS * to, r->given, sizeof r->given);
        for (int k = 0; has_columns && k < CLOUD_COLUMNS; k++)
            c->column[CLOUD_GIVEN + k][to] = r->given[k];
    }
}

/* Counting sort of one row by cell: histogram, prefix sum, scatter. The scatter moves starts[i] from the begin of cell
 * i to its end; a shift by one entry restores the begins. Returns how many pairs share a cell. */
static inline __attribute__((always_inline)) uint64_t sort_records(const caromi_build *job, uint64_t number,
                                                                   size_t size)
{
    uint64_t doubled = 0;
    caromi_cloud_row *row = &job->cells->rows[number];
    set_cells(job, row, size);
    row->cells = starts_before(row->begin, number);
    uint32_t *starts = job->cells->starts + row->cells;
    memset(starts, 0, ((size_t)row->count + 1) * sizeof *starts);
    for (uint32_t i = row->begin; i < row->end; i++)
        starts[(record_at(job, i, size)->x - row->low) >> row->shift]++;
    for (int32_t c = 0, at = (int32_t)row->begin; c <= row->count; c++) {
        const int32_t count = (int32_t)starts[c];
        starts[c] = (uint32_t)at;
        at += count;
        doubled += (uint64_t)((int64_t)count * (count - 1) / 2);
    }
    put_records(job, row, starts, size);
    memmove(starts + 1, starts, (size_t)row->count * sizeof *starts);
    starts[0] = row->begin;
    return doubled;
}

/* Task: sorts some rows by cell. */
static void sort_rows(void *user, uint64_t task, uint32_t thread)
{
    caromi_build *job = user;
    const uint64_t rows = job->cells->view.row_count;
    uint64_t doubled = 0;
    (void)thread;
    for (uint64_t r = caromi_slice_start(rows, job->row_tasks, task),
                  end = caromi_slice_start(rows, job->row_tasks, task + 1);
         r < end; r++)
        doubled += job->has_given ? sort_records(job, r, sizeof(record)) : sort_records(job, r, RECORD_SHORT);
    atomic_fetch_add_explicit(&job->doubled, doubled, memory_order_relaxed);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void run_scatter(void *user, uint64_t number, uint32_t thread)
{
    caromi_build *job = user;
    (void)thread;
    job->parts[number].count = 0;
    caromi_build_pass(job, &job->parts[number], position);
}

/* Returns 0 if there is no memory. */
static int alloc_columns(caromi_build *job)
{
    caromi_cloud_cells *c = job->cells;
    const carom_context *context = job->cloud->context;
    const uint64_t n = c->count + CAROMI_CLOUD_PADDING;
    int complete = 1;
    const int has_columns = job->has_given && job->cloud->device != NULL;
    for (int k = 0; k < (has_columns ? CLOUD_MOVING : CLOUD_RESTING); k++) {
        c->column[k] = caromi_cached_alloc(context, n, sizeof(float));
        complete &= c->column[k] != NULL;
    }
    if (job->has_given) {
        c->given = caromi_cached_alloc(context, CLOUD_COLUMNS * n, sizeof *c->given);
        complete &= c->given != NULL;
    }
    c->index = caromi_cached_alloc(context, n, sizeof *c->index);
    complete &= c->index != NULL;
    if (job->cloud->mask.base) {
        c->mask = caromi_cached_alloc(context, n, sizeof *c->mask);
        complete &= c->mask != NULL;
    }
    job->records = caromi_cached_alloc(context, c->count, job->record_size);
    if (!complete || job->records == NULL)
        return 0;
    for (int k = 0; k < CLOUD_RESTING; k++)
        memset(c->column[k] + c->count, 0, CAROMI_CLOUD_PADDING * sizeof(float));
    memset(c->index + c->count, 0, CAROMI_CLOUD_PADDING * sizeof *c->index);
    if (c->mask)
        memset(c->mask + c->count, 0, CAROMI_CLOUD_PADDING * sizeof *c->mask);
    return 1;
}

/* Merges the parts' rows into the cells' rows and lookup table. Returns 0 if there is no memory. */
static int make_rows(caromi_build *job)
{
    const carom_context *context = job->cloud->context;
    caromi_cloud_cells *c = job->cells;
    uint64_t rows = 0, table_slots = job->dense_rows;
    for (uint32_t p = 0; p < job->part_count; p++) {
        if (job->parts[p].is_short)
            return 0;
        rows += job->parts[p].row_count;
    }
    rows = table_slots ? (table_slots < c->count ? table_slots : c->count) : rows;
    if (!table_slots) {
        for (c->view.table_mask = 1; c->view.table_mask < 2 * rows; c->view.table_mask = 2 * c->view.table_mask + 1)
            ;
        table_slots = c->view.table_mask + 1;
    }
    c->rows = caromi_cached_alloc(context, rows + 1, sizeof *c->rows);
    c->table = caromi_cached_alloc(context, table_slots, sizeof *c->table);
    if (c->rows == NULL || c->table == NULL)
        return 0;
    if (!caromi_build_join(job, rows))
        return 0;
    c->starts = caromi_cached_alloc(context, starts_before(c->count, c->view.row_count), sizeof *c->starts);
    return c->starts != NULL;
}

/* Gives every row of the bounding boxes a number if they are at most a few times as many as the spheres ("dense"). */
static void number_rows(caromi_build *job)
{
    caromi_cloud_cells *c = job->cells;
    double rows = 0;
    for (uint32_t l = 0; l < c->view.level_count; l++) {
        caromi_cloud_level *level = &c->levels[l];
        level->first_row = (uint64_t)rows;
        rows += (level->most[1] + 1.0) * (level->most[2] + 1.0);
        if (rows > 4.0 * (double)job->extent->valid + 4096 || rows > INT32_MAX)
            return;
    }
    job->dense_rows = (uint64_t)rows;
    c->view.is_dense = 1;
}

/* Computes the bounds of levels that cover only a part of the cloud. */
static void set_bounds(const caromi_cloud *cloud, caromi_cloud_cells *c)
{
    for (uint32_t l = 0; l < c->view.level_count; l++) {
        caromi_cloud_level *level = &c->levels[l];
        if (level->has_bounds)
            continue;
        const caromi_cloud_bounds bounds = caromi_cloud_bounds_of(cloud, c, l);
        for (int k = 0; k < 3; k++) {
            level->from[k] = (double)bounds.low[k];
            level->to[k] = (double)bounds.high[k];
        }
        level->has_bounds = 1;
    }
}

/* Returns 0 if there is no memory. */
static int build(caromi_build *job)
{
    const carom_context *context = job->cloud->context;
    caromi_cloud_cells *c = job->cells;
    caromi_pool *pool = caromi_cloud_pool(job->cloud);
    job->part_count = caromi_pool_threads(pool);
    job->parts = caromi_alloc(context, job->part_count, sizeof *job->parts);
    if (job->parts == NULL)
        return 0;
    memset(job->parts, 0, job->part_count * sizeof *job->parts);
    for (uint32_t p = 0; p < job->part_count; p++) {
        job->parts[p].begin = caromi_slice_start(job->cloud->count, job->part_count, p);
        job->parts[p].end = caromi_slice_start(job->cloud->count, job->part_count, p + 1);
    }
    number_rows(job);
    c->count = job->extent->valid;
    job->row_of = caromi_cached_alloc(context, job->cloud->count + 1, sizeof *job->row_of);
    if (job->row_of == NULL)
        return 0;
    caromi_parallel(pool, job->part_count, caromi_build_enter, job);
    if (!make_rows(job) || !alloc_columns(job))
        return 0;
    caromi_parallel(pool, job->part_count, run_scatter, job);
    const uint32_t most = TASKS_EACH * caromi_pool_threads(pool);
    job->row_tasks = c->view.row_count < most ? c->view.row_count : most;
    caromi_parallel(pool, job->row_tasks, sort_rows, job);
    c->doubled = atomic_load(&job->doubled);
    set_bounds(job->cloud, c);
    return 1;
}

static void set_view(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *c)
{
    caromi_cloud_view *v = &c->view;
    v->x = c->column[CLOUD_POSITION_X];
    v->y = c->column[CLOUD_POSITION_Y];
    v->z = c->column[CLOUD_POSITION_Z];
    v->reach = c->column[CLOUD_REACH];
    v->mask = c->mask;
    v->index = c->index;
    v->margin = cloud->margin;
    v->reach_is_bound = !caromi_slice_is_instant(slice) || (cloud->is_moving && cloud->start != CAROM_START_REPORT);
    v->motion = caromi_cloud_motion_in(cloud, slice, c);
    v->starts = c->starts;
    v->rows = c->rows;
    v->levels = c->levels;
    v->table = c->table;
    caromi_cloud_find_images(cloud, c);
}

static void free_work(caromi_build *job)
{
    const carom_context *context = job->cloud->context;
    for (uint32_t p = 0; job->parts != NULL && p < job->part_count; p++) {
        caromi_free(context, job->parts[p].rows);
        caromi_free(context, job->parts[p].counts);
        caromi_free(context, job->parts[p].table);
    }
    caromi_free(context, job->parts);
    caromi_cached_free(context, job->row_of);
    caromi_cached_free(context, job->records);
    job->parts = NULL;
    job->row_of = NULL;
    job->records = NULL;
}

static void clear(caromi_cloud_cells *cells)
{
    memset(cells, 0, offsetof(caromi_cloud_cells, levels));
}

/* Builds once more where cells are crowded, with levels chosen by local density (crowded.c). Returns 0 if there is no
 * memory. */
static int build_again(caromi_build *job)
{
    const caromi_cloud *cloud = job->cloud;
    caromi_cloud_level levels[CAROMI_CLOUD_LEVELS];
    uint8_t *own_level = caromi_cached_alloc(cloud->context, cloud->count, 1);
    int complete = 1;
    if (own_level == NULL)
        return 0;
    set_view(cloud, job->slice, job->cells);
    const uint32_t count = caromi_cloud_relevel(cloud, job->cells, levels, own_level);
    if (count > 0) {
        caromi_cloud_free(cloud, job->cells);
        clear(job->cells);
        job->cells->view.level_count = count;
        memcpy(job->cells->levels, levels, count * sizeof *levels);
        job->own_level = own_level;
        job->dense_rows = 0;
        atomic_store(&job->doubled, 0);
        complete = build(job);
        free_work(job);
    }
    caromi_cached_free(cloud->context, own_level);
    return complete;
}

/* Allocates the cache of the moving spheres' bounding spheres in the slice. If there is no memory, each pass computes
 * them again. */
static float *alloc_positions(const caromi_cloud *cloud, caromi_cloud_slice *slice)
{
    if (caromi_slice_is_instant(slice))
        return NULL;
    float *positions = caromi_cached_alloc(cloud->context, 4 * cloud->count, sizeof *positions);
    for (int k = 0; positions != NULL && k < 4; k++)
        slice->position[k] = positions + (uint64_t)k * cloud->count;
    return positions;
}

static carom_status fail_to_build(const caromi_cloud_cells *cells, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the cells of %llu spheres",
                       (unsigned long long)cells->count);
}

static carom_status build_few(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells,
                              carom_error *err)
{
    if (!caromi_cloud_enter_one_cell(cloud, slice, cells))
        return fail_to_build(cells, err);
    set_view(cloud, slice, cells);
    return CAROM_OK;
}

carom_status caromi_cloud_build(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells,
                                carom_error *err)
{
    clear(cells);
    if (caromi_cloud_is_one_cell(cloud))
        return build_few(cloud, slice, cells, err);
    caromi_cloud_extent extent;
    caromi_cloud_slice own = *slice;
    float *positions = alloc_positions(cloud, &own);
    caromi_build job = {.cloud = cloud, .slice = &own, .extent = &extent, .cells = cells};
    job.has_given = cloud->is_moving;
    job.record_size = job.has_given ? sizeof(record) : RECORD_SHORT;
    const carom_status status = caromi_cloud_measure(cloud, &own, &extent, err);
    int complete = 0;
    if (status == CAROM_OK) {
        cells->view.level_count = caromi_cloud_choose_levels(cloud, &extent, cells->levels, job.level_of);
        complete = build(&job);
        free_work(&job);
    }
    if (complete && caromi_cloud_is_crowded(cells))
        complete = build_again(&job);
    caromi_cached_free(cloud->context, positions);
    if (status != CAROM_OK)
        return status;
    if (!complete) {
        caromi_cloud_free(cloud, cells);
        return fail_to_build(cells, err);
    }
    set_view(cloud, slice, cells);
    caromi_cloud_direct(cells);
    return CAROM_OK;
}

void caromi_cloud_free(const caromi_cloud *cloud, caromi_cloud_cells *cells)
{
    if (cells->one_cell != NULL) {
        caromi_free(cloud->context, cells->one_cell);
        return;
    }
    for (int k = 0; k < CLOUD_MOVING; k++)
        caromi_cached_free(cloud->context, cells->column[k]);
    caromi_cached_free(cloud->context, cells->given);
    caromi_cached_free(cloud->context, cells->index);
    caromi_cached_free(cloud->context, cells->mask);
    caromi_cached_free(cloud->context, cells->starts);
    caromi_cached_free(cloud->context, cells->table);
    caromi_cached_free(cloud->context, cells->rows);
}
