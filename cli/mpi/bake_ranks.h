/* SPDX-License-Identifier: MIT */
/* Ranks that bake one file together. Rank 0 reads, checks, owns file and journal, and hands out slabs on demand; it
 * computes too. The other ranks get mesh and file from rank 0. */
#ifndef CAROM_CLI_MPI_BAKE_RANKS_H
#define CAROM_CLI_MPI_BAKE_RANKS_H

#include "cli/bake/slabs.h"

/* Rank 0 runs the command with these ranks. */
extern bake_crew ranks_of_bake;
/* When the command has ended: ends the other ranks with its status. */
void ranks_dismiss(int status);
/* Work of the other ranks. Returns the status with which rank 0 dismissed them. */
int ranks_serve(int argc, char **argv);

#endif
