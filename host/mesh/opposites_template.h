/* SPDX-License-Identifier: MIT */
/* Culling data for contacts: for each triangle of a leaf, the third corners of its neighbours at the edges, and corners
 * of the triangles across its corners; for one width. Coordinates are updated when vertices move. */
#include <string.h>

#include "culling_view.h"

/* The slot of a triangle in a leaf; MESH_WIDTH: it is in another leaf. */
static int opposites_slot_of(const mesh_leaf *leaf, uint32_t triangle)
{
    int slot = 0;
    while (slot < MESH_WIDTH && leaf->triangle[slot] != (int)triangle)
        slot++;
    return slot;
}

/* A leaf and its culling data. */
typedef struct leaf_parts {
    const mesh_leaf *leaf;
    mesh_opposites *to;
    mesh_sources *from;
    mesh_across *across; /* or NULL */
    int count;           /* number of points from other leaves */
} leaf_parts;

/* Adds a point to a leaf's table, once; returns its number there; -1: there is no room. */
static int opposites_add_outside(leaf_parts *parts, const carom_mesh *mesh, uint32_t triangle, int corner)
{
    const float *point = caromi_corner(mesh, triangle, corner);
    mesh_opposites *to = parts->to;
    int *count = &parts->count;
    for (int i = 0; i < *count; i++)
        if (memcmp(&to->at[0][i], &point[0], sizeof *point) == 0 &&
            memcmp(&to->at[1][i], &point[1], sizeof *point) == 0 &&
            memcmp(&to->at[2][i], &point[2], sizeof *point) == 0)
            return i;
    if (*count == MESH_VERTICES)
        return -1;
    for (int k = 0; k < 3; k++)
        to->at[k][*count] = point[k];
    parts->from->vertex[*count] = mesh->indices[3 * (size_t)triangle + (size_t)corner];
    return (*count)++;
}

/* Another triangle at an edge with a mask that counts wherever this one's does. *third: its corner opposite to the
 * edge. Returns `own` if there is none. */
static uint32_t opposites_neighbour_of(const caromi_edges *edges, uint32_t own, int edge, int queries, int *third)
{
    const uint32_t next = edges->next[3 * (size_t)own + (size_t)edge];
    const uint32_t other = caromi_edges_counts_with(edges, next, own, queries) ? next : own;
    const uint32_t a = caromi_edge_position(edges, own, edge), b = caromi_edge_position(edges, own, (edge + 1) % 3);
    if (other != own)
        *third = (caromi_edge_between(edges, other, a, b) + 2) % 3;
    return other;
}

/* Stores a corner of a neighbour in a row of the leaf's table. */
static void opposites_put_opposite(const caromi_edges *edges, leaf_parts *parts, int row, int slot, uint32_t triangle,
                                   int corner)
{
    const int there = opposites_slot_of(parts->leaf, triangle);
    const int outside = there < MESH_WIDTH ? -1 : opposites_add_outside(parts, edges->corners->mesh, triangle, corner);
    if (there < MESH_WIDTH)
        parts->to->slot[row][slot] = parts->leaf->corner[corner][there];
    else if (outside >= 0)
        parts->to->slot[row][slot] = (unsigned char)(MESH_VERTICES + outside);
    if (row >= 3)
        parts->across->triangle[row - 3][slot] = triangle;
}

/* Fills the data of an indexed leaf: three rows for edges and, if wanted, three for corners. */
static void opposites_fill_leaf(const caromi_edges *edges, leaf_parts *parts, int queries)
{
    mesh_opposites *to = parts->to;
    int corner;
    /* At first each triangle has its own corner in place of a neighbour's. */
    memset(to, 0, sizeof *to);
    memcpy(to->slot, parts->leaf->corner, sizeof parts->leaf->corner);
    memcpy(to->slot + 3, parts->leaf->corner, sizeof parts->leaf->corner);
    memset(parts->from, UINT8_MAX, sizeof *parts->from);
    if (parts->across != NULL)
        memset(parts->across, UINT8_MAX, sizeof *parts->across);
    for (int row = 0; row < (parts->across != NULL ? 6 : 3);
         row++) /* edges first, as there may be no room for all points */
        for (int slot = 0; slot < MESH_WIDTH && parts->leaf->triangle[slot] >= 0; slot++) {
            const uint32_t own = (uint32_t)parts->leaf->triangle[slot];
            const uint32_t other = row < 3 ? opposites_neighbour_of(edges, own, row, queries, &corner)
                                           : caromi_edges_across(edges, own, row - 3, queries, &corner);
            if (other != own)
                opposites_put_opposite(edges, parts, row, slot, other, corner);
        }
}

/* Finds the points of an unindexed leaf, whose data is nine rows of coordinates, like the leaf itself; the rest is 0.
 * Empty slots repeat the first triangle. */
static void opposites_fill_unindexed(const caromi_edges *edges, const leaf_parts *parts, int queries)
{
    const mesh_leaf *leaf = parts->leaf;
    uint32_t *from = parts->from->vertex;
    memset(parts->to, 0, 2 * sizeof *parts->to);
    for (int slot = 0; slot < MESH_WIDTH; slot++)
        for (int edge = 0; edge < 3; edge++) {
            const uint32_t own = (uint32_t)leaf->triangle[leaf->triangle[slot] >= 0 ? slot : 0];
            int third = edge;
            const uint32_t other = opposites_neighbour_of(edges, own, edge, queries, &third);
            from[3 * slot + edge] = edges->corners->mesh->indices[3 * (size_t)other + (size_t)third];
        }
}

enum { OPPOSITES_NODES_PER_TASK = 256 };
/* The filling of all leaves' data. */
typedef struct opposite_job {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    cones_mesh view;
    int queries;
    int moves; /* only vertices have moved since the data was filled */
} opposite_job;

/* Fills or moves the data of a leaf. */
static void opposites_fill_reference(const opposite_job *job, int reference)
{
    const size_t at = (size_t)MESH_LEAF_AT(reference);
    const caromi_culling *culling = &job->edges->culling[job->queries];
    const int is_unindexed = MESH_IS_UNINDEXED(reference);
    leaf_parts parts = {.leaf = (const mesh_leaf *)job->mesh->view.leaves + at,
                        .to = (mesh_opposites *)culling->opposites + at,
                        .from = (mesh_sources *)culling->sources + at,
                        .across = culling->across != NULL ? (mesh_across *)culling->across + at : NULL};
    if (!job->moves && is_unindexed)
        opposites_fill_unindexed(job->edges, &parts, job->queries);
    else if (!job->moves)
        opposites_fill_leaf(job->edges, &parts, job->queries);
    for (int lane = 0; (job->moves || is_unindexed) && lane < MESH_VERTICES; lane++)
        cones_move_opposites(&job->view, reference, lane, parts.from->vertex, parts.to, parts.across);
}

/* Task: fills the data of the leaves below a range of nodes. */
static void opposites_fill_nodes(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const opposite_job *job = user;
    (void)thread;
    const mesh_node *nodes = job->mesh->view.nodes;
    if (caromi_watch_look(job->mesh->context->watch))
        return;
    for (uint64_t n = begin; n < end; n++)
        for (int i = 0; i < MESH_WIDTH; i++)
            if (nodes[n].child[i] < 0)
                opposites_fill_reference(job, nodes[n].child[i]);
}

static void opposites_fill(const carom_mesh *mesh, const caromi_edges *edges, int queries, int moves)
{
    opposite_job job = {mesh, edges, culling_view(edges, queries), queries, moves};
    if (mesh->info.node_count == 0)
        opposites_fill_reference(&job, mesh->view.frame.root);
    caromi_parallel_runs(mesh->context->pool, mesh->info.node_count, OPPOSITES_NODES_PER_TASK, opposites_fill_nodes,
                         &job);
}
