/* SPDX-License-Identifier: MIT */
/* The call for closest points on a mesh. */
#include "batch.h"
#include "query.h"

static carom_status run(const caromi_request *r, carom_error *err)
{
    const carom_mesh_closest_desc *d = r->desc;
    carom_mesh *mesh = r->subject;
    CHECK(caromi_staging_show_index(mesh->context, d->batch.select.data, err));
    CHECK(caromi_staging_show_input(mesh->context, d->max_distance.data, err));
    CHECK(caromi_check_select(&d->batch, err));
    CHECK(caromi_check_max_distance(d, err));
    caromi_mesh_batch batch;
    caromi_mesh_closest_batch(d, mesh, &batch);
    caromi_set_outputs(caromi_type_of_mesh_closest()->out, r->out, batch.out);
    return caromi_run_mesh(&batch, &d->batch, r->stats, err);
}

static const caromi_handler closest = {.run = run};
carom_status carom_mesh_closest(carom_mesh *mesh, const carom_mesh_closest_desc *desc,
                                const carom_mesh_closest_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_closest(), &closest, mesh->context,
                         &(caromi_request){mesh, desc, out, 0, stats}, err);
}
