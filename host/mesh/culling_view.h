/* SPDX-License-Identifier: MIT */
/* A mesh and its edges, as kernels/mesh_cones.h needs them. */
#ifndef CAROM_HOST_MESH_CULLING_VIEW_H
#define CAROM_HOST_MESH_CULLING_VIEW_H
#include "edges.h"
#include "host/core/progress.h"

_Static_assert(sizeof(mesh_sources) == CAROMI_SOURCES_BYTES(MESH_WIDTH) &&
                   sizeof(mesh_across) == CAROMI_ACROSS_BYTES(MESH_WIDTH) &&
                   sizeof(mesh_around) == CAROMI_AROUND_BYTES(MESH_WIDTH),
               "the mesh and its culling agree about what contacts know of leaves");

static inline cones_mesh culling_view(const caromi_edges *edges, int queries)
{
    const carom_mesh *mesh = edges->corners->mesh;
    return (cones_mesh){.vertices = mesh->vertices,
                        .indices = mesh->indices,
                        .position = edges->position,
                        .next = edges->next,
                        .start = edges->corners->start,
                        .triangle = edges->corners->triangle,
                        .leaves = mesh->view.leaves,
                        .faces = edges->culling[queries].faces,
                        .scale = mesh->view.frame.scale};
}
#endif
