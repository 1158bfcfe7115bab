/* SPDX-License-Identifier: MIT */
/* The order of cells: a permutation, the same for every thread count and instruction set, in which spheres that are
 * near each other are near each other in memory. */
#include "tests/support/clouds.h"

#include <math.h>

static void ask_order(carom_context *context, const carom_cloud_desc *d, uint32_t *order)
{
    carom_error err;
    carom_stats stats = {.size = sizeof stats};
    test_ok("order of a cloud", carom_cloud_order(context, d, order, &stats, &err), &err);
    assert_int_equal(stats.queries, d->batch.count);
}

static void check_permutation(const carom_cloud_desc *d, const float *radius, const uint32_t *order)
{
    const size_t count = (size_t)d->batch.count;
    uint8_t *seen = test_alloc(count, 1);
    int is_behind = 0;
    memset(seen, 0, count);
    for (size_t k = 0; k < count; k++) {
        const uint32_t i = order[k];
        assert_true(i < count && !seen[i]);
        seen[i] = 1;
        const int is_invalid = !(radius[i] >= 0);
        assert_true(is_invalid || !is_behind);
        assert_true(!is_behind || order[k] > order[k - 1]);
        is_behind = is_invalid;
    }
    free(seen);
}

static void same_order(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t i = 0; i < test_effort(4 * CLOUD_FAMILIES); i++) {
        cloud c = make_cloud(i, 0);
        uint32_t *one = test_alloc(c.count, sizeof *one), *other = test_alloc(c.count, sizeof *other);
        ask_order(scalar, &c.desc, one);
        ask_order(context, &c.desc, other);
        check_permutation(&c.desc, c.radius, one);
        if (memcmp(one, other, c.count * sizeof *one) != 0)
            fail_msg("%s: cloud %zu (%s)", label, i, cloud_family(i));
        free(one), free(other);
        cloud_free(&c);
    }
}

/* From a sphere to the next in the order it is a few cells, and not half of the box. */
static void neighbours_are_near(void **state)
{
    (void)state;
    enum { MANY = 60000 };
    const float radius = 0.5f;
    carom_context *one = test_cpu(CAROM_ISA_AUTO, 1), *three = test_cpu(CAROM_ISA_AUTO, 3);
    float *center = test_alloc(3 * MANY, sizeof *center);
    uint32_t *order = test_alloc(MANY, sizeof *order), *again = test_alloc(MANY, sizeof *again);
    ref_gen g;
    ref_gen_seed(&g, 31, 1, 0);
    for (size_t i = 0; i < 3 * MANY; i++)
        center[i] = between(&g, 0, 32);
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = MANY},
                                .center = carom_xyz(center),
                                .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    ask_order(one, &d, order);
    ask_order(three, &d, again);
    assert_memory_equal(order, again, MANY * sizeof *order);
    carom_cloud_desc wider = d; /* only centres and radii count */
    wider.margin = 1;
    ask_order(one, &wider, again);
    assert_memory_equal(order, again, MANY * sizeof *order);
    double sum = 0;
    for (size_t k = 1; k < MANY; k++)
        for (size_t j = 0; j < 3; j++)
            sum += fabs((double)center[3 * order[k] + j] - (double)center[3 * order[k - 1] + j]);
    if (sum > 6.0 * MANY)
        fail_msg("from sphere to sphere it is %g", sum / MANY);
    free(center), free(order), free(again);
    carom_context_destroy(one);
    carom_context_destroy(three);
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Spheres of one radius, evenly in a cube. */
typedef struct heap {
    float radius, at;
    size_t share; /* of 6 */
} heap;

/* In each level rows ascend along z: how often the order of a heap's spheres falls back to the lower half of its cube
 * says how many levels they are in. */
static size_t count_levels(const float *center, const float *radius, const uint32_t *order, size_t count,
                           const heap *one, double side)
{
    const double low = (double)one->at + 0.25 * side, high = (double)one->at + 0.75 * side;
    size_t levels = 0;
    int is_high = 1;
    for (size_t k = 0; k < count; k++) {
        const double z = (double)center[3 * order[k] + 2];
        if (radius[order[k]] < one->radius || radius[order[k]] > one->radius)
            continue;
        levels += is_high && z < low;
        is_high = z < low ? 0 : z > high ? 1 : is_high;
    }
    return levels;
}

/* Wherever heaps of several sizes lie, the spheres of each are in one level. */
static void heaps_have_levels(void **state)
{
    (void)state;
    enum { MANY = 30000, HEAPS = 6 };
    static const heap sets[][HEAPS] = {
        {{0.4f, 0, 3}, {0.02f, 0, 3}},
        {{0.4f, 0, 3}, {0.02f, 500, 3}},
        {{0.4f, 0, 1}, {0.04f, 40, 1}, {4e-3f, 50, 1}, {4e-4f, 60, 1}, {4e-5f, 70, 1}, {4e-6f, 80, 1}},
        {{0.4f, 0, 1}, {0.16f, 40, 1}, {0.064f, 60, 1}, {0.0256f, 70, 1}, {0.01f, 75, 1}, {0.004f, 80, 1}},
        {{0.4f, 0, 1}, {0.04f, 0, 1}, {4e-3f, 0, 1}, {4e-4f, 0, 1}, {4e-5f, 0, 1}, {4e-6f, 0, 1}}};
    carom_context *context = test_context();
    float *center = test_alloc(3 * MANY, sizeof *center), *radius = test_alloc(MANY, sizeof *radius);
    uint32_t *order = test_alloc(MANY, sizeof *order);
    ref_gen g;
    ref_gen_seed(&g, 71, 1, 0);
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        double side[HEAPS]; /* a tenth of the space is theirs */
        for (size_t h = 0; h < HEAPS; h++)
            side[h] = (double)sets[s][h].radius * cbrt((double)(MANY / 6 * sets[s][h].share) * 42);
        for (size_t i = 0; i < MANY; i++) {
            size_t h = 0;
            for (size_t left = i % 6; left >= sets[s][h].share; left -= sets[s][h++].share)
                ;
            const double at = (double)sets[s][h].at;
            for (size_t k = 0; k < 3; k++)
                center[3 * i + k] = between(&g, at, at + side[h]);
            radius[i] = sets[s][h].radius;
        }
        const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = MANY},
                                    .center = carom_xyz(center),
                                    .radius = {.data = radius, .stride = sizeof *radius}};
        ask_order(context, &d, order);
        for (size_t h = 0; h < HEAPS && sets[s][h].share > 0; h++) {
            const size_t levels = count_levels(center, radius, order, MANY, &sets[s][h], side[h]);
            if (levels != 1)
                fail_msg("set %zu: spheres of radius %g are in %zu levels", s, (double)sets[s][h].radius, levels);
        }
    }
    free(center), free(radius), free(order);
    carom_context_destroy(context);
}

static void bad_input(void **state)
{
    (void)state;
    const float center[] = {0, 0, 0}, radius = 1;
    uint32_t order[3] = {7, 7, 7};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = 3},
                          .center = carom_repeat(center),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    carom_error err;
    test_error(carom_cloud_order(context, &d, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "order");
    test_error(carom_cloud_order(NULL, &d, order, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "context");
    d.full = 1;
    test_error(carom_cloud_order(context, &d, order, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "full is 1");
    d.full = 0;
    d.radius.data = NULL;
    test_error(carom_cloud_order(context, &d, order, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "radius");
    assert_int_equal(order[0], 7);
    d.batch.count = 0;
    ask_order(context, &d, order);
    assert_int_equal(order[0], 7);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {SAME_BITS_ON_CPU(same_order), cmocka_unit_test(neighbours_are_near),
                                       cmocka_unit_test(heaps_have_levels), cmocka_unit_test(bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
