/* SPDX-License-Identifier: MIT */
/* Bundles in the caller's queue: all rounds of a call are enqueued at once, so rounds have room for bundles that have
 * their answer. There are more bundles than are answered together. */
#include "tests/support/resident_simulation.h"
#include "tests/support/scenes.h"

#include <math.h>

enum { BUNDLES = (1 << 17) + 300, SIZE = 5 /* a round each */, QUERIES = BUNDLES * SIZE, SEED = 31, FILL = 0xa5 };
enum { ASK_SWEEP, ASK_OVERLAP, ASK_CLOSEST, ASKED };
static const char *const asked_names[ASKED] = {"sweeps", "overlaps", "closest points"};
static const float velocity[3] = {0.25f, -0.5f, -1};

typedef struct bundles {
    float center[QUERIES][3], radius[QUERIES], limit[QUERIES];
    uint32_t select[QUERIES];
    int64_t query[BUNDLES];
    int32_t triangle[BUNDLES];
    float depth[BUNDLES];
    uint8_t hit[BUNDLES];
} bundles;
enum { OUTPUTS = offsetof(bundles, query) };

/* Most spheres are invalid, which costs no time. Of some bundles the first query hits, of others the last one or none,
 * in the order of the rounds. */
static bundles *make_bundles(void)
{
    bundles *b = test_alloc(1, sizeof *b);
    uint32_t *order = random_order(SEED, QUERIES);
    memset(b, FILL, sizeof *b);
    for (uint32_t i = 0; i < QUERIES; i++) {
        for (uint32_t k = 0; k < 3; k++)
            b->center[i][k] = (float)((i * 7 + k * 131) % 1009) / 300 - 1.5f;
        b->radius[i] = i / SIZE % 4 != 0 || i % 3 == 0 ? -1.0f : (float)(i % 13) / 64;
        b->limit[i] = i % 7 == 0 ? -0.0f : (float)(i % 11) / 4;
        b->select[i] = i % 2 ? order[i] : i;
    }
    free(order);
    return b;
}

/* Asks with all arrays at `b`; overlaps have no selection. */
static carom_status ask_bundles(carom_mesh *mesh, int kind, bundles *b, carom_job **job, carom_stats *stats,
                                carom_error *err)
{
    carom_batch batch = {.count = QUERIES, .job = job};
    const carom_any_result any = {.size = sizeof any, .hit = b->hit};
    if (kind == ASK_OVERLAP) {
        carom_mesh_overlap_desc desc = {
            .batch = batch, .center = carom_xyz(b->center[0]), .radius = carom_scalars_of(b->radius), .bundle = SIZE};
        desc.batch.size = sizeof desc;
        return carom_mesh_overlap_any(mesh, &desc, &any, stats, err);
    }
    batch.select = carom_uints_of(b->select);
    batch.elements = QUERIES;
    if (kind == ASK_SWEEP) {
        carom_mesh_sweep_desc desc = {.batch = batch,
                                      .center = carom_xyz(b->center[0]),
                                      .velocity = {&velocity[0], &velocity[1], &velocity[2], CAROM_REPEAT},
                                      .radius = carom_scalars_of(b->radius),
                                      .t_max = carom_scalars_of(b->limit),
                                      .bundle = SIZE};
        desc.batch.size = sizeof desc;
        return carom_mesh_sweep_any(mesh, &desc, &any, stats, err);
    }
    carom_mesh_closest_desc desc = {.batch = batch,
                                    .center = carom_xyz(b->center[0]),
                                    .radius = carom_scalars_of(b->radius),
                                    .max_distance = carom_scalars_of(b->limit),
                                    .bundle = SIZE};
    const carom_mesh_closest_result out = {
        .size = sizeof out, .triangle = b->triangle, .depth = b->depth, .query = b->query};
    desc.batch.size = sizeof desc;
    return carom_mesh_closest(mesh, &desc, &out, stats, err);
}

/* The simulation's context, with the arrays in memory of the caller. */
typedef struct resident_bundles {
    simulation *s;
    bundles *given;
    cl_mem memory;
    carom_buffer *buffer;
} resident_bundles;

static resident_bundles open_bundles(void **state, int order)
{
    resident_bundles r = {.s = open_simulation(state, order), .given = make_bundles()};
    r.memory = memory_of(&r.s->cl, CL_MEM_READ_WRITE, sizeof *r.given);
    put(&r.s->cl, r.memory, r.given, sizeof *r.given);
    r.buffer = wrap(r.s->context, r.memory, 0, sizeof *r.given);
    return r;
}

static void close_bundles(resident_bundles *r)
{
    carom_buffer_destroy(r->buffer);
    assert_int_equal(clReleaseMemObject(r->memory), CL_SUCCESS);
    free(r->given);
    close_simulation(r->s);
}

static carom_job *submit_bundles(const resident_bundles *r, int kind, carom_stats *stats)
{
    carom_job *job = NULL;
    carom_error err = {0};
    test_ok(asked_names[kind], ask_bundles(r->s->mesh, kind, carom_buffer_address(r->buffer), &job, stats, &err), &err);
    return job;
}

/* A blocking call, which builds. */
static void call_bundles(const resident_bundles *r, int kind)
{
    carom_error err = {0};
    test_ok(asked_names[kind], ask_bundles(r->s->mesh, kind, carom_buffer_address(r->buffer), NULL, NULL, &err), &err);
}

/* Fails unless the memory has the bytes that the CPU makes of the arrays. */
static void expect_bytes(const resident_bundles *r, int kind)
{
    scene shape = scene_sphere(SIMULATION_SIDES);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(cpu, &shape);
    bundles *expected = test_alloc(1, sizeof *expected), *got = test_alloc(1, sizeof *got);
    carom_error err = {0};
    memcpy(expected, r->given, sizeof *expected);
    test_ok("the CPU", ask_bundles(mesh, kind, expected, NULL, NULL, &err), &err);
    get(&r->s->cl, r->memory, got, sizeof *got);
    if (memcmp(expected, got, sizeof *got) != 0) {
        size_t at = 0;
        while (((const char *)expected)[at] == ((const char *)got)[at])
            at++;
        fail_msg("%s: byte %zu of %zu differs", asked_names[kind], at, sizeof *got);
    }
    free(expected);
    free(got);
    scene_free(&shape);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
}

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

/* The call returns while the queue waits for an event of the caller. */
static void check_same(const resident_bundles *r, int kind)
{
    carom_stats stats = {.size = sizeof stats};
    int before;
    cl_int code;
    call_bundles(r, kind);
    ends_well(submit_bundles(r, kind, NULL)); /* makes memory */
    put(&r->s->cl, r->memory, r->given, sizeof *r->given);
    const cl_event gate = clCreateUserEvent(r->s->cl.context, &code);
    launch(r->s, r->s->rise, 1, &gate, NULL);
    begin_step(&before);
    carom_job *job = submit_bundles(r, kind, &stats);
    expect_enqueued(asked_names[kind], before);
    assert_int_equal(stats.on_device, QUERIES);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    ends_well(job);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    expect_bytes(r, kind);
}

static void check_all(const resident_bundles *r)
{
    for (int kind = 0; kind < ASKED; kind++) {
        put(&r->s->cl, r->memory, r->given, sizeof *r->given);
        check_same(r, kind);
    }
}

/* ---- values that are refused ------------------------------------------------------------------------------------- */

/* The job has the error, and bundles without the refused query have their answers. */
static void check_refused(const resident_bundles *r, int kind, uint32_t bundle, const char *sentence)
{
    bundles *got = test_alloc(1, sizeof *got), *expected = test_alloc(1, sizeof *expected);
    carom_error err = {0};
    ends_well(submit_bundles(r, kind, NULL));
    get(&r->s->cl, r->memory, expected, sizeof *expected);
    put(&r->s->cl, r->memory, r->given, sizeof *r->given);
    cl_relieve();
    carom_job *job = submit_bundles(r, kind, NULL);
    assert_int_equal(cl_calls(CALL_USER_EVENT), 0);
    test_error(carom_job_wait(job, (double)INFINITY, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, sentence);
    expect_event(event_of(job), CL_COMPLETE);
    carom_job_destroy(job);
    get(&r->s->cl, r->memory, got, sizeof *got);
    expected->query[bundle] = got->query[bundle];
    expected->triangle[bundle] = got->triangle[bundle];
    expected->depth[bundle] = got->depth[bundle];
    expected->hit[bundle] = got->hit[bundle];
    assert_memory_equal((const char *)got + OUTPUTS, (const char *)expected + OUTPUTS, sizeof *got - OUTPUTS);
    free(got);
    free(expected);
}

static void check_values(const resident_bundles *r)
{
    enum { QUERY = QUERIES - 7 /* not among the bundles that are answered first */ };
    for (int kind = ASK_SWEEP; kind < ASKED; kind += ASK_CLOSEST) {
        const uint32_t index = r->given->select[QUERY];
        put(&r->s->cl, r->memory, r->given, sizeof *r->given);
        r->given->select[QUERY] = UINT32_MAX;
        check_refused(r, kind, QUERY / SIZE, "batch.select is 4294967295");
        r->given->select[QUERY] = index;
    }
    put(&r->s->cl, r->memory, r->given, sizeof *r->given);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* A launch that fails while the rounds are enqueued: an ordinary job behind them answers all. */
static void check_failed_launch(const resident_bundles *r)
{
    cl_relieve();
    carom_job_destroy(submit_bundles(r, ASK_OVERLAP, NULL));
    const int launches = cl_calls(CALL_LAUNCH);
    assert_true(launches > 20);
    finish(r->s);
    put(&r->s->cl, r->memory, r->given, sizeof *r->given);
    cl_relieve();
    cl_sabotage(CALL_LAUNCH, launches - 3, 0);
    carom_job *job = submit_bundles(r, ASK_OVERLAP, NULL);
    cl_relieve();
    ends_well(job);
    expect_bytes(r, ASK_OVERLAP);
}

/* A command that fails on the device, which is given up then. */
static void check_lost(const resident_bundles *r)
{
    carom_error err = {0};
    carom_job *job = submit_bundles(r, ASK_OVERLAP, NULL);
    cl_sabotage(CALL_COMMAND, 1, 0);
    test_error(carom_job_wait(job, (double)INFINITY, &err), CAROM_ERROR_DEVICE_LOST, &err, "a command of the call");
    cl_relieve();
    assert_int_equal(ask_bundles(r->s->mesh, ASK_OVERLAP, carom_buffer_address(r->buffer), NULL, NULL, &err),
                     CAROM_ERROR_DEVICE_LOST);
    carom_job_destroy(job);
}

/* In one context, whose programs take some drivers a minute. */
static void test_in_order(void **state)
{
    resident_bundles r = open_bundles(state, TURNS);
    check_all(&r);
    check_values(&r);
    check_failed_launch(&r);
    check_lost(&r);
    close_bundles(&r);
}

static void test_out_of_order(void **state)
{
    resident_bundles r = open_bundles(state, TURNS_OUT_OF_ORDER);
    check_all(&r);
    close_bundles(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ON_BOTH(test_in_order), ON_BOTH(test_out_of_order)};
    return cmocka_run_group_tests_name("bundles in the caller's queue", tests, NULL, NULL);
}
