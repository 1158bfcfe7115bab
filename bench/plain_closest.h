/* SPDX-License-Identifier: MIT */
/* The point of a triangle that is closest to another point. */
#ifndef CAROM_BENCH_PLAIN_CLOSEST_H
#define CAROM_BENCH_PLAIN_CLOSEST_H

#include "plain_ericson.h"

/* C. Ericson, Real-Time Collision Detection (2005), section 5.1.5: the closest point by its Voronoi region. */
PLAIN_INLINE plain_v3 plain_closest(plain_v3 p, plain_v3 a, plain_v3 b, plain_v3 c)
{
    const plain_v3 ab = plain_sub(b, a), ac = plain_sub(c, a), ap = plain_sub(p, a);
    const float d1 = plain_dot(ab, ap), d2 = plain_dot(ac, ap);
    if (d1 <= 0.0f && d2 <= 0.0f)
        return a;
    const plain_v3 bp = plain_sub(p, b);
    const float d3 = plain_dot(ab, bp), d4 = plain_dot(ac, bp);
    if (d3 >= 0.0f && d4 <= d3)
        return b;
    const float vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f)
        return plain_sub(a, plain_mul(ab, -d1 / (d1 - d3)));
    const plain_v3 cp = plain_sub(p, c);
    const float d5 = plain_dot(ab, cp), d6 = plain_dot(ac, cp);
    if (d6 >= 0.0f && d5 <= d6)
        return c;
    const float vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f)
        return plain_sub(a, plain_mul(ac, -d2 / (d2 - d6)));
    const float va = d3 * d6 - d5 * d4;
    if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f)
        return plain_sub(b, plain_mul(plain_sub(c, b), -(d4 - d3) / ((d4 - d3) + (d5 - d6))));
    const float scale = 1.0f / (va + vb + vc);
    return plain_sub(plain_sub(a, plain_mul(ab, -vb * scale)), plain_mul(ac, -vc * scale));
}

#endif
