/* SPDX-License-Identifier: MIT */
/* The caller's arrays as columns. */
#ifndef CAROM_CPU_COLUMNS_H
#define CAROM_CPU_COLUMNS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Indices that select elements, `stride` bytes apart; base NULL: query i has element i. */
typedef struct caromi_index {
    const void *base;
    size_t stride;
} caromi_index;
static inline uint64_t caromi_index_at(const caromi_index *index, uint64_t i)
{
    uint32_t number;
    if (index->base == NULL)
        return i;
    memcpy(&number, (const char *)index->base + i * index->stride, sizeof number);
    return number;
}

/* An input array of 4-byte elements: query i reads the element at base + index(i) * stride bytes. */
typedef struct caromi_in_column {
    const void *base;
    size_t stride;
    caromi_index index;
} caromi_in_column;
static inline const void *caromi_element(const caromi_in_column *column, uint64_t i)
{
    return (const char *)column->base + caromi_index_at(&column->index, i) * column->stride;
}

/* The column whose element 0 is that of query `first`. */
static inline caromi_in_column caromi_column_from(const caromi_in_column *column, uint64_t first)
{
    caromi_in_column from = *column;
    if (from.index.base != NULL)
        from.index.base = (const char *)from.index.base + first * from.index.stride;
    else if (from.base != NULL)
        from.base = (const char *)from.base + first * from.stride;
    return from;
}

/* An output array, base NULL if not wanted. */
typedef struct caromi_out_column {
    void *base;
    size_t stride;
} caromi_out_column;

/* The column whose element 0 is that of query `first`. */
static inline caromi_out_column caromi_out_column_from(const caromi_out_column *column, uint64_t first)
{
    caromi_out_column from = *column;
    if (from.base != NULL)
        from.base = (char *)from.base + first * from.stride;
    return from;
}

/* Copy elements [first, first + count) between a caller's array and a contiguous one. */
void caromi_gather(float *to, const caromi_in_column *from, uint64_t first, size_t count);
void caromi_scatter(const caromi_out_column *to, uint64_t first, const void *from, size_t count, size_t size);
#endif
