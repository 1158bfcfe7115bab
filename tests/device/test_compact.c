/* SPDX-License-Identifier: MIT */
/* First hits as a list from a discrete device, which compacts the hits before they are transferred. The bytes are those
 * of the CPU's list, whether some, all or no queries hit, in several chunks, with too small a capacity, and on devices
 * whose groups have few work-items, which sort queries too. Where the device cannot compact, it transfers whole
 * columns. */
#include "tests/support/cl_shim.h"
#include "tests/support/exact_scenes.h"
#include "tests/support/lists.h"

enum { SEED = 101, COUNT = 2001, MANY = 1 << 16, HIT = 10, RECORD = 40 /* bytes, with contacts */ };

/* ---- requests ---------------------------------------------------------------------------------------------------- */

typedef struct request {
    carom_accuracy accuracy;
    int contacts;
} request;

static const request requests[] = {
    {CAROM_ACCURACY_FAST, 0}, {CAROM_ACCURACY_FAST, 1}, {CAROM_ACCURACY_EXACT, 0}, {CAROM_ACCURACY_EXACT, 1}};

/* Number of leading requests that the device answers: exact mode, which comes last, needs binary64. */
static size_t requests_for(const carom_context *context)
{
    carom_device_info info = {.size = sizeof info};
    assert_int_equal(carom_context_get_device(context, &info, NULL), CAROM_OK);
    return info.fp64 ? COUNT_OF(requests) : 2;
}

static hit_list ask_from(carom_mesh *mesh, const request *q, const swept_spheres *b, size_t first, size_t capacity)
{
    hit_list l = list_alloc(b->count - first, capacity, 0x5a);
    carom_hit_list list = list_desc(&l, LIST_HITS);
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, first, b->count - first);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    desc.batch.accuracy = q->accuracy;
    if (!q->contacts) {
        list.point = list.normal = (carom_points_out){0};
        list.feature = NULL;
    }
    test_ok("first hits", carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_FIRST, &list, &stats, &err), &err);
    l.by_integers = stats.by_integers;
    l.on_device = stats.on_device;
    return l;
}

/* Compares every array, also those that were not requested, which must be untouched. */
static void compare(const hit_list *expected, const hit_list *got)
{
    assert_int_equal(got->total, expected->total);
    assert_int_equal(got->complete, expected->complete);
    assert_int_equal(got->stored, expected->stored);
    assert_memory_equal(got->offsets.data, expected->offsets.data, expected->offsets.size);
    assert_memory_equal(got->query.data, expected->query.data, expected->query.size);
    for (int f = 0; f < HIT_FIELDS; f++) {
        guarded_check(&got->hits.field[f], "first hits");
        assert_memory_equal(got->hits.field[f].data, expected->hits.field[f].data, expected->hits.field[f].size);
    }
}

typedef struct counts {
    uint64_t hits, integers;
} counts;

/* Compares with a capacity for all hits, and for half of them. Returns the number of hits, and of queries that were
 * decided in integers. */
static counts compare_meshes(carom_mesh *expected, carom_mesh *got, const request *q, const swept_spheres *b)
{
    counts n = {0, 0};
    hit_list all = ask_from(expected, q, b, 0, b->count);
    for (int half = 0; half < 2; half++) {
        const size_t capacity = half ? (size_t)all.total / 2 : b->count;
        hit_list before = ask_from(expected, q, b, 0, capacity), l = ask_from(got, q, b, 0, capacity);
        assert_int_equal(l.on_device, b->count);
        compare(&before, &l);
        n.integers += l.by_integers;
        list_free(&before);
        list_free(&l);
    }
    n.hits = all.total;
    list_free(&all);
    return n;
}

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

/* Spheres beside the mesh, a sphere at the origin. Every `stride`-th moves towards the mesh, the others away; with 0
 * all move away. */
static swept_spheres swept_spheres_few(size_t count, size_t stride)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        b.column[0][i] = 3.0f + (float)(i % 7);
        b.column[1][i] = 0.01f * (float)(i % 11);
        b.column[SPHERE_RADIUS][i] = 0.125f;
        b.column[4][i] = stride != 0 && i % stride == stride / 2 ? -1.0f : 1.0f;
    }
    return b;
}

/* Compares every request. Returns the number of queries that were decided in integers. */
static uint64_t check_same(carom_context *context, const scene *s, const swept_spheres *b, uint64_t least,
                           uint64_t most)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *expected = scene_mesh(cpu, s), *mesh = scene_mesh(context, s);
    uint64_t settled = 0;
    for (size_t k = 0; k < requests_for(context); k++) {
        const counts n = compare_meshes(expected, mesh, &requests[k], b);
        assert_in_range(n.hits, least, most);
        settled += n.integers;
    }
    carom_mesh_destroy(expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    return settled;
}

/* Some, all and no queries hit; with one lane in several chunks, and with four lanes in one chunk, whose last work-item
 * is padded. */
static void test_same(void **state)
{
    static const uint32_t devices[][2] = {{1, 700}, {4, 0}};
    scene lattice = kinds[4].make(200), sphere = scene_sphere(4);
    swept_spheres some = swept_spheres_mixed(SEED, COUNT), aimed = swept_spheres_aimed(SEED, &lattice, 1.0, COUNT);
    swept_spheres all = swept_spheres_few(COUNT, 1), none = swept_spheres_few(COUNT, 0);
    (void)state;
    for (size_t i = 0; i < COUNT; i += 2) /* aimed spheres are ties, which the filter leaves undecided */
        for (int c = 0; c < SPHERE_COLUMNS; c++)
            some.column[c][i] = aimed.column[c][i];
    for (size_t k = 0; k < COUNT_OF(devices); k++) {
        carom_context *context = test_device(devices[k][0], devices[k][1]);
        const uint64_t settled = check_same(context, &lattice, &some, 1, COUNT - 1);
        assert_true(settled > 0 || requests_for(context) < COUNT_OF(requests));
        (void)check_same(context, &sphere, &all, COUNT, COUNT);
        (void)check_same(context, &sphere, &none, 0, 0);
        carom_context_destroy(context);
    }
    swept_spheres_free(&some);
    swept_spheres_free(&aimed);
    swept_spheres_free(&all);
    swept_spheres_free(&none);
    scene_free(&lattice);
    scene_free(&sphere);
}

/* Where the capacity is too small, further calls from query `complete` on get the rest. */
static void test_short_list(void **state)
{
    enum { CAPACITY = 90 };
    const request q = requests[1];
    scene s = scene_sphere(4);
    swept_spheres b = swept_spheres_few(COUNT, 5);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2), *context = test_device(1, 0);
    carom_mesh *expected = scene_mesh(cpu, &s), *mesh = scene_mesh(context, &s);
    size_t calls = 0;
    (void)state;
    for (size_t from = 0; from < COUNT; calls++) {
        hit_list before = ask_from(expected, &q, &b, from, CAPACITY), l = ask_from(mesh, &q, &b, from, CAPACITY);
        compare(&before, &l);
        from += (size_t)l.complete;
        list_free(&before);
        list_free(&l);
    }
    assert_int_equal(calls, (COUNT / 5 + CAPACITY - 1) / CAPACITY);
    carom_mesh_destroy(expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    carom_context_destroy(context);
    swept_spheres_free(&b);
    scene_free(&s);
}

/* ---- bytes transferred ------------------------------------------------------------------------------------------- */

/* Few hits in many queries: only their records are transferred. A first batch builds kernels and allocates memory. */
static void test_few_bytes(void **state)
{
    scene s = scene_sphere(4);
    swept_spheres b = swept_spheres_few(MANY, MANY / HIT);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2), *context = test_device(0, MANY / 4);
    carom_mesh *expected = scene_mesh(cpu, &s), *mesh = scene_mesh(context, &s);
    (void)state;
    for (size_t k = 0; k < requests_for(context); k++) {
        compare_meshes(expected, mesh, &requests[k], &b);
        cl_fetched = 0;
        hit_list l = ask_from(mesh, &requests[k], &b, 0, MANY);
        assert_int_equal(l.total, HIT);
        assert_in_range(cl_fetched, 1, HIT * RECORD + 64);
        list_free(&l);
    }
    carom_mesh_destroy(expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    carom_context_destroy(context);
    swept_spheres_free(&b);
    scene_free(&s);
}

/* ---- whole columns ----------------------------------------------------------------------------------------------- */

static void count_warnings(void *user, carom_log_level level, const char *line)
{
    *(int *)user += level <= CAROM_LOG_WARNING && strstr(line, "in whole columns") != NULL;
}

/* A device without memory for the records, or without the kernel that writes them, logs one warning and answers in
 * whole columns. */
static void check_whole_columns(const scene *s, const swept_spheres *b)
{
    int warnings = 0;
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2), *context = NULL;
    carom_error err = {0};
    desc.log = count_warnings;
    desc.log_user = &warnings;
    desc.log_level = CAROM_LOG_WARNING;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    carom_mesh *expected = scene_mesh(cpu, s), *mesh = scene_mesh(context, s);
    for (size_t k = 0; k < 2; k++) /* with contacts and without */
        compare_meshes(expected, mesh, &requests[k], b);
    assert_int_equal(warnings, 1);
    carom_mesh_destroy(expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    carom_context_destroy(context);
}

static void test_no_room(void **state)
{
    enum { QUERIES = 8000 };                  /* more than the bit probe, so its allocations have other sizes */
    carom_context_destroy(test_device(0, 0)); /* ends the test if there is none */
    scene s = scene_sphere(4);
    swept_spheres b = swept_spheres_few(QUERIES, 5);
    (void)state;
    for (int contacts = 0; contacts < 2; contacts++) {
        cl_scarce.exactly = contacts ? QUERIES * RECORD : QUERIES * 16;
        check_whole_columns(&s, &b);
    }
    cl_scarce.exactly = 0;
    cl_broken = (cl_unbuilt){"compact_fill", "no room for it"};
    check_whole_columns(&s, &b);
    cl_broken = (cl_unbuilt){NULL, NULL};
    swept_spheres_free(&b);
    scene_free(&s);
}

/* Enough queries and leaves for the queries to be sorted: in several groups of each kernel, the last of them not full,
 * and with counts that the group of the prefix sum takes in several turns. */
static void test_small_groups(void **state)
{
    enum { QUERIES = 9001, SIDES = 30 };
    scene s = scene_sphere(SIDES);
    swept_spheres b = swept_spheres_mixed(SEED, QUERIES);
    (void)state;
    cl_seen_as.group = 20;
    carom_context *context = test_device(1, 0);
    (void)check_same(context, &s, &b, 1, QUERIES - 1);
    carom_context_destroy(context);
    cl_seen_as.group = 0;
    swept_spheres_free(&b);
    scene_free(&s);
}

/* After all others: whatever was to overlap with the next chunk went through pinned memory. */
static void test_pinned(void **state)
{
    (void)state;
    assert_true(cl_fetched > 0);
    assert_int_equal(cl_pageable, 0);
}

int main(void)
{
    cl_seen_as.discrete = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),    cmocka_unit_test(test_short_list),   cmocka_unit_test(test_few_bytes),
        cmocka_unit_test(test_no_room), cmocka_unit_test(test_small_groups), cmocka_unit_test(test_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
