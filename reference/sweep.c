/* SPDX-License-Identifier: MIT */
/* Sphere against triangle from the definition: the points within r of a triangle are the union of three balls (around
 * the corners), three finite cylinders (around the edges, between their end planes) and one slab of a prism (over the
 * face). Each is convex, so the line of centres meets it in one closed interval whose ends are roots or rationals; the
 * first and last time are the least entry and the greatest exit. Taken in the order of the features, the first piece
 * that has the least entry names the feature, because a centre that is exactly r from the triangle is in the piece of
 * a feature exactly if that closed feature holds the closest point. */
#include "reference.h"
#include "root.h"
#include "space.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* A closed interval of times; an end that is absent is infinite. */
struct interval {
    int empty, has_first, has_last;
    ref_root first, last;
};

struct contact_times {
    int feature_first, feature_last; /* REF_NONE: no contact */
    ref_root first, last;
};

static void interval_all(struct interval *span)
{
    span->empty = 0;
    span->has_first = 0;
    span->has_last = 0;
}

static void clip_first(struct interval *span, const ref_root *time)
{
    if (span->has_first && ref_root_cmp(time, &span->first) <= 0)
        return;
    ref_root_copy(&span->first, time);
    span->has_first = 1;
}

static void clip_last(struct interval *span, const ref_root *time)
{
    if (span->has_last && ref_root_cmp(time, &span->last) >= 0)
        return;
    ref_root_copy(&span->last, time);
    span->has_last = 1;
}

/* Keep the times where slope * t >= bound. */
static void clip_linear(struct interval *span, const ref_dyadic *slope, const ref_dyadic *bound)
{
    ref_root time;

    if (slope->sign == 0) {
        span->empty |= bound->sign > 0;
        return;
    }
    ref_root_rational(&time, bound, slope);
    if (slope->sign > 0)
        clip_first(span, &time);
    else
        clip_last(span, &time);
}

/* Keep the times where a t^2 + 2 b t + c <= 0, given that a = 0 implies b = 0. */
static void clip_quadratic(struct interval *span, const ref_dyadic *a, const ref_dyadic *b, const ref_dyadic *c)
{
    ref_root first, last;

    if (a->sign == 0) {
        span->empty |= c->sign > 0;
    } else if (ref_root_quadratic(&first, &last, a, b, c)) {
        clip_first(span, &first);
        clip_last(span, &last);
    } else {
        span->empty = 1;
    }
}

static void clip_feature(struct interval *span, const ref_triangle *triangle, int feature, const ref_vec *motion,
                         const ref_dyadic *radius2)
{
    ref_quadratic distance;

    ref_feature_quadratic(&distance, triangle, feature, motion, radius2);
    clip_quadratic(span, &distance.f[2], &distance.f[1], &distance.f[0]);
}

/* |(t V' - p_i) x edge|^2 <= r^2 |edge|^2 and 0 <= (t V' - p_i) . edge <= |edge|^2 */
static void cylinder_span(struct interval *span, const ref_triangle *triangle, int i, const ref_vec *motion,
                          const ref_dyadic *radius2)
{
    ref_dyadic slope, bound;

    ref_vec_dot(&slope, motion, &triangle->edge[i]);
    ref_vec_dot(&bound, &triangle->p[i], &triangle->edge[i]);
    clip_linear(span, &slope, &bound);
    ref_dyadic_add(&bound, &bound, &triangle->length2[i]);
    ref_dyadic_neg(&slope);
    ref_dyadic_neg(&bound);
    clip_linear(span, &slope, &bound);
    if (!span->empty)
        clip_feature(span, triangle, REF_E01 + i, motion, radius2);
}

/* |normal . (t V' - p_0)| <= r |normal|: the only ends whose root is not from a quadratic with a rational middle. */
static void clip_slab(struct interval *span, const ref_triangle *triangle, const ref_vec *motion,
                      const ref_dyadic *radius2)
{
    ref_root end;

    ref_vec_dot(&end.p, &triangle->normal, &triangle->p[0]);
    ref_vec_dot(&end.w, &triangle->normal, motion);
    ref_dyadic_mul(&end.q, radius2, &triangle->normal2);
    if (end.w.sign == 0) {
        ref_dyadic_mul(&end.p, &end.p, &end.p);
        span->empty |= ref_dyadic_cmp(&end.p, &end.q) > 0;
        return;
    }
    if (end.w.sign < 0) {
        ref_dyadic_neg(&end.p);
        ref_dyadic_neg(&end.w);
    }
    end.s = -end.q.sign;
    clip_first(span, &end);
    end.s = end.q.sign;
    clip_last(span, &end);
}

static void prism_span(struct interval *span, const ref_triangle *triangle, const ref_vec *motion,
                       const ref_dyadic *radius2)
{
    ref_vec inward;
    ref_dyadic slope, bound;

    for (int i = 0; i < 3 && !span->empty; i++) {
        ref_vec_cross(&inward, &triangle->normal, &triangle->edge[i]);
        ref_vec_dot(&slope, &inward, motion);
        ref_vec_dot(&bound, &inward, &triangle->p[i]);
        clip_linear(span, &slope, &bound);
    }
    if (!span->empty)
        clip_slab(span, triangle, motion, radius2);
}

/* Every piece is bounded along every line, so a span that is not empty has both ends. */
static void include_span(struct contact_times *times, const struct interval *span, int feature)
{
    if (span->empty || ref_root_cmp(&span->first, &span->last) > 0)
        return;
    if (times->feature_first == REF_NONE || ref_root_cmp(&span->first, &times->first) < 0) {
        ref_root_copy(&times->first, &span->first);
        times->feature_first = feature;
    }
    if (times->feature_last == REF_NONE || ref_root_cmp(&span->last, &times->last) > 0) {
        ref_root_copy(&times->last, &span->last);
        times->feature_last = feature;
    }
}

static void find_times(struct contact_times *times, const ref_triangle *triangle, const ref_vec *motion,
                       const ref_dyadic *radius2)
{
    struct interval span;

    times->feature_first = REF_NONE;
    times->feature_last = REF_NONE;
    for (int feature = REF_V0; feature <= REF_FACE; feature++) {
        interval_all(&span);
        if (feature <= REF_V2)
            clip_feature(&span, triangle, feature, motion, radius2); /* |t V' - p_i|^2 <= r^2 */
        else if (feature == REF_FACE && triangle->normal2.sign)
            prism_span(&span, triangle, motion, radius2);
        else if (feature < REF_FACE && triangle->length2[feature - REF_E01].sign)
            cylinder_span(&span, triangle, feature - REF_E01, motion, radius2);
        else
            span.empty = 1; /* a feature that a degenerate triangle does not have */
        include_span(times, &span, feature);
    }
}

static void raise_top(int *top, const ref_vec *v)
{
    for (int i = 0; i < 3; i++) {
        if (v->c[i].sign && v->c[i].exp + v->c[i].n > *top)
            *top = v->c[i].exp + v->c[i].n;
    }
}

/* The triangle's closest point at `time`, given its feature, in the world. The approximations leave more than 400 bits
 * below the largest term, so what is left more than 352 bits below it is the residue of a zero. */
static void contact_point(double point[3], const ref_sweep_case *c, const ref_triangle *triangle, const ref_vec *motion,
                          const ref_dyadic *time, int feature)
{
    int corner = feature <= REF_V2 ? feature - REF_V0 : feature < REF_FACE ? feature - REF_E01 : 0;
    int top = INT_MIN / 2;
    ref_vec at, step, travel;
    ref_dyadic along;

    ref_vec_scale(&at, motion, time);
    raise_top(&top, &at);
    raise_top(&top, &triangle->p[corner]);
    ref_vec_sub(&at, &at, &triangle->p[corner]); /* centre relative to the corner */
    if (feature <= REF_V2) {
        ref_vec_sub(&at, &at, &at);
    } else {
        const ref_vec *axis = feature < REF_FACE ? &triangle->edge[corner] : &triangle->normal;
        ref_vec_dot(&along, &at, axis);
        ref_dyadic_trim(&along);
        ref_dyadic_recip(&step.c[0], feature < REF_FACE ? &triangle->length2[corner] : &triangle->normal2);
        ref_dyadic_mul(&along, &along, &step.c[0]);
        ref_vec_scale(&step, axis, &along);
        if (feature < REF_FACE)
            ref_vec_copy(&at, &step);
        else
            ref_vec_sub(&at, &at, &step);
    }
    ref_vec_from_floats(&step, c->p[corner]);
    ref_vec_from_floats(&travel, c->w);
    ref_vec_scale(&travel, &travel, time);
    raise_top(&top, &step);
    raise_top(&top, &travel);
    ref_vec_add(&at, &at, &step);
    ref_vec_add(&at, &at, &travel);
    for (int i = 0; i < 3; i++) {
        int residue = at.c[i].exp + at.c[i].n < top - 11;
        point[i] = residue ? 0.0 : ref_dyadic_to_double(&at.c[i]);
    }
}

static void clear_answer(ref_sweep_answer *out, int state, double first, double last)
{
    memset(out, 0, sizeof *out);
    out->state = state;
    out->t_first = (float)first;
    out->t_last = (float)last;
    out->t_first_near = first;
    out->t_last_near = last;
}

static int float_is_finite(float value)
{
    return ref_floats_finite(&value, 1);
}

/* No motion between the two: all times or none, and the contact of time 0 stands for both ends. */
static void sweep_motionless(const ref_sweep_case *c, const ref_triangle *triangle, const ref_vec *motion,
                             const ref_dyadic *radius2, ref_sweep_answer *out)
{
    const double infinity = (double)INFINITY;
    ref_dyadic now;
    int feature, side = ref_triangle_closest(triangle, radius2, &feature);

    if (side > 0) {
        clear_answer(out, REF_MISS, infinity, -infinity);
        return;
    }
    clear_answer(out, side == 0 ? REF_TOUCHING : REF_OVERLAPPING, -infinity, infinity);
    ref_dyadic_zero(&now);
    contact_point(out->point_first, c, triangle, motion, &now, feature);
    memcpy(out->point_last, out->point_first, sizeof out->point_last);
    out->feature_first = feature;
    out->feature_last = feature;
}

static void report_end(const ref_sweep_case *c, const ref_triangle *triangle, const ref_vec *motion,
                       const ref_root *time, int time_feature, float *t, double *near, int *feature, double point[3])
{
    ref_dyadic estimate;

    ref_root_estimate(&estimate, time);
    *t = ref_root_to_float(time, &estimate);
    *near = ref_root_to_double(time, &estimate);
    if (!float_is_finite(*t))
        return;
    *feature = time_feature;
    contact_point(point, c, triangle, motion, &estimate, time_feature);
}

static void sweep_moving(const ref_sweep_case *c, const ref_triangle *triangle, const ref_vec *motion,
                         const ref_dyadic *radius2, ref_sweep_answer *out)
{
    const double infinity = (double)INFINITY;
    struct contact_times times;

    find_times(&times, triangle, motion, radius2);
    if (times.feature_first == REF_NONE) {
        clear_answer(out, REF_MISS, infinity, -infinity);
        return;
    }
    clear_answer(out, ref_state_of_times(&times.first, &times.last), 0.0, 0.0);
    report_end(c, triangle, motion, &times.first, times.feature_first, &out->t_first, &out->t_first_near,
               &out->feature_first, out->point_first);
    report_end(c, triangle, motion, &times.last, times.feature_last, &out->t_last, &out->t_last_near,
               &out->feature_last, out->point_last);
}

void ref_sweep(const ref_sweep_case *c, ref_sweep_answer *out)
{
    const double infinity = (double)INFINITY;
    ref_triangle triangle;
    ref_vec motion;
    ref_dyadic radius2;

    if (!ref_sweep_valid(c)) {
        clear_answer(out, REF_INVALID, infinity, -infinity);
        return;
    }
    ref_triangle_set(&triangle, c);
    ref_sweep_motion(&motion, c);
    ref_dyadic_from_double(&radius2, c->radius);
    ref_dyadic_mul(&radius2, &radius2, &radius2);
    if (ref_vec_is_zero(&motion))
        sweep_motionless(c, &triangle, &motion, &radius2, out);
    else
        sweep_moving(c, &triangle, &motion, &radius2, out);
}

static void first_time(const ref_sweep_case *c, ref_root *out)
{
    struct contact_times times;
    ref_triangle triangle;
    ref_vec motion;
    ref_dyadic radius2;

    ref_triangle_set(&triangle, c);
    ref_sweep_motion(&motion, c);
    ref_dyadic_from_double(&radius2, c->radius);
    ref_dyadic_mul(&radius2, &radius2, &radius2);
    find_times(&times, &triangle, &motion, &radius2);
    ref_root_copy(out, &times.first);
}

int ref_sweep_order(const ref_sweep_case *a, const ref_sweep_case *b)
{
    ref_root first, other;

    first_time(a, &first);
    first_time(b, &other);
    return ref_root_cmp(&first, &other);
}
