/* SPDX-License-Identifier: MIT */
/* The team behind a context: the same answers from any number of threads and any size of batch, from fewer than were wanted,
 * in a child process that has none of them, and with the host's own signals and rounding. */
#include "support.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
    desc.log = log;
    desc.log_user = user;
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* 0 if the first `count` answers are as expected: usable where a test must not fail at once. */
static int wrong(carom_context *context, size_t count)
{
    answers a = answers_alloc(SWEEP, q.count, 0x5a);
    const inputs in = inputs_of(&q);
    int is_wrong = ask_as(context, SWEEP, count, &in, &a, ALL_FIELDS, NULL, NULL) != CAROM_OK;
    for (int f = 0; f < query_fields(SWEEP); f++)
        is_wrong |= memcmp(a.field[f].data, expected.field[f].data, count * query_field_size(SWEEP, f)) != 0;
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

/* More threads than cores, more than slices; batches so short that most of the team comes too late. */
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

/* Never asked, or asked once and then destroyed: no thread is left behind waiting. */
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

static void keep_warning(void *user, carom_log_level level, const char *line)
{
    if (level == CAROM_LOG_WARNING)
        snprintf(user, 200, "%s", line);
}

/* The address space has no room for a thousand stacks. */
static void test_threads_refused(void **state)
{
    enum { WANTED = 1000 };
    struct rlimit before, limit;
    char line[200] = "";
    FILE *statm = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    (void)state;
    if (statm == NULL || fscanf(statm, "%lu", &pages) != 1)
        test_skip("/proc", "no /proc/self/statm");
    fclose(statm);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (256u << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    void *large = mmap(NULL, 512u << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (large != MAP_FAILED)
        test_skip("rlimit", "the address space has no limit here");
    carom_context *context = with_threads(WANTED, keep_warning, line);
    const uint32_t got = carom_context_threads(context);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_in_range(got, 1, WANTED - 1);
    assert_non_null(strstr(line, "instead of 1000"));
    assert_false(wrong(context, q.count));
    carom_context_destroy(context);
}

/* A child has the context and not its threads: it answers alone, and can let go. */
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

/* A signal that the host holds back is not delivered to threads it knows nothing of. */
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

/* Workers have a mode of their own, whatever the host's was when they started or is when they work. */
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
        cmocka_unit_test(test_every_size),      cmocka_unit_test(test_made_and_ended),
        cmocka_unit_test(test_threads_refused), cmocka_unit_test(test_child_process),
        cmocka_unit_test(test_signals),         cmocka_unit_test(test_host_rounding),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
