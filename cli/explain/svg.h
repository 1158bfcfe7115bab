/* SPDX-License-Identifier: MIT */
/* Shapes and words of an SVG document, and places for words where they cover nothing. Pixels; y goes down. */
#ifndef CAROM_CLI_EXPLAIN_SVG_H
#define CAROM_CLI_EXPLAIN_SVG_H

#include "cli/base/output.h"

typedef struct svg_point {
    double x, y;
} svg_point;

typedef struct svg_box {
    double left, top, right, bottom;
} svg_box;

/* `style` is a list of attributes, such as class="thin". Coordinates have two decimals, so the bytes are the same on
 * every machine. */
void svg_line(output *out, svg_point from, svg_point to, const char *style);
void svg_circle(output *out, svg_point center, double radius, const char *style);
void svg_rectangle(output *out, const svg_box *box, const char *style);
void svg_polygon(output *out, const svg_point *corners, int count, const char *style);
/* A word in the middle of `at`; "start" and "end" let it begin or end there. No character needs an escape. */
void svg_text(output *out, svg_point at, const char *anchor, const char *style, const char *text);
/* One number behind a space or a comma. */
void svg_number(output *out, double value);

/* ---- places -------------------------------------------------------------------------------------------------------
 */

enum { SVG_TAKEN_MAX = 96, SVG_STROKES_MAX = 32, SVG_DISCS_MAX = 4 };

typedef struct svg_stroke {
    svg_point from, to;
} svg_stroke;

typedef struct svg_disc {
    svg_point center;
    double radius;
} svg_disc;

/* What a new label has to keep off: others always, strokes and discs if it can. */
typedef struct svg_places {
    svg_box room;
    svg_box taken[SVG_TAKEN_MAX];
    int taken_count;
    svg_stroke stroke[SVG_STROKES_MAX];
    int stroke_count;
    svg_disc disc[SVG_DISCS_MAX];
    int disc_count;
} svg_places;

void svg_take(svg_places *places, const svg_box *box);
void svg_take_stroke(svg_places *places, svg_point from, svg_point to);
void svg_take_disc(svg_places *places, svg_point center, double radius);
/* The box of a word of that font size around `at`. */
svg_box svg_text_box(const char *text, double size, svg_point at);
/* The best of the candidates for a box of the size of `box`: the box's middle moves to it, and what it covers is taken.
 * Earlier candidates win. Returns 0, and takes nothing, if each covers a label or leaves the room. */
int svg_place(svg_places *places, svg_box *box, const svg_point *candidates, int count);
/* Around a point: as before, with candidates on rings from `distance` on. */
int svg_place_around(svg_places *places, svg_box *box, svg_point at, double distance);

svg_point svg_middle(const svg_box *box);

#endif
