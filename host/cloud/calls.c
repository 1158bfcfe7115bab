/* SPDX-License-Identifier: MIT */
/* The calls for spheres among themselves. */
#include <math.h>
#include <string.h>

#include "narrow_phase.h"
#include "against.h"
#include "best.h"
#include "check.h"
#include "columns.h"
#include "counts.h"
#include "device.h"
#include "host/core/batch.h"
#include "host/core/fallback.h"
#include "host/core/handler.h"
#include "host/core/staging.h"
#include "itself.h"
#include "records.h"

/* A call of any kind: of the results behind `desc`, the one that is asked for is not NULL. */
typedef struct cloud_call {
    caromi_cloud cloud, second;
    caromi_cloud_watch watch;
    carom_context *context;
    const carom_cloud_desc *desc;
    const carom_cloud_pair_list *list;
    const carom_cloud_partner_result *first;
    const carom_any_result *any;
    const carom_cloud_count_result *count;
    uint32_t *order;
    int before_stays; /* the earlier list is on a device, and not checked */
} cloud_call;

/* ---- checks of a call's options ---------------------------------------------------------------------------------- */

static carom_status check_list(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_cloud_pair_list *list = request->out;
    (void)extent;
    CHECK(caromi_cloud_check_numbers(request->desc, CAROMI_FOR_LIST, err));
    return list->before != NULL ? caromi_cloud_check_before(list->before, err) : CAROM_OK;
}

static carom_status check_partners(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    (void)extent;
    return caromi_cloud_check_numbers(request->desc, CAROMI_FOR_PARTNERS, err);
}

static carom_status check_count(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    (void)extent;
    return caromi_cloud_check_numbers(request->desc, CAROMI_FOR_COUNT, err);
}

/* Describes the call as a caromi_cloud. Groups need masks beside them. */
static void describe(const carom_context *context, cloud_call *call)
{
    const carom_cloud_desc *desc = call->desc;
    static const uint32_t all_bits = UINT32_MAX;
    const caromi_index none = {NULL, 0};
    caromi_cloud *c = &call->cloud;
    *c = (caromi_cloud){.context = context,
                        .count = desc->batch.count,
                        .begin = desc->batch.begin,
                        .end = desc->a_end > 0 ? desc->a_end : desc->batch.count,
                        .is_moving = caromi_cloud_moves(desc),
                        .is_split = desc->against != NULL && call->order == NULL,
                        .split = desc->batch.count,
                        .exact = desc->batch.accuracy == CAROM_ACCURACY_EXACT,
                        .finds_best = call->first != NULL || call->any != NULL,
                        .start = desc->start,
                        .margin = desc->margin,
                        .watch = &call->watch};
    /* Progress of the call, and the columns of the caller's spheres. */
    call->watch = (caromi_cloud_watch){.call = context->watch,
                                       .begin = c->begin,
                                       .end = c->end,
                                       .share = {0, 1},
                                       .counts_pairs = call->list != NULL || call->count != NULL};
    memcpy(c->period, desc->period, sizeof c->period);
    caromi_set_inputs(caromi_type_of_cloud_list()->in, desc, none, none, c->in);
    if (desc->mask.data != NULL)
        caromi_uints_to_column(&desc->mask, none, &c->mask);
    if (desc->group.data != NULL)
        caromi_uints_to_column(&desc->group, none, &c->group);
    if (desc->group.data != NULL && desc->mask.data == NULL)
        c->mask = (caromi_in_column){.base = &all_bits};
    if (c->is_split) {
        call->second = caromi_against_cloud(desc->against);
        c->second = &call->second;
    }
}

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

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static carom_status answer(const cloud_call *call, carom_stats *stats, carom_error *err)
{
    return call->list    ? answer_list(call, stats, err)
           : call->count ? answer_count(call, stats, err)
           : call->order ? caromi_cloud_order(&call->cloud, call->order, err)
                         : answer_partners(call, stats, err);
}

/* Whether a cloud at rest has no masks and packed columns, of which blocks are read in place. */
static int is_packed(const caromi_cloud *cloud)
{
    int packed = cloud->mask.base == NULL && cloud->group.base == NULL;
    for (int column = 0; column < CLOUD_VX && cloud->count > 0; column++)
        packed &= cloud->in[column].stride == sizeof(float) && (uintptr_t)cloud->in[column].base % sizeof(float) == 0;
    return packed;
}

/* Makes two clouds one. Packed columns of spheres at rest stay where they lie. Others are copied side by side into
 * *memory, for caromi_cached_free, because they would be gathered once for each pass over the spheres. */
static carom_status join(cloud_call *call, void **memory, carom_error *err)
{
    caromi_cloud *first = &call->cloud;
    const caromi_cloud *second = first->second;
    if (first->is_moving || !is_packed(first) || !is_packed(second))
        return caromi_against_join(call->desc->against, first, memory, err);
    first->count += second->count;
    return CAROM_OK;
}

/* Makes a cloud against itself one cloud. desc: the call's from now on. */
static void search_once(cloud_call *call, carom_cloud_desc *desc)
{
    *desc = *call->desc;
    desc->against = NULL;
    desc->full = call->list != NULL;
    call->desc = desc;
    call->cloud.is_split = 0;
    call->cloud.second = NULL;
    call->cloud.meets_itself = 1;
}

/* The batch is not cut: every sphere may meet every other. */
static carom_status on_cpu(const carom_context *context, const void *batch, uint64_t first, uint64_t end,
                           carom_stats *stats, carom_error *err)
{
    cloud_call call = *(const cloud_call *)batch;
    carom_cloud_desc own;
    void *memory = NULL;
    (void)first, (void)end;
    if (caromi_cloud_is_against_itself(call.desc, &call.cloud))
        search_once(&call, &own);
    else if (call.cloud.is_split)
        CHECK(join(&call, &memory, err));
    const carom_status status = answer(&call, stats, err);
    caromi_cached_free(context, memory);
    return status;
}

/* The device sorts the spheres itself, and the arrays stay where they are. */
static carom_status answer_by_grid(caromi_device *device, const cloud_call *call, int *answered, carom_stats *stats,
                                   carom_error *err)
{
    const caromi_grid_result result = {.list = call->list,
                                       .full = call->list != NULL && call->desc->full,
                                       .partners = call->count != NULL ? call->count->partners : NULL,
                                       .first = call->first,
                                       .hit = call->any != NULL ? call->any->hit : NULL,
                                       .order = call->order};
    const caromi_cloud cloud = call->order != NULL ? caromi_cloud_resting(&call->cloud) : call->cloud;
    return caromi_driver.grid_answer(device, &cloud, &result, answered, stats, err);
}

/* The host sorts the spheres, and the device compares them. Returns a failure only if it is the device's own. The CPU
 * then repeats any other one, and reports it. */
static carom_status answer_with_device(caromi_device *device, const cloud_call *of, int *answered, carom_stats *stats,
                                       carom_error *err)
{
    cloud_call call = *of;
    int has_failed = 0;
    call.cloud.device = device;
    call.cloud.device_failed = &has_failed;
    const carom_status status = answer(&call, stats, err);
    *answered = status == CAROM_OK;
    if (status != CAROM_OK)
        stats->by_integers = 0;
    return has_failed ? status : CAROM_OK;
}

/* All arrays are the host's, and two clouds are one: the device compares what the host has sorted. Without memory for
 * both clouds the CPU fails, and reports it. by_integers: pairs decided before the call. */
static carom_status answer_joined(caromi_device *device, const cloud_call *of, uint64_t by_integers, int *answered,
                                  carom_stats *stats, carom_error *err)
{
    cloud_call call = *of;
    void *memory = NULL;
    CHECK(caromi_staging_show(call.context, err));
    if (call.cloud.is_split && caromi_against_join(call.desc->against, &call.cloud, &memory, err) != CAROM_OK)
        return CAROM_OK;
    stats->by_integers = by_integers; /* pairs of an answer that the device has begun are decided again */
    const carom_status status = answer_with_device(device, &call, answered, stats, err);
    caromi_cached_free(call.context, memory);
    return status;
}

static carom_status prepare_device(caromi_device *device, const cloud_call *call, carom_error *err)
{
    const int is_order = call->order != NULL;
    const caromi_cloud cloud = is_order ? caromi_cloud_resting(&call->cloud) : call->cloud;
    if (caromi_driver.grid_serves(device))
        CHECK(caromi_driver.grid_prepare(device, &cloud, is_order, err));
    return is_order ? CAROM_OK : caromi_driver.cloud_prepare(device, cloud.exact, err);
}

static carom_status on_device(caromi_device *device, const void *batch, uint64_t end, uint64_t *done,
                              carom_stats *stats, carom_error *err)
{
    const cloud_call *call = batch;
    const uint64_t by_integers = stats->by_integers;
    int answered = 0;
    if (end == *done)
        return prepare_device(device, call, err);
    if (caromi_driver.grid_serves(device))
        CHECK(answer_by_grid(device, call, &answered, stats, err));
    if (!answered && call->order == NULL) /* an order has no comparisons */
        CHECK(answer_joined(device, call, by_integers, &answered, stats, err));
    if (answered)
        *done = end;
    return CAROM_OK;
}

/* The measured speed of calls of this kind. */
static caromi_pace *pace_of(carom_context *context, const cloud_call *call)
{
    enum { COUNT, LIST, FIRST, ANY, ORDER };
    const int kind = call->count ? COUNT : call->list ? LIST : call->first ? FIRST : call->order ? ORDER : ANY;
    return &context->cloud_paces[kind][call->cloud.is_split][call->cloud.is_moving][call->cloud.exact];
}

/* Brings arrays from a device to the host, but those that may stay there. The host writes the totals of a list. */
static carom_status bring_arrays(const cloud_call *call, carom_error *err)
{
    const int is_empty = call->cloud.begin == call->cloud.end;
    if (is_empty)
        return caromi_staging_show(call->context, err);
    return call->list != NULL ? caromi_staging_show_array(call->context, call->list->totals, err) : CAROM_OK;
}

/* Sets what a list has without pairs, but for an array that stays on a device. */
static void begin_list(const cloud_call *call)
{
    const carom_cloud_pair_list *list = call->list;
    const int stays = caromi_resident_buffer(call->context, list->offsets) != NULL;
    caromi_begin_list(&call->desc->batch, stays ? NULL : list->offsets, list->totals);
}

/* Describes, checks and runs a call of any kind, on the backend that the context chooses. */
static carom_status run_call(const caromi_request *request, cloud_call *call, carom_error *err)
{
    carom_context *context = request->subject;
    call->context = context;
    call->desc = request->desc;
    describe(context, call);
    CHECK(bring_arrays(call, err));
    call->before_stays = call->list != NULL && call->list->previous != NULL && call->list->before != NULL &&
                         caromi_resident_buffer(context, call->list->before->a) != NULL;
    if (!call->desc->batch.prepare && call->list != NULL && !call->before_stays)
        CHECK(caromi_cloud_check_order_before(call->list, err));
    if (!call->desc->batch.prepare)
        CHECK(caromi_cloud_check_limits(context, &call->cloud.in[CLOUD_T_MAX], call->cloud.count, "sphere", err));
    if (!call->desc->batch.prepare && call->desc->against != NULL)
        CHECK(caromi_against_check_limits(context, call->desc->against, err));
    if (call->list != NULL && !call->before_stays) /* nothing is written before the last check */
        begin_list(call);
    const caromi_batch run = {.batch = call,
                              .begin = call->cloud.begin,
                              .count = call->cloud.end,
                              .on_device = on_device,
                              .on_cpu = on_cpu,
                              .is_whole = 1,
                              .counts_pairs = 1,
                              .piece = call->cloud.end + 1,
                              .reports = call->desc->batch.progress.fn != NULL,
                              .counts_share = 1,
                              .prepare = call->desc->batch.prepare,
                              .exact = call->cloud.exact,
                              .name = "spheres among themselves",
                              .pace = pace_of(context, call)};
    return caromi_run(context, &run, request->stats, err);
}

/* The handlers: each runs a checked request with its result in the place of the call's kind. */
static carom_status run_list(const caromi_request *request, carom_error *err)
{
    return run_call(request, &(cloud_call){.list = request->out}, err);
}

static const caromi_handler list_handler = {.more = caromi_cloud_list_before, .check = check_list, .run = run_list};
carom_status carom_cloud_list(carom_context *context, const carom_cloud_desc *desc, const carom_cloud_pair_list *list,
                              carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_list(), &list_handler, context,
                         &(caromi_request){context, desc, list, CAROMI_NO_WHICH, stats}, err);
}

static carom_status run_first(const caromi_request *request, carom_error *err)
{
    return run_call(request, &(cloud_call){.first = request->out}, err);
}

static const caromi_handler first_handler = {
    .more = caromi_cloud_list_others, .check = check_partners, .run = run_first};
carom_status carom_cloud_first(carom_context *context, const carom_cloud_desc *desc,
                               const carom_cloud_partner_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_first(), &first_handler, context,
                         &(caromi_request){context, desc, out, CAROMI_NO_WHICH, stats}, err);
}

static carom_status run_any(const caromi_request *request, carom_error *err)
{
    return run_call(request, &(cloud_call){.any = request->out}, err);
}

static const caromi_handler any_handler = {.more = caromi_cloud_list_others, .check = check_partners, .run = run_any};
carom_status carom_cloud_any(carom_context *context, const carom_cloud_desc *desc, const carom_any_result *out,
                             carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_any(), &any_handler, context,
                         &(caromi_request){context, desc, out, CAROMI_NO_WHICH, stats}, err);
}

static carom_status run_count(const caromi_request *request, carom_error *err)
{
    return run_call(request, &(cloud_call){.count = request->out}, err);
}

static const caromi_handler count_handler = {.more = caromi_cloud_list_others, .check = check_count, .run = run_count};
carom_status carom_cloud_count(carom_context *context, const carom_cloud_desc *desc,
                               const carom_cloud_count_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_count(), &count_handler, context,
                         &(caromi_request){context, desc, out, CAROMI_NO_WHICH, stats}, err);
}

static carom_status run_order(const caromi_request *request, carom_error *err)
{
    return run_call(request, &(cloud_call){.order = (uint32_t *)(uintptr_t)request->out}, err);
}

static const caromi_handler order_handler = {.more = caromi_cloud_list_others, .check = check_count, .run = run_order};
carom_status carom_cloud_order(carom_context *context, const carom_cloud_desc *desc, uint32_t *order,
                               carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_order(), &order_handler, context,
                         &(caromi_request){context, desc, order, CAROMI_NO_WHICH, stats}, err);
}
