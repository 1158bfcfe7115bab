/* SPDX-License-Identifier: MIT */
/* Spheres into rows of cells. The cloud is cut into as many parts as there are threads. Each part looks up the row of
 * each of its spheres and counts; then the rows of all parts are joined and ordered, and each part knows where its
 * spheres go. Last, each row is sorted by cell. All of it is stable: the spheres of a cell are in their order. */
#include <math.h>
#include <string.h>

#include "cloud.h"

/* A sphere between the two sorts. */
typedef struct record {
    caromi_cloud_place place;
    uint32_t index, image;
    int32_t x; /* cell along its row */
    uint32_t mask;
    float given[CLOUD_COLUMNS]; /* if they move, or have images */
} record;
static const size_t record_short = offsetof(record, given);

/* A row as a part of the cloud sees it. */
typedef struct part_row {
    int32_t y, z;
    uint32_t level, count;
    int32_t low, high; /* cells along x */
    uint32_t row;      /* among all; then where its next sphere goes */
} part_row;

typedef struct part {
    uint64_t begin, end; /* spheres */
    uint64_t first;      /* of its spheres and images, among all */
    uint64_t count;
    part_row *rows;
    uint32_t row_count, row_room;
    uint32_t *table;
    uint64_t mask; /* of the table */
    int is_short;  /* of memory */
} part;

typedef struct build_job {
    const caromi_cloud *cloud;
    const caromi_cloud_slice *slice;
    const caromi_cloud_extent *extent;
    caromi_cloud_cells *cells;
    uint8_t level_of[CAROMI_REACHES];
    part *parts;
    uint32_t part_count;
    uint32_t *row_of; /* [spheres and images] within its part */
    char *records;
    size_t record_size;
    int has_given;
} build_job;

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* An image counts if it may touch a sphere: only near the bounds of them all. */
static int image_counts(const build_job *job, int image, const caromi_cloud_place *place)
{
    const double off =
        ((double)place->reach + (double)job->extent->largest + (double)job->cloud->margin) * (1 + 0x1p-14);
    for (int k = 0; k < 3; k++) {
        const double at = (double)place->at[k], slack = off + fabs(at) * 0x1p-20;
        if (caromi_image_step(image, k) && !(job->cloud->period[k] > 0))
            return 0;
        if (image != CAROMI_IMAGE_OWN && (at + slack < job->extent->low[k] || at - slack > job->extent->high[k]))
            return 0;
    }
    return 1;
}

/* A sphere, or an image of one. */
typedef struct cloud_one {
    const caromi_cloud_block *block;
    uint32_t i; /* in the block */
    int image;
    caromi_cloud_place place;
} cloud_one;
typedef void one_fn(build_job *job, part *p, const cloud_one *one);

/* Calls `use` for each valid sphere of a part, and for each image that counts. */
static inline __attribute__((always_inline)) void for_each(build_job *job, part *p, one_fn *use)
{
    const int periodic = caromi_cloud_is_periodic(job->cloud);
    const int first = periodic ? 0 : CAROMI_IMAGE_OWN, last = periodic ? CAROMI_IMAGES - 1 : CAROMI_IMAGE_OWN;
    caromi_cloud_block block;
    for (uint64_t at = p->begin; at < p->end; at += block.count) {
        caromi_cloud_read(job->cloud, at, p->end, &block);
        for (uint32_t i = 0; i < block.count; i++) {
            const int is_in = caromi_cloud_is_in(job->cloud, job->slice, &block, i);
            for (int image = first; is_in && image <= last; image++) {
                cloud_one one = {.block = &block, .i = i, .image = image};
                one.place = caromi_cloud_place_of(job->cloud, job->slice, &block, i, image);
                if (!periodic || image_counts(job, image, &one.place))
                    use(job, p, &one);
            }
        }
    }
}

/* ---- rows of a part ---------------------------------------------------------------------------------------------- */

static void count_one(build_job *job, part *p, const cloud_one *one)
{
    (void)job, (void)one;
    p->count++;
}

/* Twice the room for rows; the table has two places for each. 0: no memory. */
static int grow_rows(const build_job *job, part *p)
{
    const carom_context *c = job->cloud->context;
    const uint32_t room = p->row_room ? 2 * p->row_room : 1024;
    part_row *rows = caromi_task_alloc(c, room, sizeof *rows);
    uint32_t *table = caromi_task_alloc(c, 2 * (uint64_t)room, sizeof *table);
    if (rows == NULL || table == NULL) {
        caromi_task_free(c, rows);
        caromi_task_free(c, table);
        return 0;
    }
    if (p->row_count)
        memcpy(rows, p->rows, p->row_count * sizeof *rows);
    memset(table, 0xff, 2 * (size_t)room * sizeof *table);
    p->mask = 2 * (uint64_t)room - 1;
    for (uint32_t r = 0; r < p->row_count; r++) {
        uint64_t h = caromi_cloud_hash(rows[r].level, rows[r].y, rows[r].z);
        while (table[h & p->mask] != CAROMI_NO_ROW)
            h++;
        table[h & p->mask] = r;
    }
    caromi_task_free(c, p->rows);
    caromi_task_free(c, p->table);
    p->rows = rows;
    p->table = table;
    p->row_room = room;
    return 1;
}

static uint32_t row_of(const build_job *job, part *p, uint32_t level, int32_t y, int32_t z)
{
    uint64_t h = caromi_cloud_hash(level, y, z);
    for (;; h++) {
        const uint32_t at = p->table[h & p->mask];
        if (at == CAROMI_NO_ROW)
            break;
        if (p->rows[at].y == y && p->rows[at].z == z && p->rows[at].level == level)
            return at;
    }
    if (p->row_count == p->row_room) {
        if (!grow_rows(job, p))
            return CAROMI_NO_ROW;
        for (h = caromi_cloud_hash(level, y, z); p->table[h & p->mask] != CAROMI_NO_ROW; h++)
            ;
    }
    p->table[h & p->mask] = p->row_count;
    p->rows[p->row_count] = (part_row){.y = y, .z = z, .level = level, .low = INT32_MAX, .high = INT32_MIN};
    return p->row_count++;
}

static int32_t cell_of(const build_job *job, uint32_t level, int axis, const caromi_cloud_place *place)
{
    return caromi_cloud_cell(&job->cells->levels[level], axis, (double)place->at[axis]);
}

static void enter_one(build_job *job, part *p, const cloud_one *one)
{
    const uint32_t level = job->level_of[caromi_reach_class(one->place.reach)];
    const int32_t x = cell_of(job, level, 0, &one->place);
    if (p->is_short)
        return;
    const uint32_t at = row_of(job, p, level, cell_of(job, level, 1, &one->place), cell_of(job, level, 2, &one->place));
    p->is_short = at == CAROMI_NO_ROW;
    if (p->is_short)
        return;
    part_row *row = &p->rows[at];
    row->count++;
    row->low = x < row->low ? x : row->low;
    row->high = x > row->high ? x : row->high;
    job->row_of[p->first + p->count++] = at;
}

/* ---- rows of all parts ------------------------------------------------------------------------------------------- */

/* A row of a part, for ordering: by level, z and y. */
typedef struct row_key {
    uint64_t key;
    uint32_t part, row;
} row_key;

/* Stable, from the lowest digit; returns the array that has the result. */
static row_key *sort_keys(row_key *keys, row_key *other, size_t count)
{
    enum { BITS = 10, DIGITS = 1 << BITS };
    uint64_t used = 0;
    for (size_t i = 0; i < count; i++)
        used |= keys[i].key ^ keys[0].key;
    for (int shift = 0; shift < 64; shift += BITS) {
        size_t start[DIGITS + 1] = {0};
        if (!(used >> shift & (DIGITS - 1)))
            continue;
        for (size_t i = 0; i < count; i++)
            start[(keys[i].key >> shift & (DIGITS - 1)) + 1]++;
        for (int d = 0; d < DIGITS; d++)
            start[d + 1] += start[d];
        for (size_t i = 0; i < count; i++)
            other[start[keys[i].key >> shift & (DIGITS - 1)]++] = keys[i];
        row_key *const sorted = other;
        other = keys;
        keys = sorted;
    }
    return keys;
}

static uint64_t key_of(const part_row *r)
{
    return (uint64_t)r->level << 58 | (uint64_t)(uint32_t)r->z << 29 | (uint32_t)r->y;
}

/* The rows in order, and for each row of a part where its first sphere goes. */
static void join_rows(build_job *job, const row_key *keys, size_t count)
{
    caromi_cloud_cells *c = job->cells;
    uint32_t place = 0, rows = 0;
    for (size_t i = 0; i < count; i++) {
        part_row *r = &job->parts[keys[i].part].rows[keys[i].row];
        if (i == 0 || keys[i].key != keys[i - 1].key)
            c->rows[rows++] = (caromi_cloud_row){
                .y = r->y, .z = r->z, .begin = place, .low = r->low, .count = r->high, .level = r->level};
        caromi_cloud_row *row = &c->rows[rows - 1];
        row->low = r->low < row->low ? r->low : row->low;
        row->count = r->high > row->count ? r->high : row->count;
        r->row = place;
        place += r->count;
        row->end = place;
    }
    c->view.row_count = rows;
}

/* A row has at most so many cells, or those of the level are joined by twos. */
static void set_cells(caromi_cloud_cells *c, uint64_t *all)
{
    *all = 0;
    for (uint32_t r = 0; r < c->view.row_count; r++) {
        caromi_cloud_row *row = &c->rows[r];
        const int64_t wide = (int64_t)row->count - row->low, most = 4 * (int64_t)(row->end - row->begin) + 64;
        while (wide >> row->shift > most)
            row->shift++;
        row->count = (int32_t)(wide >> row->shift) + 1;
        row->cells = *all;
        *all += (uint64_t)row->count + 1;
    }
}

static void set_levels(caromi_cloud_cells *c)
{
    for (uint32_t l = 0, r = 0; l < c->view.level_count; l++) {
        caromi_cloud_level *level = &c->levels[l];
        level->begin_row = r;
        while (r < c->view.row_count && c->rows[r].level == l)
            r++;
        level->end_row = r;
    }
}

static void set_table(caromi_cloud_cells *c)
{
    memset(c->table, 0xff, (size_t)(c->view.table_mask + 1) * sizeof *c->table);
    for (uint32_t r = 0; r < c->view.row_count; r++) {
        uint64_t h = caromi_cloud_hash(c->rows[r].level, c->rows[r].y, c->rows[r].z);
        while (c->table[h & c->view.table_mask] != CAROMI_NO_ROW)
            h++;
        c->table[h & c->view.table_mask] = r;
    }
}

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

static void place_one(build_job *job, part *p, const cloud_one *one)
{
    const uint32_t at = job->row_of[p->first + p->count++], to = p->rows[at].row++;
    record *r = (record *)(void *)(job->records + to * job->record_size);
    const uint64_t sphere = one->block->first + one->i;
    r->place = one->place;
    r->index = (uint32_t)sphere;
    r->image = (uint32_t)one->image;
    r->x = cell_of(job, p->rows[at].level, 0, &one->place);
    if (job->cells->mask)
        memcpy(&r->mask, caromi_element(&job->cloud->mask, sphere), sizeof r->mask);
    for (int c = 0; job->has_given && c < CLOUD_COLUMNS; c++)
        r->given[c] = one->block->in[c][one->i];
}

static void put(const build_job *job, const record *r, uint32_t to)
{
    const caromi_cloud_cells *c = job->cells;
    for (int k = 0; k < 3; k++)
        c->column[CLOUD_PLACE_X + k][to] = r->place.at[k];
    c->column[CLOUD_REACH][to] = r->place.reach;
    c->index[to] = r->index;
    if (c->image)
        c->image[to] = (uint8_t)r->image;
    if (c->mask)
        c->mask[to] = r->mask;
    for (int k = 0; job->has_given && k < CLOUD_COLUMNS; k++)
        c->column[CLOUD_GIVEN + k][to] = r->given[k];
}

/* A row by cells. In between starts[i] is where the next sphere of cell i goes; then it is where those of i end. */
static void sort_row(void *user, uint64_t number, uint32_t thread)
{
    const build_job *job = user;
    const caromi_cloud_row *row = &job->cells->rows[number];
    uint32_t *starts = job->cells->starts + row->cells;
    (void)thread;
    memset(starts, 0, ((size_t)row->count + 1) * sizeof *starts);
    const record *r;
#define RECORD(i) ((const record *)(const void *)(job->records + (i)*job->record_size))
    for (uint32_t i = row->begin; i < row->end; i++)
        starts[(RECORD(i)->x - row->low) >> row->shift]++;
    for (int32_t c = 0, at = (int32_t)row->begin; c <= row->count; c++) {
        const int32_t count = (int32_t)starts[c];
        starts[c] = (uint32_t)at;
        at += count;
    }
    for (uint32_t i = row->begin; i < row->end; i++) {
        r = RECORD(i);
        put(job, r, starts[(r->x - row->low) >> row->shift]++);
    }
#undef RECORD
    memmove(starts + 1, starts, (size_t)row->count * sizeof *starts);
    starts[0] = row->begin;
}

static void count_doubled(caromi_cloud_cells *c)
{
    for (uint32_t r = 0; r < c->view.row_count; r++)
        for (const uint32_t *at = c->starts + c->rows[r].cells, *end = at + c->rows[r].count; at < end; at++) {
            const uint64_t n = at[1] - at[0];
            c->doubled += n * (n - 1) / 2;
        }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void run_count(void *user, uint64_t number, uint32_t thread)
{
    build_job *job = user;
    (void)thread;
    for_each(job, &job->parts[number], count_one);
}

static void run_enter(void *user, uint64_t number, uint32_t thread)
{
    build_job *job = user;
    part *p = &job->parts[number];
    (void)thread;
    p->count = 0;
    p->is_short = !grow_rows(job, p);
    for_each(job, p, enter_one);
}

static void run_place(void *user, uint64_t number, uint32_t thread)
{
    build_job *job = user;
    (void)thread;
    job->parts[number].count = 0;
    for_each(job, &job->parts[number], place_one);
}

/* 0: no memory. */
static int alloc_columns(build_job *job)
{
    caromi_cloud_cells *c = job->cells;
    const carom_context *context = job->cloud->context;
    const uint64_t n = c->count + CAROMI_CLOUD_PADDING;
    int complete = 1;
    for (int k = 0; k < (job->has_given ? CLOUD_MOVING : CLOUD_RESTING); k++) {
        c->column[k] = caromi_alloc(context, n, sizeof(float));
        complete &= c->column[k] != NULL;
    }
    c->index = caromi_alloc(context, n, sizeof *c->index);
    complete &= c->index != NULL;
    if (caromi_cloud_is_periodic(job->cloud)) {
        c->image = caromi_alloc(context, n, 1);
        complete &= c->image != NULL;
    }
    if (job->cloud->mask.base) {
        c->mask = caromi_alloc(context, n, sizeof *c->mask);
        complete &= c->mask != NULL;
    }
    job->records = caromi_alloc(context, c->count, job->record_size);
    if (!complete || job->records == NULL)
        return 0;
    for (int k = 0; k < CLOUD_RESTING; k++)
        memset(c->column[k] + c->count, 0, CAROMI_CLOUD_PADDING * sizeof(float));
    memset(c->index + c->count, 0, CAROMI_CLOUD_PADDING * sizeof *c->index);
    if (c->mask)
        memset(c->mask + c->count, 0, CAROMI_CLOUD_PADDING * sizeof *c->mask);
    return 1;
}

/* Rows, their cells and the table, from those of the parts. 0: no memory. */
static int make_rows(build_job *job)
{
    const carom_context *context = job->cloud->context;
    caromi_cloud_cells *c = job->cells;
    uint64_t count = 0, cells;
    for (uint32_t p = 0; p < job->part_count; p++) {
        if (job->parts[p].is_short)
            return 0;
        count += job->parts[p].row_count;
    }
    row_key *keys = caromi_alloc(context, 2 * count + 1, sizeof *keys);
    c->rows = caromi_alloc(context, count + 1, sizeof *c->rows);
    for (c->view.table_mask = 1; c->view.table_mask < 2 * count; c->view.table_mask = 2 * c->view.table_mask + 1)
        ;
    c->table = caromi_alloc(context, c->view.table_mask + 1, sizeof *c->table);
    const int complete = keys != NULL && c->rows != NULL && c->table != NULL;
    if (complete) {
        size_t n = 0;
        for (uint32_t p = 0; p < job->part_count; p++)
            for (uint32_t r = 0; r < job->parts[p].row_count; r++)
                keys[n++] = (row_key){key_of(&job->parts[p].rows[r]), p, r};
        join_rows(job, sort_keys(keys, keys + n, n), n);
        set_cells(c, &cells);
        set_levels(c);
        set_table(c);
        c->starts = caromi_alloc(context, cells + 1, sizeof *c->starts);
    }
    caromi_free(context, keys);
    return complete && c->starts != NULL;
}

/* 0: no memory. */
static int build(build_job *job)
{
    const carom_context *context = job->cloud->context;
    caromi_cloud_cells *c = job->cells;
    caromi_pool *pool = context->pool;
    job->part_count = caromi_pool_threads(pool);
    job->parts = caromi_alloc(context, job->part_count, sizeof *job->parts);
    if (job->parts == NULL)
        return 0;
    memset(job->parts, 0, job->part_count * sizeof *job->parts);
    for (uint32_t p = 0; p < job->part_count; p++) {
        job->parts[p].begin = caromi_slice_start(job->cloud->count, job->part_count, p);
        job->parts[p].end = caromi_slice_start(job->cloud->count, job->part_count, p + 1);
    }
    caromi_parallel(pool, job->part_count, run_count, job);
    for (uint32_t p = 0; p < job->part_count; p++) {
        job->parts[p].first = c->count;
        c->count += job->parts[p].count;
    }
    if (c->count > INT32_MAX)
        return 0;
    job->row_of = caromi_alloc(context, c->count + 1, sizeof *job->row_of);
    if (job->row_of == NULL)
        return 0;
    caromi_parallel(pool, job->part_count, run_enter, job);
    if (!make_rows(job) || !alloc_columns(job))
        return 0;
    caromi_parallel(pool, job->part_count, run_place, job);
    caromi_parallel(pool, c->view.row_count, sort_row, job);
    count_doubled(c);
    return 1;
}

static void set_view(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *c)
{
    caromi_cloud_view *v = &c->view;
    v->x = c->column[CLOUD_PLACE_X];
    v->y = c->column[CLOUD_PLACE_Y];
    v->z = c->column[CLOUD_PLACE_Z];
    v->reach = c->column[CLOUD_REACH];
    v->mask = c->mask;
    v->index = c->index;
    v->margin = cloud->margin;
    v->reach_is_bound = !caromi_slice_is_instant(slice) || caromi_cloud_is_periodic(cloud) ||
                        (cloud->is_moving && cloud->start != CAROM_START_REPORT);
    v->starts = c->starts;
    v->rows = c->rows;
    v->levels = c->levels;
    v->table = c->table;
}

carom_status caromi_cloud_build(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells,
                                carom_error *err)
{
    caromi_cloud_extent extent;
    build_job job = {.cloud = cloud, .slice = slice, .extent = &extent, .cells = cells};
    *cells = (caromi_cloud_cells){.count = 0};
    job.has_given = cloud->is_moving || caromi_cloud_is_periodic(cloud);
    job.record_size = job.has_given ? sizeof(record) : record_short;
    CHECK(caromi_cloud_measure(cloud, slice, &extent, err));
    cells->view.level_count = caromi_cloud_choose_levels(cloud, &extent, cells->levels, job.level_of);
    const int complete = build(&job);
    for (uint32_t p = 0; job.parts != NULL && p < job.part_count; p++) {
        caromi_free(cloud->context, job.parts[p].rows);
        caromi_free(cloud->context, job.parts[p].table);
    }
    caromi_free(cloud->context, job.parts);
    caromi_free(cloud->context, job.row_of);
    caromi_free(cloud->context, job.records);
    if (!complete) {
        caromi_cloud_free(cloud, cells);
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the cells of %llu spheres",
                           (unsigned long long)cells->count);
    }
    set_view(cloud, slice, cells);
    return CAROM_OK;
}

void caromi_cloud_free(const caromi_cloud *cloud, caromi_cloud_cells *cells)
{
    for (int k = 0; k < CLOUD_MOVING; k++)
        caromi_free(cloud->context, cells->column[k]);
    caromi_free(cloud->context, cells->index);
    caromi_free(cloud->context, cells->mask);
    caromi_free(cloud->context, cells->image);
    caromi_free(cloud->context, cells->starts);
    caromi_free(cloud->context, cells->table);
    caromi_free(cloud->context, cells->rows);
}
