/* SPDX-License-Identifier: MIT */
/* The host's memory behind the addresses of buffers on a discrete device. It is kept between calls, up to a bound, and
 * nothing of an earlier call is seen in a later one. */
#include "tests/support/call_cases.h"
#include "tests/support/cl_shim.h"

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { COUNT = 2000, SHARE = 30, SMALL = 1 << 20 /* a range of small pages */ };

static carom_buffer *buffer_of(carom_context *context, uint64_t bytes)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = bytes, .where = CAROM_BUFFER_DEVICE};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
    return buffer;
}

/* How many of the first `bytes` bytes of a buffer have memory, in pages. */
static size_t pages_of(const carom_buffer *buffer, size_t bytes)
{
    static unsigned char in_memory[SMALL / 512];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = (bytes + page - 1) / page;
    size_t sum = 0;
    assert_true(count <= COUNT_OF(in_memory));
    assert_int_equal(mincore(carom_buffer_address(buffer), bytes, in_memory), 0);
    for (size_t i = 0; i < count; i++)
        sum += in_memory[i] & 1;
    return sum;
}

/* ---- kept -------------------------------------------------------------------------------------------------------- */

static long faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

static void map_all(carom_buffer *buffer, size_t bytes, int value)
{
    void *at = NULL;
    carom_error err = {0};
    test_ok("map", carom_buffer_map(buffer, 0, bytes, CAROM_ACCESS_WRITE, &at, &err), &err);
    memset(at, value, bytes);
    test_ok("unmap", carom_buffer_unmap(buffer, &err), &err);
}

/* The system may take kept pages when it is short of memory, so one map in several must find them. */
static void pages_are_kept_until_the_context_ends(void **state)
{
    const long pages = SMALL / sysconf(_SC_PAGESIZE);
    long least = LONG_MAX;
    (void)state;
    carom_context *context = cl_open_discrete();
    carom_buffer *buffer = buffer_of(context, SMALL);
    for (int i = 0; i < 5; i++) {
        const long before = faults();
        map_all(buffer, SMALL, i);
        least = faults() - before < least ? faults() - before : least;
    }
    assert_true(least < pages / 2);
    assert_int_equal(pages_of(buffer, SMALL), pages);
    carom_context_destroy(context);
    assert_int_equal(pages_of(buffer, SMALL), 0);
    carom_buffer_destroy(buffer);
    cl_expect_none("kept pages");
}

/* A system without swap can take what is kept, and what it has taken is not missed. */
static void the_system_may_take_pages(void **state)
{
#ifdef MADV_PAGEOUT
    enum { LARGE = 4 * (1 << 21) };
    static unsigned char got[LARGE];
    (void)state;
    carom_context *context = cl_open_discrete();
    carom_buffer *buffer = buffer_of(context, LARGE);
    carom_error err = {0};
    map_all(buffer, LARGE, 1);
    assert_true(pages_of(buffer, LARGE) > 0);
    if (madvise(carom_buffer_address(buffer), LARGE, MADV_PAGEOUT) == 0)
        assert_int_equal(pages_of(buffer, LARGE), 0);
    map_all(buffer, LARGE, 2);
    test_ok("read", carom_buffer_read(buffer, 0, got, LARGE, &err), &err);
    for (size_t i = 0; i < LARGE; i++)
        assert_int_equal(got[i], 2);
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
    cl_expect_none("taken pages");
#else
    test_skip("pages are taken", "the system has no MADV_PAGEOUT");
    (void)state;
#endif
}

/* ---- bounded ----------------------------------------------------------------------------------------------------- */

/* A call with room for many records, of which few are stored: one page or two. */
static void list_contacts(carom_mesh *mesh, carom_buffer *buffer, uint64_t bytes)
{
    static const float center[3] = {0, 0, 0}, radius = 1;
    carom_list_totals totals;
    carom_error err = {0};
    const carom_mesh_contacts_desc desc = {
        .batch = {.size = sizeof desc, .count = 1}, .center = carom_xyz(center), .radius = carom_scalars_of(&radius)};
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = bytes / sizeof(uint64_t),
                                     .query = carom_buffer_address(buffer),
                                     .totals = &totals};
    test_ok("contacts", carom_mesh_contacts(mesh, &desc, &list, NULL, &err), &err);
    assert_true(totals.stored > 0);
}

/* Ranges that a call has had open count as kept, at most 2^30 bytes of them: two of these fit, and three do not. Those
 * of the last call are kept before others, and a map is left alone. */
static void kept_pages_are_bounded(void **state)
{
    enum { BUFFERS = 3, PART = SMALL / 2 };
    const uint64_t bytes = UINT64_C(450) << 20;
    carom_buffer *buffer[BUFFERS];
    carom_error err = {0};
    void *at = NULL;
    (void)state;
    carom_context *context = cl_open_without_fp64();
    scene s = call_scene();
    carom_mesh *mesh = scene_mesh(context, &s);
    for (int i = 0; i < BUFFERS; i++)
        buffer[i] = buffer_of(context, bytes);
    list_contacts(mesh, buffer[0], bytes);
    list_contacts(mesh, buffer[1], bytes);
    assert_true(pages_of(buffer[0], PART) > 0 && pages_of(buffer[1], PART) > 0);
    list_contacts(mesh, buffer[2], bytes);
    assert_true((pages_of(buffer[0], PART) > 0) + (pages_of(buffer[1], PART) > 0) == 1);
    assert_true(pages_of(buffer[2], PART) > 0);
    test_ok("map", carom_buffer_map(buffer[2], 0, PART, CAROM_ACCESS_READ_WRITE, &at, &err), &err);
    memset(at, 7, PART);
    list_contacts(mesh, buffer[0], bytes);
    list_contacts(mesh, buffer[1], bytes);
    for (size_t i = 0; i < PART; i++)
        assert_int_equal(((unsigned char *)at)[i], 7);
    test_ok("unmap", carom_buffer_unmap(buffer[2], &err), &err);
    for (int i = 0; i < BUFFERS; i++)
        carom_buffer_destroy(buffer[i]);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
    cl_expect_none("bounded pages");
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* The system gives no more memory for data. Returns 0 where it does not keep to such a limit. */
static int limit_data(struct rlimit *before)
{
    unsigned long data = 0;
    FILE *status = fopen("/proc/self/statm", "r");
    assert_int_equal(getrlimit(RLIMIT_DATA, before), 0);
    if (status == NULL)
        return 0;
    const int found = fscanf(status, "%*u %*u %*u %*u %*u %lu", &data);
    (void)fclose(status);
    const struct rlimit now = {data * (rlim_t)sysconf(_SC_PAGESIZE), before->rlim_max};
    return found == 1 && setrlimit(RLIMIT_DATA, &now) == 0;
}

/* Without memory for staging copies a call fails and says so, and its outputs are left alone. */
static void no_memory_is_an_error(void **state)
{
    enum { LARGE = 1 << 26 };
    static unsigned char got[64];
    static uint32_t order[LARGE / 16];
    struct rlimit before;
    (void)state;
    carom_context *context = cl_open_without_fp64();
    carom_buffer *buffer = buffer_of(context, LARGE);
    carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = LARGE / 16},
                             .center = carom_strided(carom_buffer_address(buffer), 16)};
    desc.radius = (carom_scalars){(const float *)carom_buffer_address(buffer) + 3, 16};
    carom_error err = {0};
    void *at = NULL;
    memset(got, CALL_FILL, sizeof got);
    test_ok("write", carom_buffer_write(buffer, 0, got, sizeof got, &err), &err);
    if (limit_data(&before)) {
        const carom_status call = carom_cloud_order(context, &desc, order, NULL, &err); /* on the CPU */
        const carom_status map = carom_buffer_map(buffer, 0, LARGE, CAROM_ACCESS_READ, &at, NULL);
        assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
        test_error(call, CAROM_ERROR_OUT_OF_MEMORY, &err, "no memory to bring 67108852 bytes of a buffer to the host");
        assert_int_equal(map, CAROM_ERROR_OUT_OF_MEMORY);
    }
    test_ok("map", carom_buffer_map(buffer, 0, LARGE, CAROM_ACCESS_READ, &at, &err), &err);
    assert_memory_equal(at, got, sizeof got);
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
    cl_expect_none("no memory");
}

/* A transfer that fails is the call's error; the next call has nothing of it. */
static void check_transfers(call_choice choice, cl_call kind)
{
    carom_context *context = cl_open_without_fp64(), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    scene s = call_scene();
    carom_mesh *mesh = scene_mesh(context, &s);
    call_case *expected = call_case_answer(choice, COUNT, SHARE, cpu), *c = call_case_make(choice, COUNT, SHARE);
    carom_buffer *buffer = buffer_of(context, c->bytes);
    call_case_place(c, carom_buffer_address(buffer));
    for (int at = 1, count = 1; at <= count; at += 1 + count / 5) {
        carom_error err = {0};
        call_case_reset(c);
        test_ok("write", carom_buffer_write(buffer, 0, c->memory, c->bytes, &err), &err);
        cl_sabotage(kind, at, 0);
        const carom_status status = call_case_ask(c, context, mesh, &err);
        count = cl_calls(kind);
        cl_relieve();
        if (status != CAROM_OK)
            test_error(status, CAROM_ERROR_DEVICE_LOST, &err, cl_call_name(kind));
        if (status != CAROM_OK && call_case_ask(c, context, mesh, &err) != CAROM_OK)
            break; /* the device is given up */
        test_ok("read", carom_buffer_read(buffer, 0, c->memory, c->bytes, &err), &err);
        call_case_compare(expected, c, "after a transfer that failed");
    }
    carom_buffer_destroy(buffer);
    call_case_free(c);
    call_case_free(expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    scene_free(&s);
    cl_expect_none("transfers");
}

static void a_transfer_that_fails_is_an_error(void **state)
{
    static const int calls[] = {CALL_mesh_contacts, CALL_cloud_list, CALL_cloud_order, CALL_mesh_clearance};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        check_transfers((call_choice){.number = calls[i]}, CALL_READ);
        check_transfers((call_choice){.number = calls[i]}, CALL_WRITE);
    }
}

/* ---- calls in turn ----------------------------------------------------------------------------------------------- */

/* A call in a thread of its own. */
typedef struct turn {
    call_case *c;
    carom_context *context;
    carom_mesh *mesh;
    carom_buffer *buffer;
} turn;

static void *take_turn(void *user)
{
    turn *t = user;
    carom_error err = {0};
    test_ok("write", carom_buffer_write(t->buffer, 0, t->c->memory, t->c->bytes, &err), &err);
    test_ok(call_case_name(t->c), call_case_ask(t->c, t->context, t->mesh, &err), &err);
    test_ok("read", carom_buffer_read(t->buffer, 0, t->c->memory, t->c->bytes, &err), &err);
    return NULL;
}

/* Spheres in other places: the first centres are those of the next ones. */
static void move_inputs(call_case *c)
{
    for (int i = 0; i < c->in_count; i++)
        if (!strcmp(c->in[i].name, "center")) {
            unsigned char *at = c->memory + c->in[i].offset;
            const size_t shift = SHARE * c->in[i].element;
            memmove(at, at + shift, c->in[i].count * c->in[i].element - shift);
        }
}

/* The same buffer for a batch, a shorter one with other inputs, and a longer one, by two threads in turn: each call
 * sees what the buffer holds then, and leaves what it does not write. */
static void calls_in_turn_see_their_own_bytes(void **state)
{
    (void)state;
    carom_context *context = cl_open_discrete(), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    scene s = call_scene();
    carom_mesh *mesh = scene_mesh(context, &s), *there = scene_mesh(cpu, &s);
    for (int number = 0; number < CALL_TYPES; number++)
        for (int step = 0; step < 3; step++) {
            static carom_buffer *buffer;
            const call_choice choice = {.number = number};
            call_case *c = call_case_make(choice, COUNT, SHARE), *expected = call_case_make(choice, COUNT, SHARE);
            if (step == 0)
                buffer = buffer_of(context, c->bytes);
            call_case *both[] = {c, expected};
            for (int i = 0; i < 2 && step == 1; i++) {
                call_case_batch(both[i])->count -= call_case_batch(both[i])->count / 3;
                move_inputs(both[i]);
            }
            call_case_place(c, carom_buffer_address(buffer));
            turn t = {c, context, mesh, buffer};
            carom_error err = {0};
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, take_turn, &t), 0);
            assert_int_equal(pthread_join(thread, NULL), 0);
            test_ok(call_case_name(c), call_case_ask(expected, cpu, there, &err), &err);
            for (size_t i = 0; i < c->bytes; i++)
                if (c->memory[i] != expected->memory[i])
                    fail_msg("%s, call %d: byte %zu is %02x, not %02x", call_case_name(c), step, i, c->memory[i],
                             expected->memory[i]);
            if (step == 2)
                carom_buffer_destroy(buffer);
            call_case_free(expected);
            call_case_free(c);
        }
    carom_mesh_destroy(there);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    scene_free(&s);
    cl_expect_none("calls in turn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_are_kept_until_the_context_ends),
                                       cmocka_unit_test(the_system_may_take_pages),
                                       cmocka_unit_test(kept_pages_are_bounded),
                                       cmocka_unit_test(no_memory_is_an_error),
                                       cmocka_unit_test(a_transfer_that_fails_is_an_error),
                                       cmocka_unit_test(calls_in_turn_see_their_own_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
