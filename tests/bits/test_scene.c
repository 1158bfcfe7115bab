/* SPDX-License-Identifier: MIT */
/* A scene answers as the mesh that has all its triangles in the world, bit for bit: every call, both modes, masks,
 * options, every instruction set and number of threads. That mesh is computed here, by the definition. */
#include <math.h>

#include "tests/support/scenes.h"

enum { SEED = 131, MESHES = 6, MAP = 12, RECORDS = 1 << 16 };

/* Instances of meshes, and where each begins in the merged mesh. */
typedef struct world {
    scene meshes[MESHES];
    size_t instances;
    uint32_t *mesh, *masks; /* masks NULL: all bits */
    float (*map)[MAP];
    int32_t *first; /* [instances + 1] */
} world;

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static float within(ref_gen *g, float by)
{
    double v[3];
    ref_gen_box(g, v, (double)by);
    return (float)v[0];
}

/* A rotation by a quaternion, times `size`. */
static void turn(ref_gen *g, float size, float map[MAP])
{
    const double a = (double)within(g, 1), b = (double)within(g, 1), c = (double)within(g, 1), d = (double)within(g, 1);
    const double n = (double)size / (a * a + b * b + c * c + d * d + 1e-9);
    const double m[9] = {a * a + b * b - c * c - d * d, 2 * (b * c - a * d),           2 * (b * d + a * c),
                         2 * (b * c + a * d),           a * a - b * b + c * c - d * d, 2 * (c * d - a * b),
                         2 * (b * d - a * c),           2 * (c * d + a * b),           a * a - b * b - c * c + d * d};
    for (int k = 0; k < 9; k++)
        map[4 * (k / 3) + k % 3] = (float)(m[k] * n);
}

/* Rotations, and now and then: the identity, a shift alone, a mirror, a shear, a plane, a point, huge, tiny, numbers
 * that underflow. */
static void set_map(uint64_t seed, size_t i, float spread, float map[MAP])
{
    ref_gen g;
    ref_gen_seed(&g, 7, seed, i);
    memset(map, 0, MAP * sizeof *map);
    turn(&g, 1, map);
    for (int row = 0; row < 3; row++)
        map[4 * row + 3] = within(&g, spread);
    switch (i % 11) {
    case 0:
    case 1:
        memset(map, 0, MAP * sizeof *map);
        map[0] = map[5] = map[10] = 1;
        map[3] = i % 11 == 0 ? 0 : 0.5f;
        break;
    case 2: map[0] = -map[0], map[4] = -map[4], map[8] = -map[8]; break;
    case 3: map[1] += 3; break;
    case 4:
        map[8] = map[4], map[9] = map[5], map[10] = map[6]; /* a plane */
        break;
    case 5:
        memset(map, 0, MAP * sizeof *map);
        map[3] = map[7] = 0.25f;
        break;
    case 6: map[0] *= 40, map[4] *= 40, map[8] *= 40; break;
    case 7:
        for (int k = 0; k < 11; k++)
            map[k] *= k % 4 == 3 ? 1 : 0x1p-140f;
        break;
    default: break;
    }
}

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

static world make_world(uint64_t seed, size_t instances, float spread, int masks)
{
    world w = {.instances = instances,
               .mesh = test_alloc(instances, sizeof *w.mesh),
               .map = test_alloc(instances, sizeof *w.map),
               .first = test_alloc(instances + 1, sizeof *w.first)};
    w.meshes[0] = scene_sphere(4);
    w.meshes[1] = scene_soup(seed, 700, 0.2);
    w.meshes[2] = scene_box(-0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f);
    w.meshes[3] = scene_alloc(0, 0);
    w.meshes[4] = scene_floor(1);
    w.meshes[5] = scene_soup(seed + 1, 30, 1.0);
    scene_scale(&w.meshes[5], -3);
    if (masks) {
        w.masks = random_masks(seed, instances);
        w.meshes[1].masks = random_masks(seed + 2, w.meshes[1].triangle_count);
    }
    for (size_t i = 0; i < instances; i++) {
        w.mesh[i] = (uint32_t)((i * 5 + i / MESHES) % MESHES);
        set_map(seed, i, spread, w.map[i]);
        w.first[i + 1] = w.first[i] + (int32_t)w.meshes[w.mesh[i]].triangle_count;
    }
    return w;
}

static void free_world(world *w)
{
    for (int i = 0; i < MESHES; i++)
        scene_free(&w->meshes[i]);
    free(w->mesh);
    free(w->masks);
    free(w->map);
    free(w->first);
}

static double determinant(const float *m)
{
    const long double a = (long double)m[0] *
                          ((long double)m[5] * (long double)m[10] - (long double)m[6] * (long double)m[9]),
                      b = (long double)m[1] *
                          ((long double)m[4] * (long double)m[10] - (long double)m[6] * (long double)m[8]),
                      c = (long double)m[2] *
                          ((long double)m[4] * (long double)m[9] - (long double)m[5] * (long double)m[8]);
    return (double)(a - b + c);
}

/* The mesh of all triangles in the world, each with vertices of its own. */
static scene merge(const world *w)
{
    scene all = scene_alloc_apart((size_t)w->first[w->instances]);
    all.masks = test_alloc(all.triangle_count, sizeof *all.masks);
    float *to = all.vertices;
    uint32_t *mask = all.masks;
    for (size_t i = 0; i < w->instances; i++) {
        const scene *s = &w->meshes[w->mesh[i]];
        const float *m = w->map[i];
        const int mirrors = determinant(m) < 0;
        for (size_t t = 0; t < s->triangle_count; t++) {
            *mask++ = (s->masks != NULL ? s->masks[t] : UINT32_MAX) & (w->masks != NULL ? w->masks[i] : UINT32_MAX);
            for (size_t c = 0; c < 3; c++, to += 3) {
                const float *v = s->vertices + 3 * (size_t)s->indices[3 * t + (mirrors && c > 0 ? 3 - c : c)];
                for (int row = 0; row < 3; row++, m += 4) {
                    volatile double sum = (double)m[0] * (double)v[0];
                    sum += (double)m[1] * (double)v[1];
                    sum += (double)m[2] * (double)v[2];
                    sum += (double)m[3];
                    to[row] = (float)sum;
                }
                m = w->map[i];
            }
        }
    }
    return all;
}

static carom_scene_pose pose_of(const world *w)
{
    return (carom_scene_pose){
        .size = sizeof(carom_scene_pose), .map = w->map[0], .masks = {w->masks, sizeof *w->masks}};
}

/* A scene of the world. Its meshes are the scene's alone afterwards. */
static carom_scene *make_scene(carom_context *context, const world *w)
{
    carom_mesh *meshes[MESHES];
    carom_scene *made = NULL;
    carom_error err = {0};
    for (int i = 0; i < MESHES; i++)
        meshes[i] = scene_mesh(context, &w->meshes[i]);
    const carom_scene_desc desc = {.size = sizeof desc,
                                   .meshes = meshes,
                                   .mesh_count = MESHES,
                                   .mesh = {w->mesh, sizeof *w->mesh},
                                   .instance_count = w->instances,
                                   .pose = pose_of(w)};
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    for (int i = 0; i < MESHES; i++)
        carom_mesh_destroy(meshes[i]);
    return made;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* The number of a triangle in the merged mesh becomes that in its mesh; returns the instance. */
static int32_t split(const world *w, int32_t *triangle)
{
    int32_t instance = 0;
    if (*triangle < 0)
        return -1;
    while (w->first[instance + 1] <= *triangle)
        instance++;
    *triangle -= w->first[instance];
    return instance;
}

/* Fails unless `got` has the numbers of `merged` by mesh and instance. */
static void compare_triangles(const world *w, const char *label, size_t count, const int32_t *merged,
                              const int32_t *got, const int32_t *instance)
{
    for (size_t i = 0; i < count; i++) {
        int32_t triangle = merged[i];
        const int32_t of = split(w, &triangle);
        if (got[i] != triangle || instance[i] != of)
            fail_msg("%s, %zu: triangle %d of instance %d, not %d of %d", label, i, got[i], instance[i], triangle, of);
    }
}

static void compare_first(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b,
                          carom_accuracy accuracy, const char *label)
{
    const hits expected = sweep_as(merged, b, accuracy);
    hits got = hits_alloc(b->count, 0x5a);
    int32_t *instance = test_alloc(b->count, sizeof *instance);
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    carom_mesh_hit_result result = hits_result(&got, 0);
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    result.instance = instance;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    compare_triangles(w, label, b->count, (const int32_t *)(const void *)expected.field[HIT_TRIANGLE].data,
                      result.triangle, instance);
    hits_compare(b, &expected, &got, b->count, ~(1 << HIT_TRIANGLE), label);
    free(instance);
    hits_free(&got);
    hits h = expected;
    hits_free(&h);
}

/* Columns of a list. */
typedef struct listed {
    uint64_t *offsets, *query;
    int32_t *triangle, *instance;
    float *t, *point;
    uint8_t *state, *feature;
    carom_list_totals totals;
} listed;

static listed listed_alloc(size_t count)
{
    return (listed){.offsets = test_alloc(count + 1, sizeof(uint64_t)),
                    .query = test_alloc(RECORDS, sizeof(uint64_t)),
                    .triangle = test_alloc(RECORDS, sizeof(int32_t)),
                    .instance = test_alloc(RECORDS, sizeof(int32_t)),
                    .t = test_alloc(RECORDS, sizeof(float)),
                    .point = test_alloc(RECORDS, 3 * sizeof(float)),
                    .state = test_alloc(RECORDS, 1),
                    .feature = test_alloc(RECORDS, 1)};
}

static void listed_free(listed *l)
{
    void *const all[] = {l->offsets, l->query, l->triangle, l->instance, l->t, l->point, l->state, l->feature};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        free(all[i]);
}

enum { LIST_OVERLAPS, LIST_ALL, LIST_FIRST, LISTS };

static void ask_list(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, int which, int points, int has,
                     listed *l)
{
    carom_error err = {0};
    carom_mesh_sweep_desc sweep = swept_spheres_desc(b, 0, b->count);
    carom_mesh_overlap_desc overlap = swept_spheres_at_rest(b, 0, b->count);
    carom_hit_list list = {.size = sizeof list,
                           .capacity = RECORDS,
                           .offsets = l->offsets,
                           .query = l->query,
                           .triangle = l->triangle,
                           .instance = has ? l->instance : NULL,
                           .totals = &l->totals};
    sweep.batch.accuracy = overlap.batch.accuracy = accuracy;
    if (which == LIST_OVERLAPS) {
        test_ok("carom_mesh_overlap_list", carom_mesh_overlap_list(mesh, &overlap, &list, NULL, &err), &err);
        return;
    }
    list.t = l->t;
    list.state = l->state;
    if (points) {
        list.feature = l->feature;
        list.point = (carom_points_out){l->point, l->point + 1, l->point + 2, 3 * sizeof(float)};
    }
    test_ok(
        "carom_mesh_sweep_list",
        carom_mesh_sweep_list(mesh, &sweep, which == LIST_ALL ? CAROM_HITS_ALL : CAROM_HITS_FIRST, &list, NULL, &err),
        &err);
}

static void compare_lists(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b,
                          carom_accuracy accuracy, const char *label)
{
    for (int which = 0; which < 2 * LISTS; which++) {
        listed one = listed_alloc(b->count), other = listed_alloc(b->count);
        ask_list(merged, b, accuracy, which % LISTS, which >= LISTS, 0, &one);
        ask_list(mesh, b, accuracy, which % LISTS, which >= LISTS, 1, &other);
        assert_int_equal(one.totals.total, other.totals.total);
        assert_true(one.totals.total <= RECORDS);
        const size_t count = (size_t)one.totals.total;
        compare_triangles(w, label, count, one.triangle, other.triangle, other.instance);
        assert_memory_equal(one.offsets, other.offsets, (b->count + 1) * sizeof *one.offsets);
        assert_memory_equal(one.query, other.query, count * sizeof *one.query);
        assert_memory_equal(one.t, other.t, count * sizeof *one.t);
        assert_memory_equal(one.state, other.state, count);
        assert_memory_equal(one.point, other.point, count * 3 * sizeof *one.point);
        assert_memory_equal(one.feature, other.feature, count);
        listed_free(&one);
        listed_free(&other);
    }
}

static void compare_any(carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy)
{
    uint8_t *one = test_alloc(b->count, 1), *other = test_alloc(b->count, 1);
    carom_error err = {0};
    carom_mesh_sweep_desc sweep = swept_spheres_desc(b, 0, b->count);
    carom_mesh_overlap_desc overlap = swept_spheres_at_rest(b, 0, b->count);
    sweep.batch.accuracy = overlap.batch.accuracy = accuracy;
    test_ok("any", carom_mesh_sweep_any(merged, &sweep, TEST_ANY(one), NULL, &err), &err);
    test_ok("any", carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(other), NULL, &err), &err);
    assert_memory_equal(one, other, b->count);
    test_ok("overlaps", carom_mesh_overlap_any(merged, &overlap, TEST_ANY(one), NULL, &err), &err);
    test_ok("overlaps", carom_mesh_overlap_any(mesh, &overlap, TEST_ANY(other), NULL, &err), &err);
    assert_memory_equal(one, other, b->count);
    free(one);
    free(other);
}

typedef struct nearest {
    int32_t *triangle, *instance;
    float *distance, *depth, *point;
    uint8_t *feature;
} nearest;

static nearest ask_closest(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, int has)
{
    carom_error err = {0};
    const size_t n = b->count;
    nearest a = {test_alloc(n, 4), test_alloc(n, 4),  test_alloc(n, 4),
                 test_alloc(n, 4), test_alloc(n, 12), test_alloc(n, 1)};
    carom_mesh_closest_desc desc = swept_spheres_closest(b, 0, n);
    const carom_mesh_closest_result out = {.size = sizeof out,
                                           .triangle = a.triangle,
                                           .distance = a.distance,
                                           .depth = a.depth,
                                           .point = {a.point, a.point + 1, a.point + 2, 12},
                                           .feature = a.feature,
                                           .instance = has ? a.instance : NULL};
    desc.batch.accuracy = accuracy;
    test_ok("carom_mesh_closest", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
    return a;
}

static void nearest_free(nearest *a)
{
    void *const all[] = {a->triangle, a->instance, a->distance, a->depth, a->point, a->feature};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        free(all[i]);
}

static void compare_closest(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b,
                            carom_accuracy accuracy, const char *label)
{
    nearest one = ask_closest(merged, b, accuracy, 0), other = ask_closest(mesh, b, accuracy, 1);
    compare_triangles(w, label, b->count, one.triangle, other.triangle, other.instance);
    assert_memory_equal(one.distance, other.distance, 4 * b->count);
    assert_memory_equal(one.depth, other.depth, 4 * b->count);
    assert_memory_equal(one.point, other.point, 12 * b->count);
    assert_memory_equal(one.feature, other.feature, b->count);
    nearest_free(&one);
    nearest_free(&other);
}

static void compare_all(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b, const char *label)
{
    for (carom_accuracy accuracy = CAROM_ACCURACY_FAST; accuracy <= CAROM_ACCURACY_EXACT; accuracy++) {
        compare_first(w, merged, mesh, b, accuracy, label);
        compare_lists(w, merged, mesh, b, accuracy, label);
        compare_any(merged, mesh, b, accuracy);
        compare_closest(w, merged, mesh, b, accuracy, label);
    }
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static swept_spheres make_spheres(uint64_t seed, size_t count, int options)
{
    swept_spheres b = swept_spheres_mixed(seed, test_effort(count));
    if (options == 1)
        b.cull_back = 1;
    if (options == 2)
        b.start = CAROM_START_SKIP;
    if (options == 3)
        swept_spheres_end(&b);
    if (options % 2 == 1)
        b.mask = random_masks(seed + 5, b.count);
    return b;
}

static void check_world(carom_context *scalar, carom_context *context, const world *w, const char *label)
{
    scene all = merge(w);
    carom_mesh *merged = scene_mesh(scalar, &all);
    carom_scene *made = make_scene(context, w);
    for (int options = 0; options < 4; options++) {
        swept_spheres b = make_spheres(SEED + (uint64_t)options, 300, options);
        compare_all(w, merged, carom_scene_mesh(made), &b, label);
        swept_spheres_free(&b);
    }
    carom_scene_destroy(made);
    carom_mesh_destroy(merged);
    scene_free(&all);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const size_t instances[] = {1, 2, 11, 200};
    for (size_t i = 0; i < COUNT_OF(instances); i++)
        for (int masks = 0; masks < 2; masks++) {
            world w = make_world(SEED + i, instances[i], instances[i] > 100 ? 6 : 1.5f, masks);
            check_world(scalar, context, &w, label);
            free_world(&w);
        }
}

/* Every instance at the same place: all distances and times are tied. */
static void test_ties(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2), *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    world w = make_world(SEED, 40, 0, 0);
    for (size_t i = 1; i < w.instances; i++)
        memcpy(w.map[i], w.map[0], sizeof *w.map);
    check_world(scalar, context, &w, "ties");
    free_world(&w);
    carom_context_destroy(context);
    carom_context_destroy(scalar);
}

/* Corners that round to a few units of the smallest number, by half a unit: outside the boxes of their nodes. */
static void test_subnormal(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2), *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    world w = make_world(SEED, 1, 0, 0);
    w.mesh[0] = 1;
    w.first[1] = (int32_t)w.meshes[1].triangle_count;
    for (size_t v = 0; v < 3 * w.meshes[1].vertex_count; v++)
        w.meshes[1].vertices[v] = 10.51f + 0.02f * w.meshes[1].vertices[v];
    memset(w.map[0], 0, sizeof *w.map);
    w.map[0][0] = w.map[0][5] = w.map[0][10] = 0x1p-149f;
    scene all = merge(&w);
    carom_mesh *merged = scene_mesh(scalar, &all);
    carom_scene *made = make_scene(context, &w);
    swept_spheres b = make_spheres(SEED, 200, 0);
    swept_spheres_scale(&b, -145, 0);
    compare_all(&w, merged, carom_scene_mesh(made), &b, "subnormal");
    swept_spheres_free(&b);
    carom_scene_destroy(made);
    carom_mesh_destroy(merged);
    scene_free(&all);
    free_world(&w);
    carom_context_destroy(context);
    carom_context_destroy(scalar);
}

static carom_context *cpu(void)
{
    return test_cpu(CAROM_ISA_AUTO, 2);
}

static void test_updates(void **state)
{
    (void)state;
    carom_context *context = cpu();
    world w = make_world(SEED + 7, 60, 2, 1);
    carom_scene *made = make_scene(context, &w);
    for (uint64_t step = 0; step < 4; step++) {
        carom_error err = {0};
        for (size_t i = 0; i < w.instances; i++)
            set_map(SEED + step, i + step, (float)step, w.map[i]);
        const carom_scene_pose pose = pose_of(&w);
        test_ok("carom_scene_update", carom_scene_update(made, &pose, &err), &err);
        scene all = merge(&w);
        carom_mesh *merged = scene_mesh(context, &all);
        swept_spheres b = make_spheres(SEED + step, 200, (int)step);
        compare_all(&w, merged, carom_scene_mesh(made), &b, "updated");
        swept_spheres_free(&b);
        carom_mesh_destroy(merged);
        scene_free(&all);
    }
    carom_scene_destroy(made);
    free_world(&w);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {SAME_BITS_ON_CPU(check_same), cmocka_unit_test(test_ties),
                                       cmocka_unit_test(test_subnormal), cmocka_unit_test(test_updates),
                                       SAME_BITS_ON_DEVICE(check_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
