/* SPDX-License-Identifier: MIT */
/* Spheres that are neighbours in a bundle, as on a robot's arm, often hit together. So the queries of a bundle are
 * taken at a stride of 0.618 of its size: each round is far from those before it. */
#include "rounds.h"

enum {
    ROUND_OF_ASKED = 1 << 3 /* a round may ask one query for so many of the same bundle that were asked before */
};

const caromi_round_sizes caromi_device_rounds = {1 << 17, 1 << 15, 1 << 18};

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A stride that visits all numbers below `size`. */
static uint32_t step_of(uint32_t size)
{
    uint32_t step = (uint32_t)(0.618 * (double)size);
    for (step += step == 0; greatest_divisor(size, step) != 1;)
        step++;
    return step;
}

caromi_rounds caromi_rounds_of(const caromi_mesh_batch *batch, uint64_t queries, const caromi_round_sizes *sizes)
{
    const uint32_t size = batch->bundle > 1 ? batch->bundle : 1;
    const uint64_t bundles = queries / size, fit = UINT32_MAX / size; /* queries are counted in 32 bits */
    const uint64_t most = fit < sizes->bundles ? fit : sizes->bundles;
    return (caromi_rounds){.size = size,
                           .step = step_of(size),
                           .least = sizes->least,
                           .capacity = queries < sizes->most ? (uint32_t)queries : sizes->most,
                           .most = (uint32_t)(bundles < most ? bundles : most)};
}

void caromi_rounds_begin(caromi_rounds *rounds, uint64_t first, uint64_t end)
{
    const uint64_t bundles = (end - first) / rounds->size;
    rounds->first = first;
    rounds->count = rounds->left = bundles < rounds->most ? (uint32_t)bundles : rounds->most;
    rounds->asked = rounds->at = rounds->members = 0;
}

/* How many queries of each bundle the next round has: one, unless few bundles are left or much was asked in vain. */
static uint32_t members_of(const caromi_rounds *rounds)
{
    const uint32_t left = rounds->left, not_asked = rounds->size - rounds->asked;
    uint32_t members = (rounds->least + left - 1) / left;
    if (members < rounds->asked / ROUND_OF_ASKED)
        members = rounds->asked / ROUND_OF_ASKED;
    if (members > rounds->capacity / left)
        members = rounds->capacity / left;
    return members < not_asked ? members : not_asked;
}

uint32_t caromi_rounds_next(caromi_rounds *rounds)
{
    if (rounds->left == 0 || rounds->asked == rounds->size)
        return 0;
    rounds->at = (uint32_t)((rounds->at + (uint64_t)rounds->members * rounds->step) % rounds->size);
    rounds->members = members_of(rounds);
    rounds->asked += rounds->members;
    return rounds->left * rounds->members;
}

caromi_index caromi_rounds_select(const caromi_mesh_batch *batch)
{
    for (int c = 0; c < CAROMI_MESH_IN; c++)
        if (batch->in[c].base != NULL && batch->in[c].stride != 0)
            return batch->in[c].index;
    return batch->mask.index;
}

static caromi_in_column column_of(const caromi_rounds *rounds, const caromi_in_column *column, const uint32_t *element)
{
    caromi_in_column own = *column;
    if (column->base == NULL || column->stride == 0) { /* one number for all queries */
        own.index.base = NULL;
        return own;
    }
    if (column->index.base == NULL)
        own = caromi_column_from(column, rounds->first);
    own.index = (caromi_index){element, sizeof *element};
    return own;
}

void caromi_round_batch(const caromi_rounds *rounds, const caromi_mesh_batch *batch, const uint32_t *element,
                        caromi_mesh_batch *round)
{
    *round = *batch;
    round->begin = 0;
    round->count = (uint64_t)rounds->left * rounds->members;
    round->bundle = 0;
    round->query = NULL;
    round->mask = column_of(rounds, &batch->mask, element);
    for (int c = 0; c < CAROMI_MESH_IN; c++)
        round->in[c] = column_of(rounds, &batch->in[c], element);
}
