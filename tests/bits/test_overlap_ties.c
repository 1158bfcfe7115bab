/* SPDX-License-Identifier: MIT */
/* Exact overlaps of pairs that floating point leaves undecided, against the exact reference: ties at planes, lines and
 * corners, and near them, with numbers up to the 30 bits that cpu/exact/narrow.h takes and beyond. */
#include "tests/support/support.h"

#include "reference/generate.h"
#include "reference/judge.h"

#include <math.h>

enum { PAIRS = 20000, SEED = 57 };

/* Numbers of pairs as the library takes them. */
typedef struct pair {
    float center[3], radius, p[3][3];
} pair;

static ref_sweep_case case_of(const pair *given)
{
    ref_sweep_case c = {.radius = (double)given->radius};
    memcpy(c.center, given->center, sizeof c.center);
    memcpy(c.p, given->p, sizeof c.p);
    return c;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* u = (2, 1, -2), v = (2, -2, 1), n = (1, 2, 2) are at right angles, of length 3 each. The centre is 4 n above the
 * plane of u and v; a line along u that is 3 v away is at 15, and a point of it 12 u away at 39. The ball has such a
 * distance as its radius, or one less or more. */
static void touching(ref_gen *g, pair *out)
{
    static const int u[3] = {2, 1, -2}, v[3] = {2, -2, 1}, n[3] = {1, 2, 2}, distances[3] = {12, 15, 39};
    const int scale = 1 << ref_gen_int(g, 0, 25), what = ref_gen_int(g, 0, 2);
    const int places[3][2] = {{what == 2 ? 12 : ref_gen_int(g, -9, 0), what > 0 ? 3 : ref_gen_int(g, -9, 9)},
                              {ref_gen_int(g, 13, 20), what > 0 ? 3 : ref_gen_int(g, -9, 9)},
                              {ref_gen_int(g, -20, 20), ref_gen_int(g, 4, 20)}};
    for (int corner = 0; corner < 3; corner++)
        for (int k = 0; k < 3; k++)
            out->p[corner][k] = (float)(places[corner][0] * u[k] + places[corner][1] * v[k] - 4 * n[k]) * (float)scale;
    out->radius = (float)(distances[what] * scale + ref_gen_int(g, -1, 1));
}

/* Whole numbers of up to so many bits, some of them equal. The radius is next to the distance, or 0. */
static void next_to(ref_gen *g, pair *out, int bits)
{
    const int held = bits < 24 ? bits : 24, most = 1 << held;
    ref_closest_answer closest;
    for (int k = 0; k < 3; k++) {
        out->center[k] = ldexpf((float)ref_gen_int(g, -most, most), bits - held);
        for (int corner = 0; corner < 3; corner++)
            out->p[corner][k] = ref_gen_chance(g, 3) ? out->center[k] : (float)ref_gen_int(g, -most, most);
    }
    const ref_sweep_case c = case_of(out);
    ref_closest(&c, &closest);
    const int side = ref_gen_int(g, -1, 1);
    out->radius = side == 0 ? closest.distance : nextafterf(closest.distance, side < 0 ? 0 : HUGE_VALF);
}

/* Moves the pair by whole numbers, and scales it by a power of two. Where that rounds it is another pair. */
static void place(ref_gen *g, pair *out)
{
    const int exponent = ref_gen_int(g, -100, 60);
    out->radius = ldexpf(out->radius, exponent);
    for (int k = 0; k < 3; k++) {
        const float by = (float)ref_gen_int(g, -1000, 1000);
        out->center[k] = ldexpf(out->center[k] + by, exponent);
        for (int corner = 0; corner < 3; corner++)
            out->p[corner][k] = ldexpf(out->p[corner][k] + by, exponent);
    }
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Asks for all pairs in exact mode, and holds each against the reference; returns how many integers decided. */
static uint64_t check(const pair *pairs, size_t count)
{
    carom_context *context = test_context();
    uint8_t *overlaps = test_alloc(count, 1), *axes = test_alloc(count, 1);
    const carom_overlap_pairs_desc desc = {
        .batch = {.size = sizeof desc, .count = count, .accuracy = CAROM_ACCURACY_EXACT},
        .center = {&pairs->center[0], &pairs->center[1], &pairs->center[2], sizeof *pairs},
        .radius = {&pairs->radius, sizeof *pairs},
        .p0 = {&pairs->p[0][0], &pairs->p[0][1], &pairs->p[0][2], sizeof *pairs},
        .p1 = {&pairs->p[1][0], &pairs->p[1][1], &pairs->p[1][2], sizeof *pairs},
        .p2 = {&pairs->p[2][0], &pairs->p[2][1], &pairs->p[2][2], sizeof *pairs}};
    const carom_overlap_result out = {.size = sizeof out, .overlap = overlaps, .axes = axes};
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    test_ok("carom_overlap_pairs", carom_overlap_pairs(context, &desc, &out, &stats, &err), &err);
    for (size_t i = 0; i < count; i++) {
        const ref_sweep_case c = case_of(&pairs[i]);
        ref_overlap_answer truth;
        ref_overlap(&c, &truth);
        const char *wrong = ref_judge_overlap(&truth, overlaps[i], axes[i]);
        if (wrong != NULL)
            fail_msg("pair %zu: %s: axes %x, true %x", i, wrong, axes[i], (unsigned)truth.axes);
    }
    free(overlaps);
    free(axes);
    carom_context_destroy(context);
    return stats.by_integers;
}

static void test_ties(void **state)
{
    (void)state;
    const size_t count = test_effort(PAIRS);
    pair *pairs = test_alloc(count, sizeof *pairs);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        ref_gen_seed(&g, 171, SEED, i);
        if (ref_gen_chance(&g, 2))
            touching(&g, &pairs[i]);
        else
            next_to(&g, &pairs[i], ref_gen_int(&g, 1, 34));
        place(&g, &pairs[i]);
    }
    const uint64_t by_integers = check(pairs, count);
    print_message("%zu pairs, of which integers decide %llu\n", count, (unsigned long long)by_integers);
    assert_true(by_integers > count / 3);
    free(pairs);
}

/* The centre is at a corner of a cube of 2^29 to 2^31, whose other corners are the triangle's: the plane, the lines
 * through edges and the corners are all at or next to the radius. */
static void test_limit(void **state)
{
    enum { SIGNS = 8, CUBES = 9 };
    pair pairs[SIGNS * CUBES * 3] = {{{0}, 0, {{0}}}}, *next = pairs;
    (void)state;
    for (int sign = 0; sign < SIGNS; sign++)
        for (int cube = 0; cube < CUBES; cube++)
            for (int what = 0; what < 3; what++, next++) {
                const float beyond = (float)(cube % 3 - 1), size = ldexpf(1, 29 + cube / 3) + beyond * 256;
                for (int k = 0; k < 3; k++) {
                    const float along = sign >> k & 1 ? -size : size;
                    next->p[k][k] = along;
                    if (what > 0) /* a wall across axis 0, and one that the ball touches with its edge */
                        next->p[k][0] = sign & 1 ? -size : size;
                    if (what > 1 && k < 2)
                        next->p[k][1] = 0;
                }
                next->radius = size;
                next->center[2] = cube % 2 ? 1 : 0; /* the unit is 1, or much more */
            }
    assert_true(check(pairs, COUNT_OF(pairs)) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ties), cmocka_unit_test(test_limit)};
    return cmocka_run_group_tests_name("overlap_ties", tests, NULL, NULL);
}
