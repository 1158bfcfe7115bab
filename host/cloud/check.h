/* SPDX-License-Identifier: MIT */
/* Checks of a cloud's options and of the values in its arrays. */
#ifndef CAROM_HOST_CLOUD_CHECK_H
#define CAROM_HOST_CLOUD_CHECK_H
#include "cloud.h"
#include "host/core/handler.h"

/* Lists arrays that are no members, for the check of arrays: the second cloud's, and of a list the earlier list's. */
void caromi_cloud_list_others(caromi_arrays *arrays, const caromi_request *request);
void caromi_cloud_list_before(caromi_arrays *arrays, const caromi_request *request);
/* Checks the numbers of a descriptor for a kind of call. */
enum caromi_cloud_call_kind { CAROMI_FOR_LIST, CAROMI_FOR_PARTNERS, CAROMI_FOR_COUNT };
carom_status caromi_cloud_check_numbers(const carom_cloud_desc *desc, enum caromi_cloud_call_kind kind,
                                        carom_error *err);
/* Checks the t_max of all spheres: where they lie on a device, there. one: what a row is, for the message. */
carom_status caromi_cloud_check_limits(carom_context *context, const caromi_in_column *column, uint64_t spheres,
                                       const char *one, carom_error *err);
carom_status caromi_cloud_check_before(const carom_cloud_pairs_before *before, carom_error *err);
/* Checks the order of an earlier list's pairs. It reads them, so it comes after the check of arrays. */
carom_status caromi_cloud_check_order_before(const carom_cloud_pair_list *list, carom_error *err);
#endif
