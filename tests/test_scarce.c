/* SPDX-License-Identifier: MIT */
/* Device memory that runs out, in all ways that drivers have: a device that says how little it has, a buffer that is
 * refused, one and all later ones, large ones, and all beyond what is free. Chunks become smaller and lists of hits come in
 * smaller parts; where that does not help `opencl` fails with a sentence and goes on with the next batch, and under `auto`
 * the CPU answers. The bits are the CPU's. */
#include "every_kind.h"
#include "own_memory.h"

enum { FEW = 9001, MANY = CAROM_AUTO_MIN_QUERIES, SMALL = 4, LARGE = 16, KB = 1 << 10 };
static const cl_int codes[] = {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_INVALID_BUFFER_SIZE};

/* ---- asking ---------------------------------------------------------------------------------------------------------- */

typedef struct heard {
    int warnings, halved; /* lines of the log */
} heard;

/* A device, and what it is asked; and the CPU, with the answers to what was asked. */
typedef struct trial {
    world w;
    carom_context *device, *cpu;
    carom_mesh *mesh, *cpu_mesh;
    results expected[KIND_COUNT];
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
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = backend;
    desc.device = getenv("CAROM_TEST_DEVICE");
    desc.device_lanes = lanes;
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

static trial *trial_new(size_t count, int sides, carom_backend backend, uint32_t lanes)
{
    trial *t = test_alloc(1, sizeof *t);
    t->device = open_device(backend, lanes, &t->heard);
    t->cpu = test_cpu(CAROM_ISA_AUTO, 2);
    t->w = world_new(count, sides);
    t->mesh = scene_mesh(t->device, &t->w.s);
    t->cpu_mesh = scene_mesh(t->cpu, &t->w.s);
    return t;
}

static void trial_free(trial *t)
{
    carom_mesh_destroy(t->mesh);
    carom_mesh_destroy(t->cpu_mesh);
    carom_context_destroy(t->device);
    carom_context_destroy(t->cpu);
    assert_int_equal(device_memory.buffers, 0);
    assert_int_equal(device_memory.held, 0);
    for (int k = 0; k < KIND_COUNT; k++)
        free(t->expected[k].block);
    world_free(&t->w);
    free(t);
}

static const results *expected_of(trial *t, int k)
{
    carom_error err = {0};
    results *r = &t->expected[k];
    if (r->block == NULL) {
        *r = results_new(t->w.b.count);
        test_ok(every_kind[k].name, every_kind[k].ask(&t->w, t->cpu, t->cpu_mesh, r, NULL, &err), &err);
    }
    return r;
}

/* Another mesh of the same triangles, which the device has not got. */
static void new_mesh(trial *t)
{
    carom_mesh_destroy(t->mesh);
    t->mesh = scene_mesh(t->device, &t->w.s);
}

/* Answers that come are the right ones. */
static carom_status try_kind(trial *t, int k, carom_stats *stats, carom_error *err)
{
    results got = results_new(t->w.b.count);
    *stats = (carom_stats){.size = sizeof *stats};
    const carom_status status = every_kind[k].ask(&t->w, t->device, t->mesh, &got, stats, err);
    if (status == CAROM_OK && memcmp(expected_of(t, k)->block, got.block, got.size) != 0)
        fail_msg("%s: other bits", every_kind[k].name);
    free(got.block);
    return status;
}

/* The device answers all, and nobody is warned. */
static void expect_device(trial *t, int k)
{
    carom_stats stats;
    carom_error err = {0};
    t->heard.warnings = 0;
    test_ok(every_kind[k].name, try_kind(t, k, &stats, &err), &err);
    if (stats.on_device != t->w.b.count)
        fail_msg("%s: the device has answered %llu", every_kind[k].name, (unsigned long long)stats.on_device);
    assert_int_equal(t->heard.warnings, 0);
}

/* ---- smaller pieces -------------------------------------------------------------------------------------------------- */

/* A device that says what it has is not asked for more. */
static void test_limits(void **state)
{
    static const uint64_t limits[][2] = {{2048 * KB, 0}, {0, 32 * KB}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        device_memory = (own_memory){.memory = limits[i][0], .largest = limits[i][1]};
        trial *t = trial_new(FEW, SMALL, CAROM_BACKEND_OPENCL, 4);
        for (int k = 0; k < KIND_COUNT; k++)
            expect_device(t, k);
        assert_int_equal(device_memory.refused, 0);
        assert_int_equal(t->heard.halved, 0);
        trial_free(t);
    }
}

/* The device holds nothing any more: a mesh that is refused has had all the rest give way. */
static void empty(trial *t)
{
    carom_stats stats;
    carom_error err = {0};
    new_mesh(t);
    device_memory_begin();
    device_memory.above = 1;
    device_memory.code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    test_error(try_kind(t, KIND_FIRST, &stats, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "(-4)");
    assert_int_equal(device_memory.buffers, 0);
    device_memory_begin();
}

/* Buffer `at` of a batch is refused, whichever it is. Returns 0 if it has no such buffer. */
static int refuse_one(trial *t, int k, int at)
{
    empty(t);
    device_memory.fail_at = at;
    device_memory.code = codes[(size_t)at % COUNT_OF(codes)];
    expect_device(t, k);
    return device_memory.refused;
}

static void test_one_refused(void **state)
{
    const int stride = test_effort(100) < 50 ? 5 : 2;
    trial *t = trial_new(FEW, LARGE, CAROM_BACKEND_OPENCL, 1);
    (void)state;
    for (int k = 0; k < KIND_COUNT; k++) {
        int at = 1 + k % 2;
        expect_device(t, k); /* a probe cannot ask for less */
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
    for (int k = 0; k < KIND_COUNT; k++) {
        empty(t);
        device_memory.above = 24 * KB; /* of 36 that a column takes */
        device_memory.code = codes[(size_t)k % COUNT_OF(codes)];
        expect_device(t, k);
        assert_true(device_memory.refused > 0);
    }
    trial_free(t);
}

/* What batches before have left with the device gives way to a mesh, and to others' columns. */
static void test_little_is_free(void **state)
{
    trial *t = trial_new(FEW, LARGE, CAROM_BACKEND_OPENCL, 4);
    (void)state;
    empty(t);
    for (int k = 0; k < KIND_COUNT; k++) {
        device_memory_begin();
        device_memory.room = 850 * KB;
        device_memory.code = codes[(size_t)k % COUNT_OF(codes)];
        new_mesh(t);
        expect_device(t, k);
        if (k > KIND_PAIRS) { /* for another mesh there is no room beside these */
            expect_device(t, KIND_PAIRS);
            assert_true(device_memory.refused > 0);
        }
    }
    trial_free(t);
}

/* Lists come in parts of as many hits as there is room for; nobody is counted twice for that. The hits of one query must
 * fit. */
static void fetch_in_parts(trial *t, int k)
{
    const uint64_t one = 16 * t->w.s.triangle_count;
    carom_stats stats;
    carom_error err = {0};
    expect_device(t, k); /* has left columns for as many queries */
    device_memory_begin();
    device_memory.above = one;
    device_memory.code = CL_OUT_OF_RESOURCES;
    expect_device(t, k);
    assert_true(device_memory.refused > 0 && device_memory.for_hits > 1);
    assert_int_equal(device_memory.launches, 1 + device_memory.for_hits);
    device_memory.above = one - 1;
    test_error(try_kind(t, k, &stats, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "(hits)");
    device_memory_begin();
    expect_device(t, k);
    assert_int_equal(device_memory.for_hits, 1);
}

static void test_hits(void **state)
{
    trial *t = trial_new(FEW, SMALL, CAROM_BACKEND_OPENCL, 4);
    (void)state;
    fetch_in_parts(t, KIND_LIST);
    fetch_in_parts(t, KIND_OVERLAPS);
    trial_free(t);
}

/* ---- nothing helps --------------------------------------------------------------------------------------------------- */

/* `opencl` fails, and is there when memory is. */
static void test_all_refused(void **state)
{
    trial *t = trial_new(FEW, SMALL, CAROM_BACKEND_OPENCL, 4);
    carom_stats stats;
    carom_error err = {0};
    (void)state;
    for (int k = 0; k < KIND_COUNT; k++)
        for (int at = 1; at < 10; at += 4) {
            expect_device(t, k); /* with programs that are not probed before memory is short */
            empty(t);
            device_memory.fail_at = at;
            device_memory.fail_after = 1;
            device_memory.code = codes[(size_t)k % COUNT_OF(codes)];
            test_error(try_kind(t, k, &stats, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "clCreateBuffer");
            assert_int_equal(err.native_code, device_memory.code);
            device_memory_begin();
            expect_device(t, k);
        }
    trial_free(t);
}

/* A mesh that the device says it cannot hold. */
static void refuse_mesh(uint64_t memory, uint64_t largest, const char *word)
{
    device_memory = (own_memory){.memory = memory, .largest = largest};
    trial *t = trial_new(FEW, LARGE, CAROM_BACKEND_OPENCL, 4);
    carom_stats stats;
    carom_error err = {0};
    device_memory_begin();
    test_error(try_kind(t, KIND_FIRST, &stats, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, word);
    assert_true(memory != 0 || device_memory.refused == 0); /* little memory has made a probe give way */
    trial_free(t);
}

static void test_mesh_too_large(void **state)
{
    (void)state;
    refuse_mesh(0, 32 * KB, "a buffer on");
    refuse_mesh(64 * KB, 0, "has 65536");
}

/* Some of the batch is the CPU's; said in the statistics and, once, in the log. */
static void expect_cpu(trial *t, int k, const char *why)
{
    carom_stats stats;
    carom_error err = {0};
    t->heard.warnings = 0;
    test_ok(every_kind[k].name, try_kind(t, k, &stats, &err), &err);
    assert_true(stats.on_cpu > 0);
    assert_int_equal(stats.on_cpu + stats.on_device, t->w.b.count);
    assert_int_equal(stats.fallen_back, stats.on_cpu);
    assert_non_null(strstr(stats.fallback_reason, why));
    assert_int_equal(t->heard.warnings, 1);
}

static void test_auto_pairs(void **state)
{
    trial *t = trial_new(MANY, SMALL, CAROM_BACKEND_AUTO, 4);
    (void)state;
    expect_device(t, KIND_PAIRS); /* opens it */
    device_memory.above = 1;
    device_memory.code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    expect_cpu(t, KIND_FIRST, "a mesh's"); /* and its columns have given way */
    device_memory_begin();
    device_memory.room = 400 * KB; /* too little for two chunks of the smallest size */
    device_memory.code = CL_OUT_OF_RESOURCES;
    expect_cpu(t, KIND_PAIRS, "(-5)");
    device_memory_begin();
    expect_device(t, KIND_PAIRS);
    trial_free(t);
}

/* Most of a mesh is not sent for nothing again and again, but once for each place of its vertices. */
static void test_auto_mesh(void **state)
{
    static const int asked[] = {KIND_FIRST, KIND_LIST, KIND_FIRST};
    trial *t = trial_new(MANY, LARGE, CAROM_BACKEND_AUTO, 4);
    const carom_points vertices = scene_desc(&t->w.s).vertices;
    carom_error err = {0};
    (void)state;
    expect_device(t, KIND_FIRST); /* with programs that are not probed before memory is short */
    expect_device(t, KIND_LIST);
    new_mesh(t);
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        device_memory_begin();
        device_memory.above = 32 * KB;
        device_memory.code = CL_OUT_OF_RESOURCES;
        expect_cpu(t, asked[i], "a mesh's");
        assert_int_equal(device_memory.refused > 0, i == 0);
    }
    assert_int_equal(device_memory.asked, 0);
    device_memory_begin();
    test_ok("carom_mesh_update", carom_mesh_update(t->mesh, &vertices, CAROM_MESH_REFIT, &err), &err);
    expect_device(t, KIND_FIRST);
    expect_device(t, KIND_LIST);
    trial_free(t);
}

static int begin(void **state)
{
    (void)state;
    memset(&device_memory, 0, sizeof device_memory);
    return 0;
}

#define ABOUT_MEMORY(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ABOUT_MEMORY(test_limits),         ABOUT_MEMORY(test_one_refused), ABOUT_MEMORY(test_large_ones_refused),
        ABOUT_MEMORY(test_little_is_free), ABOUT_MEMORY(test_hits),        ABOUT_MEMORY(test_all_refused),
        ABOUT_MEMORY(test_mesh_too_large), ABOUT_MEMORY(test_auto_pairs),  ABOUT_MEMORY(test_auto_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
