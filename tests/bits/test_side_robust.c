/* SPDX-License-Identifier: MIT */
/* Sign rule `robust` at centres: against sums of solid angles in long double over the triangles that a query selects;
 * the side of a volume's node at the same place, of any instruction set, number of threads and part of a batch; and of
 * `winding` on closed meshes. Cancelling, limits of masks, memory. */
#include "reference/mesh.h"
#include "tests/support/closest_answers.h"
#include "tests/support/mesh_oracle.h"
#include "tests/support/open_scenes.h"

#include <math.h>

enum { SEED = 227, FIRST_PIECE = 1 << 8, MASKS_MOST = 32 };

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* Answers with gradients. */
typedef struct body_answers {
    closest_results closest;
    float *gradient; /* x y z */
} body_answers;

static carom_status try_closest(carom_mesh *mesh, const carom_mesh_closest_desc *desc, const body_answers *to,
                                size_t first, carom_error *err)
{
    carom_mesh_closest_result out = closest_results_result(&to->closest, first);
    out.gradient = carom_xyz_out(to->gradient + 3 * first);
    return carom_mesh_closest(mesh, desc, &out, NULL, err);
}

static body_answers ask_signed(carom_mesh *mesh, const swept_spheres *b, carom_sign sign, int exact)
{
    body_answers body = {closest_results_alloc(b->count, 0xa5), test_alloc(3 * b->count + 3, sizeof(float))};
    carom_error err = {0};
    for (size_t part = 0; part < 2; part++) { /* two parts of the batch */
        const size_t first = part == 0 ? 0 : b->count / 3, end = part == 0 ? b->count / 3 : b->count;
        carom_mesh_closest_desc desc = swept_spheres_closest(b, first, end - first);
        desc.batch.accuracy = (carom_accuracy)exact;
        desc.sign = sign;
        test_ok("carom_mesh_closest", try_closest(mesh, &desc, &body, first, &err), &err);
    }
    return body;
}

static void free_answers(body_answers *body)
{
    closest_results_free(&body->closest);
    free(body->gradient);
}

static float distance_of(const body_answers *body, size_t i)
{
    return near_float(&body->closest, NEAR_DISTANCE, i);
}

/* Fails unless `got` is `plain`, with the sign of its distance. Returns whether that is minus. */
static int check_turned(const swept_spheres *b, const body_answers *plain, const body_answers *got, size_t i,
                        const char *name)
{
    const float magnitude = distance_of(plain, i);
    const int is_turned = distance_of(got, i) < 0;
    const float distance = is_turned ? -magnitude : magnitude;
    const float depth = is_turned ? b->column[SPHERE_RADIUS][i] - distance : near_float(&plain->closest, NEAR_DEPTH, i);
    int same = bits_of_float(distance) == bits_of_float(distance_of(got, i)) &&
               bits_of_float(depth) == bits_of_float(near_float(&got->closest, NEAR_DEPTH, i));
    for (size_t k = 3 * i; k < 3 * i + 3; k++)
        same = same && bits_of_float(is_turned ? 0 - plain->gradient[k] : plain->gradient[k]) ==
                           bits_of_float(got->gradient[k]);
    if (!same)
        closest_results_print(b, &got->closest, i, name);
    assert_true(same);
    return is_turned;
}

/* ---- against sums ------------------------------------------------------------------------------------------------ */

/* By how much the winding number at a centre is more than 1/2. */
static double beyond_half(const scene *s, const swept_spheres *b, size_t i)
{
    uint32_t *masks = test_alloc(s->triangle_count + 1, sizeof *masks);
    ref_mesh mesh = oracle_mesh(s);
    const float p[3] = {b->column[0][i], b->column[1][i], b->column[2][i]};
    for (size_t t = 0; t < s->triangle_count; t++)
        masks[t] = (s->masks != NULL ? s->masks[t] : UINT32_MAX) & (b->mask != NULL ? b->mask[i] : UINT32_MAX);
    mesh.masks = masks;
    const double beyond = fabs((double)ref_mesh_winding(&mesh, p)) - 0.5;
    free(masks);
    return beyond;
}

/* Exact mode against the sums; fast mode has its sides. Returns the number of centres inside. */
static size_t check_scene(carom_context *context, const scene *s, const swept_spheres *b, const char *name)
{
    carom_mesh *mesh = scene_mesh(context, s);
    size_t inside = 0;
    body_answers got[2];
    for (int exact = 0; exact < 2; exact++) {
        body_answers plain = ask_signed(mesh, b, CAROM_SIGN_NONE, exact);
        got[exact] = ask_signed(mesh, b, CAROM_SIGN_ROBUST, exact);
        closest_results_compare(b, &plain.closest, &got[exact].closest, b->count,
                                ~(1 << NEAR_DISTANCE | 1 << NEAR_DEPTH), name);
        for (size_t i = 0; i < b->count; i++)
            (void)check_turned(b, &plain, &got[exact], i, name);
        free_answers(&plain);
    }
    for (size_t i = 0; i < b->count; i++) {
        const float distance = distance_of(&got[1], i), in_fast = distance_of(&got[0], i);
        int is_valid = b->column[SPHERE_RADIUS][i] >= 0;
        for (int k = 0; k < 3; k++)
            is_valid = is_valid && isfinite(b->column[k][i]);
        const double beyond = is_valid ? beyond_half(s, b, i) : -0.5;
        inside += distance < 0;
        if (distance != 0 && fabs(beyond) > 0x1p-20 && (distance < 0) != (beyond > 0))
            fail_msg("%s: centre %zu at %a %a %a: %g, the winding number is %g more than 1/2", name, i,
                     (double)b->column[0][i], (double)b->column[1][i], (double)b->column[2][i], (double)distance,
                     beyond);
        if (distance != 0 && in_fast != 0 && (distance < 0) != (in_fast < 0))
            fail_msg("%s: centre %zu: %g, in fast mode %g", name, i, (double)distance, (double)in_fast);
    }
    free_answers(&got[0]);
    free_answers(&got[1]);
    carom_mesh_destroy(mesh);
    return inside;
}

static void test_sums(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < OPEN_SCENES; i++) {
        scene s = open_scenes[i].make();
        swept_spheres b = sign_centres(&s, 80 + test_effort(500));
        const size_t inside = check_scene(context, &s, &b, open_scenes[i].name);
        assert_true(i >= OPEN_BODIES || (inside > 0 && inside < b.count));
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* A mask of triangle or query `i`: none, some or all of five bits. */
static uint32_t mask_of(size_t i)
{
    static const uint32_t masks[] = {1, 2, 3, 0, UINT32_MAX, 1u << 31, 4 | 1u << 31, 6};
    return masks[i * 2654435761u >> 7 & 7];
}

/* Each query has a mesh of its own, of the triangles that it selects. A mask of 0 selects none of a mesh without masks,
 * too. */
static void test_masks(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < OPEN_SCENES; i += 2) {
        scene s = open_scenes[i].make();
        swept_spheres b = sign_centres(&s, 40 + test_effort(500));
        b.mask = test_alloc(b.count, sizeof *b.mask);
        for (size_t q = 0; q < b.count; q++)
            b.mask[q] = mask_of(q);
        if (i % 4 == 0 && s.masks == NULL) {
            s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
            for (size_t t = 0; t < s.triangle_count; t++)
                s.masks[t] = mask_of(t) | (t % 5 != 0 ? 3 : 0);
        }
        (void)check_scene(context, &s, &b, open_scenes[i].name);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* ---- one side for each place ------------------------------------------------------------------------------------- */

/* The nodes of volumes, asked one by one; of meshes with masks by queries that have all bits, too. The box's opening is
 * in a plane of nodes, where its winding number is 1/2. */
static void test_volumes(void **state)
{
    carom_context *context = test_context();
    static const carom_lattice whole = {{-1.25, -1.25, -1.25}, 0.25, {11, 11, 11}, {0}};
    (void)state;
    for (size_t i = 0; i < OPEN_SCENES + 4; i++) {
        scene s = open_scenes[i % OPEN_SCENES].make();
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_lattice lattice = i < OPEN_SCENES ? whole : lattice_around(&s, 9);
        carom_mesh_distance_desc desc = volume_desc(&lattice, CAROM_ACCURACY_EXACT);
        desc.sign = CAROM_SIGN_ROBUST;
        volume v = volume_ask(mesh, &desc, NULL);
        swept_spheres b = swept_spheres_alloc(v.count);
        b.mask = i % 2 == 0 ? test_alloc(v.count, sizeof *b.mask) : NULL;
        for (size_t n = 0; n < v.count; n++) {
            float p[3];
            lattice_node(&lattice, n, p);
            for (int k = 0; k < 3; k++)
                b.column[k][n] = p[k];
            if (b.mask != NULL)
                b.mask[n] = UINT32_MAX;
        }
        body_answers got = ask_signed(mesh, &b, CAROM_SIGN_ROBUST, 1);
        for (size_t n = 0; n < v.count; n++)
            if (bits_of_float(distance_of(&got, n)) != bits_of_float(volume_distance(&v, n)))
                fail_msg("%s, node %zu: %g, in a volume %g", open_scenes[i % OPEN_SCENES].name, n,
                         (double)distance_of(&got, n), (double)volume_distance(&v, n));
        free_answers(&got);
        swept_spheres_free(&b);
        volume_free(&v);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Where winding takes the mesh, the answers are its own, bit for bit. */
static void test_closed(void **state)
{
    carom_context *context = test_context();
    size_t closed = 0;
    (void)state;
    for (size_t i = 0; i < SIGN_SCENES; i++) {
        scene s = sign_scenes[i].make();
        swept_spheres b = sign_centres(&s, 40 + test_effort(1000));
        carom_mesh *mesh = scene_mesh(context, &s);
        body_answers winding = {closest_results_alloc(b.count, 0xa5), test_alloc(3 * b.count, sizeof(float))};
        carom_mesh_closest_desc desc = swept_spheres_closest(&b, 0, b.count);
        carom_error err;
        desc.batch.accuracy = (carom_accuracy)(i % 2);
        desc.sign = CAROM_SIGN_WINDING;
        if (try_closest(mesh, &desc, &winding, 0, &err) == CAROM_OK) {
            body_answers robust = ask_signed(mesh, &b, CAROM_SIGN_ROBUST, i % 2);
            closest_results_compare(&b, &winding.closest, &robust.closest, b.count, -1, sign_scenes[i].name);
            assert_memory_equal(winding.gradient, robust.gradient, 3 * b.count * sizeof(float));
            free_answers(&robust);
            closed++;
        }
        free_answers(&winding);
        carom_mesh_destroy(mesh);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    assert_true(closed >= 8);
    carom_context_destroy(context);
}

/* A sphere overlaps if its surface does, or if its centre is inside. */
static void test_overlaps(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < OPEN_SCENES; i++) {
        scene s = open_scenes[i].make();
        swept_spheres b = sign_centres(&s, 40 + test_effort(1000));
        carom_mesh *mesh = scene_mesh(context, &s);
        uint8_t *hit = test_alloc(2 * b.count, 1);
        free(b.max_distance);
        b.max_distance = NULL;
        body_answers sides = ask_signed(mesh, &b, CAROM_SIGN_ROBUST, 1);
        for (int is_body = 0; is_body < 2; is_body++) {
            carom_mesh_overlap_desc desc = swept_spheres_at_rest(&b, 0, b.count);
            const carom_any_result out = {.size = sizeof out, .hit = hit + (size_t)is_body * b.count};
            carom_error err;
            desc.batch.accuracy = CAROM_ACCURACY_EXACT;
            desc.sign = is_body ? CAROM_SIGN_ROBUST : CAROM_SIGN_NONE;
            test_ok("carom_mesh_overlap_any", carom_mesh_overlap_any(mesh, &desc, &out, NULL, &err), &err);
        }
        for (size_t q = 0; q < b.count; q++)
            assert_int_equal(hit[b.count + q], hit[q] == 0 && distance_of(&sides, q) < 0 ? 1 : hit[q]);
        free(hit);
        free_answers(&sides);
        carom_mesh_destroy(mesh);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t i = 0; i < OPEN_SCENES; i += i == 2 ? 2 : 1) { /* the torus of soup takes as long as all others */
        scene s = open_scenes[i].make();
        swept_spheres b = sign_centres(&s, 60 + test_effort(2000));
        carom_mesh *expected_of = scene_mesh(scalar, &s), *got_of = scene_mesh(context, &s);
        body_answers expected = ask_signed(expected_of, &b, CAROM_SIGN_ROBUST, i % 2),
                     got = ask_signed(got_of, &b, CAROM_SIGN_ROBUST, i % 2);
        closest_results_compare(&b, &expected.closest, &got.closest, b.count, -1, label);
        assert_memory_equal(expected.gradient, got.gradient, 3 * b.count * sizeof(float));
        free_answers(&expected);
        free_answers(&got);
        carom_mesh_destroy(expected_of);
        carom_mesh_destroy(got_of);
        swept_spheres_free(&b);
        scene_free(&s);
    }
}

/* ---- the number of masks ----------------------------------------------------------------------------------------- */

/* Query q has one of `count` sets of bits, from `first` on. */
static carom_status ask_few(carom_mesh *mesh, uint32_t first, uint32_t count, carom_progress progress, float *distance,
                            carom_error *err)
{
    float x[64], zeros[64] = {0};
    uint32_t mask[64];
    for (uint32_t q = 0; q < 64; q++) {
        x[q] = (float)q / 32 - 1;
        mask[q] = first + q % count;
    }
    const carom_mesh_closest_desc desc = {.batch = {.size = sizeof desc, .count = 64, .progress = progress},
                                          .center = {x, zeros, zeros, 4},
                                          .mask = carom_uints_of(mask),
                                          .sign = CAROM_SIGN_ROBUST};
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    return carom_mesh_closest(mesh, &desc, &out, NULL, err);
}

static carom_status ask_many(carom_mesh *mesh, uint32_t first, uint32_t count, float *distance, carom_error *err)
{
    return ask_few(mesh, first, count, (carom_progress){0}, distance, err);
}

/* A call takes 32 masks, and says so of more. A mesh that has been asked for others before has the same answers. Bits
 * that no triangle has make no difference. */
static void test_many_masks(void **state)
{
    carom_context *context = test_context();
    scene s = open_torus();
    (void)state;
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t t = 0; t < s.triangle_count; t++)
        s.masks[t] = (uint32_t)t % 63 + 1; /* all six bits */
    carom_mesh *mesh = scene_mesh(context, &s);
    float got[64], expected[64];
    carom_error err;
    uint64_t bytes = 0;
    for (uint32_t first = 1; first < 64; first += 7) {
        const uint32_t count = first + MASKS_MOST <= 64 ? MASKS_MOST : 64 - first;
        carom_mesh *fresh = scene_mesh(context, &s);
        test_ok("again", ask_many(mesh, first, count, got, &err), &err);
        test_ok("at first", ask_many(fresh, first, count, expected, &err), &err);
        assert_memory_equal(expected, got, sizeof got);
        carom_mesh_destroy(fresh);
        const uint64_t now = test_mesh_info(mesh).bytes;
        bytes = bytes > now ? bytes : now;
    }
    test_error(ask_many(mesh, 1, MASKS_MOST + 1, got, &err), CAROM_ERROR_UNSUPPORTED, &err, "at most 32 such masks");
    test_error(ask_many(mesh, 1, MASKS_MOST + 1, got, &err), CAROM_ERROR_UNSUPPORTED, &err, "query 32: its mask");
    test_ok("64 and more are no bits", ask_many(mesh, 64, 1, got, &err), &err);
    for (int q = 0; q < 64; q++)
        assert_true(got[q] == INFINITY);
    const carom_uints all = {0};
    test_ok("no masks", carom_mesh_set_masks(mesh, &all, &err), &err);
    test_ok("any bit is all", ask_many(mesh, 1, MASKS_MOST + 1, got, &err), &err);
    assert_true(test_mesh_info(mesh).bytes < bytes);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

typedef struct report {
    uint64_t done, end_at;
} report;

/* Ends the batch from `end_at` on. */
static int note(void *user, uint64_t done, uint64_t count)
{
    report *r = user;
    r->done = done;
    return done < count && done >= r->end_at;
}

/* The lower half of a sphere, each triangle with corners of its own: the closing is as large as the mesh. */
static scene half_sphere(void)
{
    scene from = scene_sphere(18), s = scene_alloc_apart(from.triangle_count);
    s.triangle_count = 0;
    for (size_t t = 0; t < from.triangle_count; t++) {
        float p[3][3];
        scene_triangle(&from, t, p);
        if (p[0][2] + p[1][2] + p[2][2] < 0)
            memcpy(s.vertices + 9 * s.triangle_count++, p, sizeof p);
    }
    scene_free(&from);
    return s;
}

/* The closings of several masks may take long: a call can end between them. */
static void test_cancel_early(void **state)
{
    carom_context *context = test_context();
    scene s = open_masked();
    report at_once = {0, 0};
    float distance[64];
    carom_error err;
    (void)state;
    for (size_t t = 0; t < s.triangle_count; t++)
        s.masks[t] = (uint32_t)t % 4;
    carom_mesh *mesh = scene_mesh(context, &s);
    test_error(ask_few(mesh, 1, 3, (carom_progress){note, &at_once}, distance, &err), CAROM_ERROR_CANCELLED, &err,
               "cancelled at query 0 of 64");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* The first piece is short, as the cost of centres is not known; a call that ends then has its answers. */
static void test_cancel(void **state)
{
    carom_context *context = test_context();
    scene s = half_sphere();
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_alloc(32 * FIRST_PIECE);
    report whole = {0, UINT64_MAX}, early = {0, 1};
    carom_mesh_closest_desc desc = swept_spheres_closest(&b, 0, b.count);
    carom_error err;
    (void)state;
    for (size_t i = 0; i < b.count; i++) /* in the plane of the rim: there the winding number is 1/2 */
        b.column[0][i] = (float)(i % 100) / 256;
    body_answers all = {closest_results_alloc(b.count, 0xa5), test_alloc(3 * b.count, sizeof(float))},
                 some = {closest_results_alloc(b.count, 0xa5), test_alloc(3 * b.count, sizeof(float))};
    desc.sign = CAROM_SIGN_ROBUST;
    desc.batch.progress = (carom_progress){note, &early};
    test_error(try_closest(mesh, &desc, &some, 0, &err), CAROM_ERROR_CANCELLED, &err, "cancelled at query 256");
    assert_int_equal(early.done, FIRST_PIECE);
    desc.batch.progress = (carom_progress){note, &whole};
    test_ok("to the end", try_closest(mesh, &desc, &all, 0, &err), &err);
    assert_int_equal(whole.done, b.count);
    closest_results_compare(&b, &all.closest, &some.closest, FIRST_PIECE, -1, "before it was cancelled");
    free_answers(&all);
    free_answers(&some);
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- changes, memory, nothing ------------------------------------------------------------------------------------ */

/* A mesh that has moved is closed anew; an empty one has no inside; a scene has no sign. */
static void test_changes(void **state)
{
    carom_context *context = test_context();
    scene s = open_box();
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = sign_centres(&s, 200);
    carom_error err;
    (void)state;
    body_answers got = ask_signed(mesh, &b, CAROM_SIGN_ROBUST, 1);
    free_answers(&got);
    for (size_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] *= i % 3 == 2 ? 0.3f : 0.7f;
    const carom_points moved = carom_xyz(s.vertices);
    test_ok("an update", carom_mesh_update(mesh, &moved, CAROM_MESH_AUTO, &err), &err);
    got = ask_signed(mesh, &b, CAROM_SIGN_ROBUST, 1);
    carom_mesh *fresh = scene_mesh(context, &s);
    body_answers expected = ask_signed(fresh, &b, CAROM_SIGN_ROBUST, 1);
    closest_results_compare(&b, &expected.closest, &got.closest, b.count, -1, "a box that has moved");
    free_answers(&got);
    free_answers(&expected);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(fresh);
    s.triangle_count = 0;
    mesh = scene_mesh(context, &s);
    got = ask_signed(mesh, &b, CAROM_SIGN_ROBUST, 1);
    for (size_t i = 0; i < b.count; i++)
        assert_true(distance_of(&got, i) == INFINITY);
    free_answers(&got);
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* An allocator of which one allocation fails. */
typedef struct short_memory {
    size_t calls, fail_at, live;
} short_memory;

static void *short_alloc(void *user, size_t size, size_t alignment)
{
    short_memory *memory = user;
    if (++memory->calls == memory->fail_at)
        return NULL;
    memory->live++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void short_free(void *user, void *block)
{
    ((short_memory *)user)->live--;
    free(block);
}

/* Each allocation of a call with three masks fails once: the call says so or does without, nothing leaks, and the next
 * call has the answer. */
static void test_memory(void **state)
{
    short_memory memory = {0};
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context;
    carom_error err = {0};
    scene s = open_masked();
    float expected[64], got[64];
    size_t failures = 0;
    (void)state;
    for (size_t t = 0; t < s.triangle_count; t++)
        s.masks[t] = (uint32_t)t % 4;
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 1;
    desc.allocator = (carom_allocator){short_alloc, short_free, &memory};
    test_ok("a context", carom_context_create(&desc, &context, &err), &err);
    for (size_t fail_at = 0, failed = 1; failed; fail_at++) {
        carom_mesh *mesh = scene_mesh(context, &s);
        memory.calls = 0;
        memory.fail_at = fail_at;
        const carom_status status = ask_many(mesh, 1, 3, fail_at == 0 ? expected : got, &err);
        failed = fail_at == 0 || memory.calls >= fail_at;
        if (status != CAROM_OK)
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "no memory");
        failures += status != CAROM_OK;
        memory.fail_at = 0;
        test_ok("the next call", ask_many(mesh, 1, 3, got, &err), &err);
        assert_memory_equal(expected, got, sizeof got);
        carom_mesh_destroy(mesh);
    }
    assert_true(failures > 30); /* some twelve arrays of three closings */
    carom_context_destroy(context);
    assert_int_equal(memory.live, 0);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        cmocka_unit_test(test_sums),         cmocka_unit_test(test_masks),    cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_closed),       cmocka_unit_test(test_overlaps), cmocka_unit_test(test_many_masks),
        cmocka_unit_test(test_cancel_early), cmocka_unit_test(test_cancel),   cmocka_unit_test(test_changes),
        cmocka_unit_test(test_memory),       SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_volumes)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
