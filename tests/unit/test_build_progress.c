/* SPDX-License-Identifier: MIT */
/* Progress of making a mesh: reports come in order and to the end, and change no byte of it. A function that ends the
 * call leaves no mesh and no memory behind. */
#include "tests/support/jobs.h"

enum { SEED = 887, SIDES = 300 /* 720,000 triangles */, NEVER = INT32_MAX, TRIALS = 8 };

/* The calls of a progress function, and the number of the one that ends the call. */
typedef struct reports {
    int calls, stop_at;
    uint64_t done, count;
} reports;

static int listen(void *user, uint64_t done, uint64_t count)
{
    reports *r = user;
    assert_true(done >= r->done && done <= count);
    assert_true(r->calls == 0 || count == r->count);
    r->done = done;
    r->count = count;
    return ++r->calls == r->stop_at;
}

/* Blocks that are held. */
static void *count_alloc(void *user, size_t size, size_t alignment)
{
    void *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    *(atomic_int *)user += block != NULL;
    return block;
}

static void count_free(void *user, void *memory)
{
    *(atomic_int *)user -= memory != NULL;
    free(memory);
}

static carom_status create(carom_context *context, const scene *s, reports *r, carom_mesh **mesh, carom_error *err)
{
    carom_mesh_desc desc = scene_desc(s);
    if (r != NULL)
        desc.progress = (carom_progress){listen, r};
    return carom_mesh_create(context, &desc, mesh, err);
}

static unsigned char *image_of(const carom_mesh *mesh, uint64_t *bytes)
{
    carom_error err;
    test_ok("the size of an image", carom_mesh_get_image(mesh, NULL, 0, bytes, &err), &err);
    unsigned char *image = test_alloc(*bytes, 1);
    test_ok("an image", carom_mesh_get_image(mesh, image, *bytes, bytes, &err), &err);
    return image;
}

/* Reports come before the end, and one at the end; the mesh has the bytes of one that nobody has watched. */
static void reports_change_nothing(void **state)
{
    scene s = scene_sphere(SIDES);
    s.masks = random_masks(SEED, s.triangle_count);
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        carom_context *context = test_cpu(CAROM_ISA_AUTO, threads);
        carom_mesh *watched = NULL, *alone = scene_mesh(context, &s);
        reports r = {.stop_at = NEVER};
        carom_error err;
        uint64_t bytes[2];
        test_ok("a mesh that is watched", create(context, &s, &r, &watched, &err), &err);
        assert_int_equal(r.count, s.triangle_count);
        assert_int_equal(r.done, s.triangle_count);
        assert_true(r.calls > 1);
        unsigned char *a = image_of(alone, &bytes[0]), *b = image_of(watched, &bytes[1]);
        assert_int_equal(bytes[0], bytes[1]);
        assert_memory_equal(a, b, bytes[0]);
        free(a);
        free(b);
        carom_mesh_destroy(watched);
        carom_mesh_destroy(alone);
        carom_context_destroy(context);
    }
    scene_free(&s);
}

/* The first trial has all reports. Early ones end the next trials, and late ones the others: no mesh, no memory, and
 * the next mesh is made. The last report ends nothing. */
static void an_end_leaves_nothing(void **state)
{
    scene s = scene_sphere(SIDES);
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        atomic_int live = 0;
        carom_context *context = job_context(threads, (carom_allocator){count_alloc, count_free, &live});
        const int before = live;
        int ended = 0, last = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            const int late = last + TRIALS / 2 - trial; /* below 1 where the machine is so fast that there are few */
            const int stop_at = trial == 0 ? NEVER : trial < TRIALS / 2 || late < 1 ? trial : late;
            carom_mesh *mesh = NULL;
            carom_error err = {0};
            reports r = {.stop_at = stop_at};
            const carom_status status = create(context, &s, &r, &mesh, &err);
            if (status == CAROM_OK) {
                assert_true(r.done == r.count && r.calls <= stop_at);
                carom_mesh_destroy(mesh);
            } else {
                test_error(status, CAROM_ERROR_CANCELLED, &err, "% of the work; there is no mesh");
                assert_null(mesh);
                assert_int_equal(r.calls, stop_at);
                ended++;
            }
            last = trial == 0 ? r.calls : last;
            assert_int_equal(live, before);
        }
        assert_true(ended > 0);
        carom_context_destroy(context);
        assert_int_equal(live, 0);
    }
    scene_free(&s);
}

/* A small mesh has one report, and an empty one none. */
static void small_meshes_report_their_end(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_soup(SEED, 20, 0.2);
    (void)state;
    for (int is_empty = 0; is_empty < 2; is_empty++) {
        carom_mesh *mesh = NULL;
        carom_error err;
        reports r = {.stop_at = 1};
        s.triangle_count = is_empty ? 0 : s.triangle_count;
        test_ok("a small mesh", create(context, &s, &r, &mesh, &err), &err);
        assert_int_equal(r.calls, !is_empty);
        assert_int_equal(r.done, s.triangle_count);
        carom_mesh_destroy(mesh);
    }
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_change_nothing),
        cmocka_unit_test(an_end_leaves_nothing),
        cmocka_unit_test(small_meshes_report_their_end),
    };
    return cmocka_run_group_tests_name("build_progress", tests, NULL, NULL);
}
