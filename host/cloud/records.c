/* SPDX-License-Identifier: MIT */
#include "records.h"

#include <math.h>
#include <string.h>

enum {
    BUCKETS = 1024,    /* at most so many, of 2^shift spheres each */
    SHIFT_LEAST = 8,   /* least spheres of a bucket: 2^8 */
    SLAB = 8,          /* blocks of a thread's first allocation; each further one is twice as large, ... */
    SLAB_MOST = 16384, /* up to so many blocks */
    UNSAID_MOST = 4096 /* pairs that a thread has stored before it adds them to the common count */
};

/* ---- storing ----------------------------------------------------------------------------------------------------- */

/* Allocates the threads' stores, and their arrays of pointers and counters as one block. */
static int alloc_pointers(caromi_records *r)
{
    const carom_context *context = r->cloud->context;
    const size_t bucket_pointers = (size_t)r->threads * r->bucket_count;
    const size_t bytes_each = sizeof *r->stores->next_record + sizeof *r->stores->next_certain + 2 * sizeof(uint32_t);
    r->stores = caromi_alloc(context, r->threads, sizeof *r->stores);
    r->pointers = caromi_alloc(context, bucket_pointers, bytes_each);
    if (r->stores == NULL || r->pointers == NULL)
        return 0;
    memset(r->pointers, 0, bucket_pointers * bytes_each);
    /* Four arrays in one allocation: widest elements first. */
    caromi_record **records = r->pointers;
    uint64_t **certain = (uint64_t **)(void *)(records + bucket_pointers);
    uint32_t *certain_blocks = (uint32_t *)(void *)(certain + bucket_pointers),
             *blocks = certain_blocks + bucket_pointers;
    for (uint32_t thread = 0; thread < r->threads; thread++) {
        const size_t first = (size_t)thread * r->bucket_count;
        r->stores[thread] = (caromi_record_store){.next_record = records + first,
                                                  .blocks = blocks + first,
                                                  .next_certain = certain + first,
                                                  .certain_blocks = certain_blocks + first};
    }
    return 1;
}

/* Chooses buckets of 2^shift spheres, so that there are at most BUCKETS. */
carom_status caromi_records_create(caromi_records *records, carom_error *err)
{
    records->threads = caromi_pool_threads(caromi_cloud_pool(records->cloud));
    for (records->shift = SHIFT_LEAST; records->end >> records->shift >= BUCKETS; records->shift++)
        ;
    records->bucket_count = (uint32_t)(records->end >> records->shift) + 1;
    if (alloc_pointers(records))
        return CAROM_OK;
    caromi_free(records->cloud->context, records->stores);
    caromi_free(records->cloud->context, records->pointers);
    records->stores = NULL;
    return caromi_fail_memory(err, "no memory to keep pairs of spheres");
}

/* Frees all blocks: an allocation begins with a pointer to the one before it. */
void caromi_records_free(caromi_records *records)
{
    const carom_context *context = records->cloud->context;
    if (records->stores == NULL)
        return;
    for (uint32_t thread = 0; thread < records->threads; thread++)
        for (char *slab = records->stores[thread].slab, *next; slab != NULL; slab = next) {
            memcpy(&next, slab, sizeof next);
            caromi_cached_free(context, slab);
        }
    caromi_free(context, records->pointers);
    caromi_free(context, records->stores);
    records->stores = NULL;
}

/* Takes a block from the thread's allocation, aligned to its size. */
static void *new_block(caromi_records *records, caromi_record_store *store)
{
    if (store->left == 0) {
        store->slab_blocks = store->slab_blocks == 0          ? SLAB
                             : store->slab_blocks < SLAB_MOST ? 2 * store->slab_blocks
                                                              : SLAB_MOST;
        char *slab = caromi_cached_alloc(records->cloud->context, store->slab_blocks, CAROMI_CERTAIN_BYTES);
        if (slab == NULL)
            return NULL;
        memcpy(slab, &store->slab, sizeof store->slab);
        store->slab = slab;
        store->free = slab + CAROMI_CERTAIN_BYTES - ((uintptr_t)slab & (CAROMI_CERTAIN_BYTES - 1));
        store->left = store->slab_blocks - 1;
    }
    store->left--;
    store->free += CAROMI_CERTAIN_BYTES;
    return store->free - CAROMI_CERTAIN_BYTES;
}

/* A block after one that `more` pairs have filled. The common count records->stored never exceeds the pairs stored. It
 * lags a little, as an atomic addition for each block would wait for the stores before it. */
static void *new_block_for(caromi_records *records, caromi_record_store *store, uint64_t more)
{
    store->unsaid += more;
    if (store->unsaid >= UNSAID_MOST) {
        const uint64_t stored = atomic_fetch_add(&records->stored, store->unsaid) + store->unsaid;
        store->unsaid = 0;
        if (stored > records->most) {
            atomic_store(&records->is_full, 1);
            return NULL;
        }
    }
    void *block = new_block(records, store);
    if (block == NULL)
        atomic_store(&records->is_short, 1);
    return block;
}

/* Whether further pairs are dropped. */
static int is_over(const caromi_records *records)
{
    return atomic_load_explicit(&records->is_full, memory_order_relaxed) ||
           atomic_load_explicit(&records->is_short, memory_order_relaxed);
}

/* Whether a bucket needs a new block: a pointer behind a full block is a multiple of the block's size. */
static int is_block_full(const void *next)
{
    return ((uintptr_t)next & (CAROMI_CERTAIN_BYTES - 1)) == 0; /* NULL, no block yet, counts as full */
}

/* Stores a record in the bucket of its sphere a. */
static inline void store_record(caromi_records *records, caromi_record_store *store, const caromi_record *record)
{
    const uint32_t bucket = record->a >> records->shift;
    if (is_block_full(store->next_record[bucket])) {
        caromi_record_block *block =
            new_block_for(records, store, store->next_record[bucket] ? CAROMI_RECORD_BLOCK : 0);
        if (block == NULL)
            return;
        block->next = caromi_newest_block(store->next_record[bucket]);
        store->next_record[bucket] = block->records;
        store->blocks[bucket]++;
    }
    *store->next_record[bucket]++ = *record;
}

/* Begins a new block of pairs that the filter has proven; 0: the records are full or there is no memory. */
static int begin_certain_block(caromi_records *records, caromi_record_store *store, uint32_t bucket)
{
    caromi_certain_block *block = new_block_for(records, store, store->next_certain[bucket] ? CAROMI_CERTAIN_PAIRS : 0);
    if (block == NULL)
        return 0;
    block->next = caromi_newest_block(store->next_certain[bucket]);
    store->next_certain[bucket] = block->pairs;
    store->certain_blocks[bucket]++;
    return 1;
}

/* Stores a proven pair in 8 bytes; 0: the records are full or there is no memory. */
static inline int store_certain(caromi_records *records, caromi_record_store *store, uint64_t **certain, uint32_t shift,
                                uint32_t a, uint32_t b)
{
    const uint32_t bucket = a >> shift;
    if (is_block_full(certain[bucket]) && !begin_certain_block(records, store, bucket))
        return 0;
    uint64_t *next = certain[bucket];
    *next = (uint64_t)a << 32 | b;
    certain[bucket] = next + 1;
    return 1;
}

/* Whether pairs of sphere a are stored. */
static int is_wanted(const caromi_records *records, uint32_t a)
{
    return a >= records->begin && a < records->end;
}

static void add(caromi_records *records, uint32_t thread, const caromi_record *record)
{
    if (is_wanted(records, record->a))
        store_record(records, &records->stores[thread], record);
}

/* The scan's callback for hits: stores each pair under sphere a and, in a full list, under sphere b too. */
void caromi_records_add(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    caromi_records *records = user;
    const uint32_t *index = records->cells->index;
    if (is_over(records))
        return;
    for (uint32_t i = 0; i < count; i++) {
        const caromi_cloud_pair *pair = &pairs[i];
        const uint8_t state = pair->state == STATE_NEAR ? CAROM_MISS : pair->state;
        caromi_record record = {index[pair->a], index[pair->b], pair->state == STATE_NEAR ? INFINITY : pair->t, state,
                                pair->image};
        add(records, thread, &record);
        if (records->full) { /* the pair is listed once more under sphere b, with the opposite image */
            record.a = index[pair->b];
            record.b = index[pair->a];
            record.image = (uint8_t)(CAROMI_IMAGES - 1 - pair->image);
            add(records, thread, &record);
        }
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}
static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Proven pairs with a periodic image, stored as whole records. */
static void add_images(caromi_records *records, uint32_t thread, const caromi_cloud_pairs *pairs, int image,
                       uint8_t state)
{
    for (uint32_t i = 0; i < pairs->count; i++) {
        caromi_record record = {.a = pairs->b[i], .b = pairs->a[i], .image = (uint8_t)image};
        record.t = state == STATE_NEAR ? INFINITY : 0;
        record.state = state == STATE_NEAR ? CAROM_MISS : state;
        if (record.a < record.b || records->full)
            add(records, thread, &record);
        record = (caromi_record){record.b, record.a, record.t, record.state, (uint8_t)(CAROMI_IMAGES - 1 - image)};
        if (record.a < record.b || records->full)
            add(records, thread, &record);
    }
}

/* Stores proven pairs under their lower index and, in a full list, under the higher one too. is_whole: all spheres are
 * wanted. Both are constants in the usual calls, so that the loop over many pairs is short. */
static inline __attribute__((always_inline)) void store_pairs(caromi_records *records, caromi_record_store *store,
                                                              const caromi_cloud_pairs *pairs, uint32_t mark, int full,
                                                              int is_whole)
{
    uint64_t **const certain = store->next_certain;
    const uint32_t shift = records->shift, count = pairs->count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = least(pairs->a[i], pairs->b[i]), b = most(pairs->a[i], pairs->b[i]);
        if ((is_whole || is_wanted(records, a)) && !store_certain(records, store, certain, shift, a, b | mark))
            return;
        if (full && (is_whole || is_wanted(records, b)) && !store_certain(records, store, certain, shift, b, a | mark))
            return;
    }
}

/* The scan's callback for proven pairs: stores each in 8 bytes, unless it has a periodic image. */
void caromi_records_add_certain(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, int image, uint8_t state)
{
    caromi_records *records = user;
    const uint32_t mark = state == STATE_NEAR ? CAROMI_RECORD_IN_MARGIN : 0;
    const int wants_all = records->begin == 0 && records->end == caromi_cloud_asked(records->cloud);
    if (is_over(records))
        return;
    if (image != CAROMI_IMAGE_OWN) {
        add_images(records, thread, pairs, image, state);
        return;
    }
    caromi_record_store *store = &records->stores[thread];
    if (wants_all && !records->full)
        store_pairs(records, store, pairs, mark, 0, 1);
    else if (wants_all)
        store_pairs(records, store, pairs, mark, 1, 1);
    else
        store_pairs(records, store, pairs, mark, records->full, 0);
}

void caromi_records_add_own(caromi_records *records, uint32_t thread, uint32_t index, uint8_t state)
{
    caromi_record_store *store = &records->stores[thread];
    if (!is_wanted(records, index) || is_over(records))
        return;
    if (state == CAROM_OVERLAPPING)
        (void)store_certain(records, store, store->next_certain, records->shift, index, index);
    else
        store_record(records, store, &(caromi_record){index, index, 0, state, CAROMI_IMAGE_OWN});
}

/* Counts the full blocks of a bucket, and what is in its newest block. */
uint64_t caromi_records_in_bucket(const caromi_record_store *store, uint32_t bucket)
{
    caromi_record *record = store->next_record[bucket];
    uint64_t *certain = store->next_certain[bucket], count = 0;
    if (record != NULL) {
        const caromi_record_block *newest = caromi_newest_block(record);
        count = (uint64_t)(store->blocks[bucket] - 1) * CAROMI_RECORD_BLOCK + (uint64_t)(record - newest->records);
    }
    if (certain != NULL) {
        const caromi_certain_block *newest = caromi_newest_block(certain);
        count +=
            (uint64_t)(store->certain_blocks[bucket] - 1) * CAROMI_CERTAIN_PAIRS + (uint64_t)(certain - newest->pairs);
    }
    return count;
}

uint64_t caromi_records_count(const caromi_records *records)
{
    uint64_t count = 0;
    for (uint32_t thread = 0; thread < records->threads; thread++)
        for (uint32_t bucket = 0; bucket < records->bucket_count; bucket++)
            count += caromi_records_in_bucket(&records->stores[thread], bucket);
    return count;
}
