/* SPDX-License-Identifier: MIT */
/* What exact mode takes binary64 for. First, how far a guessed contact is off: the squared distance between centre and feature at the guessed time,
 * less r^2. The start has moved up to the contact, so what cancels has cancelled already, and 53 bits are plenty. Then,
 * where a proven contact touches the triangle. */
#ifndef CAROM_RESIDUAL_H
#define CAROM_RESIDUAL_H
#include "layout.h"
#include "wide.h"

/* Guessed ends of LANES intervals of contact, in memory, whence the wide halves load them. A feature is a number here:
 * negative if the line of centres is thought to pass by, GUESS_INVALID if an input is not finite or the radius negative.
 * `corner` is where the feature begins, `next` the end of its edge. */
#define GUESS_INVALID 9
typedef struct guess {
    real time[LANES], feature[LANES], reach[LANES];
    real corner[3][LANES], next[3][LANES];
    real step[LANES], off[LANES]; /* from the guess to the contact, and how wrong that may be; set by the proof */
} guess;

/* At the guessed time, in units of the view: from the corner to the centre; the same, or its product with the edge if
 * there is one; and what exceeds r^2. */
typedef struct residual {
    real y[3][LANES], x[3][LANES], c[LANES];
} residual;

/* One half of a group of pairs. Lengths times `scale`, a power of two, are about 1. */
typedef struct residual_pair {
    w3 center, velocity; /* relative velocity; both in the caller's units */
    wf radius, scale;
    w3 n;                /* normal, scaled */
    wf n2, n_radius, n_speed, edges2;
    wm still;
} residual_pair;

FN residual_pair residual_pair_of(w3 center, wf radius, w3 velocity, w3 p0, w3 p1, w3 p2, wf scale)
{
    residual_pair q;
    q.center = center;
    q.velocity = velocity;
    q.radius = radius * scale;
    q.scale = scale;
    const w3 e01 = w3_mul(w3_sub(p1, p0), scale), e02 = w3_mul(w3_sub(p2, p0), scale);
    q.edges2 = w3_dot(e01, e01) + w3_dot(e02, e02);
    q.n = w3_cross(e01, e02);
    q.n2 = w3_dot(q.n, q.n);
    q.n_radius = q.radius * w_sqrt(q.n2);
    q.n_speed = w3_dot(q.n, velocity);
    q.still = w_eq(w3_dot(velocity, velocity), w_f(W(0.0)));
    return q;
}

FN w3 load3_lanes(const real (*p)[LANES], int part)
{
    return w3_of(w_load(p[0] + part), w_load(p[1] + part), w_load(p[2] + part));
}
FN void store3_lanes(real (*p)[LANES], int part, w3 x)
{
    w_store(p[0] + part, x.x);
    w_store(p[1] + part, x.y);
    w_store(p[2] + part, x.z);
}

FN void residual_of(const residual_pair *q, const guess *g, int part, int last, residual *out)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), way = w_f(last ? W(1.0) : W(-1.0));
    const wf feature = w_abs(w_load(g->feature + part));
    const wm vertex = w_lt(feature, w_f(FEATURE_E01)), face = w_eq(feature, w_f(FEATURE_FACE));
    const w3 corner = load3_lanes(g->corner, part);
    const w3 e = w3_mul(w3_sub(load3_lanes(g->next, part), corner), q->scale);
    const w3 way_in = w3_mul(q->velocity, w_load(g->time + part));
    const w3 y = w3_mul(w3_add(w3_sub(q->center, corner), way_in), q->scale);
    const w3 x = w3_sel(vertex, y, w3_cross(e, y));
    const wf k = w_sel(vertex, one, w3_dot(e, e));
    /* Height over the side of the plane where the motion enters (leaves). */
    const wf height = w3_dot(q->n, y);
    const wf above = w_sel(q->still, w_abs(height), way * w_sel(w_lt(q->n_speed, zero), -height, height));
    const wf c = w_sel(face, above - q->n_radius, w3_dot(x, x) - q->radius * q->radius * k);
    store3_lanes(out->y, part, y);
    store3_lanes(out->x, part, x);
    w_store(out->c + part, c);
}

/* Where the triangle is touched: a point, zero if there is no contact, and whether that is known to a quarter of a unit
 * in the last place of the largest coordinate. Off by: the time, the roundings of y, and on the face the lean of the
 * normal. The sizes below count 18 coordinates, so one of them is 2^-5 of their sum or more. */
typedef struct touch {
    w3 point, gap; /* gap: from there to the centre; on the face, any length along the normal, against the motion */
    wf off, reach; /* how wrong they are; what is far above that if the gap has a direction */
    wm sure;
} touch;

FN touch residual_touch(const residual_pair *q, const guess *g, int part, w3 w, int moving)
{
    const wf zero = w_f(W(0.0)), feature = w_abs(w_load(g->feature + part));
    const wm vertex = w_lt(feature, w_f(FEATURE_E01)), face = w_eq(feature, w_f(FEATURE_FACE));
    const wf time = w_load(g->time + part) + w_load(g->step + part), late = w_load(g->off + part);
    const w3 corner = load3_lanes(g->corner, part), e = w3_sub(load3_lanes(g->next, part), corner);
    const w3 d = w3_sub(q->center, corner), y = w3_add(d, w3_mul(q->velocity, time));
    /* The face is met at the foot of the centre: weights would slide along a sliver. */
    const wf per = w_f(W(1.0)) / w_sel(face, q->n2, w3_dot(e, e));
    const w3 on_face = w3_sub(y, w3_mul(q->n, w3_dot(q->n, y) * per));
    const w3 on_edge = w3_mul(e, w_sel(vertex, zero, w3_dot(y, e) * per));
    const wf speed = w3_size(q->velocity), reach = w3_size(d) + w_abs(time) * speed;
    const wf lean = W(0x1p-48) * q->edges2 * (reach + q->radius / q->scale) * w_sqrt(per);
    touch t;
    const w3 foot = w3_sel(face, on_face, on_edge);
    const wf side = w_sel(w_eq(time, zero), w3_dot(q->n, y), -q->n_speed);
    t.point = w3_add(corner, foot);
    t.gap = w3_sel(face, w3_mul(q->n, w_sel(w_lt(side, zero), w_f(W(-1.0)), w_f(W(1.0)))), w3_sub(y, foot));
    t.off = W(2.0) * speed * late + W(0x1p-48) * reach + w_sel(face, lean, zero);
    t.reach = w_sel(face, w_abs(w3_dot(q->n, y)) * w_sqrt(per), w3_size(t.gap));
    wf off = w_sel(vertex, zero, t.off);
    if (moving) {
        t.point = w3_add(t.point, w3_mul(w, time));
        off = off + w3_size(w) * (late + W(0x1p-51) * w_abs(time));
    }
    t.sure = w_le(off, W(0x1p-31) * (w3_size(corner) + w3_size(t.point) + w3_size(d) + w3_size(e)));
    return t;
}
#endif
