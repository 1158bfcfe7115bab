/* SPDX-License-Identifier: MIT */
/* A pair kernel over a run of pairs, at the LANES and with the flags of the file that includes this. */
#include "cpu/cpu.h"

#define ISA_CAT_(a, b) a##b
#define ISA_CAT(a, b) ISA_CAT_(a, b)
#define ISA_MESH(width) ISA_CAT(ISA_CAT(ISA_CAT(caromi_mesh_, ISA_NAME), _), width)
#define ISA_SCENE(width) ISA_CAT(ISA_CAT(ISA_CAT(caromi_scene_, ISA_NAME), _), width)
#define ISA_NAMED(name) ISA_CAT(ISA_CAT(caromi_, ISA_NAME), _##name)

#define ISA_RUN(linkage, function, name, in_count, out_count, bytes)                               \
    linkage void function(const float *const *in, void *const *out, size_t count, int from_memory) \
    {                                                                                              \
        for (size_t i = 0; i < count; i += LANES) {                                                \
            if (from_memory && i % PREFETCH_LINE == 0)                                             \
                pairs_prefetch(in, in_count, out, out_count, bytes, i);                            \
            pairs_##name(in, out, i);                                                              \
        }                                                                                          \
    }
