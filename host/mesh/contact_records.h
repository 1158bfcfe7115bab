/* SPDX-License-Identifier: MIT */
/* The triangles within reach of one sphere, by their numbers: what contacts are chosen from. */
#ifndef CAROM_HOST_MESH_CONTACT_RECORDS_H
#define CAROM_HOST_MESH_CONTACT_RECORDS_H
#include "contacts.h"

#include "cpu/exact/exact.h"

/* One sphere whose contacts are chosen. */
typedef struct caromi_chooser {
    const carom_context *context;
    const caromi_mesh_batch *batch;
    const caromi_contacts *contacts;
    caromi_contact_scratch *scratch;
    const caromi_mesh_query *query;
    mesh_record *records; /* of the triangles within reach that the search has not left out */
    uint32_t count;
    uint64_t mask; /* of the hash table */
    double extent; /* no two points of the mesh are farther apart */
    uint8_t *by_integers;
    int is_unsure; /* a record would have to be computed */
} caromi_chooser;

/* Makes the hash table, where there are many records; 0: no memory. */
int caromi_records_fill(caromi_chooser *c);
/* NULL: it has none. */
const mesh_record *caromi_known_record(const caromi_chooser *c, uint32_t triangle);
/* That of a triangle that the search has left out. */
void caromi_compute_record(const caromi_chooser *c, uint32_t triangle, mesh_record *out);
/* Either of them. */
void caromi_find_record(const caromi_chooser *c, uint32_t triangle, mesh_record *out);
/* Decides feature and distance in integers. */
void caromi_chooser_settle(const caromi_chooser *c, mesh_record *r);

/* Whether j comes before k, which is within reach, in the order (distance, index). contact_order.c */
int caromi_comes_before(const caromi_chooser *c, const mesh_record *j, const mesh_record *k);
/* The same for a j that has k's closest feature. */
int caromi_precedes(const caromi_chooser *c, const mesh_record *j, const mesh_record *k);
/* Up to which binary32 distance a triangle may come before k. */
float caromi_before_limit(const caromi_chooser *c, const mesh_record *k);

/* Whether the triangle counts for the query. */
int caromi_chooser_counts(const caromi_chooser *c, uint32_t triangle);
/* The row of a pair kernel. */
void caromi_chooser_pair(const caromi_chooser *c, const float *center, int32_t triangle, float in[IN_CLOSEST]);

/* Exact mode: whether the true distance of the triangle from the centre, t to the nearest binary32, is <= radius +
 * more. */
int caromi_is_within(const caromi_chooser *c, const float *center, int32_t triangle, float t, float radius, float more);
/* Leaves out the contacts that a triangle near to their reported point precedes. Returns how many are left, -1 without
 * memory. merge.c */
int64_t caromi_merge_contacts(const caromi_chooser *c, mesh_record *contacts, uint32_t count);
#endif
