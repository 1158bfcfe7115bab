/* SPDX-License-Identifier: MIT */
/* A hash table finds a triangle for each edge; every further triangle there joins its ring. */
#include "edges.h"

#include <string.h>

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

/* Puts the triangle into the ring of its edge, which it has at no lower number. */
static void join(edge_table *s, uint32_t triangle, int edge)
{
    caromi_edges *e = s->edges;
    const uint32_t a = caromi_edge_position(e, triangle, edge), b = caromi_edge_position(e, triangle, (edge + 1) % 3);
    uint64_t at = hash(a, b) & s->mask;
    uint32_t *own = &e->next[3 * (size_t)triangle + (size_t)edge];
    for (; s->entry[at] != 0; at = (at + 1) & s->mask) {
        const uint32_t other = s->entry[at] - 1;
        const int k = other != triangle ? caromi_edge_between(e, other, a, b) : -1;
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

uint64_t caromi_edges_bytes(const carom_mesh *mesh)
{
    const uint64_t corners = 3 * mesh->info.triangle_count;
    return mesh->edges == NULL ? 0 : sizeof *mesh->edges + 2 * corners * sizeof *mesh->edges->next;
}

static void free_edges(const carom_context *context, caromi_edges *e)
{
    caromi_free(context, e->position);
    caromi_free(context, e->next);
    caromi_free(context, e);
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
    }
    if (e == NULL || e->position == NULL || e->next == NULL || !fill(mesh, e)) {
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
