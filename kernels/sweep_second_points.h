/* SPDX-License-Identifier: MIT */
/* Contact points of the second filter (sweep_plucker.h), from the times that it has proven. The feature of a contact is
 * certain if all features before it in the order V0 V1 V2 E01 E12 E20 F certainly do not hold the contact.
 * docs/exact.md, section 13, derives the bounds. */
#ifndef CAROM_SWEEP_SECOND_POINTS_H
#define CAROM_SWEEP_SECOND_POINTS_H
#include "sweep_plucker.h"

FN w3 w3_choose(wm m, w3 a, w3 b)
{
    return w3_of(w_sel(m, a.x, b.x), w_sel(m, a.y, b.y), w_sel(m, a.z, b.z));
}

FN bounded3 bounded3_sel(wm m, bounded3 a, bounded3 b)
{
    bounded3 r;
    r.value = w3_choose(m, a.value, b.value);
    r.error = w_sel(m, a.error, b.error);
    r.size = w_sel(m, a.size, b.size);
    return r;
}

/* The numbers of a feature: V0, E01 and the face begin at P0, V1 and E12 at P1, V2 and E20 at P2. */
typedef struct plucker_hull {
    wm is_corner, is_face;
    w3 corner;
    bounded3 d, e; /* from the corner to the centre, and along the edge that begins there */
    bounded edge2, v_dot_e;
} plucker_hull;

FN plucker_hull plucker_hull_of(const plucker_pair *pair, plucker_in in, wf feature)
{
    const wm second = w_or(w_eq(feature, w_f((wide_real)FEATURE_V1)), w_eq(feature, w_f((wide_real)FEATURE_E12))),
             third = w_or(w_eq(feature, w_f((wide_real)FEATURE_V2)), w_eq(feature, w_f((wide_real)FEATURE_E20)));
    plucker_hull hull;
    hull.is_corner = w_lt(feature, w_f((wide_real)FEATURE_E01));
    hull.is_face = w_eq(feature, w_f((wide_real)FEATURE_FACE));
    hull.corner = w3_choose(second, in.p[1], w3_choose(third, in.p[2], in.p[0]));
    hull.d = bounded3_sel(second, pair->d[1], bounded3_sel(third, pair->d[2], pair->d[0]));
    hull.e = bounded3_sel(second, pair->e[1], bounded3_sel(third, pair->e[2], pair->e[0]));
    hull.edge2 =
        bounded_sel(second, pair->edge[1].square, bounded_sel(third, pair->edge[2].square, pair->edge[0].square));
    hull.v_dot_e = bounded_sel(second, pair->v_dot_e[1], bounded_sel(third, pair->v_dot_e[2], pair->v_dot_e[0]));
    return hull;
}

/* A vector and a bound of its error, and of the magnitudes that were added for it. */
typedef struct plucker_offset {
    w3 value;
    wf error, size;
} plucker_offset;

/* From an edge's first corner to the contact: the share (d.e + t v.e) / e.e of the edge. */
FN plucker_offset plucker_along_edge(const plucker_pair *pair, const plucker_hull *hull, bounded time)
{
    const bounded *length2 = &hull->edge2;
    const bounded along = bounded_add(bounded3_dot(hull->d, hull->e, pair->unit),
                                      bounded_mul(time, hull->v_dot_e, BOUNDED_EPS), BOUNDED_EPS);
    const wf share = along.value / length2->value,
             error = (along.error + w_abs(share) * length2->error) / length2->value * W(1.25) +
                     w_abs(share) * BOUNDED_EPS * W(4.0);
    plucker_offset offset;
    offset.value = w3_mul(hull->e.value, share);
    offset.size = w_abs(share) * hull->e.size;
    offset.error = error * (hull->e.size + hull->e.error) + w_abs(share) * hull->e.error;
    /* The quotient's bound needs a square that is far from 0. */
    offset.error = w_sel(w_lt(length2->error * W(8.0), length2->value), offset.error, w_infinity());
    return offset;
}

/* From the centre at time 0 to the contact with the face: t v +- r n / |n|, ahead of the centre at the first contact,
 * behind it at the last. */
FN plucker_offset plucker_to_face(const plucker_pair *pair, wf radius, bounded time, int last)
{
    const wf length = w_sqrt(w3_dot(pair->n.value, pair->n.value)), reach = radius / length,
             with = last ? -reach : reach,
             signed_reach = w_sel(w_lt(pair->normal_speed.value, w_f(W(0.0))), -with, with);
    plucker_offset offset;
    offset.value = w3_add(w3_mul(pair->v.value, time.value), w3_mul(pair->n.value, signed_reach));
    offset.size = w_abs(time.value) * pair->v.size + radius * W(2.0);
    offset.error = time.error * (pair->v.size + pair->v.error) + w_abs(time.value) * pair->v.error +
                   reach * pair->n.error * W(2.5);
    return offset;
}

/* The largest magnitude among three coordinates. */
FN wf w3_largest(w3 a)
{
    return w_max(w_max(w_abs(a.x), w_abs(a.y)), w_abs(a.z));
}

/* A contact's point and feature. */
typedef struct plucker_point {
    w3 at;
    wf feature;
    wm certain; /* the feature is, and the point is off by less than half a unit in the last place */
} plucker_point;

/* time: in the unit of pair->v. */
FN plucker_point plucker_point_of(const plucker_pair *pair, plucker_in in, const plucker_contact *contact, bounded time,
                                  int last)
{
    const wf zero = w_f(W(0.0));
    const plucker_hull hull = plucker_hull_of(pair, in, contact->feature);
    const plucker_offset edge = plucker_along_edge(pair, &hull, time),
                         face = plucker_to_face(pair, in.radius, time, last);
    const w3 from = w3_choose(hull.is_face, in.center, hull.corner), none = w3_of(zero, zero, zero),
             offset = w3_choose(hull.is_face, face.value, w3_choose(hull.is_corner, none, edge.value));
    const wf offset_size = w_sel(hull.is_face, face.size, w_sel(hull.is_corner, zero, edge.size)),
             offset_error = w_sel(hull.is_face, face.error, w_sel(hull.is_corner, zero, edge.error));
    /* The triangle's own motion. */
    const wf t = time.value * pair->time_unit, t_error = time.error * pair->time_unit, w_size = w3_size(in.w);
    plucker_point point;
    point.at = w3_add(w3_add(from, offset), w3_mul(in.w, t));
    const wf size = w3_largest(from) + offset_size + w_size * w_abs(t),
             error = offset_error + w_size * t_error + size * BOUNDED_EPS * W(16.0) + w_f(W(0x1p-1000));
    const wf largest =
        w_max(w_max(w3_largest(in.center), w3_largest(in.p[0])), w_max(w3_largest(in.p[1]), w3_largest(in.p[2])));
    point.certain = w_and(w_and(contact->found, contact->clear),
                          w_and(w_lt(error, largest * W(0x1p-25)), w_lt(w3_largest(point.at), w_f(W(0x1p127)))));
    point.at = w3_of(w_round(point.at.x) + zero, w_round(point.at.y) + zero, w_round(point.at.z) + zero);
    point.feature = contact->feature;
    return point;
}

/* No contact, or points are not wanted. */
FN plucker_point plucker_no_point(void)
{
    const wf zero = w_f(W(0.0));
    plucker_point none;
    none.at = w3_of(zero, zero, zero);
    none.feature = w_f((wide_real)FEATURE_NONE);
    none.certain = w_le(zero, zero);
    return none;
}

/* a in lanes m, else b. */
FN plucker_point plucker_point_sel(wm m, plucker_point a, plucker_point b)
{
    plucker_point r;
    r.at = w3_choose(m, a.at, b.at);
    r.feature = w_sel(m, a.feature, b.feature);
    r.certain = w_or(w_and(m, a.certain), w_and(w_not(m), b.certain));
    return r;
}
#endif
