/* SPDX-License-Identifier: MIT */
/* Arrays of a call in buffers of a discrete device. A *staging copy* is the part of such a buffer that a call reads or
 * writes, copied to host memory at the buffer's own addresses while the call runs: so all code can use the array's
 * pointer. The check of arrays (CAROMI_CHECK_ARRAYS) begins the copies of a call, and CAROMI_CALL (call.h) ends them.
 */
#ifndef CAROM_HOST_CORE_STAGING_H
#define CAROM_HOST_CORE_STAGING_H
#include "calls/type.h"
#include "context.h"
#include "range.h"

/* Which elements of an output a call has written in the end. It depends on the extent:
 * CAROMI_PER_RECORD: the first *end; CAROMI_PER_OFFSET: from `begin` on, to that of the last answered query, or to *end
 * if this is higher; CAROMI_SINGLE: all or none; else those of the answered queries or nodes. */
typedef struct caromi_written {
    caromi_extent_kind extent;
    uint64_t begin;
    const uint64_t *end;
} caromi_written;

typedef struct caromi_staging_copy {
    carom_buffer *buffer;
    char *begin, *end;
    int is_output;
    int is_on_host; /* the copy is in host memory */
    int is_read;    /* and has the buffer's bytes */
    uint64_t count; /* of elements of `size` bytes, `stride` bytes apart */
    size_t stride, size;
    caromi_written written; /* of an output: as above */
    uint64_t answered;      /* elements of a list that a device has written, and that do not go back */
} caromi_staging_copy;

/* Flags of a call, about arrays on a device: a device can use them in place; the call prepares and brings none to the
 * host. */
enum { CAROMI_STAYS = 1, CAROMI_PREPARES = 2 };
/* Finds the buffers of a call's arrays, which are checked and named, and begins their staging copies. can_stay: flags
 * from above. Arrays that stay on a device are brought to the host when the call needs them, all others at once. */
struct caromi_arrays;
carom_status caromi_staging_begin(carom_context *context, const struct caromi_arrays *arrays, int can_stay,
                                  carom_error *err);
/* The device buffer of an array, as long as the call's arrays stay on the device; else NULL. */
const carom_buffer *caromi_resident_buffer(const carom_context *context, const void *base);
/* A call has answered so many of its queries, or nodes, counted from its first one. The end of its staging copies uses
 * that where the call is cancelled, and for the offsets of a list. */
static inline void caromi_staging_note_answers(carom_context *context, uint64_t answered)
{
    context->staging_answered = answered;
}
/* Adds memory on a device in which a call works, in so many buffers at most: device code finds it by its addresses, as
 * it finds the arrays that stay. It is no array of the caller's, and must be taken away before any array is brought to
 * the host. held: what caromi_staging_held was before. */
enum { CAROMI_STAGING_WORK = 24 };
void caromi_staging_add_work(carom_context *context, carom_buffer *buffer);
void caromi_staging_drop_work(carom_context *context, uint32_t held);
/* Ends all staging copies. If `status` means that there are answers, those are written back, and no other bytes. Adds
 * the traffic to the caller's statistics, if these are not NULL. */
carom_status caromi_staging_end(carom_context *context, carom_status status, carom_stats *stats, carom_error *err);
/* Allocates a context's list of staging copies, with its first buffer that may need it. */
carom_status caromi_staging_prepare(carom_context *context, carom_error *err);

static inline int caromi_has_buffers(const carom_context *context)
{
    return context != NULL && context->buffers != NULL;
}

static inline uint32_t caromi_staging_held(const carom_context *context)
{
    return context != NULL ? context->staging_count : 0;
}

/* Whether some of the call's arrays are still only on a device. */
static inline int caromi_has_residents(const carom_context *context)
{
    return caromi_staging_held(context) > 0 && !context->staging_is_on_host;
}

/* Brings all arrays of the call to the host, unless they are there. Without buffers this is one comparison. Outputs are
 * not read, as the call is to write them.
 * answered: the first answers that a device has written already, which do not go back; or CAROMI_SOME, if devices may
 * have written any of them: then outputs are read. */
#define CAROMI_SOME UINT64_MAX
carom_status caromi_staging_bring(carom_context *context, uint64_t answered, carom_error *err);
static inline carom_status caromi_staging_show_after(carom_context *context, uint64_t answered, carom_error *err)
{
    return caromi_has_residents(context) ? caromi_staging_bring(context, answered, err) : CAROM_OK;
}
static inline carom_status caromi_staging_show(carom_context *context, carom_error *err)
{
    return caromi_staging_show_after(context, 0, err);
}
/* Brings array `base` to the host, while others stay: an input that the device reads too, or an output of one element
 * that the host writes alone. NULL and arrays in host memory are ignored. */
carom_status caromi_staging_bring_array(carom_context *context, const void *base, carom_error *err);
static inline carom_status caromi_staging_show_array(carom_context *context, const void *base, carom_error *err)
{
    return caromi_has_residents(context) ? caromi_staging_bring_array(context, base, err) : CAROM_OK;
}
/* The same for an index. A device cannot use an index in host memory: then all arrays are brought. */
carom_status caromi_staging_bring_index(carom_context *context, const void *base, carom_error *err);
static inline carom_status caromi_staging_show_index(carom_context *context, const void *base, carom_error *err)
{
    return caromi_has_residents(context) ? caromi_staging_bring_index(context, base, err) : CAROM_OK;
}
#endif
