/* SPDX-License-Identifier: MIT */
/* The predicates of mesh_options.h as floating-point filters: yes, no, or undecided. An undecided predicate leaves its
 * triangle undecided. docs/exact.md, section 13, derives the bounds. */
#ifndef CAROM_MESH_OPTIONS_EXACT_H
#define CAROM_MESH_OPTIONS_EXACT_H
#include "mesh_options.h"
#include "sweep_exact.h"

#define MESH_YES R(1.0)
#define MESH_NO R(0.0)
#define MESH_UNDECIDED R(0.5)
#define MESH_WIDE_EPS(n) w_f(W(n) * W(0x1p-53) * (wide_real)PROOF_BOUND) /* n roundings of binary64 */

/* Whether a value that may be off by `limit` is positive. A limit of 0 decides every value. */
FN wf mesh_sign(wf value, wf limit)
{
    const wf zero = w_f(W(0.0));
    const wm no = w_or(w_lt(value, -limit), w_eq(limit, zero));
    return w_sel(w_lt(limit, value), w_f(W(1.0)), w_sel(no, zero, w_f(W(0.5))));
}

/* WIDE of LANES pairs of a sphere and a triangle, in binary64. The differences are rounded once, and so is v if the
 * motion is given by the sphere's end position (MESH_ENDS). */
typedef struct mesh_part {
    w3 d;        /* from P0 to the centre at time 0 */
    w3 e01, e02; /* edges from P0 to P1 and from P0 to P2 */
    w3 v;        /* velocity of the centre */
} mesh_part;

FN mesh_part mesh_part_of(const sweep_rows *rows, int part, int options)
{
    const w3 p0 = load3_lanes(rows->p0, part);
    mesh_part m;
    m.d = w3_sub(load3_lanes(rows->center, part), p0);
    m.e01 = w3_sub(load3_lanes(rows->p1, part), p0);
    m.e02 = w3_sub(load3_lanes(rows->p2, part), p0);
    m.v = sweep_wide_velocity(rows, part, (options & MESH_ENDS) != 0);
    return m;
}

/* Whether the triangle is a back face: its normal n = e01 x e02 points along the velocity, n.v > 0.
 *
 * n.v is a sum of six products of three, each with seven roundings at most; `all` is the sum of their magnitudes. */
FN wf mesh_back_part(const sweep_rows *rows, int part, int options)
{
    const mesh_part m = mesh_part_of(rows, part, options);
    const w3 a = w3_of(m.e01.y * m.e02.z, m.e01.z * m.e02.x, m.e01.x * m.e02.y);
    const w3 b = w3_of(m.e01.z * m.e02.y, m.e01.x * m.e02.z, m.e01.y * m.e02.x);
    const wf all = (w_abs(a.x) + w_abs(b.x)) * w_abs(m.v.x) + (w_abs(a.y) + w_abs(b.y)) * w_abs(m.v.y) +
                   (w_abs(a.z) + w_abs(b.z)) * w_abs(m.v.z);
    return mesh_sign(w3_dot(w3_sub(a, b), m.v), MESH_WIDE_EPS(12.0) * all);
}

FN_RARE vf mesh_back_exact(const mesh_packet *q, int options)
{
    sweep_rows rows;
    sweep_store(&rows, mesh_packet_again(q));
    const wf low = mesh_back_part(&rows, 0, options);
    return w_join(low, PARTS == 1 ? low : mesh_back_part(&rows, LANES - WIDE, options));
}

/* A guessed closest point: weights of P1 and P2, and a flag for each feature, 1 for the one that holds the point. It is
 * in memory, from which the binary64 halves load it. */
typedef struct mesh_guess {
    real w1[LANES], w2[LANES], e01[LANES], e12[LANES], e20[LANES], face[LANES];
} mesh_guess;

FN void mesh_store_feature(real *to, vi feature, int which)
{
    v_store(to, v_sel(vi_eq(feature, v_i(which)), v_f(R(1.0)), v_f(R(0.0))));
}

FN void mesh_guess_nearest(sweep_in in, mesh_guess *g)
{
    const sweep_query q = sweep_prepare(in, 0);
    const barycentric at = mesh_nearest(&q).at;
    v_store(g->w1, at.w1);
    v_store(g->w2, at.w2);
    mesh_store_feature(g->e01, at.feature, FEATURE_E01);
    mesh_store_feature(g->e12, at.feature, FEATURE_E12);
    mesh_store_feature(g->e20, at.feature, FEATURE_E20);
    mesh_store_feature(g->face, at.feature, FEATURE_FACE);
}

/* x where `flag` is 1, else 0. */
FN wf mesh_where(const real *flag, wf x)
{
    const wf zero = w_f(W(0.0));
    return w_sel(w_lt(zero, w_load(flag)), x, zero);
}

/* Weights of a point of the triangle, to rounding: never negative, never more than 1 together. */
typedef struct mesh_weights {
    wf w1, w2;
} mesh_weights;

/* Moves the guess to the closest point of its feature's line or plane, then clamps it to the triangle. */
FN mesh_weights mesh_refine(const mesh_part *m, const mesh_guess *g, int part)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), w1 = w_load(g->w1 + part), w2 = w_load(g->w2 + part);
    const w3 y = w3_sub_scaled(w3_sub_scaled(m->d, m->e01, w1), m->e02, w2), e12 = w3_sub(m->e02, m->e01);
    const wf g1 = w3_dot(y, m->e01), g2 = w3_dot(y, m->e02);
    const wf a11 = w3_dot(m->e01, m->e01), a12 = w3_dot(m->e01, m->e02), a22 = w3_dot(m->e02, m->e02);
    const wf per_area = one / (a11 * a22 - a12 * a12), along_e12 = (g2 - g1) / w3_dot(e12, e12);
    mesh_weights to;
    to.w1 = w1 + mesh_where(g->face + part, (g1 * a22 - g2 * a12) * per_area) +
            (mesh_where(g->e01 + part, g1 / a11) - mesh_where(g->e12 + part, along_e12));
    to.w2 = w2 + mesh_where(g->face + part, (g2 * a11 - g1 * a12) * per_area) +
            (mesh_where(g->e20 + part, g2 / a22) + mesh_where(g->e12 + part, along_e12));
    to.w1 = w_sel(w_lt(to.w1, zero), zero, to.w1);
    to.w2 = w_sel(w_lt(to.w2, zero), zero, to.w2);
    const wf sum = to.w1 + to.w2, per = one / sum;
    const wm over = w_lt(one, sum);
    to.w1 = w_sel(over, to.w1 * per, to.w1);
    to.w2 = w_sel(over, to.w2 * per, to.w2);
    return to;
}

/* Whether the sphere moves away from the triangle at the start: (C - q).v > 0 with q the closest point to the centre C.
 *
 * With any point p of the triangle and y = C - p, let s be the largest y.(P - p) over its corners P. The closest point
 * q is no farther from p than sqrt(s), whatever feature holds it: y.(q - p) <= s as q is among the corners, (C - q).(p
 * - q) <= 0 as q is the closest, and the sum of both is |q - p|^2 <= s. So (C - q).V differs from y.V by no more than
 * sqrt(s) |V|. */
FN wf mesh_parting_part(const sweep_rows *rows, const mesh_guess *g, int part, int options)
{
    const mesh_part m = mesh_part_of(rows, part, options);
    const mesh_weights at = mesh_refine(&m, g, part);
    const w3 y = w3_sub_scaled(w3_sub_scaled(m.d, m.e01, at.w1), m.e02, at.w2);
    const wf zero = w_f(W(0.0)), size = w3_size(m.e01) + w3_size(m.e02), gap = w3_size(y), speed = w3_size(m.v);
    const wf off = MESH_WIDE_EPS(16.0) * (w3_size(m.d) + size); /* of y */
    const wf g1 = w3_dot(y, m.e01), g2 = w3_dot(y, m.e02), s0 = -(at.w1 * g1 + at.w2 * g2);
    const wf s1 = w_sel(w_lt(zero, g1), g1, zero), s2 = w_sel(w_lt(s1, g2), g2, s1), s = s0 + s2;
    const wf most = w_sel(w_lt(s, zero), zero, s) + (off * W(2.0) + MESH_WIDE_EPS(24.0) * gap) * size;
    const wf limit = (w_sqrt(most) + off * W(2.0) + MESH_WIDE_EPS(8.0) * gap) * speed;
    return mesh_sign(w3_dot(y, m.v), limit * W(1.0625));
}

FN_RARE vf mesh_parting_exact(const mesh_packet *q, int options)
{
    mesh_guess g;
    sweep_rows rows;
    const sweep_in in = mesh_packet_again(q);
    mesh_guess_nearest(in, &g);
    sweep_store(&rows, in);
    const wf low = mesh_parting_part(&rows, &g, 0, options);
    return w_join(low, PARTS == 1 ? low : mesh_parting_part(&rows, &g, LANES - WIDE, options));
}

/* Removes the hits that the options cull. If a predicate is undecided, its hit becomes undecided. */
FN void mesh_cull_hits(const mesh_packet *q, vm begins, int options, mesh_packet_result *a)
{
    const vm starts = v_and(a->hits, begins), none = v_and(starts, v_not(starts));
    vm out = none, undecided = none;
    if ((options & MESH_CULL_BACK) != 0 && v_any(v_or(a->hits, a->undecided))) {
        const vf back = mesh_back_exact(q, options);
        out = v_eq(back, v_f(MESH_YES));
        undecided = v_and(a->hits, v_eq(back, v_f(MESH_UNDECIDED)));
    }
    if ((options & MESH_SKIP) != 0) {
        out = v_or(out, starts);
    } else if ((options & MESH_SKIP_PARTING) != 0 && v_any(starts)) {
        const vf parting = mesh_parting_exact(q, options);
        out = v_or(out, v_and(starts, v_eq(parting, v_f(MESH_YES))));
        undecided = v_or(undecided, v_and(starts, v_eq(parting, v_f(MESH_UNDECIDED))));
    }
    a->undecided = v_and(v_or(a->undecided, undecided), v_not(out));
    a->hits = v_and(a->hits, v_not(v_or(out, undecided)));
}
#endif
