/* SPDX-License-Identifier: MIT */
/* Nothing leaves a closed shape: thin spheres and points from inside a tessellated sphere, aimed anywhere, at vertices and
 * at edges, where the triangles meet. */
#include "scenes.h"

enum { SEED = 41 };

/* One of three kinds of aim: anywhere, a vertex, the middle of an edge. From the centre or anywhere well inside. */
static void aim_from_inside(const scene *s, balls *b, size_t i, float radius)
{
    const float *corner[2];
    double from[3], to[3];
    ref_gen g;
    ref_gen_seed(&g, 103, SEED, i);
    ref_gen_box(&g, from, i % 7 ? 0.5 : 0.0);
    ref_gen_direction(&g, to);
    for (size_t v = 0; v < 2; v++)
        corner[v] = &s->vertices[3 * (size_t)s->indices[3 * (i % s->triangle_count) + v]];
    for (int k = 0; k < 3; k++) {
        double vertex = (double)corner[0][k], middle = 0.5 * (vertex + (double)corner[1][k]);
        b->column[k][i] = (float)from[k];
        b->column[4 + k][i] = (float)((i % 3 == 0   ? to[k] * 2.0
                                       : i % 3 == 1 ? vertex
                                                    : middle) -
                                      (double)b->column[k][i]);
    }
    b->column[BALL_RADIUS][i] = radius;
}

/* From inside a closed shape everything hits. */
static void check_leaks(float radius)
{
    carom_context *context = test_context();
    scene s = scene_sphere(10);
    balls b = balls_alloc(test_effort(20000));
    size_t leaks = 0;
    for (size_t i = 0; i < b.count; i++)
        aim_from_inside(&s, &b, i, radius);
    hits h = sweep_scene(context, &s, &b);
    for (size_t i = 0; i < b.count; i++)
        if (hit_state(&h, i) != CAROM_APPROACHING && leaks++ == 0)
            hits_print(&b, &h, i, "the first that left a closed shape");
    print_message("radius %g: %zu from inside %zu triangles, %zu leaks\n", (double)radius, b.count, s.triangle_count,
                  leaks);
    if (leaks > 0)
        fail_msg("radius %g: %zu of %zu left a closed shape", (double)radius, leaks, b.count);
    hits_free(&h);
    balls_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_no_leak(void **state)
{
    (void)state;
    check_leaks(1e-4f);
    check_leaks(1e-7f);
}

static void test_no_leak_of_points(void **state)
{
    (void)state;
    check_leaks(0.0f);
    check_leaks(1e-20f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_leak), cmocka_unit_test(test_no_leak_of_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
