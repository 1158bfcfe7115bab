/* SPDX-License-Identifier: MIT */
/* The exact sweep, first rung: the fast solver's answer is taken as a guess and proven. What is not proven is left open
 * (t_first is NaN) for integers to decide. */
#ifndef CAROM_SWEEP_EXACT_H
#define CAROM_SWEEP_EXACT_H
#include "proof.h"

/* The feature that the line of centres passes nearest to, seen along the motion, and the height at which it does. */
typedef struct sweep_pass {
    vf distance2, at, feature;
} sweep_pass;

FN void sweep_pass_take(sweep_pass *best, vm better, vf distance2, vf at, int feature)
{
    best->distance2 = v_sel(better, distance2, best->distance2);
    best->at = v_sel(better, at, best->at);
    best->feature = v_sel(better, v_f((real)-feature), best->feature);
}

FN void sweep_pass_vertex(sweep_pass *best, vf qx, vf qy, vf h, int feature)
{
    const vf distance2 = qx * qx + qy * qy;
    sweep_pass_take(best, v_lt(distance2, best->distance2), distance2, h, feature);
}

FN void sweep_pass_edge(sweep_pass *best, vf qx, vf qy, vf h, vf ex, vf ey, vf eh, sweep_lengths l, int feature)
{
    const vf side = qx * ey - qy * ex, along = qx * ex + qy * ey, distance2 = side * side * l.per_seen2;
    const vm beside = v_and(l.seen, v_within(v_f(R(0.0)), along, l.seen2));
    sweep_pass_take(best, v_and(beside, v_lt(distance2, best->distance2)), distance2, h + along * eh * l.per_seen2,
                    feature);
}

FN sweep_pass sweep_passing(sweep_view k, const sweep_span *s)
{
    const vf q1x = k.qx - k.e0x, q1y = k.qy - k.e0y, h1 = k.h + k.e0h;
    const vf e1x = k.e2x - k.e0x, e1y = k.e2y - k.e0y, e1h = k.e2h - k.e0h;
    sweep_pass best;
    best.distance2 = v_infinity();
    best.at = best.feature = v_f(R(0.0));
    sweep_pass_vertex(&best, k.qx, k.qy, k.h, FEATURE_V0);
    sweep_pass_vertex(&best, q1x, q1y, h1, FEATURE_V1);
    sweep_pass_vertex(&best, k.qx - k.e2x, k.qy - k.e2y, k.h + k.e2h, FEATURE_V2);
    sweep_pass_edge(&best, k.qx, k.qy, k.h, k.e0x, k.e0y, k.e0h, s->edge[0], FEATURE_E01);
    sweep_pass_edge(&best, q1x, q1y, h1, e1x, e1y, e1h, s->edge[1], FEATURE_E12);
    sweep_pass_edge(&best, k.qx, k.qy, k.h, k.e2x, k.e2y, k.e2h, s->edge[2], FEATURE_E20);
    return best;
}

/* At rest: the feature nearest at time 0; the proof decides whether that is contact. */
FN vf sweep_guess_still(sweep_query q)
{
    const vf scale = v_scale_down(v_exponent(q.x.length));
    const nearest c = nearest_on_triangle(v3_mul(q.x.d, -scale), v3_mul(q.x.e01, scale), v3_mul(q.x.e02, scale));
    return v_from_int(c.at.feature);
}

FN void sweep_store3(real (*p)[LANES], v3 x)
{
    v_store(p[0], x.x);
    v_store(p[1], x.y);
    v_store(p[2], x.z);
}

FN void sweep_guess_store(guess *g, sweep_in in, vf feature, vf time, vf reach)
{
    const vf number = v_abs(feature);
    const vm at1 = v_or(v_eq(number, v_f(FEATURE_V1)), v_eq(number, v_f(FEATURE_E12)));
    const vm at2 = v_or(v_eq(number, v_f(FEATURE_V2)), v_eq(number, v_f(FEATURE_E20)));
    v_store(g->feature, feature);
    v_store(g->time, time);
    v_store(g->reach, reach);
    sweep_store3(g->corner, v3_sel(at1, in.p1, v3_sel(at2, in.p2, in.p0)));
    sweep_store3(g->next, v3_sel(at1, in.p2, v3_sel(at2, in.p0, in.p1)));
}

/* What the three stages of a proof hand on: binary32 guesses, binary64 looks, binary32 proves. */
typedef struct sweep_exact {
    sweep_query q;
    proof_pair pair;
    v_pow2 unit; /* turns steps in time, in units of the view, into the caller's */
    guess first, last;
    residual at_first, at_last;
    vf w_speed; /* of the triangle, in units of the view: sum of magnitudes */
    real scale[LANES];
} sweep_exact;

FN void sweep_guess(sweep_in in, int want, int moving, sweep_exact *x)
{
    const sweep_query q = sweep_prepare(in, moving);
    const sweep_view k = sweep_look(q.x, q.in.radius);
    const sweep_span s = sweep_solve(k, want);
    const sweep_pass pass = sweep_passing(k, &s);
    x->q = q;
    x->pair = proof_pair_of(&q, &k);
    x->unit = v_pow2_of((k.unit - v_exponent(q.x.speed)) >> R_EXPONENT_SHIFT);
    const v_pow2 unit = sweep_time_unit(&q);
    v_store(x->scale, v_scale_down(k.unit));
    x->w_speed = moving ? v3_size(v3_mul(in.w, v_scale_down(v_exponent(q.x.speed)))) : v_f(R(0.0));
    const vm hit = v_lt(s.first.at, v_infinity()), still = x->pair.still;
    vf first = v_sel(hit, v_from_int(s.first.feature), pass.feature), last = first;
    vf time = k.start + v_sel(hit, s.first.at, pass.at) * k.time_per_height;
    if (want != SWEEP_FIRST)
        last = v_sel(v_and(hit, v_lt(s.first.at, s.last.at)), v_from_int(s.last.feature), first);
    if (v_any(still)) {
        first = v_sel(still, sweep_guess_still(q), first);
        last = v_sel(still, first, last);
        time = v_sel(still, v_f(R(0.0)), time);
    }
    first = v_sel(q.valid, first, v_f(GUESS_INVALID));
    sweep_guess_store(&x->first, in, first, v_ldexp(time, unit), v_abs(time) * x->pair.reach_per_time);
    if (want != SWEEP_FIRST) {
        time = v_sel(still, time, k.start + v_max(s.last.at, s.first.at) * k.time_per_height);
        sweep_guess_store(&x->last, in, last, v_ldexp(time, unit), v_abs(time) * x->pair.reach_per_time);
    }
}

/* q: the same pairs, part by part. */
FN void sweep_look_closer(const residual_pair *q, sweep_exact *x, int want)
{
    residual_of(q, &x->first, want == SWEEP_FULL, &x->at_first);
    if (want != SWEEP_FIRST)
        residual_of(q, &x->last, want == SWEEP_FULL, &x->at_last);
}

/* Answers; open where t_first is NaN. */
typedef struct sweep_proven {
    sweep_out answer;
    v3 gap; /* at first contact, from the point to the centre; has no direction where it is not `clear` */
    vm clear;
} sweep_proven;

FN vi sweep_proven_feature(const guess *g, vm exists)
{
    const vi number = vi_from_real(v_abs(v_load(g->feature)));
    return vi_sel(exists, number, v_i(FEATURE_NONE));
}

/* The point touched: where the guess has it, moved on by the step. Not sure unless it is known to a quarter of a unit in
 * the last place of the largest coordinate, of which the reach from P0 is 18 at most. */
FN v3 sweep_proven_point(const sweep_exact *x, const residual *r, const proof *p, vm exists, vm *sure)
{
    const vf zero = v_f(R(0.0));
    const v3 moved = v3_add(r->rest, v3_mul(r->drift, p->step));
    const v3 point = v3_add(r->point, moved);
    const vf off = (x->pair.speed + x->w_speed) * p->off + (x->pair.reach + x->pair.radius) * R(0x1p-36);
    const vm known = v_and(v_eq(point.x, point.x), v_le(off, x->pair.reach * R(0x1p-31)));
    *sure = v_and(*sure, v_or(known, v_not(exists)));
    const v3 none = v3_of(zero, zero, zero);
    const v3 is = v3_sel(exists, point, none);
    return v3_of(v_positive_zero(is.x), v_positive_zero(is.y), v_positive_zero(is.z));
}

/* From the point to the centre; of a face, and of what arrives at one, the normal. A gap that is nothing but rounding has
 * no direction, and a centre all but in the plane of a face no side. */
FN v3 sweep_proven_gap(const sweep_exact *x, const proof *p, vm still, vm *clear)
{
    const residual *r = &x->at_first;
    const vm face = v_eq(v_abs(v_load(x->first.feature)), v_f((real)FEATURE_FACE));
    const vf off = x->pair.speed * p->off + (x->pair.reach + x->pair.radius) * R(0x1p-20);
    const vf length = v_sel(face, v_abs(r->x.x), v3_size(r->gap) * v_load(x->scale));
    const vf unit = v_sel(face, x->pair.area, v_f(R(1.0)));
    *clear = v_or(v_and(face, v_not(still)), v_lt(off * unit, length * R(0x1p-10)));
    return v3_sel(face, r->gap, v3_add(r->gap, v3_mul(v3_sub(x->q.x.v, r->drift), p->step)));
}

/* States from proven ends; sure if neither may be zero. */
FN vi sweep_proven_state(const proof *first, const proof *last, vm *sure)
{
    const vf zero = v_f(R(0.0));
    const vm ahead = v_lt(zero, first->low), begun = v_lt(first->high, zero);
    const vm over = v_lt(last->high, zero), on = v_lt(zero, last->low);
    *sure = v_and(*sure, v_or(ahead, v_or(over, v_and(begun, on))));
    return vi_sel(ahead, v_i(STATE_APPROACHING), vi_sel(over, v_i(STATE_PAST), v_i(STATE_OVERLAPPING)));
}

FN sweep_proven sweep_prove(const sweep_exact *x, int want)
{
    const vf inf = v_infinity();
    const vm valid = x->q.valid;
    const proof first = prove(&x->pair, &x->first, &x->at_first, x->unit, 0);
    const vm apart = v_or(first.apart, v_not(valid)), still = v_and(x->pair.still, v_not(apart));
    const vm moves = v_not(v_or(apart, still));
    vm sure = v_and(first.sure, v_or(v_not(moves), v_eq(first.low, first.high)));
    sweep_proven a;
    a.answer.t_first = v_sel(apart, inf, v_sel(still, -inf, first.low));
    const vm first_is = v_or(still, v_and(moves, v_finite(a.answer.t_first)));
    if (want != SWEEP_FIRST) {
        const proof last = prove(&x->pair, &x->last, &x->at_last, x->unit, 1);
        vm ends = v_and(last.sure, v_eq(last.low, last.high));
        a.answer.t_last = v_sel(apart, -inf, v_sel(still, inf, last.low));
        a.answer.state = vi_sel(moves, sweep_proven_state(&first, &last, &ends), v_i(STATE_OVERLAPPING));
        a.answer.state = vi_sel(apart, v_i(STATE_MISS), a.answer.state);
        a.answer.state = vi_sel(valid, a.answer.state, v_i(STATE_INVALID));
        sure = v_and(sure, v_or(v_not(moves), ends));
        if (want == SWEEP_FULL) {
            const vm last_is = v_and(moves, v_finite(a.answer.t_last));
            a.answer.point_last = sweep_proven_point(x, &x->at_last, &last, last_is, &sure);
            a.answer.feature_last = sweep_proven_feature(&x->last, last_is);
        }
    }
    if (want == SWEEP_FULL) {
        a.answer.point_first = sweep_proven_point(x, &x->at_first, &first, first_is, &sure);
        a.answer.feature_first = sweep_proven_feature(&x->first, first_is);
        a.answer.point_last = v3_sel(still, a.answer.point_first, a.answer.point_last);
        a.answer.feature_last = vi_sel(still, a.answer.feature_first, a.answer.feature_last);
        a.gap = sweep_proven_gap(x, &first, still, &a.clear);
    }
    a.answer.t_first = v_sel(v_or(sure, v_not(valid)), a.answer.t_first, v_from_bits(v_i(R_NAN_BITS)));
    return a;
}
#endif
