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

/* WIDE of LANES pairs of a sphere and a triangle, in binary64. The differences are rounded once, and so is v if it is
 * one (mesh_motion_kind). */
typedef struct mesh_part {
    w3 d;        /* from P0 to the centre at time 0 */
    w3 e01, e02; /* edges from P0 to P1 and from P0 to P2 */
    w3 v;        /* velocity of the centre */
} mesh_part;

/* Differences of a pair in binary64, for the half of the lanes that begins at first_lane. */
FN mesh_part mesh_part_of(const sweep_rows *rows, int first_lane, int options)
{
    const w3 p0 = load3_lanes(rows->p0, first_lane);
    mesh_part pair;
    pair.d = w3_sub(load3_lanes(rows->center, first_lane), p0);
    pair.e01 = w3_sub(load3_lanes(rows->p1, first_lane), p0);
    pair.e02 = w3_sub(load3_lanes(rows->p2, first_lane), p0);
    pair.v = sweep_wide_velocity(rows, first_lane, mesh_motion_kind(options));
    return pair;
}

/* Whether the triangle is a back face: its normal n = e01 x e02 points along the velocity, n.v > 0.
 *
 * n.v is a sum of six products of three numbers, each with seven roundings at most. */
FN wf mesh_back_part(const sweep_rows *rows, int first_lane, int options)
{
    const mesh_part pair = mesh_part_of(rows, first_lane, options);
    const w3 plus = w3_of(pair.e01.y * pair.e02.z, pair.e01.z * pair.e02.x, pair.e01.x * pair.e02.y);
    const w3 minus = w3_of(pair.e01.z * pair.e02.y, pair.e01.x * pair.e02.z, pair.e01.y * pair.e02.x);
    const wf magnitudes = (w_abs(plus.x) + w_abs(minus.x)) * w_abs(pair.v.x) +
                          (w_abs(plus.y) + w_abs(minus.y)) * w_abs(pair.v.y) +
                          (w_abs(plus.z) + w_abs(minus.z)) * w_abs(pair.v.z);
    return mesh_sign(w3_dot(w3_sub(plus, minus), pair.v), MESH_WIDE_EPS(12.0) * magnitudes);
}

/* Back faces: MESH_YES, MESH_NO or MESH_UNDECIDED. */
FN_RARE vf mesh_back_exact(const mesh_packet *packet, int options)
{
    sweep_rows rows;
    sweep_store(&rows, mesh_packet_again(packet));
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

/* Guesses the closest point at time 0, in binary32. */
FN void mesh_guess_nearest(sweep_in in, mesh_guess *guessed)
{
    const sweep_query query = sweep_prepare(in, TRIANGLE_AT_REST);
    const barycentric at = mesh_nearest(&query).at;
    v_store(guessed->w1, at.w1);
    v_store(guessed->w2, at.w2);
    mesh_store_feature(guessed->e01, at.feature, FEATURE_E01);
    mesh_store_feature(guessed->e12, at.feature, FEATURE_E12);
    mesh_store_feature(guessed->e20, at.feature, FEATURE_E20);
    mesh_store_feature(guessed->face, at.feature, FEATURE_FACE);
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
FN mesh_weights mesh_refine(const mesh_part *pair, const mesh_guess *guessed, int first_lane)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), w1 = w_load(guessed->w1 + first_lane),
             w2 = w_load(guessed->w2 + first_lane);
    const w3 offset = w3_sub_scaled(w3_sub_scaled(pair->d, pair->e01, w1), pair->e02, w2),
             e12 = w3_sub(pair->e02, pair->e01);
    /* The step along the feature that makes the offset perpendicular to it. */
    const wf product1 = w3_dot(offset, pair->e01), product2 = w3_dot(offset, pair->e02);
    const wf gram11 = w3_dot(pair->e01, pair->e01), gram12 = w3_dot(pair->e01, pair->e02),
             gram22 = w3_dot(pair->e02, pair->e02);
    const wf per_area = one / (gram11 * gram22 - gram12 * gram12), along_e12 = (product2 - product1) / w3_dot(e12, e12);
    mesh_weights weights;
    weights.w1 =
        w1 + mesh_where(guessed->face + first_lane, (product1 * gram22 - product2 * gram12) * per_area) +
        (mesh_where(guessed->e01 + first_lane, product1 / gram11) - mesh_where(guessed->e12 + first_lane, along_e12));
    weights.w2 =
        w2 + mesh_where(guessed->face + first_lane, (product2 * gram11 - product1 * gram12) * per_area) +
        (mesh_where(guessed->e20 + first_lane, product2 / gram22) + mesh_where(guessed->e12 + first_lane, along_e12));
    /* Clamps each weight to 0, and their sum to 1. */
    weights.w1 = w_sel(w_lt(weights.w1, zero), zero, weights.w1);
    weights.w2 = w_sel(w_lt(weights.w2, zero), zero, weights.w2);
    const wf sum = weights.w1 + weights.w2, per_sum = one / sum;
    const wm too_large = w_lt(one, sum);
    weights.w1 = w_sel(too_large, weights.w1 * per_sum, weights.w1);
    weights.w2 = w_sel(too_large, weights.w2 * per_sum, weights.w2);
    return weights;
}

/* Whether the sphere moves away from the triangle at the start: (C - q).v > 0 with q the closest point to the centre C.
 *
 * With any point p of the triangle and the offset y = C - p, let reach2 be the largest y.(P - p) over its corners P.
 * The closest point q is no farther from p than the reach, whatever feature holds it: y.(q - p) <= reach2 as q is among
 * the corners, (C - q).(p - q) <= 0 as q is the closest, and the sum of both is |q - p|^2 <= reach2. So (C - q).V
 * differs from y.V by no more than the reach times |V|. */
FN wf mesh_parting_part(const sweep_rows *rows, const mesh_guess *guessed, int first_lane, int options)
{
    const mesh_part pair = mesh_part_of(rows, first_lane, options);
    const mesh_weights weights = mesh_refine(&pair, guessed, first_lane);
    const w3 offset = w3_sub_scaled(w3_sub_scaled(pair.d, pair.e01, weights.w1), pair.e02, weights.w2);
    const wf zero = w_f(W(0.0)), size = w3_size(pair.e01) + w3_size(pair.e02), gap = w3_size(offset),
             speed = w3_size(pair.v);
    const wf offset_error = MESH_WIDE_EPS(16.0) * (w3_size(pair.d) + size);
    /* The largest product over the corners, and with it the bound of the reach. */
    const wf product1 = w3_dot(offset, pair.e01), product2 = w3_dot(offset, pair.e02),
             from_p0 = -(weights.w1 * product1 + weights.w2 * product2);
    const wf most1 = w_sel(w_lt(zero, product1), product1, zero),
             most12 = w_sel(w_lt(most1, product2), product2, most1), reach2 = from_p0 + most12;
    const wf reach2_bound =
        w_sel(w_lt(reach2, zero), zero, reach2) + (offset_error * W(2.0) + MESH_WIDE_EPS(24.0) * gap) * size;
    const wf limit = (w_sqrt(reach2_bound) + offset_error * W(2.0) + MESH_WIDE_EPS(8.0) * gap) * speed;
    return mesh_sign(w3_dot(offset, pair.v), limit * W(1.0625));
}

/* Whether the sphere moves away at the start: MESH_YES, MESH_NO or MESH_UNDECIDED. */
FN_RARE vf mesh_parting_exact(const mesh_packet *packet, int options)
{
    mesh_guess guessed;
    sweep_rows rows;
    const sweep_in in = mesh_packet_again(packet);
    mesh_guess_nearest(in, &guessed);
    sweep_store(&rows, in);
    const wf low = mesh_parting_part(&rows, &guessed, 0, options);
    return w_join(low, PARTS == 1 ? low : mesh_parting_part(&rows, &guessed, LANES - WIDE, options));
}

/* Removes the hits that the options cull. If a predicate is undecided, its hit becomes undecided. */
FN void mesh_cull_hits(const mesh_packet *packet, vm begins, int options, mesh_packet_result *result)
{
    const vm starts = v_and(result->hits, begins), none = v_and(starts, v_not(starts));
    vm culled = none, undecided = none;
    if ((options & MESH_CULL_BACK) != 0 && v_any(v_or(result->hits, result->undecided))) {
        const vf to_begin = mesh_back_exact(packet, options);
        culled = v_eq(to_begin, v_f(MESH_YES));
        undecided = v_and(result->hits, v_eq(to_begin, v_f(MESH_UNDECIDED)));
    }
    if ((options & MESH_SKIP) != 0) {
        culled = v_or(culled, starts);
    } else if ((options & MESH_SKIP_PARTING) != 0 && v_any(starts)) {
        const vf parting = mesh_parting_exact(packet, options);
        culled = v_or(culled, v_and(starts, v_eq(parting, v_f(MESH_YES))));
        undecided = v_or(undecided, v_and(starts, v_eq(parting, v_f(MESH_UNDECIDED))));
    }
    result->undecided = v_and(v_or(result->undecided, undecided), v_not(culled));
    result->hits = v_and(result->hits, v_not(v_or(culled, undecided)));
}
#endif
