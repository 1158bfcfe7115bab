/* SPDX-License-Identifier: MIT */
/* A device that dies in the middle of a batch: what it has answered stands, the CPU answers the rest with the same bits,
 * log and statistics say so, and the device is not used again. This program stands between the library and the OpenCL
 * loader, for its own definitions of two calls come first. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include "lists.h"

enum { MANY = CAROM_AUTO_MIN_QUERIES, CHUNKS = 4, ROUNDS = 6, SEED = 58 };

/* The call of its kind, counted from 1, that fails; 0: none. */
typedef struct saboteur {
    int calls, fail_at;
} saboteur;
static saboteur launch, command;

static int fails(saboteur *s)
{
    return ++s->calls == s->fail_at;
}

/* A launch that the driver refuses. */
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint waits, const cl_event *wait,
                              cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                   const cl_event *, cl_event *);
    *(void **)&next = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    return fails(&launch) ? CL_OUT_OF_RESOURCES
                          : next(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

/* A command that was accepted and ended badly. */
cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value, size_t *used)
{
    cl_int (*next)(cl_event, cl_event_info, size_t, void *, size_t *);
    *(void **)&next = dlsym(RTLD_NEXT, "clGetEventInfo");
    cl_int code = next(event, what, size, value, used);
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && fails(&command))
        *(cl_int *)value = CL_OUT_OF_RESOURCES;
    return code;
}

static void sabotage(saboteur *s, int fail_at)
{
    launch = command = (saboteur){0, 0};
    s->fail_at = fail_at;
}

static void count_warnings(void *user, carom_log_level level, const char *line)
{
    (void)line;
    *(int *)user += level <= CAROM_LOG_WARNING;
}

static carom_context *open_device(carom_backend backend, int *warnings)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = backend;
    desc.device = getenv("CAROM_TEST_DEVICE");
    desc.device_chunk = MANY / CHUNKS;
    desc.log = count_warnings;
    desc.log_user = warnings;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* A large batch with known answers. */
typedef struct question {
    carom_stats (*ask)(const struct question *this, carom_context *context); /* and compare */
    uint64_t count;
    const queries *q;
    const answers *expected;
    const scene *s;
    const balls *b;
    const uint64_t *offsets;
    const int32_t *triangles;
} question;

static carom_stats ask_pairs(const question *this, carom_context *context)
{
    const queries *q = this->q;
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    inputs in = inputs_of(q);
    answers got = answers_alloc(q->type, q->count, 0xa5);
    test_ok("a large batch", ask_as(context, q->type, q->count, &in, &got, ALL_FIELDS, &stats, &err), &err);
    answers_compare(q, this->expected, &got, q->count, ALL_FIELDS, "a device that dies");
    answers_free(&got);
    return stats;
}

/* The whole list of a mesh: offsets of all balls, triangles of all hits. */
static carom_stats ask_list(carom_context *context, const question *this, uint64_t *offsets, int32_t *triangles)
{
    enum { CAPACITY = 4 * MANY };
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_mesh *mesh = NULL;
    const carom_mesh_desc shape = scene_desc(this->s);
    const carom_mesh_sweep_desc desc = balls_desc(this->b, 0, this->b->count);
    carom_mesh_hit_list list = {.size = sizeof list, .capacity = CAPACITY, .offsets = offsets, .triangle = triangles};
    test_ok("a mesh", carom_mesh_create(context, &shape, &mesh, &err), &err);
    test_ok("a large list", carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_ALL, &list, &stats, &err), &err);
    assert_int_equal(list.complete, this->b->count);
    carom_mesh_destroy(mesh);
    return stats;
}

static carom_stats ask_hits(const question *this, carom_context *context)
{
    uint64_t *offsets = test_alloc(this->count + 1, sizeof *offsets);
    int32_t *triangles = test_alloc(4 * MANY, sizeof *triangles);
    const carom_stats stats = ask_list(context, this, offsets, triangles);
    assert_memory_equal(offsets, this->offsets, (this->count + 1) * sizeof *offsets);
    assert_memory_equal(triangles, this->triangles, offsets[this->count] * sizeof *triangles);
    free(offsets);
    free(triangles);
    return stats;
}

static carom_stats ask_all(carom_context *context, const question *this)
{
    const carom_stats stats = this->ask(this, context);
    assert_int_equal(stats.on_device + stats.on_cpu, this->count);
    return stats;
}

/* Fail one call of a batch, an earlier one or a later: each of them if they are few, else ROUNDS of them, from
 * the first on and evenly, for drivers differ in how many there are. With less effort fewer, for each opens the device. */
static void check_auto(saboteur *s, const question *this)
{
    int died = 0, partly = 0;
    for (int fail_at = 1, stride = 0, calls = 1; fail_at <= calls; fail_at += stride) {
        int warnings = 0;
        carom_context *context = open_device(CAROM_BACKEND_AUTO, &warnings);
        carom_stats stats = ask_all(context, this); /* opens the device, builds and probes */
        assert_int_equal(stats.on_device, this->count);
        if (stride == 0) {
            sabotage(s, 0);
            ask_all(context, this);
            calls = s->calls;
            stride = 1 + (calls - 1) / (1 + (int)test_effort(ROUNDS - 1));
        }
        sabotage(s, fail_at);
        stats = ask_all(context, this);
        assert_true(s->calls >= fail_at);
        sabotage(s, 0);
        died++;
        partly += stats.on_device > 0;
        assert_true(stats.on_cpu > 0);
        assert_int_equal(stats.fallen_back, stats.on_cpu);
        assert_true(stats.fallback_reason[0] != '\0');
        assert_int_equal(warnings, 1);
        stats = ask_all(context, this);
        assert_int_equal(stats.on_device, 0);
        assert_int_equal(stats.fallen_back, this->count);
        carom_context_destroy(context);
    }
    assert_true(died > 1 && partly > 0);
}

static void test_auto(void **state)
{
    carom_context_destroy(test_device(0, 0)); /* ends the test if there is none */
    queries q = queries_mixed(SPHERES, SEED, MANY);
    answers expected = answers_alloc(q.type, q.count, 0x5a);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    ask(cpu, &q, &expected, ALL_FIELDS);
    const question pairs = {.ask = ask_pairs, .count = MANY, .q = &q, .expected = &expected};
    check_auto(*state, &pairs);
    carom_context_destroy(cpu);
    answers_free(&expected);
    queries_free(&q);
}

static void test_auto_list(void **state)
{
    carom_context_destroy(test_device(0, 0));
    scene s = scene_sphere(1);
    balls b = balls_mixed(SEED, MANY);
    for (size_t i = 0; i < MANY; i++) /* few hit: what a device without a GPU cannot do fast is not the question here */
        if (i % 64 != 0) {
            b.column[0][i] = 100.0f;
            b.column[4][i] = b.column[5][i] = b.column[6][i] = 0.0f;
        }
    uint64_t *offsets = test_alloc(MANY + 1, sizeof *offsets);
    int32_t *triangles = test_alloc(4 * MANY, sizeof *triangles);
    const question list = {
        .ask = ask_hits, .count = MANY, .s = &s, .b = &b, .offsets = offsets, .triangles = triangles};
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    (void)ask_list(cpu, &list, offsets, triangles);
    check_auto(*state, &list);
    carom_context_destroy(cpu);
    free(offsets);
    free(triangles);
    balls_free(&b);
    scene_free(&s);
}

static void test_opencl(void **state)
{
    carom_context_destroy(test_device(0, 0));
    int warnings = 0;
    queries q = queries_mixed(SPHERES, SEED, 5000);
    answers got = answers_alloc(q.type, q.count, 0xa5);
    inputs in = inputs_of(&q);
    carom_error err = {0};
    carom_context *context = open_device(CAROM_BACKEND_OPENCL, &warnings);
    test_ok("a batch", ask_as(context, q.type, q.count, &in, &got, ALL_FIELDS, NULL, &err), &err);
    sabotage(*state, 1);
    test_error(ask_as(context, q.type, q.count, &in, &got, ALL_FIELDS, NULL, &err), CAROM_ERROR_DEVICE_LOST, &err,
               "-5");
    sabotage(*state, 0);
    test_error(ask_as(context, q.type, q.count, &in, &got, ALL_FIELDS, NULL, &err), CAROM_ERROR_DEVICE_LOST, &err,
               "given up");
    carom_context_destroy(context);
    answers_free(&got);
    queries_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"auto: a launch fails", test_auto, NULL, NULL, &launch},
        {"auto: a command fails", test_auto, NULL, NULL, &command},
        {"auto: a launch for a list fails", test_auto_list, NULL, NULL, &launch},
        {"auto: a command for a list fails", test_auto_list, NULL, NULL, &command},
        {"opencl: a launch fails", test_opencl, NULL, NULL, &launch},
        {"opencl: a command fails", test_opencl, NULL, NULL, &command},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
