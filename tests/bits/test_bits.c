/* SPDX-License-Identifier: MIT */
/* The same bits from every instruction set, thread count, batch size, selection of outputs, float mode of the caller,
 * and, when the run is for a device, from it at every lane count and chunk size. All against scalar code on one
 * thread. */
#include "tests/support/support.h"

#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { FAMILY_PAIRS = 700, MANY = 200000, SEED = 21 };

/* Queries and what scalar code on one thread answers. */
typedef struct expectation {
    queries q;
    answers expected;
} expectation;

static expectation expect(queries q)
{
    expectation e = {.q = q, .expected = answers_alloc(q.type, q.count, 0x5a)};
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    ask(scalar, &e.q, &e.expected, ALL_FIELDS);
    carom_context_destroy(scalar);
    return e;
}

static void expectation_free(expectation *e)
{
    queries_free(&e->q);
    answers_free(&e->expected);
}

/* The first `count` queries must be answered as expected, and nothing else be written. */
static void check_prefix(carom_context *context, const expectation *e, size_t count, int fields, const char *label)
{
    queries q = e->q;
    answers got = answers_alloc(q.type, count, 0xa5);
    q.count = count;
    ask(context, &q, &got, fields);
    answers_compare(&e->q, &e->expected, &got, count, fields, label);
    answers_check_guards(&got, label);
    answers_free(&got);
}

/* What is under test: an instruction set, or the device when `isa` is CAROM_ISA_AUTO. */
static carom_context *subject(void **state, uint32_t threads)
{
    carom_isa isa = *(const carom_isa *)*state;
    return isa == CAROM_ISA_AUTO ? test_device(0, 0) : test_cpu(isa, threads);
}

static void check_families(carom_context *context, size_t pairs, const char *label)
{
    for (int type = 0; type < QUERY_TYPES; type++)
        for (size_t family = 0; family < ref_family_count(); family++) {
            expectation e = expect(queries_family(type, family, SEED, pairs));
            check_prefix(context, &e, pairs, ALL_FIELDS, label);
            expectation_free(&e);
        }
}

static void test_families(void **state)
{
    carom_context *context = subject(state, 1);
    check_families(context, test_effort(FAMILY_PAIRS), "this backend");
    carom_context_destroy(context);
}

static void test_many(void **state)
{
    carom_context *context = subject(state, 2);
    for (int type = 0; type < QUERY_TYPES; type++) {
        size_t count = test_effort(MANY);
        expectation e = expect(queries_mixed(type, SEED + 1, count));
        check_prefix(context, &e, count, ALL_FIELDS, "a large batch");
        expectation_free(&e);
    }
    carom_context_destroy(context);
}

/* ---- batch sizes and threads ------------------------------------------------------------------------------------- */

static const size_t sizes[] = {0,  1,  2,  3,  4,   5,   7,   8,    9,    15,   16,   17,  31,
                               33, 63, 64, 65, 511, 512, 513, 1000, 1024, 2047, 4096, 4099};

static void check_sizes(carom_context *context, int type, const char *label)
{
    expectation e = expect(queries_mixed(type, SEED + 2, sizes[COUNT_OF(sizes) - 1]));
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        check_prefix(context, &e, sizes[i], ALL_FIELDS, label);
    expectation_free(&e);
}

static void test_sizes(void **state)
{
    static const uint32_t threads[] = {1, 3};
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        carom_context *context = subject(state, threads[i]);
        for (int type = 0; type < QUERY_TYPES; type++)
            check_sizes(context, type, "a batch of another size");
        carom_context_destroy(context);
    }
}

static void test_threads(void **state)
{
    static const uint32_t threads[] = {1, 2, 3, 7, 64};
    test_need_subject(*(const carom_isa *)*state);
    for (int type = 0; type < QUERY_TYPES; type++) {
        size_t count = test_effort(MANY / 4) + 4099;
        expectation e = expect(queries_mixed(type, SEED + 3, count));
        for (size_t i = 0; i < COUNT_OF(threads); i++) {
            carom_context *context = subject(state, threads[i]);
            assert_int_equal(carom_context_threads(context), threads[i]);
            check_prefix(context, &e, count, ALL_FIELDS, "another number of threads");
            carom_context_destroy(context);
        }
        expectation_free(&e);
    }
}

/* ---- selections of outputs --------------------------------------------------------------------------------------- */

#define BITS3(field) (7 << (field))
static const int sweep_groups[] = {1 << STATE,   1 << T_FIRST,  1 << T_LAST, BITS3(X_FIRST),
                                   1 << F_FIRST, BITS3(X_LAST), 1 << F_LAST};

/* Every subset of the outputs; a cheaper kernel must not answer otherwise. */
static void check_selections(carom_context *context, expectation *e)
{
    int groups = e->q.type == SWEEP ? (int)COUNT_OF(sweep_groups) : query_fields(e->q.type);
    for (int subset = 0; subset < 1 << groups; subset++) {
        int fields = 0;
        for (int g = 0; g < groups; g++)
            if (subset >> g & 1)
                fields |= e->q.type == SWEEP ? sweep_groups[g] : 1 << g;
        check_prefix(context, e, e->q.count, fields, "a selection of outputs");
    }
}

static void test_selections(void **state)
{
    carom_context *context = subject(state, 1);
    for (int type = 0; type < QUERY_TYPES; type++) {
        expectation e = expect(queries_mixed(type, SEED + 4, 500));
        check_selections(context, &e);
        expectation_free(&e);
    }
    carom_context_destroy(context);
}

/* Triangles at rest have kernels of their own: the answers of a zero velocity, but for the sign of a zero
 * coordinate. */
static void test_rest(void **state)
{
    enum { COUNT = 3000 };
    static const int selections[] = {1 << T_FIRST, 1 << STATE | 1 << T_FIRST | 1 << T_LAST, ALL_FIELDS};
    static const int same = 1 << STATE | 1 << T_FIRST | 1 << T_LAST | 1 << F_FIRST | 1 << F_LAST;
    carom_context *context = subject(state, 1);
    queries q = queries_mixed(SWEEP, SEED + 5, COUNT);
    for (int c = 16; c < 19; c++)
        memset(q.column[c], 0, COUNT * sizeof(float));
    expectation e = expect(q);
    inputs in = inputs_of(&e.q);
    in.points[5] = (carom_points){0};
    for (size_t i = 0; i < COUNT_OF(selections); i++) {
        carom_error err = {0};
        answers got = answers_alloc(SWEEP, COUNT, 0xa5);
        test_ok("sweep", ask_as(context, SWEEP, COUNT, &in, &got, selections[i], NULL, &err), &err);
        answers_compare(&e.q, &e.expected, &got, COUNT, selections[i] & same, "a triangle at rest");
        answers_check_guards(&got, "a triangle at rest");
        answers_free(&got);
    }
    expectation_free(&e);
    carom_context_destroy(context);
}

/* ---- the caller's float mode ------------------------------------------------------------------------------------- */

static void check_mode(carom_context *context, const expectation *e, const char *label)
{
    check_prefix(context, e, e->q.count, ALL_FIELDS, label);
}

/* A program linked with fast-math flushes denormals; another may round upward. Its mode comes back to it. */
static void test_float_modes(void **state)
{
    static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    test_need_subject(*(const carom_isa *)*state);
    for (int type = 0; type < QUERY_TYPES; type++) {
        expectation e = expect(queries_mixed(type, SEED + 6, 5000));
        for (size_t i = 0; i < COUNT_OF(roundings); i++) {
            int before = fegetround();
            assert_int_equal(fesetround(roundings[i]), 0);
            carom_context *context = subject(state, 2); /* its threads may inherit the mode */
            check_mode(context, &e, "a caller that rounds otherwise");
            int after = fegetround();
            carom_context_destroy(context);
            assert_int_equal(fesetround(before), 0);
            assert_int_equal(after, roundings[i]);
        }
#if defined(__x86_64__)
        const unsigned flush = 0x8040, control = ~0x3fu, mode = _mm_getcsr();
        _mm_setcsr(mode | flush);
        carom_context *context = subject(state, 2);
        check_mode(context, &e, "a caller that flushes denormals");
        unsigned left = _mm_getcsr();
        carom_context_destroy(context);
        _mm_setcsr(mode);
        assert_int_equal(left & control, (mode | flush) & control);
#endif
        expectation_free(&e);
    }
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void test_lanes(void **state)
{
    const uint32_t lanes = *(const uint32_t *)*state;
    char label[40];
    if (!test_has_lanes(lanes))
        test_skip("lanes", TEST_ONE_LANE);
    snprintf(label, sizeof label, "the device with %u lanes", lanes);
    carom_context *context = test_device(lanes, 0);
    check_families(context, test_effort(FAMILY_PAIRS / 4), label);
    carom_context_destroy(context);
}

static void test_chunks(void **state)
{
    static const uint32_t chunks[] = {1, 16, 100, 1000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(chunks); i++) {
        char label[40];
        snprintf(label, sizeof label, "chunks of %u", chunks[i]);
        carom_context *context = test_device(0, chunks[i]);
        for (int type = 0; type < QUERY_TYPES; type++) {
            size_t count = (size_t)chunks[i] * 5 + 3; /* some whole chunks and a ragged one */
            expectation e = expect(queries_mixed(type, SEED + 7, count));
            check_prefix(context, &e, count, ALL_FIELDS, label);
            check_prefix(context, &e, count - 1, ALL_FIELDS, label);
            check_prefix(context, &e, count / 2, 1 << 1, label);
            expectation_free(&e);
        }
        carom_context_destroy(context);
    }
}

/* Who answered is said, and it was the device. */
static void test_device_answers(void **state)
{
    carom_context *context = subject(state, 1);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_device_info info = {.size = sizeof info};
    queries q = queries_mixed(SWEEP, SEED, 3000);
    answers got = answers_alloc(SWEEP, q.count, 0xa5);
    inputs in = inputs_of(&q);
    test_ok("sweep", ask_as(context, SWEEP, q.count, &in, &got, ALL_FIELDS, &stats, &err), &err);
    assert_int_equal(stats.on_device, q.count);
    assert_int_equal(stats.on_cpu, 0);
    assert_int_equal(stats.fallen_back, 0);
    assert_int_equal(carom_context_get_device(context, &info, NULL), CAROM_OK);
    print_message("device %u: %s, %s, %u lanes\n", info.index, info.platform, info.name, info.lanes);
    answers_free(&got);
    queries_free(&q);
    carom_context_destroy(context);
}

#define COMMON(name, value)                                                                                        \
    {name ": families", test_families, NULL, NULL, value}, {name ": large batches", test_many, NULL, NULL, value}, \
        {name ": batch sizes", test_sizes, NULL, NULL, value},                                                     \
        {name ": selections of outputs", test_selections, NULL, NULL, value},                                      \
        {name ": triangles at rest", test_rest, NULL, NULL, value},                                                \
    {                                                                                                              \
        name ": float modes of the caller", test_float_modes, NULL, NULL, value                                    \
    }

#define ON(name, value)                                   \
    COMMON(name, value),                                  \
    {                                                     \
        name ": threads", test_threads, NULL, NULL, value \
    }

int main(void)
{
    static uint32_t lanes[] = {1, 4, 8, 16};
    const struct CMUnitTest on_cpu[] = {
        TEST_EACH_ISA(ON),
    };
    const struct CMUnitTest on_device[] = {
        {"device: answers", test_device_answers, NULL, NULL, &each_isa[CAROM_ISA_AUTO]},
        COMMON("device", &each_isa[CAROM_ISA_AUTO]),
        {"device: 1 lane", test_lanes, NULL, NULL, &lanes[0]},
        {"device: 4 lanes", test_lanes, NULL, NULL, &lanes[1]},
        {"device: 8 lanes", test_lanes, NULL, NULL, &lanes[2]},
        {"device: 16 lanes", test_lanes, NULL, NULL, &lanes[3]},
        cmocka_unit_test(test_chunks),
    };
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
