/* SPDX-License-Identifier: MIT */
/* The copy of a scene on a device. Nodes of all its meshes lie side by side, then those of the hierarchy over the
 * instances; so do leaves and masks. The table of instances has the places. A mesh is sent again when it has changed,
 * the rest after each carom_scene_update. */
#include <string.h>

#include "device.h"
#include "enqueue.h"
#include "host/mesh/clearance.h"
#include "host/mesh/mesh.h"
#include "host/scene/scene.h"
#include "mesh_copy.h"

/* A part of the arrays. */
typedef struct scene_part {
    uint64_t first_node, first_leaf, nodes, leaves; /* room for so many */
    uint64_t changes, builds;                       /* of the mesh that was sent; UINT64_MAX: none was */
} scene_part;

typedef struct scene_places {
    uint64_t places;    /* scene->places when the instances were sent; 0: they were not */
    int has_clearance;  /* the grid was sent */
    uint64_t grid_most; /* bytes of the grid's memory */
    uint64_t instances; /* that have room */
    uint64_t part_count;
    scene_part parts[]; /* of the meshes; the last one of the hierarchy over the instances */
} scene_places;

/* What is sent. */
typedef struct scene_job {
    caromi_device *device;
    carom_mesh *all;
    const carom_scene *scene;
    mesh_copy *copy;
    scene_places *places;
} scene_job;

enum { MASK_ROWS = 1 << 12 }; /* rows of masks without bits that are left out at a time */

void caromi_scene_places_free(mesh_copy *copy)
{
    caromi_free(copy->context, copy->scene);
    copy->scene = NULL;
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* Nodes and leaves of a part: the hierarchy over the instances has no leaves. */
static void measure_part(const scene_job *job, uint64_t part, uint64_t *nodes, uint64_t *leaves)
{
    *nodes = *leaves = 0;
    if (part == job->scene->mesh_count) {
        *nodes = job->scene->pose.tree.node_count;
        return;
    }
    const carom_mesh *mesh = caromi_scene_mesh_at(job->scene, part);
    if (mesh != NULL) {
        *nodes = mesh->info.node_count;
        *leaves = mesh->leaf_count;
    }
}

/* Whether each part still has the room that it was given. Masks are given up when there are none: meshes that are sent
 * without them would leave older ones. */
static int has_room(const scene_job *job)
{
    const scene_places *places = job->places;
    int has = job->copy->nodes != NULL && (job->copy->masks != NULL) == (job->scene->pose.has_masks != 0);
    for (uint64_t i = 0; has && i < places->part_count; i++) {
        uint64_t nodes, leaves;
        measure_part(job, i, &nodes, &leaves);
        has = nodes <= places->parts[i].nodes && leaves <= places->parts[i].leaves;
    }
    return has && caromi_clearance_shown(job->all) <= places->grid_most && job->scene->pose.count <= places->instances;
}

/* Gives each part its place. */
static void lay_out(const scene_job *job, uint64_t *nodes, uint64_t *leaves)
{
    scene_places *places = job->places;
    *nodes = *leaves = 0;
    for (uint64_t i = 0; i < places->part_count; i++) {
        scene_part *part = &places->parts[i];
        *part = (scene_part){.first_node = *nodes, .first_leaf = *leaves, .changes = UINT64_MAX};
        measure_part(job, i, &part->nodes, &part->leaves);
        if (i + 1 == places->part_count) /* which may grow */
            part->nodes += part->nodes / 4 + 1;
        *nodes += part->nodes;
        *leaves += part->leaves;
    }
}

/* Memory for all arrays. */
static carom_status make_arrays(const scene_job *job, carom_error *err)
{
    caromi_device *device = job->device;
    mesh_copy *copy = job->copy;
    uint64_t nodes, leaves;
    lay_out(job, &nodes, &leaves);
    job->places->places = 0;
    job->places->has_clearance = -1;
    job->places->grid_most = caromi_clearance_shown(job->all);
    job->places->instances = job->scene->pose.count;
    const uint64_t sizes[] = {nodes * CAROMI_NODE_BYTES(MESH_WIDEST), leaves * CAROMI_LEAF_BYTES(MESH_WIDEST),
                              job->scene->pose.has_masks ? leaves * MESH_WIDEST * sizeof(int32_t) : 0,
                              (1 + (uint64_t)job->scene->pose.count) * sizeof(mesh_instance), job->places->grid_most};
    static const char *const names[] = {"a scene's nodes", "a scene's leaves", "a scene's masks", "a scene's instances",
                                        "a scene's grid"};
    cl_mem *const arrays[] = {&copy->nodes, &copy->leaves, &copy->masks, &copy->instances, &copy->clearance};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        caromi_release_buffer(arrays[i]);
        bytes += sizes[i];
    }
    /* A scene larger than the device's memory is refused at once. */
    if (bytes > device->info.memory && device->info.memory != 0)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                           "a scene: %llu bytes; %s has %llu", (unsigned long long)bytes, device->info.name,
                           (unsigned long long)device->info.memory);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] > 0)
            CHECK(caromi_make_buffer(device, names[i], CL_MEM_READ_ONLY, sizes[i], NULL, arrays[i], err));
    return CAROM_OK;
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

static carom_status send(const scene_job *job, cl_mem to, uint64_t at, const void *data, uint64_t bytes,
                         const char *what, carom_error *err)
{
    return bytes == 0 ? CAROM_OK
                      : caromi_write_at(job->device, job->device->slots[0].queue, to, (size_t)at, data, (size_t)bytes,
                                        what, err);
}

/* Sends masks of leaves; those of a mesh without any have all bits. */
static carom_status send_masks(const scene_job *job, const carom_mesh *mesh, uint64_t first_leaf, carom_error *err)
{
    const uint64_t row = MESH_WIDEST * sizeof(int32_t);
    if (!job->scene->pose.has_masks)
        return CAROM_OK;
    if (mesh->masks != NULL)
        return send(job, job->copy->masks, first_leaf * row, mesh->masks, mesh->leaf_count * row, "masks", err);
    void *all = caromi_alloc(job->device->context, MASK_ROWS, row);
    carom_status status = all != NULL ? CAROM_OK : caromi_fail_memory(err, "no memory for masks of a scene");
    if (all != NULL)
        memset(all, -1, MASK_ROWS * row);
    for (uint64_t at = 0, n; status == CAROM_OK && at < mesh->leaf_count; at += n) {
        n = mesh->leaf_count - at < MASK_ROWS ? mesh->leaf_count - at : MASK_ROWS;
        status = send(job, job->copy->masks, (first_leaf + at) * row, all, n * row, "masks", err);
    }
    caromi_free(job->device->context, all);
    return status;
}

static carom_status send_mesh(const scene_job *job, const carom_mesh *mesh, const scene_part *part, carom_error *err)
{
    CHECK(send(job, job->copy->nodes, part->first_node * CAROMI_NODE_BYTES(MESH_WIDEST), mesh->nodes,
               caromi_bytes_of_nodes(mesh), "nodes", err));
    CHECK(send(job, job->copy->leaves, part->first_leaf * CAROMI_LEAF_BYTES(MESH_WIDEST), mesh->leaves,
               caromi_bytes_of_leaves(mesh), "leaves", err));
    return send_masks(job, mesh, part->first_leaf, err);
}

/* Sends the meshes that have changed. */
static carom_status send_meshes(const scene_job *job, carom_error *err)
{
    for (uint64_t i = 0; i + 1 < job->places->part_count; i++) {
        const carom_mesh *mesh = caromi_scene_mesh_at(job->scene, i);
        scene_part *part = &job->places->parts[i];
        if (mesh == NULL || (part->changes == mesh->changes && part->builds == mesh->builds))
            continue;
        part->changes = UINT64_MAX; /* if this fails */
        CHECK(send_mesh(job, mesh, part, err));
        part->changes = mesh->changes;
        part->builds = mesh->builds;
    }
    return CAROM_OK;
}

/* An instance as the device has it, with places for pointers. */
static void set_places(const scene_part *part, mesh_instance *instance)
{
    instance->first_node = part->first_node;
    instance->first_leaf = part->first_leaf;
    instance->first_mask = part->first_leaf * MESH_WIDEST;
    instance->no_velocities = 0;
}

/* Sends the hierarchy over the instances, and these. */
static carom_status send_instances(const scene_job *job, carom_error *err)
{
    const carom_scene *scene = job->scene;
    const caromi_pose *pose = &scene->pose;
    const uint64_t count = 1 + (uint64_t)pose->count;
    const scene_part *parts = job->places->parts, *last = &parts[job->places->part_count - 1];
    CHECK(send(job, job->copy->nodes, last->first_node * CAROMI_NODE_BYTES(MESH_WIDEST), pose->tree.nodes,
               pose->tree.node_count * CAROMI_NODE_BYTES(MESH_WIDEST), "nodes", err));
    mesh_instance *table = caromi_alloc(job->device->context, count, sizeof *table);
    if (table == NULL)
        return caromi_fail_memory(err, "no memory for %llu instances", (unsigned long long)count);
    memcpy(table, pose->instances, count * sizeof *table);
    set_places(last, table);
    for (uint32_t i = 0; i < pose->count; i++)
        set_places(&parts[scene->mesh_of[pose->number[i]]], &table[1 + i]);
    const carom_status status = send(job, job->copy->instances, 0, table, count * sizeof *table, "instances", err);
    caromi_free(job->device->context, table);
    return status;
}

/* Sends the grid of empty space, if it is known; else one cube in which no query is free. */
static carom_status send_clearance(const scene_job *job, carom_error *err)
{
    static const struct {
        mesh_clearance grid;
        uint8_t cube;
    } none = {.grid.size = {1, 1, 1}};
    return job->all->clearance_known ? send(job, job->copy->clearance, 0, job->all->clearance,
                                            caromi_clearance_shown(job->all), "a grid", err)
                                     : send(job, job->copy->clearance, 0, &none, sizeof none.grid + 1, "a grid", err);
}

static carom_status bring_up_to_date(const scene_job *job, carom_error *err)
{
    scene_places *places = job->places;
    if (!has_room(job))
        CHECK(make_arrays(job, err));
    CHECK(send_meshes(job, err));
    if (places->places != job->scene->places) {
        places->places = 0;
        places->has_clearance = -1;
        CHECK(send_instances(job, err));
        places->places = job->scene->places;
    }
    if (places->has_clearance != job->all->clearance_known) {
        CHECK(send_clearance(job, err));
        places->has_clearance = job->all->clearance_known;
    }
    return CAROM_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static scene_places *create_places(const carom_scene *scene)
{
    const uint64_t count = scene->mesh_count + 1;
    scene_places *places = caromi_alloc(scene->context, 1, sizeof *places + count * sizeof *places->parts);
    if (places != NULL) {
        memset(places, 0, sizeof *places + count * sizeof *places->parts);
        places->part_count = count;
    }
    return places;
}

/* The scene's copy on a device, which may be empty. */
static carom_status find_copy(caromi_device *device, carom_mesh *all, mesh_copy **out, carom_error *err)
{
    mesh_copy *copy = all->device_copies[device->place];
    if (copy != NULL && copy->cl != device->cl)
        caromi_mesh_copy_release(all, device->place);
    if (all->device_copies[device->place] == NULL)
        all->device_copies[device->place] = caromi_mesh_copy_create(device, all->context);
    *out = copy = all->device_copies[device->place];
    return copy != NULL ? CAROM_OK : caromi_fail_memory(err, "no memory for a scene's copy (%zu bytes)", sizeof *copy);
}

/* Sends what has changed, or with a new copy everything. */
static carom_status bring(caromi_device *device, carom_mesh *all, mesh_copy *copy, carom_error *err)
{
    if (copy->scene == NULL)
        copy->scene = create_places(all->scene);
    if (copy->scene == NULL)
        return caromi_fail_memory(err, "no memory for the places of %llu meshes",
                                  (unsigned long long)all->scene->mesh_count);
    const scene_job job = {device, all, all->scene, copy, copy->scene};
    return bring_up_to_date(&job, err);
}

/* If there is no memory, frees that of the copy and of idle slots, and tries again. A failure is kept until the scene
 * changes; if the caller requires the device, he may free memory before the next call, which tries again. */
carom_status caromi_upload_scene(caromi_device *device, carom_mesh *all, carom_error *err)
{
    mesh_copy *copy;
    CHECK(caromi_enqueue_refuse(device->context, err));
    CHECK(find_copy(device, all, &copy, err));
    if (copy->lacking.status == CAROM_OK || copy->lacking_places != all->scene->places ||
        device->context->desc.backend != CAROM_BACKEND_AUTO) {
        carom_error why = {CAROM_OK, 0, ""};
        carom_status status = bring(device, all, copy, &why);
        if (status == CAROM_ERROR_OUT_OF_MEMORY) {
            caromi_mesh_copy_empty(copy);
            caromi_release_idle(device);
            status = bring(device, all, copy, &why);
        }
        if (status != CAROM_OK)
            caromi_mesh_copy_empty(copy);
        copy->lacking = why;
        copy->lacking.status = status;
        copy->lacking_places = all->scene->places;
    }
    return copy->lacking.status == CAROM_OK
               ? CAROM_OK
               : caromi_fail(err, copy->lacking.status, copy->lacking.native_code, "%s", copy->lacking.message);
}
