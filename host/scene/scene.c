/* SPDX-License-Identifier: MIT */
/* Scenes: creation, update, destruction, and whether their meshes are still as they were. */
#include "scene.h"

#include <math.h>
#include <string.h>

#include "host/bvh/triangle.h"
#include "host/core/arrays.h"
#include "host/core/device.h"
#include "host/mesh/mesh.h"

/* ---- checks ------------------------------------------------------------------------------------------------------ */

CAROMI_LIST list_scene(caromi_arrays *arrays, const carom_scene_desc *desc)
{
    caromi_reads(arrays, "meshes", desc->meshes, desc->mesh_count, sizeof(carom_mesh *), sizeof(carom_mesh *));
    caromi_reads_uints(arrays, "mesh", &desc->mesh, desc->instance_count);
}

CAROMI_LIST list_pose(caromi_arrays *arrays, const carom_scene_pose *pose, uint64_t count)
{
    caromi_reads(arrays, "map", pose->map, count, caromi_map_stride(pose), sizeof(float[CAROMI_MAP]));
    caromi_reads_uints(arrays, "masks", &pose->masks, count);
}

static carom_status check_pose(carom_context *context, const carom_scene_pose *pose, uint64_t count, carom_error *err)
{
    CHECK(caromi_check_desc(pose->size, sizeof *pose, "carom_scene_pose", err));
    if (caromi_map_stride(pose) < sizeof(float[CAROMI_MAP]))
        return caromi_fail_argument(err, "map_stride is %zu; it must be 0 or at least %zu", pose->map_stride,
                                    sizeof(float[CAROMI_MAP]));
    CHECK(caromi_check_optional_uints(&pose->masks, "masks", err));
    CAROMI_CHECK_ARRAYS(context, err, list_pose, pose, count);
    return CAROM_OK;
}

static carom_status check_mesh(const carom_context *context, const carom_mesh *mesh, uint64_t number, carom_error *err)
{
    const unsigned long long n = number;
    if (mesh == NULL)
        return caromi_fail_argument(err, "mesh %llu is NULL", n);
    if (mesh->context != context)
        return caromi_fail_argument(err, "mesh %llu is of another context", n);
    if (mesh->scene != NULL)
        return caromi_fail_argument(err, "mesh %llu is a scene; instances of scenes are not supported", n);
    return CAROM_OK;
}

static carom_status check_scene(carom_context *context, const carom_scene_desc *desc, carom_scene *const *out,
                                carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(desc->size, sizeof *desc, "carom_scene_desc", err));
    if (desc->instance_count > CAROM_SCENE_INSTANCES)
        return caromi_fail_argument(err, "instance_count is %llu; at most %d", (unsigned long long)desc->instance_count,
                                    CAROM_SCENE_INSTANCES);
    if (desc->mesh_count > UINT32_MAX || (desc->mesh_count > 0 && desc->meshes == NULL))
        return caromi_fail_argument(err, desc->meshes == NULL ? "meshes must not be NULL" : "mesh_count is too large");
    CHECK(caromi_check_optional_uints(&desc->mesh, "mesh", err));
    CAROMI_CHECK_ARRAYS(context, err, list_scene, desc);
    CHECK(check_pose(context, &desc->pose, desc->instance_count, err));
    for (uint64_t i = 0; i < desc->mesh_count; i++)
        CHECK(check_mesh(context, desc->meshes[i], i, err));
    const caromi_index mesh = caromi_index_of(&desc->mesh);
    for (uint64_t i = 0; i < desc->instance_count; i++)
        if (caromi_index_at(&mesh, i) >= desc->mesh_count)
            return caromi_fail_argument(err, "instance %llu: mesh %llu, but there are %llu", (unsigned long long)i,
                                        (unsigned long long)caromi_index_at(&mesh, i),
                                        (unsigned long long)desc->mesh_count);
    return CAROM_OK;
}

/* ---- the meshes of a scene --------------------------------------------------------------------------------------- */

/* Whether instances have triangles of the mesh. */
static int has_triangles(const caromi_scene_mesh *of)
{
    return of->is_used && of->mesh->info.triangle_count > 0;
}

/* Chooses the width that all meshes of a scene have: that of an image, which cannot be built again; else 16 if one has
 * it already. */
static carom_status choose_width(const carom_scene *scene, int *width, carom_error *err)
{
    int of_image = 0;
    *width = caromi_hierarchy_width(scene->context);
    for (uint64_t i = 0; i < scene->mesh_count; i++) {
        const carom_mesh *mesh = scene->meshes[i].mesh;
        if (!has_triangles(&scene->meshes[i]))
            continue;
        if (mesh->image != NULL && of_image != 0 && mesh->view.width != of_image)
            return caromi_fail_argument(err,
                                        "instance %u: its mesh lies in an image with nodes of %d, another one of the "
                                        "scene in an image with %d",
                                        scene->meshes[i].first, mesh->view.width, of_image);
        of_image = mesh->image != NULL ? mesh->view.width : of_image;
        *width = mesh->view.width > *width ? mesh->view.width : *width;
    }
    *width = of_image != 0 ? of_image : *width;
    return CAROM_OK;
}

/* Gives all meshes of a scene one width. */
static carom_status find_width(const carom_scene *scene, int *width, carom_error *err)
{
    CHECK(choose_width(scene, width, err));
    for (uint64_t i = 0; i < scene->mesh_count; i++) {
        carom_mesh *mesh = scene->meshes[i].mesh;
        if (!has_triangles(&scene->meshes[i]) || mesh->view.width == *width)
            continue;
        caromi_driver.mesh_release(mesh);
        CHECK(caromi_hierarchy_build(mesh, *width, err));
    }
    return CAROM_OK;
}

/* Notes how the meshes are now. */
static void note_meshes(carom_scene *scene)
{
    for (uint64_t i = 0; i < scene->mesh_count; i++) {
        caromi_scene_mesh *of = &scene->meshes[i];
        of->changes = of->mesh->changes;
    }
    scene->changes = scene->context->mesh_changes;
}

/* The largest of the typical triangles' bounding spheres in the world. Smaller ones are culled less than they could. */
static float typical_ball(const carom_scene *scene)
{
    float ball = 0;
    for (uint32_t i = 0; i < scene->pose.count; i++) {
        const mesh_instance *instance = &scene->pose.instances[1 + i];
        const float own = caromi_mesh_of_instance(scene, scene->pose.number[i])->view.frame.ball;
        if (own < INFINITY)
            ball = fmaxf(ball, own * instance->stretch + instance->slack);
    }
    return ball > 0 ? ball : INFINITY;
}

/* Sets the mesh that queries ask to the present pose. */
static void set_view(carom_scene *scene)
{
    carom_mesh *all = scene->all;
    const carom_mesh *boxes = scene->pose.boxes;
    uint64_t leaves = 0;
    all->info = (carom_mesh_info){.size = sizeof all->info,
                                  .triangle_count = scene->pose.triangles,
                                  .lower = {INFINITY, INFINITY, INFINITY},
                                  .upper = {-INFINITY, -INFINITY, -INFINITY}};
    all->info.bytes = scene->instance_count * (sizeof(mesh_instance) + 2 * sizeof(uint32_t));
    if (boxes == NULL)
        return;
    for (uint32_t i = 0; i < scene->pose.count; i++)
        leaves += caromi_mesh_of_instance(scene, scene->pose.number[i])->leaf_count;
    all->leaf_count = leaves; /* so many may be visited: it decides whether queries are sorted */
    memcpy(all->info.lower, boxes->info.lower, sizeof all->info.lower);
    memcpy(all->info.upper, boxes->info.upper, sizeof all->info.upper);
    all->info.node_count = boxes->info.node_count;
    all->info.bytes += boxes->info.bytes;
    all->info.width = boxes->info.width;
    all->info.cost = boxes->info.cost;
    all->view = boxes->view;
    all->view.masks = NULL;
    all->view.instances = scene->pose.instances;
    all->view.frame.ball = typical_ball(scene);
    if (scene->pose.count == 1 && boxes->masks == NULL) { /* a query begins in the only instance */
        all->view.instances++;
        all->view.frame.root = all->view.instances->root;
    }
}

/* A traversal pushes the children of nodes above and below: both must fit. */
static carom_status check_stack(const carom_scene *scene, const caromi_pose *pose, carom_error *err)
{
    int most = 0;
    for (uint64_t i = 0; i < scene->mesh_count; i++)
        if (has_triangles(&scene->meshes[i]) && scene->meshes[i].mesh->stack > most)
            most = scene->meshes[i].mesh->stack;
    const int needed = pose->boxes != NULL ? pose->boxes->stack + MESH_WIDEST + most : 0;
    if (needed <= MESH_STACK)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, CAROMI_NO_NATIVE_CODE,
                       "the hierarchies of the scene and of a mesh are too deep: %d entries of a traversal, at most %d",
                       needed, MESH_STACK);
}

/* Replaces the pose; on failure the old one stays. */
static carom_status place(carom_scene *scene, const carom_scene_pose *given, carom_error *err)
{
    caromi_pose pose;
    int width;
    for (uint64_t i = 0; i < scene->mesh_count; i++)
        if (scene->meshes[i].is_used)
            CHECK(caromi_mesh_bring(scene->meshes[i].mesh, err));
    CHECK(find_width(scene, &width, err));
    CHECK(caromi_pose_make(scene, given, width, &pose, err));
    const carom_status status = check_stack(scene, &pose, err);
    if (status != CAROM_OK) {
        caromi_pose_free(scene->context, &pose);
        return status;
    }
    caromi_pose_free(scene->context, &scene->pose);
    scene->pose = pose;
    note_meshes(scene);
    set_view(scene);
    return CAROM_OK;
}

/* Places the instances again where they are: a mesh has another width since, for a device or another scene. */
static carom_status place_again(carom_scene *scene, carom_error *err)
{
    const carom_context *context = scene->context;
    const uint64_t count = scene->instance_count;
    const int has_masks = scene->pose.boxes != NULL && scene->pose.boxes->masks != NULL;
    float(*map)[CAROMI_MAP] = caromi_alloc(context, count, sizeof *map);
    uint32_t *masks = caromi_alloc(context, count, sizeof *masks);
    carom_status status = map != NULL && masks != NULL
                              ? CAROM_OK
                              : caromi_fail_memory(err, "no memory for %llu instances", (unsigned long long)count);
    if (status == CAROM_OK) {
        memset(map, 0, count * sizeof *map); /* of instances without triangles */
        memset(masks, 0, count * sizeof *masks);
        for (uint32_t i = 0; i < scene->pose.count; i++) {
            const mesh_instance *from = &scene->pose.instances[1 + i];
            for (int k = 0; k < CAROMI_MAP; k++)
                map[scene->pose.number[i]][k] = (float)from->map[k / 4][k % 4];
            masks[scene->pose.number[i]] = (uint32_t)from->mask;
        }
        const carom_scene_pose given = {
            .size = sizeof given, .map = map[0], .masks = {has_masks ? masks : NULL, sizeof *masks}};
        status = place(scene, &given, err);
    }
    caromi_free(context, map);
    caromi_free(context, masks);
    return status;
}

/* Follows meshes whose hierarchies were built again, though they are the same. */
static carom_status follow(carom_scene *scene, carom_error *err)
{
    int has_other_width = 0;
    for (uint64_t m = 0; m < scene->mesh_count; m++) {
        const caromi_scene_mesh *of = &scene->meshes[m];
        if (of->is_used && of->changes != of->mesh->changes)
            return caromi_fail_argument(err,
                                        "instance %u: its mesh has changed since the scene was made; "
                                        "carom_scene_update follows it",
                                        of->first);
        has_other_width |= has_triangles(of) && of->mesh->view.width != scene->all->view.width;
    }
    if (has_other_width)
        return place_again(scene, err);
    CHECK(check_stack(scene, &scene->pose, err));
    for (uint32_t i = 0; i < scene->pose.count; i++) {
        const caromi_mesh_view *view = &caromi_mesh_of_instance(scene, scene->pose.number[i])->view;
        mesh_instance *to = &scene->pose.instances[1 + i];
        to->nodes = view->nodes;
        to->leaves = view->leaves;
        to->masks = view->masks;
        to->root = view->frame.root;
    }
    note_meshes(scene);
    set_view(scene);
    return CAROM_OK;
}

carom_status caromi_scene_look(carom_scene *scene, carom_error *err)
{
    return scene->changes == scene->context->mesh_changes ? CAROM_OK : follow(scene, err);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static void end_scene(carom_scene *scene)
{
    carom_context *context = scene->context;
    caromi_pose_free(context, &scene->pose);
    for (uint64_t i = 0; scene->meshes != NULL && i < scene->mesh_count; i++)
        caromi_mesh_release(scene->meshes[i].mesh);
    caromi_free(context, scene->meshes);
    caromi_free(context, scene->mesh_of);
    carom_mesh *all = scene->all;
    caromi_free(context, scene);
    caromi_mesh_end(all); /* which may release the context */
}

static carom_status fill(carom_scene *scene, const carom_scene_desc *desc, carom_error *err)
{
    const carom_context *context = scene->context;
    const caromi_index mesh = caromi_index_of(&desc->mesh);
    scene->meshes = caromi_alloc(context, desc->mesh_count + 1, sizeof *scene->meshes);
    scene->mesh_of = caromi_alloc(context, desc->instance_count + 1, sizeof *scene->mesh_of);
    if (scene->meshes == NULL || scene->mesh_of == NULL)
        return caromi_fail_memory(err, "no memory for %llu instances of %llu meshes",
                                  (unsigned long long)desc->instance_count, (unsigned long long)desc->mesh_count);
    for (uint64_t i = 0; i < desc->mesh_count; i++) {
        scene->meshes[i] = (caromi_scene_mesh){.mesh = desc->meshes[i]};
        desc->meshes[i]->uses++;
    }
    scene->mesh_count = desc->mesh_count;
    scene->instance_count = desc->instance_count;
    for (uint64_t i = desc->instance_count; i-- > 0;) {
        scene->mesh_of[i] = (uint32_t)caromi_index_at(&mesh, i);
        scene->meshes[scene->mesh_of[i]].is_used = 1;
        scene->meshes[scene->mesh_of[i]].first = (uint32_t)i;
    }
    return place(scene, &desc->pose, err);
}

static carom_status create(carom_context *context, const carom_scene_desc *desc, carom_scene **out, carom_error *err)
{
    CHECK(check_scene(context, desc, out, err));
    carom_scene *scene = caromi_alloc(context, 1, sizeof *scene);
    if (scene == NULL)
        return caromi_fail_memory(err, "no memory for a scene (%zu bytes)", sizeof *scene);
    *scene = (carom_scene){.context = context};
    carom_status status = caromi_mesh_new(context, &scene->all, err);
    if (status != CAROM_OK) {
        caromi_free(context, scene);
        return status;
    }
    scene->all->scene = scene;
    status = fill(scene, desc, err);
    if (status != CAROM_OK) {
        end_scene(scene);
        return status;
    }
    *out = scene;
    return CAROM_OK;
}

carom_status carom_scene_create(carom_context *context, const carom_scene_desc *desc, carom_scene **out,
                                carom_error *err)
{
    IN_CALL(context, err, create(context, desc, out, err));
}

static carom_status update(carom_scene *scene, const carom_scene_pose *pose, carom_error *err)
{
    CHECK(check_pose(scene->context, pose, scene->instance_count, err));
    return place(scene, pose, err);
}

carom_status carom_scene_update(carom_scene *scene, const carom_scene_pose *pose, carom_error *err)
{
    CHECK_NOT_NULL(scene, "scene", err);
    CHECK_NOT_NULL(pose, "pose", err);
    IN_CALL(scene->context, err, update(scene, pose, err));
}

static void end_task(caromi_task *end)
{
    end_scene((carom_scene *)(void *)((char *)end - offsetof(carom_scene, end)));
}

void carom_scene_destroy(carom_scene *scene)
{
    if (scene == NULL)
        return;
    const caromi_float_mode mode = caromi_float_mode_set();
    scene->end.run = end_task;
    if (!caromi_leave_to_jobs(scene->context, &scene->end))
        end_task(&scene->end);
    caromi_float_mode_restore(mode);
}

carom_mesh *carom_scene_mesh(carom_scene *scene)
{
    return scene != NULL ? scene->all : NULL;
}
