/* SPDX-License-Identifier: MIT */
/* Chooses the table of an instruction set that this machine can run. The compiler's cpu checks read cpuid and xgetbv,
 * so they also reject machines whose operating system does not save the wide registers. */
#include "carom/carom.h"
#include "cpu/cpu.h"

extern const caromi_isa_table caromi_isa_scalar;
#if defined(__x86_64__)
extern const caromi_isa_table caromi_isa_sse41, caromi_isa_avx2, caromi_isa_avx512;
#elif defined(__aarch64__)
extern const caromi_isa_table caromi_isa_neon;
#endif

/* The table of one instruction set; NULL if the machine lacks it. */
static const caromi_isa_table *find(int isa)
{
#if defined(CAROM_HIGHEST_ISA) /* a build for tests, which answers as on an older CPU */
    if (isa > CAROM_HIGHEST_ISA)
        return NULL;
#endif
    if (isa == CAROM_ISA_SCALAR)
        return &caromi_isa_scalar;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (isa == CAROM_ISA_SSE41 && __builtin_cpu_supports("sse4.1"))
        return &caromi_isa_sse41;
    if (isa == CAROM_ISA_AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &caromi_isa_avx2;
    if (isa == CAROM_ISA_AVX512 && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &caromi_isa_avx512;
#elif defined(__aarch64__)
    if (isa == CAROM_ISA_NEON)
        return &caromi_isa_neon;
#endif
    return NULL;
}

/* The table of an instruction set, if this build and this machine have it. */
const caromi_isa_table *caromi_isa_select(int isa, int *chosen)
{
    static const int best_first[] = {CAROM_ISA_AVX512, CAROM_ISA_AVX2, CAROM_ISA_SSE41, CAROM_ISA_NEON,
                                     CAROM_ISA_SCALAR};
    const caromi_isa_table *table = isa == CAROM_ISA_AUTO ? NULL : find(isa);
    *chosen = isa;
    for (size_t i = 0; isa == CAROM_ISA_AUTO && table == NULL; i++) {
        *chosen = best_first[i];
        table = find(best_first[i]);
    }
    return table;
}

const caromi_pair_shape caromi_pair_shapes[CAROMI_PAIR_KERNEL_COUNT] = {
#define SHAPE(name, in, radii, out, bytes) {#name, in, radii, out, bytes},
    PAIR_KERNELS(SHAPE)};
