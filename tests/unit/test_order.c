/* SPDX-License-Identifier: MIT */
/* Sorting of mesh queries. A batch that is large enough to be sorted along a space-filling curve gives the answers of
 * its pieces, which are too short to be sorted. So do batches that are permuted, lie all at one place, share a radius,
 * have masks, or find no memory to sort. */
#include "tests/support/closest_answers.h"
#include "tests/support/lists.h"

#include <math.h>

/* Three threads sort batches of more than 3072 queries, if the mesh has enough leaves, as 135200 triangles have. */
enum { SEED = 83, QUERIES = 3200, PIECE = 250, SIDES = 130 };

typedef struct memory {
    size_t calls, refuse; /* number of the allocation that fails, from 1 */
} memory;

static void *take(void *user, size_t size, size_t alignment)
{
    memory *m = user;
    if (++m->calls == m->refuse)
        return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void give(void *user, void *block)
{
    (void)user;
    free(block);
}

static carom_context *with(uint32_t threads, memory *m)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = threads;
    test_need_processors(threads);
    if (m != NULL)
        desc.allocator = (carom_allocator){take, give, m};
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    return context;
}

static void sweep(carom_mesh *mesh, const swept_spheres *b, const hits *h, size_t piece, carom_accuracy accuracy)
{
    for (size_t first = 0; first < b->count; first += piece) {
        carom_mesh_sweep_desc desc = swept_spheres_desc(b, first, b->count - first < piece ? b->count - first : piece);
        carom_mesh_hit_result result = hits_result(h, first);
        carom_error err = {0};
        desc.batch.accuracy = accuracy;
        test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    }
}

typedef struct fixture {
    scene mesh;
    swept_spheres swept_spheres;
    hits expected[2]; /* answers in pieces, by accuracy */
} fixture;

static fixture all;

/* Brings nearly all spheres near: one from 10^6 away takes exact mode 30 ms, sorted or not. */
static void bring_near(swept_spheres *b)
{
    for (size_t i = 30; i < b->count; i++)
        for (int c = 0; c < 3; c++)
            if (fabsf(b->column[c][i]) > 1000.0f)
                b->column[c][i] *= 0x1p-12f;
}

static int setup(void **state)
{
    carom_context *context = with(1, NULL);
    (void)state;
    all.mesh = scene_sphere(SIDES);
    all.swept_spheres = swept_spheres_mixed(SEED, QUERIES);
    bring_near(&all.swept_spheres);
    all.swept_spheres.column[0][1] = NAN; /* not finite: no place on the curve */
    all.swept_spheres.column[1][3] = INFINITY;
    all.swept_spheres.column[2][5] = -3e38f;
    carom_mesh *mesh = scene_mesh(context, &all.mesh);
    for (int exact = 0; exact < 2; exact++) {
        all.expected[exact] = hits_alloc(all.swept_spheres.count, 0x5a);
        sweep(mesh, &all.swept_spheres, &all.expected[exact], PIECE, (carom_accuracy)exact);
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    hits_free(&all.expected[0]);
    hits_free(&all.expected[1]);
    swept_spheres_free(&all.swept_spheres);
    scene_free(&all.mesh);
    return 0;
}

static void compare(carom_mesh *mesh, int modes, const char *label)
{
    for (int exact = 0; exact < modes; exact++) {
        hits h = hits_alloc(all.swept_spheres.count, 0xa5);
        sweep(mesh, &all.swept_spheres, &h, all.swept_spheres.count, (carom_accuracy)exact);
        hits_compare(&all.swept_spheres, &all.expected[exact], &h, h.count, -1, label);
        hits_free(&h);
    }
}

static void test_whole_batches(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        carom_context *context = with(threads, NULL);
        carom_mesh *mesh = scene_mesh(context, &all.mesh);
        compare(mesh, threads <= test_effort(3) ? 2 : 1, "a batch that is sorted");
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
}

static void test_permuted(void **state)
{
    carom_context *context = with(2, NULL);
    carom_mesh *mesh = scene_mesh(context, &all.mesh);
    const size_t count = all.swept_spheres.count;
    uint32_t *order = random_order(SEED + 1, count);
    swept_spheres b = swept_spheres_reorder(&all.swept_spheres, order, count);
    hits h = hits_alloc(count, 0xa5);
    (void)state;
    sweep(mesh, &b, &h, count, CAROM_ACCURACY_FAST);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(hit_triangle(&h, i), hit_triangle(&all.expected[0], order[i]));
        assert_int_equal(hit_state(&h, i), hit_state(&all.expected[0], order[i]));
        for (int f = HIT_X; f < HIT_FEATURE; f++)
            assert_int_equal(bits_of_float(hit_float(&h, f, i)),
                             bits_of_float(hit_float(&all.expected[0], f, order[i])));
    }
    free(order);
    hits_free(&h);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* Inputs and outputs in records of 32 and of 12 bytes, instead of columns. */
static void test_records(void **state)
{
    enum { FIELDS = 8 };
    carom_context *context = with(2, NULL);
    carom_mesh *mesh = scene_mesh(context, &all.mesh);
    const size_t count = all.swept_spheres.count;
    float *in = test_alloc(count, FIELDS * sizeof *in), *normal = test_alloc(count, 3 * sizeof *normal);
    carom_mesh_hit_result result = {.size = sizeof result, .normal = {normal, normal + 1, normal + 2, 12}};
    carom_error err = {0};
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < FIELDS; c++)
            in[i * FIELDS + (size_t)c] = all.swept_spheres.column[c][i];
    const carom_mesh_sweep_desc desc = {.batch.size = sizeof desc,
                                        .batch.count = count,
                                        .center = {in, in + 1, in + 2, 32},
                                        .radius = {in + SPHERE_RADIUS, 32},
                                        .velocity = {in + 4, in + 5, in + 6, 32},
                                        .t_max = {in + SPHERE_T_MAX, 32}};
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            assert_int_equal(bits_of_float(normal[3 * i + (size_t)k]),
                             bits_of_float(hit_float(&all.expected[0], HIT_NX + k, i)));
    free(normal);
    free(in);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static swept_spheres copy_swept_spheres(void)
{
    swept_spheres b = swept_spheres_alloc(all.swept_spheres.count);
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        memcpy(b.column[c], all.swept_spheres.column[c], b.count * sizeof(float));
    return b;
}

/* One radius and one window for all queries, given once or for each. */
static void test_shared(void **state)
{
    carom_context *context = with(1, NULL);
    carom_mesh *mesh = scene_mesh(context, &all.mesh);
    swept_spheres b = copy_swept_spheres();
    (void)state;
    for (size_t i = 0; i < b.count; i++) {
        b.column[SPHERE_RADIUS][i] = 0.25f;
        b.column[SPHERE_T_MAX][i] = 3.0f;
    }
    hits pieces = hits_alloc(b.count, 0x5a), whole = hits_alloc(b.count, 0xa5);
    sweep(mesh, &b, &pieces, PIECE, CAROM_ACCURACY_FAST);
    carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, b.count);
    desc.radius.stride = desc.t_max.stride = CAROM_REPEAT;
    const carom_mesh_hit_result result = hits_result(&whole, 0);
    carom_error err = {0};
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    hits_compare(&b, &pieces, &whole, b.count, -1, "one radius for all");
    hits_free(&pieces);
    hits_free(&whole);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* All, any and closest queries, and masks of queries and triangles. */
static void test_searches(void **state)
{
    static const list_request hits_at_all = {CAROM_ACCURACY_FAST, 0, CAROM_HITS_ALL};
    carom_context *context = with(1, NULL);
    scene s = all.mesh;
    s.masks = random_masks(SEED + 3, s.triangle_count);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = copy_swept_spheres();
    (void)state;
    b.mask = random_masks(SEED + 2, b.count);
    hits pieces = hits_alloc(b.count, 0x5a), whole = hits_alloc(b.count, 0xa5);
    closest_results near_pieces = closest_results_alloc(b.count, 0x5a),
                    near_whole = closest_results_alloc(b.count, 0xa5);
    uint8_t *any = any_of(mesh, &hits_at_all, &b, 0, b.count);
    sweep(mesh, &b, &pieces, PIECE, CAROM_ACCURACY_FAST);
    sweep(mesh, &b, &whole, b.count, CAROM_ACCURACY_FAST);
    hits_compare(&b, &pieces, &whole, b.count, -1, "queries with masks");
    ask_part(mesh, &b, CAROM_ACCURACY_FAST, 0, b.count, &near_whole, NULL);
    for (size_t first = 0; first < b.count; first += PIECE) {
        const size_t count = b.count - first < PIECE ? b.count - first : PIECE;
        uint8_t *some = any_of(mesh, &hits_at_all, &b, first, count);
        assert_memory_equal(any + first, some, count);
        free(some);
        ask_part(mesh, &b, CAROM_ACCURACY_FAST, first, count, &near_pieces, NULL);
    }
    closest_results_compare(&b, &near_pieces, &near_whole, b.count, -1, "closest points");
    free(any);
    free(s.masks);
    closest_results_free(&near_pieces);
    closest_results_free(&near_whole);
    hits_free(&pieces);
    hits_free(&whole);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* Spheres that are all far from each other, or all at one place, where sorting does not help. */
static void test_one_place(void **state)
{
    carom_context *context = with(2, NULL);
    carom_mesh *mesh = scene_mesh(context, &all.mesh);
    swept_spheres b = copy_swept_spheres();
    (void)state;
    for (size_t i = 0; i < b.count; i++)
        b.column[0][i] = b.column[1][i] = b.column[2][i] = 1.5f;
    hits pieces = hits_alloc(b.count, 0x5a), whole = hits_alloc(b.count, 0xa5);
    sweep(mesh, &b, &pieces, PIECE, CAROM_ACCURACY_FAST);
    sweep(mesh, &b, &whole, b.count, CAROM_ACCURACY_FAST);
    hits_compare(&b, &pieces, &whole, b.count, -1, "all from one place");
    hits_free(&pieces);
    hits_free(&whole);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* The library allocates the blocks first, then the sorted order. Without memory for the order it does not sort; without
 * the blocks the call fails. */
static void test_no_memory_to_sort(void **state)
{
    memory m = {0};
    carom_context *context = with(1, &m);
    carom_mesh *mesh = scene_mesh(context, &all.mesh);
    hits h = hits_alloc(all.swept_spheres.count, 0xa5);
    (void)state;
    m = (memory){.refuse = 2};
    sweep(mesh, &all.swept_spheres, &h, all.swept_spheres.count, CAROM_ACCURACY_FAST);
    hits_compare(&all.swept_spheres, &all.expected[0], &h, h.count, -1, "a batch without memory to sort it");
    assert_int_equal(m.calls, 2); /* otherwise no batch was sorted in this test */
    m = (memory){.refuse = 1};
    carom_mesh_sweep_desc desc = swept_spheres_desc(&all.swept_spheres, 0, all.swept_spheres.count);
    carom_mesh_hit_result result = hits_result(&h, 0);
    carom_error err = {0};
    const carom_status status = carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err);
    test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "memory");
    hits_free(&h);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_batches),     cmocka_unit_test(test_permuted),
        cmocka_unit_test(test_records),           cmocka_unit_test(test_shared),
        cmocka_unit_test(test_searches),          cmocka_unit_test(test_one_place),
        cmocka_unit_test(test_no_memory_to_sort),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
