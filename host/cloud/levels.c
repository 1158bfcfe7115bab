/* SPDX-License-Identifier: MIT */
/* How large the spheres of a cloud are, and which of them share a level. Nothing here changes an answer. */
#include <math.h>
#include <string.h>

#include "cloud.h"

enum {
    SAMPLE_LEAST = 64, /* spheres, */
    SAMPLE_OF = 16,    /* or one of so many */
    PARTS_EACH = 4,    /* for each thread, one of which finds the sides */
    LEVELS_BY_SIZE = 16,
    SEARCH_PARTNERS = 64 /* of a sphere: fewer are found by pairs */
};

/* ---- extent ------------------------------------------------------------------------------------------------------ */

typedef struct measure_job {
    const caromi_cloud *cloud;
    const caromi_cloud_slice *slice;
    uint64_t parts;
    caromi_cloud_extent *extents; /* one for each part */
    caromi_cloud_extent *sum;
} measure_job;

typedef struct measure_part {
    const caromi_cloud *cloud;
    caromi_cloud_extent *extent;
} measure_part;

/* Of a batch. */
static void extend(void *user, const caromi_cloud_batch *batch)
{
    measure_part *part = user;
    caromi_cloud_extent *e = part->extent;
    caromi_cloud_bounds bounds;
    part->cloud->context->isa->cloud_bound(batch->place, batch->count, &bounds);
    for (int k = 0; k < 3; k++) {
        e->low[k] = (double)bounds.low[k] < e->low[k] ? (double)bounds.low[k] : e->low[k];
        e->high[k] = (double)bounds.high[k] > e->high[k] ? (double)bounds.high[k] : e->high[k];
    }
    const uint32_t class = caromi_reach_class(bounds.low[3]);
    if (class == caromi_reach_class(bounds.high[3]))
        e->reaches[class] += batch->count;
    else
        for (uint32_t i = 0; i < batch->count; i++)
            e->reaches[caromi_reach_class(batch->place[3][i])]++;
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

/* Task 0: a sample; the others: a part of the spheres. */
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
    caromi_cloud_feed(job->cloud, job->slice, 1, caromi_slice_start(job->cloud->count, job->parts, number),
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

/* Classes [end, begin) of reaches, as the coarsest is the highest class. */
typedef struct group {
    int begin, end, is_apart; /* its space is its own; else that of the whole cloud */
    double count, reach, low[3], high[3], side[3];
    double volume;  /* of its sides */
    double space;   /* volume that has spheres */
    double crowded; /* tests of spheres that lie closer together than the group as a whole */
} group;

static float class_most(int class)
{
    const uint32_t bits = ((uint32_t) class + 1) << 21;
    float reach;
    memcpy(&reach, &bits, sizeof reach);
    return reach;
}

/* Tests of spheres in a volume; some for each are in its cost already. */
static double tests_within(double count, double volume, double reach)
{
    const double d = 2 * reach, density = count / volume;
    return fmax(0, fmin(count, density * 20 * d * d * d) - 48);
}

/* Of the kinds in a group that a sample shows close together, and the space that all of them have. */
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

/* Bounds of the kinds in a group; returns how many spheres of the sample say so. */
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

/* The space of a group, where a sample shows that it is far less than that of the cloud. */
static void place_group(const caromi_cloud_extent *e, group *g)
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
        place_group(e, &g);
    g.space = g.volume;
    if (e->kinds.count > 0)
        find_crowded(e, &g);
    return g;
}

/* Nanoseconds of a test in long runs of neighbours. */
static const double COST_IN_HEAP = 0.125;

/* The cost in nanoseconds, roughly, of finding pairs of a cloud of this volume, counted on sets of FIELD's kinds: about
 * 3 vectors of 16 tests for a sphere at least; rows of a finer level 8 each. */
static double cost_within(const group *g)
{
    const double each = g->is_apart ? COST_IN_HEAP : 0.25;
    return g->count * (12 + each * tests_within(g->count, g->volume, g->reach)) + COST_IN_HEAP * g->crowded;
}

/* The share of a group that reaches the space of a finer one which lies apart. */
static double share_near(const group *coarse, const group *fine)
{
    const double q = coarse->reach + fine->reach;
    double share = 1;
    for (int k = 0; k < 3; k++) {
        const double low = fmax(coarse->low[k], fine->low[k] - q), high = fmin(coarse->high[k], fine->high[k] + q);
        share *= fmin(1, fmax(0, high - low) / fmax(coarse->high[k] - coarse->low[k], q));
    }
    return share;
}

/* Coarse spheres that are not near look at the bounds of the others; or the fine ones look for coarse ones. */
static double cost_apart(const group *coarse, const group *fine)
{
    const double q = 2 * (coarse->reach + fine->reach), across = q + 5 * fine->reach, wide = 5 * fine->reach;
    const double near = coarse->count * share_near(coarse, fine);
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

/* One more group than before, if that pays: the best place to split any of them. */
static int split_one(const caromi_cloud_extent *e, group *groups, uint32_t *count)
{
    group best[LEVELS_BY_SIZE], trial[LEVELS_BY_SIZE];
    double least = 0.9 * cost_of(groups, *count);
    int is_better = 0;
    for (uint32_t g = 0; g < *count; g++)
        for (int c = groups[g].end + 1; c < groups[g].begin; c++) {
            if (e->reaches[c] == 0) /* as good as the next */
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

/* By halves (quickselect): those below the middle one to the left, those above it to the right. */
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

/* From the lowest number but a twentieth of them to the highest. */
static double middle_of(float *x, size_t count)
{
    const double low = (double)caromi_cloud_select(x, count, count / 20);
    return (double)caromi_cloud_select(x, count, count - 1 - count / 20) - low;
}

uint64_t caromi_cloud_sample(const caromi_cloud *cloud)
{
    const uint64_t some = cloud->count / SAMPLE_OF, few = some < SAMPLE_LEAST ? SAMPLE_LEAST : some;
    const uint64_t most = few < CAROMI_CLOUD_SAMPLE ? few : CAROMI_CLOUD_SAMPLE;
    return cloud->count < most ? cloud->count : most;
}

/* Of the middle 9/10 of a sample along each axis: a few outliers do not make a cloud look thin. */
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

/* Where spheres have so many partners that each search ends in the first spheres of a cell, wider cells are fewer. */
static int is_for_searches(const caromi_cloud *cloud, const group *g)
{
    const double d = 2 * g->reach, partners = 4.19 * d * d * d * g->count / g->space;
    return cloud->finds_best && !cloud->is_moving && partners >= SEARCH_PARTNERS;
}

/* Cells are as wide as the largest pair of their spheres, or, where spheres are few for their size, as the space that
 * each has; rows two and a half times as wide. A few large spheres do not make that space wide: it is of this level.
 * Tiny spheres have an eighth of that space at least: else each would have a row of its own. */
static caromi_cloud_level level_of_group(const caromi_cloud *cloud, const caromi_cloud_extent *e, const group *g)
{
    const double least = caromi_cloud_width_for(cloud, g->reach);
    const double space = cbrt(g->space / fmax(1, g->count));
    const double roomy = fmax(fmin(space, 4 * least), space / 8);
    const double width = fmax(fmax(least, roomy), 0x1p-140) * (is_for_searches(cloud, g) ? CAROMI_CLOUD_SEARCH : 1);
    if (!g->is_apart)
        return caromi_cloud_level_of(g->reach, width, e->low, e->high);
    double low[3], high[3];
    for (int k = 0; k < 3; k++) { /* the first and the last cell have what lies beyond, too */
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
