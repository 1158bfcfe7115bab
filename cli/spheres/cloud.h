/* SPDX-License-Identifier: MIT */
/* The request of carom spheres, and its answer about a cloud. */
#ifndef CAROM_CLI_SPHERES_CLOUD_H
#define CAROM_CLI_SPHERES_CLOUD_H

#include "cli/command/command.h"

/* Columns of a list that an option of the same name adds: X(member of carom_cloud_pair_list, numbers of a record, their
 * names in the output, what they are). */
#define CLOUD_ADDED(X)                                                                 \
    X(normal, 3, "nx", "ny", "nz", "nx,ny,nz, the unit vector from a to b at the hit") \
    X(depth, 1, "depth", NULL, NULL, "depth, the sum of the radii less the distance at the hit")
enum {
#define CLOUD_NUMBER(member, numbers, x, y, z, what) CLOUD_ADDS_##member,
    CLOUD_ADDED(CLOUD_NUMBER) CLOUD_ADDED_COLUMNS
#undef CLOUD_NUMBER
};

typedef struct spheres_options {
    cli_options common;
    const char *pairs, *cloud; /* files; NULL: not given */
    float t_max;               /* +inf unless given */
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
