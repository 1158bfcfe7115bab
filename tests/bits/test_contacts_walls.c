/* SPDX-License-Identifier: MIT */
/* One contact on a wall, however it is cut. */
#include "tests/support/contact_answers.h"
#include "tests/support/walls.h"

#include <math.h>

enum { SEED = 91 };

static void check_wall(carom_context *context, int kind, uint64_t seed, float height, contact_call call)
{
    scene s = scene_wall(kind, seed, 6 + (int)(seed % 9), height);
    swept_spheres b = spheres_over_wall(seed, &s, height, test_effort(400));
    contact_answers a = ask_scene_contacts(context, &s, &b, &call);
    for (size_t i = 0; i < b.count; i++) {
        const size_t at = (size_t)a.offsets[i];
        const float z = b.column[2][i];
        if (a.offsets[i + 1] != at + 1)
            fail_msg("%s, seed %llu, %s, merge within %g: sphere %zu at %a %a %a has %llu contacts", wall_names[kind],
                     (unsigned long long)seed, call.accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast",
                     (double)call.merge_within, i, (double)b.column[0][i], (double)b.column[1][i], (double)z,
                     (unsigned long long)(a.offsets[i + 1] - at));
        if (call.accuracy != CAROM_ACCURACY_EXACT || kind >= WALL_CONFORMING)
            continue;
        const float distance = fabsf(z - height), up[3] = {0, 0, z > height ? 1.0f : -1.0f};
        assert_true(fabs((double)a.distance[at] - fabs((double)z - (double)height)) <= 0x1p-24 * (double)distance);
        assert_memory_equal(&a.normal[3 * at], up, sizeof up);
    }
    contact_answers_free(&a);
    swept_spheres_free(&b);
    scene_free(&s);
}

/* One contact each: conforming cuts in exact mode as they are, all cuts in both modes where contacts are merged. */
static void test_walls(void **state)
{
    const int kind = (int)((const char *const *)*state - wall_names);
    carom_context *context = test_context();
    for (uint64_t seed = 0; seed < 3; seed++)
        for (int place = 0; place < 2; place++) {
            const float height = place ? 0.3f : 0.0f;
            if (kind < WALL_CONFORMING)
                check_wall(context, kind, seed, height, (contact_call){.accuracy = CAROM_ACCURACY_EXACT});
            check_wall(context, kind, seed, height,
                       (contact_call){.accuracy = CAROM_ACCURACY_EXACT, .merge_within = 1e-5f});
            check_wall(context, kind, seed, height,
                       (contact_call){.accuracy = CAROM_ACCURACY_FAST, .merge_within = 1e-5f});
        }
    carom_context_destroy(context);
}

/* One contact each on an oblique wall whose corners are rounded, where contacts are merged. A step of height h between
 * two pieces, or a distance that is rounded by h in fast mode, may hold two minima sqrt(2 r h) apart. */
static void test_oblique(void **state)
{
    const int kind = (int)((const char *const *)*state - wall_names);
    carom_context *context = test_context();
    for (uint64_t seed = 0; seed < 4; seed++)
        for (int exact = 0; exact < 2; exact++) {
            const contact_call call = {.accuracy = (carom_accuracy)exact,
                                       .merge_within = exact && kind < WALL_CONFORMING ? 1e-5f : 1e-3f};
            scene s = scene_wall(kind, seed, 6 + (int)seed, 0.3f);
            swept_spheres b = spheres_over_wall(seed, &s, 0.3f, test_effort(400));
            turn_wall(&s, &b);
            contact_answers a = ask_scene_contacts(context, &s, &b, &call);
            for (size_t i = 0; i < b.count; i++)
                if (a.offsets[i + 1] != a.offsets[i] + 1)
                    fail_msg("%s, seed %llu, %s: sphere %zu at %a %a %a has %llu contacts", wall_names[kind],
                             (unsigned long long)seed, exact ? "exact" : "fast", i, (double)b.column[0][i],
                             (double)b.column[1][i], (double)b.column[2][i],
                             (unsigned long long)(a.offsets[i + 1] - a.offsets[i]));
            contact_answers_free(&a);
            swept_spheres_free(&b);
            scene_free(&s);
        }
    carom_context_destroy(context);
}

static void shuffle_triangles(scene *s, uint64_t seed)
{
    uint32_t *order = random_order(seed, s->triangle_count),
             *indices = test_alloc(3 * s->triangle_count, sizeof *indices);
    for (size_t t = 0; t < s->triangle_count; t++)
        memcpy(indices + 3 * t, s->indices + 3 * (size_t)order[t], 3 * sizeof *indices);
    free(order);
    free(s->indices);
    s->indices = indices;
}

static swept_spheres over_every_edge(const scene *s)
{
    swept_spheres b = swept_spheres_alloc(3 * s->triangle_count);
    for (size_t i = 0; i < b.count; i++) {
        float p[3][3];
        scene_triangle(s, i / 3, p);
        for (size_t k = 0; k < 2; k++)
            b.column[k][i] = (p[i % 3][k] + p[(i + 1) % 3][k]) / 2;
        b.column[2][i] = 0x1p-7f;
        b.column[SPHERE_RADIUS][i] = 0x1p-6f;
    }
    return b;
}

/* Of many grids: whichever triangles their hash table brings together, no edge is lost. */
static void test_every_edge(void **state)
{
    (void)state;
    carom_context *context = test_context();
    for (int n = 2; n <= 12; n++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            scene s = scene_wall(WALL_GRID, SEED, n, 0.0f);
            shuffle_triangles(&s, seed);
            swept_spheres b = over_every_edge(&s);
            contact_answers a = ask_scene_contacts(context, &s, &b, &(contact_call){.accuracy = CAROM_ACCURACY_EXACT});
            for (size_t i = 0; i < b.count; i++)
                if (a.offsets[i + 1] - a.offsets[i] != 1)
                    fail_msg("%d x %d squares, seed %llu: edge %zu of triangle %zu has %llu contacts", n, n,
                             (unsigned long long)seed, i % 3, i / 3,
                             (unsigned long long)(a.offsets[i + 1] - a.offsets[i]));
            contact_answers_free(&a);
            swept_spheres_free(&b);
            scene_free(&s);
        }
    carom_context_destroy(context);
}

#define OF_OBLIQUE(name, i)                                                     \
    {                                                                           \
        "oblique wall: " name, test_oblique, NULL, NULL, (void *)&wall_names[i] \
    }
#define OF_WALL(name, i)                                              \
    {                                                                 \
        "wall: " name, test_walls, NULL, NULL, (void *)&wall_names[i] \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {OF_WALL("two triangles", WALL_TWO),
                                        OF_WALL("grid", WALL_GRID),
                                        OF_WALL("irregular", WALL_IRREGULAR),
                                        OF_WALL("needles", WALL_NEEDLES),
                                        OF_WALL("duplicates", WALL_DUPLICATES),
                                        OF_WALL("T-junctions", WALL_T_JUNCTIONS),
                                        OF_WALL("cracks", WALL_CRACKS),
                                        OF_OBLIQUE("two triangles", WALL_TWO),
                                        OF_OBLIQUE("grid", WALL_GRID),
                                        OF_OBLIQUE("irregular", WALL_IRREGULAR),
                                        OF_OBLIQUE("needles", WALL_NEEDLES),
                                        OF_OBLIQUE("duplicates", WALL_DUPLICATES),
                                        OF_OBLIQUE("T-junctions", WALL_T_JUNCTIONS),
                                        OF_OBLIQUE("cracks", WALL_CRACKS),
                                        cmocka_unit_test(test_every_edge)};
    return cmocka_run_group_tests(on_cpu, NULL, NULL);
}
