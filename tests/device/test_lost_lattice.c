/* SPDX-License-Identifier: MIT */
/* A device that fails in the middle of a volume: what it has answered is cut to the band and has its signs, the CPU
 * answers the slabs that are left, and all bits are those of the CPU alone. No node counts twice. */
#include "tests/support/cl_shim.h"
#include "tests/support/volumes.h"

#include <math.h>

enum { NODES = 40, CHUNK = 2000, TRIALS = 6 }; /* a chunk ends within a slab */

static const float band = 0.15f;

static carom_context *open_device(uint64_t from)
{
    carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device = desc.device != NULL ? desc.device : "0";
    desc.device_chunk = CHUNK;
    desc.auto_from = from;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* The volume, if call number `at` of this kind fails (0: none); compared with `expected`, unless NULL. */
static volume ask_failing(const scene *s, const carom_lattice *lattice, cl_call call, int at, uint64_t from,
                          carom_stats *stats, const volume *expected)
{
    cl_sabotage(call, at, 0);
    carom_context *context = open_device(from);
    carom_mesh *mesh = scene_mesh(context, s);
    carom_mesh_distance_desc desc = volume_desc(lattice, CAROM_ACCURACY_FAST);
    desc.band = &band;
    desc.sign = CAROM_SIGN_PARITY;
    *stats = (carom_stats){.size = sizeof *stats};
    volume v = volume_ask(mesh, &desc, stats);
    if (expected != NULL)
        volume_compare(lattice, expected, 0, &v, -1, "a device that fails");
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return v;
}

static void test_partial(void **state)
{
    static const cl_call calls_that_fail[] = {CALL_LAUNCH, CALL_COMMAND};
    (void)state;
    carom_context_destroy(test_device(0, 0)); /* ends the test if there is none */
    scene s = scene_sphere(12);
    const carom_lattice lattice = lattice_around(&s, NODES);
    const uint64_t slab = lattice.dims[0] * lattice.dims[1], all = slab * lattice.dims[2];
    carom_stats stats;
    volume expected = ask_failing(&s, &lattice, CALL_LAUNCH, 0, all + 1, &stats, NULL);
    assert_int_equal(stats.on_device, 0);
    for (size_t k = 0; k < COUNT_OF(calls_that_fail); k++) {
        int partial = 0;
        volume whole = ask_failing(&s, &lattice, calls_that_fail[k], 0, 1, &stats, &expected);
        const int calls = cl_calls(calls_that_fail[k]);
        assert_int_equal(stats.on_device, all);
        volume_free(&whole);
        for (int i = 0; i < TRIALS; i++) {
            volume got = ask_failing(&s, &lattice, calls_that_fail[k], calls - i * i, 1, &stats, &expected);
            assert_int_equal(stats.on_device % slab, 0); /* whole slabs */
            assert_int_equal(stats.on_device + stats.fallen_back, all);
            assert_true(stats.fallen_back > 0);
            partial += stats.on_device > 0;
            volume_free(&got);
        }
        assert_true(partial > 0);
    }
    cl_sabotage(CALL_LAUNCH, 0, 0);
    volume_free(&expected);
    scene_free(&s);
}

/* The square of scene_floor, in the plane x = 0. */
static scene upright_floor(void)
{
    scene s = scene_floor(4);
    for (size_t i = 0; i < s.vertex_count; i++) {
        s.vertices[3 * i + 2] = s.vertices[3 * i];
        s.vertices[3 * i] = 0;
    }
    return s;
}

/* Nodes whose distance is next to the limit R + h: integers decide all of them. */
static void test_integers(void **state)
{
    enum { WIDE = 70, DEEP = 140, ALL = WIDE * DEEP, CALLS = 3 };
    const carom_lattice lattice = {.origin = {0.5, -0.25, -0.5625}, .spacing = 0x1p-7, .dims = {1, WIDE, DEEP}};
    const float radius = (float)(0.5 - lattice.spacing * sqrt(0.75) * (1 + 0x1p-16));
    (void)state;
    carom_context_destroy(test_device(0, 0)); /* ends the test if there is none */
    scene s = upright_floor();
    uint8_t *expected = test_alloc(ALL, 1), *got = test_alloc(ALL, 1);
    int calls = 0, partial = 0;
    for (int i = 0; i < CALLS; i++) {
        carom_stats stats = {.size = sizeof stats};
        carom_error err = {0};
        cl_sabotage(CALL_LAUNCH, i == 0 ? 0 : calls - i, 0);
        carom_context *context = open_device(1);
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_mesh_clearance_desc desc = {
            .batch = {.size = sizeof desc, .count = DEEP, .accuracy = CAROM_ACCURACY_EXACT},
            .lattice = lattice,
            .radius = radius};
        const carom_mesh_clearance_result out = {.size = sizeof out, .clearance = i == 0 ? expected : got};
        test_ok("clearance", carom_mesh_clearance(mesh, &desc, &out, &stats, &err), &err);
        if (i == 0)
            calls = cl_calls(CALL_LAUNCH);
        else
            assert_memory_equal(got, expected, ALL);
        assert_int_equal(stats.by_integers, ALL);
        assert_int_equal(stats.by_proof, 0);
        partial += stats.on_device > 0 && stats.fallen_back > 0;
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
    assert_true(partial > 0);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    free(expected);
    free(got);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_partial), cmocka_unit_test(test_integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
