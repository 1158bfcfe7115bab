/* SPDX-License-Identifier: MIT */
/* The probe of lattices that a GPU answers tile by tile: a small lattice around hard triangles, with a band and
 * without, with masks and without, against closest-point queries on the CPU. */
#include <math.h>
#include <string.h>

#include "host/lattice/cubes.h"
#include "host/lattice/inside.h"
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
    uint8_t clearance[2][NODES]; /* of the device, and expected */
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
static carom_status run(caromi_device *device, caromi_lattice_batch *batch, carom_sign sign, lattice_probe *data,
                        carom_error *err)
{
    int chosen;
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    carom_context scalar = {.desc = device->context->desc, .isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen)};
    scalar.hooks = caromi_hooks_of_desc(&scalar.desc);
    scalar.hooks.owner = device->context;
    set_outputs(&data->expected, batch);
    CHECK(caromi_lattice_plain(&scalar, batch, 0, NODES, &stats, err));
    if (sign != CAROM_SIGN_NONE)
        caromi_inside_sign(batch->inside, 0, NODES);
    batch->sign = sign;
    set_outputs(&data->got, batch);
    CHECK(caromi_stream_lattice(device, batch, NODES, &done, &stats, err));
    return compare(device, CAROMI_PROGRAM_LATTICE_TILE + (uint32_t)batch->exact, data, err);
}

/* The same with signs. */
static carom_status run_signed(caromi_device *device, caromi_lattice_batch *batch, carom_sign sign, lattice_probe *data,
                               carom_error *err)
{
    caromi_inside inside;
    int32_t *masks = NULL;
    if (batch->mesh->masks != NULL)
        CHECK(caromi_masks_of_triangles(batch->mesh, &masks, err));
    carom_status status = caromi_inside_make(batch, sign, masks, NULL, &inside, err);
    if (status == CAROM_OK) {
        batch->inside = &inside;
        status = run(device, batch, sign, data, err);
        caromi_inside_free(&inside);
    }
    caromi_free(device->context, masks);
    return status;
}

static carom_status make_mesh(const caromi_lattice_batch *like, int masked, const lattice_probe *data,
                              carom_mesh **mesh, carom_error *err)
{
    return caromi_probe_mesh_make(like->mesh->context, data->vertices, TRIANGLES, masked ? data->masks : NULL, mesh,
                                  err);
}

static caromi_lattice_batch batch_of(carom_mesh *mesh, int exact)
{
    return (caromi_lattice_batch){.mesh = mesh,
                                  .lattice = {.origin = {-1.5, -1.25, -1}, .spacing = 0.25, .dims = {13, 11, 6}},
                                  .slab = 13 * 11,
                                  .count = NODES,
                                  .exact = exact,
                                  .band = INFINITY};
}

static carom_status probe(caromi_device *device, const caromi_lattice_batch *like, int masked, lattice_probe *data,
                          carom_error *err)
{
    carom_mesh *mesh = NULL;
    CHECK(make_mesh(like, masked, data, &mesh, err));
    caromi_lattice_batch batch = batch_of(mesh, like->exact);
    carom_status status = CAROM_OK;
    for (int banded = 0; status == CAROM_OK && banded < 2; banded++, batch.band = 0.125f)
        status = like->sign == CAROM_SIGN_NONE ? run(device, &batch, CAROM_SIGN_NONE, data, err)
                 : banded                      ? run_signed(device, &batch, CAROM_SIGN_WINDING, data, err)
                                               : run_signed(device, &batch, CAROM_SIGN_PARITY, data, err);
    caromi_mesh_end(mesh);
    return status;
}

/* Clearance for a radius, against the CPU's. */
static carom_status probe_radius(caromi_device *device, const caromi_lattice_batch *batch, float radius,
                                 lattice_probe *data, carom_error *err)
{
    const caromi_cubes cubes = caromi_cubes_of(batch, radius, data->clearance[0]),
                       there = caromi_cubes_of(batch, radius, data->clearance[1]);
    carom_stats stats = {.size = sizeof stats};
    uint64_t done = 0;
    CHECK(caromi_stream_cubes(device, &cubes, NODES, &done, &stats, err));
    CHECK(caromi_cubes_on_cpu(batch->mesh->context, &there, 0, NODES, &stats, err));
    return caromi_probe_compare(device, CAROMI_PROGRAM_LATTICE_CLASSIFY, NODES, 0, data->clearance[0],
                                data->clearance[1], 1, err);
}

/* The program whose probe has compared signs, or distances alone; and its bit: signs of both accuracies are given by
 * one program, but together with distances. */
static uint32_t probed_program(const caromi_lattice_batch *batch)
{
    return batch->sign == CAROM_SIGN_NONE ? CAROMI_PROGRAM_LATTICE_TILE + (uint32_t)(batch->exact != 0)
                                          : CAROMI_PROGRAM_LATTICE_COLUMNS;
}
static int probed_bit(const caromi_lattice_batch *batch)
{
    return batch->sign != CAROM_SIGN_NONE && batch->exact ? 2 : 1;
}

/* Triangles that pass the node at the origin, and the column at (0.25, 0.25), by so little that integers decide. */
static void make_close(float *vertices)
{
    static const float close[][9] = {
        {0.5f, 0.125f, 0.25f, -0.125f, 0.5f, -0.25f, -0.375f, -0.625f, 0x1p-80f},
        {-0.125f, 0.5f, -0.25f, 0.5f, 0.125f, 0.25f, -0.375f, -0.625f, -0x1p-80f},
        {0x1p-80f, 0, 0.3f, 0.5f, 0.5f, 0.3f, -1, 1, 0.3f},
        {-0x1p-140f, 0, 0.6f, 0.5f, 0.5f, 0.6f, 1, -1, 0.6f},
        {-0x1p-80f, 0, 0.7f, 0.5f, 0.5f, 0.7f, -1, 1, 0.7f},
        /* the plane is above the node at (0.75, 0.5, 0), or below that at (-0.75, -0.5, 0), by
           less than binary64 sees; binary32 finds a distance, so that a sign is seen */
        {0x1.1f13p+0f, 0x1.4366p-1f, 0x1.6458p-3f, 0x1.288ep-1f, 0x1.f9b6p-1f, -0x1.6458p-3f, 0x1.194cp-1f,
         -0x1.e8ep-4f, 0x1p-80f},
        {-0x1.b8acp-2f, -0x1.cac8p-2f, 0x1.11e8p-2f, -0x1.b428p-1f, -0x1.09ap-3f, -0x1.11e8p-2f, -0x1.ef82p-1f,
         -0x1.d834p-1f, -0x1p-80f}};
    memcpy(vertices, close, sizeof close);
}

/* The triangles of all probes. */
static carom_status make_data(const caromi_device *device, lattice_probe **out, carom_error *err)
{
    uint64_t state = 5;
    lattice_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    memset(data, 0, sizeof *data);
    caromi_probe_triangles(&state, data->vertices, TRIANGLES);
    make_close(data->vertices);
    caromi_probe_masks(6, data->masks, TRIANGLES);
    *out = data;
    return CAROM_OK;
}

static carom_status build(caromi_device *device, const caromi_lattice_batch *batch, carom_error *err)
{
    const uint32_t exact = batch->exact != 0;
    for (uint32_t program = CAROMI_PROGRAM_LATTICE_CLEAR;
         batch->sign != CAROM_SIGN_NONE && program <= CAROMI_PROGRAM_LATTICE_INSIDE; program++)
        CHECK(caromi_program_build(device, program, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_LATTICE_TILE + exact, err));
    return caromi_program_build(device, CAROMI_PROGRAM_MESH_CLOSEST_POINT + exact, err);
}

/* Builds and probes the programs of a lattice batch: distances first, then signs. */
carom_status caromi_probe_lattice(caromi_device *device, const caromi_lattice_batch *batch, carom_error *err)
{
    const uint32_t probed = probed_program(batch);
    lattice_probe *data = NULL;
    CHECK(build(device, batch, err));
    if (batch->sign != CAROM_SIGN_NONE) {
        caromi_lattice_batch plain = *batch;
        plain.sign = CAROM_SIGN_NONE;
        CHECK(caromi_probe_lattice(device, &plain, err));
    }
    if (device->programs[probed].probed & probed_bit(batch))
        return CAROM_OK;
    CHECK(make_data(device, &data, err));
    device->probing = 1;
    carom_status status = probe(device, batch, 0, data, err);
    if (status == CAROM_OK)
        status = probe(device, batch, 1, data, err);
    device->probing = 0;
    device->programs[probed].probed |= status == CAROM_OK ? probed_bit(batch) : 0;
    caromi_free(device->context, data);
    return status;
}

/* The same of clearance, whose distances are exact. */
carom_status caromi_probe_cubes(caromi_device *device, const caromi_cubes *cubes, carom_error *err)
{
    carom_mesh *mesh = NULL;
    lattice_probe *data = NULL;
    CHECK(caromi_probe_lattice(device, &cubes->nodes, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_LATTICE_CLEAR, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_LATTICE_CLASSIFY, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_LATTICE_PUT, err));
    if (device->programs[CAROMI_PROGRAM_LATTICE_CLASSIFY].probed)
        return CAROM_OK;
    CHECK(make_data(device, &data, err));
    device->probing = 1;
    carom_status status = make_mesh(&cubes->nodes, 1, data, &mesh, err);
    if (status == CAROM_OK) {
        const caromi_lattice_batch batch = batch_of(mesh, 1);
        status = probe_radius(device, &batch, 0.0f, data, err);
        if (status == CAROM_OK)
            status = probe_radius(device, &batch, 0.375f, data, err);
        caromi_mesh_end(mesh);
    }
    device->probing = 0;
    device->programs[CAROMI_PROGRAM_LATTICE_CLASSIFY].probed = status == CAROM_OK;
    caromi_free(device->context, data);
    return status;
}
