/* SPDX-License-Identifier: MIT */
/* The call for contacts. */
#include <math.h>

#include "host/bvh/triangle.h"
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
    return check_length(desc->merge_within, "merge_within", err);
}

/* The number may lie in a buffer, as any array. */
static carom_status check_flat(const carom_mesh *mesh, const double *flat, carom_error *err)
{
    CHECK(caromi_staging_show_array(mesh->context, flat, err));
    return flat == NULL || (*flat >= 0 && *flat <= 180)
               ? CAROM_OK
               : caromi_fail_argument(err, "flat is %.17g degrees; it must be in [0, 180]", *flat);
}

/* The tables of one mesh of a scene. */
static carom_status find_tables_of(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, caromi_patches *patches,
                                   carom_error *err)
{
    const caromi_corners *corners;
    const caromi_edges *edges;
    CHECK(caromi_mesh_bring(mesh, err));
    CHECK(caromi_corners_of(mesh, &corners, err));
    if (patches == NULL)
        return CAROM_OK;
    CHECK(caromi_edges_of(mesh, &edges, err));
    return caromi_patches_of(mesh, edges, desc->flat != NULL ? *desc->flat : 1.0, desc->merge_within, patches, err);
}

/* The tables of a scene's meshes; caromi_free(call->patches_of_mesh) in any case. */
static carom_status find_tables_of_scene(const carom_mesh *mesh, const carom_mesh_contacts_desc *desc,
                                         caromi_contacts *call, carom_error *err)
{
    const uint64_t count = caromi_scene_mesh_count(mesh->scene);
    if (call->patch_of_hit != NULL) {
        call->patches_of_mesh = caromi_alloc(mesh->context, count + 1, sizeof *call->patches_of_mesh);
        if (call->patches_of_mesh == NULL)
            return caromi_fail_memory(err, "no memory for the patches of %llu meshes", (unsigned long long)count);
    }
    for (uint64_t i = 0; i < count; i++) {
        carom_mesh *const of = caromi_scene_mesh_at(mesh->scene, i);
        if (of != NULL)
            CHECK(find_tables_of(of, desc, call->patches_of_mesh != NULL ? &call->patches_of_mesh[i] : NULL, err));
    }
    return CAROM_OK;
}

/* Finds the tables of the mesh that contacts need. A device that has refitted the mesh updates its own, if the call's
 * arrays stay there and no patches are to be found. */
static carom_status find_tables(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, caromi_contacts *call,
                                carom_error *err)
{
    const caromi_edges *edges;
    int done = 0;
    if (mesh->info.triangle_count == 0 || desc->batch.count <= desc->batch.begin)
        return CAROM_OK;
    if (mesh->scene != NULL)
        return find_tables_of_scene(mesh, desc, call, err);
    if (caromi_list_stays(mesh, &desc->batch, 1) && (call->patch_of_hit == NULL || mesh->patches.given != NULL))
        CHECK(caromi_mesh_follow_contacts(mesh, desc->mask.data != NULL, &done, err));
    if (!done) {
        CHECK(caromi_mesh_bring(mesh, err));
        CHECK(caromi_edges_of(mesh, &edges, err));
    }
    return call->patch_of_hit == NULL ? CAROM_OK
                                      : caromi_patches_of(mesh, mesh->edges, desc->flat != NULL ? *desc->flat : 1.0,
                                                          desc->merge_within, &call->patches, err);
}

/* Without memory for the tables the list is empty. */
static carom_status begin(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, const carom_contact_list *out,
                          caromi_contacts *call, carom_error *err)
{
    const caromi_values select = caromi_select_of(&desc->batch);
    if (out->instance != NULL)
        CHECK(caromi_check_has_instances(mesh, err));
    if (mesh->scene != NULL)
        CHECK(caromi_scene_look(mesh->scene, err));
    if (!caromi_list_stays(mesh, &desc->batch, 1))
        CHECK(caromi_staging_show(mesh->context, err));
    CHECK(caromi_staging_show_array(mesh->context, out->totals, err)); /* the host writes the totals */
    CHECK(check_flat(mesh, desc->flat, err));
    CHECK(caromi_check_values(mesh->context, &desc->batch, &select, 1, err));
    const carom_status status = find_tables(mesh, desc, call, err);
    if (status == CAROM_ERROR_CANCELLED)
        return CAROM_OK; /* the batch ends at its first look, before it needs a table */
    if (status != CAROM_OK) {
        CHECK(caromi_staging_show(mesh->context, NULL));
        caromi_begin_list(&desc->batch, out->offsets, out->totals);
    }
    return status;
}

static carom_status answer(const caromi_request *request, caromi_contacts *call, carom_error *err)
{
    const carom_mesh_contacts_desc *desc = request->desc;
    const carom_contact_list *out = request->out;
    carom_mesh *mesh = request->subject;
    CHECK(begin(mesh, desc, out, call, err));
    const carom_hit_list list = {.size = sizeof list,
                                 .capacity = out->capacity,
                                 .offsets = out->offsets,
                                 .query = out->query,
                                 .triangle = out->triangle,
                                 .instance = out->instance,
                                 .t = out->distance,
                                 .totals = out->totals};
    caromi_list_batch batch = {.search = CAROMI_MESH_CONTACTS, .contacts = call, .list = &list};
    caromi_mesh_contacts_batch(desc, mesh, &batch.sweep);
    caromi_set_outputs(caromi_type_of_mesh_contacts()->out, out, batch.sweep.out);
    return caromi_answer_list(&batch, &desc->batch, batch.sweep.kind->name[batch.sweep.exact], request->stats, err);
}

static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_contacts_desc *desc = request->desc;
    const carom_contact_list *out = request->out;
    const carom_mesh *mesh = request->subject;
    caromi_contacts call = {.merge = desc->merge_within, .patch_of_hit = out->patch};
    const carom_status status = answer(request, &call, err);
    caromi_free(mesh->context, call.patches_of_mesh);
    return status;
}

static const caromi_handler contacts = {.check = check, .run = run};
carom_status carom_mesh_contacts(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, const carom_contact_list *list,
                                 carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_contacts(), &contacts, mesh->context,
                         &(caromi_request){mesh, desc, list, CAROMI_NO_WHICH, stats}, err);
}
