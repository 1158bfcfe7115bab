/* SPDX-License-Identifier: MIT */
/* Broad phase test of a cloud: a sphere against LANES others, for the CPU's scan and the device's program. It tells
 * which may be pairs, and which certainly are. Squares in binary32 err by a few units in the last place, and by 2^-147
 * where they underflow: docs/spheres.md, section 7. Pairs between the two bounds are undecided. */
#ifndef CAROM_CLOUD_TEST_H
#define CAROM_CLOUD_TEST_H
#include "layout.h"
#include "vec.h"

/* Factors and a term that widen a squared distance by more than its roundings. */
#define CLOUD_ABOVE R(1.00000381) /* 1 + 2^-18 */
#define CLOUD_BELOW R(0.99999237) /* 1 - 2^-17 */
#define CLOUD_TINY R(0x1p-140)    /* where squares underflow */

/* Bitmasks of lanes: spheres that may be partners. Some of them certainly overlap, or are certainly within the margin
 * without overlap. */
typedef struct cloud_lanes_found {
    u32 some, certain, near;
} cloud_lanes_found;

/* Certainly below, which requires a square that has not overflowed. */
FN vm cloud_is_below(vf distance2, vf reach2)
{
    return v_and(v_lt(reach2, v_infinity()), v_lt(distance2, reach2 * v_f(CLOUD_BELOW) - v_f(CLOUD_TINY)));
}

/* Classifies spheres at the offset d. contact: sum of the reaches. Masks are not tested. */
FN cloud_lanes_found cloud_compare(v3 d, vf contact, vf margin, int options)
{
    const vf distance2 = v3_dot(d, d);
    const vf most = options & CLOUD_MARGIN ? contact + margin : contact, most2 = most * most;
    const vm some = v_le(distance2, most2 * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY));
    cloud_lanes_found found;
    found.some = v_bitmask(some);
    found.certain = found.near = 0;
    if (options & CLOUD_BOUNDS_ONLY)
        return found;
    /* Certain overlaps, and spheres that are certainly within the margin alone. */
    const vf contact2 = options & CLOUD_MARGIN ? contact * contact : most2;
    found.certain = v_bitmask(v_and(some, cloud_is_below(distance2, contact2)));
    if (options & CLOUD_MARGIN) {
        const vm is_out = v_gt(distance2, contact2 * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY));
        found.near = v_bitmask(v_and(some, v_and(is_out, cloud_is_below(distance2, most2))));
    }
    return found;
}

/* The result for the given lanes alone. */
FN cloud_lanes_found cloud_keep(cloud_lanes_found found, u32 lanes)
{
    found.some &= lanes;
    found.certain &= lanes;
    found.near &= lanes;
    return found;
}
#endif
