/* SPDX-License-Identifier: MIT */
/* Bundles: K queries in a row have one answer. The expected ones are put together here, from single answers of scalar
 * code. */
#include "tests/support/sign_scenes.h"

#include <math.h>

enum { SEED = 311 };

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* A batch: spheres in which some are copies of others of the same bundle, and a selection of them. */
typedef struct bundled {
    swept_spheres b;
    size_t count;           /* queries */
    const uint32_t *select; /* NULL: none */
    carom_accuracy accuracy;
    carom_sign sign;
    carom_progress progress;
} bundled;

static size_t element_of(const bundled *q, size_t query)
{
    return q->select ? q->select[query] : query;
}

static int is_valid(const bundled *q, size_t query)
{
    const size_t i = element_of(q, query);
    float *const *column = q->b.column;
    return isfinite(column[0][i]) && isfinite(column[1][i]) && isfinite(column[2][i]) &&
           isfinite(column[SPHERE_RADIUS][i]) && column[SPHERE_RADIUS][i] >= 0;
}

static void set_batch(const bundled *q, carom_batch *batch)
{
    batch->count = q->count;
    batch->accuracy = q->accuracy;
    batch->progress = q->progress;
    if (q->select) {
        batch->select = carom_uints_of(q->select);
        batch->elements = q->b.count;
    }
}

/* Sphere i becomes the one two before it, in four of eleven places. */
static void repeat_spheres(swept_spheres *b)
{
    for (size_t i = 2; i < b->count; i++)
        for (int c = 0; i % 11 < 4 && c < SPHERE_COLUMNS; c++)
            b->column[c][i] = b->column[c][i - 2];
}

/* ---- any --------------------------------------------------------------------------------------------------------- */

/* The sweeps or overlaps of a batch; the caller frees the bytes. */
static uint8_t *ask_any(carom_mesh *mesh, const bundled *q, int overlaps, uint32_t bundle, carom_stats *stats)
{
    uint8_t *hit = test_alloc(q->count + 1, 1);
    carom_mesh_overlap_desc rest = swept_spheres_at_rest(&q->b, 0, q->b.count);
    carom_mesh_sweep_desc sweep = swept_spheres_desc(&q->b, 0, q->b.count);
    carom_error err = {0};
    set_batch(q, &rest.batch);
    set_batch(q, &sweep.batch);
    rest.sign = q->sign;
    rest.allow_open = 1;
    rest.bundle = sweep.bundle = bundle;
    memset(hit, 77, q->count + 1);
    *stats = (carom_stats){.size = sizeof *stats};
    test_ok("any",
            overlaps ? carom_mesh_overlap_any(mesh, &rest, TEST_ANY(hit), stats, &err)
                     : carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(hit), stats, &err),
            &err);
    assert_int_equal(hit[bundle > 1 ? q->count / bundle : q->count], 77);
    return hit;
}

/* The queries that were answered where they should be: on the device, but for solid angles and scenes. */
static uint64_t on_expected(const carom_stats *stats, const bundled *q, int of_scene)
{
    return test_on_device() && q->sign != CAROM_SIGN_ROBUST && !of_scene ? stats->on_device : stats->on_cpu;
}

static void check_any(carom_mesh *scalar, carom_mesh *mesh, const bundled *q, int overlaps, uint32_t bundle,
                      const char *label)
{
    carom_stats stats;
    uint8_t *single = ask_any(scalar, q, overlaps, 0, &stats), *got = ask_any(mesh, q, overlaps, bundle, &stats);
    assert_int_equal(stats.queries, q->count);
    assert_int_equal(on_expected(&stats, q, 0), q->count);
    assert_int_equal(stats.by_proof + stats.by_integers, q->accuracy == CAROM_ACCURACY_EXACT ? q->count : 0);
    for (size_t i = 0; i < q->count / bundle; i++) {
        int has_hit = 0, has_invalid = 0;
        for (size_t k = i * bundle; k < (i + 1) * bundle; k++) {
            has_hit |= single[k] == 1;
            has_invalid |= single[k] == CAROM_OVERLAP_INVALID;
        }
        const int expected = has_hit ? 1 : has_invalid ? CAROM_OVERLAP_INVALID : 0;
        if (got[i] != expected)
            fail_msg("%s: %s of bundle %zu of %u: %d, expected %d", label, overlaps ? "overlaps" : "sweeps", i, bundle,
                     got[i], expected);
    }
    free(single);
    free(got);
}

/* ---- closest points ---------------------------------------------------------------------------------------------- */

enum { TRIANGLE, DISTANCE, DEPTH, X, GX = X + 3, INSTANCE = GX + 3, WORDS };
typedef struct near {
    uint32_t *word[WORDS]; /* floats as their bits */
    uint8_t *feature;
    int64_t *query;
} near;

static float *floats_of(const near *n, int word)
{
    return (float *)(void *)n->word[word];
}

static near ask_near(carom_mesh *mesh, const bundled *q, uint32_t bundle, int of_scene, carom_stats *stats)
{
    const size_t count = bundle > 1 ? q->count / bundle : q->count;
    near n = {.feature = test_alloc(count + 1, 1), .query = test_alloc(count + 1, sizeof *n.query)};
    carom_mesh_closest_desc desc = swept_spheres_closest(&q->b, 0, q->b.count);
    carom_error err = {0};
    for (int w = 0; w < WORDS; w++) {
        n.word[w] = test_alloc(count + 1, sizeof **n.word);
        n.word[w][count] = 0xa5a5a5a5;
    }
    const carom_mesh_closest_result out = {
        .size = sizeof out,
        .triangle = (int32_t *)n.word[TRIANGLE],
        .distance = floats_of(&n, DISTANCE),
        .depth = floats_of(&n, DEPTH),
        .point = {floats_of(&n, X), floats_of(&n, X + 1), floats_of(&n, X + 2), sizeof(float)},
        .gradient = {floats_of(&n, GX), floats_of(&n, GX + 1), floats_of(&n, GX + 2), sizeof(float)},
        .feature = n.feature,
        .instance = of_scene ? (int32_t *)n.word[INSTANCE] : NULL,
        .query = bundle > 0 ? n.query : NULL};
    set_batch(q, &desc.batch);
    desc.sign = q->sign;
    desc.allow_open = 1;
    desc.bundle = bundle;
    *stats = (carom_stats){.size = sizeof *stats};
    test_ok("closest", carom_mesh_closest(mesh, &desc, &out, stats, &err), &err);
    for (int w = 0; w < WORDS; w++)
        assert_int_equal(n.word[w][count], 0xa5a5a5a5);
    return n;
}

static void free_near(near *n)
{
    for (int w = 0; w < WORDS; w++)
        free(n->word[w]);
    free(n->feature);
    free(n->query);
}

/* The query whose answer a bundle has; -1: all are invalid. */
static int64_t deepest(const bundled *q, const near *single, size_t first, uint32_t bundle)
{
    int64_t best = -1;
    for (size_t k = first; k < first + bundle; k++)
        if (is_valid(q, k) &&
            (best < 0 || float_of_bits(single->word[DEPTH][k]) > float_of_bits(single->word[DEPTH][best])))
            best = (int64_t)k;
    return best;
}

static void check_near(carom_mesh *scalar, carom_mesh *mesh, const bundled *q, uint32_t bundle, int of_scene,
                       const char *label)
{
    carom_stats stats;
    near single = ask_near(scalar, q, 0, of_scene, &stats), got = ask_near(mesh, q, bundle, of_scene, &stats);
    assert_int_equal(on_expected(&stats, q, of_scene), q->count);
    assert_int_equal(stats.by_proof + stats.by_integers, q->accuracy == CAROM_ACCURACY_EXACT ? q->count : 0);
    for (size_t i = 0; i < q->count / bundle; i++) {
        const int64_t best = deepest(q, &single, i * bundle, bundle);
        const size_t at = best < 0 ? i * bundle : (size_t)best; /* an invalid one */
        int same = got.query[i] == best && got.feature[i] == single.feature[at];
        for (int w = 0; w < WORDS; w++)
            same = same && got.word[w][i] == single.word[w][at];
        if (!same)
            fail_msg("%s: bundle %zu of %u: query %lld triangle %d depth %a, expected %lld %d %a", label, i, bundle,
                     (long long)got.query[i], (int)got.word[TRIANGLE][i], (double)float_of_bits(got.word[DEPTH][i]),
                     (long long)best, (int)single.word[TRIANGLE][at], (double)float_of_bits(single.word[DEPTH][at]));
    }
    free_near(&single);
    free_near(&got);
}

/* ---- the same answers -------------------------------------------------------------------------------------------- */

static void check_sizes(carom_mesh *scalar, carom_mesh *mesh, bundled *q, const uint32_t sizes[2], const char *label)
{
    for (size_t i = 0; i < 2; i++)
        for (int exact = 0; exact < 2; exact++) {
            q->accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
            q->sign = CAROM_SIGN_NONE;
            check_any(scalar, mesh, q, 0, sizes[i], label);
            check_any(scalar, mesh, q, 1, sizes[i], label);
            check_near(scalar, mesh, q, sizes[i], 0, label);
            q->sign = i % 2 ? CAROM_SIGN_PARITY : CAROM_SIGN_WINDING;
            check_any(scalar, mesh, q, 1, sizes[i], label);
            check_near(scalar, mesh, q, sizes[i], 0, label);
        }
}

/* Whole batches, selections and a bundle that is the whole batch; masks and largest distances. */
static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const uint32_t sizes[4][2] = {{1, 20}, {5, 60}, {2, 30}, {20, 3}};
    const size_t count = 60 * test_effort(8);
    for (size_t i = 0; i < 4; i++) {
        scene s = i == 0   ? sign_scenes[0].make()
                  : i == 1 ? scene_hollow()
                           : scene_sphere(i == 2 ? 4 : 60 /* its queries are sorted */);
        bundled q = {.b = i < 2 ? sign_centres(&s, count) : swept_spheres_mixed(SEED + i, count), .count = count};
        uint32_t *order = random_order(SEED, count);
        repeat_spheres(&q.b);
        q.b.mask = i % 2 ? random_masks(SEED + i, count) : NULL;
        s.masks = i % 2 ? random_masks(SEED, s.triangle_count) : NULL;
        if (i >= 2)
            q.b.max_distance = random_limits(SEED + i, count);
        carom_mesh *expected = scene_mesh(scalar, &s), *mesh = scene_mesh(context, &s);
        q.select = i % 2 ? order : NULL;
        check_sizes(expected, mesh, &q, sizes[i], label);
        q.sign = CAROM_SIGN_NONE;
        check_any(expected, mesh, &q, 1, (uint32_t)count, label);
        check_near(expected, mesh, &q, (uint32_t)count, 0, label);
        carom_mesh_destroy(expected);
        carom_mesh_destroy(mesh);
        free(order);
        swept_spheres_free(&q.b);
        scene_free(&s);
    }
}

/* Two instances of a sphere; one moves during sweeps in the end. */
static void test_scene(void **state)
{
    static const float maps[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {1, 0, 0, 1.5f, 0, 2, 0, 0, 0, 0, 1, 0}};
    static const uint32_t numbers[2] = {0, 0};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    scene s = scene_sphere(5);
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_scene_desc desc = {.size = sizeof desc,
                                   .meshes = &mesh,
                                   .mesh_count = 1,
                                   .mesh = carom_uints_of(numbers),
                                   .instance_count = 2,
                                   .pose = {.size = sizeof desc.pose, .map = maps[0]}};
    carom_scene *instances;
    carom_error err = {0};
    bundled q = {.b = swept_spheres_mixed(SEED, 1200), .count = 1200};
    (void)state;
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &instances, &err), &err);
    carom_mesh *of_scene = carom_scene_mesh(instances);
    for (int exact = 0; exact < 2; exact++) {
        q.accuracy = (carom_accuracy)exact;
        check_any(of_scene, of_scene, &q, exact, 8, "scene");
        check_near(of_scene, of_scene, &q, 8, 1, "scene");
    }
    /* Sweeps of instances that move. */
    static const float velocities[2][3] = {{0.5f, -2, 1}, {0, 0, 0}};
    carom_scene_pose moving = desc.pose;
    moving.velocity = carom_xyz(velocities[0]);
    test_ok("carom_scene_update", carom_scene_update(instances, &moving, &err), &err);
    for (int exact = 0; exact < 2; exact++) {
        q.accuracy = (carom_accuracy)exact;
        check_any(of_scene, of_scene, &q, 0, 8, "moving scene");
    }
    swept_spheres_free(&q.b);
    carom_scene_destroy(instances);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Without triangles nothing is hit, and the lowest valid query has the answer. */
static void test_empty(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_unit_box();
    bundled q = {.b = swept_spheres_mixed(SEED, 400), .count = 400};
    (void)state;
    s.triangle_count = 0;
    carom_mesh *mesh = scene_mesh(context, &s);
    for (size_t i = 0; i < 8; i++) /* two bundles without a valid query */
        q.b.column[0][i] = (float)NAN;
    check_any(mesh, mesh, &q, 0, 4, "empty");
    check_any(mesh, mesh, &q, 1, 4, "empty");
    check_near(mesh, mesh, &q, 4, 0, "empty");
    swept_spheres_free(&q.b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* Spheres of radius 1 over a floor, whose depths all round to 1: the lowest number wins, even if another is nearer and
 * is searched first. In many bundles, so that a round has one query of each. */
static void test_ties(void **state)
{
    enum { SIZE = 5, BUNDLES = 40 };
    static const float height[SIZE] = {0.5f, 0x1p-25f, 0x1p-26f, 0, 0};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_floor(8);
    carom_mesh *mesh = scene_mesh(context, &s);
    bundled q = {.b = swept_spheres_alloc(SIZE * BUNDLES), .count = SIZE * BUNDLES};
    carom_stats stats;
    (void)state;
    for (size_t i = 0; i < q.count; i++) {
        q.b.column[0][i] = 0.01f * (float)(i / SIZE);
        q.b.column[1][i] = 0.3f;
        q.b.column[2][i] = height[i % SIZE];
        q.b.column[SPHERE_RADIUS][i] = 1;
    }
    for (int exact = 0; exact < 2; exact++) {
        q.accuracy = (carom_accuracy)exact;
        near got = ask_near(mesh, &q, SIZE, 0, &stats);
        for (size_t i = 0; i < BUNDLES; i++) {
            assert_int_equal(got.query[i], SIZE * i + 1);
            assert_true(float_of_bits(got.word[DISTANCE][i]) == 0x1p-25f);
            assert_true(float_of_bits(got.word[DEPTH][i]) == 1);
        }
        free_near(&got);
    }
    swept_spheres_free(&q.b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* The rest of a bundle with a hit is not searched: spheres that touch exactly, which integers decide. */
static void test_early_end(void **state)
{
    enum { SIZE = 16, BUNDLES = 64 };
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_floor(3);
    carom_mesh *mesh = scene_mesh(context, &s);
    bundled q = {.b = swept_spheres_alloc(SIZE * BUNDLES), .count = SIZE * BUNDLES, .accuracy = CAROM_ACCURACY_EXACT};
    carom_stats single, bundles;
    (void)state;
    for (size_t i = 0; i < q.count; i++) {
        q.b.column[0][i] = 0.37f;
        q.b.column[1][i] = 0.41f;
        q.b.column[2][i] = q.b.column[SPHERE_RADIUS][i] = 0.3f;
    }
    free(ask_any(mesh, &q, 1, 0, &single));
    free(ask_any(mesh, &q, 1, SIZE, &bundles));
    const uint64_t each = single.by_second_filter + single.by_integers;
    assert_int_equal(each, q.count);
    assert_int_equal(bundles.by_second_filter + bundles.by_integers, BUNDLES);
    swept_spheres_free(&q.b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

typedef struct reports {
    uint64_t bundle, last, end_after;
    int count;
} reports;

static int note(void *user, uint64_t done, uint64_t count)
{
    reports *r = user;
    (void)count;
    assert_int_equal(done % r->bundle, 0);
    r->count += done > r->last; /* others tell that time has passed */
    r->last = done;
    return done >= r->end_after;
}

/* Reports come between bundles, and a batch that ends early has the answers before its last report. Most queries are
 * invalid, which costs next to nothing. */
static void test_progress(void **state)
{
    enum { SIZE = 3000, BUNDLES = 200 };
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    scene s = scene_sphere(3);
    carom_mesh *mesh = scene_mesh(context, &s);
    bundled q = {.b = swept_spheres_alloc(SIZE * BUNDLES), .count = SIZE * BUNDLES};
    reports r = {SIZE, 0, UINT64_MAX, 0};
    carom_error err = {0};
    (void)state;
    for (size_t i = 0; i < q.count; i++)
        q.b.column[SPHERE_RADIUS][i] = i % 1499 == 7 ? 0.25f : -1.0f;
    for (size_t i = 0; i < q.count; i += 2 * SIZE)
        q.b.column[SPHERE_RADIUS][i + SIZE / 2] = 2;
    uint8_t hit[BUNDLES + 1];
    carom_stats stats;
    check_any(mesh, mesh, &q, 1, SIZE, "without reports");
    uint8_t *whole = ask_any(mesh, &q, 1, SIZE, &stats);
    q.progress = (carom_progress){note, &r};
    uint8_t *reported = ask_any(mesh, &q, 1, SIZE, &stats);
    assert_memory_equal(whole, reported, BUNDLES);
    assert_true(r.count > 1 && r.last == q.count);
    r.last = 0;
    r.count = 0;
    carom_mesh_overlap_desc desc = swept_spheres_at_rest(&q.b, 0, q.count);
    desc.bundle = SIZE;
    desc.batch.progress = (carom_progress){note, &r};
    r.end_after = 1;
    memset(hit, 77, sizeof hit);
    test_error(carom_mesh_overlap_any(mesh, &desc, TEST_ANY(hit), NULL, &err), CAROM_ERROR_CANCELLED, &err, "query");
    assert_int_equal(r.count, 1);
    assert_true(r.last < q.count);
    assert_memory_equal(hit, whole, r.last / SIZE);
    assert_int_equal(hit[BUNDLES], 77);
    free(whole);
    free(reported);
    swept_spheres_free(&q.b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- jobs and buffers -------------------------------------------------------------------------------------------- */

/* A job answers bundles, into buffers that are no longer than the answers. */
static void test_job(void **state)
{
    enum { COUNT = 1500, SIZE = 5 };
    carom_context *context = test_context();
    scene s = scene_sphere(4);
    carom_mesh *mesh = scene_mesh(context, &s);
    bundled q = {.b = swept_spheres_mixed(SEED, COUNT), .count = COUNT};
    const carom_buffer_desc of_bytes = {.size = sizeof of_bytes, .bytes = COUNT / SIZE, .where = CAROM_BUFFER_DEVICE};
    carom_mesh_overlap_desc desc = swept_spheres_at_rest(&q.b, 0, COUNT);
    carom_buffer *buffer;
    carom_job *job = NULL;
    carom_stats stats;
    carom_error err = {0};
    uint8_t got[COUNT / SIZE];
    (void)state;
    uint8_t *expected = ask_any(mesh, &q, 1, SIZE, &stats);
    test_ok("a buffer", carom_buffer_create(context, &of_bytes, &buffer, &err), &err);
    const carom_any_result out = {.size = sizeof out, .hit = carom_buffer_address(buffer)};
    desc.bundle = SIZE;
    desc.batch.job = &job;
    test_ok("a job", carom_mesh_overlap_any(mesh, &desc, &out, NULL, &err), &err);
    test_ok("its end", carom_job_wait(job, (double)INFINITY, &err), &err);
    test_ok("its answers", carom_buffer_read(buffer, 0, got, sizeof got, &err), &err);
    assert_memory_equal(expected, got, sizeof got);
    carom_job_destroy(job);
    carom_buffer_destroy(buffer);
    free(expected);
    swept_spheres_free(&q.b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- refused, and while memory is short -------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    carom_context *context = test_context();
    scene s = scene_unit_box();
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_mixed(SEED, 7);
    carom_mesh_sweep_desc sweep = swept_spheres_desc(&b, 0, b.count);
    carom_mesh_overlap_desc rest = swept_spheres_at_rest(&b, 0, b.count);
    carom_mesh_closest_desc closest = swept_spheres_closest(&b, 0, b.count);
    const carom_mesh_closest_result near_out = {.size = sizeof near_out};
    const carom_mesh_hit_result first = {.size = sizeof first};
    carom_list_totals totals;
    const carom_hit_list list = {.size = sizeof list, .totals = &totals};
    uint8_t hit[8];
    carom_error err;
    const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;
    (void)state;
    sweep.bundle = rest.bundle = closest.bundle = 3;
    test_error(carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(hit), NULL, &err), bad, &err,
               "batch.count is 7; it must be");
    test_error(carom_mesh_overlap_any(mesh, &rest, TEST_ANY(hit), NULL, &err), bad, &err,
               "multiple of bundle, which is 3");
    test_error(carom_mesh_closest(mesh, &closest, &near_out, NULL, &err), bad, &err, "batch.count is 7; it must be");
    test_error(carom_mesh_sweep_first(mesh, &sweep, &first, NULL, &err), bad, &err, "bundle is 3; it must be 0 or 1");
    test_error(carom_mesh_overlap_list(mesh, &rest, &list, NULL, &err), bad, &err, "bundle is 3; it must be 0 or 1");
    for (int which = 0; which < 2; which++)
        test_error(carom_mesh_sweep_list(mesh, &sweep, (carom_hits)which, &list, NULL, &err), bad, &err, "bundle is 3");
    sweep.batch.count = 0;
    test_ok("no queries", carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(hit), NULL, &err), &err);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* An allocator whose allocation number `fail_at` fails. */
typedef struct short_memory {
    size_t live, calls, fail_at;
} short_memory;

static void *alloc_short(void *user, size_t size, size_t alignment)
{
    short_memory *m = user;
    (void)alignment;
    void *memory = ++m->calls == m->fail_at ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
    m->live += memory != NULL;
    return memory;
}

static void free_short(void *user, void *memory)
{
    ((short_memory *)user)->live -= memory != NULL;
    free(memory);
}

static carom_status ask_short(carom_mesh *mesh, const bundled *q, int is_any, carom_error *err)
{
    carom_mesh_overlap_desc rest = swept_spheres_at_rest(&q->b, 0, q->b.count);
    carom_mesh_closest_desc closest = swept_spheres_closest(&q->b, 0, q->b.count);
    float depth[400];
    uint8_t hit[400];
    const carom_mesh_closest_result out = {.size = sizeof out, .depth = depth};
    set_batch(q, &rest.batch);
    set_batch(q, &closest.batch);
    rest.bundle = closest.bundle = 4;
    return is_any ? carom_mesh_overlap_any(mesh, &rest, TEST_ANY(hit), NULL, err)
                  : carom_mesh_closest(mesh, &closest, &out, NULL, err);
}

/* Each allocation fails once: the call fails, leaves nothing behind and succeeds afterwards. */
static void test_short_memory(void **state)
{
    short_memory memory = {0, 0, SIZE_MAX};
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context;
    carom_error err = {0};
    scene s = scene_sphere(3);
    bundled q = {.b = swept_spheres_mixed(SEED, 1600), .count = 1600};
    uint32_t *order = random_order(SEED, q.count);
    (void)state;
    q.select = order;
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 1;
    desc.allocator = (carom_allocator){alloc_short, free_short, &memory};
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    carom_mesh *mesh = scene_mesh(context, &s);
    for (int is_any = 0; is_any < 2; is_any++) {
        int failures = 0, succeeds = 0;
        for (size_t fail = 1; fail < 50 && !succeeds; fail++) {
            const size_t live = memory.live;
            memory.calls = 0;
            memory.fail_at = fail;
            const carom_status status = ask_short(mesh, &q, is_any, &err);
            succeeds = status == CAROM_OK && memory.calls < fail;
            failures += status == CAROM_ERROR_OUT_OF_MEMORY;
            assert_true(status == CAROM_OK || status == CAROM_ERROR_OUT_OF_MEMORY);
            assert_true(memory.live >= live); /* blocks may be cached */
            if (status != CAROM_OK)
                assert_int_equal(memory.live, live);
        }
        assert_true(succeeds && failures >= 3);
    }
    memory.fail_at = SIZE_MAX;
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    assert_int_equal(memory.live, 0);
    free(order);
    swept_spheres_free(&q.b);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        cmocka_unit_test(test_scene),        cmocka_unit_test(test_empty),    cmocka_unit_test(test_ties),
        cmocka_unit_test(test_early_end),    cmocka_unit_test(test_progress), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_short_memory), cmocka_unit_test(test_job),      SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {SAME_BITS_ON_DEVICE(check_same), cmocka_unit_test(test_refused),
                                           cmocka_unit_test(test_job)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
