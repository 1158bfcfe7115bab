/* SPDX-License-Identifier: MIT */
/* A counting sort groups edges by the lower of their two positions. */
#include "open_edges.h"

#include <stdlib.h>
#include <string.h>

#include "corners.h"

enum { SMALL = 24 }; /* up to so many edges of one position are sorted by insertion */

/* The ends of a triangle's edge as positions, the lower first. Returns 0 if both are one position, or the triangle does
 * not count. */
static int edge_of(const caromi_edge_sort *edges, uint64_t triangle, int edge, uint32_t *low, uint64_t *other)
{
    const caromi_selection *selection = &edges->selection;
    const uint32_t *corner = edges->mesh->indices + 3 * triangle;
    const uint32_t a = edges->position[corner[edge]], b = edges->position[corner[(edge + 1) % 3]];
    *low = a < b ? a : b;
    *other = (uint64_t)(a < b ? b : a) << 1 | (a > b);
    return a != b && (selection->masks == NULL || (selection->masks[triangle] & selection->mask) != 0);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the other ends of one position's edges. */
static void sort_ends(uint64_t *edge, uint64_t count)
{
    if (count > SMALL) {
        qsort(edge, count, sizeof *edge, compare);
        return;
    }
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t own = edge[i];
        uint64_t at = i;
        for (; at > 0 && edge[at - 1] > own; at--)
            edge[at] = edge[at - 1];
        edge[at] = own;
    }
}

/* Counting sort: histogram in start[position + 2], prefix sum, scatter; then the edges of each position. */
static void sort_edges(caromi_edge_sort *edges)
{
    const uint64_t vertices = edges->mesh->vertex_count, triangles = edges->mesh->info.triangle_count;
    uint32_t low;
    uint64_t other;
    memset(edges->start, 0, (vertices + 2) * sizeof *edges->start);
    for (uint64_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++)
            if (edge_of(edges, t, k, &low, &other))
                edges->start[low + (uint64_t)2]++;
    for (uint64_t v = 2; v < vertices + 2; v++)
        edges->start[v] += edges->start[v - 1];
    for (uint64_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++)
            if (edge_of(edges, t, k, &low, &other))
                edges->edge[edges->start[low + (uint64_t)1]++] = other;
    for (uint64_t v = 0; v < vertices; v++)
        sort_ends(edges->edge + edges->start[v], edges->start[v + 1] - edges->start[v]);
}

/* Finds the positions of vertices, and sorts the edges. */
carom_status caromi_edge_sort_make(const carom_mesh *mesh, caromi_selection selection, caromi_edge_sort *edges,
                                   carom_error *err)
{
    const carom_context *context = mesh->context;
    const uint64_t vertices = mesh->vertex_count;
    *edges = (caromi_edge_sort){.mesh = mesh, .selection = selection};
    edges->position = caromi_alloc(context, vertices, sizeof *edges->position);
    edges->start = caromi_alloc(context, vertices + 2, sizeof *edges->start);
    edges->edge = caromi_alloc(context, 3 * mesh->info.triangle_count, sizeof *edges->edge);
    carom_status status = edges->position != NULL && edges->start != NULL && edges->edge != NULL
                              ? caromi_find_positions(mesh, edges->position, err)
                              : caromi_fail_memory(err, "no memory for the edges of %llu triangles",
                                                   (unsigned long long)mesh->info.triangle_count);
    if (status == CAROM_OK)
        sort_edges(edges);
    else
        caromi_edge_sort_free(edges);
    return status;
}

void caromi_edge_sort_free(caromi_edge_sort *edges)
{
    const carom_context *context = edges->mesh->context;
    caromi_free(context, edges->edge);
    caromi_free(context, edges->start);
    caromi_free(context, edges->position);
}

/* Equal edges are neighbours after the sort. */
void caromi_edge_sort_visit(const caromi_edge_sort *edges, void (*visit)(void *user, const caromi_edge_group *group),
                            void *user)
{
    for (uint64_t v = 0; v < edges->mesh->vertex_count; v++)
        for (uint64_t i = edges->start[v], end = edges->start[v + 1], next; i < end; i = next) {
            caromi_edge_group group = {.low = (uint32_t)v, .high = (uint32_t)(edges->edge[i] >> 1)};
            for (next = i; next < end && edges->edge[next] >> 1 == group.high; next++)
                group.back += edges->edge[next] & 1;
            group.forward = next - i - group.back;
            visit(user, &group);
        }
}
