/* SPDX-License-Identifier: MIT */
/* Volumes and paths of a mesh, into files. */
#ifndef CAROM_CLI_BAKE_COMMAND_H
#define CAROM_CLI_BAKE_COMMAND_H

#include "cli/command/command.h"

extern const cli_command bake_distance_command, bake_clearance_command, bake_drop_command, bake_path_command,
    bake_join_command, bake_status_command, bake_check_command;

#endif
