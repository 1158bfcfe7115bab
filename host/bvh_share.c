/* SPDX-License-Identifier: MIT */
/* Which triangles of a leaf share vertices. */
#include "bvh.h"

uint32_t caromi_bvh_share(const carom_mesh *mesh, const bvh_item *items, uint32_t count, uint8_t corner[3][MESH_WIDTH])
{
    uint32_t vertex[MESH_WIDTH], vertices = 0;
    for (uint32_t lane = 0; lane < count; lane++)
        for (int c = 0; c < 3; c++) {
            const uint32_t index = mesh->indices[3 * (size_t)items[lane].triangle + (size_t)c];
            uint32_t at = 0;
            while (at < vertices && vertex[at] != index)
                at++;
            if (at == MESH_WIDTH)
                return MESH_WIDTH + 1;
            vertex[at] = index;
            vertices += at == vertices;
            corner[c][lane] = (uint8_t)at;
        }
    return vertices;
}
