/* SPDX-License-Identifier: MIT */
/* Meshes where numbers end: the caller's float mode, times beyond binary32, centres that all but touch a face. */
#include "tests/support/scenes.h"

#include <fenv.h>
#include <math.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { SEED = 91 };

/* ---- the caller's float mode ------------------------------------------------------------------------------------- */

typedef struct made {
    carom_mesh_info info;
    hits h;
} made;

static made make_and_sweep(const scene *s, const swept_spheres *b)
{
    carom_context *context = test_context();
    carom_mesh *mesh = scene_mesh(context, s);
    made m = {test_mesh_info(mesh), hits_alloc(b->count, 0xa5)};
    sweep_first(mesh, b, &m.h);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return m;
}

static void check_made(const made *expected, made got, const swept_spheres *b, const char *label)
{
    assert_memory_equal(&expected->info, &got.info, sizeof got.info);
    hits_compare(b, &expected->h, &got.h, b->count, -1, label);
    hits_free(&got.h);
}

/* A caller that flushes denormals or rounds otherwise gets the same tree and the same answers. */
static void test_float_modes(void **state)
{
    static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}, scales[] = {0, -124, -135};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(scales); i++) {
        scene s = scene_soup(SEED, 600, 0.3);
        swept_spheres b = swept_spheres_mixed(SEED, test_effort(1500));
        scene_scale(&s, scales[i]);
        swept_spheres_scale(&b, scales[i], 0);
        made expected = make_and_sweep(&s, &b);
        for (size_t r = 0; r < COUNT_OF(roundings); r++) {
            int before = fegetround();
            assert_int_equal(fesetround(roundings[r]), 0);
            made got = make_and_sweep(&s, &b);
            int after = fegetround();
            assert_int_equal(fesetround(before), 0);
            assert_int_equal(after, roundings[r]);
            check_made(&expected, got, &b, "a caller that rounds otherwise");
        }
#if defined(__x86_64__)
        unsigned mode = _mm_getcsr();
        _mm_setcsr(mode | 0x8040);
        made got = make_and_sweep(&s, &b);
        _mm_setcsr(mode);
        check_made(&expected, got, &b, "a caller that flushes denormals");
#endif
        hits_free(&expected.h);
        scene_free(&s);
        swept_spheres_free(&b);
    }
}

#if defined(__x86_64__)
/* To a caller that flushes denormals -1e-40 looks like zero; to carom it is negative. */
static void test_negative_denormals(void **state)
{
    carom_context *context = test_context();
    scene empty = {0};
    carom_mesh *mesh = scene_mesh(context, &empty);
    swept_spheres b = swept_spheres_alloc(1);
    hits h = hits_alloc(1, 0xa5);
    carom_error err = {0};
    unsigned mode = _mm_getcsr();
    (void)state;
    b.column[SPHERE_RADIUS][0] = -1e-40f;
    _mm_setcsr(mode | 0x8040);
    sweep_first(mesh, &b, &h);
    b.column[SPHERE_T_MAX][0] = -1e-40f;
    carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, 1);
    carom_mesh_hit_result out = hits_result(&h, 0);
    carom_status status = carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err);
    _mm_setcsr(mode);
    assert_int_equal(hit_state(&h, 0), CAROM_INVALID);
    test_error(status, CAROM_ERROR_INVALID_ARGUMENT, &err, "t_max");
    hits_free(&h);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}
#endif

/* ---- contacts at the ends of the range --------------------------------------------------------------------------- */

static hits sweep_one(float z, float radius, float vz)
{
    carom_context *context = test_context();
    scene s = scene_floor(1);
    swept_spheres b = swept_spheres_alloc(1);
    const float column[SPHERE_COLUMNS - 1] = {-0.5f, -0.25f, z, radius, 0, 0, vz};
    for (int k = 0; k < SPHERE_COLUMNS - 1; k++)
        b.column[k][0] = column[k];
    hits h = sweep_scene(context, &s, &b);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
    return h;
}

/* A time beyond binary32 is infinite, and then there is no point, no normal and no feature. */
static void test_infinite_time(void **state)
{
    static const float far[][2] = {{5, -1e-40f}, {1e10f, -1e-30f}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(far); i++) {
        hits h = sweep_one(far[i][0], 0.5f, far[i][1]);
        assert_true(hit_triangle(&h, 0) >= 0);
        assert_int_equal(hit_state(&h, 0), CAROM_APPROACHING);
        assert_true(isinf(hit_float(&h, HIT_T, 0)));
        for (int f = HIT_X; f <= HIT_NZ; f++)
            assert_int_equal(bits_of_float(hit_float(&h, f, 0)), 0);
        assert_int_equal(h.field[HIT_FEATURE].data[0], CAROM_FEATURE_NONE);
        hits_free(&h);
    }
}

/* What lies between the largest numbers is no larger: the foot here is rounded beyond them on its way. */
static void test_largest_point(void **state)
{
    const float most = 0x1.fffffep127f;
    const float corners[] = {most,  -most,          most, -most, 3.12363894e38f, most,
                             -most, 1.22584987e38f, most, -most, 1.22584987e38f, most};
    const float ball[] = {
        -most, -3.31278275e37f, -most, 0, 1.6713520612744923e37f, -5.478497637007284e27f, 4.2535293329816107e37f};
    carom_context *context = test_context();
    scene s = scene_floor(1);
    swept_spheres b = swept_spheres_alloc(1);
    (void)state;
    memcpy(s.vertices, corners, sizeof corners);
    for (size_t k = 0; k < COUNT_OF(ball); k++)
        b.column[k][0] = ball[k];
    hits h = sweep_scene(context, &s, &b);
    assert_int_equal(hit_state(&h, 0), CAROM_APPROACHING);
    assert_true(hit_float(&h, HIT_Z, 0) == most);
    hits_free(&h);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* However near the face the centre starts, the normal points to its side. */
static void test_normal_near_the_face(void **state)
{
    static const float heights[] = {1e-3f, 1e-20f, 1e-25f, 1e-38f, 1e-40f}, speeds[] = {1, 0, -1};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(heights); i++)
        for (size_t v = 0; v < COUNT_OF(speeds); v++)
            for (int side = -1; side <= 1; side += 2) {
                hits h = sweep_one((float)side * heights[i], 0.5f, speeds[v]);
                assert_int_equal(hit_state(&h, 0), CAROM_OVERLAPPING);
                assert_true(hit_float(&h, HIT_NZ, 0) * (float)side > 0.999999f);
                hits_free(&h);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float_modes),
#if defined(__x86_64__)
        cmocka_unit_test(test_negative_denormals),
#endif
        cmocka_unit_test(test_infinite_time),
        cmocka_unit_test(test_largest_point),
        cmocka_unit_test(test_normal_near_the_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
