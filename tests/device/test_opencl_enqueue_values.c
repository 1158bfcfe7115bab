/* SPDX-License-Identifier: MIT */
/* Limits and indices of calls in the caller's queue, which the device checks: the job has the error that a blocking
 * call has, and the queue goes on. */
#include "tests/support/resident_simulation.h"

#include <math.h>

enum { LAPS = 1500 /* calls, of more than can be checked at a time */ };

enum { BAD_LIMIT = 17, BAD_INDEX = 2005, ELEMENTS = COUNT };

/* A sweep of selected elements within limits, both in the caller's memory. */
typedef struct checked {
    cl_mem select_memory, limit_memory;
    carom_buffer *select, *limit;
    uint32_t indices[COUNT];
    float limits[COUNT];
} checked;

static void open_checked(const resident *r, checked *c)
{
    c->select_memory = memory_of(&r->s->cl, CL_MEM_READ_WRITE, BYTES);
    c->limit_memory = memory_of(&r->s->cl, CL_MEM_READ_WRITE, BYTES);
    c->select = wrap(r->s->context, c->select_memory, 0, BYTES);
    c->limit = wrap(r->s->context, c->limit_memory, 0, BYTES);
    for (uint32_t i = 0; i < COUNT; i++) {
        c->indices[i] = COUNT - 1 - i;
        c->limits[i] = i % 3 == 0 ? -0.0f : (float)i;
    }
}

static void close_checked(checked *c)
{
    carom_buffer_destroy(c->select);
    carom_buffer_destroy(c->limit);
    assert_int_equal(clReleaseMemObject(c->select_memory), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(c->limit_memory), CL_SUCCESS);
}

static carom_status call_checked(const resident *r, const checked *c, carom_job **job, carom_job *const *wait,
                                 carom_error *err)
{
    carom_mesh_sweep_desc desc = sweep_of(r->s, carom_buffer_address(r->s->z), COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(r->s->t)};
    desc.center = carom_soa(carom_buffer_address(r->x), carom_buffer_address(r->y), carom_buffer_address(r->s->z));
    desc.batch.select = carom_uints_of(carom_buffer_address(c->select));
    desc.batch.elements = ELEMENTS;
    desc.t_max = carom_scalars_of(carom_buffer_address(c->limit));
    desc.batch.job = job;
    desc.batch.wait = wait;
    desc.batch.wait_count = wait != NULL;
    return carom_mesh_sweep_first(r->s->mesh, &desc, &out, NULL, err);
}

static void put_checked(const resident *r, const checked *c)
{
    put(&r->s->cl, c->select_memory, c->indices, BYTES);
    put(&r->s->cl, c->limit_memory, c->limits, BYTES);
}

/* The job says what the blocking call says; the queue goes on, and the device is kept. */
static void expect_refused(const resident *r, const checked *c, const char *sentence)
{
    carom_job *job = NULL, *next = NULL;
    carom_job_info info = {.size = sizeof info};
    carom_error err = {0};
    put_checked(r, c);
    cl_relieve();
    test_ok("a job", call_checked(r, c, &job, NULL, &err), &err);
    assert_int_equal(cl_calls(CALL_USER_EVENT), 0);
    test_ok("a job", call_checked(r, c, &next, &job, &err), &err);
    finish(r->s);
    test_error(carom_job_wait(job, (double)INFINITY, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, sentence);
    assert_string_equal(err.message, sentence);
    test_ok("info", carom_job_get_info(job, &info, &err), &err);
    assert_true(info.has_ended && info.status == CAROM_ERROR_INVALID_ARGUMENT && info.done == 0);
    expect_event(event_of(job), CL_COMPLETE);
    test_error(carom_job_wait(next, (double)INFINITY, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, sentence);
    carom_job_destroy(job);
    carom_job_destroy(next);
    assert_int_equal(call_checked(r, c, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, sentence);
}

static void test_refused(void **state)
{
    static checked c;
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    carom_job *job = NULL;
    open_checked(&r, &c);
    put_checked(&r, &c);
    test_ok("a call", call_checked(&r, &c, NULL, NULL, &err), &err);
    const size_t fetched = cl_fetched;
    test_ok("a call", call_checked(&r, &c, NULL, NULL, &err), &err);
    assert_int_equal(cl_fetched - fetched, 2 * sizeof(cl_uint)); /* a word for each array */
    c.limits[c.indices[BAD_LIMIT]] = -1;
    c.limits[c.indices[BAD_LIMIT + 30]] = NAN;
    expect_refused(&r, &c, "query 17: t_max is -1; it must be >= 0");
    c.indices[BAD_INDEX] = UINT32_MAX;
    c.indices[BAD_INDEX + 1] = ELEMENTS;
    expect_refused(&r, &c, "query 2005: batch.select is 4294967295; it must be below batch.elements, 3008");
    c.indices[BAD_INDEX] = c.indices[BAD_INDEX + 1] = 0;
    c.limits[c.indices[BAD_LIMIT]] = c.limits[c.indices[BAD_LIMIT + 30]] = 1;
    put_checked(&r, &c);
    carom_job *kept = NULL;
    test_ok("a job", call_checked(&r, &c, &kept, NULL, &err), &err);
    for (int i = 0; i < LAPS; i++) { /* more than there are notes, whose jobs end meanwhile, but one */
        cl_relieve();
        test_ok("a job", call_checked(&r, &c, &job, NULL, &err), &err);
        assert_int_equal(cl_calls(CALL_USER_EVENT), 0);
        ends_well(job);
    }
    ends_well(kept);
    close_checked(&c);
    close_resident(&r);
}

/* An index on the device selects from limits in the program's memory. */
static void test_limits_of_the_program(void **state)
{
    static checked c;
    static float expected[COUNT], got[COUNT];
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    carom_mesh_sweep_desc desc = sweep_of(r.s, carom_buffer_address(r.s->z), COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(r.s->t)};
    open_checked(&r, &c);
    put_checked(&r, &c);
    test_ok("a call", call_checked(&r, &c, NULL, NULL, &err), &err);
    test_ok("a read", carom_buffer_read(r.s->t, 0, expected, BYTES, &err), &err);
    desc.center = carom_soa(carom_buffer_address(r.x), carom_buffer_address(r.y), carom_buffer_address(r.s->z));
    desc.batch.select = carom_uints_of(carom_buffer_address(c.select));
    desc.batch.elements = ELEMENTS;
    desc.t_max = carom_scalars_of(c.limits);
    test_ok("a call", carom_mesh_sweep_first(r.s->mesh, &desc, &out, NULL, &err), &err);
    test_ok("a read", carom_buffer_read(r.s->t, 0, got, BYTES, &err), &err);
    assert_memory_equal(expected, got, BYTES);
    close_checked(&c);
    close_resident(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ON_BOTH(test_refused), ON_BOTH(test_limits_of_the_program)};
    return cmocka_run_group_tests_name("values of calls in the caller's queue", tests, NULL, NULL);
}
