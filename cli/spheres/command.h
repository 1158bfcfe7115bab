/* SPDX-License-Identifier: MIT */
/* Moving spheres among themselves. */
#ifndef CAROM_CLI_SPHERES_COMMAND_H
#define CAROM_CLI_SPHERES_COMMAND_H

#include "cli/command/command.h"

extern const cli_command spheres_command;

#endif
