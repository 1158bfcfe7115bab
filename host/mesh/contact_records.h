/* SPDX-License-Identifier: MIT */
/* The triangles within reach of one sphere, with their closest points: the candidates from which contacts are chosen.
 */
#ifndef CAROM_HOST_MESH_CONTACT_RECORDS_H
#define CAROM_HOST_MESH_CONTACT_RECORDS_H
#define LANES 1
#include "kernels/contact_order.h"

#include "contacts.h"

#include "cpu/exact/exact.h"

/* The work of choosing one sphere's contacts. */
typedef struct caromi_chooser {
    const carom_context *context;
    const caromi_mesh_batch *batch;
    const caromi_contacts *contacts;
    caromi_contact_scratch *scratch;
    const caromi_mesh_query *query;
    mesh_record *records; /* the triangles within reach that the search has not culled */
    uint32_t count;
    uint64_t mask; /* slots of the hash table - 1 */
    contact_mesh mesh;
    contact_sphere sphere;
    uint8_t *by_integers;
    int is_uncertain; /* set if a decision needs a record that is not computed yet */
} caromi_chooser;

/* Makes the hash table if there are many records. Returns 0 if there is no memory. */
int caromi_records_fill(caromi_chooser *c);
/* The record of a triangle; NULL: it has none, as it is out of reach or the search has culled it. */
const mesh_record *caromi_known_record(const caromi_chooser *c, uint32_t triangle);
/* Computes the record of a triangle that has none. */
void caromi_compute_record(const caromi_chooser *c, uint32_t triangle, mesh_record *out);
/* The known record of a triangle, or else a computed one. */
void caromi_find_record(const caromi_chooser *c, uint32_t triangle, mesh_record *out);
/* Decides feature and distance of a record in integers. */
void caromi_chooser_resolve(const caromi_chooser *c, mesh_record *r);

/* Whether j comes before k, which is within reach, in the order (distance, index). contact_order.c */
int caromi_comes_before(const caromi_chooser *c, const mesh_record *j, const mesh_record *k);
/* The same for a triangle j that has k's closest feature. */
int caromi_precedes(const caromi_chooser *c, const mesh_record *j, const mesh_record *k);
/* The largest binary32 distance at which a triangle may come before k. */
float caromi_before_limit(const caromi_chooser *c, const mesh_record *k);

/* Whether the query's mask includes the triangle. */
int caromi_chooser_counts(const caromi_chooser *c, uint32_t triangle);
/* Fills the inputs of a pair kernel for a centre and a triangle. */
void caromi_chooser_pair(const caromi_chooser *c, const float *center, int32_t triangle, float in[IN_CLOSEST]);

/* Exact mode: whether the true distance of the triangle from the centre is <= radius + more. t: that distance rounded
 * to binary32. */
int caromi_is_within(const caromi_chooser *c, const float *center, int32_t triangle, float t, float radius, float more);
/* Compaction: drops each contact that is preceded by a triangle within `merge` of its reported point. Returns the
 * number of contacts left; -1: no memory. merge.c */
int64_t caromi_merge_contacts(const caromi_chooser *c, mesh_record *contacts, uint32_t count);
#endif
