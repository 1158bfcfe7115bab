/* SPDX-License-Identifier: MIT */
/* The second filter of exact sweeps, at the LANES and with the flags of the file that includes this. It is compiled
 * without fusing, because its double-length sums need every rounding. */
#include "kernels/sweep_second.h"
#include "isa_run.h"

caromi_second_fn ISA_NAMED(second_sweep);
void ISA_NAMED(second_sweep)(const float *const *in, void *const *out, size_t count)
{
    const int wants_points = out[OUT_FIRST_X] != NULL;
    for (size_t i = 0; i < count; i += LANES)
        if (wants_points)
            second_sweep(in, out, i, 1);
        else
            second_sweep(in, out, i, 0);
}
