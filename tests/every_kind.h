/* SPDX-License-Identifier: MIT */
/* One question of every kind, for tests that are not about its answer: any that come are compared as one block. */
#ifndef CAROM_TESTS_EVERY_KIND_H
#define CAROM_TESTS_EVERY_KIND_H

#include "scenes.h"

/* What is asked: pairs, and balls of which most are invalid, for how fast a device is that is no GPU is not the question.
 * The first ball holds the whole mesh, the unit sphere, and hits all of it. */
typedef struct world {
    queries sweeps;
    scene s;
    balls b;
} world;

/* Sides: as of scene_sphere. */
world world_new(size_t count, int sides);
void world_free(world *w);

/* Answers of any kind in one block of `size` bytes. */
typedef struct results {
    size_t size, capacity;
    unsigned char *block;
    uint64_t *offsets;
    int32_t *triangle;
    float *t, *point;
    uint8_t *state;
} results;

results results_new(size_t count); /* the caller frees the block */

typedef carom_status ask_fn(const world *w, carom_context *context, carom_mesh *mesh, const results *r,
                            carom_stats *stats, carom_error *err);
typedef struct kind {
    const char *name;
    ask_fn *ask;
} kind;

/* In fast mode, which needs no binary64; first and all hits with points. */
enum { KIND_PAIRS, KIND_FIRST, KIND_LIST, KIND_ANY, KIND_OVERLAPS, KIND_CLOSEST, KIND_COUNT };
extern const kind every_kind[KIND_COUNT];

#endif
