/* SPDX-License-Identifier: MIT */
/* The search of patches while it runs: union-find, whose root is the lowest triangle of a set. */
#ifndef CAROM_HOST_MESH_PATCH_SEARCH_H
#define CAROM_HOST_MESH_PATCH_SEARCH_H
#include "edges.h"

/* A triangle with an area at an edge of many triangles; the triangles are like a book's pages around the edge. */
typedef struct caromi_page {
    uint32_t triangle;
    int8_t edge;
    int8_t side; /* -1: the order has its opposite half-plane instead, half a turn around the edge */
    float third[3];
} caromi_page;

typedef struct caromi_patch_search {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    const mesh_face *faces;
    uint32_t *parent;   /* a triangle of the same set, the triangle itself at the root */
    uint8_t *joined;    /* [triangles] a bit for each edge across which a triangle is joined; NULL: not wanted */
    double least;       /* least cosine of two normals in one patch */
    float within;       /* distance within which triangles are joined across T-junctions; 0: they are not */
    caromi_page *pages; /* buffer for an edge's triangles, as large as needed so far */
    uint64_t capacity;
} caromi_patch_search;

static inline uint32_t caromi_patch_root(uint32_t *parent, uint32_t triangle)
{
    while (parent[triangle] != triangle)
        triangle = parent[triangle] = parent[parent[triangle]];
    return triangle;
}

/* Joins the sets of two roots. */
static inline void caromi_patch_unite(uint32_t *parent, uint32_t root, uint32_t other)
{
    parent[root > other ? root : other] = root > other ? other : root;
}

/* Whether both triangles have an area, and the cosine of their normals is at least `least`, decided exactly. alike:
 * one normal is turned. patches.c */
int caromi_patch_is_flat(const caromi_patch_search *search, uint32_t a, uint32_t b, int alike, double least);
void caromi_patch_corners(const carom_mesh *mesh, uint32_t triangle, float corners[9]);
/* Joins triangles across edges that run along each other, where none is joined across the edges. Returns 0 if there is
 * no memory. If the call ends early, not all are joined. loose_edges.c */
int caromi_patch_join_loose(const caromi_patch_search *search);
#endif
