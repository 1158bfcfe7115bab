/* SPDX-License-Identifier: MIT */
/* Checks of a cloud's options and of the values in its arrays. */
#include "check.h"
#include "against.h"

#include <math.h>

#include "host/core/values.h"

/* Lists arrays that are no members, for the check of arrays: the second cloud's, and of a list the earlier list's. */
void caromi_cloud_list_others(caromi_arrays *arrays, const caromi_request *request)
{
    caromi_against_list(arrays, request->desc);
}

void caromi_cloud_list_before(caromi_arrays *arrays, const caromi_request *request)
{
    caromi_cloud_list_others(arrays, request);
    const carom_cloud_pairs_before *before = ((const carom_cloud_pair_list *)request->out)->before;
    if (before == NULL)
        return;
    caromi_reads_one(arrays, "before", before, sizeof *before);
    caromi_reads(arrays, "before.a", before->a, before->count, sizeof *before->a, sizeof *before->a);
    caromi_reads(arrays, "before.b", before->b, before->count, sizeof *before->b, sizeof *before->b);
    caromi_reads(arrays, "before.shift", before->shift, before->count, 3, 3);
}

carom_status caromi_cloud_check_numbers(const carom_cloud_desc *desc, enum caromi_cloud_call_kind kind,
                                        carom_error *err)
{
    const int is_list = kind == CAROMI_FOR_LIST, has_margin = kind != CAROMI_FOR_PARTNERS;
    if (desc->batch.count > INT32_MAX)
        return caromi_fail_argument(err, "batch.count is %llu; a cloud has at most 2^31 - 1 spheres",
                                    (unsigned long long)desc->batch.count);
    if (!(desc->margin >= 0 && desc->margin < INFINITY))
        return caromi_fail_argument(err, "margin is %g; it must be finite and >= 0", (double)desc->margin);
    CHECK(caromi_against_check(desc, err));
    if (desc->margin > 0 && (caromi_cloud_moves(desc) || !has_margin))
        return caromi_fail_argument(err, "margin is %g; it must be 0 %s", (double)desc->margin,
                                    caromi_cloud_moves(desc) ? "where spheres move" : "for first and any partners");
    for (int k = 0; k < 3; k++)
        if (!(desc->period[k] >= 0 && desc->period[k] < INFINITY))
            return caromi_fail_argument(err, "period[%d] is %g; it must be finite and >= 0", k,
                                        (double)desc->period[k]);
    if (desc->start != CAROM_START_REPORT && desc->start != CAROM_START_SKIP_PARTING && desc->start != CAROM_START_SKIP)
        return caromi_fail_argument(err, "start is %d; it must be report (0), skip-parting (1) or skip (2)",
                                    (int)desc->start);
    if (desc->full > 1 || (desc->full && !is_list))
        return caromi_fail_argument(err, "full is %d; it must be 0%s", desc->full,
                                    is_list ? " or 1" : ", but for a list");
    if (desc->a_end > desc->batch.count || (desc->a_end > 0 && desc->a_end < desc->batch.begin) ||
        (desc->a_end > 0 && !is_list))
        return caromi_fail_argument(err, "a_end is %llu; it must be %s", (unsigned long long)desc->a_end,
                                    is_list ? "0 or within begin and count" : "0, but for a list");
    return CAROM_OK;
}

carom_status caromi_cloud_check_limits(carom_context *context, const caromi_in_column *column, uint64_t spheres,
                                       const char *one, carom_error *err)
{
    const carom_batch all = {.count = spheres};
    const caromi_values limits = {.name = "t_max", .one = one, .column = *column, .are_limits = 1, .most = INFINITY};
    return caromi_check_values(context, &all, &limits, 1, err);
}

carom_status caromi_cloud_check_before(const carom_cloud_pairs_before *before, carom_error *err)
{
    CHECK(caromi_check_desc(before->size, sizeof *before, "carom_cloud_pairs_before", err));
    CHECK(caromi_check_count(before->count, "before.count", err));
    if (before->count > 0 && (before->a == NULL || before->b == NULL))
        return caromi_fail_argument(err, "before: a and b must not be NULL");
    return CAROM_OK;
}

/* Reads the earlier list, so it comes after the check of arrays. */
carom_status caromi_cloud_check_order_before(const carom_cloud_pair_list *list, carom_error *err)
{
    const carom_cloud_pairs_before *before = list->before;
    for (uint64_t i = 1; list->previous != NULL && before != NULL && i < before->count; i++)
        if (before->a[i] < before->a[i - 1])
            return caromi_fail_argument(err, "before: record %llu has a = %d behind a = %d; they must ascend",
                                        (unsigned long long)i, before->a[i], before->a[i - 1]);
    return CAROM_OK;
}
