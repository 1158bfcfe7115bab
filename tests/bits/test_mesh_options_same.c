/* SPDX-License-Identifier: MIT */
/* Options of mesh queries are part of what a triangle answers, for first, all and any hits and for overlaps: neither
 * tree nor order nor backend changes a bit; the first of all is the first; and masks are read where the caller
 * has them. */
#include "tests/support/lists.h"
#include "tests/support/option_sets.h"

enum { SEED = 171 };

/* ---- a triangle that does not count is not there ----------------------------------------------------------------- */

static uint32_t mask_at(const uint32_t *masks, size_t i)
{
    return masks != NULL ? masks[i] : UINT32_MAX;
}

/* With masks, the records are those without them but for triangles without a common bit. */
static void compare_masked(const option_setting *t, const list_request *q, const hit_list *all, const hit_list *l)
{
    size_t k = 0;
    for (size_t i = 0; i < t->b.count; i++)
        for (size_t a = (size_t)list_offset(all, i); a < list_offset(all, i + 1); a++) {
            const int32_t triangle = hit_triangle(&all->hits, a);
            if ((mask_at(t->b.mask, i) & mask_at(t->s.masks, (size_t)triangle)) == 0)
                continue;
            if (k >= l->stored || list_query(l, k) != i || hit_triangle(&l->hits, k) != triangle)
                fail_msg("%s: sphere %zu should have triangle %d in record %zu", t->name, i, triangle, k);
            if (!q->overlaps)
                list_compare_record(&t->b, i, &all->hits, a, l, k, 1, t->name);
            k++;
        }
    assert_int_equal(k, l->total);
}

static void test_masks_filter(void **state)
{
    carom_context *context = test_context();
    uint64_t left = 0, gone = 0;
    (void)state;
    for (size_t n = 0; n < KINDS; n++)
        for (size_t o = 0; o < 3; o++) {
            option_setting t = option_setting_make(SEED, n, &option_sets[o], 300, 600);
            carom_mesh *mesh = scene_mesh(context, &t.s);
            scene plain_scene = t.s;
            swept_spheres plain = t.b;
            plain_scene.masks = plain.mask = NULL;
            carom_mesh *plain_mesh = scene_mesh(context, &plain_scene);
            for (size_t k = 0; k < LIST_REQUESTS; k++) {
                const list_request *q = &list_requests[k];
                if (q->which == CAROM_HITS_FIRST)
                    continue;
                hit_list all = list_whole(plain_mesh, q, &plain, 0, plain.count);
                hit_list l = list_whole(mesh, q, &t.b, 0, t.b.count);
                compare_masked(&t, q, &all, &l);
                left += l.total;
                gone += all.total - l.total;
                list_free(&all);
                list_free(&l);
            }
            carom_mesh_destroy(plain_mesh);
            carom_mesh_destroy(mesh);
            option_setting_free(&t);
        }
    assert_true(left > gone / 16 && gone > left / 16);
    carom_context_destroy(context);
}

/* ---- the first of all is the first ------------------------------------------------------------------------------- */

static void test_first_of_all(void **state)
{
    const option_set *o = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < KINDS; n++)
        for (int exact = 0; exact < 2; exact++) {
            const list_request *q = &list_requests[3 * exact];
            option_setting t = option_setting_make(SEED, n, o, 300, 800);
            carom_mesh *mesh = scene_mesh(context, &t.s);
            hit_list all = list_whole(mesh, &q[0], &t.b, 0, t.b.count),
                     first = list_whole(mesh, &q[1], &t.b, 0, t.b.count);
            uint8_t *any = any_of(mesh, q, &t.b, 0, t.b.count);
            for (size_t i = 0; i < t.b.count; i++) {
                const size_t from = (size_t)list_offset(&all, i), one = (size_t)list_offset(&first, i);
                const int some = list_offset(&all, i + 1) > from;
                if (list_offset(&first, i + 1) - one != (uint64_t)some || (any[i] == 1) != some)
                    fail_msg("%s, sphere %zu: first, any and all hits disagree", t.name, i);
                if (some)
                    list_compare_record(&t.b, i, &all.hits, from, &first, one, 1, t.name);
            }
            free(any);
            list_free(&all);
            list_free(&first);
            carom_mesh_destroy(mesh);
            option_setting_free(&t);
        }
    carom_context_destroy(context);
}

/* ---- no tree, no order ------------------------------------------------------------------------------------------- */

/* Each triangle answers as in a mesh of two, the other of which gives it the same units. */
static void test_triangle_by_triangle(void **state)
{
    const option_set *o = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < KINDS; n++)
        for (int exact = 0; exact < 2; exact++) {
            const list_request *q = &list_requests[3 * exact];
            option_setting t = option_setting_make(SEED, n, o, 40, 250);
            carom_mesh *mesh = scene_mesh(context, &t.s);
            hit_list whole = list_whole(mesh, q, &t.b, 0, t.b.count);
            const uint32_t anchor = scene_largest(&t.s);
            uint64_t found = 0;
            for (uint32_t k = 0; k < t.s.triangle_count; k++) {
                const uint32_t pair[2] = {k, anchor};
                scene two = scene_reorder(&t.s, pair, 2);
                carom_mesh *alone = scene_mesh(context, &two);
                hit_list l = list_whole(alone, q, &t.b, 0, t.b.count);
                for (size_t i = 0; i < t.b.count; i++) {
                    const size_t x = list_find(&whole, i, (int32_t)k), y = list_find(&l, i, 0);
                    if ((x == SIZE_MAX) != (y == SIZE_MAX))
                        fail_msg("%s, sphere %zu, triangle %u: hit alone or among all, not both", t.name, i, k);
                    if (x != SIZE_MAX)
                        list_compare_record(&t.b, i, &whole.hits, x, &l, y, 0, t.name);
                    found += x != SIZE_MAX;
                }
                list_free(&l);
                carom_mesh_destroy(alone);
                scene_free(&two);
            }
            assert_int_equal(found, whole.total);
            list_free(&whole);
            carom_mesh_destroy(mesh);
            option_setting_free(&t);
        }
    carom_context_destroy(context);
}

/* ---- the same bits from every backend ---------------------------------------------------------------------------- */

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t n = 0; n < KINDS; n++)
        for (size_t o = 0; o < OPTION_SETS; o++) {
            option_setting t = option_setting_make(SEED, n, &option_sets[o], n % 2 ? 400 : 100, 300);
            carom_mesh *mesh = scene_mesh(context, &t.s), *reference = scene_mesh(scalar, &t.s);
            hits expected = hits_alloc(t.b.count, 0xa5), h = hits_alloc(t.b.count, 0x5a);
            sweep_first(reference, &t.b, &expected);
            sweep_first(mesh, &t.b, &h);
            hits_compare(&t.b, &expected, &h, t.b.count, -1, label);
            list_compare_meshes(reference, mesh, &t.b, label);
            hits_free(&expected);
            hits_free(&h);
            carom_mesh_destroy(mesh);
            carom_mesh_destroy(reference);
            option_setting_free(&t);
        }
}

/* ---- masks as the caller's arrays -------------------------------------------------------------------------------- */

enum { BITS = 32 };

/* Square i of a stack has triangles 2i and 2i+1 and bit i. */
static scene make_stack(void)
{
    const scene one = scene_floor(1);
    scene s = scene_alloc(4 * BITS, 2 * BITS);
    s.masks = test_alloc(2 * BITS, sizeof *s.masks);
    for (size_t i = 0; i < BITS; i++) {
        memcpy(s.vertices + 12 * i, one.vertices, 12 * sizeof(float));
        for (size_t v = 0; v < 4; v++)
            s.vertices[12 * i + 3 * v + 2] = (float)i;
        for (size_t k = 0; k < 6; k++)
            s.indices[6 * i + k] = one.indices[k] + (uint32_t)(4 * i);
        s.masks[2 * i] = s.masks[2 * i + 1] = UINT32_C(1) << i;
    }
    scene free_me = one;
    scene_free(&free_me);
    return s;
}

/* The triangle first met from below by a sphere with these masks, `stride` bytes apart. */
static void check_stack(carom_mesh *mesh, const char *masks, size_t stride, const uint32_t *values, size_t count)
{
    static const float center[3] = {0.25f, 0.25f, -1}, up[3] = {0, 0, 1}, radius = 0.125f;
    int32_t *triangle = test_alloc(count, sizeof *triangle);
    uint8_t *any = test_alloc(count, 1);
    for (int exact = 0; exact < 2; exact++) {
        carom_mesh_sweep_desc desc = {
            .batch.size = sizeof desc,
            .batch.count = count,
            .batch.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
            .center = carom_repeat(center),
            .velocity = carom_repeat(up),
            .radius = {&radius, CAROM_REPEAT},
            .mask = {(const uint32_t *)(const void *)masks, stride != 0 ? stride : CAROM_REPEAT}};
        const carom_mesh_hit_result out = {.size = sizeof out, .triangle = triangle};
        carom_error err = {0};
        test_ok("first", carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), &err);
        test_ok("any", carom_mesh_sweep_any(mesh, &desc, TEST_ANY(any), NULL, &err), &err);
        for (size_t i = 0; i < count; i++) {
            const uint32_t mask = values[stride == 0 ? 0 : i];
            int lowest = 0;
            while (lowest < BITS && !(mask >> lowest & 1))
                lowest++;
            assert_int_equal(any[i], mask != 0);
            assert_int_equal(triangle[i] < 0 ? -1 : triangle[i] / 2, mask == 0 ? -1 : lowest);
        }
    }
    free(triangle);
    free(any);
}

static void test_bits_and_strides(void **state)
{
    enum { COUNT = BITS + 3 };
    carom_context *context = test_context();
    scene s = make_stack();
    carom_mesh *mesh = scene_mesh(context, &s);
    uint32_t values[COUNT] = {0, UINT32_MAX, UINT32_C(0xc0000000)};
    static const size_t strides[] = {0, 4, 5, 12};
    (void)state;
    for (uint32_t i = 0; i < BITS; i++)
        values[3 + i] = UINT32_C(1) << i;
    for (size_t n = 0; n < COUNT_OF(strides); n++) {
        char *bytes = test_alloc(COUNT * 12 + 4, 1);
        for (size_t i = COUNT; i-- > 0;)
            memcpy(bytes + i * strides[n], &values[i], sizeof values[i]);
        check_stack(mesh, bytes, strides[n], values, COUNT);
        free(bytes);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* More first hits as a list than it takes at a time: the masks go along. */
static void test_long_list(void **state)
{
    enum { COUNT = (1 << 20) + 1000 };
    static const float center[3] = {0.25f, 0.25f, -1}, up[3] = {0, 0, 1}, radius = 0.125f;
    carom_context *context = test_context();
    scene s = make_stack();
    carom_mesh *mesh = scene_mesh(context, &s);
    uint32_t *masks = test_alloc(COUNT, sizeof *masks);
    uint64_t *query = test_alloc(COUNT, sizeof *query);
    int32_t *triangle = test_alloc(COUNT, sizeof *triangle);
    carom_mesh_sweep_desc desc = {.batch.size = sizeof desc,
                                  .batch.count = COUNT,
                                  .center = carom_repeat(center),
                                  .velocity = carom_repeat(up),
                                  .radius = {&radius, CAROM_REPEAT},
                                  .mask = carom_uints_of(masks)};
    carom_list_totals totals = {0};
    carom_hit_list list = {
        .size = sizeof list, .totals = &totals, .capacity = COUNT, .query = query, .triangle = triangle};
    carom_error err = {0};
    (void)state;
    for (size_t i = COUNT - 1000; i < COUNT; i++)
        masks[i] = UINT32_C(1) << i % 32;
    masks[7] = 1;
    test_ok("list", carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_FIRST, &list, NULL, &err), &err);
    assert_int_equal(totals.total, 1001);
    for (uint64_t k = 0; k < totals.stored; k++) {
        assert_int_equal(query[k], k == 0 ? 7 : COUNT - 1001 + k);
        assert_int_equal(triangle[k] / 2, k == 0 ? 0 : query[k] % 32);
    }
    free(masks);
    free(query);
    free(triangle);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Masks cost four bytes for each slot of a leaf, and nothing if there are none. */
static void test_memory(void **state)
{
    carom_context *context = test_context();
    scene s = scene_soup(SEED, 500, 0.2);
    carom_mesh *plain = scene_mesh(context, &s);
    (void)state;
    s.masks = random_masks(SEED, s.triangle_count);
    carom_mesh *masked = scene_mesh(context, &s);
    const uint64_t more = test_mesh_info(masked).bytes - test_mesh_info(plain).bytes;
    assert_true(more >= 4 * 500 && more < 4 * 500 * 8 && more % 64 == 0);
    carom_mesh_destroy(plain);
    carom_mesh_destroy(masked);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        ON_EACH_OPTION_SET(test_first_of_all), ON_EACH_OPTION_SET(test_triangle_by_triangle),
        cmocka_unit_test(test_masks_filter),   cmocka_unit_test(test_bits_and_strides),
        cmocka_unit_test(test_long_list),      cmocka_unit_test(test_memory),
        SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {ON_EACH_OPTION_SET(test_first_of_all), cmocka_unit_test(test_masks_filter),
                                           cmocka_unit_test(test_bits_and_strides), SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
