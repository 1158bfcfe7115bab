/* SPDX-License-Identifier: MIT */
#include "records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 1024,
    SHIFT_LEAST = 8,
    BLOCK = 63,
    SLAB = 8,
    SLAB_MOST = 4096,
    UNSAID_MOST = 4096,
    FEW = 24
}; /* slabs grow by doubling */

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

/* What each keeper points to: one array of each kind for all. */
static int alloc_pointers(caromi_records *r)
{
    const carom_context *c = r->cloud->context;
    const size_t all = (size_t)r->threads * r->bucket_count;
    const size_t each = sizeof *r->keepers->buckets + sizeof *r->keepers->sure + 2 * sizeof(uint32_t);
    r->keepers = caromi_alloc(c, r->threads, sizeof *r->keepers);
    r->pointers = caromi_alloc(c, all, each);
    if (r->keepers == NULL || r->pointers == NULL)
        return 0;
    memset(r->pointers, 0, all * each);
    caromi_record_block **buckets = r->pointers;
    uint64_t **sure = (uint64_t **)(void *)(buckets + all);
    uint32_t *sure_blocks = (uint32_t *)(void *)(sure + all), *blocks = sure_blocks + all;
    for (uint32_t t = 0; t < r->threads; t++) {
        const size_t first = (size_t)t * r->bucket_count;
        r->keepers[t] = (caromi_record_keeper){.buckets = buckets + first,
                                               .blocks = blocks + first,
                                               .sure = sure + first,
                                               .sure_blocks = sure_blocks + first};
    }
    return 1;
}

carom_status caromi_records_create(caromi_records *r, carom_error *err)
{
    r->threads = caromi_pool_threads(r->cloud->context->pool);
    for (r->shift = SHIFT_LEAST; r->end >> r->shift >= BUCKETS; r->shift++)
        ;
    r->bucket_count = (uint32_t)(r->end >> r->shift) + 1;
    if (alloc_pointers(r))
        return CAROM_OK;
    caromi_free(r->cloud->context, r->keepers);
    caromi_free(r->cloud->context, r->pointers);
    r->keepers = NULL;
    return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to keep pairs of spheres");
}

void caromi_records_free(caromi_records *r)
{
    const carom_context *c = r->cloud->context;
    if (r->keepers == NULL)
        return;
    for (uint32_t t = 0; t < r->threads; t++)
        for (char *slab = r->keepers[t].slab, *next; slab != NULL; slab = next) {
            memcpy(&next, slab, sizeof next);
            caromi_kept_free(c, slab);
        }
    caromi_free(c, r->pointers);
    caromi_free(c, r->keepers);
    r->keepers = NULL;
}

/* A block of a new slab, at a multiple of its size. */
static void *new_block(caromi_records *r, caromi_record_keeper *k)
{
    if (k->left == 0) {
        k->slab_blocks = k->slab_blocks == 0 ? SLAB : k->slab_blocks < SLAB_MOST ? 2 * k->slab_blocks : SLAB_MOST;
        char *slab = caromi_kept_alloc(r->cloud->context, k->slab_blocks, CAROMI_SURE_BYTES);
        if (slab == NULL)
            return NULL;
        memcpy(slab, &k->slab, sizeof k->slab);
        k->slab = slab;
        k->free = slab + CAROMI_SURE_BYTES - ((uintptr_t)slab & (CAROMI_SURE_BYTES - 1));
        k->left = k->slab_blocks - 1;
    }
    k->left--;
    k->free += CAROMI_SURE_BYTES;
    return k->free - CAROMI_SURE_BYTES;
}

/* The same, after a block with `more` pairs. The sum of all threads has no pairs that are not kept; it lags a little,
 * as an atomic addition for each block would wait for the stores before it. */
static void *new_block_for(caromi_records *r, caromi_record_keeper *k, uint64_t more)
{
    k->unsaid += more;
    if (k->unsaid >= UNSAID_MOST) {
        const uint64_t kept = atomic_fetch_add(&r->kept, k->unsaid) + k->unsaid;
        k->unsaid = 0;
        if (kept > r->most) {
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

static void keep(caromi_records *r, caromi_record_keeper *k, const caromi_record *record)
{
    caromi_record_block **bucket = &k->buckets[record->a >> r->shift], *block = *bucket;
    if (block == NULL || block->count == BLOCK) {
        block = new_block_for(r, k, block ? BLOCK : 0);
        if (block == NULL)
            return;
        block->next = *bucket;
        block->count = 0;
        *bucket = block;
        k->blocks[record->a >> r->shift]++;
    }
    block->records[block->count++] = *record;
}

/* The newest block of a bucket's sure pairs, that the next one follows or that it is behind. */
static caromi_sure_block *sure_block(uint64_t *next)
{
    return next ? (caromi_sure_block *)(void *)((char *)(next - 1) - ((uintptr_t)(next - 1) & (CAROMI_SURE_BYTES - 1)))
                : NULL;
}

/* Room for one more; 0: none. */
static int open_sure_block(caromi_records *r, caromi_record_keeper *k, uint32_t bucket)
{
    caromi_sure_block *block = new_block_for(r, k, k->sure[bucket] ? CAROMI_SURE_PAIRS : 0);
    if (block == NULL)
        return 0;
    block->next = sure_block(k->sure[bucket]);
    k->sure[bucket] = block->pairs;
    k->sure_blocks[bucket]++;
    return 1;
}

static inline int keep_sure(caromi_records *r, caromi_record_keeper *k, uint64_t **sure, uint32_t shift, uint32_t a,
                            uint32_t b)
{
    const uint32_t bucket = a >> shift;
    if (((uintptr_t)sure[bucket] & (CAROMI_SURE_BYTES - 1)) == 0 && !open_sure_block(r, k, bucket))
        return 0;
    uint64_t *next = sure[bucket];
    *next = (uint64_t)a << 32 | b;
    sure[bucket] = next + 1;
    return 1;
}

static int is_wanted(const caromi_records *r, uint32_t a)
{
    return a >= r->begin && a < r->end;
}

static void add(caromi_records *r, uint32_t thread, const caromi_record *record)
{
    if (is_wanted(r, record->a))
        keep(r, &r->keepers[thread], record);
}

void caromi_records_take(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
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

void caromi_records_take_sure(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, uint8_t state)
{
    caromi_records *r = user;
    const uint32_t mark = state == STATE_NEAR ? CAROMI_RECORD_NEAR : 0;
    const int wants_all = r->begin == 0 && r->end == r->cloud->count;
    if (is_over(r))
        return;
    caromi_record_keeper *k = &r->keepers[thread];
    uint64_t **const sure = k->sure;
    const uint32_t shift = r->shift;
    const int full = r->full;
    for (uint32_t i = 0; i < pairs->count; i++) {
        const uint32_t a = least(pairs->a[i], pairs->b[i]), b = most(pairs->a[i], pairs->b[i]);
        if ((wants_all || is_wanted(r, a)) && !keep_sure(r, k, sure, shift, a, b | mark))
            return;
        if (full && (wants_all || is_wanted(r, b)) && !keep_sure(r, k, sure, shift, b, a | mark))
            return;
    }
}

/* Blocks lie anywhere: the next one comes while one is read. */
static const caromi_sure_block *fetched(const caromi_sure_block *block)
{
    for (int line = 0; block != NULL && line < CAROMI_SURE_BYTES / 64; line++)
        __builtin_prefetch((const char *)block + 64 * line);
    return block;
}

/* What a thread has kept of a bucket. */
static uint64_t count_bucket(const caromi_record_keeper *k, uint32_t bucket)
{
    const caromi_record_block *newest = k->buckets[bucket];
    uint64_t count = newest ? (uint64_t)(k->blocks[bucket] - 1) * BLOCK + newest->count : 0;
    uint64_t *next = k->sure[bucket];
    if (next != NULL)
        count +=
            (uint64_t)(k->sure_blocks[bucket] - 1) * CAROMI_SURE_PAIRS + (uint64_t)(next - sure_block(next)->pairs);
    return count;
}

uint64_t caromi_records_count(const caromi_records *r)
{
    uint64_t count = 0;
    for (uint32_t t = 0; t < r->threads; t++)
        for (uint32_t bucket = 0; bucket < r->bucket_count; bucket++)
            count += count_bucket(&r->keepers[t], bucket);
    return count;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Times are not negative, so their bits have their order. */
static uint64_t key_of(const caromi_record *r)
{
    uint32_t t;
    memcpy(&t, &r->t, sizeof t);
    return (uint64_t)t << 32 | r->b;
}

static int is_before(const caromi_record *x, const caromi_record *y)
{
    const uint64_t kx = key_of(x), ky = key_of(y);
    return kx != ky ? kx < ky : x->image < y->image;
}

static int compare(const void *one, const void *other)
{
    return is_before(other, one) - is_before(one, other);
}

static void sort_row(caromi_record *row, uint32_t count)
{
    if (count > FEW) {
        qsort(row, count, sizeof *row, compare);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        const caromi_record r = row[i];
        uint32_t j = i;
        for (; j > 0 && is_before(&r, &row[j - 1]); j--)
            row[j] = row[j - 1];
        row[j] = r;
    }
}

typedef struct deliver_job {
    caromi_records *r;
    const caromi_record_columns *to;
    uint64_t *start; /* [buckets + 1] records before each */
    char *scratch;   /* of each thread: rows, then records of a bucket, or numbers of spheres twice */
    size_t scratch_size, rows_size;
} deliver_job;

/* A bucket, in work by a thread. rows[i] is where the records of its sphere i begin; there is one more. */
typedef struct deliver_work {
    const deliver_job *job;
    uint64_t bucket, first, at; /* sphere; record */
    uint32_t *rows;
    void *sorted;
} deliver_work;

/* Calls `use` for each record that is kept of a bucket. A pair that the scan was sure of has its mark in b still. */
#define FOR_EACH_SURE(w, pair, use)                                                                        \
    for (uint32_t t_ = 0; t_ < (w)->job->r->threads; t_++) {                                               \
        const uint64_t *end_ = (w)->job->r->keepers[t_].sure[(w)->bucket];                                 \
        const caromi_sure_block *block_ = sure_block((w)->job->r->keepers[t_].sure[(w)->bucket]), *next_;  \
        for (; block_ != NULL; block_ = next_, end_ = block_ ? block_->pairs + CAROMI_SURE_PAIRS : NULL) { \
            next_ = fetched(block_->next);                                                                 \
            for (const uint64_t *pair = block_->pairs; pair < end_; pair++)                                \
                use;                                                                                       \
        }                                                                                                  \
    }
#define FOR_EACH_RECORD(w, record, use)                                                                             \
    for (uint32_t t_ = 0; t_ < (w)->job->r->threads; t_++)                                                          \
        for (const caromi_record_block *block_ = (w)->job->r->keepers[t_].buckets[(w)->bucket]; block_ != NULL;     \
             block_ = block_->next)                                                                                 \
            for (const caromi_record *record = block_->records; record < block_->records + block_->count; record++) \
                use;

/* Where the first record of each sphere goes: rows[i + 1], as that is where those of i begin until they are there, and
 * where those of i + 1 do after that. Returns whether there are others than sure pairs. */
static int begin_rows(const deliver_work *w, uint64_t size)
{
    int has_others = 0;
    memset(w->rows, 0, (size + 2) * sizeof *w->rows);
    FOR_EACH_SURE(w, p, w->rows[(*p >> 32) - w->first + 2]++)
    FOR_EACH_RECORD(w, p, (w->rows[p->a - w->first + 2]++, has_others = 1))
    for (uint64_t i = 2; i < size + 2; i++)
        w->rows[i] += w->rows[i - 1];
    return has_others;
}

static void put(const deliver_job *job, uint64_t at, const caromi_record *r)
{
    const caromi_record_columns *to = job->to;
    if (to->a)
        to->a[at] = (int32_t)r->a;
    if (to->b)
        to->b[at] = (int32_t)r->b;
    if (to->state)
        to->state[at] = r->state;
    if (to->t)
        to->t[at] = r->t;
    for (int k = 0; to->shift && k < 3; k++)
        to->shift[3 * at + (uint64_t)k] = (int8_t)caromi_image_step(r->image, k);
}

static caromi_record record_of(uint64_t pair)
{
    const uint32_t b = (uint32_t)pair;
    caromi_record r = {.a = (uint32_t)(pair >> 32), .b = b & ~CAROMI_RECORD_NEAR, .image = CAROMI_IMAGE_OWN};
    r.t = b & CAROMI_RECORD_NEAR ? INFINITY : 0;
    r.state = b & CAROMI_RECORD_NEAR ? CAROM_MISS : CAROM_OVERLAPPING;
    return r;
}

static void deliver_records(const deliver_work *w, uint64_t size)
{
    caromi_record *sorted = w->sorted;
    uint32_t *next = w->rows + 1;
    FOR_EACH_SURE(w, p, sorted[next[(*p >> 32) - w->first]++] = record_of(*p))
    FOR_EACH_RECORD(w, p, sorted[next[p->a - w->first]++] = *p)
    for (uint64_t i = 0; i < size; i++)
        sort_row(sorted + w->rows[i], w->rows[i + 1] - w->rows[i]);
    for (uint64_t i = 0; i < w->rows[size]; i++)
        put(w->job, w->at + i, &sorted[i]);
}

/* Sure pairs alone: the mark of near ones is the highest bit of b, so b with it is the order. */
static void deliver_sure(const deliver_work *w, uint64_t size)
{
    const caromi_record_columns *to = w->job->to;
    const caromi_cloud *cloud = w->job->r->cloud;
    uint32_t *numbers = w->sorted, *next = w->rows + 1;
    FOR_EACH_SURE(w, p, numbers[next[(*p >> 32) - w->first]++] = (uint32_t)*p)
    const uint64_t count = w->rows[size];
    for (uint64_t i = 0; to->a && i < size; i++)
        for (uint64_t k = w->rows[i]; k < w->rows[i + 1]; k++)
            to->a[w->at + k] = (int32_t)(w->first + i);
    if (to->shift)
        memset(to->shift + 3 * w->at, 0, 3 * count);
    uint32_t *b = cloud->margin > 0 || to->b == NULL ? numbers + count + 16 : (uint32_t *)(void *)(to->b + w->at);
    cloud->context->isa->cloud_sort(numbers, w->rows, (uint32_t)size, b);
    for (uint64_t i = 0; to->state && i < count; i++)
        to->state[w->at + i] = b[i] & CAROMI_RECORD_NEAR ? CAROM_MISS : CAROM_OVERLAPPING;
    for (uint64_t i = 0; to->t && i < count; i++)
        to->t[w->at + i] = b[i] & CAROMI_RECORD_NEAR ? INFINITY : 0;
    for (uint64_t i = 0; cloud->margin > 0 && to->b && i < count; i++)
        to->b[w->at + i] = (int32_t)(b[i] & ~CAROMI_RECORD_NEAR);
}

/* Counts by sphere, then places; then each row in order. */
static void deliver_bucket(void *user, uint64_t bucket, uint32_t thread)
{
    const deliver_job *job = user;
    const caromi_records *r = job->r;
    char *scratch = job->scratch + thread * job->scratch_size;
    const deliver_work w = {.job = job,
                            .bucket = bucket,
                            .first = bucket << r->shift,
                            .at = job->start[bucket],
                            .rows = (uint32_t *)(void *)scratch,
                            .sorted = scratch + job->rows_size};
    const uint64_t size = UINT64_C(1) << r->shift;
    if (begin_rows(&w, size))
        deliver_records(&w, size);
    else
        deliver_sure(&w, size);
    for (uint64_t i = 0; job->to->offsets && i < size && w.first + i < r->end; i++)
        if (w.first + i >= r->begin)
            job->to->offsets[w.first + i] = w.at + w.rows[i];
}

/* Records before each bucket; returns the most in one. */
static uint64_t start_buckets(const caromi_records *r, uint64_t *start)
{
    uint64_t largest = 0;
    start[0] = 0;
    for (uint32_t bucket = 0; bucket < r->bucket_count; bucket++) {
        uint64_t count = 0;
        for (uint32_t t = 0; t < r->threads; t++)
            count += count_bucket(&r->keepers[t], bucket);
        start[bucket + 1] = start[bucket] + count;
        largest = count > largest ? count : largest;
    }
    return largest;
}

carom_status caromi_records_deliver(caromi_records *r, const caromi_record_columns *to, carom_error *err)
{
    const carom_context *c = r->cloud->context;
    deliver_job job = {.r = r, .to = to};
    job.start = caromi_alloc(c, r->bucket_count + 1, sizeof *job.start);
    const uint64_t largest = job.start != NULL ? start_buckets(r, job.start) : 0;
    job.rows_size = (((size_t)1 << r->shift) + 16) * sizeof(uint32_t) / 16 * 16;
    job.scratch_size = (job.rows_size + ((size_t)largest + 8) * sizeof(caromi_record) + 63) / 64 * 64;
    job.scratch = job.start != NULL && largest <= UINT32_MAX ? caromi_alloc(c, r->threads, job.scratch_size) : NULL;
    carom_status status = CAROM_OK;
    if (job.scratch == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to order pairs of spheres");
    else
        caromi_parallel(caromi_cloud_pool(r->cloud), r->bucket_count, deliver_bucket, &job);
    if (status == CAROM_OK && to->offsets)
        to->offsets[r->end] = job.start[r->bucket_count];
    caromi_free(c, job.start);
    caromi_free(c, job.scratch);
    return status;
}
