/* SPDX-License-Identifier: MIT */
/* The pairs of a scan: stored by the threads in any order, then written in the order of a list. */
#ifndef CAROM_HOST_CLOUD_RECORDS_H
#define CAROM_HOST_CLOUD_RECORDS_H
#include "cloud.h"

/* A record of the list: a pair, listed under sphere a. */
typedef struct caromi_record {
    uint32_t a, b; /* indices */
    float t;
    uint8_t state, image; /* state: CAROM_MISS if within the margin alone; image: periodic image of b */
} caromi_record;

enum { CAROMI_RECORD_BLOCK = 63 };
typedef struct caromi_record_block {
    struct caromi_record_block *next, *unused; /* `unused`: pads a block to 1024 bytes */
    caromi_record records[CAROMI_RECORD_BLOCK];
} caromi_record_block;

/* A pair that the filter has decided is stored in 8 bytes: a in the high half, b in the low half. The bit
 * CAROMI_RECORD_IN_MARGIN of b marks a pair that is within the margin alone. A block's address is a multiple of its
 * size. */
enum { CAROMI_CERTAIN_BYTES = 1024, CAROMI_CERTAIN_PAIRS = CAROMI_CERTAIN_BYTES / 8 - 1 };
#define CAROMI_RECORD_IN_MARGIN UINT32_C(0x80000000)
typedef struct caromi_certain_block {
    struct caromi_certain_block *next;
    uint64_t pairs[CAROMI_CERTAIN_PAIRS];
} caromi_certain_block;

/* The newest block of a bucket, from the pointer to its next free element. A full block's pointer is just behind it. */
static inline void *caromi_newest_block(void *next)
{
    return next ? (char *)next - 1 - ((uintptr_t)((char *)next - 1) & (CAROMI_CERTAIN_BYTES - 1)) : NULL;
}

/* The pairs that one thread has stored, in buckets of 2^shift spheres a. */
typedef struct caromi_record_store {
    caromi_record **next_record; /* [buckets] where the next record goes, in the bucket's newest block or just behind
                                it; NULL: no block */
    uint32_t *blocks;            /* [buckets] number of blocks; all but the newest are full */
    uint64_t **next_certain;     /* the same for pairs that the filter has proven */
    uint32_t *certain_blocks;
    char *free;                 /* next free block of the newest allocation */
    char *slab;                 /* list of all allocations, linked by their first bytes */
    uint32_t left, slab_blocks; /* free blocks and all blocks of the newest allocation */
    uint64_t unsaid;            /* pairs in full blocks that are not yet added to records->stored */
} caromi_record_store;

typedef struct caromi_records {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells; /* of the current slice */
    uint64_t begin, end;             /* only pairs whose sphere a is in [begin, end) are stored */
    uint64_t most;                   /* about the most records that are stored */
    int full;                        /* whether a pair is listed under both of its spheres */
    uint32_t shift, bucket_count, threads;
    caromi_record_store *stores; /* [threads] */
    void *pointers;              /* one allocation with the arrays of all stores */
    _Atomic uint64_t stored;     /* pairs in full blocks, except for each store's `unsaid` */
    _Atomic int is_full;         /* more than `most` records: the scan's further pairs are dropped */
    _Atomic int is_short;        /* out of memory */
} caromi_records;

carom_status caromi_records_create(caromi_records *r, carom_error *err);
void caromi_records_free(caromi_records *r);
caromi_cloud_emit_fn caromi_records_add; /* user: the records */
caromi_cloud_emit_certain_fn caromi_records_add_certain;

/* Adds the pair of a sphere with itself, in contact at time 0. */
void caromi_records_add_own(caromi_records *records, uint32_t thread, uint32_t index, uint8_t state);

/* The number of records in a thread's bucket, and in all buckets of all threads. */
uint64_t caromi_records_in_bucket(const caromi_record_store *store, uint32_t bucket);
uint64_t caromi_records_count(const caromi_records *r);

/* The output columns of a list, each NULL if not wanted; record 0 is the first of sphere r->begin. */
typedef struct caromi_record_columns {
    uint64_t *offsets; /* [spheres + 1] or NULL; set for spheres [r->begin, r->end] */
    int32_t *a, *b;
    uint8_t *state;
    float *t;
    int8_t *shift;
    uint32_t less_b; /* is subtracted from each b: the indices of a second cloud begin at 0 */
} caromi_record_columns;
/* Writes all records to the columns, in the order of the list. scatter.c. */
carom_status caromi_records_scatter(caromi_records *r, const caromi_record_columns *to, carom_error *err);
#endif
