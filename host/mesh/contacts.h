/* SPDX-License-Identifier: MIT */
/* Contacts of spheres with the surface: those of the triangles within reach that no other triangle precedes. */
#ifndef CAROM_HOST_MESH_CONTACTS_H
#define CAROM_HOST_MESH_CONTACTS_H
#include "batch.h"
#include "edges.h"

/* What a call asks for besides its batch. */
typedef struct caromi_contacts {
    const caromi_edges *edges;
    float merge;            /* merge-within, L */
    const uint32_t *patch;  /* of each triangle; or NULL */
    uint32_t *patch_of_hit; /* the caller's column; or NULL */
} caromi_contacts;

/* A thread's memory for the triangles around one sphere. It grows, and never shrinks. */
typedef struct caromi_contact_scratch {
    uint32_t *slot; /* hash table of triangles: a record + 1; 0 is free */
    uint64_t slots;
    mesh_record *near; /* triangles near to contact points */
    uint32_t room;
    const mesh_record *ahead, *end; /* records whose choice is prefetched next, those of further queries too */
} caromi_contact_scratch;
void caromi_contact_scratch_free(const carom_context *context, caromi_contact_scratch *scratch);

/* The records of a query's triangles within reach, in any order, become its contacts, in any order; t is then the
 * binary32 distance and state the feature. spare: room for as many records. Returns how many there are, -1 without
 * memory; sets *by_integers to 1 if these decided something. */
int64_t caromi_choose_contacts(const carom_context *context, const caromi_mesh_batch *batch,
                               const caromi_contacts *contacts, caromi_contact_scratch *scratch,
                               const caromi_mesh_query *query, mesh_record *records, uint32_t count, mesh_record *spare,
                               uint8_t *by_integers);
#endif
