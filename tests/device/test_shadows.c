/* SPDX-License-Identifier: MIT */
/* Arrays in buffers of a discrete device that a call brings to the host: which parts it checks there, and what is
 * written back when a list runs out of memory. */
#include "tests/support/cl_shim.h"
#include "tests/support/lists.h"

enum { COUNT = 5000, BAD = 1000, SIDES = 4, RECORDS = 4096 };

static carom_context *open_discrete(void)
{
    (void)test_need_device();
    cl_seen_as.discrete = 1;
    cl_relieve();
    return test_device(1, 0);
}

static carom_buffer *fill_buffer(carom_context *context, const void *data, size_t bytes)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = bytes, .where = CAROM_BUFFER_DEVICE};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
    test_ok("write", carom_buffer_write(buffer, 0, data, bytes, &err), &err);
    return buffer;
}

/* One radius for all, and limits from the same address on: all limits are checked, not the radius's bytes alone. */
static void limits_begin_where_the_radius_lies(void **state)
{
    static float numbers[8 * COUNT], t[COUNT];
    (void)state;
    carom_context *context = open_discrete();
    scene s = scene_sphere(SIDES);
    carom_mesh *mesh = scene_mesh(context, &s);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        numbers[i] = 0.25f;
    numbers[BAD] = -1;
    carom_buffer *buffer = fill_buffer(context, numbers, sizeof numbers);
    const float *at = carom_buffer_address(buffer);
    const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = COUNT},
                                        .center = carom_xyz(at + COUNT),
                                        .velocity = carom_xyz(at + 4 * COUNT),
                                        .radius = {at, CAROM_REPEAT},
                                        .t_max = carom_scalars_of(at)};
    const carom_mesh_hit_result out = {.size = sizeof out, .t = t};
    carom_error err = {0};
    test_error(carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "1000");
    carom_buffer_destroy(buffer);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
    cl_expect_none("limits");
}

/* The first sphere touches a corner, the second everything, whose hits do not fit. */
static carom_list_totals ask_too_much(carom_mesh *mesh, const scene *s, uint64_t *query)
{
    const float center[] = {s->vertices[0], s->vertices[1], s->vertices[2], 0, 0, 0}, radius[] = {1e-3f, 1e3f};
    const carom_mesh_overlap_desc desc = {
        .batch = {.size = sizeof desc, .count = 2}, .center = carom_xyz(center), .radius = carom_scalars_of(radius)};
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list, .totals = &totals};
    carom_error err = {0};
    test_ok("counts", carom_mesh_overlap_list(mesh, &desc, &list, NULL, &err), &err); /* the mesh goes over */
    list.capacity = RECORDS;
    list.query = query;
    cl_scarce.above = 16 * s->triangle_count - 1;
    cl_scarce.code = CL_OUT_OF_RESOURCES;
    test_error(carom_mesh_overlap_list(mesh, &desc, &list, NULL, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "(hits)");
    cl_relieve();
    return totals;
}

static void a_list_without_memory_keeps_its_records(void **state)
{
    static uint64_t old[RECORDS], host[RECORDS], got[RECORDS];
    (void)state;
    carom_context *context = open_discrete();
    scene s = scene_sphere(SIDES);
    carom_mesh *mesh = scene_mesh(context, &s);
    memset(old, 0xa5, sizeof old);
    memcpy(host, old, sizeof host);
    carom_buffer *buffer = fill_buffer(context, old, sizeof old);
    const carom_list_totals expected = ask_too_much(mesh, &s, host);
    const carom_list_totals totals = ask_too_much(mesh, &s, carom_buffer_address(buffer));
    carom_error err = {0};
    test_ok("read", carom_buffer_read(buffer, 0, got, sizeof got, &err), &err);
    assert_int_equal(expected.complete, 1);
    assert_int_equal(totals.complete, 1);
    assert_true(totals.stored > 0);
    assert_int_equal(got[0], 0);
    assert_memory_equal(got, host, sizeof got);
    carom_buffer_destroy(buffer);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
    cl_expect_none("a list");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_begin_where_the_radius_lies),
                                       cmocka_unit_test(a_list_without_memory_keeps_its_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
