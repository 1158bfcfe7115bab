/* SPDX-License-Identifier: MIT */
/* Arrays in buffers of a discrete device that a call brings to the host: which parts it checks there, and what is
 * written back when a list runs out of memory. */
#include "tests/support/cl_shim.h"
#include "tests/support/lists.h"

#include <math.h>

enum { COUNT = 5000, BAD = 1000, SIDES = 4, RECORDS = 4096 };

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
    carom_context *context = cl_open_discrete();
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
static carom_list_totals ask_too_much(carom_mesh *mesh, const scene *s, uint64_t *query, uint64_t *offsets)
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
    list.offsets = offsets;
    cl_scarce.above = 16 * s->triangle_count - 1;
    cl_scarce.code = CL_OUT_OF_RESOURCES;
    test_error(carom_mesh_overlap_list(mesh, &desc, &list, NULL, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "(hits)");
    cl_relieve();
    return totals;
}

static void a_list_without_memory_keeps_its_records(void **state)
{
    enum { OFFSETS = 3 };
    static uint64_t old[RECORDS + OFFSETS], host[RECORDS + OFFSETS], got[RECORDS + OFFSETS];
    (void)state;
    carom_context *context = cl_open_discrete();
    scene s = scene_sphere(SIDES);
    carom_mesh *mesh = scene_mesh(context, &s);
    memset(old, 0xa5, sizeof old);
    memcpy(host, old, sizeof host);
    carom_buffer *buffer = fill_buffer(context, old, sizeof old);
    const carom_list_totals expected = ask_too_much(mesh, &s, host + OFFSETS, host);
    uint64_t *there = carom_buffer_address(buffer);
    const carom_list_totals totals = ask_too_much(mesh, &s, there + OFFSETS, there);
    carom_error err = {0};
    test_ok("read", carom_buffer_read(buffer, 0, got, sizeof got, &err), &err);
    assert_int_equal(expected.complete, 1);
    assert_int_equal(totals.complete, 1);
    assert_true(totals.stored > 0);
    assert_int_equal(got[0], 0);
    assert_int_equal(got[1], totals.stored);
    assert_memory_equal(&got[2], old, sizeof *old); /* of the query without an answer */
    assert_int_equal(got[OFFSETS], 0);
    assert_memory_equal(got, host, sizeof got);
    carom_buffer_destroy(buffer);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
    cl_expect_none("a list");
}

/* Memory of the host that lasts for the first of two queries. */
static atomic_size_t largest;

static void *alloc_some(void *user, size_t size, size_t alignment)
{
    (void)user;
    return size <= largest ? aligned_alloc(alignment, size) : NULL;
}

static void free_some(void *user, void *memory)
{
    (void)user;
    free(memory);
}

/* The CPU ends amid a piece of the batch, whose first queries have their records and offsets. */
static void a_list_without_host_memory_keeps_its_records(void **state)
{
    enum { OFFSETS = 3, HITS = 1 << 16 };
    static uint64_t old[OFFSETS + RECORDS], got[OFFSETS + RECORDS];
    const float center[] = {0, 0, 1, 0, 0, 0}, radius[] = {0x1p-10f, 4};
    carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
    carom_context *context = NULL;
    carom_list_totals totals = {0};
    carom_error err = {0};
    (void)state;
    carom_context_destroy(cl_open_discrete());
    desc.auto_from = UINT64_MAX;
    desc.allocator = (carom_allocator){alloc_some, free_some, NULL};
    largest = SIZE_MAX;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    scene s = scene_sphere(32);
    carom_mesh *mesh = scene_mesh(context, &s);
    memset(old, 0xa5, sizeof old);
    carom_buffer *buffer = fill_buffer(context, old, sizeof old);
    uint64_t *at = carom_buffer_address(buffer);
    const carom_mesh_overlap_desc asked = {
        .batch = {.size = sizeof asked, .count = 2}, .center = carom_xyz(center), .radius = carom_scalars_of(radius)};
    const carom_hit_list list = {
        .size = sizeof list, .capacity = RECORDS, .offsets = at, .query = at + OFFSETS, .totals = &totals};
    largest = HITS;
    test_error(carom_mesh_overlap_list(mesh, &asked, &list, NULL, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "query 1");
    largest = SIZE_MAX;
    test_ok("read", carom_buffer_read(buffer, 0, got, sizeof got, &err), &err);
    assert_int_equal(totals.complete, 1);
    assert_true(totals.stored > 0);
    assert_int_equal(got[0], 0);
    assert_int_equal(got[1], totals.stored);
    assert_memory_equal(&got[2], old, sizeof *old);
    assert_int_equal(got[OFFSETS], 0);
    assert_memory_equal(&got[OFFSETS + totals.stored], old, (RECORDS - totals.stored) * sizeof *old);
    carom_buffer_destroy(buffer);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
    cl_expect_none("a list on the host");
}

/* ---- what they cost ---------------------------------------------------------------------------------------------- */

enum { PLACED = 64, CAPACITY = 100000, POINT = 12, PLACE = 16 /* bytes of a normal and what lies beside it */ };

/* Arrays of a call: in buffers, or in the program's memory. */
typedef struct contact_arrays {
    float *center, *distance, *point, *normal;
    uint64_t *offsets;
    size_t point_stride, normal_stride;
} contact_arrays;

typedef struct contact_sizes {
    size_t center, offsets, distance, point, normal;
} contact_sizes;

static const contact_sizes all_of = {PLACED * 12, (PLACED + 1) * sizeof(uint64_t), CAPACITY * sizeof(float),
                                     (size_t)CAPACITY *POINT, (size_t)CAPACITY *PLACE};

static carom_list_totals find_contacts(carom_mesh *mesh, const contact_arrays *a, carom_stats *stats)
{
    static const float radius = 0.25f;
    carom_list_totals totals = {0};
    carom_error err = {0};
    const carom_mesh_contacts_desc desc = {.batch = {.size = sizeof desc, .count = PLACED},
                                           .center = carom_xyz(a->center),
                                           .radius = {&radius, CAROM_REPEAT}};
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = CAPACITY,
                                     .offsets = a->offsets,
                                     .distance = a->distance,
                                     .point = {a->point, a->point + 1, a->point + 2, a->point_stride},
                                     .normal = {a->normal, a->normal + 1, a->normal + 2, a->normal_stride},
                                     .totals = &totals};
    test_ok("contacts", carom_mesh_contacts(mesh, &desc, &list, stats, &err), &err);
    return totals;
}

/* A list in buffers costs its inputs, its offsets and the records that are stored, whatever its capacity; where
 * something lies between records, those are brought too. The statistics have each byte. */
static void a_list_costs_its_records(void **state)
{
    static float center[3 * PLACED], distance[CAPACITY], point[3 * CAPACITY], normal[4 * CAPACITY];
    static uint64_t offsets[PLACED + 1];
    static char old[CAPACITY * PLACE], got[CAPACITY * PLACE];
    const contact_arrays host = {center, distance, point, normal, offsets, POINT, PLACE};
    const size_t sizes[] = {all_of.distance, all_of.point, all_of.normal};
    carom_stats stats = {.size = sizeof stats}, beside = {.size = sizeof beside};
    carom_buffer *buffer[5];
    carom_error err = {0};
    (void)state;
    carom_context *context = cl_open_without_fp64();
    scene s = scene_sphere(SIDES);
    carom_mesh *mesh = scene_mesh(context, &s);
    for (size_t i = 0; i < COUNT_OF(center); i++)
        center[i] = s.vertices[i % (3 * s.vertex_count)];
    memset(old, 0xa5, sizeof old);
    memcpy(distance, old, sizeof distance);
    memcpy(point, old, sizeof point);
    memcpy(normal, old, sizeof normal);
    buffer[0] = fill_buffer(context, center, all_of.center);
    buffer[1] = fill_buffer(context, old, all_of.offsets);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        buffer[2 + i] = fill_buffer(context, old, sizes[i]);
    const contact_arrays there = {carom_buffer_address(buffer[0]),
                                  carom_buffer_address(buffer[2]),
                                  carom_buffer_address(buffer[3]),
                                  carom_buffer_address(buffer[4]),
                                  carom_buffer_address(buffer[1]),
                                  POINT,
                                  PLACE};
    (void)find_contacts(mesh, &host, NULL); /* the programs are built */
    cl_fetched = 0;
    const carom_list_totals expected = find_contacts(mesh, &host, &beside);
    const size_t without = cl_fetched;
    cl_fetched = 0;
    const carom_list_totals totals = find_contacts(mesh, &there, &stats);
    assert_true(totals.stored >= PLACED && totals.stored < CAPACITY / 8);
    assert_int_equal(totals.stored, expected.stored);
    assert_int_equal(beside.brought + beside.returned, 0);
    assert_int_equal(stats.brought, all_of.center + (totals.stored - 1) * PLACE + 12);
    assert_int_equal(cl_fetched - without, stats.brought);
    assert_int_equal(stats.returned,
                     all_of.offsets + totals.stored * (sizeof(float) + POINT) + (totals.stored - 1) * PLACE + 12);
    assert_true(stats.download > 0.0 && stats.upload > 0.0 && stats.download + stats.upload < stats.total);
    const void *const arrays[] = {distance, point, normal};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        test_ok("read", carom_buffer_read(buffer[2 + i], 0, got, sizes[i], &err), &err);
        assert_memory_equal(got, arrays[i], sizes[i]);
    }
    for (size_t i = 0; i < COUNT_OF(buffer); i++)
        carom_buffer_destroy(buffer[i]);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
    cl_expect_none("a list in buffers");
}

/* Point and normal side by side in one structure leave nothing between them that would have to be brought. */
static void members_of_one_structure_are_written_back_alone(void **state)
{
    static float center[3 * PLACED], distance[CAPACITY], pairs[6 * CAPACITY], got[6 * CAPACITY];
    static uint64_t offsets[PLACED + 1];
    const contact_arrays host = {center, distance, pairs, pairs + 3, offsets, 2 * POINT, 2 * POINT};
    contact_arrays there = host;
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    (void)state;
    carom_context *context = cl_open_without_fp64();
    scene s = scene_sphere(SIDES);
    carom_mesh *mesh = scene_mesh(context, &s);
    for (size_t i = 0; i < COUNT_OF(center); i++)
        center[i] = s.vertices[i % (3 * s.vertex_count)];
    memset(pairs, 0xa5, sizeof pairs);
    carom_buffer *buffer = fill_buffer(context, pairs, sizeof pairs);
    there.point = carom_buffer_address(buffer);
    there.normal = there.point + 3;
    (void)find_contacts(mesh, &host, NULL);
    const carom_list_totals totals = find_contacts(mesh, &there, &stats);
    assert_int_equal(stats.brought, 0);
    assert_int_equal(stats.returned, totals.stored * 2 * POINT);
    test_ok("read", carom_buffer_read(buffer, 0, got, sizeof got, &err), &err);
    assert_memory_equal(got, pairs, sizeof got);
    carom_buffer_destroy(buffer);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
    cl_expect_none("members of a structure");
}

/* A match writes as many ended contacts as there are. The second list lacks the first two of the first. */
static void a_match_writes_what_has_ended(void **state)
{
    enum { CONTACTS = 100, GONE = 2, LEFT = CONTACTS - GONE };
    uint64_t query[CONTACTS], ended[CONTACTS], got[CONTACTS], count = 0;
    uint32_t patch[CONTACTS] = {0};
    float point[3 * CONTACTS] = {0};
    int64_t previous[LEFT];
    carom_error err = {0};
    (void)state;
    carom_context *context = cl_open_discrete();
    for (size_t i = 0; i < CONTACTS; i++)
        query[i] = i;
    memset(ended, 0xa5, sizeof ended);
    carom_buffer *old = fill_buffer(context, query, sizeof query), *gone = fill_buffer(context, ended, sizeof ended);
    const uint64_t *at = carom_buffer_address(old);
    const carom_contact_records before = {
        .size = sizeof before, .count = CONTACTS, .query = at, .patch = patch, .point = carom_xyz(point)};
    carom_contact_records now = before;
    now.count = LEFT;
    now.query = at + GONE;
    const carom_contact_match match = {
        .size = sizeof match, .previous = previous, .ended = carom_buffer_address(gone), .ended_count = &count};
    cl_fetched = cl_sent = 0;
    test_ok("match", carom_contacts_match(context, &before, &now, &match, &err), &err);
    assert_int_equal(count, GONE);
    assert_int_equal(cl_fetched, sizeof query);
    assert_int_equal(cl_sent, GONE * sizeof *ended);
    test_ok("read", carom_buffer_read(gone, 0, got, sizeof got, &err), &err);
    ended[0] = 0;
    ended[1] = 1;
    assert_memory_equal(got, ended, sizeof got);
    assert_int_equal(previous[LEFT - 1], CONTACTS - 1);
    carom_buffer_destroy(gone);
    carom_buffer_destroy(old);
    carom_context_destroy(context);
    cl_expect_none("a match");
}

/* Lists of contacts on a lattice, so that many distances tie, and the answers. */
typedef struct match_arrays {
    uint64_t query[2][COUNT], ended[COUNT], ended_count;
    int64_t previous[COUNT];
    uint32_t patch[2][COUNT];
    float point[2][COUNT][5];
} match_arrays;

static void make_contacts(match_arrays *a, size_t each)
{
    uint64_t random = 9;
    memset(a, 0xa5, sizeof *a);
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < COUNT; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            a->query[l][i] = i / (each + l);
            a->patch[l][i] = (uint32_t)(random >> 60) % 2;
            for (int k = 0; k < 3; k++)
                a->point[l][i][k] = (float)(random >> (40 + 3 * k) & 3) * (i % 5 == 0 ? 0x1p-60f : 1.0f);
        }
}

/* The arrays begin at `at`, which may be any byte. */
static carom_status ask_match(carom_context *context, void *at, carom_error *err)
{
    enum { QUERY = offsetof(match_arrays, query), PATCH = offsetof(match_arrays, patch) };
    enum { POINTS = offsetof(match_arrays, point), STRIDE = 5 * sizeof(float) };
    char *a = at;
    carom_contact_records list[2];
    for (size_t l = 0; l < 2; l++) {
        char *x = a + POINTS + l * COUNT * STRIDE;
        list[l] = (carom_contact_records){sizeof list[l],
                                          COUNT,
                                          (const void *)(a + QUERY + l * COUNT * sizeof(uint64_t)),
                                          (const void *)(a + PATCH + l * COUNT * sizeof(uint32_t)),
                                          {(const void *)x, (const void *)(x + 4), (const void *)(x + 8), STRIDE},
                                          NULL};
    }
    const carom_contact_match out = {sizeof out, (void *)(a + offsetof(match_arrays, previous)),
                                     (void *)(a + offsetof(match_arrays, ended)),
                                     (void *)(a + offsetof(match_arrays, ended_count))};
    return carom_contacts_match(context, &list[0], &list[1], &out, err);
}

/* A GPU matches lists in its memory; it leaves the ones to the host that are wrong, or crowded around one sphere. PoCL
 * bears words at any byte, so only their values are tested here. */
static void a_match_stays(void **state)
{
    static match_arrays expected, got;
    static char moved[sizeof expected + 1];
    const int has_fp64 = test_need_device().fp64;
    carom_error err = {0}, why = {0};
    (void)state;
    /* Few contacts of a sphere; many; a point that is not finite; few, in arrays that begin at an odd byte. */
    for (int kind = 0; kind < (has_fp64 ? 4 : 3); kind++) {
        const int shift = kind == 3;
        carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *context = cl_open_discrete();
        make_contacts(&expected, kind == 1 ? 100 : 7);
        expected.point[1][COUNT / 2][1] = kind == 2 ? INFINITY : 0.0f;
        memcpy(moved + shift, &expected, sizeof expected);
        carom_buffer *buffer = fill_buffer(context, moved, sizeof moved);
        char *at = carom_buffer_address(buffer);
        const carom_status status = ask_match(cpu, &expected, &why);
        for (int again = 0; again < 2; again++) { /* the first call builds programs */
            cl_fetched = cl_sent = 0;
            assert_int_equal(ask_match(context, at + shift, &err), status);
        }
        assert_int_equal(status, kind == 2 ? CAROM_ERROR_INVALID_ARGUMENT : CAROM_OK);
        assert_true(kind != 2 || strcmp(err.message, why.message) == 0);
        if (kind % 3 == 0 && has_fp64)
            assert_true(cl_fetched <= 64 && cl_sent == 0);
        test_ok("read", carom_buffer_read(buffer, (uint64_t)shift, &got, sizeof got, &err), &err);
        assert_memory_equal(&got, &expected, sizeof got);
        carom_buffer_destroy(buffer);
        carom_context_destroy(context);
        carom_context_destroy(cpu);
        cl_expect_none("a match that stays");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_begin_where_the_radius_lies),
                                       cmocka_unit_test(a_list_without_memory_keeps_its_records),
                                       cmocka_unit_test(a_list_without_host_memory_keeps_its_records),
                                       cmocka_unit_test(a_list_costs_its_records),
                                       cmocka_unit_test(members_of_one_structure_are_written_back_alone),
                                       cmocka_unit_test(a_match_writes_what_has_ended),
                                       cmocka_unit_test(a_match_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
