/* SPDX-License-Identifier: MIT */
/* Volumes and paths of a mesh, into files. */
#ifndef CAROM_CLI_BAKE_COMMAND_H
#define CAROM_CLI_BAKE_COMMAND_H

#include "cli/command/command.h"
#include "lists.h"

#define BAKE_COMMAND(name) extern const cli_command bake_##name##_command;
BAKE_EACH_KIND(BAKE_COMMAND)
#undef BAKE_COMMAND
extern const cli_command bake_path_command, bake_join_command, bake_status_command, bake_check_command;

#endif
