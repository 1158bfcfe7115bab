/* SPDX-License-Identifier: MIT */
/* Nothing leaves a closed mesh: points and thin spheres that start inside are aimed where triangles meet, at random
 * points of edges, beside their ends, and at vertices. */
#include "tests/support/scenes.h"

#include <float.h>
#include <math.h>

enum { SEED = 41, SPLINTERS = 2000 };

/* ---- closed meshes ----------------------------------------------------------------------------------------------- */

/* A triangle on the other side of the edge from a to b, and which of its corners is b. There is one: the mesh is
 * closed. */
static uint32_t *across(const scene *s, uint32_t a, uint32_t b, int *corner)
{
    for (size_t i = 0; i < s->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            if (s->indices[3 * i + (size_t)k] == b && s->indices[3 * i + (size_t)(k + 1) % 3] == a) {
                *corner = k;
                return &s->indices[3 * i];
            }
    fail_msg("the mesh is not closed");
    return NULL;
}

static void set_triangle(uint32_t *to, uint32_t a, uint32_t b, uint32_t c)
{
    to[0] = a;
    to[1] = b;
    to[2] = c;
}

/* Cut a triangle's edge and the one across in two, most of the time very close to an end: needles appear, and the mesh
 * stays closed. */
static void splinter(scene *s, ref_gen *g)
{
    uint32_t *here = &s->indices[3 * (size_t)ref_gen_int(g, 0, (int)s->triangle_count - 1)];
    const int k = ref_gen_int(g, 0, 2);
    const uint32_t a = here[k], b = here[(k + 1) % 3], c = here[(k + 2) % 3], middle = (uint32_t)s->vertex_count++;
    int corner = 0;
    uint32_t *there = across(s, a, b, &corner);
    const uint32_t d = there[(corner + 2) % 3];
    const double share =
        ref_gen_range(g, 0.0, 1.0) < 0.5 ? ref_gen_range(g, 0.0, 1.0) : pow(10.0, -7.0 * ref_gen_range(g, 0.0, 1.0));
    for (size_t i = 0; i < 3; i++) {
        const double from = (double)s->vertices[3 * a + i], to = (double)s->vertices[3 * b + i];
        s->vertices[3 * middle + i] = (float)(from + share * (to - from));
    }
    set_triangle(here, a, middle, c);
    set_triangle(there, b, middle, d);
    set_triangle(&s->indices[3 * s->triangle_count++], middle, b, c);
    set_triangle(&s->indices[3 * s->triangle_count++], middle, a, d);
}

static scene scene_splinters(int n)
{
    scene from = scene_sphere(n), s = from;
    s.vertices = test_alloc(from.vertex_count + SPLINTERS, 3 * sizeof(float));
    s.indices = test_alloc(from.triangle_count + 2 * SPLINTERS, 3 * sizeof(uint32_t));
    memcpy(s.vertices, from.vertices, from.vertex_count * 3 * sizeof(float));
    memcpy(s.indices, from.indices, from.triangle_count * 3 * sizeof(uint32_t));
    scene_free(&from);
    ref_gen g;
    ref_gen_seed(&g, 107, SEED, 0);
    for (int i = 0; i < SPLINTERS; i++)
        splinter(&s, &g);
    return s;
}

/* Where a mesh of size 1 is put, and how large it becomes there. */
typedef struct placing {
    double scale, offset; /* the offset in sizes of the mesh */
} placing;

static void place(scene *s, placing at)
{
    static const double way[3] = {0.577, -0.6, 0.55};
    for (size_t i = 0; i < s->vertex_count; i++)
        for (size_t k = 0; k < 3; k++) {
            float *x = &s->vertices[3 * i + k];
            *x = (float)(at.scale * ((double)*x + at.offset * way[k]));
        }
}

static void stretch(scene *s)
{
    for (size_t i = 0; i < s->vertex_count; i++)
        s->vertices[3 * i] *= 1000.0f;
}

/* ---- aims -------------------------------------------------------------------------------------------------------- */

/* A vertex, or a point of an edge: anywhere, or so close to the end that it is one to rounding. */
static void aim_at_edge(const scene *s, ref_gen *g, double to[3])
{
    const uint32_t *triangle = &s->indices[3 * (size_t)ref_gen_int(g, 0, (int)s->triangle_count - 1)];
    const int k = ref_gen_int(g, 0, 2);
    const float *a = &s->vertices[3 * (size_t)triangle[k]], *b = &s->vertices[3 * (size_t)triangle[(k + 1) % 3]];
    const double kind = ref_gen_range(g, 0.0, 1.0);
    const double share = kind < 0.1   ? 0.0
                         : kind < 0.2 ? pow(10.0, -9.0 * ref_gen_range(g, 0.0, 1.0))
                                      : ref_gen_range(g, 0.0, 1.0);
    for (int i = 0; i < 3; i++)
        to[i] = (double)a[i] + share * ((double)b[i] - (double)a[i]);
}

/* From near the middle, at a speed that reaches the aim between time 2^-6 and 2^6. */
static void aim(const scene *s, swept_spheres *b, size_t i, placing at)
{
    static const double way[3] = {0.577, -0.6, 0.55};
    double from[3], to[3];
    ref_gen g;
    ref_gen_seed(&g, 103, SEED, i);
    ref_gen_box(&g, from, 0.25);
    aim_at_edge(s, &g, to);
    const double speed = exp2(12.0 * ref_gen_range(&g, 0.0, 1.0) - 6.0);
    for (int k = 0; k < 3; k++) {
        b->column[k][i] = (float)(at.scale * (from[k] + at.offset * way[k]));
        b->column[4 + k][i] = (float)(speed * (to[k] - (double)b->column[k][i]));
    }
}

/* From inside a closed mesh everything hits. */
static size_t count_leaks(carom_context *context, const scene *s, placing at, float radius, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    size_t leaks = 0;
    for (size_t i = 0; i < count; i++) {
        aim(s, &b, i, at);
        b.column[SPHERE_RADIUS][i] = radius * (float)at.scale;
    }
    hits h = sweep_scene(context, s, &b);
    for (size_t i = 0; i < count; i++)
        if (hit_state(&h, i) != CAROM_APPROACHING && leaks++ == 0)
            hits_print(&b, &h, i, "the first that left a closed mesh");
    hits_free(&h);
    swept_spheres_free(&b);
    return leaks;
}

/* The same mesh at every place; spheres of every radius. */
static void check_leaks(scene (*make)(int), int n, int stretched, const float *radii, size_t radius_count)
{
    static const placing places[] = {{1.0, 0.0}, {1e-6, 0.0}, {1e6, 0.0}, {1.0, 1e4}, {1e6, 1e4}, {1e-6, 1e2}};
    carom_context *context = test_context();
    const size_t count = test_effort(20000);
    size_t leaks = 0, asked = 0;
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        scene s = make(n);
        if (stretched)
            stretch(&s);
        place(&s, places[p]);
        for (size_t r = 0; r < radius_count; r++, asked += count)
            leaks += count_leaks(context, &s, places[p], radii[r], count);
        scene_free(&s);
    }
    print_message("%zu aimed at edges and vertices, %zu leaks\n", asked, leaks);
    carom_context_destroy(context);
    if (leaks > 0)
        fail_msg("%zu of %zu left a closed mesh", leaks, asked);
}

/* Radii that act as points, and thin spheres. */
static const float point_radii[] = {0.0f, 1e-20f, 1e-10f}, thin_radii[] = {1e-7f, 1e-4f};

static void test_points_in_a_sphere(void **state)
{
    (void)state;
    check_leaks(scene_sphere, 10, 0, point_radii, 3);
}

static void test_points_in_a_needle(void **state)
{
    (void)state;
    check_leaks(scene_sphere, 10, 1, point_radii, 3);
}

static void test_points_among_splinters(void **state)
{
    (void)state;
    check_leaks(scene_splinters, 2, 0, point_radii, 3);
}

static void test_thin_spheres(void **state)
{
    (void)state;
    check_leaks(scene_sphere, 10, 0, thin_radii, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_in_a_sphere), cmocka_unit_test(test_points_in_a_needle),
        cmocka_unit_test(test_points_among_splinters), cmocka_unit_test(test_thin_spheres)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
