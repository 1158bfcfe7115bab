/* SPDX-License-Identifier: MIT */
/* Distances as whole numbers of 8 or 16 bits. A number stands for itself times the scale: so 0 is 0, a sign stays, and
 * the largest numbers are the ends of the range. */
#include "bake.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Types of the number, by its bytes less one and whether distances have signs. */
static const volume_array stored[2][2] = {{{"distance", 1, "UInt8", "|u1", 1}, {"distance", 1, "Int8", "|i1", 1}},
                                          {{"distance", 2, "UInt16", "<u2", 1}, {"distance", 2, "Int16", "<i2", 1}}};

static int has_sign(const bake_plan *plan)
{
    return plan->parameters.sign != CAROM_SIGN_NONE;
}

/* The least number of a sign is left out, so that both ends are as far from 0. */
static double most(const bake_plan *plan)
{
    return ldexp(1.0, plan->bits - has_sign(plan)) - 1.0;
}

const volume_array *bake_stored(const bake_plan *plan, int a)
{
    return a == BAKE_distance && plan->bits > 0 ? &stored[plan->bits / 8 - 1][has_sign(plan)] : &bake_arrays[a];
}

double bake_store_scale(const bake_plan *plan)
{
    return plan->bits > 0 ? (double)plan->range / most(plan) : 0.0;
}

/* ---- range --------------------------------------------------------------------------------------------------------
 */

/* Along an axis, from the farthest node to the farthest end of the mesh. */
static double farthest(const bake_plan *plan, int k, float lower, float upper)
{
    const double first = (double)carom_lattice_coordinate(&plan->lattice, k, 0);
    const double last = (double)carom_lattice_coordinate(&plan->lattice, k, plan->lattice.dims[k] - 1);
    return fmax(fmax(fabs(first - (double)lower), fabs(first - (double)upper)),
                fmax(fabs(last - (double)lower), fabs(last - (double)upper)));
}

/* A scale of normal numbers, so that it is exact enough. */
static int has_scale(double range)
{
    return range >= (double)FLT_MIN && range <= (double)FLT_MAX;
}

int bake_store_check(const bake_options *o)
{
    const double band = (double)o->parameters.band;
    if (isinf(band) || has_scale(band))
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE, "--bits %d: --band is from 2^-126 (1.2e-38) to 3.4e38 then, got %g", o->bits, band);
}

/* Without a band no distance is larger than that from a corner of the lattice to the corner of the bounds that is
 * farthest from it, so the range is known before any distance is. Rounding is less than 2^-20 of it. */
int bake_store_range(bake_plan *plan, const float lower[3], const float upper[3])
{
    const float band = plan->parameters.band;
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        const double length = farthest(plan, k, lower[k], upper[k]);
        square += length * length;
    }
    const double bound = sqrt(square) * (1.0 + 0x1p-20);
    plan->range = isfinite(band) ? band : (float)bound;
    if (has_scale(isfinite(band) ? (double)band : bound))
        return EXIT_DONE;
    return cli_refuse(
        EXIT_USAGE,
        "--bits %d: distances up to %g, but the largest is from 2^-126 (1.2e-38) to 3.4e38; give a --band "
        "in this range",
        plan->bits, bound);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------
 */

/* To the nearest number, of two the even one: of a number with this one added to it, the last bit of binary64 is 1. A
 * distance of fast mode that is beyond the range by its error has the end of it. */
static int number_of(double distance, double scale, double end)
{
    static const double whole = 0x1.8p52;
    const double number = distance / scale, inside = number > end ? end : number < -end ? -end : number;
    return (int)((inside + whole) - whole);
}

static float value_of(int number, double scale)
{
    return (float)((double)number * scale);
}

float bake_store_round(const bake_plan *plan, float distance)
{
    const double scale = bake_store_scale(plan);
    return value_of(number_of((double)distance, scale, most(plan)), scale);
}

float bake_store_value(const bake_plan *plan, const void *bytes)
{
    const unsigned char *at = bytes;
    const int number = plan->bits == 8 ? at[0] : at[0] | at[1] << 8, beyond = 1 << plan->bits;
    return value_of(has_sign(plan) && number >= beyond / 2 ? number - beyond : number, bake_store_scale(plan));
}

/* A number takes no more bytes than its distance, and so the place of one that has been read. */
void bake_store(const bake_plan *plan, const struct bake_slab *slab, uint64_t first, uint64_t end)
{
    const double scale = bake_store_scale(plan), limit = most(plan);
    unsigned char *const array = plan->bits > 0 ? slab->array[BAKE_distance] : NULL;
    const size_t size = bake_stored(plan, BAKE_distance)->size;
    for (uint64_t i = first; array && i < end; i++) {
        float distance;
        memcpy(&distance, array + i * sizeof distance, sizeof distance);
        const int number = number_of((double)distance, scale, limit);
        const unsigned char bytes[2] = {(unsigned char)(number & 0xff), (unsigned char)(number >> 8 & 0xff)};
        memcpy(array + i * size, bytes, size);
    }
}
