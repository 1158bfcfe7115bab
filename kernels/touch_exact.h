/* SPDX-License-Identifier: MIT */
/* Contact of a sphere at rest (touch.h) in exact mode, first rung. Point and feature are those of closest_exact.h; the
 * normal is computed in binary64, with an error below 2^-28. A contact is undecided if its feature is, or if the centre
 * is so close to an edge or plane that its direction, or its side, is uncertain. docs/contacts.md, section 5, derives
 * the bounds. */
#ifndef CAROM_TOUCH_EXACT_H
#define CAROM_TOUCH_EXACT_H
#include "closest_exact.h"
#include "touch.h"

typedef struct touch_normal {
    w3 normal;  /* unit vector from the closest point to the centre */
    wm certain; /* the direction is proven */
} touch_normal;

/* Replaces the normal in lanes m. */
FN void touch_choose(touch_normal *touch, wm m, w3 normal, wm certain)
{
    touch->normal = w3_of(w_sel(m, normal.x, touch->normal.x), w_sel(m, normal.y, touch->normal.y),
                          w_sel(m, normal.z, touch->normal.z));
    touch->certain = w_or(w_and(m, certain), w_and(w_not(m), touch->certain));
}

/* Whether the direction from an edge's line is precise: the offset errs by 15 u |D|, so by 2^-29 of its length if it is
 * longer than 2^-20 |D|. */
FN wm touch_is_clear_of(const closest_wide *wide, const closest_edge *edge)
{
    return w_le(wide->size2 * w_f(W(0x1p-40)), edge->offset2);
}

/* The direction from the closest point to the centre, by the feature that holds this point. */
FN touch_normal touch_normal_of(const closest_wide *wide, const closest_point *chosen)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0));
    const wm never = w_lt(one, zero), is_above = w_lt(zero, wide->per_area);
    const w3 from_corner[3] = {w3_sub(wide->center, wide->p0), w3_sub(wide->center, wide->p1),
                               w3_sub(wide->center, wide->p2)};
    const wf corner2[3] = {wide->square.x, wide->square.y, wide->square.z};
    touch_normal touch;
    touch.normal = w3_of(one, zero, zero);
    touch.certain = never;
    LANG_UNROLL
    for (int i = 0; i < 3; i++) {
        touch_choose(&touch, w_eq(chosen->feature, w_f((wide_real)(FEATURE_V0 + i))), from_corner[i],
                     w_lt(zero, corner2[i]));
        touch_choose(&touch, w_eq(chosen->feature, w_f((wide_real)(FEATURE_E01 + i))), wide->edge[i].offset,
                     touch_is_clear_of(wide, &wide->edge[i]));
    }
    /* On the face it is the triangle's normal, on the side of the centre. */
    const wf side = w_sel(is_above, one, w_f(W(-1.0)));
    touch_choose(&touch, w_eq(chosen->feature, w_f((wide_real)FEATURE_FACE)), w3_mul(wide->normal, side),
                 w_lt(wide->root_error * wide->root_error, wide->height2));
    touch.normal = w3_mul(touch.normal, one / w_sqrt(w3_dot(touch.normal, touch.normal)));
    return touch;
}

/* A contact is undecided where the point's x is NaN. */
FN contact_out touch_exact(closest_in in)
{
    closest_rows rows;
    closest_point chosen[PARTS];
    touch_normal touch[PARTS];
    closest_store(&rows, in);
    LANG_UNROLL
    for (int first_lane = 0; first_lane < LANES; first_lane += WIDE) {
        const closest_wide wide =
            closest_wide_of(closest_load3(&rows, IN_NCX, first_lane), closest_load3(&rows, IN_NP0X, first_lane),
                            closest_load3(&rows, IN_NP1X, first_lane), closest_load3(&rows, IN_NP2X, first_lane));
        chosen[first_lane / WIDE] = closest_point_of(&wide);
        touch[first_lane / WIDE] = touch_normal_of(&wide, &chosen[first_lane / WIDE]);
        /* An uncertain normal leaves the contact undecided. */
        const wf none = w_f(W(0.0));
        chosen[first_lane / WIDE].feature =
            w_sel(touch[first_lane / WIDE].certain, chosen[first_lane / WIDE].feature, none);
    }
    const closest_out answer = closest_join_parts(&chosen[0], &chosen[PARTS - 1]);
    const w3 *low_normal = &touch[0].normal, *high_normal = &touch[PARTS - 1].normal;
    contact_out out;
    out.point = answer.point;
    out.feature = answer.feature;
    out.normal = v3_of(v_positive_zero(w_join(low_normal->x, high_normal->x)),
                       v_positive_zero(w_join(low_normal->y, high_normal->y)),
                       v_positive_zero(w_join(low_normal->z, high_normal->z)));
    return out;
}
#endif
