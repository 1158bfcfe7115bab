/* SPDX-License-Identifier: MIT */
/* Rows of a drop map in tiles: bounds of all heights of a tile in binary64, which nearly always round up to the same
 * binary32; the other columns one by one. */
#include <math.h>

#include "cpu/lattice/drop.h"

#include "drop.h"

enum {
    LEAF = 12,  /* triangles of a leaf, about */
    SMALL = 32, /* columns along a tile, the least that tiles for more threads have */
    EACH = 8    /* tiles for each thread, if that leaves them large enough */
};

/* ---- triangles near a rectangle ---------------------------------------------------------------------------------- */

typedef struct visit {
    const drop_visitor *to;
    double lower[2], upper[2]; /* of the rectangle with the radius around it */
    double scale;              /* of nodes */
} visit;

static int is_near(const visit *v, uint32_t triangle)
{
    const carom_mesh *mesh = v->to->map->mesh;
    for (int k = 0; k < 2; k++) {
        const float a = caromi_corner(mesh, triangle, 0)[k], b = caromi_corner(mesh, triangle, 1)[k];
        const float c = caromi_corner(mesh, triangle, 2)[k];
        const float low = a < b ? (a < c ? a : c) : (b < c ? b : c);
        const float high = a > b ? (a > c ? a : c) : (b > c ? b : c);
        if ((double)low > v->upper[k] || (double)high < v->lower[k])
            return 0;
    }
    return 1;
}

/* is_inside: the leaf's box is within the rectangle. */
static void visit_leaf(const visit *v, int reference, int is_inside)
{
    const int32_t *masks = v->to->map->masks;
    const mesh_leaf *leaf = &v->to->map->mesh->view.leaves[MESH_LEAF_AT(reference)];
    for (int slot = 0; slot < MESH_WIDTH; slot++) {
        const int32_t triangle = leaf->triangle[slot];
        if (triangle >= 0 && (masks == NULL || masks[triangle] != 0) && (is_inside || is_near(v, (uint32_t)triangle)))
            v->to->triangle(v->to->user, (uint32_t)triangle);
    }
}

static visit visit_of(const drop_visitor *visitor)
{
    const double r = visitor->map->ball.r;
    visit v = {.to = visitor, .scale = (double)visitor->map->mesh->view.frame.scale};
    for (int k = 0; k < 2; k++) { /* sums are rounded by less than the radius grows */
        v.lower[k] = visitor->lower[k] - r - 0x1p-40 * (fabs(visitor->lower[k]) + r);
        v.upper[k] = visitor->upper[k] + r + 0x1p-40 * (fabs(visitor->upper[k]) + r);
    }
    return v;
}

/* Child boxes near the rectangle, the highest first. A scaled coordinate has lost what is below binary32. */
static int near_children(const visit *v, const mesh_node *node, int slots[MESH_WIDTH])
{
    const double least = 0x1p-120;
    int count = 0;
    for (int slot = 0; slot < MESH_WIDTH; slot++) {
        if (node->child[slot] == 0 || (double)node->lo_x[slot] - least > v->upper[0] * v->scale ||
            (double)node->hi_x[slot] + least < v->lower[0] * v->scale ||
            (double)node->lo_y[slot] - least > v->upper[1] * v->scale ||
            (double)node->hi_y[slot] + least < v->lower[1] * v->scale)
            continue;
        int at = count++;
        for (; at > 0 && node->hi_z[slots[at - 1]] < node->hi_z[slot]; at--)
            slots[at] = slots[at - 1];
        slots[at] = slot;
    }
    return count;
}

/* A box in the caller's unit. */
typedef struct visit_box {
    double lower[2], upper[2], top;
} visit_box;

static visit_box box_of(const visit *v, const mesh_node *node, int slot)
{
    const double least = 0x1p-120, unit = 1 / v->scale;
    return (visit_box){{((double)node->lo_x[slot] - least) * unit, ((double)node->lo_y[slot] - least) * unit},
                       {((double)node->hi_x[slot] + least) * unit, ((double)node->hi_y[slot] + least) * unit},
                       ((double)node->hi_z[slot] + least) * unit};
}

static int is_inside(const visit *v, const visit_box *b)
{
    return b->lower[0] >= v->lower[0] && b->upper[0] <= v->upper[0] && b->lower[1] >= v->lower[1] &&
           b->upper[1] <= v->upper[1];
}

static void visit_below(const visit *v, int reference)
{
    const caromi_mesh_view *view = &v->to->map->mesh->view;
    int slots[MESH_WIDTH];
    if (reference < 0) {
        visit_leaf(v, reference, 0);
        return;
    }
    const mesh_node *node = &view->nodes[reference];
    const int count = near_children(v, node, slots);
    for (int i = 0; i < count; i++) {
        const int child = node->child[slots[i]], next = i + 1 < count ? node->child[slots[i + 1]] : 0;
        const visit_box box = box_of(v, node, slots[i]);
        if (next < 0)
            __builtin_prefetch(&view->leaves[MESH_LEAF_AT(next)]);
        if (v->to->skip != NULL && v->to->skip(v->to->user, box.lower, box.upper, box.top))
            continue;
        if (child < 0)
            visit_leaf(v, child, is_inside(v, &box));
        else
            visit_below(v, child);
    }
}

void caromi_drop_visit(const drop_visitor *visitor)
{
    const visit v = visit_of(visitor);
    if (visitor->map->mesh->info.triangle_count > 0)
        visit_below(&v, visitor->map->mesh->view.frame.root);
}

/* ---- the cheaper way --------------------------------------------------------------------------------------------- */

/* Columns that cost as much to search for as `triangles` cost to paint; of these, `under` are below a ball. */
static double columns_for(double triangles, double under)
{
    return triangles / (0.18 + 0.23 * sqrt(under));
}

typedef struct census {
    const visit *visit;
    double columns, leaves;
    double share; /* of the leaves, that is below a ball */
} census;

static int has_many(const census *c)
{
    return columns_for(LEAF * c->leaves, LEAF * c->leaves * c->share) > c->columns;
}

/* Counts leaves near the rectangle, as far as it matters. */
static void count_below(census *c, int reference)
{
    int slots[MESH_WIDTH];
    if (reference < 0) {
        c->leaves++;
        return;
    }
    const mesh_node *node = &c->visit->to->map->mesh->view.nodes[reference];
    const int count = near_children(c->visit, node, slots);
    for (int i = 0; i < count && !has_many(c); i++)
        count_below(c, node->child[slots[i]]);
}

/* Whether a tile has so many triangles that its columns are searched for. Both ways give the same map. */
static int is_crowded(const drop_tile *tile)
{
    const drop_map *map = tile->map;
    const drop_visitor visitor = {
        .map = map, .lower = {tile->x[0], tile->y[0]}, .upper = {tile->x[tile->nx - 1], tile->y[tile->ny - 1]}};
    const visit v = visit_of(&visitor);
    const double area = (v.upper[0] - v.lower[0]) * (v.upper[1] - v.lower[1]), ball = 3.2 * map->ball.r2;
    census c = {.visit = &v, .columns = (double)(tile->nx * tile->ny), .share = area > ball ? ball / area : 1};
    if (!caromi_drop_can_search(map))
        return 0;
    count_below(&c, map->mesh->view.frame.root);
    return has_many(&c);
}

/* Columns along a block: fewer where they are too far apart to share leaves. */
static uint32_t side_of_blocks(const drop_map *map)
{
    const double near = 5 * (double)map->mesh->view.frame.ball / map->lattice->spacing;
    uint32_t side = CAROMI_DROP_SIDE;
    while (side > 1 && (double)(side - 1) > near)
        side /= 2;
    return side;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

typedef struct tile_job {
    const drop_map *map;
    drop_tile *tiles;      /* one a thread */
    uint32_t *visited;     /* of all threads */
    uint64_t words;        /* for one */
    uint64_t first, rows;  /* of the lattice */
    uint64_t across, down; /* tiles along x and y */
    uint64_t width, depth; /* columns and rows of a tile */
    float *height;         /* of the first row */
    uint8_t *side;         /* of each tile: blocks of side^2 columns are searched for; 0: it is painted */
    uint64_t *settled;     /* columns, of each tile */
} tile_job;

/* Returns how many columns were settled. */
static uint64_t round_tile(const drop_tile *tile, float *height, uint64_t stride)
{
    uint64_t settled = 0;
    for (uint64_t j = 0; j < tile->ny; j++)
        for (uint64_t i = 0; i < tile->nx; i++) {
            const double low = tile->low[j * DROP_TILE + i], high = tile->high[j * DROP_TILE + i];
            float z = caromi_drop_round_up(low);
            if (caromi_drop_round_up(high) > z) {
                z = caromi_drop_settle(tile->map, (float)tile->x[i], (float)tile->y[j], low);
                settled++;
            }
            height[j * stride + i] = z;
        }
    return settled;
}

/* Columns and rows of a tile; where it begins among the rows of the job. */
static void place_tile(const tile_job *job, uint64_t task, drop_tile *tile, uint64_t *i, uint64_t *j)
{
    const carom_lattice *lattice = job->map->lattice;
    *i = task % job->across * job->width;
    *j = task / job->across * job->depth;
    const uint64_t left = lattice->dims[0] - *i, below = job->rows - *j;
    tile->map = job->map;
    tile->per_spacing = 1 / lattice->spacing;
    tile->nx = left < job->width ? left : job->width;
    tile->ny = below < job->depth ? below : job->depth;
    for (uint64_t k = 0; k < tile->nx; k++)
        tile->x[k] = (double)carom_lattice_coordinate(lattice, 0, *i + k);
    for (uint64_t k = 0; k < tile->ny; k++)
        tile->y[k] = (double)carom_lattice_coordinate(lattice, 1, job->first + *j + k);
}

static void choose_way(void *user, uint64_t task, uint32_t thread)
{
    const tile_job *job = user;
    drop_tile *tile = &job->tiles[thread];
    uint64_t i, j;
    place_tile(job, task, tile, &i, &j);
    job->side[task] = (uint8_t)(is_crowded(tile) ? side_of_blocks(job->map) : 0);
}

static void run_tile(void *user, uint64_t task, uint32_t thread)
{
    const tile_job *job = user;
    drop_tile *tile = &job->tiles[thread];
    uint64_t i, j;
    place_tile(job, task, tile, &i, &j);
    tile->visited = job->visited + thread * job->words;
    if (job->side[task] > 0)
        caromi_drop_search_tile(tile, job->side[task]);
    else
        caromi_drop_paint(tile);
    job->settled[task] = round_tile(tile, job->height + j * job->map->lattice->dims[0] + i, job->map->lattice->dims[0]);
}

/* Chooses for each tile; finds which triangles meet at corners if that is needed. */
static carom_status prepare(tile_job *job, uint64_t tasks, drop_map *map, carom_error *err)
{
    caromi_parallel(map->mesh->context->pool, tasks, choose_way, job);
    for (uint64_t t = 0; t < tasks; t++)
        if (job->side[t] == 0 && map->ball.r > 0)
            return caromi_corners_of(map->mesh, &map->corners, err);
    return CAROM_OK;
}

static uint64_t tiles_of(uint64_t count, uint64_t size)
{
    return (count - 1) / size + 1;
}

/* Tiles of equal size, some for each thread. Features within the radius are painted in each tile, so tiles are not made
 * small for that. */
static void cut_tiles(tile_job *job, uint32_t threads)
{
    const carom_lattice *lattice = job->map->lattice;
    const double reach = 2 * job->map->ball.r / lattice->spacing;
    uint64_t edge = DROP_TILE;
    while (edge > SMALL && (double)edge > reach && threads > 1 &&
           tiles_of(lattice->dims[0], edge) * tiles_of(job->rows, edge) < EACH * (uint64_t)threads)
        edge /= 2;
    job->across = tiles_of(lattice->dims[0], edge);
    job->width = tiles_of(lattice->dims[0], job->across);
    job->down = tiles_of(job->rows, edge);
    job->depth = tiles_of(job->rows, job->down);
}

carom_status caromi_drop_rows(drop_map *map, uint64_t first, uint64_t rows, float *height, uint64_t *settled,
                              carom_error *err)
{
    const carom_context *context = map->mesh->context;
    const uint32_t threads = caromi_pool_threads(context->pool);
    tile_job job = {.map = map, .first = first, .rows = rows, .height = height};
    cut_tiles(&job, threads);
    const uint64_t tasks = job.across * job.down;
    job.tiles = caromi_alloc(context, threads, sizeof *job.tiles);
    job.settled = caromi_alloc(context, tasks, sizeof *job.settled);
    job.side = caromi_alloc(context, tasks, sizeof *job.side);
    job.words = map->mesh->vertex_count / 32 + 1;
    job.visited = caromi_alloc(context, threads * job.words, sizeof *job.visited);
    carom_status status = CAROM_OK;
    if (job.tiles == NULL || job.settled == NULL || job.side == NULL || job.visited == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                             "no memory for the tiles of a drop map (%u x %zu bytes)", threads, sizeof *job.tiles);
    else
        status = prepare(&job, tasks, map, err);
    const int answers = status == CAROM_OK && height != NULL;
    if (answers)
        caromi_parallel(context->pool, tasks, run_tile, &job);
    for (uint64_t t = 0; answers && t < tasks; t++)
        *settled += job.settled[t];
    caromi_free(context, job.tiles);
    caromi_free(context, job.settled);
    caromi_free(context, job.side);
    caromi_free(context, job.visited);
    return status;
}
