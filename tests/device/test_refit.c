/* SPDX-License-Identifier: MIT */
/* Meshes that a device refits to vertices in its memory: the leaves and nodes there have the bytes of the CPU's refit,
 * nearly nothing crosses, and whatever needs the host's copy brings it up to date. */
#include "host/bvh/mesh_data.h"
#include "tests/support/call_cases.h"
#include "tests/support/moving_mesh.h"

#include <math.h>

static scene scene_numbered(int i)
{
    switch (i) {
    case 0: return scene_soup(SEED, 500, 0.1);
    case 1: return scene_sphere(8);
    case 2: return scene_both(scene_sphere(5), scene_soup(SEED, 3000, 0.01));
    case 3: return scene_soup(SEED, 1, 1.0);
    case 4: return scene_soup(SEED, 16, 1.0);
    case 5: return scene_box(-1, -1, -1, 1, 1, 1);
    default: return scene_floor(40);
    }
}
enum { SCENES = 7 };

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void follow(int number)
{
    moving m = start(scene_numbered(number));
    scene was = scene_copy(&m.s);
    swept_spheres b = swept_spheres_mixed(SEED, 300);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT); /* builds programs and copies the mesh */
    for (int kind = 0; kind < MOVES; kind++) {
        char what[64];
        (void)snprintf(what, sizeof what, "scene %d, move %d", number, kind);
        move_scene(&m.s, &was, (uint64_t)kind, kind);
        const size_t crossed = move_both(&m, (layout)(kind % LAYOUTS), CAROM_MESH_REFIT);
        if (crossed > CROSSES)
            fail_msg("%s: %zu bytes cross", what, crossed);
        assert_true(m.mesh->is_stale);
        cl_fetched = cl_sent = 0;
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, what);
        assert_true(m.mesh->is_stale); /* a search needs nothing of the host */
        if (kind % 2)
            expect_same_hits(&m, &b, CAROM_ACCURACY_EXACT, what);
        expect_same_bytes(&m, what);
        assert_false(m.mesh->is_stale);
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, what);
    }
    swept_spheres_free(&b);
    scene_free(&was);
    finish(&m);
}

static void each_mesh_follows(void **state)
{
    (void)state;
    for (int number = 0; number < SCENES; number++)
        follow(number);
}

/* Updates in any order: on the device, from the host, with a rebuild, with a vertex that is refused. */
static void updates_in_any_order(void **state)
{
    (void)state;
    moving m = start(scene_both(scene_sphere(6), scene_soup(SEED, 400, 0.05)));
    scene was = scene_copy(&m.s);
    swept_spheres b = swept_spheres_mixed(SEED, 40);
    ref_gen g;
    ref_gen_seed(&g, 72, SEED, 0);
    for (uint64_t step = 0; step < test_effort(120); step++) {
        const uint64_t r = ref_gen_bits(&g);
        const carom_mesh_follow how = r % 8 == 0 ? CAROM_MESH_REBUILD : r % 8 < 3 ? CAROM_MESH_AUTO : CAROM_MESH_REFIT;
        const layout where = (layout)(r >> 8 & 3);
        char what[64];
        (void)snprintf(what, sizeof what, "step %llu", (unsigned long long)step);
        move_scene(&m.s, &was, step, (int)((r >> 16) % MOVES));
        if (r >> 24 & 1) {
            const carom_points vertices = scene_desc(&m.s).vertices;
            carom_error err = {0};
            move_expected(&m, how);
            test_ok("update", carom_mesh_update(m.mesh, &vertices, how, &err), &err);
        } else {
            (void)move_both(&m, where, how);
        }
        if (r >> 25 & 1)
            expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, what);
        if ((r >> 26 & 3) == 0 && how != CAROM_MESH_AUTO)
            expect_same_info(&m);
    }
    swept_spheres_free(&b);
    scene_free(&was);
    finish(&m);
}

/* `auto` builds a worn hierarchy anew, on the host. */
static void worn_hierarchies_are_rebuilt(void **state)
{
    (void)state;
    moving m = start(scene_sphere(10));
    swept_spheres b = swept_spheres_mixed(SEED, 300);
    uint32_t *order = random_order(SEED, m.s.vertex_count);
    scene was = scene_copy(&m.s);
    for (size_t i = 0; i < m.s.vertex_count; i++)
        memcpy(m.s.vertices + 3 * i, was.vertices + 3 * (size_t)order[i], 3 * sizeof(float));
    (void)move_both(&m, TOGETHER, CAROM_MESH_AUTO);
    expect_same_bytes(&m, "a worn hierarchy");
    assert_int_equal(m.mesh->info.refits, 0);
    expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "a worn hierarchy");
    move_scene(&m.s, &was, 1, 1);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    expect_same_bytes(&m, "refitted after a rebuild");
    free(order);
    scene_free(&was);
    swept_spheres_free(&b);
    finish(&m);
}

static carom_status update_from(const moving *m, carom_mesh *mesh, int in_buffer, carom_error *err)
{
    const carom_points vertices = in_buffer ? send(m, TOGETHER) : scene_desc(&m->s).vertices;
    return carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, err);
}

/* A used vertex that is not finite is refused with the CPU's words, and the mesh stays as it was. */
static void bad_vertices_are_refused(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    scene s = scene_sphere(6), more = scene_alloc(s.vertex_count + 1, s.triangle_count); /* one vertex is not used */
    memcpy(more.vertices, s.vertices, 3 * s.vertex_count * sizeof *s.vertices);
    memcpy(more.indices, s.indices, 3 * s.triangle_count * sizeof *s.indices);
    scene_free(&s);
    moving m = start(more);
    swept_spheres b = swept_spheres_mixed(SEED, 200);
    scene was = scene_copy(&m.s);
    was.vertices[3 * was.vertex_count - 1] = NAN;
    for (uint64_t i = 0; i < 12; i++) {
        carom_error here = {0}, there = {0};
        move_scene(&m.s, &was, i, (int)(i % 2));
        (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
        const int stale = i % 3 != 0;
        if (!stale)
            expect_same_info(&m);
        m.s.vertices[(97 * i + 31) % (3 * m.s.vertex_count - 3)] = bad[i % 3];
        m.s.vertices[(291 * i + 7) % (3 * m.s.vertex_count - 3)] = bad[i % 3];
        test_error(update_from(&m, m.expected, 0, &here), CAROM_ERROR_INVALID_ARGUMENT, &here, "not finite");
        cl_fetched = cl_sent = 0;
        const carom_points vertices = send(&m, TOGETHER);
        cl_fetched = cl_sent = 0;
        test_error(carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &there), CAROM_ERROR_INVALID_ARGUMENT, &there,
                   "not finite");
        assert_string_equal(here.message, there.message);
        assert_true(cl_fetched + cl_sent <= CROSSES);
        assert_int_equal(m.mesh->is_stale, stale);
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "after a refusal");
        expect_same_bytes(&m, "after a refusal");
    }
    scene_free(&was);
    swept_spheres_free(&b);
    finish(&m);
}

/* One vertex for all corners, by a stride of 0. */
static void all_corners_in_one_point(void **state)
{
    (void)state;
    moving m = start(scene_sphere(6));
    carom_points vertices = send(&m, TOGETHER);
    carom_error err = {0};
    vertices.stride = CAROM_REPEAT;
    test_ok("update", carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &err), &err);
    for (size_t i = 0; i < 3 * m.s.vertex_count; i++)
        m.s.vertices[i] = m.s.vertices[i % 3];
    move_expected(&m, CAROM_MESH_REFIT);
    assert_true(m.mesh->is_stale);
    expect_same_bytes(&m, "one point");
    finish(&m);
}

static void empty_meshes_stay_empty(void **state)
{
    (void)state;
    moving m = start(scene_sphere(2));
    carom_mesh *empty = NULL;
    const carom_mesh_desc desc = {.size = sizeof desc};
    carom_error err = {0};
    const carom_points vertices = send(&m, TOGETHER);
    test_ok("create", carom_mesh_create(m.context, &desc, &empty, &err), &err);
    test_ok("update", carom_mesh_update(empty, &vertices, CAROM_MESH_AUTO, &err), &err);
    carom_mesh_destroy(empty);
    finish(&m);
}

/* Every call of a mesh that a device has moved answers as that of one that the CPU has moved. */
static void each_call_follows(void **state)
{
    (void)state;
    moving m = start(call_scene());
    scene was = scene_copy(&m.s);
    for (int i = 0; i < call_choices(); i++) {
        const call_choice choice = call_choice_at(i);
        if (!call_is_of_mesh(call_type(choice.number)))
            continue;
        carom_error err = {0};
        call_case *expected = call_case_make(choice, 300, 4), *got = call_case_make(choice, 300, 4);
        move_scene(&m.s, &was, (uint64_t)i, 1);
        (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
        assert_true(m.mesh->is_stale);
        test_ok(call_case_name(expected), call_case_ask(expected, m.cpu, m.expected, &err), &err);
        test_ok(call_case_name(got), call_case_ask(got, m.context, m.mesh, &err), &err);
        call_case_compare_first(expected, got, got->count, "after a refit on the device");
        call_case_free(expected);
        call_case_free(got);
    }
    scene_free(&was);
    finish(&m);
}

/* The image of a mesh is that of the moved one. */
static void images_follow(void **state)
{
    (void)state;
    moving m = start(scene_sphere(6));
    scene was = scene_copy(&m.s);
    uint64_t bytes = 0;
    carom_error err = {0};
    move_scene(&m.s, &was, 3, 1);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    test_ok("size", carom_mesh_get_image(m.mesh, NULL, 0, &bytes, &err), &err);
    char *got = test_alloc(bytes, 1), *expected = test_alloc(bytes, 1);
    move_scene(&m.s, &was, 4, 1);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    test_ok("image", carom_mesh_get_image(m.mesh, got, bytes, &bytes, &err), &err);
    test_ok("image", carom_mesh_get_image(m.expected, expected, bytes, &bytes, &err), &err);
    assert_memory_equal(got, expected, bytes);
    free(got);
    free(expected);
    scene_free(&was);
    finish(&m);
}

/* The grid of empty space belongs to sweeps: a closest point after a refit does not compute it. */
static void closest_points_need_no_space(void **state)
{
    (void)state;
    moving m = start(scene_both(scene_sphere(6), scene_soup(SEED, 400, 0.05)));
    scene was = scene_copy(&m.s);
    swept_spheres b = swept_spheres_mixed(SEED, 40);
    float *distance = test_alloc(b.count, sizeof *distance);
    const carom_mesh_closest_desc desc = {.batch = {.size = sizeof desc, .count = b.count},
                                          .center = swept_spheres_desc(&b, 0, b.count).center};
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    carom_error err = {0};
    int launches[3];
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    test_ok("closest", carom_mesh_closest(m.mesh, &desc, &out, NULL, &err), &err); /* builds the programs */
    move_scene(&m.s, &was, 0, 1);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "after closest points");
        cl_relieve();
        test_ok("closest", carom_mesh_closest(m.mesh, &desc, &out, NULL, &err), &err);
        launches[i] = cl_calls(CALL_LAUNCH);
    }
    assert_int_equal(launches[0], launches[2]);
    assert_int_equal(launches[1], launches[2]);
    free(distance);
    swept_spheres_free(&b);
    scene_free(&was);
    finish(&m);
}

/* 10^6 triangles. */
static void large_meshes_follow(void **state)
{
    (void)state;
    moving m = start(scene_both(scene_sphere(300), scene_soup(SEED, 280000, 0.01)));
    scene was = scene_copy(&m.s);
    move_scene(&m.s, &was, 0, 1);
    (void)move_both(&m, WITH_GAPS, CAROM_MESH_REFIT);
    expect_same_bytes(&m, "a large mesh");
    scene_free(&was);
    finish(&m);
}

int main(void)
{
    cl_seen_as.discrete = 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_mesh_follows),
                                       cmocka_unit_test(updates_in_any_order),
                                       cmocka_unit_test(worn_hierarchies_are_rebuilt),
                                       cmocka_unit_test(bad_vertices_are_refused),
                                       cmocka_unit_test(all_corners_in_one_point),
                                       cmocka_unit_test(empty_meshes_stay_empty),
                                       cmocka_unit_test(each_call_follows),
                                       cmocka_unit_test(images_follow),
                                       cmocka_unit_test(closest_points_need_no_space),
                                       cmocka_unit_test(large_meshes_follow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
