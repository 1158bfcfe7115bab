/* SPDX-License-Identifier: MIT */
/* The call for clearance volumes. */
#include <math.h>
#include <string.h>

#include "calls/lattice.h"
#include "cubes.h"
#include "host/core/fallback.h"
#include "host/mesh/closing.h"
#include "host/mesh/mesh.h"
#include "host/mesh/query.h"
#include "host/mesh/side.h"
#include "inside.h"

enum {
    PIECE = CAROMI_MESH_PIECE,  /* nodes of a piece, at least */
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
    return caromi_check_sign(desc->sign, desc->allow_open, err);
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

/* Whole slabs: as many as a tile has, if that is not too many nodes. */
static uint64_t piece_of(const caromi_cubes *cubes)
{
    const uint64_t slab = cubes->nodes.slab, enough = (PIECE_ENOUGH + slab - 1) / slab,
                   least = (PIECE + slab - 1) / slab;
    const uint64_t tile = enough < CAROMI_TILE ? enough : CAROMI_TILE;
    return slab * (tile > least ? tile : least);
}

static carom_status decline(caromi_device *device, const void *cubes, uint64_t end, uint64_t *done, carom_stats *stats,
                            carom_error *err)
{
    (void)device, (void)err;
    if (end != *done)
        caromi_decline(((const caromi_cubes *)cubes)->nodes.mesh->context, stats,
                       "devices have no clearance of solids");
    return CAROM_OK;
}

static carom_status on_cpu(const carom_context *context, const void *cubes, uint64_t first, uint64_t end,
                           carom_stats *stats, carom_error *err)
{
    const caromi_cubes *c = cubes;
    CHECK(caromi_cubes_on_cpu(context, cubes, first, end, stats, err));
    if (c->inside != NULL)
        caromi_cubes_sign(c, first, end);
    return caromi_went_on(context);
}

static carom_status run_batch(const caromi_cubes *cubes, const carom_mesh_clearance_desc *desc, carom_stats *stats,
                              carom_error *err)
{
    carom_mesh *mesh = cubes->nodes.mesh;
    const int is_body = desc->sign != CAROM_SIGN_NONE, may_suit = caromi_hierarchy_may_suit(mesh);
    const caromi_batch run = {.batch = cubes,
                              .begin = cubes->nodes.begin,
                              .count = cubes->nodes.count,
                              .on_device = is_body                          ? decline
                                           : cubes->out != NULL && may_suit ? caromi_cubes_on_device
                                                                            : NULL,
                              .suit_device = is_body ? NULL : caromi_suit_mesh,
                              .subject = mesh,
                              .on_cpu = on_cpu,
                              .piece = piece_of(cubes),
                              .piece_least = piece_of(cubes),
                              .reports = desc->batch.progress.fn != NULL,
                              .prepare = desc->batch.prepare,
                              .slab = cubes->nodes.slab,
                              .exact = desc->batch.accuracy == CAROM_ACCURACY_EXACT,
                              .name = "a lattice's clearance",
                              .pace = is_body ? &mesh->body_paces[CAROMI_BODY_CLEARANCE][0] : &mesh->clearance_pace};
    return caromi_run(mesh->context, &run, stats, err);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Runs a batch with a sign. masks: [triangles] or NULL. */
static carom_status run_signed(caromi_cubes *cubes, const carom_mesh_clearance_desc *desc, const int32_t *masks,
                               carom_stats *stats, carom_error *err)
{
    carom_mesh *mesh = cubes->nodes.mesh;
    const caromi_closing *closing = NULL;
    const int is_robust = desc->sign == CAROM_SIGN_ROBUST;
    caromi_inside inside;
    if (!desc->allow_open && !is_robust)
        CHECK(caromi_check_closed(mesh, desc->sign, err));
    if (cubes->out == NULL)
        return run_batch(cubes, desc, stats, err);
    if (is_robust)
        CHECK(caromi_closing_of(mesh, -1, &closing, err));
    if (cubes->nodes.begin == cubes->nodes.count || desc->batch.prepare)
        return run_batch(cubes, desc, stats, err);
    if (closing != NULL && closing->count == 0)
        closing = NULL;
    CHECK(caromi_inside_make(&cubes->nodes, is_robust ? CAROM_SIGN_WINDING : desc->sign, masks, closing, &inside, err));
    cubes->inside = &inside;
    const carom_status status = run_batch(cubes, desc, stats, err);
    caromi_inside_free(&inside);
    return status;
}

/* Runs a checked call. */
static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_clearance_desc *desc = request->desc;
    const carom_mesh_clearance_result *out = request->out;
    carom_mesh *mesh = request->subject;
    const uint64_t slab = caromi_slab_of(&desc->lattice);
    int32_t *masks = NULL;
    CHECK(caromi_mesh_bring(mesh, err));
    const caromi_lattice_batch nodes = {.mesh = mesh,
                                        .lattice = desc->lattice,
                                        .slab = slab,
                                        .begin = desc->batch.begin * slab,
                                        .count = desc->batch.count * slab,
                                        .exact = 1};
    caromi_cubes cubes = caromi_cubes_of(&nodes, desc->radius, out->clearance);
    if (desc->sign == CAROM_SIGN_NONE)
        return run_batch(&cubes, desc, request->stats, err);
    if (mesh->masks != NULL)
        CHECK(caromi_masks_of_triangles(mesh, &masks, err));
    const carom_status status = run_signed(&cubes, desc, masks, request->stats, err);
    caromi_free(mesh->context, masks);
    return status;
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
