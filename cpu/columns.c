/* SPDX-License-Identifier: MIT */
#include "columns.h"

/* Gathers a column: by one copy, by a stride, or by indices. */
void caromi_gather(float *to, const caromi_in_column *from, uint64_t first, size_t count)
{
    const char *base = from->base;
    if (from->index.base == NULL && from->stride == sizeof *to) {
        memcpy(to, base + first * sizeof *to, count * sizeof *to);
        return;
    }
    const size_t stride = from->stride;
    if (from->index.base == NULL) {
        base += first * stride;
        for (size_t i = 0; i < count; i++)
            memcpy(to + i, base + i * stride, sizeof *to);
        return;
    }
    if (from->index.stride != sizeof(uint32_t)) {
        for (size_t i = 0; i < count; i++)
            memcpy(to + i, caromi_element(from, first + i), sizeof *to);
        return;
    }
    const char *index = (const char *)from->index.base + first * sizeof(uint32_t);
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        memcpy(&number, index + i * sizeof number, sizeof number);
        memcpy(to + i, base + number * stride, sizeof *to);
    }
}

/* Scatters a column to the caller's array. */
void caromi_scatter(const caromi_out_column *to, uint64_t first, const void *from, size_t count, size_t size)
{
    if (to->base == NULL)
        return;
    char *base = (char *)to->base + first * to->stride;
    if (to->stride == size) {
        memcpy(base, from, count * size);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(base + i * to->stride, (const char *)from + i * size, size);
}
