/* SPDX-License-Identifier: MIT */
/* Hits of a swept sphere on a mesh, exactly: the searches of mesh.h, with proven times for its triangles. The entry into an
 * inflated box is a proven lower bound of the true time (docs/numerics.md, section 11), so what it skips could not have been
 * first. A triangle that the proof leaves open casts doubt on every hit that is not surely before it. */
#ifndef CAROM_MESH_EXACT_H
#define CAROM_MESH_EXACT_H
#include "mesh.h"
#include "mesh_options_exact.h"
#include "sweep_exact.h"

FN mesh_answers mesh_sweep_exact(const mesh_question *q, int options)
{
    const vf zero = v_f(R(0.0));
    sweep_exact x;
    sweep_rows rows;
    residual_pair pairs[PARTS];
    const sweep_query query = sweep_prepare(q->in, 0);
    sweep_guess_features(q->in, query, sweep_heading_after(&query, q->heading), SWEEP_TIMES, 0, &x);
    sweep_store(&rows, q->in);
    sweep_widen(&rows, x.scale, pairs);
    const sweep_ahead a = sweep_prove_ahead(pairs, &x, q->open);
    const vm begins = vi_eq(a.state, v_i(STATE_OVERLAPPING));
    const vf t = v_sel(begins, zero, a.t_first);
    /* Whether a time that rounds to the end of the window is within it is not known here. */
    const vm at_end = v_and(v_eq(t, q->limit), v_and(v_finite(q->limit), v_not(begins)));
    const vm sure = v_and(a.sure, v_not(at_end)), some = v_or(begins, vi_eq(a.state, v_i(STATE_APPROACHING)));
    mesh_answers out = mesh_answers_of(v_and(v_and(q->open, v_and(sure, some)), v_le(t, q->limit)), t, a.state);
    out.open = v_and(q->open, v_not(sure));
    if ((options & (MESH_CULL_BACK | MESH_SKIP_PARTING | MESH_SKIP)) != 0)
        mesh_leave_out(q, begins, options, &out);
    /* Below infinity, which is no doubt at all: a hit may be beyond binary32 and its box too. */
    out.from = v_min(v_max(v_max(q->enter, zero), a.least), v_largest());
    return out;
}

MESH_SEARCH(mesh_first_exact, mesh_sift_first, mesh_sweep_exact, mesh_take_first)
MESH_SEARCH(mesh_list_exact, mesh_sift_all, mesh_sweep_exact, mesh_take_all)

/* t is NaN if the query is left open. */
FN void mesh_answer_first_exact(const mesh_run *run, const mesh_walk *w)
{
    const real t = mesh_first_time(w), infinity = R(1.0) / R(0.0);
    real lanes[LANES];
    v_store(lanes, v_from_bits(v_i(R_NAN_BITS)));
    mesh_answer_hit(run, w, w->doubt < infinity && w->doubt <= t ? lanes[0] : t);
}
#endif
