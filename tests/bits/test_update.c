/* SPDX-License-Identifier: MIT */
/* A mesh whose vertices have moved answers as one that was created from them, bit for bit, however it followed: first
 * hits in both accuracies, on every instruction set, any number of threads, and a device. */
#include "tests/support/scenes.h"

#include <fenv.h>
#include <math.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { SEED = 111 };

static carom_status move_mesh(carom_mesh *mesh, const scene *s, carom_mesh_follow how, carom_error *err)
{
    const carom_points vertices = scene_desc(s).vertices;
    return carom_mesh_update(mesh, &vertices, how, err);
}

static void moved(carom_mesh *mesh, const scene *s, carom_mesh_follow how)
{
    carom_error err = {0};
    test_ok("carom_mesh_update", move_mesh(mesh, s, how, &err), &err);
}

static hits sweep(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy)
{
    hits h = hits_alloc(b->count, 0xa5);
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    carom_mesh_hit_result result = hits_result(&h, 0);
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    return h;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static void keep(float *v, size_t vertices)
{
    (void)v, (void)vertices;
}

static void shake(float *v, size_t vertices, double by)
{
    for (size_t i = 0; i < vertices; i++) {
        ref_gen g;
        double way[3];
        ref_gen_seed(&g, 110, SEED, i);
        ref_gen_box(&g, way, by);
        for (size_t k = 0; k < 3; k++)
            v[3 * i + k] += (float)way[k];
    }
}

static void a_little(float *v, size_t vertices)
{
    shake(v, vertices, 0.001);
}

static void far(float *v, size_t vertices)
{
    shake(v, vertices, 1.0);
}

static void scale(float *v, size_t vertices, float by)
{
    for (size_t i = 0; i < 3 * vertices; i++)
        v[i] *= by;
}

static void twice(float *v, size_t vertices)
{
    scale(v, vertices, 2.0f);
}

static void seven_tenths(float *v, size_t vertices)
{
    scale(v, vertices, 0.7f);
}

static void huge(float *v, size_t vertices)
{
    scale(v, vertices, 0x1p110f);
}

static void tiny(float *v, size_t vertices)
{
    scale(v, vertices, 0x1p-70f);
}

static void denormal(float *v, size_t vertices)
{
    tiny(v, vertices);
    scale(v, vertices, 0x1p-66f);
}

static void away(float *v, size_t vertices)
{
    for (size_t i = 0; i < 3 * vertices; i += 3)
        v[i] += 100.0f;
}

static void to_one_point(float *v, size_t vertices)
{
    for (size_t i = 0; i < 3 * vertices; i++)
        v[i] = 0.25f * (float)(i % 3);
}

static void to_the_origin(float *v, size_t vertices)
{
    for (size_t i = 0; i < 3 * vertices; i++)
        v[i] = i % 2 ? -0.0f : 0.0f;
}

static void mirrored(float *v, size_t vertices)
{
    for (size_t i = 0; i < 3 * vertices; i += 3)
        v[i] = -v[i];
}

static void flat(float *v, size_t vertices)
{
    for (size_t i = 2; i < 3 * vertices; i += 3)
        v[i] = i % 4 ? -0.0f : 0.0f;
}

static void one_flies_off(float *v, size_t vertices)
{
    v[3 * (vertices / 2)] = -3000.0f;
}

static void permuted(float *v, size_t vertices)
{
    uint32_t *order = random_order(SEED, vertices);
    float *old = test_alloc(3 * vertices, sizeof *old);
    memcpy(old, v, 3 * vertices * sizeof *old);
    for (size_t i = 0; i < vertices; i++)
        memcpy(v + 3 * i, old + 3 * (size_t)order[i], 3 * sizeof *old);
    free(old);
    free(order);
}

/* From the shape that a mesh has at first; `exponent`: of the unit that spheres are asked in. */
static const struct {
    const char *name;
    void (*move)(float *v, size_t vertices);
    int exponent;
} moves[] = {{"moved a little", a_little, 0},
             {"back again", keep, 0},
             {"in another place", keep, 0}, /* without a move between */
             {"moved far", far, 0},
             {"twice as large", twice, 1},
             {"of 0.7", seven_tenths, 0},
             {"2^110 times as large", huge, 110},
             {"2^-70 times as large", tiny, -70},
             {"of denormals", denormal, -136},
             {"away by a hundred", away, 0},
             {"in one point", to_one_point, 0},
             {"in the origin", to_the_origin, 0},
             {"mirrored", mirrored, 0},
             {"flat", flat, 0},
             {"with a vertex far off", one_flies_off, 0},
             {"permuted", permuted, 0},
             {"in its first place", keep, 0}};

static const carom_mesh_follow follows[] = {CAROM_MESH_AUTO, CAROM_MESH_REFIT, CAROM_MESH_REBUILD};
enum { FOLLOWS = COUNT_OF(follows) };

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void expect_bounds(const carom_mesh *expected, const carom_mesh *got, const char *name)
{
    carom_mesh_info a = test_mesh_info(expected), b = test_mesh_info(got);
    if (a.triangle_count != b.triangle_count || memcmp(a.lower, b.lower, sizeof a.lower) ||
        memcmp(a.upper, b.upper, sizeof a.upper))
        fail_msg("%s: other bounds than a fresh mesh", name);
}

static void check_move(carom_context *context, carom_mesh *meshes[FOLLOWS], const scene *s, const swept_spheres *b,
                       const char *name)
{
    carom_mesh *fresh = scene_mesh(context, s);
    for (int exact = 0; exact < 2; exact++) {
        const carom_accuracy accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        hits expected = sweep(fresh, b, accuracy);
        for (int f = 0; f < FOLLOWS; f++) {
            if (!exact)
                moved(meshes[f], s, follows[f]);
            expect_bounds(fresh, meshes[f], name);
            hits got = sweep(meshes[f], b, accuracy);
            hits_compare(b, &expected, &got, b->count, -1, name);
            hits_free(&got);
        }
        hits_free(&expected);
    }
    carom_mesh_destroy(fresh);
}

static void check_moves(carom_context *context, const scene *first, size_t count)
{
    carom_mesh *meshes[FOLLOWS];
    for (int f = 0; f < FOLLOWS; f++)
        meshes[f] = scene_mesh(context, first);
    for (size_t m = 0; m < COUNT_OF(moves); m++) {
        scene s = scene_copy(first);
        swept_spheres b = swept_spheres_mixed(SEED + m, count);
        moves[m].move(s.vertices, s.vertex_count);
        swept_spheres_scale(&b, moves[m].exponent, 0);
        check_move(context, meshes, &s, &b, moves[m].name);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    for (int f = 0; f < FOLLOWS; f++)
        carom_mesh_destroy(meshes[f]);
}

static void check_scenes(carom_context *context)
{
    scene scenes[] = {scene_soup(SEED, 6000, 0.05), scene_sphere(14), scene_floor(9), scene_soup(SEED, 17, 0.5),
                      scene_soup(SEED, 1, 1.0)};
    for (size_t i = 0; i < 2; i++) /* some of them none: those triangles are not there */
        scenes[i].masks = random_masks(SEED + i, scenes[i].triangle_count);
    for (size_t i = 0; i < COUNT_OF(scenes); i++) {
        check_moves(context, &scenes[i], test_effort(120));
        scene_free(&scenes[i]);
    }
    carom_context_destroy(context);
}

static void test_isa(void **state)
{
    check_scenes(test_cpu(*(const carom_isa *)*state, 1));
}

static void test_threads(void **state)
{
    (void)state;
    check_scenes(test_cpu(CAROM_ISA_AUTO, 3));
}

static void test_on_the_device(void **state)
{
    (void)state;
    check_scenes(test_device(0, 0));
}

/* ---- what follows when ------------------------------------------------------------------------------------------- */

typedef struct said {
    int lines;
    carom_log_level level;
    char last[512];
} said;

static void listen(void *user, carom_log_level level, const char *message)
{
    said *s = user;
    s->lines++;
    s->level = level;
    snprintf(s->last, sizeof s->last, "%s", message);
}

static void expect_said(said *s, carom_log_level level, const char *word)
{
    if (s->lines != 1 || s->level != level || !strstr(s->last, word))
        fail_msg("%d lines, the last of level %d: '%s', not '%s'", s->lines, (int)s->level, s->last, word);
    s->lines = 0;
}

static carom_context *talkative(said *s)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 2;
    desc.log = listen;
    desc.log_user = s;
    desc.log_level = CAROM_LOG_INFO;
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    s->lines = 0;
    return context;
}

/* Auto keeps a hierarchy as long as it is good for something, then makes one that is as good as new. */
static void test_auto(void **state)
{
    said log = {0};
    carom_context *context = talkative(&log);
    scene first = scene_sphere(20), s = scene_copy(&first);
    carom_mesh *mesh = scene_mesh(context, &first);
    carom_mesh_info built = test_mesh_info(mesh);
    (void)state;
    assert_true(built.cost > 1.0f && built.refits == 0);
    for (uint32_t i = 1; i <= 3; i++) {
        a_little(s.vertices, s.vertex_count);
        moved(mesh, &s, CAROM_MESH_AUTO);
        expect_said(&log, CAROM_LOG_INFO, "refit");
        carom_mesh_info info = test_mesh_info(mesh);
        assert_int_equal(info.refits, i);
        assert_true(info.cost != built.cost && info.cost < CAROM_MESH_WORN * built.cost);
        assert_int_equal(info.bytes, built.bytes);
    }
    permuted(s.vertices, s.vertex_count);
    moved(mesh, &s, CAROM_MESH_REFIT);
    expect_said(&log, CAROM_LOG_INFO, "refit");
    carom_mesh_info worn = test_mesh_info(mesh);
    assert_int_equal(worn.refits, 4);
    assert_true(worn.cost > CAROM_MESH_WORN * built.cost);
    moved(mesh, &s, CAROM_MESH_AUTO);
    expect_said(&log, CAROM_LOG_INFO, "rebuilt");
    carom_mesh *fresh = scene_mesh(context, &s);
    carom_mesh_info renewed = test_mesh_info(mesh), expected = test_mesh_info(fresh);
    assert_memory_equal(&renewed, &expected, sizeof expected);
    assert_true(renewed.cost < worn.cost);
    moved(mesh, &s, CAROM_MESH_AUTO); /* it is measured by itself from now on */
    assert_int_equal(test_mesh_info(mesh).refits, 1);
    carom_mesh_destroy(fresh);
    carom_mesh_destroy(mesh);
    scene_free(&first);
    scene_free(&s);
    carom_context_destroy(context);
}

/* A hierarchy over one point knows nothing; the first shape that comes gets another. */
static void test_out_of_a_point(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_sphere(10), point = scene_copy(&s);
    to_one_point(point.vertices, point.vertex_count);
    carom_mesh *mesh = scene_mesh(context, &point);
    (void)state;
    moved(mesh, &s, CAROM_MESH_AUTO);
    assert_int_equal(test_mesh_info(mesh).refits, 0);
    moved(mesh, &point, CAROM_MESH_AUTO);
    moved(mesh, &s, CAROM_MESH_AUTO);
    assert_int_equal(test_mesh_info(mesh).refits, 2);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    scene_free(&point);
    carom_context_destroy(context);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* As scenes are, x y z in a row; in columns; with something between. Without indices, and with vertices to spare. */
static void test_layouts(void **state)
{
    enum { TRIANGLES = 300, VERTICES = 3 * TRIANGLES, SPARE = 5 };
    carom_context *context = test_context();
    scene first = scene_soup(SEED, TRIANGLES, 0.3), s = scene_soup(SEED + 1, TRIANGLES, 0.3);
    swept_spheres b = swept_spheres_mixed(SEED, 300);
    float *columns = test_alloc(3 * VERTICES, sizeof *columns), *wide = test_alloc(5 * VERTICES, sizeof *wide);
    (void)state;
    for (size_t i = 0; i < VERTICES; i++)
        for (size_t k = 0; k < 3; k++)
            columns[k * VERTICES + i] = wide[5 * i + k] = s.vertices[3 * i + k];
    const carom_points layouts[] = {carom_xyz(s.vertices),
                                    carom_soa(columns, columns + VERTICES, columns + 2 * VERTICES),
                                    {wide, wide + 1, wide + 2, 20}};
    hits expected = sweep_scene(context, &s, &b);
    float *longer = test_alloc(3 * (VERTICES + SPARE), sizeof *longer);
    memcpy(longer, first.vertices, 3 * VERTICES * sizeof *longer);
    for (size_t l = 0; l < COUNT_OF(layouts); l++)
        for (int indexed = 0; indexed < 2; indexed++) {
            carom_mesh_desc desc = scene_desc(&first);
            if (!indexed) {
                desc.indices.data = NULL;
                desc.vertices = carom_xyz(longer);
                desc.vertex_count += SPARE;
            }
            carom_mesh *mesh = NULL;
            carom_error err = {0};
            test_ok("carom_mesh_create", carom_mesh_create(context, &desc, &mesh, &err), &err);
            test_ok("carom_mesh_update", carom_mesh_update(mesh, &layouts[l], CAROM_MESH_AUTO, &err), &err);
            hits got = sweep(mesh, &b, CAROM_ACCURACY_FAST);
            hits_compare(&b, &expected, &got, b.count, -1, "another layout");
            hits_free(&got);
            carom_mesh_destroy(mesh);
        }
    hits_free(&expected);
    free(columns);
    free(wide);
    free(longer);
    swept_spheres_free(&b);
    scene_free(&first);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Whatever is refused is named, and the mesh is as it was. */
static void test_refused(void **state)
{
    static const float bad[] = {NAN, HUGE_VALF, -HUGE_VALF};
    carom_context *context = test_context();
    scene first = scene_soup(SEED, 9000, 0.1), s = scene_copy(&first);
    first.indices[3 * 7000 + 1] = 0; /* no triangle uses vertex 21001 */
    swept_spheres b = swept_spheres_mixed(SEED, 300);
    carom_mesh *mesh = scene_mesh(context, &first);
    hits expected = sweep(mesh, &b, CAROM_ACCURACY_FAST);
    carom_mesh_info before = test_mesh_info(mesh);
    carom_error err = {0};
    const carom_points none = {s.vertices, NULL, s.vertices, 12};
    (void)state;
    test_error(carom_mesh_update(NULL, &none, CAROM_MESH_AUTO, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "mesh");
    test_error(carom_mesh_update(mesh, NULL, CAROM_MESH_AUTO, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "vertices");
    test_error(carom_mesh_update(mesh, &none, CAROM_MESH_AUTO, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "vertices");
    test_error(move_mesh(mesh, &s, (carom_mesh_follow)3, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "how is 3");
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        for (int f = 0; f < FOLLOWS; f++) {
            far(s.vertices, s.vertex_count);
            s.vertices[3 * (3 * 6000 + 2) + i] = bad[i];
            s.vertices[3 * (3 * 8000) + i] = bad[i]; /* the first is named, whatever the slices */
            test_error(move_mesh(mesh, &s, follows[f], &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                       "triangle 6000, corner 2: vertex 18002 ");
            carom_mesh_info after = test_mesh_info(mesh);
            assert_memory_equal(&before, &after, sizeof after);
            hits got = sweep(mesh, &b, CAROM_ACCURACY_FAST);
            hits_compare(&b, &expected, &got, b.count, -1, "after a refused update");
            hits_free(&got);
            memcpy(s.vertices, first.vertices, 3 * s.vertex_count * sizeof *s.vertices);
        }
    s.vertices[3 * 21001] = NAN;
    moved(mesh, &s, CAROM_MESH_AUTO);
    hits_free(&expected);
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&first);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_empty(void **state)
{
    carom_context *context = test_context();
    scene empty = {0};
    carom_mesh *mesh = scene_mesh(context, &empty);
    const carom_points none = {0};
    carom_error err = {0};
    (void)state;
    for (int f = 0; f < FOLLOWS; f++)
        test_ok("an empty mesh", carom_mesh_update(mesh, &none, follows[f], &err), &err);
    carom_mesh_info info = test_mesh_info(mesh);
    assert_int_equal(info.triangle_count, 0);
    assert_true(isinf(info.lower[0]) && info.cost == 0.0f && info.refits == 0);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- the caller's float mode ------------------------------------------------------------------------------------- */

static void test_float_modes(void **state)
{
    carom_context *context = test_context();
    scene first = scene_soup(SEED, 600, 0.3), s = scene_copy(&first);
    swept_spheres b = swept_spheres_mixed(SEED, 500);
    (void)state;
    scene_scale(&s, -135);
    swept_spheres_scale(&b, -135, 0);
    hits expected = sweep_scene(context, &s, &b);
    for (int f = 0; f < FOLLOWS; f++) {
        carom_mesh *plain = scene_mesh(context, &first);
        moved(plain, &s, follows[f]);
        const carom_mesh_info info = test_mesh_info(plain);
        carom_mesh_destroy(plain);
        for (int flush = 0; flush < 2; flush++) {
            carom_mesh *mesh = scene_mesh(context, &first);
            const int before = fegetround();
            (void)flush;
            assert_int_equal(fesetround(FE_UPWARD), 0);
#if defined(__x86_64__)
            const unsigned mode = _mm_getcsr();
            _mm_setcsr(mode | (flush ? 0x8040 : 0));
#endif
            moved(mesh, &s, follows[f]);
#if defined(__x86_64__)
            _mm_setcsr(mode);
#endif
            const int after = fegetround();
            assert_int_equal(fesetround(before), 0);
            assert_int_equal(after, FE_UPWARD);
            const carom_mesh_info got_info = test_mesh_info(mesh);
            assert_memory_equal(&info, &got_info, sizeof info);
            hits got = sweep(mesh, &b, CAROM_ACCURACY_FAST);
            hits_compare(&b, &expected, &got, b.count, -1, "a caller with another float mode");
            hits_free(&got);
            carom_mesh_destroy(mesh);
        }
    }
    hits_free(&expected);
    swept_spheres_free(&b);
    scene_free(&first);
    scene_free(&s);
    carom_context_destroy(context);
}

#define ON(name, isa)                     \
    {                                     \
        name, test_isa, NULL, NULL, (isa) \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        TEST_EACH_ISA(ON),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_out_of_a_point),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_float_modes),
    };
    const struct CMUnitTest on_device[] = {
        cmocka_unit_test(test_on_the_device),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_empty),
    };
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
