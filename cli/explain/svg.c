/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- shapes -------------------------------------------------------------------------------------------------------
 */

/* Viewers hold coordinates in binary32, so what is far outside the picture stays near it. */
static double near_picture(double value)
{
    const double limit = 1e5;
    return value > limit ? limit : value > -limit ? value : -limit; /* NaN too becomes a number */
}

void svg_number(output *out, double value)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.2f", near_picture(value));
    while (text[length - 1] == '0')
        length--;
    length -= text[length - 1] == '.';
    text[length] = '\0';
    output_text(out, strcmp(text, "-0") ? text : "0");
}

static void write_attribute(output *out, const char *name, double value)
{
    output_format(out, " %s=\"", name);
    svg_number(out, value);
    output_char(out, '"');
}

static void end_shape(output *out, const char *style)
{
    output_format(out, " %s/>\n", style);
}

void svg_line(output *out, svg_point from, svg_point to, const char *style)
{
    output_text(out, "<line");
    write_attribute(out, "x1", from.x);
    write_attribute(out, "y1", from.y);
    write_attribute(out, "x2", to.x);
    write_attribute(out, "y2", to.y);
    end_shape(out, style);
}

void svg_circle(output *out, svg_point center, double radius, const char *style)
{
    output_text(out, "<circle");
    write_attribute(out, "cx", center.x);
    write_attribute(out, "cy", center.y);
    write_attribute(out, "r", radius);
    end_shape(out, style);
}

void svg_rectangle(output *out, const svg_box *box, const char *style)
{
    output_text(out, "<rect");
    write_attribute(out, "x", box->left);
    write_attribute(out, "y", box->top);
    write_attribute(out, "width", box->right - box->left);
    write_attribute(out, "height", box->bottom - box->top);
    end_shape(out, style);
}

void svg_polygon(output *out, const svg_point *corners, int count, const char *style)
{
    output_text(out, "<polygon points=\"");
    for (int i = 0; i < count; i++) {
        output_text(out, i > 0 ? " " : "");
        svg_number(out, corners[i].x);
        output_char(out, ',');
        svg_number(out, corners[i].y);
    }
    output_char(out, '"');
    end_shape(out, style);
}

void svg_text(output *out, svg_point at, const char *anchor, const char *style, const char *text)
{
    output_text(out, "<text");
    write_attribute(out, "x", at.x);
    write_attribute(out, "y", at.y);
    output_format(out, " text-anchor=\"%s\" %s>%s</text>\n", anchor, style, text);
}

/* ---- places -------------------------------------------------------------------------------------------------------
 */

svg_point svg_middle(const svg_box *box)
{
    return (svg_point){0.5 * (box->left + box->right), 0.5 * (box->top + box->bottom)};
}

/* Letters of the fonts that the documents name are at most so wide on average. */
svg_box svg_text_box(const char *text, double size, svg_point at)
{
    const double width = 0.64 * size * (double)strlen(text), height = 1.15 * size;
    return (svg_box){at.x - 0.5 * width, at.y - 0.5 * height, at.x + 0.5 * width, at.y + 0.5 * height};
}

void svg_take(svg_places *places, const svg_box *box)
{
    if (places->taken_count < SVG_TAKEN_MAX)
        places->taken[places->taken_count++] = *box;
}

void svg_take_stroke(svg_places *places, svg_point from, svg_point to)
{
    if (places->stroke_count < SVG_STROKES_MAX)
        places->stroke[places->stroke_count++] = (svg_stroke){from, to};
}

void svg_take_disc(svg_places *places, svg_point center, double radius)
{
    if (places->disc_count < SVG_DISCS_MAX)
        places->disc[places->disc_count++] = (svg_disc){center, radius};
}

static int boxes_meet(const svg_box *a, const svg_box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* Keep the part of 0..1 in which from + part * step is within low..high. */
static int clip_part(double from, double step, double low, double high, double *first, double *last)
{
    if (step == 0.0)
        return from >= low && from <= high;
    const double a = (low - from) / step, b = (high - from) / step;
    *first = fmax(*first, fmin(a, b));
    *last = fmin(*last, fmax(a, b));
    return *first <= *last;
}

static int stroke_meets(const svg_stroke *s, const svg_box *b)
{
    double first = 0.0, last = 1.0;
    return clip_part(s->from.x, s->to.x - s->from.x, b->left, b->right, &first, &last) &&
           clip_part(s->from.y, s->to.y - s->from.y, b->top, b->bottom, &first, &last);
}

static int disc_meets(const svg_disc *d, const svg_box *b)
{
    const double x = d->center.x - fmin(fmax(d->center.x, b->left), b->right);
    const double y = d->center.y - fmin(fmax(d->center.y, b->top), b->bottom);
    return x * x + y * y < d->radius * d->radius;
}

static svg_box moved_to(const svg_box *box, svg_point middle)
{
    const double w = 0.5 * (box->right - box->left), h = 0.5 * (box->bottom - box->top);
    return (svg_box){middle.x - w, middle.y - h, middle.x + w, middle.y + h};
}

/* How many strokes and discs the box meets; -1: it covers a label or leaves the room. */
static int things_met(const svg_places *p, const svg_box *box)
{
    int met = 0;
    if (box->left < p->room.left || box->right > p->room.right || box->top < p->room.top ||
        box->bottom > p->room.bottom)
        return -1;
    for (int i = 0; i < p->taken_count; i++)
        if (boxes_meet(box, &p->taken[i]))
            return -1;
    for (int i = 0; i < p->stroke_count; i++)
        met += stroke_meets(&p->stroke[i], box);
    for (int i = 0; i < p->disc_count; i++)
        met += disc_meets(&p->disc[i], box);
    return met;
}

int svg_place(svg_places *places, svg_box *box, const svg_point *candidates, int count)
{
    svg_box best = *box;
    int least = -1;
    for (int i = 0; i < count && least != 0; i++) {
        const svg_box here = moved_to(box, candidates[i]);
        const int met = things_met(places, &here);
        if (met >= 0 && (least < 0 || met < least)) {
            least = met;
            best = here;
        }
    }
    if (least < 0)
        return 0;
    *box = best;
    svg_take(places, box);
    return 1;
}

int svg_place_around(svg_places *places, svg_box *box, svg_point at, double distance)
{
    enum { RINGS = 4, WAYS = 8 };
    static const svg_point way[WAYS] = {{0.7, -0.7}, {-0.7, -0.7}, {0.7, 0.7}, {-0.7, 0.7},
                                        {0, -1},     {1, 0},       {-1, 0},    {0, 1}};
    const double w = 0.5 * (box->right - box->left), h = 0.5 * (box->bottom - box->top);
    svg_point candidates[RINGS * WAYS];
    for (int i = 0; i < RINGS * WAYS; i++) {
        const svg_point to = way[i % WAYS];
        const double ring = distance + 7.0 * (i / WAYS);
        candidates[i] = (svg_point){at.x + to.x * ring + w * ((to.x > 0.0) - (to.x < 0.0)),
                                    at.y + to.y * ring + h * ((to.y > 0.0) - (to.y < 0.0))};
    }
    return svg_place(places, box, candidates, RINGS * WAYS);
}
