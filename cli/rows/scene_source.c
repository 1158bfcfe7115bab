/* SPDX-License-Identifier: MIT */
#include "scene_source.h"

#include <stdlib.h>

int scene_source_read(const cli_options *options, const char *path, scene_source *out)
{
    *out = (scene_source){.path = path};
    const int status = scene_file_read(path, 1, &out->file);
    if (status != EXIT_DONE)
        return status;
    out->mesh = cli_alloc(out->file.path_count, sizeof(carom_mesh *));
    if (!out->mesh)
        return cli_no_memory();
    for (uint64_t i = 0; i < out->file.path_count; i++)
        out->mesh[i] = NULL;
    return scene_data_read(options, &out->file, &out->data);
}

int scene_source_make(scene_source *source, carom_context *context)
{
    const scene_file *file = &source->file;
    carom_error err = {0};
    for (uint64_t i = 0; i < source->data.count; i++) {
        const int made = cli_mesh_make(context, file->paths[i], &source->data.meshes[i], &source->mesh[i]);
        if (made != EXIT_DONE)
            return made;
    }
    const carom_scene_desc desc = {.size = sizeof desc,
                                   .meshes = source->mesh,
                                   .mesh_count = source->data.count,
                                   .mesh = carom_uints_of(file->mesh),
                                   .instance_count = file->count,
                                   .pose = {.size = sizeof desc.pose,
                                            .map = file->map[0],
                                            .masks = carom_uints_of(file->mask),
                                            .velocity = carom_xyz(file->velocity[0])}};
    const carom_status status = carom_scene_create(context, &desc, &source->scene, &err);
    return status == CAROM_OK ? EXIT_DONE : cli_library_error(source->path, status, &err);
}

/* The scene keeps its meshes alive, so it goes first. */
void scene_source_free(scene_source *source)
{
    carom_scene_destroy(source->scene);
    for (uint64_t i = 0; i < source->data.count; i++)
        carom_mesh_destroy(source->mesh[i]);
    free(source->mesh);
    scene_data_free(&source->data);
    scene_file_free(&source->file);
    *source = (scene_source){.path = NULL};
}
