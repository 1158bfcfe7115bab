/* SPDX-License-Identifier: MIT */
/* Clearance volumes: every node as the exact reference has it, the same on every instruction set. */
#include "reference/mesh.h"
#include "tests/support/mesh_oracle.h"
#include "tests/support/open_scenes.h"

#include <math.h>

static void check_node(const carom_lattice *lattice, size_t node, int got, int expected, float radius, const char *name)
{
    float p[3];
    if (got == expected)
        return;
    lattice_node(lattice, node, p);
    fail_msg("%s, radius %a, spacing %a, node %zu at %a %a %a: %d instead of %d", name, (double)radius,
             lattice->spacing, node, (double)p[0], (double)p[1], (double)p[2], got, expected);
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* Two sheets 2^-20 apart, and one that touches the first. */
static scene scene_sheets(void)
{
    scene one = scene_floor(6), s = scene_alloc(3 * one.vertex_count, 3 * one.triangle_count);
    for (size_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] = one.vertices[i % (3 * one.vertex_count)];
    for (size_t v = one.vertex_count; v < 2 * one.vertex_count; v++)
        s.vertices[3 * v + 2] = 0x1p-20f;
    for (size_t i = 0; i < 3 * s.triangle_count; i++)
        s.indices[i] =
            one.indices[i % (3 * one.triangle_count)] + (uint32_t)(i / (3 * one.triangle_count) * one.vertex_count);
    scene_free(&one);
    return s;
}

enum { SCENES = KINDS + 1 };
static scene make_scene(size_t kind, size_t triangles)
{
    return kind < KINDS ? kinds[kind].make(triangles) : scene_sheets();
}

static const struct {
    int exponent;
    float offset;
} places[] = {{0, 0.0f}, {-20, 0.0f}, {0, 1e4f}, {125, 0.0f}, {-125, 0.0f}, {-142, 0.0f}};

/* Spacing a power of two and nodes at multiples of it: exact wherever the mesh is. */
static carom_lattice whole_lattice(const scene *s, uint64_t n)
{
    carom_lattice lattice = lattice_around(s, n);
    const double least = lattice.spacing;
    lattice.spacing = 0x1p-149;
    while (lattice.spacing < least)
        lattice.spacing *= 2.0;
    for (int k = 0; k < 3; k++) {
        lattice.origin[k] = floor(lattice.origin[k] / lattice.spacing) * lattice.spacing;
        lattice.dims[k] = lattice.dims[k] / 2 + 4;
    }
    return lattice;
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static uint64_t check_radius(carom_mesh *mesh, const scene *s, const carom_lattice *lattice, float radius,
                             const char *name)
{
    const ref_mesh reference = oracle_mesh(s);
    const double half = ref_half_diagonal(lattice->spacing);
    carom_stats stats = {.size = sizeof stats};
    const carom_mesh_clearance_desc fast = clearance_desc(lattice, radius, CAROM_ACCURACY_FAST);
    const carom_mesh_clearance_desc exact = clearance_desc(lattice, radius, CAROM_ACCURACY_EXACT);
    guarded got = clearance_ask(mesh, &fast, NULL), again = clearance_ask(mesh, &exact, &stats);
    assert_memory_equal(got.data, again.data, got.size);
    assert_int_equal(stats.by_proof + stats.by_integers, stats.queries);
    assert_int_equal(stats.on_cpu + stats.on_device, stats.queries);
    assert_int_equal(stats.on_device > 0, test_on_device() && s->triangle_count > 0);
    for (size_t i = 0; i < got.size; i++) {
        float p[3];
        lattice_node(lattice, i, p);
        check_node(lattice, i, got.data[i], ref_mesh_clearance(&reference, p, radius, half), radius, name);
    }
    guarded_free(&got);
    guarded_free(&again);
    return stats.by_integers;
}

/* A radius whose limit is next to the distance of some node: within a unit in the last place, and two. */
static float radius_near(carom_mesh *mesh, const carom_lattice *lattice, int which)
{
    volume v = volume_by_closest(mesh, lattice, CAROM_ACCURACY_EXACT, INFINITY);
    const double d = (double)volume_distance(&v, (size_t)which * 997 % v.count);
    const double half = ref_half_diagonal(lattice->spacing);
    float radius = (float)(which % 2 == 0 && d > half ? d - half : d + half);
    for (int step = which % 5; step > 2; step--)
        radius = nextafterf(radius, which % 3 == 0 ? 0.0f : INFINITY);
    volume_free(&v);
    return isfinite(radius) ? radius : 0.0f;
}

static void test_reference(void **state)
{
    carom_context *context = test_context();
    uint64_t by_integers = 0;
    (void)state;
    for (size_t k = 0; k < SCENES; k++)
        for (size_t place = 0; place < COUNT_OF(places); place++) {
            scene s = make_scene(k, 300);
            scene_place(&s, places[place].exponent, places[place].offset);
            carom_mesh *mesh = scene_mesh(context, &s);
            const carom_lattice lattice =
                place == 0 ? lattice_around(&s, 8 + test_effort(14)) : whole_lattice(&s, 8 + test_effort(18));
            const float wide = (float)lattice.spacing;
            const float radii[] = {0.0f, 0.3f * wide, 2.5f * wide, 6.0f * wide};
            char name[64];
            snprintf(name, sizeof name, "scene %zu at place %zu", k, place);
            for (size_t r = 0; r < COUNT_OF(radii); r++)
                check_radius(mesh, &s, &lattice, radii[r], name);
            for (int r = 0; r < 6; r++)
                by_integers += check_radius(mesh, &s, &lattice, radius_near(mesh, &lattice, r), name);
            carom_mesh_destroy(mesh);
            scene_free(&s);
        }
    assert_true(by_integers > 0);
    carom_context_destroy(context);
}

/* A box of which the sphere and the lattice see the middle of one edge alone. */
static scene long_box(ref_gen *g)
{
    float from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = (float)ref_gen_range(g, 0, 1);
        to[k] = from[k] + (float)ref_gen_range(g, 1, 2);
    }
    return scene_box(from[0], from[1], from[2], to[0], to[1], to[2]);
}

static void test_long_edges(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < test_effort(60); i++) {
        ref_gen g;
        ref_gen_seed(&g, 21, 1, i);
        scene s = long_box(&g);
        carom_mesh *mesh = scene_mesh(context, &s);
        const int triangle = ref_gen_int(&g, 0, 11), edge = ref_gen_int(&g, 0, 2);
        const double shrink = ref_gen_range(&g, 1, 30);
        const float radius = (float)(0.02 / shrink);
        carom_lattice lattice = {.spacing = 0x1p-149, .dims = {17, 17, 17}};
        while (lattice.spacing < (double)radius / 16)
            lattice.spacing *= 2.0;
        const float *a = s.vertices + 3 * s.indices[3 * triangle + edge];
        const float *b = s.vertices + 3 * s.indices[3 * triangle + (edge + 1) % 3];
        for (int k = 0; k < 3; k++) {
            const double middle = ((double)a[k] + (double)b[k]) / 2;
            lattice.origin[k] = (floor(middle / lattice.spacing) - 8.0) * lattice.spacing;
        }
        check_radius(mesh, &s, &lattice, radius, "long edges");
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Triangles without a bit in their mask do not count; without triangles all is free. */
static void test_masked(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t k = 0; k < SCENES; k++) {
        scene s = make_scene(k, 200);
        const carom_lattice lattice = lattice_around(&s, 12);
        s.masks = random_masks(k, s.triangle_count);
        for (size_t i = 0; i < s.triangle_count; i++)
            s.masks[i] = i % 3 == 0 || k == 0 ? 0 : s.masks[i];
        carom_mesh *mesh = scene_mesh(context, &s);
        check_radius(mesh, &s, &lattice, (float)lattice.spacing, "masked");
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    const scene none = {0};
    carom_mesh *mesh = scene_mesh(context, &none);
    const carom_lattice lattice = {{0.0, 0.0, 0.0}, 1.0, {40, 3, 35}, {0}};
    check_radius(mesh, &none, &lattice, 2.0f, "an empty mesh");
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- against closest points -------------------------------------------------------------------------------------- */

/* The answer that follows from a distance rounded to binary32; -1 if that is next to a limit. */
static int answer_of(float distance, float radius, double half)
{
    const double d = (double)distance, r = (double)radius, unsure = (r + half) * 0x1p-20;
    if (fabs(d - (r + half)) <= unsure || fabs(d - (r - half)) <= unsure)
        return -1;
    return d > r + half ? CAROM_CLEARANCE_FREE : d <= r - half ? CAROM_CLEARANCE_BLOCKED : CAROM_CLEARANCE_UNDECIDED;
}

/* Meshes far finer than the lattice, and far coarser ones: each node as its closest point in exact mode has it. */
static void test_closest(void **state)
{
    static const size_t sizes[] = {12, 3000, 60000};
    carom_context *context = test_context();
    (void)state;
    for (size_t k = 0; k < SCENES; k++)
        for (size_t n = 0; n < COUNT_OF(sizes) - (test_effort(4) < 2); n++) {
            scene s = make_scene(k, sizes[n]);
            carom_mesh *mesh = scene_mesh(context, &s);
            const carom_lattice lattice = lattice_around(&s, 14 + test_effort(40));
            const double half = ref_half_diagonal(lattice.spacing);
            const double cells[] = {0.0, 0.9, 3.3, 9.0};
            volume v = volume_by_closest(mesh, &lattice, CAROM_ACCURACY_EXACT, INFINITY);
            char name[64];
            snprintf(name, sizeof name, "scene %zu of %zu", k, sizes[n]);
            for (size_t r = 0; r < COUNT_OF(cells); r++) {
                const float radius = (float)(cells[r] * lattice.spacing);
                const carom_mesh_clearance_desc desc = clearance_desc(&lattice, radius, CAROM_ACCURACY_FAST);
                guarded got = clearance_ask(mesh, &desc, NULL);
                for (size_t i = 0; i < got.size; i++) {
                    const int expected = answer_of(volume_distance(&v, i), radius, half);
                    if (expected >= 0)
                        check_node(&lattice, i, got.data[i], expected, radius, name);
                }
                guarded_free(&got);
            }
            volume_free(&v);
            carom_mesh_destroy(mesh);
            scene_free(&s);
        }
    carom_context_destroy(context);
}

/* ---- with a sign ------------------------------------------------------------------------------------------------- */

/* Whether a node is inside; -1 where the winding number is within 2^-20 of 1/2, so that either side is right. */
static int side_of(const ref_mesh *mesh, carom_sign sign, const float p[3])
{
    ref_mesh_ray_answer ray;
    if (sign == CAROM_SIGN_ROBUST) {
        const double beyond = fabs((double)ref_mesh_winding(mesh, p)) - 0.5;
        return fabs(beyond) > 0x1p-20 ? beyond > 0 : -1;
    }
    ref_mesh_ray(mesh, p, &ray);
    return sign == CAROM_SIGN_PARITY ? (int)(ray.crossings & 1) : ray.sum != 0;
}

/* Nodes as the reference has them, in both modes; a side that may be either is the given one. Counts the nodes inside
 * that are blocked, and those that are not. */
static void check_solid(carom_mesh *mesh, const scene *s, const carom_lattice *lattice, float radius, carom_sign sign,
                        const char *name, size_t count[2])
{
    const ref_mesh reference = oracle_mesh(s);
    const double half = ref_half_diagonal(lattice->spacing);
    const size_t step = test_effort(100) < 50 ? 11 : 1;
    carom_mesh_clearance_desc fast = clearance_desc(lattice, radius, CAROM_ACCURACY_FAST),
                              exact = clearance_desc(lattice, radius, CAROM_ACCURACY_EXACT);
    carom_stats stats = {.size = sizeof stats};
    fast.sign = exact.sign = sign;
    fast.allow_open = exact.allow_open = 1;
    guarded got = clearance_ask(mesh, &fast, NULL), again = clearance_ask(mesh, &exact, &stats);
    assert_memory_equal(got.data, again.data, got.size);
    assert_int_equal(stats.by_proof + stats.by_integers, stats.queries);
    assert_int_equal(stats.on_cpu, stats.queries);
    for (size_t i = 0; i < got.size; i += step) {
        float p[3];
        lattice_node(lattice, i, p);
        const int outside = ref_mesh_clearance(&reference, p, radius, half), side = side_of(&reference, sign, p),
                  is_inside = side >= 0 ? side : got.data[i] != outside;
        check_node(lattice, i, got.data[i],
                   is_inside ? ref_mesh_clearance_inside(&reference, p, radius, half) : outside, radius, name);
        count[got.data[i] == CAROM_CLEARANCE_UNDECIDED] += (size_t)is_inside;
    }
    guarded_free(&got);
    guarded_free(&again);
}

/* A radius for which the distance of a node is nearly or exactly h - R. */
static float radius_within(carom_mesh *mesh, const carom_lattice *lattice, int which)
{
    const double half = ref_half_diagonal(lattice->spacing);
    volume v = volume_by_closest(mesh, lattice, CAROM_ACCURACY_EXACT, INFINITY);
    size_t i = (size_t)which * 997 % v.count;
    for (size_t left = v.count; left > 0 && (double)volume_distance(&v, i) > half; left--)
        i = (i + 1) % v.count;
    const float radius = (float)(half - (double)volume_distance(&v, i));
    volume_free(&v);
    return radius > 0 ? radius : 0;
}

static void test_solids(void **state)
{
    carom_context *context = test_context();
    size_t count[2] = {0, 0};
    (void)state;
    const int is_whole = test_effort(4) > 1;
    for (size_t i = 0; i < OPEN_SCENES + SIGN_SCENES; i += is_whole ? 1 : 2) {
        const sign_scene *from = i < OPEN_SCENES ? &open_scenes[i] : &sign_scenes[i - OPEN_SCENES];
        scene s = from->make();
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_lattice lattice = whole_lattice(&s, 24);
        const float radii[] = {0.0f, (float)(0.3 * lattice.spacing), (float)(1.7 * lattice.spacing),
                               radius_within(mesh, &lattice, (int)i)};
        for (size_t r = is_whole ? 0 : i / 2 % 4; r < COUNT_OF(radii); r += is_whole ? 1 : COUNT_OF(radii)) {
            const carom_sign sign = i < OPEN_SCENES ? CAROM_SIGN_ROBUST : (carom_sign)(1 + (i + r) % 3);
            check_solid(mesh, &s, &lattice, radii[r], sign, from->name, count);
        }
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    print_message("inside: %zu blocked, %zu undecided\n", count[0], count[1]);
    assert_true(count[0] > 10 && count[1] > 10);
    carom_context_destroy(context);
}

/* ---- exact ties -------------------------------------------------------------------------------------------------- */

/* The clearance of a node that is straight above or below a large triangle in a plane of constant z; below, with a
 * sign, it is inside. */
static int near_plane(carom_context *context, double spacing, float z, float plane, float radius, carom_sign sign)
{
    const float big = 0x1p20f;
    float vertices[] = {-big, -big, plane, big, -big, plane, 0, big, plane};
    uint32_t indices[] = {0, 1, 2};
    const scene s = {.vertices = vertices, .indices = indices, .vertex_count = 3, .triangle_count = 1};
    const carom_lattice one = {{0.0, 0.0, (double)z}, spacing, {1, 1, 1}, {0}};
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_mesh_clearance_desc desc = clearance_desc(&one, radius, CAROM_ACCURACY_FAST);
    desc.sign = sign;
    desc.allow_open = 1;
    guarded got = clearance_ask(mesh, &desc, NULL);
    const int answer = got.data[0];
    guarded_free(&got);
    carom_mesh_destroy(mesh);
    return answer;
}

static int above_plane(carom_context *context, double spacing, float z, float plane, float radius)
{
    return near_plane(context, spacing, z, plane, radius, CAROM_SIGN_NONE);
}

/* Two binary32 whose difference is x, if there are any: the leading bits, and less the rest. */
static int split(double x, float *z, float *plane)
{
    *z = (float)x;
    *plane = (float)((double)*z - x);
    return (double)*z - (double)*plane == x;
}

/* d = R + h, and d = R - h, as real numbers, although h has up to 53 bits; inside d = h - R. */
static void test_ties(void **state)
{
    carom_context *context = test_context();
    int free_ties = 0, blocked_ties = 0, inside_ties = 0;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const double spacing = (double)(float)(1.0 + (double)i / 3000.0), half = ref_half_diagonal(spacing);
        const float radius = (float)half + (float)(i % 7) * 0x1p-10f, less = nextafterf(radius, 0.0f);
        float z, plane;
        if (i % 16 == 0 && (double)radius - half > 0x1p-30 && split((double)radius - half, &z, &plane)) {
            assert_int_equal(above_plane(context, spacing, z, plane, radius), CAROM_CLEARANCE_BLOCKED);
            assert_int_equal(above_plane(context, spacing, z, plane, less), CAROM_CLEARANCE_UNDECIDED);
            blocked_ties++;
        }
        const float coarse = 0x1p-7f + (float)i * 0x1p-22f, low = nextafterf(coarse, 0.0f);
        if (fmod(half, 0x1p-47) == 0.0 && split((double)coarse + half, &z, &plane)) {
            assert_int_equal(above_plane(context, spacing, z, plane, coarse), CAROM_CLEARANCE_UNDECIDED);
            assert_int_equal(above_plane(context, spacing, z, plane, low), CAROM_CLEARANCE_FREE);
            free_ties++;
        }
        if (fmod(half, 0x1p-47) == 0.0 && split(half - (double)coarse, &z, &plane)) {
            assert_int_equal(near_plane(context, spacing, plane, z, coarse, CAROM_SIGN_PARITY),
                             CAROM_CLEARANCE_BLOCKED);
            assert_int_equal(near_plane(context, spacing, plane, z, low, CAROM_SIGN_PARITY), CAROM_CLEARANCE_UNDECIDED);
            inside_ties++;
        }
    }
    assert_true(free_ties > 10 && blocked_ties > 10 && inside_ties > 10);
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t k = 0; k < SCENES; k++) {
        scene s = make_scene(k, 2000);
        const carom_lattice lattice = lattice_around(&s, 10 + test_effort(70));
        carom_mesh *expected_of = scene_mesh(scalar, &s), *got_of = scene_mesh(context, &s);
        carom_mesh_clearance_desc desc = clearance_desc(
            &lattice, (float)((k < 4 || test_on_device() ? 2.7 : 0.2) * lattice.spacing), CAROM_ACCURACY_FAST);
        desc.sign = test_on_device() ? CAROM_SIGN_NONE : (carom_sign)(k % 4);
        desc.allow_open = 1;
        guarded expected = clearance_ask(expected_of, &desc, NULL), got = clearance_ask(got_of, &desc, NULL);
        for (size_t i = 0; i < got.size; i++)
            check_node(&lattice, i, got.data[i], expected.data[i], desc.radius, label);
        guarded_free(&expected);
        guarded_free(&got);
        carom_mesh_destroy(expected_of);
        carom_mesh_destroy(got_of);
        scene_free(&s);
    }
}

/* The CPU answers, and the statistics have the reason. */
static void test_declined(void **state)
{
    static const carom_lattice lattice = {{-1.5, -1.5, -1.5}, 0.5, {7, 7, 7}, {0}};
    carom_context *context = test_context();
    scene s = scene_unit_box();
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_mesh_clearance_desc desc = clearance_desc(&lattice, 0.5f, CAROM_ACCURACY_FAST);
    carom_stats stats = {.size = sizeof stats};
    (void)state;
    desc.sign = CAROM_SIGN_WINDING;
    guarded got = clearance_ask(mesh, &desc, &stats);
    assert_int_equal(got.data[171], CAROM_CLEARANCE_BLOCKED); /* the middle */
    assert_int_equal(stats.fallen_back, got.size);
    assert_non_null(strstr(stats.fallback_reason, "clearance of solids"));
    guarded_free(&got);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_long_edges),
                                        cmocka_unit_test(test_masked),    cmocka_unit_test(test_closest),
                                        cmocka_unit_test(test_ties),      cmocka_unit_test(test_solids),
                                        SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_masked), cmocka_unit_test(test_declined),
                                           SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
