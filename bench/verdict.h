/* SPDX-License-Identifier: MIT */
/* What the exact reference says to the first queries of a scene, and whether a subject's answers agree with it. */
#ifndef CAROM_BENCH_VERDICT_H
#define CAROM_BENCH_VERDICT_H

#include "bench.h"
#include "pair_task.h"

typedef struct truth {
    size_t count;
    float window;
    uint8_t *hit; /* sweeps: a touch within [0, window] */
    double *time; /* when it begins, 0 at the least */
    double *room; /* a time that is further off is off */
    size_t hits;
} truth;

/* Of no more than `count` queries. */
truth truth_pairs(const pair_scene *scene, float window, size_t count);
truth truth_mesh(const mesh_scene *shape, const columns *spheres, size_t count);
void truth_free(truth *t);

/* Fills in the row's verdict. Either `overlap`, or `first` and, where it is known, `last`: a hit begins at `first`
 * within the window, or before it if it lasts until then. */
void truth_judge(const truth *t, const uint8_t *overlap, const float *first, const float *last, bench_row *row);

#endif
