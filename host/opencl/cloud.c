/* SPDX-License-Identifier: MIT */
/* Spheres among themselves on a device (host/cloud/device.h): one program filters the items that the host lists,
 * another gathers the undecided pairs for the pair programs. Items and pairs are streamed in chunks; the spheres stay
 * on the device meanwhile. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "probe.h"
#include "host/cloud/device.h"

enum { POSITIONS = CLOUD_POSITION_COLUMNS, GIVEN = CLOUD_COLUMNS, INDICES = 3, TEST_OUT = 3 };

/* The sorted spheres' columns on a device. */
struct caromi_cloud_copy {
    caromi_device *device;
    /* given: the caller's inputs, NULL for spheres at rest; mask, group: NULL if there are none */
    cl_mem position[POSITIONS], given[GIVEN], mask, group;
    int options;
    float margin, period[3];
};

/* ---- the spheres ------------------------------------------------------------------------------------------------- */

/* Uploads a column or, if host and device share memory, wraps it as a buffer. */
static carom_status send(caromi_device *device, const void *data, uint64_t count, cl_mem *out, carom_error *err)
{
    const uint64_t bytes = count * sizeof(float);
    union {
        const void *given;
        void *read_only; /* const is cast away: the buffer is created read-only */
    } array = {data};
    *out = device->unified ? caromi_wrap_array(device, CL_MEM_READ_ONLY, array.read_only, (size_t)bytes) : NULL;
    if (*out != NULL)
        return CAROM_OK;
    CHECK(caromi_make_buffer(device, "spheres", CL_MEM_READ_ONLY, bytes, NULL, out, err));
    return caromi_write(device, device->slots[0].queue, *out, data, (size_t)bytes, NULL, "spheres", err);
}

/* Copies all columns of the sorted spheres to the device. */
static carom_status send_columns(caromi_cloud_copy *copy, const caromi_cloud_view *view, const float *const *given,
                                 uint64_t count, carom_error *err)
{
    const float *const position[POSITIONS] = {view->x, view->y, view->z, view->reach};
    const uint64_t padded = count + CAROMI_CLOUD_PADDING;
    for (int k = 0; k < POSITIONS; k++)
        CHECK(send(copy->device, position[k], padded, &copy->position[k], err));
    for (int k = 0; given != NULL && k < GIVEN; k++)
        CHECK(send(copy->device, given[k], count, &copy->given[k], err));
    if (view->mask != NULL)
        CHECK(send(copy->device, view->mask, padded, &copy->mask, err));
    if (view->group != NULL)
        CHECK(send(copy->device, view->group, padded, &copy->group, err));
    return caromi_finish(copy->device, copy->device->slots[0].queue, err);
}

/* Makes the copy of a cloud on a device. */
static carom_status open_copy(caromi_device *device, const caromi_cloud_view *view, const float *const *given,
                              const float *period, uint64_t count, caromi_cloud_copy **out, carom_stats *stats,
                              carom_error *err)
{
    const double start = caromi_now();
    caromi_cloud_copy *copy = caromi_alloc(device->context, 1, sizeof *copy);
    if (copy == NULL)
        return caromi_fail_memory(err, "no memory for a cloud on a device");
    memset(copy, 0, sizeof *copy);
    copy->device = device;
    copy->options = caromi_cloud_options(view);
    copy->margin = view->margin;
    memcpy(copy->period, period, sizeof copy->period);
    const carom_status status = send_columns(copy, view, given, count, err);
    stats->upload += caromi_now() - start;
    if (status == CAROM_OK)
        *out = copy;
    else
        caromi_cloud_copy_close(copy);
    return status;
}

void caromi_cloud_copy_close(caromi_cloud_copy *copy)
{
    if (copy == NULL)
        return;
    const carom_context *context = copy->device->context;
    for (int s = 0; s < CAROMI_SLOTS; s++) /* after a failure, writes may still be running */
        (void)caromi_finish(copy->device, copy->device->slots[s].queue, NULL);
    for (int k = 0; k < POSITIONS; k++)
        caromi_release_buffer(&copy->position[k]);
    for (int k = 0; k < GIVEN; k++)
        caromi_release_buffer(&copy->given[k]);
    caromi_release_buffer(&copy->mask);
    caromi_release_buffer(&copy->group);
    caromi_free(context, copy);
}

/* ---- streams of indices ------------------------------------------------------------------------------------------ */

/* Runs a stream whose inputs are columns of indices, in chunks that a GPU answers in bounded time. */
static carom_status run_indices(caromi_device *device, const uint32_t *const *indices, caromi_stream stream,
                                carom_stats *stats, carom_error *err)
{
    caromi_in_column in[INDICES];
    uint64_t done = 0;
    for (int k = 0; k < INDICES; k++)
        in[k] = (caromi_in_column){.base = indices[k], .stride = sizeof *indices[k]};
    stream.chunk = device->gpu ? 1u << 17 : device->max_items;
    stream.in_count = INDICES;
    stream.in = in;
    return caromi_stream_run(device, &stream, &done, stats, err);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void set_buffer(caromi_arguments *arguments, const cl_mem *buffer)
{
    caromi_set_argument(arguments, buffer, sizeof *buffer);
}

/* Launches the filter for a chunk of items. */
static carom_status launch_test(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const caromi_cloud_copy *copy = user;
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_CLOUD_TEST);
    for (int k = 0; k < POSITIONS; k++)
        set_buffer(&arguments, &copy->position[k]);
    set_buffer(&arguments, copy->mask ? &copy->mask : &copy->position[0]); /* any: it is not read */
    set_buffer(&arguments, copy->group ? &copy->group : &copy->position[0]);
    caromi_set_argument(&arguments, &copy->margin, sizeof copy->margin);
    caromi_set_argument(&arguments, &copy->options, sizeof copy->options);
    caromi_set_columns(&arguments, slot->in, INDICES);
    caromi_set_columns(&arguments, slot->out, TEST_OUT);
    return caromi_launch_chunk(device, slot, &arguments, slot->count, err);
}

enum { CHECKED = 1 << 16 }; /* items that a task checks */
typedef struct bits_check {
    const caromi_cloud_items *items;
    atomic_uint beyond;
} bits_check;

/* Task: checks the results of some items. */
static void check_some(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    bits_check *check = user;
    const caromi_cloud_items *items = check->items;
    uint32_t beyond = 0;
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        beyond |=
            (items->candidates[i] | items->certain[i] | items->near[i]) & ~caromi_cloud_item_bits(items->length[i]);
    if (beyond)
        atomic_store(&check->beyond, beyond);
}

/* Checks that results have no bits beyond an item's spheres: such bits would lead outside the columns. */
static carom_status check_bits(const caromi_device *device, const caromi_cloud_items *items, uint64_t count,
                               carom_error *err)
{
    bits_check check = {.items = items};
    caromi_parallel_runs(device->context->pool, count, CHECKED, check_some, &check);
    return check.beyond ? caromi_fail_corrupt(device, "spheres", 0, count, err) : CAROM_OK;
}

/* Runs the filter on items, and checks its results. */
carom_status caromi_cloud_copy_test(caromi_cloud_copy *copy, const caromi_cloud_items *items, uint64_t count,
                                    carom_stats *stats, carom_error *err)
{
    caromi_device *device = copy->device;
    const caromi_out_column out[TEST_OUT] = {{items->candidates, sizeof *items->candidates},
                                             {items->certain, sizeof *items->certain},
                                             {items->near, sizeof *items->near}};
    const uint32_t *const in[INDICES] = {items->slot, items->begin, items->length};
    CHECK(run_indices(device, in,
                      (caromi_stream){.count = count,
                                      .out_count = TEST_OUT,
                                      .out = out,
                                      .out_size = {4, 4, 4},
                                      .launch = launch_test,
                                      .user = copy},
                      stats, err));
    return check_bits(device, items, count, err);
}

/* ---- pairs that are open ----------------------------------------------------------------------------------------- */

/* The launch's user of a stream of pairs. */
typedef struct solve_job {
    const caromi_cloud_copy *copy;
    enum caromi_pair_kernel kernel;
} solve_job;

/* Launches the gather of the pairs' inputs into the slot's columns, behind the columns of slots. */
static carom_status launch_gather(caromi_device *device, caromi_cl_slot *slot, const caromi_cloud_copy *copy,
                                  carom_error *err)
{
    const int moves = copy->given[0] != NULL;
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_CLOUD_GATHER);
    for (int k = 0; k < IN_CLOUD; k++)
        CHECK(caromi_reserve(device, slot, &slot->in[INDICES + k], (size_t)slot->padded * sizeof(float),
                             CAROMI_NO_HOST_POINTER, err));
    for (int k = 0; k < GIVEN;
         k++) /* of spheres at rest, the positions are the inputs, and the last columns are never read */
        set_buffer(&arguments, moves ? &copy->given[k] : &copy->position[k < POSITIONS ? k : 0]);
    caromi_set_argument(&arguments, &moves, sizeof moves);
    caromi_set_argument(&arguments, &copy->margin, sizeof copy->margin);
    for (int k = 0; k < 3; k++)
        caromi_set_argument(&arguments, &copy->period[k], sizeof copy->period[k]);
    caromi_set_columns(&arguments, slot->in, INDICES + IN_CLOUD);
    return caromi_launch_chunk(device, slot, &arguments, slot->padded, err);
}

/* Launches the gather and the solver for a chunk of pairs. */
static carom_status launch_solve(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const solve_job *job = user;
    caromi_arguments arguments = caromi_arguments_of(device, job->kernel);
    CHECK(launch_gather(device, slot, job->copy, err));
    caromi_set_columns(&arguments, slot->in + INDICES, IN_CLOUD);
    caromi_set_columns(&arguments, slot->out, OUT_CLOUD);
    return caromi_launch_chunk(device, slot, &arguments, slot->padded / device->lanes, err);
}

static carom_status check_states(const caromi_device *device, const uint8_t *state, uint64_t count, carom_error *err)
{
    int corrupt = 0;
    for (uint64_t i = 0; i < count; i++)
        corrupt |= state[i] > STATE_OVERLAPPING && state[i] != STATE_NEAR;
    return corrupt ? caromi_fail_corrupt(device, "states", 0, count, err) : CAROM_OK;
}

/* Gathers the inputs of undecided pairs on the device, and solves the pairs there. */
carom_status caromi_cloud_copy_solve(caromi_cloud_copy *copy, const caromi_cloud_undecided *open, uint64_t count,
                                     int exact, carom_stats *stats, carom_error *err)
{
    caromi_device *device = copy->device;
    const solve_job job = {copy, exact ? CAROMI_PAIR_cloud_exact : CAROMI_PAIR_cloud};
    const caromi_out_column out[OUT_CLOUD] = {{open->t, sizeof *open->t}, {open->state, 1}, {open->parts, 1}};
    const uint32_t *const in[INDICES] = {open->a, open->b, open->image};
    CHECK(run_indices(device, in,
                      (caromi_stream){.count = count,
                                      .out_count = OUT_CLOUD,
                                      .out = out,
                                      .out_size = {4, 1, 1},
                                      .extra = IN_CLOUD * (uint32_t)sizeof(float),
                                      .launch = launch_solve,
                                      .user = &job},
                      stats, err));
    return check_states(device, open->state, count, err);
}

int caromi_device_has_fp64(const caromi_device *device)
{
    return device->info.fp64;
}

/* ---- the probe --------------------------------------------------------------------------------------------------- */

enum { SPHERES = 500, ITEMS = 2048, PROBE_COLUMNS = SPHERES + CAROMI_CLOUD_PADDING };

/* The spheres, items and pairs of the probe, and its results. */
typedef struct cloud_probe {
    float column[GIVEN][PROBE_COLUMNS];
    uint32_t mask[PROBE_COLUMNS], group[PROBE_COLUMNS], index[PROBE_COLUMNS];
    uint32_t slot[ITEMS], begin[ITEMS], length[ITEMS], image[ITEMS];
    uint32_t got[TEST_OUT][ITEMS], expected[TEST_OUT][ITEMS];
    float in[IN_CLOUD][ITEMS];
    float t[2][ITEMS];
    uint8_t state[2][ITEMS], parts[2][ITEMS];
} cloud_probe;

/* Makes spheres on a lattice, close together, some of arbitrary size; items of all lengths; and pairs from the items'
 * first spheres. */
static void make_probe(cloud_probe *data)
{
    uint64_t state = 11;
    /* Spheres: coordinates on a lattice, near 0, or arbitrary. */
    for (uint32_t i = 0; i < SPHERES; i++) {
        float row[GIVEN];
        (void)caromi_probe_sphere(&state, row, GIVEN, 1 << CLOUD_R | 1 << CLOUD_T_MAX);
        for (int k = 0; k < GIVEN; k++)
            data->column[k][i] = row[k];
        data->index[i] = i;
    }
    caromi_probe_masks(12, data->mask, SPHERES);
    caromi_probe_masks(14, data->group, SPHERES);
    /* Items, and a pair with some periodic image for each. */
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint64_t r = caromi_probe_next(&state);
        data->slot[i] = (uint32_t)(r % SPHERES);
        data->length[i] = 1 + (uint32_t)(r >> 20) % CLOUD_ITEM;
        data->begin[i] = (uint32_t)(r >> 32) % (SPHERES - data->length[i] + 1);
        data->image[i] = i % 2 ? (uint32_t)(r >> 50) % CAROMI_IMAGES : CAROMI_IMAGE_OWN;
    }
}

/* Probes the filter: its results must be the CPU's. */
static carom_status probe_test(caromi_device *device, cloud_probe *data, const caromi_isa_table *isa, int options,
                               carom_error *err)
{
    static const float none[3] = {0, 0, 0};
    caromi_cloud_copy *copy = NULL;
    carom_stats stats = {.size = sizeof stats};
    const caromi_cloud_view view = {.x = data->column[CLOUD_X],
                                    .y = data->column[CLOUD_Y],
                                    .z = data->column[CLOUD_Z],
                                    .reach = data->column[CLOUD_R],
                                    .index = data->index,
                                    .mask = options & CLOUD_MASKED ? data->mask : NULL,
                                    .group = options & CLOUD_GROUPED ? data->group : NULL,
                                    .margin = options & CLOUD_MARGIN ? 0.5f : 0.0f,
                                    .reach_is_bound = (options & CLOUD_BOUNDS_ONLY) != 0};
    const caromi_cloud_items items = {data->slot, data->begin, data->length, data->got[0], data->got[1], data->got[2]};
    /* The expected results. */
    isa->cloud_test(&view, data->slot, data->begin, data->length, ITEMS, data->expected[0], data->expected[1],
                    data->expected[2]);
    /* Copies the spheres to the device, and runs the filter there. */
    carom_status status = open_copy(device, &view, NULL, none, SPHERES, &copy, &stats, err);
    if (status == CAROM_OK)
        status = caromi_cloud_copy_test(copy, &items, ITEMS, &stats, err);
    caromi_cloud_copy_close(copy);
    for (uint32_t k = 0; status == CAROM_OK && k < TEST_OUT; k++)
        status = caromi_probe_compare(device, CAROMI_PROGRAM_CLOUD_TEST, ITEMS, k, data->got[k], data->expected[k],
                                      sizeof data->got[k][0], err);
    return status;
}

/* Gathers on the host the inputs that the pair program must read. */
static void gather(cloud_probe *data, const caromi_cloud_view *view, const float *period)
{
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t a = data->slot[i], b = data->begin[i];
        for (int k = 0; k < 3; k++) {
            data->in[IN_AX + k][i] = data->column[CLOUD_X + k][a];
            data->in[IN_BX + k][i] = data->column[CLOUD_X + k][b];
            data->in[IN_AVX + k][i] = data->column[CLOUD_VX + k][a];
            data->in[IN_BVX + k][i] = data->column[CLOUD_VX + k][b];
            data->in[IN_SHIFT_X + k][i] = (float)caromi_image_step((int)data->image[i], k) * period[k];
        }
        data->in[IN_AR][i] = data->column[CLOUD_R][a];
        data->in[IN_BR][i] = data->column[CLOUD_R][b];
        data->in[IN_MARGIN][i] = view->margin;
        data->in[IN_LIMIT][i] = fminf(data->column[CLOUD_T_MAX][a], data->column[CLOUD_T_MAX][b]);
    }
}

/* Probes the gather and the solver: their results must be the CPU's. */
static carom_status probe_solve(caromi_device *device, cloud_probe *data, const caromi_isa_table *isa, carom_error *err)
{
    static const float period[3] = {2, 3, 0};
    caromi_cloud_copy *copy = NULL;
    carom_stats stats = {.size = sizeof stats};
    const caromi_cloud_view view = {.x = data->column[CLOUD_X],
                                    .y = data->column[CLOUD_Y],
                                    .z = data->column[CLOUD_Z],
                                    .reach = data->column[CLOUD_R],
                                    .margin = 0.25f};
    const caromi_cloud_undecided pairs = {data->slot, data->begin,    data->image,
                                          data->t[0], data->state[0], data->parts[0]};
    void *expected[OUT_CLOUD] = {data->t[1], data->state[1], data->parts[1]};
    const float *given[GIVEN], *in[IN_CLOUD];
    for (int k = 0; k < GIVEN; k++)
        given[k] = data->column[k];
    for (int k = 0; k < IN_CLOUD; k++)
        in[k] = data->in[k];
    gather(data, &view, period);
    isa->pairs[CAROMI_PAIR_cloud](in, expected, ITEMS, 0);
    carom_status status = open_copy(device, &view, given, period, SPHERES, &copy, &stats, err);
    if (status == CAROM_OK)
        status = caromi_cloud_copy_solve(copy, &pairs, ITEMS, 0, &stats, err);
    caromi_cloud_copy_close(copy);
    const uint32_t program = CAROMI_PROGRAM_CLOUD_GATHER;
    if (status == CAROM_OK)
        status = caromi_probe_compare(device, program, ITEMS, 0, data->t[0], data->t[1], sizeof data->t[0][0], err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(device, program, ITEMS, 1, data->state[0], data->state[1], 1, err);
    return status == CAROM_OK ? caromi_probe_compare(device, program, ITEMS, 2, data->parts[0], data->parts[1], 1, err)
                              : status;
}

static carom_status run_probe(caromi_device *device, cloud_probe *data, carom_error *err)
{
    int chosen;
    const caromi_isa_table *isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    carom_status status = CAROM_OK;
    make_probe(data);
    for (int options = 0; status == CAROM_OK && options <= (CLOUD_MASKED | CLOUD_BOUNDS_ONLY | CLOUD_MARGIN); options++)
        status = probe_test(device, data, isa, options | (options == CLOUD_MASKED ? CLOUD_GROUPED : 0), err);
    return status == CAROM_OK ? probe_solve(device, data, isa, err) : status;
}

/* Builds and probes the programs for clouds. */
carom_status caromi_cloud_prepare(caromi_device *device, int exact, carom_error *err)
{
    caromi_program *last = &device->programs[CAROMI_PROGRAM_CLOUD_GATHER];
    CHECK(caromi_probe_pairs(device, CAROMI_PAIR_cloud, err));
    if (exact && device->info.fp64)
        CHECK(caromi_probe_pairs(device, CAROMI_PAIR_cloud_exact, err));
    if (last->probed)
        return CAROM_OK;
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_CLOUD_TEST, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_CLOUD_GATHER, err));
    cloud_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    memset(data, 0, sizeof *data);
    device->probing = 1;
    const carom_status status = run_probe(device, data, err);
    device->probing = 0;
    last->probed = status == CAROM_OK;
    caromi_free(device->context, data);
    return status;
}

carom_status caromi_cloud_copy_open(caromi_device *device, const caromi_cloud *cloud, const caromi_cloud_cells *cells,
                                    caromi_cloud_copy **out, carom_stats *stats, carom_error *err)
{
    const float *given[GIVEN];
    const int has_given = cells->column[CLOUD_GIVEN] != NULL;
    *out = NULL;
    CHECK(caromi_cloud_prepare(device, cloud->exact, err));
    for (int k = 0; has_given && k < GIVEN; k++)
        given[k] = cells->column[CLOUD_GIVEN + k];
    return open_copy(device, &cells->view, has_given ? given : NULL, cloud->period, cells->count, out, stats, err);
}
