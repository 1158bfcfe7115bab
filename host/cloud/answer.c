/* SPDX-License-Identifier: MIT */
/* Answers a call for spheres among themselves: scans all slices for a list or counts, searches for partners, and writes
 * what the caller asks for. */
#include "answer.h"

#include "best.h"
#include "check.h"
#include "columns.h"
#include "counts.h"
#include "itself.h"
#include "narrow_phase.h"
#include "records.h"

/* ---- all pairs --------------------------------------------------------------------------------------------------- */

/* Scans all slices. Pairs are stored in `records` or, if `counts` is not NULL, only counted there. */
static carom_status scan_all(const caromi_cloud *cloud, caromi_records *records, caromi_counts *counts,
                             carom_stats *stats, carom_error *err)
{
    caromi_cloud_slices slices;
    caromi_cloud_cut(cloud, &slices);
    const caromi_cloud_share share_of_pass = cloud->watch->share;
    carom_status status = CAROM_OK;
    atomic_store(&cloud->watch->pairs, 0);
    for (uint32_t number = 0; status == CAROM_OK && number < slices.count; number++) {
        caromi_cloud_cells cells;
        const caromi_cloud_slice slice = caromi_cloud_slice_of(&slices, number);
        const caromi_cloud_scan scan = {.cloud = cloud,
                                        .cells = &cells,
                                        .slice = &slice,
                                        .is_first = number == 0,
                                        .is_last = number + 1 == slices.count,
                                        .emit = counts ? caromi_counts_add : caromi_records_add,
                                        .emit_certain = counts ? caromi_counts_add_certain : caromi_records_add_certain,
                                        .user = counts ? (void *)counts : records};
        /* Sorts the slice's spheres into cells; then scans them, unless there are hopelessly many pairs. */
        CHECK(caromi_cloud_build(cloud, &slice, &cells, err));
        if (counts != NULL)
            caromi_counts_enter(counts, &cells);
        else
            records->cells = &cells;
        caromi_cloud_watch_part(cloud->watch, &share_of_pass, number, slices.count);
        status = caromi_refuse_dense(&scan, err);
        if (status == CAROM_OK)
            status = caromi_cloud_run(&scan, stats, err);
        if (counts != NULL && status == CAROM_OK)
            caromi_counts_join(counts);
        caromi_cloud_free(cloud, &cells);
    }
    if (status == CAROM_OK && records != NULL)
        caromi_cloud_add_itself(cloud, records, NULL, NULL);
    if (status == CAROM_OK && records != NULL && records->is_short)
        return caromi_fail_memory(err, "no memory for the pairs of %llu spheres", (unsigned long long)cloud->count);
    return status;
}

/* Counts the partners of each sphere; without `full` only the ones of higher index. */
static carom_status count_pairs(const caromi_cloud *cloud, int full, uint32_t *counts, carom_stats *stats,
                                carom_error *err)
{
    caromi_counts sums;
    CHECK(caromi_counts_begin(&sums, cloud, full, counts, err));
    const carom_status status = scan_all(cloud, NULL, &sums, stats, err);
    caromi_counts_end(&sums);
    caromi_cloud_add_itself(cloud, NULL, counts, NULL);
    return status;
}

/* Writes all records to the list in order, and computes the columns that follow from them. */
static carom_status write_list(const cloud_call *call, caromi_records *records, uint64_t total, carom_error *err)
{
    caromi_pair_columns columns;
    carom_status status = caromi_columns_create(&call->cloud, call->list, total, &columns, err);
    if (status == CAROM_OK)
        status = caromi_records_scatter(records, &columns.records, err);
    if (status == CAROM_OK)
        status = caromi_columns_fill(&call->cloud, call->list, &columns.records, total, err);
    caromi_columns_free(&call->cloud, &columns);
    if (status == CAROM_OK)
        call->list->totals->stored = total;
    return status;
}

/* Lists the pairs of spheres a below `end`. If there are more than the capacity, it sets *is_full instead. */
static carom_status list_pairs(const cloud_call *call, uint64_t end, int *is_full, carom_stats *stats, carom_error *err)
{
    const carom_cloud_pair_list *list = call->list;
    caromi_records records = {.cloud = &call->cloud,
                              .begin = call->cloud.begin,
                              .end = end,
                              .most = list->capacity,
                              .full = call->desc->full};
    CHECK(caromi_records_create(&records, err));
    carom_status status = scan_all(&call->cloud, &records, NULL, stats, err);
    const uint64_t total = caromi_records_count(&records);
    *is_full = records.is_full || total > list->capacity;
    if (status == CAROM_OK && !*is_full)
        status = write_list(call, &records, total, err);
    caromi_records_free(&records);
    return status;
}

/* Totals of a list that is too short, from the number of pairs of each sphere; no record is stored yet. */
static carom_list_totals cut_list(const cloud_call *call, const uint32_t *counts)
{
    carom_list_totals totals = {.complete = call->cloud.begin};
    for (uint64_t i = call->cloud.begin; i < call->cloud.end; i++) {
        totals.total += counts[i];
        if (totals.total <= call->list->capacity)
            totals.complete = i + 1;
    }
    return totals;
}

static void write_offsets(const cloud_call *call, const uint32_t *counts)
{
    uint64_t total = 0;
    for (uint64_t i = call->cloud.begin; call->list->offsets != NULL && i < call->cloud.end; i++)
        call->list->offsets[i + 1] = total += counts[i];
}

/* Sets the share of the progress that the next scan makes. A list that is too short costs three scans. */
static void begin_pass(const cloud_call *call, double from, double to)
{
    call->cloud.watch->share = (caromi_cloud_share){from, to};
}

/* Lists the spheres that fit into a list which is too short. Offsets and totals follow the records, so that a cancelled
 * list has none. */
static carom_status answer_short_list(const cloud_call *call, const uint32_t *counts, carom_stats *stats,
                                      carom_error *err)
{
    const carom_cloud_pair_list *list = call->list;
    carom_list_totals totals = cut_list(call, counts);
    if (totals.complete > call->cloud.begin && list->capacity > 0) {
        carom_list_totals stored = {0};
        cloud_call part = *call;
        carom_cloud_pair_list without = *list;
        without.offsets = NULL;
        without.totals = &stored;
        part.list = &without;
        const uint64_t by_integers = stats->by_integers;
        int is_full;
        begin_pass(call, 0.75, 1);
        CHECK(list_pairs(&part, totals.complete, &is_full, stats, err));
        stats->by_integers = by_integers;
        totals.stored = stored.stored;
    }
    write_offsets(call, counts);
    *list->totals = totals;
    return CAROM_OK;
}

/* Answers a list: one scan if its pairs fit into the capacity, else two more. */
static carom_status answer_list(const cloud_call *call, carom_stats *stats, carom_error *err)
{
    const caromi_cloud *cloud = &call->cloud;
    const carom_cloud_pair_list *list = call->list;
    int is_full = 1;
    if (call->before_stays)
        CHECK(caromi_cloud_check_order_before(list, err));
    *list->totals = (carom_list_totals){.complete = cloud->begin};
    if (list->offsets)
        list->offsets[cloud->begin] = 0;
    begin_pass(call, 0, 0.5);
    if (list->capacity > 0)
        CHECK(list_pairs(call, cloud->end, &is_full, stats, err));
    if (!is_full) {
        list->totals->total = list->totals->stored;
        list->totals->complete = cloud->end;
        return CAROM_OK;
    }
    uint32_t *counts = caromi_alloc(cloud->context, caromi_cloud_asked(cloud) + 1, sizeof *counts);
    if (counts == NULL)
        return caromi_fail_memory(err, "no memory to count pairs of spheres");
    stats->by_integers = 0;
    begin_pass(call, list->capacity > 0 ? 0.5 : 0, list->capacity > 0 ? 0.75 : 1);
    carom_status status = count_pairs(cloud, call->desc->full, counts, stats, err);
    if (status == CAROM_OK)
        status = answer_short_list(call, counts, stats, err);
    caromi_free(cloud->context, counts);
    return status;
}

/* ---- answers for each sphere ------------------------------------------------------------------------------------- */

static int is_valid(const caromi_cloud_block *block, uint64_t sphere)
{
    return block->is_valid[sphere - block->first];
}

enum { WRITE_RUN = 64 * CAROMI_CLOUD_BLOCK };

/* Task: marks the invalid ones among some spheres, which have no count. */
static void mark_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cloud_call *call = user;
    const caromi_cloud *cloud = &call->cloud;
    caromi_cloud_block block;
    (void)thread;
    for (uint64_t i = begin; i < end; i += block.count) {
        caromi_cloud_read(cloud, i, end, &block);
        for (uint64_t k = i; block.valid < block.count && k < i + block.count; k++)
            if (!is_valid(&block, k))
                call->count->partners[k] = CAROM_COUNT_INVALID;
    }
}

static carom_status answer_count(const cloud_call *call, carom_stats *stats, carom_error *err)
{
    const caromi_cloud *cloud = &call->cloud;
    cloud_call own = *call;
    CHECK(count_pairs(cloud, 1 /* full */, call->count->partners, stats, err));
    caromi_parallel_runs(caromi_cloud_pool(cloud), caromi_cloud_asked(cloud), WRITE_RUN, mark_run, &own);
    return CAROM_OK;
}

/* The task that writes results for each sphere. */
typedef struct write_job {
    const cloud_call *call;
    const caromi_partners *found;
} write_job;

/* Task: writes for some spheres whether they have a partner, and marks the invalid ones. */
static void write_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cloud_call *call = ((const write_job *)user)->call;
    const caromi_partners *found = ((const write_job *)user)->found;
    const caromi_cloud *cloud = &call->cloud;
    caromi_cloud_block block;
    (void)thread;
    for (uint64_t i = begin; i < end; i += block.count) {
        caromi_cloud_read(cloud, i, end, &block);
        for (uint64_t k = i; call->any != NULL && k < i + block.count; k++)
            call->any->hit[k] = is_valid(&block, k) ? found->state[k] != CAROM_MISS : CAROM_OVERLAP_INVALID;
        for (uint64_t k = i; call->first != NULL && block.valid < block.count && k < i + block.count; k++)
            if (!is_valid(&block, k))
                found->state[k] = CAROM_INVALID;
    }
}

/* The caller's array of a column, or an own one if the caller has none. */
static void *column_of(const carom_context *context, void *given, uint64_t count, size_t size)
{
    return given != NULL ? given : caromi_cached_alloc(context, count + 1, size);
}

static void free_column(const carom_context *context, const void *given, void *column)
{
    if (given == NULL)
        caromi_cached_free(context, column);
}

/* Gives the partners of the first of two clouds the indices that they have in the second. */
static void number_partners(const caromi_cloud *cloud, uint32_t *other)
{
    for (uint64_t i = 0; cloud->is_split && i < cloud->split; i++)
        other[i] -= other[i] != UINT32_MAX ? (uint32_t)cloud->split : 0;
}

/* Answers first or any partners; columns that the caller does not want are allocated. */
static carom_status answer_partners(const cloud_call *call, carom_stats *stats, carom_error *err)
{
    const caromi_cloud *cloud = &call->cloud;
    const carom_context *context = cloud->context;
    const uint64_t spheres = caromi_cloud_asked(cloud);
    const carom_cloud_partner_result none = {0}, *given = call->first != NULL ? call->first : &none;
    caromi_partners found = {.other = column_of(context, given->other, spheres, sizeof *found.other),
                             .t = column_of(context, given->t, spheres, sizeof *found.t),
                             .state = column_of(context, given->state, spheres, 1)};
    write_job write = {call, &found};
    carom_status status =
        found.other && found.t && found.state
            ? caromi_cloud_partners(cloud, call->any != NULL, &found, stats, err)
            : caromi_fail_memory(err, "no memory for the partners of %llu spheres", (unsigned long long)spheres);
    if (status == CAROM_OK) {
        caromi_cloud_add_itself(cloud, NULL, NULL, &found);
        caromi_parallel_runs(caromi_cloud_pool(cloud), spheres, WRITE_RUN, write_run, &write);
        number_partners(cloud, found.other);
    }
    free_column(context, given->other, found.other);
    free_column(context, given->t, found.t);
    free_column(context, given->state, found.state);
    return status;
}

carom_status caromi_cloud_answer(const cloud_call *call, carom_stats *stats, carom_error *err)
{
    return call->list    ? answer_list(call, stats, err)
           : call->count ? answer_count(call, stats, err)
           : call->order ? caromi_cloud_order(&call->cloud, call->order, err)
                         : answer_partners(call, stats, err);
}
