/* SPDX-License-Identifier: MIT */
/* Sorts the spheres of a cloud into cells, on a GPU: reads them, measures them, plans levels, and counts, sums and
 * scatters. The order of spheres within a cell depends on atomic additions; no answer depends on that order. The host
 * names the kernel that it builds, and runs them in this order, with the prefix sum (cloud_sum.cl) before the last. */
#include "cloud_cell.h"

#ifdef KERNEL_grid_read
/* Stores centre and reach of spheres [first, first + spheres); a sphere with an input that is not finite or a negative
 * radius has reach -1. */
__kernel void carom_grid_read(__global const real *x, __global const real *y, __global const real *z,
                              __global const real *radius, __global const uint *mask, __global const uint *group,
                              int options, int is_filtered, uint first, __global float4 *sphere, __global uint2 *filter,
                              uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    {
        const v3 at = v3_of(x[i], y[i], z[i]);
        const real r = radius[i];
        const int is_valid = v3_finite(at) && v_finite(r) && r >= R(0.0);
        sphere[first + i] = (float4)(at.x, at.y, at.z, is_valid ? v_abs(r) : R(-1.0));
        if (is_filtered)
            filter[first + i] = grid_filter(mask, group, i, options);
    }
    (void)items;
}
#endif

/* Unsigned integers in the order of the numbers. */
FN uint grid_ordered(real x)
{
    const uint bits = as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
FN real grid_number(uint ordered)
{
    return as_float(ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered);
}

#ifdef KERNEL_grid_measure
/* The size that the histogram goes by: the width or, with GRID_BY_REACH, the reach, whose bins are the CPU's classes.
 */
FN real grid_size(real reach, real margin)
{
#ifdef GRID_BY_REACH
    (void)margin;
    return reach;
#else
    return grid_width(reach, margin);
#endif
}

/* Bounds of all valid spheres, and their histogram by size. Each group adds up its spheres in local memory first. */
__kernel void carom_grid_measure(__global const float4 *sphere, real margin, uint split, uint spheres,
                                 __global grid_measure *measure, uint items)
{
    volatile __local uint count[GRID_BINS], reach[GRID_BINS], second[GRID_BINS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint above[3] = {0, 0, 0}, below[3] = {0, 0, 0}; /* bounds, as in grid_measure */
    for (uint k = item; k < GRID_BINS; k += size)
        count[k] = reach[k] = second[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    GRID_FOR_EACH(i, spheres)
    {
        const float4 s = sphere[i];
        const uint at[3] = {grid_ordered(s.x), grid_ordered(s.y), grid_ordered(s.z)};
        if (s.w < R(0.0))
            continue;
        const uint bin = grid_bin(grid_size(s.w, margin));
        atomic_inc(&count[bin]);
        if (i >= split)
            atomic_inc(&second[bin]);
        atomic_max(&reach[bin], as_uint(s.w));
        for (int k = 0; k < 3; k++) {
            above[k] = max(above[k], at[k]);
            below[k] = max(below[k], ~at[k]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < GRID_BINS; k += size) {
        if (count[k] == 0)
            continue;
        atomic_add(&measure->count[k], count[k]);
        if (second[k] > 0)
            atomic_add(&measure->second[k], second[k]);
        atomic_max(&measure->reach[k], reach[k]);
    }
    for (int k = 0; k < 3; k++) {
        atomic_max(&measure->above[k], above[k]);
        atomic_max(&measure->below[k], below[k]);
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_plan
/* A sample of the spheres, and its median along each axis: where most of them are. */
typedef struct grid_sample {
    real at[3][GRID_GROUP];
    uint is_valid[GRID_GROUP];
    real median[3];
} grid_sample;

FN void grid_set_median(__local grid_sample *s, uint own, int axis, uint valid)
{
    const real x = s->at[axis][own];
    uint rank = 0;
    for (uint k = 0; k < GRID_GROUP; k++) {
        const real other = s->at[axis][k];
        rank += s->is_valid[k] && (other < x || (other == x && k < own)) ? 1 : 0;
    }
    if (rank == valid / 2)
        s->median[axis] = x;
}

FN void grid_draw_sample(__local grid_sample *s, __global const float4 *sphere, uint spheres)
{
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint valid = 0;
    for (uint k = item; k < GRID_GROUP; k += size) {
        const float4 one = sphere[(ulong)k * spheres / GRID_GROUP];
        s->at[0][k] = one.x;
        s->at[1][k] = one.y;
        s->at[2][k] = one.z;
        s->is_valid[k] = one.w >= R(0.0);
    }
    for (uint k = item; k < 3; k += size)
        s->median[k] = R(0.0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < GRID_GROUP; k++)
        valid += s->is_valid[k];
    for (uint k = item; k < GRID_GROUP; k += size)
        for (int axis = 0; axis < 3 && s->is_valid[k]; axis++)
            grid_set_median(s, k, axis, valid);
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The largest k with 2^k <= x. For normal x. */
FN int grid_log2(real x)
{
    return (int)(as_uint(x) >> R_EXPONENT_SHIFT) - R_EXPONENT_BIAS;
}

/* 2^64 / x, rounded down, for x > 1: by long division, as compilers divide through fused operations. */
FN ulong grid_reciprocal(ulong x)
{
    ulong quotient = 0, rest = 1;
    for (int bit = 0; bit < 64; bit++) {
        rest += rest;
        quotient += quotient;
        if (rest >= x) {
            rest -= x;
            quotient++;
        }
    }
    return quotient;
}

/* Cells as wide as needed, with 2^-14 more than the widest pair for all roundings. Pairs wider than 2^125 have one cell
 * for all. */
FN void grid_set_cells(__global grid_level *level, real margin)
{
    const real needed = grid_width(level->reach, margin), wide = needed + needed * R(0x1p-14);
    const real width = wide < R(0x1p-120) ? R(0x1p-120) : wide;
    level->per_unit = 0;
    level->exponent = 0;
    if (!(width < R(0x1p125)))
        return;
    level->exponent = GRID_UNIT_BITS - grid_log2(width);
    level->per_unit = grid_reciprocal((ulong)grid_whole(width, level->exponent));
}

/* Cells along an axis around all spheres, with a border of one. */
FN uint grid_cells_along(__global const grid_level *level, __global const grid_measure *measure, real anchor, int axis)
{
    const uint low = grid_cell(grid_units(grid_number(~measure->below[axis]), anchor, level), level);
    const uint high = grid_cell(grid_units(grid_number(measure->above[axis]), anchor, level), level);
    return high - low < 0xfffffff0u ? high - low + 3 : 0xffffffffu;
}

/* Buckets in the order of cells if the grid fits into the table; else cells are spread over it. */
FN void grid_set_table(__global grid_level *level, __global const grid_measure *measure,
                       __local const grid_sample *sample)
{
    const uint x = grid_cells_along(level, measure, sample->median[0], 0);
    const uint y = grid_cells_along(level, measure, sample->median[1], 1);
    const uint z = grid_cells_along(level, measure, sample->median[2], 2);
    const real rounded = R(0.99); /* both sides are */
    const int fits = (real)x * (real)y * (real)z <= (real)level->mask * rounded;
    level->stride_y = fits ? x : GRID_STRIDE_Y;
    level->stride_z = fits ? x * y : GRID_STRIDE_Z;
}

/* The histogram of a cloud, as in grid_measure. */
typedef struct grid_bins {
    uint count[GRID_BINS], reach[GRID_BINS], second[GRID_BINS];
} grid_bins;

/* A level for each of `clouds`, without spheres yet. */
FN void grid_begin_levels(__global grid_plan *plan, __local uint *of_level, uint first, uint clouds, real reach)
{
    for (uint level = first; level < first + clouds; level++) {
        plan->level[level].reach = reach;
        of_level[level] = 0;
    }
}

/* Puts spheres of at least half the width of a level's largest into that level. Returns the number of levels: at least
 * one of each cloud, even without spheres. */
FN uint grid_choose_levels(__global grid_plan *plan, __local const grid_bins *bins, __local uint *of_level, real margin,
                           uint clouds)
{
    uint levels = 0;
    real widest = R(0.0);
    for (int bin = GRID_BINS - 1; bin >= 0; bin--) {
        const uint count = bins->count[bin], second = bins->second[bin];
        const real width = grid_width(as_float(bins->reach[bin]), margin);
        const int is_finer = count > 0 && (levels == 0 || width + width < widest);
        if (is_finer && levels < GRID_LEVELS) {
            grid_begin_levels(plan, of_level, levels, clouds, as_float(bins->reach[bin]));
            levels += clouds;
            widest = width;
        }
        plan->level_of[bin] = max(levels, clouds) - clouds;
        if (levels == 0)
            continue;
        of_level[levels - clouds] += count - second;
        of_level[levels - 1] += second;
    }
    if (levels > 0)
        return levels;
    grid_begin_levels(plan, of_level, 0, clouds, R(0.0));
    return clouds;
}

/* Gives each level a table of buckets. Tables of wrong numbers would not fit: all levels then share the least one. */
FN uint grid_share_buckets(__global grid_plan *plan, __local const uint *of_level, uint levels, uint spheres)
{
    uint buckets = 0;
    ulong all = 0;
    for (uint l = 0; l < levels; l++)
        all += of_level[l];
    for (uint l = 0; l < levels; l++) {
        uint table = GRID_TABLE_LEAST;
        while (all <= spheres && table < of_level[l] + of_level[l])
            table += table;
        plan->level[l].base = all <= spheres ? buckets : 0;
        plan->level[l].mask = table - 1;
        plan->level[l].spheres = of_level[l];
        buckets += table;
    }
    return buckets;
}

/* From which coordinate on an image of a sphere may touch another one. All numbers are eighths, which do not overflow.
 */
FN void grid_find_images(__global grid_plan *plan, __global const grid_measure *measure, real margin, real period,
                         int axis)
{
    const real part = R(0.125), low = grid_number(~measure->below[axis]) * part,
               high = grid_number(measure->above[axis]) * part;
    const real reach = (plan->level[0].reach * part + margin * part) * R(1.000244140625); /* 1 + 2^-12 */
    const real slack = (max(v_abs(low), v_abs(high)) + period * part) * R(0x1p-20) + R(0x1p-140);
    plan->below[axis] = high - period * part + reach + slack;
    plan->above[axis] = low + period * part - reach - slack;
    plan->period[axis] = plan->level_count > 0 && plan->above[axis] <= high + reach ? period : R(0.0);
}

__kernel void carom_grid_plan(__global const float4 *sphere, real margin, real period_x, real period_y, real period_z,
                              uint split, uint spheres, __global const grid_measure *measure, __global grid_plan *plan,
                              uint items)
{
    __local grid_sample sample;
    __local grid_bins bins;
    __local uint of_level[GRID_LEVELS], levels;
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    (void)items;
    if (get_group_id(0) != 0)
        return;
    grid_draw_sample(&sample, sphere, spheres);
    for (uint k = item; k < GRID_BINS; k += size) {
        bins.count[k] = measure->count[k];
        bins.reach[k] = measure->reach[k];
        bins.second[k] = measure->second[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        levels = grid_choose_levels(plan, &bins, of_level, margin, split == GRID_ONE_CLOUD ? 1 : 2);
        plan->level_count = levels;
        plan->split = split;
        plan->buckets = grid_share_buckets(plan, of_level, levels, spheres);
        for (int k = 0; k < 3; k++)
            plan->anchor[k] = sample.median[k];
        grid_find_images(plan, measure, margin, period_x, 0);
        grid_find_images(plan, measure, margin, period_y, 1);
        grid_find_images(plan, measure, margin, period_z, 2);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint l = item; l < levels; l += size) {
        grid_set_cells(&plan->level[l], margin);
        grid_set_table(&plan->level[l], measure, &sample);
    }
}
#endif

#ifdef KERNEL_grid_assign
/* The bucket of each valid sphere and its rank within the bucket, by an atomic addition. */
__kernel void carom_grid_assign(__global const float4 *sphere, real margin, __global const grid_plan *plan,
                                __global uint *bucket, __global uint *rank, volatile __global uint *per_bucket,
                                uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    {
        const float4 s = sphere[i];
        rank[i] = 0;
        if (s.w < R(0.0))
            continue;
        __global const grid_level *level = &plan->level[grid_level_of(plan, s.w, margin, i)];
        const uint own = level->base + grid_bucket(grid_cell(grid_units(s.x, plan->anchor[0], level), level),
                                                   grid_cell(grid_units(s.y, plan->anchor[1], level), level),
                                                   grid_cell(grid_units(s.z, plan->anchor[2], level), level), level);
        bucket[i] = own;
        rank[i] = atomic_inc(per_bucket + own);
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_scatter
__kernel void carom_grid_scatter(__global const float4 *sphere, __global const uint2 *filter, int is_filtered,
                                 __global const uint *bucket, __global const uint *rank, __global const uint *start,
                                 __global float4 *sorted, __global uint *sorted_index, __global uint2 *sorted_filter,
                                 volatile __global grid_totals *totals, uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    {
        if (sphere[i].w < R(0.0))
            continue;
        const uint slot = start[bucket[i]] + rank[i];
        if (slot >= spheres) {
            atomic_or(&totals->faults, 1u);
            continue;
        }
        sorted[slot] = sphere[i];
        sorted_index[slot] = i;
        if (is_filtered)
            sorted_filter[slot] = filter[i];
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_clear
__kernel void carom_grid_clear(__global uint *to, uint words, uint items)
{
    GRID_FOR_EACH(i, words)
    to[i] = 0;
    (void)items;
}
#endif
