/* SPDX-License-Identifier: MIT */
/* A context over several devices: the CPU's bits whatever the cuts, also if a device dies, has no memory or computes
 * wrongly. The devices are parts of the device of this run in one cl_context of the caller, or a list of names. PoCL
 * shows one CPU as several devices if it is asked to before the first call. */
#include "tests/support/cl_shim.h"
#include "tests/support/clouds.h"
#include "tests/support/requests.h"

#include "carom/carom_opencl.h"

#include <math.h>
#include <stdatomic.h>

enum {
    SEED = 71,
    COUNT = 20003,
    SHARE = 4,
    SIDES = 8,
    LEAST = 4096 /* queries of a piece */,
    DEVICES = 2,
    MANY = 1 << 18
};
#define LIST "0,1"

static const char *const pocl_devices = "pthread pthread";
static fixture few;
static batch_result expected[REQUESTS]; /* the CPU's answers, of the requests in is_known */
static int is_known[REQUESTS];

static int make_fixture(void **state)
{
    (void)state;
    few = fixture_make(SEED, scene_sphere(SIDES), COUNT, SHARE);
    return 0;
}

static int free_fixture(void **state)
{
    (void)state;
    for (size_t i = 0; i < REQUESTS; i++)
        if (is_known[i])
            batch_result_free(&expected[i]);
    fixture_free(&few);
    return 0;
}

static const batch_result *expected_of(const request *q)
{
    const size_t i = (size_t)(q - requests);
    if (!is_known[i])
        expected[i] = request_answer(q, &few);
    is_known[i] = 1;
    return &expected[i];
}

static atomic_int warnings;

static void count_warnings(void *user, carom_log_level level, const char *line)
{
    (void)user, (void)line;
    warnings += level <= CAROM_LOG_WARNING;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* Ends the test if there are not as many devices of one kind. */
static carom_device_info need_devices(void)
{
    carom_device_info all[DEVICES] = {{.size = sizeof *all}}, device = test_need_device();
    uint32_t count = 0;
    assert_int_equal(carom_device_list(all, DEVICES, &count, NULL), CAROM_OK);
    if (count < DEVICES || strcmp(all[0].name, all[1].name) != 0)
        test_skip("several devices", "the driver lists no two devices of this kind");
    cl_relieve();
    cl_text_patch = (cl_patch){NULL, NULL};
    warnings = 0;
    return device;
}

static carom_context_desc listed_desc(carom_backend backend)
{
    carom_context_desc desc = test_desc(backend);
    desc.device = LIST;
    desc.auto_from = 1;
    desc.log = count_warnings;
    return desc;
}

static carom_context *listed(carom_backend backend, uint32_t chunk)
{
    carom_context_desc desc = listed_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device_chunk = chunk;
    test_ok("a list of devices", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* The parts stay until the process ends: a thread of PoCL 3.1 may look at them after all commands have finished. */
static cl_device_id part[DEVICES];

static cl_device_id first_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    return device;
}

static cl_context part_context(void)
{
    static const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_uint count = 0;
    cl_int code;
    (void)test_need_device();
    if (part[0] == NULL &&
        (clCreateSubDevices(first_device(), equally, 0, NULL, &count) != CL_SUCCESS || count < DEVICES ||
         clCreateSubDevices(first_device(), equally, count, part, NULL) != CL_SUCCESS))
        test_skip("sub-devices", "this device has no parts");
    cl_context context = clCreateContext(NULL, DEVICES, part, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    return context;
}

static carom_context *parts(cl_context shared, carom_backend backend, uint32_t chunk)
{
    const carom_opencl_desc cl = {.size = sizeof cl, .context = shared, .devices = part, .device_count = DEVICES};
    carom_context_desc desc = listed_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device = NULL;
    desc.device_chunk = chunk;
    test_ok("parts of a device", carom_context_create_opencl(&desc, &cl, &context, &err), &err);
    return context;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static void expect_sums(const carom_stats *stats)
{
    uint64_t sum = 0;
    assert_int_equal(stats->on_device + stats->on_cpu, stats->queries);
    assert_true(stats->device_count == DEVICES || (stats->device_count == 0 && stats->on_device == 0));
    for (uint32_t i = 0; i < stats->device_count; i++)
        sum += stats->devices[i].queries;
    assert_int_equal(sum, stats->on_device);
}

/* A batch whose answers must be the CPU's. */
static carom_stats ask_all(const request *q, carom_context *context, carom_mesh *mesh)
{
    carom_error err = {0};
    batch_result r = batch_result_alloc(q, &few);
    test_ok(q->name, request_ask(q, context, mesh, &few, &r, &err), &err);
    batch_result_compare(q, &few, expected_of(q), &r, "several devices");
    const carom_stats stats = r.stats;
    expect_sums(&stats);
    batch_result_free(&r);
    return stats;
}

/* All devices have a piece of `stats`. */
static void expect_all(const carom_stats *stats)
{
    assert_int_equal(stats->on_device, stats->queries);
    assert_int_equal(stats->fallen_back, 0);
    assert_true(stats->fallback_reason[0] == '\0');
    for (uint32_t i = 0; i < DEVICES; i++) {
        assert_int_equal(stats->devices[i].status, CAROM_OK);
        assert_true(stats->devices[i].queries > 0);
        assert_true(stats->devices[i].seconds > 0);
    }
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static int is_cut(const request *q)
{
    return !request_is_list(q) || q->kind == ASK_mesh_compact;
}

/* In one context the first two batches of a kind are cut into equal pieces, and then by measured rates, by which a
 * device that the system has slowed down may get no piece. */
static void check_same(const request *q, carom_context *context, const carom_device_info *device)
{
    carom_mesh *mesh = scene_mesh(context, &few.s);
    for (int round = 0; round < 3; round++) {
        const carom_stats stats = ask_all(q, context, mesh);
        if (round < 2 && request_is_for(q, device) && is_cut(q))
            expect_all(&stats);
    }
    carom_mesh_destroy(mesh);
}

static const uint32_t chunks[] = {0, 1000, 4096};

static void test_same_listed(void **state)
{
    const request *q = *state;
    const carom_device_info device = need_devices();
    for (size_t i = 0; i < COUNT_OF(chunks); i++) {
        carom_context *context = listed(CAROM_BACKEND_OPENCL, chunks[i]);
        check_same(q, context, &device);
        carom_context_destroy(context);
        cl_expect_none(q->name);
    }
}

static void test_same_parts(void **state)
{
    const request *q = *state;
    const carom_device_info device = test_need_device();
    for (size_t i = 0; i < COUNT_OF(chunks); i++) {
        cl_context shared = part_context();
        carom_context *context = parts(shared, i == 0 ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, chunks[i]);
        assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
        check_same(q, context, &device);
        carom_context_destroy(context);
        cl_expect_none(q->name);
    }
}

/* ---- devices that fail ------------------------------------------------------------------------------------------- */

enum { SURVIVOR = 0, VICTIM = 1 };

static void expect_finished_by_others(const carom_stats *stats, carom_status why)
{
    assert_int_equal(stats->on_device, COUNT);
    assert_int_equal(stats->fallen_back, 0);
    assert_int_equal(stats->devices[SURVIVOR].status, CAROM_OK);
    assert_int_equal(stats->devices[VICTIM].status, why);
    assert_true(stats->fallback_reason[0] != '\0');
    assert_int_equal(warnings, 1);
}

/* After the death of one device: it is not used again. */
static void expect_alone(const request *q, carom_context *context, carom_mesh *mesh)
{
    carom_device_info info[DEVICES] = {{.size = sizeof *info}};
    uint32_t count = 0;
    const carom_stats stats = ask_all(q, context, mesh);
    assert_int_equal(stats.devices[SURVIVOR].queries, COUNT);
    assert_int_equal(stats.devices[VICTIM].status, CAROM_ERROR_NO_DEVICE);
    assert_int_equal(stats.devices[VICTIM].index, UINT32_MAX);
    assert_int_equal(carom_context_get_devices(context, info, DEVICES, &count, NULL), CAROM_OK);
    assert_int_equal(count, DEVICES);
    assert_true(info[SURVIVOR].name[0] != '\0' && info[SURVIVOR].available);
    assert_true(info[VICTIM].name[0] == '\0' && !info[VICTIM].available);
}

enum { ROUNDS = 100 }; /* parts of lists go to whoever is free: a thread that wakes late has none */

/* Of a batch in which the victim has a piece; the first ones build and probe. */
static int calls_of_victim(const request *q, carom_context *context, carom_mesh *mesh, cl_call call)
{
    cl_victim = VICTIM + 1;
    for (int round = 0, worked = 0; worked < 2; round++) {
        assert_true(round < ROUNDS);
        cl_sabotage(call, 0, 0);
        worked += ask_all(q, context, mesh).devices[VICTIM].queries > 0;
    }
    return cl_calls(call);
}

/* Batches until the victim has failed: the last one. */
static carom_stats ask_until_dead(const request *q, carom_context *context, carom_mesh *mesh)
{
    for (int round = 0; round < ROUNDS; round++) {
        const carom_stats stats = ask_all(q, context, mesh);
        if (stats.devices[VICTIM].status != CAROM_OK)
            return stats;
    }
    fail_msg("%s: the device lives", q->name);
    return (carom_stats){0};
}

/* One of the victim's calls fails in the middle of its piece. */
static void test_dying(void **state)
{
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_FLUSH};
    const request *q = *state;
    const carom_device_info device = need_devices();
    if (!request_is_for(q, &device))
        test_skip("fp64", "the device has no binary64");
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        carom_context *context = listed(i == 0 ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, 1000);
        carom_mesh *mesh = scene_mesh(context, &few.s);
        warnings = 0;
        const int calls = calls_of_victim(q, context, mesh, kinds[i]);
        assert_true(calls > 0);
        cl_sabotage(kinds[i], 1 + calls / 3, 0);
        const carom_stats stats = ask_until_dead(q, context, mesh);
        expect_finished_by_others(&stats, CAROM_ERROR_DEVICE_LOST);
        cl_relieve();
        expect_alone(q, context, mesh);
        cl_relieve();
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        cl_expect_none(q->name);
    }
}

/* All devices fail: the CPU finishes for auto, and opencl fails. */
static void test_all_dying(void **state)
{
    const request *q = *state;
    const carom_device_info device = need_devices();
    carom_error err = {0};
    if (!request_is_for(q, &device))
        test_skip("fp64", "the device has no binary64");
    for (int backend = CAROM_BACKEND_AUTO; backend <= CAROM_BACKEND_OPENCL; backend += 2) {
        carom_context *context = listed((carom_backend)backend, 1000);
        carom_mesh *mesh = scene_mesh(context, &few.s);
        (void)ask_all(q, context, mesh);
        cl_sabotage(CALL_LAUNCH, 6, 1);
        if (backend == CAROM_BACKEND_AUTO) {
            const carom_stats stats = ask_all(q, context, mesh);
            assert_true(stats.on_cpu > 0);
            assert_int_equal(stats.fallen_back, stats.on_cpu);
            assert_int_equal(ask_all(q, context, mesh).on_cpu, COUNT);
        } else {
            batch_result r = batch_result_alloc(q, &few);
            test_error(request_ask(q, context, mesh, &few, &r, &err), CAROM_ERROR_DEVICE_LOST, &err, "(-5)");
            cl_relieve();
            test_error(request_ask(q, context, mesh, &few, &r, &err), CAROM_ERROR_DEVICE_LOST, &err, "given up");
            batch_result_free(&r);
        }
        cl_relieve();
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        cl_expect_none(q->name);
    }
}

/* A device without memory leaves its piece to the other, and has one again in the next batch. */
static void test_scarce(void **state)
{
    const request *q = *state;
    const carom_device_info device = need_devices();
    if (!request_is_for(q, &device))
        test_skip("fp64", "the device has no binary64");
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 1000);
    carom_mesh *mesh = scene_mesh(context, &few.s), *other = scene_mesh(context, &few.s);
    (void)ask_all(q, context, mesh);
    cl_victim = VICTIM + 1;
    cl_scarce.above = 1;
    const carom_stats stats = ask_until_dead(q, context, other);
    expect_finished_by_others(&stats, CAROM_ERROR_OUT_OF_MEMORY);
    cl_relieve();
    for (int round = 0; ask_all(q, context, other).devices[VICTIM].queries == 0; round++)
        assert_true(round < ROUNDS);
    carom_mesh_destroy(other);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(q->name);
}

/* The victim's search is wrong: its bit probe finds that in the first batch. */
static void test_wrong(void **state)
{
    const request *q = &requests[ASK_mesh_first];
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    cl_victim = VICTIM + 1;
    cl_text_patch = (cl_patch){"run->triangle[trav->number] = triangle;",
                               "run->triangle[trav->number] = triangle > 1 ? triangle - 2 : triangle;"};
    const carom_stats stats = ask_all(q, context, mesh);
    expect_finished_by_others(&stats, CAROM_ERROR_NOT_BIT_EXACT);
    cl_text_patch = (cl_patch){NULL, NULL};
    expect_alone(q, context, mesh);
    cl_relieve();
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("a wrong device");
}

/* A device that cannot be opened: an error that names it, or auto goes on without it. */
static void test_refused(void **state)
{
    const request *q = &requests[SWEEP];
    carom_context *context = NULL;
    carom_error err = {0};
    (void)state;
    (void)need_devices();
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    cl_victim = VICTIM + 1;
    cl_sabotage(CALL_BUFFER, 1, 1);
    test_error(carom_context_create(&desc, &context, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "device '1'");
    cl_expect_none("a refused device");
    cl_relieve();
    desc.backend = CAROM_BACKEND_AUTO;
    cl_victim = VICTIM + 1;
    cl_sabotage(CALL_BUFFER, 1, 1);
    test_ok("auto", carom_context_create(&desc, &context, &err), &err);
    const carom_stats stats = ask_all(q, context, NULL);
    assert_int_equal(stats.devices[SURVIVOR].queries, COUNT);
    assert_int_equal(stats.devices[VICTIM].status, CAROM_ERROR_NO_DEVICE);
    assert_int_equal(warnings, 1);
    cl_relieve();
    carom_context_destroy(context);
    cl_expect_none("a refused device");
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* A device that takes longer gets less, and all queries are answered. */
static void test_rates(void **state)
{
    const request *q = &requests[SPHERES];
    (void)state;
    (void)need_devices();
    fixture many = fixture_make(SEED, scene_sphere(SIDES), MANY, SHARE);
    batch_result answer = request_answer(q, &many), r = batch_result_alloc(q, &many);
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 1 << 13);
    carom_error err = {0};
    cl_victim = VICTIM + 1;
    cl_slowness = 20000;
    for (int round = 0; round < 4; round++) {
        test_ok(q->name, request_ask(q, context, NULL, &many, &r, &err), &err);
        batch_result_compare(q, &many, &answer, &r, "a slow device");
        expect_sums(&r.stats);
        assert_int_equal(r.stats.on_device, MANY);
    }
    if (r.stats.devices[SURVIVOR].queries < 3 * r.stats.devices[VICTIM].queries)
        fail_msg("the slow device has answered %llu of %d", (unsigned long long)r.stats.devices[VICTIM].queries, MANY);
    cl_relieve();
    carom_context_destroy(context);
    batch_result_free(&r);
    batch_result_free(&answer);
    fixture_free(&many);
}

/* Few queries are not worth a thread: one device answers them. */
static void test_small(void **state)
{
    const request *q = &requests[SPHERES];
    (void)state;
    (void)need_devices();
    fixture small = fixture_make(SEED, scene_sphere(SIDES), 2 * LEAST - 1, SHARE);
    batch_result r = batch_result_alloc(q, &small);
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    carom_error err = {0};
    test_ok(q->name, request_ask(q, context, NULL, &small, &r, &err), &err);
    expect_sums(&r.stats);
    assert_int_equal(r.stats.devices[0].queries + r.stats.devices[1].queries, small.count);
    assert_true(r.stats.devices[0].queries == 0 || r.stats.devices[1].queries == 0);
    carom_context_destroy(context);
    batch_result_free(&r);
    fixture_free(&small);
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static int stop(void *user, uint64_t done, uint64_t count)
{
    uint64_t *at = user;
    assert_true(done > *at && done <= count);
    *at = done;
    return done > count / 4;
}

/* What is answered before the end of a window is valid. */
static void test_cancelled(void **state)
{
    const request *q = &requests[SPHERES];
    uint64_t done = 0;
    (void)state;
    (void)need_devices();
    fixture many = fixture_make(SEED, scene_sphere(SIDES), MANY, SHARE);
    batch_result answer = request_answer(q, &many), r = batch_result_alloc(q, &many);
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    carom_error err = {0};
    many.progress = (carom_progress){stop, &done};
    test_error(request_ask(q, context, NULL, &many, &r, &err), CAROM_ERROR_CANCELLED, &err, "cancelled");
    many.progress = (carom_progress){NULL, NULL};
    assert_true(done < MANY);
    batch_result_compare_first(q, &many, &answer, &r, (size_t)done, "several devices, cancelled");
    assert_int_equal(r.stats.on_device, done);
    carom_context_destroy(context);
    batch_result_free(&r);
    batch_result_free(&answer);
    fixture_free(&many);
}

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

/* A cloud goes to one device as a whole, in the end to the fastest. */
static void test_clouds(void **state)
{
    uint8_t hit[CLOUD_MOST], same[CLOUD_MOST];
    carom_context *context, *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    (void)state;
    (void)need_devices();
    context = listed(CAROM_BACKEND_OPENCL, 0);
    for (size_t i = 0; i < 2 * CLOUD_FAMILIES; i++) {
        cloud c = make_cloud(i, i % 2 != 0);
        c.desc.margin = 0;
        carom_error err = {0};
        carom_stats stats = {.size = sizeof stats};
        test_ok("a cloud", carom_spheres_any(context, &c.desc, TEST_ANY(hit), &stats, &err), &err);
        test_ok("a cloud", carom_spheres_any(cpu, &c.desc, TEST_ANY(same), NULL, &err), &err);
        assert_memory_equal(hit, same, c.count);
        if (stats.on_device > 0)
            assert_true(stats.devices[0].queries == c.count || stats.devices[1].queries == c.count);
        cloud_free(&c);
    }
    carom_context_destroy(context);
    carom_context_destroy(cpu);
}

/* ---- lattices ---------------------------------------------------------------------------------------------------- */

/* Pieces of lattices are whole slabs. Signs are found in groups of slabs, which the devices share. */
static void test_lattices(void **state)
{
    enum { SIDE = 40, NODES = SIDE * SIDE * SIDE };
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 1000), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(context, &few.s), *same = scene_mesh(cpu, &few.s);
    float *got = test_alloc(NODES, sizeof *got), *distance = test_alloc(NODES, sizeof *distance);
    uint8_t *clear = test_alloc(NODES, 1), *clearance = test_alloc(NODES, 1);
    const carom_lattice lattice = {.dims = {SIDE, SIDE, SIDE}, .origin = {-2, -2, -2}, .spacing = 4.0 / SIDE};
    for (int exact = 0; exact < 2; exact++) {
        const carom_batch batch = {.count = SIDE, .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST};
        carom_mesh_distance_desc d = {.batch = batch, .lattice = lattice, .sign = CAROM_SIGN_PARITY, .allow_open = 1};
        carom_mesh_clearance_desc c = {.batch = batch, .lattice = lattice, .radius = 0.5f};
        d.batch.size = sizeof d;
        c.batch.size = sizeof c;
        for (int round = 0; round < 4; round++) {
            const int ours = round > 0;
            const carom_mesh_distance_result out = {.size = sizeof out, .distance = ours ? got : distance};
            const carom_mesh_clearance_result free_out = {.size = sizeof free_out,
                                                          .clearance = ours ? clear : clearance};
            carom_stats stats = {.size = sizeof stats};
            carom_error err = {0};
            test_ok("distances", carom_mesh_distance(ours ? mesh : same, &d, &out, &stats, &err), &err);
            if (ours) {
                expect_sums(&stats);
                assert_memory_equal(got, distance, NODES * sizeof *got);
            }
            test_ok("clearance", carom_mesh_clearance(ours ? mesh : same, &c, &free_out, &stats, &err), &err);
            if (ours) {
                expect_sums(&stats);
                assert_memory_equal(clear, clearance, NODES);
            }
            memset(got, 0, NODES * sizeof *got);
            memset(clear, 0xff, NODES);
        }
    }
    free(got);
    free(distance);
    free(clear);
    free(clearance);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(same);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_expect_none("lattices");
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Buffers of several devices are the host's. */
static void test_buffers(void **state)
{
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = 4096, .where = CAROM_BUFFER_DEVICE};
    carom_buffer_info info = {.size = sizeof info};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("a buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
    test_ok("a buffer", carom_buffer_get_info(buffer, &info, &err), &err);
    assert_int_equal(info.where, CAROM_BUFFER_HOST);
    assert_int_equal(info.reachable, 1);
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
}

/* Closest points from arrays in the caller's memory: the first device answers all. If it fails, the other does. */
static void test_wrapped(void **state)
{
    (void)state;
    cl_context shared = part_context();
    carom_context *context = parts(shared, CAROM_BACKEND_OPENCL, 0), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(context, &few.s), *same = scene_mesh(cpu, &few.s);
    float *points = test_alloc(COUNT, 3 * sizeof *points), *got = test_alloc(COUNT, sizeof *got);
    float *distance = test_alloc(COUNT, sizeof *distance);
    carom_error err = {0};
    cl_int code;
    for (int i = 0; i < 3 * COUNT; i++)
        points[i] = few.b.column[i % 3][i / 3];
    carom_mesh_closest_desc d = {.batch = {.size = sizeof d, .count = COUNT}, .center = carom_xyz(points)};
    carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    test_ok("closest", carom_mesh_closest(same, &d, &out, NULL, &err), &err);
    for (int round = 0; round < 2; round++) {
        cl_mem memory = clCreateBuffer(shared, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 12 * COUNT, points, &code);
        carom_buffer *where = NULL;
        carom_stats stats = {.size = sizeof stats};
        assert_int_equal(code, CL_SUCCESS);
        test_ok("wrap", carom_buffer_wrap_opencl(context, memory, 0, 12 * COUNT, &where, &err), &err);
        d.center = carom_xyz(carom_buffer_address(where));
        out.distance = got;
        memset(got, 0, COUNT * sizeof *got);
        if (round == 1)
            cl_sabotage(CALL_LAUNCH, 1, 0);
        test_ok("closest", carom_mesh_closest(mesh, &d, &out, &stats, &err), &err);
        cl_relieve();
        assert_memory_equal(got, distance, COUNT * sizeof *got);
        assert_int_equal(stats.devices[round].queries, COUNT);
        carom_buffer_destroy(where);
        assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    }
    cl_mem memory = clCreateBuffer(shared, CL_MEM_READ_WRITE, 64, NULL, &code);
    carom_buffer *where = NULL;
    test_error(carom_buffer_wrap_opencl(context, memory, 0, 64, &where, &err), CAROM_ERROR_DEVICE_LOST, &err,
               "given up");
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    free(points);
    free(got);
    free(distance);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(same);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
    cl_expect_none("buffers around the caller's memory");
}

/* ---- bad lists --------------------------------------------------------------------------------------------------- */

static void test_bad_lists(void **state)
{
    static const struct {
        const char *list, *words;
        carom_status status;
    } bad[] = {
        {"0,0", "device '0': it is device 0, as is '0' before it", CAROM_ERROR_INVALID_ARGUMENT},
        {"0,pthread", "as is '0' before it", CAROM_ERROR_INVALID_ARGUMENT},
        {"0,,1", "a name of the list is empty", CAROM_ERROR_INVALID_ARGUMENT},
        {",", "a name of the list is empty", CAROM_ERROR_INVALID_ARGUMENT},
        {"0, ", "a name of the list is empty", CAROM_ERROR_INVALID_ARGUMENT},
        {"0,99", "device '99': there is no OpenCL device 99", CAROM_ERROR_NO_DEVICE},
        {"0,no such", "no OpenCL device is called 'no such'", CAROM_ERROR_NO_DEVICE},
        {"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "more than 16", CAROM_ERROR_INVALID_ARGUMENT},
    };
    (void)state;
    (void)need_devices();
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
        carom_context *context = NULL;
        carom_error err = {0};
        desc.device = bad[i].list;
        test_error(carom_context_create(&desc, &context, &err), bad[i].status, &err, bad[i].words);
        assert_null(context);
        cl_expect_none(bad[i].list);
    }
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    carom_device_info info[DEVICES] = {{.size = sizeof *info}};
    uint32_t count = 0;
    desc.device = " 1 , 0 ";
    test_ok("spaces", carom_context_create(&desc, &context, &err), &err);
    assert_int_equal(carom_context_get_devices(context, info, DEVICES, &count, NULL), CAROM_OK);
    assert_true(count == 2 && info[0].index == 1 && info[1].index == 0);
    carom_context_destroy(context);
}

static void test_bad_parts(void **state)
{
    cl_context shared = part_context();
    cl_device_id twice[] = {part[0], part[0]}, none[] = {part[0], NULL};
    const struct {
        carom_opencl_desc cl;
        const char *words;
    } bad[] = {
        {{.device = part[0], .devices = part, .device_count = 2}, "both given"},
        {{.device = part[0], .device_count = 1}, "cl.devices is NULL, but cl.device_count is 1"},
        {{.devices = part}, "cl.device_count is 0"},
        {{.devices = part, .device_count = 17}, "cl.device_count is 17"},
        {{.devices = twice, .device_count = 2}, "cl.devices[1] is the same as another"},
        {{.devices = none, .device_count = 2}, "cl.devices[1] is NULL"},
        {{0}, "cl.device must not be NULL"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        carom_opencl_desc cl = bad[i].cl;
        carom_context *context = NULL;
        carom_error err = {0};
        cl.size = sizeof cl;
        cl.context = shared;
        test_error(carom_context_create_opencl(NULL, &cl, &context, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   bad[i].words);
    }
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
}

/* ---- preparing, jobs --------------------------------------------------------------------------------------------- */

static carom_mesh_closest_desc closest_desc(void)
{
    const float *const *column = (const float *const *)few.b.column;
    return (carom_mesh_closest_desc){.batch = {.size = sizeof(carom_mesh_closest_desc), .count = COUNT},
                                     .center = carom_soa(column[0], column[1], column[2])};
}

/* Each device builds its programs when the call prepares, and none later. */
static void test_prepared(void **state)
{
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    float *distance = test_alloc(COUNT, sizeof *distance);
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    carom_mesh_closest_desc d = closest_desc();
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    d.batch.prepare = 1;
    test_ok("prepare", carom_mesh_closest(mesh, &d, &out, &stats, &err), &err);
    assert_int_equal(stats.on_device, 0);
    d.batch.prepare = 0;
    cl_sabotage(CALL_BUILD, 0, 0);
    test_ok("closest", carom_mesh_closest(mesh, &d, &out, &stats, &err), &err);
    assert_int_equal(cl_calls(CALL_BUILD), 0);
    assert_true(stats.devices[0].queries > 0 && stats.devices[1].queries > 0);
    free(distance);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("prepared devices");
}

/* A bit probe makes a mesh on a thread of its device, while a job of the context goes on. */
static void test_job(void **state)
{
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(context, &few.s), *same = scene_mesh(cpu, &few.s);
    float *got = test_alloc(COUNT, sizeof *got), *distance = test_alloc(COUNT, sizeof *distance);
    carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    carom_mesh_closest_desc d = closest_desc();
    carom_stats stats = {.size = sizeof stats};
    carom_job *job = NULL;
    carom_error err = {0};
    test_ok("closest", carom_mesh_closest(same, &d, &out, NULL, &err), &err);
    out.distance = got;
    d.batch.job = &job;
    test_ok("a job", carom_mesh_closest(mesh, &d, &out, &stats, &err), &err);
    test_ok("a job", carom_job_wait(job, (double)INFINITY, &err), &err);
    carom_job_destroy(job);
    assert_memory_equal(got, distance, COUNT * sizeof *got);
    expect_sums(&stats);
    free(got);
    free(distance);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(same);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_expect_none("a job");
}

/* ---- two drivers ------------------------------------------------------------------------------------------------- */

/* PoCL and rusticl, each with half of the lanes and programs of its own. */
static void test_mixed(void **state)
{
    const request *q = *state;
    carom_device_info all[8] = {{.size = sizeof *all}};
    uint32_t count = 0;
    int drivers = 0;
    (void)test_need_device();
    assert_int_equal(carom_device_list(all, COUNT_OF(all), &count, NULL), CAROM_OK);
    for (uint32_t i = 0; i < count && i < COUNT_OF(all); i++)
        drivers |= strstr(all[i].platform, "rusticl") != NULL ? 1 : strstr(all[i].platform, "Portable") != NULL ? 2 : 0;
    if (drivers != 3)
        test_skip("rusticl", "PoCL and rusticl are not both there");
    cl_relieve();
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device = "Portable, rusticl";
    test_ok("two drivers", carom_context_create(&desc, &context, &err), &err);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    for (int round = 0; round < 3; round++)
        (void)ask_all(q, context, mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(q->name);
}

static int run_mixed(void)
{
    static const int kinds[] = {SPHERES, ASK_mesh_first, ASK_mesh_all, ASK_KINDS + ASK_mesh_closest};
    struct CMUnitTest tests[COUNT_OF(kinds)];
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        tests[i] = (struct CMUnitTest){requests[kinds[i]].name, test_mixed, NULL, NULL,
                                       (void *)(uintptr_t)&requests[kinds[i]]};
    return cmocka_run_group_tests(tests, make_fixture, free_fixture);
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

static atomic_int inside, most_inside;

static void *hook_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    const int now = ++inside;
    most_inside = now > most_inside ? now : most_inside;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    inside--;
    return memory;
}

static void hook_free(void *user, void *memory)
{
    (void)user;
    const int now = ++inside;
    most_inside = now > most_inside ? now : most_inside;
    free(memory);
    inside--;
}

/* The allocator is never called by two threads at once. */
static void test_hooks(void **state)
{
    (void)state;
    (void)need_devices();
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.allocator = (carom_allocator){hook_alloc, hook_free, NULL};
    test_ok("hooks", carom_context_create(&desc, &context, &err), &err);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    for (int kind = ASK_mesh_first; kind < ASK_KINDS; kind++)
        (void)ask_all(&requests[kind], context, mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    assert_int_equal(most_inside, 1);
}

int main(void)
{
    static char names[5][REQUESTS][64];
    static const char *const words[] = {"a list", "parts", "one dies", "all die", "no memory"};
    static const CMUnitTestFunction functions[] = {test_same_listed, test_same_parts, test_dying, test_all_dying,
                                                   test_scarce};
    struct CMUnitTest tests[5 * REQUESTS + 16] = {
        cmocka_unit_test(test_wrong),     cmocka_unit_test(test_refused),   cmocka_unit_test(test_rates),
        cmocka_unit_test(test_small),     cmocka_unit_test(test_cancelled), cmocka_unit_test(test_clouds),
        cmocka_unit_test(test_buffers),   cmocka_unit_test(test_wrapped),   cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_bad_parts), cmocka_unit_test(test_hooks),     cmocka_unit_test(test_prepared),
        cmocka_unit_test(test_job),       cmocka_unit_test(test_lattices)};
    const size_t effort = test_effort(REQUESTS), stride = effort >= REQUESTS ? 1 : effort >= REQUESTS / 2 ? 3 : 7;
    struct CMUnitTest *each = tests + 14;
    if (getenv("CAROM_TEST_MIXED") != NULL)
        return run_mixed();
    if (setenv("POCL_DEVICES", pocl_devices, 1) != 0)
        return 1;
    for (size_t k = 0; k < COUNT_OF(words); k++)
        for (size_t i = k % stride; i < REQUESTS; i += stride) {
            snprintf(names[k][i], sizeof names[k][i], "%s: %s", words[k], requests[i].name);
            *each++ = (struct CMUnitTest){names[k][i], functions[k], NULL, NULL, (void *)(uintptr_t)&requests[i]};
        }
    return cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
