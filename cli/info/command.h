/* SPDX-License-Identifier: MIT */
/* This build, this machine, and meshes. */
#ifndef CAROM_CLI_INFO_COMMAND_H
#define CAROM_CLI_INFO_COMMAND_H

#include "cli/command/command.h"

extern const cli_command info_command;

#endif
