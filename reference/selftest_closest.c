/* SPDX-License-Identifier: MIT */
/* Closest points: cases by hand, exact relations between answers, and every triangle of a mesh instead of those that
 * the filter leaves. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "mesh.h"
#include "selftest.h"

static ref_sweep_case case_of(const float center[3], const float corners[9])
{
    ref_sweep_case c;
    memset(&c, 0, sizeof c);
    memcpy(c.center, center, sizeof c.center);
    memcpy(c.p, corners, sizeof c.p);
    return c;
}

/* The right triangle (0 0 0), (4 0 0), (0 4 0): features and distances that a child can see. */
static void test_by_hand(ref_test *test)
{
    static const float corners[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    static const float point[9] = {1, 2, 3, 1, 2, 3, 1, 2, 3}, segment[9] = {0, 0, 0, 4, 0, 0, 2, 0, 0};
    static const struct {
        const float *corners;
        float center[3], distance;
        int feature;
        double point[3];
    } cases[] = {{corners, {1, 1, 2}, 2, REF_FACE, {1, 1, 0}}, {corners, {1, 1, 0}, 0, REF_FACE, {1, 1, 0}},
                 {corners, {-3, -4, 0}, 5, REF_V0, {0, 0, 0}}, {corners, {0, 0, -7}, 7, REF_V0, {0, 0, 0}},
                 {corners, {7, -4, 0}, 5, REF_V1, {4, 0, 0}},  {corners, {0, 4, 1}, 1, REF_V2, {0, 4, 0}},
                 {corners, {2, -3, 4}, 5, REF_E01, {2, 0, 0}}, {corners, {2, 0, 4}, 4, REF_E01, {2, 0, 0}},
                 {corners, {2, 2, -1}, 1, REF_E12, {2, 2, 0}}, {corners, {-1, 1, 0}, 1, REF_E20, {0, 1, 0}},
                 {point, {1, 2, 4}, 1, REF_V0, {1, 2, 3}},     {segment, {1, 0, 2}, 2, REF_E01, {1, 0, 0}},
                 {segment, {2, 0, 2}, 2, REF_V2, {2, 0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ref_sweep_case c = case_of(cases[i].center, cases[i].corners);
        ref_closest_answer a;
        ref_closest(&c, &a);
        int ok = a.distance == cases[i].distance && a.feature == cases[i].feature;
        for (int k = 0; k < 3; k++)
            ok &= a.point[k] == cases[i].point[k];
        ref_check(test, ok, "the closest point by hand");
    }
    ref_sweep_case c = case_of(cases[0].center, corners);
    ref_closest_answer a;
    c.radius = -1.0;
    ref_closest(&c, &a);
    ref_check(test, a.feature == REF_NONE && isinf(a.distance), "an invalid radius");
}

/* The sign of distance - radius, for the nearest binary64 below and above the distance, is that of an overlap. */
static int distance_holds(const ref_sweep_case *c, double distance)
{
    ref_sweep_case at = *c;
    ref_overlap_answer o;
    at.radius = nextafter(distance, 0.0);
    ref_overlap(&at, &o);
    int ok = o.overlap == 0 || distance <= 0.0;
    at.radius = nextafter(distance, HUGE_VAL);
    ref_overlap(&at, &o);
    return ok && (o.overlap == 1 || isinf(at.radius));
}

static void test_relations(ref_test *test, const ref_sweep_case *c)
{
    static const int orders[2][3] = {{1, 2, 0}, {0, 2, 1}};
    ref_sweep_case turned = *c;
    ref_closest_answer a, b;
    double gap = 0.0, scale = 0.0;
    ref_closest(c, &a);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++)
            memcpy(turned.p[k], c->p[orders[i][k]], sizeof turned.p[k]);
        ref_closest(&turned, &b);
        int ok =
            ref_same_bits(a.distance_near, b.distance_near) && ref_same_bits((double)a.distance, (double)b.distance);
        ref_check(test, ok, "the same distance, whatever the order of corners");
    }
    if (a.feature == REF_NONE)
        return;
    ref_check(test, distance_holds(c, a.distance_near), "the distance against overlaps");
    for (int k = 0; k < 3; k++) {
        gap = fma(a.point[k] - (double)c->center[k], a.point[k] - (double)c->center[k], gap);
        scale = fmax(scale, fmax(fabs((double)c->center[k]), fabs(a.point[k])));
    }
    ref_check(test, fabs(sqrt(gap) - a.distance_near) <= 1e-14 * scale, "the point is at the distance");
}

/* A limit at the least distance leaves the answer; the number below leaves none. */
static void test_limits(ref_test *test, const ref_mesh *mesh, const ref_sweep_case *c,
                        const ref_mesh_closest_answer *whole)
{
    const float distance = whole->closest.distance;
    ref_mesh_closest_answer a;
    const char *wrong = ref_mesh_closest(mesh, c, UINT32_MAX, distance, &a);
    ref_check(test, wrong == NULL && a.triangle == whole->triangle && a.closest.feature == whole->closest.feature,
              "a limit at the distance");
    if (distance > 0.0f) {
        wrong = ref_mesh_closest(mesh, c, UINT32_MAX, nextafterf(distance, 0.0f), &a);
        ref_check(test, wrong == NULL && a.triangle == -1 && a.closest.feature == REF_NONE && isinf(a.closest.distance),
                  "a limit below the distance");
    }
}

/* The distance of one centre to each triangle of a family. */
static void test_filter(ref_test *test, size_t family, uint64_t seed)
{
    enum { COUNT = 12 };
    float vertices[9 * COUNT];
    uint32_t indices[3 * COUNT];
    const ref_mesh mesh = {vertices, indices, COUNT, NULL};
    ref_sweep_case c, one;
    ref_mesh_closest_answer whole;
    ref_closest_answer a, best;
    int32_t triangle = -1;
    for (uint32_t i = 0; i < COUNT; i++) {
        ref_family_sweep(family, seed, i, &one);
        memcpy(vertices + 9 * i, one.p, sizeof one.p);
        for (uint32_t k = 0; k < 3; k++)
            indices[3 * i + k] = 3 * i + k;
    }
    for (int i = 0; i < 9 * COUNT; i++)
        if (!isfinite(vertices[i]))
            return;
    for (uint32_t q = 0; q < 4; q++, triangle = -1) {
        ref_family_sweep(family, seed, q, &c);
        best.distance = HUGE_VALF;
        for (int32_t i = 0; i < COUNT; i++) {
            memcpy(c.p, vertices + 9 * i, sizeof c.p);
            ref_closest(&c, &a);
            if (a.feature != REF_NONE && (triangle < 0 || a.distance < best.distance)) {
                best = a;
                triangle = i;
            }
        }
        const char *wrong = ref_mesh_closest(&mesh, &c, UINT32_MAX, HUGE_VALF, &whole);
        ref_check(test,
                  wrong == NULL && whole.triangle == triangle &&
                      ref_same_bits((double)whole.closest.distance, (double)best.distance),
                  "the nearest of all triangles");
        if (triangle >= 0)
            test_limits(test, &mesh, &c, &whole);
    }
}

/* Two distances beyond binary32 tie, although one is twice the other. */
static void test_beyond(ref_test *test)
{
    static const float vertices[6] = {3e38f, 0, 0, 1e38f, 0, 0}, center[3] = {-3e38f, 0, 0};
    static const uint32_t indices[6] = {0, 0, 0, 1, 1, 1};
    const ref_mesh mesh = {vertices, indices, 2, NULL};
    const ref_sweep_case c = case_of(center, (const float[9]){0});
    ref_mesh_closest_answer a;
    const char *wrong = ref_mesh_closest(&mesh, &c, UINT32_MAX, HUGE_VALF, &a);
    ref_check(test, wrong == NULL && a.triangle == 0 && isinf(a.closest.distance), "a tie at infinity");
    wrong = ref_mesh_closest(&mesh, &c, UINT32_MAX, FLT_MAX, &a);
    ref_check(test, wrong == NULL && a.triangle == -1 && a.closest.feature == REF_NONE, "nothing in binary32");
}

void ref_test_closest(ref_test *test, uint64_t cases)
{
    test_by_hand(test);
    test_beyond(test);
    for (size_t family = 0; family < ref_family_count(); family++) {
        for (uint64_t i = 0; i < cases; i++) {
            ref_sweep_case c;
            ref_family_sweep(family, 12, i, &c);
            test_relations(test, &c);
        }
        for (uint64_t i = 0; i < cases / 20; i++)
            test_filter(test, family, 13 + i);
    }
}
