/* SPDX-License-Identifier: MIT */
/* Meshes for drop maps, most of them in the cube of half side 1. */
#ifndef CAROM_TESTS_SUPPORT_DROP_SCENES_H
#define CAROM_TESTS_SUPPORT_DROP_SCENES_H
#include "scenes.h"

typedef struct drop_scene {
    const char *name;
    scene (*make)(void);
} drop_scene;

enum { DROP_SCENES = 17, DROP_CROWDS = 7 };
extern const drop_scene drop_scenes[DROP_SCENES];
/* Many triangles for a column. */
extern const drop_scene drop_crowds[DROP_CROWDS];

scene drop_scene_level(void);
scene drop_scene_boxes(void);
scene drop_scene_torus(void);
scene drop_scene_unwelded(void);
#endif
