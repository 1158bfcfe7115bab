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

/* ---- copies and checks, in slices that the threads of the context take ------------------------------------------- */

enum { SLICES = 64, ONE_SLICE = 8192 }; /* so many triangles are not worth a second slice */

/* What a slice of the triangles holds, until its first corner that is refused. */
typedef struct mesh_slice {
    float lower[3], upper[3], largest;
    uint64_t refused; /* NONE: all may stay */
} mesh_slice;
static const uint64_t NONE = UINT64_MAX;

typedef struct mesh_fill {
    carom_mesh *mesh;
    const carom_mesh_desc *desc;
    uint64_t slices;
    mesh_slice slice[SLICES];
} mesh_fill;

static void copy_slice(void *user, uint64_t slice, uint32_t thread)
{
    const mesh_fill *fill = user;
    const carom_mesh_desc *d = fill->desc;
    carom_mesh *mesh = fill->mesh;
    const uint64_t vertices = mesh->vertex_count, corners = 3 * d->triangle_count;
    const uint64_t vertex_end = caromi_slice_start(vertices, fill->slices, slice + 1),
                   corner_end = caromi_slice_start(corners, fill->slices, slice + 1);
    (void)thread;
    for (uint64_t i = caromi_slice_start(vertices, fill->slices, slice); i < vertex_end; i++) {
        mesh->vertices[3 * i] = load(d->vertices.x, d->vertices.stride, i);
        mesh->vertices[3 * i + 1] = load(d->vertices.y, d->vertices.stride, i);
        mesh->vertices[3 * i + 2] = load(d->vertices.z, d->vertices.stride, i);
    }
    for (uint64_t i = caromi_slice_start(corners, fill->slices, slice); i < corner_end; i++)
        mesh->indices[i] = d->indices ? d->indices[i] : (uint32_t)i;
}

/* Indices in range, used vertices finite; bounds and the largest coordinate on the way. */
static void check_slice(void *user, uint64_t slice, uint32_t thread)
{
    mesh_fill *fill = user;
    const carom_mesh *mesh = fill->mesh;
    const uint64_t corners = 3 * mesh->info.triangle_count, end = caromi_slice_start(corners, fill->slices, slice + 1);
    mesh_slice s = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0, NONE};
    (void)thread;
    for (uint64_t i = caromi_slice_start(corners, fill->slices, slice); i < end && s.refused == NONE; i++) {
        const uint32_t v = mesh->indices[i];
        if (v >= mesh->vertex_count) {
            s.refused = i;
            break;
        }
        for (int k = 0; k < 3; k++) {
            const float x = mesh->vertices[3 * (size_t)v + (size_t)k];
            if (!isfinite(x))
                s.refused = i;
            s.lower[k] = x < s.lower[k] ? x : s.lower[k];
            s.upper[k] = x > s.upper[k] ? x : s.upper[k];
            s.largest = fabsf(x) > s.largest ? fabsf(x) : s.largest;
        }
    }
    fill->slice[slice] = s;
}

static carom_status refuse(const carom_mesh *mesh, uint64_t corner, carom_error *err)
{
    const uint32_t v = mesh->indices[corner];
    const unsigned long long triangle = corner / 3;
    if (v >= mesh->vertex_count)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "triangle %llu, corner %d: vertex %u, but there are %llu", triangle, (int)(corner % 3), v,
                           (unsigned long long)mesh->vertex_count);
    return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                       "triangle %llu, corner %d: vertex %u has a coordinate that is not finite", triangle,
                       (int)(corner % 3), v);
}

/* The slices in their order: the first triangle that is wrong is named, and of -0 and 0 the first is a bound. */
static carom_status join_slices(const mesh_fill *fill, float *largest, carom_error *err)
{
    carom_mesh_info *info = &fill->mesh->info;
    for (uint64_t i = 0; i < fill->slices; i++) {
        const mesh_slice *s = &fill->slice[i];
        if (s->refused != NONE)
            return refuse(fill->mesh, s->refused, err);
        for (int k = 0; k < 3; k++) {
            info->lower[k] = s->lower[k] < info->lower[k] ? s->lower[k] : info->lower[k];
            info->upper[k] = s->upper[k] > info->upper[k] ? s->upper[k] : info->upper[k];
        }
        *largest = s->largest > *largest ? s->largest : *largest;
    }
    return CAROM_OK;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

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
    mesh_fill fill = {.mesh = mesh, .desc = d, .slices = d->triangle_count > ONE_SLICE ? SLICES : 1};
    float largest = 0;
    caromi_parallel(mesh->context->pool, fill.slices, copy_slice, &fill);
    caromi_parallel(mesh->context->pool, fill.slices, check_slice, &fill);
    const carom_status status = join_slices(&fill, &largest, err);
    if (status != CAROM_OK)
        return status;
    set_frame(&mesh->view.frame, largest);
    const carom_status built = caromi_bvh_build(mesh, err);
    mesh->info.bytes =
        vertices * 12 + corners * 4 + mesh->leaf_count * sizeof(mesh_leaf) + mesh->info.node_count * sizeof(mesh_node);
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
