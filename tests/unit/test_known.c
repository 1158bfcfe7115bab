/* SPDX-License-Identifier: MIT */
/* Answers worked out by hand: every row of the state table, and the words for what has no contact, no length, no
 * motion. Asked of every instruction set one by one and in the middle of other pairs, so that no row leans on its
 * neighbours. */
#include "tests/support/support.h"

#include <float.h>
#include <math.h>

#define INF HUGE_VALF
/* Features that may hold a contact; fast mode names the branch it took. */
#define IN(feature) (1 << CAROM_FEATURE_##feature)
#define NOWHERE IN(NONE)

typedef struct known_sweep {
    const char *name;
    float center[3], radius, velocity[3], p[3][3], w[3];
    int state;
    float t_first, t_last;
    int first_in, last_in;
    float first[3], last[3];
} known_sweep;

/* A right triangle in the plane z = 0, and what may be left of it. */
/* clang-format off */
#define FLAT {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}
#define SEGMENT {{0, 0, 0}, {4, 0, 0}, {2, 0, 0}}
#define LONG_WAY {{2, 0, 0}, {0, 0, 0}, {4, 0, 0}}
#define POINT {{2, 0, 0}, {2, 0, 0}, {2, 0, 0}}
#define SQRT2 1.41421356f

static const known_sweep sweeps[] = {
    {"approaching the face", {1, 1, 5}, 1, {0, 0, -1}, FLAT, {0}, CAROM_APPROACHING, 4, 6, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"approaching from behind", {1, 1, -5}, 1, {0, 0, 1}, FLAT, {0}, CAROM_APPROACHING, 4, 6, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"touching at 0", {1, 1, 1}, 1, {0, 0, -1}, FLAT, {0}, CAROM_TOUCHING, 0, 2, IN(FACE), IN(FACE), {1, 1, 0},
     {1, 1, 0}},
    {"touching at 0 from behind", {1, 1, -1}, 1, {0, 0, 1}, FLAT, {0}, CAROM_TOUCHING, 0, 2, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"overlapping", {1, 1, 0.5f}, 1, {0, 0, -1}, FLAT, {0}, CAROM_OVERLAPPING, -0.5f, 1.5f, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"parting", {1, 1, -1}, 1, {0, 0, -1}, FLAT, {0}, CAROM_PARTING, -2, 0, IN(FACE), IN(FACE), {1, 1, 0},
     {1, 1, 0}},
    {"past", {1, 1, -5}, 1, {0, 0, -1}, FLAT, {0}, CAROM_PAST, -6, -4, IN(FACE), IN(FACE), {1, 1, 0}, {1, 1, 0}},
    {"missing", {1, 1, 5}, 1, {1, 0, 0}, FLAT, {0}, CAROM_MISS, INF, -INF, NOWHERE, NOWHERE, {0}, {0}},
    {"sliding on the face at exactly r", {1, 1, 1}, 1, {1, 0, 0}, FLAT, {0}, CAROM_OVERLAPPING, -1, 2,
     IN(E20) | IN(FACE), IN(E12) | IN(FACE), {0, 1, 0}, {3, 1, 0}},
    {"sliding along an edge at exactly r", {1, -1, 0}, 1, {1, 0, 0}, FLAT, {0}, CAROM_OVERLAPPING, -1, 3,
     IN(V0) | IN(E01), IN(V1) | IN(E01), {0, 0, 0}, {4, 0, 0}},
    {"onto a vertex, off the other", {-3, 0, 0}, 1, {1, 0, 0}, FLAT, {0}, CAROM_APPROACHING, 2, 8, IN(V0), IN(V1),
     {0, 0, 0}, {4, 0, 0}},
    {"onto an edge, off another", {2, -5, 0}, 1, {0, 1, 0}, FLAT, {0}, CAROM_APPROACHING, 4, 7 + SQRT2, IN(E01),
     IN(E12), {2, 0, 0}, {2 - SQRT2 / 2, 2 + SQRT2 / 2, 0}},

    {"no motion, apart", {1, 1, 5}, 1, {0}, FLAT, {0}, CAROM_MISS, INF, -INF, NOWHERE, NOWHERE, {0}, {0}},
    {"no motion, distance r", {1, 1, 1}, 1, {0}, FLAT, {0}, CAROM_TOUCHING, -INF, INF, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"no motion, overlapping", {1, 1, 0.5f}, 1, {0}, FLAT, {0}, CAROM_OVERLAPPING, -INF, INF, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"the same motion, overlapping", {1, 1, 0.5f}, 1, {1, 2, 3}, FLAT, {1, 2, 3}, CAROM_OVERLAPPING, -INF, INF,
     IN(FACE), IN(FACE), {1, 1, 0}, {1, 1, 0}},
    {"the same motion, distance r", {-1, 0, 0}, 1, {1, 2, 3}, FLAT, {1, 2, 3}, CAROM_TOUCHING, -INF, INF, IN(V0),
     IN(V0), {0}, {0}},
    {"the same motion, apart", {1, 1, 5}, 1, {1, 2, 3}, FLAT, {1, 2, 3}, CAROM_MISS, INF, -INF, NOWHERE, NOWHERE,
     {0}, {0}},
    {"no motion, a point on the face", {1, 1, 0}, 0, {0}, FLAT, {0}, CAROM_TOUCHING, -INF, INF, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},

    {"a point through the face", {1, 1, 5}, 0, {0, 0, -1}, FLAT, {0}, CAROM_APPROACHING, 5, 5, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"a point of radius -0", {1, 1, 5}, -0.0f, {0, 0, -1}, FLAT, {0}, CAROM_APPROACHING, 5, 5, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"a point on the face at 0", {1, 1, 0}, 0, {0, 0, -1}, FLAT, {0}, CAROM_TOUCHING, 0, 0, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"a point beyond the face", {1, 1, -5}, 0, {0, 0, -1}, FLAT, {0}, CAROM_PAST, -5, -5, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"a point beside the face", {5, 5, 5}, 0, {0, 0, -1}, FLAT, {0}, CAROM_MISS, INF, -INF, NOWHERE, NOWHERE, {0},
     {0}},

    {"a moving triangle", {1, 1, 0}, 1, {0}, {{0, 0, -5}, {4, 0, -5}, {0, 4, -5}}, {0, 0, 1}, CAROM_APPROACHING, 4,
     6, IN(FACE), IN(FACE), {1, 1, -1}, {1, 1, 1}},
    {"both move", {1, 1, 5}, 1, {0, 0, -0.5f}, FLAT, {0, 0, 0.5f}, CAROM_APPROACHING, 4, 6, IN(FACE), IN(FACE),
     {1, 1, 2}, {1, 1, 3}},

    {"a triangle that is a point", {2, 0, 5}, 1, {0, 0, -1}, POINT, {0}, CAROM_APPROACHING, 4, 6,
     IN(V0) | IN(V1) | IN(V2) | IN(E01) | IN(E12) | IN(E20),
     IN(V0) | IN(V1) | IN(V2) | IN(E01) | IN(E12) | IN(E20), {2, 0, 0}, {2, 0, 0}},
    {"a triangle that is a segment", {1, 0, 5}, 1, {0, 0, -1}, SEGMENT, {0}, CAROM_APPROACHING, 4, 6,
     IN(E01) | IN(E20), IN(E01) | IN(E20), {1, 0, 0}, {1, 0, 0}},
    {"a segment whose ends are the last two", {1, 0, 5}, 1, {0, 0, -1}, LONG_WAY, {0}, CAROM_APPROACHING, 4, 6,
     IN(E01) | IN(E12), IN(E01) | IN(E12), {1, 0, 0}, {1, 0, 0}},
    {"along a segment", {-3, 0, 0}, 1, {1, 0, 0}, SEGMENT, {0}, CAROM_APPROACHING, 2, 8, IN(V0), IN(V1), {0},
     {4, 0, 0}},
    {"no motion, a segment at distance r", {1, 1, 0}, 1, {0}, SEGMENT, {0}, CAROM_TOUCHING, -INF, INF,
     IN(E01) | IN(E20), IN(E01) | IN(E20), {1, 0, 0}, {1, 0, 0}},
    {"no motion, on a point", {2, 0, 0}, 1, {0}, POINT, {0}, CAROM_OVERLAPPING, -INF, INF, IN(V0), IN(V0),
     {2, 0, 0}, {2, 0, 0}},

    {"a time beyond binary32", {1, 1, 0x1p127f}, 1, {0, 0, -0x1p-126f}, FLAT, {0}, CAROM_APPROACHING, INF, INF,
     NOWHERE, NOWHERE, {0}, {0}},
    {"a time far in the past beyond binary32", {1, 1, 0x1p127f}, 1, {0, 0, 0x1p-126f}, FLAT, {0}, CAROM_PAST, -INF,
     -INF, NOWHERE, NOWHERE, {0}, {0}},
    {"a past time that rounds to zero", {1, 1, -0x1p-126f}, 0, {0, 0, -0x1p120f}, FLAT, {0}, CAROM_PAST, 0, 0, IN(FACE),
     IN(FACE), {1, 1, 0}, {1, 1, 0}},
    {"a time that rounds to zero", {1, 1, 0x1p-126f}, 0, {0, 0, -0x1p120f}, FLAT, {0}, CAROM_APPROACHING, 0, 0,
     IN(FACE), IN(FACE), {1, 1, 0}, {1, 1, 0}},

    {"a negative radius", {1, 1, 5}, -1, {0, 0, -1}, FLAT, {0}, CAROM_INVALID, INF, -INF, NOWHERE, NOWHERE, {0},
     {0}},
    {"the smallest negative radius", {1, 1, 5}, -0x1p-149f, {0, 0, -1}, FLAT, {0}, CAROM_INVALID, INF, -INF,
     NOWHERE, NOWHERE, {0}, {0}},
    {"invalid at rest", {1, 1, 0}, -1, {0}, FLAT, {0}, CAROM_INVALID, INF, -INF, NOWHERE, NOWHERE, {0}, {0}},
};
/* clang-format on */

static ref_sweep_case case_of(const known_sweep *k)
{
    ref_sweep_case c = {.radius = (double)k->radius};
    memcpy(c.center, k->center, sizeof c.center);
    memcpy(c.velocity, k->velocity, sizeof c.velocity);
    memcpy(c.p, k->p, sizeof c.p);
    memcpy(c.w, k->w, sizeof c.w);
    return c;
}

/* Equal, or within two units of the last place where the hand's answer has a root in it. */
static int is_close(float got, float expected)
{
    return got == expected || fabsf(got - expected) <= 2 * FLT_EPSILON * fabsf(expected);
}

static void wrong(const queries *q, const answers *a, size_t i, const known_sweep *k, const char *what)
{
    queries_print(q, i);
    answers_print(a, i, "answer");
    fail_msg("%s: %s", k->name, what);
}

static void check_known(const queries *q, const answers *a, size_t i, const known_sweep *k)
{
    float first = answers_float(a, T_FIRST, i), last = answers_float(a, T_LAST, i);
    if (answers_byte(a, STATE, i) != k->state)
        wrong(q, a, i, k, "wrong state");
    if (!is_close(first, k->t_first) || !is_close(last, k->t_last))
        wrong(q, a, i, k, "wrong times");
    if (is_nan_or_minus_zero(first) || is_nan_or_minus_zero(last))
        wrong(q, a, i, k, "NaN or -0");
    if (!(k->first_in >> answers_byte(a, F_FIRST, i) & 1) || !(k->last_in >> answers_byte(a, F_LAST, i) & 1))
        wrong(q, a, i, k, "wrong feature");
    for (int axis = 0; axis < 3; axis++) {
        float x = answers_float(a, X_FIRST + axis, i), y = answers_float(a, X_LAST + axis, i);
        if (fabsf(x - k->first[axis]) > 4 * FLT_EPSILON || fabsf(y - k->last[axis]) > 4 * FLT_EPSILON || isnan(x + y))
            wrong(q, a, i, k, "wrong point");
    }
}

/* The hand may err too. */
static void test_hand_agrees_with_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sweeps); i++) {
        ref_sweep_case c = case_of(&sweeps[i]);
        ref_sweep_answer exact;
        ref_sweep(&c, &exact);
        if (exact.state != sweeps[i].state || !is_close(exact.t_first, sweeps[i].t_first) ||
            !is_close(exact.t_last, sweeps[i].t_last))
            fail_msg("%s: the reference says state %d, %a to %a", sweeps[i].name, exact.state, (double)exact.t_first,
                     (double)exact.t_last);
    }
}

/* Each row at a place of its own among random pairs, and all others around it. */
static void ask_known(carom_context *context)
{
    size_t apart = 3, count = COUNT_OF(sweeps) * apart;
    queries q = queries_family(SWEEP, 1, 5, count);
    answers a = answers_alloc(SWEEP, count, 0xa5);
    for (size_t i = 0; i < COUNT_OF(sweeps); i++) {
        ref_sweep_case c = case_of(&sweeps[i]);
        queries_put_sweep(&q, i * apart + i % apart, &c);
    }
    ask(context, &q, &a, ALL_FIELDS);
    for (size_t i = 0; i < COUNT_OF(sweeps); i++)
        check_known(&q, &a, i * apart + i % apart, &sweeps[i]);
    queries_free(&q);
    answers_free(&a);
}

/* One pair at a time, without a triangle velocity where it is zero. */
static void ask_alone(carom_context *context)
{
    queries q = queries_alloc(SWEEP, 1);
    answers a = answers_alloc(SWEEP, 1, 0xa5);
    for (size_t i = 0; i < COUNT_OF(sweeps); i++) {
        ref_sweep_case c = case_of(&sweeps[i]);
        carom_error err = {0};
        queries_put_sweep(&q, 0, &c);
        inputs in = inputs_of(&q);
        if (sweeps[i].w[0] == 0 && sweeps[i].w[1] == 0 && sweeps[i].w[2] == 0)
            in.points[5] = (carom_points){0};
        test_ok("sweep", ask_as(context, SWEEP, 1, &in, &a, ALL_FIELDS, NULL, &err), &err);
        check_known(&q, &a, 0, &sweeps[i]);
    }
    queries_free(&q);
    answers_free(&a);
}

static void test_state_table(void **state)
{
    carom_context *context = test_cpu(*(const carom_isa *)*state, 1);
    ask_known(context);
    ask_alone(context);
    carom_context_destroy(context);
}

/* ---- invalid inputs, one number at a time ------------------------------------------------------------------------ */

static void expect_invalid(const queries *q, const answers *a, size_t i)
{
    int ok = answers_byte(a, 0, i) == query_pairs[q->type]->invalid, times = 0;
    for (int f = 0; f < query_fields(q->type); f++)
        switch (query_pairs[q->type]->fields[f].kind) {
        case QUERY_STATE: ok &= answers_byte(a, f, i) == CAROM_INVALID; break;
        case QUERY_BITS: ok &= answers_byte(a, f, i) == CAROM_OVERLAP_INVALID; break;
        case QUERY_FEATURE: ok &= answers_byte(a, f, i) == CAROM_FEATURE_NONE; break;
        case QUERY_TIME: ok &= answers_float(a, f, i) == (times++ == 0 ? INF : -INF); break;
        default: ok &= bits_of_float(answers_float(a, f, i)) == 0; break;
        }
    if (!ok) {
        queries_print(q, i);
        answers_print(a, i, "answer");
        fail_msg("an invalid %s is not answered so", query_name(q->type));
    }
}

/* Every number of a good pair replaced by NaN and the infinities in turn; its neighbours must not notice. */
static void test_invalid_inputs(void **state)
{
    static const uint32_t bad[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u};
    carom_context *context = test_cpu(*(const carom_isa *)*state, 1);
    for (int type = 0; type < QUERY_TYPES; type++) {
        size_t count = (size_t)query_columns(type) * COUNT_OF(bad) * 2;
        queries good = queries_family(type, 1, 3, count), q = queries_family(type, 1, 3, count);
        answers expected = answers_alloc(type, count, 0x5a), got = answers_alloc(type, count, 0xa5);
        for (size_t i = 0; i < count; i += 2)
            q.column[i / 2 / COUNT_OF(bad)][i] = float_of_bits(bad[i / 2 % COUNT_OF(bad)]);
        ask(context, &good, &expected, ALL_FIELDS);
        ask(context, &q, &got, ALL_FIELDS);
        for (size_t i = 0; i < count; i++) {
            int spoiled = i % 2 == 0;
            if (spoiled)
                expect_invalid(&q, &got, i);
            for (int f = 0; f < query_fields(type) && !spoiled; f++) {
                size_t size = query_field_bytes(type, f);
                assert_memory_equal(got.field[f].data + i * size, expected.field[f].data + i * size, size);
            }
        }
        queries_free(&good);
        queries_free(&q);
        answers_free(&expected);
        answers_free(&got);
    }
    carom_context_destroy(context);
}

/* ---- overlap and spheres ----------------------------------------------------------------------------------------- */

typedef struct known_overlap {
    const char *name;
    float center[3], radius, p[3][3];
    int overlap, axes;
} known_overlap;

/* clang-format off */
static const known_overlap overlaps[] = {
    {"above the face", {1, 1, 5}, 1, FLAT, 0, 1},
    {"at distance r above the face", {1, 1, 1}, 1, FLAT, 1, 0},
    {"inside", {1, 1, 0.5f}, 1, FLAT, 1, 0},
    {"beyond the corner A", {-3, -3, 0}, 1, FLAT, 0, 1 << 1 | 1 << 3 | 1 << 4},
    {"beside the edge AB", {2, -3, 0}, 1, FLAT, 0, 1 << 1},
    {"at distance r beside the edge AB", {2, -1, 0}, 1, FLAT, 1, 0},
    {"a point on the face", {1, 1, 0}, 0, FLAT, 1, 0},
    {"a point off the face", {1, 1, 0x1p-16f}, 0, FLAT, 0, 1},
    {"a triangle that is a point", {2, 0, 3}, 1, POINT, 0, 1 << 4 | 1 << 5 | 1 << 6},
    {"at distance r from such a point", {2, 0, 1}, 1, POINT, 1, 0},
    {"radius -0", {1, 1, 0}, -0.0f, FLAT, 1, 0},
    {"a negative radius", {1, 1, 0}, -1, FLAT, CAROM_OVERLAP_INVALID, CAROM_OVERLAP_INVALID},
};
/* clang-format on */

static void test_known_overlaps(void **state)
{
    carom_context *context = test_cpu(*(const carom_isa *)*state, 1);
    queries q = queries_alloc(OVERLAP, COUNT_OF(overlaps));
    answers a = answers_alloc(OVERLAP, COUNT_OF(overlaps), 0xa5);
    for (size_t i = 0; i < COUNT_OF(overlaps); i++) {
        ref_sweep_case c = {.radius = (double)overlaps[i].radius};
        ref_overlap_answer exact;
        memcpy(c.center, overlaps[i].center, sizeof c.center);
        memcpy(c.p, overlaps[i].p, sizeof c.p);
        queries_put_sweep(&q, i, &c);
        ref_overlap(&c, &exact);
        if (overlaps[i].axes < 128 && (exact.overlap != overlaps[i].overlap || exact.axes != overlaps[i].axes))
            fail_msg("%s: the reference says %d, axes %d", overlaps[i].name, exact.overlap, exact.axes);
    }
    ask(context, &q, &a, ALL_FIELDS);
    for (size_t i = 0; i < COUNT_OF(overlaps); i++)
        if (answers_byte(&a, OVERLAPS, i) != overlaps[i].overlap || answers_byte(&a, AXES, i) != overlaps[i].axes)
            fail_msg("%s: overlap %d axes %d, expected %d %d", overlaps[i].name, answers_byte(&a, OVERLAPS, i),
                     answers_byte(&a, AXES, i), overlaps[i].overlap, overlaps[i].axes);
    queries_free(&q);
    answers_free(&a);
    carom_context_destroy(context);
}

typedef struct known_spheres {
    const char *name;
    ref_spheres_case c;
    int state;
    float first, last;
} known_spheres;

/* clang-format off */
static const known_spheres spheres[] = {
    {"approaching", {{0, 0, 0}, {8, 0, 0}, 1, {8, 0, 0}, {8, 0, 0}, 1, 0}, CAROM_APPROACHING, 0.75f, 1.25f},
    {"after the end", {{0, 0, 0}, {2, 0, 0}, 1, {8, 0, 0}, {8, 0, 0}, 1, 0}, CAROM_APPROACHING, 3, 5},
    {"touching", {{0, 0, 0}, {4, 0, 0}, 1, {2, 0, 0}, {2, 0, 0}, 1, 0}, CAROM_TOUCHING, 0, 1},
    {"overlapping", {{0, 0, 0}, {4, 0, 0}, 1, {0, 0, 0}, {0, 0, 0}, 1, 0}, CAROM_OVERLAPPING, -0.5f, 0.5f},
    {"parting", {{2, 0, 0}, {6, 0, 0}, 1, {0, 0, 0}, {0, 0, 0}, 1, 0}, CAROM_PARTING, -1, 0},
    {"past", {{8, 0, 0}, {12, 0, 0}, 1, {0, 0, 0}, {0, 0, 0}, 1, 0}, CAROM_PAST, -2.5f, -1.5f},
    {"missing", {{0, 3, 0}, {4, 3, 0}, 1, {2, 0, 0}, {2, 0, 0}, 1, 0}, CAROM_MISS, INF, -INF},
    {"grazing", {{0, 2, 0}, {4, 2, 0}, 1, {2, 0, 0}, {2, 0, 0}, 1, 0}, CAROM_APPROACHING, 0.5f, 0.5f},
    {"no motion, apart", {{0, 0, 0}, {0, 0, 0}, 1, {3, 0, 0}, {3, 0, 0}, 1, 0}, CAROM_MISS, INF, -INF},
    {"no motion, distance ra+rb", {{0, 0, 0}, {0, 0, 0}, 1, {2, 0, 0}, {2, 0, 0}, 1, 0}, CAROM_TOUCHING, -INF,
     INF},
    {"the same motion", {{0, 0, 0}, {5, 0, 0}, 1, {1, 0, 0}, {6, 0, 0}, 1, 0}, CAROM_OVERLAPPING, -INF, INF},
    {"two points meet", {{0, 0, 0}, {2, 0, 0}, 0, {2, 0, 0}, {0, 0, 0}, -0.0f, 0}, CAROM_APPROACHING, 0.5f, 0.5f},
    {"a negative radius", {{0, 0, 0}, {8, 0, 0}, -1, {8, 0, 0}, {8, 0, 0}, 1, 0}, CAROM_INVALID, INF, -INF},
    {"the other's negative radius", {{0, 0, 0}, {8, 0, 0}, 1, {8, 0, 0}, {8, 0, 0}, -0x1p-149f, 0}, CAROM_INVALID,
     INF, -INF},
};
/* clang-format on */

static void test_known_spheres(void **state)
{
    carom_context *context = test_cpu(*(const carom_isa *)*state, 1);
    queries q = queries_alloc(SPHERES, COUNT_OF(spheres));
    answers a = answers_alloc(SPHERES, COUNT_OF(spheres), 0xa5);
    for (size_t i = 0; i < COUNT_OF(spheres); i++) {
        ref_spheres_answer exact;
        queries_put_spheres(&q, i, &spheres[i].c);
        ref_spheres(&spheres[i].c, &exact);
        if (exact.state != spheres[i].state || exact.u_first != spheres[i].first || exact.u_last != spheres[i].last)
            fail_msg("%s: the reference says %d, %a %a", spheres[i].name, exact.state, (double)exact.u_first,
                     (double)exact.u_last);
    }
    ask(context, &q, &a, ALL_FIELDS);
    for (size_t i = 0; i < COUNT_OF(spheres); i++) {
        float first = answers_float(&a, T_FIRST, i), last = answers_float(&a, T_LAST, i);
        if (answers_byte(&a, STATE, i) != spheres[i].state || first != spheres[i].first || last != spheres[i].last ||
            is_nan_or_minus_zero(first) || is_nan_or_minus_zero(last)) {
            answers_print(&a, i, spheres[i].name);
            fail_msg("%s: expected state %d, %a to %a", spheres[i].name, spheres[i].state, (double)spheres[i].first,
                     (double)spheres[i].last);
        }
    }
    queries_free(&q);
    answers_free(&a);
    carom_context_destroy(context);
}

#define ON(isa, value)                                                    \
    {isa ": state table", test_state_table, NULL, NULL, value},           \
        {isa ": invalid inputs", test_invalid_inputs, NULL, NULL, value}, \
        {isa ": known overlaps", test_known_overlaps, NULL, NULL, value}, \
    {                                                                     \
        isa ": known spheres", test_known_spheres, NULL, NULL, value      \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hand_agrees_with_reference),
        TEST_EACH_ISA(ON),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
