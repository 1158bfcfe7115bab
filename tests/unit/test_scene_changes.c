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
    desc.meshes = &mesh;
    float velocity[] = {0, 1, 0};
    desc.pose.velocity = carom_xyz(velocity);
    for (int k = 0; k < 3; k++) {
        velocity[k] = k == 1 ? NAN : INFINITY;
        test_error(carom_scene_create(context, &desc, &made, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   "instance 0: its velocity");
        velocity[k] = 0;
    }
    desc.pose.velocity.y = NULL;
    test_error(carom_scene_create(context, &desc, &made, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "velocity");
    assert_null(made);
    carom_mesh_destroy(mesh);
    scene_free(&box);
    carom_context_destroy(context);
}

/* When a sphere at rest at x = 3 meets a box from 0 to 1 that comes along x; infinity: never. */
static float time_of(carom_scene *made)
{
    static const float center[] = {3, 0.5f, 0.5f}, at_rest[3], radius = 0.5f;
    float t = 0;
    carom_error err = {0};
    const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = 1},
                                        .center = carom_xyz(center),
                                        .velocity = carom_xyz(at_rest),
                                        .radius = carom_scalars_of(&radius)};
    const carom_mesh_hit_result result = {.size = sizeof result, .t = &t};
    test_ok("first", carom_mesh_sweep_first(carom_scene_mesh(made), &desc, &result, NULL, &err), &err);
    return t;
}

/* An update replaces velocities; a failed one keeps them, and so does a mesh that is built again with another width. */
static void test_velocities(void **state)
{
    (void)state;
    carom_context_desc of_scalar = test_desc(CAROM_BACKEND_AUTO);
    of_scalar.isa = CAROM_ISA_SCALAR; /* whose own width is 8 */
    carom_context *context = NULL;
    carom_scene *made = NULL;
    carom_error err = {0};
    test_ok("carom_context_create", carom_context_create(&of_scalar, &context, &err), &err);
    scene box = scene_box(0, 0, 0, 1, 1, 1);
    carom_mesh *mesh = scene_mesh(context, &box);
    float map[MAP] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, velocity[] = {1.5f, 0, 0};
    carom_scene_desc desc = one_instance(&mesh, map);
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    assert_true(isinf(time_of(made)));
    desc.pose.velocity = carom_xyz(velocity);
    test_ok("carom_scene_update", carom_scene_update(made, &desc.pose, &err), &err);
    assert_true(time_of(made) == 1);
    velocity[0] = INFINITY;
    test_error(carom_scene_update(made, &desc.pose, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "its velocity");
    assert_true(time_of(made) == 1);
    uint64_t bytes;
    test_ok("carom_mesh_get_image", carom_mesh_get_image(mesh, NULL, 0, &bytes, &err), &err);
    assert_true(time_of(made) == 1);
    desc.pose.velocity.x = desc.pose.velocity.y = desc.pose.velocity.z = NULL;
    test_ok("carom_scene_update", carom_scene_update(made, &desc.pose, &err), &err);
    assert_true(isinf(time_of(made)));
    carom_scene_destroy(made);
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

/* ---- memory that follows the hierarchies ------------------------------------------------------------------------- */

/* Memory in slots. What is behind a block must stay as it is. */
enum { SLOTS = 512, SLOT = 1 << 20, BEHIND = 1 << 13, FILL = 0xee };
typedef struct slots {
    unsigned char *memory[SLOTS];
    size_t size[SLOTS], broken; /* size 0: free */
} slots;

static void *slot_alloc(void *user, size_t size, size_t alignment)
{
    slots *s = user;
    size_t at = 0;
    while (at < SLOTS && s->size[at] != 0)
        at++;
    assert_true(at < SLOTS && size + BEHIND <= SLOT && alignment <= 64);
    if (s->memory[at] == NULL)
        s->memory[at] = aligned_alloc(64, SLOT);
    assert_non_null(s->memory[at]);
    s->size[at] = size;
    memset(s->memory[at] + size, FILL, BEHIND);
    return s->memory[at];
}

static void slot_free(void *user, void *memory)
{
    slots *s = user;
    size_t at = 0;
    while (s->memory[at] != memory)
        at++;
    for (size_t i = 0; i < BEHIND; i++)
        s->broken += s->memory[at][s->size[at] + i] != FILL;
    s->size[at] = 0;
}

static void slots_end(slots *s)
{
    assert_int_equal(s->broken, 0);
    for (size_t i = 0; i < SLOTS; i++) {
        assert_int_equal(s->size[i], 0);
        free(s->memory[i]);
    }
    free(s);
}

/* Triangles in heaps of eight, whose leaves are full. */
static scene heaps(size_t triangles)
{
    scene s = scene_alloc_apart(triangles);
    for (size_t i = 0; i < 9 * triangles; i++)
        s.vertices[i] = (float)(i / 72 * 10) + 0.01f * (float)(i / 9 % 8) + (i % 9 % 4 == 0 ? 0.01f : 0);
    return s;
}

/* Triangles of all sizes, the small ones near one place. */
static scene shrinking(size_t triangles)
{
    scene s = scene_soup(SEED, triangles, 0.5);
    for (size_t i = 0; i < 9 * triangles; i++)
        s.vertices[i] = ldexpf(s.vertices[i], -(int)(i / 9 % 40 / 2));
    return s;
}

/* The image of a triangle, with nodes of 8. The caller frees it. */
static void *image_of_8(uint64_t *bytes)
{
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    scene one = scene_alloc_apart(1);
    one.vertices[3] = one.vertices[7] = 1;
    carom_mesh *mesh = scene_mesh(scalar, &one);
    carom_error err = {0};
    test_ok("size", carom_mesh_get_image(mesh, NULL, 0, bytes, &err), &err);
    void *image = aligned_alloc(64, (size_t)(*bytes + 63) / 64 * 64);
    test_ok("carom_mesh_get_image", carom_mesh_get_image(mesh, image, *bytes, bytes, &err), &err);
    assert_int_equal(test_mesh_info(mesh).width, 8);
    carom_mesh_destroy(mesh);
    scene_free(&one);
    carom_context_destroy(scalar);
    return image;
}

/* Builds a mesh again for nodes of 8: a scene has it beside an image, which cannot be built again. */
static void build_for_8(carom_context *context, carom_mesh *mesh)
{
    uint64_t bytes;
    carom_error err = {0};
    void *image = image_of_8(&bytes);
    carom_mesh *both[2] = {mesh};
    carom_scene *made = NULL;
    test_ok("carom_mesh_open_image", carom_mesh_open_image(context, image, bytes, &both[1], &err), &err);
    carom_scene_desc desc = one_instance(both, NULL);
    desc.mesh_count = desc.instance_count = 2;
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    carom_scene_destroy(made);
    carom_mesh_destroy(both[1]);
    free(image);
    assert_int_equal(test_mesh_info(mesh).width, 8);
}

/* Asks so much that the grid in which empty space is known pays. */
static void ask_much(carom_mesh *mesh)
{
    swept_spheres b = swept_spheres_mixed(SEED, 1 << 15);
    guarded hit = guarded_alloc(b.count, 0, 0);
    carom_error err = {0};
    const carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, b.count);
    test_ok("any", carom_mesh_sweep_any(mesh, &desc, TEST_ANY((uint8_t *)hit.data), NULL, &err), &err);
    guarded_free(&hit);
    swept_spheres_free(&b);
}

/* A mesh's vertices have moved much, then its hierarchy was built again twice: the width is as it was, but there are
 * more leaves. A query finds that, or an update of the scene before. */
static void test_built_twice(void **state)
{
    static const float maps[2 * MAP] = {1, 0, 0, 0.25f, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, -3, 0, 1, 0, 0, 0, 0, 1, 0};
    static const uint32_t both_of[2];
    (void)state;
    for (int updates = 0; updates < 2; updates++) {
        slots *memory = test_alloc(1, sizeof *memory);
        carom_context_desc of = test_desc(CAROM_BACKEND_AUTO);
        carom_context *context = NULL;
        carom_scene *made = NULL;
        carom_error err = {0};
        of.isa = CAROM_ISA_SCALAR;
        of.threads = 1;
        of.allocator = (carom_allocator){slot_alloc, slot_free, memory};
        test_ok("carom_context_create", carom_context_create(&of, &context, &err), &err);
        scene s = heaps(1600), moved = shrinking(1600);
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_points vertices = carom_xyz(moved.vertices);
        test_ok("move", carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, &err), &err);
        float map[2 * MAP];
        memcpy(map, maps, sizeof map);
        carom_scene_desc desc = one_instance(&mesh, map);
        desc.instance_count = 2;
        desc.mesh = carom_uints_of(both_of);
        test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
        const carom_mesh_info before = test_mesh_info(mesh);
        uint64_t bytes;
        test_ok("carom_mesh_get_image", carom_mesh_get_image(mesh, NULL, 0, &bytes, &err), &err);
        build_for_8(context, mesh);
        if (before.width != 8)
            test_ok("carom_mesh_get_image", carom_mesh_get_image(mesh, NULL, 0, &bytes, &err), &err);
        assert_int_equal(test_mesh_info(mesh).width, before.width);
        assert_true(test_mesh_info(mesh).bytes > before.bytes);
        map[3] += 0.5f * (float)updates;
        if (updates)
            test_ok("carom_scene_update", carom_scene_update(made, &desc.pose, &err), &err);
        ask_much(carom_scene_mesh(made));
        carom_scene_destroy(made);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        slots_end(memory);
        scene_free(&s);
        scene_free(&moved);
    }
}

/* The largest block that was asked for; `left` more succeed, -1: all do. */
typedef struct largest {
    size_t block;
    int left;
} largest;

static void *largest_alloc(void *user, size_t size, size_t alignment)
{
    largest *l = user;
    l->block = size > l->block ? size : l->block;
    l->left -= l->left > 0;
    return l->left == 0 ? NULL : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void largest_free(void *user, void *memory)
{
    (void)user;
    free(memory);
}

enum { SMALL = 512, LARGE = 8192 };
/* An update of some instances, at first short of memory in every way. Returns the largest block that it needs. */
static size_t block_of_update(uint32_t instances, uint32_t changed)
{
    largest l = {.left = -1};
    carom_context_desc of = test_desc(CAROM_BACKEND_CPU);
    carom_context *context = NULL;
    carom_scene *made = NULL;
    carom_error err = {0};
    of.allocator = (carom_allocator){largest_alloc, largest_free, &l};
    test_ok("carom_context_create", carom_context_create(&of, &context, &err), &err);
    scene box = scene_box(0, 0, 0, 1, 1, 1);
    carom_mesh *mesh = scene_mesh(context, &box);
    float *map = test_alloc(instances, MAP * sizeof *map);
    for (uint32_t i = 0; i < instances; i++) {
        map[MAP * i] = map[MAP * i + 5] = map[MAP * i + 10] = 1;
        map[MAP * i + 3] = (float)i;
    }
    carom_scene_desc desc = one_instance(&mesh, map);
    const uint32_t of_all = 0;
    desc.instance_count = instances;
    desc.mesh = (carom_uints){&of_all, CAROM_REPEAT};
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    for (uint32_t i = 0; i < changed; i++)
        map[MAP * i + 7] = 0.25f;
    carom_status status = CAROM_ERROR_OUT_OF_MEMORY;
    for (int left = 1; status != CAROM_OK; left++) {
        l = (largest){.left = left};
        status = carom_scene_update(made, &desc.pose, &err);
        if (status != CAROM_OK)
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "instances that change");
        assert_true(left < 10);
    }
    l.left = -1;
    test_ok("first", first_of(carom_scene_mesh(made), &err), &err);
    carom_scene_destroy(made);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&box);
    free(map);
    return l.block;
}

/* What an update of a few needs does not grow with all. */
static void test_few_of_many(void **state)
{
    (void)state;
    for (uint32_t changed = 1; changed <= SMALL / 2; changed = 4 * changed + 1)
        assert_int_equal(block_of_update(LARGE, changed), block_of_update(SMALL, changed));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad_scenes),  cmocka_unit_test(test_velocities),
                                       cmocka_unit_test(test_changes),     cmocka_unit_test(test_other_width),
                                       cmocka_unit_test(test_built_twice), cmocka_unit_test(test_few_of_many),
                                       cmocka_unit_test(test_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
