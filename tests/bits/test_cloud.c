/* SPDX-License-Identifier: MIT */
/* Spheres among themselves: lists, partners and counts against every pair by itself. Exact mode against the reference,
 * fast mode against clouds of two spheres; the same bits on every instruction set, on any number of threads. */
#include "tests/support/cloud_truth.h"

#include <math.h>

static void check_cloud(carom_context *context, size_t number, int exact)
{
    cloud c = make_cloud(number, exact);
    cloud_check_made(context, &c, number, exact);
}

static void exact_is_the_reference(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(12 * CLOUD_FAMILIES); i++)
        check_cloud(context, i, 1);
    carom_context_destroy(context);
}

static void fast_is_each_pair_by_itself(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < test_effort(9 * CLOUD_FAMILIES); i++)
        check_cloud(context, i, 0);
    carom_context_destroy(context);
}

/* So many that a window is cut into slices. Some rest, some move by next to nothing, and some like their neighbours. */
static cloud make_motion(size_t number, int exact)
{
    enum { COUNT = 300 };
    static const double speeds[] = {0.5, 4, 40};
    const double speed = speeds[number % 3];
    const int has_end = number / 3 % 3 != 2;
    ref_gen g;
    ref_gen_seed(&g, 19, 1, number);
    cloud c = {.count = COUNT};
    c.center = test_alloc(3 * c.count, sizeof(float));
    c.velocity = test_alloc(3 * c.count, sizeof(float));
    c.radius = test_alloc(c.count, sizeof(float));
    c.t_max = test_alloc(c.count, sizeof(float));
    for (size_t i = 0; i < c.count; i++) {
        for (size_t k = 0; k < 3; k++) {
            c.center[3 * i + k] = between(&g, 0, 10);
            c.velocity[3 * i + k] = i % 8 == 1   ? 0.0f
                                    : i % 8 == 2 ? between(&g, -1e-20, 1e-20)
                                    : i % 8 == 3 ? 3.0f + between(&g, -1e-6, 1e-6)
                                                 : between(&g, -speed, speed);
        }
        c.radius[i] = between(&g, 0.2, 0.6);
        c.t_max[i] = !has_end && i % 3 == 0 ? INFINITY : i % 5 == 0 ? between(&g, 0, 1) : 1.0f;
    }
    c.desc = (carom_cloud_desc){.batch = {.size = sizeof c.desc,
                                          .count = c.count,
                                          .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST},
                                .center = carom_xyz(c.center),
                                .radius = carom_scalars_of(c.radius),
                                .velocity = carom_xyz(c.velocity),
                                .t_max = carom_scalars_of(c.t_max),
                                .start = (carom_start)(number / 9 % 3)};
    return c;
}

static void many_in_motion(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(27); i++) {
        cloud c = make_motion(i, 1);
        cloud_check_made(context, &c, i, 1);
    }
    carom_context_destroy(context);
}

/* Limits that are far apart make spans of time: a quarter as good as without one, two alone, all magnitudes, ties. */
static void limits_far_apart(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(24); i++) {
        ref_gen g;
        ref_gen_seed(&g, 19, 2, i);
        cloud c = make_motion(i / 4 * 3 + i % 3, (int)(i % 2));
        for (size_t k = 0; k < c.count; k++)
            c.t_max[k] = i % 4 == 0   ? k % 4 == 3 ? 1e30f : 1.0f
                         : i % 4 == 1 ? k / 2 == 77 ? 1e30f : 0.5f
                         : i % 4 == 2 ? powf(10, between(&g, -4, 4))
                                      : (float)(k % 3 * 8);
        cloud_check_made(context, &c, i, (int)(i % 2));
    }
    carom_context_destroy(context);
}

/* Up to CAROMI_CLOUD_ONE_CELL spheres are not sorted into cells: counts around that, and around vectors; at rest too.
 */
static void counts_around_few(void **state)
{
    static const size_t counts[] = {1, 15, 16, 17, 31, 33, 255, 256, 257};
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < 2 * COUNT_OF(counts); i++) {
        const int exact = counts[i / 2] < 64;
        cloud c = make_motion(i, exact);
        c.desc.batch.count = c.count = counts[i / 2];
        if (i % 2)
            c.desc.velocity = (carom_points){0};
        c.radius[c.count / 3] = -1;
        c.radius[c.count - 1] = 5; /* the last has partners */
        cloud_check_made(context, &c, i, exact);
    }
    carom_context_destroy(context);
}

/* The spheres of a cloud behind so many invalid ones that they are sorted into cells. */
static cloud make_sorted(size_t number, int exact)
{
    enum { INVALID = 260 };
    cloud c = make_cloud(number, exact), all = c;
    all.count = all.desc.batch.count = INVALID + c.count;
    all.center = test_alloc(3 * all.count, sizeof(float));
    all.velocity = test_alloc(3 * all.count, sizeof(float));
    all.radius = test_alloc(all.count, sizeof(float));
    all.t_max = test_alloc(all.count, sizeof(float));
    all.mask = test_alloc(all.count, sizeof(uint32_t));
    for (size_t i = 0; i < INVALID; i++)
        all.radius[i] = -1;
    memcpy(all.center + 3 * (size_t)INVALID, c.center, 3 * c.count * sizeof(float));
    memcpy(all.velocity + 3 * (size_t)INVALID, c.velocity, 3 * c.count * sizeof(float));
    memcpy(all.radius + INVALID, c.radius, c.count * sizeof(float));
    memcpy(all.t_max + INVALID, c.t_max, c.count * sizeof(float));
    memcpy(all.mask + INVALID, c.mask, c.count * sizeof(uint32_t));
    all.group = NULL;
    all.desc.center = carom_xyz(all.center);
    all.desc.radius = carom_scalars_of(all.radius);
    if (c.desc.velocity.x)
        all.desc.velocity = carom_xyz(all.velocity);
    if (c.desc.t_max.data)
        all.desc.t_max = carom_scalars_of(all.t_max);
    if (c.desc.mask.data)
        all.desc.mask = carom_uints_of(all.mask);
    cloud_free(&c);
    return all;
}

static void few_in_cells(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < test_effort(9 * CLOUD_FAMILIES); i++) {
        cloud c = make_sorted(i, (int)(i % 2));
        cloud_check_made(context, &c, i, (int)(i % 2));
    }
    carom_context_destroy(context);
}

/* Groups beside masks and without, of few spheres and in cells, where partners are searched for, too. */
static void groups_are_the_reference(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(12 * CLOUD_FAMILIES); i++) {
        const int exact = (int)(i % 2);
        cloud c = i % 3 ? make_cloud(i, exact) : make_sorted(i, exact);
        add_groups(&c, i);
        cloud_check_made(context, &c, i, exact);
    }
    carom_context_destroy(context);
}

/* The record of the same pair and image, NULL: none. `from` is where the last search under the same sphere began. */
static const cloud_record *find(const cloud_records *in, size_t *from, const cloud_record *r)
{
    while (*from < in->count && in->at[*from].a < r->a)
        ++*from;
    for (size_t i = *from; i < in->count && in->at[i].a == r->a; i++)
        if (in->at[i].b == r->b && memcmp(in->at[i].shift, r->shift, sizeof r->shift) == 0)
            return &in->at[i];
    return NULL;
}

/* Records that `other` does not have, or in another state or farther than 2e-5 in time. */
static size_t differences(const cloud_records *one, const cloud_records *other)
{
    size_t count = 0, from = 0;
    for (size_t i = 0; i < one->count; i++) {
        const cloud_record *r = find(other, &from, &one->at[i]);
        count += r == NULL || r->state != one->at[i].state || fabs((double)r->t - (double)one->at[i].t) > 2e-5;
    }
    return count;
}

/* Lattices have ties (touching, parting, grazing) in numbers of few digits: fast mode decides all of them rightly. At
 * random it may err in one of 200. */
static void fast_is_near_the_truth(void **state)
{
    (void)state;
    enum { RANDOM, LATTICE };
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    size_t total = 0, wrong = 0;
    for (size_t i = 0; i < 24; i++)
        for (size_t family = RANDOM; family <= LATTICE; family++) {
            cloud c = make_cloud(family + i * CLOUD_FAMILIES, 0);
            cloud_records fast = {0}, exact = {0};
            const size_t room = (size_t)cloud_list(context, &c.desc, 0, &fast).total;
            cloud_list(context, &c.desc, room, &fast);
            c.desc.batch.accuracy = CAROM_ACCURACY_EXACT;
            cloud_list(context, &c.desc, room + 9, &exact);
            const size_t here = differences(&fast, &exact) + differences(&exact, &fast);
            if (family == LATTICE && here > 0)
                fail_msg("%zu of %zu pairs of lattice %zu differ from the truth", here, exact.count, i);
            total += exact.count;
            wrong += here;
            free(fast.at), free(exact.at);
            cloud_free(&c);
        }
    if (total < 100 || wrong * 200 > total)
        fail_msg("%zu of %zu pairs differ from the truth", wrong, total);
    carom_context_destroy(context);
}

/* (ra + rb)^2 is beyond binary32, |d|^2 is not: apart by less than that shows. With a margin too. */
static void sums_that_overflow(void **state)
{
    static const struct {
        float b[3], radius, margin;
    } cases[] = {{{0x1.e7e898p+63f, 0x1.024418p+62f, -0x1.586a7ep+61f}, 0x1p63f, 0},
                 {{0x1.f2a3fep+63f, -0x1.0c6dcp+59f, 0x1.cbea2ep+61f}, 0x1p62f, 0x1p63f}};
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const float center[] = {0, 0, 0, cases[i].b[0], cases[i].b[1], cases[i].b[2]};
        carom_cloud_desc d = {.batch = {.size = sizeof d, .count = 2, .accuracy = CAROM_ACCURACY_EXACT},
                              .center = carom_xyz(center),
                              .radius = {.data = &cases[i].radius, .stride = CAROM_REPEAT},
                              .margin = cases[i].margin};
        cloud_records got = {0};
        assert_int_equal(cloud_list(context, &d, 2, &got).total, 0);
        free(got.at);
    }
    carom_context_destroy(context);
}

/* Each end that is refused, with its sentence. */
static void ends_are_checked(void **state)
{
    (void)state;
    const float center[] = {1, 2, 3}, radius = 1;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = 5, .begin = 3},
                          .a_end = 6,
                          .center = carom_repeat(center),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    carom_list_totals totals;
    uint8_t hit[5];
    const carom_cloud_pair_list list = {.size = sizeof list, .totals = &totals};
    carom_error err;
    test_error(carom_cloud_list(context, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "a_end is 6; it must be 0 or within begin and count");
    d.a_end = 2;
    test_error(carom_cloud_list(context, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "a_end is 2");
    d.a_end = 3;
    test_ok("no spheres", carom_cloud_list(context, &d, &list, NULL, &err), &err);
    assert_int_equal(totals.total, 0);
    assert_int_equal(totals.complete, 3);
    d.a_end = 4;
    test_ok("one sphere", carom_cloud_list(context, &d, &list, NULL, &err), &err);
    assert_int_equal(totals.total, 1);
    d.batch.begin = 0;
    test_error(carom_cloud_any(context, &d, TEST_ANY(hit), NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "a_end is 4; it must be 0, but for a list");
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* Counts, first and any partners. */
static void same_partners(carom_context *scalar, carom_context *context, const carom_cloud_desc *desc, size_t number)
{
    const size_t n = (size_t)desc->batch.count;
    carom_context *const of[] = {scalar, context};
    struct {
        uint32_t partners[CLOUD_MOST];
        int32_t other[CLOUD_MOST];
        float t[CLOUD_MOST];
        uint8_t state[CLOUD_MOST], hit[CLOUD_MOST];
    } got[2];
    assert_true(n <= CLOUD_MOST);
    memset(got, 0, sizeof got);
    for (int k = 0; k < 2; k++) {
        carom_cloud_desc d = *desc;
        carom_error err;
        d.full = 0;
        const carom_cloud_count_result counts = {sizeof counts, got[k].partners};
        test_ok("counts", carom_cloud_count(of[k], &d, &counts, NULL, &err), &err);
        d.margin = 0;
        const carom_cloud_partner_result first = {sizeof first, got[k].other, got[k].state, got[k].t};
        test_ok("first partners", carom_cloud_first(of[k], &d, &first, NULL, &err), &err);
        test_ok("any partner", carom_cloud_any(of[k], &d, TEST_ANY(got[k].hit), NULL, &err), &err);
    }
    if (memcmp(&got[0], &got[1], sizeof got[0]) != 0)
        fail_msg("cloud %zu: other partners", number);
}

static void same_clouds(carom_context *scalar, carom_context *context, const char *label, int has_groups)
{
    for (size_t i = 0; i < test_effort(8 * CLOUD_FAMILIES); i++) {
        cloud c = make_cloud(i, (int)(i % 2));
        if (has_groups)
            add_groups(&c, i);
        cloud_records one = {0}, other = {0};
        const carom_list_totals totals = cloud_list(scalar, &c.desc, 0, &one);
        cloud_list(scalar, &c.desc, (size_t)totals.total, &one);
        cloud_list(context, &c.desc, (size_t)totals.total, &other);
        cloud_check_records(&other, &one, i, label);
        cloud_check_cut(context, &c, &one, i);
        same_partners(scalar, context, &c.desc, i);
        free(one.at);
        free(other.at);
        cloud_free(&c);
    }
}

static void same_lists(carom_context *scalar, carom_context *context, const char *label)
{
    same_clouds(scalar, context, label, 0);
}

static void same_grouped(carom_context *scalar, carom_context *context, const char *label)
{
    same_clouds(scalar, context, label, 1);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* Five spheres in a row, each of which touches the next: their pairs are decided in integers. */
static void integers_count_pairs(void **state)
{
    enum { SPHERES_IN_ROW = 5 };
    float center[3 * SPHERES_IN_ROW] = {0};
    const float radius = 0.5f;
    uint32_t partners[SPHERES_IN_ROW];
    const carom_cloud_count_result out = {.size = sizeof out, .partners = partners};
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = SPHERES_IN_ROW, .accuracy = CAROM_ACCURACY_EXACT},
                          .center = carom_xyz(center),
                          .radius = {&radius, CAROM_REPEAT}};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    (void)state;
    for (int i = 0; i < SPHERES_IN_ROW; i++)
        center[3 * i] = (float)i;
    test_ok("exact", carom_cloud_count(context, &d, &out, &stats, &err), &err);
    assert_int_equal(partners[0] + partners[1] + partners[4], 4);
    assert_int_equal(stats.queries, SPHERES_IN_ROW);
    assert_int_equal(stats.by_integers, SPHERES_IN_ROW - 1);
    assert_int_equal(stats.by_proof, 0);
    d.batch.accuracy = CAROM_ACCURACY_FAST;
    test_ok("fast", carom_cloud_count(context, &d, &out, &stats, &err), &err);
    assert_int_equal(stats.by_integers, 0);
    carom_context_destroy(context);
}

/* Fine spheres in six places, each of which touches many coarse ones: its own cell ends its search for any partner,
 * before the coarse ones are asked about in integers. */
static void searches_begin_at_home(void **state)
{
    enum { COARSE = 100, FINE = 6000, ALL = COARSE + FINE };
    float *center = test_alloc(3 * ALL, sizeof *center), *radius = test_alloc(ALL, sizeof *radius);
    uint8_t *hit = test_alloc(ALL, 1);
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = ALL, .accuracy = CAROM_ACCURACY_EXACT},
                                .center = carom_xyz(center),
                                .radius = {radius, sizeof *radius}};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    (void)state;
    for (size_t i = 0; i < ALL; i++) {
        radius[i] = i < COARSE ? 1 : 0x1p-7f;
        for (size_t k = 0; k < 3; k++)
            center[3 * i + k] = i < COARSE || i % 3 != k ? 0 : i % 2 ? 1 + 0x1p-7f : -1 - 0x1p-7f;
    }
    test_ok("any", carom_cloud_any(context, &d, TEST_ANY(hit), &stats, &err), &err);
    for (size_t i = 0; i < ALL; i++)
        assert_int_equal(hit[i], 1);
    assert_int_equal(stats.by_integers, 0);
    free(center), free(radius), free(hit);
    carom_context_destroy(context);
}

/* A device answers a cloud with groups, and one against another. */
static void what_devices_serve(void **state)
{
    enum { PLAIN, GROUPED, AGAINST, KINDS };
    (void)state;
    carom_context *context = test_device(0, 0);
    uint8_t hit[CLOUD_MOST];
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    cloud c = make_cloud(0, 0);
    c.desc.margin = 0;
    const carom_cloud_against self = {
        .size = sizeof self, .count = c.count, .center = c.desc.center, .radius = c.desc.radius};
    for (int kind = PLAIN; kind < KINDS; kind++) {
        if (kind == GROUPED)
            add_groups(&c, 0);
        if (kind == AGAINST) {
            c.desc.group = (carom_uints){0};
            c.desc.against = &self;
        }
        test_ok("any partner", carom_cloud_any(context, &c.desc, TEST_ANY(hit), &stats, &err), &err);
        assert_int_equal(stats.on_device, c.count);
        assert_int_equal(stats.fallen_back, 0);
        assert_string_equal(stats.fallback_reason, "");
    }
    for (size_t i = 0; i < c.count; i++)
        assert_int_equal(hit[i], 1); /* each sphere overlaps itself */
    cloud_free(&c);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(exact_is_the_reference),
                                        cmocka_unit_test(fast_is_each_pair_by_itself),
                                        cmocka_unit_test(fast_is_near_the_truth),
                                        cmocka_unit_test(many_in_motion),
                                        cmocka_unit_test(limits_far_apart),
                                        cmocka_unit_test(counts_around_few),
                                        cmocka_unit_test(few_in_cells),
                                        cmocka_unit_test(sums_that_overflow),
                                        cmocka_unit_test(integers_count_pairs),
                                        cmocka_unit_test(searches_begin_at_home),
                                        cmocka_unit_test(ends_are_checked),
                                        cmocka_unit_test(groups_are_the_reference),
                                        SAME_BITS_ON_CPU(same_lists),
                                        SAME_BITS_ON_CPU(same_grouped)};
    const struct CMUnitTest on_device[] = {SAME_BITS_ON_DEVICE(same_lists), SAME_BITS_ON_DEVICE(same_grouped),
                                           cmocka_unit_test(what_devices_serve)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
