/* SPDX-License-Identifier: MIT */
/* The stored pairs of a cloud: each is a key in the row of its sphere a. Keys of a long row are sorted before they are
 * read; those of a short one are in no order. */
#ifndef CAROM_CLOUD_ROWS_H
#define CAROM_CLOUD_ROWS_H
#include "cloud_grid.h"
#include "lang.h"
#include "layout.h"
#include "resident.h"
#include "vec.h"

FN int grid_is_long(ulong begin, ulong end)
{
    return end - begin > GRID_LONG_ROW;
}

/* The slot of a pair in the list, from the number of its key. */
FN ulong grid_slot(__global const ulong *offset, __global const ulong *key, __global const uint *of, ulong own)
{
    const ulong begin = offset[of[own]], end = offset[of[own] + 1], mine = key[own];
    ulong rank = 0;
    if (grid_is_long(begin, end))
        return own;
    LANG_ROLLED
    for (ulong k = begin; k < end; k++)
        rank += key[k] < mine ? 1 : 0;
    return begin + rank;
}

/* The key without t and state: b and its image. */
FN ulong grid_key_of(uint b, uint image, int options)
{
    return options & GRID_IMAGED ? (ulong)b << GRID_KEY_IMAGED_B_SHIFT | (ulong)image << GRID_KEY_IMAGE_SHIFT
                                 : (ulong)b << GRID_KEY_B_SHIFT;
}

FN ulong grid_key_of_time(real t)
{
    return (ulong)as_uint(t) << GRID_KEY_T_SHIFT;
}

/* Whether b may have bits where those of t begin: t is 0 or infinity then, which have none there. */
FN int grid_has_wide_partners(int options)
{
    return (options & (GRID_IMAGED | GRID_MOVING)) == GRID_IMAGED;
}

FN real grid_time_of(ulong key, int options)
{
    const uint bits = (uint)(key >> GRID_KEY_T_SHIFT);
    return as_float(grid_has_wide_partners(options) ? bits & R_INFINITY_BITS : bits);
}

FN uint grid_partner_of(ulong key, int options)
{
    const uint most = (options & GRID_IMAGED) == 0      ? 0x7fffffff
                      : grid_has_wide_partners(options) ? GRID_IMAGED_SPHERES_MOST - 1
                                                        : GRID_IMAGED_MOVING_MOST - 1;
    return (uint)(key >> (options & GRID_IMAGED ? GRID_KEY_IMAGED_B_SHIFT : GRID_KEY_B_SHIFT)) & most;
}

FN uint grid_image_of(ulong key, int options)
{
    return options & GRID_IMAGED ? (uint)(key >> GRID_KEY_IMAGE_SHIFT) & 31 : GRID_IMAGE_OWN;
}

/* An undecided pair: slots of spheres a < b, and the image of b. */
FN uint2 grid_undecided_of(uint a, uint b, uint image)
{
    return (uint2)(a | (image & 7) << GRID_SLOT_BITS, b | image >> 3 << GRID_SLOT_BITS);
}
FN uint grid_slot_of(uint word)
{
    return word & (GRID_SPHERES_MOST - 1);
}
FN uint grid_image_of_undecided(uint2 pair)
{
    return pair.x >> GRID_SLOT_BITS | pair.y >> GRID_SLOT_BITS << 3;
}

/* The periods by which an image is shifted along each axis: -1, 0 or 1. */
FN int grid_step_of(uint image, int axis)
{
    return (int)(axis == 0 ? image / 9 : axis == 1 ? image / 3 % 3 : image % 3) - 1;
}

/* By how much an image is shifted, in a box with these periods. */
FN v3 grid_shift(uint image, real x, real y, real z)
{
    return v3_of((real)grid_step_of(image, 0) * x, (real)grid_step_of(image, 1) * y, (real)grid_step_of(image, 2) * z);
}
#endif
