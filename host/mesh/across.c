/* SPDX-License-Identifier: MIT */
/* Triangles across a corner. A search for contacts culls a triangle by a neighbour at an edge that is closer to the
 * sphere. At a corner of more than six triangles, both neighbours may lie beside the vector to the sphere's centre. A
 * triangle across the corner is then nearly always below it. */
#include "edges.h"

#include <math.h>

#include "mesh.h"

enum {
    FAN_LEAST = 7,
    FAN_MOST = 48,
    LONGER = 4 /* most length of the other edge at the corner, as a multiple */
};

/* The vector from one corner to another; returns its length. */
static double offset_of(const carom_mesh *mesh, uint32_t triangle, int from, int to, double out[3])
{
    const float *p = caromi_corner(mesh, triangle, from), *q = caromi_corner(mesh, triangle, to);
    double square = 0;
    for (int a = 0; a < 3; a++) {
        out[a] = (double)q[a] - (double)p[a];
        square += out[a] * out[a];
    }
    return sqrt(square);
}

/* The bisector of the two edges at corner k. */
static void middle_of(const carom_mesh *mesh, uint32_t triangle, int k, double out[3])
{
    double w[2][3], length[2];
    for (int i = 0; i < 2; i++)
        length[i] = offset_of(mesh, triangle, k, (k + 1 + i) % 3, w[i]);
    for (int a = 0; a < 3; a++)
        out[a] = w[0][a] / length[0] + w[1][a] / length[1];
}

uint32_t caromi_edges_across(const caromi_edges *edges, uint32_t triangle, int k, int queries, int *corner)
{
    const carom_mesh *mesh = edges->corners->mesh;
    const uint32_t position = caromi_edge_position(edges, triangle, k);
    const uint64_t *fan = &edges->corners->start[position];
    uint32_t across = triangle;
    double middle[3], w[3],
        least = 0; /* cosine of the angle to `middle`; 0: only edges at more than a right angle qualify */
    if (fan[1] - fan[0] < FAN_LEAST || fan[1] - fan[0] > FAN_MOST)
        return triangle;
    /* The edge of another triangle that points most away from this one. */
    middle_of(mesh, triangle, k, middle);
    for (uint64_t i = fan[0]; i < fan[1]; i++) {
        const uint32_t other = edges->corners->triangle[i];
        if (!caromi_edges_counts_with(edges, other, triangle, queries))
            continue;
        for (int c = 0; c < 6; c++) { /* the six directed edges: each edge that starts at the corner */
            const int from = c / 2, to = (from + 1 + c % 2) % 3, last = 3 - from - to;
            if (caromi_edge_position(edges, other, from) != position)
                continue;
            const double beside = offset_of(mesh, other, from, last, w), length = offset_of(mesh, other, from, to, w);
            const double along = (w[0] * middle[0] + w[1] * middle[1] + w[2] * middle[2]) / length;
            if (!(beside <= LONGER * length && along < least))
                continue;
            least = along;
            across = other;
            *corner = to;
        }
    }
    return across;
}

/* Whether any triangle may have a triangle across (across.h): such triangles are looked for around vertices with so
 * many triangles alone. */
int caromi_edges_have_across(const caromi_edges *edges)
{
    const uint64_t *start = edges->corners->start;
    for (uint64_t v = 0; v < edges->corners->mesh->vertex_count; v++)
        if (start[v + 1] - start[v] >= FAN_LEAST && start[v + 1] - start[v] <= FAN_MOST)
            return 1;
    return 0;
}

/* Tests heights, as no edge is shorter than the triangle's least height. */
int caromi_edges_may_be_across(const caromi_edges *edges, uint32_t triangle, int k, uint32_t other,
                               const caromi_face *face)
{
    const carom_mesh *mesh = edges->corners->mesh;
    const uint32_t position = caromi_edge_position(edges, triangle, k);
    double w[3];
    int from = 0;
    if (LONGER * face->height >= (1 + 0x1p-20F) * face->length && face->height > 0)
        return 1;
    while (from < 2 && caromi_edge_position(edges, other, from) != position)
        from++;
    const double after = offset_of(mesh, other, from, (from + 1) % 3, w);
    const double before = offset_of(mesh, other, from, (from + 2) % 3, w);
    return before <= LONGER * after && after <= LONGER * before;
}
