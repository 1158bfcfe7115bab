/* SPDX-License-Identifier: MIT */
/* Calls whose arrays lie in device buffers. A call's arrays are laid into an arena: memory of the test, for the CPU, or
 * a buffer of a device. Afterwards all bytes of both arenas are compared: answers, inputs, and what lies between. The
 * device is PoCL as it is, which shares the host's memory, and seen as discrete, whose buffers the host cannot touch.
 */
#include "tests/support/arenas.h"

#include <math.h>

enum { CAPACITY = 4 * QUERIES };

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static carom_batch batch_of(const call *c, size_t size)
{
    carom_batch batch = {.size = size, .count = QUERIES, .accuracy = c->accuracy};
    if (c->l->selects) {
        batch.select = put_uints(c->a, c->l, order, QUERIES);
        batch.elements = QUERIES;
    }
    return batch;
}

static carom_mesh_sweep_desc sweep_of(const call *c)
{
    return (carom_mesh_sweep_desc){.batch = batch_of(c, sizeof(carom_mesh_sweep_desc)),
                                   .center = put_points(c->a, c->l, spheres.column, QUERIES),
                                   .velocity = put_points(c->a, c->l, spheres.column + SPHERE_VELOCITY, QUERIES),
                                   .radius = put_scalars(c->a, c->l, spheres.column[SPHERE_RADIUS], QUERIES),
                                   .t_max = put_scalars(c->a, c->l, spheres.column[SPHERE_T_MAX], QUERIES),
                                   .mask = put_uints(c->a, c->l, spheres.mask, QUERIES)};
}

static carom_mesh_overlap_desc overlap_of(const call *c)
{
    return (carom_mesh_overlap_desc){.batch = batch_of(c, sizeof(carom_mesh_overlap_desc)),
                                     .center = put_points(c->a, c->l, spheres.column, QUERIES),
                                     .radius = put_scalars(c->a, c->l, spheres.column[SPHERE_RADIUS], QUERIES)};
}

static carom_status first(const call *c, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = sweep_of(c);
    const size_t skew = c->l->skew;
    const carom_mesh_hit_result out = {.size = sizeof out,
                                       .triangle = room_for(c->a, 4 * QUERIES, skew),
                                       .state = room_for(c->a, QUERIES, skew),
                                       .t = room_for(c->a, 4 * QUERIES, skew),
                                       .point = room_for_points(c->a, c->l, QUERIES),
                                       .normal = room_for_points(c->a, c->l, QUERIES),
                                       .feature = room_for(c->a, QUERIES, skew)};
    return carom_mesh_sweep_first(c->mesh, &desc, &out, stats, err);
}

/* One output alone, one sphere's radius for all, and a motion that all share, in the program's memory. */
static carom_status repeated(const call *c, carom_stats *stats, carom_error *err)
{
    static const float down[] = {0, 0, -1};
    carom_mesh_sweep_desc desc = {.batch = batch_of(c, sizeof desc),
                                  .center = put_points(c->a, c->l, spheres.column, QUERIES),
                                  .velocity = carom_repeat(down)};
    desc.radius = put_scalars(c->a, c->l, &(float){0.125f}, 1);
    desc.radius.stride = CAROM_REPEAT;
    const carom_mesh_hit_result out = {.size = sizeof out, .t = room_for(c->a, 4 * QUERIES, c->l->skew)};
    return carom_mesh_sweep_first(c->mesh, &desc, &out, stats, err);
}

/* Some arrays in the program's memory. Its answers are put into the arena afterwards. */
static carom_status mixed(const call *c, carom_stats *stats, carom_error *err)
{
    static float t[QUERIES];
    carom_mesh_sweep_desc desc = sweep_of(c);
    desc.velocity = carom_soa(spheres.column[SPHERE_VELOCITY], spheres.column[SPHERE_VELOCITY + 1],
                              spheres.column[SPHERE_VELOCITY + 2]);
    const carom_mesh_hit_result out = {.size = sizeof out, .triangle = room_for(c->a, 4 * QUERIES, c->l->skew), .t = t};
    const carom_status status = carom_mesh_sweep_first(c->mesh, &desc, &out, stats, err);
    (void)put(c->a, t, sizeof t, 0);
    return status;
}

static carom_status mixed_any(const call *c, carom_stats *stats, carom_error *err)
{
    static uint8_t hit[QUERIES];
    const carom_mesh_sweep_desc desc = sweep_of(c);
    const carom_status status = carom_mesh_sweep_any(c->mesh, &desc, TEST_ANY(hit), stats, err);
    (void)put(c->a, hit, sizeof hit, 0);
    return status;
}

static carom_status any(const call *c, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = sweep_of(c);
    return carom_mesh_sweep_any(c->mesh, &desc, TEST_ANY(room_for(c->a, QUERIES, 1)), stats, err);
}

static carom_status overlap_any(const call *c, carom_stats *stats, carom_error *err)
{
    const carom_mesh_overlap_desc desc = overlap_of(c);
    return carom_mesh_overlap_any(c->mesh, &desc, TEST_ANY(room_for(c->a, QUERIES, 1)), stats, err);
}

static carom_status list_of(const call *c, carom_hits which, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = sweep_of(c);
    carom_list_totals totals;
    const carom_hit_list list = {.size = sizeof list,
                                 .capacity = CAPACITY,
                                 .offsets = room_for(c->a, 8 * (QUERIES + 1), 0),
                                 .query = room_for(c->a, 8 * CAPACITY, 0),
                                 .triangle = room_for(c->a, 4 * CAPACITY, 0),
                                 .t = room_for(c->a, 4 * CAPACITY, 0),
                                 .point = room_for_points(c->a, c->l, CAPACITY),
                                 .totals = &totals};
    return carom_mesh_sweep_list(c->mesh, &desc, which, &list, stats, err);
}

static carom_status list_all(const call *c, carom_stats *stats, carom_error *err)
{
    return list_of(c, CAROM_HITS_ALL, stats, err);
}

static carom_status list_first(const call *c, carom_stats *stats, carom_error *err)
{
    return list_of(c, CAROM_HITS_FIRST, stats, err);
}

static carom_status closest(const call *c, carom_stats *stats, carom_error *err)
{
    const carom_mesh_closest_desc desc = {.batch = batch_of(c, sizeof desc),
                                          .center = put_points(c->a, c->l, spheres.column, QUERIES),
                                          .max_distance = put_scalars(c->a, c->l, spheres.max_distance, QUERIES)};
    const carom_mesh_closest_result out = {.size = sizeof out,
                                           .triangle = room_for(c->a, 4 * QUERIES, c->l->skew),
                                           .distance = room_for(c->a, 4 * QUERIES, c->l->skew),
                                           .point = room_for_points(c->a, c->l, QUERIES),
                                           .feature = room_for(c->a, QUERIES, c->l->skew)};
    return carom_mesh_closest(c->mesh, &desc, &out, stats, err);
}

static carom_status contacts(const call *c, carom_stats *stats, carom_error *err)
{
    const carom_mesh_contacts_desc desc = {.batch = batch_of(c, sizeof desc),
                                           .center = put_points(c->a, c->l, spheres.column, QUERIES),
                                           .radius = put_scalars(c->a, c->l, spheres.column[SPHERE_RADIUS], QUERIES)};
    carom_list_totals totals;
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = CAPACITY,
                                     .offsets = room_for(c->a, 8 * (QUERIES + 1), 0),
                                     .triangle = room_for(c->a, 4 * CAPACITY, 0),
                                     .depth = room_for(c->a, 4 * CAPACITY, 0),
                                     .normal = room_for_points(c->a, c->l, CAPACITY),
                                     .totals = &totals};
    return carom_mesh_contacts(c->mesh, &desc, &list, stats, err);
}

/* Spheres have no selection. */
static carom_status cloud(const call *c, carom_stats *stats, carom_error *err)
{
    const carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = QUERIES, .accuracy = c->accuracy},
                                   .center = put_points(c->a, c->l, spheres.column, QUERIES),
                                   .radius = {put(c->a, &(float){0.03125f}, 4, c->l->skew), CAROM_REPEAT}};
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = CAPACITY,
                                        .offsets = room_for(c->a, 8 * (QUERIES + 1), 0),
                                        .a = room_for(c->a, 4 * CAPACITY, 0),
                                        .b = room_for(c->a, 4 * CAPACITY, 0),
                                        .normal = room_for_points(c->a, c->l, CAPACITY),
                                        .totals = &totals};
    return carom_cloud_list(c->context, &desc, &list, stats, err);
}

static carom_status distance(const call *c, carom_stats *stats, carom_error *err)
{
    enum { NODES = 12 };
    const carom_mesh_distance_desc desc = {.batch = {.size = sizeof desc, .count = NODES, .accuracy = c->accuracy},
                                           .lattice = {{-1.5, -1.5, -1.5}, 0.25, {NODES, NODES, NODES}, {0}}};
    const carom_mesh_distance_result out = {.size = sizeof out,
                                            .distance = room_for(c->a, 4 * NODES * NODES * NODES, c->l->skew),
                                            .point = room_for_points(c->a, c->l, NODES * NODES * NODES)};
    return carom_mesh_distance(c->mesh, &desc, &out, stats, err);
}

static carom_status pair_overlaps(const call *c, carom_stats *stats, carom_error *err)
{
    return ask_pairs(c, OVERLAP, stats, err);
}

static carom_status pair_spheres(const call *c, carom_stats *stats, carom_error *err)
{
    return ask_pairs(c, SPHERES, stats, err);
}

/* A mesh of vertices, indices and masks in the arena, which moves there. */
static carom_status of_mesh(const call *c, carom_stats *stats, carom_error *err)
{
    carom_mesh_desc desc = scene_desc(&walls);
    call own = *c;
    desc.vertices = carom_xyz(put(c->a, walls.vertices, 12 * walls.vertex_count, c->l->skew));
    desc.indices = carom_uints_of(put(c->a, walls.indices, 12 * walls.triangle_count, c->l->skew));
    desc.masks = carom_uints_of(put(c->a, walls.masks, 4 * walls.triangle_count, c->l->skew));
    carom_status status = carom_mesh_create(c->context, &desc, &own.mesh, err);
    if (status == CAROM_OK)
        status = carom_mesh_update(own.mesh, &desc.vertices, CAROM_MESH_REBUILD, err);
    if (status == CAROM_OK)
        status = repeated(&own, stats, err);
    carom_mesh_destroy(own.mesh);
    return status;
}

typedef carom_status call_fn(const call *c, carom_stats *stats, carom_error *err);
/* stays: a device uses the arrays in place; limit: it checks one of them, and the host reads a word. marks: bytes of
 * each query that exact mode shows the host, and columns: so many of each that is undecided. launches: where each
 * column begins a buffer, so many kernels: it is the kernel's argument. groups: of lanes, which are filled up. */
static const struct {
    const char *name;
    call_fn *ask;
    int stays, limit, marks, columns, launches, groups;
} calls[] = {
    {"first", first, 1, 1, 8, 9, 2, 1},
    {"repeated", repeated, 1, 0, 4, 4, 0, 0},
    {"any", any, 1, 1, 5, 9, 0, 0},
    {"overlap any", overlap_any, 1, 0, 5, 4, 0, 0},
    {"mixed", mixed, 0, 0, 0, 0, 0, 0},
    {"mixed any", mixed_any, 0, 0, 0, 0, 0, 0},
    {"list", list_all, 0, 0, 0, 0, 0, 0},
    {"list of first", list_first, 0, 0, 0, 0, 0, 0},
    {"closest", closest, 1, 1, 8, 4, 0, 1},
    {"contacts", contacts, 0, 0, 0, 0, 0, 0},
    {"cloud", cloud, 0, 0, 0, 0, 0, 0},
    {"distance", distance, 0, 0, 0, 0, 0, 0},
    {"sweeps", pair_sweeps, 1, 0, 4, 19, 1, 1},
    {"overlaps", pair_overlaps, 1, 0, 1, 13, 1, 1},
    {"spheres", pair_spheres, 1, 0, 4, 14, 1, 1},
    {"mesh", of_mesh, 0, 0, 0, 0, 0, 0},
};

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

static size_t round_up(size_t count, size_t whole)
{
    return (count + whole - 1) / whole * whole;
}

/* What exact mode shows the host: the marks of all queries, with those that fill groups of lanes, and what is
 * undecided. Two columns of marks come side by side, each with room for whole lines of 32 words. */
static size_t exact_bytes(const call *how, size_t i, uint64_t undecided)
{
    carom_device_info device = {.size = sizeof device};
    if (how->accuracy == CAROM_ACCURACY_FAST)
        return 0;
    assert_int_equal(carom_context_get_device(how->context, &device, NULL), CAROM_OK);
    const size_t chunk = how->chunk != 0 ? how->chunk : QUERIES, two = calls[i].marks > 4;
    const size_t lanes = calls[i].groups ? device.lanes : 1;
    size_t rows = 0;
    for (size_t first = 0; first < QUERIES; first += chunk) {
        const size_t left = QUERIES - first, padded = round_up(left < chunk ? left : chunk, lanes);
        rows += two ? round_up(padded, 32) : padded;
    }
    return rows * (size_t)calls[i].marks + undecided * 4 * (size_t)calls[i].columns;
}

/* What a call transfers once its programs are built, which is now: of a discrete device's buffers nothing but what the
 * host checks and what exact mode leaves undecided, in shared memory nothing. */
static void count_bytes(const call *how, size_t i, uint64_t undecided)
{
    const layout *l = how->l;
    const size_t array = (QUERIES - 1) * l->step + 4;
    carom_error err = {0};
    how->a->used = how->a->count = 0;
    how->a->is_laid = 1;
    cl_relieve();
    cl_fetched = 0;
    test_ok(calls[i].name, calls[i].ask(how, NULL, &err), &err);
    const size_t word = sizeof(uint32_t), select = how->accuracy == CAROM_ACCURACY_EXACT ? array : word;
    const size_t limits = word * (size_t)calls[i].limit + select * (size_t)l->selects;
    const size_t expected = cl_seen_as.discrete ? limits + exact_bytes(how, i, undecided) : 0;
    if (cl_seen_as.discrete ? cl_fetched != expected : cl_calls(CALL_READ) > 0)
        fail_msg("%s, %s: %d reads, %zu bytes, not %zu", calls[i].name, l->name, cl_calls(CALL_READ), cl_fetched,
                 expected);
    if (undecided == 0)
        assert_int_equal(cl_calls(CALL_WRITE), 0);
}

static uint64_t some_undecided; /* on discrete devices */

static void compare_call(carom_context *cpu, carom_context *device, const call *how, size_t i)
{
    call there = *how, here = *how;
    arena expected = arena_make(cpu, -1), got = arena_make(device, CAROM_BUFFER_DEVICE);
    carom_error err = {0};
    carom_stats stats = {.size = sizeof stats};
    char what[64];
    snprintf(what, sizeof what, "%s, %s, %s", calls[i].name, how->l->name,
             how->accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast");
    here.context = cpu;
    here.mesh = scene_mesh(cpu, &walls);
    here.a = &expected;
    test_ok(what, calls[i].ask(&here, NULL, &err), &err);
    there.context = device;
    there.mesh = scene_mesh(device, &walls);
    there.a = &got;
    test_ok(what, calls[i].ask(&there, &stats, &err), &err);
    assert_int_equal(stats.fallen_back, 0);
    arena_compare(&expected, &got, what);
    assert_int_equal(stats.on_cpu, 0);
    const uint64_t undecided = stats.by_second_filter + stats.by_integers;
    if (calls[i].stays && how->accuracy == CAROM_ACCURACY_EXACT && cl_seen_as.discrete)
        some_undecided += undecided;
    if (calls[i].stays && (cl_seen_as.discrete || how->accuracy == CAROM_ACCURACY_FAST))
        count_bytes(&there, i, undecided);
    carom_mesh_destroy(there.mesh);
    carom_mesh_destroy(here.mesh);
    arena_free(&got);
    arena_free(&expected);
}

/* How the device is seen. */
typedef struct manner {
    int discrete;
    uint32_t lanes, chunk; /* 0: its own */
} manner;

static void compare_all(void **state)
{
    const manner *m = *state;
    cl_seen_as.discrete = m->discrete;
    const carom_device_info device = test_need_device();
    if (!m->discrete && strcmp(device.kind, "gpu") == 0)
        test_skip("shared memory", "a GPU has memory of its own");
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2), *context = test_device(m->lanes, m->chunk);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        for (size_t l = 0; l < COUNT_OF(layouts); l++)
            for (int exact = 0; exact <= (device.fp64 && (l == 1 || calls[i].stays)); exact++) {
                const call how = {.l = &layouts[l],
                                  .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                                  .chunk = m->chunk};
                compare_call(cpu, context, &how, i);
            }
    assert_true(some_undecided > 0 || !m->discrete || !device.fp64);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_expect_none("buffers");
}

/* Spheres over a floor so that no filter decides: half of them at a distance halfway between two numbers, half of them
 * at a distance that is the radius. */
static swept_spheres hard_spheres(scene *floor)
{
    swept_spheres b = swept_spheres_alloc(QUERIES);
    for (size_t i = 0; i < floor->vertex_count; i++)
        floor->vertices[3 * i + 2] = -0x1p-24f;
    b.max_distance = test_alloc(QUERIES, sizeof *b.max_distance);
    b.mask = test_alloc(QUERIES, sizeof *b.mask);
    for (size_t i = 0; i < QUERIES; i++) {
        b.column[0][i] = (float)(i % 61) / 61.0f;
        b.column[1][i] = (float)(i % 83) / 83.0f;
        b.column[2][i] = i % 2 ? 1.0f : 0.5f;
        b.column[SPHERE_RADIUS][i] = 0.5f + 0x1p-24f;
        b.column[SPHERE_VELOCITY][i] = 1.0f;
        b.max_distance[i] = INFINITY;
        b.mask[i] = UINT32_MAX;
    }
    return b;
}

static void test_all_undecided(void **state)
{
    static const char *const names[] = {"first", "any", "overlap any", "closest"};
    const scene kept_walls = walls;
    const swept_spheres kept_spheres = spheres;
    const manner *m = *state;
    cl_seen_as.discrete = 1;
    if (!test_need_device().fp64)
        test_skip("binary64", "the device has none");
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2), *context = test_device(m->lanes, m->chunk);
    walls = scene_floor(SIDES);
    spheres = hard_spheres(&walls);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        for (size_t l = 0; l < COUNT_OF(layouts); l++)
            for (size_t k = 0; k < COUNT_OF(names); k++)
                if (strcmp(calls[i].name, names[k]) == 0) {
                    const call how = {.l = &layouts[l], .accuracy = CAROM_ACCURACY_EXACT, .chunk = m->chunk};
                    some_undecided = 0;
                    compare_call(cpu, context, &how, i);
                    if (some_undecided < QUERIES / 2)
                        fail_msg("%s: only %llu are undecided", names[k], (unsigned long long)some_undecided);
                }
    swept_spheres_free(&spheres);
    scene_free(&walls);
    walls = kept_walls;
    spheres = kept_spheres;
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_expect_none("undecided");
}

/* Arrays that begin their buffers are the kernels' arguments: nothing is copied even on the device. */
static void test_whole_buffers(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2), *context = test_device(1, 0);
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        if (calls[i].launches == 0)
            continue;
        arena expected = arena_make(cpu, -1), got = {.apart = context};
        const call here = {cpu, scene_mesh(cpu, &walls), &expected, &layouts[0], CAROM_ACCURACY_FAST, 0};
        const call there = {context, scene_mesh(context, &walls), &got, &layouts[0], CAROM_ACCURACY_FAST, 0};
        carom_error err = {0};
        test_ok(calls[i].name, calls[i].ask(&here, NULL, &err), &err);
        test_ok(calls[i].name, calls[i].ask(&there, NULL, &err), &err);
        arena_compare_apart(&expected, &got, calls[i].name);
        count_bytes(&there, i, 0);
        assert_int_equal(cl_calls(CALL_LAUNCH), calls[i].launches + calls[i].limit);
        arena_compare_apart(&expected, &got, calls[i].name);
        carom_mesh_destroy(there.mesh);
        carom_mesh_destroy(here.mesh);
        arena_free(&got);
        arena_free(&expected);
    }
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_expect_none("whole buffers");
}

int main(void)
{
    static manner unified = {0, 0, 0}, discrete = {1, 1, 0}, chunks = {1, 4, 700};
    const struct CMUnitTest tests[] = {
        {"the same bytes, shared memory", compare_all, NULL, NULL, &unified},
        {"the same bytes, discrete", compare_all, NULL, NULL, &discrete},
        {"the same bytes, discrete, chunks, four lanes", compare_all, NULL, NULL, &chunks},
        {"most queries are undecided", test_all_undecided, NULL, NULL, &discrete},
        {"most queries are undecided, chunks, four lanes", test_all_undecided, NULL, NULL, &chunks},
        cmocka_unit_test(test_whole_buffers),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
