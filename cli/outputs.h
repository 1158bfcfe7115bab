/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_OUTPUTS_H
#define CAROM_CLI_OUTPUTS_H

#include "cli/command/command.h"

/* The files that a command is going to write: a fault that would show in the end shows before any work. Returns -1 to
 * go on, else an exit status with the message printed. `options` begins the command's own struct. */
int outputs_check(const cli_options *options);

#endif
