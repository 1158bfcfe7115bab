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
    w3 center;       /* centre - P0, at time 0 */
    w3 velocity, w;  /* relative velocity; the triangle's velocity */
    w3 p0, e01, e02; /* the triangle's first corner; edges to P1 and P2 */
    wf radius2;      /* r^2, where r is multiplied by `scale` */
    wf scale;        /* power of two; lengths multiplied by it are about 1 */
} residual_pair;

/* Differences of a pair in binary64. w: velocity of the triangle. */
FN residual_pair residual_pair_of(w3 center, wf radius, w3 velocity, w3 w, w3 p0, w3 p1, w3 p2, wf scale)
{
    const wf scaled_radius = radius * scale;
    residual_pair pair;
    pair.center = w3_sub(center, p0);
    pair.velocity = velocity;
    pair.w = w;
    pair.p0 = p0;
    pair.e01 = w3_sub(p1, p0);
    pair.e02 = w3_sub(p2, p0);
    pair.radius2 = scaled_radius * scaled_radius;
    pair.scale = scale;
    return pair;
}

/* The triangle's normal, on the side that faces the motion; at rest the side of the centre. y: centre - point. */
FN w3 residual_normal(const residual_pair *pair, w3 y)
{
    const w3 normal = w3_mul(w3_cross(pair->e01, pair->e02), pair->scale * pair->scale);
    const wm at_rest = w_eq(w3_dot(pair->velocity, pair->velocity), w_f(W(0.0)));
    const wf side = w_sel(at_rest, w3_dot(normal, y), -w3_dot(normal, pair->velocity));
    return w3_mul(normal, w_sel(w_lt(side, w_f(W(0.0))), w_f(W(-1.0)), w_f(W(1.0))));
}

/* Residual of one half of the lanes. full: products and points are computed, too. */
FN residual_part residual_part_of(const residual_pair *pair, const guess *guessed, int first_lane, int full)
{
    const wf time = w_load(guessed->time + first_lane), w1 = w_load(guessed->w1 + first_lane),
             w2 = w_load(guessed->w2 + first_lane);
    const w3 center = w3_add_scaled(pair->center, pair->velocity, time),
             y = w3_sub_scaled(w3_sub_scaled(center, pair->e01, w1), pair->e02, w2);
    residual_part part;
    part.y = w3_mul(y, pair->scale);
    part.c = w3_dot(part.y, part.y) - pair->radius2;
    if (full) {
        part.g1 = w3_dot(part.y, pair->e01) * pair->scale;
        part.g2 = w3_dot(part.y, pair->e02) * pair->scale;
        part.g12 = part.g1 - part.g2;
        part.point = w3_add_scaled(w3_add(pair->p0, w3_sub(center, y)), pair->w, time);
        part.normal = residual_normal(pair, part.y);
    }
    return part;
}

/* Three columns of binary32 from both halves of the lanes. */
FN v3 w3_join(const w3 *low, const w3 *high)
{
    return v3_of(w_join(low->x, high->x), w_join(low->y, high->y), w_join(low->z, high->z));
}
/* The digits that rounding to binary32 cuts off. */
FN w3 w3_rest(w3 a)
{
    return w3_of(a.x - w_round(a.x), a.y - w_round(a.y), a.z - w_round(a.z));
}

/* Residual of LANES lanes, joined from PARTS halves. */
FN void residual_of(const residual_pair *pair, const guess *guessed, int full, residual *out)
{
    const residual_part low = residual_part_of(&pair[0], guessed, 0, full);
    const residual_part high = PARTS == 1 ? low : residual_part_of(&pair[PARTS - 1], guessed, LANES - WIDE, full);
    out->y = w3_join(&low.y, &high.y);
    out->c = w_join(low.c, high.c);
    if (!full)
        return;
    const w3 low_rest = w3_rest(low.point), high_rest = w3_rest(high.point);
    out->g1 = w_join(low.g1, high.g1);
    out->g2 = w_join(low.g2, high.g2);
    out->g12 = w_join(low.g12, high.g12);
    out->point = w3_join(&low.point, &high.point);
    out->rest = w3_join(&low_rest, &high_rest);
    out->normal = w3_join(&low.normal, &high.normal);
}
#endif
