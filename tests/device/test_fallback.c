/* SPDX-License-Identifier: MIT */
/* Devices that cannot be used: `auto` answers on the CPU with the same bits, and log and statistics give the reason;
 * `opencl` fails. CAROM_TEST_REFUSED is set when the environment makes the device's compiler inexact. */
#include "tests/support/support.h"

enum { MANY = 1 << 20, SEED = 57 }; /* from here on a batch is worth a device to auto */

typedef struct memory {
    size_t calls, fail_at, live;
} memory;

static void *take_memory(void *user, size_t size, size_t alignment)
{
    memory *m = user;
    if (++m->calls == m->fail_at)
        return NULL;
    m->live++;
    return aligned_alloc(alignment, size);
}

static void give_memory(void *user, void *block)
{
    memory *m = user;
    m->live--;
    free(block);
}

static void take_line(void *user, carom_log_level level, const char *line)
{
    (void)line;
    *(int *)user += level <= CAROM_LOG_WARNING;
}

typedef struct outcome {
    carom_stats stats;
    int warnings;
} outcome;

/* Runs a large batch twice through `auto`, with the device of this run. */
static outcome ask_auto(const queries *q, const answers *expected, memory *m)
{
    outcome o = {.stats = {.size = sizeof o.stats}};
    carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
    carom_context *context = NULL;
    carom_error err = {0};
    inputs in = inputs_of(q);
    answers got = answers_alloc(q->type, q->count, 0xa5);
    desc.log = take_line;
    desc.log_user = &o.warnings;
    desc.allocator = m ? (carom_allocator){take_memory, give_memory, m} : (carom_allocator){0};
    test_ok("auto", carom_context_create(&desc, &context, &err), &err);
    for (int round = 0; round < 2; round++) {
        test_ok("a large batch", ask_as(context, q->type, q->count, &in, &got, ALL_FIELDS, &o.stats, &err), &err);
        answers_compare(q, expected, &got, q->count, ALL_FIELDS, "auto");
        assert_int_equal(o.stats.on_cpu + o.stats.on_device, q->count);
        assert_true(o.stats.fallen_back <= o.stats.on_cpu);
        assert_int_equal(o.stats.fallen_back > 0, o.stats.fallback_reason[0] != '\0');
    }
    answers_free(&got);
    carom_context_destroy(context);
    return o;
}

static answers on_cpu(const queries *q)
{
    answers a = answers_alloc(q->type, q->count, 0x5a);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    ask(cpu, q, &a, ALL_FIELDS);
    carom_context_destroy(cpu);
    return a;
}

/* Ends the test if there is no device at all. */
static void need_device(void)
{
    carom_context_destroy(test_device(0, 0));
}

static void test_usable_device(void **state)
{
    (void)state;
    need_device();
    queries q = queries_mixed(SPHERES, SEED, MANY);
    answers expected = on_cpu(&q);
    outcome o = ask_auto(&q, &expected, NULL);
    assert_int_equal(o.stats.on_device, q.count);
    assert_int_equal(o.stats.fallen_back, 0);
    assert_int_equal(o.warnings, 0);
    answers_free(&expected);
    queries_free(&q);
}

/* Whichever allocation fails after the context is created, both batches are answered. */
static void test_short_of_memory(void **state)
{
    enum { CONTEXT = 3, PLENTY = 60 }; /* allocations of the context: itself, its threads, the device's name */
    (void)state;
    need_device();
    queries q = queries_mixed(SPHERES, SEED, MANY);
    answers expected = on_cpu(&q);
    size_t fallen = 0;
    for (size_t fail_at = CONTEXT + 1; fail_at < PLENTY; fail_at++) {
        memory m = {.fail_at = fail_at};
        outcome o = ask_auto(&q, &expected, &m);
        assert_int_equal(m.live, 0);
        fallen += o.warnings > 0;
        if (m.calls < fail_at)
            break;
    }
    assert_true(fallen > 0);
    answers_free(&expected);
    queries_free(&q);
}

/* A compiler option makes results inexact, and the bit probe detects it. */
static void test_refused_device(void **state)
{
    (void)state;
    queries q = queries_mixed(SPHERES, SEED, MANY);
    answers expected = on_cpu(&q);
    outcome o = ask_auto(&q, &expected, NULL);
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    carom_status status = carom_context_create(&desc, &context, &err);
    if (status != CAROM_ERROR_NOT_BIT_EXACT)
        test_skip("PoCL", "only PoCL's compiler can be broken by POCL_EXTRA_BUILD_FLAGS");
    test_error(status, CAROM_ERROR_NOT_BIT_EXACT, &err, "refused");
    assert_null(context);
    assert_int_equal(o.stats.on_device, 0);
    assert_int_equal(o.stats.fallen_back, q.count); /* the second batch reports the reason too */
    assert_non_null(strstr(o.stats.fallback_reason, "refused"));
    assert_int_equal(o.warnings, 1);
    answers_free(&expected);
    queries_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usable_device),
        cmocka_unit_test(test_short_of_memory),
    };
    const struct CMUnitTest refused[] = {cmocka_unit_test(test_refused_device)};
    return getenv("CAROM_TEST_REFUSED") ? cmocka_run_group_tests(refused, NULL, NULL)
                                        : cmocka_run_group_tests(tests, NULL, NULL);
}
