/* SPDX-License-Identifier: MIT */
/* The sweep of a sphere against a triangle in exact mode, first rung: the fast solver's answer is a guess for the
 * floating-point filter (proof.h). Pairs that the filter leaves undecided get NaN for t_first; the second rung decides
 * them in integers. */
#ifndef CAROM_SWEEP_EXACT_H
#define CAROM_SWEEP_EXACT_H
#include "proof.h"

/* LANES pairs with triangles at rest, or carried by an instance. They are in memory, from which the binary64 halves
 * load them. */
typedef struct sweep_rows {
    real center[3][LANES], velocity[3][LANES], p0[3][LANES], p1[3][LANES], p2[3][LANES], radius[LANES];
    real u[3][LANES]; /* of the instance; read with TRIANGLE_CARRIED */
} sweep_rows;

/* Stores a vector to three rows. */
FN void store3_lanes(real (*p)[LANES], v3 x)
{
    v_store(p[0], x.x);
    v_store(p[1], x.y);
    v_store(p[2], x.z);
}

/* Stores the pairs in memory. */
FN void sweep_store(sweep_rows *rows, sweep_in in)
{
    store3_lanes(rows->center, in.center);
    store3_lanes(rows->velocity, in.velocity);
    store3_lanes(rows->p0, in.p0);
    store3_lanes(rows->p1, in.p1);
    store3_lanes(rows->p2, in.p2);
    v_store(rows->radius, in.radius);
    store3_lanes(rows->u, in.u);
}

/* Velocities relative to the triangle, in binary64: a difference of two numbers is rounded once, one of three as
 * sweep_round_motion() says. */
FN w3 sweep_wide_velocity(const sweep_rows *rows, int first_lane, int motion)
{
    w3 v = load3_lanes(rows->velocity, first_lane);
    if ((motion & MOTION_BY_END) != 0)
        v = w3_sub(v, load3_lanes(rows->center, first_lane));
    if ((motion & TRIANGLE_CARRIED) != 0)
        v = w3_sub(v, load3_lanes(rows->u, first_lane));
    return v;
}

/* Whether a - b is a binary64 number (the error term of Knuth's sum is 0): 1 or 0. */
FN wf sweep_is_exact_difference(wf a, wf b)
{
    const wf difference = a - b, minus_b = difference - a, error = (a - (difference - minus_b)) - (b + minus_b);
    return w_sel(w_eq(error, w_f(W(0.0))), w_f(W(1.0)), w_f(W(0.0)));
}

/* Whether end position - centre is a binary64 number along each axis: 1 or 0. */
FN wf sweep_is_exact_motion(const sweep_rows *rows, int first_lane)
{
    const w3 end = load3_lanes(rows->velocity, first_lane), center = load3_lanes(rows->center, first_lane);
    return sweep_is_exact_difference(end.x, center.x) * sweep_is_exact_difference(end.y, center.y) *
           sweep_is_exact_difference(end.z, center.z);
}

/* The relative motion to guess from. One that is a difference of three numbers (end position - centre - u) could lose
 * all digits if each difference were rounded to binary32, so it becomes a velocity that is rounded once. Returns the
 * lanes of which that holds: there end position - centre is a binary64 number, and the velocity is far from
 * overflow. */
FN vm sweep_round_motion(const sweep_rows *rows, sweep_in *in, int *motion)
{
    const vf zero = v_f(R(0.0));
    if (*motion != (MOTION_BY_END | TRIANGLE_CARRIED))
        return v_eq(zero, zero);
    const w3 low = sweep_wide_velocity(rows, 0, *motion),
             high = PARTS == 1 ? low : sweep_wide_velocity(rows, LANES - WIDE, *motion);
    const wf low_exact = sweep_is_exact_motion(rows, 0);
    const vf is_exact = w_join(low_exact, PARTS == 1 ? low_exact : sweep_is_exact_motion(rows, LANES - WIDE));
    in->velocity = w3_join(&low, &high);
    *motion = MOTION_BY_VELOCITY;
    return v_and(vi_gt(v_i(R_BIG_BITS), v3_magnitude(in->velocity)), v_lt(zero, is_exact));
}

/* Widens the rows to binary64, in PARTS halves. */
FN void sweep_widen(const sweep_rows *rows, const real *scale, residual_pair *pair, int motion)
{
    const wf zero = w_f(W(0.0));
    LANG_UNROLL
    for (int first_lane = 0; first_lane < LANES; first_lane += WIDE)
        pair[first_lane / WIDE] = residual_pair_of(
            load3_lanes(rows->center, first_lane), w_load(rows->radius + first_lane),
            sweep_wide_velocity(rows, first_lane, motion),
            (motion & TRIANGLE_CARRIED) != 0 ? load3_lanes(rows->u, first_lane) : w3_of(zero, zero, zero),
            load3_lanes(rows->p0, first_lane), load3_lanes(rows->p1, first_lane), load3_lanes(rows->p2, first_lane),
            w_load(scale + first_lane));
}

/* Guess for a miss: the feature that the line of centres passes closest to, seen along the motion, and the height of
 * that approach. */
typedef struct sweep_miss {
    vf distance2, at;
    vi feature;
} sweep_miss;

/* Replaces the best guess in lanes `better`. */
FN void sweep_miss_keep(sweep_miss *best, vm better, vf at, int feature)
{
    best->at = v_sel(better, at, best->at);
    best->feature = vi_max_where(better, v_i(feature), best->feature);
}

/* The distance at which the line of centres passes a vertex. */
FN void sweep_miss_vertex(sweep_miss *best, vf line_x, vf line_y, vf height, int feature)
{
    const vf distance2 = line_x * line_x + line_y * line_y;
    sweep_miss_keep(best, v_lt(distance2, best->distance2), height, feature);
    best->distance2 = v_min(distance2, best->distance2);
}

/* The distance at which the line of centres passes an edge, if it passes between the ends. */
FN void sweep_miss_edge(sweep_miss *best, vf line_x, vf line_y, vf height, vf edge_x, vf edge_y, vf edge_h,
                        sweep_lengths lengths, int feature)
{
    const vf side = line_x * edge_y - line_y * edge_x, along = line_x * edge_x + line_y * edge_y,
             distance2 = side * side * lengths.per_seen2;
    const vm is_beside = v_and(lengths.seen, v_within(v_f(R(0.0)), along, lengths.seen2));
    const vm better = v_and(is_beside, v_lt(distance2, best->distance2));
    sweep_miss_keep(best, better, height + along * edge_h * lengths.per_seen2, feature);
    best->distance2 = v_sel(better, distance2, best->distance2);
}

/* The feature that the line of centres passes closest to. */
FN sweep_miss sweep_miss_of(sweep_view view, const sweep_span *span)
{
    const vf line1_x = view.line_x - view.e01x, line1_y = view.line_y - view.e01y,
             p1_height = view.p0_height + view.e01h;
    const vf e12x = view.e02x - view.e01x, e12y = view.e02y - view.e01y, e12h = view.e02h - view.e01h;
    sweep_miss best;
    best.distance2 = view.line_x * view.line_x + view.line_y * view.line_y;
    best.at = view.p0_height;
    best.feature = v_i(FEATURE_V0);
    sweep_miss_vertex(&best, line1_x, line1_y, p1_height, FEATURE_V1);
    sweep_miss_vertex(&best, view.line_x - view.e02x, view.line_y - view.e02y, view.p0_height + view.e02h, FEATURE_V2);
    sweep_miss_edge(&best, view.line_x, view.line_y, view.p0_height, view.e01x, view.e01y, view.e01h, span->edge[0],
                    FEATURE_E01);
    sweep_miss_edge(&best, line1_x, line1_y, p1_height, e12x, e12y, e12h, span->edge[1], FEATURE_E12);
    sweep_miss_edge(&best, view.line_x, view.line_y, view.p0_height, view.e02x, view.e02y, view.e02h, span->edge[2],
                    FEATURE_E20);
    return best;
}

/* At rest the guess is the closest feature at time 0. The filter decides whether it is in contact. */
FN vi sweep_guess_at_rest(sweep_query query)
{
    const vf scale = v_scale_down(v_exponent(query.relative.length));
    return nearest_on_triangle(v3_mul(query.relative.center, -scale), v3_mul(query.relative.e01, scale),
                               v3_mul(query.relative.e02, scale))
        .at.feature;
}

/* State between the three stages: guess in binary32, residual in binary64, filter in binary32. */
typedef struct sweep_exact {
    sweep_query query;
    proof_pair pair;
    v_pow2 unit;                           /* from time steps of the view to the caller's */
    proof_contact contact[PROOF_CONTACTS]; /* the guesses; indices: PROOF_FIRST, PROOF_LAST */
    residual residuals[PROOF_CONTACTS];    /* at the guesses */
    sweep_sight sight;                     /* of the view */
    v3 center;                             /* of the view: not rotated */
    vf height[PROOF_CONTACTS]; /* of the centre at the guesses: its position along the motion, in the view */
    int moving;
    vf w_speed;   /* speed of the triangle, in units of the view: sum of magnitudes */
    vf to_caller; /* from lengths of the view to the caller's */
    vf largest;   /* largest coordinate of centre and P0, in units of the view */
    real scale[LANES];
} sweep_exact;

/* The guessed time of a contact, and the dot products of centre - P0 with the edges then. */
FN v2 sweep_guess_time(const sweep_exact *filter, vf height, int rare, vf *time)
{
    const sweep_sight *sight = &filter->sight;
    const proof_pair *pair = &filter->pair;
    *time = sight->start + height * sight->time_per_height;
    v2 products = v2_of(v3_dot(filter->center, pair->e01) + height * sight->e01h,
                        v3_dot(filter->center, pair->e02) + height * sight->e02h);
    /* Pairs at rest have the centre at time 0. */
    if (rare && v_any(pair->at_rest)) {
        const v3 center = v3_mul(filter->query.relative.center, v_load(filter->scale));
        *time = v_sel(pair->at_rest, v_f(R(0.0)), *time);
        products = v2_of(v_sel(pair->at_rest, v3_dot(center, pair->e01), products.x1),
                         v_sel(pair->at_rest, v3_dot(center, pair->e02), products.x2));
    }
    return products;
}

/* Completes the guessed contacts [from, to) from their features and heights. Each loop takes one step for both, as in
 * prove(). rare: some lane may be at rest; a constant at every call. */
FN void sweep_guess_contacts(sweep_exact *filter, const proof_inverses *inverses, int from, int to, int rare)
{
    vf time[PROOF_CONTACTS];
    v2 products[PROOF_CONTACTS];
    LANG_UNROLL
    for (int i = from; i < to; i++)
        products[i] = sweep_guess_time(filter, filter->height[i], rare, &time[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        filter->contact[i].hull = proof_hull_of(&filter->pair, inverses, filter->contact[i].feature);
    LANG_UNROLL
    for (int i = from; i < to; i++) {
        proof_contact *contact = &filter->contact[i];
        const v2 foot = proof_foot(&filter->pair, &contact->hull, contact->feature, products[i]);
        contact->reach = v_abs(time[i]) * filter->pair.reach_per_time;
        v_store(contact->at.time, v_ldexp(time[i], filter->sight.unit));
        v_store(contact->at.w1, foot.x1);
        v_store(contact->at.w2, foot.x2);
    }
}

/* Where the contacts end that an answer needs: SWEEP_FIRST needs no last contact. */
FN int sweep_contacts_end(int want)
{
    return want == SWEEP_FIRST ? PROOF_LAST : PROOF_CONTACTS;
}

/* The part of the view that later stages need, and the units. */
FN void sweep_guess_view(const sweep_view *view, const sweep_relative *relative, vi time_exponent, sweep_exact *filter)
{
    filter->sight = sweep_sight_of(view, sweep_time_unit(relative, time_exponent));
    filter->center = view->center;
    filter->unit = v_pow2_of((view->unit - v_exponent(relative->speed)) >> R_EXPONENT_SHIFT);
    v_store(filter->scale, v_scale_down(view->unit));
}

/* Features and heights of the guesses, from what the solver finds. No lane is at rest. */
FN void sweep_guess_span(const sweep_view *view, const sweep_span *span, int want, sweep_exact *filter)
{
    const sweep_miss miss = sweep_miss_of(*view, span);
    const vm hit = v_lt(span->first.at, v_infinity());
    /* The first contact, else the closest approach of a miss. */
    const vi first = vi_sel(hit, span->first.feature, miss.feature);
    filter->contact[PROOF_FIRST].apart = filter->contact[PROOF_LAST].apart = v_not(hit);
    filter->contact[PROOF_FIRST].feature = first;
    filter->height[PROOF_FIRST] = v_sel(hit, span->first.at, miss.at);
    if (want == SWEEP_FIRST)
        return;
    /* The last contact, if it differs from the first. */
    const vm later = v_and(hit, v_lt(span->first.at, span->last.at));
    filter->contact[PROOF_LAST].feature = vi_sel(later, span->last.feature, first);
    filter->height[PROOF_LAST] = v_max(span->last.at, span->first.at);
}

/* Guesses the features and heights of first and last contact; for SWEEP_FIRST of the first alone. */
FN void sweep_guess_features(sweep_in in, sweep_query query, sweep_heading heading, int want, int moving,
                             sweep_exact *filter)
{
    const sweep_view view = sweep_view_of(query.relative, query.in.radius, heading);
    const sweep_span span = sweep_solve(query.in, view, want);
    /* Terms of the pair and its units. */
    sweep_guess_view(&view, &query.relative, query.time_exponent, filter);
    filter->query = query;
    filter->pair = proof_pair_of(&query, &view);
    filter->to_caller = v_from_bits(view.unit);
    filter->largest = v_from_bits(vi_max(v3_magnitude(in.center), v3_magnitude(in.p0))) * v_scale_down(view.unit);
    filter->moving = moving;
    filter->w_speed =
        moving ? v3_size(v3_mul(sweep_point_velocity(&in, moving), v_scale_down(v_exponent(query.relative.speed))))
               : v_f(R(0.0));
    sweep_guess_span(&view, &span, want, filter);
    const vm at_rest = filter->pair.at_rest;
    if (v_any(at_rest)) {
        const vi feature = sweep_guess_at_rest(query);
        for (int i = PROOF_FIRST; i < sweep_contacts_end(want); i++)
            filter->contact[i].feature = vi_sel(at_rest, feature, filter->contact[i].feature);
    }
}

/* The guesses of first and last contact, in binary32. want: SWEEP_FIRST, SWEEP_TIMES or SWEEP_FULL. */
FN void sweep_guess(sweep_in in, int want, int moving, sweep_exact *filter)
{
    const sweep_query query = sweep_prepare(in, moving);
    sweep_guess_features(in, query, sweep_heading_of(query.relative.v), want, moving, filter);
    const proof_inverses inverses = proof_inverses_of(&filter->pair);
    sweep_guess_contacts(filter, &inverses, PROOF_FIRST, sweep_contacts_end(want), 1);
}

/* Residuals at the guesses. wide_pairs: the same pairs in binary64. */
FN void sweep_residuals(const residual_pair *pair, sweep_exact *filter, int want)
{
    LANG_UNROLL
    for (int i = PROOF_FIRST; i < sweep_contacts_end(want); i++)
        residual_of(pair, &filter->contact[i].at, want == SWEEP_FULL, &filter->residuals[i]);
}

/* Answers; undecided where t_first is NaN. */
typedef struct sweep_proven {
    sweep_out answer;
    v3 gap;   /* centre - point at first contact */
    vm clear; /* the direction of `gap` is proven */
} sweep_proven;

/* The contact point: the guessed point, moved by the step. It is undecided unless its error is below half a unit in the
 * last place of the largest coordinate. */
FN v3 sweep_proven_point(const sweep_exact *filter, const residual *res, const proof *proven, vm exists, vm *certain)
{
    const vf zero = v_f(R(0.0));
    const v3 shift = v3_add(v3_mul(filter->pair.e01, proven->shift.x1), v3_mul(filter->pair.e02, proven->shift.x2));
    v3 moved = v3_add(res->rest, v3_mul(shift, filter->to_caller));
    if (filter->moving)
        moved = v3_add(moved, v3_mul(sweep_point_velocity(&filter->query.in, filter->moving), proven->step));
    const v3 point = v3_add(res->point, moved);
    const vf error = (filter->pair.speed + filter->w_speed) * proven->view_error +
                     proven->shift_error * (v3_size(shift) + proven->travel * R(2.0)) +
                     (filter->pair.reach + filter->pair.radius) * R(0x1p-36);
    const vm is_precise = v_and(v_eq(point.x, point.x), v_lt(error, filter->largest * R(0x1p-25)));
    *certain = v_and(*certain, v_or(is_precise, v_not(exists)));
    const v3 origin = v3_of(zero, zero, zero);
    const v3 answer = v3_sel(exists, point, origin);
    return v3_of(v_positive_zero(answer.x), v_positive_zero(answer.y), v_positive_zero(answer.z));
}

/* Direction from the point to the centre; for a moving sphere on a face, the triangle's normal. It is uncertain if the
 * gap is not much longer than its error. */
FN v3 sweep_proven_gap(const sweep_exact *filter, const proof *proven, vm at_rest, vm *is_clear)
{
    const residual *res = &filter->residuals[PROOF_FIRST];
    const vm face = vi_eq(filter->contact[PROOF_FIRST].feature, v_i(FEATURE_FACE));
    const v3 shift = v3_add(v3_mul(filter->pair.e01, proven->shift.x1), v3_mul(filter->pair.e02, proven->shift.x2));
    const v3 gap = v3_sub(v3_add(res->y, v3_mul(filter->pair.v, proven->view_step)), shift);
    const vf length = v3_size(gap);
    const vm is_sharp = v_and(v_lt(proven->gap_error, length * R(0x1p-14)),
                              v_lt(filter->pair.speed * proven->view_error, length * R(0x1p-22)));
    *is_clear = v_or(v_and(face, v_not(at_rest)), is_sharp);
    return v3_sel(face, res->normal, gap);
}

/* The state, from the proven times of first and last contact. It is undecided if one of them may be 0. */
FN vi sweep_proven_state(const proof *first, const proof *last, vm *certain)
{
    const vf zero = v_f(R(0.0));
    const vm is_ahead = v_lt(zero, first->low), has_begun = v_lt(first->high, zero);
    const vm ended = v_lt(last->high, zero), lasting = v_lt(zero, last->low);
    *certain = v_and(*certain, v_or(is_ahead, v_or(ended, v_and(has_begun, lasting))));
    return vi_sel(is_ahead, v_i(STATE_APPROACHING), vi_sel(ended, v_i(STATE_PAST), v_i(STATE_OVERLAPPING)));
}

/* Rare lanes. Spheres at rest are in contact at all times or never, and the first contact alone decides. Invalid pairs
 * have no contact. */
FN void sweep_proven_rare(const sweep_exact *filter, const proof *first, sweep_out *answer, vm *certain, int want)
{
    const vf inf = v_infinity();
    const vm invalid = v_not(filter->query.valid), at_rest = filter->pair.at_rest,
             in_contact = v_and(at_rest, v_not(first->apart));
    *certain = v_or(invalid, v_or(v_and(at_rest, first->certain), v_and(v_not(at_rest), *certain)));
    answer->t_first = v_sel(invalid, inf, v_sel(in_contact, -inf, answer->t_first));
    if (want == SWEEP_FIRST)
        return;
    answer->t_last = v_sel(invalid, -inf, v_sel(in_contact, inf, answer->t_last));
    answer->state = vi_sel(invalid, v_i(STATE_INVALID), vi_sel(in_contact, v_i(STATE_OVERLAPPING), answer->state));
}

/* The points, features and the gap of proven contacts. */
FN void sweep_prove_points(const sweep_exact *filter, const proof *first, const proof *last, sweep_proven *proven,
                           vm *certain)
{
    const vm hit = v_and(filter->query.valid, v_not(first->apart)), at_rest = v_and(filter->pair.at_rest, hit);
    /* Lanes whose first, or last, contact has a point. */
    const vm has_first = v_and(hit, v_or(at_rest, v_finite(proven->answer.t_first)));
    const vm has_last = v_and(v_and(hit, v_not(at_rest)), v_finite(proven->answer.t_last));
    const v3 point = sweep_proven_point(filter, &filter->residuals[PROOF_FIRST], first, has_first, certain);
    const vi feature = vi_sel(has_first, filter->contact[PROOF_FIRST].feature, v_i(FEATURE_NONE));
    proven->answer.point_first = point;
    proven->answer.feature_first = feature;
    proven->answer.point_last =
        v3_sel(at_rest, point, sweep_proven_point(filter, &filter->residuals[PROOF_LAST], last, has_last, certain));
    proven->answer.feature_last =
        vi_sel(at_rest, feature, vi_sel(has_last, filter->contact[PROOF_LAST].feature, v_i(FEATURE_NONE)));
    proven->gap = sweep_proven_gap(filter, first, at_rest, &proven->clear);
}

/* Filters the contacts [from, to). full: as in proof_parabola_foot(). */
FN void sweep_prove_contacts(const sweep_exact *filter, int from, int to, int full, proof *proofs)
{
    proof_parabola parabolas[PROOF_CONTACTS];
    proof_parabolas(&filter->pair, filter->contact, filter->residuals, from, to, full, parabolas);
    prove(&filter->pair, filter->contact, filter->residuals, parabolas, filter->unit, from, to, 1, proofs);
}

/* The first time of a proven contact, and whether the filter proves it or a miss. A time is proven if both ends of its
 * interval round to the same number. */
FN vf sweep_proven_first(const proof *first, vm *certain)
{
    *certain = v_and(first->certain, v_or(first->apart, v_eq(first->low, first->high)));
    return v_sel(first->apart, v_infinity(), first->low);
}

/* Adds the last time and the state to the answer. */
FN void sweep_proven_last(const proof *first, const proof *last, sweep_out *answer, vm *certain)
{
    const vm apart = first->apart;
    vm last_certain = v_and(last->certain, v_eq(last->low, last->high));
    answer->t_last = v_sel(apart, -v_infinity(), last->low);
    answer->state = vi_sel(apart, v_i(STATE_MISS), sweep_proven_state(first, last, &last_certain));
    *certain = v_and(*certain, v_or(apart, last_certain));
}

/* The mark of an undecided pair. */
FN vf sweep_unless_undecided(vm certain, vf t_first)
{
    return v_sel(certain, t_first, v_from_bits(v_i(R_NAN_BITS)));
}

/* The answers that the filter proves; NaN for t_first in all other lanes. `certain`: all parts of the answer that
 * `want` names are proven; `apart`: a miss. */
FN sweep_proven sweep_prove(const sweep_exact *filter, int want)
{
    proof proofs[PROOF_CONTACTS];
    const proof *first = &proofs[PROOF_FIRST], *last = &proofs[PROOF_LAST];
    sweep_prove_contacts(filter, PROOF_FIRST, sweep_contacts_end(want), want == SWEEP_FULL, proofs);
    sweep_proven proven;
    vm certain;
    proven.answer.t_first = sweep_proven_first(first, &certain);
    if (want != SWEEP_FIRST)
        sweep_proven_last(first, last, &proven.answer, &certain);
    if (v_any(v_or(filter->pair.at_rest, v_not(filter->query.valid))))
        sweep_proven_rare(filter, first, &proven.answer, &certain, want);
    if (want == SWEEP_FULL)
        sweep_prove_points(filter, first, last, &proven, &certain);
    proven.answer.t_first = sweep_unless_undecided(certain, proven.answer.t_first);
    return proven;
}

/* For mesh searches: the state, and the first time of a contact ahead. A contact that has begun needs no first time,
 * and of the last time only the sign; the last contact is computed only if some lane has begun. */
typedef struct sweep_ahead {
    vf t_first;
    vi state;
    vm certain; /* the filter has proven state and time */
    vf least;   /* lower bound of the time of an undecided pair; 0 without a bound */
} sweep_ahead;

/* wide_pairs: the pairs in binary64; `active`: lanes whose answers are read. */
FN sweep_ahead sweep_prove_ahead(const residual_pair *wide_pairs, sweep_exact *filter, vm active)
{
    const vf zero = v_f(R(0.0));
    const int full = 0; /* no contact points */
    const proof_inverses inverses = proof_inverses_of(&filter->pair);
    proof proofs[PROOF_CONTACTS];
    const proof *first = &proofs[PROOF_FIRST], *last = &proofs[PROOF_LAST];
    /* The first contact. Where the filter fails, the feature beside the guessed one is tried, too. */
    for (int tries = 2; tries > 0; tries--) {
        sweep_guess_contacts(filter, &inverses, PROOF_FIRST, PROOF_LAST, 1);
        residual_of(wide_pairs, &filter->contact[PROOF_FIRST].at, full, &filter->residuals[PROOF_FIRST]);
        sweep_prove_contacts(filter, PROOF_FIRST, PROOF_LAST, full, proofs);
        const vm lost = v_and(active, v_not(v_or(first->certain, first->apart)));
        if (!v_any(lost))
            break;
        filter->contact[PROOF_FIRST].feature = proof_neighbour_feature(&filter->contact[PROOF_FIRST], first, lost);
    }
    /* A time ahead must round to one number; of a contact that has begun only the sign counts. */
    const vm apart = first->apart, is_ahead = v_lt(zero, first->low),
             begun = v_and(v_lt(first->high, zero), v_not(apart));
    vm certain = v_and(first->certain, v_or(v_or(apart, begun), v_and(is_ahead, v_eq(first->low, first->high))));
    sweep_out answer;
    answer.t_first = v_sel(apart, v_infinity(), first->low);
    answer.t_last = zero;
    answer.state = vi_sel(apart, v_i(STATE_MISS), v_i(STATE_APPROACHING));
    /* The last contact tells whether a contact that has begun is past. */
    if (v_any(v_and(begun, certain))) {
        sweep_guess_contacts(filter, &inverses, PROOF_LAST, PROOF_CONTACTS, 1);
        residual_of(wide_pairs, &filter->contact[PROOF_LAST].at, full, &filter->residuals[PROOF_LAST]);
        sweep_prove_contacts(filter, PROOF_LAST, PROOF_CONTACTS, full, proofs);
        const vm ended = v_lt(last->high, zero), lasting = v_lt(zero, last->low);
        certain = v_and(certain, v_or(v_not(begun), v_and(last->certain, v_or(ended, lasting))));
        answer.state = vi_sel(begun, vi_sel(ended, v_i(STATE_PAST), v_i(STATE_OVERLAPPING)), answer.state);
    }
    if (v_any(v_or(filter->pair.at_rest, v_not(filter->query.valid))))
        sweep_proven_rare(filter, first, &answer, &certain, SWEEP_TIMES);
    sweep_ahead out;
    out.t_first = answer.t_first;
    out.state = answer.state;
    out.certain = certain;
    out.least = v_sel_or_zero(v_and(v_and(first->certain, v_not(apart)), is_ahead), first->low);
    return out;
}
#endif
