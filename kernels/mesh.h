/* SPDX-License-Identifier: MIT */
/* Hits of a swept sphere on a mesh. */
#ifndef CAROM_MESH_H
#define CAROM_MESH_H
#include "mesh_options.h"

/* Hits of LANES pairs in fast mode: contacts at the start and ahead, within the time window, that the options keep. */
FN mesh_packet_result mesh_sweep(const mesh_packet *packet, int options)
{
    const vm candidates =
        (options & MESH_CULL_BACK) != 0 ? v_and(packet->active, v_not(mesh_back(packet, options))) : packet->active;
    const sweep_out answer = sweep_ahead_of(packet->in, packet->heading, candidates, mesh_motion_kind(options));
    const vm begins = v_or(vi_eq(answer.state, v_i(STATE_TOUCHING)), vi_eq(answer.state, v_i(STATE_OVERLAPPING)));
    vm hits = v_and(candidates, v_or(begins, vi_eq(answer.state, v_i(STATE_APPROACHING))));
    if ((options & (MESH_SKIP_PARTING | MESH_SKIP)) != 0)
        hits = v_or(v_and(hits, v_not(begins)), mesh_started(v_and(hits, begins), packet, options));
    const vf t = v_positive_zero(v_max(v_sel(begins, v_f(R(0.0)), answer.t_first), packet->enter));
    return mesh_packet_result_of(v_and(hits, v_le(t, packet->limit)), t, answer.state);
}

MESH_SEARCH(mesh_first, mesh_cull_leaf_first, mesh_sweep, mesh_record_first)
MESH_SEARCH(mesh_list, mesh_cull_leaf_all, mesh_sweep, mesh_record_all)

/* Answers a query for its first hit, in fast mode. */
FN void mesh_answer_first(const mesh_run *run, const mesh_traversal *trav)
{
    mesh_answer_hit(run, trav, mesh_first_time(trav));
}
#endif
