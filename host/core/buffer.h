/* SPDX-License-Identifier: MIT */
/* The members of a carom_buffer. Callers use it through its addresses alone: a call's pointers into buffers are found
 * by comparison with the address ranges of the context's buffers (staging.h). */
#ifndef CAROM_HOST_CORE_BUFFER_H
#define CAROM_HOST_CORE_BUFFER_H
#include "context.h"
#include "device.h"

struct carom_buffer {
    carom_context *context;
    caromi_task end;    /* its destruction, if that is left to the context's thread */
    carom_buffer *next; /* list of the context's buffers */
    carom_buffer_where where;
    char *base;                  /* first address */
    uint64_t bytes;              /* size of the address range */
    void *own;                   /* host memory at `base`, to be freed; NULL: it is the caller's, or there is none */
    caromi_device_memory *store; /* memory of a discrete device or of the caller's cl_mem, with addresses that are only
                                    reserved; else NULL */
    unsigned mapped;             /* carom_access, 0: not mapped */
    uint64_t map_offset, map_bytes;
};

/* Makes a buffer around device memory, which it owns unless this fails. */
carom_status caromi_buffer_around(carom_context *context, caromi_device_memory *store, uint64_t bytes,
                                  carom_buffer **out, carom_error *err);
/* The context's buffer that shares a byte with [begin, end); NULL: none. */
carom_buffer *caromi_buffer_at(const carom_context *context, const char *begin, const char *end);
/* Whether bytes that are in no buffer of the context belong to another context's buffer, without memory at their
 * addresses. */
int caromi_is_foreign(const char *begin, const char *end);
#endif
