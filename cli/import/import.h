/* SPDX-License-Identifier: MIT */
/* Triangles from a file: PLY, STL, OBJ, OFF and glTF by readers of our own, everything else by assimp. */
#ifndef CAROM_CLI_IMPORT_IMPORT_H
#define CAROM_CLI_IMPORT_IMPORT_H

#include <stddef.h>
#include <stdint.h>

/* Triangles of one part stand together: parts[0]'s first, then parts[1]'s, and so on. */
typedef struct mesh_part {
    char name[64];
    uint64_t triangle_count;
} mesh_part;

enum { MESH_NOTES = 2048 };

typedef struct mesh_data {
    float *xyz; /* [3 * vertex_count] */
    uint64_t vertex_count;
    uint32_t *indices; /* [3 * triangle_count], each below vertex_count */
    uint64_t triangle_count;
    uint32_t *masks; /* [triangle_count]; NULL: of all bits, as those of a file are */
    mesh_part *parts;
    uint64_t part_count;
    char reader[96];        /* which reader, and of which format */
    char notes[MESH_NOTES]; /* what the import changed, a line each */
    uint64_t dropped_points, dropped_lines, polygons, fans, repeats;
    uint64_t vertex_room, triangle_room, part_room;
} mesh_data;

/* Read `path`, which has at least one triangle. Returns an exit status; anything but EXIT_DONE has been explained and
 * left `out` empty. May start a process, so call it before anything starts threads. */
int mesh_import(const char *path, mesh_data *out);
/* For all later imports: a function that hears now and then how much of a file is parsed, from 0 to 1; none of those
 * that assimp reads. It is called often, and looks at the clock itself. */
void mesh_import_tell(void (*tell)(double share));
/* For all later imports: a function that is asked about each file that a mesh file names, by its path. It returns
 * EXIT_DONE, or another exit status if the file must not be read, and has explained that. */
void mesh_import_ask(int (*may_read)(const char *path));
void mesh_free(mesh_data *mesh);

#endif
