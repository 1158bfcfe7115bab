/* SPDX-License-Identifier: MIT */
/* Broad phase of a cloud on a device. The host builds the cells, and cuts the comparisons into items: a sphere and up
 * to CLOUD_ITEM others that are adjacent in the columns. A work-item tests one item and stores a bit for each sphere,
 * so no output slot is claimed by an atomic. Undecided pairs are gathered into columns, which the pair programs `cloud`
 * and `cloud_exact` read. The host names the kernel that it builds: -DKERNEL_cloud_test or _gather. */
#include "cloud_test.h"

#ifdef KERNEL_cloud_test
/* Bit i of an item's words stands for sphere begin + i. Columns are readable LANES reals beyond their last element. */
__kernel void carom_cloud_test(__global const real *x, __global const real *y, __global const real *z,
                               __global const real *reach, __global const int *mask, real margin, int options,
                               __global const uint *slot, __global const uint *begin, __global const uint *length,
                               __global uint *some, __global uint *certain, __global uint *near, uint items)
{
    const size_t i = get_global_id(0);
    if (i >= items)
        return;
    const uint own = slot[i], first = begin[i], count = length[i];
    const v3 at = v3_of(v_f(x[own]), v_f(y[own]), v_f(z[own]));
    const vf own_reach = v_f(reach[own]);
    const vi own_mask = v_i(options & CLOUD_MASKED ? mask[own] : 0);
    cloud_lanes_found all = {0, 0, 0};
    for (uint j = 0; j < count; j += LANES) {
        const uint from = first + j;
        const v3 d = v3_sub(v3_of(v_load(x + from), v_load(y + from), v_load(z + from)), at);
        cloud_lanes_found found = cloud_compare(d, v_load(reach + from) + own_reach, v_f(margin), options);
        if (options & CLOUD_MASKED)
            found = cloud_keep(found, v_bitmask(v_not(vi_eq(v_load(mask + from) & own_mask, v_i(0)))));
        all.some |= found.some << j;
        all.certain |= found.certain << j;
        all.near |= found.near << j;
    }
    all = cloud_keep(all, count < CLOUD_ITEM ? ((u32)1 << count) - 1 : ~(u32)0);
    some[i] = all.some;
    certain[i] = all.certain;
    near[i] = all.near;
}
#endif

#ifdef KERNEL_cloud_gather
#define GATHER(to, from, at) to[i] = from[at]
/* Gathers the columns of a pair program from the slots of a and b and b's image, numbered as in host/cloud/cloud.h.
 * moves: the spheres have velocities and limits. */
__kernel void carom_cloud_gather(__global const real *x, __global const real *y, __global const real *z,
                                 __global const real *radius, __global const real *vx, __global const real *vy,
                                 __global const real *vz, __global const real *limit, int moves, real margin,
                                 real period_x, real period_y, real period_z, __global const uint *a,
                                 __global const uint *b, __global const uint *image, __global real *ax,
                                 __global real *ay, __global real *az, __global real *avx, __global real *avy,
                                 __global real *avz, __global real *ar, __global real *bx, __global real *by,
                                 __global real *bz, __global real *bvx, __global real *bvy, __global real *bvz,
                                 __global real *br, __global real *shift_x, __global real *shift_y,
                                 __global real *shift_z, __global real *margins, __global real *limits, uint pairs)
{
    const size_t i = get_global_id(0);
    if (i >= pairs)
        return;
    const uint p = a[i], q = b[i], of_b = image[i];
    const real at_rest = R(0.0), never = real_of_bits(R_INFINITY_BITS);
    GATHER(ax, x, p);
    GATHER(ay, y, p);
    GATHER(az, z, p);
    GATHER(ar, radius, p);
    GATHER(bx, x, q);
    GATHER(by, y, q);
    GATHER(bz, z, q);
    GATHER(br, radius, q);
    avx[i] = moves ? vx[p] : at_rest;
    avy[i] = moves ? vy[p] : at_rest;
    avz[i] = moves ? vz[p] : at_rest;
    bvx[i] = moves ? vx[q] : at_rest;
    bvy[i] = moves ? vy[q] : at_rest;
    bvz[i] = moves ? vz[q] : at_rest;
    shift_x[i] = (real)((int)(of_b / 9) - 1) * period_x;
    shift_y[i] = (real)((int)(of_b / 3 % 3) - 1) * period_y;
    shift_z[i] = (real)((int)(of_b % 3) - 1) * period_z;
    margins[i] = margin;
    const real limit_a = moves ? limit[p] : never, limit_b = moves ? limit[q] : never;
    limits[i] = limit_a < limit_b ? limit_a : limit_b;
}
#endif
