/* SPDX-License-Identifier: MIT */
/* Meshes whose vertices a device has moved. The device refits its own copy of the mesh, and the host learns bounds,
 * frame and cost. The host's vertices, leaves and nodes are then older: the mesh is *stale* until something on the host
 * needs them. The vertices are in memory that keeps the device open, in a copy of the mesh's own, so the caller's array
 * may change. */
#include <math.h>

#include "clearance.h"
#include "edges.h"
#include "host/core/arrays.h"
#include "host/core/device.h"
#include "host/core/devices.h"
#include "kernels/refit.h"
#include "mesh.h"

static uint64_t vertex_bytes(const carom_mesh *mesh)
{
    return mesh->vertex_count * 3 * sizeof *mesh->vertices;
}

/* ---- back to the host -------------------------------------------------------------------------------------------- */

static carom_status read_vertices(const carom_mesh *mesh, carom_error *err)
{
    carom_error cause = {0};
    const carom_status status =
        caromi_driver.memory_read(mesh->moved[0], 0, mesh->vertices, vertex_bytes(mesh), &cause);
    return status == CAROM_OK ? CAROM_OK
                              : caromi_fail(err, status, cause.native_code,
                                            "a mesh moved on a device, which cannot return its vertices: %s; "
                                            "carom_mesh_update sets new ones",
                                            cause.message);
}

carom_status caromi_mesh_bring_old(carom_mesh *mesh, carom_error *err)
{
    const size_t stride = 3 * sizeof *mesh->vertices;
    const carom_points vertices = {mesh->vertices, mesh->vertices + 1, mesh->vertices + 2, stride};
    caromi_extent extent;
    CHECK(read_vertices(mesh, err));
    CHECK(caromi_mesh_check(mesh, &vertices, &extent, err));
    caromi_mesh_set_extent(mesh, &extent);
    caromi_hierarchy_refit(mesh);
    mesh->is_stale = 0;
    return CAROM_OK;
}

void caromi_mesh_end_following(carom_mesh *mesh)
{
    for (int i = 0; i < 2; i++) {
        if (mesh->moved[i] != NULL)
            caromi_driver.memory_destroy(mesh->moved[i]);
        mesh->moved[i] = NULL;
    }
    mesh->is_stale = 0;
}

/* ---- on a device ------------------------------------------------------------------------------------------------- */

static float cost_of(const refit_result *result)
{
    return result->root > 0 ? 1 + result->area / result->root : 1;
}

/* Takes over what the host has to know of a refit. */
static void accept(carom_mesh *mesh, const refit_result *result)
{
    struct caromi_device_memory *const spare = mesh->moved[0];
    caromi_extent extent = {.largest = 0};
    for (int k = 0; k < 3; k++) {
        extent.lower[k] = result->lower[k];
        extent.upper[k] = result->upper[k];
        extent.largest = fmaxf(extent.largest, fmaxf(fabsf(result->lower[k]), fabsf(result->upper[k])));
    }
    caromi_mesh_set_extent(mesh, &extent);
    caromi_clearance_forget(mesh);
    mesh->view.frame.ball = result->ball;
    mesh->info.cost = cost_of(result);
    mesh->moved[0] = mesh->moved[1];
    mesh->moved[1] = spare;
    mesh->is_stale = 1;
}

static carom_status refit(carom_mesh *mesh, caromi_device *device, const carom_points *vertices, refit_result *result,
                          carom_error *err)
{
    for (int i = 0; i < 2; i++)
        if (mesh->moved[i] == NULL)
            CHECK(caromi_driver.memory_create(device, vertex_bytes(mesh), &mesh->moved[i], err));
    return caromi_driver.refit(device, mesh, vertices, mesh->moved[1], result, err);
}

/* Gives up a device that has failed, as in a batch, and fails unless the host may go on in its place. A device that is
 * short of memory, or cannot build the programs for this, keeps its other work. */
static carom_status give_up(carom_mesh *mesh, caromi_device *device, carom_status status, const carom_error *cause,
                            const char *what, int is_needed, carom_error *err)
{
    carom_context *context = mesh->context;
    const int has_failed = status != CAROM_ERROR_OUT_OF_MEMORY && status != CAROM_ERROR_KERNEL_BUILD;
    if (has_failed)
        caromi_give_up(context, device, status, cause);
    if (context->desc.backend == CAROM_BACKEND_OPENCL &&
        (has_failed || (is_needed && status != CAROM_ERROR_KERNEL_BUILD)))
        return caromi_fail(err, status, cause->native_code, "%s", cause->message);
    caromi_log(context, CAROM_LOG_WARNING, "OpenCL failed, the CPU %s of a mesh: %s", what, cause->message);
    return CAROM_OK;
}

/* A refit that has failed: the copy on the device is undefined, but the vertices from before are not. */
static carom_status fall_back(carom_mesh *mesh, caromi_device *device, carom_status status, const carom_error *cause,
                              carom_error *err)
{
    caromi_driver.mesh_release(mesh);
    return give_up(mesh, device, status, cause, "moves the vertices", 1, err);
}

/* An update of what contacts know that has failed. */
static carom_status leave_contacts(carom_mesh *mesh, caromi_device *device, carom_status status,
                                   const carom_error *cause, carom_error *err)
{
    caromi_driver.edges_release(mesh);
    return give_up(mesh, device, status, cause, "finds the edges", 0, err);
}

carom_status caromi_mesh_follow_contacts(carom_mesh *mesh, int have_masks, int *done, carom_error *err)
{
    carom_context *context = mesh->context;
    caromi_device *device = caromi_first_device(context);
    carom_error cause = {0};
    *done = 0;
    if (!mesh->is_stale || mesh->edges == NULL || caromi_culling_of(mesh->edges, have_masks)->opposites == NULL ||
        device == NULL || caromi_driver.is_inherited())
        return CAROM_OK;
    const carom_status status = caromi_driver.refit_contacts(device, mesh, have_masks, done, &cause);
    if (status != CAROM_OK)
        return leave_contacts(mesh, device, status, &cause, err);
    if (!*done)
        caromi_log(context, CAROM_LOG_INFO, "other corners of a mesh coincide: the CPU finds its edges anew");
    return CAROM_OK;
}

carom_status caromi_mesh_follow(carom_mesh *mesh, const carom_points *vertices, int *done, carom_error *err)
{
    carom_context *context = mesh->context;
    caromi_device *device = context->device_count == 1 ? context->devices[0] : NULL;
    refit_result result;
    carom_error cause = {0};
    *done = 0;
    if (device == NULL || caromi_driver.is_inherited() || !caromi_driver.refit_serves(device, vertices))
        return CAROM_OK;
    CHECK(caromi_hierarchy_suit_device(mesh, err));
    const carom_status status = refit(mesh, device, vertices, &result, &cause);
    if (status != CAROM_OK)
        return fall_back(mesh, device, status, &cause, err);
    if (result.is_refused)
        return caromi_mesh_refuse(mesh, 3 * (uint64_t)result.triangle + result.corner, err);
    accept(mesh, &result);
    *done = 1;
    return CAROM_OK;
}
