/* SPDX-License-Identifier: MIT */
/* Meshes as objects: accepted and rejected descriptors with their error messages, layouts of vertices and outputs,
 * lifetime, empty meshes. */
#include "tests/support/scenes.h"

#include <math.h>

enum { SEED = 51 };

static carom_status try_create(carom_context *context, const carom_mesh_desc *desc, carom_error *err)
{
    carom_mesh *const untouched = (carom_mesh *)(uintptr_t)64;
    carom_mesh *mesh = untouched;
    memset(err, 0, sizeof *err);
    carom_status status = carom_mesh_create(context, desc, &mesh, err);
    if (status == CAROM_OK)
        carom_mesh_destroy(mesh);
    else
        assert_ptr_equal(mesh, untouched);
    return status;
}

/* Creation must fail, with a message that names the triangle and the vertex. */
static void expect_refusal(carom_context *context, const carom_mesh_desc *desc, const char *triangle,
                           const char *vertex)
{
    carom_error err;
    assert_int_equal(try_create(context, desc, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(err.status, CAROM_ERROR_INVALID_ARGUMENT);
    if (!strstr(err.message, triangle) || !strstr(err.message, vertex))
        fail_msg("'%s' names neither '%s' nor '%s'", err.message, triangle, vertex);
}

static void test_bad_vertices(void **state)
{
    static const uint32_t bad[] = {0x7f800000u, 0xff800000u, 0x7fc00000u};
    carom_context *context = test_context();
    carom_error err;
    scene s = scene_soup(SEED, 50, 0.3);
    carom_mesh_desc desc = scene_desc(&s);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        for (size_t k = 0; k < 3; k++) {
            float kept = s.vertices[3 * 100 + k];
            s.vertices[3 * 100 + k] = float_of_bits(bad[i]);
            expect_refusal(context, &desc, "triangle 33", "vertex 100");
            s.indices[100] = s.indices[99]; /* no triangle uses the vertex any more */
            test_ok("an unused vertex that is not finite", try_create(context, &desc, &err), &err);
            s.indices[100] = 100;
            s.vertices[3 * 100 + k] = kept;
        }
    s.indices[3 * 17 + 2] = 150;
    expect_refusal(context, &desc, "triangle 17", "150");
    s.indices[3 * 17 + 2] = UINT32_MAX;
    expect_refusal(context, &desc, "triangle 17", "4294967295");
    s.indices[3 * 17 + 2] = 149;
    test_ok("the last vertex", try_create(context, &desc, &err), &err);
    desc.vertex_count = 149;
    s.indices[3 * 17 + 2] = 0;
    expect_refusal(context, &desc, "triangle 49", "149");
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_bad_descriptors(void **state)
{
    carom_context *context = test_context();
    carom_mesh *mesh = NULL;
    carom_error err;
    scene s = scene_soup(SEED, 5, 0.3);
    const carom_mesh_desc good = scene_desc(&s);
    carom_mesh_desc desc = good;
    (void)state;
    assert_int_equal(carom_mesh_create(NULL, &good, &mesh, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(carom_mesh_create(context, NULL, &mesh, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(carom_mesh_create(context, &good, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_null(mesh);
    desc.size = sizeof desc - 1;
    assert_int_equal(try_create(context, &desc, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "size"));
    desc = good;
    desc.vertices.y = NULL;
    assert_int_equal(try_create(context, &desc, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "vertices"));
    desc = good;
    desc.triangle_count = (uint64_t)1 << 31;
    assert_int_equal(try_create(context, &desc, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "triangle_count"));
    desc = good;
    desc.indices.data = NULL;
    desc.triangle_count = 6; /* 15 vertices hold five */
    assert_int_equal(try_create(context, &desc, &err), CAROM_ERROR_INVALID_ARGUMENT);
    desc = good;
    desc.vertex_count = 0;
    assert_int_equal(try_create(context, &desc, &err), CAROM_ERROR_INVALID_ARGUMENT);
    carom_mesh_destroy(NULL);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- an empty mesh ----------------------------------------------------------------------------------------------- */

static void test_empty(void **state)
{
    carom_context *context = test_context();
    carom_mesh_desc desc = {.size = sizeof desc};
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    swept_spheres b = swept_spheres_mixed(SEED, 600);
    hits h = hits_alloc(b.count, 0xa5);
    size_t invalid = 0;
    (void)state;
    test_ok("an empty mesh", carom_mesh_create(context, &desc, &mesh, &err), &err);
    carom_mesh_info info = test_mesh_info(mesh);
    assert_int_equal(info.triangle_count, 0);
    for (int k = 0; k < 3; k++)
        assert_true(isinf(info.lower[k]) && info.lower[k] > 0.0f && isinf(info.upper[k]) && info.upper[k] < 0.0f);
    sweep_first(mesh, &b, &h);
    for (size_t i = 0; i < b.count; i++) {
        int finite = b.column[SPHERE_RADIUS][i] >= 0.0f;
        for (int c = 0; c < SPHERE_T_MAX; c++)
            finite = finite && isfinite(b.column[c][i]);
        assert_int_equal(hit_triangle(&h, i), -1);
        assert_int_equal(hit_state(&h, i), finite ? CAROM_MISS : CAROM_INVALID);
        assert_true(isinf(hit_float(&h, HIT_T, i)) && hit_float(&h, HIT_T, i) > 0.0f);
        for (int f = HIT_X; f <= HIT_NZ; f++)
            assert_int_equal(bits_of_float(hit_float(&h, f, i)), 0);
        assert_int_equal(h.field[HIT_FEATURE].data[i], CAROM_FEATURE_NONE);
        invalid += !finite;
    }
    assert_true(invalid > 0);
    hits_free(&h);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

typedef struct vertex_layout {
    size_t stride, step, misalign;
} vertex_layout;

static void test_vertex_layouts(void **state)
{
    static const vertex_layout layouts[] = {{12, 4, 0}, {16, 4, 0}, {4, 0, 0}, {13, 4, 3}, {40, 11, 1}};
    carom_context *context = test_context();
    scene s = scene_sphere(6);
    swept_spheres b = swept_spheres_mixed(SEED + 1, 1000);
    hits expected = sweep_scene(context, &s, &b);
    (void)state;
    for (size_t l = 0; l < COUNT_OF(layouts); l++) {
        size_t count = s.vertex_count, stride = layouts[l].stride, step = layouts[l].step ? layouts[l].step : 4 * count;
        guarded memory = guarded_alloc((count - 1) * stride + 2 * step + 4, layouts[l].misalign, 0xff);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < 3; k++)
                memcpy(memory.data + i * stride + k * step, &s.vertices[3 * i + k], sizeof(float));
        carom_mesh_desc desc = scene_desc(&s);
        carom_mesh *mesh = NULL;
        carom_error err = {0};
        desc.vertices = (carom_points){(float *)(void *)memory.data, (float *)(void *)(memory.data + step),
                                       (float *)(void *)(memory.data + 2 * step), stride};
        test_ok("a mesh of strided vertices", carom_mesh_create(context, &desc, &mesh, &err), &err);
        guarded_free(&memory); /* the mesh has copies, so the caller may free its arrays */
        hits h = hits_alloc(b.count, 0xa5);
        sweep_first(mesh, &b, &h);
        hits_compare(&b, &expected, &h, b.count, -1, "strided vertices");
        hits_free(&h);
        carom_mesh_destroy(mesh);
    }
    hits_free(&expected);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Without indices the vertices are taken three by three. */
static void test_without_indices(void **state)
{
    carom_context *context = test_context();
    scene s = scene_soup(SEED + 2, 300, 0.3);
    swept_spheres b = swept_spheres_mixed(SEED + 2, 1000);
    carom_mesh_desc desc = scene_desc(&s);
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    hits expected = sweep_scene(context, &s, &b), h = hits_alloc(b.count, 0xa5);
    (void)state;
    desc.indices.data = NULL;
    test_ok("a mesh without indices", carom_mesh_create(context, &desc, &mesh, &err), &err);
    sweep_first(mesh, &b, &h);
    hits_compare(&b, &expected, &h, b.count, -1, "without indices");
    hits_free(&expected);
    hits_free(&h);
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_ball_layouts(void **state)
{
    enum { STRIDE = 37, COUNT = 700 };
    carom_context *context = test_context();
    scene s = scene_sphere(6);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_mixed(SEED + 3, COUNT);
    hits expected = hits_alloc(COUNT, 0x5a), h = hits_alloc(COUNT, 0xa5);
    carom_mesh_hit_result result = hits_result(&h, 0);
    guarded memory = guarded_alloc(COUNT * STRIDE, 1, 0xff);
    carom_error err = {0};
    (void)state;
    sweep_first(mesh, &b, &expected);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t c = 0; c < SPHERE_COLUMNS; c++)
            memcpy(memory.data + i * STRIDE + 4 * c, &b.column[c][i], sizeof(float));
    float *at[SPHERE_COLUMNS];
    for (size_t c = 0; c < SPHERE_COLUMNS; c++)
        at[c] = (float *)(void *)(memory.data + 4 * c);
    carom_mesh_sweep_desc desc = {.batch.size = sizeof desc,
                                  .batch.count = COUNT,
                                  .center = {at[0], at[1], at[2], STRIDE},
                                  .velocity = {at[4], at[5], at[6], STRIDE},
                                  .radius = {at[SPHERE_RADIUS], STRIDE},
                                  .t_max = {at[SPHERE_T_MAX], STRIDE}};
    test_ok("strided spheres", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    hits_compare(&b, &expected, &h, COUNT, -1, "strided spheres");
    desc.t_max = (carom_scalars){NULL, CAROM_REPEAT}; /* no window at all */
    test_ok("no window", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    hits_compare(&b, &expected, &h, COUNT, -1, "no window");
    desc.t_max = (carom_scalars){at[SPHERE_T_MAX], CAROM_REPEAT}; /* one for all */
    test_ok("one window for all", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    hits_compare(&b, &expected, &h, COUNT, -1, "one window for all");
    guarded_check(&memory, "the spheres");
    guarded_free(&memory);
    hits_free(&expected);
    hits_free(&h);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Every subset of the outputs. Points have a stride, and the gaps stay untouched. */
static void test_outputs(void **state)
{
    enum { COUNT = 515, STRIDE = 21, GAP = 0xa5 };
    carom_context *context = test_context();
    scene s = scene_sphere(6);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_mixed(SEED + 4, COUNT);
    hits expected = hits_alloc(COUNT, 0x5a);
    carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, COUNT);
    (void)state;
    sweep_first(mesh, &b, &expected);
    for (int subset = 0; subset < 1 << 6; subset++) {
        hits h = hits_alloc(COUNT, GAP);
        guarded points = guarded_alloc(COUNT * STRIDE, 0, GAP), image = guarded_alloc(COUNT * STRIDE, 0, GAP);
        carom_mesh_hit_result all = hits_result(&h, 0), out = {.size = sizeof out};
        carom_error err = {0};
        int fields = 0;
        if (subset & 1)
            out.triangle = all.triangle, fields |= 1 << HIT_TRIANGLE;
        if (subset & 2)
            out.state = all.state, fields |= 1 << HIT_STATE;
        if (subset & 4)
            out.t = all.t, fields |= 1 << HIT_T;
        if (subset & 8)
            out.normal = all.normal, fields |= 7 << HIT_NX;
        if (subset & 16)
            out.feature = all.feature, fields |= 1 << HIT_FEATURE;
        if (subset & 32) {
            unsigned char *p = points.data;
            out.point =
                (carom_points_out){(float *)(void *)p, (float *)(void *)(p + 4), (float *)(void *)(p + 8), STRIDE};
            for (size_t i = 0; i < COUNT; i++)
                for (int k = 0; k < 3; k++)
                    memcpy(image.data + i * STRIDE + 4 * (size_t)k, expected.field[HIT_X + k].data + 4 * i, 4);
        }
        test_ok("a selection", carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), &err);
        hits_compare(&b, &expected, &h, COUNT, fields, "a selection");
        assert_memory_equal(points.data, image.data, image.size);
        guarded_check(&points, "points");
        guarded_free(&points);
        guarded_free(&image);
        hits_free(&h);
    }
    hits_free(&expected);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- lifetime and information ------------------------------------------------------------------------------------ */

static void test_mesh_outlives_context(void **state)
{
    carom_context *context = test_context();
    scene s = scene_sphere(5);
    swept_spheres b = swept_spheres_mixed(SEED + 5, 300);
    carom_mesh *first = scene_mesh(context, &s), *second = scene_mesh(context, &s);
    hits expected = hits_alloc(b.count, 0x5a), h = hits_alloc(b.count, 0xa5);
    (void)state;
    sweep_first(first, &b, &expected);
    carom_context_destroy(context);
    carom_mesh_destroy(first);
    sweep_first(second, &b, &h);
    hits_compare(&b, &expected, &h, b.count, -1, "a mesh that outlives its context");
    carom_mesh_destroy(second);
    hits_free(&expected);
    hits_free(&h);
    swept_spheres_free(&b);
    scene_free(&s);
}

static void test_info(void **state)
{
    carom_context *context = test_context();
    scene s = scene_sphere(7);
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_mesh_info info = test_mesh_info(mesh);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    swept_spheres b = swept_spheres_mixed(SEED + 6, 400);
    hits h = hits_alloc(b.count, 0xa5);
    carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, b.count);
    carom_mesh_hit_result result = hits_result(&h, 0);
    (void)state;
    assert_int_equal(s.triangle_count, 8 * 49);
    assert_int_equal(s.vertex_count, 4 * 49 + 2); /* Euler: the sphere is closed and its vertices are shared */
    assert_int_equal(info.triangle_count, s.triangle_count);
    assert_true(info.node_count > 0 && info.node_count < s.triangle_count);
    assert_true(info.bytes >= s.triangle_count * 36);
    for (int k = 0; k < 3; k++)
        assert_true(info.lower[k] == -1.0f && info.upper[k] == 1.0f);
    test_ok("sweep", carom_mesh_sweep_first(mesh, &desc, &result, &stats, &err), &err);
    assert_int_equal(stats.queries, b.count);
    assert_int_equal(stats.on_cpu + stats.on_device, b.count);
    assert_int_equal(stats.on_device, test_on_device() ? b.count : 0);
    assert_int_equal(stats.fallen_back, 0);
    assert_true(stats.total > 0.0 && stats.compute >= 0.0 && stats.total < 600.0);
    hits_free(&h);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* An invalid window is an error that names the query, and nothing is written. */
static void test_bad_windows(void **state)
{
    static const float bad[] = {-1.0f, -0x1p-149f, -HUGE_VALF, NAN};
    carom_context *context = test_context();
    scene s = scene_sphere(3);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_mixed(SEED + 7, 300);
    hits untouched = hits_alloc(b.count, 0xa5);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        hits h = hits_alloc(b.count, 0xa5);
        carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, b.count);
        carom_mesh_hit_result result = hits_result(&h, 0);
        carom_error err = {0};
        b.column[SPHERE_T_MAX][123] = bad[i];
        assert_int_equal(carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, "query 123"));
        hits_compare(&b, &untouched, &h, b.count, -1, "a refused batch");
        hits_free(&h);
    }
    b.column[SPHERE_T_MAX][123] = -0.0f; /* is 0 */
    sweep_first(mesh, &b, &untouched);
    hits_free(&untouched);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_vertices),
        cmocka_unit_test(test_bad_descriptors),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_vertex_layouts),
        cmocka_unit_test(test_without_indices),
        cmocka_unit_test(test_ball_layouts),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_mesh_outlives_context),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_bad_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
