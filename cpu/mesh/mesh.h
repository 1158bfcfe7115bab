/* SPDX-License-Identifier: MIT */
/* A mesh and a run of queries as the kernels see them. */
#ifndef CAROM_CPU_MESH_MESH_H
#define CAROM_CPU_MESH_MESH_H
#include "cpu/cpu.h"
#include "cpu/exact/cube.h"

typedef struct caromi_mesh_view {
    mesh_frame frame;
    const mesh_node *nodes;
    const mesh_leaf *leaves;
    const int32_t *masks;            /* [leaf][MESH_WIDTH]; NULL: triangles have all bits */
    const mesh_opposites *opposites; /* [leaf] for contacts; NULL: not known */
    const mesh_cones *cones;         /* [node] for contacts; NULL: not known */
} caromi_mesh_view;

/* Contiguous columns: MESH_CX and so on in; a state per query out. A search for the first hit also gives its triangle
 * and time. A search for all hits appends triangles and times to `records`, with the number of the query in this run. A
 * search for the closest triangle reads CAROMI_CLOSEST_IN columns, the last of them MESH_MAX_DISTANCE; it gives
 * triangle, distance (in t) and depth. A search for contacts reads a margin there, and appends every triangle within
 * radius + margin: its distance (as t) and feature (as state). Exact mode appends every triangle that may be within;
 * NaN and FEATURE_NONE mark undecided numbers. Without masks of triangles the search leaves out some triangles that
 * another triangle with the same closest feature precedes. */
enum { CAROMI_MESH_IN = MESH_IN_COLUMNS, CAROMI_CLOSEST_IN = MESH_IN_CLOSEST };
typedef struct caromi_mesh_queries {
    const float *in[CAROMI_MESH_IN];
    const int32_t *mask; /* with MESH_QUERY_MASKS */
    int options;         /* MESH_TRIANGLE_MASKS and so on */
    int32_t *triangle;
    uint8_t *state;
    float *t, *depth;
    size_t count;
    mesh_record *records;
    uint32_t capacity, found; /* records that fit; hits found, including hits that do not fit */
    int one_is_enough;        /* a query may end with the first hit found */
} caromi_mesh_queries;

/* One query of a run. */
typedef struct caromi_mesh_query {
    float in[CAROMI_MESH_IN];
    int32_t mask; /* all bits without MESH_QUERY_MASKS */
    int options;
} caromi_mesh_query;

/* Exact mode's second rung: decides in integers a query that mesh_first_exact left undecided. */
void caromi_resolve_mesh(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle,
                         int32_t *state, float *t);
/* Decides a query that mesh_closest_exact left undecided. */
void caromi_resolve_closest(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle,
                            float *distance, float *depth);
/* Decides one triangle (nine numbers) that a search for all hits left undecided; 0: it is no hit. */
int caromi_resolve_hit(const caromi_mesh_query *query, const float *corners, int overlap, mesh_record *hit);
/* Whether a triangle that counts is within the limit of the centre, decided exactly. */
int caromi_resolve_cube(const caromi_mesh_view *mesh, const float *center, int options, const caromi_cube *cube,
                        enum caromi_cube_limit limit);
#endif
