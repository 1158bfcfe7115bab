/* SPDX-License-Identifier: MIT */
/* Lists of pairs of a cloud with all the columns that the type of the call has (calls/cloud.h), and what the reference
 * says of them. Command, tests and fuzz make their lists here, so that a new column is in each. */
#ifndef CAROM_QUERIES_CLOUD_LIST_H
#define CAROM_QUERIES_CLOUD_LIST_H

#include "carom/carom.h"
#include "reference/reference.h"

/* Points offsets and all columns into `memory`, which is aligned to 64 bytes, with room for list->capacity records of
 * `spheres` spheres. Without memory only the bytes that it needs are returned. */
size_t query_list_lay_out(carom_cloud_pair_list *list, uint64_t spheres, void *memory);

/* Columns are numbered in the order of a record's members; offsets are none. */
int query_list_columns(void);
const char *query_list_name(int column);
size_t query_list_element(int column);
/* The column's array; NULL: it is not asked for. */
void *query_list_column(const carom_cloud_pair_list *list, int column);
/* The column is not asked for. */
void query_list_drop(carom_cloud_pair_list *list, int column);
/* All columns begin so many records later. */
void query_list_skip(carom_cloud_pair_list *list, uint64_t records);

/* The first column in which the first `count` records of two lists differ; -1: none. Columns that one of them does not
 * have are not compared. */
int query_list_differs(const carom_cloud_pair_list *one, const carom_cloud_pair_list *other, uint64_t count);
/* The first column in which record i, whose pair and state are right, is not what the reference says, or farther beside
 * it than the reference allows. NULL: none. */
const char *query_list_judge(const carom_cloud_pair_list *list, uint64_t i, const ref_cloud_answer *truth);

#endif
