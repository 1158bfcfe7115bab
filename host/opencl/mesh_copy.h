/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_OPENCL_MESH_COPY_H
#define CAROM_HOST_OPENCL_MESH_COPY_H
#include "device.h"
#include "host/mesh/contacts.h"

/* Tables of a mesh for the choice of contacts: positions, rings and lists of host/mesh/edges.h and corners.h. */
enum {
    CAROMI_TABLE_POSITION,
    CAROMI_TABLE_NEXT,
    CAROMI_TABLE_TWINS,
    CAROMI_TABLE_TWIN,
    CAROMI_TABLE_START,
    CAROMI_TABLE_TRIANGLE,
    CAROMI_TABLE_MASK,
    CAROMI_TABLE_PATCH,
    CAROMI_TABLES
};

/* Arrays from which culling data is updated after a refit. */
enum { CAROMI_MOVED_FACES, CAROMI_MOVED_SOURCES, CAROMI_MOVED_ACROSS, CAROMI_MOVED };
enum {
    CAROMI_KEPT_POSITION, /* of vertices */
    CAROMI_KEPT_ENTRIES,  /* REFIT_COUNTS numbers and a hash table of positions */
    CAROMI_KEPT_AROUND,
    CAROMI_KEPT_CONES, /* of all children, as mesh_cone */
    CAROMI_KEPT
};

/* The copy of a mesh on a device. It holds a reference to the device's OpenCL context, so it may outlive the
 * caromi_device, and the address of a context with copies is never reused for a new one. */
typedef struct mesh_copy {
    const carom_context *context;
    cl_context cl;
    cl_mem nodes, leaves, masks, clearance, vertices, indices; /* masks NULL: none */
    cl_mem opposites[2], cones[2]; /* culling data of contacts by kind of query; NULL: not uploaded */
    unsigned culling_is_old;       /* a bit for each kind: the data is that of the vertices before a refit */
    int corners_are_kept;          /* the same vertices coincide as in the tables, after the last refit */
    cl_mem tables[CAROMI_TABLES];  /* NULL: not uploaded */
    uint64_t patches;              /* the serial number of the patches among the tables */
    carom_error lacking;           /* why the upload failed: retrying a large mesh in every batch would be slow */
    /* For refits on the device (refit.c), made by the first one: arrays of its own where it shares the host's memory,
     * nodes by level, areas of their slots, and a refit_work. */
    cl_mem levels, areas, work;
    uint32_t *level_start; /* [level_count + 1] */
    uint32_t level_count;
    /* For the first contacts after one (refit_contacts.c), by kind of query, and of the mesh. */
    cl_mem moved[2][CAROMI_MOVED], kept[CAROMI_KEPT];
    cl_mem marks, distances[2]; /* for the grid of empty space (space.c): a bit and two bytes for each cube */
    int space_is_old;           /* the grid is that of the vertices before a refit */
    cl_mem instances;           /* of a scene: [1 + count] mesh_instance */
    struct scene_places *scene; /* where its meshes lie in nodes, leaves and masks. scene.c */
    uint64_t lacking_places;    /* scene->places when `lacking` was set */
} mesh_copy;

/* The copy on a device; NULL: there is none. */
static inline mesh_copy *caromi_mesh_copy_of(const caromi_device *device, const carom_mesh *mesh)
{
    return mesh->device_copies[device->place];
}
/* Makes memory for the grid of empty space; computes the grid after a refit, unless that is done. space.c */
carom_status caromi_space_make(caromi_device *device, const carom_mesh *mesh, mesh_copy *copy, carom_error *err);
carom_status caromi_space_find(caromi_device *device, const carom_mesh *mesh, carom_error *err);
/* An array of a mesh, to be copied to a device. */
typedef struct mesh_array {
    const char *what;
    void *data;
    uint64_t count;
    size_t size;
    cl_mem *out;
} mesh_array;
/* Copies an array to the device. An empty one still gets a buffer, as a kernel's argument. */
carom_status caromi_copy_array(caromi_device *device, const mesh_array *a, carom_error *err);
/* Copies a scene to the device, as far as it has changed since: its meshes, instances and grid. scene.c */
carom_status caromi_upload_scene(caromi_device *device, carom_mesh *all, carom_error *err);
/* Forgets what the host knows of a scene's copy, whose arrays are released. */
void caromi_scene_places_free(mesh_copy *copy);
/* An empty copy; NULL: there is no memory. Frees its arrays; frees the copy on one device. */
mesh_copy *caromi_mesh_copy_create(const caromi_device *device, const carom_context *context);
void caromi_mesh_copy_empty(mesh_copy *copy);
void caromi_mesh_copy_release(carom_mesh *mesh, uint32_t place);
/* Copies the tables by which contacts are chosen to the device, unless they are there, and patches, if there are any:
 * contacts and its patches may be NULL. mesh_rows_contacts.c */
carom_status caromi_upload_tables(caromi_device *device, carom_mesh *mesh, const caromi_contacts *contacts,
                                  carom_error *err);
/* Frees the culling data and tables of contacts; the culling data for one kind of query alone. */
void caromi_mesh_copy_forget_edges(mesh_copy *copy);
void caromi_mesh_copy_forget_culling(mesh_copy *copy, size_t kind);
#endif
