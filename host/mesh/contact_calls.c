/* SPDX-License-Identifier: MIT */
/* The call for contacts. */
#include <math.h>

#include "host/core/staging.h"
#include "list.h"
#include "mesh.h"
#include "patches.h"
#include "query.h"

static carom_status check_length(float x, const char *name, carom_error *err)
{
    return x >= 0 && isfinite(x) ? CAROM_OK
                                 : caromi_fail_argument(err, "%s is %g; it must be finite and >= 0", name, (double)x);
}

static carom_status check(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_contacts_desc *desc = request->desc;
    (void)extent;
    CHECK(check_length(desc->margin, "margin", err));
    CHECK(check_length(desc->merge_within, "merge_within", err));
    if (desc->flat != NULL && !(*desc->flat >= 0 && *desc->flat <= 180))
        return caromi_fail_argument(err, "flat is %.17g degrees; it must be in [0, 180]", *desc->flat);
    return CAROM_OK;
}

/* Finds the tables of the mesh that contacts need. */
static carom_status find_tables(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, caromi_contacts *call,
                                carom_error *err)
{
    if (mesh->info.triangle_count == 0 || desc->batch.count <= desc->batch.begin)
        return CAROM_OK;
    CHECK(caromi_edges_of(mesh, &call->edges, err));
    return call->patch_of_hit == NULL
               ? CAROM_OK
               : caromi_patches_of(mesh, call->edges, desc->flat != NULL ? *desc->flat : 1.0, &call->patch, err);
}

/* Without memory for the tables the list is empty. */
static carom_status begin(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, const carom_contact_list *out,
                          caromi_contacts *call, carom_error *err)
{
    const caromi_values select = caromi_select_of(&desc->batch);
    if (!caromi_list_stays(mesh, &desc->batch, 1))
        CHECK(caromi_staging_show(mesh->context, err));
    CHECK(caromi_staging_show_array(mesh->context, out->totals, err)); /* the host writes the totals */
    CHECK(caromi_check_values(mesh->context, &desc->batch, &select, 1, err));
    const carom_status status = find_tables(mesh, desc, call, err);
    if (status != CAROM_OK) {
        CHECK(caromi_staging_show(mesh->context, NULL));
        caromi_begin_list(&desc->batch, out->offsets, out->totals);
    }
    return status;
}

static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_contacts_desc *desc = request->desc;
    const carom_contact_list *out = request->out;
    carom_mesh *mesh = request->subject;
    caromi_contacts call = {.merge = desc->merge_within, .patch_of_hit = out->patch};
    CHECK(caromi_mesh_bring(mesh, err));
    CHECK(begin(mesh, desc, out, &call, err));
    const carom_hit_list list = {.size = sizeof list,
                                 .capacity = out->capacity,
                                 .offsets = out->offsets,
                                 .query = out->query,
                                 .triangle = out->triangle,
                                 .t = out->distance,
                                 .totals = out->totals};
    caromi_list_batch batch = {.search = CAROMI_MESH_CONTACTS, .contacts = &call, .list = &list};
    caromi_mesh_contacts_batch(desc, mesh, &batch.sweep);
    caromi_set_outputs(caromi_type_of_mesh_contacts()->out, out, batch.sweep.out);
    return caromi_answer_list(&batch, &desc->batch, batch.sweep.kind->name[batch.sweep.exact], request->stats, err);
}

static const caromi_handler contacts = {.check = check, .run = run};
carom_status carom_mesh_contacts(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, const carom_contact_list *list,
                                 carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_contacts(), &contacts, mesh->context,
                         &(caromi_request){mesh, desc, list, CAROMI_NO_WHICH, stats}, err);
}
