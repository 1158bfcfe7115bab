/* SPDX-License-Identifier: MIT */
/* A part of a batch of lists on a device: what its two passes fill, and what becomes of it. mesh_list.c runs the
 * passes, mesh_list_take.c makes records into hits or contacts, mesh_any.c asks for states alone. */
#ifndef CAROM_HOST_OPENCL_MESH_LIST_H
#define CAROM_HOST_OPENCL_MESH_LIST_H

#include <stdatomic.h>

#include "device.h"
#include "host/mesh/list.h"

enum {
    CAROMI_LIST_QUERIES = 1 << 18,          /* counted in one pass, or */
    CAROMI_INLINE_QUERIES = (1 << 16) - 64, /* this many, one launch of a CPU device, with room for */
    CAROMI_INLINE_HITS = 16                 /* this many hits of each, 16 MiB in all */
};

/* A thread's memory to choose contacts: mesh_list_take.c. */
struct caromi_list_chooser;

typedef struct caromi_list_part {
    const caromi_list_batch *batch;
    uint64_t first, queries;
    uint64_t counted;     /* counted queries from `first` on; the part takes those whose hits fit */
    int32_t *hits, *from; /* [counted] number of hits, and where to write them */
    int32_t *start;       /* [counted] where the records of the query's work-item begin; -1: not all of them fit */
    int32_t *again;       /* [queries] number of hits found by the second pass */
    uint8_t *state;       /* [counted] */
    uint64_t room;        /* limit of hits; a single query may exceed it */
    uint64_t all;         /* hits of the part */
    uint64_t found;       /* those of them that the second pass writes */
    mesh_record *records; /* [found] */
    cl_mem memory;        /* device buffer of `records` */
    cl_mem inline_hits;   /* output of the first pass, CAROMI_INLINE_HITS of a query; NULL: it only counts */
    mesh_record *written; /* `inline_hits` mapped for the host */
    uint64_t gone;        /* counted queries that come before the part */
    int fill;
    atomic_int corrupt;   /* what is impossible about the results, 0: nothing */
    caromi_stage *stages; /* one per task that sorts hits */
    uint32_t stage_count;
    struct caromi_list_chooser *choosers; /* one per thread, for contacts */
    int is_stopped;                       /* another device has failed: parts are not delivered */
    const carom_context *context;
} caromi_list_part;

/* Memory of every thread to choose contacts, if the batch asks for them. */
carom_status caromi_open_choosers(caromi_device *device, caromi_list_part *part, carom_error *error);
void caromi_close_choosers(caromi_list_part *part);

/* The end of the queries of one work-item, that begin with `first`: all of them have the same `start`. */
uint64_t caromi_end_of_item(const caromi_list_part *part, uint64_t first);

/* The records of the part's queries, checked and sorted, become hits or contacts of the batch. */
carom_status caromi_take_part(const caromi_device *device, caromi_list_part *part, carom_stats *stats,
                              carom_error *error);

/* How a batch of `count` queries streams. `in`: the columns of the queries, where each one's hits go, and masks if
 * there are any. */
caromi_stream caromi_list_stream(const caromi_device *device, const caromi_list_part *part, uint64_t count,
                                 const caromi_in_column *in, const caromi_out_column *out);

/* Whether each sphere hits at all, in fast mode or where answers stay on the device: from *done on, which moves on. */
carom_status caromi_stream_any(caromi_device *device, caromi_list_part *part, uint64_t end, uint64_t *done,
                               carom_stats *stats, carom_error *error);

#endif
