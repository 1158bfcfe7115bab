/* SPDX-License-Identifier: MIT */
/* What the picture of a sweep shows, in binary64: a plane, a window of time, and the spheres worth drawing. Positions
 * and values of F are computed exactly and then rounded, so that starts far away and tiny triangles look right. */
#ifndef CAROM_CLI_EXPLAIN_EXPLAIN_SCENE_H
#define CAROM_CLI_EXPLAIN_EXPLAIN_SCENE_H

#include "reference/partition.h"

enum { SCENE_WORDS = 160 };

/* A sphere at one time. In the plane: centre and closest point of the triangle; above it: height. */
typedef struct scene_sphere {
    double time, center[2], height, closest[2];
    char label[16];
} scene_sphere;

typedef struct explain_scene {
    const ref_partition *partition;
    ref_triangle triangle;
    ref_vec motion;
    ref_element_row row[REF_ELEMENTS_MAX];
    double unit; /* the length that is 1 in the picture's plane: a power of two near the triangle's size */

    int dimensions;      /* of what is left of the triangle: 2, 1, or 0 for a point */
    double axis[3][3];   /* the plane's x and y, and the direction to the viewer */
    double corner[3][2]; /* relative to P0 */
    double radius;
    double velocity[2]; /* of the centre in the plane */

    int moves, touches;       /* touches: first and last time of contact are finite */
    double first, last;       /* of contact */
    double least_time, least; /* where F is least, and that F */
    double begin, end;        /* window of the plot */
    int digits;               /* that tell times in the window apart */
    scene_sphere sphere[2];
    int spheres;
    char title[SCENE_WORDS];
} explain_scene;

void explain_scene_set(explain_scene *out, uint64_t row, const ref_sweep_case *c, const ref_partition *partition);
/* The centre at time t: x, y, and height above the plane. */
void explain_scene_center(const explain_scene *scene, double t, double out[3]);

#endif
