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

FN void touch_choose(touch_normal *t, wm m, w3 normal, wm certain)
{
    t->normal =
        w3_of(w_sel(m, normal.x, t->normal.x), w_sel(m, normal.y, t->normal.y), w_sel(m, normal.z, t->normal.z));
    t->certain = w_or(w_and(m, certain), w_and(w_not(m), t->certain));
}

/* Whether the direction from an edge's line is precise: the offset errs by 15 u |D|, so by 2^-29 of its length if it is
 * longer than 2^-20 |D|. */
FN wm touch_is_clear_of(const closest_wide *t, const closest_edge *e)
{
    return w_le(t->size2 * w_f(W(0x1p-40)), e->offset2);
}

FN touch_normal touch_normal_of(const closest_wide *t, const closest_point *s)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0));
    const wm never = w_lt(one, zero), above = w_lt(zero, t->per_area);
    const w3 corner[3] = {w3_sub(t->center, t->p0), w3_sub(t->center, t->p1), w3_sub(t->center, t->p2)};
    const wf square[3] = {t->square.x, t->square.y, t->square.z};
    touch_normal n;
    n.normal = w3_of(one, zero, zero);
    n.certain = never;
    LANG_UNROLL
    for (int i = 0; i < 3; i++) {
        touch_choose(&n, w_eq(s->feature, w_f((wide_real)(FEATURE_V0 + i))), corner[i], w_lt(zero, square[i]));
        touch_choose(&n, w_eq(s->feature, w_f((wide_real)(FEATURE_E01 + i))), t->edge[i].offset,
                     touch_is_clear_of(t, &t->edge[i]));
    }
    const wf side = w_sel(above, one, w_f(W(-1.0)));
    touch_choose(&n, w_eq(s->feature, w_f((wide_real)FEATURE_FACE)), w3_mul(t->normal, side),
                 w_lt(t->root_error * t->root_error, t->height2));
    n.normal = w3_mul(n.normal, one / w_sqrt(w3_dot(n.normal, n.normal)));
    return n;
}

/* A contact is undecided where the point's x is NaN. */
FN contact_out touch_exact(closest_in in)
{
    closest_rows rows;
    closest_point s[PARTS];
    touch_normal n[PARTS];
    closest_store(&rows, in);
    LANG_UNROLL
    for (int part = 0; part < LANES; part += WIDE) {
        const closest_wide t =
            closest_wide_of(closest_load3(&rows, IN_NCX, part), closest_load3(&rows, IN_NP0X, part),
                            closest_load3(&rows, IN_NP1X, part), closest_load3(&rows, IN_NP2X, part));
        s[part / WIDE] = closest_point_of(&t);
        n[part / WIDE] = touch_normal_of(&t, &s[part / WIDE]);
        const wf none = w_f(W(0.0));
        s[part / WIDE].feature = w_sel(n[part / WIDE].certain, s[part / WIDE].feature, none);
    }
    const closest_out c = closest_join_parts(&s[0], &s[PARTS - 1]);
    const w3 *a = &n[0].normal, *b = &n[PARTS - 1].normal;
    contact_out out;
    out.point = c.point;
    out.feature = c.feature;
    out.normal = v3_of(v_positive_zero(w_join(a->x, b->x)), v_positive_zero(w_join(a->y, b->y)),
                       v_positive_zero(w_join(a->z, b->z)));
    return out;
}
#endif
