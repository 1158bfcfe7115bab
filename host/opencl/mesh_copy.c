/* SPDX-License-Identifier: MIT */
/* The copy of a mesh on a device: its arrays are copied at their first use, and are kernel arguments from then on. */
#include "mesh_copy.h"

#include <assert.h>
#include <string.h>

#include "enqueue.h"
#include "host/mesh/clearance.h"
#include "host/mesh/edges.h"
#include "host/mesh/mesh.h"
#include "host/scene/scene.h"

void caromi_mesh_copy_forget_culling(mesh_copy *copy, size_t kind)
{
    caromi_release_buffer(&copy->opposites[kind]);
    caromi_release_buffer(&copy->cones[kind]);
    for (int i = 0; i < CAROMI_MOVED; i++)
        caromi_release_buffer(&copy->moved[kind][i]);
    copy->culling_is_old &= ~(1u << kind);
}

void caromi_mesh_copy_forget_edges(mesh_copy *copy)
{
    for (size_t kind = 0; kind < 2; kind++)
        caromi_mesh_copy_forget_culling(copy, kind);
    for (int i = 0; i < CAROMI_KEPT; i++)
        caromi_release_buffer(&copy->kept[i]);
    for (int table = 0; table < CAROMI_TABLES; table++)
        caromi_release_buffer(&copy->tables[table]);
    copy->corners_are_kept = 0;
}

void caromi_mesh_copy_empty(mesh_copy *copy)
{
    cl_mem *const parts[] = {&copy->nodes,    &copy->leaves,  &copy->masks,        &copy->clearance,
                             &copy->vertices, &copy->indices, &copy->levels,       &copy->areas,
                             &copy->work,     &copy->marks,   &copy->distances[0], &copy->distances[1],
                             &copy->instances};
    caromi_mesh_copy_forget_edges(copy);
    caromi_scene_places_free(copy);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        caromi_release_buffer(parts[i]);
}

/* Frees the copy of a mesh on one device. */
void caromi_mesh_copy_release(carom_mesh *mesh, uint32_t place)
{
    mesh_copy *copy = mesh->device_copies[place];
    if (copy == NULL)
        return;
    if (!caromi_opencl_is_inherited()) {
        caromi_mesh_copy_empty(copy);
        caromi_release_context(copy->cl);
    }
    caromi_scene_places_free(copy);
    caromi_free(copy->context, copy->level_start);
    caromi_free(copy->context, copy);
    mesh->device_copies[place] = NULL;
}

void caromi_device_edges_release(carom_mesh *mesh)
{
    for (uint32_t place = 0; !caromi_opencl_is_inherited() && place < mesh->context->device_count; place++)
        if (mesh->device_copies[place] != NULL)
            caromi_mesh_copy_forget_edges(mesh->device_copies[place]);
}

void caromi_device_mesh_release(carom_mesh *mesh)
{
    for (uint32_t place = 0; place < mesh->context->device_count; place++)
        caromi_mesh_copy_release(mesh, place);
}

/* Copies an array to the device. An empty one, like the nodes of a mesh of one leaf, still needs a buffer as kernel
 * argument. */
carom_status caromi_copy_array(caromi_device *device, const mesh_array *a, carom_error *err)
{
    /* Kernels write some of them in a refit, but never memory of the host. */
    const cl_mem_flags flags =
        device->unified ? CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR : CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    return a->count == 0 ? caromi_make_buffer(device, a->what, CL_MEM_READ_ONLY, a->size, NULL, a->out, err)
                         : caromi_make_buffer(device, a->what, flags, a->count * a->size, a->data, a->out, err);
}

/* Copies the arrays of a mesh to a device. */
static carom_status copy_arrays(caromi_device *device, const carom_mesh *mesh, mesh_copy *copy, carom_error *err)
{
    const mesh_array arrays[] = {
        {"a mesh's nodes", mesh->nodes, mesh->info.node_count, CAROMI_NODE_BYTES(MESH_WIDEST), &copy->nodes},
        {"a mesh's leaves", mesh->leaves, mesh->leaf_count, CAROMI_LEAF_BYTES(MESH_WIDEST), &copy->leaves},
        {"a mesh's grid", mesh->clearance, caromi_clearance_shown(mesh), 1, &copy->clearance},
        {"a mesh's vertices", mesh->vertices, mesh->vertex_count, 3 * sizeof(float), &copy->vertices},
        {"a mesh's indices", mesh->indices, mesh->info.triangle_count, 3 * sizeof(uint32_t), &copy->indices},
        {"a mesh's masks", mesh->masks, mesh->leaf_count, MESH_WIDEST * sizeof *mesh->masks, &copy->masks}};
    const size_t count = sizeof arrays / sizeof arrays[0] - (mesh->masks == NULL);
    uint64_t bytes = 0;
    /* A mesh larger than the device's memory is refused at once. */
    for (size_t i = 0; i < count; i++)
        bytes += arrays[i].count * arrays[i].size;
    if (!device->unified && bytes > device->info.memory && device->info.memory != 0)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                           "a mesh: %llu bytes; %s has %llu", (unsigned long long)bytes, device->info.name,
                           (unsigned long long)device->info.memory);
    for (size_t i = 0; i < count; i++)
        CHECK(caromi_copy_array(device, &arrays[i], err));
    return CAROM_OK;
}

mesh_copy *caromi_mesh_copy_create(const caromi_device *device, const carom_context *context)
{
    mesh_copy *copy = caromi_alloc(context, 1, sizeof *copy);
    if (copy == NULL)
        return NULL;
    memset(copy, 0, sizeof *copy);
    copy->context = context;
    copy->cl = caromi_retain_context(device);
    return copy;
}

/* Copies a mesh. If there is no memory, frees the idle slots' memory and tries again. */
static void fill_copy(caromi_device *device, const carom_mesh *mesh, mesh_copy *copy)
{
    carom_status status = copy_arrays(device, mesh, copy, &copy->lacking);
    if (status == CAROM_ERROR_OUT_OF_MEMORY) {
        caromi_mesh_copy_empty(copy);
        caromi_release_idle(device);
        status = copy_arrays(device, mesh, copy, &copy->lacking);
    }
    copy->lacking.status = status;
    if (status != CAROM_OK)
        caromi_mesh_copy_empty(copy);
}

/* Copies a mesh to a device, unless that was done or has failed before. */
carom_status caromi_upload_mesh(caromi_device *device, carom_mesh *mesh, carom_error *err)
{
    mesh_copy *copy = mesh->device_copies[device->place];
    assert(mesh->view.width == MESH_WIDEST); /* caromi_batch.suit_device */
    if (mesh->scene != NULL)
        return caromi_upload_scene(device, mesh, err);
    if (copy == NULL || copy->cl != device->cl) {
        CHECK(caromi_enqueue_refuse(device->context, err));
        CHECK(caromi_mesh_bring(mesh, err));
        caromi_mesh_copy_release(mesh, device->place);
        copy = caromi_mesh_copy_create(device, mesh->context);
        if (copy == NULL)
            return caromi_fail_memory(err, "no memory for a mesh copy (%zu bytes)", sizeof *copy);
        (void)pthread_mutex_lock(&mesh->context->finding); /* several devices may need the edges at once */
        caromi_clearance_find(mesh);
        (void)pthread_mutex_unlock(&mesh->context->finding);
        fill_copy(device, mesh, copy);
        mesh->device_copies[device->place] = copy;
    }
    if (copy->lacking.status == CAROM_OK)
        return CAROM_OK;
    const carom_status status =
        caromi_fail(err, copy->lacking.status, copy->lacking.native_code, "%s", copy->lacking.message);
    /* If the caller requires the device, it may free memory before the next call, which tries again. */
    if (device->context->desc.backend != CAROM_BACKEND_AUTO)
        caromi_mesh_copy_release(mesh, device->place);
    return status;
}

static size_t kind_of_left_out(const carom_mesh *mesh, int have_masks)
{
    return (size_t)(caromi_culling_of(mesh->edges, have_masks) - mesh->edges->culling);
}

/* Copies the culling data for contacts to a device, unless it has the data of the present vertices. */
carom_status caromi_upload_edges(caromi_device *device, carom_mesh *mesh, int have_masks, carom_error *err)
{
    mesh_copy *copy = mesh->device_copies[device->place];
    const size_t kind = kind_of_left_out(mesh, have_masks);
    const caromi_edges *edges;
    if (copy->culling_is_old >> kind & 1)
        caromi_mesh_copy_forget_culling(copy, kind);
    if (copy->opposites[kind] == NULL) {
        CHECK(caromi_mesh_bring(mesh, err));
        CHECK(caromi_edges_of(mesh, &edges, err));
    }
    const caromi_culling *culling = &mesh->edges->culling[kind];
    const mesh_array arrays[] = {{"third corners of a mesh", culling->opposites, mesh->leaf_count,
                                  CAROMI_OPPOSITES_BYTES(MESH_WIDEST), &copy->opposites[kind]},
                                 {"cones of a mesh", culling->cones, mesh->info.node_count,
                                  CAROMI_CONES_BYTES(MESH_WIDEST), &copy->cones[kind]}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (*arrays[i].out == NULL)
            CHECK(caromi_copy_array(device, &arrays[i], err));
    return CAROM_OK;
}

/* ---- kernel arguments -------------------------------------------------------------------------------------------- */

void caromi_set_edges(const caromi_device *device, caromi_arguments *arguments, const carom_mesh *mesh, int have_masks)
{
    const mesh_copy *copy = caromi_mesh_copy_of(device, mesh);
    const size_t kind = kind_of_left_out(mesh, have_masks);
    caromi_set_argument(arguments, &copy->opposites[kind], sizeof copy->opposites[kind]);
    caromi_set_argument(arguments, &copy->cones[kind], sizeof copy->cones[kind]);
}

/* Sets the nodes, the leaves and the frame of a mesh as arguments. */
static void set_tree(const caromi_device *device, caromi_arguments *arguments, const carom_mesh *mesh)
{
    const mesh_copy *copy = caromi_mesh_copy_of(device, mesh);
    const mesh_frame *frame = &mesh->view.frame;
    caromi_set_argument(arguments, &copy->nodes, sizeof copy->nodes);
    caromi_set_argument(arguments, &copy->leaves, sizeof copy->leaves);
    caromi_set_argument(arguments, &frame->scale, sizeof frame->scale);
    caromi_set_argument(arguments, &frame->scale_field, sizeof frame->scale_field);
    caromi_set_argument(arguments, &frame->root, sizeof frame->root);
    caromi_set_argument(arguments, &frame->ball, sizeof frame->ball);
}

/* Sets the clearance of an uploaded mesh as arguments. */
void caromi_set_clearance(const caromi_device *device, caromi_arguments *arguments, const carom_mesh *mesh)
{
    const mesh_copy *copy = caromi_mesh_copy_of(device, mesh);
    caromi_set_argument(arguments, &copy->clearance, sizeof copy->clearance);
}

/* Sets the mesh's vertices, indices and number of triangles as arguments. */
void caromi_set_triangles(const caromi_device *device, caromi_arguments *arguments, const carom_mesh *mesh)
{
    const mesh_copy *copy = caromi_mesh_copy_of(device, mesh);
    const cl_uint triangles = (cl_uint)mesh->info.triangle_count;
    caromi_set_argument(arguments, &copy->vertices, sizeof copy->vertices);
    caromi_set_argument(arguments, &copy->indices, sizeof copy->indices);
    caromi_set_argument(arguments, &triangles, sizeof triangles);
}

/* Sets an uploaded mesh's hierarchy, masks and options as arguments. */
void caromi_set_tree(const caromi_device *device, caromi_arguments *arguments, const carom_mesh *mesh, int options)
{
    const mesh_copy *copy = caromi_mesh_copy_of(device, mesh);
    const cl_mem *masks = copy->masks != NULL ? &copy->masks : &copy->leaves; /* any buffer: it is not read */
    set_tree(device, arguments, mesh);
    caromi_set_argument(arguments, masks, sizeof *masks);
    caromi_set_argument(arguments, &options, sizeof options);
    if (mesh->scene == NULL)
        return;
    caromi_set_argument(arguments, &copy->instances, sizeof copy->instances);
    caromi_set_uint(arguments, caromi_scene_begin(mesh->scene));
}
