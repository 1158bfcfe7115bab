/* SPDX-License-Identifier: MIT */
/* Lists of hits and of overlaps in both modes: consistent with the first hit and with each other, record by record what
 * a mesh of two triangles answers, and the same bits whatever the order of triangles, queries, batches, threads, lanes
 * and chunks. */
#include "tests/support/exact_scenes.h"
#include "tests/support/lists.h"

#include <float.h>
#include <math.h>

/* As for first hits: within this share of the largest coordinate fast mode may decide either way. */
#define MARGIN 5e-7
/* Relative room for the rounding of a time. */
#define TIME 0x1p-21
enum { SEED = 141 };

/* Scenes of every kind and both kinds of spheres, whose windows end now and then. */
typedef struct setting {
    scene s;
    swept_spheres b;
    const char *name;
} setting;

static setting make_setting(size_t kind, size_t triangles, size_t count)
{
    setting t = {kinds[kind].make(triangles), {0}, kinds[kind].name};
    t.b = kind % 2 ? swept_spheres_mixed(SEED + kind, test_effort(count))
                   : swept_spheres_aimed(SEED + kind, &t.s, 1.0, test_effort(count));
    for (size_t i = 0; i < t.b.count; i += 3)
        t.b.column[SPHERE_T_MAX][i] = i % 2 ? 0.0f : 2.0f;
    return t;
}

static void free_setting(setting *t)
{
    scene_free(&t->s);
    swept_spheres_free(&t->b);
}

/* ---- with the first hit, and with each other --------------------------------------------------------------------- */

/* all: every hit. first: those that carom_mesh_sweep_first finds. */
static void check_hits(const setting *t, const hits *expected, const hit_list *all, const hit_list *first,
                       const uint8_t *any)
{
    for (size_t i = 0; i < t->b.count; i++) {
        const size_t from = (size_t)list_offset(all, i), one = (size_t)list_offset(first, i);
        const int some = hit_is_some(expected, i), is_valid = hit_state(expected, i) != CAROM_INVALID;
        if ((list_offset(all, i + 1) > from) != some || list_offset(first, i + 1) - one != (uint64_t)some ||
            any[i] != (is_valid ? some : CAROM_OVERLAP_INVALID)) {
            hits_print(&t->b, expected, i, "the first hit");
            fail_msg("%s, sphere %zu: %llu hits, %llu first, any %d", t->name, i,
                     (unsigned long long)(list_offset(all, i + 1) - from),
                     (unsigned long long)(list_offset(first, i + 1) - one), any[i]);
        }
        if (!some)
            continue;
        list_compare_record(&t->b, i, expected, i, all, from, 1, "the first of all hits");
        list_compare_record(&t->b, i, expected, i, first, one, 1, "the list of first hits");
    }
}

static void test_first_of_all(void **state)
{
    const list_request *q = *state;
    carom_context *context = test_context();
    uint64_t every = 0, firsts = 0, rests = 0, asked = 0;
    for (size_t k = 0; k < KINDS; k++) {
        setting t = make_setting(k, 300, 1200);
        carom_mesh *mesh = scene_mesh(context, &t.s);
        hits expected = sweep_as(mesh, &t.b, q[0].accuracy);
        hit_list all = list_whole(mesh, &q[0], &t.b, 0, t.b.count), first = list_whole(mesh, &q[1], &t.b, 0, t.b.count);
        hit_list rest = list_whole(mesh, &q[2], &t.b, 0, t.b.count);
        uint8_t *any = any_of(mesh, &q[0], &t.b, 0, t.b.count), *any_rest = any_of(mesh, &q[2], &t.b, 0, t.b.count);
        check_hits(&t, &expected, &all, &first, any);
        for (size_t i = 0; i < t.b.count; i++) {
            const int some = list_offset(&rest, i + 1) > list_offset(&rest, i);
            if (any_rest[i] == CAROM_OVERLAP_INVALID ? some : any_rest[i] != some)
                fail_msg("%s, sphere %zu: overlaps %d, the list has %s", t.name, i, any_rest[i],
                         some ? "some" : "none");
        }
        every += all.total;
        firsts += first.total;
        rests += rest.total;
        asked += t.b.count;
        free(any);
        free(any_rest);
        list_free(&all);
        list_free(&first);
        list_free(&rest);
        hits_free(&expected);
        carom_mesh_destroy(mesh);
        free_setting(&t);
    }
    assert_true(every > firsts && rests > 0);
    test_share("first hits", firsts, asked, 0.1, 1.0);
    carom_context_destroy(context);
}

/* ---- fast mode against the reference ----------------------------------------------------------------------------- */

/* First contact for a radius moved by `by`, at 0 for a start in contact; +inf for none. */
static double true_time(ref_sweep_case c, double by)
{
    ref_sweep_answer exact;
    if (c.radius + by < 0.0)
        return HUGE_VAL;
    c.radius += by;
    ref_sweep(&c, &exact);
    return exact.state == REF_APPROACHING                                  ? exact.t_first_near
           : exact.state == REF_TOUCHING || exact.state == REF_OVERLAPPING ? 0.0
                                                                           : HUGE_VAL;
}

/* `k`: its record, or SIZE_MAX. */
static void judge_pair(const setting *t, const hit_list *l, size_t i, size_t triangle, size_t k)
{
    ref_sweep_case c;
    swept_spheres_case(&t->b, i, &t->s, triangle, &c);
    const double t_max = (double)t->b.column[SPHERE_T_MAX][i], margin = MARGIN * queries_scale(&c);
    const double late = true_time(c, -margin), early = true_time(c, margin);
    if (k == SIZE_MAX) {
        if (late < HUGE_VAL && late <= t_max * (1.0 - TIME))
            fail_msg("%s, sphere %zu: triangle %zu is surely hit at %a", t->name, i, triangle, late);
        return;
    }
    const double time = (double)hit_float(&l->hits, HIT_T, k);
    if (time <= t_max && early * (1.0 - TIME) <= time + (double)FLT_MIN &&
        time <= late * (1.0 + TIME) + (double)FLT_MIN)
        return;
    hits_print_at(&t->b, i, &l->hits, k, "answer");
    fail_msg("%s, sphere %zu: the hit of triangle %zu lies between %a and %a", t->name, i, triangle, early, late);
}

static void judge_rest(const setting *t, size_t i, size_t triangle, int overlaps)
{
    ref_sweep_case c;
    ref_overlap_answer near = {0, 0}, far;
    swept_spheres_case(&t->b, i, &t->s, triangle, &c);
    const double margin = MARGIN * queries_scale(&c), radius = c.radius;
    c.radius = radius + margin;
    ref_overlap(&c, &far);
    c.radius = radius - margin;
    if (radius >= margin)
        ref_overlap(&c, &near);
    if (overlaps ? far.overlap != 1 : near.overlap == 1)
        fail_msg("%s, sphere %zu: triangle %zu surely %s", t->name, i, triangle, overlaps ? "is apart" : "overlaps");
}

static void test_fast_reference(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t n = 0; n < KINDS; n++) {
        setting t = make_setting(n, 80, 150);
        carom_mesh *mesh = scene_mesh(context, &t.s);
        hit_list all = list_whole(mesh, &list_requests[0], &t.b, 0, t.b.count);
        hit_list rest = list_whole(mesh, &list_requests[2], &t.b, 0, t.b.count);
        uint8_t *any = any_of(mesh, &list_requests[0], &t.b, 0, t.b.count);
        size_t *place = test_alloc(t.s.triangle_count, sizeof *place);
        uint8_t *overlaps = test_alloc(t.s.triangle_count, 1);
        for (size_t i = 0; i < t.b.count; i++) {
            if (any[i] == CAROM_OVERLAP_INVALID)
                continue;
            memset(place, 0xff, t.s.triangle_count * sizeof *place);
            memset(overlaps, 0, t.s.triangle_count);
            for (size_t k = (size_t)list_offset(&all, i); k < list_offset(&all, i + 1); k++)
                place[hit_triangle(&all.hits, k)] = k;
            for (size_t k = (size_t)list_offset(&rest, i); k < list_offset(&rest, i + 1); k++)
                overlaps[hit_triangle(&rest.hits, k)] = 1;
            for (size_t triangle = 0; triangle < t.s.triangle_count; triangle++) {
                judge_pair(&t, &all, i, triangle, place[triangle]);
                judge_rest(&t, i, triangle, overlaps[triangle]);
            }
        }
        free(any);
        free(place);
        free(overlaps);
        list_free(&all);
        list_free(&rest);
        carom_mesh_destroy(mesh);
        free_setting(&t);
    }
    carom_context_destroy(context);
}

/* ---- triangle by triangle ---------------------------------------------------------------------------------------- */

static void test_triangle_by_triangle(void **state)
{
    const list_request *q = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < KINDS; n++) {
        setting t = make_setting(n, 60, 500);
        carom_mesh *mesh = scene_mesh(context, &t.s);
        hit_list whole = list_whole(mesh, q, &t.b, 0, t.b.count);
        list_check_alone(context, &t.s, q, &t.b, &whole, t.name);
        list_free(&whole);
        carom_mesh_destroy(mesh);
        free_setting(&t);
    }
    carom_context_destroy(context);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Triangle `from` of one list and triangle `to` of another have the same records, bit by bit. */
static void compare_triangle(const setting *t, const list_request *q, const hit_list *a, int32_t from,
                             const hit_list *b, int32_t to)
{
    for (size_t i = 0; i < t->b.count; i++) {
        const size_t x = list_find(a, i, from), y = list_find(b, i, to);
        if ((x == SIZE_MAX) != (y == SIZE_MAX))
            fail_msg("%s, sphere %zu: triangle %d is %s there and %s here", t->name, i, to,
                     x == SIZE_MAX ? "not hit" : "hit", y == SIZE_MAX ? "not" : "is");
        if (x != SIZE_MAX && !q->overlaps)
            list_compare_record(&t->b, i, &a->hits, x, b, y, 0, "a triangle in another mesh");
    }
}

static void test_triangles_in_another_order(void **state)
{
    const list_request *q = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < KINDS; n++) {
        setting t = make_setting(n, 250, 600);
        uint32_t *order = random_order(SEED, t.s.triangle_count);
        scene turned = scene_reorder(&t.s, order, t.s.triangle_count);
        carom_mesh *mesh = scene_mesh(context, &t.s), *other = scene_mesh(context, &turned);
        hit_list a = list_whole(mesh, q, &t.b, 0, t.b.count), b = list_whole(other, q, &t.b, 0, t.b.count);
        assert_int_equal(a.total, b.total);
        for (uint32_t k = 0; k < t.s.triangle_count; k++)
            compare_triangle(&t, q, &a, (int32_t)order[k], &b, (int32_t)k);
        list_free(&a);
        list_free(&b);
        carom_mesh_destroy(mesh);
        carom_mesh_destroy(other);
        scene_free(&turned);
        free(order);
        free_setting(&t);
    }
    carom_context_destroy(context);
}

/* Records of sphere i of `b` are those of sphere from[i] of `a`. */
static void compare_spheres(const swept_spheres *spheres, const list_request *q, const hit_list *a,
                            const uint32_t *from, const hit_list *b, size_t count, const char *label)
{
    for (size_t i = 0; i < count; i++) {
        const size_t x = (size_t)list_offset(a, from[i]), y = (size_t)list_offset(b, i);
        const uint64_t n = list_offset(a, from[i] + 1) - x;
        if (list_offset(b, i + 1) - y != n)
            fail_msg("%s: %llu records of sphere %u, not %llu", label, (unsigned long long)(list_offset(b, i + 1) - y),
                     from[i], (unsigned long long)n);
        for (size_t k = 0; k < n; k++) {
            if (!q->overlaps)
                list_compare_record(spheres, from[i], &a->hits, x + k, b, y + k, 1, label);
            assert_int_equal(hit_triangle(&a->hits, x + k), hit_triangle(&b->hits, y + k));
        }
    }
}

static void test_spheres_in_another_order(void **state)
{
    const list_request *q = *state;
    carom_context *context = test_context();
    setting t = make_setting(4, 300, 3000);
    carom_mesh *mesh = scene_mesh(context, &t.s);
    uint32_t *order = random_order(SEED + 1, t.b.count);
    swept_spheres turned = swept_spheres_reorder(&t.b, order, t.b.count);
    hit_list a = list_whole(mesh, q, &t.b, 0, t.b.count), b = list_whole(mesh, q, &turned, 0, t.b.count);
    uint8_t *any = any_of(mesh, q, &t.b, 0, t.b.count), *again = any_of(mesh, q, &turned, 0, t.b.count);
    compare_spheres(&t.b, q, &a, order, &b, t.b.count, "spheres in another order");
    for (size_t i = 0; i < t.b.count; i++)
        assert_int_equal(again[i], any[order[i]]);
    free(any);
    free(again);
    list_free(&a);
    list_free(&b);
    swept_spheres_free(&turned);
    free(order);
    carom_mesh_destroy(mesh);
    free_setting(&t);
    carom_context_destroy(context);
}

static void test_split_batches(void **state)
{
    static const size_t pieces[] = {1, 7, 64, 255, 257, 1000};
    const list_request *q = *state;
    carom_context *context = test_context();
    setting t = make_setting(1, 300, 1500);
    carom_mesh *mesh = scene_mesh(context, &t.s);
    hit_list whole = list_whole(mesh, q, &t.b, 0, t.b.count);
    uint8_t *any = any_of(mesh, q, &t.b, 0, t.b.count);
    for (size_t p = 0; p < COUNT_OF(pieces); p++) {
        const size_t limit = pieces[p] == 1 && t.b.count > 100 ? 100 : t.b.count;
        for (size_t first = 0; first < limit; first += pieces[p]) {
            const size_t count = limit - first < pieces[p] ? limit - first : pieces[p];
            uint32_t *from = test_alloc(count, sizeof *from);
            for (size_t i = 0; i < count; i++)
                from[i] = (uint32_t)(first + i);
            hit_list l = list_whole(mesh, q, &t.b, first, count);
            uint8_t *some = any_of(mesh, q, &t.b, first, count);
            compare_spheres(&t.b, q, &whole, from, &l, count, "a batch in pieces");
            assert_memory_equal(some, any + first, count);
            free(some);
            free(from);
            list_free(&l);
        }
    }
    free(any);
    list_free(&whole);
    carom_mesh_destroy(mesh);
    free_setting(&t);
    carom_context_destroy(context);
}

/* ---- the same bits from every backend ---------------------------------------------------------------------------- */

/* On every kind of mesh, for every request. */
static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t n = 0; n < KINDS; n++) {
        setting t = make_setting(n, n % 2 ? 700 : 120, 1000);
        carom_mesh *mesh = scene_mesh(context, &t.s), *reference = scene_mesh(scalar, &t.s);
        list_compare_meshes(reference, mesh, &t.b, label);
        carom_mesh_destroy(mesh);
        carom_mesh_destroy(reference);
        free_setting(&t);
    }
}

#define ASK(i) (void *)&list_requests[i]
#define EACH_MODE                                                                                           \
    {"fast: the first of all hits is the first hit", test_first_of_all, NULL, NULL, ASK(0)},                \
        {"exact: the first of all hits is the first hit", test_first_of_all, NULL, NULL, ASK(3)},           \
        cmocka_unit_test(test_fast_reference),                                                              \
        {"fast hits, triangle by triangle", test_triangle_by_triangle, NULL, NULL, ASK(0)},                 \
        {"exact hits, triangle by triangle", test_triangle_by_triangle, NULL, NULL, ASK(3)},                \
        {"fast overlaps, triangle by triangle", test_triangle_by_triangle, NULL, NULL, ASK(2)},             \
        {"fast hits, triangles in another order", test_triangles_in_another_order, NULL, NULL, ASK(0)},     \
        {"exact hits, triangles in another order", test_triangles_in_another_order, NULL, NULL, ASK(3)},    \
        {"fast overlaps, triangles in another order", test_triangles_in_another_order, NULL, NULL, ASK(2)}, \
        {"fast hits, spheres in another order", test_spheres_in_another_order, NULL, NULL, ASK(0)},         \
        {"fast first hits, spheres in another order", test_spheres_in_another_order, NULL, NULL, ASK(1)},   \
        {"exact hits, spheres in another order", test_spheres_in_another_order, NULL, NULL, ASK(3)},        \
        {"exact overlaps, spheres in another order", test_spheres_in_another_order, NULL, NULL, ASK(5)},    \
        {"fast overlaps, spheres in another order", test_spheres_in_another_order, NULL, NULL, ASK(2)},     \
        {"exact first hits, spheres in another order", test_spheres_in_another_order, NULL, NULL, ASK(4)},  \
        {"fast hits, batches in pieces", test_split_batches, NULL, NULL, ASK(0)},                           \
        {"exact hits, batches in pieces", test_split_batches, NULL, NULL, ASK(3)},                          \
        {"exact first hits, batches in pieces", test_split_batches, NULL, NULL, ASK(4)},                    \
        {"fast overlaps, batches in pieces", test_split_batches, NULL, NULL, ASK(2)},                       \
    {                                                                                                       \
        "exact overlaps, batches in pieces", test_split_batches, NULL, NULL, ASK(5)                         \
    }
int main(void)
{
    const struct CMUnitTest on_cpu[] = {EACH_MODE, SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {EACH_MODE, SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
