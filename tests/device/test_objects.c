/* SPDX-License-Identifier: MIT */
/* The library releases all OpenCL objects that it creates: contexts, queues, buffers, programs, kernels and events. The
 * shim counts them, after every kind of batch and after a failure of every kind of call. A leak checker cannot see such
 * leaks, because OpenCL implementations keep objects in caches. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

enum { SEED = 83, COUNT = 500, CHUNK = 128, SIDES = 10 };

static carom_status open_context(uint32_t lanes, carom_context **out, carom_error *err)
{
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    desc.device_lanes = test_lanes_for(lanes);
    desc.device_chunk = CHUNK;
    desc.threads = 2;
    return carom_context_create(&desc, out, err);
}

/* Runs one request, which may fail. Returns its status. */
static carom_status ask_one(const request *q, carom_context *context, carom_mesh *mesh, const fixture *m)
{
    carom_error err = {0};
    batch_result r = batch_result_alloc(q, m);
    const carom_status status = request_ask(q, context, mesh, m, &r, &err);
    batch_result_free(&r);
    return status;
}

/* ---- without failures -------------------------------------------------------------------------------------------- */

static void move(carom_mesh *mesh, const scene *s, carom_mesh_follow how)
{
    const carom_points vertices = scene_desc(s).vertices;
    carom_error err = {0};
    test_ok("carom_mesh_update", carom_mesh_update(mesh, &vertices, how, &err), &err);
}

/* Runs all requests, then those of meshes again after each kind of update. Of the two meshes one is destroyed before
 * the context, one after it. */
static void play_all(uint32_t lanes, const char *label)
{
    fixture m = fixture_make(SEED, scene_sphere(SIDES), COUNT, 1);
    carom_context *context = NULL;
    carom_error err = {0};
    test_ok("a context", open_context(lanes, &context, &err), &err);
    carom_mesh *mesh = scene_mesh(context, &m.s), *other = scene_mesh(context, &m.s);
    for (size_t i = 0; i < REQUESTS; i++)
        assert_int_equal(ask_one(&requests[i], context, mesh, &m), CAROM_OK);
    const int kernels = cl_held[HELD_KERNELS], buffers = cl_held[HELD_BUFFERS];
    assert_true(cl_held[HELD_CONTEXTS] == 2 && cl_held[HELD_QUEUES] > 0 && kernels > 0 && buffers > 0);
    assert_int_equal(cl_held[HELD_PROGRAMS], kernels);
    assert_int_equal(cl_held[HELD_EVENTS], 0);
    for (int how = CAROM_MESH_AUTO; how <= CAROM_MESH_REBUILD; how++) {
        move(mesh, &m.s, (carom_mesh_follow)how);
        for (size_t i = QUERY_TYPES; i < ASK_KINDS; i++)
            assert_int_equal(ask_one(&requests[i], context, mesh, &m), CAROM_OK);
        assert_int_equal(ask_one(&requests[ASK_mesh_first], context, other, &m), CAROM_OK);
    }
    assert_int_equal(cl_held[HELD_KERNELS], kernels);
    carom_mesh_destroy(other);
    assert_int_equal(cl_held[HELD_BUFFERS], buffers); /* as many buffers as with one mesh before the updates */
    assert_int_equal(cl_held[HELD_CONTEXTS], 2);
    carom_context_destroy(context);
    carom_mesh_destroy(mesh);
    cl_expect_none(label);
    if (cl_held[HELD_MAPS] != 0)
        fail_msg("%s: %d buffers are still mapped", label, cl_held[HELD_MAPS]);
    fixture_free(&m);
}

static void test_all(void **state)
{
    (void)state;
    (void)test_need_device();
    play_all(0, "all questions");
}

static void test_all_discrete(void **state)
{
    (void)state;
    (void)test_need_device();
    cl_seen_as.discrete = 1;
    play_all(0, "all questions of a discrete device");
    cl_seen_as.discrete = 0;
}

/* ---- with a failure ---------------------------------------------------------------------------------------------- */

/* A request, and whether the device is reported as discrete. Each request has kernels of its own. */
typedef struct setup {
    int request, discrete;
    int calls[CALL_KINDS]; /* numbers of calls without a failure */
} setup;
static setup setups[] = {{.request = SWEEP},
                         {.request = SPHERES + ASK_KINDS, .discrete = 1},
                         {.request = ASK_mesh_all},
                         {.request = ASK_mesh_first, .discrete = 1},
                         {.request = ASK_mesh_closest + ASK_KINDS},
                         {.request = ASK_mesh_overlaps, .discrete = 1}};

static int is_device_failure(carom_status status)
{
    return status == CAROM_ERROR_OUT_OF_MEMORY || status == CAROM_ERROR_DEVICE_LOST ||
           status == CAROM_ERROR_KERNEL_BUILD || status == CAROM_ERROR_NOT_BIT_EXACT;
}

/* Runs the request twice in a context of its own, if that can be created. Returns the status of the first run, or of
 * the creation. A device that was lost in the first run fails the second. */
static carom_status play_one(const setup *s, const fixture *m)
{
    const request *q = &requests[s->request];
    carom_context *context = NULL;
    carom_error err = {0};
    cl_seen_as.discrete = s->discrete;
    carom_status status = open_context(0, &context, &err);
    if (status == CAROM_OK) {
        carom_mesh *mesh = scene_mesh(context, &m->s);
        status = ask_one(q, context, mesh, m);
        const carom_status again = ask_one(q, context, mesh, m);
        /* After a failure for want of memory the second run may succeed; a lost device stays lost. */
        assert_true(again == CAROM_OK || is_device_failure(again));
        assert_true(again == status || status == CAROM_OK || status == CAROM_ERROR_OUT_OF_MEMORY);
        carom_mesh_destroy(mesh);
    } else {
        assert_null(context);
        assert_true(err.status == status && err.message[0] != '\0');
    }
    carom_context_destroy(context);
    cl_seen_as.discrete = 0;
    return status;
}

static void count_calls(const fixture *m)
{
    for (size_t i = 0; i < COUNT_OF(setups); i++) {
        cl_sabotage(CALL_KINDS, 0, 0);
        assert_int_equal(play_one(&setups[i], m), CAROM_OK);
        for (cl_call call = 0; call < CALL_KINDS; call++)
            setups[i].calls[call] = cl_calls(call);
    }
}

/* Makes one call of the request fail, an early or a late one, alone or with all later calls of its kind. */
static void play_failure(const setup *s, cl_call call, size_t round, const fixture *m)
{
    enum { PART = 5 };
    const int at = 1 + (s->calls[call] - 1) * (int)(round * 2 % PART) / PART;
    char label[128];
    snprintf(label, sizeof label, "%s%s, %s %d of %d fails", requests[s->request].name,
             s->discrete ? " on a discrete device" : "", cl_call_name(call), at, s->calls[call]);
    cl_sabotage(call, at, (int)(round % 2));
    const carom_status status = play_one(s, m);
    assert_true(cl_calls(call) >= at);
    cl_sabotage(call, 0, 0);
    if (status != CAROM_OK && (!is_device_failure(status) || status == CAROM_ERROR_NOT_BIT_EXACT))
        fail_msg("%s: %s", label, carom_status_name(status));
    cl_expect_none(label);
}

static void test_failures(void **state)
{
    const size_t rounds = test_effort(3);
    (void)state;
    (void)test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), COUNT, 1);
    count_calls(&m);
    for (cl_call call = 0; call < CALL_KINDS; call++) {
        size_t played = 0;
        for (size_t i = 0; i < COUNT_OF(setups) && played < rounds; i++) {
            const setup *s = &setups[((size_t)call + i) % COUNT_OF(setups)];
            if (s->calls[call] > 0)
                play_failure(s, call, (size_t)call + played++, &m);
        }
        if (played == 0) /* a driver that needs no clFinish */
            print_message("%s: never called\n", cl_call_name(call));
    }
    fixture_free(&m);
}

/* ---- devices that are not used ----------------------------------------------------------------------------------- */

/* A pair kernel or a mesh kernel gives a wrong answer. The device is refused when it is opened, or in the first batch
 * that needs the kernel. */
static void test_refused(void **state)
{
    static const cl_patch patches[] = {{"store_u8(out, OUT_STATE, i, ", "store_u8(out, OUT_STATE, i, 1 + "},
                                       {"run->t[trav->number] = t;", "run->t[trav->number] = 1.01f;"}};
    (void)state;
    (void)test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), COUNT, 1);
    const setup first = {.request = ASK_mesh_first};
    for (size_t i = 0; i < COUNT_OF(patches); i++) {
        cl_text_patch = patches[i];
        assert_int_equal(play_one(&first, &m), CAROM_ERROR_NOT_BIT_EXACT);
        cl_text_patch = (cl_patch){NULL, NULL};
        cl_expect_none(patches[i].replacement);
    }
    fixture_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_all_discrete),
                                       cmocka_unit_test(test_failures), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
