/* SPDX-License-Identifier: MIT */
/* Whether a height is the least binary32 that a ball's centre may have over a column: no triangle leads it higher, and
 * one leads it higher than the binary32 below. Against a ball that comes down from z, contact with a triangle begins in
 * the future, now or never if and only if the triangle does not lead it above z. */
#include "mesh.h"

#include <float.h>
#include <math.h>

#include "judge.h"

/* Far beyond the rounding of binary64. */
#define ROOM 1e-9

typedef struct drop {
    const ref_mesh *mesh;
    const ref_mesh_drop_case *at;
} drop;

/* A ball that comes down from z, and a triangle. */
static ref_sweep_case case_of(const drop *d, size_t triangle, float z)
{
    ref_sweep_case c = {.center = {d->at->x, d->at->y, z}, .radius = (double)d->at->radius, .velocity = {0, 0, -1}};
    ref_mesh_triangle(d->mesh, triangle, c.p);
    return c;
}

static int state_of(const drop *d, size_t triangle, float z)
{
    const ref_sweep_case c = case_of(d, triangle, z);
    ref_sweep_answer answer;
    ref_sweep(&c, &answer);
    return answer.state;
}

static int leads_above(const drop *d, size_t triangle, float z)
{
    const int state = state_of(d, triangle, z);
    return state == REF_OVERLAPPING || state == REF_PARTING || state == REF_PAST;
}

/* 0: certainly not met, or not above z (-inf: anywhere). */
static int may_lead_above(const drop *d, size_t triangle, double z)
{
    float p[3][3];
    const double r = (double)d->at->radius, at[2] = {(double)d->at->x, (double)d->at->y};
    if (d->mesh->masks != NULL && d->mesh->masks[triangle] == 0)
        return 0;
    ref_mesh_triangle(d->mesh, triangle, p);
    const double top = (double)fmaxf(p[0][2], fmaxf(p[1][2], p[2][2]));
    if (top + r + ROOM * (fabs(top) + r) < z)
        return 0;
    for (int k = 0; k < 2; k++) {
        const double low = (double)fminf(p[0][k], fminf(p[1][k], p[2][k]));
        const double high = (double)fmaxf(p[0][k], fmaxf(p[1][k], p[2][k]));
        const double reach = r + ROOM * (r + fabs(at[k]) + fabs(low) + fabs(high));
        if (low - at[k] > reach || at[k] - high > reach)
            return 0;
    }
    return 1;
}

const char *ref_mesh_drop(const ref_mesh *mesh, const ref_mesh_drop_case *at)
{
    const drop d = {mesh, at};
    const float below = at->height > -INFINITY ? nextafterf(at->height, -INFINITY) : -INFINITY;
    int meets = 0;
    if (isnan(at->height))
        return "it is not a number";
    if (at->height == 0 && signbit(at->height))
        return "it is -0";
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (!may_lead_above(&d, t, (double)below))
            continue;
        if (at->height == -INFINITY && state_of(&d, t, 0) != REF_MISS)
            return "the ball meets a triangle there";
        if (at->height > -INFINITY && at->height < INFINITY && leads_above(&d, t, at->height))
            return "a triangle leads higher";
        if (at->height > -INFINITY && !meets)
            meets = below > -INFINITY ? leads_above(&d, t, below) : state_of(&d, t, 0) != REF_MISS;
    }
    return at->height > -INFINITY && !meets ? "no triangle leads above the binary32 below" : NULL;
}

/* The lowest of the triangles that the ball touches first, of those that lead above the binary32 below the height. */
static int32_t first_touched(const drop *d, float below, float from, ref_sweep_case *best)
{
    int32_t triangle = -1;
    for (size_t t = 0; t < d->mesh->triangle_count; t++) {
        if (!may_lead_above(d, t, (double)below) ||
            (below > -INFINITY ? !leads_above(d, t, below) : state_of(d, t, 0) == REF_MISS))
            continue;
        const ref_sweep_case c = case_of(d, t, from);
        if (triangle >= 0 && ref_sweep_order(&c, best) >= 0)
            continue;
        *best = c;
        triangle = (int32_t)t;
    }
    return triangle;
}

const char *ref_mesh_drop_at(const ref_mesh *mesh, const ref_mesh_drop_case *at, const ref_mesh_drop_touch *touch)
{
    const drop d = {mesh, at};
    const char *wrong = ref_mesh_drop(mesh, at);
    ref_sweep_case c;
    ref_sweep_answer truth;
    if (wrong != NULL)
        return wrong;
    if (at->height == -INFINITY)
        return touch->triangle == -1 && touch->feature == REF_NONE && touch->point[0] == 0 && touch->point[1] == 0 &&
                       touch->point[2] == 0
                   ? NULL
                   : "it touches, where nothing is met";
    const float from = at->height < INFINITY ? at->height : FLT_MAX;
    if (touch->triangle != first_touched(&d, nextafterf(at->height, -INFINITY), from, &c))
        return "another triangle";
    ref_sweep(&c, &truth);
    if (touch->feature != truth.feature_first)
        return "another feature";
    return ref_point_error(&c, truth.feature_first, truth.point_first, touch->point) <= 1.0
               ? NULL
               : "the point is more than one unit off";
}
