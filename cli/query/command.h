/* SPDX-License-Identifier: MIT */
/* Queries row by row: of pairs, and of spheres on a mesh. */
#ifndef CAROM_CLI_QUERY_COMMAND_H
#define CAROM_CLI_QUERY_COMMAND_H

#include "cli/command/command.h"
#include "queries/query.h"

extern const cli_command sweep_command, overlap_command;

/* A command for each row of the registry that has no other: NAME_command. There may be none. */
int pairs_run(const void *options);
int pairs_prepare(const void *options, uint32_t present);
extern const cli_option pairs_own_options[1];
#define ON_MESH(name)
#define ON_CLOUD(name)
#define PAIRS_ONLY(name) extern const cli_command name##_command;
#define PAIRS_COMMAND(name, kind) kind(name)
QUERY_PAIRS(PAIRS_COMMAND)
#undef PAIRS_ONLY

#endif
