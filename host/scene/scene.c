/* SPDX-License-Identifier: MIT */
/* Scenes: creation, update, destruction, and whether their meshes are still as they were. */
#include "scene.h"

#include <math.h>
#include <string.h>

#include "host/bvh/triangle.h"
#include "host/core/arrays.h"
#include "host/core/device.h"
#include "host/mesh/clearance.h"
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
    caromi_reads_points(arrays, "velocity", &pose->velocity, count);
}

static carom_status check_pose(carom_context *context, const carom_scene_pose *pose, uint64_t count, carom_error *err)
{
    CHECK(caromi_check_desc(pose->size, sizeof *pose, "carom_scene_pose", err));
    if (caromi_map_stride(pose) < sizeof(float[CAROMI_MAP]))
        return caromi_fail_argument(err, "map_stride is %zu; it must be 0 or at least %zu", pose->map_stride,
                                    sizeof(float[CAROMI_MAP]));
    CHECK(caromi_check_optional_uints(&pose->masks, "masks", err));
    CHECK(caromi_check_optional_points(&pose->velocity, "velocity", err));
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
        of->builds = of->mesh->builds;
    }
    scene->changes = scene->context->mesh_changes;
}

/* Whether the meshes and their hierarchies are as they were noted. */
static int are_meshes_same(const carom_scene *scene)
{
    int same = 1;
    for (uint64_t i = 0; i < scene->mesh_count; i++) {
        const caromi_scene_mesh *of = &scene->meshes[i];
        const carom_mesh *mesh = of->mesh;
        same &= !of->is_used || (of->changes == mesh->changes && !mesh->is_stale && of->builds == mesh->builds &&
                                 (!has_triangles(of) || mesh->view.width == scene->pose.tree.width));
    }
    return same;
}

/* Measures the meshes that have changed. */
static void measure_meshes(carom_scene *scene)
{
    for (uint64_t i = 0; i < scene->mesh_count; i++) {
        caromi_scene_mesh *of = &scene->meshes[i];
        if (of->is_used && (of->triangle < 0 || of->changes != of->mesh->changes))
            caromi_scene_measure(of);
    }
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

static uint64_t leaves_of(const carom_scene *scene, const caromi_pose *pose)
{
    uint64_t leaves = 0;
    for (uint32_t i = 0; i < pose->count; i++)
        leaves += caromi_mesh_of_instance(scene, pose->number[i])->leaf_count;
    return leaves;
}

/* Memory for the grid over a pose that queries in empty space need; the one that the scene has, if it is as large. The
 * grid holds for instances that are at rest during a query. */
static carom_status bring_clearance(const carom_scene *scene, const caromi_pose *pose, mesh_clearance **out,
                                    carom_error *err)
{
    const carom_mesh *all = scene->all;
    const uint64_t leaves = leaves_of(scene, pose);
    *out = all->clearance;
    if (pose->count == 0 ||
        (all->clearance != NULL && caromi_clearance_bytes(leaves) == caromi_clearance_bytes(all->leaf_count)))
        return CAROM_OK;
    return caromi_clearance_alloc(all, leaves, out, err);
}

static void replace_clearance(carom_mesh *all, mesh_clearance *clearance)
{
    if (clearance != all->clearance)
        caromi_free(all->context, all->clearance);
    all->clearance = clearance;
    caromi_clearance_forget(all);
}

/* Entries of a traversal, which pushes the children of nodes above and below. */
static int stack_of(const carom_scene *scene, const caromi_scene_tree *tree)
{
    int most = 0;
    for (uint64_t i = 0; i < scene->mesh_count; i++)
        if (has_triangles(&scene->meshes[i]) && scene->meshes[i].mesh->stack > most)
            most = scene->meshes[i].mesh->stack;
    return tree->nodes != NULL ? tree->stack + most : 0;
}

/* Whether the merged mesh has the triangles of the only instance's mesh, bit for bit. */
static int is_mesh_itself(const carom_scene *scene)
{
    const caromi_pose *pose = &scene->pose;
    return pose->count == 1 && pose->instances[1].kind == INSTANCE_UNMOVED && !pose->has_velocities &&
           !pose->has_instance_masks && !scene->meshes[scene->mesh_of[pose->number[0]]].has_minus_zero;
}

/* The view in which queries begin: in the hierarchy over the instances, or in the only instance. */
static caromi_mesh_view view_of(const carom_scene *scene)
{
    const caromi_pose *pose = &scene->pose;
    caromi_mesh_view view = {
        .frame = pose->frame, .width = pose->tree.width, .nodes = pose->tree.nodes, .instances = pose->instances};
    view.frame.ball = typical_ball(scene);
    if (is_mesh_itself(scene)) { /* searched as a mesh; what contacts know of it is not that of a scene */
        const caromi_mesh_view *own = &caromi_mesh_of_instance(scene, pose->number[0])->view;
        return (caromi_mesh_view){
            .frame = own->frame, .width = own->width, .nodes = own->nodes, .leaves = own->leaves, .masks = own->masks};
    }
    if (pose->count == 1 && !pose->has_instance_masks) {
        view.instances++;
        view.frame.root = view.instances->root;
    }
    return view;
}

/* Sets the mesh that queries ask to the present pose. */
static void set_view(carom_scene *scene)
{
    carom_mesh *all = scene->all;
    const caromi_pose *pose = &scene->pose;
    scene->places++;
    all->stack = stack_of(scene, &pose->tree);
    all->info = (carom_mesh_info){.size = sizeof all->info,
                                  .triangle_count = pose->triangles,
                                  .lower = {INFINITY, INFINITY, INFINITY},
                                  .upper = {-INFINITY, -INFINITY, -INFINITY}};
    all->info.bytes = scene->instance_count *
                      (sizeof(mesh_instance) + sizeof(caromi_given) + sizeof(caromi_world_box) + 2 * sizeof(uint32_t));
    if (pose->count == 0)
        return;
    all->leaf_count = leaves_of(scene, pose); /* so many may be visited: it decides whether queries are sorted */
    memcpy(all->info.lower, pose->extent.lower, sizeof all->info.lower);
    memcpy(all->info.upper, pose->extent.upper, sizeof all->info.upper);
    all->info.node_count = pose->tree.node_count;
    all->info.bytes +=
        pose->tree.node_count * CAROMI_NODE_BYTES(pose->tree.width) + caromi_clearance_bytes(all->leaf_count);
    all->info.width = (uint32_t)pose->tree.width;
    all->info.cost = pose->tree.cost;
    all->view = view_of(scene);
}

carom_status caromi_scene_check_stack(const carom_scene *scene, const caromi_scene_tree *tree, carom_error *err)
{
    const int needed = stack_of(scene, tree);
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
    measure_meshes(scene);
    CHECK(find_width(scene, &width, err));
    CHECK(caromi_pose_make(scene, given, width, &pose, err));
    mesh_clearance *clearance = NULL;
    carom_status status = caromi_scene_check_stack(scene, &pose.tree, err);
    if (status == CAROM_OK)
        status = bring_clearance(scene, &pose, &clearance, err);
    if (status != CAROM_OK) {
        caromi_pose_free(scene->context, &pose);
        return status;
    }
    caromi_pose_free(scene->context, &scene->pose);
    scene->pose = pose;
    replace_clearance(scene->all, clearance);
    note_meshes(scene);
    set_view(scene);
    return CAROM_OK;
}

/* Places the instances again where they are: a mesh has another width since, for a device or another scene. */
static carom_status place_again(carom_scene *scene, carom_error *err)
{
    const carom_context *context = scene->context;
    const uint64_t count = scene->instance_count;
    caromi_given *given_again = caromi_alloc(context, count, sizeof *given_again);
    carom_status status = given_again != NULL
                              ? CAROM_OK
                              : caromi_fail_memory(err, "no memory for %llu instances", (unsigned long long)count);
    if (status == CAROM_OK) {
        memset(given_again, 0, count * sizeof *given_again); /* of instances without triangles */
        for (uint32_t i = 0; i < scene->pose.count; i++)
            given_again[scene->pose.number[i]] = scene->pose.given[i];
        const float *velocity = given_again->velocity;
        const carom_scene_pose given = {
            .size = sizeof given,
            .map = given_again->map,
            .map_stride = sizeof *given_again,
            .masks = {scene->pose.has_instance_masks ? (const uint32_t *)&given_again->mask : NULL,
                      sizeof *given_again},
            .velocity = {velocity, velocity + 1, velocity + 2, sizeof *given_again}};
        status = place(scene, &given, err);
    }
    caromi_free(context, given_again);
    return status;
}

/* Follows meshes whose hierarchies were built again, though they are the same. With the same width they may have more
 * leaves: vertices may have moved since the build before. */
static carom_status follow(carom_scene *scene, carom_error *err)
{
    int has_other_width = 0;
    mesh_clearance *clearance;
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
    CHECK(caromi_scene_check_stack(scene, &scene->pose.tree, err));
    CHECK(bring_clearance(scene, &scene->pose, &clearance, err));
    replace_clearance(scene->all, clearance);
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

int caromi_scene_may_suit(const carom_scene *scene)
{
    int may = 1;
    for (uint64_t i = 0; i < scene->mesh_count; i++)
        may = may && (!has_triangles(&scene->meshes[i]) || caromi_hierarchy_may_suit(scene->meshes[i].mesh));
    return may;
}

carom_status caromi_scene_suit_device(carom_scene *scene, carom_error *err)
{
    for (uint64_t i = 0; i < scene->mesh_count; i++)
        if (has_triangles(&scene->meshes[i]))
            CHECK(caromi_hierarchy_suit_device(scene->meshes[i].mesh, err));
    return caromi_scene_look(scene, err);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

void caromi_scene_end(carom_scene *scene)
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
        scene->meshes[i] = (caromi_scene_mesh){.mesh = desc->meshes[i], .triangle = -1};
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

carom_status caromi_scene_make(carom_context *context, const carom_scene_desc *desc, carom_scene **out,
                               carom_error *err)
{
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
        caromi_scene_end(scene);
        return status;
    }
    *out = scene;
    return CAROM_OK;
}

static carom_status create(carom_context *context, const carom_scene_desc *desc, carom_scene **out, carom_error *err)
{
    CHECK(check_scene(context, desc, out, err));
    return caromi_scene_make(context, desc, out, err);
}

carom_status carom_scene_create(carom_context *context, const carom_scene_desc *desc, carom_scene **out,
                                carom_error *err)
{
    IN_CALL(context, err, create(context, desc, out, err));
}

static carom_status update(carom_scene *scene, const carom_scene_pose *pose, carom_error *err)
{
    int is_done = 0;
    CHECK(check_pose(scene->context, pose, scene->instance_count, err));
    if (scene->pose.count > 0 && are_meshes_same(scene))
        CHECK(caromi_pose_change(scene, pose, &is_done, err));
    if (!is_done)
        return place(scene, pose, err);
    caromi_clearance_forget(scene->all);
    scene->changes = scene->context->mesh_changes; /* a hierarchy over the instances was built */
    set_view(scene);
    return CAROM_OK;
}

carom_status carom_scene_update(carom_scene *scene, const carom_scene_pose *pose, carom_error *err)
{
    CHECK_NOT_NULL(scene, "scene", err);
    CHECK_NOT_NULL(pose, "pose", err);
    IN_CALL(scene->context, err, update(scene, pose, err));
}

static void end_task(caromi_task *end)
{
    caromi_scene_end((carom_scene *)(void *)((char *)end - offsetof(carom_scene, end)));
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
