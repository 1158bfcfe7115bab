/* SPDX-License-Identifier: MIT */
/* Brings the stored records into the order of the list, bucket by bucket: a counting sort by sphere a, then a sort of
 * each row (the records of one a) by t and b. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

enum {
    FEW = 24,       /* up to so many records of a row are sorted without qsort */
    TASKS_EACH = 32 /* tasks of each thread. A task has consecutive buckets, as a core's prefetcher reads into cache
                       lines that another writes */
};

/* Prefetches a block, as blocks are scattered in memory: the next one is fetched while one is read. */
static const void *fetched(const void *block)
{
    for (int line = 0; block != NULL && line < CAROMI_CERTAIN_BYTES / 64; line++)
        __builtin_prefetch((const char *)block + 64 * line);
    return block;
}

/* A key that orders the records of one sphere a, but for images. Times are not negative, so their bit patterns have
 * their order. */
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

typedef struct scatter_job {
    caromi_records *r;
    const caromi_record_columns *to;
    uint64_t *start; /* [buckets + 1] number of records before each bucket */
    uint64_t tasks;
    char *
        scratch; /* [threads] rows of a bucket, then its sorted records; or its keys twice, before and after the sort */
    size_t scratch_size, rows_size;
} scatter_job;

/* A bucket while a thread sorts it. rows[i] is where the records of the bucket's sphere i begin; rows has one more
 * entry for the end. */
typedef struct scatter_work {
    const scatter_job *job;
    uint64_t bucket, first, at; /* number of the bucket; its first sphere; its first record in the list */
    uint32_t *rows;
    void *sorted; /* scratch behind the rows: records or keys, by row */
} scatter_work;

/* A position in a bucket: a block of one thread, and that block's elements. Begins with zeros. */
typedef struct certain_cursor {
    uint32_t thread; /* the next thread */
    const caromi_certain_block *next;
    const uint64_t *begin, *end;
} certain_cursor;
typedef struct record_cursor {
    uint32_t thread;
    const caromi_record_block *next;
    const caromi_record *begin, *end;
} record_cursor;

/* Moves to the next block of certain pairs of the bucket, of one thread after the other; 0: there is none. A thread's
 * newest block comes first and ends at the thread's next free element; its other blocks are full. */
static int next_certain(const scatter_work *w, certain_cursor *c)
{
    const caromi_records *r = w->job->r;
    const caromi_certain_block *block = c->next;
    c->end = block != NULL ? block->pairs + CAROMI_CERTAIN_PAIRS : NULL;
    while (block == NULL) {
        if (c->thread == r->threads)
            return 0;
        uint64_t *const end = r->stores[c->thread++].next_certain[w->bucket];
        c->end = end;
        block = caromi_newest_block(end);
    }
    c->begin = block->pairs;
    c->next = fetched(block->next);
    return 1;
}

/* The same for blocks of whole records. */
static int next_records(const scatter_work *w, record_cursor *c)
{
    const caromi_records *r = w->job->r;
    const caromi_record_block *block = c->next;
    c->end = block != NULL ? block->records + CAROMI_RECORD_BLOCK : NULL;
    while (block == NULL) {
        if (c->thread == r->threads)
            return 0;
        caromi_record *const end = r->stores[c->thread++].next_record[w->bucket];
        c->end = end;
        block = caromi_newest_block(end);
    }
    c->begin = block->records;
    c->next = fetched(block->next);
    return 1;
}

/* The histogram and prefix sum of a counting sort by sphere. rows[i + 1] is where the next record of sphere i goes; the
 * offset of one makes rows[i] the begin of sphere i after the scatter. Returns whether there are records besides
 * proven pairs. */
static int begin_rows(const scatter_work *w, uint64_t size)
{
    int has_others = 0;
    memset(w->rows, 0, (size + 2) * sizeof *w->rows);
    for (certain_cursor c = {0}; next_certain(w, &c);)
        for (const uint64_t *p = c.begin; p < c.end; p++)
            w->rows[(*p >> 32) - w->first + 2]++;
    for (record_cursor c = {0}; next_records(w, &c); has_others = 1)
        for (const caromi_record *p = c.begin; p < c.end; p++)
            w->rows[p->a - w->first + 2]++;
    for (uint64_t i = 2; i < size + 2; i++)
        w->rows[i] += w->rows[i - 1];
    return has_others;
}

static void put(const scatter_job *job, uint64_t at, const caromi_record *r)
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
    caromi_record r = {.a = (uint32_t)(pair >> 32), .b = b & ~CAROMI_RECORD_IN_MARGIN, .image = CAROMI_IMAGE_OWN};
    r.t = b & CAROMI_RECORD_IN_MARGIN ? INFINITY : 0;
    r.state = b & CAROMI_RECORD_IN_MARGIN ? CAROM_MISS : CAROM_OVERLAPPING;
    return r;
}

static void scatter_records(const scatter_work *w, uint64_t size)
{
    caromi_record *sorted = w->sorted;
    uint32_t *next = w->rows + 1;
    for (certain_cursor c = {0}; next_certain(w, &c);)
        for (const uint64_t *p = c.begin; p < c.end; p++)
            sorted[next[(*p >> 32) - w->first]++] = record_of(*p);
    for (record_cursor c = {0}; next_records(w, &c);)
        for (const caromi_record *p = c.begin; p < c.end; p++)
            sorted[next[p->a - w->first]++] = *p;
    for (uint64_t i = 0; i < size; i++)
        sort_row(sorted + w->rows[i], w->rows[i + 1] - w->rows[i]);
    for (uint64_t i = 0; i < w->rows[size]; i++)
        put(w->job, w->at + i, &sorted[i]);
}

/* Writes the columns that do not depend on the order within a row, of a cloud without periods: a and shift. */
static void set_row_columns(const scatter_work *w, uint64_t size)
{
    const caromi_record_columns *to = w->job->to;
    for (uint64_t i = 0; to->a && i < size; i++)
        for (uint64_t k = w->rows[i]; k < w->rows[i + 1]; k++)
            to->a[w->at + k] = (int32_t)(w->first + i);
    if (to->shift)
        memset(to->shift + 3 * w->at, 0, 3 * (size_t)w->rows[size]);
}

/* A record without a, packed into a key in the order of a row: 31 bits of t, 31 of b, 2 of the state. */
static uint64_t row_key_of(float t, uint32_t b, uint8_t state)
{
    uint32_t bits;
    memcpy(&bits, &t, sizeof bits);
    return (uint64_t)bits << 33 | (uint64_t)b << 2 | state;
}

static int compare_keys(const void *one, const void *other)
{
    uint64_t x, y;
    memcpy(&x, one, sizeof x);
    memcpy(&y, other, sizeof y);
    return (x > y) - (x < y);
}

/* Sorts the keys of one row, of which no two are equal. The rank of a key is the number of lesser keys, which is
 * fastest for short rows. */
static void sort_keys(const uint64_t *from, uint32_t count, uint64_t *to)
{
    if (count > FEW) {
        memcpy(to, from, count * sizeof *to);
        qsort(to, count, sizeof *to, compare_keys);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t less = 0;
        for (uint32_t j = 0; j < count; j++)
            less += from[j] < from[i];
        to[less] = from[i];
    }
}

static uint64_t row_key_of_certain(uint64_t pair)
{
    const caromi_record r = record_of(pair);
    return row_key_of(r.t, r.b, r.state);
}

static void scatter_keys(const scatter_work *w, uint64_t size)
{
    const caromi_record_columns *to = w->job->to;
    uint64_t *keys = w->sorted;
    uint32_t *next = w->rows + 1; /* by sphere: where its next key goes */
    for (certain_cursor c = {0}; next_certain(w, &c);)
        for (const uint64_t *p = c.begin; p < c.end; p++)
            keys[next[(*p >> 32) - w->first]++] = row_key_of_certain(*p);
    for (record_cursor c = {0}; next_records(w, &c);)
        for (const caromi_record *p = c.begin; p < c.end; p++)
            keys[next[p->a - w->first]++] = row_key_of(p->t, p->b, p->state);
    const uint64_t count = w->rows[size];
    uint64_t *sorted = keys + count;
    for (uint64_t i = 0; i < size; i++)
        sort_keys(keys + w->rows[i], w->rows[i + 1] - w->rows[i], sorted + w->rows[i]);
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

/* A bucket with certain pairs alone: the mark of near pairs is the highest bit of b, so that b with its mark is the key
 * of a row's order. */
static void scatter_certain(const scatter_work *w, uint64_t size)
{
    const caromi_record_columns *to = w->job->to;
    const caromi_cloud *cloud = w->job->r->cloud;
    uint32_t *numbers = w->sorted, *next = w->rows + 1;
    for (certain_cursor c = {0}; next_certain(w, &c);)
        for (const uint64_t *p = c.begin; p < c.end; p++)
            numbers[next[(*p >> 32) - w->first]++] = (uint32_t)*p;
    const uint64_t count = w->rows[size];
    set_row_columns(w, size);
    uint32_t *b = cloud->margin > 0 || to->b == NULL ? numbers + count + 16 : (uint32_t *)(void *)(to->b + w->at);
    cloud->context->isa->cloud_sort(numbers, w->rows, (uint32_t)size, b);
    for (uint64_t i = 0; to->state && i < count; i++)
        to->state[w->at + i] = b[i] & CAROMI_RECORD_IN_MARGIN ? CAROM_MISS : CAROM_OVERLAPPING;
    for (uint64_t i = 0; to->t && i < count; i++)
        to->t[w->at + i] = b[i] & CAROMI_RECORD_IN_MARGIN ? INFINITY : 0;
    for (uint64_t i = 0; cloud->margin > 0 && to->b && i < count; i++)
        to->b[w->at + i] = (int32_t)(b[i] & ~CAROMI_RECORD_IN_MARGIN);
}

/* Counting sort by sphere, then each row is sorted and written. A record is packed as tightly as the bucket allows: 4
 * bytes (certain pairs alone), 8 (no images), or whole records. */
static void scatter_bucket(const scatter_job *job, uint64_t bucket, uint32_t thread)
{
    const caromi_records *r = job->r;
    char *scratch = job->scratch + thread * job->scratch_size;
    const scatter_work w = {.job = job,
                            .bucket = bucket,
                            .first = bucket << r->shift,
                            .at = job->start[bucket],
                            .rows = (uint32_t *)(void *)scratch,
                            .sorted = scratch + job->rows_size};
    const uint64_t most = UINT64_C(1) << r->shift, size = r->end - w.first < most ? r->end - w.first : most;
    if (!begin_rows(&w, size))
        scatter_certain(&w, size);
    else if (caromi_cloud_is_periodic(r->cloud))
        scatter_records(&w, size);
    else
        scatter_keys(&w, size);
    for (uint64_t i = 0; job->to->offsets && i < size; i++)
        if (w.first + i >= r->begin)
            job->to->offsets[w.first + i] = w.at + w.rows[i];
}

/* Task: scatters some buckets. */
static void scatter_some(void *user, uint64_t task, uint32_t thread)
{
    const scatter_job *job = user;
    const uint64_t buckets = job->r->bucket_count, end = caromi_slice_start(buckets, job->tasks, task + 1);
    for (uint64_t b = caromi_slice_start(buckets, job->tasks, task); b < end; b++)
        scatter_bucket(job, b, thread);
}

/* The prefix sum of the buckets' record counts. Returns the largest count. */
static uint64_t start_buckets(const caromi_records *r, uint64_t *start)
{
    uint64_t largest = 0;
    start[0] = 0;
    for (uint32_t bucket = 0; bucket < r->bucket_count; bucket++) {
        uint64_t count = 0;
        for (uint32_t t = 0; t < r->threads; t++)
            count += caromi_records_in_bucket(&r->stores[t], bucket);
        start[bucket + 1] = start[bucket] + count;
        largest = count > largest ? count : largest;
    }
    return largest;
}

carom_status caromi_records_scatter(caromi_records *r, const caromi_record_columns *to, carom_error *err)
{
    const carom_context *c = r->cloud->context;
    const uint32_t most = TASKS_EACH * r->threads;
    scatter_job job = {.r = r, .to = to, .tasks = r->bucket_count < most ? r->bucket_count : most};
    job.start = caromi_alloc(c, r->bucket_count + 1, sizeof *job.start);
    const uint64_t largest = job.start != NULL ? start_buckets(r, job.start) : 0;
    job.rows_size = (((size_t)1 << r->shift) + 16) * sizeof(uint32_t) / 16 * 16;
    job.scratch_size = (job.rows_size + ((size_t)largest + 8) * sizeof(caromi_record) + 63) / 64 * 64;
    job.scratch = job.start != NULL && largest <= UINT32_MAX ? caromi_alloc(c, r->threads, job.scratch_size) : NULL;
    carom_status status = CAROM_OK;
    if (job.scratch == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to order pairs of spheres");
    else
        caromi_parallel(caromi_cloud_pool(r->cloud), job.tasks, scatter_some, &job);
    if (status == CAROM_OK && to->offsets)
        to->offsets[r->end] = job.start[r->bucket_count];
    caromi_free(c, job.start);
    caromi_free(c, job.scratch);
    return status;
}
