/* SPDX-License-Identifier: MIT */
/* The left panel: the plane of the triangle from above. */
#include "explain_picture.h"

#include <math.h>
#include <stdio.h>

enum { POLYGON_MAX = 12 };

/* The triangle is drawn at least so large a part of the panel; spheres beyond are cut off. */
static const double SMALLEST_PART = 1.0 / 14.0;

typedef struct map {
    output *out;
    const explain_scene *scene;
    svg_box panel;
    double center[2], scale; /* the plane's point in the middle of the panel; pixels for each unit */
    int enlarged;            /* the spheres reach beyond the panel, or are not in it */
    svg_places places;
} map;

static svg_point pixel(const map *m, const double at[2])
{
    const svg_point middle = svg_middle(&m->panel);
    return (svg_point){middle.x + (at[0] - m->center[0]) * m->scale, middle.y - (at[1] - m->center[1]) * m->scale};
}

static int inside_panel(const map *m, svg_point at)
{
    const double border = 6.0;
    return at.x > m->panel.left + border && at.x < m->panel.right - border && at.y > m->panel.top + border &&
           at.y < m->panel.bottom - border;
}

/* ---- view ---------------------------------------------------------------------------------------------------------
 */

static void include(double low[2], double high[2], const double at[2], double margin)
{
    for (int k = 0; k < 2; k++) {
        low[k] = fmin(low[k], at[k] - margin);
        high[k] = fmax(high[k], at[k] + margin);
    }
}

/* Where the centre is at time 0, if that is nearly in the view. */
static void include_start(map *m, double low[2], double high[2])
{
    const double width = m->panel.right - m->panel.left, height = m->panel.bottom - m->panel.top, border = 1.1;
    double start[3];
    explain_scene_center(m->scene, 0.0, start);
    include(low, high, start, 0.0);
    const double all = fmax((high[0] - low[0]) / width, (high[1] - low[1]) / height) * border;
    if (!(1.0 / all >= 0.7 * m->scale))
        return;
    m->scale = fmin(m->scale, 1.0 / all);
    for (int k = 0; k < 2; k++)
        m->center[k] = 0.5 * (low[k] + high[k]);
}

/* Triangle and spheres, or the surroundings of a triangle that would be too small. */
static void set_view(map *m)
{
    const explain_scene *s = m->scene;
    const double width = m->panel.right - m->panel.left, height = m->panel.bottom - m->panel.top, border = 1.25;
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL}, size;
    for (int i = 0; i < 3; i++)
        include(low, high, s->corner[i], 0.0);
    size = fmax(high[0] - low[0], high[1] - low[1]);
    for (int k = 0; k < 2; k++)
        m->center[k] = 0.5 * (low[k] + high[k]);
    const double largest = size > 0.0 ? fmin(width, height) / (size * border) : HUGE_VAL;
    for (int i = 0; i < s->spheres; i++)
        include(low, high, s->sphere[i].center, s->radius);
    const double all = fmax((high[0] - low[0]) / width, (high[1] - low[1]) / height) * border;
    if (largest < HUGE_VAL && !(1.0 / all >= largest * SMALLEST_PART)) {
        m->scale = largest * SMALLEST_PART;
        m->enlarged = 1;
        return;
    }
    m->scale = all > 0.0 ? 1.0 / all : 0.25 * width;
    for (int k = 0; k < 2; k++)
        m->center[k] = 0.5 * (low[k] + high[k]);
    include_start(m, low, high);
}

/* ---- regions ------------------------------------------------------------------------------------------------------
 */

typedef struct polygon {
    svg_point corner[POLYGON_MAX];
    int count;
} polygon;

/* Keep what lies where (x - from) . direction >= 0, in the plane. */
static void cut(const map *m, polygon *p, const double from[2], double dx, double dy)
{
    const svg_point at = pixel(m, from);
    polygon kept = {.count = 0};
    for (int i = 0; i < p->count; i++) {
        const svg_point a = p->corner[i], b = p->corner[(i + 1) % p->count];
        const double left = (a.x - at.x) * dx - (a.y - at.y) * dy, right = (b.x - at.x) * dx - (b.y - at.y) * dy;
        if (left >= 0.0 && kept.count < POLYGON_MAX)
            kept.corner[kept.count++] = a;
        if ((left < 0.0) != (right < 0.0) && kept.count < POLYGON_MAX) {
            const double share = left / (left - right);
            kept.corner[kept.count++] = (svg_point){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
        }
    }
    *p = kept;
}

/* The region of a feature within the panel. A feature that a degenerate triangle lacks has none. */
static polygon region_of(const map *m, int feature)
{
    const explain_scene *s = m->scene;
    const svg_box *b = &m->panel;
    polygon p = {{{b->left, b->top}, {b->right, b->top}, {b->right, b->bottom}, {b->left, b->bottom}}, 4};
    double edge[3][2];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            edge[i][k] = s->corner[(i + 1) % 3][k] - s->corner[i][k];
    if (feature <= REF_V2) {
        const int i = feature - REF_V0, before = (i + 2) % 3;
        cut(m, &p, s->corner[i], -edge[i][0], -edge[i][1]);
        cut(m, &p, s->corner[i], edge[before][0], edge[before][1]);
    } else if (feature < REF_FACE) {
        const int i = feature - REF_E01;
        if (!s->triangle.length2[i].sign)
            return (polygon){.count = 0};
        cut(m, &p, s->corner[i], edge[i][0], edge[i][1]);
        cut(m, &p, s->corner[(i + 1) % 3], -edge[i][0], -edge[i][1]);
        if (s->dimensions == 2)
            cut(m, &p, s->corner[i], edge[i][1], -edge[i][0]);
    } else {
        p.count = s->dimensions == 2 ? 3 : 0;
        for (int i = 0; i < p.count; i++)
            p.corner[i] = pixel(m, s->corner[i]);
    }
    return p;
}

static double area_of(const polygon *p)
{
    double twice = 0.0;
    for (int i = 0; i < p->count; i++) {
        const svg_point a = p->corner[i], b = p->corner[(i + 1) % p->count];
        twice += a.x * b.y - a.y * b.x;
    }
    return 0.5 * fabs(twice);
}

/* The first feature that holds a point is drawn last, over the others. */
static void draw_regions(const map *m)
{
    for (int feature = REF_FACE; feature >= REF_V0; feature--) {
        const polygon p = region_of(m, feature);
        char style[32];
        if (area_of(&p) < 1.0)
            continue;
        snprintf(style, sizeof style, "class=\"area r%d\"", feature);
        svg_polygon(m->out, p.corner, p.count, style);
    }
}

static int holds(const polygon *p, const svg_box *box)
{
    const svg_point corners[4] = {
        {box->left, box->top}, {box->right, box->top}, {box->right, box->bottom}, {box->left, box->bottom}};
    for (int i = 0; i < 4; i++) {
        int sides = 0;
        for (int k = 0; k < p->count; k++) {
            const svg_point a = p->corner[k], b = p->corner[(k + 1) % p->count];
            const double side = (b.x - a.x) * (corners[i].y - a.y) - (b.y - a.y) * (corners[i].x - a.x);
            sides += side > 0.0 ? 1 : -1;
        }
        if (sides != p->count && sides != -p->count)
            return 0;
    }
    return 1;
}

/* Whether the box is in the region of an earlier feature, which has the same points of a degenerate triangle. */
static int is_earlier(const map *m, int feature, const svg_box *box)
{
    for (int earlier = REF_V0; earlier < feature && m->scene->dimensions < 2; earlier++) {
        const polygon p = region_of(m, earlier);
        if (p.count > 0 && holds(&p, box))
            return 1;
    }
    return 0;
}

/* The name of a region somewhere inside it, best in its middle. */
static void name_region(map *m, int feature)
{
    enum { STEPS = 9 };
    static const int outward[STEPS] = {4, 5, 3, 6, 2, 7, 1, 8, 0};
    const polygon p = region_of(m, feature);
    const char *const name = ref_region_name(feature);
    svg_box bounds = {HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    svg_point candidates[STEPS * STEPS];
    int count = 0;
    for (int i = 0; i < p.count; i++) {
        bounds.left = fmin(bounds.left, p.corner[i].x);
        bounds.right = fmax(bounds.right, p.corner[i].x);
        bounds.top = fmin(bounds.top, p.corner[i].y);
        bounds.bottom = fmax(bounds.bottom, p.corner[i].y);
    }
    for (int i = 0; i < STEPS * STEPS; i++) {
        const double x = (outward[i % STEPS] + 0.5) / STEPS, y = (outward[i / STEPS] + 0.5) / STEPS;
        const svg_point at = {bounds.left + x * (bounds.right - bounds.left),
                              bounds.top + y * (bounds.bottom - bounds.top)};
        const svg_box box = svg_text_box(name, PICTURE_FONT, at);
        if (holds(&p, &box) && !is_earlier(m, feature, &box))
            candidates[count++] = at;
    }
    svg_box box = svg_text_box(name, PICTURE_FONT, (svg_point){0.0, 0.0});
    if (count > 0 && svg_place(&m->places, &box, candidates, count))
        svg_text(m->out, (svg_point){svg_middle(&box).x, box.bottom - 3.0}, "middle", "class=\"region\"", name);
}

/* ---- line of centres ----------------------------------------------------------------------------------------------
 */

typedef struct path {
    double reference;    /* a time that the panel sees */
    double at[3];        /* the centre then */
    double begin, end;   /* relative to it: when the centre is in the panel */
    svg_point direction; /* unit, in pixels */
} path;

/* When the line is within the panel; 0 if it is seen as a point, or not at all. */
static int find_path(const map *m, path *p)
{
    const explain_scene *s = m->scene;
    p->reference = s->touches ? s->first : s->least_time;
    explain_scene_center(s, p->reference, p->at);
    const svg_point from = pixel(m, p->at);
    const double step[2] = {s->velocity[0] * m->scale, -s->velocity[1] * m->scale};
    const double speed = sqrt(step[0] * step[0] + step[1] * step[1]);
    const double low[2] = {m->panel.left, m->panel.top}, high[2] = {m->panel.right, m->panel.bottom};
    const double start[2] = {from.x, from.y};
    if (!s->moves || !(speed * (s->end - s->begin) > 2.0))
        return 0;
    p->begin = -HUGE_VAL;
    p->end = HUGE_VAL;
    for (int k = 0; k < 2; k++) {
        const double a = (low[k] - start[k]) / step[k], b = (high[k] - start[k]) / step[k];
        if (fabs(step[k]) < 1e-9 * speed) {
            if (start[k] < low[k] || start[k] > high[k])
                return 0;
            continue;
        }
        p->begin = fmax(p->begin, fmin(a, b));
        p->end = fmin(p->end, fmax(a, b));
    }
    p->direction = (svg_point){step[0] / speed, step[1] / speed};
    return p->begin < p->end;
}

static svg_point along(const map *m, const path *p, double time)
{
    const double at[2] = {p->at[0] + time * m->scene->velocity[0], p->at[1] + time * m->scene->velocity[1]};
    return pixel(m, at);
}

static void draw_arrow(const map *m, svg_point tip, svg_point d, int feature)
{
    const svg_point arrow[3] = {tip,
                                {tip.x - 11 * d.x - 5 * d.y, tip.y - 11 * d.y + 5 * d.x},
                                {tip.x - 11 * d.x + 5 * d.y, tip.y - 11 * d.y - 5 * d.x}};
    char style[32];
    snprintf(style, sizeof style, "class=\"d%d\"", feature);
    svg_polygon(m->out, arrow, 3, style);
}

/* The visible part of element i; 0 if there is none. */
static int visible_part(const map *m, const path *p, int i, double part[2])
{
    const ref_element_row *row = &m->scene->row[i];
    part[0] = fmax(row->begin - p->reference, p->begin);
    part[1] = fmin(row->end - p->reference, p->end);
    return part[0] < part[1];
}

static void draw_path(map *m, const path *p)
{
    double part[2];
    for (int i = 0; i < m->scene->partition->count; i++) {
        const int feature = m->scene->partition->element[i].feature;
        char style[32];
        if (!visible_part(m, p, i, part))
            continue;
        const svg_point from = along(m, p, part[0]), to = along(m, p, part[1]);
        snprintf(style, sizeof style, "class=\"piece s%d\"", feature);
        svg_line(m->out, from, to, style);
        svg_take_stroke(&m->places, from, to);
        if (part[0] > p->begin)
            svg_line(m->out, (svg_point){from.x - 6 * p->direction.y, from.y + 6 * p->direction.x},
                     (svg_point){from.x + 6 * p->direction.y, from.y - 6 * p->direction.x}, "class=\"tick\"");
        if (part[1] >= p->end)
            draw_arrow(m, to, p->direction, feature);
    }
}

static void draw_badges(map *m, const path *p)
{
    static const double shares[] = {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8};
    enum { SHARES = sizeof shares / sizeof shares[0] };
    double part[2];
    for (int i = 0; i < m->scene->partition->count; i++) {
        svg_point candidates[SHARES];
        if (!visible_part(m, p, i, part))
            continue;
        for (int k = 0; k < SHARES; k++)
            candidates[k] = along(m, p, part[0] + shares[k] * (part[1] - part[0]));
        svg_box box = {-PICTURE_BADGE, -PICTURE_BADGE, PICTURE_BADGE, PICTURE_BADGE};
        if (svg_place(&m->places, &box, candidates, SHARES) || svg_place_around(&m->places, &box, candidates[0], 5.0))
            explain_badge(m->out, svg_middle(&box), i, m->scene->partition->element[i].feature);
    }
}

/* ---- spheres, triangle, names -------------------------------------------------------------------------------------
 */

static void draw_spheres(map *m)
{
    const explain_scene *s = m->scene;
    for (int i = 0; i < s->spheres; i++) {
        const scene_sphere *sphere = &s->sphere[i];
        const svg_point at = pixel(m, sphere->center);
        const double cut2 = s->radius * s->radius - sphere->height * sphere->height;
        const double radius = s->radius * m->scale, cut_radius = cut2 > 0.0 ? sqrt(cut2) * m->scale : 0.0;
        if (radius > 0.0 && radius < 4e4) { /* beyond, its outline is no circle in a viewer's binary32 */
            svg_circle(m->out, at, radius, i == 0 ? "class=\"sphere first\"" : "class=\"sphere last\"");
            svg_take_disc(&m->places, at, radius);
        }
        if (cut_radius > 2.0 && cut_radius < radius - 0.5 && radius < 4e4)
            svg_circle(m->out, at, cut_radius, i == 0 ? "class=\"cut first\"" : "class=\"cut last\"");
    }
}

static void take_dot(map *m, svg_point at)
{
    const svg_box box = {at.x - 5.0, at.y - 5.0, at.x + 5.0, at.y + 5.0};
    svg_take(&m->places, &box);
}

/* Centres, contact points, and where the centre is at time 0. */
static void draw_dots(map *m)
{
    const explain_scene *s = m->scene;
    double start[3];
    explain_scene_center(s, 0.0, start);
    if (inside_panel(m, pixel(m, start))) {
        svg_circle(m->out, pixel(m, start), 4.0, "class=\"start\"");
        take_dot(m, pixel(m, start));
    }
    for (int i = 0; i < s->spheres; i++) {
        const scene_sphere *sphere = &s->sphere[i];
        const svg_point at = pixel(m, sphere->center), touch = pixel(m, sphere->closest);
        const char *const style = i == 0 ? "class=\"first\"" : "class=\"last\"";
        svg_line(m->out, at, touch, i == 0 ? "class=\"reach first\"" : "class=\"reach last\"");
        svg_take_stroke(&m->places, at, touch);
        svg_circle(m->out, at, 3.0, style);
        take_dot(m, at);
        if (s->touches) {
            svg_circle(m->out, touch, 4.5, "class=\"contact\"");
            take_dot(m, touch);
        }
    }
}

static void draw_word(map *m, const char *text, svg_point at, double distance, const char *style)
{
    svg_box box = svg_text_box(text, PICTURE_FONT, at);
    if (inside_panel(m, at) && svg_place_around(&m->places, &box, at, distance))
        svg_text(m->out, (svg_point){svg_middle(&box).x, box.bottom - 3.0}, "middle", style, text);
}

static void draw_words(map *m)
{
    const explain_scene *s = m->scene;
    double start[3], apart = HUGE_VAL;
    if (m->enlarged) {
        static const char *const text = "spheres reach beyond this view";
        const svg_box box =
            svg_text_box(text, PICTURE_FONT, (svg_point){svg_middle(&m->panel).x, m->panel.bottom - 12.0});
        svg_take(&m->places, &box);
        svg_text(m->out, (svg_point){svg_middle(&box).x, box.bottom - 3.0}, "middle", "class=\"region\"", text);
    }
    if (s->spheres == 2) {
        const svg_point a = pixel(m, s->sphere[0].center), b = pixel(m, s->sphere[1].center);
        apart = fmax(fabs(a.x - b.x), fabs(a.y - b.y));
    }
    for (int i = 0; i < s->spheres && !(i == 1 && apart < 3.0); i++)
        draw_word(m, apart < 3.0 ? "T0, T1" : s->sphere[i].label, pixel(m, s->sphere[i].center), 5.0,
                  i == 0 ? "class=\"name first\"" : "class=\"name last\"");
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, s->dimensions == 0 ? "P" : "P%d", i);
        if (s->dimensions > 0 || i == 0)
            draw_word(m, name, pixel(m, s->corner[i]), 4.0, "class=\"name\"");
    }
    explain_scene_center(s, 0.0, start);
    if (s->moves)
        draw_word(m, "t = 0", pixel(m, start), 5.0, "class=\"name\"");
    for (int feature = REF_V0; feature <= REF_FACE; feature++)
        name_region(m, feature);
}

static void draw_triangle(map *m)
{
    svg_point corner[3];
    for (int i = 0; i < 3; i++)
        corner[i] = pixel(m, m->scene->corner[i]);
    svg_polygon(m->out, corner, 3, "class=\"triangle\"");
    for (int i = 0; i < 3; i++) {
        svg_take_stroke(&m->places, corner[i], corner[(i + 1) % 3]);
        if (m->scene->dimensions < 2)
            svg_circle(m->out, corner[i], 3.0, "class=\"corner\"");
    }
}

void explain_map(output *out, const explain_scene *scene, const svg_box *panel)
{
    const svg_box room = {panel->left + 3.0, panel->top + 3.0, panel->right - 3.0, panel->bottom - 3.0};
    map m = {.out = out, .scene = scene, .panel = *panel, .places = {.room = room}};
    path p;
    set_view(&m);
    const int has_path = find_path(&m, &p);
    output_text(out, "<g clip-path=\"url(#map)\">\n");
    draw_regions(&m);
    draw_triangle(&m);
    draw_spheres(&m);
    if (has_path)
        draw_path(&m, &p);
    draw_dots(&m);
    if (has_path)
        draw_badges(&m, &p);
    output_text(out, "</g>\n");
    draw_words(&m);
    svg_rectangle(out, panel, "class=\"frame\"");
}
