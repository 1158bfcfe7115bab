/* SPDX-License-Identifier: MIT */
/* Inputs: columns of pairs and a procedural mesh with spheres to sweep. Every input is made from a seed, so two runs
 * measure the same work. */
#ifndef CAROM_BENCH_SCENES_H
#define CAROM_BENCH_SCENES_H

#include <stddef.h>
#include <stdint.h>

#include "bench.h"
#include "queries/query.h"

/* `count` columns of `rows` elements of `size` bytes, each on a cache line of its own and shifted against the others:
 * columns a power of two apart would all fall into the same few sets of the first-level cache. Room for whole blocks
 * of PLAIN_BLOCK elements. Ends the program when there is no memory. */
enum { COLUMNS_MAX = 16 };
typedef struct columns {
    void *memory;
    void *column[COLUMNS_MAX];
    size_t column_bytes; /* of the rows of a column */
    int count;
} columns;
columns columns_alloc(int count, size_t rows, size_t size);
void columns_free(columns *c);

/* The columns of a pair query that it must have, of a family of the reference. `random`: triangle in the unit box,
 * sphere 2.5 to 8 away that mostly aims at it; radius 0.05 to 0.5. An overlap has one scene: triangle in the unit box,
 * centre in a box of 0.6, radius 0.05 to 0.5; that in motion is the family `overlapping` of a sweep. */
typedef struct pair_scene {
    const query_type *query;
    size_t count;
    columns in;
} pair_scene;
/* `family` must be one. */
pair_scene scene_make(const query_type *q, const char *family, size_t count);
/* The pairs of `from` over and over: what moves through memory is that of `count` pairs, and they are made at once. */
pair_scene scene_repeat(const pair_scene *from, size_t count);
void scene_free(pair_scene *s);
const float *const *scene_in(const pair_scene *s);

typedef struct mesh_scene {
    float *vertices;   /* [3 * vertex_count] */
    uint32_t *indices; /* [3 * triangle_count] */
    size_t vertex_count, triangle_count;
    double diagonal, low[3], high[3]; /* of the box that spheres start in */
    struct scene_parts *parts;        /* instances, of which this is the merged mesh (scene_instances.h); or NULL */
} mesh_scene;
/* A bumpy torus of 2 * rings * sides triangles with shared vertices. */
mesh_scene mesh_scene_make(int rings, int sides);
/* Others of so many thousand triangles, no vertex shared. SOUP: anywhere in a cube, a ten-thousandth to a tenth of it
 * long, half of them needles of a thousandth of their length. BUILDING: floors, walls and columns of two large
 * triangles each, and on the floors things of a hundred tiny ones. */
typedef enum mesh_shape {
    SHAPE_TORUS,
    SHAPE_SOUP,
    SHAPE_BUILDING,
    SHAPE_ONE, /* this and what follows: instances */
    SHAPE_TURNED,
    SHAPE_PROPS,
    SHAPE_MOVING
} mesh_shape;
mesh_scene mesh_scene_make_other(mesh_shape shape, size_t thousands);
mesh_scene mesh_scene_copy(const bench_mesh *from);
void mesh_scene_free(mesh_scene *m);
/* Room for one; the box of its triangles, in which spheres start. */
mesh_scene mesh_scene_alloc(size_t vertices, size_t triangles);
void mesh_scene_set_box(mesh_scene *m);

/* Swept spheres, radius 0.1 to 0.5 % of the mesh's diagonal, in random order; velocity is the whole step, t_max 1.
 * NEAR  starts within 2 % of the surface, steps of 0.5 to 2 %
 * BOX   starts anywhere in the box inflated by 2 %, the same steps
 * LONG  starts anywhere in that box, steps of 20 to 100 %
 * STILL starts within 2 % of the surface and stays there */
typedef enum sphere_kind { SPHERES_NEAR, SPHERES_BOX, SPHERES_LONG, SPHERES_STILL } sphere_kind;
/* Seven columns: centre, velocity, radius. */
columns spheres_make(const mesh_scene *m, sphere_kind kind, size_t count);

#endif
