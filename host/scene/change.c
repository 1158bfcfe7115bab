/* SPDX-License-Identifier: MIT */
/* An update in which most instances stay as they are: only those that differ are looked at again. The scale must stay,
 * because all instances depend on it. */
#include <string.h>

#include "scene.h"

/* An instance that differs. Committing it and undoing that is one exchange with the pose. */
typedef struct changed_instance {
    uint32_t number; /* in the pose */
    mesh_instance instance;
    caromi_given given;
    caromi_world_box box;
} changed_instance;

typedef struct scene_change {
    carom_scene *scene;
    changed_instance *list; /* [capacity] */
    uint32_t count, capacity;
    float largest;             /* coordinate, afterwards */
    uint32_t largest_instance; /* which has it */
} scene_change;

/* More changed instances are not kept beside the others: a new pose is made. */
static uint32_t most_changed(const caromi_pose *pose)
{
    return pose->count / 2;
}

static const caromi_scene_mesh *scene_mesh_of(const carom_scene *scene, uint32_t i)
{
    return &scene->meshes[scene->mesh_of[scene->pose.number[i]]];
}

/* ---- which differ ------------------------------------------------------------------------------------------------ */

/* Makes room for one more. */
static carom_status grow(scene_change *change, carom_error *err)
{
    enum { FIRST = 16 };
    const carom_context *context = change->scene->context;
    if (change->count < change->capacity)
        return CAROM_OK;
    const uint32_t capacity = change->capacity > 0 ? 2 * change->capacity : FIRST; /* below CAROM_SCENE_INSTANCES */
    changed_instance *list = caromi_alloc(context, capacity, sizeof *list);
    if (list == NULL)
        return caromi_fail_memory(err, "no memory for %u instances that change", capacity);
    if (change->count > 0)
        memcpy(list, change->list, change->count * sizeof *list);
    caromi_free(context, change->list);
    change->list = list;
    change->capacity = capacity;
    return CAROM_OK;
}

static carom_status add(scene_change *change, uint32_t i, const caromi_given *given, carom_error *err)
{
    const caromi_pose *pose = &change->scene->pose;
    CHECK(grow(change, err));
    changed_instance *to = &change->list[change->count++];
    *to = (changed_instance){.number = i, .given = *given};
    caromi_instance_set(scene_mesh_of(change->scene, i)->mesh, given, pose->instances[1 + i].base, &to->instance);
    caromi_scene_box(scene_mesh_of(change->scene, i)->mesh, &to->instance, &to->box);
    return CAROM_OK;
}

/* Lists the instances that differ; all maps are checked, those of instances without triangles too. *fits 0: there are
 * too many. */
static carom_status list_changed(scene_change *change, const carom_scene_pose *from, int *fits, carom_error *err)
{
    const caromi_pose *pose = &change->scene->pose;
    uint32_t i = 0; /* in the pose */
    for (uint32_t number = 0; number < change->scene->instance_count; number++) {
        caromi_given given;
        CHECK(caromi_given_load(from, number, &given, err));
        if (i == pose->count || pose->number[i] != number)
            continue;
        if (memcmp(&given, &pose->given[i], sizeof given) != 0) {
            *fits = change->count < most_changed(pose);
            if (!*fits)
                return CAROM_OK;
            CHECK(add(change, i, &given, err));
        }
        i++;
    }
    return CAROM_OK;
}

/* ---- the exchange ------------------------------------------------------------------------------------------------ */

static void exchange(void *a, void *b, size_t bytes)
{
    char *x = a, *y = b;
    for (size_t i = 0; i < bytes; i++) {
        const char saved = x[i];
        x[i] = y[i];
        y[i] = saved;
    }
}

static void exchange_all(scene_change *change)
{
    caromi_pose *pose = &change->scene->pose;
    for (uint32_t k = 0; k < change->count; k++) {
        changed_instance *own = &change->list[k];
        exchange(&own->instance, &pose->instances[1 + own->number], sizeof own->instance);
        exchange(&own->given, &pose->given[own->number], sizeof own->given);
        exchange(&own->box, &pose->boxes[own->number], sizeof own->box);
    }
}

/* Whether an instance begins to move or comes to rest: it goes into the other tree. */
static int has_other_trees(const scene_change *change)
{
    int has = 0;
    for (uint32_t k = 0; k < change->count; k++) {
        const mesh_instance *now = &change->scene->pose.instances[1 + change->list[k].number];
        has |= caromi_is_moving(now) != caromi_is_moving(&change->list[k].instance);
    }
    return has;
}

static carom_status build_tree(const scene_change *change, caromi_scene_tree *tree, carom_error *err)
{
    const caromi_pose *pose = &change->scene->pose;
    CHECK(caromi_scene_tree_build(change->scene->context, pose, pose->tree.width, tree, err));
    const carom_status status = caromi_scene_check_stack(change->scene, tree, err);
    if (status != CAROM_OK)
        caromi_scene_tree_free(change->scene->context, tree);
    return status;
}

/* The hierarchy after the exchange: refitted, or built again if it has become bad. Without memory for that, the
 * refitted one stays. */
static carom_status follow_tree(const scene_change *change, carom_error *err)
{
    caromi_pose *pose = &change->scene->pose;
    carom_context *context = change->scene->context;
    caromi_scene_tree tree;
    if (has_other_trees(change)) {
        CHECK(build_tree(change, &tree, err));
    } else {
        carom_error why = {0};
        caromi_scene_tree_refit(pose, &pose->tree);
        if (!(pose->tree.cost > CAROM_MESH_WORN * pose->tree.built_cost))
            return CAROM_OK;
        if (build_tree(change, &tree, &why) != CAROM_OK) {
            caromi_log(context, CAROM_LOG_WARNING, "the hierarchy over %u instances was not built again: %s",
                       pose->count, why.message);
            return CAROM_OK;
        }
    }
    caromi_scene_tree_free(context, &pose->tree);
    pose->tree = tree;
    return CAROM_OK;
}

/* Finds the largest coordinate. *fits 0: the scale changes. */
static carom_status find_largest(scene_change *change, int *fits, carom_error *err)
{
    const caromi_pose *pose = &change->scene->pose;
    int is_known = 1;
    change->largest_instance = pose->largest_instance;
    for (uint32_t k = 0; k < change->count; k++)
        is_known &= change->list[k].number != pose->largest_instance;
    change->largest = is_known ? pose->extent.largest : 0;
    CHECK(caromi_scene_extent(change->scene, pose, pose->boxes, &change->largest, &change->largest_instance, err));
    *fits = caromi_scene_limit(change->largest) == caromi_scene_limit(pose->extent.largest);
    return CAROM_OK;
}

/* What depends on others, of the instances that have been exchanged; then bounds and hierarchy. */
static carom_status finish(const scene_change *change, carom_error *err)
{
    const carom_scene *scene = change->scene;
    caromi_pose *pose = &change->scene->pose;
    const float limit = caromi_scene_limit(change->largest);
    for (uint32_t k = 0; k < change->count; k++) {
        const uint32_t i = change->list[k].number;
        caromi_scene_clip(&pose->boxes[i], limit);
        caromi_instance_set_scale(scene_mesh_of(scene, i), pose->frame.scale, limit, &pose->instances[1 + i]);
    }
    CHECK(follow_tree(change, err));
    pose->largest_instance = change->largest_instance;
    pose->has_velocities = pose->tree.velocities != NULL;
    caromi_pose_set_extent(pose, change->largest);
    caromi_pose_set_all(pose);
    return CAROM_OK;
}

static carom_status change_pose(scene_change *change, const carom_scene_pose *given, int *is_done, carom_error *err)
{
    int fits = 1;
    CHECK(list_changed(change, given, &fits, err));
    if (!fits)
        return CAROM_OK;
    exchange_all(change);
    carom_status status = find_largest(change, &fits, err);
    if (status == CAROM_OK && fits)
        status = finish(change, err);
    *is_done = status == CAROM_OK && fits;
    if (!*is_done)
        exchange_all(change);
    return status;
}

carom_status caromi_pose_change(carom_scene *scene, const carom_scene_pose *given, int *is_done, carom_error *err)
{
    scene_change change = {.scene = scene};
    *is_done = 0;
    if ((given->masks.data != NULL) != scene->pose.has_instance_masks)
        return CAROM_OK;
    const carom_status status = change_pose(&change, given, is_done, err);
    caromi_free(scene->context, change.list);
    return status;
}
