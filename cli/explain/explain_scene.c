/* SPDX-License-Identifier: MIT */
#include "explain_scene.h"

#include "carom/carom.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- plane --------------------------------------------------------------------------------------------------------
 */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(double out[3], const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void rounded(double out[3], const ref_vec *v)
{
    for (int k = 0; k < 3; k++)
        out[k] = ref_dyadic_to_double(&v->c[k]);
}

static double largest(const double v[3])
{
    return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
}

/* Returns 0 for the zero vector, and leaves it. */
static int to_unit(double v[3])
{
    const double scale = largest(v);
    if (scale == 0.0)
        return 0;
    for (int k = 0; k < 3; k++)
        v[k] /= scale;
    const double length = sqrt(dot(v, v));
    for (int k = 0; k < 3; k++)
        v[k] /= length;
    return 1;
}

/* The part of `v` at right angles to the unit vector `axis`, as a unit vector; 0 if there is none to speak of. */
static int across(double out[3], const double v[3], const double axis[3])
{
    double from[3] = {v[0], v[1], v[2]};
    if (!to_unit(from))
        return 0;
    const double along = dot(from, axis);
    for (int k = 0; k < 3; k++)
        out[k] = from[k] - along * axis[k];
    return dot(out, out) > 1e-12 && to_unit(out);
}

static void any_across(double out[3], const double axis[3])
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int k = 0;
    while (fabs(axis[k]) > 0.7)
        k++;
    across(out, axes[k], axis);
}

/* The triangle's plane; for a segment the one through it along the motion, for a point the one through the line of
 * centres and the point. Where that leaves a choice, any will do. */
static void set_plane(explain_scene *s)
{
    double edge[3], side[3], motion[3], offset[3];
    int longest = 0;
    rounded(motion, &s->motion);
    rounded(offset, &s->triangle.p[0]);
    for (int i = 1; i < 3; i++)
        if (ref_dyadic_cmp(&s->triangle.length2[i], &s->triangle.length2[longest]) > 0)
            longest = i;
    s->dimensions = s->triangle.normal2.sign ? 2 : s->triangle.length2[longest].sign ? 1 : 0;
    rounded(edge, &s->triangle.edge[s->dimensions == 2 ? 0 : longest]);
    if (!to_unit(edge)) {
        memcpy(edge, motion, sizeof edge);
        if (!to_unit(edge)) {
            memcpy(edge, offset, sizeof edge);
            if (!to_unit(edge))
                edge[0] = 1.0;
        }
    }
    memcpy(s->axis[0], edge, sizeof edge);
    if (s->dimensions == 2) {
        rounded(s->axis[2], &s->triangle.normal);
        to_unit(s->axis[2]);
        cross(s->axis[1], s->axis[2], s->axis[0]);
    } else {
        if (!across(side, motion, edge) && !across(side, offset, edge))
            any_across(side, edge);
        memcpy(s->axis[1], side, sizeof side);
        cross(s->axis[2], s->axis[0], s->axis[1]);
    }
}

static void set_corners(explain_scene *s)
{
    double size = 0.0, from[3], motion[3];
    int exponent;
    for (int i = 0; i < 3; i++) {
        rounded(from, &s->triangle.edge[i]);
        size = fmax(size, largest(from));
    }
    size = size > 0.0 ? size : s->radius > 0.0 ? s->radius : 1.0;
    frexp(size, &exponent);
    s->unit = ldexp(1.0, exponent - 1);
    s->radius /= s->unit;
    rounded(motion, &s->motion);
    for (int i = 0; i < 3; i++) {
        ref_vec side;
        ref_vec_sub(&side, &s->triangle.p[i], &s->triangle.p[0]);
        rounded(from, &side);
        for (int k = 0; k < 2; k++)
            s->corner[i][k] = dot(from, s->axis[k]) / s->unit;
    }
    for (int k = 0; k < 2; k++)
        s->velocity[k] = dot(motion, s->axis[k]) / s->unit;
}

void explain_scene_center(const explain_scene *s, double t, double out[3])
{
    ref_dyadic time;
    ref_vec at;
    double from[3];
    ref_dyadic_from_double(&time, t);
    ref_vec_scale(&at, &s->motion, &time);
    ref_vec_sub(&at, &at, &s->triangle.p[0]);
    rounded(from, &at);
    for (int k = 0; k < 3; k++)
        out[k] = dot(from, s->axis[k]) / s->unit;
}

/* ---- time ---------------------------------------------------------------------------------------------------------
 */

/* F is convex: it is least where the first element ends rising or turns. */
static void find_least(explain_scene *s)
{
    const ref_element_row *row = s->row;
    s->least_time = 0.0;
    for (int i = 0; i < s->partition->count && s->moves; i++, row++) {
        const double turn = row->f[2] > 0.0 ? -row->f[1] / row->f[2] : 0.5 * (row->begin + row->end);
        if (turn <= row->end || i + 1 == s->partition->count) {
            s->least_time = fmax(turn, row->begin);
            break;
        }
    }
    if (!isfinite(s->least_time))
        s->least_time = 0.0;
    s->least = ref_partition_value(s->partition, s->least_time);
}

/* How long the centre takes for the triangle's size. */
static double crossing_time(const explain_scene *s)
{
    double motion[3], size = 0.0;
    rounded(motion, &s->motion);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            size = fmax(size, fabs(s->corner[i][k] - s->corner[(i + 1) % 3][k]));
    size = size > 0.0 ? size : s->radius > 0.0 ? s->radius : 1.0;
    return size * (s->unit / largest(motion));
}

static void include_time(explain_scene *s, double t, double reach, double margin)
{
    if (!(t >= s->begin - reach && t <= s->end + reach))
        return;
    s->begin = fmin(s->begin, t - margin);
    s->end = fmax(s->end, t + margin);
}

/* The contact, or the closest approach; then the ends of elements and time 0 that are not far from it. */
static void set_window(explain_scene *s)
{
    if (!s->moves) {
        s->begin = -1.0;
        s->end = 1.0;
        return;
    }
    s->begin = s->touches ? s->first : s->least_time;
    s->end = s->touches ? s->last : s->least_time;
    const double crossing = crossing_time(s), length = s->end - s->begin;
    const double pad = length > 0.0 ? 0.3 * length : 0.8 * crossing;
    s->begin -= pad;
    s->end += pad;
    const double whole = s->end - s->begin, begin = s->begin, end = s->end;
    for (int i = 1; i < s->partition->count; i++) {
        const double t = s->row[i].begin;
        if (t >= begin - whole && t <= end + whole)
            include_time(s, t, HUGE_VAL, 0.12 * whole);
    }
    include_time(s, 0.0, 0.5 * whole, 0.05 * whole);
    /* Times that binary64 can tell apart. */
    const double least = 0x1p-40 * fmax(fabs(s->begin), fabs(s->end));
    if (s->end - s->begin < least) {
        s->begin -= least;
        s->end += least;
    }
}

static void set_digits(explain_scene *s)
{
    double ratio = fmax(fabs(s->begin), fabs(s->end)) / (s->end - s->begin);
    for (s->digits = 5; ratio > 10.0 && s->digits < 15; s->digits++)
        ratio /= 10.0;
}

/* ---- spheres ------------------------------------------------------------------------------------------------------
 */

static void closest_point(const explain_scene *s, const double center[2], int feature, double out[2])
{
    const int i = feature <= REF_V2 ? feature - REF_V0 : feature < REF_FACE ? feature - REF_E01 : 0;
    const double *from = s->corner[i], *to = s->corner[(i + 1) % 3];
    double along = 0.0, length2 = 0.0;
    for (int k = 0; k < 2; k++) {
        out[k] = feature == REF_FACE ? center[k] : from[k];
        along += (center[k] - from[k]) * (to[k] - from[k]);
        length2 += (to[k] - from[k]) * (to[k] - from[k]);
    }
    if (feature < REF_E01 || feature > REF_E20 || length2 == 0.0)
        return;
    const double share = fmin(fmax(along / length2, 0.0), 1.0);
    for (int k = 0; k < 2; k++)
        out[k] += share * (to[k] - from[k]);
}

static int feature_at(const explain_scene *s, double t)
{
    int i = 0;
    while (i + 1 < s->partition->count && s->row[i].end < t)
        i++;
    return s->partition->element[i].feature;
}

static void add_sphere(explain_scene *s, double time, const char *label)
{
    scene_sphere *sphere = &s->sphere[s->spheres++];
    double at[3];
    explain_scene_center(s, time, at);
    sphere->time = time;
    memcpy(sphere->center, at, sizeof sphere->center);
    sphere->height = fabs(at[2]);
    closest_point(s, at, feature_at(s, time), sphere->closest);
    snprintf(sphere->label, sizeof sphere->label, "%s", label);
}

static void set_spheres(explain_scene *s)
{
    s->spheres = 0;
    if (!s->touches) {
        add_sphere(s, s->least_time, s->moves ? "closest" : "at rest");
    } else if (s->first == s->last) {
        add_sphere(s, s->first, "T0 = T1");
    } else {
        add_sphere(s, s->first, "T0");
        add_sphere(s, s->last, "T1");
    }
}

static void set_title(explain_scene *s, uint64_t row, const ref_sweep_answer *a)
{
    size_t used = (size_t)snprintf(s->title, sizeof s->title, "Row %llu: %s", (unsigned long long)row,
                                   carom_state_name((carom_state)a->state));
    if (s->touches)
        snprintf(s->title + used, sizeof s->title - used, ", T0 = %.*g at %s, T1 = %.*g at %s", s->digits + 1, s->first,
                 carom_feature_name((carom_feature)a->feature_first), s->digits + 1, s->last,
                 carom_feature_name((carom_feature)a->feature_last));
    else if (s->moves)
        snprintf(s->title + used, sizeof s->title - used, ", the least F is %.6g, at t = %.*g", s->least, s->digits + 1,
                 s->least_time);
    else
        snprintf(s->title + used, sizeof s->title - used, ", no relative motion, F = %.6g", s->least);
}

void explain_scene_set(explain_scene *s, uint64_t row, const ref_sweep_case *c, const ref_partition *partition)
{
    ref_sweep_answer answer;
    memset(s, 0, sizeof *s);
    s->partition = partition;
    s->radius = fabs(c->radius);
    ref_triangle_set(&s->triangle, c);
    ref_sweep_motion(&s->motion, c);
    for (int i = 0; i < partition->count; i++)
        ref_element_row_set(&s->row[i], &partition->element[i]);
    ref_sweep(c, &answer);
    s->moves = !ref_vec_is_zero(&s->motion);
    s->first = answer.t_first_near;
    s->last = answer.t_last_near;
    s->touches = isfinite(s->first) && isfinite(s->last);
    set_plane(s);
    set_corners(s);
    find_least(s);
    set_window(s);
    set_digits(s);
    set_spheres(s);
    set_title(s, row, &answer);
}
