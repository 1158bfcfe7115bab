/* SPDX-License-Identifier: MIT */
/* Shapes and alignments that solvers single out, in exact and in nearly exact versions. */
#include "generate.h"

#include <math.h>
#include <string.h>

void ref_point_of_triangle(ref_gen *g, double out[3], const ref_scene *scene)
{
    const double(*p)[3] = scene->p;
    double u = ref_gen_range(g, 0.0, 1.0), v = ref_gen_range(g, 0.0, 1.0);

    if (u + v > 1.0) {
        u = 1.0 - u;
        v = 1.0 - v;
    }
    for (int i = 0; i < 3; i++)
        out[i] = p[0][i] + u * (p[1][i] - p[0][i]) + v * (p[2][i] - p[0][i]);
}

/* Start at `distance` from the target in a random direction; the velocity is taken from the rounded start. */
void ref_aim(ref_gen *g, ref_scene *scene, const double target[3], double distance, double speed)
{
    double direction[3], way[3], length;

    ref_gen_direction(g, direction);
    ref_move(scene->center, target, direction, distance);
    for (int i = 0; i < 3; i++)
        way[i] = target[i] - (double)ref_round(scene->center[i]);
    length = ref_length(way);
    for (int i = 0; i < 3; i++)
        scene->velocity[i] = length > 0.0 ? way[i] / length * speed : speed;
}

static void edges(double e1[3], double e2[3], const ref_scene *scene)
{
    const double(*p)[3] = scene->p;

    for (int i = 0; i < 3; i++) {
        e1[i] = p[1][i] - p[0][i];
        e2[i] = p[2][i] - p[0][i];
    }
}

static void cross(double out[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

static void normalise(double v[3])
{
    double length = ref_length(v);

    for (int i = 0; i < 3; i++)
        v[i] = length > 0.0 ? v[i] / length : (i == 0 ? 1.0 : 0.0);
}

static void three_corners(ref_gen *g, ref_scene *scene)
{
    for (int i = 0; i < 3; i++)
        ref_gen_box(g, scene->p[i], 1.0);
}

void ref_make_near(ref_gen *g, ref_scene *scene)
{
    double direction[3], speed;

    three_corners(g, scene);
    ref_gen_box(g, scene->center, 1.3);
    scene->radius = ref_gen_range(g, 0.02, 0.8);
    ref_gen_direction(g, direction);
    speed = ref_gen_range(g, 0.2, 2.0);
    for (int i = 0; i < 3; i++)
        scene->velocity[i] = direction[i] * speed;
}

/* A long edge and a third corner `width` beside it, at the share `along` of its length. */
static void sliver(ref_gen *g, ref_scene *scene, double along)
{
    double axis[3], side[3], target[3], length, width, distance, speed;

    ref_gen_direction(g, axis);
    ref_gen_across(g, side, axis);
    length = ref_gen_range(g, 0.5, 2.0);
    width = length * 1e-3 * ref_power_of_two(-ref_gen_int(g, 0, 10));
    ref_gen_box(g, scene->p[0], 1.0);
    ref_move(scene->p[1], scene->p[0], axis, length);
    ref_move(scene->p[2], scene->p[0], axis, length * along);
    ref_move(scene->p[2], scene->p[2], side, width);
    scene->radius = ref_gen_range(g, 0.02, 0.3);
    ref_point_of_triangle(g, target, scene);
    ref_gen_direction(g, side);
    distance = scene->radius * ref_gen_range(g, 0.0, 2.5);
    ref_move(target, target, side, distance);
    distance = ref_gen_range(g, 0.1, 3.0);
    speed = ref_gen_range(g, 0.5, 2.0);
    ref_aim(g, scene, target, distance, speed);
}

void ref_make_needles(ref_gen *g, ref_scene *scene)
{
    double along = ref_gen_chance(g, 2) ? 0.0 : 1.0;

    sliver(g, scene, along);
}

void ref_make_caps(ref_gen *g, ref_scene *scene)
{
    double along = ref_gen_range(g, 0.05, 0.95);

    sliver(g, scene, along);
}

/* Corners on the lattice, in a plane of constant x, y or z half of the time, else in any lattice plane. */
static int lattice_corners(ref_gen *g, ref_scene *scene)
{
    int axis = ref_gen_int(g, 0, 5);

    for (int i = 0; i < 3; i++)
        ref_gen_lattice(g, scene->p[i], 8);
    for (int i = 1; i < 3 && axis < 3; i++)
        scene->p[i][axis] = scene->p[0][axis];
    return axis;
}

/* i e1 + j e2 with i and j multiples of 1/4: exact for lattice corners. */
static void in_plane_step(ref_gen *g, double out[3], const ref_scene *scene, int exact)
{
    double e1[3], e2[3], i, j;

    edges(e1, e2, scene);
    if (exact) {
        i = ref_gen_int(g, -8, 8) / 4.0;
        j = ref_gen_int(g, -8, 8) / 4.0;
    } else {
        i = ref_gen_range(g, -2.0, 2.0);
        j = ref_gen_range(g, -2.0, 2.0);
    }
    for (int k = 0; k < 3; k++)
        out[k] = i * e1[k] + j * e2[k];
}

/* Above the plane by `height` normals (unit ones unless exact), moving within the plane's direction. */
static void parallel(ref_gen *g, ref_scene *scene, int in_plane)
{
    int exact = ref_gen_chance(g, 2), axis = 3;
    double e1[3], e2[3], normal[3], step[3], height;

    if (exact)
        axis = lattice_corners(g, scene);
    else
        three_corners(g, scene);
    edges(e1, e2, scene);
    cross(normal, e1, e2);
    if (axis < 3) {
        memset(normal, 0, sizeof normal);
        normal[axis] = 1.0;
    } else if (!exact) {
        normalise(normal);
    }
    scene->radius = exact ? ref_gen_int(g, 0, 8) / 8.0 : ref_gen_range(g, 0.02, 0.5);
    height = exact ? ref_gen_int(g, -8, 8) / 8.0 : scene->radius * ref_gen_range(g, -1.2, 1.2);
    if (exact && ref_gen_chance(g, 4)) /* slides on the face at exactly r where the normal is an axis */
        height = scene->radius;
    in_plane_step(g, step, scene, exact);
    ref_move(scene->center, scene->p[0], step, 1.0);
    if (!in_plane)
        ref_move(scene->center, scene->center, normal, height);
    in_plane_step(g, scene->velocity, scene, exact);
}

void ref_make_parallel(ref_gen *g, ref_scene *scene)
{
    parallel(g, scene, 0);
}

void ref_make_in_plane(ref_gen *g, ref_scene *scene)
{
    parallel(g, scene, 1);
}

void ref_make_perpendicular(ref_gen *g, ref_scene *scene)
{
    int exact = ref_gen_chance(g, 2), axis = 3;
    double e1[3], e2[3], normal[3], step[3], height, speed;

    if (exact)
        axis = lattice_corners(g, scene);
    else
        three_corners(g, scene);
    edges(e1, e2, scene);
    cross(normal, e1, e2);
    if (axis < 3) {
        memset(normal, 0, sizeof normal);
        normal[axis] = 1.0;
    } else if (!exact) {
        normalise(normal);
    }
    scene->radius = exact ? ref_gen_int(g, 0, 8) / 8.0 : ref_gen_range(g, 0.02, 0.5);
    in_plane_step(g, step, scene, exact);
    height = exact ? ref_gen_int(g, -16, 16) / 8.0 : ref_gen_range(g, -3.0, 3.0);
    speed = exact ? (ref_gen_chance(g, 2) ? 0.5 : -1.0) : ref_gen_range(g, -2.0, 2.0);
    ref_move(scene->center, scene->p[0], step, ref_gen_chance(g, 3) ? 1.0 : 0.5);
    ref_move(scene->center, scene->center, normal, height);
    for (int i = 0; i < 3; i++)
        scene->velocity[i] = normal[i] * speed;
}

/* A point, two equal corners, or three on a line exactly; some move along the line. */
void ref_make_degenerate(ref_gen *g, ref_scene *scene)
{
    static const double share[8] = {-1.0, 0.25, 0.5, 0.75, 1.5, 2.0, 0.0, 1.0};
    int kind = ref_gen_int(g, 0, 7);
    double axis[3], target[3], k, distance, speed;

    ref_make_lattice(g, scene);
    for (int i = 0; i < 3; i++)
        axis[i] = scene->p[1][i] - scene->p[0][i];
    k = kind == 0 ? 0.0 : share[ref_gen_int(g, 0, 7)];
    if (kind == 0) /* a point */
        memcpy(scene->p[1], scene->p[0], sizeof scene->p[1]);
    for (int i = 0; i < 3; i++)
        scene->p[2][i] = kind == 0 ? scene->p[0][i] : scene->p[0][i] + k * axis[i];
    if (kind == 1) /* along the segment */
        memcpy(scene->velocity, axis, sizeof axis);
    if (kind < 4)
        return;
    scene->radius = ref_gen_range(g, 0.02, 0.5);
    ref_point_of_triangle(g, target, scene);
    ref_gen_direction(g, axis);
    distance = scene->radius * ref_gen_range(g, 0.0, 2.0);
    ref_move(target, target, axis, distance);
    distance = ref_gen_range(g, 0.1, 4.0);
    speed = ref_gen_range(g, 0.5, 2.0);
    ref_aim(g, scene, target, distance, speed);
}

/* A unit direction in which a point of a corner, an edge or the face is the triangle's closest. */
static void outward(ref_gen *g, double point[3], double out[3], const ref_scene *scene)
{
    const double(*p)[3] = scene->p;
    int kind = ref_gen_int(g, 0, 6), a = kind % 3, b = (a + 1) % 3, c = (a + 2) % 3;
    double e1[3], e2[3], normal[3], tilt, share;

    edges(e1, e2, scene);
    cross(normal, e1, e2);
    normalise(normal);
    if (kind == 6) {
        ref_point_of_triangle(g, point, scene);
        memcpy(out, normal, sizeof normal);
        return;
    }
    tilt = ref_gen_range(g, -1.0, 1.0);
    share = kind < 3 ? 0.0 : ref_gen_range(g, 0.0, 1.0);
    for (int i = 0; i < 3; i++) {
        point[i] = p[a][i] + share * (p[b][i] - p[a][i]);
        e1[i] = p[b][i] - p[a][i];
        e2[i] = p[a][i] - 0.5 * (p[b][i] + p[c][i]);
    }
    if (kind >= 3) /* away from the edge within the plane: normal and edge at right angles */
        cross(out, e1, normal);
    else
        memcpy(out, e2, sizeof e2);
    normalise(out);
    ref_move(out, out, normal, tilt);
    normalise(out);
}

/* The line of centres passes a feature at r (1 +- 2^-k). */
void ref_make_grazing(ref_gen *g, ref_scene *scene)
{
    double point[3], direction[3], way[3], slip, distance, speed;

    three_corners(g, scene);
    scene->radius = (double)ref_round(ref_gen_range(g, 0.02, 0.8));
    outward(g, point, direction, scene);
    ref_gen_across(g, way, direction);
    slip = ref_power_of_two(-ref_gen_int(g, 8, 22));
    if (ref_gen_chance(g, 2))
        slip = -slip;
    distance = ref_gen_range(g, -1.0, 4.0);
    speed = ref_gen_range(g, 0.5, 2.0);
    ref_move(scene->center, point, direction, scene->radius * (1.0 + slip));
    ref_move(scene->center, scene->center, way, -distance);
    for (int i = 0; i < 3; i++)
        scene->velocity[i] = way[i] * speed;
}

/* Multiples of 1/8 near zero: exact ties of every kind are common. */
void ref_make_lattice(ref_gen *g, ref_scene *scene)
{
    int half = ref_gen_chance(g, 2) ? 4 : 12;

    for (int i = 0; i < 3; i++)
        ref_gen_lattice(g, scene->p[i], half);
    ref_gen_lattice(g, scene->center, half + 4);
    ref_gen_lattice(g, scene->velocity, 4);
    scene->radius = ref_gen_int(g, 0, 12) / 8.0;
    if (ref_gen_chance(g, 4))
        ref_gen_lattice(g, scene->w, 4);
    if (ref_gen_chance(g, 2)) { /* an axis plane makes rational lengths likely */
        int axis = ref_gen_int(g, 0, 2);
        scene->p[1][axis] = scene->p[0][axis];
        scene->p[2][axis] = scene->p[0][axis];
    }
}

/* Distance r at time 0: exactly, by offsets (1,2,2) and (2,3,6) of whole length from the lattice, or nearly. */
void ref_make_touching(ref_gen *g, ref_scene *scene)
{
    static const double whole[3][4] = {{1, 2, 2, 3}, {2, 3, 6, 7}, {0, 3, 4, 5}};
    int kind = ref_gen_int(g, 0, 3), turn;
    const double *offset;
    double point[3], direction[3], slip, size;

    if (kind < 3) {
        ref_make_lattice(g, scene);
        offset = whole[kind];
        turn = ref_gen_int(g, 0, 2);
        size = ref_gen_int(g, 1, 3) / 8.0;
        scene->radius = offset[3] * size;
        for (int i = 0; i < 3; i++)
            scene->center[i] = scene->p[0][i] + offset[(i + turn) % 3] * (ref_gen_chance(g, 2) ? size : -size);
        if (!ref_gen_chance(g, 3))
            return;
        for (int i = 0; i < 2; i++) /* above the face at exactly r, or beside its edges */
            scene->p[i + 1][turn] = scene->p[0][turn];
        ref_point_of_triangle(g, scene->center, scene);
        scene->center[turn] = scene->p[0][turn] + scene->radius;
        return;
    }
    ref_make_near(g, scene);
    scene->radius = (double)ref_round(scene->radius);
    outward(g, point, direction, scene);
    slip = ref_gen_chance(g, 2) ? 0.0 : ref_power_of_two(-ref_gen_int(g, 18, 40));
    ref_move(scene->center, point, direction, scene->radius * (1.0 + slip));
    if (ref_gen_chance(g, 4)) /* along the surface */
        ref_gen_across(g, scene->velocity, direction);
}
