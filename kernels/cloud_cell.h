/* SPDX-License-Identifier: MIT */
/* Cells of a cloud's spheres, for kernels: coordinates in units, and buckets. docs/spheres.md, section 11, shows that
 * the cells of a pair are adjacent. */
#ifndef CAROM_CLOUD_CELL_H
#define CAROM_CLOUD_CELL_H
#include "vec.h"
#include "cloud_grid.h"
#include "layout.h"

/* Mask and group of sphere i, of which `options` tells which there are. What a missing one stands for: all bits, and
 * the mask. */
FN uint2 grid_filter(__global const uint *mask, __global const uint *group, uint i, int options)
{
    const uint own = options & CLOUD_MASKED ? mask[i] : 0xffffffffu;
    return (uint2)(own, options & CLOUD_GROUPED ? group[i] : own);
}

/* Whether the masks and groups of two spheres allow a pair. */
FN int grid_passes(uint2 one, uint2 other)
{
    return (one.y & other.x) != 0 && (other.y & one.x) != 0;
}

/* The bin of spheres that must be looked for within `width`. Without the sign, which only a wrong number in memory has:
 * it would lead outside the array. */
FN uint grid_bin(real width)
{
    return as_uint(width) >> 21 & (GRID_BINS - 1);
}

/* The distance within which a sphere meets another of its reach. */
FN real grid_width(real reach, real margin)
{
    return reach + reach + margin;
}

/* The level of a sphere. */
FN uint grid_level_of(G const grid_plan *plan, real reach, real margin, uint index)
{
    const uint level = plan->level_of[grid_bin(grid_width(reach, margin))];
    return min(level + (index >= plan->split ? 1 : 0), GRID_LEVELS - 1u);
}

/* x * 2^exponent cut towards 0 to a whole number, and to +-2^62. In integers: compilers convert to 64 bits through
 * fused multiplications and additions, which kernels do without. */
FN long grid_whole(real x, int exponent)
{
    const uint bits = as_uint(x) & R_MAGNITUDE_MASK, field = bits >> R_EXPONENT_SHIFT;
    const ulong mantissa = (bits & 0x007fffffu) | (field > 0 ? 0x00800000u : 0);
    const int shift = (int)max(field, 1u) - R_EXPONENT_BIAS - R_EXPONENT_SHIFT + exponent;
    ulong whole = shift > -32 ? mantissa >> max(-shift, 0) << max(shift, 0) : 0;
    if (shift > GRID_WHOLE_BITS - 1 - R_EXPONENT_SHIFT)
        whole = mantissa != 0 ? (ulong)1 << GRID_WHOLE_BITS : 0;
    return x < R(0.0) ? -(long)whole : (long)whole;
}

/* `large` and two numbers that are far smaller, in units. The sum is cut to +-2^61, and not before, as a cut `large`
 * would lose the others. */
FN long grid_sum_of_units(real large, real small, real smaller, int exponent)
{
    const long units = grid_whole(large, exponent), whole_most = (long)1 << GRID_WHOLE_BITS;
    const long most = (long)1 << GRID_LAST_UNIT_BITS;
    if (units == whole_most || units == -whole_most)
        return units / 2;
    return min(max(units + grid_whole(small, exponent) + grid_whole(smaller, exponent), -most), most);
}

/* x - anchor in units: the difference and its rounding error, each cut by less than one unit. Halves are subtracted, as
 * the difference of two large numbers may overflow. */
FN long grid_units(real x, real anchor, G const grid_level *level)
{
    const real a = x * R(0.5), b = anchor * R(0.5), d = a - b;
    return grid_sum_of_units(d, v_sub_error(a, b, d), R(0.0), level->exponent + 1);
}

/* x + shift - anchor in units: two sums and their errors, of which the first is added to the second sum, as that may
 * cancel. Quarters do not overflow. */
FN long grid_shifted_units(real x, real shift, real anchor, G const grid_level *level)
{
    const real a = x * R(0.25), b = anchor * R(0.25), d = a - b, error = v_sub_error(a, b, d);
    const real back = shift * R(-0.25), s = d - back, sum = s + error;
    return grid_sum_of_units(sum, v_sub_error(s, -error, sum), v_sub_error(d, back, s), level->exponent + 2);
}

/* The number of the cell along an axis, without its upper half. */
FN uint grid_cell(long units, G const grid_level *level)
{
    return (uint)mul_hi((ulong)(units + ((long)1 << (GRID_LAST_UNIT_BITS + 1))), level->per_unit);
}

/* Cells that a sphere's search goes through along an axis: at most three, as its reach is less than a cell. A cut to
 * three keeps a wrong number in memory from making the search endless. */
typedef struct grid_range {
    uint low, count, own; /* own: the sphere's cell is low + own */
} grid_range;

/* at: the sphere's coordinate in units. */
FN grid_range grid_range_of(long at, long reach, G const grid_level *level)
{
    grid_range r;
    r.low = grid_cell(at - reach, level);
    r.count = min(grid_cell(at + reach, level) - r.low + 1, 3u);
    r.own = grid_cell(at, level) - r.low;
    return r;
}

/* In units, not less than the distance within which the centres of two spheres are that may be a pair, and less than
 * the width of a cell. */
FN long grid_reach(real own, real margin, G const grid_level *level)
{
    const real reach = own + level->reach + margin;
    return level->per_unit == 0 ? 0 : grid_whole(reach + reach * R(0x1p-16), level->exponent) + 8;
}

/* The number of a cell's bucket behind level->base. */
FN uint grid_bucket(uint x, uint y, uint z, G const grid_level *level)
{
    return (x + y * level->stride_y + z * level->stride_z) & level->mask;
}
#endif
