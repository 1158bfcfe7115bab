/* SPDX-License-Identifier: MIT */
/* Makes the blocks of lattice.h: their bounds, and their bound points. */
#ifndef CAROM_LATTICE_BLOCK_H
#define CAROM_LATTICE_BLOCK_H
#include "lattice.h"
#include "wide.h"

#include "bound_point.h" /* needs wide_real */

/* Sets the bounds of a block; it has no bound point yet. */
FN void lattice_bound(const real low[3], const real high[3], real band2, lattice_block *block)
{
    for (int axis = 0; axis < 3; axis++) {
        block->low[axis] = low[axis];
        block->high[axis] = high[axis];
        block->middle[axis] = R(0.5) * (low[axis] + high[axis]);
        const real below = block->middle[axis] - low[axis], above = high[axis] - block->middle[axis];
        block->spread[axis] = R(2.0) * (below > above ? below : above);
        block->from_low[axis] = block->from_high[axis] = R(1.0) / R(0.0);
        block->offset[axis] = R(0.0);
    }
    block->reach = block->slack = R(0.0);
    block->band2 = band2;
    block->has_bound_point = 0;
}

/* scale: from the bound point's unit to the mesh's. The slack is E of docs/volumes.md. */
FN void lattice_set_bound_point(const bounding_point *of, wide_real scale, lattice_block *block)
{
    wide_real reach2 = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        const wide_real coordinate = of->point[axis] * scale, from_low = (wide_real)block->low[axis] - coordinate,
                        from_high = (wide_real)block->high[axis] - coordinate;
        block->from_low[axis] = (real)(from_low * from_low);
        block->from_high[axis] = (real)(from_high * from_high);
        block->offset[axis] = (real)(coordinate - (wide_real)block->middle[axis]);
        reach2 += from_low * from_low > from_high * from_high ? from_low * from_low : from_high * from_high;
    }
    const wide_real reach = sqrt(reach2), longest = of->longest * scale;
    block->reach = (real)(reach * 1.001);
    block->slack =
        (real)(0x1p-11 * reach * (reach + longest) + 0x1p-22 * longest * longest + 0x1p-39 * reach + 0x1p-89);
    block->has_bound_point = 1;
}
#endif
