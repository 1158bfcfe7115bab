/* SPDX-License-Identifier: MIT */
/* Scheduler of slabs: two messages for each slab, and a thread that computes beside the one that answers messages. */
#ifndef CAROM_CLI_MPI_SCHEDULER_H
#define CAROM_CLI_MPI_SCHEDULER_H

#include "cli/bake/slabs.h"

/* Rank 0: hands out the slabs that the file lacks, and records finished slabs, until all ranks have flushed the slabs
 * that they wrote. Its own slabs are computed by a thread. Returns an exit status with the message printed. */
int scheduler_serve(bake_worker *worker, bake_partial *partial);
/* Other ranks: compute slabs as long as rank 0 hands out any. fd: of OUT.partial. */
void scheduler_work(bake_worker *worker, const bake_layout *layout, int fd);

#endif
