/* SPDX-License-Identifier: MIT */
#include "records.h"

#include <math.h>
#include <string.h>

enum {
    BUCKETS = 1024,
    SHIFT_LEAST = 8,
    SLAB = 8,
    SLAB_MOST = 16384,
    UNSAID_MOST = 4096
}; /* SLAB: blocks of a thread's first allocation; each further one is twice as large, up to SLAB_MOST. UNSAID_MOST:
      pairs that a thread keeps before it adds them to the common count */

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

/* Allocates the keepers, and their arrays of pointers and counters as one block. */
static int alloc_pointers(caromi_records *r)
{
    const carom_context *c = r->cloud->context;
    const size_t all = (size_t)r->threads * r->bucket_count;
    const size_t each = sizeof *r->stores->next_record + sizeof *r->stores->next_certain + 2 * sizeof(uint32_t);
    r->stores = caromi_alloc(c, r->threads, sizeof *r->stores);
    r->pointers = caromi_alloc(c, all, each);
    if (r->stores == NULL || r->pointers == NULL)
        return 0;
    memset(r->pointers, 0, all * each);
    caromi_record **records = r->pointers;
    uint64_t **certain = (uint64_t **)(void *)(records + all);
    uint32_t *certain_blocks = (uint32_t *)(void *)(certain + all), *blocks = certain_blocks + all;
    for (uint32_t t = 0; t < r->threads; t++) {
        const size_t first = (size_t)t * r->bucket_count;
        r->stores[t] = (caromi_record_store){.next_record = records + first,
                                             .blocks = blocks + first,
                                             .next_certain = certain + first,
                                             .certain_blocks = certain_blocks + first};
    }
    return 1;
}

carom_status caromi_records_create(caromi_records *r, carom_error *err)
{
    r->threads = caromi_pool_threads(caromi_cloud_pool(r->cloud));
    for (r->shift = SHIFT_LEAST; r->end >> r->shift >= BUCKETS; r->shift++)
        ;
    r->bucket_count = (uint32_t)(r->end >> r->shift) + 1;
    if (alloc_pointers(r))
        return CAROM_OK;
    caromi_free(r->cloud->context, r->stores);
    caromi_free(r->cloud->context, r->pointers);
    r->stores = NULL;
    return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to keep pairs of spheres");
}

void caromi_records_free(caromi_records *r)
{
    const carom_context *c = r->cloud->context;
    if (r->stores == NULL)
        return;
    for (uint32_t t = 0; t < r->threads; t++)
        for (char *slab = r->stores[t].slab, *next; slab != NULL; slab = next) {
            memcpy(&next, slab, sizeof next);
            caromi_cached_free(c, slab);
        }
    caromi_free(c, r->pointers);
    caromi_free(c, r->stores);
    r->stores = NULL;
}

/* Takes a block from the thread's allocation, aligned to its size. */
static void *new_block(caromi_records *r, caromi_record_store *k)
{
    if (k->left == 0) {
        k->slab_blocks = k->slab_blocks == 0 ? SLAB : k->slab_blocks < SLAB_MOST ? 2 * k->slab_blocks : SLAB_MOST;
        char *slab = caromi_cached_alloc(r->cloud->context, k->slab_blocks, CAROMI_CERTAIN_BYTES);
        if (slab == NULL)
            return NULL;
        memcpy(slab, &k->slab, sizeof k->slab);
        k->slab = slab;
        k->free = slab + CAROMI_CERTAIN_BYTES - ((uintptr_t)slab & (CAROMI_CERTAIN_BYTES - 1));
        k->left = k->slab_blocks - 1;
    }
    k->left--;
    k->free += CAROMI_CERTAIN_BYTES;
    return k->free - CAROMI_CERTAIN_BYTES;
}

/* A block after one that `more` pairs have filled. The common count r->stored never exceeds the pairs stored. It lags a
 * little, as an atomic addition for each block would wait for the stores before it. */
static void *new_block_for(caromi_records *r, caromi_record_store *k, uint64_t more)
{
    k->unsaid += more;
    if (k->unsaid >= UNSAID_MOST) {
        const uint64_t stored = atomic_fetch_add(&r->stored, k->unsaid) + k->unsaid;
        k->unsaid = 0;
        if (stored > r->most) {
            atomic_store(&r->is_full, 1);
            return NULL;
        }
    }
    void *block = new_block(r, k);
    if (block == NULL)
        atomic_store(&r->is_short, 1);
    return block;
}

static int is_over(const caromi_records *r)
{
    return atomic_load_explicit(&r->is_full, memory_order_relaxed) ||
           atomic_load_explicit(&r->is_short, memory_order_relaxed);
}

static int is_block_full(const void *next)
{
    return ((uintptr_t)next & (CAROMI_CERTAIN_BYTES - 1)) == 0; /* NULL, no block yet, counts as full */
}

/* Stores a record in the bucket of its sphere a. */
static inline void store(caromi_records *r, caromi_record_store *k, const caromi_record *record)
{
    const uint32_t bucket = record->a >> r->shift;
    if (is_block_full(k->next_record[bucket])) {
        caromi_record_block *block = new_block_for(r, k, k->next_record[bucket] ? CAROMI_RECORD_BLOCK : 0);
        if (block == NULL)
            return;
        block->next = caromi_newest_block(k->next_record[bucket]);
        k->next_record[bucket] = block->records;
        k->blocks[bucket]++;
    }
    *k->next_record[bucket]++ = *record;
}

/* Begins a new block of pairs that the filter has proven; 0: the records are full or there is no memory. */
static int begin_certain_block(caromi_records *r, caromi_record_store *k, uint32_t bucket)
{
    caromi_certain_block *block = new_block_for(r, k, k->next_certain[bucket] ? CAROMI_CERTAIN_PAIRS : 0);
    if (block == NULL)
        return 0;
    block->next = caromi_newest_block(k->next_certain[bucket]);
    k->next_certain[bucket] = block->pairs;
    k->certain_blocks[bucket]++;
    return 1;
}

/* Stores a proven pair in 8 bytes; 0: the records are full or there is no memory. */
static inline int store_certain(caromi_records *r, caromi_record_store *k, uint64_t **certain, uint32_t shift,
                                uint32_t a, uint32_t b)
{
    const uint32_t bucket = a >> shift;
    if (is_block_full(certain[bucket]) && !begin_certain_block(r, k, bucket))
        return 0;
    uint64_t *next = certain[bucket];
    *next = (uint64_t)a << 32 | b;
    certain[bucket] = next + 1;
    return 1;
}

static int is_wanted(const caromi_records *r, uint32_t a)
{
    return a >= r->begin && a < r->end;
}

static void add(caromi_records *r, uint32_t thread, const caromi_record *record)
{
    if (is_wanted(r, record->a))
        store(r, &r->stores[thread], record);
}

void caromi_records_add(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    caromi_records *r = user;
    const uint32_t *index = r->cells->index;
    if (is_over(r))
        return;
    for (uint32_t i = 0; i < count; i++) {
        const caromi_cloud_pair *p = &pairs[i];
        const uint8_t state = p->state == STATE_NEAR ? CAROM_MISS : p->state;
        caromi_record record = {index[p->a], index[p->b], p->state == STATE_NEAR ? INFINITY : p->t, state, p->image};
        add(r, thread, &record);
        if (r->full) {
            record.a = index[p->b];
            record.b = index[p->a];
            record.image = (uint8_t)(CAROMI_IMAGES - 1 - p->image);
            add(r, thread, &record);
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
static void add_images(caromi_records *r, uint32_t thread, const caromi_cloud_pairs *pairs, int image, uint8_t state)
{
    for (uint32_t i = 0; i < pairs->count; i++) {
        caromi_record record = {.a = pairs->b[i], .b = pairs->a[i], .image = (uint8_t)image};
        record.t = state == STATE_NEAR ? INFINITY : 0;
        record.state = state == STATE_NEAR ? CAROM_MISS : state;
        if (record.a < record.b || r->full)
            add(r, thread, &record);
        record = (caromi_record){record.b, record.a, record.t, record.state, (uint8_t)(CAROMI_IMAGES - 1 - image)};
        if (record.a < record.b || r->full)
            add(r, thread, &record);
    }
}

void caromi_records_add_certain(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, int image, uint8_t state)
{
    caromi_records *r = user;
    const uint32_t mark = state == STATE_NEAR ? CAROMI_RECORD_IN_MARGIN : 0;
    const int wants_all = r->begin == 0 && r->end == r->cloud->count;
    if (is_over(r))
        return;
    if (image != CAROMI_IMAGE_OWN) {
        add_images(r, thread, pairs, image, state);
        return;
    }
    caromi_record_store *k = &r->stores[thread];
    uint64_t **const certain = k->next_certain;
    const uint32_t shift = r->shift;
    const int full = r->full;
    for (uint32_t i = 0; i < pairs->count; i++) {
        const uint32_t a = least(pairs->a[i], pairs->b[i]), b = most(pairs->a[i], pairs->b[i]);
        if ((wants_all || is_wanted(r, a)) && !store_certain(r, k, certain, shift, a, b | mark))
            return;
        if (full && (wants_all || is_wanted(r, b)) && !store_certain(r, k, certain, shift, b, a | mark))
            return;
    }
}

uint64_t caromi_records_in_bucket(const caromi_record_store *k, uint32_t bucket)
{
    caromi_record *record = k->next_record[bucket];
    uint64_t *certain = k->next_certain[bucket], count = 0;
    if (record != NULL) {
        const caromi_record_block *newest = caromi_newest_block(record);
        count = (uint64_t)(k->blocks[bucket] - 1) * CAROMI_RECORD_BLOCK + (uint64_t)(record - newest->records);
    }
    if (certain != NULL) {
        const caromi_certain_block *newest = caromi_newest_block(certain);
        count += (uint64_t)(k->certain_blocks[bucket] - 1) * CAROMI_CERTAIN_PAIRS + (uint64_t)(certain - newest->pairs);
    }
    return count;
}

uint64_t caromi_records_count(const caromi_records *r)
{
    uint64_t count = 0;
    for (uint32_t t = 0; t < r->threads; t++)
        for (uint32_t bucket = 0; bucket < r->bucket_count; bucket++)
            count += caromi_records_in_bucket(&r->stores[t], bucket);
    return count;
}
