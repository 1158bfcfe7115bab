/* SPDX-License-Identifier: MIT */
/* mesh_contacts.h in exact mode. A record has the distance if its rounding to binary32 is certain, else NaN; and the
 * feature if that is certain, else FEATURE_NONE. Every triangle that may be within the limit has a record. */
#ifndef CAROM_MESH_CONTACTS_EXACT_H
#define CAROM_MESH_CONTACTS_EXACT_H
#include "mesh_closest_exact.h"
#include "mesh_contacts.h"

#define CONTACTS_PRECEDED W(8.0) /* in place of a feature */

/* Third corners of the triangles behind the edges, in memory. */
typedef struct contacts_rows {
    real corner[9][LANES]; /* x y z for each edge */
} contacts_rows;

/* The third corner behind an edge, for the half of the lanes that begins at first_lane. */
FN w3 contacts_load3(const contacts_rows *rows, int edge, int first_lane)
{
    return w3_of(w_load(rows->corner[3 * edge] + first_lane), w_load(rows->corner[3 * edge + 1] + first_lane),
                 w_load(rows->corner[3 * edge + 2] + first_lane));
}

/* Whether a triangle with the corners p and opposite is certainly closer, because (opposite - p).offset > 0. offset:
 * from the closest point, which is p or on an edge from p, to the centre. It is off by at most 15 u |D| (docs/exact.md,
 * section 19). */
FN wm contacts_certainly_rises(const closest_wide *wide, w3 p, w3 opposite, w3 offset)
{
    const w3 edge = w3_sub(opposite, p);
    return w_lt(CLOSEST_EPS(40.0) * (wide->size2 + w3_dot(edge, edge)), w3_dot(edge, offset));
}

/* The feature, or CONTACTS_PRECEDED if a neighbour across an edge is certainly closer. */
FN wf contacts_preceded_or(const closest_wide *wide, const contacts_rows *rows, int first_lane, wf feature)
{
    const w3 corners[3] = {wide->p0, wide->p1, wide->p2};
    const wf preceded = w_f(CONTACTS_PRECEDED);
    wf answer = feature;
    LANG_UNROLL
    for (int i = 0; i < 3; i++) {
        const w3 after = contacts_load3(rows, i, first_lane), before = contacts_load3(rows, (i + 2) % 3, first_lane);
        const w3 offset = w3_sub(wide->center, corners[i]);
        const wm at_corner = w_eq(feature, w_f((wide_real)(FEATURE_V0 + i)));
        const wm on_edge = w_eq(feature, w_f((wide_real)(FEATURE_E01 + i)));
        const wm corner_is_preceded = w_or(contacts_certainly_rises(wide, corners[i], after, offset),
                                           contacts_certainly_rises(wide, corners[i], before, offset));
        answer = w_sel(w_and(at_corner, corner_is_preceded), preceded, answer);
        answer = w_sel(w_and(on_edge, contacts_certainly_rises(wide, corners[i], after, wide->edge[i].offset)),
                       preceded, answer);
    }
    return answer;
}

/* Stores the third corners of the neighbours. */
FN void contacts_load_opposites(G const mesh_leaf *leaf, int lane, const closest_traversal *trav, contacts_rows *rows)
{
    G const mesh_opposites *opposites = trav->opposites + MESH_LEAF_AT(trav->next);
    for (int edge = 0; edge < 3; edge++) {
        const v3 opposite = MESH_IS_UNINDEXED(trav->next)
                                ? contacts_unindexed_opposite(trav, edge, lane)
                                : contacts_corner_at(leaf, opposites, vi_load_u8(opposites->slot[edge] + lane));
        v_store(rows->corner[3 * edge], opposite.x);
        v_store(rows->corner[3 * edge + 1], opposite.y);
        v_store(rows->corner[3 * edge + 2], opposite.z);
    }
}

/* Finds the contacts among LANES triangles of a leaf, in exact mode. */
FN contacts_found contacts_exact_find(G const mesh_leaf *leaf, int lane, const closest_traversal *trav,
                                      const closest_group *g, real scale, int options)
{
    const int has_opposites = trav->opposites != 0;
    closest_rows rows;
    contacts_rows opposites;
    closest_range ranges[PARTS];
    wf feature[PARTS];
    closest_store(&rows, g->in);
    if (has_opposites)
        contacts_load_opposites(leaf, lane, trav, &opposites);
    LANG_UNROLL
    for (int first_lane = 0; first_lane < LANES; first_lane += WIDE) {
        /* Half a vector without active triangles is skipped. */
        ranges[first_lane / WIDE].low = ranges[first_lane / WIDE].high = w_f(W(1.0) / W(0.0));
        feature[first_lane / WIDE] = w_f(W(0.0));
        if ((v_bitmask(g->active) >> first_lane & ((1u << WIDE) - 1)) == 0)
            continue;
        const closest_wide wide =
            closest_wide_of(closest_load3(&rows, IN_NCX, first_lane), closest_load3(&rows, IN_NP0X, first_lane),
                            closest_load3(&rows, IN_NP1X, first_lane), closest_load3(&rows, IN_NP2X, first_lane));
        ranges[first_lane / WIDE] = closest_range_of(&wide);
        feature[first_lane / WIDE] = closest_point_of(&wide).feature;
        if (has_opposites)
            feature[first_lane / WIDE] =
                contacts_preceded_or(&wide, &opposites, first_lane, feature[first_lane / WIDE]);
    }
    /* Joins both halves; triangles that may be within the limit are left. */
    const vf low = w_join(ranges[0].low, ranges[PARTS - 1].low), high = w_join(ranges[0].high, ranges[PARTS - 1].high);
    const vf features = w_join(feature[0], feature[PARTS - 1]);
    contacts_found found;
    found.distance = v_sel(v_eq(low, high), low, v_from_bits(v_i(R_NAN_BITS)));
    found.feature = closest_feature_of(features);
    found.within = v_and(v_and(g->active, v_lt(features, v_f((real)CONTACTS_PRECEDED))), v_le(low, v_f(trav->best.t)));
    (void)scale, (void)options;
    return found;
}

CONTACTS_SEARCH(contacts_exact, contacts_exact_find, 1)
#endif
