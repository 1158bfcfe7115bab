/* SPDX-License-Identifier: MIT */
/* Clouds at rest that a GPU sorts and searches by itself: lists, counts and partners against the CPU's, byte for byte,
 * for clouds of every kind that is hard for cells, with arrays in the program's memory and on the device. */
#include "tests/support/cl_shim.h"
#include "kernels/cloud_grid.h"
#include "tests/support/grid_clouds.h"

#include <math.h>

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

static void test_families(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    size_t asked = 0;
    for (size_t i = 0; i < test_effort(24 * CLOUD_FAMILIES); i++)
        for (int exact = 0; exact < 2; exact++) {
            cloud c = make_cloud(i, exact);
            if (i / CLOUD_FAMILIES % 3 == 1)
                add_groups(&c, i);
            if (c.desc.velocity.x == NULL) {
                grid_compare_ways(cpu, device, &c.desc, cloud_family(i));
                asked++;
            }
            cloud_free(&c);
        }
    assert_true(asked > 0);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("families");
}

static void test_shapes(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t i = 0; i < 2 * GRID_SHAPES; i++) {
        grid_many *m = grid_many_make(i % GRID_SHAPES, GRID_MANY);
        m->desc.margin = i % 2 ? 0.01f * m->radius[0] : 0;
        if (i / GRID_SHAPES)
            m->desc.mask = carom_uints_of(m->mask);
        if (i % 4 == 3)
            m->desc.group = carom_uints_of(m->group);
        m->desc.batch.accuracy = i / 2 % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        if (isnan(m->desc.margin))
            m->desc.margin = 0;
        grid_compare_ways(cpu, device, &m->desc, grid_shapes[i % GRID_SHAPES].name);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("shapes");
}

/* Boxes as wide as the cloud, wider, narrower than spheres, so wide that sums overflow; along one axis or several. */
static void test_periods(void **state)
{
    enum { FEW = 150, BOXES = 3 }; /* of each shape */
    static const float periods[][3] = {{GRID_SIDE, GRID_SIDE, GRID_SIDE},
                                       {GRID_SIDE, 0, 0},
                                       {0, GRID_SIDE + 0.5f, 1e-3f},
                                       {3, 40, 0},
                                       {0.25f, 0.5f, 0.75f},
                                       {3e38f, GRID_SIDE, 1e9f},
                                       {2 * GRID_SIDE, 2 * GRID_SIDE, 1e6f},
                                       {0, 0, 1e-40f}};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t i = 0; i < BOXES * GRID_SHAPES; i++) {
        const size_t shape = i % GRID_SHAPES, room = 27 * FEW;
        grid_many *m = grid_many_make(shape, FEW);
        memcpy(m->desc.period, periods[(i + i / GRID_SHAPES) % COUNT_OF(periods)], sizeof m->desc.period);
        m->desc.margin = i % 3 == 1 && m->radius[0] > 0 ? 0.1f * m->radius[0] : 0;
        if (i % 5 == 2)
            m->desc.mask = carom_uints_of(m->mask);
        if (i % 5 == 3)
            m->desc.group = carom_uints_of(m->group);
        m->desc.batch.accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        m->desc.start = i % 7 == 3 ? CAROM_START_SKIP : CAROM_START_REPORT;
        for (size_t k = 0; k < 3 * FEW && shape == 0; k++) /* on the seam, and beside it */
            m->center[k] = k % 4 ? m->center[k] : k % 8 ? 0 : m->desc.period[k % 3];
        for (int full = 0; full < 2; full++) {
            m->desc.full = (uint8_t)full;
            grid_compare(cpu, device, &m->desc, room, grid_shapes[shape].name);
        }
        m->desc.batch.begin = FEW / 3;
        m->desc.a_end = FEW - 1;
        grid_compare(cpu, device, &m->desc, FEW / 4, grid_shapes[shape].name);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("periods");
}

/* ---- arrays on the device ---------------------------------------------------------------------------------------- */

typedef struct region {
    carom_buffer *buffer;
    void *at; /* some bytes behind the begin of the buffer */
} region;
enum { REGIONS = 25, BEHIND = 24 };

static region make_region(carom_context *context, const void *data, size_t bytes)
{
    const carom_buffer_desc d = {.size = sizeof d, .bytes = bytes + BEHIND, .where = CAROM_BUFFER_DEVICE};
    region r;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &d, &r.buffer, &err), &err);
    test_ok("write", carom_buffer_write(r.buffer, BEHIND, data, bytes, &err), &err);
    r.at = (char *)carom_buffer_address(r.buffer) + BEHIND;
    return r;
}

static void expect_region(const region *r, const void *expected, size_t bytes, const char *what)
{
    char *got = test_alloc(bytes, 1);
    carom_error err = {0};
    test_ok(what, carom_buffer_read(r->buffer, BEHIND, got, bytes, &err), &err);
    if (memcmp(got, expected, bytes) != 0)
        fail_msg("%s differs from the CPU's", what);
    free(got);
}

/* An earlier list on the device that is not in order is an error, as on the host. */
static void expect_wrong_order(carom_context *device, const carom_cloud_desc *d, const carom_cloud_pairs_before *before,
                               const region *a, size_t known, const grid_answer *to)
{
    const int32_t wrong = -9;
    carom_list_totals totals = {77, 77, 77};
    const carom_cloud_pair_list list = {
        .size = sizeof list, .capacity = GRID_CAPACITY, .previous = to->previous, .before = before, .totals = &totals};
    carom_error err = {0};
    test_ok("write", carom_buffer_write(a->buffer, BEHIND + (known - 2) * sizeof wrong, &wrong, sizeof wrong, &err),
            &err);
    assert_int_equal(carom_cloud_list(device, d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "before: record "));
    assert_int_equal(totals.total, 77);
}

/* A step whose arrays lie on the device: nothing crosses but the three numbers of the totals and two more. second: the
 * spheres of another cloud, if there is one. */
static void expect_little_crosses(carom_context *cpu, carom_context *device, carom_cloud_desc d, grid_many *m,
                                  grid_many *second)
{
    grid_answer expected = grid_answer_alloc(GRID_MANY, GRID_CAPACITY),
                got = grid_answer_alloc(GRID_MANY, GRID_CAPACITY);
    carom_stats stats;
    carom_error err = {0};
    grid_answer_both(cpu, &d, GRID_CAPACITY, &expected, &stats);
    grid_earlier e = grid_earlier_make(&expected, 1);
    const size_t known = (size_t)e.before.count;
    grid_answer_columns(cpu, &d, GRID_CAPACITY, 0, &e.before, &expected, &stats);
    memset(got.partners, 0, GRID_MANY * sizeof *got.partners);
    region r[REGIONS] = {make_region(device, m->center, sizeof m->center),
                         make_region(device, m->radius, sizeof m->radius),
                         make_region(device, m->mask, sizeof m->mask),
                         make_region(device, got.offsets, (GRID_MANY + 1) * sizeof *got.offsets),
                         make_region(device, got.a, GRID_CAPACITY * sizeof *got.a),
                         make_region(device, got.b, GRID_CAPACITY * sizeof *got.b),
                         make_region(device, got.state, GRID_CAPACITY),
                         make_region(device, got.t, GRID_CAPACITY * sizeof *got.t),
                         make_region(device, got.shift, GRID_CAPACITY * 3),
                         make_region(device, got.partners, GRID_MANY * sizeof *got.partners),
                         make_region(device, got.other, GRID_MANY * sizeof *got.other),
                         make_region(device, got.other_t, GRID_MANY * sizeof *got.other_t),
                         make_region(device, got.other_state, GRID_MANY),
                         make_region(device, got.hit, GRID_MANY),
                         make_region(device, got.depth, GRID_CAPACITY * sizeof *got.depth),
                         make_region(device, got.normal, GRID_CAPACITY * 3 * sizeof *got.normal),
                         make_region(device, got.previous, GRID_CAPACITY * sizeof *got.previous),
                         make_region(device, e.a, known * sizeof *e.a),
                         make_region(device, e.b, known * sizeof *e.b),
                         make_region(device, e.shift, known * 3),
                         make_region(device, m->group, sizeof m->group),
                         make_region(device, second->center, sizeof second->center),
                         make_region(device, second->radius, sizeof second->radius),
                         make_region(device, second->mask, sizeof second->mask),
                         make_region(device, second->group, sizeof second->group)};
    d.center = carom_xyz(r[0].at);
    d.radius = carom_scalars_of(r[1].at);
    d.mask = carom_uints_of(r[2].at);
    if (d.group.data != NULL)
        d.group = carom_uints_of(r[20].at);
    const carom_cloud_against against = {.size = sizeof against,
                                         .count = GRID_MANY,
                                         .center = carom_xyz(r[21].at),
                                         .radius = carom_scalars_of(r[22].at),
                                         .mask = carom_uints_of(r[23].at),
                                         .group = carom_uints_of(r[24].at)};
    if (d.against != NULL)
        d.against = &against;
    grid_answer there = {r[3].at,  r[4].at,  r[5].at,  r[6].at,  r[7].at,  r[8].at,  r[9].at, r[10].at,
                         r[11].at, r[12].at, r[13].at, r[14].at, r[15].at, r[16].at, {0}};
    carom_cloud_pairs_before before = e.before;
    before.a = r[17].at;
    before.b = r[18].at;
    before.shift = r[19].at;
    for (int round = 0; round < 2; round++) { /* programs are built in the first */
        cl_relieve();
        cl_fetched = 0;
        grid_answer_both(device, &d, GRID_CAPACITY, &there, &stats);
        assert_int_equal(stats.on_device, GRID_MANY);
        assert_int_equal(stats.brought + stats.returned, 0);
        grid_answer_columns(device, &d, GRID_CAPACITY, 0, &before, &there, &stats);
        assert_int_equal(stats.on_device, GRID_MANY);
        assert_int_equal(stats.brought + stats.returned, 0);
    }
    if (cl_fetched > 5 * 64 || cl_calls(CALL_WRITE) > 0) /* five calls */
        fail_msg("%zu bytes are read, in %d reads and %d writes", cl_fetched, cl_calls(CALL_READ),
                 cl_calls(CALL_WRITE));
    grid_expect_same(&there.totals, &expected.totals, sizeof there.totals, "totals", "buffers");
    expect_region(&r[3], expected.offsets, (GRID_MANY + 1) * sizeof *got.offsets, "offsets");
    expect_region(&r[4], expected.a, GRID_CAPACITY * sizeof *got.a, "a");
    expect_region(&r[5], expected.b, GRID_CAPACITY * sizeof *got.b, "b");
    expect_region(&r[6], expected.state, GRID_CAPACITY, "state");
    expect_region(&r[7], expected.t, GRID_CAPACITY * sizeof *got.t, "t");
    expect_region(&r[8], expected.shift, GRID_CAPACITY * 3, "shift");
    expect_region(&r[9], expected.partners, GRID_MANY * sizeof *got.partners, "partners");
    expect_region(&r[10], expected.other, GRID_MANY * sizeof *got.other, "other");
    expect_region(&r[11], expected.other_t, GRID_MANY * sizeof *got.other_t, "t of first partners");
    expect_region(&r[12], expected.other_state, GRID_MANY, "state of first partners");
    expect_region(&r[13], expected.hit, GRID_MANY, "hit");
    expect_region(&r[14], expected.depth, GRID_CAPACITY * sizeof *got.depth, "depth");
    expect_region(&r[15], expected.normal, GRID_CAPACITY * 3 * sizeof *got.normal, "normal");
    expect_region(&r[16], expected.previous, GRID_CAPACITY * sizeof *got.previous, "previous");
    expect_wrong_order(device, &d, &before, &r[17], known, &there);
    grid_earlier_free(&e);
    for (size_t i = 0; i < REGIONS; i++)
        carom_buffer_destroy(r[i].buffer);
    (void)err;
    grid_answer_free(&got);
    grid_answer_free(&expected);
}

static void test_buffers(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (int i = 0; i < 3; i++) {
        grid_many *m = grid_many_make((size_t)i, GRID_MANY), *second = grid_many_make(3, GRID_MANY);
        const carom_cloud_against against = {.size = sizeof against,
                                             .count = GRID_MANY,
                                             .center = carom_xyz(second->center),
                                             .radius = carom_scalars_of(second->radius),
                                             .mask = carom_uints_of(second->mask),
                                             .group = carom_uints_of(second->group)};
        m->desc.mask = carom_uints_of(m->mask);
        m->desc.against = i == 2 ? &against : NULL;
        m->desc.margin = i ? 0.0625f : 0;
        m->desc.period[1] = i ? GRID_SIDE : 0;
        if (i)
            m->desc.group = carom_uints_of(m->group);
        expect_little_crosses(cpu, device, m->desc, m, second);
        free(m), free(second);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_seen_as.discrete = 0;
    cl_expect_none("buffers");
}

/* The rows around a cell have ranges of buckets that do not meet, in tables of all sizes. */
static void test_strides(void **state)
{
    (void)state;
    for (uint64_t table = GRID_TABLE_LEAST; table <= UINT64_C(1) << 31; table *= 2)
        for (int y = -2; y <= 2; y++)
            for (int z = -2; z <= 2; z++) {
                const uint32_t apart =
                    ((uint32_t)y * GRID_STRIDE_Y + (uint32_t)z * GRID_STRIDE_Z) & (uint32_t)(table - 1);
                assert_true((y == 0 && z == 0) || (apart > 2 && table - apart > 2));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_families), cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_periods), cmocka_unit_test(test_buffers),
                                       cmocka_unit_test(test_strides)};
    return cmocka_run_group_tests_name("cloud_grid", tests, NULL, NULL);
}
