/* SPDX-License-Identifier: MIT */
/* The call for clearance volumes. */
#include <math.h>
#include <string.h>

#include "calls/lattice.h"
#include "cubes.h"
#include "host/mesh/mesh.h"
#include "host/mesh/query.h"

enum {
    PIECE = CAROMI_MESH_PIECE,  /* nodes between two reports of progress, at least */
    PIECE_ENOUGH = 256 * PIECE, /* a piece with more has fewer slabs than a tile */
};

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* In binary64 with a margin of 2^-50 of all numbers; what that leaves open is decided in integers. */
static int is_displaced(const carom_lattice *lattice, int axis, uint64_t index, float node)
{
    const double origin = lattice->origin[axis], way = (double)(lattice->first[axis] + index) * lattice->spacing;
    const double off = fabs((double)node - (origin + way)), error = (fabs(origin) + fabs(way)) * 0x1p-50;
    if (off + error < lattice->spacing * (0x1p-17 * (1.0 - 0x1p-50)))
        return 0;
    return caromi_cube_is_displaced(origin, lattice->spacing, lattice->first[axis] + index, node);
}

/* Where neighbours are a spacing apart to 2^-16 of it, an axis has at most 2^25 nodes: the loop ends soon. */
static carom_status check_axis(const carom_lattice *lattice, int axis, carom_error *err)
{
    for (uint64_t i = 0; i < lattice->dims[axis]; i++) {
        const float node = carom_lattice_coordinate(lattice, axis, i);
        if (is_displaced(lattice, axis, i, node))
            return caromi_fail_argument(
                err,
                "lattice: node %llu along %c, at %.9g, is rounded by more than 2^-17 of the spacing %g; "
                "the cubes around nodes would leave gaps",
                (unsigned long long)i, "xyz"[axis], (double)node, lattice -> spacing);
    }
    return CAROM_OK;
}

/* Checks the descriptor of a clearance volume. */
static carom_status check(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_clearance_desc *desc = request->desc;
    CHECK(caromi_check_lattice(&desc->batch, &desc->lattice, AXIS_Z, &extent[CAROMI_PER_NODE], err));
    if (!(isfinite(desc->radius) && desc->radius >= 0))
        return caromi_fail_argument(err, "radius is %g; it must be finite and >= 0", (double)desc->radius);
    for (int axis = 0; axis < 3; axis++)
        CHECK(check_axis(&desc->lattice, axis, err));
    return CAROM_OK;
}

/* ---- the call -----------------------------------------------------------------------------------------------------
 */

/* Whole slabs: as many as a tile has, if that is not too many nodes between two reports. */
static uint64_t piece_of(uint64_t slab)
{
    const uint64_t enough = (PIECE_ENOUGH + slab - 1) / slab, least = (PIECE + slab - 1) / slab;
    const uint64_t tile = enough < CAROMI_TILE ? enough : CAROMI_TILE;
    return slab * (tile > least ? tile : least);
}

/* Runs a checked call. */
static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_clearance_desc *desc = request->desc;
    const carom_mesh_clearance_result *out = request->out;
    carom_mesh *mesh = request->subject;
    const uint64_t slab = caromi_slab_of(&desc->lattice);
    CHECK(caromi_mesh_bring(mesh, err));
    const caromi_lattice_batch nodes = {.mesh = mesh,
                                        .lattice = desc->lattice,
                                        .slab = slab,
                                        .begin = desc->batch.begin * slab,
                                        .count = desc->batch.count * slab,
                                        .exact = 1};
    const caromi_cubes cubes = caromi_cubes_of(&nodes, desc->radius, out->clearance);
    const caromi_batch run = {
        .batch = &cubes,
        .begin = nodes.begin,
        .count = nodes.count,
        .on_device = out->clearance != NULL && caromi_hierarchy_may_suit(mesh) ? caromi_cubes_on_device : NULL,
        .suit_device = caromi_suit_mesh,
        .subject = mesh,
        .on_cpu = caromi_cubes_on_cpu,
        .piece = piece_of(slab),
        .progress = desc->batch.progress,
        .prepare = desc->batch.prepare,
        .slab = slab,
        .exact = desc->batch.accuracy == CAROM_ACCURACY_EXACT,
        .name = "a lattice's clearance",
        .pace = &mesh->clearance_pace};
    return caromi_run(mesh->context, &run, request->stats, err);
}

static const caromi_handler clearance = {.check = check, .run = run};
carom_status carom_mesh_clearance(carom_mesh *mesh, const carom_mesh_clearance_desc *desc,
                                  const carom_mesh_clearance_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK(caromi_mesh_only(mesh, "carom_mesh_clearance", err));
    return caromi_answer(caromi_type_of_mesh_clearance(), &clearance, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}
