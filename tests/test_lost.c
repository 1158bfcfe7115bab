/* SPDX-License-Identifier: MIT */
/* A device that dies in the middle of a batch, of any kind: what it has answered stands, the CPU answers the rest with the
 * same bits, log and statistics say so, and the device is not used again. `opencl`, which may not go on with the CPU, says
 * that the device is lost. */
#include "cl_between.h"
#include "questions.h"

/* Ordinary queries are few: what a device without a GPU cannot do fast is not the question here. */
enum { MANY = CAROM_AUTO_MIN_QUERIES, SHARE = 128, FEW = 5000, SIDES = 16, CHUNKS = 4, SEED = 58 };

static material many, few;
static reply expected[QUESTIONS]; /* of many; of those that have been asked */
static int is_known[QUESTIONS];

static int make_materials(void **state)
{
    (void)state;
    many = material_make(SEED, scene_sphere(SIDES), MANY, SHARE);
    few = material_make(SEED, scene_sphere(SIDES), FEW, 1);
    return 0;
}

static int free_materials(void **state)
{
    (void)state;
    for (size_t i = 0; i < QUESTIONS; i++)
        if (is_known[i])
            reply_free(&questions[i], &expected[i]);
    material_free(&many);
    material_free(&few);
    return 0;
}

static const reply *expected_of(size_t i)
{
    if (!is_known[i])
        expected[i] = question_answer(&questions[i], &many);
    is_known[i] = 1;
    return &expected[i];
}

static void count_warnings(void *user, carom_log_level level, const char *line)
{
    (void)line;
    *(int *)user += level <= CAROM_LOG_WARNING;
}

static carom_context *open_device(carom_backend backend, uint32_t chunk, int *warnings)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = backend;
    desc.device = getenv("CAROM_TEST_DEVICE");
    desc.device_chunk = chunk;
    desc.log = count_warnings;
    desc.log_user = warnings;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* Ends the test if there is no device for the question. */
static size_t need_device(const question *q)
{
    const carom_device_info device = test_need_device();
    if (!question_is_for(q, &device))
        test_skip("fp64", "the device has no binary64, and the CPU answers exact mode");
    return (size_t)(q - questions);
}

/* ---- auto ---------------------------------------------------------------------------------------------------------- */

/* A large batch, whose answers must be the CPU's. */
static carom_stats ask_many(size_t i, carom_context *context, carom_mesh *mesh)
{
    const question *q = &questions[i];
    carom_error err = {0};
    reply r = reply_alloc(q, &many);
    test_ok(q->name, question_ask(q, context, mesh, &many, &r, &err), &err);
    reply_compare(q, &many, expected_of(i), &r, "a device that dies");
    const carom_stats stats = r.stats;
    assert_int_equal(stats.on_device + stats.on_cpu, MANY);
    reply_free(q, &r);
    return stats;
}

/* The calls that a device makes from its opening to the end of its first batch. */
static int count_calls(size_t i, cl_call call)
{
    int warnings = 0;
    cl_sabotage(call, 0, 0);
    carom_context *context = open_device(CAROM_BACKEND_AUTO, MANY / CHUNKS, &warnings);
    carom_mesh *mesh = question_needs_mesh(&questions[i]) ? scene_mesh(context, &many.s) : NULL;
    const carom_stats stats = ask_many(i, context, mesh);
    assert_int_equal(stats.on_device, MANY);
    assert_int_equal(warnings, 0);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return cl_calls(call);
}

/* Call `at` of these fails. Returns how many queries the device has answered. */
static uint64_t check_auto(size_t i, cl_call call, int at)
{
    int warnings = 0;
    cl_sabotage(call, at, 0);
    carom_context *context = open_device(CAROM_BACKEND_AUTO, MANY / CHUNKS, &warnings);
    carom_mesh *mesh = question_needs_mesh(&questions[i]) ? scene_mesh(context, &many.s) : NULL;
    carom_stats stats = ask_many(i, context, mesh);
    const uint64_t on_device = stats.on_device;
    assert_true(cl_calls(call) >= at);
    assert_true(stats.on_cpu > 0);
    assert_int_equal(stats.fallen_back, stats.on_cpu);
    assert_true(stats.fallback_reason[0] != '\0');
    assert_int_equal(warnings, 1);
    cl_sabotage(call, 0, 0);
    stats = ask_many(i, context, mesh);
    assert_int_equal(stats.on_device, 0);
    assert_int_equal(stats.fallen_back, MANY);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(questions[i].name);
    return on_device;
}

/* One of the last calls, when most is answered, and one that may be of the device's probe: its launches and commands in
 * turn. */
static void test_auto(void **state)
{
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_COMMAND};
    const size_t i = need_device(*state);
    const cl_call call = kinds[i % COUNT_OF(kinds)];
    const int calls = count_calls(i, call);
    assert_true(check_auto(i, call, calls - (int)(i % 3)) > 0);
    if (i % 4 == 0)
        assert_true(check_auto(i, call, 1 + calls / 4) < MANY);
}

/* ---- opencl -------------------------------------------------------------------------------------------------------- */

static void test_opencl(void **state)
{
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_COMMAND, CALL_WAIT, CALL_ARGUMENT, CALL_FLUSH};
    const question *q = *state;
    const size_t i = need_device(q);
    const cl_call call = kinds[i % COUNT_OF(kinds)];
    int warnings = 0;
    carom_error err = {0};
    carom_context *context = open_device(CAROM_BACKEND_OPENCL, FEW / CHUNKS, &warnings);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    reply r = reply_alloc(q, &few);
    for (int round = 0; round < 2; round++) { /* the first one builds and probes */
        cl_sabotage(call, 0, 0);
        test_ok(q->name, question_ask(q, context, mesh, &few, &r, &err), &err);
    }
    const int calls = cl_calls(call);
    cl_sabotage(call, 1 + (int)i * calls / QUESTIONS, 0);
    test_error(question_ask(q, context, mesh, &few, &r, &err), CAROM_ERROR_DEVICE_LOST, &err, "(-5)");
    assert_int_equal(err.native_code, cl_call_code(call));
    cl_sabotage(call, 0, 0);
    test_error(question_ask(q, context, mesh, &few, &r, &err), CAROM_ERROR_DEVICE_LOST, &err, "given up");
    assert_int_equal(warnings, 0);
    reply_free(q, &r);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(q->name);
}

/* Each opens a device, and auto is asked 2^20 queries: with less effort fewer of them, of all kinds in turn. Cmocka passes over
 * a test without a name. */
int main(void)
{
    const size_t effort = test_effort(QUESTIONS), stride = effort >= QUESTIONS ? 1 : effort >= QUESTIONS / 2 ? 3 : 7;
    struct CMUnitTest tests[2 * QUESTIONS] = {{0}};
    char names[2 * QUESTIONS][64];
    for (size_t i = 0; i < QUESTIONS; i += stride)
        for (size_t k = 2 * i; k < 2 * i + 2; k++) {
            snprintf(names[k], sizeof names[k], "%s: %s", k % 2 ? "auto" : "opencl", questions[i].name);
            tests[k].name = names[k];
            tests[k].test_func = k % 2 ? test_auto : test_opencl;
            tests[k].initial_state = (void *)(uintptr_t)&questions[i];
        }
    return cmocka_run_group_tests(tests, make_materials, free_materials);
}
