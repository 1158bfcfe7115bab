/* SPDX-License-Identifier: MIT */
/* Clouds where memory and threads are scarce. Whichever allocation fails, each call about a cloud says so, leaks
 * nothing, and the context goes on answering. Without threads the answers are the same. */
#include "queries/cloud_list.h"
#include "tests/support/clouds.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

enum { ROOM = 4000, MOST_SPHERES = 199, COLUMN_BYTES = ROOM * 64, ALLOCATIONS = 3000 };

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* Hooks of a context: allocation `fail_at`, counted from 1, fails, and all later ones too if `fail_after`. */
typedef struct faults {
    size_t live, calls, fail_at;
    int fail_after;
} faults;

static void *faulty_alloc(void *user, size_t size, size_t alignment)
{
    faults *f = user;
    f->calls++;
    if (f->fail_at != 0 && (f->calls == f->fail_at || (f->fail_after && f->calls > f->fail_at)))
        return NULL;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory != NULL) {
        memset(memory, 0xdb, size);
        f->live++;
    }
    return memory;
}

static void faulty_free(void *user, void *memory)
{
    faults *f = user;
    f->live -= memory != NULL;
    free(memory);
}

/* Replaces pthread_create, also for the library. */
static int no_threads;

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return no_threads ? EAGAIN : next(id, attributes, run, argument);
}

static carom_context *faulty_context(faults *f, uint32_t threads)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = threads;
    test_need_processors(threads);
    desc.allocator = (carom_allocator){faulty_alloc, faulty_free, f};
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

typedef struct answers_of_cloud {
    carom_list_totals totals;
    _Alignas(64) char columns[COLUMN_BYTES];
    int32_t other[200];
    float t[200];
    uint8_t hit[200];
    uint32_t partners[200], order[200];
} answers_of_cloud;

enum { ALL, CUT, COLUMNS, FIRST, ANY, COUNTED, ORDER, CALLS };
static const char *const call_names[CALLS] = {"list", "cut list", "columns alone", "first", "any", "count", "order"};

/* Columns from which others are computed. */
static int is_of_record(const char *name)
{
    return !strcmp(name, "a") || !strcmp(name, "b") || !strcmp(name, "state") || !strcmp(name, "shift");
}

static carom_status ask_list(carom_context *context, const carom_cloud_desc *d, int call, answers_of_cloud *out,
                             carom_error *err)
{
    const carom_cloud_pairs_before before = {.size = sizeof before};
    carom_cloud_pair_list list = {.size = sizeof list, .capacity = ROOM, .before = &before, .totals = &out->totals};
    assert_true(query_list_lay_out(&list, MOST_SPHERES, NULL) <= sizeof out->columns);
    (void)query_list_lay_out(&list, MOST_SPHERES, out->columns);
    list.capacity = call == CUT ? 20 : ROOM;
    for (int c = 0; call == COLUMNS && c < query_list_columns(); c++) /* the call needs records of its own */
        if (is_of_record(query_list_name(c)))
            query_list_drop(&list, c);
    return carom_cloud_list(context, d, &list, NULL, err);
}

static carom_status ask_cloud(carom_context *context, const cloud *c, int call, answers_of_cloud *out, carom_error *err)
{
    carom_cloud_desc d = c->desc;
    memset(out, 0, sizeof *out);
    if (call == ALL || call == CUT || call == COLUMNS)
        return ask_list(context, &d, call, out, err);
    d.full = 0;
    d.margin = 0;
    const carom_cloud_partner_result first = {.size = sizeof first, .other = out->other, .t = out->t};
    const carom_cloud_count_result count = {sizeof count, out->partners};
    return call == FIRST     ? carom_cloud_first(context, &d, &first, NULL, err)
           : call == ANY     ? carom_cloud_any(context, &d, TEST_ANY(out->hit), NULL, err)
           : call == COUNTED ? carom_cloud_count(context, &d, &count, NULL, err)
                             : carom_cloud_order(context, &d, out->order, NULL, err);
}

/* Returns the number of allocations of the call. */
static size_t fail_each(const cloud *c, int call, int fail_after, uint32_t threads)
{
    static answers_of_cloud wanted, got;
    faults f = {0};
    carom_error err;
    carom_context *context = faulty_context(&f, threads);
    test_ok(call_names[call], ask_cloud(context, c, call, &wanted, &err), &err);
    const size_t live = f.live;
    size_t k = 1, failed = 0;
    for (;; k++) {
        f.calls = 0;
        f.fail_at = k;
        f.fail_after = fail_after;
        const carom_status status = ask_cloud(context, c, call, &got, &err);
        f.fail_at = 0;
        assert_int_equal(f.live, live);
        if (f.calls < k)
            break;
        if (status != CAROM_OK) {
            failed++;
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "no memory");
        } else if (memcmp(&got, &wanted, sizeof got) != 0)
            fail_msg("%s: allocation %zu: other answers", call_names[call], k);
        assert_true(k < ALLOCATIONS);
        test_ok(call_names[call], ask_cloud(context, c, call, &got, &err), &err);
        assert_memory_equal(&got, &wanted, sizeof got);
    }
    assert_true(failed > 0);
    carom_context_destroy(context);
    assert_int_equal(f.live, 0);
    return k;
}

static void scarce_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < test_effort(100); i++) {
        cloud c = make_cloud(i, (int)(i % 2));
        for (int call = 0; call < CALLS; call++)
            fail_each(&c, call, (int)(i / 2 % 2), 1 + (uint32_t)(i % 3));
        cloud_free(&c);
    }
}

/* Rows that are sorted when an earlier list is searched. */
static void scarce_memory_for_long_rows(void **state)
{
    (void)state;
    enum { MANY = 90, PAIRS = MANY * (MANY - 1) / 2 };
    static int32_t a[PAIRS], b[PAIRS];
    static int64_t previous[PAIRS];
    const float center[] = {1, 2, 3}, radius = 1;
    faults f = {0};
    carom_context *context = faulty_context(&f, 1);
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = MANY},
                                .center = carom_repeat(center),
                                .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    carom_list_totals totals;
    carom_error err;
    size_t place = 0, failed = 0;
    for (int32_t i = 0; i < MANY; i++)
        for (int32_t k = MANY - 1; k > i; k--, place++) {
            a[place] = i;
            b[place] = k;
        }
    const carom_cloud_pairs_before before = {.size = sizeof before, .count = PAIRS, .a = a, .b = b};
    const carom_cloud_pair_list list = {
        .size = sizeof list, .capacity = PAIRS, .previous = previous, .before = &before, .totals = &totals};
    test_ok("carom_cloud_list", carom_cloud_list(context, &d, &list, NULL, &err), &err);
    const size_t live = f.live; /* with what the context keeps for its next call */
    for (size_t k = 1;; k++) {
        f.calls = 0;
        f.fail_at = k;
        const carom_status status = carom_cloud_list(context, &d, &list, NULL, &err);
        assert_int_equal(f.live, live);
        if (f.calls < k)
            break;
        if (status != CAROM_OK)
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "no memory");
        failed += strstr(err.message, "earlier list") != NULL;
    }
    assert_true(failed >= MANY - 64);
    for (size_t i = 0; i + 1 < MANY; i++)
        assert_int_equal(previous[i], MANY - 2 - i);
    carom_context_destroy(context);
}

static void no_thread_begins(void **state)
{
    (void)state;
    static answers_of_cloud wanted, got;
    faults f = {0};
    carom_error err;
    carom_context *four = faulty_context(&f, 4);
    no_threads = 1;
    carom_context *alone = faulty_context(&f, 4);
    no_threads = 0;
    assert_int_equal(carom_context_threads(alone), 1);
    for (size_t i = 0; i < test_effort(100); i++) {
        cloud c = make_cloud(i, (int)(i % 2));
        for (int call = 0; call < CALLS; call++) {
            test_ok(call_names[call], ask_cloud(four, &c, call, &wanted, &err), &err);
            test_ok(call_names[call], ask_cloud(alone, &c, call, &got, &err), &err);
            assert_memory_equal(&got, &wanted, sizeof got);
        }
        cloud_free(&c);
    }
    carom_context_destroy(four);
    carom_context_destroy(alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scarce_memory), cmocka_unit_test(scarce_memory_for_long_rows),
                                       cmocka_unit_test(no_thread_begins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
