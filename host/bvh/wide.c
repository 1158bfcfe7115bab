/* SPDX-License-Identifier: MIT */
/* Collapses the binary tree into nodes of width MESH_WIDTH. One thread numbers the nodes, all threads fill the leaves
 * with triangles. refit.c sets vertices and boxes. */
#include "bvh.h"

#include <limits.h>
#include <stddef.h>

_Static_assert(sizeof(mesh_leaf) % 64 == 0 && 2 * sizeof(mesh_leaf) == sizeof(float[1 + 9][MESH_WIDTH]) &&
                   offsetof(mesh_leaf, triangle) == 0,
               "an unindexed leaf, triangles and nine rows, fills two places");
_Static_assert(sizeof(bvh_binary) == 32, "the shares take no more room than the box");

enum { LEAVES_PER_TASK = 256 };

/* Marks the second leaf of an unindexed one, which is written with the first. */
#define NO_SOURCE UINT32_MAX
static uint32_t *leaf_sources(const bvh_build *b)
{
    /* reuses the items' memory; it suffices, as an unindexed leaf has more than two items */
    return (uint32_t *)(void *)b->items[1];
}

static void fill_leaf(const bvh_build *b, mesh_leaf *leaf, const bvh_binary *from)
{
    const bvh_item *items = b->items[0] + from->at;
    for (uint32_t lane = 0; lane < MESH_WIDTH; lane++)
        leaf->triangle[lane] = lane < from->count ? (int)items[lane].triangle : -1;
    if (from->is_unindexed)
        return;
    memset(leaf->corner, 0, sizeof leaf->corner);
    memset(leaf->unused, 0, sizeof leaf->unused);
    (void)caromi_bvh_index_vertices(b->mesh, items, from->count, leaf->corner);
    for (uint32_t lane = from->count; lane < MESH_WIDTH; lane++)
        for (int c = 0; c < 3; c++)
            leaf->corner[c][lane] = leaf->corner[c][0];
}

static void fill_leaves(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const bvh_build *b = user;
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        if (leaf_sources(b)[i] != NO_SOURCE)
            fill_leaf(b, &b->leaves[i], &b->binary[leaf_sources(b)[i]]);
}

/* ---- choice of the binary nodes that become wide ones ------------------------------------------------------------ */

/* Dynamic programming over the binary tree. The slots of a wide node are its children. under[n] is the least cost of
 * storing the triangles below a binary node in at most n slots: the sum of the areas of the wide nodes in these slots
 * and below, as a query visits a node in proportion to its area. Slots themselves cost nothing, and leaves are the same
 * in every case. */
typedef struct wide_costs {
    float under[MESH_WIDTH + 1]; /* from 1 on */
} wide_costs;

/* The least cost of a node, even if its box is a line or a point, so that the fewest nodes are chosen; negligible
 * beside a real area in mesh units. */
#define LEAST_AREA 0x1p-40F

/* Sets node->left[n]: the slots of n that the cheapest division gives to the left child; the right child gets the rest.
 * 0: the node becomes a wide one in a single slot. Overwrites the node's box, which is no longer needed. */
static void share_slots(bvh_binary *node, const wide_costs *left, const wide_costs *right, float area,
                        wide_costs *costs)
{
    float best[MESH_WIDTH + 1];
    int share[MESH_WIDTH + 1];
    for (int slots = 2; slots <= MESH_WIDTH; slots++) {
        best[slots] = left->under[1] + right->under[slots - 1];
        share[slots] = 1;
    }
    for (int k = 2; k < MESH_WIDTH; k++)
        for (int slots = k + 1; slots <= MESH_WIDTH; slots++) {
            const float cost = left->under[k] + right->under[slots - k];
            share[slots] = cost < best[slots] ? k : share[slots];
            best[slots] = cost < best[slots] ? cost : best[slots];
        }
    costs->under[1] = best[MESH_WIDTH] + area;
    node->left[1] = 0;
    for (int slots = 2; slots <= MESH_WIDTH; slots++) {
        const int alone = costs->under[1] < best[slots];
        costs->under[slots] = alone ? costs->under[1] : best[slots];
        node->left[slots] = (uint8_t)(alone ? 0 : share[slots]);
    }
}

static void find_shares(const bvh_build *b, uint32_t binary, wide_costs *costs)
{
    bvh_binary *node = &b->binary[binary];
    if (node->count > 0) {
        memset(costs, 0, sizeof *costs);
        return;
    }
    const bvh_vec lo = {node->lo[0], node->lo[1], node->lo[2], 0}, hi = {node->hi[0], node->hi[1], node->hi[2], 0};
    wide_costs left, right;
    find_shares(b, node->at, &left);
    find_shares(b, node->at + 1, &right);
    share_slots(node, &left, &right, bvh_area(lo, hi) + LEAST_AREA, costs);
}

/* The children of a wide node. */
typedef struct wide_slots {
    uint32_t binary[MESH_WIDTH];
    int used;
} wide_slots;

/* Distributes the triangles below a binary node over at most `slots` slots. */
static void take_slots(const bvh_build *b, uint32_t binary, int slots, wide_slots *s)
{
    const bvh_binary *node = &b->binary[binary];
    const int left = node->count > 0 ? 0 : node->left[slots];
    if (left == 0) {
        s->binary[s->used++] = binary;
        return;
    }
    take_slots(b, node->at, left, s);
    take_slots(b, node->at + 1, slots - left, s);
}

static wide_slots slots_of(const bvh_build *b, uint32_t binary)
{
    wide_slots s = {.used = 0};
    take_slots(b, binary, MESH_WIDTH, &s);
    return s;
}

static uint32_t count_nodes(const bvh_build *b, uint32_t binary)
{
    uint32_t nodes = 1;
    if (b->binary[binary].count > 0)
        return 0;
    const wide_slots s = slots_of(b, binary);
    for (int i = 0; i < s.used; i++)
        nodes += count_nodes(b, s.binary[i]);
    return nodes;
}

/* ---- nodes and leaves -------------------------------------------------------------------------------------------- */

static void clear_boxes(mesh_node *node)
{
    for (int i = 0; i < MESH_WIDTH; i++) {
        node->lo_x[i] = node->lo_y[i] = node->lo_z[i] = __builtin_inff();
        node->hi_x[i] = node->hi_y[i] = node->hi_z[i] = -__builtin_inff();
    }
}

/* Makes the wide node, or the leaf, of a binary node; returns its reference. *stack: entries that a traversal may need
 * below it. */
static int collapse(bvh_build *b, uint32_t binary, int *stack)
{
    *stack = 1;
    if (b->binary[binary].count > 0) {
        const int at = (int)b->leaf_count, is_unindexed = b->binary[binary].is_unindexed;
        leaf_sources(b)[b->leaf_count++] = binary;
        if (is_unindexed)
            leaf_sources(b)[b->leaf_count++] = NO_SOURCE;
        return MESH_LEAF(at, is_unindexed);
    }
    const wide_slots s = slots_of(b, binary);
    const uint32_t self = b->node_count++;
    clear_boxes(&b->nodes[self]);
    for (int i = 0; i < MESH_WIDTH; i++) {
        int below = 0;
        b->nodes[self].child[i] = i < s.used ? collapse(b, s.binary[i], &below) : 0;
        *stack = below + s.used > *stack ? below + s.used : *stack;
    }
    return (int)self;
}

static int least_below(const bvh_build *b, int child)
{
    const int *index = child < 0 ? b->leaves[MESH_LEAF_AT(child)].triangle : b->nodes[child].least;
    int least = index[0]; /* starts with the first slot, which is never empty */
    for (int i = 1; i < MESH_WIDTH; i++)
        least = index[i] >= 0 && index[i] < least ? index[i] : least;
    return least;
}

/* Finds the lowest triangle index below every slot, from the last node to the first: children have higher numbers than
 * their node. */
static void find_least(bvh_build *b)
{
    for (uint32_t n = b->node_count; n-- > 0;) {
        mesh_node *node = &b->nodes[n];
        for (int i = 0; i < MESH_WIDTH; i++)
            node->least[i] = node->child[i] == 0 ? INT_MAX : least_below(b, node->child[i]);
    }
}

carom_status caromi_bvh_collapse(bvh_build *b, int *stack, carom_error *err)
{
    const carom_mesh *mesh = b->mesh;
    *stack = MESH_STACK + 1;
    if (b->leaf_total > MESH_LEAVES_MAX)
        return CAROM_OK;
    b->node_count = b->leaf_count = 0;
    b->leaves = caromi_alloc(mesh->context, b->leaf_total, sizeof *b->leaves);
    wide_costs costs;
    find_shares(b, 0, &costs);
    const uint32_t nodes = count_nodes(b, 0);
    b->nodes = caromi_alloc(mesh->context, nodes > 0 ? nodes : 1, sizeof *b->nodes);
    if (b->leaves == NULL || b->nodes == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the hierarchy of %u triangles (%u leaves)",
                           (uint32_t)mesh->info.triangle_count, b->leaf_total);
    b->root = collapse(b, 0, stack);
    if (*stack > MESH_STACK)
        return CAROM_OK;
    caromi_parallel_runs(mesh->context->pool, b->leaf_count, LEAVES_PER_TASK, fill_leaves, b);
    find_least(b);
    return CAROM_OK;
}
