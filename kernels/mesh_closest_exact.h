/* SPDX-License-Identifier: MIT */
/* Nearest triangle of a mesh, exactly: the traversal of mesh_closest.h, with proven distances. What a box gives are
 * proven bounds of the true distance, rounded, so what is skipped could not be nearest. A triangle whose distance
 * may round to two numbers casts doubt on every answer that is not nearer than the lesser of them. */
#ifndef CAROM_MESH_CLOSEST_EXACT_H
#define CAROM_MESH_CLOSEST_EXACT_H
#include "closest_exact.h"
#include "mesh_closest.h"

/* The distances of LANES triangles, rounded down and up; most often equal. */
typedef struct closest_proven {
    vf low, high;
} closest_proven;

FN closest_proven closest_prove(closest_in in)
{
    closest_rows rows;
    closest_range r[PARTS];
    closest_store(&rows, in);
    LANG_UNROLL
    for (int part = 0; part < LANES; part += WIDE) {
        const closest_wide t =
            closest_wide_of(closest_load3(&rows, IN_NCX, part), closest_load3(&rows, IN_NP0X, part),
                            closest_load3(&rows, IN_NP1X, part), closest_load3(&rows, IN_NP2X, part));
        r[part / WIDE] = closest_range_of(&t);
    }
    closest_proven p;
    p.low = w_join(r[0].low, r[PARTS - 1].low);
    p.high = w_join(r[0].high, r[PARTS - 1].high);
    return p;
}

FN int closest_exact_lanes(G const mesh_leaf *leaf, int lane, closest_walk *w, real scale, int options)
{
    const closest_group g = closest_group_of(leaf, lane, w, scale, options);
    if (!v_any(g.open))
        return 0;
    const closest_proven p = closest_prove(g.in);
    const vm sure = v_eq(p.low, p.high);
    closest_limit(w, v_reduce_min(v_sel(g.open, p.high, v_infinity())));
    /* Below infinity, which is no doubt at all. */
    const vf from = v_min(p.low, v_largest());
    w->doubt = v_sel(v_and(g.open, v_not(sure)), v_min(from, w->doubt), w->doubt);
    return closest_take(w, v_and(g.open, sure), p.low, g.triangle);
}

CLOSEST_SEARCH(closest_exact, closest_exact_lanes)

/* The distance is NaN if the query is left open. */
FN void closest_answer_exact(const mesh_run *run, const closest_walk *w)
{
    closest_hit hit = closest_end(w);
    if (v_any(v_and(v_lt(w->doubt, v_infinity()), v_le(w->doubt, v_f(hit.distance))))) {
        real lanes[LANES];
        v_store(lanes, v_from_bits(v_i(R_NAN_BITS)));
        hit.distance = lanes[0];
    }
    closest_answer_hit(run, w, hit);
}
#endif
