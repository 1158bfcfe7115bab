/* SPDX-License-Identifier: MIT */
/* substep.c: the spheres of a substep, side by side in memory, and what carom answers for them. */
#ifndef RAIN_SUBSTEP_H
#define RAIN_SUBSTEP_H

#include "rain.h"

typedef struct rain_substep rain_substep;
struct rain_substep {
    uint64_t count;           /* spheres that move, and spheres that one which moves may meet */
    uint32_t *sphere;         /* [count] their numbers, ascending */
    float *center, *velocity; /* [3 * count] */
    float *motion;            /* [3 * count] velocity * time left: a substep lasts from 0 to 1 for all */
    float *radius;            /* [count] */
    uint64_t active_count;    /* spheres with time left */
    uint32_t *active;         /* [active_count] their places in this substep, ascending */
    int32_t *triangle;        /* [active_count] first hits with the mesh */
    float *t, *normal;        /* [active_count], [3 * active_count] */
    int32_t *query;           /* [count] the sphere's place in `active`; -1: no time is left */
    /* Sphere n meets the partners of records offsets[n] to offsets[n + 1], ordered by time. */
    uint64_t *offsets; /* [count + 1] */
    uint64_t room;     /* records that fit */
    int32_t *partner;  /* [room] by its place in this substep */
    float *partner_t;  /* [room] */
    /* A coarse grid. A cell is marked if the centre of a sphere in it may be within reach of one that moves. */
    uint8_t *mark;           /* [cells] */
    uint64_t cells[3];       /* along x, y, z */
    float per_length, reach; /* cells per L; L, of the largest sphere */
};

int rain_substep_create(rain_substep *substep, const rain_world *world, uint64_t count);
void rain_substep_destroy(rain_substep *substep);
/* `left`: [spheres] time left. Returns the number of spheres that have some. */
uint64_t rain_substep_gather(rain_substep *substep, const rain_world *world, const rain_spheres *spheres,
                             const float *left);
int rain_substep_query(rain_substep *substep, const rain_world *world, rain_times *times, rain_counts *counts);

#endif
