/* SPDX-License-Identifier: MIT */
/* Bugs of other projects, from their issue trackers. Each test uses the numbers of the report, or a case of the same
 * kind if the report has none, in fast and in exact mode. */
#include "tests/support/support.h"

#include <float.h>
#include <math.h>

static const carom_accuracy modes[] = {CAROM_ACCURACY_FAST, CAROM_ACCURACY_EXACT};

typedef struct ball {
    float center[3], radius, velocity[3], t_max;
} ball;

typedef struct hit {
    int32_t triangle;
    uint8_t state, feature;
    float t, point[3], normal[3];
} hit;

typedef struct soup { /* triangles that share no corners */
    const float *corners;
    size_t triangles;
} soup;

static carom_mesh *mesh_of(carom_context *context, soup s)
{
    carom_mesh_desc desc = {.size = sizeof desc,
                            .vertices = carom_xyz(s.corners),
                            .vertex_count = 3 * s.triangles,
                            .triangle_count = s.triangles};
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    test_ok("carom_mesh_create", carom_mesh_create(context, &desc, &mesh, &err), &err);
    return mesh;
}

static void hits_of(carom_mesh *mesh, carom_accuracy accuracy, const ball *b, size_t count, hit *out)
{
    carom_error err = {0};
    for (size_t i = 0; i < count; i++) {
        hit *h = &out[i];
        memset(h, 0, sizeof *h); /* sets padding too, because hits are compared as bytes */
        carom_mesh_sweep_desc desc = {.batch.size = sizeof desc,
                                      .batch.count = 1,
                                      .batch.accuracy = accuracy,
                                      .center = carom_xyz(b[i].center),
                                      .velocity = carom_xyz(b[i].velocity),
                                      .radius = {&b[i].radius, 4},
                                      .t_max = {&b[i].t_max, 4}};
        carom_mesh_hit_result result = {.size = sizeof result,
                                        &h->triangle,
                                        &h->state,
                                        &h->t,
                                        {h->point, h->point + 1, h->point + 2, 4},
                                        {h->normal, h->normal + 1, h->normal + 2, 4},
                                        &h->feature};
        test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    }
}

static hit hit_of(soup s, carom_accuracy accuracy, ball b)
{
    hit h;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_mesh *mesh = mesh_of(context, s);
    hits_of(mesh, accuracy, &b, 1, &h);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return h;
}

static void near_vector(const float got[3], float x, float y, float z, float tolerance)
{
    if (!(fabsf(got[0] - x) <= tolerance && fabsf(got[1] - y) <= tolerance && fabsf(got[2] - z) <= tolerance))
        fail_msg("(%g %g %g), expected (%g %g %g)", (double)got[0], (double)got[1], (double)got[2], (double)x,
                 (double)y, (double)z);
}

/* Equal in exact mode, close in fast mode. */
static int is_time(float got, float expected, carom_accuracy accuracy)
{
    return accuracy == CAROM_ACCURACY_EXACT ? got == expected : fabsf(got - expected) <= 4 * FLT_EPSILON * expected;
}

#define SOUP(corners) ((soup){corners, COUNT_OF(corners) / 9})

/* ---- missed hits ------------------------------------------------------------------------------------------------- */

/* The edge to test was chosen by the point where the centre's line meets the plane, but the sphere hits another edge.
 * The report has a capsule; here the sphere is its lower end. */
static void physx_597_missed_hit(void **state)
{
    static const float corners[] = {7.33294010f,  79.6109009f, -26.9337997f, 7.61456013f, 80.2574005f,
                                    -27.3008995f, 7.33294010f, 80.2574005f,  -26.9337997f};
    const ball b = {{7.74110079f, 80.8543167f - 0.340350509f, -27.2595482f},
                    0.265350759f,
                    {-0.929564953f, -0.0281119142f, 0.367584974f},
                    0.149537891f};
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        hit h = hit_of(SOUP(corners), modes[m], b);
        assert_int_equal(h.triangle, 0);
        assert_int_equal(h.feature, CAROM_FEATURE_E12);
        assert_true(fabsf(h.t - 0.0944127962f) < 1e-4f);
        near_vector(h.point, 7.59219694f, 80.2574005f, -27.2717476f, 1e-4f);
    }
}

/* Rays against one sphere or one capsule let spheres through where two triangles meet. */
static void physx_501_through_a_ridge(void **state)
{
    static const float corners[] = {0, -16, 1, 0, 16, 1, -12, 0, -3, 0, 16, 1, 0, -16, 1, 12, 0, -3};
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    carom_mesh *mesh = mesh_of(context, SOUP(corners));
    for (int i = -40; i <= 40; i++)
        for (int j = -20; j <= 20; j++) {
            ball b = {{(float)i / 40.0f, (float)j / 10.0f, 6}, 0.25f, {(float)j / 80.0f, (float)i / 160.0f, -1}, 8};
            hit h[COUNT_OF(modes)];
            for (size_t m = 0; m < COUNT_OF(modes); m++)
                hits_of(mesh, modes[m], &b, 1, &h[m]);
            if (h[0].triangle < 0 || h[1].triangle < 0)
                fail_msg("the sphere at %d %d goes through", i, j);
            assert_true(fabsf(h[0].t - h[1].t) < 1e-5f);
        }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* A graze of the floor's end was taken as the earliest hit, and a filter rejected it afterwards. So the later hit of
 * the wall was lost. */
static void physx_505_later_wall(void **state)
{
    static const float wall_first[] = {1, -1, -1, 1, 1, -1, 1, 0, 1, -4, 0, -1, 0, 0, -1, 0, 0, 1};
    static const float floor_first[] = {-4, 0, -1, 0, 0, -1, 0, 0, 1, 1, -1, -1, 1, 1, -1, 1, 0, 1};
    const ball b = {{-0.78131f, 0.3092001f, 0}, 0.25f, {240, -18, 0}, 1.0f / 60.0f};
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        hit wall = hit_of((soup){wall_first, 1}, modes[m], b);
        hit both = hit_of(SOUP(wall_first), modes[m], b), swapped = hit_of(SOUP(floor_first), modes[m], b);
        assert_int_equal(wall.triangle, 0);
        assert_true(both.triangle >= 0 && swapped.triangle == 1 - both.triangle);
        assert_true(both.t <= wall.t && bits_of_float(both.t) == bits_of_float(swapped.t));
    }
}

/* A side test had its arguments exchanged: small spheres passed through large triangles and hit only their edges. */
static void fcl_29_small_sphere_large_triangle(void **state)
{
    static const float corners[] = {-1000, -1000, 0, 1000, -1000, 0, 0, 1000, 0};
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (int i = -3; i <= 3; i++) {
            const ball b = {{(float)i * 100.3f, (float)i * 33.7f, 1}, 1e-3f, {0, 0, -1}, 4};
            hit h = hit_of(SOUP(corners), modes[m], b);
            assert_int_equal(h.triangle, 0);
            assert_int_equal(h.feature, CAROM_FEATURE_FACE);
            assert_true(fabsf(h.t - 0.999f) < 1e-6f);
        }
}

/* Hits with |determinant| < 1e-6 were rejected, but the determinant shrinks with the square of the triangle's size. */
static void tinybvh_283_small_triangles(void **state)
{
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++) /* to fast mode a triangle of 2^-40 of the way is a point */
        for (float s = 1.0f; s > (modes[m] == CAROM_ACCURACY_FAST ? 0x1p-38f : 1e-30f); s *= 0.0625f) {
            const float corners[] = {0, 0, 0, s, 0, 0, 0, s, 0};
            const ball b = {{s / 3, s / 3, -1}, 0, {0, 0, 1}, INFINITY};
            hit h = hit_of(SOUP(corners), modes[m], b);
            assert_int_equal(h.triangle, 0);
            assert_true(h.t == 1.0f);
            if (modes[m] == CAROM_ACCURACY_EXACT)
                assert_int_equal(h.feature, CAROM_FEATURE_FACE);
        }
}

/* ---- false hits -------------------------------------------------------------------------------------------------- */

/* A triangle that is all but a line: a sphere 2 units beside it was reported as a hit. */
static void jolt_886_ghost_hit(void **state)
{
    static const float corners[] = {14.5536213f,  10.5973721f, -0.00600051880f, 14.5536213f, 10.5969315f,
                                    -3.18638134f, 14.5536213f, 10.5969315f,     -5.18637228f};
    const ball b = {
        {14.8314590f, 8.19055080f, -4.30825043f}, 0.2f, {-0.0988006592f, 5.96046448e-08f, 0.000732421875f}, 1};
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        ball forever = b;
        forever.t_max = INFINITY;
        assert_int_equal(hit_of(SOUP(corners), modes[m], b).triangle, -1);
        assert_int_equal(hit_of(SOUP(corners), modes[m], forever).state, CAROM_MISS);
    }
}

/* Edges inside a flat floor pushed aside what slid over them. Here an edge's normal is still the floor's, and a sphere
 * above the floor meets nothing. */
static void jolt_553_lovr_965_inner_edges(void **state)
{
    static const float corners[] = {-4, -4, 0, 4, -4, 0, 4, 4, 0, -4, -4, 0, 4, 4, 0, -4, 4, 0};
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (int i = -8; i <= 8; i++) { /* 0: onto the common edge exactly */
            const ball lands = {{(float)i / 8.0f - 1.0f, -1, 1.5f}, 0.5f, {1, 1, -1}, 4};
            const ball slides = {{(float)i / 8.0f, -6, 0.5f + 0x1p-20f}, 0.5f, {0, 1, 0}, INFINITY};
            hit h = hit_of(SOUP(corners), modes[m], lands);
            assert_true(h.triangle >= 0 && is_time(h.t, 1.0f, modes[m]));
            near_vector(h.normal, 0, 0, 1, 1e-6f);
            assert_int_equal(hit_of(SOUP(corners), modes[m], slides).triangle, -1);
        }
}

/* ---- contact at the start ---------------------------------------------------------------------------------------- */

/* An overlap at the start was lost if the sphere moves parallel to the triangle's plane. */
static void physx_600_parallel_overlap(void **state)
{
    static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 0, -1};
    static const float starts[][3] = {{0, 0, 0}, {-0.25f, 0, 0}, {1.25f, 0, 0}, {0.25f, 0.125f, -0.25f}};
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (size_t i = 0; i < COUNT_OF(starts); i++) {
            ball b = {{starts[i][0], starts[i][1], starts[i][2]}, 0.3f, {-1, 0, 0}, 1};
            hit h = hit_of(SOUP(corners), modes[m], b);
            assert_int_equal(h.state, CAROM_OVERLAPPING);
            assert_true(h.triangle == 0 && h.t == 0.0f);
        }
}

/* A sphere that touches an edge at the start got the reversed motion as its normal, and got stuck. */
static void physx_690_start_at_an_edge(void **state)
{
    static const float corners[] = {0, 0, -2, 0, 0, 2, 4, 0, 0};
    static const float velocities[][3] = {{1, 0, 0}, {0, -1, 0}, {1, -0.25f, 0.5f}};
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (size_t i = 0; i < COUNT_OF(velocities); i++)
            for (int deep = 0; deep < 2; deep++) { /* distance 5/8: at r exactly, and within */
                const float *v = velocities[i];
                const ball b = {{-0.375f, 0.5f, 0}, deep ? 0.6875f : 0.625f, {v[0], v[1], v[2]}, 1};
                hit h = hit_of(SOUP(corners), modes[m], b);
                int touches = h.state == CAROM_TOUCHING || (modes[m] == CAROM_ACCURACY_FAST && h.t < 1e-6f);
                assert_int_equal(h.triangle, 0);
                assert_true(deep ? h.state == CAROM_OVERLAPPING && h.t == 0.0f : touches);
                assert_int_equal(h.feature, CAROM_FEATURE_E01);
                near_vector(h.normal, -0.6f, 0.8f, 0, 1e-6f);
            }
}

/* A sphere within a triangle was reported as apart, depending on where its centre was. */
static void bullet3_1623_penetration(void **state)
{
    static const float radius[] = {0.5f}, heights[] = {0.0f, 0x1p-149f, 0x1p-20f, 0.25f, 0.5f, -0.25f, -0.5f};
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (size_t i = 0; i < COUNT_OF(heights); i++) {
            const float c[] = {1, 1, heights[i]}, p[] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
            uint8_t overlap = 9, axes = 9;
            carom_error err = {0};
            carom_overlap_pairs_desc desc = {.batch.size = sizeof desc,
                                             .batch.count = 1,
                                             .batch.accuracy = modes[m],
                                             .center = carom_xyz(c),
                                             .radius = {radius, 4},
                                             .p0 = carom_xyz(p),
                                             .p1 = carom_xyz(p + 3),
                                             .p2 = carom_xyz(p + 6)};
            carom_overlap_result result = {.size = sizeof result, &overlap, &axes};
            test_ok("overlap", carom_overlap_pairs(context, &desc, &result, NULL, &err), &err);
            assert_int_equal(overlap, 1);
            assert_int_equal(axes, 0);
        }
    carom_context_destroy(context);
}

/* ---- ties, slots and orders -------------------------------------------------------------------------------------- */

/* Among tied hits the first in traversal order was reported, or the first to get a free slot. Here the lowest index is
 * reported, and no hit is dropped. */
static void isaaclab_7561_avian_1030_newton_4222_warp_709_ties_and_slots(void **state)
{
    enum { COUNT = 700, NEARER = 653 };
    float *corners = test_alloc(COUNT * 9, sizeof *corners);
    (void)state;
    for (size_t i = 0; i < COUNT; i++) { /* all the same but one, which is nearer */
        const float z = 0.0f, one[] = {-1, -1, z, 1, -1, z, 0, 1, z};
        memcpy(corners + 9 * i, one, sizeof one);
    }
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        const ball b = {{0, -0.25f, 2}, 0.5f, {0, 0, -1}, 4};
        for (int k = 2; k < 9; k += 3)
            corners[9 * NEARER + (size_t)k] = 0.0f;
        assert_int_equal(hit_of((soup){corners, COUNT}, modes[m], b).triangle, 0);
        for (int k = 2; k < 9; k += 3)
            corners[9 * NEARER + (size_t)k] = 0x1p-20f;
        assert_int_equal(hit_of((soup){corners, COUNT}, modes[m], b).triangle, NEARER);
    }
    free(corners);
}

/* A contact on the common edge of two triangles was counted twice, so the force depended on the triangulation of the
 * wall. Here a query has one first hit, and its time, point and normal do not depend on the diagonal. */
static void lethe_1746_phasicflow_242_shared_edges(void **state)
{
    static const float one_way[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, 1, 0};
    static const float other_way[] = {-1, 1, 0, -1, -1, 0, 1, -1, 0, -1, 1, 0, 1, -1, 0, 1, 1, 0};
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (int i = -4; i <= 4; i++) {
            const ball b = {{(float)i / 4.0f, (float)i / 4.0f, 1}, 0.5f, {0, 0, -1}, 4};
            hit h = hit_of(SOUP(one_way), modes[m], b), g = hit_of(SOUP(other_way), modes[m], b);
            assert_int_equal(h.triangle, 0); /* on the diagonal of the first, so a tie */
            assert_true(h.t == 0.5f && g.t == 0.5f);
            near_vector(h.point, b.center[0], b.center[1], 0, 1e-6f);
            near_vector(g.point, b.center[0], b.center[1], 0, 1e-6f);
            near_vector(h.normal, 0, 0, 1, 1e-6f);
            near_vector(g.normal, 0, 0, 1, 1e-6f);
        }
}

/* Rays through corners and edges hit or missed depending on the instruction set, and on the system. */
static void embree_596_20_instruction_sets(void **state)
{
    static const carom_isa sets[] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                     CAROM_ISA_NEON};
    static const float corners[] = {0.1f, 0.2f, 0.3f, 0.9f, 0.1f, 0.4f, 0.5f, 0.8f, 0.2f, 0.9f, 0.1f,  0.4f, 1.1f, 0.7f,
                                    0.5f, 0.5f, 0.8f, 0.2f, 0.1f, 0.2f, 0.3f, 0.5f, 0.8f, 0.2f, -0.3f, 0.6f, 0.1f};
    enum { COUNT = 400 };
    static hit expected[COUNT], got[COUNT];
    static ball b[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) { /* aimed at corners and at points of edges */
        const float *p = corners + 3 * (i % 9), *q = corners + 3 * ((i + 1) % 9), s = (float)(i / 9 % 5) / 4.0f;
        const float far[3] = {(float)(i % 7) - 3.0f, (float)(i % 11) - 5.0f, 5};
        b[i] = (ball){{far[0], far[1], far[2]}, i % 2 ? 0.0f : 0x1p-6f, {0}, INFINITY};
        for (int k = 0; k < 3; k++)
            b[i].velocity[k] = p[k] + s * (q[k] - p[k]) - far[k];
    }
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (size_t s = 0; s < COUNT_OF(sets); s++) {
            if (!carom_isa_available(sets[s]))
                continue;
            carom_context *context = test_cpu(sets[s], 1);
            carom_mesh *mesh = mesh_of(context, SOUP(corners));
            hits_of(mesh, modes[m], b, COUNT, s == 0 ? expected : got);
            if (s > 0)
                assert_memory_equal(got, expected, sizeof expected);
            carom_mesh_destroy(mesh);
            carom_context_destroy(context);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(physx_597_missed_hit),
        cmocka_unit_test(physx_501_through_a_ridge),
        cmocka_unit_test(physx_505_later_wall),
        cmocka_unit_test(fcl_29_small_sphere_large_triangle),
        cmocka_unit_test(tinybvh_283_small_triangles),
        cmocka_unit_test(jolt_886_ghost_hit),
        cmocka_unit_test(jolt_553_lovr_965_inner_edges),
        cmocka_unit_test(physx_600_parallel_overlap),
        cmocka_unit_test(physx_690_start_at_an_edge),
        cmocka_unit_test(bullet3_1623_penetration),
        cmocka_unit_test(isaaclab_7561_avian_1030_newton_4222_warp_709_ties_and_slots),
        cmocka_unit_test(lethe_1746_phasicflow_242_shared_edges),
        cmocka_unit_test(embree_596_20_instruction_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
