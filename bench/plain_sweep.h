/* SPDX-License-Identifier: MIT */
/* A moving sphere against a triangle as a user would write it from the textbook, in binary32, one pair at a time and
 * with early outs: the plane, then whether the point of contact lies inside the triangle, then the three edges as
 * cylinders and the three corners as spheres, each by its quadratic. First time within a window only. Relative to the
 * sphere's start, with the roots of a x^2 + 2 b x + c. No care is taken where b^2 - a c cancels: that is what the
 * verdict beside the time is for. */
#ifndef CAROM_BENCH_PLAIN_SWEEP_H
#define CAROM_BENCH_PLAIN_SWEEP_H

#include "plain_ericson.h"

/* The first root within [0, *time], written there: of a growing sphere in front, or at once if c says inside. */
PLAIN_INLINE int plain_root(float a, float b, float c, float *time)
{
    if (c <= 0.0f) {
        *time = 0.0f;
        return 1;
    }
    const float under = b * b - a * c;
    if (b >= 0.0f || under < 0.0f)
        return 0;
    const float t = (-b - __builtin_sqrtf(under)) / a;
    if (!(t <= *time))
        return 0;
    *time = t;
    return 1;
}

/* The corner and the edge from it, both relative to the start. */
PLAIN_INLINE int plain_edge_and_corner(plain_v3 p, plain_v3 edge, plain_v3 v, float rr, float *time)
{
    const float vv = plain_dot(v, v), pv = plain_dot(p, v), pp = plain_dot(p, p);
    const float ee = plain_dot(edge, edge), ev = plain_dot(edge, v), ep = plain_dot(edge, p);
    int hit = plain_root(vv, -pv, pp - rr, time);
    /* the cylinder, times ee: the centre at t is t v, its foot on the edge at (t ev - ep) / ee */
    float t = *time;
    if (plain_root(ee * vv - ev * ev, ev * ep - ee * pv, ee * (pp - rr) - ep * ep, &t)) {
        const float foot = t * ev - ep;
        if (foot >= 0.0f && foot <= ee) {
            *time = t;
            hit = 1;
        }
    }
    return hit;
}

/* Is q, a point of the plane, inside? Relative to the start as the corners are. */
PLAIN_INLINE int plain_inside(plain_v3 q, plain_v3 a, plain_v3 b, plain_v3 c, plain_v3 n)
{
    return plain_dot(plain_cross(plain_sub(b, a), plain_sub(q, a)), n) >= 0.0f &&
           plain_dot(plain_cross(plain_sub(c, b), plain_sub(q, b)), n) >= 0.0f &&
           plain_dot(plain_cross(plain_sub(a, c), plain_sub(q, c)), n) >= 0.0f;
}

/* 1 and *time, no later than what it held; else 0. */
PLAIN_INLINE int plain_sweep(plain_v3 start, float r, plain_v3 v, plain_v3 a, plain_v3 b, plain_v3 c, float *time)
{
    a = plain_sub(a, start);
    b = plain_sub(b, start);
    c = plain_sub(c, start);
    const plain_v3 e = plain_sub(b, a), n = plain_cross(e, plain_sub(c, a));
    const float length = __builtin_sqrtf(plain_dot(n, n));
    const float height = -plain_dot(a, n), reach = r * length, speed = plain_dot(v, n); /* times the normal's length */
    const float above = height < 0.0f ? -height : height, closing = height < 0.0f ? speed : -speed;
    float t = 0.0f;
    if (above > reach) {
        if (closing <= 0.0f || above - reach > closing * *time)
            return 0;
        t = (above - reach) / closing;
    }
    if (length > 0.0f) {
        const float side = (height + t * speed) / (length * length);
        if (plain_inside(plain_sub(plain_mul(v, t), plain_mul(n, side)), a, b, c, n)) {
            *time = t;
            return 1;
        }
    }
    const float rr = r * r;
    int hit = plain_edge_and_corner(a, e, v, rr, time);
    hit |= plain_edge_and_corner(b, plain_sub(c, b), v, rr, time);
    return hit | plain_edge_and_corner(c, plain_sub(a, c), v, rr, time);
}

#endif
