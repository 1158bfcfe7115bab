/* SPDX-License-Identifier: MIT */
/* The same spheres in another order: first hits and closest points come in that order, and nothing else changes, in
 * either mode. Lists are asked so in test_mesh_list.c, batches large enough to be put in order by the library in
 * test_order.c. */
#include "tests/support/closest_answers.h"
#include "tests/support/exact_scenes.h"

enum { SEED = 281, ORDERS = 2 };

typedef struct setting {
    scene s;
    swept_spheres b;
    uint32_t *order[ORDERS]; /* backwards, and any */
    carom_mesh *mesh;
} setting;

static setting make(carom_context *context, size_t kind)
{
    setting t = {.s = kinds[kind].make(400)};
    const size_t count = test_effort(700);
    t.b = kind % 2 ? swept_spheres_mixed(SEED + kind, count) : swept_spheres_aimed(SEED + kind, &t.s, 1.0, count);
    if (kind % 3 == 0) {
        t.s.masks = random_masks(SEED + kind, t.s.triangle_count);
        t.b.mask = random_masks(SEED + 50 + kind, count);
    }
    for (size_t i = 0; i < count; i += 3)
        t.b.column[SPHERE_T_MAX][i] = i % 2 ? 0.0f : 2.0f;
    t.order[0] = test_alloc(count, sizeof *t.order[0]);
    for (size_t i = 0; i < count; i++)
        t.order[0][i] = (uint32_t)(count - 1 - i);
    t.order[1] = random_order(SEED + kind, count);
    t.mesh = scene_mesh(context, &t.s);
    return t;
}

static void setting_free(setting *t)
{
    carom_mesh_destroy(t->mesh);
    for (int k = 0; k < ORDERS; k++)
        free(t->order[k]);
    swept_spheres_free(&t->b);
    scene_free(&t->s);
}

/* Row i of the result is row order[i] of `from`. */
static void turn(const guarded *from, const uint32_t *order, size_t count, guarded *to)
{
    const size_t size = from->size / count;
    for (size_t i = 0; i < count; i++)
        memcpy(to->data + i * size, from->data + order[i] * size, size);
}

static void check_first(const setting *t, carom_accuracy accuracy)
{
    const size_t count = t->b.count;
    hits before = sweep_as(t->mesh, &t->b, accuracy), expected = hits_alloc(count, 0);
    for (int k = 0; k < ORDERS; k++) {
        swept_spheres turned = swept_spheres_reorder(&t->b, t->order[k], count);
        hits h = sweep_as(t->mesh, &turned, accuracy);
        for (int f = 0; f < HIT_FIELDS; f++)
            turn(&before.field[f], t->order[k], count, &expected.field[f]);
        hits_compare(&turned, &expected, &h, count, -1, "spheres in another order");
        hits_free(&h);
        swept_spheres_free(&turned);
    }
    hits_free(&before);
    hits_free(&expected);
}

static void check_closest(const setting *t, carom_accuracy accuracy)
{
    const size_t count = t->b.count;
    uint64_t integers = 0;
    closest_results before = closest_results_alloc(count, 0x5a), expected = closest_results_alloc(count, 0);
    ask_part(t->mesh, &t->b, accuracy, 0, count, &before, &integers);
    for (int k = 0; k < ORDERS; k++) {
        uint64_t again = 0;
        swept_spheres turned = swept_spheres_reorder(&t->b, t->order[k], count);
        closest_results n = closest_results_alloc(count, 0xa5);
        ask_part(t->mesh, &turned, accuracy, 0, count, &n, &again);
        for (int f = 0; f < NEAR_FIELDS; f++)
            turn(&before.field[f], t->order[k], count, &expected.field[f]);
        closest_results_compare(&turned, &expected, &n, count, -1, "centres in another order");
        assert_int_equal(again, integers); /* a query takes its rung alone */
        closest_results_free(&n);
        swept_spheres_free(&turned);
    }
    closest_results_free(&before);
    closest_results_free(&expected);
}

static void test_spheres_in_another_order(void **state)
{
    const carom_accuracy accuracy = *(const carom_accuracy *)*state;
    carom_context *context = test_context();
    for (size_t kind = 0; kind < KINDS; kind++) {
        setting t = make(context, kind);
        check_first(&t, accuracy);
        check_closest(&t, accuracy);
        setting_free(&t);
    }
    carom_context_destroy(context);
}

int main(void)
{
    static carom_accuracy modes[] = {CAROM_ACCURACY_FAST, CAROM_ACCURACY_EXACT};
    const struct CMUnitTest tests[] = {
        {"fast: spheres in another order", test_spheres_in_another_order, NULL, NULL, &modes[0]},
        {"exact: spheres in another order", test_spheres_in_another_order, NULL, NULL, &modes[1]},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
