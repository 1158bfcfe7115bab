/* SPDX-License-Identifier: MIT */
/* The right panel: F(t), which is convex and one parabola in each element. */
#include "explain_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct plot {
    output *out;
    const explain_scene *scene;
    svg_box panel;
    double low, high; /* of F */
    svg_places below; /* labels of times */
} plot;

static double x_of(const plot *p, double t)
{
    const explain_scene *s = p->scene;
    return p->panel.left + (t - s->begin) / (s->end - s->begin) * (p->panel.right - p->panel.left);
}

static double y_of(const plot *p, double f)
{
    return p->panel.bottom - (f - p->low) / (p->high - p->low) * (p->panel.bottom - p->panel.top);
}

static double value(const plot *p, double t)
{
    return ref_partition_value(p->scene->partition, t);
}

/* Zero and the least value, and above them as much as the window holds; little of it where that would flatten the
 * contact. */
static void set_range(plot *p)
{
    const explain_scene *s = p->scene;
    const double most = fmax(value(p, s->begin), value(p, s->end));
    p->low = fmin(s->least, 0.0);
    p->high = fmax(most, 0.0);
    if (p->low < 0.0)
        p->high = fmin(p->high, -4.0 * p->low);
    if (!(p->high - p->low > 1e-300 && p->high - p->low < 1e300)) { /* one value, or no decimal steps */
        p->low = fmax(p->low, -1e300) - 1.0;
        p->high = p->low + 2.0;
    }
    const double height = p->high - p->low;
    p->low -= 0.08 * height;
    p->high += 0.05 * height;
}

/* ---- elements -----------------------------------------------------------------------------------------------------
 */

/* The part of element i in the window, in pixels; 0 if there is none. */
static int span_of(const plot *p, int i, double span[2])
{
    const ref_element_row *row = &p->scene->row[i];
    span[0] = x_of(p, fmax(row->begin, p->scene->begin));
    span[1] = x_of(p, fmin(row->end, p->scene->end));
    return span[1] - span[0] > 0.3;
}

static void draw_bands(const plot *p)
{
    char style[32];
    double span[2];
    for (int i = 0; i < p->scene->partition->count; i++) {
        if (!span_of(p, i, span))
            continue;
        const svg_box band = {span[0], p->panel.top, span[1], p->panel.bottom};
        snprintf(style, sizeof style, "class=\"r%d\"", p->scene->partition->element[i].feature);
        svg_rectangle(p->out, &band, style);
    }
    for (int i = 1; i < p->scene->partition->count; i++) {
        const double t = p->scene->row[i].begin;
        if (t > p->scene->begin && t < p->scene->end)
            svg_line(p->out, (svg_point){x_of(p, t), p->panel.top}, (svg_point){x_of(p, t), p->panel.bottom},
                     "class=\"border\"");
    }
}

/* Badge and region above each band that has the room, the badge alone where only that fits. */
static void name_bands(const plot *p)
{
    double span[2];
    for (int i = 0; i < p->scene->partition->count; i++) {
        const ref_element_row *row = &p->scene->row[i];
        const int feature = p->scene->partition->element[i].feature;
        char style[32];
        if (!span_of(p, i, span))
            continue;
        const double word = svg_text_box(row->region, PICTURE_FONT, (svg_point){0, 0}).right * 2.0;
        const double middle = 0.5 * (span[0] + span[1]), width = span[1] - span[0], y = p->panel.top - 14.0;
        snprintf(style, sizeof style, "class=\"name d%d\"", feature);
        if (width >= 2.0 * PICTURE_BADGE + word + 6.0) {
            explain_badge(p->out, (svg_point){middle - 0.5 * word - 2.0, y}, i, feature);
            svg_text(p->out, (svg_point){middle + PICTURE_BADGE + 2.0, y + 4.0}, "middle", style, row->region);
        } else if (width >= 2.0 * PICTURE_BADGE + 1.0) {
            explain_badge(p->out, (svg_point){middle, y}, i, feature);
        }
    }
}

/* ---- curve --------------------------------------------------------------------------------------------------------
 */

/* A parabola is a quadratic Bezier curve, whose middle is half of its middle control point and a quarter of each end.
 */
static void draw_curve(const plot *p)
{
    const explain_scene *s = p->scene;
    output_text(p->out, "<path class=\"curve\" d=\"");
    int begun = 0;
    for (int i = 0; i < s->partition->count; i++) {
        const double a = fmax(s->row[i].begin, s->begin), b = fmin(s->row[i].end, s->end);
        if (!(a < b))
            continue;
        const double middle = a + 0.5 * (b - a), y0 = y_of(p, value(p, a)), y1 = y_of(p, value(p, b));
        const double control = 2.0 * y_of(p, value(p, middle)) - 0.5 * (y0 + y1);
        const double numbers[6] = {x_of(p, a), y0, x_of(p, middle), control, x_of(p, b), y1};
        for (int k = begun ? 2 : 0; k < 6; k++) {
            output_text(p->out, k == 0 ? "M" : k == 2 ? " Q" : " ");
            svg_number(p->out, numbers[k]);
        }
        begun = 1;
    }
    output_text(p->out, "\"/>\n");
}

/* ---- axes ---------------------------------------------------------------------------------------------------------
 */

/* Round values at which about five lines cross the range; each is read from its decimal digits. */
static void draw_levels(const plot *p)
{
    static const int steps[] = {1, 2, 5, 10};
    char text[48];
    int exponent, k = 0;
    snprintf(text, sizeof text, "%.0e", (p->high - p->low) / 5.0);
    sscanf(text, "%*[^e]e%d", &exponent);
    snprintf(text, sizeof text, "1e%d", exponent);
    const double power = strtod(text, NULL);
    while (k < 3 && steps[k] * power < (p->high - p->low) / 6.0)
        k++;
    const double step = steps[k] * power;
    for (int i = (int)ceil(p->low / step); i * step <= p->high; i++) {
        snprintf(text, sizeof text, "%de%d", i * steps[k], exponent);
        const double level = strtod(text, NULL), y = y_of(p, level);
        snprintf(text, sizeof text, "%.6g", level);
        svg_line(p->out, (svg_point){p->panel.left, y}, (svg_point){p->panel.right, y},
                 i == 0 ? "class=\"zero\"" : "class=\"level\"");
        svg_text(p->out, (svg_point){p->panel.left - 5.0, y + 4.0}, "end", "class=\"small\"", text);
    }
}

/* A time below the plot, in the first line that has room. */
static void name_time(plot *p, const char *what, double t, const char *style)
{
    enum { ROWS = 3 };
    char text[64];
    svg_point candidates[ROWS];
    snprintf(text, sizeof text, "%s%.*g", what, p->scene->digits, t);
    svg_box box = svg_text_box(text, PICTURE_FONT - 1, (svg_point){0, 0});
    const double half = 0.5 * (box.right - box.left);
    const double x = fmin(fmax(x_of(p, t), p->below.room.left + half), p->below.room.right - half);
    for (int i = 0; i < ROWS; i++)
        candidates[i] = (svg_point){x, p->panel.bottom + 12.0 + 14.0 * i};
    if (svg_place(&p->below, &box, candidates, ROWS))
        svg_text(p->out, (svg_point){x, box.bottom - 3.0}, "middle", style, text);
}

static void draw_roots(const plot *p)
{
    const explain_scene *s = p->scene;
    for (int i = 0; i < s->spheres; i++) {
        const double x = x_of(p, s->sphere[i].time);
        const char *const style = i == 0 ? "class=\"root first\"" : "class=\"root last\"";
        if (!s->moves)
            continue;
        svg_line(p->out, (svg_point){x, y_of(p, s->touches ? 0.0 : s->least)}, (svg_point){x, p->panel.bottom},
                 i == 0 ? "class=\"reach first\"" : "class=\"reach last\"");
        svg_circle(p->out, (svg_point){x, y_of(p, s->touches ? 0.0 : s->least)}, 4.5, style);
    }
}

static int same_place(const plot *p, double t, double other)
{
    return fabs(x_of(p, t) - x_of(p, other)) < 0.7;
}

/* The time of a sphere, which has its label. */
static int is_named(const plot *p, double t)
{
    int named = 0;
    for (int i = 0; i < p->scene->spheres; i++)
        named |= same_place(p, t, p->scene->sphere[i].time);
    return named;
}

/* The beginning of an element that needs a label of its own. */
static int needs_name(const plot *p, int i)
{
    const explain_scene *s = p->scene;
    const double t = s->row[i].begin;
    return t > s->begin && t < s->end && !is_named(p, t) && !same_place(p, t, 0.0) &&
           !(i > 1 && same_place(p, t, s->row[i - 1].begin));
}

static void name_times(plot *p)
{
    const explain_scene *s = p->scene;
    char what[24];
    for (int i = 0; i < s->spheres && s->moves; i++) {
        snprintf(what, sizeof what, "%s = ", s->touches ? s->sphere[i].label : "least at t");
        name_time(p, what, s->sphere[i].time, i == 0 ? "class=\"small first\"" : "class=\"small last\"");
    }
    for (int i = 1; i < s->partition->count; i++)
        if (needs_name(p, i))
            name_time(p, "", s->row[i].begin, "class=\"small\"");
    if (s->moves && s->begin < 0.0 && s->end > 0.0 && !is_named(p, 0.0))
        name_time(p, "t = ", 0.0, "class=\"small\"");
}

void explain_plot(output *out, const explain_scene *scene, const svg_box *panel)
{
    plot p = {.out = out,
              .scene = scene,
              .panel = *panel,
              .below = {.room = {panel->left - 40.0, panel->bottom, panel->right + 14.0, panel->bottom + 50.0}}};
    set_range(&p);
    output_text(out, "<g clip-path=\"url(#plot)\">\n");
    draw_bands(&p);
    output_text(out, "</g>\n");
    draw_levels(&p);
    if (scene->moves && scene->begin < 0.0 && scene->end > 0.0)
        svg_line(out, (svg_point){x_of(&p, 0.0), panel->bottom}, (svg_point){x_of(&p, 0.0), panel->bottom - 6.0},
                 "class=\"tick\"");
    output_text(out, "<g clip-path=\"url(#plot)\">\n");
    draw_curve(&p);
    output_text(out, "</g>\n");
    draw_roots(&p);
    name_bands(&p);
    name_times(&p);
    svg_rectangle(out, panel, "class=\"frame\"");
}
