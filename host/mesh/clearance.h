/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_MESH_CLEARANCE_H
#define CAROM_HOST_MESH_CLEARANCE_H

#include "host/mesh_data.h"

#define LANES 1 /* kernel text as it is for one query */
#include "kernels/clearance.h"

/* Memory for the clearance of a mesh of so many leaves, and its bytes. */
carom_status caromi_clearance_alloc(const carom_mesh *mesh, uint64_t leaves, mesh_clearance **out, carom_error *err);
uint64_t caromi_clearance_bytes(uint64_t leaves);
/* So many queries at a time would like to know it: fewer than these never look at it. It is found when enough have
 * asked to pay for it. */
enum { CAROMI_CLEARANCE_LEAST = 64 };
void caromi_clearance_ask(carom_mesh *mesh, uint64_t queries);
/* Now. */
void caromi_clearance_find(carom_mesh *mesh);
/* The boxes of the leaves have changed. */
void caromi_clearance_forget(carom_mesh *mesh);
/* The bytes of it that a search looks at. */
uint64_t caromi_clearance_shown(const carom_mesh *mesh);
#endif
