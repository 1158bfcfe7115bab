/* SPDX-License-Identifier: MIT */
/* Hits of a swept sphere on a mesh. */
#ifndef CAROM_MESH_H
#define CAROM_MESH_H
#include "mesh_options.h"

FN mesh_answers mesh_sweep(const mesh_group *g, const mesh_walk *w, G const mesh_leaf *leaf, int lane, int options)
{
    const sweep_out a = sweep_ahead_of(g->in, mesh_course_at(w->course).heading, g->open);
    const vm begins = v_or(vi_eq(a.state, v_i(STATE_TOUCHING)), vi_eq(a.state, v_i(STATE_OVERLAPPING)));
    vm some = v_and(g->open, v_or(begins, vi_eq(a.state, v_i(STATE_APPROACHING))));
    if ((options & (MESH_SKIP_PARTING | MESH_SKIP)) != 0)
        some = v_or(v_and(some, v_not(begins)), mesh_started(v_and(some, begins), w, leaf, lane, options));
    const vf t = v_positive_zero(v_max(v_sel(begins, v_f(R(0.0)), a.t_first), g->enter));
    return mesh_answers_of(v_and(some, v_le(t, v_f(w->limit))), t, a.state);
}

MESH_SEARCH(mesh_visit_first, mesh_admitted_sweep, mesh_sweep, first)
MESH_SEARCH(mesh_visit_list, mesh_admitted_sweep, mesh_sweep, all)

FN void mesh_answer_first(const mesh_run *run, const mesh_walk *w)
{
    mesh_answer_hit(run, w, w->hit);
}
#endif
