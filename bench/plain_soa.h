/* SPDX-License-Identifier: MIT */
/* A moving sphere against a triangle without branches, so that a loop over it vectorises: the first time from 0 on is
 * the least of those of the thick face, the three edges as cylinders and the three corners as spheres. The textbook's
 * quadratics, as in plain_sweep.h, and every one of them always. */
#ifndef CAROM_BENCH_PLAIN_SOA_H
#define CAROM_BENCH_PLAIN_SOA_H

#include "plain_ericson.h"

PLAIN_INLINE float plain_least(float a, float b)
{
    return a < b ? a : b;
}

PLAIN_INLINE float plain_most(float a, float b)
{
    return a > b ? a : b;
}

/* When a x^2 + 2 b x + c first is 0 or less, from 0 on. */
PLAIN_INLINE float plain_soa_root(float a, float b, float c)
{
    const float under = b * b - a * c;
    const float t = (-b - __builtin_sqrtf(plain_most(under, 0.0f))) / plain_most(a, 1e-37f);
    const int ahead = b < 0.0f, real = under >= 0.0f;
    const float later = (ahead & real) ? t : PLAIN_NEVER;

    return c <= 0.0f ? 0.0f : later;
}

/* The corner and the edge from it, both relative to the start. */
PLAIN_INLINE float plain_soa_edge(plain_v3 p, plain_v3 edge, plain_v3 v, float vv, float rr)
{
    const float pv = plain_dot(p, v), c = plain_dot(p, p) - rr;
    const float ee = plain_dot(edge, edge), ev = plain_dot(edge, v), ep = plain_dot(edge, p);
    const float t = plain_soa_root(ee * vv - ev * ev, ev * ep - ee * pv, ee * c - ep * ep);
    const float foot = t * ev - ep;
    const int behind_one = foot >= 0.0f, before_other = foot <= ee;

    return plain_least(plain_soa_root(vv, -pv, c), (behind_one & before_other) ? t : PLAIN_NEVER);
}

/* Which side of an edge is q on? */
PLAIN_INLINE float plain_soa_side(plain_v3 corner, plain_v3 edge, plain_v3 q, plain_v3 n)
{
    return plain_dot(plain_cross(edge, plain_sub(q, corner)), n);
}

PLAIN_INLINE float plain_soa_sweep(plain_v3 start, float r, plain_v3 v, plain_v3 a, plain_v3 b, plain_v3 c)
{
    a = plain_sub(a, start);
    b = plain_sub(b, start);
    c = plain_sub(c, start);
    const plain_v3 ab = plain_sub(b, a), bc = plain_sub(c, b), ca = plain_sub(a, c), n = plain_cross(bc, ca);
    const float nn = plain_dot(n, n), vv = plain_dot(v, v), rr = r * r;
    const float height = -plain_dot(a, n), speed = plain_dot(v, n),
                gap = __builtin_fabsf(height) - r * __builtin_sqrtf(nn);
    const float closing = height < 0.0f ? speed : -speed;
    const float t = gap <= 0.0f ? 0.0f : gap / plain_most(closing, 1e-37f);
    const plain_v3 q = plain_sub(plain_mul(v, t), plain_mul(n, (height + t * speed) / plain_most(nn, 1e-37f)));
    const int left_ab = plain_soa_side(a, ab, q, n) >= 0.0f, left_bc = plain_soa_side(b, bc, q, n) >= 0.0f;
    const int left_ca = plain_soa_side(c, ca, q, n) >= 0.0f, flat = nn > 0.0f;
    const int within = gap <= 0.0f, nearing = closing > 0.0f;
    const int inside = left_ab & left_bc & left_ca & flat & (within | nearing);
    const float face = inside ? t : PLAIN_NEVER;

    return plain_least(plain_least(face, plain_soa_edge(a, ab, v, vv, rr)),
                       plain_least(plain_soa_edge(b, bc, v, vv, rr), plain_soa_edge(c, ca, v, vv, rr)));
}

#endif
