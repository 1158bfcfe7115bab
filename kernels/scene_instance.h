/* SPDX-License-Identifier: MIT */
/* Instances of meshes: what a search of a scene knows of each. The same for every width and lane count. */
#ifndef CAROM_SCENE_INSTANCE_H
#define CAROM_SCENE_INSTANCE_H
#include "wide_real.h"

/* A traversal of a scene is in the hierarchy over the instances first, then in those of the meshes. Triangles are
 * numbered through: instance after instance. */
enum {
    INSTANCE_OF_ALL, /* the hierarchy over the instances */
    INSTANCE_UNMOVED,
    INSTANCE_MOVED,
    INSTANCE_EXTREME /* moved by numbers for which binary32 does not suffice */
};

/* The instance's own space: that of its mesh's boxes, in the mesh's scale. A query that is taken there meets the boxes
 * as they lie. docs/scenes.md, section 3, derives all bounds. */
typedef struct instance_space {
    /* Whether the bounds are good enough; else boxes are mapped into the world. takes_overlaps: of fast mode. */
    int takes_sweeps, takes_distances, takes_overlaps;
    wide_real inverse[3][3];  /* of the linear map, times the mesh's scale */
    wide_real extent[3];      /* of the unit ball of the world, along each axis */
    wide_real rounding;       /* in the world, no corner is farther from where the exact map takes it */
    wide_real triangle;       /* in the world, no triangle has a larger diameter */
    wide_real thin;           /* the same of triangles so thin that a fast overlap's error has no bound; or 0 */
    wide_real shrinks, grows; /* bounds of the factor from a length to that in the world, with a margin */
} instance_space;

/* Velocities of the instances below each child of a node of the hierarchy over them: the least and the greatest along
 * each axis. For each width, as mesh_node is. */
#define SCENE_VELOCITIES(width) float least[3][width], most[3][width]

/* On a device the nodes of all meshes lie in one array, and so do leaves and masks. An instance has slots there
 * instead of pointers. */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define SCENE_ON_DEVICE
typedef ulong scene_offset;
#define SCENE_POINTER(type, name, offset) scene_offset offset
#else
typedef unsigned long long scene_offset;
#define SCENE_POINTER(type, name, offset) \
    union {                               \
        const type *name;                 \
        scene_offset offset;              \
    }
#endif

typedef struct mesh_instance {
    SCENE_POINTER(void, nodes, first_node);  /* of its mesh: mesh_node of one width */
    SCENE_POINTER(void, leaves, first_leaf); /* mesh_leaf of that width */
    SCENE_POINTER(int, masks, first_mask);   /* of the leaves' triangles; NULL: all bits */
    int root;
    int base;      /* number of its first triangle */
    int mask;      /* of the instance */
    int kind;      /* INSTANCE_... */
    int mirrors;   /* corners 1 and 2 change places */
    float scale;   /* the scene's: mesh_frame */
    float largest; /* no coordinate of a corner of the scene is larger */
    /* Bounds of how far the map takes points apart, and of the rounding of corners: for bounding spheres. */
    float stretch, slack;
    wide_real map[3][4]; /* rows; a world coordinate is ((m0 x + m1 y) + m2 z) + m3 */
    /* The same for the coordinates of boxes, from the mesh's scale to the scene's; of an extreme instance to the
     * caller's unit. The offsets of lower and upper ends have the margin of the rounding. */
    float of_box[3][3], lower[3], upper[3];
    wide_real of_extreme_box[3][3];
    instance_space own;
    float velocity[3]; /* in the world; +0 where it is 0 */
    /* The hierarchy over the instances is a tree of those at rest, then a tree of those with velocities. */
    int first_moving; /* the first node of the latter, which is its root; MESH_INSTANCE: none, also of an instance */
    int moving_root;  /* the same if there is a tree before it; else 0 */
    /* SCENE_VELOCITIES for each node of the latter. A device does not look. */
    SCENE_POINTER(void, velocities, no_velocities);
} mesh_instance;

/* A reference to instance k among the children of a node of the hierarchy over the instances, which has no leaves, and
 * fewer nodes. */
#define MESH_INSTANCE (1 << 30)
#endif
