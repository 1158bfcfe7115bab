/* SPDX-License-Identifier: MIT */
/* What the triangles of a mesh get from all rows of an answer (--mesh-columns), as a .vtp file beside the rows. */
#ifndef CAROM_CLI_ROWS_MESH_COLUMNS_H
#define CAROM_CLI_ROWS_MESH_COLUMNS_H

#include "rows.h"
#include "scene_source.h"

typedef struct mesh_columns {
    const char *path;
    const mesh_data *data;
    const uint64_t *first;         /* of a scene: the first triangle of each instance; NULL: of a mesh */
    int triangle, instance, value; /* fields of the rows; the value is a time or a depth */
    int is_contacts;
    uint64_t *count; /* [triangles] rows */
    float *least;    /* of hits: the least time; NaN: none */
    double *sum;     /* of contacts: of all depths above 0 */
    output out;
    int is_open;
} mesh_columns;

#define CLI_MESH_COLUMNS(type, what, of)                                                                        \
    {                                                                                                           \
        "mesh-columns", "FILE", "the mesh with " what " of each triangle" of ", to a .vtp file", cli_read_name, \
            offsetof(type, mesh_columns), 0, CLI_WRITES                                                         \
    }

/* Refuses a file of another suffix and rows without triangles. Returns an exit status, as the others. */
int mesh_columns_check(const char *path, const rows_query *query);
/* The columns of no rows. mesh_columns_close in any case. */
int mesh_columns_open(mesh_columns *c, const rows_query *query);
/* Add rows, in the order of the output: sums depend on it. */
void mesh_columns_add(mesh_columns *c, const rows_field *fields, uint64_t count);
/* Write the file beside its place, where mesh_columns_close puts it. */
int mesh_columns_write(mesh_columns *c);
/* If `status` is not EXIT_DONE, throw the file away. */
int mesh_columns_close(mesh_columns *c, int status);

/* The triangles of a scene, all in the world, and the first of each instance: see scene_merge_data. */
typedef struct mesh_columns_scene {
    mesh_data data;
    uint64_t *first;
} mesh_columns_scene;
/* `scene` outlives c. mesh_columns_scene_free in any case. */
int mesh_columns_scene_make(mesh_columns *c, mesh_columns_scene *scene, const scene_source *source);
void mesh_columns_scene_free(mesh_columns_scene *scene);

#endif
