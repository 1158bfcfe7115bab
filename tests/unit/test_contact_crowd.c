/* SPDX-License-Identifier: MIT */
/* Very many triangles on one edge or in one place, and very many contacts of one sphere. Work that grew with the square
 * of their number would not end within the time of a test. */
#include "tests/support/contact_answers.h"
#include "tests/support/exact_scenes.h"

#include <math.h>

enum { SEED = 29, MANY = 100000 };

static void set_triangle(scene *s, size_t triangle, const float corners[9])
{
    memcpy(s->vertices + 9 * triangle, corners, 9 * sizeof *corners);
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

enum { PAGES = 60 };
typedef struct book {
    scene s;
    int x[PAGES], y[PAGES]; /* the way of each page from the spine */
} book;

/* Pages around the z axis, in ways of small whole numbers, so that many are opposite, or at right angles. */
static book random_book(uint64_t seed)
{
    book b = {.s = scene_alloc_apart(PAGES)};
    ref_gen g;
    ref_gen_seed(&g, SEED, seed, 0);
    for (int i = 0; i < PAGES; i++) {
        const int range = 1 + (int)(seed % 12), turn = ref_gen_int(&g, 0, 2), back = ref_gen_int(&g, 0, 1);
        do {
            b.x[i] = ref_gen_int(&g, -range, range);
            b.y[i] = ref_gen_int(&g, -range, range);
        } while (b.x[i] == 0 && b.y[i] == 0);
        const float corner[3][3] = {{0, 0, back ? 1.0f : -0.0f},
                                    {0, 0, back ? 0.0f : 1.0f},
                                    {(float)b.x[i], (float)b.y[i], 0.25f + (float)i / 128}};
        float corners[9];
        for (int k = 0; k < 3; k++)
            memcpy(corners + 3 * ((k + turn) % 3), corner[k], sizeof corner[k]);
        set_triangle(&b.s, (size_t)i, corners);
    }
    return b;
}

/* By definition, pair by pair. Exact where the angle is 0, 90 or 180 degrees. */
static void join_pages(const book *b, double cosine, uint32_t *patch)
{
    for (uint32_t i = 0; i < PAGES; i++)
        patch[i] = i;
    for (int i = 0; i < PAGES; i++)
        for (int j = 0; j < i; j++) {
            const int dot = b->x[i] * b->x[j] + b->y[i] * b->y[j];
            const int squares = (b->x[i] * b->x[i] + b->y[i] * b->y[i]) * (b->x[j] * b->x[j] + b->y[j] * b->y[j]);
            const uint32_t low = patch[i] < patch[j] ? patch[i] : patch[j], high = patch[i] + patch[j] - low;
            if (-(double)dot >= cosine * sqrt((double)squares))
                for (int k = 0; k < PAGES; k++)
                    patch[k] = patch[k] == high ? low : patch[k];
        }
}

/* A sphere on the outer corner of each page. */
static void patches_of(carom_mesh *mesh, const book *b, const double *flat, uint32_t *patch)
{
    swept_spheres spheres = swept_spheres_alloc(PAGES);
    const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .flat = flat};
    for (size_t i = 0; i < PAGES; i++) {
        spheres.column[0][i] = (float)b->x[i];
        spheres.column[1][i] = (float)b->y[i];
        spheres.column[2][i] = 0.25f + (float)i / 128;
        spheres.column[SPHERE_RADIUS][i] = 0x1p-20f;
    }
    contact_answers a = ask_contacts(mesh, &spheres, &call);
    size_t found = 0;
    for (size_t k = 0; k < a.count; k++)
        if ((uint64_t)a.triangle[k] == a.query[k]) {
            patch[a.query[k]] = a.patch[k];
            found++;
        }
    assert_int_equal(found, PAGES);
    contact_answers_free(&a);
    swept_spheres_free(&spheres);
}

static void test_book(void **state)
{
    static const struct {
        double degrees, cosine;
    } angles[] = {{0, 1},
                  {1, 0.99984769515639},
                  {13.7, 0.97154911999764},
                  {31.2, 0.85536426016050},
                  {72.3, 0.30403306092549},
                  {90, 0},
                  {133.3, -0.68581835292737},
                  {180, -1}};
    (void)state;
    carom_context *context = test_context();
    for (uint64_t seed = 0; seed < 60; seed++) {
        book b = random_book(seed);
        carom_mesh *mesh = scene_mesh(context, &b.s);
        for (size_t i = 0; i < COUNT_OF(angles); i++) {
            uint32_t expected[PAGES], patch[PAGES];
            join_pages(&b, angles[i].cosine, expected);
            patches_of(mesh, &b, &angles[i].degrees, patch);
            for (int k = 0; k < PAGES; k++)
                if (patch[k] != expected[k])
                    fail_msg("book %d, flat %g: page %d is of patch %u, not %u", (int)seed, angles[i].degrees, k,
                             patch[k], expected[k]);
        }
        carom_mesh_destroy(mesh);
        scene_free(&b.s);
    }
    carom_context_destroy(context);
}

/* ---- one call ---------------------------------------------------------------------------------------------------- */

/* One sphere of this radius at (0.1, 0.07, z). */
static contact_answers ask_one(const scene *s, float z, float radius, contact_call call)
{
    carom_context *context = test_context();
    carom_mesh *mesh = scene_mesh(context, s);
    swept_spheres b = swept_spheres_alloc(1);
    b.column[0][0] = 0.1f;
    b.column[1][0] = 0.07f;
    b.column[2][0] = z;
    b.column[SPHERE_RADIUS][0] = radius;
    contact_answers a = ask_contacts(mesh, &b, &call);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return a;
}

/* Contacts, and patches, on the pages of a thick book, and on the one that is left if they are merged. */
static void test_thick_book(void **state)
{
    (void)state;
    scene s = scene_alloc_apart(MANY);
    for (size_t i = 0; i < MANY; i++) {
        const double turn = -1 + 2.0 * (double)i / MANY;
        const float corners[] = {0, 0, 0, 0, 0, 1, (float)(1.5 - turn * turn), (float)turn, 0.5f};
        set_triangle(&s, i, corners);
    }
    for (int exact = 0; exact < 2; exact++) {
        contact_call call = {.accuracy = (carom_accuracy)exact};
        contact_answers a = ask_one(&s, 0.3f, 0.3f, call);
        assert_true(a.count > MANY / 4);
        for (size_t k = 0; k < a.count; k++)
            assert_int_equal(a.patch[k], a.triangle[k]); /* none is opposite to another */
        contact_answers_free(&a);
        call.merge_within = 0.01f;
        a = ask_one(&s, 0.3f, 0.3f, call);
        assert_int_equal(a.count, 1);
        contact_answers_free(&a);
    }
    scene_free(&s);
}

/* Copies of a triangle make one contact, each on a patch of its own; triangles in one plane around one point make one
 * if they are merged. */
static void test_in_one_place(void **state)
{
    (void)state;
    scene same = scene_alloc_apart(MANY), nested = scene_alloc_apart(MANY);
    for (size_t i = 0; i < MANY; i++) {
        const float size = 1 + (float)i / MANY;
        const float corners[] = {-1, -1, 0, 1, -1, 0, 0, 2, 0};
        const float larger[] = {-size, -size, 0, size, -size, 0, 0, 2 * size, 0};
        set_triangle(&same, i, corners);
        set_triangle(&nested, i, larger);
    }
    for (int exact = 0; exact < 2; exact++) {
        const contact_call call = {.accuracy = (carom_accuracy)exact, .merge_within = 0.01f};
        contact_answers a = ask_one(&same, 0.25f, 0.3f, call);
        assert_int_equal(a.count, 1);
        assert_int_equal(a.triangle[0], 0);
        assert_int_equal(a.patch[0], 0);
        contact_answers_free(&a);
        a = ask_one(&nested, 0.25f, 0.3f, call);
        assert_int_equal(a.count, 1);
        if (exact)
            assert_int_equal(a.triangle[0], 0);
        contact_answers_free(&a);
    }
    scene_free(&same);
    scene_free(&nested);
}

/* ---- moved vertices ---------------------------------------------------------------------------------------------- */

static void check_moved(carom_context *context, carom_mesh *mesh, const scene *s, const char *label)
{
    swept_spheres b = swept_spheres_aimed(SEED, s, 1.0, 200);
    const carom_points vertices = carom_xyz(s->vertices);
    carom_error err;
    assert_int_equal(carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, &err), CAROM_OK);
    for (int exact = 0; exact < 2; exact++) {
        const double flat = 20;
        const contact_call call = {.accuracy = (carom_accuracy)exact, .margin = 0.125f, .flat = &flat};
        contact_answers got = ask_contacts(mesh, &b, &call), expected = ask_scene_contacts(context, s, &b, &call);
        contact_answers_compare(&b, &expected, &got, label);
        contact_answers_free(&got);
        contact_answers_free(&expected);
    }
    swept_spheres_free(&b);
}

static uint64_t bytes_of(const carom_mesh *mesh)
{
    carom_mesh_info info = {.size = sizeof info};
    carom_error err;
    assert_int_equal(carom_mesh_get_info(mesh, &info, &err), CAROM_OK);
    return info.bytes;
}

/* Knowledge of corners and edges stays where these do. The answers are those of a new mesh, also where corners come
 * together or apart. */
static void test_moved(void **state)
{
    (void)state;
    carom_context *context = test_context();
    for (int soup = 0; soup < 2; soup++) {
        scene s = scene_sphere(12);
        if (soup) {
            scene apart = scene_alloc_apart(s.triangle_count);
            for (size_t i = 0; i < 3 * s.triangle_count; i++)
                memcpy(apart.vertices + 3 * i, s.vertices + 3 * s.indices[i], 3 * sizeof *s.vertices);
            scene_free(&s);
            s = apart;
        }
        carom_mesh *mesh = scene_mesh(context, &s);
        check_moved(context, mesh, &s, "as it was");
        const uint64_t known = bytes_of(mesh);
        const carom_points vertices = carom_xyz(s.vertices);
        carom_error err;
        for (size_t i = 0; i < s.vertex_count; i++) {
            s.vertices[3 * i] += 0.5f * s.vertices[3 * i + 1];
            s.vertices[3 * i + 2] *= 0.25f;
        }
        assert_int_equal(carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, &err), CAROM_OK);
        assert_true(bytes_of(mesh) >= known - s.triangle_count * sizeof(uint32_t)); /* all but the patches */
        check_moved(context, mesh, &s, "all alike");
        assert_int_equal(bytes_of(mesh), known);
        memcpy(s.vertices, s.vertices + 3 * (s.vertex_count / 2), 3 * sizeof *s.vertices);
        check_moved(context, mesh, &s, "together");
        s.vertices[0] += 0.25f;
        check_moved(context, mesh, &s, "apart");
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_book),
        cmocka_unit_test(test_thick_book),
        cmocka_unit_test(test_in_one_place),
        cmocka_unit_test(test_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
