/* SPDX-License-Identifier: MIT */
/* Measures a cloud, bounds and sizes of its spheres, and chooses which sizes share a level. Answers do not depend on
 * levels. */
#include <math.h>
#include <string.h>

#include "cloud.h"

enum {
    SAMPLE_LEAST = 64, /* least spheres of a sample */
    SAMPLE_OF = 16,    /* one sphere in so many is sampled */
    PARTS_EACH = 4,    /* tasks of each thread; one further task finds the sides */
    LEVELS_BY_SIZE = 16,
    SEARCH_PARTNERS =
        64 /* partners of a sphere; with fewer, testing all pairs is faster than a search for each sphere */
};

/* ---- extent ------------------------------------------------------------------------------------------------------ */

typedef struct measure_job {
    const caromi_cloud *cloud;
    const caromi_cloud_slice *slice;
    uint64_t parts;
    caromi_cloud_extent *extents; /* [parts] */
    caromi_cloud_extent *sum;
} measure_job;

typedef struct measure_part {
    const caromi_cloud *cloud;
    caromi_cloud_extent *extent;
} measure_part;

/* Extends an extent by a batch of spheres. */
static void extend(void *user, const caromi_cloud_batch *batch)
{
    measure_part *part = user;
    caromi_cloud_extent *e = part->extent;
    caromi_cloud_bounds bounds;
    part->cloud->context->isa->cloud_bound(batch->position, batch->count, &bounds);
    for (int k = 0; k < 3; k++) {
        e->low[k] = (double)bounds.low[k] < e->low[k] ? (double)bounds.low[k] : e->low[k];
        e->high[k] = (double)bounds.high[k] > e->high[k] ? (double)bounds.high[k] : e->high[k];
    }
    const uint32_t class = caromi_reach_class(bounds.low[3]);
    if (class == caromi_reach_class(bounds.high[3]))
        e->reaches[class] += batch->count;
    else
        for (uint32_t i = 0; i < batch->count; i++)
            e->reaches[caromi_reach_class(batch->position[3][i])]++;
    e->largest = bounds.high[3] > e->largest ? bounds.high[3] : e->largest;
    e->valid += batch->count;
}

static void begin_extent(caromi_cloud_extent *e)
{
    memset(e, 0, offsetof(caromi_cloud_extent, kinds));
    e->kinds.count = 0;
    for (int k = 0; k < 3; k++) {
        e->low[k] = (double)INFINITY;
        e->high[k] = -(double)INFINITY;
    }
}

/* Task 0 finds the cloud's sides from a sample; each other task measures a part of the spheres. */
static void measure_task(void *user, uint64_t task, uint32_t thread)
{
    const measure_job *job = user;
    const uint64_t number = task - 1;
    (void)thread;
    if (task == 0) {
        caromi_cloud_sides(job->cloud, job->sum->side);
        if (caromi_slice_is_instant(job->slice))
            caromi_cloud_find_kinds(job->cloud, job->sum->side, &job->sum->kinds);
        return;
    }
    measure_part part = {job->cloud, &job->extents[number]};
    begin_extent(part.extent);
    caromi_cloud_each_batch(job->cloud, job->slice, 1, caromi_slice_start(job->cloud->count, job->parts, number),
                            caromi_slice_start(job->cloud->count, job->parts, number + 1), extend, &part);
}

static void join_extents(caromi_cloud_extent *sum, const caromi_cloud_extent *e)
{
    for (int k = 0; k < 3; k++) {
        sum->low[k] = e->low[k] < sum->low[k] ? e->low[k] : sum->low[k];
        sum->high[k] = e->high[k] > sum->high[k] ? e->high[k] : sum->high[k];
    }
    for (int c = 0; c < CAROMI_REACHES; c++)
        sum->reaches[c] += e->reaches[c];
    sum->largest = e->largest > sum->largest ? e->largest : sum->largest;
    sum->valid += e->valid;
}

carom_status caromi_cloud_measure(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                  caromi_cloud_extent *extent, carom_error *err)
{
    const uint32_t threads = caromi_pool_threads(caromi_cloud_pool(cloud));
    measure_job job = {.cloud = cloud, .slice = slice, .parts = threads > 1 ? PARTS_EACH * threads : 1};
    job.extents = caromi_alloc(cloud->context, job.parts, sizeof *job.extents);
    job.sum = extent;
    if (job.extents == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to measure a cloud");
    begin_extent(extent);
    caromi_parallel(caromi_cloud_pool(cloud), 1 + job.parts, measure_task, &job);
    for (uint64_t p = 0; p < job.parts; p++)
        join_extents(extent, &job.extents[p]);
    caromi_free(cloud->context, job.extents);
    return CAROM_OK;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* A candidate level: the spheres of reach classes [end, begin), coarsest (highest) class first. */
typedef struct group {
    int begin, end, is_apart; /* is_apart: low, high and side are its own bounds; else the whole cloud's */
    double count, reach, low[3], high[3], side[3];
    double volume;  /* of the box of its sides */
    double space;   /* the part of the volume that holds spheres */
    double crowded; /* further tests, of kinds that lie closer together than the group as a whole */
} group;

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
    const double d = 2 * reach, density = count / volume;
    return fmax(0, fmin(count, density * 20 * d * d * d) - 48);
}

/* Sets g->crowded, the tests of kinds that lie close together by the sample, and g->space. */
static void find_crowded(const caromi_cloud_extent *e, group *g)
{
    double space = 0, side[3];
    for (uint32_t i = 0; i < e->kinds.count; i++) {
        const caromi_cloud_kind *kind = &e->kinds.kind[i];
        if (kind->class < g->end || kind->class >= g->begin || kind->count < CAROMI_CLOUD_KIND_LEAST)
            continue;
        for (int k = 0; k < 3; k++)
            side[k] = kind->high[k] - kind->low[k];
        const double count = (double)e->reaches[kind->class], volume = caromi_cloud_volume(side, 2 * g->reach);
        space += volume;
        if (CAROMI_CLOUD_APART * volume <= g->volume)
            g->crowded += count * tests_within(count, volume, g->reach);
    }
    if (space > 0 && CAROMI_CLOUD_APART * space < g->volume)
        g->space = space;
}

/* The bounds of the kinds in a group; returns the number of sampled spheres behind them. */
static uint32_t bound_group(const caromi_cloud_extent *e, const group *g, double low[3], double high[3])
{
    uint32_t count = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = (double)INFINITY;
        high[k] = -(double)INFINITY;
    }
    for (uint32_t i = 0; i < e->kinds.count; i++) {
        const caromi_cloud_kind *kind = &e->kinds.kind[i];
        if (kind->class < g->end || kind->class >= g->begin)
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
static void bound_group_apart(const caromi_cloud_extent *e, group *g)
{
    double low[3], high[3], side[3];
    memcpy(g->low, e->low, sizeof g->low);
    memcpy(g->high, e->high, sizeof g->high);
    if (bound_group(e, g, low, high) < CAROMI_CLOUD_KIND_LEAST)
        return;
    for (int k = 0; k < 3; k++)
        side[k] = fmax(high[k] - low[k], 0);
    const double volume = caromi_cloud_volume(side, 2 * g->reach);
    if (CAROMI_CLOUD_APART * volume > g->volume)
        return;
    g->is_apart = 1;
    g->volume = volume;
    memcpy(g->low, low, sizeof low);
    memcpy(g->high, high, sizeof high);
    memcpy(g->side, side, sizeof side);
}

static group group_of(const caromi_cloud_extent *e, int begin, int end)
{
    group g = {.begin = begin, .end = end};
    for (int c = end; c < begin; c++) {
        g.count += (double)e->reaches[c];
        if (e->reaches[c])
            g.reach = (double)(class_most(c) < e->largest ? class_most(c) : e->largest);
    }
    memcpy(g.side, e->side, sizeof g.side);
    g.volume = caromi_cloud_volume(g.side, 2 * g.reach);
    if (e->kinds.count > 0)
        bound_group_apart(e, &g);
    g.space = g.volume;
    if (e->kinds.count > 0)
        find_crowded(e, &g);
    return g;
}

/* Nanoseconds of one test in long runs of neighbours. */
static const double COST_IN_HEAP = 0.125;

/* The approximate nanoseconds of finding the pairs within a group, fitted to measured scenes. A sphere costs at least
 * about 3 vectors of 16 tests. */
static double cost_within(const group *g)
{
    const double each = g->is_apart ? COST_IN_HEAP : 0.25;
    return g->count * (12 + each * tests_within(g->count, g->volume, g->reach)) + COST_IN_HEAP * g->crowded;
}

/* The share of a coarse group's spheres that reach the bounds of a finer group. */
static double share_reaching(const group *coarse, const group *fine)
{
    const double q = coarse->reach + fine->reach;
    double share = 1;
    for (int k = 0; k < 3; k++) {
        const double low = fmax(coarse->low[k], fine->low[k] - q), high = fmin(coarse->high[k], fine->high[k] + q);
        share *= fmin(1, fmax(0, high - low) / fmax(coarse->high[k] - coarse->low[k], q));
    }
    return share;
}

/* The cost of pairs between a coarse group and a fine one that lies apart. Coarse spheres outside the fine group's
 * bounds are culled by one test; the cheaper of the two search directions counts for the rest. */
static double cost_apart(const group *coarse, const group *fine)
{
    const double q = 2 * (coarse->reach + fine->reach), across = q + 5 * fine->reach, wide = 5 * fine->reach;
    const double near = coarse->count * share_reaching(coarse, fine);
    double rows = 1, volume = 1;
    for (int k = 0; k < 3; k++) {
        const double side = fmin(across, fine->side[k] + wide);
        rows *= k > 0 ? side / wide : 1;
        volume *= side;
    }
    const double tests = fine->count * fmin(1, volume / fine->volume);
    const double looks = near * (20 + 8 * fmin(fine->count, rows)), found = 2 * fine->count + 20 * near;
    return 10 * coarse->count + fmin(looks, found) + 0.25 * near * tests;
}

static double cost_between(const group *coarse, const group *fine)
{
    const double q = 2 * (coarse->reach + fine->reach), across = q + 5 * fine->reach;
    const double rows = fmin(fine->count, (across / (5 * fine->reach)) * (across / (5 * fine->reach)));
    const double density = fine->count / fine->volume;
    const double tests = fmin(fine->count, density * across * across * (q + 4 * fine->reach));
    return fine->is_apart ? cost_apart(coarse, fine) : coarse->count * (20 + 8 * rows + 0.25 * tests);
}

static double cost_of(const group *groups, uint32_t count)
{
    double cost = 0;
    for (uint32_t g = 0; g < count; g++) {
        cost += cost_within(&groups[g]);
        for (uint32_t f = g + 1; f < count; f++)
            cost += cost_between(&groups[g], &groups[f]);
    }
    return cost;
}

/* Splits one group in two, at the class where the estimated cost falls most. Returns 0 if no split pays. */
static int split_one(const caromi_cloud_extent *e, group *groups, uint32_t *count)
{
    group best[LEVELS_BY_SIZE], trial[LEVELS_BY_SIZE];
    double least = 0.9 * cost_of(groups, *count);
    int is_better = 0;
    for (uint32_t g = 0; g < *count; g++)
        for (int c = groups[g].end + 1; c < groups[g].begin; c++) {
            if (e->reaches[c] == 0) /* the same split as at the next class */
                continue;
            memcpy(trial, groups, g * sizeof *groups);
            trial[g] = group_of(e, groups[g].begin, c);
            trial[g + 1] = group_of(e, c, groups[g].end);
            memcpy(trial + g + 2, groups + g + 1, (*count - g - 1) * sizeof *groups);
            if (trial[g].count == 0 || trial[g + 1].count == 0)
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
float caromi_cloud_select(float *x, size_t count, size_t rank)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        const float pivot = x[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            for (; x[i] < pivot; i++)
                ;
            for (; x[j] > pivot; j--)
                ;
            if (i >= j)
                break;
            const float other = x[i];
            x[i] = x[j];
            x[j] = other;
        }
        low = rank > j ? j + 1 : low;
        high = rank > j ? high : j;
    }
    return x[rank];
}

/* The range of the numbers without the lowest and the highest twentieth. */
static double middle_of(float *x, size_t count)
{
    const double low = (double)caromi_cloud_select(x, count, count / 20);
    return (double)caromi_cloud_select(x, count, count - 1 - count / 20) - low;
}

uint64_t caromi_cloud_sample(const caromi_cloud *cloud)
{
    const uint64_t some = cloud->count / SAMPLE_OF, one_cell = some < SAMPLE_LEAST ? SAMPLE_LEAST : some;
    const uint64_t most = one_cell < CAROMI_CLOUD_SAMPLE ? one_cell : CAROMI_CLOUD_SAMPLE;
    return cloud->count < most ? cloud->count : most;
}

/* Extrapolated from the middle 9/10 of a sample along each axis, so that a few outliers do not make a cloud look thin.
 */
void caromi_cloud_sides(const caromi_cloud *cloud, double side[3])
{
    const uint64_t samples = caromi_cloud_sample(cloud);
    float x[CAROMI_CLOUD_SAMPLE];
    for (int k = 0; k < 3; k++) {
        size_t n = 0;
        for (uint64_t s = 0; s < samples; s++) {
            float at;
            memcpy(&at, caromi_element(&cloud->in[CLOUD_X + k], caromi_cloud_sampled(cloud, samples, s)), sizeof at);
            if (isfinite(at))
                x[n++] = at;
        }
        side[k] = n ? middle_of(x, n) / 0.9 : 0;
    }
}

double caromi_cloud_volume(const double side[3], double least)
{
    const double from = least > 0x1p-140 ? least : 0x1p-140;
    double volume = 1;
    for (int k = 0; k < 3; k++)
        volume *= side[k] > from ? side[k] : from;
    return volume < 0x1p300 ? volume : 0x1p300;
}

double caromi_cloud_width_for(const caromi_cloud *cloud, double reach)
{
    return (2 * reach + (double)cloud->margin) * (1 + 0x1p-14);
}

caromi_cloud_level caromi_cloud_level_of(double reach, double width, const double low[3], const double high[3])
{
    caromi_cloud_level level = {.reach = reach, .has_bounds = 1};
    for (int k = 0; k < 3; k++) {
        level.low[k] = low[k];
        level.from[k] = low[k];
        level.to[k] = high[k];
        level.per[k] = 1 / (k == 0 ? width : 2.5 * width);
        level.most[k] = CAROMI_CLOUD_CELL_MOST;
        level.most[k] = caromi_cloud_cell(&level, k, high[k]);
    }
    return level;
}

/* Whether searches for best partners profit from wide cells: spheres have so many partners that a search ends among the
 * first spheres of a cell, and wider cells are fewer. */
static int is_for_searches(const caromi_cloud *cloud, const group *g)
{
    const double d = 2 * g->reach, partners = 4.19 * d * d * d * g->count / g->space;
    return cloud->finds_best && !cloud->is_moving && partners >= SEARCH_PARTNERS;
}

/* The level of a group. Cells are as wide as two of its largest spheres or, in sparse groups, as the cube root of the
 * volume per sphere. Rows are 2.5 times as wide along y and z. The volume is the group's own, so a few large spheres in
 * the cloud do not widen the cells of small ones. Cells have at least an eighth of that width: else each tiny sphere
 * would get a row of its own. */
static caromi_cloud_level level_of_group(const caromi_cloud *cloud, const caromi_cloud_extent *e, const group *g)
{
    const double least = caromi_cloud_width_for(cloud, g->reach);
    const double space = cbrt(g->space / fmax(1, g->count));
    const double roomy = fmax(fmin(space, 4 * least), space / 8);
    const double width = fmax(fmax(least, roomy), 0x1p-140) * (is_for_searches(cloud, g) ? CAROMI_CLOUD_SEARCH : 1);
    if (!g->is_apart)
        return caromi_cloud_level_of(g->reach, width, e->low, e->high);
    double low[3], high[3];
    for (int k = 0; k < 3; k++) { /* spheres beyond these bounds go into the first or the last cell */
        low[k] = fmax(e->low[k], g->low[k] - g->side[k] / 16);
        high[k] = fmin(e->high[k], g->high[k] + g->side[k] / 16);
    }
    caromi_cloud_level level = caromi_cloud_level_of(g->reach, width, low, high);
    level.has_bounds = 0;
    return level;
}

uint32_t caromi_cloud_choose_levels(const caromi_cloud *cloud, const caromi_cloud_extent *extent,
                                    caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t of_class[CAROMI_REACHES])
{
    group groups[LEVELS_BY_SIZE];
    uint32_t count = 1;
    int begin = CAROMI_REACHES, end = 0;
    for (; end < begin && extent->reaches[begin - 1] == 0; begin--)
        ;
    for (; end < begin && extent->reaches[end] == 0; end++)
        ;
    groups[0] = group_of(extent, begin, end);
    while (count < LEVELS_BY_SIZE && split_one(extent, groups, &count))
        ;
    for (uint32_t g = 0; g < count; g++) {
        levels[g] = level_of_group(cloud, extent, &groups[g]);
        const int class_end = g > 0 ? groups[g].begin : CAROMI_REACHES;
        for (int c = g + 1 < count ? groups[g].end : 0; c < class_end; c++)
            of_class[c] = (uint8_t)g;
    }
    return count;
}
