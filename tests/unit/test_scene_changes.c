/* SPDX-License-Identifier: MIT */
/* Scenes that are refused, and what happens to a scene when its meshes change. */
#include <math.h>

#include "tests/support/scenes.h"

enum { SEED = 132, MAP = 12 };

static carom_context *cpu(void)
{
    return test_cpu(CAROM_ISA_AUTO, 2);
}

static carom_scene_desc one_instance(carom_mesh **mesh, const float *map)
{
    return (carom_scene_desc){.size = sizeof(carom_scene_desc),
                              .meshes = mesh,
                              .mesh_count = 1,
                              .instance_count = 1,
                              .pose = {.size = sizeof(carom_scene_pose), .map = map}};
}

static carom_status first_of(carom_mesh *mesh, carom_error *err)
{
    swept_spheres b = swept_spheres_mixed(SEED, 20);
    hits h = hits_alloc(b.count, 0);
    const carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, b.count);
    const carom_mesh_hit_result result = hits_result(&h, 0);
    const carom_status status = carom_mesh_sweep_first(mesh, &desc, &result, NULL, err);
    hits_free(&h);
    swept_spheres_free(&b);
    return status;
}

static void test_bad_scenes(void **state)
{
    (void)state;
    carom_context *context = cpu();
    scene box = scene_box(0, 0, 0, 1, 1, 1);
    carom_mesh *mesh = scene_mesh(context, &box);
    carom_scene *made = NULL;
    carom_error err = {0};
    float map[MAP] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    carom_scene_desc desc = one_instance(&mesh, map);
    map[7] = NAN;
    test_error(carom_scene_create(context, &desc, &made, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "instance 0");
    map[7] = 3e38f;
    map[5] = 3e38f;
    test_error(carom_scene_create(context, &desc, &made, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "vertex");
    map[5] = map[7] = 1;
    desc.instance_count = 2;
    test_error(carom_scene_create(context, &desc, &made, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "instance 1");
    desc.instance_count = CAROM_SCENE_INSTANCES + 1;
    test_error(carom_scene_create(context, &desc, &made, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "instance_count");
    desc.instance_count = 1;
    desc.pose.map_stride = 40;
    test_error(carom_scene_create(context, &desc, &made, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "map_stride");
    desc.pose.map_stride = 0;
    carom_mesh *none = NULL;
    desc.meshes = &none;
    test_error(carom_scene_create(context, &desc, &made, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "mesh 0");
    assert_null(made);
    carom_mesh_destroy(mesh);
    scene_free(&box);
    carom_context_destroy(context);
}

/* A failed update changes nothing; a mesh that has moved must be followed; other calls refuse a scene. */
static void test_changes(void **state)
{
    (void)state;
    carom_context *context = cpu();
    scene box = scene_box(0, 0, 0, 1, 1, 1);
    carom_mesh *mesh = scene_mesh(context, &box);
    carom_scene *made = NULL;
    carom_error err = {0};
    float map[MAP] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const carom_scene_desc desc = one_instance(&mesh, map);
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    carom_mesh *all = carom_scene_mesh(made);
    test_ok("before", first_of(all, &err), &err);
    map[3] = INFINITY;
    test_error(carom_scene_update(made, &desc.pose, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "number 3");
    test_ok("after a failure", first_of(all, &err), &err);
    map[3] = 0;
    const carom_points vertices = scene_desc(&box).vertices;
    test_ok("move", carom_mesh_update(mesh, &vertices, CAROM_MESH_AUTO, &err), &err);
    test_error(first_of(all, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "instance 0");
    test_ok("follow", carom_scene_update(made, &desc.pose, &err), &err);
    test_ok("followed", first_of(all, &err), &err);
    test_error(carom_mesh_update(all, &vertices, CAROM_MESH_AUTO, &err), CAROM_ERROR_UNSUPPORTED, &err, "scene");
    uint64_t bytes;
    test_error(carom_mesh_get_image(all, NULL, 0, &bytes, &err), CAROM_ERROR_UNSUPPORTED, &err, "scene");
    carom_mesh_destroy(all); /* refused, which the log says */
    carom_mesh_destroy(mesh);
    test_ok("kept alive", first_of(all, &err), &err);
    carom_scene_destroy(made);
    scene_free(&box);
    carom_context_destroy(context);
}

/* A hierarchy that is built again, with another width, changes nothing; nor does a mesh without instances. */
static void test_other_width(void **state)
{
    (void)state;
    carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
    carom_context *context = NULL;
    desc.isa = CAROM_ISA_SCALAR; /* whose own width is 8 */
    carom_error err = {0};
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    scene box = scene_box(0, 0, 0, 1, 1, 1), floor = scene_floor(2);
    carom_mesh *meshes[] = {scene_mesh(context, &box), scene_mesh(context, &floor)};
    carom_scene *made = NULL;
    float map[MAP] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    carom_scene_desc of_one = one_instance(meshes, map);
    of_one.mesh_count = 2;
    test_ok("carom_scene_create", carom_scene_create(context, &of_one, &made, &err), &err);
    uint64_t bytes;
    test_ok("carom_mesh_get_image", carom_mesh_get_image(meshes[0], NULL, 0, &bytes, &err), &err);
    test_ok("another width", first_of(carom_scene_mesh(made), &err), &err);
    assert_int_equal(test_mesh_info(carom_scene_mesh(made)).width, test_mesh_info(meshes[0]).width);
    const carom_points vertices = scene_desc(&floor).vertices;
    test_ok("move", carom_mesh_update(meshes[1], &vertices, CAROM_MESH_AUTO, &err), &err);
    test_ok("a mesh without instances", first_of(carom_scene_mesh(made), &err), &err);
    carom_scene_destroy(made);
    carom_mesh_destroy(meshes[0]);
    carom_mesh_destroy(meshes[1]);
    scene_free(&box);
    scene_free(&floor);
    carom_context_destroy(context);
}

/* An instance column is a scene's alone, and an empty scene is an empty mesh. */
static void test_empty(void **state)
{
    (void)state;
    carom_context *context = cpu();
    carom_scene *made = NULL;
    carom_error err = {0};
    const carom_scene_desc desc = {.size = sizeof desc, .pose = {.size = sizeof desc.pose}};
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    test_ok("first", first_of(carom_scene_mesh(made), &err), &err);
    assert_int_equal(test_mesh_info(carom_scene_mesh(made)).triangle_count, 0);
    scene box = scene_box(0, 0, 0, 1, 1, 1);
    carom_mesh *mesh = scene_mesh(context, &box);
    swept_spheres b = swept_spheres_mixed(SEED, 20);
    int32_t instance[20];
    const carom_mesh_closest_desc closest = swept_spheres_closest(&b, 0, b.count);
    const carom_mesh_closest_result out = {.size = sizeof out, .instance = instance};
    test_error(carom_mesh_closest(mesh, &closest, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "instance");
    test_ok("closest", carom_mesh_closest(carom_scene_mesh(made), &closest, &out, NULL, &err), &err);
    for (int i = 0; i < 20; i++)
        assert_int_equal(instance[i], -1);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&box);
    carom_scene_destroy(made);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad_scenes), cmocka_unit_test(test_changes),
                                       cmocka_unit_test(test_other_width), cmocka_unit_test(test_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
