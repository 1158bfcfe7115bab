/* SPDX-License-Identifier: MIT */
/* Draws what slices of time are chosen from, where the spheres are on a GPU already: kernels find the limits of all
 * spheres and gather the sample that the host would draw (host/cloud/drawn.c). The host reads both at once: 16 bytes,
 * and 32 for each of at most CAROMI_CLOUD_DRAWN spheres. */
#include <string.h>

#include "grid.h"

enum { ROW = CLOUD_COLUMNS }; /* numbers of a drawn sphere */
_Static_assert(sizeof(grid_limits) == sizeof(cl_float4), "the sample is aligned");

/* What the host reads. */
typedef struct drawn_block {
    grid_limits limits;
    float row[CAROMI_CLOUD_DRAWN][ROW];
} drawn_block;

static float number_of(cl_uint bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static carom_status find_limits(const grid_job *job, carom_error *err)
{
    const uint64_t groups = ((uint64_t)job->spheres + GRID_GROUP - 1) / GRID_GROUP;
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_LIMITS);
    CHECK(caromi_grid_clear(job, CAROMI_GRID_DRAWN, sizeof(grid_limits) / WORD, err));
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MOTIONS);
    caromi_set_uint(&arguments, job->split);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_DRAWN);
    caromi_set_uint(&arguments, job->spheres);
    return caromi_grid_launch_groups(job, &arguments, groups < GROUPS ? groups : GROUPS, err);
}

static carom_status draw(const grid_job *job, cl_uint samples, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_DRAW);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MOTIONS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_DRAWN);
    caromi_set_uint(&arguments, job->spheres);
    return caromi_grid_launch_each(job, &arguments, samples, err);
}

/* The drawn rows as columns, without invalid spheres. */
static void set_columns(const drawn_block *block, cl_uint samples, caromi_cloud_drawn *drawn)
{
    drawn->count = 0;
    for (cl_uint i = 0; i < samples; i++) {
        for (int k = 0; k < ROW; k++)
            drawn->column[k][drawn->count] = block->row[i][k];
        drawn->count += block->row[i][CLOUD_R] >= 0;
    }
}

/* The sides by the drawn spheres; the host's own sample for these is another one. */
static void find_sides(caromi_cloud_drawn *drawn)
{
    float coordinates[CAROMI_CLOUD_DRAWN];
    for (int axis = 0; axis < 3; axis++) {
        memcpy(coordinates, drawn->column[CLOUD_X + axis], drawn->count * sizeof *coordinates);
        drawn->side[axis] = caromi_cloud_side_of(coordinates, drawn->count);
    }
}

carom_status caromi_grid_draw(const grid_job *job, caromi_cloud_drawn *drawn, carom_error *err)
{
    const cl_uint samples = job->spheres < CAROMI_CLOUD_DRAWN ? job->spheres : CAROMI_CLOUD_DRAWN;
    drawn_block block;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_DRAWN, 1 + 2 * (uint64_t)samples, sizeof(cl_float4), err));
    CHECK(find_limits(job, err));
    CHECK(draw(job, samples, err));
    CHECK(caromi_grid_read_back(job, CAROMI_GRID_DRAWN, 0, &block, sizeof block.limits + samples * sizeof *block.row,
                                err));
    const float largest = number_of(block.limits.largest), other = number_of(block.limits.other);
    drawn->limits.end = !job->cloud->is_split ? number_of(block.limits.second) : largest < other ? largest : other;
    drawn->limits.last = number_of(block.limits.finite);
    drawn->spheres = job->spheres;
    set_columns(&block, samples, drawn);
    find_sides(drawn);
    return CAROM_OK;
}
