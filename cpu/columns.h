/* SPDX-License-Identifier: MIT */
/* The caller's arrays as columns. */
#ifndef CAROM_CPU_COLUMNS_H
#define CAROM_CPU_COLUMNS_H
#include <stddef.h>
#include <stdint.h>

/* An input array: element i is at base + index(i) * stride bytes, index NULL meaning i. */
typedef struct caromi_in_column {
    const void *base;
    size_t stride;
    const uint32_t *index;
} caromi_in_column;

/* An output array, base NULL if not wanted. */
typedef struct caromi_out_column {
    void *base;
    size_t stride;
} caromi_out_column;

/* Copy elements [first, first + count) between a caller's array and a contiguous one. */
void caromi_gather(float *to, const caromi_in_column *from, uint64_t first, size_t count);
void caromi_scatter(const caromi_out_column *to, uint64_t first, const void *from, size_t count, size_t size);
#endif
