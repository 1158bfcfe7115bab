/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { GUARD = 64 };

size_t test_effort(size_t full)
{
    const char *percent = getenv("CAROM_TEST_EFFORT");
    double share = percent ? strtod(percent, NULL) / 100.0 : 1.0;
#if defined(__SANITIZE_ADDRESS__)
    share *= 0.4;
#endif
    size_t count = (size_t)((double)full * share);
    return count > 0 ? count : 1;
}

size_t test_fault_step(void)
{
    enum { STEP = 3 };
    return test_effort(100) < 100 ? STEP : 1;
}

/* Whether a share of so many cases can be asserted. 0 and all of them need no luck. */
static int is_enough(const char *what, double share, uint64_t cases)
{
    const int is_asserted = share <= 0.0 || share >= 1.0 || share * (double)cases >= TEST_SHARE_LEAST;
    if (!is_asserted)
        print_message("%s: a share of %g of %llu cases is not asserted\n", what, share, (unsigned long long)cases);
    return is_asserted;
}

void test_share(const char *what, uint64_t some, uint64_t cases, double least, double most)
{
    if ((is_enough(what, least, cases) && (double)some < least * (double)cases) ||
        (is_enough(what, most, cases) && (double)some > most * (double)cases))
        fail_msg("%s: %llu of %llu cases, not %g to %g of them", what, (unsigned long long)some,
                 (unsigned long long)cases, least, most);
}

#if defined(__SANITIZE_ADDRESS__)
/* OpenCL implementations keep memory until the process ends. Leaks of carom are still reported. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libOpenCL\nleak:libpocl\nleak:libRusticlOpenCL\nleak:libMesaOpenCL\nleak:libLLVM\nleak:libclang\n";
}

/* Keeps libraries loaded. If a library is unloaded, memory that its globals still hold is reported as a leak, with a
 * nameless call stack. Mesa does so: it unloads a driver that found no device. */
int dlclose(void *library)
{
    (void)library;
    return 0;
}
#endif

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static const char *device_name(void)
{
    const char *name = getenv("CAROM_TEST_DEVICE");
    return name && name[0] ? name : NULL;
}

int test_on_device(void)
{
    return device_name() != NULL;
}

static int is_required(const char *what)
{
    const char *list = getenv("CAROM_TEST_REQUIRE");
    size_t length = strlen(what);
    while (list && *list) {
        size_t item = strcspn(list, ", ");
        if (item == length && !strncmp(list, what, length))
            return 1;
        list += item + strspn(list + item, ", ");
    }
    return 0;
}

carom_isa each_isa[] = {CAROM_ISA_AUTO, CAROM_ISA_SCALAR, CAROM_ISA_SSE41,
                        CAROM_ISA_AVX2, CAROM_ISA_AVX512, CAROM_ISA_NEON};

void test_skip(const char *what, const char *reason)
{
    if (is_required(what))
        fail_msg("%s is required, but: %s", what, reason);
    print_message("skipped for want of %s: %s\n", what, reason);
    skip();
}

void test_ok(const char *what, carom_status status, const carom_error *err)
{
    if (status != CAROM_OK)
        fail_msg("%s: %s: %s", what, carom_status_name(status), err ? err->message : "");
}

void test_error(carom_status got, carom_status expected, const carom_error *err, const char *word)
{
    if (got != expected)
        fail_msg("%s, expected %s with '%s'", carom_status_name(got), carom_status_name(expected), word);
    assert_int_equal(err->status, expected);
    if (!memchr(err->message, '\0', sizeof err->message))
        fail_msg("the message for '%s' has no end", word);
    if (!strstr(err->message, word))
        fail_msg("'%s' does not hold '%s'", err->message, word);
}

static atomic_uint processors_least; /* tests on several threads make contexts too */

void test_need_processors(uint32_t least)
{
    unsigned known = atomic_load(&processors_least);
    while (known < least && !atomic_compare_exchange_weak(&processors_least, &known, least))
        continue;
}

#if defined(__linux__)
/* Replaces the C library's, also for the library. */
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    memset(set, 0, size);
    if (syscall(SYS_sched_getaffinity, process, size, set) < 0)
        return -1;
    for (size_t i = 0; (unsigned)CPU_COUNT_S(size, set) < atomic_load(&processors_least) && i < 8 * size; i++)
        CPU_SET_S(i, size, set);
    return 0;
}
#endif

carom_context *test_cpu(carom_isa isa, uint32_t threads)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.isa = isa;
    desc.threads = threads;
    test_need_processors(threads);
    if (!carom_isa_available(isa))
        test_skip(carom_isa_name(isa), "this machine or this build cannot run it");
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* ---- lanes of the device ----------------------------------------------------------------------------------------- */

int test_undisguised;

/* CAROM_TEST_LANES, or 0. */
static uint32_t lanes_of_run(void)
{
    const char *lanes = getenv("CAROM_TEST_LANES");
    return lanes ? (uint32_t)strtoul(lanes, NULL, 10) : 0;
}

int test_as_gpu(void)
{
    return lanes_of_run() == 1;
}

static int is_device_of_run(const carom_device_info *info)
{
    const char *name = device_name();
    char *end = NULL;
    const unsigned long number = name ? strtoul(name, &end, 10) : 0;
    return name == NULL || (*end == '\0' ? info->index == number : strstr(info->name, name) != NULL);
}

/* Lanes that the library chooses for the device of this run, whatever cl_shim.c says of it; 0 without a device. */
static uint32_t lanes_chosen(void)
{
    carom_device_info info[32] = {{.size = sizeof *info}};
    uint32_t count = 0, i = 0;
    test_undisguised = 1;
    const carom_status status = carom_device_list(info, COUNT_OF(info), &count, NULL);
    test_undisguised = 0;
    count = status != CAROM_OK ? 0 : count < COUNT_OF(info) ? count : (uint32_t)COUNT_OF(info);
    while (i < count && !is_device_of_run(&info[i]))
        i++;
    return i < count ? info[i].lanes : 0;
}

int test_has_lanes(uint32_t lanes)
{
    static uint32_t chosen; /* 0: not asked yet */
    if (lanes <= 1 || lanes_of_run() > 1)
        return 1;
    if (chosen == 0)
        chosen = test_as_gpu() ? 1 : lanes_chosen();
    return chosen != 1;
}

uint32_t test_lanes_for(uint32_t lanes)
{
    if (lanes == 0)
        return lanes_of_run();
    if (test_has_lanes(lanes))
        return lanes;
    print_message("one lane instead of %u: " TEST_ONE_LANE "\n", lanes);
    return 1;
}

carom_context_desc test_desc(carom_backend backend)
{
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = backend;
    desc.device = device_name();
    desc.device_lanes = test_lanes_for(0);
    return desc;
}

carom_context *test_backend(carom_backend backend)
{
    const carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    return context;
}

carom_context *test_device(uint32_t lanes, uint32_t chunk)
{
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device_lanes = test_lanes_for(lanes);
    desc.device_chunk = chunk;
    carom_status status = carom_context_create(&desc, &context, &err);
    if (status == CAROM_ERROR_NO_DEVICE || (status == CAROM_ERROR_UNSUPPORTED && !carom_has_opencl()))
        test_skip("opencl", err.message);
    test_ok("carom_context_create", status, &err); /* a refused device is a failure, not a skip */
    return context;
}

carom_mesh_info test_mesh_info(const carom_mesh *mesh)
{
    carom_mesh_info info = {.size = sizeof info};
    carom_error err = {0};
    test_ok("carom_mesh_get_info", carom_mesh_get_info(mesh, &info, &err), &err);
    return info;
}

carom_pair_indices pair_indices(const uint32_t *a, const uint32_t *b, uint64_t a_count, uint64_t b_count)
{
    return (carom_pair_indices){carom_uints_of(a), carom_uints_of(b), a_count, b_count};
}

carom_device_info test_need_device(void)
{
    carom_context *context = test_device(0, 0);
    carom_device_info info = {.size = sizeof info};
    assert_int_equal(carom_context_get_device(context, &info, NULL), CAROM_OK);
    carom_context_destroy(context);
    return info;
}

void test_need_subject(carom_isa isa)
{
    if (isa == CAROM_ISA_AUTO)
        (void)test_need_device();
    else
        carom_context_destroy(test_cpu(isa, 1));
}

carom_context *test_context(void)
{
    return test_on_device() ? test_device(0, 0) : test_cpu(CAROM_ISA_AUTO, 2);
}

/* ---- the same bits from every backend ---------------------------------------------------------------------------- */

/* Destroys the context. */
static void compare_with_scalar(const same_answers *this, carom_context *context, const char *label)
{
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    this->check(scalar, context, label);
    carom_context_destroy(scalar);
    carom_context_destroy(context);
}

void test_same_isa(void **state)
{
    const same_answers *this = *state;
    compare_with_scalar(this, test_cpu(this->isa, 1), carom_isa_name(this->isa));
}

void test_same_threads(void **state)
{
    compare_with_scalar(*state, test_cpu(CAROM_ISA_AUTO, 2), "two threads");
    compare_with_scalar(*state, test_cpu(CAROM_ISA_AUTO, 7), "seven threads");
}

void test_same_device(void **state)
{
    compare_with_scalar(*state, test_device(0, 0), "the device");
    compare_with_scalar(*state, test_device(1, 0), "the device with one lane");
    compare_with_scalar(*state, test_device(4, 0), "the device with four lanes, if it has them");
    compare_with_scalar(*state, test_device(0, 100), "the device in chunks of 100");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

void *test_alloc(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

static unsigned char band_byte(size_t i)
{
    return (unsigned char)(0xc3 ^ (i * 29));
}

guarded guarded_alloc(size_t size, size_t misalign, unsigned char fill)
{
    size_t bytes = (GUARD + misalign + size + GUARD + 63) / 64 * 64;
    guarded memory = {.block = aligned_alloc(64, bytes), .size = size};
    assert_non_null(memory.block);
    memory.data = memory.block + GUARD + misalign;
    for (size_t i = 0; i < GUARD; i++) {
        *(memory.data - GUARD + i) = band_byte(i);
        memory.data[size + i] = band_byte(i);
    }
    memset(memory.data, fill, size);
    return memory;
}

void guarded_check(const guarded *memory, const char *what)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (*(memory->data - GUARD + i) != band_byte(i))
            fail_msg("%s: the byte %zu before an output was written", what, GUARD - i);
        if (memory->data[memory->size + i] != band_byte(i))
            fail_msg("%s: the byte %zu after an output was written", what, i + 1);
    }
}

void guarded_free(guarded *memory)
{
    free(memory->block);
    memory->block = memory->data = NULL;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

int is_nan_or_minus_zero(float value)
{
    return isnan(value) || bits_of_float(value) == 0x80000000u;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ from[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t hash_floats(uint64_t hash, const void *floats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, (const unsigned char *)floats + i * sizeof value, sizeof value);
        uint32_t bits = isnan(value) ? 0x7fc00000u : bits_of_float(value);
        unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                                  (unsigned char)(bits >> 24)};
        hash = hash_bytes(hash, bytes, sizeof bytes);
    }
    return hash;
}
