/* SPDX-License-Identifier: MIT */
/* The call for distance volumes. */
#include <math.h>

#include "calls/lattice.h"
#include "host/mesh/closing.h"
#include "host/mesh/query.h"
#include "host/mesh/side.h"
#include "cpu/lattice/lattice.h"
#include "host/mesh/mesh.h"
#include "inside.h"

/* Nodes of a piece: at least, and at most unless a slab has more. */
enum { PIECE = CAROMI_MESH_PIECE, MOST = 16 * PIECE };

/* The number may lie in a buffer, as any array. */
static carom_status check_band(const carom_mesh *mesh, const float *band, carom_error *err)
{
    CHECK(caromi_staging_show_array(mesh->context, band, err));
    return band == NULL || *band >= 0 ? CAROM_OK
                                      : caromi_fail_argument(err, "band is %g; it must be >= 0", (double)*band);
}

static carom_status check(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_distance_desc *desc = request->desc;
    const carom_mesh_distance_result *out = request->out;
    CHECK(caromi_check_lattice(&desc->batch, &desc->lattice, AXIS_Z, &extent[CAROMI_PER_NODE], err));
    if (out->gradient.x != NULL && (out->distance == NULL || out->triangle == NULL))
        return caromi_fail_argument(err, "gradient needs distance and triangle, which must not be NULL");
    return caromi_check_sign(desc->sign, desc->allow_open, err);
}

static int wants_gradient(const caromi_lattice_batch *batch)
{
    return batch->out[CAROMI_ANSWER_GRADIENT].base != NULL;
}

static carom_status decline(caromi_device *device, const void *lattice_batch, uint64_t end, uint64_t *done,
                            carom_stats *stats, carom_error *err)
{
    const caromi_lattice_batch *batch = lattice_batch;
    (void)device, (void)err;
    return caromi_decline_mesh(batch->mesh, "devices have no gradients of distances", end, *done, stats);
}

static carom_status on_cpu(const carom_context *context, const void *lattice_batch, uint64_t first, uint64_t end,
                           carom_stats *stats, carom_error *err)
{
    const caromi_lattice_batch *batch = lattice_batch;
    const int by_blocks = first % batch->slab == 0 && end % batch->slab == 0 && caromi_lattice_has_blocks(batch);
    CHECK((by_blocks ? caromi_lattice_blocks : caromi_lattice_plain)(context, batch, first, end, stats, err));
    if (batch->inside != NULL)
        caromi_inside_sign(batch->inside, first, end);
    CHECK(caromi_went_on(context));
    return wants_gradient(batch) ? caromi_lattice_gradients(context, batch, first, end, err) : CAROM_OK;
}

/* The host gives the signs unless the device has. What is answered before a failure needs them too. */
static carom_status on_device(caromi_device *device, const void *lattice_batch, uint64_t end, uint64_t *done,
                              carom_stats *stats, carom_error *err)
{
    const caromi_lattice_batch *batch = lattice_batch;
    const uint64_t first = *done;
    const carom_status status = caromi_lattice_on_device(device, batch, end, done, stats, err);
    if (batch->inside != NULL && (batch->sign == CAROM_SIGN_NONE || !caromi_lattice_by_tiles(device, batch))) {
        pthread_mutex_t *lock = &batch->mesh->context->finding; /* several devices have one group of signs */
        (void)pthread_mutex_lock(lock);
        caromi_inside_sign(batch->inside, first, *done);
        (void)pthread_mutex_unlock(lock);
    }
    return status;
}

/* Whole tiles, if they are not too large. */
static uint64_t piece_of(uint64_t slab)
{
    uint64_t slabs = CAROMI_TILE;
    while (slabs > 1 && slab > MOST / slabs)
        slabs /= 2;
    while (slabs * slab < PIECE)
        slabs *= 2;
    return slabs * slab;
}

/* Runs a described batch on the backend that the context chooses. */
static carom_status run_batch(const caromi_lattice_batch *batch, const carom_batch *asked, carom_stats *stats,
                              carom_error *err)
{
    carom_mesh *mesh = batch->mesh;
    const caromi_batch run = {.batch = batch,
                              .begin = batch->begin,
                              .count = batch->count,
                              .on_device = wants_gradient(batch)             ? decline
                                           : caromi_hierarchy_may_suit(mesh) ? on_device
                                                                             : NULL,
                              .suit_device = wants_gradient(batch) ? NULL : caromi_suit_mesh,
                              .subject = mesh,
                              .on_cpu = on_cpu,
                              .piece = piece_of(batch->slab),
                              .piece_least = piece_of(batch->slab),
                              .reports = asked->progress.fn != NULL,
                              .prepare = asked->prepare,
                              .slab = batch->slab,
                              .exact = batch->exact,
                              .name = batch->exact ? "a lattice's distances, exact," : "a lattice's distances",
                              .pace = wants_gradient(batch) ? &mesh->body_paces[CAROMI_BODY_GRADIENTS][batch->exact]
                                                            : &mesh->lattice_paces[batch->exact]};
    return caromi_run(mesh->context, &run, stats, err);
}

/* Runs a batch whose distances have signs, if there are distances. */
static carom_status run_signed(caromi_lattice_batch *batch, const carom_mesh_distance_desc *desc, const int32_t *masks,
                               carom_stats *stats, carom_error *err)
{
    caromi_inside inside;
    const caromi_closing *closing = NULL;
    if (!desc->allow_open && desc->sign != CAROM_SIGN_ROBUST)
        CHECK(caromi_check_closed(batch->mesh, desc->sign, err));
    if (batch->out[CAROMI_ANSWER_KEY].base == NULL)
        return run_batch(batch, &desc->batch, stats, err);
    batch->sign = desc->sign;
    if (desc->sign == CAROM_SIGN_ROBUST) {
        CHECK(caromi_closing_of(batch->mesh, -1, &closing, err));
        batch->sign = closing->count > 0 ? CAROM_SIGN_NONE : CAROM_SIGN_WINDING; /* of devices; the host has the rest */
    }
    if (batch->begin == batch->count || desc->batch.prepare)
        return run_batch(batch, &desc->batch, stats, err);
    if (closing != NULL && closing->count == 0)
        closing = NULL;
    CHECK(caromi_inside_make(batch, closing != NULL ? CAROM_SIGN_WINDING : batch->sign, masks, closing, &inside, err));
    batch->inside = &inside;
    const carom_status status = run_batch(batch, &desc->batch, stats, err);
    caromi_inside_free(&inside);
    return status;
}

/* Describes and runs a checked call for a distance volume. */
static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_distance_desc *desc = request->desc;
    carom_mesh *mesh = request->subject;
    const uint64_t slab = caromi_slab_of(&desc->lattice);
    CHECK(check_band(mesh, desc->band, err));
    CHECK(caromi_mesh_bring(mesh, err));
    caromi_lattice_batch batch = {.mesh = mesh,
                                  .lattice = desc->lattice,
                                  .slab = slab,
                                  .begin = desc->batch.begin * slab,
                                  .count = desc->batch.count * slab,
                                  .exact = desc->batch.accuracy == CAROM_ACCURACY_EXACT,
                                  .band = desc->band != NULL ? fabsf(*desc->band) : INFINITY}; /* a zero is +0 */
    caromi_set_outputs(caromi_type_of_mesh_distance()->out, request->out, batch.out);
    if (desc->sign == CAROM_SIGN_NONE)
        return run_batch(&batch, &desc->batch, request->stats, err);
    int32_t *masks = NULL;
    if (mesh->masks != NULL)
        CHECK(caromi_masks_of_triangles(mesh, &masks, err));
    const carom_status status = run_signed(&batch, desc, masks, request->stats, err);
    caromi_free(mesh->context, masks);
    return status;
}

static const caromi_handler distance = {.check = check, .run = run};
carom_status carom_mesh_distance(carom_mesh *mesh, const carom_mesh_distance_desc *desc,
                                 const carom_mesh_distance_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK(caromi_mesh_only(mesh, "carom_mesh_distance", err));
    return caromi_answer(caromi_type_of_mesh_distance(), &distance, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}
