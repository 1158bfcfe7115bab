/* SPDX-License-Identifier: MIT */
#include "scene_merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/base.h"
#include "cli/import/place.h"
#include "cli/import/reader.h"

/* ---- the mesh files ---------------------------------------------------------------------------------------------- */

int scene_data_read(const cli_options *options, const scene_file *file, scene_data *out)
{
    int status = EXIT_DONE;
    *out = (scene_data){.meshes = cli_alloc(file->path_count, sizeof *out->meshes)};
    if (!out->meshes)
        return cli_no_memory();
    for (uint64_t i = 0; i < file->path_count && status == EXIT_DONE; i++) {
        status = cli_check_named_input(options, file->paths[i]);
        if (status == EXIT_DONE)
            status = mesh_import(file->paths[i], &out->meshes[i]);
        out->count += status == EXIT_DONE;
    }
    return status;
}

void scene_data_free(scene_data *data)
{
    for (uint64_t i = 0; i < data->count; i++)
        mesh_free(&data->meshes[i]);
    free(data->meshes);
    *data = (scene_data){NULL, 0};
}

/* ---- the merged mesh --------------------------------------------------------------------------------------------- */

static int has_masks(const scene_file *file)
{
    for (uint64_t i = 0; i < file->count; i++)
        if (file->mask[i] != UINT32_MAX)
            return 1;
    return 0;
}

/* Memory for all instances; both numbers are what an index of 32 bits counts. */
static int reserve(const char *path, const scene_file *file, const scene_data *data, uint64_t most, mesh_data *out)
{
    uint64_t triangles = 0, vertices = 0;
    for (uint64_t i = 0; i < file->count; i++) {
        triangles += data->meshes[file->mesh[i]].triangle_count;
        vertices += data->meshes[file->mesh[i]].vertex_count;
    }
    if (triangles > INT32_MAX)
        return cli_refuse(EXIT_USAGE, "%s: the instances have %llu triangles together; at most 2^31 - 1", path,
                          (unsigned long long)triangles);
    if (vertices > UINT32_MAX)
        return cli_refuse(EXIT_USAGE, "%s: the instances have %llu vertices together; at most 2^32 - 1", path,
                          (unsigned long long)vertices);
    const uint64_t bytes = 12 * (vertices + triangles) + (has_masks(file) ? 4 * triangles : 0);
    if (bytes > most)
        return cli_refuse(EXIT_USAGE, "--max-memory %llu: %llu bytes are needed for the merged mesh of %s alone",
                          (unsigned long long)most, (unsigned long long)bytes, path);
    out->masks = has_masks(file) ? cli_alloc(triangles + 1, sizeof *out->masks) : NULL;
    if (has_masks(file) && !out->masks)
        return cli_no_memory();
    return mesh_reserve(out, vertices, triangles, 0) ? EXIT_DONE : cli_no_memory();
}

static mesh_matrix matrix_of(const float map[SCENE_MAP])
{
    mesh_matrix matrix;
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 4; k++)
            matrix.m[row][k] = (double)map[4 * row + k];
    return matrix;
}

/* Also the identity is applied: it changes -0 to +0, as the library's map does. */
static void add_instance(const mesh_data *mesh, const mesh_matrix *matrix, uint32_t mask, mesh_data *out)
{
    const uint64_t first = out->triangle_count, base = out->vertex_count;
    for (uint64_t i = 0; i < mesh->vertex_count; i++) {
        const float *from = mesh->xyz + 3 * i;
        const double at[3] = {(double)from[0], (double)from[1], (double)from[2]};
        mesh_matrix_apply(matrix, 0, at, out->xyz + 3 * (base + i));
    }
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
        out->indices[3 * first + i] = (uint32_t)base + mesh->indices[i];
    for (uint64_t t = 0; out->masks && t < mesh->triangle_count; t++)
        out->masks[first + t] = mask;
    out->vertex_count += mesh->vertex_count;
    out->triangle_count += mesh->triangle_count;
    mesh_placed_turn(matrix, out, first);
}

/* The corners of an instance, which has been added last. */
static int check_corners(const char *path, uint64_t instance, const mesh_data *mesh, const mesh_data *out)
{
    const uint64_t base = out->vertex_count - mesh->vertex_count;
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++) {
        const float *at = out->xyz + 3 * (base + mesh->indices[i]);
        if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]))
            return cli_refuse(EXIT_USAGE, "%s: instance %llu: vertex %u is not finite in the world", path,
                              (unsigned long long)instance, mesh->indices[i]);
    }
    return EXIT_DONE;
}

int scene_merge_data(const char *path, const scene_file *file, const scene_data *data, uint64_t most, mesh_data *out)
{
    int status = reserve(path, file, data, most, out);
    for (uint64_t i = 0; i < file->count && status == EXIT_DONE; i++) {
        const mesh_data *mesh = &data->meshes[file->mesh[i]];
        const mesh_matrix matrix = matrix_of(file->map[i]);
        add_instance(mesh, &matrix, file->mask[i], out);
        status = check_corners(path, i, mesh, out);
    }
    return status;
}

int scene_merge(const cli_options *options, const char *path, uint64_t most, mesh_data *out)
{
    scene_file file;
    scene_data data = {NULL, 0};
    *out = (mesh_data){.xyz = NULL};
    int status = scene_file_read(path, 0, &file);
    if (status == EXIT_DONE)
        status = scene_data_read(options, &file, &data);
    if (status == EXIT_DONE)
        status = scene_merge_data(path, &file, &data, most, out);
    scene_data_free(&data);
    scene_file_free(&file);
    return status;
}
