/* SPDX-License-Identifier: MIT */
/* The work of a GPU for the signs of a lattice: a group of columns looks at the triangles near these alone, and
 * launches add up no more than a part of a deep column. */
#include "tests/support/cl_shim.h"
#include "tests/support/volumes.h"

/* A context whose device answers lattices by tiles. */
static carom_context *open_tiles(void)
{
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    if (!test_need_device().fp64)
        test_skip("binary64", "tiles need it");
    desc.device_lanes = 1;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* Signed distances, cut to a band that the mesh is beyond; the caller frees them. */
static float *signs_of(carom_context *context, const scene *s, const carom_lattice *lattice)
{
    static const float band = 0x1p-10f;
    const carom_mesh_distance_desc desc = {.batch = {.size = sizeof desc, .count = lattice->dims[2]},
                                           .lattice = *lattice,
                                           .sign = CAROM_SIGN_PARITY,
                                           .allow_open = 1,
                                           .band = &band};
    carom_mesh *mesh = scene_mesh(context, s);
    float *distance = test_alloc(lattice_nodes(lattice), sizeof *distance);
    const carom_mesh_distance_result out = {.size = sizeof out, .distance = distance};
    carom_error err = {0};
    test_ok("signs", carom_mesh_distance(mesh, &desc, &out, NULL, &err), &err);
    carom_mesh_destroy(mesh);
    return distance;
}

static void check_signs(carom_context *context, const scene *s, const carom_lattice *lattice)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    float *expected = signs_of(cpu, s, lattice), *got = signs_of(context, s, lattice);
    assert_memory_equal(got, expected, lattice_nodes(lattice) * sizeof *got);
    free(expected);
    free(got);
    carom_context_destroy(cpu);
}

/* A group that tests more than 40 times 64 boxes or triangles marks its answers as truncated. */
static void a_group_looks_near_its_columns(void **state)
{
    const carom_lattice lattice = {.origin = {-1.01, -1.02, -0.5}, .spacing = 0x1p-7, .dims = {260, 250, 1}};
    (void)state;
    cl_text_patch = (cl_patch){
        "while (queue->listed <= COLUMNS_PIECE && !tile_queue_is_empty(queue)) {",
        "for (u32 turn = 0; queue->listed <= COLUMNS_PIECE && !tile_queue_is_empty(queue); turn++) {\n"
        "if (turn == 40) work->levels[(ulong)work->box->count[0] * work->box->count[1] * work->box->count[2]] = 1;\n"};
    carom_context *context = open_tiles();
    scene s = scene_floor(160);
    check_signs(context, &s, &lattice);
    scene_free(&s);
    carom_context_destroy(context);
    cl_text_patch = (cl_patch){NULL, NULL};
}

/* A chunk of a GPU has at most 2^16 slabs. */
static void deep_columns_are_cut(void **state)
{
    const carom_lattice lattice = {.origin = {0.1, 0.2, -3.0}, .spacing = 0x1p-14, .dims = {1, 1, 3 << 16}};
    (void)state;
    cl_seen_as.gpu = 1;
    carom_context *context = open_tiles();
    scene s = scene_floor(2);
    check_signs(context, &s, &lattice);
    cl_relieve();
    float *again = signs_of(context, &s, &lattice);
    assert_true(cl_calls(CALL_LAUNCH) >= 3 * 4); /* for each chunk of clearing, columns, sums and tiles */
    free(again);
    scene_free(&s);
    carom_context_destroy(context);
    cl_seen_as.gpu = 0;
}

/* Signed distances, both accuracies after each other in one context; returns the first status that is not CAROM_OK. */
static carom_status ask_signs(carom_context *context, const scene *s, carom_stats *stats, carom_error *err)
{
    const carom_lattice lattice = {.origin = {-1, -1, -1}, .spacing = 0.25, .dims = {8, 8, 8}};
    carom_mesh *mesh = scene_mesh(context, s);
    float distance[512], expected[512];
    carom_status status = CAROM_OK;
    for (int exact = 0; exact < 2 && status == CAROM_OK; exact++) {
        const carom_mesh_distance_desc desc = {
            .batch = {.size = sizeof desc,
                      .count = lattice.dims[2],
                      .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST},
            .lattice = lattice,
            .sign = CAROM_SIGN_PARITY,
            .allow_open = 1};
        const carom_mesh_distance_result out = {.size = sizeof out, .distance = distance},
                                         out_expected = {.size = sizeof out, .distance = expected};
        status = carom_mesh_distance(mesh, &desc, &out, stats, err);
        if (status != CAROM_OK)
            continue;
        carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
        carom_mesh *here = scene_mesh(cpu, s);
        test_ok("CPU", carom_mesh_distance(here, &desc, &out_expected, NULL, err), err);
        assert_memory_equal(distance, expected, sizeof distance);
        carom_mesh_destroy(here);
        carom_context_destroy(cpu);
    }
    carom_mesh_destroy(mesh);
    return status;
}

/* Heights of crossings that integers decide, and signs of exact mode alone, are probed. */
static void wrong_signs_are_found(void **state)
{
    static const cl_patch faults[] = {
        {"return crossing_exact_height(corner, x, y, z) == -side;",
         "return crossing_exact_height(corner, x, y, z) == side;"},
        {"? R(0.0) - answer : answer;",
         "\n#ifdef TILE_EXACT\n? answer : answer;\n#else\n? R(0.0) - answer : answer;\n#endif\n"}};
    (void)state;
    scene s = scene_sphere(4);
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        carom_error err = {0};
        cl_text_patch = faults[i];
        carom_context *context = open_tiles();
        const carom_status status = ask_signs(context, &s, NULL, &err);
        assert_int_equal(status, CAROM_ERROR_NOT_BIT_EXACT);
        carom_context_destroy(context);
        cl_text_patch = (cl_patch){NULL, NULL};
    }
    scene_free(&s);
}

/* A device that bears smaller groups than a tile has nodes: the CPU answers with a reason, and later calls have a query
 * for each node. */
static void small_groups_leave_tiles(void **state)
{
    (void)state;
    cl_seen_as.kernel_group = 32;
    scene s = scene_sphere(4);
    carom_context *context = open_tiles();
    for (int again = 0; again < 2; again++) {
        carom_error err = {0};
        carom_stats stats = {.size = sizeof stats};
        test_ok("signs", ask_signs(context, &s, &stats, &err), &err);
        assert_int_equal(stats.on_device, 512); /* of the exact call, behind the fast one */
    }
    carom_context_destroy(context);
    scene_free(&s);
    cl_seen_as.kernel_group = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_group_looks_near_its_columns),
                                       cmocka_unit_test(deep_columns_are_cut), cmocka_unit_test(wrong_signs_are_found),
                                       cmocka_unit_test(small_groups_leave_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
