/* SPDX-License-Identifier: MIT */
/* Plans the levels of a cloud, and sorts its spheres into cells. */
#include "grid.h"
#include "host/cloud/watch.h"

enum { BEST_PAIRS = 512 /* pairs of a bucket for each sphere, at most, where one partner is searched */ };

static uint64_t buckets_most(const grid_job *job)
{
    return 4 * (uint64_t)job->spheres + (uint64_t)GRID_LEVELS * GRID_TABLE_LEAST;
}

carom_status caromi_grid_measure(const grid_job *job, uint32_t program, carom_error *err)
{
    caromi_arguments measure = caromi_arguments_of(job->device, program);
    const uint64_t groups = ((uint64_t)job->spheres + GRID_GROUP - 1) / GRID_GROUP;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_MEASURE, 1, sizeof(grid_measure), err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_MEASURE, sizeof(grid_measure) / WORD, err));
    caromi_grid_set_memory(job, &measure, job->placed);
    caromi_set_real(&measure, job->cloud->margin);
    caromi_set_uint(&measure, job->split);
    caromi_set_uint(&measure, job->spheres);
    caromi_grid_set_memory(job, &measure, CAROMI_GRID_MEASURE);
    return caromi_grid_launch_groups(job, &measure, groups < GROUPS ? groups : GROUPS, err);
}

static carom_status plan_cells(const grid_job *job, carom_error *err)
{
    caromi_arguments plan = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_PLAN);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_PLAN, 1, sizeof(grid_plan), err));
    CHECK(caromi_grid_measure(job, CAROMI_PROGRAM_GRID_MEASURE, err));
    caromi_grid_set_memory(job, &plan, job->placed);
    caromi_set_real(&plan, job->cloud->margin);
    caromi_grid_set_periods(job, &plan);
    caromi_set_uint(&plan, job->split);
    caromi_set_uint(&plan, job->spheres);
    caromi_grid_set_memory(job, &plan, CAROMI_GRID_MEASURE);
    caromi_grid_set_memory(job, &plan, CAROMI_GRID_PLAN);
    return caromi_grid_launch_groups(job, &plan, 1, err);
}

static carom_status place_spheres(const grid_job *job, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_ASSIGN);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_BUCKETS, job->spheres, WORD, err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_RANKS, job->spheres, WORD, err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_STARTS, buckets_most(job), WORD, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_STARTS, buckets_most(job), err));
    caromi_grid_set_memory(job, &arguments, job->placed);
    caromi_set_real(&arguments, job->cloud->margin);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_PLAN);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_BUCKETS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_RANKS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_STARTS);
    return caromi_grid_launch_each(job, &arguments, job->spheres, err);
}

/* A sphere's rank in its bucket is the number of pairs that it has there with spheres before it. Too many of these
 * would take the device very long. */
static carom_status decline_crowds(grid_job *job, carom_error *err)
{
    uint64_t pairs = 0;
    CHECK(caromi_grid_total(job, CAROMI_GRID_RANKS, job->spheres, &pairs, err));
    job->is_declined = pairs > (caromi_grid_finds_best(job->result) ? (uint64_t)job->spheres * BEST_PAIRS
                                                                    : (uint64_t)1 << CAROMI_PAIRS_BITS);
    return CAROM_OK;
}

static carom_status scatter_spheres(const grid_job *job, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_SCATTER);
    CHECK(caromi_grid_sum_up(job, CAROMI_GRID_STARTS, CAROMI_GRID_STARTS, CAROMI_PROGRAM_GRID_START, buckets_most(job),
                             err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_SORTED, job->spheres, sizeof(cl_float4), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_INDICES, job->spheres, WORD, err));
    CHECK(caromi_grid_reserve_filters(job, CAROMI_GRID_SORTED_FILTERS, err));
    caromi_grid_set_memory(job, &arguments, job->placed);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_FILTERS);
    caromi_set_int(&arguments, (job->options & CLOUD_MASKED) != 0);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_BUCKETS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_RANKS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_STARTS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SORTED);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_INDICES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SORTED_FILTERS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_TOTALS);
    return caromi_grid_launch_each(job, &arguments, job->spheres, err);
}

carom_status caromi_grid_sort_spheres(grid_job *job, carom_error *err)
{
    CHECK(plan_cells(job, err));
    CHECK(place_spheres(job, err));
    CHECK(decline_crowds(job, err));
    return job->is_declined ? CAROM_OK : scatter_spheres(job, err);
}
