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
/* Squares above the first may overflow: such pairs stay undecided. Quotients of squares below the second have no
 * correct digits. */
#define CLOUD_SQUARE_MOST R(0x1p120)
#define CLOUD_SQUARE_LEAST R(0x1p-100)

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

/* Which pairs, at the offset d and the relative velocity v, may meet between two times, and which certainly overlap at
 * the first of these. `more`: error bound of the offsets. docs/spheres.md, section 9. */
FN cloud_lanes_found cloud_meet(v3 d, v3 v, vf radius, vf first, vf last, vf more)
{
    const vf error = (radius + v_abs(d.x) + v_abs(d.y) + v_abs(d.z)) * v_f(R(0x1p-15)) + more;
    const vf speed2 = v3_dot(v, v), d2 = v3_dot(d, d), zero = v_f(R(0.0));
    /* The time of the nearest approach within the slice. Slow pairs have no such time, so their whole path is added. */
    const vm is_slow = v_lt(speed2, v_f(CLOUD_SQUARE_LEAST));
    const vf path = v_sel(is_slow, (v_abs(v.x) + v_abs(v.y) + v_abs(v.z)) * last, zero);
    const vf time = v_sel(is_slow, zero, v_min(v_max(-(v3_dot(d, v) / speed2), first), last));
    const v3 nearest_offset = v3_add(d, v3_mul(v, time)), first_offset = v3_add(d, v3_mul(v, first));
    const vf outer = radius + error + path, inner = radius - error;
    /* Apart at the nearest approach; overlapping at the begin of the slice. */
    const vm apart = v_gt(v3_dot(nearest_offset, nearest_offset), outer * outer * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY));
    const vm has_begun = v_and(v_lt(zero, inner), cloud_is_below(v3_dot(first_offset, first_offset), inner * inner));
    const cloud_lanes_found tested = {v_bitmask(v_not(v_and(apart, v_lt(d2 + speed2, v_f(CLOUD_SQUARE_MOST))))),
                                      v_bitmask(has_begun), 0};
    return tested;
}

/* Lanes in which both numbers have a common bit. A pair needs a bit of each sphere's group in the other's mask. */
FN u32 cloud_common(vi group, vi mask)
{
    return v_bitmask(v_not(vi_eq(group & mask, v_i(0))));
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
