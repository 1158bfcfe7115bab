/* SPDX-License-Identifier: MIT */
/* Closest triangle of a mesh in exact mode: the traversal of mesh_closest.h with a floating-point filter as its solver.
 * The bounds from boxes are proven, so culling loses no closest triangle. A triangle whose distance may round to two
 * numbers makes every answer undecided that is not closer than the smaller of them. */
#ifndef CAROM_MESH_CLOSEST_EXACT_H
#define CAROM_MESH_CLOSEST_EXACT_H
#include "closest_exact.h"
#include "mesh_closest.h"

/* Bounds of the distances of the active triangles, for each half of the lanes that has one. */
FN closest_proven closest_prove(closest_in in, vm active)
{
    closest_rows rows;
    closest_range range[PARTS];
    closest_store(&rows, in);
    LANG_UNROLL
    for (int first_lane = 0; first_lane < LANES; first_lane += WIDE) {
        range[first_lane / WIDE].low = range[first_lane / WIDE].high = w_f(W(1.0) / W(0.0));
        if ((v_bitmask(active) >> first_lane & ((1u << WIDE) - 1)) == 0)
            continue;
        const closest_wide wide =
            closest_wide_of(closest_load3(&rows, IN_NCX, first_lane), closest_load3(&rows, IN_NP0X, first_lane),
                            closest_load3(&rows, IN_NP1X, first_lane), closest_load3(&rows, IN_NP2X, first_lane));
        range[first_lane / WIDE] = closest_range_of(&wide);
    }
    closest_proven proven;
    proven.low = w_join(range[0].low, range[PARTS - 1].low);
    proven.high = w_join(range[0].high, range[PARTS - 1].high);
    return proven;
}

#ifdef MESH_ITEMS
/* Solves one pair in exact mode. */
FN closest_proven closest_exact_solve(const closest_group *group)
{
    return closest_prove(group->in, group->active);
}
CLOSEST_SEARCH(closest_exact, closest_exact_solve)
#else
/* Solves LANES triangles of a leaf in exact mode; returns whether one of them improves on the best. */
FN int closest_exact_lanes(G const mesh_leaf *leaf, int lane, closest_traversal *trav, real scale, int options)
{
    const closest_group group = closest_group_of(leaf, lane, trav, scale, options);
    if (!v_any(group.active))
        return 0;
    const closest_proven proven = closest_prove(group.in, group.active);
    const vm certain = v_eq(proven.low, proven.high);
    closest_limit(trav, v_reduce_min(v_sel(group.active, proven.high, v_infinity())));
    /* Keep it below infinity, which would mean that nothing is undecided. */
    const vf from = v_min(proven.low, v_largest());
    trav->earliest_undecided =
        v_sel(v_and(group.active, v_not(certain)), v_min(from, trav->earliest_undecided), trav->earliest_undecided);
    return closest_record(trav, v_and(group.active, certain), proven.low, group.triangle);
}

CLOSEST_SEARCH(closest_exact, closest_exact_lanes)
#endif

/* The distance is NaN if the query is undecided. Undecided triangles that are certainly beyond the best, or the limit,
 * do not matter. */
FN void closest_answer_exact(const mesh_run *run, const closest_traversal *trav)
{
    closest_hit hit = closest_end(trav);
    if (v_any(v_and(v_lt(trav->earliest_undecided, v_infinity()), v_le(trav->earliest_undecided, v_f(trav->best.t))))) {
        real lanes[LANES];
        v_store(lanes, v_from_bits(v_i(R_NAN_BITS)));
        hit.distance = lanes[0];
    }
    closest_answer_hit(run, trav, hit);
}
#endif
