/* SPDX-License-Identifier: MIT */
/* Spheres among themselves: |d + t v| <= ra + rb for a t in [0, limit], d = b + shift - a. */
#include "reference.h"
#include "root.h"
#include "space.h"

#include <math.h>
#include <string.h>

/* Columns of a list, as the public header defines them, and where their numbers are in an answer. */
enum { DEPTH, NORMAL, NUMBERS = NORMAL + 3 };
static const struct {
    const char *name;
    int first, count;
    double error;
    int turns; /* it has another sign from B to A */
} columns[] = {{"depth", DEPTH, 1, 0.0, 0}, {"normal", NORMAL, 3, 0x1p-24, 1}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };
_Static_assert((int)NUMBERS <= (int)REF_CLOUD_NUMBERS, "an answer has no room for the numbers of all columns");

const ref_cloud_number *ref_cloud_column(const ref_cloud_answer *answer, const char *name)
{
    for (int c = 0; c < COLUMNS; c++)
        if (!strcmp(name, columns[c].name))
            return &answer->numbers[columns[c].first];
    return NULL;
}

void ref_cloud_turn(ref_cloud_answer *answer)
{
    for (int c = 0; c < COLUMNS; c++)
        for (int k = 0; k < columns[c].count && columns[c].turns; k++)
            answer->numbers[columns[c].first + k].value *= -1.0;
}

static void set_errors(ref_cloud_answer *out)
{
    for (int c = 0; c < COLUMNS; c++)
        for (int k = 0; k < columns[c].count; k++)
            out->numbers[columns[c].first + k].error = columns[c].error;
}

static void sum_of_radii(ref_dyadic *out, const ref_cloud_case *c)
{
    ref_dyadic part;

    ref_dyadic_from_float(out, c->radius_a);
    ref_dyadic_from_float(&part, c->radius_b);
    ref_dyadic_add(out, out, &part);
}

/* (sum of radii)^2, with the margin or without */
static void squared_reach(ref_dyadic *out, const ref_cloud_case *c, int with_margin)
{
    ref_dyadic part;

    sum_of_radii(out, c);
    ref_dyadic_from_float(&part, with_margin ? c->margin : 0.0f);
    ref_dyadic_add(out, out, &part);
    ref_dyadic_mul(out, out, out);
}

static void difference(ref_vec *out, const float a[3], const float b[3])
{
    ref_vec other;

    ref_vec_from_floats(out, a);
    ref_vec_from_floats(&other, b);
    ref_vec_sub(out, out, &other);
}

static int is_within(const ref_root *t, float limit)
{
    ref_dyadic exact;

    if (isinf(limit))
        return 1;
    ref_dyadic_from_float(&exact, limit);
    return ref_root_cmp_dyadic(t, &exact) <= 0;
}

/* ra + rb - |d|, the nearest binary32. */
static float depth_of(const ref_cloud_case *c, const ref_dyadic *distance2)
{
    ref_root depth = {.s = distance2->sign ? -1 : 0};
    ref_dyadic estimate;

    sum_of_radii(&depth.p, c);
    ref_dyadic_copy(&depth.q, distance2);
    ref_dyadic_from_float(&depth.w, 1.0f);
    ref_root_estimate(&estimate, &depth);
    return ref_root_to_float(&depth, &estimate);
}

/* The direction of `way` from A to B at the hit, or against v where they coincide; good to 2^-50. */
static void set_normal(const ref_vec *way, const ref_vec *v, ref_cloud_answer *out)
{
    const ref_vec *along = ref_vec_is_zero(way) ? v : way;
    ref_dyadic length, over, part;

    if (ref_vec_is_zero(along))
        return;
    ref_vec_dot(&length, along, along);
    ref_dyadic_trim(&length);
    ref_dyadic_sqrt(&length, &length);
    ref_dyadic_recip(&over, &length);
    for (int k = 0; k < 3; k++) {
        ref_dyadic_mul(&part, &along->c[k], &over);
        ref_dyadic_trim(&part);
        out->numbers[NORMAL + k].value = ref_dyadic_to_double(&part) * (along == v ? -1.0 : 1.0);
    }
}

/* Points meet where they coincide; else the estimate of the time is good to far more than the way's cancellation. */
static void set_normal_then(const ref_cloud_case *c, const ref_vec *d, const ref_vec *v, const ref_dyadic *time,
                            ref_cloud_answer *out)
{
    ref_vec way;
    ref_dyadic reach;

    sum_of_radii(&reach, c);
    ref_vec_scale(&way, v, time);
    ref_vec_add(&way, &way, d);
    for (int k = 0; k < 3; k++)
        if (reach.sign == 0)
            ref_dyadic_zero(&way.c[k]);
        else
            ref_dyadic_trim(&way.c[k]);
    set_normal(&way, v, out);
}

static void set_moving(const ref_cloud_case *c, const ref_vec *d, const ref_vec *v, const ref_dyadic *dot,
                       const ref_dyadic *gap, ref_cloud_answer *out)
{
    ref_dyadic speed2, estimate;
    ref_root first, last;

    ref_vec_dot(&speed2, v, v);
    if (!ref_root_quadratic(&first, &last, &speed2, dot, gap))
        return;
    out->state = ref_state_of_times(&first, &last);
    out->is_pair = out->state == REF_TOUCHING || out->state == REF_OVERLAPPING ||
                   (out->state == REF_APPROACHING && is_within(&first, c->limit));
    out->t = 0;
    if (out->state != REF_APPROACHING)
        return;
    ref_root_estimate(&estimate, &first);
    out->t = ref_root_to_float(&first, &estimate);
    if (out->is_pair)
        set_normal_then(c, d, v, &estimate, out);
}

static void set_resting(const ref_cloud_case *c, const ref_dyadic *distance2, const ref_dyadic *gap,
                        ref_cloud_answer *out)
{
    ref_dyadic reach2;

    if (gap->sign <= 0) {
        out->is_pair = 1;
        out->state = gap->sign < 0 ? REF_OVERLAPPING : REF_TOUCHING;
        out->t = 0;
        return;
    }
    squared_reach(&reach2, c, 1);
    out->is_pair = ref_dyadic_cmp(distance2, &reach2) <= 0;
}

void ref_cloud(const ref_cloud_case *c, ref_cloud_answer *out)
{
    ref_vec d, v, shift;
    ref_dyadic distance2, reach2, gap, dot;

    *out = (ref_cloud_answer){.state = REF_MISS, .t = INFINITY};
    set_errors(out);
    difference(&d, c->b, c->a);
    ref_vec_from_floats(&shift, c->shift);
    ref_vec_add(&d, &d, &shift);
    difference(&v, c->velocity_b, c->velocity_a);
    ref_vec_dot(&distance2, &d, &d);
    ref_vec_dot(&dot, &d, &v);
    squared_reach(&reach2, c, 0);
    ref_dyadic_sub(&gap, &distance2, &reach2);
    out->is_apart = dot.sign > 0;
    if (!ref_vec_is_zero(&v))
        set_moving(c, &d, &v, &dot, &gap, out);
    else
        set_resting(c, &distance2, &gap, out);
    if (!out->is_pair || out->state == REF_APPROACHING)
        return;
    if (out->state != REF_TOUCHING)
        out->numbers[DEPTH].value = (double)depth_of(c, &distance2);
    set_normal(&d, &v, out);
}
