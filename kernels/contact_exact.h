/* SPDX-License-Identifier: MIT */
/* Contact point, normal and feature of a mesh hit in exact mode (contact.h): undecided where the floating-point filter
 * fails. */
#ifndef CAROM_CONTACT_EXACT_H
#define CAROM_CONTACT_EXACT_H
#include "contact.h"
#include "sweep_exact.h"

/* The triangle is at rest, so the point does not move even if `w` is not zero. */
FN sweep_proven contact_prove(sweep_in in, const sweep_rows *rows, sweep_exact *x, int has_end_positions)
{
    residual_pair q[PARTS];
    const sweep_query query = sweep_prepare(in, has_end_positions);
    sweep_guess_features(in, query, sweep_heading_of(query.x.v), SWEEP_FULL, 0, x);
    sweep_guess_contacts(x, PROOF_FIRST, PROOF_CONTACTS);
    sweep_widen(rows, x->scale, q, has_end_positions);
    sweep_residuals(q, x, SWEEP_FULL);
    return sweep_prove(x, SWEEP_FULL);
}

/* A pair is undecided where the point's x is NaN. A sphere that starts in contact has the contact of a sphere at rest
 * there. has_end_positions: as in contact(). */
FN contact_out contact_exact(sweep_in in, int has_end_positions)
{
    const vf zero = v_f(R(0.0));
    const v3 none = v3_of(zero, zero, zero);
    sweep_rows rows;
    sweep_exact x;
    sweep_store(&rows, in);
    sweep_proven a = contact_prove(in, &rows, &x, has_end_positions);
    const vm begins = vi_eq(a.answer.state, v_i(STATE_OVERLAPPING));
    const vm hits = v_or(begins, v_and(vi_eq(a.answer.state, v_i(STATE_APPROACHING)), v_finite(a.answer.t_first)));
    vm certain = v_eq(a.answer.t_first, a.answer.t_first);
    if (v_any(begins)) {
        in.velocity = none;
        store3_lanes(rows.velocity, none);
        const sweep_proven b = contact_prove(in, &rows, &x, 0);
        certain = v_and(certain, v_or(v_not(begins), v_eq(b.answer.t_first, b.answer.t_first)));
        a.answer.point_first = v3_sel(begins, b.answer.point_first, a.answer.point_first);
        a.gap = v3_sel(begins, b.gap, a.gap);
        a.clear = v_or(v_and(begins, b.clear), v_and(v_not(begins), a.clear));
        a.answer.feature_first = vi_sel(begins, b.answer.feature_first, a.answer.feature_first);
    }
    certain = v_and(certain, v_or(a.clear, v_not(hits)));
    const v3 normal = contact_unit(v3_sel(hits, a.gap, none));
    contact_out out;
    out.point = v3_sel(hits, a.answer.point_first, none);
    out.point.x = v_sel(certain, out.point.x, v_from_bits(v_i(R_NAN_BITS)));
    out.normal = v3_of(v_positive_zero(normal.x), v_positive_zero(normal.y), v_positive_zero(normal.z));
    out.feature = vi_sel(hits, a.answer.feature_first, v_i(FEATURE_NONE));
    return out;
}
#endif
