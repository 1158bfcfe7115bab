/* SPDX-License-Identifier: MIT */
/* The commands of queries of the registry that are about pairs alone: a row there is all that they need. */
#include "command.h"
#include "cli/rows/rows.h"

typedef struct pairs_options {
    cli_options common;
    const char *pairs;
} pairs_options;

const cli_option pairs_own_options[1] = {CLI_PAIRS(pairs_options)};

int pairs_run(const void *options)
{
    const pairs_options *o = options;
    const query_type *q = query_named(o->common.command->name);
    if (!o->pairs)
        return cli_refuse(EXIT_USAGE, "%s: --pairs FILE is missing", q->name);
    return rows_pairs(q, &o->common, o->pairs);
}

int pairs_prepare(const void *options, uint32_t present)
{
    const pairs_options *o = options;
    return rows_prepare_pairs(query_named(o->common.command->name), &o->common, present);
}

#define PAIRS_ONLY(query)                             \
    const cli_command query##_command = {             \
        .name = #query,                               \
        .run = pairs_run,                             \
        .size = sizeof(pairs_options),                \
        .options = pairs_own_options,                 \
        .option_count = CLI_COUNT(pairs_own_options), \
        .computes = 1,                                \
        .output = &cli_output_rows,                   \
        .prepare = pairs_prepare,                     \
    };
QUERY_PAIRS(PAIRS_COMMAND)
