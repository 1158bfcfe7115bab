/* SPDX-License-Identifier: MIT */
/* Spheres among themselves. The way of a call:
 *
 *   calls.c    checks the call and describes it as a caromi_cloud
 *   slices.c   cuts a motion into slices of time, in which spheres move by little
 *   places.c   hands out spheres as they are in a slice
 *   levels.c   finds bounds and sizes of the spheres, and which share a level
 *   kinds.c    finds where those of each size lie
 *   crowded.c  chooses levels anew where cells hold many small spheres
 *   directions.c  decides from which of two levels spheres of the other are searched for
 *   cells.c    puts them into rows of cells (cpu/cloud/cloud.h); few.c does for few spheres, which share a cell
 *   rows.c     finds and orders the rows that have spheres
 *   images.c   finds along which axes of a period spheres have images that matter, and near which bounds
 *   ask.c      asks the solver about the pairs that a scan finds open
 *   records.c  keeps pairs: lists; deliver.c puts them in order
 *   counts.c   counts pairs of each sphere instead
 *   columns.c  depth and normal of the records; previous.c finds them in an earlier list
 *   device.c   the scan of all pairs on a device; device_search.c the search for best partners, device_work.c what both
 *              share
 *   best.c     first and any partner of each sphere
 *   watch.c    reports how far a call is, and ends it early
 *   order.c    the order of cells for the caller */
#ifndef CAROM_HOST_CLOUD_CLOUD_H
#define CAROM_HOST_CLOUD_CLOUD_H
#include "calls/cloud.h"
#include "host/core/arrays.h"
#include "host/core/context.h"
#include "watch.h"

/* Spheres that are read at a time; so few are all compared with all. */
enum { CAROMI_CLOUD_BLOCK = 256, CAROMI_CLOUD_FEW = 256 };

/* A checked call. */
typedef struct caromi_cloud {
    const carom_context *context;
    uint64_t count;
    caromi_in_column in[CLOUD_COLUMNS], mask; /* base NULL: at rest, no limit, all bits */
    int is_moving, exact, finds_best;         /* first or any partners */
    carom_start start;
    float margin;
    float period[3];       /* 0: open */
    uint64_t begin, end;   /* lists: the spheres whose pairs are wanted */
    caromi_device *device; /* not NULL: it scans */
    int *device_failed;    /* of it, not of anything else */
    caromi_cloud_watch *watch;
} caromi_cloud;

/* Fewer spheres than this are answered before a thread would be awake. */
enum { CAROMI_CLOUD_SMALL = 2048 };
static inline caromi_pool *caromi_cloud_pool(const caromi_cloud *cloud)
{
    return cloud->count < CAROMI_CLOUD_SMALL ? NULL : cloud->context->pool;
}

static inline int caromi_cloud_is_periodic(const caromi_cloud *cloud)
{
    return cloud->period[0] > 0 || cloud->period[1] > 0 || cloud->period[2] > 0;
}

/* Not those that a device scans. */
static inline int caromi_cloud_is_few(const caromi_cloud *cloud)
{
    return cloud->count <= CAROMI_CLOUD_FEW && cloud->device == NULL;
}

/* A block of spheres as they were given; velocities and limits only if they move. Columns may lie in the caller's
 * arrays. */
typedef struct caromi_cloud_block {
    uint64_t first;
    uint32_t count, valid;
    const float *in[CLOUD_COLUMNS];
    uint8_t is_valid[CAROMI_CLOUD_BLOCK];
    float own[CLOUD_COLUMNS][CAROMI_CLOUD_BLOCK];
} caromi_cloud_block;

/* Reads up to a block from sphere `first` on, below `end`. */
void caromi_cloud_read(const caromi_cloud *cloud, uint64_t first, uint64_t end, caromi_cloud_block *block);

/* A slice of time, and where a sphere is in it: within `reach` of its place, its own radius counted. */
typedef struct caromi_cloud_slice {
    double begin, end;  /* both 0 for spheres at rest; +inf: no limit */
    double origin[3];   /* places are counted from here at time 0; 0 where both are 0 */
    double velocity[3]; /* of the origin, so of all spheres: pairs depend on relative motion alone */
    float *place[4];    /* of all spheres, once they are known: x, y, z and reach, -1 if not in; or NULL */
} caromi_cloud_slice;
static inline int caromi_slice_is_instant(const caromi_cloud_slice *slice)
{
    return slice->end <= 0;
}
typedef struct caromi_cloud_place {
    float at[3], reach;
} caromi_cloud_place;
/* Whether sphere i of a block may be in a pair whose hit begins in the slice. */
static inline int caromi_cloud_is_in(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                     const caromi_cloud_block *block, uint32_t i)
{
    return block->is_valid[i] && (!cloud->is_moving || (double)block->in[CLOUD_T_MAX][i] >= slice->begin);
}

/* How the window is cut: one slice [0, 0] for spheres at rest; else spans, each from the end of the one before, the
 * first from 0, into slices of one length; then, without an end, [limit, +inf). */
enum { CAROMI_CLOUD_SPANS = 12 };
typedef struct caromi_cloud_span {
    double end;
    uint32_t slices;
} caromi_cloud_span;
typedef struct caromi_cloud_slices {
    uint32_t count, span_count; /* slices of all spans, and the one without an end */
    caromi_cloud_span spans[CAROMI_CLOUD_SPANS];
    int has_end;
    double limit; /* end of the last span */
    double origin[3], velocity[3];
} caromi_cloud_slices;
void caromi_cloud_cut(const caromi_cloud *cloud, caromi_cloud_slices *slices);
caromi_cloud_slice caromi_cloud_slice_of(const caromi_cloud_slices *slices, uint32_t number);

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Reaches by exponent and the first two bits behind it. */
enum { CAROMI_REACHES = 1024 };
static inline uint32_t caromi_reach_class(float reach)
{
    uint32_t bits;
    memcpy(&bits, &reach, sizeof bits);
    return bits >> 21;
}

/* Spheres of one class of reaches: bounds of most of them, from a sample. */
enum {
    CAROMI_CLOUD_KINDS = 64,
    CAROMI_CLOUD_SAMPLE = 2048,
    CAROMI_CLOUD_KIND_LEAST = 8, /* spheres of a sample say where those of a kind lie; */
    CAROMI_CLOUD_APART = 4       /* apart, if their space is so much less than that of all */
};
typedef struct caromi_cloud_kind {
    int class;
    uint32_t count; /* of the sample */
    double low[3], high[3];
} caromi_cloud_kind;
typedef struct caromi_cloud_kinds {
    uint32_t count; /* 0: it is not known where they lie */
    caromi_cloud_kind kind[CAROMI_CLOUD_KINDS];
} caromi_cloud_kinds;
/* Of spheres at time 0, whose sides are known, if there are several kinds, not very many, and one lies apart. kinds.c.
 */
void caromi_cloud_find_kinds(const caromi_cloud *cloud, const double side[3], caromi_cloud_kinds *kinds);
/* How many spheres a sample has; which is the next one: one of so many, but never each of every second, as spheres of
 * two kinds may take turns. */
uint64_t caromi_cloud_sample(const caromi_cloud *cloud);
static inline uint64_t caromi_cloud_sampled(const caromi_cloud *cloud, uint64_t samples, uint64_t number)
{
    const uint64_t begin = caromi_slice_start(cloud->count, samples, number);
    const uint64_t end = caromi_slice_start(cloud->count, samples, number + 1);
    return begin + ((uint64_t)(uint32_t)(number * 0x9e3779b9) * (end - begin) >> 32);
}

/* The spheres of a slice as a whole. */
typedef struct caromi_cloud_extent {
    double low[3], high[3];
    uint64_t valid;
    uint64_t reaches[CAROMI_REACHES];
    float largest;  /* reach */
    double side[3]; /* caromi_cloud_sides */
    caromi_cloud_kinds kinds;
} caromi_cloud_extent;

carom_status caromi_cloud_measure(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                  caromi_cloud_extent *extent, carom_error *err);

/* Some spheres, ordered by index. What is behind the last place, up to a multiple of 16, is like it. */
typedef struct caromi_cloud_batch {
    uint32_t count;
    const float *place[4]; /* x, y, z, reach */
    uint32_t index[CAROMI_CLOUD_BLOCK];
} caromi_cloud_batch;
typedef void caromi_cloud_use_fn(void *user, const caromi_cloud_batch *batch);
/* Calls `use` for all spheres [begin, end) that are valid and in the slice. is_first: places are to be kept, if the
 * slice has room for them; later they are those that were kept. */
void caromi_cloud_feed(const caromi_cloud *cloud, const caromi_cloud_slice *slice, int is_first, uint64_t begin,
                       uint64_t end, caromi_cloud_use_fn *use, void *user);

/* Of `count` numbers the one that has so many before it in ascending order; they are moved about. */
float caromi_cloud_select(float *x, size_t count, size_t rank);
/* The sides of the space that most centres are in; its volume, where no side counts as less than `least`. */
void caromi_cloud_sides(const caromi_cloud *cloud, double side[3]);
double caromi_cloud_volume(const double side[3], double least);
/* The width of cells of a level whose spheres reach so far, at least. */
double caromi_cloud_width_for(const caromi_cloud *cloud, double reach);
/* A level of spheres within bounds. */
caromi_cloud_level caromi_cloud_level_of(double reach, double width, const double low[3], const double high[3]);
/* Cells may be so many times as wide where searches for best partners end early. */
enum { CAROMI_CLOUD_SEARCH = 2 };
/* Chooses levels by size, coarsest first, and the level of each class of reaches. Returns their number. */
uint32_t caromi_cloud_choose_levels(const caromi_cloud *cloud, const caromi_cloud_extent *extent,
                                    caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t of_class[CAROMI_REACHES]);

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Columns of the sorted spheres: where they are in the slice; for a device, if they move, also as they were given. */
enum {
    CLOUD_PLACE_X,
    CLOUD_PLACE_Y,
    CLOUD_PLACE_Z,
    CLOUD_REACH,
    CLOUD_RESTING,
    CLOUD_GIVEN = CLOUD_RESTING, /* CLOUD_X .. CLOUD_T_MAX */
    CLOUD_MOVING = CLOUD_GIVEN + CLOUD_COLUMNS
};

/* Spheres of a slice in rows of cells. */
typedef struct caromi_cloud_cells {
    caromi_cloud_view view;
    uint64_t count;   /* of spheres */
    uint64_t doubled; /* pairs of spheres that share a cell */
    float *column[CLOUD_MOVING];
    float *given;           /* [CLOUD_COLUMNS * spheres] in rows; NULL: at rest, and given by their places */
    uint32_t *index, *mask; /* of the sphere; mask NULL: none */
    uint32_t *starts, *table;
    caromi_cloud_row *rows;
    void *few;                                      /* has all of these arrays, of few spheres; or NULL */
    caromi_cloud_level levels[CAROMI_CLOUD_LEVELS]; /* from here on much room, of which only what is in use is set */
    caromi_cloud_images images;
} caromi_cloud_cells;

carom_status caromi_cloud_build(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells,
                                carom_error *err);
/* The same for few spheres. 0: no memory. few.c. */
int caromi_cloud_enter_few(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells);
void caromi_cloud_free(const caromi_cloud *cloud, caromi_cloud_cells *cells);
/* Of the spheres of a level. images.c. */
caromi_cloud_bounds caromi_cloud_bounds_of(const caromi_cloud *cloud, const caromi_cloud_cells *cells, uint32_t level);
/* view.images: NULL if no image may touch a sphere. images.c. */
void caromi_cloud_find_images(const caromi_cloud *cloud, caromi_cloud_cells *cells);
/* The motion of the sorted spheres, if they move; pairs that have begun are open. slices.c. */
caromi_cloud_motion caromi_cloud_motion_in(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                           const caromi_cloud_cells *cells);

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* A pair that is a hit, or within the margin. */
typedef struct caromi_cloud_pair {
    uint32_t a, b; /* places in the columns; a is of the lower index */
    float t;
    uint8_t state, image; /* as the kernel has it (STATE_NEAR); of b */
    uint8_t by;           /* search for best partners: whose it is, a (0) or b (1) */
} caromi_cloud_pair;

/* Takes pairs, from any thread; those of one sphere's search from one alone. */
typedef void caromi_cloud_take_fn(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count);

/* Takes pairs of which the scan itself is sure, by index, in any order of the two: all overlapping at time 0, or all
 * near. The image is that of each pair's first sphere. */
typedef void caromi_cloud_take_sure_fn(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, int image,
                                       uint8_t state);

/* A scan of all rows; `take` or `take_sure` gets each pair of the slice whose hit begins in it. */
typedef struct caromi_cloud_scan {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells;
    const caromi_cloud_slice *slice;
    int is_first, is_last;         /* slice */
    const caromi_cloud_best *best; /* NULL: all pairs */
    caromi_cloud_take_fn *take;
    caromi_cloud_take_sure_fn *take_sure; /* not called in a search for best partners */
    void *user;
} caromi_cloud_scan;
carom_status caromi_cloud_run(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err);

/* order.c: [spheres] the spheres by cell at time 0, then those in no cell, by index. */
carom_status caromi_cloud_order(const caromi_cloud *cloud, uint32_t *order, carom_error *err);

#endif
