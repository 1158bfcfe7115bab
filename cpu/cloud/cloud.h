/* SPDX-License-Identifier: MIT */
/* The broad phase of a cloud: a grid of spheres in rows of cells, and the scan that finds pairs which may touch.
 *
 * Spheres of about one size share a level. A level's space is cut into rows along x, and each row into cells. The
 * spheres of a row are neighbours in memory, ordered by cell, and those of a cell by index. Rows without spheres are
 * not stored, and a row's cells begin at its first sphere: memory depends on the spheres alone. docs/spheres.md has the
 * proof that no pair is lost. */
#ifndef CAROM_CPU_CLOUD_CLOUD_H
#define CAROM_CPU_CLOUD_CLOUD_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/layout.h"

enum {
    CAROMI_CLOUD_LEVELS = 64,  /* one bit for each in caromi_cloud_level.coarser */
    CAROMI_CLOUD_PADDING = 16, /* floats behind the last element of a column, which a scan may read */
    CAROMI_CLOUD_FLUSH = 2048, /* a buffer with so many pairs is flushed; a power of two */
    CAROMI_CLOUD_RUN = 2048,   /* spheres that are compared between two checks of the buffers */
    CAROMI_CLOUD_RUNS = 2048,  /* long runs between two calls of `flush`: some milliseconds */
    CAROMI_CLOUD_CHUNK = 64, /* spheres that are compared with coarser ones together, from at most CHUNK_CELLS cells */
    CAROMI_CLOUD_CHUNK_CELLS = 8
};
#define CAROMI_NO_ROW UINT32_MAX
#define CAROMI_NO_SLOT UINT32_MAX

/* Spheres of a level whose positions have about the same y and z, ordered by cells along x. */
typedef struct caromi_cloud_row {
    int32_t y, z;        /* coordinates of the row in its level */
    uint32_t begin, end; /* slots of its spheres */
    uint64_t cells;      /* the first of its cells among those of all rows */
    int32_t low, count;  /* x of the first cell, in cells of the level; number of cells */
    int32_t shift;       /* a cell of the row has 2^shift cells of the level */
    uint32_t level;
} caromi_cloud_row;

/* Cell (i, j, k) of a level holds the spheres with floor((x - low) * per) = (i, j, k), clamped to [0, most]. */
typedef struct caromi_cloud_level {
    double low[3], per[3];
    int32_t most[3];
    double from[3], to[3]; /* bounds of its spheres, */
    int has_bounds;        /* if they were computed; else they follow from the cells */
    double reach;          /* the greatest reach of its spheres */
    uint32_t begin_row, end_row;
    uint64_t first_row; /* number of its row (0, 0), in a dense table */
    /* bits: levels of lower numbers, which are coarser, whose spheres the spheres of this level search for, not the
     * other way round */
    uint64_t coarser;
    int searches_twin; /* of two clouds: its spheres search for the other cloud's in the same cells */
} caromi_cloud_level;

/* A buffer of pairs, as two columns. */
enum { CAROMI_CLOUD_PAIRS = CAROMI_CLOUD_FLUSH + CAROMI_CLOUD_RUN + 4 * CAROMI_CLOUD_PADDING };
typedef struct caromi_cloud_pairs {
    uint32_t count;
    uint32_t a[CAROMI_CLOUD_PAIRS], b[CAROMI_CLOUD_PAIRS];
} caromi_cloud_pairs;

/* A comparison: the sphere in `slot` with the spheres in slots [begin, end). */
typedef struct caromi_cloud_item {
    uint32_t slot, begin, end;
} caromi_cloud_item;
typedef struct caromi_cloud_runs {
    uint64_t count, capacity; /* capacity > 0 */
    caromi_cloud_item *item;
} caromi_cloud_runs;

/* Pairs that a scan has found, in no order. `certain` pairs overlap at time 0, `near` pairs are within the margin
 * alone; both are given by index. `undecided` pairs need the narrow phase, and `swept` pairs of moving spheres need the
 * sweep test first; both are given by slots. All pairs have the same image: `a` is shifted by it. */
typedef struct caromi_cloud_found {
    caromi_cloud_pairs certain, near, undecided, swept;
    int image;
    caromi_cloud_runs *runs; /* output of a listing of comparisons */
    /* Consumes the buffered pairs and sets the counts to 0; for a listing it enlarges `runs`. The scan calls it from
     * time to time even without pairs, and stops early if it sets `ends`. */
    void (*flush)(struct caromi_cloud_found *found);
    uint32_t long_runs;
    int ends;
} caromi_cloud_found;

/* Inputs of a sphere, as adjacent numbers. */
enum { CAROMI_GIVEN_R = 3, CAROMI_GIVEN_VX = 4, CAROMI_GIVEN_T_MAX = 7, CAROMI_GIVEN = 8 };

/* Fate of a pair that certainly overlaps at the begin of a slice of time: the narrow phase decides; it is dropped,
 * because it is no hit of this slice; it is a certain hit at time 0. */
enum { CAROMI_BEGUN_UNDECIDED, CAROMI_BEGUN_DROPPED, CAROMI_BEGUN_CERTAIN };

/* Spheres in motion within a slice of time. */
typedef struct caromi_cloud_motion {
    const float *given; /* [CAROMI_GIVEN * spheres]; NULL: no motion */
    float begin, end;   /* the slice, rounded outwards */
    float error;        /* error bound of an offset to an image */
    float period[3];
    int begun;
} caromi_cloud_motion;

/* Images of a sphere: 27 shifts by -1, 0 or 1 periods along each axis, numbered in lexicographic order of (x, y, z). */
enum { CAROMI_IMAGES = 27, CAROMI_IMAGE_OWN = 13 };
static inline int caromi_image_step(int image, int axis)
{
    return (axis == 0 ? image / 9 : axis == 1 ? image / 3 % 3 : image % 3) - 1;
}

/* Bounds of x, y, z and reach. Columns are padded with their last element to a multiple of 16. */
enum { CAROMI_BOUND_REACH = 3, CAROMI_BOUNDS_COUNT };
typedef struct caromi_cloud_bounds {
    float low[CAROMI_BOUNDS_COUNT], high[CAROMI_BOUNDS_COUNT];
} caromi_cloud_bounds;
typedef void caromi_cloud_bound_fn(const float *const *slot, uint32_t count, caromi_cloud_bounds *bounds);

/* Periodic images of spheres that may touch other spheres. Images are in no cell: each is compared with the cells
 * around its position. */
typedef struct caromi_cloud_images {
    double period[3];                                /* 0: not periodic along this axis */
    float below[3], above[3];                        /* a sphere that reaches these bounds has images above, or below */
    caromi_cloud_bounds bounds[CAROMI_CLOUD_LEVELS]; /* bounds of the spheres of each level */
} caromi_cloud_images;

/* A sorted cloud. Spheres may touch if the distance of their positions is at most the sum of their reaches, plus the
 * margin. */
typedef struct caromi_cloud_view {
    const float *x, *y, *z, *reach;
    const uint32_t *mask, *group, *index; /* mask NULL: no masks; group NULL: masks are groups */
    float margin;
    int reach_is_bound; /* reaches are upper bounds, so only the sweep test makes a pair certain */
    caromi_cloud_motion motion;
    const uint32_t *starts; /* the first sphere of each cell, of all rows */
    const caromi_cloud_row *rows;
    const caromi_cloud_level *levels;
    uint32_t level_count, row_count;
    /* Pairs are those of two clouds: levels come in twos with the same cells. Even ones hold the first cloud's spheres,
     * odd ones the second's. */
    int is_split;
    const uint32_t *table;             /* rows by number, or by hash; CAROMI_NO_ROW: empty */
    int is_dense;                      /* by number */
    uint64_t table_mask;               /* by hash */
    const caromi_cloud_images *images; /* NULL: none */
} caromi_cloud_view;

/* Whether masks and groups allow a pair of the spheres in two slots. */
static inline int caromi_cloud_masks_meet(const caromi_cloud_view *view, uint32_t a, uint32_t b)
{
    const uint32_t *const group = view->group ? view->group : view->mask;
    return view->mask == NULL || ((group[a] & view->mask[b]) != 0 && (group[b] & view->mask[a]) != 0);
}

/* Whether spheres of two levels may be pairs. */
static inline int caromi_cloud_levels_meet(const caromi_cloud_view *view, uint32_t level, uint32_t other)
{
    return !view->is_split || ((level ^ other) & 1) != 0;
}

/* Whether a level searches for the spheres of another one in cells of another size. */
static inline int caromi_cloud_may_search(const caromi_cloud_view *view, uint32_t level, uint32_t other)
{
    return caromi_cloud_levels_meet(view, level, other) && !(view->is_split && (level ^ other) == 1);
}

/* Options of the scan, as kernels/layout.h numbers them. */
static inline int caromi_cloud_options(const caromi_cloud_view *view)
{
    return (view->mask ? CLOUD_MASKED : 0) | (view->group ? CLOUD_GROUPED : 0) |
           (view->reach_is_bound ? CLOUD_BOUNDS_ONLY : 0) | (view->margin > 0 ? CLOUD_MARGIN : 0);
}

/* Most cells of a level along an axis. Sparse outliers beyond are clamped into the last cell. */
enum { CAROMI_CLOUD_CELL_MOST = 1 << 27 };

/* The cell of a coordinate along an axis, clamped to the level. */
static inline int32_t caromi_cloud_cell(const caromi_cloud_level *level, int axis, double x)
{
    const double cell = (x - level->low[axis]) * level->per[axis], last = (double)level->most[axis];
    const double at_least_0 = cell > 0 ? cell : 0, clamped = at_least_0 < last ? at_least_0 : last; /* no branches */
    return (int32_t)clamped;
}

/* Number of a row in a dense table. */
static inline uint64_t caromi_cloud_dense_row(const caromi_cloud_level *level, int32_t y, int32_t z)
{
    return level->first_row + (uint64_t)z * ((uint64_t)level->most[1] + 1) + (uint64_t)y;
}

/* Hash of a row's coordinates, for a table of all levels. */
static inline uint64_t caromi_cloud_hash(uint32_t level, int32_t y, int32_t z)
{
    const uint64_t key = (uint64_t)level << 56 | (uint64_t)(uint32_t)y << 28 | (uint32_t)z;
    return (key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 20;
}

/* The row with these coordinates in its level; CAROMI_NO_ROW if it has no spheres. */
static inline uint32_t caromi_cloud_row_at(const caromi_cloud_view *view, uint32_t level_index, int32_t y, int32_t z)
{
    const caromi_cloud_level *level = &view->levels[level_index];
    if (y < 0 || z < 0 || y > level->most[1] || z > level->most[2])
        return CAROMI_NO_ROW;
    if (view->is_dense)
        return view->table[caromi_cloud_dense_row(level, y, z)];
    for (uint64_t probe = caromi_cloud_hash(level_index, y, z);; probe++) {
        const uint32_t row = view->table[probe & view->table_mask];
        if (row == CAROMI_NO_ROW)
            return row;
        const caromi_cloud_row *found = &view->rows[row];
        if (found->y == y && found->z == z && found->level == level_index)
            return row;
    }
}

/* Estimate of how many spheres of levels `from` and finer are in the box that the sphere in `slot`, of level `own`,
 * reaches, and may be its partners. */
static inline double caromi_cloud_nearby(const caromi_cloud_view *view, uint32_t from, uint32_t own, uint32_t slot)
{
    const double at[3] = {(double)view->x[slot], (double)view->y[slot], (double)view->z[slot]};
    double count = 0;
    for (uint32_t level_index = from; level_index < view->level_count; level_index++) {
        const caromi_cloud_level *level = &view->levels[level_index];
        const double reach = (double)view->reach[slot] + level->reach;
        if (level->begin_row == level->end_row || !caromi_cloud_levels_meet(view, own, level_index))
            continue;
        double spheres = view->rows[level->end_row - 1].end - view->rows[level->begin_row].begin;
        for (int k = 0; k < 3; k++) {
            const int misses = at[k] + reach < level->from[k] || at[k] - reach > level->to[k];
            spheres *=
                misses ? 0
                       : (caromi_cloud_cell(level, k, at[k] + reach) - caromi_cloud_cell(level, k, at[k] - reach) + 1) /
                             (level->most[k] + 1.0);
        }
        count += spheres;
    }
    return count;
}

/* Validates `count` spheres: is_valid is 1 if all columns are finite and the radius is not negative, else 0. Stores the
 * magnitudes of the radii. Returns how many spheres are valid. */
typedef uint32_t caromi_cloud_check_fn(const float *const *in, uint32_t columns, uint32_t radius, uint32_t count,
                                       float *magnitude, uint8_t *is_valid);
/* A slice of time from begin to end (+inf: no limit). Positions are relative to the origin, which moves with the
 * velocity. */
typedef struct caromi_cloud_window {
    double begin, end, origin[3], velocity[3];
} caromi_cloud_window;
/* Bounding balls of spheres within a slice: x, y, z, and their reach from there, which includes the radius. Input
 * columns are those of CAROMI_GIVEN; all columns are padded to a multiple of 16. */
typedef void caromi_cloud_position_fn(const float *const *in, const caromi_cloud_window *window, uint32_t count,
                                      float *const *slot);
/* caromi_cloud_cell() of each x in its level, for a count padded to a multiple of 16. */
typedef void caromi_cloud_cells_fn(const caromi_cloud_level *levels, uint32_t level_count, const int32_t *level,
                                   int axis, const float *x, uint32_t count, int32_t *cell);

/* Scans rows [begin, end): each sphere is compared with the spheres behind it in its level, and with finer levels. So
 * over all rows each pair is found once. */
typedef void caromi_cloud_fn(const caromi_cloud_view *view, uint32_t begin, uint32_t end, caromi_cloud_found *found);
/* Two more functions have this type. cloud_runs only lists the comparisons, in found->runs. cloud_image_pairs finds
 * each pair of an image of these spheres with a sphere once; found->image tells the image, and is CAROMI_IMAGE_OWN at
 * the end. */

/* Reference for kernels/cloud_scan.cl: bits for `count` items of at most CLOUD_ITEM spheres, each with begin and
 * length. */
typedef void caromi_cloud_test_fn(const caromi_cloud_view *view, const uint32_t *slot, const uint32_t *begin,
                                  const uint32_t *length, uint32_t count, uint32_t *some, uint32_t *certain,
                                  uint32_t *near);

/* Converts a device's answers to pairs, as a scan would find them. Items are in six arrays: slot, begin, length; some,
 * certain, near. It begins at item `begin` and returns the first item that it has not read, because `found` may be
 * full; at last `end`. */
enum {
    CAROMI_ITEM_SLOT,
    CAROMI_ITEM_BEGIN,
    CAROMI_ITEM_LENGTH,
    CAROMI_ITEM_SOME,
    CAROMI_ITEM_CERTAIN,
    CAROMI_ITEM_NEAR,
    CAROMI_ITEM_WORDS
};
typedef uint64_t caromi_cloud_answers_fn(const caromi_cloud_view *view, uint32_t *const item[CAROMI_ITEM_WORDS],
                                         uint64_t begin, uint64_t end, caromi_cloud_found *found);

/* Segmented sort: each of `rows` groups from[starts[i] .. starts[i + 1]) is sorted in ascending order into the same
 * slots of `to`. 16 numbers behind the last may be read. */
typedef void caromi_cloud_sort_fn(const uint32_t *from, const uint32_t *starts, uint32_t rows, uint32_t *to);

/* The best partner so far of each sphere at rest: the lowest index (UINT32_MAX: none). `any`: the first partner found
 * ends a search. */
typedef struct caromi_cloud_best {
    uint32_t *partner; /* [spheres in the columns] */
    uint8_t *is_done;  /* [spheres in the columns] the search has ended, or is not wanted */
    int any;
    const uint32_t
        *slot_of; /* [count] slot of each sphere by index (CAROMI_NO_SLOT: not in the columns); NULL: not known */
    uint32_t first, count; /* partners have indices [first, count) */
} caromi_cloud_best;
/* Searches for partners of the spheres of rows [begin, end). A pair may be found from either of its spheres. */
typedef void caromi_cloud_best_fn(const caromi_cloud_view *view, uint32_t begin, uint32_t end,
                                  const caromi_cloud_best *best, caromi_cloud_found *found);
/* Two more functions have this type. cloud_best_images searches for partners of the spheres' images, which are partners
 * of the spheres as well. cloud_best_runs only lists the cells that each search goes through, in found->runs, for
 * spheres in slots [begin, end). */
#endif
