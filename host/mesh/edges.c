/* SPDX-License-Identifier: MIT */
/* Links the triangles at each edge into a ring. A hash table finds the first triangle of an edge; each further one
 * joins its ring. Rings stay valid while vertices move, as long as the same vertices coincide. */
#include "edges.h"

#include <math.h>
#include <string.h>

#include "host/core/device.h"
#include "host/core/progress.h"
#include "mesh.h"

enum { RING_SMALL = 8 };
#define TWIN_BYTES(triangles) (((triangles) + 7) / 8)

/* Hash table of triangles by their edges. */
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
static void join(edge_table *table, uint32_t triangle, int edge)
{
    caromi_edges *edges = table->edges;
    const uint32_t a = caromi_edge_position(edges, triangle, edge),
                   b = caromi_edge_position(edges, triangle, (edge + 1) % 3);
    uint64_t at = hash(a, b) & table->mask;
    uint32_t *own = &edges->next[3 * (size_t)triangle + (size_t)edge];
    for (; table->entry[at] != 0; at = (at + 1) & table->mask) {
        const uint32_t other = table->entry[at] - 1;
        const int k = caromi_edge_between(edges, other, a, b);
        if (k < 0)
            continue;
        uint32_t *first = &edges->next[3 * (size_t)other + (size_t)k];
        *own = *first;
        *first = triangle;
        return;
    }
    table->entry[at] = triangle + 1;
}

/* Links the rings of all edges. Returns 0 if there is no memory. */
static int fill(const carom_mesh *mesh, caromi_edges *edges)
{
    const uint64_t triangles = mesh->info.triangle_count;
    edge_table table = {.edges = edges};
    uint64_t size = 16;
    /* A hash table with at least two slots for each edge of each triangle. */
    while (size < 6 * triangles)
        size *= 2;
    table.mask = size - 1;
    table.entry = caromi_alloc(mesh->context, size, sizeof *table.entry);
    if (table.entry == NULL)
        return 0;
    memset(table.entry, 0, size * sizeof *table.entry);
    for (uint32_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++) {
            /* At first each triangle is a ring of its own at each edge. */
            edges->position[3 * (size_t)t + (size_t)k] = caromi_corner_position(edges->corners, t, k);
            edges->next[3 * (size_t)t + (size_t)k] = t;
        }
    for (uint32_t t = 0; t < triangles && !caromi_look_at_times(mesh->context, t); t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t a = caromi_edge_position(edges, t, k), b = caromi_edge_position(edges, t, (k + 1) % 3);
            /* An edge that occurs twice in one triangle counts once. */
            if (a != b && caromi_edge_between(edges, t, a, b) == k)
                join(&table, t, k);
        }
    caromi_free(mesh->context, table.entry);
    return 1;
}

/* ---- twins ------------------------------------------------------------------------------------------------------- */

void caromi_edges_sorted_corners(const caromi_edges *edges, uint32_t triangle, uint32_t p[3])
{
    for (int k = 0; k < 3; k++) {
        const uint32_t own = caromi_edge_position(edges, triangle, k);
        int at = k;
        for (; at > 0 && p[at - 1] > own; at--)
            p[at] = p[at - 1];
        p[at] = own;
    }
}

int caromi_edges_same_corners(const caromi_edges *edges, uint32_t a, uint32_t b)
{
    uint32_t p[3], q[3];
    caromi_edges_sorted_corners(edges, a, p);
    caromi_edges_sorted_corners(edges, b, q);
    return memcmp(p, q, sizeof p) == 0;
}

/* Whether another triangle may have the same three corners. Tests only some triangles at an edge, as there may be very
 * many. */
static int may_have_twin(const caromi_edges *edges, uint32_t own)
{
    const uint32_t a = caromi_edge_position(edges, own, 0), b = caromi_edge_position(edges, own, 1);
    uint32_t at = own;
    for (int i = 0; i < RING_SMALL; i++) {
        at = edges->next[3 * (size_t)at + (size_t)caromi_edge_between(edges, at, a, b)];
        if (at == own || caromi_edges_same_corners(edges, at, own))
            return at != own;
    }
    return 1;
}

/* Whether this triangle may be another one's twin. The search of a triangle whose first edge has no length finds
 * nothing, but another triangle's search may find it. */
static int may_be_twin(const caromi_edges *edges, uint32_t own)
{
    return caromi_edges_has_twin(edges, own) ||
           caromi_edge_position(edges, own, 0) == caromi_edge_position(edges, own, 1);
}

/* Links a triangle with its twin in the table; else enters it there. */
static void join_twin(const caromi_edges *edges, uint32_t *entry, uint64_t mask, uint32_t triangle)
{
    uint32_t p[3];
    caromi_edges_sorted_corners(edges, triangle, p);
    uint64_t at = hash(p[0] ^ (uint32_t)hash(p[1], p[2]), p[2]) & mask;
    while (entry[at] != 0 && !caromi_edges_same_corners(edges, entry[at] - 1, triangle))
        at = (at + 1) & mask;
    if (entry[at] == 0) {
        entry[at] = triangle + 1;
        return;
    }
    edges->twin[triangle] = edges->twin[entry[at] - 1];
    edges->twin[entry[at] - 1] = triangle;
}

/* Sets the bits of triangles that may have a twin. Returns the number of triangles that may be one. */
static uint64_t count_twins(const carom_mesh *mesh, const caromi_edges *edges)
{
    const uint32_t triangles = (uint32_t)mesh->info.triangle_count;
    uint64_t count = 0;
    memset(edges->twins, 0, TWIN_BYTES(triangles));
    for (uint32_t t = 0; t < triangles && !caromi_look_at_times(mesh->context, t); t++) {
        if (may_have_twin(edges, t))
            edges->twins[t / 8] |= (uint8_t)(1u << t % 8);
        count += (uint64_t)may_be_twin(edges, t);
    }
    return count;
}

/* Returns 0 if there is no memory. */
static int fill_twins(const carom_mesh *mesh, caromi_edges *edges)
{
    const uint32_t triangles = (uint32_t)mesh->info.triangle_count;
    const uint64_t count = count_twins(mesh, edges);
    uint64_t size = 16;
    while (size < 2 * count)
        size *= 2;
    if (count == 0)
        return 1;
    uint32_t *entry = caromi_alloc(mesh->context, size, sizeof *entry);
    edges->twin = caromi_alloc(mesh->context, triangles, sizeof *edges->twin);
    if (entry == NULL || edges->twin == NULL) {
        caromi_free(mesh->context, entry);
        return 0;
    }
    /* Triangles that may be twins are linked by a hash table of their three corners. */
    memset(entry, 0, size * sizeof *entry);
    for (uint32_t t = 0; t < triangles && !caromi_look_at_times(mesh->context, t); t++) {
        edges->twin[t] = t;
        if (may_be_twin(edges, t))
            join_twin(edges, entry, size - 1, t);
    }
    caromi_free(mesh->context, entry);
    for (uint32_t t = 0; t < triangles && !caromi_watch_ends(mesh->context->watch); t++) /* else links are unfinished */
        /* The test was cautious: triangles without a twin lose their bit. */
        if (edges->twin[t] == t)
            edges->twins[t / 8] &= (uint8_t) ~(1u << t % 8);
    return 1;
}

/* The number of query kinds that need culling data of their own: with triangle masks, queries with and without masks
 * differ. */
static int kinds_of_queries(const carom_mesh *mesh)
{
    return mesh->masks != NULL ? 2 : 1;
}

static uint64_t left_out_bytes(const carom_mesh *mesh, const caromi_culling *culling)
{
    const int width = mesh->view.width;
    const uint64_t of_leaf = CAROMI_OPPOSITES_BYTES(width) + CAROMI_SOURCES_BYTES(width) +
                             (culling->across != NULL ? CAROMI_ACROSS_BYTES(width) : 0);
    return culling->opposites == NULL ? 0
                                      : mesh->leaf_count * of_leaf + mesh->info.node_count * CAROMI_CONES_BYTES(width) +
                                            mesh->info.triangle_count * sizeof *culling->faces;
}

uint64_t caromi_edges_bytes(const carom_mesh *mesh)
{
    const uint64_t triangles = mesh->info.triangle_count;
    const caromi_edges *edges = mesh->edges;
    return edges == NULL ? 0
                         : sizeof *edges + 6 * triangles * sizeof *edges->next + TWIN_BYTES(triangles) +
                               (edges->twin != NULL ? triangles * sizeof *edges->twin : 0) +
                               (edges->mask != NULL ? triangles * sizeof *edges->mask : 0) +
                               (edges->around != NULL ? mesh->leaf_count * CAROMI_AROUND_BYTES(mesh->view.width) : 0) +
                               left_out_bytes(mesh, &edges->culling[0]) + left_out_bytes(mesh, &edges->culling[1]);
}

/* Frees the culling data. */
static void free_left_out(const carom_context *context, caromi_edges *edges)
{
    for (int i = 0; i < 2; i++) {
        caromi_culling *l = &edges->culling[i];
        caromi_free(context, l->opposites);
        caromi_free(context, l->sources);
        caromi_free(context, l->across);
        caromi_free(context, l->cones);
        caromi_free(context, l->faces);
        *l = (caromi_culling){.opposites = NULL};
    }
    caromi_free(context, edges->around);
    edges->around = NULL;
}

static void free_edges(const carom_context *context, caromi_edges *edges)
{
    caromi_free(context, edges->position);
    caromi_free(context, edges->next);
    caromi_free(context, edges->twins);
    caromi_free(context, edges->twin);
    caromi_free(context, edges->mask);
    free_left_out(context, edges);
    caromi_free(context, edges);
}

static const caromi_culling_makers *makers_of(const carom_mesh *mesh)
{
    return mesh->view.width == 8 ? &caromi_culling_makers_8 : &caromi_culling_makers_16;
}

/* Computes the culling data for a kind of queries. Returns 0 if there is no memory. */
static int fill_culling(const carom_mesh *mesh, caromi_edges *edges, int queries)
{
    caromi_culling *to = &edges->culling[queries];
    const int width = mesh->view.width;
    to->opposites = caromi_alloc(mesh->context, mesh->leaf_count, CAROMI_OPPOSITES_BYTES(width));
    to->sources = caromi_alloc(mesh->context, mesh->leaf_count, CAROMI_SOURCES_BYTES(width));
    if (edges->around == NULL)
        edges->around = caromi_alloc(mesh->context, mesh->leaf_count, CAROMI_AROUND_BYTES(width));
    to->cones = caromi_alloc(mesh->context, mesh->info.node_count, CAROMI_CONES_BYTES(width));
    to->faces = caromi_alloc(mesh->context, mesh->info.triangle_count, sizeof *to->faces);
    if (caromi_edges_have_across(edges))
        to->across = caromi_alloc(mesh->context, mesh->leaf_count, CAROMI_ACROSS_BYTES(width));
    if (to->opposites == NULL || to->sources == NULL || edges->around == NULL || to->cones == NULL ||
        to->faces == NULL || (to->across == NULL && caromi_edges_have_across(edges)) ||
        !makers_of(mesh)->cones(mesh, edges, queries, CAROMI_NEW_DATA))
        return 0;
    makers_of(mesh)->opposites(mesh, edges, queries, CAROMI_NEW_DATA);
    return 1;
}

/* Recomputes the culling data for a new hierarchy, or updates it to moved vertices. Returns 0 if there is no memory. */
static int renew_culling(const carom_mesh *mesh, caromi_edges *edges)
{
    int complete = 1;
    for (int i = 0; complete && i < kinds_of_queries(mesh); i++) {
        if (edges->culling[i].opposites == NULL) {
            complete = fill_culling(mesh, edges, i);
            continue;
        }
        complete = makers_of(mesh)->cones(mesh, edges, i, CAROMI_MOVED_VERTICES);
        if (complete)
            makers_of(mesh)->opposites(mesh, edges, i, CAROMI_MOVED_VERTICES);
    }
    edges->is_old = !complete;
    return complete;
}

static carom_status no_memory(const carom_mesh *mesh, carom_error *err)
{
    return caromi_fail_memory(err, "no memory for the edges of %llu triangles",
                              (unsigned long long)mesh->info.triangle_count);
}

static carom_status renew(carom_mesh *mesh, carom_error *err)
{
    caromi_edges *edges = mesh->edges;
    mesh->info.bytes -= caromi_edges_bytes(mesh);
    const int has_masks =
        mesh->masks == NULL || edges->mask != NULL || caromi_masks_of_triangles(mesh, &edges->mask, err) == CAROM_OK;
    carom_status status = has_masks && renew_culling(mesh, edges) ? CAROM_OK : no_memory(mesh, err);
    if (status == CAROM_OK)
        status = caromi_went_on(mesh->context);
    if (status != CAROM_OK) {
        edges->is_old = 1;
        caromi_driver.edges_release(mesh);
        free_left_out(mesh->context, edges);
    }
    mesh->info.bytes += caromi_edges_bytes(mesh);
    return status;
}

/* Computes all of the edges, whose arrays are allocated. */
static carom_status make(const carom_mesh *mesh, caromi_edges *e, carom_error *err)
{
    if (mesh->masks != NULL)
        CHECK(caromi_masks_of_triangles(mesh, &e->mask, err));
    if (!fill(mesh, e))
        return no_memory(mesh, err);
    CHECK(caromi_went_on(mesh->context));
    if (!fill_twins(mesh, e))
        return no_memory(mesh, err);
    CHECK(caromi_went_on(mesh->context));
    return renew_culling(mesh, e) ? caromi_went_on(mesh->context) : no_memory(mesh, err);
}

/* The edges of a mesh, computed at first use. */
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
    const carom_status status = e != NULL && e->position != NULL && e->next != NULL && e->twins != NULL
                                    ? make(mesh, e, err)
                                    : no_memory(mesh, err);
    if (status != CAROM_OK) {
        if (e != NULL)
            free_edges(mesh->context, e);
        return status;
    }
    *edges = mesh->edges = e;
    mesh->info.bytes += caromi_edges_bytes(mesh);
    return CAROM_OK;
}

/* Marks the culling data as outdated, as vertices have moved. */
void caromi_edges_move(carom_mesh *mesh)
{
    if (mesh->edges != NULL)
        mesh->edges->is_old = 1;
}

/* Discards the culling data of leaves, as the hierarchy changes. */
void caromi_edges_forget_leaves(carom_mesh *mesh)
{
    if (mesh->edges == NULL)
        return;
    caromi_driver.edges_release(mesh);
    mesh->info.bytes -= caromi_edges_bytes(mesh);
    free_left_out(mesh->context, mesh->edges);
    mesh->edges->is_old = 1;
    mesh->info.bytes += caromi_edges_bytes(mesh);
}

void caromi_edges_forget_masks(carom_mesh *mesh)
{
    caromi_edges_forget_leaves(mesh);
    if (mesh->edges == NULL)
        return;
    mesh->info.bytes -= caromi_edges_bytes(mesh);
    caromi_free(mesh->context, mesh->edges->mask);
    mesh->edges->mask = NULL;
    mesh->info.bytes += caromi_edges_bytes(mesh);
}

void caromi_edges_forget(carom_mesh *mesh)
{
    if (mesh->edges == NULL)
        return;
    caromi_driver.edges_release(mesh);
    mesh->info.bytes -= caromi_edges_bytes(mesh);
    free_edges(mesh->context, mesh->edges);
    mesh->edges = NULL;
}
