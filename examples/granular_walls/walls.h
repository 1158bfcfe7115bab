/* SPDX-License-Identifier: MIT */
/* Types and functions that the files of granular_walls share. */
#ifndef CAROM_EXAMPLES_GRANULAR_WALLS_H
#define CAROM_EXAMPLES_GRANULAR_WALLS_H

#include <carom/carom.h>

enum { MOST = 16 }; /* contacts of a step */

static const float radius = 0.5f; /* of all grains */

typedef struct lab {
    carom_context *context;
    carom_mesh *floor; /* z = 0, in 800 triangles */
    carom_error err;
} lab;

/* The contacts of a step. */
typedef struct touches {
    uint64_t count, query[MOST];
    uint32_t patch[MOST];
    float distance[MOST], point[MOST][3], normal[MOST][3];
    int64_t previous[MOST]; /* the same contact in the step before; -1: it is new */
} touches;

/* contacts.c. All functions return 0 on failure, with a sentence in my->err. */
int touch(lab *my, carom_mesh *wall, const float *center, uint64_t count, const uint32_t *select, uint64_t elements,
          touches *now);
int match(lab *my, const touches *before, touches *now);

static inline double depth_of(const touches *now, int i)
{
    return (double)radius - (double)now->distance[i];
}

/* motion.c */
int fixed_wall(lab *my);
int moving_wall(lab *my);
int turning_wall(lab *my);
/* periodic.c */
int periodic_wall(lab *my);
int periodic_pairs(lab *my);

#endif
