/* SPDX-License-Identifier: MIT */
/* Clouds whose spheres move alike: on a conveyor, or in free fall. Only motion against each other makes pairs, and only
 * that is to cost. */
#include "tests/support/cloud_truth.h"

#include <math.h>

/* ---- every pair -------------------------------------------------------------------------------------------------- */

enum { SMALL = 300, DRIFTS = 8 };

/* The velocity of sphere i beside its own. */
static void add_drift(cloud *c, size_t i, size_t kind, ref_gen *g)
{
    static const float fall[3] = {0, 3, -250}, fast[3] = {1e30f, -1e29f, 0};
    float *v = c->velocity + 3 * i;
    for (int k = 0; k < 3; k++)
        v[k] += kind == 5 ? fast[k] : kind == 6 ? 0 : fall[k];
    if (kind == 1 && i % 40 == 3)
        v[0] = 1e30f;
    if (kind == 2 && i % 2)
        v[0] += 100;
    if (kind == 3)
        c->center[3 * i] += 1e7f;
    if (kind == 4)
        c->t_max[i] = powf(10, between(g, -4, 3));
    if (kind == 5)
        c->t_max[i] *= 1e-30f;
    if (kind == 6)
        v[0] += i % 2 ? 40.0f : -40.0f;
    if (kind == 7 && i % 10 == 0)
        v[0] = v[1] = v[2] = 0;
}

static cloud make_drift(size_t number, int exact)
{
    ref_gen g;
    ref_gen_seed(&g, 21, 1, number);
    cloud c = cloud_alloc(number / DRIFTS % 3 == 0 ? SMALL : number / DRIFTS % 3 == 1 ? 40 : 120);
    for (size_t i = 0; i < c.count; i++) {
        for (size_t k = 0; k < 3; k++) {
            c.center[3 * i + k] = between(&g, 0, 10);
            c.velocity[3 * i + k] = i % 5 == 0 ? 0.0f : between(&g, -2, 2);
        }
        c.radius[i] = between(&g, 0.2, 0.6);
        c.t_max[i] = i % 5 == 1 ? between(&g, 0, 1) : number % 3 == 0 && i % 9 == 0 ? INFINITY : 1.0f;
        add_drift(&c, i, number % DRIFTS, &g);
    }
    c.desc = (carom_cloud_desc){.batch = {.size = sizeof c.desc,
                                          .count = c.count,
                                          .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST},
                                .center = carom_xyz(c.center),
                                .radius = carom_scalars_of(c.radius),
                                .velocity = carom_xyz(c.velocity),
                                .t_max = carom_scalars_of(c.t_max),
                                .start = (carom_start)(number / 5 % 3)};
    if (number % 4 == 1)
        c.desc.period[number % 3] = 10;
    return c;
}

static void drifts(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(3 * DRIFTS); i++) {
        cloud c = make_drift(i, (int)(i % 2));
        cloud_check_made(context, &c, i, (int)(i % 2));
    }
    carom_context_destroy(context);
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

/* Velocities are multiples of 2^-6, and the drift is a power of two, so that differences are exact: the list is that of
 * the cloud without the drift. Were the drift a motion, ways would be 10^4 times the distances. */
static void a_drift_costs_nothing(void **state)
{
    enum { MANY = 50000, SIDE = 74 };
    const float drift[3] = {0, 0x1p17f, -0x1p17f}, radius = 0.4f, t_max = 1;
    float *center = test_alloc((size_t)3 * MANY, sizeof *center),
          *velocity = test_alloc((size_t)3 * MANY, sizeof *center);
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    cloud_records expected = {0};
    ref_gen g;
    (void)state;
    ref_gen_seed(&g, 21, 2, 0);
    for (size_t i = 0; i < (size_t)3 * MANY; i++) {
        center[i] = between(&g, 0, SIDE);
        velocity[i] = floorf(between(&g, -8, 9)) * 0x1p-6f;
    }
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = MANY},
                          .center = carom_xyz(center),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT},
                          .velocity = carom_xyz(velocity),
                          .t_max = {.data = &t_max, .stride = CAROM_REPEAT}};
    cloud_list(context, &d, MANY, &expected);
    assert_true(expected.count > MANY / 10);
    for (size_t number = 0; number < 3; number++) { /* along one axis, two, and three */
        cloud_records got = {0};
        for (size_t i = 0; i < MANY; i++)
            velocity[3 * i + number % 3] += drift[1 + number % 2];
        cloud_list(context, &d, MANY, &got);
        cloud_check_records(&got, &expected, number, "in a drift");
        free(got.at);
    }
    free(expected.at), free(center), free(velocity);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drifts), cmocka_unit_test(a_drift_costs_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
