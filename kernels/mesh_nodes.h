/* SPDX-License-Identifier: MIT */
/* Nodes and leaves of a mesh's hierarchy at one width, for code that is compiled for it. Devices have 16; a CPU with 8
 * lanes has both (docs/architecture.md, "The mesh"). Both are stored in columns, so that lanes read consecutive slots.
 * Lengths in nodes are scaled by the mesh's power of two. */
#ifndef CAROM_MESH_NODES_H
#define CAROM_MESH_NODES_H
#include "layout.h"

#ifndef MESH_WIDTH
#define MESH_WIDTH 16
#endif

/* An empty slot of a node has child 0: the root, which is no child. */
typedef struct mesh_node {
    float lo_x[MESH_WIDTH], lo_y[MESH_WIDTH], lo_z[MESH_WIDTH];
    float hi_x[MESH_WIDTH], hi_y[MESH_WIDTH], hi_z[MESH_WIDTH];
    int child[MESH_WIDTH]; /* a node; a leaf if negative */
    int least[MESH_WIDTH]; /* the lowest triangle index below it */
} mesh_node;

/* The triangle indices of a leaf ascend. An empty slot has triangle -1 and the corners of the first triangle. A leaf
 * stores each of its vertices once, and for each triangle which vertices its corners are. A leaf with more than
 * MESH_VERTICES vertices is unindexed: after the triangle indices come nine rows, P0 x y z, P1 x y z, P2 x y z. It
 * takes the memory of two leaves. A reference to a leaf is its position, counted in leaves, and a bit that marks an
 * unindexed leaf. */
typedef struct mesh_leaf {
    int triangle[MESH_WIDTH];
    unsigned char corner[3][MESH_WIDTH]; /* numbers of the vertices P0, P1 and P2 */
    float ball; /* radius of a bounding sphere of each triangle, around the middle of the triangle's box */
    float unused[MESH_WIDTH / 4 - 1];
    float vertex[3][MESH_VERTICES]; /* x y z; unused slots repeat the last vertex */
} mesh_leaf;

/* Neighbours of the triangles of a leaf. For each edge of a triangle: the third corner of another triangle on that
 * edge, whose mask passes every query that the first one's mask passes. For each corner of a triangle: a corner of such
 * a neighbour across the triangle's corner. A slot is the number of one of the leaf's vertices, or MESH_VERTICES + the
 * number of a point of `at`. Without a neighbour, a corner of the edge, or the corner itself, is stored. An unindexed
 * leaf has nine rows in the space of two leaves: x y z of the third corner for each edge. */
typedef struct mesh_opposites {
    unsigned char slot[6][MESH_WIDTH];
    unsigned char unused[2][MESH_WIDTH]; /* each leaf's data begins at a cache line */
    float at[3][MESH_VERTICES];          /* x y z of points that are no vertices of the leaf */
} mesh_opposites;

/* Normal cones of the children of a node. A child's cone holds the normals of all triangles that touch a triangle below
 * the child; neighbours among these have equal masks. A direction is in the cone, or in its opposite, if its distance
 * from the axis is at most slope times its part along the axis. The cone is a little wider than the normals need. All
 * triangles below the child are within `diameter` / 2, with a margin, of the middle of the child's box, in the unit of
 * the box. docs/contacts.md, section 5, derives both margins. Contacts whose limit is at most `reach` may use the cone.
 * An infinite slope means that there is no cone. */
typedef struct mesh_cones {
    float axis_x[MESH_WIDTH], axis_y[MESH_WIDTH], axis_z[MESH_WIDTH];
    float slope[MESH_WIDTH], diameter[MESH_WIDTH], reach[MESH_WIDTH];
} mesh_cones;
#endif
