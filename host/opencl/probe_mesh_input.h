/* SPDX-License-Identifier: MIT */
/* The mesh, the scene and the queries on which the mesh kernels are probed. */
#ifndef CAROM_HOST_OPENCL_PROBE_MESH_INPUT_H
#define CAROM_HOST_OPENCL_PROBE_MESH_INPUT_H
#include "host/mesh/batch.h"
#include "probe.h"

enum {
    CAROMI_PROBE_QUERIES =
        256, /* first hits, closest points: so many that every lane has pairs which decide an answer */
    CAROMI_PROBE_LIST_QUERIES = 64, /* lists, which includes contacts */
    CAROMI_PROBE_TRIANGLES = 400
};

typedef struct probe_input {
    float vertices[9 * CAROMI_PROBE_TRIANGLES];
    uint32_t masks[CAROMI_PROBE_TRIANGLES], mask[CAROMI_PROBE_QUERIES];
    float in[CAROMI_MESH_IN][CAROMI_PROBE_QUERIES];
} probe_input;

/* Makes hard triangles as a mesh, and queries against it, for a batch like this one. masked: triangles have masks. */
carom_status caromi_probe_input_make(const caromi_mesh_batch *like, int masked, probe_input *input, carom_mesh **mesh,
                                     carom_error *err);
/* Makes a scene of this mesh, if the batch is of one. */
carom_status caromi_probe_scene_make(const caromi_mesh_batch *like, carom_mesh *mesh, int masked, carom_scene **scene,
                                     carom_error *err);
/* The queries as a batch without outputs, of the same kind and accuracy as `like`. */
caromi_mesh_batch caromi_probe_batch_of(const probe_input *input, carom_mesh *mesh, const caromi_mesh_batch *like,
                                        int options);
#endif
