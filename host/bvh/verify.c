/* SPDX-License-Identifier: MIT */
/* Verifies a hierarchy that others have written. First one thread follows the references from the root: nodes and
 * leaves must come in the order in which the builder numbers them, so each is reached once. Then all threads compare
 * leaves and boxes with what a refit makes of the mesh's vertices. */
#include <limits.h>
#include <stdatomic.h>

#include "boxes.h"

enum { NODES_PER_TASK = 64 };

/* A hierarchy while it is verified. */
typedef struct verify {
    const carom_mesh *mesh;
    int stack;                       /* entries that a traversal may need */
    uint32_t nodes, leaves;          /* reached so far */
    _Atomic uint8_t *found;          /* [triangle_count] 1: a leaf holds it */
    atomic_uint_least64_t triangles; /* in all leaves */
    atomic_uint_least64_t damaged;   /* the first node with an error, or NONE */
} verify;
static const uint64_t NONE = UINT64_MAX;

/* Where an error is: in a slot of a node, or at the root. */
typedef struct slot_place {
    uint64_t node;
    int slot;
    int is_root;
} slot_place;

static carom_status fail(const slot_place *at, const char *what, carom_error *err)
{
    if (at->is_root)
        return caromi_fail_argument(err, "image is damaged: the root %s", what);
    return caromi_fail_argument(err, "image is damaged: child %d of node %llu %s", at->slot,
                                (unsigned long long)at->node, what);
}

/* ---- references -------------------------------------------------------------------------------------------------- */

static carom_status follow_leaf(verify *v, int child, const slot_place *at, carom_error *err)
{
    if ((uint32_t)MESH_LEAF_AT(child) != v->leaves)
        return fail(at, "is not the leaf that comes next", err);
    v->leaves += 1 + (uint32_t)MESH_IS_UNINDEXED(child);
    return v->leaves > v->mesh->leaf_count ? fail(at, "is a leaf beyond the last", err) : CAROM_OK;
}

/* The children of a node: they fill its first slots. Returns their number; 0: they do not. */
static int count_children(const caromi_node_rows *node, int width)
{
    int used = 0;
    while (used < width && node->child[used] != 0)
        used++;
    for (int slot = used; slot < width; slot++)
        if (node->child[slot] != 0)
            return 0;
    return used;
}

/* Follows a child, and all below it. above: entries of a traversal's stack that its ancestors may have pushed. */
static carom_status follow(verify *v, int child, int above, const slot_place *at, carom_error *err)
{
    if (above + 1 > v->stack)
        v->stack = above + 1;
    if (v->stack > MESH_STACK)
        return fail(at, "is too deep for a search", err);
    if (child < 0)
        return follow_leaf(v, child, at, err);
    if ((uint32_t)child != v->nodes || v->nodes >= v->mesh->info.node_count)
        return fail(at, "is not the node that comes next", err);
    const caromi_node_rows node = caromi_node_at(v->mesh, v->nodes++);
    const int used = count_children(&node, v->mesh->view.width);
    if (used < 2)
        return fail(at, "has fewer than two children, or gaps between them", err);
    for (int slot = 0; slot < used; slot++)
        CHECK(follow(v, node.child[slot], above + used, &(slot_place){(uint64_t)child, slot, 0}, err));
    return CAROM_OK;
}

/* Follows all references from the root. */
static carom_status follow_all(verify *v, carom_error *err)
{
    const carom_mesh *mesh = v->mesh;
    const slot_place root = {.is_root = 1};
    if ((mesh->info.node_count == 0) != (mesh->view.frame.root < 0))
        return fail(&root, "is a leaf, and there are nodes, or the other way round", err);
    CHECK(follow(v, mesh->view.frame.root, 0, &root, err));
    if (v->nodes != mesh->info.node_count || v->leaves != mesh->leaf_count)
        return caromi_fail_argument(err,
                                    "image is damaged: %u nodes and %u leaves are reached from the root, of %llu "
                                    "and %llu",
                                    v->nodes, v->leaves, (unsigned long long)mesh->info.node_count,
                                    (unsigned long long)mesh->leaf_count);
    if (v->stack != mesh->stack)
        return caromi_fail_argument(err, "image is damaged: a search needs a stack of %d; the image has %d", v->stack,
                                    mesh->stack);
    return CAROM_OK;
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* What a node stores of a child. */
typedef struct child_bounds {
    bvh_box box;
    int least; /* triangle index */
} child_bounds;

/* The number of triangles in a leaf: ascending indices of the mesh's triangles, then -1. 0: it is not so. */
static int count_triangles(const carom_mesh *mesh, const caromi_leaf_rows *leaf)
{
    int count = 0;
    for (int last = -1; count < mesh->view.width && leaf->triangle[count] >= 0; last = leaf->triangle[count++])
        if (leaf->triangle[count] <= last || (uint64_t)leaf->triangle[count] >= mesh->info.triangle_count)
            return 0;
    for (int lane = count; lane < mesh->view.width; lane++)
        if (leaf->triangle[lane] != -1)
            return 0;
    return count;
}

static int is_same_bits(const float *a, const float *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Whether rows hold a point of the mesh, as the number `at` of each. */
static int holds_point(float *const rows[3], int at, const float *point)
{
    return is_same_bits(rows[0] + at, point) && is_same_bits(rows[1] + at, point + 1) &&
           is_same_bits(rows[2] + at, point + 2);
}

/* Whether the rest of an indexed leaf is as a refit leaves it. last: the highest number of a vertex; used: a bit for
 * each vertex that a corner has. */
static int is_rest_filled(const carom_mesh *mesh, const caromi_leaf_rows *leaf, int count, int last, uint32_t used)
{
    for (int corner = 0; corner < 3; corner++)
        for (int lane = count; lane < mesh->view.width; lane++)
            if (leaf->corner[corner][lane] != leaf->corner[corner][0])
                return 0;
    for (int k = 0; k < 3; k++)
        for (int vertex = last + 1; vertex < MESH_VERTICES; vertex++)
            if (!is_same_bits(leaf->vertex[k] + vertex, leaf->vertex[k] + last))
                return 0;
    return used == (UINT32_C(2) << last) - 1;
}

/* Whether a leaf holds the vertices of its triangles, each once, and the right radius. */
static int is_indexed_leaf(const carom_mesh *mesh, const caromi_leaf_rows *leaf, int count, bvh_box *box)
{
    int last = 0;
    uint32_t used = 0;
    float largest_square = 0;
    for (int lane = 0; lane < count; lane++) {
        bvh_box own = bvh_empty();
        for (int corner = 0; corner < 3; corner++) {
            const float *point = caromi_corner(mesh, (uint32_t)leaf->triangle[lane], corner);
            const bvh_vec position = {point[0], point[1], point[2], 0};
            const int vertex = leaf->corner[corner][lane];
            if (vertex >= MESH_VERTICES || !holds_point(leaf->vertex, vertex, point))
                return 0;
            bvh_grow(&own, (bvh_box){position, position});
            used |= UINT32_C(1) << vertex;
            last = vertex > last ? vertex : last;
        }
        bvh_grow_diagonal(&largest_square, &own);
    }
    *box = bvh_box_of_rows(leaf->vertex, MESH_VERTICES, mesh->view.frame.scale);
    return is_rest_filled(mesh, leaf, count, last, used) && *leaf->ball == bvh_ball(largest_square);
}

/* Whether a leaf holds three corners for each triangle, and for each empty slot those of the first. */
static int is_unindexed_leaf(const carom_mesh *mesh, const caromi_leaf_rows *leaf, int count, bvh_box *box)
{
    for (int lane = 0; lane < mesh->view.width; lane++)
        for (int corner = 0; corner < 3; corner++) {
            const uint32_t triangle = (uint32_t)leaf->triangle[lane < count ? lane : 0];
            if (!holds_point(leaf->unindexed + 3 * corner, lane, caromi_corner(mesh, triangle, corner)))
                return 0;
        }
    *box = bvh_empty();
    for (int row = 0; row < 9; row += 3)
        bvh_grow(box, bvh_box_of_rows(leaf->unindexed + row, mesh->view.width, mesh->view.frame.scale));
    return 1;
}

static carom_status verify_leaf(verify *v, int reference, const slot_place *at, child_bounds *bounds, uint64_t *held,
                                carom_error *err)
{
    const carom_mesh *mesh = v->mesh;
    const caromi_leaf_rows leaf = caromi_leaf_at(mesh, reference);
    const int count = count_triangles(mesh, &leaf);
    if (count == 0)
        return fail(at, "is a leaf whose triangles are not ascending indices of the mesh's", err);
    for (int lane = 0; lane < count; lane++)
        atomic_store_explicit(&v->found[leaf.triangle[lane]], 1, memory_order_relaxed);
    *held += (uint64_t)count;
    bounds->least = leaf.triangle[0];
    return (MESH_IS_UNINDEXED(reference) ? is_unindexed_leaf : is_indexed_leaf)(mesh, &leaf, count, &bounds->box)
               ? CAROM_OK
               : fail(at, "is a leaf whose vertices are not those of its triangles", err);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static int is_same_box(const caromi_node_rows *node, int slot, const bvh_box *box)
{
    for (int k = 0; k < 3; k++) /* NaN is no box */
        if (!(node->lower[k][slot] == box->lo[k] && node->upper[k][slot] == box->hi[k]))
            return 0;
    return 1;
}

/* The bounds of a child that is a node. Its own slots are verified when its turn comes. */
static child_bounds node_bounds(const carom_mesh *mesh, int child)
{
    const caromi_node_rows node = caromi_node_at(mesh, (uint64_t)child);
    child_bounds bounds = {bvh_node_box(mesh, (uint64_t)child), INT_MAX};
    for (int slot = 0; slot < mesh->view.width; slot++)
        bounds.least = node.least[slot] < bounds.least ? node.least[slot] : bounds.least;
    return bounds;
}

static carom_status verify_node(verify *v, uint64_t number, uint64_t *held, carom_error *err)
{
    const carom_mesh *mesh = v->mesh;
    const caromi_node_rows node = caromi_node_at(mesh, number);
    for (int slot = 0; slot < mesh->view.width; slot++) {
        const slot_place at = {number, slot, 0};
        const int child = node.child[slot];
        child_bounds bounds = {bvh_empty(), INT_MAX};
        if (child < 0)
            CHECK(verify_leaf(v, child, &at, &bounds, held, err));
        else if (child > 0)
            bounds = node_bounds(mesh, child);
        if (!is_same_box(&node, slot, &bounds.box) || node.least[slot] != bounds.least)
            return fail(&at, "has other bounds than its triangles", err);
    }
    return CAROM_OK;
}

/* Task: verifies a range of nodes, and the leaves below them. */
static void verify_nodes(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    verify *v = user;
    uint64_t held = 0;
    (void)thread;
    for (uint64_t number = begin; number < end; number++)
        if (verify_node(v, number, &held, NULL) != CAROM_OK) {
            uint64_t first = atomic_load(&v->damaged);
            while (number < first && !atomic_compare_exchange_weak(&v->damaged, &first, number))
                continue;
            return;
        }
    atomic_fetch_add(&v->triangles, held);
}

/* All nodes and leaves; the first damaged node has the error. */
static carom_status verify_all(verify *v, carom_error *err)
{
    const carom_mesh *mesh = v->mesh;
    const slot_place root = {.is_root = 1};
    child_bounds bounds;
    uint64_t held = 0;
    if (mesh->info.node_count == 0) {
        CHECK(verify_leaf(v, mesh->view.frame.root, &root, &bounds, &held, err));
        atomic_store(&v->triangles, held);
    } else {
        caromi_parallel_runs(mesh->context->pool, mesh->info.node_count, NODES_PER_TASK, verify_nodes, v);
        if (atomic_load(&v->damaged) != NONE)
            return verify_node(v, atomic_load(&v->damaged), &held, err);
    }
    return mesh->view.frame.ball == caromi_bvh_typical_ball(mesh)
               ? CAROM_OK
               : fail(&root, "has another radius of bounding spheres than its leaves", err);
}

/* So many places of triangles as there are triangles, and each triangle has one: each has exactly one. */
static carom_status verify_triangles(verify *v, carom_error *err)
{
    const uint64_t triangles = v->mesh->info.triangle_count, held = atomic_load(&v->triangles);
    if (held != triangles)
        return caromi_fail_argument(err, "image is damaged: its leaves hold %llu triangles of %llu",
                                    (unsigned long long)held, (unsigned long long)triangles);
    const char *const first = (const char *)v->found, *const missing = memchr(first, 0, triangles);
    if (missing != NULL)
        return caromi_fail_argument(err, "image is damaged: no leaf holds triangle %llu",
                                    (unsigned long long)(missing - first));
    return CAROM_OK;
}

carom_status caromi_bvh_verify(const carom_mesh *mesh, carom_error *err)
{
    verify v = {.mesh = mesh, .damaged = NONE};
    CHECK(follow_all(&v, err));
    v.found = caromi_alloc(mesh->context, mesh->info.triangle_count, sizeof *v.found);
    if (v.found == NULL)
        return caromi_fail_memory(err, "no memory to verify an image of %llu triangles",
                                  (unsigned long long)mesh->info.triangle_count);
    memset((void *)v.found, 0, mesh->info.triangle_count * sizeof *v.found);
    carom_status status = verify_all(&v, err);
    if (status == CAROM_OK)
        status = verify_triangles(&v, err);
    caromi_free(mesh->context, (void *)v.found);
    return status;
}
