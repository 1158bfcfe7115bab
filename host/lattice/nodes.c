/* SPDX-License-Identifier: MIT */
/* The limits of a lattice and the coordinates of its nodes. */
#include <math.h>

#include "host/mesh/query.h"
#include "lattice.h"

enum { NODES_BITS = 48 }; /* a lattice has at most 2^48 nodes */

float carom_lattice_coordinate(const carom_lattice *lattice, int axis, uint64_t index)
{
    const int a = axis == 0 || axis == 1 ? axis : 2;
    return (float)(lattice->origin[a] + (double)(lattice->first[a] + index) * lattice->spacing);
}

/* Coordinates never decrease from one index to the next: if the first and the last are finite, all are. */
static carom_status check_axis(const carom_lattice *lattice, int axis, carom_error *err)
{
    const uint64_t ends[] = {0, lattice->dims[axis] - 1};
    for (int k = 0; k < 2; k++)
        if (!isfinite(carom_lattice_coordinate(lattice, axis, ends[k])))
            return caromi_fail_argument(
                err, "lattice: node %llu along %c, at %g, is beyond binary32", (unsigned long long)ends[k], "xyz"[axis],
                lattice -> origin[axis] + (double)(lattice->first[axis] + ends[k]) * lattice -> spacing);
    return CAROM_OK;
}

/* Checks the spacing and, for each axis, origin and numbers of nodes. */
static carom_status check_numbers(const carom_lattice *lattice, carom_error *err)
{
    const uint64_t most = (uint64_t)1 << NODES_BITS, *dims = lattice->dims;
    uint64_t nodes;
    if (!(isfinite(lattice->spacing) && lattice->spacing > 0))
        return caromi_fail_argument(err, "lattice.spacing is %g; it must be finite and > 0", lattice->spacing);
    for (int k = 0; k < 3; k++) {
        if (!isfinite(lattice->origin[k]))
            return caromi_fail_argument(err, "lattice.origin[%d] is %g; it must be finite", k, lattice->origin[k]);
        if (dims[k] == 0)
            return caromi_fail_argument(err, "lattice.dims[%d] is 0; at least 1", k);
        if (lattice->first[k] > most)
            return caromi_fail_argument(err, "lattice.first[%d] is %llu; at most 2^%d", k,
                                        (unsigned long long)lattice->first[k], (int)NODES_BITS);
    }
    if (__builtin_mul_overflow(dims[0], dims[1], &nodes) || __builtin_mul_overflow(nodes, dims[2], &nodes) ||
        nodes > most)
        return caromi_fail_argument(err, "lattice.dims is %llu x %llu x %llu nodes; at most 2^%d",
                                    (unsigned long long)dims[0], (unsigned long long)dims[1],
                                    (unsigned long long)dims[2], (int)NODES_BITS);
    for (int k = 0; k < 3; k++)
        CHECK(check_axis(lattice, k, err));
    return CAROM_OK;
}

/* Checks the lattice, and the range of slabs or rows that the batch answers. */
carom_status caromi_check_lattice(const carom_batch *batch, const carom_lattice *lattice, int axis, uint64_t *nodes,
                                  carom_error *err)
{
    CHECK(check_numbers(lattice, err));
    if (batch->count > lattice->dims[axis])
        return caromi_fail_argument(err, "batch.count is %llu; the lattice has %llu %s",
                                    (unsigned long long)batch->count, (unsigned long long)lattice->dims[axis],
                                    axis == AXIS_Z ? "slabs" : "rows");
    *nodes = (batch->count - batch->begin) * (axis == AXIS_Z ? caromi_slab_of(lattice) : lattice->dims[0]);
    return CAROM_OK;
}

/* Writes the nodes' coordinates in order: x fastest, then y, then z. */
void caromi_lattice_columns(const carom_lattice *lattice, uint64_t first, uint64_t count, float *x, float *y, float *z)
{
    const uint64_t width = lattice->dims[0], height = lattice->dims[1], row = first / width;
    uint64_t i = first % width, j = row % height, k = row / height;
    for (uint64_t written = 0; written < count; k++, j = 0) {
        const float at_z = carom_lattice_coordinate(lattice, AXIS_Z, k);
        for (; j < height && written < count; j++, i = 0) {
            const float at_y = carom_lattice_coordinate(lattice, AXIS_Y, j);
            for (; i < width && written < count; i++, written++) {
                x[written] = carom_lattice_coordinate(lattice, AXIS_X, i);
                y[written] = at_y;
                z[written] = at_z;
            }
        }
    }
}
