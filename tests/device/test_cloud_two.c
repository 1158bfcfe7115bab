/* SPDX-License-Identifier: MIT */
/* A cloud against another one on a device, at rest and in motion: everything that can be asked against the CPU's
 * answers, byte for byte, where the host sorts the spheres and where the device does. */
#include "tests/support/cl_shim.h"
#include "tests/support/grid_clouds.h"
#include "tests/support/two_clouds.h"

#include <math.h>

enum { WAYS = 2 }; /* lanes of the device: its own number, so that the host sorts; one, so that the device does */

static void open_all(carom_context *context[WAYS + 1])
{
    context[WAYS] = test_cpu(CAROM_ISA_AUTO, 1);
    for (uint32_t lanes = 0; lanes < WAYS; lanes++)
        context[lanes] = test_device(lanes, 0);
}

static void close_all(carom_context *context[WAYS + 1], const char *what)
{
    for (size_t i = 0; i <= WAYS; i++)
        carom_context_destroy(context[i]);
    cl_expect_none(what);
}

/* A list with room for all, one that is too short, and one of a part of the spheres. */
static void compare(carom_context *const context[WAYS + 1], size_t way, const carom_cloud_desc *of, const char *what)
{
    carom_cloud_desc d = *of;
    const size_t count = d.batch.count, room = 27 * count * (size_t)d.against->count + 1;
    grid_compare(context[WAYS], context[way], &d, room < 20000 ? room : 20000, what);
    d.batch.begin = count / 3;
    d.a_end = count - count / 4;
    grid_compare(context[WAYS], context[way], &d, count / 2, what);
}

static void test_families(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *context[WAYS + 1];
    open_all(context);
    for (size_t i = 0; i < test_effort(12 * CLOUD_FAMILIES); i++) {
        two_clouds two;
        make_two(&two, i, (int)(i / 5 % 2));
        compare(context, i % WAYS, &two.a.desc, cloud_family(i));
        free_two(&two);
    }
    close_all(context, "families");
}

static void test_many(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *context[WAYS + 1];
    open_all(context);
    for (size_t i = 0; i < test_effort(18); i++) {
        two_clouds two;
        make_two_many(&two, i, (int)(i / 2 % 2));
        if (i % 4 == 1 && two.a.desc.period[1] > 0)
            two.a.desc.period[0] = two.a.desc.period[2] = 10;
        for (size_t way = 0; way < WAYS; way++)
            compare(context, way, &two.a.desc, "many");
        free_two(&two);
    }
    close_all(context, "many");
}

/* Two of the shapes that are hard for cells: as many spheres of both, few against many, and many against few. */
static void test_shapes(void **state)
{
    static const size_t counts[][2] = {{1500, 1500}, {60, 2500}, {2500, 60}};
    (void)state;
    (void)test_need_device();
    carom_context *context[WAYS + 1];
    open_all(context);
    for (size_t i = 0; i < test_effort(GRID_SHAPES); i++) {
        const size_t *count = counts[i % COUNT_OF(counts)], other = (i * 5 + 3) % GRID_SHAPES;
        grid_many *a = grid_many_make(i, count[0]), *b = grid_many_make(i % 2 ? i : other, count[1]);
        const carom_cloud_against against = {.size = sizeof against,
                                             .count = count[1],
                                             .center = carom_xyz(b->center),
                                             .radius = carom_scalars_of(b->radius),
                                             .mask = i % 3 ? (carom_uints){0} : carom_uints_of(b->mask)};
        a->desc.against = &against;
        a->desc.margin = i % 4 == 1 && a->radius[0] > 0 ? 0.01f * a->radius[0] : 0;
        if (i % 4 == 2)
            a->desc.group = carom_uints_of(a->group);
        if (i % 5 == 3)
            a->desc.period[i % 3] = GRID_SIDE;
        a->desc.start = i % 6 == 5 ? CAROM_START_SKIP : CAROM_START_REPORT;
        a->desc.batch.accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        compare(context, 1, &a->desc, grid_shapes[i].name);
        free(a), free(b);
    }
    close_all(context, "shapes");
}

/* Without spheres on one side there are no pairs. */
static void test_empty(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *context[WAYS + 1];
    open_all(context);
    for (size_t i = 0; i < 8; i++) {
        two_clouds two;
        make_two_many(&two, 3 * (i / 4), 0); /* at rest, and in motion */
        if (i % 2)
            two.a.desc.batch.count = two.a.count = 0;
        else
            two.against.count = two.count = 0;
        grid_compare(context[WAYS], context[i / 2 % WAYS], &two.a.desc, 5, "empty");
        free_two(&two);
    }
    close_all(context, "empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_families), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_shapes), cmocka_unit_test(test_empty)};
    return cmocka_run_group_tests_name("cloud_two", tests, NULL, NULL);
}
