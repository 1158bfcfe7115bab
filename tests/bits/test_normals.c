/* SPDX-License-Identifier: MIT */
/* The normal of a hit on a mesh, worked out by hand: from the contact point to the centre; where they coincide the
 * triangle's own against the motion, or the motion turned round, or nothing. Both modes, every instruction set, other
 * units. */
#include "tests/support/scenes.h"

#include <math.h>

typedef struct known_normal {
    const char *name;
    float center[3], radius, velocity[3], p[3][3];
    int state;
    float t;
    int feature; /* fast mode names the branch it took, and is not asked */
    float normal[3];
    int exact_alone; /* 1: fast mode rounds what decides */
} known_normal;

/* In the plane z = 0; what is left of such a triangle; and one with the normal (1, 2, 2) / 3. */
/* clang-format off */
#define FLAT {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}
#define SEGMENT {{0, 0, 0}, {4, 0, 0}, {2, 0, 0}}
#define POINT {{2, 0, 0}, {2, 0, 0}, {2, 0, 0}}
#define TILTED {{0, 0, 0}, {6, -3, 0}, {0, 3, -3}}
#define HALF_ROOT 0.70710678f
#define FIFTH_ROOT 0.44721360f
#define ON(feature) CAROM_FEATURE_##feature

static const known_normal rows[] = {
    {"onto the face", {1, 1, 5}, 1, {0, 0, -1}, FLAT, CAROM_APPROACHING, 4, ON(FACE), {0, 0, 1}, 0},
    {"onto the face from behind", {1, 1, -5}, 1, {0, 0, 1}, FLAT, CAROM_APPROACHING, 4, ON(FACE), {0, 0, -1}, 0},
    {"onto the face, aslant", {-3, 1, 5}, 1, {1, 0, -1}, FLAT, CAROM_APPROACHING, 4, ON(FACE), {0, 0, 1}, 0},
    {"onto an edge", {2, -5, 0}, 1, {0, 1, 0}, FLAT, CAROM_APPROACHING, 4, ON(E01), {0, -1, 0}, 0},
    {"onto an edge, grazing the face", {-5, 1, 1}, 1, {1, 0, 0}, FLAT, CAROM_APPROACHING, 5, ON(E20), {0, 0, 1}, 0},
    {"onto a vertex", {-6, -8, 0}, 5, {3, 4, 0}, FLAT, CAROM_APPROACHING, 1, ON(V0), {-0.6f, -0.8f, 0}, 0},
    {"onto a segment", {1, -3, 4}, 2.5f, {0, 3, -4}, SEGMENT, CAROM_APPROACHING, 0.5f, ON(E01), {0, -0.6f, 0.8f}, 0},
    {"onto a point", {2, -3, 4}, 2.5f, {0, 3, -4}, POINT, CAROM_APPROACHING, 0.5f, ON(V0), {0, -0.6f, 0.8f}, 0},

    {"a point onto the face", {1, 1, 5}, 0, {0, 0, -1}, FLAT, CAROM_APPROACHING, 5, ON(FACE), {0, 0, 1}, 0},
    {"a point onto the face from behind", {1, 1, -5}, 0, {0, 0, 1}, FLAT, CAROM_APPROACHING, 5, ON(FACE),
     {0, 0, -1}, 0},
    {"a point of radius -0 onto the face", {1, 1, 5}, -0.0f, {0, 0, -1}, FLAT, CAROM_APPROACHING, 5, ON(FACE),
     {0, 0, 1}, 0},
    {"a point onto the face, aslant", {-3, 1, 4}, 0, {1, 0, -1}, FLAT, CAROM_APPROACHING, 4, ON(FACE), {0, 0, 1}, 0},
    {"a point onto a tilted face", {4, 4, 3}, 0, {-1, -2, -2}, TILTED, CAROM_APPROACHING, 2, ON(FACE),
     {1 / 3.0f, 2 / 3.0f, 2 / 3.0f}, 0},
    {"a point onto an edge from above", {2, 0, 5}, 0, {0, 0, -1}, FLAT, CAROM_APPROACHING, 5, ON(E01), {0, 0, 1}, 0},
    {"a point onto an edge, aslant", {2, -4, 4}, 0, {0, 1, -1}, FLAT, CAROM_APPROACHING, 4, ON(E01), {0, 0, 1}, 0},
    {"a point onto a vertex from above", {0, 0, 5}, 0, {0, 0, -1}, FLAT, CAROM_APPROACHING, 5, ON(V0), {0, 0, 1}, 0},
    {"a point onto a vertex from below", {4, 0, -5}, 0, {0, 0, 1}, FLAT, CAROM_APPROACHING, 5, ON(V1), {0, 0, -1}, 0},
    {"a point in the plane onto an edge", {2, -4, 0}, 0, {0, 1, 0}, FLAT, CAROM_APPROACHING, 4, ON(E01), {0, -1, 0}, 0},
    {"a point in the plane onto a vertex", {-3, -4, 0}, 0, {3, 4, 0}, FLAT, CAROM_APPROACHING, 1, ON(V0),
     {-0.6f, -0.8f, 0}, 0},
    {"a point along an edge", {-3, 0, 0}, 0, {1, 0, 0}, FLAT, CAROM_APPROACHING, 3, ON(V0), {-1, 0, 0}, 0},
    {"a point onto a segment", {1, -4, 4}, 0, {0, 1, -1}, SEGMENT, CAROM_APPROACHING, 4, ON(E01),
     {0, -HALF_ROOT, HALF_ROOT}, 1},
    {"a point along a segment", {-3, 0, 0}, 0, {1, 0, 0}, SEGMENT, CAROM_APPROACHING, 3, ON(V0), {-1, 0, 0}, 0},
    {"a point onto a point", {2, -3, 4}, 0, {0, 3, -4}, POINT, CAROM_APPROACHING, 1, ON(V0), {0, -0.6f, 0.8f}, 0},

    {"above the face, moving anyhow", {1, 1, 0.5f}, 1, {1, 1, 1}, FLAT, CAROM_OVERLAPPING, 0, ON(FACE), {0, 0, 1}, 0},
    {"beside an edge, moving away", {2, -0.5f, 0}, 1, {0, -1, 0}, FLAT, CAROM_OVERLAPPING, 0, ON(E01), {0, -1, 0}, 0},
    {"at distance r, moving in", {1, 1, 1}, 1, {0, 0, -1}, FLAT, CAROM_TOUCHING, 0, ON(FACE), {0, 0, 1}, 0},
    {"below the face, at rest", {1, 1, -0.5f}, 1, {0, 0, 0}, FLAT, CAROM_OVERLAPPING, 0, ON(FACE), {0, 0, -1}, 0},
    {"at distance r of a vertex, at rest", {-1, 0, 0}, 1, {0, 0, 0}, FLAT, CAROM_TOUCHING, 0, ON(V0), {-1, 0, 0}, 0},

    {"the centre in the face, moving down", {1, 1, 0}, 1, {0, 0, -1}, FLAT, CAROM_OVERLAPPING, 0, ON(FACE),
     {0, 0, 1}, 0},
    {"the centre in the face, moving up", {1, 1, 0}, 1, {1, 0, 2}, FLAT, CAROM_OVERLAPPING, 0, ON(FACE), {0, 0, -1}, 0},
    {"the centre in the face, moving in it", {1, 1, 0}, 1, {0, -2, 0}, FLAT, CAROM_OVERLAPPING, 0, ON(FACE),
     {0, 1, 0}, 0},
    {"the centre in the face, at rest", {1, 1, 0}, 1, {0, 0, 0}, FLAT, CAROM_OVERLAPPING, 0, ON(FACE), {0, 0, 0}, 0},
    {"the centre in a tilted face, moving in it", {2, 0, -1}, 1, {2, -1, 0}, TILTED, CAROM_OVERLAPPING, 0, ON(FACE),
     {-2 * FIFTH_ROOT, FIFTH_ROOT, 0}, 1},
    {"the centre on an edge, moving down", {2, 0, 0}, 1, {0, 0, -1}, FLAT, CAROM_OVERLAPPING, 0, ON(E01), {0, 0, 1}, 0},
    {"the centre on an edge, moving off it in the plane", {2, 0, 0}, 1, {0, -1, 0}, FLAT, CAROM_OVERLAPPING, 0,
     ON(E01), {0, 1, 0}, 0},
    {"the centre on a vertex, moving up", {0, 4, 0}, 1, {0, 0, 1}, FLAT, CAROM_OVERLAPPING, 0, ON(V2), {0, 0, -1}, 0},
    {"the centre on a vertex, at rest", {0, 4, 0}, 1, {0, 0, 0}, FLAT, CAROM_OVERLAPPING, 0, ON(V2), {0, 0, 0}, 0},
    {"the centre on a segment, moving off it", {1, 0, 0}, 1, {0, 3, -4}, SEGMENT, CAROM_OVERLAPPING, 0, ON(E01),
     {0, -0.6f, 0.8f}, 0},
    {"the centre on a segment, moving along it", {1, 0, 0}, 1, {-1, 0, 0}, SEGMENT, CAROM_OVERLAPPING, 0, ON(E01),
     {1, 0, 0}, 0},
    {"the centre on a segment, at rest", {1, 0, 0}, 1, {0, 0, 0}, SEGMENT, CAROM_OVERLAPPING, 0, ON(E01), {0, 0, 0}, 0},
    {"the centre on a point", {2, 0, 0}, 1, {0, -3, 4}, POINT, CAROM_OVERLAPPING, 0, ON(V0), {0, 0.6f, -0.8f}, 0},
    {"the centre on a point, at rest", {2, 0, 0}, 1, {0, 0, 0}, POINT, CAROM_OVERLAPPING, 0, ON(V0), {0, 0, 0}, 0},

    {"a point in the face, moving down", {1, 1, 0}, 0, {0, 0, -1}, FLAT, CAROM_TOUCHING, 0, ON(FACE), {0, 0, 1}, 0},
    {"a point in the face, moving up", {1, 1, 0}, 0, {0, 0, 1}, FLAT, CAROM_TOUCHING, 0, ON(FACE), {0, 0, -1}, 0},
    {"a point in the face, at rest", {1, 1, 0}, 0, {0, 0, 0}, FLAT, CAROM_TOUCHING, 0, ON(FACE), {0, 0, 0}, 0},
    {"a point on a vertex, moving down", {4, 0, 0}, 0, {0, 0, -1}, FLAT, CAROM_TOUCHING, 0, ON(V1), {0, 0, 1}, 0},
    {"a point on a vertex, moving in along an edge",
     {4, 0, 0}, 0, {-1, 0, 0}, FLAT, CAROM_TOUCHING, 0, ON(V1), {1, 0, 0}, 0},
    {"a point in the face, moving in it", {1, 1, 0}, 0, {0, -2, 0}, FLAT, CAROM_OVERLAPPING, 0, ON(FACE), {0, 1, 0}, 0},
    {"a point on a point, at rest", {2, 0, 0}, 0, {0, 0, 0}, POINT, CAROM_TOUCHING, 0, ON(V0), {0, 0, 0}, 0},
};
/* clang-format on */

/* Lengths and speeds are these powers of two times as large; a normal has no unit. */
static const int lengths[] = {-60, 0, 60}, speeds[] = {-40, -3, 0, 3, 40};
enum { SPEEDS = COUNT_OF(speeds) };

static void wrong(const swept_spheres *b, const hits *h, size_t i, const known_normal *k, const char *mode,
                  const char *what)
{
    hits_print(b, h, i, "answer");
    fail_msg("%s, %s: %s", k->name, mode, what);
}

static void check_row(const swept_spheres *b, const hits *h, size_t i, const known_normal *k, carom_accuracy accuracy,
                      int exponent)
{
    const char *mode = accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast";
    if (hit_triangle(h, i) != 0 || hit_state(h, i) != k->state)
        wrong(b, h, i, k, mode, "wrong state");
    if (fabsf(ldexpf(hit_float(h, HIT_T, i), exponent) - k->t) > 1e-5f)
        wrong(b, h, i, k, mode, "wrong time");
    if (accuracy == CAROM_ACCURACY_EXACT && h->field[HIT_FEATURE].data[i] != k->feature)
        wrong(b, h, i, k, mode, "wrong feature");
    for (int axis = 0; axis < 3; axis++) {
        const float n = hit_float(h, HIT_NX + axis, i);
        if (is_nan_or_minus_zero(n) || fabsf(n - k->normal[axis]) > 0x1p-21f)
            wrong(b, h, i, k, mode, "wrong normal");
    }
}

static void ask_row(carom_context *context, const known_normal *k, int length, carom_accuracy accuracy)
{
    uint32_t indices[] = {0, 1, 2};
    float vertices[9];
    swept_spheres b = swept_spheres_alloc(SPEEDS);
    hits h = hits_alloc(SPEEDS, 0xa5);
    for (int c = 0; c < 9; c++)
        vertices[c] = ldexpf(k->p[c / 3][c % 3], length);
    for (size_t i = 0; i < SPEEDS; i++) {
        for (int axis = 0; axis < 3; axis++) {
            b.column[axis][i] = ldexpf(k->center[axis], length);
            b.column[4 + axis][i] = ldexpf(k->velocity[axis], length + speeds[i]);
        }
        b.column[SPHERE_RADIUS][i] = ldexpf(k->radius, length);
    }
    const scene s = {.vertices = vertices, .indices = indices, .vertex_count = 3, .triangle_count = 1};
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, b.count);
    carom_mesh_hit_result result = hits_result(&h, 0);
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    for (size_t i = 0; i < SPEEDS; i++)
        check_row(&b, &h, i, k, accuracy, speeds[i]);
    carom_mesh_destroy(mesh);
    hits_free(&h);
    swept_spheres_free(&b);
}

static void ask_rows(carom_context *context)
{
    for (size_t r = 0; r < COUNT_OF(rows); r++)
        for (size_t l = 0; l < COUNT_OF(lengths); l++) {
            if (!rows[r].exact_alone)
                ask_row(context, &rows[r], lengths[l], CAROM_ACCURACY_FAST);
            ask_row(context, &rows[r], lengths[l], CAROM_ACCURACY_EXACT);
        }
    carom_context_destroy(context);
}

static void test_known_normals(void **state)
{
    ask_rows(test_cpu(*(const carom_isa *)*state, 1));
}

static void test_on_this_device(void **state)
{
    (void)state;
    ask_rows(test_context());
}

#define ON_ISA(isa, value)                                           \
    {                                                                \
        isa ": known normals", test_known_normals, NULL, NULL, value \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {TEST_EACH_ISA(ON_ISA)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_on_this_device)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
