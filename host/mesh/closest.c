/* SPDX-License-Identifier: MIT */
/* The call for closest points on a mesh. */
#include "batch.h"
#include "query.h"
#include "side.h"

static carom_status check(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_closest_desc *desc = request->desc;
    CHECK(caromi_check_bundles(&desc->batch, desc->bundle, extent, err));
    return caromi_check_sign(desc->sign, desc->allow_open, err);
}

static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_closest_desc *desc = request->desc;
    carom_mesh *mesh = request->subject;
    const caromi_values values[] = {caromi_select_of(&desc->batch), caromi_max_distance_of(desc)};
    CHECK(caromi_check_values(mesh->context, &desc->batch, values, 2, err));
    CHECK(caromi_check_body(mesh, desc->sign, desc->allow_open, err));
    caromi_mesh_batch batch;
    caromi_mesh_closest_batch(desc, mesh, &batch);
    caromi_set_outputs(caromi_type_of_mesh_closest()->out, request->out, batch.out);
    batch.query = ((const carom_mesh_closest_result *)request->out)->query;
    if (batch.out[CAROMI_ANSWER_KEY].base != NULL || batch.out[CAROMI_ANSWER_DEPTH].base != NULL ||
        caromi_wants_gradient(&batch) || batch.bundle > 1)
        batch.sign = desc->sign;
    CHECK(caromi_close_for(&batch, &desc->batch, request->stats, err));
    return caromi_run_mesh(&batch, &desc->batch, request->stats, err);
}

static const caromi_handler closest = {.check = check, .run = run};
carom_status carom_mesh_closest(carom_mesh *mesh, const carom_mesh_closest_desc *desc,
                                const carom_mesh_closest_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_closest(), &closest, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}
