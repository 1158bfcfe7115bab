/* SPDX-License-Identifier: MIT */
/* Contact point, normal and feature of a mesh hit in exact mode (contact.h): undecided where the floating-point filter
 * fails. */
#ifndef CAROM_CONTACT_EXACT_H
#define CAROM_CONTACT_EXACT_H
#include "contact.h"
#include "sweep_exact.h"

/* Runs the three stages of the filter: guess, residual, proof. The triangle is at rest, so the point does not move even
 * if `w` is not zero; with its instance it does. In lanes that are not `exact` the filter proves nothing. */
FN sweep_proven contact_prove(sweep_in in, const sweep_rows *rows, sweep_exact *filter, int motion, vm *exact)
{
    residual_pair pair[PARTS];
    int guessed = motion;
    *exact = sweep_round_motion(rows, &in, &guessed);
    const sweep_query query = sweep_prepare(in, guessed);
    sweep_guess_features(in, query, sweep_heading_of(query.relative.v), SWEEP_FULL, motion & TRIANGLE_CARRIED, filter);
    const proof_inverses inverses = proof_inverses_of(&filter->pair);
    sweep_guess_contacts(filter, &inverses, PROOF_FIRST, PROOF_CONTACTS, 1);
    sweep_widen(rows, filter->scale, pair, motion);
    sweep_residuals(pair, filter, SWEEP_FULL);
    return sweep_prove(filter, SWEEP_FULL);
}

/* A pair is undecided where the point's x is NaN. A sphere that starts in contact has the contact of a sphere at rest
 * there. motion: as in contact(). */
FN contact_out contact_exact(sweep_in in, int motion)
{
    const vf zero = v_f(R(0.0));
    const v3 none = v3_of(zero, zero, zero);
    sweep_rows rows;
    sweep_exact filter;
    vm exact, exact_at_start;
    sweep_store(&rows, in);
    sweep_proven proven = contact_prove(in, &rows, &filter, motion, &exact);
    const vm begins = vi_eq(proven.answer.state, v_i(STATE_OVERLAPPING));
    const vm hits =
        v_or(begins, v_and(vi_eq(proven.answer.state, v_i(STATE_APPROACHING)), v_finite(proven.answer.t_first)));
    vm certain = v_and(exact, v_eq(proven.answer.t_first, proven.answer.t_first));
    if (v_any(begins)) {
        in.velocity = none;
        store3_lanes(rows.velocity, none);
        const sweep_proven at_start = contact_prove(in, &rows, &filter, MOTION_BY_VELOCITY, &exact_at_start);
        certain = v_and(certain, v_or(v_not(begins), v_eq(at_start.answer.t_first, at_start.answer.t_first)));
        proven.answer.point_first = v3_sel(begins, at_start.answer.point_first, proven.answer.point_first);
        proven.gap = v3_sel(begins, at_start.gap, proven.gap);
        proven.clear = v_or(v_and(begins, at_start.clear), v_and(v_not(begins), proven.clear));
        proven.answer.feature_first = vi_sel(begins, at_start.answer.feature_first, proven.answer.feature_first);
    }
    certain = v_and(certain, v_or(proven.clear, v_not(hits)));
    const v3 normal = contact_unit(v3_sel(hits, proven.gap, none));
    contact_out out;
    out.point = v3_sel(hits, proven.answer.point_first, none);
    out.point.x = v_sel(certain, out.point.x, v_from_bits(v_i(R_NAN_BITS)));
    out.normal = v3_of(v_positive_zero(normal.x), v_positive_zero(normal.y), v_positive_zero(normal.z));
    out.feature = vi_sel(hits, proven.answer.feature_first, v_i(FEATURE_NONE));
    return out;
}
#endif
