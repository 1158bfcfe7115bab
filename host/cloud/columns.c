/* SPDX-License-Identifier: MIT */
#include "columns.h"

#include <math.h>

#include "cpu/exact/exact.h"
#include "host/core/progress.h"
#include "kernels/cloud_columns.h"

enum {
    BLOCK = 64,
    RUN = 64 * BLOCK
}; /* numbers of records: of one kernel call, a multiple of every lane count; of one task */

int caromi_columns_are_wanted(const carom_cloud_pair_list *list)
{
    return caromi_columns_have_numbers(list) || list->previous != NULL;
}

/* ---- the records ------------------------------------------------------------------------------------------------- */

/* Allocates an array that is needed and that the caller has not given; `*own` is then to be freed. Returns 0 if there
 * is no memory. */
static int lend(const caromi_cloud *cloud, uint64_t count, size_t size, int is_needed, void *array, void **own)
{
    void *missing = NULL;
    if (!is_needed || memcmp(array, &missing, sizeof missing) != 0)
        return 1;
    *own = caromi_alloc(cloud->context, count + 1, size);
    memcpy(array, own, sizeof *own);
    return *own != NULL;
}

carom_status caromi_columns_create(const caromi_cloud *cloud, const carom_cloud_pair_list *list, uint64_t count,
                                   caromi_pair_columns *out, carom_error *err)
{
    const int is_wanted = caromi_columns_are_wanted(list);
    const uint32_t less_b = cloud->is_split && !caromi_columns_have_numbers(list) ? (uint32_t)cloud->split : 0;
    *out =
        (caromi_pair_columns){.records = {list->offsets, list->a, list->b, list->state, list->t, list->shift, less_b}};
    caromi_record_columns *r = &out->records;
    if (!(lend(cloud, count, sizeof *r->a, is_wanted, &r->a, &out->own[0]) &&
          lend(cloud, count, sizeof *r->b, is_wanted, &r->b, &out->own[1]) &&
          lend(cloud, count, 1, caromi_columns_have_numbers(list), &r->state, &out->own[2]) &&
          lend(cloud, count, 3, is_wanted && caromi_cloud_is_periodic(cloud), &r->shift, &out->own[3])))
        return caromi_fail_memory(err, "no memory for columns of %llu pairs of spheres", (unsigned long long)count);
    return CAROM_OK;
}

void caromi_columns_free(const caromi_cloud *cloud, caromi_pair_columns *columns)
{
    for (size_t i = 0; i < sizeof columns->own / sizeof columns->own[0]; i++)
        caromi_free(cloud->context, columns->own[i]);
}

/* ---- depth and normal -------------------------------------------------------------------------------------------- */

typedef struct columns_job {
    const caromi_cloud *cloud;
    const carom_cloud_pair_list *list;
    const caromi_record_columns *records;
} columns_job;

typedef struct columns_block {
    float in[IN_CLOUD][BLOCK], out[OUT_PAIR_COLUMNS][BLOCK];
    uint32_t count;
    const int32_t *a, *b;
    const uint8_t *state;
    const int8_t *shift; /* NULL: the cloud is not periodic */
} columns_block;

/* The columns of the spheres b of all pairs, and by how much their numbers there are less. */
static const caromi_cloud *cloud_of_b(const caromi_cloud *cloud, uint64_t *less)
{
    *less = cloud->second != NULL ? cloud->split : 0;
    return cloud->second != NULL ? cloud->second : cloud;
}

/* Gathers the values of `columns` consecutive input columns, as x, y and z mostly lie side by side in the caller's
 * memory. A missing column leaves the zeros. */
static void gather(columns_block *w, int to, const caromi_in_column *from, int columns, const int32_t *index,
                   uint64_t less)
{
    for (uint32_t i = 0; i < w->count && from->base != NULL; i++)
        for (int k = 0; k < columns; k++)
            memcpy(&w->in[to + k][i], (const char *)from[k].base + ((size_t)index[i] - less) * from[k].stride,
                   sizeof(float));
}

/* Prefetches the inputs of later records' spheres, which are scattered in memory. */
static void prefetch(const caromi_cloud *cloud, const int32_t *index, uint64_t count)
{
    static const int first[] = {CLOUD_X, CLOUD_R, CLOUD_VX};
    uint64_t less;
    const caromi_cloud *of_b = cloud_of_b(cloud, &less);
    for (size_t k = 0; k < sizeof first / sizeof first[0]; k++) {
        const caromi_in_column *column = &of_b->in[first[k]];
        for (uint64_t i = 0; i < count && column->base != NULL; i++)
            __builtin_prefetch((const char *)column->base + ((size_t)index[i] - less) * column->stride);
    }
}

static void gather_block(const caromi_cloud *cloud, columns_block *w)
{
    uint64_t less;
    const caromi_cloud *of_b = cloud_of_b(cloud, &less);
    gather(w, IN_AX, &cloud->in[CLOUD_X], 3, w->a, 0);
    gather(w, IN_AR, &cloud->in[CLOUD_R], 1, w->a, 0);
    gather(w, IN_AVX, &cloud->in[CLOUD_VX], 3, w->a, 0);
    gather(w, IN_BX, &of_b->in[CLOUD_X], 3, w->b, less);
    gather(w, IN_BR, &of_b->in[CLOUD_R], 1, w->b, less);
    gather(w, IN_BVX, &of_b->in[CLOUD_VX], 3, w->b, less);
    for (uint32_t i = 0; i < w->count; i++)
        w->in[IN_AHEAD][i] = w->state[i] == CAROM_APPROACHING ? 1.0f : 0.0f;
    for (uint32_t i = 0; w->shift != NULL && i < w->count; i++)
        for (int k = 0; k < 3; k++)
            w->in[IN_SHIFT_X + k][i] = (float)w->shift[3 * i + (uint32_t)k] * cloud->period[k];
    for (int c = 0; c < IN_CLOUD; c++) /* pads the lanes behind the last record with copies of it */
        for (uint32_t i = w->count; i < BLOCK; i++)
            w->in[c][i] = w->in[c][w->count - 1];
}

/* Decides in integer arithmetic a record that the kernel left undecided. */
static void resolve(columns_block *w, uint32_t i)
{
    float in[IN_CLOUD], normal[3];
    const int is_apart = w->state[i] == CAROM_APPROACHING || w->state[i] == CAROM_TOUCHING;
    for (int c = 0; c < IN_CLOUD; c++)
        in[c] = w->in[c][i];
    in[IN_LIMIT] = 0;
    if (is_apart)
        w->out[OUT_PAIR_DEPTH][i] = 0;
    else if (isnan(w->out[OUT_PAIR_DEPTH][i]))
        w->out[OUT_PAIR_DEPTH][i] = caromi_exact_cloud_depth(in);
    if (!isnan(w->out[OUT_PAIR_NORMAL][i]))
        return;
    caromi_exact_cloud_normal(in, normal);
    for (int k = 0; k < 3; k++)
        w->out[OUT_PAIR_NORMAL + k][i] = normal[k];
}

static void fill_block(const columns_job *job, columns_block *w, uint64_t first)
{
    const float *in[IN_CLOUD];
    void *out[OUT_PAIR_COLUMNS];
    caromi_out_column normal[3];
    for (int c = 0; c < IN_CLOUD; c++)
        in[c] = w->in[c];
    for (int c = 0; c < OUT_PAIR_COLUMNS; c++)
        out[c] = w->out[c];
    gather_block(job->cloud, w);
    job->cloud->context->isa->cloud_columns(in, out, BLOCK);
    for (uint32_t i = 0; i < w->count; i++)
        resolve(w, i);
    if (job->list->depth != NULL)
        memcpy(job->list->depth + first, w->out[OUT_PAIR_DEPTH], w->count * sizeof(float));
    caromi_points_out_to_columns(&job->list->normal, normal);
    for (int k = 0; k < 3 && job->list->normal.x != NULL; k++)
        caromi_scatter(&normal[k], first, w->out[OUT_PAIR_NORMAL + k], w->count, sizeof(float));
}

static void fill_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const columns_job *job = user;
    const caromi_record_columns *r = job->records;
    columns_block w = {.count = 0}; /* velocities of spheres at rest and shifts without periods stay 0 */
    (void)thread;
    prefetch(job->cloud, r->b + begin, end - begin < BLOCK ? end - begin : BLOCK);
    for (uint64_t i = begin; i < end && !caromi_watch_look(job->cloud->context->watch); i += w.count) {
        w.count = (uint32_t)(end - i < BLOCK ? end - i : BLOCK);
        w.a = r->a + i;
        w.b = r->b + i;
        w.state = r->state + i;
        w.shift = caromi_cloud_is_periodic(job->cloud) ? r->shift + 3 * i : NULL;
        const uint64_t next = i + w.count;
        prefetch(job->cloud, r->b + next, end - next < BLOCK ? end - next : BLOCK);
        fill_block(job, &w, i);
    }
}

/* ---- depths for a device ----------------------------------------------------------------------------------------- */

typedef struct decide_job {
    const caromi_pair_spheres *pairs;
    float *depth;
} decide_job;

static void set_spheres(float in[IN_CLOUD], const caromi_pair_spheres *pair)
{
    static const int to_a[] = {IN_AX, IN_AY, IN_AZ, IN_AR}, to_b[] = {IN_BX, IN_BY, IN_BZ, IN_BR};
    for (int k = 0; k < 4; k++) {
        in[to_a[k]] = pair->a[k];
        in[to_b[k]] = pair->b[k];
    }
    for (int k = 0; k < 3; k++)
        in[IN_SHIFT_X + k] = pair->shift[k];
}

static void decide_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const decide_job *job = user;
    (void)thread;
    for (uint64_t i = begin; i < end; i++) {
        float in[IN_CLOUD] = {0};
        set_spheres(in, &job->pairs[i]);
        job->depth[i] = caromi_exact_cloud_depth(in);
    }
}

void caromi_columns_decide(const carom_context *context, const caromi_pair_spheres *pairs, uint64_t count, float *depth)
{
    decide_job job = {pairs, depth};
    caromi_parallel_runs(context->pool, count, RUN, decide_run, &job);
}

typedef struct decide_moving_job {
    const caromi_pair_motions *pairs;
    caromi_pair_numbers *numbers;
} decide_moving_job;

static void decide_moving_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const decide_moving_job *job = user;
    (void)thread;
    for (uint64_t i = begin; i < end; i++) {
        const caromi_pair_motions *pair = &job->pairs[i];
        float in[IN_CLOUD] = {0};
        set_spheres(in, &pair->at);
        for (int k = 0; k < 3; k++) {
            in[IN_AVX + k] = pair->a[k];
            in[IN_BVX + k] = pair->b[k];
        }
        job->numbers[i] = (caromi_pair_numbers){0};
        if (pair->at.shift[3] > 0)
            caromi_exact_cloud_normal(in, job->numbers[i].normal);
        else
            job->numbers[i].depth = caromi_exact_cloud_depth(in);
    }
}

void caromi_columns_decide_moving(const carom_context *context, const caromi_pair_motions *pairs, uint64_t count,
                                  caromi_pair_numbers *numbers)
{
    decide_moving_job job = {pairs, numbers};
    caromi_parallel_runs(context->pool, count, RUN, decide_moving_run, &job);
}

/* ---- all columns ------------------------------------------------------------------------------------------------- */

/* Task: partners of a second cloud get the indices that they have there. */
static void number_second(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const columns_job *job = user;
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        job->records->b[i] -= (int32_t)job->cloud->split;
}

carom_status caromi_columns_fill(const caromi_cloud *cloud, const carom_cloud_pair_list *list,
                                 const caromi_record_columns *records, uint64_t count, carom_error *err)
{
    columns_job job = {cloud, list, records};
    if (caromi_columns_have_numbers(list))
        caromi_parallel_runs(cloud->context->pool, count, RUN, fill_run, &job);
    CHECK(caromi_went_on(cloud->context));
    if (cloud->is_split && records->less_b == 0 && records->b != NULL)
        caromi_parallel_runs(cloud->context->pool, count, RUN, number_second, &job);
    if (list->previous == NULL)
        return CAROM_OK;
    return caromi_previous_find(cloud, list->before, records, count, list->previous, err);
}
