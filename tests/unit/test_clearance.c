/* SPDX-License-Identifier: MIT */
/* Empty-space skipping with the clearance grid of a mesh. A sphere that the grid culls comes near no triangle's box, by
 * an oracle in binary64 over all triangles, also for spheres at the limit of being culled. Answers are the same without
 * a grid. This test reads the mesh's private fields, because answers do not show which queries were culled. */
#include "tests/support/exact_scenes.h"
#include "tests/support/lists.h"
#include "tests/support/worlds.h"

#include <math.h>

#include "host/mesh/clearance.h"

enum { SEED = 131, TRIANGLES = 3000, SPHERE_COUNT = 1500 };

static carom_context *cpu(void)
{
    return test_cpu(CAROM_ISA_AUTO, 1);
}

/* Runs so many queries that the mesh builds its clearance grid. */
static void make_known(carom_mesh *mesh)
{
    enum { ENOUGH = 4096 };
    static uint8_t any[ENOUGH];
    static const float point[4] = {0};
    const carom_mesh_overlap_desc d = {.batch.size = sizeof d,
                                       .batch.count = ENOUGH,
                                       .center = carom_repeat(point),
                                       .radius = {point + 3, CAROM_REPEAT}};
    carom_error err = {0};
    for (int i = 0; i < 64 && !mesh->clearance_known; i++)
        test_ok("carom_mesh_overlap_any", carom_mesh_overlap_any(mesh, &d, TEST_ANY(any), NULL, &err), &err);
    assert_true(mesh->clearance_known);
}

/* Replaces the grid by a single occupied cube, so that no query is culled. */
static void hide(carom_mesh *mesh)
{
    memset(mesh->clearance, 0, sizeof *mesh->clearance + 1);
    for (int k = 0; k < 3; k++)
        mesh->clearance->size[k] = 1;
    mesh->clearance_known = 1;
}

/* ---- culled queries ---------------------------------------------------------------------------------------------- */

typedef struct sphere {
    float in[SPHERE_COLUMNS];
} sphere;

static int is_clear(const carom_mesh *mesh, const sphere *s)
{
    const float *in = s->in;
    return clearance_is_free(mesh->clearance, v3_of(in[0], in[1], in[2]), in[3], v3_of(in[4], in[5], in[6]), in[7], 0);
}

/* Not fmax: GCC 12 for aarch64 crashes when it vectorises loops with fmax. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* 1 if the cube around the moving sphere, enlarged by `more`, meets the box of a triangle; relative errors are at most
 * 2^-50. */
static int meets_box(const sphere *s, float p[3][3], double more)
{
    double enter = 0, leave = (double)s->in[SPHERE_T_MAX];
    for (int k = 0; k < 3; k++) {
        const double a = (double)p[0][k], b = (double)p[1][k], c = (double)p[2][k], v = (double)s->in[4 + k];
        const double reach = (double)s->in[SPHERE_RADIUS] + more, center = (double)s->in[k];
        const double low = smaller(a, smaller(b, c)) - reach - center, high = larger(a, larger(b, c)) + reach - center;
        if (v == 0) {
            if (low > 0 || high < 0)
                return 0;
            continue;
        }
        enter = larger(enter, (v > 0 ? low : high) / v);
        leave = smaller(leave, (v > 0 ? high : low) / v);
    }
    return enter <= leave;
}

static double largest_of(const sphere *s, double size)
{
    for (int k = 0; k < 4; k++)
        size = larger(size, fabs((double)s->in[k]));
    return size;
}

static void expect_nothing(const scene *mesh, const sphere *s, double size, const char *name)
{
    const double more = 0x1p-19 * largest_of(s, size); /* the inflation of box tests, docs/numerics.md */
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        float p[3][3];
        scene_triangle(mesh, i, p);
        if (meets_box(s, p, more))
            fail_msg(
                "%s: centre %a %a %a radius %a velocity %a %a %a t_max %a is spared, but meets the box of triangle %zu",
                name, (double)s->in[0], (double)s->in[1], (double)s->in[2], (double)s->in[3], (double)s->in[4],
                (double)s->in[5], (double)s->in[6], (double)s->in[7], i);
    }
}

/* ---- spheres at their limits ------------------------------------------------------------------------------------- */

/* A random sphere around the mesh and beyond. Motions are short or long, along an axis or in any direction; radii go
 * from 0 to a third of the mesh. */
static sphere random_sphere(uint64_t i, const float lower[3], const float upper[3], double size)
{
    ref_gen g;
    sphere s;
    double direction[3];
    ref_gen_seed(&g, 17, SEED, i);
    const double radius = size * ref_power_of_two(-ref_gen_int(&g, 2, 30));
    const double way = size * ref_power_of_two(1 - ref_gen_int(&g, 0, 24)),
                 times = ref_power_of_two(ref_gen_int(&g, -9, 9));
    const int axis = ref_gen_int(&g, 0, 5);
    ref_gen_direction(&g, direction);
    for (int k = 0; k < 3; k++) {
        const double length = fmax((double)upper[k] - (double)lower[k], 0.01 * size);
        s.in[k] = (float)((double)lower[k] + ref_gen_range(&g, -0.1, 1.1) * length);
        const double part = axis >= 3 ? direction[k] : axis == k ? 1.0 : 0.0;
        s.in[4 + k] = (float)(part * way * times);
    }
    s.in[SPHERE_RADIUS] = ref_gen_chance(&g, 8) ? 0 : (float)radius;
    s.in[SPHERE_T_MAX] = (float)(1.0 / times);
    if (ref_gen_chance(&g, 8))
        s.in[4] = s.in[5] = s.in[6] = 0;
    return s;
}

/* Raises one positive number of the sphere to the largest value with which the sphere is still culled. */
static void bring_to_limit(const carom_mesh *mesh, sphere *s, int number)
{
    uint32_t low = bits_of_float(s->in[number]), high = 0x7f000000;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        sphere tried = *s;
        tried.in[number] = float_of_bits(middle);
        if (is_clear(mesh, &tried)) {
            *s = tried;
            low = middle;
        } else {
            high = middle;
        }
    }
}

/* 1 if the sphere starts inside the mesh's box. Only these are counted, because outside of it culling is easy. */
static int is_inside(const carom_mesh *mesh, const sphere *s)
{
    int inside = 1;
    for (int k = 0; k < 3; k++)
        inside &= s->in[k] >= mesh->info.lower[k] && s->in[k] <= mesh->info.upper[k];
    return inside;
}

/* Spheres that the grid of `mesh`, which has the triangles of `s`, culls. */
static void check_grid(carom_mesh *mesh, const scene *s, double size, const char *name, size_t *spared)
{
    const size_t count = test_effort(SPHERE_COUNT);
    make_known(mesh);
    for (size_t i = 0; i < count; i++) {
        sphere one = random_sphere(i, mesh->info.lower, mesh->info.upper, size);
        if (!is_clear(mesh, &one))
            continue;
        expect_nothing(s, &one, size, name);
        const int moves = one.in[4] != 0 || one.in[5] != 0 || one.in[6] != 0;
        bring_to_limit(mesh, &one, moves && i % 2 == 0 ? SPHERE_T_MAX : SPHERE_RADIUS);
        expect_nothing(s, &one, size, name);
        *spared += is_inside(mesh, &one);
    }
}

static void check_scene(const scene *s, double size, const char *name, size_t *spared)
{
    carom_context *context = cpu();
    carom_mesh *mesh = scene_mesh(context, s);
    check_grid(mesh, s, size, name, spared);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void test_nothing_is_missed(void **state)
{
    static const struct {
        int exponent;
        float offset;
    } places[] = {{0, 0}, {100, 0}, {-100, 0}, {0, 30}, {-3, -1000}, {126, 0}, {-126, 0}};
    size_t most = 0;
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t spared = 0;
        for (size_t place = 0; place < COUNT_OF(places); place++) {
            scene s = kinds[kind].make(TRIANGLES);
            scene_place(&s, places[place].exponent, places[place].offset);
            check_scene(&s, ref_power_of_two(places[place].exponent), kinds[kind].name, &spared);
            scene_free(&s);
        }
        printf("%-8s %zu of %zu spheres begin in its box and need no search\n", kinds[kind].name, spared,
               COUNT_OF(places) * test_effort(SPHERE_COUNT));
        most = spared > most ? spared : most;
    }
    test_share("spheres without a search", most, COUNT_OF(places) * test_effort(SPHERE_COUNT), 0.05, 1.0);
}

/* A scene has the grid of its instances, until they are placed anew. */
static void test_instances(void **state)
{
    carom_context *context = cpu();
    size_t spared = 0;
    (void)state;
    for (size_t places = 0; places < 3; places++) {
        world w = world_make(SEED + places, 8, 3, 0);
        for (size_t i = 0; i < w.instances; i++) /* no map that is 40 times as large as the others */
            world_set_map(SEED + places, i % 6, 3, w.map[i]);
        scene all = world_merge(&w);
        carom_scene *made = world_scene(context, &w);
        carom_mesh *mesh = carom_scene_mesh(made);
        const carom_scene_pose pose = world_pose(&w);
        carom_error err = {0};
        check_grid(mesh, &all, 4, "instances", &spared);
        for (size_t i = 0; i < w.instances; i++)
            w.map[i][3] += 2;
        test_ok("carom_scene_update", carom_scene_update(made, &pose, &err), &err);
        assert_false(mesh->clearance_known);
        scene moved = world_merge(&w);
        check_grid(mesh, &moved, 6, "moved instances", &spared);
        carom_scene_destroy(made);
        scene_free(&all);
        scene_free(&moved);
        world_free(&w);
    }
    carom_context_destroy(context);
    test_share("spheres without a search", spared, 6 * test_effort(SPHERE_COUNT), 0.05, 1.0);
}

/* Queries that are not finite, or too large for box tests, are never culled. */
static void test_extreme_numbers(void **state)
{
    static const float not_finite[] = {NAN, INFINITY, -INFINITY};
    const sphere away = {{100, 100, 100, 1, 1, 2, 3, 1}};
    carom_context *context = cpu();
    scene s = scene_sphere(8);
    carom_mesh *mesh = scene_mesh(context, &s);
    (void)state;
    make_known(mesh);
    assert_true(is_clear(mesh, &away));
    for (int c = 0; c < SPHERE_T_MAX; c++)
        for (size_t i = 0; i < COUNT_OF(not_finite); i++) {
            sphere one = away;
            one.in[c] = not_finite[i];
            assert_false(is_clear(mesh, &one));
        }
    sphere one = away;
    one.in[SPHERE_T_MAX] = INFINITY; /* it may reach the mesh */
    assert_false(is_clear(mesh, &one));
    one.in[4] = one.in[5] = one.in[6] = 0; /* it is at rest */
    assert_true(is_clear(mesh, &one));
    one.in[SPHERE_RADIUS] = -1;
    assert_false(is_clear(mesh, &one));
    one.in[SPHERE_RADIUS] = 1;
    one.in[0] = 0x1p70f; /* too large for box tests */
    assert_false(is_clear(mesh, &one));
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
}

/* ---- the same answers -------------------------------------------------------------------------------------------- */

static void compare_first(carom_mesh *without, carom_mesh *with, const swept_spheres *b, const char *label)
{
    hits before = hits_alloc(b->count, 0x5a), h = hits_alloc(b->count, 0xa5);
    sweep_first(without, b, &before);
    sweep_first(with, b, &h);
    hits_compare(b, &before, &h, b->count, -1, label);
    hits_free(&before);
    hits_free(&h);
}

/* Most spheres are far from the mesh, some next to it, one in 16 invalid. */
static swept_spheres scattered(size_t count)
{
    swept_spheres b = swept_spheres_mixed(SEED, count);
    ref_gen g;
    ref_gen_seed(&g, 18, SEED, 0);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < 3 && i % 4 != 0; c++) {
            b.column[c][i] = (float)ref_gen_range(&g, -1.2, 1.2);
            b.column[4 + c][i] = (float)ref_gen_range(&g, -0.1, 0.1);
            b.column[SPHERE_RADIUS][i] = 0.01f;
            b.column[SPHERE_T_MAX][i] = i % 3 == 0 ? INFINITY : 1;
        }
    for (size_t i = 0; i < count; i += 16)
        b.column[i % 7][i] = NAN;
    return b;
}

/* A small mesh, and one so large that batches are sorted. Batches have several blocks, one block or one query. */
static void test_same_answers(void **state)
{
    static const int sides[] = {12, 120};
    static const size_t counts[] = {3000, 200, 1};
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        scene s = scene_sphere(sides[i]);
        carom_mesh *without = scene_mesh(context, &s), *with = scene_mesh(context, &s);
        hide(without);
        if (!test_on_device())
            make_known(with);
        for (size_t k = 0; k < COUNT_OF(counts); k++) {
            swept_spheres b = scattered(counts[k]);
            b.mask = random_masks(SEED, counts[k]);
            compare_first(without, with, &b, "first hits");
            list_compare_meshes(without, with, &b, "lists");
            swept_spheres_free(&b);
        }
        carom_mesh_destroy(with);
        carom_mesh_destroy(without);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Clearance costs time that only large batches win back. */
static void test_small_batches_find_no_clearance(void **state)
{
    carom_context *context = cpu();
    scene s = scene_sphere(8);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres few = scattered(CAROMI_CLEARANCE_LEAST - 1), enough = scattered(CAROMI_CLEARANCE_LEAST);
    hits h = hits_alloc(enough.count, 0);
    (void)state;
    for (int i = 0; i < 100; i++)
        sweep_first(mesh, &few, &h);
    assert_false(mesh->clearance_known);
    for (int i = 0; i < 100; i++)
        sweep_first(mesh, &enough, &h);
    assert_true(mesh->clearance_known);
    hits_free(&h);
    swept_spheres_free(&enough);
    swept_spheres_free(&few);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
}

/* An update discards the clearance grid of the old shape. */
static void test_moved(void **state)
{
    carom_context *context = test_context();
    scene large = scene_sphere(12), small = scene_sphere(12);
    carom_error err = {0};
    swept_spheres b = scattered(2000);
    (void)state;
    scene_scale(&small, -1);
    const carom_mesh_desc to[2] = {scene_desc(&large), scene_desc(&small)};
    carom_mesh *moves = scene_mesh(context, &small),
               *fresh[2] = {scene_mesh(context, &large), scene_mesh(context, &small)};
    for (int how = CAROM_MESH_REFIT; how <= CAROM_MESH_REBUILD; how++)
        for (int i = 0; i < 2; i++) {
            compare_first(fresh[!i], moves, &b, "before it moves");
            test_ok("carom_mesh_update", carom_mesh_update(moves, &to[i].vertices, (carom_mesh_follow)how, &err), &err);
            compare_first(fresh[i], moves, &b, "a mesh that has moved");
        }
    carom_mesh_destroy(fresh[0]);
    carom_mesh_destroy(fresh[1]);
    carom_mesh_destroy(moves);
    swept_spheres_free(&b);
    scene_free(&large);
    scene_free(&small);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_missed),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_extreme_numbers),
        cmocka_unit_test(test_same_answers),
        cmocka_unit_test(test_small_batches_find_no_clearance),
        cmocka_unit_test(test_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
