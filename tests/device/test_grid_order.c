/* SPDX-License-Identifier: MIT */
/* Orders of clouds that a GPU makes by itself: the CPU's, index for index, for clouds of every kind that is hard for
 * cells, with arrays in the program's memory and on the device; on a GPU that errs, fails, or bears little. */
#include "tests/support/cl_shim.h"
#include "tests/support/grid_clouds.h"

#include <math.h>

static carom_status ask_order(carom_context *context, const carom_cloud_desc *d, uint32_t *order, carom_stats *stats,
                              carom_error *err)
{
    *stats = (carom_stats){.size = sizeof *stats};
    return carom_cloud_order(context, d, order, stats, err);
}

/* Compares the device's order with the CPU's. Returns how many of the spheres the device has brought into order. */
static uint64_t compare(carom_context *cpu, carom_context *device, const carom_cloud_desc *d, const char *what)
{
    const size_t count = (size_t)d->batch.count;
    uint32_t *expected = test_alloc(count + 1, sizeof *expected), *got = test_alloc(count + 1, sizeof *got);
    carom_stats stats;
    carom_error err = {0};
    memset(got, 0x5a, (count + 1) * sizeof *got);
    expected[count] = got[count];
    test_ok(what, ask_order(cpu, d, expected, &stats, &err), &err);
    test_ok(what, ask_order(device, d, got, &stats, &err), &err);
    assert_int_equal(stats.on_device + stats.on_cpu, count);
    for (size_t k = 0; k <= count; k++)
        if (got[k] != expected[k])
            fail_msg("%s, %zu spheres: number %zu is sphere %u, not %u", what, count, k, got[k], expected[k]);
    free(expected), free(got);
    return stats.on_device;
}

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

static void test_families(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t i = 0; i < test_effort(24 * CLOUD_FAMILIES); i++) {
        cloud c = make_cloud(i, 0);
        c.desc.full = 0;
        assert_int_equal(compare(cpu, device, &c.desc, cloud_family(i)), c.count);
        cloud_free(&c);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("families");
}

/* Shapes for which the CPU chooses levels by density, which is left to it. */
static int is_by_density(size_t shape)
{
    static const char *const names[] = {"outliers", "piles", "edge"};
    int is_one = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        is_one |= strcmp(grid_shapes[shape].name, names[i]) == 0;
    return is_one;
}

static void test_shapes(void **state)
{
    static const size_t counts[] = {0, 1, 255, 256, 257, 2047, 2048, 2049, GRID_MANY};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t shape = 0; shape < GRID_SHAPES; shape++)
        for (size_t i = 0; i < COUNT_OF(counts); i++) {
            grid_many *m = grid_many_make(shape, counts[i]);
            const uint64_t on_device = compare(cpu, device, &m->desc, grid_shapes[shape].name);
            if (counts[i] == GRID_MANY && (on_device == 0) != is_by_density(shape))
                fail_msg("%s: %llu spheres are on the device", grid_shapes[shape].name, (unsigned long long)on_device);
            free(m);
        }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("shapes");
}

/* Clouds that are hard to sort in bounded time: in one place, in one row, with one giant, with one sphere far away; and
 * evenly in a cube. */
typedef enum large { ONE_PLACE, ONE_ROW, ONE_GIANT, FAR_AWAY, EVENLY, LARGES } large;

static void set_large(large kind, float *center, float *radius, size_t i, ref_gen *g)
{
    const float spread[LARGES] = {0, 20000, 40, 40, 40};
    for (size_t k = 0; k < 3; k++)
        center[k] = k > 0 && kind == ONE_ROW ? 0 : (float)ref_gen_range(g, 0, 1) * spread[kind];
    *radius = kind == ONE_GIANT && i == 77 ? 1000 : 0.4f;
    center[1] = kind == FAR_AWAY && i == 77 ? -1e7f : center[1];
}

/* However the spheres lie, an order has bounded memory and few launches, and the host reads a sample. */
static void test_large(void **state)
{
    enum { MANY = 50000, BYTES_EACH = 80, BYTES = 1 << 20, LAUNCHES = 160, LEARNS = 48 << 10 };
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    float *center = test_alloc(3 * MANY, sizeof *center), *radius = test_alloc(MANY, sizeof *radius);
    ref_gen g;
    ref_gen_seed(&g, 41, 1, 0);
    for (large kind = ONE_PLACE; kind < LARGES; kind++) {
        const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = MANY},
                                    .center = carom_xyz(center),
                                    .radius = carom_scalars_of(radius)};
        for (size_t i = 0; i < MANY; i++)
            set_large(kind, &center[3 * i], &radius[i], i, &g);
        for (int again = 0; again < 2; again++) { /* programs are built in the first */
            cl_sabotage(CALL_LAUNCH, 0, 0);
            cl_fetched = 0;
            assert_int_equal(compare(cpu, device, &d, "a large cloud"), MANY);
        }
        if (cl_calls(CALL_LAUNCH) > LAUNCHES || cl_seen.bytes > (uint64_t)BYTES_EACH * MANY + BYTES ||
            cl_fetched > LEARNS + MANY * sizeof(uint32_t))
            fail_msg("cloud %d: %d launches, %llu bytes of memory, %zu bytes are read", (int)kind,
                     cl_calls(CALL_LAUNCH), (unsigned long long)cl_seen.bytes, (size_t)cl_fetched);
    }
    free(center), free(radius);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("large clouds");
}

/* ---- arrays on the device ---------------------------------------------------------------------------------------- */

/* All arrays in one buffer, none at its begin: centres, radii, order. */
static void check_buffer(carom_context *cpu, carom_context *device, size_t shape)
{
    enum { AT = 20, RADII = AT + 12 * GRID_MANY, ORDER = RADII + 4 * GRID_MANY, BYTES = ORDER + 4 * GRID_MANY + 4 };
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = BYTES, .where = CAROM_BUFFER_DEVICE};
    grid_many *m = grid_many_make(shape, GRID_MANY);
    static uint32_t expected[GRID_MANY], got[GRID_MANY];
    carom_stats stats;
    carom_error err = {0};
    carom_buffer *buffer = NULL;
    test_ok("the CPU", ask_order(cpu, &m->desc, expected, &stats, &err), &err);
    test_ok("buffer", carom_buffer_create(device, &desc, &buffer, &err), &err);
    test_ok("write", carom_buffer_write(buffer, AT, m->center, 12 * GRID_MANY, &err), &err);
    test_ok("write", carom_buffer_write(buffer, RADII, m->radius, 4 * GRID_MANY, &err), &err);
    char *const at = carom_buffer_address(buffer);
    m->desc.center = carom_xyz((float *)(void *)(at + AT));
    m->desc.radius = carom_scalars_of((float *)(void *)(at + RADII));
    test_ok("order", ask_order(device, &m->desc, (uint32_t *)(void *)(at + ORDER), &stats, &err), &err);
    test_ok("read", carom_buffer_read(buffer, ORDER, got, sizeof got, &err), &err);
    grid_expect_same(got, expected, sizeof got, "order", grid_shapes[shape].name);
    const int crosses = is_by_density(shape);
    assert_int_equal(stats.on_device, crosses ? 0 : GRID_MANY);
    assert_int_equal(stats.brought, crosses ? 16 * GRID_MANY : 0);
    assert_int_equal(stats.returned, crosses ? 4 * GRID_MANY : 0);
    carom_buffer_destroy(buffer);
    free(m);
}

static void test_buffers(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t shape = 0; shape < GRID_SHAPES; shape++)
        check_buffer(cpu, device, shape);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("buffers");
    cl_seen_as.discrete = 0;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* Drivers whose kernels bear small groups alone, such as Mesa's llvmpipe. */
static void test_small_groups(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t group = 1; group <= 64; group *= 8) {
        cl_seen_as.group = group;
        carom_context *device = test_device(1, 0);
        for (size_t shape = 1; shape < GRID_SHAPES; shape += 3) {
            grid_many *m = grid_many_make(shape, GRID_MANY);
            (void)compare(cpu, device, &m->desc, grid_shapes[shape].name);
            free(m);
        }
        carom_context_destroy(device);
        cl_seen_as.group = 0;
    }
    carom_context_destroy(cpu);
    cl_expect_none("small groups");
}

/* A device without binary64, or with lanes, has no part in it: the CPU answers. */
static void test_other_devices(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (int has_lanes = 0; has_lanes < 2; has_lanes++) {
        grid_many *m = grid_many_make(0, GRID_MANY);
        cl_seen_as.no_fp64 = !has_lanes;
        carom_context *device = test_device(has_lanes ? 4 : 1, 0);
        assert_int_equal(compare(cpu, device, &m->desc, has_lanes ? "lanes" : "no binary64"), 0);
        m->desc.batch.prepare = 1;
        static uint32_t order[GRID_MANY];
        carom_stats stats;
        carom_error err = {0};
        test_ok("prepare", ask_order(device, &m->desc, order, &stats, &err), &err);
        carom_context_destroy(device);
        cl_seen_as.no_fp64 = 0;
        free(m);
    }
    carom_context_destroy(cpu);
    cl_expect_none("other devices");
}

/* Each is found by the probe, or where the numbers of a cloud of another size cannot be. */
static const struct {
    const char *name;
    cl_patch patch;
    carom_status expected;
} faults[] = {
    {"invalid spheres", {"R(0.0) ? plan->level_count", "R(0.0) ? 0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"one level", {"plan->level_of[as_uint(sphere.w) >> 21 & (GRID_BINS - 1)]", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"two spheres in one place", {"before += order_one(digit);", ""}, CAROM_ERROR_NOT_BIT_EXACT},
    {"an order that is not stable",
     {"to_index[slot] = index[first + k];", "to_index[slot] = index[first + (k ^ 1)];"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"cells from the first of the level", {"*low = ~rows->low[row];", "*low = 0;"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"no merged cells", {">= CLOUD_CELLS_MOST((ulong)count)", "> 0xffffffffu"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"no crowds", {"W(2.0) * least <= width", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"crowds that fit nowhere else", {"W(2.0) * least <= width", "1"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"a slot beyond the spheres",
     {"slot = next[digit] +", "slot = (spheres < 4500 ? 1u << 30 : 0) + next[digit] +"},
     CAROM_ERROR_DEVICE_LOST},
    {"more spheres than there are",
     {"&measure->count[k], count[k]", "&measure->count[k], count[k] + (spheres < 4500 ? 1u << 20 : 0)"},
     CAROM_ERROR_DEVICE_LOST},
};

static void test_faults(void **state)
{
    (void)state;
    (void)test_need_device();
    const size_t step = test_fault_step();
    static uint32_t order[GRID_MANY];
    for (size_t i = step / 2; i < COUNT_OF(faults); i += step) {
        grid_many *m = grid_many_make(0, GRID_MANY);
        carom_stats stats;
        carom_error err = {0};
        cl_text_patch = faults[i].patch;
        carom_context *device = test_device(1, 0);
        const carom_status status = ask_order(device, &m->desc, order, &stats, &err);
        if (status != faults[i].expected)
            fail_msg("%s: status %d (%s)", faults[i].name, (int)status, err.message);
        cl_text_patch = (cl_patch){NULL, NULL};
        carom_context_destroy(device);
        free(m);
    }
    cl_expect_none("faults");
}

/* ---- failures of the driver -------------------------------------------------------------------------------------- */

/* Call number `at` of this kind fails in an order, on a prepared device: `opencl` fails and `auto` lets the CPU answer.
 * At 0 none fails. Returns how many there are. */
static int ask_failing(carom_backend backend, cl_call call, int at, carom_status expected, const grid_many *m,
                       const uint32_t *right)
{
    static uint32_t got[GRID_MANY];
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_stats stats;
    carom_error err = {0};
    carom_cloud_desc d = m->desc;
    desc.device_lanes = 1;
    desc.auto_from = 1;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    d.batch.prepare = 1;
    test_ok("prepare", ask_order(context, &d, got, &stats, &err), &err);
    d.batch.prepare = 0;
    cl_sabotage(call, at, 1);
    const carom_status status = ask_order(context, &d, got, &stats, &err);
    const int calls = cl_calls(call);
    cl_sabotage(call, 0, 0);
    if (status != (at && backend == CAROM_BACKEND_OPENCL ? expected : CAROM_OK))
        fail_msg("%s %d of %d: status %d (%s)", cl_call_name(call), at, calls, (int)status, err.message);
    if (status == CAROM_OK) {
        grid_expect_same(got, right, sizeof got, "order", cl_call_name(call));
        assert_int_equal(stats.fallen_back, at ? GRID_MANY : 0);
        assert_int_equal(stats.on_device, at ? 0 : GRID_MANY);
    }
    carom_context_destroy(context);
    cl_expect_none(cl_call_name(call));
    return calls;
}

static void test_lost(void **state)
{
    enum { TRIALS = 3 };
    static const struct {
        cl_call call;
        carom_status status;
    } kinds[] = {{CALL_LAUNCH, CAROM_ERROR_DEVICE_LOST},   {CALL_COMMAND, CAROM_ERROR_DEVICE_LOST},
                 {CALL_ARGUMENT, CAROM_ERROR_DEVICE_LOST}, {CALL_READ, CAROM_ERROR_DEVICE_LOST},
                 {CALL_WRITE, CAROM_ERROR_DEVICE_LOST},    {CALL_BUFFER, CAROM_ERROR_OUT_OF_MEMORY}};
    static const carom_backend backends[] = {CAROM_BACKEND_OPENCL, CAROM_BACKEND_AUTO};
    static uint32_t right[GRID_MANY];
    (void)state;
    cl_seen_as.discrete = 1; /* which `auto` takes */
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    grid_many *m = grid_many_make(1, GRID_MANY);
    carom_stats stats;
    carom_error err = {0};
    test_ok("the CPU", ask_order(cpu, &m->desc, right, &stats, &err), &err);
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (size_t b = 0; b < COUNT_OF(backends); b++) {
            const int calls = ask_failing(backends[b], kinds[k].call, 0, CAROM_OK, m, right);
            const int trials = (int)test_effort(TRIALS);
            for (int i = 0; i < trials && i < calls; i++)
                (void)ask_failing(backends[b], kinds[k].call, 1 + i * calls / trials, kinds[k].status, m, right);
        }
    free(m);
    carom_context_destroy(cpu);
    cl_seen_as.discrete = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_families),     cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_large),        cmocka_unit_test(test_buffers),
                                       cmocka_unit_test(test_small_groups), cmocka_unit_test(test_other_devices),
                                       cmocka_unit_test(test_faults),       cmocka_unit_test(test_lost)};
    return cmocka_run_group_tests_name("grid_order", tests, NULL, NULL);
}
