/* SPDX-License-Identifier: MIT */
/* Closest points on a mesh: exact mode equal to the exact reference, fast mode near it, and both the same bits from
 * every backend, in any order. */
#include "tests/support/closest_answers.h"
#include "tests/support/exact_scenes.h"

#include <math.h>

enum { SEED = 71 };
/* Of fast mode, in 2^-24 of the largest way from the centre to a corner: measured 7, see docs/numerics.md. */
#define FAST_LIMIT 16.0

/* ---- against the reference --------------------------------------------------------------------------------------- */

static void fail_with(const scene *s, const swept_spheres *b, size_t i, const ref_mesh_closest_answer *truth,
                      const closest_results *n, const char *name, const char *what)
{
    print_error("%s\n", name);
    closest_results_print(b, n, i, "answer");
    print_error("reference: triangle %d, distance %a (%a), point %a %a %a, feature %d\n", truth->triangle,
                (double)truth->closest.distance, truth->closest.distance_near, truth->closest.point[0],
                truth->closest.point[1], truth->closest.point[2], truth->closest.feature);
    for (int side = 0; side < 2; side++) {
        int32_t triangle = side ? truth->triangle : near_triangle(n, i);
        float p[3][3];
        scene_triangle(s, triangle < 0 || triangle >= (int32_t)s->triangle_count ? 0 : (size_t)triangle, p);
        print_error("triangle %d:", triangle);
        for (int k = 0; k < 9; k++)
            print_error(" %a", (double)p[k / 3][k % 3]);
        print_error("\n");
    }
    fail_msg("query %zu: %s", i, what);
}

/* Checks the answers of both modes against the reference. Returns how many queries were settled in integers. */
static uint64_t check_both(carom_context *context, const scene *s, const swept_spheres *b, const char *name,
                           double *worst)
{
    uint64_t integers = 0;
    closest_results fast = ask_scene(context, s, b, CAROM_ACCURACY_FAST, NULL);
    closest_results exact = ask_scene(context, s, b, CAROM_ACCURACY_EXACT, &integers);
    for (size_t i = 0; i < b->count; i++) {
        const ref_mesh_closest_answer truth = true_closest(s, b, i);
        const char *what = judge_exact(s, b, i, &truth, &exact);
        const double error = error_fast(s, b, i, &truth, &fast);
        if (what != NULL)
            fail_with(s, b, i, &truth, &exact, name, what);
        if (!(error <= FAST_LIMIT)) {
            print_error("error %g\n", error);
            fail_with(s, b, i, &truth, &fast, name, "fast mode is too far off");
        }
        *worst = fmax(*worst, error);
    }
    closest_results_free(&fast);
    closest_results_free(&exact);
    return integers;
}

/* Takes scene and spheres. */
static void check_scene(carom_context *context, scene s, swept_spheres b, const char *name)
{
    double worst = 0.0;
    const uint64_t integers = check_both(context, &s, &b, name, &worst);
    print_message("%-22s %6zu triangles, %5zu centres, fast off by %5.2f, %5.1f %% in integers\n", name,
                  s.triangle_count, b.count, worst, 100.0 * (double)integers / (double)b.count);
    swept_spheres_free(&b);
    scene_free(&s);
}

static void test_reference(void **state)
{
    static const size_t sizes[] = {1, 2, 100, 1000}, counts[] = {400, 400, 400, 200};
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < COUNT_OF(sizes); n++) {
        scene s = k->make(sizes[n]);
        check_scene(context, s, swept_spheres_aimed(SEED + n, &s, 1.0, test_effort(counts[n])), k->name);
    }
    check_scene(context, k->make(500), swept_spheres_mixed(SEED, test_effort(400)), k->name);
    carom_context_destroy(context);
}

static void test_places(void **state)
{
    static const struct {
        const char *name;
        int exponent;
        float offset;
    } places[] = {{"small", -20, 0.0f}, {"large", 20, 0.0f}, {"far", 0, 1e4f},      {"small far", -20, 1e4f},
                  {"1e36", 120, 0.0f},  {"3e38", 126, 0.0f}, {"1e-38", -125, 0.0f}, {"1e-43", -142, 0.0f}};
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    for (size_t p = 0; p < COUNT_OF(places); p++) {
        scene s = k->make(100);
        char name[64];
        scene_place(&s, places[p].exponent, places[p].offset);
        swept_spheres b =
            swept_spheres_aimed(SEED + 10 + p, &s, ref_power_of_two(places[p].exponent), test_effort(150));
        snprintf(name, sizeof name, "%s, %s", k->name, places[p].name);
        check_scene(context, s, b, name);
    }
    carom_context_destroy(context);
}

/* Centres farther away than the mesh is large, by powers of two up to the end of the range. */
static void test_far(void **state)
{
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    scene s = k->make(60);
    swept_spheres b = swept_spheres_aimed(SEED + 20, &s, 1.0, test_effort(260));
    for (size_t i = 0; i < b.count; i++)
        for (int c = 0; c < 3; c++)
            b.column[c][i] =
                (float)fmax(fmin(ldexp((double)b.column[c][i], (int)(i % 130)), 0x1.fffffep127), -0x1.fffffep127);
    check_scene(context, s, b, k->name);
    carom_context_destroy(context);
}

/* On a corner, on an edge, on a face, in its plane, or all but: what the corners' binary32 allows. */
static swept_spheres swept_spheres_on(uint64_t seed, const scene *s, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        float p[3][3];
        ref_gen_seed(&g, 120, seed, i);
        scene_triangle(s, (size_t)ref_gen_int(&g, 0, (int)s->triangle_count - 1), p);
        const int kind = ref_gen_int(&g, 0, 5), v = ref_gen_int(&g, 0, 2), nudge = ref_gen_int(&g, 0, 4);
        for (int k = 0; k < 3; k++) {
            const double a = (double)p[v][k], to1 = (double)p[(v + 1) % 3][k] - a, to2 = (double)p[(v + 2) % 3][k] - a;
            const double share = kind == 0 ? 0.0 : kind == 1 ? 0.5 : kind == 2 ? 0.25 : kind == 3 ? 1.5 : -0.5;
            b.column[k][i] = (float)(a + share * to1 + (kind == 2 || kind == 5 ? share * to2 : 0.0));
        }
        if (nudge < 3)
            b.column[nudge][i] = nextafterf(b.column[nudge][i], nudge == 1 ? 2.0f : -2.0f);
        b.column[SPHERE_RADIUS][i] = (float)ref_gen_int(&g, 0, 3);
    }
    return b;
}

static void test_on_surface(void **state)
{
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    scene s = k->make(150);
    check_scene(context, s, swept_spheres_on(SEED + 30, &s, test_effort(500)), k->name);
    carom_context_destroy(context);
}

/* The cases made for sweeps, each a mesh of one triangle; then all of a family as one mesh. */
static void test_families(void **state)
{
    enum { CASES = 60 };
    (void)state;
    carom_context *context = test_context();
    for (size_t family = 0; family < ref_family_count(); family++) {
        float vertices[9 * CASES];
        uint32_t indices[3 * CASES];
        scene all = {vertices, indices, 0, 0, NULL};
        swept_spheres b = swept_spheres_alloc(CASES);
        double worst = 0.0;
        uint64_t integers = 0;
        for (size_t i = 0; i < CASES; i++) {
            ref_sweep_case c;
            ref_family_sweep(family, SEED, i, &c);
            for (int k = 0; k < 3; k++)
                b.column[k][i] = c.center[k];
            b.column[SPHERE_RADIUS][i] = (float)c.radius;
            for (int k = 0; k < 9; k++)
                vertices[9 * all.triangle_count + (size_t)k] = c.p[k / 3][k % 3];
            int finite = 1;
            for (int k = 0; k < 9; k++)
                finite = finite && isfinite(c.p[k / 3][k % 3]);
            if (!finite)
                continue; /* no mesh has such a corner */
            uint32_t corners[3] = {0, 1, 2};
            scene one = {vertices + 9 * all.triangle_count, corners, 3, 1, NULL};
            swept_spheres single = {.count = 1};
            for (int k = 0; k < SPHERE_COLUMNS; k++)
                single.column[k] = b.column[k] + i;
            integers += check_both(context, &one, &single, ref_family_name(family), &worst);
            for (uint32_t k = 0; k < 3; k++)
                indices[3 * all.triangle_count + k] = (uint32_t)(3 * all.triangle_count + k);
            all.triangle_count++;
            all.vertex_count += 3;
        }
        const size_t alone = all.triangle_count;
        const uint64_t together = check_both(context, &all, &b, ref_family_name(family), &worst);
        print_message("%-22s fast off by %5.2f, in integers %3llu of %zu alone, %3llu of %d together\n",
                      ref_family_name(family), worst, (unsigned long long)integers, alone, (unsigned long long)together,
                      CASES);
        swept_spheres_free(&b);
    }
    carom_context_destroy(context);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* In another order the same distances, and among triangles that tie the first in that order. */
static void test_permutation(void **state)
{
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    scene s = k->make(600);
    swept_spheres b = swept_spheres_aimed(SEED + 40, &s, 1.0, test_effort(2000));
    turned_scene turned = scene_turn(SEED, &s);
    for (int exact = 0; exact < 2; exact++) {
        closest_results a = ask_scene(context, &s, &b, (carom_accuracy)exact, NULL);
        closest_results n = ask_scene(context, &turned.s, &b, (carom_accuracy)exact, NULL);
        closest_results_compare(&b, &a, &n, b.count, 1 << NEAR_DISTANCE | 1 << NEAR_DEPTH,
                                "triangles in another order");
        for (size_t i = 0; i < b.count; i++) {
            if (turned_agrees(&turned, near_triangle(&a, i), near_triangle(&n, i)))
                continue;
            closest_results_print(&b, &a, i, "in order");
            closest_results_print(&b, &n, i, "in another order");
            fail_msg("another triangle, and not for a tie");
        }
        closest_results_free(&a);
        closest_results_free(&n);
    }
    turned_free(&turned);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

/* The answer of a mesh is the lesser of those of its halves: no triangle's depends on its neighbours in the tree. */
static void test_halves(void **state)
{
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    scene s = k->make(700);
    swept_spheres b = swept_spheres_mixed(SEED + 41, test_effort(2000));
    uint32_t *order = test_alloc(s.triangle_count, sizeof *order);
    for (uint32_t i = 0; i < s.triangle_count; i++)
        order[i] = i;
    const size_t cut = s.triangle_count / 2;
    scene low = scene_reorder(&s, order, cut), high = scene_reorder(&s, order + cut, s.triangle_count - cut);
    for (int exact = 0; exact < 2; exact++) {
        closest_results whole = ask_scene(context, &s, &b, (carom_accuracy)exact, NULL);
        closest_results first = ask_scene(context, &low, &b, (carom_accuracy)exact, NULL);
        closest_results second = ask_scene(context, &high, &b, (carom_accuracy)exact, NULL);
        for (size_t i = 0; i < b.count; i++) {
            const float x = near_float(&first, NEAR_DISTANCE, i), y = near_float(&second, NEAR_DISTANCE, i);
            const int32_t triangle = near_triangle(&whole, i), there = near_triangle(&second, i);
            const int32_t expected = there < 0 ? -1 : y < x ? there + (int32_t)cut : near_triangle(&first, i);
            if (bits_of_float(near_float(&whole, NEAR_DISTANCE, i)) != bits_of_float(y < x ? y : x) ||
                triangle != expected) {
                closest_results_print(&b, &whole, i, "the whole");
                closest_results_print(&b, &first, i, "its first half");
                closest_results_print(&b, &second, i, "its second half");
                fail_msg("query %zu: the whole is not the lesser of its halves", i);
            }
        }
        closest_results_free(&whole);
        closest_results_free(&first);
        closest_results_free(&second);
    }
    scene_free(&low);
    scene_free(&high);
    scene_free(&s);
    free(order);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

/* ---- the same bits from every backend ---------------------------------------------------------------------------- */

/* On every kind of mesh, near and far. */
static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t k = 0; k < KINDS; k++)
        for (int variant = 0; variant < 6; variant++) {
            const int exact = variant % 2, far = variant / 2;
            scene s = kinds[k].make(k % 2 ? 900 : 120);
            scene_place(&s, far == 2 ? -130 : 0, far == 1 ? 1e4f : 0.0f);
            swept_spheres b = far == 0
                                  ? swept_spheres_mixed(SEED + 51, test_effort(1500))
                                  : swept_spheres_aimed(SEED + 52, &s, far == 2 ? 0x1p-130 : 1.0, test_effort(1500));
            closest_results expected = ask_scene(scalar, &s, &b, (carom_accuracy)exact, NULL);
            closest_results n = ask_scene(context, &s, &b, (carom_accuracy)exact, NULL);
            closest_results_compare(&b, &expected, &n, b.count, -1, label);
            closest_results_free(&expected);
            closest_results_free(&n);
            swept_spheres_free(&b);
            scene_free(&s);
        }
}

/* A long batch in slices along the mesh, in pieces, as it comes: a query knows nothing of the others. */
static void test_pieces(void **state)
{
    static const size_t pieces[] = {1, 7, 64, 257, 5000};
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[2].make(20000);
    swept_spheres b = swept_spheres_mixed(SEED + 53, test_effort(30000));
    carom_mesh *mesh = scene_mesh(context, &s);
    for (int exact = 0; exact < 2; exact++) {
        closest_results whole = closest_results_alloc(b.count, 0x5a);
        ask_part(mesh, &b, (carom_accuracy)exact, 0, b.count, &whole, NULL);
        for (size_t p = 0; p < COUNT_OF(pieces); p++) {
            const size_t limit = pieces[p] < 64 && b.count > 200 ? 200 : b.count;
            closest_results n = closest_results_alloc(b.count, 0xa5);
            for (size_t first = 0; first < limit; first += pieces[p])
                ask_part(mesh, &b, (carom_accuracy)exact, first, limit - first < pieces[p] ? limit - first : pieces[p],
                         &n, NULL);
            closest_results_compare(&b, &whole, &n, limit, -1, "a batch in pieces");
            closest_results_free(&n);
        }
        closest_results_free(&whole);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

/* Fail unless `scaled` is `n` times 2^exponent. What is all but 0 may have lost digits when the request was scaled. */
static void check_scaled(const swept_spheres *b, const closest_results *n, const closest_results *scaled, int exponent)
{
    closest_results_compare(b, n, scaled, b->count, 1 << NEAR_TRIANGLE | 1 << NEAR_FEATURE, "scaled");
    for (size_t i = 0; i < b->count; i++)
        for (int f = NEAR_DISTANCE; f < NEAR_FIELDS; f++) {
            if (f == NEAR_FEATURE || fabsf(near_float(n, f, i)) < 0x1p-40f)
                continue;
            if (bits_of_float(ldexpf(near_float(n, f, i), exponent)) != bits_of_float(near_float(scaled, f, i))) {
                closest_results_print(b, n, i, "before");
                closest_results_print(b, scaled, i, "scaled");
                fail_msg("query %zu, field %d, scaled by 2^%d", i, f, exponent);
            }
        }
}

static void test_scale(void **state)
{
    static const int exponents[] = {-60, -31, 1, 64, 100};
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    for (size_t e = 0; e < COUNT_OF(exponents); e++)
        for (int exact = 0; exact < 2; exact++) {
            scene s = k->make(300);
            swept_spheres b = swept_spheres_mixed(SEED + 54, test_effort(1000));
            closest_results n = ask_scene(context, &s, &b, (carom_accuracy)exact, NULL);
            scene_scale(&s, exponents[e]);
            swept_spheres_scale(&b, exponents[e], 0);
            closest_results scaled = ask_scene(context, &s, &b, (carom_accuracy)exact, NULL);
            check_scaled(&b, &n, &scaled, exponents[e]);
            closest_results_free(&n);
            closest_results_free(&scaled);
            swept_spheres_free(&b);
            scene_free(&s);
        }
    carom_context_destroy(context);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void test_invalid(void **state)
{
    static const float bad[] = {HUGE_VALF, -HUGE_VALF, 0.0f / 0.0f, -1.0f, -0x1p-149f};
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[0].make(50);
    swept_spheres b = swept_spheres_aimed(SEED + 60, &s, 1.0, 5 * COUNT_OF(bad));
    for (size_t i = 0; i < b.count; i++)
        for (int c = 0; c < 4; c++) {
            b.column[c][i] = isfinite(b.column[c][i]) ? b.column[c][i] : 0.5f;
            if ((int)(i % 5) == c && (c == SPHERE_RADIUS || i / 5 < 3))
                b.column[c][i] = bad[i / 5];
            else if (i % 5 == 4 && c == SPHERE_RADIUS)
                b.column[c][i] = -0.0f;
        }
    double worst = 0.0;
    check_both(context, &s, &b, "invalid", &worst);
    scene none = {s.vertices, s.indices, 0, 0, NULL};
    for (int exact = 0; exact < 2; exact++) {
        closest_results n = ask_scene(context, &none, &b, (carom_accuracy)exact, NULL);
        const ref_mesh_closest_answer nothing = {.triangle = -1};
        for (size_t i = 0; i < b.count; i++)
            if (judge_exact(&s, &b, i, &nothing, &n) != NULL)
                fail_msg("an empty mesh gives an answer to query %zu", i);
        closest_results_free(&n);
    }
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_arguments(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[0].make(50);
    carom_mesh *mesh = scene_mesh(context, &s);
    const float centers[4] = {0.25f, 0.5f, 0.75f, 0.125f};
    float distance[4], point[16];
    int32_t triangle[4];
    carom_error err = {0};
    carom_mesh_closest_desc d = {.batch.size = sizeof d,
                                 .batch.count = 2,
                                 .center = carom_repeat(centers),
                                 .radius = {centers + 3, CAROM_REPEAT}};
    const carom_mesh_closest_result out = {
        .size = sizeof out, .triangle = triangle, .distance = distance, .point = {point, point + 1, point + 2, 16}};
    carom_mesh_closest_result wrong = out;
    test_ok("stride 0", carom_mesh_closest(mesh, &d, &out, NULL, &err), &err);
    assert_int_equal(triangle[0], triangle[1]);
    assert_memory_equal(point, point + 4, 12);
    test_error(carom_mesh_closest(NULL, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "mesh");
    test_error(carom_mesh_closest(mesh, NULL, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "desc");
    test_error(carom_mesh_closest(mesh, &d, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "out");
    wrong.point.stride = 3;
    test_error(carom_mesh_closest(mesh, &d, &wrong, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "point");
    d.radius.stride = 3;
    test_error(carom_mesh_closest(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "radius");
    d.center.y = NULL;
    test_error(carom_mesh_closest(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "center");
    d.batch.count = 0;
    test_ok("no queries", carom_mesh_closest(mesh, &d, &out, NULL, &err), &err);
    d.batch.accuracy = (carom_accuracy)7;
    test_error(carom_mesh_closest(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "accuracy");
    d.batch.size = 8;
    test_error(carom_mesh_closest(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "size");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

#define ON_KIND(name, i)                                                                        \
    {name ": reference", test_reference, NULL, NULL, (void *)&kinds[i]},                        \
        {name ": sizes and offsets", test_places, NULL, NULL, (void *)&kinds[i]},               \
        {name ": far centres", test_far, NULL, NULL, (void *)&kinds[i]},                        \
        {name ": on the surface", test_on_surface, NULL, NULL, (void *)&kinds[i]},              \
        {name ": triangles in another order", test_permutation, NULL, NULL, (void *)&kinds[i]}, \
        {name ": halves", test_halves, NULL, NULL, (void *)&kinds[i]},                          \
    {                                                                                           \
        name ": scaled", test_scale, NULL, NULL, (void *)&kinds[i]                              \
    }
int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        ON_KIND("soup", 0),
        ON_KIND("sphere", 1),
        ON_KIND("torus", 2),
        ON_KIND("floor", 3),
        ON_KIND("lattice", 4),
        ON_KIND("needles", 5),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_arguments),
        SAME_BITS_ON_CPU(check_same),
    };
    const struct CMUnitTest on_device[] = {ON_KIND("floor", 3),
                                           ON_KIND("needles", 5),
                                           cmocka_unit_test(test_pieces),
                                           cmocka_unit_test(test_invalid),
                                           cmocka_unit_test(test_arguments),
                                           SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
