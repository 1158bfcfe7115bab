/* SPDX-License-Identifier: MIT */
/* Child processes of fork(). A child has a copy of a context's memory, but not its threads nor those of an OpenCL
 * driver. Nothing hangs: the CPU path answers, and calls that need the driver fail with a message. The parent is not
 * affected. */
#include "tests/support/requests.h"

#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEED = 97, COUNT = 200, SHARE = 2, LARGE = CAROM_AUTO_MIN_QUERIES, PATIENCE = 300, NO_DEVICE = 77 };

extern char **environ;

static fixture common;
static batch_result expected[REQUESTS];

/* ---- checks in a child, which must not use cmocka ---------------------------------------------------------------- */

/* Ends the child with a message unless the condition holds. */
#define NEED(holds)                                                    \
    do {                                                               \
        if (!(holds)) {                                                \
            fprintf(stderr, "child, line %d: %s\n", __LINE__, #holds); \
            _exit(1);                                                  \
        }                                                              \
    } while (0)

static carom_context_desc desc_of(carom_backend backend)
{
    carom_context_desc desc = test_desc(backend);
    desc.threads = 3;
    test_need_processors(3);
    return desc;
}

static int has_sentence(const carom_error *err)
{
    return err->status == CAROM_ERROR_NO_DEVICE && strstr(err->message, "fork()") != NULL;
}

/* Every request must succeed on the CPU. On a device that was open before the fork (`is_refused`) it must fail with a
 * message. */
static void need_answers(carom_context *context, carom_mesh *mesh, int is_refused)
{
    for (int i = 0; i < REQUESTS; i++) {
        batch_result r = batch_result_alloc(&requests[i], &common);
        carom_error err = {0};
        const carom_status status = request_ask(&requests[i], context, mesh, &common, &r, &err);
        NEED(status == (is_refused ? CAROM_ERROR_NO_DEVICE : CAROM_OK));
        NEED(!is_refused || has_sentence(&err));
        if (!is_refused)
            batch_result_compare(&requests[i], &common, &expected[i], &r, "a child");
        batch_result_free(&r);
    }
}

/* A batch of pairs so large that auto would use a device. */
static carom_stats need_large(carom_context *context)
{
    static const float at[3] = {1, 1, 2}, motion[3] = {0, 0, -1}, radius = 0.5f, p[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    static float t[LARGE];
    const carom_sweep_pairs_desc desc = {.batch.size = sizeof desc,
                                         .batch.count = LARGE,
                                         .center = carom_repeat(at),
                                         .velocity = carom_repeat(motion),
                                         .radius = {&radius, CAROM_REPEAT},
                                         .p0 = carom_repeat(p),
                                         .p1 = carom_repeat(p + 3),
                                         .p2 = carom_repeat(p + 6)};
    const carom_sweep_result out = {.size = sizeof out, .t_first = t};
    carom_stats stats = {.size = sizeof stats};
    memset(t, 0, sizeof t);
    NEED(carom_sweep_pairs(context, &desc, &out, &stats, NULL) == CAROM_OK);
    for (size_t i = 0; i < LARGE; i++)
        NEED(t[i] == 1.5f);
    return stats;
}

/* The child creates contexts and meshes of its own. */
static void need_new(int opencl_was_open)
{
    const carom_mesh_desc shape = scene_desc(&common.s);
    const int last = opencl_was_open ? CAROM_BACKEND_OPENCL : CAROM_BACKEND_CPU;
    for (int backend = CAROM_BACKEND_AUTO; backend <= last; backend++) {
        const carom_context_desc desc = desc_of((carom_backend)backend);
        carom_context *context = NULL;
        carom_mesh *mesh = NULL;
        carom_error err = {0};
        const carom_status status = carom_context_create(&desc, &context, &err);
        if (backend == CAROM_BACKEND_OPENCL) {
            NEED(status == CAROM_ERROR_NO_DEVICE && has_sentence(&err) && context == NULL);
            continue;
        }
        NEED(status == CAROM_OK);
        NEED(carom_context_threads(context) == 3);
        NEED(carom_mesh_create(context, &shape, &mesh, &err) == CAROM_OK);
        need_answers(context, mesh, 0);
        if (opencl_was_open) {
            const carom_stats stats = need_large(context);
            NEED(stats.on_device == 0 && stats.on_cpu == LARGE);
            NEED(backend == CAROM_BACKEND_CPU || strstr(stats.fallback_reason, "OpenCL was opened") != NULL);
        }
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
}

/* ---- running a child --------------------------------------------------------------------------------------------- */

typedef struct family {
    carom_context *context;
    carom_mesh *mesh;
    void (*child)(struct family *);
} family;

/* Forks a child and returns its exit status. An alarm ends a child that hangs. */
static int run_child(family *f)
{
    int status = -1;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(PATIENCE);
        f->child(f);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("the child was ended by signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    return WEXITSTATUS(status);
}

static void open_family(family *f, carom_backend backend)
{
    const carom_mesh_desc shape = scene_desc(&common.s);
    const carom_context_desc desc = desc_of(backend);
    carom_error err = {0};
    const carom_status status = carom_context_create(&desc, &f->context, &err);
    if (status == CAROM_ERROR_NO_DEVICE)
        test_skip("opencl", err.message);
    test_ok("carom_context_create", status, &err);
    test_ok("carom_mesh_create", carom_mesh_create(f->context, &shape, &f->mesh, &err), &err);
    need_answers(f->context, f->mesh, 0);
}

static void close_family(family *f)
{
    need_answers(f->context, f->mesh, 0); /* the parent has noticed nothing */
    carom_mesh_destroy(f->mesh);
    carom_context_destroy(f->context);
}

static int setup(void **state)
{
    (void)state;
    common = fixture_make(SEED, scene_sphere(8), COUNT, SHARE);
    for (int i = 0; i < REQUESTS; i++)
        expected[i] = request_answer(&requests[i], &common);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < REQUESTS; i++)
        batch_result_free(&expected[i]);
    fixture_free(&common);
    return 0;
}

/* ---- the CPU ----------------------------------------------------------------------------------------------------- */

static void use_and_destroy(family *f)
{
    const carom_mesh_desc shape = scene_desc(&common.s);
    carom_mesh *mesh = NULL;
    NEED(carom_context_threads(f->context) == 1);
    need_answers(f->context, f->mesh, 0);
    for (int how = CAROM_MESH_AUTO; how <= CAROM_MESH_REBUILD; how++)
        NEED(carom_mesh_update(f->mesh, &shape.vertices, (carom_mesh_follow)how, NULL) == CAROM_OK);
    NEED(carom_mesh_create(f->context, &shape, &mesh, NULL) == CAROM_OK);
    need_answers(f->context, mesh, 0);
    carom_mesh_destroy(f->mesh);
    carom_context_destroy(f->context);
    need_answers(f->context, mesh, 0); /* the new mesh keeps the context alive */
    carom_mesh_destroy(mesh);
    need_new(0);
}

static void test_pool(void **state)
{
    family f = {.child = use_and_destroy};
    (void)state;
    open_family(&f, CAROM_BACKEND_CPU);
    assert_int_equal(run_child(&f), 0);
    close_family(&f);
}

static atomic_int is_over;

static void *keep_busy(void *user)
{
    carom_context *context = user;
    while (!atomic_load(&is_over))
        (void)need_large(context);
    return NULL;
}

static void *fork_here(void *user)
{
    family *f = user;
    f->child = use_and_destroy;
    return (void *)(intptr_t)run_child(f);
}

/* Fork in a thread, while the threads of another context are working. */
static void test_fork_in_thread(void **state)
{
    family f = {0};
    pthread_t busy, forking;
    void *result = NULL;
    (void)state;
    carom_context *other = test_cpu(CAROM_ISA_AUTO, 2);
    open_family(&f, CAROM_BACKEND_CPU);
    assert_int_equal(pthread_create(&busy, NULL, keep_busy, other), 0);
    assert_int_equal(pthread_create(&forking, NULL, fork_here, &f), 0);
    assert_int_equal(pthread_join(forking, &result), 0);
    atomic_store(&is_over, 1);
    assert_int_equal(pthread_join(busy, NULL), 0);
    assert_ptr_equal(result, NULL);
    close_family(&f);
    carom_context_destroy(other);
}

/* ---- OpenCL ------------------------------------------------------------------------------------------------------ */

static void open_own(family *f)
{
    const carom_context_desc desc = desc_of(CAROM_BACKEND_OPENCL);
    const carom_mesh_desc shape = scene_desc(&common.s);
    carom_error err = {0};
    const carom_status status = carom_context_create(&desc, &f->context, &err);
    if (status == CAROM_ERROR_NO_DEVICE && !has_sentence(&err))
        _exit(NO_DEVICE);
    NEED(status == CAROM_OK);
    NEED(carom_mesh_create(f->context, &shape, &f->mesh, &err) == CAROM_OK);
    need_answers(f->context, f->mesh, 0);
    carom_mesh_destroy(f->mesh);
    carom_context_destroy(f->context);
}

/* A child that is forked before its parent used OpenCL can load its own driver. This test comes first, before any
 * driver is loaded. */
static void test_before_opencl(void **state)
{
    family f = {.child = open_own};
    (void)state;
    if (run_child(&f) == NO_DEVICE)
        test_skip("opencl", "no device");
    assert_int_equal(run_child(&f), 0);
}

static void refuse_and_destroy(family *f)
{
    const carom_mesh_desc shape = scene_desc(&common.s);
    carom_device_info info = {.size = sizeof info};
    carom_error err = {0};
    carom_mesh *mesh = NULL;
    uint32_t count = 7;
    NEED(carom_context_get_device(f->context, &info, NULL) == CAROM_ERROR_NO_DEVICE);
    NEED(carom_device_list(&info, 1, &count, &err) == CAROM_ERROR_NO_DEVICE && has_sentence(&err) && count == 7);
    need_answers(f->context, f->mesh, 1);
    need_answers(f->context, f->mesh, 1);
    NEED(carom_mesh_create(f->context, &shape, &mesh, NULL) == CAROM_OK);
    need_answers(f->context, mesh, 1);
    NEED(carom_mesh_update(f->mesh, &shape.vertices, CAROM_MESH_AUTO, NULL) == CAROM_OK);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(f->mesh);
    carom_context_destroy(f->context);
    need_new(1);
}

static void test_open_device(void **state)
{
    family f = {.child = refuse_and_destroy};
    (void)state;
    open_family(&f, CAROM_BACKEND_OPENCL);
    assert_int_equal(run_child(&f), 0);
    close_family(&f);
}

static void only_destroy(family *f)
{
    carom_context_destroy(f->context); /* the mesh keeps the context alive */
    carom_mesh_destroy(f->mesh);
}

static void test_only_destroyed(void **state)
{
    family f = {.child = only_destroy};
    (void)state;
    open_family(&f, CAROM_BACKEND_OPENCL);
    assert_int_equal(run_child(&f), 0);
    close_family(&f);
}

static void have_a_child(family *f)
{
    f->child = refuse_and_destroy;
    NEED(run_child(f) == 0);
}

static void test_grandchild(void **state)
{
    family f = {.child = have_a_child};
    (void)state;
    open_family(&f, CAROM_BACKEND_OPENCL);
    assert_int_equal(run_child(&f), 0);
    close_family(&f);
}

static void fall_back(family *f)
{
    carom_device_info info = {.size = sizeof info};
    NEED(carom_context_get_device(f->context, &info, NULL) == CAROM_ERROR_NO_DEVICE);
    for (int round = 0; round < 2; round++) {
        const carom_stats stats = need_large(f->context);
        NEED(stats.on_cpu == LARGE && stats.fallen_back == LARGE);
        NEED(strstr(stats.fallback_reason, "OpenCL was opened") != NULL);
    }
    only_destroy(f);
}

/* auto uses a device in the parent; in the child the CPU answers, and statistics give the reason. */
static void test_auto(void **state)
{
    family f = {.child = fall_back};
    (void)state;
    (void)test_need_device();
    open_family(&f, CAROM_BACKEND_AUTO);
    assert_int_equal(need_large(f.context).on_device, LARGE);
    assert_int_equal(run_child(&f), 0);
    assert_int_equal(need_large(f.context).on_device, LARGE);
    close_family(&f);
}

/* A child that executes a new program (exec) is not affected. */
static void test_spawned(void **state)
{
    char *const arguments[] = {"test_fork", "spawned", NULL};
    family f = {0};
    pid_t child = -1;
    int status = -1;
    (void)state;
    open_family(&f, CAROM_BACKEND_OPENCL);
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    child = vfork();
    if (child == 0) {
        execve("/proc/self/exe", arguments, environ);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close_family(&f);
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest cpu[] = {cmocka_unit_test(test_pool), cmocka_unit_test(test_fork_in_thread)};
    const struct CMUnitTest device[] = {
        cmocka_unit_test(test_before_opencl), cmocka_unit_test(test_open_device), cmocka_unit_test(test_only_destroyed),
        cmocka_unit_test(test_grandchild),    cmocka_unit_test(test_auto),        cmocka_unit_test(test_spawned),
    };
    if (argc > 1) {
        (void)setup(NULL);
        family f = {0};
        alarm(PATIENCE);
        open_own(&f);
        return teardown(NULL);
    }
    return test_on_device() ? cmocka_run_group_tests(device, setup, teardown)
                            : cmocka_run_group_tests(cpu, setup, teardown);
}
