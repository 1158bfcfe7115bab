/* SPDX-License-Identifier: MIT */
/* Jobs that end early: cancelled before they begin and while they run, and failed; and jobs that wait for these. */
#include "tests/support/jobs.h"

/* Two pieces of pairs, five of queries of a mesh. */
enum { FEW = 500, MANY = (1 << 20) + 9 };

static job_room few, many;
static carom_context *other; /* for held jobs that others wait for */

static int enter(void **state)
{
    (void)state;
    few = job_room_make(test_cpu(CAROM_ISA_AUTO, 2), FEW);
    many = job_room_make(test_cpu(CAROM_ISA_AUTO, 2), MANY);
    other = test_cpu(CAROM_ISA_AUTO, 1);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    job_room_free(&few);
    job_room_free(&many);
    carom_context_destroy(other);
    return 0;
}

static void expect_end(carom_job *job, carom_status status, const char *sentence)
{
    carom_error err = {0};
    test_error(carom_job_wait(job, FOR_EVER, &err), status, &err, sentence);
    assert_true(job_info(job).has_ended);
    assert_int_equal(job_info(job).status, status);
}

/* ---- cancelled before it begins ---------------------------------------------------------------------------------- */

static void expect_nothing(const job_room *r, int call, carom_job *job, const unsigned char *out)
{
    const carom_stats zeros = {0};
    unsigned char *untouched = job_blank(r, call);
    const carom_job_info info = job_info(job);
    assert_int_equal(info.done, 0);
    assert_int_equal(info.count, job_queries(r, call));
    assert_memory_equal(&info.stats, &zeros, sizeof zeros);
    assert_memory_equal(out, untouched, job_bytes(r, call));
    free(untouched);
}

static void before_it_begins(void **state)
{
    static const char *const sentence = "cancelled before it began; nothing is answered";
    const int call = *(int *)*state;
    held_job h;
    carom_stats stats = {.size = sizeof stats, .queries = 77};
    unsigned char *out = job_blank(&few, call), *next = job_blank(&few, call), *expected = job_answers(&few, call);
    held_begin(few.context, &h);
    carom_job *job = job_submit(&few, call, out, &stats), *behind = job_submit(&few, call, next, NULL);
    carom_job_cancel(job);
    carom_job_cancel(job);
    assert_false(job_info(job).has_ended); /* its turn has not come */
    held_let_go(&h);
    expect_end(job, CAROM_ERROR_CANCELLED, sentence);
    carom_job_cancel(job);
    expect_end(job, CAROM_ERROR_CANCELLED, sentence);
    expect_nothing(&few, call, job, out);
    assert_int_equal(stats.queries, 77);
    job_end(behind);
    job_compare(&few, call, expected, next, job_queries(&few, call));
    carom_job_destroy(job);
    held_end(&h);
    free(out);
    free(next);
    free(expected);
}

/* The queries before `begin` have answers already, perhaps. */
static void from_where_it_was_to_begin(void **state)
{
    enum { BEGIN = 3 };
    held_job h;
    carom_error err = {0};
    carom_list_totals totals = {.total = 11};
    carom_job *job = NULL;
    (void)state;
    carom_mesh_sweep_desc d = swept_spheres_desc(&few.b, 0, FEW);
    const carom_hit_list list = {.size = sizeof list, .totals = &totals};
    d.batch.begin = BEGIN;
    d.batch.job = &job;
    held_begin(few.context, &h);
    test_ok("a job", carom_mesh_sweep_list(few.mesh, &d, CAROM_HITS_ALL, &list, NULL, &err), &err);
    carom_job_cancel(job);
    held_let_go(&h);
    expect_end(job, CAROM_ERROR_CANCELLED, "before it began");
    assert_int_equal(job_info(job).done, BEGIN);
    assert_int_equal(totals.total, 11);
    carom_job_destroy(job);
    held_end(&h);
}

/* A job that waits for one of another context need not wait for its end. */
static void while_it_waits(void **state)
{
    held_job h;
    carom_job *job = NULL;
    carom_error err = {0};
    (void)state;
    unsigned char *out = job_blank(&few, JOB_FIRST), *first = job_blank(&few, JOB_FIRST);
    held_begin(other, &h);
    carom_job *ended = job_submit(&few, JOB_FIRST, first, NULL);
    carom_job *const wait[2] = {ended, h.job};
    const carom_batch how = {.job = &job, .wait = wait, .wait_count = 2};
    test_ok("a job", job_ask(&few, JOB_FIRST, &how, out, NULL, &err), &err);
    assert_int_equal(carom_job_wait(job, 0.02, NULL), CAROM_ERROR_TIMEOUT); /* the time to begin to wait */
    carom_job_cancel(job);
    expect_end(job, CAROM_ERROR_CANCELLED, "before it began");
    expect_nothing(&few, JOB_FIRST, job, out);
    assert_int_equal(carom_job_wait(h.job, 0, NULL), CAROM_ERROR_TIMEOUT);
    carom_job_destroy(job);
    carom_job_destroy(ended);
    held_let_go(&h);
    held_end(&h);
    free(out);
    free(first);
}

/* ---- cancelled while it runs ------------------------------------------------------------------------------------- */

/* Stops at its first report, of answers unless it is at_once, until the test has cancelled the job. */
typedef struct stop {
    sem_t told, go;
    int calls, enough;
    int at_once; /* whether any query is answered or not */
    uint64_t done;
} stop;

static int stop_once(void *user, uint64_t done, uint64_t count)
{
    stop *s = user;
    (void)count;
    if (done == 0 && !s->at_once)
        return 0; /* some time has passed */
    s->done = done;
    if (s->calls++ == 0) {
        (void)sem_post(&s->told);
        while (sem_wait(&s->go) != 0)
            ;
    }
    return s->enough;
}

static void start_stopped(int call, stop *s, unsigned char *out, carom_stats *stats, carom_job **job)
{
    const carom_batch how = {.progress = {stop_once, s}, .job = job};
    carom_error err = {0};
    s->calls = 0;
    assert_int_equal(sem_init(&s->told, 0, 0), 0);
    assert_int_equal(sem_init(&s->go, 0, 0), 0);
    test_ok(job_call_names[call], job_ask(&many, call, &how, out, stats, &err), &err);
    while (sem_wait(&s->told) != 0)
        ;
}

static void expect_part(int call, carom_job *job, const stop *s, const unsigned char *out, const carom_stats *stats)
{
    char sentence[80];
    const uint64_t nodes = call == JOB_LATTICE ? many.lattice.dims[0] * many.lattice.dims[1] : 1;
    unsigned char *expected = job_answers(&many, call);
    snprintf(sentence, sizeof sentence, "cancelled at %s %llu of %llu; those before it are answered",
             call == JOB_LATTICE ? "slab" : "query", (unsigned long long)s->done,
             (unsigned long long)job_queries(&many, call));
    expect_end(job, CAROM_ERROR_CANCELLED, sentence);
    const carom_job_info info = job_info(job);
    assert_int_equal(s->calls, 1);
    assert_int_equal(info.done, s->done);
    assert_true(info.done > 0 && info.done < info.count);
    assert_int_equal(info.stats.on_cpu, info.done * nodes);
    assert_memory_equal(&info.stats, stats, sizeof *stats);
    job_compare(&many, call, expected, out, info.done);
    free(expected);
}

static void end_stopped(stop *s, carom_job *job)
{
    carom_job_destroy(job);
    (void)sem_destroy(&s->told);
    (void)sem_destroy(&s->go);
}

static void while_it_runs(void **state)
{
    const int call = *(int *)*state;
    unsigned char *out = job_blank(&many, call);
    carom_stats stats = {.size = sizeof stats};
    carom_job *job = NULL;
    stop s = {.enough = 0, .at_once = call == JOB_CLOUD};
    start_stopped(call, &s, out, &stats, &job);
    assert_int_equal(job_info(job).done, s.done);
    carom_job_cancel(job);
    (void)sem_post(&s.go);
    if (call != JOB_CLOUD)
        expect_part(call, job, &s, out, &stats);
    else { /* reports the share of its work */
        expect_end(job, CAROM_ERROR_CANCELLED, "no sphere is answered");
        assert_int_equal(s.calls, 1);
        assert_true(s.done < MANY);
        assert_int_equal(job_info(job).stats.on_cpu, 0);
    }
    end_stopped(&s, job);
    free(out);
}

static void by_its_own_function(void **state)
{
    unsigned char *out = job_blank(&many, JOB_FIRST);
    carom_stats stats = {.size = sizeof stats};
    carom_job *job = NULL;
    stop s = {.enough = 1};
    (void)state;
    start_stopped(JOB_FIRST, &s, out, &stats, &job);
    (void)sem_post(&s.go);
    expect_part(JOB_FIRST, job, &s, out, &stats);
    end_stopped(&s, job);
    free(out);
}

/* Once all is answered, or the job has ended, there is nothing to cancel. */
static void too_late(void **state)
{
    held_job h;
    (void)state;
    held_begin(few.context, &h); /* in its last report */
    carom_job_cancel(h.job);
    held_let_go(&h);
    carom_error err = {0};
    test_ok("carom_job_wait", carom_job_wait(h.job, FOR_EVER, &err), &err);
    carom_job_cancel(h.job);
    assert_int_equal(job_info(h.job).status, CAROM_OK);
    held_end(&h);
}

/* ---- failed ------------------------------------------------------------------------------------------------------ */

/* A job that fails when it runs, for a limit is negative. */
static carom_job *submit_bad(const job_room *r)
{
    static const float t_max = -3;
    static int32_t triangle[FEW];
    carom_job *job = NULL;
    carom_error err = {0};
    carom_mesh_sweep_desc d = swept_spheres_desc(&r->b, 0, FEW);
    const carom_mesh_hit_result out = {.size = sizeof out, .triangle = triangle};
    d.t_max = (carom_scalars){&t_max, CAROM_REPEAT};
    d.batch.job = &job;
    test_ok("a bad job", carom_mesh_sweep_first(r->mesh, &d, &out, NULL, &err), &err);
    return job;
}

static carom_job *submit_behind(const job_room *r, carom_job *one, carom_job *two, unsigned char *out)
{
    carom_job *job = NULL, *const wait[2] = {one, two};
    const carom_batch how = {.job = &job, .wait = wait, .wait_count = two != NULL ? 2 : 1};
    carom_error err = {0};
    test_ok("a job", job_ask(r, JOB_CLOSEST, &how, out, NULL, &err), &err);
    return job;
}

/* Those that wait for a failed job fail as it did and say why, also those of other contexts; the next job runs. */
static void what_waits_for_a_failed_job(void **state)
{
    char sentence[400];
    carom_error cause = {0}, err = {0};
    (void)state;
    unsigned char *out = job_blank(&few, JOB_CLOSEST), *good = job_blank(&few, JOB_FIRST);
    unsigned char *elsewhere = job_blank(&many, JOB_CLOSEST);
    carom_job *fine = job_submit(&few, JOB_FIRST, good, NULL), *bad = submit_bad(&few);
    carom_job *second = submit_behind(&few, fine, bad, out), *third = submit_behind(&many, second, NULL, elsewhere);
    carom_job *next = job_submit(&few, JOB_FIRST, good, NULL);
    test_error(carom_job_wait(bad, FOR_EVER, &cause), CAROM_ERROR_INVALID_ARGUMENT, &cause, "t_max is -3");
    snprintf(sentence, sizeof sentence, "batch.wait[1] has failed: %s", cause.message);
    expect_end(second, CAROM_ERROR_INVALID_ARGUMENT, sentence);
    expect_nothing(&few, JOB_CLOSEST, second, out);
    snprintf(sentence, sizeof sentence, "batch.wait[0] has failed: %s", cause.message);
    expect_end(third, CAROM_ERROR_INVALID_ARGUMENT, sentence);
    const carom_batch blocking = {.wait = &second, .wait_count = 1};
    test_error(job_ask(&few, JOB_CLOSEST, &blocking, out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, sentence);
    job_end(next);
    expect_nothing(&few, JOB_CLOSEST, second, out);
    carom_job *const all[] = {fine, bad, second, third};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        carom_job_destroy(all[i]);
    free(out);
    free(good);
    free(elsewhere);
}

static void what_waits_for_a_cancelled_job(void **state)
{
    held_job h;
    (void)state;
    unsigned char *out = job_blank(&few, JOB_CLOSEST), *first = job_blank(&few, JOB_FIRST);
    held_begin(few.context, &h);
    carom_job *job = job_submit(&few, JOB_FIRST, first, NULL), *behind = submit_behind(&few, job, NULL, out);
    carom_job_cancel(job);
    held_let_go(&h);
    expect_end(behind, CAROM_ERROR_CANCELLED, "batch.wait[0] has failed: cancelled before it began");
    expect_nothing(&few, JOB_CLOSEST, behind, out);
    carom_job_destroy(job);
    carom_job_destroy(behind);
    held_end(&h);
    free(out);
    free(first);
}

int main(void)
{
    static int calls[JOB_CALLS];
    static char names[2 * JOB_CALLS][64];
    const struct CMUnitTest others[] = {
        cmocka_unit_test(from_where_it_was_to_begin),  cmocka_unit_test(while_it_waits),
        cmocka_unit_test(by_its_own_function),         cmocka_unit_test(too_late),
        cmocka_unit_test(what_waits_for_a_failed_job), cmocka_unit_test(what_waits_for_a_cancelled_job),
    };
    struct CMUnitTest tests[2 * JOB_CALLS + COUNT_OF(others)];
    for (int i = 0; i < 2 * JOB_CALLS; i++) {
        calls[i / 2] = i / 2;
        snprintf(names[i], sizeof names[i], "%s: %s", job_call_names[i / 2],
                 i % 2 ? "cancelled while it runs" : "cancelled before it begins");
        tests[i] = (struct CMUnitTest){names[i], i % 2 ? while_it_runs : before_it_begins, NULL, NULL, &calls[i / 2]};
    }
    memcpy(tests + 2 * JOB_CALLS, others, sizeof others);
    return cmocka_run_group_tests_name("job ends", tests, enter, leave);
}
