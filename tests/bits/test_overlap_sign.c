/* SPDX-License-Identifier: MIT */
/* Whether spheres overlap a body: where they overlap its surface, and inside by the exact reference, on the CPU and on
 * a device. And calls with a sign while memory is short. */
#include "tests/support/sign_scenes.h"

enum { SEED = 223 };

/* ---- against the reference --------------------------------------------------------------------------------------- */

static uint8_t *overlaps_of(carom_mesh *mesh, const swept_spheres *b, carom_sign sign, int exact)
{
    uint8_t *hit = test_alloc(b->count, 1);
    carom_stats stats = {.size = sizeof stats};
    carom_mesh_overlap_desc desc = swept_spheres_at_rest(b, 0, b->count);
    carom_error err = {0};
    desc.batch.accuracy = (carom_accuracy)exact;
    desc.sign = sign;
    desc.allow_open = 1;
    const carom_any_result out = {.size = sizeof out, .hit = hit};
    test_ok("carom_mesh_overlap_any", carom_mesh_overlap_any(mesh, &desc, &out, &stats, &err), &err);
    assert_int_equal(test_on_device() ? stats.on_device : stats.on_cpu, b->count);
    assert_int_equal(stats.by_proof + stats.by_integers, exact ? b->count : 0);
    return hit;
}

static void check_scene(carom_context *context, scene s, swept_spheres *b, const char *name)
{
    carom_mesh *mesh = scene_mesh(context, &s);
    for (int variant = 0; variant < 4; variant++) {
        const carom_sign sign = variant / 2 ? CAROM_SIGN_WINDING : CAROM_SIGN_PARITY;
        uint8_t *shell = overlaps_of(mesh, b, CAROM_SIGN_NONE, variant % 2);
        uint8_t *body = overlaps_of(mesh, b, sign, variant % 2);
        for (size_t q = 0; q < b->count; q++)
            if (body[q] != (shell[q] == 0 && sign_is_inside(&s, b, q, sign) ? 1 : shell[q]))
                fail_msg("%s: sphere %zu: %d, without a sign %d", name, q, body[q], shell[q]);
        free(shell);
        free(body);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
}

static void test_reference(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < SIGN_SCENES; i++) {
        scene s = sign_scenes[i].make();
        swept_spheres b = sign_centres(&s, test_effort(300));
        b.mask = i % 2 ? random_masks(SEED + i, b.count) : NULL;
        for (size_t q = 0; q < b.count; q += 3)
            b.column[SPHERE_RADIUS][q] = 0;
        check_scene(context, s, &b, sign_scenes[i].name);
        swept_spheres_free(&b);
    }
    carom_context_destroy(context);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

/* An open mesh, numbers out of range, and lists, which have no sign. */
static void test_refused(void **state)
{
    const float zero[3] = {0}, radius = 0;
    carom_context *context = test_context();
    scene s = scene_unit_box();
    uint8_t hit;
    (void)state;
    s.triangle_count--;
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_mesh_overlap_desc desc = {.batch = {.size = sizeof desc, .count = 1},
                                    .center = carom_xyz(zero),
                                    .radius = {&radius, CAROM_REPEAT},
                                    .sign = CAROM_SIGN_PARITY};
    const carom_any_result any = {.size = sizeof any, .hit = &hit};
    carom_list_totals totals;
    const carom_hit_list list = {.size = sizeof list, .totals = &totals};
    carom_error err;
    test_error(carom_mesh_overlap_any(mesh, &desc, &any, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "the mesh is open: 3 edges");
    test_error(carom_mesh_overlap_list(mesh, &desc, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "sign and allow_open must be 0");
    desc.allow_open = 2;
    test_error(carom_mesh_overlap_any(mesh, &desc, &any, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "allow_open is 2");
    desc.sign = (carom_sign)-1;
    test_error(carom_mesh_overlap_any(mesh, &desc, &any, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "sign is");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

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
    ((short_memory *)user)->live--;
    free(memory);
}

/* A call for closest points or overlaps, with a sign. */
static carom_status ask_body(carom_mesh *mesh, const swept_spheres *b, int overlaps, void *out, carom_error *err)
{
    carom_mesh_closest_desc closest = swept_spheres_closest(b, 0, b->count);
    carom_mesh_overlap_desc overlap = swept_spheres_at_rest(b, 0, b->count);
    const carom_mesh_closest_result near = {.size = sizeof near, .distance = out};
    const carom_any_result any = {.size = sizeof any, .hit = out};
    closest.sign = overlap.sign = CAROM_SIGN_PARITY;
    return overlaps ? carom_mesh_overlap_any(mesh, &overlap, &any, NULL, err)
                    : carom_mesh_closest(mesh, &closest, &near, NULL, err);
}

/* Each allocation fails once, on a mesh whose edges are not counted yet: the call says so, or does without, and leaks
 * nothing. */
static void test_memory(void **state)
{
    short_memory m = {0};
    carom_context_desc desc = test_desc(CAROM_BACKEND_CPU);
    carom_context *context;
    carom_error err;
    scene s = sign_scenes[1].make();
    swept_spheres b = sign_centres(&s, 2000);
    float *out = test_alloc(b.count, sizeof *out);
    (void)state;
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    memset(s.masks, 1, s.triangle_count * sizeof *s.masks);
    desc.threads = 1;
    desc.allocator = (carom_allocator){alloc_short, free_short, &m};
    test_ok("a context", carom_context_create(&desc, &context, &err), &err);
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        size_t failures = 0;
        for (size_t at = 1, has_failed = 1; has_failed; at++) {
            carom_mesh *mesh = scene_mesh(context, &s);
            const size_t before = m.live;
            m.fail_at = m.calls + at;
            const carom_status status = ask_body(mesh, &b, overlaps, out, &err);
            has_failed = m.calls >= m.fail_at;
            m.fail_at = 0;
            failures += status == CAROM_ERROR_OUT_OF_MEMORY;
            assert_true(status == CAROM_OK || (has_failed && status == CAROM_ERROR_OUT_OF_MEMORY));
            assert_int_equal(m.live, before);
            carom_mesh_destroy(mesh);
        }
        assert_true(failures >= 4); /* masks, positions, starts, edges */
    }
    carom_context_destroy(context);
    assert_int_equal(m.live, 0);
    scene_free(&s);
    swept_spheres_free(&b);
    free(out);
}

/* Solid angles are the CPU's, and the statistics have the reason. */
static void test_declined(void **state)
{
    const float zero[3] = {0}, radius = 0.25f;
    carom_context *context = test_context();
    scene s = scene_unit_box();
    carom_mesh *mesh = scene_mesh(context, &s);
    uint8_t hit;
    const carom_mesh_overlap_desc desc = {.batch = {.size = sizeof desc, .count = 1},
                                          .center = carom_xyz(zero),
                                          .radius = {&radius, CAROM_REPEAT},
                                          .sign = CAROM_SIGN_ROBUST};
    const carom_any_result out = {.size = sizeof out, .hit = &hit};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    (void)state;
    test_ok("on a device", carom_mesh_overlap_any(mesh, &desc, &out, &stats, &err), &err);
    assert_int_equal(hit, 1);
    assert_int_equal(stats.fallen_back, 1);
    assert_non_null(strstr(stats.fallback_reason, "by solid angles"));
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_memory)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_declined)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
