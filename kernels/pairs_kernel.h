/* SPDX-License-Identifier: MIT */
/* One pair kernel as OpenCL sees it: a work-item answers LANES pairs. The host names the kernel with
 * -DKERNEL=sweep_times and gives the number of its columns. Every column is an argument of its own, so that a caller's
 * arrays can be used in place. Arguments: IN_COUNT inputs, OUT_COUNT outputs, the number of work-items that have
 * pairs. */
#ifndef CAROM_PAIRS_KERNEL_H
#define CAROM_PAIRS_KERNEL_H

#include "column_arguments.h"

#define IN_ARGUMENT(n) __global const real *restrict in##n,
#define OUT_ARGUMENT(n) __global uchar *restrict out##n,
#define IN_NAME(n) in##n,
#define OUT_NAME(n) (__global void *)out##n,

__kernel void LANG_CAT(carom_, KERNEL)(LANG_CAT(COLUMNS_, IN_COUNT)(IN_ARGUMENT)
                                           LANG_CAT(COLUMNS_, OUT_COUNT)(OUT_ARGUMENT) uint groups)
{
    const size_t group = get_global_id(0);
    if (group >= groups)
        return;
    /* Constant indices all the way down: the compiler dissolves both arrays. */
    __global const real *const in[IN_COUNT] = {LANG_CAT(COLUMNS_, IN_COUNT)(IN_NAME)};
    __global void *const out[OUT_COUNT] = {LANG_CAT(COLUMNS_, OUT_COUNT)(OUT_NAME)};
    pairs_prefetch(in, IN_COUNT, out, OUT_COUNT, OUT_BYTES, group * LANES);
    LANG_CAT(pairs_, KERNEL)(in, out, group * LANES);
}
#endif
