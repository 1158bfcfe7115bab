/* SPDX-License-Identifier: MIT */
/* Sphere pairs: a family means what its namesake means for triangles, or is a random pair where that has no meaning. */
#include "generate.h"

#include <math.h>
#include <string.h>

/* Starts, moves (end - start) and radii in binary64. */
struct pair {
    double a[3], move_a[3], b[3], move_b[3], radius_a, radius_b;
};

static void finish(const struct pair *pair, ref_spheres_case *out)
{
    for (int i = 0; i < 3; i++) {
        out->a0[i] = ref_round(pair->a[i]);
        out->a1[i] = ref_round(pair->a[i] + pair->move_a[i]);
        out->b0[i] = ref_round(pair->b[i]);
        out->b1[i] = ref_round(pair->b[i] + pair->move_b[i]);
    }
    out->radius_a = ref_round(pair->radius_a);
    out->radius_b = ref_round(pair->radius_b);
    out->margin = 0.0;
}

static void scale(struct pair *pair, double length, double move)
{
    for (int i = 0; i < 3; i++) {
        pair->a[i] *= length;
        pair->b[i] *= length;
        pair->move_a[i] *= move;
        pair->move_b[i] *= move;
    }
    pair->radius_a *= length;
    pair->radius_b *= length;
}

/* B near the origin; A starts at `distance` and passes it at `miss` after the share `when` of its move. */
static void passing(ref_gen *g, struct pair *pair, double distance, double miss, double when)
{
    double way[3], side[3];

    ref_gen_direction(g, way);
    ref_gen_across(g, side, way);
    ref_gen_box(g, pair->b, 1.0);
    ref_move(pair->a, pair->b, side, miss);
    ref_move(pair->a, pair->a, way, -distance);
    for (int i = 0; i < 3; i++) {
        pair->move_a[i] = way[i] * distance / when;
        pair->move_b[i] = 0.0;
    }
}

static void add_common_move(ref_gen *g, struct pair *pair, double half)
{
    double move[3];

    ref_gen_box(g, move, half);
    for (int i = 0; i < 3; i++) {
        pair->move_a[i] += move[i];
        pair->move_b[i] += move[i];
    }
}

static void two_radii(ref_gen *g, struct pair *pair, double low, double high)
{
    pair->radius_a = ref_gen_range(g, low, high);
    pair->radius_b = ref_gen_range(g, low, high);
}

static void any_pair(ref_gen *g, struct pair *pair)
{
    double distance = ref_gen_range(g, 2.0, 8.0), miss = ref_gen_range(g, 0.0, 1.2);
    double when = ref_gen_range(g, 0.3, 2.0);

    if (ref_gen_chance(g, 8))
        when = -when;
    two_radii(g, pair, 0.05, 0.5);
    passing(g, pair, distance, miss, when);
    add_common_move(g, pair, 1.0);
}

void ref_spheres_random(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    any_pair(g, &pair);
    finish(&pair, out);
}

static void near_pair(ref_gen *g, struct pair *pair)
{
    ref_gen_box(g, pair->a, 1.0);
    ref_gen_box(g, pair->b, 1.0);
    ref_gen_box(g, pair->move_a, 2.0);
    ref_gen_box(g, pair->move_b, 2.0);
    two_radii(g, pair, 0.02, 0.8);
}

void ref_spheres_near(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    near_pair(g, &pair);
    finish(&pair, out);
}

/* Radii `size`, start at `distance`, a miss of the order of the sum of the radii. */
static void far_pair(ref_gen *g, ref_spheres_case *out, double size, double distance)
{
    struct pair pair;
    double miss = size * ref_gen_range(g, 0.0, 2.4), when = ref_gen_range(g, 0.5, 2.0);

    pair.radius_a = size;
    pair.radius_b = size;
    passing(g, &pair, distance, miss, when);
    finish(&pair, out);
}

void ref_spheres_far_1e3(ref_gen *g, ref_spheres_case *out)
{
    double distance = ref_gen_range(g, 5e2, 1e3);

    far_pair(g, out, 0.05, distance);
}

void ref_spheres_far_1e5(ref_gen *g, ref_spheres_case *out)
{
    double distance = ref_gen_range(g, 5e4, 1e5);

    far_pair(g, out, 0.05, distance);
}

void ref_spheres_small_1e3(ref_gen *g, ref_spheres_case *out)
{
    double distance = ref_gen_range(g, 0.1, 2.0);

    far_pair(g, out, 1e-3, distance);
}

void ref_spheres_small_1e6(ref_gen *g, ref_spheres_case *out)
{
    double distance = ref_gen_range(g, 0.1, 2.0);

    far_pair(g, out, 1e-6, distance);
}

static void lattice_pair(ref_gen *g, struct pair *pair)
{
    ref_gen_lattice(g, pair->a, 8);
    ref_gen_lattice(g, pair->b, 8);
    ref_gen_lattice(g, pair->move_a, 8);
    ref_gen_lattice(g, pair->move_b, 8);
    pair->radius_a = ref_gen_int(g, 0, 8) / 8.0;
    pair->radius_b = ref_gen_int(g, 0, 8) / 8.0;
}

void ref_spheres_lattice(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    lattice_pair(g, &pair);
    finish(&pair, out);
}

/* Both move the same way, at equal or nearly equal speeds. */
void ref_spheres_parallel(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    double ratio = 1.0 + ref_power_of_two(-ref_gen_int(g, 1, 24));

    near_pair(g, &pair);
    for (int i = 0; i < 3; i++)
        pair.move_b[i] = pair.move_a[i] * ratio;
    finish(&pair, out);
}

/* Straight at each other, on the lattice so that the line is exact. */
void ref_spheres_head_on(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    double share = ref_gen_int(g, -8, 8) / 4.0;

    lattice_pair(g, &pair);
    for (int i = 0; i < 3; i++)
        pair.move_a[i] = (pair.b[i] - pair.a[i]) * share + pair.move_b[i];
    finish(&pair, out);
}

/* One or both are points. */
void ref_spheres_points(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    if (ref_gen_chance(g, 2))
        lattice_pair(g, &pair);
    else
        near_pair(g, &pair);
    pair.radius_a = 0.0;
    if (ref_gen_chance(g, 4))
        pair.radius_b = 0.0;
    finish(&pair, out);
}

void ref_spheres_zero_radius(ref_gen *g, ref_spheres_case *out)
{
    ref_spheres_head_on(g, out);
    out->radius_a = ref_gen_chance(g, 2) ? -0.0f : 0.0f;
    out->radius_b = 0.0f;
}

void ref_spheres_offset(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    double direction[3], distance;

    near_pair(g, &pair);
    ref_gen_direction(g, direction);
    distance = ref_gen_range(g, 1e3, 1e4);
    ref_move(pair.a, pair.a, direction, distance);
    ref_move(pair.b, pair.b, direction, distance);
    finish(&pair, out);
}

static void grazing_pair(ref_gen *g, struct pair *pair)
{
    double slip = ref_power_of_two(-ref_gen_int(g, 8, 22)), distance, when;

    if (ref_gen_chance(g, 2))
        slip = -slip;
    two_radii(g, pair, 0.02, 0.8);
    distance = ref_gen_range(g, 0.0, 4.0);
    when = ref_gen_range(g, 0.2, 2.0);
    passing(g, pair, distance, (pair->radius_a + pair->radius_b) * (1.0 + slip), when);
}

void ref_spheres_grazing(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    grazing_pair(g, &pair);
    finish(&pair, out);
}

/* Distance ra + rb at the start: exactly by offsets of whole length, or nearly. */
static void touching_pair(ref_gen *g, struct pair *pair)
{
    static const double whole[3][4] = {{1, 2, 2, 3}, {2, 3, 6, 7}, {0, 3, 4, 5}};
    int kind = ref_gen_int(g, 0, 3), turn = ref_gen_int(g, 0, 2);
    double direction[3], size;

    if (kind == 3) {
        near_pair(g, pair);
        ref_gen_direction(g, direction);
        ref_move(pair->b, pair->a, direction, pair->radius_a + pair->radius_b);
        return;
    }
    lattice_pair(g, pair);
    size = ref_gen_int(g, 1, 3) / 8.0;
    pair->radius_a = 0.125;
    pair->radius_b = whole[kind][3] * size - 0.125;
    for (int i = 0; i < 3; i++)
        pair->b[i] = pair->a[i] + whole[kind][(i + turn) % 3] * (ref_gen_chance(g, 2) ? size : -size);
}

void ref_spheres_touching(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    touching_pair(g, &pair);
    finish(&pair, out);
}

void ref_spheres_motionless(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    if (ref_gen_chance(g, 2))
        touching_pair(g, &pair);
    else
        lattice_pair(g, &pair);
    memcpy(pair.move_b, pair.move_a, sizeof pair.move_b);
    if (ref_gen_chance(g, 2)) {
        memset(pair.move_a, 0, sizeof pair.move_a);
        memset(pair.move_b, 0, sizeof pair.move_b);
    }
    finish(&pair, out);
}

void ref_spheres_both_move(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    any_pair(g, &pair);
    add_common_move(g, &pair, 10.0);
    finish(&pair, out);
}

static void any_shape(ref_gen *g, struct pair *pair)
{
    int kind = ref_gen_int(g, 0, 4);

    if (kind == 0)
        any_pair(g, pair);
    else if (kind == 1)
        near_pair(g, pair);
    else if (kind == 2)
        grazing_pair(g, pair);
    else if (kind == 3)
        touching_pair(g, pair);
    else
        lattice_pair(g, pair);
}

void ref_spheres_huge(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    any_shape(g, &pair);
    scale(&pair, 0x1p100, ref_gen_chance(g, 4) ? 0x1p80 : 0x1p100);
    finish(&pair, out);
}

void ref_spheres_tiny(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    double length = ref_gen_chance(g, 4) ? 0x1p-140 : 0x1p-100;

    any_shape(g, &pair);
    scale(&pair, length, length);
    finish(&pair, out);
}

void ref_spheres_mixed(ref_gen *g, ref_spheres_case *out)
{
    float *numbers[14] = {&out->radius_a, &out->radius_b};
    struct pair pair;
    int kind = ref_gen_int(g, 0, 2);

    any_shape(g, &pair);
    finish(&pair, out);
    for (int i = 0; i < 3; i++) {
        numbers[2 + i] = &out->a0[i];
        numbers[5 + i] = &out->a1[i];
        numbers[8 + i] = &out->b0[i];
        numbers[11 + i] = &out->b1[i];
    }
    for (int i = 0; i < 14; i++) {
        if (kind == 0)
            *numbers[i] = ref_gen_any_float(g);
        else if (kind == 1 || ref_gen_chance(g, 4))
            *numbers[i] = ref_round((double)*numbers[i] * ref_power_of_two(ref_gen_int(g, kind == 1 ? -40 : -149, 40)));
    }
    for (int i = 0; i < 2; i++) {
        if (*numbers[i] < 0.0f)
            *numbers[i] = -*numbers[i];
    }
}

void ref_spheres_non_finite(ref_gen *g, ref_spheres_case *out)
{
    float bad[3] = {INFINITY, -INFINITY, NAN}, value = bad[ref_gen_int(g, 0, 2)];
    int place = ref_gen_int(g, 0, 9), axis = ref_gen_int(g, 0, 2);

    ref_spheres_near(g, out);
    if (place == 0)
        out->a0[axis] = value;
    else if (place == 1)
        out->a1[axis] = value;
    else if (place == 2)
        out->b0[axis] = value;
    else if (place == 3)
        out->b1[axis] = value;
    else if (place == 4)
        out->radius_a = value;
    else if (place == 5)
        out->radius_b = value;
    else if (place == 6)
        out->radius_a = -out->radius_a;
    else if (place == 7)
        out->radius_b = -0.0f;
}
