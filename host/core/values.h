/* SPDX-License-Identifier: MIT */
/* Values that a call checks before its work: indices, and limits of queries. Where the arrays lie on a device it checks
 * them there. */
#ifndef CAROM_HOST_CORE_VALUES_H
#define CAROM_HOST_CORE_VALUES_H
#include "arrays.h"

typedef struct caromi_values {
    const char *name, *one;  /* of the array; "query" or "pair", for the message */
    caromi_in_column column; /* base NULL: not given */
    uint64_t elements;       /* that column.index selects from; without an index any number */
    int are_limits;          /* floats within [0, most]; else words below `limit` */
    float most;
    uint64_t limit;
    const char *limit_name;
} caromi_values;

/* The most arrays that a call checks; RESIDENT_CHECKS is the same. */
enum { CAROMI_VALUES_MAX = 2 };

/* Indices that must be below `limit`. */
static inline caromi_values caromi_indices_below(const carom_uints *indices, const char *name, const char *one,
                                                 uint64_t limit, const char *limit_name)
{
    return (caromi_values){.name = name,
                           .one = one,
                           .column = {indices->data, caromi_stride(indices->stride), {NULL, 0}},
                           .limit = limit,
                           .limit_name = limit_name};
}

/* Checks rows [batch->begin, batch->count) of at most CAROMI_VALUES_MAX arrays, one after the other, and brings those
 * to the host that a device cannot check. A call that prepares reads none. While a call is enqueued its job has what
 * the device finds. */
carom_status caromi_check_values(carom_context *context, const carom_batch *batch, const caromi_values *values,
                                 uint32_t count, carom_error *err);
/* The error for the value of a row. */
carom_status caromi_fail_value(const caromi_values *values, uint64_t row, uint32_t word, carom_error *err);
#endif
