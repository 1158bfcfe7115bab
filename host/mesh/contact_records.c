/* SPDX-License-Identifier: MIT */
#include "contact_records.h"

#include <string.h>

enum { TABLE_FROM = 9 }; /* least number of records that get a hash table */

void caromi_contact_scratch_free(const carom_context *context, caromi_contact_scratch *scratch)
{
    caromi_free(context, scratch->slot);
    caromi_free(context, scratch->near);
}

static uint64_t slot_of(const caromi_chooser *c, int32_t triangle)
{
    return ((uint64_t)(uint32_t)triangle * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & c->mask;
}

int caromi_records_fill(caromi_chooser *c)
{
    caromi_contact_scratch *s = c->scratch;
    uint64_t size = 16;
    if (c->count < TABLE_FROM)
        return 1;
    while (size < 2 * (uint64_t)c->count)
        size *= 2;
    if (size > s->slots) {
        caromi_free(c->context, s->slot);
        s->slots = 0;
        s->slot = caromi_alloc(c->context, size, sizeof *s->slot);
        if (s->slot == NULL)
            return 0;
        s->slots = size;
    }
    c->mask = size - 1;
    memset(s->slot, 0, size * sizeof *s->slot);
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t at = slot_of(c, c->records[i].triangle);
        while (s->slot[at] != 0)
            at = (at + 1) & c->mask;
        s->slot[at] = i + 1;
    }
    return 1;
}

void caromi_chooser_pair(const caromi_chooser *c, const float *center, int32_t triangle, float in[IN_CLOSEST])
{
    memcpy(in + IN_NCX, center, 3 * sizeof *in);
    for (int k = 0; k < 3; k++)
        memcpy(in + IN_NP0X + 3 * k, caromi_corner(c->batch->mesh, (uint32_t)triangle, k), 3 * sizeof *in);
}

void caromi_chooser_resolve(const caromi_chooser *c, mesh_record *r)
{
    float in[IN_CLOSEST];
    caromi_exact_closest a;
    caromi_chooser_pair(c, c->query->in, r->triangle, in);
    caromi_exact_closest_of(in, &a);
    r->t = a.distance;
    r->state = a.feature;
    *c->by_integers = 1;
}

const mesh_record *caromi_known_record(const caromi_chooser *c, uint32_t triangle)
{
    const uint32_t *slot = c->scratch->slot;
    for (uint32_t i = 0; c->count < TABLE_FROM && i < c->count; i++)
        if (c->records[i].triangle == (int32_t)triangle)
            return &c->records[i];
    for (uint64_t at = slot_of(c, (int32_t)triangle); c->count >= TABLE_FROM && slot[at] != 0; at = (at + 1) & c->mask)
        if (c->records[slot[at] - 1].triangle == (int32_t)triangle)
            return &c->records[slot[at] - 1];
    return NULL;
}

int caromi_chooser_counts(const caromi_chooser *c, uint32_t triangle)
{
    const int32_t *mask = c->contacts->edges->mask;
    return mask == NULL || (mask[triangle] & c->query->mask) != 0;
}

void caromi_compute_record(const caromi_chooser *c, uint32_t triangle, mesh_record *out)
{
    float in[IN_CLOSEST];
    out->triangle = (int32_t)triangle;
    caromi_chooser_pair(c, c->query->in, out->triangle, in);
    caromi_contact_record(&c->batch->mesh->view, in, c->batch->exact, out);
    if (c->batch->exact && out->state == FEATURE_NONE)
        caromi_chooser_resolve(c, out);
}

void caromi_find_record(const caromi_chooser *c, uint32_t triangle, mesh_record *out)
{
    const mesh_record *known = caromi_known_record(c, triangle);
    if (known != NULL)
        *out = *known;
    else
        caromi_compute_record(c, triangle, out);
}
