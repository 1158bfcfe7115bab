/* SPDX-License-Identifier: MIT */
/* Cases worked out on paper. The triangle is (0,0,0) (4,0,0) (0,4,0) unless a row says otherwise. */
#include "selftest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROOT2 0x1.6a09e667f3bcdp+0
#define INF ((double)INFINITY)
#define FLAT                  \
    {                         \
        {0, 0, 0}, {4, 0, 0}, \
        {                     \
            0, 4, 0           \
        }                     \
    }
#define STILL   \
    {           \
        0, 0, 0 \
    }

struct hand_case {
    const char *name;
    ref_sweep_case query;
    int state;
    double first, last;
    int feature_first, feature_last;
    double point_first[3], point_last[3];
};

/* clang-format off */
static const struct hand_case cases[] = {
    {"face", {{1, 1, 5}, 1, {0, 0, -1}, FLAT, STILL}, REF_APPROACHING, 4, 6, REF_FACE, REF_FACE, {1, 1, 0}, {1, 1, 0}},
    {"corner 0 to 1", {{-3, 0, 0}, 1, {1, 0, 0}, FLAT, STILL}, REF_APPROACHING, 2, 8, REF_V0, REF_V1, {0}, {4, 0, 0}},
    {"corner 1 to 0", {{8, 0, 0}, 1, {-1, 0, 0}, FLAT, STILL}, REF_APPROACHING, 3, 9, REF_V1, REF_V0, {4, 0, 0}, {0}},
    {"corner 2", {{0, 8, 0}, 1, {0, -1, 0}, FLAT, STILL}, REF_APPROACHING, 3, 9, REF_V2, REF_V0, {0, 4, 0}, {0}},
    {"edge 01", {{1, -3, 0}, 1, {0, 1, 0}, FLAT, STILL}, REF_APPROACHING, 2, 6 + ROOT2, REF_E01, REF_E12,
     {1, 0, 0}, {1 - ROOT2 / 2, 3 + ROOT2 / 2, 0}},
    {"edge 20", {{-3, 1, 0}, 1, {1, 0, 0}, FLAT, STILL}, REF_APPROACHING, 2, 6 + ROOT2, REF_E20, REF_E12,
     {0, 1, 0}, {3 + ROOT2 / 2, 1 - ROOT2 / 2, 0}},
    {"edge 12", {{5, 5, 0}, 1, {-1, -1, 0}, FLAT, STILL}, REF_APPROACHING, 3 - ROOT2 / 2, 5 + ROOT2 / 2, REF_E12,
     REF_V0, {2, 2, 0}, {0}},
    {"grazes corner 0", {{-3, -4, 10}, 5, {0, 0, -2}, FLAT, STILL}, REF_APPROACHING, 5, 5, REF_V0, REF_V0, {0}, {0}},
    {"grazes edge 01", {{2, -3, 8}, 3, {0, 0, -1}, FLAT, STILL}, REF_APPROACHING, 8, 8, REF_E01, REF_E01,
     {2, 0, 0}, {2, 0, 0}},
    {"grazes by less", {{-3, -4, 10}, 5 - 0x1p-50, {0, 0, -2}, FLAT, STILL}, REF_MISS, INF, -INF, 0, 0, {0}, {0}},
    {"touching", {{1, 1, 1}, 1, {0, 0, -1}, FLAT, STILL}, REF_TOUCHING, 0, 2, REF_FACE, REF_FACE, {1, 1, 0}, {1, 1, 0}},
    {"grazing now", {{-3, -4, 0}, 5, {0, 0, -2}, FLAT, STILL}, REF_TOUCHING, 0, 0, REF_V0, REF_V0, {0}, {0}},
    {"overlapping", {{1, 1, 0.5f}, 1, {0, 0, -1}, FLAT, STILL}, REF_OVERLAPPING, -0.5, 1.5, REF_FACE, REF_FACE,
     {1, 1, 0}, {1, 1, 0}},
    {"parting", {{1, 1, 1}, 1, {0, 0, 1}, FLAT, STILL}, REF_PARTING, -2, 0, REF_FACE, REF_FACE, {1, 1, 0}, {1, 1, 0}},
    {"past", {{1, 1, 2}, 1, {0, 0, 1}, FLAT, STILL}, REF_PAST, -3, -1, REF_FACE, REF_FACE, {1, 1, 0}, {1, 1, 0}},
    {"miss", {{9, 9, 2}, 1, {0, 0, 1}, FLAT, STILL}, REF_MISS, INF, -INF, 0, 0, {0}, {0}},
    {"slides at r", {{1, 1, 1}, 1, {1, 0, 0}, FLAT, STILL}, REF_OVERLAPPING, -1, 2, REF_E20, REF_E12,
     {0, 1, 0}, {3, 1, 0}},
    {"slides above r", {{1, 1, 1 + 0x1p-20f}, 1, {1, 0, 0}, FLAT, STILL}, REF_MISS, INF, -INF, 0, 0, {0}, {0}},
    {"still, touching", {{1, 1, 1}, 1, STILL, FLAT, STILL}, REF_TOUCHING, -INF, INF, REF_FACE, REF_FACE,
     {1, 1, 0}, {1, 1, 0}},
    {"still, overlapping", {{1, 0, 0}, 1, STILL, FLAT, STILL}, REF_OVERLAPPING, -INF, INF, REF_E01, REF_E01,
     {1, 0, 0}, {1, 0, 0}},
    {"still, apart", {{1, 1, 1}, 1 - 0x1p-53, STILL, FLAT, STILL}, REF_MISS, INF, -INF, 0, 0, {0}, {0}},
    {"carried along", {{-1, 0, 0}, 1, {7, 8, 9}, FLAT, {7, 8, 9}}, REF_TOUCHING, -INF, INF, REF_V0, REF_V0, {0}, {0}},
    {"triangle comes", {{1, 1, 5}, 1, STILL, FLAT, {0, 0, 1}}, REF_APPROACHING, 4, 6, REF_FACE, REF_FACE,
     {1, 1, 4}, {1, 1, 6}},
    {"a point", {{-3, 0, 0}, 1, {1, 0, 0}, {{0}, {0}, {0}}, STILL}, REF_APPROACHING, 2, 4, REF_V0, REF_V0, {0}, {0}},
    {"a segment", {{1, -3, 0}, 1, {0, 1, 0}, {{0}, {4, 0, 0}, {2, 0, 0}}, STILL}, REF_APPROACHING, 2, 4, REF_E01,
     REF_E01, {1, 0, 0}, {1, 0, 0}},
    {"corner inside a segment", {{2, -3, 0}, 1, {0, 1, 0}, {{0}, {4, 0, 0}, {2, 0, 0}}, STILL}, REF_APPROACHING, 2, 4,
     REF_V2, REF_V2, {2, 0, 0}, {2, 0, 0}},
    {"equal corners", {{1, -3, 0}, 1, {0, 1, 0}, {{0}, {0}, {4, 0, 0}}, STILL}, REF_APPROACHING, 2, 4, REF_E12, REF_E12,
     {1, 0, 0}, {1, 0, 0}},
    {"along a segment", {{-3, 0, 1}, 1, {1, 0, 0}, {{0}, {4, 0, 0}, {4, 0, 0}}, STILL}, REF_APPROACHING, 3, 7, REF_V0,
     REF_V1, {0}, {4, 0, 0}},
    {"a moving point", {{1, 1, 5}, 0, {0, 0, -1}, FLAT, STILL}, REF_APPROACHING, 5, 5, REF_FACE, REF_FACE,
     {1, 1, 0}, {1, 1, 0}},
    {"a point in the plane", {{-1, 1, 0}, -0.0, {1, 0, 0}, FLAT, STILL}, REF_APPROACHING, 1, 4, REF_E20, REF_E12,
     {0, 1, 0}, {3, 1, 0}},
    {"a point on the edge's line", {{-1, 0, 0}, 0, {1, 0, 0}, FLAT, STILL}, REF_APPROACHING, 1, 5, REF_V0, REF_V1,
     {0}, {4, 0, 0}},
    {"a point beside", {{-1, 1, 0x1p-149f}, 0, {1, 0, 0}, FLAT, STILL}, REF_MISS, INF, -INF, 0, 0, {0}, {0}},
    {"time beyond binary32", {{1, 1, 0x1p120f}, 1, {0, 0, -0x1p-120f}, FLAT, STILL}, REF_APPROACHING, INF, INF, 0, 0,
     {0}, {0}},
    {"time rounds to zero", {{1, 1, 1 + 0x1p-23f}, 1, {0, 0, -0x1p127f}, FLAT, STILL}, REF_APPROACHING, 0,
     0x1p-126, REF_FACE, REF_FACE, {1, 1, 0}, {1, 1, 0}},
    {"not a number", {{1, 1, NAN}, 1, {0, 0, -1}, FLAT, STILL}, REF_INVALID, INF, -INF, 0, 0, {0}, {0}},
    {"infinite velocity", {{1, 1, 1}, 1, {0, 0, -INFINITY}, FLAT, STILL}, REF_INVALID, INF, -INF, 0, 0, {0}, {0}},
    {"negative radius", {{1, 1, 1}, -0x1p-1074, {0, 0, -1}, FLAT, STILL}, REF_INVALID, INF, -INF, 0, 0, {0}, {0}},
    {"infinite radius", {{1, 1, 1}, (double)INFINITY, {0, 0, -1}, FLAT, STILL}, REF_INVALID, INF, -INF, 0, 0, {0}, {0}},
};
/* clang-format on */

static int close_points(const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) {
        if (fabs(a[i] - b[i]) > 0x1p-48) /* the table's irrational rows are rounded themselves */
            return 0;
    }
    return 1;
}

static void check_spheres(ref_test *test, const ref_spheres_case *c, int state, float first, float last)
{
    ref_spheres_answer a;

    ref_spheres(c, &a);
    if (!ref_check(test, a.state == state && a.u_first == first && a.u_last == last, "spheres by hand"))
        printf("    state %d %a %a, not %d %a %a\n", a.state, (double)a.u_first, (double)a.u_last, state, (double)first,
               (double)last);
}

static void hand_spheres(ref_test *test)
{
    ref_spheres_case c = {{-4, 0, 0}, {4, 0, 0}, 1, {0, 0, 0}, {0, 0, 0}, 1, 0};

    check_spheres(test, &c, REF_APPROACHING, 0.25f, 0.75f);
    c.margin = -2; /* two points that meet */
    check_spheres(test, &c, REF_APPROACHING, 0.5f, 0.5f);
    c.margin = -2 - 0x1p-50;
    check_spheres(test, &c, REF_MISS, INFINITY, -INFINITY);
    c.margin = 2;
    check_spheres(test, &c, REF_TOUCHING, 0.0f, 1.0f);
    c.margin = 4;
    check_spheres(test, &c, REF_OVERLAPPING, -0.25f, 1.25f);
    c.margin = 0;
    c.a1[0] = -8; /* moving away: contact lies before the start */
    check_spheres(test, &c, REF_PAST, -1.5f, -0.5f);
    c.a0[0] = -2;
    c.a1[0] = -4;
    check_spheres(test, &c, REF_PARTING, -2.0f, 0.0f);
    c.b1[0] = -2; /* the same move: no relative motion */
    check_spheres(test, &c, REF_TOUCHING, -INFINITY, INFINITY);
    c.margin = 0x1p-60;
    check_spheres(test, &c, REF_OVERLAPPING, -INFINITY, INFINITY);
    c.margin = -0x1p-60;
    check_spheres(test, &c, REF_MISS, INFINITY, -INFINITY);
    c.radius_b = -0x1p-149f;
    check_spheres(test, &c, REF_INVALID, INFINITY, -INFINITY);
}

static void hand_overlaps(ref_test *test)
{
    ref_sweep_case c = {{1, 1, 1}, 1, STILL, FLAT, STILL};
    ref_overlap_answer a;

    ref_overlap(&c, &a);
    ref_check(test, a.overlap == 1 && a.axes == 0, "overlap: touching is overlapping");
    c.radius = 1 - 0x1p-53;
    ref_overlap(&c, &a);
    ref_check(test, a.overlap == 0 && (a.axes & 1) == 1, "overlap: the plane separates");
    c.center[1] = -3;
    c.center[2] = 0;
    ref_overlap(&c, &a);
    ref_check(test, a.overlap == 0 && a.axes == 2, "overlap: edge AB separates");
    c.center[0] = -3;
    ref_overlap(&c, &a); /* feet on AB and CA point away from C and B as well; no tie, so C + r is outside both */
    ref_check(test, a.overlap == 0 && a.axes == (2 | 8 | 16), "overlap: AB, CA and A separate");
    c.center[0] = NAN;
    ref_overlap(&c, &a);
    ref_check(test, a.overlap == -1 && a.axes == -1, "overlap: invalid");
}

void ref_test_hand_cases(ref_test *test)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct hand_case *hand = &cases[i];
        ref_sweep_answer a;
        int ok;

        ref_sweep(&hand->query, &a);
        ok = a.state == hand->state && a.t_first == (float)hand->first && a.t_last == (float)hand->last &&
             !(a.t_first == 0.0f && signbit(a.t_first)) && !(a.t_last == 0.0f && signbit(a.t_last)) &&
             a.feature_first == hand->feature_first && a.feature_last == hand->feature_last &&
             close_points(a.point_first, hand->point_first) && close_points(a.point_last, hand->point_last);
        if (!ref_check(test, ok, hand->name))
            ref_print_sweep(&hand->query, &a);
    }
    hand_spheres(test);
    hand_overlaps(test);
}
