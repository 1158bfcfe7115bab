/* SPDX-License-Identifier: MIT */
/* Kept records in their order, bucket by bucket. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

enum {
    FEW = 24,       /* records of a sphere that are sorted without a library */
    TASKS_EACH = 32 /* for each thread: buckets next to each other, as a core fetches ahead into what another writes */
};

/* Blocks lie anywhere: the next one comes while one is read. */
static const void *fetched(const void *block)
{
    for (int line = 0; block != NULL && line < CAROMI_SURE_BYTES / 64; line++)
        __builtin_prefetch((const char *)block + 64 * line);
    return block;
}

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
    uint64_t tasks;
    char *scratch; /* of each thread: rows, then records of a bucket, or numbers of spheres twice */
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
#define FOR_EACH(w, type, block_type, kept, items, most, item, use)                                         \
    for (uint32_t t_ = 0; t_ < (w)->job->r->threads; t_++) {                                                \
        const type *end_ = (w)->job->r->keepers[t_].kept[(w)->bucket];                                      \
        const block_type *block_ = caromi_newest_block((w)->job->r->keepers[t_].kept[(w)->bucket]), *next_; \
        for (; block_ != NULL; block_ = next_, end_ = block_ ? block_->items + most : NULL) {               \
            next_ = fetched(block_->next);                                                                  \
            for (const type *item = block_->items; item < end_; item++)                                     \
                use;                                                                                        \
        }                                                                                                   \
    }
#define FOR_EACH_SURE(w, pair, use) FOR_EACH(w, uint64_t, caromi_sure_block, sure, pairs, CAROMI_SURE_PAIRS, pair, use)
#define FOR_EACH_RECORD(w, record, use) \
    FOR_EACH(w, caromi_record, caromi_record_block, records, records, CAROMI_RECORD_BLOCK, record, use)

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

/* Of pairs without images, the columns that do not depend on their order in a row. */
static void set_row_columns(const deliver_work *w, uint64_t size)
{
    const caromi_record_columns *to = w->job->to;
    for (uint64_t i = 0; to->a && i < size; i++)
        for (uint64_t k = w->rows[i]; k < w->rows[i + 1]; k++)
            to->a[w->at + k] = (int32_t)(w->first + i);
    if (to->shift)
        memset(to->shift + 3 * w->at, 0, 3 * (size_t)w->rows[size]);
}

/* What a record says but for a, a number in the order of rows: 31 bits of t, 31 of b, 2 of the state. */
static uint64_t number_of(float t, uint32_t b, uint8_t state)
{
    uint32_t bits;
    memcpy(&bits, &t, sizeof bits);
    return (uint64_t)bits << 33 | (uint64_t)b << 2 | state;
}

static int compare_numbers(const void *one, const void *other)
{
    uint64_t x, y;
    memcpy(&x, one, sizeof x);
    memcpy(&y, other, sizeof y);
    return (x > y) - (x < y);
}

/* No two are equal. Few are counted: how many are less than each. */
static void sort_numbers(const uint64_t *from, uint32_t count, uint64_t *to)
{
    if (count > FEW) {
        memcpy(to, from, count * sizeof *to);
        qsort(to, count, sizeof *to, compare_numbers);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t less = 0;
        for (uint32_t j = 0; j < count; j++)
            less += from[j] < from[i];
        to[less] = from[i];
    }
}

static uint64_t number_of_sure(uint64_t pair)
{
    const caromi_record r = record_of(pair);
    return number_of(r.t, r.b, r.state);
}

static void deliver_numbers(const deliver_work *w, uint64_t size)
{
    const caromi_record_columns *to = w->job->to;
    uint64_t *numbers = w->sorted;
    uint32_t *next = w->rows + 1;
    FOR_EACH_SURE(w, p, numbers[next[(*p >> 32) - w->first]++] = number_of_sure(*p))
    FOR_EACH_RECORD(w, p, numbers[next[p->a - w->first]++] = number_of(p->t, p->b, p->state))
    const uint64_t count = w->rows[size];
    uint64_t *sorted = numbers + count;
    for (uint64_t i = 0; i < size; i++)
        sort_numbers(numbers + w->rows[i], w->rows[i + 1] - w->rows[i], sorted + w->rows[i]);
    set_row_columns(w, size);
    for (uint64_t i = 0; to->b && i < count; i++)
        to->b[w->at + i] = (int32_t)(sorted[i] >> 2 & INT32_MAX);
    for (uint64_t i = 0; to->state && i < count; i++)
        to->state[w->at + i] = sorted[i] & 3;
    for (uint64_t i = 0; to->t && i < count; i++) {
        const uint32_t bits = (uint32_t)(sorted[i] >> 33);
        memcpy(&to->t[w->at + i], &bits, sizeof bits);
    }
}

/* Sure pairs alone: the mark of near ones is the highest bit of b, so b with it is the order. */
static void deliver_sure(const deliver_work *w, uint64_t size)
{
    const caromi_record_columns *to = w->job->to;
    const caromi_cloud *cloud = w->job->r->cloud;
    uint32_t *numbers = w->sorted, *next = w->rows + 1;
    FOR_EACH_SURE(w, p, numbers[next[(*p >> 32) - w->first]++] = (uint32_t)*p)
    const uint64_t count = w->rows[size];
    set_row_columns(w, size);
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
static void deliver_bucket(const deliver_job *job, uint64_t bucket, uint32_t thread)
{
    const caromi_records *r = job->r;
    char *scratch = job->scratch + thread * job->scratch_size;
    const deliver_work w = {.job = job,
                            .bucket = bucket,
                            .first = bucket << r->shift,
                            .at = job->start[bucket],
                            .rows = (uint32_t *)(void *)scratch,
                            .sorted = scratch + job->rows_size};
    const uint64_t most = UINT64_C(1) << r->shift, size = r->end - w.first < most ? r->end - w.first : most;
    if (!begin_rows(&w, size))
        deliver_sure(&w, size);
    else if (caromi_cloud_is_periodic(r->cloud))
        deliver_records(&w, size);
    else
        deliver_numbers(&w, size);
    for (uint64_t i = 0; job->to->offsets && i < size; i++)
        if (w.first + i >= r->begin)
            job->to->offsets[w.first + i] = w.at + w.rows[i];
}

/* Task: some buckets. */
static void deliver_some(void *user, uint64_t task, uint32_t thread)
{
    const deliver_job *job = user;
    const uint64_t buckets = job->r->bucket_count, end = caromi_slice_start(buckets, job->tasks, task + 1);
    for (uint64_t b = caromi_slice_start(buckets, job->tasks, task); b < end; b++)
        deliver_bucket(job, b, thread);
}

/* Records before each bucket; returns the most in one. */
static uint64_t start_buckets(const caromi_records *r, uint64_t *start)
{
    uint64_t largest = 0;
    start[0] = 0;
    for (uint32_t bucket = 0; bucket < r->bucket_count; bucket++) {
        uint64_t count = 0;
        for (uint32_t t = 0; t < r->threads; t++)
            count += caromi_records_in_bucket(&r->keepers[t], bucket);
        start[bucket + 1] = start[bucket] + count;
        largest = count > largest ? count : largest;
    }
    return largest;
}

carom_status caromi_records_deliver(caromi_records *r, const caromi_record_columns *to, carom_error *err)
{
    const carom_context *c = r->cloud->context;
    const uint32_t most = TASKS_EACH * r->threads;
    deliver_job job = {.r = r, .to = to, .tasks = r->bucket_count < most ? r->bucket_count : most};
    job.start = caromi_alloc(c, r->bucket_count + 1, sizeof *job.start);
    const uint64_t largest = job.start != NULL ? start_buckets(r, job.start) : 0;
    job.rows_size = (((size_t)1 << r->shift) + 16) * sizeof(uint32_t) / 16 * 16;
    job.scratch_size = (job.rows_size + ((size_t)largest + 8) * sizeof(caromi_record) + 63) / 64 * 64;
    job.scratch = job.start != NULL && largest <= UINT32_MAX ? caromi_alloc(c, r->threads, job.scratch_size) : NULL;
    carom_status status = CAROM_OK;
    if (job.scratch == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to order pairs of spheres");
    else
        caromi_parallel(caromi_cloud_pool(r->cloud), job.tasks, deliver_some, &job);
    if (status == CAROM_OK && to->offsets)
        to->offsets[r->end] = job.start[r->bucket_count];
    caromi_free(c, job.start);
    caromi_free(c, job.scratch);
    return status;
}
