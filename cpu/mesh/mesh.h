/* SPDX-License-Identifier: MIT */
/* A mesh and a run of queries as the kernels see them. */
#ifndef CAROM_CPU_MESH_MESH_H
#define CAROM_CPU_MESH_MESH_H
#include "cpu/cpu.h"
#include "cpu/exact/cube.h"
#include "kernels/scene_instance.h"
#include "rows.h"

typedef struct caromi_mesh_view {
    mesh_frame frame;
    int width;             /* slots of a node and of a leaf: 8 or 16 */
    const void *nodes;     /* mesh_node of that width */
    const void *leaves;    /* mesh_leaf */
    const int32_t *masks;  /* [leaf][width]; NULL: triangles have all bits */
    const void *opposites; /* [leaf] mesh_opposites, for contacts; NULL: not known */
    const void *cones;     /* [node] mesh_cones, for contacts; NULL: not known */
    /* Of a scene: the hierarchy over its instances, then these; above are the nodes of that hierarchy. NULL: a mesh */
    const mesh_instance *instances;
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
    const struct caromi_isa_table *isa; /* of the second filter; NULL where none is needed */
    float in[CAROMI_MESH_IN];
    int32_t mask; /* all bits without MESH_QUERY_MASKS */
    int options;
    float carried[3]; /* with MESH_CARRIED: the velocity of the instance whose triangles are decided */
} caromi_mesh_query;

/* The searches of a mesh by an instruction set. */
static inline const caromi_mesh_table *caromi_mesh_table_of(const caromi_isa_table *isa, const caromi_mesh_view *mesh)
{
    if (mesh->instances != NULL)
        return mesh->width == 8 ? isa->scene_8 : isa->scene_16;
    return mesh->width == 8 ? isa->mesh_8 : isa->mesh_16;
}

/* Searches for one query at a time, compiled for each width. */
typedef struct caromi_single_searches {
    /* Exact mode's later rungs: decides a query that mesh_first_exact left undecided. Returns the rung that was needed.
     */
    caromi_rung (*first)(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle,
                         int32_t *state, float *t);
    /* Decides in integers a query that mesh_closest_exact left undecided. */
    void (*closest)(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle, float *distance,
                    float *depth);
    /* Whether a triangle that counts is within the limit of the centre, decided exactly. */
    int (*cube)(const caromi_mesh_view *mesh, const float *center, int options, const caromi_cube *cube,
                enum caromi_cube_limit limit);
    /* Calls `test` for triangles that may be within point_distance of a point and within center_distance of a centre,
     * in the order of their boxes' distances from the centre, until it returns nonzero. Returns its last result. */
    int (*near_two_points)(const caromi_mesh_view *mesh, const float *point, float point_distance, const float *center,
                           float center_distance, int (*test)(void *user, int32_t triangle), void *user);
} caromi_single_searches;
extern const caromi_single_searches caromi_single_searches_8, caromi_single_searches_16;
/* Of scenes: first hits and closest points. */
extern const caromi_single_searches caromi_scene_searches_8, caromi_scene_searches_16;

static inline const caromi_single_searches *caromi_single_searches_of(const caromi_mesh_view *mesh)
{
    if (mesh->instances != NULL)
        return mesh->width == 8 ? &caromi_scene_searches_8 : &caromi_scene_searches_16;
    return mesh->width == 8 ? &caromi_single_searches_8 : &caromi_single_searches_16;
}
#endif
