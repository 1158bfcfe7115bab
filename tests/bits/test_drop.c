/* SPDX-License-Identifier: MIT */
/* Drop maps: against the exact reference, by hand, and the same bits whatever rows, threads and backends. */
#include <math.h>

#include "queries/random.h"
#include "tests/support/drop_maps.h"
#include "tests/support/drop_scenes.h"

/* ---- maps -------------------------------------------------------------------------------------------------------- */

/* All rows, and rows [begin, end) alone, which cut blocks elsewhere. */
static void compare_meshes(carom_mesh *expected_of, carom_mesh *got_of, const carom_mesh_drop_desc *desc,
                           uint64_t begin, uint64_t end, const char *label)
{
    carom_mesh_drop_desc rows = *desc;
    drop_map expected = drop_map_ask(expected_of, desc, NULL), got = drop_map_ask(got_of, desc, NULL);
    drop_map_compare(&expected, 0, &got, label);
    rows.batch.begin = begin;
    rows.batch.count = end;
    drop_map part = drop_map_ask(got_of, &rows, NULL);
    drop_map_compare(&expected, (size_t)(begin * desc->lattice.dims[0]), &part, label);
    guarded_free(&part.height);
    guarded_free(&expected.height);
    guarded_free(&got.height);
}

/* ---- lattices ---------------------------------------------------------------------------------------------------- */

static const float crowd_cells[] = {0, 0.3f, 1, 3}; /* the radius, in spacings of columns */

/* So few columns that most are searched for: off the scene's symmetries; blocks and parts of them. */
static carom_mesh_drop_desc crowd_desc(float cells, uint64_t few)
{
    const double spacing = 2.0 / (double)few;
    const carom_lattice lattice = {{-0.93, -0.91, 0}, spacing, {few, few - 1, 1}, {0}};
    return drop_map_desc(&lattice, cells * (float)spacing, CAROM_ACCURACY_FAST);
}

/* Columns around a scene, or those of whole eighths: on corners, edges and walls of whole numbers. */
static carom_lattice columns_of(const scene *s, int whole, uint64_t n)
{
    const double spacing = 0.125;
    const carom_lattice eighths = {{-1.5, -1.5, 0}, spacing, {25, 25, 1}, {0}};
    carom_lattice lattice = lattice_around(s, n);
    lattice.dims[2] = 1;
    return whole ? eighths : lattice;
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static void check_scene(carom_context *context, const drop_scene *k)
{
    static const float radii[] = {0, 0.01f, 0.125f, 0.3f, 0.625f};
    scene s = k->make();
    carom_mesh *mesh = scene_mesh(context, &s);
    for (size_t r = 0; r < COUNT_OF(radii); r++)
        for (int whole = 0; whole < 2; whole++) {
            const carom_lattice lattice = columns_of(&s, whole, 6 + test_effort(20));
            const carom_mesh_drop_desc desc = drop_map_desc(&lattice, radii[r], CAROM_ACCURACY_EXACT);
            drop_map m = drop_map_ask(mesh, &desc, NULL);
            drop_map_check(&s, &desc, &m, 1, k->name);
            const carom_mesh_drop_desc fast = drop_map_desc(&lattice, radii[r], CAROM_ACCURACY_FAST);
            drop_map other = drop_map_ask(mesh, &fast, NULL);
            drop_map_compare(&m, 0, &other, k->name);
            guarded_free(&other.height);
            guarded_free(&m.height);
        }
    carom_mesh_destroy(mesh);
    scene_free(&s);
}

static void test_reference(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < DROP_SCENES; i++)
        check_scene(context, &drop_scenes[i]);
    carom_context_destroy(context);
}

/* Columns so close that a feature reaches thousands of them, and blocks of them are left out. */
static void test_fine(void **state)
{
    static const float radii[] = {0.05f, 0.625f};
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < 2 * DROP_SCENES; i++) {
        const drop_scene *k = &drop_scenes[i / 2];
        scene s = k->make();
        carom_mesh *mesh = scene_mesh(context, &s);
        carom_lattice lattice = lattice_around(&s, 600);
        for (int axis = 0; axis < 2; axis++) {
            lattice.origin[axis] += lattice.spacing * (double)(lattice.dims[axis] / 4);
            lattice.dims[axis] = 1 + lattice.dims[axis] / 2;
        }
        lattice.dims[2] = 1;
        const carom_mesh_drop_desc desc = drop_map_desc(&lattice, radii[i % 2], CAROM_ACCURACY_EXACT);
        drop_map m = drop_map_ask(mesh, &desc, NULL);
        drop_map_check(&s, &desc, &m, 1 + m.count / (size_t)(100 + test_effort(900)), k->name);
        guarded_free(&m.height);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Few columns for many triangles: they are searched for, in blocks. The same columns among many more are painted. */
static void check_crowded(carom_context *context, const drop_scene *k, float radius, uint64_t few)
{
    const uint64_t step = 60 / few, width = step * (few - 1) + 1;
    const double spacing = 1.875 / (double)(few - 1);
    const carom_lattice crowded = {{-0.9375, -0.9375, 0}, spacing, {few, few, 1}, {0}};
    const carom_lattice many = {{-0.9375, -0.9375, 0}, spacing / (double)step, {width, width, 1}, {0}};
    scene s = k->make();
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_mesh_drop_desc desc = drop_map_desc(&crowded, radius, CAROM_ACCURACY_FAST);
    const carom_mesh_drop_desc all = drop_map_desc(&many, radius, CAROM_ACCURACY_FAST);
    drop_map m = drop_map_ask(mesh, &desc, NULL), of_all = drop_map_ask(mesh, &all, NULL);
    drop_map_check(&s, &desc, &m, 1 + m.count / (size_t)(10 + test_effort(90)), k->name);
    for (size_t n = 0; n < m.count; n++) {
        const float other = drop_map_height(&of_all, n / few * step * width + n % few * step);
        if (carom_lattice_coordinate(&crowded, 0, n % few) == carom_lattice_coordinate(&many, 0, n % few * step) &&
            carom_lattice_coordinate(&crowded, 1, n / few) == carom_lattice_coordinate(&many, 1, n / few * step) &&
            bits_of_float(drop_map_height(&m, n)) != bits_of_float(other))
            fail_msg("%s, radius %a: column %zu is %a among few, %a among many", k->name, (double)radius, n,
                     (double)drop_map_height(&m, n), (double)other);
    }
    guarded_free(&m.height);
    guarded_free(&of_all.height);
    carom_mesh_destroy(mesh);
    scene_free(&s);
}

static void test_crowded(void **state)
{
    static const float radii[] = {0, 0.01f, 0.125f, 0.625f};
    static const uint64_t few[] = {3, 11}; /* a part of a block; blocks and parts */
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(few) * COUNT_OF(radii) * DROP_SCENES; i++)
        check_crowded(context, &drop_scenes[i / COUNT_OF(radii) / COUNT_OF(few)], radii[i % COUNT_OF(radii)],
                      few[i / COUNT_OF(radii) % COUNT_OF(few)]);
    carom_context_destroy(context);
}

/* Scalar code too: a context for the best instruction set never runs it. */
static void test_searched(void **state)
{
    carom_context *contexts[] = {test_cpu(CAROM_ISA_SCALAR, 1), test_context()};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(contexts) * DROP_CROWDS; i++) {
        const drop_scene *k = &drop_crowds[i / COUNT_OF(contexts)];
        scene s = k->make();
        carom_mesh *mesh = scene_mesh(contexts[i % COUNT_OF(contexts)], &s);
        for (size_t c = 0; c < COUNT_OF(crowd_cells); c++) {
            const carom_mesh_drop_desc desc = crowd_desc(crowd_cells[c], 9);
            drop_map m = drop_map_ask(mesh, &desc, NULL);
            drop_map_check(&s, &desc, &m, 1 + m.count / (size_t)(20 + test_effort(60)), k->name);
            guarded_free(&m.height);
        }
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(contexts[0]);
    carom_context_destroy(contexts[1]);
}

/* Balls that are next to nothing, and much larger than the mesh. */
static void test_radii(void **state)
{
    static const float radii[] = {0x1p-140f, 0x1p-60f, 1e-12f, 1e-6f, 50, 1e6f, 0x1p100f};
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(radii) * DROP_SCENES; i++) {
        const drop_scene *k = &drop_scenes[i / COUNT_OF(radii)];
        const float radius = radii[i % COUNT_OF(radii)];
        scene s = k->make();
        carom_mesh *mesh = scene_mesh(context, &s);
        for (int whole = 0; whole < 2; whole++) {
            const carom_lattice lattice = columns_of(&s, whole, 11);
            const carom_mesh_drop_desc desc = drop_map_desc(&lattice, radius, CAROM_ACCURACY_EXACT);
            drop_map m = drop_map_ask(mesh, &desc, NULL);
            drop_map_check(&s, &desc, &m, 1 + m.count / (size_t)(20 + test_effort(80)), k->name);
            guarded_free(&m.height);
        }
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Triangles of small whole numbers, some moved by 2^-60 and less: with a ball of 5 and columns 3 and 4 beside them,
 * heights are that close to binary32 numbers, which binary64 does not see. */
static scene scene_of_ties(uint64_t seed)
{
    static const float nudge[] = {0, 0x1p-60f, -0x1p-60f, 0x1p-80f, -0x1p-53f};
    scene s = scene_alloc_apart(1);
    query_random random = {seed};
    for (size_t k = 0; k < 9; k++) {
        const float whole = (float)((int)(query_random_bits(&random) % 13) - 6);
        s.vertices[k] = whole * (float)(query_random_bits(&random) % 2) + 0.0f;
        if (s.vertices[k] == 0)
            s.vertices[k] = nudge[query_random_bits(&random) % COUNT_OF(nudge)];
    }
    for (uint32_t k = 0; k < 3; k++)
        s.indices[k] = k;
    return s;
}

static void test_ties(void **state)
{
    static const carom_lattice lattice = {{-8, -8, 0}, 1, {17, 17, 1}, {0}};
    static const float radii[] = {5, 5, 0, 2.5f};
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < 20 + (size_t)test_effort(400); i++) {
        scene s = scene_of_ties(i);
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_mesh_drop_desc desc = drop_map_desc(&lattice, radii[i % COUNT_OF(radii)], CAROM_ACCURACY_FAST);
        drop_map m = drop_map_ask(mesh, &desc, NULL);
        drop_map_check(&s, &desc, &m, 1, "ties");
        guarded_free(&m.height);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* The neighbours of corners are kept with the mesh, and found anew after an update. */
static void test_update(void **state)
{
    static const carom_lattice lattice = {{-1.5, -1.5, 0}, 0.125, {25, 25, 1}, {0}};
    carom_context *context = test_context();
    const carom_mesh_drop_desc desc = drop_map_desc(&lattice, 0.25f, CAROM_ACCURACY_FAST);
    scene s = drop_scene_unwelded(), torn = drop_scene_unwelded();
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_error err;
    (void)state;
    for (size_t v = 0; v < torn.vertex_count; v++) /* corners that met are apart */
        torn.vertices[3 * v + 2] += 0.25f * (float)(v / 3 % 3);
    const uint64_t before = test_mesh_info(mesh).bytes;
    drop_map m = drop_map_ask(mesh, &desc, NULL), again = drop_map_ask(mesh, &desc, NULL);
    drop_map_compare(&m, 0, &again, "asked again");
    assert_true(test_mesh_info(mesh).bytes >= before + 12 * (s.vertex_count + s.triangle_count));
    const carom_points moved = carom_xyz(torn.vertices);
    test_ok("an update", carom_mesh_update(mesh, &moved, CAROM_MESH_REBUILD, &err), &err);
    carom_mesh *fresh = scene_mesh(context, &torn);
    drop_map after = drop_map_ask(mesh, &desc, NULL), there = drop_map_ask(fresh, &desc, NULL);
    drop_map_check(&torn, &desc, &after, 1, "after an update");
    drop_map_compare(&there, 0, &after, "a mesh of the same vertices");
    assert_int_equal(test_mesh_info(mesh).bytes, test_mesh_info(fresh).bytes);
    carom_mesh_destroy(fresh);
    guarded_free(&there.height);
    guarded_free(&m.height);
    guarded_free(&again.height);
    guarded_free(&after.height);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    scene_free(&torn);
    carom_context_destroy(context);
}

/* All lengths times a power of two, up to where heights leave binary32. */
static void test_scales(void **state)
{
    static const int exponents[] = {-149, -140, -100, 60, 126};
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(exponents); i++) {
        scene s = i % 2 == 0 ? drop_scene_boxes() : drop_scene_torus();
        const double scale = ldexp(1, exponents[i]);
        scene_place(&s, exponents[i], 0);
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_lattice lattice = {{-1.5 * scale, -1.5 * scale, 0}, 0.25 * scale, {13, 13, 1}, {0}};
        const carom_mesh_drop_desc desc = drop_map_desc(&lattice, (float)(0.75 * scale), CAROM_ACCURACY_EXACT);
        drop_map m = drop_map_ask(mesh, &desc, NULL);
        drop_map_check(&s, &desc, &m, 1, "scaled");
        guarded_free(&m.height);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* One triangle, level at 0, with legs of 4. */
static void test_by_hand(void **state)
{
    carom_context *context = test_context();
    scene s = scene_alloc_apart(1);
    const float corner[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    const carom_lattice lattice = {{-6, -6, 0}, 1, {12, 12, 1}, {0}};
    const carom_mesh_drop_desc desc = drop_map_desc(&lattice, 5, CAROM_ACCURACY_FAST);
    (void)state;
    memcpy(s.vertices, corner, sizeof corner);
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_stats stats = {.size = sizeof stats};
    drop_map m = drop_map_ask(mesh, &desc, &stats);
    assert_true(drop_map_height(&m, 7 * 12 + 7) == 5);      /* over the face */
    assert_true(drop_map_height(&m, 6 * 12 + 2) == 3);      /* 4 beside a corner */
    assert_true(drop_map_height(&m, 3 * 12 + 7) == 4);      /* 3 beside an edge */
    assert_true(drop_map_height(&m, 6 * 12 + 1) == 0);      /* 5 beside a corner: a touch */
    assert_true(!signbit(drop_map_height(&m, 6 * 12 + 1))); /* and it is +0 */
    assert_true(drop_map_height(&m, 3 * 12 + 2) == 0);      /* 3 and 4 beside it */
    assert_true(drop_map_height(&m, 6 * 12) == -INFINITY);  /* 6 beside it */
    assert_int_equal(stats.queries, m.count);
    assert_int_equal(stats.on_cpu, m.count);
    assert_int_equal(stats.on_device + stats.fallen_back, 0);
    guarded_free(&m.height);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_empty(void **state)
{
    carom_context *context = test_context();
    const carom_mesh_desc none = {.size = sizeof none};
    const carom_lattice lattice = {{0, 0, 0}, 1, {5, 6, 1}, {0}};
    const carom_mesh_drop_desc desc = drop_map_desc(&lattice, 1, CAROM_ACCURACY_FAST);
    carom_mesh *mesh = NULL;
    carom_error err;
    (void)state;
    test_ok("an empty mesh", carom_mesh_create(context, &none, &mesh, &err), &err);
    drop_map m = drop_map_ask(mesh, &desc, NULL);
    for (size_t i = 0; i < m.count; i++)
        assert_true(drop_map_height(&m, i) == -INFINITY);
    guarded_free(&m.height);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* Several tiles along both axes; rows from the middle on. */
static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const carom_lattice lattice = {{-1.3, -1.3, 0}, 0.004, {600, 520, 1}, {0}};
    for (size_t i = 0; i < DROP_SCENES; i += 3) {
        scene s = drop_scenes[i].make();
        carom_mesh *expected_of = scene_mesh(scalar, &s), *got_of = scene_mesh(context, &s);
        const carom_mesh_drop_desc desc = drop_map_desc(&lattice, 0.1f, CAROM_ACCURACY_FAST);
        compare_meshes(expected_of, got_of, &desc, 77, 401, label);
        carom_mesh_destroy(expected_of);
        carom_mesh_destroy(got_of);
        scene_free(&s);
    }
}

static void check_same_crowd(carom_context *scalar, carom_context *context, const drop_scene *k, const char *label)
{
    scene s = k->make();
    carom_mesh *expected_of = scene_mesh(scalar, &s), *got_of = scene_mesh(context, &s);
    for (size_t i = 0; i < 2 * COUNT_OF(crowd_cells); i++) {
        const carom_mesh_drop_desc desc = crowd_desc(crowd_cells[i / 2], i % 2 == 0 ? 6 : 13);
        compare_meshes(expected_of, got_of, &desc, 3, desc.batch.count, label);
    }
    carom_mesh_destroy(expected_of);
    carom_mesh_destroy(got_of);
    scene_free(&s);
}

static void check_searched(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t i = 0; i < DROP_SCENES; i++)
        check_same_crowd(scalar, context, &drop_scenes[i], label);
    for (size_t i = 0; i < DROP_CROWDS; i++)
        check_same_crowd(scalar, context, &drop_crowds[i], label);
}

/* ---- progress, refused ------------------------------------------------------------------------------------------- */

typedef struct rows_heard {
    uint64_t done, count;
    int calls, stop_at;
} rows_heard;

static int listen(void *user, uint64_t done, uint64_t count)
{
    rows_heard *heard = user;
    assert_true(done >= heard->done && done <= count);
    if (done == heard->done)
        return 0; /* some time has passed */
    heard->done = done;
    heard->count = count;
    return ++heard->calls == heard->stop_at;
}

static void test_progress(void **state)
{
    carom_context *context = test_context();
    scene s = drop_scene_torus();
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = {{-1.5, -1.5, 0}, 0.0027, {1100, 1100, 1}, {0}};
    carom_mesh_drop_desc desc = drop_map_desc(&lattice, 0.05f, CAROM_ACCURACY_FAST);
    rows_heard all = {.stop_at = -1}, one = {.stop_at = 1};
    carom_error err;
    (void)state;
    desc.batch.progress = (carom_progress){listen, &all};
    drop_map m = drop_map_ask(mesh, &desc, NULL);
    assert_true(all.calls > 1 && all.done == 1100 && all.count == 1100);
    desc.batch.progress.user = &one;
    const carom_mesh_drop_result out = {.size = sizeof out, .height = (float *)(void *)m.height.data};
    test_error(carom_mesh_drop(mesh, &desc, &out, NULL, &err), CAROM_ERROR_CANCELLED, &err, "cancelled at row ");
    assert_true(one.done < 1100);
    guarded_free(&m.height);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

static void check_refused(carom_mesh *mesh, const carom_mesh_drop_desc *desc, const char *word)
{
    float z = 7;
    const carom_mesh_drop_result out = {.size = sizeof out, .height = &z};
    carom_error err;
    test_error(carom_mesh_drop(mesh, desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, word);
    assert_true(z == 7);
}

static void test_refused(void **state)
{
    static const carom_lattice one = {{0, 0, 0}, 1, {1, 1, 1}, {0}};
    carom_context *context = test_context();
    scene s = drop_scene_level();
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_mesh_drop_desc good = drop_map_desc(&one, 1, CAROM_ACCURACY_FAST);
    carom_mesh_drop_desc bad = good;
    carom_error err;
    (void)state;
    bad.radius = -1;
    check_refused(mesh, &bad, "radius is -1; it must be finite and >= 0");
    bad.radius = NAN;
    check_refused(mesh, &bad, "radius is nan");
    bad.radius = INFINITY;
    check_refused(mesh, &bad, "radius is inf");
    bad = good;
    bad.lattice.dims[2] = 2;
    check_refused(mesh, &bad, "lattice.dims[2] is 2; it must be 1 for a drop map");
    bad = good;
    bad.lattice.spacing = 0;
    check_refused(mesh, &bad, "lattice.spacing is 0");
    bad = good;
    bad.batch.count = 2;
    check_refused(mesh, &bad, "count is 2; the lattice has 1 rows");
    bad = good;
    bad.batch.elements = 1;
    check_refused(mesh, &bad, "not for a lattice");
    bad = good;
    bad.batch.size--;
    check_refused(mesh, &bad, "carom_mesh_drop_desc");
    const carom_mesh_drop_result small = {.size = 1}, none = {.size = sizeof none};
    test_error(carom_mesh_drop(mesh, &good, &small, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "carom_mesh_drop_result");
    test_error(carom_mesh_drop(NULL, &good, &none, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "mesh");
    test_ok("no array", carom_mesh_drop(mesh, &good, &none, NULL, &err), &err);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_reference), cmocka_unit_test(test_scales),
        cmocka_unit_test(test_fine),    cmocka_unit_test(test_empty),     cmocka_unit_test(test_progress),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_crowded),   cmocka_unit_test(test_radii),
        cmocka_unit_test(test_ties),    cmocka_unit_test(test_update),    cmocka_unit_test(test_searched),
        SAME_BITS_ON_CPU(check_same),   SAME_BITS_ON_CPU(check_searched)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_by_hand), SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
