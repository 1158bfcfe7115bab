/* SPDX-License-Identifier: MIT */
/* Every backend against every other, and against the reference. */
#ifndef CAROM_CLI_VERIFY_COMMAND_H
#define CAROM_CLI_VERIFY_COMMAND_H

#include "cli/command/command.h"

extern const cli_command verify_command;

#endif
