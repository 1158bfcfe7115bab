/* SPDX-License-Identifier: MIT */
/* Lists of hits whose arrays lie in a buffer of a GPU: they have the CPU's bytes in every column, in chunks, without
 * room for all, with many hits of a query, where memory is short, and where the device fails midway. */
#include "tests/support/cl_shim.h"
#include "tests/support/scenes.h"

enum { COUNT = 3000, CHUNK = 700, MANY = 9000, HITS = 1 << 17, STRIDE = 20 };

/* All arrays of a call, in one piece of memory. */
typedef struct list_arrays {
    uint64_t offsets[MANY + 1], query[HITS];
    int32_t triangle[HITS];
    float t[HITS], normal[3 * HITS];
    uint8_t state[HITS], feature[HITS];
    char point[STRIDE * HITS];
    float column[SPHERE_COLUMNS][MANY];
    carom_list_totals totals;
} list_arrays;

/* What is asked. */
typedef struct question {
    int overlaps;
    carom_hits which;
    carom_accuracy accuracy;
    uint64_t begin, count, capacity;
} question;

static list_arrays expected, got;

static scene hard_scene(void)
{
    scene soup = scene_soup(5, 200, 0.4), twice = scene_copy(&soup), s = scene_both(soup, twice);
    return scene_both(s, scene_floor(6));
}

/* Spheres of all sizes; every 64th reaches most triangles. */
static void make_spheres(size_t count)
{
    swept_spheres spheres = swept_spheres_mixed(7, count);
    for (size_t i = 0; i < count; i += 64)
        spheres.column[SPHERE_RADIUS][i] = 0.8f;
    memset(&expected, 0xa5, sizeof expected);
    for (int k = 0; k < SPHERE_COLUMNS; k++)
        memcpy(expected.column[k], spheres.column[k], count * sizeof(float));
    swept_spheres_free(&spheres);
}

static carom_points points_at(float column[SPHERE_COLUMNS][MANY], int first)
{
    return (carom_points){column[first], column[first + 1], column[first + 2], sizeof(float)};
}

static carom_status ask_list(const question *q, carom_mesh *mesh, list_arrays *at, carom_list_totals *totals,
                             carom_stats *stats, carom_error *err)
{
    const carom_batch batch = {.begin = q->begin, .count = q->count, .accuracy = q->accuracy};
    carom_mesh_sweep_desc sweep = {.batch = batch,
                                   .center = points_at(at->column, 0),
                                   .velocity = points_at(at->column, SPHERE_VELOCITY),
                                   .radius = carom_scalars_of(at->column[SPHERE_RADIUS])};
    carom_mesh_overlap_desc overlap = {.batch = batch, .center = sweep.center, .radius = sweep.radius};
    carom_hit_list list = {.size = sizeof list,
                           .capacity = q->capacity,
                           .offsets = at->offsets,
                           .query = at->query,
                           .triangle = at->triangle,
                           .totals = totals};
    sweep.batch.size = sizeof sweep;
    overlap.batch.size = sizeof overlap;
    if (q->overlaps)
        return carom_mesh_overlap_list(mesh, &overlap, &list, stats, err);
    float *point = (float *)(void *)at->point;
    list.state = at->state;
    list.t = at->t;
    list.feature = at->feature;
    list.point = (carom_points_out){point, point + 1, point + 2, STRIDE};
    list.normal = (carom_points_out){at->normal, at->normal + 1, at->normal + 2, 3 * sizeof(float)};
    return carom_mesh_sweep_list(mesh, &sweep, q->which, &list, stats, err);
}

/* A device and the CPU with the same mesh, and a buffer for the arrays. */
typedef struct fixture {
    carom_context *cpu, *context;
    carom_mesh *here, *there;
    carom_buffer *buffer;
} fixture;

static fixture open_fixture(carom_backend backend, uint32_t chunk, size_t spheres)
{
    fixture f;
    carom_error err = {0};
    carom_context_desc desc = test_desc(backend);
    scene s = hard_scene();
    (void)test_need_device();
    cl_seen_as.discrete = 1;
    cl_relieve();
    desc.device_lanes = 1;
    desc.device_chunk = chunk;
    f.cpu = test_cpu(CAROM_ISA_AUTO, 2);
    test_ok("context", carom_context_create(&desc, &f.context, &err), &err);
    f.here = scene_mesh(f.cpu, &s);
    f.there = scene_mesh(f.context, &s);
    const carom_buffer_desc buffer = {.size = sizeof buffer, .bytes = sizeof got, .where = CAROM_BUFFER_DEVICE};
    test_ok("buffer", carom_buffer_create(f.context, &buffer, &f.buffer, &err), &err);
    make_spheres(spheres);
    scene_free(&s);
    return f;
}

static void close_fixture(fixture *f)
{
    carom_buffer_destroy(f->buffer);
    carom_mesh_destroy(f->there);
    carom_mesh_destroy(f->here);
    carom_context_destroy(f->context);
    carom_context_destroy(f->cpu);
    cl_relieve();
    cl_expect_none("a list in a buffer");
}

/* Asks the CPU, fills the buffer as the CPU's memory was, asks the device, and compares all bytes. What a failed call
 * repeats may count twice. */
static void compare(const fixture *f, const question *q, cl_call call, int that_fails, carom_stats *stats)
{
    carom_list_totals totals = {0}, found = {0};
    carom_stats here = {.size = sizeof here};
    carom_error err = {0};
    memset(&expected, 0xa5, offsetof(list_arrays, column));
    test_ok("write", carom_buffer_write(f->buffer, 0, &expected, sizeof expected, &err), &err);
    test_ok("CPU", ask_list(q, f->here, &expected, &totals, &here, &err), &err);
    cl_sabotage(call, that_fails, 0);
    test_ok("device", ask_list(q, f->there, carom_buffer_address(f->buffer), &found, stats, &err), &err);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    if (that_fails == 0) {
        assert_int_equal(stats->by_integers, here.by_integers);
        assert_int_equal(stats->by_proof, here.by_proof);
        assert_int_equal(stats->by_second_filter, here.by_second_filter);
    }
    assert_memory_equal(&found, &totals, sizeof totals);
    test_ok("read", carom_buffer_read(f->buffer, 0, &got, sizeof got, &err), &err);
    assert_memory_equal(&got, &expected, sizeof got);
}

static question question_of(int i)
{
    return (question){.overlaps = i % 3 == 2,
                      .which = i % 3 == 1 ? CAROM_HITS_FIRST : CAROM_HITS_ALL,
                      .accuracy = i / 3 % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                      .count = COUNT,
                      .capacity = HITS};
}

/* Every list in several chunks, from a later query on, and without room for all. */
static void lists_have_the_same_bytes(void **state)
{
    const int choices = test_need_device().fp64 ? 6 : 3;
    carom_stats stats = {.size = sizeof stats};
    (void)state;
    fixture f = open_fixture(CAROM_BACKEND_OPENCL, CHUNK, COUNT);
    for (int i = 0; i < choices; i++) {
        question q = question_of(i);
        compare(&f, &q, CALL_LAUNCH, 0, &stats);
        assert_int_equal(stats.brought + stats.returned, 0);
        assert_int_equal(stats.on_device, COUNT);
        q.begin = COUNT / 3;
        q.capacity = CHUNK;
        compare(&f, &q, CALL_LAUNCH, 0, &stats);
        assert_int_equal(stats.brought + stats.returned, 0);
        q.capacity = 0;
        compare(&f, &q, CALL_LAUNCH, 0, &stats);
    }
    close_fixture(&f);
}

/* The host learns at most 64 bytes of a list of one chunk; of an exact one besides that what its filter leaves
 * undecided. */
static void few_numbers_cross(void **state)
{
    carom_stats stats = {.size = sizeof stats};
    carom_list_totals totals = {0};
    carom_error err = {0};
    (void)state;
    fixture f = open_fixture(CAROM_BACKEND_OPENCL, 0, COUNT);
    for (int i = 0; i < 3; i++) {
        const question q = question_of(i);
        compare(&f, &q, CALL_LAUNCH, 0, &stats);
        cl_fetched = cl_sent = 0;
        test_ok("again", ask_list(&q, f.there, carom_buffer_address(f.buffer), &totals, &stats, &err), &err);
        assert_true(cl_fetched <= 64);
        assert_int_equal(cl_sent, 0);
    }
    close_fixture(&f);
}

/* Totals beside the other arrays: they alone go to the host and back, whatever becomes of the list. */
static void totals_lie_in_a_buffer(void **state)
{
    carom_error err = {0};
    (void)state;
    for (int is_short = 0; is_short < 2; is_short++)
        for (int launch = 0; launch < 90; launch += 88) {
            fixture f = open_fixture(launch > 0 ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, CHUNK, COUNT);
            list_arrays *there = carom_buffer_address(f.buffer);
            for (int i = 0; i < 3; i++) {
                carom_stats stats = {.size = sizeof stats};
                question q = question_of(i);
                q.capacity = is_short ? CHUNK : HITS;
                memset(&expected, 0xa5, offsetof(list_arrays, column));
                memset(&expected.totals, 0xa5, sizeof expected.totals);
                test_ok("write", carom_buffer_write(f.buffer, 0, &expected, sizeof expected, &err), &err);
                test_ok("CPU", ask_list(&q, f.here, &expected, &expected.totals, NULL, &err), &err);
                cl_sabotage(CALL_LAUNCH, launch, 0);
                test_ok("device", ask_list(&q, f.there, there, &there->totals, &stats, &err), &err);
                cl_sabotage(CALL_LAUNCH, 0, 0);
                if (launch == 0) {
                    assert_int_equal(stats.brought, sizeof expected.totals);
                    assert_int_equal(stats.returned, sizeof expected.totals);
                }
                test_ok("read", carom_buffer_read(f.buffer, 0, &got, sizeof got, &err), &err);
                assert_memory_equal(&got, &expected, sizeof got);
                assert_int_equal(got.totals.complete < COUNT, is_short);
            }
            close_fixture(&f);
        }
}

/* Without memory for the records of a chunk, it is halved; where that does not suffice, the arrays come to the host. */
static void lists_without_memory_are_halved(void **state)
{
    question q = question_of(0);
    (void)state;
    q.count = MANY;
    for (int quarters = 3; quarters > 0; quarters -= 2) {
        carom_stats stats = {.size = sizeof stats};
        carom_list_totals totals = {0};
        carom_error err = {0};
        fixture f = open_fixture(CAROM_BACKEND_OPENCL, 0, MANY);
        test_ok("CPU", ask_list(&q, f.here, &expected, &totals, NULL, &err), &err);
        cl_scarce.above = (uint64_t)quarters * 16 * totals.total / 4;
        compare(&f, &q, CALL_LAUNCH, 0, &stats);
        assert_true(cl_seen.refused > 0);
        assert_int_equal(stats.on_device, MANY);
        assert_int_equal(stats.brought > 0, quarters == 1);
        close_fixture(&f);
    }
}

/* One allocation that fails in a batch too small to be halved: the arrays come to the host, and the device goes on. */
static void lists_survive_a_refused_buffer(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int refused = 1;
        for (int at = 1; refused; at += 3) {
            carom_stats stats = {.size = sizeof stats};
            fixture f = open_fixture(CAROM_BACKEND_OPENCL, 0, COUNT);
            question q = question_of(i), few = q;
            few.count = 1; /* builds and probes the programs */
            compare(&f, &few, CALL_BUFFER, 0, &stats);
            compare(&f, &q, CALL_BUFFER, at, &stats);
            refused = cl_seen.refused > 0;
            assert_int_equal(stats.on_device, COUNT);
            assert_int_equal(stats.brought > 0, refused);
            close_fixture(&f);
        }
    }
}

/* A mesh that needs the long stack, after one that does not, where each work-item has a query of its own. */
static void the_stack_grows(void **state)
{
    const question q = question_of(0);
    (void)state;
    cl_refused_options = "-DMESH_ITEMS";
    carom_stats stats = {.size = sizeof stats};
    fixture f = open_fixture(CAROM_BACKEND_OPENCL, 0, COUNT);
    compare(&f, &q, CALL_LAUNCH, 0, &stats);
    carom_mesh_destroy(f.here);
    carom_mesh_destroy(f.there);
    scene s = scene_deep(5, 3000);
    f.here = scene_mesh(f.cpu, &s);
    f.there = scene_mesh(f.context, &s);
    scene_free(&s);
    compare(&f, &q, CALL_LAUNCH, 0, &stats);
    assert_int_equal(stats.on_device, COUNT);
    assert_int_equal(stats.brought + stats.returned, 0);
    close_fixture(&f);
    cl_refused_options = NULL;
}

/* A device that fails in a later chunk: the CPU answers the rest, and earlier records stay. */
static void the_cpu_goes_on(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int launch = 1; launch < 90; launch += 22) {
            carom_stats stats = {.size = sizeof stats};
            fixture f = open_fixture(CAROM_BACKEND_AUTO, CHUNK, COUNT);
            const question q = question_of(i);
            compare(&f, &q, CALL_LAUNCH, 0, &stats);
            compare(&f, &q, CALL_LAUNCH, launch, &stats);
            assert_true(stats.on_cpu > 0);
            close_fixture(&f);
        }
}

/* A chunk whose answer is complete, before the driver refuses to send commands: it counts once. */
static void a_failed_flush_repeats_nothing(void **state)
{
    (void)state;
    for (int flush = 1; flush < 4; flush++) {
        carom_stats stats = {.size = sizeof stats};
        fixture f = open_fixture(CAROM_BACKEND_AUTO, CHUNK, COUNT);
        const question q = question_of(0);
        compare(&f, &q, CALL_LAUNCH, 0, &stats);
        compare(&f, &q, CALL_FLUSH, flush, &stats);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_have_the_same_bytes),
                                       cmocka_unit_test(few_numbers_cross),
                                       cmocka_unit_test(totals_lie_in_a_buffer),
                                       cmocka_unit_test(lists_without_memory_are_halved),
                                       cmocka_unit_test(lists_survive_a_refused_buffer),
                                       cmocka_unit_test(the_stack_grows),
                                       cmocka_unit_test(the_cpu_goes_on),
                                       cmocka_unit_test(a_failed_flush_repeats_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
