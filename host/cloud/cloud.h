/* SPDX-License-Identifier: MIT */
/* Spheres among themselves.
 *
 * How a list is made, in order:
 *
 *   1. calls.c     checks the call and describes it as a caromi_cloud (against.c: two clouds as one).
 *      answer.c    answer_list: one scan_all keeps records. If they exceed the list's capacity, a second scan_all
 *                  counts the pairs of each sphere, and a third keeps the records of the spheres that fit.
 *   2. slices.c    caromi_cloud_cut: cuts the time window into slices in which spheres move by little, by a sample
 *                  (drawn.c; drift.c finds a velocity common to most). Steps 3 to 8 are repeated for each slice.
 *   3. levels.c    caromi_cloud_measure: bounds of the spheres and a histogram of their sizes (kinds.c: where spheres
 *                  of each size lie, from a sample). caromi_cloud_choose_levels: which sizes share a level.
 *   4. cells.c     caromi_cloud_build: sorts the spheres into rows of cells, by counting sorts. rows.c numbers the
 *                  rows, batches.c computes a sphere's bounding sphere in the slice, crowded.c refines levels by local
 *                  density, directions.c chooses for two levels which one is searched, images.c finds the periodic
 *                  images that matter. one_cell.c replaces all of this for a few spheres, which share one cell.
 *   5. dense.c     caromi_refuse_dense: refuses a hopeless number of pairs, from a sample.
 *   6. narrow_phase.c  caromi_cloud_run: cuts the rows into tasks for the threads. Broad phase and filter are in
 *                  cpu/cloud: each task fills a buffer with certain pairs and with undecided ones. On a device,
 *                  device.c does this step: the host lists runs of candidates, the device filters them.
 *   7. narrow_phase.c  caromi_narrow_phase_flush: called by the scan when a buffer is full. Certain pairs go to
 *                  scan->emit_certain. Undecided ones go through the solver (narrow phase) and, if they are hits, to
 *                  scan->emit.
 *   8. records.c   caromi_records_add, caromi_records_add_certain: the two callbacks of a list. Each thread appends to
 *                  blocks of its own, bucketed by sphere a. (A count has counts.c instead.)
 *   9. scatter.c   caromi_records_scatter: a counting sort of each bucket by a, then each row by t and b, into columns.
 *  10. columns.c   caromi_columns_fill: depth and normal; previous.c: the index of a pair in an earlier list.
 *
 * A status other than CAROM_OK goes up through all of these. If it is the device's own, *cloud->device_failed is set
 * too, and calls.c lets the CPU answer instead of failing.
 *
 * First and any partners (best.c) take steps 2 to 7 with callbacks of their own, or a search per sphere
 * (device_search.c on a device; device_work.c is common to both). watch.c reports progress and ends a call early.
 * order.c gives the order of step 4 to the caller. itself.c makes a cloud against itself a search of one cloud. */
#ifndef CAROM_HOST_CLOUD_CLOUD_H
#define CAROM_HOST_CLOUD_CLOUD_H
#include "calls/cloud.h"
#include "host/core/arrays.h"
#include "host/core/context.h"
#include "watch.h"

/* Spheres of a block, which are read together; up to how many spheres share a single cell. */
enum { CAROMI_CLOUD_BLOCK = 256, CAROMI_CLOUD_ONE_CELL = 256 };

/* A checked call. */
typedef struct caromi_cloud {
    const carom_context *context;
    uint64_t count;
    caromi_in_column in[CLOUD_COLUMNS]; /* missing columns (base NULL): velocity 0, no t_max */
    caromi_in_column mask, group;       /* group.base NULL: a sphere's mask. mask.base NULL: all bits, and no groups */
    int is_moving, exact, finds_best;   /* finds_best: first or any partners instead of all pairs */
    carom_start start;
    /* Pairs are those of a sphere below `split` and one of the others: against.c. */
    int is_split;
    uint64_t split;
    int meets_itself; /* each sphere is in a pair with itself, too: itself.c */
    /* The second cloud's columns where they are read as they lie: by a device that sorts the spheres by itself, for
     * which `count` is the first one's, and of spheres at rest. NULL: the second's spheres follow the first's in the
     * columns, or there is one cloud. */
    const struct caromi_cloud *second;
    float margin;
    float period[3];       /* 0: not periodic along this axis */
    uint64_t begin, end;   /* lists: only pairs whose sphere a is in [begin, end) */
    caromi_device *device; /* not NULL: it runs the scan */
    int *device_failed;    /* the caller's flag, set to 1 if the device itself fails; the CPU answers then */
    caromi_cloud_watch *watch;
} caromi_cloud;

/* The number of spheres that answers are about: of two clouds the first one's. */
static inline uint64_t caromi_cloud_asked(const caromi_cloud *cloud)
{
    return cloud->is_split ? cloud->split : cloud->count;
}

/* An input of a sphere, by its number among all. */
static inline const void *caromi_cloud_element(const caromi_cloud *cloud, int column, uint64_t index)
{
    const int is_second = cloud->second != NULL && index >= cloud->split;
    return is_second ? caromi_element(&cloud->second->in[column], index - cloud->split)
                     : caromi_element(&cloud->in[column], index);
}

/* Whether spheres of a call move. */
static inline int caromi_cloud_moves(const carom_cloud_desc *desc)
{
    return desc->velocity.x != NULL || (desc->against != NULL && desc->against->velocity.x != NULL);
}

/* Fewer spheres than this are answered sooner than a sleeping thread wakes up. */
enum { CAROMI_CLOUD_SMALL = 2048 };
static inline caromi_pool *caromi_cloud_pool(const caromi_cloud *cloud)
{
    return cloud->count < CAROMI_CLOUD_SMALL ? NULL : cloud->context->pool;
}

static inline int caromi_cloud_is_periodic(const caromi_cloud *cloud)
{
    return cloud->period[0] > 0 || cloud->period[1] > 0 || cloud->period[2] > 0;
}

/* Whether all spheres share one cell (one_cell.c). A device always scans cells. */
static inline int caromi_cloud_is_one_cell(const caromi_cloud *cloud)
{
    return cloud->count <= CAROMI_CLOUD_ONE_CELL && cloud->device == NULL;
}

/* Inputs of up to CAROMI_CLOUD_BLOCK consecutive spheres. A column `in` points into the caller's array if that is
 * packed, else to its copy in `own`. Velocities and t_max are set only if spheres move. */
typedef struct caromi_cloud_block {
    uint64_t first;
    uint32_t count, valid; /* spheres; valid spheres */
    const float *in[CLOUD_COLUMNS];
    uint8_t is_valid[CAROMI_CLOUD_BLOCK];
    float own[CLOUD_COLUMNS][CAROMI_CLOUD_BLOCK];
} caromi_cloud_block;

/* Reads spheres [first, end), at most a block of them. */
void caromi_cloud_read(const caromi_cloud *cloud, uint64_t first, uint64_t end, caromi_cloud_block *block);

/* A slice of time. In it a sphere has a bounding sphere with centre `position` and radius `reach`, which holds all of
 * its motion. */
typedef struct caromi_cloud_slice {
    double begin, end;  /* both 0 for spheres at rest; end +inf: no limit */
    double origin[3];   /* where it is at time 0; positions are relative to it. 0 if begin and end are 0 */
    double velocity[3]; /* of the origin; is subtracted from all velocities, as pairs depend on relative motion alone */
    float *position[4]; /* cache [spheres]: x, y, z and reach, which is -1 for a sphere outside the slice; NULL: not
                           cached */
} caromi_cloud_slice;
static inline int caromi_slice_is_instant(const caromi_cloud_slice *slice)
{
    return slice->end <= 0;
}
/* The bounding sphere of a sphere in a slice. */
typedef struct caromi_cloud_position {
    float at[3], reach;
} caromi_cloud_position;
/* Whether sphere i of a block may be in a pair whose hit begins in the slice. */
static inline int caromi_cloud_is_in(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                     const caromi_cloud_block *block, uint32_t i)
{
    return block->is_valid[i] && (!cloud->is_moving || (double)block->in[CLOUD_T_MAX][i] >= slice->begin);
}

/* How the time window is cut into slices. Spheres at rest have one slice, [0, 0]. Else the window is a sequence of
 * spans that begin at 0, each cut into slices of equal length. A window without an end has a last slice [limit, +inf).
 */
enum { CAROMI_CLOUD_SPANS = 12 };
typedef struct caromi_cloud_span {
    double end; /* it begins at the end of the span before */
    uint32_t slices;
} caromi_cloud_span;
typedef struct caromi_cloud_slices {
    uint32_t count, span_count; /* count: slices of all spans, and the last one without an end */
    caromi_cloud_span spans[CAROMI_CLOUD_SPANS];
    int has_end;
    double limit; /* end time of the last span */
    double origin[3], velocity[3];
} caromi_cloud_slices;
void caromi_cloud_cut(const caromi_cloud *cloud, caromi_cloud_slices *slices);
caromi_cloud_slice caromi_cloud_slice_of(const caromi_cloud_slices *slices, uint32_t number);

/* Limits of all spheres. A pair has the smaller one of two, so the second largest ends the time window; of two clouds
 * the smaller one of their largest. */
typedef struct caromi_cloud_limits {
    float end, last; /* last: the largest finite one */
} caromi_cloud_limits;
caromi_cloud_limits caromi_cloud_limits_of(const caromi_cloud *cloud);
/* What slices are chosen from: these limits, and the valid spheres of a sample. drawn.c. */
enum { CAROMI_CLOUD_DRAWN = 1024 };
typedef struct caromi_cloud_drawn {
    caromi_cloud_limits limits;
    uint64_t spheres; /* of the cloud: of up to CAROMI_CLOUD_DRAWN all are drawn, in their order */
    uint32_t count;
    float column[CLOUD_COLUMNS][CAROMI_CLOUD_DRAWN];
    double side[3]; /* see caromi_cloud_sides */
} caromi_cloud_drawn;
/* Draws all but the limits. */
void caromi_cloud_draw(const caromi_cloud *cloud, caromi_cloud_drawn *drawn);
/* Cuts the window of a cloud in motion by what is drawn. Permutes the columns. */
void caromi_cloud_cut_drawn(caromi_cloud_drawn *drawn, caromi_cloud_slices *slices);
/* Whether a sphere is elsewhere at a time that rounds to 0. */
int caromi_cloud_leaves_start(const caromi_cloud *cloud);

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* The class of a reach is its binary exponent and the first two bits of its mantissa. */
enum { CAROMI_REACHES = 1024 };
static inline uint32_t caromi_reach_class(float reach)
{
    uint32_t bits;
    memcpy(&bits, &reach, sizeof bits);
    return bits >> 21;
}

/* A kind: the spheres of one class of reaches, with the bounds of most of them, from a sample. */
enum {
    CAROMI_CLOUD_KINDS = 64,     /* at most so many kinds */
    CAROMI_CLOUD_SAMPLE = 2048,  /* at most so many spheres of a sample */
    CAROMI_CLOUD_KIND_LEAST = 8, /* sampled spheres that a kind needs before its bounds count */
    CAROMI_CLOUD_APART = 4       /* a kind lies apart if its volume is so many times smaller than the cloud's */
};
typedef struct caromi_cloud_kind {
    int class;
    uint32_t count; /* of its spheres in the sample */
    double low[3], high[3];
} caromi_cloud_kind;
typedef struct caromi_cloud_kinds {
    uint32_t count; /* 0: the bounds of kinds are not known or not useful */
    caromi_cloud_kind kind[CAROMI_CLOUD_KINDS];
} caromi_cloud_kinds;
/* The number of spheres of a sample, and the index of one of them. Each comes from its own equal share of the cloud, at
 * a pseudorandom position: a fixed step would miss every sphere of one kind where two kinds alternate. */
uint64_t caromi_cloud_samples(uint64_t spheres);
static inline uint64_t caromi_cloud_sampled(uint64_t spheres, uint64_t samples, uint64_t number)
{
    const uint64_t begin = caromi_slice_start(spheres, samples, number);
    const uint64_t end = caromi_slice_start(spheres, samples, number + 1);
    return begin + ((uint64_t)(uint32_t)(number * 0x9e3779b9) * (end - begin) >> 32);
}
/* A sample of the spheres at time 0: x, y, z and radius of each, -1 if one of them is invalid. */
typedef struct caromi_cloud_sample {
    uint64_t spheres; /* of the cloud */
    uint32_t count;
    float row[CAROMI_CLOUD_SAMPLE][CLOUD_R + 1];
} caromi_cloud_sample;
/* Where the spheres lie on a GPU, a kernel draws the same (host/opencl/grid_order.c). */
void caromi_cloud_draw_sample(const caromi_cloud *cloud, caromi_cloud_sample *sample);
/* Finds the kinds of the spheres in a sample. side: of the cloud, from caromi_cloud_sides. The count is 0 if there is
 * one kind only, if there are too many, or if none lies apart from the others. kinds.c. */
void caromi_cloud_find_kinds(const caromi_cloud_sample *sample, const double side[3], caromi_cloud_kinds *kinds);

/* Bounds and sizes of all spheres of a slice. */
typedef struct caromi_cloud_extent {
    double low[3], high[3];
    uint64_t valid;                   /* number of valid spheres */
    uint64_t reaches[CAROMI_REACHES]; /* histogram of reaches: spheres of each class */
    float largest;                    /* the largest reach */
    double side[3];                   /* see caromi_cloud_sides */
    caromi_cloud_kinds kinds;
} caromi_cloud_extent;

carom_status caromi_cloud_measure(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                  caromi_cloud_extent *extent, carom_error *err);

/* Some spheres of a slice, by ascending index. Columns are padded to a multiple of 16 with copies of the last sphere.
 */
typedef struct caromi_cloud_batch {
    uint32_t count;
    const float *position[4]; /* x, y, z, reach */
    uint32_t index[CAROMI_CLOUD_BLOCK];
} caromi_cloud_batch;
typedef void caromi_cloud_use_fn(void *user, const caromi_cloud_batch *batch);
/* Calls `use`, batch by batch, for the spheres [begin, end) that are valid and in the slice. If slice->position is a
 * cache, the first pass over the slice fills it, and later passes read it. */
typedef enum caromi_pass { CAROMI_LATER_PASS, CAROMI_FIRST_PASS } caromi_pass;
void caromi_cloud_each_batch(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_pass pass,
                             uint64_t begin, uint64_t end, caromi_cloud_use_fn *use, void *user);

/* The number of a given rank in ascending order (quickselect); permutes x. */
float caromi_cloud_select(float *x, size_t count, size_t rank);
/* The sides of the box that holds most centres, from a sample. */
void caromi_cloud_sides(const caromi_cloud_sample *sample, double side[3]);
/* The side along one axis, from some coordinates, which are permuted. */
double caromi_cloud_side_of(float *coordinates, size_t count);
/* A box's volume, where each side counts as at least `least`. */
double caromi_cloud_volume(const double side[3], double least);
/* The least width of the cells of a level whose largest reach is `reach`. */
double caromi_cloud_width_for(const caromi_cloud *cloud, double reach);
/* A level of spheres up to a reach, with cells of a width over the bounds [low, high]. */
caromi_cloud_level caromi_cloud_level_of(double reach, double width, const double low[3], const double high[3]);
/* Factor on the width of cells where searches for best partners end early. */
enum { CAROMI_CLOUD_SEARCH = 2 };
/* Chooses levels by the sizes of spheres, coarsest first, and the level of each class of reaches. Returns the number of
 * levels. */
uint32_t caromi_cloud_choose_levels(const caromi_cloud *cloud, const caromi_cloud_extent *extent,
                                    caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t of_class[CAROMI_REACHES]);

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Columns of the sorted spheres: their positions in the slice; for a device, if spheres move, also the caller's inputs.
 */
enum {
    CLOUD_POSITION_X,
    CLOUD_POSITION_Y,
    CLOUD_POSITION_Z,
    CLOUD_REACH,
    CLOUD_POSITION_COLUMNS,
    CLOUD_GIVEN = CLOUD_POSITION_COLUMNS, /* the caller's inputs, CLOUD_X to CLOUD_T_MAX */
    CLOUD_ALL_COLUMNS = CLOUD_GIVEN + CLOUD_COLUMNS
};

/* Spheres of a slice in rows of cells. */
typedef struct caromi_cloud_cells {
    caromi_cloud_view view;
    uint64_t count;   /* number of spheres */
    uint64_t doubled; /* pairs of spheres that share a cell */
    float *column[CLOUD_ALL_COLUMNS];
    float *given; /* [spheres][CLOUD_COLUMNS] the caller's inputs, sphere by sphere; NULL: at rest, where the positions
                     are the inputs */
    uint32_t *index, *mask, *group; /* [spheres] by slot: index, mask and group of the sphere; mask NULL: no masks;
                                       group NULL: masks are groups */
    uint32_t *starts;               /* first slot of each cell, row by row */
    uint32_t *table;                /* lookup of rows by level, y and z: dense or hashed */
    caromi_cloud_row *rows;         /* sorted by level, z and y */
    /* One allocation with all of the arrays above, of few spheres; NULL: they are allocated one by one. */
    void *one_cell;
    caromi_cloud_level levels[CAROMI_CLOUD_LEVELS]; /* large members come last; only entries in use are set */
    caromi_cloud_images images;
} caromi_cloud_cells;

carom_status caromi_cloud_build(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells,
                                carom_error *err);
/* caromi_cloud_build for few spheres. Returns 0 if there is no memory. one_cell.c. */
int caromi_cloud_enter_one_cell(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells);
void caromi_cloud_free(const caromi_cloud *cloud, caromi_cloud_cells *cells);
/* The bounds of the spheres of a level. images.c. */
caromi_cloud_bounds caromi_cloud_bounds_of(const caromi_cloud *cloud, const caromi_cloud_cells *cells, uint32_t level);
/* Sets view.images, to NULL if no periodic image may touch a sphere. images.c. */
void caromi_cloud_find_images(const caromi_cloud *cloud, caromi_cloud_cells *cells);
/* The motion of the sorted spheres within a slice, for the scan; pairs that overlap where it begins are left to the
 * solver. slices.c. */
caromi_cloud_motion caromi_cloud_motion_in(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                           const caromi_cloud_cells *cells);

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* A pair that the solver has computed: a hit, or within the margin. */
typedef struct caromi_cloud_pair {
    uint32_t a, b; /* slots in the sorted columns; a has the lower index */
    float t;
    uint8_t state, image; /* state: the kernel's, with STATE_NEAR; image: periodic image of b */
    uint8_t by;           /* in a search for best partners: whether the searching sphere is a (0) or b (1) */
} caromi_cloud_pair;

/* The scan's callback for hits that the solver has computed. Any thread may call it; the pairs of one sphere's search
 * come from one thread. */
typedef void caromi_cloud_emit_fn(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count);

/* The scan's callback for pairs that its filter has decided: all overlapping at time 0, or all near (within the
 * margin). They are given by sphere index, in either order. `image` is the periodic image of each pair's first sphere.
 */
typedef void caromi_cloud_emit_certain_fn(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, int image,
                                          uint8_t state);

/* A scan of all rows. Each pair whose hit begins in the slice goes to `emit` or `emit_certain`, once. */
typedef struct caromi_cloud_scan {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells;
    const caromi_cloud_slice *slice;
    int is_first, is_last;         /* whether the slice is the first or the last of the window */
    const caromi_cloud_best *best; /* NULL: all pairs */
    caromi_cloud_emit_fn *emit;
    caromi_cloud_emit_certain_fn *emit_certain; /* not called if `best` is set */
    void *user;
} caromi_cloud_scan;
carom_status caromi_cloud_run(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err);

/* The cloud whose cells are those of an order: centres and radii alone matter. order.c. */
caromi_cloud caromi_cloud_resting(const caromi_cloud *cloud);
/* Writes order[spheres]: the indices of the spheres by cell at time 0, then of the spheres in no cell. A GPU does the
 * same by itself (host/opencl/grid_order.c). */
carom_status caromi_cloud_order(const caromi_cloud *cloud, uint32_t *order, carom_error *err);

#endif
