/* SPDX-License-Identifier: MIT */
/* The two panels of the picture of a sweep. Classes of their shapes are explained in explain_svg.c. */
#ifndef CAROM_CLI_EXPLAIN_EXPLAIN_PICTURE_H
#define CAROM_CLI_EXPLAIN_EXPLAIN_PICTURE_H

#include "explain_scene.h"
#include "svg.h"

enum { PICTURE_FONT = 12, PICTURE_BADGE = 9 }; /* size of the letters, radius of a badge: pixels */

/* The plane with regions, triangle, line of centres and spheres. */
void explain_map(output *out, const explain_scene *scene, const svg_box *panel);
/* F(t) with elements and roots. */
void explain_plot(output *out, const explain_scene *scene, const svg_box *panel);

/* The number of an element, which both panels show. */
void explain_badge(output *out, svg_point at, int element, int feature);

#endif
