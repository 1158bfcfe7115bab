/* SPDX-License-Identifier: MIT */
/* Pairs of a scan, kept by any thread in any order, and brought into the order of a list. */
#ifndef CAROM_HOST_CLOUD_RECORDS_H
#define CAROM_HOST_CLOUD_RECORDS_H
#include "cloud.h"

/* A pair under sphere a. */
typedef struct caromi_record {
    uint32_t a, b; /* indices */
    float t;
    uint8_t state, image; /* CAROM_MISS: within the margin; the image of b */
} caromi_record;

enum { CAROMI_RECORD_BLOCK = 63 };
typedef struct caromi_record_block {
    struct caromi_record_block *next, *unused; /* so that a block is 1024 bytes */
    caromi_record records[CAROMI_RECORD_BLOCK];
} caromi_record_block;

/* Of a pair that the scan is sure of only a and b are kept, a in the high half; CAROMI_RECORD_NEAR of b: it is within
 * the margin alone. A block begins at a multiple of its size. */
enum { CAROMI_SURE_BYTES = 1024, CAROMI_SURE_PAIRS = CAROMI_SURE_BYTES / 8 - 1 };
#define CAROMI_RECORD_NEAR UINT32_C(0x80000000)
typedef struct caromi_sure_block {
    struct caromi_sure_block *next;
    uint64_t pairs[CAROMI_SURE_PAIRS];
} caromi_sure_block;

/* The newest block of a bucket, which its next record or sure pair goes into or behind. */
static inline void *caromi_newest_block(void *next)
{
    return next ? (char *)next - 1 - ((uintptr_t)((char *)next - 1) & (CAROMI_SURE_BYTES - 1)) : NULL;
}

/* What one thread has kept, by buckets of a: 2^shift spheres each. */
typedef struct caromi_record_keeper {
    caromi_record **records; /* where a bucket's next record goes: into its newest block, or behind it; or NULL */
    uint32_t *blocks;        /* how many blocks a bucket has; all but the newest are full */
    uint64_t **sure;         /* the same of sure pairs */
    uint32_t *sure_blocks;
    char *free, *slab; /* blocks that are left of the newest slab; slabs, linked by their first bytes */
    uint32_t left, slab_blocks;
    uint64_t unsaid; /* pairs in full blocks that records->kept has not got yet */
} caromi_record_keeper;

typedef struct caromi_records {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells; /* of the slice in work */
    uint64_t begin, end;             /* spheres a that are wanted */
    uint64_t most;                   /* records that are kept at most, about */
    int full;                        /* a pair is kept under both spheres */
    uint32_t shift, bucket_count, threads;
    caromi_record_keeper *keepers; /* one per thread */
    void *pointers;                /* theirs to blocks */
    _Atomic uint64_t kept;         /* pairs in full blocks, but for a few */
    _Atomic int is_full;           /* there are more records than `most` */
    _Atomic int is_short;          /* of memory */
} caromi_records;

carom_status caromi_records_create(caromi_records *r, carom_error *err);
void caromi_records_free(caromi_records *r);
caromi_cloud_take_fn caromi_records_take; /* user: the records */
caromi_cloud_take_sure_fn caromi_records_take_sure;

/* How many a thread has kept of a bucket; how many are kept. */
uint64_t caromi_records_in_bucket(const caromi_record_keeper *keeper, uint32_t bucket);
uint64_t caromi_records_count(const caromi_records *r);

/* Where a list's columns go; record 0 is the first of sphere r->begin. */
typedef struct caromi_record_columns {
    uint64_t *offsets; /* [spheres + 1] or NULL; set for spheres [r->begin, r->end) */
    int32_t *a, *b;
    uint8_t *state;
    float *t;
    int8_t *shift;
} caromi_record_columns;
/* Writes them in order. */
carom_status caromi_records_deliver(caromi_records *r, const caromi_record_columns *to, carom_error *err);
#endif
