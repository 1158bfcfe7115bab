/* SPDX-License-Identifier: MIT */
/* Cuts the rows of a drop map into tiles. Lower and upper bound of a column's height, in binary64, nearly always round
 * up to the same binary32; the other columns are decided exactly, one by one. */
#include <math.h>

#include "cpu/lattice/drop.h"

#include "drop.h"

enum {
    TILE_LEAST = 32, /* least columns along a tile's side, however many threads there are */
    TILES_EACH = 8   /* tiles of each thread, if they stay large enough */
};

/* ---- triangles near a rectangle ---------------------------------------------------------------------------------- */

/* A traversal for the triangles near a rectangle of columns. */
typedef struct rectangle_visit {
    const drop_visitor *to;
    double lower[2], upper[2]; /* the rectangle, grown by the radius */
    double scale;              /* coordinates of BVH nodes are multiplied by it */
} rectangle_visit;

/* Whether a triangle's bounding box, seen from above, overlaps the rectangle. */
static int is_near(const rectangle_visit *visit, uint32_t triangle)
{
    const carom_mesh *mesh = visit->to->map->mesh;
    for (int k = 0; k < 2; k++) {
        const float a = caromi_corner(mesh, triangle, 0)[k], b = caromi_corner(mesh, triangle, 1)[k];
        const float c = caromi_corner(mesh, triangle, 2)[k];
        const float low = a < b ? (a < c ? a : c) : (b < c ? b : c);
        const float high = a > b ? (a > c ? a : c) : (b > c ? b : c);
        if ((double)low > visit->upper[k] || (double)high < visit->lower[k])
            return 0;
    }
    return 1;
}

/* Visits the triangles of a leaf that are near the rectangle. is_inside: the leaf's box is within the rectangle, so
 * triangles need no test. */
static void visit_leaf(const rectangle_visit *visit, int reference, int is_inside)
{
    const carom_mesh *mesh = visit->to->map->mesh;
    const int32_t *masks =
        mesh->masks != NULL ? mesh->masks + (size_t)MESH_LEAF_AT(reference) * (size_t)mesh->view.width : NULL;
    const caromi_leaf_rows leaf = caromi_leaf_at(mesh, reference);
    for (int slot = 0; slot < mesh->view.width; slot++) {
        const int32_t triangle = leaf.triangle[slot];
        const int counts = masks != NULL ? (masks[slot] & visit->to->mask) != 0 : visit->to->mask != 0;
        if (triangle >= 0 && counts && (is_inside || is_near(visit, (uint32_t)triangle)))
            visit->to->triangle(visit->to->user, (uint32_t)triangle);
    }
}

/* Begins a visit: the rectangle is grown by the radius. */
static rectangle_visit visit_of(const drop_visitor *visitor)
{
    const double r = visitor->map->ball.r;
    rectangle_visit visit = {.to = visitor, .scale = (double)visitor->map->mesh->view.frame.scale};
    for (int k = 0; k < 2; k++) { /* grown by more than the rounding of the sums */
        visit.lower[k] = visitor->lower[k] - r - 0x1p-40 * (fabs(visitor->lower[k]) + r);
        visit.upper[k] = visitor->upper[k] + r + 0x1p-40 * (fabs(visitor->upper[k]) + r);
    }
    return visit;
}

/* The children whose boxes overlap the rectangle, highest first. `least` covers the underflow of scaled coordinates. */
static int near_children(const rectangle_visit *visit, const caromi_node_rows *node, int slots[MESH_WIDEST])
{
    const double least = 0x1p-120;
    int count = 0;
    for (int slot = 0; slot < visit->to->map->mesh->view.width; slot++) {
        if (node->child[slot] == 0 || (double)node->lower[0][slot] - least > visit->upper[0] * visit->scale ||
            (double)node->upper[0][slot] + least < visit->lower[0] * visit->scale ||
            (double)node->lower[1][slot] - least > visit->upper[1] * visit->scale ||
            (double)node->upper[1][slot] + least < visit->lower[1] * visit->scale)
            continue;
        int at = count++;
        for (; at > 0 && node->upper[2][slots[at - 1]] < node->upper[2][slot]; at--)
            slots[at] = slots[at - 1];
        slots[at] = slot;
    }
    return count;
}

/* A child's box in the caller's unit of length. */
typedef struct visit_box {
    double lower[2], upper[2], top;
} visit_box;

static visit_box box_of(const rectangle_visit *visit, const caromi_node_rows *node, int slot)
{
    const double least = 0x1p-120, unit = 1 / visit->scale;
    return (visit_box){{((double)node->lower[0][slot] - least) * unit, ((double)node->lower[1][slot] - least) * unit},
                       {((double)node->upper[0][slot] + least) * unit, ((double)node->upper[1][slot] + least) * unit},
                       ((double)node->upper[2][slot] + least) * unit};
}

/* Whether a box is within the rectangle. */
static int is_inside(const rectangle_visit *visit, const visit_box *box)
{
    return box->lower[0] >= visit->lower[0] && box->upper[0] <= visit->upper[0] && box->lower[1] >= visit->lower[1] &&
           box->upper[1] <= visit->upper[1];
}

/* Visits the triangles near the rectangle in the subtree of a node or leaf. */
static void visit_subtree(const rectangle_visit *visit, int reference)
{
    const carom_mesh *mesh = visit->to->map->mesh;
    int slots[MESH_WIDEST];
    if (reference < 0) {
        const int inside = 0; /* the box of a root leaf is not known */
        visit_leaf(visit, reference, inside);
        return;
    }
    const caromi_node_rows node = caromi_node_at(mesh, (uint64_t)reference);
    const int count = near_children(visit, &node, slots);
    for (int i = 0; i < count; i++) {
        const int child = node.child[slots[i]], next = i + 1 < count ? node.child[slots[i + 1]] : 0;
        const visit_box box = box_of(visit, &node, slots[i]);
        if (next < 0)
            __builtin_prefetch(caromi_leaf_at(mesh, next).triangle);
        if (visit->to->skip != NULL && visit->to->skip(visit->to->user, box.lower, box.upper, box.top))
            continue;
        if (child < 0)
            visit_leaf(visit, child, is_inside(visit, &box));
        else
            visit_subtree(visit, child);
    }
}

/* Visits the triangles near a rectangle, higher boxes first. */
void caromi_drop_visit(const drop_visitor *visitor)
{
    const rectangle_visit visit = visit_of(visitor);
    if (visitor->map->mesh->info.triangle_count > 0)
        visit_subtree(&visit, visitor->map->mesh->view.frame.root);
}

/* ---- rasterizing or searching ------------------------------------------------------------------------------------ */

/* The number of columns whose search costs as much as rasterizing `triangles`; `under`: triangles below a ball. */
static double columns_for(double triangles, double under)
{
    return triangles / (0.18 + 0.23 * sqrt(under));
}

/* Leaves below a tile, counted until the decision is certain. */
typedef struct leaf_census {
    const rectangle_visit *visit;
    double columns, leaves;
    double share; /* share of the leaves that is below a ball */
} leaf_census;

/* Whether searching the columns is cheaper than rasterizing all triangles. */
static int has_many(const leaf_census *census)
{
    /* Three quarters of a leaf's slots have a triangle on average. */
    const double triangles = 0.75 * census->visit->to->map->mesh->view.width * census->leaves;
    return columns_for(triangles, triangles * census->share) > census->columns;
}

/* Counts the leaves that overlap the rectangle, until the decision is certain. */
static void count_in_subtree(leaf_census *census, int reference)
{
    int slots[MESH_WIDEST];
    if (reference < 0) {
        census->leaves++;
        return;
    }
    const caromi_node_rows node = caromi_node_at(census->visit->to->map->mesh, (uint64_t)reference);
    const int count = near_children(census->visit, &node, slots);
    for (int i = 0; i < count && !has_many(census); i++)
        count_in_subtree(census, node.child[slots[i]]);
}

/* Whether a tile has so many triangles that its columns are searched instead of rasterized. Both give the same bits. */
static int is_crowded(const drop_tile *tile)
{
    const drop_map *map = tile->map;
    const drop_visitor visitor = {
        .map = map, .lower = {tile->x[0], tile->y[0]}, .upper = {tile->x[tile->nx - 1], tile->y[tile->ny - 1]}};
    const rectangle_visit visit = visit_of(&visitor);
    const double area = (visit.upper[0] - visit.lower[0]) * (visit.upper[1] - visit.lower[1]),
                 ball = 3.2 * map->ball.r2;
    leaf_census census = {
        .visit = &visit, .columns = (double)(tile->nx * tile->ny), .share = area > ball ? ball / area : 1};
    if (!caromi_drop_can_search(map))
        return 0;
    count_in_subtree(&census, map->mesh->view.frame.root);
    return has_many(&census);
}

/* The side of the search's blocks in columns: less where columns are too far apart to share leaves. */
static uint32_t side_of_blocks(const drop_map *map)
{
    const double near = 5 * (double)map->mesh->view.frame.ball / map->lattice->spacing;
    uint32_t side = CAROMI_DROP_SIDE;
    while (side > 1 && (double)(side - 1) > near)
        side /= 2;
    return side;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* The tiles of a range of rows. */
typedef struct tile_job {
    const drop_map *map;
    drop_tile *tiles;      /* [threads] */
    uint32_t *visited;     /* [threads][words] */
    uint64_t words;        /* of one thread's bits */
    uint64_t first, rows;  /* rows [first, first + rows) of the lattice */
    uint64_t across, down; /* numbers of tiles along x and y */
    uint64_t width, depth; /* columns and rows of a tile */
    float *height;         /* output, from row `first` on */
    uint8_t *side;         /* [tiles] side of the search's blocks; 0: the tile is rasterized */
    caromi_rungs *rungs;   /* [tiles] columns decided by the later rungs */
} tile_job;

/* Rounds the heights of a tile; returns the numbers of columns that the later rungs decided. */
static caromi_rungs round_tile(const drop_tile *tile, float *height, uint64_t stride)
{
    caromi_rungs rungs = {0, 0};
    for (uint64_t j = 0; j < tile->ny; j++)
        for (uint64_t i = 0; i < tile->nx; i++) {
            const double low = tile->low[j * DROP_TILE + i], high = tile->high[j * DROP_TILE + i];
            float z = caromi_drop_round_up(low);
            if (caromi_drop_round_up(high) > z) { /* the bounds do not decide */
                caromi_rung rung;
                z = caromi_drop_resolve(tile->map, (float)tile->x[i], (float)tile->y[j], -1, low, &rung);
                caromi_rungs_count(&rungs, rung);
            }
            height[j * stride + i] = z;
        }
    return rungs;
}

/* Sets the columns and rows of a tile. Also returns its first column, and its first row within the job. */
static void place_tile(const tile_job *job, uint64_t task, drop_tile *tile, uint64_t *first_column, uint64_t *first_row)
{
    const carom_lattice *lattice = job->map->lattice;
    *first_column = task % job->across * job->width;
    *first_row = task / job->across * job->depth;
    const uint64_t columns_left = lattice->dims[0] - *first_column, rows_left = job->rows - *first_row;
    tile->map = job->map;
    tile->per_spacing = 1 / lattice->spacing;
    tile->nx = columns_left < job->width ? columns_left : job->width;
    tile->ny = rows_left < job->depth ? rows_left : job->depth;
    for (uint64_t k = 0; k < tile->nx; k++)
        tile->x[k] = (double)carom_lattice_coordinate(lattice, AXIS_X, *first_column + k);
    for (uint64_t k = 0; k < tile->ny; k++)
        tile->y[k] = (double)carom_lattice_coordinate(lattice, AXIS_Y, job->first + *first_row + k);
}

/* Task: decides for a tile. */
static void choose_rasterizing(void *user, uint64_t task, uint32_t thread)
{
    const tile_job *job = user;
    drop_tile *tile = &job->tiles[thread];
    uint64_t column, row;
    place_tile(job, task, tile, &column, &row);
    job->side[task] = (uint8_t)(is_crowded(tile) ? side_of_blocks(job->map) : 0);
}

/* Task: bounds the heights of a tile, and rounds them. */
static void run_tile(void *user, uint64_t task, uint32_t thread)
{
    const tile_job *job = user;
    drop_tile *tile = &job->tiles[thread];
    uint64_t column, row;
    if (caromi_watch_look(job->map->mesh->context->watch))
        return;
    place_tile(job, task, tile, &column, &row);
    tile->visited = job->visited + thread * job->words;
    if (job->side[task] > 0)
        caromi_drop_search_tile(tile, job->side[task]);
    else
        caromi_drop_rasterize(tile);
    job->rungs[task] =
        round_tile(tile, job->height + row * job->map->lattice->dims[0] + column, job->map->lattice->dims[0]);
}

/* Chooses for each tile whether it is rasterized or searched. If any is rasterized, makes the table of triangles at
 * corners. */
static carom_status prepare(tile_job *job, uint64_t tasks, drop_map *map, carom_error *err)
{
    caromi_parallel(map->mesh->context->pool, tasks, choose_rasterizing, job);
    for (uint64_t task = 0; task < tasks; task++)
        if (job->side[task] == 0 && map->ball.r > 0)
            return caromi_corners_of(map->mesh, &map->corners, err);
    return CAROM_OK;
}

static uint64_t tiles_of(uint64_t count, uint64_t size)
{
    return (count - 1) / size + 1;
}

/* Cuts the rows into tiles of equal size, some for each thread. Features within the radius of a tile are rasterized for
 * it again, so tiles must not be too small. */
static void cut_tiles(tile_job *job, uint32_t threads)
{
    const carom_lattice *lattice = job->map->lattice;
    const double reach = 2 * job->map->ball.r / lattice->spacing;
    uint64_t edge = DROP_TILE;
    while (edge > TILE_LEAST && (double)edge > reach && threads > 1 &&
           tiles_of(lattice->dims[0], edge) * tiles_of(job->rows, edge) < TILES_EACH * (uint64_t)threads)
        edge /= 2;
    job->across = tiles_of(lattice->dims[0], edge);
    job->width = tiles_of(lattice->dims[0], job->across);
    job->down = tiles_of(job->rows, edge);
    job->depth = tiles_of(job->rows, job->down);
}

/* Computes some rows of a drop map, tile by tile, in parallel. */
carom_status caromi_drop_rows(drop_map *map, uint64_t first, uint64_t rows, float *height, caromi_rungs *rungs,
                              carom_error *err)
{
    const carom_context *context = map->mesh->context;
    const uint32_t threads = caromi_pool_threads(context->pool);
    tile_job job = {.map = map, .first = first, .rows = rows, .height = height};
    cut_tiles(&job, threads);
    const uint64_t tasks = job.across * job.down;
    /* The memory of each thread and of each tile. */
    job.tiles = caromi_alloc(context, threads, sizeof *job.tiles);
    job.rungs = caromi_alloc(context, tasks, sizeof *job.rungs);
    job.side = caromi_alloc(context, tasks, sizeof *job.side);
    job.words = map->mesh->vertex_count / 32 + 1;
    job.visited = caromi_alloc(context, threads * job.words, sizeof *job.visited);
    carom_status status = CAROM_OK;
    if (job.tiles == NULL || job.rungs == NULL || job.side == NULL || job.visited == NULL)
        status = caromi_fail_memory(err, "no memory for the tiles of a drop map (%u x %zu bytes)", threads,
                                    sizeof *job.tiles);
    else
        status = prepare(&job, tasks, map, err);
    /* Without an output, only the tables of the mesh are prepared. */
    const int answers = status == CAROM_OK && height != NULL;
    if (answers) {
        caromi_parallel(context->pool, tasks, run_tile, &job);
        status = caromi_went_on(context); /* else some tiles are left */
    }
    for (uint64_t task = 0; answers && status == CAROM_OK && task < tasks; task++) {
        rungs->second_filter += job.rungs[task].second_filter;
        rungs->integers += job.rungs[task].integers;
    }
    caromi_free(context, job.tiles);
    caromi_free(context, job.rungs);
    caromi_free(context, job.side);
    caromi_free(context, job.visited);
    return status;
}
