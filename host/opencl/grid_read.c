/* SPDX-License-Identifier: MIT */
/* Reads a cloud's spheres: streams the caller's columns, or gathers them where they lie on the device. */
#include <math.h>

#include "grid.h"

enum { CHUNK = 1 << 20 /* spheres that are uploaded together */ };

/* The columns of a cloud, in the order of the kernel's arguments. The spheres of a second cloud follow the first's. */
typedef struct grid_source {
    const grid_job *job;
    uint64_t before, spheres; /* spheres of the cloud before, and of this one */
    int options;              /* of the columns behind the numbers: masks, groups */
    uint32_t numbers, count;
    caromi_in_column in[CLOUD_COLUMNS + 2];
} grid_source;

/* A column that a cloud in motion may lack: it rests, or has no limit. */
static caromi_in_column missing_of(uint32_t column)
{
    static const float at_rest = 0, unlimited = INFINITY;
    return (caromi_in_column){.base = column == CLOUD_T_MAX ? &unlimited : &at_rest, .stride = 0};
}

/* Spheres at rest have the first of the columns alone: positions and radii. */
static grid_source source_of(const grid_job *job, const caromi_cloud *cloud)
{
    grid_source source = {.job = job,
                          .before = cloud == job->cloud ? 0 : job->cloud->count,
                          .spheres = cloud->count,
                          .numbers = job->cloud->is_moving ? CLOUD_COLUMNS : CLOUD_R + 1};
    for (; source.count < source.numbers; source.count++)
        source.in[source.count] =
            cloud->in[source.count].base != NULL ? cloud->in[source.count] : missing_of(source.count);
    if (cloud->mask.base != NULL) {
        source.options |= CLOUD_MASKED;
        source.in[source.count++] = cloud->mask;
    }
    if (cloud->group.base != NULL) {
        source.options |= CLOUD_GROUPED;
        source.in[source.count++] = cloud->group;
    }
    return source;
}

static carom_status launch_read(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const grid_source *source = user;
    const grid_job *job = source->job;
    const int is_masked = (source->options & CLOUD_MASKED) != 0, is_grouped = (source->options & CLOUD_GROUPED) != 0;
    const int is_moving = source->numbers == CLOUD_COLUMNS;
    caromi_arguments arguments =
        caromi_arguments_of(device, is_moving ? CAROMI_PROGRAM_MOVING_READ : CAROMI_PROGRAM_GRID_READ);
    /* A missing column gets any memory: it is not read. */
    caromi_set_columns(&arguments, slot->in, source->numbers);
    caromi_set_columns(&arguments, &slot->in[is_masked ? source->numbers : 0], 1);
    caromi_set_columns(&arguments, &slot->in[is_grouped ? source->count - 1 : 0], 1);
    caromi_set_int(&arguments, source->options);
    caromi_set_int(&arguments, (job->options & CLOUD_MASKED) != 0);
    caromi_set_uint(&arguments, (cl_uint)(source->before + slot->first));
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    if (is_moving)
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MOTIONS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_FILTERS);
    caromi_set_uint(&arguments, (cl_uint)slot->count);
    return caromi_launch_chunk(device, slot, &arguments,
                               slot->count < device->max_items ? slot->count : device->max_items, err);
}

static caromi_stream stream_of(const grid_source *source)
{
    return (caromi_stream){.count = source->spheres,
                           .chunk = CHUNK,
                           .answers_any_count = 1,
                           .in_count = source->count,
                           .in = source->in,
                           .launch = launch_read,
                           .user = source};
}

carom_status caromi_grid_prepare_reading(const grid_job *job, carom_error *err)
{
    for (const caromi_cloud *cloud = job->cloud; cloud != NULL && cloud->count > 0; cloud = cloud->second) {
        const grid_source source = source_of(job, cloud);
        const caromi_stream stream = stream_of(&source);
        CHECK(caromi_prepare_residents(job->device, &stream, err));
    }
    return CAROM_OK;
}

static carom_status read_cloud(const grid_job *job, const caromi_cloud *cloud, carom_error *err)
{
    const grid_source source = source_of(job, cloud);
    const caromi_stream stream = stream_of(&source);
    uint64_t done = 0;
    return cloud->count > 0 ? caromi_stream_run(job->device, &stream, &done, job->stats, err) : CAROM_OK;
}

carom_status caromi_grid_read_spheres(const grid_job *job, carom_error *err)
{
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_SPHERES, job->spheres, sizeof(cl_float4), err));
    if (job->cloud->is_moving)
        CHECK(caromi_grid_reserve(job, CAROMI_GRID_MOTIONS, job->spheres, sizeof(cl_float4), err));
    CHECK(caromi_grid_reserve_filters(job, CAROMI_GRID_FILTERS, err));
    CHECK(read_cloud(job, job->cloud, err));
    return job->cloud->second != NULL ? read_cloud(job, job->cloud->second, err) : CAROM_OK;
}
