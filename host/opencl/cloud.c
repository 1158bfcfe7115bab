/* SPDX-License-Identifier: MIT */
/* Spheres among themselves on a device (host/cloud/device.h): one program filters the items that the host lists,
 * another gathers the undecided pairs for the pair programs. Items and pairs are streamed in chunks; the spheres stay
 * on the device meanwhile. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "probe.h"
#include "host/cloud/device.h"

enum { POSITIONS = CLOUD_RESTING, GIVEN = CLOUD_COLUMNS, INDICES = 3, TEST_OUT = 3 };

/* The sorted spheres' columns on a device. */
struct caromi_cloud_copy {
    caromi_device *device;
    cl_mem position[POSITIONS], given[GIVEN],
        mask; /* given: the caller's inputs, NULL for spheres at rest; mask NULL: none */
    int options;
    float margin, period[3];
};

/* ---- the spheres ------------------------------------------------------------------------------------------------- */

/* Uploads a column or, if host and device share memory, wraps it as a buffer. */
static carom_status send(caromi_device *d, const void *data, uint64_t count, cl_mem *out, carom_error *err)
{
    const uint64_t bytes = count * sizeof(float);
    union {
        const void *given;
        void *read_only; /* const is cast away: the buffer is created read-only */
    } array = {data};
    *out = d->unified ? caromi_wrap_array(d, CL_MEM_READ_ONLY, array.read_only, (size_t)bytes) : NULL;
    if (*out != NULL)
        return CAROM_OK;
    CHECK(caromi_make_buffer(d, "spheres", CL_MEM_READ_ONLY, bytes, NULL, out, err));
    return caromi_write(d, d->slots[0].queue, *out, data, (size_t)bytes, NULL, "spheres", err);
}

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
    return caromi_finish(copy->device, copy->device->slots[0].queue, err);
}

static carom_status open_copy(caromi_device *d, const caromi_cloud_view *view, const float *const *given,
                              const float *period, uint64_t count, caromi_cloud_copy **out, carom_stats *stats,
                              carom_error *err)
{
    const double start = caromi_now();
    caromi_cloud_copy *copy = caromi_alloc(d->context, 1, sizeof *copy);
    if (copy == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a cloud on a device");
    memset(copy, 0, sizeof *copy);
    copy->device = d;
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
    const carom_context *c = copy->device->context;
    for (int s = 0; s < CAROMI_SLOTS; s++) /* after a failure, writes may still be running */
        (void)caromi_finish(copy->device, copy->device->slots[s].queue, NULL);
    for (int k = 0; k < POSITIONS; k++)
        caromi_release_buffer(&copy->position[k]);
    for (int k = 0; k < GIVEN; k++)
        caromi_release_buffer(&copy->given[k]);
    caromi_release_buffer(&copy->mask);
    caromi_free(c, copy);
}

/* ---- streams of indices ------------------------------------------------------------------------------------------ */

/* Runs a stream whose inputs are columns of indices, in chunks that a GPU answers in bounded time. */
static carom_status run_indices(caromi_device *d, const uint32_t *const *indices, caromi_stream s, carom_stats *stats,
                                carom_error *err)
{
    caromi_in_column in[INDICES];
    uint64_t done = 0;
    for (int k = 0; k < INDICES; k++)
        in[k] = (caromi_in_column){.base = indices[k], .stride = sizeof *indices[k]};
    s.chunk = d->gpu ? 1u << 17 : d->max_items;
    s.in_count = INDICES;
    s.in = in;
    return caromi_stream_run(d, &s, &done, stats, err);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void set_buffer(caromi_arguments *a, const cl_mem *buffer)
{
    caromi_set_argument(a, buffer, sizeof *buffer);
}

static carom_status launch_test(caromi_device *d, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const caromi_cloud_copy *copy = user;
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_CLOUD_TEST);
    for (int k = 0; k < POSITIONS; k++)
        set_buffer(&a, &copy->position[k]);
    set_buffer(&a, copy->mask ? &copy->mask : &copy->position[0]); /* any: it is not read */
    caromi_set_argument(&a, &copy->margin, sizeof copy->margin);
    caromi_set_argument(&a, &copy->options, sizeof copy->options);
    caromi_set_columns(&a, slot->in, INDICES);
    caromi_set_columns(&a, slot->out, TEST_OUT);
    return caromi_launch_chunk(d, slot, &a, slot->count, err);
}

enum { CHECKED = 1 << 16 }; /* items that a task checks */
typedef struct bits_check {
    const caromi_cloud_items *items;
    atomic_uint beyond;
} bits_check;

static void check_some(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    bits_check *check = user;
    const caromi_cloud_items *items = check->items;
    uint32_t beyond = 0;
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        beyond |= (items->some[i] | items->certain[i] | items->near[i]) & ~caromi_cloud_item_bits(items->length[i]);
    if (beyond)
        atomic_store(&check->beyond, beyond);
}

/* Checks that results have no bits beyond an item's spheres: such bits would lead outside the columns. */
static carom_status check_bits(const caromi_device *d, const caromi_cloud_items *items, uint64_t count,
                               carom_error *err)
{
    bits_check check = {.items = items};
    caromi_parallel_runs(d->context->pool, count, CHECKED, check_some, &check);
    return check.beyond ? caromi_fail_corrupt(d, "spheres", 0, count, err) : CAROM_OK;
}

carom_status caromi_cloud_copy_test(caromi_cloud_copy *copy, const caromi_cloud_items *items, uint64_t count,
                                    carom_stats *stats, carom_error *err)
{
    caromi_device *d = copy->device;
    const caromi_out_column out[TEST_OUT] = {{items->some, sizeof *items->some},
                                             {items->certain, sizeof *items->certain},
                                             {items->near, sizeof *items->near}};
    const uint32_t *const in[INDICES] = {items->slot, items->begin, items->length};
    CHECK(run_indices(d, in,
                      (caromi_stream){.count = count,
                                      .out_count = TEST_OUT,
                                      .out = out,
                                      .out_size = {4, 4, 4},
                                      .launch = launch_test,
                                      .user = copy},
                      stats, err));
    return check_bits(d, items, count, err);
}

/* ---- pairs that are open ----------------------------------------------------------------------------------------- */

typedef struct solve_job {
    const caromi_cloud_copy *copy;
    enum caromi_pair_kernel kernel;
} solve_job;

/* Launches the gather of the pairs' inputs into the slot's columns, behind the columns of slots. */
static carom_status launch_gather(caromi_device *d, caromi_cl_slot *slot, const caromi_cloud_copy *copy,
                                  carom_error *err)
{
    const int moves = copy->given[0] != NULL;
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_CLOUD_GATHER);
    for (int k = 0; k < IN_CLOUD; k++)
        CHECK(caromi_reserve(d, slot, &slot->in[INDICES + k], (size_t)slot->padded * sizeof(float),
                             CAROMI_NO_HOST_POINTER, err));
    for (int k = 0; k < GIVEN;
         k++) /* of spheres at rest, the positions are the inputs, and the last columns are never read */
        set_buffer(&a, moves ? &copy->given[k] : &copy->position[k < POSITIONS ? k : 0]);
    caromi_set_argument(&a, &moves, sizeof moves);
    caromi_set_argument(&a, &copy->margin, sizeof copy->margin);
    for (int k = 0; k < 3; k++)
        caromi_set_argument(&a, &copy->period[k], sizeof copy->period[k]);
    caromi_set_columns(&a, slot->in, INDICES + IN_CLOUD);
    return caromi_launch_chunk(d, slot, &a, slot->padded, err);
}

static carom_status launch_solve(caromi_device *d, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const solve_job *job = user;
    caromi_arguments a = caromi_arguments_of(d, job->kernel);
    CHECK(launch_gather(d, slot, job->copy, err));
    caromi_set_columns(&a, slot->in + INDICES, IN_CLOUD);
    caromi_set_columns(&a, slot->out, OUT_CLOUD);
    return caromi_launch_chunk(d, slot, &a, slot->padded / d->lanes, err);
}

static carom_status check_states(const caromi_device *d, const uint8_t *state, uint64_t count, carom_error *err)
{
    int corrupt = 0;
    for (uint64_t i = 0; i < count; i++)
        corrupt |= state[i] > STATE_OVERLAPPING && state[i] != STATE_NEAR;
    return corrupt ? caromi_fail_corrupt(d, "states", 0, count, err) : CAROM_OK;
}

carom_status caromi_cloud_copy_solve(caromi_cloud_copy *copy, const caromi_cloud_undecided *open, uint64_t count,
                                     int exact, carom_stats *stats, carom_error *err)
{
    caromi_device *d = copy->device;
    const solve_job job = {copy, exact ? CAROMI_PAIR_cloud_exact : CAROMI_PAIR_cloud};
    const caromi_out_column out[OUT_CLOUD] = {{open->t, sizeof *open->t}, {open->state, 1}, {open->parts, 1}};
    const uint32_t *const in[INDICES] = {open->a, open->b, open->image};
    CHECK(run_indices(d, in,
                      (caromi_stream){.count = count,
                                      .out_count = OUT_CLOUD,
                                      .out = out,
                                      .out_size = {4, 1, 1},
                                      .extra = IN_CLOUD * (uint32_t)sizeof(float),
                                      .launch = launch_solve,
                                      .user = &job},
                      stats, err));
    return check_states(d, open->state, count, err);
}

int caromi_device_has_fp64(const caromi_device *d)
{
    return d->info.fp64;
}

/* ---- the probe --------------------------------------------------------------------------------------------------- */

enum { SPHERES = 500, ITEMS = 2048, PROBE_COLUMNS = SPHERES + CAROMI_CLOUD_PADDING };

typedef struct cloud_probe {
    float column[GIVEN][PROBE_COLUMNS];
    uint32_t mask[PROBE_COLUMNS], index[PROBE_COLUMNS];
    uint32_t slot[ITEMS], begin[ITEMS], length[ITEMS], image[ITEMS];
    uint32_t got[TEST_OUT][ITEMS], expected[TEST_OUT][ITEMS];
    float in[IN_CLOUD][ITEMS];
    float t[2][ITEMS];
    uint8_t state[2][ITEMS], parts[2][ITEMS];
} cloud_probe;

/* Makes spheres on a lattice, close together, some of arbitrary size; items of all lengths; and pairs from the items'
 * first spheres. */
static void make_probe(cloud_probe *p)
{
    uint64_t state = 11;
    for (uint32_t i = 0; i < SPHERES; i++) {
        float row[GIVEN];
        const uint64_t r = caromi_probe_next(&state);
        caromi_probe_row(&state, row, GIVEN, 1 << CLOUD_R | 1 << CLOUD_T_MAX);
        for (int k = 0; k < GIVEN && r % 8 != 0; k++)
            row[k] = caromi_probe_number(&state, r % 2 ? CAROMI_PROBE_LATTICE : CAROMI_PROBE_NEAR);
        for (int k = 0; k < GIVEN; k++)
            p->column[k][i] = k == CLOUD_R || k == CLOUD_T_MAX ? fabsf(row[k]) : row[k];
        p->index[i] = i;
    }
    caromi_probe_masks(12, p->mask, SPHERES);
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint64_t r = caromi_probe_next(&state);
        p->slot[i] = (uint32_t)(r % SPHERES);
        p->length[i] = 1 + (uint32_t)(r >> 20) % CLOUD_ITEM;
        p->begin[i] = (uint32_t)(r >> 32) % (SPHERES - p->length[i] + 1);
        p->image[i] = i % 2 ? (uint32_t)(r >> 50) % CAROMI_IMAGES : CAROMI_IMAGE_OWN;
    }
}

static carom_status probe_test(caromi_device *d, cloud_probe *p, const caromi_isa_table *isa, int options,
                               carom_error *err)
{
    static const float none[3] = {0, 0, 0};
    caromi_cloud_copy *copy = NULL;
    carom_stats stats = {.size = sizeof stats};
    const caromi_cloud_view view = {.x = p->column[CLOUD_X],
                                    .y = p->column[CLOUD_Y],
                                    .z = p->column[CLOUD_Z],
                                    .reach = p->column[CLOUD_R],
                                    .index = p->index,
                                    .mask = options & CLOUD_MASKED ? p->mask : NULL,
                                    .margin = options & CLOUD_MARGIN ? 0.5f : 0.0f,
                                    .reach_is_bound = (options & CLOUD_BOUNDS_ONLY) != 0};
    const caromi_cloud_items items = {p->slot, p->begin, p->length, p->got[0], p->got[1], p->got[2]};
    isa->cloud_test(&view, p->slot, p->begin, p->length, ITEMS, p->expected[0], p->expected[1], p->expected[2]);
    carom_status status = open_copy(d, &view, NULL, none, SPHERES, &copy, &stats, err);
    if (status == CAROM_OK)
        status = caromi_cloud_copy_test(copy, &items, ITEMS, &stats, err);
    caromi_cloud_copy_close(copy);
    for (uint32_t k = 0; status == CAROM_OK && k < TEST_OUT; k++)
        status = caromi_probe_compare(d, CAROMI_PROGRAM_CLOUD_TEST, ITEMS, k, p->got[k], p->expected[k],
                                      sizeof p->got[k][0], err);
    return status;
}

/* Gathers on the host the inputs that the pair program must read. */
static void gather(cloud_probe *p, const caromi_cloud_view *view, const float *period)
{
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t a = p->slot[i], b = p->begin[i];
        for (int k = 0; k < 3; k++) {
            p->in[IN_AX + k][i] = p->column[CLOUD_X + k][a];
            p->in[IN_BX + k][i] = p->column[CLOUD_X + k][b];
            p->in[IN_AVX + k][i] = p->column[CLOUD_VX + k][a];
            p->in[IN_BVX + k][i] = p->column[CLOUD_VX + k][b];
            p->in[IN_SHIFT_X + k][i] = (float)caromi_image_step((int)p->image[i], k) * period[k];
        }
        p->in[IN_AR][i] = p->column[CLOUD_R][a];
        p->in[IN_BR][i] = p->column[CLOUD_R][b];
        p->in[IN_MARGIN][i] = view->margin;
        p->in[IN_LIMIT][i] = fminf(p->column[CLOUD_T_MAX][a], p->column[CLOUD_T_MAX][b]);
    }
}

static carom_status probe_solve(caromi_device *d, cloud_probe *p, const caromi_isa_table *isa, carom_error *err)
{
    static const float period[3] = {2, 3, 0};
    caromi_cloud_copy *copy = NULL;
    carom_stats stats = {.size = sizeof stats};
    const caromi_cloud_view view = {.x = p->column[CLOUD_X],
                                    .y = p->column[CLOUD_Y],
                                    .z = p->column[CLOUD_Z],
                                    .reach = p->column[CLOUD_R],
                                    .margin = 0.25f};
    const caromi_cloud_undecided pairs = {p->slot, p->begin, p->image, p->t[0], p->state[0], p->parts[0]};
    void *expected[OUT_CLOUD] = {p->t[1], p->state[1], p->parts[1]};
    const float *given[GIVEN], *in[IN_CLOUD];
    for (int k = 0; k < GIVEN; k++)
        given[k] = p->column[k];
    for (int k = 0; k < IN_CLOUD; k++)
        in[k] = p->in[k];
    gather(p, &view, period);
    isa->pairs[CAROMI_PAIR_cloud](in, expected, ITEMS, 0);
    carom_status status = open_copy(d, &view, given, period, SPHERES, &copy, &stats, err);
    if (status == CAROM_OK)
        status = caromi_cloud_copy_solve(copy, &pairs, ITEMS, 0, &stats, err);
    caromi_cloud_copy_close(copy);
    const uint32_t program = CAROMI_PROGRAM_CLOUD_GATHER;
    if (status == CAROM_OK)
        status = caromi_probe_compare(d, program, ITEMS, 0, p->t[0], p->t[1], sizeof p->t[0][0], err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(d, program, ITEMS, 1, p->state[0], p->state[1], 1, err);
    return status == CAROM_OK ? caromi_probe_compare(d, program, ITEMS, 2, p->parts[0], p->parts[1], 1, err) : status;
}

static carom_status run_probe(caromi_device *d, cloud_probe *p, carom_error *err)
{
    int chosen;
    const caromi_isa_table *isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    carom_status status = CAROM_OK;
    make_probe(p);
    for (int options = 0; status == CAROM_OK && options <= (CLOUD_MASKED | CLOUD_BOUNDS_ONLY | CLOUD_MARGIN); options++)
        status = probe_test(d, p, isa, options, err);
    return status == CAROM_OK ? probe_solve(d, p, isa, err) : status;
}

carom_status caromi_cloud_prepare(caromi_device *d, int exact, carom_error *err)
{
    caromi_program *last = &d->programs[CAROMI_PROGRAM_CLOUD_GATHER];
    CHECK(caromi_probe_pairs(d, CAROMI_PAIR_cloud, err));
    if (exact && d->info.fp64)
        CHECK(caromi_probe_pairs(d, CAROMI_PAIR_cloud_exact, err));
    if (last->probed)
        return CAROM_OK;
    CHECK(caromi_program_build(d, CAROMI_PROGRAM_CLOUD_TEST, err));
    CHECK(caromi_program_build(d, CAROMI_PROGRAM_CLOUD_GATHER, err));
    cloud_probe *p = caromi_alloc(d->context, 1, sizeof *p);
    if (p == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the bit probe (%zu bytes)", sizeof *p);
    memset(p, 0, sizeof *p);
    d->probing = 1;
    const carom_status status = run_probe(d, p, err);
    d->probing = 0;
    last->probed = status == CAROM_OK;
    caromi_free(d->context, p);
    return status;
}

carom_status caromi_cloud_copy_open(caromi_device *d, const caromi_cloud *cloud, const caromi_cloud_cells *cells,
                                    caromi_cloud_copy **out, carom_stats *stats, carom_error *err)
{
    const float *given[GIVEN];
    const int has_given = cells->column[CLOUD_GIVEN] != NULL;
    *out = NULL;
    CHECK(caromi_cloud_prepare(d, cloud->exact, err));
    for (int k = 0; has_given && k < GIVEN; k++)
        given[k] = cells->column[CLOUD_GIVEN + k];
    return open_copy(d, &cells->view, has_given ? given : NULL, cloud->period, cells->count, out, stats, err);
}
