/* SPDX-License-Identifier: MIT */
/* What the commands with --mesh and --spheres have in common. A kind of answer is a word of --hits and a query. */
#ifndef CAROM_CLI_ON_MESH_H
#define CAROM_CLI_ON_MESH_H

#include "rows.h"

typedef struct mesh_kind {
    const char *hits;
    rows_query query; /* its subject is a mesh */
} mesh_kind;

/* The kind that --hits names, the first without it. Returns an exit status with the message printed. */
int on_mesh_kind(const cli_options *options, const mesh_kind *kinds, size_t count, const rows_query **out);
/* Import the mesh, read the spheres, run the query and write its answers. `command` is for messages. */
int on_mesh_run(const char *command, const cli_options *options, const rows_query *query);

#endif
