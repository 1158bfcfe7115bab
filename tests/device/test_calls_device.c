/* SPDX-License-Identifier: MIT */
/* What every call with a batch must do on a device, asked of each by its type, in each form and both modes. Arrays may
 * lie in buffers; a dry run touches no array, and what it builds, probes and uploads is not made again; a device that
 * fails is reported, or the CPU answers with the same bits. The device is PoCL as it is, which shares the host's
 * memory, and seen as discrete. */
#include "tests/support/call_cases.h"
#include "tests/support/cl_shim.h"

#include <sys/mman.h>

/* Queries: so many that a device may sort them. */
enum { COUNT = 9000, SHARE = 30 };

static int seen_as_shared = 0, seen_as_discrete = 1;

/* Ends the test if there is no device that can be seen so. */
static carom_device_info need_device_as(int discrete)
{
    cl_seen_as.discrete = discrete;
    const carom_device_info device = test_need_device();
    if (!discrete && strcmp(device.kind, "gpu") == 0)
        test_skip("shared memory", "a GPU has memory of its own");
    cl_relieve();
    return device;
}

static carom_context *open_device(carom_backend backend)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device_lanes = cl_seen_as.discrete ? 1 : 0;
    desc.auto_from = 1;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* Without binary64 a device answers fast mode alone. */
static int is_for(call_choice choice, const carom_device_info *device)
{
    return device->fp64 || choice.accuracy == CAROM_ACCURACY_FAST;
}

static call_case *answer_of_cpu(call_choice choice)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    call_case *c = call_case_answer(choice, COUNT, SHARE, cpu);
    carom_context_destroy(cpu);
    return c;
}

static carom_mesh *mesh_of(carom_context *context)
{
    scene s = call_scene();
    carom_mesh *mesh = scene_mesh(context, &s);
    scene_free(&s);
    return mesh;
}

/* Runs `check` with a context for one in `stride` of the choices that the device answers. */
typedef void check_fn(call_choice choice, const call_case *expected, carom_context *context, carom_mesh *mesh);
static void for_each_choice(int discrete, carom_backend backend, int stride, check_fn *check)
{
    const carom_device_info device = need_device_as(discrete);
    stride *= test_effort(100) < 50 ? 3 : 1;
    for (int i = 0; i < call_choices(); i += stride) {
        const call_choice choice = call_choice_at(i);
        if (!is_for(choice, &device))
            continue;
        call_case *expected = answer_of_cpu(choice);
        carom_context *context = open_device(backend);
        carom_mesh *mesh = mesh_of(context);
        check(choice, expected, context, mesh);
        cl_relieve();
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        cl_expect_none(call_case_name(expected));
        call_case_free(expected);
    }
}

static void ask_well(call_case *c, carom_context *context, carom_mesh *mesh)
{
    carom_error err = {0};
    test_ok(call_case_name(c), call_case_ask(c, context, mesh, &err), &err);
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

static carom_buffer *buffer_of(carom_context *context, const call_case *c)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = c->bytes, .where = CAROM_BUFFER_DEVICE};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
    test_ok("write", carom_buffer_write(buffer, 0, c->memory, c->bytes, &err), &err);
    return buffer;
}

static void check_buffer(call_choice choice, const call_case *expected, carom_context *context, carom_mesh *mesh)
{
    call_case *c = call_case_make(choice, COUNT, SHARE);
    carom_buffer *buffer = buffer_of(context, c);
    carom_error err = {0};
    call_case_place(c, carom_buffer_address(buffer));
    ask_well(c, context, mesh);
    test_ok("read", carom_buffer_read(buffer, 0, c->memory, c->bytes, &err), &err);
    call_case_compare(expected, c, "arrays in a buffer");
    carom_buffer_destroy(buffer);
    call_case_free(c);
}

static void test_buffers(void **state)
{
    for_each_choice(*(const int *)*state, CAROM_BACKEND_OPENCL, 1, check_buffer);
}

/* ---- preparing --------------------------------------------------------------------------------------------------- */

/* Objects of programs, and uploads of a mesh, since cl_relieve. A discrete device has one copy of its own, of the
 * sort. */
static int made(void)
{
    const int copies = cl_seen_as.discrete && cl_seen.copied > 1 ? cl_seen.copied - 1 : 0;
    return cl_calls(CALL_PROGRAM) + cl_calls(CALL_BUILD) + cl_calls(CALL_KERNEL) + copies;
}

static void expect_nothing_made(const call_case *c)
{
    if (made() > 0)
        fail_msg("%s: %d programs and %d copies are made", call_case_name(c), cl_calls(CALL_PROGRAM), cl_seen.copied);
}

static void check_prepare(call_choice choice, const call_case *expected, carom_context *context, carom_mesh *mesh)
{
    call_case *c = call_case_make(choice, COUNT, SHARE);
    void *nothing = mmap(NULL, c->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(nothing != MAP_FAILED);
    call_case_place(c, nothing);
    call_case_batch(c)->prepare = 1;
    ask_well(c, context, mesh);
    call_case_expect_untouched(c, "prepared");
    assert_int_equal(c->stats.queries + c->stats.on_device + c->stats.on_cpu + c->stats.by_proof, 0);
    const uint64_t prepared = test_mesh_info(mesh).bytes;
    (void)munmap(nothing, c->bytes);
    call_case_place(c, c->memory);
    call_case_batch(c)->prepare = 0;
    cl_relieve();
    ask_well(c, context, mesh);
    expect_nothing_made(c);
    assert_int_equal(test_mesh_info(mesh).bytes, prepared);
    call_case_compare(expected, c, "after it was prepared");
    call_case_free(c);
}

static void test_prepare(void **state)
{
    for_each_choice(*(const int *)*state, CAROM_BACKEND_OPENCL, 1, check_prepare);
}

/* Where the arrays lie in a buffer, the programs that gather and scatter are prepared too. */
static void check_prepare_buffer(call_choice choice, const call_case *expected, carom_context *context,
                                 carom_mesh *mesh)
{
    call_case *c = call_case_make(choice, COUNT, SHARE);
    carom_buffer *buffer = buffer_of(context, c);
    carom_error err = {0};
    call_case_place(c, carom_buffer_address(buffer));
    call_case_batch(c)->prepare = 1;
    ask_well(c, context, mesh);
    call_case_batch(c)->prepare = 0;
    cl_relieve();
    ask_well(c, context, mesh);
    expect_nothing_made(c);
    test_ok("read", carom_buffer_read(buffer, 0, c->memory, c->bytes, &err), &err);
    call_case_compare(expected, c, "after it was prepared in a buffer");
    carom_buffer_destroy(buffer);
    call_case_free(c);
}

static void test_prepare_buffers(void **state)
{
    (void)state;
    for_each_choice(1, CAROM_BACKEND_OPENCL, 1, check_prepare_buffer);
}

/* The control: a call that was not prepared makes something, if a device answers it at all. */
static void check_unprepared(call_choice choice, const call_case *expected, carom_context *context, carom_mesh *mesh)
{
    call_case *c = call_case_make(choice, COUNT, SHARE);
    cl_relieve();
    ask_well(c, context, mesh);
    if (made() == 0 && c->stats.on_device > 0 && choice.number != CALL_sweep_pairs) /* which the context has built */
        fail_msg("%s: nothing is made", call_case_name(c));
    call_case_compare(expected, c, "not prepared");
    call_case_free(c);
}

static void test_unprepared(void **state)
{
    (void)state;
    for_each_choice(0, CAROM_BACKEND_OPENCL, 7, check_unprepared);
}

/* A batch that is too small for a device is none to prepare it for, and a device that fails is given up. */
static void test_prepare_auto(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        (void)need_device_as(0);
        carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
        carom_context *context = NULL;
        carom_device_info device = {.size = sizeof device};
        carom_error err = {0};
        call_case *c = call_case_make((call_choice){.number = CALL_sweep_pairs}, COUNT, SHARE);
        call_case_batch(c)->prepare = 1;
        test_ok("context", carom_context_create(&desc, &context, &err), &err);
        ask_well(c, context, NULL);
        assert_int_equal(carom_context_get_device(context, &device, NULL), CAROM_ERROR_NO_DEVICE);
        carom_context_destroy(context);
        desc.auto_from = 1;
        test_ok("context", carom_context_create(&desc, &context, &err), &err);
        cl_sabotage(CALL_BUILD, fails ? 1 : 0, 1);
        ask_well(c, context, NULL);
        cl_relieve();
        assert_int_equal(carom_context_get_device(context, &device, NULL), fails ? CAROM_ERROR_NO_DEVICE : CAROM_OK);
        assert_int_equal(c->stats.fallback_reason[0] != '\0', fails);
        call_case_expect_untouched(c, "prepared");
        call_case_free(c);
        carom_context_destroy(context);
        cl_expect_none("auto");
    }
}

/* ---- a device that fails ----------------------------------------------------------------------------------------- */

static const cl_call failing[] = {CALL_LAUNCH, CALL_COMMAND, CALL_WAIT, CALL_ARGUMENT, CALL_FLUSH};

/* One of the calls of OpenCL that a batch makes once its programs are built; *at is 0 if it makes none. */
static cl_call pick_call(call_case *c, carom_context *context, carom_mesh *mesh, int *at)
{
    const cl_call call = failing[(c->choice.number + (int)c->choice.form) % (int)COUNT_OF(failing)];
    ask_well(c, context, mesh);
    call_case_reset(c);
    cl_sabotage(call, 0, 0);
    ask_well(c, context, mesh);
    const int calls = cl_calls(call);
    call_case_reset(c);
    *at = calls == 0 ? 0 : 1 + (calls - 1) * (c->choice.number % 3) / 2;
    return call;
}

/* `opencl`: the failure and every later call say it. */
static void check_lost(call_choice choice, const call_case *expected, carom_context *context, carom_mesh *mesh)
{
    call_case *c = call_case_make(choice, COUNT, SHARE);
    carom_error err = {0};
    int at = 0;
    const cl_call call = pick_call(c, context, mesh, &at);
    (void)expected;
    cl_sabotage(call, at, 0);
    if (at > 0) {
        test_error(call_case_ask(c, context, mesh, &err), CAROM_ERROR_DEVICE_LOST, &err, "(-");
        assert_int_equal(err.native_code, cl_call_code(call));
        call_case_check(c, "lost");
        cl_relieve();
        test_error(call_case_ask(c, context, mesh, &err), CAROM_ERROR_DEVICE_LOST, &err, "given up");
    }
    call_case_free(c);
}

static void test_lost(void **state)
{
    for_each_choice(*(const int *)*state, CAROM_BACKEND_OPENCL, 1, check_lost);
}

/* `auto`: the CPU answers what the device has not, with the same bits, and says why. */
static void check_fallback(call_choice choice, const call_case *expected, carom_context *context, carom_mesh *mesh)
{
    call_case *c = call_case_make(choice, COUNT, SHARE);
    int at = 0;
    const cl_call call = pick_call(c, context, mesh, &at);
    cl_sabotage(call, at, 0);
    ask_well(c, context, mesh);
    call_case_compare(expected, c, "fallen back");
    if (at > 0 && cl_calls(call) >= at) {
        assert_true(c->stats.fallen_back > 0 && c->stats.fallback_reason[0] != '\0');
        cl_relieve();
        call_case_reset(c);
        ask_well(c, context, mesh);
        call_case_compare(expected, c, "after the device was lost");
        assert_int_equal(c->stats.on_device, 0);
    }
    call_case_free(c);
}

static void test_fallback(void **state)
{
    for_each_choice(*(const int *)*state, CAROM_BACKEND_AUTO, 1, check_fallback);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"arrays in buffers, shared memory", test_buffers, NULL, NULL, &seen_as_shared},
        {"arrays in buffers, discrete", test_buffers, NULL, NULL, &seen_as_discrete},
        {"prepared, shared memory", test_prepare, NULL, NULL, &seen_as_shared},
        {"prepared, discrete", test_prepare, NULL, NULL, &seen_as_discrete},
        cmocka_unit_test(test_prepare_buffers),
        cmocka_unit_test(test_prepare_auto),
        cmocka_unit_test(test_unprepared),
        {"opencl: lost, discrete", test_lost, NULL, NULL, &seen_as_discrete},
        {"auto: lost, shared memory", test_fallback, NULL, NULL, &seen_as_shared},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
