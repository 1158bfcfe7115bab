/* SPDX-License-Identifier: MIT */
/* Where slabs are handed out: two messages for each, and one thread that computes beside the one that answers. */
#ifndef CAROM_CLI_MPI_DESK_H
#define CAROM_CLI_MPI_DESK_H

#include "cli/bake/slabs.h"

/* Rank 0: hand out the slabs that the file lacks, and record those that are done, until all ranks have flushed what
 * they wrote. Its own slabs are computed by a thread. Returns an exit status with the message printed. */
int desk_serve(bake_worker *worker, bake_partial *partial);
/* The others: compute slabs for as long as there are some. fd: of OUT.partial. */
void desk_work(bake_worker *worker, const bake_layout *layout, int fd);

#endif
