/* SPDX-License-Identifier: MIT */
/* Signs, values and rounding of numbers with one square root. A filter in doubles comes first; undecided signs are
 * decided by squares in integers. */
#include "root.h"

#include "kernels/layout.h"

/* ---- signs --------------------------------------------------------------------------------------------------------
 */

void caromi_surd_set(caromi_surd *surd, caromi_approx root_e, caromi_approx root_y)
{
    surd->x = caromi_approx_mul(caromi_int_approx(surd->p), root_e);
    surd->z = caromi_approx_mul(caromi_int_approx(surd->s), root_y);
}

/* p^2 E - s^2 Y, the product of the surd with its conjugate. */
static void surd_norm(const caromi_surd *surd, caromi_int *out)
{
    caromi_int square, with_y;
    caromi_int_square(&square, surd->s);
    caromi_int_mul(&with_y, &square, surd->y);
    caromi_int_square(&square, surd->p);
    if (surd->e == NULL) {
        caromi_int_sub(out, &square, &with_y);
        return;
    }
    caromi_int_mul(out, &square, surd->e);
    caromi_int_sub(out, out, &with_y);
}

/* The sum of both terms. Returns whether it did not cancel: if its magnitude is more than `share` of the larger term,
 * its relative error is at most 2^-49 / share. */
static int sum_is_clear(caromi_approx x, caromi_approx z, double share, caromi_approx *sum)
{
    const int e = caromi_approx_align(&x, &z);
    const double most = fabs(x.m) > fabs(z.m) ? fabs(x.m) : fabs(z.m);
    *sum = (caromi_approx){x.m + z.m, e};
    return fabs(sum->m) > share * most;
}

/* The number with its sign changed if side is -1. */
static caromi_approx signed_by(caromi_approx a, int side)
{
    return (caromi_approx){side < 0 ? -a.m : a.m, a.e};
}

/* The sign of p sqrt(E) + side s sqrt(Y): by the terms' signs, by their values, or by the norm. */
int caromi_surd_sign(const caromi_surd *surd, int side)
{
    const int first_sign = surd->p->sign, second_sign = side * surd->s->sign * surd->y->sign;
    caromi_approx sum;
    caromi_int norm;
    if (first_sign == 0 || second_sign == 0 || first_sign == second_sign)
        return first_sign ? first_sign : second_sign;
    if (sum_is_clear(surd->x, signed_by(surd->z, side), 0x1p-44, &sum))
        return sum.m < 0.0 ? -1 : 1;
    surd_norm(surd, &norm);
    return first_sign * norm.sign;
}

caromi_approx caromi_surd_approx(const caromi_surd *surd, int side)
{
    const caromi_approx z = side == 0 ? (caromi_approx){0.0, 0} : signed_by(surd->z, side);
    caromi_approx sum, conjugate;
    caromi_int norm;
    if (sum_is_clear(surd->x, z, 0x1p-6, &sum))
        return sum;
    if (surd->x.m == 0.0 && z.m == 0.0)
        return (caromi_approx){0.0, 0};
    /* The terms cancel, so they have opposite signs, and their difference (the conjugate) is precise. */
    surd_norm(surd, &norm);
    sum_is_clear(surd->x, signed_by(z, -1), 0.0, &conjugate);
    return caromi_approx_div(caromi_int_approx(&norm), conjugate);
}

/* ---- times --------------------------------------------------------------------------------------------------------
 */

/* The sign of a time: by the signs of -B and of the root, or by which of the two is larger. */
int caromi_root_sign(const caromi_root *root)
{
    const int minus_b = -root->b->sign, root_sign = root->side * root->y->sign;
    if (minus_b == 0 || root_sign == 0 || minus_b == root_sign)
        return minus_b ? minus_b : root_sign;
    /* B^2 - E Y = A K tells which term is the larger. */
    return root->k.m > 0.0 ? minus_b : root->k.m < 0.0 ? root_sign : 0;
}

caromi_approx caromi_root_approx(const caromi_root *root)
{
    const caromi_approx minus_b = signed_by(caromi_int_approx(root->b), -1);
    const caromi_approx signed_root = root->side == 0 ? (caromi_approx){0.0, 0} : signed_by(root->root, root->side);
    caromi_approx sum, conjugate;
    if (caromi_root_sign(root) == 0)
        return (caromi_approx){0.0, 0};
    if (sum_is_clear(minus_b, signed_root, 0x1p-3, &sum))
        return caromi_approx_div(sum, caromi_int_approx(root->a));
    sum_is_clear(minus_b, signed_by(signed_root, -1), 0.0, &conjugate);
    return caromi_approx_div(root->k, conjugate);
}

/* m = whole * 2^exponent. */
static void split_double(double m, caromi_int *whole, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &m, sizeof bits);
    const int sign = bits >> 63 ? -1 : 1, field = (int)(bits >> 52 & 2047);
    uint64_t mantissa = (bits & 0xfffffffffffff) | (uint64_t)1 << 52;
    const int zeros = __builtin_ctzll(mantissa);
    *exponent = field - 1075 + zeros;
    caromi_int_of_unsigned(whole, sign, mantissa >> zeros);
}

/* out = -B 2^k - M A 2^j. One of k and j is zero, and both terms are integers. Returns k. */
static int rational_part(const caromi_root *root, double m, int unit, caromi_int *out)
{
    caromi_int whole, product, shifted;
    int exponent = 0;
    if (m == 0.0)
        caromi_int_zero(&whole);
    else
        split_double(m, &whole, &exponent);
    exponent = whole.sign ? exponent - unit : 0;
    const int shift = exponent < 0 ? -exponent : 0;
    caromi_int_mul(&product, &whole, root->a);
    caromi_int_shift(&shifted, &product, exponent < 0 ? 0 : exponent);
    caromi_int_shift(out, root->b, shift);
    caromi_int_add(out, out, &shifted);
    out->sign = -out->sign;
    return shift;
}

/* The sign of root - m: compares the squares of the rational part and of the root. */
int caromi_root_compare(const caromi_root *root, double m, int unit)
{
    caromi_int rational, square, product, shifted;
    const int shift = rational_part(root, m, unit, &rational);
    const int root_sign = root->side * root->y->sign;
    if (rational.sign == 0 || root_sign == 0 || rational.sign == root_sign)
        return rational.sign ? rational.sign : root_sign;
    /* Both parts have opposite signs, so the larger square decides. */
    caromi_int_square(&square, &rational);
    if (root->e)
        caromi_int_mul(&product, root->y, root->e);
    else
        caromi_int_copy(&product, root->y);
    caromi_int_shift(&shifted, &product, 2 * shift);
    return rational.sign * caromi_int_compare(&square, &shifted);
}

/* out = a b 2^bits */
static void scaled_product(caromi_int *out, const caromi_int *a, const caromi_int *b, int bits)
{
    caromi_int product;
    caromi_int_mul(&product, a, b);
    caromi_int_shift(out, &product, bits);
}

/* The square of a root's second part times `by` 2^bits. */
static void part_square(caromi_int *out, const caromi_root *root, const caromi_int *by, int bits)
{
    caromi_int square, with_y;
    caromi_int_zero(out);
    if (root->side == 0)
        return;
    caromi_int_square(&square, by);
    scaled_product(&with_y, &square, root->y, 2 * bits);
    if (root->e != NULL)
        caromi_int_mul(out, &with_y, root->e);
    else
        caromi_int_copy(out, &with_y);
}

/* The sign of |X| - |side sqrt(U) - other_side sqrt(V)|: that of D - 2 ab sqrt(U V), with D = X^2 - U - V, a = side and
 * b = -other_side. */
static int against_roots(const caromi_int *x, int side, const caromi_int *u, int other_side, const caromi_int *v)
{
    caromi_int rest, product, square, four;
    const int sign = -side * other_side * u->sign * v->sign;
    caromi_int_square(&rest, x);
    caromi_int_sub(&rest, &rest, u);
    caromi_int_sub(&rest, &rest, v);
    if (rest.sign != sign || sign == 0)
        return rest.sign != 0 ? rest.sign : -sign;
    caromi_int_square(&square, &rest);
    caromi_int_mul(&product, u, v);
    caromi_int_shift(&four, &product, 2);
    return sign * caromi_int_compare(&square, &four);
}

/* With the common denominator A A', the difference is X + side sqrt(U) - other_side sqrt(V). */
int caromi_root_order(const caromi_root *one, int unit, const caromi_root *two, int other_unit)
{
    const int shift = unit > other_unit ? unit - other_unit : 0,
              other_shift = other_unit > unit ? other_unit - unit : 0;
    caromi_int x, y, u, v;
    scaled_product(&x, two->b, one->a, other_shift);
    scaled_product(&y, one->b, two->a, shift);
    caromi_int_sub(&x, &x, &y);
    part_square(&u, one, two->a, shift);
    part_square(&v, two, one->a, other_shift);
    /* The sign of both roots together. */
    const int sign = one->side * u.sign, other_sign = -two->side * v.sign;
    const int roots = sign == 0 || other_sign == 0 || sign == other_sign ? (sign != 0 ? sign : other_sign)
                                                                         : sign * caromi_int_compare(&u, &v);
    if (x.sign == 0 || roots == 0 || x.sign == roots)
        return x.sign != 0 ? x.sign : roots;
    return x.sign * against_roots(&x, one->side, &u, two->side, &v);
}

/* Whether the last bit of x is set: ties go to even numbers. */
static uint32_t lowest_bit_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 1;
}

/* Rounds a time: if the estimate may round to two numbers, the exact root is compared with their midpoint. */
float caromi_root_float(const caromi_root *root, caromi_approx approx, int unit)
{
    const int sign = approx.m < 0.0 ? -1 : 1;
    const double x = fabs(caromi_approx_double(approx, unit));
    const float low = caromi_float_of(x * (1.0 - 0x1p-44)), high = caromi_float_of(x * (1.0 + 0x1p-44));
    float nearest = low;
    if (low != high) {
        /* low and high are neighbours, and the true time is closer to their midpoint than the error of the estimate. */
        const double middle = ((double)low + (high > 0x1.fffffep127f ? 0x1p128 : (double)high)) * 0.5;
        const int side = sign * caromi_root_compare(root, sign * middle, unit);
        nearest = side > 0 || (side == 0 && lowest_bit_of(low)) ? high : low;
    }
    return nearest == 0.0f ? 0.0f : (float)sign * nearest;
}

/* The state at time 0, by the signs of first and last time. */
int caromi_state_of(int first_sign, int last_sign)
{
    if (first_sign > 0)
        return STATE_APPROACHING;
    if (first_sign == 0)
        return STATE_TOUCHING;
    return last_sign > 0 ? STATE_OVERLAPPING : last_sign == 0 ? STATE_PARTING : STATE_PAST;
}
