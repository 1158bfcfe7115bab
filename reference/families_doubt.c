/* SPDX-License-Identifier: MIT */
/* Families at the limits of floating-point resolution: slivers, far starts, all but equal velocities, denormals, and
 * pairs about which binary64 is wrong. */
#include "generate.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(double out[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

/* Width 2^-10 to 2^-60 of the length or none at all, exact; or about 1e-3 to 1e-8 in any direction. */
void ref_make_slivers(ref_gen *g, ref_scene *scene)
{
    double axis[3] = {1, 0, 0}, side[3] = {0, 1, 0}, target[3], along = ref_gen_int(g, -2, 6) / 4.0, length, width;
    int exact = ref_gen_chance(g, 2);

    length = exact ? ref_gen_int(g, 1, 16) / 8.0 : ref_gen_range(g, 0.5, 2.0);
    width = ref_power_of_two(-ref_gen_int(g, 10, exact ? 60 : 27));
    if (exact && ref_gen_chance(g, 6))
        width = 0.0;
    if (!exact) {
        ref_gen_direction(g, axis);
        ref_gen_across(g, side, axis);
        ref_gen_box(g, scene->p[0], 1.0);
    }
    ref_move(scene->p[1], scene->p[0], axis, length);
    ref_move(scene->p[2], scene->p[0], axis, length * along);
    ref_move(scene->p[2], scene->p[2], side, length * width);
    scene->radius = ref_gen_chance(g, 3) ? length * width : exact ? ref_gen_int(g, 0, 8) / 8.0 : 0.25;
    ref_point_of_triangle(g, target, scene);
    ref_gen_direction(g, side);
    ref_move(target, target, side, scene->radius * ref_gen_range(g, 0.0, 1.5));
    if (exact && ref_gen_chance(g, 2)) {
        ref_gen_lattice(g, scene->center, 16);
        ref_gen_lattice(g, scene->velocity, 8);
    } else {
        ref_aim(g, scene, target, 1.0, 1.0);
    }
    ref_turn(g, scene);
}

/* From 1e3 to 1e7 away onto a corner or the middle of an edge, or beside it, by velocities of small whole numbers: no
 * digit of the aim is lost. */
void ref_make_far_1e7(ref_gen *g, ref_scene *scene)
{
    double when = ref_gen_int(g, 1, 8) * ref_power_of_two(ref_gen_int(g, 7, 17));
    int a = ref_gen_int(g, 0, 2), b = ref_gen_int(g, 0, 2);

    for (int i = 0; i < 3; i++)
        ref_gen_lattice(g, scene->p[i], 16);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            scene->p[k][i] *= 8.0;
        scene->velocity[i] = ref_gen_int(g, -4, 4);
        scene->center[i] = (scene->p[a][i] + scene->p[b][i]) / 2.0;
    }
    if (ref_gen_chance(g, 2))
        scene->center[ref_gen_int(g, 0, 2)] += ref_gen_int(g, -2, 2);
    scene->radius = ref_gen_chance(g, 2) ? ref_gen_int(g, 0, 4) / 2.0 : ref_power_of_two(-ref_gen_int(g, 3, 20));
    ref_move(scene->center, scene->center, scene->velocity, ref_gen_chance(g, 8) ? when : -when);
    ref_turn(g, scene);
}

/* The triangle moves almost as the sphere does: a few units in the last place of relative velocity. */
void ref_make_drift(ref_gen *g, ref_scene *scene)
{
    double speed = ref_power_of_two(ref_gen_int(g, -2, 6));

    if (ref_gen_chance(g, 2))
        ref_make_near(g, scene);
    else
        ref_make_lattice(g, scene);
    ref_gen_direction(g, scene->w);
    for (int i = 0; i < 3; i++) {
        scene->w[i] = (double)ref_round(scene->w[i] * speed);
        scene->velocity[i] = scene->w[i] * (1.0 + ref_gen_int(g, -3, 3) * 0x1p-23);
    }
}

/* Small whole numbers of the least denormal, next to each other or to ordinary numbers. */
void ref_make_denormal(ref_gen *g, ref_scene *scene)
{
    static const double speeds[4] = {0x1p-146, 0x1p-126, 1.0, 0x1p-60};
    double length = ref_power_of_two(ref_gen_chance(g, 2) ? -146 : -ref_gen_int(g, 120, 149));
    double speed = speeds[ref_gen_int(g, 0, 3)];
    int kind = ref_gen_int(g, 0, 5);

    ref_make_lattice(g, scene);
    for (int i = 0; i < 3; i++) {
        scene->velocity[i] *= speed;
        scene->w[i] *= kind == 0 ? 1.0 : speed;
        scene->center[i] *= kind == 1 || kind == 2 ? 1.0 : length;
        for (int k = 0; k < 3; k++)
            scene->p[k][i] *= kind == 1 || (kind == 3 && k == 0) ? 1.0 : length;
    }
    scene->radius *= kind == 1 && ref_gen_chance(g, 2) ? 1.0 : length;
}

/* ---- what a textbook says ---------------------------------------------------------------------------------------- */

/* Times at which |d + t v| <= r: 1 and their ends, or 0. By the half-angle discriminant, as in any textbook. */
static int ball(const double d[3], const double v[3], double r, double t[2])
{
    double a = dot(v, v), b = dot(d, v), c = dot(d, d) - r * r, left = b * b - a * c;

    if (!(left >= 0.0) || !(a > 0.0))
        return 0;
    t[0] = (-b - sqrt(left)) / a;
    t[1] = (-b + sqrt(left)) / a;
    return 1;
}

static void take(double span[2], double time)
{
    span[0] = time < span[0] ? time : span[0];
    span[1] = time > span[1] ? time : span[1];
}

/* Distance from the axis of the edge, and whether the foot is between its ends. */
static void cylinder(const double d[3], const double v[3], const double e[3], double r, double span[2])
{
    double length2 = dot(e, e), de[3], ve[3], t[2];

    if (!(length2 > 0.0))
        return;
    ref_move(de, d, e, -dot(d, e) / length2);
    ref_move(ve, v, e, -dot(v, e) / length2);
    if (!ball(de, ve, r, t))
        return;
    for (int i = 0; i < 2; i++) {
        double along = (dot(d, e) + t[i] * dot(v, e)) / length2;
        if (along >= 0.0 && along <= 1.0)
            take(span, t[i]);
    }
}

static void slab(const double d[3], const double v[3], const double e1[3], const double e2[3], double r, double span[2])
{
    double n[3], speed, length2;

    cross(n, e1, e2);
    length2 = dot(n, n);
    speed = dot(n, v);
    for (int i = 0; i < 2 && speed != 0.0; i++) {
        double t = ((i ? r : -r) * sqrt(length2) - dot(n, d)) / speed, x[3], m[3], w1, w2;
        ref_move(x, d, v, t);
        cross(m, x, e2);
        w1 = dot(m, n) / length2;
        cross(m, e1, x);
        w2 = dot(m, n) / length2;
        if (w1 >= 0.0 && w2 >= 0.0 && w1 + w2 <= 1.0)
            take(span, t);
    }
}

static int state_of(const double span[2])
{
    if (span[0] > span[1])
        return REF_MISS;
    if (span[0] >= 0.0)
        return span[0] > 0.0 ? REF_APPROACHING : REF_TOUCHING;
    return span[1] < 0.0 ? REF_PAST : span[1] > 0.0 ? REF_OVERLAPPING : REF_PARTING;
}

int ref_textbook_sweep(const ref_sweep_case *c)
{
    double span[2] = {HUGE_VAL, -HUGE_VAL}, d[3][3], e[3][3], v[3], t[2];

    for (int i = 0; i < 3; i++) {
        v[i] = (double)c->velocity[i] - (double)c->w[i];
        for (int k = 0; k < 3; k++) {
            d[k][i] = (double)c->center[i] - (double)c->p[k][i];
            e[k][i] = (double)c->p[(k + 1) % 3][i] - (double)c->p[k][i];
        }
    }
    for (int k = 0; k < 3; k++) {
        if (ball(d[k], v, c->radius, t)) {
            take(span, t[0]);
            take(span, t[1]);
        }
        cylinder(d[k], v, e[k], c->radius, span);
    }
    for (int i = 0; i < 3; i++)
        e[2][i] = -e[2][i];
    slab(d[0], v, e[0], e[2], c->radius, span);
    return state_of(span);
}

int ref_textbook_spheres(const ref_spheres_case *c)
{
    double span[2] = {HUGE_VAL, -HUGE_VAL}, d[3], v[3];

    for (int i = 0; i < 3; i++) {
        d[i] = (double)c->a0[i] - (double)c->b0[i];
        v[i] = ((double)c->a1[i] - (double)c->a0[i]) - ((double)c->b1[i] - (double)c->b0[i]);
    }
    (void)ball(d, v, (double)c->radius_a + (double)c->radius_b, span);
    return state_of(span);
}

/* ---- where it is wrong ------------------------------------------------------------------------------------------- */

/* A triangle whose corner, edge or face has its closest point to the origin along n, at about the radius. */
static void doubtful_triangle(ref_gen *g, ref_scene *scene, double n[3])
{
    int kind = ref_gen_int(g, 0, 2);
    double a[3], b[3], r = ref_gen_range(g, 0.1, 1.0);

    ref_gen_direction(g, n);
    ref_gen_across(g, a, n);
    cross(b, n, a);
    for (int i = 0; i < 3; i++) {
        double x = ref_gen_range(g, 0.2, 1.0), y = ref_gen_range(g, 0.2, 1.0), away = ref_gen_range(g, 0.1, 1.0);
        int nearest = i == 0 || (i == 1 && kind > 0) || kind == 2;
        ref_move(scene->p[i], scene->p[i], n, nearest ? r : r + away);
        if (kind > 0 || i > 0)
            ref_move(scene->p[i], scene->p[i], a, i == 0 ? -x : i == 1 ? x : 0.0);
        if (kind == 2 || i == 2)
            ref_move(scene->p[i], scene->p[i], b, i == 2 ? y : -y);
        for (int k = 0; k < 3; k++)
            scene->p[i][k] = (double)ref_round(scene->p[i][k]);
    }
    /* From the rounded corners: the direction of the true nearest point, and how far that is. */
    for (int k = 0; k < 3; k++) {
        a[k] = scene->p[1][k] - scene->p[0][k];
        b[k] = scene->p[2][k] - scene->p[0][k];
    }
    if (kind == 0)
        memcpy(n, scene->p[0], sizeof a);
    else if (kind == 1)
        ref_move(n, scene->p[0], a, -dot(scene->p[0], a) / dot(a, a));
    else
        cross(n, a, b);
    r = dot(n, scene->p[0]) < 0.0 ? -ref_length(n) : ref_length(n);
    for (int k = 0; k < 3; k++)
        n[k] /= r;
}

/* Move the centre, which is tiny and has all its digits to itself, until the distance is r to 2^-50 or so; then try its
 * neighbours. The answer of binary64 must depend on the order of the axes, or it is not wrong on one of two. */
void ref_make_doubt(ref_gen *g, ref_scene *scene)
{
    double n[3], aside[3], distance;
    int passing = ref_gen_chance(g, 2);

    doubtful_triangle(g, scene, n);
    distance = dot(scene->p[0], n);
    scene->radius = (double)ref_round(distance);
    if (passing)
        ref_gen_across(g, scene->velocity, n);
    else
        ref_gen_direction(g, scene->velocity);
    for (int i = 0; i < 3; i++)
        scene->velocity[i] = (double)ref_round(scene->velocity[i]);
    if (passing) { /* at right angles to the rounded velocity, and to the edge if there is one */
        double turned[3] = {-dot(scene->velocity, n) / dot(scene->velocity, scene->velocity), 0, 0};
        ref_move(aside, n, scene->velocity, turned[0]);
        memcpy(n, aside, sizeof aside);
    }
    for (int tries = 0; tries < 48; tries++) {
        ref_sweep_case c, turned;
        double slip = (distance - scene->radius) * (1.0 + ref_gen_range(g, -0x1p-22, 0x1p-22));
        for (int i = 0; i < 3; i++)
            scene->center[i] = (double)ref_round(n[i] * slip * (1.0 + ref_gen_range(g, -0x1p-21, 0x1p-21)));
        ref_scene_case(scene, &c);
        turned = c;
        for (int i = 0; i < 3; i++) {
            int to = (i + 1) % 3;
            turned.center[to] = c.center[i];
            turned.velocity[to] = c.velocity[i];
            turned.w[to] = c.w[i];
            for (int k = 0; k < 3; k++)
                turned.p[(k + 1) % 3][to] = c.p[k][i];
        }
        if (ref_textbook_sweep(&c) != ref_textbook_sweep(&turned))
            return;
    }
}

/* ---- lines along edges ------------------------------------------------------------------------------------------- */

/* How far the line of motion passes from the line of the first edge, squared, less the radius squared; of the numbers
 * as they are after rounding. */
static double passes_by(const ref_scene *scene)
{
    double e[3], d[3], v[3], n[3];
    const double radius = (double)ref_round(scene->radius);

    for (int i = 0; i < 3; i++) {
        const double p0 = (double)ref_round(scene->p[0][i]);
        e[i] = (double)ref_round(scene->p[1][i]) - p0;
        d[i] = (double)ref_round(scene->center[i]) - p0;
        v[i] = (double)ref_round(scene->velocity[i]);
    }
    cross(n, e, v);
    return dot(n, d) * dot(n, d) / dot(n, n) - radius * radius;
}

/* A line all but along an edge, some 2^-4 to 2^-12 from its direction, that passes it at r^2 (1 +- 2^-k), k = 28 to 38.
 * The distance then changes so slowly along the line that an error of the time counts by its square, and a bound of
 * first order takes a touch for a miss. The first corner lies near the origin, so one of its coordinates can be set
 * finely enough. */
void ref_make_along(ref_gen *g, ref_scene *scene)
{
    double edge[3], side[3], up[3], length = ref_gen_range(g, 0.2, 0.9), when = ref_gen_range(g, 1.0, 3.0);
    const double tilt = ref_power_of_two(-ref_gen_int(g, 4, 12)) * ref_gen_range(g, 0.5, 1.0);
    int axis = 0;

    ref_gen_direction(g, edge);
    ref_gen_across(g, side, edge);
    cross(up, edge, side);
    for (int i = 1; i < 3; i++)
        axis = fabs(up[i]) > fabs(up[axis]) ? i : axis;
    scene->radius = ref_gen_range(g, 1.0, 2.0);
    for (int i = 0; i < 3; i++) {
        scene->velocity[i] = edge[i] + tilt * side[i];
        scene->p[1][i] = edge[i] * length;
        scene->p[2][i] = (edge[i] * 0.5 - up[i] * 1.5) * length;
        scene->center[i] = edge[i] * length * 0.5 + up[i] * scene->radius - scene->velocity[i] * when;
    }
    const double slip = ref_power_of_two(-ref_gen_int(g, 28, 38)) * (ref_gen_chance(g, 3) ? 1.0 : -1.0);
    for (int step = 0; step < 8; step++) /* in the middle of the edge its corner counts by half */
        scene->p[0][axis] += (passes_by(scene) - slip * scene->radius * scene->radius) / (scene->radius * up[axis]);
    ref_turn(g, scene);
}
