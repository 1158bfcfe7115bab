/* SPDX-License-Identifier: MIT */
/* Empty-space skipping: a grid over the box of a mesh, with the distance of each cube from the boxes of the leaves.
 * kernels/clearance.h defines the format, and the queries that use it. */
#include <string.h>

#include "host/bvh/bvh.h"
#include "clearance.h"

enum {
    CUBES_PER_LEAF = 32,
    CUBES_MOST = 1 << 17,  /* most cubes: the grid fits a second-level cache beside other data */
    CUBES_ALONG = 1 << 10, /* most cubes along an axis */
    MARKS_PER_CUBE = 16,   /* leaf boxes per cube, summed; a mesh with more has hardly any empty cubes */
    QUERIES_PER_LEAF = 4   /* queries per leaf and thread that pay for computing the grid */
};

static uint64_t cubes_for(uint64_t leaves)
{
    return leaves < CUBES_MOST / CUBES_PER_LEAF ? leaves * CUBES_PER_LEAF : CUBES_MOST;
}

/* ---- a grid ------------------------------------------------------------------------------------------------------ */

typedef struct clearance_grid {
    const mesh_clearance *c;
    int size[3];
    size_t count; /* number of cubes */
    uint8_t *cubes, *occupied, *spare;
} clearance_grid;

static size_t cubes_of(const float *length, float per_length, int *size)
{
    size_t count = 1;
    for (int k = 0; k < 3; k++) {
        size[k] = 1 + (int)(length[k] * per_length);
        count *= (size_t)size[k];
    }
    return count;
}

/* Chooses the grid over the box of a mesh: the smallest cubes of which there are at most `most`. */
static void lay_out(clearance_grid *g, const carom_mesh *mesh, mesh_clearance *c, uint64_t most)
{
    float length[3], longest = 0;
    c->scale = mesh->view.frame.scale;
    for (int k = 0; k < 3; k++) {
        c->lower[k] = mesh->info.lower[k] * c->scale;
        length[k] = mesh->info.upper[k] * c->scale - c->lower[k];
        longest = length[k] > longest ? length[k] : longest;
    }
    /* Coordinates are scaled to at most about 1, so that a box below 2^-30 counts as a point. */
    c->per_length = longest > 0x1p-30F ? (float)(CUBES_ALONG - 1) / longest : 0;
    while ((g->count = cubes_of(length, c->per_length, g->size)) > most)
        c->per_length *= 0.9375F;
    for (int k = 0; k < 3; k++)
        c->size[k] = (float)g->size[k];
}

static int slab_of(const clearance_grid *g, float x, int axis)
{
    const int slab = (int)((x - g->c->lower[axis]) * g->c->per_length);
    return slab < 0 ? 0 : slab < g->size[axis] ? slab : g->size[axis] - 1;
}

/* Marks the cubes that a box touches; returns their number. */
static size_t mark(const clearance_grid *g, const float *lo, const float *hi)
{
    int from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = slab_of(g, lo[k], k);
        to[k] = slab_of(g, hi[k], k);
    }
    for (int z = from[2]; z <= to[2]; z++)
        for (int y = from[1]; y <= to[1]; y++) {
            uint8_t *row = g->occupied + ((size_t)z * (size_t)g->size[1] + (size_t)y) * (size_t)g->size[0];
            for (int x = from[0]; x <= to[0]; x++)
                row[x] |= 1; /* most rows are too short for a call of memset */
        }
    return (size_t)(to[0] - from[0] + 1) * (size_t)(to[1] - from[1] + 1) * (size_t)(to[2] - from[2] + 1);
}

/* Marks the boxes of all leaves. Returns 0 if the grid is not worth it: boxes overlap many times, or a single leaf
 * fills the grid. */
static int mark_leaves(const clearance_grid *g, const carom_mesh *mesh)
{
    size_t left = MARKS_PER_CUBE * g->count;
    if (mesh->info.node_count == 0) /* a single leaf, whose box is the whole grid */
        return 0;
    for (uint64_t n = 0; n < mesh->info.node_count; n++) {
        const mesh_node *node = &mesh->nodes[n];
        for (int i = 0; i < MESH_WIDTH; i++) {
            if (node->child[i] >= 0)
                continue;
            const float lo[3] = {node->lo_x[i], node->lo_y[i], node->lo_z[i]};
            const float hi[3] = {node->hi_x[i], node->hi_y[i], node->hi_z[i]};
            const size_t marked = mark(g, lo, hi);
            if (marked > left)
                return 0;
            left -= marked;
        }
    }
    return 1;
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

/* Dilates a row of cubes: a cube becomes occupied if it, or a cube `step` before or behind it in its run, was occupied.
 */
static void spread_run(uint8_t *to, const uint8_t *from, size_t count, size_t step)
{
    if (count == step) { /* one cube along this axis: none has a neighbour */
        memcpy(to, from, count);
        return;
    }
    for (size_t i = 0; i < step; i++)
        to[i] = from[i] | from[i + step];
    for (size_t i = step; i < count - step; i++)
        to[i] = from[i - step] | from[i] | from[i + step];
    for (size_t i = count - step; i < count; i++)
        to[i] = from[i - step] | from[i];
}

/* Dilates the whole grid along one axis. */
static void spread(clearance_grid *g, size_t count, size_t step)
{
    for (size_t first = 0; first < g->count; first += count)
        spread_run(g->spare + first, g->occupied + first, count, step);
    uint8_t *const to = g->spare;
    g->spare = g->occupied;
    g->occupied = to;
}

/* Adds 1 to the distance of each cube that is not occupied yet; returns whether there is any. */
static int count_free(const clearance_grid *g)
{
    uint8_t any = 0;
    for (size_t i = 0; i < g->count; i++) {
        const uint8_t is_free = !g->occupied[i];
        g->cubes[i] = (uint8_t)(g->cubes[i] + is_free);
        any |= is_free;
    }
    return any;
}

static void measure(clearance_grid *g)
{
    const size_t row = (size_t)g->size[0], slice = row * (size_t)g->size[1];
    for (int room = 1; count_free(g) && room < CLEARANCE_MOST; room++) {
        spread(g, row, 1);
        spread(g, slice, row);
        spread(g, g->count, slice);
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Bytes of the cubes and of the scratch for computing them, so that a refit and a query need no allocation. */
uint64_t caromi_clearance_bytes(uint64_t leaves)
{
    return sizeof(mesh_clearance) + 3 * cubes_for(leaves);
}

carom_status caromi_clearance_alloc(const carom_mesh *mesh, uint64_t leaves, mesh_clearance **out, carom_error *err)
{
    const uint64_t bytes = caromi_clearance_bytes(leaves);
    *out = caromi_alloc(mesh->context, 1, bytes);
    return *out != NULL ? CAROM_OK
                        : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                                      "no memory for a grid over a mesh (%llu bytes)", (unsigned long long)bytes);
}

void caromi_clearance_forget(carom_mesh *mesh)
{
    mesh->clearance_known = 0;
    mesh->clearance_queries = 0;
}

void caromi_clearance_find(carom_mesh *mesh)
{
    const uint64_t most = cubes_for(mesh->leaf_count);
    mesh_clearance *c = mesh->clearance;
    clearance_grid g = {.c = c, .cubes = (uint8_t *)(c + 1)};
    if (mesh->clearance_known)
        return;
    lay_out(&g, mesh, c, most);
    g.occupied = g.cubes + most;
    g.spare = g.occupied + most;
    memset(g.cubes, 0, most);
    memset(g.occupied, 0, g.count);
    if (mark_leaves(&g, mesh))
        measure(&g);
    mesh->clearance_known = 1;
}

/* One thread computes the grid in the time of about one query per leaf and thread. If half of the queries are culled,
 * four queries per leaf have repaid that time; if none is, it is lost. */
void caromi_clearance_report(carom_mesh *mesh, uint64_t queries)
{
    if (queries < CAROMI_CLEARANCE_LEAST)
        return;
    mesh->clearance_queries += queries;
    if (mesh->clearance_queries / caromi_pool_threads(mesh->context->pool) >= QUERIES_PER_LEAF * mesh->leaf_count)
        caromi_clearance_find(mesh);
}

uint64_t caromi_clearance_shown(const carom_mesh *mesh)
{
    return sizeof(mesh_clearance) + cubes_for(mesh->leaf_count);
}
