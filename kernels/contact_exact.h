/* SPDX-License-Identifier: MIT */
/* What a mesh hit reports beside its time, as contact.h says, proven: open where the proof does not reach. */
#ifndef CAROM_CONTACT_EXACT_H
#define CAROM_CONTACT_EXACT_H
#include "contact.h"
#include "sweep_exact.h"

/* The pairs of a group in memory, whence the wide parts load them: centre, velocity, corners, radius. */
typedef struct contact_rows {
    real center[3][LANES], velocity[3][LANES], p0[3][LANES], p1[3][LANES], p2[3][LANES], radius[LANES];
} contact_rows;

FN void contact_store3(real (*p)[LANES], v3 x)
{
    v_store(p[0], x.x);
    v_store(p[1], x.y);
    v_store(p[2], x.z);
}

FN sweep_proven contact_prove(sweep_in in, const contact_rows *r, sweep_exact *x)
{
    residual_pair q[PARTS];
    sweep_guess(in, SWEEP_FULL, 0, x);
    LANG_UNROLL
    for (int part = 0; part < LANES; part += WIDE) {
        const wf zero = w_f(W(0.0));
        q[part / WIDE] =
            residual_pair_of(load3_lanes(r->center, part), w_load(r->radius + part), load3_lanes(r->velocity, part),
                             w3_of(zero, zero, zero), load3_lanes(r->p0, part), load3_lanes(r->p1, part),
                             load3_lanes(r->p2, part), w_load(x->scale + part));
    }
    sweep_look_closer(q, x, SWEEP_FULL);
    return sweep_prove(x, SWEEP_FULL);
}

/* Open where the point's x is NaN. A sphere that starts in contact touches where one at rest there would. */
FN contact_out contact_exact(sweep_in in)
{
    const vf zero = v_f(R(0.0));
    const v3 none = v3_of(zero, zero, zero);
    contact_rows rows;
    sweep_exact x;
    contact_store3(rows.center, in.center);
    contact_store3(rows.velocity, in.velocity);
    contact_store3(rows.p0, in.p0);
    contact_store3(rows.p1, in.p1);
    contact_store3(rows.p2, in.p2);
    v_store(rows.radius, in.radius);
    sweep_proven a = contact_prove(in, &rows, &x);
    const vm begins = vi_eq(a.answer.state, v_i(STATE_OVERLAPPING));
    const vm hits = v_or(begins, v_and(vi_eq(a.answer.state, v_i(STATE_APPROACHING)), v_finite(a.answer.t_first)));
    vm sure = v_eq(a.answer.t_first, a.answer.t_first);
    if (v_any(begins)) {
        in.velocity = none;
        contact_store3(rows.velocity, none);
        const sweep_proven b = contact_prove(in, &rows, &x);
        sure = v_and(sure, v_or(v_not(begins), v_eq(b.answer.t_first, b.answer.t_first)));
        a.answer.point_first = v3_sel(begins, b.answer.point_first, a.answer.point_first);
        a.gap = v3_sel(begins, b.gap, a.gap);
        a.clear = v_or(v_and(begins, b.clear), v_and(v_not(begins), a.clear));
        a.answer.feature_first = vi_sel(begins, b.answer.feature_first, a.answer.feature_first);
    }
    sure = v_and(sure, v_or(a.clear, v_not(hits)));
    const v3 normal = contact_unit(v3_sel(hits, a.gap, none));
    contact_out out;
    out.point = v3_sel(hits, a.answer.point_first, none);
    out.point.x = v_sel(sure, out.point.x, v_from_bits(v_i(R_NAN_BITS)));
    out.normal = v3_of(v_positive_zero(normal.x), v_positive_zero(normal.y), v_positive_zero(normal.z));
    out.feature = vi_sel(hits, a.answer.feature_first, v_i(FEATURE_NONE));
    return out;
}
#endif
