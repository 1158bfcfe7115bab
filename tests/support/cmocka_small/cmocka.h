/* SPDX-License-Identifier: MIT */
/* The part of cmocka's interface that our tests use, for cross builds where cmocka itself is not installed for the
 * target. It prints the same marks; native builds use the real one. */
#ifndef CAROM_TESTS_SUPPORT_CMOCKA_SMALL_CMOCKA_H
#define CAROM_TESTS_SUPPORT_CMOCKA_SMALL_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    int (*setup_func)(void **state);
    int (*teardown_func)(void **state);
    void *initial_state;
};

enum { SMALL_FAILED = 1, SMALL_SKIPPED = 2 };

/* One for all files of a program: a helper in another file may end the running test. */
__attribute__((weak)) jmp_buf small_test_end;

/* The formatter would move #f to the first column. */
/* clang-format off */
#define cmocka_unit_test(f) {#f, f, NULL, NULL, NULL}
#define cmocka_unit_test_setup(f, setup) {#f, f, setup, NULL, NULL}
#define cmocka_unit_test_setup_teardown(f, setup, teardown) {#f, f, setup, teardown, NULL}
#define cmocka_unit_test_prestate(f, state) {#f, f, NULL, NULL, state}
/* clang-format on */

__attribute__((format(printf, 3, 4))) static inline void small_say(const char *file, int line, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "[  ERROR   ] --- %s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

#define small_check(ok, ...)                            \
    do {                                                \
        if (!(ok)) {                                    \
            small_say(__FILE__, __LINE__, __VA_ARGS__); \
            longjmp(small_test_end, SMALL_FAILED);      \
        }                                               \
    } while (0)

#define skip() longjmp(small_test_end, SMALL_SKIPPED)
#define fail() small_check(0, "fail()")
#define fail_msg(...) small_check(0, __VA_ARGS__)
#define assert_true(c) small_check((c), "%s is false", #c)
#define assert_false(c) small_check(!(c), "%s is true", #c)
#define assert_null(c) small_check((c) == NULL, "%s is not NULL", #c)
#define assert_non_null(c) small_check((c) != NULL, "%s is NULL", #c)
#define assert_ptr_equal(a, b) small_check((const void *)(a) == (const void *)(b), "%s is not %s", #a, #b)
#define assert_int_equal(a, b) \
    small_check((long long)(a) == (long long)(b), "%s: %lld, expected %lld", #a, (long long)(a), (long long)(b))
#define assert_int_not_equal(a, b) small_check((long long)(a) != (long long)(b), "%s: %lld", #a, (long long)(a))
#define assert_in_range(v, low, high) \
    small_check((uintmax_t)(v) >= (uintmax_t)(low) && (uintmax_t)(v) <= (uintmax_t)(high), "%s is out of range", #v)
#define assert_float_equal(a, b, e) small_check((a) - (b) <= (e) && (b) - (a) <= (e), "%s is not %s", #a, #b)
#define assert_string_equal(a, b) small_check(!strcmp((a), (b)), "%s: '%s', expected '%s'", #a, (a), (b))
#define assert_string_not_equal(a, b) small_check(strcmp((a), (b)), "%s: '%s'", #a, (a))
#define assert_memory_equal(a, b, n) small_check(!memcmp((a), (b), (n)), "%s differs from %s", #a, #b)
#define assert_memory_not_equal(a, b, n) small_check(memcmp((a), (b), (n)), "%s equals %s", #a, #b)
#define assert_return_code(rc, error) small_check((rc) >= 0, "%s: %d (%d)", #rc, (int)(rc), (int)(error))
#define print_message(...) fprintf(stdout, __VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define cmocka_set_message_output(kind) ((void)0)

/* One test, in a function of its own: no variable lives across the jump. */
static inline int small_run_one(const struct CMUnitTest *test, void *state)
{
    int outcome = setjmp(small_test_end);
    if (outcome != 0)
        return outcome;
    if (test->setup_func && test->setup_func(&state))
        return SMALL_FAILED;
    test->test_func(&state);
    return test->teardown_func && test->teardown_func(&state) ? SMALL_FAILED : 0;
}

static inline int small_run(const struct CMUnitTest *tests, size_t count, int (*setup)(void **),
                            int (*teardown)(void **))
{
    static const char *const marks[] = {"       OK ", "  FAILED  ", "  SKIPPED "};
    void *shared = NULL;
    size_t failed = 0;
    if (setup && setup(&shared)) {
        fprintf(stderr, "[  FAILED  ] group setup\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(stderr, "[ RUN      ] %s\n", tests[i].name);
        int outcome = small_run_one(&tests[i], tests[i].initial_state ? tests[i].initial_state : shared);
        failed += outcome == SMALL_FAILED;
        fprintf(stderr, "[%s] %s\n", marks[outcome], tests[i].name);
    }
    if (teardown && teardown(&shared)) {
        fprintf(stderr, "[  FAILED  ] group teardown\n");
        failed++;
    }
    return (int)failed;
}

#define cmocka_run_group_tests(tests, setup, teardown) \
    small_run(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) cmocka_run_group_tests(tests, setup, teardown)

#endif
