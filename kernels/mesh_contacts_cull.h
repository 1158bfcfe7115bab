/* SPDX-License-Identifier: MIT */
/* Triangles that are certainly preceded by a neighbour, found by half of the operations that features and distances
 * take. Of a group in which all are, nothing else is computed. Included by mesh_contacts.h on CPUs; fast mode does
 * without it where there are sixteen lanes. */
#ifndef CAROM_MESH_CONTACTS_CULL_H
#define CAROM_MESH_CONTACTS_CULL_H

#define CONTACTS_LARGER R(2.5) /* the least limit for this, as a multiple of the radius of a leaf's triangles */

/* A point of an edge of each triangle, probably the closest point of the triangle. */
typedef struct contacts_guess {
    contacts_numbers edge; /* E20 runs from P0 to P2 here */
    v3 point, offset;      /* relative to P0; from the point to the centre */
    vf inward;             /* offset . (the corner that is not on the edge - point) */
    vf share, area2;       /* weight of the edge's end; square of twice the area */
    vm at_end, at_corner;  /* the point is certainly the edge's end; its begin or end */
} contacts_guess;

/* Chooses the edge on whose outer side the foot on the plane is, by its weights, and its point next to the centre. */
FN contacts_guess contacts_guess_of(const closest_in *in, vf least)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    const v3 e01 = v3_sub(in->p1, in->p0), e02 = v3_sub(in->p2, in->p0), from0 = v3_sub(in->center, in->p0);
    const vf square01 = v3_dot(e01, e01), square02 = v3_dot(e02, e02), product = v3_dot(e01, e02);
    const vf along01 = v3_dot(from0, e01), along02 = v3_dot(from0, e02);
    contacts_guess guess;
    guess.area2 = square01 * square02 - product * product;
    /* The weights of the corners at the foot on the plane, times area2. */
    const vf weight1 = square02 * along01 - product * along02, weight2 = square01 * along02 - product * along01,
             weight0 = (guess.area2 - weight1) - weight2;
    const vm is12 = v_le(weight0, v_min(weight1, weight2)), is20 = v_and(v_not(is12), v_lt(weight1, weight2));
    /* The point: P0 + share1 e01 + share2 e02. */
    const vf at1 = square01 - product, along = v_sel(is12, (along02 - along01) + at1, v_sel(is20, along02, along01)),
             square = v_sel(is12, at1 + (square02 - product), v_sel(is20, square02, square01));
    guess.share = v_max(v_min(along / square, one), zero);
    guess.at_end = v_lt(least, along - square);
    guess.at_corner = v_or(guess.at_end, v_lt(least, -along));
    const vf share1 = v_sel(is12, one - guess.share, v_sel_or_zero(v_not(is20), guess.share)),
             share2 = v_sel_or_zero(v_or(is12, is20), guess.share);
    guess.point = v3_add(v3_mul(e01, share1), v3_mul(e02, share2));
    guess.offset = v3_sub(from0, guess.point);
    guess.inward =
        v_sel_or_zero(v_not(is12), v3_dot(guess.offset, v3_sel(is20, e01, e02))) - v3_dot(guess.offset, guess.point);
    guess.edge.is1 = is12;
    guess.edge.is2 = is20;
    return guess;
}

/* The other edge at the corner. */
FN contacts_numbers contacts_other_edge(const contacts_guess *guess)
{
    contacts_numbers other;
    other.is1 = v_and(guess->at_end, v_not(guess->edge.is1));
    other.is2 =
        v_or(v_and(guess->at_end, guess->edge.is1), v_not(v_or(guess->at_end, v_or(guess->edge.is1, guess->edge.is2))));
    return other;
}

/* The corner. */
FN contacts_numbers contacts_corner_of(const contacts_guess *guess)
{
    const vm is_far = v_or(guess->edge.is1, guess->edge.is2);
    contacts_numbers corner;
    corner.is1 = v_or(v_and(guess->at_end, v_not(is_far)), v_and(v_not(guess->at_end), guess->edge.is1));
    corner.is2 = v_and(guess->at_end, is_far);
    return corner;
}

/* Whether a neighbour with this corner is certainly closer than the guessed point. */
FN vm contacts_rises_from(const contacts_guess *guess, const closest_in *in, v3 opposite, vf limit2, vf least)
{
    const v3 beyond = v3_sub(v3_sub(opposite, in->p0), guess->point);
    const vf beyond2 = v3_dot(beyond, beyond), fall = v3_dot(guess->offset, beyond);
    return v_and(v_and(v_lt(least, fall), v_lt(least * beyond2, fall * fall)), v_le(beyond2, limit2));
}

/* Which of LANES triangles are certainly preceded by a neighbour. The foot on the plane is outside and the guessed
 * point not near another edge, so that the closest feature is the edge or the corner; the neighbour has that feature,
 * and a point that is closer. docs/contacts.md, section 5, derives the margins. */
FN vm contacts_cull(G const mesh_leaf *leaf, int lane, const closest_traversal *trav, const closest_in *in)
{
    const real limit = trav->best.t, limit2 = limit * limit, size = R(2.0) * leaf->ball, size2 = size * size,
               beside = R(0x1p-16) * limit2 * size2, flat = size2 * size2 * R(0x1p-8) + R(0x1p-100);
    const vf least = v_f(limit2 * R(0x1p-14)), outside = v_f(limit * size * R(0x1p-10));
    const contacts_guess guess = contacts_guess_of(in, outside);
    const vf from_end = v_min(guess.share, v_f(R(1.0)) - guess.share);
    const vm is_clear = v_or(guess.at_corner, v_lt(v_f(beside), from_end * from_end * guess.area2));
    const vm is_outside = v_lt(v_sel(is_clear, outside, outside * v_f(R(16.0))), -guess.inward);
    const vm has_area = v_lt(v_f(beside < flat ? flat : beside), guess.area2), may = v_and(is_outside, has_area);
    const v3 after = contacts_opposite(leaf, trav, contacts_choice_of(guess.edge, 0, 1, 2), lane),
             before = contacts_opposite(leaf, trav, contacts_choice_of(contacts_other_edge(&guess), 0, 1, 2), lane);
    const vm rises = v_or(contacts_rises_from(&guess, in, after, v_f(limit2), least),
                          v_and(guess.at_corner, contacts_rises_from(&guess, in, before, v_f(limit2), least)));
    const vm may_across = v_and(v_and(may, guess.at_corner), v_not(rises));
    if (!v_any(may_across))
        return v_and(may, rises);
    const v3 across = contacts_opposite(leaf, trav, contacts_choice_of(contacts_corner_of(&guess), 3, 4, 5), lane);
    return v_or(v_and(may, rises),
                v_and(may_across, contacts_rises_from(&guess, in, across, v_f(limit2), least * v_f(R(4.0)))));
}

/* Whether triangles of the leaf may be left out before their features are computed. */
FN int contacts_may_cull(G const mesh_leaf *leaf, const closest_traversal *trav)
{
    return trav->opposites != 0 && !MESH_IS_UNINDEXED(trav->next) && leaf->ball * CONTACTS_LARGER < trav->best.t;
}
#endif
