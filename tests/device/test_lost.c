/* SPDX-License-Identifier: MIT */
/* A device that dies in the middle of a batch, of any kind: what it has answered stands, the CPU answers the rest with
 * the same bits, log and statistics say so, and the device is not used again. `opencl`, which may not go on with the
 * CPU, says that the device is lost. A batch that is cancelled later keeps what both have answered. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

/* Ordinary queries are few: what a device without a GPU cannot do fast is not the request here. */
enum { MANY = CAROM_AUTO_MIN_QUERIES, SHARE = 128, FEW = 5000, SIDES = 16, CHUNKS = 4, SEED = 58 };

static fixture many, few;
static batch_result expected[REQUESTS]; /* of many; of those that have been asked */
static int is_known[REQUESTS];

static int make_fixtures(void **state)
{
    (void)state;
    many = fixture_make(SEED, scene_sphere(SIDES), MANY, SHARE);
    few = fixture_make(SEED, scene_sphere(SIDES), FEW, 1);
    return 0;
}

static int free_fixtures(void **state)
{
    (void)state;
    for (size_t i = 0; i < REQUESTS; i++)
        if (is_known[i])
            batch_result_free(&expected[i]);
    fixture_free(&many);
    fixture_free(&few);
    return 0;
}

static const batch_result *expected_of(size_t i)
{
    if (!is_known[i])
        expected[i] = request_answer(&requests[i], &many);
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

/* Ends the test if there is no device for the request. */
static size_t need_device(const request *q)
{
    const carom_device_info device = test_need_device();
    if (!request_is_for(q, &device))
        test_skip("fp64", "the device has no binary64, and the CPU answers exact mode");
    return (size_t)(q - requests);
}

/* ---- auto -------------------------------------------------------------------------------------------------------- */

/* A whole batch, whose answers must be the CPU's. */
static carom_stats ask_whole(const request *q, carom_context *context, carom_mesh *mesh, const fixture *m,
                             const batch_result *answer)
{
    carom_error err = {0};
    batch_result r = batch_result_alloc(q, m);
    test_ok(q->name, request_ask(q, context, mesh, m, &r, &err), &err);
    batch_result_compare(q, m, answer, &r, "a device that dies");
    const carom_stats stats = r.stats;
    assert_int_equal(stats.on_device + stats.on_cpu, m->count);
    batch_result_free(&r);
    return stats;
}

static carom_stats ask_many(size_t i, carom_context *context, carom_mesh *mesh)
{
    return ask_whole(&requests[i], context, mesh, &many, expected_of(i));
}

static void expect_fallen_back(const carom_stats *stats, int warnings)
{
    assert_true(stats->on_cpu > 0);
    assert_int_equal(stats->fallen_back, stats->on_cpu);
    assert_true(stats->fallback_reason[0] != '\0');
    assert_int_equal(warnings, 1);
}

/* The calls that a device makes from its opening to the end of its first batch. */
static int count_calls(size_t i, cl_call call)
{
    int warnings = 0;
    cl_sabotage(call, 0, 0);
    carom_context *context = open_device(CAROM_BACKEND_AUTO, MANY / CHUNKS, &warnings);
    carom_mesh *mesh = request_needs_mesh(&requests[i]) ? scene_mesh(context, &many.s) : NULL;
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
    carom_mesh *mesh = request_needs_mesh(&requests[i]) ? scene_mesh(context, &many.s) : NULL;
    carom_stats stats = ask_many(i, context, mesh);
    const uint64_t on_device = stats.on_device;
    assert_true(cl_calls(call) >= at);
    expect_fallen_back(&stats, warnings);
    cl_sabotage(call, 0, 0);
    stats = ask_many(i, context, mesh);
    assert_int_equal(stats.on_device, 0);
    assert_int_equal(stats.fallen_back, MANY);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(requests[i].name);
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

/* First hits of a device with memory of its own, which hands over the hits alone: what it has not handed over yet is
 * lost with it, whether a command of it ends badly or what is read back does not come. */
static void test_compact(void **state)
{
    enum { LAST = 3 }; /* of its calls */
    const cl_call *call = *state;
    (void)need_device(&requests[ASK_mesh_compact]);
    cl_seen_as.discrete = 1;
    const int calls = count_calls(ASK_mesh_compact, *call);
    assert_true(calls > LAST);
    for (int at = calls; at > calls - LAST; at--)
        assert_true(check_auto(ASK_mesh_compact, *call, at) > 0);
    cl_seen_as.discrete = 0;
}

/* ---- auto, cancelled --------------------------------------------------------------------------------------------- */

/* Who ends a batch at the first word on how far it has come. */
typedef struct stopper {
    int words;
    uint64_t done;
} stopper;

static int stop(void *user, uint64_t done, uint64_t count)
{
    stopper *s = user;
    assert_true(done > 0 && done <= count);
    s->words++;
    s->done = done;
    return 1;
}

/* Asks until that word, which must not be the last one. */
static carom_stats ask_stopped(const request *q, carom_context *context, carom_mesh *mesh, fixture *m,
                               const batch_result *answer)
{
    stopper s = {0, 0};
    carom_error err = {0};
    char sentence[64];
    batch_result r = batch_result_alloc(q, m);
    m->progress = (carom_progress){stop, &s};
    const carom_status status = request_ask(q, context, mesh, m, &r, &err);
    m->progress = (carom_progress){NULL, NULL};
    snprintf(sentence, sizeof sentence, "at query %llu of %zu", (unsigned long long)s.done, m->count);
    test_error(status, CAROM_ERROR_CANCELLED, &err, sentence);
    assert_int_equal(s.words, 1);
    assert_true(s.done < m->count);
    batch_result_compare_first(q, m, answer, &r, (size_t)s.done, "a device that dies, then cancelled");
    if (request_is_list(q)) {
        assert_int_equal(r.stored, r.total);
        assert_int_equal(r.total, batch_result_offset(&r, (size_t)s.done));
    }
    const carom_stats stats = r.stats;
    assert_int_equal(stats.on_device + stats.on_cpu, s.done);
    batch_result_free(&r);
    return stats;
}

/* A launch fails early in the batch, the CPU goes on, and the first word, which is the CPU's, ends it: what both have
 * answered stands, and of the CPU's no more is counted as fallen back. Enough queries for two words of the CPU. */
static void test_cancelled(void **state)
{
    const request *q = *state;
    int warnings = 0;
    (void)need_device(q);
    fixture more = fixture_make(SEED, scene_sphere(SIDES), MANY + MANY / 2, SHARE);
    batch_result answer = request_answer(q, &more);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    carom_context *context = open_device(CAROM_BACKEND_AUTO, MANY / CHUNKS, &warnings);
    carom_mesh *mesh = request_needs_mesh(q) ? scene_mesh(context, &more.s) : NULL;
    for (int round = 0; round < 2; round++) { /* the first one opens the device, builds and probes */
        cl_sabotage(CALL_LAUNCH, 0, 0);
        assert_int_equal(ask_whole(q, context, mesh, &more, &answer).on_device, more.count);
    }
    cl_sabotage(CALL_LAUNCH, 1 + cl_calls(CALL_LAUNCH) / 4, 0);
    const carom_stats stats = ask_stopped(q, context, mesh, &more, &answer);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    assert_true(stats.on_device > 0);
    expect_fallen_back(&stats, warnings);
    assert_int_equal(ask_whole(q, context, mesh, &more, &answer).on_cpu, more.count);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(q->name);
    batch_result_free(&answer);
    fixture_free(&more);
}

/* ---- opencl ------------------------------------------------------------------------------------------------------ */

static void test_opencl(void **state)
{
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_COMMAND, CALL_WAIT, CALL_ARGUMENT, CALL_FLUSH};
    const request *q = *state;
    const size_t i = need_device(q);
    const cl_call call = kinds[i % COUNT_OF(kinds)];
    int warnings = 0;
    carom_error err = {0};
    carom_context *context = open_device(CAROM_BACKEND_OPENCL, FEW / CHUNKS, &warnings);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    batch_result r = batch_result_alloc(q, &few);
    for (int round = 0; round < 2; round++) { /* the first one builds and probes */
        cl_sabotage(call, 0, 0);
        test_ok(q->name, request_ask(q, context, mesh, &few, &r, &err), &err);
    }
    const int calls = cl_calls(call);
    cl_sabotage(call, 1 + (int)i * calls / REQUESTS, 0);
    test_error(request_ask(q, context, mesh, &few, &r, &err), CAROM_ERROR_DEVICE_LOST, &err, "(-5)");
    assert_int_equal(err.native_code, cl_call_code(call));
    cl_sabotage(call, 0, 0);
    test_error(request_ask(q, context, mesh, &few, &r, &err), CAROM_ERROR_DEVICE_LOST, &err, "given up");
    assert_int_equal(warnings, 0);
    batch_result_free(&r);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(q->name);
}

/* Each opens a device, and auto is asked 2^20 queries: with less effort fewer of them, of all kinds in turn. Cmocka
 * passes over a test without a name. */
int main(void)
{
    const size_t effort = test_effort(REQUESTS), stride = effort >= REQUESTS ? 1 : effort >= REQUESTS / 2 ? 3 : 7;
    static cl_call command = CALL_COMMAND, read = CALL_READ;
    struct CMUnitTest tests[2 * REQUESTS + 4] = {
        {"auto: a command for first hits alone", test_compact, NULL, NULL, &command},
        {"auto: a read-back of first hits alone", test_compact, NULL, NULL, &read},
        {"auto: spheres, then cancelled", test_cancelled, NULL, NULL, (void *)(uintptr_t)&requests[SPHERES]},
        {"auto: all hits, then cancelled", test_cancelled, NULL, NULL, (void *)(uintptr_t)&requests[ASK_mesh_all]},
    };
    struct CMUnitTest *each = tests + 4;
    char names[2 * REQUESTS][64];
    for (size_t i = 0; i < REQUESTS; i += stride)
        for (size_t k = 2 * i; k < 2 * i + 2; k++) {
            snprintf(names[k], sizeof names[k], "%s: %s", k % 2 ? "auto" : "opencl", requests[i].name);
            each[k].name = names[k];
            each[k].test_func = k % 2 ? test_auto : test_opencl;
            each[k].initial_state = (void *)(uintptr_t)&requests[i];
        }
    return cmocka_run_group_tests(tests, make_fixtures, free_fixtures);
}
