/* SPDX-License-Identifier: MIT */
/* A hash table finds a triangle for each edge; every further triangle there joins its ring. Leaves have the neighbours
 * of their triangles that are in the same leaf, for the search for contacts. */
#include "edges.h"

#include <math.h>
#include <string.h>

#include "mesh.h"

enum { RING_FEW = 8 };
#define TWIN_BYTES(triangles) (((triangles) + 7) / 8)

typedef struct edge_table {
    caromi_edges *edges;
    uint32_t *entry; /* a triangle + 1; 0 is free */
    uint64_t mask;
} edge_table;

static uint64_t hash(uint32_t a, uint32_t b)
{
    uint64_t x = ((uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a)) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* Puts the triangle into the ring of its edge, which it has at no lower number. An entry serves all edges of its
 * triangle whose chains pass it, also for that triangle itself. */
static void join(edge_table *s, uint32_t triangle, int edge)
{
    caromi_edges *e = s->edges;
    const uint32_t a = caromi_edge_position(e, triangle, edge), b = caromi_edge_position(e, triangle, (edge + 1) % 3);
    uint64_t at = hash(a, b) & s->mask;
    uint32_t *own = &e->next[3 * (size_t)triangle + (size_t)edge];
    for (; s->entry[at] != 0; at = (at + 1) & s->mask) {
        const uint32_t other = s->entry[at] - 1;
        const int k = caromi_edge_between(e, other, a, b);
        if (k < 0)
            continue;
        uint32_t *first = &e->next[3 * (size_t)other + (size_t)k];
        *own = *first;
        *first = triangle;
        return;
    }
    s->entry[at] = triangle + 1;
}

static int fill(const carom_mesh *mesh, caromi_edges *e)
{
    const uint64_t triangles = mesh->info.triangle_count;
    edge_table s = {.edges = e};
    uint64_t size = 16;
    while (size < 6 * triangles)
        size *= 2;
    s.mask = size - 1;
    s.entry = caromi_alloc(mesh->context, size, sizeof *s.entry);
    if (s.entry == NULL)
        return 0;
    memset(s.entry, 0, size * sizeof *s.entry);
    for (uint32_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++) {
            e->position[3 * (size_t)t + (size_t)k] = caromi_corner_position(e->corners, t, k);
            e->next[3 * (size_t)t + (size_t)k] = t;
        }
    for (uint32_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t a = caromi_edge_position(e, t, k), b = caromi_edge_position(e, t, (k + 1) % 3);
            if (a != b && caromi_edge_between(e, t, a, b) == k)
                join(&s, t, k);
        }
    caromi_free(mesh->context, s.entry);
    return 1;
}

/* ---- twins ------------------------------------------------------------------------------------------------------- */

static void sorted_corners(const caromi_edges *e, uint32_t triangle, uint32_t p[3])
{
    for (int k = 0; k < 3; k++) {
        const uint32_t own = caromi_edge_position(e, triangle, k);
        int at = k;
        for (; at > 0 && p[at - 1] > own; at--)
            p[at] = p[at - 1];
        p[at] = own;
    }
}

int caromi_edges_same_corners(const caromi_edges *e, uint32_t a, uint32_t b)
{
    uint32_t p[3], q[3];
    sorted_corners(e, a, p);
    sorted_corners(e, b, q);
    return memcmp(p, q, sizeof p) == 0;
}

/* Looks no farther than some triangles along an edge, because there may be very many. */
static int may_have_twin(const caromi_edges *e, uint32_t own)
{
    const uint32_t a = caromi_edge_position(e, own, 0), b = caromi_edge_position(e, own, 1);
    uint32_t at = own;
    for (int i = 0; i < RING_FEW; i++) {
        at = e->next[3 * (size_t)at + (size_t)caromi_edge_between(e, at, a, b)];
        if (at == own || caromi_edges_same_corners(e, at, own))
            return at != own;
    }
    return 1;
}

/* Whether another triangle may find it: one whose first edge has no length finds none, but is found. */
static int may_be_twin(const caromi_edges *e, uint32_t own)
{
    return caromi_edges_has_twin(e, own) || caromi_edge_position(e, own, 0) == caromi_edge_position(e, own, 1);
}

static void join_twin(const caromi_edges *e, uint32_t *entry, uint64_t mask, uint32_t triangle)
{
    uint32_t p[3];
    sorted_corners(e, triangle, p);
    uint64_t at = hash(p[0] ^ (uint32_t)hash(p[1], p[2]), p[2]) & mask;
    while (entry[at] != 0 && !caromi_edges_same_corners(e, entry[at] - 1, triangle))
        at = (at + 1) & mask;
    if (entry[at] == 0) {
        entry[at] = triangle + 1;
        return;
    }
    e->twin[triangle] = e->twin[entry[at] - 1];
    e->twin[entry[at] - 1] = triangle;
}

/* Sets the bits of triangles that may have twins. Returns how many may be one. */
static uint64_t count_twins(const carom_mesh *mesh, const caromi_edges *e)
{
    const uint32_t triangles = (uint32_t)mesh->info.triangle_count;
    uint64_t count = 0;
    memset(e->twins, 0, TWIN_BYTES(triangles));
    for (uint32_t t = 0; t < triangles; t++) {
        if (may_have_twin(e, t))
            e->twins[t / 8] |= (uint8_t)(1u << t % 8);
        count += (uint64_t)may_be_twin(e, t);
    }
    return count;
}

/* 0: no memory. */
static int fill_twins(const carom_mesh *mesh, caromi_edges *e)
{
    const uint32_t triangles = (uint32_t)mesh->info.triangle_count;
    const uint64_t count = count_twins(mesh, e);
    uint64_t size = 16;
    while (size < 2 * count)
        size *= 2;
    if (count == 0)
        return 1;
    uint32_t *entry = caromi_alloc(mesh->context, size, sizeof *entry);
    e->twin = caromi_alloc(mesh->context, triangles, sizeof *e->twin);
    if (entry == NULL || e->twin == NULL) {
        caromi_free(mesh->context, entry);
        return 0;
    }
    memset(entry, 0, size * sizeof *entry);
    for (uint32_t t = 0; t < triangles; t++) {
        e->twin[t] = t;
        if (may_be_twin(e, t))
            join_twin(e, entry, size - 1, t);
    }
    caromi_free(mesh->context, entry);
    for (uint32_t t = 0; t < triangles; t++)
        if (e->twin[t] == t)
            e->twins[t / 8] &= (uint8_t) ~(1u << t % 8);
    return 1;
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* The leaf's slot of a triangle; MESH_WIDTH: it is not there. */
static int slot_of(const mesh_leaf *leaf, uint32_t triangle)
{
    int slot = 0;
    while (slot < MESH_WIDTH && leaf->triangle[slot] != (int)triangle)
        slot++;
    return slot;
}

/* The place of a point in the table of a leaf, which has `count`. */
static int add_outside(mesh_opposites *to, int *count, const float *point)
{
    for (int i = 0; i < *count; i++)
        if (memcmp(&to->at[0][i], &point[0], sizeof *point) == 0 &&
            memcmp(&to->at[1][i], &point[1], sizeof *point) == 0 &&
            memcmp(&to->at[2][i], &point[2], sizeof *point) == 0)
            return i;
    if (*count == MESH_NO_OPPOSITE)
        return MESH_NO_OPPOSITE;
    for (int k = 0; k < 3; k++)
        to->at[k][*count] = point[k];
    return (*count)++;
}

/* Another triangle on an edge that counts where this one does, and which of its corners is not there; its own: there is
 * none. */
static uint32_t neighbour_of(const caromi_edges *e, uint32_t own, int edge, int queries, int *third)
{
    const uint32_t next = e->next[3 * (size_t)own + (size_t)edge];
    const uint32_t other = caromi_edges_counts_with(e, next, own, queries) ? next : own;
    const uint32_t a = caromi_edge_position(e, own, edge), b = caromi_edge_position(e, own, (edge + 1) % 3);
    if (other != own)
        *third = (caromi_edge_between(e, other, a, b) + 2) % 3;
    return other;
}

/* A corner of a triangle goes to its place in a row. */
static void put_opposite(const caromi_edges *e, const mesh_leaf *leaf, int row, int slot, uint32_t triangle, int corner,
                         mesh_opposites *to, int *count)
{
    const int there = slot_of(leaf, triangle);
    if (there < MESH_WIDTH)
        to->vertex[row][slot] = leaf->corner[corner][there];
    else
        to->outside[row][slot] =
            (unsigned char)add_outside(to, count, caromi_corner(e->corners->mesh, triangle, corner));
}

static void fill_leaf(const caromi_edges *e, const mesh_leaf *leaf, int queries, mesh_opposites *to)
{
    int count = 0, corner;
    memcpy(to->vertex, leaf->corner, sizeof leaf->corner);
    memcpy(to->vertex + 3, leaf->corner, sizeof leaf->corner);
    memset(to->outside, MESH_NO_OPPOSITE, sizeof to->outside);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < MESH_WIDTH; i++)
            to->at[k][i] = NAN;
    for (int row = 0; row < 6; row++) /* edges first: there may be no room for all */
        for (int slot = 0; slot < MESH_WIDTH && leaf->triangle[slot] >= 0; slot++) {
            const uint32_t own = (uint32_t)leaf->triangle[slot];
            const uint32_t other = row < 3 ? neighbour_of(e, own, row, queries, &corner)
                                           : caromi_edges_across(e, own, row - 3, queries, &corner);
            if (other != own)
                put_opposite(e, leaf, row, slot, other, corner, to, &count);
        }
}

/* Of an unindexed leaf: nine rows, as it has itself. An empty slot has the first triangle's. */
static void fill_unindexed(const caromi_edges *e, const mesh_leaf *leaf, int queries, float (*rows)[MESH_WIDTH])
{
    for (int slot = 0; slot < MESH_WIDTH; slot++)
        for (int edge = 0; edge < 3; edge++) {
            const uint32_t own = (uint32_t)leaf->triangle[leaf->triangle[slot] >= 0 ? slot : 0];
            int third = edge;
            const uint32_t other = neighbour_of(e, own, edge, queries, &third);
            for (int k = 0; k < 3; k++)
                rows[3 * edge + k][slot] = caromi_corner(e->corners->mesh, other, third)[k];
        }
}

enum { NODES_PER_TASK = 256 };
typedef struct opposite_job {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    int queries;
} opposite_job;

static void fill_reference(const opposite_job *job, int reference)
{
    const size_t at = (size_t)MESH_LEAF_AT(reference);
    const mesh_leaf *leaf = &job->mesh->view.leaves[at];
    mesh_opposites *to = &job->edges->left_out[job->queries].opposites[at];
    if (MESH_IS_UNINDEXED(reference))
        fill_unindexed(job->edges, leaf, job->queries, (float(*)[MESH_WIDTH])(void *)to);
    else
        fill_leaf(job->edges, leaf, job->queries, to);
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

static void fill_opposites(const carom_mesh *mesh, const caromi_edges *e, int queries)
{
    opposite_job job = {mesh, e, queries};
    if (mesh->info.node_count == 0)
        fill_reference(&job, mesh->view.frame.root);
    caromi_parallel_runs(mesh->context->pool, mesh->info.node_count, NODES_PER_TASK, fill_nodes, &job);
}

/* Of the kinds of queries: how many there are to tell apart. */
static int kinds_of_queries(const carom_mesh *mesh)
{
    return mesh->masks != NULL ? 2 : 1;
}

uint64_t caromi_edges_bytes(const carom_mesh *mesh)
{
    const uint64_t corners = 3 * mesh->info.triangle_count;
    return mesh->edges == NULL
               ? 0
               : sizeof *mesh->edges + 2 * corners * sizeof *mesh->edges->next + TWIN_BYTES(mesh->info.triangle_count) +
                     (mesh->edges->twin != NULL ? mesh->info.triangle_count * sizeof *mesh->edges->twin : 0) +
                     (mesh->masks != NULL ? mesh->info.triangle_count * sizeof *mesh->edges->mask : 0) +
                     (uint64_t)kinds_of_queries(mesh) * (mesh->leaf_count * sizeof *mesh->edges->left_out->opposites +
                                                         mesh->info.node_count * sizeof *mesh->edges->left_out->cones);
}

static void free_edges(const carom_context *context, caromi_edges *e)
{
    caromi_free(context, e->position);
    caromi_free(context, e->next);
    caromi_free(context, e->twins);
    caromi_free(context, e->twin);
    caromi_free(context, e->mask);
    for (int i = 0; i < 2; i++) {
        caromi_free(context, e->left_out[i].opposites);
        caromi_free(context, e->left_out[i].cones);
    }
    caromi_free(context, e);
}

/* 0: no memory. */
static int fill_left_out(const carom_mesh *mesh, caromi_edges *e, int queries)
{
    caromi_left_out *to = &e->left_out[queries];
    to->opposites = caromi_alloc(mesh->context, mesh->leaf_count, sizeof *to->opposites);
    to->cones = caromi_alloc(mesh->context, mesh->info.node_count, sizeof *to->cones);
    if (to->opposites == NULL || to->cones == NULL || !caromi_edges_fill_cones(mesh, e, queries))
        return 0;
    fill_opposites(mesh, e, queries);
    return 1;
}

static int fill_all(const carom_mesh *mesh, caromi_edges *e)
{
    int whole = fill(mesh, e) && fill_twins(mesh, e);
    for (int i = 0; whole && i < kinds_of_queries(mesh); i++)
        whole = fill_left_out(mesh, e, i);
    return whole;
}

carom_status caromi_edges_of(carom_mesh *mesh, const caromi_edges **edges, carom_error *err)
{
    const uint64_t corners = 3 * mesh->info.triangle_count;
    caromi_edges *e = mesh->edges;
    *edges = e;
    if (e != NULL)
        return CAROM_OK;
    const caromi_corners *known;
    CHECK(caromi_corners_of(mesh, &known, err));
    e = caromi_alloc(mesh->context, 1, sizeof *e);
    if (e != NULL) {
        *e = (caromi_edges){.corners = known};
        e->position = caromi_alloc(mesh->context, corners, sizeof *e->position);
        e->next = caromi_alloc(mesh->context, corners, sizeof *e->next);
        e->twins = caromi_alloc(mesh->context, TWIN_BYTES(mesh->info.triangle_count), sizeof *e->twins);
    }
    if (e == NULL || e->position == NULL || e->next == NULL || e->twins == NULL ||
        (mesh->masks != NULL && caromi_masks_of_triangles(mesh, &e->mask, err) != CAROM_OK) || !fill_all(mesh, e)) {
        if (e != NULL)
            free_edges(mesh->context, e);
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the edges of %llu triangles",
                           (unsigned long long)mesh->info.triangle_count);
    }
    *edges = mesh->edges = e;
    mesh->info.bytes += caromi_edges_bytes(mesh);
    return CAROM_OK;
}

void caromi_edges_forget(carom_mesh *mesh)
{
    if (mesh->edges == NULL)
        return;
    mesh->info.bytes -= caromi_edges_bytes(mesh);
    free_edges(mesh->context, mesh->edges);
    mesh->edges = NULL;
}
