/* SPDX-License-Identifier: MIT */
/* A host with another floating-point environment: exceptions that trap, another rounding mode, flushed denormals,
 * sticky flags. Every function gives the same bits, and restores the host's environment. */
#include "tests/support/jobs.h"
#include "tests/support/requests.h"

#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { SEED = 83, COUNT = 300, SHARE = 2 };

/* ---- environments ------------------------------------------------------------------------------------------------ */

/* The parts of the floating-point environment that a host can read. */
typedef struct environment {
    int rounding, traps, flags;
    uint32_t sse;
    uint16_t x87_control, x87_status;
} environment;

static environment environment_now(void)
{
    environment e = {0};
#if defined(__x86_64__) /* the C library's functions would raise a pending x87 exception */
    e.sse = _mm_getcsr();
    __asm__ volatile("fnstcw %0" : "=m"(e.x87_control));
    __asm__ volatile("fnstsw %0" : "=m"(e.x87_status));
#else
    e.rounding = fegetround();
    e.traps = fegetexcept();
    e.flags = fetestexcept(FE_ALL_EXCEPT);
#endif
    return e;
}

static void expect_environment(const environment *expected, const environment *got, const char *label)
{
    if (expected->rounding != got->rounding || expected->traps != got->traps || expected->flags != got->flags ||
        expected->sse != got->sse || expected->x87_control != got->x87_control ||
        expected->x87_status != got->x87_status)
        fail_msg("%s: rounding %d traps %#x flags %#x sse %#x x87 %#x %#x became %d %#x %#x %#x %#x %#x", label,
                 expected->rounding, (unsigned)expected->traps, (unsigned)expected->flags, expected->sse,
                 expected->x87_control, expected->x87_status, got->rounding, (unsigned)got->traps, (unsigned)got->flags,
                 got->sse, got->x87_control, got->x87_status);
}

enum { TRAPS, UPWARD, TOWARD_ZERO, FLUSHING, FLAGS, TRAPS_AND_FLAGS, ENVIRONMENTS };
static const char *const environment_names[] = {"traps",    "rounding upward", "rounding toward zero",
                                                "flushing", "flags",           "traps and flags"};

/* Sets flags of exceptions that trap. Setting a flag raises no exception; on the x87 it makes one pending. */
static int set_flags(void)
{
#if defined(__x86_64__)
    uint16_t x87[14];
    _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_INEXACT | _MM_EXCEPT_UNDERFLOW);
    __asm__ volatile("fnstenv %0" : "=m"(x87));
    x87[0] &= 0xffc0;
    x87[2] |= 0x20;
    __asm__ volatile("fldenv %0" : : "m"(x87));
    return 1;
#else
    return 0;
#endif
}

/* Returns 0 if this machine does not support the environment. */
static int enter(int which)
{
    switch (which) {
    case TRAPS: return feenableexcept(FE_ALL_EXCEPT) != -1 && fegetexcept() == FE_ALL_EXCEPT;
    case UPWARD: return fesetround(FE_UPWARD) == 0;
    case TOWARD_ZERO: return fesetround(FE_TOWARDZERO) == 0;
    case FLUSHING:
#if defined(__x86_64__)
        _mm_setcsr(_mm_getcsr() | 0x8040);
        return 1;
#else
        return 0;
#endif
    case FLAGS: return feraiseexcept(FE_OVERFLOW | FE_DIVBYZERO) == 0;
    default: return enter(TRAPS) && set_flags();
    }
}

static void leave(void)
{
    (void)fesetenv(FE_DFL_ENV);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static int logged, progressed, allocated;

/* Changes the floating-point mode, as callbacks of a host may. */
static void make_a_mess(void)
{
    (void)fesetround(FE_DOWNWARD);
    (void)feraiseexcept(FE_INVALID);
    (void)feenableexcept(FE_ALL_EXCEPT & ~FE_INVALID);
}

static void messy_log(void *user, carom_log_level level, const char *line)
{
    (void)user, (void)level, (void)line;
    logged++;
    make_a_mess();
}

static int messy_progress(void *user, uint64_t done, uint64_t count)
{
    (void)user, (void)done, (void)count;
    progressed++;
    make_a_mess();
    return 0;
}

static void *messy_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    allocated++;
    void *memory = aligned_alloc(alignment, size);
    make_a_mess();
    return memory;
}

static void messy_free(void *user, void *memory)
{
    (void)user;
    free(memory);
    make_a_mess();
}

/* Makes every call, from creating a context to destroying it, in one environment. */
static void call_all(const carom_context_desc *desc, fixture *m, const batch_result *expected, int which,
                     const char *label)
{
    char name[160];
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    carom_device_info info;
    batch_result batch_results[REQUESTS];
    carom_status status[REQUESTS];
    environment before, after[REQUESTS + 4];
    uint32_t devices = 0;
    for (int i = 0; i < REQUESTS; i++)
        batch_results[i] = batch_result_alloc(&requests[i], m);
    m->progress = (carom_progress){desc->log != NULL ? messy_progress : NULL, NULL};
    if (!enter(which)) {
        leave();
        print_message("no %s on this machine\n", environment_names[which]);
        return;
    }
    before = environment_now();
    const carom_status created = carom_context_create(desc, &context, &err);
    if (created == CAROM_OK && test_on_device())
        (void)carom_device_list(&info, 1, &devices, NULL);
    after[REQUESTS] = environment_now();
    const carom_mesh_desc shape = scene_desc(&m->s);
    const carom_status made = created == CAROM_OK ? carom_mesh_create(context, &shape, &mesh, &err) : created;
    after[REQUESTS + 1] = environment_now();
    const carom_status moved =
        made == CAROM_OK ? carom_mesh_update(mesh, &shape.vertices, CAROM_MESH_REBUILD, &err) : made;
    after[REQUESTS + 2] = environment_now();
    for (int i = 0; moved == CAROM_OK && i < REQUESTS; i++) {
        status[i] = request_ask(&requests[i], context, mesh, m, &batch_results[i], &err);
        after[i] = environment_now();
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    after[REQUESTS + 3] = environment_now();
    leave();
    m->progress = (carom_progress){NULL, NULL};
    if (created == CAROM_ERROR_NO_DEVICE)
        test_skip("opencl", err.message);
    test_ok(label, created, &err);
    test_ok(label, made, &err);
    test_ok(label, moved, &err);
    for (int i = 0; i < REQUESTS + 4; i++) {
        snprintf(name, sizeof name, "%s, %s, %s", label, environment_names[which],
                 i < REQUESTS ? requests[i].name : "contexts and meshes");
        expect_environment(&before, &after[i], name);
    }
    for (int i = 0; i < REQUESTS; i++) {
        snprintf(name, sizeof name, "%s, %s, %s", label, environment_names[which], requests[i].name);
        test_ok(name, status[i], &err);
        batch_result_compare(&requests[i], m, &expected[i], &batch_results[i], name);
        batch_result_free(&batch_results[i]);
    }
}

static void call_in_all(const carom_context_desc *desc, const char *label)
{
    fixture m = fixture_make(SEED, scene_sphere(8), COUNT, SHARE);
    batch_result expected[REQUESTS];
    for (int i = 0; i < REQUESTS; i++)
        expected[i] = request_answer(&requests[i], &m);
    for (int which = 0; which < ENVIRONMENTS; which++)
        call_all(desc, &m, expected, which, label);
    for (int i = 0; i < REQUESTS; i++)
        batch_result_free(&expected[i]);
    fixture_free(&m);
}

static void test_isa(void **state)
{
    const carom_isa isa = *(const carom_isa *)*state;
    carom_context_desc desc = carom_context_desc_default();
    if (!carom_isa_available(isa))
        test_skip(carom_isa_name(isa), "this machine or this build cannot run it");
    desc.backend = CAROM_BACKEND_CPU;
    desc.isa = isa;
    for (desc.threads = 1; desc.threads <= 2; desc.threads++)
        call_in_all(&desc, carom_isa_name(isa));
}

/* The driver too compiles and computes in carom's mode, and threads that it starts inherit the mode. */
static void test_device_mode(void **state)
{
    (void)state;
    if (!test_on_device())
        test_skip("opencl", "this run is for the CPU");
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    call_in_all(&desc, "the device");
}

/* Whatever mode a callback leaves behind, carom continues in its own. */
static void test_messy_functions(void **state)
{
    (void)state;
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 2;
    desc.log = messy_log;
    desc.log_level = CAROM_LOG_INFO;
    desc.allocator = (carom_allocator){messy_alloc, messy_free, NULL};
    call_in_all(&desc, "with functions that change the mode");
    assert_true(logged > 0 && progressed > 0 && allocated > 0);
}

/* Waiting computes with seconds. */
static void test_jobs(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (int which = 0; which < ENVIRONMENTS; which++) {
        held_job h;
        carom_job_info info = {.size = sizeof info};
        carom_error err = {0};
        held_begin(context, &h);
        if (enter(which)) {
            const environment before = environment_now();
            const carom_status waited = carom_job_wait(h.job, 0.1, &err), told = carom_job_get_info(h.job, &info, &err);
            const environment after = environment_now();
            leave();
            assert_int_equal(waited, CAROM_ERROR_TIMEOUT);
            assert_int_equal(told, CAROM_OK);
            expect_environment(&before, &after, environment_names[which]);
        }
        leave();
        held_let_go(&h);
        held_end(&h);
    }
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest cpu[] = {
#define IN_EACH(name, state) {name, test_isa, NULL, NULL, state}
        TEST_EACH_ISA(IN_EACH),
        cmocka_unit_test(test_messy_functions),
        cmocka_unit_test(test_jobs),
    };
    const struct CMUnitTest device[] = {cmocka_unit_test(test_device_mode)};
    return test_on_device() ? cmocka_run_group_tests(device, NULL, NULL) : cmocka_run_group_tests(cpu, NULL, NULL);
}
