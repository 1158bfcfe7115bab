/* SPDX-License-Identifier: MIT */
/* What a carom_buffer holds. Its address range is the whole interface: pointers of calls that lie in it are found by
 * comparison with the ranges of the context's buffers (staging.h). */
#ifndef CAROM_HOST_CORE_BUFFER_H
#define CAROM_HOST_CORE_BUFFER_H
#include "context.h"
#include "device.h"

struct carom_buffer {
    carom_context *context;
    caromi_task end;    /* its destruction, where it is left to the context's thread */
    carom_buffer *next; /* of the context */
    carom_buffer_where where;
    char *base;                  /* its address */
    uint64_t bytes;              /* of its range */
    void *own;                   /* host memory at the address, to be freed; NULL: the caller's, or none */
    caromi_device_memory *store; /* a discrete device's or the caller's, the range being reserved; else NULL */
    unsigned mapped;             /* carom_access, 0: not mapped */
    uint64_t map_offset, map_bytes;
};

/* A buffer around memory of a device, which it destroys in the end; not on failure. */
carom_status caromi_buffer_around(carom_context *context, caromi_device_memory *store, uint64_t bytes,
                                  carom_buffer **out, carom_error *err);
/* A buffer of the context that shares a byte with [begin, end); NULL: none. */
carom_buffer *caromi_buffer_at(const carom_context *context, const char *begin, const char *end);
/* If there is none: whether these are bytes of another context's buffer, which have no memory at their addresses. */
int caromi_is_foreign(const char *begin, const char *end);
#endif
