/* SPDX-License-Identifier: MIT */
/* Runs a mesh batch on the CPU or on a device. */
#include "host/core/device.h"
#include "host/core/staging.h"
#include "block.h"
#include "bundle.h"
#include "mesh.h"
#include "query.h"
#include "side.h"

/* Answers a batch on a mesh without triangles, which has no hierarchy. All queries miss; if states are wanted, invalid
 * queries are marked. */
static carom_status answer_empty(const carom_context *context, const void *mesh_batch, uint64_t done, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const int wants_state = batch->out[CAROMI_ANSWER_STATE].base != NULL;
    caromi_mesh_block block;
    (void)context, (void)stats, (void)err;
    caromi_block_miss(&block, CAROMI_BLOCK);
    for (uint64_t first = done; first < end; first += CAROMI_BLOCK) {
        const size_t count = end - first < CAROMI_BLOCK ? (size_t)(end - first) : CAROMI_BLOCK;
        for (size_t i = 0; i < count; i++) {
            block.row[i] = first + i;
            block.state[i] = !wants_state || caromi_mesh_query_valid(batch->in, first + i) ? CAROM_MISS : CAROM_INVALID;
        }
        caromi_block_store(batch, &block, count);
    }
    return CAROM_OK;
}

caromi_on_cpu *caromi_mesh_on_cpu(const carom_mesh *mesh)
{
    return mesh->info.triangle_count == 0 ? answer_empty : caromi_cpu_mesh;
}

carom_status caromi_check_has_instances(const carom_mesh *mesh, carom_error *err)
{
    return mesh->scene != NULL ? CAROM_OK
                               : caromi_fail_argument(err, "instance must be NULL: the mesh is not that of a scene");
}

static carom_status decline(caromi_device *device, const void *mesh_batch, uint64_t end, uint64_t *done,
                            carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    (void)device, (void)err;
    return caromi_decline_mesh(batch->mesh, caromi_reason_to_decline(batch), end, *done, stats);
}

/* Describes a batch of mesh queries for caromi_run(). */
carom_status caromi_run_mesh(const caromi_mesh_batch *batch, const carom_batch *asked, carom_stats *stats,
                             carom_error *err)
{
    carom_mesh *mesh = batch->mesh;
    const int is_bundled = caromi_is_bundled(batch);
    const int is_declined = caromi_reason_to_decline(batch) != NULL;
    if (batch->out[CAROMI_ANSWER_INSTANCE].base != NULL)
        CHECK(caromi_check_has_instances(mesh, err));
    if (mesh->scene != NULL) {
        CHECK(caromi_staging_show(mesh->context, err)); /* the host completes all answers */
        CHECK(caromi_scene_look(mesh->scene, err));
    }
    const caromi_batch run = {.batch = batch,
                              .count = batch->count,
                              .on_device = is_declined                        ? decline
                                           : !caromi_hierarchy_may_suit(mesh) ? NULL
                                           : is_bundled                       ? caromi_device_closest_bundles
                                                                              : caromi_driver.mesh,
                              .suit_device = is_declined ? NULL : caromi_suit_mesh,
                              .subject = mesh,
                              .on_cpu = is_bundled ? caromi_cpu_closest_bundles : caromi_mesh_on_cpu(mesh),
                              .is_whole = is_bundled,
                              .bundle = batch->bundle,
                              .piece = caromi_mesh_piece(batch->bundle),
                              .reports = asked->progress.fn != NULL,
                              .prepare = asked->prepare,
                              .exact = batch->exact,
                              .name = batch->kind->name[batch->exact],
                              .pace = is_declined || is_bundled || caromi_wants_gradient(batch) ||
                                              batch->sign != CAROM_SIGN_NONE
                                          ? &mesh->body_paces[CAROMI_BODY_CLOSEST][batch->exact]
                                          : &mesh->paces[batch->kind->search][batch->exact]};
    return caromi_run(mesh->context, &run, stats, err);
}
