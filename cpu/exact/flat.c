/* SPDX-License-Identifier: MIT */
/* The angle between two triangles, decided exactly: a floating-point filter in binary64, then integers. With normals n
 * and m, and c the cosine of the largest angle, n.m >= c |n| |m| is decided by (n.m)^2 against c^2 n^2 m^2, of at most
 * 2232 and 106 + 2228 bits (integer.h). */
#include "exact.h"

#include <math.h>
#include <string.h>

#include "cube.h"
#include "motion.h"

typedef struct normal {
    double x[3], square, error_factor; /* error_factor: bound of the normal's relative error, in units of 2^-53 */
} normal;

static normal normal_of(const float *p)
{
    double a[3], b[3], aa = 0.0, bb = 0.0;
    normal n = {.square = 0.0};
    for (int k = 0; k < 3; k++) {
        a[k] = (double)p[3 + k] - (double)p[k];
        b[k] = (double)p[6 + k] - (double)p[k];
        aa += a[k] * a[k];
        bb += b[k] * b[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        n.x[k] = a[i] * b[j] - a[j] * b[i];
        n.square += n.x[k] * n.x[k];
    }
    n.error_factor = 8.0 * sqrt(aa * bb / n.square); /* infinite or NaN without area */
    return n;
}

static void integers_of(const float *corners, float *in, caromi_motion *motion)
{
    memset(in, 0, IN_SWEEP_RESTING * sizeof *in);
    memcpy(in + IN_CX, corners, 3 * sizeof *in);
    memcpy(in + IN_P0X, corners, 9 * sizeof *in);
    caromi_motion_of(motion, in, IN_SWEEP_RESTING);
}

static int decide(const float *one, const float *other, int sign, double least)
{
    float in[2][IN_SWEEP_RESTING];
    caromi_motion motion[2];
    caromi_int dot, factor, a, b, left, right;
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
    caromi_int_square(&a, &factor);
    caromi_int_mul(&b, caromi_motion_normal2(&motion[0]), caromi_motion_normal2(&motion[1]));
    caromi_int_mul(&right, &a, &b);
    caromi_int_square(&a, &dot);
    caromi_int_shift(&left, exponent < 0 ? &a : &right, 2 * (exponent < 0 ? -exponent : exponent));
    const int order = exponent < 0 ? caromi_int_compare(&left, &right) : caromi_int_compare(&a, &left);
    return least > 0.0 ? order >= 0 : order <= 0;
}

int caromi_exact_is_flat(const float *one, const float *other, int sign, double least)
{
    const normal n = normal_of(one), m = normal_of(other);
    const double dot = n.x[0] * m.x[0] + n.x[1] * m.x[1] + n.x[2] * m.x[2];
    const double cosine = (double)sign * dot / (sqrt(n.square) * sqrt(m.square));
    const double error = 0x1p-53 * (2.0 * (n.error_factor + m.error_factor) + 16.0);
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

/* Each of the six products is off by less than 6 u of itself, and so is their sum by less than 12 u of their sizes. */
int caromi_exact_orientation(const float *a, const float *b, const float *p, const float *q)
{
    double e[3], x[3], y[3], sum = 0.0, size = 0.0;
    if (memcmp(p, q, 3 * sizeof *p) == 0)
        return 0;
    for (int k = 0; k < 3; k++) {
        e[k] = (double)b[k] - (double)a[k];
        x[k] = (double)p[k] - (double)a[k];
        y[k] = (double)q[k] - (double)a[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        sum += (e[i] * x[j] - e[j] * x[i]) * y[k];
        size += (fabs(e[i] * x[j]) + fabs(e[j] * x[i])) * fabs(y[k]);
    }
    if (fabs(sum) > 0x1p-49 * size)
        return sum > 0.0 ? 1 : -1;
    return orientation_in_integers(a, b, p, q);
}

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
