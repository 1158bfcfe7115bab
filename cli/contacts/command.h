/* SPDX-License-Identifier: MIT */
/* Where spheres at rest touch a mesh. */
#ifndef CAROM_CLI_CONTACTS_COMMAND_H
#define CAROM_CLI_CONTACTS_COMMAND_H

#include "cli/command/command.h"

extern const cli_command contacts_command;

#endif
