/* SPDX-License-Identifier: MIT */
#include "mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "space.h"

/* ---- which triangles may be hit, and when at the earliest -------------------------------------------------------- */

/* Shares of the numbers in a box test, far beyond the rounding of binary64: inputs are binary32, so nothing in it
 * leaves the range. */
#define ROOM 1e-9
#define WAY_ROOM 1e-6
#define TIME_ROOM 1e-6

typedef struct candidate {
    double enter;
    uint32_t triangle;
} candidate;

void ref_mesh_triangle(const ref_mesh *mesh, size_t triangle, float p[3][3])
{
    for (int v = 0; v < 3; v++)
        memcpy(p[v], mesh->vertices + 3 * (size_t)mesh->indices[3 * triangle + (size_t)v], sizeof p[v]);
}

static double scale_of(const ref_sweep_case *c)
{
    double scale = c->radius;
    for (int k = 0; k < 3; k++) {
        scale = fmax(scale, fabs((double)c->center[k]));
        for (int v = 0; v < 3; v++)
            scale = fmax(scale, fabs((double)c->p[v][k]));
    }
    return scale;
}

/* The time at which the centre enters the triangle's box, blown up by the radius and more; infinity: not in [0,
 * t_max]. */
static double earliest(const ref_sweep_case *c, double t_max)
{
    double enter = 0.0, leave = t_max, room = ROOM * scale_of(c) + c->radius;
    for (int k = 0; k < 3; k++) {
        double lo = (double)fminf(fminf(c->p[0][k], c->p[1][k]), c->p[2][k]) - room - (double)c->center[k];
        double hi = (double)fmaxf(fmaxf(c->p[0][k], c->p[1][k]), c->p[2][k]) + room - (double)c->center[k];
        double v = (double)c->velocity[k] - (double)c->w[k];
        if (v < 0.0 || v > 0.0) {
            enter = fmax(enter, (v > 0.0 ? lo : hi) / v * (1.0 - TIME_ROOM));
            leave = fmin(leave, (v > 0.0 ? hi : lo) / v * (1.0 + TIME_ROOM));
        } else if (lo > 0.0 || hi < 0.0) {
            return HUGE_VAL;
        }
    }
    return enter <= leave ? enter : HUGE_VAL;
}

/* The box of the whole way, blown up by far more than rounding: almost every triangle is outside of it. */
typedef struct way_box {
    double lo[3], hi[3];
} way_box;

static way_box box_of_way(const ref_sweep_case *ball, double t_max)
{
    way_box box;
    for (int k = 0; k < 3; k++) {
        double start = (double)ball->center[k], v = (double)ball->velocity[k] - (double)ball->w[k];
        double end = v < 0.0 || v > 0.0 ? start + v * t_max : start;
        double room = ball->radius + WAY_ROOM * fmax(ball->radius, fmax(fabs(start), fabs(end)));
        box.lo[k] = fmin(start, end) - room;
        box.hi[k] = fmax(start, end) + room;
    }
    return box;
}

static int is_outside(const ref_sweep_case *c, const way_box *box)
{
    for (int k = 0; k < 3; k++) {
        const double p0 = (double)c->p[0][k], p1 = (double)c->p[1][k], p2 = (double)c->p[2][k];
        if ((p0 < box->lo[k] && p1 < box->lo[k] && p2 < box->lo[k]) ||
            (p0 > box->hi[k] && p1 > box->hi[k] && p2 > box->hi[k]))
            return 1;
    }
    return 0;
}

static int by_entry(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->enter < y->enter || x->enter > y->enter)
        return x->enter < y->enter ? -1 : 1;
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static int counts(const ref_mesh *mesh, size_t triangle, uint32_t mask)
{
    return ((mesh->masks != NULL ? mesh->masks[triangle] : UINT32_MAX) & mask) != 0;
}

/* By entry; NULL where there is no memory. The caller frees it. */
static candidate *candidates_of(const ref_mesh *mesh, const ref_sweep_case *ball, float t_max, uint32_t mask,
                                size_t *count)
{
    const way_box box = box_of_way(ball, (double)t_max);
    ref_sweep_case c = *ball;
    size_t used = 0, room = 64;
    candidate *list = malloc(room * sizeof *list);
    for (size_t k = 0; list != NULL && k < mesh->triangle_count; k++) {
        ref_mesh_triangle(mesh, k, c.p);
        if (!counts(mesh, k, mask) || is_outside(&c, &box))
            continue;
        double enter = earliest(&c, (double)t_max);
        if (!(enter < HUGE_VAL))
            continue;
        if (used == room) {
            candidate *more = realloc(list, 2 * room * sizeof *list);
            if (more == NULL)
                free(list);
            list = more;
            room *= 2;
        }
        if (list != NULL)
            list[used++] = (candidate){enter, (uint32_t)k};
    }
    if (list != NULL)
        qsort(list, used, sizeof *list, by_entry);
    *count = used;
    return list;
}

/* ---- one triangle ------------------------------------------------------------------------------------------------ */

/* The sign of distance - radius at `time`, exactly. */
static int side_at(const ref_sweep_case *c, float time)
{
    ref_triangle triangle;
    ref_vec way;
    ref_dyadic t, radius2;
    int feature;
    ref_triangle_set(&triangle, c);
    ref_sweep_motion(&way, c);
    ref_dyadic_from_float(&t, time);
    ref_vec_scale(&way, &way, &t);
    for (int v = 0; v < 3; v++)
        ref_vec_sub(&triangle.p[v], &triangle.p[v], &way);
    ref_dyadic_from_double(&radius2, c->radius);
    ref_dyadic_mul(&radius2, &radius2, &radius2);
    return ref_triangle_closest(&triangle, &radius2, &feature);
}

/* T0 <= t_max, of the true T0; -1: not known. Its nearest binary64 decides unless it is t_max. */
static int within(const ref_sweep_case *c, const ref_sweep_answer *a, float t_max)
{
    if (a->t_first_near < (double)t_max || a->t_first_near > (double)t_max)
        return a->t_first_near < (double)t_max;
    if (isinf(t_max) || side_at(c, t_max) <= 0)
        return 1;
    return a->t_last_near > (double)t_max ? 0 : -1;
}

const ref_mesh_options ref_mesh_no_options = {UINT32_MAX, 0, REF_START_REPORT};

/* Whether the motion goes along the triangle's normal. */
static int is_back(const ref_sweep_case *c)
{
    ref_triangle triangle;
    ref_vec way;
    ref_dyadic along;
    ref_triangle_set(&triangle, c);
    ref_sweep_motion(&way, c);
    ref_vec_dot(&along, &triangle.normal, &way);
    return along.sign > 0;
}

/* A positive multiple of (centre - closest point).V at time 0. With the corners as seen from the centre, the closest
 * point is a corner itself; on an edge, P - (P.e / e.e) e; on the face, (P.n / n.n) n. */
static int is_parting(const ref_sweep_case *c)
{
    ref_triangle t;
    ref_vec way, point, part;
    ref_dyadic radius2, along;
    int feature;
    ref_triangle_set(&t, c);
    ref_sweep_motion(&way, c);
    ref_dyadic_zero(&radius2);
    ref_triangle_closest(&t, &radius2, &feature);
    if (feature < REF_E01) {
        ref_vec_copy(&point, &t.p[feature - REF_V0]);
    } else if (feature < REF_FACE) {
        const int edge = feature - REF_E01;
        ref_vec_dot(&along, &t.p[edge], &t.edge[edge]);
        ref_vec_scale(&point, &t.p[edge], &t.length2[edge]);
        ref_vec_scale(&part, &t.edge[edge], &along);
        ref_vec_sub(&point, &point, &part);
    } else {
        ref_vec_dot(&along, &t.p[0], &t.normal);
        ref_vec_scale(&point, &t.normal, &along);
    }
    ref_vec_dot(&along, &point, &way);
    return along.sign < 0;
}

static const ref_mesh_hit nothing = {-1, REF_MISS, REF_NONE, HUGE_VALF, HUGE_VAL, {0}};

/* 0: not known. */
static int hit_of(const ref_sweep_case *c, uint32_t triangle, float t_max, const ref_mesh_options *options,
                  ref_mesh_hit *hit)
{
    ref_sweep_answer a;
    ref_sweep_case still = *c;
    int inside = 0;
    ref_sweep(c, &a);
    *hit = nothing;
    hit->state = a.state;
    const int begins = a.state == REF_TOUCHING || a.state == REF_OVERLAPPING;
    if (options->cull_back && is_back(c))
        return 1;
    if (begins && (options->start == REF_START_SKIP || (options->start == REF_START_SKIP_PARTING && is_parting(c))))
        return 1;
    if (begins) {
        memset(still.velocity, 0, sizeof still.velocity);
        memset(still.w, 0, sizeof still.w);
        ref_sweep(&still, &a);
        hit->t = 0.0f;
        hit->near = 0.0;
    } else if (a.state == REF_APPROACHING && (inside = within(c, &a, t_max)) == 1) {
        hit->t = a.t_first;
        hit->near = a.t_first_near;
    } else {
        return inside >= 0;
    }
    hit->triangle = (int32_t)triangle;
    hit->feature = a.feature_first;
    for (int k = 0; k < 3; k++) /* which ref_sweep moves along by t w */
        hit->point[k] = a.point_first[k] - (begins ? 0.0 : a.t_first_near * (double)c->w[k]);
    return 1;
}

/* A mesh has no triangle that is invalid, so the ball alone decides. */
static int is_valid(const ref_sweep_case *ball)
{
    return ref_radius_valid(ball->radius) && ref_floats_finite(ball->center, 3) &&
           ref_floats_finite(ball->velocity, 3) && ref_floats_finite(ball->w, 3);
}

static int is_before(const ref_mesh_hit *a, const ref_mesh_hit *b)
{
    if (a->t < b->t || a->t > b->t)
        return a->t < b->t;
    return a->triangle < b->triangle;
}

static const char no_memory[] = "no memory";
static const char not_known[] = "it cannot be decided whether a graze is within the window";

/* ---- the first of all -------------------------------------------------------------------------------------------- */

const char *ref_mesh_first(const ref_mesh *mesh, const ref_sweep_case *ball, float t_max,
                           const ref_mesh_options *options, ref_mesh_hit *out)
{
    ref_sweep_case c = *ball;
    ref_mesh_hit best = nothing, hit;
    const char *wrong = NULL;
    size_t count;
    *out = nothing;
    if (!is_valid(ball)) {
        out->state = REF_INVALID;
        return NULL;
    }
    candidate *list = candidates_of(mesh, &c, t_max, options->mask, &count);
    if (list == NULL)
        return no_memory;
    for (size_t k = 0; k < count && wrong == NULL; k++) {
        uint32_t triangle = list[k].triangle;
        if (best.triangle >= 0 && list[k].enter > (double)best.t + 0x1p-149)
            break;
        /* nothing is before time 0 */
        if (best.triangle >= 0 && best.t <= 0.0f && (int32_t)triangle > best.triangle)
            continue;
        ref_mesh_triangle(mesh, triangle, c.p);
        if (!hit_of(&c, triangle, t_max, options, &hit))
            wrong = not_known;
        else if (hit.triangle >= 0 && (best.triangle < 0 || is_before(&hit, &best)))
            best = hit;
    }
    free(list);
    *out = best;
    return wrong;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

const char *ref_mesh_all(const ref_mesh *mesh, const ref_sweep_case *ball, float t_max, const ref_mesh_options *options,
                         ref_mesh_list *out)
{
    ref_sweep_case c = *ball;
    const char *wrong = NULL;
    size_t count;
    *out = (ref_mesh_list){.is_valid = is_valid(ball)};
    if (!out->is_valid)
        return NULL;
    candidate *list = candidates_of(mesh, &c, t_max, options->mask, &count);
    if (list != NULL)
        out->hits = malloc((count + 1) * sizeof *out->hits);
    if (out->hits == NULL)
        wrong = no_memory;
    for (size_t k = 0; k < count && wrong == NULL; k++) {
        ref_mesh_triangle(mesh, list[k].triangle, c.p);
        if (!hit_of(&c, list[k].triangle, t_max, options, &out->hits[out->count]))
            wrong = not_known;
        else
            out->count += out->hits[out->count].triangle >= 0;
    }
    free(list);
    if (wrong == NULL)
        qsort(out->hits, out->count, sizeof *out->hits, by_time);
    return wrong;
}

/* ---- at rest ----------------------------------------------------------------------------------------------------- */

int64_t ref_mesh_overlaps(const ref_mesh *mesh, const ref_sweep_case *ball, uint32_t mask, uint8_t *overlaps)
{
    ref_sweep_case c = *ball;
    ref_overlap_answer a;
    int64_t count = 0;
    memset(c.velocity, 0, sizeof c.velocity);
    memset(c.w, 0, sizeof c.w);
    memset(overlaps, 0, mesh->triangle_count);
    if (!is_valid(&c))
        return -1;
    const way_box box = box_of_way(&c, 0.0);
    for (size_t k = 0; k < mesh->triangle_count; k++) {
        ref_mesh_triangle(mesh, k, c.p);
        if (!counts(mesh, k, mask) || is_outside(&c, &box))
            continue;
        ref_overlap(&c, &a);
        overlaps[k] = a.overlap == 1;
        count += a.overlap == 1;
    }
    return count;
}
