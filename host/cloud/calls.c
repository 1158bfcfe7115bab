/* SPDX-License-Identifier: MIT */
/* The calls for spheres among themselves: checked, described, and run on a device or on the CPU. */
#include <string.h>

#include "against.h"
#include "answer.h"
#include "check.h"
#include "device.h"
#include "host/core/batch.h"
#include "host/core/handler.h"
#include "host/core/staging.h"
#include "itself.h"

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

/* ---- on the CPU and on a device
 * --------------------------------------------------------------------------------------------------- */

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
    const carom_status status = caromi_cloud_answer(&call, stats, err);
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
    const carom_status status = caromi_cloud_answer(&call, stats, err);
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
