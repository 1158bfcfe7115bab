/* SPDX-License-Identifier: MIT */
/* The contract of the batch calls: invalid arguments, their error messages, outputs untouched after an error;
 * statistics. */
#include "tests/support/scenes.h"

enum { SEED = 61, COUNT = 40, FILL = 0xa5 };

/* The call must fail with this status and message, and leave the outputs untouched. */
static void refuse_batch(carom_context *context, int type, const inputs *in, carom_status expected, const char *word)
{
    carom_error err = {0};
    answers a = answers_alloc(type, COUNT, FILL);
    test_error(ask_as(context, type, COUNT, in, &a, ALL_FIELDS, NULL, &err), expected, &err, word);
    for (int f = 0; f < query_fields(type); f++)
        for (size_t i = 0; i < a.field[f].size; i++)
            assert_int_equal(a.field[f].data[i], FILL);
    answers_check_guards(&a, "a refused batch");
    answers_free(&a);
}

/* Name of the descriptor's input that a column belongs to. */
static const char *name_of_column(int type, int column)
{
    int component;
    return query_input_of(query_pairs[type], column, &component)->name;
}

static void test_missing_inputs(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (int type = 0; type < QUERY_TYPES; type++) {
        queries q = queries_family(type, 0, SEED, COUNT);
        const inputs good = inputs_of(&q);
        for (int i = 0; query_point_column(type, i) >= 0; i++)
            for (int k = 0; k < 3; k++) {
                inputs in = good;
                *(k == 0 ? &in.points[i].x : k == 1 ? &in.points[i].y : &in.points[i].z) = NULL;
                refuse_batch(context, type, &in, CAROM_ERROR_INVALID_ARGUMENT,
                             name_of_column(type, query_point_column(type, i)));
            }
        for (int i = 0; query_scalar_column(type, i) >= 0; i++) {
            inputs in = good;
            in.scalars[i].data = NULL;
            refuse_batch(context, type, &in, CAROM_ERROR_INVALID_ARGUMENT,
                         name_of_column(type, query_scalar_column(type, i)));
        }
        queries_free(&q);
    }
    carom_context_destroy(context);
}

static void test_bad_indices(void **state)
{
    static const uint32_t beyond[] = {COUNT, COUNT + 1, UINT32_MAX};
    carom_context *context = test_context();
    (void)state;
    for (int type = 0; type < QUERY_TYPES; type++) {
        queries q = queries_family(type, 0, SEED, COUNT);
        uint32_t sphere[COUNT] = {0}, triangle[COUNT] = {0};
        inputs in = inputs_of(&q);
        in.indices = pair_indices(sphere, triangle, COUNT, COUNT);
        in.indices.a.stride = 0;
        refuse_batch(context, type, &in, CAROM_ERROR_INVALID_ARGUMENT, "indices.a: stride is 0");
        in.indices = pair_indices(sphere, triangle, COUNT, COUNT);
        for (size_t i = 0; i < COUNT_OF(beyond); i++) {
            sphere[COUNT - 1] = beyond[i];
            refuse_batch(context, type, &in, CAROM_ERROR_INVALID_ARGUMENT, "pair 39");
            sphere[COUNT - 1] = 0;
            triangle[7] = beyond[i];
            refuse_batch(context, type, &in, CAROM_ERROR_INVALID_ARGUMENT, "pair 7");
            triangle[7] = 0;
        }
        queries_free(&q);
    }
    carom_context_destroy(context);
}

/* Invalid descriptors: size, accuracy, outputs, statistics. */
static void test_bad_descriptors(void **state)
{
    carom_context *context = test_context();
    queries q = queries_family(SWEEP, 0, SEED, COUNT);
    answers a = answers_alloc(SWEEP, COUNT, FILL);
    inputs in = inputs_of(&q);
    const carom_sweep_pairs_desc good = {.batch.size = sizeof good,
                                         .batch.count = COUNT,
                                         .center = in.points[0],
                                         .velocity = in.points[1],
                                         .radius = in.scalars[0],
                                         .p0 = in.points[2],
                                         .p1 = in.points[3],
                                         .p2 = in.points[4]};
    carom_sweep_pairs_desc desc = good;
    carom_sweep_result out = {.size = sizeof out, .state = a.field[STATE].data};
    carom_stats stats = {.size = sizeof stats - 1};
    carom_error err = {0};
    float x[3 * COUNT];
    const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;
    (void)state;
    test_error(carom_sweep_pairs(NULL, &good, &out, NULL, &err), bad, &err, "context");
    test_error(carom_sweep_pairs(context, NULL, &out, NULL, &err), bad, &err, "desc");
    test_error(carom_sweep_pairs(context, &good, NULL, NULL, &err), bad, &err, "out");
    test_error(carom_sweep_pairs(context, &good, &out, &stats, &err), bad, &err, "carom_stats");
    desc.batch.size = 0;
    test_error(carom_sweep_pairs(context, &desc, &out, NULL, &err), bad, &err, "size");
    desc = good;
    desc.batch.accuracy = (carom_accuracy)2;
    test_error(carom_sweep_pairs(context, &desc, &out, NULL, &err), bad, &err, "accuracy");
    const uint32_t zero = 0;
    const struct {
        carom_sweep_pairs_desc desc;
        const char *word;
    } heads[] = {
        {{.batch.wait_count = 1}, "batch.wait is NULL"},
        {{.batch.begin = 1}, "only lists begin"},
        {{.batch.select = {&zero, CAROM_REPEAT}}, "pairs have indices"},
        {{.batch.elements = COUNT}, "pairs have indices"},
    };
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        desc = good;
        desc.batch.wait_count = heads[i].desc.batch.wait_count;
        desc.batch.begin = heads[i].desc.batch.begin;
        desc.batch.select = heads[i].desc.batch.select;
        desc.batch.elements = heads[i].desc.batch.elements;
        test_error(carom_sweep_pairs(context, &desc, &out, NULL, &err), bad, &err, heads[i].word);
    }
    desc = good;
    desc.p1.stride = 0;
    test_error(carom_sweep_pairs(context, &desc, &out, NULL, &err), bad, &err, "p1: stride is 0");
    desc = good;
    desc.radius.stride = 0;
    test_error(carom_sweep_pairs(context, &desc, &out, NULL, &err), bad, &err, "radius: stride is 0");
    desc = good;
    out.size--;
    test_error(carom_sweep_pairs(context, &good, &out, NULL, &err), bad, &err, "carom_sweep_result.size");
    out.size++;
    desc = good;
    desc.batch.accuracy = (carom_accuracy)2;
    out.point_first = (carom_points_out){x, x + 1, NULL, 12};
    test_error(carom_sweep_pairs(context, &good, &out, NULL, &err), bad, &err, "point_first");
    out.point_first = (carom_points_out){x, x + 1, x + 2, 3};
    test_error(carom_sweep_pairs(context, &good, &out, NULL, &err), bad, &err, "stride");
    out.point_first.stride = 12;
    out.point_last = (carom_points_out){x, NULL, x + 2, 12};
    test_error(carom_sweep_pairs(context, &good, &out, NULL, &err), bad, &err, "point_last");
    assert_int_equal(carom_sweep_pairs(context, &desc, &out, NULL, NULL), bad); /* without a carom_error */
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(a.field[STATE].data[i], FILL);
    answers_free(&a);
    queries_free(&q);
    carom_context_destroy(context);
}

static void test_bad_descriptors_of_others(void **state)
{
    carom_context *context = test_context();
    carom_overlap_pairs_desc overlap = {.batch.size = sizeof overlap - 4};
    carom_sphere_sweep_pairs_desc spheres = {.batch.size = 0};
    carom_overlap_result overlap_out = {.size = sizeof overlap_out};
    carom_sphere_sweep_result sphere_out = {.size = sizeof sphere_out};
    carom_error err = {0};
    (void)state;
    test_error(carom_overlap_pairs(context, &overlap, &overlap_out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "size");
    test_error(carom_sphere_sweep_pairs(context, &spheres, &sphere_out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "size");
    test_error(carom_overlap_pairs(NULL, &overlap, &overlap_out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "context");
    test_error(carom_sphere_sweep_pairs(context, &spheres, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "out");
    overlap.batch.size = sizeof overlap;
    spheres.batch.size = sizeof spheres;
    overlap.batch.accuracy = spheres.batch.accuracy = (carom_accuracy)-1;
    test_error(carom_overlap_pairs(context, &overlap, &overlap_out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "accuracy");
    test_error(carom_sphere_sweep_pairs(context, &spheres, &sphere_out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "accuracy");
    carom_context_destroy(context);
}

static void test_bad_mesh_sweeps(void **state)
{
    carom_context *context = test_context();
    scene s = scene_sphere(2);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_mixed(SEED, COUNT);
    hits h = hits_alloc(COUNT, FILL);
    const carom_mesh_sweep_desc good = swept_spheres_desc(&b, 0, COUNT);
    carom_mesh_sweep_desc desc = good;
    carom_mesh_hit_result out = hits_result(&h, 0);
    carom_stats stats = {.size = 1};
    carom_error err = {0};
    const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;
    (void)state;
    test_error(carom_mesh_sweep_first(NULL, &good, &out, NULL, &err), bad, &err, "mesh");
    test_error(carom_mesh_sweep_first(mesh, NULL, &out, NULL, &err), bad, &err, "desc");
    test_error(carom_mesh_sweep_first(mesh, &good, NULL, NULL, &err), bad, &err, "out");
    test_error(carom_mesh_sweep_first(mesh, &good, &out, &stats, &err), bad, &err, "carom_stats");
    desc.batch.size = 8;
    test_error(carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), bad, &err, "size");
    desc = good;
    desc.batch.accuracy = (carom_accuracy)2;
    test_error(carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), bad, &err, "accuracy");
    desc = good;
    desc.center.z = NULL;
    test_error(carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), bad, &err, "center");
    desc = good;
    desc.velocity.x = NULL;
    test_error(carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), bad, &err, "velocity");
    desc = good;
    desc.radius.data = NULL;
    test_error(carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), bad, &err, "radius");
    out.normal.stride = 2;
    test_error(carom_mesh_sweep_first(mesh, &good, &out, NULL, &err), bad, &err, "normal");
    for (int f = 0; f < HIT_FIELDS; f++)
        for (size_t i = 0; i < h.field[f].size; i++)
            assert_int_equal(h.field[f].data[i], FILL);
    hits_free(&h);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* A batch of 0 queries needs no arrays, and a batch without outputs succeeds. */
static void test_nothing_to_do(void **state)
{
    carom_context *context = test_context();
    carom_stats stats = {.size = sizeof stats, .queries = 99};
    (void)state;
    for (int type = 0; type < QUERY_TYPES; type++) {
        carom_error err = {0};
        inputs none;
        answers a = answers_alloc(type, COUNT, FILL);
        queries q = queries_family(type, 0, SEED, COUNT);
        inputs in = inputs_of(&q);
        memset(&none, 0, sizeof none);
        test_ok("no queries", ask_as(context, type, 0, &none, &a, ALL_FIELDS, &stats, &err), &err);
        assert_int_equal(stats.queries, 0);
        test_ok("no outputs", ask_as(context, type, COUNT, &in, &a, 0, &stats, &err), &err);
        assert_int_equal(stats.queries, COUNT);
        answers_check_guards(&a, "no outputs");
        answers_free(&a);
        queries_free(&q);
    }
    carom_context_destroy(context);
}

static void test_stats(void **state)
{
    enum { MANY = 30000 };
    carom_context *context = test_context();
    carom_stats stats;
    carom_error err = {0};
    queries q = queries_mixed(SWEEP, SEED, MANY);
    answers a = answers_alloc(SWEEP, MANY, FILL);
    inputs in = inputs_of(&q);
    (void)state;
    memset(&stats, FILL, sizeof stats);
    stats.size = sizeof stats;
    test_ok("sweep", ask_as(context, SWEEP, MANY, &in, &a, ALL_FIELDS, &stats, &err), &err);
    assert_int_equal(stats.size, sizeof stats);
    assert_int_equal(stats.queries, MANY);
    assert_int_equal(stats.on_device, test_on_device() ? MANY : 0);
    assert_int_equal(stats.on_cpu, test_on_device() ? 0 : MANY);
    assert_int_equal(stats.fallen_back, 0);
    assert_int_equal(stats.by_proof, 0); /* fast mode decides no query by proof or integers */
    assert_int_equal(stats.by_integers, 0);
    assert_int_equal(stats.by_second_filter, 0);
    assert_string_equal(stats.fallback_reason, "");
    assert_true(stats.compute > 0.0 && stats.total > 0.0 && stats.total < 600.0);
    assert_true(stats.upload >= 0.0 && stats.download >= 0.0 && stats.upload < 600.0 && stats.download < 600.0);
    answers_free(&a);
    queries_free(&q);
    carom_context_destroy(context);
}

/* Exact mode works for every query type, also with 0 queries. Statistics count the queries that each rung decided:
 * proof or integers. */
static void test_exact_stats(void **state)
{
    enum { MANY = 3000 };
    carom_context *context = test_context();
    scene s = scene_floor(4);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_mixed(SEED, MANY);
    hits h = hits_alloc(MANY, FILL);
    (void)state;
    for (int type = 0; type <= QUERY_TYPES; type++) {
        queries q = queries_mixed(type % QUERY_TYPES, SEED, MANY);
        answers a = answers_alloc(q.type, MANY, FILL);
        inputs in = inputs_of(&q);
        carom_mesh_hit_result out = hits_result(&h, 0);
        for (size_t count = 0; count <= MANY; count += MANY) {
            carom_stats stats = {.size = sizeof stats, .by_proof = 99, .by_integers = 99, .by_second_filter = 99};
            carom_error err = {0};
            carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, count);
            desc.batch.accuracy = CAROM_ACCURACY_EXACT;
            test_ok("exact mode",
                    type < QUERY_TYPES
                        ? ask_with(context, type, CAROM_ACCURACY_EXACT, count, &in, &a, ALL_FIELDS, &stats, &err)
                        : carom_mesh_sweep_first(mesh, &desc, &out, &stats, &err),
                    &err);
            assert_int_equal(stats.queries, count);
            assert_int_equal(stats.by_proof + stats.by_integers, count);
            assert_true(stats.by_second_filter <= stats.by_proof);
            assert_true(count == 0 || (stats.by_proof > 0 && stats.by_integers > 0));
        }
        answers_free(&a);
        queries_free(&q);
    }
    hits_free(&h);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Names of 0.1 are those of today. */
static void test_old_names(void **state)
{
    (void)state;
    assert_ptr_equal(carom_sphere_pairs, carom_sphere_sweep_pairs);
    assert_ptr_equal(carom_spheres_any, carom_cloud_any);
    assert_ptr_equal(carom_spheres_count, carom_cloud_count);
    assert_ptr_equal(carom_spheres_first, carom_cloud_first);
    assert_ptr_equal(carom_spheres_list, carom_cloud_list);
    assert_ptr_equal(carom_spheres_order, carom_cloud_order);
    assert_int_equal(sizeof(carom_sphere_pairs_desc), sizeof(carom_sphere_sweep_pairs_desc));
    assert_int_equal(sizeof(carom_sphere_result), sizeof(carom_sphere_sweep_result));
    assert_int_equal(sizeof(carom_spheres_desc), sizeof(carom_cloud_desc));
    assert_int_equal(sizeof(carom_sphere_count_result), sizeof(carom_cloud_count_result));
    assert_int_equal(sizeof(carom_sphere_pair_list), sizeof(carom_cloud_pair_list));
    assert_int_equal(sizeof(carom_sphere_pairs_before), sizeof(carom_cloud_pairs_before));
    assert_int_equal(sizeof(carom_sphere_partner_result), sizeof(carom_cloud_partner_result));
}

/* ---- refused, and empty ------------------------------------------------------------------------------------------ */

/* A list that is refused for a value, after all else was checked, is as it was. */
static void test_refused_list(void **state)
{
    (void)state;
    carom_context *context = test_context();
    const float center[] = {0, 0, 0, 1, 0, 0}, radius[] = {1, 1}, t_max[] = {1, -1};
    uint64_t offsets[] = {71, 72, 73};
    carom_list_totals totals = {77, 78, 79};
    const carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = 2},
                                   .center = carom_xyz(center),
                                   .radius = carom_scalars_of(radius),
                                   .t_max = carom_scalars_of(t_max)};
    const carom_cloud_pair_list list = {.size = sizeof list, .offsets = offsets, .totals = &totals};
    carom_error err;
    assert_int_equal(carom_cloud_list(context, &desc, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "t_max is -1"));
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(offsets[i], 71 + i);
    assert_true(totals.total == 77 && totals.complete == 78 && totals.stored == 79);
    carom_context_destroy(context);
}

/* Arrays without elements are not looked at; the count of an index that is not there is not read. */
static void test_no_pairs(void **state)
{
    (void)state;
    carom_context *context = test_context();
    const float p[] = {0, 0, 0}, radius = 1;
    const uint32_t one = 0;
    float u;
    carom_sphere_sweep_pairs_desc desc = {.batch = {.size = sizeof desc},
                                          .indices = {.a = {&one, 3}, .a_count = UINT64_MAX, .b_count = UINT64_MAX}};
    const carom_sphere_sweep_result out = {.size = sizeof out, .u_first = &u};
    carom_error err;
    test_ok("no pair", carom_sphere_sweep_pairs(context, &desc, &out, NULL, &err), &err);
    desc = (carom_sphere_sweep_pairs_desc){.batch = {.size = sizeof desc, .count = 1},
                                           .a0 = carom_xyz(p),
                                           .a1 = carom_xyz(p),
                                           .radius_a = carom_scalars_of(&radius),
                                           .b0 = carom_xyz(p),
                                           .b1 = carom_xyz(p),
                                           .radius_b = carom_scalars_of(&radius),
                                           .indices = {.a_count = UINT64_MAX, .b_count = UINT64_MAX}};
    test_ok("no index", carom_sphere_sweep_pairs(context, &desc, &out, NULL, &err), &err);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_names),
        cmocka_unit_test(test_refused_list),
        cmocka_unit_test(test_no_pairs),
        cmocka_unit_test(test_missing_inputs),
        cmocka_unit_test(test_bad_indices),
        cmocka_unit_test(test_bad_descriptors),
        cmocka_unit_test(test_bad_descriptors_of_others),
        cmocka_unit_test(test_bad_mesh_sweeps),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_stats),
        cmocka_unit_test(test_exact_stats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
