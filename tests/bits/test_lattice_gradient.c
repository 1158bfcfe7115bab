/* SPDX-License-Identifier: MIT */
/* Gradients of distance volumes: those of closest points at the nodes, bit for bit, with a sign and without. */
#include "tests/support/sign_scenes.h"

#include <math.h>

/* Answers of all nodes of a volume. */
typedef struct gradient_answers {
    size_t count;
    float *distance, *gradient; /* gradient: x y z of each node */
    int32_t *triangle;
} gradient_answers;

static gradient_answers alloc_answers(size_t count)
{
    gradient_answers a = {count, test_alloc(count, sizeof(float)), test_alloc(3 * count, sizeof(float)),
                          test_alloc(count, sizeof(int32_t))};
    memset(a.gradient, 0xa5, 3 * count * sizeof(float));
    return a;
}

static void free_answers(gradient_answers *a)
{
    free(a->distance);
    free(a->gradient);
    free(a->triangle);
}

static gradient_answers ask_volume(carom_mesh *mesh, const carom_mesh_distance_desc *desc, carom_stats *stats)
{
    const size_t slab = (size_t)(desc->lattice.dims[0] * desc->lattice.dims[1]);
    gradient_answers a = alloc_answers(slab * (size_t)(desc->batch.count - desc->batch.begin));
    const carom_mesh_distance_result out = {
        .size = sizeof out, .distance = a.distance, .triangle = a.triangle, .gradient = carom_xyz_out(a.gradient)};
    carom_error err;
    test_ok("carom_mesh_distance", carom_mesh_distance(mesh, desc, &out, stats, &err), &err);
    return a;
}

/* carom_mesh_closest at the nodes, within the band. */
static gradient_answers ask_centres(carom_mesh *mesh, const carom_mesh_distance_desc *like)
{
    gradient_answers a = alloc_answers(lattice_nodes(&like->lattice));
    float *center = test_alloc(3 * a.count, sizeof *center);
    for (size_t i = 0; i < a.count; i++)
        lattice_node(&like->lattice, i, center + 3 * i);
    const carom_mesh_closest_desc desc = {
        .batch = {.size = sizeof desc, .count = a.count, .accuracy = like->batch.accuracy},
        .center = carom_xyz(center),
        .max_distance = {like->band, CAROM_REPEAT},
        .sign = like->sign,
        .allow_open = like->allow_open};
    const carom_mesh_closest_result out = {
        .size = sizeof out, .distance = a.distance, .triangle = a.triangle, .gradient = carom_xyz_out(a.gradient)};
    carom_error err;
    test_ok("carom_mesh_closest", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
    free(center);
    return a;
}

static void compare(const gradient_answers *expected, size_t first, const gradient_answers *got, const char *name)
{
    for (size_t i = 0; i < got->count; i++) {
        const float *a = expected->gradient + 3 * (first + i), *b = got->gradient + 3 * i;
        if (memcmp(a, b, 3 * sizeof *a) != 0)
            fail_msg("%s: node %zu has the gradient %a %a %a, not %a %a %a", name, first + i, (double)b[0],
                     (double)b[1], (double)b[2], (double)a[0], (double)a[1], (double)a[2]);
    }
}

static void check_scene(carom_context *context, const sign_scene *k, size_t which)
{
    static const float band = 0.25f, anywhere = INFINITY;
    scene s = k->make();
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = sign_lattice(&s, which, 6 + test_effort(6));
    const size_t slab = (size_t)(lattice.dims[0] * lattice.dims[1]);
    for (int variant = 0; variant < 6; variant++) {
        carom_mesh_distance_desc desc = volume_desc(&lattice, variant % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        desc.sign = (carom_sign)(variant / 2);
        desc.allow_open = 1;
        desc.band = variant == 3 || variant == 4 ? &band : &anywhere;
        gradient_answers expected = ask_centres(mesh, &desc), whole = ask_volume(mesh, &desc, NULL);
        compare(&expected, 0, &whole, k->name);
        desc.batch.begin = lattice.dims[2] / 2;
        gradient_answers part = ask_volume(mesh, &desc, NULL);
        compare(&expected, (size_t)desc.batch.begin * slab, &part, k->name);
        free_answers(&expected);
        free_answers(&whole);
        free_answers(&part);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
}

static void test_closest(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < SIGN_SCENES; i++)
        for (size_t which = i % 2; which < SIGN_LATTICES; which += 2)
            check_scene(context, &sign_scenes[i], which);
    carom_context_destroy(context);
}

/* An empty mesh has gradients of zeros. */
static void test_empty(void **state)
{
    static const carom_lattice three = {{-1.5, -1.5, -1.5}, 1.0, {3, 3, 3}, {0}};
    carom_context *context = test_context();
    scene s = scene_unit_box();
    (void)state;
    s.triangle_count = 0;
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_mesh_distance_desc desc = volume_desc(&three, CAROM_ACCURACY_EXACT);
    gradient_answers a = ask_volume(mesh, &desc, NULL);
    for (size_t i = 0; i < 3 * a.count; i++)
        assert_int_equal(bits_of_float(a.gradient[i]), 0);
    free_answers(&a);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Gradients need triangles and distances. */
static void test_refused(void **state)
{
    static const carom_lattice one = {{0.0, 0.0, 0.0}, 1.0, {1, 1, 1}, {0}};
    carom_context *context = test_context();
    scene s = scene_unit_box();
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_mesh_distance_desc desc = volume_desc(&one, CAROM_ACCURACY_FAST);
    float distance, gradient[3];
    int32_t triangle;
    carom_mesh_distance_result out = {.size = sizeof out, .distance = &distance, .gradient = carom_xyz_out(gradient)};
    carom_error err;
    (void)state;
    test_error(carom_mesh_distance(mesh, &desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "gradient needs distance and triangle");
    out.distance = NULL;
    out.triangle = &triangle;
    test_error(carom_mesh_distance(mesh, &desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "gradient needs distance and triangle");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* The CPU answers, and the statistics have the reason. */
static void test_declined(void **state)
{
    static const carom_lattice three = {{-1.5, -1.5, -1.5}, 1.0, {3, 3, 3}, {0}};
    carom_context *context = test_context();
    scene s = scene_unit_box();
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_mesh_distance_desc desc = volume_desc(&three, CAROM_ACCURACY_FAST);
    carom_stats stats = {.size = sizeof stats};
    (void)state;
    gradient_answers a = ask_volume(mesh, &desc, &stats);
    assert_int_equal(stats.fallen_back, a.count);
    assert_non_null(strstr(stats.fallback_reason, "gradients"));
    free_answers(&a);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_closest), cmocka_unit_test(test_empty),
                                        cmocka_unit_test(test_refused)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_declined)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
