/* SPDX-License-Identifier: MIT */
/* Lengths of a lattice and of the cubes around its nodes, compared in integers. docs/volumes.md, section 4, counts the
 * bits. */
#include "cube.h"

#include <string.h>

#include "touch.h"

/* Reads the bits, so that no mode of the processor flushes x to zero. */
uint64_t caromi_split_double(double x, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t field = bits >> 52 & 2047, fraction = bits & ((UINT64_C(1) << 52) - 1);
    const uint64_t m = field != 0 ? fraction | UINT64_C(1) << 52 : fraction;
    const int zeros = m != 0 ? __builtin_ctzll(m) : 0;
    *exponent = m != 0 ? (int)(field != 0 ? field : 1) - 1075 + zeros : CAROMI_NO_BIT;
    return m >> zeros;
}

/* Exponent of the lowest bit that is set. */
static int lowest_bit(double x)
{
    int exponent;
    caromi_split_double(x, &exponent);
    return exponent;
}

static int lower(int a, int b)
{
    return a < b ? a : b;
}

/* x / 2^unit, unit at most the exponent of the lowest bit of x. */
static void int_of_double(caromi_int *out, double x, int unit)
{
    caromi_int m;
    int exponent;
    caromi_int_of_unsigned(&m, x < 0 ? -1 : 1, caromi_split_double(x, &exponent));
    caromi_int_shift(out, &m, m.sign != 0 ? exponent - unit : 0);
}

/* ---- half a diagonal --------------------------------------------------------------------------------------------- */

/* Whether h >= sqrt(3) / 2 H (1 + 2^-16), H being the spacing: h^2 2^34 >= 3 H^2 (2^16 + 1)^2. */
static int is_half(double candidate, double spacing)
{
    const int unit = lower(lowest_bit(candidate), lowest_bit(spacing));
    caromi_int x, square, left, factor, right;
    int_of_double(&x, candidate, unit);
    caromi_int_square(&square, &x);
    caromi_int_shift(&left, &square, 34);
    int_of_double(&x, spacing, unit);
    caromi_int_square(&square, &x);
    caromi_int_of_unsigned(&factor, 1, UINT64_C(3) * 65537 * 65537);
    caromi_int_mul(&right, &square, &factor);
    return caromi_int_compare(&left, &right) >= 0;
}

/* Starts near the bound and steps to the least number that satisfies it. */
double caromi_cube_half(double spacing)
{
    double candidate = spacing * 0x1.bb67ae8584caap-1 * (1.0 + 0x1p-16); /* about sqrt(3) / 2 */
    while (!is_half(candidate, spacing))
        candidate = nextafter(candidate, HUGE_VAL);
    for (double less = nextafter(candidate, 0.0); less > 0.0 && is_half(less, spacing);
         less = nextafter(candidate, 0.0))
        candidate = less;
    return candidate;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* Compares 2^17 |node - (origin + index spacing)| with the spacing. */
int caromi_cube_is_displaced(double origin, double spacing, uint64_t index, float node)
{
    const double node_position = (double)node;
    const int unit = lower(lower(lowest_bit(origin), lowest_bit(node_position)), lowest_bit(spacing));
    caromi_int step, steps, exact_position, value, offset, magnified;
    int_of_double(&step, spacing, unit);
    caromi_int_of_unsigned(&value, 1, index);
    caromi_int_mul(&steps, &step, &value);
    int_of_double(&value, origin, unit);
    caromi_int_add(&exact_position, &value, &steps);
    int_of_double(&value, node_position, unit);
    caromi_int_sub(&offset, &value, &exact_position);
    offset.sign = offset.sign != 0;
    caromi_int_shift(&magnified, &offset, 17);
    return caromi_int_compare(&magnified, &step) > 0;
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

/* Compares a distance with a limit: 1 if it is greater, which it is than any below 0. The limit and the distance's
 * square / over are in units of 2^unit and of 2^m.unit. */
static int compare(const caromi_int *square, const caromi_int *over, int finer, const caromi_int *limit)
{
    caromi_int left, limit2, right;
    if (limit->sign < 0)
        return 1;
    caromi_int_shift(&left, square, 2 * finer);
    caromi_int_square(&limit2, limit);
    if (over == NULL)
        return caromi_int_compare(&left, &limit2);
    caromi_int_mul(&right, &limit2, over);
    return caromi_int_compare(&left, &right);
}

/* Compares the squared distance with the square of the limit. */
int caromi_cube_reaches(const float *in, const caromi_cube *cube, enum caromi_cube_limit which)
{
    float pair_at_rest[IN_SWEEP_RESTING] = {0}; /* without radius and motion */
    const double radius = (double)cube->radius;
    caromi_motion motion;
    caromi_nearest nearest;
    caromi_int square, limit, half;
    memcpy(pair_at_rest + IN_CX, in + IN_NCX, 3 * sizeof *in);
    memcpy(pair_at_rest + IN_P0X, in + IN_NP0X, 9 * sizeof *in);
    if (!caromi_motion_of(&motion, pair_at_rest, IN_SWEEP_RESTING))
        return 0;
    caromi_nearest_of(&motion, &nearest);
    const caromi_int *denominator = caromi_nearest_square(&motion, nearest.feature, &square);
    const int unit = lower(motion.unit, lower(lowest_bit(radius), lowest_bit(cube->half)));
    int_of_double(&limit, radius, unit);
    int_of_double(&half, cube->half, unit);
    if (which == CAROMI_CUBE_FREE)
        caromi_int_add(&limit, &limit, &half);
    else if (which == CAROMI_CUBE_BLOCKED)
        caromi_int_sub(&limit, &limit, &half);
    else
        caromi_int_sub(&limit, &half, &limit);
    return compare(&square, denominator, motion.unit - unit, &limit) < (which == CAROMI_CUBE_INSIDE ? 0 : 1);
}
