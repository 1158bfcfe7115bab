/* SPDX-License-Identifier: MIT */
/* A grid over a mesh whose cells are numbered along a Morton curve: queries that start in one cell visit the same nodes
 * and leaves. */
#ifndef CAROM_CELLS_H
#define CAROM_CELLS_H
#include "lang.h"

#define CELL_DIGITS 4 /* bits per axis: a cell of a large mesh has nodes and leaves that a cache holds */
#define CELL_COUNT (1 << 3 * CELL_DIGITS)
/* The last number is no cell: queries that hit nothing get it. */
#define CELL_CLEAR CELL_COUNT
#define CELL_KINDS (CELL_COUNT + 1)

/* On a device a work-group counts the queries of so many cells in local memory. */
#define CELL_SLOTS 64

/* Prefix sum over the counts of all cells: at most so many work-items in its group, and so many counts for each. */
#define PREFIX_ITEMS 256
#define PREFIX_EACH ((CELL_KINDS + PREFIX_ITEMS - 1) / PREFIX_ITEMS)

typedef struct cell_grid {
    real lower[3], per_length[3];
} cell_grid;

/* Spreads four bits, with two zeros between neighbours, for a Morton code. */
FN u32 cell_spread(u32 x)
{
    x = (x | x << 4) & 0xc3u;
    return (x | x << 2) & 0x249u;
}

/* Cell number along one axis, clamped to the grid. It has no branch, so that compilers vectorise it. NaN gives 0. */
FN u32 cell_slab(real x, real lower, real per_length)
{
    const real last = (real)((1 << CELL_DIGITS) - 1), at = (x - lower) * per_length, from = at > 0 ? at : 0;
    return (u32)(int)(from < last ? from : last);
}

/* The cell of a point: its Morton code. */
FN u32 cell_of(real x, real y, real z, const cell_grid *grid)
{
    return cell_spread(cell_slab(x, grid->lower[0], grid->per_length[0])) |
           cell_spread(cell_slab(y, grid->lower[1], grid->per_length[1])) << 1 |
           cell_spread(cell_slab(z, grid->lower[2], grid->per_length[2])) << 2;
}
#endif
