/* SPDX-License-Identifier: MIT */
/* Prefix sums by a whole group of work-items, for kernels in OpenCL C alone. */
#ifndef CAROM_SCAN_H
#define CAROM_SCAN_H
#include "lang.h"

/* Sum of `own` over the work-items of the group before this one, and over all. All work-items of the group call it, and
 * `room` has a place for each. A step doubles how many work-items a sum is over (Hillis and Steele). */
FN uint scan_group(uint own, __local uint *scratch, uint *all)
{
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint sum = own;
    scratch[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < size; step *= 2) {
        const uint before = item >= step ? scratch[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        scratch[item] = sum += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = scratch[size - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum - own;
}
#endif
