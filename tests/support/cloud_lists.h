/* SPDX-License-Identifier: MIT */
/* Lists of a cloud's pairs, asked for and compared. */
#ifndef CAROM_TESTS_SUPPORT_CLOUD_LISTS_H
#define CAROM_TESTS_SUPPORT_CLOUD_LISTS_H

#include "cloud_records.h"
#include "clouds.h"

/* Released with free(at). */
typedef struct cloud_records {
    cloud_record *at;
    size_t count, room;
} cloud_records;

void cloud_append(cloud_records *r, cloud_record one);
/* cloud_record_order() for qsort. */
int cloud_compare(const void *one, const void *other);
/* Appends the list of a call, in arrays that hold `capacity`; returns the totals. */
carom_list_totals cloud_list(carom_context *context, const carom_cloud_desc *d, size_t capacity, cloud_records *out);
/* Fails with the first difference in the words of the test: the cloud's number, and what was asked. */
void cloud_check_records(const cloud_records *got, const cloud_records *expected, size_t number, const char *what);

#endif
