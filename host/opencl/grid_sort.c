/* SPDX-License-Identifier: MIT */
/* Reads a cloud's spheres, plans levels, and sorts the spheres into cells. */
#include "grid.h"
#include "host/cloud/watch.h"

enum {
    CHUNK = 1 << 20, /* spheres that are uploaded together */
    BEST_PAIRS = 512 /* pairs of a bucket for each sphere, at most, where one partner is searched */
};

static carom_status launch_read(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const grid_job *job = user;
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_GRID_READ);
    const int is_masked = (job->options & CLOUD_MASKED) != 0;
    caromi_set_columns(&arguments, slot->in, 4);
    caromi_set_columns(&arguments, is_masked ? &slot->in[4] : slot->in, 1); /* any memory: it is not read */
    caromi_set_int(&arguments, is_masked);
    caromi_set_uint(&arguments, (cl_uint)slot->first);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MASKS);
    caromi_set_uint(&arguments, (cl_uint)slot->count);
    return caromi_launch_chunk(device, slot, &arguments,
                               slot->count < device->max_items ? slot->count : device->max_items, err);
}

caromi_stream caromi_grid_stream_of(const grid_job *job, caromi_in_column in[5])
{
    static const int columns[] = {CLOUD_X, CLOUD_Y, CLOUD_Z, CLOUD_R};
    for (int k = 0; k < 4; k++)
        in[k] = job->cloud->in[columns[k]];
    in[4] = job->cloud->mask;
    return (caromi_stream){.count = job->spheres,
                           .chunk = CHUNK,
                           .answers_any_count = 1,
                           .in_count = job->options & CLOUD_MASKED ? 5 : 4,
                           .in = in,
                           .launch = launch_read,
                           .user = job};
}

carom_status caromi_grid_read_spheres(const grid_job *job, carom_error *err)
{
    caromi_in_column in[5];
    const caromi_stream stream = caromi_grid_stream_of(job, in);
    uint64_t done = 0;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_SPHERES, job->spheres, sizeof(cl_float4), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_MASKS, job->options & CLOUD_MASKED ? job->spheres : 1, WORD, err));
    return caromi_stream_run(job->device, &stream, &done, job->stats, err);
}

static uint64_t buckets_most(const grid_job *job)
{
    return 4 * (uint64_t)job->spheres + (uint64_t)GRID_LEVELS * GRID_TABLE_LEAST;
}

static carom_status plan_cells(const grid_job *job, carom_error *err)
{
    caromi_arguments measure = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_MEASURE),
                     plan = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_PLAN);
    const uint64_t groups = ((uint64_t)job->spheres + GRID_GROUP - 1) / GRID_GROUP;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_MEASURE, 1, sizeof(grid_measure), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_PLAN, 1, sizeof(grid_plan), err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_MEASURE, sizeof(grid_measure) / WORD, err));
    caromi_grid_set_memory(job, &measure, job->placed);
    caromi_set_real(&measure, job->cloud->margin);
    caromi_set_uint(&measure, job->spheres);
    caromi_grid_set_memory(job, &measure, CAROMI_GRID_MEASURE);
    CHECK(caromi_grid_launch_groups(job, &measure, groups < GROUPS ? groups : GROUPS, err));
    caromi_grid_set_memory(job, &plan, job->placed);
    caromi_set_real(&plan, job->cloud->margin);
    caromi_grid_set_periods(job, &plan);
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
    const int is_masked = (job->options & CLOUD_MASKED) != 0;
    CHECK(caromi_grid_sum_up(job, CAROMI_GRID_STARTS, CAROMI_GRID_STARTS, CAROMI_PROGRAM_GRID_START, buckets_most(job),
                             err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_SORTED, job->spheres, sizeof(cl_float4), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_INDICES, job->spheres, WORD, err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_SORTED_MASKS, is_masked ? job->spheres : 1, WORD, err));
    caromi_grid_set_memory(job, &arguments, job->placed);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MASKS);
    caromi_set_int(&arguments, is_masked);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_BUCKETS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_RANKS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_STARTS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SORTED);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_INDICES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SORTED_MASKS);
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
