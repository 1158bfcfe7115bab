/* SPDX-License-Identifier: MIT */
/* The binary tree collapsed into nodes of MESH_WIDTH, numbered by one thread, and the triangles put in leaves by all.
 * Corners and boxes are bvh_refit.c's. */
#include "bvh.h"

#include <limits.h>

enum { LEAVES_PER_TASK = 256 };

static uint32_t *leaf_sources(const bvh_build *b)
{
    return (uint32_t *)(void *)b->items[1]; /* which nobody needs any more; there are fewer leaves than items */
}

static void fill_leaf(const bvh_build *b, mesh_leaf *leaf, const bvh_binary *from)
{
    for (uint32_t lane = 0; lane < MESH_WIDTH; lane++)
        leaf->triangle[lane] = lane < from->count ? (int)b->items[0][from->at + lane].triangle : -1;
}

static void fill_leaves(void *user, uint64_t task, uint32_t thread)
{
    const bvh_build *b = user;
    const uint32_t first = (uint32_t)task * LEAVES_PER_TASK, left = b->leaf_count - first;
    const uint32_t end = first + (left < LEAVES_PER_TASK ? left : LEAVES_PER_TASK);
    (void)thread;
    for (uint32_t i = first; i < end; i++)
        fill_leaf(b, &b->leaves[i], &b->binary[leaf_sources(b)[i]]);
}

/* The children of a wide node while it is being filled. */
typedef struct wide_slots {
    uint32_t binary[MESH_WIDTH];
    float area[MESH_WIDTH]; /* -1: a leaf */
    int used;
} wide_slots;

static void set_slot(const bvh_build *b, wide_slots *s, int slot, uint32_t binary)
{
    const bvh_binary *node = &b->binary[binary];
    const bvh_vec lo = {node->lo[0], node->lo[1], node->lo[2], 0}, hi = {node->hi[0], node->hi[1], node->hi[2], 0};
    s->binary[slot] = binary;
    s->area[slot] = node->count > 0 ? -1 : bvh_area(lo, hi);
}

/* Open the widest children until the node is full. */
static void open_children(const bvh_build *b, uint32_t binary, wide_slots *s)
{
    s->used = 2;
    set_slot(b, s, 0, b->binary[binary].at);
    set_slot(b, s, 1, b->binary[binary].at + 1);
    while (s->used < MESH_WIDTH) {
        int widest = 0;
        for (int i = 1; i < s->used; i++)
            widest = s->area[i] > s->area[widest] ? i : widest;
        if (s->area[widest] < 0)
            break;
        const uint32_t children = b->binary[s->binary[widest]].at;
        set_slot(b, s, s->used++, children + 1);
        set_slot(b, s, widest, children);
    }
}

static uint32_t count_nodes(const bvh_build *b, uint32_t binary)
{
    wide_slots s;
    uint32_t nodes = 1;
    if (b->binary[binary].count > 0)
        return 0;
    open_children(b, binary, &s);
    for (int i = 0; i < s.used; i++)
        nodes += count_nodes(b, s.binary[i]);
    return nodes;
}

static void clear_boxes(mesh_node *node)
{
    for (int i = 0; i < MESH_WIDTH; i++) {
        node->lo_x[i] = node->lo_y[i] = node->lo_z[i] = __builtin_inff();
        node->hi_x[i] = node->hi_y[i] = node->hi_z[i] = -__builtin_inff();
    }
}

/* Returns the reference; *stack: entries a traversal may need below. */
static int collapse(bvh_build *b, uint32_t binary, int *stack)
{
    *stack = 1;
    if (b->binary[binary].count > 0) {
        leaf_sources(b)[b->leaf_count] = binary;
        return ~(int)b->leaf_count++;
    }
    wide_slots s;
    open_children(b, binary, &s);
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
    const int *index = child < 0 ? b->leaves[~child].triangle : b->nodes[child].least;
    int least = index[0]; /* the first slot is never empty */
    for (int i = 1; i < MESH_WIDTH; i++)
        least = index[i] >= 0 && index[i] < least ? index[i] : least;
    return least;
}

/* The lowest triangle index below every slot. A node's children have higher numbers than it has. */
static void find_least(bvh_build *b)
{
    for (uint32_t n = b->node_count; n-- > 0;) {
        mesh_node *node = &b->nodes[n];
        for (int i = 0; i < MESH_WIDTH; i++)
            node->least[i] = node->child[i] == 0 ? INT_MAX : least_below(b, node->child[i]);
    }
}

carom_status caromi_bvh_widen(bvh_build *b, int *stack, carom_error *err)
{
    const carom_mesh *mesh = b->mesh;
    b->node_count = b->leaf_count = 0;
    b->leaves = caromi_alloc(mesh->context, b->leaf_total, sizeof *b->leaves);
    const uint32_t nodes = count_nodes(b, 0);
    b->nodes = caromi_alloc(mesh->context, nodes > 0 ? nodes : 1, sizeof *b->nodes);
    if (b->leaves == NULL || b->nodes == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the hierarchy of %u triangles (%u leaves)",
                           (uint32_t)mesh->info.triangle_count, b->leaf_total);
    b->root = collapse(b, 0, stack);
    if (*stack > MESH_STACK)
        return CAROM_OK;
    caromi_parallel(mesh->context->pool, ((uint64_t)b->leaf_count + LEAVES_PER_TASK - 1) / LEAVES_PER_TASK, fill_leaves,
                    b);
    find_least(b);
    return CAROM_OK;
}
