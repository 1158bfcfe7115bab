/* SPDX-License-Identifier: MIT */
/* What the two files of the demo share. */
#ifndef CAROM_EXAMPLES_DEMO_H
#define CAROM_EXAMPLES_DEMO_H

#include <carom/carom.h>

#include <stdint.h>

/* Spheres as separate arrays, and the window's end, the same for all. */
typedef struct demo_spheres {
    uint64_t count;
    float *x, *y, *z, *vx, *vy, *vz, *radius;
    float t_max;
} demo_spheres;

/* What a mesh sweep answers, vectors as x y z. */
typedef struct demo_hits {
    uint64_t count;
    int32_t *triangle;
    uint8_t *state, *feature;
    float *t, *point, *normal;
} demo_hits;

int demo_spheres_alloc(demo_spheres *spheres, uint64_t count);
void demo_spheres_free(demo_spheres *spheres);
int demo_hits_alloc(demo_hits *hits, uint64_t count);
void demo_hits_free(demo_hits *hits);

/* Sweep in pieces, with progress on a terminal, for at most `patience` seconds (0: to the end).
 * *done: spheres answered; *seconds: how long that took. Returns 1, or 0 with the message printed. */
int demo_sweep(carom_mesh *mesh, const demo_spheres *spheres, const demo_hits *hits, const char *what, double patience,
               uint64_t *done, double *seconds);

/* Sweep a sphere through every pixel of a picture and shade what it meets by the contact normal.
 * forward, up: the view; the mesh fills the picture. Returns 1, or 0 with the message printed. */
typedef struct demo_view {
    float lower[3], upper[3]; /* of the mesh */
    float forward[3], up[3];
    int width, height;
} demo_view;
int demo_picture(carom_mesh *mesh, const demo_view *view, const char *path);

#endif
