/* SPDX-License-Identifier: MIT */
/* The regions change only where a linear function of time is zero: a border. Between two borders every sign is fixed,
 * and the signs alone decide which features hold the closest point. */
#include "partition.h"

#include <math.h>

/* axis . (t V' - corner) = slope t - bound */
struct border {
    ref_dyadic slope, bound;
    int place; /* of its zero among the times of all borders; -1: it has none */
};

/* border[i]: along edge i from its first corner; border[3 + i]: from its last; border[6 + i]: from edge i into the
 * face. A degenerate triangle has zeros for what it lacks. */
struct borders {
    struct border border[REF_BORDERS];
    int count; /* times, in order, each once */
    ref_root time[REF_BORDERS];
};

static void set_borders(struct borders *out, const ref_triangle *triangle, const ref_vec *motion)
{
    ref_vec inward;

    for (int i = 0; i < 3; i++) {
        const ref_vec *edge = &triangle->edge[i];
        ref_vec_dot(&out->border[i].slope, motion, edge);
        ref_vec_dot(&out->border[i].bound, &triangle->p[i], edge);
        ref_vec_dot(&out->border[3 + i].slope, motion, edge);
        ref_vec_dot(&out->border[3 + i].bound, &triangle->p[(i + 1) % 3], edge);
        ref_vec_cross(&inward, &triangle->normal, edge);
        ref_vec_dot(&out->border[6 + i].slope, motion, &inward);
        ref_vec_dot(&out->border[6 + i].bound, &triangle->p[i], &inward);
    }
}

/* Insert the zero of border `b` in order, and move the places behind it. */
static void enter_time(struct borders *out, int b)
{
    ref_root time;
    int at = 0, order = -1;

    out->border[b].place = -1;
    if (out->border[b].slope.sign == 0)
        return;
    ref_root_rational(&time, &out->border[b].bound, &out->border[b].slope);
    while (at < out->count && (order = ref_root_cmp(&out->time[at], &time)) < 0)
        at++;
    out->border[b].place = at;
    if (at < out->count && order == 0)
        return;
    for (int i = out->count++; i > at; i--)
        ref_root_copy(&out->time[i], &out->time[i - 1]);
    ref_root_copy(&out->time[at], &time);
    for (int i = 0; i < b; i++)
        out->border[i].place += out->border[i].place >= at;
}

/* The sign inside interval k, which ends at time k and begins at the one before. */
static int sign_inside(const struct border *border, int k)
{
    return border->place < 0 ? -border->bound.sign : border->place < k ? border->slope.sign : -border->slope.sign;
}

/* A point of a convex set is the closest one if no direction from it into the set leads nearer to the centre. */
static int closest_feature(const struct borders *borders, const ref_triangle *triangle, int k)
{
    int sign[REF_BORDERS];

    for (int b = 0; b < REF_BORDERS; b++)
        sign[b] = sign_inside(&borders->border[b], k);
    for (int i = 0; i < 3; i++) {
        if (sign[i] <= 0 && sign[3 + (i + 2) % 3] >= 0)
            return REF_V0 + i;
    }
    for (int i = 0; i < 3; i++) {
        if (triangle->length2[i].sign && sign[i] >= 0 && sign[3 + i] <= 0 && sign[6 + i] <= 0)
            return REF_E01 + i;
    }
    return REF_FACE;
}

static int within(const ref_element *element, const ref_root *time)
{
    return !(element->has_begin && ref_root_cmp(time, &element->begin) < 0) &&
           !(element->has_end && ref_root_cmp(time, &element->end) > 0);
}

static void find_roots(ref_element *element)
{
    const ref_dyadic *f = element->f.f;
    ref_root first, last;

    element->zero = f[2].sign == 0 && f[0].sign == 0;
    element->roots = 0;
    if (f[2].sign == 0 || !ref_root_quadratic(&first, &last, &f[2], &f[1], &f[0]))
        return;
    if (within(element, &first))
        ref_root_copy(&element->root[element->roots++], &first);
    if (last.s != 0 && within(element, &last))
        ref_root_copy(&element->root[element->roots++], &last);
}

/* Interval k becomes an element, or a part of the one before. */
static void append(ref_partition *out, const struct borders *borders, int feature, int k)
{
    ref_element *element = &out->element[out->count - 1];

    if (out->count == 0 || element->feature != feature) {
        element = &out->element[out->count++];
        element->feature = feature;
        element->has_begin = k > 0;
        if (k > 0)
            ref_root_copy(&element->begin, &borders->time[k - 1]);
    }
    element->has_end = k < borders->count;
    if (element->has_end)
        ref_root_copy(&element->end, &borders->time[k]);
}

void ref_partition_set(ref_partition *out, const ref_sweep_case *c)
{
    struct borders borders;
    ref_triangle triangle;
    ref_vec motion;
    ref_dyadic radius2;

    out->count = 0;
    if (!ref_sweep_valid(c))
        return;
    ref_triangle_set(&triangle, c);
    ref_sweep_motion(&motion, c);
    ref_dyadic_from_double(&radius2, c->radius);
    ref_dyadic_mul(&radius2, &radius2, &radius2);
    set_borders(&borders, &triangle, &motion);
    borders.count = 0;
    for (int b = 0; b < REF_BORDERS; b++)
        enter_time(&borders, b);
    for (int k = 0; k <= borders.count; k++)
        append(out, &borders, closest_feature(&borders, &triangle, k), k);
    for (int i = 0; i < out->count; i++) {
        ref_feature_quadratic(&out->element[i].f, &triangle, out->element[i].feature, &motion, &radius2);
        find_roots(&out->element[i]);
    }
}

const char *ref_region_name(int feature)
{
    static const char *const names[] = {"", "R0", "R1", "R2", "R01", "R12", "R20", "R012"};

    return names[feature];
}

static double nearest(const ref_root *number)
{
    ref_dyadic estimate;

    ref_root_estimate(&estimate, number);
    return ref_root_to_double(number, &estimate);
}

static double nearest_quotient(const ref_dyadic *top, const ref_dyadic *bottom)
{
    ref_root quotient;

    ref_root_rational(&quotient, top, bottom);
    return nearest(&quotient);
}

void ref_element_row_set(ref_element_row *out, const ref_element *element)
{
    out->region = ref_region_name(element->feature);
    out->begin = element->has_begin ? nearest(&element->begin) : -HUGE_VAL;
    out->end = element->has_end ? nearest(&element->end) : HUGE_VAL;
    for (int i = 0; i < 3; i++)
        out->f[i] = nearest_quotient(&element->f.f[i], &element->f.bottom);
    out->roots = element->zero ? 2 : element->roots;
    for (int i = 0; i < element->roots; i++)
        out->root[i] = nearest(&element->root[i]);
    if (element->zero) {
        out->root[0] = out->begin;
        out->root[1] = out->end;
    }
}

double ref_partition_value(const ref_partition *partition, double t)
{
    const ref_element *element = partition->element;
    ref_dyadic time, value, term;

    ref_dyadic_from_double(&time, t);
    while (element->has_end && ref_root_cmp_dyadic(&element->end, &time) < 0)
        element++;
    ref_dyadic_mul(&value, &element->f.f[2], &time);
    ref_dyadic_add(&term, &element->f.f[1], &element->f.f[1]);
    ref_dyadic_add(&value, &value, &term);
    ref_dyadic_mul(&value, &value, &time);
    ref_dyadic_add(&value, &value, &element->f.f[0]);
    return nearest_quotient(&value, &element->f.bottom);
}
