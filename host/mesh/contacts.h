/* SPDX-License-Identifier: MIT */
/* Contacts of spheres with the surface: the triangles within reach that no other triangle precedes.
 *
 * How contacts are made, in order:
 *
 *   1. contact_calls.c     checks the call; patches.c groups coplanar neighbours, if patches are wanted
 *   2. edges.c, corners.c  tables of the triangles at each edge and corner, which the mesh caches; from them the
 * search's culling data: opposites.c, across.c (neighbours), cones.c (normal cones)
 *   3. list.c              searches a part of the queries, one stage for each task: triangles within reach (broad phase
 *                          and filter in cpu/mesh; on a device opencl/mesh_list.c)
 *   4. contacts.c          caromi_choose_contacts: of one query's triangles, drops each that another one precedes;
 *                          kernels/contact_order.h has the rules, contact_order.c what integers decide of them,
 *                          contact_records.c the records of single triangles; of a scene contact_scene.c first makes
 *                          a small mesh of the query's triangles
 *   5. merge.c             drops contacts close to one that precedes, if merging is wanted
 *   6. stage.c             sorts a query's contacts; then writes all stages behind each other (prefix sum of their
 *                          sizes), with points and normals from a pair kernel
 *   7. match.c             a call of its own: pairs the contacts of two steps of a simulation */
#ifndef CAROM_HOST_MESH_CONTACTS_H
#define CAROM_HOST_MESH_CONTACTS_H
#include "batch.h"
#include "edges.h"

/* The options and patches of a call for contacts, besides its batch. Its tables are the mesh's edges. */
typedef struct caromi_contacts {
    float merge;                     /* merge-within, L */
    caromi_patches patches;          /* if they are wanted */
    caromi_patches *patches_of_mesh; /* the same of each mesh of a scene */
    uint32_t *patch_of_hit;          /* the caller's output column; or NULL */
} caromi_contacts;

/* A thread's memory for the triangles around one sphere. It grows, and never shrinks. */
typedef struct caromi_contact_scratch {
    uint32_t *slot; /* hash table by triangle: number of a record + 1; 0: free */
    uint64_t slots;
    mesh_record *near; /* triangles within `merge` of contact points */
    uint32_t capacity;
    struct caromi_local_mesh *local; /* of scenes; contact_scene.c */
    const mesh_record *ahead, *end;  /* records to prefetch next, of this query and the following ones */
} caromi_contact_scratch;
void caromi_contact_scratch_free(const carom_context *context, caromi_contact_scratch *scratch);
void caromi_local_mesh_free(const carom_context *context, struct caromi_local_mesh *local);

/* Upper bound of the distance of any two points of a mesh. */
double caromi_mesh_extent(const carom_mesh *mesh);

/* Replaces the records of a query's triangles within reach by its contacts, both in any order. A contact's t is its
 * binary32 distance, its state the feature. spare: room for as many records. Returns the number of contacts, -1: no
 * memory. Sets *by_integers to 1 if integers decided anything. */
int64_t caromi_choose_contacts(const carom_context *context, const caromi_mesh_batch *batch,
                               const caromi_contacts *contacts, caromi_contact_scratch *scratch,
                               const caromi_mesh_query *query, mesh_record *records, uint32_t count, mesh_record *spare,
                               uint8_t *by_integers);
/* The same of a scene, of which the records are all triangles within reach. contact_scene.c */
int64_t caromi_choose_in_scene(const carom_context *context, const caromi_mesh_batch *batch,
                               const caromi_contacts *contacts, caromi_contact_scratch *scratch,
                               const caromi_mesh_query *query, mesh_record *records, uint32_t count, mesh_record *spare,
                               uint8_t *by_integers);
#endif
