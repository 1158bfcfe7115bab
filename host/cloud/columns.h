/* SPDX-License-Identifier: MIT */
/* Columns of a list of pairs that follow from its records: depth, normal and the index in an earlier list. */
#ifndef CAROM_HOST_CLOUD_COLUMNS_H
#define CAROM_HOST_CLOUD_COLUMNS_H
#include "records.h"

/* Whether the list has any of these columns; whether it has depth or normal. */
int caromi_columns_are_wanted(const carom_cloud_pair_list *list);
static inline int caromi_columns_have_numbers(const carom_cloud_pair_list *list)
{
    return list->depth != NULL || list->normal.x != NULL;
}

/* Two spheres at rest, as x, y, z and radius, and the shift of b: a pair whose depth a device has left undecided. */
typedef struct caromi_pair_spheres {
    float a[4], b[4], shift[4]; /* shift[3] is not used */
} caromi_pair_spheres;
/* Computes the depths of such pairs in integer arithmetic. */
void caromi_columns_decide(const carom_context *context, const caromi_pair_spheres *pairs, uint64_t count,
                           float *depth);
/* The same of spheres in motion: at.shift[3] is 1 for a first contact that is ahead, whose normal is undecided. The
 * last numbers of the motions are not used. */
typedef struct caromi_pair_motions {
    caromi_pair_spheres at;
    float a[4], b[4];
} caromi_pair_motions;
typedef struct caromi_pair_numbers {
    float depth, normal[3]; /* of a first contact that is ahead the normal counts, else the depth */
} caromi_pair_numbers;
void caromi_columns_decide_moving(const carom_context *context, const caromi_pair_motions *pairs, uint64_t count,
                                  caromi_pair_numbers *numbers);

/* The record columns from which depth, normal and previous are computed: the caller's arrays, or temporary ones where
 * the caller has none. */
typedef struct caromi_pair_columns {
    caromi_record_columns records;
    void *own[4]; /* the temporary arrays */
} caromi_pair_columns;

/* Makes them for `count` records of a list. Call caromi_columns_free even if this fails. */
carom_status caromi_columns_create(const caromi_cloud *cloud, const carom_cloud_pair_list *list, uint64_t count,
                                   caromi_pair_columns *out, carom_error *err);
void caromi_columns_free(const caromi_cloud *cloud, caromi_pair_columns *columns);

/* Fills depth, normal and previous of `count` finished records. */
carom_status caromi_columns_fill(const caromi_cloud *cloud, const carom_cloud_pair_list *list,
                                 const caromi_record_columns *records, uint64_t count, carom_error *err);

/* Writes the index of each record's pair in the earlier list, -1 if it is not there. One task finds all records of a
 * sphere a. previous.c. */
carom_status caromi_previous_find(const caromi_cloud *cloud, const carom_cloud_pairs_before *before,
                                  const caromi_record_columns *records, uint64_t count, int64_t *previous,
                                  carom_error *err);
#endif
