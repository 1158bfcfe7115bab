/* SPDX-License-Identifier: MIT */
/* Creates, reads, writes and maps buffers. A buffer is plain memory at its address, unless it is on a discrete device
 * or wraps the caller's cl_mem. */
#include "buffer.h"

#include <string.h>

#include "arrays.h"
#include "choice.h"
#include "devices.h"
#include "range.h"

enum { ALIGNMENT = 4096 }; /* a device that shares the host's memory uses whole pages in place */

carom_buffer *caromi_buffer_at(const carom_context *context, const char *begin, const char *end)
{
    for (carom_buffer *b = context->buffers; b != NULL; b = b->next)
        if (begin < b->base + b->bytes && b->base < end)
            return b;
    return NULL;
}

int caromi_is_foreign(const char *begin, const char *end)
{
    return caromi_has_ranges() && caromi_range_meets((uintptr_t)begin, (uintptr_t)end);
}

/* ---- memory behind reserved addresses ---------------------------------------------------------------------------- */

void caromi_buffer_close(carom_buffer *b, const char *begin, const char *end)
{
    const uint64_t from = (uint64_t)(begin - b->base), to = (uint64_t)(end - b->base);
    const int is_first = b->kept_from == b->kept_end;
    caromi_range_close(begin, end);
    b->kept_from = is_first || from < b->kept_from ? from : b->kept_from;
    b->kept_end = is_first || to > b->kept_end ? to : b->kept_end;
    b->is_recent = 1;
}

static void give_back(carom_buffer *b)
{
    caromi_range_empty(b->base + b->kept_from, b->base + b->kept_end);
    b->kept_from = b->kept_end = 0;
}

void caromi_buffers_trim(carom_context *c, uint64_t most)
{
    uint64_t kept = 0;
    for (const carom_buffer *b = c->buffers; b != NULL; b = b->next)
        kept += b->kept_end - b->kept_from;
    for (int recent = 0; recent <= 1; recent++)
        for (carom_buffer *b = c->buffers; b != NULL && kept > most; b = b->next)
            if (b->kept_end > b->kept_from && b->is_recent == recent && b->mapped == 0) {
                kept -= b->kept_end - b->kept_from;
                give_back(b);
            }
    for (carom_buffer *b = c->buffers; b != NULL; b = b->next)
        b->is_recent = 0;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static carom_status check_host(const carom_context *context, const carom_buffer_desc *d, carom_error *err)
{
    if (d->host == NULL)
        return CAROM_OK;
    if (d->where != CAROM_BUFFER_HOST)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "host is given, but where is device (1); only a host buffer wraps the caller's memory");
    if ((uintptr_t)d->host > INTPTR_MAX - d->bytes)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "host: %llu bytes from address %p on would wrap",
                           (unsigned long long)d->bytes, d->host);
    const char *begin = d->host, *end = begin + d->bytes;
    if (caromi_buffer_at(context, begin, end) != NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "host: another buffer of this context has some of these bytes");
    return !caromi_is_foreign(begin, end)
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                             "host: a buffer on the device of another context has some of these bytes");
}

static carom_status check_create(const carom_context *context, const carom_buffer_desc *d, carom_buffer *const *out,
                                 carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(d, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(d->size, sizeof *d, "carom_buffer_desc", err));
    if (d->where != CAROM_BUFFER_HOST && d->where != CAROM_BUFFER_DEVICE)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "where is %d; it must be host (0) or device (1)",
                           (int)d->where);
    if (d->bytes == 0 || d->bytes > CAROMI_ADDRESS_SPACE)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "bytes is %llu; at least 1, at most 2^%d",
                           (unsigned long long)d->bytes, (int)CAROMI_ADDRESS_BITS);
    return check_host(context, d, err);
}

static carom_status make_on_host(carom_buffer *b, carom_error *err)
{
    b->base = b->own = caromi_alloc_aligned(b->context, b->bytes, ALIGNMENT);
    return b->own != NULL ? CAROM_OK
                          : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a buffer of %llu bytes",
                                        (unsigned long long)b->bytes);
}

static carom_status reserve(carom_buffer *b, carom_error *err)
{
    CHECK(caromi_staging_prepare(b->context, err));
    b->base = caromi_range_reserve(b->bytes);
    return b->base != NULL ? CAROM_OK
                           : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no addresses for a buffer of %llu bytes",
                                         (unsigned long long)b->bytes);
}

static carom_status make_on_device(carom_buffer *b, caromi_device *device, carom_error *err)
{
    CHECK(reserve(b, err));
    const carom_status status = caromi_driver.memory_create(device, b->bytes, &b->store, err);
    if (status == CAROM_OK)
        return CAROM_OK;
    caromi_range_release(b->base, b->bytes);
    b->base = NULL;
    return status;
}

/* Allocates where the caller wants. With `auto`, a device without enough memory counts as no device: calls have the
 * same answers, and carom_buffer_get_info reports it. */
static carom_status allocate_where_wanted(carom_buffer *b, carom_error *err)
{
    caromi_device *device = NULL;
    carom_error why = {CAROM_OK, 0, ""};
    if (b->where == CAROM_BUFFER_DEVICE)
        CHECK(caromi_pick_memory(b->context, &device, err));
    if (caromi_has_several(b->context)) /* each device would need a part of every batch's arrays */
        device = NULL;
    b->where = device != NULL ? CAROM_BUFFER_DEVICE : CAROM_BUFFER_HOST;
    if (device == NULL || caromi_driver.is_unified(device))
        return make_on_host(b, err);
    const carom_status status = make_on_device(b, device, &why);
    if (status == CAROM_OK)
        return CAROM_OK;
    if (b->context->desc.backend == CAROM_BACKEND_OPENCL)
        return caromi_fail(err, status, why.native_code, "%s", why.message);
    caromi_log(b->context, CAROM_LOG_WARNING, "a buffer of %llu bytes lies in the host's memory: %s",
               (unsigned long long)b->bytes, why.message);
    b->where = CAROM_BUFFER_HOST;
    return make_on_host(b, err);
}

/* Makes a buffer without memory. */
static carom_status make(carom_context *context, carom_buffer_where where, uint64_t bytes, carom_buffer **out,
                         carom_error *err)
{
    carom_buffer *b = caromi_alloc(context, 1, sizeof *b);
    if (b == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a buffer (%zu bytes)", sizeof *b);
    memset(b, 0, sizeof *b);
    b->context = context;
    b->where = where;
    b->bytes = bytes;
    b->use = CAROM_ACCESS_READ_WRITE;
    *out = b;
    return CAROM_OK;
}

/* Ends the making of a buffer: adds it to the context's list or, on failure, frees it. */
static carom_status enlist(carom_buffer *b, carom_status status, carom_buffer **out)
{
    carom_context *context = b->context;
    if (status != CAROM_OK) {
        caromi_free(context, b);
        return status;
    }
    b->next = context->buffers;
    context->buffers = b;
    atomic_fetch_add(&context->references, 1);
    *out = b;
    return CAROM_OK;
}

static carom_status create(carom_context *context, const carom_buffer_desc *d, carom_buffer **out, carom_error *err)
{
    CHECK(check_create(context, d, out, err));
    carom_buffer *b;
    CHECK(make(context, d->where, d->bytes, &b, err));
    b->base = d->host;
    return enlist(b, d->host != NULL ? CAROM_OK : allocate_where_wanted(b, err), out);
}

carom_status caromi_buffer_around(carom_context *context, caromi_device_memory *store, uint64_t bytes,
                                  carom_buffer **out, carom_error *err)
{
    carom_buffer *b;
    CHECK(make(context, CAROM_BUFFER_DEVICE, bytes, &b, err));
    b->store = store;
    return enlist(b, reserve(b, err), out);
}

carom_status carom_buffer_create(carom_context *context, const carom_buffer_desc *desc, carom_buffer **out,
                                 carom_error *err)
{
    IN_TURN(context, create(context, desc, out, err));
}

static void destroy(carom_buffer *b)
{
    carom_context *context = b->context;
    carom_buffer **link = &context->buffers;
    while (*link != b)
        link = &(*link)->next;
    *link = b->next;
    if (b->store != NULL) {
        caromi_driver.memory_destroy(b->store);
        caromi_range_release(b->base, b->bytes);
    }
    caromi_free(context, b->own);
    caromi_free(context, b);
    caromi_context_release(context);
}

static void end_buffer(caromi_task *end)
{
    destroy((carom_buffer *)(void *)((char *)end - offsetof(carom_buffer, end)));
}

void carom_buffer_destroy(carom_buffer *buffer)
{
    if (buffer == NULL)
        return;
    const caromi_float_mode mode = caromi_float_mode_set();
    buffer->end.run = end_buffer;
    if (!caromi_leave_to_jobs(buffer->context, &buffer->end))
        destroy(buffer);
    caromi_float_mode_restore(mode);
}

void *carom_buffer_address(const carom_buffer *buffer)
{
    return buffer != NULL ? buffer->base : NULL;
}

carom_status carom_buffer_get_info(const carom_buffer *buffer, carom_buffer_info *out, carom_error *err)
{
    CHECK_NOT_NULL(buffer, "buffer", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_buffer_info", err));
    *out = (carom_buffer_info){.size = sizeof *out,
                               .bytes = buffer->bytes,
                               .where = buffer->where,
                               .reachable = buffer->store == NULL,
                               .mapped = buffer->mapped != 0};
    return CAROM_OK;
}

/* ---- read and write ---------------------------------------------------------------------------------------------- */

static carom_context *context_of(const carom_buffer *b)
{
    return b != NULL ? b->context : NULL;
}

static carom_status check_range(const carom_buffer *b, uint64_t offset, uint64_t bytes, carom_error *err)
{
    return offset <= b->bytes && bytes <= b->bytes - offset
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                             "offset %llu and bytes %llu reach beyond the end of the buffer, which has %llu bytes",
                             (unsigned long long)offset, (unsigned long long)bytes, (unsigned long long)b->bytes);
}

static carom_status check_transfer(const carom_buffer *b, uint64_t offset, const char *data, uint64_t bytes,
                                   carom_error *err)
{
    CHECK_NOT_NULL(b, "buffer", err);
    CHECK(check_range(b, offset, bytes, err));
    if (bytes == 0)
        return CAROM_OK;
    CHECK_NOT_NULL(data, "data", err);
    if (b->mapped != 0)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "the buffer is mapped; it must be unmapped before it is read or written");
    const carom_buffer *other = caromi_buffer_at(b->context, data, data + bytes);
    if (other == NULL && caromi_is_foreign(data, data + bytes))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "data lies in a buffer of another context; it must be the program's own memory");
    return other == NULL || other->store == NULL
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                             "data lies in a buffer on the device; it must be the program's own memory");
}

static carom_status check_writable(const carom_buffer *b, carom_error *err)
{
    return !b->is_host_read_only
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                             "the buffer's memory was made with CL_MEM_HOST_READ_ONLY; the host cannot write it");
}

static carom_status write_bytes(carom_buffer *b, uint64_t offset, const void *data, uint64_t bytes, carom_error *err)
{
    CHECK(check_transfer(b, offset, data, bytes, err));
    CHECK(check_writable(b, err));
    if (bytes == 0)
        return CAROM_OK;
    if (b->store != NULL)
        return caromi_driver.memory_write(b->store, offset, data, bytes, err);
    memmove(b->base + offset, data, (size_t)bytes);
    return CAROM_OK;
}

carom_status carom_buffer_write(carom_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes,
                                carom_error *err)
{
    IN_CALL(context_of(buffer), err, write_bytes(buffer, offset, data, bytes, err));
}

static carom_status read_bytes(const carom_buffer *b, uint64_t offset, void *data, uint64_t bytes, carom_error *err)
{
    CHECK(check_transfer(b, offset, data, bytes, err));
    if (bytes == 0)
        return CAROM_OK;
    if (b->store != NULL)
        return caromi_driver.memory_read(b->store, offset, data, bytes, err);
    memmove(data, b->base + offset, (size_t)bytes);
    return CAROM_OK;
}

carom_status carom_buffer_read(const carom_buffer *buffer, uint64_t offset, void *data, uint64_t bytes,
                               carom_error *err)
{
    IN_CALL(context_of(buffer), err, read_bytes(buffer, offset, data, bytes, err));
}

/* ---- map and unmap ----------------------------------------------------------------------------------------------- */

static carom_status check_map(const carom_buffer *b, uint64_t offset, uint64_t bytes, carom_access access,
                              void *const *out, carom_error *err)
{
    CHECK_NOT_NULL(b, "buffer", err);
    CHECK_NOT_NULL(out, "out", err);
    if (access != CAROM_ACCESS_READ && access != CAROM_ACCESS_WRITE && access != CAROM_ACCESS_READ_WRITE)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "access is %d; it must be read (1), write (2) or both (3)", (int)access);
    if (access != CAROM_ACCESS_READ)
        CHECK(check_writable(b, err));
    CHECK(check_range(b, offset, bytes, err));
    if (bytes == 0)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "bytes is 0; a map has at least 1");
    return b->mapped == 0 ? CAROM_OK
                          : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                                        "the buffer is mapped already, %llu bytes from offset %llu on",
                                        (unsigned long long)b->map_bytes, (unsigned long long)b->map_offset);
}

static carom_status show_map(carom_buffer *b, uint64_t offset, uint64_t bytes, carom_access access, carom_error *err)
{
    char *begin = b->base + offset, *end = begin + bytes;
    if (caromi_driver.is_inherited())
        return caromi_driver.fail_inherited(err);
    if (!caromi_range_open(begin, end))
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to map %llu bytes", (unsigned long long)bytes);
    const carom_status status = ((unsigned)access & CAROM_ACCESS_READ) != 0
                                    ? caromi_driver.memory_read(b->store, offset, begin, bytes, err)
                                    : CAROM_OK;
    if (status != CAROM_OK)
        caromi_buffer_close(b, begin, end);
    return status;
}

static carom_status map(carom_buffer *b, uint64_t offset, uint64_t bytes, carom_access access, void **out,
                        carom_error *err)
{
    CHECK(check_map(b, offset, bytes, access, out, err));
    if (b->store != NULL)
        CHECK(show_map(b, offset, bytes, access, err));
    b->mapped = (unsigned)access;
    b->map_offset = offset;
    b->map_bytes = bytes;
    *out = b->base + offset;
    return CAROM_OK;
}

carom_status carom_buffer_map(carom_buffer *buffer, uint64_t offset, uint64_t bytes, carom_access access, void **out,
                              carom_error *err)
{
    IN_CALL(context_of(buffer), err, map(buffer, offset, bytes, access, out, err));
}

static carom_status unmap(carom_buffer *b, carom_error *err)
{
    CHECK_NOT_NULL(b, "buffer", err);
    if (b->mapped == 0)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "the buffer is not mapped");
    const char *begin = b->base + b->map_offset;
    const int written = (b->mapped & CAROM_ACCESS_WRITE) != 0;
    b->mapped = 0;
    if (b->store == NULL)
        return CAROM_OK;
    const carom_status status =
        written ? caromi_driver.memory_write(b->store, b->map_offset, begin, b->map_bytes, err) : CAROM_OK;
    caromi_buffer_close(b, begin, begin + b->map_bytes);
    caromi_buffers_trim(b->context, CAROMI_BUFFERS_KEPT);
    return status;
}

carom_status carom_buffer_unmap(carom_buffer *buffer, carom_error *err)
{
    IN_CALL(context_of(buffer), err, unmap(buffer, err));
}
