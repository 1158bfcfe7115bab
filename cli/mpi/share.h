/* SPDX-License-Identifier: MIT */
/* One copy of the mesh on each node, in memory that its ranks share. */
#ifndef CAROM_CLI_MPI_SHARE_H
#define CAROM_CLI_MPI_SHARE_H

#include "cli/bake/mesh.h"

/* All ranks call it. Rank 0 has the mesh, of which it keeps the shared copy alone; the others have a context, and get a
 * mesh. `bytes`: of the image; those that are not rank 0 need not know it. Returns an exit status with the message
 * printed, the same in all ranks. */
int share_mesh(bake_mesh *mesh, uint64_t *bytes);
/* When no rank has the mesh any more. */
void share_end(void);

#endif
