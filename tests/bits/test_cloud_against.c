/* SPDX-License-Identifier: MIT */
/* A cloud against another one: lists with all columns, counts, first and any partners against every pair by itself.
 * Exact mode against the reference, fast mode against clouds of two spheres; the same bits on every instruction set and
 * number of threads. */
#include "tests/support/cloud_truth.h"
#include "tests/support/two_clouds.h"

#include <math.h>

/* ---- every pair by itself ---------------------------------------------------------------------------------------- */

static ball first_of(const two_clouds *two, size_t i)
{
    const cloud *c = &two->a;
    const carom_cloud_desc *d = &c->desc;
    ball one = {.radius = c->radius[i],
                .t_max = d->t_max.data ? c->t_max[i] : INFINITY,
                .mask = d->mask.data ? c->mask[i] : UINT32_MAX};
    one.group = d->group.data ? c->group[i] : one.mask;
    memcpy(one.center, c->center + 3 * i, sizeof one.center);
    if (d->velocity.x)
        memcpy(one.velocity, c->velocity + 3 * i, sizeof one.velocity);
    return one;
}

static ball second_of(const two_clouds *two, size_t i)
{
    ball one = two->b[i];
    if (!two->against.velocity.x)
        memset(one.velocity, 0, sizeof one.velocity);
    one.t_max = two->against.t_max.data ? one.t_max : INFINITY;
    one.mask = two->against.mask.data ? one.mask : UINT32_MAX;
    one.group = two->against.group.data ? one.group : one.mask;
    return one;
}

static int moves(const two_clouds *two)
{
    return two->a.desc.velocity.x || two->against.velocity.x;
}

/* The spheres a and b as a cloud of their own, without masks. */
typedef struct pair_cloud {
    ball of[2];
    float center[6], velocity[6], radius[2], t_max[2];
    carom_cloud_desc desc;
} pair_cloud;

static void make_pair(const two_clouds *two, size_t a, size_t b, pair_cloud *p)
{
    p->of[0] = first_of(two, a);
    p->of[1] = second_of(two, b);
    for (size_t i = 0; i < 2; i++) {
        memcpy(p->center + 3 * i, p->of[i].center, sizeof p->of[i].center);
        memcpy(p->velocity + 3 * i, p->of[i].velocity, sizeof p->of[i].velocity);
        p->radius[i] = p->of[i].radius;
        p->t_max[i] = p->of[i].t_max;
    }
    const carom_cloud_desc *d = &two->a.desc;
    p->desc = (carom_cloud_desc){.batch = {.size = sizeof p->desc, .count = 2, .accuracy = d->batch.accuracy},
                                 .center = carom_xyz(p->center),
                                 .radius = carom_scalars_of(p->radius),
                                 .margin = d->margin,
                                 .start = d->start};
    memcpy(p->desc.period, d->period, sizeof d->period);
    if (moves(two)) {
        p->desc.velocity = carom_xyz(p->velocity);
        p->desc.t_max = carom_scalars_of(p->t_max);
    }
}

/* Appends the images that are in the list, as the reference or a list of the two has them. */
static void append_images(carom_context *context, const pair_cloud *p, size_t a, size_t b, cloud_records *to)
{
    cloud_records own = {0};
    ref_cloud_answer answer;
    if (p->desc.batch.accuracy == CAROM_ACCURACY_EXACT) {
        for (int image = 0; image < CLOUD_IMAGES; image++) {
            cloud_record r = {.a = 0, .b = 1};
            cloud_shift_of(image, r.shift);
            if (cloud_may_pair(&p->desc, 0, 1, r.shift) && cloud_record_truth(&p->desc, &r, &answer))
                cloud_append(&own, r);
        }
    } else
        cloud_list(context, &p->desc, CLOUD_IMAGES, &own);
    for (size_t i = 0; i < own.count; i++) {
        own.at[i].a = (int32_t)a;
        own.at[i].b = (int32_t)b;
        cloud_append(to, own.at[i]);
    }
    free(own.at);
}

static cloud_records expect(carom_context *context, const two_clouds *two)
{
    cloud_records r = {0};
    for (size_t a = 0; a < two->a.count; a++)
        for (size_t b = 0; b < two->count; b++) {
            pair_cloud p;
            make_pair(two, a, b, &p);
            if ((p.of[0].group & p.of[1].mask) && (p.of[1].group & p.of[0].mask) && cloud_is_valid(&p.desc, 0) &&
                cloud_is_valid(&p.desc, 1))
                append_images(context, &p, a, b, &r);
        }
    if (r.count)
        qsort(r.at, r.count, sizeof *r.at, cloud_compare);
    return r;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Counts, first and any partners of the first cloud's spheres. The list is in order: the first of a row is the first
 * partner, and of its images with one t the lowest state counts. */
static void check_partners(carom_context *context, const two_clouds *two, const cloud_records *list, size_t number)
{
    const size_t n = two->a.count;
    uint32_t *partners = test_alloc(n + 1, sizeof *partners);
    int32_t *other = test_alloc(n + 1, sizeof *other);
    float *t = test_alloc(n + 1, sizeof *t);
    uint8_t *state = test_alloc(n + 1, 1), *hit = test_alloc(n + 1, 1);
    carom_cloud_desc d = two->a.desc;
    carom_error err;
    const carom_cloud_count_result counts = {sizeof counts, partners};
    const carom_cloud_partner_result first = {sizeof first, other, state, t};
    test_ok("counts", carom_cloud_count(context, &d, &counts, NULL, &err), &err);
    d.margin = 0;
    test_ok("first partners", carom_cloud_first(context, &d, &first, NULL, &err), &err);
    test_ok("any partner", carom_cloud_any(context, &d, TEST_ANY(hit), NULL, &err), &err);
    for (size_t a = 0, at = 0; a < n; a++) {
        const ball own = first_of(two, a);
        const int is_valid = cloud_is_finite(carom_xyz(own.center), 0) && cloud_is_finite(carom_xyz(own.velocity), 0) &&
                             isfinite(own.radius) && own.radius >= 0;
        cloud_record best = {.b = -1, .t = INFINITY, .state = is_valid ? CAROM_MISS : CAROM_INVALID};
        uint32_t count = 0;
        for (; at < list->count && list->at[at].a == (int32_t)a; at++, count++) {
            const cloud_record *r = &list->at[at];
            const int is_image = r->b == best.b && !(r->t > best.t) && r->state < best.state;
            best = count == 0 || is_image ? *r : best;
        }
        assert_int_equal(partners[a], is_valid ? count : CAROM_COUNT_INVALID);
        if (two->a.desc.margin > 0)
            continue;
        if (other[a] != best.b || state[a] != best.state || memcmp(&t[a], &best.t, sizeof *t) != 0)
            fail_msg("clouds %zu, sphere %zu: partner %d at %a, state %d, instead of %d at %a, state %d", number, a,
                     other[a], (double)t[a], state[a], best.b, (double)best.t, best.state);
        assert_int_equal(hit[a], is_valid ? count > 0 : CAROM_OVERLAP_INVALID);
    }
    free(partners), free(other), free(t), free(state), free(hit);
}

static void check_two(carom_context *context, two_clouds *two, size_t number)
{
    cloud_records expected = expect(context, two), got = {0};
    const carom_list_totals totals = cloud_list(context, &two->a.desc, expected.count + 5, &got);
    cloud_check_records(&got, &expected, number, "against");
    assert_int_equal(totals.complete, two->a.count);
    cloud_check_cut(context, &two->a, &expected, number);
    check_partners(context, two, &expected, number);
    free(expected.at), free(got.at);
    free_two(two);
}

static void every_family(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(12 * CLOUD_FAMILIES); i++) {
        two_clouds two;
        make_two(&two, i, (int)(i / 5 % 2));
        check_two(context, &two, i);
    }
    carom_context_destroy(context);
}

static void many_in_cells(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(18); i++) {
        two_clouds two;
        make_two_many(&two, i, (int)(i % 2));
        check_two(context, &two, i);
    }
    carom_context_destroy(context);
}

/* Without spheres on either side there are no pairs. */
static void empty_clouds(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (int is_first = 0; is_first < 2; is_first++)
        for (size_t i = 0; i < 2; i++) {
            two_clouds two;
            make_two_many(&two, 3 * i, 0);
            if (is_first)
                two.a.desc.batch.count = two.a.count = 0;
            else
                two.against.count = two.count = 0;
            check_two(context, &two, i);
        }
    carom_context_destroy(context);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum { ROOM = 1 << 14 };
typedef struct columns {
    int32_t a[ROOM], b[ROOM];
    int8_t shift[3 * ROOM];
    float depth[ROOM], normal[3 * ROOM];
    int64_t previous[ROOM];
    carom_list_totals totals;
} columns;

static void ask_columns(carom_context *context, const carom_cloud_desc *d, const carom_cloud_pairs_before *before,
                        columns *to)
{
    carom_error err;
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = ROOM,
                                        .a = to->a,
                                        .b = to->b,
                                        .shift = to->shift,
                                        .depth = to->depth,
                                        .normal = carom_xyz_out(to->normal),
                                        .previous = to->previous,
                                        .before = before,
                                        .totals = &to->totals};
    memset(to, 0, sizeof *to);
    test_ok("columns", carom_cloud_list(context, d, &list, NULL, &err), &err);
    assert_int_equal(to->totals.stored, to->totals.total);
}

/* Depth and normal are those of the two spheres by themselves; the earlier list lacks every third pair. */
static void columns_of_pairs(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    columns *all = test_alloc(1, sizeof *all), *one = test_alloc(1, sizeof *one), *before = test_alloc(1, sizeof *one);
    for (size_t number = 0; number < test_effort(8); number++) {
        two_clouds two;
        make_two_many(&two, number, 1);
        ask_columns(context, &two.a.desc, NULL, before);
        carom_cloud_pairs_before earlier = {
            .size = sizeof earlier, .a = before->a, .b = before->b, .shift = before->shift};
        for (size_t i = 0; i < before->totals.stored; i++)
            if (i % 3 != 0) {
                before->a[earlier.count] = before->a[i];
                before->b[earlier.count] = before->b[i];
                memmove(before->shift + 3 * earlier.count++, before->shift + 3 * i, 3);
            }
        ask_columns(context, &two.a.desc, &earlier, all);
        for (size_t i = 0, known = 0; i < all->totals.stored; i++) {
            pair_cloud p;
            make_pair(&two, (size_t)all->a[i], (size_t)all->b[i], &p);
            ask_columns(context, &p.desc, NULL, one);
            size_t k = 0;
            while (k < one->totals.stored && memcmp(one->shift + 3 * k, all->shift + 3 * i, 3) != 0)
                k++;
            assert_true(k < one->totals.stored);
            assert_memory_equal(&all->depth[i], &one->depth[k], sizeof *one->depth);
            assert_memory_equal(&all->normal[3 * i], &one->normal[3 * k], 3 * sizeof *one->normal);
            assert_int_equal(all->previous[i], i % 3 != 0 ? (int64_t)known++ : -1);
        }
        free_two(&two);
    }
    free(all), free(one), free(before);
    carom_context_destroy(context);
}

/* ---- a cloud against itself -------------------------------------------------------------------------------------- */

/* All that is asked of two clouds: a list, a part of it, and partners. */
enum { MOST = 512 };
typedef struct cloud_answers {
    columns list, part;
    uint32_t partners[MOST];
    int32_t other[MOST];
    float t[MOST];
    uint8_t state[MOST], hit[MOST];
} cloud_answers;

static void ask_all(carom_context *context, carom_cloud_desc d, cloud_answers *to)
{
    const carom_cloud_count_result counts = {sizeof counts, to->partners};
    const carom_cloud_partner_result first = {sizeof first, to->other, to->state, to->t};
    carom_error err;
    memset(to, 0, sizeof *to);
    ask_columns(context, &d, NULL, &to->list);
    test_ok("counts", carom_cloud_count(context, &d, &counts, NULL, &err), &err);
    d.margin = 0;
    test_ok("first partners", carom_cloud_first(context, &d, &first, NULL, &err), &err);
    test_ok("any partner", carom_cloud_any(context, &d, TEST_ANY(to->hit), NULL, &err), &err);
    d.batch.begin = d.batch.count / 3;
    d.a_end = d.batch.count - 7;
    ask_columns(context, &d, NULL, &to->part);
}

/* The same numbers once more: as x y z of each sphere, and as columns. */
typedef struct twin {
    float center[3 * MOST], column[3][MOST], radius[MOST];
} twin;

static void make_twin(const cloud *c, twin *to)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < 3; k++)
            to->center[3 * i + k] = to->column[k][i] = c->center[3 * i + k];
    memcpy(to->radius, c->radius, c->count * sizeof *to->radius);
}

/* The library searches a cloud once if both are the same arrays, reads packed columns where they lie, and copies others
 * side by side. All of these answer alike. */
static void itself_in_every_form(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    cloud_answers *expected = test_alloc(1, sizeof *expected), *got = test_alloc(1, sizeof *got);
    twin *own = test_alloc(1, sizeof *own), *other = test_alloc(1, sizeof *other);
    for (size_t number = 0; number < 6 + test_effort(30); number++) {
        static const float radii[] = {0, -0.0f, 1e-45f, 1e-30f, -1, NAN};
        two_clouds two;
        make_two_many(&two, number, (int)(number / 2 % 2));
        cloud *c = &two.a;
        for (size_t i = 0; i < c->count; i += 5)
            c->radius[i] = i % 2 ? c->radius[i] : radii[i / 10 % COUNT_OF(radii)];
        make_twin(c, own);
        make_twin(c, other);
        const carom_points xyz = carom_xyz(own->center),
                           columns_of = carom_soa(own->column[0], own->column[1], own->column[2]);
        carom_cloud_desc d = c->desc;
        const int moves = number % 6 == 3;
        d.velocity = moves ? carom_xyz(c->velocity) : (carom_points){0};
        d.margin = moves ? 0 : d.margin;
        d.mask = (carom_uints){number % 3 ? c->group : NULL, sizeof *c->group};
        d.group = (carom_uints){number % 3 == 2 ? c->mask : NULL, sizeof *c->mask};
        d.t_max = (carom_scalars){0};
        for (int form = 0; form < 5; form++) { /* which arrays the two have; at times the second lacks a few spheres */
            const int is_same = form == 1 || form == 3;
            two.against = (carom_cloud_against){.size = sizeof two.against,
                                                .count = c->count - (number % 4 == 3 ? 13 : 0),
                                                .velocity = d.velocity,
                                                .mask = d.mask,
                                                .group = d.group};
            two.against.center = form == 1   ? xyz
                                 : form == 3 ? columns_of
                                 : form == 2 ? carom_soa(other->column[0], other->column[1], other->column[2])
                                             : carom_xyz(other->center);
            two.against.radius = carom_scalars_of(is_same ? own->radius : other->radius);
            d.center = form < 2 ? xyz : columns_of;
            d.radius = carom_scalars_of(own->radius);
            ask_all(context, d, form == 0 ? expected : got);
            if (form > 0 && memcmp(expected, got, sizeof *got) != 0)
                fail_msg("cloud %zu: form %d has other answers", number, form);
        }
        free_two(&two);
    }
    free(expected), free(got), free(own), free(other);
    carom_context_destroy(context);
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

static void bad_input(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    float center[6] = {0}, limits[2] = {1, -1};
    const float radius = 1;
    uint8_t hit[2];
    carom_error err;
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list, .totals = &totals};
    const carom_cloud_against good = {
        .size = sizeof good, .count = 2, .center = carom_xyz(center), .radius = {&radius, CAROM_REPEAT}};
    carom_cloud_against b = good;
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = 2},
                          .center = carom_xyz(center),
                          .radius = {&radius, CAROM_REPEAT},
                          .against = &b};
#define REFUSED(message) \
    test_error(carom_cloud_list(context, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, message)
    test_ok("two clouds", carom_cloud_list(context, &d, &list, NULL, &err), &err);
    assert_int_equal(totals.total, 4);
    d.full = 1;
    REFUSED("full is 1; it must be 0 for a cloud against another");
    d.full = 0;
    b.size = 8;
    REFUSED("carom_cloud_against");
    b = good;
    b.count = INT32_MAX - 1u;
    REFUSED("batch.count is 2 and against.count is 2147483646; two clouds have at most 2^31 - 1 spheres together");
    b = good;
    b.center.x = NULL;
    REFUSED("against.center");
    b = good;
    b.radius.data = NULL;
    REFUSED("against.radius");
    b = good;
    b.mask = (carom_uints){(const uint32_t *)(const void *)center, 2};
    REFUSED("against.mask");
    b = good;
    b.t_max = carom_scalars_of(limits);
    REFUSED("against: sphere 1: t_max is -1; it must be >= 0");
    b = good;
    b.velocity = carom_xyz(center);
    d.margin = 1;
    REFUSED("margin is 1; it must be 0 where spheres move");
    d.margin = 0;
    b = good;
    b.mask = (carom_uints){(const uint32_t *)(const void *)hit, CAROM_REPEAT};
    test_error(carom_cloud_any(context, &d, TEST_ANY(hit), NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "against.mask");
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void same_lists(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t i = 0; i < test_effort(6 * CLOUD_FAMILIES); i++) {
        two_clouds two;
        cloud_records one = {0}, other = {0};
        (i % 5 == 4 ? make_two_many : make_two)(&two, i, (int)(i % 2));
        const size_t total = (size_t)cloud_list(scalar, &two.a.desc, 0, &one).total;
        cloud_list(scalar, &two.a.desc, total, &one);
        cloud_list(context, &two.a.desc, total, &other);
        cloud_check_records(&other, &one, i, label);
        check_partners(context, &two, &one, i);
        free(one.at), free(other.at);
        free_two(&two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family),     cmocka_unit_test(many_in_cells),        cmocka_unit_test(empty_clouds),
        cmocka_unit_test(columns_of_pairs), cmocka_unit_test(itself_in_every_form), cmocka_unit_test(bad_input),
        SAME_BITS_ON_CPU(same_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
