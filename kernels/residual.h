/* SPDX-License-Identifier: MIT */
/* What exact mode takes binary64 for: how far a guessed contact is off, as the squared distance between centre and
 * feature at the guessed time, less r^2; and where the triangle is touched then. The start has moved up to the contact,
 * so what cancels has cancelled already, and 53 bits are plenty. */
#ifndef CAROM_RESIDUAL_H
#define CAROM_RESIDUAL_H
#include "layout.h"
#include "wide.h"

/* Guessed ends of LANES intervals of contact, in memory, whence the wide parts load them. A feature is a number here:
 * negative if the line of centres is thought to pass by, GUESS_INVALID if an input is not finite or the radius negative.
 * `corner` is where the feature begins, `next` the end of its edge. */
#define GUESS_INVALID 9
typedef struct guess {
    real time[LANES], feature[LANES], reach[LANES];
    real corner[3][LANES], next[3][LANES];
} guess;

/* At the guessed time. In units of the view: y from the corner to the centre; x the same, or its product with the edge (of
 * a face, x.x only: with the normal); c what |x|^2 exceeds r^2 by, times |edge|^2 (|normal|^2). In the caller's units: the point touched, as the sum of two numbers; its velocity;
 * and the way from there to the centre (from a face: the normal, of any length, turned against the motion). */
typedef struct residual {
    v3 y, x;
    vf c;
    v3 point, rest, drift, gap;
} residual;

/* One part of it. */
typedef struct residual_part {
    w3 y, x;
    wf c;
    w3 point, drift, gap;
} residual_part;

/* One part of a group of pairs. Lengths times `scale`, a power of two, are about 1. */
typedef struct residual_pair {
    w3 center, velocity, w; /* relative velocity, and that of the triangle; in the caller's units */
    wf radius, scale;
    w3 n; /* normal, scaled */
    wf n2, edges2;
    wm still;
} residual_pair;

FN residual_pair residual_pair_of(w3 center, wf radius, w3 velocity, w3 w, w3 p0, w3 p1, w3 p2, wf scale)
{
    const w3 e01 = w3_mul(w3_sub(p1, p0), scale), e02 = w3_mul(w3_sub(p2, p0), scale);
    residual_pair q;
    q.center = center;
    q.velocity = velocity;
    q.w = w;
    q.radius = radius * scale;
    q.scale = scale;
    q.n = w3_cross(e01, e02);
    q.n2 = w3_dot(q.n, q.n);
    q.edges2 = w3_dot(e01, e01) + w3_dot(e02, e02);
    q.still = w_eq(w3_dot(velocity, velocity), w_f(W(0.0)));
    return q;
}

FN w3 load3_lanes(const real (*p)[LANES], int part)
{
    return w3_of(w_load(p[0] + part), w_load(p[1] + part), w_load(p[2] + part));
}

/* Where the feature is touched. The face is met at the foot of the centre (weights would slide along a sliver), if the
 * rounding of its normal leans that by no more than 2^-38. */
FN void residual_touch(const residual_pair *q, const guess *g, int part, w3 corner, w3 e, w3 y, wf time, wf height,
                       residual_part *out)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), feature = w_abs(w_load(g->feature + part));
    const wm vertex = w_lt(feature, w_f(FEATURE_E01)), face = w_eq(feature, w_f(FEATURE_FACE));
    const wm solid = w_lt(W(0x1p-20) * (q->edges2 * q->edges2), q->n2);
    const wf per = one / w_sel(face, q->n2, w_sel(vertex, one, w3_dot(e, e))), rise = w3_dot(q->n, q->velocity);
    const wf along = w_sel(vertex, zero, w3_dot(y, e) * per), drift = w_sel(vertex, zero, w3_dot(q->velocity, e) * per);
    const w3 on_face = w3_sub(y, w3_mul(q->n, w3_dot(q->n, y) * per));
    const w3 off_face = w3_sub(q->velocity, w3_mul(q->n, rise * per));
    const w3 foot = w3_sel(face, on_face, w3_mul(e, along));
    const wf turn = w_sel(w_lt(w_sel(q->still, height, -rise), zero), -one, one);
    const wf doubt = w_sel(w_and(face, w_not(solid)), zero / zero, zero);
    out->point = w3_add(w3_add(corner, w3_of(foot.x + doubt, foot.y, foot.z)), w3_mul(q->w, time));
    out->drift = w3_add(w3_sel(face, off_face, w3_mul(e, drift)), q->w);
    out->gap = w3_sel(face, w3_mul(q->n, turn), w3_sub(y, foot));
}

FN residual_part residual_part_of(const residual_pair *q, const guess *g, int part, int full)
{
    const wf one = w_f(W(1.0)), feature = w_abs(w_load(g->feature + part)), time = w_load(g->time + part);
    const wm vertex = w_lt(feature, w_f(FEATURE_E01)), face = w_eq(feature, w_f(FEATURE_FACE));
    const w3 corner = load3_lanes(g->corner, part), edge = w3_sub(load3_lanes(g->next, part), corner);
    const w3 to_center = w3_add(w3_sub(q->center, corner), w3_mul(q->velocity, time));
    const w3 e = w3_mul(edge, q->scale), y = w3_mul(to_center, q->scale), x = w3_sel(vertex, y, w3_cross(e, y));
    const wf height = w3_dot(q->n, y), x2 = w_sel(face, height * height, w3_dot(x, x));
    const wf k = w_sel(face, q->n2, w_sel(vertex, one, w3_dot(e, e)));
    residual_part r;
    r.y = y;
    r.x = w3_of(w_sel(face, height, x.x), x.y, x.z);
    r.c = x2 - q->radius * q->radius * k;
    if (full)
        residual_touch(q, g, part, corner, edge, to_center, time, height, &r);
    return r;
}

FN v3 w3_join(const w3 *low, const w3 *high)
{
    return v3_of(w_join(low->x, high->x), w_join(low->y, high->y), w_join(low->z, high->z));
}
FN w3 w3_rest(w3 a)
{
    return w3_of(a.x - w_round(a.x), a.y - w_round(a.y), a.z - w_round(a.z));
}

/* All parts; q has one pair of parts each. */
FN void residual_of(const residual_pair *q, const guess *g, int full, residual *out)
{
    const residual_part a = residual_part_of(&q[0], g, 0, full);
    const residual_part b = PARTS == 1 ? a : residual_part_of(&q[PARTS - 1], g, LANES - WIDE, full);
    out->y = w3_join(&a.y, &b.y);
    out->x = w3_join(&a.x, &b.x);
    out->c = w_join(a.c, b.c);
    if (!full)
        return;
    const w3 rest_a = w3_rest(a.point), rest_b = w3_rest(b.point);
    out->point = w3_join(&a.point, &b.point);
    out->rest = w3_join(&rest_a, &rest_b);
    out->drift = w3_join(&a.drift, &b.drift);
    out->gap = w3_join(&a.gap, &b.gap);
}
#endif
