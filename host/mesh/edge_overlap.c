/* SPDX-License-Identifier: MIT */
/* The part in double-double arithmetic, because its ends are ill-conditioned where edges are nearly parallel and nearly
 * the distance apart. Where coordinates have few digits, all but roots and quotients is exact. */
#include "double_double.h"

typedef caromi_dd number;
#define NUM(x) \
    {          \
        x, 0.0 \
    }
#define NUM_HIGH(x) ((x).hi)
#define PARALLEL_SINE2 0x1p-190
#define num_of_sum caromi_dd_of_sum
#define num_of_product caromi_dd_of_product
#define num_add caromi_dd_add
#define num_subtract caromi_dd_subtract
#define num_negate caromi_dd_negate
#define num_multiply caromi_dd_multiply
#define num_divide caromi_dd_divide
#define num_root caromi_dd_root
#define num_less caromi_dd_less
#define CAROMI_HAS_PART caromi_edge_has_part
#include "edge_overlap_template.h"

/* How far the ends in binary64 are off, at most, as a length and as a share of the distance. */
#define SLACK 0x1p-40
#define FILTER_LEAST 0x1p-32 /* the least distance for which that holds */
#define OVERLAP_LEAST 8.0    /* the least length of the part, as a multiple of the distance */

/* The filter first: a longer part within less than the distance, or no shorter part within more. */
static int has_part(const double one[2][3], const double other[2][3], double distance)
{
    const double less = 1.0 - SLACK, more = 1.0 + SLACK, least = OVERLAP_LEAST * distance;
    if (distance > FILTER_LEAST) {
        if (!caromi_edge_has_part_filter(one, other, distance * more + SLACK, least * less - SLACK))
            return 0;
        if (caromi_edge_has_part_filter(one, other, distance * less - SLACK, least * more + SLACK))
            return 1;
    }
    return caromi_edge_has_part(one, other, distance, least);
}

int caromi_edges_overlap(const double one[2][3], const double other[2][3], double distance)
{
    return has_part(one, other, distance) || has_part(other, one, distance);
}
