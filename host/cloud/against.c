/* SPDX-License-Identifier: MIT */
/* A cloud against another one is searched as one cloud. The second's spheres stand behind the first's, so that the
 * first's are the lower indices, spheres a of each pair. Levels of cells come in twos, one for each cloud, and the scan
 * compares spheres of different clouds alone. */
#include "against.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "host/core/checks.h"

carom_status caromi_against_check(const carom_cloud_desc *desc, carom_error *err)
{
    const carom_cloud_against *b = desc->against;
    if (b == NULL)
        return CAROM_OK;
    CHECK(caromi_check_desc(b->size, sizeof *b, "carom_cloud_against", err));
    if (b->count > INT32_MAX || desc->batch.count + b->count > INT32_MAX)
        return caromi_fail_argument(
            err, "batch.count is %llu and against.count is %llu; two clouds have at most 2^31 - 1 spheres together",
            (unsigned long long)desc->batch.count, (unsigned long long)b->count);
    if (desc->full)
        return caromi_fail_argument(err, "full is %d; it must be 0 for a cloud against another", desc->full);
    if (b->count == 0)
        return CAROM_OK;
    CHECK(caromi_check_points(&b->center, "against.center", err));
    CHECK(caromi_check_optional_points(&b->velocity, "against.velocity", err));
    CHECK(caromi_check_scalars(&b->radius, "against.radius", err));
    CHECK(caromi_check_optional_uints(&b->mask, "against.mask", err));
    CHECK(caromi_check_optional_uints(&b->group, "against.group", err));
    return caromi_check_optional_scalars(&b->t_max, "against.t_max", err);
}

void caromi_against_list(caromi_arrays *arrays, const carom_cloud_desc *desc)
{
    const carom_cloud_against *b = desc->against;
    if (b == NULL)
        return;
    caromi_reads_one(arrays, "against", b, sizeof *b);
    caromi_reads_points(arrays, "against.center", &b->center, b->count);
    caromi_reads_points(arrays, "against.velocity", &b->velocity, b->count);
    caromi_reads_scalars(arrays, "against.radius", &b->radius, b->count);
    caromi_reads_uints(arrays, "against.mask", &b->mask, b->count);
    caromi_reads_uints(arrays, "against.group", &b->group, b->count);
    caromi_reads_scalars(arrays, "against.t_max", &b->t_max, b->count);
}

/* ---- both clouds as one ------------------------------------------------------------------------------------------ */

enum { MASK = CLOUD_COLUMNS, GROUP, COLUMNS, RUN = 1 << 14 };

/* The columns of both clouds, and those that they become. */
typedef struct join_job {
    caromi_in_column from[2][COLUMNS]; /* base NULL: missing */
    uint32_t *to[COLUMNS];             /* NULL: missing in both */
    uint64_t split;
} join_job;

static void describe(const carom_cloud_against *b, caromi_in_column of[COLUMNS])
{
    const caromi_index none = {NULL, 0};
    caromi_points_to_columns(&b->center, none, &of[CLOUD_X]);
    caromi_scalars_to_column(&b->radius, none, &of[CLOUD_R]);
    if (b->velocity.x != NULL)
        caromi_points_to_columns(&b->velocity, none, &of[CLOUD_VX]);
    if (b->t_max.data != NULL)
        caromi_scalars_to_column(&b->t_max, none, &of[CLOUD_T_MAX]);
    if (b->mask.data != NULL)
        caromi_uints_to_column(&b->mask, none, &of[MASK]);
    if (b->group.data != NULL)
        caromi_uints_to_column(&b->group, none, &of[GROUP]);
}

caromi_cloud caromi_against_cloud(const carom_cloud_against *against)
{
    caromi_in_column of[COLUMNS] = {{.base = NULL}};
    caromi_cloud cloud = {.count = against->count};
    if (against->count > 0)
        describe(against, of);
    memcpy(cloud.in, of, sizeof cloud.in);
    cloud.mask = of[MASK];
    cloud.group = of[GROUP];
    return cloud;
}

/* Copies elements [begin, end) of one cloud. What a missing column stands for: rest, no limit, all bits, the mask. */
static void copy(const join_job *job, int cloud, uint64_t begin, uint64_t end)
{
    static const float at_rest = 0, unlimited = INFINITY;
    static const uint32_t all_bits = UINT32_MAX;
    for (int column = 0; column < COLUMNS; column++) {
        caromi_in_column from = job->from[cloud][column];
        uint32_t *to = job->to[column] != NULL ? job->to[column] + (cloud ? job->split : 0) : NULL;
        if (from.base == NULL && column == GROUP)
            from = job->from[cloud][MASK];
        if (from.base == NULL)
            from = (caromi_in_column){.base = column >= MASK          ? (const void *)&all_bits
                                              : column == CLOUD_T_MAX ? &unlimited
                                                                      : &at_rest};
        if (to != NULL)
            caromi_gather((float *)(void *)(to + begin), &from, begin, end - begin);
    }
}

/* Task: copies some spheres of both. */
static void join_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const join_job *job = user;
    const uint64_t split = job->split;
    (void)thread;
    if (begin < split)
        copy(job, 0, begin, end < split ? end : split);
    if (end > split)
        copy(job, 1, begin > split ? begin - split : 0, end - split);
}

carom_status caromi_against_join(const carom_cloud_against *against, caromi_cloud *cloud, void **memory,
                                 carom_error *err)
{
    join_job job = {.split = cloud->count};
    const uint64_t count = cloud->count + against->count;
    uint64_t columns = 0;
    memcpy(job.from[0], cloud->in, sizeof cloud->in);
    job.from[0][MASK] = cloud->mask;
    job.from[0][GROUP] = cloud->group;
    if (against->count > 0)
        describe(against, job.from[1]);
    int has[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        has[c] = job.from[0][c].base != NULL || job.from[1][c].base != NULL;
    has[MASK] |= has[GROUP];
    for (int c = 0; c < COLUMNS; c++)
        columns += (uint64_t)has[c];
    uint32_t *next = *memory = caromi_cached_alloc(cloud->context, columns * count + 1, sizeof *next);
    if (next == NULL)
        return caromi_fail_memory(err, "no memory for two clouds of %llu spheres together", (unsigned long long)count);
    for (int c = 0; c < COLUMNS; c++) {
        job.to[c] = has[c] ? next : NULL;
        next += has[c] ? count : 0;
        const caromi_in_column column = {.base = job.to[c], .stride = has[c] ? sizeof *next : 0};
        *(c == MASK ? &cloud->mask : c == GROUP ? &cloud->group : &cloud->in[c]) = column;
    }
    cloud->count = count;
    cloud->second = NULL;
    caromi_parallel_runs(caromi_cloud_pool(cloud), count, RUN, join_run, &job);
    return CAROM_OK;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

carom_status caromi_against_check_limits(carom_context *context, const carom_cloud_against *against, carom_error *err)
{
    caromi_in_column column = {.base = NULL};
    if (against->t_max.data != NULL)
        caromi_scalars_to_column(&against->t_max, (caromi_index){NULL, 0}, &column);
    return caromi_cloud_check_limits(context, &column, against->count, "against: sphere", err);
}
