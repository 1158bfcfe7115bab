/* SPDX-License-Identifier: MIT */
/* Indexed vertices of a leaf: each vertex that its triangles share is stored once. */
#include "bvh.h"

/* The position of a vertex in the list, or MESH_VERTICES. */
static uint32_t slot_of(const uint32_t vertex[MESH_VERTICES], uint32_t index)
{
#if defined(__SSE2__)
    const __m128i own = _mm_set1_epi32((int)index), *at = (const __m128i *)(const void *)vertex;
    const __m128i low =
        _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(at), own), _mm_cmpeq_epi32(_mm_loadu_si128(at + 1), own));
    const __m128i high =
        _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(at + 2), own), _mm_cmpeq_epi32(_mm_loadu_si128(at + 3), own));
    const uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
    return same != 0 ? (uint32_t)__builtin_ctz(same) : MESH_VERTICES;
#else
    uint32_t at = 0;
    while (at < MESH_VERTICES && vertex[at] != index)
        at++;
    return at;
#endif
}

/* Lists the distinct vertices of a leaf corner by corner; gives up if there are more than MESH_VERTICES. */
uint32_t caromi_bvh_index_vertices(const carom_mesh *mesh, const bvh_item *items, uint32_t count,
                                   uint8_t *const corner[3])
{
    uint32_t vertex[MESH_VERTICES], vertices = 0;
    /* Free slots hold UINT32_MAX. A vertex with that index is found in the first free slot, as if it were new. */
    memset(vertex, 0xff, sizeof vertex);
    for (uint32_t lane = 0; lane < count; lane++)
        for (int k = 0; k < 3; k++) {
            const uint32_t index = mesh->indices[3 * (size_t)items[lane].triangle + (size_t)k];
            const uint32_t found = slot_of(vertex, index), at = found < vertices ? found : vertices;
            if (at == MESH_VERTICES)
                return MESH_VERTICES + 1;
            vertex[at] = index;
            vertices += at == vertices;
            corner[k][lane] = (uint8_t)at;
        }
    return vertices;
}
