/* SPDX-License-Identifier: MIT */
/* The broad phase of a cloud: spheres in rows of cells, and the scan that finds pairs of them which may touch.
 *
 * Spheres of about one size share a level. A level's space is cut into rows along x, and each row into cells. The
 * spheres of a row are neighbours in memory, ordered by cell, and those of a cell by index. Rows without spheres do not
 * exist, and cells begin where a row's first sphere is: memory depends on the spheres alone. docs/spheres.md has the
 * proof that no pair is lost. */
#ifndef CAROM_CPU_CLOUD_CLOUD_H
#define CAROM_CPU_CLOUD_CLOUD_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/layout.h"

enum {
    CAROMI_CLOUD_LEVELS = 64,  /* one bit each in caromi_cloud_level */
    CAROMI_CLOUD_PADDING = 16, /* floats behind the last sphere of a column, which a scan may read */
    CAROMI_CLOUD_FLUSH = 2048, /* pairs that are handed over at a time, about; a power of two */
    CAROMI_CLOUD_RUN = 2048,   /* spheres that are compared before there is a look at how many pairs there are */
    CAROMI_CLOUD_RUNS = 2048,  /* long runs between two calls of `take`: some milliseconds */
    CAROMI_CLOUD_CHUNK = 64,   /* spheres that look for coarser ones together, of at most so many cells */
    CAROMI_CLOUD_CHUNK_CELLS = 8
};
#define CAROMI_NO_ROW UINT32_MAX
#define CAROMI_NO_SLOT UINT32_MAX

typedef struct caromi_cloud_row {
    int32_t y, z;        /* which row of its level */
    uint32_t begin, end; /* its spheres */
    uint64_t cells;      /* the first of its cells among those of all rows */
    int32_t low, count;  /* x of that cell, in cells of the level; number of cells */
    int32_t shift;       /* a cell of the row has 2^shift cells of the level */
    uint32_t level;
} caromi_cloud_row;

/* Cell (i, j, k) of a level holds what has floor((x - low) * per) = (i, j, k), cut to [0, most]. */
typedef struct caromi_cloud_level {
    double low[3], per[3];
    int32_t most[3];
    double from[3], to[3]; /* no sphere of it is beyond, */
    int has_bounds;        /* if that is known; else they follow from the cells */
    double reach;          /* no sphere of it reaches farther */
    uint32_t begin_row, end_row;
    uint64_t first_row; /* where rows are numbered: number of its row (0, 0) */
    uint64_t coarser;   /* bits: levels whose spheres are searched for from this one, not the other way round */
} caromi_cloud_level;

enum { CAROMI_CLOUD_PAIRS = CAROMI_CLOUD_FLUSH + CAROMI_CLOUD_RUN + 4 * CAROMI_CLOUD_PADDING };
typedef struct caromi_cloud_pairs {
    uint32_t count;
    uint32_t a[CAROMI_CLOUD_PAIRS], b[CAROMI_CLOUD_PAIRS];
} caromi_cloud_pairs;

/* What is to be compared: the sphere at a place with those at places [begin, end). */
typedef struct caromi_cloud_item {
    uint32_t slot, begin, end;
} caromi_cloud_item;
typedef struct caromi_cloud_runs {
    uint64_t count, capacity; /* room > 0 */
    caromi_cloud_item *item;
} caromi_cloud_runs;

/* Pairs, by index, that surely overlap at time 0, or surely are within the margin alone; and, by their places in the
 * columns, pairs that are to be asked, or, in motion, first to be looked at. In no order. All are of one image: `a` is
 * shifted by it. */
typedef struct caromi_cloud_found {
    caromi_cloud_pairs certain, near, undecided, swept;
    int image;
    caromi_cloud_runs *runs; /* of a listing of runs */
    /* Takes what is there and sets the counts to 0; of runs: makes room for one more. Is called now and then also where
     * long runs hold no pairs. `ends`: the rest of a scan is not wanted. */
    void (*flush)(struct caromi_cloud_found *found);
    uint32_t long_runs;
    int ends;
} caromi_cloud_found;

/* A sphere as it was given: numbers in a row. */
enum { CAROMI_GIVEN_R = 3, CAROMI_GIVEN_VX = 4, CAROMI_GIVEN_T_MAX = 7, CAROMI_GIVEN = 8 };

/* What is known of a pair that surely overlaps where a slice of time begins: it is to be asked; it is no hit of the
 * slice; it overlaps at time 0. */
enum { CAROMI_BEGUN_UNDECIDED, CAROMI_BEGUN_DROPPED, CAROMI_BEGUN_CERTAIN };

/* Spheres in motion within a slice of time. */
typedef struct caromi_cloud_motion {
    const float *given; /* [CAROMI_GIVEN * spheres]; NULL: no motion */
    float begin, end;   /* of the slice, rounded outwards */
    float error;        /* of a way to an image */
    float period[3];
    int begun;
} caromi_cloud_motion;

/* Images of a sphere: 27 shifts by -1, 0 or 1 periods along each axis, numbered in lexicographic order of (x, y, z). */
enum { CAROMI_IMAGES = 27, CAROMI_IMAGE_OWN = 13 };
static inline int caromi_image_step(int image, int axis)
{
    return (axis == 0 ? image / 9 : axis == 1 ? image / 3 % 3 : image % 3) - 1;
}

/* Of x, y, z and reach; what is behind the last place up to a multiple of 16 is like it. */
typedef struct caromi_cloud_bounds {
    float low[4], high[4];
} caromi_cloud_bounds;
typedef void caromi_cloud_bound_fn(const float *const *slot, uint32_t count, caromi_cloud_bounds *bounds);

/* Images of spheres that may touch other spheres. They are in no cell: each is compared from where it is. */
typedef struct caromi_cloud_images {
    double period[3];                                /* 0: none along this axis */
    float below[3], above[3];                        /* a sphere reaches here if it has images above, or below */
    caromi_cloud_bounds bounds[CAROMI_CLOUD_LEVELS]; /* of the spheres of each level */
} caromi_cloud_images;

/* Spheres may touch if the distance of their places is at most the sum of what they reach, and a margin. */
typedef struct caromi_cloud_view {
    const float *x, *y, *z, *reach;
    const uint32_t *mask, *index; /* masks may be NULL */
    float margin;
    int reach_is_bound; /* so no pair is sure but by its motion */
    caromi_cloud_motion motion;
    const uint32_t *starts; /* the first sphere of each cell, of all rows */
    const caromi_cloud_row *rows;
    const caromi_cloud_level *levels;
    uint32_t level_count, row_count;
    const uint32_t *table;             /* rows by number, or by hash; CAROMI_NO_ROW: none */
    int is_dense;                      /* by number */
    uint64_t table_mask;               /* by hash */
    const caromi_cloud_images *images; /* NULL: none */
} caromi_cloud_view;

/* CLOUD_MASKED and what follows it in kernels/layout.h. */
static inline int caromi_cloud_options(const caromi_cloud_view *view)
{
    return (view->mask ? CLOUD_MASKED : 0) | (view->reach_is_bound ? CLOUD_BOUNDS_ONLY : 0) |
           (view->margin > 0 ? CLOUD_MARGIN : 0);
}

/* Levels have no more cells along an axis: what is beyond is cut. Those are sparse outliers, whose cells are shared. */
enum { CAROMI_CLOUD_CELL_MOST = 1 << 27 };

static inline int32_t caromi_cloud_cell(const caromi_cloud_level *level, int axis, double x)
{
    const double c = (x - level->low[axis]) * level->per[axis], most = (double)level->most[axis];
    const double from = c > 0 ? c : 0, cut = from < most ? from : most; /* no branches */
    return (int32_t)cut;
}

static inline uint64_t caromi_cloud_dense_row(const caromi_cloud_level *level, int32_t y, int32_t z)
{
    return level->first_row + (uint64_t)z * ((uint64_t)level->most[1] + 1) + (uint64_t)y;
}

static inline uint64_t caromi_cloud_hash(uint32_t level, int32_t y, int32_t z)
{
    const uint64_t key = (uint64_t)level << 56 | (uint64_t)(uint32_t)y << 28 | (uint32_t)z;
    return (key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 20;
}

static inline uint32_t caromi_cloud_row_at(const caromi_cloud_view *view, uint32_t level, int32_t y, int32_t z)
{
    const caromi_cloud_level *l = &view->levels[level];
    if (y < 0 || z < 0 || y > l->most[1] || z > l->most[2])
        return CAROMI_NO_ROW;
    if (view->is_dense)
        return view->table[caromi_cloud_dense_row(l, y, z)];
    for (uint64_t h = caromi_cloud_hash(level, y, z);; h++) {
        const uint32_t row = view->table[h & view->table_mask];
        if (row == CAROMI_NO_ROW)
            return row;
        const caromi_cloud_row *r = &view->rows[row];
        if (r->y == y && r->z == z && r->level == level)
            return row;
    }
}

/* How many spheres of levels `from` and finer, about, are in the box that the one at `place` reaches. */
static inline double caromi_cloud_nearby(const caromi_cloud_view *view, uint32_t from, uint32_t slot)
{
    const double at[3] = {(double)view->x[slot], (double)view->y[slot], (double)view->z[slot]};
    double count = 0;
    for (uint32_t number = from; number < view->level_count; number++) {
        const caromi_cloud_level *level = &view->levels[number];
        const double reach = (double)view->reach[slot] + level->reach;
        if (level->begin_row == level->end_row)
            continue;
        double in = view->rows[level->end_row - 1].end - view->rows[level->begin_row].begin;
        for (int k = 0; k < 3; k++) {
            const int misses = at[k] + reach < level->from[k] || at[k] - reach > level->to[k];
            in *= misses
                      ? 0
                      : (caromi_cloud_cell(level, k, at[k] + reach) - caromi_cloud_cell(level, k, at[k] - reach) + 1) /
                            (level->most[k] + 1.0);
        }
        count += in;
    }
    return count;
}

/* Of `count` spheres, in so many columns: 1 for each that is valid, all numbers finite and the radius not negative,
 * else 0; the magnitudes of their radii. Returns how many are valid. */
typedef uint32_t caromi_cloud_check_fn(const float *const *in, uint32_t columns, uint32_t radius, uint32_t count,
                                       float *magnitude, uint8_t *is_valid);
/* A slice of time, begin to end, +inf: no limit; places are counted from the origin, which moves with the velocity. */
typedef struct caromi_cloud_window {
    double begin, end, origin[3], velocity[3];
} caromi_cloud_window;
/* Where spheres are in it: x, y, z, and what they reach from there, their own radii counted. Columns as in a row of
 * CAROMI_GIVEN numbers, in and out up to a multiple of 16. */
typedef void caromi_cloud_position_fn(const float *const *in, const caromi_cloud_window *window, uint32_t count,
                                      float *const *slot);
/* caromi_cloud_cell() of each x in its level, up to a multiple of 16. */
typedef void caromi_cloud_cells_fn(const caromi_cloud_level *levels, uint32_t level_count, const int32_t *level,
                                   int axis, const float *x, uint32_t count, int32_t *cell);

/* The pairs of each sphere of rows [begin, end): with spheres behind it in its level, and with those of finer levels.
 * So over all rows each pair comes up once. */
typedef void caromi_cloud_fn(const caromi_cloud_view *view, uint32_t begin, uint32_t end, caromi_cloud_found *found);
/* cloud_runs, of the same type, only lists what is to be compared, in found->runs. cloud_image_pairs, too: pairs of
 * images of these spheres with all spheres, each once. found->image follows them, and is CAROMI_IMAGE_OWN at the end.
 */

/* What kernels/cloud_scan.cl says of `count` items: in bits, of at most CLOUD_ITEM spheres each, begin and length in
 * place of begin and end. */
typedef void caromi_cloud_test_fn(const caromi_cloud_view *view, const uint32_t *slot, const uint32_t *begin,
                                  const uint32_t *length, uint32_t count, uint32_t *some, uint32_t *certain,
                                  uint32_t *near);

/* Finds in a device's answers, items of six arrays, what a scan of them would: place, begin, length; some, sure, near.
 * From item `begin` on; returns the first that it has not taken, because found may be full, and at last `end`. */
typedef uint64_t caromi_cloud_answers_fn(const caromi_cloud_view *view, uint32_t *const item[6], uint64_t begin,
                                         uint64_t end, caromi_cloud_found *found);

/* Of each of `rows` groups of numbers, group i being from[starts[i] .. starts[i + 1]): in ascending order, to the same
 * places of `to`. 16 numbers behind the last may be read. */
typedef void caromi_cloud_sort_fn(const uint32_t *from, const uint32_t *starts, uint32_t rows, uint32_t *to);

/* The best partner so far of each sphere at rest: the lowest index among sure ones, UINT32_MAX: none. `any`: whichever
 * is found first. */
typedef struct caromi_cloud_best {
    uint32_t *partner; /* [spheres in the columns] */
    uint8_t *is_done;  /* [spheres in the columns] not to be searched for, or no further */
    int any;
    const uint32_t *slot_of; /* [count] of each sphere by index, CAROMI_NO_SLOT: not in; NULL: not known */
    uint32_t count;
} caromi_cloud_best;
/* Partners of the spheres of rows [begin, end), both of a pair being asked. */
typedef void caromi_cloud_best_fn(const caromi_cloud_view *view, uint32_t begin, uint32_t end,
                                  const caromi_cloud_best *best, caromi_cloud_found *found);
/* cloud_best_images, of the same type: partners of their images, which are theirs as well. cloud_best_runs only lists
 * the cells that each sphere's search goes through, in found->runs: of spheres at places [begin, end). */
#endif
