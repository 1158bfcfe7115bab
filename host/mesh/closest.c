/* SPDX-License-Identifier: MIT */
/* The call for closest points on a mesh. */
#include "batch.h"
#include "query.h"

static void closest_to_columns(const carom_mesh_closest_result *out,
                               caromi_out_column *columns){CAROMI_CLOSEST_OUTPUTS(CAROMI_SET_OUTPUT)}

CAROMI_LIST list_closest(caromi_arrays *a, const carom_mesh_closest_desc *d, const carom_mesh_closest_result *out,
                         const carom_stats *stats)
{
    const uint64_t count = d->batch.count;
    caromi_list_closest(a, d);
    caromi_reads(a, "out", out, 1, 0, sizeof *out);
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    CAROMI_CLOSEST_OUTPUTS(CAROMI_LIST_OUTPUT)
}

static carom_status closest(carom_mesh *mesh, const carom_mesh_closest_desc *d, const carom_mesh_closest_result *out,
                            carom_stats *stats, carom_error *err)
{
    CHECK(caromi_check_mesh_closest(d, err));
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_mesh_closest_result", err));
    CAROMI_CLOSEST_OUTPUTS(CAROMI_CHECK_OUTPUT)
    CAROMI_CHECK_CALL(&d->batch, 1, mesh->context, err, list_closest, d, out, stats);
    CHECK(caromi_staging_show_index(mesh->context, d->batch.select.data, err));
    CHECK(caromi_staging_show_input(mesh->context, d->max_distance.data, err));
    CHECK(caromi_check_select(&d->batch, err));
    CHECK(caromi_check_max_distance(d, err));
    caromi_mesh_batch batch;
    caromi_mesh_closest_batch(d, mesh, &batch);
    closest_to_columns(out, batch.out);
    return caromi_run_mesh(&batch, &d->batch, stats, err);
}

CAROMI_JOB_OF(carom_mesh_closest)
carom_status carom_mesh_closest(carom_mesh *mesh, const carom_mesh_closest_desc *desc,
                                const carom_mesh_closest_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_stats(stats, err));
    IN_BATCH_OF(carom_mesh_closest, mesh->context, mesh, desc, out, stats, err, closest(mesh, desc, out, stats, err));
}
