/* SPDX-License-Identifier: MIT */
/* Depth and normal of the stored pairs of a cloud at rest, by the text of the CPU, from keys and spheres alone: so it
 * needs no other column. The host decides the depths that the text leaves undecided. The host names the kernel that it
 * builds. */
#define PAIR_SOLVERS
#include "wide.h"
#include "cloud_columns.h"
#include "cloud_rows.h"

FN w3 columns_center(float4 sphere)
{
    return w3_of(w_f(sphere.x), w_f(sphere.y), w_f(sphere.z));
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
                                 __global const float4 *sphere, uint spheres, __global ulong *undecided,
                                 volatile __global uint *undecided_count, uint capacity, uint wanted,
                                 __global uchar *depth, ulong depth_at, ulong depth_step, __global uchar *x, ulong x_at,
                                 ulong x_step, __global uchar *y, ulong y_at, ulong y_step, __global uchar *z,
                                 ulong z_at, ulong z_step, ulong first, uint items)
{
    const w3 zero = w3_of(w_f(W(0.0)), w_f(W(0.0)), w_f(W(0.0)));
    if (get_global_id(0) >= items)
        return;
    const ulong own = first + get_global_id(0), at = grid_slot(offset, key, of, own);
    const float4 a = sphere[of[own]], b = sphere[min(grid_partner_of(key[own], options), spheres - 1)];
    const uint image = grid_image_of(key[own], options);
    columns_in pair;
    pair.a = columns_center(a);
    pair.b = columns_center(b);
    pair.a_velocity = pair.b_velocity = zero;
    pair.shift = columns_shift(image, period_x, period_y, period_z);
    pair.radius = w_f(a.w) + w_f(b.w);
    pair.ahead = w_f(W(0.0));
    columns_out found = columns_of(pair);
    if ((key[own] & GRID_KEY_STATE) == STATE_TOUCHING)
        found.depth = w_f(W(0.0));
    if (wanted >> GRID_DEPTH & 1)
        resident_store(depth, depth_at + depth_step * at, columns_word(found.depth));
    if (wanted >> GRID_NORMAL_X & 1)
        resident_store(x, x_at + x_step * at, columns_word(found.normal.x));
    if (wanted >> GRID_NORMAL_Y & 1)
        resident_store(y, y_at + y_step * at, columns_word(found.normal.y));
    if (wanted >> GRID_NORMAL_Z & 1)
        resident_store(z, z_at + z_step * at, columns_word(found.normal.z));
    if (!(wanted >> GRID_DEPTH & 1) || found.depth == found.depth || *undecided_count >= GRID_UNDECIDED_MOST)
        return;
    const uint slot = atomic_inc(undecided_count);
    if (slot < capacity)
        undecided[slot] = own;
}
#endif

#ifdef KERNEL_grid_gather_pairs
/* The inputs of stored pairs, for the host: two spheres and the shift. */
__kernel void carom_grid_gather_pairs(__global const ulong *key, __global const uint *of, int options, real period_x,
                                      real period_y, real period_z, __global const float4 *sphere, uint spheres,
                                      __global const ulong *pair, uint first, __global float4 *to, uint pairs,
                                      uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const ulong own = pair[first + i];
        const uint image = grid_image_of(key[own], options);
        to[3 * (size_t)i] = sphere[of[own]];
        to[3 * (size_t)i + 1] = sphere[min(grid_partner_of(key[own], options), spheres - 1)];
        to[3 * (size_t)i + 2] =
            (float4)((real)grid_step_of(image, 0) * period_x, (real)grid_step_of(image, 1) * period_y,
                     (real)grid_step_of(image, 2) * period_z, R(0.0));
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
