/* SPDX-License-Identifier: MIT */
/* Jobs among threads and processes: calls, waits and cancels by several threads at a time; what a context's own thread
 * has of the host, its signals and its rounding; child processes of fork(). */
#include "tests/support/jobs.h"

#include <fenv.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 400, PATIENCE = 100 };

/* ---- several threads --------------------------------------------------------------------------------------------- */

enum { THREADS = 4, KEPT = 3, ROUNDS = 300 };

/* The last jobs of each thread, for others to wait for and to cancel while `lock` is held. */
static struct {
    pthread_mutex_t lock;
    carom_job *kept[THREADS][KEPT];
    atomic_int is_over;
    atomic_ulong good, cancelled;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct worker {
    pthread_t thread;
    unsigned number;
    uint64_t random;
    job_room room[2];
    unsigned char *expected, *out[2][KEPT];
} worker;

static uint32_t next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 33);
}

/* What the job waits for, perhaps, cannot go meanwhile. */
static carom_job *submit_among(worker *w, int r, unsigned char *out)
{
    carom_job *job = NULL, *wait[2];
    carom_error err = {0};
    uint32_t waits = 0;
    (void)pthread_mutex_lock(&shared.lock);
    for (int i = 0; i < 2; i++) {
        carom_job *other = shared.kept[next(&w->random) % THREADS][next(&w->random) % KEPT];
        if (other != NULL && next(&w->random) % 3 == 0)
            wait[waits++] = other;
    }
    const carom_batch how = {.job = &job, .wait = wait, .wait_count = waits};
    test_ok("a job", job_ask(&w->room[r], JOB_FIRST, &how, out, NULL, &err), &err);
    (void)pthread_mutex_unlock(&shared.lock);
    return job;
}

/* A job is right, or it was cancelled, or one that it waits for was. */
static void check(worker *w, carom_job *job, const unsigned char *out)
{
    carom_error err = {0};
    if (carom_job_wait(job, FOR_EVER, &err) == CAROM_OK) {
        job_compare(&w->room[0], JOB_FIRST, w->expected, out, COUNT);
        atomic_fetch_add(&shared.good, 1);
    } else {
        test_error(err.status, CAROM_ERROR_CANCELLED, &err, "cancelled");
        atomic_fetch_add(&shared.cancelled, 1);
    }
}

static void exchange(worker *w, size_t at, carom_job *job)
{
    (void)pthread_mutex_lock(&shared.lock);
    carom_job *old = shared.kept[w->number][at];
    shared.kept[w->number][at] = job;
    (void)pthread_mutex_unlock(&shared.lock);
    carom_job_destroy(old);
}

static void *work(void *user)
{
    worker *w = user;
    for (size_t i = 0; i < test_effort(ROUNDS); i++) {
        const int r = i % 5 == 0;
        unsigned char *out = w->out[r][i % KEPT];
        carom_job *job = submit_among(w, r, out);
        exchange(w, i % KEPT, job); /* for others while it runs */
        if (next(&w->random) % 16 == 0)
            carom_job_cancel(job);
        check(w, job, out);
    }
    for (size_t i = 0; i < KEPT; i++)
        exchange(w, i, NULL);
    return NULL;
}

static void *cancel_at_random(void *user)
{
    uint64_t random = 7;
    (void)user;
    while (!atomic_load(&shared.is_over)) {
        (void)pthread_mutex_lock(&shared.lock);
        carom_job *job = shared.kept[next(&random) % THREADS][next(&random) % KEPT];
        if (next(&random) % 256 == 0)
            carom_job_cancel(job);
        if (job != NULL)
            (void)job_info(job);
        (void)pthread_mutex_unlock(&shared.lock);
    }
    return NULL;
}

static void open_worker(worker *w, unsigned number)
{
    *w = (worker){.number = number, .random = number};
    for (int r = 0; r < 2; r++) {
        w->room[r] = job_room_make(test_cpu(CAROM_ISA_AUTO, 1 + (uint32_t)r), COUNT);
        for (int k = 0; k < KEPT; k++)
            w->out[r][k] = job_blank(&w->room[r], JOB_FIRST);
    }
    w->expected = job_answers(&w->room[0], JOB_FIRST);
}

static void close_worker(worker *w)
{
    for (int r = 0; r < 2; r++) {
        job_room_free(&w->room[r]);
        for (int k = 0; k < KEPT; k++)
            free(w->out[r][k]);
    }
    free(w->expected);
}

static void many_threads(void **state)
{
    worker workers[THREADS];
    pthread_t canceller;
    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        open_worker(&workers[i], i);
    assert_int_equal(pthread_create(&canceller, NULL, cancel_at_random, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    atomic_store(&shared.is_over, 1);
    assert_int_equal(pthread_join(canceller, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        close_worker(&workers[i]);
    print_message("%lu jobs answered, %lu cancelled\n", atomic_load(&shared.good), atomic_load(&shared.cancelled));
    assert_true(atomic_load(&shared.good) > 0);
}

/* ---- the context's own thread ------------------------------------------------------------------------------------ */

typedef struct host {
    sigset_t held;
    int rounding;
    pthread_t thread;
} host;

static int look(void *user, uint64_t done, uint64_t count)
{
    host *h = user;
    (void)done, (void)count;
    (void)pthread_sigmask(SIG_BLOCK, NULL, &h->held);
    h->rounding = fegetround();
    h->thread = pthread_self();
    return 0;
}

/* The host's signals are not delivered to it, and it rounds as the library does; the host keeps its own mode. */
static void signals_and_rounding(void **state)
{
    host h;
    (void)state;
    job_room r = job_room_make(test_cpu(CAROM_ISA_AUTO, 2), COUNT);
    unsigned char *expected = job_answers(&r, JOB_CLOSEST), *out = job_blank(&r, JOB_CLOSEST);
    carom_job *job = NULL;
    const carom_batch how = {.progress = {look, &h}, .job = &job};
    assert_int_equal(fesetround(FE_UPWARD), 0);
    const carom_status asked = job_ask(&r, JOB_CLOSEST, &how, out, NULL, NULL);
    const carom_status waited = carom_job_wait(job, FOR_EVER, NULL);
    carom_job_destroy(job);
    const int rounding = fegetround();
    assert_int_equal(fesetround(FE_TONEAREST), 0);
    assert_int_equal(rounding, FE_UPWARD);
    assert_int_equal(asked, CAROM_OK);
    assert_int_equal(waited, CAROM_OK);
    job_compare(&r, JOB_CLOSEST, expected, out, COUNT);
    assert_int_equal(h.rounding, FE_TONEAREST);
    assert_false(pthread_equal(h.thread, pthread_self()));
    assert_true(sigismember(&h.held, SIGINT) && sigismember(&h.held, SIGUSR1) && sigismember(&h.held, SIGTERM));
    assert_false(sigismember(&h.held, SIGSEGV));
    free(expected);
    free(out);
    job_room_free(&r);
}

/* ---- child processes --------------------------------------------------------------------------------------------- */

/* Hooks, of which `free` stays inside while it is told to. */
typedef struct hooks {
    atomic_int is_stopped;
    sem_t inside, go;
} hooks;

static void *hook_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void hook_free(void *user, void *memory)
{
    hooks *h = user;
    if (atomic_exchange(&h->is_stopped, 0)) {
        (void)sem_post(&h->inside);
        while (sem_wait(&h->go) != 0)
            ;
    }
    free(memory);
}

/* A child cannot use cmocka. */
#define NEED(holds)                                                    \
    do {                                                               \
        if (!(holds)) {                                                \
            fprintf(stderr, "child, line %d: %s\n", __LINE__, #holds); \
            _exit(1);                                                  \
        }                                                              \
    } while (0)

static void need_refused(const job_room *r, carom_job *job, unsigned char *out)
{
    static const char *const sentence = "the job belongs to the process that has made it, not to a child of its";
    carom_error err[3] = {{0}, {0}, {0}};
    carom_job_info info = {.size = sizeof info};
    const carom_batch how = {.wait = &job, .wait_count = 1};
    NEED(carom_job_wait(job, FOR_EVER, &err[0]) == CAROM_ERROR_INVALID_ARGUMENT);
    NEED(carom_job_get_info(job, &info, &err[1]) == CAROM_ERROR_INVALID_ARGUMENT);
    NEED(job_ask(r, JOB_FIRST, &how, out, NULL, &err[2]) == CAROM_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < 3; i++)
        NEED(strcmp(err[i].message, sentence) == 0);
    carom_job_cancel(job);
}

static void need_new_job(const job_room *r, const unsigned char *expected, unsigned char *out)
{
    carom_job *job = NULL;
    const carom_batch how = {.job = &job};
    memset(out, 0, job_bytes(r, JOB_FIRST));
    NEED(job_ask(r, JOB_FIRST, &how, out, NULL, NULL) == CAROM_OK);
    NEED(carom_job_wait(job, FOR_EVER, NULL) == CAROM_OK);
    NEED(memcmp(expected, out, job_bytes(r, JOB_FIRST)) == 0);
    carom_job_destroy(job);
}

static void run_child(job_room *r, carom_job *job[2], const unsigned char *expected, unsigned char *out)
{
    need_refused(r, job[0], out);
    carom_job_destroy(job[0]);
    need_new_job(r, expected, out);
    need_refused(r, job[1], out); /* the context has a thread again, which is not that of this job */
    carom_job_destroy(job[1]);
    need_new_job(r, expected, out);
    job_room_free(r);
    _exit(0);
}

static void expect_child(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("the child was ended by signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    assert_int_equal(WEXITSTATUS(status), 0);
}

static carom_context *with_hooks(hooks *h)
{
    assert_int_equal(sem_init(&h->inside, 0, 0), 0);
    assert_int_equal(sem_init(&h->go, 0, 0), 0);
    return job_context(2, (carom_allocator){hook_alloc, hook_free, h});
}

#ifdef __SANITIZE_THREAD__
enum { CHILDREN_HAVE_THREADS = 0 }; /* that ThreadSanitizer follows */
#else
enum { CHILDREN_HAVE_THREADS = 1 };
#endif

/* The process forks when its jobs have ended. With `busy` the context's thread frees a mesh meanwhile. */
static void child(void **state)
{
    const int busy = *state != NULL;
    hooks h = {.is_stopped = 0};
    if (!CHILDREN_HAVE_THREADS)
        test_skip("threads of a child", "ThreadSanitizer knows none");
    scene s = scene_sphere(3);
    job_room r = job_room_make(with_hooks(&h), COUNT);
    carom_mesh *spare = scene_mesh(r.context, &s);
    unsigned char *expected = job_answers(&r, JOB_FIRST), *out = job_blank(&r, JOB_FIRST);
    carom_job *job[2];
    for (int i = 0; i < 2; i++)
        job[i] = job_submit(&r, JOB_FIRST, out, NULL);
    carom_error err = {0};
    held_job held;
    held_begin(r.context, &held);
    if (busy) {
        carom_mesh_destroy(spare); /* behind the held job */
        atomic_store(&h.is_stopped, 1);
        spare = NULL;
    }
    held_let_go(&held);
    test_ok("carom_job_wait", carom_job_wait(held.job, FOR_EVER, &err), &err);
    while (busy && sem_wait(&h.inside) != 0)
        ;
    const pid_t pid = fork();
    if (pid == 0) {
        (void)alarm(PATIENCE);
        carom_job_destroy(held.job);
        carom_mesh_destroy(spare);
        run_child(&r, job, expected, out);
    }
    (void)sem_post(&h.go);
    expect_child(pid);
    held_end(&held);
    job_end(job[0]); /* the parent has noticed nothing */
    job_end(job[1]);
    job_end(job_submit(&r, JOB_FIRST, out, NULL));
    job_compare(&r, JOB_FIRST, expected, out, COUNT);
    carom_mesh_destroy(spare);
    job_room_free(&r);
    scene_free(&s);
    free(expected);
    free(out);
}

int main(void)
{
    static int busy = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads),
        cmocka_unit_test(signals_and_rounding),
        {"a child process", child, NULL, NULL, NULL},
        {"a child process of a busy context", child, NULL, NULL, &busy},
    };
    return cmocka_run_group_tests_name("job threads", tests, NULL, NULL);
}
