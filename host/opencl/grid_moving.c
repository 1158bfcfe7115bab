/* SPDX-License-Identifier: MIT */
/* Clouds in motion on a GPU. The time window is cut into slices as on the CPU, by a sample that the GPU
 * draws (grid_draw.c). In each, the balls around the spheres'
 * ways are sorted and searched as a cloud at rest; pairs that may meet are solved, and hits go to one list of all
 * slices. From that list rows and partners are made (grid.c). kernels/cloud_moving.cl, docs/spheres.md, section 11. */
#include <math.h>

#include "grid.h"

enum {
    HITS_FIRST = 1 << 16,  /* hits that there is room for at first, or one for each sphere */
    ON_HOST_MOST = 1 << 18 /* pairs that the host answers at a time: 22 MB */
};

/* A slice of time. Its ends are binary32, so that a time is in one slice. */
typedef struct grid_slice {
    float begin, end;
    int is_last;
    float origin[3], velocity[3];
} grid_slice;

static grid_slice slice_of(const caromi_cloud_slices *slices, uint32_t number)
{
    const caromi_cloud_slice of = caromi_cloud_slice_of(slices, number);
    grid_slice slice = {(float)of.begin, (float)of.end, number + 1 == slices->count, {0}, {0}};
    for (int k = 0; k < 3; k++) {
        slice.origin[k] = (float)of.origin[k];
        slice.velocity[k] = (float)of.velocity[k];
    }
    return slice;
}

/* Enqueues the balls of the spheres in a slice; no pair may meet in it yet. */
static carom_status bound_paths(const grid_job *job, const grid_slice *slice, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_BOUND);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_BALLS, job->spheres, sizeof(cl_float4), err));
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MOTIONS);
    for (int k = 0; k < 3; k++)
        caromi_set_real(&arguments, slice->origin[k]);
    for (int k = 0; k < 3; k++)
        caromi_set_real(&arguments, slice->velocity[k]);
    caromi_set_real(&arguments, slice->begin);
    caromi_set_real(&arguments, slice->end);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_BALLS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_TOTALS);
    return caromi_grid_launch_each(job, &arguments, job->spheres, err);
}

/* Lists the pairs that may meet in the slice, among the pairs whose balls touch. */
static carom_status list_meeting(grid_job *job, const grid_slice *slice, carom_error *err)
{
    const cl_uint pairs = job->totals.undecided;
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_MEET);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_MEETING, pairs, sizeof(cl_uint2), err));
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MOTIONS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_INDICES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_UNDECIDED);
    caromi_grid_set_periods(job, &arguments);
    caromi_set_real(&arguments, slice->begin);
    caromi_set_real(&arguments, slice->end);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MEETING);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_TOTALS);
    caromi_set_uint(&arguments, job->spheres);
    CHECK(caromi_grid_launch_each(job, &arguments, pairs, err));
    CHECK(caromi_grid_check(job, err));
    return job->totals.meeting <= pairs ? CAROM_OK
                                        : caromi_fail_corrupt(job->device, "pairs that meet", 0, job->spheres, err);
}

/* Numbers of a pair that the host reads, in the order of carom_grid_gather_moving. The last one is B's image. */
enum { EACH = 16 };
static const int member_of[EACH - 1] = {IN_AX, IN_AY, IN_AZ, IN_AR, IN_AVX, IN_AVY, IN_AVZ, IN_LIMIT,
                                        IN_BX, IN_BY, IN_BZ, IN_BR, IN_BVX, IN_BVY, IN_BVZ};

/* Reads the inputs of pairs [first, first + count). */
static carom_status gather_pairs(const grid_job *job, cl_uint first, cl_uint count, float *inputs, carom_error *err)
{
    caromi_arguments gather = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_GATHER);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_GATHERED, count, EACH * sizeof(float), err));
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_MOTIONS);
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_MEETING);
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_GATHERED);
    caromi_set_uint(&gather, job->spheres);
    caromi_set_uint(&gather, first);
    CHECK(caromi_grid_launch_each(job, &gather, count, err));
    return caromi_grid_read_back(job, CAROMI_GRID_GATHERED, 0, inputs, (size_t)count * EACH * sizeof *inputs, err);
}

/* The shifts of pairs that the host has read. */
static void find_shifts(const grid_job *job, const float *inputs, cl_uint count, float *shift)
{
    for (cl_uint i = 0; i < count; i++) {
        const float number = inputs[(size_t)EACH * i + EACH - 1];
        const int image = number >= 0 && number < CAROMI_IMAGES ? (int)number : CAROMI_IMAGE_OWN;
        for (int k = 0; k < 3; k++)
            shift[3 * (size_t)i + (size_t)k] = (float)caromi_image_step(image, k) * job->cloud->period[k];
    }
}

/* Writes what the CPU has answered of pairs from `first` on. */
static carom_status write_answers(const grid_job *job, uint32_t memory, cl_uint first, const void *data, cl_uint count,
                                  size_t size, carom_error *err)
{
    return caromi_write_at(job->device, job->slot->queue, *caromi_grid_memory_of(job, memory), first * size, data,
                           count * size, "decided pairs", err);
}

/* Answers pairs [first, first + count). `inputs`: memory for `most` pairs, and for their shifts and answers behind. */
static carom_status solve_some(const grid_job *job, cl_uint first, cl_uint count, cl_uint most, float *inputs,
                               carom_error *err)
{
    static const float none = 0;
    float *shift = inputs + (size_t)EACH * most, *t = shift + 3 * (size_t)most;
    uint8_t *state = (uint8_t *)(t + most), *parts = state + most;
    caromi_pair_batch batch = {.kernel = CAROMI_PAIR_cloud_exact, .count = count};
    for (int k = 0; k < IN_CLOUD; k++)
        batch.in[k] = (caromi_in_column){.base = &none, .stride = 0};
    for (int k = 0; k < EACH - 1; k++)
        batch.in[member_of[k]] = (caromi_in_column){.base = inputs + k, .stride = EACH * sizeof *inputs};
    for (int k = 0; k < 3; k++)
        batch.in[IN_SHIFT_X + k] = (caromi_in_column){.base = shift + k, .stride = 3 * sizeof *shift};
    batch.out[OUT_CLOUD_T] = (caromi_out_column){t, sizeof *t};
    batch.out[OUT_CLOUD_STATE] = (caromi_out_column){state, 1};
    batch.out[OUT_CLOUD_PARTS] = (caromi_out_column){parts, 1};
    CHECK(gather_pairs(job, first, count, inputs, err));
    const double start = caromi_now();
    find_shifts(job, inputs, count, shift);
    const carom_status status = caromi_pairs_on_cpu(job->device->context, &batch, 0, count, job->stats, err);
    job->stats->host += caromi_now() - start;
    CHECK(status);
    CHECK(write_answers(job, CAROMI_GRID_T, first, t, count, sizeof *t, err));
    CHECK(write_answers(job, CAROMI_GRID_STATES, first, state, count, 1, err));
    return write_answers(job, CAROMI_GRID_PARTS, first, parts, count, 1, err);
}

/* Exact mode: the CPU answers the pairs, some at a time so that memory is bounded. */
static carom_status solve_on_host(const grid_job *job, cl_uint count, carom_error *err)
{
    const carom_context *context = job->device->context;
    const cl_uint most = count < ON_HOST_MOST ? count : ON_HOST_MOST;
    float *inputs = caromi_alloc(context, most, (EACH + 3 + 1) * sizeof *inputs + 2);
    if (inputs == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %u pairs that may meet", most);
    carom_status status = CAROM_OK;
    for (cl_uint first = 0; first < count && status == CAROM_OK; first += most)
        status = solve_some(job, first, count - first < most ? count - first : most, most, inputs, err);
    caromi_free(context, inputs);
    return status;
}

/* Times, states and whether spheres part, of the pairs that may meet: by the device, or in exact mode by the CPU. */
static carom_status solve_meeting(const grid_job *job, carom_error *err)
{
    const cl_uint pairs = job->totals.meeting;
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_SOLVE);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_T, pairs, sizeof(float), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_STATES, pairs, 1, err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_PARTS, pairs, 1, err));
    if (job->cloud->exact)
        return solve_on_host(job, pairs, err);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MOTIONS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MEETING);
    caromi_grid_set_periods(job, &arguments);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_T);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_STATES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_PARTS);
    caromi_set_uint(&arguments, job->spheres);
    return caromi_grid_launch_each(job, &arguments, pairs, err);
}

/* ---- the list of hits -------------------------------------------------------------------------------------------- */

/* The list's memories, and the bytes of their elements. */
static const struct {
    uint32_t memory;
    size_t size;
} hit_memories[] = {
    {CAROMI_GRID_HITS, sizeof(cl_uint2)}, {CAROMI_GRID_HIT_T, sizeof(float)}, {CAROMI_GRID_HIT_STATES, 1}};
enum { HIT_MEMORIES = sizeof hit_memories / sizeof hit_memories[0] };

static void swap_memories(const grid_job *job, uint32_t one, uint32_t other)
{
    caromi_cl_column *const grid = job->device->grid;
    const caromi_cl_column was = grid[one];
    grid[one] = grid[other];
    grid[other] = was;
}

/* Makes room for `more` hits behind those that the list holds. */
static carom_status extend_hits(grid_job *job, uint64_t more, carom_error *err)
{
    const uint64_t hits = job->totals.hits, needed = hits + more;
    const uint64_t first = job->spheres > HITS_FIRST ? job->spheres : HITS_FIRST;
    const uint64_t capacity = needed < first ? first : needed + needed / 2;
    if (needed <= job->hits_most)
        return CAROM_OK;
    for (int k = 0; k < HIT_MEMORIES; k++) {
        const uint32_t memory = hit_memories[k].memory;
        const size_t size = hit_memories[k].size;
        CHECK(caromi_grid_reserve(job, hits > 0 ? CAROMI_GRID_SPARE : memory, capacity, size, err));
        if (hits == 0)
            continue;
        CHECK(caromi_copy_range(job->device, job->slot->queue, *caromi_grid_memory_of(job, memory), 0,
                                *caromi_grid_memory_of(job, CAROMI_GRID_SPARE), 0, (size_t)hits * size, err));
        CHECK(caromi_slot_finish(job->device, job->slot, job->stats, err));
        swap_memories(job, memory, CAROMI_GRID_SPARE);
    }
    job->hits_most = (cl_uint)(capacity < UINT32_MAX ? capacity : UINT32_MAX);
    return CAROM_OK;
}

static carom_status append_hits(grid_job *job, const grid_slice *slice, carom_error *err)
{
    const carom_start start = job->cloud->start;
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_HITS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_MEETING);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_T);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_STATES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_PARTS);
    caromi_set_real(&arguments, slice->begin);
    caromi_set_real(&arguments, slice->end);
    caromi_set_int(&arguments, slice->is_last);
    caromi_set_int(&arguments, start == CAROM_START_SKIP);
    caromi_set_int(&arguments, start == CAROM_START_SKIP_PARTING);
    for (int k = 0; k < HIT_MEMORIES; k++)
        caromi_grid_set_memory(job, &arguments, hit_memories[k].memory);
    caromi_set_uint(&arguments, job->hits_most);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_TOTALS);
    CHECK(caromi_grid_launch_each(job, &arguments, job->totals.meeting, err));
    CHECK(caromi_grid_check(job, err));
    return job->totals.hits <= job->hits_most ? CAROM_OK
                                              : caromi_fail_corrupt(job->device, "hits", 0, job->spheres, err);
}

/* The pairs that may meet in a slice with an end, by cells. */
static carom_status meet_in_slice(grid_job *job, const grid_slice *slice, carom_error *err)
{
    CHECK(bound_paths(job, slice, err));
    job->totals.meeting = 0;
    CHECK(caromi_grid_sort_spheres(job, err));
    if (job->is_declined)
        return CAROM_OK;
    CHECK(caromi_grid_count_pairs(job, err));
    return job->is_declined || job->totals.undecided == 0 ? CAROM_OK : list_meeting(job, slice, err);
}

/* The hits of one slice. */
static carom_status find_in_slice(grid_job *job, const grid_slice *slice, carom_error *err)
{
    CHECK(isinf(slice->end) ? caromi_grid_meet_endless(job, slice->begin, err) : meet_in_slice(job, slice, err));
    if (job->is_declined || job->totals.meeting == 0)
        return CAROM_OK;
    CHECK(solve_meeting(job, err));
    CHECK(extend_hits(job, job->totals.meeting, err));
    CHECK(append_hits(job, slice, err));
    job->is_declined = job->totals.hits > GRID_UNDECIDED_MOST;
    return CAROM_OK;
}

/* The hits take the place of the undecided pairs. */
static carom_status offer_hits(grid_job *job, carom_error *err)
{
    static const uint32_t undecided[HIT_MEMORIES] = {CAROMI_GRID_UNDECIDED, CAROMI_GRID_T, CAROMI_GRID_STATES};
    caromi_arguments offer = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_OFFER);
    for (int k = 0; k < HIT_MEMORIES; k++)
        swap_memories(job, hit_memories[k].memory, undecided[k]);
    job->totals.undecided = job->totals.hits;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_INDICES, job->spheres, WORD, err));
    caromi_grid_set_memory(job, &offer, CAROMI_GRID_INDICES);
    caromi_grid_set_memory(job, &offer, CAROMI_GRID_TOTALS);
    CHECK(caromi_grid_launch_each(job, &offer, job->spheres, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_COUNTS, job->spheres, err));
    return caromi_grid_add_undecided(job, CAROMI_PROGRAM_GRID_COUNT_UNDECIDED, err);
}

/* Chooses the slices by what kernels draw from the spheres. A limit that is not a number cannot be there. */
static carom_status cut_window(const grid_job *job, caromi_cloud_slices *slices, carom_error *err)
{
    caromi_cloud_drawn drawn;
    CHECK(caromi_grid_draw(job, &drawn, err));
    if (!(drawn.limits.end >= 0 && drawn.limits.last >= 0))
        return caromi_fail_corrupt(job->device, "limits of time", 0, job->spheres, err);
    caromi_cloud_cut_drawn(&drawn, slices);
    return CAROM_OK;
}

carom_status caromi_grid_find_hits(grid_job *job, carom_error *err)
{
    caromi_cloud_slices slices;
    CHECK(caromi_grid_check_before(job, err));
    if (job->is_declined)
        return CAROM_OK;
    CHECK(caromi_grid_read_spheres(job, err));
    CHECK(cut_window(job, &slices, err));
    CHECK(caromi_grid_reserve_rows(job, err));
    CHECK(extend_hits(job, 1, err));
    for (uint32_t number = 0; number < slices.count && !job->is_declined; number++) {
        const grid_slice slice = slice_of(&slices, number);
        if (slice.begin < slice.end || slice.is_last)
            CHECK(find_in_slice(job, &slice, err));
    }
    return job->is_declined || caromi_grid_finds_best(job->result) ? CAROM_OK : offer_hits(job, err);
}

/* ---- partners ---------------------------------------------------------------------------------------------------- */

/* Enqueues one of the three kernels that find first partners in the list of hits. */
static carom_status see_hits(const grid_job *job, uint32_t program, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, program);
    for (int k = 0; k < HIT_MEMORIES; k++)
        caromi_grid_set_memory(job, &arguments, hit_memories[k].memory);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SOONEST);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_COUNTS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_PARTNER_STATES);
    caromi_set_uint(&arguments, job->spheres);
    return caromi_grid_launch_each(job, &arguments, job->totals.hits, err);
}

carom_status caromi_grid_find_partners(const grid_job *job, caromi_arguments *arguments, carom_error *err)
{
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_SOONEST, job->spheres, WORD, err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_PARTNER_STATES, job->spheres, WORD, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_SOONEST, job->spheres, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_COUNTS, job->spheres, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_PARTNER_STATES, job->spheres, err));
    CHECK(see_hits(job, CAROMI_PROGRAM_MOVING_SOONEST, err));
    CHECK(see_hits(job, CAROMI_PROGRAM_MOVING_LOWEST, err));
    CHECK(see_hits(job, CAROMI_PROGRAM_MOVING_STATE_OF, err));
    *arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_PARTNER);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_SOONEST);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_COUNTS);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_PARTNER_STATES);
    return CAROM_OK;
}
