/* SPDX-License-Identifier: MIT */
/* Lists of hits and of overlaps in exact mode: equal to the exact reference over all triangles, ties, ends of windows
 * and the order included; and a sphere at rest overlaps exactly what it hits at time 0. */
#include "tests/support/exact_scenes.h"
#include "tests/support/list_oracle.h"

#include <math.h>

enum { SEED = 131 };

static const list_request all_hits = {CAROM_ACCURACY_EXACT, 0, CAROM_HITS_ALL};
static const list_request overlaps = {CAROM_ACCURACY_EXACT, 1, CAROM_HITS_ALL};

/* ---- against the reference --------------------------------------------------------------------------------------- */

static hit_list judge_request(carom_mesh *mesh, const scene *s, const swept_spheres *b, const list_request *q,
                              const char *name)
{
    hit_list l = list_whole(mesh, q, b, 0, b->count);
    uint8_t *any = any_of(mesh, q, b, 0, b->count);
    for (size_t i = 0; i < b->count; i++)
        (q->overlaps ? list_judge_overlaps : list_judge_hits)(s, b, i, &l, any, name);
    free(any);
    return l;
}

/* Windows that end at one of a sphere's hits, one float before it and one after it. */
static void judge_windows(carom_mesh *mesh, const scene *s, swept_spheres *b, const hit_list *open, const char *name)
{
    for (int by = -1; by <= 1; by++) {
        for (size_t i = 0; i < b->count; i++) {
            const size_t from = (size_t)list_offset(open, i), count = (size_t)list_offset(open, i + 1) - from;
            const float t = count > 0 ? hit_float(&open->hits, HIT_T, from + i % count) : 1.0f;
            b->column[SPHERE_T_MAX][i] = by < 0 ? nextafterf(t, 0.0f) : by > 0 ? nextafterf(t, HUGE_VALF) : t;
        }
        hit_list l = judge_request(mesh, s, b, &all_hits, name);
        list_free(&l);
    }
}

/* Takes scene and spheres. */
static void check_scene(carom_context *context, scene s, swept_spheres b, int windows, const char *name)
{
    carom_mesh *mesh = scene_mesh(context, &s);
    hit_list moving = judge_request(mesh, &s, &b, &all_hits, name);
    hit_list rest = judge_request(mesh, &s, &b, &overlaps, name);
    print_message("%-24s %5zu triangles, %4zu spheres, %6llu hits, %6llu overlaps, %5.1f %% in integers\n", name,
                  s.triangle_count, b.count, (unsigned long long)moving.total, (unsigned long long)rest.total,
                  100.0 * (double)moving.by_integers / (double)b.count);
    test_share("hits of a scene", moving.total, b.count, 0.1, HUGE_VAL);
    if (windows)
        judge_windows(mesh, &s, &b, &moving, name);
    list_free(&moving);
    list_free(&rest);
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
}

static void test_reference(void **state)
{
    static const size_t sizes[] = {1, 2, 100, 1000}, spheres[] = {200, 200, 150, 60};
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < COUNT_OF(sizes); n++) {
        scene s = k->make(sizes[n]);
        swept_spheres b = swept_spheres_aimed(SEED + n, &s, 1.0, test_effort(spheres[n]));
        check_scene(context, s, b, sizes[n] <= 100, k->name);
    }
    check_scene(context, k->make(300), swept_spheres_mixed(SEED + 5, test_effort(200)), 0, k->name);
    carom_context_destroy(context);
}

static void test_places(void **state)
{
    static const struct {
        const char *name;
        int exponent;
        float offset;
    } places[] = {
        {"small", -20, 0.0f}, {"far", 0, 1e4f}, {"large far", 20, 1e4f}, {"1e36", 120, 0.0f}, {"1e-38", -125, 0.0f}};
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    for (size_t p = 0; p < COUNT_OF(places); p++) {
        scene s = k->make(60);
        char name[64];
        scene_place(&s, places[p].exponent, places[p].offset);
        swept_spheres b =
            swept_spheres_aimed(SEED + 10 + p, &s, ref_power_of_two(places[p].exponent), test_effort(100));
        snprintf(name, sizeof name, "%s, %s", k->name, places[p].name);
        check_scene(context, s, b, 1, name);
    }
    carom_context_destroy(context);
}

/* Speeds at both ends of binary32: times that are infinite, denormal or zero, and ties among them. */
static void test_extreme_times(void **state)
{
    static const int exponents[] = {-148, -130, 100, 126};
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    for (size_t e = 0; e < COUNT_OF(exponents); e++) {
        scene s = k->make(60);
        char name[64];
        swept_spheres b = swept_spheres_aimed(SEED + 30, &s, 1.0, test_effort(80));
        swept_spheres_speed_up(&b, exponents[e]);
        snprintf(name, sizeof name, "%s, speed 2^%d", k->name, exponents[e]);
        check_scene(context, s, b, 1, name);
    }
    carom_context_destroy(context);
}

/* ---- at rest ----------------------------------------------------------------------------------------------------- */

/* What a sphere overlaps is what it hits when it does not move: touching or overlapping, at 0. */
static void test_rest_is_time_zero(void **state)
{
    const mesh_kind *k = *state;
    carom_context *context = test_context();
    scene s = k->make(400);
    swept_spheres b = swept_spheres_aimed(SEED + 40, &s, 1.0, test_effort(1500));
    carom_mesh *mesh = scene_mesh(context, &s);
    for (size_t i = 0; i < b.count; i++)
        for (int c = 4; c < 7; c++)
            b.column[c][i] = 0.0f;
    hit_list rest = list_whole(mesh, &overlaps, &b, 0, b.count);
    for (int window = 0; window < 2; window++) {
        for (size_t i = 0; i < b.count; i++)
            b.column[SPHERE_T_MAX][i] = window ? 0.0f : HUGE_VALF;
        hit_list moved = list_whole(mesh, &all_hits, &b, 0, b.count);
        list_compare(&b, &rest, &moved, LIST_OVERLAPS, "spheres that do not move");
        for (size_t h = 0; h < moved.stored; h++) {
            const int how = hit_state(&moved.hits, h);
            assert_true(how == CAROM_TOUCHING || how == CAROM_OVERLAPPING);
            assert_int_equal(bits_of_float(hit_float(&moved.hits, HIT_T, h)), 0);
        }
        list_free(&moved);
    }
    test_share("overlaps", rest.total, b.count, 0.25, HUGE_VAL);
    list_free(&rest);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

/* Each of these for every kind of mesh. */
#define ON_KIND(name, i)                                                                                     \
    {name ": lists equal the reference", test_reference, NULL, NULL, (void *)&kinds[i]},                     \
        {name ": sizes and offsets", test_places, NULL, NULL, (void *)&kinds[i]},                            \
        {name ": extreme times", test_extreme_times, NULL, NULL, (void *)&kinds[i]},                         \
    {                                                                                                        \
        name ": what overlaps is what is hit at rest", test_rest_is_time_zero, NULL, NULL, (void *)&kinds[i] \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {ON_KIND("soup", 0),  ON_KIND("sphere", 1),  ON_KIND("torus", 2),
                                        ON_KIND("floor", 3), ON_KIND("lattice", 4), ON_KIND("needles", 5)};
    const struct CMUnitTest on_device[] = {ON_KIND("floor", 3), ON_KIND("lattice", 4)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
