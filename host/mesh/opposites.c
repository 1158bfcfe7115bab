/* SPDX-License-Identifier: MIT */
/* Culling data for contacts: for each triangle of a leaf, the third corners of its neighbours at the edges, and corners
 * of the triangles across its corners. Coordinates are updated when vertices move. */
#include "edges.h"

#include <math.h>
#include <string.h>

/* The slot of a triangle in a leaf; MESH_WIDTH: it is in another leaf. */
static int slot_of(const mesh_leaf *leaf, uint32_t triangle)
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
    caromi_sources *from;
    caromi_across *across; /* or NULL */
    int count;             /* number of points from other leaves */
} leaf_parts;

/* Adds a point to a leaf's table, once; returns its number there. */
static int add_outside(leaf_parts *parts, const carom_mesh *mesh, uint32_t triangle, int corner)
{
    const float *point = caromi_corner(mesh, triangle, corner);
    mesh_opposites *to = parts->to;
    int *count = &parts->count;
    for (int i = 0; i < *count; i++)
        if (memcmp(&to->at[0][i], &point[0], sizeof *point) == 0 &&
            memcmp(&to->at[1][i], &point[1], sizeof *point) == 0 &&
            memcmp(&to->at[2][i], &point[2], sizeof *point) == 0)
            return i;
    if (*count == MESH_NO_OPPOSITE)
        return MESH_NO_OPPOSITE;
    for (int k = 0; k < 3; k++)
        to->at[k][*count] = point[k];
    parts->from->vertex[*count] = mesh->indices[3 * (size_t)triangle + (size_t)corner];
    return (*count)++;
}

/* Another triangle at an edge with a mask that counts wherever this one's does. *third: its corner opposite to the
 * edge. Returns `own` if there is none. */
static uint32_t neighbour_of(const caromi_edges *edges, uint32_t own, int edge, int queries, int *third)
{
    const uint32_t next = edges->next[3 * (size_t)own + (size_t)edge];
    const uint32_t other = caromi_edges_counts_with(edges, next, own, queries) ? next : own;
    const uint32_t a = caromi_edge_position(edges, own, edge), b = caromi_edge_position(edges, own, (edge + 1) % 3);
    if (other != own)
        *third = (caromi_edge_between(edges, other, a, b) + 2) % 3;
    return other;
}

/* Stores a corner of a neighbour in a row of the leaf's table. */
static void put_opposite(const caromi_edges *edges, leaf_parts *parts, int row, int slot, uint32_t triangle, int corner)
{
    const int there = slot_of(parts->leaf, triangle);
    if (there < MESH_WIDTH)
        parts->to->vertex[row][slot] = parts->leaf->corner[corner][there];
    else
        parts->to->outside[row][slot] = (unsigned char)add_outside(parts, edges->corners->mesh, triangle, corner);
    if (row >= 3)
        parts->across->triangle[row - 3][slot] = triangle;
}

/* Fills the data of an indexed leaf: three rows for edges and, if wanted, three for corners. */
static void fill_leaf(const caromi_edges *edges, leaf_parts *parts, int queries)
{
    mesh_opposites *to = parts->to;
    int corner;
    /* At first each triangle has its own corner in place of a neighbour's. */
    memcpy(to->vertex, parts->leaf->corner, sizeof parts->leaf->corner);
    memcpy(to->vertex + 3, parts->leaf->corner, sizeof parts->leaf->corner);
    memset(to->outside, MESH_NO_OPPOSITE, sizeof to->outside);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < MESH_WIDTH; i++)
            to->at[k][i] = NAN;
    memset(parts->from, UINT8_MAX, sizeof *parts->from);
    if (parts->across != NULL)
        memset(parts->across, UINT8_MAX, sizeof *parts->across);
    for (int row = 0; row < (parts->across != NULL ? 6 : 3);
         row++) /* edges first, as there may be no room for all points */
        for (int slot = 0; slot < MESH_WIDTH && parts->leaf->triangle[slot] >= 0; slot++) {
            const uint32_t own = (uint32_t)parts->leaf->triangle[slot];
            const uint32_t other = row < 3 ? neighbour_of(edges, own, row, queries, &corner)
                                           : caromi_edges_across(edges, own, row - 3, queries, &corner);
            if (other != own)
                put_opposite(edges, parts, row, slot, other, corner);
        }
}

/* Drops the triangles across corners whose shape, after a move, no longer suits the search. */
static void check_across(const caromi_edges *edges, const leaf_parts *parts, const caromi_face *faces)
{
    for (int k = 0; k < 3; k++)
        for (int slot = 0; slot < MESH_WIDTH && parts->leaf->triangle[slot] >= 0; slot++) {
            const uint32_t other = parts->across->triangle[k][slot];
            if (other == UINT32_MAX ||
                caromi_edges_may_be_across(edges, (uint32_t)parts->leaf->triangle[slot], k, other, &faces[other]))
                continue;
            parts->to->vertex[3 + k][slot] = parts->leaf->corner[k][slot];
            parts->to->outside[3 + k][slot] = MESH_NO_OPPOSITE;
            parts->across->triangle[k][slot] = UINT32_MAX;
        }
}

/* Updates the points of a leaf after a move. The same vertices coincide as before, so points keep their numbers. */
static void move_leaf(const caromi_edges *edges, const leaf_parts *parts, const caromi_face *faces)
{
    const float *vertices = edges->corners->mesh->vertices;
    for (int i = 0; i < MESH_NO_OPPOSITE && parts->from->vertex[i] != UINT32_MAX; i++)
        for (int k = 0; k < 3; k++)
            parts->to->at[k][i] = vertices[3 * (size_t)parts->from->vertex[i] + (size_t)k];
    if (parts->across != NULL)
        check_across(edges, parts, faces);
}

static void move_unindexed(const carom_mesh *mesh, const uint32_t *from, float (*rows)[MESH_WIDTH])
{
    for (int slot = 0; slot < MESH_WIDTH; slot++)
        for (int edge = 0; edge < 3; edge++)
            for (int k = 0; k < 3; k++)
                rows[3 * edge + k][slot] = mesh->vertices[3 * (size_t)from[3 * slot + edge] + (size_t)k];
}

/* Fills the data of an unindexed leaf: nine rows of coordinates, like the leaf itself. Empty slots repeat the first
 * triangle. */
static void fill_unindexed(const caromi_edges *edges, const mesh_leaf *leaf, int queries, uint32_t *from)
{
    for (int slot = 0; slot < MESH_WIDTH; slot++)
        for (int edge = 0; edge < 3; edge++) {
            const uint32_t own = (uint32_t)leaf->triangle[leaf->triangle[slot] >= 0 ? slot : 0];
            int third = edge;
            const uint32_t other = neighbour_of(edges, own, edge, queries, &third);
            from[3 * slot + edge] = edges->corners->mesh->indices[3 * (size_t)other + (size_t)third];
        }
}

enum { NODES_PER_TASK = 256 };
/* The filling of all leaves' data. */
typedef struct opposite_job {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    int queries;
    int moves; /* only vertices have moved since the data was filled */
} opposite_job;

/* Fills or moves the data of a leaf. */
static void fill_reference(const opposite_job *job, int reference)
{
    const size_t at = (size_t)MESH_LEAF_AT(reference);
    const caromi_culling *culling = &job->edges->culling[job->queries];
    leaf_parts parts = {.leaf = &job->mesh->view.leaves[at],
                        .to = &culling->opposites[at],
                        .from = &culling->sources[at],
                        .across = culling->across != NULL ? &culling->across[at] : NULL};
    if (MESH_IS_UNINDEXED(reference)) {
        if (!job->moves)
            fill_unindexed(job->edges, parts.leaf, job->queries, parts.from->vertex);
        move_unindexed(job->mesh, parts.from->vertex, (float(*)[MESH_WIDTH])(void *)parts.to);
        return;
    }
    if (job->moves)
        move_leaf(job->edges, &parts, culling->faces);
    else
        fill_leaf(job->edges, &parts, job->queries);
}

/* Task: fills the data of the leaves below a range of nodes. */
static void fill_nodes(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const opposite_job *job = user;
    (void)thread;
    for (uint64_t n = begin; n < end; n++)
        for (int i = 0; i < MESH_WIDTH; i++)
            if (job->mesh->view.nodes[n].child[i] < 0)
                fill_reference(job, job->mesh->view.nodes[n].child[i]);
}

static void fill_all(const carom_mesh *mesh, const caromi_edges *edges, int queries, int moves)
{
    opposite_job job = {mesh, edges, queries, moves};
    if (mesh->info.node_count == 0)
        fill_reference(&job, mesh->view.frame.root);
    caromi_parallel_runs(mesh->context->pool, mesh->info.node_count, NODES_PER_TASK, fill_nodes, &job);
}

void caromi_edges_fill_opposites(const carom_mesh *mesh, const caromi_edges *edges, int queries)
{
    fill_all(mesh, edges, queries, CAROMI_NEW_DATA);
}

void caromi_edges_move_opposites(const carom_mesh *mesh, const caromi_edges *edges, int queries)
{
    fill_all(mesh, edges, queries, CAROMI_MOVED_VERTICES);
}
