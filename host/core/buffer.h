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
    carom_access use;            /* what calls may do with it: read inputs, write outputs, both */
    int is_host_read_only;       /* the host must not write it; only of the caller's cl_mem */
    caromi_device_memory *store; /* memory of a discrete device or of the caller's cl_mem, with addresses that are only
                                    reserved; else NULL */
    unsigned mapped;             /* carom_access, 0: not mapped */
    uint64_t map_offset, map_bytes;
    uint64_t kept_from, kept_end; /* the part of the range that may have memory while it is closed */
    int is_recent;                /* some of it was in use since the last caromi_buffers_trim */
};

/* The most bytes that a context keeps behind the ranges of its buffers between calls. */
#define CAROMI_BUFFERS_KEPT (UINT64_C(1) << 30)

/* Makes a buffer around device memory, which it owns unless this fails. Calls may use it in any way. */
carom_status caromi_buffer_around(carom_context *context, caromi_device_memory *store, uint64_t bytes,
                                  carom_buffer **out, carom_error *err);
/* The context's buffer that shares a byte with [begin, end); NULL: none. */
carom_buffer *caromi_buffer_at(const carom_context *context, const char *begin, const char *end);
/* Closes bytes that caromi_range_open has made accessible; their memory is kept. */
void caromi_buffer_close(carom_buffer *buffer, const char *begin, const char *end);
/* Gives memory of closed bytes back until at most `most` bytes are kept: that of recently used buffers last. */
void caromi_buffers_trim(carom_context *context, uint64_t most);
/* Whether bytes that are in no buffer of the context belong to another context's buffer, without memory at their
 * addresses. */
int caromi_is_foreign(const char *begin, const char *end);
#endif
