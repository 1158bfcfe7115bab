/* SPDX-License-Identifier: MIT */
#include "world_answers.h"

enum { RECORDS = 1 << 16 };

/* Fails unless `got` has the numbers of `merged` by mesh and instance. */
static void compare_triangles(const world *w, const char *label, size_t count, const int32_t *merged,
                              const int32_t *got, const int32_t *instance)
{
    for (size_t i = 0; i < count; i++) {
        int32_t triangle = merged[i];
        const int32_t of = world_split(w, &triangle);
        if (got[i] != triangle || instance[i] != of)
            fail_msg("%s, %zu: triangle %d of instance %d, not %d of %d", label, i, got[i], instance[i], triangle, of);
    }
}

static void compare_first(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b,
                          carom_accuracy accuracy, const char *label)
{
    const hits expected = sweep_as(merged, b, accuracy);
    hits got = hits_alloc(b->count, 0x5a);
    int32_t *instance = test_alloc(b->count, sizeof *instance);
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    carom_mesh_hit_result result = hits_result(&got, 0);
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    result.instance = instance;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    compare_triangles(w, label, b->count, (const int32_t *)(const void *)expected.field[HIT_TRIANGLE].data,
                      result.triangle, instance);
    hits_compare(b, &expected, &got, b->count, ~(1 << HIT_TRIANGLE), label);
    free(instance);
    hits_free(&got);
    hits h = expected;
    hits_free(&h);
}

/* Columns of a list. */
typedef struct listed {
    uint64_t *offsets, *query;
    int32_t *triangle, *instance;
    float *t, *point;
    uint8_t *state, *feature;
    carom_list_totals totals;
} listed;

static listed listed_alloc(size_t count)
{
    return (listed){.offsets = test_alloc(count + 1, sizeof(uint64_t)),
                    .query = test_alloc(RECORDS, sizeof(uint64_t)),
                    .triangle = test_alloc(RECORDS, sizeof(int32_t)),
                    .instance = test_alloc(RECORDS, sizeof(int32_t)),
                    .t = test_alloc(RECORDS, sizeof(float)),
                    .point = test_alloc(RECORDS, 3 * sizeof(float)),
                    .state = test_alloc(RECORDS, 1),
                    .feature = test_alloc(RECORDS, 1)};
}

static void listed_free(listed *l)
{
    void *const all[] = {l->offsets, l->query, l->triangle, l->instance, l->t, l->point, l->state, l->feature};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        free(all[i]);
}

enum { LIST_OVERLAPS, LIST_ALL, LIST_FIRST, LISTS };

static void ask_list(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, int which, int points, int has,
                     listed *l)
{
    carom_error err = {0};
    carom_mesh_sweep_desc sweep = swept_spheres_desc(b, 0, b->count);
    carom_mesh_overlap_desc overlap = swept_spheres_at_rest(b, 0, b->count);
    carom_hit_list list = {.size = sizeof list,
                           .capacity = RECORDS,
                           .offsets = l->offsets,
                           .query = l->query,
                           .triangle = l->triangle,
                           .instance = has ? l->instance : NULL,
                           .totals = &l->totals};
    sweep.batch.accuracy = overlap.batch.accuracy = accuracy;
    if (which == LIST_OVERLAPS) {
        test_ok("carom_mesh_overlap_list", carom_mesh_overlap_list(mesh, &overlap, &list, NULL, &err), &err);
        return;
    }
    list.t = l->t;
    list.state = l->state;
    if (points) {
        list.feature = l->feature;
        list.point = (carom_points_out){l->point, l->point + 1, l->point + 2, 3 * sizeof(float)};
    }
    test_ok(
        "carom_mesh_sweep_list",
        carom_mesh_sweep_list(mesh, &sweep, which == LIST_ALL ? CAROM_HITS_ALL : CAROM_HITS_FIRST, &list, NULL, &err),
        &err);
}

static void compare_lists(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b,
                          carom_accuracy accuracy, const char *label)
{
    for (int which = 0; which < 2 * LISTS; which++) {
        listed one = listed_alloc(b->count), other = listed_alloc(b->count);
        ask_list(merged, b, accuracy, which % LISTS, which >= LISTS, 0, &one);
        ask_list(mesh, b, accuracy, which % LISTS, which >= LISTS, 1, &other);
        assert_int_equal(one.totals.total, other.totals.total);
        assert_true(one.totals.total <= RECORDS);
        const size_t count = (size_t)one.totals.total;
        compare_triangles(w, label, count, one.triangle, other.triangle, other.instance);
        assert_memory_equal(one.offsets, other.offsets, (b->count + 1) * sizeof *one.offsets);
        assert_memory_equal(one.query, other.query, count * sizeof *one.query);
        assert_memory_equal(one.t, other.t, count * sizeof *one.t);
        assert_memory_equal(one.state, other.state, count);
        assert_memory_equal(one.point, other.point, count * 3 * sizeof *one.point);
        assert_memory_equal(one.feature, other.feature, count);
        listed_free(&one);
        listed_free(&other);
    }
}

static void compare_any(carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy)
{
    uint8_t *one = test_alloc(b->count, 1), *other = test_alloc(b->count, 1);
    carom_error err = {0};
    carom_mesh_sweep_desc sweep = swept_spheres_desc(b, 0, b->count);
    carom_mesh_overlap_desc overlap = swept_spheres_at_rest(b, 0, b->count);
    sweep.batch.accuracy = overlap.batch.accuracy = accuracy;
    test_ok("any", carom_mesh_sweep_any(merged, &sweep, TEST_ANY(one), NULL, &err), &err);
    test_ok("any", carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(other), NULL, &err), &err);
    assert_memory_equal(one, other, b->count);
    test_ok("overlaps", carom_mesh_overlap_any(merged, &overlap, TEST_ANY(one), NULL, &err), &err);
    test_ok("overlaps", carom_mesh_overlap_any(mesh, &overlap, TEST_ANY(other), NULL, &err), &err);
    assert_memory_equal(one, other, b->count);
    free(one);
    free(other);
}

typedef struct nearest {
    int32_t *triangle, *instance;
    float *distance, *depth, *point;
    uint8_t *feature;
} nearest;

static nearest ask_closest(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, int has)
{
    carom_error err = {0};
    const size_t n = b->count;
    nearest a = {test_alloc(n, 4), test_alloc(n, 4),  test_alloc(n, 4),
                 test_alloc(n, 4), test_alloc(n, 12), test_alloc(n, 1)};
    carom_mesh_closest_desc desc = swept_spheres_closest(b, 0, n);
    const carom_mesh_closest_result out = {.size = sizeof out,
                                           .triangle = a.triangle,
                                           .distance = a.distance,
                                           .depth = a.depth,
                                           .point = {a.point, a.point + 1, a.point + 2, 12},
                                           .feature = a.feature,
                                           .instance = has ? a.instance : NULL};
    desc.batch.accuracy = accuracy;
    test_ok("carom_mesh_closest", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
    return a;
}

static void nearest_free(nearest *a)
{
    void *const all[] = {a->triangle, a->instance, a->distance, a->depth, a->point, a->feature};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        free(all[i]);
}

static void compare_closest(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b,
                            carom_accuracy accuracy, const char *label)
{
    nearest one = ask_closest(merged, b, accuracy, 0), other = ask_closest(mesh, b, accuracy, 1);
    compare_triangles(w, label, b->count, one.triangle, other.triangle, other.instance);
    assert_memory_equal(one.distance, other.distance, 4 * b->count);
    assert_memory_equal(one.depth, other.depth, 4 * b->count);
    assert_memory_equal(one.point, other.point, 12 * b->count);
    assert_memory_equal(one.feature, other.feature, b->count);
    nearest_free(&one);
    nearest_free(&other);
}

void world_compare(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b, const char *label)
{
    for (carom_accuracy accuracy = CAROM_ACCURACY_FAST; accuracy <= CAROM_ACCURACY_EXACT; accuracy++) {
        compare_first(w, merged, mesh, b, accuracy, label);
        compare_lists(w, merged, mesh, b, accuracy, label);
        compare_any(merged, mesh, b, accuracy);
        compare_closest(w, merged, mesh, b, accuracy, label);
    }
}
