/* SPDX-License-Identifier: MIT */
/* The file of --scene: instances of meshes, a row each. */
#ifndef CAROM_CLI_ROWS_SCENE_FILE_H
#define CAROM_CLI_ROWS_SCENE_FILE_H

#include <stddef.h>
#include <stdint.h>

enum { SCENE_MAP = 12 };

typedef struct scene_file {
    char **paths; /* [path_count] of mesh files, each once */
    uint64_t path_count, path_room;
    uint64_t count, room;
    uint32_t *mesh;          /* [count] which path */
    float (*map)[SCENE_MAP]; /* [count] */
    uint32_t *mask;          /* [count]; of all bits without a column */
    int has_velocities;
    float (*velocity)[3]; /* [count]; 0 without columns */
} scene_file;

/* Read a file with at least one instance; `moves`: which may have velocities. Returns an exit status; anything but
 * EXIT_DONE has been explained. scene_file_free in any case. */
int scene_file_read(const char *path, int moves, scene_file *out);
void scene_file_free(scene_file *file);

#endif
