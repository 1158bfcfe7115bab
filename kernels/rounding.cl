/* SPDX-License-Identifier: MIT */
/* Quotients and roots, as the solvers take them, for devices that do not promise to round them correctly. */
#include "lang.h"

/* Stores LANES quotients and roots. */
__kernel void carom_rounding(__global const real *a, __global const real *b, __global real *quotient,
                             __global real *root, uint groups)
{
    const size_t group = get_global_id(0);
    if (group >= groups)
        return;
    const size_t i = group * LANES;
    const vf x = v_load(a + i), y = v_load(b + i);
    v_store(quotient + i, x / y);
    v_store(root + i, v_sqrt(x));
}
