/* SPDX-License-Identifier: MIT */
/* Meshes and the spheres swept against them, for the tests of mesh queries. Made of + - * / and sqrt from a
 * counter-based generator: the same numbers on every machine. */
#ifndef CAROM_TESTS_SUPPORT_SCENES_H
#define CAROM_TESTS_SUPPORT_SCENES_H

#include "support.h"

typedef struct scene {
    float *vertices; /* x y z */
    uint32_t *indices;
    size_t vertex_count, triangle_count;
    uint32_t *masks; /* NULL: all bits */
} scene;

/* Zeroed vertices, indices and no masks; with indices 0, 1, 2, ..., each triangle with vertices of its own. */
scene scene_alloc(size_t vertices, size_t triangles);
scene scene_alloc_apart(size_t triangles);
/* Triangles of about `size`, each with vertices of its own, in a box of half side 1. */
scene scene_soup(uint64_t seed, size_t triangles, double size);
/* Triangles that shrink towards a point, each a hundredth smaller than the one before: every split leaves only a few on
 * one side, so the tree is deep. */
scene scene_deep(uint64_t seed, size_t triangles);
/* The closed unit sphere in 8 n^2 triangles that share their vertices; normals point outwards. */
scene scene_sphere(int n);
/* The square of half side 1 in the plane z = 0, in 2 n^2 triangles: its boxes have no thickness. */
scene scene_floor(int n);
/* A box, normals outwards. */
scene scene_box(float lx, float ly, float lz, float hx, float hy, float hz);
/* Takes both. */
scene scene_both(scene a, scene b);
scene scene_copy(const scene *from);
void scene_scale(scene *s, int exponent);
/* Triangle i of the result is triangle order[i] of `from`. */
scene scene_reorder(const scene *from, const uint32_t *order, size_t count);
void scene_free(scene *s);
void scene_triangle(const scene *s, size_t triangle, float p[3][3]);
/* The triangle with the largest coordinate: a mesh that contains it is scaled like the whole scene. */
uint32_t scene_largest(const scene *s);
carom_mesh_desc scene_desc(const scene *s);
carom_mesh *scene_mesh(carom_context *context, const scene *s);
/* With the hierarchy that a device searches, also where the CPU's own is narrower: for comparisons of its bytes, or of
 * what a search of it costs. */
carom_mesh *scene_mesh_of_devices(carom_context *context, const scene *s);

/* A random order of `count` things; the caller frees it. */
uint32_t *random_order(uint64_t seed, size_t count);

/* A scene with its triangles in another order: triangle i is triangle order[i] of the original, and triangle i of the
 * original is triangle where[i]. */
typedef struct turned_scene {
    scene s;
    uint32_t *order, *where;
} turned_scene;
turned_scene scene_turn(uint64_t seed, const scene *from);
void turned_free(turned_scene *t);
/* 1 if the original's answer `before` and the reordered scene's answer `there` agree: the same triangle, or in a tie
 * the lowest index in each order. -1: no triangle. */
int turned_agrees(const turned_scene *t, int32_t before, int32_t there);

/* Random masks, some with all bits, one bit or none, for scenes and spheres alike. The caller frees them. */
uint32_t *random_masks(uint64_t seed, size_t count);
/* Random largest distances on the scale of a mesh of size 1; half of them infinite. The caller frees them. */
float *random_limits(uint64_t seed, size_t count);

/* Moving spheres as columns (cx cy cz r vx vy vz t_max), and the options of their queries. With `ends` the velocity
 * columns hold where the centres are at time 1. */
enum { SPHERE_COLUMNS = 8, SPHERE_RADIUS = 3, SPHERE_VELOCITY = 4, SPHERE_T_MAX = 7 };
typedef struct swept_spheres {
    size_t count;
    float *column[SPHERE_COLUMNS];
    uint32_t *mask;      /* NULL: all bits */
    float *max_distance; /* of closest points; NULL: any distance */
    int cull_back, ends;
    carom_start start;
} swept_spheres;

swept_spheres swept_spheres_alloc(size_t count); /* t_max: infinity */
void swept_spheres_free(swept_spheres *b);
/* A mixture of spheres: aimed from outside, inside or far away, at rest, with radius 0, and one in 16 invalid. */
swept_spheres swept_spheres_mixed(uint64_t seed, size_t count);
void swept_spheres_scale(swept_spheres *b, int length, int time);
/* Velocities become end positions, and windows at most 1. */
void swept_spheres_end(swept_spheres *b);
void swept_spheres_case(const swept_spheres *b, size_t i, const scene *s, size_t triangle, ref_sweep_case *out);
carom_mesh_sweep_desc swept_spheres_desc(const swept_spheres *b, size_t first, size_t count);
/* The same spheres at rest; velocity and t_max are not read. */
carom_mesh_overlap_desc swept_spheres_at_rest(const swept_spheres *b, size_t first, size_t count);
/* Closest points to their centres. */
carom_mesh_closest_desc swept_spheres_closest(const swept_spheres *b, size_t first, size_t count);
/* Sphere i of the result is sphere order[i] of `from`. */
swept_spheres swept_spheres_reorder(const swept_spheres *from, const uint32_t *order, size_t count);

enum { HIT_TRIANGLE, HIT_STATE, HIT_T, HIT_X, HIT_Y, HIT_Z, HIT_NX, HIT_NY, HIT_NZ, HIT_FEATURE, HIT_FIELDS };
size_t hit_field_size(int field);
typedef struct hits {
    size_t count;
    guarded field[HIT_FIELDS];
} hits;

hits hits_alloc(size_t count, unsigned char fill);
void hits_free(hits *h);
carom_mesh_hit_result hits_result(const hits *h, size_t first);
int32_t hit_triangle(const hits *h, size_t i);
int hit_state(const hits *h, size_t i);
float hit_float(const hits *h, int field, size_t i);
int hit_is_some(const hits *h, size_t i);
/* Print sphere i and answer k. */
void hits_print_at(const swept_spheres *b, size_t i, const hits *h, size_t k, const char *label);
void hits_print(const swept_spheres *b, const hits *h, size_t i, const char *label);
/* Fail unless the first `count` agree in every byte of the fields in the mask (-1: all). */
void hits_compare(const swept_spheres *b, const hits *expected, const hits *got, size_t count, int fields,
                  const char *label);

/* First hits of all spheres: in fast mode, or with this accuracy. */
void sweep_first(carom_mesh *mesh, const swept_spheres *b, const hits *out);
hits sweep_as(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy);
/* First hits in fast mode, of a mesh that is made of the scene. */
hits sweep_scene(carom_context *context, const scene *s, const swept_spheres *b);

#endif
