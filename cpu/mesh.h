/* SPDX-License-Identifier: MIT */
/* A mesh and a run of queries as the kernels see them. */
#ifndef CAROM_CPU_MESH_H
#define CAROM_CPU_MESH_H
#include "cpu.h"

typedef struct caromi_mesh_view {
    mesh_frame frame;
    const mesh_node *nodes;
    const mesh_leaf *leaves;
    const int32_t *masks; /* [leaf][MESH_WIDTH]; NULL: triangles have all bits */
} caromi_mesh_view;

/* Contiguous columns: cx cy cz radius vx vy vz t_max in; a state per query out. A search for the first hit also gives its
 * triangle and time; one for all hits puts those into `records`, with the number of the query in this run. One for the
 * nearest triangle takes the first CAROMI_CLOSEST_IN columns and gives triangle, distance (for a time) and depth. */
enum { CAROMI_MESH_IN = 8, CAROMI_CLOSEST_IN = 4 };
typedef struct caromi_mesh_queries {
    const float *in[CAROMI_MESH_IN];
    const int32_t *mask; /* with MESH_QUERY_MASKS */
    int options;         /* MESH_TRIANGLE_MASKS and so on */
    int32_t *triangle;
    uint8_t *state;
    float *t, *depth;
    size_t count;
    mesh_record *records;
    uint32_t room, found; /* records that fit; hits found, also beyond */
    int one_is_enough;    /* a query may end with the first hit found */
} caromi_mesh_queries;

/* One of them. */
typedef struct caromi_mesh_query {
    float in[CAROMI_MESH_IN];
    int32_t mask; /* all bits without MESH_QUERY_MASKS */
    int options;
} caromi_mesh_query;

/* Settle in integers a query that mesh_first_exact has left open. */
void caromi_settle_mesh(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle, int32_t *state,
                        float *t);
/* And one that mesh_closest_exact has left open. */
void caromi_settle_closest(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle,
                           float *distance, float *depth);
/* The same for one triangle (nine numbers) that a search for all hits has left open; 0: it is no hit. */
int caromi_settle_hit(const caromi_mesh_query *query, const float *corners, int overlap, mesh_record *hit);
#endif
