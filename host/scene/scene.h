/* SPDX-License-Identifier: MIT */
/* Scenes: instances of meshes, under a hierarchy of their boxes. A scene has a mesh of its own, `all`, that queries
 * ask: its view leads to the instances, and it has no triangles.
 *
 *   scene.c    the calls
 *   pose.c     maps and boxes of the instances
 *   change.c   a pose that differs in a few instances
 *   tree.c     the hierarchy over the instances
 *   own.c      bounds for queries in an instance's own space
 *   extent.c   what has to be known of the corners in the world, without visiting them all
 *   triangle.c which triangle a number means */
#ifndef CAROM_HOST_SCENE_SCENE_H
#define CAROM_HOST_SCENE_SCENE_H
#include "host/bvh/triangle.h"
#include "host/mesh/mesh.h"

/* Bytes between two maps of a pose, each CAROMI_MAP numbers. */
enum { CAROMI_MAP = 12 };
static inline size_t caromi_map_stride(const carom_scene_pose *pose)
{
    return pose->map_stride != 0 ? pose->map_stride : sizeof(float[CAROMI_MAP]);
}

/* What the caller gives for an instance: compared by its bytes. */
typedef struct caromi_given {
    float map[CAROMI_MAP], velocity[3];
    int32_t mask;
} caromi_given;

/* The hierarchy over the instances: nodes alone, whose children are nodes or instances. */
typedef struct caromi_scene_tree {
    void *nodes;       /* of `width` slots: cpu/mesh/rows.h; NULL: there are no instances */
    float *velocities; /* SCENE_VELOCITIES for each node from first_moving on; NULL: all instances are at rest */
    int width;
    uint32_t node_count, first_moving; /* instances with velocities have a tree of their own, after the other */
    int stack;                         /* entries that a traversal may need */
    float cost, built_cost;            /* SAH cost now, and after the build */
} caromi_scene_tree;

/* Instances without triangles are left out. */
typedef struct caromi_pose {
    mesh_instance *instances; /* [1 + count] the hierarchy over the instances, then these */
    uint32_t *number;         /* [count] the caller's numbers */
    caromi_given *given;      /* [count] */
    caromi_world_box *boxes;  /* [count] of the corners, or larger ones; cut to where corners can be */
    uint32_t count;
    caromi_scene_tree tree;
    mesh_frame frame;          /* the scene's scale, and the hierarchy's root */
    caromi_extent extent;      /* of all corners */
    uint32_t largest_instance; /* has a corner with extent.largest */
    int has_instance_masks;    /* the caller gave masks of instances */
    int has_masks, has_velocities;
    uint64_t triangles;
} caromi_pose;

enum { CAROMI_THIN = 24 }; /* classes of thin triangles, each half as high as the one before */
/* A mesh of a scene, and its state when the scene last looked at it. */
typedef struct caromi_scene_mesh {
    carom_mesh *mesh;
    uint64_t changes, builds; /* mesh->changes, mesh->builds */
    int is_used;              /* by an instance */
    uint32_t first;           /* instance of it */
    double triangle;          /* diameter of its largest triangle at `changes`; negative: not measured */
    /* Element k: diameter of the largest triangle that is a sliver, or whose height over its longest edge is below
     * 2^-k of the unit of the mesh's boxes; 0: there is none. own.c */
    double thin[CAROMI_THIN];
    int has_minus_zero; /* a corner has a coordinate -0 */
} caromi_scene_mesh;

struct carom_scene {
    carom_context *context;
    caromi_task end; /* its destruction, if that is left to the context's thread */
    carom_mesh *all;
    caromi_scene_mesh *meshes; /* [mesh_count] */
    uint64_t mesh_count, instance_count;
    uint32_t *mesh_of; /* [instance_count] */
    uint64_t changes;  /* context->mesh_changes at the last look at the meshes */
    uint64_t places;   /* how often the instances, or where their meshes lie, may have changed */
    caromi_pose pose;
};

/* carom_scene_create, from a checked descriptor, and carom_scene_destroy within another call of the context. scene.c */
carom_status caromi_scene_make(carom_context *context, const carom_scene_desc *desc, carom_scene **out,
                               carom_error *err);
void caromi_scene_end(carom_scene *scene);
/* Where a query begins among pose.instances: in the hierarchy over them, or in the only one, also if the CPU searches
 * that one as its mesh and has no instances in the view. */
static inline uint64_t caromi_scene_begin(const carom_scene *scene)
{
    const caromi_mesh_view *view = &scene->all->view;
    return view->instances == NULL ? 1 : (uint64_t)(view->instances - scene->pose.instances);
}
/* The mesh of an instance by the caller's number. */
static inline const carom_mesh *caromi_mesh_of_instance(const carom_scene *scene, uint32_t number)
{
    return scene->meshes[scene->mesh_of[number]].mesh;
}

/* Computes a pose from checked arrays, of meshes of one width. pose.c */
carom_status caromi_pose_make(const carom_scene *scene, const carom_scene_pose *given, int width, caromi_pose *pose,
                              carom_error *err);
void caromi_pose_free(const carom_context *context, caromi_pose *pose);
/* Fails if a traversal may need more entries than it has. scene.c */
carom_status caromi_scene_check_stack(const carom_scene *scene, const caromi_scene_tree *tree, carom_error *err);
/* Changes the scene's pose where the given one differs, if that is possible; no mesh may have changed. On failure the
 * pose is as it was. *is_done 0: a new pose has to be made. change.c */
carom_status caromi_pose_change(carom_scene *scene, const carom_scene_pose *given, int *is_done, carom_error *err);

/* One instance, by the caller's number. pose.c */
carom_status caromi_given_load(const carom_scene_pose *from, uint32_t number, caromi_given *to, carom_error *err);
/* Sets the members of an instance that do not depend on other instances. */
void caromi_instance_set(const carom_mesh *mesh, const caromi_given *given, int base, mesh_instance *to);
/* Sets those that depend on the scene's scale and the limit of coordinates. */
void caromi_instance_set_scale(const caromi_scene_mesh *of, float scale, float limit, mesh_instance *instance);
/* No coordinate of a scene is larger: the power of two above its largest one. */
float caromi_scene_limit(float largest);
/* Cuts a box to that. */
void caromi_scene_clip(caromi_world_box *box, float limit);
/* Sets the bounds of a pose, and its scale, from the boxes and the largest coordinate. */
void caromi_pose_set_extent(caromi_pose *pose, float largest);
/* Sets the first instance, which stands for the hierarchy over all. */
void caromi_pose_set_all(caromi_pose *pose);

static inline int caromi_is_moving(const mesh_instance *instance)
{
    return instance->velocity[0] != 0 || instance->velocity[1] != 0 || instance->velocity[2] != 0;
}

/* Builds the hierarchy over the instances of a pose, with nodes of so many slots. tree.c */
carom_status caromi_scene_tree_build(carom_context *context, const caromi_pose *pose, int width,
                                     caromi_scene_tree *tree, carom_error *err);
/* Sets its boxes, velocities and cost from the instances, their boxes and the scene's scale. */
void caromi_scene_tree_refit(const caromi_pose *pose, caromi_scene_tree *tree);
void caromi_scene_tree_free(const carom_context *context, caromi_scene_tree *tree);

/* Measures the triangles of a mesh. own.c */
void caromi_scene_measure(caromi_scene_mesh *of);
/* A linear map takes points apart by at least and at most these factors. Their squares bound the eigenvalues of the
 * transposed matrix times the matrix (Gershgorin); both are about 1 for a rotation. own.c */
typedef struct caromi_stretch {
    double least, most;
} caromi_stretch;
caromi_stretch caromi_stretch_of(const double map[3][4]);
/* Sets the own space of an instance whose other members are set. size: no sum of magnitudes that a coordinate in the
 * world is computed from is larger. own.c */
void caromi_scene_set_own(const caromi_scene_mesh *of, double size, mesh_instance *instance);

/* The box of the corners of an instance in the world, or a larger one. extent.c */
void caromi_scene_box(const carom_mesh *mesh, const mesh_instance *instance, caromi_world_box *box);
/* The largest coordinate of all corners in the world, or a number of the same binary exponent. boxes: as above, of all
 * instances. *largest: a coordinate of instance *of that is known, or 0. Fails if a corner is not finite. */
carom_status caromi_scene_extent(const carom_scene *scene, const caromi_pose *pose, const caromi_world_box *boxes,
                                 float *largest, uint32_t *of, carom_error *err);
/* A corner in the world: the arithmetic of kernels/scene_map.h. */
static inline void caromi_map_corner(const mesh_instance *instance, const float *corner, float world[3])
{
    for (int k = 0; k < 3; k++) {
        const double *row = instance->map[k];
        world[k] =
            (float)(((row[0] * (double)corner[0] + row[1] * (double)corner[1]) + row[2] * (double)corner[2]) + row[3]);
    }
}
#endif
