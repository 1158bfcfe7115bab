/* SPDX-License-Identifier: MIT */
#include "mesh.h"

#include "cli/probe/probe.h"
#include "cli/rows/scene_merge.h"

#include <math.h>
#include <stdio.h>

static void find_bounds(bake_mesh *mesh)
{
    const mesh_data *data = &mesh->data;
    for (int k = 0; k < 3; k++) {
        mesh->lower[k] = INFINITY;
        mesh->upper[k] = -INFINITY;
    }
    for (uint64_t i = 0; i < 3 * data->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            const float x = data->xyz[3 * (uint64_t)data->indices[i] + (uint64_t)k];
            mesh->lower[k] = x < mesh->lower[k] ? x : mesh->lower[k];
            mesh->upper[k] = x > mesh->upper[k] ? x : mesh->upper[k];
        }
}

/* In the library's words. It refuses the mesh too, but when bounds have placed the nodes. */
static int check_corners(const bake_mesh *mesh)
{
    const mesh_data *data = &mesh->data;
    for (uint64_t i = 0; i < 3 * data->triangle_count; i++) {
        const float *at = data->xyz + 3 * (uint64_t)data->indices[i];
        if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]))
            return cli_refuse(EXIT_USAGE, "%s: triangle %llu, corner %d: vertex %u has a coordinate that is not finite",
                              mesh->path, (unsigned long long)(i / 3), (int)(i % 3), data->indices[i]);
    }
    return EXIT_DONE;
}

int bake_mesh_named(const bake_request *options)
{
    const char *command = options->common.command->name;
    if (options->mesh && options->scene)
        return cli_refuse(EXIT_USAGE, "%s: --mesh and --scene exclude each other", command);
    if (options->more_mesh_count > 0) /* of volumes they go to a folder */
        return cli_refuse(EXIT_USAGE, "%s: takes one mesh, and --mesh names %d", command, options->more_mesh_count + 1);
    return options->mesh || options->scene
               ? EXIT_DONE
               : cli_refuse(EXIT_USAGE, "%s: --mesh FILE or --scene FILE is missing", command);
}

int bake_mesh_read(const bake_request *options, bake_mesh *out)
{
    *out = (bake_mesh){.shared = out->shared, .path = options->scene ? options->scene : options->mesh};
    int status = options->scene ? scene_merge(&options->common, options->scene, options->bake.max_memory, &out->data)
                                : mesh_import(options->mesh, &out->data);
    if (status == EXIT_DONE)
        status = check_corners(out);
    if (status == EXIT_DONE)
        find_bounds(out);
    return status;
}

void bake_mesh_name(const bake_mesh *mesh, char name[BAKE_NAME])
{
    const mesh_data *data = &mesh->data;
    const uint64_t corners = bake_checksum(data->xyz, (size_t)data->vertex_count * 3 * sizeof(float), 0);
    uint64_t hash = bake_checksum(data->indices, (size_t)data->triangle_count * 3 * sizeof(uint32_t), corners);
    if (data->masks)
        hash = bake_checksum(data->masks, (size_t)data->triangle_count * sizeof(uint32_t), hash);
    snprintf(name, BAKE_NAME, "%016llx:%llu", (unsigned long long)hash, (unsigned long long)data->triangle_count);
}

/* Nodes of a call for which `auto` takes a device, if the whole bake is worth one. */
enum { FROM_NODES = 1 << 14 };

static uint64_t auto_from(const bake_request *options, uint64_t nodes)
{
    return nodes >= CAROM_AUTO_MIN_QUERIES ? FROM_NODES : options->common.auto_from;
}

/* With the device that it tries first, in another process. */
static int open_context(const bake_request *options, uint64_t nodes, carom_context **context)
{
    cli_options usable = options->common;
    usable.auto_from = auto_from(options, nodes);
    const int status = probe_before_rows(&usable, NULL, 0, nodes);
    return status == EXIT_DONE ? cli_context_open(&usable, context) : status;
}

/* A mesh that is large enough for a device has another context than one that is not. */
int bake_shared_open(const bake_request *options, uint64_t nodes, bake_shared *shared)
{
    int status = EXIT_DONE;
    if (shared->context && options->common.backend == CAROM_BACKEND_AUTO &&
        shared->auto_from != auto_from(options, nodes)) {
        carom_context_destroy(shared->context);
        shared->context = NULL;
    }
    shared->auto_from = auto_from(options, nodes);
    if (!shared->context)
        status = open_context(options, nodes, &shared->context);
    return status;
}

int bake_mesh_open(const bake_request *options, uint64_t nodes, bake_mesh *mesh)
{
    const int status =
        mesh->shared ? bake_shared_open(options, nodes, mesh->shared) : open_context(options, nodes, &mesh->context);
    if (mesh->shared)
        mesh->context = mesh->shared->context;
    return status == EXIT_DONE ? cli_mesh_make(mesh->context, mesh->path, &mesh->data, &mesh->mesh) : status;
}

int bake_mesh_bytes(const bake_mesh *mesh, uint64_t *bytes)
{
    carom_mesh_info info = {.size = sizeof info};
    carom_error err = {0};
    const carom_status status = carom_mesh_get_info(mesh->mesh, &info, &err);
    if (status != CAROM_OK)
        return cli_library_error(mesh->path, status, &err);
    *bytes = 12 * (mesh->data.vertex_count + mesh->data.triangle_count) + info.bytes;
    *bytes += mesh->data.masks ? mesh->data.triangle_count * sizeof *mesh->data.masks : 0;
    return EXIT_DONE;
}

void bake_mesh_free(bake_mesh *mesh)
{
    carom_mesh_destroy(mesh->mesh);
    if (!mesh->shared)
        carom_context_destroy(mesh->context);
    mesh_free(&mesh->data);
}

/* Progress ends a call where it is enough for now. */
int bake_mesh_ask(const bake_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats)
{
    *stats = (carom_stats){.size = sizeof *stats};
    carom_error err = {0};
    const carom_status status = q->plan->kind->ask(mesh->mesh, q, to, stats, &err);
    if (status == CAROM_OK || status == CAROM_ERROR_CANCELLED)
        return status == CAROM_OK ? EXIT_DONE : EXIT_STOPPED;
    return cli_library_error(mesh->path, status, &err);
}
