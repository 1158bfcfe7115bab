/* SPDX-License-Identifier: MIT */
/* The sweep against distances in long double, and against exact relations that its own answers must satisfy. */
#include "selftest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef long double real;

static real dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static real distance_to_segment(const real x[3], const real a[3], const real b[3])
{
    real edge[3], gap[3], length2, share;

    for (int i = 0; i < 3; i++) {
        edge[i] = b[i] - a[i];
        gap[i] = x[i] - a[i];
    }
    length2 = dot(edge, edge);
    share = length2 > 0.0L ? dot(gap, edge) / length2 : 0.0L;
    share = share < 0.0L ? 0.0L : share > 1.0L ? 1.0L : share;
    for (int i = 0; i < 3; i++)
        gap[i] -= share * edge[i];
    return sqrtl(dot(gap, gap));
}

/* The least over the edges, and over the face where the barycentric coordinates are not negative. */
static real distance_to_triangle(const real x[3], real p[3][3])
{
    real best = (real)INFINITY, e1[3], e2[3], gap[3], a, b, c, d, e, determinant, u, v;

    for (int i = 0; i < 3; i++)
        best = fminl(best, distance_to_segment(x, p[i], p[(i + 1) % 3]));
    for (int i = 0; i < 3; i++) {
        e1[i] = p[1][i] - p[0][i];
        e2[i] = p[2][i] - p[0][i];
        gap[i] = x[i] - p[0][i];
    }
    a = dot(e1, e1);
    b = dot(e1, e2);
    c = dot(e2, e2);
    d = dot(gap, e1);
    e = dot(gap, e2);
    determinant = a * c - b * b;
    if (determinant <= 1e-17L * a * c) /* within rounding of a segment; its height is below the tolerance */
        return best;
    u = (d * c - e * b) / determinant;
    v = (e * a - d * b) / determinant;
    if (u < 0.0L || v < 0.0L || u + v > 1.0L)
        return best;
    for (int i = 0; i < 3; i++)
        gap[i] -= u * e1[i] + v * e2[i];
    return fminl(best, sqrtl(dot(gap, gap)));
}

static real distance_at(const ref_sweep_case *c, real t, const double *point)
{
    real x[3], p[3][3];

    for (int i = 0; i < 3; i++) {
        x[i] = point ? (real)point[i] - t * (real)c->w[i]
                     : (real)c->center[i] + t * ((real)c->velocity[i] - (real)c->w[i]);
        for (int k = 0; k < 3; k++)
            p[k][i] = (real)c->p[k][i];
    }
    return distance_to_triangle(x, p);
}

/* Distance over time is convex: thirds close in on its least value. */
static real least_distance(const ref_sweep_case *c, real low, real high)
{
    for (int step = 0; step < 200; step++) {
        real a = low + (high - low) / 3.0L, b = high - (high - low) / 3.0L;
        if (distance_at(c, a, NULL) < distance_at(c, b, NULL))
            high = b;
        else
            low = a;
    }
    return distance_at(c, low, NULL);
}

static real largest_coordinate(const ref_sweep_case *c, real t)
{
    real most = 0.0L;

    for (int i = 0; i < 3; i++) {
        most = fmaxl(most, fmaxl(fabsl((real)c->center[i]), fabsl(t * (real)c->w[i])));
        for (int k = 0; k < 3; k++)
            most = fmaxl(most, fabsl((real)c->p[k][i]));
    }
    return fmaxl(most, (real)c->radius);
}

/* At an end of contact: exactly r away, the point on the triangle and r from the centre. */
static int end_holds(const ref_sweep_case *c, double t, const double point[3], int feature, real slack)
{
    real gap[3], tolerance = slack * largest_coordinate(c, (real)t);

    for (int i = 0; i < 3; i++)
        gap[i] = (real)point[i] - (real)c->center[i] - (real)t * (real)c->velocity[i];
    return feature != REF_NONE && fabsl(distance_at(c, (real)t, NULL) - (real)c->radius) <= tolerance &&
           distance_at(c, (real)t, point) <= tolerance && fabsl(sqrtl(dot(gap, gap)) - (real)c->radius) <= tolerance;
}

static void sample(ref_test *test, const ref_sweep_case *c)
{
    const real slack = 1e-9L; /* slivers lose half of the digits in their barycentric coordinates */
    ref_sweep_answer a;
    real speed = 0.0L, span, scale;
    int ok = 1;

    ref_sweep(c, &a);
    for (int i = 0; i < 3; i++)
        speed = fmaxl(speed, fabsl((real)c->velocity[i] - (real)c->w[i]));
    scale = largest_coordinate(c, 0.0L) * 4.0L;
    if (speed == 0.0L || scale / speed > 1e12L)
        return;
    span = scale / speed * 2.0L;
    if (a.state == REF_MISS) {
        ok = least_distance(c, -span, span) > (real)c->radius - slack * scale;
    } else {
        ok = end_holds(c, a.t_first_near, a.point_first, a.feature_first, slack) &&
             end_holds(c, a.t_last_near, a.point_last, a.feature_last, slack);
        for (int i = 1; i < 8; i++) {
            real before = (real)a.t_first_near - span * (real)i / 8.0L;
            real after = (real)a.t_last_near + span * (real)i / 8.0L;
            real within = (real)a.t_first_near + ((real)a.t_last_near - (real)a.t_first_near) * (real)i / 8.0L;
            ok &= distance_at(c, before, NULL) > (real)c->radius - slack * scale;
            ok &= distance_at(c, after, NULL) > (real)c->radius - slack * scale;
            ok &= distance_at(c, within, NULL) <= (real)c->radius + slack * scale;
        }
    }
    if (!ref_check(test, ok, "distances around the times of contact"))
        ref_print_sweep(c, &a);
}

void ref_test_sampling(ref_test *test, uint64_t cases)
{
    static const char *const skipped[] = {"huge",       "tiny",    "mixed",
                                          "non-finite", "slivers", "denormal"}; /* beyond this yardstick */

    for (size_t family = 0; family < ref_family_count(); family++) {
        int skip = 0;
        for (size_t i = 0; i < sizeof skipped / sizeof skipped[0]; i++)
            skip |= strcmp(ref_family_name(family), skipped[i]) == 0;
        for (uint64_t i = 0; i < cases && !skip; i++) {
            ref_sweep_case c;
            ref_family_sweep(family, 11, i, &c);
            sample(test, &c);
        }
    }
}

static float plus_zero(float value)
{
    return value == 0.0f ? 0.0f : value;
}

static void check_reversal(ref_test *test, const ref_sweep_case *c, const ref_sweep_answer *a)
{
    static const int mirror[] = {REF_MISS, REF_PAST, 0, REF_OVERLAPPING, 0, REF_APPROACHING, REF_INVALID};
    ref_sweep_case back = *c;
    ref_sweep_answer b;
    int ok;

    for (int i = 0; i < 3; i++) {
        back.velocity[i] = -c->velocity[i];
        back.w[i] = -c->w[i];
    }
    ref_sweep(&back, &b);
    ok = ref_same_bits((double)plus_zero(-a->t_first), (double)b.t_last) || a->state == REF_MISS ||
         a->state == REF_INVALID;
    ok &= a->feature_first == b.feature_last && a->feature_last == b.feature_first;
    ok &= memcmp(a->point_first, b.point_last, sizeof b.point_last) == 0;
    if (a->state == REF_TOUCHING || a->state == REF_PARTING)
        ok &= b.state == REF_TOUCHING || b.state == REF_PARTING;
    else
        ok &= b.state == mirror[a->state];
    if (!ref_check(test, ok, "time reversal")) {
        ref_print_sweep(c, a);
        ref_print_sweep(&back, &b);
    }
}

static void check_permutation(ref_test *test, const ref_sweep_case *c, const ref_sweep_answer *a)
{
    static const int orders[5][3] = {{1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    const int *order = orders[ref_test_bits(test) % 5];
    ref_sweep_case turned = *c;
    ref_sweep_answer b;
    double tolerance = 0.0;
    int ok;

    for (int k = 0; k < 3; k++)
        memcpy(turned.p[k], c->p[order[k]], sizeof turned.p[k]);
    ref_sweep(&turned, &b);
    ok = a->state == b.state && ref_same_bits(a->t_first_near, b.t_first_near) &&
         ref_same_bits(a->t_last_near, b.t_last_near) && ref_same_bits((double)a->t_first, (double)b.t_first) &&
         ref_same_bits((double)a->t_last, (double)b.t_last);
    for (int i = 0; i < 3; i++)
        tolerance = fmax(tolerance, fmax(fabs(a->point_first[i]), fabs(a->point_last[i])));
    for (int i = 0; i < 3 && isfinite(tolerance); i++) {
        tolerance = fmax(tolerance, fabs((double)c->center[i]));
        for (int k = 0; k < 3; k++)
            tolerance = fmax(tolerance, fabs((double)c->p[k][i]));
    }
    for (int i = 0; i < 3; i++)
        ok &= fabs(a->point_first[i] - b.point_first[i]) <= tolerance * 0x1p-50 &&
              fabs(a->point_last[i] - b.point_last[i]) <= tolerance * 0x1p-50;
    if (!ref_check(test, ok, "order of the corners")) {
        ref_print_sweep(c, a);
        ref_print_sweep(&turned, &b);
    }
}

/* All lengths times 2^10 (kept only if that is exact): the same times, the points times 2^10. */
static void check_scaling(ref_test *test, const ref_sweep_case *c, const ref_sweep_answer *a)
{
    ref_sweep_case large = *c;
    ref_sweep_answer b;
    float *numbers = NULL;
    int ok;

    large.radius *= 0x1p10;
    for (int part = 0; part < 6; part++) {
        numbers = part == 0 ? large.center : part == 1 ? large.velocity : part == 2 ? large.w : large.p[part - 3];
        for (int i = 0; i < 3; i++) {
            numbers[i] *= 0x1p10f;
            if (!isfinite(numbers[i]))
                return;
        }
    }
    ref_sweep(&large, &b);
    ok = a->state == b.state && ref_same_bits(a->t_first_near, b.t_first_near) &&
         ref_same_bits(a->t_last_near, b.t_last_near) && a->feature_first == b.feature_first &&
         a->feature_last == b.feature_last;
    for (int i = 0; i < 3; i++)
        ok &= a->point_first[i] * 0x1p10 == b.point_first[i] || fabs(a->point_first[i]) < 0x1p-1000;
    if (!ref_check(test, ok, "scale")) {
        ref_print_sweep(c, a);
        ref_print_sweep(&large, &b);
    }
}

/* Overlap at time 0, decided without any root, is contact at time 0; and the mask agrees. */
static void check_overlap(ref_test *test, const ref_sweep_case *c, const ref_sweep_answer *a)
{
    ref_overlap_answer b;
    int in_contact = a->state == REF_TOUCHING || a->state == REF_OVERLAPPING || a->state == REF_PARTING;
    int ok;

    ref_overlap(c, &b);
    if (b.overlap < 0)
        ok = a->state == REF_INVALID && b.axes == -1;
    else
        ok = (b.axes == 0) == b.overlap && (a->state == REF_INVALID || b.overlap == in_contact);
    if (!ref_check(test, ok, "overlap, mask and state at time 0")) {
        printf("    overlap %d axes %d\n", b.overlap, b.axes);
        ref_print_sweep(c, a);
    }
}

/* A larger radius meets no later and leaves no earlier. */
static void check_growth(ref_test *test, const ref_sweep_case *c, const ref_sweep_answer *a)
{
    ref_sweep_case grown = *c;
    ref_sweep_answer b;

    grown.radius += grown.radius * 0x1p-40 + 0x1p-200;
    ref_sweep(&grown, &b);
    if (a->state == REF_INVALID)
        return;
    if (!ref_check(test, b.t_first_near <= a->t_first_near && b.t_last_near >= a->t_last_near, "a larger radius")) {
        ref_print_sweep(c, a);
        ref_print_sweep(&grown, &b);
    }
}

/* The radius is the one binary64 input: magnitudes beyond binary32 must fit the numbers as well. */
static void check_any_radius(ref_test *test, const ref_sweep_case *c)
{
    uint64_t bits = ref_test_bits(test) % ((uint64_t)0x7ff << 52);
    ref_sweep_case wide = *c;
    ref_sweep_answer a;

    memcpy(&wide.radius, &bits, sizeof bits);
    ref_sweep(&wide, &a);
    check_permutation(test, &wide, &a);
    check_overlap(test, &wide, &a);
}

/* Lattice spheres are a sweep against a triangle that is a point. */
static void check_spheres(ref_test *test, uint64_t index)
{
    ref_spheres_case s;
    ref_spheres_answer u;
    ref_sweep_answer t;
    ref_sweep_case c;
    size_t family = 0;

    while (strcmp(ref_family_name(family), "lattice") != 0)
        family++;
    ref_family_spheres(family, 5, index, &s);
    for (int i = 0; i < 3; i++) {
        c.center[i] = s.a0[i];
        c.velocity[i] = s.a1[i] - s.a0[i];
        c.w[i] = s.b1[i] - s.b0[i];
        for (int k = 0; k < 3; k++)
            c.p[k][i] = s.b0[i];
    }
    c.radius = (double)s.radius_a + (double)s.radius_b;
    ref_spheres(&s, &u);
    ref_sweep(&c, &t);
    if (!ref_check(test,
                   u.state == t.state && ref_same_bits(u.u_first_near, t.t_first_near) &&
                       ref_same_bits(u.u_last_near, t.t_last_near) && u.u_first == t.t_first && u.u_last == t.t_last,
                   "spheres as a sweep against a point"))
        ref_print_sweep(&c, &t);
}

void ref_test_symmetries(ref_test *test, uint64_t cases)
{
    for (size_t family = 0; family < ref_family_count(); family++) {
        for (uint64_t i = 0; i < cases; i++) {
            ref_sweep_case c;
            ref_sweep_answer a;

            ref_family_sweep(family, 3, i, &c);
            ref_sweep(&c, &a);
            ref_check(test, a.t_first <= a.t_last || a.state == REF_MISS || a.state == REF_INVALID, "first <= last");
            check_reversal(test, &c, &a);
            check_permutation(test, &c, &a);
            check_scaling(test, &c, &a);
            check_overlap(test, &c, &a);
            check_growth(test, &c, &a);
            check_any_radius(test, &c);
        }
    }
    for (uint64_t i = 0; i < cases; i++)
        check_spheres(test, i);
}
