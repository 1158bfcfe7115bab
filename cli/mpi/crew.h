/* SPDX-License-Identifier: MIT */
/* Ranks that bake one file together. Rank 0 reads, checks, owns file and journal, and hands out slabs on demand; it
 * computes too. The others get mesh and file from it. */
#ifndef CAROM_CLI_MPI_CREW_H
#define CAROM_CLI_MPI_CREW_H

#include "cli/bake/slabs.h"

/* Rank 0 runs the command of carom with this crew. */
extern bake_crew crew_of_rank_0;
/* When that has ended: the other ranks end with its status. */
void crew_dismiss(int status);
/* All that the others do. Returns the status with which rank 0 dismissed them. */
int crew_serve(int argc, char **argv);

#endif
