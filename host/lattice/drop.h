/* SPDX-License-Identifier: MIT */
/* Drop maps: the height at which a ball comes to rest on a mesh, for each column of a lattice. A corner, edge or face
 * of the mesh is a "feature"; the height over a column is the largest of all features' heights. docs/drop.md has the
 * proofs.
 *
 * How a map is made, in order:
 *
 *   1. drop.c           checks the call, and runs it in pieces of rows
 *   2. drop_map.c       caromi_drop_rows: cuts the rows into tiles, one task each. Few, large triangles: the tile is
 *                       rasterized (3, 4). Many triangles for its columns: the tile is searched (5).
 *   3. drop_rasterize.c     rasterizes a tile: traverses the BVH, highest boxes first, and finds the columns whose
 * height a face may decide. Each column keeps bounds `low` and `high` of its height; triangles below `low` are culled.
 *   4. drop_features.c  finds the columns that a corner or an edge may decide, from the triangles around a corner
 *                       (its one-ring); drop_one_ring.c culls features that can decide no column.
 *   5. drop_search.c    traverses the BVH once for each block of columns (cpu/lattice/drop_template.h)
 *   6. drop_bound.c     bounds of one feature's height over one column, in binary64 (the floating-point filter);
 *                       drop_flat.c for (nearly) level faces and edges, drop_ray.c for a ball without radius
 *   7. drop_map.c       rounds a tile: if `low` and `high` round up to one binary32 number, that is the height
 *   8. drop_resolve.c    decides all other columns in integers
 *
 * Places that form no lattice are searched for one by one: drop_at.c, and drop_touch.c, which decides what triangle
 * the ball touches, and where. */
#ifndef CAROM_HOST_LATTICE_DROP_H
#define CAROM_HOST_LATTICE_DROP_H
#include <math.h>

#include "host/mesh/corners.h"
#include "lattice.h"

/* The unit roundoff 2^-53: the largest relative rounding error of one operation in binary64. */
#define DROP_ROUNDING 0x1p-53

/* The ball that comes down. */
typedef struct drop_ball {
    float radius;
    double r, r2; /* radius and its square, both exact */
} drop_ball;

static inline drop_ball caromi_drop_ball_of(float radius)
{
    const double r = fabs((double)radius);
    return (drop_ball){radius, r, r * r};
}
/* Fails unless the radius is one of a ball. drop.c */
carom_status caromi_check_ball(float radius, carom_error *err);

/* ---- bounds: drop_bound.c ---------------------------------------------------------------------------------------- */

/* Bounds of a feature's height over a column. The mesh's height, rounded up to binary64, is at least `low`; if this
 * feature decides it, it is at most `high`. -inf: no bound, or the feature decides nothing. */
typedef struct drop_bound {
    double low, high;
} drop_bound;
#define DROP_NONE            \
    {                        \
        -HUGE_VAL, -HUGE_VAL \
    }

drop_bound caromi_drop_corner_bound(const drop_ball *ball, const double corner[3], double x, double y);

/* An edge, prepared for columns. */
typedef struct drop_edge {
    double a[3], e[3];    /* first end; vector to the other end */
    double b[3], top;     /* other end; z of the higher end */
    double length2;       /* square of its length seen from above; 0: a point from above, which decides nothing */
    double contact_shift; /* e.z / (|e| seen from above * |e|) */
    double slope2;        /* (e.z / |e| seen from above)^2 */
} drop_edge;

void caromi_drop_edge_make(drop_edge *edge, const float *a, const float *b);
drop_bound caromi_drop_edge_bound(const drop_ball *ball, const drop_edge *edge, double x, double y);

/* The largest squared slope at which a column's foot on the edge approximates the contact point. */
#define DROP_FLAT 0x1p-54

enum { DROP_FACE_NONE, DROP_FACE_FLAT, DROP_FACE_SLOPE, DROP_FACE_THIN };

/* A face, prepared for columns. A ball touches it at the ball's centre minus radius times the normal. */
typedef struct drop_face {
    /* NONE: it has no area, or none from above, and decides nothing. THIN: its normal is too inaccurate, only `top` is
     * set. */
    int kind; /* DROP_FACE_NONE and so on */
    const float *corner[3];
    double p[3], e[3], f[3];      /* P0, P1 - P0, P2 - P0 */
    double side[3][2];            /* edges seen from above, counter-clockwise: times the sign of the normal's z */
    double shift[2], shift_error; /* radius times the upward normal, x and y; bound of its error */
    double area, size;            /* the normal's z, twice the area from above; the sum of its terms' magnitudes */
    double inverse;               /* 1 / area */
    double slope_rise;            /* of a nearly level face: bound of how much its slope raises the ball; 0: level */
    drop_bound level;             /* of a level face: the height over all of it */
    double top;                   /* z of the highest corner */
} drop_face;

void caromi_drop_face_make(drop_face *face, const drop_ball *ball, const float *const corner[3]);
/* Bound of the rounding error of the contact point's side of edge k, for columns within `reach` of the edge's corner.
 */
double caromi_drop_face_slack(const drop_face *face, int k, double reach);
/* Whether the contact point for a column may be inside all edges, rounding allowed for. */
int caromi_drop_face_may_touch(const drop_face *face, double x, double y);
/* Bounds of z + radius + rest, for a rest between `low` and `high`. Both are rounded up to binary64, so they round up
 * to the same binary32 as the exact sums: of a rest below the last place, the sign counts. drop_flat.c */
drop_bound caromi_drop_sum(double z, double radius, double low, double high);
/* The same without a rest. */
static inline drop_bound caromi_drop_sum_alone(double z, double radius)
{
    return caromi_drop_sum(z, radius, 0, 0);
}
/* Bounds for a corner at z. square: of its distance from the column, at most half of the squared radius. */
drop_bound caromi_drop_near_corner(const drop_ball *ball, double z, double square);
/* Bounds for an edge with slope2 <= DROP_FLAT. Returns 0 if the column is too far away for them. */
int caromi_drop_flat_edge_bound(const drop_ball *ball, const drop_edge *edge, double x, double y, drop_bound *bound);
/* Bounds for a nearly level face; `high` holds for its edges and corners too. */
drop_bound caromi_drop_flat_bound(const drop_ball *ball, const drop_face *face, double x, double y);
/* Bounds for a face, over a column whose contact point is inside it. */
drop_bound caromi_drop_face_bound(const drop_ball *ball, const drop_face *face, double x, double y);

/* The height above P0 of the plane P0 + beta e + gamma f, at the offset (u, v) from P0. area: z of e x f; size: the sum
 * of its terms' magnitudes. */
static inline double caromi_drop_plane_rise(const double e[3], const double f[3], double u, double v, double area,
                                            double size, double *error)
{
    const double beta = (u * f[1] - v * f[0]) / area, gamma = (v * e[0] - u * e[1]) / area;
    const double area_error = 8 * DROP_ROUNDING * size / fabs(area);
    const double beta_error =
        8 * DROP_ROUNDING * (fabs(u * f[1]) + fabs(v * f[0])) / fabs(area) + 2 * area_error * fabs(beta);
    const double gamma_error =
        8 * DROP_ROUNDING * (fabs(v * e[0]) + fabs(u * e[1])) / fabs(area) + 2 * area_error * fabs(gamma);
    *error = beta_error * fabs(e[2]) + gamma_error * fabs(f[2]) +
             8 * DROP_ROUNDING * (fabs(beta * e[2]) + fabs(gamma * f[2]));
    return beta * e[2] + gamma * f[2];
}

/* The side of the line from a to b that a column is on, seen from above: 1 left, -1 right, 0 undecided. */
static inline int caromi_drop_certain_side(const float *a, const float *b, double x, double y)
{
    const double ax = (double)a[0], ay = (double)a[1];
    const double left = ((double)b[0] - ax) * (y - ay), right = ((double)b[1] - ay) * (x - ax);
    const double side = left - right, error = 8 * DROP_ROUNDING * (fabs(left) + fabs(right));
    return side > error ? 1 : side < -error ? -1 : 0;
}
/* The exact side; 0: on the line. drop_ray.c */
int caromi_drop_side(const float *a, const float *b, const float *at);
/* Bounds without a radius: the highest point of a triangle on the column's vertical line. */
drop_bound caromi_drop_ray_bound(const float *const corner[3], double x, double y);
/* Whether that point is higher than at[2], exactly, for a triangle with an area seen from above that meets the vertical
 * line. */
int caromi_drop_ray_above(const float *const corner[3], const float at[3]);
/* An upper bound of the height that points at `top` or lower give, at a squared distance of at least `square`. */
double caromi_drop_reach_bound(const drop_ball *ball, double top, double square);
/* An upper bound, over the column `at`, of the height that points of a box give. */
double caromi_drop_over_box(const drop_ball *ball, const double at[2], const double lower[2], const double upper[2],
                            double top);
/* An upper bound of a triangle's height from its bounding box. */
double caromi_drop_box_bound(const drop_ball *ball, const float *const corner[3], double x, double y);
/* Bounds for a whole triangle. They get tighter only until `high` is at most `bar`, or both round up to the same
 * binary32. */
drop_bound caromi_drop_triangle_bound(const drop_ball *ball, const float *const corner[3], double x, double y,
                                      double bar);

/* ---- tiles: drop_map.c, drop_rasterize.c, drop_resolve.c --------------------------------------------------------- */

enum {
    DROP_TILE = 256, /* most columns of a tile along x and y */
    DROP_BLOCK = 16, /* columns of a block of a tile, along x and y */
    DROP_SMALL = 8,  /* up to so many columns are bounded one by one instead of being subdivided */
    DROP_FAN = 16    /* most triangles of a one-ring with normals */
};

/* A checked call. */
typedef struct drop_map {
    carom_mesh *mesh;
    const carom_lattice *lattice; /* NULL: places that form none */
    const int32_t *masks;         /* [triangles] 0: left out; NULL: all count */
    drop_ball ball;
    const caromi_corners *corners; /* NULL until a tile is rasterized */
} drop_map;

/* A tile while its heights are bounded. */
typedef struct drop_tile {
    const drop_map *map;
    uint64_t nx, ny;    /* numbers of columns along x and y */
    double per_spacing; /* 1 / the lattice's spacing */
    uint32_t *visited;  /* a bit for each position: its features are done */
    double x[DROP_TILE], y[DROP_TILE];
    /* lower bound of `low` over a block; whether `low` has been raised there since */
    double least[DROP_TILE / DROP_BLOCK][DROP_TILE / DROP_BLOCK];
    uint8_t is_raised[DROP_TILE / DROP_BLOCK][DROP_TILE / DROP_BLOCK];
    double low[DROP_TILE * DROP_TILE], high[DROP_TILE * DROP_TILE];
} drop_tile;

/* Columns [first, end) of a tile along an axis. */
typedef struct drop_span {
    uint64_t first, end;
} drop_span;

/* The columns with lower <= coordinate <= upper; `at` ascends. */
drop_span caromi_drop_span_of(const drop_tile *tile, const double *at, uint64_t count, double lower, double upper);

/* An edge of a triangle from a position to another, `end`; `opposite` is the triangle's third corner. All are positions
 * (vertices of equal coordinates have one). */
typedef struct drop_side {
    uint32_t end, opposite;
} drop_side;

/* The one-ring of a position: its triangles. Sides 2t and 2t + 1 belong to triangle t. */
typedef struct drop_one_ring {
    const drop_tile *tile;
    const float *at;
    const drop_side *side;
    int count;                        /* number of triangles */
    int is_known, is_fan;             /* is_known: normals are set; is_fan: the triangles surround the position */
    const float *corner[DROP_FAN][2]; /* ends of the two sides of each triangle */
    double normal[DROP_FAN][3];       /* radius times the upward normal */
    int is_turned[DROP_FAN];          /* the triangle's own normal points down */
} drop_one_ring;

/* Computes the normals; the members above them are set. drop_one_ring.c */
void caromi_drop_one_ring_make(drop_one_ring *one_ring);
/* The rectangle of columns that the corner itself can decide. Returns 0 if it is not known. */
int caromi_drop_one_ring_corner(const drop_one_ring *one_ring, double lower[2], double upper[2]);
/* Whether the edge to a neighbour certainly decides no column of the tile. */
int caromi_drop_one_ring_skips_edge(const drop_one_ring *one_ring, uint32_t end, const float *to);

/* A traversal of the BVH: visits the triangles, not masked out, whose boxes seen from above are within the radius of a
 * rectangle. */
typedef struct drop_visitor {
    const drop_map *map;
    double lower[2], upper[2]; /* the rectangle */
    int32_t mask;              /* triangles that share a bit with it count; of a map all bits */
    void (*triangle)(void *user, uint32_t triangle);
    /* Whether a box with highest point `top` can be culled; NULL: none can. */
    int (*skip)(void *user, const double lower[2], const double upper[2], double top);
    void *user;
} drop_visitor;
/* Visits higher boxes first. */
void caromi_drop_visit(const drop_visitor *visitor);

/* Rasterizes a tile: sets `low` and `high` of its columns. */
void caromi_drop_rasterize(drop_tile *tile);
/* Whether tiles can also be bounded by one traversal for each block of side^2 columns, and that search. drop_search.c
 */
int caromi_drop_can_search(const drop_map *map);
/* The same for columns whose coordinates have at most this magnitude. */
int caromi_drop_can_search_within(const drop_map *map, double farthest);
void caromi_drop_search_tile(drop_tile *tile, uint32_t side);
/* The exact height over a column, rounded up to binary32; -inf: no triangle below. low: a lower bound. mask: as a
 * visitor's. Sets *rung to the rung that was needed. */
float caromi_drop_resolve(const drop_map *map, float x, float y, int32_t mask, double low, caromi_rung *rung);
/* The least binary32 >= value; a zero is +0. */
float caromi_drop_round_up(double value);

/* Computes rows [first, first + rows) into height[rows][dims x]; adds the columns that the later rungs decided to
 * *rungs. height NULL: only prepares the tables that the mesh caches. drop_map.c */
carom_status caromi_drop_rows(drop_map *map, uint64_t first, uint64_t rows, float *height, caromi_rungs *rungs,
                              carom_error *err);
#endif
