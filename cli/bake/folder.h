/* SPDX-License-Identifier: MIT */
/* Many meshes, each into files of its own in one folder. What can be known without reading a mesh is checked for all of
 * them first; then one after another is baked, and one that fails does not keep the others. */
#ifndef CAROM_CLI_BAKE_FOLDER_H
#define CAROM_CLI_BAKE_FOLDER_H

#include "mesh.h"

/* Does the command line name several meshes, or a folder? */
int bake_folder_is_meant(const bake_request *options);
/* Returns an exit status with the message printed. */
int bake_folder(const bake_request *options, const bake_kind *kind);

/* volume.c: one mesh into one output or several. shared: NULL, or the context of meshes before. is_current: NULL, or
 * set to 1 if an earlier run did all, as the fingerprints of the outputs say; then nothing is read of them. Returns an
 * exit status with the message printed. */
int bake_one_mesh(const bake_request *options, const bake_kind *kind, bake_shared *shared, int *is_current);

/* folder_list.c: the meshes and where they go. */
typedef struct bake_job {
    char *mesh, *stem; /* the stem: of its outputs, in the folder */
    uint64_t line;     /* of the list that names the mesh; 0: the command line does */
    int has_failed;
} bake_job;

typedef struct bake_jobs {
    bake_job *at;
    uint64_t count, room;
    const char *list; /* as messages name it */
} bake_jobs;

/* Meshes of the command line, then of the list. */
int bake_jobs_read(bake_jobs *jobs, const bake_request *options);
/* Are all files there, do their outputs have names of their own, and is none of these an input? */
int bake_jobs_check(const bake_jobs *jobs, const bake_request *options);
/* The output of that format, to be freed; NULL without memory. */
char *bake_job_output(const bake_job *job, const char *folder, const bake_format *format);
void bake_jobs_free(bake_jobs *jobs);

#endif
