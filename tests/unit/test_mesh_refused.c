/* SPDX-License-Identifier: MIT */
/* Invalid arguments of list queries, any queries and closest-point queries: each has an error message, and outputs stay
 * untouched. */
#include "tests/support/lists.h"

#include <math.h>

enum { SEED = 161, COUNT = 40, FILL = 0xa5 };
static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;

typedef struct setting {
    carom_context *context;
    carom_mesh *mesh;
    swept_spheres b;
    hit_list l;
    guarded any;
    carom_mesh_sweep_desc sweep;
    carom_mesh_overlap_desc rest;
    carom_mesh_closest_desc near;
    carom_hit_list list;
} setting;

static carom_list_totals totals; /* must stay untouched */

static setting begin(int fields)
{
    setting t = {
        .context = test_context(), .b = swept_spheres_mixed(SEED, COUNT), .l = list_alloc(COUNT, 10 * COUNT, FILL)};
    scene s = scene_sphere(2);
    t.mesh = scene_mesh(t.context, &s);
    scene_free(&s);
    t.any = guarded_alloc(COUNT, 0, FILL);
    t.sweep = swept_spheres_desc(&t.b, 0, COUNT);
    t.rest = swept_spheres_at_rest(&t.b, 0, COUNT);
    t.near = swept_spheres_closest(&t.b, 0, COUNT);
    t.list = list_desc(&t.l, fields);
    totals = (carom_list_totals){77, 77, 77};
    t.list.totals = &totals;
    return t;
}

static void check_untouched(const guarded *memory)
{
    guarded_check(memory, "what is refused");
    for (size_t i = 0; i < memory->size; i++)
        assert_int_equal(memory->data[i], FILL);
}

static void end(setting *t)
{
    check_untouched(&t->any);
    check_untouched(&t->l.offsets);
    check_untouched(&t->l.query);
    for (int f = 0; f < HIT_FIELDS; f++)
        check_untouched(&t->l.hits.field[f]);
    guarded_free(&t->any);
    list_free(&t->l);
    swept_spheres_free(&t->b);
    carom_mesh_destroy(t->mesh);
    carom_context_destroy(t->context);
}

/* ---- hits -------------------------------------------------------------------------------------------------------- */

/* Both calls must fail for this sweep, with `word` in the message. */
static void refuse_sweep(setting *t, const carom_mesh_sweep_desc *desc, const char *word)
{
    carom_error err = {0};
    for (int which = 0; which < 2; which++)
        test_error(carom_mesh_sweep_list(t->mesh, desc, (carom_hits)which, &t->list, NULL, &err), bad, &err, word);
    test_error(carom_mesh_sweep_any(t->mesh, desc, TEST_ANY(t->any.data), NULL, &err), bad, &err, word);
    assert_true(totals.total == 77 && totals.complete == 77 && totals.stored == 77);
}

static void refuse_list(setting *t, const carom_hit_list *list, const char *word)
{
    carom_hit_list copy = *list;
    carom_error err = {0};
    test_error(carom_mesh_sweep_list(t->mesh, &t->sweep, CAROM_HITS_ALL, &copy, NULL, &err), bad, &err, word);
    assert_true(totals.total == 77 && totals.complete == 77 && totals.stored == 77);
}

static void test_bad_sweeps(void **state)
{
    setting t = begin(LIST_HITS);
    carom_mesh_sweep_desc d = t.sweep;
    (void)state;
    d.batch.size = 8;
    refuse_sweep(&t, &d, "size");
    d = t.sweep;
    d.batch.accuracy = (carom_accuracy)2;
    refuse_sweep(&t, &d, "accuracy");
    d = t.sweep;
    d.center.z = NULL;
    refuse_sweep(&t, &d, "center");
    d = t.sweep;
    d.velocity.x = NULL;
    refuse_sweep(&t, &d, "velocity");
    d = t.sweep;
    d.radius.data = NULL;
    refuse_sweep(&t, &d, "radius");
    const uint32_t zero = 0;
    d = t.sweep;
    d.batch.begin = COUNT + 1;
    refuse_sweep(&t, &d, "batch.begin");
    d = t.sweep;
    d.batch.select.data = &zero;
    d.batch.elements = COUNT;
    refuse_sweep(&t, &d, "batch.select: stride is 0 bytes");
    d.batch.select = (carom_uints){.stride = 4};
    refuse_sweep(&t, &d, "batch.elements is 40 without batch.select");
    d.batch.select = (carom_uints){&zero, CAROM_REPEAT};
    d.batch.elements = 0;
    refuse_sweep(&t, &d, "query 0");
    d = t.sweep;
    d.mask.data = &zero;
    d.mask.stride = 0;
    refuse_sweep(&t, &d, "mask: stride is 0");
    refuse_sweep(&t, NULL, "desc");
    t.b.column[SPHERE_T_MAX][COUNT - 1] = -1.0f;
    refuse_sweep(&t, &t.sweep, "t_max");
    t.b.column[SPHERE_T_MAX][COUNT - 1] = NAN;
    refuse_sweep(&t, &t.sweep, "query 39");
    const float negative = -1.0f; /* one window for all queries, also from a later first query on */
    carom_error err = {0};
    d = t.sweep;
    d.t_max = (carom_scalars){&negative, CAROM_REPEAT};
    refuse_sweep(&t, &d, "t_max");
    d.batch.begin = 5;
    test_error(carom_mesh_sweep_list(t.mesh, &d, CAROM_HITS_ALL, &t.list, NULL, &err), bad, &err, "query 5: t_max");
    end(&t);
}

static void test_bad_lists(void **state)
{
    setting t = begin(LIST_HITS);
    const carom_hit_list good = t.list;
    carom_hit_list list = good;
    carom_stats stats = {.size = 1};
    carom_error err = {0};
    (void)state;
    list.totals = NULL;
    refuse_list(&t, &list, "totals");
    list = good;
    list.size = sizeof list - 8;
    refuse_list(&t, &list, "size");
    list = good;
    list.normal.stride = 2;
    refuse_list(&t, &list, "normal");
    list = good;
    list.point.y = NULL;
    refuse_list(&t, &list, "point");
    test_error(carom_mesh_sweep_list(NULL, &t.sweep, CAROM_HITS_ALL, &t.list, NULL, &err), bad, &err, "mesh");
    test_error(carom_mesh_sweep_list(t.mesh, &t.sweep, CAROM_HITS_ALL, NULL, NULL, &err), bad, &err, "list");
    test_error(carom_mesh_sweep_list(t.mesh, &t.sweep, (carom_hits)2, &t.list, NULL, &err), bad, &err, "which");
    test_error(carom_mesh_sweep_list(t.mesh, &t.sweep, CAROM_HITS_ALL, &t.list, &stats, &err), bad, &err,
               "carom_stats");
    test_error(carom_mesh_sweep_any(NULL, &t.sweep, TEST_ANY(t.any.data), NULL, &err), bad, &err, "mesh");
    test_error(carom_mesh_sweep_any(t.mesh, &t.sweep, NULL, NULL, &err), bad, &err, "out");
    test_error(carom_mesh_sweep_any(t.mesh, &t.sweep, TEST_ANY(t.any.data), &stats, &err), bad, &err, "carom_stats");
    end(&t);
}

/* ---- overlaps ---------------------------------------------------------------------------------------------------- */

static void refuse_rest(setting *t, const carom_mesh_overlap_desc *desc, const char *word)
{
    carom_error err = {0};
    test_error(carom_mesh_overlap_list(t->mesh, desc, &t->list, NULL, &err), bad, &err, word);
    test_error(carom_mesh_overlap_any(t->mesh, desc, TEST_ANY(t->any.data), NULL, &err), bad, &err, word);
    assert_true(totals.total == 77 && totals.complete == 77 && totals.stored == 77);
}

static void test_bad_overlaps(void **state)
{
    setting t = begin(LIST_OVERLAPS);
    carom_mesh_overlap_desc d = t.rest;
    carom_stats stats = {.size = 1};
    carom_error err = {0};
    (void)state;
    d.batch.size = 8;
    refuse_rest(&t, &d, "size");
    d = t.rest;
    d.batch.accuracy = (carom_accuracy)-1;
    refuse_rest(&t, &d, "accuracy");
    d = t.rest;
    d.center.x = NULL;
    refuse_rest(&t, &d, "center");
    d = t.rest;
    d.radius.data = NULL;
    refuse_rest(&t, &d, "radius");
    refuse_rest(&t, NULL, "desc");
    test_error(carom_mesh_overlap_list(NULL, &t.rest, &t.list, NULL, &err), bad, &err, "mesh");
    test_error(carom_mesh_overlap_list(t.mesh, &t.rest, NULL, NULL, &err), bad, &err, "list");
    test_error(carom_mesh_overlap_list(t.mesh, &t.rest, &t.list, &stats, &err), bad, &err, "carom_stats");
    test_error(carom_mesh_overlap_any(NULL, &t.rest, TEST_ANY(t.any.data), NULL, &err), bad, &err, "mesh");
    test_error(carom_mesh_overlap_any(t.mesh, &t.rest, NULL, NULL, &err), bad, &err, "out");
    end(&t);
}

/* ---- closest points ---------------------------------------------------------------------------------------------- */

static void refuse_closest(setting *t, const carom_mesh_closest_desc *desc, const char *word)
{
    const carom_mesh_closest_result out = {.size = sizeof out, .triangle = t->list.triangle};
    carom_error err = {0};
    test_error(carom_mesh_closest(t->mesh, desc, &out, NULL, &err), bad, &err, word);
}

static void test_bad_closest(void **state)
{
    setting t = begin(LIST_OVERLAPS);
    carom_mesh_closest_desc d = t.near;
    const carom_mesh_closest_result out = {.size = sizeof out, .triangle = t.list.triangle};
    carom_stats stats = {.size = 1};
    carom_error err = {0};
    const float one = 1.0f;
    (void)state;
    d.batch.size = sizeof t.rest;
    refuse_closest(&t, &d, "carom_mesh_closest_desc");
    d = t.near;
    d.batch.accuracy = (carom_accuracy)-1;
    refuse_closest(&t, &d, "accuracy");
    d = t.near;
    d.batch.begin = 1;
    refuse_closest(&t, &d, "begin");
    d = t.near;
    d.center.x = NULL;
    refuse_closest(&t, &d, "center");
    d = t.near;
    d.radius.stride = 0;
    refuse_closest(&t, &d, "radius: stride is 0");
    d = t.near;
    d.max_distance = (carom_scalars){&one, 0};
    refuse_closest(&t, &d, "max_distance: stride is 0");
    d = t.near;
    d.mask = (carom_uints){(const uint32_t *)(const void *)t.b.column[0], 3};
    refuse_closest(&t, &d, "mask: stride is 3");
    refuse_closest(&t, NULL, "desc");
    test_error(carom_mesh_closest(NULL, &t.near, &out, NULL, &err), bad, &err, "mesh");
    test_error(carom_mesh_closest(t.mesh, &t.near, NULL, NULL, &err), bad, &err, "out");
    test_error(carom_mesh_closest(t.mesh, &t.near, &out, &stats, &err), bad, &err, "carom_stats");
    end(&t);
}

/* A limit that is none is an error of the call, and names the query: also behind a selection, and one for all. */
static void test_bad_max_distance(void **state)
{
    static const float wrong[] = {-1.0f, -0x1p-149f, -HUGE_VALF, NAN};
    setting t = begin(LIST_OVERLAPS);
    const uint32_t order[] = {0, 5, COUNT - 1, 5};
    (void)state;
    t.b.max_distance = test_alloc(COUNT, sizeof *t.b.max_distance);
    for (int i = 0; i < COUNT; i++)
        t.b.max_distance[i] = i % 2 ? HUGE_VALF : i % 4 ? -0.0f : 1.0f; /* all of them right */
    for (size_t w = 0; w < COUNT_OF(wrong); w++) {
        carom_mesh_closest_desc d = swept_spheres_closest(&t.b, 0, COUNT);
        t.b.max_distance[COUNT - 1] = wrong[w];
        refuse_closest(&t, &d, "query 39: max_distance is");
        d.batch.select = (carom_uints){order, sizeof *order};
        d.batch.elements = COUNT;
        d.batch.count = COUNT_OF(order);
        refuse_closest(&t, &d, "query 2: max_distance is");
        d.batch.count = 2; /* those that are asked for have right ones */
        const carom_mesh_closest_result out = {.size = sizeof out};
        carom_error err = {0};
        test_ok("a wrong limit that is not selected", carom_mesh_closest(t.mesh, &d, &out, NULL, &err), &err);
        d.max_distance = (carom_scalars){&wrong[w], CAROM_REPEAT};
        refuse_closest(&t, &d, "query 0: max_distance is");
    }
    end(&t);
}

/* An output that overlaps do not have is an error, and is not silently left unwritten. */
static void test_columns_of_hits(void **state)
{
    setting t = begin(LIST_HITS);
    const carom_hit_list all = t.list;
    (void)state;
    for (int column = 0; column < 5; column++) {
        static const char *const names[] = {"state", "t", "point", "normal", "feature"};
        carom_error err = {0};
        t.list = list_desc(&t.l, LIST_OVERLAPS);
        t.list.state = column == 0 ? all.state : NULL;
        t.list.t = column == 1 ? all.t : NULL;
        t.list.point = column == 2 ? all.point : t.list.point;
        t.list.normal = column == 3 ? all.normal : t.list.normal;
        t.list.feature = column == 4 ? all.feature : NULL;
        test_error(carom_mesh_overlap_list(t.mesh, &t.rest, &t.list, NULL, &err), bad, &err, names[column]);
        t.list.capacity = 0; /* an error even if nothing would be written there */
        test_error(carom_mesh_overlap_list(t.mesh, &t.rest, &t.list, NULL, &err), bad, &err, names[column]);
    }
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad_sweeps),       cmocka_unit_test(test_bad_lists),
                                       cmocka_unit_test(test_bad_overlaps),     cmocka_unit_test(test_bad_closest),
                                       cmocka_unit_test(test_bad_max_distance), cmocka_unit_test(test_columns_of_hits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
