/* SPDX-License-Identifier: MIT */
/* First hits on a mesh: against the exact reference triangle by triangle, against meshes of two triangles, and against
 * the rule that makes it one answer: the smallest (time, triangle index), whatever the order of anything. */
#include "tests/support/scenes.h"

#include <float.h>
#include <math.h>

/* As for pairs: within this share of the largest coordinate a decision may go either way. */
#define MARGIN 5e-7
/* Relative room for the rounding of a time. */
#define TIME 0x1p-21
enum { SEED = 41 };

/* ---- against the reference --------------------------------------------------------------------------------------- */

static void wrong(const swept_spheres *b, const hits *h, size_t i, const char *what)
{
    hits_print(b, h, i, "answer");
    fail_msg("sphere %zu: %s", i, what);
}

static int is_start(int state)
{
    return state == CAROM_TOUCHING || state == CAROM_OVERLAPPING;
}

/* First contact for a radius moved by `by`, at 0 for a start in contact; +inf for none. */
static double true_time(ref_sweep_case c, double by)
{
    ref_sweep_answer exact;
    if (c.radius + by < 0.0)
        return HUGE_VAL;
    c.radius += by;
    ref_sweep(&c, &exact);
    return exact.state == REF_APPROACHING                                  ? exact.t_first_near
           : exact.state == REF_TOUCHING || exact.state == REF_OVERLAPPING ? 0.0
                                                                           : HUGE_VAL;
}

/* A hit that is none, or later than a surely earlier one. */
static void judge_times(const scene *s, const swept_spheres *b, const hits *h, size_t i)
{
    double t = (double)hit_float(h, HIT_T, i), t_max = (double)b->column[SPHERE_T_MAX][i];
    int32_t hit = hit_triangle(h, i);
    for (size_t k = 0; k < s->triangle_count; k++) {
        ref_sweep_case c;
        swept_spheres_case(b, i, s, k, &c);
        double margin = MARGIN * queries_scale(&c), late = true_time(c, -margin);
        if (late <= t_max * (1.0 - TIME) && late * (1.0 + TIME) + (double)FLT_MIN < t) {
            print_error("triangle %zu is surely hit at %a\n", k, late);
            wrong(b, h, i, "an earlier hit was lost");
        }
        if ((int32_t)k == hit && true_time(c, margin) * (1.0 - TIME) > t + (double)FLT_MIN)
            wrong(b, h, i, "the triangle is not hit then");
    }
}

static void judge_none(const swept_spheres *b, const hits *h, size_t i, int state)
{
    int clear = hit_state(h, i) == state && hit_triangle(h, i) == -1 && isinf(hit_float(h, HIT_T, i)) &&
                hit_float(h, HIT_T, i) > 0.0f && h->field[HIT_FEATURE].data[i] == CAROM_FEATURE_NONE;
    for (int f = HIT_X; f <= HIT_NZ; f++)
        clear = clear && bits_of_float(hit_float(h, f, i)) == 0;
    if (!clear)
        wrong(b, h, i, state == CAROM_INVALID ? "not answered as invalid" : "not answered as a miss");
}

/* The normal is a unit vector, and the centre lies at the radius along it from the contact point. */
static void judge_contact(const scene *s, const swept_spheres *b, const hits *h, size_t i)
{
    int start = is_start(hit_state(h, i));
    double t = (double)hit_float(h, HIT_T, i), length2 = 0.0, radius, off = 0.0, away = 0.0, distance2 = 0.0;
    ref_sweep_case c;
    swept_spheres_case(b, i, s, (size_t)hit_triangle(h, i), &c);
    double scale = queries_scale(&c);
    radius = c.radius;
    for (int k = 0; k < 3; k++)
        scale = fmax(scale, fabs(t * (double)c.velocity[k]));
    for (int k = 0; k < 3; k++) {
        double n = (double)hit_float(h, HIT_NX + k, i), p = (double)hit_float(h, HIT_X + k, i);
        double at = (double)c.center[k] + t * (double)c.velocity[k];
        length2 += n * n;
        off = fmax(off, fabs(at - (p + radius * n)) / scale);
        away += n * (at - p) / scale;
        distance2 += (at - p) / scale * ((at - p) / scale);
    }
    if (!(fabs(length2 - 1.0) < 1e-5))
        wrong(b, h, i, "the normal is not a unit vector");
    if (!start && radius > 0.01 * scale && !(off < 0x1p-14))
        wrong(b, h, i, "the centre is not at the radius along the normal");
    if (start && distance2 > 1e-6 && !(away > 0.999 * sqrt(distance2)))
        wrong(b, h, i, "the normal does not point at the centre");
}

static void judge(const scene *s, const swept_spheres *b, const hits *h, size_t i)
{
    ref_sweep_case c;
    ref_sweep_answer exact;
    float t = hit_float(h, HIT_T, i);
    int state = hit_state(h, i), valid;
    swept_spheres_case(b, i, s, 0, &c);
    ref_sweep(&c, &exact);
    valid = exact.state != REF_INVALID;
    if (!valid || !hit_is_some(h, i)) {
        judge_none(b, h, i, valid ? CAROM_MISS : CAROM_INVALID);
    } else {
        if (hit_triangle(h, i) >= (int32_t)s->triangle_count)
            wrong(b, h, i, "no such triangle");
        if ((state != CAROM_APPROACHING && !is_start(state)) || is_nan_or_minus_zero(t) || !(t >= 0.0f) ||
            (is_start(state) && t > 0.0f) || t > b->column[SPHERE_T_MAX][i])
            wrong(b, h, i, "state and time contradict each other or the window");
        judge_contact(s, b, h, i);
    }
    if (valid)
        judge_times(s, b, h, i);
}

static void check_scene(carom_context *context, scene s, swept_spheres b, const char *name)
{
    hits h = sweep_scene(context, &s, &b);
    size_t some = 0;
    for (size_t i = 0; i < b.count; i++) {
        judge(&s, &b, &h, i);
        some += (size_t)hit_is_some(&h, i);
    }
    print_message("%-20s %zu triangles, %zu spheres, %zu hits\n", name, s.triangle_count, b.count, some);
    test_share("hits of a scene", some, b.count, s.triangle_count == 1 ? 0.0 : 0.1, 1.0);
    hits_free(&h);
    swept_spheres_free(&b);
    scene_free(&s);
}

/* Points, segments and collinear triangles among the others. */
static scene degenerate_soup(size_t triangles)
{
    scene s = scene_soup(SEED + 1, triangles, 0.5);
    for (size_t i = 0; i < triangles; i++) {
        float *p = &s.vertices[9 * i];
        if (i % 4 == 0)
            memcpy(p + 3, p, 3 * sizeof *p);
        if (i % 8 == 0)
            memcpy(p + 6, p, 3 * sizeof *p);
        for (int k = 0; k < 3 && i % 4 == 1; k++)
            p[6 + k] = p[k] + (p[3 + k] - p[k]);
    }
    return s;
}

static void test_reference(void **state)
{
    size_t count = test_effort(400);
    carom_context *context = test_context();
    (void)state;
    check_scene(context, scene_soup(SEED, 150, 0.3), swept_spheres_mixed(SEED, count), "soup");
    check_scene(context, scene_sphere(4), swept_spheres_mixed(SEED + 1, count), "sphere");
    check_scene(context, scene_floor(8), swept_spheres_mixed(SEED + 4, count), "floor");
    check_scene(context, degenerate_soup(150), swept_spheres_mixed(SEED + 2, count), "degenerate");
    check_scene(context, scene_soup(SEED + 2, 1, 1.0), swept_spheres_mixed(SEED + 3, count), "one triangle");
    carom_context_destroy(context);
}

/* 1e37 and 1e-37: near both ends of binary32. */
static void test_extreme_coordinates(void **state)
{
    static const int exponents[] = {122, -123};
    carom_context *context = test_context();
    (void)state;
    for (size_t e = 0; e < COUNT_OF(exponents); e++)
        for (int time = 0; time <= 2; time++) {
            scene s = scene_soup(SEED + 3, 60, 0.4);
            swept_spheres b = swept_spheres_alloc(test_effort(100));
            swept_spheres mixed = swept_spheres_mixed(SEED + 4, 4 * b.count);
            for (size_t i = 0, from = 0; i < b.count; from++) { /* the far ones would leave the range */
                if (from < mixed.count && !(fabsf(mixed.column[0][from]) < 8.0f))
                    continue;
                for (int c = 0; c < SPHERE_T_MAX; c++)
                    b.column[c][i] = mixed.column[c][from % mixed.count];
                i++;
            }
            scene_scale(&s, exponents[e]);
            swept_spheres_scale(&b, exponents[e], exponents[e] > 0 ? 20 * time : -20 * time);
            swept_spheres_free(&mixed);
            check_scene(context, s, b, e ? "about 1e-37" : "about 1e37");
        }
    carom_context_destroy(context);
}

/* ---- against meshes of two triangles ----------------------------------------------------------------------------- */

/* The triangle with the largest coordinate: a mesh that holds it has the units of the whole. */
static uint32_t largest_triangle(const scene *s)
{
    float largest = 0.0f;
    uint32_t found = 0;
    for (size_t i = 0; i < 3 * s->triangle_count; i++)
        for (size_t k = 0; k < 3; k++) {
            float value = fabsf(s->vertices[3 * (size_t)s->indices[i] + k]);
            if (value > largest) {
                largest = value;
                found = (uint32_t)(i / 3);
            }
        }
    return found;
}

static void keep_better(hits *best, const hits *h, size_t i, const uint32_t pair[2])
{
    if (!hit_is_some(h, i))
        return;
    int32_t triangle = (int32_t)pair[hit_triangle(h, i)];
    float t = hit_float(h, HIT_T, i), best_t = hit_float(best, HIT_T, i);
    if (hit_is_some(best, i) && !(t < best_t || (t == best_t && triangle < hit_triangle(best, i))))
        return;
    for (int f = 0; f < HIT_FIELDS; f++) {
        size_t size = f == HIT_STATE || f == HIT_FEATURE ? 1 : 4;
        memcpy(best->field[f].data + i * size, h->field[f].data + i * size, size);
    }
    memcpy(best->field[HIT_TRIANGLE].data + i * sizeof triangle, &triangle, sizeof triangle);
}

/* The best over all triangles, each asked in a mesh of two, is the answer of the whole, bit by bit: no tree, no
 * order. */
static void test_triangle_by_triangle(void **state)
{
    scene s = scene_soup(SEED + 5, 80, 0.5);
    swept_spheres b = swept_spheres_mixed(SEED + 5, test_effort(1000));
    carom_context *context = test_context();
    hits whole = sweep_scene(context, &s, &b), best = hits_alloc(0, 0);
    uint32_t anchor = largest_triangle(&s);
    (void)state;
    for (uint32_t k = 0; k < s.triangle_count; k++) {
        const uint32_t pair[2] = {k < anchor ? k : anchor, k < anchor ? anchor : k};
        scene two = scene_reorder(&s, pair, 2);
        hits h = sweep_scene(context, &two, &b);
        if (k == 0) {
            hits_free(&best);
            best = h;
            for (size_t i = 0; i < b.count; i++) {
                int32_t triangle = hit_is_some(&h, i) ? (int32_t)pair[hit_triangle(&h, i)] : -1;
                memcpy(h.field[HIT_TRIANGLE].data + i * sizeof triangle, &triangle, sizeof triangle);
            }
        } else {
            for (size_t i = 0; i < b.count; i++)
                keep_better(&best, &h, i, pair);
            hits_free(&h);
        }
        scene_free(&two);
    }
    hits_compare(&b, &best, &whole, b.count, -1, "the whole mesh");
    hits_free(&best);
    hits_free(&whole);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- ties and order ---------------------------------------------------------------------------------------------- */

/* Every triangle three times: the first of the three is the answer, and nothing else changes. */
static void test_duplicates(void **state)
{
    enum { COUNT = 200 };
    uint32_t order[3 * COUNT];
    carom_context *context = test_context();
    scene s = scene_soup(SEED + 6, COUNT, 0.4);
    swept_spheres b = swept_spheres_mixed(SEED + 6, test_effort(2000));
    (void)state;
    for (uint32_t i = 0; i < 3 * COUNT; i++)
        order[i] = i % COUNT;
    scene thrice = scene_reorder(&s, order, 3 * COUNT);
    hits once = sweep_scene(context, &s, &b), h = sweep_scene(context, &thrice, &b);
    hits_compare(&b, &once, &h, b.count, -1, "with duplicates behind");
    hits_free(&once);
    hits_free(&h);
    scene_free(&thrice);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

static void test_all_identical(void **state)
{
    size_t copies = 10000;
    carom_context *context = test_context();
    scene s = scene_soup(SEED + 7, 1, 1.0);
    uint32_t *order = test_alloc(copies, sizeof *order);
    swept_spheres b = swept_spheres_mixed(SEED + 7, test_effort(200));
    (void)state;
    scene many = scene_reorder(&s, order, copies);
    hits one = sweep_scene(context, &s, &b), h = sweep_scene(context, &many, &b);
    hits_compare(&b, &one, &h, b.count, -1, "10000 identical triangles");
    hits_free(&one);
    hits_free(&h);
    scene_free(&many);
    scene_free(&s);
    free(order);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

/* In another order the same times, and among those that tie the first in that order. */
static void test_permutation(void **state)
{
    carom_context *context = test_context();
    scene s = scene_soup(SEED + 8, 2000, 0.1);
    swept_spheres b = swept_spheres_mixed(SEED + 8, test_effort(3000));
    turned_scene turned = scene_turn(SEED, &s);
    (void)state;
    hits a = sweep_scene(context, &s, &b), h = sweep_scene(context, &turned.s, &b);
    size_t ties = 0;
    hits_compare(&b, &a, &h, b.count, 1 << HIT_T, "triangles in another order");
    for (size_t i = 0; i < b.count; i++) {
        const int32_t before = hit_triangle(&a, i), there = hit_triangle(&h, i);
        if (!turned_agrees(&turned, before, there)) {
            hits_print(&b, &h, i, "in another order");
            wrong(&b, &a, i, "another triangle, and not for a tie");
        }
        ties += there >= 0 && (int32_t)turned.order[there] != before;
    }
    assert_true(ties > 0); /* spheres that start within several triangles */
    test_share("ties", ties, b.count, 0.0, 0.5);
    hits_free(&a);
    hits_free(&h);
    turned_free(&turned);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

/* ---- batches, backends ------------------------------------------------------------------------------------------- */

static void test_split_batches(void **state)
{
    static const size_t pieces[] = {1, 7, 64, 255, 256, 257, 1000};
    carom_context *context = test_context();
    scene s = scene_sphere(8);
    swept_spheres b = swept_spheres_mixed(SEED + 9, 1500);
    carom_mesh *mesh = scene_mesh(context, &s);
    hits whole = hits_alloc(b.count, 0x5a);
    (void)state;
    sweep_first(mesh, &b, &whole);
    for (size_t p = 0; p < COUNT_OF(pieces); p++) {
        size_t limit = pieces[p] == 1 ? 100 : b.count;
        hits h = hits_alloc(b.count, 0xa5);
        for (size_t first = 0; first < limit; first += pieces[p]) {
            size_t count = limit - first < pieces[p] ? limit - first : pieces[p];
            carom_mesh_sweep_desc desc = swept_spheres_desc(&b, first, count);
            carom_mesh_hit_result result = hits_result(&h, first);
            carom_error err = {0};
            test_ok("a piece", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
        }
        hits_compare(&b, &whole, &h, limit, -1, "a batch in pieces");
        hits_free(&h);
    }
    hits_free(&whole);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    scene scenes[] = {scene_soup(SEED + 10, 700, 0.3), scene_sphere(10),        scene_floor(12), degenerate_soup(300),
                      scene_soup(SEED, 5, 1.0),        scene_soup(SEED, 1, 1.0)};
    swept_spheres b = swept_spheres_mixed(SEED + 10, test_effort(4000));
    for (size_t i = 0; i < COUNT_OF(scenes); i++) {
        hits expected = sweep_scene(scalar, &scenes[i], &b), h = sweep_scene(context, &scenes[i], &b);
        hits_compare(&b, &expected, &h, b.count, -1, label);
        hits_free(&expected);
        hits_free(&h);
        scene_free(&scenes[i]);
    }
    swept_spheres_free(&b);
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* A window that ends at the hit holds it; one that ends just before does not, and 0 leaves what holds the start. */
static void test_windows(void **state)
{
    carom_context *context = test_context();
    scene s = scene_sphere(8);
    swept_spheres b = swept_spheres_mixed(SEED + 11, test_effort(2000));
    hits open = sweep_scene(context, &s, &b);
    (void)state;
    for (size_t i = 0; i < b.count; i++)
        b.column[SPHERE_T_MAX][i] = hit_is_some(&open, i) ? hit_float(&open, HIT_T, i) : 1e30f;
    hits exactly = sweep_scene(context, &s, &b);
    hits_compare(&b, &open, &exactly, b.count, -1, "a window that ends at the hit");
    for (size_t i = 0; i < b.count; i++)
        b.column[SPHERE_T_MAX][i] = hit_is_some(&open, i) ? nextafterf(hit_float(&open, HIT_T, i), 0.0f) : 0.0f;
    hits before = sweep_scene(context, &s, &b);
    for (size_t i = 0; i < b.count; i++) {
        int at_start = hit_is_some(&open, i) && hit_float(&open, HIT_T, i) == 0.0f;
        if (hit_is_some(&before, i) != at_start)
            wrong(&b, &before, i, "a hit outside the window, or one lost at its start");
    }
    hits_free(&open);
    hits_free(&exactly);
    hits_free(&before);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static void test_units(void **state)
{
    static const int exponents[][2] = {{1, 0}, {-1, 0}, {0, 3}, {40, 0}, {-40, 0}, {60, -30}, {-60, 30}, {80, 80}};
    carom_context *context = test_context();
    scene s = scene_soup(SEED + 12, 400, 0.3);
    swept_spheres b = swept_spheres_mixed(SEED + 12, test_effort(2000));
    hits expected = sweep_scene(context, &s, &b);
    (void)state;
    for (size_t e = 0; e < COUNT_OF(exponents); e++) {
        int length = exponents[e][0], time = exponents[e][1];
        scene scaled = scene_copy(&s);
        swept_spheres c = swept_spheres_mixed(SEED + 12, b.count);
        scene_scale(&scaled, length);
        swept_spheres_scale(&c, length, time);
        hits h = sweep_scene(context, &scaled, &c);
        for (size_t i = 0; i < b.count; i++)
            for (int f = HIT_T; f <= HIT_Z; f++) {
                float value = ldexpf(hit_float(&h, f, i), f == HIT_T ? -time : -length);
                memcpy(h.field[f].data + i * sizeof value, &value, sizeof value);
            }
        hits_compare(&b, &expected, &h, b.count, -1, "in other units");
        hits_free(&h);
        swept_spheres_free(&c);
        scene_free(&scaled);
    }
    hits_free(&expected);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

#define COMMON                                                                          \
    cmocka_unit_test(test_reference), cmocka_unit_test(test_extreme_coordinates),       \
        cmocka_unit_test(test_triangle_by_triangle), cmocka_unit_test(test_duplicates), \
        cmocka_unit_test(test_all_identical), cmocka_unit_test(test_permutation),       \
        cmocka_unit_test(test_split_batches), cmocka_unit_test(test_windows), cmocka_unit_test(test_units)

int main(void)
{
    const struct CMUnitTest on_cpu[] = {COMMON, SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {COMMON, SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
