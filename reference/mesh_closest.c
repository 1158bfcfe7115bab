/* SPDX-License-Identifier: MIT */
/* Nearest triangle of a mesh from the definition: the exact reference, for every triangle whose box is not farther
 * than the nearest corner. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh.h"
#include "space.h"

/* Far beyond the rounding of binary64, in which nothing of binary32 leaves the range. */
#define ROOM 1e-12
/* Two distances that round to one binary32. */
#define TIE 0x1p-22
#define LEAST 0x1p-148
/* From here on distances round to infinity, and tie. */
#define BEYOND 0x1.ffffffp127

typedef struct candidate {
    double bound;
    uint32_t triangle;
} candidate;

double ref_corner_distance(const ref_sweep_case *c)
{
    double least = HUGE_VAL;
    for (int v = 0; v < 3; v++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++) {
            double way = (double)c->p[v][k] - (double)c->center[k];
            sum += way * way;
        }
        least = fmin(least, sqrt(sum));
    }
    return least * (1.0 + ROOM);
}

double ref_box_distance(const ref_sweep_case *c)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double lo = (double)fminf(fminf(c->p[0][k], c->p[1][k]), c->p[2][k]) - (double)c->center[k];
        double hi = (double)c->center[k] - (double)fmaxf(fmaxf(c->p[0][k], c->p[1][k]), c->p[2][k]);
        double way = fmax(0.0, fmax(lo, hi));
        sum += way * way;
    }
    return sqrt(sum) * (1.0 - ROOM);
}

static int by_bound(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->bound < y->bound || x->bound > y->bound)
        return x->bound < y->bound ? -1 : 1;
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static int is_there(const ref_mesh *mesh, size_t triangle, uint32_t mask)
{
    return ((mesh->masks != NULL ? mesh->masks[triangle] : UINT32_MAX) & mask) != 0;
}

/* The caller frees it; NULL where there is no memory. */
static candidate *candidates_of(const ref_mesh *mesh, const ref_sweep_case *ball, uint32_t mask, size_t *count)
{
    candidate *list = malloc((mesh->triangle_count + 1) * sizeof *list);
    ref_sweep_case c = *ball;
    double nearest = HUGE_VAL;
    *count = 0;
    if (list == NULL)
        return NULL;
    for (size_t k = 0; k < mesh->triangle_count; k++) {
        if (!is_there(mesh, k, mask))
            continue;
        ref_mesh_triangle(mesh, k, c.p);
        nearest = fmin(nearest, fmin(ref_corner_distance(&c), BEYOND));
    }
    for (size_t k = 0; k < mesh->triangle_count; k++) {
        if (!is_there(mesh, k, mask))
            continue;
        ref_mesh_triangle(mesh, k, c.p);
        double bound = fmin(ref_box_distance(&c), BEYOND);
        if (bound <= nearest * (1.0 + TIE) + LEAST)
            list[(*count)++] = (candidate){bound, (uint32_t)k};
    }
    qsort(list, *count, sizeof *list, by_bound);
    return list;
}

static const ref_mesh_closest_answer nothing = {-1, {HUGE_VALF, HUGE_VAL, REF_NONE, {0}}};

const char *ref_mesh_closest(const ref_mesh *mesh, const ref_sweep_case *ball, uint32_t mask, float max_distance,
                             ref_mesh_closest_answer *out)
{
    ref_sweep_case c = *ball;
    ref_closest_answer a;
    size_t count;
    memset(c.p, 0, sizeof c.p);
    *out = nothing;
    ref_closest(&c, &a);
    if (a.feature == REF_NONE)
        return NULL;
    candidate *list = candidates_of(mesh, ball, mask, &count);
    if (list == NULL)
        return "no memory";
    for (size_t k = 0; k < count; k++) {
        int32_t triangle = (int32_t)list[k].triangle;
        if (out->triangle >= 0 && list[k].bound > out->closest.distance_near * (1.0 + TIE) + LEAST)
            break;
        ref_mesh_triangle(mesh, list[k].triangle, c.p);
        ref_closest(&c, &a);
        if (out->triangle < 0 || a.distance < out->closest.distance ||
            (!(a.distance > out->closest.distance) && triangle < out->triangle))
            *out = (ref_mesh_closest_answer){triangle, a};
    }
    free(list);
    if (out->closest.distance > max_distance)
        *out = nothing;
    return NULL;
}
