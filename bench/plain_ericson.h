/* SPDX-License-Identifier: MIT */
/* C. Ericson, Optimizing a sphere-triangle intersection test (realtimecollisiondetection.net, 2010): seven candidate
 * axes, no early-out, squared and without divisions, in his order of operations and with his strict comparisons. The
 * signs of QA, QB, QC are corrected (Q is multiplied by the squared edge, so the vertex must be too):
 * QC = C*e1 - Q1, QA = A*e2 - Q2, QB = B*e3 - Q3. | and & instead of || and && leave no branch, so it vectorises. */
#ifndef CAROM_BENCH_PLAIN_ERICSON_H
#define CAROM_BENCH_PLAIN_ERICSON_H

#include <stddef.h>
#include <stdint.h>

#define PLAIN_INLINE static inline __attribute__((always_inline))

typedef struct plain_v3 {
    float x, y, z;
} plain_v3;

/* 1: the axis separates. */
typedef struct plain_axes {
    int plane, ab, bc, ca, a, b, c;
} plain_axes;

PLAIN_INLINE plain_v3 plain_sub(plain_v3 a, plain_v3 b)
{
    return (plain_v3){a.x - b.x, a.y - b.y, a.z - b.z};
}

PLAIN_INLINE plain_v3 plain_mul(plain_v3 a, float s)
{
    return (plain_v3){a.x * s, a.y * s, a.z * s};
}

PLAIN_INLINE float plain_dot(plain_v3 a, plain_v3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

PLAIN_INLINE plain_v3 plain_cross(plain_v3 a, plain_v3 b)
{
    return (plain_v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* An edge from `from` along `edge`: d is from.edge, `opposite` the vertex that is not on it. */
PLAIN_INLINE int plain_edge(plain_v3 from, plain_v3 edge, float d, plain_v3 opposite, float rr)
{
    const float e = plain_dot(edge, edge);
    const plain_v3 q = plain_sub(plain_mul(from, e), plain_mul(edge, d));
    const plain_v3 qo = plain_sub(plain_mul(opposite, e), q);
    const int far = plain_dot(q, q) > rr * e * e, beyond = plain_dot(q, qo) > 0.0f;
    return far & beyond;
}

PLAIN_INLINE plain_axes plain_ericson(plain_v3 p, float r, plain_v3 a, plain_v3 b, plain_v3 c)
{
    a = plain_sub(a, p);
    b = plain_sub(b, p);
    c = plain_sub(c, p);
    const float rr = r * r;
    const plain_v3 v = plain_cross(plain_sub(b, a), plain_sub(c, a));
    const float d = plain_dot(a, v), e = plain_dot(v, v);
    const float aa = plain_dot(a, a), ab = plain_dot(a, b), ac = plain_dot(a, c);
    const float bb = plain_dot(b, b), bc = plain_dot(b, c), cc = plain_dot(c, c);
    return (plain_axes){
        .plane = d * d > rr * e,
        .ab = plain_edge(a, plain_sub(b, a), ab - aa, c, rr),
        .bc = plain_edge(b, plain_sub(c, b), bc - bb, a, rr),
        .ca = plain_edge(c, plain_sub(a, c), ac - cc, b, rr),
        .a = (aa > rr) & (ab > aa) & (ac > aa),
        .b = (bb > rr) & (ab > bb) & (bc > bb),
        .c = (cc > rr) & (ac > cc) & (bc > cc),
    };
}

#endif
