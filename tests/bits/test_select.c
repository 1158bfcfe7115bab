/* SPDX-License-Identifier: MIT */
/* Selected elements: query i of a mesh reads element select[i] of every input, and answers as a batch would in which
 * the elements were copied. Lists that begin at a query answer the rest of the batch. */
#include "tests/support/lists.h"
#include "tests/support/requests.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 29, ELEMENTS = 300, COUNT = 900, STRIDE = 12 };

/* Indices in any order, some of them several times. */
static uint32_t *some_indices(uint64_t seed)
{
    uint32_t *order = random_order(seed, ELEMENTS), *index = test_alloc(COUNT, sizeof *index);
    for (size_t i = 0; i < COUNT; i++)
        index[i] = order[i * i % ELEMENTS];
    free(order);
    return index;
}

/* The spheres that the indices name, one after the other. */
static swept_spheres copied(const swept_spheres *from, const uint32_t *index)
{
    swept_spheres to = swept_spheres_alloc(COUNT);
    to.mask = test_alloc(COUNT, sizeof *to.mask);
    to.max_distance = test_alloc(COUNT, sizeof *to.max_distance);
    for (size_t i = 0; i < COUNT; i++) {
        for (int c = 0; c < SPHERE_COLUMNS; c++)
            to.column[c][i] = from->column[c][index[i]];
        to.mask[i] = from->mask[index[i]];
        to.max_distance[i] = from->max_distance[index[i]];
    }
    return to;
}

/* Every query of a mesh, in both modes, in this context. */
static void check_selected(carom_context *context, const char *label)
{
    uint32_t *index = some_indices(SEED);
    fixture whole = {.count = COUNT, .b = swept_spheres_mixed(SEED, ELEMENTS), .s = scene_sphere(3)};
    whole.s.masks = random_masks(SEED, whole.s.triangle_count);
    whole.b.mask = random_masks(SEED + 1, ELEMENTS);
    whole.b.max_distance = random_limits(SEED + 2, ELEMENTS);
    fixture copy = {.count = COUNT, .b = copied(&whole.b, index), .s = whole.s};
    guarded strided = guarded_alloc(COUNT * STRIDE, 1, 0xa5); /* at an odd address */
    for (size_t i = 0; i < COUNT; i++)
        memcpy(strided.data + i * STRIDE, &index[i], sizeof index[i]);
    carom_mesh *mesh = scene_mesh(context, &whole.s);
    for (size_t k = 0; k < REQUESTS; k++) {
        const request *q = &requests[k];
        if (!request_needs_mesh(q))
            continue;
        batch_result expected = request_answer(q, &copy);
        for (int form = 0; form < 2; form++) {
            batch_result got = batch_result_alloc(q, &copy);
            carom_error err = {0};
            whole.select =
                form == 0 ? carom_uints_of(index) : (carom_uints){(const uint32_t *)(const void *)strided.data, STRIDE};
            whole.elements = ELEMENTS;
            test_ok(q->name, request_ask(q, context, mesh, &whole, &got, &err), &err);
            batch_result_compare(q, &copy, &expected, &got, label);
            batch_result_free(&got);
        }
        batch_result_free(&expected);
    }
    carom_mesh_destroy(mesh);
    guarded_free(&strided);
    scene_free(&whole.s);
    swept_spheres_free(&whole.b);
    swept_spheres_free(&copy.b);
    free(index);
}

static void test_selected(void **state)
{
    (void)state;
    for (int isa = CAROM_ISA_SCALAR; isa <= CAROM_ISA_NEON; isa++)
        for (uint32_t threads = 1; carom_isa_available((carom_isa)isa) && threads <= 2; threads++) {
            carom_context *context = test_cpu((carom_isa)isa, threads);
            check_selected(context, carom_isa_name((carom_isa)isa));
            carom_context_destroy(context);
        }
}

static void test_selected_on_device(void **state)
{
    static const uint32_t chunks[] = {0, 100};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(chunks); i++) {
        carom_context *context = test_device(0, chunks[i]);
        check_selected(context, "device");
        carom_context_destroy(context);
    }
}

/* An index that no element has names the query, before any work. */
static void test_out_of_range(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    fixture m = {.count = COUNT, .b = swept_spheres_mixed(SEED, ELEMENTS), .s = scene_sphere(2)};
    uint32_t *index = some_indices(SEED);
    carom_mesh *mesh = scene_mesh(context, &m.s);
    (void)state;
    index[417] = ELEMENTS;
    index[600] = UINT32_MAX;
    m.select = carom_uints_of(index);
    m.elements = ELEMENTS;
    for (size_t k = 0; k < REQUESTS; k++) {
        if (!request_needs_mesh(&requests[k]))
            continue;
        batch_result got = batch_result_alloc(&requests[k], &m);
        carom_error err = {0};
        test_error(request_ask(&requests[k], context, mesh, &m, &got, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   "query 417: batch.select is 300");
        batch_result_free(&got);
    }
    carom_mesh_destroy(mesh);
    scene_free(&m.s);
    swept_spheres_free(&m.b);
    free(index);
    carom_context_destroy(context);
}

/* ---- lists that begin at a query --------------------------------------------------------------------------------- */

typedef struct list_setting {
    swept_spheres b;
    carom_mesh *mesh;
} list_setting;

static carom_status ask_from(const list_setting *t, const list_request *q, uint64_t begin, hit_list *l)
{
    carom_hit_list list = list_desc(l, q->overlaps ? LIST_OVERLAPS : LIST_HITS);
    carom_mesh_sweep_desc sweep = swept_spheres_desc(&t->b, 0, COUNT);
    carom_mesh_overlap_desc rest = swept_spheres_at_rest(&t->b, 0, COUNT);
    carom_error err = {0};
    sweep.batch.accuracy = rest.batch.accuracy = q->accuracy;
    sweep.batch.begin = rest.batch.begin = begin;
    const carom_status status = q->overlaps ? carom_mesh_overlap_list(t->mesh, &rest, &list, NULL, &err)
                                            : carom_mesh_sweep_list(t->mesh, &sweep, q->which, &list, NULL, &err);
    test_ok("a list from there on", status, &err);
    return status;
}

/* Records [from, from + l->stored) of the whole list. */
static void check_records(const hit_list *whole, const hit_list *l, uint64_t from)
{
    for (size_t k = 0; k < l->stored; k++) {
        assert_int_equal(list_query(l, k), list_query(whole, (size_t)from + k));
        assert_int_equal(hit_triangle(&l->hits, k), hit_triangle(&whole->hits, (size_t)from + k));
    }
}

/* Cut again and again: what a list has no room for is in those that go on. */
static void check_continued(const list_setting *t, const list_request *q, const hit_list *whole, size_t room)
{
    uint64_t begin = 0, records = 0;
    while (begin < COUNT) {
        hit_list l = list_alloc(COUNT, room, 0xa5);
        (void)ask_from(t, q, begin, &l);
        assert_int_equal(l.total, whole->total - list_offset(whole, (size_t)begin));
        assert_int_equal(list_offset(&l, (size_t)begin), 0);
        for (size_t i = (size_t)begin; i <= COUNT; i++)
            assert_int_equal(list_offset(&l, i), list_offset(whole, i) - list_offset(whole, (size_t)begin));
        check_records(whole, &l, records);
        records += l.stored;
        assert_true(l.complete > begin);
        begin = l.complete;
        list_free(&l);
    }
    assert_int_equal(records, whole->total);
}

static void check_begun(carom_context *context)
{
    scene s = scene_sphere(3);
    list_setting t = {swept_spheres_mixed(SEED, COUNT), scene_mesh(context, &s)};
    for (size_t k = 0; k < LIST_REQUESTS; k++) {
        hit_list whole = list_whole(t.mesh, &list_requests[k], &t.b, 0, COUNT);
        uint64_t most = 1;
        for (size_t i = 0; i < COUNT; i++) {
            const uint64_t count = list_offset(&whole, i + 1) - list_offset(&whole, i);
            most = count > most ? count : most;
        }
        check_continued(&t, &list_requests[k], &whole, (size_t)(most + whole.total / 4));
        hit_list end = list_alloc(COUNT, 1, 0xa5);
        (void)ask_from(&t, &list_requests[k], COUNT, &end);
        assert_true(end.total == 0 && end.stored == 0 && end.complete == COUNT);
        list_free(&end);
        list_free(&whole);
    }
    carom_mesh_destroy(t.mesh);
    swept_spheres_free(&t.b);
    scene_free(&s);
}

static void test_begun(void **state)
{
    carom_context *context = test_context();
    (void)state;
    check_begun(context);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_selected), cmocka_unit_test(test_out_of_range),
                                        cmocka_unit_test(test_begun)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_selected_on_device), cmocka_unit_test(test_begun)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
