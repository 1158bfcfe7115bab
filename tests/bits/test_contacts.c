/* SPDX-License-Identifier: MIT */
/* Contacts with a mesh: exact mode equal to the exact reference, and both modes the same bits from every backend. */
#include "tests/support/closest_answers.h"
#include "tests/support/contact_answers.h"
#include "tests/support/exact_scenes.h"
#include "tests/support/walls.h"

#include <math.h>

enum { SEED = 91 };

/* ---- against the reference --------------------------------------------------------------------------------------- */

/* The points that are reported for the triangles of sphere i where nothing is merged. */
static void points_of(const contact_answers *a, size_t i, float (*points)[3])
{
    for (size_t k = (size_t)a->offsets[i]; k < a->offsets[i + 1]; k++)
        memcpy(points[a->triangle[k]], &a->point[3 * k], sizeof *points);
}

/* Exact mode without and with merging. Returns how many contacts there are. */
static size_t check_exact(carom_context *context, const scene *s, const swept_spheres *b, contact_call call,
                          const char *name)
{
    const float merge_within = call.merge_within;
    float(*points)[3] = test_alloc(s->triangle_count, sizeof *points);
    call.accuracy = CAROM_ACCURACY_EXACT;
    call.merge_within = 0;
    contact_answers apart = ask_scene_contacts(context, s, b, &call);
    for (size_t i = 0; i < b->count; i++)
        judge_contacts(s, b, i, &call, NULL, &apart, name);
    call.merge_within = merge_within;
    contact_answers merged = ask_scene_contacts(context, s, b, &call);
    for (size_t i = 0; i < b->count && merge_within > 0; i++) {
        points_of(&apart, i, points);
        judge_contacts(s, b, i, &call, (const float(*)[3])points, &merged, name);
    }
    const size_t count = apart.count;
    print_message("%-24s %5zu triangles, %5zu spheres, %6zu contacts, %6zu merged, %4.1f %% in integers\n", name,
                  s->triangle_count, b->count, apart.count, merged.count,
                  100.0 * (double)apart.by_integers / (double)b->count);
    contact_answers_free(&apart);
    contact_answers_free(&merged);
    free(points);
    return count;
}

/* Fast mode reports the closest triangle, up to its rounding; lists are in order. */
static void check_fast(carom_context *context, const scene *s, const swept_spheres *b, contact_call call)
{
    call.accuracy = CAROM_ACCURACY_FAST;
    closest_results near = ask_scene(context, s, b, CAROM_ACCURACY_FAST, NULL);
    contact_answers a = ask_scene_contacts(context, s, b, &call);
    for (size_t i = 0; i < b->count; i++) {
        const size_t first = (size_t)a.offsets[i], end = (size_t)a.offsets[i + 1];
        const float least = near_float(&near, NEAR_DISTANCE, i), reach = b->column[SPHERE_RADIUS][i] + call.margin;
        double size = 0.0;
        for (int k = 0; k < 3; k++)
            size = fmax(size, fabs((double)b->column[k][i]) + 4.0);
        const double slack = size * 0x1p-18;
        if (near_triangle(&near, i) >= 0 && (double)least < (double)reach - slack)
            assert_true(end > first);
        if (end > first)
            assert_true(fabs((double)a.distance[first] - (double)least) <= slack);
        for (size_t k = first; k < end; k++) {
            assert_true(a.distance[k] <= reach);
            assert_true(k == first || a.distance[k - 1] < a.distance[k] ||
                        (!(a.distance[k] < a.distance[k - 1]) && a.triangle[k - 1] < a.triangle[k]));
        }
    }
    closest_results_free(&near);
    contact_answers_free(&a);
}

/* Takes scene and spheres. */
static void check_scene(carom_context *context, scene s, swept_spheres b, double size, const char *name)
{
    const contact_call calls[] = {{.merge_within = (float)(size * 1e-5)},
                                  {.margin = (float)(size * 0.125), .merge_within = (float)(size * 0.0625)}};
    for (size_t c = 0; c < COUNT_OF(calls); c++)
        check_exact(context, &s, &b, calls[c], name);
    swept_spheres_free(&b);
    scene_free(&s);
}

static void test_reference(void **state)
{
    static const size_t sizes[] = {1, 2, 30, 150}, counts[] = {80, 80, 60, 30};
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < COUNT_OF(sizes); n++) {
        scene s = k->make(sizes[n]);
        check_scene(context, s, swept_spheres_aimed(SEED + n, &s, 1.0, test_effort(counts[n])), 1.0, k->name);
    }
    check_scene(context, k->make(100), swept_spheres_mixed(SEED, test_effort(60)), 1.0, k->name);
    carom_context_destroy(context);
}

static void test_fast(void **state)
{
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    scene s = k->make(400);
    swept_spheres b = swept_spheres_aimed(SEED + 5, &s, 1.0, test_effort(2000));
    for (size_t i = 0; i < b.count; i++) /* far ones are rounded more */
        for (int c = 0; c < 3; c++)
            b.column[c][i] = fabsf(b.column[c][i]) < 8.0f ? b.column[c][i] : 0.0f;
    check_fast(context, &s, &b, (contact_call){.margin = 0.125f});
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_places(void **state)
{
    static const struct {
        const char *name;
        int exponent;
        float offset;
    } places[] = {{"small", -20, 0.0f}, {"far", 0, 1e4f},      {"1e36", 120, 0.0f},
                  {"3e38", 126, 0.0f},  {"1e-38", -125, 0.0f}, {"1e-43", -142, 0.0f}};
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    for (size_t p = 0; p < COUNT_OF(places); p++) {
        const double size = ref_power_of_two(places[p].exponent);
        scene s = k->make(40);
        char name[64];
        scene_place(&s, places[p].exponent, places[p].offset);
        snprintf(name, sizeof name, "%s, %s", k->name, places[p].name);
        check_scene(context, s, swept_spheres_aimed(SEED + 10 + p, &s, size, test_effort(24)), size, name);
    }
    carom_context_destroy(context);
}

/* Masks leave out triangles as if the mesh had none. */
static void test_masks(void **state)
{
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    scene s = k->make(100);
    s.masks = random_masks(SEED, s.triangle_count);
    swept_spheres b = swept_spheres_aimed(SEED + 20, &s, 1.0, test_effort(60));
    b.mask = random_masks(SEED + 1, b.count);
    check_scene(context, s, b, 1.0, k->name);
    carom_context_destroy(context);
}

/* A fan around a corner, flat or pointed, in any order. */
static scene fan_scene(uint64_t seed, size_t count, float height)
{
    scene s = scene_alloc(count + 1, count);
    uint32_t *order = random_order(seed, count);
    s.vertices[3 * count + 2] = height;
    for (size_t k = 0; k < count; k++) {
        const double angle = 6.283185307179586 * (double)k / (double)count;
        s.vertices[3 * k] = (float)cos(angle);
        s.vertices[3 * k + 1] = (float)sin(angle);
        s.indices[3 * k] = order[k];
        s.indices[3 * k + 1] = (uint32_t)((order[k] + 1) % count);
        s.indices[3 * k + 2] = (uint32_t)count;
    }
    free(order);
    return s;
}

/* Masks leave out the lowest triangles of the fan, the highest, or some. */
static void test_fan(void **state)
{
    (void)state;
    carom_context *context = test_context();
    for (uint64_t seed = 0; seed < 12; seed++) {
        const size_t count = seed < 2 ? 16 + seed : 60;
        scene s = fan_scene(seed, count, seed % 3 ? 0.5f * (float)(seed % 3) : 0);
        s.masks = test_alloc(count, sizeof *s.masks);
        for (size_t t = 0; t < count; t++)
            s.masks[t] = 8 | (t > count / 2 ? 1 : 0) | (t < count / 2 ? 2 : 0) | (t % 9 == 4 ? 4 : 0);
        swept_spheres b = swept_spheres_alloc(48);
        b.mask = test_alloc(b.count, sizeof *b.mask);
        for (size_t i = 0; i < b.count; i++) {
            ref_gen g;
            ref_gen_seed(&g, 137, seed, i);
            for (int k = 0; k < 2; k++)
                b.column[k][i] = i % 3 ? (float)ref_gen_range(&g, -0.25, 0.25) : 0;
            b.column[2][i] = (float)ref_gen_range(&g, 0.0, 2.0);
            b.column[SPHERE_RADIUS][i] = 2;
            b.mask[i] = 1u << i / 3 % 4;
        }
        check_scene(context, s, b, 1.0, "fan");
    }
    carom_context_destroy(context);
}

/* A triangle whose distance from a point is 1, or just more and rounded to it, is within 1 of it or not. */
static void test_merge_limit(void **state)
{
    (void)state;
    carom_context *context = test_context();
    for (int beyond = 0; beyond < 2; beyond++) {
        const float y = beyond ? 0x1p-13f : 0;
        const float vertices[] = {0, 0, 0, -1, -1, 0, -1, 1, 0, 1, y, 0, 2, y + 1, 0, 2, y, 0};
        scene s = {test_alloc(sizeof vertices, 1), test_alloc(6, sizeof *s.indices), 6, 2, NULL};
        memcpy(s.vertices, vertices, sizeof vertices);
        for (uint32_t k = 0; k < 6; k++)
            s.indices[k] = k;
        swept_spheres b = swept_spheres_alloc(1);
        b.column[0][0] = 0.5f + 0x1p-10f;
        b.column[2][0] = 0.25f;
        b.column[SPHERE_RADIUS][0] = 1;
        contact_answers a =
            ask_scene_contacts(context, &s, &b, &(contact_call){.accuracy = CAROM_ACCURACY_EXACT, .merge_within = 1});
        assert_int_equal(a.count, 1 + beyond);
        assert_int_equal(a.triangle[0], 1);
        contact_answers_free(&a);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Of a triangle and its copy the lower one has the contact, however many others are on their edge. */
static void test_copy_among_many(void **state)
{
    enum { PAGES = 24 };
    (void)state;
    carom_context *context = test_context();
    scene s = scene_alloc(PAGES + 2, PAGES);
    s.vertices[3 * PAGES + 3] = 1; /* the edge is from the last but one, at 0, to the last */
    for (uint32_t t = 0; t < PAGES; t++) {
        s.vertices[3 * t] = 0.5f;
        s.vertices[3 * t + 1] = (float)cos(0.25 * t);
        s.vertices[3 * t + 2] = (float)sin(0.25 * t);
        s.indices[3 * t] = PAGES;
        s.indices[3 * t + 1] = PAGES + 1;
        s.indices[3 * t + 2] = t == PAGES - 4 ? 3 : t;
    }
    swept_spheres b = swept_spheres_alloc(1);
    b.column[0][0] = 0.5f;
    b.column[1][0] = 0.5f * s.vertices[3 * 3 + 1];
    b.column[2][0] = 0.5f * s.vertices[3 * 3 + 2];
    b.column[SPHERE_RADIUS][0] = 0x1p-6f;
    for (int exact = 0; exact < 2; exact++) {
        contact_answers a = ask_scene_contacts(context, &s, &b, &(contact_call){.accuracy = (carom_accuracy)exact});
        assert_int_equal(a.count, 1);
        assert_int_equal(a.triangle[0], 3);
        contact_answers_free(&a);
    }
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Masks divide a wall, and spheres are beside the part that counts: its border is closest, where no normal points. */
static void test_border(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = scene_wall(WALL_GRID, SEED, 12, 0.0f);
    swept_spheres b = swept_spheres_alloc(test_effort(200));
    b.mask = test_alloc(b.count, sizeof *b.mask);
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t t = 0; t < s.triangle_count; t++) {
        float p[3][3];
        scene_triangle(&s, t, p);
        s.masks[t] = p[0][0] + p[1][0] + p[2][0] < 0 ? 1 : 2;
    }
    for (size_t i = 0; i < b.count; i++) {
        ref_gen g;
        ref_gen_seed(&g, 138, SEED, i);
        for (int k = 0; k < 3; k++)
            b.column[k][i] = (float)ref_gen_range(&g, -0.9, 0.9) * (k == 2 ? 0.25f : 1.0f);
        b.column[SPHERE_RADIUS][i] = 1;
        b.mask[i] = 1 + (uint32_t)i % 3;
    }
    check_fast(context, &s, &b, (contact_call){.margin = 0.125f});
    check_scene(context, s, b, 1.0, "border");
    carom_context_destroy(context);
}

/* Corners on a line: triangles without area on the edges of others, in every order. */
static void test_without_area(void **state)
{
    static const float vertices[] = {-2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 2, 0, 0, -2, 1, 0, -1, 2, 1, 0, 0};
    static const uint32_t triangles[][3] = {{0, 1, 3}, {0, 2, 1}, {2, 0, 1}, {0, 2, 4},
                                            {2, 1, 4}, {0, 0, 1}, {0, 6, 1}};
    (void)state;
    carom_context *context = test_context();
    for (uint64_t seed = 0; seed < 24; seed++) {
        const size_t count = 2 + seed % (COUNT_OF(triangles) - 1);
        uint32_t *order = random_order(seed, COUNT_OF(triangles));
        scene s = scene_alloc(7, count);
        memcpy(s.vertices, vertices, sizeof vertices);
        for (size_t t = 0; t < count; t++)
            for (size_t k = 0; k < 3; k++)
                s.indices[3 * t + k] = triangles[order[t]][(k + seed) % 3];
        swept_spheres b = swept_spheres_alloc(60);
        for (size_t i = 0; i < b.count; i++) {
            ref_gen g;
            ref_gen_seed(&g, 132, seed, i);
            for (int k = 0; k < 3; k++)
                b.column[k][i] = 0.25f * (float)ref_gen_int(&g, k == 0 ? -9 : -3, k == 0 ? 9 : 3);
            b.column[SPHERE_RADIUS][i] = 0.5f * (float)ref_gen_int(&g, 1, 4);
        }
        free(order);
        check_scene(context, s, b, 1.0, "without area");
    }
    carom_context_destroy(context);
}

/* A surface of small whole numbers, flat for seed 0. Many centres are above corners or lines through them, where
 * binary64 leaves the closest feature open. Large spheres reach triangles that the search leaves out. */
static scene lattice_surface(uint64_t seed, int n)
{
    scene s = {test_alloc(3 * (size_t)(n + 1) * (size_t)(n + 1), sizeof *s.vertices),
               test_alloc(6 * (size_t)n * (size_t)n, sizeof *s.indices), 0, 0, NULL};
    ref_gen g;
    ref_gen_seed(&g, 139, seed, 0);
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) {
            const float at[3] = {(float)i, (float)j, 0.25f * (float)ref_gen_int(&g, 0, (int)seed)};
            memcpy(&s.vertices[3 * s.vertex_count++], at, sizeof at);
        }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const uint32_t a = (uint32_t)(j * (n + 1) + i), c = a + (uint32_t)n + 2;
            const uint32_t corners[6] = {a, a + 1, c, a, c, c - 1};
            memcpy(&s.indices[3 * s.triangle_count], corners, sizeof corners);
            s.triangle_count += 2;
        }
    return s;
}

static void test_lattice(void **state)
{
    (void)state;
    carom_context *context = test_context();
    for (uint64_t seed = 0; seed < 3; seed++) {
        scene s = lattice_surface(seed, 16);
        swept_spheres b = swept_spheres_alloc(test_effort(160));
        for (size_t i = 0; i < b.count; i++) {
            ref_gen g;
            ref_gen_seed(&g, 140, seed, i);
            for (int k = 0; k < 3; k++)
                b.column[k][i] = 0.5f * (float)ref_gen_int(&g, k < 2 ? 0 : -4, k < 2 ? 32 : 12);
            b.column[SPHERE_RADIUS][i] = (float)ref_gen_int(&g, 1, 16);
        }
        check_scene(context, s, b, 1.0, "lattice");
    }
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* Contacts with a mesh of the widest hierarchy, whatever the context's own is. */
static contact_answers ask_widest(carom_context *context, const scene *s, const swept_spheres *b,
                                  const contact_call *call)
{
    carom_mesh *mesh = scene_mesh_of_devices(context, s);
    contact_answers found = ask_contacts(mesh, b, call);
    carom_mesh_destroy(mesh);
    return found;
}

/* Answers do not depend on the hierarchy's width. How many integers decide does: it says which triangles are left out
 * before they are proven. */
static void check_context(carom_context *context, const char *label)
{
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    for (size_t k = 0; k < KINDS; k++)
        for (int masked = 0; masked < 2; masked++) {
            scene s = kinds[k].make(700);
            swept_spheres b = swept_spheres_aimed(SEED + 30, &s, 1.0, test_effort(301));
            if (masked) {
                s.masks = random_masks(SEED, s.triangle_count);
                b.mask = random_masks(SEED + 1, b.count);
            }
            for (int exact = 0; exact < 2; exact++) {
                const contact_call call = {
                    .accuracy = (carom_accuracy)exact, .margin = 0.0625f, .merge_within = masked ? 0.03125f : 0.0f};
                contact_answers expected = ask_widest(scalar, &s, &b, &call), got = ask_widest(context, &s, &b, &call);
                contact_answers own = ask_scene_contacts(context, &s, &b, &call);
                contact_answers_compare(&b, &expected, &got, label);
                contact_answers_compare(&b, &expected, &own, label);
                assert_int_equal(expected.by_integers, got.by_integers);
                contact_answers_free(&expected);
                contact_answers_free(&got);
                contact_answers_free(&own);
            }
            swept_spheres_free(&b);
            scene_free(&s);
        }
    carom_context_destroy(scalar);
    carom_context_destroy(context);
}

static void test_isa(void **state)
{
    check_context(test_cpu(*(const carom_isa *)*state, 1), "this instruction set");
}

static void test_threads(void **state)
{
    (void)state;
    check_context(test_cpu(CAROM_ISA_AUTO, 3), "three threads");
}

/* A mesh that lies otherwise in its tree has the same contacts. */
static void test_tree(void **state)
{
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    scene s = k->make(500), away = scene_copy(&s);
    swept_spheres b = swept_spheres_aimed(SEED + 40, &s, 1.0, test_effort(300));
    for (size_t v = 0; v < away.vertex_count; v++)
        away.vertices[3 * v + v % 3] = (float)(v % 17) * -0.25f;
    for (int exact = 0; exact < 2; exact++) {
        const contact_call call = {.accuracy = (carom_accuracy)exact, .margin = 0.0625f, .merge_within = 0.001f};
        const carom_points vertices = carom_xyz(s.vertices);
        carom_mesh *mesh = scene_mesh(context, &away);
        carom_error err;
        contact_answers elsewhere = ask_contacts(mesh, &b, &call); /* edges and patches are known now */
        assert_int_equal(carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, &err), CAROM_OK);
        contact_answers expected = ask_scene_contacts(context, &s, &b, &call), got = ask_contacts(mesh, &b, &call);
        contact_answers_compare(&b, &expected, &got, "a refitted mesh");
        contact_answers_free(&elsewhere);
        contact_answers_free(&expected);
        contact_answers_free(&got);
        carom_mesh_destroy(mesh);
    }
    scene_free(&s);
    scene_free(&away);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

#define OF_KIND(name, f, i)                    \
    {                                          \
        name, f, NULL, NULL, (void *)&kinds[i] \
    }
#define OF_EACH_KIND(name, f)                                                                    \
    OF_KIND("soup: " name, f, 0), OF_KIND("sphere: " name, f, 1), OF_KIND("torus: " name, f, 2), \
        OF_KIND("floor: " name, f, 3), OF_KIND("lattice: " name, f, 4), OF_KIND("needles: " name, f, 5)
#define ON_ISA(name, value)                                  \
    {                                                        \
        name ": contacts, bits", test_isa, NULL, NULL, value \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {OF_EACH_KIND("exact", test_reference),
                                        OF_EACH_KIND("fast", test_fast),
                                        OF_EACH_KIND("places", test_places),
                                        OF_EACH_KIND("masks", test_masks),
                                        cmocka_unit_test(test_without_area),
                                        cmocka_unit_test(test_lattice),
                                        cmocka_unit_test(test_fan),
                                        cmocka_unit_test(test_border),
                                        cmocka_unit_test(test_merge_limit),
                                        cmocka_unit_test(test_copy_among_many),
                                        TEST_EACH_ISA(ON_ISA),
                                        cmocka_unit_test(test_threads),
                                        OF_EACH_KIND("refitted", test_tree)};
    return cmocka_run_group_tests(on_cpu, NULL, NULL);
}
