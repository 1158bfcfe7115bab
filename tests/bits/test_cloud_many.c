/* SPDX-License-Identifier: MIT */
/* Many spheres among themselves, on every instruction set and device: thousands against every pair in binary64, and so
 * many in one place that all of their pairs would be too many. */
#include "tests/support/cloud_lists.h"

#include <math.h>

/* Very many spheres in one place: searches end at once; lists and counts say why not. */
static void many_in_one_place(void **state)
{
    (void)state;
    enum { MANY = 400000 };
    const float center[] = {1, 2, 3}, velocity[] = {0, 0, 1}, radius = 1, point = 0;
    carom_context *context = test_context();
    uint8_t *hit = test_alloc(MANY, 1);
    int32_t *other = test_alloc(MANY, sizeof *other);
    uint32_t *count = test_alloc(MANY, sizeof *count);
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = MANY},
                                .center = carom_repeat(center),
                                .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other};
    const carom_cloud_count_result counts = {sizeof counts, count};
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list, .totals = &totals};
    carom_error err;
    test_ok("first partners", carom_cloud_first(context, &d, &first, NULL, &err), &err);
    test_ok("any partner", carom_cloud_any(context, &d, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(other[i], i == 0);
        assert_int_equal(hit[i], 1);
    }
    carom_cloud_desc open = d; /* no pair is sure: points; in motion; images */
    open.radius.data = &point;
    test_ok("first partners of points", carom_cloud_first(context, &open, &first, NULL, &err), &err);
    open = d;
    open.velocity = carom_repeat(velocity);
    test_ok("any partner in motion", carom_cloud_any(context, &open, TEST_ANY(hit), NULL, &err), &err);
    open = d;
    open.period[1] = 8;
    test_ok("any partner in a period", carom_cloud_any(context, &open, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(other[i], i == 0);
        assert_int_equal(hit[i], 1);
    }
    test_error(carom_cloud_count(context, &d, &counts, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "N^2/2");
    test_error(carom_cloud_list(context, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "N^2/2");
    free(hit), free(other), free(count);
    carom_context_destroy(context);
}

/* ---- thousands --------------------------------------------------------------------------------------------------- */

enum { LARGE = 5000 };

typedef void shape_fn(ref_gen *g, size_t i, float *center, float *radius);
static void shape_equal(ref_gen *g, size_t i, float *center, float *radius)
{
    (void)i;
    for (int k = 0; k < 3; k++)
        center[k] = between(g, -20, 20);
    *radius = 1;
}
static void shape_spread(ref_gen *g, size_t i, float *center, float *radius)
{
    shape_equal(g, i, center, radius);
    *radius = between(g, 0, 1) < 0.01f ? 5 : powf(10, between(g, -1, 0.3)) / 2;
}
static void shape_pile(ref_gen *g, size_t i, float *center, float *radius)
{
    shape_equal(g, i, center, radius);
    if (i % 20 != 0)
        center[2] = 0.02f * center[2] + 3;
    *radius = 0.4f;
}
/* One row, longer than what is looked at together; one sphere meets it all. */
static void shape_line(ref_gen *g, size_t i, float *center, float *radius)
{
    shape_equal(g, i, center, radius);
    center[0] *= 10;
    center[1] = 0.01f * center[1];
    center[2] = 0.01f * center[2];
    *radius = i == LARGE / 2 ? 300 : 0.04f;
}
/* Hardly any in a row, and rows far apart. */
static void shape_sparse(ref_gen *g, size_t i, float *center, float *radius)
{
    shape_equal(g, i, center, radius);
    for (int k = 0; k < 3; k++)
        center[k] *= i % 2 ? 1.0f : 1000.0f;
}

/* Every pair in binary64: no pair of these clouds is nearer to a bound than its rounding. */
static cloud_records expect_large(const float *center, const float *radius, const uint32_t *mask, double margin)
{
    cloud_records r = {0};
    for (size_t a = 0; a < LARGE; a++) {
        const size_t first = r.count;
        for (size_t b = a + 1; b < LARGE; b++) {
            double distance2 = 0;
            for (size_t k = 0; k < 3; k++) {
                const double d = (double)center[3 * b + k] - (double)center[3 * a + k];
                distance2 += d * d;
            }
            const double sum = (double)radius[a] + (double)radius[b];
            if (distance2 > (sum + margin) * (sum + margin) || (mask && !(mask[a] & mask[b])))
                continue;
            cloud_record one = {.a = (int32_t)a, .b = (int32_t)b, .state = CAROM_OVERLAPPING};
            if (distance2 > sum * sum) {
                one.state = CAROM_MISS;
                one.t = INFINITY;
            }
            cloud_append(&r, one);
        }
        if (r.count > first)
            qsort(r.at + first, r.count - first, sizeof *r.at, cloud_compare);
    }
    return r;
}

static void check_large(carom_context *context, const carom_cloud_desc *d, const cloud_records *expected, size_t number)
{
    carom_cloud_desc asked = *d;
    for (int exact = 0; exact < 2; exact++) {
        cloud_records got = {0};
        asked.batch.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        cloud_list(context, &asked, expected->count, &got);
        cloud_check_records(&got, expected, number, "of many");
        free(got.at);
    }
    uint32_t *partners = test_alloc(LARGE, sizeof *partners), *count = test_alloc(LARGE, sizeof *count);
    for (size_t i = 0; i < expected->count; i++) {
        count[expected->at[i].a]++;
        count[expected->at[i].b]++;
    }
    const carom_cloud_count_result counts = {sizeof counts, partners};
    carom_error err;
    test_ok("partners of many", carom_cloud_count(context, &asked, &counts, NULL, &err), &err);
    assert_memory_equal(partners, count, LARGE * sizeof *count);
    free(partners), free(count);
}

/* Of spheres at rest the first partner is the lowest index. */
static void check_large_partners(carom_context *context, const carom_cloud_desc *d, const cloud_records *expected)
{
    int32_t *other = test_alloc(LARGE, sizeof *other), *best = test_alloc(LARGE, sizeof *best);
    uint8_t *hit = test_alloc(LARGE, 1);
    for (size_t i = 0; i < LARGE; i++)
        best[i] = -1;
    for (size_t i = 0; i < expected->count; i++) {
        const int32_t a = expected->at[i].a, b = expected->at[i].b;
        best[a] = best[a] < 0 || b < best[a] ? b : best[a];
        best[b] = best[b] < 0 || a < best[b] ? a : best[b];
    }
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other};
    carom_error err;
    test_ok("first of many", carom_cloud_first(context, d, &first, NULL, &err), &err);
    test_ok("any of many", carom_cloud_any(context, d, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < LARGE; i++)
        if (other[i] != best[i] || hit[i] != (best[i] >= 0))
            fail_msg("sphere %zu: partner %d and %d instead of %d", i, other[i], hit[i], best[i]);
    free(other), free(best), free(hit);
}

static void many_spheres(carom_context *scalar, carom_context *context, const char *label)
{
    static shape_fn *const shapes[] = {shape_equal, shape_spread, shape_pile, shape_line, shape_sparse};
    float *center = test_alloc(3 * LARGE, sizeof *center), *radius = test_alloc(LARGE, sizeof *radius);
    uint32_t *mask = test_alloc(LARGE, sizeof *mask);
    (void)scalar, (void)label;
    for (size_t number = 0; number < 3 * COUNT_OF(shapes); number++) {
        const size_t options = number / COUNT_OF(shapes);
        ref_gen g;
        ref_gen_seed(&g, 18, 1, number);
        for (size_t i = 0; i < LARGE; i++) {
            shapes[number % COUNT_OF(shapes)](&g, i, &center[3 * i], &radius[i]);
            mask[i] = 1u << (int)(2 * ref_gen_range(&g, 0, 1));
        }
        carom_cloud_desc d = {.batch = {.size = sizeof d, .count = LARGE},
                              .center = carom_xyz(center),
                              .radius = carom_scalars_of(radius),
                              .margin = options ? 0.125f : 0};
        if (options == 2)
            d.mask = carom_uints_of(mask);
        cloud_records expected = expect_large(center, radius, options == 2 ? mask : NULL, (double)d.margin);
        check_large(context, &d, &expected, number);
        if (options == 0)
            check_large_partners(context, &d, &expected);
        free(expected.at);
    }
    free(center), free(radius), free(mask);
}

/* ---- small spheres under large ones ------------------------------------------------------------------------------ */

/* So many that large spheres have a level of their own. */
enum { COVERED = 20000 };

/* The lowest index that each overlaps, -1: none. */
static void expect_partners(const float *center, const float *radius, const uint32_t *mask, int32_t *best)
{
    for (size_t a = 0; a < COVERED; a++) {
        best[a] = -1;
        for (size_t b = 0; b < COVERED && best[a] < 0; b++) {
            double distance2 = 0;
            for (size_t k = 0; k < 3; k++) {
                const double d = (double)center[3 * b + k] - (double)center[3 * a + k];
                distance2 += d * d;
            }
            const double sum = (double)radius[a] + (double)radius[b];
            if (a != b && distance2 <= sum * sum && (mask == NULL || mask[a] & mask[b]))
                best[a] = (int32_t)b;
        }
    }
}

/* A search of such a sphere goes through all by index: some end at once, some late, and some find none. */
static void check_covered(carom_context *context, carom_cloud_desc *d, const int32_t *best)
{
    static const float velocity[] = {1, 0, 0}, t_max = 1;
    int32_t *other = test_alloc(COVERED, sizeof *other);
    uint8_t *hit = test_alloc(COVERED, 1);
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other};
    carom_error err;
    for (int moves = 0; moves < 2; moves++) {
        test_ok("first under large ones", carom_cloud_first(context, d, &first, NULL, &err), &err);
        test_ok("any under large ones", carom_cloud_any(context, d, TEST_ANY(hit), NULL, &err), &err);
        for (size_t i = 0; i < COVERED; i++)
            if (other[i] != best[i] || hit[i] != (best[i] >= 0))
                fail_msg("sphere %zu, moves %d: partner %d and %d instead of %d", i, moves, other[i], hit[i], best[i]);
        d->velocity = carom_repeat(velocity); /* all together: the same pairs */
        d->t_max = (carom_scalars){.data = &t_max, .stride = CAROM_REPEAT};
    }
    free(other), free(hit);
}

static void under_large_ones(carom_context *scalar, carom_context *context, const char *label)
{
    float *center = test_alloc(3 * COVERED, sizeof *center), *radius = test_alloc(COVERED, sizeof *radius);
    uint32_t *mask = test_alloc(COVERED, sizeof *mask);
    int32_t *best = test_alloc(COVERED, sizeof *best);
    (void)scalar, (void)label;
    for (size_t number = 0; number < 4; number++) {
        ref_gen g;
        ref_gen_seed(&g, 18, 2, number);
        for (size_t i = 0; i < COVERED; i++) {
            shape_equal(&g, i, &center[3 * i], &radius[i]);
            const int is_large = i % 40 == 5 || i + 3 > COVERED;
            radius[i] = is_large ? number % 2 ? 60 : 30 : 0.05f;
            mask[i] = is_large ? i % 3 ? 2 : 4 : i > COVERED / 2 ? 3 : 1;
        }
        carom_cloud_desc d = {.batch = {.size = sizeof d, .count = COVERED},
                              .center = carom_xyz(center),
                              .radius = carom_scalars_of(radius)};
        if (number >= 2)
            d.mask = carom_uints_of(mask);
        expect_partners(center, radius, number >= 2 ? mask : NULL, best);
        check_covered(context, &d, best);
    }
    free(center), free(radius), free(mask), free(best);
}

/* ---- hits that begin so soon that t is 0 ------------------------------------------------------------------------- */

/* In units of 2^-149, with speeds of at least 2^20. */
enum { SOON = 1000, SOON_SIDE = 24, SOON_RADIUS = 3 };

typedef struct soon_sphere {
    int64_t center[3], velocity[3];
} soon_sphere;

/* MISS: no hit. The numbers are integers. */
static uint8_t soon_state(const soon_sphere *a, const soon_sphere *b)
{
    int64_t dd = 0, dv = 0, vv = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t d = b->center[k] - a->center[k], v = b->velocity[k] - a->velocity[k];
        dd += d * d;
        dv += d * v;
        vv += v * v;
    }
    const int64_t c = dd - (int64_t)(2 * SOON_RADIUS) * (2 * SOON_RADIUS);
    if (c < 0)
        return CAROM_OVERLAPPING;
    if (c == 0)
        return dv > 0 ? CAROM_MISS : CAROM_TOUCHING;
    return dv < 0 && dv * dv >= vv * c ? CAROM_APPROACHING : CAROM_MISS;
}

static void check_soon(const soon_sphere *sphere, const int32_t *other, const uint8_t *state)
{
    for (int32_t i = 0; i < SOON; i++) {
        uint8_t expected = CAROM_MISS;
        int32_t j = 0;
        while (j < SOON && (j == i || (expected = soon_state(&sphere[i], &sphere[j])) == CAROM_MISS))
            j++;
        if (other[i] != (j < SOON ? j : -1) || state[i] != (j < SOON ? expected : CAROM_MISS))
            fail_msg("sphere %d: partner %d, state %d instead of %d, %d", i, other[i], state[i], j, expected);
    }
}

static void hits_that_are_soon(carom_context *scalar, carom_context *context, const char *label)
{
    soon_sphere *sphere = test_alloc(SOON, sizeof *sphere);
    float *center = test_alloc(3 * SOON, sizeof *center), *velocity = test_alloc(3 * SOON, sizeof *velocity);
    int32_t *other = test_alloc(SOON, sizeof *other);
    uint8_t *state = test_alloc(SOON, 1);
    const float radius = SOON_RADIUS * 0x1p-149f;
    ref_gen g;
    (void)scalar, (void)label;
    ref_gen_seed(&g, 18, 3, 0);
    for (size_t i = 0; i < 3 * SOON; i++) {
        soon_sphere *s = &sphere[i / 3];
        s->center[i % 3] = (int64_t)(SOON_SIDE * ref_gen_range(&g, 0, 1));
        s->velocity[i % 3] = (int64_t)(5 * ref_gen_range(&g, 0, 1)) - 2;
        center[i] = (float)s->center[i % 3] * 0x1p-149f;
        velocity[i] = (float)s->velocity[i % 3] * 0x1p20f;
    }
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = SOON},
                          .center = carom_xyz(center),
                          .velocity = carom_xyz(velocity),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other, .state = state};
    carom_error err;
    for (int exact = 0; exact < 2; exact++) {
        d.batch.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        test_ok("first partners that are soon", carom_cloud_first(context, &d, &first, NULL, &err), &err);
        check_soon(sphere, other, state);
    }
    free(sphere), free(center), free(velocity), free(other), free(state);
}

/* ---- images of one partner that have one t ----------------------------------------------------------------------- */

/* Of two spheres with distance 2 in a period of 3 one image touches and one overlaps. The lower state counts, whether
 * pairs are looked at or partners are searched for. */
static void states_of_images(carom_context *scalar, carom_context *context, const char *label)
{
    enum { IMAGES = 600 };
    float center[3 * IMAGES] = {0};
    const float radius = 1;
    int32_t other[IMAGES];
    uint8_t state[IMAGES];
    (void)scalar, (void)label;
    for (size_t i = 1; i < IMAGES; i += 2)
        center[3 * i] = 2;
    carom_cloud_desc d = {.batch = {.size = sizeof d},
                          .center = carom_xyz(center),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT},
                          .period = {3, 0, 0}};
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other, .state = state};
    carom_error err;
    for (d.batch.count = 2; d.batch.count <= IMAGES; d.batch.count += IMAGES - 2) {
        test_ok("first partners and images", carom_cloud_first(context, &d, &first, NULL, &err), &err);
        for (size_t i = 0; i < d.batch.count; i++) {
            assert_int_equal(other[i], i == 0);
            assert_int_equal(state[i], i == 0 || i % 2 ? CAROM_TOUCHING : CAROM_OVERLAPPING);
        }
    }
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(many_in_one_place), SAME_BITS_ON_CPU(many_spheres),
                                        SAME_BITS_ON_CPU(under_large_ones), SAME_BITS_ON_CPU(hits_that_are_soon),
                                        SAME_BITS_ON_CPU(states_of_images)};
    const struct CMUnitTest on_device[] = {
        cmocka_unit_test(many_in_one_place), SAME_BITS_ON_DEVICE(many_spheres), SAME_BITS_ON_DEVICE(under_large_ones),
        SAME_BITS_ON_DEVICE(hits_that_are_soon), SAME_BITS_ON_DEVICE(states_of_images)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
