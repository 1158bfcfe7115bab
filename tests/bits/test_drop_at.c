/* SPDX-License-Identifier: MIT */
/* Drops at given places: height, triangle, point and feature against the exact reference, by hand, heights as in a drop
 * map, and the same bits on every instruction set and number of threads. */
#include <float.h>
#include <math.h>

#include "queries/random.h"
#include "tests/support/drop_maps.h"
#include "tests/support/drop_scenes.h"

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Places and their answers. */
typedef struct drops {
    size_t count;
    float radius;
    float *x, *y;
    uint32_t *mask;        /* NULL: all bits */
    float *height, *point; /* point: x y z */
    int32_t *triangle;
    uint8_t *feature;
    carom_stats stats;
} drops;

static drops drops_alloc(size_t count, float radius)
{
    return (drops){.count = count,
                   .radius = radius,
                   .x = test_alloc(count, sizeof(float)),
                   .y = test_alloc(count, sizeof(float)),
                   .height = test_alloc(count, sizeof(float)),
                   .point = test_alloc(3 * count, sizeof(float)),
                   .triangle = test_alloc(count, sizeof(int32_t)),
                   .feature = test_alloc(count, 1)};
}

static void drops_free(drops *d)
{
    free(d->x);
    free(d->y);
    free(d->mask);
    free(d->height);
    free(d->point);
    free(d->triangle);
    free(d->feature);
}

/* Random places in the square of that half side, or multiples of an eighth there: on corners, edges and walls. */
static drops drops_random(uint64_t seed, size_t count, float radius, float half, int whole)
{
    drops d = drops_alloc(count, radius);
    query_random random = {seed};
    for (size_t i = 0; i < 2 * count; i++) {
        const float share = (float)(query_random_bits(&random) % 65537) / 32768 - 1;
        (i % 2 == 0 ? d.x : d.y)[i / 2] = whole ? roundf(8 * half * share) / 8 : half * share;
    }
    return d;
}

static carom_mesh_drop_at_desc desc_of(const drops *d)
{
    return (carom_mesh_drop_at_desc){.batch = {.size = sizeof(carom_mesh_drop_at_desc), .count = d->count},
                                     .x = {d->x, sizeof(float)},
                                     .y = {d->y, sizeof(float)},
                                     .mask = {d->mask, sizeof(uint32_t)},
                                     .radius = d->radius};
}

static void drops_ask(carom_mesh *mesh, drops *d, carom_accuracy accuracy)
{
    carom_mesh_drop_at_desc desc = desc_of(d);
    const carom_mesh_drop_at_result out = {.size = sizeof out,
                                           .height = d->height,
                                           .triangle = d->triangle,
                                           .point = carom_xyz_out(d->point),
                                           .feature = d->feature};
    carom_error err;
    desc.batch.accuracy = accuracy;
    d->stats = (carom_stats){.size = sizeof d->stats};
    test_ok("drops", carom_mesh_drop_at(mesh, &desc, &out, &d->stats, &err), &err);
}

/* Fails unless the reference agrees to every answer. Triangles that a place's mask leaves out do not count. */
static void check(const scene *s, const drops *d, const char *name)
{
    ref_mesh mesh = oracle_mesh(s);
    uint32_t *masks = test_alloc(s->triangle_count, sizeof *masks);
    for (size_t i = 0; i < d->count; i++) {
        const ref_mesh_drop_case at = {d->x[i], d->y[i], d->radius, d->height[i]};
        const ref_mesh_drop_touch touch = {
            d->triangle[i], d->feature[i], {d->point[3 * i], d->point[3 * i + 1], d->point[3 * i + 2]}};
        for (size_t t = 0; t < s->triangle_count; t++)
            masks[t] = (s->masks != NULL ? s->masks[t] : UINT32_MAX) & (d->mask != NULL ? d->mask[i] : UINT32_MAX);
        mesh.masks = masks;
        const char *wrong = ref_mesh_drop_at(&mesh, &at, &touch);
        if (wrong != NULL)
            fail_msg("%s, radius %a, place %zu at %a %a: height %a, triangle %d, %s at %a %a %a: %s", name,
                     (double)at.radius, i, (double)at.x, (double)at.y, (double)at.height, touch.triangle,
                     carom_feature_name((carom_feature)touch.feature), (double)touch.point[0], (double)touch.point[1],
                     (double)touch.point[2], wrong);
    }
    free(masks);
}

static void ask_and_check(carom_context *context, const scene *s, drops *d, const char *name)
{
    carom_mesh *mesh = scene_mesh(context, s);
    drops_ask(mesh, d, CAROM_ACCURACY_FAST);
    check(s, d, name);
    carom_mesh_destroy(mesh);
}

static void compare(const drops *expected, const drops *got, const char *label)
{
    for (size_t i = 0; i < got->count; i++)
        if (bits_of_float(expected->height[i]) != bits_of_float(got->height[i]) ||
            expected->triangle[i] != got->triangle[i] || expected->feature[i] != got->feature[i] ||
            memcmp(expected->point + 3 * i, got->point + 3 * i, 3 * sizeof(float)) != 0)
            fail_msg("%s: place %zu at %a %a: height %a, triangle %d, feature %d, not %a, %d, %d", label, i,
                     (double)got->x[i], (double)got->y[i], (double)got->height[i], got->triangle[i], got->feature[i],
                     (double)expected->height[i], expected->triangle[i], expected->feature[i]);
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static void test_reference(void **state)
{
    static const float radii[] = {0, 0.01f, 0.3f, 0.625f};
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(radii) * (DROP_SCENES + DROP_CROWDS); i++) {
        const size_t n = i / 2 / COUNT_OF(radii);
        const drop_scene *k = n < DROP_SCENES ? &drop_scenes[n] : &drop_crowds[n - DROP_SCENES];
        scene s = k->make();
        drops d = drops_random(i, (size_t)(3 + test_effort(60)), radii[i / 2 % COUNT_OF(radii)], 1.25f, i % 2 != 0);
        if (i % 3 == 0)
            d.mask = random_masks(i, d.count);
        ask_and_check(context, &s, &d, k->name);
        drops_free(&d);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Balls that are next to nothing, and much larger than the mesh; meshes beyond what is searched in lanes. */
static void test_scales(void **state)
{
    static const struct {
        int exponent;
        float radius;
    } sizes[] = {{0, 0x1p-140f}, {0, 1e-6f}, {0, 50}, {0, 0x1p100f}, {40, 0x1p39f}, {-60, 0x1p-62f}, {100, 0x1p99f}};
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes) * DROP_SCENES; i++) {
        const drop_scene *k = &drop_scenes[i / COUNT_OF(sizes)];
        const int exponent = sizes[i % COUNT_OF(sizes)].exponent;
        scene s = k->make();
        drops d = drops_random(i, (size_t)(2 + test_effort(40)), sizes[i % COUNT_OF(sizes)].radius, 1, i % 2 == 0);
        scene_scale(&s, exponent);
        for (size_t p = 0; p < d.count; p++) {
            d.x[p] = ldexpf(d.x[p], exponent);
            d.y[p] = ldexpf(d.y[p], exponent);
        }
        ask_and_check(context, &s, &d, k->name);
        drops_free(&d);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Two triangles of small whole numbers, some moved by next to nothing, and a ball of 5: heights that differ by less
 * than binary64 sees, and equal ones at features that nothing shares. */
static void test_ties(void **state)
{
    static const float nudge[] = {0, 0x1p-60f, -0x1p-60f, 0x1p-80f, -0x1p-53f}, radii[] = {5, 5, 0, 2.5f};
    carom_context *context = test_context();
    uint64_t by_integers = 0;
    (void)state;
    for (size_t i = 0; i < 20 + (size_t)test_effort(400); i++) {
        scene s = scene_alloc_apart(2 + i % 2);
        query_random random = {i};
        for (size_t k = 0; k < 3 * s.vertex_count; k++) {
            const int whole = (int)(query_random_bits(&random) % 13) - 6;
            s.vertices[k] = (float)(whole * (int)(query_random_bits(&random) % 2));
            if (whole == 0 || s.vertices[k] == 0)
                s.vertices[k] = nudge[query_random_bits(&random) % COUNT_OF(nudge)];
        }
        if (i % 4 == 0) /* a mirror image: equal heights on the line x = 0 */
            for (size_t k = 0; k < 9; k++)
                s.vertices[9 + k] = k % 3 == 0 ? -s.vertices[k] : s.vertices[k];
        drops d = drops_random(i, 40, radii[i % COUNT_OF(radii)], 1, 1);
        for (size_t p = 0; p < d.count; p++) {
            d.x[p] = p % 2 == 0 ? 0 : 8 * d.x[p];
            d.y[p] *= 8;
        }
        ask_and_check(context, &s, &d, "ties");
        by_integers += d.stats.by_integers;
        drops_free(&d);
        scene_free(&s);
    }
    assert_true(by_integers > 0);
    carom_context_destroy(context);
}

/* Coordinates of all exponents, and the mirror image: equal heights on the line x = 0 that only integers of thousands
 * of bits tell. One corner of the second triangle may be next to its mirror image. */
static void test_wide(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < 10 + (size_t)test_effort(100); i++) {
        scene s = scene_alloc_apart(2);
        query_random random = {i};
        drops d = drops_alloc(4, 0x1.8p100f);
        for (size_t k = 0; k < 9; k++) {
            const float share = (float)(query_random_bits(&random) % 65537) / 32768 - 1;
            s.vertices[k] = ldexpf(share, (int)(query_random_bits(&random) % 220) - 120);
            s.vertices[9 + k] = k % 3 == 0 ? -s.vertices[k] : s.vertices[k];
        }
        if (i % 3 == 0)
            s.vertices[9 + i % 9] = nextafterf(s.vertices[9 + i % 9], INFINITY);
        for (size_t p = 0; p < d.count; p++) {
            d.x[p] = 0;
            d.y[p] = ldexpf(1, (int)(query_random_bits(&random) % 220) - 120);
        }
        ask_and_check(context, &s, &d, "all exponents");
        drops_free(&d);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* More triangles meet at the top than a search holds: the lowest index has the contact. */
static void test_crowded_corner(void **state)
{
    enum { FAN = 40 };
    carom_context *context = test_context();
    scene s = scene_alloc_apart(FAN);
    (void)state;
    for (size_t t = 0; t < FAN; t++)
        for (size_t k = 0; k < 2; k++) {
            const double angle = 6.283185307179586 * (double)(t + k) / FAN;
            float *p = s.vertices + 9 * t + 3 * (k + 1);
            p[0] = (float)cos(angle);
            p[1] = (float)sin(angle);
            p[2] = -1;
        }
    drops d = drops_random(3, 60, 0.5f, 0.25f, 0);
    ask_and_check(context, &s, &d, "a fan");
    drops_free(&d);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Heights beyond binary32, and places that no search in lanes is for. */
static void test_beyond(void **state)
{
    carom_context *context = test_context();
    scene s = scene_alloc_apart(2);
    drops d = drops_alloc(6, FLT_MAX);
    (void)state;
    for (size_t k = 0; k < 6; k++) {
        s.vertices[3 * k] = k % 3 == 1 ? 1 : -1;
        s.vertices[3 * k + 1] = k % 3 == 2 ? 1 : -1;
        s.vertices[3 * k + 2] = k < 3 ? 0x1p126f : 0x1p127f;
    }
    for (size_t i = 0; i < d.count; i++)
        d.x[i] = d.y[i] = i < 3 ? (float)i - 1 : i < 5 ? 0x1p126f : FLT_MAX;
    ask_and_check(context, &s, &d, "beyond binary32");
    assert_true(d.height[0] == INFINITY && d.triangle[0] == 1);
    d.radius = 1;
    ask_and_check(context, &s, &d, "a small ball");
    assert_true(d.height[5] == -INFINITY && d.triangle[5] == -1);
    drops_free(&d);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

static void expect(const drops *d, size_t i, float height, int32_t triangle, carom_feature feature, float x, float y,
                   float z)
{
    if (!(d->height[i] == height) || d->triangle[i] != triangle || d->feature[i] != feature || d->point[3 * i] != x ||
        d->point[3 * i + 1] != y || d->point[3 * i + 2] != z)
        fail_msg("place %zu: %a, %d, %s at %a %a %a", i, (double)d->height[i], d->triangle[i],
                 carom_feature_name((carom_feature)d->feature[i]), (double)d->point[3 * i], (double)d->point[3 * i + 1],
                 (double)d->point[3 * i + 2]);
}

/* One triangle, level at 0, with legs of 4, twice. */
static void test_by_hand(void **state)
{
    static const float corner[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    static const float at[][2] = {{1, 1}, {-4, 0}, {1, -3}, {-5, 0}, {-3, -4}, {-6, 0}, {NAN, 0}, {0, INFINITY}};
    static const uint32_t masks[] = {3, 3, 2, 3, 3, 3, 3, 3};
    carom_context *context = test_context();
    scene s = scene_alloc_apart(2);
    drops d = drops_alloc(COUNT_OF(at), 5);
    (void)state;
    memcpy(s.vertices, corner, sizeof corner);
    memcpy(s.vertices + 9, corner, sizeof corner);
    s.masks = test_alloc(2, sizeof *s.masks);
    s.masks[0] = 1;
    s.masks[1] = 3;
    d.mask = test_alloc(d.count, sizeof *d.mask);
    memcpy(d.mask, masks, sizeof masks);
    for (size_t i = 0; i < d.count; i++) {
        d.x[i] = at[i][0];
        d.y[i] = at[i][1];
    }
    carom_mesh *mesh = scene_mesh(context, &s);
    drops_ask(mesh, &d, CAROM_ACCURACY_EXACT);
    expect(&d, 0, 5, 0, CAROM_FEATURE_FACE, 1, 1, 0);
    expect(&d, 1, 3, 0, CAROM_FEATURE_V0, 0, 0, 0);
    expect(&d, 2, 4, 1, CAROM_FEATURE_E01, 1, 0, 0); /* its mask leaves out triangle 0 */
    expect(&d, 3, 0, 0, CAROM_FEATURE_V0, 0, 0, 0);  /* exactly 5 beside it */
    assert_true(!signbit(d.height[3]));
    expect(&d, 4, 0, 0, CAROM_FEATURE_V0, 0, 0, 0);
    expect(&d, 5, -INFINITY, -1, CAROM_FEATURE_NONE, 0, 0, 0);
    expect(&d, 6, INFINITY, -1, CAROM_FEATURE_NONE, 0, 0, 0);
    expect(&d, 7, INFINITY, -1, CAROM_FEATURE_NONE, 0, 0, 0);
    assert_int_equal(d.stats.queries, d.count);
    assert_int_equal(d.stats.on_cpu, d.count);
    assert_int_equal(d.stats.on_device + d.stats.fallen_back, 0);
    carom_mesh_destroy(mesh);
    const carom_mesh_desc none = {.size = sizeof none};
    carom_error err;
    test_ok("an empty mesh", carom_mesh_create(context, &none, &mesh, &err), &err);
    drops_ask(mesh, &d, CAROM_ACCURACY_FAST);
    expect(&d, 0, -INFINITY, -1, CAROM_FEATURE_NONE, 0, 0, 0);
    expect(&d, 6, INFINITY, -1, CAROM_FEATURE_NONE, 0, 0, 0);
    carom_mesh_destroy(mesh);
    drops_free(&d);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_refused(void **state)
{
    static const float bad[] = {-1, NAN, INFINITY};
    carom_context *context = test_context();
    scene s = drop_scene_level();
    carom_mesh *mesh = scene_mesh(context, &s);
    drops d = drops_random(1, 3, 1, 1, 0);
    const carom_mesh_drop_at_result none = {.size = sizeof none};
    carom_error err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        d.radius = bad[i];
        const carom_mesh_drop_at_desc desc = desc_of(&d);
        test_error(carom_mesh_drop_at(mesh, &desc, &none, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   "it must be finite and >= 0");
    }
    carom_mesh_destroy(mesh);
    drops_free(&d);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- heights of maps, and single outputs ------------------------------------------------------------------------- */

static void test_columns(void **state)
{
    static const carom_lattice lattice = {{-1.3, -1.3, 0}, 0.05, {53, 52, 1}, {0}};
    carom_context *context = test_context();
    (void)state;
    for (size_t n = 0; n < DROP_SCENES + DROP_CROWDS; n++) {
        scene s = n < DROP_SCENES ? drop_scenes[n].make() : drop_crowds[n - DROP_SCENES].make();
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_mesh_drop_desc map = drop_map_desc(&lattice, n % 3 == 0 ? 0 : 0.1f, CAROM_ACCURACY_FAST);
        drop_map m = drop_map_ask(mesh, &map, NULL);
        drops d = drops_alloc(m.count, map.radius), alone = drops_alloc(m.count, map.radius);
        for (size_t i = 0; i < d.count; i++) {
            d.x[i] = carom_lattice_coordinate(&lattice, 0, i % lattice.dims[0]);
            d.y[i] = carom_lattice_coordinate(&lattice, 1, i / lattice.dims[0]);
        }
        drops_ask(mesh, &d, CAROM_ACCURACY_EXACT);
        const carom_mesh_drop_at_desc desc = desc_of(&d);
        const carom_mesh_drop_at_result height = {.size = sizeof height, .height = alone.height},
                                        triangle = {.size = sizeof triangle, .triangle = alone.triangle};
        carom_error err;
        test_ok("heights", carom_mesh_drop_at(mesh, &desc, &height, NULL, &err), &err);
        test_ok("triangles", carom_mesh_drop_at(mesh, &desc, &triangle, NULL, &err), &err);
        for (size_t i = 0; i < d.count; i++)
            if (bits_of_float(d.height[i]) != bits_of_float(drop_map_height(&m, i)) ||
                bits_of_float(d.height[i]) != bits_of_float(alone.height[i]) || d.triangle[i] != alone.triangle[i])
                fail_msg("scene %zu, column %zu: height %a, of the map %a, alone %a; triangle %d, alone %d", n, i,
                         (double)d.height[i], (double)drop_map_height(&m, i), (double)alone.height[i], d.triangle[i],
                         alone.triangle[i]);
        guarded_free(&m.height);
        drops_free(&d);
        drops_free(&alone);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const float radii[] = {0, 0.02f, 0.1f, 0.5f};
    for (size_t i = 0; i < 2 * (DROP_SCENES + DROP_CROWDS); i++) {
        const size_t n = i / 2;
        scene s = n < DROP_SCENES ? drop_scenes[n].make() : drop_crowds[n - DROP_SCENES].make();
        carom_mesh *expected_of = scene_mesh(scalar, &s), *got_of = scene_mesh(context, &s);
        drops expected = drops_random(n, 3000, radii[(i + n) % 4], 1.25f, i % 2);
        drops got = drops_random(n, 3000, radii[(i + n) % 4], 1.25f, i % 2);
        drops_ask(expected_of, &expected, CAROM_ACCURACY_FAST);
        drops_ask(got_of, &got, CAROM_ACCURACY_EXACT);
        compare(&expected, &got, label);
        drops_free(&expected);
        drops_free(&got);
        carom_mesh_destroy(expected_of);
        carom_mesh_destroy(got_of);
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_by_hand),        cmocka_unit_test(test_reference),
                                        cmocka_unit_test(test_scales),         cmocka_unit_test(test_ties),
                                        cmocka_unit_test(test_beyond),         cmocka_unit_test(test_wide),
                                        cmocka_unit_test(test_crowded_corner), cmocka_unit_test(test_columns),
                                        cmocka_unit_test(test_refused),        SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_by_hand)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
