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
static int add_outside(leaf_parts *p, const carom_mesh *mesh, uint32_t triangle, int corner)
{
    const float *point = caromi_corner(mesh, triangle, corner);
    mesh_opposites *to = p->to;
    int *count = &p->count;
    for (int i = 0; i < *count; i++)
        if (memcmp(&to->at[0][i], &point[0], sizeof *point) == 0 &&
            memcmp(&to->at[1][i], &point[1], sizeof *point) == 0 &&
            memcmp(&to->at[2][i], &point[2], sizeof *point) == 0)
            return i;
    if (*count == MESH_NO_OPPOSITE)
        return MESH_NO_OPPOSITE;
    for (int k = 0; k < 3; k++)
        to->at[k][*count] = point[k];
    p->from->vertex[*count] = mesh->indices[3 * (size_t)triangle + (size_t)corner];
    return (*count)++;
}

/* Another triangle at an edge with a mask that counts wherever this one's does. *third: its corner opposite to the
 * edge. Returns `own` if there is none. */
static uint32_t neighbour_of(const caromi_edges *e, uint32_t own, int edge, int queries, int *third)
{
    const uint32_t next = e->next[3 * (size_t)own + (size_t)edge];
    const uint32_t other = caromi_edges_counts_with(e, next, own, queries) ? next : own;
    const uint32_t a = caromi_edge_position(e, own, edge), b = caromi_edge_position(e, own, (edge + 1) % 3);
    if (other != own)
        *third = (caromi_edge_between(e, other, a, b) + 2) % 3;
    return other;
}

/* Stores a corner of a neighbour in a row of the leaf's table. */
static void put_opposite(const caromi_edges *e, leaf_parts *p, int row, int slot, uint32_t triangle, int corner)
{
    const int there = slot_of(p->leaf, triangle);
    if (there < MESH_WIDTH)
        p->to->vertex[row][slot] = p->leaf->corner[corner][there];
    else
        p->to->outside[row][slot] = (unsigned char)add_outside(p, e->corners->mesh, triangle, corner);
    if (row >= 3)
        p->across->triangle[row - 3][slot] = triangle;
}

static void fill_leaf(const caromi_edges *e, leaf_parts *p, int queries)
{
    mesh_opposites *to = p->to;
    int corner;
    memcpy(to->vertex, p->leaf->corner, sizeof p->leaf->corner);
    memcpy(to->vertex + 3, p->leaf->corner, sizeof p->leaf->corner);
    memset(to->outside, MESH_NO_OPPOSITE, sizeof to->outside);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < MESH_WIDTH; i++)
            to->at[k][i] = NAN;
    memset(p->from, UINT8_MAX, sizeof *p->from);
    if (p->across != NULL)
        memset(p->across, UINT8_MAX, sizeof *p->across);
    for (int row = 0; row < (p->across != NULL ? 6 : 3);
         row++) /* edges first, as there may be no room for all points */
        for (int slot = 0; slot < MESH_WIDTH && p->leaf->triangle[slot] >= 0; slot++) {
            const uint32_t own = (uint32_t)p->leaf->triangle[slot];
            const uint32_t other = row < 3 ? neighbour_of(e, own, row, queries, &corner)
                                           : caromi_edges_across(e, own, row - 3, queries, &corner);
            if (other != own)
                put_opposite(e, p, row, slot, other, corner);
        }
}

/* Drops the triangles across corners whose shape, after a move, no longer suits the search. */
static void check_across(const caromi_edges *e, const leaf_parts *p, const caromi_face *faces)
{
    for (int k = 0; k < 3; k++)
        for (int slot = 0; slot < MESH_WIDTH && p->leaf->triangle[slot] >= 0; slot++) {
            const uint32_t other = p->across->triangle[k][slot];
            if (other == UINT32_MAX ||
                caromi_edges_may_be_across(e, (uint32_t)p->leaf->triangle[slot], k, other, &faces[other]))
                continue;
            p->to->vertex[3 + k][slot] = p->leaf->corner[k][slot];
            p->to->outside[3 + k][slot] = MESH_NO_OPPOSITE;
            p->across->triangle[k][slot] = UINT32_MAX;
        }
}

/* Updates the points of a leaf after a move. The same vertices coincide as before, so points keep their numbers. */
static void move_leaf(const caromi_edges *e, const leaf_parts *p, const caromi_face *faces)
{
    const float *vertices = e->corners->mesh->vertices;
    for (int i = 0; i < MESH_NO_OPPOSITE && p->from->vertex[i] != UINT32_MAX; i++)
        for (int k = 0; k < 3; k++)
            p->to->at[k][i] = vertices[3 * (size_t)p->from->vertex[i] + (size_t)k];
    if (p->across != NULL)
        check_across(e, p, faces);
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
static void fill_unindexed(const caromi_edges *e, const mesh_leaf *leaf, int queries, uint32_t *from)
{
    for (int slot = 0; slot < MESH_WIDTH; slot++)
        for (int edge = 0; edge < 3; edge++) {
            const uint32_t own = (uint32_t)leaf->triangle[leaf->triangle[slot] >= 0 ? slot : 0];
            int third = edge;
            const uint32_t other = neighbour_of(e, own, edge, queries, &third);
            from[3 * slot + edge] = e->corners->mesh->indices[3 * (size_t)other + (size_t)third];
        }
}

enum { NODES_PER_TASK = 256 };
typedef struct opposite_job {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    int queries;
    int moves; /* only vertices have moved since the data was filled */
} opposite_job;

static void fill_reference(const opposite_job *job, int reference)
{
    const size_t at = (size_t)MESH_LEAF_AT(reference);
    const caromi_culling *l = &job->edges->culling[job->queries];
    leaf_parts p = {.leaf = &job->mesh->view.leaves[at],
                    .to = &l->opposites[at],
                    .from = &l->sources[at],
                    .across = l->across != NULL ? &l->across[at] : NULL};
    if (MESH_IS_UNINDEXED(reference)) {
        if (!job->moves)
            fill_unindexed(job->edges, p.leaf, job->queries, p.from->vertex);
        move_unindexed(job->mesh, p.from->vertex, (float(*)[MESH_WIDTH])(void *)p.to);
        return;
    }
    if (job->moves)
        move_leaf(job->edges, &p, l->faces);
    else
        fill_leaf(job->edges, &p, job->queries);
}

static void fill_nodes(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const opposite_job *job = user;
    (void)thread;
    for (uint64_t n = begin; n < end; n++)
        for (int i = 0; i < MESH_WIDTH; i++)
            if (job->mesh->view.nodes[n].child[i] < 0)
                fill_reference(job, job->mesh->view.nodes[n].child[i]);
}

static void fill_all(const carom_mesh *mesh, const caromi_edges *e, int queries, int moves)
{
    opposite_job job = {mesh, e, queries, moves};
    if (mesh->info.node_count == 0)
        fill_reference(&job, mesh->view.frame.root);
    caromi_parallel_runs(mesh->context->pool, mesh->info.node_count, NODES_PER_TASK, fill_nodes, &job);
}

void caromi_edges_fill_opposites(const carom_mesh *mesh, const caromi_edges *e, int queries)
{
    fill_all(mesh, e, queries, 0);
}

void caromi_edges_move_opposites(const carom_mesh *mesh, const caromi_edges *e, int queries)
{
    fill_all(mesh, e, queries, 1);
}
