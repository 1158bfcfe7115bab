/* SPDX-License-Identifier: MIT */
/* Clouds in periods, around what decides which images exist: long periods, short ones, images that meet exactly,
 * spheres far outside a box. */
#include "tests/support/cloud_truth.h"

#include <math.h>

/* ---- every pair -------------------------------------------------------------------------------------------------- */

/* Lengths beside which a cloud is small, a little larger, or as large. */
static void any_period(void **state)
{
    static const float lengths[] = {1e8f, 1e37f, 3e38f, 1e3f, 12, 10, 5, 0x1p-3f};
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < test_effort(4 * CLOUD_FAMILIES); i++) {
        const int exact = (int)(i / 3 % 2);
        cloud c = make_cloud(i, exact);
        for (size_t k = 0; k < 3; k++)
            c.desc.period[k] = (i + k) % 4 == 0 ? 0 : lengths[(i / 2 + k) % COUNT_OF(lengths)];
        cloud_check_made(context, &c, i, exact);
    }
    carom_context_destroy(context);
}

/* Spheres on a lattice as wide as the period touch their neighbours and images alike: in every count around few. */
static void images_that_touch(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t number = 0; number < test_effort(16); number++) {
        const size_t side = 3 + number % 5;
        cloud c = cloud_alloc(side * side * side);
        for (size_t i = 0; i < c.count; i++) {
            const size_t at[3] = {i % side, i / side % side, i / side / side};
            for (size_t k = 0; k < 3; k++)
                c.center[3 * i + k] = (float)at[k] + (number % 3 == 2 ? 1e6f : 0);
            c.radius[i] = number % 2 ? 0.5f : 0.5f + (float)(i % 3) * 0x1p-12f;
        }
        c.desc = (carom_cloud_desc){.batch = {.size = sizeof c.desc,
                                              .count = c.count,
                                              .accuracy = number / 2 % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST},
                                    .center = carom_xyz(c.center),
                                    .radius = carom_scalars_of(c.radius),
                                    .margin = number % 4 == 3 ? 0.5f : 0};
        for (int k = 0; k < 3; k++)
            c.desc.period[k] = number % 3 == 1 && k == 1 ? 0 : (float)side;
        cloud_check_made(context, &c, number, (int)(number / 2 % 2));
    }
    carom_context_destroy(context);
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

typedef struct box {
    size_t count;
    float *center, radius;
    carom_cloud_desc desc;
} box;

static box make_box(size_t count, float side)
{
    ref_gen g;
    ref_gen_seed(&g, 22, 1, count);
    box b = {.count = count, .radius = 0.4f};
    b.center = test_alloc(3 * count, sizeof *b.center);
    for (size_t i = 0; i < 3 * count; i++)
        b.center[i] = between(&g, 0, (double)side);
    b.desc = (carom_cloud_desc){.batch = {.size = sizeof b.desc, .count = count}, .center = carom_xyz(b.center)};
    return b;
}

/* A length that means "not periodic" costs nothing, and finds what an open cloud does. Were each pair open, they would
 * be 10^9. */
static void long_periods_are_open(void **state)
{
    enum { MANY = 50000, SIDE = 74 };
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    box b = make_box(MANY, SIDE);
    b.desc.radius = (carom_scalars){.data = &b.radius, .stride = CAROM_REPEAT};
    cloud_records expected = {0};
    cloud_list(context, &b.desc, MANY, &expected);
    for (size_t number = 0; number < 2; number++) {
        cloud_records got = {0};
        for (int k = 0; k < 3; k++)
            b.desc.period[k] = number ? 1e37f : 1e9f;
        cloud_list(context, &b.desc, MANY, &got);
        cloud_check_records(&got, &expected, number, "in a long period");
        free(got.at);
    }
    free(expected.at), free(b.center);
    carom_context_destroy(context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* A hook that adds up what is asked for. */
static void *counted_alloc(void *user, size_t size, size_t alignment)
{
    *(size_t *)user += size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void counted_free(void *user, void *memory)
{
    (void)user;
    free(memory);
}

/* Images are in no cell: a period takes no more memory than an open box. */
static void images_take_no_memory(void **state)
{
    enum { CROWD = 20000, SIDE = 54 };
    size_t taken[2];
    (void)state;
    box b = make_box(CROWD, SIDE);
    b.desc.radius = (carom_scalars){.data = &b.radius, .stride = CAROM_REPEAT};
    for (int is_periodic = 0; is_periodic < 2; is_periodic++) {
        size_t asked = 0;
        carom_context_desc desc = carom_context_desc_default();
        carom_context *context = NULL;
        carom_error err = {0};
        carom_list_totals totals;
        const carom_cloud_pair_list list = {.size = sizeof list, .totals = &totals};
        desc.backend = CAROM_BACKEND_CPU;
        desc.threads = 1;
        desc.allocator = (carom_allocator){counted_alloc, counted_free, &asked};
        test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
        for (int k = 0; k < 3; k++)
            b.desc.period[k] = is_periodic ? SIDE : 0;
        test_ok("carom_cloud_list", carom_cloud_list(context, &b.desc, &list, NULL, &err), &err);
        taken[is_periodic] = asked;
        carom_context_destroy(context);
    }
    if (taken[1] > taken[0] + taken[0] / 100)
        fail_msg("%zu bytes in a period, %zu in an open box", taken[1], taken[0]);
    free(b.center);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_period), cmocka_unit_test(images_that_touch),
                                       cmocka_unit_test(long_periods_are_open),
                                       cmocka_unit_test(images_take_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
