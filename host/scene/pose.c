/* SPDX-License-Identifier: MIT */
/* Maps of the instances, and the hierarchy over their boxes. */
#include <float.h>
#include <math.h>

#include "cpu/exact/exact.h"
#include "host/core/arrays.h"
#include "host/mesh/mesh.h"
#include "scene.h"

/* ---- one instance ------------------------------------------------------------------------------------------------ */

static carom_status load_map(const carom_scene_pose *given, uint32_t number, float map[CAROMI_MAP], carom_error *err)
{
    static const float identity[CAROMI_MAP] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    memcpy(map,
           given->map != NULL ? (const char *)given->map + number * caromi_map_stride(given) : (const char *)identity,
           CAROMI_MAP * sizeof *map);
    for (int k = 0; k < CAROMI_MAP; k++)
        if (!isfinite(map[k]))
            return caromi_fail_argument(err, "instance %u: number %d of its map is not finite", number, k);
    return CAROM_OK;
}

/* At least the largest factor by which a linear map takes points apart: its square is at most the largest sum of
 * magnitudes in a row of the transposed matrix times the matrix (Gershgorin), which for a rotation is 1. */
static double stretch_of(const double map[3][4])
{
    double most = 0;
    for (int a = 0; a < 3; a++) {
        double sum = 0;
        for (int b = 0; b < 3; b++) {
            double product = 0;
            for (int k = 0; k < 3; k++)
                product += map[k][a] * map[k][b];
            sum += fabs(product);
        }
        most = fmax(most, sum);
    }
    return sqrt(most);
}

static int mirrors(const float map[CAROMI_MAP])
{
    static const float origin[3] = {0, 0, 0};
    return caromi_exact_orientation(origin, map, map + 4, map + 8) < 0;
}

/* Sets the members of an instance that do not depend on the whole scene. */
static void set_instance(const carom_mesh *mesh, const float map[CAROMI_MAP], int32_t mask, mesh_instance *to)
{
    const mesh_frame *frame = &mesh->view.frame;
    *to = (mesh_instance){.nodes = mesh->view.nodes,
                          .leaves = mesh->view.leaves,
                          .masks = mesh->view.masks,
                          .root = frame->root,
                          .mask = mask,
                          .kind = INSTANCE_MOVED,
                          .mirrors = mirrors(map)};
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 4; k++) {
            to->map[row][k] = (double)map[4 * row + k];
            if (k < 3)
                to->of_extreme_box[row][k] = (double)map[4 * row + k] / (double)frame->scale; /* a power of two */
        }
}

static int is_identity(const mesh_instance *instance)
{
    int is = 1;
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 4; k++)
            is &= instance->map[row][k] == (row == k ? 1.0 : 0.0);
    return is;
}

/* The largest coordinate of a mesh along each axis, in its scale. */
static void reach_of(const carom_mesh *mesh, double reach[3])
{
    for (int k = 0; k < 3; k++)
        reach[k] =
            fmax(fabs((double)mesh->info.lower[k]), fabs((double)mesh->info.upper[k])) * (double)mesh->view.frame.scale;
}

/* The map of boxes in binary32. docs/scenes.md, section 3: seven roundings of at most 2^-24 of the sum of magnitudes,
 * and what underflow loses, are less than the margin. Returns 0 if a number is too large or may underflow by more. */
static int set_boxes(const carom_mesh *mesh, mesh_instance *instance)
{
    const double scale = (double)instance->scale;
    double reach[3];
    int is_plain = 1;
    reach_of(mesh, reach);
    for (int row = 0; row < 3; row++) {
        const double offset = instance->map[row][3] * scale;
        double size = fabs(offset);
        for (int k = 0; k < 3; k++) {
            const double m = instance->of_extreme_box[row][k] * scale;
            size += fabs(m) * reach[k];
            is_plain &= fabs(m) < 0x1p60;
            instance->of_box[row][k] = (float)m;
        }
        const double margin = size * 0x1p-20 + 0x1p-60 + scale * 0x1p-149; /* a corner is rounded in its own unit */
        is_plain &= size < 0x1p60;
        instance->lower[row] = (float)(offset - margin);
        instance->upper[row] = (float)(offset + margin);
    }
    return is_plain;
}

/* Bounding spheres: the middle of a triangle's box moves inside the world's box, so from its middle a corner is at most
 * sqrt(3) / 2 of the triangle's diameter away. */
static void set_scale(const carom_mesh *mesh, float scale, float largest, mesh_instance *instance)
{
    const double root = 1.7320509;
    instance->scale = scale;
    instance->largest = largest;
    const double stretch = root * stretch_of(instance->map);
    instance->stretch = stretch < (double)FLT_MAX / 2 ? nextafterf((float)stretch, INFINITY) : FLT_MAX;
    instance->slack = largest * 0x1p-20F + 0x1p-147F;
    if (!set_boxes(mesh, instance))
        instance->kind = INSTANCE_EXTREME;
    if (is_identity(instance) && mesh->view.frame.scale == scale) {
        instance->kind = INSTANCE_UNMOVED;
        instance->stretch = 1;
        instance->slack = 0;
    }
}

/* ---- all instances ----------------------------------------------------------------------------------------------- */

/* Numbers the instances that have triangles, and sets their maps and masks. */
static carom_status set_instances(const carom_scene *scene, const carom_scene_pose *given, caromi_pose *pose,
                                  carom_error *err)
{
    const caromi_index masks = caromi_index_of(&given->masks);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const carom_mesh *mesh = caromi_mesh_of_instance(scene, i);
        float map[CAROMI_MAP];
        CHECK(load_map(given, i, map, err));
        if (mesh->info.triangle_count == 0)
            continue;
        if (mesh->info.triangle_count > INT32_MAX - pose->triangles)
            return caromi_fail_argument(err, "instances 0 to %u have %llu triangles; at most %d in a scene", i,
                                        (unsigned long long)(pose->triangles + mesh->info.triangle_count), INT32_MAX);
        mesh_instance *to = &pose->instances[1 + pose->count];
        set_instance(mesh, map, given->masks.data != NULL ? (int32_t)caromi_index_at(&masks, i) : -1, to);
        to->base = (int)pose->triangles;
        pose->number[pose->count++] = i;
        pose->triangles += mesh->info.triangle_count;
        pose->has_masks |= mesh->masks != NULL || given->masks.data != NULL;
    }
    return CAROM_OK;
}

/* No coordinate is larger: the power of two above `largest`. */
static float limit_of(float largest)
{
    int exponent;
    (void)frexpf(largest, &exponent);
    return exponent > FLT_MAX_EXP - 1 ? FLT_MAX : ldexpf(1, exponent);
}

/* Cuts a box to where corners can be. */
static void clip(caromi_world_box *box, float most)
{
    for (int k = 0; k < 3; k++) {
        box->lower[k] = fmaxf(box->lower[k], -most);
        box->upper[k] = fminf(box->upper[k], most);
    }
}

/* The bounds of all instances, with the scene's largest coordinate. */
static caromi_extent extent_of(const caromi_world_box *boxes, uint32_t count, float largest)
{
    caromi_extent extent = {.largest = largest};
    for (int k = 0; k < 3; k++) {
        extent.lower[k] = INFINITY;
        extent.upper[k] = -INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            extent.lower[k] = fminf(extent.lower[k], boxes[i].lower[k]);
            extent.upper[k] = fmaxf(extent.upper[k], boxes[i].upper[k]);
        }
    }
    return extent;
}

/* Makes the hierarchy over the instances: that of a mesh with a triangle for each, from one end of its box to the
 * other. indices: memory for three numbers each. */
static carom_status build_boxes(const carom_scene *scene, const carom_scene_pose *given, const caromi_world_box *boxes,
                                uint32_t *indices, int width, caromi_pose *pose, carom_error *err)
{
    for (uint32_t i = 0; i < pose->count; i++) {
        indices[3 * i] = 2 * i;
        indices[3 * i + 1] = indices[3 * i + 2] = 2 * i + 1;
    }
    const float *first = boxes->lower;
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = {first, first + 1, first + 2, 3 * sizeof *first},
                                  .vertex_count = 2 * (uint64_t)pose->count,
                                  .indices = {indices, sizeof *indices},
                                  .triangle_count = pose->count};
    CHECK(caromi_mesh_make(scene->context, &desc, width, &pose->boxes, err));
    if (given->masks.data == NULL)
        return CAROM_OK;
    for (uint32_t i = 0; i < pose->count; i++)
        indices[i] = (uint32_t)pose->instances[1 + i].mask;
    return caromi_mesh_mask(pose->boxes, &(carom_uints){indices, sizeof *indices}, err);
}

/* Gives the hierarchy the scene's scale, which its own boxes may exceed, and the instances what depends on it. */
static void finish(const carom_scene *scene, const caromi_world_box *boxes, float largest, caromi_pose *pose)
{
    const caromi_extent extent = extent_of(boxes, pose->count, largest);
    caromi_mesh_set_extent(pose->boxes, &extent);
    caromi_hierarchy_refit(pose->boxes);
    const caromi_mesh_view *view = &pose->boxes->view;
    pose->instances[0] = (mesh_instance){.nodes = view->nodes,
                                         .leaves = view->leaves,
                                         .masks = view->masks,
                                         .root = view->frame.root,
                                         .mask = -1,
                                         .kind = INSTANCE_OF_ALL,
                                         .scale = view->frame.scale,
                                         .stretch = 1};
    for (uint32_t i = 0; i < pose->count; i++)
        set_scale(caromi_mesh_of_instance(scene, pose->number[i]), view->frame.scale, limit_of(largest),
                  &pose->instances[1 + i]);
}

static carom_status make_boxes(const carom_scene *scene, const carom_scene_pose *given, int width, caromi_pose *pose,
                               carom_error *err)
{
    const carom_context *context = scene->context;
    caromi_world_box *boxes = caromi_alloc(context, pose->count, sizeof *boxes);
    uint32_t *indices = caromi_alloc(context, pose->count, 3 * sizeof *indices);
    float largest = 0;
    carom_status status = boxes != NULL && indices != NULL
                              ? caromi_scene_extent(scene, pose, boxes, &largest, err)
                              : caromi_fail_memory(err, "no memory for the boxes of %u instances", pose->count);
    for (uint32_t i = 0; status == CAROM_OK && i < pose->count; i++)
        clip(&boxes[i], limit_of(largest));
    if (status == CAROM_OK)
        status = build_boxes(scene, given, boxes, indices, width, pose, err);
    if (status == CAROM_OK)
        finish(scene, boxes, largest, pose);
    caromi_free(context, boxes);
    caromi_free(context, indices);
    return status;
}

carom_status caromi_pose_make(const carom_scene *scene, const carom_scene_pose *given, int width, caromi_pose *pose,
                              carom_error *err)
{
    const uint64_t count = scene->instance_count;
    *pose = (caromi_pose){.instances = caromi_alloc(scene->context, count + 1, sizeof *pose->instances),
                          .number = caromi_alloc(scene->context, count > 0 ? count : 1, sizeof *pose->number)};
    carom_status status = CAROM_OK;
    if (pose->instances == NULL || pose->number == NULL)
        status = caromi_fail_memory(err, "no memory for %llu instances", (unsigned long long)count);
    if (status == CAROM_OK)
        status = set_instances(scene, given, pose, err);
    if (status == CAROM_OK && pose->count > 0)
        status = make_boxes(scene, given, width, pose, err);
    if (status != CAROM_OK)
        caromi_pose_free(scene->context, pose);
    return status;
}

void caromi_pose_free(const carom_context *context, caromi_pose *pose)
{
    caromi_free(context, pose->instances);
    caromi_free(context, pose->number);
    if (pose->boxes != NULL)
        caromi_mesh_end(pose->boxes);
    *pose = (caromi_pose){NULL, NULL, 0, NULL, 0, 0};
}
