/* SPDX-License-Identifier: MIT */
/* Types of calls for pairs, made from the tables of their arrays (kernels/pairs.h). */
#ifndef CAROM_CALLS_PAIRS_H
#define CAROM_CALLS_PAIRS_H
#include "type.h"

/* A member as the tables of arrays have it. The function around them names desc_type and out_type. */
#define CAROMI_KIND_points(name, extent, column) \
    CAROMI_VIEW(desc_type, name, CAROMI_POINTS, extent, column, CAROMI_REQUIRED),
#define CAROMI_KIND_scalars(name, extent, column) \
    CAROMI_VIEW(desc_type, name, CAROMI_SCALARS, extent, column, CAROMI_REQUIRED),
#define CAROMI_KIND_optional_points(name, extent, column) \
    CAROMI_VIEW(desc_type, name, CAROMI_POINTS, extent, column, CAROMI_OPTIONAL),
#define CAROMI_SIDE_a CAROMI_PER_A
#define CAROMI_SIDE_b CAROMI_PER_B
#define CAROMI_INPUT(kind, name, side, column) CAROMI_KIND_##kind(name, CAROMI_SIDE_##side, column)
#define CAROMI_FILLED_array(name, column) CAROMI_FILLED(out_type, name, CAROMI_PER_QUERY, column),
#define CAROMI_FILLED_points(name, column) CAROMI_FILLED_POINTS(out_type, name, CAROMI_PER_QUERY, column),
#define CAROMI_OUTPUT(kind, name, column) CAROMI_FILLED_##kind(name, column)

#define CAROMI_PAIR_TYPE(query, INPUTS, OUTPUTS)                                                    \
    CAROMI_INLINED const caromi_call_type *caromi_type_of_##query##_pairs(void)                     \
    {                                                                                               \
        typedef carom_##query##_pairs_desc desc_type;                                               \
        typedef carom_##query##_result out_type;                                                    \
        static const caromi_member in[] = {INPUTS(CAROMI_INPUT)}, out[] = {OUTPUTS(CAROMI_OUTPUT)}; \
        static const caromi_call_type type = {.name = "carom_" #query "_pairs",                     \
                                              .subject = "context",                                 \
                                              .out_argument = "out",                                \
                                              .desc_name = "carom_" #query "_pairs_desc",           \
                                              .out_name = "carom_" #query "_result",                \
                                              .desc_size = sizeof(desc_type),                       \
                                              .out_size = sizeof(out_type),                         \
                                              .in = CAROMI_MEMBERS(in),                             \
                                              .out = CAROMI_MEMBERS(out),                           \
                                              .stays = 1,                                           \
                                              .enqueues = 1,                                        \
                                              .indices = offsetof(desc_type, indices),              \
                                              .call = caromi_call_##query##_pairs};                 \
        return &type;                                                                               \
    }
#define CAROMI_PAIR_TYPE_OF(query, kernel, INPUTS, OUTPUTS) CAROMI_PAIR_TYPE(query, INPUTS, OUTPUTS)
CAROMI_PAIR_TYPE(sweep, SWEEP_INPUTS, SWEEP_OUTPUTS)
PAIR_QUERIES(CAROMI_PAIR_TYPE_OF)
#endif
