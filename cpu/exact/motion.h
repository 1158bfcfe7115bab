/* SPDX-License-Identifier: MIT */
/* A sphere and a triangle in integers: the quantities of the pair, each computed at first use, and the times at which
 * the sphere's centre is at its radius from a feature while that feature holds the closest point.
 *
 * Relative to the triangle the centre moves on a line X(t) = C + t v. The line, without its time, is given by its
 * moments about the corners (Pluecker coordinates): q_k = d_k x v, d_k = C - P_k. For edge i from corner i to corner
 * i+1, a_i = e_i x v is the difference of two moments, and the normal of the plane that the edge sweeps. h_i = e_i.q_i
 * is the Pluecker product of line and edge: its sign tells on which side they pass, and their distance is |h| / |a|.
 * With n = e_0 x e_1, the three h add up to n.v, and on the plane they are the weights of the point where the line goes
 * through, times n.v. In these letters a root needs no expansion: at t = (-B -+ sqrt(Y)) / A, with the upper sign where
 * the distance to the feature's point, line or plane falls to r and the lower one where it leaves,
 *
 *   corner k: A = v.v, B = v.d_k, Y = r^2 v.v - q_k^2, and for the two edges e_i from k
 *             (X - P_k).e_i A           = q_k.a_i -+ v.e_i sqrt(Y)                       <= 0
 *   edge i:   A = a^2, B = a.(e x d), Y = r^2 a^2 - h^2, the root is sqrt(E Y), E = e^2,
 *             (X - P_i).e A / E         = (a.q_i sqrt(E) -+ v.e sqrt(Y)) / sqrt(E)       >= 0
 *             (X - P_i+1).e A / E       = (a.q_i+1 sqrt(E) -+ v.e sqrt(Y)) / sqrt(E)     <= 0
 *             (e x (X - P_i)).n A       = (h n.v sqrt(E) -+ a.n sqrt(Y)) sqrt(E)         <= 0
 *   face:     A = |n.v|, B = n.d sign(n.v), Y = r^2, the root is sqrt(N Y), N = n^2, and for each edge
 *             (weight of i+2) n.v       = (h_i sqrt(N) -+ sign(n.v) a_i.n r) / sqrt(N),  a weight >= 0
 *
 * The distance to a triangle is convex in time and, outside, as smooth as that to the feature. So a root with Y > 0 in
 * its feature's closed region is where contact begins or ends; if there is none, contact is a graze, a slide at exactly
 * r, or a moving point's, and begins and ends at the first and last root with Y = 0 in its region. */
#ifndef CAROM_CPU_EXACT_MOTION_H
#define CAROM_CPU_EXACT_MOTION_H

#include "root.h"
#include "kernels/layout.h"

/* B and K of a feature's quadratic A t^2 + 2 B t + K. */
typedef struct caromi_quadratic {
    caromi_int b;
    caromi_approx k;
} caromi_quadratic;

/* A feature's roots. */
typedef struct caromi_element {
    int feature;
    int sign; /* sign of Y; also -1 for a degenerate feature or a constant distance: no later member is set then */
    int flip; /* -1 if the face's forms change sign: n.v < 0 */
    const caromi_int *a; /* A */
    const caromi_int *e; /* E or N, NULL for a corner */
    caromi_int y;
    caromi_approx root_e, root_y;
} caromi_element;

/* Quantities are read through accessor functions, which compute them at first use. Lengths are in units of their lowest
 * common bit, and so are velocities. */
typedef struct caromi_motion {
    const float *in;
    int unit;       /* a unit of time is 2^unit */
    int resting;    /* v = 0 */
    uint64_t known; /* quantities that are computed, a bit each */
    caromi_int r2;
    caromi_int3 v, d[3], e[3], q[3], a[3], n;
    caromi_int vv, nn, nv, steepness; /* |n.v| */
    caromi_int edge2[3], v_dot_e[3], a_dot_a[3], a_dot_q[3][2], plucker[3], a_dot_n[3], h_times_nv[3];
    caromi_quadratic quadratics[FEATURE_FACE + 1];
    caromi_element elements[FEATURE_FACE + 1];
} caromi_motion;

/* Returns 0 if the query is invalid. in: `count` numbers, IN_SWEEP_CARRIED, without U IN_SWEEP_MOVING or, without W,
 * IN_SWEEP_RESTING: v is V - W - U. They must outlive the motion. */
int caromi_motion_of(caromi_motion *m, const float *in, int count);

const caromi_int3 *caromi_motion_normal(caromi_motion *m);                 /* n */
const caromi_int *caromi_motion_normal2(caromi_motion *m);                 /* n.n */
const caromi_int *caromi_motion_normal_speed(caromi_motion *m);            /* n.v */
const caromi_int *caromi_motion_edge2(caromi_motion *m, int edge);         /* e.e */
const caromi_int3 *caromi_motion_moment(caromi_motion *m, int corner);     /* q */
const caromi_int3 *caromi_motion_sweep_normal(caromi_motion *m, int edge); /* a */
const caromi_int *caromi_motion_plucker(caromi_motion *m, int edge);       /* h */

const caromi_element *caromi_motion_element(caromi_motion *m, int feature);
/* Whether the element's root is in the feature's closed region. side -1: the root where contact begins; 1: where it
 * ends; 0: the double root, Y = 0. */
int caromi_element_holds(caromi_motion *m, const caromi_element *el, int side);
/* The root, a time. Its pointers refer to integers of the motion. */
void caromi_element_root(caromi_motion *m, const caromi_element *el, int side, caromi_root *root);
/* The closest point at the root as P0 + weights[0] e01 + weights[1] e02, weights with an error of at most 2^-40. */
void caromi_element_weights(caromi_motion *m, const caromi_element *el, int side, double weights[2]);

#endif
