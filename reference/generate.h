/* SPDX-License-Identifier: MIT */
/* What the case families share: a counter-based generator and shapes made of + - * / and sqrt, correctly rounded, so
 * that a case is the same on every machine. One draw per expression: C leaves the order of two unspecified. */
#ifndef CAROM_REFERENCE_GENERATE_H
#define CAROM_REFERENCE_GENERATE_H

#include "reference.h"

typedef struct ref_gen {
    uint64_t state;
} ref_gen;

/* A sweep in binary64, rounded to a case at the end. */
typedef struct ref_scene {
    double center[3], radius, velocity[3], p[3][3], w[3];
} ref_scene;

void ref_gen_seed(ref_gen *g, uint64_t family, uint64_t seed, uint64_t index);
uint64_t ref_gen_bits(ref_gen *g);
double ref_gen_range(ref_gen *g, double low, double high);
int ref_gen_int(ref_gen *g, int low, int high); /* both included */
int ref_gen_chance(ref_gen *g, int one_in);
void ref_gen_box(ref_gen *g, double out[3], double half);
void ref_gen_direction(ref_gen *g, double out[3]);
void ref_gen_across(ref_gen *g, double out[3], const double axis[3]); /* unit, at right angles to a unit axis */
void ref_gen_lattice(ref_gen *g, double out[3], int half);            /* multiples of 1/8 */
float ref_gen_any_float(ref_gen *g);                                  /* any finite bits */

void ref_move(double out[3], const double from[3], const double direction[3], double distance);
double ref_length(const double v[3]);
double ref_power_of_two(int exponent); /* -1022 to 1023 */
float ref_round(double value);
void ref_scene_case(const ref_scene *scene, ref_sweep_case *out);

/* One of the families of a query type. */
typedef void ref_scene_maker(ref_gen *g, ref_scene *scene);
typedef void ref_spheres_maker(ref_gen *g, ref_spheres_case *out);

/* families_shapes.c: shapes and alignments that solvers single out */
ref_scene_maker ref_make_near, ref_make_needles, ref_make_caps, ref_make_parallel, ref_make_in_plane,
    ref_make_perpendicular, ref_make_degenerate, ref_make_grazing, ref_make_lattice, ref_make_touching;
void ref_aim(ref_gen *g, ref_scene *scene, const double target[3], double distance, double speed);
void ref_point_of_triangle(ref_gen *g, double out[3], const ref_scene *scene);

/* families_spheres.c */
ref_spheres_maker ref_spheres_random, ref_spheres_near, ref_spheres_far_1e3, ref_spheres_far_1e5, ref_spheres_small_1e3,
    ref_spheres_small_1e6, ref_spheres_parallel, ref_spheres_head_on, ref_spheres_points, ref_spheres_offset,
    ref_spheres_grazing, ref_spheres_lattice, ref_spheres_motionless, ref_spheres_touching, ref_spheres_both_move,
    ref_spheres_zero_radius, ref_spheres_huge, ref_spheres_tiny, ref_spheres_mixed, ref_spheres_non_finite;

/* families_edge.c: decisions missed by 2^-k, or met */
ref_scene_maker ref_make_graze, ref_make_instant, ref_make_still, ref_make_border, ref_make_midpoint;
double ref_slip(ref_gen *g); /* +-2^-k, k = 1 to 60, or 0 */
void ref_turn(ref_gen *g, ref_scene *scene);

/* families_doubt.c: numbers at the limits of binary32 and binary64 resolution */
ref_scene_maker ref_make_slivers, ref_make_far_1e7, ref_make_drift, ref_make_denormal, ref_make_doubt, ref_make_along;
int ref_textbook_sweep(const ref_sweep_case *c); /* state, by plain formulas in binary64: not to be trusted */
int ref_textbook_spheres(const ref_spheres_case *c);

/* families_edge_spheres.c: the same for two spheres */
ref_spheres_maker ref_spheres_graze, ref_spheres_instant, ref_spheres_still, ref_spheres_far_1e7, ref_spheres_drift,
    ref_spheres_denormal, ref_spheres_midpoint, ref_spheres_doubt;

#endif
