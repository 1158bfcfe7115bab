/* SPDX-License-Identifier: MIT */
/* Which ratios of a measurement are known well enough, and which sides need further rounds. All times are made up, so
 * the test does not depend on real time. */
#include "tests/support/support.h"

#include "bench/measure.c"

enum { SIDES = 4, PLANNED = 12 };

/* Sides 1 and 3 over 0 and 2: side 3 takes 1 to n times as long as side 2, out of order; side 1 always twice as long as
 * 0. */
static measurement made_up(int rounds)
{
    measurement m = {.sides = SIDES, .rounds = rounds};

    for (int round = 0; round < rounds; round++) {
        const double seconds[SIDES] = {1.0 + round, 2.0 * (1.0 + round), 0.5, 0.5 * (1 + (round * 5 + 3) % rounds)};
        for (int s = 0; s < SIDES; s++)
            m.seconds[s][round] = m.cpu[s][round] = seconds[s];
    }
    return m;
}

static void test_uncertainty(void **state)
{
    /* For n ratios: the number of ratios outside the confidence interval at each end, from tables of the sign test. */
    static const struct {
        int rounds, outside;
    } table[] = {{2, 0}, {4, 0}, {6, 0}, {8, 0}, {9, 1}, {12, 2}, {17, 4}, {64, 23}};
    (void)state;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const int n = table[i].rounds;
        const measurement m = made_up(n);
        const double wanted = 0.5 * (n - 1 - 2 * table[i].outside) / (0.5 * (n + 1));
        if (fabs(measure_uncertainty(&m, 3, 2) - wanted) > 1e-12)
            fail_msg("%d rounds: %g, not %g", n, measure_uncertainty(&m, 3, 2), wanted);
        assert_true(measure_uncertainty(&m, 1, 0) == 0.0); /* whatever the times do */
    }
    assert_true(isinf(measure_uncertainty(&(measurement){.sides = SIDES}, 3, 2)));
    const measurement once = made_up(1);
    assert_true(isinf(measure_uncertainty(&once, 1, 0)));
}

/* A round that measured only one of two sides does not count for their ratio. */
static void test_left_out(void **state)
{
    measurement m = made_up(PLANNED);
    (void)state;

    for (int round = 0; round < PLANNED; round += 2) {
        m.seconds[0][round] = (double)NAN;
        m.seconds[1][round + 1] = (double)NAN;
    }
    assert_true(isinf(measure_uncertainty(&m, 1, 0)));
    m.seconds[0][0] = m.seconds[1][0] / 3.0;
    m.seconds[0][2] = m.seconds[1][2] / 5.0;
    assert_true(fabs(measure_uncertainty(&m, 1, 0) - 0.25) < 1e-12);
}

static void count_run(void *user)
{
    ++*(int *)user;
}

static void test_more(void **state)
{
    static const measure_pair pairs[] = {{1, 0}, {3, 2}};
    int runs[SIDES] = {0};
    measure_side sides[SIDES];
    measurement m = made_up(PLANNED);
    (void)state;

    for (int s = 0; s < SIDES; s++)
        sides[s] = (measure_side){count_run, &runs[s]};
    m.repeat[2] = 3; /* side 3 is a long one */
    assert_true(measure_more(&m, sides, pairs, 2, 0.0) == 0.0);
    assert_true(measure_more(&m, sides, pairs, 2, -1.0) == 0.0);
    (void)measure_more(&m, sides, pairs, 1, 1e9); /* all settled */
    assert_int_equal(m.rounds, PLANNED);
    assert_int_equal(runs[0] + runs[1] + runs[2] + runs[3], 0);

    (void)measure_more(&m, sides, pairs, 2, 1e-12); /* the last round may exceed it */
    assert_int_equal(m.rounds, PLANNED + 1);
    (void)measure_more(&m, sides, pairs, 2, 1e9);
    assert_in_range(m.rounds, PLANNED + 2, MEASURE_ROUNDS_MAX);
    assert_true(m.rounds == MEASURE_ROUNDS_MAX || measure_uncertainty(&m, 3, 2) <= SETTLED);
    assert_int_equal(runs[0] + runs[1], 0);
    assert_int_equal(runs[2], 3 * (m.rounds - PLANNED));
    assert_int_equal(runs[3], m.rounds - PLANNED);
    assert_int_equal(measure_rounds(&m, 0), PLANNED);
    assert_int_equal(measure_rounds(&m, 3), m.rounds);

    m = made_up(MEASURE_ROUNDS_MAX); /* no room */
    assert_true(measure_more(&m, sides, pairs, 2, 1e9) == 0.0);
    assert_int_equal(m.rounds, MEASURE_ROUNDS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uncertainty),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
