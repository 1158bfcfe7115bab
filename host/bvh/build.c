/* SPDX-License-Identifier: MIT */
/* Builds the hierarchy: a binary tree by binned SAH (surface area heuristic), which is then collapsed into nodes and
 * leaves of 8 or 16 slots. All threads of the context build. Ties are broken by index, so the same input gives the
 * same tree for any number of threads. Answers do not depend on the tree (kernels/mesh.h). */
#include <assert.h>

#include "bvh.h"

/* All threads together split the parts with many items; a single thread builds each smaller part. A build with a watch
 * has smaller parts and slices, as the clock is looked at between them; the tree is the same. */
enum { ITEMS_PER_TASK = 8192, PARTS_PER_THREAD = 8, SLICES_PER_THREAD = 4, SLICES_MAX = 64, WATCHED_ITEMS = 1 << 20 };

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* Parts of fewer items are built without a look at the clock. */
enum { LOOK_ITEMS = 4096 };
/* The shares of making a mesh behind which the binary tree begins and ends. */
static const double BEGIN = 0.1, END = 0.6;

/* In how many parts that are cut an item is, about. */
static double levels_of(const bvh_build *build, uint64_t count)
{
    int levels = 1;
    for (uint64_t left = count / (uint64_t)build->width; left > 1; left /= 2)
        levels++;
    return levels;
}

/* A part of so many items is to be cut. Returns whether the build ends early. */
static int report_part(const bvh_build *build, uint32_t count)
{
    if (build->progress == NULL || count < LOOK_ITEMS)
        return 0;
    const uint64_t all = build->mesh->info.triangle_count;
    const double work = (double)(atomic_fetch_add_explicit(&build->progress->work, count, memory_order_relaxed));
    const double share = work / ((double)all * levels_of(build, all));
    return bvh_report(build->mesh, BEGIN + (END - BEGIN) * (share < 1 ? share : 1));
}

/* The children of a part of so many items are built. Those that no look counted count now. */
static void report_children(const bvh_build *build, uint32_t count, const bvh_part parts[2])
{
    for (int i = 0; i < 2 && build->progress != NULL && count >= LOOK_ITEMS; i++)
        if (parts[i].count < LOOK_ITEMS)
            (void)atomic_fetch_add_explicit(&build->progress->work,
                                            (uint64_t)(parts[i].count * levels_of(build, parts[i].count)),
                                            memory_order_relaxed);
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* The item of a triangle: its bounding box in mesh units. */
static void make_item(const carom_mesh *mesh, uint32_t triangle, bvh_item *item)
{
    const float *corner0 = caromi_corner(mesh, triangle, 0), *corner1 = caromi_corner(mesh, triangle, 1);
    const float *corner2 = caromi_corner(mesh, triangle, 2), scale = mesh->view.frame.scale;
    for (int k = 0; k < 3; k++) {
        const float lo = corner0[k] < corner1[k] ? corner0[k] : corner1[k],
                    hi = corner0[k] > corner1[k] ? corner0[k] : corner1[k];
        item->lo[k] = bvh_scaled(corner2[k] < lo ? corner2[k] : lo, scale);
        item->hi[k] = bvh_scaled(corner2[k] > hi ? corner2[k] : hi, scale);
    }
    item->triangle = triangle;
    item->zero = 0;
}

/* Task: makes a range of items. */
static void make_items(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const bvh_build *build = user;
    (void)thread;
    (void)caromi_watch_look(build->mesh->watch);
    for (uint64_t i = begin; i < end; i++)
        make_item(build->mesh, (uint32_t)i, &build->items[0][i]);
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

/* Splits a part in two; their nodes are `below` and `below` + 1. LARGE: by all threads. */
typedef enum part_size { SMALL, LARGE } part_size;
static void cut_part(const bvh_build *build, const bvh_part *part, uint32_t below, part_size size, bvh_part parts[2])
{
    const bvh_item *from = build->items[part->side] + part->first;
    bvh_item *to = build->items[!part->side] + part->first;
    int side = !part->side;
    bvh_split split;
    split.axis = -1;
    if (!build->halve_only && part->depth < BVH_HALVING_DEPTH) {
        if (size == LARGE) {
            caromi_bvh_split_large(build, from, to, part->count, &split);
        } else {
            caromi_bvh_find_split(from, part->count, build->width, &split);
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
    /* The part's node becomes an inner one, with two new nodes as its children. */
    build->binary[part->node].at = below;
    build->binary[part->node].count = 0;
    set_node(&build->binary[below], &split.box[0]);
    set_node(&build->binary[below + 1], &split.box[1]);
    parts[0] =
        (bvh_part){.node = below, .first = part->first, .count = split.left, .depth = part->depth + 1, .side = side};
    parts[1] = (bvh_part){.node = below + 1,
                          .first = part->first + split.left,
                          .count = part->count - split.left,
                          .depth = part->depth + 1,
                          .side = side};
}

/* Builds a leaf; returns its size in leaves: 2 if it is unindexed, else 1. */
static uint32_t build_leaf(const bvh_build *build, const bvh_part *part)
{
    bvh_binary *node = &build->binary[part->node];
    uint8_t rows[3][MESH_WIDEST], *const corner[3] = {rows[0], rows[1], rows[2]};
    if (part->side != 0)
        memcpy(build->items[0] + part->first, build->items[1] + part->first, part->count * sizeof(bvh_item));
    node->at = part->first;
    node->count = (uint16_t)part->count;
    node->is_unindexed =
        caromi_bvh_index_vertices(build->mesh, build->items[0] + part->first, part->count, corner) > MESH_VERTICES;
    return 1 + (uint32_t)node->is_unindexed;
}

/* Builds the subtree of a part, with nodes from *below on. Returns the number of its leaves. */
static uint32_t build_part(const bvh_build *build, const bvh_part *part, uint32_t *below)
{
    if (part->count <= (uint32_t)build->width)
        return build_leaf(build, part);
    if (report_part(build, part->count))
        return 0;
    bvh_part parts[2];
    cut_part(build, part, *below, SMALL, parts);
    *below += 2;
    const uint32_t left = build_part(build, &parts[0], below), right = build_part(build, &parts[1], below);
    report_children(build, part->count, parts);
    return left + right;
}

/* Task: builds the subtree of a part. */
static void build_parts(void *user, uint64_t task, uint32_t thread)
{
    const bvh_build *build = user;
    bvh_part *part = &build->parts[task];
    uint32_t below = part->below;
    (void)thread;
    part->leaves = build_part(build, part, &below);
}

/* The most items of a part that a single thread builds. */
static uint32_t largest_of(const bvh_build *build, uint32_t threads, uint32_t count)
{
    const uint32_t share = count / (threads * PARTS_PER_THREAD);
    const uint32_t largest = threads == 1 ? count : share < ITEMS_PER_TASK ? ITEMS_PER_TASK : share;
    return build->progress != NULL && largest > WATCHED_ITEMS ? WATCHED_ITEMS : largest;
}

/* Builds the binary tree. A subtree over n items has at most 2n-1 nodes, so each part has its own range for the nodes
 * below its root, and threads are independent. */
static void build_binary(bvh_build *build)
{
    caromi_pool *pool = build->mesh->context->pool;
    const uint32_t threads = caromi_pool_threads(pool), count = (uint32_t)build->mesh->info.triangle_count;
    const uint32_t largest = largest_of(build, threads, count);
    const bvh_box none = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    set_node(&build->binary[0], &none); /* the cost of the root is not used */
    /* Splits large parts by all threads, until each is small enough for one. */
    build->parts[0] = (bvh_part){.count = count, .below = 2};
    build->part_count = 1;
    for (uint32_t i = 0; i < build->part_count && build->part_count < build->part_max;) {
        const bvh_part part = build->parts[i];
        if (part.count <= largest) {
            i++;
            continue;
        }
        if (report_part(build, part.count))
            return;
        bvh_part parts[2];
        cut_part(build, &part, part.below, LARGE, parts);
        parts[0].below = part.below + 2;
        parts[1].below = part.below + 2 * parts[0].count;
        build->parts[i] = parts[0];
        build->parts[build->part_count++] = parts[1];
    }
    caromi_parallel(pool, build->part_count, build_parts, build);
    build->leaf_total = 0;
    for (uint32_t i = 0; i < build->part_count; i++)
        build->leaf_total += build->parts[i].leaves;
}

/* ---- the build --------------------------------------------------------------------------------------------------- */

/* Allocates the items, the binary tree, and the memory of the tasks. */
static carom_status alloc_build(bvh_build *build, const carom_mesh *mesh, int width, bvh_progress *progress,
                                carom_error *err)
{
    const carom_context *context = mesh->context;
    const uint64_t count = mesh->info.triangle_count;
    const uint32_t threads = caromi_pool_threads(context->pool), slices = threads * SLICES_PER_THREAD;
    memset(build, 0, sizeof *build);
    build->mesh = mesh;
    build->width = width;
    build->progress = mesh->watch != NULL ? progress : NULL;
    build->slice_count = slices < SLICES_MAX && build->progress == NULL ? slices : SLICES_MAX;
    build->part_max = 4 * PARTS_PER_THREAD * threads;
    if (build->progress != NULL)
        build->part_max += 4 * (uint32_t)(count / WATCHED_ITEMS);
    build->items[0] = caromi_alloc(context, count, sizeof(bvh_item));
    build->items[1] = caromi_alloc(context, count, sizeof(bvh_item));
    build->binary = caromi_alloc(context, 2 * count, sizeof *build->binary);
    build->slices = caromi_alloc(context, build->slice_count, sizeof *build->slices);
    build->parts = caromi_alloc(context, build->part_max, sizeof *build->parts);
    if (build->items[0] && build->items[1] && build->binary && build->slices && build->parts)
        return CAROM_OK;
    return caromi_fail_memory(err, "no memory to build over %llu triangles", (unsigned long long)count);
}

static void free_build(bvh_build *build)
{
    const carom_context *context = build->mesh->context;
    caromi_free(context, build->items[0]);
    caromi_free(context, build->items[1]);
    caromi_free(context, build->binary);
    caromi_free(context, build->slices);
    caromi_free(context, build->parts);
}

static carom_status build_tree(bvh_build *build, int *stack, carom_error *err)
{
    build_binary(build);
    CHECK(bvh_went_on(build->mesh));
    return caromi_bvh_collapse(build, stack, err);
}

/* Items, binary tree, wide nodes; a refit follows for boxes and vertices. */
carom_status caromi_bvh_build(const carom_mesh *mesh, int width, caromi_tree *out, carom_error *err)
{
    const carom_context *context = mesh->context;
    bvh_build build;
    bvh_progress progress = {0};
    int stack = 0;
    carom_status status = alloc_build(&build, mesh, width, &progress, err);
    if (status == CAROM_OK) {
        caromi_parallel_runs(context->pool, mesh->info.triangle_count, ITEMS_PER_TASK, make_items, &build);
        status = build_tree(&build, &stack, err);
    }
    /* A contrived input can make the tree too deep for a traversal's stack. Then all splits halve, which bounds the
     * depth by 28, as a leaf holds at least 4. */
    if (status == CAROM_OK && stack > MESH_STACK) {
        caromi_free(context, build.leaves);
        caromi_free(context, build.nodes);
        build.leaves = NULL;
        build.nodes = NULL;
        build.halve_only = 1;
        status = build_tree(&build, &stack, err);
        assert(stack <= MESH_STACK);
    }
    free_build(&build);
    if (status != CAROM_OK) {
        caromi_free(context, build.leaves);
        caromi_free(context, build.nodes);
        return status;
    }
    *out = (caromi_tree){build.nodes, build.leaves, width, build.node_count, build.leaf_count, build.root, stack};
    return CAROM_OK;
}
