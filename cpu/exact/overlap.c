/* SPDX-License-Identifier: MIT */
/* Overlap in integers: each of the seven axes by the signs of its own two conditions. */
#include "exact.h"

#include "motion.h"
#include "narrow.h"

/* Whether square > r^2 scale. */
static int is_farther(const caromi_motion *motion, const caromi_int *square, const caromi_int *scale)
{
    caromi_int reach;
    caromi_int_mul(&reach, &motion->r2, scale);
    return caromi_int_compare(square, &reach) > 0;
}

/* Whether the plane is farther than r; a triangle without area has none. */
static int plane_separates(caromi_motion *motion)
{
    caromi_int height, square;
    const caromi_int *area = caromi_motion_normal2(motion);
    if (area->sign == 0)
        return 0;
    caromi_int3_dot(&height, caromi_motion_normal(motion), &motion->d[0]);
    caromi_int_square(&square, &height);
    return is_farther(motion, &square, area);
}

/* Let Q be the foot on the line and O the opposite corner: (Q - C).(O - Q) e.e = -(e x d).n. */
static int edge_separates(caromi_motion *motion, int edge)
{
    caromi_int3 e_cross_d;
    caromi_int side, square;
    const caromi_int *edge2 = caromi_motion_edge2(motion, edge);
    if (edge2->sign == 0)
        return 0;
    caromi_int3_cross(&e_cross_d, &motion->e[edge], &motion->d[edge]);
    caromi_int3_dot(&side, &e_cross_d, caromi_motion_normal(motion));
    if (side.sign > 0)
        return 0;
    caromi_int3_dot(&square, &e_cross_d, &e_cross_d);
    return is_farther(motion, &square, edge2);
}

/* (X - C).(Y - X) = -d.(Y - X) for an edge from the corner X to Y; one of the two edges is stored in the opposite
 * direction. */
static int corner_separates(caromi_motion *motion, int corner)
{
    const caromi_int3 *from_corner = &motion->d[corner];
    caromi_int product;
    caromi_int3_dot(&product, from_corner, &motion->e[corner]);
    if (product.sign > 0)
        return 0;
    caromi_int3_dot(&product, from_corner, &motion->e[(corner + 2) % 3]);
    if (product.sign < 0)
        return 0;
    caromi_int3_dot(&product, from_corner, from_corner);
    return caromi_int_compare(&product, &motion->r2) > 0;
}

/* The mask of separating axes of a valid pair. */
static int axes_of(const float *in)
{
    float pair_at_rest[IN_SWEEP_RESTING] = {0};
    caromi_motion motion;
    int axes;
    if (caromi_narrow_axes_of(in, &axes))
        return axes;
    memcpy(pair_at_rest + IN_CX, in + IN_OCX, 4 * sizeof *in);
    memcpy(pair_at_rest + IN_P0X, in + IN_OP0X, 9 * sizeof *in);
    caromi_motion_of(&motion, pair_at_rest, IN_SWEEP_RESTING);
    axes = plane_separates(&motion);
    for (int feature = 0; feature < 3; feature++)
        axes |= edge_separates(&motion, feature) << (1 + feature) | corner_separates(&motion, feature) << (4 + feature);
    return axes;
}

/* The mask of separating axes; the pair overlaps if there is none. */
void caromi_exact_overlap_of(const float *in, int *overlap, int *axes)
{
    if (!caromi_floats_finite(in, IN_OVERLAP) || !caromi_radius_valid(in[IN_OR])) {
        *overlap = *axes = OVERLAP_INVALID;
        return;
    }
    *axes = axes_of(in);
    *overlap = *axes == 0;
}

/* Resolves an undecided pair of a batch. */
void caromi_resolve_overlap_exact(caromi_exact_pair *pair)
{
    int overlap, axes;
    caromi_exact_overlap_of(pair->in, &overlap, &axes);
    pair->byte[OUT_OVERLAP] = (uint8_t)overlap;
    pair->byte[OUT_AXES] = (uint8_t)axes;
}
