/* SPDX-License-Identifier: MIT */
/* Meshes that are not closed, or more than closed: holes, cracks, doubled faces, masks, sheets, triangles without
 * neighbours. Sign rule `robust` has a side for each. */
#ifndef CAROM_TESTS_SUPPORT_OPEN_SCENES_H
#define CAROM_TESTS_SUPPORT_OPEN_SCENES_H

#include "sign_scenes.h"

enum { OPEN_SCENES = 16, OPEN_BODIES = 8 /* the first have an inside */ };
extern const sign_scene open_scenes[OPEN_SCENES];

/* A box of whole numbers without its top: its opening, edges and corners are in planes of nodes. */
scene open_box(void);
/* A torus of which masks leave every seventh triangle out. */
scene open_masked(void);
/* A torus with 40 holes. */
scene open_torus(void);
/* A torus of triangles that do not quite meet. */
scene open_soup(void);

#endif
