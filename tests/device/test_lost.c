/* SPDX-License-Identifier: MIT */
/* A device that fails in the middle of a batch, for every kind of request. `auto`: the device's answers so far are
 * kept, the CPU computes the rest with the same bits, log and statistics report it, and the device is not used again.
 * `opencl` fails with CAROM_ERROR_DEVICE_LOST. A batch that is cancelled after the failure keeps both parts. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

/* One query in SHARE is ordinary, the others are invalid: speed is not tested here, and OpenCL on a CPU is slow. */
enum { MANY = CAROM_AUTO_MIN_QUERIES, SHARE = 128, FEW = 5000, SIDES = 16, CHUNKS = 4, SEED = 58 };

static fixture many, few;
static batch_result expected[REQUESTS]; /* the CPU's answers for `many`, of the requests in is_known */
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
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
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

/* Number of such calls from the opening of the device to the end of its first batch. */
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

/* Call number `at` of this kind fails. Returns the number of queries that the device answered. */
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

/* Injects a failure into one of the last calls, when most queries are answered, and for some requests into an early
 * call, which may belong to the bit probe. Requests alternate between launches and commands. */
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

/* First hits as a list on a discrete device, which transfers only the hits. Hits that are not yet transferred are lost
 * with the device, whether a command or a read fails. */
static void test_compact(void **state)
{
    enum { LAST = 3 }; /* the last calls, each of which fails once */
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

/* State of a progress callback that cancels the batch when it has heard of new answers twice. The first ones may be
 * those of the device alone. */
typedef struct stopper {
    int words;
    uint64_t done;
} stopper;

static int stop(void *user, uint64_t done, uint64_t count)
{
    stopper *s = user;
    assert_true(done >= s->done && done <= count);
    s->words += done > s->done;
    s->done = done;
    return s->words == 2;
}

/* Runs the batch until the callback cancels it, which must be before its end. */
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
    assert_int_equal(s.words, 2);
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

/* A launch fails early in the batch, and the CPU continues. A progress call of the CPU cancels the batch. The answers
 * of both are kept, and only the queries that the CPU answered count as fallen back. The batch is long enough for three
 * progress calls of the CPU. */
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
    for (int round = 0; round < 2; round++) { /* round 0 builds and probes */
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
    for (int round = 0; round < 2; round++) { /* round 0 builds and probes */
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

/* Each test opens a device, and those of auto run 2^20 queries. So with less test effort fewer tests run, spread over
 * all kinds of requests. cmocka skips a test without a name. */
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
