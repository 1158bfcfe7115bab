/* SPDX-License-Identifier: MIT */
/* Memory of jobs. Whichever allocation of a call or of its job fails, one of the two reports it, nothing leaks, and the
 * next job works. Allocator hooks are never called by two threads at once, also while jobs run. */
#include "tests/support/jobs.h"

#include <sched.h>

enum { COUNT = 5000, LIMIT = 300 };

typedef struct counter {
    atomic_flag is_inside;
    atomic_int broken; /* two threads were inside */
    atomic_long live;
    atomic_ulong calls, fail_at; /* the number of the allocation that fails; 0: none */
    atomic_int fail_after;       /* all later ones fail too */
} counter;

static void go_in(counter *c)
{
    if (atomic_flag_test_and_set(&c->is_inside))
        atomic_store(&c->broken, 1);
    (void)sched_yield(); /* time for another to come in */
}

static void *count_alloc(void *user, size_t size, size_t alignment)
{
    counter *c = user;
    go_in(c);
    const unsigned long call = atomic_fetch_add(&c->calls, 1) + 1, fail_at = atomic_load(&c->fail_at);
    const int fails = fail_at != 0 && (call == fail_at || (atomic_load(&c->fail_after) && call > fail_at));
    void *memory = fails ? NULL : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory != NULL)
        memset(memory, 0xdb, size);
    atomic_fetch_add(&c->live, memory != NULL);
    atomic_flag_clear(&c->is_inside);
    return memory;
}

static void count_free(void *user, void *memory)
{
    counter *c = user;
    go_in(c);
    free(memory);
    atomic_fetch_sub(&c->live, 1);
    atomic_flag_clear(&c->is_inside);
}

static job_room make_room(counter *c)
{
    return job_room_make(job_context(2, (carom_allocator){count_alloc, count_free, c}), COUNT);
}

static void fail_from(counter *c, unsigned long at, int after)
{
    atomic_store(&c->calls, 0);
    atomic_store(&c->fail_after, after);
    atomic_store(&c->fail_at, at);
}

/* ---- each allocation fails --------------------------------------------------------------------------------------- */

/* The status of the call, or of its job. A call that fails makes no job. */
static carom_status ask_as_job(const job_room *r, int call, unsigned char *out, carom_error *err)
{
    carom_job *job = NULL;
    const carom_batch how = {.job = &job};
    carom_status status = job_ask(r, call, &how, out, NULL, err);
    assert_true((status == CAROM_OK) == (job != NULL));
    if (job != NULL)
        status = carom_job_wait(job, FOR_EVER, err);
    carom_job_destroy(job);
    return status;
}

/* Runs the first job of a context with allocation `at` failing; returns how many it has made. */
static unsigned long fail_one(int call, unsigned long at, int after, size_t *failures)
{
    counter c = {.is_inside = ATOMIC_FLAG_INIT};
    carom_error err = {0};
    job_room r = make_room(&c);
    unsigned char *out = job_blank(&r, call);
    fail_from(&c, at, after);
    const carom_status status = ask_as_job(&r, call, out, &err);
    const unsigned long calls = atomic_load(&c.calls);
    fail_from(&c, 0, 0);
    if (status != CAROM_OK) {
        test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "no memory");
        assert_true(calls >= at);
        ++*failures;
    }
    test_ok("the next job", ask_as_job(&r, call, out, &err), &err);
    unsigned char *expected = job_answers(&r, call);
    job_compare(&r, call, expected, out, job_queries(&r, call));
    job_room_free(&r);
    assert_int_equal(atomic_load(&c.live), 0);
    assert_false(atomic_load(&c.broken));
    free(expected);
    free(out);
    return calls;
}

static void each_allocation_fails(void **state)
{
    const int call = *(int *)*state;
    for (int after = 0; after < 2; after++) {
        unsigned long at = 1;
        size_t failures = 0;
        while (fail_one(call, at, after, &failures) >= at && at < LIMIT)
            at++;
        print_message("%s: %lu allocations, %zu failures\n", job_call_names[call], at - 1, failures);
        assert_true(failures >= 2 && at < LIMIT); /* of the queue and of the job at least */
    }
}

/* ---- two threads ------------------------------------------------------------------------------------------------- */

/* The calling thread makes jobs, meshes and buffers while the context's threads run jobs. */
static void hooks_are_called_by_one(void **state)
{
    enum { ROUNDS = 40 };
    counter c = {.is_inside = ATOMIC_FLAG_INIT};
    (void)state;
    job_room r = make_room(&c);
    carom_job *jobs[ROUNDS * JOB_CALLS];
    unsigned char *out[JOB_CALLS], *expected[JOB_CALLS];
    for (int call = 0; call < JOB_CALLS; call++) {
        out[call] = job_blank(&r, call);
        expected[call] = job_answers(&r, call);
    }
    for (int i = 0; i < ROUNDS * JOB_CALLS; i++)
        jobs[i] = job_submit(&r, i % JOB_CALLS, out[i % JOB_CALLS], NULL);
    for (int i = 0; i < ROUNDS * JOB_CALLS; i++)
        if (i % 2)
            job_end(jobs[i]);
        else
            carom_job_destroy(jobs[i]);
    for (int call = 0; call < JOB_CALLS; call++) {
        job_compare(&r, call, expected[call], out[call], job_queries(&r, call));
        free(expected[call]);
        free(out[call]);
    }
    job_room_free(&r);
    assert_false(atomic_load(&c.broken));
    assert_int_equal(atomic_load(&c.live), 0);
}

/* Jobs that waited for others, of which some are cancelled, leave nothing. */
static void nothing_is_left(void **state)
{
    enum { JOBS = 60 };
    counter c[2] = {{.is_inside = ATOMIC_FLAG_INIT}, {.is_inside = ATOMIC_FLAG_INIT}};
    job_room r[2] = {make_room(&c[0]), make_room(&c[1])};
    carom_job *jobs[JOBS] = {0};
    unsigned char *out[2] = {job_blank(&r[0], JOB_CLOSEST), job_blank(&r[1], JOB_CLOSEST)};
    carom_error err = {0};
    (void)state;
    for (int i = 0; i < JOBS; i++) {
        const carom_batch how = {.job = &jobs[i], .wait = jobs, .wait_count = (uint32_t)i / 2};
        test_ok("a job", job_ask(&r[i % 2], JOB_CLOSEST, &how, out[i % 2], NULL, &err), &err);
        if (i % 5 == 4)
            carom_job_cancel(jobs[i]);
    }
    for (int i = 0; i < JOBS; i++)
        carom_job_destroy(jobs[i]);
    job_room_free(&r[0]);
    job_room_free(&r[1]);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(atomic_load(&c[k].live), 0);
        assert_false(atomic_load(&c[k].broken));
        free(out[k]);
    }
}

/* ---- freed memory ------------------------------------------------------------------------------------------------ */

/* Blocks that the library has had, which stay until the end of the test. */
enum { BLOCKS = 1 << 14, FREED = 0x5b };
static struct {
    unsigned char *memory;
    size_t size;
    int freed;
} blocks[BLOCKS];
static size_t block_count;

static void *keep_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    assert_true(block_count < BLOCKS);
    unsigned char *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    assert_non_null(memory);
    blocks[block_count].memory = memory;
    blocks[block_count++].size = size;
    return memory;
}

static void keep_free(void *user, void *memory)
{
    (void)user;
    for (size_t i = block_count; i-- > 0;)
        if (blocks[i].memory == memory) {
            memset(memory, FREED, blocks[i].size);
            blocks[i].freed = 1;
        }
}

/* The queue of jobs is freed by hooks that ask the queue for their lock. */
static void freed_memory_is_left_alone(void **state)
{
    (void)state;
    job_room r = job_room_make(job_context(1, (carom_allocator){keep_alloc, keep_free, NULL}), 1);
    unsigned char *out = job_blank(&r, 0);
    job_end(job_submit(&r, 0, out, NULL));
    job_room_free(&r);
    free(out);
    for (size_t i = 0; i < block_count; i++) {
        assert_true(blocks[i].freed);
        for (size_t k = 0; k < blocks[i].size; k++)
            assert_int_equal(blocks[i].memory[k], FREED);
        free(blocks[i].memory);
    }
}

int main(void)
{
    static int calls[JOB_CALLS];
    const struct CMUnitTest others[] = {cmocka_unit_test(hooks_are_called_by_one), cmocka_unit_test(nothing_is_left),
                                        cmocka_unit_test(freed_memory_is_left_alone)};
    struct CMUnitTest tests[JOB_CALLS + COUNT_OF(others)];
    for (int call = 0; call < JOB_CALLS; call++) {
        calls[call] = call;
        tests[call] = (struct CMUnitTest){job_call_names[call], each_allocation_fails, NULL, NULL, &calls[call]};
    }
    memcpy(tests + JOB_CALLS, others, sizeof others);
    return cmocka_run_group_tests_name("job memory", tests, NULL, NULL);
}
