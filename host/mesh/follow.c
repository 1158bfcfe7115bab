/* SPDX-License-Identifier: MIT */
/* Meshes whose vertices a device has moved. The device refits its own copy of the mesh, and the host learns bounds,
 * frame and cost. The host's vertices, leaves and nodes are then older: the mesh is *stale* until something on the host
 * needs them. The vertices are in memory that keeps the device open, in a copy of the mesh's own, so the caller's array
 * may change. */
#include <math.h>

#include "clearance.h"
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

/* A refit that has failed: the copy on the device is undefined, but the vertices from before are not. A device that
 * fails is given up, as in a batch. Of `auto` the host goes on. */
static carom_status fall_back(carom_mesh *mesh, caromi_device *device, carom_status status, const carom_error *cause,
                              carom_error *err)
{
    carom_context *context = mesh->context;
    caromi_driver.mesh_release(mesh);
    if (status != CAROM_ERROR_OUT_OF_MEMORY)
        caromi_give_up(context, device, status, cause);
    if (context->desc.backend == CAROM_BACKEND_OPENCL)
        return caromi_fail(err, status, cause->native_code, "%s", cause->message);
    caromi_log(context, CAROM_LOG_WARNING, "OpenCL failed, the CPU refits a mesh: %s", cause->message);
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
    const carom_status status = refit(mesh, device, vertices, &result, &cause);
    if (status != CAROM_OK)
        return fall_back(mesh, device, status, &cause, err);
    if (result.is_refused)
        return caromi_mesh_refuse(mesh, 3 * (uint64_t)result.triangle + result.corner, err);
    accept(mesh, &result);
    *done = 1;
    return CAROM_OK;
}
