/* SPDX-License-Identifier: MIT */
/* Known answers: hits at times at which slices begin, each in one slice; images that overlap at once; what the start
 * policy leaves of spheres at rest; partners that a search finds last. */
#include "tests/support/cloud_lists.h"

#include <math.h>

/* Cut into 2, 3, 5, 8, 12, 18 or 27, it has slices that begin at whole numbers. */
enum { WINDOW = 1080, ACROSS = 33, SPEEDS = 12 };

typedef struct lines {
    float center[2 * WINDOW][3], velocity[2 * WINDOW][3];
    int32_t a[2 * WINDOW], b[2 * WINDOW];
    uint8_t state[2 * WINDOW];
    float t[2 * WINDOW], t_max[2 * WINDOW];
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
        l->t_max[2 * k + i] = (float)(k + 1);
    }
}

static void check_list(carom_context *context, const carom_cloud_desc *d, lines *l)
{
    carom_list_totals totals;
    carom_error err;
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = COUNT_OF(l->a),
                                        .a = l->a,
                                        .b = l->b,
                                        .state = l->state,
                                        .t = l->t,
                                        .totals = &totals};
    test_ok("pairs that meet", carom_cloud_list(context, d, &list, NULL, &err), &err);
    assert_int_equal(totals.total, WINDOW);
    for (uint32_t k = 0; k < WINDOW; k++) {
        assert_int_equal(l->a[k], 2 * k);
        assert_int_equal(l->b[k], 2 * k + 1);
        assert_int_equal(l->state[k], CAROM_APPROACHING);
        assert_true(l->t[k] == (float)(k + 1));
    }
}

static void check_first(carom_context *context, const carom_cloud_desc *d, lines *l)
{
    carom_error err;
    const carom_cloud_partner_result out = {.size = sizeof out, .other = l->b, .state = l->state, .t = l->t};
    test_ok("first partners", carom_cloud_first(context, d, &out, NULL, &err), &err);
    for (int32_t i = 0; i < 2 * WINDOW; i++) {
        assert_int_equal(l->b[i], i ^ 1);
        assert_true(l->t[i] == (float)(i / 2 + 1));
    }
}

/* How many slices there are follows from the speed. The window is that of all spheres, or ends for each with its hit.
 */
static void hits_where_slices_begin(void **state)
{
    (void)state;
    const float radius = 1, window = WINDOW;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    lines *l = test_alloc(1, sizeof *l);
    for (int s = 0; s < 2 * SPEEDS; s++) {
        const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = 2 * WINDOW, .accuracy = CAROM_ACCURACY_EXACT},
                                    .center = carom_xyz(l->center[0]),
                                    .velocity = carom_xyz(l->velocity[0]),
                                    .radius = {.data = &radius, .stride = CAROM_REPEAT},
                                    .t_max = s % 2 ? carom_scalars_of(l->t_max)
                                                   : (carom_scalars){.data = &window, .stride = CAROM_REPEAT}};
        for (uint32_t k = 0; k < WINDOW; k++)
            place(l, k, ldexpf(1, -(s / 2)));
        check_list(context, &d, l);
        check_first(context, &d, l);
    }
    free(l);
    carom_context_destroy(context);
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

static void check_pairs(carom_context *context, const carom_cloud_desc *desc, const cloud_record *expected,
                        uint64_t count)
{
    for (int exact = 0; exact < 2; exact++) {
        carom_cloud_desc d = *desc;
        cloud_records got = {NULL, 0, 0};
        d.batch.accuracy = (carom_accuracy)exact;
        assert_int_equal(cloud_list(context, &d, 8, &got).total, count);
        for (uint64_t i = 0; i < count; i++) {
            const cloud_record *g = &got.at[i];
            if (cloud_record_order(g, &expected[i]) != 0 || isnan(g->t) || g->state != expected[i].state)
                fail_msg("record %d, exact %d: %d %d, state %d, t %g, shift %d %d %d", (int)i, exact, g->a, g->b,
                         g->state, (double)g->t, g->shift[0], g->shift[1], g->shift[2]);
        }
        free(got.at);
    }
}

/* Over the border of the period: overlapping at time 0, and they meet there. */
static void images_in_motion(void **state)
{
    static const float center[][3] = {{0.25f, 0, 0}, {9.75f, 0, 0}, {0.5f, 6, 0}, {7.5f, 6, 0}};
    static const float velocity[][3] = {{0, 0.5f, 0}, {0, 0.5f, 0}, {0, 0, 0}, {0.5f, 0, 0}};
    static const cloud_record expected[] = {{0, 1, 0, CAROM_OVERLAPPING, {-1, 0, 0}},
                                            {2, 3, 2, CAROM_APPROACHING, {-1, 0, 0}}};
    static const cloud_record full[] = {{0, 1, 0, CAROM_OVERLAPPING, {-1, 0, 0}},
                                        {1, 0, 0, CAROM_OVERLAPPING, {1, 0, 0}},
                                        {2, 3, 2, CAROM_APPROACHING, {-1, 0, 0}},
                                        {3, 2, 2, CAROM_APPROACHING, {1, 0, 0}}};
    const float radius = 1, window = 3;
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = COUNT_OF(center)},
                          .center = carom_xyz(center[0]),
                          .velocity = carom_xyz(velocity[0]),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT},
                          .t_max = {.data = &window, .stride = CAROM_REPEAT},
                          .period = {10, 0, 0}};
    check_pairs(context, &d, expected, COUNT_OF(expected));
    d.full = 1;
    check_pairs(context, &d, full, COUNT_OF(full));
    d.full = 0;
    d.start = CAROM_START_SKIP;
    check_pairs(context, &d, expected + 1, 1);
    carom_context_destroy(context);
}

/* Overlapping, touching, and within the margin alone; a full list of one sphere. */
static void starts_at_rest(void **state)
{
    static const float center[][3] = {{0, 0, 0}, {1, 0, 0}, {3, 0, 0}, {5.5f, 0, 0}};
    static const cloud_record expected[] = {{0, 1, 0, CAROM_OVERLAPPING, {0}}, {1, 2, 0, CAROM_TOUCHING, {0}}};
    static const cloud_record with_margin[] = {{0, 1, 0, CAROM_OVERLAPPING, {0}},
                                               {0, 2, INFINITY, CAROM_MISS, {0}},
                                               {1, 2, 0, CAROM_TOUCHING, {0}},
                                               {2, 3, INFINITY, CAROM_MISS, {0}}};
    static const cloud_record of_one[] = {{1, 0, 0, CAROM_OVERLAPPING, {0}}, {1, 2, 0, CAROM_TOUCHING, {0}}};
    static const cloud_record near[] = {{0, 2, INFINITY, CAROM_MISS, {0}}, {2, 3, INFINITY, CAROM_MISS, {0}}};
    const float radius = 1;
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = COUNT_OF(center)},
                          .center = carom_xyz(center[0]),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    check_pairs(context, &d, expected, COUNT_OF(expected));
    d.full = 1;
    d.batch.begin = 1;
    d.a_end = 2;
    check_pairs(context, &d, of_one, COUNT_OF(of_one));
    d.full = 0;
    d.batch.begin = d.a_end = 0;
    d.start = CAROM_START_SKIP_PARTING;
    check_pairs(context, &d, expected, COUNT_OF(expected));
    d.start = CAROM_START_SKIP;
    check_pairs(context, &d, expected, 0);
    d.margin = 1;
    check_pairs(context, &d, near, COUNT_OF(near));
    d.start = CAROM_START_REPORT;
    check_pairs(context, &d, with_margin, COUNT_OF(with_margin));
    carom_context_destroy(context);
}

/* ---- best partners ----------------------------------------------------------------------------------------------- */

/* A sphere that many touch, which come up in the search before the one of the lowest index: that touches it too, or
 * overlaps it. A crowd elsewhere makes the cells dense. */
static void lowest_index_last(void **state)
{
    enum { TOUCHING = 40, OWN = TOUCHING + 1, COUNT = 400 };
    static float center[COUNT][3];
    const float radius = 0.5f;
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = COUNT},
                                    .center = carom_xyz(center[0]),
                                    .radius = {.data = &radius, .stride = CAROM_REPEAT}};
        int32_t other[COUNT];
        uint8_t start[COUNT];
        float t[COUNT];
        carom_error err;
        const carom_cloud_partner_result out = {.size = sizeof out, .other = other, .state = start, .t = t};
        for (int i = 0; i < COUNT; i++)
            center[i][0] = i == 0 ? overlaps ? 0.5f : 1.0f : i <= TOUCHING ? -1.0f : i == OWN ? 0.0f : 100.0f;
        test_ok("first partners", carom_cloud_first(context, &d, &out, NULL, &err), &err);
        assert_int_equal(other[OWN], 0);
        assert_int_equal(start[OWN], overlaps ? CAROM_OVERLAPPING : CAROM_TOUCHING);
        assert_true(t[OWN] == 0.0f);
    }
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hits_where_slices_begin), cmocka_unit_test(images_in_motion),
                                       cmocka_unit_test(starts_at_rest), cmocka_unit_test(lowest_index_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
