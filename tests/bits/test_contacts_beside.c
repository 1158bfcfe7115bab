/* SPDX-License-Identifier: MIT */
/* Spheres whose feet are beside edges and corners, where distances of features tie in binary32: fast mode has the
 * contacts of exact mode. */
#include "tests/support/contact_answers.h"
#include "tests/support/walls.h"

#include <math.h>

enum { SEED = 223, SQUARES = 12 };

/* A surface whose profile in x and z repeats after four corners, and goes on from there. */
typedef struct profile {
    const char *name;
    float run[4], rise[4]; /* x and z of each corner */
    float bumps;           /* random heights on top, up to this */
} profile;

static const profile profiles[] = {{"terrain", {0, 1, 2, 3}, {0, 0, 0, 0}, 1},
                                   {"steps", {0, 1, 2, 2}, {0, 0, 0, 1}, 0},
                                   {"gutter", {0, 1, 2, 3}, {0, 0, 0.75f, 0.75f}, 0},
                                   {"slope", {0, 1, 2, 3}, {0, 0.5f, 1, 1.5f}, 0},
                                   {"hollows", {0, 1, 2, 3}, {0, -0.25f, 0, -0.25f}, 0.125f}};

static scene surface_of(const profile *p, uint64_t seed)
{
    enum { N = SQUARES + 1 };
    scene s = scene_alloc(N * N, 2 * (N - 1) * (N - 1));
    ref_gen g;
    ref_gen_seed(&g, 224, seed, 0);
    for (uint32_t v = 0; v < N * N; v++) {
        const uint32_t i = v % N, turn = i / 4;
        s.vertices[3 * v] = p->run[i % 4] + (float)turn * (p->run[3] + p->run[1]);
        s.vertices[3 * v + 1] = (float)(v / N);
        s.vertices[3 * v + 2] = p->rise[i % 4] + (float)turn * (2 * p->rise[3] - p->rise[2]) +
                                p->bumps * (float)ref_gen_range(&g, 0.0, 1.0);
    }
    uint32_t *to = s.indices;
    for (uint32_t v = 0; v + N + 1 < N * N; v++) {
        const uint32_t corners[6] = {v, v + 1, v + N + 1, v, v + N + 1, v + N};
        if (v % N + 1 == N)
            continue;
        memcpy(to, corners, sizeof corners);
        to += 6;
    }
    return s;
}

/* Over or under a random triangle; the foot is 2^-16 to 2^-8 edges beside an edge, and of every other one beside a
 * corner too. */
static swept_spheres spheres_beside(const scene *s, uint64_t seed, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        float p[3][3];
        double u[3], v[3], n[3], length = 0;
        ref_gen_seed(&g, 225, seed, i);
        scene_triangle(s, (size_t)ref_gen_int(&g, 0, (int)s->triangle_count - 1), p);
        for (int a = 0; a < 3; a++) {
            u[a] = (double)p[1][a] - (double)p[0][a];
            v[a] = (double)p[2][a] - (double)p[0][a];
        }
        for (int a = 0; a < 3; a++) {
            n[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
            length += n[a] * n[a];
        }
        const double beside = ref_gen_range(&g, 1.0, 2.0) * ref_power_of_two(ref_gen_int(&g, -16, -9));
        const double along = i % 2 ? ref_gen_range(&g, 0.1, 0.9) : ref_gen_range(&g, 0.25, 2.0) * beside;
        const double height = ref_gen_range(&g, 0.25, 1.0) * (ref_gen_chance(&g, 2) ? 1 : -1);
        const int k = ref_gen_int(&g, 0, 2);
        for (int a = 0; a < 3; a++)
            b.column[a][i] =
                (float)((double)p[k][a] + along * ((double)p[(k + 1) % 3][a] - (double)p[k][a]) +
                        beside * ((double)p[(k + 2) % 3][a] - (double)p[k][a]) + height * n[a] / sqrt(length));
        b.column[SPHERE_RADIUS][i] = (float)(fabs(height) * ref_gen_range(&g, 1.02, 1.5));
    }
    return b;
}

/* The next contact of the list that is clearly within the radius. */
static size_t next_clear(const contact_answers *a, size_t k, size_t end, float radius)
{
    while (k < end && a->distance[k] > 0.9999f * radius)
        k++;
    return k;
}

static int lower_first(const void *x, const void *y)
{
    const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

enum { MOST = 64 };
static int clear_triangles(const contact_answers *a, size_t i, float radius, int32_t triangles[MOST])
{
    const size_t end = (size_t)a->offsets[i + 1];
    int count = 0;
    for (size_t k = next_clear(a, (size_t)a->offsets[i], end, radius); k < end; k = next_clear(a, k + 1, end, radius)) {
        assert_in_range(count, 0, MOST - 1);
        triangles[count++] = 8 * a->triangle[k] + a->feature[k];
    }
    qsort(triangles, (size_t)count, sizeof *triangles, lower_first);
    return count;
}

static void check_same(const swept_spheres *b, const contact_answers *fast, const contact_answers *exact,
                       const char *name)
{
    size_t differing = 0;
    for (size_t i = 0; i < b->count; i++) {
        int32_t got[MOST], expected[MOST];
        const float radius = b->column[SPHERE_RADIUS][i];
        const int n = clear_triangles(fast, i, radius, got), m = clear_triangles(exact, i, radius, expected);
        const int same = n == m && memcmp(got, expected, (size_t)n * sizeof *got) == 0;
        if (!same && differing++ == 0) {
            print_error("%s: sphere %zu at %a %a %a, radius %a:\n", name, i, (double)b->column[0][i],
                        (double)b->column[1][i], (double)b->column[2][i], (double)radius);
            for (int k = 0; k < n; k++)
                print_error("  fast: triangle %d, feature %d\n", got[k] / 8, got[k] % 8);
            for (int k = 0; k < m; k++)
                print_error("  exact: triangle %d, feature %d\n", expected[k] / 8, expected[k] % 8);
        }
    }
    if (differing > 0)
        fail_msg("%s: %zu of %zu spheres have other contacts in fast mode", name, differing, b->count);
}

static void check_scene(carom_context *context, const scene *s, const swept_spheres *b, const char *name)
{
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    contact_answers fast = ask_scene_contacts(context, s, b, &(contact_call){.accuracy = CAROM_ACCURACY_FAST});
    contact_answers exact = ask_scene_contacts(context, s, b, &(contact_call){.accuracy = CAROM_ACCURACY_EXACT});
    contact_answers same = ask_scene_contacts(scalar, s, b, &(contact_call){.accuracy = CAROM_ACCURACY_FAST});
    check_same(b, &fast, &exact, name);
    contact_answers_compare(b, &same, &fast, name);
    contact_answers_free(&fast);
    contact_answers_free(&exact);
    contact_answers_free(&same);
    carom_context_destroy(scalar);
}

static void test_beside(void **state)
{
    const profile *p = *state;
    carom_context *context = test_context();
    for (uint64_t seed = 0; seed < 3; seed++) {
        scene s = surface_of(p, seed);
        swept_spheres b = spheres_beside(&s, SEED + seed, test_effort(6000));
        check_scene(context, &s, &b, p->name);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* The least distance that a contact has, as radius: a contact is within it, whichever triangle has it. */
static void test_limit(void **state)
{
    const profile *p = *state;
    carom_context *context = test_context();
    const contact_call call = {.accuracy = CAROM_ACCURACY_FAST};
    scene s = surface_of(p, 0);
    swept_spheres b = spheres_beside(&s, SEED + 9, test_effort(4000));
    contact_answers a = ask_scene_contacts(context, &s, &b, &call);
    for (size_t i = 0; i < b.count; i++)
        b.column[SPHERE_RADIUS][i] = a.distance[a.offsets[i]];
    contact_answers least = ask_scene_contacts(context, &s, &b, &call);
    for (size_t i = 0; i < b.count; i++)
        assert_true(least.offsets[i + 1] > least.offsets[i]);
    contact_answers_free(&a);
    contact_answers_free(&least);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* A power of two as unit of length changes no contact. */
static void test_scaled(void **state)
{
    static const int exponents[] = {-90, -40, 60, 120};
    const profile *p = *state;
    carom_context *context = test_context();
    const contact_call call = {.accuracy = CAROM_ACCURACY_FAST};
    scene s = surface_of(p, 0);
    swept_spheres b = spheres_beside(&s, SEED, test_effort(1000));
    contact_answers expected = ask_scene_contacts(context, &s, &b, &call);
    for (size_t k = 0; k < COUNT_OF(exponents); k++) {
        const float power = (float)ref_power_of_two(exponents[k]);
        scene large = scene_copy(&s);
        swept_spheres balls = spheres_beside(&s, SEED, b.count);
        scene_scale(&large, exponents[k]);
        swept_spheres_scale(&balls, exponents[k], 0);
        contact_answers got = ask_scene_contacts(context, &large, &balls, &call);
        for (size_t i = 0; i < got.count; i++) {
            got.distance[i] /= power;
            got.depth[i] /= power;
            for (size_t a = 0; a < 3; a++)
                got.point[3 * i + a] /= power;
        }
        contact_answers_compare(&b, &expected, &got, p->name);
        contact_answers_free(&got);
        swept_spheres_free(&balls);
        scene_free(&large);
    }
    contact_answers_free(&expected);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

#define OF_PROFILE(name, f, i)                    \
    {                                             \
        name, f, NULL, NULL, (void *)&profiles[i] \
    }
#define OF_EACH_PROFILE(name, f)                                                                             \
    OF_PROFILE("terrain: " name, f, 0), OF_PROFILE("steps: " name, f, 1), OF_PROFILE("gutter: " name, f, 2), \
        OF_PROFILE("slope: " name, f, 3), OF_PROFILE("hollows: " name, f, 4)

int main(void)
{
    const struct CMUnitTest on_cpu[] = {OF_EACH_PROFILE("beside edges and corners", test_beside),
                                        OF_EACH_PROFILE("at the limit", test_limit),
                                        OF_EACH_PROFILE("scaled", test_scaled)};
    return cmocka_run_group_tests(on_cpu, NULL, NULL);
}
