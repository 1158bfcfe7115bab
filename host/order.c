/* SPDX-License-Identifier: MIT */
/* Queries along a Morton curve: neighbours then meet the same nodes and leaves while a cache has them. */
#include "order.h"

#include <string.h>

enum {
    CELLS = 10, /* bits per axis */
    NEAR = 12,  /* bits of the key that neighbours on the curve may differ in */
    DIGIT = 10, /* bits per pass of the radix sort */
    DIGITS = 1 << DIGIT
};

/* Ten bits, two zeros between each. */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000ffu;
    x = (x | x << 8) & 0x0300f00fu;
    x = (x | x << 4) & 0x030c30c3u;
    return (x | x << 2) & 0x09249249u;
}

static uint32_t cell(float x, float lower, float per_length)
{
    const float at = (x - lower) * per_length, last = (float)((1 << CELLS) - 1);
    return at >= last ? (uint32_t)last : at > 0 ? (uint32_t)at : 0; /* NaN: 0 */
}

static void fill_keys(const carom_mesh_info *mesh, const caromi_in_column *center, uint64_t first, uint32_t count,
                      uint64_t *keys)
{
    enum { BLOCK = 256 };
    float at[BLOCK];
    memset(keys, 0, count * sizeof *keys);
    for (uint32_t from = 0; from < count; from += BLOCK) {
        const uint32_t n = count - from < BLOCK ? count - from : BLOCK;
        for (int k = 0; k < 3; k++) {
            const float lower = mesh->lower[k], length = mesh->upper[k] - lower;
            const float per_length = length > 0 ? (float)(1 << CELLS) / length : 0;
            caromi_gather(at, &center[k], first + from, n);
            for (uint32_t i = 0; i < n; i++)
                keys[from + i] |= (uint64_t)(spread(cell(at[i], lower, per_length)) << k) << 32;
        }
        for (uint32_t i = 0; i < n; i++)
            keys[from + i] |= from + i;
    }
}

/* Do most queries lie near the one before them already? */
static int in_order(const uint64_t *keys, uint32_t count)
{
    uint32_t near = 0;
    for (uint32_t i = 1; i < count; i++)
        near += (keys[i] ^ keys[i - 1]) >> (32 + NEAR) == 0;
    return near > count / 2;
}

static void sort_pass(const uint64_t *from, uint64_t *to, uint32_t count, int shift)
{
    uint32_t place[DIGITS] = {0}, sum = 0;
    for (uint32_t i = 0; i < count; i++)
        place[from[i] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        const uint32_t n = place[d];
        place[d] = sum;
        sum += n;
    }
    for (uint32_t i = 0; i < count; i++)
        to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

const uint64_t *caromi_order(const carom_mesh_info *mesh, const caromi_in_column *center, uint64_t first,
                             uint32_t count, uint64_t *scratch)
{
    uint64_t *const a = scratch, *const b = scratch + count;
    fill_keys(mesh, center, first, count, a);
    if (in_order(a, count))
        return NULL;
    sort_pass(a, b, count, 32);
    sort_pass(b, a, count, 32 + DIGIT);
    sort_pass(a, b, count, 32 + 2 * DIGIT);
    return b;
}
