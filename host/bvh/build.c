/* SPDX-License-Identifier: MIT */
/* Builds the hierarchy: a binary tree by binned SAH (surface area heuristic), which is then collapsed into nodes and
 * leaves of width MESH_WIDTH. All threads of the context build. Ties are broken by index, so the same input gives the
 * same tree for any number of threads. Answers do not depend on the tree (kernels/mesh.h). */
#include <assert.h>

#include "bvh.h"

/* All threads together split the parts with many items; a single thread builds each smaller part. */
enum { ITEMS_PER_TASK = 8192, PARTS_PER_THREAD = 8, SLICES_PER_THREAD = 4, SLICES_MAX = 64 };

/* ---- items ------------------------------------------------------------------------------------------------------- */

static void make_item(const carom_mesh *mesh, uint32_t triangle, bvh_item *item)
{
    const float *p = caromi_corner(mesh, triangle, 0), *q = caromi_corner(mesh, triangle, 1);
    const float *r = caromi_corner(mesh, triangle, 2), scale = mesh->view.frame.scale;
    for (int k = 0; k < 3; k++) {
        const float lo = p[k] < q[k] ? p[k] : q[k], hi = p[k] > q[k] ? p[k] : q[k];
        item->lo[k] = bvh_scaled(r[k] < lo ? r[k] : lo, scale);
        item->hi[k] = bvh_scaled(r[k] > hi ? r[k] : hi, scale);
    }
    item->triangle = triangle;
    item->zero = 0;
}

static void make_items(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const bvh_build *b = user;
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        make_item(b->mesh, (uint32_t)i, &b->items[0][i]);
}

/* ---- the binary tree --------------------------------------------------------------------------------------------- */

static void set_node(bvh_binary *node, const bvh_box *box)
{
    for (int k = 0; k < 3; k++) {
        node->lo[k] = box->lo[k];
        node->hi[k] = box->hi[k];
    }
}

static bvh_box box_around(const bvh_item *items, uint32_t count)
{
    bvh_box box = bvh_empty();
    for (uint32_t i = 0; i < count; i++)
        bvh_grow(&box, bvh_box_of(&items[i]));
    return box;
}

/* Splits a part in two; their nodes are `below` and `below` + 1. */
static void cut_part(const bvh_build *b, const bvh_part *part, uint32_t below, int is_large, bvh_part parts[2])
{
    const bvh_item *from = b->items[part->side] + part->first;
    bvh_item *to = b->items[!part->side] + part->first;
    int side = !part->side;
    bvh_split split;
    split.axis = -1;
    if (!b->halve_only && part->depth < BVH_HALVING_DEPTH) {
        if (is_large) {
            caromi_bvh_split_large(b, from, to, part->count, &split);
        } else {
            caromi_bvh_find_split(from, part->count, &split);
            if (split.axis >= 0)
                caromi_bvh_partition(from, to, part->count, &split);
        }
    }
    if (split.axis < 0) { /* no split pays: the items are halved in their present order */
        side = part->side;
        split.left = part->count / 2;
        split.box[0] = box_around(from, split.left);
        split.box[1] = box_around(from + split.left, part->count - split.left);
    }
    b->binary[part->node].at = below;
    b->binary[part->node].count = 0;
    set_node(&b->binary[below], &split.box[0]);
    set_node(&b->binary[below + 1], &split.box[1]);
    parts[0] = (bvh_part){below, part->first, split.left, 0, 0, part->depth + 1, side};
    parts[1] = (bvh_part){below + 1, part->first + split.left, part->count - split.left, 0, 0, part->depth + 1, side};
}

/* Builds a leaf; returns its size in leaves: 2 if it is unindexed, else 1. */
static uint32_t build_leaf(const bvh_build *b, const bvh_part *part)
{
    bvh_binary *node = &b->binary[part->node];
    uint8_t corner[3][MESH_WIDTH];
    if (part->side != 0)
        memcpy(b->items[0] + part->first, b->items[1] + part->first, part->count * sizeof(bvh_item));
    node->at = part->first;
    node->count = (uint16_t)part->count;
    node->is_unindexed =
        caromi_bvh_index_vertices(b->mesh, b->items[0] + part->first, part->count, corner) > MESH_WIDTH;
    return 1 + (uint32_t)node->is_unindexed;
}

/* Builds the subtree of a part, with nodes from *below on. Returns the number of its leaves. */
static uint32_t build_part(const bvh_build *b, const bvh_part *part, uint32_t *below)
{
    if (part->count <= MESH_WIDTH)
        return build_leaf(b, part);
    bvh_part parts[2];
    cut_part(b, part, *below, 0, parts);
    *below += 2;
    const uint32_t left = build_part(b, &parts[0], below);
    return left + build_part(b, &parts[1], below);
}

static void build_parts(void *user, uint64_t task, uint32_t thread)
{
    const bvh_build *b = user;
    bvh_part *part = &b->parts[task];
    uint32_t below = part->below;
    (void)thread;
    part->leaves = build_part(b, part, &below);
}

/* Builds the binary tree. A subtree over n items has at most 2n-1 nodes, so each part has its own range for the nodes
 * below its root, and threads are independent. */
static void build_binary(bvh_build *b)
{
    caromi_pool *pool = b->mesh->context->pool;
    const uint32_t threads = caromi_pool_threads(pool), count = (uint32_t)b->mesh->info.triangle_count;
    const uint32_t share = count / (threads * PARTS_PER_THREAD);
    const uint32_t largest = threads == 1 ? count : share < ITEMS_PER_TASK ? ITEMS_PER_TASK : share;
    const bvh_box none = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    set_node(&b->binary[0], &none); /* the cost of the root is not used */
    b->parts[0] = (bvh_part){0, 0, count, 2, 0, 0, 0};
    b->part_count = 1;
    for (uint32_t i = 0; i < b->part_count && b->part_count < b->part_max;) {
        const bvh_part part = b->parts[i];
        if (part.count <= largest) {
            i++;
            continue;
        }
        bvh_part parts[2];
        cut_part(b, &part, part.below, 1, parts);
        parts[0].below = part.below + 2;
        parts[1].below = part.below + 2 * parts[0].count;
        b->parts[i] = parts[0];
        b->parts[b->part_count++] = parts[1];
    }
    caromi_parallel(pool, b->part_count, build_parts, b);
    b->leaf_total = 0;
    for (uint32_t i = 0; i < b->part_count; i++)
        b->leaf_total += b->parts[i].leaves;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static carom_status alloc_build(bvh_build *b, const carom_mesh *mesh, carom_error *err)
{
    const carom_context *c = mesh->context;
    const uint64_t count = mesh->info.triangle_count;
    const uint32_t threads = caromi_pool_threads(c->pool), slices = threads * SLICES_PER_THREAD;
    memset(b, 0, sizeof *b);
    b->mesh = mesh;
    b->slice_count = slices < SLICES_MAX ? slices : SLICES_MAX;
    b->part_max = 4 * PARTS_PER_THREAD * threads;
    b->items[0] = caromi_alloc(c, count, sizeof(bvh_item));
    b->items[1] = caromi_alloc(c, count, sizeof(bvh_item));
    b->binary = caromi_alloc(c, 2 * count, sizeof *b->binary);
    b->slices = caromi_alloc(c, b->slice_count, sizeof *b->slices);
    b->parts = caromi_alloc(c, b->part_max, sizeof *b->parts);
    if (b->items[0] && b->items[1] && b->binary && b->slices && b->parts)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to build over %llu triangles",
                       (unsigned long long)count);
}

static void free_build(bvh_build *b)
{
    const carom_context *c = b->mesh->context;
    caromi_free(c, b->items[0]);
    caromi_free(c, b->items[1]);
    caromi_free(c, b->binary);
    caromi_free(c, b->slices);
    caromi_free(c, b->parts);
}

static carom_status build_tree(bvh_build *b, int *stack, carom_error *err)
{
    build_binary(b);
    return caromi_bvh_collapse(b, stack, err);
}

carom_status caromi_bvh_build(const carom_mesh *mesh, caromi_tree *out, carom_error *err)
{
    const carom_context *c = mesh->context;
    bvh_build b;
    int stack = 0;
    carom_status status = alloc_build(&b, mesh, err);
    if (status == CAROM_OK) {
        caromi_parallel_runs(c->pool, mesh->info.triangle_count, ITEMS_PER_TASK, make_items, &b);
        status = build_tree(&b, &stack, err);
    }
    if (status == CAROM_OK && stack > MESH_STACK) { /* only a contrived input: then all splits halve, which bounds the
                                                       depth by 27, as a leaf holds at least 8 */
        caromi_free(c, b.leaves);
        caromi_free(c, b.nodes);
        b.leaves = NULL;
        b.nodes = NULL;
        b.halve_only = 1;
        status = build_tree(&b, &stack, err);
        assert(stack <= MESH_STACK);
    }
    free_build(&b);
    if (status != CAROM_OK) {
        caromi_free(c, b.leaves);
        caromi_free(c, b.nodes);
        return status;
    }
    *out = (caromi_tree){b.nodes, b.leaves, b.node_count, b.leaf_count, b.root, stack};
    return CAROM_OK;
}
