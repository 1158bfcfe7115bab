/* SPDX-License-Identifier: MIT */
/* A cloud at rest against itself, which the caller gives by the same arrays twice: one search of one cloud finds each
 * pair for both of its spheres, and each sphere's pair with itself is added. Rounded differences of centres only change
 * their sign where two spheres change places, so no answer depends on this. */
#include "itself.h"

#include <string.h>

enum { RUN = 64 * CAROMI_CLOUD_BLOCK };

static int is_same_points(const carom_points *a, const carom_points *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z && a->stride == b->stride;
}

static int is_same_uints(const carom_uints *a, const carom_uints *b)
{
    return a->data == b->data && a->stride == b->stride;
}

/* Limits of time do not matter at rest, where contact is at time 0. */
int caromi_cloud_is_against_itself(const carom_cloud_desc *desc, const caromi_cloud *cloud)
{
    const carom_cloud_against *b = desc->against;
    return cloud->is_split && !cloud->is_moving && !caromi_cloud_is_periodic(cloud) && b->count == desc->batch.count &&
           is_same_points(&b->center, &desc->center) && b->radius.data == desc->radius.data &&
           b->radius.stride == desc->radius.stride && is_same_uints(&b->mask, &desc->mask) &&
           is_same_uints(&b->group, &desc->group);
}

/* ---- pairs of a sphere with itself ------------------------------------------------------------------------------- */

/* Where such pairs go: one member is not NULL. */
typedef struct own_job {
    const caromi_cloud *cloud;
    caromi_records *records;
    uint32_t *counts;
    caromi_partners *partners;
} own_job;

/* Whether the masks of a sphere allow its pair with itself. */
static int masks_meet(const caromi_cloud *cloud, uint64_t index)
{
    uint32_t mask, group;
    if (cloud->mask.base == NULL)
        return 1;
    memcpy(&mask, caromi_element(&cloud->mask, index), sizeof mask);
    memcpy(&group, caromi_element(cloud->group.base != NULL ? &cloud->group : &cloud->mask, index), sizeof group);
    return (mask & group) != 0;
}

/* One pair: of a point it touches, else it overlaps. */
static void add_own(const own_job *job, uint64_t index, uint8_t state, uint32_t thread)
{
    caromi_partners *partners = job->partners;
    if (job->records != NULL)
        caromi_records_add_own(job->records, thread, (uint32_t)index, state);
    if (job->counts != NULL)
        job->counts[index]++;
    if (partners != NULL &&
        partners->other[index] > index) { /* all contacts are at time 0; UINT32_MAX: there is none */
        partners->other[index] = (uint32_t)index;
        partners->state[index] = state;
        partners->t[index] = 0;
    }
}

/* Task: the pairs of some spheres with themselves. */
static void add_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const own_job *job = user;
    const caromi_cloud *cloud = job->cloud;
    caromi_cloud_block block;
    for (uint64_t at = begin; at < end; at += block.count) {
        caromi_cloud_read(cloud, at, end, &block);
        for (uint32_t i = 0; i < block.count; i++)
            if (block.is_valid[i] && masks_meet(cloud, at + i))
                add_own(job, at + i, block.in[CLOUD_R][i] > 0 ? CAROM_OVERLAPPING : CAROM_TOUCHING, thread);
    }
}

void caromi_cloud_add_itself(const caromi_cloud *cloud, caromi_records *records, uint32_t *counts,
                             caromi_partners *partners)
{
    own_job job = {cloud, records, counts, partners};
    if (cloud->meets_itself && cloud->start != CAROM_START_SKIP)
        caromi_parallel_runs(caromi_cloud_pool(cloud), cloud->count, RUN, add_run, &job);
}
