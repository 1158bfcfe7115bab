/* SPDX-License-Identifier: MIT */
/* Contexts, and functions that need none: names, instruction sets, devices, errors, the log, fallback, threads. */
#include "tests/support/support.h"

#include <pthread.h>

enum { SEED = 61, FILL = 0xa5 };

/* ---- names and numbers ------------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    char expected[32];
    (void)state;
    snprintf(expected, sizeof expected, "%d.%d.%d", CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR, CAROM_VERSION_PATCH);
    assert_string_equal(carom_version(), expected);
    assert_string_equal(carom_status_name(CAROM_OK), "ok");
    assert_string_equal(carom_state_name(CAROM_APPROACHING), "approaching");
    assert_string_equal(carom_state_name(CAROM_INVALID), "invalid");
    assert_string_equal(carom_feature_name(CAROM_FEATURE_NONE), "none");
    assert_string_equal(carom_feature_name(CAROM_FEATURE_FACE), "F");
    assert_string_equal(carom_isa_name(CAROM_ISA_SSE41), "sse4.1");
    assert_string_equal(carom_backend_name(CAROM_BACKEND_OPENCL), "opencl");
    for (int i = -3; i < 300; i++) {
        assert_true(strcmp(carom_status_name((carom_status)i), "unknown") == 0 || (i >= 0 && i <= CAROM_ERROR_TIMEOUT));
        assert_true(strcmp(carom_state_name((carom_state)i), "unknown") == 0 || (i >= 0 && i <= 6));
        assert_true(strcmp(carom_feature_name((carom_feature)i), "unknown") == 0 || (i >= 0 && i <= 7));
        assert_true(strcmp(carom_isa_name((carom_isa)i), "unknown") == 0 || (i >= 0 && i <= 5));
        assert_true(strcmp(carom_backend_name((carom_backend)i), "unknown") == 0 || (i >= 0 && i <= 2));
    }
    for (int i = 0; i <= 7; i++) {
        assert_string_not_equal(carom_status_name((carom_status)i), "unknown");
        assert_string_not_equal(carom_feature_name((carom_feature)i), "unknown");
    }
}

static void test_isas(void **state)
{
    (void)state;
    assert_int_equal(carom_isa_available(CAROM_ISA_AUTO), 1);
    assert_int_equal(carom_isa_available(CAROM_ISA_SCALAR), 1);
    assert_int_equal(carom_isa_available((carom_isa)99), 0);
    for (int isa = CAROM_ISA_AUTO; isa <= CAROM_ISA_NEON; isa++) {
        carom_context_desc desc = carom_context_desc_default();
        carom_context *context = NULL;
        carom_error err = {0};
        carom_device_info info = {.size = sizeof info};
        desc.backend = CAROM_BACKEND_CPU;
        desc.isa = (carom_isa)isa;
        carom_status status = carom_context_create(&desc, &context, &err);
        if (!carom_isa_available((carom_isa)isa)) {
            test_error(status, CAROM_ERROR_UNSUPPORTED, &err, carom_isa_name((carom_isa)isa));
            assert_null(context);
            continue;
        }
        test_ok("carom_context_create", status, &err);
        assert_true(carom_context_isa(context) == (carom_isa)isa || isa == CAROM_ISA_AUTO);
        assert_int_not_equal(carom_context_isa(context), CAROM_ISA_AUTO);
        assert_true(carom_context_threads(context) > 0);
        assert_int_equal(carom_context_get_device(context, &info, NULL), CAROM_ERROR_NO_DEVICE);
        carom_context_destroy(context);
    }
#if defined(__x86_64__)
    assert_int_equal(carom_isa_available(CAROM_ISA_NEON), 0);
#endif
}

static void test_device_list(void **state)
{
    carom_device_info devices[2];
    carom_error err = {0};
    uint32_t count = 77;
    (void)state;
    if (!carom_has_opencl()) {
        test_error(carom_device_list(devices, 2, &count, &err), CAROM_ERROR_UNSUPPORTED, &err, "OpenCL");
        return;
    }
    test_error(carom_device_list(devices, 2, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "count");
    test_error(carom_device_list(NULL, 1, &count, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "capacity");
    assert_int_equal(count, 77);
    test_ok("carom_device_list", carom_device_list(NULL, 0, &count, &err), &err);
    memset(devices, FILL, sizeof devices);
    devices[0].size = sizeof devices[0];
    uint32_t again = 0;
    test_ok("carom_device_list", carom_device_list(devices, 1, &again, &err), &err);
    assert_int_equal(again, count);
    for (size_t i = count > 0 ? sizeof devices[0] : 0; i < sizeof devices; i++)
        assert_int_equal(((unsigned char *)devices)[i], FILL);
    if (count > 0) {
        assert_int_equal(devices[0].index, 0);
        assert_true(devices[0].name[0] && devices[0].platform[0] && devices[0].kind[0] && devices[0].lanes > 0);
    }
}

/* carom_opencl.h without the headers of OpenCL. A library that was built without it has these calls too. */
struct carom_opencl_desc;
struct _cl_mem;
carom_status carom_context_create_opencl(const carom_context_desc *desc, const struct carom_opencl_desc *cl,
                                         carom_context **out, carom_error *err);
carom_status carom_buffer_wrap_opencl(carom_context *context, struct _cl_mem *memory, uint64_t offset, uint64_t bytes,
                                      carom_buffer **out, carom_error *err);

static void test_callers_opencl(void **state)
{
    const carom_status expected = carom_has_opencl() ? CAROM_ERROR_INVALID_ARGUMENT : CAROM_ERROR_UNSUPPORTED;
    const char *word = carom_has_opencl() ? "must not be NULL" : "this build has no OpenCL";
    carom_context *context = NULL;
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    (void)state;
    test_error(carom_context_create_opencl(NULL, NULL, &context, &err), expected, &err, word);
    test_error(carom_buffer_wrap_opencl(NULL, NULL, 0, 1, &buffer, &err), expected, &err, word);
    assert_true(context == NULL && buffer == NULL);
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static void *some_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    return aligned_alloc(alignment, size);
}

static void refuse_context(const carom_context_desc *desc, carom_status expected, const char *word)
{
    carom_context *const untouched = (carom_context *)(uintptr_t)64;
    carom_context *context = untouched;
    carom_error err = {0};
    test_error(carom_context_create(desc, &context, &err), expected, &err, word);
    assert_ptr_equal(context, untouched);
    assert_int_equal(carom_context_create(desc, &context, NULL), expected); /* carom_error is optional */
}

static void test_context_errors(void **state)
{
    carom_context_desc good = carom_context_desc_default(), desc = good;
    carom_error err = {0};
    (void)state;
    assert_int_equal(good.size, sizeof good);
    test_error(carom_context_create(&good, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "out");
    desc.size = sizeof desc + 8;
    refuse_context(&desc, CAROM_ERROR_INVALID_ARGUMENT, "size");
    desc = good;
    desc.backend = (carom_backend)3;
    refuse_context(&desc, CAROM_ERROR_INVALID_ARGUMENT, "backend");
    desc = good;
    desc.isa = (carom_isa)6;
    refuse_context(&desc, CAROM_ERROR_INVALID_ARGUMENT, "isa");
    desc = good;
    desc.threads = UINT32_MAX;
    refuse_context(&desc, CAROM_ERROR_INVALID_ARGUMENT, "threads");
    desc = good;
    desc.device_lanes = 3;
    refuse_context(&desc, CAROM_ERROR_INVALID_ARGUMENT, "device_lanes");
    desc = good;
    desc.allocator.alloc = some_alloc;
    refuse_context(&desc, CAROM_ERROR_INVALID_ARGUMENT, "allocator");
    carom_context_destroy(NULL);
}

static void test_default_context(void **state)
{
    carom_context *context = NULL;
    carom_error err;
    (void)state;
    memset(&err, FILL, sizeof err);
    assert_int_equal(carom_context_create(NULL, &context, &err), CAROM_OK);
    for (size_t i = 0; i < sizeof err; i++) /* untouched on success */
        assert_int_equal(((unsigned char *)&err)[i], FILL);
    carom_context_destroy(context);
}

/* A device that does not exist: the error message contains its name, cut to the size of the message. */
static void test_no_such_device(void **state)
{
    char longest[3000];
    guarded memory = guarded_alloc(sizeof(carom_error), 0, FILL);
    carom_error *err = (carom_error *)(void *)memory.data;
    carom_context *context = NULL;
    carom_context_desc desc = carom_context_desc_default();
    (void)state;
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    desc.backend = CAROM_BACKEND_OPENCL;
    desc.device = "no such device";
    carom_status status = carom_context_create(&desc, &context, err);
    if (!carom_has_opencl()) {
        assert_true(status == CAROM_ERROR_NO_DEVICE || status == CAROM_ERROR_UNSUPPORTED);
    } else {
        assert_int_equal(status, CAROM_ERROR_NO_DEVICE);
    }
    assert_int_equal(err->status, status);
    assert_true(strlen(err->message) > 10);
    desc.device = longest;
    assert_int_equal(carom_context_create(&desc, &context, err), status);
    assert_non_null(memchr(err->message, '\0', sizeof err->message));
    memset(longest, '9', sizeof longest - 1); /* a number, too */
    assert_int_equal(carom_context_create(&desc, &context, err), status);
    assert_non_null(memchr(err->message, '\0', sizeof err->message));
    desc.device = "4000000000";
    assert_int_equal(carom_context_create(&desc, &context, err), status);
    assert_null(context);
    guarded_check(&memory, "the error");
    guarded_free(&memory);
}

/* ---- log, fallback, threads -------------------------------------------------------------------------------------- */

typedef struct log_book {
    int lines, most_talkative;
    char last[512];
} log_book;

static void take_log(void *user, carom_log_level level, const char *message)
{
    log_book *book = user;
    book->lines++;
    book->most_talkative = (int)level > book->most_talkative ? (int)level : book->most_talkative;
    snprintf(book->last, sizeof book->last, "%s", message);
}

/* `auto` with a device that does not exist: the CPU answers a batch that is large enough for a device, and one log line
 * reports it. */
static void check_auto(carom_log_level level, log_book *book)
{
    enum { MANY = 1 << 20 };
    static const float zero[3] = {0, 0, 0}, one = 1.0f, ahead[3] = {3, 0, 0}, back[3] = {-1, 0, 0};
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    unsigned char *states = test_alloc(MANY, 1);
    desc.device = "no such device";
    desc.log = take_log;
    desc.log_user = book;
    desc.log_level = level;
    test_ok("auto", carom_context_create(&desc, &context, &err), &err);
    assert_int_equal(book->lines, 0); /* OpenCL is not used before a batch needs it */
    const carom_points a0 = carom_repeat(ahead), a1 = carom_repeat(back);
    const carom_points b0 = carom_repeat(zero);
    carom_sphere_sweep_pairs_desc pairs = {.batch.size = sizeof pairs,
                                           .batch.count = MANY,
                                           .a0 = a0,
                                           .a1 = a1,
                                           .radius_a = {&one, CAROM_REPEAT},
                                           .b0 = b0,
                                           .b1 = b0,
                                           .radius_b = {&one, CAROM_REPEAT}};
    carom_sphere_sweep_result out = {.size = sizeof out, .state = states};
    test_ok("a large batch", carom_sphere_sweep_pairs(context, &pairs, &out, &stats, &err), &err);
    assert_int_equal(stats.on_cpu, MANY);
    assert_int_equal(stats.on_device, 0);
    assert_int_equal(stats.fallen_back, MANY); /* the caller named the device, so its absence is a fallback */
    assert_true(strlen(stats.fallback_reason) > 10);
    assert_null(memchr(states, CAROM_MISS, MANY));
    assert_int_equal(states[MANY - 1], CAROM_APPROACHING);
    free(states);
    carom_context_destroy(context);
}

static void test_auto_and_log(void **state)
{
    log_book book = {0}, quiet = {0};
    (void)state;
    check_auto(CAROM_LOG_INFO, &book);
    assert_true(book.lines > 0);
    assert_true(strlen(book.last) > 10 && !strchr(book.last, '\n'));
    assert_true(book.most_talkative <= CAROM_LOG_INFO);
    check_auto(CAROM_LOG_ERROR, &quiet);
    assert_int_equal(quiet.lines, 0);
}

/* The CPU backend does not load OpenCL: no driver is mapped into the process. */
static void test_cpu_loads_no_driver(void **state)
{
    char line[1024];
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    queries q = queries_mixed(SWEEP, SEED, 1000);
    answers a = answers_alloc(SWEEP, q.count, FILL);
    (void)state;
    ask(context, &q, &a, ALL_FIELDS);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "libpocl") || strstr(line, "libRusticl") || strstr(line, "MesaOpenCL"))
            fail_msg("loaded: %s", line);
    answers_free(&a);
    queries_free(&q);
    carom_context_destroy(context);
    if (!maps)
        test_skip("/proc", "no /proc/self/maps");
    fclose(maps);
}

typedef struct user_thread {
    const queries *q;
    const answers *expected;
    int wrong;
} user_thread;

static void *use_own_context(void *user)
{
    user_thread *self = user;
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    inputs in = inputs_of(self->q);
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 2;
    self->wrong = carom_context_create(&desc, &context, NULL) != CAROM_OK;
    for (int round = 0; round < 20 && !self->wrong; round++) {
        answers a = answers_alloc(SWEEP, self->q->count, FILL);
        self->wrong |= ask_as(context, SWEEP, self->q->count, &in, &a, ALL_FIELDS, NULL, NULL) != CAROM_OK;
        for (int f = 0; f < query_fields(SWEEP); f++)
            self->wrong |= memcmp(a.field[f].data, self->expected->field[f].data, a.field[f].size) != 0;
        answers_free(&a);
    }
    carom_context_destroy(context);
    return NULL;
}

/* The library has no global state: threads with a context each do not disturb each other. */
static void test_contexts_side_by_side(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    user_thread users[THREADS];
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    queries q = queries_mixed(SWEEP, SEED, 3000);
    answers expected = answers_alloc(SWEEP, q.count, 0x5a);
    (void)state;
    ask(context, &q, &expected, ALL_FIELDS);
    for (size_t i = 0; i < THREADS; i++) {
        users[i] = (user_thread){&q, &expected, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, use_own_context, &users[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(users[i].wrong, 0);
    answers_free(&expected);
    queries_free(&q);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_loads_no_driver), /* first, because the other tests may load a driver */
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_isas),
        cmocka_unit_test(test_device_list),
        cmocka_unit_test(test_callers_opencl),
        cmocka_unit_test(test_context_errors),
        cmocka_unit_test(test_default_context),
        cmocka_unit_test(test_no_such_device),
        cmocka_unit_test(test_auto_and_log),
        cmocka_unit_test(test_contexts_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
