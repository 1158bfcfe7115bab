/* SPDX-License-Identifier: MIT */
/* Buffers in a context without a device, or with one: what they are, how they are read, written and mapped, and every
 * error. Calls with arrays in buffers of all kinds are in device/test_buffers.c. */
#include "tests/support/support.h"

enum { BYTES = 10000, SMALL = 64 };
static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;

static carom_buffer *make(carom_context *context, carom_buffer_where where, uint64_t bytes, void *host)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = bytes, .where = where, .host = host};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("carom_buffer_create", carom_buffer_create(context, &desc, &buffer, &err), &err);
    return buffer;
}

static carom_buffer_info info_of(const carom_buffer *buffer)
{
    carom_buffer_info info = {.size = sizeof info};
    assert_int_equal(carom_buffer_get_info(buffer, &info, NULL), CAROM_OK);
    return info;
}

/* ---- use --------------------------------------------------------------------------------------------------------- */

static void test_kinds(void **state)
{
    (void)state;
    carom_context *context = test_context();
    unsigned char memory[SMALL];
    carom_buffer *own = make(context, CAROM_BUFFER_HOST, BYTES, NULL);
    carom_buffer *wrapped = make(context, CAROM_BUFFER_HOST, SMALL - 1, memory + 1);
    carom_buffer *device = make(context, CAROM_BUFFER_DEVICE, BYTES, NULL);
    assert_int_equal((uintptr_t)carom_buffer_address(own) % 4096, 0);
    assert_ptr_equal(carom_buffer_address(wrapped), memory + 1);
    assert_non_null(carom_buffer_address(device));
    assert_null(carom_buffer_address(NULL));
    assert_int_equal(info_of(own).bytes, BYTES);
    assert_int_equal(info_of(own).where, CAROM_BUFFER_HOST);
    assert_int_equal(info_of(own).reachable, 1);
    assert_int_equal(info_of(own).mapped, 0);
    assert_int_equal(info_of(wrapped).bytes, SMALL - 1);
    assert_int_equal(info_of(device).where, test_on_device() ? CAROM_BUFFER_DEVICE : CAROM_BUFFER_HOST);
    memset(carom_buffer_address(own), 1, BYTES);
    carom_context_destroy(context); /* the buffers keep it */
    carom_buffer_destroy(own);
    carom_buffer_destroy(wrapped);
    carom_buffer_destroy(device);
    carom_buffer_destroy(NULL);
}

static void check_transfers(carom_buffer *buffer)
{
    unsigned char bytes[BYTES], back[BYTES];
    char *address = carom_buffer_address(buffer);
    carom_error err = {0};
    void *at = NULL;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    test_ok("write", carom_buffer_write(buffer, 0, bytes, BYTES, &err), &err);
    test_ok("read", carom_buffer_read(buffer, 0, back, BYTES, &err), &err);
    assert_memory_equal(bytes, back, BYTES);
    test_ok("map", carom_buffer_map(buffer, 4097, 100, CAROM_ACCESS_READ_WRITE, &at, &err), &err);
    assert_ptr_equal(at, address + 4097);
    assert_memory_equal(at, bytes + 4097, 100);
    assert_int_equal(info_of(buffer).mapped, 1);
    memset(at, 0, 50);
    memset(bytes + 4097, 0, 50);
    test_ok("unmap", carom_buffer_unmap(buffer, &err), &err);
    assert_int_equal(info_of(buffer).mapped, 0);
    test_ok("map", carom_buffer_map(buffer, 9000, 1000, CAROM_ACCESS_WRITE, &at, &err), &err);
    memset(at, 3, 1000);
    memset(bytes + 9000, 3, 1000);
    test_ok("unmap", carom_buffer_unmap(buffer, &err), &err);
    test_ok("write", carom_buffer_write(buffer, 5, bytes + 6, 11, &err), &err);
    memmove(bytes + 5, bytes + 6, 11);
    test_ok("map", carom_buffer_map(buffer, 0, BYTES, CAROM_ACCESS_READ, &at, &err), &err);
    assert_memory_equal(at, bytes, BYTES);
    test_ok("unmap", carom_buffer_unmap(buffer, &err), &err);
    test_ok("read", carom_buffer_read(buffer, 17, back, BYTES - 17, &err), &err);
    assert_memory_equal(bytes + 17, back, BYTES - 17);
    test_ok("nothing", carom_buffer_write(buffer, BYTES, NULL, 0, &err), &err);
    test_ok("nothing", carom_buffer_read(buffer, BYTES, NULL, 0, &err), &err);
}

static void test_transfers(void **state)
{
    (void)state;
    carom_context *context = test_context();
    static unsigned char memory[BYTES];
    carom_buffer *const buffers[] = {make(context, CAROM_BUFFER_HOST, BYTES, NULL),
                                     make(context, CAROM_BUFFER_HOST, BYTES, memory),
                                     make(context, CAROM_BUFFER_DEVICE, BYTES, NULL)};
    for (size_t i = 0; i < COUNT_OF(buffers); i++)
        check_transfers(buffers[i]);
    carom_buffer_destroy(buffers[1]);
    carom_buffer_destroy(buffers[2]);
    carom_buffer_destroy(buffers[0]);
    carom_context_destroy(context);
}

/* A buffer that is destroyed while it is mapped; others stay as they are. */
static void test_mapped_end(void **state)
{
    (void)state;
    carom_context *context = test_context();
    carom_buffer *buffer = make(context, CAROM_BUFFER_DEVICE, BYTES, NULL);
    void *at = NULL;
    assert_int_equal(carom_buffer_map(buffer, 0, BYTES, CAROM_ACCESS_WRITE, &at, NULL), CAROM_OK);
    memset(at, 1, BYTES);
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void test_bad_desc(void **state)
{
    (void)state;
    carom_context *context = test_context();
    unsigned char memory[SMALL];
    carom_buffer *buffer = make(context, CAROM_BUFFER_HOST, SMALL / 2, memory), *none = NULL;
    carom_error err = {0};
    const size_t size = sizeof(carom_buffer_desc);
    const struct {
        carom_buffer_desc desc;
        const char *words;
    } cases[] = {
        {{size - 1, 1, CAROM_BUFFER_HOST, NULL}, "carom_buffer_desc.size is"},
        {{size, 1, (carom_buffer_where)2, NULL}, "where is 2; it must be host (0) or device (1)"},
        {{size, 0, CAROM_BUFFER_HOST, NULL}, "bytes is 0; at least 1"},
        {{size, (UINT64_C(1) << 47) + 1, CAROM_BUFFER_HOST, NULL}, "at most 2^47"},
        {{size, 1, CAROM_BUFFER_DEVICE, memory + 50}, "host is given, but where is device (1)"},
        {{size, 8, CAROM_BUFFER_HOST, (void *)(UINTPTR_MAX - 4)}, "would wrap"},
        {{size, 8, CAROM_BUFFER_HOST, memory + SMALL / 2 - 1},
         "another buffer of this context has some of these bytes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        test_error(carom_buffer_create(context, &cases[i].desc, &none, &err), bad, &err, cases[i].words);
    test_error(carom_buffer_create(NULL, &cases[0].desc, &none, &err), bad, &err, "context must not be NULL");
    test_error(carom_buffer_create(context, NULL, &none, &err), bad, &err, "desc must not be NULL");
    test_error(carom_buffer_create(context, &cases[0].desc, NULL, &err), bad, &err, "out must not be NULL");
    assert_null(none);
    carom_buffer_info info = {.size = 1};
    test_error(carom_buffer_get_info(buffer, &info, &err), bad, &err, "carom_buffer_info.size is 1");
    test_error(carom_buffer_get_info(NULL, &info, &err), bad, &err, "buffer must not be NULL");
    test_error(carom_buffer_get_info(buffer, NULL, &err), bad, &err, "out must not be NULL");
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
}

static void test_bad_ranges(void **state)
{
    (void)state;
    carom_context *context = test_context();
    carom_buffer *b = make(context, CAROM_BUFFER_DEVICE, BYTES, NULL);
    unsigned char byte = 0;
    void *at = NULL;
    carom_error err = {0};
    const char *beyond = "offset 9999 and bytes 2 reach beyond the end of the buffer, which has 10000 bytes";
    test_error(carom_buffer_write(b, BYTES - 1, &byte, 2, &err), bad, &err, beyond);
    test_error(carom_buffer_read(b, BYTES - 1, &byte, 2, &err), bad, &err, beyond);
    test_error(carom_buffer_map(b, BYTES - 1, 2, CAROM_ACCESS_READ, &at, &err), bad, &err, beyond);
    test_error(carom_buffer_write(b, UINT64_MAX, &byte, 2, &err), bad, &err, "reach beyond the end");
    test_error(carom_buffer_write(b, 0, NULL, 1, &err), bad, &err, "data must not be NULL");
    test_error(carom_buffer_write(NULL, 0, &byte, 1, &err), bad, &err, "buffer must not be NULL");
    test_error(carom_buffer_read(NULL, 0, &byte, 1, &err), bad, &err, "buffer must not be NULL");
    test_error(carom_buffer_map(NULL, 0, 1, CAROM_ACCESS_READ, &at, &err), bad, &err, "buffer must not be NULL");
    test_error(carom_buffer_map(b, 0, 1, CAROM_ACCESS_READ, NULL, &err), bad, &err, "out must not be NULL");
    test_error(carom_buffer_map(b, 0, 0, CAROM_ACCESS_READ, &at, &err), bad, &err, "bytes is 0");
    test_error(carom_buffer_map(b, 0, 1, (carom_access)0, &at, &err), bad, &err, "access is 0");
    test_error(carom_buffer_map(b, 0, 1, (carom_access)4, &at, &err), bad, &err, "access is 4");
    test_error(carom_buffer_unmap(b, &err), bad, &err, "the buffer is not mapped");
    test_error(carom_buffer_unmap(NULL, &err), bad, &err, "buffer must not be NULL");
    assert_null(at);
    assert_int_equal(carom_buffer_map(b, 8, 16, CAROM_ACCESS_WRITE, &at, NULL), CAROM_OK);
    test_error(carom_buffer_map(b, 0, 1, CAROM_ACCESS_READ, &at, &err), bad, &err,
               "mapped already, 16 bytes from offset 8 on");
    test_error(carom_buffer_write(b, 0, &byte, 1, &err), bad, &err, "the buffer is mapped");
    test_error(carom_buffer_read(b, 0, &byte, 1, &err), bad, &err, "the buffer is mapped");
    assert_int_equal(carom_buffer_unmap(b, NULL), CAROM_OK);
    carom_buffer_destroy(b);
    carom_context_destroy(context);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Three pairs of spheres with their centres at `center` and their answers at `u`. */
static carom_status ask_at(carom_context *context, const float *center, float *u, carom_error *err)
{
    static const float point[3] = {0, 0, 0}, end[3] = {4, 0, 0}, radius = 1;
    const carom_sphere_sweep_pairs_desc desc = {.batch = {.size = sizeof desc, .count = 3},
                                                .a0 = carom_xyz(center),
                                                .a1 = carom_repeat(end),
                                                .radius_a = {&radius, CAROM_REPEAT},
                                                .b0 = carom_repeat(point),
                                                .b1 = carom_repeat(point),
                                                .radius_b = {&radius, CAROM_REPEAT}};
    const carom_sphere_sweep_result out = {.size = sizeof out, .u_first = u};
    return carom_sphere_sweep_pairs(context, &desc, &out, NULL, err);
}

static void test_arrays_in_buffers(void **state)
{
    (void)state;
    carom_context *context = test_context();
    static const float centers[9] = {-4, 0, 0, -5, 0, 0, -6, 0, 0};
    float memory[64], u[3], expected[3];
    carom_buffer *b = make(context, CAROM_BUFFER_DEVICE, BYTES, NULL);
    carom_buffer *wrapped = make(context, CAROM_BUFFER_HOST, 20 * sizeof(float), memory + 20);
    float *at = carom_buffer_address(b);
    void *mapped = NULL;
    carom_error err = {0};
    test_ok("host", ask_at(context, centers, expected, &err), &err);
    test_ok("write", carom_buffer_write(b, 100, centers, sizeof centers, &err), &err);
    test_ok("ask", ask_at(context, at + 25, at + 1000, &err), &err);
    test_ok("read", carom_buffer_read(b, 4000, u, sizeof u, &err), &err);
    assert_memory_equal(u, expected, sizeof u);
    test_error(ask_at(context, centers, at + 2498, &err), bad, &err,
               "u_first reaches beyond the end of its buffer: 12 bytes from offset 9992 on, of 10000");
    test_error(ask_at(context, memory + 36, u, &err), bad, &err, "a0.x reaches beyond the end of its buffer");
    test_error(ask_at(context, memory + 14, u, &err), bad, &err,
               "a0.x begins 24 bytes before the buffer that it ends in");
    test_ok("map", carom_buffer_map(b, 0, 4, CAROM_ACCESS_READ, &mapped, &err), &err);
    test_error(ask_at(context, at + 25, u, &err), bad, &err, "a0.x lies in a buffer that is mapped");
    test_ok("unmap", carom_buffer_unmap(b, &err), &err);
    test_ok("ask", ask_at(context, at + 25, at + 1000, &err), &err);
    carom_buffer_destroy(wrapped);
    carom_buffer_destroy(b);
    carom_context_destroy(context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static int left; /* allocations before one fails */

static void *scarce_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    return left-- > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : NULL;
}

static void scarce_free(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static void test_scarce(void **state)
{
    (void)state;
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    const carom_buffer_desc wanted = {.size = sizeof wanted, .bytes = BYTES, .where = CAROM_BUFFER_DEVICE};
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 1;
    desc.allocator = (carom_allocator){scarce_alloc, scarce_free, NULL};
    left = 100;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    left = 0;
    test_error(carom_buffer_create(context, &wanted, &buffer, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "for a buffer (");
    left = 1;
    test_error(carom_buffer_create(context, &wanted, &buffer, &err), CAROM_ERROR_OUT_OF_MEMORY, &err,
               "no memory for a buffer of 10000 bytes");
    assert_null(buffer);
    left = 2;
    test_ok("create", carom_buffer_create(context, &wanted, &buffer, &err), &err);
    assert_int_equal((uintptr_t)carom_buffer_address(buffer) % 4096, 0);
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),    cmocka_unit_test(test_transfers),  cmocka_unit_test(test_mapped_end),
        cmocka_unit_test(test_bad_desc), cmocka_unit_test(test_bad_ranges), cmocka_unit_test(test_arrays_in_buffers),
        cmocka_unit_test(test_scarce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
