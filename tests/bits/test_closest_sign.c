/* SPDX-License-Identifier: MIT */
/* Signs and gradients of closest points: sides are those of the exact reference, magnitudes those without a sign, and
 * gradients within 2^-23 of the reference's; the same bits on every instruction set; and open meshes are refused. */
#include "tests/support/closest_answers.h"
#include "tests/support/sign_scenes.h"

#include <math.h>

enum { SEED = 199 };
/* The largest error of a gradient's component: in exact mode, measured 2^-25; in fast mode at distances above 0.01 in
 * scenes of size 1, measured 2^-17. */
#define EXACT_LIMIT 0x1p-23
#define FAST_LIMIT 0x1p-14

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* Answers with gradients. */
typedef struct body_answers {
    closest_results closest;
    float *gradient[3];
    uint64_t on_device; /* queries */
} body_answers;

static body_answers ask_signed(carom_mesh *mesh, const swept_spheres *b, carom_sign sign, int exact, int with_gradient)
{
    body_answers body = {.closest = closest_results_alloc(b->count, 0xa5)};
    carom_mesh_closest_desc desc = swept_spheres_closest(b, 0, b->count);
    carom_mesh_closest_result out = closest_results_result(&body.closest, 0);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    desc.batch.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
    desc.sign = sign;
    desc.allow_open = 1;
    for (int k = 0; k < 3; k++)
        body.gradient[k] = test_alloc(b->count + 1, sizeof(float));
    if (with_gradient)
        out.gradient = (carom_points_out){body.gradient[0], body.gradient[1], body.gradient[2], 4};
    test_ok("carom_mesh_closest", carom_mesh_closest(mesh, &desc, &out, &stats, &err), &err);
    body.on_device = stats.on_device;
    assert_int_equal(stats.on_cpu + stats.on_device, b->count);
    assert_int_equal(stats.by_proof + stats.by_integers, exact ? b->count : 0);
    return body;
}

static void free_answers(body_answers *body)
{
    closest_results_free(&body->closest);
    for (int k = 0; k < 3; k++)
        free(body->gradient[k]);
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static int is_valid(const swept_spheres *b, size_t i)
{
    return isfinite(b->column[0][i]) && isfinite(b->column[1][i]) && isfinite(b->column[2][i]) &&
           b->column[SPHERE_RADIUS][i] >= 0;
}

/* Fails unless answer i is the unsigned one with the side `inside`. */
static void check_signed(const swept_spheres *b, const body_answers *plain, const body_answers *got, size_t i,
                         int inside, const char *name)
{
    const float magnitude = near_float(&plain->closest, NEAR_DISTANCE, i);
    const int turned = inside && magnitude > 0;
    const float distance = turned ? -magnitude : magnitude;
    const float depth = turned ? b->column[SPHERE_RADIUS][i] - distance : near_float(&plain->closest, NEAR_DEPTH, i);
    int same = bits_of_float(distance) == bits_of_float(near_float(&got->closest, NEAR_DISTANCE, i)) &&
               bits_of_float(depth) == bits_of_float(near_float(&got->closest, NEAR_DEPTH, i));
    for (int k = 0; k < 3; k++) {
        const float gradient = plain->gradient[k][i];
        same = same && bits_of_float(turned ? 0 - gradient : gradient) == bits_of_float(got->gradient[k][i]);
    }
    if (same)
        return;
    closest_results_print(b, &plain->closest, i, "without a sign");
    closest_results_print(b, &got->closest, i, "with it");
    fail_msg("%s: query %zu, which is %s, gradient %a %a %a", name, i, inside ? "inside" : "outside",
             (double)got->gradient[0][i], (double)got->gradient[1][i], (double)got->gradient[2][i]);
}

/* Returns the largest error of a gradient. */
static double check_gradients(const scene *s, const swept_spheres *b, const body_answers *plain, int exact)
{
    double worst = 0;
    for (size_t i = 0; i < b->count; i++) {
        const int32_t triangle = near_triangle(&plain->closest, i);
        const float distance = near_float(&plain->closest, NEAR_DISTANCE, i);
        double truth[3] = {0}, error = 0, length = 0;
        ref_sweep_case c;
        swept_spheres_case(b, i, s, triangle < 0 ? 0 : (size_t)triangle, &c);
        if (triangle >= 0)
            ref_normal(&c, truth);
        for (int k = 0; k < 3; k++) {
            error = fmax(error, fabs(truth[k] - (double)plain->gradient[k][i]));
            length += truth[k] * truth[k];
        }
        if (triangle < 0 || length == 0.0 || exact)
            assert_true(error <= EXACT_LIMIT);
        if (exact || distance > 0.01f)
            worst = fmax(worst, error);
    }
    return worst;
}

/* Takes the scene. The sides of the reference are those of both modes. */
static void check_scene(carom_context *context, scene s, swept_spheres *b, const char *name)
{
    carom_mesh *mesh = scene_mesh(context, &s);
    uint8_t *inside[3] = {NULL, test_alloc(b->count, 1), test_alloc(b->count, 1)};
    for (int sign = CAROM_SIGN_PARITY; sign <= CAROM_SIGN_WINDING; sign++)
        for (size_t i = 0; i < b->count; i++)
            inside[sign][i] = is_valid(b, i) && sign_is_inside(&s, b, i, (carom_sign)sign);
    for (int exact = 0; exact < 2; exact++) {
        body_answers plain = ask_signed(mesh, b, CAROM_SIGN_NONE, exact, 1);
        body_answers without = ask_signed(mesh, b, CAROM_SIGN_NONE, exact, 0);
        const double worst = check_gradients(&s, b, &plain, exact);
        closest_results_compare(b, &without.closest, &plain.closest, b->count, -1, "a gradient changes another answer");
        for (int sign = CAROM_SIGN_PARITY; sign <= CAROM_SIGN_WINDING; sign++) {
            body_answers got = ask_signed(mesh, b, (carom_sign)sign, exact, 1);
            closest_results_compare(b, &plain.closest, &got.closest, b->count, ~(1 << NEAR_DISTANCE | 1 << NEAR_DEPTH),
                                    name);
            for (size_t i = 0; i < b->count; i++)
                check_signed(b, &plain, &got, i, inside[sign][i], name);
            free_answers(&got);
        }
        assert_true(worst <= (exact ? EXACT_LIMIT : FAST_LIMIT));
        print_message("%-10s %s gradients off by %g\n", name, exact ? "exact" : "fast", worst);
        free_answers(&plain);
        free_answers(&without);
    }
    free(inside[1]);
    free(inside[2]);
    carom_mesh_destroy(mesh);
    scene_free(&s);
}

static void test_reference(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < SIGN_SCENES; i++) {
        scene s = sign_scenes[i].make();
        swept_spheres b = sign_centres(&s, test_effort(300));
        check_scene(context, s, &b, sign_scenes[i].name);
        swept_spheres_free(&b);
    }
    carom_context_destroy(context);
}

/* Triangles and queries have masks: each query has a mesh of its own. */
static void test_masks(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < SIGN_SCENES; i++) {
        scene s = sign_scenes[i].make();
        swept_spheres b = sign_centres(&s, test_effort(200));
        const int of_triangles = i % 3 != 0, of_queries = i % 3 != 1;
        s.masks = of_triangles ? test_alloc(s.triangle_count, sizeof *s.masks) : NULL;
        for (size_t t = 0; of_triangles && t < s.triangle_count; t++)
            s.masks[t] = t % 7 == 0 ? 0 : UINT32_C(1) << t % 2;
        b.mask = of_queries ? random_masks(SEED + i, b.count) : NULL;
        check_scene(context, s, &b, sign_scenes[i].name);
        swept_spheres_free(&b);
    }
    carom_context_destroy(context);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* A cube and its inside, whatever its normals; a limit; distances beyond binary32. */
static void test_by_hand(void **state)
{
    static const float x[] = {0.25f, 0.25f, 3, 3, 1, 0}, limit[] = {INFINITY, 0.5f, INFINITY, 1, INFINITY, INFINITY};
    static const float radius = 0.5f;
    static const float distance[] = {-0.75f, -INFINITY, 2, INFINITY, 0, -1};
    static const float depth[] = {1.25f, INFINITY, -1.5f, -INFINITY, 0.5f, 1.5f};
    static const float gradient[] = {1, 0, 1, 0, 1, -9};
    carom_context *context = test_context();
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        const int turned = variant & 1, sign = variant & 2 ? CAROM_SIGN_PARITY : CAROM_SIGN_WINDING;
        scene s = turned ? scene_turned_round(scene_unit_box()) : scene_unit_box();
        carom_mesh *mesh = scene_mesh(context, &s);
        float got[3][6], gy[6], gz[6];
        carom_mesh_closest_desc desc = {
            .batch = {.size = sizeof desc, .count = 6, .accuracy = (carom_accuracy)(variant / 4)},
            .radius = {&radius, CAROM_REPEAT},
            .max_distance = {limit, 4},
            .sign = (carom_sign)sign};
        float zeros[6] = {0};
        desc.center = (carom_points){x, zeros, zeros, 4};
        const carom_mesh_closest_result out = {
            .size = sizeof out, .distance = got[0], .depth = got[1], .gradient = {got[2], gy, gz, 4}};
        carom_error err;
        test_ok("a cube", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
        for (int i = 0; i < 6; i++) {
            const float expected = turned && i == 4 ? -1 : gradient[i]; /* on the surface: the triangle's normal */
            assert_int_equal(bits_of_float(got[0][i]), bits_of_float(distance[i]));
            assert_int_equal(bits_of_float(got[1][i]), bits_of_float(depth[i]));
            if (expected > -2) /* in the middle all faces tie */
                assert_int_equal(bits_of_float(got[2][i]), bits_of_float(expected));
        }
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* A cube that is nearly as large as binary32 goes. */
static void test_beyond(void **state)
{
    carom_context *context = test_context();
    scene s = scene_unit_box();
    const float far = -0x1.fp127f, near = 0;
    float distance;
    (void)state;
    for (size_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] *= 0x1.fp127f;
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_mesh_closest_desc desc = {.batch = {.size = sizeof desc, .count = 1}, .sign = CAROM_SIGN_WINDING};
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = &distance};
    carom_error err;
    desc.center = (carom_points){&near, &near, &near, 4};
    test_ok("inside", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
    assert_true(distance == -0x1.fp127f);
    desc.center = (carom_points){&far, &far, &far, 4};
    test_ok("at a corner", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
    assert_true(bits_of_float(distance) == 0);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* Whether the device decides signs: one without binary64 leaves them to the CPU. */
static int device_decides(void)
{
    return test_on_device() && test_need_device().fp64;
}

/* With and without masks, and gradients. */
static void check_scene_same(carom_context *scalar, carom_context *context, const scene *s, const swept_spheres *b,
                             carom_sign sign, const char *label)
{
    carom_mesh *expected_of = scene_mesh(scalar, s), *got_of = scene_mesh(context, s);
    for (int which = 0; which < 4; which++) {
        const int exact = which & 1, has_gradient = which >> 1;
        body_answers expected = ask_signed(expected_of, b, sign, exact, has_gradient),
                     got = ask_signed(got_of, b, sign, exact, has_gradient);
        closest_results_compare(b, &expected.closest, &got.closest, b->count, -1, label);
        for (int k = 0; has_gradient && k < 3; k++)
            assert_memory_equal(expected.gradient[k], got.gradient[k], b->count * sizeof(float));
        assert_int_equal(got.on_device, device_decides() ? b->count : 0);
        free_answers(&expected);
        free_answers(&got);
    }
    carom_mesh_destroy(expected_of);
    carom_mesh_destroy(got_of);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t i = 0; i < SIGN_SCENES + 1; i++) {
        const carom_sign sign = i % 2 == 0 ? CAROM_SIGN_WINDING : CAROM_SIGN_PARITY;
        scene s = i < SIGN_SCENES ? sign_scenes[i].make() : scene_sphere(60); /* its queries are sorted */
        swept_spheres b = sign_centres(&s, test_effort(i < SIGN_SCENES ? 500 : 3000));
        check_scene_same(scalar, context, &s, &b, sign, label);
        b.mask = random_masks(SEED + i, b.count);
        check_scene_same(scalar, context, &s, &b, sign, label);
        s.masks = random_masks(SEED + i, s.triangle_count);
        check_scene_same(scalar, context, &s, &b, sign, label);
        scene_free(&s);
        swept_spheres_free(&b);
    }
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

static carom_status try_sign(carom_mesh *mesh, int sign, int allow_open, uint64_t count, carom_error *err)
{
    static const float zero[3];
    float distance[1];
    const carom_mesh_closest_desc desc = {.batch = {.size = sizeof desc, .count = count},
                                          .center = carom_xyz(zero),
                                          .sign = (carom_sign)sign,
                                          .allow_open = (uint8_t)allow_open};
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    return carom_mesh_closest(mesh, &desc, &out, NULL, err);
}

static void test_refused(void **state)
{
    carom_context *context = test_context();
    scene s = scene_unit_box();
    (void)state;
    s.triangle_count--;
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_error err;
    for (uint64_t count = 0; count < 2; count++) {
        for (int sign = CAROM_SIGN_PARITY; sign <= CAROM_SIGN_WINDING; sign++) {
            test_error(try_sign(mesh, sign, 0, count, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                       "the mesh is open: 3 edges");
            test_ok("open meshes allowed", try_sign(mesh, sign, 1, count, &err), &err);
        }
        test_ok("no sign", try_sign(mesh, CAROM_SIGN_NONE, 0, count, &err), &err);
        test_error(try_sign(mesh, 9, 0, count, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "sign is 9");
        test_error(try_sign(mesh, 0, 2, count, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "allow_open is 2");
    }
    carom_mesh_destroy(mesh);
    /* A triangle with a mask of 0 closes nothing. */
    s.triangle_count++;
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t t = 0; t < s.triangle_count; t++)
        s.masks[t] = t != 4;
    mesh = scene_mesh(context, &s);
    test_error(try_sign(mesh, CAROM_SIGN_PARITY, 0, 1, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "3 edges");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* An empty mesh has no inside. */
static void test_empty(void **state)
{
    carom_context *context = test_context();
    scene s = scene_unit_box();
    (void)state;
    s.triangle_count = 0;
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_mixed(SEED, 40);
    body_answers got = ask_signed(mesh, &b, CAROM_SIGN_PARITY, 1, 1);
    for (size_t i = 0; i < b.count; i++) {
        assert_true(near_float(&got.closest, NEAR_DISTANCE, i) == INFINITY);
        assert_true(got.gradient[0][i] == 0 && got.gradient[1][i] == 0 && got.gradient[2][i] == 0);
    }
    free_answers(&got);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Solid angles are the CPU's, and the statistics have the reason. */
static void test_declined(void **state)
{
    carom_context *context = test_context();
    scene s = scene_unit_box();
    carom_mesh *mesh = scene_mesh(context, &s);
    static const float zero[3];
    float distance;
    const carom_mesh_closest_desc desc = {
        .batch = {.size = sizeof desc, .count = 1}, .center = carom_xyz(zero), .sign = CAROM_SIGN_ROBUST};
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = &distance};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    (void)state;
    test_ok("on a device", carom_mesh_closest(mesh, &desc, &out, &stats, &err), &err);
    assert_true(distance == -1.0f);
    assert_int_equal(stats.on_cpu, 1);
    assert_int_equal(stats.fallen_back, 1);
    assert_non_null(strstr(stats.fallback_reason, "by solid angles"));
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_beyond),
                                        cmocka_unit_test(test_reference), cmocka_unit_test(test_masks),
                                        cmocka_unit_test(test_refused),   cmocka_unit_test(test_empty),
                                        SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {SAME_BITS_ON_DEVICE(check_same), cmocka_unit_test(test_by_hand),
                                           cmocka_unit_test(test_beyond), cmocka_unit_test(test_declined),
                                           cmocka_unit_test(test_empty)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
