/* SPDX-License-Identifier: MIT */
/* The call for closest points on a mesh. */
#include "batch.h"
#include "query.h"

static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_closest_desc *desc = request->desc;
    carom_mesh *mesh = request->subject;
    CHECK(caromi_staging_show_index(mesh->context, desc->batch.select.data, err));
    CHECK(caromi_staging_show_input(mesh->context, desc->max_distance.data, err));
    CHECK(caromi_check_select(&desc->batch, err));
    CHECK(caromi_check_max_distance(desc, err));
    caromi_mesh_batch batch;
    caromi_mesh_closest_batch(desc, mesh, &batch);
    caromi_set_outputs(caromi_type_of_mesh_closest()->out, request->out, batch.out);
    return caromi_run_mesh(&batch, &desc->batch, request->stats, err);
}

static const caromi_handler closest = {.run = run};
carom_status carom_mesh_closest(carom_mesh *mesh, const carom_mesh_closest_desc *desc,
                                const carom_mesh_closest_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_closest(), &closest, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}
