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
    for (carom_buffer *buffer = context->buffers; buffer != NULL; buffer = buffer->next)
        if (begin < buffer->base + buffer->bytes && buffer->base < end)
            return buffer;
    return NULL;
}

int caromi_is_foreign(const char *begin, const char *end)
{
    return caromi_has_ranges() && caromi_range_meets((uintptr_t)begin, (uintptr_t)end);
}

/* ---- memory behind reserved addresses ---------------------------------------------------------------------------- */

void caromi_buffer_close(carom_buffer *buffer, const char *begin, const char *end)
{
    const uint64_t from = (uint64_t)(begin - buffer->base), to = (uint64_t)(end - buffer->base);
    const int is_first = buffer->kept_from == buffer->kept_end;
    caromi_range_close(begin, end);
    buffer->kept_from = is_first || from < buffer->kept_from ? from : buffer->kept_from;
    buffer->kept_end = is_first || to > buffer->kept_end ? to : buffer->kept_end;
    buffer->is_recent = 1;
}

static void give_back(carom_buffer *buffer)
{
    caromi_range_empty(buffer->base + buffer->kept_from, buffer->base + buffer->kept_end);
    buffer->kept_from = buffer->kept_end = 0;
}

void caromi_buffers_trim(carom_context *context, uint64_t most)
{
    uint64_t kept = 0;
    for (const carom_buffer *buffer = context->buffers; buffer != NULL; buffer = buffer->next)
        kept += buffer->kept_end - buffer->kept_from;
    for (int recent = 0; recent <= 1; recent++)
        for (carom_buffer *buffer = context->buffers; buffer != NULL && kept > most; buffer = buffer->next)
            if (buffer->kept_end > buffer->kept_from && buffer->is_recent == recent && buffer->mapped == 0) {
                kept -= buffer->kept_end - buffer->kept_from;
                give_back(buffer);
            }
    for (carom_buffer *buffer = context->buffers; buffer != NULL; buffer = buffer->next)
        buffer->is_recent = 0;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static carom_status check_host(const carom_context *context, const carom_buffer_desc *desc, carom_error *err)
{
    if (desc->host == NULL)
        return CAROM_OK;
    if (desc->where != CAROM_BUFFER_HOST)
        return caromi_fail_argument(
            err, "host is given, but where is device (1); only a host buffer wraps the caller's memory");
    if ((uintptr_t)desc->host > INTPTR_MAX - desc->bytes)
        return caromi_fail_argument(err, "host: %llu bytes from address %p on would wrap",
                                    (unsigned long long)desc->bytes, desc->host);
    const char *begin = desc->host, *end = begin + desc->bytes;
    if (caromi_buffer_at(context, begin, end) != NULL)
        return caromi_fail_argument(err, "host: another buffer of this context has some of these bytes");
    return !caromi_is_foreign(begin, end)
               ? CAROM_OK
               : caromi_fail_argument(err, "host: a buffer on the device of another context has some of these bytes");
}

static carom_status check_create(const carom_context *context, const carom_buffer_desc *desc, carom_buffer *const *out,
                                 carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(desc->size, sizeof *desc, "carom_buffer_desc", err));
    if (desc->where != CAROM_BUFFER_HOST && desc->where != CAROM_BUFFER_DEVICE)
        return caromi_fail_argument(err, "where is %d; it must be host (0) or device (1)", (int)desc->where);
    if (desc->bytes == 0 || desc->bytes > CAROMI_ADDRESS_SPACE)
        return caromi_fail_argument(err, "bytes is %llu; at least 1, at most 2^%d", (unsigned long long)desc->bytes,
                                    (int)CAROMI_ADDRESS_BITS);
    return check_host(context, desc, err);
}

static carom_status make_on_host(carom_buffer *buffer, carom_error *err)
{
    buffer->base = buffer->own = caromi_alloc_aligned(buffer->context, buffer->bytes, ALIGNMENT);
    return buffer->own != NULL
               ? CAROM_OK
               : caromi_fail_memory(err, "no memory for a buffer of %llu bytes", (unsigned long long)buffer->bytes);
}

static carom_status reserve(carom_buffer *buffer, carom_error *err)
{
    CHECK(caromi_staging_prepare(buffer->context, err));
    buffer->base = caromi_range_reserve(buffer->bytes);
    return buffer->base != NULL
               ? CAROM_OK
               : caromi_fail_memory(err, "no addresses for a buffer of %llu bytes", (unsigned long long)buffer->bytes);
}

static carom_status make_on_device(carom_buffer *buffer, caromi_device *device, carom_error *err)
{
    CHECK(reserve(buffer, err));
    const carom_status status = caromi_driver.memory_create(device, buffer->bytes, &buffer->store, err);
    if (status == CAROM_OK)
        return CAROM_OK;
    caromi_range_release(buffer->base, buffer->bytes);
    buffer->base = NULL;
    return status;
}

/* Allocates where the caller wants. With `auto`, a device without enough memory counts as no device: calls have the
 * same answers, and carom_buffer_get_info reports it. */
static carom_status allocate_where_wanted(carom_buffer *buffer, carom_error *err)
{
    caromi_device *device = NULL;
    carom_error why = {CAROM_OK, 0, ""};
    if (buffer->where == CAROM_BUFFER_DEVICE)
        CHECK(caromi_pick_memory(buffer->context, &device, err));
    if (caromi_has_several(buffer->context)) /* each device would need a part of every batch's arrays */
        device = NULL;
    buffer->where = device != NULL ? CAROM_BUFFER_DEVICE : CAROM_BUFFER_HOST;
    if (device == NULL || caromi_driver.is_unified(device))
        return make_on_host(buffer, err);
    const carom_status status = make_on_device(buffer, device, &why);
    if (status == CAROM_OK)
        return CAROM_OK;
    if (buffer->context->desc.backend == CAROM_BACKEND_OPENCL)
        return caromi_fail(err, status, why.native_code, "%s", why.message);
    caromi_log(buffer->context, CAROM_LOG_WARNING, "a buffer of %llu bytes lies in the host's memory: %s",
               (unsigned long long)buffer->bytes, why.message);
    buffer->where = CAROM_BUFFER_HOST;
    return make_on_host(buffer, err);
}

/* Makes a buffer without memory. */
static carom_status make(carom_context *context, carom_buffer_where where, uint64_t bytes, carom_buffer **out,
                         carom_error *err)
{
    carom_buffer *buffer = caromi_alloc(context, 1, sizeof *buffer);
    if (buffer == NULL)
        return caromi_fail_memory(err, "no memory for a buffer (%zu bytes)", sizeof *buffer);
    memset(buffer, 0, sizeof *buffer);
    buffer->context = context;
    buffer->where = where;
    buffer->bytes = bytes;
    buffer->use = CAROM_ACCESS_READ_WRITE;
    *out = buffer;
    return CAROM_OK;
}

/* Ends the making of a buffer: adds it to the context's list or, on failure, frees it. */
static carom_status enlist(carom_buffer *buffer, carom_status status, carom_buffer **out)
{
    carom_context *context = buffer->context;
    if (status != CAROM_OK) {
        caromi_free(context, buffer);
        return status;
    }
    buffer->next = context->buffers;
    context->buffers = buffer;
    atomic_fetch_add(&context->references, 1);
    *out = buffer;
    return CAROM_OK;
}

static carom_status create(carom_context *context, const carom_buffer_desc *desc, carom_buffer **out, carom_error *err)
{
    CHECK(check_create(context, desc, out, err));
    carom_buffer *buffer = NULL;
    CHECK(make(context, desc->where, desc->bytes, &buffer, err));
    buffer->base = desc->host;
    return enlist(buffer, desc->host != NULL ? CAROM_OK : allocate_where_wanted(buffer, err), out);
}

carom_status caromi_buffer_around(carom_context *context, caromi_device_memory *store, uint64_t bytes,
                                  carom_buffer **out, carom_error *err)
{
    carom_buffer *buffer = NULL;
    CHECK(make(context, CAROM_BUFFER_DEVICE, bytes, &buffer, err));
    buffer->store = store;
    return enlist(buffer, reserve(buffer, err), out);
}

carom_status carom_buffer_create(carom_context *context, const carom_buffer_desc *desc, carom_buffer **out,
                                 carom_error *err)
{
    IN_TURN(context, create(context, desc, out, err));
}

static void destroy(carom_buffer *buffer)
{
    carom_context *context = buffer->context;
    carom_buffer **link = &context->buffers;
    while (*link != buffer)
        link = &(*link)->next;
    *link = buffer->next;
    if (buffer->store != NULL) {
        caromi_driver.memory_destroy(buffer->store);
        caromi_range_release(buffer->base, buffer->bytes);
    }
    caromi_free(context, buffer->own);
    caromi_free(context, buffer);
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

static carom_context *context_of(const carom_buffer *buffer)
{
    return buffer != NULL ? buffer->context : NULL;
}

static carom_status check_range(const carom_buffer *buffer, uint64_t offset, uint64_t bytes, carom_error *err)
{
    return offset <= buffer->bytes && bytes <= buffer->bytes - offset
               ? CAROM_OK
               : caromi_fail_argument(
                     err, "offset %llu and bytes %llu reach beyond the end of the buffer, which has %llu bytes",
                     (unsigned long long)offset, (unsigned long long)bytes, (unsigned long long)buffer->bytes);
}

static carom_status check_transfer(const carom_buffer *buffer, uint64_t offset, const char *data, uint64_t bytes,
                                   carom_error *err)
{
    CHECK_NOT_NULL(buffer, "buffer", err);
    CHECK(check_range(buffer, offset, bytes, err));
    if (bytes == 0)
        return CAROM_OK;
    CHECK_NOT_NULL(data, "data", err);
    if (buffer->mapped != 0)
        return caromi_fail_argument(err, "the buffer is mapped; it must be unmapped before it is read or written");
    const carom_buffer *other = caromi_buffer_at(buffer->context, data, data + bytes);
    if (other == NULL && caromi_is_foreign(data, data + bytes))
        return caromi_fail_argument(err,
                                    "data lies in a buffer of another context; it must be the program's own memory");
    return other == NULL || other->store == NULL
               ? CAROM_OK
               : caromi_fail_argument(err, "data lies in a buffer on the device; it must be the program's own memory");
}

static carom_status check_writable(const carom_buffer *buffer, carom_error *err)
{
    return !buffer->is_host_read_only
               ? CAROM_OK
               : caromi_fail_argument(
                     err, "the buffer's memory was made with CL_MEM_HOST_READ_ONLY; the host cannot write it");
}

static carom_status write_bytes(carom_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes,
                                carom_error *err)
{
    CHECK(check_transfer(buffer, offset, data, bytes, err));
    CHECK(check_writable(buffer, err));
    if (bytes == 0)
        return CAROM_OK;
    if (buffer->store != NULL)
        return caromi_driver.memory_write(buffer->store, offset, data, bytes, err);
    memmove(buffer->base + offset, data, (size_t)bytes);
    return CAROM_OK;
}

carom_status carom_buffer_write(carom_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes,
                                carom_error *err)
{
    IN_CALL(context_of(buffer), err, write_bytes(buffer, offset, data, bytes, err));
}

static carom_status read_bytes(const carom_buffer *buffer, uint64_t offset, void *data, uint64_t bytes,
                               carom_error *err)
{
    CHECK(check_transfer(buffer, offset, data, bytes, err));
    if (bytes == 0)
        return CAROM_OK;
    if (buffer->store != NULL)
        return caromi_driver.memory_read(buffer->store, offset, data, bytes, err);
    memmove(data, buffer->base + offset, (size_t)bytes);
    return CAROM_OK;
}

carom_status carom_buffer_read(const carom_buffer *buffer, uint64_t offset, void *data, uint64_t bytes,
                               carom_error *err)
{
    IN_CALL(context_of(buffer), err, read_bytes(buffer, offset, data, bytes, err));
}

/* ---- map and unmap ----------------------------------------------------------------------------------------------- */

static carom_status check_map(const carom_buffer *buffer, uint64_t offset, uint64_t bytes, carom_access access,
                              void *const *out, carom_error *err)
{
    CHECK_NOT_NULL(buffer, "buffer", err);
    CHECK_NOT_NULL(out, "out", err);
    if (access != CAROM_ACCESS_READ && access != CAROM_ACCESS_WRITE && access != CAROM_ACCESS_READ_WRITE)
        return caromi_fail_argument(err, "access is %d; it must be read (1), write (2) or both (3)", (int)access);
    if (access != CAROM_ACCESS_READ)
        CHECK(check_writable(buffer, err));
    CHECK(check_range(buffer, offset, bytes, err));
    if (bytes == 0)
        return caromi_fail_argument(err, "bytes is 0; a map has at least 1");
    return buffer->mapped == 0
               ? CAROM_OK
               : caromi_fail_argument(err, "the buffer is mapped already, %llu bytes from offset %llu on",
                                      (unsigned long long)buffer->map_bytes, (unsigned long long)buffer->map_offset);
}

static carom_status show_map(carom_buffer *buffer, uint64_t offset, uint64_t bytes, carom_access access,
                             carom_error *err)
{
    char *begin = buffer->base + offset, *end = begin + bytes;
    if (caromi_driver.is_inherited())
        return caromi_driver.fail_inherited(err);
    if (!caromi_range_open(begin, end))
        return caromi_fail_memory(err, "no memory to map %llu bytes", (unsigned long long)bytes);
    const carom_status status = ((unsigned)access & CAROM_ACCESS_READ) != 0
                                    ? caromi_driver.memory_read(buffer->store, offset, begin, bytes, err)
                                    : CAROM_OK;
    if (status != CAROM_OK)
        caromi_buffer_close(buffer, begin, end);
    return status;
}

static carom_status map(carom_buffer *buffer, uint64_t offset, uint64_t bytes, carom_access access, void **out,
                        carom_error *err)
{
    CHECK(check_map(buffer, offset, bytes, access, out, err));
    if (buffer->store != NULL)
        CHECK(show_map(buffer, offset, bytes, access, err));
    buffer->mapped = (unsigned)access;
    buffer->map_offset = offset;
    buffer->map_bytes = bytes;
    *out = buffer->base + offset;
    return CAROM_OK;
}

carom_status carom_buffer_map(carom_buffer *buffer, uint64_t offset, uint64_t bytes, carom_access access, void **out,
                              carom_error *err)
{
    IN_CALL(context_of(buffer), err, map(buffer, offset, bytes, access, out, err));
}

static carom_status unmap(carom_buffer *buffer, carom_error *err)
{
    CHECK_NOT_NULL(buffer, "buffer", err);
    if (buffer->mapped == 0)
        return caromi_fail_argument(err, "the buffer is not mapped");
    const char *begin = buffer->base + buffer->map_offset;
    const int written = (buffer->mapped & CAROM_ACCESS_WRITE) != 0;
    buffer->mapped = 0;
    if (buffer->store == NULL)
        return CAROM_OK;
    const carom_status status =
        written ? caromi_driver.memory_write(buffer->store, buffer->map_offset, begin, buffer->map_bytes, err)
                : CAROM_OK;
    caromi_buffer_close(buffer, begin, begin + buffer->map_bytes);
    caromi_buffers_trim(buffer->context, CAROMI_BUFFERS_KEPT);
    return status;
}

carom_status carom_buffer_unmap(carom_buffer *buffer, carom_error *err)
{
    IN_CALL(context_of(buffer), err, unmap(buffer, err));
}
