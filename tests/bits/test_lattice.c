/* SPDX-License-Identifier: MIT */
/* Distance volumes: the bits of carom_mesh_closest for every node, from every backend, in any slabs. */
#include "tests/support/volumes.h"

#include <math.h>

enum { SEED = 97 };

static const float no_band = INFINITY;

/* Compares a lattice's answers in `context` with the closest points of its nodes in `scalar`. */
static void check_lattice(carom_context *scalar, carom_context *context, const scene *s, const carom_lattice *lattice,
                          const float *band, const char *label)
{
    carom_mesh *expected_of = scene_mesh(scalar, s), *got_of = scene_mesh(context, s);
    for (int exact = 0; exact < 2; exact++) {
        carom_mesh_distance_desc desc = volume_desc(lattice, exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        desc.band = band == &no_band ? NULL : band;
        volume expected = volume_by_closest(expected_of, lattice, desc.batch.accuracy, *band);
        volume got = volume_ask(got_of, &desc, NULL);
        volume_compare(lattice, &expected, 0, &got, -1, label);
        volume_free(&expected);
        volume_free(&got);
    }
    carom_mesh_destroy(expected_of);
    carom_mesh_destroy(got_of);
}

/* Places of a mesh: of size 1; tiny; far from the origin, where nodes coincide in binary32; at both ends of the range.
 */
static const struct {
    const char *name;
    int exponent;
    float offset;
} places[] = {{"", 0, 0.0f},       {"small", -20, 0.0f},  {"far", 0, 1e4f},
              {"3e38", 126, 0.0f}, {"1e-38", -125, 0.0f}, {"1e-43", -142, 0.0f}};

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const size_t sizes[] = {1, 2, 60, 3000};
    for (size_t k = 0; k < KINDS; k++)
        for (size_t n = 0; n < COUNT_OF(sizes); n++) {
            const size_t place = n == 2 ? k % COUNT_OF(places) : 0;
            scene s = kinds[k].make(sizes[n]);
            char name[128];
            scene_place(&s, places[place].exponent, places[place].offset);
            const carom_lattice lattice = lattice_around(&s, 6 + test_effort(n == 3 ? 12 : 8));
            snprintf(name, sizeof name, "%s: %s of %zu, %s", label, kinds[k].name, sizes[n], places[place].name);
            check_lattice(scalar, context, &s, &lattice, &no_band, name);
            scene_free(&s);
        }
}

/* A lattice that is much larger than the mesh, far from it, or much finer than its triangles; or a single node. */
static void check_shapes(carom_context *scalar, carom_context *context, const char *label)
{
    static const carom_lattice lattices[] = {
        {{-40.0, -40.0, -40.0}, 9.0, {10, 9, 11}, {0}}, {{1e6, -1e6, 3e5}, 1e5, {9, 5, 6}, {0}},
        {{-1e30, -1e30, -1e30}, 3e29, {7, 7, 7}, {0}},  {{0.9, 0.3, 0.2}, 1e-5, {17, 9, 8}, {0}},
        {{0.0, 0.0, 0.0}, 1e-42, {9, 9, 9}, {0}},       {{0.25, 0.5, 0.0}, 1.0, {1, 1, 1}, {0}},
        {{-1.5, 0.1, -0.2}, 0.01, {300, 1, 2}, {0}},    {{0.1, -1.5, -0.2}, 0.01, {1, 300, 1}, {0}},
        {{0.1, -0.2, -1.5}, 0.01, {2, 1, 300}, {0}}};
    for (size_t i = 0; i < COUNT_OF(lattices); i++) {
        scene s = kinds[i % KINDS].make(200);
        char name[128];
        snprintf(name, sizeof name, "%s: shape %zu", label, i);
        check_lattice(scalar, context, &s, &lattices[i], &no_band, name);
        scene_free(&s);
    }
}

/* More triangles than a list holds: at the centre of a sphere all of them are equally far. Many tiles, cut at the ends.
 */
static void check_lists(carom_context *scalar, carom_context *context, const char *label)
{
    static const struct {
        size_t kind, triangles;
        carom_lattice lattice;
    } dense[] = {{1, 30000, {{-0.03, -0.03, -0.02}, 0.01, {7, 6, 5}, {0}}},
                 {2, 20000, {{-1.4, -1.3, -0.2}, 0.08, {35, 33, 6}, {0}}},
                 {0, 20000, {{-1.2, -1.1, -1.3}, 0.3, {9, 8, 9}, {0}}}};
    for (size_t i = 0; i < COUNT_OF(dense); i++) {
        scene s = kinds[dense[i].kind].make(dense[i].triangles);
        char name[128];
        snprintf(name, sizeof name, "%s: dense %zu", label, i);
        check_lattice(scalar, context, &s, &dense[i].lattice, &no_band, name);
        scene_free(&s);
    }
}

static void check_bands(carom_context *scalar, carom_context *context, const char *label)
{
    static const float bands[] = {0.0f, 1e-3f, 0.1f, 0.5f, 3.0f};
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < COUNT_OF(bands); i++) {
            scene s = kinds[k].make(500);
            const carom_lattice lattice = lattice_around(&s, 6 + test_effort(8));
            char name[128];
            snprintf(name, sizeof name, "%s: %s, band %g", label, kinds[k].name, (double)bands[i]);
            check_lattice(scalar, context, &s, &lattice, &bands[i], name);
            scene_free(&s);
        }
}

/* Triangles without a bit in their mask do not count. */
static void check_masked(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t k = 0; k < KINDS; k++) {
        scene s = kinds[k].make(300);
        s.masks = random_masks(SEED + k, s.triangle_count);
        for (size_t i = 0; i < s.triangle_count; i += 2)
            s.masks[i] = 0;
        const carom_lattice lattice = lattice_around(&s, 6 + test_effort(8));
        check_lattice(scalar, context, &s, &lattice, &no_band, label);
        scene_free(&s);
    }
}

/* No triangle of a leaf near the nodes counts, so they begin without a bound point. The farther ones are many. */
static void check_hollow(carom_context *scalar, carom_context *context, const char *label)
{
    static const carom_lattice lattice = {{-0.5, -0.5, -0.5}, 0.0625, {17, 17, 17}, {0}};
    scene s = scene_soup(SEED, 1500, 0.1);
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t i = 0; i < s.triangle_count; i++) {
        const float *at = s.vertices + 9 * i;
        s.masks[i] = at[0] * at[0] + at[1] * at[1] + at[2] * at[2] > 1.2f;
    }
    check_lattice(scalar, context, &s, &lattice, &no_band, label);
    scene_free(&s);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static void test_slabs(void **state)
{
    carom_context *context = test_context();
    scene s = kinds[2].make(2000);
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = lattice_around(&s, 40);
    const size_t slab = (size_t)(lattice.dims[0] * lattice.dims[1]);
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        carom_mesh_distance_desc desc = volume_desc(&lattice, exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        volume whole = volume_ask(mesh, &desc, NULL);
        for (uint64_t begin = 0, step = 1; begin < lattice.dims[2]; begin += step, step = step % 9 + 1) {
            carom_stats stats = {.size = sizeof stats};
            desc.batch.begin = begin;
            desc.batch.count = begin + step < lattice.dims[2] ? begin + step : lattice.dims[2];
            volume part = volume_ask(mesh, &desc, &stats);
            volume_compare(&lattice, &whole, (size_t)begin * slab, &part, -1, "a part");
            assert_int_equal(stats.queries, (desc.batch.count - begin) * slab);
            assert_int_equal(stats.on_cpu + stats.on_device, stats.queries);
            if (exact)
                assert_int_equal(stats.by_proof + stats.by_integers, stats.queries);
            volume_free(&part);
        }
        volume_free(&whole);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Each array alone is that of all together. */
static void test_fields(void **state)
{
    static const float bands[] = {INFINITY, 0.2f};
    carom_context *context = test_context();
    scene s = kinds[0].make(400);
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = lattice_around(&s, 20);
    (void)state;
    for (int i = 0; i < 4; i++) {
        carom_mesh_distance_desc desc = volume_desc(&lattice, i % 2 != 0 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        desc.band = &bands[i / 2];
        volume all = volume_ask(mesh, &desc, NULL);
        for (int field = 0; field < 4; field++) {
            static const int masks[] = {1 << VOLUME_DISTANCE, 1 << VOLUME_TRIANGLE,
                                        1 << VOLUME_X | 1 << VOLUME_Y | 1 << VOLUME_Z, 1 << VOLUME_FEATURE};
            volume one = volume_alloc(all.count, 0x33);
            carom_mesh_distance_result out = volume_result(&one);
            carom_error err;
            out.distance = field == 0 ? out.distance : NULL;
            out.triangle = field == 1 ? out.triangle : NULL;
            out.point = field == 2 ? out.point : (carom_points_out){0};
            out.feature = field == 3 ? out.feature : NULL;
            test_ok("one array", carom_mesh_distance(mesh, &desc, &out, NULL, &err), &err);
            volume_compare(&lattice, &all, 0, &one, masks[field], "one array");
            volume_free(&one);
        }
        volume_free(&all);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_empty(void **state)
{
    static const float bands[] = {INFINITY, 2.0f};
    carom_context *context = test_context();
    const carom_mesh_desc none = {.size = sizeof none};
    const carom_lattice lattice = {{0.0, 0.0, 0.0}, 1.0, {5, 6, 7}, {0}};
    carom_mesh *mesh = NULL;
    carom_error err;
    (void)state;
    test_ok("an empty mesh", carom_mesh_create(context, &none, &mesh, &err), &err);
    for (int i = 0; i < 2; i++) {
        carom_mesh_distance_desc desc = volume_desc(&lattice, CAROM_ACCURACY_FAST);
        desc.band = &bands[i];
        volume got = volume_ask(mesh, &desc, NULL);
        volume expected = volume_by_closest(mesh, &lattice, CAROM_ACCURACY_FAST, bands[i]);
        volume_compare(&lattice, &expected, 0, &got, -1, "an empty mesh");
        assert_true(volume_distance(&got, 0) == bands[i]);
        volume_free(&expected);
        volume_free(&got);
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* Two triangles so near the node, and so small, that the squares of their distances are denormal in units of the mesh,
 * and all that is a share of a square vanishes. */
static void test_underflow(void **state)
{
    const double g = 0x1p-71;
    const float a = (float)(1.2515614 * g), b = (float)(0.7208360 * g), e = 0x1p-90f, f = 0x1p-92f;
    float vertices[] = {a, 0, 0, a, e, 0, a, 0, e, b, b, b, b, b, b + f, b, b + f, b, 1, 1, 1, 1, 1, 0.9f, 1, 0.9f, 1};
    uint32_t indices[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const scene s = {.vertices = vertices, .indices = indices, .vertex_count = 9, .triangle_count = 3};
    const carom_lattice lattices[] = {{{0, 0, 0}, 1.0, {1, 1, 1}, {0}}, {{-4, -4, -4}, 1.0, {5, 5, 5}, {0}}};
    carom_context *context = test_context();
    carom_mesh *mesh = scene_mesh(context, &s);
    (void)state;
    for (int i = 0; i < 4; i++) {
        const carom_lattice *lattice = &lattices[i / 2];
        const carom_mesh_distance_desc desc = volume_desc(lattice, (carom_accuracy)(i % 2));
        volume got = volume_ask(mesh, &desc, NULL);
        volume expected = volume_by_closest(mesh, lattice, (carom_accuracy)(i % 2), INFINITY);
        volume_compare(lattice, &expected, 0, &got, -1, "squares that underflow");
        volume_free(&expected);
        volume_free(&got);
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

typedef struct slabs_heard {
    uint64_t done, count;
    int calls, stop_at;
} slabs_heard;

static int listen(void *user, uint64_t done, uint64_t count)
{
    slabs_heard *heard = user;
    assert_true(done >= heard->done);
    assert_true(done <= count);
    if (done == heard->done)
        return 0; /* some time has passed */
    heard->done = done;
    heard->count = count;
    return ++heard->calls == heard->stop_at;
}

static void test_progress(void **state)
{
    carom_context *context = test_context();
    scene s = kinds[1].make(8);
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = {{-2.0, -2.0, -2.0}, 0.03, {150, 150, 100}, {0}};
    const size_t slab = (size_t)(lattice.dims[0] * lattice.dims[1]);
    carom_mesh_distance_desc desc = volume_desc(&lattice, CAROM_ACCURACY_FAST);
    (void)state;
    desc.batch.begin = 3;
    volume whole = volume_ask(mesh, &desc, NULL);
    for (int stop = 0; stop < 2; stop++) {
        slabs_heard heard = {.done = desc.batch.begin, .stop_at = stop ? 1 : -1};
        volume v = volume_alloc(whole.count, 0x77);
        const carom_mesh_distance_result out = volume_result(&v);
        carom_error err;
        desc.batch.progress = (carom_progress){listen, &heard};
        const carom_status status = carom_mesh_distance(mesh, &desc, &out, NULL, &err);
        assert_int_equal(heard.count, desc.batch.count);
        if (stop) {
            test_error(status, CAROM_ERROR_CANCELLED, &err, "cancelled at slab ");
            assert_true(heard.done < desc.batch.count || test_on_device());
        } else {
            test_ok("a lattice that is listened to", status, &err);
            assert_int_equal(heard.done, desc.batch.count);
            assert_true(heard.calls > 1 || test_on_device());
        }
        v.count = (size_t)(heard.done - desc.batch.begin) * slab;
        volume_compare(&lattice, &whole, 0, &v, -1, "slabs that were reported");
        volume_free(&v);
    }
    volume_free(&whole);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

static void check_refused(carom_mesh *mesh, const carom_mesh_distance_desc *desc, const char *word)
{
    float d = 7.0f;
    const carom_mesh_distance_result out = {.size = sizeof out, .distance = &d};
    carom_error err;
    test_error(carom_mesh_distance(mesh, desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, word);
    assert_true(d == 7.0f);
}

static void test_refused(void **state)
{
    static const float nan = NAN, below = -1.0f;
    static const struct {
        carom_lattice lattice;
        const char *word;
    } lattices[] = {
        {{{0.0, 0.0, 0.0}, 0.0, {1, 1, 1}, {0}}, "lattice.spacing is 0; it must be finite and > 0"},
        {{{0.0, 0.0, 0.0}, -1.0, {1, 1, 1}, {0}}, "lattice.spacing is -1"},
        {{{0.0, 0.0, 0.0}, (double)NAN, {1, 1, 1}, {0}}, "lattice.spacing is nan"},
        {{{0.0, 0.0, 0.0}, (double)INFINITY, {1, 1, 1}, {0}}, "lattice.spacing is inf"},
        {{{0.0, (double)NAN, 0.0}, 1.0, {1, 1, 1}, {0}}, "lattice.origin[1] is nan"},
        {{{(double)-INFINITY, 0.0, 0.0}, 1.0, {1, 1, 1}, {0}}, "lattice.origin[0] is -inf"},
        {{{0.0, 0.0, 0.0}, 1.0, {0, 1, 1}, {0}}, "lattice.dims[0] is 0; at least 1"},
        {{{0.0, 0.0, 0.0}, 1.0, {1, 1, 0}, {0}}, "lattice.dims[2] is 0"},
        {{{0.0, 0.0, 0.0}, 1e-9, {1 << 16, 1 << 16, (1 << 16) + 1}, {0}}, "65536 x 65536 x 65537 nodes; at most 2^48"},
        {{{0.0, 0.0, 0.0}, 1e-30, {UINT64_MAX, UINT64_MAX, 2}, {0}}, "nodes; at most 2^48"},
        {{{0.0, 0.0, 1e39}, 1.0, {1, 1, 1}, {0}}, "node 0 along z, at 1e+39, is beyond binary32"},
        {{{0.0, -3.4e38, 0.0}, 7e37, {1, 11, 1}, {0}}, "node 10 along y, at 3.6e+38, is beyond binary32"},
    };
    carom_context *context = test_context();
    scene s = kinds[1].make(8);
    carom_mesh *mesh = scene_mesh(context, &s);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lattices); i++) {
        carom_mesh_distance_desc desc = volume_desc(&lattices[i].lattice, CAROM_ACCURACY_FAST);
        desc.batch.count = 0;
        check_refused(mesh, &desc, lattices[i].word);
    }
    const carom_lattice one = {{0.0, 0.0, 0.0}, 1.0, {1, 1, 1}, {0}};
    const carom_mesh_distance_desc good = volume_desc(&one, CAROM_ACCURACY_FAST);
    carom_mesh_distance_desc bad = good;
    bad.batch.count = 2;
    check_refused(mesh, &bad, "count is 2; the lattice has 1 slabs");
    bad.batch.begin = 3;
    check_refused(mesh, &bad, "batch.begin is 3");
    bad = good;
    bad.batch.elements = 1;
    check_refused(mesh, &bad, "not for a lattice");
    bad = good;
    bad.batch.size--;
    check_refused(mesh, &bad, "carom_mesh_distance_desc");
    bad = good;
    bad.band = &nan;
    check_refused(mesh, &bad, "band is nan; it must be >= 0");
    bad.band = &below;
    check_refused(mesh, &bad, "band is -1");
    bad = good;
    bad.sign = (carom_sign)4;
    check_refused(mesh, &bad, "sign is 4");
    bad = good;
    bad.allow_open = 2;
    check_refused(mesh, &bad, "allow_open is 2");
    carom_error err;
    const carom_mesh_distance_result small = {.size = 1};
    test_error(carom_mesh_distance(mesh, &good, &small, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "carom_mesh_distance_result");
    test_error(carom_mesh_distance(NULL, &good, &small, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "mesh");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

static void test_coordinates(void **state)
{
    const carom_lattice lattice = {{0.1, -3.0, 1e10}, 0.3, {1, 1, 1}, {0}};
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (uint64_t i = 0; i < 2000; i++) {
            volatile double product = (double)i * lattice.spacing; /* volatile: never fused */
            const float expected = (float)(lattice.origin[axis] + product);
            assert_true(carom_lattice_coordinate(&lattice, axis, i) == expected);
        }
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        cmocka_unit_test(test_coordinates), cmocka_unit_test(test_slabs),    cmocka_unit_test(test_fields),
        cmocka_unit_test(test_empty),       cmocka_unit_test(test_progress), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_underflow),   SAME_BITS_ON_CPU(check_same),    SAME_BITS_ON_CPU(check_shapes),
        SAME_BITS_ON_CPU(check_lists),      SAME_BITS_ON_CPU(check_bands),   SAME_BITS_ON_CPU(check_masked),
        SAME_BITS_ON_CPU(check_hollow)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_slabs),     cmocka_unit_test(test_fields),
                                           cmocka_unit_test(test_empty),     cmocka_unit_test(test_progress),
                                           SAME_BITS_ON_DEVICE(check_same),  SAME_BITS_ON_DEVICE(check_shapes),
                                           SAME_BITS_ON_DEVICE(check_bands), SAME_BITS_ON_DEVICE(check_masked)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
