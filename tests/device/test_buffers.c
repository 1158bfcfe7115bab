/* SPDX-License-Identifier: MIT */
/* Calls whose arrays lie in device buffers. A call's arrays are laid into an arena: memory of the test, for the CPU, or
 * a buffer of a device. Afterwards all bytes of both arenas are compared: answers, inputs, and what lies between. The
 * device is PoCL as it is, which shares the host's memory, and seen as discrete, whose buffers the host cannot touch.
 */
#include "tests/support/cl_shim.h"
#include "tests/support/scenes.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEED = 32, QUERIES = 3001, SIDES = 6, ROOM = 1 << 22, FILL = 0xa5, CAPACITY = 4 * QUERIES, OWN = 48 };

/* ---- arenas ------------------------------------------------------------------------------------------------------ */

typedef struct arena {
    carom_buffer *buffer; /* NULL: the test's memory */
    unsigned char *base;
    size_t used;
    int is_laid; /* the arrays are there already */
    /* Or each array has a buffer of its own, whose bytes are those of an arena from `start` on. */
    carom_context *apart;
    carom_buffer *own[OWN];
    size_t start[OWN];
    uint32_t count;
} arena;

static unsigned char filling[ROOM];

/* where: -1 for the test's memory. */
static arena arena_make(carom_context *context, int where)
{
    arena a = {.buffer = NULL};
    carom_error err = {0};
    memset(filling, FILL, sizeof filling);
    if (where < 0) {
        a.base = test_alloc(ROOM, 1);
        memcpy(a.base, filling, ROOM);
        return a;
    }
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = ROOM, .where = (carom_buffer_where)where};
    test_ok("carom_buffer_create", carom_buffer_create(context, &desc, &a.buffer, &err), &err);
    a.base = carom_buffer_address(a.buffer);
    test_ok("carom_buffer_write", carom_buffer_write(a.buffer, 0, filling, ROOM, &err), &err);
    return a;
}

static void arena_free(arena *a)
{
    if (a->buffer == NULL)
        free(a->base);
    carom_buffer_destroy(a->buffer);
    for (uint32_t i = 0; i < a->count; i++)
        carom_buffer_destroy(a->own[i]);
}

static carom_buffer *own_buffer(arena *a, size_t start, size_t bytes)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = bytes, .where = CAROM_BUFFER_DEVICE};
    carom_error err = {0};
    carom_buffer **own = &a->own[a->count];
    assert_true(a->count < OWN);
    if (!a->is_laid) {
        test_ok("carom_buffer_create", carom_buffer_create(a->apart, &desc, own, &err), &err);
        test_ok("carom_buffer_write", carom_buffer_write(*own, 0, filling, bytes, &err), &err);
    }
    a->start[a->count++] = start;
    return *own;
}

/* Room for an array, `skew` bytes behind a multiple of 64. */
static void *room_for(arena *a, size_t bytes, size_t skew)
{
    const size_t start = (a->used + 63) / 64 * 64 + skew;
    a->used = start + bytes;
    assert_true(a->used <= ROOM);
    return a->apart != NULL ? carom_buffer_address(own_buffer(a, start, bytes)) : a->base + start;
}

static void *put(arena *a, const void *data, size_t bytes, size_t skew)
{
    carom_error err = {0};
    unsigned char *at = room_for(a, bytes, skew);
    if (a->is_laid)
        return at;
    if (a->apart != NULL)
        test_ok("carom_buffer_write", carom_buffer_write(a->own[a->count - 1], 0, data, bytes, &err), &err);
    else if (a->buffer == NULL)
        memcpy(at, data, bytes);
    else
        test_ok("carom_buffer_write", carom_buffer_write(a->buffer, (uint64_t)(at - a->base), data, bytes, &err), &err);
    return at;
}

static void compare(const arena *expected, const arena *got, const char *what)
{
    unsigned char *bytes = test_alloc(ROOM, 1);
    carom_error err = {0};
    test_ok("carom_buffer_read", carom_buffer_read(got->buffer, 0, bytes, ROOM, &err), &err);
    assert_int_equal(expected->used, got->used);
    for (size_t i = 0; i < ROOM; i++)
        if (expected->base[i] != bytes[i])
            fail_msg("%s: byte %zu is %02x, not %02x", what, i, bytes[i], expected->base[i]);
    free(bytes);
}

static void compare_apart(const arena *expected, const arena *got, const char *what)
{
    unsigned char *bytes = test_alloc(ROOM, 1);
    for (uint32_t i = 0; i < got->count; i++) {
        carom_buffer_info info = {.size = sizeof info};
        assert_int_equal(carom_buffer_get_info(got->own[i], &info, NULL), CAROM_OK);
        assert_int_equal(carom_buffer_read(got->own[i], 0, bytes, info.bytes, NULL), CAROM_OK);
        if (memcmp(expected->base + got->start[i], bytes, info.bytes) != 0)
            fail_msg("%s: buffer %u differs", what, i);
    }
    free(bytes);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* How arrays lie: bytes from one element to the next, how they are aligned, and whether queries select elements. */
typedef struct layout {
    const char *name;
    size_t step, skew;
    int selects;
} layout;
static const layout layouts[] = {
    {"columns", 4, 0, 0}, {"records", 20, 0, 0}, {"misaligned", 4, 2, 0}, {"selected", 4, 4, 1}};

/* `words` arrays as one array of records, `step` bytes each. */
static float *put_records(arena *a, const layout *l, float *const *words, size_t width, size_t count)
{
    unsigned char *records = test_alloc(count, l->step);
    memset(records, FILL, count * l->step);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++)
            memcpy(records + i * l->step + 4 * k, words[k] + i, 4);
    float *at = put(a, records, count * l->step, l->skew);
    free(records);
    return at;
}

static carom_points put_points(arena *a, const layout *l, float *const *xyz, size_t count)
{
    if (l->step >= 12)
        return carom_strided(put_records(a, l, xyz, 3, count), l->step);
    const float *x = put_records(a, l, xyz, 1, count), *y = put_records(a, l, xyz + 1, 1, count);
    return carom_soa(x, y, put_records(a, l, xyz + 2, 1, count));
}

static carom_scalars put_scalars(arena *a, const layout *l, float *data, size_t count)
{
    return (carom_scalars){put_records(a, l, &data, 1, count), l->step};
}

static carom_uints put_uints(arena *a, const layout *l, uint32_t *data, size_t count)
{
    float *words = (float *)(void *)data;
    return (carom_uints){(uint32_t *)(void *)put_records(a, l, &words, 1, count), l->step};
}

static carom_points_out room_for_points(arena *a, const layout *l, size_t count)
{
    if (l->step >= 12) {
        float *p = room_for(a, count * l->step, l->skew);
        return (carom_points_out){p, p + 1, p + 2, l->step};
    }
    float *x = room_for(a, count * 4, l->skew), *y = room_for(a, count * 4, l->skew);
    return (carom_points_out){x, y, room_for(a, count * 4, l->skew), 4};
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static scene walls;
static swept_spheres spheres;
static uint32_t order[QUERIES];

/* A call's context and mesh, and how its arrays lie in which arena. */
typedef struct call {
    carom_context *context;
    carom_mesh *mesh;
    arena *a;
    const layout *l;
    carom_accuracy accuracy;
    uint32_t chunk; /* most queries of a chunk; 0: all */
} call;

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
                                 .index = room_for(c->a, 4 * CAPACITY, 0),
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
    const carom_spheres_desc desc = {.batch = {.size = sizeof desc, .count = QUERIES, .accuracy = c->accuracy},
                                     .center = put_points(c->a, c->l, spheres.column, QUERIES),
                                     .radius = {put(c->a, &(float){0.03125f}, 4, c->l->skew), CAROM_REPEAT}};
    carom_list_totals totals;
    const carom_sphere_pair_list list = {.size = sizeof list,
                                         .capacity = CAPACITY,
                                         .offsets = room_for(c->a, 8 * (QUERIES + 1), 0),
                                         .a = room_for(c->a, 4 * CAPACITY, 0),
                                         .b = room_for(c->a, 4 * CAPACITY, 0),
                                         .normal = room_for_points(c->a, c->l, CAPACITY),
                                         .totals = &totals};
    return carom_spheres_list(c->context, &desc, &list, stats, err);
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

static cl_call failing_call; /* number failing_at of these fails in a batch of pairs; 0: none */
static int failing_at;

static carom_status ask_pairs(const call *c, int type, carom_stats *stats, carom_error *err)
{
    queries q = queries_mixed(type, SEED, QUERIES);
    inputs in = inputs_of(&q);
    answers out = {.type = type, .count = q.count};
    for (int i = 0; query_point_column(type, i) >= 0; i++)
        in.points[i] = put_points(c->a, c->l, q.column + query_point_column(type, i), q.count);
    for (int i = 0; query_scalar_column(type, i) >= 0; i++)
        in.scalars[i] = put_scalars(c->a, c->l, q.column[query_scalar_column(type, i)], q.count);
    if (c->l->selects) {
        in.indices.a = put_uints(c->a, c->l, order, QUERIES);
        in.indices.a_count = q.count;
    }
    for (int f = 0; f < query_fields(type); f++)
        out.field[f].data = room_for(c->a, q.count * query_field_bytes(type, f), c->l->skew);
    cl_sabotage(failing_call, failing_at, 0);
    const carom_status status = ask_with(c->context, type, c->accuracy, q.count < QUERIES ? q.count : QUERIES, &in,
                                         &out, ALL_FIELDS, stats, err);
    queries_free(&q);
    return status;
}

static carom_status pair_sweeps(const call *c, carom_stats *stats, carom_error *err)
{
    return ask_pairs(c, SWEEP, stats, err);
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
/* stays: a device uses the arrays in place; limit: but one, which the host checks. marks: bytes of each query that
 * exact mode shows the host, and columns: so many of each that is undecided. launches: where each column begins a
 * buffer, so many kernels: it is the kernel's argument. */
static const struct {
    const char *name;
    call_fn *ask;
    int stays, limit, marks, columns, launches;
} calls[] = {
    {"first", first, 1, 1, 8, 9, 2},
    {"repeated", repeated, 1, 0, 4, 4, 0},
    {"any", any, 1, 1, 5, 9, 0},
    {"overlap any", overlap_any, 1, 0, 5, 4, 0},
    {"mixed", mixed, 0, 0, 0, 0, 0},
    {"mixed any", mixed_any, 0, 0, 0, 0, 0},
    {"list", list_all, 0, 0, 0, 0, 0},
    {"list of first", list_first, 0, 0, 0, 0, 0},
    {"closest", closest, 1, 1, 8, 4, 0},
    {"contacts", contacts, 0, 0, 0, 0, 0},
    {"cloud", cloud, 0, 0, 0, 0, 0},
    {"distance", distance, 0, 0, 0, 0, 0},
    {"sweeps", pair_sweeps, 1, 0, 4, 19, 1},
    {"overlaps", pair_overlaps, 1, 0, 1, 13, 1},
    {"spheres", pair_spheres, 1, 0, 4, 14, 1},
    {"mesh", of_mesh, 0, 0, 0, 0, 0},
};

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

static int make_data(void **state)
{
    (void)state;
    walls = scene_sphere(SIDES);
    walls.masks = random_masks(SEED, walls.triangle_count);
    spheres = swept_spheres_mixed(SEED, QUERIES);
    spheres.mask = random_masks(SEED + 1, QUERIES);
    spheres.max_distance = random_limits(SEED + 2, QUERIES);
    uint32_t *shuffled = random_order(SEED + 3, QUERIES);
    memcpy(order, shuffled, sizeof order);
    free(shuffled);
    return 0;
}

static int free_data(void **state)
{
    (void)state;
    swept_spheres_free(&spheres);
    scene_free(&walls);
    return 0;
}

static size_t round_up(size_t count, size_t whole)
{
    return (count + whole - 1) / whole * whole;
}

/* What exact mode shows the host: the marks of all queries, with those that fill the lanes, and what is undecided. Two
 * columns of marks come side by side, each with room for whole lines of 32 words. */
static size_t exact_bytes(const call *how, size_t i, uint64_t undecided)
{
    carom_device_info device = {.size = sizeof device};
    if (how->accuracy == CAROM_ACCURACY_FAST)
        return 0;
    assert_int_equal(carom_context_get_device(how->context, &device, NULL), CAROM_OK);
    const size_t chunk = how->chunk != 0 ? how->chunk : QUERIES, two = calls[i].marks > 4;
    size_t rows = 0;
    for (size_t first = 0; first < QUERIES; first += chunk) {
        const size_t left = QUERIES - first, padded = round_up(left < chunk ? left : chunk, device.lanes);
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
    const size_t limits = array * (size_t)(calls[i].limit + l->selects);
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
    compare(&expected, &got, what);
    assert_int_equal(stats.on_cpu, 0);
    if (calls[i].stays && how->accuracy == CAROM_ACCURACY_EXACT && cl_seen_as.discrete)
        some_undecided += stats.by_integers;
    if (calls[i].stays && (cl_seen_as.discrete || how->accuracy == CAROM_ACCURACY_FAST))
        count_bytes(&there, i, stats.by_integers);
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
        compare_apart(&expected, &got, calls[i].name);
        count_bytes(&there, i, 0);
        assert_int_equal(cl_calls(CALL_LAUNCH), calls[i].launches);
        compare_apart(&expected, &got, calls[i].name);
        carom_mesh_destroy(there.mesh);
        carom_mesh_destroy(here.mesh);
        arena_free(&got);
        arena_free(&expected);
    }
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_expect_none("whole buffers");
}

/* ---- memory of a discrete device --------------------------------------------------------------------------------- */

static void silent(void *user, carom_log_level level, const char *line)
{
    *(int *)user += level <= CAROM_LOG_WARNING && strstr(line, "lies in the host's memory") != NULL;
}

static carom_context *open_discrete(carom_backend backend, uint64_t auto_from, int *warnings)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    (void)test_need_device();
    cl_seen_as.discrete = 1;
    cl_relieve();
    desc.backend = backend;
    desc.device = getenv("CAROM_TEST_DEVICE");
    desc.auto_from = auto_from;
    desc.device_chunk = 700;
    desc.log = silent;
    desc.log_user = warnings;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* The device answers a small batch whose arrays it has, and the CPU one of the program's arrays. */
static void test_auto(void **state)
{
    int warnings = 0;
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_AUTO, 0, &warnings);
    for (int where = -1; where <= CAROM_BUFFER_DEVICE; where++) {
        arena a = arena_make(context, where);
        const call how = {context, NULL, &a, &layouts[0], CAROM_ACCURACY_FAST, 0};
        carom_stats stats = {.size = sizeof stats};
        carom_error err = {0};
        test_ok("auto", pair_sweeps(&how, &stats, &err), &err);
        assert_int_equal(stats.on_device, where == CAROM_BUFFER_DEVICE ? stats.queries : 0);
        assert_int_equal(stats.on_cpu, where == CAROM_BUFFER_DEVICE ? 0 : stats.queries);
        arena_free(&a);
    }
    carom_context_destroy(context);
    cl_expect_none("auto");
}

static void expect_fault(volatile char *at)
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *at = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void test_far(void **state)
{
    (void)state;
    int warnings = 0;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL, 1, &warnings);
    arena a = arena_make(context, CAROM_BUFFER_DEVICE), host = arena_make(context, CAROM_BUFFER_HOST);
    carom_buffer_info info = {.size = sizeof info};
    unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
    carom_error err = {0};
    void *at = NULL;
    assert_int_equal(carom_buffer_get_info(a.buffer, &info, NULL), CAROM_OK);
    assert_int_equal(info.where, CAROM_BUFFER_DEVICE);
    assert_int_equal(info.reachable, 0);
    assert_int_equal(carom_buffer_get_info(host.buffer, &info, NULL), CAROM_OK);
    assert_int_equal(info.reachable, 1);
    expect_fault((volatile char *)a.base + 12345);
    test_ok("write", carom_buffer_write(a.buffer, 4090, bytes, 8, &err), &err);
    test_ok("map", carom_buffer_map(a.buffer, 4092, 8, CAROM_ACCESS_READ_WRITE, &at, &err), &err);
    assert_ptr_equal(at, a.base + 4092);
    assert_memory_equal(at, bytes + 2, 6);
    assert_int_equal(((unsigned char *)at)[7], FILL);
    memset(at, 0, 2);
    test_ok("unmap", carom_buffer_unmap(a.buffer, &err), &err);
    expect_fault(at);
    memset(bytes + 2, 0, 2);
    test_ok("read", carom_buffer_read(a.buffer, 4090, back, 8, &err), &err);
    assert_memory_equal(bytes, back, 8);
    test_error(carom_buffer_write(host.buffer, 0, a.base, 8, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "data lies in a buffer on the device");
    test_ok("map", carom_buffer_map(a.buffer, 0, 1, CAROM_ACCESS_WRITE, &at, &err), &err);
    arena_free(&a); /* mapped */
    arena_free(&host);
    carom_context_destroy(context);
    cl_expect_none("a buffer");
}

/* Images of meshes are the program's memory, and a child of fork() has no device. */
static void test_far_refused(void **state)
{
    (void)state;
    int warnings = 0;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL, 1, &warnings);
    arena a = arena_make(context, CAROM_BUFFER_DEVICE);
    carom_mesh *mesh = scene_mesh(context, &walls), *other = NULL;
    uint64_t bytes = 0;
    carom_error err = {0};
    const char *words = "image lies in a buffer on the device";
    test_error(carom_mesh_get_image(mesh, a.base, ROOM, &bytes, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, words);
    test_error(carom_mesh_open_image(context, a.base, ROOM, &other, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, words);
    const pid_t child = fork();
    if (child == 0) {
        const carom_status got = carom_buffer_read(a.buffer, 0, &bytes, sizeof bytes, NULL);
        const carom_status put_back = carom_buffer_write(a.buffer, 0, &bytes, sizeof bytes, NULL);
        carom_buffer_destroy(a.buffer);
        _exit(got != CAROM_ERROR_NO_DEVICE || put_back != CAROM_ERROR_NO_DEVICE);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    carom_mesh_destroy(mesh);
    arena_free(&a);
    carom_context_destroy(context);
    cl_expect_none("refused");
}

/* ---- buffers of other contexts ----------------------------------------------------------------------------------- */

static carom_status move_pair(carom_context *context, const float *numbers, float *t, carom_error *err)
{
    const carom_sweep_pairs_desc desc = {.batch = {.size = sizeof desc, .count = 1},
                                         .center = carom_xyz(numbers),
                                         .velocity = carom_xyz(numbers + 3),
                                         .radius = carom_scalars_of(numbers + 6),
                                         .p0 = carom_xyz(numbers + 7),
                                         .p1 = carom_xyz(numbers + 10),
                                         .p2 = carom_xyz(numbers + 13)};
    const carom_sweep_result out = {.size = sizeof out, .t_first = t};
    return carom_sweep_pairs(context, &desc, &out, NULL, err);
}

static void refuse_foreign(carom_context *context, carom_buffer *own, float *foreign)
{
    static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;
    static float numbers[16], t;
    const carom_buffer_desc wrapped = {.size = sizeof wrapped, .bytes = 64, .host = foreign};
    carom_mesh_desc shape = scene_desc(&walls);
    carom_buffer *none = NULL;
    carom_mesh *mesh = scene_mesh(context, &walls), *other = NULL;
    uint64_t bytes = 0;
    carom_error err = {0};
    test_error(move_pair(context, foreign, &t, &err), bad, &err, "center.x lies in a buffer of another context");
    test_error(move_pair(context, numbers, foreign, &err), bad, &err, "t_first lies in a buffer of another context");
    test_ok("own memory", move_pair(context, numbers, &t, &err), &err);
    shape.vertices = carom_xyz(foreign);
    test_error(carom_mesh_create(context, &shape, &other, &err), bad, &err, "lies in a buffer of another context");
    test_error(carom_mesh_get_image(mesh, foreign, ROOM, &bytes, &err), bad, &err, "image lies in a buffer of another");
    test_error(carom_mesh_open_image(context, foreign, ROOM, &other, &err), bad, &err, "image lies in a buffer of");
    test_error(carom_buffer_create(context, &wrapped, &none, &err), bad, &err, "on the device of another context");
    if (own != NULL) {
        test_error(carom_buffer_write(own, 0, foreign, 4, &err), bad, &err, "data lies in a buffer of another context");
        test_error(carom_buffer_read(own, 0, foreign, 4, &err), bad, &err, "data lies in a buffer of another context");
    }
    assert_null(none);
    assert_null(other);
    carom_mesh_destroy(mesh);
}

/* The addresses of a context's buffer in calls of a context without buffers, with a host buffer, with a device buffer;
 * and of one that is mapped. More buffers than a page of the list of ranges has. */
static void test_foreign(void **state)
{
    enum { MANY = 600 };
    (void)state;
    int warnings = 0;
    carom_context *owner = open_discrete(CAROM_BACKEND_OPENCL, 1, &warnings);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = open_discrete(CAROM_BACKEND_OPENCL, 1, &warnings);
    carom_buffer *buffers[MANY];
    carom_buffer_desc desc = {.size = sizeof desc, .bytes = 4096, .where = CAROM_BUFFER_DEVICE};
    carom_error err = {0};
    for (int i = 0; i < MANY; i++)
        test_ok("create", carom_buffer_create(owner, &desc, &buffers[i], &err), &err);
    arena host = arena_make(cpu, CAROM_BUFFER_HOST), far = arena_make(device, CAROM_BUFFER_DEVICE);
    for (int i = 0; i < MANY; i += MANY - 1) {
        void *at = NULL;
        refuse_foreign(cpu, host.buffer, carom_buffer_address(buffers[i]));
        refuse_foreign(device, far.buffer, carom_buffer_address(buffers[i]));
        test_ok("map", carom_buffer_map(buffers[i], 0, 4096, CAROM_ACCESS_WRITE, &at, &err), &err);
        refuse_foreign(cpu, host.buffer, at);
    }
    arena_free(&host);
    refuse_foreign(cpu, NULL, carom_buffer_address(buffers[0]));
    for (int i = 0; i < MANY; i++)
        carom_buffer_destroy(buffers[i]);
    arena_free(&far);
    carom_context_destroy(owner);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("foreign buffers");
}

/* A buffer that the device has no memory for. */
static void test_scarce(void **state)
{
    static const carom_backend backends[] = {CAROM_BACKEND_OPENCL, CAROM_BACKEND_AUTO};
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = ROOM, .where = CAROM_BUFFER_DEVICE};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(backends); i++) {
        int warnings = 0;
        carom_buffer *buffer = NULL;
        carom_buffer_info info = {.size = sizeof info};
        carom_error err = {0};
        carom_context *context = open_discrete(backends[i], 1, &warnings);
        cl_scarce.exactly = ROOM;
        const carom_status status = carom_buffer_create(context, &desc, &buffer, &err);
        cl_relieve();
        if (backends[i] == CAROM_BACKEND_OPENCL) {
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "clCreateBuffer (a buffer)");
            assert_null(buffer);
        } else {
            test_ok("create", status, &err);
            assert_int_equal(warnings, 1);
            assert_int_equal(carom_buffer_get_info(buffer, &info, NULL), CAROM_OK);
            assert_int_equal(info.where, CAROM_BUFFER_HOST);
            assert_int_equal(info.reachable, 1);
        }
        carom_buffer_destroy(buffer);
        carom_context_destroy(context);
        cl_expect_none("a scarce device");
    }
}

/* Asks for pair sweeps while call number `at` of this kind fails, 0: none. Returns how many such calls there were. */
static int ask_failing(carom_backend backend, carom_accuracy accuracy, cl_call kind, int at, const arena *expected)
{
    int warnings = 0;
    carom_context *context = open_discrete(backend, 1, &warnings);
    arena a = arena_make(context, CAROM_BUFFER_DEVICE);
    const call how = {context, NULL, &a, &layouts[0], accuracy, 0};
    carom_error err = {0};
    failing_call = kind;
    failing_at = at;
    const carom_status status = pair_sweeps(&how, NULL, &err);
    failing_at = 0;
    const int count = cl_calls(kind);
    cl_relieve();
    if (at == 0 || status == CAROM_OK) {
        test_ok("a device that fails", status, &err);
        compare(expected, &a, "a device that fails");
    } else {
        test_error(status,
                   cl_call_code(kind) == CL_MEM_OBJECT_ALLOCATION_FAILURE ? CAROM_ERROR_OUT_OF_MEMORY
                                                                          : CAROM_ERROR_DEVICE_LOST,
                   &err, " on ");
    }
    if (backend == CAROM_BACKEND_AUTO && (kind == CALL_LAUNCH || kind == CALL_BUFFER))
        assert_int_equal(status, CAROM_OK);
    arena_free(&a);
    carom_context_destroy(context);
    cl_expect_none("a device that fails");
    return count;
}

/* Where the CPU may take over, it finds the arrays, and the buffer gets its answers. What cannot be fetched or brought
 * back is an error. */
static void test_failures(void **state)
{
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_BUFFER, CALL_READ, CALL_WRITE, CALL_COMMAND};
    const carom_accuracy accuracy = *(const carom_accuracy *)*state;
    if (!test_need_device().fp64 && accuracy == CAROM_ACCURACY_EXACT)
        test_skip("binary64", "the device has none");
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    arena expected = arena_make(cpu, -1);
    const call how = {cpu, NULL, &expected, &layouts[0], accuracy, 0};
    carom_error err = {0};
    test_ok("cpu", pair_sweeps(&how, NULL, &err), &err);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        const int calls_made = ask_failing(CAROM_BACKEND_AUTO, accuracy, kinds[k], 0, &expected);
        for (int at = 1; at <= calls_made; at += 1 + calls_made / 7) {
            (void)ask_failing(CAROM_BACKEND_AUTO, accuracy, kinds[k], at, &expected);
            (void)ask_failing(CAROM_BACKEND_OPENCL, accuracy, kinds[k], at, &expected);
        }
    }
    arena_free(&expected);
    carom_context_destroy(cpu);
}

int main(void)
{
    static carom_accuracy fast = CAROM_ACCURACY_FAST, exact = CAROM_ACCURACY_EXACT;
    static manner unified = {0, 0, 0}, discrete = {1, 1, 0}, chunks = {1, 4, 700};
    const struct CMUnitTest tests[] = {
        {"the same bytes, shared memory", compare_all, NULL, NULL, &unified},
        {"the same bytes, discrete", compare_all, NULL, NULL, &discrete},
        {"the same bytes, discrete, chunks, four lanes", compare_all, NULL, NULL, &chunks},
        {"most queries are undecided", test_all_undecided, NULL, NULL, &discrete},
        {"most queries are undecided, chunks, four lanes", test_all_undecided, NULL, NULL, &chunks},
        cmocka_unit_test(test_whole_buffers),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_far_refused),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_scarce),
        {"a device that fails", test_failures, NULL, NULL, &fast},
        {"a device that fails, exact", test_failures, NULL, NULL, &exact},
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
