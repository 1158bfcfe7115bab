/* SPDX-License-Identifier: MIT */
#include "resident_simulation.h"

#include <dirent.h>

resident open_resident(void **state, int order)
{
    resident r = {.s = open_simulation(state, order)};
    const caller *cl = &r.s->cl;
    r.x_memory = memory_of(cl, CL_MEM_READ_WRITE, BYTES);
    r.y_memory = memory_of(cl, CL_MEM_READ_WRITE, BYTES);
    put(cl, r.x_memory, r.s->x, BYTES);
    put(cl, r.y_memory, r.s->y, BYTES);
    r.x = wrap(r.s->context, r.x_memory, 0, BYTES);
    r.y = wrap(r.s->context, r.y_memory, 0, BYTES);
    return r;
}

void close_resident(resident *r)
{
    carom_buffer_destroy(r->x);
    carom_buffer_destroy(r->y);
    assert_int_equal(clReleaseMemObject(r->x_memory), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(r->y_memory), CL_SUCCESS);
    close_simulation(r->s);
}

carom_status try_call(const resident *r, carom_batch how, carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc desc = sweep_of(r->s, carom_buffer_address(r->s->z), COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(r->s->t)};
    desc.center = carom_soa(carom_buffer_address(r->x), carom_buffer_address(r->y), carom_buffer_address(r->s->z));
    how.size = desc.batch.size;
    how.count = how.count != 0 ? how.count : COUNT;
    desc.batch = how;
    return carom_mesh_sweep_first(r->s->mesh, &desc, &out, stats, err);
}

void call_now(const resident *r)
{
    carom_error err = {0};
    test_ok("a call", try_call(r, (carom_batch){0}, NULL, &err), &err);
}

carom_job *submit(const resident *r, carom_job *const *wait, uint32_t waits, carom_stats *stats)
{
    carom_job *job = NULL;
    carom_error err = {0};
    test_ok("a job", try_call(r, (carom_batch){.job = &job, .wait = wait, .wait_count = waits}, stats, &err), &err);
    return job;
}

static int threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks) != NULL)
        count++;
    (void)closedir(tasks);
    return count;
}

void begin_step(int *before)
{
    cl_relieve();
    *before = threads();
}

void expect_enqueued(const char *what, int before)
{
    const int waits = cl_calls(CALL_WAIT) + cl_calls(CALL_FINISH), copies = cl_calls(CALL_MAP) + cl_calls(CALL_WRITE);
    if (cl_calls(CALL_USER_EVENT) != 0 || waits != 0 || copies != 0 || cl_calls(CALL_BUFFER) != 0)
        fail_msg("%s: %d user events, %d waits, %d writes or maps", what, cl_calls(CALL_USER_EVENT), waits, copies);
    assert_int_equal(threads(), before);
}

void expect_ordinary(const char *what)
{
    if (cl_calls(CALL_USER_EVENT) != 1)
        fail_msg("%s: %d user events, not 1", what, cl_calls(CALL_USER_EVENT));
}
