/* SPDX-License-Identifier: MIT */
/* The refit of a mesh on a device: numbers that kernels and host agree on. */
#ifndef CAROM_REFIT_H
#define CAROM_REFIT_H
#include "layout.h"

#define REFIT_GROUP 64                          /* work-items of a group, in kernels that need whole groups */
#define REFIT_SLOTS (REFIT_GROUP / MESH_WIDEST) /* slots of nodes that a group refits at a time */
#define REFIT_SAMPLES 64                        /* nodes whose leaves are asked for the radius of a typical one */

#define REFIT_INVERSE_BITS 34 /* of cubes, which are at most 2^17 */
#define REFIT_SUMS_MOST 1024  /* groups that count the marks of cubes */

#define REFIT_PROBES 1024 /* entries of the table of positions that a vertex looks at */
/* Words before that table: vertices of which the same others coincide, children of nodes, children with a cone. */
enum { REFIT_UNCHANGED, REFIT_CHILDREN, REFIT_FOUND, REFIT_COUNTS = 4 };

/* In kernels: work-items share `count` things. No launch is larger than a device bears, whatever the count. */
#define REFIT_FOR_EACH(i, count) \
    for (ulong i = (ulong)get_global_id(0); i < (ulong)(count); i += (ulong)get_global_size(0))
#define REFIT_WHOLE_GROUP __attribute__((reqd_work_group_size(REFIT_GROUP, 1, 1)))

/* Margin for the rounding errors of a bounding radius. */
#define REFIT_BALL_MARGIN R(0x1.00001p0)

/* Bounds of all used vertices, as integers in the order of the numbers, and the complement of the first triangle with a
 * coordinate that is not finite. It begins with zeros. */
typedef struct refit_measure {
    unsigned int above[3], below[3], refused;
} refit_measure;

/* Numbers that the host reads of a refit. */
typedef struct refit_result {
    unsigned int is_refused, triangle, corner; /* the first corner with a coordinate that is not finite */
    float lower[3], upper[3];                  /* bounds of the used vertices */
    float scale;                               /* of the mesh's frame */
    float ball;                                /* `ball` of a typical leaf */
    float area, root;                          /* half the surface of all boxes, and of the box around the mesh */
} refit_result;

typedef struct refit_work {
    refit_measure measure;
    refit_result result;
} refit_work;
#endif
