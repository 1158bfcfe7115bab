/* SPDX-License-Identifier: MIT */
/* mesh_contacts.h in exact mode. A record has the distance if its binary32 is certain, else NaN, and the feature if it
 * is certain, else FEATURE_NONE. Every triangle that may be within the limit has one. */
#ifndef CAROM_MESH_CONTACTS_EXACT_H
#define CAROM_MESH_CONTACTS_EXACT_H
#include "mesh_closest_exact.h"
#include "mesh_contacts.h"

FN void contacts_exact_lanes(G const mesh_leaf *leaf, int lane, closest_traversal *trav, real scale, int options)
{
    const closest_group g = closest_group_of(leaf, lane, trav, scale, options);
    if (!v_any(g.active))
        return;
    closest_rows rows;
    closest_range r[PARTS];
    wf feature[PARTS];
    closest_store(&rows, g.in);
    LANG_UNROLL
    for (int part = 0; part < LANES; part += WIDE) {
        r[part / WIDE].low = r[part / WIDE].high = w_f(W(1.0) / W(0.0));
        feature[part / WIDE] = w_f(W(0.0));
        if ((v_bitmask(g.active) >> part & ((1u << WIDE) - 1)) == 0)
            continue;
        const closest_wide t =
            closest_wide_of(closest_load3(&rows, IN_NCX, part), closest_load3(&rows, IN_NP0X, part),
                            closest_load3(&rows, IN_NP1X, part), closest_load3(&rows, IN_NP2X, part));
        r[part / WIDE] = closest_range_of(&t);
        feature[part / WIDE] = closest_spot_of(&t).feature;
    }
    const vf low = w_join(r[0].low, r[PARTS - 1].low), high = w_join(r[0].high, r[PARTS - 1].high);
    const vm within = v_and(g.active, v_le(low, v_f(trav->best.t)));
    contacts_append(trav, g.triangle, v_sel(v_eq(low, high), low, v_from_bits(v_i(R_NAN_BITS))),
                    closest_feature_of(w_join(feature[0], feature[PARTS - 1])), within);
}

CONTACTS_SEARCH(contacts_exact, contacts_exact_lanes)
#endif
