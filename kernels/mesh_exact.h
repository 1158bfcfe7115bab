/* SPDX-License-Identifier: MIT */
/* Hits of a swept sphere on a mesh in exact mode: the searches of mesh.h with a floating-point filter as their solver.
 * The entry into an inflated box is a proven lower bound of the true time (docs/numerics.md, section 11), so culling by
 * it loses no first hit. A triangle that the filter cannot decide makes every hit undecided that is not certainly
 * before it. */
#ifndef CAROM_MESH_EXACT_H
#define CAROM_MESH_EXACT_H
#include "mesh.h"
#include "mesh_options_exact.h"
#include "sweep_exact.h"

/* Hits of LANES pairs, as far as the filter proves them. motion: mesh_motion_kind(options). */
FN mesh_packet_result mesh_sweep_exact_of(const mesh_packet *packet, int options, int motion)
{
    const vf zero = v_f(R(0.0));
    int guessed = motion;
    sweep_in in = packet->in;
    sweep_exact filter;
    sweep_rows rows;
    residual_pair pairs[PARTS];
    sweep_store(&rows, in);
    const vm exact = sweep_round_motion(&rows, &in, &guessed);
    const sweep_query query = sweep_prepare(in, guessed);
    const sweep_heading heading =
        guessed != motion ? sweep_heading_of(query.relative.v) : sweep_heading_after(&query, packet->heading);
    sweep_guess_features(in, query, heading, SWEEP_TIMES, TRIANGLE_AT_REST, &filter);
    sweep_widen(&rows, filter.scale, pairs, motion);
    const sweep_ahead answer = sweep_prove_ahead(pairs, &filter, packet->active);
    const vm begins = vi_eq(answer.state, v_i(STATE_OVERLAPPING));
    const vf t = v_sel(begins, zero, answer.t_first);
    /* A time that rounds to the end of the window may lie on either side of it. */
    const vm at_end = v_and(v_eq(t, packet->limit), v_and(v_finite(packet->limit), v_not(begins)));
    const vm certain = v_and(answer.certain, v_not(at_end)),
             in_contact = v_or(begins, vi_eq(answer.state, v_i(STATE_APPROACHING)));
    mesh_packet_result result = mesh_packet_result_of(
        v_and(v_and(packet->active, v_and(certain, in_contact)), v_le(t, packet->limit)), t, answer.state);
    result.undecided = v_and(packet->active, v_not(certain));
    if ((options & (MESH_CULL_BACK | MESH_SKIP_PARTING | MESH_SKIP)) != 0)
        mesh_cull_hits(packet, begins, options, &result);
    /* Keep it below infinity, which would mean that nothing is undecided: the hit and its box may lie beyond
     * binary32. */
    result.from = v_min(v_max(v_max(packet->enter, zero), answer.least), v_largest());
    if (guessed != motion) { /* lanes whose motion is not exact are undecided */
        const vm not_exact = v_and(packet->active, v_not(exact));
        result.hits = v_and(result.hits, exact);
        result.undecided = v_or(result.undecided, not_exact);
        result.from = v_sel(not_exact, v_min(v_max(packet->enter, zero), v_largest()), result.from);
    }
    return result;
}

#ifdef MESH_SCENE_MOVES
/* Apart, because scenes at rest would pay for it. */
FN_RARE void mesh_sweep_exact_carried(const mesh_packet *packet, int options, mesh_packet_result *result)
{
    *result = mesh_sweep_exact_of(packet, options, mesh_motion_kind(options));
}
#endif

FN mesh_packet_result mesh_sweep_exact(const mesh_packet *packet, int options)
{
#ifdef MESH_SCENE_MOVES
    if ((options & MESH_CARRIED) != 0) {
        mesh_packet_result result;
        mesh_sweep_exact_carried(packet, options, &result);
        return result;
    }
#endif
    return mesh_sweep_exact_of(packet, options, (options & MESH_ENDS) != 0 ? MOTION_BY_END : MOTION_BY_VELOCITY);
}

MESH_SEARCH(mesh_first_exact, mesh_cull_leaf_first, mesh_sweep_exact, mesh_record_first)
MESH_SEARCH(mesh_list_exact, mesh_cull_leaf_all, mesh_sweep_exact, mesh_record_all)

/* t is NaN if the query is undecided. */
FN void mesh_answer_first_exact(const mesh_run *run, const mesh_traversal *trav)
{
    const real t = mesh_first_time(trav), infinity = R(1.0) / R(0.0);
    real lanes[LANES];
    v_store(lanes, v_from_bits(v_i(R_NAN_BITS)));
    mesh_answer_hit(run, trav, trav->earliest_undecided < infinity && trav->earliest_undecided <= t ? lanes[0] : t);
}
#endif
