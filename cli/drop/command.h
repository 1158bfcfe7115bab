/* SPDX-License-Identifier: MIT */
/* A ball that comes down on a mesh over given places. */
#ifndef CAROM_CLI_DROP_COMMAND_H
#define CAROM_CLI_DROP_COMMAND_H

#include "cli/command/command.h"

extern const cli_command drop_command;

#endif
