/* SPDX-License-Identifier: MIT */
/* Hits at times at which slices begin: each is in one slice. */
#include "tests/support/clouds.h"

#include <math.h>

/* Cut into 2, 3, 5, 8, 12, 18 or 27, it has slices that begin at whole numbers. */
enum { WINDOW = 1080, ACROSS = 33, SPEEDS = 12 };

typedef struct lines {
    float center[2 * WINDOW][3], velocity[2 * WINDOW][3];
    int32_t a[2 * WINDOW], b[2 * WINDOW];
    uint8_t state[2 * WINDOW];
    float t[2 * WINDOW];
} lines;

/* Two spheres of radius 1 on a line of their own meet at time k + 1. */
static void place(lines *l, uint32_t k, float speed)
{
    for (uint32_t i = 0; i < 2; i++) {
        float *center = l->center[2 * k + i];
        center[0] = i ? 2 + 2 * speed * (float)(k + 1) : 0;
        center[1] = 4 * (float)(k % ACROSS);
        center[2] = 4 * (float)(k / ACROSS);
        l->velocity[2 * k + i][0] = i ? -speed : speed;
    }
}

static void check_list(carom_context *context, const carom_spheres_desc *d, lines *l)
{
    carom_list_totals totals;
    carom_error err;
    const carom_sphere_pair_list list = {.size = sizeof list,
                                         .capacity = COUNT_OF(l->a),
                                         .a = l->a,
                                         .b = l->b,
                                         .state = l->state,
                                         .t = l->t,
                                         .totals = &totals};
    test_ok("pairs that meet", carom_spheres_list(context, d, &list, NULL, &err), &err);
    assert_int_equal(totals.total, WINDOW);
    for (uint32_t k = 0; k < WINDOW; k++) {
        assert_int_equal(l->a[k], 2 * k);
        assert_int_equal(l->b[k], 2 * k + 1);
        assert_int_equal(l->state[k], CAROM_APPROACHING);
        assert_true(l->t[k] == (float)(k + 1));
    }
}

static void check_first(carom_context *context, const carom_spheres_desc *d, lines *l)
{
    carom_error err;
    const carom_sphere_partner_result out = {.size = sizeof out, .other = l->b, .state = l->state, .t = l->t};
    test_ok("first partners", carom_spheres_first(context, d, &out, NULL, &err), &err);
    for (int32_t i = 0; i < 2 * WINDOW; i++) {
        assert_int_equal(l->b[i], i ^ 1);
        assert_true(l->t[i] == (float)(i / 2 + 1));
    }
}

/* How many slices there are follows from the speed. */
static void hits_where_slices_begin(void **state)
{
    (void)state;
    const float radius = 1, window = WINDOW;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    lines *l = test_alloc(1, sizeof *l);
    for (int s = 0; s < SPEEDS; s++) {
        const carom_spheres_desc d = {
            .batch = {.size = sizeof d, .count = 2 * WINDOW, .accuracy = CAROM_ACCURACY_EXACT},
            .center = carom_xyz(l->center[0]),
            .velocity = carom_xyz(l->velocity[0]),
            .radius = {.data = &radius, .stride = CAROM_REPEAT},
            .t_max = {.data = &window, .stride = CAROM_REPEAT}};
        for (uint32_t k = 0; k < WINDOW; k++)
            place(l, k, ldexpf(1, -s));
        check_list(context, &d, l);
        check_first(context, &d, l);
    }
    free(l);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hits_where_slices_begin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
