/* SPDX-License-Identifier: MIT */
/* What the two files of the demo share. */
#ifndef CAROM_EXAMPLES_DEMO_H
#define CAROM_EXAMPLES_DEMO_H

#include <carom/carom.h>

#include <stdint.h>

/* Moving spheres, vectors as x y z. */
typedef struct demo_spheres {
    float *center, *velocity, *radius;
} demo_spheres;

/* The answers of a mesh sweep. */
typedef struct demo_hits {
    int32_t *triangle;
    uint8_t *state, *feature;
    float *t, *point, *normal;
} demo_hits;

/* Ends the program when there is no memory; the process frees what a run has. */
demo_spheres demo_spheres_alloc(uint64_t count);
demo_hits demo_hits_alloc(uint64_t count);

/* First hits of spheres [from, from + count) up to the time t_max. Returns 1, or 0 with the message printed. */
int demo_sweep(carom_mesh *mesh, const demo_spheres *spheres, float t_max, const demo_hits *hits, uint64_t from,
               uint64_t count);

/* Sweep a sphere through every pixel of a picture and shade what it meets by the contact normal.
 * forward, up: the view; the mesh fills the picture. Returns 1, or 0 with the message printed. */
typedef struct demo_view {
    float forward[3], up[3];
    int width, height;
} demo_view;
int demo_picture(carom_mesh *mesh, const demo_view *view, const char *path);

#endif
