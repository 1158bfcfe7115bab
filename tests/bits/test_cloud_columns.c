/* SPDX-License-Identifier: MIT */
/* Columns of a list of pairs of spheres: depth and normal against the reference in both modes, indices in an earlier
 * list against a search of all its records; the same bits on every instruction set and thread count, in pieces, and
 * whatever other columns are asked for. */
#include "queries/cloud_list.h"
#include "tests/support/clouds.h"

#include <math.h>

/* ---- lists ------------------------------------------------------------------------------------------------------- */

typedef struct columns {
    uint64_t count;
    carom_cloud_pair_list list; /* all columns, which lie in the memory */
    void *memory;
} columns;

static columns make_columns(uint64_t capacity)
{
    columns c = {.list = {.size = sizeof c.list, .capacity = capacity + 1}};
    c.memory = test_alloc(query_list_lay_out(&c.list, 0, NULL), 1);
    (void)query_list_lay_out(&c.list, 0, c.memory);
    c.list.offsets = NULL;
    return c;
}

static void free_columns(columns *c)
{
    free(c->memory);
}

static carom_cloud_pair_list list_of(const columns *c, uint64_t from, uint64_t capacity, carom_list_totals *totals)
{
    carom_cloud_pair_list list = c->list;
    query_list_skip(&list, from);
    list.capacity = capacity;
    list.totals = totals;
    return list;
}

static uint64_t count_pairs(carom_context *context, const carom_cloud_desc *d)
{
    carom_list_totals totals;
    carom_error err;
    const carom_cloud_pair_list none = {.size = sizeof none, .totals = &totals};
    test_ok("pairs are counted", carom_cloud_list(context, d, &none, NULL, &err), &err);
    return totals.total;
}

static columns ask_columns(carom_context *context, const carom_cloud_desc *d, const carom_cloud_pairs_before *before)
{
    const uint64_t total = count_pairs(context, d);
    columns c = make_columns(total);
    carom_list_totals totals;
    carom_error err;
    carom_cloud_pair_list list = list_of(&c, 0, total + 1, &totals);
    list.before = before;
    test_ok("pairs with columns", carom_cloud_list(context, d, &list, NULL, &err), &err);
    assert_int_equal(totals.stored, total);
    c.count = total;
    return c;
}

/* ---- depth and normal -------------------------------------------------------------------------------------------- */

static void truth_of(const cloud *c, const columns *l, uint64_t i, ref_cloud_answer *out)
{
    const size_t a = (size_t)l->list.a[i], b = (size_t)l->list.b[i];
    ref_cloud_case q = {
        .radius_a = c->radius[a], .radius_b = c->radius[b], .margin = c->desc.margin, .limit = INFINITY};
    for (size_t k = 0; k < 3; k++) {
        q.a[k] = c->center[3 * a + k];
        q.b[k] = c->center[3 * b + k];
        q.velocity_a[k] = c->desc.velocity.x ? c->velocity[3 * a + k] : 0.0f;
        q.velocity_b[k] = c->desc.velocity.x ? c->velocity[3 * b + k] : 0.0f;
        q.shift[k] = (float)l->list.shift[3 * i + k] * c->desc.period[k];
    }
    ref_cloud(&q, out);
}

static int is_minus_zero(float x)
{
    return x == 0.0f && signbit(x);
}

/* Fails with the numbers of a column if it is the wrong one (NULL: none is), or if one of them is -0. */
static void check_column(const columns *l, int column, uint64_t i, const ref_cloud_answer *truth, const char *wrong,
                         const char *what)
{
    const char *name = query_list_name(column);
    const ref_cloud_number *wanted = ref_cloud_column(truth, name);
    const size_t numbers = query_list_element(column) / sizeof(float);
    const float *got = (const float *)query_list_column(&l->list, column) + numbers * i;
    for (size_t k = 0; wanted && k < numbers; k++)
        if (is_minus_zero(got[k]) || (wrong && !strcmp(wrong, name)))
            fail_msg("%s: %d %d, state %d: %s, from number %zu on: %a instead of %a", what, l->list.a[i], l->list.b[i],
                     l->list.state[i], name, k, (double)got[k], wanted[k].value);
}

/* Where fast mode is wrong about the state there is no truth to compare with. Returns whether there was. */
static int check_pair(const cloud *c, const columns *l, uint64_t i, const char *what)
{
    ref_cloud_answer truth;
    truth_of(c, l, i, &truth);
    const int exact = c->desc.batch.accuracy == CAROM_ACCURACY_EXACT;
    if (!exact && (truth.state != l->list.state[i] || !truth.is_pair))
        return 0;
    const char *wrong = query_list_judge(&l->list, i, &truth);
    for (int column = 0; column < query_list_columns(); column++)
        check_column(l, column, i, &truth, wrong, what);
    return 1;
}

static void columns_are_true(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    uint64_t pairs = 0, wrong = 0;
    for (size_t i = 0; i < test_effort(24 * CLOUD_FAMILIES); i++) {
        cloud c = make_cloud(i / 2, (int)(i % 2));
        columns l = ask_columns(context, &c.desc, NULL);
        for (uint64_t k = 0; k < l.count; k++) {
            wrong += !check_pair(&c, &l, k, cloud_family(i / 2));
            assert_int_equal(l.list.previous[k], -1);
        }
        pairs += l.count;
        free_columns(&l);
        cloud_free(&c);
    }
    if (wrong * 50 > pairs)
        fail_msg("of %llu pairs fast mode has %llu in another state", (unsigned long long)pairs,
                 (unsigned long long)wrong);
    carom_context_destroy(context);
}

/* Where binary64 is not enough: a sphere comes from so far that its place rounds by more than the radii; spheres that
 * graze; images so far away that a difference of places loses what is left when the period is taken off. */
static void beyond_binary64(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    uint64_t pairs = 0;
    const size_t clouds = test_effort(2000);
    for (size_t i = 0; i < clouds; i++) {
        const int kind = (int)(i % 3);
        ref_gen g;
        ref_gen_seed(&g, 29, 1, i);
        const float far = ldexpf(1, (int)between(&g, 3, 100)), limit = INFINITY;
        cloud c = {.count = 2,
                   .center = test_alloc(6, sizeof(float)),
                   .velocity = test_alloc(6, sizeof(float)),
                   .radius = test_alloc(2, sizeof(float))};
        for (size_t k = 0; k < 3; k++) {
            c.center[k] = kind == 1 ? floorf(between(&g, -4, 4)) : between(&g, -0.4, 0.4);
            c.center[3 + k] = kind == 2 && k > 0 ? 0 : far;
            c.velocity[3 + k] = kind == 2 ? 0 : -1;
        }
        /* A graze, if the way from the line is a whole number: (1, -1, 0) k is k sqrt(2) away. */
        c.radius[0] = kind == 1 ? floorf(between(&g, 1, 5)) : between(&g, 0.3, 0.6);
        c.radius[1] = kind == 1 ? 0 : 0.25f;
        c.desc = (carom_cloud_desc){.batch = {.size = sizeof c.desc, .count = 2, .accuracy = CAROM_ACCURACY_EXACT},
                                    .center = carom_xyz(c.center),
                                    .radius = carom_scalars_of(c.radius),
                                    .t_max = {.data = &limit, .stride = CAROM_REPEAT},
                                    .period = {kind == 2 ? far : 0, 0, 0}};
        if (kind != 2)
            c.desc.velocity = carom_xyz(c.velocity);
        columns l = ask_columns(context, &c.desc, NULL);
        for (uint64_t k = 0; k < l.count; k++)
            check_pair(&c, &l, k, "beyond binary64");
        pairs += l.count;
        free_columns(&l);
        cloud_free(&c);
    }
    test_share("pairs", pairs, clouds, 1.0 / 3, HUGE_VAL);
    carom_context_destroy(context);
}

/* Two spheres, and what the columns say. */
typedef struct known_case {
    const char *name;
    float center[6], velocity[6], radius[2], margin;
    float depth, normal[3];
} known_case;

static const known_case known_cases[] = {
    {"head on", {0, 0, 0, 9, 0, 0}, {2, 0, 0, 1, 0, 0}, {1, 2}, 0, 0, {1, 0, 0}},
    {"a graze", {0, 0, 0, -5, 2, 0}, {0, 0, 0, 1, 0, 0}, {1, 1}, 0, 0, {0, 1, 0}},
    {"overlapping", {0, 0, 0, 3, 4, 0}, {0}, {5, 1}, 0, 1, {0.6f, 0.8f, 0}},
    {"touching", {0, 0, 0, 0, 3, 4}, {0}, {2, 3}, 0, 0, {0, 0.6f, 0.8f}},
    {"within the margin", {1, 0, 0, 1, 0, -7}, {0}, {1, 2}, 4.5f, -4, {0, 0, -1}},
    {"in one place at rest", {3, 3, 3, 3, 3, 3}, {0}, {1, 2}, 0, 3, {0, 0, 0}},
    {"in one place, moving", {3, 3, 3, 3, 3, 3}, {0, 3, 0, 0, 0, 4}, {1, 2}, 0, 3, {0, 0.6f, -0.8f}},
    {"points that meet", {0, 0, 0, 6, 8, 0}, {0}, {0, 0}, 0, 0, {0, 0, 0}},
    {"a point comes from far", {0, 0, 0, 0x1p40f, 0, 0}, {0, 0, 0, -1, 0, 0}, {0x1p-40f, 0}, 0, 0, {1, 0, 0}},
    {"a small sphere comes from far, aside",
     {0, 0, 0, 0x1p30f, 3, 0},
     {0, 0, 0, -1, 0, 0},
     {4, 1},
     0,
     0,
     {0.8f, 0.6f, 0}},
    {"denormal", {0, 0, 0, 0x3p-149f, 0x4p-149f, 0}, {0}, {0x4p-149f, 0x2p-149f}, 0, 0x1p-149f, {0.6f, 0.8f, 0}},
    {"the largest", {-0x1p127f, 0, 0, 0x1p127f, 0, 0}, {0}, {0x1p127f, 0x1.8p127f}, 0, 0x1p126f, {1, 0, 0}},
    {"radii apart in size", {0, 0, 0, 1, 0, 0}, {0}, {1, 0x1p-80f}, 0, 0x1p-80f, {1, 0, 0}},
    {"between two numbers, to even", {0, 0, 0, 0x1p-25f, 0, 0}, {0}, {1, 0}, 0, 1, {1, 0, 0}},
};

static void known_ones(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < 2 * COUNT_OF(known_cases); i++) {
        const known_case *k = &known_cases[i / 2];
        if (i % 2 == 0 && k->radius[1] > 0 && k->radius[0] + k->radius[1] == k->radius[0])
            continue; /* fast mode cannot tell the state */
        const int is_point = k->radius[0] + k->radius[1] <= 0;
        const float motion[] = {0, 0, 0, -3, -4, 0}, far = INFINITY;
        carom_cloud_desc d = {.batch = {.size = sizeof d, .count = 2, .accuracy = (carom_accuracy)(i % 2)},
                              .center = carom_xyz(k->center),
                              .radius = carom_scalars_of(k->radius),
                              .margin = k->margin,
                              .t_max = {.data = &far, .stride = CAROM_REPEAT}};
        if (k->margin <= 0)
            d.velocity = carom_xyz(is_point ? motion : k->velocity);
        columns l = ask_columns(context, &d, NULL);
        const float against[] = {0.6f, 0.8f, 0}, *normal = is_point ? against : k->normal;
        if (l.count != 1 || memcmp(&l.list.depth[0], &k->depth, sizeof(float)) != 0)
            fail_msg("%s: %d pairs, depth %a", k->name, (int)l.count, (double)l.list.depth[0]);
        if (memcmp(l.list.normal.x, normal, 3 * sizeof(float)) != 0)
            fail_msg("%s: normal %a %a %a", k->name, (double)l.list.normal.x[0], (double)l.list.normal.x[1],
                     (double)l.list.normal.x[2]);
        free_columns(&l);
    }
    carom_context_destroy(context);
}

/* ---- an earlier list --------------------------------------------------------------------------------------------- */

/* Some of the records, those of each row in another order. */
static carom_cloud_pairs_before some_of(const columns *l, columns *to, size_t seed)
{
    ref_gen g;
    ref_gen_seed(&g, 23, 1, seed);
    to->count = 0;
    for (uint64_t begin = 0, end; begin < l->count; begin = end) {
        const uint64_t first = to->count;
        for (end = begin; end < l->count && l->list.a[end] == l->list.a[begin]; end++) {
            const uint64_t at = first + (uint64_t)(ref_gen_range(&g, 0, 1) * (double)(to->count - first + 1));
            if (ref_gen_range(&g, 0, 1) < 0.3)
                continue;
            const uint64_t place = seed % 3 ? to->count : at;
            memmove(to->list.b + place + 1, to->list.b + place, (to->count - place) * sizeof *to->list.b);
            memmove(to->list.shift + 3 * (place + 1), to->list.shift + 3 * place, 3 * (to->count - place));
            to->list.a[to->count++] = l->list.a[end];
            to->list.b[place] = l->list.b[end];
            memcpy(to->list.shift + 3 * place, l->list.shift + 3 * end, 3);
        }
    }
    return (carom_cloud_pairs_before){sizeof(carom_cloud_pairs_before), to->count, to->list.a, to->list.b,
                                      to->list.shift};
}

static int64_t search(const carom_cloud_pairs_before *before, const columns *l, uint64_t i)
{
    for (uint64_t k = 0; k < before->count; k++)
        if (before->a[k] == l->list.a[i] && before->b[k] == l->list.b[i] &&
            memcmp(before->shift + 3 * k, l->list.shift + 3 * i, 3) == 0)
            return (int64_t)k;
    return -1;
}

static void check_found(const carom_cloud_pairs_before *before, const columns *l, size_t number)
{
    for (uint64_t i = 0; i < l->count; i++)
        if (l->list.previous[i] != search(before, l, i))
            fail_msg("cloud %zu: %d %d: record %lld instead of %lld", number, l->list.a[i], l->list.b[i],
                     (long long)l->list.previous[i], (long long)search(before, l, i));
}

static void check_previous(carom_context *context, const carom_cloud_desc *d, size_t number)
{
    columns now = ask_columns(context, d, NULL), old = make_columns(now.count + 1);
    const carom_cloud_pairs_before before = some_of(&now, &old, number);
    columns l = ask_columns(context, d, &before);
    check_found(&before, &l, number);
    free_columns(&now), free_columns(&old), free_columns(&l);
}

static void earlier_lists(void **state)
{
    (void)state;
    enum { MANY = 300 };
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(8 * CLOUD_FAMILIES); i++) {
        cloud c = make_cloud(i, 0);
        check_previous(context, &c.desc, i);
        cloud_free(&c);
    }
    /* Long rows, and more records than a task has. */
    const float center[] = {1, 2, 3}, radius = 1;
    for (size_t i = 0; i < 6; i++) {
        carom_cloud_desc d = {.batch = {.size = sizeof d, .count = MANY},
                              .center = carom_repeat(center),
                              .radius = {.data = &radius, .stride = CAROM_REPEAT},
                              .period = {0, 0, i % 2 ? 1.5f : 0.0f},
                              .full = i / 2 == 1};
        d.batch.count = i % 2 ? MANY / 3 : MANY;
        check_previous(context, &d, i);
    }
    carom_context_destroy(context);
}

/* Of equal records the lowest; shifts that no image has; a list without shifts. */
static void odd_earlier_lists(void **state)
{
    (void)state;
    const float center[] = {0, 0, 0, 1, 0, 0}, radius[] = {1, 1};
    const int32_t a[] = {-7, 0, 0, 0, 5}, b[] = {1, 1, 1, 1, 1};
    const int8_t shift[] = {0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    const carom_cloud_desc d = {
        .batch = {.size = sizeof d, .count = 2}, .center = carom_xyz(center), .radius = carom_scalars_of(radius)};
    carom_cloud_pairs_before before = {sizeof before, 5, a, b, shift};
    columns l = ask_columns(context, &d, &before);
    assert_int_equal(l.list.previous[0], 2);
    free_columns(&l);
    before.shift = NULL;
    l = ask_columns(context, &d, &before);
    assert_int_equal(l.list.previous[0], 1);
    free_columns(&l);
    before.count = 0;
    l = ask_columns(context, &d, &before);
    assert_int_equal(l.list.previous[0], -1);
    free_columns(&l);

    const float three[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, same[] = {1, 1, 1};
    const int32_t b_twice[] = {2, 1, 2};
    before = (carom_cloud_pairs_before){sizeof before, 3, a + 1, b_twice, NULL};
    const carom_cloud_desc with_third = {
        .batch = {.size = sizeof d, .count = 3}, .center = carom_xyz(three), .radius = carom_scalars_of(same)};
    l = ask_columns(context, &with_third, &before);
    assert_int_equal(l.list.previous[0], 1);
    assert_int_equal(l.list.previous[1], 0);
    free_columns(&l);
    carom_context_destroy(context);
}

static int rank_of(const int8_t shift[3])
{
    return 9 * shift[0] + 3 * shift[1] + shift[2];
}

/* Records in any order and some of them twice, shifts that no image has among them, in short and in long rows. */
static void repeated_records(void **state)
{
    enum { BALLS = 4, FEW = 40, MANY = 600 };
    (void)state;
    const float center[] = {1, 2, 3}, radius = 2;
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = BALLS},
                                .center = carom_repeat(center),
                                .radius = {.data = &radius, .stride = CAROM_REPEAT},
                                .period = {2, 2, 2}};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < test_effort(40); i++) {
        ref_gen g;
        ref_gen_seed(&g, 30, 1, i);
        columns old = make_columns(MANY);
        old.count = i % 2 ? MANY : FEW;
        for (uint64_t k = 0; k < old.count; k++) {
            const int most = ref_gen_chance(&g, 4) ? 2 : 1;
            old.list.a[k] = (int32_t)(k * BALLS / old.count);
            old.list.b[k] = ref_gen_int(&g, 0, BALLS - 1);
            for (uint64_t c = 0; c < 3; c++)
                old.list.shift[3 * k + c] = (int8_t)ref_gen_int(&g, -most, most);
        }
        const carom_cloud_pairs_before before = {sizeof before, old.count, old.list.a, old.list.b, old.list.shift};
        columns l = ask_columns(context, &d, &before);
        assert_int_equal(l.count, BALLS * (BALLS - 1) / 2 * 27);
        for (uint64_t k = 1; k < l.count; k++) /* all of time 0: by a, b and shift */
            assert_true(l.list.a[k - 1] < l.list.a[k] || l.list.b[k - 1] < l.list.b[k] ||
                        rank_of(&l.list.shift[3 * k - 3]) < rank_of(&l.list.shift[3 * k]));
        check_found(&before, &l, i);
        free_columns(&old), free_columns(&l);
    }
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void check_same(const columns *one, const columns *other, const char *label, size_t number)
{
    if (one->count != other->count)
        fail_msg("%s: cloud %zu (%s): another number of pairs", label, number, cloud_family(number));
    const int column = query_list_differs(&one->list, &other->list, one->count);
    if (column >= 0)
        fail_msg("%s: cloud %zu (%s): %s", label, number, cloud_family(number), query_list_name(column));
}

/* A list that is cut again and again, or that has one column alone. */
static void in_pieces(carom_context *context, const carom_cloud_desc *desc, const carom_cloud_pairs_before *before,
                      const columns *whole, size_t number)
{
    carom_cloud_desc d = *desc;
    columns l = make_columns(whole->count + 1);
    carom_list_totals totals;
    carom_error err;
    for (uint64_t room = whole->count / 3 + 1; d.batch.begin < d.batch.count; d.batch.begin = totals.complete) {
        carom_cloud_pair_list list =
            list_of(&l, l.count, room < whole->count - l.count ? room : whole->count - l.count, &totals);
        list.before = before;
        test_ok("pairs in pieces", carom_cloud_list(context, &d, &list, NULL, &err), &err);
        l.count += totals.stored;
        room *= totals.stored ? 1 : 2;
    }
    check_same(whole, &l, "in pieces", number);
    for (int column = 0; column < query_list_columns(); column++) {
        carom_cloud_pair_list list = list_of(&l, 0, whole->count, &totals);
        list.before = before;
        for (int other = 0; other < query_list_columns(); other++)
            if (other != column)
                query_list_drop(&list, other);
        memset(query_list_column(&list, column), 1, (size_t)l.count * query_list_element(column));
        test_ok("one column", carom_cloud_list(context, desc, &list, NULL, &err), &err);
    }
    check_same(whole, &l, "one by one", number);
    free_columns(&l);
}

static void same_columns(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t i = 0; i < test_effort(8 * CLOUD_FAMILIES); i++) {
        cloud c = make_cloud(i, (int)(i % 2));
        columns all = ask_columns(scalar, &c.desc, NULL), old = make_columns(all.count + 1);
        const carom_cloud_pairs_before before = some_of(&all, &old, i);
        columns one = ask_columns(scalar, &c.desc, &before), other = ask_columns(context, &c.desc, &before);
        check_same(&one, &other, label, i);
        in_pieces(context, &c.desc, &before, &one, i);
        free_columns(&all), free_columns(&old), free_columns(&one), free_columns(&other);
        cloud_free(&c);
    }
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

static void bad_input(void **state)
{
    (void)state;
    const float center[] = {0, 0, 0, 1, 0, 0}, radius[] = {1, 1};
    const int32_t a[] = {0, 1, 0}, b[] = {1, 2, 2};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    const carom_cloud_desc d = {
        .batch = {.size = sizeof d, .count = 2}, .center = carom_xyz(center), .radius = carom_scalars_of(radius)};
    carom_list_totals totals;
    carom_error err;
    columns l = make_columns(4);
    carom_cloud_pairs_before before = {.size = sizeof before, .count = 3, .a = a, .b = b};
    carom_cloud_pair_list list = list_of(&l, 0, 4, &totals);
    list.before = &before;
#define REFUSED(sentence) \
    test_error(carom_cloud_list(context, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, sentence)
    REFUSED("before: record 2 has a = 0 behind a = 1; they must ascend");
    before.b = NULL;
    REFUSED("before: a and b must not be NULL");
    before.b = b;
    before.count = UINT64_MAX;
    REFUSED("before.count");
    before.count = 3;
    before.size = 1;
    REFUSED("carom_cloud_pairs_before");
    before.size = sizeof before;
    before.count = 2;
    list.normal.y = NULL;
    REFUSED("normal: give x, y and z, or none");
    list.normal = l.list.normal;
    list.normal.stride = 2;
    REFUSED("normal: stride is 2 bytes");
    list.normal = l.list.normal;
    list.previous = (int64_t *)(void *)l.list.depth;
    REFUSED("previous");
    list.previous = l.list.previous;
    before.a = l.list.a;
    REFUSED("before.a");
#undef REFUSED
    before.a = a;
    test_ok("a good one", carom_cloud_list(context, &d, &list, NULL, &err), &err);
    assert_int_equal(l.list.previous[0], 0);
    free_columns(&l);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_are_true),  cmocka_unit_test(known_ones),
                                       cmocka_unit_test(beyond_binary64),   cmocka_unit_test(earlier_lists),
                                       cmocka_unit_test(odd_earlier_lists), cmocka_unit_test(repeated_records),
                                       SAME_BITS_ON_CPU(same_columns),      cmocka_unit_test(bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
