/* SPDX-License-Identifier: MIT */
/* Finds the feature whose root is the begin or end of contact; motion.h has the proof. */
#include "touch.h"

#include <math.h>

/* The first feature with a root with Y > 0 in its region. */
static const caromi_element *find_crossing(caromi_motion *motion, int side)
{
    for (int feature = FEATURE_V0; feature <= FEATURE_FACE; feature++) {
        const caromi_element *element = caromi_motion_element(motion, feature);
        if (element->sign > 0 && caromi_element_holds(motion, element, side))
            return element;
    }
    return NULL;
}

/* The first feature with the earliest (which < 0) or latest of the roots with Y = 0 in their regions. */
static const caromi_element *find_graze(caromi_motion *motion, int which)
{
    const caromi_element *best = NULL;
    caromi_root best_root;
    for (int feature = FEATURE_V0; feature <= FEATURE_FACE; feature++) {
        const caromi_element *element = caromi_motion_element(motion, feature);
        caromi_root root;
        if (element->sign != 0 || !caromi_element_holds(motion, element, 0))
            continue;
        caromi_element_root(motion, element, 0, &root);
        if (best && caromi_root_order(&root, 0, &best_root, 0) != which)
            continue;
        best = element;
        best_root = root;
    }
    return best;
}

/* Finds the begin or end of contact: a crossing, else a graze. */
int caromi_touch_find(caromi_motion *motion, int which, caromi_touch *touch)
{
    touch->side = which;
    touch->element = find_crossing(motion, which);
    if (touch->element == NULL) {
        touch->side = 0;
        touch->element = find_graze(motion, which);
    }
    if (touch->element == NULL)
        return 0;
    caromi_element_root(motion, touch->element, touch->side, &touch->root);
    touch->time = caromi_root_approx(&touch->root);
    return 1;
}

/* ---- time 0 -------------------------------------------------------------------------------------------------------
 */

/* (e x d).n: the barycentric weight of the foot on the face at the corner opposite the edge, times n.n. */
static void weight_of(caromi_motion *motion, int edge, caromi_int *out)
{
    caromi_int3 e_cross_d;
    caromi_int3_cross(&e_cross_d, &motion->e[edge], &motion->d[edge]);
    caromi_int3_dot(out, &e_cross_d, caromi_motion_normal(motion));
}

/* Position of the foot along the edge, times e.e: from the first corner, and from the second (negative before that
 * corner). */
static void reach_of(caromi_motion *motion, int edge, caromi_int reach[2])
{
    caromi_int3_dot(&reach[0], &motion->d[edge], &motion->e[edge]);
    caromi_int_sub(&reach[1], &reach[0], caromi_motion_edge2(motion, edge));
}

/* The closest feature. reach[edge]: how far the centre's projection is beyond the edge's first corner, and beyond its
 * second, along the edge, in the edge's squared length (reach_of). */
static int nearest_feature(caromi_motion *motion, caromi_int reach[3][2])
{
    for (int edge = 0; edge < 3; edge++)
        reach_of(motion, edge, reach[edge]);
    for (int corner = 0; corner < 3; corner++)
        if (reach[corner][0].sign <= 0 && reach[(corner + 2) % 3][1].sign >= 0)
            return FEATURE_V0 + corner;
    for (int edge = 0; edge < 3; edge++) {
        caromi_int weight;
        if (caromi_motion_edge2(motion, edge)->sign == 0 || reach[edge][0].sign < 0 || reach[edge][1].sign > 0)
            continue;
        weight_of(motion, edge, &weight);
        if (weight.sign <= 0)
            return FEATURE_E01 + edge;
    }
    return FEATURE_FACE;
}

/* The quotient of two integers. */
static double ratio(const caromi_int *part, const caromi_int *whole)
{
    return caromi_approx_double(caromi_approx_div(caromi_int_approx(part), caromi_int_approx(whole)), 0);
}

/* Barycentric weights of the closest point, at corners 1 and 2. */
static void nearest_weights(caromi_motion *motion, int feature, caromi_int reach[3][2], double weights[2])
{
    weights[0] = feature == FEATURE_V1 ? 1.0 : 0.0;
    weights[1] = feature == FEATURE_V2 ? 1.0 : 0.0;
    if (feature == FEATURE_FACE) {
        caromi_int weight;
        weight_of(motion, 2, &weight);
        weights[0] = ratio(&weight, caromi_motion_normal2(motion));
        weight_of(motion, 0, &weight);
        weights[1] = ratio(&weight, caromi_motion_normal2(motion));
    } else if (feature == FEATURE_E01) {
        weights[0] = ratio(&reach[0][0], caromi_motion_edge2(motion, 0));
    } else if (feature == FEATURE_E12) {
        weights[1] = ratio(&reach[1][0], caromi_motion_edge2(motion, 1));
        weights[0] = 1.0 - weights[1];
    } else if (feature == FEATURE_E20) {
        weights[1] = 1.0 - ratio(&reach[2][0], caromi_motion_edge2(motion, 2));
    }
}

/* The squared distance to a feature, as a numerator and the returned denominator. */
const caromi_int *caromi_nearest_square(caromi_motion *motion, int feature, caromi_int *square)
{
    if (feature < FEATURE_E01) {
        const caromi_int3 *from_corner = &motion->d[feature - FEATURE_V0];
        caromi_int3_dot(square, from_corner, from_corner);
        return NULL;
    }
    if (feature < FEATURE_FACE) {
        const int edge = feature - FEATURE_E01;
        caromi_int3 e_cross_d;
        caromi_int3_cross(&e_cross_d, &motion->e[edge], &motion->d[edge]);
        caromi_int3_dot(square, &e_cross_d, &e_cross_d);
        return caromi_motion_edge2(motion, edge);
    }
    caromi_int height;
    caromi_int3_dot(&height, caromi_motion_normal(motion), &motion->d[0]);
    caromi_int_square(square, &height);
    return caromi_motion_normal2(motion);
}

/* The sign of the distance to a feature's point, line or plane - r. */
static int nearest_order(caromi_motion *motion, int feature)
{
    caromi_int square, reach;
    const caromi_int *over = caromi_nearest_square(motion, feature, &square);
    if (over == NULL)
        return caromi_int_compare(&square, &motion->r2);
    caromi_int_mul(&reach, &motion->r2, over);
    return caromi_int_compare(&square, &reach);
}

/* The closest feature, its weights, and whether it is within the radius. */
void caromi_nearest_of(caromi_motion *motion, caromi_nearest *nearest)
{
    caromi_int reach[3][2];
    nearest->feature = nearest_feature(motion, reach);
    nearest_weights(motion, nearest->feature, reach, nearest->weights);
    nearest->order = nearest_order(motion, nearest->feature);
}

/* A multiple of the offset from a feature's point to the centre. */
void caromi_nearest_gap(caromi_motion *motion, int feature, caromi_int3 *gap)
{
    if (feature < FEATURE_E01) {
        for (int i = 0; i < 3; i++)
            caromi_int_copy(&gap->x[i], &motion->d[feature - FEATURE_V0].x[i]);
    } else if (feature < FEATURE_FACE) {
        /* (e x d) x e = d e.e - e d.e */
        const int edge = feature - FEATURE_E01;
        caromi_int3 e_cross_d;
        caromi_int3_cross(&e_cross_d, &motion->e[edge], &motion->d[edge]);
        caromi_int3_cross(gap, &e_cross_d, &motion->e[edge]);
    } else {
        const caromi_int3 *normal = caromi_motion_normal(motion);
        caromi_int height;
        caromi_int3_dot(&height, normal, &motion->d[0]);
        for (int i = 0; i < 3; i++) {
            caromi_int_copy(&gap->x[i], &normal->x[i]);
            gap->x[i].sign *= height.sign;
            if (height.sign == 0)
                caromi_int_zero(&gap->x[i]);
        }
    }
}

/* Scales by the greatest exponent first, so that squares stay in range. */
void caromi_store_unit(const caromi_approx from[3], float out[3])
{
    double scaled[3], square = 0.0;
    int greatest_exponent = INT32_MIN;
    for (int i = 0; i < 3; i++)
        if (from[i].m != 0.0 && from[i].e > greatest_exponent)
            greatest_exponent = from[i].e;
    for (int i = 0; i < 3; i++) {
        scaled[i] = from[i].m == 0.0 ? 0.0 : from[i].m * caromi_power2(from[i].e - greatest_exponent);
        square += scaled[i] * scaled[i];
    }
    const double length = sqrt(square);
    for (int i = 0; i < 3; i++)
        out[i] = square > 0.0 ? caromi_float_of(scaled[i] / length) : 0.0f;
}

void caromi_store_unit_of(const caromi_int3 *v, int sign, float out[3])
{
    caromi_approx components[3];
    for (int i = 0; i < 3; i++) {
        components[i] = caromi_int_approx(&v->x[i]);
        components[i].m *= (double)sign;
    }
    caromi_store_unit(components, out);
}

/* P0 + weights[0] e01 + weights[1] e02 + t w, in binary64. */
void caromi_point_of(const float *corners, const double weights[2], const float *w, double t, float out[3])
{
    for (int i = 0; i < 3; i++) {
        const double p0 = (double)corners[i], e01 = (double)corners[3 + i] - p0, e02 = (double)corners[6 + i] - p0;
        double coordinate = p0 + (weights[0] * e01 + weights[1] * e02);
        /* The point of a corner is the corner itself, without the rounding of a difference. */
        if (weights[0] == 1.0)
            coordinate = (double)corners[3 + i];
        else if (weights[1] == 1.0)
            coordinate = (double)corners[6 + i];
        out[i] = caromi_float_of(coordinate + t * (double)w[i]);
    }
}
