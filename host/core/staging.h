/* SPDX-License-Identifier: MIT */
/* Arrays of a call that lie in buffers of a discrete device. A *staging copy* is the part of such a buffer that a call
 * reads or writes, brought to the host at its own address while the call lasts: whatever needs the array finds it
 * there. The check of arrays (CAROMI_CHECK_ARRAYS) begins the copies of a call, and CAROMI_CALL (call.h) ends them. */
#ifndef CAROM_HOST_CORE_STAGING_H
#define CAROM_HOST_CORE_STAGING_H
#include "context.h"
#include "range.h"

typedef struct caromi_staging_copy {
    carom_buffer *buffer;
    char *begin, *end;
    int is_output;
    int is_on_host; /* the host can reach it */
    /* Of the records of a list: how many there are in the end, and their layout. NULL: no list */
    const uint64_t *stored;
    size_t stride, size;
    int is_packed; /* nothing lies between the records, so none of these bytes is brought */
} caromi_staging_copy;

/* What a call does with arrays on a device: a device can use them there; the call prepares, and brings none. */
enum { CAROMI_STAYS = 1, CAROMI_PREPARES = 2 };
/* Checks where the arrays of a call, which have been checked and are named, lie in buffers; begins their staging
 * copies.
 * can_stay: of the above. The call shows those that stay when it must; the others are shown at once. */
struct caromi_arrays;
carom_status caromi_staging_begin(carom_context *context, const struct caromi_arrays *arrays, int can_stay,
                                  carom_error *err);
/* The buffer on the device that holds an array of the call, as long as the call's arrays stay there; else NULL. */
const carom_buffer *caromi_resident_buffer(const carom_context *context, const void *base);
/* Ends all staging copies. If `status` says that there are answers, outputs are written back, of a list
 * the records that are stored. Adds to the caller's statistics (NULL: none) what the copies took. */
carom_status caromi_staging_end(carom_context *context, carom_status status, carom_stats *stats, carom_error *err);
/* Memory of a context for the staging copies of a call, made with its first buffer that may have some. */
carom_status caromi_staging_prepare(carom_context *context, carom_error *err);

static inline int caromi_has_buffers(const carom_context *context)
{
    return context != NULL && context->buffers != NULL;
}

static inline uint32_t caromi_staging_held(const carom_context *context)
{
    return context != NULL ? context->staging_count : 0;
}

/* Whether the call has arrays that stay on a device as yet. */
static inline int caromi_has_residents(const carom_context *context)
{
    return caromi_staging_held(context) > 0 && !context->staging_is_on_host;
}

/* Bring all arrays of the call to the host, unless they are there. A call without buffers pays a comparison. */
carom_status caromi_staging_bring(carom_context *context, carom_error *err);
static inline carom_status caromi_staging_show(carom_context *context, carom_error *err)
{
    return caromi_has_residents(context) ? caromi_staging_bring(context, err) : CAROM_OK;
}
/* The call is about to read array `base`, which the device reads too: brings that one. NULL and other arrays are fine.
 */
carom_status caromi_staging_bring_input(carom_context *context, const void *base, carom_error *err);
static inline carom_status caromi_staging_show_input(carom_context *context, const void *base, carom_error *err)
{
    return caromi_has_residents(context) ? caromi_staging_bring_input(context, base, err) : CAROM_OK;
}
/* The same of an index. The device cannot use one that lies in the program's memory: then all arrays are brought. */
carom_status caromi_staging_bring_index(carom_context *context, const void *base, carom_error *err);
static inline carom_status caromi_staging_show_index(carom_context *context, const void *base, carom_error *err)
{
    return caromi_has_residents(context) ? caromi_staging_bring_index(context, base, err) : CAROM_OK;
}
#endif
