/* SPDX-License-Identifier: MIT */
/* The hierarchy: a binary tree by binned surface area, then collapsed into nodes and leaves of MESH_WIDTH. One thread,
 * no hashing, ties by index: the same input gives the same tree. Answers do not depend on the tree (kernels/mesh.h). */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "internal.h"

enum { BINS = 16, HALVING_DEPTH = 40 }; /* below that depth halving keeps the tree shallow whatever the input */

typedef struct bvh_box {
    float lo[3], hi[3];
} bvh_box;

typedef struct bvh_item {
    bvh_box box; /* mesh units */
    uint32_t triangle;
} bvh_item;

typedef struct bvh_binary {
    bvh_box box;
    uint32_t first, count; /* items, for a leaf */
    uint32_t left, right;  /* 0 for a leaf: the root is nobody's child */
} bvh_binary;

typedef struct bvh_build {
    const carom_mesh *mesh;
    bvh_item *items;
    bvh_binary *binary;
    uint32_t binary_count;
    mesh_node *nodes;
    mesh_leaf *leaves;
    uint32_t node_count, leaf_count, leaf_total;
    int halve_only;
} bvh_build;

static bvh_box box_empty(void)
{
    const float inf = __builtin_inff();
    return (bvh_box){{inf, inf, inf}, {-inf, -inf, -inf}};
}

static void box_grow(bvh_box *box, const bvh_box *other)
{
    for (int k = 0; k < 3; k++) {
        box->lo[k] = other->lo[k] < box->lo[k] ? other->lo[k] : box->lo[k];
        box->hi[k] = other->hi[k] > box->hi[k] ? other->hi[k] : box->hi[k];
    }
}

static float box_area(const bvh_box *box)
{
    const float x = box->hi[0] - box->lo[0], y = box->hi[1] - box->lo[1], z = box->hi[2] - box->lo[2];
    return x >= 0 ? x * y + y * z + z * x : 0;
}

static float middle(const bvh_item *item, int axis)
{
    return 0.5f * (item->box.lo[axis] + item->box.hi[axis]);
}

/* Scaled after taking the extreme, as the kernel does it for single triangles: both round alike. */
static bvh_item item_of(const carom_mesh *mesh, uint32_t triangle)
{
    bvh_item item = {box_empty(), triangle};
    for (int corner = 0; corner < 3; corner++) {
        const float *p = caromi_corner(mesh, triangle, corner);
        const bvh_box point = {{p[0], p[1], p[2]}, {p[0], p[1], p[2]}};
        box_grow(&item.box, &point);
    }
    for (int k = 0; k < 3; k++) {
        item.box.lo[k] *= mesh->view.frame.scale;
        item.box.hi[k] *= mesh->view.frame.scale;
    }
    return item;
}

typedef struct bvh_split {
    int axis; /* -1: none found */
    int bin;
    float low, per_bin, cost;
} bvh_split;

static int bin_of(const bvh_split *s, const bvh_item *item)
{
    const int bin = (int)((middle(item, s->axis) - s->low) * s->per_bin);
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
}

static float blocks_of(uint32_t count)
{
    return (float)((count + MESH_WIDTH - 1) / MESH_WIDTH);
}

/* The cheapest of BINS-1 cuts along one axis, if any cut leaves something on both sides. */
static void try_axis(const bvh_item *items, uint32_t count, bvh_split s, bvh_split *best)
{
    bvh_box boxes[BINS], right[BINS], left = box_empty();
    uint32_t counts[BINS] = {0}, left_count = 0, right_counts[BINS];
    for (int b = 0; b < BINS; b++)
        boxes[b] = box_empty();
    for (uint32_t i = 0; i < count; i++) {
        const int b = bin_of(&s, &items[i]);
        counts[b]++;
        box_grow(&boxes[b], &items[i].box);
    }
    right[BINS - 1] = boxes[BINS - 1];
    right_counts[BINS - 1] = counts[BINS - 1];
    for (int b = BINS - 2; b > 0; b--) {
        right[b] = right[b + 1];
        box_grow(&right[b], &boxes[b]);
        right_counts[b] = right_counts[b + 1] + counts[b];
    }
    for (int b = 1; b < BINS; b++) {
        box_grow(&left, &boxes[b - 1]);
        left_count += counts[b - 1];
        if (left_count == 0 || right_counts[b] == 0)
            continue;
        s.bin = b;
        s.cost = box_area(&left) * blocks_of(left_count) + box_area(&right[b]) * blocks_of(right_counts[b]);
        if (best->axis < 0 || s.cost < best->cost)
            *best = s;
    }
}

static bvh_split find_split(const bvh_item *items, uint32_t count)
{
    bvh_split best = {-1, 0, 0, 0, 0};
    for (int axis = 0; axis < 3; axis++) {
        float low = middle(&items[0], axis), high = low;
        for (uint32_t i = 1; i < count; i++) {
            const float m = middle(&items[i], axis);
            low = m < low ? m : low;
            high = m > high ? m : high;
        }
        const bvh_split s = {axis, 0, low, (float)BINS / (high - low), 0};
        if (high > low && s.per_bin < 1e30f)
            try_axis(items, count, s, &best);
    }
    return best;
}

static uint32_t partition(bvh_item *items, uint32_t count, const bvh_split *s)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        if (bin_of(s, &items[i]) < s->bin) {
            const bvh_item swapped = items[left];
            items[left++] = items[i];
            items[i] = swapped;
        }
    return left;
}

static uint32_t build_binary(bvh_build *b, uint32_t first, uint32_t count, int depth)
{
    const uint32_t self = b->binary_count++;
    bvh_binary node = {box_empty(), first, count, 0, 0};
    for (uint32_t i = 0; i < count; i++)
        box_grow(&node.box, &b->items[first + i].box);
    b->binary[self] = node;
    if (count <= MESH_WIDTH) {
        b->leaf_total++;
        return self;
    }
    uint32_t left = 0;
    if (!b->halve_only && depth < HALVING_DEPTH) {
        const bvh_split split = find_split(b->items + first, count);
        if (split.axis >= 0)
            left = partition(b->items + first, count, &split);
    }
    if (left == 0)
        left = count / 2;
    const uint32_t l = build_binary(b, first, left, depth + 1);
    const uint32_t r = build_binary(b, first + left, count - left, depth + 1);
    b->binary[self].left = l;
    b->binary[self].right = r;
    return self;
}

static int emit_leaf(bvh_build *b, const bvh_binary *from)
{
    mesh_leaf *leaf = &b->leaves[b->leaf_count];
    for (uint32_t lane = 0; lane < MESH_WIDTH; lane++) {
        const uint32_t triangle = b->items[from->first + (lane < from->count ? lane : from->count - 1)].triangle;
        leaf->triangle[lane] = (int)triangle;
        for (int k = 0; k < 9; k++)
            leaf->p[k][lane] = caromi_corner(b->mesh, triangle, k / 3)[k % 3];
    }
    return ~(int)b->leaf_count++;
}

static void set_slot(mesh_node *node, int slot, const bvh_box *box, int child, int least)
{
    node->least[slot] = least;
    node->lo_x[slot] = box->lo[0];
    node->lo_y[slot] = box->lo[1];
    node->lo_z[slot] = box->lo[2];
    node->hi_x[slot] = box->hi[0];
    node->hi_y[slot] = box->hi[1];
    node->hi_z[slot] = box->hi[2];
    node->child[slot] = child;
}

static int least_of(const mesh_leaf *leaf)
{
    int least = leaf->triangle[0];
    for (int lane = 1; lane < MESH_WIDTH; lane++)
        least = leaf->triangle[lane] < least ? leaf->triangle[lane] : least;
    return least;
}

/* Open the widest children until the node is full. Returns the reference; *stack: entries a traversal may need below;
 * *least: the lowest triangle index there. */
static int collapse(bvh_build *b, uint32_t binary, int *stack, int *least)
{
    *stack = 1;
    if (b->binary[binary].left == 0) {
        const int leaf = emit_leaf(b, &b->binary[binary]);
        *least = least_of(&b->leaves[~leaf]);
        return leaf;
    }
    *least = INT_MAX;
    uint32_t slots[MESH_WIDTH] = {b->binary[binary].left, b->binary[binary].right};
    int used = 2;
    while (used < MESH_WIDTH) {
        int widest = -1;
        for (int i = 0; i < used; i++)
            if (b->binary[slots[i]].left != 0 &&
                (widest < 0 || box_area(&b->binary[slots[i]].box) > box_area(&b->binary[slots[widest]].box)))
                widest = i;
        if (widest < 0)
            break;
        slots[used++] = b->binary[slots[widest]].right;
        slots[widest] = b->binary[slots[widest]].left;
    }
    const uint32_t self = b->node_count++;
    const bvh_box empty = box_empty();
    for (int i = 0; i < MESH_WIDTH; i++) {
        int below = 0, first = INT_MAX;
        const int child = i < used ? collapse(b, slots[i], &below, &first) : 0;
        set_slot(&b->nodes[self], i, i < used ? &b->binary[slots[i]].box : &empty, child, first);
        *least = first < *least ? first : *least;
        *stack = below + used > *stack ? below + used : *stack;
    }
    return (int)self;
}

static carom_status build_tree(bvh_build *b, carom_mesh *mesh, int *stack, carom_error *err)
{
    const uint32_t count = (uint32_t)mesh->info.triangle_count;
    b->binary_count = b->leaf_total = b->node_count = b->leaf_count = 0;
    build_binary(b, 0, count, 0);
    b->leaves = caromi_alloc(mesh->context, b->leaf_total, sizeof *b->leaves);
    b->nodes = caromi_alloc(mesh->context, b->leaf_total, sizeof *b->nodes); /* fewer nodes than leaves */
    if (b->leaves == NULL || b->nodes == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the hierarchy of %u triangles (%u leaves)",
                           count, b->leaf_total);
    int least;
    mesh->view.frame.root = collapse(b, 0, stack, &least);
    return CAROM_OK;
}

carom_status caromi_bvh_build(carom_mesh *mesh, carom_error *err)
{
    const carom_context *c = mesh->context;
    const uint32_t count = (uint32_t)mesh->info.triangle_count;
    bvh_build b;
    memset(&b, 0, sizeof b);
    b.mesh = mesh;
    b.items = caromi_alloc(c, count, sizeof *b.items);
    b.binary = caromi_alloc(c, 2 * (uint64_t)count, sizeof *b.binary);
    carom_status status = CAROM_OK;
    if (b.items == NULL || b.binary == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to build over %u triangles", count);
    int stack = 0;
    if (status == CAROM_OK) {
        for (uint32_t i = 0; i < count; i++)
            b.items[i] = item_of(mesh, i);
        status = build_tree(&b, mesh, &stack, err);
    }
    if (status == CAROM_OK && stack > MESH_STACK) { /* a contrived input: halving bounds the depth at 27 */
        caromi_free(c, b.leaves);
        caromi_free(c, b.nodes);
        b.halve_only = 1;
        stack = 0;
        status = build_tree(&b, mesh, &stack, err);
        assert(stack <= MESH_STACK);
    }
    mesh->nodes = b.nodes;
    mesh->leaves = b.leaves;
    mesh->view.nodes = b.nodes;
    mesh->view.leaves = b.leaves;
    mesh->leaf_count = b.leaf_count;
    mesh->info.node_count = b.node_count;
    caromi_free(c, b.items);
    caromi_free(c, b.binary);
    return status;
}
