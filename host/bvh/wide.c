/* SPDX-License-Identifier: MIT */
/* Collapses the binary tree into nodes of the width that is asked for. One thread numbers the nodes, all threads fill
 * the leaves with triangles. refit.c sets vertices and boxes. */
#include "bvh.h"

#include <limits.h>

_Static_assert(2 * CAROMI_LEAF_BYTES(16) >= sizeof(float[1 + 9][16]) &&
                   2 * CAROMI_LEAF_BYTES(8) >= sizeof(float[1 + 9][8]),
               "an unindexed leaf, triangles and nine rows, fits into two leaves");
_Static_assert(sizeof(bvh_binary) == 32, "bvh_binary.left takes no more memory than the box");

enum { LEAVES_PER_TASK = 256, ROOT = 0 /* number of the binary tree's root */ };

/* Marks the second leaf of an unindexed one, which is written with the first. */
#define NO_SOURCE UINT32_MAX
static uint32_t *leaf_sources(const bvh_build *build)
{
    /* reuses the items' memory; it suffices, as an unindexed leaf has more than two items */
    return (uint32_t *)(void *)build->items[1];
}

/* Writes the triangles of a leaf and, if it is indexed, the vertex of each corner. */
static void fill_leaf(const bvh_build *build, int reference, const bvh_binary *from)
{
    const bvh_item *items = build->items[0] + from->at;
    const uint32_t width = (uint32_t)build->width;
    const caromi_leaf_rows leaf = caromi_leaf_rows_of(build->leaves, build->width, reference);
    /* All bytes are written, also those that nothing reads: equal meshes have equal images. */
    memset(leaf.triangle, 0, (1 + (size_t)from->is_unindexed) * CAROMI_LEAF_BYTES(width));
    for (uint32_t lane = 0; lane < width; lane++)
        leaf.triangle[lane] = lane < from->count ? (int)items[lane].triangle : -1;
    if (from->is_unindexed)
        return;
    (void)caromi_bvh_index_vertices(build->mesh, items, from->count, leaf.corner);
    for (uint32_t lane = from->count; lane < width; lane++)
        for (int corner = 0; corner < 3; corner++)
            leaf.corner[corner][lane] = leaf.corner[corner][0];
}

/* Task: fills a range of leaves. */
static void fill_leaves(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const bvh_build *build = user;
    (void)thread;
    (void)caromi_watch_look(build->mesh->watch);
    for (uint64_t i = begin; i < end; i++)
        if (leaf_sources(build)[i] != NO_SOURCE)
            fill_leaf(build, MESH_LEAF((int)i, 0), &build->binary[leaf_sources(build)[i]]);
}

/* ---- choice of the binary nodes that become wide ones ------------------------------------------------------------ */

/* Dynamic programming over the binary tree. The slots of a wide node are its children. under[n] is the least cost of
 * storing the triangles below a binary node in at most n slots: the sum of the areas of the wide nodes in these slots
 * and below, as a query visits a node in proportion to its area. Slots themselves cost nothing, and leaves are the same
 * in every case. */
typedef struct wide_costs {
    float under[MESH_WIDEST + 1]; /* from 1 on */
} wide_costs;

/* The least cost of a node, even if its box is a line or a point, so that the fewest nodes are chosen; negligible
 * beside a real area in mesh units. */
#define LEAST_AREA 0x1p-40F

/* Sets node->left[n]: the slots of n that the cheapest division gives to the left child; the right child gets the rest.
 * 0: the node becomes a wide one in a single slot. Overwrites the node's box, which is no longer needed. */
static void share_slots(bvh_binary *node, const wide_costs *left, const wide_costs *right, float area, int width,
                        wide_costs *costs)
{
    float best[MESH_WIDEST + 1] = {0};
    int share[MESH_WIDEST + 1];
    for (int slots = 2; slots <= width; slots++) {
        best[slots] = left->under[1] + right->under[slots - 1];
        share[slots] = 1;
    }
    for (int left_slots = 2; left_slots < width; left_slots++)
        for (int slots = left_slots + 1; slots <= width; slots++) {
            const float cost = left->under[left_slots] + right->under[slots - left_slots];
            share[slots] = cost < best[slots] ? left_slots : share[slots];
            best[slots] = cost < best[slots] ? cost : best[slots];
        }
    costs->under[1] = best[width] + area;
    node->left[1] = 0;
    for (int slots = 2; slots <= width; slots++) {
        const int alone = costs->under[1] < best[slots];
        costs->under[slots] = alone ? costs->under[1] : best[slots];
        node->left[slots] = (uint8_t)(alone ? 0 : share[slots]);
    }
}

/* Whether the build ends early, after a look at the clock now and then. */
static int is_ended(const bvh_build *build)
{
    enum { LOOK_NODES = 1 << 12 };
    return build->progress != NULL && ++build->progress->seen % LOOK_NODES == 0 && bvh_report(build->mesh, 0.6);
}

/* Computes the costs below a binary node, children first. */
static void find_shares(const bvh_build *build, uint32_t binary, wide_costs *costs)
{
    bvh_binary *node = &build->binary[binary];
    if (node->count > 0 || is_ended(build) || caromi_watch_ends(build->mesh->watch)) {
        memset(costs, 0, sizeof *costs);
        return;
    }
    const bvh_vec lo = {node->lo[0], node->lo[1], node->lo[2], 0}, hi = {node->hi[0], node->hi[1], node->hi[2], 0};
    wide_costs left, right;
    find_shares(build, node->at, &left);
    find_shares(build, node->at + 1, &right);
    share_slots(node, &left, &right, bvh_area(lo, hi) + LEAST_AREA, build->width, costs);
}

/* The children of a wide node. */
typedef struct wide_slots {
    uint32_t binary[MESH_WIDEST];
    int used; /* number of children */
} wide_slots;

/* Distributes the triangles below a binary node over at most `slots` slots. */
static void take_slots(const bvh_build *build, uint32_t binary, int slots, wide_slots *taken)
{
    const bvh_binary *node = &build->binary[binary];
    const int left = node->count > 0 ? 0 : node->left[slots];
    if (left == 0) {
        taken->binary[taken->used++] = binary;
        return;
    }
    take_slots(build, node->at, left, taken);
    take_slots(build, node->at + 1, slots - left, taken);
}

/* The binary nodes that become the children of a wide node. */
static wide_slots slots_of(const bvh_build *build, uint32_t binary)
{
    wide_slots taken = {.used = 0};
    take_slots(build, binary, build->width, &taken);
    return taken;
}

/* The number of wide nodes in a subtree. */
static uint32_t count_nodes(const bvh_build *build, uint32_t binary)
{
    uint32_t nodes = 1;
    if (build->binary[binary].count > 0)
        return 0;
    (void)is_ended(build);
    const wide_slots taken = slots_of(build, binary);
    for (int i = 0; i < taken.used; i++)
        nodes += count_nodes(build, taken.binary[i]);
    return nodes;
}

/* ---- nodes and leaves -------------------------------------------------------------------------------------------- */

/* Makes all boxes of a node empty. */
static void clear_boxes(const caromi_node_rows *node, int width)
{
    for (int k = 0; k < 3; k++)
        for (int slot = 0; slot < width; slot++) {
            node->lower[k][slot] = __builtin_inff();
            node->upper[k][slot] = -__builtin_inff();
        }
}

static caromi_node_rows node_of(const bvh_build *build, uint32_t number)
{
    return caromi_node_rows_of(build->nodes, build->width, number);
}

/* Makes the wide node, or the leaf, of a binary node; returns its reference. *stack: entries that a traversal may need
 * below it. */
static int collapse(bvh_build *build, uint32_t binary, int *stack)
{
    *stack = 1;
    (void)is_ended(build);
    if (build->binary[binary].count > 0) {
        const int at = (int)build->leaf_count, is_unindexed = build->binary[binary].is_unindexed;
        leaf_sources(build)[build->leaf_count++] = binary;
        if (is_unindexed)
            leaf_sources(build)[build->leaf_count++] = NO_SOURCE;
        return MESH_LEAF(at, is_unindexed);
    }
    const wide_slots taken = slots_of(build, binary);
    const uint32_t self = build->node_count++;
    const caromi_node_rows node = node_of(build, self);
    clear_boxes(&node, build->width);
    for (int i = 0; i < build->width; i++) {
        int below = 0;
        node.child[i] = i < taken.used ? collapse(build, taken.binary[i], &below) : 0;
        *stack = below + taken.used > *stack ? below + taken.used : *stack;
    }
    return (int)self;
}

/* The lowest triangle index below a child. */
static int least_below(const bvh_build *build, int child)
{
    const int *index = child < 0 ? caromi_leaf_rows_of(build->leaves, build->width, child).triangle
                                 : node_of(build, (uint32_t)child).least;
    int least = index[0]; /* starts with the first slot, which is never empty */
    for (int slot = 1; slot < build->width; slot++)
        least = index[slot] >= 0 && index[slot] < least ? index[slot] : least;
    return least;
}

/* Finds the lowest triangle index below every slot, from the last node to the first: children have higher numbers than
 * their node. */
static void find_least(bvh_build *build)
{
    enum { LOOK_NODES = 1 << 8 };
    for (uint32_t number = build->node_count; number-- > 0;) {
        const caromi_node_rows node = node_of(build, number);
        if (number % LOOK_NODES == 0)
            (void)bvh_report(build->mesh, 0.8);
        for (int slot = 0; slot < build->width; slot++)
            node.least[slot] = node.child[slot] == 0 ? INT_MAX : least_below(build, node.child[slot]);
    }
}

/* Chooses the wide nodes, numbers them and their leaves, and fills the leaves. A tree that is too large or deep for a
 * traversal is left to the caller, who builds another one. */
carom_status caromi_bvh_collapse(bvh_build *build, int *stack, carom_error *err)
{
    const carom_mesh *mesh = build->mesh;
    *stack = MESH_STACK + 1;
    if (build->leaf_total > MESH_LEAVES_MAX)
        return CAROM_OK;
    build->node_count = build->leaf_count = 0;
    build->leaves = caromi_alloc(mesh->context, build->leaf_total, CAROMI_LEAF_BYTES(build->width));
    wide_costs costs;
    find_shares(build, ROOT, &costs);
    CHECK(bvh_went_on(mesh));
    const uint32_t nodes = count_nodes(build, ROOT);
    build->nodes = caromi_alloc(mesh->context, nodes > 0 ? nodes : 1, CAROMI_NODE_BYTES(build->width));
    if (build->leaves == NULL || build->nodes == NULL)
        return caromi_fail_memory(err, "no memory for the hierarchy of %u triangles (%u leaves)",
                                  (uint32_t)mesh->info.triangle_count, build->leaf_total);
    build->root = collapse(build, ROOT, stack);
    if (*stack > MESH_STACK)
        return CAROM_OK;
    (void)bvh_report(mesh, 0.75);
    caromi_parallel_runs(mesh->context->pool, build->leaf_count, LEAVES_PER_TASK, fill_leaves, build);
    find_least(build);
    (void)bvh_report(mesh, 0.85);
    return bvh_went_on(mesh);
}
