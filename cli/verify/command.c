/* SPDX-License-Identifier: MIT */
/* The row of carom verify in the list of commands. */
#include "command.h"
#include "verify.h"

/* A process that tries devices answers one query. */
static void rehearse(void *options)
{
    verify_options *o = options;
    o->queries = 1;
}

static const cli_option own_options[] = {CLI_QUERIES(verify_options), CLI_SEED(verify_options)};
static const verify_options defaults = {.queries = 1000000, .seed = 1};

const cli_command verify_command = {
    .name = "verify",
    .summary = "compare every backend bit by bit, and with the exact reference",
    .synopsis = "carom verify [--queries N] [--seed S]",
    .details = "Every instruction set, thread count and OpenCL device present answers N queries of each type (default "
               "1000000)\n"
               "and min(N, 100000) queries go to the exact reference. N/96 more ask meshes for first, all and any "
               "hits, overlaps "
               "and\n"
               "closest points, and some of these too go to the reference; so do small clouds. Exit status 1 on any "
               "difference.\n",
    .run = verify_command_run,
    .size = sizeof(verify_options),
    .defaults = &defaults,
    .options = own_options,
    .option_count = CLI_COUNT(own_options),
    .computes = 1,
    .output = &cli_output_text,
    .rehearse = rehearse,
    .rehearses_all = 1,
};
