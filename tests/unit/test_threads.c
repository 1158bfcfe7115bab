/* SPDX-License-Identifier: MIT */
/* The thread pool of a context. Answers are the same for any number of threads and any batch size, with fewer threads
 * than requested, in a child process without these threads, and with signals and rounding mode of the host. */
#include "tests/support/support.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEED = 71, BATCH = 20000 };

static queries q;
static answers expected;

static carom_context *with_threads(uint32_t threads, carom_log_fn log, void *user)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = threads;
    test_need_processors(threads);
    desc.log = log;
    desc.log_user = user;
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* Returns 0 if the first `count` answers are as expected. It does not fail the test, so other threads and child
 * processes may call it. */
static int wrong(carom_context *context, size_t count)
{
    answers a = answers_alloc(SWEEP, q.count, 0x5a);
    const inputs in = inputs_of(&q);
    int is_wrong = ask_as(context, SWEEP, count, &in, &a, ALL_FIELDS, NULL, NULL) != CAROM_OK;
    for (int f = 0; f < query_fields(SWEEP); f++)
        is_wrong |= memcmp(a.field[f].data, expected.field[f].data, count * query_field_bytes(SWEEP, f)) != 0;
    answers_free(&a);
    return is_wrong;
}

static int setup(void **state)
{
    carom_context *one = with_threads(1, NULL, NULL);
    (void)state;
    q = queries_mixed(SWEEP, SEED, BATCH);
    expected = answers_alloc(SWEEP, q.count, 0xa5);
    ask(one, &q, &expected, ALL_FIELDS);
    carom_context_destroy(one);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    answers_free(&expected);
    queries_free(&q);
    return 0;
}

/* More threads than cores or than slices, and batches so short that most threads find no work left. */
static void test_every_size(void **state)
{
    static const uint32_t threads[] = {2, 3, 8, 64};
    static const size_t counts[] = {1, 511, 512, 2048, 4096, 4097, 6000, BATCH};
    (void)state;
    for (size_t t = 0; t < COUNT_OF(threads); t++) {
        carom_context *context = with_threads(threads[t], NULL, NULL);
        assert_int_equal(carom_context_threads(context), threads[t]);
        for (size_t round = 0; round < test_effort(200); round++)
            assert_false(wrong(context, counts[round % COUNT_OF(counts)]));
        carom_context_destroy(context);
    }
}

/* Contexts that are destroyed after no batch or after one: no thread is left waiting. */
static void test_made_and_ended(void **state)
{
    (void)state;
    for (size_t i = 0; i < test_effort(200); i++) {
        carom_context *context = with_threads(4, NULL, NULL);
        if (i % 2)
            assert_false(wrong(context, 8192));
        carom_context_destroy(context);
    }
}

static void keep_line(void *user, carom_log_level level, const char *line)
{
    (void)level;
    snprintf(user, 200, "%s", line);
}

/* Replaces pthread_create, also for the library: it fails after `refused_after` threads. */
static unsigned long refused_after = ULONG_MAX, begun;

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    if (begun >= refused_after)
        return EAGAIN;
    begun++;
    return next(id, attributes, run, argument);
}

/* More threads than processors would only take turns: they are not started, and the log has it. */
static void test_more_than_processors(void **state)
{
    enum { WANTED = 1024, PROCESSORS = 3 };
    char line[200] = "", said[40];
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    (void)state;
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = WANTED;
    desc.log = keep_line;
    desc.log_user = line;
    desc.log_level = CAROM_LOG_INFO;
    test_need_processors(PROCESSORS);
    begun = 0;
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    const uint32_t threads = carom_context_threads(context);
    assert_true(threads >= PROCESSORS && threads < WANTED);
    assert_int_equal(begun, threads - 1);
    snprintf(said, sizeof said, "%u threads instead of %d", threads, WANTED);
    assert_non_null(strstr(line, said));
    assert_false(wrong(context, q.count));
    carom_context_destroy(context);
}

/* Fewer threads can be created than requested, or none: the log reports it, and answers are the same. */
static void test_threads_refused(void **state)
{
    static const unsigned long room[] = {0, 1, 5, 6};
    enum { WANTED = 8 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(room); i++) {
        char line[200] = "", said[40];
        begun = 0;
        refused_after = room[i];
        carom_context *context = with_threads(WANTED, keep_line, line);
        refused_after = ULONG_MAX;
        assert_int_equal(begun, room[i]);
        assert_int_equal(carom_context_threads(context), room[i] + 1);
        snprintf(said, sizeof said, "%lu threads instead of 8", room[i] + 1);
        assert_non_null(strstr(line, said));
        assert_false(wrong(context, q.count));
        carom_context_destroy(context);
    }
}

/* A context whose thread for jobs cannot be created makes none, and answers blocking calls. The next job tries anew. */
static void test_no_thread_for_jobs(void **state)
{
    static const float at[3] = {0}, radius = 1;
    uint8_t overlap = 7;
    carom_job *job = NULL;
    carom_error err = {0};
    (void)state;
    carom_context *context = with_threads(1, NULL, NULL);
    carom_overlap_pairs_desc d = {.batch = {.size = sizeof d, .count = 1, .job = &job},
                                  .center = carom_repeat(at),
                                  .radius = {&radius, CAROM_REPEAT},
                                  .p0 = carom_repeat(at),
                                  .p1 = carom_repeat(at),
                                  .p2 = carom_repeat(at)};
    const carom_overlap_result out = {.size = sizeof out, .overlap = &overlap};
    begun = 0;
    refused_after = 0;
    test_error(carom_overlap_pairs(context, &d, &out, NULL, &err), CAROM_ERROR_OUT_OF_MEMORY, &err,
               "the system starts no thread for jobs");
    refused_after = ULONG_MAX;
    assert_null(job);
    assert_int_equal(overlap, 7);
    assert_false(wrong(context, 100));
    test_ok("a job", carom_overlap_pairs(context, &d, &out, NULL, &err), &err);
    test_ok("carom_job_wait", carom_job_wait(job, 1e6, &err), &err);
    assert_int_not_equal(overlap, 7);
    carom_job_destroy(job);
    carom_context_destroy(context);
}

/* A child process has the context but not its threads. It computes on its own thread and can destroy the context. */
static void test_child_process(void **state)
{
    carom_context *context = with_threads(3, NULL, NULL);
    int status = -1;
    (void)state;
    assert_false(wrong(context, q.count));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int is_wrong = wrong(context, q.count);
        carom_context_destroy(context);
        _exit(is_wrong);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_false(wrong(context, q.count));
    carom_context_destroy(context);
}

static pthread_t host_thread;
static volatile sig_atomic_t signals, elsewhere;

static void on_signal(int number)
{
    (void)number;
    signals++;
    elsewhere += !pthread_equal(pthread_self(), host_thread);
}

/* A signal that the host blocks is not delivered to the library's threads. */
static void test_signals(void **state)
{
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigset_t held;
    (void)state;
    host_thread = pthread_self();
    carom_context *context = with_threads(4, NULL, NULL);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    sigemptyset(&held);
    sigaddset(&held, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &held, NULL), 0);
    kill(getpid(), SIGUSR1);
    assert_false(wrong(context, q.count));
    assert_int_equal(signals, 0);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &held, NULL), 0);
    assert_int_equal(signals, 1);
    assert_int_equal(elsewhere, 0);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    carom_context_destroy(context);
}

/* Worker threads set their own floating-point mode, whatever the host's mode is when they start or work. */
static void test_host_rounding(void **state)
{
    (void)state;
    assert_int_equal(fesetround(FE_UPWARD), 0);
    carom_context *context = with_threads(3, NULL, NULL);
    const int is_wrong = wrong(context, q.count), mode = fegetround();
    carom_context_destroy(context);
    fesetround(FE_TONEAREST);
    assert_int_equal(mode, FE_UPWARD);
    assert_false(is_wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_made_and_ended),
        cmocka_unit_test(test_more_than_processors),
        cmocka_unit_test(test_threads_refused),
        cmocka_unit_test(test_no_thread_for_jobs),
        cmocka_unit_test(test_child_process),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_host_rounding),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
