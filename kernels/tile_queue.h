/* SPDX-License-Identifier: MIT */
/* The search of a hierarchy by a work-group of LATTICE_TILE items, on a GPU: what waits to be tested, in local memory.
 * The group tests the children of some nodes at a time, or the triangles of some leaves, an item for each. Every item
 * passes every barrier: conditions around one are the same for the whole group. */
#ifndef CAROM_TILE_QUEUE_H
#define CAROM_TILE_QUEUE_H
#include "lattice_box.h"
#include "mesh.h"

#define TILE_TAKEN (LATTICE_TILE / MESH_WIDTH) /* nodes or leaves of the hierarchy that are tested at a time */
#define TILE_WIDE 64 /* with more nodes pending than this, only one is tested at a time: that takes MESH_STACK more */
#define TILE_PENDING (TILE_WIDE + LATTICE_TILE + MESH_STACK)
#define TILE_LEAVES (TILE_TAKEN + LATTICE_TILE)
#define TILE_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

typedef struct tile_queue {
    int pending[TILE_PENDING], leaf[TILE_LEAVES]; /* references to nodes and leaves of the hierarchy */
    u32 pending_count, leaf_count;
    u32 listed; /* triangles of the tile's list */
} tile_queue;

/* The coordinate of a node of the box along an axis, as carom_lattice_coordinate() computes it. */
FN real tile_coordinate(const lattice_box *box, int axis, u32 index)
{
    return (real)(box->origin[axis] + (wide_real)(box->first[axis] + index) * box->spacing);
}

/* The next test of an item: a child of a node, or a triangle of a leaf. */
typedef struct tile_step {
    int reference, slot;
    int has_child, has_triangle;
} tile_step;

/* Begins at the root, if `begins` of any item. */
FN void tile_queue_begin(__local tile_queue *queue, u32 item, int root, int begins)
{
    if (item == 0) {
        queue->pending[0] = queue->leaf[0] = root;
        queue->pending_count = queue->leaf_count = queue->listed = 0;
    }
    TILE_BARRIER();
    if (begins)
        (void)atomic_or(root >= 0 ? &queue->pending_count : &queue->leaf_count, 1);
    TILE_BARRIER();
}

FN int tile_queue_is_empty(__local const tile_queue *queue)
{
    return (queue->pending_count | queue->leaf_count) == 0;
}

/* Takes what the group tests next; the queue is not empty. Leaves are tested as soon as all items have one. */
FN tile_step tile_next(__local tile_queue *queue, u32 item)
{
    const u32 pending = queue->pending_count, leaves = queue->leaf_count, part = item / MESH_WIDTH;
    const int tests_leaves = leaves >= TILE_TAKEN || pending == 0;
    const u32 from = tests_leaves ? leaves : pending, most = !tests_leaves && pending > TILE_WIDE ? 1 : TILE_TAKEN,
              taken = from < most ? from : most, at = part < taken ? from - 1 - part : from - 1;
    tile_step step;
    step.reference = tests_leaves ? queue->leaf[at] : queue->pending[at];
    step.slot = (int)(item % MESH_WIDTH);
    step.has_triangle = part < taken && tests_leaves;
    step.has_child = part < taken && !tests_leaves;
    TILE_BARRIER();
    if (item == 0) {
        queue->leaf_count = tests_leaves ? leaves - taken : leaves;
        queue->pending_count = tests_leaves ? pending : pending - taken;
    }
    TILE_BARRIER();
    return step;
}

/* Adds a child that can matter. */
FN void tile_add(__local tile_queue *queue, int child)
{
    if (child < 0)
        queue->leaf[atomic_inc(&queue->leaf_count)] = child;
    else
        queue->pending[atomic_inc(&queue->pending_count)] = child;
}
#endif
