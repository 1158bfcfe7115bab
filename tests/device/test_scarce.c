/* SPDX-License-Identifier: MIT */
/* Device memory that runs out, in all ways that drivers show: the device reports little memory; one buffer allocation
 * fails, or one and all later ones; large buffers fail; all buffers fail beyond a total. The library then uses smaller
 * chunks, and fetches lists of hits in smaller parts. Where that does not help, `opencl` fails with a message and can
 * run the next batch; under `auto` the CPU answers. The bits are the CPU's. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

enum {
    FEW = 9001,
    MANY = CAROM_AUTO_MIN_QUERIES,
    ORDINARY = 512,
    SMALL = 4,
    LARGE = 16,
    DEEP = 3000,
    SEED = 137,
    KB = 1 << 10
};

/* One request of every kind, in fast mode, which needs no binary64. Sweeps of pairs have more columns than little
 * memory holds. */
static const int kinds[] = {SPHERES, ASK_mesh_first, ASK_mesh_all, ASK_mesh_any, ASK_mesh_overlaps, ASK_mesh_closest};
/* Their input columns, which cross the bus in a block. */
static const uint64_t columns[] = {19, 8, 9, 9, 9, 5};
static const cl_int codes[] = {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_INVALID_BUFFER_SIZE};

/* ---- devices and requests ---------------------------------------------------------------------------------------- */

typedef struct heard {
    int warnings, halved; /* numbers of log lines */
} heard;

/* A device, the inputs of the requests, and the CPU's answers to the requests in is_known. */
typedef struct trial {
    fixture m;
    carom_context *device;
    carom_mesh *mesh;
    batch_result expected[ASK_KINDS];
    int is_known[ASK_KINDS];
    heard heard;
} trial;

static void listen(void *user, carom_log_level level, const char *line)
{
    heard *h = user;
    h->warnings += level <= CAROM_LOG_WARNING;
    h->halved += strstr(line, "trying half") != NULL;
}

/* Ends the test if there is no device. */
static carom_context *open_device(carom_backend backend, uint32_t lanes, heard *h)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device_lanes = test_lanes_for(lanes);
    desc.log = listen;
    desc.log_user = h;
    desc.log_level = CAROM_LOG_INFO;
    if (backend == CAROM_BACKEND_AUTO)
        carom_context_destroy(test_device(lanes, 0));
    const carom_status status = carom_context_create(&desc, &context, &err);
    if (status == CAROM_ERROR_NO_DEVICE)
        test_skip("opencl", err.message);
    test_ok("context", status, &err);
    return context;
}

static trial *trial_of(scene s, size_t count, carom_backend backend, uint32_t lanes)
{
    trial *t = test_alloc(1, sizeof *t);
    t->device = open_device(backend, lanes, &t->heard);
    t->m = fixture_make(SEED, s, count, count / ORDINARY);
    for (int c = 0; c < SPHERE_RADIUS; c++) /* the first sphere contains the whole mesh and hits every triangle */
        t->m.b.column[c][0] = 0.0f;
    t->m.b.column[SPHERE_RADIUS][0] = 3.0f;
    t->mesh = scene_mesh(t->device, &t->m.s);
    return t;
}

static trial *trial_new(size_t count, int sides, carom_backend backend, uint32_t lanes)
{
    return trial_of(scene_sphere(sides), count, backend, lanes);
}

static void trial_free(trial *t)
{
    carom_mesh_destroy(t->mesh);
    carom_context_destroy(t->device);
    cl_expect_none("a device short of memory");
    assert_int_equal(cl_seen.bytes, 0);
    for (int k = 0; k < ASK_KINDS; k++)
        if (t->is_known[k])
            batch_result_free(&t->expected[k]);
    fixture_free(&t->m);
    free(t);
}

static const batch_result *expected_of(trial *t, int k)
{
    if (!t->is_known[k])
        t->expected[k] = request_answer(&requests[k], &t->m);
    t->is_known[k] = 1;
    return &t->expected[k];
}

/* Replaces the mesh by an equal one, which is not yet on the device. */
static void new_mesh(trial *t)
{
    carom_mesh_destroy(t->mesh);
    t->mesh = scene_mesh(t->device, &t->m.s);
}

/* Runs request k. If it succeeds, its answers must be the CPU's. */
static carom_status try_kind(trial *t, int k, carom_stats *stats, carom_error *err)
{
    const request *q = &requests[k];
    batch_result r = batch_result_alloc(q, &t->m);
    const carom_status status = request_ask(q, t->device, t->mesh, &t->m, &r, err);
    if (status == CAROM_OK)
        batch_result_compare(q, &t->m, expected_of(t, k), &r, "a device short of memory");
    *stats = r.stats;
    batch_result_free(&r);
    return status;
}

/* The device must answer all queries of request k, without a warning in the log. */
static void expect_device(trial *t, int k)
{
    carom_stats stats;
    carom_error err = {0};
    t->heard.warnings = 0;
    test_ok(requests[k].name, try_kind(t, k, &stats, &err), &err);
    if (stats.on_device != t->m.count)
        fail_msg("%s: the device has answered %llu", requests[k].name, (unsigned long long)stats.on_device);
    assert_int_equal(t->heard.warnings, 0);
}

/* ---- smaller pieces ---------------------------------------------------------------------------------------------- */

/* No allocation exceeds the limits that the device reports. */
static void test_limits(void **state)
{
    static const uint64_t limits[][2] = {{2048 * KB, 0}, {0, 32 * KB}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        cl_seen_as = (cl_disguise){.discrete = 1, .memory = limits[i][0], .largest = limits[i][1]};
        trial *t = trial_new(FEW, SMALL, CAROM_BACKEND_OPENCL, 4);
        for (size_t k = 0; k < COUNT_OF(kinds); k++)
            expect_device(t, kinds[k]);
        assert_int_equal(cl_seen.refused, 0);
        assert_int_equal(t->heard.halved, 0);
        trial_free(t);
    }
}

/* Nor where queries share a work-group, whose stacks in a deep tree take more memory than all columns. */
static void test_limits_of_stacks(void **state)
{
    static const uint64_t limits[][2] = {{2048 * KB, 0}, {0, 256 * KB}};
    static const int searches[] = {ASK_mesh_first, ASK_mesh_all, ASK_mesh_any, ASK_mesh_overlaps};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        cl_seen_as = (cl_disguise){.discrete = 1, .memory = limits[i][0], .largest = limits[i][1]};
        trial *t = trial_of(scene_deep(SEED, DEEP), FEW, CAROM_BACKEND_OPENCL, 1);
        for (size_t k = 0; k < COUNT_OF(searches); k++)
            expect_device(t, searches[k]);
        assert_int_equal(cl_seen.refused, 0);
        assert_int_equal(t->heard.halved, 0);
        trial_free(t);
    }
}

/* Empties the device: the library frees all its other buffers before it gives up on a mesh that does not fit. */
static void empty(trial *t)
{
    carom_stats stats;
    carom_error err = {0};
    new_mesh(t);
    cl_relieve();
    cl_scarce.above = 1;
    cl_scarce.code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    test_error(try_kind(t, ASK_mesh_first, &stats, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "(-4)");
    assert_int_equal(cl_held[HELD_BUFFERS], 0);
    cl_relieve();
}

/* Allocation number `at` of a batch fails; the batch must succeed all the same. Returns 0 if it makes fewer
 * allocations. */
static int refuse_one(trial *t, int k, int at)
{
    empty(t);
    cl_sabotage(CALL_BUFFER, at, 0);
    cl_scarce.code = codes[(size_t)at % COUNT_OF(codes)];
    expect_device(t, k);
    return cl_seen.refused;
}

static void test_one_refused(void **state)
{
    const int stride = test_effort(100) < 50 ? 5 : 2;
    trial *t = trial_new(FEW, LARGE, CAROM_BACKEND_OPENCL, 1);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const int k = kinds[i];
        int at = 1 + (int)i % 2;
        expect_device(t, k); /* builds and probes the kernels first: a bit probe has no smaller chunks to try */
        for (; refuse_one(t, k, at); at += stride)
            assert_true(at < 200);
        assert_true(at > 5);
    }
    trial_free(t);
}

static void test_large_ones_refused(void **state)
{
    trial *t = trial_new(FEW, SMALL, CAROM_BACKEND_OPENCL, 4);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const int k = kinds[i];
        empty(t);
        cl_scarce.above = columns[i] * 24 * KB; /* a column takes 36 KB */
        cl_scarce.code = codes[i % COUNT_OF(codes)];
        expect_device(t, k);
        assert_true(cl_seen.refused > 0);
    }
    trial_free(t);
}

/* Buffers that earlier batches left on the device are freed for a mesh, and for the columns of other requests. */
static void test_little_is_free(void **state)
{
    trial *t = trial_new(FEW, LARGE, CAROM_BACKEND_OPENCL, 4);
    (void)state;
    empty(t);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const int k = kinds[i];
        cl_relieve();
        cl_scarce.room = 1700 * KB;
        cl_scarce.code = codes[i % COUNT_OF(codes)];
        new_mesh(t);
        expect_device(t, k);
        if (request_needs_mesh(&requests[k])) { /* mesh and columns do not both fit */
            expect_device(t, SPHERES);
            assert_true(cl_seen.refused > 0);
        }
    }
    trial_free(t);
}

/* Lists are fetched in parts of as many hits as fit, and the counting pass is not repeated for that. The hits of one
 * query must fit. */
static void fetch_in_parts(trial *t, int k)
{
    const uint64_t one = 16 * t->m.s.triangle_count;
    carom_stats stats;
    carom_error err = {0};
    expect_device(t, k); /* leaves columns for as many queries on the device */
    cl_relieve();
    cl_scarce.above = one;
    cl_scarce.code = CL_OUT_OF_RESOURCES;
    expect_device(t, k);
    assert_true(cl_seen.refused > 0 && cl_seen.for_hits > 1);
    assert_int_equal(cl_calls(CALL_LAUNCH), 3 + 2 * cl_seen.for_hits); /* blocks are split, those of counts joined */
    cl_scarce.above = one - 1;
    test_error(try_kind(t, k, &stats, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "(hits)");
    cl_relieve();
    expect_device(t, k);
    assert_int_equal(cl_seen.for_hits, 1);
}

static void test_hits(void **state)
{
    trial *t = trial_new(FEW, SMALL, CAROM_BACKEND_OPENCL, 4);
    (void)state;
    fetch_in_parts(t, ASK_mesh_all);
    fetch_in_parts(t, ASK_mesh_overlaps);
    trial_free(t);
}

/* With shared memory the first pass already writes some hits of each query. The second pass searches again only for
 * queries with more hits. A failed allocation leaves the answers right; a failed launch of the second pass loses the
 * device. */
static void test_shared_hits(void **state)
{
    enum { SIDES = 64 }; /* a mesh with more triangles than a work-item has room for hits */
    cl_seen_as = (cl_disguise){0};
    trial *t = trial_new(FEW, SIDES, CAROM_BACKEND_OPENCL, 0);
    carom_stats stats;
    carom_error err = {0};
    (void)state;
    expect_device(t, ASK_mesh_all);
    for (int at = 1; at < 40; at++) {
        empty(t);
        cl_sabotage(CALL_BUFFER, at, 0);
        cl_scarce.code = codes[(size_t)at % COUNT_OF(codes)];
        expect_device(t, ASK_mesh_all);
    }
    cl_relieve();
    expect_device(t, ASK_mesh_all);
    const int launches = cl_calls(CALL_LAUNCH);
    assert_true(launches > 1);
    cl_sabotage(CALL_LAUNCH, launches, 0);
    test_error(try_kind(t, ASK_mesh_all, &stats, &err), CAROM_ERROR_DEVICE_LOST, &err, "clEnqueueNDRangeKernel");
    trial_free(t);
}

/* ---- nothing helps ----------------------------------------------------------------------------------------------- */

/* `opencl` fails, and the same context succeeds once memory is free again. */
static void test_all_refused(void **state)
{
    trial *t = trial_new(FEW, SMALL, CAROM_BACKEND_OPENCL, 4);
    carom_stats stats;
    carom_error err = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (int at = 1, k = kinds[i]; at < 10; at += 4) {
            expect_device(t, k); /* builds and probes the kernels before memory is short */
            empty(t);
            cl_sabotage(CALL_BUFFER, at, 1);
            cl_scarce.code = codes[i % COUNT_OF(codes)];
            test_error(try_kind(t, k, &stats, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "clCreateBuffer");
            assert_int_equal(err.native_code, cl_scarce.code);
            cl_relieve();
            expect_device(t, k);
        }
    trial_free(t);
}

/* A mesh larger than the memory that the device reports. */
static void refuse_mesh(int sides, uint64_t memory, uint64_t largest, const char *word)
{
    cl_seen_as = (cl_disguise){.discrete = 1, .memory = memory, .largest = largest};
    trial *t = trial_new(FEW, sides, CAROM_BACKEND_OPENCL, 4);
    carom_stats stats;
    carom_error err = {0};
    cl_relieve();
    test_error(try_kind(t, ASK_mesh_first, &stats, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, word);
    assert_true(memory != 0 || cl_seen.refused == 0); /* a bit probe may run out */
    trial_free(t);
}

static void test_mesh_too_large(void **state)
{
    enum { VAST = 100 };
    (void)state;
    refuse_mesh(LARGE, 0, 32 * KB, "a buffer on");
    refuse_mesh(VAST, 1024 * KB, 0, "has 1048576"); /* where the bit probe has room */
}

/* The CPU must answer some queries of request k; statistics and one log line give the reason. */
static void expect_cpu(trial *t, int k, const char *why)
{
    carom_stats stats;
    carom_error err = {0};
    t->heard.warnings = 0;
    test_ok(requests[k].name, try_kind(t, k, &stats, &err), &err);
    assert_true(stats.on_cpu > 0);
    assert_int_equal(stats.on_cpu + stats.on_device, t->m.count);
    assert_int_equal(stats.fallen_back, stats.on_cpu);
    assert_non_null(strstr(stats.fallback_reason, why));
    assert_int_equal(t->heard.warnings, 1);
}

static void test_auto_pairs(void **state)
{
    trial *t = trial_new(MANY, SMALL, CAROM_BACKEND_AUTO, 4);
    (void)state;
    expect_device(t, SPHERES); /* opens the device */
    cl_scarce.above = 1;
    cl_scarce.code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    expect_cpu(t, ASK_mesh_first, "a mesh's"); /* and the device's columns have been freed */
    cl_relieve();
    cl_scarce.room = 400 * KB; /* too little for two chunks of the smallest size */
    cl_scarce.code = CL_OUT_OF_RESOURCES;
    expect_cpu(t, SPHERES, "(-5)");
    cl_relieve();
    expect_device(t, SPHERES);
    trial_free(t);
}

/* A mesh that does not fit is uploaded in vain only once, and tried again only when its vertices have moved. */
static void test_auto_mesh(void **state)
{
    static const int asked[] = {ASK_mesh_first, ASK_mesh_all, ASK_mesh_first};
    trial *t = trial_new(MANY, LARGE, CAROM_BACKEND_AUTO, 4);
    const carom_points vertices = scene_desc(&t->m.s).vertices;
    carom_error err = {0};
    (void)state;
    expect_device(t, ASK_mesh_first); /* builds and probes the kernels before memory is short */
    expect_device(t, ASK_mesh_all);
    new_mesh(t);
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        cl_relieve();
        cl_scarce.above = 32 * KB;
        cl_scarce.code = CL_OUT_OF_RESOURCES;
        expect_cpu(t, asked[i], "a mesh's");
        assert_int_equal(cl_seen.refused > 0, i == 0);
    }
    assert_int_equal(cl_calls(CALL_BUFFER), 0);
    cl_relieve();
    test_ok("carom_mesh_update", carom_mesh_update(t->mesh, &vertices, CAROM_MESH_REFIT, &err), &err);
    expect_device(t, ASK_mesh_first);
    expect_device(t, ASK_mesh_all);
    trial_free(t);
}

static int begin(void **state)
{
    (void)state;
    cl_seen_as = (cl_disguise){.discrete = 1};
    cl_relieve();
    return 0;
}

#define ABOUT_MEMORY(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ABOUT_MEMORY(test_limits),
        ABOUT_MEMORY(test_one_refused),
        ABOUT_MEMORY(test_large_ones_refused),
        ABOUT_MEMORY(test_little_is_free),
        ABOUT_MEMORY(test_hits),
        ABOUT_MEMORY(test_all_refused),
        ABOUT_MEMORY(test_mesh_too_large),
        ABOUT_MEMORY(test_auto_pairs),
        ABOUT_MEMORY(test_auto_mesh),
        ABOUT_MEMORY(test_shared_hits),
        ABOUT_MEMORY(test_limits_of_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
