/* SPDX-License-Identifier: MIT */
/* `auto` measures whether the GPU is faster than the CPU. It stops using a slower GPU, keeps a faster one, and always
 * keeps one that the caller named. The bits are the same, and the log reports the choice. The shim reports every device
 * as a GPU, and the test sets how long launches take. */
#include <time.h>

#include "tests/support/cl_shim.h"
#include "tests/support/scenes.h"

enum { SEED = 59, ROUNDS = 7, JUDGED = 4 }; /* batches that a device answers before it is judged */
static const long pause_ns = 300000000;     /* far longer than a batch or a sample takes */

static void rest(void)
{
    const struct timespec pause = {0, pause_ns};
    nanosleep(&pause, NULL);
}

/* Makes the CPU slow: its path allocates memory for its threads in every batch. A device allocates only in its first
 * batches. */
static int is_short; /* of memory: no large block */
static void *slow_memory(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (is_short && size > 1 << 16)
        return NULL;
    if (size > 1 << 16)
        rest();
    return aligned_alloc(alignment, size);
}

static void give_memory(void *user, void *block)
{
    (void)user;
    free(block);
}

typedef struct log_book {
    int small, taken, left, warnings, widened;
} log_book;

static void take_line(void *user, carom_log_level level, const char *line)
{
    log_book *book = user;
    book->warnings += level <= CAROM_LOG_WARNING;
    book->small += strstr(line, "stay on the CPU") != NULL;
    book->taken += strstr(line, "queries go to") != NULL;
    book->widened += strstr(line, "built again with nodes of 16") != NULL;
    book->left += strstr(line, "goes to the CPU from here") != NULL;
}

typedef struct trial {
    const char *device; /* the device that the caller names, or NULL */
    int slow_device, slow_cpu;
    uint64_t from; /* queries of the smallest batch for a device; 0: the default */
    carom_isa isa;
} trial;

static carom_context *open_auto(const trial *t, log_book *book)
{
    carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device = t->device;
    desc.auto_from = t->from;
    desc.isa = t->isa;
    desc.threads = 1; /* so timings do not depend on other cores */
    desc.log = take_line;
    desc.log_user = book;
    desc.log_level = CAROM_LOG_INFO;
    if (t->slow_cpu)
        desc.allocator = (carom_allocator){slow_memory, give_memory, NULL};
    test_ok("auto", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* Returns the number of queries that a device answered. */
static uint64_t ask_once(carom_context *context, const queries *q, const answers *expected, size_t count)
{
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    inputs in = inputs_of(q);
    answers got = answers_alloc(q->type, count, 0xa5);
    test_ok("a batch", ask_as(context, q->type, count, &in, &got, ALL_FIELDS, &stats, &err), &err);
    answers_compare(q, expected, &got, count, ALL_FIELDS, "auto");
    answers_free(&got);
    assert_int_equal(stats.on_device + stats.on_cpu, count);
    assert_int_equal(stats.fallen_back, 0);
    return stats.on_device;
}

/* Runs ROUNDS batches. Returns the number of those that the device answered. */
static int batches_on_device(const trial *t, log_book *book)
{
    carom_context_destroy(test_device(0, 0)); /* ends the test if there is none */
    queries q = queries_mixed(SPHERES, SEED, CAROM_AUTO_MIN_QUERIES);
    answers expected = answers_alloc(q.type, q.count, 0x5a);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2), *context = open_auto(t, book);
    int on_device = 0;
    ask(cpu, &q, &expected, ALL_FIELDS);
    for (int round = 0; round < ROUNDS; round++) {
        cl_before_launch = t->slow_device ? rest : NULL;
        const uint64_t many = ask_once(context, &q, &expected, q.count);
        cl_before_launch = NULL;
        assert_true(many == 0 || many == q.count);
        assert_true(many == 0 || on_device == round); /* once the device is given up, it stays so */
        on_device += many > 0;
    }
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    answers_free(&expected);
    queries_free(&q);
    assert_int_equal(book->warnings, 0);
    assert_int_equal(book->taken, 1);
    return on_device;
}

static void test_slow_device_is_left(void **state)
{
    const trial t = {NULL, 1, 0, 0, CAROM_ISA_AUTO};
    log_book book = {0};
    (void)state;
    assert_int_equal(batches_on_device(&t, &book), JUDGED);
    assert_int_equal(book.left, 1);
}

static void test_fast_device_stays(void **state)
{
    const trial t = {NULL, 0, 1, 0, CAROM_ISA_AUTO};
    log_book book = {0};
    (void)state;
    assert_int_equal(batches_on_device(&t, &book), ROUNDS);
    assert_int_equal(book.left, 0);
}

static void test_named_device_stays(void **state)
{
    const char *device = getenv("CAROM_TEST_DEVICE");
    const trial t = {device != NULL ? device : "0", 1, 0, 0, CAROM_ISA_AUTO};
    log_book book = {0};
    (void)state;
    assert_int_equal(batches_on_device(&t, &book), ROUNDS);
    assert_int_equal(book.left, 0);
}

/* Batches with one query less than `auto` sends to a device: no device is opened, and one log line reports that. */
static void test_small_batches(void **state)
{
    const trial t = {NULL, 0, 0, 0, CAROM_ISA_AUTO};
    log_book book = {0};
    queries q = queries_mixed(SPHERES, SEED, CAROM_AUTO_MIN_QUERIES);
    answers expected = answers_alloc(q.type, q.count, 0x5a);
    carom_context *context = open_auto(&t, &book), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    (void)state;
    ask(cpu, &q, &expected, ALL_FIELDS);
    for (int round = 0; round < 2; round++)
        assert_int_equal(ask_once(context, &q, &expected, CAROM_AUTO_MIN_QUERIES - 1), 0);
    assert_int_equal(carom_context_get_device(context, NULL, NULL), CAROM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(book.small, 1);
    assert_int_equal(book.taken, 0);
    carom_context_destroy(cpu);
    carom_context_destroy(context);
    answers_free(&expected);
    queries_free(&q);
}

/* A caller that has large work in small batches says from where on they are worth a device. */
static void test_smaller_batches(void **state)
{
    enum { FROM = 1 << 14 };
    const char *device = getenv("CAROM_TEST_DEVICE");
    const trial t = {device != NULL ? device : "0", 0, 0, FROM, CAROM_ISA_AUTO};
    log_book book = {0};
    queries q = queries_mixed(SPHERES, SEED, FROM);
    answers expected = answers_alloc(q.type, q.count, 0x5a);
    carom_context_destroy(test_device(0, 0)); /* ends the test if there is none */
    carom_context *context = open_auto(&t, &book), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    (void)state;
    ask(cpu, &q, &expected, ALL_FIELDS);
    assert_int_equal(ask_once(context, &q, &expected, FROM - 1), 0);
    assert_int_equal(book.small, 1);
    assert_int_equal(ask_once(context, &q, &expected, FROM), FROM);
    assert_int_equal(book.taken, 1);
    carom_context_destroy(cpu);
    carom_context_destroy(context);
    answers_free(&expected);
    queries_free(&q);
}

/* First hits as a batch for `auto`; returns the number of those that the device answered. */
static uint64_t sweep_once(carom_mesh *mesh, const swept_spheres *b, size_t count, const hits *expected)
{
    const carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, count);
    hits got = hits_alloc(b->count, 0xa5);
    const carom_mesh_hit_result out = hits_result(&got, 0);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    test_ok("a sweep", carom_mesh_sweep_first(mesh, &desc, &out, &stats, &err), &err);
    hits_compare(b, expected, &got, count, -1, "auto");
    hits_free(&got);
    return stats.on_device;
}

/* A mesh of the scalar path has nodes of 8, which no device searches: it is built again before the first batch for a
 * device. An image of such a context has 16; one of 8, from a context of the CPU alone, is refused by `opencl` and left
 * to the CPU by `auto`. Without memory for another hierarchy the CPU answers. */
static void test_nodes_are_widened(void **state)
{
    enum { FROM = 256 };
    const trial t = {NULL, 0, 1, FROM, CAROM_ISA_SCALAR};
    log_book book = {0};
    carom_error err = {0};
    carom_context *opencl = test_device(0, 0), *context = open_auto(&t, &book), *cpu = test_cpu(CAROM_ISA_SCALAR, 1);
    scene s = scene_soup(SEED, 3000, 0.1);
    swept_spheres b = swept_spheres_mixed(SEED, FROM);
    carom_mesh *mesh = scene_mesh(context, &s), *on_cpu = scene_mesh(cpu, &s), *shared = NULL;
    carom_mesh *waiting = scene_mesh(context, &s);
    hits expected = hits_alloc(b.count, 0x5a);
    uint64_t bytes[2];
    (void)state;
    sweep_first(on_cpu, &b, &expected);
    assert_int_equal(test_mesh_info(mesh).width, 8);
    assert_int_equal(sweep_once(mesh, &b, FROM - 1, &expected), 0);
    assert_int_equal(test_mesh_info(mesh).width, 8);
    assert_int_equal(sweep_once(mesh, &b, FROM, &expected), FROM);
    assert_int_equal(book.taken, 1);
    assert_int_equal(test_mesh_info(mesh).width, 16);
    assert_int_equal(book.widened, 1);
    is_short = 1; /* no other hierarchy: the CPU answers */
    assert_int_equal(sweep_once(waiting, &b, FROM, &expected), 0);
    is_short = 0;
    assert_int_equal(test_mesh_info(waiting).width, 8);
    assert_int_equal(book.warnings, 1);
    assert_int_equal(sweep_once(waiting, &b, FROM, &expected), FROM);
    carom_mesh_destroy(waiting);
    carom_mesh *later = scene_mesh(context, &s);
    assert_int_equal(test_mesh_info(later).width, 16);
    /* Images. */
    test_ok("size", carom_mesh_get_image(mesh, NULL, 0, &bytes[0], &err), &err);
    test_ok("size", carom_mesh_get_image(on_cpu, NULL, 0, &bytes[1], &err), &err);
    const uint64_t room = (bytes[1] + 63) / 64 * 64;
    void *image = aligned_alloc(64, room);
    assert_non_null(image);
    test_ok("image", carom_mesh_get_image(on_cpu, image, room, &bytes[1], &err), &err);
    test_error(carom_mesh_open_image(opencl, image, bytes[1], &shared, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "nodes of 8");
    test_ok("open", carom_mesh_open_image(context, image, bytes[1], &shared, &err), &err);
    assert_int_equal(sweep_once(shared, &b, FROM, &expected), 0);
    assert_int_equal(book.warnings, 1);
    carom_mesh_destroy(shared);
    free(image);
    carom_mesh_destroy(later);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(on_cpu);
    hits_free(&expected);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(cpu);
    carom_context_destroy(context);
    carom_context_destroy(opencl);
}

int main(void)
{
    cl_seen_as.gpu = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_batches),       cmocka_unit_test(test_smaller_batches),
        cmocka_unit_test(test_slow_device_is_left), cmocka_unit_test(test_fast_device_stays),
        cmocka_unit_test(test_named_device_stays),  cmocka_unit_test(test_nodes_are_widened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
