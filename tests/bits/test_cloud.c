/* SPDX-License-Identifier: MIT */
/* Spheres among themselves: lists, partners and counts against every pair by itself. Exact mode against the reference,
 * fast mode against clouds of two spheres; the same bits on every instruction set, on any number of threads. */
#include "tests/support/clouds.h"

#include <math.h>

enum { IMAGES = 27 };

/* ---- records ----------------------------------------------------------------------------------------------------- */

typedef struct record {
    int32_t a, b;
    float t;
    uint8_t state;
    int8_t shift[3];
} record;

typedef struct records {
    record *at;
    size_t count, room;
} records;

static void append(records *r, record one)
{
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 256;
        r->at = realloc(r->at, r->room * sizeof *r->at);
        assert_non_null(r->at);
    }
    r->at[r->count++] = one;
}

static int compare(const void *one, const void *other)
{
    const record *x = one, *y = other;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->t < y->t || x->t > y->t)
        return x->t < y->t ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (x->shift[k] != y->shift[k])
            return x->shift[k] < y->shift[k] ? -1 : 1;
    return 0;
}

/* The list of a call, in arrays that hold `capacity`; returns the totals. */
static carom_list_totals ask_list(carom_context *context, const carom_spheres_desc *d, size_t capacity, records *out)
{
    int32_t *a = test_alloc(capacity + 1, sizeof *a), *b = test_alloc(capacity + 1, sizeof *b);
    uint8_t *state = test_alloc(capacity + 1, 1);
    float *t = test_alloc(capacity + 1, sizeof *t);
    int8_t *shift = test_alloc(3 * capacity + 1, 1);
    uint64_t *offsets = test_alloc(d->batch.count + 1, sizeof *offsets);
    carom_list_totals totals;
    const carom_sphere_pair_list list = {.size = sizeof list,
                                         .capacity = capacity,
                                         .offsets = offsets,
                                         .a = a,
                                         .b = b,
                                         .state = state,
                                         .t = t,
                                         .shift = shift,
                                         .totals = &totals};
    carom_error err;
    test_ok("pairs of a cloud", carom_spheres_list(context, d, &list, NULL, &err), &err);
    assert_true(totals.stored <= capacity);
    for (uint64_t i = 0; i < totals.stored; i++)
        append(out, (record){a[i], b[i], t[i], state[i], {shift[3 * i], shift[3 * i + 1], shift[3 * i + 2]}});
    for (uint64_t i = d->batch.begin; i < totals.complete; i++)
        for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++)
            assert_int_equal(a[k], i);
    assert_int_equal(offsets[d->batch.begin], 0);
    assert_int_equal(offsets[d->end ? d->end : d->batch.count], totals.total);
    free(a), free(b), free(state), free(t), free(shift), free(offsets);
    return totals;
}

/* ---- oracles ----------------------------------------------------------------------------------------------------- */

static int is_valid(const cloud *c, size_t i)
{
    return isfinite(c->radius[i]) && c->radius[i] >= 0;
}

static int by_reference(carom_context *context, const cloud *c, size_t a, size_t b, const int *shift, record *out)
{
    ref_cloud_case q = {.radius_a = c->radius[a], .radius_b = c->radius[b], .margin = c->desc.margin};
    ref_cloud_answer r;
    (void)context;
    for (size_t k = 0; k < 3; k++) {
        q.a[k] = c->center[3 * a + k];
        q.b[k] = c->center[3 * b + k];
        q.velocity_a[k] = c->desc.velocity.x ? c->velocity[3 * a + k] : 0.0f;
        q.velocity_b[k] = c->desc.velocity.x ? c->velocity[3 * b + k] : 0.0f;
        q.shift[k] = (float)shift[k] * c->desc.period[k];
    }
    q.limit = c->desc.t_max.data ? fminf(c->t_max[a], c->t_max[b]) : INFINITY;
    ref_cloud(&q, &r);
    const int in_contact = r.state == REF_TOUCHING || r.state == REF_OVERLAPPING;
    const int is_skipped =
        c->desc.start == CAROM_START_SKIP || (c->desc.start == CAROM_START_SKIP_PARTING && r.is_apart);
    out->t = r.t;
    out->state = (uint8_t)r.state;
    return r.is_pair && !(in_contact && is_skipped);
}

/* A cloud of the two alone: nothing can be lost there. */
static int by_itself(carom_context *context, const cloud *c, size_t a, size_t b, const int *shift, record *out)
{
    float center[6], velocity[6], radius[2] = {c->radius[a], c->radius[b]}, t_max[2] = {c->t_max[a], c->t_max[b]};
    for (size_t k = 0; k < 3; k++) {
        center[k] = c->center[3 * a + k];
        center[3 + k] = c->center[3 * b + k];
        velocity[k] = c->velocity[3 * a + k];
        velocity[3 + k] = c->velocity[3 * b + k];
    }
    carom_spheres_desc d = c->desc;
    records found = {0};
    d.batch.count = 2;
    d.center = carom_xyz(center);
    d.radius = carom_scalars_of(radius);
    if (d.velocity.x)
        d.velocity = carom_xyz(velocity);
    if (d.t_max.data)
        d.t_max = carom_scalars_of(t_max);
    d.mask = (carom_uints){0};
    d.full = 0;
    ask_list(context, &d, IMAGES, &found);
    int is_pair = 0;
    for (size_t i = 0; i < found.count; i++) {
        const record *r = &found.at[i];
        if (r->shift[0] != shift[0] || r->shift[1] != shift[1] || r->shift[2] != shift[2])
            continue;
        out->t = r->t;
        out->state = r->state;
        is_pair = 1;
    }
    free(found.at);
    return is_pair;
}

/* All pairs of a cloud, one by one. */
static records expect(carom_context *context, const cloud *c)
{
    records r = {0};
    const int exact = c->desc.batch.accuracy == CAROM_ACCURACY_EXACT;
    for (size_t a = 0; a < c->count; a++)
        for (size_t b = a + 1; b < c->count; b++)
            for (int image = 0; image < IMAGES; image++) {
                const int shift[3] = {image / 9 - 1, image / 3 % 3 - 1, image % 3 - 1};
                int exists = is_valid(c, a) && is_valid(c, b) && (!c->desc.mask.data || (c->mask[a] & c->mask[b]));
                for (int k = 0; k < 3; k++)
                    exists &= shift[k] == 0 || c->desc.period[k] > 0;
                record pair = {.a = (int32_t)a, .b = (int32_t)b};
                if (!exists || !(exact ? by_reference : by_itself)(context, c, a, b, shift, &pair))
                    continue;
                for (int k = 0; k < 3; k++)
                    pair.shift[k] = (int8_t)shift[k];
                append(&r, pair);
            }
    return r;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static void check_records(const records *got, const records *expected, size_t number, const char *what)
{
    const char *family = cloud_family(number);
    for (size_t i = 0; i < got->count && i < expected->count; i++) {
        const record *g = &got->at[i], *e = &expected->at[i];
        if (compare(g, e) != 0 || g->state != e->state)
            fail_msg(
                "cloud %zu (%s), %s, record %zu: %d %d at %a, state %d, shift %d %d %d, instead of %d %d at %a, state "
                "%d, shift %d %d %d",
                number, family, what, i, g->a, g->b, (double)g->t, g->state, g->shift[0], g->shift[1], g->shift[2],
                e->a, e->b, (double)e->t, e->state, e->shift[0], e->shift[1], e->shift[2]);
    }
    if (got->count != expected->count)
        fail_msg("cloud %zu (%s), %s: %zu records instead of %zu", number, family, what, got->count, expected->count);
}

/* With too little room, again and again from where the list ends. */
static void check_cut(carom_context *context, const cloud *c, const records *expected, size_t number)
{
    carom_spheres_desc d = c->desc;
    records got = {0};
    size_t capacity = expected->count / 3 + 1;
    while (d.batch.begin < c->count) {
        const carom_list_totals totals = ask_list(context, &d, capacity, &got);
        if (totals.complete == d.batch.begin)
            capacity *= 2;
        d.batch.begin = totals.complete;
    }
    check_records(&got, expected, number, "in pieces");
    got.count = 0;
    for (d.batch.begin = 0; d.batch.begin < c->count; d.batch.begin = d.end) {
        d.end = d.batch.begin + (c->count + 2) / 3 < c->count ? d.batch.begin + (c->count + 2) / 3 : c->count;
        assert_int_equal(ask_list(context, &d, expected->count, &got).complete, d.end);
    }
    check_records(&got, expected, number, "by thirds");
    free(got.at);
}

static void check_partners(carom_context *context, const cloud *c, const records *pairs, size_t number)
{
    uint32_t *count = test_alloc(c->count, sizeof *count), *partners = test_alloc(c->count, sizeof *partners);
    int32_t *best = test_alloc(c->count, sizeof *best), *other = test_alloc(c->count, sizeof *other);
    float *least = test_alloc(c->count, sizeof *least), *t = test_alloc(c->count, sizeof *t);
    uint8_t *state = test_alloc(c->count, 1), *hit = test_alloc(c->count, 1), *states = test_alloc(c->count, 1);
    for (size_t i = 0; i < c->count; i++) {
        best[i] = -1;
        least[i] = INFINITY;
        states[i] = is_valid(c, i) ? CAROM_MISS : CAROM_INVALID;
    }
    for (size_t k = 0; k < 2 * pairs->count; k++) {
        const record *r = &pairs->at[k / 2];
        const int32_t own = k % 2 ? r->b : r->a, with = k % 2 ? r->a : r->b;
        count[own]++;
        if (best[own] >= 0 && (r->t > least[own] || (r->t >= least[own] && with >= best[own])))
            continue;
        best[own] = with;
        least[own] = r->t;
        states[own] = r->state;
    }
    carom_spheres_desc d = c->desc;
    carom_error err;
    d.full = 0;
    const carom_sphere_count_result counts = {sizeof counts, partners};
    test_ok("partners of a cloud", carom_spheres_count(context, &d, &counts, NULL, &err), &err);
    d.margin = 0;
    const carom_sphere_partner_result first = {sizeof first, other, state, t};
    test_ok("first partners of a cloud", carom_spheres_first(context, &d, &first, NULL, &err), &err);
    test_ok("any partner of a cloud", carom_spheres_any(context, &d, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < c->count; i++) {
        const int valid = is_valid(c, i);
        if (partners[i] != (valid ? count[i] : CAROM_COUNT_INVALID))
            fail_msg("cloud %zu, sphere %zu: %u partners instead of %u", number, i, partners[i], count[i]);
        if (c->desc.margin > 0)
            continue;
        if (other[i] != best[i] || state[i] != states[i] || memcmp(&t[i], &least[i], sizeof *t) != 0)
            fail_msg("cloud %zu, sphere %zu: partner %d at %a, state %d, instead of %d at %a, state %d", number, i,
                     other[i], (double)t[i], state[i], best[i], (double)least[i], states[i]);
        assert_int_equal(hit[i], valid ? best[i] >= 0 : CAROM_OVERLAP_INVALID);
    }
    free(count), free(partners), free(best), free(other), free(least), free(t), free(state), free(hit), free(states);
}

/* The pairs as a list has them: `full` ones under both. */
static records in_order(const cloud *c, const records *pairs)
{
    records r = {0};
    for (size_t i = 0; i < pairs->count; i++) {
        record pair = pairs->at[i];
        append(&r, pair);
        if (!c->desc.full)
            continue;
        pair.a = pairs->at[i].b;
        pair.b = pairs->at[i].a;
        for (int k = 0; k < 3; k++)
            pair.shift[k] = (int8_t)-pair.shift[k];
        append(&r, pair);
    }
    if (r.count)
        qsort(r.at, r.count, sizeof *r.at, compare);
    return r;
}

static void check_cloud(carom_context *context, size_t number, int exact)
{
    cloud c = make_cloud(number, exact);
    records pairs = expect(context, &c), expected = in_order(&c, &pairs), got = {0};
    const carom_list_totals totals = ask_list(context, &c.desc, expected.count + 5, &got);
    check_records(&got, &expected, number, exact ? "exact" : "fast");
    assert_int_equal(totals.total, expected.count);
    assert_int_equal(totals.complete, c.count);
    check_cut(context, &c, &expected, number);
    check_partners(context, &c, &pairs, number);
    free(pairs.at);
    free(expected.at);
    free(got.at);
    cloud_free(&c);
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

/* The record of the same pair and image, NULL: none. `from` is where the last search under the same sphere began. */
static const record *find(const records *in, size_t *from, const record *r)
{
    while (*from < in->count && in->at[*from].a < r->a)
        ++*from;
    for (size_t i = *from; i < in->count && in->at[i].a == r->a; i++)
        if (in->at[i].b == r->b && memcmp(in->at[i].shift, r->shift, sizeof r->shift) == 0)
            return &in->at[i];
    return NULL;
}

/* Records that `other` does not have, or in another state or farther than 2e-5 in time. */
static size_t differences(const records *one, const records *other)
{
    size_t count = 0, from = 0;
    for (size_t i = 0; i < one->count; i++) {
        const record *r = find(other, &from, &one->at[i]);
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
            records fast = {0}, exact = {0};
            const size_t room = (size_t)ask_list(context, &c.desc, 0, &fast).total;
            ask_list(context, &c.desc, room, &fast);
            c.desc.batch.accuracy = CAROM_ACCURACY_EXACT;
            ask_list(context, &c.desc, room + 9, &exact);
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
        carom_spheres_desc d = {.batch = {.size = sizeof d, .count = 2, .accuracy = CAROM_ACCURACY_EXACT},
                                .center = carom_xyz(center),
                                .radius = {.data = &cases[i].radius, .stride = CAROM_REPEAT},
                                .margin = cases[i].margin};
        records got = {0};
        assert_int_equal(ask_list(context, &d, 2, &got).total, 0);
        free(got.at);
    }
    carom_context_destroy(context);
}

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
    const carom_spheres_desc d = {.batch = {.size = sizeof d, .count = MANY},
                                  .center = carom_repeat(center),
                                  .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    const carom_sphere_partner_result first = {.size = sizeof first, .other = other};
    const carom_sphere_count_result counts = {sizeof counts, count};
    carom_list_totals totals;
    const carom_sphere_pair_list list = {.size = sizeof list, .totals = &totals};
    carom_error err;
    test_ok("first partners", carom_spheres_first(context, &d, &first, NULL, &err), &err);
    test_ok("any partner", carom_spheres_any(context, &d, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(other[i], i == 0);
        assert_int_equal(hit[i], 1);
    }
    carom_spheres_desc open = d; /* no pair is sure: points; in motion; images */
    open.radius.data = &point;
    test_ok("first partners of points", carom_spheres_first(context, &open, &first, NULL, &err), &err);
    open = d;
    open.velocity = carom_repeat(velocity);
    test_ok("any partner in motion", carom_spheres_any(context, &open, TEST_ANY(hit), NULL, &err), &err);
    open = d;
    open.period[1] = 8;
    test_ok("any partner in a period", carom_spheres_any(context, &open, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(other[i], i == 0);
        assert_int_equal(hit[i], 1);
    }
    test_error(carom_spheres_count(context, &d, &counts, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "N^2/2");
    test_error(carom_spheres_list(context, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "N^2/2");
    free(hit), free(other), free(count);
    carom_context_destroy(context);
}

/* Each end that is refused, with its sentence. */
static void ends_are_checked(void **state)
{
    (void)state;
    const float center[] = {1, 2, 3}, radius = 1;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_spheres_desc d = {.batch = {.size = sizeof d, .count = 5, .begin = 3},
                            .end = 6,
                            .center = carom_repeat(center),
                            .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    carom_list_totals totals;
    uint8_t hit[5];
    const carom_sphere_pair_list list = {.size = sizeof list, .totals = &totals};
    carom_error err;
    test_error(carom_spheres_list(context, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "end is 6; it must be 0 or within begin and count");
    d.end = 2;
    test_error(carom_spheres_list(context, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "end is 2");
    d.end = 3;
    test_ok("no spheres", carom_spheres_list(context, &d, &list, NULL, &err), &err);
    assert_int_equal(totals.total, 0);
    assert_int_equal(totals.complete, 3);
    d.end = 4;
    test_ok("one sphere", carom_spheres_list(context, &d, &list, NULL, &err), &err);
    assert_int_equal(totals.total, 1);
    d.batch.begin = 0;
    test_error(carom_spheres_any(context, &d, TEST_ANY(hit), NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "end is 4; it must be 0, but for a list");
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* Counts, first and any partners. */
static void same_partners(carom_context *scalar, carom_context *context, const carom_spheres_desc *desc, size_t number)
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
        carom_spheres_desc d = *desc;
        carom_error err;
        d.full = 0;
        const carom_sphere_count_result counts = {sizeof counts, got[k].partners};
        test_ok("counts", carom_spheres_count(of[k], &d, &counts, NULL, &err), &err);
        d.margin = 0;
        const carom_sphere_partner_result first = {sizeof first, got[k].other, got[k].state, got[k].t};
        test_ok("first partners", carom_spheres_first(of[k], &d, &first, NULL, &err), &err);
        test_ok("any partner", carom_spheres_any(of[k], &d, TEST_ANY(got[k].hit), NULL, &err), &err);
    }
    if (memcmp(&got[0], &got[1], sizeof got[0]) != 0)
        fail_msg("cloud %zu: other partners", number);
}

static void same_lists(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t i = 0; i < test_effort(8 * CLOUD_FAMILIES); i++) {
        cloud c = make_cloud(i, (int)(i % 2));
        records one = {0}, other = {0};
        const carom_list_totals totals = ask_list(scalar, &c.desc, 0, &one);
        ask_list(scalar, &c.desc, (size_t)totals.total, &one);
        ask_list(context, &c.desc, (size_t)totals.total, &other);
        check_records(&other, &one, i, label);
        check_cut(context, &c, &one, i);
        same_partners(scalar, context, &c.desc, i);
        free(one.at);
        free(other.at);
        cloud_free(&c);
    }
}

/* ---- many spheres ------------------------------------------------------------------------------------------------ */

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
static records expect_large(const float *center, const float *radius, const uint32_t *mask, double margin)
{
    records r = {0};
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
            record one = {.a = (int32_t)a, .b = (int32_t)b, .state = CAROM_OVERLAPPING};
            if (distance2 > sum * sum) {
                one.state = CAROM_MISS;
                one.t = INFINITY;
            }
            append(&r, one);
        }
        if (r.count > first)
            qsort(r.at + first, r.count - first, sizeof *r.at, compare);
    }
    return r;
}

static void check_large(carom_context *context, const carom_spheres_desc *d, const records *expected, size_t number)
{
    carom_spheres_desc asked = *d;
    for (int exact = 0; exact < 2; exact++) {
        records got = {0};
        asked.batch.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        ask_list(context, &asked, expected->count, &got);
        check_records(&got, expected, number, "of many");
        free(got.at);
    }
    uint32_t *partners = test_alloc(LARGE, sizeof *partners), *count = test_alloc(LARGE, sizeof *count);
    for (size_t i = 0; i < expected->count; i++) {
        count[expected->at[i].a]++;
        count[expected->at[i].b]++;
    }
    const carom_sphere_count_result counts = {sizeof counts, partners};
    carom_error err;
    test_ok("partners of many", carom_spheres_count(context, &asked, &counts, NULL, &err), &err);
    assert_memory_equal(partners, count, LARGE * sizeof *count);
    free(partners), free(count);
}

/* Of spheres at rest the first partner is the lowest index. */
static void check_large_partners(carom_context *context, const carom_spheres_desc *d, const records *expected)
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
    const carom_sphere_partner_result first = {.size = sizeof first, .other = other};
    carom_error err;
    test_ok("first of many", carom_spheres_first(context, d, &first, NULL, &err), &err);
    test_ok("any of many", carom_spheres_any(context, d, TEST_ANY(hit), NULL, &err), &err);
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
        carom_spheres_desc d = {.batch = {.size = sizeof d, .count = LARGE},
                                .center = carom_xyz(center),
                                .radius = carom_scalars_of(radius),
                                .margin = options ? 0.125f : 0};
        if (options == 2)
            d.mask = carom_uints_of(mask);
        records expected = expect_large(center, radius, options == 2 ? mask : NULL, (double)d.margin);
        check_large(context, &d, &expected, number);
        if (options == 0)
            check_large_partners(context, &d, &expected);
        free(expected.at);
    }
    free(center), free(radius), free(mask);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(exact_is_the_reference),
                                        cmocka_unit_test(fast_is_each_pair_by_itself),
                                        cmocka_unit_test(fast_is_near_the_truth),
                                        cmocka_unit_test(sums_that_overflow),
                                        cmocka_unit_test(many_in_one_place),
                                        cmocka_unit_test(ends_are_checked),
                                        SAME_BITS_ON_CPU(same_lists),
                                        SAME_BITS_ON_CPU(many_spheres)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(many_in_one_place), SAME_BITS_ON_DEVICE(same_lists),
                                           SAME_BITS_ON_DEVICE(many_spheres)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
