/* SPDX-License-Identifier: MIT */
/* What a mesh hit reports beside its time, as contact.h says, proven: open where the proof does not reach. */
#ifndef CAROM_CONTACT_EXACT_H
#define CAROM_CONTACT_EXACT_H
#include "contact.h"
#include "sweep_exact.h"

/* The pairs of a group in memory, whence the wide halves load them: centre, velocity, corners, radius. */
typedef struct contact_rows {
    real center[3][LANES], velocity[3][LANES], p0[3][LANES], p1[3][LANES], p2[3][LANES], radius[LANES];
} contact_rows;

/* Answers on their way from the wide halves. */
typedef struct contact_settled {
    real point[3][LANES], normal[3][LANES], sure[LANES];
} contact_settled;

FN residual_pair contact_residual_pair(const contact_rows *r, int part, const real *scale)
{
    return residual_pair_of(load3_lanes(r->center, part), w_load(r->radius + part), load3_lanes(r->velocity, part),
                            load3_lanes(r->p0, part), load3_lanes(r->p1, part), load3_lanes(r->p2, part),
                            w_load(scale + part));
}

FN sweep_proven contact_prove(sweep_in in, const contact_rows *rows, int want, sweep_exact *x)
{
    sweep_guess(in, want, 0, x);
    LANG_UNROLL
    for (int part = 0; part < LANES; part += WIDE) {
        const residual_pair q = contact_residual_pair(rows, part, x->scale);
        sweep_look_closer(&q, x, part, want);
    }
    return sweep_prove(x, want);
}

/* Where a sphere that starts in contact touches at time 0: the contact of a sphere at rest there. */
FN void contact_begin(sweep_in in, const contact_rows *rows, vm begins, sweep_exact *x, sweep_proven *a)
{
    const vf zero = v_f(R(0.0));
    contact_rows still = *rows;
    sweep_exact rest;
    in.velocity = v3_of(zero, zero, zero);
    sweep_store3(still.velocity, in.velocity);
    const sweep_proven b = contact_prove(in, &still, SWEEP_FIRST, &rest);
    a->t_first = v_sel(begins, b.t_first, a->t_first);
    a->feature_first = vi_sel(begins, b.feature_first, a->feature_first);
    guess_sel(begins, &rest.first, &x->first);
}

FN void contact_touch(const contact_rows *rows, const sweep_exact *x, int part, contact_settled *out)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0));
    const w3 none = w3_of(zero, zero, zero);
    const residual_pair q = contact_residual_pair(rows, part, x->scale);
    const touch t = residual_touch(&q, &x->first, part, none, 0);
    const wm has = w_lt(zero, w_load(x->has_first + part));
    /* A gap that is nothing but rounding has no direction. What arrives at a face needs none, not even a point. */
    const wm face = w_eq(w_abs(w_load(x->first.feature + part)), w_f(FEATURE_FACE));
    const wm arrives = w_and(face, w_lt(zero, w_load(x->first.time + part)));
    const wm clear = w_or(arrives, w_lt(t.off, W(0x1p-22) * t.reach));
    store3_lanes(out->point, part, w3_sel(has, t.point, none));
    store3_lanes(out->normal, part, w3_sel(has, w3_mul(t.gap, one / w_sqrt(w3_dot(t.gap, t.gap))), none));
    w_store(out->sure + part, w_sel(w_or(w_not(has), w_and(t.sure, clear)), one, zero));
}

FN v3 contact_load3(const real (*p)[LANES])
{
    return v3_of(v_positive_zero(v_load(p[0])), v_positive_zero(v_load(p[1])), v_positive_zero(v_load(p[2])));
}

/* Open where the point's x is NaN. */
FN contact_out contact_exact(sweep_in in)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    contact_rows rows;
    contact_settled s;
    sweep_exact x;
    sweep_store3(rows.center, in.center);
    sweep_store3(rows.velocity, in.velocity);
    sweep_store3(rows.p0, in.p0);
    sweep_store3(rows.p1, in.p1);
    sweep_store3(rows.p2, in.p2);
    v_store(rows.radius, in.radius);
    sweep_proven a = contact_prove(in, &rows, SWEEP_TIMES, &x);
    const vm begins = vi_eq(a.state, v_i(STATE_OVERLAPPING));
    if (v_any(begins))
        contact_begin(in, &rows, begins, &x, &a);
    const vm hits = v_or(begins, v_and(vi_eq(a.state, v_i(STATE_APPROACHING)), v_finite(a.t_first)));
    v_store(x.has_first, v_sel(hits, one, zero));
    for (int part = 0; part < LANES; part += WIDE)
        contact_touch(&rows, &x, part, &s);
    const vm sure = v_and(v_eq(a.t_first, a.t_first), v_eq(v_load(s.sure), one));
    contact_out out;
    out.point = contact_load3(s.point);
    out.point.x = v_sel(sure, out.point.x, v_from_bits(v_i(R_NAN_BITS)));
    out.normal = contact_load3(s.normal);
    out.feature = vi_sel(hits, a.feature_first, v_i(FEATURE_NONE));
    return out;
}
#endif
