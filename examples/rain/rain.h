/* SPDX-License-Identifier: MIT */
/* rain: what its files share. vessel.c makes the mesh, spheres.c the spheres, step.c and substep.c move them, check.c
 * judges them, vtu.c and picture.c write frames, main.c runs it. docs/particles.md has the rules. */
#ifndef RAIN_H
#define RAIN_H

#include <carom/carom.h>

#include <stddef.h>
#include <stdint.h>

/* ---- the mesh (vessel.c) ----------------------------------------------------------------------------------------- */

/* Closed: its inside is where the spheres are. Normals, (P1 - P0) x (P2 - P0), point to the spheres. */
typedef struct rain_mesh {
    float *vertex; /* [3 * vertex_count] x y z */
    uint32_t *index;
    uint64_t vertex_count, triangle_count;
    float lower[3], upper[3];
} rain_mesh;

/* A vessel with a neck and obstacles, of about so many triangles; it stands in [-1, 1] x [-1, 1] x [-1.9, 1.6]. */
int rain_make_vessel(rain_mesh *mesh, uint64_t triangles);
void rain_free_mesh(rain_mesh *mesh);

/* ---- the spheres (spheres.c, step.c) ----------------------------------------------------------------------------- */

typedef struct rain_spheres {
    uint64_t count;
    float *center, *velocity; /* [3 * count] x y z */
    float *radius;            /* [count] */
    uint8_t *quiet;           /* [count] steps in a row in which the sphere touched something and hardly moved */
} rain_spheres;

enum { RAIN_ASLEEP = 8 }; /* so many quiet steps, and a sphere sleeps */

/* Spheres in the upper part of the vessel, no two of which touch; radii between `largest` / 2 and `largest`. */
int rain_make_spheres(rain_spheres *spheres, uint64_t count, uint64_t seed, float *largest);
void rain_free_spheres(rain_spheres *spheres);

typedef struct rain_times {
    double cpu;              /* CPU seconds of all threads */
    double mesh, cloud, own; /* seconds in carom_mesh_sweep_first, carom_cloud_list and the stepper itself */
} rain_times;

typedef struct rain_counts {
    uint64_t awake;                  /* particle-steps of spheres that did not sleep */
    uint64_t motions, asked;         /* of spheres that flew, and of all in the clouds, over all substeps */
    uint64_t pairs;                  /* of spheres, listed */
    uint64_t wall_hits, sphere_hits; /* of motions: their first hits */
    uint64_t on_device, on_cpu;      /* of motions and spheres asked: who answered */
    uint64_t fallen_back;            /* of these on_cpu, meant for a device */
    uint64_t waited;                 /* particle-steps that had time left after the last substep */
} rain_counts;

typedef struct rain_stepper rain_stepper;

typedef struct rain_world {
    carom_context *context;
    carom_mesh *mesh;
    carom_accuracy accuracy;
    float lower[3], upper[3]; /* of the mesh */
    float largest;            /* radius */
    float step;               /* T */
    float gravity;            /* L/T^2, along -z */
    float restitution;
    float tolerance; /* L */
} rain_world;

rain_stepper *rain_stepper_create(const rain_world *world, rain_spheres *spheres);
void rain_stepper_destroy(rain_stepper *stepper);
/* One step of world->step. On failure a sentence on stderr, and 0. */
int rain_step(rain_stepper *stepper, uint64_t number);
const rain_times *rain_stepper_times(const rain_stepper *stepper);
const rain_counts *rain_stepper_counts(const rain_stepper *stepper);

/* ---- the checker (check.c) --------------------------------------------------------------------------------------- */

typedef struct rain_checker rain_checker;

typedef struct rain_verdict {
    uint64_t outside; /* spheres whose centre is not strictly inside of the mesh */
    uint64_t first;   /* the first of them */
    uint64_t sampled;
    double deepest; /* of the sample, how deep a sphere is in the mesh: radius - distance, in radii */
} rain_verdict;

rain_checker *rain_checker_create(const rain_mesh *mesh);
void rain_checker_destroy(rain_checker *checker);
rain_verdict rain_check(const rain_checker *checker, const rain_spheres *spheres, uint64_t sample);

/* ---- frames (vtu.c, picture.c) ----------------------------------------------------------------------------------- */

/* DIRECTORY/rain-NUMBER.vtu, and vessel.vtu for the mesh. */
int rain_write_vtu(const char *directory, uint64_t number, const rain_spheres *spheres);
int rain_write_mesh(const char *directory, const rain_mesh *mesh);
int rain_have_png(void);
int rain_write_png(const char *directory, uint64_t number, const rain_world *world, const rain_spheres *spheres);

/* ---- small things (main.c) --------------------------------------------------------------------------------------- */

double rain_seconds(void);
double rain_cpu_seconds(void);
/* "rain: FORMAT" on stderr; returns 0. */
int rain_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* `count` zeroed elements, or a sentence and NULL. */
void *rain_alloc(uint64_t count, size_t size);

#endif
