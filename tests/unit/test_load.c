/* SPDX-License-Identifier: MIT */
/* Which load before a run of the bench its words warn of. */
#include "tests/support/support.h"

#include "bench/load.c"

static uint32_t usable;

uint32_t subjects_usable_threads(void)
{
    return usable;
}

enum { ALL = 0 };

static const char *warning(double load, int processors, uint32_t may_use, uint32_t threads)
{
    static char text[BENCH_WARNING];
    usable = may_use;
    bench_load_warning(&(bench_settings){.threads = threads}, load, processors, text);
    return text;
}

static void test_undisturbed(void **state)
{
    (void)state;
    assert_string_equal(warning(0.0, 2, 2, ALL), "");
    assert_string_equal(warning(0.3, 2, 2, ALL), ""); /* two idle processors, and what ran before */
    assert_string_equal(warning(0.5, 1, 1, ALL), "");
    assert_string_equal(warning(1.4, 2, 2, 1), "");     /* the run needs one of them */
    assert_string_equal(warning(1.4, 2, 1, ALL), "");   /* it may use one */
    assert_string_equal(warning(32.5, 64, 64, 32), ""); /* half of a large machine is free */
    assert_string_equal(warning(0.3, 2, 2, 9), "");     /* more than there are run on those that there are */
}

static void test_disturbed(void **state)
{
    (void)state;
    assert_string_equal(
        warning(0.51, 2, 2, ALL),
        "the load before the run was 0.51 on 2 processors: other programs run, and times of more than 1 "
        "thread are not to be believed");
    assert_string_equal(
        warning(1.51, 2, 2, ALL),
        "the load before the run was 1.51 on 2 processors: other programs run, and the times are not to "
        "be believed");
    assert_string_equal(warning(1.51, 2, 2, 1), warning(1.51, 2, 2, ALL));
    assert_string_equal(warning(0.6, 1, 1, ALL),
                        "the load before the run was 0.60 on 1 processor: other programs run, and the times are not to "
                        "be believed");
    assert_string_equal(
        warning(32.6, 64, 64, ALL),
        "the load before the run was 32.60 on 64 processors: other programs run, and times of more than "
        "31 threads are not to be believed");
    assert_string_equal(
        warning(900.0, 64, 64, 1),
        "the load before the run was 900.00 on 64 processors: other programs run, and the times are not "
        "to be believed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_undisturbed), cmocka_unit_test(test_disturbed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
