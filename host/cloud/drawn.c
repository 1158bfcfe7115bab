/* SPDX-License-Identifier: MIT */
/* Draws what slices of time are chosen from, out of the caller's columns: the limits of all spheres, and a sample of
 * them. Where the columns lie on a GPU, kernels draw the same (host/opencl/grid_draw.c). */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "cloud.h"

/* The t_max of a sphere. */
static float limit_of(const caromi_cloud *cloud, uint64_t i)
{
    const caromi_in_column *column = &cloud->in[CLOUD_T_MAX];
    float t = INFINITY;
    if (column->base != NULL)
        memcpy(&t, caromi_element(column, column->stride == 0 ? 0 : i), sizeof t);
    return t;
}

/* The index of sample k: a pseudorandom one of its share of the spheres. A fixed step would miss a kind of spheres that
 * comes at a fixed period. */
static uint64_t sampled(const caromi_cloud *cloud, uint64_t number)
{
    const uint64_t samples = cloud->count < CAROMI_CLOUD_DRAWN ? cloud->count : CAROMI_CLOUD_DRAWN;
    const uint64_t first = caromi_slice_start(cloud->count, samples, number);
    return first + (number * UINT64_C(0x9e3779b97f4a7c15) >> 33) %
                       (caromi_slice_start(cloud->count, samples, number + 1) - first);
}

void caromi_cloud_draw(const caromi_cloud *cloud, caromi_cloud_drawn *drawn)
{
    caromi_cloud_block block;
    caromi_cloud_sample sample;
    drawn->spheres = cloud->count;
    drawn->count = 0;
    for (uint64_t number = 0; number < CAROMI_CLOUD_DRAWN && number < cloud->count; number++) {
        const uint64_t sphere = sampled(cloud, number);
        caromi_cloud_read(cloud, sphere, sphere + 1, &block);
        for (int k = 0; k < CLOUD_COLUMNS; k++)
            drawn->column[k][drawn->count] = block.in[k][0];
        drawn->count += block.is_valid[0];
    }
    caromi_cloud_draw_sample(cloud, &sample);
    caromi_cloud_sides(&sample, drawn->side);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* The largest t_max of some spheres; -1 without one. */
static float largest_limit(const caromi_cloud *cloud, uint64_t begin, uint64_t end)
{
    float largest = -1;
    for (uint64_t i = begin; i < end; i++)
        largest = fmaxf(largest, limit_of(cloud, i));
    return largest;
}

caromi_cloud_limits caromi_cloud_limits_of(const caromi_cloud *cloud)
{
    const caromi_in_column *column = &cloud->in[CLOUD_T_MAX];
    const int is_one = column->base == NULL || column->stride == 0;
    float largest = -1, second_largest = -1, largest_finite = 0;
    for (uint64_t i = 0; i < (is_one ? 2 : cloud->count); i++) {
        const float limit = limit_of(cloud, i);
        second_largest = limit > largest ? largest : limit > second_largest ? limit : second_largest;
        largest = limit > largest ? limit : largest;
        largest_finite = limit > largest_finite && limit < INFINITY ? limit : largest_finite;
    }
    if (cloud->is_split) /* a pair has one of each cloud */
        second_largest = fminf(largest_limit(cloud, 0, cloud->split), largest_limit(cloud, cloud->split, cloud->count));
    return (caromi_cloud_limits){second_largest, largest_finite};
}

/* ---- time 0 ------------------------------------------------------------------------------------------------------ */

/* Task: whether a sphere moves by more than the rounding allowance of a scan at time 0 (docs/spheres.md, section 7)
 * before the first time that does not round to 0. Only tiny spheres with enormous velocities do. */
typedef struct start_job {
    const caromi_cloud *cloud;
    _Atomic int is_left;
} start_job;

/* Task: looks for such a sphere among some spheres. */
static void find_left(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    start_job *job = user;
    caromi_cloud_block block;
    int is_left = 0;
    (void)thread;
    for (uint64_t first = begin; first < end && !is_left; first += block.count) {
        caromi_cloud_read(job->cloud, first, end, &block);
        for (uint32_t i = 0; i < block.count; i++) {
            const double speed = fabs((double)block.in[CLOUD_VX][i]) + fabs((double)block.in[CLOUD_VY][i]) +
                                 fabs((double)block.in[CLOUD_VZ][i]);
            is_left |= block.is_valid[i] && speed * 0x1p-150 > (double)block.in[CLOUD_R][i] * 0x1p-30;
        }
    }
    if (is_left)
        atomic_store_explicit(&job->is_left, 1, memory_order_relaxed);
}

int caromi_cloud_leaves_start(const caromi_cloud *cloud)
{
    enum { TASK = 1 << 14 };
    start_job job = {.cloud = cloud};
    caromi_parallel_runs(caromi_cloud_pool(cloud), cloud->count, TASK, find_left, &job);
    return atomic_load(&job.is_left);
}
