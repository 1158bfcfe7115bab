/* SPDX-License-Identifier: MIT */
/* The command as a whole. */
#ifndef CAROM_CLI_CLI_H
#define CAROM_CLI_CLI_H

#include "cli/command/command.h"

/* Run the command that argv[1] names. Returns the exit status of the process. */
int cli_run(int argc, char **argv);
/* The commands in the order of help, from 0; NULL beyond the last. */
const cli_command *cli_command_at(int i);
/* The command of that name, NULL if there is none. */
const cli_command *cli_command_named(const char *name);

#endif
