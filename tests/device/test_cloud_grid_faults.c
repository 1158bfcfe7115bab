/* SPDX-License-Identifier: MIT */
/* Clouds at rest on a GPU that errs, fails, or bears little: faults in its kernels, numbers that are too large for it,
 * small groups, many launches, calls of the driver that fail. */
#include "tests/support/cl_shim.h"
#include "kernels/cloud_grid.h"
#include "tests/support/grid_clouds.h"

#include <math.h>

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* Each is found by the probe, or where the numbers of a larger cloud cannot be. */
static const struct {
    const char *name;
    cl_patch patch;
    carom_status expected;
} faults[] = {
    {"a sphere with itself", {"? search->slot + 1 : 0", "? search->slot : 0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"a pair too few", {"? search->slot + 1 : 0", "? search->slot + 2 : 0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"pairs twice", {"row = is_own ? y.own + z.own * y.count : 0", "row = 0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"one cell only", {"grid_cell(at + reach, level) - r.low + 1", "1u"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"no coarser levels",
     {"grid_levels levels = {0, own", "grid_levels levels = {own, own"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"no masks", {"!grid_passes(grid->filter[slot], search->filter)", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"no groups", {"options & CLOUD_GROUPED ? group[i] : own", "own"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"groups one way", {"&& (other.y & one.x) != 0", ""}, CAROM_ERROR_NOT_BIT_EXACT},
    {"the order", {"key[k] < mine", "key[k] > mine"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"long rows", {"if (one > other) {", "if (one > other + 64) {"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"not the best partner", {"rows->count + a, ~b", "rows->count + a, b + 1"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"touching partners", {"best[other] == ~one", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"the solver", {"state[i] = (uchar)out.state;", "state[i] = 0;"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"a pair that was not counted",
     {"atomic_inc(rows->count + a);", "if (rows->end < 999 || a % 7) atomic_inc(rows->count + a);"},
     CAROM_ERROR_DEVICE_LOST},
    {"a pair that was counted twice",
     {"atomic_inc(rows->count + a);", "atomic_add(rows->count + a, rows->end > 999 && a % 7 == 0 ? 2u : 1u);"},
     CAROM_ERROR_DEVICE_LOST},
    {"a slot beyond the spheres",
     {"start[bucket[i]] + rank[i];", "start[bucket[i]] + rank[i] + (spheres > 999 ? 1u << 30 : 0);"},
     CAROM_ERROR_DEVICE_LOST},
    {"searches beyond a cell",
     {"search.at = at[slot];", "search.at = at[slot]; if (spheres > 999) search.at.w = R(1e30);"},
     CAROM_OK}, /* wrong, but it ends */
    {"a row beyond the spheres",
     {"const uint sphere = of[own];", "const uint sphere = of[own] + (row_end > 999 ? 1u << 30 : 0);"},
     CAROM_ERROR_DEVICE_LOST},
    {"searches without an end",
     {"search.tests > search.to) {", "search.tests > search.to || spheres > 999) {"},
     CAROM_ERROR_DEVICE_LOST},
    {"depth", {"found.depth = w_f(W(0.0));", "found.depth = w_f(W(1.0));"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"undecided depth", {"grid_slot(offset, key, of, pair[first + i])", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"normal", {"resident_store(y, y_at + y_step", "resident_store(x, x_at + x_step"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"images of one level", {"(level != own || image > GRID_IMAGE_OWN)", "level != own"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"all images of one level", {"(level != own || image > GRID_IMAGE_OWN)", "1"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"pairs of the same cloud", {"levels.first = 1 - (own & 1)", "levels.first = own & 1"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"pairs of two clouds twice", {"own & 1 ? own - 1 : own + 2", "own + 2"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"no coarser levels of the other cloud", {"levels.step = 2", "levels.step = 64"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"one level for both clouds", {"level + (index >= plan->split ? 1 : 0)", "level"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"numbers of both clouds together",
     {"grid_partner_of(mine, options) - first_b", "grid_partner_of(mine, options)"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"partners of both clouds together", {"~best[i] - first_b", "~best[i]"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"an earlier list of both clouds", {"(uint)b_of + first_b", "(uint)b_of"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"opposite images", {": GRID_IMAGES - 1 - search->image", ": search->image"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"opposite images of b",
     {"grid_add(rows, b, a, GRID_IMAGES - 1 - image", "grid_add(rows, b, a, image"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"images of undecided pairs", {"pair.y >> GRID_SLOT_BITS << 3", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"an earlier list", {", ~i);", ", i + 1);"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"pairs in a long row", {"if (key[middle] < least)", "if (key[middle] <= least)"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"too many pairs",
     {"totals->stored = offset[low];", "totals->stored = offset[low] + (end > 999 ? 1u << 30 : 0);"},
     CAROM_ERROR_DEVICE_LOST},
    {"a giant row without length",
     {"totals->stored = offset[low];", "totals->stored = offset[low], totals->giant_rows = end > 999;"},
     CAROM_ERROR_DEVICE_LOST},
    {"a giant row of endless length",
     {"totals->stored = offset[low];",
      "totals->stored = offset[low], totals->giant_rows = end > 999, totals->longest = ~0u;"},
     CAROM_ERROR_DEVICE_LOST},
};

static void test_faults(void **state)
{
    (void)state;
    (void)test_need_device();
    const size_t step = test_fault_step();
    for (size_t i = step / 2; i < COUNT_OF(faults); i += step) {
        grid_many *m = grid_many_make(0, GRID_MANY);
        grid_answer to = grid_answer_alloc(GRID_MANY, GRID_CAPACITY);
        const carom_cloud_pair_list list = grid_list_of(&to, GRID_CAPACITY);
        carom_error err = {0};
        cl_text_patch = faults[i].patch;
        carom_context *device = test_device(1, 0);
        const carom_status status = carom_cloud_list(device, &m->desc, &list, NULL, &err);
        if (status != faults[i].expected)
            fail_msg("%s: status %d (%s)", faults[i].name, (int)status, err.message);
        cl_text_patch = (cl_patch){NULL, NULL};
        carom_context_destroy(device);
        grid_answer_free(&to);
        free(m);
    }
    cl_expect_none("faults");
}

/* Numbers that would be too many for the device: the host takes the cloud over, and the device stays in use. */
static void test_declined(void **state)
{
    static const cl_patch patches[] = {
        {"atomic_inc(undecided->count)", "atomic_add(undecided->count, rows->end > 999 ? 1u << 20 : 1u)"},
        {"totals->total = offset[end];", "totals->total = offset[end] + ((ulong)(end > 999) << 40);"}};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < 2 * COUNT_OF(patches); i++) {
        grid_many *m = grid_many_make(6, GRID_MANY); /* the lattice */
        m->desc.batch.accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        cl_text_patch = patches[i / 2];
        carom_context *device = test_device(1, 0);
        grid_compare(cpu, device, &m->desc, GRID_CAPACITY, patches[i / 2].find);
        carom_context_destroy(device);
        cl_text_patch = (cl_patch){NULL, NULL};
        free(m);
    }
    carom_context_destroy(cpu);
    cl_expect_none("declined");
}

/* Spheres at one place, whose depths are too many for the device to leave undecided, after the host has decided a pair
 * of others in integers: the pair counts once. */
static void test_declined_once(void **state)
{
    enum { CROWD = 420, ALL = CROWD + 2 };
    static float x[ALL], zero[ALL], radius[ALL], depth[ALL * ALL];
    carom_list_totals totals = {0};
    carom_error err = {0};
    (void)state;
    (void)test_need_device();
    for (int i = 0; i < CROWD; i++)
        radius[i] = i % 2 ? nextafterf(0.75f, 1) : 0.75f;
    x[CROWD] = 100;
    x[CROWD + 1] = 101;
    radius[CROWD] = radius[CROWD + 1] = 0.5f;
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = ALL, .accuracy = CAROM_ACCURACY_EXACT},
                                .center = carom_soa(x, zero, zero),
                                .radius = carom_scalars_of(radius)};
    const carom_cloud_pair_list list = {
        .size = sizeof list, .capacity = COUNT_OF(depth), .depth = depth, .totals = &totals};
    carom_context *context[] = {test_cpu(CAROM_ISA_AUTO, 1), test_device(1, 0)};
    carom_stats stats[2] = {{.size = sizeof *stats}, {.size = sizeof *stats}};
    for (int i = 0; i < 2; i++) {
        test_ok("list", carom_cloud_list(context[i], &d, &list, &stats[i], &err), &err);
        carom_context_destroy(context[i]);
    }
    assert_int_equal(stats[1].by_integers, stats[0].by_integers);
    cl_expect_none("declined once");
}

/* ---- work of a launch -------------------------------------------------------------------------------------------- */

/* Drivers whose kernels bear small groups alone, such as Mesa's llvmpipe. */
static void test_small_groups(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t group = 1; group <= 64; group *= 8) {
        cl_seen_as.group = group;
        carom_context *device = test_device(1, 0);
        for (size_t shape = 1; shape < 8; shape += 3) {
            grid_many *m = grid_many_make(shape, GRID_MANY);
            grid_compare(cpu, device, &m->desc, GRID_CAPACITY, grid_shapes[shape].name);
            free(m);
        }
        carom_context_destroy(device);
        cl_seen_as.group = 0;
    }
    carom_context_destroy(cpu);
    cl_expect_none("small groups");
}

/* Searches of many rounds, and rows that are merged by all groups. */
static void test_rounds(void **state)
{
    static const cl_patch patches[] = {{"#define GRID_TESTS 2048", "#define GRID_TESTS 40"},
                                       {"#define GRID_GIANT_ROW 8192", "#define GRID_GIANT_ROW 70"}};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < COUNT_OF(patches); i++) {
        cl_text_patch = patches[i];
        carom_context *device = test_device(1, 0);
        for (size_t shape = 0; shape < GRID_SHAPES; shape++) {
            grid_many *m = grid_many_make(shape, GRID_MANY);
            m->desc.full = 1;
            m->desc.batch.accuracy = shape % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
            grid_compare(cpu, device, &m->desc, 40 * GRID_MANY, grid_shapes[shape].name);
            grid_compare(cpu, device, &m->desc, GRID_MANY, grid_shapes[shape].name);
            free(m);
        }
        carom_context_destroy(device);
        cl_text_patch = (cl_patch){NULL, NULL};
    }
    carom_context_destroy(cpu);
    cl_expect_none("rounds");
}

/* However many spheres share a cell, no search makes more than some tests in a launch. */
static void test_launches(void **state)
{
    enum { PLACE = 12000 };
    static const cl_patch least = {"for (; slot < stop; slot++)",
                                   "for (uint turns = 0; slot < stop && turns < 2048; slot++, turns++)"};
    static const float zero[3], one = 1;
    (void)state;
    (void)test_need_device();
    cl_text_patch = least;
    carom_context *device = test_device(1, 0);
    uint32_t *partners = test_alloc(PLACE, sizeof *partners);
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = PLACE},
                          .center = {&zero[0], &zero[1], &zero[2], CAROM_REPEAT},
                          .radius = {&one, CAROM_REPEAT}};
    const carom_cloud_count_result count = {sizeof count, partners};
    carom_error err = {0};
    d.batch.prepare = 1;
    test_ok("prepare", carom_cloud_count(device, &d, &count, NULL, &err), &err);
    d.batch.prepare = 0;
    cl_relieve();
    test_ok("count", carom_cloud_count(device, &d, &count, NULL, &err), &err);
    if (cl_calls(CALL_LAUNCH) < 2 * (PLACE / GRID_TESTS))
        fail_msg("%d launches", cl_calls(CALL_LAUNCH));
    for (uint32_t i = 0; i < PLACE; i++)
        assert_int_equal(partners[i], PLACE - 1);
    cl_text_patch = (cl_patch){NULL, NULL};
    free(partners);
    carom_context_destroy(device);
    cl_expect_none("launches");
}

/* ---- failures of the driver -------------------------------------------------------------------------------------- */

static carom_status ask_list(carom_context *context, const grid_many *m, int prepare, grid_answer *to,
                             carom_stats *stats, carom_error *err)
{
    const carom_cloud_pair_list list = grid_list_of(to, GRID_CAPACITY);
    carom_cloud_desc d = m->desc;
    d.batch.prepare = (uint8_t)prepare;
    *stats = (carom_stats){.size = sizeof *stats};
    return carom_cloud_list(context, &d, &list, stats, err);
}

/* Call number `at` of this kind fails in a list, on a prepared device; at 0 none does. Returns how many there are. */
static int ask_failing(cl_call call, int at, const grid_many *m, const grid_answer *expected)
{
    carom_context *context = test_device(1, 0);
    grid_answer got = grid_answer_alloc(GRID_MANY, GRID_CAPACITY);
    carom_stats stats;
    carom_error err = {0};
    test_ok("prepare", ask_list(context, m, 1, &got, &stats, &err), &err);
    cl_sabotage(call, at, 0);
    const carom_status status = ask_list(context, m, 0, &got, &stats, &err);
    const int calls = cl_calls(call);
    cl_sabotage(call, 0, 0);
    if (status != (at ? CAROM_ERROR_DEVICE_LOST : CAROM_OK))
        fail_msg("%s %d of %d: status %d (%s)", cl_call_name(call), at, calls, (int)status, err.message);
    if (at == 0) {
        assert_int_equal(stats.on_device, GRID_MANY);
        grid_expect_same(got.offsets, expected->offsets, (GRID_MANY + 1) * sizeof *got.offsets, "offsets", "prepared");
        grid_expect_same(got.b, expected->b, (GRID_CAPACITY + 1) * sizeof *got.b, "b", "prepared");
    }
    grid_answer_free(&got);
    carom_context_destroy(context);
    cl_expect_none(cl_call_name(call));
    return calls;
}

static void test_lost(void **state)
{
    enum { TRIALS = 3 };
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_COMMAND, CALL_ARGUMENT, CALL_READ, CALL_WRITE};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    grid_many *m = grid_many_make(6, GRID_MANY); /* the lattice: the host decides pairs */
    grid_answer expected = grid_answer_alloc(GRID_MANY, GRID_CAPACITY);
    carom_stats stats;
    carom_error err = {0};
    m->desc.batch.accuracy = CAROM_ACCURACY_EXACT;
    test_ok("the CPU", ask_list(cpu, m, 0, &expected, &stats, &err), &err);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        const int calls = ask_failing(kinds[k], 0, m, &expected);
        const int trials = (int)test_effort(TRIALS);
        for (int i = 0; i < trials && i < calls; i++)
            (void)ask_failing(kinds[k], 1 + i * calls / trials, m, &expected);
    }
    grid_answer_free(&expected);
    free(m);
    carom_context_destroy(cpu);
}

/* So many spheres in one place that the device would search very long: an error, as on the CPU. */
static void test_crowd(void **state)
{
    enum { CROWD = 400000 };
    (void)state;
    (void)test_need_device();
    carom_context *device = test_device(1, 0);
    static const float zero[3], one = 1;
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = CROWD},
                                .center = {&zero[0], &zero[1], &zero[2], CAROM_REPEAT},
                                .radius = {&one, CAROM_REPEAT}};
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list, .totals = &totals};
    carom_error err = {0};
    assert_int_equal(carom_cloud_list(device, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "at most 2^36"));
    carom_context_destroy(device);
    cl_expect_none("crowd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults),       cmocka_unit_test(test_declined),
                                       cmocka_unit_test(test_small_groups), cmocka_unit_test(test_rounds),
                                       cmocka_unit_test(test_launches),     cmocka_unit_test(test_lost),
                                       cmocka_unit_test(test_crowd),        cmocka_unit_test(test_declined_once)};
    return cmocka_run_group_tests_name("cloud_grid_faults", tests, NULL, NULL);
}
