/* SPDX-License-Identifier: MIT */
/* The work of carom spheres --cloud, which cloud.c describes and whose lists cloud_list.c writes. */
#ifndef CAROM_CLI_SPHERES_CLOUD_JOB_H
#define CAROM_CLI_SPHERES_CLOUD_JOB_H

#include "cloud.h"
#include "cli/rows/rows.h"

enum {
    CLOUD_X,
    CLOUD_Y,
    CLOUD_Z,
    CLOUD_RADIUS,
    CLOUD_VX,
    CLOUD_VY,
    CLOUD_VZ,
    CLOUD_MASK,
    CLOUD_GROUP,
    CLOUD_T_MAX,
    CLOUD_COLUMNS
};

/* The fields of a list that each has; further ones follow. */
enum { CLOUD_A, CLOUD_B, CLOUD_STATE, CLOUD_T, CLOUD_LIST_FIELDS };

typedef struct cloud_job {
    const spheres_options *options;
    cloud_hits hits;
    table_column columns[CLOUD_COLUMNS], against_columns[CLOUD_COLUMNS]; /* of --cloud and --against */
    uint64_t count, against_count;
    carom_context *context;
    carom_cloud_against against;
    carom_cloud_desc desc;
    query_field fields[QUERY_FIELDS_MAX];            /* the columns of the output */
    int shift, previous, added[CLOUD_ADDED_COLUMNS]; /* the first field of each in a list; 0: not asked for */
    rows_query query;
    rows_writer *writer;
    progress progress; /* of the spheres that are answered */
} cloud_job;

/* The report of the library's first call. */
void cloud_report(const cloud_job *job, const carom_stats *stats);
/* All pairs, in pieces. Returns an exit status with the message printed. */
int cloud_list_write(cloud_job *job);
/* Prepare the list, with room for one pair in the fields. */
carom_status cloud_list_prepare(cloud_job *job, const rows_field *fields, carom_error *err);

#endif
