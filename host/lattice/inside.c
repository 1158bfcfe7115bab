/* SPDX-License-Identifier: MIT */
#include "inside.h"

#include <math.h>
#include <string.h>

enum {
    WORD = 32,
    GROUP_BYTES = 1 << 26,                       /* most memory for the bits of a group, unless one slab needs more */
    CROSSINGS = 1 << 17,                         /* crossings that a thread sorts at a time */
    DIGIT = 11,                                  /* bits of a radix-sort digit */
    ROWS = 1 << (2 * DIGIT - CAROMI_GROUP_BITS), /* most rows of a rectangle, so that keys have two digits */
    COLUMNS = 1 << 30,                           /* most columns of a rectangle */
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

static int is_inside(carom_sign sign, int32_t sum)
{
    return sign == CAROM_SIGN_PARITY ? sum & 1 : sum != 0;
}

static void sort_by_digit(const caromi_crossing *from, caromi_crossing *to, uint32_t count, int shift, uint32_t *place)
{
    const uint32_t mask = (1u << DIGIT) - 1;
    uint32_t sum = 0;
    memset(place, 0, sizeof *place << DIGIT);
    for (uint32_t i = 0; i < count; i++)
        place[from[i].key >> shift & mask]++;
    for (uint32_t d = 0; d <= mask; d++) {
        const uint32_t own = place[d];
        place[d] = sum;
        sum += own;
    }
    for (uint32_t i = 0; i < count; i++)
        to[place[from[i].key >> shift & mask]++] = from[i];
}

/* Sets the bits of one row's nodes, from its crossings by ascending level. From the highest slab down, each crossing
 * changes its column's winding sum and so the bits of all nodes below. */
static void fill_row(const caromi_inside *inside, const caromi_crossings *c, const caromi_crossing *list,
                     uint32_t count, uint64_t row, int32_t *sum, uint32_t *bits)
{
    for (uint64_t level = inside->count, left = count; level-- > 0;) {
        for (; left > 0 && (list[left - 1].key & (CAROMI_GROUP_SLABS - 1)) == level; left--) {
            const uint64_t column = c->i0 + (list[left - 1].column >> 1);
            const uint32_t bit = 1u << column % WORD;
            sum[column] += list[left - 1].column & 1 ? -1 : 1;
            bits[column / WORD] &= ~bit;
            bits[column / WORD] |= is_inside(inside->sign, sum[column]) ? bit : 0;
        }
        uint32_t *to = row_bits(inside, level, row);
        for (uint64_t w = c->i0 / WORD; left < count && w <= (c->i1 - 1) / WORD; w++)
            to[w] |= bits[w];
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t column = c->i0 + (list[i].column >> 1);
        sum[column] = 0;
        bits[column / WORD] = 0;
    }
}

static void fill_rows(const caromi_inside *inside, const caromi_crossings *c, thread_scratch *own, int32_t *sum,
                      uint32_t *bits)
{
    sort_by_digit(own->list[0], own->list[1], c->count, 0, own->place);
    sort_by_digit(own->list[1], own->list[0], c->count, DIGIT, own->place);
    for (uint32_t first = 0, end; first < c->count; first = end) {
        const uint32_t row = own->list[0][first].key >> CAROMI_GROUP_BITS;
        for (end = first; end < c->count && own->list[0][end].key >> CAROMI_GROUP_BITS == row; end++) {
        }
        fill_row(inside, c, own->list[0] + first, end - first, c->j0 + row, sum, bits);
    }
}

/* Sets the bits of one column's nodes, from winding sums by level. */
static void fill_column(const caromi_inside *inside, const caromi_crossings *c)
{
    int32_t sum = 0;
    for (uint64_t level = inside->count; level-- > 0;) {
        sum += c->levels[level];
        if (is_inside(inside->sign, sum))
            row_bits(inside, level, c->j0)[c->i0 / WORD] |= 1u << c->i0 % WORD;
    }
}

/* ---- rectangles of columns --------------------------------------------------------------------------------------- */

typedef struct cross_job {
    const caromi_inside *inside;
    caromi_crossings *crossings;
} cross_job;

static int cross_found(void *user, const int32_t *triangles, const float (*corners)[9], uint32_t count)
{
    const cross_job *job = user;
    for (uint32_t i = 0; i < count && !job->crossings->overflows; i++)
        if (job->inside->masks == NULL || job->inside->masks[triangles[i]] != 0)
            caromi_cross_triangle(job->inside, corners[i], job->crossings);
    return !job->crossings->overflows;
}

static void cross_all(const caromi_inside *inside, caromi_crossings *c)
{
    const carom_mesh *mesh = inside->batch->mesh;
    cross_job job = {inside, c};
    if (inside->has_rays) {
        caromi_rays rays = inside->rays;
        rays.first[0] = (float)c->i0;
        rays.first[1] = (float)c->j0;
        rays.end[0] = (float)c->i1;
        rays.end[1] = (float)c->j1;
        rays.found = cross_found;
        rays.user = &job;
        mesh->context->isa->rays(&rays);
        return;
    }
    for (uint64_t t = 0; t < mesh->info.triangle_count && !c->overflows; t++) {
        const int32_t triangle = (int32_t)t;
        float corners[1][9];
        for (int k = 0; k < 3; k++)
            memcpy(corners[0] + 3 * k, caromi_corner(mesh, (uint32_t)t, k), 3 * sizeof(float));
        cross_found(&job, &triangle, corners, 1);
    }
}

/* Fills a rectangle of columns. If its crossings exceed the list's capacity, it is halved, down to one column. */
static void fill(const caromi_inside *inside, uint32_t thread, uint64_t i0, uint64_t i1, uint64_t j0, uint64_t j1)
{
    int32_t *sum;
    uint32_t *row;
    thread_scratch *own = scratch_of(inside, thread, &sum, &row);
    const int one = i1 - i0 == 1 && j1 - j0 == 1;
    caromi_crossings c = {.i0 = i0,
                          .i1 = i1,
                          .j0 = j0,
                          .j1 = j1,
                          .list = own->list[0],
                          .capacity = CROSSINGS,
                          .overflows = i1 - i0 > COLUMNS};
    if (one) {
        memset(own->levels, 0, sizeof own->levels);
        c.levels = own->levels;
    }
    cross_all(inside, &c);
    if (one) {
        fill_column(inside, &c);
    } else if (!c.overflows) {
        fill_rows(inside, &c, own, sum, row);
    } else if (j1 - j0 > 1) {
        fill(inside, thread, i0, i1, j0, j0 + (j1 - j0) / 2);
        fill(inside, thread, i0, i1, j0 + (j1 - j0) / 2, j1);
    } else {
        fill(inside, thread, i0, i0 + (i1 - i0) / 2, j0, j1);
        fill(inside, thread, i0 + (i1 - i0) / 2, i1, j0, j1);
    }
}

/* ---- a group of slabs -------------------------------------------------------------------------------------------- */

typedef struct band_job {
    const caromi_inside *inside;
    uint64_t tasks;
} band_job;

static void fill_band(void *user, uint64_t task, uint32_t thread)
{
    const band_job *job = user;
    const carom_lattice *lattice = &job->inside->batch->lattice;
    const uint64_t first = caromi_slice_start(lattice->dims[1], job->tasks, task);
    fill(job->inside, thread, 0, lattice->dims[0], first, caromi_slice_start(lattice->dims[1], job->tasks, task + 1));
}

/* Sets the columns as rays, in the mesh's unit of length. docs/volumes.md, section 3, derives the error. */
static void set_rays(caromi_inside *inside)
{
    const carom_mesh *mesh = inside->batch->mesh;
    const carom_lattice *lattice = &inside->batch->lattice;
    const double scale = (double)mesh->view.frame.scale, spacing = lattice->spacing * scale;
    caromi_rays *rays = &inside->rays;
    double most = 2.0;
    *rays = (caromi_rays){.mesh = &mesh->view,
                          .spacing = (float)spacing,
                          .per_length = (float)(1.0 / spacing),
                          .lowest = inside->z[0] * mesh->view.frame.scale};
    for (int k = 0; k < 2; k++) {
        const double length = (double)(lattice->first[k] + lattice->dims[k]) * spacing;
        rays->origin[k] = (float)(lattice->origin[k] * scale + (double)lattice->first[k] * spacing);
        most = fmax(most, fmax(fabs(lattice->origin[k]) * scale, length));
    }
    rays->error = (float)(most * 0x1p-19);
    inside->has_rays = mesh->info.triangle_count > 0 && rays->spacing >= CAROMI_RAYS_LEAST &&
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
    for (uint64_t k = 0; k < inside->count; k++)
        inside->z[k] = carom_lattice_coordinate(&batch->lattice, 2, first + k);
    set_rays(inside);
    memset(inside->bits, 0, inside->count * rows * inside->words * sizeof *inside->bits);
    caromi_parallel(pool, job.tasks, fill_band, &job);
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
    for (int i = 0; i < WORD; i++)
        distance[i] = 0.0f - distance[i];
}

typedef struct sign_job {
    const caromi_inside *inside;
    uint64_t first; /* slab */
} sign_job;

static void sign_slab(void *user, uint64_t task, uint32_t thread)
{
    const sign_job *job = user;
    const caromi_lattice_batch *batch = job->inside->batch;
    const uint64_t width = batch->lattice.dims[0], height = batch->lattice.dims[1], words = job->inside->words;
    const uint64_t slab = job->first + task;
    float *distance = (float *)batch->out[CAROMI_ANSWER_KEY].base + (slab * batch->slab - batch->begin);
    (void)thread;
    for (uint64_t j = 0; j < height; j++, distance += width) {
        const uint32_t *bits = row_bits(job->inside, slab - job->inside->first, j);
        for (uint64_t w = 0; w < words; w++)
            if (bits[w] == UINT32_MAX)
                sign_whole_word(distance + w * WORD);
            else if (bits[w] != 0)
                sign_word(distance + w * WORD, bits[w]);
    }
}

void caromi_inside_sign(caromi_inside *inside, uint64_t first, uint64_t end)
{
    const caromi_lattice_batch *batch = inside->batch;
    const uint64_t last = end / batch->slab;
    for (uint64_t slab = (first + batch->slab - 1) / batch->slab, next; slab < last; slab = next) {
        if (slab < inside->first || slab >= inside->first + inside->count)
            fill_group(inside, slab);
        const uint64_t group_end = inside->first + inside->count;
        sign_job job = {inside, slab};
        next = last < group_end ? last : group_end;
        caromi_parallel(batch->mesh->context->pool, next - slab, sign_slab, &job);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t group_capacity(const caromi_inside *inside)
{
    const caromi_lattice_batch *batch = inside->batch;
    const uint64_t slabs = (batch->count - batch->begin) / batch->slab;
    const uint64_t bytes = batch->lattice.dims[1] * inside->words * sizeof *inside->bits, fit = GROUP_BYTES / bytes;
    uint64_t capacity = slabs < CAROMI_GROUP_SLABS ? slabs : CAROMI_GROUP_SLABS;
    capacity = fit < capacity ? fit : capacity;
    return capacity > 0 ? capacity : 1;
}

static carom_status alloc_inside(caromi_inside *inside, carom_error *err)
{
    const caromi_lattice_batch *batch = inside->batch;
    const carom_context *c = batch->mesh->context;
    const uint64_t width = batch->lattice.dims[0], height = batch->lattice.dims[1];
    inside->words = (width + WORD - 1) / WORD;
    inside->capacity = group_capacity(inside);
    inside->each = (sizeof(thread_scratch) + (width + inside->words) * sizeof(uint32_t) + 63) / 64 * 64;
    inside->x = caromi_alloc(c, width, sizeof *inside->x);
    inside->y = caromi_alloc(c, height, sizeof *inside->y);
    inside->z = caromi_alloc(c, inside->capacity, sizeof *inside->z);
    inside->bits = caromi_alloc(c, inside->capacity * height * inside->words, sizeof *inside->bits);
    inside->scratch = caromi_alloc(c, caromi_pool_threads(c->pool), inside->each);
    if (inside->x == NULL || inside->y == NULL || inside->z == NULL || inside->bits == NULL || inside->scratch == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the signs of %llu slabs of %llu nodes",
                           (unsigned long long)inside->capacity, (unsigned long long)batch->slab);
    for (uint32_t t = 0; t < caromi_pool_threads(c->pool); t++) {
        int32_t *sum;
        uint32_t *row;
        (void)scratch_of(inside, t, &sum, &row);
        memset(sum, 0, (width + inside->words) * sizeof *sum);
    }
    for (uint64_t i = 0; i < width; i++)
        inside->x[i] = carom_lattice_coordinate(&batch->lattice, 0, i);
    for (uint64_t j = 0; j < height; j++)
        inside->y[j] = carom_lattice_coordinate(&batch->lattice, 1, j);
    return CAROM_OK;
}

carom_status caromi_inside_make(const caromi_lattice_batch *batch, carom_sign sign, const int32_t *masks,
                                caromi_inside *inside, carom_error *err)
{
    *inside = (caromi_inside){.batch = batch, .sign = sign, .masks = masks, .per_length = 1.0 / batch->lattice.spacing};
    const carom_status status = alloc_inside(inside, err);
    if (status != CAROM_OK)
        caromi_inside_free(inside);
    return status;
}

void caromi_inside_free(caromi_inside *inside)
{
    const carom_context *c = inside->batch->mesh->context;
    caromi_free(c, inside->x);
    caromi_free(c, inside->y);
    caromi_free(c, inside->z);
    caromi_free(c, inside->bits);
    caromi_free(c, inside->scratch);
}
