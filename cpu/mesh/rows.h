/* SPDX-License-Identifier: MIT */
/* The arrays of a mesh's hierarchy for code that serves every width: rows of a node or leaf, one number for each slot.
 * kernels/mesh_nodes.h says what the rows hold. The memory is the mesh's; who may write it is the caller's rule. */
#ifndef CAROM_CPU_MESH_ROWS_H
#define CAROM_CPU_MESH_ROWS_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/layout.h"

/* Sizes of mesh_node, mesh_leaf, mesh_opposites and mesh_cones with so many slots. */
#define CAROMI_NODE_BYTES(width) (8 * sizeof(float) * (size_t)(width))
#define CAROMI_LEAF_BYTES(width) (8 * (size_t)(width) + 3 * sizeof(float[MESH_VERTICES]))
#define CAROMI_OPPOSITES_BYTES(width) (8 * (size_t)(width) + 3 * sizeof(float[MESH_VERTICES]))
#define CAROMI_CONES_BYTES(width) (6 * sizeof(float) * (size_t)(width))

typedef struct caromi_node_rows {
    float *lower[3], *upper[3];
    int *child, *least;
} caromi_node_rows;

typedef struct caromi_leaf_rows {
    int *triangle;
    uint8_t *corner[3];
    float *ball, *vertex[3];
    float *unindexed[9]; /* of an unindexed leaf, in place of the three above: P0 x y z, P1 x y z, P2 x y z */
} caromi_leaf_rows;

/* Element `number` of an array of elements of so many bytes. */
static inline float *caromi_rows_at(const void *array, size_t bytes, uint64_t number)
{
    return (float *)(void *)((uintptr_t)array + bytes * number);
}

static inline caromi_node_rows caromi_node_rows_of(const void *nodes, int width, uint64_t number)
{
    float *row = caromi_rows_at(nodes, CAROMI_NODE_BYTES(width), number);
    return (caromi_node_rows){{row, row + width, row + 2 * width},
                              {row + 3 * width, row + 4 * width, row + 5 * width},
                              (int *)(void *)(row + 6 * width),
                              (int *)(void *)(row + 7 * width)};
}

/* The leaf that a reference names. */
static inline caromi_leaf_rows caromi_leaf_rows_of(const void *leaves, int width, int reference)
{
    float *from = caromi_rows_at(leaves, CAROMI_LEAF_BYTES(width), (uint64_t)MESH_LEAF_AT(reference));
    uint8_t *corner = (uint8_t *)(from + width);
    float *ball = (float *)(void *)(corner + 3 * width), *vertex = ball + width / 4;
    caromi_leaf_rows rows = {.triangle = (int *)(void *)from,
                             .corner = {corner, corner + width, corner + 2 * width},
                             .ball = ball,
                             .vertex = {vertex, vertex + MESH_VERTICES, vertex + 2 * MESH_VERTICES}};
    for (int row = 0; row < 9; row++)
        rows.unindexed[row] = from + (1 + row) * width;
    return rows;
}
#endif
