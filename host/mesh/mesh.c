/* SPDX-License-Identifier: MIT */
/* Creation of meshes: copies and checks the caller's arrays, scales coordinates, builds the hierarchy. */
#include <math.h>
#include <string.h>

#include "closing.h"
#include "host/core/arrays.h"
#include "host/core/device.h"
#include "mesh.h"
#include "patches.h"

CAROMI_LIST list_mesh(caromi_arrays *arrays, const carom_mesh_desc *desc)
{
    const uint64_t corners = 3 * desc->triangle_count;
    caromi_reads_points(arrays, "vertices", &desc->vertices, desc->indices.data != NULL ? desc->vertex_count : corners);
    caromi_reads_uints(arrays, "indices", &desc->indices, corners);
    caromi_reads_uints(arrays, "masks", &desc->masks, desc->triangle_count);
    caromi_reads_uints(arrays, "patches", &desc->patches, desc->triangle_count);
}

static carom_status check_mesh(carom_context *context, const carom_mesh_desc *desc, carom_mesh *const *out,
                               carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(desc->size, sizeof *desc, "carom_mesh_desc", err));
    if (desc->triangle_count > INT32_MAX)
        return caromi_fail_argument(err, "triangle_count is %llu; at most %d", (unsigned long long)desc->triangle_count,
                                    INT32_MAX);
    if (desc->vertex_count > UINT32_MAX)
        return caromi_fail_argument(err, "vertex_count is %llu; at most %u", (unsigned long long)desc->vertex_count,
                                    UINT32_MAX);
    if (desc->indices.data == NULL && desc->vertex_count < 3 * desc->triangle_count)
        return caromi_fail_argument(err, "without indices %llu triangles need %llu vertices, not %llu",
                                    (unsigned long long)desc->triangle_count,
                                    (unsigned long long)(3 * desc->triangle_count),
                                    (unsigned long long)desc->vertex_count);
    if (desc->triangle_count == 0)
        return CAROM_OK;
    CHECK(caromi_check_points(&desc->vertices, "vertices", err));
    CHECK(caromi_check_optional_uints(&desc->indices, "indices", err));
    CHECK(caromi_check_optional_uints(&desc->masks, "masks", err));
    CHECK(caromi_check_optional_uints(&desc->patches, "patches", err));
    CAROMI_CHECK_ARRAYS(context, err, list_mesh, desc);
    return CAROM_OK;
}

/* ---- copies, in slices that the threads of the context take ------------------------------------------------------ */

/* The copy of vertices and indices, slice by slice. */
typedef struct mesh_fill {
    carom_mesh *mesh;
    const carom_points *vertices;
    caromi_index indices;
    uint64_t slices;
} mesh_fill;

static void copy_vertices(void *user, uint64_t slice, uint32_t thread)
{
    const mesh_fill *fill = user;
    const carom_points *from = fill->vertices;
    const size_t stride = caromi_stride(from->stride);
    float *to = fill->mesh->vertices;
    const uint64_t end = caromi_slice_start(fill->mesh->vertex_count, fill->slices, slice + 1);
    (void)thread;
    (void)caromi_watch_look(fill->mesh->watch);
    for (uint64_t i = caromi_slice_start(fill->mesh->vertex_count, fill->slices, slice); i < end; i++) {
        to[3 * i] = caromi_load(from->x, stride, i);
        to[3 * i + 1] = caromi_load(from->y, stride, i);
        to[3 * i + 2] = caromi_load(from->z, stride, i);
    }
}

static void copy_indices(void *user, uint64_t slice, uint32_t thread)
{
    const mesh_fill *fill = user;
    const uint64_t corners = 3 * fill->mesh->info.triangle_count;
    const uint64_t end = caromi_slice_start(corners, fill->slices, slice + 1);
    (void)thread;
    (void)caromi_watch_look(fill->mesh->watch);
    for (uint64_t i = caromi_slice_start(corners, fill->slices, slice); i < end; i++)
        fill->mesh->indices[i] = (uint32_t)caromi_index_at(&fill->indices, i);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

void caromi_mesh_set_scale(mesh_frame *frame, float largest)
{
    int exponent = 0;
    (void)frexpf(largest, &exponent); /* largest < 2^exponent */
    exponent = exponent - 1 < -126 ? -126 : exponent - 1 > 126 ? 126 : exponent - 1;
    frame->scale = ldexpf(1.0f, -exponent);
    frame->scale_field = (exponent + 127) << 23;
}

void caromi_mesh_set_extent(carom_mesh *mesh, const caromi_extent *extent)
{
    memcpy(mesh->info.lower, extent->lower, sizeof mesh->info.lower);
    memcpy(mesh->info.upper, extent->upper, sizeof mesh->info.upper);
    caromi_mesh_set_scale(&mesh->view.frame, extent->largest);
    mesh->boundary_edges.known = 0;
    caromi_closing_forget(mesh);
}

void caromi_mesh_move(carom_mesh *mesh, const carom_points *vertices, const caromi_extent *extent)
{
    mesh_fill fill = {.mesh = mesh, .vertices = vertices, .slices = caromi_mesh_slices(mesh->info.triangle_count)};
    caromi_parallel(mesh->context->pool, fill.slices, copy_vertices, &fill);
    caromi_mesh_set_extent(mesh, extent);
}

static carom_status copy_patches(carom_mesh *mesh, const carom_mesh_desc *desc, carom_error *err)
{
    if (desc->patches.data == NULL)
        return CAROM_OK;
    mesh->patches.given = caromi_alloc(mesh->context, desc->triangle_count, sizeof *mesh->patches.given);
    if (mesh->patches.given == NULL)
        return caromi_fail_memory(err, "no memory for the patches of %llu triangles",
                                  (unsigned long long)desc->triangle_count);
    const caromi_index patches = caromi_index_of(&desc->patches);
    for (uint64_t t = 0; t < desc->triangle_count; t++)
        mesh->patches.given[t] = (uint32_t)caromi_index_at(&patches, t);
    return CAROM_OK;
}

static carom_status fill_mesh(carom_mesh *mesh, const carom_mesh_desc *desc, int width, carom_error *err)
{
    const uint64_t corners = 3 * desc->triangle_count;
    const uint64_t vertices = desc->indices.data != NULL ? desc->vertex_count : corners;
    mesh->vertex_count = vertices;
    mesh->vertices = caromi_alloc(mesh->context, vertices, 3 * sizeof *mesh->vertices);
    mesh->indices = caromi_alloc(mesh->context, corners, sizeof *mesh->indices);
    if (mesh->vertices == NULL || mesh->indices == NULL)
        return caromi_fail_memory(err, "no memory for %llu triangles and %llu vertices",
                                  (unsigned long long)desc->triangle_count, (unsigned long long)vertices);
    mesh_fill fill = {
        .mesh = mesh, .indices = caromi_index_of(&desc->indices), .slices = caromi_mesh_slices(desc->triangle_count)};
    caromi_extent extent;
    caromi_parallel(mesh->context->pool, fill.slices, copy_indices, &fill);
    CHECK(caromi_mesh_check(mesh, &desc->vertices, &extent, err));
    caromi_mesh_move(mesh, &desc->vertices, &extent);
    CHECK(copy_patches(mesh, desc, err));
    CHECK(caromi_hierarchy_build(mesh, width, err));
    if (desc->masks.data != NULL)
        CHECK(caromi_mesh_mask(mesh, &desc->masks, err));
    return caromi_watch_ends(mesh->watch) ? CAROM_ERROR_CANCELLED : CAROM_OK;
}

/* The same, for a caller who has a progress function: it counts triangles, as a share of the work. */
static carom_status fill_watched(carom_mesh *mesh, const carom_mesh_desc *desc, int width, carom_error *err)
{
    caromi_watch watch;
    caromi_watch_begin(&watch, desc->progress.fn, desc->progress.user);
    watch.count = desc->triangle_count;
    mesh->watch = &watch;
    caromi_pool_watch(mesh->context->pool, &watch);
    const carom_status status = fill_mesh(mesh, desc, width, err);
    if (status == CAROM_OK)
        caromi_watch_report(&watch, watch.count);
    caromi_pool_watch(mesh->context->pool, NULL);
    mesh->watch = NULL;
    if (status != CAROM_ERROR_CANCELLED)
        return status;
    return caromi_fail(err, status, CAROMI_NO_NATIVE_CODE, "cancelled after %.0f %% of the work; there is no mesh",
                       100 * (double)watch.done / (double)watch.count);
}

void caromi_mesh_end(carom_mesh *mesh)
{
    carom_context *context = mesh->context;
    caromi_driver.mesh_release(mesh);
    caromi_mesh_end_following(mesh);
    caromi_patches_forget(mesh);
    caromi_corners_forget(mesh);
    caromi_closing_forget(mesh);
    if (mesh->image == NULL) {
        caromi_free(context, mesh->vertices);
        caromi_free(context, mesh->indices);
        caromi_free(context, mesh->nodes);
        caromi_free(context, mesh->leaves);
        caromi_free(context, mesh->masks);
        caromi_free(context, mesh->patches.given);
    }
    caromi_free(context, mesh->clearance);
    caromi_free(context, mesh);
    caromi_context_release(context);
}

/* An empty mesh, which holds a reference to its context. */
carom_status caromi_mesh_new(carom_context *context, carom_mesh **out, carom_error *err)
{
    carom_mesh *mesh = caromi_alloc(context, 1, sizeof *mesh);
    if (mesh == NULL)
        return caromi_fail_memory(err, "no memory for a mesh (%zu bytes)", sizeof *mesh);
    memset(mesh, 0, sizeof *mesh);
    mesh->context = context;
    atomic_fetch_add(&context->references, 1);
    *out = mesh;
    return CAROM_OK;
}

carom_status caromi_mesh_make(carom_context *context, const carom_mesh_desc *desc, int width, carom_mesh **out,
                              carom_error *err)
{
    carom_mesh *mesh = NULL;
    CHECK(check_mesh(context, desc, out, err));
    CHECK(caromi_mesh_new(context, &mesh, err));
    mesh->info.size = sizeof mesh->info;
    mesh->info.triangle_count = desc->triangle_count;
    for (int k = 0; k < 3; k++) {
        mesh->info.lower[k] = INFINITY;
        mesh->info.upper[k] = -INFINITY;
    }
    const carom_status status = desc->triangle_count == 0   ? CAROM_OK
                                : desc->progress.fn == NULL ? fill_mesh(mesh, desc, width, err)
                                                            : fill_watched(mesh, desc, width, err);
    if (status != CAROM_OK) {
        caromi_mesh_end(mesh);
        return status;
    }
    *out = mesh;
    return CAROM_OK;
}

carom_status carom_mesh_create(carom_context *context, const carom_mesh_desc *desc, carom_mesh **out, carom_error *err)
{
    IN_CALL(context, err,
            caromi_mesh_make(context, desc, context != NULL ? caromi_hierarchy_width(context) : 0, out, err));
}

static void end_task(caromi_task *end)
{
    carom_mesh *mesh = (carom_mesh *)(void *)((char *)end - offsetof(carom_mesh, end));
    mesh->is_given_up = 1;
    if (mesh->uses > 0) /* scenes keep it */
        return;
    caromi_finish_enqueued(mesh->context); /* a device that shares the host's memory reads the mesh in place */
    caromi_mesh_end(mesh);
}

void caromi_mesh_release(carom_mesh *mesh)
{
    if (--mesh->uses == 0 && mesh->is_given_up)
        end_task(&mesh->end);
}

void carom_mesh_destroy(carom_mesh *mesh)
{
    if (mesh == NULL)
        return;
    if (mesh->scene != NULL) {
        caromi_log(mesh->context, CAROM_LOG_WARNING, "the mesh of a scene is destroyed with the scene alone");
        return;
    }
    const caromi_float_mode mode = caromi_float_mode_set();
    mesh->end.run = end_task;
    if (!caromi_leave_to_jobs(mesh->context, &mesh->end))
        end_task(&mesh->end);
    caromi_float_mode_restore(mode);
}

static carom_status get_info(carom_mesh *mesh, carom_mesh_info *out, carom_error *err)
{
    CHECK(caromi_mesh_bring(mesh, err));
    *out = mesh->info;
    return CAROM_OK;
}

carom_status carom_mesh_get_info(const carom_mesh *mesh, carom_mesh_info *out, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_mesh_info", err));
    IN_TURN(mesh->context, get_info(caromi_mesh_of(mesh), out, err));
}
