/* SPDX-License-Identifier: MIT */
#include "records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, BLOCK = 63, SLAB = 256, FEW = 24 };

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

carom_status caromi_records_create(caromi_records *r, carom_error *err)
{
    const carom_context *c = r->cloud->context;
    r->threads = caromi_pool_threads(c->pool);
    for (r->shift = 0; r->end >> r->shift >= BUCKETS; r->shift++)
        ;
    r->bucket_count = (uint32_t)(r->end >> r->shift) + 1;
    r->keepers = caromi_alloc(c, r->threads, sizeof *r->keepers);
    caromi_record_block **buckets = caromi_alloc(c, (uint64_t)r->threads * r->bucket_count, sizeof *buckets);
    if (r->keepers == NULL || buckets == NULL) {
        caromi_free(c, r->keepers);
        caromi_free(c, buckets);
        r->keepers = NULL;
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to keep pairs of spheres");
    }
    memset(buckets, 0, (size_t)r->threads * r->bucket_count * sizeof *buckets);
    for (uint32_t t = 0; t < r->threads; t++)
        r->keepers[t] = (caromi_record_keeper){.buckets = buckets + (size_t)t * r->bucket_count};
    return CAROM_OK;
}

void caromi_records_free(caromi_records *r)
{
    const carom_context *c = r->cloud->context;
    for (uint32_t t = 0; r->keepers != NULL && t < r->threads; t++)
        for (caromi_record_block *slab = r->keepers[t].slab, *next; slab != NULL; slab = next) {
            next = slab->next;
            caromi_free(c, slab);
        }
    if (r->keepers != NULL)
        caromi_free(c, r->keepers[0].buckets);
    caromi_free(c, r->keepers);
    r->keepers = NULL;
}

/* A block of a new slab. The first block of a slab links the slabs and holds no records. */
static caromi_record_block *new_block(caromi_records *r, caromi_record_keeper *k)
{
    if (k->left == 0) {
        caromi_record_block *slab = caromi_task_alloc(r->cloud->context, SLAB, sizeof *slab);
        if (slab == NULL)
            return NULL;
        slab->next = k->slab;
        k->slab = slab;
        k->free = slab + 1;
        k->left = SLAB - 1;
    }
    k->left--;
    return k->free++;
}

static void keep(caromi_records *r, caromi_record_keeper *k, const caromi_record *record)
{
    caromi_record_block **bucket = &k->buckets[record->a >> r->shift], *block = *bucket;
    if (block == NULL || block->count == BLOCK) {
        if (atomic_fetch_add(&r->kept, block ? BLOCK : 0) > r->most) {
            atomic_store(&r->is_full, 1);
            return;
        }
        block = new_block(r, k);
        if (block == NULL) {
            atomic_store(&r->is_short, 1);
            return;
        }
        block->next = *bucket;
        block->count = 0;
        *bucket = block;
    }
    block->records[block->count++] = *record;
}

static void add(caromi_records *r, uint32_t thread, const caromi_record *record)
{
    if (record->a < r->begin || record->a >= r->end)
        return;
    if (r->counts != NULL)
        atomic_fetch_add_explicit((_Atomic uint32_t *)&r->counts[record->a], 1, memory_order_relaxed);
    else
        keep(r, &r->keepers[thread], record);
}

void caromi_records_take(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    caromi_records *r = user;
    const uint32_t *index = r->cells->index;
    if (atomic_load_explicit(&r->is_full, memory_order_relaxed) ||
        atomic_load_explicit(&r->is_short, memory_order_relaxed))
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
    char *scratch;   /* of each thread: a row's begin for each sphere of a bucket and one more, records of a bucket */
    size_t scratch_size, rows_size;
} deliver_job;

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

/* Counts by sphere, then places; then each row in order. */
static void deliver_bucket(void *user, uint64_t bucket, uint32_t thread)
{
    const deliver_job *job = user;
    const caromi_records *r = job->r;
    uint32_t *begin = (uint32_t *)(void *)(job->scratch + thread * job->scratch_size);
    caromi_record *sorted = (caromi_record *)(void *)(job->scratch + thread * job->scratch_size + job->rows_size);
    const uint64_t first = bucket << r->shift, size = UINT64_C(1) << r->shift;
    memset(begin, 0, job->rows_size);
    for (uint32_t t = 0; t < r->threads; t++)
        for (const caromi_record_block *b = r->keepers[t].buckets[bucket]; b != NULL; b = b->next)
            for (uint64_t i = 0; i < b->count; i++)
                begin[b->records[i].a - first + 1]++;
    for (uint64_t i = 0; i < size; i++)
        begin[i + 1] += begin[i];
    for (uint64_t i = 0; job->to->offsets && i < size && first + i < r->end; i++)
        if (first + i >= r->begin)
            job->to->offsets[first + i] = job->start[bucket] + begin[i];
    for (uint32_t t = 0; t < r->threads; t++)
        for (const caromi_record_block *b = r->keepers[t].buckets[bucket]; b != NULL; b = b->next)
            for (uint64_t i = 0; i < b->count; i++)
                sorted[begin[b->records[i].a - first]++] = b->records[i];
    for (uint64_t i = 0, from = 0; i < size; from = begin[i++]) {
        sort_row(sorted + from, (uint32_t)(begin[i] - from));
        for (uint64_t k = from; k < begin[i]; k++)
            put(job, job->start[bucket] + k, &sorted[k]);
    }
}

/* Records before each bucket; returns the most in one. */
static uint64_t start_buckets(const caromi_records *r, uint64_t *start)
{
    uint64_t most = 0;
    start[0] = 0;
    for (uint32_t bucket = 0; bucket < r->bucket_count; bucket++) {
        uint64_t count = 0;
        for (uint32_t t = 0; t < r->threads; t++)
            for (const caromi_record_block *b = r->keepers[t].buckets[bucket]; b != NULL; b = b->next)
                count += b->count;
        start[bucket + 1] = start[bucket] + count;
        most = count > most ? count : most;
    }
    return most;
}

uint64_t caromi_records_count(const caromi_records *r)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < (uint64_t)r->threads * r->bucket_count; i++)
        for (const caromi_record_block *b = r->keepers[0].buckets[i]; b != NULL; b = b->next)
            count += b->count;
    return count;
}

carom_status caromi_records_deliver(caromi_records *r, const caromi_record_columns *to, carom_error *err)
{
    const carom_context *c = r->cloud->context;
    deliver_job job = {.r = r, .to = to};
    job.start = caromi_alloc(c, r->bucket_count + 1, sizeof *job.start);
    const uint64_t most = job.start != NULL ? start_buckets(r, job.start) : 0;
    job.rows_size = (((size_t)1 << r->shift) + 16) * sizeof(uint32_t) / 16 * 16;
    job.scratch_size = (job.rows_size + (size_t)most * sizeof(caromi_record) + 63) / 64 * 64;
    job.scratch = job.start != NULL && most <= UINT32_MAX ? caromi_alloc(c, r->threads, job.scratch_size) : NULL;
    carom_status status = CAROM_OK;
    if (job.scratch == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to order pairs of spheres");
    else
        caromi_parallel(c->pool, r->bucket_count, deliver_bucket, &job);
    if (status == CAROM_OK && to->offsets)
        to->offsets[r->end] = job.start[r->bucket_count];
    caromi_free(c, job.start);
    caromi_free(c, job.scratch);
    return status;
}
