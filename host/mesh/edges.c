/* SPDX-License-Identifier: MIT */
/* Links the triangles at each edge into a ring. A hash table finds the first triangle of an edge; each further one
 * joins its ring. Rings stay valid while vertices move, as long as the same vertices coincide. */
#include "edges.h"

#include <math.h>
#include <string.h>

#include "mesh.h"

enum { RING_SMALL = 8 };
#define TWIN_BYTES(triangles) (((triangles) + 7) / 8)

typedef struct edge_table {
    caromi_edges *edges;
    uint32_t *entry; /* slots: number of a triangle + 1; 0: free */
    uint64_t mask;
} edge_table;

static uint64_t hash(uint32_t a, uint32_t b)
{
    uint64_t x = ((uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a)) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* Puts a triangle into the ring of its edge, unless a lower edge of it is the same edge. The hash table holds
 * triangles, not edges: an entry serves every edge of its triangle whose probe sequence passes it, even for that
 * triangle itself. */
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

/* Whether another triangle may have the same three corners. Tests only some triangles at an edge, as there may be very
 * many. */
static int may_have_twin(const caromi_edges *e, uint32_t own)
{
    const uint32_t a = caromi_edge_position(e, own, 0), b = caromi_edge_position(e, own, 1);
    uint32_t at = own;
    for (int i = 0; i < RING_SMALL; i++) {
        at = e->next[3 * (size_t)at + (size_t)caromi_edge_between(e, at, a, b)];
        if (at == own || caromi_edges_same_corners(e, at, own))
            return at != own;
    }
    return 1;
}

/* Whether this triangle may be another one's twin. The search of a triangle whose first edge has no length finds
 * nothing, but another triangle's search may find it. */
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

/* Sets the bits of triangles that may have a twin. Returns the number of triangles that may be one. */
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

/* Returns 0 if there is no memory. */
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

/* The number of query kinds that need culling data of their own: with triangle masks, queries with and without masks
 * differ. */
static int kinds_of_queries(const carom_mesh *mesh)
{
    return mesh->masks != NULL ? 2 : 1;
}

static uint64_t left_out_bytes(const carom_mesh *mesh, const caromi_culling *l)
{
    return l->opposites == NULL
               ? 0
               : mesh->leaf_count * (sizeof *l->opposites + sizeof *l->sources) +
                     (l->across != NULL ? mesh->leaf_count * sizeof *l->across : 0) +
                     mesh->info.node_count * sizeof *l->cones + mesh->info.triangle_count * sizeof *l->faces;
}

uint64_t caromi_edges_bytes(const carom_mesh *mesh)
{
    const uint64_t triangles = mesh->info.triangle_count;
    const caromi_edges *e = mesh->edges;
    return e == NULL ? 0
                     : sizeof *e + 6 * triangles * sizeof *e->next + TWIN_BYTES(triangles) +
                           (e->twin != NULL ? triangles * sizeof *e->twin : 0) +
                           (e->mask != NULL ? triangles * sizeof *e->mask : 0) + left_out_bytes(mesh, &e->culling[0]) +
                           left_out_bytes(mesh, &e->culling[1]);
}

static void free_left_out(const carom_context *context, caromi_edges *e)
{
    for (int i = 0; i < 2; i++) {
        caromi_culling *l = &e->culling[i];
        caromi_free(context, l->opposites);
        caromi_free(context, l->sources);
        caromi_free(context, l->across);
        caromi_free(context, l->cones);
        caromi_free(context, l->faces);
        *l = (caromi_culling){.opposites = NULL};
    }
    caromi_free(context, e->around);
    e->around = NULL;
}

static void free_edges(const carom_context *context, caromi_edges *e)
{
    caromi_free(context, e->position);
    caromi_free(context, e->next);
    caromi_free(context, e->twins);
    caromi_free(context, e->twin);
    caromi_free(context, e->mask);
    free_left_out(context, e);
    caromi_free(context, e);
}

/* Computes the culling data for a kind of queries. Returns 0 if there is no memory. */
static int fill_culling(const carom_mesh *mesh, caromi_edges *e, int queries)
{
    caromi_culling *to = &e->culling[queries];
    to->opposites = caromi_alloc(mesh->context, mesh->leaf_count, sizeof *to->opposites);
    to->sources = caromi_alloc(mesh->context, mesh->leaf_count, sizeof *to->sources);
    if (e->around == NULL)
        e->around = caromi_alloc(mesh->context, mesh->leaf_count, sizeof *e->around);
    to->cones = caromi_alloc(mesh->context, mesh->info.node_count, sizeof *to->cones);
    to->faces = caromi_alloc(mesh->context, mesh->info.triangle_count, sizeof *to->faces);
    if (caromi_edges_have_across(e))
        to->across = caromi_alloc(mesh->context, mesh->leaf_count, sizeof *to->across);
    if (to->opposites == NULL || to->sources == NULL || e->around == NULL || to->cones == NULL || to->faces == NULL ||
        (to->across == NULL && caromi_edges_have_across(e)) || !caromi_edges_fill_cones(mesh, e, queries, 0))
        return 0;
    caromi_edges_fill_opposites(mesh, e, queries);
    return 1;
}

/* Recomputes the culling data for a new hierarchy, or updates it to moved vertices. Returns 0 if there is no memory. */
static int renew_culling(const carom_mesh *mesh, caromi_edges *e)
{
    int whole = 1;
    for (int i = 0; whole && i < kinds_of_queries(mesh); i++) {
        if (e->culling[i].opposites == NULL) {
            whole = fill_culling(mesh, e, i);
            continue;
        }
        whole = caromi_edges_fill_cones(mesh, e, i, 1);
        if (whole)
            caromi_edges_move_opposites(mesh, e, i);
    }
    e->is_old = !whole;
    return whole;
}

static carom_status no_memory(const carom_mesh *mesh, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the edges of %llu triangles",
                       (unsigned long long)mesh->info.triangle_count);
}

static carom_status renew(carom_mesh *mesh, carom_error *err)
{
    mesh->info.bytes -= caromi_edges_bytes(mesh);
    const int whole = renew_culling(mesh, mesh->edges);
    if (!whole)
        free_left_out(mesh->context, mesh->edges);
    mesh->info.bytes += caromi_edges_bytes(mesh);
    return whole ? CAROM_OK : no_memory(mesh, err);
}

carom_status caromi_edges_of(carom_mesh *mesh, const caromi_edges **edges, carom_error *err)
{
    const uint64_t corners = 3 * mesh->info.triangle_count;
    const caromi_corners *known;
    CHECK(caromi_corners_of(mesh, &known, err)); /* may discard the edges */
    caromi_edges *e = mesh->edges;
    *edges = e;
    if (e != NULL)
        return e->is_old ? renew(mesh, err) : CAROM_OK;
    e = caromi_alloc(mesh->context, 1, sizeof *e);
    if (e != NULL) {
        *e = (caromi_edges){.corners = known};
        e->position = caromi_alloc(mesh->context, corners, sizeof *e->position);
        e->next = caromi_alloc(mesh->context, corners, sizeof *e->next);
        e->twins = caromi_alloc(mesh->context, TWIN_BYTES(mesh->info.triangle_count), sizeof *e->twins);
    }
    if (e == NULL || e->position == NULL || e->next == NULL || e->twins == NULL ||
        (mesh->masks != NULL && caromi_masks_of_triangles(mesh, &e->mask, err) != CAROM_OK) || !fill(mesh, e) ||
        !fill_twins(mesh, e) || !renew_culling(mesh, e)) {
        if (e != NULL)
            free_edges(mesh->context, e);
        return no_memory(mesh, err);
    }
    *edges = mesh->edges = e;
    mesh->info.bytes += caromi_edges_bytes(mesh);
    return CAROM_OK;
}

void caromi_edges_move(carom_mesh *mesh)
{
    if (mesh->edges != NULL)
        mesh->edges->is_old = 1;
}

void caromi_edges_forget_leaves(carom_mesh *mesh)
{
    if (mesh->edges == NULL)
        return;
    mesh->info.bytes -= caromi_edges_bytes(mesh);
    free_left_out(mesh->context, mesh->edges);
    mesh->edges->is_old = 1;
    mesh->info.bytes += caromi_edges_bytes(mesh);
}

void caromi_edges_forget(carom_mesh *mesh)
{
    if (mesh->edges == NULL)
        return;
    mesh->info.bytes -= caromi_edges_bytes(mesh);
    free_edges(mesh->context, mesh->edges);
    mesh->edges = NULL;
}
