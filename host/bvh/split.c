/* SPDX-License-Identifier: MIT */
/* One split by binned SAH. The contributions of slices (bounds, histograms of bins) are exact, and the partition is
 * stable, so the result does not depend on slices or threads. */
#include "bvh.h"

enum { SIDE_BY_SIDE = 128 }; /* number of items from which on two sets of bins are faster than one */

/* ---- the steps, on a whole part or on a slice of it -------------------------------------------------------------- */

/* The bounds of twice the centroids of the items' boxes. */
static bvh_box centroids_of(const bvh_item *items, uint32_t count)
{
    bvh_box even = bvh_empty(), odd = even; /* two accumulators, as each is a chain of dependent operations */
    for (uint32_t i = 0; i < count; i++) {
        const bvh_box box = bvh_box_of(&items[i]);
        const bvh_vec middle = box.lo + box.hi;
        bvh_grow(i & 1 ? &odd : &even, (bvh_box){middle, middle});
    }
    bvh_grow(&even, odd);
    return even;
}

/* Sets the frame of the bins. An axis along which all centroids are (nearly) equal gets one bin. */
static void set_frame(bvh_split *split, const bvh_box *centroids)
{
    split->low = centroids->lo;
    for (int k = 0; k < 4; k++) {
        const float extent = centroids->hi[k] - centroids->lo[k];
        const float per_bin = (float)BVH_BINS / extent;
        split->per_bin[k] = extent > 0 && per_bin < 1e30f ? per_bin : 0;
    }
}

static void clear_bins(bvh_bins *bins)
{
    for (int axis = 0; axis < 3; axis++)
        for (int bin = 0; bin < BVH_BINS; bin++)
            bins->box[axis][bin] = bvh_empty();
    memset(bins->count, 0, sizeof bins->count);
}

/* Adds an item to its bin along each axis. */
static inline void put_in_bins(bvh_bins *bins, const bvh_item *item, bvh_vec low, bvh_vec per_bin)
{
    const bvh_vec last = {BVH_BINS - 1, BVH_BINS - 1, BVH_BINS - 1, 0};
    const bvh_box box = bvh_box_of(item);
    const bvh_ints bin = __builtin_convertvector(bvh_min((box.lo + box.hi - low) * per_bin, last), bvh_ints);
    for (int axis = 0; axis < 3; axis++) {
        bvh_grow(&bins->box[axis][bin[axis]], box);
        bins->count[axis][bin[axis]]++;
    }
}

static void add_bins(bvh_bins *bins, const bvh_bins *other)
{
    for (int axis = 0; axis < 3; axis++)
        for (int bin = 0; bin < BVH_BINS; bin++) {
            bvh_grow(&bins->box[axis][bin], other->box[axis][bin]);
            bins->count[axis][bin] += other->count[axis][bin];
        }
}

/* Fills the bins. Neighbouring items often fall into the same bin, where each update waits for the one before. So items
 * of the first and the second half are binned alternately. */
static void fill_bins(bvh_bins *bins, const bvh_item *items, uint32_t count, const bvh_split *split)
{
    const bvh_vec low = split->low, per_bin = split->per_bin;
    bvh_bins other;
    uint32_t done = 0;
    clear_bins(bins);
    if (count >= SIDE_BY_SIDE) {
        clear_bins(&other);
        for (uint32_t i = 0; i < count / 2; i++) {
            put_in_bins(bins, &items[i], low, per_bin);
            put_in_bins(&other, &items[count / 2 + i], low, per_bin);
        }
        add_bins(bins, &other);
        done = count / 2 * 2;
    }
    for (uint32_t i = done; i < count; i++)
        put_in_bins(bins, &items[i], low, per_bin);
}

/* The SAH cost of a side: its area times its number of leaves of `width`. */
static float cost_of(const bvh_box *box, uint32_t count, uint32_t width)
{
    return bvh_area(box->lo, box->hi) * (float)((count + width - 1) / width);
}

/* Tests the BVH_BINS-1 splits along one axis; splits with an empty side do not count. */
static void try_axis(const bvh_bins *bins, int axis, uint32_t count, uint32_t width, bvh_split *best)
{
    const bvh_box *boxes = bins->box[axis];
    const uint32_t *counts = bins->count[axis];
    float right[BVH_BINS];
    bvh_box box = bvh_empty();
    uint32_t above = 0, left = 0;
    /* From the last bin down: the cost of everything from each bin on. */
    for (int bin = BVH_BINS - 1; bin > 0; bin--) {
        bvh_grow(&box, boxes[bin]);
        above += counts[bin];
        right[bin] = cost_of(&box, above, width);
    }
    /* From the first bin up: the cost of everything before each bin, plus the rest. */
    box = bvh_empty();
    for (int bin = 1; bin < BVH_BINS; bin++) {
        bvh_grow(&box, boxes[bin - 1]);
        left += counts[bin - 1];
        const float cost = cost_of(&box, left, width) + right[bin];
        if (left > 0 && left < count && (best->axis < 0 || cost < best->cost)) {
            best->axis = axis;
            best->bin = bin;
            best->cost = cost;
            best->left = left;
        }
    }
}

/* Chooses the cheapest split of all axes, and computes the boxes of its sides. */
static void choose_split(const bvh_bins *bins, uint32_t count, int width, bvh_split *split)
{
    split->axis = -1;
    for (int axis = 0; axis < 3; axis++)
        if (split->per_bin[axis] > 0)
            try_axis(bins, axis, count, (uint32_t)width, split);
    split->box[0] = split->box[1] = bvh_empty();
    for (int bin = 0; bin < BVH_BINS && split->axis >= 0; bin++)
        bvh_grow(&split->box[bin >= split->bin], bins->box[split->axis][bin]);
}

/* Partitions the items: a comparison of coordinates that agrees with the bins, which are rounded down. */
static void partition(const bvh_item *from, uint32_t count, const bvh_split *split, bvh_item *left, bvh_item *right)
{
    const int axis = split->axis;
    const float low = split->low[axis], per_bin = split->per_bin[axis], bin = (float)split->bin;
    for (uint32_t i = 0; i < count; i++) {
        const int is_right = (from[i].lo[axis] + from[i].hi[axis] - low) * per_bin >= bin;
        *(is_right ? right : left) = from[i];
        right += is_right;
        left += !is_right;
    }
}

/* ---- a part on one thread ---------------------------------------------------------------------------------------- */

void caromi_bvh_find_split(const bvh_item *items, uint32_t count, int width, bvh_split *split)
{
    bvh_bins bins;
    const bvh_box centroids = centroids_of(items, count);
    set_frame(split, &centroids);
    fill_bins(&bins, items, count, split);
    choose_split(&bins, count, width, split);
}

void caromi_bvh_partition(const bvh_item *from, bvh_item *to, uint32_t count, const bvh_split *split)
{
    partition(from, count, split, to, to + split->left);
}

/* ---- a part on all threads --------------------------------------------------------------------------------------- */

/* The split of a part whose items are cut into slices, one task each. */
typedef struct large_run {
    const bvh_build *build;
    const bvh_item *from;
    bvh_item *to;
    uint32_t count;
    bvh_split *split;
} large_run;

static uint32_t slice_start(const large_run *run, uint64_t slice)
{
    return (uint32_t)caromi_slice_start(run->count, run->build->slice_count, slice);
}

static uint32_t slice_size(const large_run *run, uint64_t slice)
{
    return slice_start(run, slice + 1) - slice_start(run, slice);
}

static void find_centroids(void *user, uint64_t slice, uint32_t thread)
{
    const large_run *run = user;
    (void)thread;
    (void)caromi_watch_look(run->build->mesh->watch);
    run->build->slices[slice].centroids = centroids_of(run->from + slice_start(run, slice), slice_size(run, slice));
}

static void find_bins(void *user, uint64_t slice, uint32_t thread)
{
    const large_run *run = user;
    (void)thread;
    (void)caromi_watch_look(run->build->mesh->watch);
    fill_bins(&run->build->slices[slice].bins, run->from + slice_start(run, slice), slice_size(run, slice), run->split);
}

/* Task: partitions a slice; a prefix sum of the slices' histograms is where its items go. */
static void partition_slice(void *user, uint64_t slice, uint32_t thread)
{
    const large_run *run = user;
    const bvh_split *split = run->split;
    uint32_t left = 0;
    (void)thread;
    (void)caromi_watch_look(run->build->mesh->watch);
    for (uint64_t earlier = 0; earlier < slice; earlier++)
        for (int bin = 0; bin < split->bin; bin++)
            left += run->build->slices[earlier].bins.count[split->axis][bin];
    const uint32_t start = slice_start(run, slice);
    partition(run->from + start, slice_size(run, slice), split, run->to + left, run->to + split->left + start - left);
}

/* Each step runs on all threads, slice by slice: bounds of centroids, bins, partition. */
void caromi_bvh_split_large(const bvh_build *build, const bvh_item *from, bvh_item *to, uint32_t count,
                            bvh_split *split)
{
    caromi_pool *pool = build->mesh->context->pool;
    large_run run = {build, from, to, count, split};
    caromi_parallel(pool, build->slice_count, find_centroids, &run);
    bvh_box centroids = bvh_empty();
    for (uint32_t slice = 0; slice < build->slice_count; slice++)
        bvh_grow(&centroids, build->slices[slice].centroids);
    set_frame(split, &centroids);
    caromi_parallel(pool, build->slice_count, find_bins, &run);
    bvh_bins bins;
    clear_bins(&bins);
    for (uint32_t slice = 0; slice < build->slice_count; slice++)
        add_bins(&bins, &build->slices[slice].bins);
    choose_split(&bins, count, build->width, split);
    if (split->axis >= 0)
        caromi_parallel(pool, build->slice_count, partition_slice, &run);
}
