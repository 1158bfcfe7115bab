/* SPDX-License-Identifier: MIT */
/* A slot of the ring buffer: the memory, queue and events of one chunk in flight. */
#ifndef CAROM_HOST_OPENCL_SLOT_H
#define CAROM_HOST_OPENCL_SLOT_H
#include <CL/cl.h>
#include <assert.h>

#include "driver.h"
#include "verbs.h"

/* Memory for one column of a chunk, kept from chunk to chunk. */
typedef struct caromi_cl_column {
    cl_mem memory; /* the buffer that kernels use */
    cl_mem pinned; /* discrete devices: page-locked staging memory, which transfers at full speed */
    void *host; /* host pointer: to `pinned`, mapped permanently, or into a block; unified devices: to `memory`, while
                   it is mapped */
    size_t capacity;
    cl_mem direct; /* for this chunk: the caller's array as a buffer, used in place of `memory`; or NULL */
    int shared;    /* `direct` belongs to an earlier column with the same array */
} caromi_cl_column;

enum {
    /* Rows to which columns of a block are padded, so that a column of words begins at a cache line of any device. */
    CAROMI_BLOCK_LINE = 32
};

/* A transfer block: columns of a chunk that cross the bus in one transfer. Their `host` points into the block's host
 * memory. block.c */
typedef struct caromi_cl_block {
    caromi_cl_column memory;
    caromi_cl_column *column[COLUMNS_MAX];
    uint8_t size[COLUMNS_MAX]; /* bytes of a row in each column */
    uint32_t count;
} caromi_cl_block;

enum { CAROMI_EVENTS_MAX = 2 * COLUMNS_MAX }; /* a map and an unmap for each column */

/* The events of a chunk's commands of one kind, for the statistics. */
typedef struct caromi_cl_events {
    cl_event event[CAROMI_EVENTS_MAX];
    uint32_t count;
} caromi_cl_events;

/* Buffers of the query sort: each query's cell and its rank in it, the histogram of cells, the sorted rows. */
enum { CAROMI_SORT_CELL, CAROMI_SORT_RANK, CAROMI_SORT_HISTOGRAM, CAROMI_SORT_ROW, CAROMI_SORT_COLUMNS };

/* Buffers of the compaction: number of records before each run, the records; and the number of records, in pinned
 * memory. */
enum {
    CAROMI_COMPACT_STARTS,
    CAROMI_COMPACT_RECORDS,
    CAROMI_COMPACT_COLUMNS,
    CAROMI_COMPACT_FOUND = CAROMI_COMPACT_COLUMNS,
    CAROMI_COMPACT_MEMORIES
};

/* A slot of the ring buffer: one chunk in flight. Each slot has an in-order queue of its own, so two slots are two
 * chunks in flight. */
typedef struct caromi_cl_slot {
    cl_command_queue queue;
    caromi_cl_column in[COLUMNS_MAX], out[COLUMNS_MAX], sort[CAROMI_SORT_COLUMNS], compact[CAROMI_COMPACT_MEMORIES];
    caromi_cl_column rows; /* the rows that exact mode leaves undecided, and elements that an index selects */
    caromi_cl_column elements;
    caromi_cl_column far;          /* entries of stacks that have no room in local memory (team.c) */
    caromi_cl_column levels;       /* crossings of columns of lattice nodes */
    caromi_cl_block sent, fetched; /* discrete devices: the transfer blocks up and down */
    caromi_cl_events upload, compute, download;
    uint64_t first, count; /* queries [first, first + count) of the batch; count 0: the slot is idle */
    uint64_t padded;       /* count, rounded up to whole groups of lanes if the kernels need that */
    int sorted;            /* the queries are sorted: the search reads CAROMI_SORT_ROW */
    int compacts;          /* records of hits are downloaded instead of columns */
    cl_uint found;         /* number of records of the compaction */
} caromi_cl_slot;

static inline cl_mem caromi_column_memory(const caromi_cl_column *column)
{
    return column->direct ? column->direct : column->memory;
}

static inline void caromi_add_event(caromi_cl_events *events, cl_event event)
{
    assert(events->count < CAROMI_EVENTS_MAX);
    if (event != NULL)
        events->event[events->count++] = event;
}

/* Ends a chunk: releases its events and the buffers over the caller's arrays; the slot's own memory stays. slot.c */
void caromi_slot_retire(caromi_cl_slot *slot);
void caromi_slot_release(const caromi_device *device, caromi_cl_slot *slot);
void caromi_column_release(const caromi_device *device, caromi_cl_slot *slot, caromi_cl_column *column);
/* Releases the events of a slot's commands alone. */
void caromi_slot_forget(caromi_cl_slot *slot);
/* Waits for the commands that a slot has events of, and adds their times to the statistics; the chunk goes on. chunk.c
 */
carom_status caromi_slot_settle(const caromi_device *device, caromi_cl_slot *slot, carom_stats *stats,
                                carom_error *err);
/* The same at the end of the chunk. */
carom_status caromi_slot_finish(const caromi_device *device, caromi_cl_slot *slot, carom_stats *stats,
                                carom_error *err);
/* Frees the columns of idle slots. */
void caromi_columns_release(caromi_device *device);
/* How the host reaches a column's memory. */
enum caromi_host_access { CAROMI_NO_HOST_POINTER, CAROMI_HOST_POINTER };
/* Allocates a column's memory in the slot, at least `bytes`. With CAROMI_HOST_POINTER also pinned host memory. */
carom_status caromi_reserve(caromi_device *device, caromi_cl_slot *slot, caromi_cl_column *column, size_t bytes,
                            enum caromi_host_access access, carom_error *err);
/* Adds a column with `size` bytes per row to a block; allocates the block's memory; enqueues the upload or the
 * download. Blocks without columns do nothing. block.c */
void caromi_block_add(caromi_cl_block *block, caromi_cl_column *column, uint8_t size);
carom_status caromi_block_place(caromi_device *device, caromi_cl_slot *slot, caromi_cl_block *block, carom_error *err);
carom_status caromi_block_send(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_block *block,
                               carom_error *err);
carom_status caromi_block_fetch(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_block *block,
                                carom_error *err);
#endif
