/* SPDX-License-Identifier: MIT */
/* An update of a few instances gives the answers of the merged mesh, and those of a scene made anew: maps, masks and
 * velocities that change, instances that begin and cease to move, scales that grow and shrink, updates that fail. One
 * instance that is not moved answers as its mesh does, also where coordinates are -0. */
#include <math.h>

#include "tests/support/mesh_oracle.h"
#include "tests/support/world_answers.h"

enum { SEED = 173, INSTANCES = 64, STEPS = 12 };

static carom_context *cpu(void)
{
    return test_cpu(CAROM_ISA_AUTO, 2);
}

static void compare_merged(carom_context *context, const world *w, carom_scene *made, uint64_t seed, const char *label)
{
    scene all = world_merge(w);
    carom_mesh *merged = scene_mesh(context, &all);
    swept_spheres b = swept_spheres_mixed(seed, test_effort(120));
    b.mask = w->masks != NULL ? random_masks(seed, b.count) : NULL;
    world_compare(w, merged, carom_scene_mesh(made), &b, label);
    swept_spheres_free(&b);
    carom_mesh_destroy(merged);
    scene_free(&all);
}

/* Other maps, masks and velocities for up to three instances. */
static void change_some(world *w, uint64_t step)
{
    for (uint64_t k = 0; k <= step % 3; k++) {
        const size_t i = (size_t)(step * 7 + k * 11) % w->instances;
        world_set_map(SEED + step, i + step, 1.5f, w->map[i]);
        if (w->masks != NULL)
            w->masks[i] = step % 4 == 0 ? 0 : (uint32_t)(1 + step);
        if (w->velocity != NULL)
            for (int axis = 0; axis < 3; axis++) /* now and then at rest */
                w->velocity[i][axis] = (step + k) % 2 == 0 ? 0 : 0.25f * (float)((int)step - axis);
    }
}

static void test_few(void **state)
{
    (void)state;
    carom_context *context = cpu();
    for (int masks = 0; masks < 2; masks++) {
        world w = world_make(SEED, INSTANCES, 1.5f, masks);
        carom_scene *made = world_scene(context, &w);
        for (uint64_t step = 0; step < STEPS; step++) {
            change_some(&w, step);
            world_update(made, &w);
            compare_merged(context, &w, made, SEED + step, "a few changed");
        }
        carom_scene_destroy(made);
        world_free(&w);
    }
    carom_context_destroy(context);
}

/* ---- against a scene made anew ----------------------------------------------------------------------------------- */

static hits first_hits(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy)
{
    hits h = hits_alloc(b->count, 0);
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    const carom_mesh_hit_result result = hits_result(&h, 0);
    test_ok("first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    return h;
}

static void compare_new(carom_context *context, const world *w, carom_scene *made, uint64_t seed, const char *label)
{
    carom_scene *again = world_scene(context, w);
    swept_spheres b = swept_spheres_mixed(seed, test_effort(200));
    for (carom_accuracy accuracy = CAROM_ACCURACY_FAST; accuracy <= CAROM_ACCURACY_EXACT; accuracy++) {
        hits expected = first_hits(carom_scene_mesh(again), &b, accuracy),
             got = first_hits(carom_scene_mesh(made), &b, accuracy);
        hits_compare(&b, &expected, &got, b.count, -1, label);
        hits_free(&expected);
        hits_free(&got);
    }
    swept_spheres_free(&b);
    carom_scene_destroy(again);
}

/* Instances begin to move and come to rest, up to all and none. */
static void test_velocities(void **state)
{
    (void)state;
    carom_context *context = cpu();
    world w = world_make(SEED, INSTANCES, 1.5f, 0);
    w.velocity = test_alloc(w.instances, sizeof *w.velocity);
    carom_scene *made = world_scene(context, &w);
    for (uint64_t step = 0; step < STEPS; step++) {
        change_some(&w, step);
        world_update(made, &w);
        compare_new(context, &w, made, SEED + step, "velocities");
    }
    world_move(&w, SEED, 0.25f);
    world_update(made, &w);
    compare_new(context, &w, made, SEED, "all velocities");
    for (size_t i = 0; i < w.instances; i++)
        w.velocity[i][2] += 8;
    world_update(made, &w);
    compare_new(context, &w, made, SEED, "none at rest");
    memset(w.velocity, 0, w.instances * sizeof *w.velocity);
    world_update(made, &w);
    compare_new(context, &w, made, SEED, "all at rest");
    carom_scene_destroy(made);
    world_free(&w);
    carom_context_destroy(context);
}

/* The instance that decides the scale goes far away, comes back, and goes where numbers are not finite. */
static void test_scale(void **state)
{
    static const float shifts[] = {0x1p10f, 0x1p11f, 3, 0x1p-10f, 0x1p30f, 0};
    (void)state;
    carom_context *context = cpu();
    world w = world_make(SEED, INSTANCES, 1.5f, 0);
    for (size_t i = 0; i < w.instances; i++)
        world_set_map(SEED, 11 * i + 10, 1.5f, w.map[i]); /* rotations */
    carom_scene *made = world_scene(context, &w);
    for (size_t step = 0; step < COUNT_OF(shifts); step++) {
        carom_error err = {0};
        w.map[2][3] = shifts[step];
        world_update(made, &w);
        compare_merged(context, &w, made, SEED + step, "far");
        const float saved = w.map[6][7];
        const carom_scene_pose pose = world_pose(&w);
        w.map[6][7] = step % 2 == 0 ? NAN : 3e38f;
        w.map[6][4] = step % 2 == 0 ? w.map[6][4] : 3e38f;
        test_error(carom_scene_update(made, &pose, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "instance 6");
        world_set_map(SEED, 11 * 6 + 10, 1.5f, w.map[6]);
        w.map[6][7] = saved;
        compare_merged(context, &w, made, SEED + step, "refused");
    }
    carom_scene_destroy(made);
    world_free(&w);
    carom_context_destroy(context);
}

/* Instances that wander: the refitted hierarchy becomes bad and is built again. */
static void test_wander(void **state)
{
    (void)state;
    carom_context *context = cpu();
    world w = world_make(SEED, INSTANCES, 6, 0);
    carom_scene *made = world_scene(context, &w);
    for (uint64_t step = 0; step < STEPS; step++) {
        for (size_t k = 0; k < INSTANCES / 3; k++) {
            const size_t i = (k * 5 + (size_t)step) % w.instances;
            world_set_map(SEED + step, 11 * i + 10, 6, w.map[i]);
        }
        world_update(made, &w);
        if (step % 4 == 3)
            compare_merged(context, &w, made, SEED + step, "wander");
    }
    carom_scene_destroy(made);
    world_free(&w);
    carom_context_destroy(context);
}

/* ---- one instance that is not moved ------------------------------------------------------------------------------ */

static void test_unmoved(void **state)
{
    (void)state;
    carom_context *context = cpu();
    for (int kind = 0; kind < 4; kind++) {
        world w = world_make_unmoved(SEED, kind);
        carom_scene *made = world_scene(context, &w);
        compare_merged(context, &w, made, SEED, "not moved");
        if (kind % 2 == 1) { /* masks of the mesh alone */
            free(w.masks);
            w.masks = NULL;
            world_update(made, &w);
            compare_merged(context, &w, made, SEED, "masks of triangles");
        }
        w.map[0][3] = 0.5f;
        world_update(made, &w);
        compare_merged(context, &w, made, SEED, "moved");
        carom_scene_destroy(made);
        world_free(&w);
    }
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few), cmocka_unit_test(test_velocities),
                                       cmocka_unit_test(test_scale), cmocka_unit_test(test_wander),
                                       cmocka_unit_test(test_unmoved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
