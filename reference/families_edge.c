/* SPDX-License-Identifier: MIT */
/* Families that lie on a decision exactly, or next to it by a chosen power of two. Every number is a small multiple of
 * a power of two, so that rounding to binary32 changes nothing and the distance that is written here is the true one.
 * What is far smaller than the rest is a coordinate of its own, with digits of its own: that is how r (1 + 2^-60) is
 * made. */
#include "generate.h"

#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Directions of whole length, and two at right angles to each. The first two have no x. */
struct whole {
    double n[3], length, across[2][3];
};

static const struct whole wholes[] = {
    {{0, 1, 0}, 1, {{1, 0, 0}, {0, 0, 1}}},
    {{0, 3, 4}, 5, {{1, 0, 0}, {0, 4, -3}}},
    {{1, 2, 2}, 3, {{2, 1, -2}, {2, -2, 1}}},
    {{2, 3, 6}, 7, {{3, -6, 2}, {6, 2, -3}}},
};

static void swap(double a[3], double b[3])
{
    double t[3];

    memcpy(t, a, sizeof t);
    memcpy(a, b, sizeof t);
    memcpy(b, t, sizeof t);
}

/* Any order and sign of the axes, any order of the corners, lengths and times in any unit: all exact. */
static void turn_vector(double v[3], int first, const double sign[3])
{
    double t[3] = {v[0], v[1], v[2]};

    for (int i = 0; i < 3; i++)
        v[i] = t[(first + (sign[0] > 0.0 ? i : 3 - i)) % 3] * sign[i];
}

void ref_turn(ref_gen *g, ref_scene *scene)
{
    double sign[3], length = ref_power_of_two(ref_gen_int(g, -20, 20)), speed = ref_power_of_two(ref_gen_int(g, -9, 9));
    int first = ref_gen_int(g, 0, 2), corner = ref_gen_int(g, 1, 2);

    if (ref_gen_chance(g, 2))
        length = speed = 1.0;
    for (int i = 0; i < 3; i++)
        sign[i] = ref_gen_chance(g, 2) ? 1.0 : -1.0;
    turn_vector(scene->center, first, sign);
    turn_vector(scene->velocity, first, sign);
    turn_vector(scene->w, first, sign);
    for (int i = 0; i < 3; i++)
        turn_vector(scene->p[i], first, sign);
    if (ref_gen_chance(g, 2))
        swap(scene->p[0], scene->p[corner]);
    if (ref_gen_chance(g, 2))
        swap(scene->p[1], scene->p[2]);
    scene->radius *= length;
    for (int i = 0; i < 3; i++) {
        scene->center[i] *= length;
        scene->velocity[i] *= speed;
        scene->w[i] *= speed;
        for (int k = 0; k < 3; k++)
            scene->p[k][i] *= length;
    }
}

double ref_slip(ref_gen *g)
{
    double slip = ref_power_of_two(-ref_gen_int(g, 1, 60));

    if (ref_gen_chance(g, 8))
        return 0.0;
    return ref_gen_chance(g, 2) ? slip : -slip;
}

/* A lattice point well below the plane through the origin with normal n. */
static void below(ref_gen *g, double out[3], const double n[3])
{
    ref_gen_lattice(g, out, 12);
    if (dot(out, n) > 0.0) {
        for (int i = 0; i < 3; i++)
            out[i] = -out[i];
    }
    ref_move(out, out, n, -0.125);
}

/* A corner, an edge or a face whose distance to the centre is r (1 + slip), seen along n from the origin. The slip is
 * the whole of the corner's coordinate along n, so it may be as small as it likes. */
static const struct whole *stand_off(ref_gen *g, ref_scene *scene, double slip)
{
    int kind = ref_gen_int(g, 0, 2);
    const struct whole *at = &wholes[ref_gen_int(g, 0, kind == 0 ? 3 : kind == 1 ? 1 : 0)];
    double s = ref_gen_int(g, 1, 16) / 8.0;

    scene->radius = at->length * s;
    for (int i = 0; i < 3; i++) {
        scene->center[i] = at->n[i] * s;
        below(g, scene->p[i], at->n);
        if (i == 0 || (i == 1 && kind > 0) || kind == 2) {
            double x = scene->p[i][0], z = scene->p[i][2];
            for (int k = 0; k < 3; k++)
                scene->p[i][k] = -(slip * s) * at->n[k];
            if (kind > 0) /* the ends of an edge, or corners all around the foot */
                scene->p[i][0] = i == 0 ? -1.0 - x * x : i == 1 ? 1.0 + x * x : x;
            if (kind == 2)
                scene->p[i][2] = i == 2 ? 1.0 + z * z : -1.0 - z * z / 2.0;
        }
    }
    return at;
}

static void along_surface(ref_gen *g, double out[3], const struct whole *at)
{
    double a = ref_gen_int(g, -8, 8) / 8.0, b = ref_gen_int(g, -8, 8) / 8.0;

    for (int i = 0; i < 3; i++)
        out[i] = a * at->across[0][i] + b * at->across[1][i];
}

/* Passes at r (1 +- 2^-k) exactly, k = 1 to 60. */
void ref_make_graze(ref_gen *g, ref_scene *scene)
{
    double slip = ref_slip(g);
    const struct whole *at = stand_off(g, scene, slip);

    along_surface(g, scene->velocity, at);
    ref_move(scene->center, scene->center, scene->velocity, ref_gen_int(g, -16, 8) / 4.0);
    ref_turn(g, scene);
}

/* Is at r (1 +- 2^-k) at time 0, and comes or goes. */
void ref_make_instant(ref_gen *g, ref_scene *scene)
{
    double slip = ref_slip(g), depth;
    const struct whole *at = stand_off(g, scene, slip);

    along_surface(g, scene->velocity, at);
    if (ref_gen_chance(g, 4))
        memset(scene->velocity, 0, sizeof scene->velocity);
    depth = ref_gen_int(g, 1, 8) / 8.0;
    ref_move(scene->velocity, scene->velocity, at->n, ref_gen_chance(g, 2) ? depth : -depth);
    ref_turn(g, scene);
}

/* Is at r (1 +- 2^-k) and stays there, or all but stays. */
void ref_make_still(ref_gen *g, ref_scene *scene)
{
    double slip = ref_slip(g);
    const struct whole *at = stand_off(g, scene, slip);

    if (!ref_gen_chance(g, 3))
        along_surface(g, scene->velocity, at);
    memcpy(scene->w, scene->velocity, sizeof scene->w);
    if (ref_gen_chance(g, 4))
        scene->w[ref_gen_int(g, 0, 2)] *= 1.0 + 0x1p-20;
    ref_turn(g, scene);
}

/* The next number or nearly, and where there is none to speak of, a small one. */
static void nudge(ref_gen *g, double v[3])
{
    double way = ref_gen_chance(g, 2) ? 1.0 : -1.0, small = ref_power_of_two(-ref_gen_int(g, 20, 60));
    int i = ref_gen_int(g, 0, 2);

    v[i] = v[i] != 0.0 ? v[i] * (1.0 + way * 0x1p-23) : way * small;
}

/* Contact on the border of two or three features: a corner, a point of an edge, met along the face's normal or at right
 * angles to the edge that ends there. Half of them miss the border by one unit in the last place. */
void ref_make_border(ref_gen *g, ref_scene *scene)
{
    static const double ways[5][4] = {{0, 0, 1, 1}, {0, -3, 4, 5}, {0, -4, 3, 5}, {0, -1, 0, 1}, {0, 0, 1, 1}};
    const double *way = ways[ref_gen_int(g, 0, 4)];
    double s = ref_gen_int(g, 1, 8) / 8.0, share = ref_gen_int(g, 0, 4) / 4.0, when = ref_gen_int(g, -8, 16) / 4.0;
    double *const vectors[5] = {scene->center, scene->velocity, scene->p[0], scene->p[1], scene->p[2]};

    if (way[2] != 1.0 && ref_gen_chance(g, 2))
        share = ref_gen_int(g, 0, 1);
    scene->p[1][0] = ref_gen_int(g, 1, 16) / 8.0; /* P0 is the origin, the edge runs along x, the face up along y */
    scene->p[2][0] = ref_gen_int(g, -16, 16) / 8.0;
    scene->p[2][1] = ref_gen_int(g, 1, 16) / 8.0;
    scene->radius = way[3] * s;
    scene->center[0] = share * scene->p[1][0];
    scene->center[1] = way[1] * s;
    scene->center[2] = way[2] * s;
    ref_gen_lattice(g, scene->velocity, 8);
    if (ref_gen_chance(g, 3)) /* head-on */
        ref_move(scene->velocity, scene->velocity, scene->velocity, -1.0);
    ref_move(scene->velocity, scene->velocity, way, ref_gen_chance(g, 2) ? 0.5 : -0.5);
    ref_move(scene->center, scene->center, scene->velocity, -when);
    if (ref_gen_chance(g, 2))
        nudge(g, vectors[ref_gen_int(g, 0, 4)]);
    ref_turn(g, scene);
}

/* Times half-way between two binary32 numbers, or next to there: a sphere falls onto a face, an edge or a corner, and
 * the way it has to go is `speed` times an odd number of 25 bits. */
void ref_make_midpoint(ref_gen *g, ref_scene *scene)
{
    static const double sides[4][2] = {{0, 1}, {0, 1}, {3, 4}, {15, 8}};
    static const double lengths[4] = {1, 1, 5, 17};
    int kind = ref_gen_int(g, 0, 3);
    double speed = ref_gen_int(g, 0, 2) * 2.0 + 1.0;
    double half = (double)(0x1000000 + 2 * ref_gen_int(g, 0, 0x7fffff) + 1), way = speed * half, step = 16.0;
    /* way + the drop of the centre at contact is a multiple of 16: its 28 bits then fit into 24. */
    double drop = step - (way - step * (double)(int64_t)(way / step)), s = drop / sides[kind][1], slip;

    scene->radius = lengths[kind] * s;
    scene->center[2] = way + drop;
    scene->center[1] = -sides[kind][0] * s;
    scene->velocity[2] = -speed;
    slip = ref_gen_chance(g, 2) ? 0.0 : ref_power_of_two(-ref_gen_int(g, 0, 60)) * (ref_gen_chance(g, 2) ? 1.0 : -1.0);
    scene->p[0][0] = -ref_gen_int(g, 1, 16) * 8.0; /* an edge along x, the face behind it */
    scene->p[1][0] = ref_gen_int(g, 1, 16) * 8.0;
    scene->p[2][1] = ref_gen_int(g, 1, 16) * 8.0;
    if (kind == 1) { /* around the foot */
        scene->p[0][1] = scene->p[1][1] = -64.0;
    } else if (ref_gen_chance(g, 2)) { /* a corner */
        scene->p[0][0] = 0.0;
    }
    for (int i = 0; i < 3; i++)
        scene->p[i][2] = slip;
    ref_turn(g, scene);
}
