/* SPDX-License-Identifier: MIT */
/* carom in a program that has OpenCL of its own (carom_opencl.h): its cl_context, its cl_mem, its queue. The device is
 * PoCL as it is, which shares the host's memory, and seen as discrete. */
#include "tests/support/cl_caller.h"
#include "tests/support/requests.h"

enum { SEED = 33, COUNT = 3008 /* whole groups of lanes */, SIDES = 6, FILL = 0xa5 };

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void test_same_requests(void **state)
{
    caller c = caller_open(state);
    fixture m = fixture_make(SEED, scene_sphere(SIDES), COUNT / 4, 1);
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0);
    carom_mesh *mesh = scene_mesh(context, &m.s);
    carom_device_info info = {.size = sizeof info};
    const int calls = cl_watched_calls;
    assert_int_equal(carom_context_get_device(context, &info, NULL), CAROM_OK);
    assert_int_equal(info.index, UINT32_MAX);
    assert_string_equal(info.name, test_need_device().name);
    for (size_t i = 0; i < REQUESTS; i++) {
        carom_error err = {0};
        if (!request_is_for(&requests[i], &info))
            continue;
        batch_result expected = request_answer(&requests[i], &m), got = batch_result_alloc(&requests[i], &m);
        test_ok(requests[i].name, request_ask(&requests[i], context, mesh, &m, &got, &err), &err);
        assert_int_equal(got.stats.fallen_back, 0);
        batch_result_compare(&requests[i], &m, &expected, &got, "the caller's cl_context");
        batch_result_free(&got);
        batch_result_free(&expected);
    }
    assert_int_equal(cl_watched_calls, calls);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    fixture_free(&m);
    caller_close(&c);
    cl_expect_none("the caller's cl_context");
}

/* ---- between kernels of the caller ------------------------------------------------------------------------------- */

/* The same number from the kernel and from C: every operation is exact. */
static const char kernels[] = "__kernel void place(__global float *to)\n"
                              "{\n"
                              "    uint i = get_global_id(0);\n"
                              "    to[i] = (float)(i * 2654435761u >> 8) * 0x1p-22f - 2.0f;\n"
                              "}\n"
                              "__kernel void halve(__global const float *from, __global float *to)\n"
                              "{\n"
                              "    uint i = get_global_id(0);\n"
                              "    to[i] = from[i] * 0.5f;\n"
                              "}\n";
static float place(uint32_t i)
{
    return (float)(i * UINT32_C(2654435761) >> 8) * 0x1p-22f - 2.0f;
}

static cl_program build(const caller *c)
{
    const char *text = kernels;
    cl_int code;
    const cl_program program = clCreateProgramWithSource(c->context, 1, &text, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 1, &c->device, "-cl-std=CL1.2", NULL, NULL), CL_SUCCESS);
    return program;
}

/* Runs a kernel with one or two memory objects on the caller's queue, to its end. */
static void run(const caller *c, cl_program program, const char *name, cl_mem first, cl_mem second, size_t items)
{
    cl_int code;
    const cl_kernel kernel = clCreateKernel(program, name, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof first, &first), CL_SUCCESS);
    if (second != NULL)
        assert_int_equal(clSetKernelArg(kernel, 1, sizeof second, &second), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(c->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(c->queue), CL_SUCCESS);
    assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Room before and behind the arrays in their memory, in floats: parts that carom must not touch. */
enum { BEFORE = 5, BEHIND = 9, PLACES = BEFORE + 3 * COUNT + BEHIND, TIMES = BEFORE + COUNT + BEHIND };

/* Arrays of a first hit and of closest points, in the caller's memory or on the host. */
typedef struct columns {
    const float *center;
    float *t, *distance;
    int32_t *triangle;
} columns;

static void ask_both(carom_context *context, const scene *s, const columns *a, carom_stats *stats)
{
    static const float down[] = {0, 0, -1}, radius = 0.125f;
    const carom_mesh_sweep_desc sweep = {.batch = {.size = sizeof sweep, .count = COUNT},
                                         .center = carom_xyz(a->center),
                                         .velocity = carom_repeat(down),
                                         .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    const carom_mesh_hit_result first = {.size = sizeof first, .t = a->t, .triangle = a->triangle};
    const carom_mesh_closest_desc near = {.batch = {.size = sizeof near, .count = COUNT},
                                          .center = carom_xyz(a->center)};
    const carom_mesh_closest_result distances = {.size = sizeof distances, .distance = a->distance};
    carom_mesh *mesh = scene_mesh(context, s);
    carom_error err = {0};
    test_ok("closest", carom_mesh_closest(mesh, &near, &distances, stats, &err), &err);
    test_ok("sweep", carom_mesh_sweep_first(mesh, &sweep, &first, stats, &err), &err);
    carom_mesh_destroy(mesh);
}

/* What the CPU says, in memory that has the caller's filling around the arrays. */
typedef struct arrays {
    float places[PLACES], t[TIMES], distance[TIMES], half[TIMES];
    int32_t triangle[TIMES]; /* begins its memory: a kernel's argument as it is */
} arrays;

static void answer(const scene *s, arrays *e)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    memset(e, FILL, sizeof *e);
    for (uint32_t i = 0; i < PLACES; i++)
        e->places[i] = place(i);
    ask_both(cpu, s, &(columns){e->places + BEFORE, e->t + BEFORE, e->distance + BEFORE, e->triangle}, NULL);
    for (size_t i = 0; i < TIMES; i++)
        e->half[i] = e->t[i] * 0.5f;
    carom_context_destroy(cpu);
}

/* Fails if the caller's memory holds other bytes; ends it. */
static void expect_bytes(const caller *c, cl_mem memory, const void *bytes, size_t size, const char *what)
{
    unsigned char *got = test_alloc(size, 1);
    get(c, memory, got, size);
    for (size_t i = 0; i < size; i++)
        if (got[i] != ((const unsigned char *)bytes)[i])
            fail_msg("%s: byte %zu is %02x, not %02x", what, i, got[i], ((const unsigned char *)bytes)[i]);
    free(got);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
}

static cl_mem filled(const caller *c, size_t bytes)
{
    unsigned char *filling = test_alloc(bytes, 1);
    const cl_mem memory = memory_of(c, CL_MEM_READ_WRITE, bytes);
    memset(filling, FILL, bytes);
    put(c, memory, filling, bytes);
    free(filling);
    return memory;
}

/* A kernel writes positions, carom sweeps them, a kernel reads times; carom's objects end before the caller looks. */
static void play(const caller *c, cl_program program, carom_context *context, const scene *s, const arrays *e,
                 carom_stats *stats)
{
    const cl_mem places = filled(c, sizeof e->places), t = filled(c, sizeof e->t), half = filled(c, sizeof e->half),
                 distance = filled(c, sizeof e->distance), triangle = filled(c, sizeof e->triangle);
    run(c, program, "place", places, NULL, PLACES);
    const int calls = cl_watched_calls;
    carom_buffer *buffers[] = {wrap(context, places, 4 * BEFORE, 12 * COUNT), wrap(context, t, 4 * BEFORE, 4 * COUNT),
                               wrap(context, distance, 0, sizeof e->distance), wrap(context, triangle, 0, 4 * COUNT)};
    const columns a = {carom_buffer_address(buffers[0]), carom_buffer_address(buffers[1]),
                       (float *)carom_buffer_address(buffers[2]) + BEFORE, carom_buffer_address(buffers[3])};
    carom_buffer_info info = {.size = sizeof info};
    assert_int_equal(carom_buffer_get_info(buffers[1], &info, NULL), CAROM_OK);
    assert_true(info.where == CAROM_BUFFER_DEVICE && !info.reachable && info.bytes == 4 * COUNT);
    ask_both(context, s, &a, stats);
    const size_t fetched = cl_fetched;
    ask_both(context, s, &a, stats); /* no probes any more */
    assert_int_equal(cl_fetched, fetched);
    assert_int_equal(cl_watched_calls, calls);
    run(c, program, "halve", t, half, TIMES);
    for (size_t i = 0; i < COUNT_OF(buffers); i++)
        carom_buffer_destroy(buffers[i]);
    expect_bytes(c, places, e->places, sizeof e->places, "places");
    expect_bytes(c, t, e->t, sizeof e->t, "times");
    expect_bytes(c, distance, e->distance, sizeof e->distance, "distances");
    expect_bytes(c, triangle, e->triangle, sizeof e->triangle, "triangles");
    expect_bytes(c, half, e->half, sizeof e->half, "halves");
}

static void test_between_kernels(void **state)
{
    static arrays e;
    caller c = caller_open(state);
    const cl_program program = build(&c);
    scene s = scene_sphere(SIDES);
    carom_stats stats = {.size = sizeof stats};
    answer(&s, &e);
    for (int backend = CAROM_BACKEND_AUTO; backend <= CAROM_BACKEND_OPENCL; backend += 2) {
        carom_context *context = share(&c, (carom_backend)backend, 0);
        play(&c, program, context, &s, &e, &stats);
        assert_int_equal(stats.on_device, COUNT); /* of auto too, few as they are: nothing crosses */
        carom_context_destroy(context);
    }
    scene_free(&s);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
    caller_close(&c);
    cl_expect_none("between kernels");
}

/* Pairs, and what the buffer's own functions do: an offset of any alignment. */
static void test_pairs_and_transfers(void **state)
{
    enum { AT = 3, BYTES = 1 << 20 };
    caller c = caller_open(state);
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0), *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    const cl_mem memory = filled(&c, AT + BYTES + 1);
    carom_buffer *buffer = wrap(context, memory, AT, BYTES);
    queries q = queries_mixed(SPHERES, SEED, COUNT);
    inputs in = inputs_of(&q);
    answers expected = answers_alloc(SPHERES, q.count, FILL), got = {.type = SPHERES, .count = q.count};
    unsigned char edge[2], *base = carom_buffer_address(buffer);
    size_t used = 0;
    carom_error err = {0};
    void *map = NULL;
    ask(cpu, &q, &expected, ALL_FIELDS);
    for (int i = 0; query_scalar_column(SPHERES, i) >= 0; i++, used += 4 * q.count) {
        test_ok("write", carom_buffer_write(buffer, used, in.scalars[i].data, 4 * q.count, &err), &err);
        in.scalars[i].data = (const float *)(const void *)(base + used);
    }
    for (int f = 0; f < query_fields(SPHERES); f++, used += 4 * q.count)
        got.field[f].data = base + used;
    assert_true(used <= BYTES);
    test_ok("pairs", ask_as(context, SPHERES, q.count, &in, &got, ALL_FIELDS, NULL, &err), &err);
    test_ok("map", carom_buffer_map(buffer, 0, BYTES, CAROM_ACCESS_READ_WRITE, &map, &err), &err);
    for (int f = 0; f < query_fields(SPHERES); f++)
        assert_memory_equal(expected.field[f].data, got.field[f].data, q.count * query_field_bytes(SPHERES, f));
    base[0] = 1;
    test_ok("unmap", carom_buffer_unmap(buffer, &err), &err);
    get(&c, memory, edge, 2);
    assert_int_equal(edge[0], FILL);
    unsigned char *all = test_alloc(AT + BYTES + 1, 1);
    get(&c, memory, all, AT + BYTES + 1);
    assert_true(all[AT - 1] == FILL && all[AT] == 1 && all[AT + BYTES] == FILL);
    free(all);
    answers_free(&expected);
    queries_free(&q);
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    caller_close(&c);
    cl_expect_none("pairs");
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* The caller lets go of all that it has; carom still works, and then nothing is left. */
static void test_caller_first(void **state)
{
    static arrays e;
    caller c = caller_open(state);
    scene s = scene_sphere(SIDES);
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0);
    carom_error err = {0};
    answer(&s, &e);
    const cl_mem places = filled(&c, sizeof e.places), t = filled(&c, sizeof e.t);
    put(&c, places, e.places, sizeof e.places);
    carom_buffer *in = wrap(context, places, 4 * BEFORE, 12 * COUNT), *out = wrap(context, t, 4 * BEFORE, 4 * COUNT);
    assert_int_equal(clReleaseMemObject(places), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(t), CL_SUCCESS);
    caller_close(&c);
    assert_int_equal(cl_held[HELD_DEVICES], 1);
    float *distance = test_alloc(COUNT, 4), *got = test_alloc(COUNT, 4);
    int32_t *triangle = test_alloc(COUNT, 4);
    ask_both(context, &s, &(columns){carom_buffer_address(in), carom_buffer_address(out), distance, triangle}, NULL);
    carom_context_destroy(context); /* the buffers keep it */
    test_ok("read", carom_buffer_read(out, 0, got, 4 * COUNT, &err), &err);
    assert_memory_equal(got, e.t + BEFORE, 4 * COUNT);
    assert_memory_equal(distance, e.distance + BEFORE, 4 * COUNT);
    carom_buffer_destroy(in);
    carom_buffer_destroy(out);
    cl_expect_none("the caller first");
    free(triangle);
    free(got);
    free(distance);
    scene_free(&s);
}

/* A context on a part of the device. The part itself stays until the process ends: a thread of PoCL 3.1 may still look
 * at it after all its commands have finished. */
static void test_sub_device(void **state)
{
    static const cl_device_partition_property parts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                         CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_id part = NULL;
    caller whole = caller_open(state);
    const cl_int code = clCreateSubDevices(whole.device, parts, 1, &part, NULL);
    caller_close(&whole);
    if (code != CL_SUCCESS)
        test_skip("sub-devices", "this device has no parts");
    caller c = caller_on(part);
    fixture m = fixture_make(SEED, scene_sphere(SIDES), COUNT / 4, 1);
    const request *q = &requests[SWEEP];
    batch_result expected = request_answer(q, &m), got = batch_result_alloc(q, &m);
    carom_error err = {0};
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0);
    caller_close(&c);
    test_ok(q->name, request_ask(q, context, NULL, &m, &got, &err), &err);
    batch_result_compare(q, &m, &expected, &got, "a sub-device");
    carom_context_destroy(context);
    batch_result_free(&got);
    batch_result_free(&expected);
    fixture_free(&m);
    cl_expect_none("a sub-device");
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

typedef struct objects {
    int held[HELD_KINDS];
} objects;

static objects now_held(void)
{
    objects o;
    memcpy(o.held, cl_held, sizeof o.held);
    return o;
}

static void expect_held(const objects *before, const char *label)
{
    for (int i = 0; i < HELD_MAPS; i++)
        if (before->held[i] != cl_held[i])
            fail_msg("%s: %d objects of kind %d, not %d", label, cl_held[i], i, before->held[i]);
}

static int allocations_left;
static void *scarce_alloc(void *user, size_t size, size_t alignment)
{
    (void)user, (void)alignment;
    return allocations_left-- > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : NULL;
}

static void any_free(void *user, void *memory)
{
    (void)user;
    free(memory);
}

/* Each call of OpenCL that creation makes fails, and each allocation: nothing is lost. */
static void test_failing_creation(void **state)
{
    caller c = caller_open(state);
    const objects before = now_held();
    for (cl_call call = 0; call < CALL_KINDS; call++) {
        carom_context *context = NULL;
        carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
        carom_error err = {0};
        cl_sabotage(call, 1, 0);
        const carom_status status = share_as(&c, &desc, &context, &err);
        const int called = cl_calls(call);
        cl_relieve();
        const int must_fail = call == CALL_QUEUE || (call >= CALL_PROGRAM && call <= CALL_LAUNCH);
        assert_true(called > 0 || !must_fail);
        assert_true((status == CAROM_OK) == (context != NULL) && (context != NULL) == (err.message[0] == '\0'));
        if (must_fail && status == CAROM_OK)
            fail_msg("%s fails, and the status is %s", cl_call_name(call), carom_status_name(status));
        carom_context_destroy(context);
        expect_held(&before, cl_call_name(call));
    }
    carom_status status = CAROM_ERROR_OUT_OF_MEMORY;
    const cl_mem memory = memory_of(&c, CL_MEM_READ_WRITE, 64);
    const objects with_memory = now_held();
    for (int room = 0; status != CAROM_OK; room++) {
        carom_context *context = NULL;
        carom_buffer *buffer = NULL;
        carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
        carom_error err = {0};
        desc.threads = 1;
        desc.allocator = (carom_allocator){scarce_alloc, any_free, NULL};
        allocations_left = room;
        status = share_as(&c, &desc, &context, &err);
        if (status == CAROM_OK)
            status = carom_buffer_wrap_opencl(context, memory, 0, 64, &buffer, &err);
        if (status != CAROM_OK)
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "memory");
        assert_true((status == CAROM_OK) == (buffer != NULL));
        carom_buffer_destroy(buffer);
        carom_context_destroy(context);
        expect_held(&with_memory, "an allocation");
    }
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    caller_close(&c);
    cl_expect_none("failing creation");
}

static void test_bad_contexts(void **state)
{
    caller c = caller_open(state);
    const objects before = now_held();
    carom_opencl_desc cl = {.size = sizeof cl, .context = c.context, .device = c.device};
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device = NULL;
    const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;
    test_error(carom_context_create_opencl(&desc, NULL, &context, &err), bad, &err, "cl must not be NULL");
    test_error(carom_context_create_opencl(&desc, &cl, NULL, &err), bad, &err, "out must not be NULL");
    cl.size = 8;
    test_error(carom_context_create_opencl(&desc, &cl, &context, &err), bad, &err, "carom_opencl_desc");
    cl = (carom_opencl_desc){.size = sizeof cl, .device = c.device};
    test_error(carom_context_create_opencl(&desc, &cl, &context, &err), bad, &err, "cl.context must not be NULL");
    cl = (carom_opencl_desc){.size = sizeof cl, .context = c.context};
    test_error(carom_context_create_opencl(&desc, &cl, &context, &err), bad, &err, "cl.device must not be NULL");
    cl_seen_members = (cl_device_id)(void *)&cl; /* which is only compared */
    for (int backend = CAROM_BACKEND_AUTO; backend <= CAROM_BACKEND_OPENCL; backend += 2) {
        desc.backend = (carom_backend)backend;
        test_error(share_as(&c, &desc, &context, &err), bad, &err,
                   "cl.device is none of the devices of cl.context, which has 1");
    }
    cl_seen_members = NULL;
    desc.backend = CAROM_BACKEND_CPU;
    test_error(share_as(&c, &desc, &context, &err), bad, &err, "backend is cpu (1)");
    desc.backend = (carom_backend)3;
    test_error(share_as(&c, &desc, &context, &err), bad, &err, "backend is 3");
    desc.backend = CAROM_BACKEND_OPENCL;
    desc.device = "0";
    cl = (carom_opencl_desc){.size = sizeof cl, .context = c.context, .device = c.device};
    test_error(carom_context_create_opencl(&desc, &cl, &context, &err), bad, &err, "device is '0'; it must be NULL");
    desc.size = 4;
    test_error(carom_context_create_opencl(&desc, &cl, &context, &err), bad, &err, "carom_context_desc");
    desc = test_desc(CAROM_BACKEND_OPENCL);
    cl_seen_as.no_compiler = 1;
    test_error(share_as(&c, &desc, &context, &err), CAROM_ERROR_NO_DEVICE, &err, "no compiler");
    cl_seen_as.no_compiler = 0;
    assert_null(context);
    expect_held(&before, "bad contexts");
    caller_close(&c);
    cl_expect_none("bad contexts");
}

static void try_wrap(carom_context *context, cl_mem memory, uint64_t offset, uint64_t bytes, carom_status expected,
                     const char *words)
{
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_error(carom_buffer_wrap_opencl(context, memory, offset, bytes, &buffer, &err), expected, &err, words);
    assert_null(buffer);
}

static void try_flags(const caller *c, carom_context *context)
{
    static const struct {
        cl_mem_flags flags;
        const char *words;
    } limits[] = {{CL_MEM_HOST_NO_ACCESS, "memory was made with CL_MEM_HOST_NO_ACCESS"},
                  {CL_MEM_HOST_WRITE_ONLY, "memory was made with CL_MEM_HOST_WRITE_ONLY"},
                  {CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, "memory was made with CL_MEM_HOST_WRITE_ONLY"},
                  {CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY,
                   "memory was made with CL_MEM_WRITE_ONLY and CL_MEM_HOST_READ_ONLY"}};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        const cl_mem memory = memory_of(c, limits[i].flags, 64);
        try_wrap(context, memory, 0, 64, CAROM_ERROR_INVALID_ARGUMENT, limits[i].words);
        assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    }
}

static void try_image(const caller *c, carom_context *context)
{
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_int code;
    const cl_mem image = clCreateImage(c->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
    if (code != CL_SUCCESS) /* a device may have none */
        return;
    cl_held[HELD_BUFFERS]++; /* the shim counts its release */
    try_wrap(context, image, 0, 64, CAROM_ERROR_INVALID_ARGUMENT, "memory is an image or a pipe (0x10f1)");
    assert_int_equal(clReleaseMemObject(image), CL_SUCCESS);
}

static void test_bad_memory(void **state)
{
    const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;
    caller c = caller_open(state), other = caller_on(c.device);
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0), *ordinary = test_device(0, 0);
    const cl_mem memory = memory_of(&c, CL_MEM_READ_WRITE, 64), foreign = memory_of(&other, CL_MEM_READ_WRITE, 64);
    const objects before = now_held();
    carom_error err = {0};
    test_error(carom_buffer_wrap_opencl(context, memory, 0, 64, NULL, &err), bad, &err, "out must not be NULL");
    try_wrap(NULL, memory, 0, 64, bad, "context must not be NULL");
    try_wrap(context, NULL, 0, 64, bad, "memory must not be NULL");
    try_wrap(ordinary, memory, 0, 64, bad, "context was not made by carom_context_create_opencl");
    try_wrap(context, foreign, 0, 64, bad, "memory belongs to another cl_context");
    try_wrap(context, memory, 0, 0, bad, "bytes is 0");
    try_wrap(context, memory, 1, 64, bad, "offset 1 and bytes 64 reach beyond the end of memory, which has 64 bytes");
    try_wrap(context, memory, 65, 1, bad, "beyond the end");
    try_wrap(context, memory, UINT64_MAX, 2, bad, "beyond the end");
    try_wrap(context, memory, 2, UINT64_MAX, bad, "beyond the end");
    cl_seen_whole = foreign;
    try_wrap(context, memory, 0, 64, bad, "memory is a sub-buffer");
    cl_seen_whole = NULL;
    try_flags(&c, context);
    try_image(&c, context);
    carom_buffer *buffer = wrap(context, memory, 16, 16);
    try_wrap(context, memory, 31, 1, bad, "another buffer of this context has some of the 1 bytes from offset 31 on");
    try_wrap(context, memory, 0, 17, bad, "another buffer of this context");
    carom_buffer *sides[] = {wrap(context, memory, 0, 16), wrap(context, memory, 32, 32)};
    carom_buffer_destroy(sides[0]);
    carom_buffer_destroy(sides[1]);
    carom_buffer_destroy(buffer);
    expect_held(&before, "bad memory");
    carom_context_destroy(context);
    carom_context_destroy(ordinary);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(foreign), CL_SUCCESS);
    caller_close(&other);
    caller_close(&c);
    cl_expect_none("bad memory");
}

/* A device that auto cannot use: the CPU answers and says why, and there is no device for the caller's memory. */
static void test_refused_by_auto(void **state)
{
    caller c = caller_open(state);
    fixture m = fixture_make(SEED, scene_sphere(SIDES), COUNT / 4, 1);
    const request *q = &requests[SWEEP];
    batch_result expected = request_answer(q, &m), got = batch_result_alloc(q, &m);
    const cl_mem memory = memory_of(&c, CL_MEM_READ_WRITE, 64);
    carom_error err = {0};
    cl_seen_as.no_compiler = 1;
    carom_context *context = share(&c, CAROM_BACKEND_AUTO, 1);
    test_ok(q->name, request_ask(q, context, NULL, &m, &got, &err), &err);
    batch_result_compare(q, &m, &expected, &got, "a device without a compiler");
    assert_int_equal(got.stats.fallen_back, got.stats.queries);
    assert_non_null(strstr(got.stats.fallback_reason, "no compiler"));
    try_wrap(context, memory, 0, 64, CAROM_ERROR_NO_DEVICE, "no compiler");
    cl_seen_as.no_compiler = 0;
    carom_context_destroy(context);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    batch_result_free(&got);
    batch_result_free(&expected);
    fixture_free(&m);
    caller_close(&c);
    cl_expect_none("refused by auto");
}

/* A device that fails in a batch. The caller's objects are none the worse. */
static void test_given_up(void **state)
{
    static arrays e;
    caller c = caller_open(state);
    const cl_program program = build(&c);
    scene s = scene_sphere(SIDES);
    const cl_mem memory = memory_of(&c, CL_MEM_READ_WRITE, 64);
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0);
    carom_buffer *buffer = wrap(context, memory, 0, 32);
    queries q = queries_mixed(SWEEP, SEED, 64);
    const inputs in = inputs_of(&q);
    answers out = answers_alloc(SWEEP, q.count, FILL);
    carom_error err = {0};
    cl_sabotage(CALL_LAUNCH, 1, 1);
    test_error(ask_as(context, SWEEP, q.count, &in, &out, ALL_FIELDS, NULL, &err), CAROM_ERROR_DEVICE_LOST, &err, "");
    cl_relieve();
    try_wrap(context, memory, 32, 32, CAROM_ERROR_DEVICE_LOST, "given up");
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
    answer(&s, &e);
    context = share(&c, CAROM_BACKEND_OPENCL, 0);
    play(&c, program, context, &s, &e, NULL);
    carom_context_destroy(context);
    answers_free(&out);
    queries_free(&q);
    scene_free(&s);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
    caller_close(&c);
    cl_expect_none("given up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_same_requests), ON_BOTH(test_between_kernels), ON_BOTH(test_pairs_and_transfers),
        ON_BOTH(test_caller_first),  ON_BOTH(test_sub_device),      ON_BOTH(test_failing_creation),
        ON_BOTH(test_bad_contexts),  ON_BOTH(test_bad_memory),      ON_BOTH(test_refused_by_auto),
        ON_BOTH(test_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
