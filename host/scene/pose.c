/* SPDX-License-Identifier: MIT */
/* Maps and boxes of the instances of a scene. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/exact/exact.h"
#include "host/core/arrays.h"
#include "scene.h"

/* ---- one instance ------------------------------------------------------------------------------------------------ */

static carom_status load_velocity(const carom_points *given, uint32_t number, float to[3], carom_error *err)
{
    caromi_in_column columns[3];
    memset(to, 0, 3 * sizeof *to);
    if (given->x == NULL)
        return CAROM_OK;
    caromi_points_to_columns(given, (caromi_index){NULL, 0}, columns);
    for (int k = 0; k < 3; k++) {
        memcpy(&to[k], caromi_element(&columns[k], number), sizeof to[k]);
        if (!isfinite(to[k]))
            return caromi_fail_argument(err, "instance %u: its velocity is not finite along %c", number, "xyz"[k]);
        to[k] += 0.0F; /* -0 becomes +0 */
    }
    return CAROM_OK;
}

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

carom_status caromi_given_load(const carom_scene_pose *from, uint32_t number, caromi_given *to, carom_error *err)
{
    const caromi_index masks = caromi_index_of(&from->masks);
    CHECK(load_map(from, number, to->map, err));
    to->mask = from->masks.data != NULL ? (int32_t)caromi_index_at(&masks, number) : -1;
    return load_velocity(&from->velocity, number, to->velocity, err);
}

static int mirrors(const float map[CAROMI_MAP])
{
    static const float origin[3] = {0, 0, 0};
    return caromi_exact_orientation(origin, map, map + 4, map + 8) < 0;
}

void caromi_instance_set(const carom_mesh *mesh, const caromi_given *given, int base, mesh_instance *to)
{
    const mesh_frame *frame = &mesh->view.frame;
    *to = (mesh_instance){.nodes = mesh->view.nodes,
                          .leaves = mesh->view.leaves,
                          .masks = mesh->view.masks,
                          .root = frame->root,
                          .base = base,
                          .mask = given->mask,
                          .kind = INSTANCE_MOVED,
                          .mirrors = mirrors(given->map),
                          .first_moving = MESH_INSTANCE};
    memcpy(to->velocity, given->velocity, sizeof to->velocity);
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 4; k++) {
            to->map[row][k] = (double)given->map[4 * row + k];
            if (k < 3)
                to->of_extreme_box[row][k] =
                    (double)given->map[4 * row + k] / (double)frame->scale; /* a power of two */
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
 * and what underflow loses, are less than the margin. Returns 0 if a number is too large or may underflow by more.
 * largest: of the sums of magnitudes, in the caller's unit. */
static int set_boxes(const carom_mesh *mesh, mesh_instance *instance, double *largest)
{
    const double scale = (double)instance->scale;
    double reach[3];
    int is_plain = 1;
    *largest = 0;
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
        *largest = fmax(*largest, size / scale);
        instance->lower[row] = (float)(offset - margin);
        instance->upper[row] = (float)(offset + margin);
    }
    return is_plain;
}

/* What the radius of a bounding sphere in a mesh may lack: its squares underflow in tiny meshes. */
#define BALL_ERROR 0x1p-74

/* Bounding spheres: the middle of a triangle's box moves inside the world's box, so from its middle a corner is at most
 * sqrt(3) / 2 of the triangle's diameter away. docs/scenes.md, section 3. */
void caromi_instance_set_scale(const caromi_scene_mesh *of, float scale, float limit, mesh_instance *instance)
{
    const double root = 1.7320509;
    double size;
    instance->scale = scale;
    instance->largest = limit;
    const double stretch = root * caromi_stretch_of(instance->map).most;
    instance->stretch = stretch < (double)FLT_MAX / 2 ? nextafterf((float)stretch, INFINITY) : FLT_MAX;
    instance->slack = nextafterf((float)((double)limit * 0x1p-20 + stretch * BALL_ERROR + 0x1p-147), INFINITY);
    if (!set_boxes(of->mesh, instance, &size))
        instance->kind = INSTANCE_EXTREME;
    if (is_identity(instance) && of->mesh->view.frame.scale == scale) {
        instance->kind = INSTANCE_UNMOVED;
        instance->stretch = 1;
        instance->slack = 0;
    }
    caromi_scene_set_own(of, size, instance);
}

/* ---- all instances ----------------------------------------------------------------------------------------------- */

/* Numbers the instances that have triangles, and sets their maps, masks and velocities. */
static carom_status set_instances(const carom_scene *scene, const carom_scene_pose *given, caromi_pose *pose,
                                  carom_error *err)
{
    pose->has_instance_masks = given->masks.data != NULL;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const carom_mesh *mesh = caromi_mesh_of_instance(scene, i);
        caromi_given *own = &pose->given[pose->count];
        CHECK(caromi_given_load(given, i, own, err));
        if (mesh->info.triangle_count == 0)
            continue;
        if (mesh->info.triangle_count > INT32_MAX - pose->triangles)
            return caromi_fail_argument(err, "instances 0 to %u have %llu triangles; at most %d in a scene", i,
                                        (unsigned long long)(pose->triangles + mesh->info.triangle_count), INT32_MAX);
        mesh_instance *to = &pose->instances[1 + pose->count];
        caromi_instance_set(mesh, own, (int)pose->triangles, to);
        pose->number[pose->count++] = i;
        pose->triangles += mesh->info.triangle_count;
        pose->has_masks |= mesh->masks != NULL || pose->has_instance_masks;
        pose->has_velocities |= caromi_is_moving(to);
    }
    return CAROM_OK;
}

float caromi_scene_limit(float largest)
{
    int exponent;
    (void)frexpf(largest, &exponent);
    return exponent > FLT_MAX_EXP - 1 ? FLT_MAX : ldexpf(1, exponent);
}

void caromi_scene_clip(caromi_world_box *box, float limit)
{
    for (int k = 0; k < 3; k++) {
        box->lower[k] = fmaxf(box->lower[k], -limit);
        box->upper[k] = fminf(box->upper[k], limit);
    }
}

void caromi_pose_set_extent(caromi_pose *pose, float largest)
{
    caromi_extent *extent = &pose->extent;
    extent->largest = largest;
    caromi_mesh_set_scale(&pose->frame, largest);
    for (int k = 0; k < 3; k++) {
        float lower = INFINITY, upper = -INFINITY;
        for (uint32_t i = 0; i < pose->count; i++) {
            lower = pose->boxes[i].lower[k] < lower ? pose->boxes[i].lower[k] : lower;
            upper = pose->boxes[i].upper[k] > upper ? pose->boxes[i].upper[k] : upper;
        }
        extent->lower[k] = lower;
        extent->upper[k] = upper;
    }
}

void caromi_pose_set_all(caromi_pose *pose)
{
    const caromi_scene_tree *tree = &pose->tree;
    const int has_moving = tree->first_moving < tree->node_count;
    pose->frame.root = 0;
    pose->instances[0] = (mesh_instance){.nodes = tree->nodes,
                                         .mask = -1,
                                         .kind = INSTANCE_OF_ALL,
                                         .scale = pose->frame.scale,
                                         .stretch = 1,
                                         .first_moving = has_moving ? (int)tree->first_moving : MESH_INSTANCE,
                                         .moving_root = has_moving ? (int)tree->first_moving : 0,
                                         .velocities = tree->velocities};
}

/* Finds boxes and scale of the instances, and the hierarchy over them. */
static carom_status finish(const carom_scene *scene, int width, caromi_pose *pose, carom_error *err)
{
    float largest = 0;
    for (uint32_t i = 0; i < pose->count; i++)
        caromi_scene_box(caromi_mesh_of_instance(scene, pose->number[i]), &pose->instances[1 + i], &pose->boxes[i]);
    CHECK(caromi_scene_extent(scene, pose, pose->boxes, &largest, &pose->largest_instance, err));
    const float limit = caromi_scene_limit(largest);
    for (uint32_t i = 0; i < pose->count; i++)
        caromi_scene_clip(&pose->boxes[i], limit);
    caromi_pose_set_extent(pose, largest);
    for (uint32_t i = 0; i < pose->count; i++)
        caromi_instance_set_scale(&scene->meshes[scene->mesh_of[pose->number[i]]], pose->frame.scale, limit,
                                  &pose->instances[1 + i]);
    CHECK(caromi_scene_tree_build(scene->context, pose, width, &pose->tree, err));
    caromi_pose_set_all(pose);
    return CAROM_OK;
}

carom_status caromi_pose_make(const carom_scene *scene, const carom_scene_pose *given, int width, caromi_pose *pose,
                              carom_error *err)
{
    const carom_context *context = scene->context;
    const uint64_t count = scene->instance_count, most = count > 0 ? count : 1;
    /* One more of what is loaded for instances without triangles. */
    *pose = (caromi_pose){.instances = caromi_alloc(context, count + 1, sizeof *pose->instances),
                          .number = caromi_alloc(context, most, sizeof *pose->number),
                          .given = caromi_alloc(context, count + 1, sizeof *pose->given),
                          .boxes = caromi_alloc(context, most, sizeof *pose->boxes)};
    carom_status status = CAROM_OK;
    if (pose->instances == NULL || pose->number == NULL || pose->given == NULL || pose->boxes == NULL)
        status = caromi_fail_memory(err, "no memory for %llu instances", (unsigned long long)count);
    if (status == CAROM_OK)
        status = set_instances(scene, given, pose, err);
    if (status == CAROM_OK && pose->count > 0)
        status = finish(scene, width, pose, err);
    if (status != CAROM_OK)
        caromi_pose_free(context, pose);
    return status;
}

void caromi_pose_free(const carom_context *context, caromi_pose *pose)
{
    caromi_free(context, pose->instances);
    caromi_free(context, pose->number);
    caromi_free(context, pose->given);
    caromi_free(context, pose->boxes);
    caromi_scene_tree_free(context, &pose->tree);
    *pose = (caromi_pose){.instances = NULL};
}
