/* SPDX-License-Identifier: MIT */
/* Clouds in motion on a GPU with memory of its own whose arrays lie in buffers: they stay there, but for a sample of
 * the spheres. Answers are the CPU's, byte for byte. */
#include "tests/support/cl_shim.h"
#include "tests/support/moving_clouds.h"

#include <math.h>

/* The columns of a cloud where they lie now: `at` has a copy. */
static carom_cloud_desc desc_at(const moving_many *m, const moving_many *at)
{
    carom_cloud_desc d = m->desc;
    d.center = carom_xyz(at->center);
    d.velocity = carom_xyz(at->velocity);
    d.radius = carom_scalars_of(at->radius);
    d.t_max = carom_scalars_of(at->t_max);
    if (m->desc.mask.data != NULL)
        d.mask = carom_uints_of(at->mask);
    return d;
}

/* The last spheres as a cloud that the others are compared with. One of the two may rest, the smaller one, and the
 * other may have no limits. */
static carom_cloud_against last_of(const moving_many *at, size_t count, size_t way)
{
    const size_t first = way % 3 == 2 ? count / 3 : 2 * count / 3;
    return (carom_cloud_against){
        .size = sizeof(carom_cloud_against),
        .count = count - first,
        .center = carom_xyz(at->center + 3 * first),
        .velocity = way % 3 != 1 ? carom_xyz(at->velocity + 3 * first) : (carom_points){0},
        .radius = carom_scalars_of(at->radius + first),
        .t_max = way % 3 != 2 ? carom_scalars_of(at->t_max + first) : (carom_scalars){0},
    };
}

static void set_against(carom_cloud_desc *d, const carom_cloud_against *against, size_t way)
{
    d->batch.count -= (size_t)against->count;
    d->against = against;
    d->full = 0;
    if (way % 3 == 2)
        d->velocity = (carom_points){0};
    if (way % 3 == 1)
        d->t_max = (carom_scalars){0};
}

/* Bytes that the host reads of a call in motion besides the numbers of each slice: limits, and a sample of spheres. */
enum { DRAWN = 16 + 1024 * 32, EACH_SLICE = 128 };

/* All arrays lie in a buffer. Nothing crosses but the totals, the sample, and in each slice some numbers; returns 0 of
 * a cloud that the device leaves to the host. */
static int compare_in_buffers(carom_context *cpu, carom_context *device, const moving_many *m, size_t way,
                              const char *what)
{
    enum { CALLS = 4, SLICES = 64 };
    const carom_buffer_desc of[] = {
        {.size = sizeof of[0], .bytes = sizeof *m, .where = CAROM_BUFFER_DEVICE},
        {.size = sizeof of[0], .bytes = sizeof(moving_answers), .where = CAROM_BUFFER_DEVICE}};
    carom_buffer *buffers[2] = {NULL, NULL};
    carom_stats stats;
    carom_error err = {0};
    for (int i = 0; i < 2; i++)
        test_ok("buffer", carom_buffer_create(device, &of[i], &buffers[i], &err), &err);
    moving_answers *got = test_alloc(1, sizeof *got);
    test_ok("write", carom_buffer_write(buffers[0], 0, m, sizeof *m, &err), &err);
    test_ok("write", carom_buffer_write(buffers[1], 0, got, sizeof *got, &err), &err);
    const moving_many *there = carom_buffer_address(buffers[0]);
    carom_cloud_desc here = m->desc, d = desc_at(m, there);
    const carom_cloud_against here_second = last_of(m, m->desc.batch.count, way),
                              second = last_of(there, m->desc.batch.count, way);
    if (way > 0) {
        set_against(&here, &here_second, way);
        set_against(&d, &second, way);
    }
    moving_answers *expected = moving_ask_new(cpu, &here, MOVING_ROOM, &stats);
    const size_t known = (size_t)expected->totals.stored;
    moving_columns(cpu, &here, MOVING_ROOM, known, expected, &stats);
    for (int again = 0; again < 2; again++) { /* the first calls build programs */
        cl_fetched = cl_sent = 0;
        moving_ask(device, &d, MOVING_ROOM, carom_buffer_address(buffers[1]), &stats);
    }
    const size_t fetched = cl_fetched, sent = cl_sent;
    const uint64_t crossed = stats.brought + stats.returned;
    assert_int_equal(stats.on_device, d.batch.count);
    moving_columns(device, &d, MOVING_ROOM, known, carom_buffer_address(buffers[1]), &stats);
    assert_int_equal(stats.on_device, d.batch.count);
    const int stays = crossed == 2 * sizeof(carom_list_totals) && stats.brought + stats.returned == 0;
    if (stays && d.batch.accuracy == CAROM_ACCURACY_FAST) {
        assert_int_equal(sent, sizeof(carom_list_totals));
        if (fetched > CALLS * (DRAWN + SLICES * EACH_SLICE))
            fail_msg("%s: %zu bytes are read", what, fetched);
    }
    test_ok("read", carom_buffer_read(buffers[1], 0, got, sizeof *got, &err), &err);
    if (memcmp(got, expected, sizeof *got) != 0)
        fail_msg("%s, way %zu: %zu pairs of %zu, or other bytes", what, way, (size_t)got->totals.total,
                 (size_t)expected->totals.total);
    free(got);
    free(expected);
    for (int i = 0; i < 2; i++)
        carom_buffer_destroy(buffers[i]);
    return stays;
}

/* A context with a device that has memory of its own. */
static carom_context *discrete(void)
{
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    return test_device(1, 0);
}

static void test_buffers(void **state)
{
    (void)state;
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = discrete();
    int stayed = 0;
    for (size_t i = 0; i < 2 * MOVING_SHAPES; i++) {
        const size_t shape = i % MOVING_SHAPES;
        moving_many *m = moving_many_make(shape, shape == 6 ? MOVING_MANY / 8 : MOVING_MANY);
        m->desc.batch.accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        m->t_max[4] = 1; /* the window of either part has an end */
        if (i % 3 == 1)
            m->desc.mask = carom_uints_of(m->mask);
        if (i % 6 == 4) /* the window of one cloud has none */
            m->t_max[1] = m->t_max[2] = INFINITY;
        if (i % 5 > 2 && shape != 9) /* boxes that the spheres fill, and that they leave; not balls without bounds */
            m->desc.period[i % 2] = m->desc.period[2] = i % 5 == 3 ? 16 : 15.5f;
        stayed += compare_in_buffers(cpu, device, m, i % 4, moving_shapes[shape].name);
        free(m);
    }
    /* Balls of odd numbers reach everywhere; so would others, if slices followed from another sample. */
    assert_true(stayed >= 2 * (int)MOVING_SHAPES - 2);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_seen_as.discrete = 0;
    cl_expect_none("buffers");
}

/* A limit that is refused is found on the device, and named as on the host: of either cloud. */
static void test_wrong_limits(void **state)
{
    enum { WRONG = 876 };
    (void)state;
    carom_context *device = discrete();
    const carom_buffer_desc of = {.size = sizeof of, .bytes = sizeof(moving_many), .where = CAROM_BUFFER_DEVICE};
    for (size_t way = 0; way < 2; way++) {
        moving_many *m = moving_many_make(0, MOVING_MANY);
        carom_buffer *buffer = NULL;
        carom_error err = {0};
        uint32_t partners[MOVING_MANY];
        const carom_cloud_count_result count = {sizeof count, partners};
        m->t_max[way ? 2 * MOVING_MANY / 3 + WRONG : WRONG] = -0.5f;
        test_ok("buffer", carom_buffer_create(device, &of, &buffer, &err), &err);
        test_ok("write", carom_buffer_write(buffer, 0, m, sizeof *m, &err), &err);
        const moving_many *there = carom_buffer_address(buffer);
        carom_cloud_desc d = desc_at(m, there);
        const carom_cloud_against second = last_of(there, MOVING_MANY, 0);
        if (way)
            set_against(&d, &second, 0);
        test_error(carom_cloud_count(device, &d, &count, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   way ? "against: sphere 876: t_max is -0.5; it must be >= 0"
                       : "sphere 876: t_max is -0.5; it must be >= 0");
        carom_buffer_destroy(buffer);
        free(m);
    }
    carom_context_destroy(device);
    cl_seen_as.discrete = 0;
    cl_expect_none("wrong limits");
}

/* A window without an end: arrays stay as well. Two spheres have no limit; all have none, of which most move alike. */
static void test_no_end(void **state)
{
    enum { FEW = 500, APART = 50 };
    (void)state;
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = discrete();
    const carom_buffer_desc of = {.size = sizeof of, .bytes = sizeof(moving_many), .where = CAROM_BUFFER_DEVICE};
    for (int way = 0; way < 2; way++) {
        moving_many *m = moving_many_make(0, FEW);
        carom_buffer *buffer = NULL;
        carom_stats stats = {.size = sizeof stats};
        carom_error err = {0};
        uint32_t expected[FEW], got[FEW];
        const carom_cloud_count_result host = {sizeof host, expected}, there = {sizeof there, got};
        m->t_max[100] = m->t_max[400] = INFINITY;
        for (size_t i = 0; i < FEW && way; i++)
            m->t_max[i] = INFINITY;
        for (size_t i = 0; i < 3 * FEW && way; i++)
            m->velocity[i] = i % APART ? 0.5f : m->velocity[i];
        test_ok("buffer", carom_buffer_create(device, &of, &buffer, &err), &err);
        test_ok("write", carom_buffer_write(buffer, 0, m, sizeof *m, &err), &err);
        const carom_cloud_desc d = desc_at(m, carom_buffer_address(buffer));
        test_ok("CPU", carom_cloud_count(cpu, &m->desc, &host, NULL, &err), &err);
        test_ok("device", carom_cloud_count(device, &d, &there, &stats, &err), &err);
        assert_memory_equal(got, expected, sizeof got);
        assert_int_equal(stats.on_device, FEW);
        assert_int_equal(stats.brought + stats.returned, 0);
        carom_buffer_destroy(buffer);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_seen_as.discrete = 0;
    cl_expect_none("no end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buffers), cmocka_unit_test(test_wrong_limits),
                                       cmocka_unit_test(test_no_end)};
    return cmocka_run_group_tests_name("cloud_moving_buffers", tests, NULL, NULL);
}
