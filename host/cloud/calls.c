/* SPDX-License-Identifier: MIT */
/* The calls for spheres among themselves. */
#include <math.h>
#include <string.h>

#include "narrow_phase.h"
#include "best.h"
#include "columns.h"
#include "counts.h"
#include "host/core/batch.h"
#include "host/core/device.h"
#include "host/core/handler.h"
#include "records.h"

/* What is asked for; the others are NULL. */
typedef struct cloud_call {
    caromi_cloud cloud;
    caromi_cloud_watch watch;
    const carom_cloud_desc *desc;
    const carom_cloud_pair_list *list;
    const carom_cloud_partner_result *first;
    const carom_any_result *any;
    const carom_cloud_count_result *count;
    uint32_t *order;
} cloud_call;

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* The arrays of an earlier list. */
static void list_before(caromi_arrays *a, const caromi_request *r)
{
    const carom_cloud_pairs_before *before = ((const carom_cloud_pair_list *)r->out)->before;
    if (before == NULL)
        return;
    caromi_reads(a, "before", before, 1, 0, sizeof *before);
    caromi_reads(a, "before.a", before->a, before->count, sizeof *before->a, sizeof *before->a);
    caromi_reads(a, "before.b", before->b, before->count, sizeof *before->b, sizeof *before->b);
    caromi_reads(a, "before.shift", before->shift, before->count, 3, 3);
}

/* has_margin: 0 for first and any partners. */
static carom_status check_numbers(const carom_cloud_desc *d, int is_list, int has_margin, carom_error *err)
{
    if (d->batch.count > INT32_MAX)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "batch.count is %llu; a cloud has at most 2^31 - 1 spheres",
                           (unsigned long long)d->batch.count);
    if (!(d->margin >= 0 && d->margin < INFINITY))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "margin is %g; it must be finite and >= 0",
                           (double)d->margin);
    if (d->margin > 0 && (d->velocity.x != NULL || !has_margin))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "margin is %g; it must be 0 %s", (double)d->margin,
                           d->velocity.x != NULL ? "where spheres move" : "for first and any partners");
    for (int k = 0; k < 3; k++)
        if (!(d->period[k] >= 0 && d->period[k] < INFINITY))
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "period[%d] is %g; it must be finite and >= 0", k,
                               (double)d->period[k]);
    if (d->start != CAROM_START_REPORT && d->start != CAROM_START_SKIP_PARTING && d->start != CAROM_START_SKIP)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "start is %d; it must be report (0), skip-parting (1) or skip (2)", (int)d->start);
    if (d->full > 1 || (d->full && !is_list))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "full is %d; it must be 0%s", d->full,
                           is_list ? " or 1" : ", but for a list");
    if (d->a_end > d->batch.count || (d->a_end > 0 && d->a_end < d->batch.begin) || (d->a_end > 0 && !is_list))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "a_end is %llu; it must be %s",
                           (unsigned long long)d->a_end, is_list ? "0 or within begin and count" : "0, but for a list");
    return CAROM_OK;
}

static carom_status check_limits(const caromi_cloud *cloud, carom_error *err)
{
    const caromi_in_column *column = &cloud->in[CLOUD_T_MAX];
    const uint64_t count = column->stride == 0 && cloud->count > 0 ? 1 : cloud->count;
    for (uint64_t i = 0; column->base != NULL && i < count; i++) {
        float t;
        memcpy(&t, caromi_element(column, i), sizeof t);
        if (!(t >= 0))
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "sphere %llu: t_max is %g; it must be >= 0",
                               (unsigned long long)i, (double)t);
    }
    return CAROM_OK;
}

static carom_status check_before(const carom_cloud_pairs_before *before, carom_error *err)
{
    CHECK(caromi_check_desc(before->size, sizeof *before, "carom_cloud_pairs_before", err));
    CHECK(caromi_check_count(before->count, "before.count", err));
    if (before->count > 0 && (before->a == NULL || before->b == NULL))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "before: a and b must not be NULL");
    return CAROM_OK;
}

/* After the check of arrays. */
static carom_status check_order_before(const carom_cloud_pair_list *list, carom_error *err)
{
    const carom_cloud_pairs_before *before = list->before;
    for (uint64_t i = 1; list->previous != NULL && before != NULL && i < before->count; i++)
        if (before->a[i] < before->a[i - 1])
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                               "before: record %llu has a = %d behind a = %d; they must ascend", (unsigned long long)i,
                               before->a[i], before->a[i - 1]);
    return CAROM_OK;
}

static carom_status check_list(const caromi_request *r, uint64_t *extent, carom_error *err)
{
    const carom_cloud_pair_list *list = r->out;
    (void)extent;
    CHECK(check_numbers(r->desc, 1, 1, err));
    return list->before != NULL ? check_before(list->before, err) : CAROM_OK;
}

static carom_status check_partners(const caromi_request *r, uint64_t *extent, carom_error *err)
{
    (void)extent;
    return check_numbers(r->desc, 0, 0, err);
}

static carom_status check_count(const caromi_request *r, uint64_t *extent, carom_error *err)
{
    (void)extent;
    return check_numbers(r->desc, 0, 1, err);
}

static void describe(const carom_context *context, cloud_call *q)
{
    const carom_cloud_desc *d = q->desc;
    const caromi_index none = {NULL, 0};
    caromi_cloud *c = &q->cloud;
    *c = (caromi_cloud){.context = context,
                        .count = d->batch.count,
                        .begin = d->batch.begin,
                        .end = d->a_end > 0 ? d->a_end : d->batch.count,
                        .is_moving = d->velocity.x != NULL,
                        .exact = d->batch.accuracy == CAROM_ACCURACY_EXACT,
                        .finds_best = q->first != NULL || q->any != NULL,
                        .start = d->start,
                        .margin = d->margin,
                        .watch = &q->watch};
    q->watch = (caromi_cloud_watch){.progress = d->batch.progress,
                                    .begin = c->begin,
                                    .end = c->end,
                                    .share = {0, 1},
                                    .counts_pairs = q->list != NULL || q->count != NULL};
    memcpy(c->period, d->period, sizeof c->period);
    caromi_set_inputs(caromi_type_of_cloud_list()->in, d, none, none, c->in);
    if (d->mask.data != NULL)
        caromi_uints_to_column(&d->mask, none, &c->mask);
}

/* ---- all pairs --------------------------------------------------------------------------------------------------- */

/* All slices into the records, or, where there are counts, into these. */
static carom_status scan_all(const caromi_cloud *cloud, caromi_records *records, caromi_counts *counts,
                             carom_stats *stats, carom_error *err)
{
    caromi_cloud_slices slices;
    caromi_cloud_cut(cloud, &slices);
    const caromi_watch_share whole = cloud->watch->share;
    carom_status status = CAROM_OK;
    atomic_store(&cloud->watch->pairs, 0);
    for (uint32_t k = 0; status == CAROM_OK && k < slices.count; k++) {
        caromi_cloud_cells cells;
        const caromi_cloud_slice slice = caromi_cloud_slice_of(&slices, k);
        const caromi_cloud_scan scan = {.cloud = cloud,
                                        .cells = &cells,
                                        .slice = &slice,
                                        .is_first = k == 0,
                                        .is_last = k + 1 == slices.count,
                                        .emit = counts ? caromi_counts_add : caromi_records_add,
                                        .emit_certain = counts ? caromi_counts_add_certain : caromi_records_add_certain,
                                        .user = counts ? (void *)counts : records};
        CHECK(caromi_cloud_build(cloud, &slice, &cells, err));
        if (counts != NULL)
            caromi_counts_enter(counts, &cells);
        else
            records->cells = &cells;
        caromi_watch_part(cloud->watch, &whole, k, slices.count);
        status = caromi_refuse_dense(&scan, err);
        if (status == CAROM_OK)
            status = caromi_cloud_run(&scan, stats, err);
        if (counts != NULL && status == CAROM_OK)
            caromi_counts_join(counts);
        caromi_cloud_free(cloud, &cells);
    }
    if (status == CAROM_OK && records != NULL && records->is_short)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the pairs of %llu spheres",
                           (unsigned long long)cloud->count);
    return status;
}

/* Partners of each sphere a, or, `full`, of each sphere. */
static carom_status count_pairs(const caromi_cloud *cloud, int full, uint32_t *counts, carom_stats *stats,
                                carom_error *err)
{
    caromi_counts sums;
    CHECK(caromi_counts_begin(&sums, cloud, full, counts, err));
    const carom_status status = scan_all(cloud, NULL, &sums, stats, err);
    caromi_counts_end(&sums);
    return status;
}

/* All records in order, and the columns that follow from them. */
static carom_status deliver(const cloud_call *q, caromi_records *records, uint64_t total, carom_error *err)
{
    caromi_pair_columns columns;
    carom_status status = caromi_columns_create(&q->cloud, q->list, total, &columns, err);
    if (status == CAROM_OK)
        status = caromi_records_scatter(records, &columns.records, err);
    if (status == CAROM_OK && caromi_columns_are_wanted(q->list))
        status = caromi_columns_fill(&q->cloud, q->list, &columns.records, total, err);
    caromi_columns_free(&q->cloud, &columns);
    if (status == CAROM_OK)
        q->list->totals->stored = total;
    return status;
}

/* Pairs with a in [begin, end), if they are at most `capacity`; else *is_full. */
static carom_status keep_pairs(const cloud_call *q, uint64_t end, int *is_full, carom_stats *stats, carom_error *err)
{
    const carom_cloud_pair_list *l = q->list;
    caromi_records records = {
        .cloud = &q->cloud, .begin = q->cloud.begin, .end = end, .most = l->capacity, .full = q->desc->full};
    CHECK(caromi_records_create(&records, err));
    carom_status status = scan_all(&q->cloud, &records, NULL, stats, err);
    const uint64_t total = caromi_records_count(&records);
    *is_full = records.is_full || total > l->capacity;
    if (status == CAROM_OK && !*is_full)
        status = deliver(q, &records, total, err);
    caromi_records_free(&records);
    return status;
}

/* Offsets and totals of a list that is too short, from the number of pairs of each sphere. */
static void cut_list(const cloud_call *q, const uint32_t *counts)
{
    const carom_cloud_pair_list *l = q->list;
    carom_list_totals *totals = l->totals;
    totals->total = 0;
    totals->complete = q->cloud.begin;
    for (uint64_t i = q->cloud.begin; i < q->cloud.end; i++) {
        totals->total += counts[i];
        if (l->offsets)
            l->offsets[i + 1] = totals->total;
        if (totals->total <= l->capacity)
            totals->complete = i + 1;
    }
}

/* A list that is too short costs three scans; how far they are is known only of the one under way. */
static void begin_pass(const cloud_call *q, double from, double to)
{
    q->cloud.watch->share = (caromi_watch_share){from, to};
}

static carom_status answer_list(const cloud_call *q, carom_stats *stats, carom_error *err)
{
    const caromi_cloud *cloud = &q->cloud;
    const carom_cloud_pair_list *l = q->list;
    int is_full = 1;
    *l->totals = (carom_list_totals){.complete = cloud->begin};
    if (l->offsets)
        l->offsets[cloud->begin] = 0;
    begin_pass(q, 0, 0.5);
    if (l->capacity > 0)
        CHECK(keep_pairs(q, cloud->end, &is_full, stats, err));
    if (!is_full) {
        l->totals->total = l->totals->stored;
        l->totals->complete = cloud->end;
        return CAROM_OK;
    }
    uint32_t *counts = caromi_alloc(cloud->context, cloud->count + 1, sizeof *counts);
    if (counts == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to count pairs of spheres");
    stats->by_integers = 0;
    begin_pass(q, l->capacity > 0 ? 0.5 : 0, l->capacity > 0 ? 0.75 : 1);
    carom_status status = count_pairs(cloud, q->desc->full, counts, stats, err);
    if (status == CAROM_OK) {
        cut_list(q, counts);
        const uint64_t total = l->totals->total, complete = l->totals->complete, settled = stats->by_integers;
        if (complete > cloud->begin && l->capacity > 0) {
            cloud_call part = *q;
            carom_cloud_pair_list without = *l;
            without.offsets = NULL; /* they are set */
            part.list = &without;
            begin_pass(q, 0.75, 1);
            status = keep_pairs(&part, complete, &is_full, stats, err);
        }
        l->totals->total = total;
        l->totals->complete = complete;
        stats->by_integers = settled;
    }
    caromi_free(cloud->context, counts);
    return status;
}

/* ---- answers for each sphere ------------------------------------------------------------------------------------- */

static int is_valid(const caromi_cloud_block *block, uint64_t sphere)
{
    return block->is_valid[sphere - block->first];
}

enum { WRITE_RUN = 64 * CAROMI_CLOUD_BLOCK };

/* Task: which of some spheres have no count. */
static void mark_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cloud_call *q = user;
    const caromi_cloud *cloud = &q->cloud;
    caromi_cloud_block block;
    (void)thread;
    for (uint64_t i = begin; i < end; i += block.count) {
        caromi_cloud_read(cloud, i, end, &block);
        for (uint64_t k = i; block.valid < block.count && k < i + block.count; k++)
            if (!is_valid(&block, k))
                q->count->partners[k] = CAROM_COUNT_INVALID;
    }
}

static carom_status answer_count(const cloud_call *q, carom_stats *stats, carom_error *err)
{
    cloud_call own = *q;
    CHECK(count_pairs(&q->cloud, 1, q->count->partners, stats, err));
    caromi_parallel_runs(caromi_cloud_pool(&q->cloud), q->cloud.count, WRITE_RUN, mark_run, &own);
    return CAROM_OK;
}

typedef struct write_job {
    const cloud_call *q;
    const caromi_partners *found;
} write_job;

/* Task: of some spheres whether they have partners; which are not valid. */
static void write_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cloud_call *q = ((const write_job *)user)->q;
    const caromi_partners *found = ((const write_job *)user)->found;
    const caromi_cloud *cloud = &q->cloud;
    caromi_cloud_block block;
    (void)thread;
    for (uint64_t i = begin; i < end; i += block.count) {
        caromi_cloud_read(cloud, i, end, &block);
        for (uint64_t k = i; q->any != NULL && k < i + block.count; k++)
            q->any->hit[k] = is_valid(&block, k) ? found->state[k] != CAROM_MISS : CAROM_OVERLAP_INVALID;
        for (uint64_t k = i; q->first != NULL && block.valid < block.count && k < i + block.count; k++)
            if (!is_valid(&block, k))
                found->state[k] = CAROM_INVALID;
    }
}

/* The caller's array of a column, or one of ours. */
static void *column_of(const carom_context *context, void *given, uint64_t count, size_t size)
{
    return given != NULL ? given : caromi_cached_alloc(context, count + 1, size);
}

static void free_column(const carom_context *context, const void *given, void *column)
{
    if (given == NULL)
        caromi_cached_free(context, column);
}

static carom_status answer_partners(const cloud_call *q, carom_stats *stats, carom_error *err)
{
    const carom_context *c = q->cloud.context;
    const uint64_t n = q->cloud.count;
    const carom_cloud_partner_result none = {0}, *given = q->first != NULL ? q->first : &none;
    caromi_partners found = {.other = column_of(c, given->other, n, sizeof *found.other),
                             .t = column_of(c, given->t, n, sizeof *found.t),
                             .state = column_of(c, given->state, n, 1)};
    write_job write = {q, &found};
    carom_status status = found.other && found.t && found.state
                              ? caromi_cloud_partners(&q->cloud, q->any != NULL, &found, stats, err)
                              : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                                            "no memory for the partners of %llu spheres", (unsigned long long)n);
    if (status == CAROM_OK)
        caromi_parallel_runs(caromi_cloud_pool(&q->cloud), q->cloud.count, WRITE_RUN, write_run, &write);
    free_column(c, given->other, found.other);
    free_column(c, given->t, found.t);
    free_column(c, given->state, found.state);
    return status;
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static carom_status answer(const cloud_call *q, carom_stats *stats, carom_error *err)
{
    return q->list    ? answer_list(q, stats, err)
           : q->count ? answer_count(q, stats, err)
           : q->order ? caromi_cloud_order(&q->cloud, q->order, err)
                      : answer_partners(q, stats, err);
}

/* The batch is not cut: every sphere may meet every other. */
static carom_status on_cpu(const carom_context *context, const void *batch, uint64_t first, uint64_t end,
                           carom_stats *stats, carom_error *err)
{
    (void)context, (void)first, (void)end;
    return answer(batch, stats, err);
}

/* If something else than the device fails, the CPU is to find that too, and says it. */
static carom_status on_device(caromi_device *device, const void *batch, uint64_t end, uint64_t *done,
                              carom_stats *stats, carom_error *err)
{
    cloud_call q = *(const cloud_call *)batch;
    int has_failed = 0;
    if (end == *done)
        return caromi_driver.cloud_prepare(device, q.cloud.exact, err);
    q.cloud.device = device;
    q.cloud.device_failed = &has_failed;
    const carom_status status = answer(&q, stats, err);
    if (status == CAROM_OK)
        *done = end;
    else
        stats->by_integers = 0;
    return has_failed ? status : CAROM_OK;
}

/* Batches of one kind have about one pace. */
static caromi_pace *pace_of(carom_context *context, const cloud_call *q)
{
    const int kind = q->count ? 0 : q->list ? 1 : q->first ? 2 : 3;
    return &context->cloud_paces[kind][q->cloud.is_moving][q->cloud.exact];
}

static carom_status run_call(const caromi_request *r, cloud_call *q, carom_error *err)
{
    carom_context *context = r->subject;
    q->desc = r->desc;
    describe(context, q);
    if (!q->desc->batch.prepare)
        CHECK(check_limits(&q->cloud, err));
    if (q->list != NULL) /* nothing is written before the last check */
        caromi_begin_list(&q->desc->batch, q->list->offsets, q->list->totals);
    const int has_device = q->order == NULL;
    caromi_pace pace = {0};
    const caromi_batch run = {.batch = q,
                              .begin = q->cloud.begin,
                              .count = q->cloud.end,
                              .on_device = has_device ? on_device : NULL,
                              .on_cpu = on_cpu,
                              .is_whole = 1,
                              .counts_pairs = 1,
                              .piece = q->cloud.end + 1,
                              .progress = q->desc->batch.progress,
                              .prepare = q->desc->batch.prepare,
                              .exact = q->cloud.exact,
                              .name = "spheres among themselves",
                              .pace = has_device ? pace_of(context, q) : &pace};
    return caromi_run(context, &run, r->stats, err);
}

static carom_status run_list(const caromi_request *r, carom_error *err)
{
    const carom_cloud_desc *d = r->desc;
    cloud_call q = {.list = r->out};
    if (!d->batch.prepare)
        CHECK(check_order_before(q.list, err));
    return run_call(r, &q, err);
}

static const caromi_handler list_handler = {.more = list_before, .check = check_list, .run = run_list};
carom_status carom_cloud_list(carom_context *context, const carom_cloud_desc *desc, const carom_cloud_pair_list *list,
                              carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_list(), &list_handler, context,
                         &(caromi_request){context, desc, list, 0, stats}, err);
}

static carom_status run_first(const caromi_request *r, carom_error *err)
{
    return run_call(r, &(cloud_call){.first = r->out}, err);
}

static const caromi_handler first_handler = {.check = check_partners, .run = run_first};
carom_status carom_cloud_first(carom_context *context, const carom_cloud_desc *desc,
                               const carom_cloud_partner_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_first(), &first_handler, context,
                         &(caromi_request){context, desc, out, 0, stats}, err);
}

static carom_status run_any(const caromi_request *r, carom_error *err)
{
    return run_call(r, &(cloud_call){.any = r->out}, err);
}

static const caromi_handler any_handler = {.check = check_partners, .run = run_any};
carom_status carom_cloud_any(carom_context *context, const carom_cloud_desc *desc, const carom_any_result *out,
                             carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_any(), &any_handler, context,
                         &(caromi_request){context, desc, out, 0, stats}, err);
}

static carom_status run_count(const caromi_request *r, carom_error *err)
{
    return run_call(r, &(cloud_call){.count = r->out}, err);
}

static const caromi_handler count_handler = {.check = check_count, .run = run_count};
carom_status carom_cloud_count(carom_context *context, const carom_cloud_desc *desc,
                               const carom_cloud_count_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_count(), &count_handler, context,
                         &(caromi_request){context, desc, out, 0, stats}, err);
}

static carom_status run_order(const caromi_request *r, carom_error *err)
{
    return run_call(r, &(cloud_call){.order = (uint32_t *)(uintptr_t)r->out}, err);
}

static const caromi_handler order_handler = {.check = check_count, .run = run_order};
carom_status carom_cloud_order(carom_context *context, const carom_cloud_desc *desc, uint32_t *order,
                               carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    return caromi_answer(caromi_type_of_cloud_order(), &order_handler, context,
                         &(caromi_request){context, desc, order, 0, stats}, err);
}
