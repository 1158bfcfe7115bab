/* SPDX-License-Identifier: MIT */
/* A scene answers as the mesh that has all its triangles in the world, bit for bit: every call, both modes, masks,
 * options, every instruction set and number of threads. That mesh is computed here, by the definition. */
#include <math.h>

#include "tests/support/world_answers.h"

enum { SEED = 131 };

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static swept_spheres make_spheres(uint64_t seed, size_t count, int options)
{
    swept_spheres b = swept_spheres_mixed(seed, test_effort(count));
    if (options == 1)
        b.cull_back = 1;
    if (options == 2)
        b.start = CAROM_START_SKIP;
    if (options == 3)
        swept_spheres_end(&b);
    if (options % 2 == 1)
        b.mask = random_masks(seed + 5, b.count);
    return b;
}

static void check_world(carom_context *scalar, carom_context *context, const world *w, const char *label)
{
    scene all = world_merge(w);
    carom_mesh *merged = scene_mesh(scalar, &all);
    carom_scene *made = world_scene(context, w);
    for (int options = 0; options < 4; options++) {
        swept_spheres b = make_spheres(SEED + (uint64_t)options, 300, options);
        world_compare(w, merged, carom_scene_mesh(made), &b, label);
        swept_spheres_free(&b);
    }
    carom_scene_destroy(made);
    carom_mesh_destroy(merged);
    scene_free(&all);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const size_t instances[] = {1, 2, 11, 200};
    for (size_t i = 0; i < COUNT_OF(instances); i++)
        for (int masks = 0; masks < 2; masks++) {
            world w = world_make(SEED + i, instances[i], instances[i] > 100 ? 6 : 1.5f, masks);
            check_world(scalar, context, &w, label);
            world_free(&w);
        }
}

/* Every instance at the same place: all distances and times are tied. */
static void test_ties(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2), *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    world w = world_make(SEED, 40, 0, 0);
    for (size_t i = 1; i < w.instances; i++)
        memcpy(w.map[i], w.map[0], sizeof *w.map);
    check_world(scalar, context, &w, "ties");
    world_free(&w);
    carom_context_destroy(context);
    carom_context_destroy(scalar);
}

/* Corners that round to a few units of the smallest number, by half a unit: outside the boxes of their nodes. */
static void test_subnormal(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2), *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    world w = world_make(SEED, 1, 0, 0);
    w.mesh[0] = 1;
    w.first[1] = (int32_t)w.meshes[1].triangle_count;
    for (size_t v = 0; v < 3 * w.meshes[1].vertex_count; v++)
        w.meshes[1].vertices[v] = 10.51f + 0.02f * w.meshes[1].vertices[v];
    memset(w.map[0], 0, sizeof *w.map);
    w.map[0][0] = w.map[0][5] = w.map[0][10] = 0x1p-149f;
    scene all = world_merge(&w);
    carom_mesh *merged = scene_mesh(scalar, &all);
    carom_scene *made = world_scene(context, &w);
    swept_spheres b = make_spheres(SEED, 200, 0);
    swept_spheres_scale(&b, -145, 0);
    world_compare(&w, merged, carom_scene_mesh(made), &b, "subnormal");
    swept_spheres_free(&b);
    carom_scene_destroy(made);
    carom_mesh_destroy(merged);
    scene_free(&all);
    world_free(&w);
    carom_context_destroy(context);
    carom_context_destroy(scalar);
}

static carom_context *cpu(void)
{
    return test_cpu(CAROM_ISA_AUTO, 2);
}

static void test_updates(void **state)
{
    (void)state;
    carom_context *context = cpu();
    world w = world_make(SEED + 7, 60, 2, 1);
    carom_scene *made = world_scene(context, &w);
    for (uint64_t step = 0; step < 4; step++) {
        carom_error err = {0};
        for (size_t i = 0; i < w.instances; i++)
            world_set_map(SEED + step, i + step, (float)step, w.map[i]);
        const carom_scene_pose pose = world_pose(&w);
        test_ok("carom_scene_update", carom_scene_update(made, &pose, &err), &err);
        scene all = world_merge(&w);
        carom_mesh *merged = scene_mesh(context, &all);
        swept_spheres b = make_spheres(SEED + step, 200, (int)step);
        world_compare(&w, merged, carom_scene_mesh(made), &b, "updated");
        swept_spheres_free(&b);
        carom_mesh_destroy(merged);
        scene_free(&all);
    }
    carom_scene_destroy(made);
    world_free(&w);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {SAME_BITS_ON_CPU(check_same), cmocka_unit_test(test_ties),
                                       cmocka_unit_test(test_subnormal), cmocka_unit_test(test_updates),
                                       SAME_BITS_ON_DEVICE(check_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
