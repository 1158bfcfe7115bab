/* SPDX-License-Identifier: MIT */
/* Options of mesh queries, and meshes and spheres with which each option filters out some hits and keeps others. */
#ifndef CAROM_TESTS_SUPPORT_OPTION_SETS_H
#define CAROM_TESTS_SUPPORT_OPTION_SETS_H

#include "exact_scenes.h"

/* The options of a query. */
typedef struct option_set {
    const char *name;
    int triangle_masks, sphere_masks, cull_back;
    carom_start start;
} option_set;

enum { OPTION_SETS = 7, MASK_SETS = 3 }; /* the first few have only masks */
extern const option_set option_sets[OPTION_SETS];

typedef struct option_setting {
    scene s;
    swept_spheres b;
    char name[64];
} option_setting;

/* A mesh of this kind and `count` spheres (fewer with less test effort). Some spheres have a finite window. */
option_setting option_setting_make(uint64_t seed, size_t kind, const option_set *o, size_t triangles, size_t count);
void option_setting_free(option_setting *t);

/* A cmocka test of `check` with set i, or with each. */
#define ON_OPTION_SET(check, i)                                       \
    {                                                                 \
#check, check, NULL, NULL, (void *)(uintptr_t)&option_sets[i] \
    }
#define ON_EACH_OPTION_SET(check)                                                                       \
    ON_OPTION_SET(check, 0), ON_OPTION_SET(check, 1), ON_OPTION_SET(check, 2), ON_OPTION_SET(check, 3), \
        ON_OPTION_SET(check, 4), ON_OPTION_SET(check, 5), ON_OPTION_SET(check, 6)

#endif
