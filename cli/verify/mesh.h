/* SPDX-License-Identifier: MIT */
/* The parts of carom verify that ask meshes: scenes, moving spheres and answers, the exact reference. */
#ifndef CAROM_CLI_VERIFY_MESH_H
#define CAROM_CLI_VERIFY_MESH_H

#include "verify.h"

/* A type is the number of a row in query_meshes. */
enum { MESH_TYPES = QUERY_MESH_JUDGED };
/* The last scene is for the backends alone: large enough that they put queries in order along it, and too large for the
 * reference, which tries every triangle. */
enum {
    MESH_JUDGED = 10,
    MESH_SCENES,
    MESH_INSTANCES = 8, /* of the one that is a scene of instances with velocities */
    MESH_TRIANGLES = 512,
    MESH_LARGE_SIDE = 137,
    MESH_TRIANGLES_MAX = 8 * MESH_LARGE_SIDE * MESH_LARGE_SIDE,
    MESH_BLOCK = 1 << 14
};

/* ---- scenes and spheres: mesh_scenes.c ---- */

typedef struct verify_scene {
    const char *name;
    float vertices[9 * MESH_TRIANGLES_MAX];
    uint32_t indices[3 * MESH_TRIANGLES_MAX], masks[MESH_TRIANGLES_MAX];
    size_t vertex_count, triangle_count;
    int has_masks; /* also of the spheres */
    /* Instances of the triangles, or none: those of each are a mesh of their own with a map, whose vertices are `own`.
     */
    size_t instance_count;
    query_instance instances[MESH_INSTANCES];
    float own[9 * MESH_TRIANGLES], maps[MESH_INSTANCES][12];
} verify_scene;

/* The columns of all queries of meshes. */
enum { SPHERE_RADIUS = 3, SPHERE_VELOCITY = 4, SPHERE_T_MAX = 7, SPHERE_MAX_DISTANCE, SPHERE_COLUMNS };
typedef struct verify_spheres {
    float column[SPHERE_COLUMNS][MESH_BLOCK]; /* as verify_sphere_columns names them */
    uint32_t mask[MESH_BLOCK];
    carom_start start;
    uint8_t cull_back;
    int ends; /* vx vy vz are where the centre is at time 1 */
} verify_spheres;

extern const char *const verify_sphere_columns[SPHERE_COLUMNS];

const char *verify_scene_name(size_t index);
/* The large one has no more triangles than `most` or, if that is less, eight. */
void verify_scene_make(size_t index, uint64_t seed, uint64_t most, verify_scene *out);
carom_mesh_desc verify_scene_desc(const verify_scene *scene);
ref_mesh verify_scene_reference(const verify_scene *scene);
/* Spheres first .. first + count of the stream that `seed` and the scene name; `block` chooses the options. */
void verify_spheres_make(const verify_scene *scene, uint64_t seed, uint64_t first, uint64_t count, uint64_t block,
                         verify_spheres *out);
/* Sphere i on the scene as the reference wants them. */
query_sphere verify_spheres_case(const verify_scene *scene, const verify_spheres *swept_spheres, uint64_t i);

/* ---- instances: mesh_instances.c ---- */

/* Makes the triangles of a scene instances with maps and velocities. No map rounds a corner. */
void verify_scene_move(uint64_t seed, verify_scene *scene);
/* The mesh of a scene; *made is what holds it, or NULL. */
carom_status verify_scene_open(carom_context *context, const verify_scene *scene, carom_scene **made, carom_mesh **mesh,
                               carom_error *err);
void verify_scene_close(carom_scene **made, carom_mesh **mesh);
/* A coordinate as the reference needs it beside velocities and end positions: their sum is a binary32 number. */
float verify_scene_snap(float coordinate);
/* The triangle's number among those of all instances. */
int32_t verify_scene_number(const verify_scene *scene, int32_t instance, int32_t triangle);

/* ---- asking: mesh_ask.c ---- */

/* Arrays of the fields of a row, with room for those of any: one record a sphere or, of lists, more. */
typedef struct verify_mesh_answers {
    void *field[QUERY_FIELDS_MAX];
    uint64_t *offsets; /* of lists, these too */
    int32_t *instance; /* of triangles, until these have their numbers among those of all */
    uint64_t total, complete, stored;
} verify_mesh_answers;

typedef struct verify_mesh_request {
    int type;
    carom_accuracy accuracy;
    uint64_t count;
} verify_mesh_request;

int verify_mesh_answers_alloc(verify_mesh_answers *answers);
void verify_mesh_answers_free(verify_mesh_answers *answers);
carom_status verify_mesh_ask(carom_mesh *mesh, const verify_scene *scene, const verify_mesh_request *request,
                             const verify_spheres *swept_spheres, verify_mesh_answers *to, carom_stats *stats,
                             carom_error *err);
/* Whether the answers to sphere i differ, of lists its records. Both may be anything: nothing outside the arrays is
 * read. */
int verify_mesh_differs(const verify_mesh_request *request, const verify_mesh_answers *a, const verify_mesh_answers *b,
                        uint64_t i);
/* Whether the answers to all spheres are the same bytes, and the totals of lists the same numbers. */
int verify_mesh_same(const verify_mesh_request *request, const verify_mesh_answers *a, const verify_mesh_answers *b);
/* The answer to sphere i; none of its records are stored if a list has no room for them. */
query_records verify_mesh_records(const verify_mesh_request *request, const verify_mesh_answers *answers, uint64_t i);
/* In hex floats, with the triangle that a row names. */
void verify_mesh_print_sphere(output *out, const verify_spheres *swept_spheres, uint64_t i);
void verify_mesh_print_answer(output *out, const verify_mesh_request *request, const char *who,
                              const verify_scene *scene, const verify_mesh_answers *answers, uint64_t i);

/* ---- the reference: mesh_reference.c ---- */

typedef struct verify_mesh_tally {
    uint64_t queries, wrong;
} verify_mesh_tally;

/* Judge the exact answers to the first `count` spheres; the first wrong one of a tally is printed. */
void verify_mesh_judge(const verify_mesh_request *request, const verify_scene *scene,
                       const verify_spheres *swept_spheres, const verify_mesh_answers *answers, uint64_t count,
                       output *out, verify_mesh_tally *tally);

#endif
