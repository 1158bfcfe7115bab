/* SPDX-License-Identifier: MIT */
/* Broad phase of a cloud on a device. The host builds the cells, and cuts the comparisons into items: a sphere and up
 * to CLOUD_ITEM others that are adjacent in the columns. A work-item tests one item and stores a bit for each sphere,
 * so no output slot is claimed by an atomic. Undecided pairs are gathered into columns, which the pair programs `cloud`
 * and `cloud_exact` read. The host names the kernel that it builds: -DKERNEL_cloud_test or _gather. */
#include "cloud_test.h"

#ifdef KERNEL_cloud_test
/* Bit i of an item's words stands for sphere begin + i. Columns are readable LANES reals beyond their last element. */
__kernel void carom_cloud_test(__global const real *x, __global const real *y, __global const real *z,
                               __global const real *reach, __global const int *mask, __global const int *group,
                               real margin, int options, __global const uint *slot, __global const uint *begin,
                               __global const uint *length, __global uint *some, __global uint *certain,
                               __global uint *near, uint items)
{
    const size_t i = get_global_id(0);
    if (i >= items)
        return;
    /* The item's sphere in all lanes. */
    const uint own = slot[i], first = begin[i], count = length[i];
    const v3 at = v3_of(v_f(x[own]), v_f(y[own]), v_f(z[own]));
    const vf own_reach = v_f(reach[own]);
    const vi own_mask = v_i(options & CLOUD_MASKED ? mask[own] : 0);
    const vi own_group = options & CLOUD_GROUPED ? v_i(group[own]) : own_mask;
    /* Its partners, a bit for each. */
    cloud_lanes_found all = {0, 0, 0};
    for (uint j = 0; j < count; j += LANES) {
        const uint from = first + j;
        const v3 d = v3_sub(v3_of(v_load(x + from), v_load(y + from), v_load(z + from)), at);
        cloud_lanes_found found = cloud_compare(d, v_load(reach + from) + own_reach, v_f(margin), options);
        if (options & CLOUD_MASKED)
            found = cloud_keep(found, cloud_common(own_group, v_load(mask + from)));
        if (options & CLOUD_GROUPED)
            found = cloud_keep(found, cloud_common(v_load(group + from), own_mask));
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
    const uint slot_a = a[i], slot_b = b[i], image_b = image[i];
    const real at_rest = R(0.0), never = real_of_bits(R_INFINITY_BITS);
    /* Positions and radii. */
    GATHER(ax, x, slot_a);
    GATHER(ay, y, slot_a);
    GATHER(az, z, slot_a);
    GATHER(ar, radius, slot_a);
    GATHER(bx, x, slot_b);
    GATHER(by, y, slot_b);
    GATHER(bz, z, slot_b);
    GATHER(br, radius, slot_b);
    /* Velocities. */
    avx[i] = moves ? vx[slot_a] : at_rest;
    avy[i] = moves ? vy[slot_a] : at_rest;
    avz[i] = moves ? vz[slot_a] : at_rest;
    bvx[i] = moves ? vx[slot_b] : at_rest;
    bvy[i] = moves ? vy[slot_b] : at_rest;
    bvz[i] = moves ? vz[slot_b] : at_rest;
    /* The shift of B: the image's number has three digits in base 3, one per axis, 1 for no shift. */
    shift_x[i] = (real)((int)(image_b / 9) - 1) * period_x;
    shift_y[i] = (real)((int)(image_b / 3 % 3) - 1) * period_y;
    shift_z[i] = (real)((int)(image_b % 3) - 1) * period_z;
    margins[i] = margin;
    const real limit_a = moves ? limit[slot_a] : never, limit_b = moves ? limit[slot_b] : never;
    limits[i] = limit_a < limit_b ? limit_a : limit_b;
}
#endif
