/* SPDX-License-Identifier: MIT */
/* Spheres among themselves on a device that fails in the middle, has little memory, computes wrongly, cannot build a
 * kernel, has no binary64 or memory of its own. A cloud is answered as a whole: the CPU answers all of it then, with
 * the same bits, and statistics say why. */
#include "tests/support/cl_shim.h"

enum { MANY = 6000, ROOM = 1 << 18, SEED = 207, TRIALS = 3 };

/* A cloud with enough pairs in motion for the device's solver, and in one place enough spheres for searches of their
 * partners; and the answers of its calls. */
typedef struct cloud {
    float center[3 * MANY], velocity[3 * MANY], radius[MANY], t_max;
    uint32_t mask[MANY];
} cloud;
typedef struct pairs {
    int32_t a[ROOM], b[ROOM];
    float t[ROOM];
    uint8_t state[ROOM];
    int8_t shift[3 * ROOM];
    uint64_t offsets[MANY + 1];
    uint32_t partners[MANY];
    int32_t other[MANY];
    float first_t[MANY];
    uint8_t first_state[MANY], hit[MANY];
    carom_list_totals totals;
} pairs;

static cloud *spheres;
static pairs *expected[2], *got; /* fast, exact */

/* The call that comes first in a test, has its statistics, and fails, if one does; and which OpenCL calls it makes. */
typedef enum cloud_call { LIST, COUNT, FIRST, ANY, CALLS } cloud_call;
static cloud_call leads;
static cl_call counted;
static int calls_of_lead;

static carom_status ask_call(carom_context *context, cloud_call call, const carom_cloud_desc *d, pairs *to,
                             carom_stats *stats, carom_error *err)
{
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = ROOM,
                                        .offsets = to->offsets,
                                        .a = to->a,
                                        .b = to->b,
                                        .state = to->state,
                                        .t = to->t,
                                        .shift = to->shift,
                                        .totals = &to->totals};
    const carom_cloud_count_result counts = {sizeof counts, to->partners};
    const carom_cloud_partner_result first = {sizeof first, to->other, to->first_state, to->first_t};
    switch (call) {
    case LIST: return carom_cloud_list(context, d, &list, stats, err);
    case COUNT: return carom_cloud_count(context, d, &counts, stats, err);
    case FIRST: return carom_cloud_first(context, d, &first, stats, err);
    default: return carom_cloud_any(context, d, TEST_ANY(to->hit), stats, err);
    }
}

static carom_status ask_cloud(carom_context *context, int exact, pairs *to, carom_stats *stats, carom_error *err)
{
    const carom_cloud_desc d = {
        .batch = {.size = sizeof d, .count = MANY, .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST},
        .center = carom_xyz(spheres->center),
        .velocity = carom_xyz(spheres->velocity),
        .radius = carom_scalars_of(spheres->radius),
        .mask = carom_uints_of(spheres->mask),
        .t_max = {.data = &spheres->t_max, .stride = CAROM_REPEAT},
        .period = {0, 17, 0},
    };
    memset(to, 0, sizeof *to);
    *stats = (carom_stats){.size = sizeof *stats};
    carom_status status = ask_call(context, leads, &d, to, stats, err);
    calls_of_lead = cl_calls(counted);
    for (cloud_call call = LIST; call < CALLS && status == CAROM_OK; call++)
        if (call != leads)
            status = ask_call(context, call, &d, to, NULL, err);
    return status;
}

/* The CPU's bits. */
static carom_stats ask_right(carom_context *context, int exact, const char *label)
{
    carom_stats stats;
    carom_error err;
    test_ok(label, ask_cloud(context, exact, got, &stats, &err), &err);
    if (memcmp(got, expected[exact], sizeof *got) != 0)
        fail_msg("%s: the answers differ from the CPU's", label);
    assert_int_equal(stats.on_device + stats.on_cpu, MANY);
    return stats;
}

static int make_cloud(void **state)
{
    (void)state;
    ref_gen g;
    ref_gen_seed(&g, SEED, 1, 0);
    spheres = test_alloc(1, sizeof *spheres);
    got = test_alloc(1, sizeof *got);
    spheres->t_max = 0.4f;
    for (size_t i = 0; i < MANY; i++) {
        for (size_t k = 0; k < 3; k++) {
            spheres->center[3 * i + k] = (float)ref_gen_range(&g, 0, 17);
            spheres->velocity[3 * i + k] = (float)ref_gen_range(&g, -1, 1);
        }
        spheres->radius[i] = i % 50 == 7 ? 1.5f : (float)ref_gen_range(&g, 0.1, 0.5);
        spheres->mask[i] = 1u + (uint32_t)(i % 3);
        for (size_t k = 0; k < 3 && i % 12 == 5; k++)
            spheres->center[3 * i + k] = 5.0f + 0.01f * spheres->velocity[3 * i + k];
    }
    carom_context *cpu = test_cpu(CAROM_ISA_SCALAR, 1);
    for (int exact = 0; exact < 2; exact++) {
        carom_stats stats;
        carom_error err;
        expected[exact] = test_alloc(1, sizeof **expected);
        test_ok("the CPU", ask_cloud(cpu, exact, expected[exact], &stats, &err), &err);
        assert_true(expected[exact]->totals.stored > MANY);
        assert_int_equal(expected[exact]->totals.stored, expected[exact]->totals.total);
    }
    carom_context_destroy(cpu);
    return 0;
}

static int free_cloud(void **state)
{
    (void)state;
    free(spheres), free(got), free(expected[0]), free(expected[1]);
    return 0;
}

static carom_context *open_device(carom_backend backend)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.threads = 2;
    desc.auto_from = 1;
    if (cl_seen_as.discrete) /* a GPU of one lane would sort the spheres itself */
        desc.device_lanes = 16;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

static void test_whole(void **state)
{
    (void)state;
    (void)test_need_device();
    for (int discrete = 0; discrete < 2; discrete++) {
        cl_seen_as.discrete = discrete;
        carom_context *context = open_device(CAROM_BACKEND_OPENCL);
        for (int exact = 0; exact < 2; exact++)
            assert_int_equal(ask_right(context, exact, discrete ? "discrete" : "shared memory").on_device, MANY);
        carom_context_destroy(context);
        cl_expect_none("a cloud");
    }
    cl_seen_as.discrete = 0;
}

/* Exact mode's pair program needs binary64, the rest of a cloud does not: the CPU settles what is open. */
static void test_no_binary64(void **state)
{
    (void)state;
    (void)test_need_device();
    cl_seen_as.no_fp64 = 1;
    carom_context *context = open_device(CAROM_BACKEND_OPENCL);
    assert_int_equal(ask_right(context, 1, "no binary64").on_device, MANY);
    carom_context_destroy(context);
    cl_seen_as.no_fp64 = 0;
}

/* Call number `at` of this kind fails; 0: none. Returns how many there were. */
static int ask_failing(cl_call call, int at)
{
    cl_sabotage(call, at, 0);
    counted = call;
    carom_context *context = open_device(CAROM_BACKEND_AUTO);
    carom_stats stats = ask_right(context, 0, cl_call_name(call));
    const int calls = calls_of_lead;
    assert_int_equal(stats.on_device, at ? 0 : MANY);
    assert_int_equal(stats.fallen_back, at ? MANY : 0);
    if (at) {
        cl_sabotage(call, 0, 0);
        stats = ask_right(context, 0, "a device that was given up");
        assert_int_equal(stats.on_device, 0);
        assert_true(stats.fallback_reason[0] != '\0');
    }
    carom_context_destroy(context);
    cl_expect_none(cl_call_name(call));
    return calls;
}

static void test_lost(void **state)
{
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_COMMAND, CALL_ARGUMENT, CALL_FLUSH};
    (void)state;
    (void)test_need_device();
    for (size_t k = 0; k < 2 * COUNT_OF(kinds); k++) {
        leads = k % 2 ? FIRST : LIST;
        const int calls = ask_failing(kinds[k / 2], 0); /* the probes' included */
        for (int i = 0; i < TRIALS; i++)
            ask_failing(kinds[k / 2], 1 + (calls - 1) * (2 * i + 1) / (2 * TRIALS));
    }
    leads = LIST;
    cl_sabotage(CALL_LAUNCH, 0, 0);
    carom_context *context = open_device(CAROM_BACKEND_OPENCL);
    (void)ask_right(context, 0, "before");
    cl_sabotage(CALL_LAUNCH, 2, 0);
    carom_stats stats;
    carom_error err;
    test_error(ask_cloud(context, 0, got, &stats, &err), CAROM_ERROR_DEVICE_LOST, &err, "(-5)");
    cl_sabotage(CALL_LAUNCH, 0, 0);
    test_error(ask_cloud(context, 0, got, &stats, &err), CAROM_ERROR_DEVICE_LOST, &err, "given up");
    carom_context_destroy(context);
    cl_expect_none("a lost device");
}

/* Short of memory the CPU answers one batch; the device has the next. */
static void test_scarce(void **state)
{
    (void)state;
    (void)test_need_device();
    cl_seen_as.discrete = 1;
    carom_context *context = open_device(CAROM_BACKEND_AUTO);
    assert_int_equal(ask_right(context, 0, "of its own").on_device, MANY);
    cl_scarce.room = 1 << 14;
    const carom_stats stats = ask_right(context, 0, "hardly any memory");
    assert_int_equal(stats.on_device, 0);
    assert_int_equal(stats.fallen_back, MANY);
    assert_non_null(strstr(stats.fallback_reason, "memory"));
    cl_relieve();
    assert_int_equal(ask_right(context, 0, "memory again").on_device, MANY);
    carom_context_destroy(context);
    cl_seen_as.discrete = 0;
    cl_expect_none("little memory");
}

/* What a device must not be trusted with: found by the probe, or, in later items alone, in the batch. */
static void test_wrong(void **state)
{
    static const struct {
        cl_patch patch;
        carom_status status;
        const char *reason;
    } faults[] = {
        {{"some[i] = all.some;", "some[i] = all.some & all.certain;"}, CAROM_ERROR_NOT_BIT_EXACT, "kernel cloud_test"},
        {{"limits[i] = limit_a < limit_b", "limits[i] = limit_a > limit_b"},
         CAROM_ERROR_NOT_BIT_EXACT,
         "kernel cloud_gather"},
        {{"some[i] = all.some;", "some[i] = all.some | (i > 3000 ? 0x80000000u : 0u);"},
         CAROM_ERROR_DEVICE_LOST,
         "reports spheres that cannot be"},
        {{"store_u8(out, OUT_CLOUD_STATE, i, a.state);",
          "store_u8(out, OUT_CLOUD_STATE, i, i > 4095 ? v_i(9) : a.state);"},
         CAROM_ERROR_DEVICE_LOST,
         "reports states that cannot be"},
    };
    (void)state;
    (void)test_need_device();
    leads = FIRST; /* a list or a count leaves too few pairs open for the device's solver */
    for (size_t k = 0; k < COUNT_OF(faults); k++) {
        carom_stats stats;
        carom_error err;
        cl_text_patch = faults[k].patch;
        carom_context *context = open_device(CAROM_BACKEND_OPENCL);
        test_error(ask_cloud(context, 0, got, &stats, &err), faults[k].status, &err, faults[k].reason);
        carom_context_destroy(context);
        context = open_device(CAROM_BACKEND_AUTO);
        stats = ask_right(context, 0, "a wrong kernel");
        assert_int_equal(stats.fallen_back, MANY);
        assert_non_null(strstr(stats.fallback_reason, faults[k].reason));
        carom_context_destroy(context);
        cl_text_patch = (cl_patch){NULL, NULL};
    }
    leads = LIST;
    cl_expect_none("wrong kernels");
}

static void test_unbuilt(void **state)
{
    static const char *const kernels[] = {"cloud_test", "cloud_gather", "cloud"};
    (void)state;
    (void)test_need_device();
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        cl_broken = (cl_unbuilt){kernels[k], "the words of a compiler"};
        carom_context *context = open_device(CAROM_BACKEND_AUTO);
        const carom_stats stats = ask_right(context, 0, kernels[k]);
        assert_int_equal(stats.on_device, 0);
        assert_non_null(strstr(stats.fallback_reason, "cannot build kernel"));
        carom_context_destroy(context);
    }
    cl_broken = (cl_unbuilt){NULL, NULL};
    cl_expect_none("unbuilt kernels");
}

/* A device that auto finds itself: the CPU's pace is that of the first cloud, which it answers alone. */
static void test_auto(void **state)
{
    (void)state;
    (void)test_need_device();
    cl_seen_as.gpu = 1;
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.auto_from = 1;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    assert_int_equal(ask_right(context, 0, "auto, first").on_cpu, MANY);
    assert_int_equal(ask_right(context, 0, "auto, then").on_device, MANY);
    carom_context_destroy(context);
    cl_seen_as.gpu = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_no_binary64),
                                       cmocka_unit_test(test_lost),  cmocka_unit_test(test_scarce),
                                       cmocka_unit_test(test_wrong), cmocka_unit_test(test_unbuilt),
                                       cmocka_unit_test(test_auto)};
    return cmocka_run_group_tests(tests, make_cloud, free_cloud);
}
