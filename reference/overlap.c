/* SPDX-License-Identifier: MIT */
/* Sphere against triangle at rest: overlap from the distance, and each bit of the axis mask from its own words, so that
 * "mask 0 exactly if overlapping" is a theorem that tests can check rather than how one is computed from the other. */
#include "reference.h"
#include "space.h"

/* Area > 0 and the plane farther than r. */
static int plane_separates(const ref_triangle *triangle, const ref_dyadic *radius2)
{
    ref_dyadic height, limit;

    if (triangle->normal2.sign == 0)
        return 0;
    ref_vec_dot(&height, &triangle->normal, &triangle->p[0]);
    ref_dyadic_mul(&height, &height, &height);
    ref_dyadic_mul(&limit, radius2, &triangle->normal2);
    return ref_dyadic_cmp(&height, &limit) > 0;
}

/* Length > 0, the foot Q of the centre on the edge's line farther than r, and (Q - C) . (O - Q) >= 0 for the opposite
 * corner O. With the centre at the origin, foot = |edge|^2 Q = |edge|^2 p - (p . edge) edge. */
static int edge_separates(const ref_triangle *triangle, int i, const ref_dyadic *radius2)
{
    const ref_vec *edge = &triangle->edge[i];
    const ref_dyadic *length2 = &triangle->length2[i];
    ref_vec foot, part;
    ref_dyadic left, right;

    if (length2->sign == 0)
        return 0;
    ref_vec_scale(&foot, &triangle->p[i], length2);
    ref_vec_dot(&left, &triangle->p[i], edge);
    ref_vec_scale(&part, edge, &left);
    ref_vec_sub(&foot, &foot, &part);
    ref_vec_dot(&left, &foot, &foot);
    ref_dyadic_mul(&right, length2, length2);
    ref_dyadic_mul(&right, &right, radius2);
    if (ref_dyadic_cmp(&left, &right) <= 0)
        return 0;
    ref_vec_scale(&part, &triangle->p[(i + 2) % 3], length2);
    ref_vec_sub(&part, &part, &foot);
    ref_vec_dot(&left, &foot, &part);
    return left.sign >= 0;
}

/* Corner X farther than r, and (X - C) . (Y - X) >= 0 for both others. */
static int corner_separates(const ref_triangle *triangle, int i, const ref_dyadic *radius2)
{
    ref_vec side;
    ref_dyadic dot;

    ref_vec_dot(&dot, &triangle->p[i], &triangle->p[i]);
    if (ref_dyadic_cmp(&dot, radius2) <= 0)
        return 0;
    for (int k = 1; k < 3; k++) {
        ref_vec_sub(&side, &triangle->p[(i + k) % 3], &triangle->p[i]);
        ref_vec_dot(&dot, &triangle->p[i], &side);
        if (dot.sign < 0)
            return 0;
    }
    return 1;
}

void ref_overlap(const ref_sweep_case *c, ref_overlap_answer *out)
{
    ref_triangle triangle;
    ref_dyadic radius2;
    int feature;

    out->overlap = -1;
    out->axes = -1;
    if (!ref_radius_valid(c->radius) || !ref_floats_finite(c->center, 3) || !ref_floats_finite(c->p[0], 3) ||
        !ref_floats_finite(c->p[1], 3) || !ref_floats_finite(c->p[2], 3))
        return;
    ref_triangle_set(&triangle, c);
    ref_dyadic_from_double(&radius2, c->radius);
    ref_dyadic_mul(&radius2, &radius2, &radius2);
    out->overlap = ref_triangle_closest(&triangle, &radius2, &feature) <= 0;
    out->axes = plane_separates(&triangle, &radius2);
    for (int i = 0; i < 3; i++) {
        out->axes |= edge_separates(&triangle, i, &radius2) << (1 + i);
        out->axes |= corner_separates(&triangle, i, &radius2) << (4 + i);
    }
}
