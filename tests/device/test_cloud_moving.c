/* SPDX-License-Identifier: MIT */
/* Clouds in motion that a GPU sorts and searches by itself, slice by slice of the time window: lists with all columns,
 * counts and partners against the CPU's, byte for byte. */
#include "tests/support/cl_shim.h"
#include "tests/support/moving_clouds.h"

#include <math.h>

/* Compares everything, also what lies behind the stored pairs and must not be written. */
static void compare(carom_context *cpu, carom_context *device, const carom_cloud_desc *d, size_t capacity,
                    const char *what)
{
    carom_stats stats;
    moving_answers *expected = moving_ask_new(cpu, d, capacity, &stats),
                   *got = moving_ask_new(device, d, capacity, &stats);
    const uint64_t asked = d->batch.count - d->batch.begin - (d->a_end ? d->batch.count - d->a_end : 0);
    assert_int_equal(stats.on_device, asked);
    moving_columns(cpu, d, capacity, (size_t)expected->totals.stored, expected, &stats);
    moving_columns(device, d, capacity, (size_t)expected->totals.stored, got, &stats);
    assert_int_equal(stats.on_device, asked);
    if (memcmp(got, expected, sizeof *got) != 0)
        fail_msg("%s: %zu pairs of %zu, or other bytes", what, (size_t)got->totals.total,
                 (size_t)expected->totals.total);
    free(got);
    free(expected);
}

static void compare_ways(carom_context *cpu, carom_context *device, const carom_cloud_desc *of, const char *what)
{
    carom_cloud_desc d = *of;
    const size_t count = d.batch.count;
    compare(cpu, device, &d, MOVING_ROOM, what);
    d.full = !d.full;
    compare(cpu, device, &d, count / 2, what);
    d.batch.begin = count / 3;
    d.a_end = count - count / 4;
    d.start = (carom_start)((d.start + 1) % 3);
    compare(cpu, device, &d, MOVING_ROOM, what);
    d.start = (carom_start)((d.start + 1) % 3);
    compare(cpu, device, &d, count / 4, what);
}

static void test_families(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    size_t asked = 0;
    for (size_t i = 0; i < test_effort(24 * CLOUD_FAMILIES); i++)
        for (int exact = 0; exact < 2; exact++) {
            cloud c = make_cloud(i, exact);
            if (i / CLOUD_FAMILIES % 3 == 1)
                add_groups(&c, i);
            if (c.desc.velocity.x != NULL) {
                compare_ways(cpu, device, &c.desc, cloud_family(i));
                asked++;
            }
            cloud_free(&c);
        }
    assert_true(asked > 0);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("families");
}

static void test_shapes(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t i = 0; i < 2 * MOVING_SHAPES; i++) {
        moving_many *m = moving_many_make(i % MOVING_SHAPES, i % MOVING_SHAPES == 6 ? MOVING_MANY / 8 : MOVING_MANY);
        if (i / MOVING_SHAPES)
            m->desc.mask = carom_uints_of(m->mask);
        m->desc.batch.accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        m->desc.start = (carom_start)(i % 3);
        compare_ways(cpu, device, &m->desc, moving_shapes[i % MOVING_SHAPES].name);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("shapes");
}

/* Boxes as wide as the cloud, wider, narrower than spheres and than their ways, so wide that sums overflow; along one
 * axis or several. */
static void test_periods(void **state)
{
    enum { FEW = 150 };
    static const float periods[][3] = {{16, 16, 16},        {16, 0, 0},         {0, 16.5f, 1e-3f},  {3, 40, 0},
                                       {0.25f, 0.5f, 1},    {3e38f, 16, 1e9f},  {32, 32, 1e6f},     {0, 0, 1e-40f},
                                       {0, 0x1p-10f, 2e6f}, {0x1p-18f, 16, 16}, {0, 1000.5f, 15.8f}};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t i = 0; i < test_effort(3 * MOVING_SHAPES); i++) {
        const size_t shape = i % MOVING_SHAPES;
        moving_many *m = moving_many_make(shape, FEW);
        memcpy(m->desc.period, periods[(i + i / MOVING_SHAPES) % COUNT_OF(periods)], sizeof m->desc.period);
        if (i % 5 == 2)
            m->desc.mask = carom_uints_of(m->mask);
        m->desc.batch.accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        m->desc.start = (carom_start)(i / 2 % 3);
        for (size_t k = 0; k < 3 * FEW && shape == 0; k++) /* on the seam, and beside it */
            m->center[k] = k % 4 ? m->center[k] : k % 8 ? 0 : m->desc.period[k % 3];
        compare_ways(cpu, device, &m->desc, moving_shapes[shape].name);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("periods");
}

/* Twos in one place, whose images touch: the first partner's state is the lowest of all that have its time. */
static void test_states(void **state)
{
    enum { FEW = 100 };
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (int exact = 0; exact < 2; exact++) {
        moving_many *m = moving_many_make(3, FEW);
        uint8_t states[FEW];
        int32_t others[FEW];
        const carom_cloud_partner_result first = {.size = sizeof first, .other = others, .state = states};
        carom_error err = {0};
        for (size_t i = 0; i < FEW; i++)
            for (size_t k = 0; k < 3; k++) {
                m->center[3 * i + k] = k == 0 ? 4.0f * (float)(i / 2) : 0;
                m->velocity[3 * i + k] = (float)(i / 2 % 3);
            }
        m->desc.period[1] = 0.5f;
        m->desc.batch.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        test_ok("first", carom_cloud_first(cpu, &m->desc, &first, NULL, &err), &err);
        for (size_t i = 0; i < FEW; i++)
            assert_true(others[i] == (int32_t)(i ^ 1) && states[i] == CAROM_TOUCHING);
        compare_ways(cpu, device, &m->desc, "states");
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("states");
}

/* Spheres without a limit: all of them, half of them, two, one; with and without a period. */
static void test_endless(void **state)
{
    enum { FEW = 400 };
    static const size_t step[] = {1, 2, FEW / 2, FEW};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t i = 0; i < test_effort(4 * MOVING_SHAPES); i++) {
        const size_t shape = i % MOVING_SHAPES, way = (i + i / MOVING_SHAPES) % COUNT_OF(step);
        moving_many *m = moving_many_make(shape, FEW);
        for (size_t k = 0; k < FEW; k += step[way])
            m->t_max[k] = INFINITY;
        for (size_t k = 0; k < 3 * FEW && i % 3 == 1; k++) /* some rest */
            m->velocity[k] = k % 9 < 6 ? 0 : m->velocity[k];
        if (way == 0 && i % 2)
            m->desc.t_max = (carom_scalars){NULL, 0};
        if (i % 4 == 2)
            m->desc.period[0] = m->desc.period[2] = 16;
        if (i % 5 == 2)
            m->desc.mask = carom_uints_of(m->mask);
        m->desc.batch.accuracy = i / 2 % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        m->desc.start = (carom_start)(i / 2 % 3);
        compare_ways(cpu, device, &m->desc, moving_shapes[shape].name);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("endless");
}

/* ---- what the host answers, and faults --------------------------------------------------------------------------- */

/* More pairs near each other than the device keeps, in a slice with cells and in one without an end: the host sorts the
 * spheres, and the answers are the same. */
static void test_declined(void **state)
{
    static const cl_patch crowded[] = {
        {"atomic_inc(undecided->count)", "atomic_add(undecided->count, rows->end > 499 ? 1u << 20 : 1u)"},
        {"const uint at = atomic_inc(&totals->meeting);",
         "const uint at = atomic_add(&totals->meeting, spheres > 499 ? 1u << 20 : 1u);"}};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (int way = 0; way < 4; way++) {
        moving_many *m = moving_many_make(0, 500);
        cl_text_patch = crowded[way % 2];
        if (way % 2)
            m->desc.t_max = (carom_scalars){NULL, 0};
        if (way / 2)
            m->desc.period[1] = 16.0f;
        carom_context *device = test_device(1, 0);
        compare(cpu, device, &m->desc, MOVING_ROOM, "declined");
        carom_context_destroy(device);
        cl_text_patch = (cl_patch){NULL, NULL};
        free(m);
    }
    carom_context_destroy(cpu);
    cl_expect_none("declined");
}

/* Every ball reaches everywhere. Where undecided pairs are so many that the host declines the cloud, no search goes on:
 * the patched kernel is at fault if one does in a later round. */
static void test_declined_soon(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    moving_many *m = moving_many_make(0, MOVING_MANY);
    for (size_t i = 0; i < COUNT_OF(m->velocity); i++)
        m->velocity[i] *= 3e38f;
    cl_text_patch =
        (cl_patch){"if (slot >= grid.slots)",
                   "if (round > 0 && spheres > 999) atomic_or(&totals->faults, 1u); if (slot >= grid.slots)"};
    carom_context *device = test_device(1, 0);
    compare(cpu, device, &m->desc, MOVING_ROOM, "declined soon");
    carom_context_destroy(device);
    cl_text_patch = (cl_patch){NULL, NULL};
    carom_context_destroy(cpu);
    free(m);
    cl_expect_none("declined soon");
}

/* In exact mode the host answers the pairs of a slice in several parts. */
static void test_many_pairs(void **state)
{
    enum { COUNT = 12000, PAIRS = 1 << 18 };
    static const float radius = 0.5f, limit = 1;
    (void)state;
    (void)test_need_device();
    carom_context *contexts[] = {test_cpu(CAROM_ISA_AUTO, 1), test_device(1, 0)};
    float *center = test_alloc(3 * COUNT, sizeof *center), *velocity = test_alloc(3 * COUNT, sizeof *velocity);
    uint32_t *partners[] = {test_alloc(COUNT, sizeof **partners), test_alloc(COUNT, sizeof **partners)};
    ref_gen g;
    ref_gen_seed(&g, 46, 7, 0);
    for (size_t i = 0; i < 3 * (size_t)COUNT; i++) {
        center[i] = between(&g, 0, 9.7);
        velocity[i] = between(&g, -0.001, 0.001);
    }
    const carom_cloud_desc d = {
        .batch = {.size = sizeof d, .count = COUNT, .accuracy = CAROM_ACCURACY_EXACT},
        .center = carom_xyz(center),
        .velocity = carom_xyz(velocity),
        .radius = {.data = &radius, .stride = CAROM_REPEAT},
        .t_max = {.data = &limit, .stride = CAROM_REPEAT},
    };
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    for (size_t k = 0; k < 2; k++) {
        const carom_cloud_count_result count = {sizeof count, partners[k]};
        test_ok("count", carom_cloud_count(contexts[k], &d, &count, &stats, &err), &err);
    }
    uint64_t pairs = 0;
    for (size_t i = 0; i < COUNT; i++)
        pairs += partners[0][i];
    assert_true(pairs > 2 * (uint64_t)PAIRS); /* each pair counts twice */
    assert_memory_equal(partners[0], partners[1], COUNT * sizeof **partners);
    assert_int_equal(stats.on_device, COUNT);
    for (size_t k = 0; k < 2; k++) {
        free(partners[k]);
        carom_context_destroy(contexts[k]);
    }
    free(center), free(velocity);
    cl_expect_none("many pairs");
}

static const struct {
    const char *name;
    cl_patch patch;
    carom_status expected;
} faults[] = {
    {"one limit alone", {"max(second, min(before, largest))", "second"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"limits of the first cloud alone", {"other = max(other, limit);", ""}, CAROM_ERROR_NOT_BIT_EXACT},
    {"normals without motion",
     {"pair.a_velocity = options & GRID_MOVING ? columns_velocity(motion[one]) : zero", "pair.a_velocity = zero"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"normals at time 0",
     {"w_f(state == STATE_APPROACHING ? W(1.0) : W(0.0))", "w_f(W(0.0))"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"undecided normals as they are", {"|| needs_normal)", ")"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"decided normals in another order",
     {"real_bits(decided[i].y)", "real_bits(decided[i].z)"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"the next partner", {"by_partner[at] >> 32 == b;", "by_partner[at] >> 32 != b;"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"partners in the wrong bits", {"[own]) << 32 | own", "[own]) << 31 | own"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"partners of any image",
     {"GRID_KEY_T_SHIFT) - 1)) >> GRID_KEY_B_SHIFT", "GRID_KEY_T_SHIFT) - 1)) >> GRID_KEY_IMAGED_B_SHIFT"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"bits of times in partners",
     {"GRID_IMAGED_MOVING_MOST - 1", "GRID_IMAGED_SPHERES_MOST - 1"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"times as at rest",
     {"(options & (GRID_IMAGED | GRID_MOVING)) == GRID_IMAGED", "(options & GRID_IMAGED) != 0"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"images that are not shifted",
     {"in.shift = shift;", "in.shift = v3_of(R(0.0), R(0.0), R(0.0));"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"not all spheres without a limit",
     {"min(tile * each + each, count)", "min(tile * each + each, count / 2)"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"images along an axis without a period",
     {"(grid_step_of(image, 1) == 0 || y > R(0.0))", "1"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"pairs without a limit of one cloud",
     {"(one < split) == (other < split)", "one > other"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"pairs without a limit of any mask", {"!grid_passes(filter[one], filter[other])", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"meetings without images",
     {"grid_undecided_of(one, other, image)", "grid_undecided_of(one, other, GRID_IMAGE_OWN)"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"the host's pairs without images", {"(real)grid_image_of_undecided(of)", "R(13.0)"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"balls without the way", {"speed * (half_time + GRID_TIME_LEAST) +", ""}, CAROM_ERROR_NOT_BIT_EXACT},
    {"the wrong relative motion",
     {"const v3 v = v3_sub(in.b_velocity, in.a_velocity);", "const v3 v = cloud_offset(in);"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"no groups", {"options & CLOUD_GROUPED ? group[i] : own", "own"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"partners of both clouds together", {"~lowest[i] - first_b", "~lowest[i]"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"no limits",
     {"in.limit = grid_limit(a_motion, b_motion);", "in.limit = v_infinity();"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"a limit of one sphere",
     {"motion_a.w < motion_b.w ? motion_a.w : motion_b.w", "motion_a.w"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"hits of no slice", {"(t[i] < end ||", "(t[i] < R(0.5) * end ||"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"the last partner", {"soonest + own, ~time", "soonest + own, time + 1"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"not the lowest partner", {"lowest + own, ~other", "lowest + own, other + 1"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"slots beyond the spheres",
     {"const uint one = index[min(grid_slot_of(pair[i].x), spheres - 1)];",
      "const uint one = index[min(grid_slot_of(pair[i].x), spheres - 1)] + (spheres > 999 ? 1u << 30 : 0);"},
     CAROM_ERROR_DEVICE_LOST},
};

static void test_faults(void **state)
{
    (void)state;
    (void)test_need_device();
    moving_many *m = moving_many_make(0, MOVING_MANY);
    const size_t step = test_fault_step();
    for (size_t i = step / 2; i < COUNT_OF(faults); i += step) {
        moving_answers *to = test_alloc(1, sizeof *to);
        carom_stats stats;
        carom_error err = {0};
        cl_text_patch = faults[i].patch;
        carom_context *device = test_device(1, 0);
        const carom_status status = moving_list(device, &m->desc, MOVING_ROOM, to, &stats, &err);
        if (status != faults[i].expected)
            fail_msg("%s: status %d (%s)", faults[i].name, (int)status, err.message);
        cl_text_patch = (cl_patch){NULL, NULL};
        carom_context_destroy(device);
        free(to);
    }
    free(m);
    cl_expect_none("faults");
}

/* A CPU whose own number of lanes is one leaves the sorting to the host, unless the caller asks for one lane: then it
 * finds the fault. A GPU sorts in any case. */
static void test_chosen(void **state)
{
    static const struct {
        int is_gpu;
        uint32_t lanes;
        carom_status expected;
    } ways[] = {{0, 0, CAROM_OK}, {0, 1, CAROM_ERROR_NOT_BIT_EXACT}, {1, 0, CAROM_ERROR_NOT_BIT_EXACT}};
    (void)state;
    (void)test_need_device();
    if (test_as_gpu())
        test_skip("cpu device", "CAROM_TEST_LANES=1 shows every device as a GPU");
    moving_many *m = moving_many_make(0, MOVING_MANY);
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        moving_answers *to = test_alloc(1, sizeof *to);
        carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
        carom_context *device = NULL;
        carom_stats stats;
        carom_error err = {0};
        cl_seen_as = (cl_disguise){.gpu = ways[i].is_gpu, .scalar = 1};
        cl_text_patch = faults[0].patch;
        desc.device_lanes = ways[i].lanes;
        test_ok("carom_context_create", carom_context_create(&desc, &device, &err), &err);
        const carom_status status = moving_list(device, &m->desc, MOVING_ROOM, to, &stats, &err);
        if (status != ways[i].expected)
            fail_msg("way %zu: status %d (%s)", i, (int)status, err.message);
        cl_text_patch = (cl_patch){NULL, NULL};
        carom_context_destroy(device);
        cl_seen_as = (cl_disguise){0};
        free(to);
    }
    free(m);
    cl_expect_none("chosen");
}

/* ---- failures of the driver -------------------------------------------------------------------------------------- */

/* Call number `at` of this kind fails in a list, on a prepared device; at 0 none does. Returns how many there are. */
static int ask_failing(cl_call call, int at, moving_many *m, const moving_answers *expected)
{
    carom_context *context = test_device(1, 0);
    moving_answers *got = test_alloc(1, sizeof *got);
    carom_stats stats;
    carom_error err = {0};
    m->desc.batch.prepare = 1;
    test_ok("prepare", moving_list(context, &m->desc, MOVING_ROOM, got, &stats, &err), &err);
    m->desc.batch.prepare = 0;
    cl_sabotage(call, at, 0);
    const carom_status status = moving_list(context, &m->desc, MOVING_ROOM, got, &stats, &err);
    const int calls = cl_calls(call);
    cl_sabotage(call, 0, 0);
    if (status != (at ? CAROM_ERROR_DEVICE_LOST : CAROM_OK))
        fail_msg("%s %d of %d: status %d (%s)", cl_call_name(call), at, calls, (int)status, err.message);
    if (at == 0)
        assert_memory_equal(got, expected, sizeof *got);
    free(got);
    carom_context_destroy(context);
    cl_expect_none(cl_call_name(call));
    return calls;
}

static void test_lost(void **state)
{
    enum { TRIALS = 2 };
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_COMMAND, CALL_ARGUMENT, CALL_READ, CALL_WRITE};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    moving_many *m = moving_many_make(1, 1000);
    moving_answers *expected = test_alloc(1, sizeof *expected);
    carom_stats stats;
    carom_error err = {0};
    m->desc.batch.accuracy = CAROM_ACCURACY_EXACT;
    test_ok("the CPU", moving_list(cpu, &m->desc, MOVING_ROOM, expected, &stats, &err), &err);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        const int calls = ask_failing(kinds[k], 0, m, expected), trials = (int)test_effort(TRIALS);
        for (int i = 0; i < trials && i < calls; i++)
            (void)ask_failing(kinds[k], 1 + i * calls / trials, m, expected);
    }
    free(expected);
    free(m);
    carom_context_destroy(cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),      cmocka_unit_test(test_shapes),     cmocka_unit_test(test_periods),
        cmocka_unit_test(test_states),        cmocka_unit_test(test_endless),    cmocka_unit_test(test_declined),
        cmocka_unit_test(test_declined_soon), cmocka_unit_test(test_many_pairs), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_chosen),        cmocka_unit_test(test_lost)};
    return cmocka_run_group_tests_name("cloud_moving", tests, NULL, NULL);
}
