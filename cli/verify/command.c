/* SPDX-License-Identifier: MIT */
/* The row of carom verify in the list of commands. */
#include "command.h"
#include "verify.h"

/* One query of each kind says more of a device than its programs alone: their order and arguments differ by query. */
static int prepare(const void *options, uint32_t present)
{
    verify_options own = *(const verify_options *)options;
    (void)present;
    own.queries = 1;
    own.common.probe_limit = 0; /* it is such a process */
    own.common.output = "/dev/null";
    return verify_command_run(&own);
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
    .prepare = prepare,
};
