/* SPDX-License-Identifier: MIT */
/* The meshes of a scene's file, and the mesh of all its triangles in the world. */
#ifndef CAROM_CLI_ROWS_SCENE_MERGE_H
#define CAROM_CLI_ROWS_SCENE_MERGE_H

#include "cli/command/command.h"
#include "cli/import/import.h"
#include "scene_file.h"

typedef struct scene_data {
    mesh_data *meshes; /* [count] of the file's paths */
    uint64_t count;
} scene_data;

/* Read the mesh files, none of which may be an output of the command. Returns an exit status; anything but EXIT_DONE
 * has been explained. Readers may start processes, so call it before anything starts threads. scene_data_free in any
 * case.
 */
int scene_data_read(const cli_options *options, const scene_file *file, scene_data *out);
void scene_data_free(scene_data *data);

/* Read a scene as its merged mesh: the triangles of all instances in the world, in the file's order, each with its
 * instance's mask if one has a mask. docs/scenes.md, section 1, has the arithmetic. Returns as mesh_import does, and
 * refuses more than 2^31 - 1 triangles, more than `most` bytes (--max-memory) and corners that are not finite.
 * mesh_free in any case. */
int scene_merge(const cli_options *options, const char *path, uint64_t most, mesh_data *out);
/* The same of meshes that are in memory; path: that of the scene, for messages. Velocities do not count. */
int scene_merge_data(const char *path, const scene_file *file, const scene_data *data, uint64_t most, mesh_data *out);

#endif
