/* SPDX-License-Identifier: MIT */
/* Which triangle a ball touches, and where. Point and feature of a triangle are those of the first contact of a ball
 * that comes down on it, an exact sweep. Triangles that meet at the feature in which the ball touches lead to one
 * height. Other candidates are compared by the bounds of their heights, then in integers. */
#include "drop_touch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/exact/exact.h"

drop_place caromi_drop_place_of(const drop_map *map, float x, float y, float z, int32_t mask)
{
    /* Clear of z by a share of the largest lengths, so that the filter of the sweep is sure of its sign. */
    const double start = (double)z + 0.5 * map->ball.r + 0x1p-8 / (double)map->mesh->view.frame.scale;
    return (drop_place){.map = map,
                        .x = x,
                        .y = y,
                        .z = z,
                        .start = start < (double)FLT_MAX ? (float)start : FLT_MAX,
                        .mask = mask,
                        .best = {.triangle = -1, .bound = DROP_NONE}};
}

void caromi_drop_pair_of(const drop_place *place, int32_t triangle, float *in, size_t stride)
{
    const float ball[IN_P0X] = {
        [IN_CX] = place->x, [IN_CY] = place->y, [IN_CZ] = place->start, [IN_R] = place->map->ball.radius, [IN_VZ] = -1};
    for (int k = 0; k < IN_P0X; k++)
        in[(size_t)k * stride] = ball[k];
    for (int corner = 0; corner < 3; corner++) {
        const float *at = caromi_corner(place->map->mesh, (uint32_t)triangle, corner);
        for (int k = 0; k < 3; k++)
            in[(size_t)(IN_P0X + 3 * corner + k) * stride] = at[k];
    }
}

void caromi_drop_touch_by_integers(drop_place *place, drop_candidate *candidate)
{
    float in[IN_SWEEP_MOVING] = {0};
    caromi_drop_pair_of(place, candidate->triangle, in, 1);
    place->by_integers = 1;
    if (place->start > place->z) {
        caromi_exact_contact contact;
        caromi_exact_contact_of(in, 0, &contact);
        memcpy(candidate->point, contact.point, sizeof contact.point);
        candidate->feature = (uint8_t)contact.feature;
    } else { /* the height is beyond binary32, or all lengths are 0: contact may have begun */
        caromi_exact_sweep sweep;
        caromi_exact_sweep_of(in, CAROMI_EXACT_FULL, INFINITY, &sweep);
        memcpy(candidate->point, sweep.point_first, sizeof sweep.point_first);
        candidate->feature = (uint8_t)sweep.feature_first;
    }
}

/* The pair kernel at one lane. */
static void touch_one(drop_place *place, drop_candidate *candidate)
{
    float in[IN_SWEEP_RESTING], real[OUT_FEATURE];
    const float *column[IN_SWEEP_RESTING];
    void *out[OUT_CONTACT];
    int chosen;
    candidate->point[0] = NAN;
    if (place->start > place->z) {
        caromi_drop_pair_of(place, candidate->triangle, in, 1);
        for (int k = 0; k < IN_SWEEP_RESTING; k++)
            column[k] = in + k;
        for (int k = 0; k < OUT_FEATURE; k++)
            out[k] = real + k;
        out[OUT_FEATURE] = &candidate->feature;
        caromi_isa_select(CAROM_ISA_SCALAR, &chosen)->pairs[CAROMI_PAIR_contact_exact](column, out, 1, 0);
        memcpy(candidate->point, real + OUT_POINT_X, sizeof candidate->point);
    }
    if (isnan(candidate->point[0]))
        caromi_drop_touch_by_integers(place, candidate);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* The corners of a feature: from `first` on, in the order of the triangle. Returns their number. */
static int corners_of(int feature, int *first)
{
    *first = feature < FEATURE_E01 ? feature - FEATURE_V0 : feature < FEATURE_FACE ? feature - FEATURE_E01 : 0;
    return feature < FEATURE_E01 ? 1 : feature < FEATURE_FACE ? 2 : 3;
}

static int is_same_position(const float *a, const float *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Whether the ball touches both triangles in one corner, edge or face: their heights are equal then. */
static int is_same_feature(const carom_mesh *mesh, const drop_candidate *a, const drop_candidate *b)
{
    int first, other_first, found = 0;
    const int count = corners_of(a->feature, &first);
    if (count != corners_of(b->feature, &other_first))
        return 0;
    for (int i = 0; i < count; i++) {
        const float *at = caromi_corner(mesh, (uint32_t)a->triangle, (first + i) % 3);
        int is_found = 0;
        for (int k = 0; k < count; k++)
            is_found |= is_same_position(at, caromi_corner(mesh, (uint32_t)b->triangle, (other_first + k) % 3));
        found += is_found;
    }
    return found == count;
}

/* Bounds of the height from the feature that the ball touches. */
static drop_bound bound_of_feature(const drop_place *place, const drop_candidate *candidate)
{
    const drop_ball *ball = &place->map->ball;
    const double x = (double)place->x, y = (double)place->y;
    const float *corner[3];
    int first;
    const int count = corners_of(candidate->feature, &first);
    for (int k = 0; k < 3; k++)
        corner[k] = caromi_corner(place->map->mesh, (uint32_t)candidate->triangle, (first + k) % 3);
    if (ball->r == 0)
        return caromi_drop_ray_bound(corner, x, y);
    if (count == 1) {
        const double at[3] = {(double)corner[0][0], (double)corner[0][1], (double)corner[0][2]};
        return caromi_drop_corner_bound(ball, at, x, y);
    }
    if (count == 2) {
        drop_edge edge;
        caromi_drop_edge_make(&edge, corner[0], corner[1]);
        return caromi_drop_edge_bound(ball, &edge, x, y);
    }
    drop_face face;
    caromi_drop_face_make(&face, ball, corner);
    return face.kind == DROP_FACE_SLOPE || face.kind == DROP_FACE_FLAT ? caromi_drop_face_bound(ball, &face, x, y)
                                                                       : (drop_bound){-HUGE_VAL, HUGE_VAL};
}

static void narrow(const drop_place *place, drop_candidate *candidate)
{
    const drop_bound bound = bound_of_feature(place, candidate);
    candidate->is_narrow = 1;
    candidate->bound.low = bound.low > candidate->bound.low ? bound.low : candidate->bound.low;
    if (bound.high < candidate->bound.high && bound.high >= candidate->bound.low)
        candidate->bound.high = bound.high;
}

/* The sign of the difference of two heights, if their bounds tell it; else 0. Bounds may be rounded up to binary64,
 * which keeps the order of different numbers. */
static int order_of_bounds(const drop_candidate *a, const drop_candidate *b)
{
    return a->bound.low > b->bound.high ? 1 : b->bound.low > a->bound.high ? -1 : 0;
}

/* The sign of the difference of two candidates' heights. */
static int order_of(drop_place *place, drop_candidate *a, drop_candidate *b)
{
    float in[2][IN_SWEEP_RESTING];
    int order = order_of_bounds(a, b);
    if (order != 0 || is_same_feature(place->map->mesh, a, b))
        return order;
    if (!a->is_narrow)
        narrow(place, a);
    if (!b->is_narrow)
        narrow(place, b);
    order = order_of_bounds(a, b);
    if (order != 0)
        return order;
    place->by_integers = 1;
    caromi_drop_pair_of(place, a->triangle, in[0], 1);
    caromi_drop_pair_of(place, b->triangle, in[1], 1);
    return -caromi_exact_first_order(in[0], in[1]); /* the triangle that is touched sooner leads higher */
}

void caromi_drop_consider(drop_place *place, const drop_candidate *given)
{
    drop_candidate candidate = *given;
    if (candidate.feature == FEATURE_NONE)
        return;
    const int order = place->best.triangle < 0 ? 1 : order_of(place, &candidate, &place->best);
    if (order > 0 || (order == 0 && candidate.triangle < place->best.triangle))
        place->best = candidate;
}

/* ---- all triangles ----------------------------------------------------------------------------------------------- */

/* Visits a triangle, if it may lead to the height. */
static void consider_triangle(void *user, uint32_t triangle)
{
    drop_place *place = user;
    const drop_ball *ball = &place->map->ball;
    const double x = (double)place->x, y = (double)place->y;
    const double least = place->best.bound.low;
    const float *corner[3];
    for (int k = 0; k < 3; k++)
        corner[k] = caromi_corner(place->map->mesh, triangle, k);
    if (caromi_drop_box_bound(ball, corner, x, y) < least)
        return;
    drop_candidate candidate = {.triangle = (int32_t)triangle,
                                .bound = caromi_drop_triangle_bound(ball, corner, x, y, nextafter(least, -HUGE_VAL))};
    if (candidate.bound.high < least || candidate.bound.high == -HUGE_VAL)
        return;
    touch_one(place, &candidate);
    caromi_drop_consider(place, &candidate);
}

/* Whether no triangle in a box can lead to the height. */
static int skip_lower(void *user, const double lower[2], const double upper[2], double top)
{
    const drop_place *place = user;
    const double at[2] = {(double)place->x, (double)place->y};
    return caromi_drop_over_box(&place->map->ball, at, lower, upper, top) < place->best.bound.low;
}

void caromi_drop_consider_all(drop_place *place)
{
    caromi_drop_visit(&(drop_visitor){.map = place->map,
                                      .lower = {(double)place->x, (double)place->y},
                                      .upper = {(double)place->x, (double)place->y},
                                      .mask = place->mask,
                                      .triangle = consider_triangle,
                                      .skip = skip_lower,
                                      .user = place});
}
