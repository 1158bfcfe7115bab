/* SPDX-License-Identifier: MIT */
/* The binary64 part of the filter: the residual of a guessed contact. The residual is the squared distance between the
 * centre and a point of the triangle at the guessed time, minus r^2. The differences are taken at the contact, so
 * cancellation has already happened there and 53 bits are plenty. */
#ifndef CAROM_RESIDUAL_H
#define CAROM_RESIDUAL_H
#include "layout.h"
#include "wide.h"

/* Guessed contacts of LANES pairs: a time, and a point of the triangle as weights of P1 and P2. They are in memory,
 * from which the binary64 halves load them. */
typedef struct guess {
    real time[LANES], w1[LANES], w2[LANES];
} guess;

/* Residual at the guessed time. y, c and the products are in units of the view, point and rest in the caller's. */
typedef struct residual {
    v3 y;           /* centre - point */
    vf c;           /* y.y - r^2: positive if the point is out of the sphere's reach */
    vf g1, g2, g12; /* dot products of y with the edges e01 and e02; g1 - g2 */
    v3 point, rest; /* the point is their sum, to more digits than binary32 has */
    v3 normal;      /* of the triangle, of any length, on the side that faces the motion (at rest: the centre) */
} residual;

/* WIDE lanes of a residual. */
typedef struct residual_part {
    w3 y;
    wf c;
    wf g1, g2, g12;
    w3 point, normal;
} residual_part;

/* WIDE pairs of a sphere and a triangle, in the caller's units. */
typedef struct residual_pair {
    w3 d, velocity, w; /* centre - P0; relative velocity; the triangle's velocity */
    w3 p0, e01, e02;   /* the triangle's first corner; edges to P1 and P2 */
    wf radius2;        /* r^2, where r is multiplied by `scale` */
    wf scale;          /* power of two; lengths multiplied by it are about 1 */
} residual_pair;

FN residual_pair residual_pair_of(w3 center, wf radius, w3 velocity, w3 w, w3 p0, w3 p1, w3 p2, wf scale)
{
    const wf r = radius * scale;
    residual_pair pair;
    pair.d = w3_sub(center, p0);
    pair.velocity = velocity;
    pair.w = w;
    pair.p0 = p0;
    pair.e01 = w3_sub(p1, p0);
    pair.e02 = w3_sub(p2, p0);
    pair.radius2 = r * r;
    pair.scale = scale;
    return pair;
}

FN w3 residual_normal(const residual_pair *pair, w3 y)
{
    const w3 n = w3_mul(w3_cross(pair->e01, pair->e02), pair->scale * pair->scale);
    const wm at_rest = w_eq(w3_dot(pair->velocity, pair->velocity), w_f(W(0.0)));
    const wf side = w_sel(at_rest, w3_dot(n, y), -w3_dot(n, pair->velocity));
    return w3_mul(n, w_sel(w_lt(side, w_f(W(0.0))), w_f(W(-1.0)), w_f(W(1.0))));
}

FN residual_part residual_part_of(const residual_pair *pair, const guess *g, int first_lane, int full)
{
    const wf time = w_load(g->time + first_lane), w1 = w_load(g->w1 + first_lane), w2 = w_load(g->w2 + first_lane);
    const w3 center = w3_add_scaled(pair->d, pair->velocity, time),
             y = w3_sub_scaled(w3_sub_scaled(center, pair->e01, w1), pair->e02, w2);
    residual_part half;
    half.y = w3_mul(y, pair->scale);
    half.c = w3_dot(half.y, half.y) - pair->radius2;
    if (full) {
        half.g1 = w3_dot(half.y, pair->e01) * pair->scale;
        half.g2 = w3_dot(half.y, pair->e02) * pair->scale;
        half.g12 = half.g1 - half.g2;
        half.point = w3_add_scaled(w3_add(pair->p0, w3_sub(center, y)), pair->w, time);
        half.normal = residual_normal(pair, half.y);
    }
    return half;
}

FN v3 w3_join(const w3 *low, const w3 *high)
{
    return v3_of(w_join(low->x, high->x), w_join(low->y, high->y), w_join(low->z, high->z));
}
FN w3 w3_rest(w3 a)
{
    return w3_of(a.x - w_round(a.x), a.y - w_round(a.y), a.z - w_round(a.z));
}

/* Residual of LANES lanes, joined from PARTS halves. */
FN void residual_of(const residual_pair *pair, const guess *g, int full, residual *out)
{
    const residual_part a = residual_part_of(&pair[0], g, 0, full);
    const residual_part b = PARTS == 1 ? a : residual_part_of(&pair[PARTS - 1], g, LANES - WIDE, full);
    out->y = w3_join(&a.y, &b.y);
    out->c = w_join(a.c, b.c);
    if (!full)
        return;
    const w3 rest_a = w3_rest(a.point), rest_b = w3_rest(b.point);
    out->g1 = w_join(a.g1, b.g1);
    out->g2 = w_join(a.g2, b.g2);
    out->g12 = w_join(a.g12, b.g12);
    out->point = w3_join(&a.point, &b.point);
    out->rest = w3_join(&rest_a, &rest_b);
    out->normal = w3_join(&a.normal, &b.normal);
}
#endif
