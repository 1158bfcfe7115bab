/* SPDX-License-Identifier: MIT */
/* Drop maps: how high a ball stands on a mesh, for each column of a lattice. The height over a column is the largest of
 * those over all corners, edges and faces ("features") of the mesh. docs/drop.md has the proofs.
 *
 *   drop.c           checks the call and runs it
 *   drop_map.c       cuts rows into tiles for the threads; rounds what their bounds decide
 *   drop_paint.c     which columns of a tile a face can decide; paints all features of a tile
 *   drop_features.c  which columns a corner or an edge can decide
 *   drop_star.c      which features at a position decide none
 *   drop_search.c    blocks of columns, by a traversal for each
 *   drop_bound.c     bounds of a feature's height over one column, in binary64
 *   drop_flat.c      the same of faces and edges that are level or nearly so, and of corners nearly below the column
 *   drop_plumb.c     the same without a radius
 *   drop_settle.c    decides in integers what bounds leave open */
#ifndef CAROM_HOST_LATTICE_DROP_H
#define CAROM_HOST_LATTICE_DROP_H
#include <math.h>

#include "host/mesh/corners.h"
#include "lattice.h"

/* 2^-53, the largest relative error of one operation. */
#define DROP_U 0x1p-53

typedef struct drop_ball {
    float radius;
    double r, r2; /* both exact */
} drop_ball;

/* ---- bounds: drop_bound.c ---------------------------------------------------------------------------------------- */

/* Of a height. The height of the mesh, rounded up to binary64, is not below `low`, nor above `high` if this feature
 * decides it. -inf: no such bound. */
typedef struct drop_bound {
    double low, high;
} drop_bound;
#define DROP_NONE            \
    {                        \
        -HUGE_VAL, -HUGE_VAL \
    }

drop_bound caromi_drop_corner_bound(const drop_ball *ball, const double corner[3], double x, double y);

typedef struct drop_edge {
    double a[3], e[3]; /* the first end; the way to the other */
    double b[3], top;  /* the other end; the higher end's z */
    double l2;         /* |e|^2 seen from above; 0: the edge is a point from above and decides nothing */
    double lean;       /* e.z / (|e| seen from above * |e|) */
    double slope2;     /* (e.z / |e| seen from above)^2 */
} drop_edge;

void caromi_drop_edge_make(drop_edge *edge, const float *a, const float *b);
drop_bound caromi_drop_edge_bound(const drop_ball *ball, const drop_edge *edge, double x, double y);

/* The largest square of a slope for which the foot of a column stands for the point that the ball touches. */
#define DROP_FLAT 0x1p-54

enum { DROP_FACE_NONE, DROP_FACE_FLAT, DROP_FACE_SLOPE, DROP_FACE_THIN };

/* A face that decides a height is touched at the centre - radius * normal. */
typedef struct drop_face {
    /* NONE: it decides nothing, because it has no area, or none from above. THIN: its normal is not known well enough,
     * so nothing but `top` is. */
    int kind;
    const float *corner[3];
    double p[3], e[3], f[3]; /* P0, P1 - P0, P2 - P0 */
    double side[3][2];       /* edges seen from above, each times the sign of the normal's z */
    double shift[2], blur;   /* radius * normal, turned upwards; the largest error of it */
    double area, size;       /* the normal's z; the sum of its terms' magnitudes */
    double inverse;          /* of the normal's z */
    double lean;             /* of a flat face: how much higher than straight below it the ball is, at most; 0: level */
    drop_bound level;        /* of a level face: over all of it */
    double top;              /* the highest corner */
} drop_face;

void caromi_drop_face_make(drop_face *face, const drop_ball *ball, const float *const corner[3]);
/* How far the point of contact may be outside of edge k by rounding alone, for columns within `reach` of its corner. */
double caromi_drop_face_slack(const drop_face *face, int k, double reach);
/* Whether the point of contact over a column is inside all edges, but for the slack. */
int caromi_drop_face_may_touch(const drop_face *face, double x, double y);
/* z + radius + a rest between `low` and `high`. Both ends are rounded up to binary64, so they round up to the same
 * binary32 as the sums do: a rest below the last place counts by its sign. drop_flat.c */
drop_bound caromi_drop_sum(double z, double radius, double low, double high);
/* Of a corner at z, for a column at a distance whose square is at most half the radius's. */
drop_bound caromi_drop_near_corner(const drop_ball *ball, double z, double square);
/* Of an edge with slope2 <= DROP_FLAT; 0: the column is not near enough. */
int caromi_drop_flat_edge_bound(const drop_ball *ball, const drop_edge *edge, double x, double y, drop_bound *bound);
/* Of a flat face. `high` bounds the whole triangle. */
drop_bound caromi_drop_flat_bound(const drop_ball *ball, const drop_face *face, double x, double y);
/* Of a face, for a column where the point of contact is inside. */
drop_bound caromi_drop_face_bound(const drop_ball *ball, const drop_face *face, double x, double y);

/* How much higher than P0 the plane P0 + beta e + gamma f is at (u, v) from there. area, size: of e x f. */
static inline double caromi_drop_plane_rise(const double e[3], const double f[3], double u, double v, double area,
                                            double size, double *error)
{
    const double beta = (u * f[1] - v * f[0]) / area, gamma = (v * e[0] - u * e[1]) / area;
    const double blur = 8 * DROP_U * size / fabs(area);
    const double blur_b = 8 * DROP_U * (fabs(u * f[1]) + fabs(v * f[0])) / fabs(area) + 2 * blur * fabs(beta);
    const double blur_c = 8 * DROP_U * (fabs(v * e[0]) + fabs(u * e[1])) / fabs(area) + 2 * blur * fabs(gamma);
    *error = blur_b * fabs(e[2]) + blur_c * fabs(f[2]) + 8 * DROP_U * (fabs(beta * e[2]) + fabs(gamma * f[2]));
    return beta * e[2] + gamma * f[2];
}

/* On which side of the line from a to b a column is, seen from above: 1 left, -1 right, 0 not certain. */
static inline int caromi_drop_sure_side(const float *a, const float *b, double x, double y)
{
    const double ax = (double)a[0], ay = (double)a[1];
    const double left = ((double)b[0] - ax) * (y - ay), right = ((double)b[1] - ay) * (x - ax);
    const double side = left - right, error = 8 * DROP_U * (fabs(left) + fabs(right));
    return side > error ? 1 : side < -error ? -1 : 0;
}
/* The same exactly, 0 on the line. drop_plumb.c */
int caromi_drop_side(const float *a, const float *b, const float *at);
/* Without a radius: of the triangle's highest point straight below or above a column. */
drop_bound caromi_drop_plumb_bound(const float *const corner[3], double x, double y);
/* Whether that is higher than z, exactly; of a triangle which has an area, seen from above, and such a point. */
int caromi_drop_plumb_above(const float *const corner[3], const float at[3]);
/* An upper bound of what a point at `top` or lower leads to, at a distance whose square is not less. */
double caromi_drop_reach_bound(const drop_ball *ball, double top, double square);
/* An upper bound of a triangle's height by its box. */
double caromi_drop_box_bound(const drop_ball *ball, const float *const corner[3], double x, double y);
/* Of a triangle; no better than needed to see that `high` is not above `bar`, or that both round up alike. */
drop_bound caromi_drop_triangle_bound(const drop_ball *ball, const float *const corner[3], double x, double y,
                                      double bar);

/* ---- tiles: drop_map.c, drop_paint.c, drop_settle.c -------------------------------------------------------------- */

/* Columns along x and y: of a tile, at most; of a block of it. Columns that are looked at one by one. Triangles whose
 * normals a star knows. */
enum { DROP_TILE = 256, DROP_BLOCK = 16, DROP_FEW = 8, DROP_FAN = 16 };

typedef struct drop_map {
    carom_mesh *mesh;
    const carom_lattice *lattice;
    const int32_t *masks; /* of the triangles; NULL: all count */
    drop_ball ball;
    const caromi_corners *corners; /* NULL until a tile is painted */
} drop_map;

typedef struct drop_tile {
    const drop_map *map;
    uint64_t nx, ny;
    double per_spacing; /* 1 / the lattice's spacing */
    uint32_t *visited;  /* a bit for each position */
    double x[DROP_TILE], y[DROP_TILE];
    /* not greater than `low` in a block, and whether `low` has been raised there since */
    double least[DROP_TILE / DROP_BLOCK][DROP_TILE / DROP_BLOCK];
    uint8_t is_raised[DROP_TILE / DROP_BLOCK][DROP_TILE / DROP_BLOCK];
    double low[DROP_TILE * DROP_TILE], high[DROP_TILE * DROP_TILE];
} drop_tile;

/* Columns [first, end) of a tile along an axis. */
typedef struct drop_span {
    uint64_t first, end;
} drop_span;

/* Those with lower <= coordinate <= upper, among ascending ones. */
drop_span caromi_drop_span_of(const drop_tile *tile, const double *at, uint64_t count, double lower, double upper);

/* A side of a triangle at a position: from there to `end`, with a corner opposite to it. Both are positions. */
typedef struct drop_side {
    uint32_t end, opposite;
} drop_side;

/* A position and its triangles. Sides 2t and 2t + 1 belong to triangle t. */
typedef struct drop_star {
    const drop_tile *tile;
    const float *at;
    const drop_side *side;
    int count;                        /* of the triangles */
    int is_known, is_fan;             /* normals are known; and the triangles close around the position */
    const float *corner[DROP_FAN][2]; /* ends of the sides of each */
    double normal[DROP_FAN][3];       /* the radius times it, turned upwards */
    int is_turned[DROP_FAN];          /* it was turned */
} drop_star;

/* Finds the normals, after all before them is set. drop_star.c */
void caromi_drop_star_make(drop_star *star);
/* The rectangle of columns that the position itself can decide; 0: not known. */
int caromi_drop_star_corner(const drop_star *star, double lower[2], double upper[2]);
/* Whether the edge to a neighbour surely decides no column of the tile. */
int caromi_drop_star_skips_edge(const drop_star *star, uint32_t end, const float *to);

/* What is visited: triangles that count and whose boxes, seen from above, are within the radius of a rectangle. */
typedef struct drop_visitor {
    const drop_map *map;
    double lower[2], upper[2]; /* of the rectangle */
    void (*triangle)(void *user, uint32_t triangle);
    /* Whether nothing in a box matters, which ends at `top`; NULL: all of it does. */
    int (*skip)(void *user, const double lower[2], const double upper[2], double top);
    void *user;
} drop_visitor;
/* Higher boxes come first. */
void caromi_drop_visit(const drop_visitor *visitor);

/* Sets `low` and `high` of all columns. */
void caromi_drop_paint(drop_tile *tile);
/* Whether that can be done by a traversal for each block of columns; does it for blocks of side^2. drop_search.c */
int caromi_drop_can_search(const drop_map *map);
void caromi_drop_search_tile(drop_tile *tile, uint32_t side);
/* The least binary32 >= the height over a column, -inf if there is none. low: a bound below. */
float caromi_drop_settle(const drop_map *map, float x, float y, double low);
/* The least binary32 >= value; a zero is +0. */
float caromi_drop_round_up(double value);

/* Rows [first, first + rows) to `height`, [rows][dims x]; adds to *settled how many columns integers decided. height
 * NULL: finds only what the mesh keeps for them. drop_map.c */
carom_status caromi_drop_rows(drop_map *map, uint64_t first, uint64_t rows, float *height, uint64_t *settled,
                              carom_error *err);
#endif
