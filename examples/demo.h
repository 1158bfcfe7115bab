/* SPDX-License-Identifier: MIT */
/* What the two files of the demo share. */
#ifndef CAROM_EXAMPLES_DEMO_H
#define CAROM_EXAMPLES_DEMO_H

#include <carom/carom.h>

#include <stdint.h>

/* The answers of a mesh sweep, vectors as x y z. */
typedef struct demo_hits {
    int32_t *triangle;
    uint8_t *state, *feature;
    float *t, *point, *normal;
} demo_hits;

/* `count` zeroed elements. Without memory the program ends. */
void *demo_alloc(uint64_t count, size_t size);
demo_hits demo_hits_alloc(uint64_t count);
/* First hits, written from record `from` on. Returns 1, or 0 with the message printed. */
int demo_sweep(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const demo_hits *hits, uint64_t from);

typedef struct demo_view {
    float forward[3], up[3];
    int width, height;
} demo_view;

/* DIRECTORY/hits.png, which the mesh fills. Returns 1, or 0 with the message printed. */
int demo_picture(carom_mesh *mesh, const demo_view *view, const char *directory);

#endif
