/* SPDX-License-Identifier: MIT */
/* Triangles across a corner. A search for contacts culls a triangle by a neighbour at an edge that is closer to the
 * sphere. At a corner of six and more triangles, both neighbours may lie beside the vector to the sphere's centre. A
 * triangle across the corner is then nearly always below it. */
#include "edges.h"

#include <math.h>

#include "mesh.h"

enum { FAN_LEAST = 6, FAN_MOST = 48 };

/* A vector from a corner along an edge. */
typedef struct edge_vector {
    double x[3], square; /* of its length */
} edge_vector;

static edge_vector edge_from(const carom_mesh *mesh, uint32_t triangle, int from, int to)
{
    const float *p = caromi_corner(mesh, triangle, from), *q = caromi_corner(mesh, triangle, to);
    edge_vector edge = {.square = 0};
    for (int a = 0; a < 3; a++) {
        edge.x[a] = (double)q[a] - (double)p[a];
        edge.square += edge.x[a] * edge.x[a];
    }
    return edge;
}

/* The search among the edges at a corner for the one that points most away from a triangle. */
typedef struct away_search {
    double middle[3];     /* the bisector of the triangle's two edges at that corner */
    double along, square; /* of the best edge: its product with `middle`, below 0, and the square of its length */
    uint32_t triangle;    /* which has that edge */
    int corner;           /* at its other end */
} away_search;

static away_search away_from(const carom_mesh *mesh, uint32_t triangle, int k)
{
    const edge_vector edge[2] = {edge_from(mesh, triangle, k, (k + 1) % 3), edge_from(mesh, triangle, k, (k + 2) % 3)};
    const double length[2] = {sqrt(edge[0].square), sqrt(edge[1].square)};
    away_search away = {.along = 0, .square = 1, .triangle = triangle};
    for (int a = 0; a < 3; a++)
        away.middle[a] = edge[0].x[a] / length[0] + edge[1].x[a] / length[1];
    return away;
}

/* Keeps an edge if the cosine of its angle to `middle` is below 0 and the lowest so far. The triangle's other edge at
 * the corner may not be much longer. */
static void try_edge(away_search *away, const edge_vector *edge, const edge_vector *other, uint32_t triangle,
                     int corner)
{
    const double along = edge->x[0] * away->middle[0] + edge->x[1] * away->middle[1] + edge->x[2] * away->middle[2];
    if (!(other->square <= CONES_LONGER * CONES_LONGER * edge->square && along < 0 &&
          along * along * away->square > away->along * away->along * edge->square))
        return;
    away->along = along;
    away->square = edge->square;
    away->triangle = triangle;
    away->corner = corner;
}

uint32_t caromi_edges_across(const caromi_edges *edges, uint32_t triangle, int k, int queries, int *corner)
{
    const carom_mesh *mesh = edges->corners->mesh;
    const uint32_t position = caromi_edge_position(edges, triangle, k);
    const uint64_t *fan = &edges->corners->start[position];
    if (fan[1] - fan[0] < FAN_LEAST || fan[1] - fan[0] > FAN_MOST)
        return triangle;
    away_search away = away_from(mesh, triangle, k);
    for (uint64_t i = fan[0]; i < fan[1]; i++) {
        const uint32_t other = edges->corners->triangle[i];
        if (!caromi_edges_counts_with(edges, other, triangle, queries))
            continue;
        for (int from = 0; from < 3; from++) {
            const int next = (from + 1) % 3, last = (from + 2) % 3;
            if (caromi_edge_position(edges, other, from) != position)
                continue;
            const edge_vector to_next = edge_from(mesh, other, from, next),
                              to_last = edge_from(mesh, other, from, last);
            try_edge(&away, &to_next, &to_last, other, next);
            try_edge(&away, &to_last, &to_next, other, last);
        }
    }
    *corner = away.corner;
    return away.triangle;
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
