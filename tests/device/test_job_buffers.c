/* SPDX-License-Identifier: MIT */
/* Jobs whose arrays lie in buffers of a discrete device: one job's answers are the next one's limits, buffers and mesh
 * are destroyed while the jobs need them, and what is wrong with a buffer is the job's error. */
#include "tests/support/cl_shim.h"
#include "tests/support/jobs.h"

enum { COUNT = 3000, INPUTS = 7 };
static const carom_progress none;

typedef struct setting {
    job_room room;
    carom_buffer *input[INPUTS], *t[2];
} setting;

static carom_buffer *make_buffer(carom_context *context, const float *from)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = COUNT * sizeof(float), .where = CAROM_BUFFER_DEVICE};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
    if (from != NULL)
        test_ok("write", carom_buffer_write(buffer, 0, from, desc.bytes, &err), &err);
    return buffer;
}

static void open_setting(setting *s)
{
    (void)test_need_device();
    cl_relieve();
    cl_seen_as.discrete = 1;
    s->room = job_room_make(test_device(1, 1000), COUNT);
    for (int i = 0; i < INPUTS; i++)
        s->input[i] = make_buffer(s->room.context, s->room.b.column[i]);
    for (int i = 0; i < 2; i++)
        s->t[i] = make_buffer(s->room.context, NULL);
    carom_buffer_info info = {.size = sizeof info};
    test_ok("info", carom_buffer_get_info(s->input[0], &info, NULL), NULL);
    assert_false(info.reachable);
}

static void close_setting(setting *s)
{
    for (int i = 0; i < INPUTS; i++)
        carom_buffer_destroy(s->input[i]);
    for (int i = 0; i < 2; i++)
        carom_buffer_destroy(s->t[i]);
    job_room_free(&s->room);
    cl_expect_none("jobs with buffers");
    cl_seen_as.discrete = 0;
}

/* The times of the first hits; with `limits` of those within them. */
static carom_job *sweep(carom_mesh *mesh, carom_buffer *const *input, const float *limits, float *t,
                        carom_progress progress)
{
    const float *in[INPUTS];
    for (int i = 0; i < INPUTS; i++)
        in[i] = carom_buffer_address(input[i]);
    carom_job *job = NULL;
    carom_error err = {0};
    const carom_mesh_sweep_desc d = {.batch = {.size = sizeof d, .count = COUNT, .progress = progress, .job = &job},
                                     .center = carom_soa(in[0], in[1], in[2]),
                                     .radius = carom_scalars_of(in[SPHERE_RADIUS]),
                                     .velocity = carom_soa(in[4], in[5], in[6]),
                                     .t_max = carom_scalars_of(limits)};
    const carom_mesh_hit_result out = {.size = sizeof out, .t = t};
    test_ok("a job", carom_mesh_sweep_first(mesh, &d, &out, NULL, &err), &err);
    return job;
}

/* The CPU's answers to the sweep within these limits, or any. */
static void expect(const job_room *r, const float *limits, float *t)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_sphere(6);
    carom_mesh *mesh = scene_mesh(cpu, &s);
    carom_error err = {0};
    carom_mesh_sweep_desc d = swept_spheres_desc(&r->b, 0, COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = t};
    d.t_max = carom_scalars_of(limits);
    test_ok("the CPU", carom_mesh_sweep_first(mesh, &d, &out, NULL, &err), &err);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    scene_free(&s);
}

/* The first job is held when it has its arrays; what else is asked of the context leaves these alone. */
static void one_after_the_other(void **state)
{
    static float first[COUNT], second[COUNT], got[COUNT];
    setting s;
    held_job h;
    carom_error err = {0};
    (void)state;
    open_setting(&s);
    expect(&s.room, NULL, first);
    expect(&s.room, first, second);
    float *t[2] = {carom_buffer_address(s.t[0]), carom_buffer_address(s.t[1])};
    h.job = sweep(s.room.mesh, s.input, NULL, t[0], held_progress(&h));
    held_wait_begun(&h);
    carom_job *two = sweep(s.room.mesh, s.input, t[0], t[1], none);
    for (int i = 0; i < INPUTS; i++) {
        carom_buffer_destroy(s.input[i]);
        s.input[i] = NULL;
    }
    carom_mesh_destroy(s.room.mesh);
    s.room.mesh = NULL;
    held_let_go_later(&h);
    test_ok("read", carom_buffer_read(s.t[1], 0, got, sizeof got, &err), &err);
    assert_true(atomic_load(&h.is_free));
    assert_memory_equal(second, got, sizeof got);
    test_ok("read", carom_buffer_read(s.t[0], 0, got, sizeof got, &err), &err);
    assert_memory_equal(first, got, sizeof got);
    job_end(two);
    held_end(&h);
    close_setting(&s);
}

static void expect_refused(carom_job *job, const char *sentence)
{
    carom_error err = {0};
    test_error(carom_job_wait(job, FOR_EVER, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, sentence);
    carom_job_destroy(job);
}

/* Which buffers there are when a job runs is known then. */
static void wrong_buffers(void **state)
{
    static float t[COUNT];
    setting s;
    void *at;
    carom_error err = {0};
    (void)state;
    open_setting(&s);
    carom_context *other = test_device(1, 1000);
    carom_buffer *own = s.input[SPHERE_RADIUS], *foreign = make_buffer(other, s.room.b.column[SPHERE_RADIUS]);
    s.input[SPHERE_RADIUS] = foreign;
    expect_refused(sweep(s.room.mesh, s.input, NULL, t, none), "radius lies in a buffer of another context");
    s.input[SPHERE_RADIUS] = own;
    test_ok("map", carom_buffer_map(own, 0, 8, CAROM_ACCESS_READ, &at, &err), &err);
    expect_refused(sweep(s.room.mesh, s.input, NULL, t, none), "radius lies in a buffer that is mapped");
    test_ok("unmap", carom_buffer_unmap(own, &err), &err);
    job_end(sweep(s.room.mesh, s.input, NULL, t, none));
    carom_buffer_destroy(foreign);
    carom_context_destroy(other);
    close_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_after_the_other), cmocka_unit_test(wrong_buffers)};
    return cmocka_run_group_tests_name("jobs with buffers", tests, NULL, NULL);
}
