/* SPDX-License-Identifier: MIT */
/* A device that fails while jobs run. Waits on all jobs return: with `auto` the CPU finishes them with the same bits,
 * with `opencl` the first has the error, those behind it the reason why there is no device, and those that wait for it
 * name it. Another context goes on. */
#include "tests/support/cl_shim.h"
#include "tests/support/jobs.h"

enum { COUNT = 5000, CHUNK = 1000 };

/* Calls that fail, and how: once, or from then on. */
typedef struct fault {
    const char *name;
    cl_call call;
    int after;
} fault;
static const fault faults[] = {
    {"a launch", CALL_LAUNCH, 1}, {"a command", CALL_COMMAND, 0}, {"a wait", CALL_WAIT, 1}, {"a flush", CALL_FLUSH, 0}};

static void count_warnings(void *user, carom_log_level level, const char *line)
{
    (void)line;
    *(int *)user += level <= CAROM_LOG_WARNING;
}

static job_room open_room(carom_backend backend, int *warnings)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device_chunk = CHUNK;
    desc.auto_from = 1;
    desc.log = count_warnings;
    desc.log_user = warnings;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return job_room_make(context, COUNT);
}

static carom_job *submit_behind(const job_room *r, carom_job *before, unsigned char *out)
{
    carom_job *job = NULL;
    const carom_batch how = {.job = &job, .wait = &before, .wait_count = 1};
    carom_error err = {0};
    test_ok("a job", job_ask(r, JOB_FIRST, &how, out, NULL, &err), &err);
    return job;
}

/* The first of the jobs finds the device broken; the second is behind it, the third waits for it, and the fourth waits
 * for it in a context on the CPU. */
enum { BROKEN, BEHIND, WAITING, ELSEWHERE, JOBS };
typedef struct row {
    job_room room, other;
    carom_job *job[JOBS];
    unsigned char *out[JOBS], *expected;
    carom_stats stats;
    held_job held;
    int warnings;
} row;

static void open_row(row *r, carom_backend backend, const fault *f)
{
    memset(r, 0, sizeof *r);
    cl_sabotage(f->call, 0, 0);
    r->stats.size = sizeof r->stats;
    r->room = open_room(backend, &r->warnings);
    r->other = job_room_make(test_cpu(CAROM_ISA_AUTO, 1), COUNT);
    r->expected = job_answers(&r->other, JOB_FIRST);
    for (int round = 0; round < 2; round++) /* builds and probes */
        free(job_answers(&r->room, JOB_FIRST));
    for (int i = 0; i < JOBS; i++)
        r->out[i] = job_blank(&r->room, JOB_FIRST);
    held_begin(r->room.context, &r->held);
    r->job[BROKEN] = job_submit(&r->room, JOB_FIRST, r->out[BROKEN], &r->stats);
    r->job[BEHIND] = job_submit(&r->room, JOB_FIRST, r->out[BEHIND], NULL);
    r->job[WAITING] = submit_behind(&r->room, r->job[BROKEN], r->out[WAITING]);
    r->job[ELSEWHERE] = submit_behind(&r->other, r->job[BROKEN], r->out[ELSEWHERE]);
    cl_sabotage(f->call, 2, f->after);
    held_let_go(&r->held);
}

static void close_row(row *r, const char *name)
{
    for (int i = 0; i < JOBS; i++) {
        carom_job_destroy(r->job[i]);
        free(r->out[i]);
    }
    held_end(&r->held);
    job_room_free(&r->room);
    job_room_free(&r->other);
    free(r->expected);
    cl_expect_none(name);
}

static void with_auto(void **state)
{
    const fault *f = *state;
    row r;
    carom_error err = {0};
    (void)test_need_device();
    open_row(&r, CAROM_BACKEND_AUTO, f);
    for (int i = 0; i < JOBS; i++) {
        test_ok(f->name, carom_job_wait(r.job[i], FOR_EVER, &err), &err);
        job_compare(&r.room, JOB_FIRST, r.expected, r.out[i], COUNT);
    }
    assert_true(r.stats.on_cpu > 0);
    assert_int_equal(r.stats.on_cpu, r.stats.fallen_back);
    assert_int_equal(r.stats.on_cpu + r.stats.on_device, COUNT);
    assert_true(r.stats.fallback_reason[0] != '\0');
    assert_int_equal(r.warnings, 1);
    cl_sabotage(f->call, 0, 0);
    close_row(&r, f->name);
}

static void with_opencl(void **state)
{
    const fault *f = *state;
    row r;
    carom_error first = {0}, err = {0};
    char sentence[300];
    (void)test_need_device();
    open_row(&r, CAROM_BACKEND_OPENCL, f);
    test_error(carom_job_wait(r.job[BROKEN], FOR_EVER, &first), CAROM_ERROR_DEVICE_LOST, &first, "(-5)");
    assert_int_equal(first.native_code, cl_call_code(f->call));
    snprintf(sentence, sizeof sentence, "batch.wait[0] has failed: %.200s", first.message);
    test_error(carom_job_wait(r.job[BEHIND], FOR_EVER, &err), CAROM_ERROR_DEVICE_LOST, &err, "given up");
    for (int i = WAITING; i <= ELSEWHERE; i++) {
        test_error(carom_job_wait(r.job[i], FOR_EVER, &err), CAROM_ERROR_DEVICE_LOST, &err, sentence);
        assert_int_equal(err.native_code, first.native_code);
    }
    cl_sabotage(f->call, 0, 0);
    unsigned char *again = job_answers(&r.other, JOB_FIRST); /* the other context goes on */
    job_compare(&r.other, JOB_FIRST, r.expected, again, COUNT);
    free(again);
    carom_job *late = job_submit(&r.room, JOB_FIRST, r.out[BEHIND], NULL);
    test_error(carom_job_wait(late, FOR_EVER, &err), CAROM_ERROR_DEVICE_LOST, &err, "given up");
    carom_job_destroy(late);
    assert_int_equal(r.warnings, 0);
    close_row(&r, f->name);
}

int main(void)
{
    struct CMUnitTest tests[2 * COUNT_OF(faults)];
    char names[2 * COUNT_OF(faults)][64];
    for (size_t i = 0; i < 2 * COUNT_OF(faults); i++) {
        snprintf(names[i], sizeof names[i], "%s: %s", i % 2 ? "opencl" : "auto", faults[i / 2].name);
        tests[i] = (struct CMUnitTest){names[i], i % 2 ? with_opencl : with_auto, NULL, NULL,
                                       (void *)(uintptr_t)&faults[i / 2]};
    }
    return cmocka_run_group_tests_name("lost jobs", tests, NULL, NULL);
}
