/* SPDX-License-Identifier: MIT */
/* Finds each pair of a list in an earlier list. Both lists are ordered by a, so a task merges them. A row is the pairs
 * of one sphere a. Its pairs mostly keep their order from step to step, so a search starts behind the pair found last.
 * Long rows of the earlier list are sorted first, else a row would cost the product of two lengths. */
#include <stdlib.h>

#include "columns.h"

enum { RUN = 4096, LONG_ROW = 64 }; /* RUN: records of a task; LONG_ROW: a row with more records is sorted */

/* The search of a list's pairs in an earlier list. */
typedef struct previous_job {
    const caromi_cloud *cloud;
    const carom_cloud_pairs_before *before;
    const caromi_record_columns *records;
    uint64_t count;
    int64_t *previous;
    _Atomic int is_short; /* out of memory */
} previous_job;

/* Partner and image as one key. All images that no list of ours has share one number. */
static uint64_t key_of(int32_t b, const int8_t *shift)
{
    uint64_t image = CAROMI_IMAGE_OWN;
    if (shift != NULL) {
        const int in_range = shift[0] + 1u <= 2 && shift[1] + 1u <= 2 && shift[2] + 1u <= 2;
        image = in_range ? (uint64_t)(9 * (shift[0] + 1) + 3 * (shift[1] + 1) + shift[2] + 1) : CAROMI_IMAGES;
    }
    return (uint64_t)(uint32_t)b << 32 | image;
}

/* The key of a pair of the earlier list, and of the new list. */
static uint64_t key_before(const carom_cloud_pairs_before *before, uint64_t i)
{
    return key_of(before->b[i], before->shift ? before->shift + 3 * i : NULL);
}

static uint64_t key_now(const previous_job *job, uint64_t i)
{
    return key_of(job->records->b[i], caromi_cloud_is_periodic(job->cloud) ? job->records->shift + 3 * i : NULL);
}

/* Binary search: the position of the first of `count` ascending numbers that is at least `a`. */
static uint64_t row_from(const int32_t *numbers, uint64_t count, int32_t a)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (numbers[middle] < a)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- short rows -------------------------------------------------------------------------------------------------- */

/* Finds new pairs [from, to) among the earlier pairs [begin, end) of the same sphere. */
static void find_in_short(const previous_job *job, uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
    for (uint64_t i = from; i < to; i++) {
        const uint64_t key = key_now(job, i);
        uint64_t at = begin;
        while (at < end && key_before(job->before, at) != key)
            at++;
        job->previous[i] = at < end ? (int64_t)at : -1;
    }
}

/* ---- long rows --------------------------------------------------------------------------------------------------- */

/* An earlier pair: partner and image, and its position in the list. */
typedef struct known_pair {
    uint64_t key, at;
} known_pair;

static int compare(const void *one, const void *other)
{
    const known_pair *x = one, *y = other;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->at > y->at) - (x->at < y->at);
}

/* Binary search: the position of the pair with a key; -1 if there is none. */
static int64_t search(const known_pair *row, uint64_t count, uint64_t key)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (row[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && row[low].key == key ? (int64_t)row[low].at : -1;
}

/* The same by binary search in the sorted earlier pairs. */
static void find_in_long(previous_job *job, uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
    const uint64_t count = end - begin;
    known_pair *row = caromi_alloc(job->cloud->context, count, sizeof *row);
    if (row == NULL) {
        atomic_store(&job->is_short, 1);
        return;
    }
    for (uint64_t k = 0; k < count; k++)
        row[k] = (known_pair){key_before(job->before, begin + k), begin + k};
    qsort(row, (size_t)count, sizeof *row, compare);
    for (uint64_t i = from; i < to; i++)
        job->previous[i] = search(row, count, key_now(job, i));
    caromi_free(job->cloud->context, row);
}

/* ---- all rows ---------------------------------------------------------------------------------------------------- */

/* Task: finds the pairs of the rows that begin in a range of records. */
static void find_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    previous_job *job = user;
    const int32_t *a = job->records->a;
    uint64_t i = begin;
    (void)thread;
    /* A row that began before belongs to another task. */
    while (i > 0 && i < end && a[i] == a[i - 1])
        i++;
    if (i == end)
        return;
    for (uint64_t row = row_from(job->before->a, job->before->count, a[i]); i < end;) {
        /* [i, to): the sphere's new pairs; [row, row_end): its earlier ones. */
        uint64_t to = i + 1, row_end;
        while (to < job->count && a[to] == a[i])
            to++;
        while (row < job->before->count && job->before->a[row] < a[i])
            row++;
        for (row_end = row; row_end < job->before->count && job->before->a[row_end] == a[i];)
            row_end++;
        if (row_end - row < LONG_ROW)
            find_in_short(job, i, to, row, row_end);
        else
            find_in_long(job, i, to, row, row_end);
        row = row_end;
        i = to;
    }
}

/* Finds each pair of a list in an earlier list, in parallel. */
carom_status caromi_previous_find(const caromi_cloud *cloud, const carom_cloud_pairs_before *before,
                                  const caromi_record_columns *records, uint64_t count, int64_t *previous,
                                  carom_error *err)
{
    static const carom_cloud_pairs_before none = {.size = sizeof none};
    previous_job job = {.cloud = cloud,
                        .before = before != NULL ? before : &none,
                        .records = records,
                        .count = count,
                        .previous = previous};
    caromi_parallel_runs(cloud->context->pool, count, RUN, find_run, &job);
    if (job.is_short)
        return caromi_fail_memory(err, "no memory to find pairs of spheres in an earlier list");
    return CAROM_OK;
}
