/* SPDX-License-Identifier: MIT */
/* Instances of meshes: what a search of a scene knows of each. The same for every width and lane count. */
#ifndef CAROM_CPU_SCENE_INSTANCE_H
#define CAROM_CPU_SCENE_INSTANCE_H

/* A traversal of a scene is in the hierarchy over the instances first, whose "triangles" are the boxes of instances;
 * then in those of the meshes. Triangles are numbered through: instance after instance. */
enum {
    INSTANCE_OF_ALL, /* the hierarchy over the instances */
    INSTANCE_UNMOVED,
    INSTANCE_MOVED,
    INSTANCE_EXTREME /* moved by numbers for which binary32 does not suffice */
};

typedef struct mesh_instance {
    const void *nodes, *leaves; /* of its mesh: mesh_node and mesh_leaf of one width */
    const int *masks;           /* of the leaves' triangles; NULL: all bits */
    int root;
    int base;      /* number of its first triangle */
    int mask;      /* of the instance */
    int kind;      /* INSTANCE_... */
    int mirrors;   /* corners 1 and 2 change places */
    float scale;   /* the scene's: mesh_frame */
    float largest; /* no coordinate of a corner of the scene is larger */
    /* Bounds of how far the map takes points apart, and of the rounding of corners: for bounding spheres. */
    float stretch, slack;
    double map[3][4]; /* rows; a world coordinate is ((m0 x + m1 y) + m2 z) + m3 */
    /* The same for the coordinates of boxes, from the mesh's scale to the scene's; of an extreme instance to the
     * caller's unit. The offsets of lower and upper ends have the margin of the rounding. */
    float of_box[3][3], lower[3], upper[3];
    double of_extreme_box[3][3];
} mesh_instance;

/* A reference to instance k, in place of a node. The hierarchy over the instances has fewer nodes. */
#define MESH_INSTANCE (1 << 30)
#endif
