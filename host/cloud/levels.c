/* SPDX-License-Identifier: MIT */
/* Measures a cloud, bounds and sizes of its spheres, and chooses which sizes share a level. Answers do not depend on
 * levels. */
#include <math.h>
#include <string.h>

#include "cloud.h"

enum {
    SAMPLE_LEAST = 64,   /* least spheres of a sample */
    SAMPLE_OF = 16,      /* one sphere in so many is sampled */
    PARTS_EACH = 4,      /* tasks of each thread; one further task finds the sides */
    LEVELS_BY_SIZE = 16, /* at most so many levels are chosen by size */
    SEARCH_PARTNERS = 64 /* partners of a sphere; with fewer, testing all pairs is faster than a search for each */
};

/* ---- extent ------------------------------------------------------------------------------------------------------ */

/* The measuring of a cloud, part by part. */
typedef struct measure_job {
    const caromi_cloud *cloud;
    const caromi_cloud_slice *slice;
    uint64_t parts;
    caromi_cloud_extent *extents; /* [parts] */
    caromi_cloud_extent *sum;
} measure_job;

/* The callback's user of one part. */
typedef struct measure_part {
    const caromi_cloud *cloud;
    caromi_cloud_extent *extent;
} measure_part;

/* Extends bounds and histogram by a batch of spheres. */
static void extend(void *user, const caromi_cloud_batch *batch)
{
    measure_part *part = user;
    caromi_cloud_extent *extent = part->extent;
    caromi_cloud_bounds bounds;
    part->cloud->context->isa->cloud_bound(batch->position, batch->count, &bounds);
    for (int k = 0; k < 3; k++) {
        extent->low[k] = (double)bounds.low[k] < extent->low[k] ? (double)bounds.low[k] : extent->low[k];
        extent->high[k] = (double)bounds.high[k] > extent->high[k] ? (double)bounds.high[k] : extent->high[k];
    }
    /* The histogram of reaches: mostly all spheres of a batch are in one class. */
    const uint32_t class = caromi_reach_class(bounds.low[CLOUD_REACH]);
    if (class == caromi_reach_class(bounds.high[CLOUD_REACH]))
        extent->reaches[class] += batch->count;
    else
        for (uint32_t i = 0; i < batch->count; i++)
            extent->reaches[caromi_reach_class(batch->position[CLOUD_REACH][i])]++;
    extent->largest = bounds.high[CLOUD_REACH] > extent->largest ? bounds.high[CLOUD_REACH] : extent->largest;
    extent->valid += batch->count;
}

static void begin_extent(caromi_cloud_extent *extent)
{
    memset(extent, 0, offsetof(caromi_cloud_extent, kinds));
    extent->kinds.count = 0;
    for (int k = 0; k < 3; k++) {
        extent->low[k] = (double)INFINITY;
        extent->high[k] = -(double)INFINITY;
    }
}

/* Task 0 finds the cloud's sides from a sample; each other task measures a part of the spheres. */
static void measure_task(void *user, uint64_t task, uint32_t thread)
{
    const measure_job *job = user;
    const uint64_t part_number = task - 1;
    (void)thread;
    if (task == 0) {
        caromi_cloud_sample sample;
        caromi_cloud_draw_sample(job->cloud, &sample);
        caromi_cloud_sides(&sample, job->sum->side);
        if (caromi_slice_is_instant(job->slice))
            caromi_cloud_find_kinds(&sample, job->sum->side, &job->sum->kinds);
        return;
    }
    measure_part part = {job->cloud, &job->extents[part_number]};
    begin_extent(part.extent);
    caromi_cloud_each_batch(job->cloud, job->slice, CAROMI_FIRST_PASS,
                            caromi_slice_start(job->cloud->count, job->parts, part_number),
                            caromi_slice_start(job->cloud->count, job->parts, part_number + 1), extend, &part);
}

/* Extends bounds and histogram by those of a part of the spheres. */
static void join_extents(caromi_cloud_extent *sum, const caromi_cloud_extent *part)
{
    for (int k = 0; k < 3; k++) {
        sum->low[k] = part->low[k] < sum->low[k] ? part->low[k] : sum->low[k];
        sum->high[k] = part->high[k] > sum->high[k] ? part->high[k] : sum->high[k];
    }
    for (int class = 0; class < CAROMI_REACHES; class ++)
        sum->reaches[class] += part->reaches[class];
    sum->largest = part->largest > sum->largest ? part->largest : sum->largest;
    sum->valid += part->valid;
}

/* Measures all spheres of a slice, in parallel. */
carom_status caromi_cloud_measure(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                  caromi_cloud_extent *extent, carom_error *err)
{
    const uint32_t threads = caromi_pool_threads(caromi_cloud_pool(cloud));
    measure_job job = {.cloud = cloud, .slice = slice, .parts = threads > 1 ? PARTS_EACH * threads : 1};
    job.extents = caromi_alloc(cloud->context, job.parts, sizeof *job.extents);
    job.sum = extent;
    if (job.extents == NULL)
        return caromi_fail_memory(err, "no memory to measure a cloud");
    begin_extent(extent);
    caromi_parallel(caromi_cloud_pool(cloud), 1 + job.parts, measure_task, &job);
    for (uint64_t part = 0; part < job.parts; part++)
        join_extents(extent, &job.extents[part]);
    caromi_free(cloud->context, job.extents);
    return CAROM_OK;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* A candidate level: the spheres of reach classes [end, begin), coarsest (highest) class first. */
typedef struct level_group {
    int begin, end, is_apart; /* is_apart: low, high and side are its own bounds; else the whole cloud's */
    double count, reach, low[3], high[3], side[3];
    double volume;  /* of the box of its sides */
    double space;   /* the part of the volume that holds spheres */
    double crowded; /* further tests, of kinds that lie closer together than the group as a whole */
} level_group;

/* The upper end of a class of reaches; the inverse of caromi_reach_class. */
static float class_most(int class)
{
    const uint32_t bits = ((uint32_t) class + 1) << 21;
    float reach;
    memcpy(&reach, &bits, sizeof reach);
    return reach;
}

/* The expected tests of one sphere among `count` in a volume; the first 48 are part of its constant cost. */
static double tests_within(double count, double volume, double reach)
{
    const double diameter = 2 * reach, density = count / volume;
    return fmax(0, fmin(count, density * 20 * diameter * diameter * diameter) - 48);
}

/* Sets group->crowded, the tests of kinds that lie close together by the sample, and group->space. */
static void find_crowded(const caromi_cloud_extent *extent, level_group *group)
{
    double space = 0, side[3];
    for (uint32_t i = 0; i < extent->kinds.count; i++) {
        const caromi_cloud_kind *kind = &extent->kinds.kind[i];
        if (kind->class < group->end || kind->class >= group->begin || kind->count < CAROMI_CLOUD_KIND_LEAST)
            continue;
        for (int k = 0; k < 3; k++)
            side[k] = kind->high[k] - kind->low[k];
        const double count = (double)extent->reaches[kind->class], volume = caromi_cloud_volume(side, 2 * group->reach);
        space += volume;
        if (CAROMI_CLOUD_APART * volume <= group->volume)
            group->crowded += count * tests_within(count, volume, group->reach);
    }
    if (space > 0 && CAROMI_CLOUD_APART * space < group->volume)
        group->space = space;
}

/* The bounds of all kinds of spheres in a group; returns the number of sampled spheres behind them. */
static uint32_t bound_group(const caromi_cloud_extent *extent, const level_group *group, double low[3], double high[3])
{
    uint32_t count = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = (double)INFINITY;
        high[k] = -(double)INFINITY;
    }
    for (uint32_t i = 0; i < extent->kinds.count; i++) {
        const caromi_cloud_kind *kind = &extent->kinds.kind[i];
        if (kind->class < group->end || kind->class >= group->begin)
            continue;
        count += kind->count;
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], kind->low[k]);
            high[k] = fmax(high[k], kind->high[k]);
        }
    }
    return count;
}

/* Gives a group bounds of its own if the sample shows that its volume is far smaller than the cloud's. */
static void bound_group_apart(const caromi_cloud_extent *extent, level_group *group)
{
    double low[3], high[3], side[3];
    memcpy(group->low, extent->low, sizeof group->low);
    memcpy(group->high, extent->high, sizeof group->high);
    if (bound_group(extent, group, low, high) < CAROMI_CLOUD_KIND_LEAST)
        return;
    for (int k = 0; k < 3; k++)
        side[k] = fmax(high[k] - low[k], 0);
    const double volume = caromi_cloud_volume(side, 2 * group->reach);
    if (CAROMI_CLOUD_APART * volume > group->volume)
        return;
    group->is_apart = 1;
    group->volume = volume;
    memcpy(group->low, low, sizeof low);
    memcpy(group->high, high, sizeof high);
    memcpy(group->side, side, sizeof side);
}

/* A group of the classes [end, begin): number, bounds and density of its spheres. */
static level_group group_of(const caromi_cloud_extent *extent, int begin, int end)
{
    level_group group = {.begin = begin, .end = end};
    for (int class = end; class < begin; class ++) {
        group.count += (double)extent->reaches[class];
        if (extent->reaches[class])
            group.reach = (double)(class_most(class) < extent->largest ? class_most(class) : extent->largest);
    }
    memcpy(group.side, extent->side, sizeof group.side);
    group.volume = caromi_cloud_volume(group.side, 2 * group.reach);
    if (extent->kinds.count > 0)
        bound_group_apart(extent, &group);
    group.space = group.volume;
    if (extent->kinds.count > 0)
        find_crowded(extent, &group);
    return group;
}

/* Costs in nanoseconds, fitted to measured scenes. One test in long runs of neighbours: */
static const double COST_IN_HEAP = 0.125;

/* The approximate nanoseconds of finding the pairs within a group, fitted to measured scenes. A sphere costs at least
 * about 3 vectors of 16 tests. */
static double cost_within(const level_group *group)
{
    const double each = group->is_apart ? COST_IN_HEAP : 0.25;
    return group->count * (12 + each * tests_within(group->count, group->volume, group->reach)) +
           COST_IN_HEAP * group->crowded;
}

/* The share of a coarse group's spheres that reach the bounds of a finer group. */
static double share_reaching(const level_group *coarse, const level_group *fine)
{
    const double reach = coarse->reach + fine->reach;
    double share = 1;
    for (int k = 0; k < 3; k++) {
        const double low = fmax(coarse->low[k], fine->low[k] - reach),
                     high = fmin(coarse->high[k], fine->high[k] + reach);
        share *= fmin(1, fmax(0, high - low) / fmax(coarse->high[k] - coarse->low[k], reach));
    }
    return share;
}

/* The cost of pairs between a coarse group and a fine one that lies apart. Coarse spheres outside the fine group's
 * bounds are culled by one test; the cheaper of the two search directions counts for the rest. */
static double cost_apart(const level_group *coarse, const level_group *fine)
{
    const double diameters = 2 * (coarse->reach + fine->reach), box_side = diameters + 5 * fine->reach,
                 row_side = 5 * fine->reach;
    const double reaching = coarse->count * share_reaching(coarse, fine);
    double rows = 1, volume = 1;
    for (int k = 0; k < 3; k++) {
        const double side = fmin(box_side, fine->side[k] + row_side);
        rows *= k > 0 ? side / row_side : 1;
        volume *= side;
    }
    const double tests = fine->count * fmin(1, volume / fine->volume);
    const double lookups = reaching * (20 + 8 * fmin(fine->count, rows)), from_fine = 2 * fine->count + 20 * reaching;
    return 10 * coarse->count + fmin(lookups, from_fine) + 0.25 * reaching * tests;
}

/* The cost of pairs between two groups. Each coarse sphere looks up the fine rows in its search box, and tests the
 * spheres of the cells there. */
static double cost_between(const level_group *coarse, const level_group *fine)
{
    const double diameters = 2 * (coarse->reach + fine->reach), box_side = diameters + 5 * fine->reach;
    const double rows = fmin(fine->count, (box_side / (5 * fine->reach)) * (box_side / (5 * fine->reach)));
    const double density = fine->count / fine->volume;
    const double tests = fmin(fine->count, density * box_side * box_side * (diameters + 4 * fine->reach));
    return fine->is_apart ? cost_apart(coarse, fine) : coarse->count * (20 + 8 * rows + 0.25 * tests);
}

/* The cost of a choice of groups: pairs within each, and between each two. */
static double cost_of(const level_group *groups, uint32_t count)
{
    double cost = 0;
    for (uint32_t coarse = 0; coarse < count; coarse++) {
        cost += cost_within(&groups[coarse]);
        for (uint32_t fine = coarse + 1; fine < count; fine++)
            cost += cost_between(&groups[coarse], &groups[fine]);
    }
    return cost;
}

/* Splits one group in two, at the class where the estimated cost falls most. Returns 0 if no split pays. */
static int split_one(const caromi_cloud_extent *extent, level_group *groups, uint32_t *count)
{
    level_group best[LEVELS_BY_SIZE], trial[LEVELS_BY_SIZE];
    double least = 0.9 * cost_of(groups, *count);
    int is_better = 0;
    for (uint32_t split = 0; split < *count; split++)
        /* Tries each class as the border, with all other groups unchanged. */
        for (int class = groups[split].end + 1; class < groups[split].begin; class ++) {
            if (extent->reaches[class] == 0) /* the same split as at the next class */
                continue;
            memcpy(trial, groups, split * sizeof *groups);
            trial[split] = group_of(extent, groups[split].begin, class);
            trial[split + 1] = group_of(extent, class, groups[split].end);
            memcpy(trial + split + 2, groups + split + 1, (*count - split - 1) * sizeof *groups);
            if (trial[split].count == 0 || trial[split + 1].count == 0)
                continue;
            const double cost = cost_of(trial, *count + 1);
            if (cost < least) {
                least = cost;
                memcpy(best, trial, sizeof best);
                is_better = 1;
            }
        }
    if (is_better) {
        memcpy(groups, best, sizeof best);
        ++*count;
    }
    return is_better;
}

/* Quickselect: partitions around a pivot, then continues in the part that holds the rank. */
float caromi_cloud_select(float *numbers, size_t count, size_t rank)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        const float pivot = numbers[low + (high - low) / 2];
        size_t left = low, right = high;
        /* Numbers on the wrong side of the pivot are swapped. */
        for (;; left++, right--) {
            for (; numbers[left] < pivot; left++)
                ;
            for (; numbers[right] > pivot; right--)
                ;
            if (left >= right)
                break;
            const float other = numbers[left];
            numbers[left] = numbers[right];
            numbers[right] = other;
        }
        low = rank > right ? right + 1 : low;
        high = rank > right ? high : right;
    }
    return numbers[rank];
}

/* The length of the range of the numbers without the lowest and the highest twentieth. */
static double middle_of(float *numbers, size_t count)
{
    const double low = (double)caromi_cloud_select(numbers, count, count / 20);
    return (double)caromi_cloud_select(numbers, count, count - 1 - count / 20) - low;
}

uint64_t caromi_cloud_samples(uint64_t spheres)
{
    const uint64_t some = spheres / SAMPLE_OF, one_cell = some < SAMPLE_LEAST ? SAMPLE_LEAST : some;
    const uint64_t most = one_cell < CAROMI_CLOUD_SAMPLE ? one_cell : CAROMI_CLOUD_SAMPLE;
    return spheres < most ? spheres : most;
}

void caromi_cloud_draw_sample(const caromi_cloud *cloud, caromi_cloud_sample *sample)
{
    sample->spheres = cloud->count;
    sample->count = (uint32_t)caromi_cloud_samples(cloud->count);
    for (uint32_t number = 0; number < sample->count; number++) {
        const uint64_t index = caromi_cloud_sampled(cloud->count, sample->count, number);
        float *const row = sample->row[number];
        for (int k = 0; k <= CLOUD_R; k++)
            memcpy(&row[k], caromi_cloud_element(cloud, k, index), sizeof row[k]);
        const int is_valid = isfinite(row[CLOUD_X]) && isfinite(row[CLOUD_Y]) && isfinite(row[CLOUD_Z]) &&
                             row[CLOUD_R] >= 0 && row[CLOUD_R] < INFINITY;
        row[CLOUD_R] = is_valid ? fabsf(row[CLOUD_R]) : -1;
    }
}

/* Extrapolated from the middle 9/10, so that a few outliers do not make a cloud look thin. */
double caromi_cloud_side_of(float *coordinates, size_t count)
{
    return count > 0 ? middle_of(coordinates, count) / 0.9 : 0;
}

void caromi_cloud_sides(const caromi_cloud_sample *sample, double side[3])
{
    float coordinates[CAROMI_CLOUD_SAMPLE];
    for (int axis = 0; axis < 3; axis++) {
        size_t finite = 0;
        for (uint32_t number = 0; number < sample->count; number++)
            if (isfinite(sample->row[number][CLOUD_X + axis]))
                coordinates[finite++] = sample->row[number][CLOUD_X + axis];
        side[axis] = caromi_cloud_side_of(coordinates, finite);
    }
}

double caromi_cloud_volume(const double side[3], double least)
{
    const double least_side = least > 0x1p-140 ? least : 0x1p-140;
    double volume = 1;
    for (int k = 0; k < 3; k++)
        volume *= side[k] > least_side ? side[k] : least_side;
    return volume < 0x1p300 ? volume : 0x1p300;
}

double caromi_cloud_width_for(const caromi_cloud *cloud, double reach)
{
    return (2 * reach + (double)cloud->margin) * (1 + 0x1p-14);
}

/* Cells along x have the given width; rows along y and z are 2.5 times as wide. */
caromi_cloud_level caromi_cloud_level_of(double reach, double width, const double low[3], const double high[3])
{
    caromi_cloud_level level = {.reach = reach, .has_bounds = 1};
    for (int axis = 0; axis < 3; axis++) {
        level.low[axis] = low[axis];
        level.from[axis] = low[axis];
        level.to[axis] = high[axis];
        level.per[axis] = 1 / (axis == 0 ? width : 2.5 * width);
        level.most[axis] = CAROMI_CLOUD_CELL_MOST;
        level.most[axis] = caromi_cloud_cell(&level, axis, high[axis]);
    }
    return level;
}

/* Whether searches for best partners profit from wide cells: spheres have so many partners that a search ends among the
 * first spheres of a cell, and wider cells are fewer. */
static int is_for_searches(const caromi_cloud *cloud, const level_group *group)
{
    const double diameter = 2 * group->reach,
                 partners = 4.19 * diameter * diameter * diameter * group->count / group->space;
    return cloud->finds_best && !cloud->is_moving && partners >= SEARCH_PARTNERS;
}

/* The level of a group. Cells are as wide as two of its largest spheres or, in sparse groups, as the cube root of the
 * volume per sphere. Rows are 2.5 times as wide along y and z. The volume is the group's own, so a few large spheres in
 * the cloud do not widen the cells of small ones. Cells have at least an eighth of that width: else each tiny sphere
 * would get a row of its own. */
static caromi_cloud_level level_of_group(const caromi_cloud *cloud, const caromi_cloud_extent *extent,
                                         const level_group *group)
{
    const double least_width = caromi_cloud_width_for(cloud, group->reach);
    const double spacing = cbrt(group->space / fmax(1, group->count));
    const double wanted_width = fmax(fmin(spacing, 4 * least_width), spacing / 8);
    const double width =
        fmax(fmax(least_width, wanted_width), 0x1p-140) * (is_for_searches(cloud, group) ? CAROMI_CLOUD_SEARCH : 1);
    if (!group->is_apart)
        return caromi_cloud_level_of(group->reach, width, extent->low, extent->high);
    double low[3], high[3];
    for (int k = 0; k < 3; k++) { /* spheres beyond these bounds go into the first or the last cell */
        low[k] = fmax(extent->low[k], group->low[k] - group->side[k] / 16);
        high[k] = fmin(extent->high[k], group->high[k] + group->side[k] / 16);
    }
    caromi_cloud_level level = caromi_cloud_level_of(group->reach, width, low, high);
    level.has_bounds = 0;
    return level;
}

/* Splits the reach classes into groups as long as that lowers the estimated cost; each group is a level. */
uint32_t caromi_cloud_choose_levels(const caromi_cloud *cloud, const caromi_cloud_extent *extent,
                                    caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t of_class[CAROMI_REACHES])
{
    level_group groups[LEVELS_BY_SIZE];
    uint32_t count = 1;
    int begin = CAROMI_REACHES, end = 0;
    for (; end < begin && extent->reaches[begin - 1] == 0; begin--)
        ;
    for (; end < begin && extent->reaches[end] == 0; end++)
        ;
    /* From one group of all occupied classes on, groups are split as long as that pays. */
    groups[0] = group_of(extent, begin, end);
    while (count < LEVELS_BY_SIZE && split_one(extent, groups, &count))
        ;
    for (uint32_t number = 0; number < count; number++) {
        levels[number] = level_of_group(cloud, extent, &groups[number]);
        /* Classes without spheres between two groups, or at the ends, belong to a level too. */
        const int class_end = number > 0 ? groups[number].begin : CAROMI_REACHES;
        for (int class = number + 1 < count ? groups[number].end : 0; class < class_end; class ++)
            of_class[class] = (uint8_t)number;
    }
    return count;
}
