/* SPDX-License-Identifier: MIT */
/* The calls for all hits and any hit on a mesh, and for overlaps with one. */
#include "host/core/device.h"
#include "host/core/devices.h"
#include "bundle.h"
#include "list.h"
#include "mesh.h"
#include "query.h"
#include "side.h"

enum { FIRST_PIECE = 1 << 20 }; /* most queries of a piece of first hits, each of which allocates columns */

/* A mesh without triangles has no hierarchy and no hits. */
static carom_status answer_empty(const carom_context *context, const void *list_batch, uint64_t done, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    (void)context, (void)stats, (void)err;
    for (uint64_t i = done; batch->any != NULL && i < end; i++)
        batch->any[i] = caromi_mesh_query_valid(batch->sweep.in, i) ? 0 : CAROM_OVERLAP_INVALID;
    for (uint64_t i = done; batch->list != NULL && batch->list->offsets != NULL && i < end; i++)
        batch->list->offsets[i + 1] = 0;
    if (batch->list != NULL)
        batch->list->totals->complete = end;
    return CAROM_OK;
}

/* The device itself writes the first offset where that stays there. */
static void begin_list(const carom_context *context, const carom_batch *asked, const carom_hit_list *list)
{
    const int stays = caromi_resident_buffer(context, list->offsets) != NULL;
    caromi_begin_list(asked, stays ? NULL : list->offsets, list->totals);
}

int caromi_list_stays(const carom_mesh *mesh, const carom_batch *asked, int is_of_contacts)
{
    const carom_context *context = mesh->context;
    const caromi_device *device = caromi_has_residents(context) ? caromi_first_device(context) : NULL;
    return device != NULL && mesh->scene == NULL && mesh->info.triangle_count > 0 && asked->count > asked->begin &&
           caromi_driver.list_stays(device, is_of_contacts);
}

/* A new hierarchy has other leaves, so the culling data of contacts is computed again. */
static carom_status suit_contacts(void *subject, carom_error *err)
{
    carom_mesh *mesh = subject;
    const caromi_edges *edges;
    if (mesh->view.width == MESH_WIDEST)
        return CAROM_OK;
    CHECK(caromi_hierarchy_suit_device(mesh, err));
    return caromi_edges_of(mesh, &edges, err);
}

/* ---- overlaps of a body --------------------------------------------------------------------------------------------
 */

static carom_status overlap_body(const carom_context *context, const void *list_batch, uint64_t first, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    CHECK(caromi_cpu_list(context, batch, first, end, stats, err));
    return caromi_sign_overlaps(context, &batch->sweep, batch->any, first, end, stats, err);
}

static carom_status decline(caromi_device *device, const void *list_batch, uint64_t end, uint64_t *done,
                            carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    (void)device, (void)err;
    return caromi_decline_mesh(batch->sweep.mesh, caromi_reason_to_decline(&batch->sweep), end, *done, stats);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static caromi_pace *pace_of(const caromi_list_batch *batch)
{
    carom_mesh *mesh = batch->sweep.mesh;
    const int exact = batch->sweep.exact;
    if (batch->sweep.sign == CAROM_SIGN_NONE && !caromi_is_bundled(&batch->sweep))
        return &mesh->paces[batch->search][exact];
    return &mesh->body_paces[batch->search == CAROMI_MESH_OVERLAPS ? CAROMI_BODY_OVERLAPS : CAROMI_BODY_SWEEPS][exact];
}

/* Runs a batch whose columns are set: initializes its list, then answers it, also if the mesh is empty. */
carom_status caromi_answer_list(caromi_list_batch *batch, const carom_batch *asked, const char *name,
                                carom_stats *stats, carom_error *err)
{
    carom_mesh *mesh = batch->sweep.mesh;
    const carom_hit_list *list = batch->list;
    const int empty = mesh->info.triangle_count == 0, is_body = batch->sweep.sign != CAROM_SIGN_NONE;
    const int is_bundled = caromi_is_bundled(&batch->sweep),
              is_declined = caromi_reason_to_decline(&batch->sweep) != NULL;
    if (list != NULL)
        begin_list(mesh->context, asked, list);
    caromi_sequencer turns = {0};
    _Atomic uint32_t part = 0;
    batch->part = &part;
    batch->turns = list != NULL ? &turns : NULL;
    batch->counts_only = list == NULL || list->capacity == 0;
    batch->on_cpu = empty             ? answer_empty
                    : is_body         ? overlap_body
                    : batch->is_first ? caromi_cpu_first_list
                                      : caromi_cpu_list;
    carom_list_totals unused = {0}; /* totals of the timing sample are discarded */
    carom_hit_list scratch = {.size = sizeof scratch, .totals = &unused};
    caromi_list_batch sample = *batch;
    sample.list = list != NULL ? &scratch : NULL;
    const caromi_batch run = {.batch = batch,
                              .sample = &sample,
                              .begin = batch->sweep.begin,
                              .count = batch->sweep.count,
                              .on_device = is_declined                        ? decline
                                           : !caromi_hierarchy_may_suit(mesh) ? NULL
                                           : is_bundled                       ? caromi_device_any_bundles
                                                                              : caromi_driver.list,
                              .suit_device = is_declined               ? NULL
                                             : batch->contacts != NULL ? suit_contacts
                                                                       : caromi_suit_mesh,
                              .subject = mesh,
                              .on_cpu = is_bundled ? caromi_cpu_any_bundles : batch->on_cpu,
                              .is_whole = is_bundled,
                              .bundle = batch->sweep.bundle,
                              .turns = batch->turns,
                              .piece = batch->is_first ? FIRST_PIECE : caromi_mesh_piece(batch->sweep.bundle),
                              .totals = list != NULL ? list->totals : NULL,
                              .reports = asked->progress.fn != NULL,
                              .prepare = asked->prepare,
                              .exact = batch->sweep.exact,
                              .name = name,
                              .pace = pace_of(batch)};
    return caromi_run(mesh->context, &run, stats, err);
}

static carom_status run_hits(caromi_list_batch *batch, const carom_batch *asked, carom_stats *stats, carom_error *err)
{
    static const char *const names[2][2] = {{"all hits on this mesh", "all hits on this mesh, exact,"},
                                            {"overlaps with this mesh", "overlaps with this mesh, exact,"}};
    if (batch->list != NULL)
        caromi_set_outputs(caromi_type_of_mesh_sweep_list()->out, batch->list, batch->sweep.out);
    return caromi_answer_list(batch, asked, names[batch->search == CAROMI_MESH_OVERLAPS][batch->sweep.exact], stats,
                              err);
}

/* Whether the call's arrays may stay on the device. Exact answers of any-hit queries stay there with the inputs, or
 * everything comes to the host. So does all of a body: the host joins overlaps and sides. */
static int may_stay(const carom_mesh *mesh, const carom_batch *batch, const carom_hit_list *list,
                    const carom_any_result *any, carom_sign sign)
{
    if (mesh->scene != NULL || sign != CAROM_SIGN_NONE)
        return 0;
    return list != NULL
               ? caromi_list_stays(mesh, batch, 0)
               : batch->accuracy == CAROM_ACCURACY_FAST || caromi_resident_buffer(mesh->context, any->hit) != NULL;
}

/* Shows what the host must read of an any-hit query or a list, and checks selection and limits. t_max NULL: none. */
static carom_status begin(carom_mesh *mesh, const carom_batch *batch, const caromi_values *t_max,
                          const carom_hit_list *list, const carom_any_result *any, carom_sign sign, carom_error *err)
{
    const caromi_values values[] = {caromi_select_of(batch), t_max != NULL ? *t_max : (caromi_values){0}};
    if (list != NULL && list->instance != NULL)
        CHECK(caromi_check_has_instances(mesh, err));
    if (mesh->scene != NULL)
        CHECK(caromi_scene_look(mesh->scene, err));
    if (!may_stay(mesh, batch, list, any, sign))
        CHECK(caromi_staging_show(mesh->context, err));
    if (list != NULL) /* the host writes the totals */
        CHECK(caromi_staging_show_array(mesh->context, list->totals, err));
    return caromi_check_values(mesh->context, batch, values, t_max != NULL ? 2 : 1, err);
}

static int may_use_device(const carom_context *context)
{
    return context->desc.backend != CAROM_BACKEND_CPU &&
           (!context->device_tried || caromi_first_device(context) != NULL);
}

static carom_status sweep(const caromi_request *request, const carom_hit_list *list, const carom_any_result *any,
                          carom_error *err)
{
    const carom_mesh_sweep_desc *desc = request->desc;
    carom_mesh *mesh = request->subject;
    const caromi_values t_max = caromi_t_max_of(desc);
    CHECK(begin(mesh, &desc->batch, &t_max, list, any, CAROM_SIGN_NONE, err));
    const int is_first = request->which == CAROM_HITS_FIRST;
    if (is_first && !caromi_list_stays(mesh, &desc->batch, 0) && may_use_device(mesh->context))
        return caromi_compact_first(mesh, desc, list, request->stats, err);
    caromi_list_batch batch = {.search = is_first ? CAROMI_MESH_FIRST : CAROMI_MESH_LIST,
                               .is_first = is_first,
                               .any = any != NULL ? any->hit : NULL,
                               .list = list};
    caromi_mesh_sweep_batch(desc, mesh, &batch.sweep);
    return run_hits(&batch, &desc->batch, request->stats, err);
}

static carom_status overlap(const caromi_request *request, const carom_hit_list *list, const carom_any_result *any,
                            carom_error *err)
{
    const carom_mesh_overlap_desc *desc = request->desc;
    carom_mesh *mesh = request->subject;
    CHECK(caromi_check_body(mesh, desc->sign, desc->allow_open, err));
    CHECK(begin(mesh, &desc->batch, NULL, list, any, desc->sign, err));
    caromi_list_batch batch = {.search = CAROMI_MESH_OVERLAPS, .any = any != NULL ? any->hit : NULL, .list = list};
    caromi_mesh_overlap_batch(desc, mesh, &batch.sweep);
    batch.sweep.sign = desc->sign;
    CHECK(caromi_close_for(&batch.sweep, &desc->batch, request->stats, err));
    return run_hits(&batch, &desc->batch, request->stats, err);
}

/* ---- all hits of sweeps ------------------------------------------------------------------------------------------ */

static carom_status check_sweep_list(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    if (request->which != CAROM_HITS_ALL && request->which != CAROM_HITS_FIRST)
        return caromi_fail_argument(err, "which is %d; it must be 0 (all) or 1 (first)", request->which);
    CHECK(caromi_check_no_bundles(((const carom_mesh_sweep_desc *)request->desc)->bundle, err));
    return caromi_check_sweep_options(request, extent, err);
}

static carom_status run_sweep_list(const caromi_request *request, carom_error *err)
{
    return sweep(request, request->out, NULL, err);
}

static const caromi_handler sweep_list = {.check = check_sweep_list, .run = run_sweep_list};
carom_status carom_mesh_sweep_list(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, carom_hits which,
                                   const carom_hit_list *list, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_sweep_list(), &sweep_list, mesh->context,
                         &(caromi_request){mesh, desc, list, (int)which, stats}, err);
}

/* ---- any hit ----------------------------------------------------------------------------------------------------- */

static carom_status check_sweep_any(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_sweep_desc *desc = request->desc;
    CHECK(caromi_check_bundles(&desc->batch, desc->bundle, extent, err));
    return caromi_check_sweep_options(request, extent, err);
}

static carom_status run_sweep_any(const caromi_request *request, carom_error *err)
{
    return sweep(request, NULL, request->out, err);
}

static const caromi_handler sweep_any = {.check = check_sweep_any, .run = run_sweep_any};
carom_status carom_mesh_sweep_any(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const carom_any_result *out,
                                  carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_sweep_any(), &sweep_any, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}

/* ---- overlaps ---------------------------------------------------------------------------------------------------- */

static carom_status check_overlap_any(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_overlap_desc *desc = request->desc;
    CHECK(caromi_check_bundles(&desc->batch, desc->bundle, extent, err));
    return caromi_check_sign(desc->sign, desc->allow_open, err);
}

static carom_status run_overlap_any(const caromi_request *request, carom_error *err)
{
    return overlap(request, NULL, request->out, err);
}

static const caromi_handler overlap_any = {.check = check_overlap_any, .run = run_overlap_any};
carom_status carom_mesh_overlap_any(carom_mesh *mesh, const carom_mesh_overlap_desc *desc, const carom_any_result *out,
                                    carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_overlap_any(), &overlap_any, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}

static carom_status check_overlap_list(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_overlap_desc *desc = request->desc;
    const carom_hit_list *list = request->out;
    (void)extent;
    if (desc->sign != CAROM_SIGN_NONE || desc->allow_open != 0)
        return caromi_fail_argument(err, "a list of overlaps has triangles alone; sign and allow_open must be 0");
    CHECK(caromi_check_no_bundles(desc->bundle, err));
    if (list->state || list->t || list->point.x || list->normal.x || list->feature)
        return caromi_fail_argument(
            err, "a list of overlaps has queries and triangles; state, t, point, normal and feature must be NULL");
    return CAROM_OK;
}

static carom_status run_overlap_list(const caromi_request *request, carom_error *err)
{
    return overlap(request, request->out, NULL, err);
}

static const caromi_handler overlap_list = {.check = check_overlap_list, .run = run_overlap_list};
carom_status carom_mesh_overlap_list(carom_mesh *mesh, const carom_mesh_overlap_desc *desc, const carom_hit_list *list,
                                     carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    return caromi_answer(caromi_type_of_mesh_overlap_list(), &overlap_list, mesh->context,
                         &(caromi_request){mesh, desc, list, CAROMI_NO_WHICH, stats}, err);
}
