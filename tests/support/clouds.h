/* SPDX-License-Identifier: MIT */
/* Clouds of few spheres, of every family that is hard for cells or for a solver. */
#ifndef CAROM_TESTS_SUPPORT_CLOUDS_H
#define CAROM_TESTS_SUPPORT_CLOUDS_H

#include "support.h"

enum { CLOUD_FAMILIES = 15, CLOUD_MOST = 64 /* spheres */ };

typedef struct cloud {
    size_t count;
    float *center, *velocity, *radius, *t_max;
    uint32_t *mask, *group; /* group: NULL unless add_groups() was called */
    carom_cloud_desc desc;
} cloud;

/* Spheres without masks; all numbers are 0. */
cloud cloud_alloc(size_t count);
/* Family and options follow from the number. */
cloud make_cloud(size_t number, int exact);
void cloud_free(cloud *c);
/* Gives the spheres groups of their own, beside masks or without. */
void add_groups(cloud *c, size_t number);
const char *cloud_family(size_t number);
float between(ref_gen *g, double low, double high);

#endif
