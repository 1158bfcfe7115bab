/* SPDX-License-Identifier: MIT */
/* Finds the positions with a hash table of vertices, and lists the triangles at each position by a counting sort. */
#include "corners.h"

#include <string.h>

#include "edges.h"

typedef struct position_table {
    const carom_mesh *mesh;
    uint32_t *entry; /* slots: number of a vertex + 1; 0: free */
    uint64_t mask;
} position_table;

/* The bits of a vertex's coordinates, for the hash; -0 becomes 0. */
static void position_bits(const float *p, uint32_t bits[3])
{
    for (int k = 0; k < 3; k++) {
        const float x = p[k] + 0.0f;
        memcpy(&bits[k], &x, sizeof x);
    }
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static uint32_t find_position(const position_table *s, uint32_t vertex)
{
    uint32_t own[3], other[3];
    position_bits(s->mesh->vertices + 3 * (size_t)vertex, own);
    uint64_t at = mix(mix(mix(own[0]) + own[1]) + own[2]) & s->mask;
    for (; s->entry[at] != 0; at = (at + 1) & s->mask) {
        position_bits(s->mesh->vertices + 3 * (size_t)(s->entry[at] - 1), other);
        if (memcmp(own, other, sizeof own) == 0)
            return s->entry[at] - 1;
    }
    s->entry[at] = vertex + 1;
    return vertex;
}

static uint64_t table_size(uint64_t vertices)
{
    uint64_t size = 16;
    while (size < 2 * vertices)
        size *= 2;
    return size;
}

static carom_status no_memory(const carom_mesh *mesh, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the edges of %llu triangles",
                       (unsigned long long)mesh->info.triangle_count);
}

carom_status caromi_find_positions(const carom_mesh *mesh, uint32_t *position, carom_error *err)
{
    const uint64_t vertices = mesh->vertex_count, size = table_size(vertices);
    position_table s = {mesh, caromi_alloc(mesh->context, size, sizeof *s.entry), size - 1};
    if (s.entry == NULL)
        return no_memory(mesh, err);
    memset(s.entry, 0, size * sizeof *s.entry);
    for (uint64_t v = 0; v < vertices; v++)
        position[v] = find_position(&s, (uint32_t)v);
    caromi_free(mesh->context, s.entry);
    return CAROM_OK;
}

/* Whether, after a move, the same vertices coincide as before: vertices of one position still do, and no others. */
static int are_same(const caromi_corners *c, position_table *s)
{
    const uint64_t vertices = c->mesh->vertex_count;
    uint32_t own[3], first[3];
    for (uint64_t v = 0; v < vertices; v++) {
        if (c->position[v] != v) {
            position_bits(c->mesh->vertices + 3 * v, own);
            position_bits(c->mesh->vertices + 3 * (size_t)c->position[v], first);
            if (memcmp(own, first, sizeof own) != 0)
                return 0;
        } else if (find_position(s, (uint32_t)v) != v) {
            return 0;
        }
    }
    return 1;
}

static carom_status compare_corners(const caromi_corners *c, int *same, carom_error *err)
{
    uint64_t positions = 0;
    for (uint64_t v = 0; v < c->mesh->vertex_count; v++)
        positions += c->position[v] == v;
    const uint64_t size = table_size(positions);
    position_table s = {c->mesh, caromi_alloc(c->mesh->context, size, sizeof *s.entry), size - 1};
    if (s.entry == NULL)
        return no_memory(c->mesh, err);
    memset(s.entry, 0, size * sizeof *s.entry);
    *same = are_same(c, &s);
    caromi_free(c->mesh->context, s.entry);
    return CAROM_OK;
}

/* Counting sort of the triangles by position: histogram, prefix sum, scatter. */
static void sort_triangles(caromi_corners *c)
{
    const uint64_t vertices = c->mesh->vertex_count, triangles = c->mesh->info.triangle_count;
    memset(c->start, 0, (vertices + 2) * sizeof *c->start);
    for (uint64_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++)
            c->start[caromi_corner_position(c, (uint32_t)t, k) + (uint64_t)2]++;
    for (uint64_t v = 2; v < vertices + 2; v++)
        c->start[v] += c->start[v - 1];
    for (uint64_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++)
            c->triangle[c->start[caromi_corner_position(c, (uint32_t)t, k) + (uint64_t)1]++] = (uint32_t)t;
}

uint64_t caromi_corners_bytes(const carom_mesh *mesh)
{
    const caromi_corners *c = mesh->corners;
    return c == NULL
               ? 0
               : sizeof *c + mesh->vertex_count * sizeof *c->position + (mesh->vertex_count + 2) * sizeof *c->start +
                     3 * mesh->info.triangle_count * sizeof *c->triangle;
}

static void free_corners(caromi_corners *c)
{
    const carom_context *context = c->mesh->context;
    caromi_free(context, c->position);
    caromi_free(context, c->start);
    caromi_free(context, c->triangle);
    caromi_free(context, c);
}

/* After a move: drops the corners if other vertices coincide now. */
static carom_status renew(carom_mesh *mesh, carom_error *err)
{
    int same = 1;
    if (mesh->corners == NULL || !mesh->corners->is_old)
        return CAROM_OK;
    CHECK(compare_corners(mesh->corners, &same, err));
    if (same)
        mesh->corners->is_old = 0;
    else
        caromi_corners_forget(mesh);
    return CAROM_OK;
}

carom_status caromi_corners_of(carom_mesh *mesh, const caromi_corners **corners, carom_error *err)
{
    CHECK(renew(mesh, err));
    caromi_corners *c = mesh->corners;
    *corners = c;
    if (c != NULL)
        return CAROM_OK;
    c = caromi_alloc(mesh->context, 1, sizeof *c);
    if (c == NULL)
        return no_memory(mesh, err);
    *c = (caromi_corners){.mesh = mesh};
    c->position = caromi_alloc(mesh->context, mesh->vertex_count, sizeof *c->position);
    c->start = caromi_alloc(mesh->context, mesh->vertex_count + 2, sizeof *c->start);
    c->triangle = caromi_alloc(mesh->context, 3 * mesh->info.triangle_count, sizeof *c->triangle);
    const carom_status status = c->position == NULL || c->start == NULL || c->triangle == NULL
                                    ? no_memory(mesh, err)
                                    : caromi_find_positions(mesh, c->position, err);
    if (status != CAROM_OK) {
        free_corners(c);
        return status;
    }
    sort_triangles(c);
    *corners = mesh->corners = c;
    mesh->info.bytes += caromi_corners_bytes(mesh);
    return CAROM_OK;
}

void caromi_corners_move(carom_mesh *mesh)
{
    if (mesh->corners != NULL)
        mesh->corners->is_old = 1;
}

void caromi_corners_forget(carom_mesh *mesh)
{
    if (mesh->corners == NULL)
        return;
    caromi_edges_forget(mesh);
    mesh->info.bytes -= caromi_corners_bytes(mesh);
    free_corners(mesh->corners);
    mesh->corners = NULL;
}
