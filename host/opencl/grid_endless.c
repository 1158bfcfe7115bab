/* SPDX-License-Identifier: MIT */
/* The slice of a time window without an end, on a GPU. In it a sphere that moves gets anywhere, so there are no cells:
 * all pairs of spheres without a limit are looked at. kernels/cloud_moving.cl, docs/spheres.md, section 11. */
#include "grid.h"

enum {
    ITEMS = 1 << 18,         /* of a launch, each with GRID_TESTS tests at most, which bounds its time */
    MEETING_FIRST = 1 << 14, /* pairs that may meet that there is room for at first, or one for each four spheres */
};

/* How many images of another sphere each may meet, the sphere itself included. */
static cl_uint images_of(const grid_job *job)
{
    cl_uint images = 1;
    for (int k = 0; k < 3; k++)
        images *= job->cloud->period[k] > 0 ? 3 : 1;
    return images;
}

/* Lists the spheres without a limit. Sets totals.unfinished to their number, and on the device totals.meeting to 0. */
static carom_status list_spheres(grid_job *job, float begin, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_LIST_ENDLESS);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_INDICES, job->spheres, WORD, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_TOTALS, 1, err)); /* totals.unfinished */
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MOTIONS);
    caromi_set_real(&arguments, begin);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_INDICES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_TOTALS);
    CHECK(caromi_grid_launch_each(job, &arguments, job->spheres, err));
    return caromi_grid_check(job, err);
}

/* Looks at all pairs of the listed spheres. A work-item has one sphere and a tile of the others behind it. */
static carom_status look_at_pairs(grid_job *job, float begin, cl_uint capacity, carom_error *err)
{
    const cl_uint count = job->totals.unfinished, each = GRID_TESTS / images_of(job), tiles = (count - 1) / each + 1;
    const uint64_t items = job->device->max_items < ITEMS ? job->device->max_items : ITEMS;
    const cl_uint most = items > tiles ? (cl_uint)(items / tiles) : 1; /* of a launch */
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_MEETING, capacity, sizeof(cl_uint2), err));
    for (cl_uint first = 0; first < count; first += most) {
        caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_MEET_ALL);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MOTIONS);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_FILTERS);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_INDICES);
        caromi_set_int(&arguments, job->options);
        caromi_set_uint(&arguments, job->split);
        caromi_grid_set_periods(job, &arguments);
        caromi_set_real(&arguments, begin);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MEETING);
        caromi_set_uint(&arguments, capacity);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_TOTALS);
        caromi_set_uint(&arguments, job->spheres);
        caromi_set_uint(&arguments, count);
        caromi_set_uint(&arguments, each);
        caromi_set_uint(&arguments, tiles);
        caromi_set_uint(&arguments, first);
        CHECK(
            caromi_grid_launch(job, &arguments, (uint64_t)tiles * (count - first < most ? count - first : most), err));
    }
    return caromi_grid_check(job, err);
}

/* Once more if there was no room for all pairs that may meet. Too many pairs are left to the host. */
carom_status caromi_grid_meet_endless(grid_job *job, float begin, carom_error *err)
{
    cl_uint capacity = job->spheres / 4 > MEETING_FIRST ? job->spheres / 4 : MEETING_FIRST;
    CHECK(list_spheres(job, begin, err));
    const uint64_t count = job->totals.unfinished;
    job->is_declined = count > 1 && count * (count - 1) / 2 * images_of(job) >> CAROMI_PAIRS_BITS != 0;
    if (count < 2 || job->is_declined)
        return CAROM_OK;
    CHECK(look_at_pairs(job, begin, capacity, err));
    job->is_declined = job->totals.meeting > GRID_UNDECIDED_OF(job->spheres);
    if (job->totals.meeting <= capacity || job->is_declined)
        return CAROM_OK;
    capacity = job->totals.meeting;
    CHECK(list_spheres(job, begin, err));
    if (job->totals.unfinished == count)
        CHECK(look_at_pairs(job, begin, capacity, err));
    return job->totals.unfinished == count && job->totals.meeting <= capacity
               ? CAROM_OK
               : caromi_fail_corrupt(job->device, "pairs that meet", 0, job->spheres, err);
}
