/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_COMPLETION_H
#define CAROM_CLI_COMPLETION_H

#include "cli/command/command.h"

/* `carom completion SHELL`: a script for the shell, which completes commands, their options and values. */
extern const cli_command completion_command;

#endif
