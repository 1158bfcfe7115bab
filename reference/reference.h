/* SPDX-License-Identifier: MIT */
/* The exact reference: answers from the definition, in exact arithmetic, and the cases that break solvers.
 * Shares no code and no formula with kernels/, cpu/ or host/; the library never uses it. Needs libc alone.
 *
 * Inputs are binary32 taken as exact reals. Radii are double so that a caller can move a decision exactly by a
 * margin: ref_sweep with radius r +- d tells whether a state lies within d of a decision. */
#ifndef CAROM_REFERENCE_H
#define CAROM_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* Numbers as in the command line's vocabulary and order. */
enum ref_state { REF_MISS, REF_APPROACHING, REF_TOUCHING, REF_OVERLAPPING, REF_PARTING, REF_PAST, REF_INVALID };
enum ref_feature { REF_NONE, REF_V0, REF_V1, REF_V2, REF_E01, REF_E12, REF_E20, REF_FACE };

typedef struct ref_sweep_case {
    float center[3];
    double radius;
    float velocity[3];
    float p[3][3];
    float w[3]; /* velocity of the triangle */
} ref_sweep_case;

typedef struct ref_sweep_answer {
    int state;                        /* enum ref_state, decided exactly */
    float t_first, t_last;            /* nearest binary32 to the true times, ties to even; +inf,-inf if none; 0 is +0 */
    double t_first_near, t_last_near; /* nearest binary64 likewise (for error measurement) */
    int feature_first, feature_last;  /* first of V0 V1 V2 E01 E12 E20 F whose closed feature holds the closest point */
    double point_first[3],
        point_last[3]; /* contact points in world space, good to about 2^-50 of the largest coordinate */
} ref_sweep_answer;

void ref_sweep(const ref_sweep_case *c, ref_sweep_answer *out);
/* The sign of the difference of the true first times of two pairs that move and touch. */
int ref_sweep_order(const ref_sweep_case *a, const ref_sweep_case *b);

typedef struct ref_overlap_answer {
    int overlap; /* 1, 0, or -1 for invalid */
    int axes;    /* the seven bits, each decided exactly; -1 for invalid */
} ref_overlap_answer;

/* Uses center, radius and p of the case. */
void ref_overlap(const ref_sweep_case *c, ref_overlap_answer *out);

typedef struct ref_closest_answer {
    float distance;       /* nearest binary32 to the true one, ties to even; infinite beyond its range */
    double distance_near; /* nearest binary64 */
    int feature;          /* REF_NONE: invalid */
    double point[3];      /* good to about 2^-50 of the largest coordinate */
} ref_closest_answer;

/* The point of the triangle closest to the centre. Uses center, radius (for its validity) and p of the case. Invalid:
 * infinite distance, no feature, zeros. */
void ref_closest(const ref_sweep_case *c, ref_closest_answer *out);

typedef struct ref_spheres_case {
    float a0[3], a1[3];
    float radius_a;
    float b0[3], b1[3];
    float radius_b;
    double margin; /* added to the sum of the radii; 0 for the true answer; a negative sum never touches (miss) */
} ref_spheres_case;

typedef struct ref_spheres_answer {
    int state;
    float u_first, u_last;
    double u_first_near, u_last_near;
} ref_spheres_answer;

void ref_spheres(const ref_spheres_case *c, ref_spheres_answer *out);

/* Two spheres of a cloud, a of the lower index, all numbers finite and radii valid: B's centre is taken at b + shift.
 */
typedef struct ref_cloud_case {
    float a[3], velocity_a[3], radius_a;
    float b[3], velocity_b[3], radius_b;
    float shift[3], margin, limit; /* limit may be infinite */
} ref_cloud_case;

/* A number of a pair, and how far an answer may be beside it; 0: the answer is this number, a binary32. */
typedef struct ref_cloud_number {
    double value, error;
} ref_cloud_number;

enum { REF_CLOUD_NUMBERS = 8 }; /* there is room for so many */

typedef struct ref_cloud_answer {
    int is_pair;
    int state;    /* REF_APPROACHING, REF_TOUCHING or REF_OVERLAPPING; REF_MISS: within the margin alone */
    float t;      /* 0 in contact; +inf for a miss */
    int is_apart; /* d.v > 0 */
    ref_cloud_number numbers[REF_CLOUD_NUMBERS]; /* of a pair, those of all columns */
} ref_cloud_answer;

void ref_cloud(const ref_cloud_case *c, ref_cloud_answer *out);
/* Numbers of a column of a list, which has the name of a member of carom_cloud_pair_list; NULL: there are none. */
const ref_cloud_number *ref_cloud_column(const ref_cloud_answer *answer, const char *name);
/* The same pair, from B to A. */
void ref_cloud_turn(ref_cloud_answer *answer);

/* Case families, deterministic in (family, seed, index), the same on every machine and compiler. */
size_t ref_family_count(void);
const char *ref_family_name(size_t family); /* "random", "far-1e3", ... */
int ref_family_is_easy(size_t family);      /* 1: random pairs with no decision nearby on purpose */
void ref_family_sweep(size_t family, uint64_t seed, uint64_t index, ref_sweep_case *out);
void ref_family_spheres(size_t family, uint64_t seed, uint64_t index, ref_spheres_case *out);

#endif
