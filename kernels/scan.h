/* SPDX-License-Identifier: MIT */
/* Prefix sum (scan) by a whole work-group, for kernels that exist only in OpenCL C. */
#ifndef CAROM_SCAN_H
#define CAROM_SCAN_H
#include "lang.h"

/* Returns the exclusive prefix sum of `own` over the work-group; *all is the total. All work-items of the group call
 * it, and `scratch` has an element for each. Each step doubles the number of work-items that a sum covers (Hillis and
 * Steele). */
#define SCAN_GROUP(name, number)                                                 \
    FN number name(number own, __local number *scratch, number *all)             \
    {                                                                            \
        const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0); \
        number sum = own;                                                        \
        scratch[item] = sum;                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                            \
        for (uint step = 1; step < size; step *= 2) {                            \
            const number before = item >= step ? scratch[item - step] : 0;       \
            barrier(CLK_LOCAL_MEM_FENCE);                                        \
            scratch[item] = sum += before;                                       \
            barrier(CLK_LOCAL_MEM_FENCE);                                        \
        }                                                                        \
        *all = scratch[size - 1];                                                \
        barrier(CLK_LOCAL_MEM_FENCE);                                            \
        return sum - own;                                                        \
    }
SCAN_GROUP(scan_group, uint)
SCAN_GROUP(scan_group_long, ulong)
#endif
