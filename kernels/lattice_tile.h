/* SPDX-License-Identifier: MIT */
/* The closest triangle of each node of a tile, on a GPU: a work-group answers a tile, an item for each node.
 *
 * The group searches the hierarchy once. Its items test the children of up to four nodes at a time, or the triangles of
 * four leaves, against the whole tile (lattice.h), and list the triangles that can matter. A list that is too long for
 * local memory is answered piece by piece. Of the first piece each node is solved with the triangle that has the
 * nearest sample. Its answer is the bound by which the samples of the other triangles leave most of them out. The pairs
 * of a node and a triangle that are left wait in a queue, from which all items solve as many at a time as there are
 * items.
 *
 * The answer of a node is the smallest (distance, triangle index), whatever the order. docs/volumes.md, section 6, has
 * the proofs. */
#ifndef CAROM_LATTICE_TILE_H
#define CAROM_LATTICE_TILE_H
#include "lattice_block.h"
#include "lattice_box.h"
#include "mesh_closest_exact.h"
#include "tile_queue.h"

#define TILE_PIECE 16 /* a list with more triangles is answered */
#define TILE_LIST (TILE_PIECE + LATTICE_TILE)
#define TILE_STEP 4 /* triangles whose pairs are queued before some are solved */
#define TILE_PAIRS (TILE_STEP * LATTICE_TILE + LATTICE_TILE)
#define TILE_NOTHING 0xffffffffu

/* Columns of the list: nine coordinates of corners in the caller's unit, a quarter of each edge's square and the cover
 * in the mesh's (lattice_filter_rows). */
enum { TILE_EDGES = 9, TILE_COVER = TILE_EDGES + 3, TILE_COLUMNS };

/* Local memory of a work-group: at most 8 KiB, so that two groups fit on each of AMD's SIMDs. */
typedef struct tile_memory {
    real at[LATTICE_TILE +
            2]; /* coordinates of the nodes along each axis, one axis after the other; in the caller's unit */
    u32 count[3];
    tile_queue queue;
    u32 pair_count;
    real column[TILE_COLUMNS][TILE_LIST];
    int triangle[TILE_LIST];
    ushort pair[TILE_PAIRS]; /* node + LATTICE_TILE * element of the list */
    u32 best[LATTICE_TILE];  /* bits of the least distance of each node */
    int best_triangle[LATTICE_TILE];
    u32 most[LATTICE_TILE], undecided[LATTICE_TILE]; /* exact mode: bits of an upper bound, and of the least distance
                                                        that is undecided */
    u32 least[MESH_WIDTH];                           /* of a descent */
    u32 greatest;                                    /* answer of any node */
    lattice_block block;
    real bound_corner[9];
    int has_bound_corner;
} tile_memory;

/* A work-item and its tile. */
typedef struct tile_work {
    __local tile_memory *memory;
    mesh_frame frame;
    G const mesh_node *nodes;
    G const mesh_leaf *leaves;
    G const int *masks;
    int options;
    u32 item;
    real band;
    u32 shift[3];
} tile_work;

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* The index of a node of the tile along an axis. */
FN u32 tile_index(const u32 shift[3], u32 node, int axis)
{
    const u32 before = axis == 0 ? 0 : axis == 1 ? shift[0] : shift[0] + shift[1];
    return node >> before & ((1u << shift[axis]) - 1);
}

/* Where the coordinates along an axis begin. */
FN u32 tile_begin_of(const u32 shift[3], int axis)
{
    return axis == 0 ? 0 : axis == 1 ? 1u << shift[0] : (1u << shift[0]) + (1u << shift[1]);
}

/* The coordinates of a node. A node beyond the box repeats the last one along an axis. */
FN v3 tile_position(const tile_work *work, u32 node)
{
    __local const real *at = work->memory->at;
    return v3_of(at[tile_index(work->shift, node, 0)],
                 at[tile_begin_of(work->shift, 1) + tile_index(work->shift, node, 1)],
                 at[tile_begin_of(work->shift, 2) + tile_index(work->shift, node, 2)]);
}

/* Computes the nodes' coordinates. first: the tile's first node in the box. */
FN void tile_locate_nodes(const tile_work *work, const lattice_box *box, const u32 first[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const u32 left = box->count[axis] - first[axis], edge = 1u << box->shift[axis],
                  last = (left < edge ? left : edge) - 1;
        if (work->item < edge) {
            const u32 index = work->item < last ? work->item : last;
            work->memory->at[tile_begin_of(box->shift, axis) + work->item] =
                tile_coordinate(box, axis, first[axis] + index);
        }
        if (work->item == 0)
            work->memory->count[axis] = last + 1;
    }
}

/* ---- the block of the tile --------------------------------------------------------------------------------------- */

/* The element with the least number among the first MESH_WIDTH, or -1 if all are infinite. */
FN int tile_least(__local const u32 *number)
{
    u32 least = real_bits(R(1.0) / R(0.0));
    int which = -1;
    for (int i = 0; i < MESH_WIDTH; i++)
        if (number[i] < least) {
            least = number[i];
            which = i;
        }
    return which;
}

/* The squared distance from a point to the nearest of a triangle's corners, in the mesh's unit. */
FN real tile_corner_distance2(v3 at, mesh_corners corners, real scale)
{
    const v3 a = v3_mul(v3_sub(corners.p0, at), scale), b = v3_mul(v3_sub(corners.p1, at), scale),
             c = v3_mul(v3_sub(corners.p2, at), scale);
    return v_min(v_min(v3_dot(a, a), v3_dot(b, b)), v3_dot(c, c));
}

FN void tile_store_corner(__local real *to, v3 corner)
{
    to[0] = corner.x;
    to[1] = corner.y;
    to[2] = corner.z;
}

/* Finds a triangle near the tile's middle, by descent to the nearest box. There is none if masks leave out all
 * triangles of the leaf. */
FN void tile_descend(const tile_work *work, v3 middle)
{
    __local tile_memory *memory = work->memory;
    const real scale = work->frame.scale, at[3] = {middle.x * scale, middle.y * scale, middle.z * scale};
    const u32 slot = work->item;
    int next = work->frame.root;
    while (next >= 0) {
        G const mesh_node *node = work->nodes + next;
        if (slot < MESH_WIDTH) {
            const v3 lo = v3_of(node->lo_x[slot], node->lo_y[slot], node->lo_z[slot]),
                     hi = v3_of(node->hi_x[slot], node->hi_y[slot], node->hi_z[slot]);
            memory->least[slot] = node->child[slot] != 0 ? real_bits(lattice_box_distance2(at, lo, hi)) : TILE_NOTHING;
        }
        TILE_BARRIER();
        const int which = tile_least(memory->least);
        next = node->child[which < 0 ? 0 : which];
        TILE_BARRIER();
    }
    /* The nearest triangle of the leaf. */
    mesh_corners corners;
    if (slot < MESH_WIDTH) {
        G const mesh_leaf *leaf = work->leaves + MESH_LEAF_AT(next);
        corners = mesh_corners_of(leaf, next, (int)slot);
        const int counts = mesh_unmasked(leaf->triangle[slot], work->masks, next, (int)slot, -1, work->options);
        memory->least[slot] = counts ? real_bits(tile_corner_distance2(middle, corners, scale)) : TILE_NOTHING;
    }
    TILE_BARRIER();
    const int which = tile_least(memory->least);
    if ((int)slot == which) {
        tile_store_corner(memory->bound_corner, corners.p0);
        tile_store_corner(memory->bound_corner + 3, corners.p1);
        tile_store_corner(memory->bound_corner + 6, corners.p2);
    }
    if (slot == 0)
        memory->has_bound_corner = which >= 0;
    TILE_BARRIER();
}

/* Sets the bound point of the block from the corners that are in memory. */
FN void tile_set_bound_point(const tile_work *work, v3 middle, lattice_block *block)
{
    float corners[9];
    const wide_real to[3] = {middle.x, middle.y, middle.z};
    for (int k = 0; k < 9; k++)
        corners[k] = work->memory->bound_corner[k];
    const bounding_point found = bound_point_of(corners, to);
    lattice_set_bound_point(&found, (wide_real)work->frame.scale, block);
}

/* Makes the tile's block: its bounds and its bound point. */
FN void tile_make_block(const tile_work *work)
{
    __local tile_memory *memory = work->memory;
    const real scale = work->frame.scale;
    real low[3], high[3], middle[3];
    for (int axis = 0; axis < 3; axis++) {
        __local const real *along = memory->at + tile_begin_of(work->shift, axis);
        const real first = along[0], last = along[memory->count[axis] - 1];
        low[axis] = first * scale;
        high[axis] = last * scale;
        middle[axis] = first + (last - first) * R(0.5);
    }
    const v3 at = v3_of(middle[0], middle[1], middle[2]);
    tile_descend(work, at);
    if (work->item == 0) {
        lattice_block block;
        lattice_bound(low, high, lattice_reach2(work->band * scale), &block);
        if (memory->has_bound_corner)
            tile_set_bound_point(work, at, &block);
        memory->block = block;
    }
    TILE_BARRIER();
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

/* Keeps a child of a node if its box can matter. */
FN void tile_test_child(const tile_work *work, const lattice_block *block, int reference, int slot)
{
    G const mesh_node *node = work->nodes + reference;
    const int child = node->child[slot];
    const v3 lo = v3_of(node->lo_x[slot], node->lo_y[slot], node->lo_z[slot]),
             hi = v3_of(node->hi_x[slot], node->hi_y[slot], node->hi_z[slot]);
    if (child != 0 && lattice_keeps_box(block, lo, hi))
        tile_add(&work->memory->queue, child);
}

/* Appends a triangle to the list. */
FN void tile_list(const tile_work *work, const lattice_block *block, mesh_corners corners, mesh_corners scaled,
                  int triangle)
{
    __local tile_memory *memory = work->memory;
    vf rows[LATTICE_ROWS];
    const u32 to = atomic_inc(&memory->queue.listed);
    const real corner[9] = {corners.p0.x, corners.p0.y, corners.p0.z, corners.p1.x, corners.p1.y,
                            corners.p1.z, corners.p2.x, corners.p2.y, corners.p2.z};
    lattice_filter_rows(block, scaled.p0, scaled.p1, scaled.p2, rows);
    for (int k = 0; k < 9; k++)
        memory->column[k][to] = corner[k];
    for (int k = 0; k < 3; k++)
        memory->column[TILE_EDGES + k][to] = rows[LATTICE_EDGES + k];
    memory->column[TILE_COVER][to] = rows[LATTICE_COVER];
    memory->triangle[to] = triangle;
}

/* Lists a triangle of a leaf if it can matter. */
FN void tile_test_triangle(const tile_work *work, const lattice_block *block, int reference, int slot)
{
    G const mesh_leaf *leaf = work->leaves + MESH_LEAF_AT(reference);
    const int triangle = leaf->triangle[slot];
    if (mesh_unmasked(triangle, work->masks, reference, slot, -1, work->options)) {
        const mesh_corners corners = mesh_corners_of(leaf, reference, slot);
        mesh_corners scaled;
        scaled.p0 = v3_mul(corners.p0, work->frame.scale);
        scaled.p1 = v3_mul(corners.p1, work->frame.scale);
        scaled.p2 = v3_mul(corners.p2, work->frame.scale);
        if (lattice_keeps_triangle(block, scaled.p0, scaled.p1, scaled.p2))
            tile_list(work, block, corners, scaled, triangle);
    }
}

/* Searches until the list is long, or complete. */
FN void tile_search(const tile_work *work, const lattice_block *block)
{
    __local tile_queue *queue = &work->memory->queue;
    while (queue->listed <= TILE_PIECE && !tile_queue_is_empty(queue)) {
        const tile_step step = tile_next(queue, work->item);
        if (step.has_triangle)
            tile_test_triangle(work, block, step.reference, step.slot);
        if (step.has_child)
            tile_test_child(work, block, step.reference, step.slot);
        TILE_BARRIER();
    }
}

/* ---- the filter by samples --------------------------------------------------------------------------------------- */

/* One corner of a listed triangle. */
FN v3 tile_corner(__local const tile_memory *memory, u32 element, int corner)
{
    return v3_of(memory->column[3 * corner][element], memory->column[3 * corner + 1][element],
                 memory->column[3 * corner + 2][element]);
}

/* Minus the squared distance from a node to a corner, in the mesh's unit. */
FN real tile_term(v3 node, v3 corner, real scale)
{
    const v3 offset = v3_mul(v3_sub(corner, node), scale);
    return -v3_dot(offset, offset);
}

/* The greatest term of a triangle's samples, as in lattice.h but from the node itself: minus the square of the least
 * distance. */
FN real tile_sample(const tile_work *work, v3 node, u32 element)
{
    __local const tile_memory *memory = work->memory;
    const real scale = work->frame.scale;
    const real edges[LATTICE_EDGES + 3] = {[LATTICE_EDGES] = memory->column[TILE_EDGES][element],
                                           [LATTICE_EDGES + 1] = memory->column[TILE_EDGES + 1][element],
                                           [LATTICE_EDGES + 2] = memory->column[TILE_EDGES + 2][element]};
    const lattice_terms terms = {tile_term(node, tile_corner(memory, element, 0), scale),
                                 tile_term(node, tile_corner(memory, element, 1), scale),
                                 tile_term(node, tile_corner(memory, element, 2), scale)};
    return v_max(v_max(v_max(terms.a, terms.b), terms.c), lattice_middle_term(terms, edges, 1));
}

/* The element of the list that has the nearest sample. */
FN u32 tile_nearest(const tile_work *work, v3 node, u32 listed)
{
    real greatest = -(R(1.0) / R(0.0));
    u32 nearest = 0;
    for (u32 element = 0; element < listed; element++) {
        const real term = tile_sample(work, node, element);
        if (term > greatest) {
            greatest = term;
            nearest = element;
        }
    }
    return nearest;
}

/* An upper bound of a node's answer, in the caller's unit: its band, or less. */
FN real tile_most(const tile_work *work, u32 node)
{
    const u32 best = work->memory->best[node], most = work->memory->most[node];
    return real_of_bits(best < most ? best : most);
}

/* Queues the pairs of a node with the elements [first, end), except `solved`. */
FN void tile_queue_pairs(const tile_work *work, v3 node, u32 first, u32 end, u32 solved, real radius2)
{
    __local tile_memory *memory = work->memory;
    const real reach = tile_most(work, work->item) * work->frame.scale;
    const real limit = lattice_filter_limit(R(0.0), reach * reach, radius2);
    u32 left = 0;
    for (u32 element = first; element < end; element++)
        if (element != solved && tile_sample(work, node, element) + memory->column[TILE_COVER][element] >= limit)
            left |= 1u << (element - first);
    u32 to = left != 0 ? atomic_add(&memory->pair_count, bitmask_count(left)) : 0;
    for (; left != 0; left &= left - 1)
        memory->pair[to++] = (ushort)(work->item + LATTICE_TILE * (first + (u32)bitmask_first(left)));
}

/* ---- the solver -------------------------------------------------------------------------------------------------- */

/* Bounds of the distance of a pair: equal if it is decided. */
#ifdef TILE_EXACT
FN closest_proven tile_distance(closest_in in, mesh_frame frame)
{
    (void)frame;
    return closest_prove(in, 1);
}
#else
FN closest_proven tile_distance(closest_in in, mesh_frame frame)
{
    const vf scale = v_f(frame.scale);
    const closest_span span =
        closest_span_of(closest_view_of(in.center, frame), v3_mul(mesh_min3(in.p0, in.p1, in.p2), scale),
                        v3_mul(mesh_max3(in.p0, in.p1, in.p2), scale));
    closest_proven found;
    found.low = found.high = v_min(v_max(closest_find(in).distance, span.least), span.most);
    return found;
}
#endif

/* Solves a pair for each item that has one, and updates the best answers. All items take part. */
FN void tile_solve(const tile_work *work, u32 pair, int has_pair)
{
    __local tile_memory *memory = work->memory;
    const u32 node = pair % LATTICE_TILE, element = pair / LATTICE_TILE;
    closest_in in;
    in.center = tile_position(work, node);
    in.p0 = tile_corner(memory, element, 0);
    in.p1 = tile_corner(memory, element, 1);
    in.p2 = tile_corner(memory, element, 2);
    const closest_proven found = tile_distance(in, work->frame);
    const int is_decided = has_pair && found.low == found.high;
    const u32 own = is_decided ? real_bits(found.low) : TILE_NOTHING, before = memory->best[node];
    TILE_BARRIER();
    if (is_decided)
        (void)atomic_min(&memory->best[node], own);
#ifdef TILE_EXACT
    if (has_pair)
        (void)atomic_min(&memory->most[node], real_bits(found.high));
    if (has_pair && !is_decided)
        (void)atomic_min(&memory->undecided[node], real_bits(v_min(found.low, v_largest())));
#endif
    TILE_BARRIER();
    const int is_best = is_decided && own == memory->best[node];
    if (is_best && own < before)
        memory->best_triangle[node] = MESH_NO_TRIANGLE; /* of a greater distance */
    TILE_BARRIER();
    if (is_best)
        (void)atomic_min(&memory->best_triangle[node], memory->triangle[element]);
}

/* Solves queued pairs, as many at a time as there are items; all of them if `ends`. */
FN void tile_solve_queue(const tile_work *work, int ends)
{
    __local tile_memory *memory = work->memory;
    TILE_BARRIER();
    u32 left = memory->pair_count;
    while (left >= LATTICE_TILE || (ends && left > 0)) {
        const u32 first = left > LATTICE_TILE ? left - LATTICE_TILE : 0;
        const int has_pair = first + work->item < left;
        tile_solve(work, memory->pair[has_pair ? first + work->item : first], has_pair);
        left = first;
    }
    TILE_BARRIER();
    if (work->item == 0)
        memory->pair_count = left;
    TILE_BARRIER();
}

/* ---- a piece of the list ----------------------------------------------------------------------------------------- */

/* After a piece, boxes beyond the worst answer do not matter. A block without a bound point gets one: the corner in the
 * piece that is nearest to the tile. */
FN void tile_tighten(const tile_work *work, u32 listed, int has_node)
{
    __local tile_memory *memory = work->memory;
    if (has_node)
        (void)atomic_max(&memory->greatest, real_bits(tile_most(work, work->item)));
    TILE_BARRIER();
    if (work->item == 0) {
        lattice_block block = memory->block;
        block.band2 = lattice_reach2(real_of_bits(memory->greatest) * work->frame.scale);
        if (!block.has_bound_point && listed > 0) {
            const real scale = R(1.0) / work->frame.scale;
            const v3 middle = v3_mul(v3_of(block.middle[0], block.middle[1], block.middle[2]), scale);
            const u32 nearest = tile_nearest(work, middle, listed);
            for (int k = 0; k < 9; k++)
                memory->bound_corner[k] = memory->column[k][nearest];
            tile_set_bound_point(work, middle, &block);
        }
        memory->block = block;
        memory->greatest = 0;
        memory->queue.listed = 0;
    }
    TILE_BARRIER();
}

/* Answers a piece of the list. is_first: no node has an answer yet. */
FN void tile_answer_piece(const tile_work *work, u32 listed, int has_node, int is_first, real radius2)
{
    __local tile_memory *memory = work->memory;
    const v3 node = tile_position(work, work->item);
    u32 solved = TILE_NOTHING;
    for (u32 first = is_first && listed > 0 ? TILE_NOTHING : 0; first == TILE_NOTHING || first < listed;) {
        const u32 end = first == TILE_NOTHING ? 0 : first + TILE_STEP < listed ? first + TILE_STEP : listed;
        if (end == 0) {
            /* Each node begins with the triangle of the nearest sample. */
            solved = tile_nearest(work, node, listed);
            if (has_node)
                memory->pair[atomic_inc(&memory->pair_count)] = (ushort)(work->item + LATTICE_TILE * solved);
        } else if (has_node) {
            tile_queue_pairs(work, node, first, end, solved, radius2);
        }
        tile_solve_queue(work, end == 0 || end == listed);
        first = end;
    }
}

/* Answers all nodes of the tile, piece by piece. Each turn takes nodes or leaves, so turns end. */
FN void tile_answer(const tile_work *work, int has_node)
{
    __local tile_memory *memory = work->memory;
    lattice_block block = memory->block;
    real radius2 = R(0.0);
    int is_first = 1, ends;
    for (int axis = 0; axis < 3; axis++)
        radius2 += block.spread[axis] * block.spread[axis];
    do {
        tile_search(work, &block);
        const u32 listed = memory->queue.listed;
        ends = tile_queue_is_empty(&memory->queue);
        tile_answer_piece(work, listed, has_node, is_first, radius2);
        tile_tighten(work, listed, has_node);
        block = memory->block;
        is_first = 0;
    } while (!ends);
}

/* Begins the search at the root, unless no item has a node. */
FN void tile_begin(const tile_work *work, int has_node)
{
    __local tile_memory *memory = work->memory;
    memory->best[work->item] = real_bits(work->band);
    memory->best_triangle[work->item] = MESH_NO_TRIANGLE;
    memory->most[work->item] = memory->undecided[work->item] = real_bits(R(1.0) / R(0.0));
    if (work->item == 0)
        memory->pair_count = memory->greatest = 0;
    tile_queue_begin(&memory->queue, work->item, work->frame.root, has_node);
}
#endif
