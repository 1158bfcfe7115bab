/* SPDX-License-Identifier: MIT */
/* Meshes: copy, check, scale, hand to the hierarchy. */
#include <math.h>
#include <string.h>

#include "cl.h"

static float load(const float *base, size_t stride, uint64_t i)
{
    float value;
    memcpy(&value, (const char *)base + i * stride, sizeof value);
    return value;
}

static carom_status check_mesh(const carom_context *context, const carom_mesh_desc *d, carom_mesh *const *out,
                               carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(d, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(d->size, sizeof *d, "carom_mesh_desc", err));
    if (d->triangle_count > INT32_MAX)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "triangle_count is %llu; at most %d",
                           (unsigned long long)d->triangle_count, INT32_MAX);
    if (d->vertex_count > UINT32_MAX)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "vertex_count is %llu; at most %u",
                           (unsigned long long)d->vertex_count, UINT32_MAX);
    if (d->indices == NULL && d->vertex_count < 3 * d->triangle_count)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "without indices %llu triangles need %llu vertices, not %llu",
                           (unsigned long long)d->triangle_count, (unsigned long long)(3 * d->triangle_count),
                           (unsigned long long)d->vertex_count);
    return d->triangle_count == 0 ? CAROM_OK : caromi_check_points(&d->vertices, "vertices", err);
}

/* Indices in range, used vertices finite; bounds and the largest coordinate on the way. */
static carom_status check_triangles(carom_mesh *mesh, float *largest, carom_error *err)
{
    carom_mesh_info *info = &mesh->info;
    for (uint64_t i = 0; i < 3 * info->triangle_count; i++) {
        const uint32_t v = mesh->indices[i];
        if (v >= mesh->vertex_count)
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                               "triangle %llu, corner %d: vertex %u, but there are %llu", (unsigned long long)(i / 3),
                               (int)(i % 3), v, (unsigned long long)mesh->vertex_count);
        for (int k = 0; k < 3; k++) {
            const float x = mesh->vertices[3 * (size_t)v + (size_t)k];
            if (!isfinite(x))
                return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                                   "triangle %llu, corner %d: vertex %u has a coordinate that is not finite",
                                   (unsigned long long)(i / 3), (int)(i % 3), v);
            info->lower[k] = x < info->lower[k] ? x : info->lower[k];
            info->upper[k] = x > info->upper[k] ? x : info->upper[k];
            *largest = fabsf(x) > *largest ? fabsf(x) : *largest;
        }
    }
    return CAROM_OK;
}

static void set_frame(mesh_frame *frame, float largest)
{
    int exponent = 0;
    (void)frexpf(largest, &exponent); /* largest < 2^exponent */
    exponent = exponent - 1 < -126 ? -126 : exponent - 1 > 126 ? 126 : exponent - 1;
    frame->scale = ldexpf(1.0f, -exponent);
    frame->scale_field = (exponent + 127) << 23;
}

static carom_status fill_mesh(carom_mesh *mesh, const carom_mesh_desc *d, carom_error *err)
{
    const uint64_t corners = 3 * d->triangle_count;
    const uint64_t vertices = d->indices ? d->vertex_count : corners;
    mesh->vertex_count = vertices;
    mesh->vertices = caromi_alloc(mesh->context, vertices, 3 * sizeof *mesh->vertices);
    mesh->indices = caromi_alloc(mesh->context, corners, sizeof *mesh->indices);
    if (mesh->vertices == NULL || mesh->indices == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %llu triangles and %llu vertices",
                           (unsigned long long)d->triangle_count, (unsigned long long)vertices);
    for (uint64_t i = 0; i < vertices; i++) {
        mesh->vertices[3 * i] = load(d->vertices.x, d->vertices.stride, i);
        mesh->vertices[3 * i + 1] = load(d->vertices.y, d->vertices.stride, i);
        mesh->vertices[3 * i + 2] = load(d->vertices.z, d->vertices.stride, i);
    }
    for (uint64_t i = 0; i < corners; i++)
        mesh->indices[i] = d->indices ? d->indices[i] : (uint32_t)i;
    float largest = 0;
    const carom_status status = check_triangles(mesh, &largest, err);
    if (status != CAROM_OK)
        return status;
    set_frame(&mesh->view.frame, largest);
    const carom_status built = caromi_bvh_build(mesh, err);
    mesh->info.bytes = vertices * 12 + corners * 4 + mesh->leaf_count * (sizeof(mesh_leaf) + sizeof(mesh_node));
    return built;
}

carom_status carom_mesh_create(carom_context *context, const carom_mesh_desc *d, carom_mesh **out, carom_error *err)
{
    CHECK(check_mesh(context, d, out, err));
    carom_mesh *mesh = caromi_alloc(context, 1, sizeof *mesh);
    if (mesh == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a mesh (%zu bytes)", sizeof *mesh);
    memset(mesh, 0, sizeof *mesh);
    mesh->context = context;
    atomic_fetch_add(&context->references, 1);
    mesh->info.triangle_count = d->triangle_count;
    for (int k = 0; k < 3; k++) {
        mesh->info.lower[k] = INFINITY;
        mesh->info.upper[k] = -INFINITY;
    }
    /* Bounds, boxes and the tree must not depend on what the caller does with denormals and roundings. */
    const uint64_t mode = caromi_float_mode_set();
    const carom_status status = d->triangle_count == 0 ? CAROM_OK : fill_mesh(mesh, d, err);
    caromi_float_mode_restore(mode);
    if (status != CAROM_OK) {
        carom_mesh_destroy(mesh);
        return status;
    }
    *out = mesh;
    return CAROM_OK;
}

void carom_mesh_destroy(carom_mesh *mesh)
{
    if (mesh == NULL)
        return;
    carom_context *context = mesh->context;
    caromi_device_mesh_release(mesh->device_copy);
    caromi_free(context, mesh->vertices);
    caromi_free(context, mesh->indices);
    caromi_free(context, mesh->nodes);
    caromi_free(context, mesh->leaves);
    caromi_free(context, mesh);
    caromi_context_release(context);
}

carom_mesh_info carom_mesh_get_info(const carom_mesh *mesh)
{
    return mesh->info;
}
