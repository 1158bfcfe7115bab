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

/* a - b, in units of 2^unit. */
static void difference(caromi_int *out, float a, float b, int unit)
{
    caromi_int subtrahend;
    caromi_int_of_float(out, a, unit);
    caromi_int_of_float(&subtrahend, b, unit);
    caromi_int_sub(out, out, &subtrahend);
}

/* The exponent of the lowest bit; 0 if all numbers are 0. */
static int unit_of(const float *x, int count)
{
    const int lowest = caromi_lowest_bit(x, count);
    return lowest == CAROMI_NO_BIT ? 0 : lowest;
}

/* ---- sides ------------------------------------------------------------------------------------------------------- */

/* Inputs of a side: the ends of an edge and the ray, seen from above. */
enum { SIDE_AX, SIDE_AY, SIDE_BX, SIDE_BY, SIDE_PX, SIDE_PY, SIDE_COUNT };

/* The sign of (a - p) x (b - p). */
static int side_in_integers(const float in[SIDE_COUNT])
{
    const int unit = unit_of(in, SIDE_COUNT);
    caromi_int ax, ay, bx, by, left, right;
    difference(&ax, in[SIDE_AX], in[SIDE_PX], unit);
    difference(&ay, in[SIDE_AY], in[SIDE_PY], unit);
    difference(&bx, in[SIDE_BX], in[SIDE_PX], unit);
    difference(&by, in[SIDE_BY], in[SIDE_PY], unit);
    caromi_int_mul(&left, &ax, &by);
    caromi_int_mul(&right, &ay, &bx);
    return caromi_int_compare(&left, &right);
}

/* The same in 128 bits, if the numbers fit: differences have 62 bits, products 124. */
static int side_of(const float in[SIDE_COUNT])
{
    int64_t v[SIDE_COUNT];
    if (!scale(in, SIDE_COUNT, 61, v))
        return side_in_integers(in);
    return sign_of((wide)(v[SIDE_AX] - v[SIDE_PX]) * (v[SIDE_BY] - v[SIDE_PY]) -
                   (wide)(v[SIDE_AY] - v[SIDE_PY]) * (v[SIDE_BX] - v[SIDE_PX]));
}

/* The side of the line; a ray on the line is moved to one side, as ray.h says. */
int caromi_exact_ray_side(const float *a, const float *b, float x, float y)
{
    const float in[SIDE_COUNT] = {a[0], a[1], b[0], b[1], x, y};
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

/* Inputs of a height: a triangle and the ray's start, three coordinates each. */
enum { HEIGHT_P0, HEIGHT_P1 = 3, HEIGHT_P2 = 6, HEIGHT_START = 9, HEIGHT_COUNT = 12 };

/* Signs of the product, and of the normal's x and y. */
typedef struct height {
    int product, x, y;
} height;

/* The height of the start above the plane, in integers of any size. */
static height height_in_integers(const float in[HEIGHT_COUNT])
{
    const int unit = unit_of(in, HEIGHT_COUNT);
    caromi_int3 first, second, offset, normal;
    caromi_int product;
    for (int k = 0; k < 3; k++) {
        difference(&first.x[k], in[HEIGHT_P1 + k], in[HEIGHT_P0 + k], unit);
        difference(&second.x[k], in[HEIGHT_P2 + k], in[HEIGHT_P0 + k], unit);
        difference(&offset.x[k], in[HEIGHT_START + k], in[HEIGHT_P0 + k], unit);
    }
    caromi_int3_cross(&normal, &first, &second);
    caromi_int3_dot(&product, &normal, &offset);
    return (height){product.sign, normal.x[0].sign, normal.x[1].sign};
}

/* The same in 128 bits, if the numbers fit: differences have 40 bits, components of the normal 81, the product 123. */
static height height_of(const float in[HEIGHT_COUNT])
{
    int64_t v[HEIGHT_COUNT], e01[3], e02[3], offset[3];
    if (!scale(in, HEIGHT_COUNT, 39, v))
        return height_in_integers(in);
    for (int k = 0; k < 3; k++) {
        e01[k] = v[HEIGHT_P1 + k] - v[HEIGHT_P0 + k];
        e02[k] = v[HEIGHT_P2 + k] - v[HEIGHT_P0 + k];
        offset[k] = v[HEIGHT_START + k] - v[HEIGHT_P0 + k];
    }
    /* The triangle's normal. */
    const wide x = (wide)e01[1] * e02[2] - (wide)e01[2] * e02[1], y = (wide)e01[2] * e02[0] - (wide)e01[0] * e02[2];
    const wide z = (wide)e01[0] * e02[1] - (wide)e01[1] * e02[0];
    return (height){sign_of(x * offset[0] + y * offset[1] + z * offset[2]), sign_of(x), sign_of(y)};
}

/* Whether the start is above the plane; a start in the plane is moved, as ray.h says. */
int caromi_exact_ray_height(const float *const p[3], const float start[3])
{
    const float in[HEIGHT_COUNT] = {p[0][0], p[0][1], p[0][2], p[1][0],  p[1][1],  p[1][2],
                                    p[2][0], p[2][1], p[2][2], start[0], start[1], start[2]};
    const height h = height_of(in);
    return h.product != 0 ? h.product : h.x != 0 ? h.x : h.y; /* the start is in the plane: the symbolic move decides */
}
