/* SPDX-License-Identifier: MIT */
/* The refit: sets the vertices in the leaves, the boxes in the nodes, and the cost of the tree, for the present
 * vertices. A build ends with a refit, so both round alike.
 *
 * A node has a lower number than all nodes below it, and a subtree has consecutive numbers. So each slice of the nodes
 * is refit from its last to its first node, independently of the others. A node is deferred if its subtree reaches into
 * the next slice. The subtree of a deferred node contains the first node of that slice, so deferred nodes lie on one
 * path and are few. They are refit after all slices. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "boxes.h"

enum { SLICES_MAX = 64, NODES_PER_SLICE = 64 /* at least */ };

/* A slice of the nodes. Slices depend only on the number of nodes, as the order of sums must not depend on the number
 * of threads. */
typedef struct refit_slice {
    double area;                                      /* half the surface of all boxes */
    uint32_t deferred[BVH_DEPTH_MAX], deferred_count; /* from the lowest upwards */
} refit_slice;

/* A refit while it runs. */
typedef struct refit {
    carom_mesh *mesh;
    uint64_t slices;
    refit_slice slice[SLICES_MAX];
} refit;

/* ---- leaves and nodes -------------------------------------------------------------------------------------------- */

/* The area in binary64, in which that of a tiny mesh does not underflow. */
static double area_of(const bvh_box *box)
{
    const double x = (double)box->hi[0] - (double)box->lo[0], y = (double)box->hi[1] - (double)box->lo[1];
    const double z = (double)box->hi[2] - (double)box->lo[2];
    return x * y + y * z + z * x;
}

/* Fills an indexed leaf: each vertex once, under the number that its corners have. Returns its box. */
static bvh_box fill_indexed(const carom_mesh *mesh, const caromi_leaf_rows *leaf)
{
    int last_vertex = 0;
    float largest_square = 0;
    for (int lane = 0; lane < mesh->view.width && leaf->triangle[lane] >= 0; lane++) {
        bvh_box box = bvh_empty();
        for (int corner = 0; corner < 3; corner++) {
            const float *coordinates = caromi_corner(mesh, (uint32_t)leaf->triangle[lane], corner);
            const bvh_vec position = {coordinates[0], coordinates[1], coordinates[2], 0};
            const int vertex = leaf->corner[corner][lane];
            for (int k = 0; k < 3; k++)
                leaf->vertex[k][vertex] = coordinates[k];
            bvh_grow(&box, (bvh_box){position, position});
            last_vertex = vertex > last_vertex ? vertex : last_vertex;
        }
        bvh_grow_diagonal(&largest_square, &box);
    }
    *leaf->ball = bvh_ball(largest_square);
    /* Unused vertices are copies of the last one, so that they change no bounds. */
    for (int k = 0; k < 3; k++)
        for (int vertex = last_vertex + 1; vertex < MESH_VERTICES; vertex++)
            leaf->vertex[k][vertex] = leaf->vertex[k][last_vertex];
    return bvh_box_of_rows(leaf->vertex, MESH_VERTICES, mesh->view.frame.scale);
}

/* Fills an unindexed leaf: three corners for each triangle, behind the triangles. Returns its box. */
static bvh_box fill_unindexed(const carom_mesh *mesh, const caromi_leaf_rows *leaf)
{
    for (int lane = 0; lane < mesh->view.width; lane++) {
        const int triangle = leaf->triangle[leaf->triangle[lane] < 0 ? 0 : lane];
        for (int corner = 0; corner < 3; corner++) {
            const float *coordinates = caromi_corner(mesh, (uint32_t)triangle, corner);
            for (int k = 0; k < 3; k++)
                leaf->unindexed[3 * corner + k][lane] = coordinates[k];
        }
    }
    bvh_box box = bvh_empty();
    for (int row = 0; row < 9; row += 3)
        bvh_grow(&box, bvh_box_of_rows(leaf->unindexed + row, mesh->view.width, mesh->view.frame.scale));
    return box;
}

/* Fills a leaf; returns its box. */
static bvh_box fill_leaf(const carom_mesh *mesh, int reference)
{
    const caromi_leaf_rows leaf = caromi_leaf_at(mesh, reference);
    return MESH_IS_UNINDEXED(reference) ? fill_unindexed(mesh, &leaf) : fill_indexed(mesh, &leaf);
}

/* Stores the box of a node's slot; returns its area. */
static double store_box(const caromi_node_rows *node, int slot, const bvh_box *box)
{
    for (int k = 0; k < 3; k++) {
        node->lower[k][slot] = box->lo[k];
        node->upper[k][slot] = box->hi[k];
    }
    return area_of(box);
}

/* Refits the leaves below a node. Returns 1 if a child node is not refit yet: it is `deferred`, or in another slice. */
static int refit_leaves(const carom_mesh *mesh, const caromi_node_rows *node, uint32_t end, uint32_t deferred,
                        double *area)
{
    int waits = 0;
    for (int i = 0; i < mesh->view.width; i++) {
        const int child = node->child[i];
        if (child < 0) {
            const bvh_box box = fill_leaf(mesh, child);
            *area += store_box(node, i, &box);
        } else if (child > 0) {
            waits |= (uint32_t)child >= end || (uint32_t)child == deferred;
        }
    }
    return waits;
}

/* Takes over the boxes of a node's child nodes, which are refit already. */
static void refit_children(const carom_mesh *mesh, const caromi_node_rows *node, double *area)
{
    for (int i = 0; i < mesh->view.width; i++)
        if (node->child[i] > 0) {
            const bvh_box box = bvh_node_box(mesh, (uint64_t)node->child[i]);
            *area += store_box(node, i, &box);
        }
}

/* Task: refits a slice of the nodes, from its last to its first. */
static void refit_nodes(void *user, uint64_t slice, uint32_t thread)
{
    refit *job = user;
    const carom_mesh *mesh = job->mesh;
    refit_slice *own = &job->slice[slice];
    const uint64_t nodes = mesh->info.node_count;
    const uint32_t first = (uint32_t)caromi_slice_start(nodes, job->slices, slice);
    const uint32_t end = (uint32_t)caromi_slice_start(nodes, job->slices, slice + 1);
    uint32_t deferred = UINT32_MAX; /* the node deferred last */
    double area = 0;
    (void)thread;
    own->deferred_count = 0;
    own->area = 0;
    if (caromi_watch_look(mesh->watch)) /* there will be no mesh */
        return;
    for (uint32_t number = end; number-- > first;) {
        const caromi_node_rows node = caromi_node_at(mesh, number);
        if (refit_leaves(mesh, &node, end, deferred, &area)) {
            assert(own->deferred_count < BVH_DEPTH_MAX);
            own->deferred[own->deferred_count++] = deferred = number;
        } else {
            refit_children(mesh, &node, &area);
        }
    }
    own->area = area;
}

/* ---- the refit of a mesh ----------------------------------------------------------------------------------------- */

/* The SAH cost: the expected number of boxes that a line through the mesh's box hits, from their areas. Nodes and
 * leaves cost about the same. */
static float cost_of(const carom_mesh *mesh, double area)
{
    const bvh_box whole = bvh_node_box(mesh, 0);
    const double root = area_of(&whole);
    return root > 0 ? (float)(1 + area / root) : 1;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median of a sample of the leaves, which a few huge triangles do not change. Unindexed leaves have no bounding
 * sphere. For a single leaf infinity: culling would gain nothing. */
float caromi_bvh_typical_ball(const carom_mesh *mesh)
{
    enum { SAMPLES = 64 };
    const uint64_t nodes = mesh->info.node_count, samples = nodes < SAMPLES ? nodes : SAMPLES;
    float ball[SAMPLES * MESH_WIDEST];
    size_t count = 0;
    for (uint64_t i = 0; i < samples; i++)
        for (int slot = 0; slot < mesh->view.width; slot++) {
            const int child = caromi_node_at(mesh, caromi_slice_start(nodes, samples, i)).child[slot];
            if (child < 0 && !MESH_IS_UNINDEXED(child))
                ball[count++] = *caromi_leaf_at(mesh, child).ball;
        }
    qsort(ball, count, sizeof *ball, compare_floats);
    return count > 0 ? ball[count / 2] : INFINITY;
}

/* Sets the vertices in the leaves, all boxes, and the cost, from the mesh's vertices and frame. */
void caromi_bvh_refit(carom_mesh *mesh)
{
    const uint64_t nodes = mesh->info.node_count;
    double area = 0;
    mesh->info.cost = 1;
    if (nodes == 0) {
        (void)fill_leaf(mesh, mesh->view.frame.root);
        mesh->view.frame.ball = caromi_bvh_typical_ball(mesh);
        return;
    }
    refit job = {.mesh = mesh, .slices = nodes / NODES_PER_SLICE};
    job.slices = job.slices < 1 ? 1 : job.slices > SLICES_MAX ? SLICES_MAX : job.slices;
    caromi_parallel(mesh->context->pool, job.slices, refit_nodes, &job);
    /* Deferred nodes, from the last slice to the first: their subtrees are complete then. */
    for (uint64_t i = job.slices; i-- > 0;) {
        refit_slice *slice = &job.slice[i];
        for (uint32_t k = 0; k < slice->deferred_count; k++) {
            const caromi_node_rows node = caromi_node_at(mesh, slice->deferred[k]);
            refit_children(mesh, &node, &slice->area);
        }
        area += slice->area;
    }
    mesh->info.cost = cost_of(mesh, area);
    mesh->view.frame.ball = caromi_bvh_typical_ball(mesh);
}
