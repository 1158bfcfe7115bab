/* SPDX-License-Identifier: MIT */
/* The second filter of sweeps decides pairs of small whole numbers: grazes, slides, contacts on the border of two
 * features and contacts that begin or end at time 0 are known as such, and on which side of its rounded value a first
 * time lies. The reference judges every answer. */
#include "tests/support/support.h"

#define LANES 1
#include "kernels/wide.h"

#include "second_filter.h"

enum { SEED = 78 };

static float whole(ref_gen *g, int most)
{
    return (float)ref_gen_int(g, -most, most);
}

/* A pair of whole numbers: a triangle of any shape, or one of a wall, whose legs are along two axes, with a motion that
 * is often along an axis, a diagonal or the plane. */
static sweep_case pair_of(ref_gen *g, int most, int speed)
{
    sweep_case s = {{0}};
    for (int k = IN_CX; k < IN_SWEEP_RESTING; k++)
        s.in[k] = whole(g, most);
    s.in[IN_R] = fabsf(s.in[IN_R]);
    for (int axis = 0; axis < 3; axis++) {
        s.in[IN_VX + axis] = ref_gen_chance(g, 3) ? 0.0f : whole(g, speed);
        s.in[IN_WX + axis] = ref_gen_chance(g, 4) ? whole(g, speed) : 0.0f;
    }
    if (ref_gen_chance(g, 2)) {
        const int across = ref_gen_int(g, 0, 2), along = (across + 1) % 3;
        memcpy(&s.in[IN_P1X], &s.in[IN_P0X], 3 * sizeof(float));
        memcpy(&s.in[IN_P2X], &s.in[IN_P0X], 3 * sizeof(float));
        s.in[IN_P1X + along] += whole(g, 2);
        s.in[IN_P2X + (along + 1) % 3] += whole(g, 2);
        if (ref_gen_chance(g, 2))
            s.in[IN_R] = fabsf(s.in[IN_CX + across] - s.in[IN_P0X + across]); /* it touches the plane at time 0 */
    }
    return s;
}

static void test_lattice(void **state)
{
    static const struct {
        int most, speed, scale; /* times 2^scale; squares of squares leave binary64 where it is far from 0 */
        double least;           /* share that is decided */
    } lattices[] = {{1, 1, 0, 1.0},     {3, 1, 0, 1.0},    {3, 3, 0, 1.0},     {8, 4, 0, 1.0},
                    {30, 10, 0, 0.999}, {60, 3, 0, 0.999}, {120, 60, 0, 0.99}, {8, 4, 30, 1.0},
                    {8, 4, -30, 1.0},   {3, 3, -140, 0.5}, {3, 3, 120, 0.5}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lattices); i++) {
        uint64_t tried = 0, decided = 0, contacts = 0, ordered = 0;
        for (uint64_t k = 0; k < test_effort(20000); k++) {
            ref_given_sweep answer;
            ref_gen g;
            int order;
            double ratio;
            ref_gen_seed(&g, i, SEED, k);
            sweep_case s = pair_of(&g, lattices[i].most, lattices[i].speed);
            for (int column = 0; column < IN_SWEEP_MOVING; column++)
                s.in[column] = ldexpf(s.in[column], lattices[i].scale);
            if (memcmp(&s.in[IN_VX], &s.in[IN_WX], 3 * sizeof(float)) == 0)
                continue; /* integers decide pairs without motion */
            tried++;
            if (solve_second(&s, 0, &answer, &order)) {
                decided++;
                contacts += answer.state == STATE_APPROACHING;
                ordered += answer.state == STATE_APPROACHING && order != 0;
            }
            if (judge_second(&s, &ratio)) {
                print_sweep(&s);
                fail_msg("whole numbers up to %d, times 2^%d: decided, and wrong", lattices[i].most, lattices[i].scale);
            }
        }
        test_share("lattice", decided, tried, lattices[i].least, 1.0);
        test_share("lattice, sides of times", ordered, contacts, 0.99, 1.0);
    }
}

/* The sides of a time between `low` and `high`, which both round to 1. */
static int side_of(double low, double high)
{
    plucker_time time = {.is_zero = 0};
    plucker_time_set(low, high, 1.0, &time);
    assert_true(time.low == 1.0 && time.high == 1.0);
    return (time.is_above ? SECOND_AFTER : 0) | (time.is_not_above ? SECOND_NOT_AFTER : 0);
}

static void test_sides(void **state)
{
    (void)state;
    assert_int_equal(side_of(1.0 + 0x1p-40, 1.0 + 0x1p-39), SECOND_AFTER);
    assert_int_equal(side_of(1.0 - 0x1p-39, 1.0 - 0x1p-40), SECOND_NOT_AFTER);
    assert_int_equal(side_of(1.0, 1.0), SECOND_NOT_AFTER);
    assert_int_equal(side_of(1.0 - 0x1p-40, 1.0 + 0x1p-40), 0);
    assert_int_equal(side_of(1.0, 1.0 + 0x1p-40), 0);
}

static int is_exact(double a, double b)
{
    const bounded top = {a, 0.0}, below = {b, 0.0};
    return bounded_quotient_is_exact(top, below, a / b);
}

static void test_quotients(void **state)
{
    const bounded six = {6.0, 0.0}, about_six = {6.0, 0x1p-40}, three = {3.0, 0.0};
    (void)state;
    assert_true(is_exact(6.0, 3.0) && is_exact(-0x1.0000001p30, 0x1p-20) && is_exact(0x1p53 - 1.0, 1.0));
    assert_false(is_exact(1.0, 3.0)); /* though 3 (1 / 3) rounds to 1 */
    assert_false(is_exact(0x1p-950, 0x1p-940));
    assert_true(bounded_quotient_is_exact(six, three, 2.0));
    assert_false(bounded_quotient_is_exact(about_six, three, 2.0));
    assert_false(bounded_quotient_is_exact(three, about_six, 0.5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sides), cmocka_unit_test(test_quotients),
                                       cmocka_unit_test(test_lattice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
