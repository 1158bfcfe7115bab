/* SPDX-License-Identifier: MIT */
/* What each rank computes on. */
#ifndef CAROM_CLI_MPI_PLACE_H
#define CAROM_CLI_MPI_PLACE_H

#include "cli/command/command.h"

/* Choose a device for this rank: with --backend opencl and without --device, the ranks of a node that ask for one take
 * its devices in turn. Ranks 1 and up call it together, and with rank 0, which takes the first device of its node as
 * carom does. `number`: room for what options->device then points to. */
void place_choose(cli_options *options, char number[16]);
/* Rank 0 reports where all ranks compute, and how often the mesh is there. All ranks call it. */
void place_report(const carom_context *context, uint64_t mesh_bytes);

#endif
