/* SPDX-License-Identifier: MIT */
/* Closest points within a distance: the answers without a limit, and none where the reported distance is above it. That
 * the answers without a limit are right is test_closest.c's subject. Exact mode is also compared with the reference. */
#include "tests/support/closest_answers.h"
#include "tests/support/exact_scenes.h"

#include <float.h>
#include <math.h>

enum { SEED = 131 };

/* ---- limits and what they leave ---------------------------------------------------------------------------------- */

enum { AT, BELOW, ABOVE, HALF, NONE, ZERO, LEAST, LARGEST, LIMITS };

/* A limit of that kind for a query whose nearest triangle is at this distance. */
static float limit_of(int kind, float distance)
{
    switch (kind) {
    case AT: return distance;
    case BELOW: return distance > 0.0f ? nextafterf(distance, 0.0f) : -0.0f;
    case ABOVE: return nextafterf(distance, HUGE_VALF);
    case HALF: return 0.5f * distance;
    case ZERO: return -0.0f;
    case LEAST: return 0x1p-149f;
    case LARGEST: return FLT_MAX;
    default: return HUGE_VALF;
    }
}

static void *place_of(const closest_results *n, int field, size_t size, size_t i)
{
    return n->field[field].data + i * size;
}

/* Copies answer i, or, if it is beyond the limit, writes the answer of a query without a triangle. Returns whether it
 * is beyond. */
static int filter(const closest_results *from, size_t i, float limit, closest_results *to)
{
    const int32_t no_triangle = -1;
    const float far = HUGE_VALF, deep = -HUGE_VALF, zero = 0.0f;
    const int beyond = near_float(from, NEAR_DISTANCE, i) > limit;
    for (int f = 0; f < NEAR_FIELDS; f++) {
        const size_t size = f == NEAR_FEATURE ? 1 : 4;
        const void *nothing = f == NEAR_TRIANGLE   ? &no_triangle
                              : f == NEAR_DISTANCE ? &far
                              : f == NEAR_DEPTH    ? &deep
                                                   : (const void *)&zero;
        memcpy(place_of(to, f, size, i), beyond ? nothing : place_of(from, f, size, i), size);
    }
    return beyond;
}

static void check_reference(const scene *s, const swept_spheres *b, const closest_results *got, const char *label)
{
    for (size_t i = 0; i < b->count; i++) {
        const ref_mesh_closest_answer truth = true_closest(s, b, i);
        const char *what = judge_exact(s, b, i, &truth, got);
        if (what == NULL)
            continue;
        closest_results_print(b, got, i, "answer");
        fail_msg("%s: query %zu, limit %a: %s; the reference has triangle %d, distance %a", label, i,
                 (double)b->max_distance[i], what, truth.triangle, (double)truth.closest.distance);
    }
}

/* How many answers the limits took, of how many there were. */
typedef struct tally {
    size_t taken, queries;
} tally;

/* Queries with limits of all kinds, `shift` after one another. */
static void check_limits(carom_context *context, const scene *s, swept_spheres *b, carom_accuracy accuracy, int judged,
                         const char *label, tally *t)
{
    closest_results all = ask_scene(context, s, b, accuracy, NULL);
    closest_results expected = closest_results_alloc(b->count, 0);
    b->max_distance = test_alloc(b->count, sizeof *b->max_distance);
    for (int shift = 0; shift < LIMITS; shift++) {
        for (size_t i = 0; i < b->count; i++) {
            b->max_distance[i] = limit_of((int)((i + (size_t)shift) % LIMITS), near_float(&all, NEAR_DISTANCE, i));
            t->taken += (size_t)filter(&all, i, b->max_distance[i], &expected);
            t->queries++;
        }
        closest_results got = ask_scene(context, s, b, accuracy, NULL);
        closest_results_compare(b, &expected, &got, b->count, -1, label);
        if (judged && accuracy == CAROM_ACCURACY_EXACT)
            check_reference(s, b, &got, label);
        closest_results_free(&got);
    }
    free(b->max_distance);
    b->max_distance = NULL;
    closest_results_free(&expected);
    closest_results_free(&all);
}

/* Takes scene and spheres. In each mode; with masks, half of the triangles do not count for a query. */
static void check_scene(carom_context *context, scene s, swept_spheres b, int judged, const char *label)
{
    tally t = {0, 0};
    for (int exact = 0; exact < 2; exact++)
        check_limits(context, &s, &b, (carom_accuracy)exact, judged, label, &t);
    s.masks = random_masks(SEED, s.triangle_count);
    b.mask = random_masks(SEED + 1, b.count);
    for (int exact = 0; exact < 2; exact++)
        check_limits(context, &s, &b, (carom_accuracy)exact, judged, label, &t);
    assert_true(t.taken > 0 && t.taken < t.queries);
    swept_spheres_free(&b);
    scene_free(&s);
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* Near, with invalid spheres among them; then meshes at the ends of the range, and centres far from them. */
static void check_context(carom_context *context, int judged, const char *label)
{
    static const struct {
        int exponent;
        float offset;
    } places[] = {{0, 0.0f}, {0, 1e4f}, {-20, 0.0f}, {126, 0.0f}, {-125, 0.0f}, {-142, 0.0f}};
    for (size_t k = 0; k < KINDS; k++) {
        scene s = kinds[k].make(k % 2 ? 900 : 120);
        check_scene(context, s, swept_spheres_mixed(SEED + k, test_effort(400)), judged, label);
        for (size_t p = 0; p < COUNT_OF(places); p++) {
            scene placed = kinds[k].make(100);
            scene_place(&placed, places[p].exponent, places[p].offset);
            swept_spheres b =
                swept_spheres_aimed(SEED + 10 * p + k, &placed, ref_power_of_two(places[p].exponent), test_effort(200));
            for (size_t i = 0; i < b.count; i += 8) /* far away */
                b.column[0][i] = ldexpf(b.column[0][i], (int)(i % 64));
            check_scene(context, placed, b, judged, label);
        }
    }
}

static void test_isa(void **state)
{
    const carom_isa isa = *(const carom_isa *)*state;
    carom_context *context = test_cpu(isa, 1);
    check_context(context, isa == CAROM_ISA_SCALAR, carom_isa_name(isa));
    carom_context_destroy(context);
}

static void test_threads(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 3);
    check_context(context, 0, "three threads");
    carom_context_destroy(context);
}

static void test_device_lanes(void **state)
{
    (void)state;
    carom_context *own = test_device(0, 0), *one = test_device(1, 100);
    check_context(own, 0, "the device");
    check_context(one, 0, "the device with one lane, in chunks of 100");
    carom_context_destroy(own);
    carom_context_destroy(one);
}

/* The cases made for sweeps: all of a family as one mesh. */
static void test_families(void **state)
{
    enum { CASES = 60 };
    (void)state;
    carom_context *context = test_context();
    for (size_t family = 0; family < ref_family_count(); family++) {
        scene s = {test_alloc(9 * CASES, sizeof(float)), test_alloc(3 * CASES, sizeof(uint32_t)), 0, 0, NULL};
        swept_spheres b = swept_spheres_alloc(CASES);
        for (size_t i = 0; i < CASES; i++) {
            ref_sweep_case c;
            int finite = 1;
            ref_family_sweep(family, SEED, i, &c);
            for (int k = 0; k < 3; k++)
                b.column[k][i] = c.center[k];
            b.column[SPHERE_RADIUS][i] = (float)c.radius;
            memcpy(s.vertices + 9 * s.triangle_count, c.p, sizeof c.p);
            for (int k = 0; k < 9; k++)
                finite = finite && isfinite(c.p[k / 3][k % 3]);
            s.triangle_count += (size_t)finite;
        }
        s.vertex_count = 3 * s.triangle_count;
        for (uint32_t v = 0; v < s.vertex_count; v++)
            s.indices[v] = v;
        tally t = {0, 0};
        for (int exact = 0; exact < 2; exact++)
            check_limits(context, &s, &b, (carom_accuracy)exact, 1, ref_family_name(family), &t);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* A mesh whose queries are sorted, cut in slices: a band, with one limit for all queries and with a column of it. */
static void test_band(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[2].make(200000);
    swept_spheres b = swept_spheres_aimed(SEED + 60, &s, 1.0, test_effort(6000));
    const float band = 0.01f;
    carom_mesh *mesh = scene_mesh(context, &s);
    for (int exact = 0; exact < 2; exact++) {
        closest_results all = closest_results_alloc(b.count, 0x5a), expected = closest_results_alloc(b.count, 0x5a),
                        got = closest_results_alloc(b.count, 0xa5), again = closest_results_alloc(b.count, 0xa5);
        ask_part(mesh, &b, (carom_accuracy)exact, 0, b.count, &all, NULL);
        for (size_t i = 0; i < b.count; i++)
            filter(&all, i, band, &expected);
        carom_mesh_closest_desc desc = swept_spheres_closest(&b, 0, b.count);
        const carom_mesh_closest_result out = closest_results_result(&got, 0);
        carom_error err = {0};
        desc.batch.accuracy = (carom_accuracy)exact;
        desc.max_distance = (carom_scalars){&band, CAROM_REPEAT};
        test_ok("one limit", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
        closest_results_compare(&b, &expected, &got, b.count, -1, "one limit for all");
        b.max_distance = test_alloc(b.count, sizeof *b.max_distance);
        for (size_t i = 0; i < b.count; i++)
            b.max_distance[i] = band;
        ask_part(mesh, &b, (carom_accuracy)exact, 0, b.count, &again, NULL);
        closest_results_compare(&b, &expected, &again, b.count, -1, "a column of limits");
        free(b.max_distance);
        b.max_distance = NULL;
        closest_results_free(&all);
        closest_results_free(&expected);
        closest_results_free(&got);
        closest_results_free(&again);
    }
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Without a radius the answers are those of radius 0, and the depth is less than nothing by the distance. */
static void test_no_radius(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[4].make(100);
    swept_spheres b = swept_spheres_aimed(SEED + 70, &s, 1.0, test_effort(400));
    carom_mesh *mesh = scene_mesh(context, &s);
    memset(b.column[SPHERE_RADIUS], 0, b.count * sizeof(float));
    for (int exact = 0; exact < 2; exact++) {
        closest_results expected = closest_results_alloc(b.count, 0x5a), got = closest_results_alloc(b.count, 0xa5);
        ask_part(mesh, &b, (carom_accuracy)exact, 0, b.count, &expected, NULL);
        carom_mesh_closest_desc desc = swept_spheres_closest(&b, 0, b.count);
        const carom_mesh_closest_result out = closest_results_result(&got, 0);
        carom_error err = {0};
        desc.batch.accuracy = (carom_accuracy)exact;
        desc.radius = (carom_scalars){NULL, 0};
        test_ok("no radius", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
        closest_results_compare(&b, &expected, &got, b.count, -1, "no radius");
        for (size_t i = 0; i < b.count; i++)
            assert_true(near_float(&got, NEAR_DEPTH, i) + near_float(&got, NEAR_DISTANCE, i) == 0.0f ||
                        near_triangle(&got, i) < 0);
        closest_results_free(&expected);
        closest_results_free(&got);
    }
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* An output over the limits is refused. */
static void test_shared_memory(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[0].make(10);
    swept_spheres b = swept_spheres_aimed(SEED + 80, &s, 1.0, 4);
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_error err = {0};
    b.max_distance = random_limits(SEED, b.count);
    const carom_mesh_closest_desc desc = swept_spheres_closest(&b, 0, b.count);
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = b.max_distance};
    test_error(carom_mesh_closest(mesh, &desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "max_distance");
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

#define ON_ISA(name, value)                          \
    {                                                \
        name ": limits", test_isa, NULL, NULL, value \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        TEST_EACH_ISA(ON_ISA),       cmocka_unit_test(test_threads),   cmocka_unit_test(test_families),
        cmocka_unit_test(test_band), cmocka_unit_test(test_no_radius), cmocka_unit_test(test_shared_memory)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_device_lanes), cmocka_unit_test(test_families),
                                           cmocka_unit_test(test_band), cmocka_unit_test(test_no_radius)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
