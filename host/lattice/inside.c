/* SPDX-License-Identifier: MIT */
#include "inside.h"

#include "host/mesh/side.h"

#include <math.h>
#include <string.h>

#include "host/mesh/closing.h"

enum {
    WORD_BITS = 32,
    GROUP_BYTES = 1 << 26,                       /* most memory for the bits of a group, unless one slab needs more */
    CROSSINGS = 1 << 17,                         /* crossings that a thread sorts at a time */
    DIGIT = 11,                                  /* bits of a radix-sort digit */
    ROWS = 1 << (2 * DIGIT - CAROMI_GROUP_BITS), /* most rows of a rectangle, so that keys have two digits */
    COLUMNS = 1 << 30,                           /* most columns of a rectangle */
    ROBUST_NODES = 1 << 19, /* about so many nodes of a group with a closing: they may take seconds */
    TASKS_PER_THREAD = 4
};

/* A thread's scratch memory. */
typedef struct thread_scratch {
    caromi_crossing list[2][CROSSINGS];
    uint32_t place[1 << DIGIT];
    int32_t levels[CAROMI_GROUP_SLABS];
} thread_scratch; /* followed by int32_t sum[dims x], uint32_t row[words] */

static thread_scratch *scratch_of(const caromi_inside *inside, uint32_t thread, int32_t **sum, uint32_t **row)
{
    char *own = inside->scratch + thread * inside->each;
    *sum = (int32_t *)(void *)(own + sizeof(thread_scratch));
    *row = (uint32_t *)(*sum + inside->batch->lattice.dims[0]);
    return (thread_scratch *)(void *)own;
}

static uint32_t *row_bits(const caromi_inside *inside, uint64_t level, uint64_t row)
{
    return inside->bits + (level * inside->batch->lattice.dims[1] + row) * inside->words;
}

/* ---- sums along columns ------------------------------------------------------------------------------------------ */

enum { LOW_DIGIT = 0, HIGH_DIGIT = DIGIT }; /* first bits */
/* One pass of a radix sort, from one array to another. */
static void sort_by_digit(const caromi_crossing *from, caromi_crossing *to, uint32_t count, int shift, uint32_t *start)
{
    const uint32_t mask = (1u << DIGIT) - 1;
    uint32_t sum = 0;
    memset(start, 0, sizeof *start << DIGIT);
    for (uint32_t i = 0; i < count; i++)
        start[from[i].key >> shift & mask]++;
    for (uint32_t digit = 0; digit <= mask; digit++) {
        const uint32_t count_of_digit = start[digit];
        start[digit] = sum;
        sum += count_of_digit;
    }
    for (uint32_t i = 0; i < count; i++)
        to[start[from[i].key >> shift & mask]++] = from[i];
}

/* Sets the bits of one row's nodes, from its crossings by ascending level. From the highest slab down, each crossing
 * changes its column's winding sum and so the bits of all nodes below. */
static void fill_row(const caromi_inside *inside, const caromi_crossings *rectangle, const caromi_crossing *list,
                     uint32_t count, uint64_t row, int32_t *sum, uint32_t *bits)
{
    for (uint64_t level = inside->count, crossings_left = count; level-- > 0;) {
        /* The crossings between this slab and the one above. */
        for (; crossings_left > 0 && (list[crossings_left - 1].key & (CAROMI_GROUP_SLABS - 1)) == level;
             crossings_left--) {
            const uint64_t column = rectangle->i0 + (list[crossings_left - 1].column >> 1);
            const uint32_t bit = 1u << column % WORD_BITS;
            sum[column] += list[crossings_left - 1].column & 1 ? -1 : 1;
            bits[column / WORD_BITS] &= ~bit;
            bits[column / WORD_BITS] |= caromi_is_inside(inside->sign, sum[column]) ? bit : 0;
        }
        /* The columns that are inside at this slab. */
        uint32_t *to = row_bits(inside, level, row);
        for (uint64_t word = rectangle->i0 / WORD_BITS;
             crossings_left < count && word <= (rectangle->i1 - 1) / WORD_BITS; word++)
            to[word] |= bits[word];
    }
    /* Clears the scratch for the next row. */
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t column = rectangle->i0 + (list[i].column >> 1);
        sum[column] = 0;
        bits[column / WORD_BITS] = 0;
    }
}

/* Sets the bits of a rectangle's nodes: radix sort of its crossings by row and level, then row by row. */
static void fill_rows(const caromi_inside *inside, const caromi_crossings *rectangle, thread_scratch *scratch,
                      int32_t *sum, uint32_t *bits)
{
    sort_by_digit(scratch->list[0], scratch->list[1], rectangle->count, LOW_DIGIT, scratch->place);
    sort_by_digit(scratch->list[1], scratch->list[0], rectangle->count, HIGH_DIGIT, scratch->place);
    for (uint32_t first = 0, end; first < rectangle->count; first = end) {
        const uint32_t row = scratch->list[0][first].key >> CAROMI_GROUP_BITS;
        for (end = first; end < rectangle->count && scratch->list[0][end].key >> CAROMI_GROUP_BITS == row; end++) {
        }
        fill_row(inside, rectangle, scratch->list[0] + first, end - first, rectangle->j0 + row, sum, bits);
    }
}

/* Sets the bits of one column's nodes, from winding sums by level. */
static void fill_column(const caromi_inside *inside, const caromi_crossings *column)
{
    int32_t sum = 0;
    for (uint64_t level = inside->count; level-- > 0;) {
        sum += column->levels[level];
        if (caromi_is_inside(inside->sign, sum))
            row_bits(inside, level, column->j0)[column->i0 / WORD_BITS] |= 1u << column->i0 % WORD_BITS;
    }
}

/* ---- rectangles of columns --------------------------------------------------------------------------------------- */

/* The callback's user that collects crossings. */
typedef struct cross_job {
    const caromi_inside *inside;
    caromi_crossings *crossings;
} cross_job;

/* The search's callback: adds the crossings of some triangles. Returns 0 if the list is full. */
static int cross_found(void *user, const int32_t *triangles, const float (*corners)[9], uint32_t count)
{
    const cross_job *job = user;
    for (uint32_t i = 0; i < count && !job->crossings->overflows; i++)
        if (job->inside->masks == NULL || job->inside->masks[triangles[i]] != 0)
            caromi_cross_triangle(job->inside, corners[i], job->crossings);
    return !job->crossings->overflows;
}

/* Adds the crossings of a triangle that closes the mesh. */
static void cross_closing(void *user, const float corners[9])
{
    const cross_job *job = user;
    if (!job->crossings->overflows)
        caromi_cross_triangle(job->inside, corners, job->crossings);
}

/* Finds the crossings of a rectangle of columns, by a traversal of the BVH if its error bounds hold. */
static void cross_all(const caromi_inside *inside, caromi_crossings *crossings)
{
    const carom_mesh *mesh = inside->batch->mesh;
    cross_job job = {inside, crossings};
    if (inside->closing != NULL) {
        const float low[] = {inside->x[crossings->i0], inside->y[crossings->j0], inside->z[0]};
        const float high[] = {inside->x[crossings->i1 - 1], inside->y[crossings->j1 - 1]};
        caromi_closing_above(inside->closing, low, high, cross_closing, &job);
    }
    /* A traversal of the BVH for all columns of the rectangle. */
    if (inside->has_rays) {
        caromi_rays rays = {.mesh = &mesh->view, .columns = inside->rays};
        rays.columns.first[0] = (float)crossings->i0;
        rays.columns.first[1] = (float)crossings->j0;
        rays.columns.end[0] = (float)crossings->i1;
        rays.columns.end[1] = (float)crossings->j1;
        rays.found = cross_found;
        rays.user = &job;
        caromi_searches_of(mesh)->rays(&rays);
        return;
    }
    /* Outside its error bounds: every triangle. */
    for (uint64_t number = 0; number < mesh->info.triangle_count && !crossings->overflows; number++) {
        const int32_t triangle = (int32_t)number;
        float corners[1][9];
        for (int k = 0; k < 3; k++)
            memcpy(corners[0] + 3 * k, caromi_corner(mesh, (uint32_t)number, k), 3 * sizeof(float));
        cross_found(&job, &triangle, corners, 1);
    }
}

int32_t *caromi_cross_column(const caromi_inside *inside, uint32_t thread, uint64_t i, uint64_t j)
{
    int32_t *sum;
    uint32_t *row;
    thread_scratch *scratch = scratch_of(inside, thread, &sum, &row);
    caromi_crossings crossings = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1, .levels = scratch->levels};
    memset(scratch->levels, 0, sizeof scratch->levels);
    cross_all(inside, &crossings);
    return scratch->levels;
}

/* Fills a rectangle of columns. If its crossings exceed the list's capacity, it is halved, down to one column. */
static void fill(const caromi_inside *inside, uint32_t thread, uint64_t column_begin, uint64_t column_end,
                 uint64_t row_begin, uint64_t row_end)
{
    int32_t *sum;
    uint32_t *row;
    if (caromi_watch_look(inside->batch->mesh->context->watch))
        return;
    thread_scratch *scratch = scratch_of(inside, thread, &sum, &row);
    /* A single column needs no list: its crossings are summed by level. */
    const int is_column = column_end - column_begin == 1 && row_end - row_begin == 1;
    caromi_crossings crossings = {.i0 = column_begin,
                                  .i1 = column_end,
                                  .j0 = row_begin,
                                  .j1 = row_end,
                                  .list = scratch->list[0],
                                  .capacity = CROSSINGS,
                                  .overflows = column_end - column_begin > COLUMNS};
    if (is_column) {
        memset(scratch->levels, 0, sizeof scratch->levels);
        crossings.levels = scratch->levels;
    }
    /* Fills the rectangle, or halves it along rows, then along columns. */
    cross_all(inside, &crossings);
    if (is_column) {
        fill_column(inside, &crossings);
    } else if (!crossings.overflows) {
        fill_rows(inside, &crossings, scratch, sum, row);
    } else if (row_end - row_begin > 1) {
        fill(inside, thread, column_begin, column_end, row_begin, row_begin + (row_end - row_begin) / 2);
        fill(inside, thread, column_begin, column_end, row_begin + (row_end - row_begin) / 2, row_end);
    } else {
        fill(inside, thread, column_begin, column_begin + (column_end - column_begin) / 2, row_begin, row_end);
        fill(inside, thread, column_begin + (column_end - column_begin) / 2, column_end, row_begin, row_end);
    }
}

/* ---- a group of slabs -------------------------------------------------------------------------------------------- */

/* A group of slabs, cut into bands of rows. */
typedef struct band_job {
    const caromi_inside *inside;
    uint64_t tasks;
} band_job;

/* Task: fills a band of rows. */
static void fill_band(void *user, uint64_t task, uint32_t thread)
{
    const band_job *job = user;
    const carom_lattice *lattice = &job->inside->batch->lattice;
    const uint64_t first = caromi_slice_start(lattice->dims[1], job->tasks, task);
    fill(job->inside, thread, 0, lattice->dims[0], first, caromi_slice_start(lattice->dims[1], job->tasks, task + 1));
}

/* The columns as rays, in the mesh's unit of length. docs/volumes.md, section 3, derives the error. */
int caromi_lattice_rays(const caromi_lattice_batch *batch, float lowest, lattice_rays *rays)
{
    const carom_lattice *lattice = &batch->lattice;
    const double scale = (double)batch->mesh->view.frame.scale, spacing = lattice->spacing * scale;
    double largest = 2.0;
    *rays = (lattice_rays){.spacing = (float)spacing,
                           .per_length = (float)(1.0 / spacing),
                           .lowest = lowest * batch->mesh->view.frame.scale};
    for (int axis = 0; axis < 2; axis++) {
        const double length = (double)(lattice->first[axis] + lattice->dims[axis]) * spacing;
        rays->origin[axis] = (float)(lattice->origin[axis] * scale + (double)lattice->first[axis] * spacing);
        largest = fmax(largest, fmax(fabs(lattice->origin[axis]) * scale, length));
    }
    rays->error = (float)(largest * 0x1p-19);
    return batch->mesh->info.triangle_count > 0 && rays->spacing >= CAROMI_RAYS_LEAST &&
           rays->error <= CAROMI_RAYS_ERROR * rays->spacing;
}

/* Computes the bits of the group that begins with slab `first`. */
static void fill_group(caromi_inside *inside, uint64_t first)
{
    const caromi_lattice_batch *batch = inside->batch;
    const uint64_t rows = batch->lattice.dims[1], left = batch->count / batch->slab - first;
    caromi_pool *pool = batch->mesh->context->pool;
    const uint32_t threads = caromi_pool_threads(pool);
    const uint64_t wanted = threads == 1 ? 1 : (uint64_t)threads * TASKS_PER_THREAD, least = (rows + ROWS - 1) / ROWS;
    band_job job = {inside, wanted > least ? wanted : least};
    job.tasks = job.tasks < rows ? job.tasks : rows;
    inside->first = first;
    inside->count = left < inside->capacity ? left : inside->capacity;
    for (uint64_t slab = 0; slab < inside->count; slab++)
        inside->z[slab] = carom_lattice_coordinate(&batch->lattice, AXIS_Z, first + slab);
    inside->has_rays = caromi_lattice_rays(batch, inside->z[0], &inside->rays);
    memset(inside->bits, 0, inside->count * rows * inside->words * sizeof *inside->bits);
    caromi_parallel(pool, job.tasks, fill_band, &job);
    if (inside->closing != NULL)
        caromi_robust_group(inside);
}

/* ---- signs ------------------------------------------------------------------------------------------------------- */

/* Negates the distances of inside nodes, up to 32 of them; a zero stays +0. */
static void sign_word(float *distance, uint32_t bits)
{
    for (uint32_t left = bits; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        distance[i] = 0.0f - distance[i];
    }
}

static void sign_whole_word(float *distance)
{
    for (int i = 0; i < WORD_BITS; i++)
        distance[i] = 0.0f - distance[i];
}

/* Negates the distances of a row's inside nodes. */
static void sign_row(const void *user, const uint32_t *bits, uint64_t node)
{
    const caromi_inside *inside = user;
    float *distance = (float *)inside->batch->out[CAROMI_ANSWER_KEY].base + (node - inside->batch->begin);
    for (uint64_t word = 0; word < inside->words; word++)
        if (bits[word] == UINT32_MAX)
            sign_whole_word(distance + word * WORD_BITS);
        else if (bits[word] != 0)
            sign_word(distance + word * WORD_BITS, bits[word]);
}

void caromi_inside_sign(caromi_inside *inside, uint64_t first, uint64_t end)
{
    caromi_inside_rows(inside, first, end, sign_row, inside);
}

/* Slabs whose rows are visited. */
typedef struct row_job {
    const caromi_inside *inside;
    caromi_inside_row *visit;
    const void *user;
    uint64_t first; /* slab */
} row_job;

/* Task: visits the rows of a slab. */
static void visit_slab(void *user, uint64_t task, uint32_t thread)
{
    const row_job *job = user;
    const caromi_lattice_batch *batch = job->inside->batch;
    const uint64_t slab = job->first + task;
    (void)thread;
    for (uint64_t row = 0; row < batch->lattice.dims[1] && !caromi_watch_look(batch->mesh->context->watch); row++)
        job->visit(job->user, row_bits(job->inside, slab - job->inside->first, row),
                   slab * batch->slab + row * batch->lattice.dims[0]);
}

/* Group of slabs by group of slabs. */
void caromi_inside_rows(caromi_inside *inside, uint64_t first, uint64_t end, caromi_inside_row *visit, const void *user)
{
    const caromi_lattice_batch *batch = inside->batch;
    const uint64_t last = end / batch->slab;
    for (uint64_t slab = (first + batch->slab - 1) / batch->slab, next; slab < last; slab = next) {
        if (slab < inside->first || slab >= inside->first + inside->count)
            fill_group(inside, slab);
        const uint64_t group_end = inside->first + inside->count;
        row_job job = {inside, visit, user, slab};
        next = last < group_end ? last : group_end;
        caromi_parallel(batch->mesh->context->pool, next - slab, visit_slab, &job);
    }
}

/* Whether one node is inside, by its own ray alone. */
int caromi_inside_node(const caromi_inside *inside, uint64_t node)
{
    const caromi_lattice_batch *batch = inside->batch;
    const uint64_t row = batch->lattice.dims[0], i = node % row, j = node / row % batch->lattice.dims[1];
    float z = carom_lattice_coordinate(&batch->lattice, AXIS_Z, node / batch->slab);
    int32_t sum = 0;
    /* Another device may change the group of slabs meanwhile, so nothing of that is read. */
    caromi_inside own = {.batch = batch,
                         .sign = inside->sign,
                         .masks = inside->masks,
                         .closing = inside->closing,
                         .x = inside->x,
                         .y = inside->y,
                         .z = &z,
                         .per_length = inside->per_length,
                         .first = node / batch->slab,
                         .count = 1};
    own.has_rays = caromi_lattice_rays(batch, z, &own.rays);
    caromi_crossings crossings = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1, .levels = &sum};
    cross_all(&own, &crossings);
    const float place[] = {inside->x[i], inside->y[j], z};
    return inside->closing != NULL ? caromi_closing_inside(inside->closing, place, sum)
                                   : caromi_is_inside(inside->sign, sum);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The number of slabs whose bits fit into the memory of a group. */
static uint64_t group_capacity(const caromi_inside *inside)
{
    const caromi_lattice_batch *batch = inside->batch;
    const uint64_t slabs = (batch->count - batch->begin) / batch->slab;
    const uint64_t bytes = batch->lattice.dims[1] * inside->words * sizeof *inside->bits +
                           (inside->closing != NULL ? batch->slab * sizeof *inside->offset : 0),
                   fit = GROUP_BYTES / bytes;
    uint64_t capacity = slabs < CAROMI_GROUP_SLABS ? slabs : CAROMI_GROUP_SLABS;
    capacity = fit < capacity ? fit : capacity;
    if (inside->closing != NULL && capacity > ROBUST_NODES / batch->slab)
        capacity = ROBUST_NODES / batch->slab;
    return capacity > 0 ? capacity : 1;
}

/* Allocates the bits of a group, each thread's scratch, and the coordinates of columns. */
static carom_status alloc_inside(caromi_inside *inside, carom_error *err)
{
    const caromi_lattice_batch *batch = inside->batch;
    const carom_context *context = batch->mesh->context;
    const uint64_t width = batch->lattice.dims[0], height = batch->lattice.dims[1];
    inside->words = (width + WORD_BITS - 1) / WORD_BITS;
    inside->capacity = group_capacity(inside);
    inside->each = (sizeof(thread_scratch) + (width + inside->words) * sizeof(uint32_t) + 63) / 64 * 64;
    inside->x = caromi_alloc(context, width, sizeof *inside->x);
    inside->y = caromi_alloc(context, height, sizeof *inside->y);
    inside->z = caromi_alloc(context, inside->capacity, sizeof *inside->z);
    inside->bits = caromi_alloc(context, inside->capacity * height * inside->words, sizeof *inside->bits);
    inside->scratch = caromi_alloc(context, caromi_pool_threads(context->pool), inside->each);
    if (inside->closing != NULL)
        inside->offset = caromi_alloc(context, inside->capacity * batch->slab, sizeof *inside->offset);
    if ((inside->closing != NULL && inside->offset == NULL) || inside->x == NULL || inside->y == NULL ||
        inside->z == NULL || inside->bits == NULL || inside->scratch == NULL)
        return caromi_fail_memory(err, "no memory for the signs of %llu slabs of %llu nodes",
                                  (unsigned long long)inside->capacity, (unsigned long long)batch->slab);
    /* The sums and the row of bits are zero between uses. */
    for (uint32_t thread = 0; thread < caromi_pool_threads(context->pool); thread++) {
        int32_t *sum;
        uint32_t *row;
        (void)scratch_of(inside, thread, &sum, &row);
        memset(sum, 0, (width + inside->words) * sizeof *sum);
    }
    for (uint64_t i = 0; i < width; i++)
        inside->x[i] = carom_lattice_coordinate(&batch->lattice, AXIS_X, i);
    for (uint64_t j = 0; j < height; j++)
        inside->y[j] = carom_lattice_coordinate(&batch->lattice, AXIS_Y, j);
    return CAROM_OK;
}

/* Allocates and prepares the bits. */
carom_status caromi_inside_make(const caromi_lattice_batch *batch, carom_sign sign, const int32_t *masks,
                                const caromi_closing *closing, caromi_inside *inside, carom_error *err)
{
    *inside = (caromi_inside){
        .batch = batch, .sign = sign, .masks = masks, .closing = closing, .per_length = 1.0 / batch->lattice.spacing};
    const carom_status status = alloc_inside(inside, err);
    if (status != CAROM_OK)
        caromi_inside_free(inside);
    return status;
}

void caromi_inside_free(caromi_inside *inside)
{
    const carom_context *context = inside->batch->mesh->context;
    caromi_free(context, inside->x);
    caromi_free(context, inside->y);
    caromi_free(context, inside->z);
    caromi_free(context, inside->bits);
    caromi_free(context, inside->offset);
    caromi_free(context, inside->scratch);
}
