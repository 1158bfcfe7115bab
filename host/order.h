/* SPDX-License-Identifier: MIT */
#ifndef CAROM_ORDER_H
#define CAROM_ORDER_H

#include "internal.h"

/* An order for queries [first, first + count) with these centres in which a search through the mesh meets the same
 * nodes again soon: place i is query first + (uint32_t)order[i]. NULL: as they come is as good. scratch: [2 * count] */
const uint64_t *caromi_order(const carom_mesh_info *mesh, const caromi_in_column *center, uint64_t first,
                             uint32_t count, uint64_t *scratch);
#endif
