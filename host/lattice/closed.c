/* SPDX-License-Identifier: MIT */
/* Checks that a mesh is closed: an even number of triangles meets at every edge, or as many in one direction as in the
 * other. Vertices with equal coordinates are one position. A counting sort groups edges by the lower of their two
 * positions. */
#include <stdlib.h>
#include <string.h>

#include "host/mesh/corners.h"
#include "host/mesh/mesh.h"
#include "lattice.h"

enum { SMALL = 24 }; /* up to so many edges of one position are sorted by insertion */

/* The edges of a mesh, grouped by position. */
typedef struct edge_sort {
    const carom_mesh *mesh;
    const int32_t *masks; /* [triangles] or NULL */
    uint32_t *position;   /* [vertices] the lowest vertex with the same coordinates */
    uint64_t *start;      /* [positions + 1] first edge of each position (prefix sum) */
    uint64_t *edge;       /* other end << 1 | whether the edge runs towards its lower end */
} edge_sort;

/* The ends of a triangle's edge as positions, the lower first. Returns 0 if both are one position, or the triangle is
 * masked out. */
static int edge_of(const edge_sort *edges, uint64_t triangle, int edge, uint32_t *low, uint64_t *other)
{
    const uint32_t *corner = edges->mesh->indices + 3 * triangle;
    const uint32_t a = edges->position[corner[edge]], b = edges->position[corner[(edge + 1) % 3]];
    *low = a < b ? a : b;
    *other = (uint64_t)(a < b ? b : a) << 1 | (a > b);
    return a != b && (edges->masks == NULL || edges->masks[triangle] != 0);
}

/* Counting sort: histogram in start[position + 2], prefix sum, scatter. */
static void sort_edges(edge_sort *edges)
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

/* Counts the edges that keep the mesh from being closed: equal edges are neighbours after the sort. */
static void count_boundary(const edge_sort *edges, caromi_boundary_edges *open)
{
    for (uint64_t v = 0; v < edges->mesh->vertex_count; v++) {
        const uint64_t first = edges->start[v], end = edges->start[v + 1];
        sort_ends(edges->edge + first, end - first);
        for (uint64_t i = first, next; i < end; i = next) {
            uint64_t back = 0;
            for (next = i; next < end && edges->edge[next] >> 1 == edges->edge[i] >> 1; next++)
                back += edges->edge[next] & 1;
            open->odd += (next - i) & 1;
            open->unbalanced += 2 * back != next - i;
        }
    }
}

/* Finds the positions of vertices, sorts the edges, and counts. */
static carom_status find_boundary(carom_mesh *mesh, const int32_t *masks, carom_error *err)
{
    const carom_context *context = mesh->context;
    const uint64_t vertices = mesh->vertex_count;
    edge_sort edges = {.mesh = mesh, .masks = masks};
    edges.position = caromi_alloc(context, vertices, sizeof *edges.position);
    edges.start = caromi_alloc(context, vertices + 2, sizeof *edges.start);
    edges.edge = caromi_alloc(context, 3 * mesh->info.triangle_count, sizeof *edges.edge);
    carom_status status = edges.position != NULL && edges.start != NULL && edges.edge != NULL
                              ? caromi_find_positions(mesh, edges.position, err)
                              : caromi_fail_memory(err, "no memory for the edges of %llu triangles",
                                                   (unsigned long long)mesh->info.triangle_count);
    /* Equal edges are neighbours after the sort, and are counted together. */
    if (status == CAROM_OK) {
        sort_edges(&edges);
        mesh->boundary_edges = (caromi_boundary_edges){.known = 1};
        count_boundary(&edges, &mesh->boundary_edges);
    }
    caromi_free(context, edges.edge);
    caromi_free(context, edges.start);
    caromi_free(context, edges.position);
    return status;
}

/* Fails if the mesh is open in the sense of the sign. */
carom_status caromi_check_closed(carom_mesh *mesh, carom_sign sign, const int32_t *masks, carom_error *err)
{
    if (!mesh->boundary_edges.known && mesh->info.triangle_count > 0)
        CHECK(find_boundary(mesh, masks, err));
    const caromi_boundary_edges *open = &mesh->boundary_edges;
    if (sign == CAROM_SIGN_PARITY && open->odd > 0)
        return caromi_fail_argument(
            err,
            "the mesh is open: %llu edges have an odd number of triangles; sign parity needs a closed "
            "mesh, or allow_open",
            (unsigned long long)open->odd);
    if (sign == CAROM_SIGN_WINDING && open->unbalanced > 0)
        return caromi_fail_argument(
            err,
            "the mesh is open: %llu edges are not met as often in one direction as in the other; sign "
            "winding needs a closed mesh, or allow_open",
            (unsigned long long)open->unbalanced);
    return CAROM_OK;
}
