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
#include "kernels/cloud_order.h"

/* A sphere after the sort by row and before the sort by cell. */
typedef struct cell_record {
    float position[4]; /* x, y, z and reach in the slice */
    uint32_t index;
    int32_t x;                  /* number of its cell along its row */
    uint32_t mask, group;       /* 32 bytes so far: no record at rest straddles two cache lines */
    float given[CLOUD_COLUMNS]; /* the caller's inputs; only of spheres in motion */
} cell_record;
enum {
    TASKS_EACH = 32, /* tasks of each thread. A task has consecutive rows, as a core's prefetcher reads into cache lines
                        that another writes */
    RECORD_SHORT = offsetof(cell_record, given),
    AHEAD = 16 /* how many spheres ahead their record's cache line is prefetched, as the store would wait for it */
};

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

/* Record i. `size` is a constant in every caller, so that the product is cheap once this is inlined. */
static inline cell_record *record_at(const caromi_build *job, uint32_t number, size_t size)
{
    return (cell_record *)(void *)(job->records + number * size);
}

/* Scatters a batch of spheres to their rows. `size`: of a record, without the inputs if spheres are at rest. */
static inline __attribute__((always_inline)) void scatter_records(caromi_build *job, caromi_build_part *part,
                                                                  const caromi_cloud_batch *batch, size_t size)
{
    int32_t level[CAROMI_CLOUD_BLOCK], cell_x[CAROMI_CLOUD_BLOCK];
    uint32_t *counts = part->counts;
    const uint32_t *rows = job->row_of + part->begin + part->count;
    const caromi_in_column mask = job->cloud->mask, group = job->cloud->group;
    const float *const position[] = {batch->position[0], batch->position[1], batch->position[2],
                                     batch->position[CLOUD_REACH]};
    caromi_cloud_block given; /* a block of the caller's inputs that holds the next sphere */
    given.first = given.count = 0;
    caromi_build_levels(job, batch, level);
    caromi_build_cells(job, batch, level, AXIS_X, cell_x);
    /* counts[row] is where the row's next sphere goes. */
    for (uint32_t i = 0; i < batch->count; i++) {
        if (i + AHEAD < batch->count)
            __builtin_prefetch(record_at(job, counts[rows[i + AHEAD]], size), 1);
        cell_record *record = record_at(job, counts[rows[i]]++, size);
        record->position[0] = position[0][i];
        record->position[1] = position[1][i];
        record->position[2] = position[2][i];
        record->position[CLOUD_REACH] = position[CLOUD_REACH][i];
        record->index = batch->index[i];
        record->x = cell_x[i];
        if (mask.base != NULL)
            memcpy(&record->mask, caromi_element(&mask, batch->index[i]), sizeof record->mask);
        if (group.base != NULL)
            memcpy(&record->group, caromi_element(&group, batch->index[i]), sizeof record->group);
        if (size == sizeof *record && batch->index[i] - given.first >= given.count)
            caromi_cloud_read(job->cloud, batch->index[i], job->cloud->count, &given);
        for (int column = 0; size == sizeof *record && column < CLOUD_COLUMNS; column++)
            record->given[column] = given.in[column][batch->index[i] - given.first];
    }
    part->count += batch->count;
}

/* The scatter pass's callback for a batch. */
static void position(void *user, const caromi_cloud_batch *batch)
{
    const caromi_build_user *to = user;
    if (to->job->has_given)
        scatter_records(to->job, to->part, batch, sizeof(cell_record));
    else
        scatter_records(to->job, to->part, batch, RECORD_SHORT);
}

/* The most cells of a row with n spheres; it has one more entry in `starts`. A row whose level has more cells merges
 * 2^shift neighbours into one. */
#define CELLS_MOST(n) CLOUD_CELLS_MOST((int64_t)(n))
/* The number of entries of `starts` before a row, which has so many spheres and rows before it. */
static uint64_t starts_before(uint64_t spheres, uint64_t rows)
{
    return (uint64_t)CELLS_MOST(spheres) - (uint64_t)CELLS_MOST(0) + rows * (uint64_t)(CELLS_MOST(0) + 1);
}

/* Chooses a row's cells. They go from its first sphere to its last, as fine as CELLS_MOST allows; if the level has
 * fewer cells than the row has spheres, they are all of the level's. */
static inline void set_cells(const caromi_build *job, caromi_cloud_row *row, size_t size)
{
    const int32_t most = job->cells->levels[row->level].most[AXIS_X];
    if ((uint32_t)most < row->end - row->begin) {
        row->count = most + 1;
        return;
    }
    /* The range of occupied cells; neighbours are merged until there are few enough. */
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

/* Moves the spheres of a row from records to columns, sorted by cell. */
static inline void put_records(const caromi_build *job, const caromi_cloud_row *row, uint32_t *starts, size_t size)
{
    caromi_cloud_cells *const cells = job->cells;
    float *const x = cells->column[CLOUD_POSITION_X], *const y = cells->column[CLOUD_POSITION_Y],
                 *const z = cells->column[CLOUD_POSITION_Z], *const reach = cells->column[CLOUD_REACH];
    uint32_t *const index = cells->index, *const mask = cells->mask, *const group = cells->group;
    float *const given = cells->given;
    const int has_columns = cells->column[CLOUD_GIVEN] != NULL;
    const int32_t low = row->low, shift = row->shift;
    for (uint32_t i = row->begin, end = row->end; i < end; i++) {
        const cell_record *record = record_at(job, i, size);
        const uint32_t slot = starts[(record->x - low) >> shift]++;
        x[slot] = record->position[0];
        y[slot] = record->position[1];
        z[slot] = record->position[2];
        reach[slot] = record->position[CLOUD_REACH];
        index[slot] = record->index;
        if (mask)
            mask[slot] = record->mask;
        if (group)
            group[slot] = record->group;
        /* The caller's inputs of moving spheres: as rows for the CPU, as columns for a device. */
        if (size == sizeof *record)
            memcpy(given + (size_t)CLOUD_COLUMNS * slot, record->given, sizeof record->given);
        for (int input = 0; has_columns && input < CLOUD_COLUMNS; input++)
            cells->column[CLOUD_GIVEN + input][slot] = record->given[input];
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
    memset(starts, 0, ((size_t)row->count + 1) * sizeof *starts); /* histogram */
    for (uint32_t i = row->begin; i < row->end; i++)
        starts[(record_at(job, i, size)->x - row->low) >> row->shift]++;
    /* prefix sum */
    for (int32_t cell = 0, slot = (int32_t)row->begin; cell <= row->count; cell++) {
        const int32_t count = (int32_t)starts[cell];
        starts[cell] = (uint32_t)slot;
        slot += count;
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
    for (uint64_t row = caromi_slice_start(rows, job->row_tasks, task),
                  end = caromi_slice_start(rows, job->row_tasks, task + 1);
         row < end; row++)
        doubled += job->has_given ? sort_records(job, row, sizeof(cell_record)) : sort_records(job, row, RECORD_SHORT);
    atomic_fetch_add_explicit(&job->doubled, doubled, memory_order_relaxed);
}

/* ---- building the cells ------------------------------------------------------------------------------------------ */

/* Task: scatters a part's spheres to their rows. */
static void run_scatter(void *user, uint64_t number, uint32_t thread)
{
    caromi_build *job = user;
    (void)thread;
    job->parts[number].count = 0;
    caromi_build_pass(job, &job->parts[number], position);
}

/* Allocates a column of words, zero behind the last sphere, if it is wanted. *complete becomes 0 without memory. */
static uint32_t *alloc_words(const carom_context *context, uint64_t padded_count, int is_wanted, int *complete)
{
    uint32_t *words = is_wanted ? caromi_cached_alloc(context, padded_count, sizeof *words) : NULL;
    if (words != NULL)
        memset(words + padded_count - CAROMI_CLOUD_PADDING, 0, CAROMI_CLOUD_PADDING * sizeof *words);
    *complete &= !is_wanted || words != NULL;
    return words;
}

/* Allocates the columns of the sorted spheres, and the records before the sort. Returns 0 if there is no memory. */
static int alloc_columns(caromi_build *job)
{
    caromi_cloud_cells *cells = job->cells;
    const carom_context *context = job->cloud->context;
    const uint64_t padded_count = cells->count + CAROMI_CLOUD_PADDING;
    int complete = 1;
    const int has_columns = job->has_given && job->cloud->device != NULL;
    for (int k = 0; k < (has_columns ? CLOUD_ALL_COLUMNS : CLOUD_POSITION_COLUMNS); k++) {
        cells->column[k] = caromi_cached_alloc(context, padded_count, sizeof(float));
        complete &= cells->column[k] != NULL;
    }
    if (job->has_given) {
        cells->given = caromi_cached_alloc(context, CLOUD_COLUMNS * padded_count, sizeof *cells->given);
        complete &= cells->given != NULL;
    }
    cells->index = alloc_words(context, padded_count, 1, &complete);
    cells->mask = alloc_words(context, padded_count, job->cloud->mask.base != NULL, &complete);
    cells->group = alloc_words(context, padded_count, job->cloud->group.base != NULL, &complete);
    job->records = caromi_cached_alloc(context, cells->count, job->record_size);
    if (!complete || job->records == NULL)
        return 0;
    /* Scans read whole vectors, so also the padding behind the last sphere. */
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        memset(cells->column[k] + cells->count, 0, CAROMI_CLOUD_PADDING * sizeof(float));
    return 1;
}

/* Merges the parts' rows into the cells' rows and lookup table. Returns 0 if there is no memory. */
static int make_rows(caromi_build *job)
{
    const carom_context *context = job->cloud->context;
    caromi_cloud_cells *cells = job->cells;
    uint64_t rows = 0, table_slots = job->dense_rows;
    for (uint32_t part = 0; part < job->part_count; part++) {
        if (job->parts[part].is_short)
            return 0;
        rows += job->parts[part].row_count;
    }
    /* At most so many rows hold spheres: as many as the parts have found, or as there are spheres. */
    rows = table_slots ? (table_slots < cells->count ? table_slots : cells->count) : rows;
    if (!table_slots) { /* a hash table with two slots for each row */
        for (cells->view.table_mask = 1; cells->view.table_mask < 2 * rows;
             cells->view.table_mask = 2 * cells->view.table_mask + 1)
            ;
        table_slots = cells->view.table_mask + 1;
    }
    cells->rows = caromi_cached_alloc(context, rows + 1, sizeof *cells->rows);
    cells->table = caromi_cached_alloc(context, table_slots, sizeof *cells->table);
    if (cells->rows == NULL || cells->table == NULL)
        return 0;
    if (!caromi_build_join(job, rows))
        return 0;
    cells->starts =
        caromi_cached_alloc(context, starts_before(cells->count, cells->view.row_count), sizeof *cells->starts);
    return cells->starts != NULL;
}

/* Gives every row of the bounding boxes a number if they are at most a few times as many as the spheres ("dense"). */
static void number_rows(caromi_build *job)
{
    caromi_cloud_cells *cells = job->cells;
    double rows = 0;
    for (uint32_t l = 0; l < cells->view.level_count; l++) {
        caromi_cloud_level *level = &cells->levels[l];
        level->first_row = (uint64_t)rows;
        rows += (level->most[AXIS_Y] + 1.0) * (level->most[AXIS_Z] + 1.0);
        if (rows > 4.0 * (double)job->extent->valid + 4096 || rows > INT32_MAX)
            return;
    }
    job->dense_rows = (uint64_t)rows;
    cells->view.is_dense = 1;
}

/* Computes the bounds of levels that cover only a part of the cloud. */
static void set_bounds(const caromi_cloud *cloud, caromi_cloud_cells *cells)
{
    for (uint32_t l = 0; l < cells->view.level_count; l++) {
        caromi_cloud_level *level = &cells->levels[l];
        if (level->has_bounds)
            continue;
        const caromi_cloud_bounds bounds = caromi_cloud_bounds_of(cloud, cells, l);
        for (int k = 0; k < 3; k++) {
            level->from[k] = (double)bounds.low[k];
            level->to[k] = (double)bounds.high[k];
        }
        level->has_bounds = 1;
    }
}

/* Makes two levels of each, with the same cells, for the spheres of two clouds. Their bounds are not the same. */
static void split_levels(caromi_cloud_cells *cells)
{
    for (uint32_t l = 2 * cells->view.level_count; l-- > 0;) {
        cells->levels[l] = cells->levels[l / 2];
        cells->levels[l].has_bounds = 0;
    }
    cells->view.level_count *= 2;
}

/* Sorts the spheres: rows are found, spheres scattered to rows, and each row sorted by cell. Returns 0 if there is no
 * memory. */
static int build(caromi_build *job)
{
    const carom_context *context = job->cloud->context;
    caromi_cloud_cells *cells = job->cells;
    caromi_pool *pool = caromi_cloud_pool(job->cloud);
    job->part_count = caromi_pool_threads(pool);
    job->parts = caromi_alloc(context, job->part_count, sizeof *job->parts);
    if (job->parts == NULL)
        return 0;
    memset(job->parts, 0, job->part_count * sizeof *job->parts);
    /* Parts of equal numbers of spheres. */
    for (uint32_t part = 0; part < job->part_count; part++) {
        job->parts[part].begin = caromi_slice_start(job->cloud->count, job->part_count, part);
        job->parts[part].end = caromi_slice_start(job->cloud->count, job->part_count, part + 1);
    }
    if (job->cloud->is_split)
        split_levels(cells);
    /* First pass: the row of each sphere, and the histogram. */
    number_rows(job);
    cells->count = job->extent->valid;
    job->row_of = caromi_cached_alloc(context, job->cloud->count + 1, sizeof *job->row_of);
    if (job->row_of == NULL)
        return 0;
    caromi_parallel(pool, job->part_count, caromi_build_enter, job);
    /* Rows in order; then the scatter to rows, and the sort of each row by cell. */
    if (!make_rows(job) || !alloc_columns(job))
        return 0;
    caromi_parallel(pool, job->part_count, run_scatter, job);
    const uint32_t most = TASKS_EACH * caromi_pool_threads(pool);
    job->row_tasks = cells->view.row_count < most ? cells->view.row_count : most;
    caromi_parallel(pool, job->row_tasks, sort_rows, job);
    cells->doubled = atomic_load(&job->doubled);
    set_bounds(job->cloud, cells);
    return 1;
}

/* Sets the pointers and numbers that a scan reads. */
static void set_view(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells)
{
    caromi_cloud_view *view = &cells->view;
    view->x = cells->column[CLOUD_POSITION_X];
    view->y = cells->column[CLOUD_POSITION_Y];
    view->z = cells->column[CLOUD_POSITION_Z];
    view->reach = cells->column[CLOUD_REACH];
    view->mask = cells->mask;
    view->group = cells->group;
    view->index = cells->index;
    view->margin = cloud->margin;
    view->is_split = cloud->is_split;
    view->reach_is_bound = !caromi_slice_is_instant(slice) || (cloud->is_moving && cloud->start != CAROM_START_REPORT);
    view->motion = caromi_cloud_motion_in(cloud, slice, cells);
    view->starts = cells->starts;
    view->rows = cells->rows;
    view->levels = cells->levels;
    view->table = cells->table;
    caromi_cloud_find_images(cloud, cells);
}

/* Frees what only the sort needs. */
static void free_work(caromi_build *job)
{
    const carom_context *context = job->cloud->context;
    for (uint32_t part = 0; job->parts != NULL && part < job->part_count; part++) {
        caromi_free(context, job->parts[part].rows);
        caromi_free(context, job->parts[part].counts);
        caromi_free(context, job->parts[part].table);
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
    /* New levels: the cells are built from the beginning. */
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
    return caromi_fail_memory(err, "no memory for the cells of %llu spheres", (unsigned long long)cells->count);
}

/* Few spheres share one cell. */
static carom_status build_few(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells,
                              carom_error *err)
{
    if (!caromi_cloud_enter_one_cell(cloud, slice, cells))
        return fail_to_build(cells, err);
    set_view(cloud, slice, cells);
    return CAROM_OK;
}

/* Sorts the spheres of a slice into cells. */
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
    job.record_size = job.has_given ? sizeof(cell_record) : RECORD_SHORT;
    /* Levels are chosen by size; if cells are crowded then, once more by local density. */
    const carom_status status = caromi_cloud_measure(cloud, &own, &extent, err);
    int complete = 0;
    if (status == CAROM_OK) {
        cells->view.level_count = caromi_cloud_choose_levels(cloud, &extent, cells->levels, job.level_of);
        complete = build(&job);
        free_work(&job);
    }
    if (complete && caromi_cloud_is_crowded(cells->doubled, cells->count))
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
    for (int k = 0; k < CLOUD_ALL_COLUMNS; k++)
        caromi_cached_free(cloud->context, cells->column[k]);
    caromi_cached_free(cloud->context, cells->given);
    caromi_cached_free(cloud->context, cells->index);
    caromi_cached_free(cloud->context, cells->mask);
    caromi_cached_free(cloud->context, cells->group);
    caromi_cached_free(cloud->context, cells->starts);
    caromi_cached_free(cloud->context, cells->table);
    caromi_cached_free(cloud->context, cells->rows);
}
