/* SPDX-License-Identifier: MIT */
/* Empty-space skipping: a grid over the box of a mesh, with the distance of each cube from the boxes of the leaves.
 * kernels/clearance.h defines the format, and the queries that use it. */
#include <math.h>
#include <string.h>

#include "host/bvh/bvh.h"
#include "host/bvh/triangle.h"
#include "clearance.h"

enum {
    CUBES_PER_LEAF = 32,
    CUBES_MOST = 1 << 17,  /* most cubes: the grid fits a second-level cache beside other data */
    CUBES_ALONG = 1 << 10, /* most cubes along an axis */
    QUERIES_PER_LEAF = 4   /* queries per leaf and thread that pay for computing the grid */
};

uint64_t caromi_clearance_most(uint64_t leaves)
{
    return leaves < CUBES_MOST / CUBES_PER_LEAF ? leaves * CUBES_PER_LEAF : CUBES_MOST;
}

/* ---- a grid ------------------------------------------------------------------------------------------------------ */

/* The grid of cubes while distances are computed. */
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

/* Chooses the grid over the box of a mesh: the smallest cubes of which there are not too many. */
size_t caromi_clearance_lay_out(const carom_mesh *mesh, mesh_clearance *clearance, int size[3])
{
    const uint64_t most = caromi_clearance_most(mesh->leaf_count);
    size_t count;
    float length[3], longest = 0;
    clearance->scale = mesh->view.frame.scale;
    for (int k = 0; k < 3; k++) {
        clearance->lower[k] = mesh->info.lower[k] * clearance->scale;
        length[k] = mesh->info.upper[k] * clearance->scale - clearance->lower[k];
        longest = length[k] > longest ? length[k] : longest;
    }
    /* Coordinates are scaled to at most about 1, so that a box below 2^-30 counts as a point. */
    clearance->per_length = longest > 0x1p-30F ? (float)(CUBES_ALONG - 1) / longest : 0;
    while ((count = cubes_of(length, clearance->per_length, size)) > most)
        clearance->per_length *= 0.9375F;
    for (int k = 0; k < 3; k++)
        clearance->size[k] = (float)size[k];
    return count;
}

static int slab_of(const clearance_grid *grid, float x, int axis)
{
    const int slab = (int)((x - grid->c->lower[axis]) * grid->c->per_length);
    return slab < 0 ? 0 : slab < grid->size[axis] ? slab : grid->size[axis] - 1;
}

/* Marks the cubes that a box touches; returns their number. */
static size_t mark(const clearance_grid *grid, const float *lo, const float *hi)
{
    int from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = slab_of(grid, lo[k], k);
        to[k] = slab_of(grid, hi[k], k);
    }
    for (int z = from[2]; z <= to[2]; z++)
        for (int y = from[1]; y <= to[1]; y++) {
            uint8_t *row = grid->occupied + ((size_t)z * (size_t)grid->size[1] + (size_t)y) * (size_t)grid->size[0];
            for (int x = from[0]; x <= to[0]; x++)
                row[x] |= 1; /* most rows are too short for a call of memset */
        }
    return (size_t)(to[0] - from[0] + 1) * (size_t)(to[1] - from[1] + 1) * (size_t)(to[2] - from[2] + 1);
}

/* Marks boxes, as long as there are not too many cubes to mark. */
typedef struct clearance_marks {
    const clearance_grid *grid;
    const carom_mesh *mesh;
    size_t left; /* cubes */
} clearance_marks;

static int mark_box(clearance_marks *marks, const float *lo, const float *hi)
{
    const size_t marked = mark(marks->grid, lo, hi);
    const int fits = marked <= marks->left;
    marks->left -= fits ? marked : 0;
    return fits;
}

/* Marks a box in the world, cut to the scene's, in which all corners are. */
static int mark_world_box(void *user, const caromi_world_box *box)
{
    clearance_marks *marks = user;
    const carom_mesh_info *scene = &marks->mesh->info;
    const float scale = marks->grid->c->scale;
    float lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        lo[k] = fminf(fmaxf(box->lower[k], scene->lower[k]), scene->upper[k]) * scale;
        hi[k] = fminf(fmaxf(box->upper[k], scene->lower[k]), scene->upper[k]) * scale;
    }
    return mark_box(marks, lo, hi);
}

/* Marks the boxes of all leaves. Returns 0 if the grid is not worth it: boxes overlap many times, or a single leaf
 * fills the grid. */
static int mark_leaves(const clearance_grid *grid, const carom_mesh *mesh)
{
    clearance_marks marks = {.grid = grid, .mesh = mesh, .left = CAROMI_MARKS_PER_CUBE * grid->count};
    if (mesh->scene != NULL)
        return caromi_scene_leaf_boxes(mesh->scene, mark_world_box, &marks);
    if (mesh->info.node_count == 0) /* a single leaf, whose box is the whole grid */
        return 0;
    for (uint64_t n = 0; n < mesh->info.node_count; n++) {
        const caromi_node_rows node = caromi_node_at(mesh, n);
        for (int i = 0; i < mesh->view.width; i++) {
            if (node.child[i] >= 0)
                continue;
            const float lo[3] = {node.lower[0][i], node.lower[1][i], node.lower[2][i]};
            const float hi[3] = {node.upper[0][i], node.upper[1][i], node.upper[2][i]};
            if (!mark_box(&marks, lo, hi))
                return 0;
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
static void spread(clearance_grid *grid, size_t count, size_t step)
{
    for (size_t first = 0; first < grid->count; first += count)
        spread_run(grid->spare + first, grid->occupied + first, count, step);
    uint8_t *const to = grid->spare;
    grid->spare = grid->occupied;
    grid->occupied = to;
}

/* Adds 1 to the distance of each cube that is not occupied yet; returns whether there is any. */
static int count_free(const clearance_grid *grid)
{
    uint8_t any = 0;
    for (size_t i = 0; i < grid->count; i++) {
        const uint8_t is_free = !grid->occupied[i];
        grid->cubes[i] = (uint8_t)(grid->cubes[i] + is_free);
        any |= is_free;
    }
    return any;
}

static void measure(clearance_grid *grid)
{
    const size_t row = (size_t)grid->size[0], slice = row * (size_t)grid->size[1];
    for (int room = 1; count_free(grid) && room < CLEARANCE_MOST; room++) {
        spread(grid, row, 1);
        spread(grid, slice, row);
        spread(grid, grid->count, slice);
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Bytes of the cubes and of the scratch for computing them, so that a refit and a query need no allocation. */
uint64_t caromi_clearance_bytes(uint64_t leaves)
{
    return sizeof(mesh_clearance) + 3 * caromi_clearance_most(leaves);
}

carom_status caromi_clearance_alloc(const carom_mesh *mesh, uint64_t leaves, mesh_clearance **out, carom_error *err)
{
    const uint64_t bytes = caromi_clearance_bytes(leaves);
    *out = caromi_alloc(mesh->context, 1, bytes);
    return *out != NULL
               ? CAROM_OK
               : caromi_fail_memory(err, "no memory for a grid over a mesh (%llu bytes)", (unsigned long long)bytes);
}

/* Discards the clearance, as the boxes of the leaves have changed. */
void caromi_clearance_forget(carom_mesh *mesh)
{
    mesh->clearance_known = 0;
    mesh->clearance_queries = 0;
}

/* Computes the grid, once: marks the cubes that leaves touch, then measures distances from them. */
void caromi_clearance_find(carom_mesh *mesh)
{
    const uint64_t most = caromi_clearance_most(mesh->leaf_count);
    mesh_clearance *clearance = mesh->clearance;
    clearance_grid grid = {.c = clearance, .cubes = (uint8_t *)(clearance + 1)};
    if (mesh->clearance_known)
        return;
    grid.count = caromi_clearance_lay_out(mesh, clearance, grid.size);
    grid.occupied = grid.cubes + most;
    grid.spare = grid.occupied + most;
    memset(grid.cubes, 0, most);
    memset(grid.occupied, 0, grid.count);
    if (mark_leaves(&grid, mesh))
        measure(&grid);
    mesh->clearance_known = 1;
}

/* One thread computes the grid in the time of about one query per leaf and thread. If half of the queries are culled,
 * four queries per leaf have repaid that time; if none is, it is lost. */
void caromi_clearance_report(carom_mesh *mesh, uint64_t queries)
{
    if (queries < CAROMI_CLEARANCE_LEAST || mesh->clearance == NULL)
        return;
    mesh->clearance_queries += queries;
    if (mesh->clearance_queries / caromi_pool_threads(mesh->context->pool) >= QUERIES_PER_LEAF * mesh->leaf_count)
        caromi_clearance_find(mesh);
}

uint64_t caromi_clearance_shown(const carom_mesh *mesh)
{
    return sizeof(mesh_clearance) + caromi_clearance_most(mesh->leaf_count);
}
