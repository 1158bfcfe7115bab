/* SPDX-License-Identifier: MIT */
/* The calls for all hits and any hit on a mesh, and for overlaps with one. */
#include "host/core/device.h"
#include "list.h"
#include "query.h"

/* A mesh without triangles has no hierarchy and no hits. */
static carom_status answer_empty(const carom_context *c, const void *list_batch, uint64_t done, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    (void)c, (void)stats, (void)err;
    for (uint64_t i = done; batch->any != NULL && i < end; i++)
        batch->any[i] = caromi_mesh_query_valid(batch->sweep.in, i) ? 0 : CAROM_OVERLAP_INVALID;
    for (uint64_t i = done; batch->list != NULL && batch->list->offsets != NULL && i < end; i++)
        batch->list->offsets[i + 1] = 0;
    if (batch->list != NULL)
        batch->list->totals->complete = end;
    return CAROM_OK;
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

#define LIST_HIT(kind, name, column) CAROMI_WRITES_##kind(a, #name, list->name, list->capacity);
/* Where the answers go: a list, or a byte for each query. */
CAROMI_LIST list_outputs(caromi_arrays *a, const carom_hit_list *list, const carom_any_result *any, uint64_t count,
                         const carom_stats *stats)
{
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    if (any != NULL) {
        caromi_reads(a, "out", any, 1, 0, sizeof *any);
        caromi_writes(a, "hit", any->hit, count, sizeof *any->hit);
    }
    if (list == NULL)
        return;
    caromi_reads(a, "list", list, 1, 0, sizeof *list);
    caromi_writes(a, "totals", list->totals, 1, sizeof *list->totals);
    caromi_writes(a, "offsets", list->offsets, count + 1, sizeof *list->offsets);
    a->stored = &list->totals->stored;
    caromi_writes(a, "query", list->query, list->capacity, sizeof *list->query);
    CAROMI_LIST_OUTPUTS(LIST_HIT)
    a->stored = NULL;
}

CAROMI_LIST list_sweep(caromi_arrays *a, const carom_mesh_sweep_desc *d, const carom_hit_list *list,
                       const carom_any_result *any, const carom_stats *stats)
{
    caromi_list_sweep(a, d);
    list_outputs(a, list, any, d->batch.count, stats);
}

CAROMI_LIST list_overlap(caromi_arrays *a, const carom_mesh_overlap_desc *d, const carom_hit_list *list,
                         const carom_any_result *any, const carom_stats *stats)
{
    caromi_list_overlap(a, d);
    list_outputs(a, list, any, d->batch.count, stats);
}

static carom_status check_list(const carom_hit_list *out, carom_error *err)
{
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_hit_list", err));
    CHECK_NOT_NULL(out->totals, "totals", err);
    CAROMI_LIST_OUTPUTS(CAROMI_CHECK_OUTPUT)
    return CAROM_OK;
}

static carom_status check_any(const carom_any_result *out, carom_error *err)
{
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_any_result", err));
    CHECK_NOT_NULL(out->hit, "hit", err);
    return CAROM_OK;
}

static void list_to_columns(const carom_hit_list *out, caromi_out_column *columns)
{
    CAROMI_LIST_OUTPUTS(CAROMI_SET_OUTPUT)
}

static carom_status run_list(caromi_list_batch *batch, const carom_batch *asked, carom_stats *stats, carom_error *err)
{
    static const char *const names[2][2] = {{"all hits on this mesh", "all hits on this mesh, exact,"},
                                            {"overlaps with this mesh", "overlaps with this mesh, exact,"}};
    carom_mesh *mesh = batch->sweep.mesh;
    const carom_hit_list *list = batch->list;
    const int empty = mesh->info.triangle_count == 0, overlap = batch->search == CAROMI_MESH_OVERLAPS;
    if (list != NULL) {
        list_to_columns(list, batch->sweep.out);
        caromi_begin_list(asked, list->offsets, list->totals);
    }
    caromi_turns turns = {0};
    batch->turns = list != NULL ? &turns : NULL;
    batch->counts_only = list == NULL || list->capacity == 0;
    carom_list_totals unused = {0}; /* totals of the timing sample are discarded */
    carom_hit_list scratch = {.size = sizeof scratch, .totals = &unused};
    caromi_list_batch sample = *batch;
    sample.list = list != NULL ? &scratch : NULL;
    const caromi_batch run = {.batch = batch,
                              .sample = &sample,
                              .begin = batch->sweep.begin,
                              .count = batch->sweep.count,
                              .on_device = empty ? NULL : caromi_driver.list,
                              .on_cpu = empty ? answer_empty : caromi_cpu_list,
                              .turns = batch->turns,
                              .piece = CAROMI_MESH_PIECE,
                              .progress = asked->progress,
                              .prepare = asked->prepare,
                              .exact = batch->sweep.exact,
                              .name = names[overlap][batch->sweep.exact],
                              .pace = &mesh->paces[batch->search][batch->sweep.exact]};
    return caromi_run(mesh->context, &run, stats, err);
}

/* Exact answers of any-hit queries stay on the device with the inputs, or everything comes to the host. */
static carom_status show_unless_any_stays(carom_context *context, const carom_batch *batch, const carom_any_result *any,
                                          carom_error *err)
{
    return batch->accuracy == CAROM_ACCURACY_FAST || any == NULL || caromi_resident_buffer(context, any->hit) != NULL
               ? CAROM_OK
               : caromi_staging_show(context, err);
}

static carom_status sweep_batch(carom_mesh *mesh, const carom_mesh_sweep_desc *d, carom_hits which,
                                const carom_hit_list *list, const carom_any_result *any, carom_stats *stats,
                                carom_error *err)
{
    CHECK(caromi_check_mesh_sweep(d, list != NULL ? CAROMI_SERVES_BEGIN : 0, err));
    CAROMI_CHECK_CALL(&d->batch, any != NULL, mesh->context, err, list_sweep, d, list, any, stats);
    CHECK(show_unless_any_stays(mesh->context, &d->batch, any, err));
    CHECK(caromi_staging_show_index(mesh->context, d->batch.select.data, err));
    CHECK(caromi_staging_show_input(mesh->context, d->t_max.data, err));
    CHECK(caromi_check_select(&d->batch, err));
    CHECK(caromi_check_t_max(d, err));
    if (which == CAROM_HITS_FIRST)
        return caromi_compact_first(mesh, d, list, stats, err);
    caromi_list_batch batch = {.search = CAROMI_MESH_LIST, .any = any != NULL ? any->hit : NULL, .list = list};
    caromi_mesh_sweep_batch(d, mesh, &batch.sweep);
    return run_list(&batch, &d->batch, stats, err);
}

static carom_status overlap_batch(carom_mesh *mesh, const carom_mesh_overlap_desc *d, const carom_hit_list *list,
                                  const carom_any_result *any, carom_stats *stats, carom_error *err)
{
    CHECK(caromi_check_mesh_overlap(d, list != NULL ? CAROMI_SERVES_BEGIN : 0, err));
    CAROMI_CHECK_CALL(&d->batch, any != NULL, mesh->context, err, list_overlap, d, list, any, stats);
    CHECK(show_unless_any_stays(mesh->context, &d->batch, any, err));
    CHECK(caromi_staging_show_index(mesh->context, d->batch.select.data, err));
    CHECK(caromi_check_select(&d->batch, err));
    caromi_list_batch batch = {.search = CAROMI_MESH_OVERLAPS, .any = any != NULL ? any->hit : NULL, .list = list};
    caromi_mesh_overlap_batch(d, mesh, &batch.sweep);
    return run_list(&batch, &d->batch, stats, err);
}

static carom_status job_of_list(void *mesh, const void *desc, const void *list, int which, carom_stats *stats,
                                carom_error *err)
{
    return carom_mesh_sweep_list(mesh, desc, (carom_hits)which, list, stats, err);
}

carom_status carom_mesh_sweep_list(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, carom_hits which,
                                   const carom_hit_list *list, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(list, "list", err);
    CHECK(caromi_check_stats(stats, err));
    CHECK(check_list(list, err));
    if (which != CAROM_HITS_ALL && which != CAROM_HITS_FIRST)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "which is %d; it must be 0 (all) or 1 (first)",
                           (int)which);
    IN_BATCH(mesh->context, desc, err, sweep_batch(mesh, desc, which, list, NULL, stats, err), job_of_list, mesh, list,
             sizeof *list, (int)which, stats);
}

CAROMI_JOB_OF(carom_mesh_sweep_any)
carom_status carom_mesh_sweep_any(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const carom_any_result *out,
                                  carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_stats(stats, err));
    CHECK(check_any(out, err));
    IN_BATCH_OF(carom_mesh_sweep_any, mesh->context, mesh, desc, out, stats, err,
                sweep_batch(mesh, desc, CAROM_HITS_ALL, NULL, out, stats, err));
}

CAROMI_JOB_OF(carom_mesh_overlap_any)
carom_status carom_mesh_overlap_any(carom_mesh *mesh, const carom_mesh_overlap_desc *desc, const carom_any_result *out,
                                    carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_stats(stats, err));
    CHECK(check_any(out, err));
    IN_BATCH_OF(carom_mesh_overlap_any, mesh->context, mesh, desc, out, stats, err,
                overlap_batch(mesh, desc, NULL, out, stats, err));
}

CAROMI_JOB_OF(carom_mesh_overlap_list)
carom_status carom_mesh_overlap_list(carom_mesh *mesh, const carom_mesh_overlap_desc *desc, const carom_hit_list *list,
                                     carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(list, "list", err);
    CHECK(caromi_check_stats(stats, err));
    CHECK(check_list(list, err));
    if (list->state || list->t || list->point.x || list->normal.x || list->feature)
        return caromi_fail(
            err, CAROM_ERROR_INVALID_ARGUMENT, 0,
            "a list of overlaps has queries and triangles; state, t, point, normal and feature must be NULL");
    IN_BATCH_OF(carom_mesh_overlap_list, mesh->context, mesh, desc, list, stats, err,
                overlap_batch(mesh, desc, list, NULL, stats, err));
}
