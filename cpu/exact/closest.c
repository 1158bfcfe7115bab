/* SPDX-License-Identifier: MIT */
/* Distance and closest point in integers. */
#include "exact.h"

#include <string.h>

#include "touch.h"

/* The binary32 nearest to sqrt(square / over), as a root of the form of root.h: sqrt(over square) / over. */
static float distance_of(const caromi_motion *motion, const caromi_int *square, const caromi_int *over)
{
    caromi_int one, zero;
    if (square->sign == 0)
        return 0;
    caromi_int_of_unsigned(&one, 1, 1);
    caromi_int_zero(&zero);
    const caromi_root root = {.a = over ? over : &one, .b = &zero, .e = over, .y = square, .side = 1};
    const caromi_approx square_approx = caromi_int_approx(square);
    const caromi_approx approx = over ? caromi_approx_div(square_approx, caromi_int_approx(over)) : square_approx;
    return caromi_root_float(&root, caromi_approx_sqrt(approx), motion->unit);
}

/* The pair without radius and motion; returns 0 if a number is not finite. pair_at_rest: IN_SWEEP_RESTING numbers that
 * outlive the motion. */
static int motion_of(const float *in, float *pair_at_rest, caromi_motion *motion)
{
    memset(pair_at_rest, 0, IN_SWEEP_RESTING * sizeof *pair_at_rest);
    memcpy(pair_at_rest + IN_CX, in + IN_NCX, 3 * sizeof *in);
    memcpy(pair_at_rest + IN_P0X, in + IN_NP0X, 9 * sizeof *in);
    return caromi_motion_of(motion, pair_at_rest, IN_SWEEP_RESTING);
}

/* The closest point in space. */
static void point_of(const float *in, const caromi_nearest *nearest, float point[3])
{
    static const float at_rest[3];
    caromi_point_of(in + IN_NP0X, nearest->weights, at_rest, 0, point);
}

/* Closest point, feature and distance of a pair. */
void caromi_exact_closest_of(const float *in, caromi_exact_closest *out)
{
    float pair_at_rest[IN_SWEEP_RESTING];
    caromi_motion motion;
    caromi_nearest nearest;
    caromi_int square;
    memset(out, 0, sizeof *out);
    if (!motion_of(in, pair_at_rest, &motion))
        return;
    caromi_nearest_of(&motion, &nearest);
    const caromi_int *denominator = caromi_nearest_square(&motion, nearest.feature, &square);
    out->distance = distance_of(&motion, &square, denominator);
    out->feature = nearest.feature;
    point_of(in, &nearest, out->point);
}

/* Resolves an undecided pair of a batch. */
void caromi_resolve_closest_exact(caromi_exact_pair *pair)
{
    caromi_exact_closest answer;
    caromi_exact_closest_of(pair->in, &answer);
    memcpy(&pair->real[OUT_CLOSEST_X], answer.point, sizeof answer.point);
    pair->byte[OUT_CLOSEST_FEATURE] = (uint8_t)answer.feature;
}

/* ---- two distances ----------------------------------------------------------------------------------------------- */

/* square / over, in units of 2^(2 unit). */
typedef struct fraction {
    caromi_int square, over;
    int unit;
} fraction;

/* The squared distance of a centre and a triangle, as a fraction; 0 for numbers that are not finite. */
static void square_of(const float *in, fraction *distance2)
{
    float pair_at_rest[IN_SWEEP_RESTING];
    caromi_motion motion;
    caromi_nearest nearest;
    caromi_int_zero(&distance2->square);
    caromi_int_of_unsigned(&distance2->over, 1, 1);
    distance2->unit = 0;
    if (!motion_of(in, pair_at_rest, &motion))
        return;
    caromi_nearest_of(&motion, &nearest);
    const caromi_int *denominator = caromi_nearest_square(&motion, nearest.feature, &distance2->square);
    if (denominator != NULL)
        caromi_int_copy(&distance2->over, denominator);
    distance2->unit = motion.unit;
}

/* A square of at most 1674 bits, an area of 1116, and a difference of units of 277 (integer.h): 3344 bits at most. */
/* Cross-multiplies both fractions in their common unit. */
int caromi_exact_closest_order(const float *in, const float *other)
{
    fraction a, b;
    caromi_int left, right, shifted;
    square_of(in, &a);
    square_of(other, &b);
    const int unit = a.unit < b.unit ? a.unit : b.unit;
    caromi_int_mul(&shifted, &a.square, &b.over);
    caromi_int_shift(&left, &shifted, 2 * (a.unit - unit));
    caromi_int_mul(&shifted, &b.square, &a.over);
    caromi_int_shift(&right, &shifted, 2 * (b.unit - unit));
    return caromi_int_compare(&left, &right);
}

/* |a - b|^2 in binary64. */
static double offset2(const float *a, const float *b)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        sum += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    return sum;
}

/* |a - b|^2 in units of 2^(2 unit). */
static void square_of_offset(const float *a, const float *b, int unit, caromi_int *out)
{
    caromi_int3 offset;
    for (int k = 0; k < 3; k++) {
        caromi_int from;
        caromi_int_of_float(&offset.x[k], a[k], unit);
        caromi_int_of_float(&from, b[k], unit);
        caromi_int_sub(&offset.x[k], &offset.x[k], &from);
    }
    caromi_int3_dot(out, &offset, &offset);
}

/* The filter first; integers if the difference may be rounding. */
int caromi_exact_distance_order(const float *a, const float *b, const float *c, const float *d)
{
    const double one = offset2(a, b), other = offset2(c, d), error = 0x1p-49 * (one + other);
    const float *const points[] = {a, b, c, d};
    caromi_int left, right;
    int unit = CAROMI_NO_BIT;
    if (one - other > error || other - one > error)
        return one > other ? 1 : -1;
    for (int i = 0; i < 4; i++) {
        const int lowest = caromi_lowest_bit(points[i], 3);
        unit = lowest < unit ? lowest : unit;
    }
    if (unit == CAROMI_NO_BIT)
        return 0;
    square_of_offset(a, b, unit, &left);
    square_of_offset(c, d, unit, &right);
    return caromi_int_compare(&left, &right);
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Closest point and normal of a sphere at rest. */
void caromi_exact_touch_of(const float *in, caromi_exact_contact *out)
{
    float pair_at_rest[IN_SWEEP_RESTING];
    caromi_motion motion;
    caromi_nearest nearest;
    caromi_int3 gap;
    memset(out, 0, sizeof *out);
    if (!motion_of(in, pair_at_rest, &motion))
        return;
    caromi_nearest_of(&motion, &nearest);
    out->feature = nearest.feature;
    point_of(in, &nearest, out->point);
    caromi_nearest_gap(&motion, nearest.feature, &gap);
    const int apart = gap.x[0].sign | gap.x[1].sign | gap.x[2].sign;
    caromi_store_unit_of(apart ? &gap : caromi_motion_normal(&motion), 1, out->normal);
}

/* Resolves an undecided pair of a batch. */
void caromi_resolve_touch_exact(caromi_exact_pair *pair)
{
    caromi_exact_contact answer;
    caromi_exact_touch_of(pair->in, &answer);
    memcpy(&pair->real[OUT_POINT_X], answer.point, sizeof answer.point);
    memcpy(&pair->real[OUT_NORMAL_X], answer.normal, sizeof answer.normal);
    pair->byte[OUT_FEATURE] = (uint8_t)answer.feature;
}
