/* SPDX-License-Identifier: MIT */
/* Columns of a list of pairs that follow from its records: depth, normal and the index in an earlier list. */
#ifndef CAROM_HOST_CLOUD_COLUMNS_H
#define CAROM_HOST_CLOUD_COLUMNS_H
#include "records.h"

/* Whether the list has any such column. */
int caromi_columns_are_asked(const carom_cloud_pair_list *list);

/* The columns of records that those above are made from: the caller's, or our own where the caller has none. */
typedef struct caromi_pair_columns {
    caromi_record_columns records;
    void *own[4];
} caromi_pair_columns;

/* For `count` records of this list. caromi_columns_free in any case. */
carom_status caromi_columns_create(const caromi_cloud *cloud, const carom_cloud_pair_list *list, uint64_t count,
                                   caromi_pair_columns *out, carom_error *err);
void caromi_columns_free(const caromi_cloud *cloud, caromi_pair_columns *columns);

/* Fills the list's columns for `count` finished records. */
carom_status caromi_columns_fill(const caromi_cloud *cloud, const carom_cloud_pair_list *list,
                                 const caromi_record_columns *records, uint64_t count, carom_error *err);

/* previous.c: the index of each record's pair in the earlier list, -1 without one. Each row is found by one task. */
carom_status caromi_previous_find(const caromi_cloud *cloud, const carom_cloud_pairs_before *before,
                                  const caromi_record_columns *records, uint64_t count, int64_t *previous,
                                  carom_error *err);
#endif
