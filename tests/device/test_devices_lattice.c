/* SPDX-License-Identifier: MIT */
/* Lattices on several devices, which share the group of slabs whose signs are known. ThreadSanitizer sees each access
 * that no lock orders, also where the bits come out right by chance: the row tsan. */
#include "tests/support/several_devices.h"

/* Pieces of lattices are whole slabs. Signs are found in groups of slabs, which the devices share. */
static void test_lattices(void **state)
{
    enum { SIDE = 40, NODES = SIDE * SIDE * SIDE };
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 1000), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(context, &few.s), *same = scene_mesh(cpu, &few.s);
    float *got = test_alloc(NODES, sizeof *got), *distance = test_alloc(NODES, sizeof *distance);
    uint8_t *clear = test_alloc(NODES, 1), *clearance = test_alloc(NODES, 1);
    const carom_lattice lattice = {.dims = {SIDE, SIDE, SIDE}, .origin = {-2, -2, -2}, .spacing = 4.0 / SIDE};
    for (int exact = 0; exact < 2; exact++) {
        const carom_batch batch = {.count = SIDE, .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST};
        carom_mesh_distance_desc d = {.batch = batch, .lattice = lattice, .sign = CAROM_SIGN_PARITY, .allow_open = 1};
        carom_mesh_clearance_desc c = {.batch = batch, .lattice = lattice, .radius = 0.5f};
        d.batch.size = sizeof d;
        c.batch.size = sizeof c;
        for (int round = 0; round < 4; round++) {
            const int ours = round > 0;
            const carom_mesh_distance_result out = {.size = sizeof out, .distance = ours ? got : distance};
            const carom_mesh_clearance_result free_out = {.size = sizeof free_out,
                                                          .clearance = ours ? clear : clearance};
            carom_stats stats = {.size = sizeof stats};
            carom_error err = {0};
            test_ok("distances", carom_mesh_distance(ours ? mesh : same, &d, &out, &stats, &err), &err);
            if (ours) {
                expect_sums(&stats);
                assert_memory_equal(got, distance, NODES * sizeof *got);
            }
            test_ok("clearance", carom_mesh_clearance(ours ? mesh : same, &c, &free_out, &stats, &err), &err);
            if (ours) {
                expect_sums(&stats);
                assert_memory_equal(clear, clearance, NODES);
            }
            memset(got, 0, NODES * sizeof *got);
            memset(clear, 0xff, NODES);
        }
    }
    free(got);
    free(distance);
    free(clear);
    free(clearance);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(same);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_expect_none("lattices");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lattices)};
    return show_devices() != 0 || cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
