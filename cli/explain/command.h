/* SPDX-License-Identifier: MIT */
/* One sweep taken apart. */
#ifndef CAROM_CLI_EXPLAIN_COMMAND_H
#define CAROM_CLI_EXPLAIN_COMMAND_H

#include "cli/command/command.h"

extern const cli_command explain_command;

#endif
