/* SPDX-License-Identifier: MIT */
/* First hit of a swept sphere on a mesh, exactly: the traversal of mesh.h, with proven times for its triangles. The entry
 * into an inflated box is a proven lower bound of the true time (docs/numerics.md, section 11), so what it skips could
 * not have been first. A triangle that the proof leaves open casts doubt on every hit that is not before its box. */
#ifndef CAROM_MESH_EXACT_H
#define CAROM_MESH_EXACT_H
#include "mesh.h"
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

/* Best proven hit per lane, and the earliest that an open triangle might come. */
typedef struct mesh_exact_best {
    mesh_best hit;
    vf doubt;
} mesh_exact_best;

FN int mesh_exact_lanes(G const mesh_leaf *leaf, int lane, const mesh_query *query, sweep_in in, mesh_slabs s,
                        real scale, vf limit, mesh_bound until, mesh_exact_best *best)
{
    const vf zero = v_f(R(0.0));
    in.p0 = mesh_corner(leaf, 0, lane);
    in.p1 = mesh_corner(leaf, 1, lane);
    in.p2 = mesh_corner(leaf, 2, lane);
    vf enter, leave;
    mesh_box(s, v3_mul(mesh_min3(in.p0, in.p1, in.p2), v_f(scale)), v3_mul(mesh_max3(in.p0, in.p1, in.p2), v_f(scale)),
             &enter, &leave);
    const vi triangle = mesh_load_int(leaf->triangle + lane);
    const vm near = mesh_box_open(enter, leave, triangle, until);
    if (!v_any(near))
        return 0;
    sweep_exact x;
    residual_pair q[PARTS];
    sweep_guess_features(in, SWEEP_TIMES, 0, &x);
    LANG_UNROLL
    for (int part = 0; part < LANES; part += WIDE)
        q[part / WIDE] = mesh_residual_pair(leaf, lane + part, query, x.scale + part);
    const sweep_ahead a = sweep_prove_ahead(q, &x);
    const vm begins = vi_eq(a.state, v_i(STATE_OVERLAPPING));
    const vf t = v_sel(begins, zero, a.t_first);
    /* Whether a time that rounds to the end of the window is within it is not known here. */
    const vm at_end = v_and(v_eq(t, limit), v_and(v_finite(limit), v_not(begins)));
    const vm sure = v_and(a.sure, v_not(at_end));
    const vm hits = v_and(v_and(near, sure), v_or(begins, vi_eq(a.state, v_i(STATE_APPROACHING))));
    const vm sooner = v_or(v_lt(t, best->hit.t), v_and(v_eq(t, best->hit.t), vi_gt(best->hit.triangle, triangle)));
    const vm better = v_and(v_and(hits, v_le(t, limit)), sooner);
    best->hit.t = v_sel(better, t, best->hit.t);
    best->hit.triangle = vi_sel(better, triangle, best->hit.triangle);
    best->hit.state = vi_sel(better, a.state, best->hit.state);
    const vm open = v_and(near, v_not(sure));
    /* Below infinity, which is no doubt at all: a hit may be beyond binary32 and its box too. */
    const vf from = v_min(v_max(enter, zero), v_from_bits(v_i(R_INFINITY_BITS - 1)));
    best->doubt = v_sel(open, v_min(from, best->doubt), best->doubt);
    return v_any(better);
}

/* t is NaN if the query is left open. */
FN mesh_hit mesh_first_hit_exact(mesh_frame frame, G const mesh_node *nodes, G const mesh_leaf *leaves, mesh_query q)
{
    mesh_walk w;
    mesh_begin(&w, frame, q);
    mesh_exact_best best;
    best.hit = w.best;
    best.doubt = v_infinity();
    for (int leaf = mesh_next_leaf(&w, nodes, leaves); leaf >= 0; leaf = mesh_next_leaf(&w, nodes, leaves)) {
        int better = 0;
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES)
            better |=
                mesh_exact_lanes(leaves + leaf, lane, &q, w.in, w.slabs, frame.scale, v_f(w.limit), w.until, &best);
        if (better)
            mesh_found(&w, best.hit);
    }
    mesh_hit hit = mesh_end(&w, best.hit);
    if (v_any(v_and(v_lt(best.doubt, v_infinity()), v_le(best.doubt, v_f(hit.t))))) {
        real lanes[LANES];
        v_store(lanes, v_from_bits(v_i(R_NAN_BITS)));
        hit.t = lanes[0];
    }
    return hit;
}
#endif
