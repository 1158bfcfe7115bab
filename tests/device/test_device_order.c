/* SPDX-License-Identifier: MIT */
/* A device with one query per work-item sorts large batches along a space-filling curve, and uses a traversal stack as
 * short as the mesh allows. Neither changes an answer: first, all and any hits and closest points have the CPU's bits,
 * for every chunk size, also where all spheres share a cell of the curve, and where a mesh needs the long stack. */
#include "tests/support/cl_shim.h"
#include "tests/support/closest_answers.h"
#include "tests/support/exact_scenes.h"
#include "tests/support/lists.h"

#include <math.h>

/* Batches of more than 2^13 queries are sorted if the mesh has enough leaves, as the sphere of 7200 triangles has. */
enum { SEED = 97, QUERIES = 9001, SIDES = 30, DEEP = 3000 };

typedef struct heard {
    int orders, stacks; /* built kernels */
} heard;

static void listen(void *user, carom_log_level level, const char *text)
{
    heard *h = user;
    (void)level;
    h->orders += strstr(text, "built carom_sort_scatter") != NULL;
    h->stacks += strstr(text, "-DMESH_STACK=512") != NULL;
}

static carom_context *device(uint32_t lanes, uint32_t chunk, heard *h)
{
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device_lanes = test_lanes_for(lanes);
    desc.device_chunk = chunk;
    desc.log = listen;
    desc.log_user = h;
    desc.log_level = CAROM_LOG_INFO;
    const carom_status status = carom_context_create(&desc, &context, &err);
    if (status == CAROM_ERROR_NO_DEVICE)
        test_skip("opencl", err.message);
    test_ok("carom_context_create", status, &err);
    return context;
}

static hits sweep(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy)
{
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    hits h = hits_alloc(b->count, 0x5a);
    carom_mesh_hit_result result = hits_result(&h, 0);
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    return h;
}

static void compare_first(carom_mesh *expected, carom_mesh *got, const swept_spheres *b, carom_accuracy accuracy,
                          const char *label)
{
    hits before = sweep(expected, b, accuracy), h = sweep(got, b, accuracy);
    hits_compare(b, &before, &h, b->count, -1, label);
    hits_free(&before);
    hits_free(&h);
}

static void compare_list(carom_mesh *expected, carom_mesh *got, const swept_spheres *b, int overlaps, const char *label)
{
    const list_request q = {CAROM_ACCURACY_FAST, overlaps, CAROM_HITS_ALL};
    list_compare_request(expected, got, &q, b, label);
}

static void compare_closest(carom_mesh *expected, carom_mesh *got, const swept_spheres *b, const char *label)
{
    closest_results before = closest_results_alloc(b->count, 0x5a), n = closest_results_alloc(b->count, 0xa5);
    ask_part(expected, b, CAROM_ACCURACY_FAST, 0, b->count, &before, NULL);
    ask_part(got, b, CAROM_ACCURACY_FAST, 0, b->count, &n, NULL);
    closest_results_compare(b, &before, &n, b->count, -1, label);
    closest_results_free(&before);
    closest_results_free(&n);
}

/* Every search, in one chunk, and in two chunks of which the second is too small to be sorted. */
static void test_searches(void **state)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    scene s = scene_sphere(SIDES);
    s.masks = random_masks(SEED, s.triangle_count);
    carom_mesh *expected = scene_mesh(cpu, &s);
    swept_spheres b = swept_spheres_aimed(SEED, &s, 1.0, QUERIES);
    (void)state;
    b.mask = random_masks(SEED + 1, b.count);
    b.column[0][1] = NAN; /* not finite: no place on the curve */
    b.column[1][3] = INFINITY;
    b.column[2][5] = -3e38f;
    for (uint32_t chunk = 0; chunk <= 8300; chunk += 8300) {
        heard h = {0};
        carom_context *context = device(1, chunk, &h);
        carom_mesh *mesh = scene_mesh(context, &s);
        compare_first(expected, mesh, &b, CAROM_ACCURACY_FAST, "first hits in order");
        compare_first(expected, mesh, &b, CAROM_ACCURACY_EXACT, "exact first hits in order");
        compare_list(expected, mesh, &b, 0, "all hits in order");
        compare_list(expected, mesh, &b, 1, "overlaps in order");
        compare_closest(expected, mesh, &b, "closest points in order");
        assert_int_equal(h.orders, 1);
        assert_int_equal(h.stacks, 0);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
    swept_spheres_free(&b);
    scene_free(&s);
    carom_mesh_destroy(expected);
    carom_context_destroy(cpu);
}

/* Compares first hits by a device with this number of lanes. Returns whether the device sorted the batch. */
static int compare_with_lanes(uint32_t lanes, const scene *s, const swept_spheres *b, const char *label)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    heard h = {0};
    carom_context *context = device(lanes, 0, &h);
    carom_mesh *expected = scene_mesh(cpu, s), *mesh = scene_mesh(context, s);
    compare_first(expected, mesh, b, CAROM_ACCURACY_FAST, label);
    carom_mesh_destroy(expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    return h.orders;
}

/* All spheres in one cell; and work-items with several lanes, which interleave many queries each and do not sort. */
static void test_first_hits(void **state)
{
    scene s = scene_sphere(SIDES);
    swept_spheres b = swept_spheres_aimed(SEED + 1, &s, 1.0, QUERIES);
    (void)state;
    assert_int_equal(compare_with_lanes(4, &s, &b, "four lanes"), !test_has_lanes(4));
    for (size_t i = 0; i < b.count; i++)
        b.column[0][i] = b.column[1][i] = b.column[2][i] = 1.5f;
    assert_int_equal(compare_with_lanes(1, &s, &b, "all from one place"), 1);
    swept_spheres_free(&b);
    scene_free(&s);
}

/* Kernels are rebuilt once with the long stack, for the first mesh that needs it. All meshes use them from then on.
 * Each work-item has a stack of its own here, as on a device with too little local memory for others. */
static void test_deep(void **state)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    heard h = {0};
    cl_seen_as.local = 8 << 10;
    carom_context *context = device(1, 0, &h);
    scene s = scene_sphere(SIDES), deep = scene_deep(SEED, DEEP);
    carom_mesh *expected = scene_mesh(cpu, &s), *mesh = scene_mesh(context, &s);
    carom_mesh *deep_expected = scene_mesh(cpu, &deep), *deep_mesh = scene_mesh(context, &deep);
    swept_spheres b = swept_spheres_aimed(SEED + 2, &s, 1.0, 500);
    (void)state;
    compare_first(expected, mesh, &b, CAROM_ACCURACY_FAST, "a mesh like others");
    assert_int_equal(h.stacks, 0);
    compare_first(deep_expected, deep_mesh, &b, CAROM_ACCURACY_FAST, "a deep mesh");
    compare_list(deep_expected, deep_mesh, &b, 0, "a deep mesh, all hits");
    compare_closest(deep_expected, deep_mesh, &b, "a deep mesh, closest points");
    assert_true(h.stacks > 0);
    compare_first(expected, mesh, &b, CAROM_ACCURACY_FAST, "a mesh like others, after a deep one");
    swept_spheres_free(&b);
    scene_free(&s);
    scene_free(&deep);
    carom_mesh_destroy(expected);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(deep_expected);
    carom_mesh_destroy(deep_mesh);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_seen_as = (cl_disguise){0};
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_searches), cmocka_unit_test(test_first_hits),
                                       cmocka_unit_test(test_deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
