/* SPDX-License-Identifier: MIT */
/* Which of the plain loops this machine can run. */
#include "plain.h"

#include <carom/carom.h>

const plain_loops *plain_for_isa(int isa)
{
#if defined(__x86_64__)
    if (isa == CAROM_ISA_AVX512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &plain_avx512;
    if (isa == CAROM_ISA_AVX2 && __builtin_cpu_supports("avx2"))
        return &plain_avx2;
    /* The baseline of x86-64 is SSE2. */
    return isa == CAROM_ISA_SSE41 ? &plain_baseline : NULL;
#elif defined(__aarch64__)
    return isa == CAROM_ISA_NEON ? &plain_baseline : NULL;
#else
    return isa == CAROM_ISA_SCALAR ? &plain_baseline : NULL;
#endif
}
