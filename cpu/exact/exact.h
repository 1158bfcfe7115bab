/* SPDX-License-Identifier: MIT */
/* The second rung of exact mode: decides any query of finite numbers in integer arithmetic. Slow (microseconds) but
 * never undecided: its answers are those of the definition.
 *
 * States, features and the order of inputs are those of kernels/layout.h. The caller has set the float mode
 * (caromi_float_mode_set): binary32 results may be denormal. */
#ifndef CAROM_CPU_EXACT_EXACT_H
#define CAROM_CPU_EXACT_EXACT_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/pairs.h"

/* Which results of a sweep to compute. The state is always given. Of a mesh hit (HIT) the first time is given if the
 * state is approaching, and other pairs without contact from time 0 on may have the state MISS. */
enum { CAROMI_EXACT_HIT, CAROMI_EXACT_FIRST, CAROMI_EXACT_TIMES, CAROMI_EXACT_FULL };

/* The nearest binary32 to each time, ties to even, zero +0. Members that were not requested, or have no value, are zero
 * and FEATURE_NONE. t_last is always given for a miss, an invalid query and one without relative motion. */
typedef struct caromi_exact_sweep {
    float t_first, t_last;
    int state;
    float point_first[3], point_last[3];
    int feature_first, feature_last;
    int beyond; /* the true first time is greater than the limit; 0 without contact */
    int by_integers;
} caromi_exact_sweep;

/* The second filter (kernels/sweep_second.h) at one lane, whatever the instruction set: columns to columns. */
void caromi_scalar_second_sweep(const float *const *in, void *const *out, size_t count);

/* The second filter's answer of a pair; t_first is NaN if it is undecided. */
typedef struct caromi_second_answer {
    float t_first, t_last;
    uint8_t state; /* with the bits of kernels/second_state.h */
} caromi_second_answer;

/* in: IN_SWEEP_MOVING numbers (W = 0 for a triangle at rest). limit may be infinite. Integers decide what the second
 * filter leaves undecided, and points. The other function asks it first. */
void caromi_exact_sweep_after(const float *in, const caromi_second_answer *second, int want, float limit,
                              caromi_exact_sweep *out);
void caromi_exact_sweep_of(const float *in, int want, float limit, caromi_exact_sweep *out);
/* in: IN_SWEEP_CARRIED numbers. A mesh hit; integers decide all. */
void caromi_exact_carried_of(const float *in, float limit, caromi_exact_sweep *out);

/* in: IN_SWEEP_RESTING numbers, all finite, with one ball and the same velocity, of one bit: (0, 0, -1). The sign of
 * the difference of two triangles' first times; the ball meets both. */
int caromi_exact_first_order(const float *in, const float *other);

/* in: IN_SWEEP_MOVING or IN_SWEEP_CARRIED numbers, velocities as differences. Whether the triangle's normal
 * (P1-P0)x(P2-P0) goes along the motion; and whether the sphere moves away from the triangle's closest point at time 0.
 */
int caromi_exact_is_back(const float *in, int count);
int caromi_exact_is_parting(const float *in, int count);

/* in: IN_OVERLAP numbers. OVERLAP_INVALID in both for an invalid query. */
void caromi_exact_overlap_of(const float *in, int *overlap, int *axes);

/* The closest point at rest. */
typedef struct caromi_exact_closest {
    float distance; /* the nearest binary32 */
    float point[3];
    int feature;
} caromi_exact_closest;

/* in: IN_CLOSEST numbers, all finite. */
void caromi_exact_closest_of(const float *in, caromi_exact_closest *out);

/* in: as above. The sign of the difference of two triangles' distances; either may have a centre of its own. */
int caromi_exact_closest_order(const float *in, const float *other);

/* Three numbers each, all finite. The sign of |a - b| - |c - d|. */
int caromi_exact_distance_order(const float *a, const float *b, const float *c, const float *d);

/* Contact of a mesh hit: point, normal and feature at time 0 if the state is touching or overlapping; at the first
 * contact if the state is approaching and the time is finite in binary32; else zeros and FEATURE_NONE. */
typedef struct caromi_exact_contact {
    float point[3], normal[3];
    int feature;
} caromi_exact_contact;

/* in: IN_SWEEP_RESTING numbers, then three of the velocity of the triangle's instance, which are read if `motion` has
 * TRIANGLE_CARRIED. With MOTION_BY_END the velocity's numbers are the centre at time 1. */
void caromi_exact_contact_of(const float *in, int motion, caromi_exact_contact *out);
/* in: IN_CLOSEST numbers, all finite. The closest point at rest, with the unit vector from this point to the centre; at
 * distance 0 the triangle's normal, or zeros. */
void caromi_exact_touch_of(const float *in, caromi_exact_contact *out);

/* Nine numbers each. Whether both triangles have an area, and the cosine of the angle between their normals, times sign
 * (1 or -1), is >= least, the cosine of an angle in degrees, which is 0 or has a magnitude of at least 2^-54. */
int caromi_exact_is_flat(const float *one, const float *other, int sign, double least);
/* Three numbers each. Orientation predicate: the sign of ((b - a) x (p - a)).(q - a), which tells on which side of the
 * plane through a, b and p the point q is. */
int caromi_exact_orientation(const float *a, const float *b, const float *p, const float *q);
/* Nine numbers. */
int caromi_exact_has_area(const float *corners);

/* Two spheres of a cloud: ra + rb less the distance at time 0, the nearest binary32; and the unit vector from a to b
 * when they first touch, or, if they never do, where they are nearest. in: IN_CLOUD numbers, all finite, the last 0;
 * for the normal ra + rb and the relative velocity are not 0. */
float caromi_exact_cloud_depth(const float *in);
void caromi_exact_cloud_normal(const float *in, float normal[3]);

/* One pair of a batch: its inputs, and its outputs by column, as the kernel has them. */
typedef struct caromi_exact_pair {
    float in[COLUMNS_MAX], real[COLUMNS_MAX];
    uint8_t byte[COLUMNS_MAX];
} caromi_exact_pair;

/* caromi_resolve_NAME for every exact kernel: the outputs of any pair from its inputs. */
#define CAROMI_RESOLVE(name, in_count, radii, out_count, bytes) void caromi_resolve_##name(caromi_exact_pair *row);
PAIR_KERNELS_OF(CAROMI_RESOLVE, _exact)
#undef CAROMI_RESOLVE

#endif
