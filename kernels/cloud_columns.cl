/* SPDX-License-Identifier: MIT */
/* Depth and normal of the stored pairs of a cloud, by the text of the CPU, from keys and spheres alone: so it needs no
 * other column. The host decides the depths that the text leaves undecided, and the normals, which are so in motion
 * alone. The host names the kernel that it builds. */
#define PAIR_SOLVERS
#include "wide.h"
#include "cloud_columns.h"
#include "cloud_rows.h"

FN w3 columns_center(float4 sphere)
{
    return w3_of(w_f(sphere.x), w_f(sphere.y), w_f(sphere.z));
}

FN w3 columns_velocity(float4 motion)
{
    return w3_of(w_f(motion.x), w_f(motion.y), w_f(motion.z));
}

FN uint columns_word(wf x)
{
    return real_bits((real)columns_number(x));
}

/* A product of one step and a period is exact. */
FN w3 columns_shift(uint image, real x, real y, real z)
{
    return w3_of(w_f((real)grid_step_of(image, 0) * x), w_f((real)grid_step_of(image, 1) * y),
                 w_f((real)grid_step_of(image, 2) * z));
}

#ifdef KERNEL_grid_columns
/* Columns of pairs [first, first + items), of which `wanted` has a bit each. Elements are `step` bytes apart. */
__kernel void carom_grid_columns(__global const ulong *offset, __global const ulong *key, __global const uint *of,
                                 int options, real period_x, real period_y, real period_z,
                                 __global const float4 *sphere, __global const float4 *motion, uint spheres,
                                 __global ulong *undecided, volatile __global uint *undecided_count, uint capacity,
                                 uint wanted, __global uchar *depth, ulong depth_at, ulong depth_step,
                                 __global uchar *x, ulong x_at, ulong x_step, __global uchar *y, ulong y_at,
                                 ulong y_step, __global uchar *z, ulong z_at, ulong z_step, ulong first, uint items)
{
    const w3 zero = w3_of(w_f(W(0.0)), w_f(W(0.0)), w_f(W(0.0)));
    if (get_global_id(0) >= items)
        return;
    const ulong own = first + get_global_id(0), at = grid_slot(offset, key, of, own);
    const uint one = of[own], other = min(grid_partner_of(key[own], options), spheres - 1);
    const float4 a = sphere[one], b = sphere[other];
    const uint image = grid_image_of(key[own], options), state = (uint)(key[own] & GRID_KEY_STATE);
    columns_in pair;
    pair.a = columns_center(a);
    pair.b = columns_center(b);
    pair.a_velocity = options & GRID_MOVING ? columns_velocity(motion[one]) : zero;
    pair.b_velocity = options & GRID_MOVING ? columns_velocity(motion[other]) : zero;
    pair.shift = columns_shift(image, period_x, period_y, period_z);
    pair.radius = w_f(a.w) + w_f(b.w);
    pair.ahead = w_f(state == STATE_APPROACHING ? W(1.0) : W(0.0));
    columns_out found = columns_of(pair);
    if (state == STATE_TOUCHING || state == STATE_APPROACHING)
        found.depth = w_f(W(0.0));
    if (wanted >> GRID_DEPTH & 1)
        resident_store(depth, depth_at + depth_step * at, columns_word(found.depth));
    if (wanted >> GRID_NORMAL_X & 1)
        resident_store(x, x_at + x_step * at, columns_word(found.normal.x));
    if (wanted >> GRID_NORMAL_Y & 1)
        resident_store(y, y_at + y_step * at, columns_word(found.normal.y));
    if (wanted >> GRID_NORMAL_Z & 1)
        resident_store(z, z_at + z_step * at, columns_word(found.normal.z));
    const int needs_depth = (wanted >> GRID_DEPTH & 1) && found.depth != found.depth;
    const int needs_normal = wanted >> GRID_NORMAL_X != 0 && found.normal.x != found.normal.x;
    if (!(needs_depth || needs_normal) || *undecided_count >= GRID_UNDECIDED_MOST)
        return;
    const uint slot = atomic_inc(undecided_count);
    if (slot < capacity)
        undecided[slot] = own;
}
#endif

#ifdef KERNEL_grid_gather_pairs
/* The inputs of stored pairs, for the host: two spheres and the shift; in motion, where `each` is 5, also both motions,
 * and behind the shift 1 of a first contact that is ahead. */
__kernel void carom_grid_gather_pairs(__global const ulong *key, __global const uint *of, int options, real period_x,
                                      real period_y, real period_z, __global const float4 *sphere,
                                      __global const float4 *motion, uint spheres, __global const ulong *pair,
                                      uint first, uint each, __global float4 *to, uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const ulong own = pair[first + i];
        const uint one = of[own], other = min(grid_partner_of(key[own], options), spheres - 1);
        const uint image = grid_image_of(key[own], options);
        const int is_ahead = (key[own] & GRID_KEY_STATE) == STATE_APPROACHING;
        __global float4 *row = to + each * (size_t)i;
        row[0] = sphere[one];
        row[1] = sphere[other];
        row[2] = (float4)((real)grid_step_of(image, 0) * period_x, (real)grid_step_of(image, 1) * period_y,
                          (real)grid_step_of(image, 2) * period_z, is_ahead ? R(1.0) : R(0.0));
        if (each < 5)
            continue;
        row[3] = motion[one];
        row[4] = motion[other];
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_put_depth
/* Depths that the host has decided. */
__kernel void carom_grid_put_depth(__global const ulong *offset, __global const ulong *key, __global const uint *of,
                                   __global const ulong *pair, uint first, __global const real *decided,
                                   __global uchar *depth, ulong depth_at, uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    resident_store(depth, depth_at + sizeof(real) * grid_slot(offset, key, of, pair[first + i]), real_bits(decided[i]));
    (void)items;
}
#endif

#ifdef KERNEL_grid_put_columns
/* Numbers of pairs in motion that the host has decided, as depth and normal of each: of a first contact that is ahead
 * the normal was undecided, of others the depth. Columns of the mask `wanted`. */
__kernel void carom_grid_put_columns(__global const ulong *offset, __global const ulong *key, __global const uint *of,
                                     __global const ulong *pair, uint first, __global const float4 *decided,
                                     uint wanted, __global uchar *depth, ulong depth_at, ulong depth_step,
                                     __global uchar *x, ulong x_at, ulong x_step, __global uchar *y, ulong y_at,
                                     ulong y_step, __global uchar *z, ulong z_at, ulong z_step, uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const ulong own = pair[first + i], at = grid_slot(offset, key, of, own);
        const int is_ahead = (key[own] & GRID_KEY_STATE) == STATE_APPROACHING;
        if (!is_ahead && (wanted >> GRID_DEPTH & 1))
            resident_store(depth, depth_at + depth_step * at, real_bits(decided[i].x));
        if (is_ahead && (wanted >> GRID_NORMAL_X & 1))
            resident_store(x, x_at + x_step * at, real_bits(decided[i].y));
        if (is_ahead && (wanted >> GRID_NORMAL_Y & 1))
            resident_store(y, y_at + y_step * at, real_bits(decided[i].z));
        if (is_ahead && (wanted >> GRID_NORMAL_Z & 1))
            resident_store(z, z_at + z_step * at, real_bits(decided[i].w));
    }
    (void)items;
}
#endif
