/* SPDX-License-Identifier: MIT */
/* The caller's arrays. Impossible counts and strides are rejected before memory is read or written. Counts beyond 32
 * bits are accepted. An output that shares a byte with another array is rejected, for every layout. */
#include "tests/support/requests.h"

#include <sys/mman.h>

enum { SEED = 101, COUNT = 60, FILL = 0xa5 };
#define MOST (UINT64_C(1) << 47)

static const uint64_t too_many[] = {MOST + 1,
                                    MOST + 2,
                                    UINT64_C(1) << 48,
                                    UINT64_C(1) << 60,
                                    (UINT64_C(1) << 61) + 1,
                                    UINT64_C(1) << 62,
                                    (UINT64_C(1) << 63) - 1,
                                    UINT64_C(1) << 63,
                                    (UINT64_C(1) << 63) + 1,
                                    UINT64_MAX - 255,
                                    UINT64_MAX - 1,
                                    UINT64_MAX};

/* ---- every call, described once ---------------------------------------------------------------------------------- */

/* One sphere and one triangle, repeated unless a test says otherwise. */
static const float ball[7] = {1, 1, 2, 0.5f, 0, 0, -1}, corner[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
static const uint32_t mask = 1;

enum {
    SWEEP_PAIRS,
    OVERLAP_PAIRS,
    SPHERE_PAIRS,
    FIRST_HIT,
    LIST,
    COMPACT,
    ANY,
    ANY_OVERLAP,
    OVERLAP_LIST,
    CLOSEST,
    CALLS
};
static const char *const call_names[] = {
    "sweep_pairs",          "overlap_pairs", "sphere_pairs", "sweep_first",  "sweep_list",
    "first hits as a list", "sweep_any",     "overlap_any",  "overlap_list", "closest"};

/* The arguments of any call. */
typedef struct arguments {
    uint64_t count;
    carom_points center;
    carom_scalars radius;
    const uint32_t *mask;
    size_t mask_stride;
    carom_pair_indices indices;
    carom_progress progress;
    uint8_t *bytes; /* state, overlap, hit */
    float *times;   /* t_first, u_first, t, distance */
    carom_points_out point;
    carom_hit_list list;
    carom_stats *stats;
} arguments;

static carom_list_totals totals;

static arguments usual(uint64_t count)
{
    return (arguments){.count = count,
                       .center = carom_repeat(ball),
                       .radius = {ball + 3, CAROM_REPEAT},
                       .list = {.size = sizeof(carom_hit_list), .totals = &totals}};
}

static carom_status call_pairs(int call, carom_context *context, const arguments *a, carom_error *err)
{
    const carom_points p0 = carom_repeat(corner), p1 = carom_repeat(corner + 3), p2 = carom_repeat(corner + 6),
                       velocity = carom_repeat(ball + 4);
    if (call == SWEEP_PAIRS) {
        const carom_sweep_pairs_desc d = {.batch.size = sizeof d,
                                          .batch.count = a->count,
                                          .center = a->center,
                                          .velocity = velocity,
                                          .radius = a->radius,
                                          .p0 = p0,
                                          .p1 = p1,
                                          .p2 = p2,
                                          .indices = a->indices,
                                          .batch.progress = a->progress};
        const carom_sweep_result out = {
            .size = sizeof out, .state = a->bytes, .t_first = a->times, .point_first = a->point};
        return carom_sweep_pairs(context, &d, &out, a->stats, err);
    }
    if (call == OVERLAP_PAIRS) {
        const carom_overlap_pairs_desc d = {.batch.size = sizeof d,
                                            .batch.count = a->count,
                                            .center = a->center,
                                            .radius = a->radius,
                                            .p0 = p0,
                                            .p1 = p1,
                                            .p2 = p2,
                                            .indices = a->indices,
                                            .batch.progress = a->progress};
        const carom_overlap_result out = {.size = sizeof out, .overlap = a->bytes};
        return carom_overlap_pairs(context, &d, &out, a->stats, err);
    }
    const carom_sphere_sweep_pairs_desc d = {.batch.size = sizeof d,
                                             .batch.count = a->count,
                                             .a0 = a->center,
                                             .a1 = a->center,
                                             .radius_a = a->radius,
                                             .b0 = p0,
                                             .b1 = p1,
                                             .radius_b = {ball + 3, CAROM_REPEAT},
                                             .indices = a->indices,
                                             .batch.progress = a->progress};
    const carom_sphere_sweep_result out = {.size = sizeof out, .state = a->bytes, .u_first = a->times};
    return carom_sphere_sweep_pairs(context, &d, &out, a->stats, err);
}

static carom_status call_any(int call, carom_context *context, carom_mesh *mesh, arguments *a, carom_error *err)
{
    if (call < FIRST_HIT)
        return call_pairs(call, context, a, err);
    const carom_mesh_sweep_desc sweep = {.batch.size = sizeof sweep,
                                         .batch.count = a->count,
                                         .center = a->center,
                                         .velocity = carom_repeat(ball + 4),
                                         .radius = a->radius,
                                         .mask = {a->mask, a->mask_stride},
                                         .batch.progress = a->progress};
    const carom_mesh_overlap_desc rest = {.batch.size = sizeof rest,
                                          .batch.count = a->count,
                                          .center = a->center,
                                          .radius = a->radius,
                                          .mask = {a->mask, a->mask_stride},
                                          .batch.progress = a->progress};
    const carom_mesh_closest_desc near = {.batch.size = sizeof near,
                                          .batch.count = a->count,
                                          .center = a->center,
                                          .radius = a->radius,
                                          .max_distance = {ball + 2, CAROM_REPEAT},
                                          .mask = {a->mask, a->mask_stride},
                                          .batch.progress = a->progress};
    const carom_mesh_hit_result hit = {.size = sizeof hit, .state = a->bytes, .t = a->times, .point = a->point};
    const carom_mesh_closest_result closest = {
        .size = sizeof closest, .feature = a->bytes, .distance = a->times, .point = a->point};
    switch (call) {
    case FIRST_HIT: return carom_mesh_sweep_first(mesh, &sweep, &hit, a->stats, err);
    case LIST: return carom_mesh_sweep_list(mesh, &sweep, CAROM_HITS_ALL, &a->list, a->stats, err);
    case COMPACT: return carom_mesh_sweep_list(mesh, &sweep, CAROM_HITS_FIRST, &a->list, a->stats, err);
    case ANY: return carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(a->bytes), a->stats, err);
    case ANY_OVERLAP: return carom_mesh_overlap_any(mesh, &rest, TEST_ANY(a->bytes), a->stats, err);
    case OVERLAP_LIST: return carom_mesh_overlap_list(mesh, &rest, &a->list, a->stats, err);
    default: return carom_mesh_closest(mesh, &near, &closest, a->stats, err);
    }
}

static int is_list(int call)
{
    return call == LIST || call == COMPACT || call == OVERLAP_LIST;
}

static carom_context *context;
static carom_mesh *triangle, *empty;

static int setup(void **state)
{
    (void)state;
    carom_error err = {0};
    const carom_mesh_desc one = {
        .size = sizeof one, .vertices = carom_xyz(corner), .vertex_count = 3, .triangle_count = 1};
    const carom_mesh_desc none = {.size = sizeof none};
    context = test_context();
    test_ok("a mesh", carom_mesh_create(context, &one, &triangle, &err), &err);
    test_ok("an empty mesh", carom_mesh_create(context, &none, &empty, &err), &err);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    carom_mesh_destroy(triangle);
    carom_mesh_destroy(empty);
    carom_context_destroy(context);
    return 0;
}

/* The call must fail with these words in its message, and write nothing. It runs on a mesh of one triangle and on an
 * empty one. */
static void refuse(int call, arguments a, const char *word, const char *other)
{
    unsigned char before[64], bytes[64], *const writable[] = {a.bytes, (unsigned char *)a.times};
    for (int is_empty = 0; is_empty < 2; is_empty++)
        for (size_t k = 0; k < COUNT_OF(writable); k++) {
            carom_error err = {0};
            carom_stats stats = {.size = sizeof stats, .queries = 77};
            arguments mine = a;
            mine.stats = a.stats != NULL ? a.stats : &stats;
            mine.list.totals->total = mine.list.totals->complete = mine.list.totals->stored = 77;
            if (writable[k] != NULL)
                memcpy(before, writable[k], 16);
            const carom_status status = call_any(call, context, is_empty ? empty : triangle, &mine, &err);
            if (status != CAROM_ERROR_INVALID_ARGUMENT)
                fail_msg("%s: %s instead of a refusal of %s", call_names[call], carom_status_name(status), word);
            test_error(status, CAROM_ERROR_INVALID_ARGUMENT, &err, word);
            test_error(status, CAROM_ERROR_INVALID_ARGUMENT, &err, other);
            assert_true(stats.queries == 77 && mine.list.totals->total == 77 && mine.list.totals->complete == 77);
            if (writable[k] != NULL) {
                memcpy(bytes, writable[k], 16);
                assert_memory_equal(before, bytes, 16);
            }
        }
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

/* The arguments that the call requires. */
static arguments least(int call, uint64_t count)
{
    static uint8_t bytes[16];
    arguments a = usual(count);
    a.bytes = call == ANY || call == ANY_OVERLAP ? bytes : NULL;
    return a;
}

/* With and without outputs. With strides of 0 only the count itself is too large; with other strides the arrays are
 * too. */
static void test_counts_refused(void **state)
{
    static float t[4];
    static uint8_t bytes[16];
    (void)state;
    for (int call = 0; call < CALLS; call++)
        for (size_t i = 0; i < COUNT_OF(too_many); i++)
            for (int variant = 0; variant < 4; variant++) {
                arguments a = least(call, too_many[i]);
                if (variant & 1) {
                    a.center.stride = 12;
                    a.radius.stride = 4;
                }
                if (variant & 2) {
                    a.bytes = bytes;
                    a.times = t;
                }
                refuse(call, a, "count", "2^47");
            }
}

/* Possible counts, but arrays whose size or stride is impossible. */
static void test_sizes_refused(void **state)
{
    static float t[4], xyz[12];
    static uint8_t bytes[16];
    static uint64_t offsets[4];
    (void)state;
    for (int call = 0; call < CALLS; call++) {
        arguments a = least(call, MOST / 2);
        a.center.stride = 4;
        refuse(call, a, call == SPHERE_PAIRS ? "a0" : "center", "2^47");
        a = least(call, 1000);
        a.radius.stride = SIZE_MAX - 3; /* -4 as a size_t */
        refuse(call, a, "radius", "apart");
        a.radius.stride = UINT64_C(1) << 40;
        refuse(call, a, "radius", "apart");
        a.radius.stride = SIZE_MAX / 999 + 1; /* the product wraps */
        refuse(call, a, "radius", "apart");
        a = least(call, 1000);
        a.radius = (carom_scalars){(const float *)(UINTPTR_MAX - 3999 + 4), 4}; /* the address wraps */
        refuse(call, a, "radius", "apart");
        a = least(call, MOST);
        if (call == SWEEP_PAIRS || call == FIRST_HIT || call == CLOSEST || call == SPHERE_PAIRS) {
            a.times = t;
            refuse(call, a, call == CLOSEST ? "distance" : call == SPHERE_PAIRS ? "u_first" : "t", "2^47");
        }
        if (call == SWEEP_PAIRS || call == FIRST_HIT || call == CLOSEST) {
            a = least(call, 3);
            a.point = (carom_points_out){xyz, xyz + 1, xyz + 2, SIZE_MAX / 2};
            refuse(call, a, "point", "apart");
        }
        if (call >= FIRST_HIT) {
            a = least(call, 3);
            a.bytes = bytes;
            a.mask = &mask;
            a.mask_stride = SIZE_MAX - 3;
            refuse(call, a, "mask", "apart");
        }
        if (is_list(call)) {
            a = least(call, MOST);
            a.list.offsets = offsets;
            refuse(call, a, "offsets", "2^47");
            a = least(call, 1);
            a.list.capacity = UINT64_MAX;
            a.list.query = offsets;
            refuse(call, a, "query", "2^47");
            a.list.capacity = UINT64_C(1) << 61; /* of 8 bytes: the product wraps to 0 */
            refuse(call, a, "query", "2^47");
        }
        if (call < FIRST_HIT) {
            static const uint32_t zero[4];
            a = least(call, 1);
            a.indices = pair_indices(zero, zero, UINT64_MAX, 1);
            refuse(call, a, "a_count", "2^47");
            a.indices = pair_indices(zero, zero, 1, MOST + 1);
            refuse(call, a, "b_count", "2^47");
            a.center.stride = 12;
            a.indices = pair_indices(zero, zero, MOST / 8, 1);
            refuse(call, a, call == SPHERE_PAIRS ? "a0" : "center", "2^47");
            a = least(call, MOST);
            a.indices = pair_indices(zero, zero, 1, 1);
            refuse(call, a, "indices.a", "2^47");
        }
    }
}

static void refuse_mesh(const carom_mesh_desc *desc, const char *word)
{
    carom_error err = {0};
    carom_mesh *mesh = NULL;
    test_error(carom_mesh_create(context, desc, &mesh, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, word);
    assert_null(mesh);
}

static void test_meshes_refused(void **state)
{
    static const uint32_t indices[3] = {0, 1, 2};
    const carom_mesh_desc good = {.size = sizeof good,
                                  .vertices = carom_xyz(corner),
                                  .vertex_count = 3,
                                  .indices = {indices, sizeof(uint32_t)},
                                  .triangle_count = 1};
    carom_error err = {0};
    carom_mesh_desc d = good;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(too_many); i++) {
        d = good;
        d.vertex_count = too_many[i];
        refuse_mesh(&d, "vertex_count");
        d = good;
        d.triangle_count = too_many[i];
        refuse_mesh(&d, "triangle_count");
    }
    d = good;
    d.triangle_count = UINT64_C(1) << 31;
    refuse_mesh(&d, "triangle_count");
    d = good;
    d.vertex_count = UINT64_C(1) << 32;
    refuse_mesh(&d, "vertex_count");
    d = good;
    d.vertices.stride = SIZE_MAX - 11;
    refuse_mesh(&d, "vertices");
    d.vertices.stride = (size_t)1 << 46;
    refuse_mesh(&d, "vertices");
    d = good;
    d.indices.data = (const uint32_t *)(UINTPTR_MAX - 7);
    refuse_mesh(&d, "indices");
    d = good;
    d.masks = (carom_uints){(const uint32_t *)(UINTPTR_MAX - 2), 4};
    refuse_mesh(&d, "masks");
    carom_points vertices = good.vertices;
    vertices.stride = SIZE_MAX / 2;
    test_error(carom_mesh_update(triangle, &vertices, CAROM_MESH_AUTO, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "vertices");
}

static int stop_at_once(void *user, uint64_t done, uint64_t count)
{
    uint64_t *first = user;
    (void)count;
    *first = done;
    return done > 0;
}

/* Counts around 2^31 and 2^32. The progress callback cancels the batch after its first piece, so the test is short. */
static void test_large_counts(void **state)
{
    static const uint64_t counts[] = {(UINT64_C(1) << 31) - 1, UINT64_C(1) << 31, (UINT64_C(1) << 32) - 1,
                                      UINT64_C(1) << 32, (UINT64_C(1) << 32) + 5};
    const size_t room = (size_t)(UINT64_C(1) << 32) + 4096;
    uint8_t *bytes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)state;
    if (bytes == MAP_FAILED)
        test_skip("memory", "no address space of 4 GiB");
    for (int call = 0; call < CALLS; call++)
        for (size_t i = 0; i < COUNT_OF(counts); i++) {
            uint64_t done = 0;
            carom_error err = {0};
            carom_stats stats = {.size = sizeof stats};
            arguments a = usual(counts[i]);
            a.bytes = is_list(call) ? NULL : bytes;
            a.progress = (carom_progress){stop_at_once, &done};
            a.stats = &stats;
            const carom_status status = call_any(call, context, triangle, &a, &err);
            if (status != CAROM_ERROR_CANCELLED)
                fail_msg("%s of %llu: %s: %s", call_names[call], (unsigned long long)counts[i],
                         carom_status_name(status), err.message);
            assert_true(done > 0 && done < counts[i]);
            assert_int_equal(stats.on_cpu + stats.on_device, done);
            (void)madvise(bytes, room, MADV_DONTNEED);
        }
    (void)munmap(bytes, room);
}

/* ---- outputs that overlap other arrays --------------------------------------------------------------------------- */

typedef struct record {
    float center[3], radius, point[3], spare;
    uint32_t mask;
} record;

static void test_outputs_named(void **state)
{
    static record r[COUNT];
    static uint64_t words[2 * COUNT];
    float *const f = (float *)words;
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        r[i] = (record){.center = {1, 1, 2}, .radius = 0.5f, .mask = 1};
    for (int call = 0; call < CALLS; call++) {
        const char *const center = call == SPHERE_PAIRS ? "a0" : "center";
        const char *const bytes = call == SWEEP_PAIRS || call == FIRST_HIT || call == SPHERE_PAIRS ? "state"
                                  : call == OVERLAP_PAIRS                                          ? "overlap"
                                  : call == CLOSEST                                                ? "feature"
                                                                                                   : "hit";
        const int has_times = call == SWEEP_PAIRS || call == SPHERE_PAIRS || call == FIRST_HIT || call == CLOSEST;
        arguments a = usual(COUNT);
        a.center = carom_strided(r->center, sizeof *r);
        const arguments good = a;
        if (is_list(call)) {
            a.list.offsets = (uint64_t *)(void *)r;
            refuse(call, a, "offsets", center);
            a = good;
            a.list.capacity = COUNT;
            a.list.query = words;
            a.list.triangle = (int32_t *)words + 2;
            refuse(call, a, "triangle", "query");
            a.list.query = NULL;
            a.list.offsets = words + COUNT / 2 - 1;
            refuse(call, a, "triangle", "offsets");
            continue;
        }
        a.bytes = (uint8_t *)&r[COUNT - 1].center[2] + 3; /* the last byte of a coordinate */
        refuse(call, a, bytes, center);
        a = good;
        a.bytes = (uint8_t *)words;
        a.stats = (carom_stats *)(void *)words;
        ((carom_stats *)(void *)words)->size = sizeof(carom_stats);
        refuse(call, a, bytes, "stats");
        if (call >= FIRST_HIT) {
            a = good;
            a.mask = &r->mask;
            a.mask_stride = sizeof *r;
            a.bytes = (uint8_t *)&r[5].mask;
            refuse(call, a, bytes, "input");
        }
        if (has_times) {
            a = good;
            a.bytes = (uint8_t *)words + 4 * COUNT - 1;
            a.times = f;
            refuse(call, a, bytes, "output");
            a = good;
            a.radius = (carom_scalars){f, 4};
            for (size_t i = 0; i < COUNT; i++)
                f[i] = 0.5f;
            a.times = f; /* in place */
            refuse(call, a, call == CLOSEST ? "distance" : call == SPHERE_PAIRS ? "u_first" : "t", "radius");
        }
        if (call == SWEEP_PAIRS || call == FIRST_HIT || call == CLOSEST) {
            a = good;
            a.point = (carom_points_out){&r->center[0], &r->point[1], &r->point[2], sizeof *r};
            refuse(call, a, "point", "center");
            a.point = (carom_points_out){&r->point[0], &r->point[0], &r->point[2], sizeof *r};
            refuse(call, a, ".y", ".x");
            a.point = (carom_points_out){f, f + 1, f + 2, 4}; /* each coordinate overlaps one of the next query */
            refuse(call, a, "point", "shares memory");
        }
    }
}

/* Inputs and outputs are members of one structure and share no byte: accepted. */
static void test_members(void **state)
{
    static record r[COUNT];
    static uint8_t any[COUNT];
    (void)state;
    for (int call = 0; call < CALLS; call++) {
        carom_error err = {0};
        arguments a = usual(COUNT);
        for (size_t i = 0; i < COUNT; i++)
            r[i] = (record){.center = {1, 1, 2}, .radius = 0.5f, .point = {9, 9, 9}, .spare = 7, .mask = 1};
        a.center = carom_strided(r->center, sizeof *r);
        a.radius = (carom_scalars){&r->radius, sizeof *r};
        a.mask = &r->mask;
        a.mask_stride = sizeof *r;
        a.point = (carom_points_out){&r->point[0], &r->point[1], &r->point[2], sizeof *r};
        a.bytes = any;
        test_ok(call_names[call], call_any(call, context, triangle, &a, &err), &err);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(r[i].spare == 7 && r[i].mask == 1 && r[i].radius == 0.5f && r[i].center[2] == 2);
            if (call == SWEEP_PAIRS || call == FIRST_HIT || call == CLOSEST)
                assert_true(r[i].point[0] == 1 && r[i].point[1] == 1 && r[i].point[2] == 0);
            else
                assert_true(r[i].point[0] == 9);
        }
    }
}

/* Random layouts in a small arena. An oracle that marks each byte says whether arrays overlap. */
enum { ARENA = 640 };

static int mark(uint8_t *map, size_t at, size_t stride, size_t count, size_t size, uint8_t own, uint8_t others)
{
    int meets = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < size; k++) {
            meets |= (map[at + i * stride + k] & others) != 0;
            map[at + i * stride + k] |= own;
        }
    return meets;
}

static uint64_t below(uint64_t *random, uint64_t n)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*random >> 33) % n;
}

static void test_random_layouts(void **state)
{
    static float arena[ARENA / sizeof(float)];
    uint64_t random = SEED;
    size_t refused = 0, taken = 0;
    (void)state;
    for (size_t round = 0; round < test_effort(20000); round++) {
        const size_t count = 1 + below(&random, 7), in_stride = below(&random, 2) ? 0 : 4 + below(&random, 37),
                     out_stride = 4 + below(&random, 37);
        uint8_t map[ARENA] = {0};
        size_t in[3], to[4];
        int meets = 0;
        carom_error err = {0};
        arguments a = usual(count);
        for (size_t k = 0; k < 3; k++)
            in[k] = k > 0 && below(&random, 2) ? in[k - 1] + 4 : below(&random, ARENA - 280);
        for (size_t k = 0; k < 3; k++)
            to[k] = k > 0 && below(&random, 2) ? to[k - 1] + 4 : below(&random, ARENA - 280);
        to[3] = below(&random, ARENA - 280);
        char *const base = (char *)arena;
        a.center = (carom_points){(float *)(void *)(base + in[0]), (float *)(void *)(base + in[1]),
                                  (float *)(void *)(base + in[2]), in_stride != 0 ? in_stride : CAROM_REPEAT};
        a.point = (carom_points_out){(float *)(void *)(base + to[0]), (float *)(void *)(base + to[1]),
                                     (float *)(void *)(base + to[2]), out_stride};
        a.bytes = (uint8_t *)base + to[3];
        for (size_t k = 0; k < 3; k++)
            (void)mark(map, in[k], in_stride, count, 4, 1, 0);
        for (size_t k = 0; k < 3; k++)
            meets |= mark(map, to[k], out_stride, count, 4, 2, 3);
        meets |= mark(map, to[3], 1, count, 1, 2, 3);
        const carom_status status = call_any(SWEEP_PAIRS, context, NULL, &a, &err);
        if (status != (meets ? CAROM_ERROR_INVALID_ARGUMENT : CAROM_OK))
            fail_msg("%zu pairs, center %zu %zu %zu stride %zu, point %zu %zu %zu stride %zu, state %zu: %s %s", count,
                     in[0], in[1], in[2], in_stride, to[0], to[1], to[2], out_stride, to[3], carom_status_name(status),
                     err.message);
        refused += meets != 0;
        taken += meets == 0;
        memset(arena, 0, sizeof arena);
    }
    assert_true(refused > 10 && taken > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_refused), cmocka_unit_test(test_sizes_refused),
        cmocka_unit_test(test_meshes_refused), cmocka_unit_test(test_large_counts),
        cmocka_unit_test(test_outputs_named),  cmocka_unit_test(test_members),
        cmocka_unit_test(test_random_layouts),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
