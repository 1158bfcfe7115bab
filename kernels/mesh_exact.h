/* SPDX-License-Identifier: MIT */
/* Hits of a swept sphere on a mesh, exactly: the searches of mesh.h, with proven times for its triangles. The entry into an
 * inflated box is a proven lower bound of the true time (docs/numerics.md, section 11), so what it skips could not have been
 * first. A triangle that the proof leaves open casts doubt on every hit that is not before its box. */
#ifndef CAROM_MESH_EXACT_H
#define CAROM_MESH_EXACT_H
#include "mesh.h"
#include "mesh_options_exact.h"
#include "sweep_exact.h"

/* Part of a group of triangles against one query. */
FN residual_pair mesh_residual_pair(G const mesh_leaf *leaf, int lane, const mesh_query *q, const real *scale)
{
    const w3 center = w3_of(w_real(q->cx), w_real(q->cy), w_real(q->cz));
    const w3 v = w3_of(w_real(q->vx), w_real(q->vy), w_real(q->vz));
    const wf zero = w_f(W(0.0));
    w3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] =
            w3_of(w_load(leaf->p[3 * k] + lane), w_load(leaf->p[3 * k + 1] + lane), w_load(leaf->p[3 * k + 2] + lane));
    return residual_pair_of(center, w_real(q->radius), v, w3_of(zero, zero, zero), p[0], p[1], p[2], w_load(scale));
}

FN mesh_answers mesh_sweep_exact(const mesh_group *g, const mesh_walk *w, G const mesh_leaf *leaf, int lane,
                                 int options)
{
    const vf zero = v_f(R(0.0)), limit = v_f(w->limit);
    sweep_exact x;
    residual_pair pairs[PARTS];
    const sweep_query q = sweep_prepare(g->in, 0);
    sweep_guess_features(g->in, q, sweep_heading_after(&q, mesh_course_at(w->course).heading), SWEEP_TIMES, 0, &x);
    LANG_UNROLL
    for (int part = 0; part < LANES; part += WIDE)
        pairs[part / WIDE] = mesh_residual_pair(leaf, lane + part, &w->query, x.scale + part);
    const sweep_ahead a = sweep_prove_ahead(pairs, &x);
    const vm begins = vi_eq(a.state, v_i(STATE_OVERLAPPING));
    const vf t = v_sel(begins, zero, a.t_first);
    /* Whether a time that rounds to the end of the window is within it is not known here. */
    const vm at_end = v_and(v_eq(t, limit), v_and(v_finite(limit), v_not(begins)));
    const vm sure = v_and(a.sure, v_not(at_end)), some = v_or(begins, vi_eq(a.state, v_i(STATE_APPROACHING)));
    mesh_answers out = mesh_answers_of(v_and(v_and(g->open, v_and(sure, some)), v_le(t, limit)), t, a.state);
    out.open = v_and(g->open, v_not(sure));
    if ((options & (MESH_CULL_BACK | MESH_SKIP_PARTING | MESH_SKIP)) != 0)
        mesh_leave_out(w, leaf, lane, begins, options, &out);
    /* Below infinity, which is no doubt at all: a hit may be beyond binary32 and its box too. */
    out.from = v_min(v_max(g->enter, zero), v_from_bits(v_i(R_INFINITY_BITS - 1)));
    return out;
}

MESH_SEARCH(mesh_visit_first_exact, mesh_admitted_exact, mesh_sweep_exact, first)
MESH_SEARCH(mesh_visit_list_exact, mesh_admitted_exact, mesh_sweep_exact, all)

/* t is NaN if the query is left open. */
FN void mesh_answer_first_exact(const mesh_run *run, const mesh_walk *w)
{
    mesh_hit hit = w->hit;
    if (v_any(v_and(v_lt(w->doubt, v_infinity()), v_le(w->doubt, v_f(hit.t))))) {
        real lanes[LANES];
        v_store(lanes, v_from_bits(v_i(R_NAN_BITS)));
        hit.t = lanes[0];
    }
    mesh_answer_hit(run, w, hit);
}
#endif
