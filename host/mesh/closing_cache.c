/* SPDX-License-Identifier: MIT */
/* The closings that a mesh keeps. Queries select triangles by their masks, and only these count for their side, so each
 * mask in use has a closing of its own. */
#include <string.h>

#include "closing.h"
#include "mesh.h"

/* The closing of no triangle. */
static const caromi_closing no_closing;

carom_status caromi_closing_look(carom_mesh *mesh, carom_error *err)
{
    caromi_closing_cache *cache = &mesh->closings;
    int32_t *masks;
    if (cache->knows_bits)
        return CAROM_OK;
    cache->bits = 0;
    if (mesh->masks != NULL) {
        CHECK(caromi_masks_of_triangles(mesh, &masks, err));
        for (uint64_t i = 0; i < mesh->info.triangle_count; i++)
            cache->bits |= masks[i];
        caromi_free(mesh->context, masks);
    }
    cache->knows_bits = 1;
    return CAROM_OK;
}

/* Without masks a triangle has all bits, and any bit selects all of them. */
int32_t caromi_closing_key(const carom_mesh *mesh, int32_t mask)
{
    return mesh->masks != NULL ? mask & mesh->closings.bits : mask != 0 ? -1 : 0;
}

const caromi_closing *caromi_closing_find(const carom_mesh *mesh, int32_t key)
{
    const caromi_closing_cache *cache = &mesh->closings;
    for (uint32_t i = 0; key != 0 && i < cache->count; i++)
        if (cache->of[i]->mask == key)
            return cache->of[i];
    return &no_closing;
}

static uint64_t bytes_of(const caromi_closing *closing)
{
    return sizeof *closing + closing->open_edges * sizeof *closing->corners +
           closing->node_count * sizeof *closing->nodes;
}

/* Moves closing number `i` to the front. */
static void use(caromi_closing_cache *cache, uint32_t i)
{
    caromi_closing *closing = cache->of[i];
    memmove(cache->of + 1, cache->of, i * sizeof(caromi_closing *));
    cache->of[0] = closing;
}

/* Discards the closing that was not used for longest. */
static void discard_last(carom_mesh *mesh)
{
    caromi_closing *last = mesh->closings.of[--mesh->closings.count];
    mesh->info.bytes -= bytes_of(last);
    caromi_closing_free(last);
}

static carom_status make(carom_mesh *mesh, int32_t key, carom_error *err)
{
    caromi_closing_cache *cache = &mesh->closings;
    caromi_closing *closing;
    int32_t *masks = NULL;
    carom_status status = CAROM_OK;
    if (mesh->masks != NULL)
        status = caromi_masks_of_triangles(mesh, &masks, err);
    if (status == CAROM_OK)
        status = caromi_closing_make(mesh, (caromi_selection){masks, key}, &closing, err);
    caromi_free(mesh->context, masks);
    if (status != CAROM_OK)
        return status;
    if (cache->count == CAROMI_CLOSINGS)
        discard_last(mesh);
    mesh->info.bytes += bytes_of(closing);
    cache->of[cache->count++] = closing;
    for (int body = 0; body < CAROMI_BODY_CALLS; body++) /* how long a side takes is not known */
        for (int exact = 0; exact < 2; exact++)
            mesh->body_paces[body][exact].piece = 0;
    return CAROM_OK;
}

carom_status caromi_closing_of(carom_mesh *mesh, int32_t mask, const caromi_closing **out, carom_error *err)
{
    caromi_closing_cache *cache = &mesh->closings;
    uint32_t i = 0;
    CHECK(caromi_closing_look(mesh, err));
    const int32_t key = caromi_closing_key(mesh, mask);
    *out = &no_closing;
    if (key == 0)
        return CAROM_OK;
    while (i < cache->count && cache->of[i]->mask != key)
        i++;
    if (i == cache->count) {
        CHECK(make(mesh, key, err));
        i = cache->count - 1;
    }
    use(cache, i);
    *out = cache->of[0];
    return CAROM_OK;
}

void caromi_closing_forget(carom_mesh *mesh)
{
    while (mesh->closings.count > 0)
        discard_last(mesh);
    mesh->closings.knows_bits = 0;
}

uint64_t caromi_closing_bytes(const carom_mesh *mesh)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < mesh->closings.count; i++)
        bytes += bytes_of(mesh->closings.of[i]);
    return bytes;
}
