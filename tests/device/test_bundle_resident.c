/* SPDX-License-Identifier: MIT */
/* Bundles whose arrays all lie in a buffer of a discrete device: the CPU's bytes in both modes, for bundles of all
 * sizes; no array crosses; bundles with a hit are asked no more; the call can be ended between rounds; a device that
 * dies, and one that cannot build a kernel of the rounds. */
#include "tests/support/cl_shim.h"
#include "tests/support/sign_scenes.h"

#include <math.h>

enum { COUNT = 60000 /* several rounds */, SEED = 29, FILL = 0xa5, ASKED = 3, CHECKED = 64 /* bytes, at most */ };
enum kind { ASK_SWEEP, ASK_OVERLAP, ASK_CLOSEST };
static const char *const asked_names[ASKED] = {"sweeps", "overlaps", "closest points"};

/* The arrays of a call. Answers are as many as queries, so that bundles of one have room. */
typedef struct arrays {
    float center[COUNT][3], velocity[COUNT][3], radius[COUNT], t_max[COUNT], limit[COUNT];
    uint32_t mask[COUNT], select[COUNT];
    int64_t query[COUNT];
    int32_t triangle[COUNT];
    float distance[COUNT], depth[COUNT], point[COUNT][3], gradient[COUNT][3];
    uint8_t feature[COUNT], hit[COUNT];
} arrays;

/* What is asked. */
typedef struct question {
    int kind;
    uint32_t bundle;
    carom_accuracy accuracy;
    carom_sign sign; /* of closest points */
    int has_options; /* masks, limits, a selection, gradients */
    size_t count;
    carom_progress progress;
} question;

static scene shape;

/* Spheres of all kinds; some are copies of others of their bundle, and in some bundles all are invalid. */
static arrays *make_arrays(void)
{
    arrays *a = test_alloc(1, sizeof *a);
    swept_spheres b = swept_spheres_mixed(SEED, COUNT);
    uint32_t *order = random_order(SEED, COUNT), *masks = random_masks(SEED, COUNT);
    float *limits = random_limits(SEED, COUNT);
    memset(a, FILL, sizeof *a);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t from = i >= 2 && i % 11 < 4 ? i - 2 : i;
        for (int k = 0; k < 3; k++) {
            a->center[i][k] = b.column[k][from];
            a->velocity[i][k] = b.column[SPHERE_VELOCITY + k][from];
        }
        a->radius[i] = b.column[SPHERE_RADIUS][from];
        if (i % 7 == 0) { /* beside an edge of the box, in the middle between two distances: integers decide it */
            a->center[i][0] = -1 - 3 * 4000001 * 0x1p-22f;
            a->center[i][1] = -1 - 4 * 4000001 * 0x1p-22f;
            a->center[i][2] = 0;
        }
        if (i / 1000 == 3 || i / 20 % 13 == 0)
            a->center[i][i % 3] = i % 2 ? NAN : INFINITY;
        a->t_max[i] = b.column[SPHERE_T_MAX][i];
        a->limit[i] = limits[i];
        a->mask[i] = masks[i];
        a->select[i] = order[i];
    }
    free(order);
    free(masks);
    free(limits);
    swept_spheres_free(&b);
    return a;
}

/* Asks with all arrays at `a`, which may be an address in a buffer. */
static carom_status ask_bundles(carom_mesh *mesh, const question *q, arrays *a, carom_stats *stats, carom_error *err)
{
    carom_batch batch = {.count = q->count, .accuracy = q->accuracy, .progress = q->progress};
    carom_uints mask = {NULL, 0};
    *stats = (carom_stats){.size = sizeof *stats};
    if (q->has_options) {
        batch.select = carom_uints_of(a->select);
        batch.elements = COUNT;
        mask = carom_uints_of(a->mask);
    }
    const carom_any_result any = {.size = sizeof any, .hit = a->hit};
    if (q->kind == ASK_SWEEP) {
        carom_mesh_sweep_desc desc = {.batch = batch,
                                      .center = carom_xyz(a->center[0]),
                                      .velocity = carom_xyz(a->velocity[0]),
                                      .radius = carom_scalars_of(a->radius),
                                      .mask = mask,
                                      .bundle = q->bundle};
        desc.batch.size = sizeof desc;
        if (q->has_options)
            desc.t_max = carom_scalars_of(a->t_max);
        return carom_mesh_sweep_any(mesh, &desc, &any, stats, err);
    }
    if (q->kind == ASK_OVERLAP) {
        carom_mesh_overlap_desc desc = {.batch = batch,
                                        .center = carom_xyz(a->center[0]),
                                        .radius = carom_scalars_of(a->radius),
                                        .mask = mask,
                                        .bundle = q->bundle};
        desc.batch.size = sizeof desc;
        return carom_mesh_overlap_any(mesh, &desc, &any, stats, err);
    }
    carom_mesh_closest_desc desc = {.batch = batch,
                                    .center = carom_xyz(a->center[0]),
                                    .radius = carom_scalars_of(a->radius),
                                    .mask = mask,
                                    .sign = q->sign,
                                    .bundle = q->bundle};
    carom_mesh_closest_result out = {.size = sizeof out, .depth = a->depth, .query = a->query};
    desc.batch.size = sizeof desc;
    if (q->has_options) {
        desc.max_distance = carom_scalars_of(a->limit);
        out.gradient = carom_xyz_out(a->gradient[0]);
    } else {
        out.triangle = a->triangle;
        out.distance = a->distance;
        out.point = carom_xyz_out(a->point[0]);
        out.feature = a->feature;
    }
    return carom_mesh_closest(mesh, &desc, &out, stats, err);
}

static const char *name_of(const question *q)
{
    static char name[128];
    (void)snprintf(name, sizeof name, "%s in bundles of %u%s%s%s", asked_names[q->kind], q->bundle,
                   q->accuracy == CAROM_ACCURACY_EXACT ? ", exact" : "", q->has_options ? ", with options" : "",
                   q->sign != CAROM_SIGN_NONE ? ", with a sign" : "");
    return name;
}

/* A context on a device, and a buffer there for the arrays. */
typedef struct resident {
    carom_context *context;
    carom_mesh *mesh;
    carom_buffer *buffer;
} resident;

static resident open_resident(carom_context_desc desc)
{
    const carom_buffer_desc d = {.size = sizeof d, .bytes = sizeof(arrays), .where = CAROM_BUFFER_DEVICE};
    resident r = {NULL, NULL, NULL};
    carom_error err = {0};
    desc.auto_from = 1;
    test_ok("context", carom_context_create(&desc, &r.context, &err), &err);
    r.mesh = scene_mesh(r.context, &shape);
    test_ok("buffer", carom_buffer_create(r.context, &d, &r.buffer, &err), &err);
    return r;
}

static void close_resident(resident *r)
{
    carom_buffer_destroy(r->buffer);
    carom_mesh_destroy(r->mesh);
    carom_context_destroy(r->context);
}

/* One query in a work-item, on a device that is seen as discrete until the end. */
static resident open_one_lane(void)
{
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    desc.device_lanes = 1;
    return open_resident(desc);
}

static void close_one_lane(resident *r, arrays *a, const char *what)
{
    close_resident(r);
    free(a);
    cl_seen_as.discrete = 0;
    cl_expect_none(what);
}

static carom_status ask_there(resident *r, const question *q, const arrays *a, carom_stats *stats, carom_error *err)
{
    test_ok("write", carom_buffer_write(r->buffer, 0, a, sizeof *a, err), err);
    cl_fetched = cl_sent = 0;
    return ask_bundles(r->mesh, q, carom_buffer_address(r->buffer), stats, err);
}

/* Fails unless the buffer has the bytes that the CPU makes of the arrays. */
static void expect_bytes(resident *r, const question *q, const arrays *a)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(cpu, &shape);
    arrays *expected = test_alloc(1, sizeof *expected), *got = test_alloc(1, sizeof *got);
    carom_stats stats;
    carom_error err = {0};
    memcpy(expected, a, sizeof *a);
    test_ok("the CPU", ask_bundles(mesh, q, expected, &stats, &err), &err);
    test_ok("read", carom_buffer_read(r->buffer, 0, got, sizeof *got, &err), &err);
    if (memcmp(expected, got, sizeof *got) != 0) {
        size_t at = 0;
        while (((const char *)expected)[at] == ((const char *)got)[at])
            at++;
        fail_msg("%s: byte %zu differs", name_of(q), at);
    }
    free(expected);
    free(got);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
}

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

/* Limits and selections are checked on the device: a word for each. */
static size_t words_of_checks(const question *q)
{
    const int has_limits = q->kind != ASK_OVERLAP;
    return q->has_options ? (size_t)(1 + has_limits) : 0;
}

static void check_same(resident *r, const question *q, const arrays *a)
{
    carom_stats stats;
    carom_error err = {0};
    const int exact = q->accuracy == CAROM_ACCURACY_EXACT;
    test_ok("prepared", ask_there(r, q, a, &stats, &err), &err); /* builds, probes and uploads */
    test_ok(name_of(q), ask_there(r, q, a, &stats, &err), &err);
    assert_int_equal(stats.on_device, q->count);
    assert_int_equal(stats.brought, exact && q->has_options ? q->count * sizeof *a->select : 0);
    assert_int_equal(stats.returned, 0);
    if (!exact) {
        assert_int_equal(cl_sent, 0);
        assert_true(cl_fetched <= CHECKED);
        assert_true(q->kind != ASK_CLOSEST || cl_fetched == words_of_checks(q) * sizeof(cl_uint));
    }
    assert_int_equal(stats.by_proof + stats.by_integers, exact ? q->count : 0);
    expect_bytes(r, q, a);
}

static void check_sizes(resident *r, const arrays *a, int some)
{
    static const uint32_t sizes[] = {2, 20, 1000, COUNT, 1};
    for (int exact = 0; exact < 2; exact++)
        for (int kind = 0; kind < ASKED; kind++)
            for (size_t i = (size_t)some; i < COUNT_OF(sizes); i += 1 + 2 * (size_t)some) {
                question q = {.kind = kind,
                              .bundle = sizes[i],
                              .accuracy = (carom_accuracy)exact,
                              .has_options = (int)(i + (size_t)exact) % 2,
                              .count = COUNT};
                check_same(r, &q, a);
                q.has_options = !q.has_options;
                if (sizes[i] == 20)
                    check_same(r, &q, a);
                q.sign = CAROM_SIGN_WINDING;
                if (sizes[i] == 20 && kind == ASK_CLOSEST)
                    check_same(r, &q, a);
            }
}

/* One query in a work-item, and the device's own lanes; in the end with chunks of which a round has many. */
static void test_same(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    if (!test_need_device().fp64)
        test_skip("exact mode", "the device has no binary64");
    arrays *a = make_arrays();
    for (int i = 0; i < 3; i++) {
        carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
        desc.device_lanes = i == 0 ? 1 : desc.device_lanes;
        desc.device_chunk = i == 2 ? 5000 : 0;
        resident r = open_resident(desc);
        check_sizes(&r, a, i);
        close_resident(&r);
    }
    free(a);
    cl_seen_as.discrete = 0;
    cl_expect_none("the same bytes");
}

/* No query, and no bundle. */
static void test_none(void **state)
{
    (void)state;
    arrays *a = make_arrays();
    resident r = open_one_lane();
    for (int kind = 0; kind < ASKED; kind++)
        for (int has_options = 0; has_options < 2; has_options++) {
            const question q = {.kind = kind, .bundle = 20, .has_options = has_options};
            carom_stats stats;
            carom_error err = {0};
            test_ok(name_of(&q), ask_there(&r, &q, a, &stats, &err), &err);
            assert_int_equal(stats.queries, 0);
            expect_bytes(&r, &q, a);
        }
    close_one_lane(&r, a, "nothing");
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Spheres at rest, all in the middle of the surface or all far away from it. */
static size_t rounds_of(resident *r, arrays *a, int all_hit)
{
    const question q = {.kind = ASK_OVERLAP, .bundle = 20, .count = COUNT};
    carom_stats stats;
    carom_error err = {0};
    for (size_t i = 0; i < COUNT; i++) {
        for (int k = 0; k < 3; k++)
            a->center[i][k] = all_hit ? 1.0f : 50.0f;
        a->radius[i] = 0.5f;
    }
    for (int again = 0; again < 2; again++)
        test_ok("rounds", ask_there(r, &q, a, &stats, &err), &err);
    const size_t fetched = cl_fetched; /* the number of bundles left, of each round */
    expect_bytes(r, &q, a);
    assert_int_equal(fetched % sizeof(cl_uint), 0);
    return fetched / sizeof(cl_uint);
}

static void test_early_end(void **state)
{
    (void)state;
    arrays *a = make_arrays();
    resident r = open_one_lane();
    assert_int_equal(rounds_of(&r, a, 1), 1);
    assert_int_equal(rounds_of(&r, a, 0), 2);
    close_one_lane(&r, a, "rounds");
}

static int end_at_once(void *user, uint64_t done, uint64_t count)
{
    (void)count;
    *(uint64_t *)user = done;
    return 1;
}

/* A bundle of all queries is one piece. Its progress is reported between rounds, and the call can end there, whether
 * its arrays lie on the device or not. */
static void test_ended(void **state)
{
    (void)state;
    arrays *a = make_arrays();
    resident r = open_one_lane();
    for (int stays = 0; stays < 2; stays++) {
        uint64_t done = 77;
        question q = {.kind = ASK_CLOSEST, .bundle = COUNT, .count = COUNT};
        carom_stats stats;
        carom_error err = {0};
        test_ok("built", ask_there(&r, &q, a, &stats, &err), &err);
        q.progress = (carom_progress){end_at_once, &done};
        cl_slowness = 4000; /* nanoseconds: a round of 2^15 queries takes longer than the time between reports */
        const carom_status status =
            stays ? ask_there(&r, &q, a, &stats, &err) : ask_bundles(r.mesh, &q, a, &stats, &err);
        cl_slowness = 0;
        test_error(status, CAROM_ERROR_CANCELLED, &err, "cancelled at query 0 of 60000");
        assert_int_equal(done, 0);
        q.progress = (carom_progress){NULL, NULL};
        test_ok("asked again", ask_there(&r, &q, a, &stats, &err), &err);
        expect_bytes(&r, &q, a);
    }
    close_one_lane(&r, a, "ended");
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* The device fails in the first, a middle or the last launch of a call. */
static void check_lost(carom_backend backend, const question *q, const arrays *a, int part)
{
    carom_context_desc desc = test_desc(backend);
    desc.device_lanes = 1;
    resident r = open_resident(desc);
    carom_stats stats;
    carom_error err = {0};
    test_ok("built", ask_there(&r, q, a, &stats, &err), &err);
    test_ok("write", carom_buffer_write(r.buffer, 0, a, sizeof *a, &err), &err);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    test_ok("counted", ask_bundles(r.mesh, q, carom_buffer_address(r.buffer), &stats, &err), &err);
    const int launches = cl_calls(CALL_LAUNCH);
    assert_true(launches > 4);
    test_ok("write", carom_buffer_write(r.buffer, 0, a, sizeof *a, &err), &err);
    cl_sabotage(CALL_LAUNCH, part == 0 ? 1 : part == 1 ? launches / 2 : launches, 0);
    const carom_status status = ask_bundles(r.mesh, q, carom_buffer_address(r.buffer), &stats, &err);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    if (backend == CAROM_BACKEND_OPENCL)
        assert_int_equal(status, CAROM_ERROR_DEVICE_LOST);
    else {
        test_ok("the CPU answers", status, &err);
        assert_int_equal(stats.on_cpu, COUNT);
        expect_bytes(&r, q, a);
    }
    close_resident(&r);
    cl_expect_none("lost");
}

static void test_lost(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    const int fp64 = test_need_device().fp64;
    arrays *a = make_arrays();
    for (int part = 0; part < 3; part++)
        for (int kind = ASK_OVERLAP; kind < ASKED; kind++) {
            const question q = {
                .kind = kind, .bundle = 20, .accuracy = (carom_accuracy)(fp64 && part == 1), .count = COUNT};
            check_lost(part == 0 ? CAROM_BACKEND_OPENCL : CAROM_BACKEND_AUTO, &q, a, part);
        }
    free(a);
    cl_seen_as.discrete = 0;
}

static void count_warnings(void *user, carom_log_level level, const char *line)
{
    *(int *)user += level == CAROM_LOG_WARNING && strstr(line, "bundle") != NULL;
}

/* Without a kernel of the rounds the arrays come to the host, which is reported once. */
static void test_unbuilt(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    arrays *a = make_arrays();
    int warnings = 0;
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    desc.device_lanes = 1;
    desc.log = count_warnings;
    desc.log_user = &warnings;
    resident r = open_resident(desc);
    cl_broken = (cl_unbuilt){"bundle_left", "line 7: the moon is in the wrong house"};
    for (int kind = ASK_OVERLAP; kind < ASKED; kind++) {
        const question q = {.kind = kind, .bundle = 20, .count = COUNT};
        carom_stats stats;
        carom_error err = {0};
        test_ok("unbuilt", ask_there(&r, &q, a, &stats, &err), &err);
        assert_int_equal(stats.on_device, COUNT);
        assert_true(stats.brought > 0 && stats.returned > 0);
        expect_bytes(&r, &q, a);
    }
    cl_broken = (cl_unbuilt){NULL, NULL};
    assert_int_equal(warnings, 1);
    close_resident(&r);
    free(a);
    cl_seen_as.discrete = 0;
    cl_expect_none("unbuilt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same),  cmocka_unit_test(test_none),
                                       cmocka_unit_test(test_ended), cmocka_unit_test(test_early_end),
                                       cmocka_unit_test(test_lost),  cmocka_unit_test(test_unbuilt)};
    shape = scene_unit_box();
    const int failed = cmocka_run_group_tests_name("bundle_resident", tests, NULL, NULL);
    scene_free(&shape);
    return failed;
}
