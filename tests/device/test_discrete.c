/* SPDX-License-Identifier: MIT */
/* A discrete GPU: columns are transferred through pinned staging buffers, those of a chunk in one transfer each way,
 * and no buffer is used in place. All query types, in both accuracies, in one chunk and in several, with one lane and
 * with four, have the CPU's bits. The device answers all queries, and all its objects are released in the end. */
#include "tests/support/cl_shim.h"
#include "tests/support/closest_answers.h"
#include "tests/support/exact_scenes.h"
#include "tests/support/lists.h"

#include <math.h>

/* A device with one lane sorts batches of 2^13 queries and more, if the mesh has enough leaves. */
enum { SEED = 131, PAIRS = 3001, SPHERE_COUNT = 8300, SIDES = 16 };

/* Settings of the device, and the number of spheres. */
typedef struct manner {
    uint32_t lanes, chunk;
    size_t swept_spheres;
} manner;

static int has_fp64; /* of the device: without binary64 the CPU answers some exact batches */

static carom_context *open_device(const manner *m)
{
    cl_relieve();
    carom_context *context = test_device(m->lanes, m->chunk);
    carom_device_info info = {.size = sizeof info};
    assert_int_equal(carom_context_get_device(context, &info, NULL), CAROM_OK);
    assert_string_equal(info.kind, "gpu");
    assert_int_equal(info.lanes, test_has_lanes(m->lanes) ? m->lanes : 1);
    has_fp64 = info.fp64;
    return context;
}

static void expect_on_device(const carom_stats *stats, carom_accuracy accuracy)
{
    if (accuracy == CAROM_ACCURACY_FAST || has_fp64)
        assert_int_equal(stats->on_device, stats->queries);
}

/* Checks after the device is closed: data was transferred, not used in place, and everything was released. */
static void expect_staged(void)
{
    assert_int_equal(cl_seen.in_place, 0);
    assert_true(cl_calls(CALL_WRITE) > 0 && cl_calls(CALL_READ) > 0);
    cl_expect_none("a discrete device");
    assert_int_equal(cl_seen.bytes, 0);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* The same queries as an array of records, one after the other. The caller frees it. */
static float *records_of(const queries *q, inputs *in)
{
    const size_t columns = (size_t)query_columns(q->type), stride = columns * sizeof(float);
    float *rows = test_alloc(q->count * columns, sizeof *rows);
    *in = inputs_of(q);
    for (size_t c = 0; c < columns; c++)
        for (size_t i = 0; i < q->count; i++)
            rows[i * columns + c] = q->column[c][i];
    for (int i = 0; query_point_column(q->type, i) >= 0; i++) {
        const float *first = rows + query_point_column(q->type, i);
        in->points[i] = (carom_points){first, first + 1, first + 2, stride};
    }
    for (int i = 0; query_scalar_column(q->type, i) >= 0; i++)
        in->scalars[i] = (carom_scalars){rows + query_scalar_column(q->type, i), stride};
    return rows;
}

static void ask_device(carom_context *context, const queries *q, carom_accuracy accuracy, const inputs *in,
                       const answers *expected, int fields, const char *label)
{
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    answers got = answers_alloc(q->type, q->count, 0xa5);
    test_ok(label, ask_with(context, q->type, accuracy, q->count, in, &got, fields, &stats, &err), &err);
    answers_compare(q, expected, &got, q->count, fields, label);
    answers_check_guards(&got, label);
    expect_on_device(&stats, accuracy);
    assert_int_equal(stats.by_proof + stats.by_integers, accuracy == CAROM_ACCURACY_EXACT ? q->count : 0);
    answers_free(&got);
}

/* Compares field by field: blocks of every number of columns, of words, bytes or both. */
static void compare_pairs(carom_context *cpu, carom_context *device, const manner *m, const queries *q,
                          carom_accuracy accuracy)
{
    inputs columns = inputs_of(q), records;
    float *rows = records_of(q, &records);
    carom_error err = {0};
    answers expected = answers_alloc(q->type, q->count, 0x5a);
    test_ok("the CPU", ask_with(cpu, q->type, accuracy, q->count, &columns, &expected, ALL_FIELDS, NULL, &err), &err);
    for (int f = 0; f < query_fields(q->type); f++) {
        const int point = q->type == SWEEP && (f == X_FIRST || f == X_LAST);
        ask_device(device, q, accuracy, &columns, &expected, (point ? 7 : 1) << f, query_field_name(q->type, f));
        f += point ? 2 : 0;
    }
    ask_device(device, q, accuracy, &columns, &expected, ALL_FIELDS, "columns");
    const int writes = cl_calls(CALL_WRITE), reads = cl_calls(CALL_READ);
    const int chunks = m->chunk == 0 ? 1 : (int)((q->count + m->chunk - 1) / m->chunk);
    ask_device(device, q, accuracy, &records, &expected, ALL_FIELDS, "records");
    if (accuracy == CAROM_ACCURACY_FAST || has_fp64) {
        assert_int_equal(cl_calls(CALL_WRITE) - writes, chunks);
        assert_int_equal(cl_calls(CALL_READ) - reads, chunks);
    }
    answers_free(&expected);
    free(rows);
}

/* Commands that last a second each by the device's clock: times of the device are whole seconds, and what the host does
 * is in `host`. */
static void expect_whole_seconds(const carom_stats *stats, const char *label)
{
    const double times[] = {stats->upload, stats->compute, stats->download};
    for (size_t i = 0; i < COUNT_OF(times); i++)
        if (!(fabs(times[i] - round(times[i])) < 1e-6 && times[i] > 0.5))
            fail_msg("%s: time %zu is %.9f s, no whole number of seconds", label, i, times[i]);
    assert_true(stats->host > 0.0 && stats->host < stats->total);
}

static void test_times(void **state)
{
    carom_context *device = open_device(*state);
    for (int type = 0; type < QUERY_TYPES; type++) {
        queries q = queries_mixed(type, SEED, PAIRS);
        inputs in = inputs_of(&q);
        for (int exact = 0; exact < 2; exact++) {
            const carom_accuracy accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
            carom_stats stats = {.size = sizeof stats};
            answers got = answers_alloc(q.type, q.count, 0xa5);
            cl_lasts = 1000000000;
            assert_int_equal(ask_with(device, q.type, accuracy, q.count, &in, &got, ALL_FIELDS, &stats, NULL),
                             CAROM_OK);
            cl_lasts = 0;
            if (stats.on_device > 0)
                expect_whole_seconds(&stats, exact ? "exact" : "fast");
            answers_free(&got);
        }
        queries_free(&q);
    }
    carom_context_destroy(device);
    expect_staged();
}

static void test_pairs(void **state)
{
    carom_context *device = open_device(*state), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    for (int type = 0; type < QUERY_TYPES; type++) {
        queries q = queries_mixed(type, SEED, test_effort(PAIRS));
        compare_pairs(cpu, device, *state, &q, CAROM_ACCURACY_FAST);
        compare_pairs(cpu, device, *state, &q, CAROM_ACCURACY_EXACT);
        queries_free(&q);
    }
    carom_context_destroy(cpu);
    carom_context_destroy(device);
    expect_staged();
}

/* A block that is cut at other places than it was put together, or whose bytes do not arrive, is found by the first bit
 * probe. */
static void test_wrong_blocks(void **state)
{
    static const cl_patch patches[] = {{"block += pitch * 4;", "block += pitch * 4 - 4;"},
                                       {"BLOCK_COPY(uchar, block, column##n);", ""}};
    (void)state;
    cl_relieve();
    carom_context_destroy(test_device(1, 0)); /* ends the test if there is none */
    for (size_t i = 0; i < COUNT_OF(patches); i++) {
        const carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
        carom_context *context = NULL;
        carom_error err = {0};
        cl_text_patch = patches[i];
        const carom_status status = carom_context_create(&desc, &context, &err);
        cl_text_patch = (cl_patch){NULL, NULL};
        test_error(status, CAROM_ERROR_NOT_BIT_EXACT, &err, "refused");
        assert_null(context);
    }
    cl_expect_none("blocks");
}

/* ---- a mesh ------------------------------------------------------------------------------------------------------ */

/* First hits with contacts. Points are written as records, normals as columns. */
static hits first_hits(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, carom_stats *stats)
{
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    hits h = hits_alloc(b->count, 0x5a);
    carom_mesh_hit_result result = hits_result(&h, 0);
    float *points = test_alloc(b->count, 3 * sizeof *points), *const column[] = {result.point.x, result.point.y,
                                                                                 result.point.z};
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    result.point = (carom_points_out){points, points + 1, points + 2, 3 * sizeof *points};
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, stats, &err), &err);
    for (size_t i = 0; i < 3 * b->count; i++)
        column[i % 3][i / 3] = points[i];
    free(points);
    return h;
}

static void compare_first(carom_mesh *expected, carom_mesh *got, const swept_spheres *b, carom_accuracy accuracy)
{
    carom_stats stats = {.size = sizeof stats};
    hits before = first_hits(expected, b, accuracy, NULL), h = first_hits(got, b, accuracy, &stats);
    hits_compare(b, &before, &h, b->count, -1, "first hits");
    expect_on_device(&stats, accuracy);
    hits_free(&before);
    hits_free(&h);
}

static void compare_closest(carom_mesh *expected, carom_mesh *got, const swept_spheres *b, carom_accuracy accuracy)
{
    closest_results before = closest_results_alloc(b->count, 0x5a), n = closest_results_alloc(b->count, 0xa5);
    ask_part(expected, b, accuracy, 0, b->count, &before, NULL);
    ask_part(got, b, accuracy, 0, b->count, &n, NULL);
    closest_results_compare(b, &before, &n, b->count, -1, "closest points");
    closest_results_free(&before);
    closest_results_free(&n);
}

/* Lists and closest points do not report the backend that answered, but a context for a device uses it or fails. */
static void compare_meshes(carom_mesh *expected, carom_mesh *got, const swept_spheres *b)
{
    static const carom_accuracy accuracies[] = {CAROM_ACCURACY_FAST, CAROM_ACCURACY_EXACT};
    for (size_t a = 0; a < COUNT_OF(accuracies); a++) {
        compare_first(expected, got, b, accuracies[a]);
        compare_closest(expected, got, b, accuracies[a]);
    }
    list_compare_meshes(expected, got, b, "lists");
}

/* The host orders what the kernels have found. */
static void expect_list_times(carom_mesh *mesh, const swept_spheres *b)
{
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    carom_list_totals totals = {0};
    const carom_hit_list list = {.size = sizeof list, .totals = &totals};
    for (int exact = 0; exact < 2; exact++) {
        carom_stats stats = {.size = sizeof stats};
        carom_error err = {0};
        desc.batch.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        cl_lasts = 1000000000;
        test_ok("a list", carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_ALL, &list, &stats, &err), &err);
        cl_lasts = 0;
        expect_on_device(&stats, desc.batch.accuracy);
        if (stats.on_device == stats.queries) {
            assert_true(stats.compute > 0.5 && fabs(stats.compute - round(stats.compute)) < 1e-6);
            assert_true(stats.host > 0.0);
        }
    }
}

static void move_mesh(carom_mesh *mesh, const scene *to)
{
    const carom_points vertices = scene_desc(to).vertices;
    carom_error err = {0};
    test_ok("carom_mesh_update", carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, &err), &err);
}

static void test_mesh(void **state)
{
    const manner *m = *state;
    carom_context *device = open_device(m), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    scene s = scene_sphere(SIDES);
    s.masks = random_masks(SEED, s.triangle_count);
    swept_spheres b = swept_spheres_aimed(SEED, &s, 1.0, m->swept_spheres);
    for (size_t i = 0; i < b.count; i++) /* few spheres hit, because OpenCL on a CPU is slow */
        if (i % 8 != 0)
            b.column[0][i] = b.column[1][i] = 100.0f;
    b.mask = random_masks(SEED + 1, b.count);
    carom_mesh *expected = scene_mesh(cpu, &s), *mesh = scene_mesh(device, &s);
    expect_list_times(mesh, &b);
    compare_meshes(expected, mesh, &b);
    for (size_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] *= i % 3 == 0 ? 0.5f : 1.25f;
    move_mesh(expected, &s);
    move_mesh(mesh, &s);
    compare_first(expected, mesh, &b, CAROM_ACCURACY_FAST);
    compare_closest(expected, mesh, &b, CAROM_ACCURACY_FAST);
    list_compare_request(expected, mesh, &list_requests[0], &b, "a list of a mesh that has moved");
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(expected);
    carom_context_destroy(cpu);
    carom_context_destroy(device);
    expect_staged();
    swept_spheres_free(&b);
    scene_free(&s);
}

int main(void)
{
    static manner whole = {1, 0, SPHERE_COUNT}, chunks = {4, 700, 2003};
    cl_seen_as.discrete = 1;
    const struct CMUnitTest tests[] = {
        {"pairs in one chunk", test_pairs, NULL, NULL, &whole},
        {"pairs in chunks, four lanes", test_pairs, NULL, NULL, &chunks},
        {"wrong blocks", test_wrong_blocks, NULL, NULL, NULL},
        {"a mesh, one chunk", test_mesh, NULL, NULL, &whole},
        {"a mesh, chunks, four lanes", test_mesh, NULL, NULL, &chunks},
        {"times in one chunk", test_times, NULL, NULL, &whole},
        {"times in chunks, four lanes", test_times, NULL, NULL, &chunks},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
