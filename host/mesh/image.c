/* SPDX-License-Identifier: MIT */
/* Relocatable images of meshes: a head, then the arrays, each at a multiple of 64 bytes. An image contains no
 * addresses, as nodes and leaves refer to each other by number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clearance.h"
#include "closing.h"
#include "host/bvh/tree.h"
#include "host/core/buffer.h"
#include "host/core/call.h"
#include "mesh.h"
#include "patches.h"

enum { ALIGNMENT = 64 };
static const char magic[8] = {'c', 'a', 'r', 'o', 'm', 'i', 'm', '1'};

/* The members of a mesh besides its arrays, and the sizes and version by which another build's image is refused. */
typedef struct image_head {
    char magic[8], version[16];
    uint64_t bytes, sizes[3]; /* bytes of the image; sizes of this head, of a node and of a leaf of the least width */
    uint64_t vertex_count, leaf_count;
    carom_mesh_info info;
    mesh_frame frame;
    float built_cost;
    int stack, has_masks, has_patches;
    caromi_boundary_edges boundary_edges;
} image_head;

enum { VERTICES, INDICES, NODES, LEAVES, MASKS, PATCHES, IMAGE_ARRAYS };

/* The offset and the size of an array in an image. */
typedef struct image_array {
    uint64_t at, bytes;
} image_array;

/* Places the arrays; returns the bytes of the image. Counts are within their limits, so no product overflows. */
static uint64_t lay_out(const image_head *head, image_array arrays[IMAGE_ARRAYS])
{
    const uint64_t bytes[IMAGE_ARRAYS] = {
        [VERTICES] = head->vertex_count * 3 * sizeof(float),
        [INDICES] = head->info.triangle_count * 3 * sizeof(uint32_t),
        [NODES] = head->info.node_count * CAROMI_NODE_BYTES(head->info.width),
        [LEAVES] = head->leaf_count * CAROMI_LEAF_BYTES(head->info.width),
        [MASKS] = head->has_masks ? head->leaf_count * head->info.width * sizeof(int32_t) : 0,
        [PATCHES] = head->has_patches ? head->info.triangle_count * sizeof(uint32_t) : 0,
    };
    uint64_t end = sizeof *head;
    for (int i = 0; i < IMAGE_ARRAYS; i++) {
        arrays[i] = (image_array){(end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, bytes[i]};
        end = arrays[i].at + arrays[i].bytes;
    }
    return end;
}

static void set_signature(image_head *head)
{
    const uint64_t sizes[] = {sizeof *head, CAROMI_NODE_BYTES(8), CAROMI_LEAF_BYTES(8)};
    memset(head, 0, sizeof *head); /* padding too, so that equal meshes have equal images */
    memcpy(head->magic, magic, sizeof magic);
    snprintf(head->version, sizeof head->version, "%s", carom_version());
    memcpy(head->sizes, sizes, sizeof sizes);
}

/* Fills the head of a mesh's image, and places its arrays. */
static void describe(const carom_mesh *mesh, image_head *head, image_array arrays[IMAGE_ARRAYS])
{
    set_signature(head);
    head->vertex_count = mesh->vertex_count;
    head->leaf_count = mesh->leaf_count;
    memcpy(&head->info, &mesh->info, sizeof head->info);
    /* Tables that are computed on first use are not part of the image. */
    head->info.bytes -=
        caromi_corners_bytes(mesh) + caromi_edges_bytes(mesh) + caromi_patches_bytes(mesh) + caromi_closing_bytes(mesh);
    memcpy(&head->frame, &mesh->view.frame, sizeof head->frame);
    head->built_cost = mesh->built_cost;
    head->stack = mesh->stack;
    head->has_masks = mesh->masks != NULL;
    head->has_patches = mesh->patches.given != NULL;
    memcpy(&head->boundary_edges, &mesh->boundary_edges, sizeof head->boundary_edges);
    head->bytes = lay_out(head, arrays);
}

/* A mesh reads its image in place, so the image must be in memory that the host can access. */
static carom_status check_reachable(const carom_context *context, const void *image, carom_error *err)
{
    const char *begin = image;
    const carom_buffer *buffer = caromi_buffer_at(context, begin, begin + 1);
    if (buffer == NULL && caromi_is_foreign(begin, begin + 1))
        return caromi_fail_argument(err,
                                    "image lies in a buffer of another context; it must be the program's own memory");
    return buffer == NULL || buffer->store == NULL
               ? CAROM_OK
               : caromi_fail_argument(err, "image lies in a buffer on the device; it must be the program's own memory");
}

/* Writes the image of a mesh: head, arrays, and zeros between them. */
static carom_status get_image(carom_mesh *mesh, void *image, uint64_t capacity, uint64_t *bytes, carom_error *err)
{
    image_head head;
    image_array arrays[IMAGE_ARRAYS];
    CHECK(caromi_mesh_bring(mesh, err));
    if (mesh->context->desc.backend != CAROM_BACKEND_CPU && caromi_hierarchy_may_suit(mesh))
        CHECK(caromi_hierarchy_suit_device(mesh, err)); /* others may open it beside a device */
    /* The size is known before the image is written. */
    describe(mesh, &head, arrays);
    *bytes = head.bytes;
    if (image == NULL)
        return CAROM_OK;
    CHECK(check_reachable(mesh->context, image, err));
    if (capacity < head.bytes)
        return caromi_fail_argument(err, "capacity is %llu; the image has %llu bytes", (unsigned long long)capacity,
                                    (unsigned long long)head.bytes);
    /* Head and arrays, with zeros between them. */
    const void *const from[IMAGE_ARRAYS] = {mesh->vertices, mesh->indices, mesh->nodes,
                                            mesh->leaves,   mesh->masks,   mesh->patches.given};
    char *const to = image;
    uint64_t end = sizeof head;
    memcpy(to, &head, sizeof head);
    for (int i = 0; i < IMAGE_ARRAYS; i++) {
        memset(to + end, 0, (size_t)(arrays[i].at - end));
        if (arrays[i].bytes > 0)
            memcpy(to + arrays[i].at, from[i], (size_t)arrays[i].bytes);
        end = arrays[i].at + arrays[i].bytes;
    }
    return CAROM_OK;
}

carom_status carom_mesh_get_image(const carom_mesh *mesh, void *image, uint64_t capacity, uint64_t *bytes,
                                  carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK(caromi_mesh_only(mesh, "carom_mesh_get_image", err));
    CHECK_NOT_NULL(bytes, "bytes", err);
    IN_TURN(mesh->context, get_image(caromi_mesh_of(mesh), image, capacity, bytes, err));
}

/* ---- a mesh in an image ------------------------------------------------------------------------------------------ */

/* Whether the counts are within limits, and the width is one that the builder makes. */
static int is_within_limits(const image_head *head)
{
    const carom_mesh_info *info = &head->info;
    if (info->size != sizeof *info)
        return 0;
    if (info->triangle_count == 0)
        return info->node_count == 0 && info->width == 0 && head->vertex_count == 0 && head->leaf_count == 0;
    return info->triangle_count <= INT32_MAX && head->vertex_count <= UINT32_MAX && info->node_count <= INT32_MAX &&
           head->leaf_count <= MESH_LEAVES_MAX && (info->width == 8 || info->width == 16);
}

/* Checks the head, and the sizes that follow from its counts. */
static carom_status check_head(const void *image, uint64_t size, image_head *head, image_array arrays[IMAGE_ARRAYS],
                               carom_error *err)
{
    image_head own;
    if ((uintptr_t)image % ALIGNMENT != 0)
        return caromi_fail_argument(err, "image is not at a multiple of %d bytes", ALIGNMENT);
    if (size < sizeof *head)
        return caromi_fail_argument(err, "size is %llu; an image has at least %zu bytes", (unsigned long long)size,
                                    sizeof *head);
    /* The signature: kind, version and sizes. */
    memcpy(head, image, sizeof *head);
    set_signature(&own);
    if (memcmp(head->magic, own.magic, sizeof own.magic) != 0)
        return caromi_fail_argument(err, "image is no image of a mesh");
    if (memcmp(head->version, own.version, sizeof own.version) != 0 ||
        memcmp(head->sizes, own.sizes, sizeof own.sizes) != 0)
        return caromi_fail_argument(err, "image is of another version or build of carom (%.15s; this is %s)",
                                    head->version, own.version);
    /* The counts: within limits, and the size follows from them. */
    if (!is_within_limits(head) || lay_out(head, arrays) != head->bytes || size < head->bytes)
        return caromi_fail_argument(err, "size is %llu; the image has %llu bytes, or its head is damaged",
                                    (unsigned long long)size, (unsigned long long)head->bytes);
    return CAROM_OK;
}

/* Devices search nodes of 16. The CPU searches both, so `auto` keeps to it. */
static carom_status check_width(const carom_context *context, const carom_mesh_info *info, carom_error *err)
{
    if (info->triangle_count == 0 || info->width == MESH_WIDEST || context->desc.backend == CAROM_BACKEND_CPU)
        return CAROM_OK;
    if (context->desc.backend == CAROM_BACKEND_OPENCL)
        return caromi_fail_argument(err,
                                    "image has nodes of %u, as one of a context without OpenCL; devices search nodes "
                                    "of %d",
                                    info->width, MESH_WIDEST);
    caromi_log(context, CAROM_LOG_INFO, "an image has nodes of %u; devices search nodes of %d, so the CPU answers",
               info->width, MESH_WIDEST);
    return CAROM_OK;
}

/* The address of an array in an image. Casts const away: arrays of such a mesh are never written. */
static void *place(const void *image, const image_array *array)
{
    return array->bytes > 0 ? (char *)(uintptr_t)image + array->at : NULL;
}

/* Makes the arrays of an image the arrays of a mesh. */
static void adopt(carom_mesh *mesh, const void *image, const image_head *head, const image_array arrays[IMAGE_ARRAYS])
{
    mesh->image = image;
    memcpy(&mesh->info, &head->info, sizeof mesh->info);
    mesh->vertices = place(image, &arrays[VERTICES]);
    mesh->indices = place(image, &arrays[INDICES]);
    mesh->nodes = place(image, &arrays[NODES]);
    mesh->leaves = place(image, &arrays[LEAVES]);
    mesh->masks = place(image, &arrays[MASKS]);
    mesh->patches.given = place(image, &arrays[PATCHES]);
    mesh->view = (caromi_mesh_view){
        head->frame, (int)head->info.width, mesh->nodes, mesh->leaves, mesh->masks, NULL, NULL, NULL};
    mesh->vertex_count = head->vertex_count;
    mesh->leaf_count = head->leaf_count;
    mesh->built_cost = head->built_cost;
    mesh->stack = head->stack;
    mesh->boundary_edges = head->boundary_edges;
}

/* Checks what the head says of the vertices: bounds and scale. */
static carom_status check_extent(const carom_mesh *mesh, const caromi_extent *extent, carom_error *err)
{
    mesh_frame frame = {0};
    if (mesh->info.triangle_count > 0)
        caromi_mesh_set_scale(&frame, extent->largest);
    int is_right = frame.scale == mesh->view.frame.scale && frame.scale_field == mesh->view.frame.scale_field;
    for (int k = 0; k < 3; k++)
        is_right &= mesh->info.lower[k] == extent->lower[k] && mesh->info.upper[k] == extent->upper[k];
    return is_right ? CAROM_OK
                    : caromi_fail_argument(err, "image is damaged: its bounds or its scale are not those of its "
                                                "vertices");
}

/* Checks all that a query follows. What is left may have any value: masks, patches, the numbers of open edges, vertices
 * that no triangle has. */
static carom_status check_arrays(const carom_mesh *mesh, carom_error *err)
{
    caromi_extent extent = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
    carom_error own;
    if (mesh->info.triangle_count == 0)
        return check_extent(mesh, &extent, err);
    const carom_points vertices = carom_xyz(mesh->vertices);
    if (caromi_mesh_check(mesh, &vertices, &extent, &own) != CAROM_OK)
        return caromi_fail_argument(err, "image is damaged: %s", own.message);
    CHECK(check_extent(mesh, &extent, err));
    return caromi_bvh_verify(mesh, err);
}

/* Makes a mesh over an image. */
static carom_status open_image(carom_context *context, const void *image, uint64_t size, carom_mesh **out,
                               carom_error *err)
{
    image_head head;
    image_array arrays[IMAGE_ARRAYS];
    carom_mesh *mesh = NULL;
    CHECK(check_reachable(context, image, err));
    CHECK(check_head(image, size, &head, arrays, err));
    CHECK(check_width(context, &head.info, err));
    CHECK(caromi_mesh_new(context, &mesh, err));
    adopt(mesh, image, &head, arrays);
    carom_status status = check_arrays(mesh, err);
    if (status == CAROM_OK && mesh->info.triangle_count > 0)
        status = caromi_clearance_alloc(mesh, mesh->leaf_count, &mesh->clearance, err);
    if (status != CAROM_OK) {
        caromi_mesh_end(mesh);
        return status;
    }
    *out = mesh;
    return CAROM_OK;
}

carom_status carom_mesh_open_image(carom_context *context, const void *image, uint64_t size, carom_mesh **out,
                                   carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(image, "image", err);
    CHECK_NOT_NULL(out, "out", err);
    IN_TURN(context, open_image(context, image, size, out, err));
}
