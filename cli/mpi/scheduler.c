/* SPDX-License-Identifier: MIT */
/* See scheduler.h. A counter in a window of rank 0, which other ranks increment, would save one message. But without
 * support of the network these ranks would wait until rank 0 calls MPI, for as long as it computes a slab. And finished
 * slabs must be recorded in the journal. Only one process may write it where the file system has no reliable locks and
 * appends. */
#include "scheduler.h"

#include "cli/base/unfinished.h"
#include "ranks.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_REPORT = 1, TAG_SLAB = 2 };
enum { NAP_LEAST = 50000, NAP_MOST = 1000000, SECOND = 1000000000 }; /* nanoseconds between two looks for reports */
enum { FLUSH_EVERY = 2, FLUSH_SHARE = 128 };                         /* as growing.c */

/* What a rank reports, in numbers of 64 bits: the slab that it has written, with its checksum; an exit status; the
 * signal that asks for an end; and whether this is its last report. It is told the next slab. */
enum { SLAB, SUM, STATUS, ASKED, LAST, REPORT_WORDS };
#define NO_SLAB UINT64_MAX

/* Report what is done, get a slab or NO_SLAB. */
typedef uint64_t ask_fn(void *user, const uint64_t report[REPORT_WORDS]);

/* ---- computing ----------------------------------------------------------------------------------------------------
 */

typedef struct writer {
    bake_worker *worker;
    const bake_layout *layout;
    int fd;
    double flushed, cost; /* seconds: when data last went to disk, how long that took */
    ask_fn *ask;
    void *user;
} writer;

static int fail(const writer *w, const char *what, int error)
{
    return cli_refuse(EXIT_WORK, "%s.partial: cannot be %s: %s", w->worker->options->common.output, what,
                      strerror(error));
}

static int flush(int fd)
{
    int failed;
    do
        failed = fdatasync(fd);
    while (failed != 0 && errno == EINTR);
    return failed == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

/* Rank 0 cannot do it: each node keeps in its own memory what is not on the disk yet. */
static int flush_if_due(writer *w)
{
    const double begin = cli_seconds();
    if (begin - w->flushed < FLUSH_EVERY || begin - w->flushed < FLUSH_SHARE * w->cost)
        return 0;
    const int error = flush(w->fd);
    w->flushed = cli_seconds();
    w->cost = w->flushed - begin;
    return error;
}

static int bake_one(writer *w, uint64_t slab, uint64_t *sum)
{
    const bake_plan *plan = w->worker->question.plan;
    const int status = bake_worker_ask(w->worker, slab);
    if (status != EXIT_DONE)
        return status;
    *sum = bake_slab_checksum(plan, slab, &w->worker->slab);
    int error = bake_slab_write(w->fd, w->layout, plan, slab, &w->worker->slab);
    if (!error)
        error = flush_if_due(w);
    return error ? fail(w, "written", error) : EXIT_DONE;
}

/* Until there is no slab left. The last report says that all is flushed, and gets no answer that matters. */
static void work(writer *w)
{
    uint64_t report[REPORT_WORDS] = {[SLAB] = NO_SLAB};
    for (;;) {
        report[ASKED] = (uint64_t)unfinished_asked();
        report[SLAB] = w->ask(w->user, report);
        if (report[SLAB] == NO_SLAB)
            break;
        report[STATUS] = (uint64_t)bake_one(w, report[SLAB], &report[SUM]);
    }
    const int error = flush(w->fd);
    report[STATUS] = error ? (uint64_t)fail(w, "flushed to disk", error) : EXIT_DONE;
    report[LAST] = 1;
    (void)w->ask(w->user, report);
}

/* ---- all but rank 0 -----------------------------------------------------------------------------------------------
 */

static uint64_t ask_by_message(void *user, const uint64_t report[REPORT_WORDS])
{
    uint64_t slab = NO_SLAB;
    MPI_Request request[2];
    (void)user;
    MPI_Irecv(&slab, 1, MPI_UINT64_T, 0, TAG_SLAB, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(report, REPORT_WORDS, MPI_UINT64_T, 0, TAG_REPORT, MPI_COMM_WORLD, &request[1]);
    ranks_wait(&request[1]);
    ranks_wait(&request[0]);
    return slab;
}

void scheduler_work(bake_worker *worker, const bake_layout *layout, int fd)
{
    writer w = {.worker = worker, .layout = layout, .fd = fd, .flushed = cli_seconds(), .ask = ask_by_message};
    work(&w);
}

/* ---- rank 0: what is reported, and what is answered ---------------------------------------------------------------
 */

/* Between its thread that computes and its thread that answers. */
typedef struct counter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_asking, is_answered;
    uint64_t report[REPORT_WORDS], slab;
} counter;

typedef struct scheduler {
    bake_partial *partial;
    counter own;
    progress shown;
    uint64_t next;  /* the first slab that may have to be handed out */
    uint64_t nodes; /* that are done */
    int status;     /* EXIT_DONE for as long as slabs are handed out */
    int working;    /* ranks whose last report has not come */
} scheduler;

static void stop(scheduler *d, int status)
{
    if (d->status != EXIT_DONE)
        return;
    d->status = status;
    if (all_ranks.count > 1)
        cli_message("%s: ranks finish the slabs that they have begun; if something ends them before, --resume goes on",
                    d->partial->file.shown);
}

static uint64_t next_slab(scheduler *d)
{
    const bake_plan *plan = d->partial->plan;
    if (d->status != EXIT_DONE)
        return NO_SLAB;
    while (d->next < plan->end && d->partial->done[d->next - plan->begin])
        d->next++;
    return d->next < plan->end ? d->next++ : NO_SLAB;
}

static uint64_t answer(scheduler *d, const uint64_t report[REPORT_WORDS])
{
    const uint64_t slab = report[SLAB];
    int status = (int)report[STATUS];
    if (status == EXIT_DONE && slab != NO_SLAB) {
        status = bake_partial_record(d->partial, slab, report[SUM]);
        d->nodes += bake_plan_nodes(d->partial->plan, slab);
    }
    if (status == EXIT_DONE && report[ASKED] != 0)
        status = EXIT_STOPPED;
    if (status != EXIT_DONE)
        stop(d, status);
    d->working -= report[LAST] != 0;
    return report[LAST] ? NO_SLAB : next_slab(d);
}

/* ---- rank 0: two threads, of which one calls MPI ------------------------------------------------------------------
 */

/* Answer the reports that have come. Returns whether there was one. */
static int answer_messages(scheduler *d)
{
    for (int any = 0;; any = 1) {
        int is_there;
        MPI_Status from;
        uint64_t report[REPORT_WORDS];
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_REPORT, MPI_COMM_WORLD, &is_there, &from);
        if (!is_there)
            return any;
        MPI_Recv(report, REPORT_WORDS, MPI_UINT64_T, from.MPI_SOURCE, TAG_REPORT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const uint64_t slab = answer(d, report);
        MPI_Send(&slab, 1, MPI_UINT64_T, from.MPI_SOURCE, TAG_SLAB, MPI_COMM_WORLD);
    }
}

/* The report of the own thread, if it comes within so many nanoseconds. */
static int answer_own(scheduler *d, long nap)
{
    counter *c = &d->own;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (until.tv_nsec + nap) / SECOND;
    until.tv_nsec = (until.tv_nsec + nap) % SECOND;
    pthread_mutex_lock(&c->lock);
    if (!c->is_asking && nap > 0)
        (void)pthread_cond_timedwait(&c->changed, &c->lock, &until);
    const int is_asking = c->is_asking;
    if (is_asking) {
        c->slab = answer(d, c->report);
        c->is_asking = 0;
        c->is_answered = 1;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return is_asking;
}

static void answer_all(scheduler *d)
{
    long nap = 0;
    while (d->working > 0) {
        const int any_message = answer_messages(d), any = answer_own(d, nap) || any_message;
        nap = any ? 0 : nap == 0 ? NAP_LEAST : nap < NAP_MOST / 2 ? 2 * nap : NAP_MOST;
        if (unfinished_asked())
            stop(d, EXIT_STOPPED);
        progress_show(&d->shown, d->nodes);
    }
}

static uint64_t ask_here(void *user, const uint64_t report[REPORT_WORDS])
{
    counter *c = user;
    pthread_mutex_lock(&c->lock);
    memcpy(c->report, report, sizeof c->report);
    c->is_asking = 1;
    c->is_answered = 0;
    pthread_cond_broadcast(&c->changed);
    while (!c->is_answered)
        pthread_cond_wait(&c->changed, &c->lock);
    const uint64_t slab = c->slab;
    pthread_mutex_unlock(&c->lock);
    return slab;
}

static void *compute(void *user)
{
    work(user);
    return NULL;
}

static void open_counter(counter *c)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&c->lock, NULL);
}

int scheduler_serve(bake_worker *worker, bake_partial *p)
{
    scheduler d = {.partial = p, .next = p->plan->begin, .working = all_ranks.count};
    writer w = {.worker = worker, .layout = &p->layout, .fd = p->file.fd, .ask = ask_here, .user = &d.own};
    pthread_t thread;
    w.cost = HUGE_VAL; /* with each record data is flushed, if it is time */
    open_counter(&d.own);
    bake_partial_progress(p, &d.shown, &d.nodes);
    const int started = pthread_create(&thread, NULL, compute, &w) == 0;
    if (!started) { /* others may have begun */
        d.working--;
        stop(&d, cli_refuse(EXIT_WORK, "rank 0: the system starts no thread"));
    }
    answer_all(&d);
    if (started)
        pthread_join(thread, NULL);
    progress_end(&d.shown);
    pthread_cond_destroy(&d.own.changed);
    pthread_mutex_destroy(&d.own.lock);
    return d.status;
}
