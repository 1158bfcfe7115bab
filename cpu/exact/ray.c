/* SPDX-License-Identifier: MIT */
#include "ray.h"

#include <math.h>

#include "integer.h"

__extension__ typedef __int128 wide;

static int sign_of(wide x)
{
    return (x > 0) - (x < 0);
}

/* Converts numbers to integers in units of their lowest common bit; returns 0 if one of them has more than `bits`
 * bits. */
static int scale(const float *x, int count, int bits, int64_t *to)
{
    const int unit = caromi_lowest_bit(x, count);
    const double per_unit = caromi_power2(unit == CAROMI_NO_BIT ? 0 : -unit), limit = caromi_power2(bits);
    int fits = 1;
    for (int i = 0; i < count; i++) {
        const double scaled = (double)x[i] * per_unit;
        fits = fits && fabs(scaled) < limit;
        to[i] = fits ? (int64_t)scaled : 0;
    }
    return fits;
}

static void difference(caromi_int *out, float a, float b, int unit)
{
    caromi_int subtrahend;
    caromi_int_of_float(out, a, unit);
    caromi_int_of_float(&subtrahend, b, unit);
    caromi_int_sub(out, out, &subtrahend);
}

static int unit_of(const float *x, int count)
{
    const int lowest = caromi_lowest_bit(x, count);
    return lowest == CAROMI_NO_BIT ? 0 : lowest;
}

/* ---- sides ------------------------------------------------------------------------------------------------------- */

/* (a - p) x (b - p) of in = ax ay bx by px py. */
static int side_in_integers(const float in[6])
{
    const int unit = unit_of(in, 6);
    caromi_int ax, ay, bx, by, left, right;
    difference(&ax, in[0], in[4], unit);
    difference(&ay, in[1], in[5], unit);
    difference(&bx, in[2], in[4], unit);
    difference(&by, in[3], in[5], unit);
    caromi_int_mul(&left, &ax, &by);
    caromi_int_mul(&right, &ay, &bx);
    return caromi_int_compare(&left, &right);
}

/* Differences have 62 bits, products 124. */
static int side_of(const float in[6])
{
    int64_t v[6];
    if (!scale(in, 6, 61, v))
        return side_in_integers(in);
    return sign_of((wide)(v[0] - v[4]) * (v[3] - v[5]) - (wide)(v[1] - v[5]) * (v[2] - v[4]));
}

int caromi_exact_ray_side(const float *a, const float *b, float x, float y)
{
    const float in[6] = {a[0], a[1], b[0], b[1], x, y};
    const int side = side_of(in);
    if (side != 0)
        return side;
    /* The ray is on the line. A move by e in x changes the product by -(by - ay) e, one by e^2 in y by (bx - ax)
     * e^2. */
    if (a[1] != b[1])
        return a[1] < b[1] ? -1 : 1;
    return (a[0] < b[0]) - (b[0] < a[0]);
}

/* ---- heights ----------------------------------------------------------------------------------------------------- */

/* in = P0 P1 P2 start. Signs of the product, and of the normal's x and y. */
typedef struct height {
    int product, x, y;
} height;

static height height_in_integers(const float in[12])
{
    const int unit = unit_of(in, 12);
    caromi_int3 first, second, offset, normal;
    caromi_int product;
    for (int k = 0; k < 3; k++) {
        difference(&first.x[k], in[3 + k], in[k], unit);
        difference(&second.x[k], in[6 + k], in[k], unit);
        difference(&offset.x[k], in[9 + k], in[k], unit);
    }
    caromi_int3_cross(&normal, &first, &second);
    caromi_int3_dot(&product, &normal, &offset);
    return (height){product.sign, normal.x[0].sign, normal.x[1].sign};
}

/* Differences have 40 bits, components of the normal 81, the product 123. */
static height height_of(const float in[12])
{
    int64_t v[12], e[3], f[3], d[3];
    if (!scale(in, 12, 39, v))
        return height_in_integers(in);
    for (int k = 0; k < 3; k++) {
        e[k] = v[3 + k] - v[k];
        f[k] = v[6 + k] - v[k];
        d[k] = v[9 + k] - v[k];
    }
    const wide x = (wide)e[1] * f[2] - (wide)e[2] * f[1], y = (wide)e[2] * f[0] - (wide)e[0] * f[2];
    const wide z = (wide)e[0] * f[1] - (wide)e[1] * f[0];
    return (height){sign_of(x * d[0] + y * d[1] + z * d[2]), sign_of(x), sign_of(y)};
}

int caromi_exact_ray_height(const float *const p[3], const float start[3])
{
    const float in[12] = {p[0][0], p[0][1], p[0][2], p[1][0],  p[1][1],  p[1][2],
                          p[2][0], p[2][1], p[2][2], start[0], start[1], start[2]};
    const height h = height_of(in);
    return h.product != 0 ? h.product : h.x != 0 ? h.x : h.y; /* the start is in the plane: the symbolic move decides */
}
