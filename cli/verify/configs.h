/* SPDX-License-Identifier: MIT */
/* Configurations of this machine, and what carom verify knows of each. */
#ifndef CAROM_CLI_VERIFY_CONFIGS_H
#define CAROM_CLI_VERIFY_CONFIGS_H

#include "verify.h"

enum { CONFIGS_MAX = 64 };

typedef struct config {
    char name[160];
    carom_context *context; /* NULL: refused, `refusal` says why */
    char refusal[300];
    carom_status refused;
    int is_cpu;
    double cost;        /* seconds per query, all types */
    uint64_t per_block; /* queries of a block it answers */
    uint64_t stride;    /* it answers every stride-th block */
    uint64_t queries[VERIFY_MODES][QUERY_PAIR_COUNT], different[VERIFY_MODES][QUERY_PAIR_COUNT];
    double seconds[VERIFY_MODES][QUERY_PAIR_COUNT];
    verify_rungs rungs[QUERY_PAIR_COUNT]; /* of exact mode */
    uint64_t exact_on_device;
} config;

typedef struct verification {
    const verify_options *options;
    output *out;
    config configs[CONFIGS_MAX]; /* the first is scalar on one thread */
    size_t count, base;
    char unlisted[300]; /* why there is no list of devices */
    verify_queries queries;
    verify_answers expected, got;
    uint64_t expected_share; /* queries that `expected` answers */
} verification;

/* The instruction sets that the options allow, the scalar one on one thread first. */
void verify_add_cpus(verification *v);
/* Every device that is listed, or the one asked for. */
void verify_add_devices(verification *v);
/* Can one of the devices be used? */
int verify_has_device(const verification *v);
/* Returns an exit status with the message printed. */
int verify_refuse_devices(const verification *v);

#endif
