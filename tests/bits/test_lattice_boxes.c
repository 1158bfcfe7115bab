/* SPDX-License-Identifier: MIT */
/* A box of a grid has the answers of its nodes in the whole, bit for bit: distances with signs, clearance, heights. */
#include "tests/support/volumes.h"

#include <math.h>

enum { BOXES = 12, FAR = 1 << 20 };

typedef struct box {
    uint64_t first[3], dims[3];
} box;

/* Boxes of all kinds: one node, a column, a row, a layer, the whole, and others. */
static box box_of(const uint64_t dims[3], uint64_t i)
{
    box b;
    for (int k = 0; k < 3; k++) {
        const uint64_t kind = i >> k & 1, n = dims[k];
        b.first[k] = i == 0 ? n / 2 : kind ? 0 : (i * 7 + (uint64_t)k * 5) % n;
        b.dims[k] = i == 0 ? 1 : kind ? n : 1 + (i * 11 + (uint64_t)k * 3) % (n - b.first[k]);
    }
    return b;
}

/* Numbers that a spacing apart have different roundings everywhere; as a grid of its own, and as a box of a grid whose
 * node 0 is far off. */
static carom_lattice grid(int is_far)
{
    carom_lattice g = {.origin = {-1.2345, -1.3456, -1.4567}, .spacing = 0.0531, .dims = {49, 53, 57}};
    for (int k = 0; k < 3 && is_far; k++) {
        g.first[k] = FAR;
        g.origin[k] -= FAR * g.spacing;
    }
    return g;
}

static carom_lattice part_of(const carom_lattice *whole, const box *b)
{
    carom_lattice part = *whole;
    for (int k = 0; k < 3; k++) {
        part.first[k] = whole->first[k] + b->first[k];
        part.dims[k] = b->dims[k];
    }
    return part;
}

/* Compares arrays of nodes of `size` bytes. */
static void compare(const carom_lattice *whole, const box *b, const unsigned char *expected, const unsigned char *got,
                    size_t size, const char *label)
{
    size_t at = 0;
    for (uint64_t k = 0; k < b->dims[2]; k++)
        for (uint64_t j = 0; j < b->dims[1]; j++)
            for (uint64_t i = 0; i < b->dims[0]; i++, at++) {
                const uint64_t row = (k + b->first[2]) * whole->dims[1] + j + b->first[1],
                               node = row * whole->dims[0] + i + b->first[0];
                if (memcmp(expected + node * size, got + at * size, size) != 0)
                    fail_msg("%s: node %llu differs in a box at %llu,%llu,%llu of %llu,%llu,%llu", label,
                             (unsigned long long)node, (unsigned long long)b->first[0], (unsigned long long)b->first[1],
                             (unsigned long long)b->first[2], (unsigned long long)b->dims[0],
                             (unsigned long long)b->dims[1], (unsigned long long)b->dims[2]);
            }
}

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

static void test_coordinates(void **state)
{
    const carom_lattice whole = grid(1);
    const box b = {{3, 5, 7}, {2, 2, 2}};
    const carom_lattice part = part_of(&whole, &b);
    (void)state;
    for (int k = 0; k < 3; k++)
        for (uint64_t i = 0; i < 2; i++) {
            volatile double product = (double)(FAR + b.first[k] + i) * whole.spacing; /* volatile: never fused */
            const float expected = (float)(whole.origin[k] + product);
            assert_true(carom_lattice_coordinate(&part, k, i) == expected);
            assert_true(carom_lattice_coordinate(&whole, k, b.first[k] + i) == expected);
        }
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

static void check_distances(carom_mesh *mesh, const carom_lattice *whole, const carom_mesh_distance_desc *desc)
{
    static const size_t sizes[VOLUME_FIELDS] = {4, 4, 4, 4, 4, 1};
    volume all = volume_ask(mesh, desc, NULL);
    for (uint64_t i = 0; i < BOXES; i++) {
        const box b = box_of(whole->dims, i);
        carom_mesh_distance_desc part = *desc;
        part.lattice = part_of(whole, &b);
        part.batch.count = b.dims[2];
        volume got = volume_ask(mesh, &part, NULL);
        for (int f = 0; f < VOLUME_FIELDS; f++)
            compare(whole, &b, all.field[f].data, got.field[f].data, sizes[f], "distances");
        volume_free(&got);
    }
    volume_free(&all);
}

static void test_distances(void **state)
{
    static const float bands[] = {INFINITY, 0.2f};
    (void)state;
    for (int i = 0; i < 4; i++) {
        carom_context *context = test_context();
        scene s = scene_sphere(12);
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_lattice whole = grid(i & 1);
        carom_mesh_distance_desc desc = volume_desc(&whole, i & 1 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        desc.sign = i & 1 ? CAROM_SIGN_WINDING : CAROM_SIGN_PARITY;
        desc.band = &bands[i / 2];
        check_distances(mesh, &whole, &desc);
        carom_mesh_destroy(mesh);
        scene_free(&s);
        carom_context_destroy(context);
    }
}

/* ---- clearance --------------------------------------------------------------------------------------------------- */

static void test_clearance(void **state)
{
    carom_context *context = test_context();
    scene s = scene_sphere(12);
    carom_mesh *mesh = scene_mesh(context, &s);
    (void)state;
    for (int is_far = 0; is_far < 2; is_far++) {
        const carom_lattice whole = grid(is_far);
        const carom_mesh_clearance_desc desc = clearance_desc(&whole, 0.3f, CAROM_ACCURACY_FAST);
        guarded all = clearance_ask(mesh, &desc, NULL);
        for (uint64_t i = 0; i < BOXES; i++) {
            const box b = box_of(whole.dims, i);
            const carom_lattice part = part_of(&whole, &b);
            const carom_mesh_clearance_desc of_part = clearance_desc(&part, 0.3f, CAROM_ACCURACY_FAST);
            guarded got = clearance_ask(mesh, &of_part, NULL);
            compare(&whole, &b, all.data, got.data, 1, "clearance");
            guarded_free(&got);
        }
        guarded_free(&all);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- drop maps --------------------------------------------------------------------------------------------------- */

static guarded ask_heights(carom_mesh *mesh, const carom_lattice *lattice)
{
    const carom_mesh_drop_desc desc = {
        .batch = {.size = sizeof desc, .count = lattice->dims[1]}, .lattice = *lattice, .radius = 0.3f};
    guarded memory = guarded_alloc(lattice_nodes(lattice) * sizeof(float), 0, 0x5a);
    const carom_mesh_drop_result out = {.size = sizeof out, .height = (float *)(void *)memory.data};
    carom_error err;
    test_ok("heights of a box", carom_mesh_drop(mesh, &desc, &out, NULL, &err), &err);
    guarded_check(&memory, "heights");
    return memory;
}

static void test_heights(void **state)
{
    carom_context *context = test_context();
    scene s = scene_sphere(12);
    carom_mesh *mesh = scene_mesh(context, &s);
    (void)state;
    for (int is_far = 0; is_far < 2; is_far++) {
        carom_lattice whole = grid(is_far);
        whole.dims[2] = 1;
        guarded all = ask_heights(mesh, &whole);
        for (uint64_t i = 0; i < BOXES; i++) {
            box b = box_of(whole.dims, i);
            b.first[2] = 0;
            b.dims[2] = 1;
            const carom_lattice part = part_of(&whole, &b);
            guarded got = ask_heights(mesh, &part);
            compare(&whole, &b, all.data, got.data, sizeof(float), "heights");
            guarded_free(&got);
        }
        guarded_free(&all);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    carom_context *context = test_context();
    scene s = scene_sphere(3);
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_lattice lattice = {.spacing = 1.0, .dims = {1, 1, 1}, .first = {0, (UINT64_C(1) << 48) + 1, 0}};
    carom_mesh_distance_desc desc = volume_desc(&lattice, CAROM_ACCURACY_FAST);
    const carom_mesh_distance_result out = {.size = sizeof out};
    carom_error err;
    (void)state;
    test_error(carom_mesh_distance(mesh, &desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "lattice.first[1] is 281474976710657; at most 2^48");
    desc.lattice.spacing = 1e38;
    desc.lattice.first[1] = 4;
    test_error(carom_mesh_distance(mesh, &desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "lattice: node 0 along y, at 4e+38, is beyond binary32");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_coordinates), cmocka_unit_test(test_distances),
                                       cmocka_unit_test(test_clearance), cmocka_unit_test(test_heights),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
