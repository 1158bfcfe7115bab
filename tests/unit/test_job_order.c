/* SPDX-License-Identifier: MIT */
/* The order of jobs: within a context, over contexts, among other calls, and what may be destroyed meanwhile. Jobs are
 * held in their progress functions; another thread lets them go. */
#include "tests/support/jobs.h"

enum { COUNT = 1000, CHAIN = 3000, CONTEXTS = 3 };

/* ---- memory that is counted -------------------------------------------------------------------------------------- */

typedef struct counter {
    atomic_long live, most;
} counter;

static void *count_alloc(void *user, size_t size, size_t alignment)
{
    counter *c = user;
    const long live = atomic_fetch_add(&c->live, 1) + 1;
    if (live > atomic_load(&c->most))
        atomic_store(&c->most, live);
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_free(void *user, void *memory)
{
    atomic_fetch_sub(&((counter *)user)->live, 1);
    free(memory);
}

static carom_context *counted(counter *c)
{
    return job_context(1, (carom_allocator){count_alloc, count_free, c});
}

/* ---- a sum that grows by each job -------------------------------------------------------------------------------- */

/* A sphere of radius 0.5 that falls from `from` above a triangle meets it at from - 0.5: each job takes the answer of
 * the one before as the height. So the last answer tells whether all have run in order. */
static carom_status fall(carom_context *context, const float *from, float *to, carom_job **job, carom_job *const *wait,
                         uint32_t wait_count, carom_error *err)
{
    static const float one = 1, motion[3] = {0, 0, -1}, radius = 0.5f, p[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    const carom_sweep_pairs_desc d = {
        .batch = {.size = sizeof d, .count = 1, .job = job, .wait = wait, .wait_count = wait_count},
        .center = {&one, &one, from, CAROM_REPEAT},
        .velocity = carom_repeat(motion),
        .radius = {&radius, CAROM_REPEAT},
        .p0 = carom_repeat(p),
        .p1 = carom_repeat(p + 3),
        .p2 = carom_repeat(p + 6)};
    const carom_sweep_result out = {.size = sizeof out, .t_first = to};
    return carom_sweep_pairs(context, &d, &out, NULL, err);
}

static void in_order(void **state)
{
    enum { JOBS = 200 };
    float height[JOBS + 1] = {2.0f * JOBS};
    carom_error err = {0};
    carom_job *job = NULL;
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (int i = 0; i < JOBS; i++) {
        carom_job_destroy(job);
        test_ok("a job", fall(context, &height[i], &height[i + 1], &job, NULL, 0, &err), &err);
    }
    job_end(job);
    assert_true(height[JOBS] == 1.5f * JOBS);
    carom_context_destroy(context);
}

/* Job i belongs to context i mod 3 and waits for job i - 1; all but the last are destroyed at once. A job that has
 * begun keeps none of those it waited for. */
static void chain_over_contexts(void **state)
{
    static float height[CHAIN + 1];
    counter memory = {0};
    carom_context *context[CONTEXTS];
    carom_job *job = NULL, *before = NULL;
    carom_error err = {0};
    held_job h;
    (void)state;
    for (int c = 0; c < CONTEXTS; c++)
        context[c] = counted(&memory);
    height[0] = CHAIN;
    held_begin(context[0], &h);
    before = h.job;
    for (int i = 0; i < CHAIN; i++) {
        test_ok("a job", fall(context[i % CONTEXTS], &height[i], &height[i + 1], &job, &before, 1, &err), &err);
        if (i > 0)
            carom_job_destroy(before);
        before = job;
    }
    assert_true(atomic_load(&memory.live) >= CHAIN); /* nothing has begun */
    held_let_go(&h);
    test_ok("carom_job_wait", carom_job_wait(job, FOR_EVER, &err), &err);
    assert_true(height[CHAIN] == CHAIN / 2);
    held_end(&h);
    for (int c = 0; c < CONTEXTS; c++)
        test_ok("blocking", fall(context[c], &height[0], &height[1], NULL, NULL, 0, &err), &err);
    assert_true(atomic_load(&memory.live) <= 2 * CONTEXTS + 1); /* contexts, queues and the last job */
    carom_job_destroy(job);
    for (int c = 0; c < CONTEXTS; c++)
        carom_context_destroy(context[c]);
    assert_int_equal(atomic_load(&memory.live), 0);
}

/* The same while the jobs run: those that have ended are gone, though each was waited for. */
static void a_chain_does_not_grow(void **state)
{
    enum { IN_FLIGHT = 16 };
    static float height[CHAIN + 1];
    counter memory = {0};
    carom_context *context[2] = {counted(&memory), counted(&memory)};
    carom_job *ring[IN_FLIGHT] = {0}, *job = NULL;
    carom_error err = {0};
    (void)state;
    height[0] = CHAIN;
    for (int i = 0; i < CHAIN; i++) {
        carom_job **before = &ring[(i + IN_FLIGHT - 1) % IN_FLIGHT];
        test_ok("a job", fall(context[i % 2], &height[i], &height[i + 1], &job, before, i > 0, &err), &err);
        if (i >= IN_FLIGHT)
            job_end(ring[i % IN_FLIGHT]);
        ring[i % IN_FLIGHT] = job;
    }
    for (int i = 0; i < IN_FLIGHT; i++)
        job_end(ring[i]);
    assert_true(height[CHAIN] == CHAIN / 2);
    assert_true(atomic_load(&memory.most) <= 3 * IN_FLIGHT + 4);
    carom_context_destroy(context[0]);
    carom_context_destroy(context[1]);
}

static void a_blocking_call_waits(void **state)
{
    float height = 10, landed = 0;
    carom_error err = {0};
    held_job h;
    (void)state;
    carom_context *one = test_cpu(CAROM_ISA_AUTO, 1), *two = test_cpu(CAROM_ISA_AUTO, 1);
    held_begin(one, &h);
    held_let_go_later(&h);
    test_ok("blocking", fall(two, &height, &landed, NULL, &h.job, 1, &err), &err);
    assert_true(atomic_load(&h.is_free));
    assert_true(landed == 9.5f);
    held_end(&h);
    carom_context_destroy(one);
    carom_context_destroy(two);
}

/* ---- other calls begin when the jobs have ended ------------------------------------------------------------------ */

typedef struct others {
    job_room room;
    carom_buffer *buffer;
    unsigned char *expected;
} others;

static carom_status query(others *o)
{
    unsigned char *got = job_answers(&o->room, JOB_FIRST);
    job_compare(&o->room, JOB_FIRST, o->expected, got, COUNT);
    free(got);
    return CAROM_OK;
}

static carom_status write_buffer(others *o)
{
    return carom_buffer_write(o->buffer, 0, "word", 5, NULL);
}

static carom_status read_buffer(others *o)
{
    char word[5];
    return carom_buffer_read(o->buffer, 0, word, 5, NULL);
}

static carom_status map_buffer(others *o)
{
    void *at;
    return carom_buffer_map(o->buffer, 0, 5, CAROM_ACCESS_READ_WRITE, &at, NULL);
}

static carom_status unmap_buffer(others *o)
{
    return carom_buffer_unmap(o->buffer, NULL);
}

static carom_status make_buffer(others *o)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = 100};
    carom_buffer *buffer = NULL;
    const carom_status status = carom_buffer_create(o->room.context, &desc, &buffer, NULL);
    carom_buffer_destroy(buffer);
    return status;
}

static carom_status update_mesh(others *o)
{
    scene s = scene_sphere(6);
    const carom_points vertices = scene_desc(&s).vertices;
    const carom_status status = carom_mesh_update(o->room.mesh, &vertices, CAROM_MESH_REFIT, NULL);
    scene_free(&s);
    return status;
}

static carom_status make_mesh(others *o)
{
    scene s = scene_sphere(2);
    carom_mesh_destroy(scene_mesh(o->room.context, &s));
    scene_free(&s);
    return CAROM_OK;
}

static carom_status mesh_info(others *o)
{
    (void)test_mesh_info(o->room.mesh);
    return CAROM_OK;
}

static carom_status mesh_image(others *o)
{
    uint64_t size = 0;
    return carom_mesh_get_image(o->room.mesh, NULL, 0, &size, NULL);
}

static carom_status device(others *o)
{
    carom_device_info info = {.size = sizeof info};
    const carom_status status = carom_context_get_device(o->room.context, &info, NULL);
    return status == CAROM_ERROR_NO_DEVICE ? CAROM_OK : status;
}

typedef struct other_call {
    const char *name;
    carom_status (*call)(others *o);
} other_call;
static const other_call other_calls[] = {
    {"query", query},        {"write", write_buffer}, {"read", read_buffer}, {"map", map_buffer},
    {"unmap", unmap_buffer}, {"buffer", make_buffer}, {"mesh", make_mesh},   {"update", update_mesh},
    {"info", mesh_info},     {"image", mesh_image},   {"device", device},
};

static void other_calls_wait(void **state)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = 100};
    carom_error err = {0};
    (void)state;
    others o = {.room = job_room_make(test_cpu(CAROM_ISA_AUTO, 2), COUNT)};
    o.expected = job_answers(&o.room, JOB_FIRST);
    test_ok("carom_buffer_create", carom_buffer_create(o.room.context, &desc, &o.buffer, &err), &err);
    for (size_t i = 0; i < COUNT_OF(other_calls); i++) {
        held_job h;
        held_begin(o.room.context, &h);
        held_let_go_later(&h);
        test_ok(other_calls[i].name, other_calls[i].call(&o), &err);
        if (!atomic_load(&h.is_free))
            fail_msg("%s does not wait for a job", other_calls[i].name);
        held_end(&h);
    }
    carom_buffer_destroy(o.buffer);
    free(o.expected);
    job_room_free(&o.room);
}

/* ---- what is destroyed while jobs need it ------------------------------------------------------------------------ */

static carom_buffer *buffer_of(carom_context *context, const float *from, size_t count)
{
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = count * sizeof(float), .where = CAROM_BUFFER_DEVICE};
    test_ok("carom_buffer_create", carom_buffer_create(context, &desc, &buffer, &err), &err);
    test_ok("carom_buffer_write", carom_buffer_write(buffer, 0, from, desc.bytes, &err), &err);
    return buffer;
}

/* A mesh and a buffer of radii go before the job that needs them begins. With `late` the context goes first, and then
 * mesh and buffer wait for the job. */
static void destroyed_at_once(void **state)
{
    const int late = *state != NULL;
    held_job h;
    carom_error err = {0};
    int32_t expected[COUNT], got[COUNT];
    job_room r = job_room_make(test_cpu(CAROM_ISA_AUTO, 2), COUNT);
    carom_job *job = NULL;
    carom_buffer *radii = buffer_of(r.context, r.b.column[SPHERE_RADIUS], COUNT);
    carom_mesh_sweep_desc d = swept_spheres_desc(&r.b, 0, COUNT);
    carom_mesh_hit_result out = {.size = sizeof out, .triangle = expected};
    test_ok("blocking", carom_mesh_sweep_first(r.mesh, &d, &out, NULL, &err), &err);
    d.radius = carom_scalars_of(carom_buffer_address(radii));
    d.batch.job = &job;
    out.triangle = got;
    held_begin(r.context, &h);
    test_ok("a job", carom_mesh_sweep_first(r.mesh, &d, &out, NULL, &err), &err);
    if (late) {
        held_let_go_later(&h);
        carom_context_destroy(r.context);
        assert_true(atomic_load(&h.is_free));
    }
    carom_mesh_destroy(r.mesh);
    carom_buffer_destroy(radii);
    if (!late)
        held_let_go(&h);
    test_ok("carom_job_wait", carom_job_wait(job, FOR_EVER, &err), &err);
    assert_memory_equal(expected, got, sizeof got);
    held_end(&h);
    if (!late)
        carom_context_destroy(r.context);
    carom_job_destroy(job); /* keeps the context */
    swept_spheres_free(&r.b);
}

/* A mesh keeps its context, so it can still make jobs; whatever is destroyed last, the job has its mesh. */
static void jobs_of_a_destroyed_context(void **state)
{
    counter memory = {0};
    (void)state;
    for (int is_job_first = 0; is_job_first < 2; is_job_first++) {
        job_room r = job_room_make(counted(&memory), COUNT * COUNT);
        unsigned char *expected = job_answers(&r, JOB_FIRST), *got = job_blank(&r, JOB_FIRST);
        carom_context_destroy(r.context);
        carom_job *job = job_submit(&r, JOB_FIRST, got, NULL);
        if (is_job_first)
            carom_job_destroy(job);
        carom_mesh_destroy(r.mesh);
        job_compare(&r, JOB_FIRST, expected, got, r.count);
        if (!is_job_first)
            job_end(job);
        assert_int_equal(atomic_load(&memory.live), 0);
        free(expected);
        free(got);
        swept_spheres_free(&r.b);
    }
}

/* A context goes when its jobs have ended, also one that waits for a job of another context. */
static void contexts_wait_for_their_jobs(void **state)
{
    float height = 10, landed = 0;
    carom_error err = {0};
    carom_job *job = NULL;
    held_job h;
    (void)state;
    carom_context *one = test_cpu(CAROM_ISA_AUTO, 1), *two = test_cpu(CAROM_ISA_AUTO, 1);
    held_begin(one, &h);
    test_ok("a job", fall(two, &height, &landed, &job, &h.job, 1, &err), &err);
    carom_job_destroy(job);
    held_let_go_later(&h);
    carom_context_destroy(two);
    assert_true(atomic_load(&h.is_free));
    assert_true(landed == 9.5f);
    carom_context_destroy(one);
    held_end(&h);
}

/* A context goes while a job of another context still waits, behind a held one, for a job of its. */
static void a_waiter_outlives_the_context(void **state)
{
    counter memory = {0};
    float height = 10, middle = 0, landed = 0;
    carom_error err = {0};
    carom_job *job = NULL, *waiting = NULL;
    held_job h;
    (void)state;
    carom_context *one = counted(&memory), *two = test_cpu(CAROM_ISA_AUTO, 1);
    held_begin(two, &h);
    test_ok("a job", fall(one, &height, &middle, &job, NULL, 0, &err), &err);
    test_ok("a job", fall(two, &middle, &landed, &waiting, &job, 1, &err), &err);
    carom_job_destroy(job);
    carom_context_destroy(one);
    assert_true(middle == 9.5f);
    assert_true(atomic_load(&memory.live) > 0);
    held_let_go(&h);
    job_end(waiting);
    assert_true(landed == 9.0f);
    assert_int_equal(atomic_load(&memory.live), 0);
    held_end(&h);
    carom_context_destroy(two);
}

int main(void)
{
    static int late = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order),
        cmocka_unit_test(chain_over_contexts),
        cmocka_unit_test(a_chain_does_not_grow),
        cmocka_unit_test(a_blocking_call_waits),
        cmocka_unit_test(other_calls_wait),
        {"mesh and buffer destroyed before the job begins", destroyed_at_once, NULL, NULL, NULL},
        {"after the context", destroyed_at_once, NULL, NULL, &late},
        cmocka_unit_test(jobs_of_a_destroyed_context),
        cmocka_unit_test(contexts_wait_for_their_jobs),
        cmocka_unit_test(a_waiter_outlives_the_context),
    };
    return cmocka_run_group_tests_name("job order", tests, NULL, NULL);
}
