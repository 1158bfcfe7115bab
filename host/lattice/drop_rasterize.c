/* SPDX-License-Identifier: MIT */
/* Rasterizes a tile: faces first, then corners and edges (drop_features.c), higher boxes before lower ones. Features
 * that are hidden below the heights so far are culled. */
#include "drop_rasterize.h"

#include <string.h>

/* The columns whose coordinates are within [lower, upper]. */
drop_span caromi_drop_span_of(const drop_tile *tile, const double *coordinate, uint64_t count, double lower,
                              double upper)
{
    /* The first column, guessed by the spacing and then corrected. */
    const double guess = (lower - coordinate[0]) * tile->per_spacing;
    span found = {guess > 0 ? (guess < (double)count ? (uint64_t)guess : count) : 0, 0};
    while (found.first > 0 && coordinate[found.first - 1] >= lower)
        found.first--;
    while (found.first < count && coordinate[found.first] < lower)
        found.first++;
    found.end = found.first;
    if (found.first == count || coordinate[found.first] > upper)
        return found;
    /* The end, also guessed by the spacing and then corrected. */
    const double guess_of_end = (upper - coordinate[0]) * tile->per_spacing;
    found.end = guess_of_end > (double)found.first ? (guess_of_end < (double)count ? (uint64_t)guess_of_end : count)
                                                   : found.first;
    while (found.end > found.first && coordinate[found.end - 1] > upper)
        found.end--;
    while (found.end < count && coordinate[found.end] <= upper)
        found.end++;
    return found;
}

/* The least `low` in a block. */
static double find_least(const drop_tile *tile, uint64_t block_x, uint64_t block_y)
{
    const uint64_t end = (block_y + 1) * DROP_BLOCK < tile->ny ? (block_y + 1) * DROP_BLOCK : tile->ny;
    double column[DROP_BLOCK], found = HUGE_VAL;
    for (int i = 0; i < DROP_BLOCK; i++)
        column[i] = HUGE_VAL;
    for (uint64_t j = block_y * DROP_BLOCK; j < end; j++) {
        const double *low = &tile->low[j * DROP_TILE + block_x * DROP_BLOCK];
        for (int i = 0; i < DROP_BLOCK; i++)
            column[i] = low[i] < column[i] ? low[i] : column[i];
    }
    for (int i = 0; i < DROP_BLOCK; i++)
        found = drop_least(found, column[i]);
    return found;
}

/* ---- faces ------------------------------------------------------------------------------------------------------- */

/* Bounds a face with an inaccurate normal: raises `high` of all columns within the radius of its rectangle. */
static void rasterize_thin(drop_tile *tile, const drop_face *face)
{
    const drop_ball *ball = &tile->map->ball;
    const double reach = ball->r * (1 + 0x1p-40), high = drop_top_of(tile, face->top);
    double lower[2], upper[2];
    for (int k = 0; k < 2; k++) {
        const double a = (double)face->corner[0][k], b = (double)face->corner[1][k], c = (double)face->corner[2][k];
        lower[k] = drop_least(a, drop_least(b, c)) - reach;
        upper[k] = drop_most(a, drop_most(b, c)) + reach;
    }
    const span i = caromi_drop_span_of(tile, tile->x, tile->nx, lower[0], upper[0]);
    const span j = caromi_drop_span_of(tile, tile->y, tile->ny, lower[1], upper[1]);
    for (uint64_t b = j.first; b < j.end; b++)
        for (uint64_t a = i.first; a < i.end; a++)
            drop_put(tile, a, b,
                     reach > 0 ? (drop_bound){-HUGE_VAL, high}
                               : caromi_drop_face_bound(&tile->map->ball, face, tile->x[a], tile->y[b]));
}

/* Clips [x[0], x[1]] to the columns of a row that are inside edge k, with a slack for rounding. */
static void cut_side(const drop_face *face, int edge, double slack, double y, double x[2])
{
    const double edge_x = (double)face->corner[edge][0] + face->shift[0];
    const double numerator = face->side[edge][0] * (y - face->shift[1] - (double)face->corner[edge][1]) + slack;
    const double denominator = face->side[edge][1];
    if (denominator > 0)
        x[1] = drop_least(x[1], edge_x + numerator / denominator);
    else if (denominator < 0)
        x[0] = drop_most(x[0], edge_x + numerator / denominator);
    else if (numerator < 0)
        x[1] = -HUGE_VAL;
}

/* Bounds a face over the columns whose contact point may be inside it, row by row: the triangle, shifted along its
 * normal. */
static void rasterize_face(drop_tile *tile, const drop_face *face)
{
    double lower[2], upper[2], slack[3], reach = 0;
    for (int k = 0; k < 2; k++) {
        const double a = (double)face->corner[0][k], b = (double)face->corner[1][k], c = (double)face->corner[2][k];
        lower[k] = drop_least(a, drop_least(b, c)) + face->shift[k];
        upper[k] = drop_most(a, drop_most(b, c)) + face->shift[k];
        reach += upper[k] - lower[k] + fabs(face->shift[k]) + fabs(a);
    }
    const double position_error = 2 * face->shift_error + 0x1p-48 * reach;
    const span rows =
        caromi_drop_span_of(tile, tile->y, tile->ny, lower[1] - position_error, upper[1] + position_error);
    for (int k = 0; k < 3; k++)
        slack[k] = caromi_drop_face_slack(face, k, reach);
    for (uint64_t j = rows.first; j < rows.end; j++) {
        /* The range of x in this row, cut by the three edges. */
        double x[2] = {lower[0] - position_error, upper[0] + position_error};
        for (int k = 0; k < 3; k++)
            cut_side(face, k, slack[k], tile->y[j], x);
        if (!(x[0] <= x[1] + position_error))
            continue;
        const span i = caromi_drop_span_of(tile, tile->x, tile->nx, x[0] - position_error, x[1] + position_error);
        for (uint64_t k = i.first; k < i.end; k++)
            drop_put(tile, k, j, caromi_drop_face_bound(&tile->map->ball, face, tile->x[k], tile->y[j]));
    }
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* Visits a triangle: rasterizes its face. */
static void visit_face(void *user, uint32_t triangle)
{
    drop_tile *tile = user;
    const float *corner[3];
    drop_face face;
    for (int k = 0; k < 3; k++)
        corner[k] = caromi_corner(tile->map->mesh, triangle, k);
    caromi_drop_face_make(&face, &tile->map->ball, corner);
    if (face.kind == DROP_FACE_THIN || (face.kind == DROP_FACE_NONE && tile->map->ball.r == 0))
        rasterize_thin(tile, &face);
    else if (face.kind != DROP_FACE_NONE)
        rasterize_face(tile, &face);
}

/* Visits the one-rings of a triangle's corners. Every triangle that can decide a column of the tile is visited, so both
 * ends of each of its edges are. */
static void visit_one_rings(void *user, uint32_t triangle)
{
    drop_tile *tile = user;
    for (int k = 0; k < 3; k++) {
        const uint32_t position = caromi_corner_position(tile->map->corners, triangle, k), bit = 1u << position % 32;
        uint32_t *visited = &tile->visited[position / 32];
        if ((*visited & bit) == 0)
            caromi_drop_rasterize_one_ring(tile, position);
        *visited |= bit;
    }
}

/* Whether a box with highest point `top` is hidden; first updates `least` of the blocks whose heights have changed. */
static int skip_box(void *user, const double lower[2], const double upper[2], double top)
{
    drop_tile *tile = user;
    const double radius = tile->map->ball.r, reach = radius * (1 + 0x1p-40), high = drop_top_of(tile, top);
    const span columns = caromi_drop_span_of(tile, tile->x, tile->nx, lower[0] - reach, upper[0] + reach);
    const span rows = caromi_drop_span_of(tile, tile->y, tile->ny, lower[1] - reach, upper[1] + reach);
    if (columns.first == columns.end || rows.first == rows.end)
        return 1;
    for (uint64_t block_y = rows.first / DROP_BLOCK; block_y <= (rows.end - 1) / DROP_BLOCK; block_y++)
        for (uint64_t block_x = columns.first / DROP_BLOCK; block_x <= (columns.end - 1) / DROP_BLOCK; block_x++) {
            if (tile->least[block_y][block_x] >= high) /* the block hides the box */
                continue;
            if (!tile->is_raised[block_y][block_x] ||
                tile->low[block_y * DROP_BLOCK * DROP_TILE + block_x * DROP_BLOCK] < high)
                return 0;
            tile->least[block_y][block_x] = find_least(tile, block_x, block_y);
            tile->is_raised[block_y][block_x] = 0;
            if (tile->least[block_y][block_x] < high)
                return 0;
        }
    return 1;
}

/* Begins with no height, then raises the bounds by faces, and by edges and corners. */
void caromi_drop_rasterize(drop_tile *tile)
{
    drop_visitor visitor = {.map = tile->map,
                            .lower = {tile->x[0], tile->y[0]},
                            .upper = {tile->x[tile->nx - 1], tile->y[tile->ny - 1]},
                            .mask = -1,
                            .skip = skip_box,
                            .user = tile};
    for (uint64_t j = 0; j < tile->ny; j++)
        for (uint64_t i = 0; i < tile->nx || i % DROP_BLOCK != 0;
             i++) { /* with padding: find_least() reads whole blocks */
            tile->low[j * DROP_TILE + i] = i < tile->nx ? -HUGE_VAL : HUGE_VAL;
            tile->high[j * DROP_TILE + i] = -HUGE_VAL;
        }
    for (int j = 0; j < DROP_TILE / DROP_BLOCK; j++)
        for (int i = 0; i < DROP_TILE / DROP_BLOCK; i++)
            tile->least[j][i] = -HUGE_VAL;
    memset(tile->is_raised, 0, sizeof tile->is_raised);
    memset(tile->visited, 0, (tile->map->mesh->vertex_count / 32 + 1) * sizeof *tile->visited);
    visitor.triangle = visit_face;
    caromi_drop_visit(&visitor);
    visitor.triangle = visit_one_rings;
    if (tile->map->ball.r > 0) /* without a radius, edges and corners belong to the faces */
        caromi_drop_visit(&visitor);
}
