/* SPDX-License-Identifier: MIT */
/* Jobs: the answers, statistics and errors of the blocking call; a calling thread that is free; infos; bad input. */
#include "tests/support/jobs.h"

enum { COUNT = 1000 };

static job_room room;

static int enter(void **state)
{
    (void)state;
    if (test_on_device())
        (void)test_need_device();
    room = job_room_make(test_context(), COUNT);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    job_room_free(&room);
    return 0;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Times apart. */
static void check_stats(const carom_stats *expected, const carom_stats *got)
{
    assert_int_equal(expected->queries, got->queries);
    assert_int_equal(expected->on_cpu, got->on_cpu);
    assert_int_equal(expected->on_device, got->on_device);
    assert_int_equal(expected->by_proof, got->by_proof);
    assert_int_equal(expected->by_integers, got->by_integers);
    assert_int_equal(expected->by_second_filter, got->by_second_filter);
}

static void same_bits(void **state)
{
    const int call = *(int *)*state;
    carom_stats expected_stats = {.size = sizeof expected_stats}, stats = {.size = sizeof stats};
    const carom_batch blocking = {0};
    carom_error err = {0};
    unsigned char *expected = job_blank(&room, call), *got = job_blank(&room, call);
    test_ok("blocking", job_ask(&room, call, &blocking, expected, &expected_stats, &err), &err);
    carom_job *job = job_submit(&room, call, got, &stats);
    for (int round = 0; round < 2; round++)
        test_ok("carom_job_wait", carom_job_wait(job, FOR_EVER, &err), &err);
    const carom_job_info info = job_info(job);
    assert_true(info.has_ended);
    assert_int_equal(info.status, CAROM_OK);
    assert_int_equal(info.done, job_queries(&room, call));
    assert_int_equal(info.count, job_queries(&room, call));
    check_stats(&expected_stats, &stats);
    assert_memory_equal(&info.stats, &stats, sizeof stats);
    job_compare(&room, call, expected, got, job_queries(&room, call));
    carom_job_destroy(job);
    free(expected);
    free(got);
}

static void without_stats(void **state)
{
    (void)state;
    const carom_stats zeros = {0};
    unsigned char *out = job_blank(&room, JOB_PAIRS);
    carom_job *job = job_submit(&room, JOB_PAIRS, out, NULL);
    carom_error err = {0};
    test_ok("carom_job_wait", carom_job_wait(job, 1e300, &err), &err);
    const carom_job_info info = job_info(job);
    assert_memory_equal(&info.stats, &zeros, sizeof zeros);
    carom_job_destroy(job);
    free(out);
}

static void no_queries(void **state)
{
    carom_job *job = NULL;
    carom_error err = {0};
    (void)state;
    carom_mesh_sweep_desc d = swept_spheres_desc(&room.b, 0, 0);
    d.batch.job = &job;
    const carom_mesh_hit_result out = {.size = sizeof out};
    test_ok("no queries", carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), &err);
    carom_job_destroy(job); /* it goes on */
    test_ok("no queries", carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), &err);
    test_ok("carom_job_wait", carom_job_wait(job, FOR_EVER, &err), &err);
    const carom_job_info info = job_info(job);
    assert_int_equal(info.done, 0);
    assert_int_equal(info.count, 0);
    carom_job_destroy(job);
}

/* Descriptor and result structure are the caller's again when the call has returned. */
static void descriptors_are_copied(void **state)
{
    held_job h;
    carom_error err = {0};
    int32_t triangle[COUNT], expected[COUNT];
    (void)state;
    carom_mesh_sweep_desc d = swept_spheres_desc(&room.b, 0, COUNT);
    carom_mesh_hit_result out = {.size = sizeof out, .triangle = expected};
    test_ok("blocking", carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), &err);
    held_begin(room.context, &h);
    carom_job *job = NULL, *wait[1] = {h.job};
    out.triangle = triangle;
    d.batch.job = &job;
    d.batch.wait = wait;
    d.batch.wait_count = 1;
    test_ok("a job", carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), &err);
    memset(&d, 0xa5, sizeof d);
    memset(&out, 0xa5, sizeof out);
    memset(wait, 0xa5, sizeof wait);
    held_let_go(&h);
    job_end(job);
    assert_memory_equal(expected, triangle, sizeof triangle);
    held_end(&h);
}

/* ---- the calling thread ------------------------------------------------------------------------------------------ */

static void the_calling_thread_is_free(void **state)
{
    held_job h;
    carom_error err = {0};
    (void)state;
    job_room other = job_room_make(test_cpu(CAROM_ISA_AUTO, 2), COUNT);
    unsigned char *expected = job_answers(&other, JOB_FIRST);
    held_begin(room.context, &h);
    unsigned char *got = job_answers(&other, JOB_FIRST);
    job_compare(&other, JOB_FIRST, expected, got, COUNT);
    test_error(carom_job_wait(h.job, 0, &err), CAROM_ERROR_TIMEOUT, &err, "the job has not ended after 0 s");
    test_error(carom_job_wait(h.job, 0.01, &err), CAROM_ERROR_TIMEOUT, &err, "after 0.01 s");
    assert_int_equal(carom_job_wait(h.job, 1e-9, NULL), CAROM_ERROR_TIMEOUT);
    const carom_job_info info = job_info(h.job);
    assert_false(info.has_ended);
    assert_int_equal(info.status, CAROM_OK);
    assert_int_equal(info.done, 1); /* as reported, which the function has not returned from */
    held_let_go(&h);
    held_end(&h);
    free(got);
    free(expected);
    job_room_free(&other);
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

static void bad_numbers(void **state)
{
    carom_error err = {0};
    carom_job_info info = {.size = sizeof info - 1};
    (void)state;
    unsigned char *out = job_blank(&room, JOB_PAIRS);
    carom_job *job = job_submit(&room, JOB_PAIRS, out, NULL);
    test_error(carom_job_wait(NULL, 1, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "job must not be NULL");
    test_error(carom_job_wait(job, -1, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "seconds is -1; it must be >= 0");
    test_error(carom_job_wait(job, (double)NAN, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "seconds is nan");
    test_error(carom_job_get_info(NULL, &info, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "job must not be NULL");
    test_error(carom_job_get_info(job, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "out must not be NULL");
    test_error(carom_job_get_info(job, &info, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "carom_job_info.size is");
    carom_job_cancel(NULL);
    carom_job_destroy(NULL);
    job_end(job);
    free(out);
}

static void bad_waits(void **state)
{
    carom_job *const none[2] = {NULL, NULL}, *job = NULL;
    carom_error err = {0};
    (void)state;
    unsigned char *out = job_blank(&room, JOB_PAIRS), *untouched = job_blank(&room, JOB_PAIRS);
    for (int is_job = 0; is_job < 2; is_job++) {
        carom_job **at = is_job ? (carom_job **)(uintptr_t)&job : NULL;
        const carom_batch no_array = {.job = at, .wait_count = 3}, no_job = {.job = at, .wait = none, .wait_count = 2};
        test_error(job_ask(&room, JOB_PAIRS, &no_array, out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   "batch.wait is NULL, batch.wait_count is 3");
        test_error(job_ask(&room, JOB_PAIRS, &no_job, out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   "batch.wait[0] is NULL");
        assert_null(job);
    }
    assert_memory_equal(out, untouched, job_bytes(&room, JOB_PAIRS));
    free(out);
    free(untouched);
}

/* A descriptor of another size, of another version perhaps, may have anything in it. */
static void another_size(void **state)
{
    carom_error err = {0};
    const carom_sweep_result out = {.size = sizeof out};
    carom_sweep_pairs_desc d;
    (void)state;
    memset(&d, 0x33, sizeof d);
    test_error(carom_sweep_pairs(room.context, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "batch.size is");
}

/* What the call can see is its own error, and there is no job. */
static void refused_at_once(void **state)
{
    float t[COUNT];
    carom_job *const before = (carom_job *)(void *)t, *job = before;
    carom_error err = {0};
    (void)state;
    const carom_mesh_sweep_desc good = swept_spheres_desc(&room.b, 0, COUNT);
    carom_mesh_sweep_desc d = good;
    carom_mesh_hit_result out = {.size = sizeof out, .t = t};
    d.batch.job = &job;
    test_error(carom_mesh_sweep_first(NULL, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "mesh");
    out.size--;
    test_error(carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "size");
    out.size++;
    d.radius.data = NULL;
    test_error(carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "radius");
    d.radius = good.radius;
    d.center.stride = 3;
    test_error(carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "stride");
    d.center = good.center;
    out.t = room.b.column[0];
    test_error(carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "center");
    out.t = t;
    d.batch.count = UINT64_MAX;
    test_error(carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "count");
    assert_ptr_equal(job, before);
}

/* What has to be read first is the job's error, with the sentence of the blocking call. */
static void refused_by_the_job(void **state)
{
    uint32_t select[COUNT];
    float t[COUNT], t_max[COUNT] = {0};
    carom_job *job = NULL;
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++)
        select[i] = i;
    for (int which = 0; which < 2; which++) {
        carom_error expected = {0}, err = {0}, again = {0};
        carom_mesh_sweep_desc d = swept_spheres_desc(&room.b, 0, COUNT);
        const carom_mesh_hit_result out = {.size = sizeof out, .t = t};
        select[7] = which == 0 ? COUNT : 7;
        t_max[9] = which == 0 ? 0.0f : -2.5f;
        d.batch.select = carom_uints_of(select);
        d.batch.elements = COUNT;
        d.t_max = carom_scalars_of(t_max);
        test_error(carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &expected), CAROM_ERROR_INVALID_ARGUMENT,
                   &expected, which == 0 ? "query 7" : "t_max");
        d.batch.job = &job;
        test_ok("a job", carom_mesh_sweep_first(room.mesh, &d, &out, NULL, &err), &err);
        test_error(carom_job_wait(job, FOR_EVER, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, expected.message);
        test_error(carom_job_wait(job, 0, &again), CAROM_ERROR_INVALID_ARGUMENT, &again, expected.message);
        assert_int_equal(carom_job_wait(job, 0, NULL), CAROM_ERROR_INVALID_ARGUMENT);
        assert_int_equal(job_info(job).status, CAROM_ERROR_INVALID_ARGUMENT);
        assert_int_equal(job_info(job).done, 0);
        carom_job_destroy(job);
    }
}

/* ---- waiting twice ----------------------------------------------------------------------------------------------- */

static void *wait_for_ever(void *job)
{
    return (void *)(uintptr_t)carom_job_wait(job, FOR_EVER, NULL);
}

/* By two threads at once, by a call that names the job twice, and when it has ended: each has its outcome. */
static void waited_for_twice(void **state)
{
    carom_error err = {0};
    carom_job *last = NULL;
    pthread_t thread[2];
    held_job h;
    (void)state;
    job_room other = job_room_make(test_cpu(CAROM_ISA_AUTO, 1), COUNT);
    unsigned char *expected = job_answers(&room, JOB_FIRST), *out[2];
    for (int i = 0; i < 2; i++)
        out[i] = job_blank(&room, JOB_FIRST);
    held_begin(room.context, &h);
    carom_job *job = job_submit(&room, JOB_FIRST, out[0], NULL), *twice[] = {job, job};
    const carom_batch how = {.job = &last, .wait = twice, .wait_count = 2}, then = {.wait = twice, .wait_count = 2};
    test_ok("a job", job_ask(&other, JOB_FIRST, &how, out[1], NULL, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, wait_for_ever, job), 0);
    assert_int_equal(carom_job_wait(last, 0.01, NULL), CAROM_ERROR_TIMEOUT);
    held_let_go(&h);
    for (int i = 0; i < 2; i++) {
        void *status = NULL;
        assert_int_equal(pthread_join(thread[i], &status), 0);
        assert_int_equal((uintptr_t)status, CAROM_OK);
        test_ok("again", carom_job_wait(job, i == 0 ? FOR_EVER : 0, &err), &err);
    }
    job_end(last);
    job_compare(&room, JOB_FIRST, expected, out[0], COUNT);
    job_compare(&other, JOB_FIRST, expected, out[1], COUNT);
    test_ok("a call after it", job_ask(&other, JOB_FIRST, &then, out[1], NULL, &err), &err);
    carom_job_destroy(job);
    held_end(&h);
    for (int i = 0; i < 2; i++)
        free(out[i]);
    free(expected);
    job_room_free(&other);
}

/* ---- functions that a job calls ---------------------------------------------------------------------------------- */

typedef struct caller {
    sem_t is_known;
    carom_job *job, *before;
    job_room *other;
    carom_status waits[2], polls, asks;
    carom_error err[3];
} caller;

/* Waits for its own job, for an earlier one of the same context, and for that in a call of another context. */
static int wait_inside(void *user, uint64_t done, uint64_t count)
{
    caller *c = user;
    const carom_batch how = {.wait = &c->before, .wait_count = 1};
    unsigned char *out = job_blank(c->other, JOB_PAIRS);
    (void)done, (void)count;
    (void)sem_wait(&c->is_known);
    c->waits[0] = carom_job_wait(c->job, 1, &c->err[0]);
    c->waits[1] = carom_job_wait(c->before, FOR_EVER, &c->err[1]);
    c->polls = carom_job_wait(c->job, 0, NULL);
    c->asks = job_ask(c->other, JOB_PAIRS, &how, out, NULL, &c->err[2]);
    free(out);
    return 0;
}

static void waiting_inside(void **state)
{
    static const char *const sentence = "a function that a job calls cannot wait for a job of the same context";
    carom_error err = {0};
    (void)state;
    job_room other = job_room_make(test_cpu(CAROM_ISA_AUTO, 1), 10);
    caller c = {.other = &other};
    const carom_batch how = {.progress = {wait_inside, &c}, .job = &c.job};
    unsigned char *out = job_blank(&room, JOB_FIRST), *first = job_blank(&room, JOB_PAIRS);
    assert_int_equal(sem_init(&c.is_known, 0, 0), 0);
    c.before = job_submit(&room, JOB_PAIRS, first, NULL);
    test_ok("a job", job_ask(&room, JOB_FIRST, &how, out, NULL, &err), &err);
    assert_int_equal(sem_post(&c.is_known), 0);
    test_ok("carom_job_wait", carom_job_wait(c.job, FOR_EVER, &err), &err);
    for (int i = 0; i < 2; i++)
        test_error(c.waits[i], CAROM_ERROR_INVALID_ARGUMENT, &c.err[i], sentence);
    test_error(c.asks, CAROM_ERROR_INVALID_ARGUMENT, &c.err[2], sentence);
    assert_int_equal(c.polls, CAROM_ERROR_TIMEOUT);
    carom_job_destroy(c.job);
    carom_job_destroy(c.before);
    (void)sem_destroy(&c.is_known);
    free(out);
    free(first);
    job_room_free(&other);
}

int main(void)
{
    static int calls[JOB_CALLS];
    const struct CMUnitTest others[] = {
        cmocka_unit_test(without_stats),
        cmocka_unit_test(no_queries),
        cmocka_unit_test(descriptors_are_copied),
        cmocka_unit_test(the_calling_thread_is_free),
        cmocka_unit_test(bad_numbers),
        cmocka_unit_test(bad_waits),
        cmocka_unit_test(another_size),
        cmocka_unit_test(refused_at_once),
        cmocka_unit_test(refused_by_the_job),
        cmocka_unit_test(waited_for_twice),
        cmocka_unit_test(waiting_inside),
    };
    struct CMUnitTest tests[JOB_CALLS + COUNT_OF(others)];
    for (int call = 0; call < JOB_CALLS; call++) {
        calls[call] = call;
        tests[call] = (struct CMUnitTest){job_call_names[call], same_bits, NULL, NULL, &calls[call]};
    }
    memcpy(tests + JOB_CALLS, others, sizeof others);
    return cmocka_run_group_tests_name("jobs", tests, enter, leave);
}
