/* SPDX-License-Identifier: MIT */
/* One bake into several files, which differ in their formats. Each grows as if it were alone, with a partial file and a
 * journal of its own, so a later run may go on with any of them. Slabs are computed for the first one; the others are
 * written from it. */
#ifndef CAROM_CLI_BAKE_SEVERAL_H
#define CAROM_CLI_BAKE_SEVERAL_H

#include "slabs.h"

enum { BAKE_OUTPUTS = 1 + CLI_MORE_OUTPUTS };
typedef struct bake_outputs {
    int count, opened;
    const char *path[BAKE_OUTPUTS];
    const bake_format *format[BAKE_OUTPUTS];
    bake_plan plan[BAKE_OUTPUTS];
    bake_partial at[BAKE_OUTPUTS];
    int status[BAKE_OUTPUTS]; /* an exit status: whether each can be written */
} bake_outputs;

/* Functions that return an int return an exit status with the message printed. */

/* Paths and formats from the options. */
int bake_outputs_name(bake_outputs *out, const bake_request *options);
/* Refuse formats that cannot hold the arrays of the plan. */
int bake_outputs_check(const bake_outputs *out, const bake_plan *plan);
/* The plans, from that of all of them. */
void bake_outputs_plan(bake_outputs *out, const bake_plan *plan);
/* Is each there, with nothing beside it, of this size and fingerprint? Its numbers are not read. */
int bake_outputs_are_current(const bake_outputs *out);
/* From the beginning, or what an earlier run has left, to the end. */
int bake_outputs_bake(bake_outputs *out, const bake_request *options, bake_mesh *mesh);

#endif
