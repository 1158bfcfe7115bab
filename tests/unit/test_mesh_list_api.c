/* SPDX-License-Identifier: MIT */
/* Lists in the caller's arrays: every capacity, continuing after a capacity that was too small, memory beyond the
 * records, layouts, empty batches. Invalid arguments are in test_mesh_refused.c. */
#include "tests/support/lists.h"

#include <math.h>

enum { SEED = 151, COUNT = 400, FILL = 0xa5 };

static const list_request hits_asked = {CAROM_ACCURACY_FAST, 0, CAROM_HITS_ALL},
                          first_asked = {CAROM_ACCURACY_EXACT, 0, CAROM_HITS_FIRST},
                          overlaps_asked = {CAROM_ACCURACY_EXACT, 1, CAROM_HITS_ALL};

typedef struct setting {
    carom_context *context;
    carom_mesh *mesh;
    swept_spheres b;
} setting;

static setting begin(void)
{
    setting t = {.context = test_context(), .b = swept_spheres_mixed(SEED, COUNT)};
    scene s = scene_soup(SEED, 120, 0.4);
    t.mesh = scene_mesh(t.context, &s);
    scene_free(&s);
    for (size_t i = 0; i < COUNT; i++) /* larger, so that enough of them overlap */
        t.b.column[SPHERE_RADIUS][i] *= 4.0f;
    return t;
}

static void end(setting *t)
{
    carom_mesh_destroy(t->mesh);
    carom_context_destroy(t->context);
    swept_spheres_free(&t->b);
}

/* ---- capacity ---------------------------------------------------------------------------------------------------- */

static void check_untouched(const hit_list *l, int fields)
{
    for (size_t i = (size_t)l->stored * sizeof(uint64_t); i < l->query.size; i++)
        assert_int_equal(l->query.data[i], FILL);
    for (int f = 0; f < HIT_FIELDS; f++)
        for (size_t i = (fields >> f & 1 ? (size_t)l->stored : 0) * hit_field_size(f); i < l->hits.field[f].size; i++)
            assert_int_equal(l->hits.field[f].data[i], FILL);
}

/* The records of as many whole queries as fit are written, and all hits are counted. */
static void check_capacity(const setting *t, const list_request *q, const hit_list *whole, size_t capacity)
{
    const int fields = q->overlaps ? LIST_OVERLAPS : LIST_HITS;
    hit_list l = list_alloc(COUNT, capacity, FILL);
    list_ask(t->mesh, q, &t->b, 0, COUNT, &l);
    assert_int_equal(l.total, whole->total);
    assert_memory_equal(l.offsets.data, whole->offsets.data, whole->offsets.size);
    assert_true(l.complete <= COUNT && l.stored <= capacity);
    assert_int_equal(l.stored, list_offset(whole, (size_t)l.complete));
    if (capacity > 0 && l.complete < COUNT && list_offset(whole, (size_t)l.complete + 1) <= capacity)
        fail_msg("capacity %zu: query %llu would have fitted", capacity, (unsigned long long)l.complete);
    list_check_form(&l, fields, "a list that may be too short");
    check_untouched(&l, fields);
    for (int f = 0; f < HIT_FIELDS; f++)
        if (fields >> f & 1)
            assert_memory_equal(l.hits.field[f].data, whole->hits.field[f].data, (size_t)l.stored * hit_field_size(f));
    assert_memory_equal(l.query.data, whole->query.data, (size_t)l.stored * sizeof(uint64_t));
    list_free(&l);
}

static void test_capacities(void **state)
{
    const list_request *q = *state;
    setting t = begin();
    hit_list whole = list_whole(t.mesh, q, &t.b, 0, COUNT);
    const size_t total = (size_t)whole.total;
    const size_t capacities[] = {0, 1, 2, 3, total / 3, total / 2, total - 1, total, total + 1, total + 1000};
    assert_true(total > COUNT / 10);
    for (size_t i = 0; i < COUNT_OF(capacities); i++)
        check_capacity(&t, q, &whole, capacities[i]);
    list_free(&whole);
    end(&t);
}

/* Calls that each continue at `complete` of the call before add up to the whole list. With less test effort only the
 * last queries are listed. */
static void test_going_on(void **state)
{
    const list_request *q = *state;
    setting t = begin();
    hit_list whole = list_whole(t.mesh, q, &t.b, 0, COUNT);
    enum { LEAST = COUNT / 4 }; /* with fewer queries no list needs three calls */
    const size_t asked = test_effort(COUNT), begins = COUNT - (asked > LEAST ? asked : LEAST);
    size_t largest = 1, calls = 0, records = (size_t)list_offset(&whole, begins);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t n = (size_t)(list_offset(&whole, i + 1) - list_offset(&whole, i));
        largest = n > largest ? n : largest;
    }
    for (size_t from = begins; from < COUNT; calls++) {
        hit_list l = list_alloc(COUNT - from, largest, FILL);
        list_ask(t.mesh, q, &t.b, from, COUNT - from, &l);
        assert_true(l.complete > 0);
        assert_int_equal(l.total, whole.total - list_offset(&whole, from));
        for (size_t k = 0; k < l.stored; k++, records++) {
            assert_int_equal(list_query(&l, k) + from, list_query(&whole, records));
            assert_int_equal(hit_triangle(&l.hits, k), hit_triangle(&whole.hits, records));
            if (!q->overlaps)
                list_compare_record(&t.b, from, &whole.hits, records, &l, k, 1, "a list that goes on");
        }
        from += (size_t)l.complete;
        list_free(&l);
    }
    assert_int_equal(records, whole.total);
    assert_true(calls > 2 || q->which == CAROM_HITS_FIRST);
    list_free(&whole);
    end(&t);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

/* Any columns, alone; NULL for the others. */
static void test_selections(void **state)
{
    setting t = begin();
    hit_list whole = list_whole(t.mesh, &hits_asked, &t.b, 0, COUNT);
    carom_mesh_sweep_desc desc = swept_spheres_desc(&t.b, 0, COUNT);
    (void)state;
    for (int want = 0; want < 9; want++) {
        hit_list l = list_alloc(COUNT, (size_t)whole.total, FILL);
        carom_hit_list all = list_desc(&l, LIST_HITS),
                       some = {.size = sizeof some, .capacity = all.capacity, .totals = all.totals};
        carom_error err = {0};
        static const int fields[] = {
            1 << HIT_TRIANGLE, 1 << HIT_STATE, 1 << HIT_T, 7 << HIT_X, 7 << HIT_NX, 1 << HIT_FEATURE, 0, 0, 0};
        some.triangle = want == 0 ? all.triangle : NULL;
        some.state = want == 1 ? all.state : NULL;
        some.t = want == 2 ? all.t : NULL;
        some.point = want == 3 ? all.point : some.point;
        some.normal = want == 4 ? all.normal : some.normal;
        some.feature = want == 5 ? all.feature : NULL;
        some.query = want == 6 ? all.query : NULL;
        some.offsets = want == 7 ? all.offsets : NULL;
        test_ok("one column alone", carom_mesh_sweep_list(t.mesh, &desc, CAROM_HITS_ALL, &some, NULL, &err), &err);
        assert_int_equal(some.totals->total, whole.total);
        assert_int_equal(some.totals->stored, whole.total);
        assert_int_equal(some.totals->complete, COUNT);
        for (int f = 0; f < HIT_FIELDS; f++)
            if (fields[want] >> f & 1)
                assert_memory_equal(l.hits.field[f].data, whole.hits.field[f].data, whole.hits.field[f].size);
        if (want == 6)
            assert_memory_equal(l.query.data, whole.query.data, whole.query.size);
        if (want == 7)
            assert_memory_equal(l.offsets.data, whole.offsets.data, whole.offsets.size);
        list_free(&l);
    }
    list_free(&whole);
    end(&t);
}

/* Records of an odd size at an odd address, in and out; a radius and a window for all. */
static void test_strides(void **state)
{
    enum { IN = 31, OUT = 29 };
    setting t = begin();
    guarded in = guarded_alloc(COUNT * IN, 3, 0xff);
    const float t_max = 3.0f, radius = 0.05f;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        t.b.column[SPHERE_RADIUS][i] = radius;
        t.b.column[SPHERE_T_MAX][i] = t_max;
        for (size_t c = 0; c < 6; c++)
            memcpy(in.data + i * IN + 4 * c + 1, &t.b.column[c < 3 ? c : c + 1][i], sizeof(float));
    }
    for (int exact = 0; exact < 2; exact++) {
        const list_request q = {(carom_accuracy)exact, 0, CAROM_HITS_ALL};
        hit_list whole = list_whole(t.mesh, &q, &t.b, 0, COUNT), l = list_alloc(COUNT, (size_t)whole.total, FILL);
        guarded out = guarded_alloc((size_t)whole.total * OUT, 1, FILL);
        carom_hit_list list = list_desc(&l, LIST_HITS);
        float *const at[] = {(float *)(void *)(in.data + 1), (float *)(void *)(out.data + 2)};
#define WORD(base, k) ((float *)(void *)((unsigned char *)(base) + 4 * (k)))
        carom_mesh_sweep_desc desc = {.batch.size = sizeof desc,
                                      .batch.count = COUNT,
                                      .batch.accuracy = q.accuracy,
                                      .center = {at[0], WORD(at[0], 1), WORD(at[0], 2), IN},
                                      .velocity = {WORD(at[0], 3), WORD(at[0], 4), WORD(at[0], 5), IN},
                                      .radius = {&radius, CAROM_REPEAT},
                                      .t_max = {&t_max, CAROM_REPEAT}};
        carom_error err = {0};
        list.point = (carom_points_out){at[1], WORD(at[1], 1), WORD(at[1], 2), OUT};
        list.normal = (carom_points_out){WORD(at[1], 3), WORD(at[1], 4), WORD(at[1], 5), OUT};
        test_ok("strides", carom_mesh_sweep_list(t.mesh, &desc, CAROM_HITS_ALL, &list, NULL, &err), &err);
        assert_int_equal(l.stored, whole.total);
        guarded_check(&out, "points of an odd stride");
        for (size_t k = 0; k < whole.total; k++) {
            for (int f = HIT_X; f <= HIT_NZ; f++)
                assert_memory_equal(out.data + 2 + k * OUT + 4 * (size_t)(f - HIT_X), whole.hits.field[f].data + 4 * k,
                                    4);
            for (size_t gap = 24; gap < OUT && k * OUT + 2 + gap < out.size; gap++)
                assert_int_equal(out.data[k * OUT + 2 + gap], FILL);
            assert_int_equal(hit_triangle(&l.hits, k), hit_triangle(&whole.hits, k));
        }
        guarded_free(&out);
        list_free(&l);
        list_free(&whole);
    }
    guarded_free(&in);
    end(&t);
}

/* ---- empty batches, empty meshes, invalid spheres ---------------------------------------------------------------- */

static void test_no_queries(void **state)
{
    setting t = begin();
    const list_request *const asked[] = {&hits_asked, &first_asked, &overlaps_asked};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        hit_list l = list_whole(t.mesh, asked[i], &t.b, 0, 0);
        assert_int_equal(l.total, 0);
        free(any_of(t.mesh, asked[i], &t.b, 0, 0));
        list_free(&l);
    }
    carom_mesh_sweep_desc sweep = {.batch.size = sizeof sweep};
    carom_mesh_overlap_desc rest = {.batch.size = sizeof rest};
    carom_list_totals totals = {9, 9, 9};
    carom_hit_list list = {.size = sizeof list, .totals = &totals};
    carom_error err = {0};
    test_ok("no queries", carom_mesh_sweep_list(t.mesh, &sweep, CAROM_HITS_ALL, &list, NULL, &err), &err);
    assert_true(totals.total == 0 && totals.complete == 0 && totals.stored == 0);
    totals = (carom_list_totals){9, 9, 9};
    test_ok("no queries", carom_mesh_overlap_list(t.mesh, &rest, &list, NULL, &err), &err);
    assert_true(totals.total == 0 && totals.complete == 0 && totals.stored == 0);
    end(&t);
}

/* A mesh without triangles, and a batch without a valid sphere. */
static void test_no_hits(void **state)
{
    setting t = begin();
    scene nothing = {0};
    carom_mesh *empty = scene_mesh(t.context, &nothing);
    swept_spheres bad = swept_spheres_alloc(COUNT);
    const list_request *const asked[] = {&hits_asked, &first_asked, &overlaps_asked};
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        bad.column[i % 4][i] = i % 4 == SPHERE_RADIUS ? -1.0f : i % 8 < 4 ? NAN : HUGE_VALF;
    for (size_t i = 0; i < COUNT_OF(asked); i++)
        for (int mesh = 0; mesh < 3; mesh++) { /* 0, 1: the empty mesh; 1, 2: invalid spheres */
            const swept_spheres *b = mesh == 0 ? &t.b : &bad;
            hit_list l = list_whole(mesh < 2 ? empty : t.mesh, asked[i], b, 0, COUNT);
            uint8_t *any = any_of(mesh < 2 ? empty : t.mesh, asked[i], b, 0, COUNT);
            assert_int_equal(l.total, 0);
            assert_int_equal(l.complete, COUNT);
            for (size_t k = 0; k < COUNT; k++) {
                int valid = b->column[SPHERE_RADIUS][k] >= 0.0f;
                for (int c = 0; c < (asked[i]->overlaps ? 4 : SPHERE_T_MAX); c++)
                    valid = valid && isfinite(b->column[c][k]);
                assert_int_equal(any[k], valid ? 0 : CAROM_OVERLAP_INVALID);
            }
            free(any);
            list_free(&l);
        }
    carom_mesh_destroy(empty);
    swept_spheres_free(&bad);
    end(&t);
}

/* Each sphere has its own window. A window of length 0 leaves only hits at the start. */
static void test_windows(void **state)
{
    setting t = begin();
    const list_request *q = *state;
    hit_list open = list_whole(t.mesh, q, &t.b, 0, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        t.b.column[SPHERE_T_MAX][i] = i % 3 == 0 ? 0.0f : i % 3 == 1 ? 1.5f : HUGE_VALF;
    hit_list l = list_whole(t.mesh, q, &t.b, 0, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        size_t k = (size_t)list_offset(&l, i), from = (size_t)list_offset(&open, i);
        for (; from < list_offset(&open, i + 1); from++)
            if (hit_float(&open.hits, HIT_T, from) <= t.b.column[SPHERE_T_MAX][i]) {
                assert_true(k < list_offset(&l, i + 1));
                list_compare_record(&t.b, i, &open.hits, from, &l, k++, 1, "within a window");
            }
        assert_int_equal(k, list_offset(&l, i + 1));
    }
    assert_true(l.total < open.total && l.total > 0);
    list_free(&l);
    list_free(&open);
    end(&t);
}

/* Thousands of triangles share a corner. Every sphere hits all of them, at the start or later. */
static void test_many_hits(void **state)
{
    const list_request *q = *state;
    const size_t triangles = 3000, count = test_effort(500);
    carom_context *context = test_context();
    scene s = scene_soup(SEED + 1, triangles, 1.0);
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t k = 0; k < triangles; k++)
        memset(&s.vertices[9 * k], 0, 3 * sizeof *s.vertices);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        double way[3];
        ref_gen_seed(&g, 120, SEED, i);
        ref_gen_direction(&g, way);
        for (size_t c = 0; c < 3; c++) {
            b.column[c][i] = (float)(i % 2 && !q->overlaps ? 3.0 * way[c] : 0.0);
            b.column[4 + c][i] = (float)-way[c];
        }
        b.column[SPHERE_RADIUS][i] = i % 4 < 2 ? 0.25f : 0x1p-10f;
    }
    carom_mesh *mesh = scene_mesh(context, &s);
    hit_list l = list_whole(mesh, q, &b, 0, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(list_offset(&l, i + 1) - list_offset(&l, i), q->which == CAROM_HITS_FIRST ? 1 : triangles);
    list_free(&l);
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Many spheres that hit nothing, then many that hit every triangle: more hits than the library holds at a time. So it
 * uses smaller parts, and no hit is lost. */
static void test_crowd(void **state)
{
    enum { TRIANGLES = 400 };
    const size_t empty = test_effort(150000), crowd = test_effort(70000);
    carom_context *context = test_context();
    scene s = scene_soup(SEED + 2, TRIANGLES, 1.0);
    swept_spheres b = swept_spheres_alloc(empty + crowd);
    uint64_t *offsets = test_alloc(b.count + 1, sizeof *offsets);
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list, .totals = &totals, .offsets = offsets};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    (void)state;
    for (size_t k = 0; k < TRIANGLES; k++)
        memset(&s.vertices[9 * k], 0, 3 * sizeof *s.vertices);
    for (size_t i = 0; i < b.count; i++) {
        b.column[0][i] = i < empty ? 100.0f : 0.0f;
        b.column[SPHERE_RADIUS][i] = 0.25f;
    }
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_mesh_sweep_desc d = swept_spheres_desc(&b, 0, b.count);
    test_ok("a crowd", carom_mesh_sweep_list(mesh, &d, CAROM_HITS_ALL, &list, &stats, &err), &err);
    assert_int_equal(totals.total, (uint64_t)TRIANGLES * crowd);
    assert_int_equal(totals.complete, empty); /* there is room for none */
    for (size_t i = 0; i < b.count; i++)
        assert_int_equal(offsets[i + 1] - offsets[i], i < empty ? 0 : TRIANGLES);
    free(offsets);
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

#define ASK(asked) (void *)&asked
int main(void)
{
    const struct CMUnitTest tests[] = {
        {"hits: every capacity", test_capacities, NULL, NULL, ASK(hits_asked)},
        {"first hits: every capacity", test_capacities, NULL, NULL, ASK(first_asked)},
        {"overlaps: every capacity", test_capacities, NULL, NULL, ASK(overlaps_asked)},
        {"hits: going on at complete", test_going_on, NULL, NULL, ASK(hits_asked)},
        {"first hits: going on at complete", test_going_on, NULL, NULL, ASK(first_asked)},
        {"overlaps: going on at complete", test_going_on, NULL, NULL, ASK(overlaps_asked)},
        {"hits: windows", test_windows, NULL, NULL, ASK(hits_asked)},
        cmocka_unit_test(test_crowd),
        {"hits: 3000 of each sphere", test_many_hits, NULL, NULL, ASK(hits_asked)},
        {"overlaps: 3000 of each sphere", test_many_hits, NULL, NULL, ASK(overlaps_asked)},
        {"first hits among 3000 of each sphere", test_many_hits, NULL, NULL, ASK(first_asked)},
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_no_queries),
        cmocka_unit_test(test_no_hits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
