/* SPDX-License-Identifier: MIT */
#include "contact_records.h"

#include <string.h>

enum { TABLE_FROM = 9 }; /* least number of records that get a hash table */

void caromi_contact_scratch_free(const carom_context *context, caromi_contact_scratch *scratch)
{
    caromi_free(context, scratch->slot);
    caromi_free(context, scratch->near);
    caromi_local_mesh_free(context, scratch->local);
}

static uint64_t slot_of(const caromi_chooser *chooser, int32_t triangle)
{
    return ((uint64_t)(uint32_t)triangle * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & chooser->mask;
}

/* Enters the records into the hash table, if there are many. */
int caromi_records_fill(caromi_chooser *chooser)
{
    caromi_contact_scratch *scratch = chooser->scratch;
    uint64_t size = 16;
    if (chooser->count < TABLE_FROM)
        return 1;
    while (size < 2 * (uint64_t)chooser->count)
        size *= 2;
    /* The table is reused for the next sphere, and enlarged if necessary. */
    if (size > scratch->slots) {
        caromi_free(chooser->context, scratch->slot);
        scratch->slots = 0;
        scratch->slot = caromi_alloc(chooser->context, size, sizeof *scratch->slot);
        if (scratch->slot == NULL)
            return 0;
        scratch->slots = size;
    }
    chooser->mask = size - 1;
    memset(scratch->slot, 0, size * sizeof *scratch->slot);
    for (uint32_t i = 0; i < chooser->count; i++) {
        uint64_t at = slot_of(chooser, chooser->records[i].triangle);
        while (scratch->slot[at] != 0)
            at = (at + 1) & chooser->mask;
        scratch->slot[at] = i + 1;
    }
    return 1;
}

/* Fills the inputs of a pair kernel for a centre and a triangle. */
void caromi_chooser_pair(const caromi_chooser *chooser, const float *center, int32_t triangle, float in[IN_CLOSEST])
{
    memcpy(in + IN_NCX, center, 3 * sizeof *in);
    for (int k = 0; k < 3; k++)
        memcpy(in + IN_NP0X + 3 * k, caromi_corner(chooser->batch->mesh, (uint32_t)triangle, k), 3 * sizeof *in);
}

/* Decides feature and distance of a record in integers. */
void caromi_chooser_resolve(const caromi_chooser *c, mesh_record *record)
{
    float in[IN_CLOSEST];
    caromi_exact_closest a;
    caromi_chooser_pair(c, c->query->in, record->triangle, in);
    caromi_exact_closest_of(in, &a);
    record->t = a.distance;
    record->state = a.feature;
    *c->by_integers = 1;
}

/* Looks up the record of a triangle; NULL: the search has not found it. */
const mesh_record *caromi_known_record(const caromi_chooser *chooser, uint32_t triangle)
{
    const uint32_t *slot = chooser->scratch->slot;
    for (uint32_t i = 0; chooser->count < TABLE_FROM && i < chooser->count; i++)
        if (chooser->records[i].triangle == (int32_t)triangle)
            return &chooser->records[i];
    for (uint64_t at = slot_of(chooser, (int32_t)triangle); chooser->count >= TABLE_FROM && slot[at] != 0;
         at = (at + 1) & chooser->mask)
        if (chooser->records[slot[at] - 1].triangle == (int32_t)triangle)
            return &chooser->records[slot[at] - 1];
    return NULL;
}

int caromi_chooser_counts(const caromi_chooser *chooser, uint32_t triangle)
{
    return contact_counts(&chooser->mesh, &chooser->sphere, triangle);
}

/* Computes the record of a triangle that has none. */
void caromi_compute_record(const caromi_chooser *chooser, uint32_t triangle, mesh_record *out)
{
    const closest_in pair = contact_pair(&chooser->mesh, chooser->sphere.center, triangle);
    *out = contact_record_of(chooser->mesh.frame, pair, triangle, chooser->batch->exact);
    if (chooser->batch->exact && out->state == FEATURE_NONE)
        caromi_chooser_resolve(chooser, out);
}

/* The known record of a triangle, or else a computed one. */
void caromi_find_record(const caromi_chooser *chooser, uint32_t triangle, mesh_record *out)
{
    const mesh_record *known = caromi_known_record(chooser, triangle);
    if (known != NULL)
        *out = *known;
    else
        caromi_compute_record(chooser, triangle, out);
}
