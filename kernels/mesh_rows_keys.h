/* SPDX-License-Identifier: MIT */
/* Candidates of a list that stays on a GPU: their keys, and the rows that they belong to. */
#ifndef CAROM_MESH_ROWS_KEYS_H
#define CAROM_MESH_ROWS_KEYS_H
#include "cloud_grid.h"
#include "lang.h"
#include "mesh_rows.h"

/* A hit as a key in the order of its row: 31 bits of t, 31 of the triangle, 2 of the state. */
FN ulong rows_key(uint t, uint triangle, uint state)
{
    return (ulong)t << GRID_KEY_T_SHIFT | (ulong)triangle << GRID_KEY_B_SHIFT | state;
}

FN int rows_is_undecided(uint t)
{
    return (t & R_MAGNITUDE_MASK) > R_INFINITY_BITS;
}

/* The row of a candidate among rows [0, end): the last one that begins at or before it. Rows without candidates begin
 * where the next one does. */
FN uint rows_row_of(__global const ulong *slot, uint end, uint candidate)
{
    uint low = 0, high = end - 1;
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (slot[middle] <= candidate)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
#endif
