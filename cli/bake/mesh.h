/* SPDX-License-Identifier: MIT */
/* The mesh of a bake, and the library's answers about it. */
#ifndef CAROM_CLI_BAKE_MESH_H
#define CAROM_CLI_BAKE_MESH_H

#include "bake.h"
#include "cli/import/import.h"

/* A context for one mesh after another; all 0 at the beginning, destroyed by its owner. */
typedef struct bake_shared {
    carom_context *context;
    uint64_t auto_from; /* of its description */
} bake_shared;

typedef struct bake_mesh {
    bake_shared *shared; /* whose the context is; NULL: it is the mesh's own */
    const char *path;    /* of --mesh or --scene */
    mesh_data data;
    float lower[3], upper[3]; /* of used vertices */
    carom_context *context;
    carom_mesh *mesh;
} bake_mesh;

/* Refuse a command line without --mesh and --scene, and one with both. */
int bake_mesh_named(const bake_request *options);
/* Read the file: the mesh, or the merged mesh of the scene. Returns an exit status with the message printed;
 * bake_mesh_free in any case. */
int bake_mesh_read(const bake_request *options, bake_mesh *out);
/* The context for so many nodes, if it is not there already. */
int bake_shared_open(const bake_request *options, uint64_t nodes, bake_shared *shared);
/* Hash and counts of its content. A scene has the name of a mesh with the same arrays. */
void bake_mesh_name(const bake_mesh *mesh, char name[BAKE_NAME]);
/* Context and hierarchy. `nodes`: how many are going to be asked for. */
int bake_mesh_open(const bake_request *options, uint64_t nodes, bake_mesh *mesh);
/* Bytes of memory: as read, and in the hierarchy. Returns an exit status with the message printed. */
int bake_mesh_bytes(const bake_mesh *mesh, uint64_t *bytes);
void bake_mesh_free(bake_mesh *mesh);

/* A box of the plan's lattice, in an accuracy that may be another than the plan's. Returns an exit status with the
 * message printed. */
typedef struct bake_question {
    const bake_plan *plan;
    carom_accuracy accuracy;
    int allow_open;
    carom_lattice box;
    uint64_t first;          /* its layers from there on */
    int only_checks;         /* whether the question may be asked; it is not answered */
    int only_prepares;       /* it is not answered, but its programs are built */
    carom_progress progress; /* ends a question with EXIT_STOPPED: layers that were reported are answered */
} bake_question;
int bake_mesh_ask(const bake_mesh *mesh, const bake_question *question, const bake_slab *to, carom_stats *stats);
/* Prepare volumes of a kind with these arrays, a bit for each, of any mesh, in a process that tries a device. */
int bake_prepare_volume(const bake_request *options, const bake_kind *kind, uint32_t arrays, carom_accuracy accuracy);

#endif
