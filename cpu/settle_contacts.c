/* SPDX-License-Identifier: MIT */
/* Which of two triangles is closer: a floating-point filter, then integers. */
#define LANES 1
#include "kernels/mesh_closest_exact.h"
#include "exact.h"
#include "mesh.h"

static closest_range range_of(const float *in)
{
    const closest_wide t = closest_wide_of(w3_of((double)in[IN_NCX], (double)in[IN_NCY], (double)in[IN_NCZ]),
                                           w3_of((double)in[IN_NP0X], (double)in[IN_NP0Y], (double)in[IN_NP0Z]),
                                           w3_of((double)in[IN_NP1X], (double)in[IN_NP1Y], (double)in[IN_NP1Z]),
                                           w3_of((double)in[IN_NP2X], (double)in[IN_NP2Y], (double)in[IN_NP2Z]));
    return closest_range_of(&t);
}

int caromi_settle_order(const float *in, const float *other, uint8_t *by_integers)
{
    const closest_range a = range_of(in), b = range_of(other);
    if (a.high < b.low || b.high < a.low)
        return a.high < b.low ? -1 : 1;
    *by_integers = 1;
    return caromi_exact_closest_order(in, other);
}

int caromi_may_be_flat(const float *corners)
{
    const w3 p0 = w3_of((double)corners[0], (double)corners[1], (double)corners[2]);
    const w3 a = w3_sub(w3_of((double)corners[3], (double)corners[4], (double)corners[5]), p0);
    const w3 b = w3_sub(w3_of((double)corners[6], (double)corners[7], (double)corners[8]), p0);
    const w3 n = w3_cross(a, b);
    /* The error of n is below 2^-50 |a| |b|. */
    return !(w3_dot(n, n) > 0x1p-96 * (w3_dot(a, a) * w3_dot(b, b)));
}
