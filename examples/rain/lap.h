/* SPDX-License-Identifier: MIT */
/* lap.c: the spheres of a lap, side by side in memory, and what carom answers for them. */
#ifndef RAIN_LAP_H
#define RAIN_LAP_H

#include "rain.h"

typedef struct rain_lap rain_lap;
struct rain_lap {
    uint64_t count;           /* of spheres that fly or that one that flies may meet */
    uint32_t *sphere;         /* [count] their numbers, ascending */
    float *center, *velocity; /* [3 * count] */
    float *motion;            /* [3 * count] velocity * time left: a lap lasts from 0 to 1 for all */
    float *radius;            /* [count] */
    uint64_t flying;          /* of these, with time left */
    uint32_t *flyer;          /* [flying] their places in this lap, ascending */
    int32_t *triangle;        /* [flying] the mesh's answers */
    float *t, *normal;        /* [flying], [3 * flying] */
    int32_t *query;           /* [count] the place among those that fly; -1: it does not */
    /* Sphere n meets the partners of records met[n] to met[n + 1], the first one first. */
    uint64_t *met;    /* [count + 1] */
    uint64_t room;    /* records that fit */
    int32_t *partner; /* [room] by its place in this lap */
    float *partner_t; /* [room] */
    /* A coarse grid. A cell is marked if the centre of a sphere in it may be within reach of one that flies. */
    uint8_t *mark; /* of each cell */
    uint64_t cells[3];
    float per_length, reach; /* cells per L; L, of the largest sphere */
};

int rain_lap_create(rain_lap *lap, const rain_world *world, uint64_t count);
void rain_lap_destroy(rain_lap *lap);
/* `left`: [spheres] time left. Returns how many spheres fly. */
uint64_t rain_lap_gather(rain_lap *lap, const rain_world *world, const rain_spheres *spheres, const float *left);
int rain_lap_ask(rain_lap *lap, const rain_world *world, rain_times *times);

#endif
