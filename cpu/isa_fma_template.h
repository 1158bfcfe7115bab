/* SPDX-License-Identifier: MIT */
/* The kernels whose answers are defined by the question alone, exact times: whatever proves them may round as it likes.
 * So these files are compiled with fused multiplication and addition, where there is one; the bounds of
 * docs/numerics.md count a rounding for either. Nothing that computes a point may be in here, nor what decides who
 * computes it. */
#include "kernels/pairs.h"
#include "kernels/pairs_exact.h"
#include "isa_run.h"

#define ISA_FMA(name, in_count, radii, out_count, bytes) \
    caromi_pair_fn ISA_NAMED(name);                      \
    ISA_RUN(, ISA_NAMED(name), name, in_count, out_count, bytes)
TIME_KERNELS(ISA_FMA, _exact)
