/* SPDX-License-Identifier: MIT */
/* Calls for clearance volumes: any slabs of a lattice, progress and a cancelled call, and what is refused. */
#include "tests/support/volumes.h"

#include <math.h>

static void test_slabs(void **state)
{
    carom_context *context = test_context();
    scene s = kinds[2].make(2000);
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = lattice_around(&s, 45);
    const size_t slab = (size_t)(lattice.dims[0] * lattice.dims[1]);
    carom_mesh_clearance_desc desc = clearance_desc(&lattice, (float)(1.5 * lattice.spacing), CAROM_ACCURACY_FAST);
    guarded whole = clearance_ask(mesh, &desc, NULL);
    (void)state;
    for (uint64_t begin = 0, step = 1; begin < lattice.dims[2]; begin += step, step = step * 3 % 11) {
        carom_stats stats = {.size = sizeof stats};
        desc.batch.begin = begin;
        desc.batch.count = begin + step < lattice.dims[2] ? begin + step : lattice.dims[2];
        guarded part = clearance_ask(mesh, &desc, &stats);
        assert_memory_equal(part.data, whole.data + begin * slab, part.size);
        assert_int_equal(stats.queries, part.size);
        guarded_free(&part);
    }
    guarded_free(&whole);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

static int stop_at_once(void *user, uint64_t done, uint64_t count)
{
    *(uint64_t *)user = done;
    return done > 0 && done < count;
}

static void test_progress(void **state)
{
    carom_context *context = test_context();
    scene s = kinds[1].make(8);
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = {{-2.0, -2.0, -2.0}, 0.03, {150, 150, 100}, {0}};
    const carom_mesh_clearance_desc whole = clearance_desc(&lattice, 0.1f, CAROM_ACCURACY_FAST);
    guarded expected = clearance_ask(mesh, &whole, NULL), got = guarded_alloc(expected.size, 0, 0x77);
    const carom_mesh_clearance_result out = {.size = sizeof out, .clearance = got.data};
    carom_mesh_clearance_desc desc = whole;
    uint64_t done = 0;
    carom_error err;
    (void)state;
    desc.batch.progress = (carom_progress){stop_at_once, &done};
    test_error(carom_mesh_clearance(mesh, &desc, &out, NULL, &err), CAROM_ERROR_CANCELLED, &err, "cancelled at slab ");
    assert_in_range(done, 1, 99);
    assert_memory_equal(got.data, expected.data, done * 150 * 150);
    assert_int_equal(got.data[done * 150 * 150], 0x77);
    guarded_free(&expected);
    guarded_free(&got);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

static void check_refused(carom_mesh *mesh, const carom_mesh_clearance_desc *desc, const char *word)
{
    uint8_t answer = 7;
    const carom_mesh_clearance_result out = {.size = sizeof out, .clearance = &answer};
    carom_error err;
    test_error(carom_mesh_clearance(mesh, desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, word);
    assert_int_equal(answer, 7);
}

/* Nodes at 128 + i are multiples of 2^-16 only: one that is half of that away is rounded by 2^-17 of the spacing 1. */
static void test_gaps(void **state)
{
    static const struct {
        carom_lattice lattice;
        const char *word;
    } cases[] = {{{{128.0 + 0x1p-17, 0.0, 0.0}, 1.0, {1, 1, 1}, {0}}, NULL},
                 {{{128.0 + 0x1p-17, 0.0, 0.0}, 1.0 - 0x1p-53, {1, 1, 1}, {0}}, "node 0 along x, at 128, is rounded"},
                 {{{128.0 + 3 * 0x1p-18, 0.0, 0.0}, 1.0, {1, 1, 1}, {0}}, NULL},
                 {{{0.0, 0.0, 1024.0}, 1.0 + 0x1p-20, {1, 1, 9}, {0}}, NULL},
                 {{{0.0, 0.0, 1024.0}, 1.0 + 0x1p-17, {1, 1, 9}, {0}}, "node 2 along z, at 1026, is rounded"},
                 {{{0.0, 1e4, 0.0}, 0.01, {1, 9, 1}, {0}}, "along y"},
                 {{{0.0, 0.0, 0.0}, 1e-44, {1, 2, 1}, {0}}, "node 1 along y"},
                 {{{0.0, 0.0, 0.0}, 0x1p-149, {1, 2, 1}, {0}}, NULL},
                 {{{-0x1p24, 0.0, 0.0}, 1.0, {UINT64_C(1) << 40, 1, 1}, {0}}, "node 33554433 along x"},
                 {{{0.0, 0.0, 0.0}, 0x1p1000, {1, 1, 1}, {0}}, NULL},
                 {{{0.0, 0.0, 0.0}, 0x1p-1060, {1, 1, 1}, {0}}, NULL},
                 {{{0x1p-150, 0.0, 0.0}, 0x1p-133, {1, 1, 1}, {0}}, NULL},
                 {{{0x1p-150, 0.0, 0.0}, 0x1p-134, {1, 1, 1}, {0}}, "node 0 along x"}};
    carom_context *context = test_context();
    scene s = kinds[1].make(8);
    carom_mesh *mesh = scene_mesh(context, &s);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        carom_mesh_clearance_desc desc = clearance_desc(&cases[i].lattice, 1.0f, CAROM_ACCURACY_FAST);
        const carom_mesh_clearance_result out = {.size = sizeof out};
        carom_error err;
        desc.batch.count = 0;
        if (cases[i].word != NULL)
            check_refused(mesh, &desc, cases[i].word);
        else
            test_ok("a lattice without gaps", carom_mesh_clearance(mesh, &desc, &out, NULL, &err), &err);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_refused(void **state)
{
    static const carom_lattice one = {{0.0, 0.0, 0.0}, 1.0, {1, 1, 1}, {0}};
    static const float bad_radii[] = {-1.0f, NAN, INFINITY};
    const carom_mesh_clearance_desc good = clearance_desc(&one, 1.0f, CAROM_ACCURACY_FAST);
    const carom_mesh_clearance_result small = {.size = 1};
    carom_context *context = test_context();
    scene s = kinds[1].make(8);
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_mesh_clearance_desc bad = good;
    carom_error err;
    (void)state;
    bad.batch.count = 2;
    check_refused(mesh, &bad, "count is 2; the lattice has 1 slabs");
    bad = good;
    bad.batch.elements = 1;
    check_refused(mesh, &bad, "not for a lattice");
    bad = good;
    bad.lattice.spacing = -1.0;
    check_refused(mesh, &bad, "lattice.spacing is -1");
    bad = good;
    bad.batch.size--;
    check_refused(mesh, &bad, "carom_mesh_clearance_desc");
    bad = good;
    bad.sign = (carom_sign)4;
    check_refused(mesh, &bad, "sign is 4");
    bad = good;
    bad.allow_open = 2;
    check_refused(mesh, &bad, "allow_open is 2");
    for (size_t i = 0; i < COUNT_OF(bad_radii); i++) {
        bad = good;
        bad.radius = bad_radii[i];
        check_refused(mesh, &bad, "it must be finite and >= 0");
    }
    test_error(carom_mesh_clearance(mesh, &good, &small, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "carom_mesh_clearance_result");
    scene soup = kinds[0].make(8);
    carom_mesh *open = scene_mesh(context, &soup);
    bad = good;
    for (int sign = CAROM_SIGN_PARITY; sign <= CAROM_SIGN_WINDING; sign++) {
        bad.sign = (carom_sign)sign;
        check_refused(open, &bad, "the mesh is open: 24 edges");
    }
    carom_mesh_destroy(open);
    scene_free(&soup);
    test_error(carom_mesh_clearance(NULL, &good, &small, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "mesh");
    test_error(carom_mesh_clearance(mesh, NULL, &small, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "desc");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slabs), cmocka_unit_test(test_progress),
                                       cmocka_unit_test(test_gaps), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
