/* SPDX-License-Identifier: MIT */
/* The probe of lattices that a GPU answers tile by tile: a small lattice around hard triangles, with a band and
 * without, with masks and without, against closest-point queries on the CPU. */
#include <math.h>
#include <string.h>

#include "host/lattice/lattice.h"
#include "host/mesh/mesh.h"
#include "host/mesh/query.h"
#include "probe.h"

enum { TRIANGLES = 400, NODES = 13 * 11 * 6 };

/* Columns of answers. */
typedef struct lattice_answers {
    float distance[NODES], point[3][NODES];
    int32_t triangle[NODES];
    uint8_t feature[NODES];
} lattice_answers;

typedef struct lattice_probe {
    float vertices[9 * TRIANGLES];
    uint32_t masks[TRIANGLES];
    lattice_answers got, expected;
} lattice_probe;

static void set_outputs(lattice_answers *to, caromi_lattice_batch *batch)
{
    memset(batch->out, 0, sizeof batch->out);
    batch->out[CAROMI_ANSWER_KEY] = (caromi_out_column){to->distance, sizeof *to->distance};
    batch->out[CAROMI_ANSWER_TRIANGLE] = (caromi_out_column){to->triangle, sizeof *to->triangle};
    batch->out[CAROMI_ANSWER_FEATURE] = (caromi_out_column){to->feature, sizeof *to->feature};
    for (int k = 0; k < 3; k++)
        batch->out[CAROMI_ANSWER_POINT + k] = (caromi_out_column){to->point[k], sizeof *to->point[k]};
}

/* Compares the columns of the search with the CPU's, then those of the closest points. */
static carom_status compare(const caromi_device *device, uint32_t program, const lattice_probe *data, carom_error *err)
{
    const lattice_answers *got = &data->got, *expected = &data->expected;
    CHECK(
        caromi_probe_compare(device, program, NODES, 0, got->triangle, expected->triangle, sizeof *got->triangle, err));
    CHECK(
        caromi_probe_compare(device, program, NODES, 1, got->distance, expected->distance, sizeof *got->distance, err));
    for (uint32_t k = 0; k < 3; k++)
        CHECK(caromi_probe_compare(device, program, NODES, 2 + k, got->point[k], expected->point[k],
                                   sizeof *got->point[k], err));
    return caromi_probe_compare(device, program, NODES, 5, got->feature, expected->feature, 1, err);
}

/* Answers the lattice on the CPU and on the device, and compares. */
static carom_status run(caromi_device *device, carom_mesh *mesh, int exact, float band, lattice_probe *data,
                        carom_error *err)
{
    int chosen;
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    carom_context scalar = {.desc = device->context->desc, .isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen)};
    scalar.hooks = caromi_hooks_of_desc(&scalar.desc);
    scalar.hooks.owner = device->context;
    caromi_lattice_batch batch = {.mesh = mesh,
                                  .lattice = {.origin = {-1.5, -1.25, -1}, .spacing = 0.25, .dims = {13, 11, 6}},
                                  .slab = 13 * 11,
                                  .count = NODES,
                                  .exact = exact,
                                  .band = band};
    set_outputs(&data->expected, &batch);
    CHECK(caromi_lattice_plain(&scalar, &batch, 0, NODES, &stats, err));
    set_outputs(&data->got, &batch);
    CHECK(caromi_stream_lattice(device, &batch, NODES, &done, &stats, err));
    return compare(device, CAROMI_PROGRAM_LATTICE_TILE + (uint32_t)exact, data, err);
}

static carom_status probe(caromi_device *device, const caromi_lattice_batch *like, int masked, lattice_probe *data,
                          carom_error *err)
{
    carom_mesh *mesh = NULL;
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(data->vertices),
                                  .vertex_count = 3 * TRIANGLES,
                                  .triangle_count = TRIANGLES,
                                  .masks = {masked ? data->masks : NULL, sizeof *data->masks}};
    CHECK(caromi_mesh_make(like->mesh->context, &desc, &mesh, err));
    carom_status status = run(device, mesh, like->exact, INFINITY, data, err);
    if (status == CAROM_OK)
        status = run(device, mesh, like->exact, 0.125f, data, err);
    caromi_mesh_end(mesh);
    return status;
}

/* Builds and probes the programs of a lattice batch. */
carom_status caromi_probe_lattice(caromi_device *device, const caromi_lattice_batch *batch, carom_error *err)
{
    const uint32_t exact = batch->exact != 0, search = CAROMI_PROGRAM_LATTICE_TILE + exact;
    uint64_t state = 5;
    if (device->programs[search].probed)
        return CAROM_OK;
    CHECK(caromi_program_build(device, search, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_MESH_CLOSEST_POINT + exact, err));
    lattice_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    memset(data, 0, sizeof *data);
    caromi_probe_triangles(&state, data->vertices, TRIANGLES);
    caromi_probe_masks(6, data->masks, TRIANGLES);
    device->probing = 1;
    carom_status status = probe(device, batch, 0, data, err);
    if (status == CAROM_OK)
        status = probe(device, batch, 1, data, err);
    device->probing = 0;
    device->programs[search].probed = status == CAROM_OK;
    caromi_free(device->context, data);
    return status;
}
