/* SPDX-License-Identifier: MIT */
/* Kernels whose answers do not depend on rounding: exact times, which the filter certifies whatever its roundings are.
 * So these files are compiled with fused multiply-add, where the instruction set has it; the error bounds of
 * docs/exact.md hold either way. Kernels that compute points must not be here, nor code that decides which rung
 * computes a point. */
#define PAIR_SOLVERS
#include "kernels/wide.h" /* first: headers have exact bodies where it is */
#include "kernels/pairs_exact.h"
#include "isa_sweep_exact.h"

#define ISA_FMA(name, in_count, radii, out_count, bytes) \
    caromi_pair_fn ISA_NAMED(name);                      \
    ISA_RUN(, ISA_NAMED(name), name, in_count, out_count, bytes)
#if LANES == 1 || LANES == 16 /* AVX-512 has registers for a packet in one piece */
#define ISA_FMA_SWEEP ISA_FMA
#else
#define ISA_FMA_SWEEP(name, in_count, radii, out_count, bytes)                                                     \
    caromi_pair_fn ISA_NAMED(name);                                                                                \
    ISA_SWEEP_EXACT_RUN(ISA_NAMED(name), ISA_NAMED(name##_whole),                                                  \
                        (out_count) == OUT_SWEEP_FIRST ? SWEEP_FIRST : SWEEP_TIMES, (in_count) == IN_SWEEP_MOVING, \
                        in_count, out_count, bytes)
#endif
SWEEP_TIME_KERNELS(ISA_FMA_SWEEP, _exact)
SPHERE_TIME_KERNELS(ISA_FMA, _exact)
