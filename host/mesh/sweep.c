/* SPDX-License-Identifier: MIT */
/* The call for first hits on a mesh. */
#include "batch.h"
#include "query.h"

static carom_status check(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    CHECK(caromi_check_no_bundles(((const carom_mesh_sweep_desc *)request->desc)->bundle, err));
    return caromi_check_sweep_options(request, extent, err);
}

static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_sweep_desc *desc = request->desc;
    carom_mesh *mesh = request->subject;
    const caromi_values values[] = {caromi_select_of(&desc->batch), caromi_t_max_of(desc)};
    CHECK(caromi_check_values(mesh->context, &desc->batch, values, 2, err));
    caromi_mesh_batch batch;
    caromi_mesh_sweep_batch(desc, mesh, &batch);
    caromi_hits_to_columns(request->out, batch.out);
    return caromi_run_mesh(&batch, &desc->batch, request->stats, err);
}

static const caromi_handler sweep_first = {.check = check, .run = run};
carom_status carom_mesh_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                    const carom_mesh_hit_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_sweep_first(), &sweep_first, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}
