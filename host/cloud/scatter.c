/* SPDX-License-Identifier: MIT */
/* Brings the stored records into the order of the list, bucket by bucket: a counting sort by sphere a, then a sort of
 * each row (the records of one a) by t and b. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/progress.h"
#include "records.h"

enum {
    SHORT_ROW = 24, /* up to so many records of a row are sorted without qsort */
    TASKS_EACH = 32 /* tasks of each thread. A task has consecutive buckets, as a core's prefetcher reads into cache
                       lines that another writes */
};

#define SPHERE_A(pair) ((pair) >> 32) /* of a pair that the filter has proven, stored as (a, b) */

/* Prefetches a block, as blocks are scattered in memory: the next one is fetched while one is read. */
static const void *fetched(const void *block)
{
    for (int line = 0; block != NULL && line < CAROMI_CERTAIN_BYTES / 64; line++)
        __builtin_prefetch((const char *)block + 64 * line);
    return block;
}

/* A key that orders the records of one sphere a, but for images. Times are not negative, so their bit patterns have
 * their order. */
static uint64_t key_of(const caromi_record *record)
{
    uint32_t time_bits;
    memcpy(&time_bits, &record->t, sizeof time_bits);
    return (uint64_t)time_bits << 32 | record->b;
}

/* The order of the records of one sphere a. */
static int is_before(const caromi_record *first, const caromi_record *second)
{
    const uint64_t first_key = key_of(first), second_key = key_of(second);
    return first_key != second_key ? first_key < second_key : first->image < second->image;
}

/* The same order for qsort. */
static int compare(const void *one, const void *other)
{
    return is_before(other, one) - is_before(one, other);
}

/* Sorts the records of one sphere by time, partner and image. */
static void sort_row(caromi_record *row, uint32_t count)
{
    if (count > SHORT_ROW) {
        qsort(row, count, sizeof *row, compare);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        const caromi_record record = row[i];
        uint32_t j = i;
        for (; j > 0 && is_before(&record, &row[j - 1]); j--)
            row[j] = row[j - 1];
        row[j] = record;
    }
}

/* The scatter of all buckets. */
typedef struct scatter_job {
    caromi_records *records;
    const caromi_record_columns *to; /* the list's columns */
    uint64_t *start;                 /* [buckets + 1] number of records before each bucket */
    uint64_t tasks;
    /* [threads] rows of a bucket, then its sorted records; or its keys twice, before and after the sort. */
    char *scratch;
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
static int next_certain(const scatter_work *work, certain_cursor *cursor)
{
    const caromi_records *records = work->job->records;
    const caromi_certain_block *block = cursor->next;
    cursor->end = block != NULL ? block->pairs + CAROMI_CERTAIN_PAIRS : NULL;
    while (block == NULL) {
        if (cursor->thread == records->threads)
            return 0;
        uint64_t *const end = records->stores[cursor->thread++].next_certain[work->bucket];
        cursor->end = end;
        block = caromi_newest_block(end);
    }
    cursor->begin = block->pairs;
    cursor->next = fetched(block->next);
    return 1;
}

/* The same for blocks of whole records. */
static int next_records(const scatter_work *work, record_cursor *cursor)
{
    const caromi_records *records = work->job->records;
    const caromi_record_block *block = cursor->next;
    cursor->end = block != NULL ? block->records + CAROMI_RECORD_BLOCK : NULL;
    while (block == NULL) {
        if (cursor->thread == records->threads)
            return 0;
        caromi_record *const end = records->stores[cursor->thread++].next_record[work->bucket];
        cursor->end = end;
        block = caromi_newest_block(end);
    }
    cursor->begin = block->records;
    cursor->next = fetched(block->next);
    return 1;
}

/* The histogram and prefix sum of a counting sort by sphere. rows[i + 1] is where the next record of sphere i goes; the
 * offset of one makes rows[i] the begin of sphere i after the scatter. Returns whether there are records besides
 * proven pairs. */
static int begin_rows(const scatter_work *work, uint64_t size)
{
    int has_others = 0;
    memset(work->rows, 0, (size + 2) * sizeof *work->rows);
    for (certain_cursor cursor = {0}; next_certain(work, &cursor);)
        for (const uint64_t *pair = cursor.begin; pair < cursor.end; pair++)
            work->rows[SPHERE_A(*pair) - work->first + 2]++;
    for (record_cursor cursor = {0}; next_records(work, &cursor); has_others = 1)
        for (const caromi_record *record = cursor.begin; record < cursor.end; record++)
            work->rows[record->a - work->first + 2]++;
    for (uint64_t i = 2; i < size + 2; i++)
        work->rows[i] += work->rows[i - 1];
    return has_others;
}

/* Writes a record to position `at` of the list. */
static void put(const scatter_job *job, uint64_t at, const caromi_record *record)
{
    const caromi_record_columns *to = job->to;
    if (to->a)
        to->a[at] = (int32_t)record->a;
    if (to->b)
        to->b[at] = (int32_t)(record->b - to->less_b);
    if (to->state)
        to->state[at] = record->state;
    if (to->t)
        to->t[at] = record->t;
    for (int k = 0; to->shift && k < 3; k++)
        to->shift[3 * at + (uint64_t)k] = (int8_t)caromi_image_step(record->image, k);
}

/* Unpacks a pair that the filter has proven: overlapping at time 0, or within the margin. */
static caromi_record record_of(uint64_t pair)
{
    const uint32_t b = (uint32_t)pair;
    caromi_record record = {
        .a = (uint32_t)SPHERE_A(pair), .b = b & ~CAROMI_RECORD_IN_MARGIN, .image = CAROMI_IMAGE_OWN};
    record.t = b & CAROMI_RECORD_IN_MARGIN ? INFINITY : 0;
    record.state = b & CAROMI_RECORD_IN_MARGIN ? CAROM_MISS : CAROM_OVERLAPPING;
    return record;
}

/* A bucket of any records, as whole records. */
static void scatter_records(const scatter_work *work, uint64_t size)
{
    caromi_record *sorted = work->sorted;
    uint32_t *next = work->rows + 1;
    for (certain_cursor cursor = {0}; next_certain(work, &cursor);)
        for (const uint64_t *pair = cursor.begin; pair < cursor.end; pair++)
            sorted[next[SPHERE_A(*pair) - work->first]++] = record_of(*pair);
    for (record_cursor cursor = {0}; next_records(work, &cursor);)
        for (const caromi_record *record = cursor.begin; record < cursor.end; record++)
            sorted[next[record->a - work->first]++] = *record;
    for (uint64_t i = 0; i < size; i++)
        sort_row(sorted + work->rows[i], work->rows[i + 1] - work->rows[i]);
    for (uint64_t i = 0; i < work->rows[size]; i++)
        put(work->job, work->at + i, &sorted[i]);
}

/* Writes the columns that do not depend on the order within a row, of a cloud without periods: a and shift. */
static void set_row_columns(const scatter_work *work, uint64_t size)
{
    const caromi_record_columns *to = work->job->to;
    for (uint64_t sphere = 0; to->a && sphere < size; sphere++)
        for (uint64_t record = work->rows[sphere]; record < work->rows[sphere + 1]; record++)
            to->a[work->at + record] = (int32_t)(work->first + sphere);
    if (to->shift)
        memset(to->shift + 3 * work->at, 0, 3 * (size_t)work->rows[size]);
}

/* A record without a, packed into a key in the order of a row: 31 bits of t, 31 of b, 2 of the state. */
static uint64_t row_key_of(float t, uint32_t b, uint8_t state)
{
    uint32_t time_bits;
    memcpy(&time_bits, &t, sizeof time_bits);
    return (uint64_t)time_bits << 33 | (uint64_t)b << 2 | state;
}

static int compare_keys(const void *one, const void *other)
{
    uint64_t first, second;
    memcpy(&first, one, sizeof first);
    memcpy(&second, other, sizeof second);
    return (first > second) - (first < second);
}

/* Sorts the keys of one row, of which no two are equal. The rank of a key is the number of lesser keys, which is
 * fastest for short rows. */
static void sort_keys(const uint64_t *from, uint32_t count, uint64_t *to)
{
    if (count > SHORT_ROW) {
        memcpy(to, from, count * sizeof *to);
        qsort(to, count, sizeof *to, compare_keys);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = 0;
        for (uint32_t j = 0; j < count; j++)
            rank += from[j] < from[i];
        to[rank] = from[i];
    }
}

/* The same key of a pair that the filter has proven. */
static uint64_t row_key_of_certain(uint64_t pair)
{
    const caromi_record r = record_of(pair);
    return row_key_of(r.t, r.b, r.state);
}

/* A bucket without periodic images, as 8-byte keys. */
static void scatter_keys(const scatter_work *work, uint64_t size)
{
    const caromi_record_columns *to = work->job->to;
    uint64_t *keys = work->sorted;
    uint32_t *next = work->rows + 1; /* by sphere: where its next key goes */
    for (certain_cursor cursor = {0}; next_certain(work, &cursor);)
        for (const uint64_t *pair = cursor.begin; pair < cursor.end; pair++)
            keys[next[SPHERE_A(*pair) - work->first]++] = row_key_of_certain(*pair);
    for (record_cursor cursor = {0}; next_records(work, &cursor);)
        for (const caromi_record *record = cursor.begin; record < cursor.end; record++)
            keys[next[record->a - work->first]++] = row_key_of(record->t, record->b, record->state);
    /* Each row is sorted from the first half of the scratch into the second. */
    const uint64_t count = work->rows[size];
    uint64_t *sorted = keys + count;
    for (uint64_t i = 0; i < size; i++)
        sort_keys(keys + work->rows[i], work->rows[i + 1] - work->rows[i], sorted + work->rows[i]);
    set_row_columns(work, size);
    /* Unpacks the keys. */
    for (uint64_t i = 0; to->b && i < count; i++)
        to->b[work->at + i] = (int32_t)((sorted[i] >> 2 & INT32_MAX) - to->less_b);
    for (uint64_t i = 0; to->state && i < count; i++)
        to->state[work->at + i] = sorted[i] & 3;
    for (uint64_t i = 0; to->t && i < count; i++) {
        const uint32_t bits = (uint32_t)(sorted[i] >> 33);
        memcpy(&to->t[work->at + i], &bits, sizeof bits);
    }
}

/* A bucket with certain pairs alone: the mark of near pairs is the highest bit of b, so that b with its mark is the key
 * of a row's order. */
static void scatter_certain(const scatter_work *work, uint64_t size)
{
    const caromi_record_columns *to = work->job->to;
    const caromi_cloud *cloud = work->job->records->cloud;
    const uint32_t less_b = to->less_b;
    uint32_t *partners = work->sorted, *next = work->rows + 1;
    for (certain_cursor cursor = {0}; next_certain(work, &cursor);)
        for (const uint64_t *pair = cursor.begin; pair < cursor.end; pair++)
            partners[next[SPHERE_A(*pair) - work->first]++] = (uint32_t)*pair - less_b;
    const uint64_t count = work->rows[size];
    set_row_columns(work, size);
    uint32_t *b = cloud->margin > 0 || to->b == NULL ? partners + count + 16 : (uint32_t *)(void *)(to->b + work->at);
    cloud->context->isa->cloud_sort(partners, work->rows, (uint32_t)size, b);
    for (uint64_t i = 0; to->state && i < count; i++)
        to->state[work->at + i] = b[i] & CAROMI_RECORD_IN_MARGIN ? CAROM_MISS : CAROM_OVERLAPPING;
    for (uint64_t i = 0; to->t && i < count; i++)
        to->t[work->at + i] = b[i] & CAROMI_RECORD_IN_MARGIN ? INFINITY : 0;
    for (uint64_t i = 0; cloud->margin > 0 && to->b && i < count; i++)
        to->b[work->at + i] = (int32_t)(b[i] & ~CAROMI_RECORD_IN_MARGIN);
}

/* Counting sort by sphere, then each row is sorted and written. A record is packed as tightly as the bucket allows: 4
 * bytes (certain pairs alone), 8 (no images), or whole records. */
static void scatter_bucket(const scatter_job *job, uint64_t bucket, uint32_t thread)
{
    const caromi_records *records = job->records;
    char *scratch = job->scratch + thread * job->scratch_size;
    const scatter_work work = {.job = job,
                               .bucket = bucket,
                               .first = bucket << records->shift,
                               .at = job->start[bucket],
                               .rows = (uint32_t *)(void *)scratch,
                               .sorted = scratch + job->rows_size};
    const uint64_t most = UINT64_C(1) << records->shift,
                   size = records->end - work.first < most ? records->end - work.first : most;
    /* The tightest form that holds all records of the bucket. */
    if (!begin_rows(&work, size))
        scatter_certain(&work, size);
    else if (caromi_cloud_is_periodic(records->cloud))
        scatter_records(&work, size);
    else
        scatter_keys(&work, size);
    /* Offsets of the bucket's spheres. */
    for (uint64_t i = 0; job->to->offsets && i < size; i++)
        if (work.first + i >= records->begin)
            job->to->offsets[work.first + i] = work.at + work.rows[i];
}

/* Task: scatters some buckets. */
static void scatter_some(void *user, uint64_t task, uint32_t thread)
{
    const scatter_job *job = user;
    const uint64_t buckets = job->records->bucket_count, end = caromi_slice_start(buckets, job->tasks, task + 1);
    caromi_watch *watch = job->records->cloud->context->watch;
    for (uint64_t bucket = caromi_slice_start(buckets, job->tasks, task); bucket < end; bucket++)
        if (!caromi_watch_look(watch))
            scatter_bucket(job, bucket, thread);
}

/* The prefix sum of the buckets' record counts. Returns the largest count. */
static uint64_t start_buckets(const caromi_records *records, uint64_t *start)
{
    uint64_t largest = 0;
    start[0] = 0;
    for (uint32_t bucket = 0; bucket < records->bucket_count; bucket++) {
        uint64_t count = 0;
        for (uint32_t thread = 0; thread < records->threads; thread++)
            count += caromi_records_in_bucket(&records->stores[thread], bucket);
        start[bucket + 1] = start[bucket] + count;
        largest = count > largest ? count : largest;
    }
    return largest;
}

/* Writes all records to the list, bucket by bucket, in parallel. */
carom_status caromi_records_scatter(caromi_records *records, const caromi_record_columns *to, carom_error *err)
{
    const carom_context *context = records->cloud->context;
    const uint32_t most = TASKS_EACH * records->threads;
    scatter_job job = {
        .records = records, .to = to, .tasks = records->bucket_count < most ? records->bucket_count : most};
    job.start = caromi_alloc(context, records->bucket_count + 1, sizeof *job.start);
    const uint64_t largest = job.start != NULL ? start_buckets(records, job.start) : 0;
    /* Scratch of each thread: the largest bucket, and where its spheres' records begin. */
    job.rows_size = (((size_t)1 << records->shift) + 16) * sizeof(uint32_t) / 16 * 16;
    job.scratch_size = (job.rows_size + ((size_t)largest + 8) * sizeof(caromi_record) + 63) / 64 * 64;
    job.scratch =
        job.start != NULL && largest <= UINT32_MAX ? caromi_alloc(context, records->threads, job.scratch_size) : NULL;
    carom_status status = CAROM_OK;
    if (job.scratch == NULL)
        status = caromi_fail_memory(err, "no memory to order pairs of spheres");
    else
        caromi_parallel(caromi_cloud_pool(records->cloud), job.tasks, scatter_some, &job);
    if (status == CAROM_OK)
        status = caromi_went_on(context);
    if (status == CAROM_OK && to->offsets)
        to->offsets[records->end] = job.start[records->bucket_count];
    caromi_free(context, job.start);
    caromi_free(context, job.scratch);
    return status;
}
