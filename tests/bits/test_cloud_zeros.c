/* SPDX-License-Identifier: MIT */
/* A zero of a depth or normal is +0, also where a negative number only rounds to zero in binary32. Pairs of spheres
 * whose centres differ by the least numbers along one axis, at rest and in motion, decided by the text and by integers.
 */
#include "tests/support/support.h"

#include <math.h>

enum { PAIRS = 24, BALLS = 2 * PAIRS, LEAST = 24 /* offsets of so many units of the least number */ };

typedef struct zero_lists {
    float depth[PAIRS], normal[3 * PAIRS];
    carom_list_totals totals;
} zero_lists;

/* Pair i has an offset of -i times the least number along y or z, which its distance of 64 and more makes round to
 * zero. In motion it grazes, from so far that integers decide. */
static void make_pair(uint32_t i, int moves, float *center, float *velocity)
{
    const float tiny = -0x1p-149f * (float)(i % LEAST);
    const uint32_t axis = 1 + i % 2;
    memset(center, 0, 6 * sizeof *center);
    memset(velocity, 0, 6 * sizeof *velocity);
    center[3 - axis] = center[3 + 3 - axis] = 1024.0f * (float)i;
    center[3 + axis] = tiny;
    if (moves) {
        center[3 - axis + 3] += 127.9375f;
        center[3] = 0x1p23f;
        velocity[3] = -0x1p23f;
    } else {
        center[3] = 100.0f;
    }
}

static zero_lists list_pairs(carom_context *context, int moves, carom_accuracy accuracy)
{
    static float center[3 * BALLS], velocity[3 * BALLS];
    static const float radius = 64;
    zero_lists out = {.totals = {0}};
    carom_error err = {0};
    for (uint32_t i = 0; i < PAIRS; i++)
        make_pair(i, moves, center + 6 * i, velocity + 6 * i);
    const carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = BALLS, .accuracy = accuracy},
                                   .center = carom_xyz(center),
                                   .velocity = moves ? carom_xyz(velocity) : (carom_points){0},
                                   .radius = {&radius, CAROM_REPEAT}};
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = PAIRS,
                                        .depth = out.depth,
                                        .normal = carom_xyz_out(out.normal),
                                        .totals = &out.totals};
    test_ok("list", carom_cloud_list(context, &desc, &list, NULL, &err), &err);
    assert_int_equal(out.totals.stored, PAIRS);
    return out;
}

static void check(carom_context *scalar, carom_context *context, const char *label)
{
    for (int i = 0; i < 4; i++) {
        const carom_accuracy accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        const zero_lists expected = list_pairs(scalar, i / 2, accuracy), got = list_pairs(context, i / 2, accuracy);
        for (size_t k = 0; k < 3 * PAIRS; k++)
            if (is_nan_or_minus_zero(got.normal[k]))
                fail_msg("%s: number %zu of normal %zu is %a", label, k % 3, k / 3, (double)got.normal[k]);
        for (size_t k = 0; k < PAIRS; k++)
            if (is_nan_or_minus_zero(got.depth[k]))
                fail_msg("%s: depth %zu is %a", label, k, (double)got.depth[k]);
        assert_memory_equal(&got, &expected, sizeof got);
    }
}

/* Scalar code itself. */
static void zeros_are_positive(void **state)
{
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    (void)state;
    check(scalar, scalar, "scalar");
    carom_context_destroy(scalar);
}

int main(void)
{
    if (test_on_device()) {
        const struct CMUnitTest tests[] = {SAME_BITS_ON_DEVICE(check)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(zeros_are_positive), SAME_BITS_ON_CPU(check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
