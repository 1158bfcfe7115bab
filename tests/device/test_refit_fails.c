/* SPDX-License-Identifier: MIT */
/* Refits on devices that fail, lack memory or have other bits, that are lost with a mesh's vertices, that do not refit,
 * and that are the caller's own. */
#include "host/bvh/mesh_data.h"
#include "tests/support/cl_caller.h"
#include "tests/support/moving_mesh.h"

static carom_status move_from_host(const moving *m, carom_error *err)
{
    const carom_points vertices = scene_desc(&m->s).vertices;
    return carom_mesh_update(m->mesh, &vertices, CAROM_MESH_REFIT, err);
}

/* A device that is lost takes the vertices with it. The mesh reports that until it gets new ones. */
static void lost_vertices_are_reported(void **state)
{
    static const carom_backend backends[] = {CAROM_BACKEND_OPENCL, CAROM_BACKEND_AUTO};
    (void)state;
    for (int i = 0; i < 2; i++) {
        moving m = start_as(scene_sphere(6), backends[i], 1);
        swept_spheres b = swept_spheres_mixed(SEED, 200);
        carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, b.count);
        hits h = hits_alloc(b.count, 0);
        const carom_mesh_hit_result result = hits_result(&h, 0);
        carom_mesh_info info = {.size = sizeof info};
        carom_error err = {0};
        scene was = scene_copy(&m.s);
        move_scene(&m.s, &was, 0, 1);
        expect_same_hits(&m, &b, CAROM_ACCURACY_EXACT, "before the loss");
        (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
        cl_sabotage(CALL_READ, 1, 1);
        test_error(carom_mesh_get_info(m.mesh, &info, &err), CAROM_ERROR_DEVICE_LOST, &err, "moved on a device");
        assert_true(m.mesh->is_stale);
        desc.batch.accuracy = CAROM_ACCURACY_EXACT;
        test_error(carom_mesh_sweep_first(m.mesh, &desc, &result, NULL, &err), CAROM_ERROR_DEVICE_LOST, &err,
                   "moved on a device");
        cl_relieve();
        move_scene(&m.s, &was, 1, 1);
        move_expected(&m, CAROM_MESH_REFIT);
        test_ok("new vertices", move_from_host(&m, &err), &err);
        expect_same_info(&m);
        if (backends[i] == CAROM_BACKEND_AUTO)
            expect_same_hits(&m, &b, CAROM_ACCURACY_EXACT, "new vertices");
        hits_free(&h);
        swept_spheres_free(&b);
        scene_free(&was);
        finish(&m);
    }
}

/* A refit that fails at any command: of `auto` the CPU goes on, with `opencl` the mesh has its old vertices. */
static void check_failure(carom_backend backend, cl_call call, int at, int *failed)
{
    moving m = start_as(scene_both(scene_sphere(9), scene_soup(SEED, 300, 0.1)), backend, 1);
    scene was = scene_copy(&m.s), first = scene_copy(&m.s);
    carom_error err = {0};
    move_scene(&first, &was, 0, 1);
    memcpy(m.s.vertices, first.vertices, 3 * first.vertex_count * sizeof(float));
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    move_scene(&m.s, &was, 1, 0);
    const carom_points vertices = send(&m, TOGETHER);
    cl_sabotage(call, at, 0);
    const carom_status status = carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &err);
    *failed = cl_calls(call) >= at;
    cl_relieve();
    if (backend == CAROM_BACKEND_AUTO || !*failed)
        assert_int_equal(status, CAROM_OK);
    else
        assert_int_equal(status, CAROM_ERROR_DEVICE_LOST);
    if (status != CAROM_OK)
        memcpy(m.s.vertices, first.vertices, 3 * first.vertex_count * sizeof(float));
    if (*failed || status == CAROM_OK)
        move_expected(&m, CAROM_MESH_REFIT);
    carom_mesh_info info = {.size = sizeof info};
    test_ok("info", carom_mesh_get_info(m.mesh, &info, &err), &err); /* the driver still returns the vertices */
    assert_memory_equal(m.mesh->vertices, m.expected->vertices, 12 * m.s.vertex_count);
    assert_memory_equal(m.mesh->leaves, m.expected->leaves, caromi_bytes_of_leaves(m.expected));
    scene_free(&was);
    scene_free(&first);
    finish(&m);
}

static void failing_refits_lose_nothing(void **state)
{
    static const cl_call fail[] = {CALL_LAUNCH, CALL_READ, CALL_ARGUMENT};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fail); i++)
        for (int backend = 0; backend < 2; backend++) {
            int failed = 1;
            for (int at = 1; failed && at < 200; at += fail[i] == CALL_ARGUMENT ? 23 : 2)
                check_failure(backend ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, fail[i], at, &failed);
            assert_false(failed);
        }
}

/* Without memory for a refit there the host refits, with `auto`; with `opencl` that is an error, and nothing moves. */
static void scarce_memory_is_no_loss(void **state)
{
    (void)state;
    int failed = 1;
    for (int at = 1; failed && at < 60; at += 2)
        for (int backend = 0; backend < 2; backend++) {
            moving m = start_as(scene_sphere(9), backend ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, 1);
            scene was = scene_copy(&m.s);
            carom_error err = {0};
            move_scene(&m.s, &was, 0, 1);
            const carom_points vertices = send(&m, TOGETHER);
            cl_sabotage(CALL_BUFFER, at, 1);
            const carom_status status = carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &err);
            failed = cl_calls(CALL_BUFFER) >= at;
            cl_relieve();
            if (failed && backend == 0)
                assert_int_equal(status, CAROM_ERROR_OUT_OF_MEMORY);
            else
                test_ok("update", status, &err);
            if (status == CAROM_OK)
                move_expected(&m, CAROM_MESH_REFIT);
            else
                assert_int_equal(m.mesh->info.refits, 0);
            carom_mesh_info info = {.size = sizeof info};
            test_ok("info", carom_mesh_get_info(m.mesh, &info, &err), &err);
            assert_memory_equal(m.mesh->leaves, m.expected->leaves, caromi_bytes_of_leaves(m.expected));
            scene_free(&was);
            finish(&m);
        }
    assert_false(failed);
}

/* With lanes the vertices are brought, as by any device that does not refit. */
static void other_devices_bring_the_vertices(void **state)
{
    static const uint32_t lanes[] = {4, 8, 16};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lanes); i++) {
        moving m = start_as(scene_sphere(6), CAROM_BACKEND_OPENCL, lanes[i]);
        scene was = scene_copy(&m.s);
        swept_spheres b = swept_spheres_mixed(SEED, 200);
        move_scene(&m.s, &was, 0, 1);
        assert_true(move_both(&m, TOGETHER, CAROM_MESH_REFIT) >= 12 * m.s.vertex_count);
        assert_false(m.mesh->is_stale);
        expect_same_bytes(&m, "lanes");
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "lanes");
        swept_spheres_free(&b);
        scene_free(&was);
        finish(&m);
    }
}

/* The vertices are in the program's own cl_mem, of a device that shares the host's memory too. */
static void vertices_of_the_callers_opencl(void **state)
{
    (void)state;
    for (int discrete = 0; discrete < 2; discrete++) {
        cl_seen_as.discrete = discrete;
        caller c = caller_on(find_device(test_need_device().index));
        const carom_opencl_desc cl = {.size = sizeof cl, .context = c.context, .device = c.device, .queue = c.queue};
        carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
        moving m = {.s = scene_both(scene_sphere(6), scene_soup(SEED, 300, 0.1))};
        swept_spheres b = swept_spheres_mixed(SEED, 200);
        carom_error err = {0};
        cl_int code;
        desc.device = NULL;
        desc.device_lanes = 1;
        m.bytes = 44 * m.s.vertex_count + 64;
        const cl_mem memory = clCreateBuffer(c.context, CL_MEM_READ_WRITE, m.bytes + 256, NULL, &code);
        test_ok("context", carom_context_create_opencl(&desc, &cl, &m.context, &err), &err);
        test_ok("wrap", carom_buffer_wrap_opencl(m.context, memory, 256, m.bytes, &m.buffer, &err), &err);
        m.cpu = test_cpu(CAROM_ISA_AUTO, 2);
        m.mesh = scene_mesh(m.context, &m.s);
        m.expected = scene_mesh_of_devices(m.cpu, &m.s);
        scene was = scene_copy(&m.s);
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "before any move");
        for (int kind = 0; kind < 3; kind++) {
            move_scene(&m.s, &was, (uint64_t)kind, kind);
            (void)move_both(&m, (layout)(kind % LAYOUTS), CAROM_MESH_REFIT);
            assert_true(m.mesh->is_stale);
            expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "the caller's memory");
            expect_same_bytes(&m, "the caller's memory");
        }
        scene_free(&was);
        swept_spheres_free(&b);
        end(&m);
        (void)clReleaseMemObject(memory);
        caller_close(&c);
        cl_expect_none("the caller's memory");
    }
}

/* A device that bears smaller groups than a refit needs: the CPU refits, and the device keeps its other work. */
static void small_groups_leave_refits(void **state)
{
    (void)state;
    cl_seen_as.kernel_group = 32;
    moving m = start(scene_sphere(6));
    scene was = scene_copy(&m.s);
    swept_spheres b = swept_spheres_mixed(SEED, 200);
    for (int step = 0; step < 2; step++) {
        move_scene(&m.s, &was, (uint64_t)step, 1);
        (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
        assert_false(m.mesh->is_stale);
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "small groups");
        expect_same_bytes(&m, "small groups");
    }
    swept_spheres_free(&b);
    scene_free(&was);
    finish(&m);
    cl_seen_as.kernel_group = 0;
}

/* A device whose refit has other bits is refused: with `auto` the CPU refits. */
static void wrong_devices_are_refused(void **state)
{
    static const cl_patch wrong[] = {{"own->row[row][lane] = x;", "own->row[row][lane] = x * 1.5f;"},
                                     {"R(0.5) * REFIT_BALL_MARGIN", "R(0.25) * REFIT_BALL_MARGIN"},
                                     {"row >= 3 ? x > extreme", "row > 3 ? x > extreme"},
                                     {"distance = is_marked ? d", "distance = is_marked ? d + 1"},
                                     {"for (uint d = 1; d < distance; d++)", "for (uint d = 2; d < distance; d++)"},
                                     {"refused = finite ? refused", "refused = 1 ? refused"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const int is_auto = i % 2;
        moving m = start_as(scene_sphere(6), is_auto ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, 1);
        scene was = scene_copy(&m.s);
        carom_error err = {0};
        move_scene(&m.s, &was, 0, 1);
        const carom_points vertices = send(&m, TOGETHER);
        cl_text_patch = wrong[i];
        const carom_status status = carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &err);
        cl_text_patch = (cl_patch){NULL, NULL};
        if (is_auto) {
            test_ok("update", status, &err);
            move_expected(&m, CAROM_MESH_REFIT);
        } else {
            assert_true(status == CAROM_ERROR_NOT_BIT_EXACT || status == CAROM_ERROR_DEVICE_LOST);
        }
        assert_false(m.mesh->is_stale);
        expect_same_info(&m);
        scene_free(&was);
        finish(&m);
    }
}

int main(void)
{
    cl_seen_as.discrete = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_vertices_are_reported),     cmocka_unit_test(failing_refits_lose_nothing),
        cmocka_unit_test(scarce_memory_is_no_loss),       cmocka_unit_test(other_devices_bring_the_vertices),
        cmocka_unit_test(vertices_of_the_callers_opencl), cmocka_unit_test(small_groups_leave_refits),
        cmocka_unit_test(wrong_devices_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
