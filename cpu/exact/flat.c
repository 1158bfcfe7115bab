/* SPDX-License-Identifier: MIT */
/* The angle between two triangles, decided exactly: a floating-point filter in binary64, then integers. With normals n
 * and m, and c the cosine of the largest angle, n.m >= c |n| |m| is decided by (n.m)^2 against c^2 n^2 m^2, of at most
 * 2232 and 106 + 2228 bits (integer.h). */
#include "exact.h"

#include <math.h>
#include <string.h>

#include "cube.h"
#include "motion.h"

/* A triangle's normal in binary64. */
typedef struct normal {
    double x[3], square, error_factor; /* error_factor: bound of the normal's relative error, in units of 2^-53 */
} normal;

/* The normal of a triangle (nine numbers), and how imprecise it is. */
static normal normal_of(const float *corners)
{
    double edge1[3], edge2[3], edge1_square = 0.0, edge2_square = 0.0;
    normal result = {.square = 0.0};
    for (int k = 0; k < 3; k++) {
        edge1[k] = (double)corners[3 + k] - (double)corners[k];
        edge2[k] = (double)corners[6 + k] - (double)corners[k];
        edge1_square += edge1[k] * edge1[k];
        edge2_square += edge2[k] * edge2[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        result.x[k] = edge1[i] * edge2[j] - edge1[j] * edge2[i];
        result.square += result.x[k] * result.x[k];
    }
    result.error_factor = 8.0 * sqrt(edge1_square * edge2_square / result.square); /* infinite or NaN without area */
    return result;
}

/* The triangle in integers; its first corner stands in for a centre. */
static void integers_of(const float *corners, float *in, caromi_motion *motion)
{
    memset(in, 0, IN_SWEEP_RESTING * sizeof *in);
    memcpy(in + IN_CX, corners, 3 * sizeof *in);
    memcpy(in + IN_P0X, corners, 9 * sizeof *in);
    caromi_motion_of(motion, in, IN_SWEEP_RESTING);
}

/* Compares (n.m)^2 with c^2 n^2 m^2 in integers, after their signs. */
static int decide(const float *one, const float *other, int sign, double least)
{
    float in[2][IN_SWEEP_RESTING];
    caromi_motion motion[2];
    caromi_int dot, factor, dot_square, normals2, left, right;
    int exponent;
    integers_of(one, in[0], &motion[0]);
    integers_of(other, in[1], &motion[1]);
    if (caromi_motion_normal2(&motion[0])->sign == 0 || caromi_motion_normal2(&motion[1])->sign == 0)
        return 0;
    caromi_int3_dot(&dot, caromi_motion_normal(&motion[0]), caromi_motion_normal(&motion[1]));
    dot.sign *= sign;
    if (least > 0.0 ? dot.sign <= 0 : dot.sign >= 0)
        return least <= 0.0;
    /* Both sides have the sign of the cosine, which is not 0. */
    caromi_int_of_unsigned(&factor, 1, caromi_split_double(least, &exponent));
    caromi_int_square(&dot_square, &factor);
    caromi_int_mul(&normals2, caromi_motion_normal2(&motion[0]), caromi_motion_normal2(&motion[1]));
    caromi_int_mul(&right, &dot_square, &normals2);
    caromi_int_square(&dot_square, &dot);
    caromi_int_shift(&left, exponent < 0 ? &dot_square : &right, 2 * (exponent < 0 ? -exponent : exponent));
    const int order = exponent < 0 ? caromi_int_compare(&left, &right) : caromi_int_compare(&dot_square, &left);
    return least > 0.0 ? order >= 0 : order <= 0;
}

/* The filter first: the cosine in binary64 with its error. */
int caromi_exact_is_flat(const float *one, const float *other, int sign, double least)
{
    const normal first = normal_of(one), second = normal_of(other);
    const double dot = first.x[0] * second.x[0] + first.x[1] * second.x[1] + first.x[2] * second.x[2];
    const double cosine = (double)sign * dot / (sqrt(first.square) * sqrt(second.square));
    const double error = 0x1p-53 * (2.0 * (first.error_factor + second.error_factor) + 16.0);
    if (error < 0.25 && fabs(cosine - least) > error)
        return cosine > least;
    return decide(one, other, sign, least);
}

/* The sphere's centre is at q, the triangle is a, b, p. */
static int orientation_in_integers(const float *a, const float *b, const float *p, const float *q)
{
    float in[IN_SWEEP_RESTING] = {0};
    caromi_motion motion;
    caromi_int height;
    memcpy(in + IN_CX, q, 3 * sizeof *in);
    memcpy(in + IN_P0X, a, 3 * sizeof *in);
    memcpy(in + IN_P0X + 3, b, 3 * sizeof *in);
    memcpy(in + IN_P0X + 6, p, 3 * sizeof *in);
    caromi_motion_of(&motion, in, IN_SWEEP_RESTING);
    caromi_int3_dot(&height, caromi_motion_normal(&motion), &motion.d[0]);
    return height.sign;
}

/* Determinant of the edge and the offsets to p and q. Each of its six products is off by less than 6 u of itself, and
 * their sum by less than 12 u of their sizes; else integers decide. */
int caromi_exact_orientation(const float *a, const float *b, const float *p, const float *q)
{
    double edge[3], to_p[3], to_q[3], sum = 0.0, size = 0.0;
    if (memcmp(p, q, 3 * sizeof *p) == 0)
        return 0;
    for (int k = 0; k < 3; k++) {
        edge[k] = (double)b[k] - (double)a[k];
        to_p[k] = (double)p[k] - (double)a[k];
        to_q[k] = (double)q[k] - (double)a[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        sum += (edge[i] * to_p[j] - edge[j] * to_p[i]) * to_q[k];
        size += (fabs(edge[i] * to_p[j]) + fabs(edge[j] * to_p[i])) * fabs(to_q[k]);
    }
    if (fabs(sum) > 0x1p-49 * size)
        return sum > 0.0 ? 1 : -1;
    return orientation_in_integers(a, b, p, q);
}

/* The filter first: a normal that is precise is not 0. */
int caromi_exact_has_area(const float *corners)
{
    float in[IN_SWEEP_RESTING];
    caromi_motion motion;
    const double error = 0x1p-53 * normal_of(corners).error_factor;
    if (error < 0.25)
        return 1;
    integers_of(corners, in, &motion);
    return caromi_motion_normal2(&motion)->sign != 0;
}
