/* SPDX-License-Identifier: MIT */
/* The scene that a file names: first the meshes as their files have them, then the scene in the library. */
#ifndef CAROM_CLI_ROWS_SCENE_SOURCE_H
#define CAROM_CLI_ROWS_SCENE_SOURCE_H

#include "cli/command/command.h"
#include "scene_merge.h"

typedef struct scene_source {
    const char *path;
    scene_file file;
    scene_data data;
    carom_mesh **mesh; /* [file.path_count]; NULL where none is made yet */
    carom_scene *scene;
} scene_source;

/* Read the scene's file and its mesh files, before anything starts threads. Returns an exit status; anything but
 * EXIT_DONE has been explained. scene_source_free in any case, before the context is destroyed. */
int scene_source_read(const cli_options *options, const char *path, scene_source *out);
/* Make the meshes and the scene. Returns as above. */
int scene_source_make(scene_source *source, carom_context *context);
void scene_source_free(scene_source *source);

#endif
