/* SPDX-License-Identifier: MIT */
/* The request of carom spheres, and its answer about a cloud. */
#ifndef CAROM_CLI_SPHERES_CLOUD_H
#define CAROM_CLI_SPHERES_CLOUD_H

#include "calls/cloud_columns.h"
#include "cli/command/command.h"

/* Columns of a list that an option of the same name adds, vectors first: X(member of carom_cloud_pair_list, numbers of
 * a record, their names in the output, what they are). */
#define CLOUD_ADDED(X) CAROMI_PAIR_NUMBERS(X, CLOUD_NONE, CLOUD_VECTOR) CAROMI_PAIR_NUMBERS(X, CLOUD_SCALAR, CLOUD_NONE)
#define CLOUD_VECTOR(X, member, x, y, z, words) X(member, 3, x, y, z, x "," y "," z ", " words)
#define CLOUD_SCALAR(X, member, words) X(member, 1, #member, NULL, NULL, #member ", " words)
#define CLOUD_NONE(...)
enum {
#define CLOUD_NUMBER(member, numbers, x, y, z, what) CLOUD_ADDS_##member,
    CLOUD_ADDED(CLOUD_NUMBER) CLOUD_ADDED_COLUMNS
#undef CLOUD_NUMBER
};

typedef struct spheres_options {
    cli_options common;
    const char *pairs, *cloud, *against; /* files; NULL: not given */
    float t_max;                         /* +inf unless given */
    int is_t_max_given;
    const char *hits;
    carom_start start;
    int is_start_given;
    float margin, period[3];
    int is_margin_given, is_period_given;
    int adds[CLOUD_ADDED_COLUMNS]; /* flags */
    const char *previous;          /* a file; NULL: not given */
} spheres_options;

typedef enum cloud_hits { HITS_ALL, HITS_FIRST, HITS_ANY, HITS_COUNT } cloud_hits;

/* The whole of --cloud. Returns an exit status with the message printed. */
int cloud_run(const spheres_options *options, cloud_hits hits);
/* Prepares its calls: see cli_command. */
int cloud_prepare(const spheres_options *options, cloud_hits hits, uint32_t present);

#endif
