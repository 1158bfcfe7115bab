/* SPDX-License-Identifier: MIT */
/* A set of ids: a hash table of blocks of 64 ids with a bit for each. Ids that follow each other, as they mostly do,
 * take half a byte each at most; ids far apart take up to 48 bytes. */
#include "paths.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1 << 10 };

/* The slot that has the block, or the empty one in which it belongs. */
static uint64_t slot_of(const paths_ids *ids, uint64_t block)
{
    uint64_t at = block * 0x9E3779B97F4A7C15; /* Fibonacci hashing: room is a power of two */
    at = (at ^ at >> 32) & (ids->room - 1);
    while (ids->block[at] != 0 && ids->block[at] != block)
        at = (at + 1) & (ids->room - 1);
    return at;
}

static int grow(paths_ids *ids)
{
    paths_ids larger = {.room = ids->room ? 2 * ids->room : FIRST_ROOM, .used = ids->used};
    larger.block = calloc(larger.room, sizeof *larger.block);
    larger.bits = calloc(larger.room, sizeof *larger.bits);
    if (!larger.block || !larger.bits) {
        paths_ids_free(&larger);
        return 0;
    }
    for (uint64_t i = 0; i < ids->room; i++)
        if (ids->block[i] != 0) {
            const uint64_t at = slot_of(&larger, ids->block[i]);
            larger.block[at] = ids->block[i];
            larger.bits[at] = ids->bits[i];
        }
    paths_ids_free(ids);
    *ids = larger;
    return 1;
}

int paths_ids_add(paths_ids *ids, uint64_t id)
{
    const uint64_t block = (id >> 6) + 1, bit = UINT64_C(1) << (id & 63);
    if (3 * ids->room <= 4 * ids->used && !grow(ids))
        return -1;
    const uint64_t at = slot_of(ids, block);
    const int is_new = !(ids->bits[at] & bit);
    ids->used += ids->block[at] == 0;
    ids->block[at] = block;
    ids->bits[at] |= bit;
    return is_new;
}

void paths_ids_free(paths_ids *ids)
{
    free(ids->block);
    free(ids->bits);
    *ids = (paths_ids){0};
}
