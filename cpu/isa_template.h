/* SPDX-License-Identifier: MIT */
/* Every kernel at one lane count; included once per instruction set with LANES and ISA_NAME defined. */
#include "cpu.h"
#include "../kernels/pairs.h"
#include "../kernels/overlap_exact.h"
#include "../kernels/pairs_exact.h"
#include "mesh_template.h"

#define ISA_CAT_(a, b) a##b
#define ISA_CAT(a, b) ISA_CAT_(a, b)

#define ISA_PAIR(name, in_count, radii, out_count, bytes)                                           \
    static void run_##name(const float *const *in, void *const *out, size_t count, int from_memory) \
    {                                                                                               \
        for (size_t i = 0; i < count; i += LANES) {                                                 \
            if (from_memory && i % PREFETCH_LINE == 0)                                              \
                pairs_prefetch(in, in_count, out, out_count, bytes, i);                             \
            pairs_##name(in, out, i);                                                               \
        }                                                                                           \
    }
PAIR_KERNELS(ISA_PAIR)

#define ISA_ENTRY(name, in_count, radii, out_count, bytes) run_##name,
extern const caromi_isa_table ISA_CAT(caromi_isa_, ISA_NAME);
const caromi_isa_table ISA_CAT(caromi_isa_, ISA_NAME) = {
    .lanes = LANES,
    .pairs = {PAIR_KERNELS(ISA_ENTRY)},
    .mesh_first = mesh_first,
    .mesh_first_exact = mesh_first_exact,
};
