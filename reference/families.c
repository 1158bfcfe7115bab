/* SPDX-License-Identifier: MIT */
/* The table of case families, and those that are a shape from families_shapes.c at another place or scale. */
#include "generate.h"

#include <math.h>
#include <string.h>

/* splitmix64: every case is a stream of its own, so that cases can be made in any order. */
uint64_t ref_gen_bits(ref_gen *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void ref_gen_seed(ref_gen *g, uint64_t family, uint64_t seed, uint64_t index)
{
    g->state = seed;
    g->state = ref_gen_bits(g) ^ family;
    g->state = ref_gen_bits(g) ^ index;
    g->state = ref_gen_bits(g);
}

double ref_gen_range(ref_gen *g, double low, double high)
{
    return low + (high - low) * ((double)(ref_gen_bits(g) >> 11) * 0x1p-53);
}

int ref_gen_int(ref_gen *g, int low, int high)
{
    return low + (int)((ref_gen_bits(g) >> 32) % (uint64_t)(high - low + 1));
}

int ref_gen_chance(ref_gen *g, int one_in)
{
    return ref_gen_int(g, 1, one_in) == 1;
}

void ref_gen_box(ref_gen *g, double out[3], double half)
{
    for (int i = 0; i < 3; i++)
        out[i] = ref_gen_range(g, -half, half);
}

void ref_gen_lattice(ref_gen *g, double out[3], int half)
{
    for (int i = 0; i < 3; i++)
        out[i] = ref_gen_int(g, -half, half) / 8.0;
}

double ref_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

void ref_gen_direction(ref_gen *g, double out[3])
{
    double length;

    do {
        ref_gen_box(g, out, 1.0);
        length = ref_length(out);
    } while (length > 1.0 || length < 0.125);
    for (int i = 0; i < 3; i++)
        out[i] /= length;
}

void ref_gen_across(ref_gen *g, double out[3], const double axis[3])
{
    double along, length;

    do {
        ref_gen_direction(g, out);
        along = out[0] * axis[0] + out[1] * axis[1] + out[2] * axis[2];
        ref_move(out, out, axis, -along);
        length = ref_length(out);
    } while (length < 0.125);
    for (int i = 0; i < 3; i++)
        out[i] /= length;
}

void ref_move(double out[3], const double from[3], const double direction[3], double distance)
{
    for (int i = 0; i < 3; i++)
        out[i] = from[i] + direction[i] * distance;
}

double ref_power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

float ref_gen_any_float(ref_gen *g)
{
    uint32_t bits;
    float value;

    do {
        bits = (uint32_t)(ref_gen_bits(g) >> 32);
    } while ((bits & 0x7f800000u) == 0x7f800000u);
    memcpy(&value, &bits, sizeof value);
    return value;
}

float ref_round(double value)
{
    return (float)value;
}

static void round_three(float out[3], const double v[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = ref_round(v[i]);
}

void ref_scene_case(const ref_scene *scene, ref_sweep_case *out)
{
    round_three(out->center, scene->center);
    out->radius = (double)ref_round(scene->radius);
    round_three(out->velocity, scene->velocity);
    for (int i = 0; i < 3; i++)
        round_three(out->p[i], scene->p[i]);
    round_three(out->w, scene->w);
}

static void scale_scene(ref_scene *scene, double length, double velocity)
{
    scene->radius *= length;
    for (int i = 0; i < 3; i++) {
        scene->center[i] *= length;
        scene->velocity[i] *= velocity;
        scene->w[i] *= velocity;
        for (int k = 0; k < 3; k++)
            scene->p[k][i] *= length;
    }
}

/* Triangle in the unit box, centre outside every inflated triangle of that box, so that no time is near zero. */
static void make_random(ref_gen *g, ref_scene *scene)
{
    double target[3], direction[3], distance, speed;

    for (int i = 0; i < 3; i++)
        ref_gen_box(g, scene->p[i], 1.0);
    ref_point_of_triangle(g, target, scene);
    ref_gen_box(g, direction, ref_gen_chance(g, 5) ? 3.0 : 0.5);
    ref_move(target, target, direction, 1.0);
    ref_gen_direction(g, direction);
    distance = ref_gen_range(g, 2.5, 8.0);
    speed = ref_gen_range(g, 0.5, 2.0);
    if (ref_gen_chance(g, 8))
        speed = -speed;
    for (int i = 0; i < 3; i++)
        scene->center[i] = direction[i] * distance;
    for (int i = 0; i < 3; i++)
        direction[i] = target[i] - scene->center[i];
    distance = ref_length(direction); /* at least 0.4 unless the target was thrown wide; never 0 in practice */
    for (int i = 0; i < 3; i++)
        scene->velocity[i] = distance > 0.0 ? direction[i] / distance * speed : speed;
    scene->radius = ref_gen_range(g, 0.05, 0.5);
}

static void make_far(ref_gen *g, ref_scene *scene, double far)
{
    double target[3], direction[3], distance, speed;

    for (int i = 0; i < 3; i++)
        ref_gen_box(g, scene->p[i], 1.0);
    scene->radius = 0.05;
    ref_point_of_triangle(g, target, scene);
    ref_gen_direction(g, direction);
    distance = ref_gen_chance(g, 2) ? ref_gen_range(g, 0.0, 0.1) : ref_gen_range(g, 0.0, 1.0);
    ref_move(target, target, direction, distance);
    distance = far * ref_gen_range(g, 0.5, 1.0);
    speed = ref_gen_range(g, 0.5, 2.0);
    ref_aim(g, scene, target, distance, ref_gen_chance(g, 8) ? -speed : speed);
}

static void make_far_1e3(ref_gen *g, ref_scene *scene)
{
    make_far(g, scene, 1e3);
}

static void make_far_1e5(ref_gen *g, ref_scene *scene)
{
    make_far(g, scene, 1e5);
}

static void make_small(ref_gen *g, ref_scene *scene, double size)
{
    double base[3] = {0.0, 0.0, 0.0}, side[3], distance, speed;

    if (ref_gen_chance(g, 2))
        ref_gen_box(g, base, 1.0);
    for (int i = 0; i < 3; i++) {
        ref_gen_box(g, side, size);
        ref_move(scene->p[i], base, side, 1.0);
    }
    scene->radius = ref_gen_chance(g, 4) ? ref_gen_range(g, 0.5, 5.0) * size : ref_gen_range(g, 0.05, 0.5);
    ref_gen_direction(g, side);
    distance = scene->radius * ref_gen_range(g, 0.0, 2.0);
    ref_move(base, base, side, distance);
    distance = ref_gen_range(g, 0.1, 2.0);
    speed = ref_gen_range(g, 0.5, 2.0);
    ref_aim(g, scene, base, distance, speed);
}

static void make_tiny_edges_1e3(ref_gen *g, ref_scene *scene)
{
    make_small(g, scene, 1e-3);
}

static void make_tiny_edges_1e6(ref_gen *g, ref_scene *scene)
{
    make_small(g, scene, 1e-6);
}

static void make_offset(ref_gen *g, ref_scene *scene)
{
    double direction[3], distance;

    if (ref_gen_chance(g, 2))
        make_random(g, scene);
    else
        ref_make_near(g, scene);
    ref_gen_direction(g, direction);
    distance = ref_gen_range(g, 1e3, 1e4);
    ref_move(scene->center, scene->center, direction, distance);
    for (int i = 0; i < 3; i++)
        ref_move(scene->p[i], scene->p[i], direction, distance);
}

static void make_motionless(ref_gen *g, ref_scene *scene)
{
    int kind = ref_gen_int(g, 0, 3);

    if (kind == 0)
        ref_make_near(g, scene);
    else if (kind == 1)
        ref_make_lattice(g, scene);
    else if (kind == 2)
        ref_make_touching(g, scene);
    else
        ref_make_degenerate(g, scene);
    if (ref_gen_chance(g, 2))
        memset(scene->velocity, 0, sizeof scene->velocity);
    memcpy(scene->w, scene->velocity, sizeof scene->w);
}

static void make_moving_triangle(ref_gen *g, ref_scene *scene)
{
    double drift[3], speed = ref_gen_range(g, 0.1, 10.0);

    if (ref_gen_chance(g, 2))
        make_random(g, scene);
    else
        ref_make_near(g, scene);
    ref_gen_direction(g, drift);
    for (int i = 0; i < 3; i++) {
        scene->w[i] = drift[i] * speed;
        scene->velocity[i] += scene->w[i];
    }
}

static void make_zero_radius(ref_gen *g, ref_scene *scene)
{
    int kind = ref_gen_int(g, 0, 3);
    double target[3];

    if (kind == 0) {
        ref_make_lattice(g, scene);
    } else if (kind == 1) {
        ref_make_in_plane(g, scene);
    } else if (kind == 2) {
        ref_make_perpendicular(g, scene);
    } else {
        make_random(g, scene);
        ref_point_of_triangle(g, target, scene);
        ref_aim(g, scene, target, 3.0, 1.0);
    }
    scene->radius = ref_gen_chance(g, 8) ? -0.0 : 0.0;
}

/* Any shape, all lengths and velocities at 2^e: the answers must not notice. */
static void make_any_shape(ref_gen *g, ref_scene *scene)
{
    static ref_scene_maker *const shapes[] = {make_random,      ref_make_near,        ref_make_grazing,
                                              ref_make_lattice, make_moving_triangle, ref_make_touching,
                                              ref_make_caps,    make_random};

    shapes[ref_gen_int(g, 0, 7)](g, scene);
}

static void make_huge(ref_gen *g, ref_scene *scene)
{
    int kind = ref_gen_int(g, 0, 7);

    make_any_shape(g, scene);
    if (kind < 4)
        scale_scene(scene, 0x1p100, kind < 2 ? 0x1p100 : 1.0);
    else if (kind < 7)
        scale_scene(scene, 1.0, 0x1p-90);
    else
        scale_scene(scene, 0x1p100, 0x1p-90); /* times beyond binary32 */
}

static void make_tiny(ref_gen *g, ref_scene *scene)
{
    int kind = ref_gen_int(g, 0, 7);

    make_any_shape(g, scene);
    if (kind < 6)
        scale_scene(scene, 0x1p-100, kind < 4 ? 0x1p-100 : 1.0);
    else
        scale_scene(scene, 0x1p-140, kind == 6 ? 0x1p-140 : 0x1p60); /* denormals; times that round to zero */
}

/* Rewrite some of the sixteen numbers of a scene with other magnitudes, or all of them with any finite bits. */
static void make_mixed(ref_gen *g, ref_scene *scene)
{
    double *numbers[16] = {&scene->radius};
    int kind = ref_gen_int(g, 0, 3);

    make_any_shape(g, scene);
    for (int i = 0; i < 3; i++) {
        numbers[1 + i] = &scene->center[i];
        numbers[4 + i] = &scene->velocity[i];
        for (int k = 0; k < 3; k++)
            numbers[7 + 3 * k + i] = &scene->p[k][i];
    }
    for (int i = 0; i < 16; i++) {
        if (kind == 0)
            *numbers[i] = (double)ref_gen_any_float(g);
        else if (kind == 1)
            *numbers[i] *= ref_power_of_two(ref_gen_int(g, -40, 40));
        else if (ref_gen_chance(g, 4))
            *numbers[i] *= ref_power_of_two(kind == 2 ? -ref_gen_int(g, 1, 149) : ref_gen_int(g, -20, 20));
    }
    if (scene->radius < 0.0)
        scene->radius = -scene->radius;
}

static void spoil(ref_gen *g, ref_scene *scene)
{
    double bad[3] = {(double)INFINITY, -(double)INFINITY, (double)NAN}, value = bad[ref_gen_int(g, 0, 2)];
    int place = ref_gen_int(g, 0, 8), axis = ref_gen_int(g, 0, 2);

    if (place == 0)
        scene->center[axis] = value;
    else if (place == 1)
        scene->velocity[axis] = value;
    else if (place < 5)
        scene->p[place - 2][axis] = value;
    else if (place == 5)
        scene->w[axis] = value;
    else if (place == 6)
        scene->radius = value;
    else if (place == 7)
        scene->radius = -scene->radius;
    else
        scene->radius = ref_gen_chance(g, 2) ? -0.0 : -0x1p-149;
}

static void make_non_finite(ref_gen *g, ref_scene *scene)
{
    make_any_shape(g, scene);
    if (!ref_gen_chance(g, 4))
        spoil(g, scene);
}

struct family {
    const char *name;
    ref_scene_maker *scene;
    ref_spheres_maker *spheres;
};

static const struct family families[] = {
    {"random", make_random, ref_spheres_random}, /* must stay first: the one that is easy */
    {"near", ref_make_near, ref_spheres_near},
    {"far-1e3", make_far_1e3, ref_spheres_far_1e3},
    {"far-1e5", make_far_1e5, ref_spheres_far_1e5},
    {"tiny-edges-1e-3", make_tiny_edges_1e3, ref_spheres_small_1e3},
    {"tiny-edges-1e-6", make_tiny_edges_1e6, ref_spheres_small_1e6},
    {"needles", ref_make_needles, ref_spheres_random},
    {"caps", ref_make_caps, ref_spheres_random},
    {"parallel", ref_make_parallel, ref_spheres_parallel},
    {"in-plane", ref_make_in_plane, ref_spheres_head_on},
    {"perpendicular", ref_make_perpendicular, ref_spheres_head_on},
    {"degenerate", ref_make_degenerate, ref_spheres_points},
    {"offset", make_offset, ref_spheres_offset},
    {"grazing", ref_make_grazing, ref_spheres_grazing},
    {"lattice", ref_make_lattice, ref_spheres_lattice},
    {"motionless", make_motionless, ref_spheres_motionless},
    {"touching", ref_make_touching, ref_spheres_touching},
    {"moving-triangle", make_moving_triangle, ref_spheres_both_move},
    {"zero-radius", make_zero_radius, ref_spheres_zero_radius},
    {"huge", make_huge, ref_spheres_huge},
    {"tiny", make_tiny, ref_spheres_tiny},
    {"mixed", make_mixed, ref_spheres_mixed},
    {"non-finite", make_non_finite, ref_spheres_non_finite},
    /* At the end: the number of a family goes into its cases. */
    {"graze", ref_make_graze, ref_spheres_graze},
    {"instant", ref_make_instant, ref_spheres_instant},
    {"still", ref_make_still, ref_spheres_still},
    {"border", ref_make_border, ref_spheres_lattice},
    {"midpoint", ref_make_midpoint, ref_spheres_midpoint},
    {"slivers", ref_make_slivers, ref_spheres_points},
    {"far-1e7", ref_make_far_1e7, ref_spheres_far_1e7},
    {"drift", ref_make_drift, ref_spheres_drift},
    {"denormal", ref_make_denormal, ref_spheres_denormal},
    {"doubt", ref_make_doubt, ref_spheres_doubt},
    {"along", ref_make_along, ref_spheres_graze},
};

size_t ref_family_count(void)
{
    return sizeof families / sizeof families[0];
}

const char *ref_family_name(size_t family)
{
    return family < ref_family_count() ? families[family].name : "";
}

int ref_family_is_easy(size_t family)
{
    return family == 0;
}

void ref_family_sweep(size_t family, uint64_t seed, uint64_t index, ref_sweep_case *out)
{
    ref_scene scene;
    ref_gen g;

    memset(&scene, 0, sizeof scene);
    ref_gen_seed(&g, family, seed, index);
    families[family % ref_family_count()].scene(&g, &scene);
    ref_scene_case(&scene, out);
}

void ref_family_spheres(size_t family, uint64_t seed, uint64_t index, ref_spheres_case *out)
{
    ref_gen g;

    memset(out, 0, sizeof *out);
    ref_gen_seed(&g, family + ((uint64_t)1 << 32), seed, index);
    families[family % ref_family_count()].spheres(&g, out);
}
