/* SPDX-License-Identifier: MIT */
/* A part of a list batch on a device. mesh_list.c runs its two passes, mesh_list_add.c turns the records into hits or
 * contacts, mesh_any.c answers any-hit queries by the search's states. */
#ifndef CAROM_HOST_OPENCL_MESH_LIST_H
#define CAROM_HOST_OPENCL_MESH_LIST_H

#include <stdatomic.h>

#include "device.h"
#include "host/mesh/list.h"

enum {
    CAROMI_LIST_QUERIES = 1 << 18,          /* most queries of a counting pass */
    CAROMI_INLINE_QUERIES = (1 << 16) - 64, /* the same if the first pass writes hits: one launch of a CPU device */
    CAROMI_INLINE_HITS = 16                 /* hits per query that the first pass has space for, 16 MiB in all */
};

/* A thread's memory for choosing contacts. mesh_list_add.c */
struct caromi_list_chooser;

/* A part of a list on a device. */
typedef struct caromi_list_part {
    const caromi_list_batch *batch;
    uint64_t first, queries; /* the part is queries [first, first + queries) of the batch */
    uint64_t counted;        /* queries from `first` on whose hits are counted; the part is the ones whose hits fit */
    int32_t *hits, *from;    /* [counted] number of hits, position of the first in `records`; -1: not written */
    int32_t *start;    /* [counted] position of the work-item's first record in `written`; -1: its hits did not fit */
    int32_t *again;    /* [queries] number of hits by the second pass */
    uint8_t *state;    /* [counted] the search's state of each query */
    uint64_t capacity; /* most hits of the part; a single query may exceed it */
    uint64_t all;      /* hits of the part */
    uint64_t found;    /* hits that the second pass writes */
    mesh_record *records; /* [found] */
    cl_mem memory;        /* device buffer of `records` */
    cl_mem inline_hits;   /* hits of the first pass, CAROMI_INLINE_HITS per query; NULL: it only counts */
    mesh_record *written; /* `inline_hits` mapped for the host */
    uint64_t gone;        /* counted queries of earlier parts: offset of the part in the arrays of the counting pass */
    int fill;
    atomic_int corrupt;   /* the kind of impossible result (enum list_fault); 0: none */
    caromi_stage *stages; /* [stage_count] one for each task that sorts hits */
    uint32_t stage_count;
    struct caromi_list_chooser *choosers; /* [threads], for contacts */
    int is_stopped;                       /* another device has failed: parts are not delivered */
    const carom_context *context;
} caromi_list_part;

/* Allocates the choosers, if the batch is of contacts. */
carom_status caromi_open_choosers(caromi_device *device, caromi_list_part *part, carom_error *error);
void caromi_close_choosers(caromi_list_part *part);

/* The end of the queries of the work-item that begins with query `first`: they have the same `start`. */
uint64_t caromi_end_of_item(const caromi_list_part *part, uint64_t first);

/* Checks and sorts the records of the part's queries, and adds them to the batch as hits or contacts. */
carom_status caromi_add_part(const caromi_device *device, caromi_list_part *part, carom_stats *stats,
                             carom_error *error);

/* A pass of the search for any number of triangles. `records` has room for `found` records. */
enum { CAROMI_COUNTS = 0, CAROMI_FILLS = -1 };
typedef struct caromi_list_pass {
    cl_mem records;
    cl_uint found;
    cl_int each; /* CAROMI_COUNTS; CAROMI_FILLS: the records of each query from its own slot on; else so many records of
                    each query, of a work-item side by side */
    uint32_t mask;             /* the slot's column of masks */
    cl_mem from;               /* each query's first slot; -1: it is not filled */
    cl_mem hits, state, start; /* results: number of hits, state, and where a work-item's records begin */
} caromi_list_pass;
carom_status caromi_launch_pass(caromi_device *device, caromi_cl_slot *slot, const caromi_list_batch *batch,
                                const caromi_list_pass *pass, carom_error *err);

/* Describes `count` queries as a stream. in: the queries' columns, the position of each query's hits, and masks if
 * there are any. */
caromi_stream caromi_list_stream(const caromi_device *device, const caromi_list_part *part, uint64_t count,
                                 const caromi_in_column *in, const caromi_out_column *out);

/* Answers any-hit queries [*done, end) in fast mode, or with answers that stay on the device; advances *done. */
carom_status caromi_stream_any(caromi_device *device, caromi_list_part *part, uint64_t end, uint64_t *done,
                               carom_stats *stats, carom_error *error);

/* Lists whose arrays stay on the device (mesh_rows.c): the host learns some numbers of each chunk. */
carom_status caromi_stream_rows(caromi_device *device, const caromi_list_batch *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *error);
carom_status caromi_probe_rows(caromi_device *device, const caromi_list_batch *batch, carom_error *error);
/* Builds the programs of mesh_rows.c. */
carom_status caromi_build_rows(caromi_device *device, carom_error *error);

#endif
