/* SPDX-License-Identifier: MIT */
/* How fast every backend answers. */
#ifndef CAROM_CLI_BENCH_COMMAND_H
#define CAROM_CLI_BENCH_COMMAND_H

#include "cli/command/command.h"

extern const cli_command bench_command;

#endif
