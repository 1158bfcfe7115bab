/* SPDX-License-Identifier: MIT */
/* Finds the positions with a hash table of vertices, and lists the triangles at each position by a counting sort. */
#include "corners.h"

#include <string.h>

#include "edges.h"
#include "host/core/progress.h"

/* Hash table of vertices by their coordinates. */
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

static uint32_t find_position(const position_table *table, uint32_t vertex)
{
    uint32_t own[3], other[3];
    position_bits(table->mesh->vertices + 3 * (size_t)vertex, own);
    uint64_t at = mix(mix(mix(own[0]) + own[1]) + own[2]) & table->mask;
    for (; table->entry[at] != 0; at = (at + 1) & table->mask) {
        position_bits(table->mesh->vertices + 3 * (size_t)(table->entry[at] - 1), other);
        if (memcmp(own, other, sizeof own) == 0)
            return table->entry[at] - 1;
    }
    table->entry[at] = vertex + 1;
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
    return caromi_fail_memory(err, "no memory for the edges of %llu triangles",
                              (unsigned long long)mesh->info.triangle_count);
}

carom_status caromi_find_positions(const carom_mesh *mesh, uint32_t *position, carom_error *err)
{
    const uint64_t vertices = mesh->vertex_count, size = table_size(vertices);
    position_table table = {mesh, caromi_alloc(mesh->context, size, sizeof *table.entry), size - 1};
    if (table.entry == NULL)
        return no_memory(mesh, err);
    memset(table.entry, 0, size * sizeof *table.entry);
    for (uint64_t v = 0; v < vertices; v++) {
        (void)caromi_look_at_times(mesh->context, v);
        position[v] = find_position(&table, (uint32_t)v);
    }
    caromi_free(mesh->context, table.entry);
    return CAROM_OK;
}

/* Whether, after a move, the same vertices coincide as before: vertices of one position still do, and no others. */
static int are_same(const caromi_corners *corners, position_table *table)
{
    const uint64_t vertices = corners->mesh->vertex_count;
    uint32_t own[3], first[3];
    for (uint64_t v = 0; v < vertices; v++) {
        if (corners->position[v] != v) {
            position_bits(corners->mesh->vertices + 3 * v, own);
            position_bits(corners->mesh->vertices + 3 * (size_t)corners->position[v], first);
            if (memcmp(own, first, sizeof own) != 0)
                return 0;
        } else if (find_position(table, (uint32_t)v) != v) {
            return 0;
        }
    }
    return 1;
}

static carom_status compare_corners(const caromi_corners *corners, int *same, carom_error *err)
{
    uint64_t positions = 0;
    for (uint64_t v = 0; v < corners->mesh->vertex_count; v++)
        positions += corners->position[v] == v;
    const uint64_t size = table_size(positions);
    position_table table = {corners->mesh, caromi_alloc(corners->mesh->context, size, sizeof *table.entry), size - 1};
    if (table.entry == NULL)
        return no_memory(corners->mesh, err);
    memset(table.entry, 0, size * sizeof *table.entry);
    *same = are_same(corners, &table);
    caromi_free(corners->mesh->context, table.entry);
    return CAROM_OK;
}

/* Counting sort of the triangles by position: histogram, prefix sum, scatter. Unfinished if the call ends early. */
static void sort_triangles(caromi_corners *corners)
{
    const uint64_t vertices = corners->mesh->vertex_count, triangles = corners->mesh->info.triangle_count;
    memset(corners->start, 0, (vertices + 2) * sizeof *corners->start);
    const carom_context *context = corners->mesh->context;
    for (uint64_t t = 0; t < triangles && !caromi_look_at_times(context, t); t++)
        for (int k = 0; k < 3; k++)
            corners->start[caromi_corner_position(corners, (uint32_t)t, k) + (uint64_t)2]++;
    for (uint64_t v = 2; v < vertices + 2; v++)
        corners->start[v] += corners->start[v - 1];
    for (uint64_t t = 0; t < triangles && !caromi_look_at_times(context, t); t++)
        for (int k = 0; k < 3; k++)
            corners->triangle[corners->start[caromi_corner_position(corners, (uint32_t)t, k) + (uint64_t)1]++] =
                (uint32_t)t;
}

uint64_t caromi_corners_bytes(const carom_mesh *mesh)
{
    const caromi_corners *corners = mesh->corners;
    return corners == NULL ? 0
                           : sizeof *corners + mesh->vertex_count * sizeof *corners->position +
                                 (mesh->vertex_count + 2) * sizeof *corners->start +
                                 3 * mesh->info.triangle_count * sizeof *corners->triangle;
}

static void free_corners(caromi_corners *corners)
{
    const carom_context *context = corners->mesh->context;
    caromi_free(context, corners->position);
    caromi_free(context, corners->start);
    caromi_free(context, corners->triangle);
    caromi_free(context, corners);
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

/* The mesh's table, computed if it is not cached. */
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
    carom_status status = c->position == NULL || c->start == NULL || c->triangle == NULL
                              ? no_memory(mesh, err)
                              : caromi_find_positions(mesh, c->position, err);
    if (status == CAROM_OK && !caromi_watch_ends(mesh->context->watch))
        sort_triangles(c);
    if (status == CAROM_OK)
        status = caromi_went_on(mesh->context);
    if (status != CAROM_OK) {
        free_corners(c);
        return status;
    }
    *corners = mesh->corners = c;
    mesh->info.bytes += caromi_corners_bytes(mesh);
    return CAROM_OK;
}

/* Marks the table as outdated, as vertices have moved. */
void caromi_corners_move(carom_mesh *mesh)
{
    if (mesh->corners != NULL)
        mesh->corners->is_old = 1;
}

/* Discards the table, and the edges that depend on it. */
void caromi_corners_forget(carom_mesh *mesh)
{
    if (mesh->corners == NULL)
        return;
    caromi_edges_forget(mesh);
    mesh->info.bytes -= caromi_corners_bytes(mesh);
    free_corners(mesh->corners);
    mesh->corners = NULL;
}
