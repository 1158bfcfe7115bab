/* SPDX-License-Identifier: MIT */
/* Closest points among triangles with masks: to every query the mesh is what its mask leaves of it, and nothing else.
 * That the answer of a mesh is right is test_closest.c's subject. */
#include "tests/support/closest_answers.h"
#include "tests/support/exact_scenes.h"

enum { SEED = 91, TRIANGLES = 500 };

/* The masks asked with; bits 0 to 2 are those of some triangles, bit 31 is that of none. */
static const uint32_t asked[] = {1, 2, 4, 3, 7, UINT32_MAX, 0, 0x80000000u};

/* The triangles that share a bit with the mask, and which they are. */
static scene what_is_left(const scene *s, uint32_t mask, uint32_t *which)
{
    size_t count = 0;
    for (uint32_t i = 0; i < s->triangle_count; i++)
        if ((s->masks[i] & mask) != 0)
            which[count++] = i;
    scene left = scene_reorder(s, which, count);
    free(left.masks);
    left.masks = NULL;
    return left;
}

/* Triangle numbers of a part become those of the whole. */
static void renumber(closest_results *n, const uint32_t *which)
{
    int32_t *triangle = (int32_t *)(void *)n->field[NEAR_TRIANGLE].data;
    for (size_t i = 0; i < n->count; i++)
        if (triangle[i] >= 0)
            triangle[i] = (int32_t)which[triangle[i]];
}

static void check_masks(carom_context *context, scene *s, swept_spheres *b, carom_accuracy accuracy, const char *label)
{
    uint32_t *which = test_alloc(s->triangle_count, sizeof *which);
    for (size_t m = 0; m < COUNT_OF(asked); m++) {
        uint32_t *const mask = b->mask;
        scene left = what_is_left(s, asked[m], which);
        b->mask = NULL;
        closest_results expected = ask_scene(context, &left, b, accuracy, NULL);
        b->mask = mask;
        for (size_t i = 0; i < b->count; i++)
            mask[i] = asked[m];
        closest_results got = ask_scene(context, s, b, accuracy, NULL);
        renumber(&expected, which);
        closest_results_compare(b, &expected, &got, b->count, -1, label);
        /* Each query with a mask of its own. */
        for (size_t i = 0; i < b->count; i++)
            mask[i] = i % 3 == 0 ? asked[m] : asked[i % COUNT_OF(asked)];
        closest_results mixed = ask_scene(context, s, b, accuracy, NULL);
        for (size_t i = 0; i < b->count; i += 3)
            if (near_triangle(&mixed, i) != near_triangle(&expected, i) ||
                bits_of_float(near_float(&mixed, NEAR_DEPTH, i)) != bits_of_float(near_float(&expected, NEAR_DEPTH, i)))
                fail_msg("%s: query %zu with mask 0x%x is not answered as among its like", label, i, asked[m]);
        closest_results_free(&mixed);
        closest_results_free(&got);
        closest_results_free(&expected);
        scene_free(&left);
    }
    free(which);
}

/* Every third triangle has each of the bits, every seventh none. */
static void check_context(carom_context *context, const char *label)
{
    for (size_t k = 0; k < KINDS; k++)
        for (int exact = 0; exact < 2; exact++) {
            scene s = kinds[k].make(TRIANGLES);
            swept_spheres b = swept_spheres_aimed(SEED + k, &s, 1.0, test_effort(400));
            s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
            b.mask = test_alloc(b.count, sizeof *b.mask);
            for (size_t i = 0; i < s.triangle_count; i++)
                s.masks[i] = i % 7 == 0 ? 0 : UINT32_C(1) << i % 3;
            check_masks(context, &s, &b, (carom_accuracy)exact, label);
            scene_free(&s);
            swept_spheres_free(&b);
        }
    carom_context_destroy(context);
}

static void test_isa(void **state)
{
    check_context(test_cpu(*(const carom_isa *)*state, 1), "this instruction set");
}

static void test_threads(void **state)
{
    (void)state;
    check_context(test_cpu(CAROM_ISA_AUTO, 3), "three threads");
}

static void test_device_lanes(void **state)
{
    (void)state;
    check_context(test_device(0, 0), "the device");
    check_context(test_device(1, 100), "the device with one lane, in chunks of 100");
}

/* Without masks of triangles any mask but 0 lets all through; without masks of queries the triangles' own count. */
static void test_one_sided(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[0].make(TRIANGLES);
    swept_spheres b = swept_spheres_aimed(SEED, &s, 1.0, 200);
    closest_results all = ask_scene(context, &s, &b, CAROM_ACCURACY_EXACT, NULL);
    b.mask = test_alloc(b.count, sizeof *b.mask);
    for (size_t i = 0; i < b.count; i++)
        b.mask[i] = UINT32_C(1) << i % 32;
    closest_results some = ask_scene(context, &s, &b, CAROM_ACCURACY_EXACT, NULL);
    closest_results_compare(&b, &all, &some, b.count, -1, "masks of queries alone");
    free(b.mask);
    b.mask = NULL;
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t i = 0; i < s.triangle_count; i++)
        s.masks[i] = i == 17;
    closest_results one = ask_scene(context, &s, &b, CAROM_ACCURACY_FAST, NULL);
    for (size_t i = 0; i < b.count; i++)
        assert_int_equal(near_triangle(&one, i), 17);
    closest_results_free(&all);
    closest_results_free(&some);
    closest_results_free(&one);
    scene_free(&s);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

#define ON_ISA(name, value)                                      \
    {                                                            \
        name ": masks leave a mesh", test_isa, NULL, NULL, value \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {TEST_EACH_ISA(ON_ISA), cmocka_unit_test(test_threads),
                                        cmocka_unit_test(test_one_sided)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_device_lanes), cmocka_unit_test(test_one_sided)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
