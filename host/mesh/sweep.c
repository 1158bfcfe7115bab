/* SPDX-License-Identifier: MIT */
/* The call for first hits on a mesh. */
#include "batch.h"
#include "query.h"

CAROMI_LIST list_first(caromi_arrays *a, const carom_mesh_sweep_desc *d, const carom_mesh_hit_result *out,
                       const carom_stats *stats)
{
    const uint64_t count = d->batch.count;
    caromi_list_sweep(a, d);
    caromi_reads(a, "out", out, 1, 0, sizeof *out);
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    CAROMI_HIT_OUTPUTS(CAROMI_LIST_OUTPUT)
}

static carom_status sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *d, const carom_mesh_hit_result *out,
                                carom_stats *stats, carom_error *err)
{
    CHECK(caromi_check_mesh_sweep(d, 0, err));
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_mesh_hit_result", err));
    CAROMI_HIT_OUTPUTS(CAROMI_CHECK_OUTPUT)
    CAROMI_CHECK_CALL(&d->batch, 1, mesh->context, err, list_first, d, out, stats);
    CHECK(caromi_staging_show_index(mesh->context, d->batch.select.data, err));
    CHECK(caromi_staging_show_input(mesh->context, d->t_max.data, err));
    CHECK(caromi_check_select(&d->batch, err));
    CHECK(caromi_check_t_max(d, err));
    caromi_mesh_batch batch;
    caromi_mesh_sweep_batch(d, mesh, &batch);
    caromi_hits_to_columns(out, batch.out);
    return caromi_run_mesh(&batch, &d->batch, stats, err);
}

CAROMI_JOB_OF(carom_mesh_sweep_first)
carom_status carom_mesh_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                    const carom_mesh_hit_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_stats(stats, err));
    IN_BATCH_OF(carom_mesh_sweep_first, mesh->context, mesh, desc, out, stats, err,
                sweep_first(mesh, desc, out, stats, err));
}
