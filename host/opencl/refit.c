/* SPDX-License-Identifier: MIT */
/* Refits a device's copy of a mesh to vertices in memory of the device (kernels/refit.cl). The host reads one
 * refit_result. */
#include "abilities.h"
#include "refit.h"

#include <math.h>
#include <string.h>

#include "host/bvh/bvh.h"
#include "host/mesh/clearance.h"
#include "host/mesh/mesh.h"
#include "mesh_copy.h"

_Static_assert(sizeof(refit_result) <= 64, "so many bytes cross in a refit");

/* ---- memory ------------------------------------------------------------------------------------------------------ */

carom_status caromi_refit_own(caromi_device *device, const char *what, const void *data, uint64_t bytes, cl_mem *array,
                              carom_error *err)
{
    cl_mem own = NULL;
    const uint64_t size = bytes > 0 ? bytes : CAROMI_NODE_BYTES(MESH_WIDEST);
    CHECK(caromi_make_buffer(device, what, CL_MEM_READ_WRITE | (bytes > 0 ? CL_MEM_COPY_HOST_PTR : 0), size,
                             bytes > 0 ? (void *)(uintptr_t)data : NULL, &own, err));
    caromi_release_buffer(array);
    *array = own;
    return CAROM_OK;
}

static carom_status own_arrays(caromi_device *device, const carom_mesh *mesh, mesh_copy *copy, carom_error *err)
{
    if (!device->unified)
        return CAROM_OK;
    CHECK(caromi_refit_own(device, "a mesh's nodes", mesh->nodes, caromi_bytes_of_nodes(mesh), &copy->nodes, err));
    CHECK(caromi_refit_own(device, "a mesh's leaves", mesh->leaves, caromi_bytes_of_leaves(mesh), &copy->leaves, err));
    return caromi_refit_own(device, "a mesh's grid", mesh->clearance, caromi_clearance_shown(mesh), &copy->clearance,
                            err);
}

/* The height of each node above the lowest of its subtree: children have higher numbers. Returns the largest. */
static uint32_t find_heights(const carom_mesh *mesh, uint8_t *height)
{
    uint32_t most = 0;
    for (uint64_t number = mesh->info.node_count; number-- > 0;) {
        uint8_t own = 0;
        for (int i = 0; i < MESH_WIDEST; i++) {
            const int child = caromi_node_at(mesh, number).child[i];
            if (child > 0 && height[child] >= own)
                own = (uint8_t)(height[child] + 1);
        }
        height[number] = own;
        most = own > most ? own : most;
    }
    return most;
}

/* Sorts the nodes that have child nodes by height. Behind level_start[k] are nodes of height k + 1. */
static void sort_by_height(const carom_mesh *mesh, const uint8_t *height, uint32_t levels, uint32_t *start,
                           uint32_t *order)
{
    uint32_t next[BVH_DEPTH_MAX + 1];
    memset(start, 0, (levels + 1) * sizeof *start);
    for (uint64_t n = 0; n < mesh->info.node_count; n++)
        if (height[n] > 0)
            start[height[n]]++;
    for (uint32_t k = 0; k < levels; k++)
        start[k + 1] += start[k];
    memcpy(next, start, levels * sizeof *next);
    for (uint64_t n = 0; n < mesh->info.node_count; n++)
        if (height[n] > 0)
            order[next[height[n] - 1]++] = (uint32_t)n;
}

static carom_status send_levels(caromi_device *device, mesh_copy *copy, uint32_t *order, carom_error *err)
{
    const uint64_t count = copy->level_start[copy->level_count];
    return caromi_make_buffer(device, "levels of a mesh", CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                              (count > 0 ? count : 1) * sizeof *order, order, &copy->levels, err);
}

static carom_status make_levels(caromi_device *device, const carom_mesh *mesh, mesh_copy *copy, carom_error *err)
{
    const carom_context *context = device->context;
    const uint64_t nodes = mesh->info.node_count + 1;
    uint8_t *height = caromi_alloc(context, nodes, sizeof *height);
    uint32_t *order = caromi_alloc(context, nodes, sizeof *order);
    if (copy->level_start == NULL)
        copy->level_start = caromi_alloc(context, BVH_DEPTH_MAX + 1, sizeof *copy->level_start);
    carom_status status = height != NULL && order != NULL && copy->level_start != NULL
                              ? CAROM_OK
                              : caromi_fail_memory(err, "no memory for the levels of %llu nodes",
                                                   (unsigned long long)mesh->info.node_count);
    if (status == CAROM_OK) {
        order[0] = 0;
        copy->level_count = find_heights(mesh, height);
        assert(copy->level_count < BVH_DEPTH_MAX);
        sort_by_height(mesh, height, copy->level_count, copy->level_start, order);
        status = send_levels(device, copy, order, err);
    }
    caromi_free(context, height);
    caromi_free(context, order);
    return status;
}

/* Memory of a copy that refits write, made by the first one. */
static carom_status make_memory(caromi_device *device, const carom_mesh *mesh, mesh_copy *copy, carom_error *err)
{
    refit_work none = {0};
    const uint64_t slots = (mesh->info.node_count > 0 ? mesh->info.node_count : 1) * MESH_WIDEST;
    if (copy->work != NULL)
        return CAROM_OK;
    if (copy->levels == NULL)
        CHECK(make_levels(device, mesh, copy, err));
    if (copy->areas == NULL)
        CHECK(caromi_make_buffer(device, "areas of a mesh", CL_MEM_READ_WRITE, slots * sizeof(float), NULL,
                                 &copy->areas, err));
    CHECK(own_arrays(device, mesh, copy, err));
    CHECK(caromi_space_make(device, mesh, copy, err));
    return caromi_make_buffer(device, "a refit", CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof none, &none,
                              &copy->work, err);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static void set_memory(caromi_arguments *arguments, const cl_mem *memory)
{
    caromi_set_argument(arguments, memory, sizeof *memory);
}

carom_status caromi_refit_launch(caromi_device *device, caromi_arguments *arguments, uint64_t count, uint64_t groups,
                                 carom_error *err)
{
    const uint64_t all = device->max_items / REFIT_GROUP, most = (groups < all ? groups : all) * REFIT_GROUP;
    return caromi_launch(device, device->slots[0].queue, arguments, count < most ? count : most, REFIT_GROUP, NULL,
                         err);
}

/* Launches a kernel whose work-items share `count` things. */
static carom_status launch_each(const refit_job *job, caromi_arguments *arguments, uint64_t count, carom_error *err)
{
    return caromi_refit_launch(job->device, arguments, count, UINT64_MAX, err);
}

static carom_status launch_groups(const refit_job *job, caromi_arguments *arguments, uint64_t groups, carom_error *err)
{
    return launch_each(job, arguments, groups * REFIT_GROUP, err);
}

static carom_status move_vertices(const refit_job *job, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_MOVE);
    for (int k = 0; k < 3; k++) {
        set_memory(&arguments, &job->from[k].memory);
        caromi_set_ulong(&arguments, job->from[k].at);
    }
    caromi_set_ulong(&arguments, job->stride);
    set_memory(&arguments, &job->to);
    caromi_set_uint(&arguments, job->mesh->vertex_count);
    return launch_each(job, &arguments, job->mesh->vertex_count, err);
}

static carom_status measure(const refit_job *job, carom_error *err)
{
    caromi_arguments measure = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_MEASURE),
                     frame = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_FRAME);
    set_memory(&measure, &job->to);
    set_memory(&measure, &job->copy->indices);
    caromi_set_uint(&measure, job->mesh->info.triangle_count);
    set_memory(&measure, &job->copy->work);
    CHECK(launch_each(job, &measure, job->mesh->info.triangle_count, err));
    set_memory(&frame, &job->to);
    set_memory(&frame, &job->copy->indices);
    set_memory(&frame, &job->copy->work);
    return launch_each(job, &frame, 1, err);
}

static carom_status fill_leaves(const refit_job *job, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_LEAVES);
    const uint64_t nodes = job->mesh->info.node_count;
    set_memory(&arguments, &job->to);
    set_memory(&arguments, &job->copy->indices);
    set_memory(&arguments, &job->copy->nodes);
    caromi_set_uint(&arguments, nodes);
    set_memory(&arguments, &job->copy->leaves);
    caromi_set_int(&arguments, job->mesh->view.frame.root);
    set_memory(&arguments, &job->copy->areas);
    set_memory(&arguments, &job->copy->work);
    return launch_groups(job, &arguments, nodes > 0 ? nodes * (MESH_WIDEST / REFIT_SLOTS) : 1, err);
}

static carom_status fill_nodes(const refit_job *job, carom_error *err)
{
    const mesh_copy *copy = job->copy;
    for (uint32_t level = 0; level < copy->level_count; level++) {
        caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_NODES);
        const uint32_t count = copy->level_start[level + 1] - copy->level_start[level];
        set_memory(&arguments, &copy->nodes);
        set_memory(&arguments, &copy->areas);
        set_memory(&arguments, &copy->levels);
        caromi_set_uint(&arguments, copy->level_start[level]);
        set_memory(&arguments, &copy->work);
        caromi_set_uint(&arguments, count);
        CHECK(launch_each(job, &arguments, (uint64_t)count * MESH_WIDEST, err));
    }
    return CAROM_OK;
}

static carom_status end(const refit_job *job, refit_result *result, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_END);
    const uint64_t nodes = job->mesh->info.node_count, samples = nodes < REFIT_SAMPLES ? nodes : REFIT_SAMPLES;
    set_memory(&arguments, &job->copy->nodes);
    caromi_set_uint(&arguments, samples);
    caromi_set_uint(&arguments, samples > 0 ? nodes / samples : 0);
    caromi_set_uint(&arguments, samples > 0 ? nodes % samples : 0);
    set_memory(&arguments, &job->copy->leaves);
    set_memory(&arguments, &job->copy->areas);
    set_memory(&arguments, &job->copy->work);
    CHECK(launch_groups(job, &arguments, 1, err));
    return caromi_read(job->device, job->device->slots[0].queue, job->copy->work, offsetof(refit_work, result), result,
                       sizeof *result, CAROMI_WAIT, NULL, "a refit", err);
}

static carom_status run(const refit_job *job, refit_result *result, carom_error *err)
{
    CHECK(move_vertices(job, err));
    CHECK(measure(job, err));
    CHECK(fill_leaves(job, err));
    CHECK(fill_nodes(job, err));
    return end(job, result, err);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Fails if a result is impossible. */
static carom_status check(const refit_job *job, const refit_result *result, carom_error *err)
{
    int possible = !result->is_refused || (result->triangle < job->mesh->info.triangle_count && result->corner < 3);
    for (int k = 0; k < 3 && !result->is_refused; k++)
        possible &= isfinite(result->lower[k]) && isfinite(result->upper[k]) && result->lower[k] <= result->upper[k];
    return possible ? CAROM_OK
                    : caromi_fail(err, CAROM_ERROR_DEVICE_LOST, CAROMI_NO_NATIVE_CODE,
                                  "%s reports bounds of a mesh that cannot be", job->device->info.name);
}

/* Refits without a probe. */
carom_status caromi_refit_run(refit_job *job, refit_result *result, carom_error *err)
{
    caromi_device *device = job->device;
    CHECK(caromi_upload_mesh(device, job->mesh, err));
    job->copy = job->mesh->device_copies[device->place];
    CHECK(make_memory(device, job->mesh, job->copy, err));
    const carom_status status = run(job, result, err);
    if (status != CAROM_OK) /* commands may still run in the caller's arrays */
        (void)caromi_finish(device, device->slots[0].queue, NULL);
    if (status != CAROM_OK)
        return status;
    CHECK(check(job, result, err));
    if (result->is_refused)
        return CAROM_OK;
    CHECK(caromi_retain_buffer(device, job->to, err));
    caromi_release_buffer(&job->copy->vertices);
    job->copy->vertices = job->to;
    caromi_release_buffer(&job->copy->tables[CAROMI_TABLE_PATCH]);
    job->copy->culling_is_old = ~0u;
    job->copy->corners_are_kept = 0;
    job->copy->space_is_old = 1;
    return CAROM_OK;
}

/* Whether the device refits; and all three arrays are in its memory. */
int caromi_refit_serves(const caromi_device *device, const carom_points *vertices)
{
    return caromi_has_ability(device, CAROMI_REFITS) && device->max_group >= REFIT_GROUP &&
           caromi_is_resident(device, vertices->x) && caromi_is_resident(device, vertices->y) &&
           caromi_is_resident(device, vertices->z);
}

carom_status caromi_device_refit(caromi_device *device, carom_mesh *mesh, const carom_points *vertices,
                                 caromi_device_memory *to, refit_result *result, carom_error *err)
{
    refit_job job = {.device = device,
                     .mesh = mesh,
                     .from = {caromi_resident_at(device, vertices->x), caromi_resident_at(device, vertices->y),
                              caromi_resident_at(device, vertices->z)},
                     .stride = vertices->stride == CAROM_REPEAT ? 0 : vertices->stride,
                     .to = to->memory};
    const carom_status status = caromi_refit_probe(device, mesh->context, err);
    (void)caromi_gives_up_ability(device, CAROMI_REFITS, status);
    CHECK(status);
    return caromi_refit_run(&job, result, err);
}
