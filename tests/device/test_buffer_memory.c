/* SPDX-License-Identifier: MIT */
/* Buffers in the memory of a discrete device: who answers a call whose arrays lie there, addresses that the host cannot
 * touch, calls that refuse them, and a device that has no memory for a buffer or fails while it has the arrays. */
#include "tests/support/arenas.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- memory of a discrete device --------------------------------------------------------------------------------- */

static void silent(void *user, carom_log_level level, const char *line)
{
    *(int *)user += level <= CAROM_LOG_WARNING && strstr(line, "lies in the host's memory") != NULL;
}

static carom_context *open_discrete(carom_backend backend, uint64_t auto_from, int *warnings)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    (void)test_need_device();
    cl_seen_as.discrete = 1;
    cl_relieve();
    desc.backend = backend;
    desc.device = getenv("CAROM_TEST_DEVICE");
    desc.auto_from = auto_from;
    desc.device_chunk = 700;
    desc.log = silent;
    desc.log_user = warnings;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* The device answers a small batch whose arrays it has, and the CPU one of the program's arrays. */
static void test_auto(void **state)
{
    int warnings = 0;
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_AUTO, 0, &warnings);
    for (int where = -1; where <= CAROM_BUFFER_DEVICE; where++) {
        arena a = arena_make(context, where);
        const call how = {context, NULL, &a, &layouts[0], CAROM_ACCURACY_FAST, 0};
        carom_stats stats = {.size = sizeof stats};
        carom_error err = {0};
        test_ok("auto", pair_sweeps(&how, &stats, &err), &err);
        assert_int_equal(stats.on_device, where == CAROM_BUFFER_DEVICE ? stats.queries : 0);
        assert_int_equal(stats.on_cpu, where == CAROM_BUFFER_DEVICE ? 0 : stats.queries);
        arena_free(&a);
    }
    carom_context_destroy(context);
    cl_expect_none("auto");
}

static void expect_fault(volatile char *at)
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *at = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void test_far(void **state)
{
    (void)state;
    int warnings = 0;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL, 1, &warnings);
    arena a = arena_make(context, CAROM_BUFFER_DEVICE), host = arena_make(context, CAROM_BUFFER_HOST);
    carom_buffer_info info = {.size = sizeof info};
    unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
    carom_error err = {0};
    void *at = NULL;
    assert_int_equal(carom_buffer_get_info(a.buffer, &info, NULL), CAROM_OK);
    assert_int_equal(info.where, CAROM_BUFFER_DEVICE);
    assert_int_equal(info.reachable, 0);
    assert_int_equal(carom_buffer_get_info(host.buffer, &info, NULL), CAROM_OK);
    assert_int_equal(info.reachable, 1);
    expect_fault((volatile char *)a.base + 12345);
    test_ok("write", carom_buffer_write(a.buffer, 4090, bytes, 8, &err), &err);
    test_ok("map", carom_buffer_map(a.buffer, 4092, 8, CAROM_ACCESS_READ_WRITE, &at, &err), &err);
    assert_ptr_equal(at, a.base + 4092);
    assert_memory_equal(at, bytes + 2, 6);
    assert_int_equal(((unsigned char *)at)[7], FILL);
    memset(at, 0, 2);
    test_ok("unmap", carom_buffer_unmap(a.buffer, &err), &err);
    expect_fault(at);
    memset(bytes + 2, 0, 2);
    test_ok("read", carom_buffer_read(a.buffer, 4090, back, 8, &err), &err);
    assert_memory_equal(bytes, back, 8);
    test_error(carom_buffer_write(host.buffer, 0, a.base, 8, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "data lies in a buffer on the device");
    test_ok("map", carom_buffer_map(a.buffer, 0, 1, CAROM_ACCESS_WRITE, &at, &err), &err);
    arena_free(&a); /* mapped */
    arena_free(&host);
    carom_context_destroy(context);
    cl_expect_none("a buffer");
}

/* Images of meshes are the program's memory, and a child of fork() has no device. */
static void test_far_refused(void **state)
{
    (void)state;
    int warnings = 0;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL, 1, &warnings);
    arena a = arena_make(context, CAROM_BUFFER_DEVICE);
    carom_mesh *mesh = scene_mesh(context, &walls), *other = NULL;
    uint64_t bytes = 0;
    carom_error err = {0};
    const char *words = "image lies in a buffer on the device";
    test_error(carom_mesh_get_image(mesh, a.base, ROOM, &bytes, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, words);
    test_error(carom_mesh_open_image(context, a.base, ROOM, &other, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, words);
    const pid_t child = fork();
    if (child == 0) {
        const carom_status got = carom_buffer_read(a.buffer, 0, &bytes, sizeof bytes, NULL);
        const carom_status put_back = carom_buffer_write(a.buffer, 0, &bytes, sizeof bytes, NULL);
        carom_buffer_destroy(a.buffer);
        _exit(got != CAROM_ERROR_NO_DEVICE || put_back != CAROM_ERROR_NO_DEVICE);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    carom_mesh_destroy(mesh);
    arena_free(&a);
    carom_context_destroy(context);
    cl_expect_none("refused");
}

/* ---- buffers of other contexts ----------------------------------------------------------------------------------- */

static carom_status move_pair(carom_context *context, const float *numbers, float *t, carom_error *err)
{
    const carom_sweep_pairs_desc desc = {.batch = {.size = sizeof desc, .count = 1},
                                         .center = carom_xyz(numbers),
                                         .velocity = carom_xyz(numbers + 3),
                                         .radius = carom_scalars_of(numbers + 6),
                                         .p0 = carom_xyz(numbers + 7),
                                         .p1 = carom_xyz(numbers + 10),
                                         .p2 = carom_xyz(numbers + 13)};
    const carom_sweep_result out = {.size = sizeof out, .t_first = t};
    return carom_sweep_pairs(context, &desc, &out, NULL, err);
}

static void refuse_foreign(carom_context *context, carom_buffer *own, float *foreign)
{
    static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;
    static float numbers[16], t;
    const carom_buffer_desc wrapped = {.size = sizeof wrapped, .bytes = 64, .host = foreign};
    carom_mesh_desc shape = scene_desc(&walls);
    carom_buffer *none = NULL;
    carom_mesh *mesh = scene_mesh(context, &walls), *other = NULL;
    uint64_t bytes = 0;
    carom_error err = {0};
    test_error(move_pair(context, foreign, &t, &err), bad, &err, "center.x lies in a buffer of another context");
    test_error(move_pair(context, numbers, foreign, &err), bad, &err, "t_first lies in a buffer of another context");
    test_ok("own memory", move_pair(context, numbers, &t, &err), &err);
    shape.vertices = carom_xyz(foreign);
    test_error(carom_mesh_create(context, &shape, &other, &err), bad, &err, "lies in a buffer of another context");
    test_error(carom_mesh_get_image(mesh, foreign, ROOM, &bytes, &err), bad, &err, "image lies in a buffer of another");
    test_error(carom_mesh_open_image(context, foreign, ROOM, &other, &err), bad, &err, "image lies in a buffer of");
    test_error(carom_buffer_create(context, &wrapped, &none, &err), bad, &err, "on the device of another context");
    if (own != NULL) {
        test_error(carom_buffer_write(own, 0, foreign, 4, &err), bad, &err, "data lies in a buffer of another context");
        test_error(carom_buffer_read(own, 0, foreign, 4, &err), bad, &err, "data lies in a buffer of another context");
    }
    assert_null(none);
    assert_null(other);
    carom_mesh_destroy(mesh);
}

/* The addresses of a context's buffer in calls of a context without buffers, with a host buffer, with a device buffer;
 * and of one that is mapped. More buffers than a page of the list of ranges has. */
static void test_foreign(void **state)
{
    enum { MANY = 600 };
    (void)state;
    int warnings = 0;
    carom_context *owner = open_discrete(CAROM_BACKEND_OPENCL, 1, &warnings);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = open_discrete(CAROM_BACKEND_OPENCL, 1, &warnings);
    carom_buffer *buffers[MANY];
    carom_buffer_desc desc = {.size = sizeof desc, .bytes = 4096, .where = CAROM_BUFFER_DEVICE};
    carom_error err = {0};
    for (int i = 0; i < MANY; i++)
        test_ok("create", carom_buffer_create(owner, &desc, &buffers[i], &err), &err);
    arena host = arena_make(cpu, CAROM_BUFFER_HOST), far = arena_make(device, CAROM_BUFFER_DEVICE);
    for (int i = 0; i < MANY; i += MANY - 1) {
        void *at = NULL;
        refuse_foreign(cpu, host.buffer, carom_buffer_address(buffers[i]));
        refuse_foreign(device, far.buffer, carom_buffer_address(buffers[i]));
        test_ok("map", carom_buffer_map(buffers[i], 0, 4096, CAROM_ACCESS_WRITE, &at, &err), &err);
        refuse_foreign(cpu, host.buffer, at);
    }
    arena_free(&host);
    refuse_foreign(cpu, NULL, carom_buffer_address(buffers[0]));
    for (int i = 0; i < MANY; i++)
        carom_buffer_destroy(buffers[i]);
    arena_free(&far);
    carom_context_destroy(owner);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("foreign buffers");
}

/* A buffer that the device has no memory for. */
static void test_scarce(void **state)
{
    static const carom_backend backends[] = {CAROM_BACKEND_OPENCL, CAROM_BACKEND_AUTO};
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = ROOM, .where = CAROM_BUFFER_DEVICE};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(backends); i++) {
        int warnings = 0;
        carom_buffer *buffer = NULL;
        carom_buffer_info info = {.size = sizeof info};
        carom_error err = {0};
        carom_context *context = open_discrete(backends[i], 1, &warnings);
        cl_scarce.exactly = ROOM;
        const carom_status status = carom_buffer_create(context, &desc, &buffer, &err);
        cl_relieve();
        if (backends[i] == CAROM_BACKEND_OPENCL) {
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "clCreateBuffer (a buffer)");
            assert_null(buffer);
        } else {
            test_ok("create", status, &err);
            assert_int_equal(warnings, 1);
            assert_int_equal(carom_buffer_get_info(buffer, &info, NULL), CAROM_OK);
            assert_int_equal(info.where, CAROM_BUFFER_HOST);
            assert_int_equal(info.reachable, 1);
        }
        carom_buffer_destroy(buffer);
        carom_context_destroy(context);
        cl_expect_none("a scarce device");
    }
}

/* Asks for pair sweeps while call number `at` of this kind fails, 0: none. Returns how many such calls there were. */
static int ask_failing(carom_backend backend, carom_accuracy accuracy, cl_call kind, int at, const arena *expected)
{
    int warnings = 0;
    carom_context *context = open_discrete(backend, 1, &warnings);
    arena a = arena_make(context, CAROM_BUFFER_DEVICE);
    const call how = {context, NULL, &a, &layouts[0], accuracy, 0};
    carom_error err = {0};
    failing_call = kind;
    failing_at = at;
    const carom_status status = pair_sweeps(&how, NULL, &err);
    failing_at = 0;
    const int count = cl_calls(kind);
    cl_relieve();
    if (at == 0 || status == CAROM_OK) {
        test_ok("a device that fails", status, &err);
        arena_compare(expected, &a, "a device that fails");
    } else {
        test_error(status,
                   cl_call_code(kind) == CL_MEM_OBJECT_ALLOCATION_FAILURE ? CAROM_ERROR_OUT_OF_MEMORY
                                                                          : CAROM_ERROR_DEVICE_LOST,
                   &err, " on ");
    }
    if (backend == CAROM_BACKEND_AUTO && (kind == CALL_LAUNCH || kind == CALL_BUFFER))
        assert_int_equal(status, CAROM_OK);
    arena_free(&a);
    carom_context_destroy(context);
    cl_expect_none("a device that fails");
    return count;
}

/* Where the CPU may take over, it finds the arrays, and the buffer gets its answers. What cannot be fetched or brought
 * back is an error. */
static void test_failures(void **state)
{
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_BUFFER, CALL_READ, CALL_WRITE, CALL_COMMAND};
    const carom_accuracy accuracy = *(const carom_accuracy *)*state;
    if (!test_need_device().fp64 && accuracy == CAROM_ACCURACY_EXACT)
        test_skip("binary64", "the device has none");
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    arena expected = arena_make(cpu, -1);
    const call how = {cpu, NULL, &expected, &layouts[0], accuracy, 0};
    carom_error err = {0};
    test_ok("cpu", pair_sweeps(&how, NULL, &err), &err);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        const int calls_made = ask_failing(CAROM_BACKEND_AUTO, accuracy, kinds[k], 0, &expected);
        for (int at = 1; at <= calls_made; at += 1 + calls_made / 7) {
            (void)ask_failing(CAROM_BACKEND_AUTO, accuracy, kinds[k], at, &expected);
            (void)ask_failing(CAROM_BACKEND_OPENCL, accuracy, kinds[k], at, &expected);
        }
    }
    arena_free(&expected);
    carom_context_destroy(cpu);
}

int main(void)
{
    static carom_accuracy fast = CAROM_ACCURACY_FAST, exact = CAROM_ACCURACY_EXACT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_far_refused),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_scarce),
        {"a device that fails", test_failures, NULL, NULL, &fast},
        {"a device that fails, exact", test_failures, NULL, NULL, &exact},
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
