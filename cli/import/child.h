/* SPDX-License-Identifier: MIT */
/* A reader in a process of its own, with limits: code that is not ours may crash on a file, fill the memory, or never
 * end. */
#ifndef CAROM_CLI_IMPORT_CHILD_H
#define CAROM_CLI_IMPORT_CHILD_H

#include "import.h"

/* Beside the exit statuses of cli.h: the reader's memory did not suffice. */
enum { MESH_CHILD_MEMORY = 3 };

/* Runs in the child, whose standard output leads nowhere. Returns an exit status, and has explained anything but
 * EXIT_DONE and MESH_CHILD_MEMORY. */
typedef int (*mesh_child_reader)(const char *path, mesh_data *out);

/* Returns an exit status and has explained anything but EXIT_DONE. The caller has no threads. */
int mesh_child_run(const char *path, mesh_child_reader reader, mesh_data *out);

#endif
