/* SPDX-License-Identifier: MIT */
/* Changes the vertices of a mesh: checks all of them, then refits the hierarchy in place or builds a new one. */
#include "host/core/arrays.h"
#include "host/core/device.h"
#include "closing.h"
#include "mesh.h"
#include "patches.h"

/* Builds in new arrays. If one of them cannot be allocated, the mesh is restored. */
static carom_status rebuild(carom_mesh *mesh, const carom_points *vertices, const caromi_extent *extent,
                            carom_error *err)
{
    const carom_mesh before = *mesh;
    mesh->vertices = caromi_alloc(mesh->context, mesh->vertex_count, 3 * sizeof *mesh->vertices);
    carom_status status = CAROM_OK;
    if (mesh->vertices == NULL) {
        status = caromi_fail_memory(err, "no memory for %llu vertices", (unsigned long long)mesh->vertex_count);
    } else {
        caromi_mesh_move(mesh, vertices, extent);
        status = caromi_hierarchy_build(mesh, mesh->view.width, err);
    }
    if (status == CAROM_OK) {
        caromi_free(mesh->context, before.vertices);
    } else {
        caromi_free(mesh->context, mesh->vertices);
        *mesh = before;
    }
    return status;
}

static void refit(carom_mesh *mesh, const carom_points *vertices, const caromi_extent *extent)
{
    caromi_mesh_move(mesh, vertices, extent);
    caromi_hierarchy_refit(mesh);
    mesh->info.refits++;
}

static int is_worn(const carom_mesh *mesh)
{
    return mesh->info.cost > CAROM_MESH_WORN * mesh->built_cost;
}

/* Rebuilds a hierarchy that refits have made too slow. If there is no memory, the old one stays, which is still valid.
 */
static void renew(carom_mesh *mesh)
{
    carom_error err = {0};
    if (!is_worn(mesh))
        return;
    if (caromi_hierarchy_build(mesh, mesh->view.width, &err) != CAROM_OK)
        caromi_log(mesh->context, CAROM_LOG_WARNING,
                   "%s: a mesh keeps its hierarchy, which is %.2f times as costly as when it was built", err.message,
                   (double)(mesh->info.cost / mesh->built_cost));
}

/* Discards or marks what the mesh has found out about the positions of its vertices. */
static void forget_positions(carom_mesh *mesh)
{
    caromi_mesh_has_changed(mesh);
    caromi_patches_forget(mesh);
    caromi_closing_forget(mesh);
    caromi_edges_move(mesh);
    caromi_corners_move(mesh);
}

static void log_update(const carom_mesh *mesh, float built_cost)
{
    const unsigned long long triangles = mesh->info.triangle_count;
    if (mesh->info.refits == 0)
        caromi_log(mesh->context, CAROM_LOG_INFO, "a mesh of %llu triangles has moved: rebuilt, cost %.1f, was %.1f",
                   triangles, (double)mesh->info.cost, (double)built_cost);
    else
        caromi_log(mesh->context, CAROM_LOG_INFO, "a mesh of %llu triangles has moved: refit %u, cost %.1f, built %.1f",
                   triangles, mesh->info.refits, (double)mesh->info.cost, (double)built_cost);
}

static carom_status move(carom_mesh *mesh, const carom_points *vertices, carom_mesh_follow how, carom_error *err)
{
    const float built_cost = mesh->built_cost;
    caromi_extent extent;
    CHECK(caromi_mesh_check(mesh, vertices, &extent, err));
    /* A device that shares the host's memory reads these arrays in place. So its copy is released first. */
    caromi_driver.mesh_release(mesh);
    forget_positions(mesh);
    if (how == CAROM_MESH_REBUILD) {
        CHECK(rebuild(mesh, vertices, &extent, err));
    } else {
        refit(mesh, vertices, &extent);
        if (how == CAROM_MESH_AUTO)
            renew(mesh);
    }
    caromi_mesh_end_following(mesh);
    log_update(mesh, built_cost);
    return CAROM_OK;
}

/* Refits on the device where the vertices are. Sets *done to 0 if the host has to. A hierarchy that has become too slow
 * is built anew on the host, if the vertices can be read back. */
static carom_status move_on_device(carom_mesh *mesh, const carom_points *vertices, carom_mesh_follow how, int *done,
                                   carom_error *err)
{
    const float built_cost = mesh->built_cost;
    *done = 0;
    if (how != CAROM_MESH_REBUILD)
        CHECK(caromi_mesh_follow(mesh, vertices, done, err));
    if (!*done)
        return CAROM_OK;
    forget_positions(mesh);
    mesh->info.refits++;
    if (how == CAROM_MESH_AUTO && is_worn(mesh) && caromi_mesh_bring(mesh, NULL) == CAROM_OK && is_worn(mesh)) {
        caromi_driver.mesh_release(mesh);
        renew(mesh);
    }
    log_update(mesh, built_cost);
    return CAROM_OK;
}

static carom_status check_update(const carom_mesh *mesh, const carom_points *vertices, carom_mesh_follow how,
                                 carom_error *err)
{
    if (how != CAROM_MESH_AUTO && how != CAROM_MESH_REFIT && how != CAROM_MESH_REBUILD)
        return caromi_fail_argument(err, "how is %d; it must be auto (0), refit (1) or rebuild (2)", (int)how);
    CHECK(caromi_mesh_only(mesh, "carom_mesh_update", err));
    if (mesh->image != NULL)
        return caromi_fail_argument(err,
                                    "the mesh lies in an image (carom_mesh_open_image): its vertices cannot be moved");
    if (mesh->info.triangle_count == 0)
        return CAROM_OK;
    CHECK(caromi_check_points(vertices, "vertices", err));
    CAROMI_CHECK_STAYING_ARRAYS(CAROMI_STAYS, mesh->context, err, caromi_reads_points, "vertices", vertices,
                                mesh->vertex_count);
    return CAROM_OK;
}

static carom_status update(carom_mesh *mesh, const carom_points *vertices, carom_mesh_follow how, carom_error *err)
{
    CHECK(check_update(mesh, vertices, how, err));
    if (mesh->info.triangle_count == 0)
        return CAROM_OK;
    int done;
    CHECK(move_on_device(mesh, vertices, how, &done, err));
    if (done)
        return CAROM_OK;
    CHECK(caromi_staging_show(mesh->context, err));
    return move(mesh, vertices, how, err);
}

carom_status carom_mesh_update(carom_mesh *mesh, const carom_points *vertices, carom_mesh_follow how, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(vertices, "vertices", err);
    IN_CALL(mesh->context, err, update(mesh, vertices, how, err));
}
