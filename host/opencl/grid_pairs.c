/* SPDX-License-Identifier: MIT */
/* Counts and stores the pairs of a cloud, and solves those that the test leaves undecided. */
#include <math.h>
#include <stddef.h>

#include "grid.h"

enum {
    SEARCH_ITEMS = 1 << 18, /* searches of a launch, each of GRID_TESTS tests at most, which bounds its time */
    ROUNDS_LEAST = 64,      /* a search tests each sphere once, from 26 images at most: it ends long before that */
    ROUNDS_EACH = GRID_TESTS / 64,
    UNDECIDED_FIRST = 1 << 14 /* undecided pairs that there is room for at first, or one for each four spheres */
};

/* The arguments of the rows, in the order of all kernels that add pairs to them. */
static void set_rows(const grid_job *job, caromi_arguments *arguments)
{
    caromi_set_int(arguments, job->options);
    caromi_set_uint(arguments, job->row_begin);
    caromi_set_uint(arguments, job->row_end);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_COUNTS);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_OFFSETS);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_KEYS);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_OF);
    caromi_set_ulong(arguments, job->totals.stored);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_TOTALS);
}

carom_status caromi_grid_check(grid_job *job, carom_error *err)
{
    const size_t bytes = job->cloud->is_moving ? offsetof(grid_totals, long_rows) : offsetof(grid_totals, meeting);
    CHECK(caromi_grid_read_back(job, CAROMI_GRID_TOTALS, 0, &job->totals, bytes, err));
    return job->totals.faults == 0 && job->totals.unfinished <= job->spheres
               ? CAROM_OK
               : caromi_fail_corrupt(job->device, "places of spheres or pairs", 0, job->spheres, err);
}

/* A round of `searches` searches, in launches that each end in bounded time. */
static carom_status search_round(const grid_job *job, uint32_t program, cl_uint round, cl_uint searches,
                                 carom_error *err)
{
    static const uint32_t lists[2] = {CAROMI_GRID_BUCKETS, CAROMI_GRID_RANKS};
    const uint64_t max_items = job->device->max_items;
    const cl_uint most = max_items < SEARCH_ITEMS ? (cl_uint)max_items : SEARCH_ITEMS;
    CHECK(caromi_grid_clear(job, CAROMI_GRID_TOTALS, 1, err)); /* totals.unfinished */
    for (cl_uint first = 0; first < searches; first += most) {
        caromi_arguments arguments = caromi_arguments_of(job->device, program);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_PLAN);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SORTED);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_INDICES);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SORTED_FILTERS);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_STARTS);
        caromi_set_real(&arguments, job->cloud->margin);
        set_rows(job, &arguments);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_UNDECIDED);
        caromi_set_uint(&arguments, job->capacity);
        caromi_set_uint(&arguments, job->spheres);
        caromi_grid_set_memory(job, &arguments, lists[round % 2]);
        caromi_grid_set_memory(job, &arguments, lists[(round + 1) % 2]);
        caromi_set_uint(&arguments, round);
        caromi_set_uint(&arguments, first);
        CHECK(caromi_grid_launch(job, &arguments, searches - first < most ? searches - first : most, err));
    }
    return CAROM_OK;
}

/* All passes of spheres, or of images, have the same rounds, so after a pass of a single one the host does not wait. */
static carom_status search(grid_job *job, uint32_t program, cl_uint *rounds, carom_error *err)
{
    cl_uint searches = job->spheres;
    for (cl_uint round = 0; searches > 0; round++) {
        if (round > ROUNDS_LEAST + job->spheres / ROUNDS_EACH)
            return caromi_fail_corrupt(job->device, "searches without an end", 0, job->spheres, err);
        CHECK(search_round(job, program, round, searches, err));
        if (*rounds == 1)
            return CAROM_OK;
        CHECK(caromi_grid_check(job, err));
        searches = job->totals.unfinished;
        if (searches == 0)
            *rounds = round + 1;
    }
    return CAROM_OK;
}

carom_status caromi_grid_search(grid_job *job, uint32_t program, carom_error *err)
{
    const uint32_t of_images = program == CAROMI_PROGRAM_GRID_COUNT  ? CAROMI_PROGRAM_GRID_COUNT_IMAGES
                               : program == CAROMI_PROGRAM_GRID_BEST ? CAROMI_PROGRAM_GRID_BEST_IMAGES
                                                                     : CAROMI_PROGRAM_GRID_STORE_IMAGES;
    CHECK(search(job, program, &job->rounds, err));
    return job->options & GRID_IMAGED ? search(job, of_images, &job->imaged_rounds, err) : CAROM_OK;
}

/* One pass over all spheres: their pairs are counted, or their best partners kept. */
static carom_status count_once(grid_job *job, carom_error *err)
{
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_UNDECIDED, job->capacity, sizeof(cl_uint2), err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_COUNTS, job->spheres, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_TOTALS, 2, err)); /* unfinished and undecided */
    job->rounds = job->imaged_rounds = 0;
    return caromi_grid_search(
        job, caromi_grid_finds_best(job->result) ? CAROMI_PROGRAM_GRID_BEST : CAROMI_PROGRAM_GRID_COUNT, err);
}

carom_status caromi_grid_reserve_rows(const grid_job *job, carom_error *err)
{
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_COUNTS, job->spheres, WORD, err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_OFFSETS, job->spheres, sizeof(cl_ulong), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_KEYS, 1, sizeof(cl_ulong), err));
    return caromi_grid_reserve(job, CAROMI_GRID_OF, 1, WORD, err);
}

/* Once more if there was no room for all undecided pairs. Lattices have up to some ten for each sphere. Clouds with
 * many more are left to the host, which has them solved batch by batch. */
carom_status caromi_grid_count_pairs(grid_job *job, carom_error *err)
{
    const cl_uint capacity = job->spheres / 4 > UNDECIDED_FIRST ? job->spheres / 4 : UNDECIDED_FIRST;
    job->capacity = job->capacity > capacity ? job->capacity : capacity; /* of the slice before */
    CHECK(caromi_grid_reserve_rows(job, err));
    CHECK(count_once(job, err));
    job->is_declined = job->totals.undecided > GRID_UNDECIDED_OF(job->spheres);
    if (job->totals.undecided <= job->capacity || job->is_declined)
        return CAROM_OK;
    job->capacity = job->totals.undecided;
    CHECK(count_once(job, err));
    return job->totals.undecided <= job->capacity
               ? CAROM_OK
               : caromi_fail_corrupt(job->device, "undecided pairs", 0, job->spheres, err);
}

/* Exact mode: the CPU answers the undecided pairs. */
static carom_status solve_on_host(const grid_job *job, carom_error *err)
{
    static const float at_rest = 0, no_limit = INFINITY;
    static const int members[] = {IN_AX, IN_AY, IN_AZ,      IN_AR,      IN_BX,     IN_BY,
                                  IN_BZ, IN_BR, IN_SHIFT_X, IN_SHIFT_Y, IN_SHIFT_Z};
    const cl_uint each = job->options & GRID_IMAGED ? 3 : 2; /* two spheres, and the shift if there is one */
    const carom_context *c = job->device->context;
    const uint64_t count = job->totals.undecided;
    caromi_arguments gather = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_GATHER);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_GATHERED, each * count, sizeof(cl_float4), err));
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_SORTED);
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_UNDECIDED);
    caromi_grid_set_periods(job, &gather);
    caromi_set_uint(&gather, each);
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_GATHERED);
    caromi_set_uint(&gather, job->spheres);
    CHECK(caromi_grid_launch_each(job, &gather, count, err));
    cl_float4 *spheres = caromi_alloc(c, count, each * sizeof *spheres + sizeof(float) + 2);
    if (spheres == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %llu undecided pairs",
                           (unsigned long long)count);
    float *t = (float *)(void *)(spheres + each * count);
    uint8_t *state = (uint8_t *)(t + count), *parts = state + count;
    caromi_pair_batch batch = {.kernel = CAROMI_PAIR_cloud_exact, .count = count};
    for (int k = 0; k < IN_CLOUD; k++)
        batch.in[k] = (caromi_in_column){.base = &at_rest, .stride = 0};
    for (int k = 0; k < (each > 2 ? 11 : 8); k++)
        batch.in[members[k]] =
            (caromi_in_column){.base = (float *)(void *)spheres + k, .stride = each * sizeof *spheres};
    batch.in[IN_LIMIT].base = &no_limit;
    batch.in[IN_MARGIN].base = &job->cloud->margin;
    batch.out[OUT_CLOUD_T] = (caromi_out_column){t, sizeof *t};
    batch.out[OUT_CLOUD_STATE] = (caromi_out_column){state, 1};
    batch.out[OUT_CLOUD_PARTS] = (caromi_out_column){parts, 1};
    carom_status status =
        caromi_grid_read_back(job, CAROMI_GRID_GATHERED, 0, spheres, (size_t)count * each * sizeof *spheres, err);
    const double start = caromi_now();
    if (status == CAROM_OK)
        status = caromi_pairs_on_cpu(c, &batch, 0, count, job->stats, err);
    job->stats->host += caromi_now() - start;
    if (status == CAROM_OK)
        status = caromi_write_at(job->device, job->slot->queue, *caromi_grid_memory_of(job, CAROMI_GRID_T), 0, t,
                                 (size_t)count * sizeof *t, "decided pairs", err);
    if (status == CAROM_OK)
        status = caromi_write_at(job->device, job->slot->queue, *caromi_grid_memory_of(job, CAROMI_GRID_STATES), 0,
                                 state, (size_t)count, "decided pairs", err);
    caromi_free(c, spheres);
    return status;
}

carom_status caromi_grid_add_undecided(const grid_job *job, uint32_t program, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, program);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_INDICES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_UNDECIDED);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_T);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_STATES);
    set_rows(job, &arguments);
    caromi_set_uint(&arguments, job->spheres);
    return caromi_grid_launch_each(job, &arguments, job->totals.undecided, err);
}

carom_status caromi_grid_solve_undecided(const grid_job *job, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_SOLVE);
    if (job->totals.undecided == 0)
        return CAROM_OK;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_T, job->totals.undecided, sizeof(float), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_STATES, job->totals.undecided, 1, err));
    if (job->cloud->exact)
        CHECK(solve_on_host(job, err));
    else {
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SORTED);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_UNDECIDED);
        caromi_set_real(&arguments, job->cloud->margin);
        caromi_grid_set_periods(job, &arguments);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_T);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_STATES);
        caromi_set_uint(&arguments, job->spheres);
        CHECK(caromi_grid_launch_each(job, &arguments, job->totals.undecided, err));
    }
    const uint32_t program =
        caromi_grid_finds_best(job->result) ? CAROMI_PROGRAM_GRID_BEST_UNDECIDED : CAROMI_PROGRAM_GRID_COUNT_UNDECIDED;
    return caromi_grid_add_undecided(job, program, err);
}
