/* SPDX-License-Identifier: MIT */
/* The call for contacts. */
#include <math.h>

#include "host/core/device.h"
#include "list.h"
#include "patches.h"
#include "query.h"

static carom_status check_length(float x, const char *name, carom_error *err)
{
    return x >= 0 && isfinite(x) ? CAROM_OK
                                 : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                                               "%s is %g; it must be finite and >= 0", name, (double)x);
}

static carom_status check_contacts(const carom_mesh_contacts_desc *d, carom_error *err)
{
    CHECK(caromi_check_batch(&d->batch, sizeof *d, "carom_mesh_contacts_desc",
                             CAROMI_SERVES_BEGIN | CAROMI_SERVES_SELECT, err));
    CHECK(check_length(d->margin, "margin", err));
    CHECK(check_length(d->merge_within, "merge_within", err));
    if (d->flat != NULL && !(*d->flat >= 0 && *d->flat <= 180))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "flat is %.17g degrees; it must be in [0, 180]",
                           *d->flat);
    if (d->batch.count == 0)
        return CAROM_OK;
    CAROMI_MESH_OVERLAP_INPUTS(CAROMI_CHECK_INPUT)
    return caromi_check_optional_uints(&d->mask, "mask", err);
}

static carom_status check_list(const carom_contact_list *out, carom_error *err)
{
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_contact_list", err));
    CHECK_NOT_NULL(out->totals, "totals", err);
    CAROMI_CONTACT_LIST_OUTPUTS(CAROMI_CHECK_OUTPUT)
    return CAROM_OK;
}

CAROMI_LIST list_contacts(caromi_arrays *a, const carom_mesh_contacts_desc *d, const carom_contact_list *out,
                          const carom_stats *stats)
{
    const uint64_t count = out->capacity;
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    CAROMI_MESH_OVERLAP_INPUTS(CAROMI_LIST_INPUT)
    caromi_list_shared(a, &d->batch, &d->mask);
    caromi_reads(a, "flat", d->flat, 1, 0, sizeof *d->flat);
    caromi_reads(a, "list", out, 1, 0, sizeof *out);
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    caromi_writes(a, "totals", out->totals, 1, sizeof *out->totals);
    caromi_writes(a, "offsets", out->offsets, d->batch.count + 1, sizeof *out->offsets);
    a->stored = &out->totals->stored;
    caromi_writes(a, "query", out->query, count, sizeof *out->query);
    caromi_writes(a, "patch", out->patch, count, sizeof *out->patch);
    CAROMI_CONTACT_LIST_OUTPUTS(CAROMI_LIST_OUTPUT)
    a->stored = NULL;
}

static void to_columns(const carom_contact_list *out, caromi_out_column *columns)
{
    CAROMI_CONTACT_LIST_OUTPUTS(CAROMI_SET_OUTPUT)
}

/* A mesh without triangles. */
static carom_status answer_empty(const carom_context *c, const void *batch, uint64_t done, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const carom_hit_list *list = ((const caromi_list_batch *)batch)->list;
    (void)c, (void)stats, (void)err;
    for (uint64_t i = done; list->offsets != NULL && i < end; i++)
        list->offsets[i + 1] = 0;
    list->totals->complete = end;
    return CAROM_OK;
}

static carom_status run(caromi_list_batch *batch, const carom_batch *asked, carom_stats *stats, carom_error *err)
{
    carom_mesh *mesh = batch->sweep.mesh;
    const int empty = mesh->info.triangle_count == 0;
    caromi_turns turns = {0};
    batch->turns = &turns;
    carom_list_totals unused = {0}; /* totals of the timing sample are discarded */
    const carom_hit_list scratch = {.size = sizeof scratch, .totals = &unused};
    caromi_list_batch sample = *batch;
    sample.list = &scratch;
    const caromi_batch run = {.batch = batch,
                              .sample = &sample,
                              .begin = batch->sweep.begin,
                              .count = batch->sweep.count,
                              .on_device = empty ? NULL : caromi_driver.list,
                              .on_cpu = empty ? answer_empty : caromi_cpu_list,
                              .turns = &turns,
                              .piece = CAROMI_MESH_PIECE,
                              .progress = asked->progress,
                              .prepare = asked->prepare,
                              .exact = batch->sweep.exact,
                              .name = batch->sweep.kind->name[batch->sweep.exact],
                              .pace = &mesh->paces[batch->search][batch->sweep.exact]};
    return caromi_run(mesh->context, &run, stats, err);
}

static carom_status contacts(carom_mesh *mesh, const carom_mesh_contacts_desc *d, const carom_contact_list *out,
                             carom_stats *stats, carom_error *err)
{
    caromi_contacts call = {.merge = d->merge_within, .patch_of_hit = out->patch};
    CHECK(check_contacts(d, err));
    CAROMI_CHECK_CALL(&d->batch, 0, mesh->context, err, list_contacts, d, out, stats);
    CHECK(caromi_check_select(&d->batch, err));
    if (mesh->info.triangle_count > 0 && d->batch.count > d->batch.begin) {
        CHECK(caromi_edges_of(mesh, &call.edges, err));
        if (out->patch != NULL)
            CHECK(caromi_patches_of(mesh, call.edges, d->flat != NULL ? *d->flat : 1.0, &call.patch, err));
    }
    const carom_hit_list list = {.size = sizeof list,
                                 .capacity = out->capacity,
                                 .offsets = out->offsets,
                                 .query = out->query,
                                 .index = out->triangle,
                                 .t = out->distance,
                                 .totals = out->totals};
    caromi_list_batch batch = {
        .search = CAROMI_MESH_CONTACTS, .contacts = &call, .list = &list, .counts_only = out->capacity == 0};
    caromi_mesh_contacts_batch(d, mesh, &batch.sweep);
    to_columns(out, batch.sweep.out);
    caromi_begin_list(&d->batch, list.offsets, list.totals);
    return run(&batch, &d->batch, stats, err);
}

CAROMI_JOB_OF(carom_mesh_contacts)
carom_status carom_mesh_contacts(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, const carom_contact_list *list,
                                 carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(list, "list", err);
    CHECK(caromi_check_stats(stats, err));
    CHECK(check_list(list, err));
    IN_BATCH_OF(carom_mesh_contacts, mesh->context, mesh, desc, list, stats, err,
                contacts(mesh, desc, list, stats, err));
}
