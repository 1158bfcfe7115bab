/* SPDX-License-Identifier: MIT */
/* Reads the caller's spheres, and cuts the time window of moving ones into slices. */
#include <math.h>
#include <string.h>

#include "cloud.h"
#include "drift.h"

/* A column of a block's inputs. A full block of a packed and aligned column is read in place, else copied into `own`.
 */
static const float *read_column(const caromi_in_column *column, float missing, uint64_t first, uint32_t count,
                                float *copy)
{
    const int is_packed = column->stride == sizeof *copy && (uintptr_t)column->base % sizeof *copy == 0;
    if (column->base != NULL && is_packed && count == CAROMI_CLOUD_BLOCK)
        return (const float *)column->base + first;
    if (column->base != NULL)
        caromi_gather(copy, column, first, count);
    else
        for (uint32_t i = 0; i < count; i++)
            copy[i] = missing;
    for (uint32_t i = count; i % CAROMI_CLOUD_PADDING; i++)
        copy[i] = copy[count - 1];
    return copy;
}

/* A column of a block that begins in the first of two clouds and ends in the second. */
static const float *read_both(const caromi_cloud *cloud, int column, uint64_t first, uint32_t count, float *copy)
{
    const uint32_t before = (uint32_t)(cloud->split - first);
    caromi_gather(copy, &cloud->in[column], first, before);
    caromi_gather(copy + before, &cloud->second->in[column], 0, count - before);
    for (uint32_t i = count; i % CAROMI_CLOUD_PADDING; i++)
        copy[i] = copy[count - 1];
    return copy;
}

/* Reads a block of spheres, and finds out which are valid. */
void caromi_cloud_read(const caromi_cloud *cloud, uint64_t first, uint64_t end, caromi_cloud_block *block)
{
    const uint32_t count = end - first < CAROMI_CLOUD_BLOCK ? (uint32_t)(end - first) : CAROMI_CLOUD_BLOCK;
    const int columns = cloud->is_moving ? CLOUD_COLUMNS : CLOUD_VX;
    const int is_second = cloud->second != NULL && first >= cloud->split,
              is_both = cloud->second != NULL && !is_second && first + count > cloud->split;
    const caromi_cloud *from = is_second ? cloud->second : cloud;
    const uint64_t at = is_second ? first - cloud->split : first;
    block->first = first;
    block->count = count;
    for (int column = 0; column < columns; column++)
        block->in[column] = is_both ? read_both(cloud, column, first, count, block->own[column])
                                    : read_column(&from->in[column], column == CLOUD_T_MAX ? INFINITY : 0, at, count,
                                                  block->own[column]);
    /* Columns that must be finite for a sphere to be valid: t_max alone may be infinite. */
    const uint32_t finite_columns = columns == CLOUD_COLUMNS ? CLOUD_T_MAX : CLOUD_VX;
    block->valid = cloud->context->isa->cloud_check(block->in, finite_columns, CLOUD_R, count, block->own[CLOUD_R],
                                                    block->is_valid);
    block->in[CLOUD_R] = block->own[CLOUD_R]; /* the copy, in which -0 has become 0 */
}

/* A binary32 number that is not below x. */
static float upwards(double x)
{
    const float rounded = (float)(x * (1 + 0x1p-22));
    return rounded + 0x1p-149f;
}

/* A binary32 number that is not above x, nor below 0. */
static float downwards(double x)
{
    const float rounded = (float)(x * (1 - 0x1p-22));
    return rounded > 0 ? rounded - 0x1p-149f : 0;
}

/* motion.error: bound of the rounding of the offset to a periodic image, which may be as long as two periods. */
caromi_cloud_motion caromi_cloud_motion_in(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                           const caromi_cloud_cells *cells)
{
    caromi_cloud_motion motion = {.given = cells->given};
    if (caromi_slice_is_instant(slice))
        motion.given = NULL;
    motion.begin = downwards(slice->begin);
    motion.end = upwards(slice->end);
    for (int k = 0; k < 3; k++) {
        motion.period[k] = cloud->period[k];
        motion.error += cloud->period[k] * 0x1p-21f;
    }
    return motion;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

enum {
    SAMPLE = CAROMI_CLOUD_DRAWN,
    SLICES_MOST = 4096, /* of a span */
    SPEEDS = 64,        /* sampled spheres whose speeds enter the cost one by one */
    DRIFT_TRIED = 15    /* sampled spheres that must hint at a common velocity before it is searched for */
};

static float median(float *numbers, size_t count)
{
    return count ? caromi_cloud_select(numbers, count, count / 2) : 0;
}

/* A sample of the spheres, from which the cost of slices is estimated. */
typedef struct slice_costs {
    uint64_t spheres;         /* of the cloud */
    double radius, side[3];   /* radius: median; side: of the box that holds most spheres */
    double speed[SPEEDS];     /* the median alone or, with a drift, speeds of some spheres relative to it */
    uint32_t samples, speeds; /* entries of limit and of speed */
    float *limit;             /* t_max of the sampled spheres */
} slice_costs;

/* Sets the medians of a sample's speed, radius and centre, which becomes the origin. Permutes centres and radii. */
static void set_medians(slice_costs *costs, caromi_cloud_drawn *drawn, caromi_cloud_slices *slices)
{
    float speed[SAMPLE];
    for (uint32_t i = 0; i < drawn->count; i++) {
        double speed2 = 0;
        for (int axis = 0; axis < 3; axis++)
            speed2 += (double)drawn->column[CLOUD_VX + axis][i] * (double)drawn->column[CLOUD_VX + axis][i];
        speed[i] = (float)sqrt(speed2);
    }
    for (int axis = 0; axis < 3; axis++)
        slices->origin[axis] = (double)median(drawn->column[CLOUD_X + axis], drawn->count);
    costs->spheres = drawn->spheres;
    costs->samples = drawn->count;
    costs->limit = drawn->column[CLOUD_T_MAX];
    costs->speeds = 1;
    costs->speed[0] = (double)median(speed, drawn->count);
    costs->radius = (double)median(drawn->column[CLOUD_R], drawn->count);
}

/* Compaction: columns with the velocities of a block's valid spheres, the block's own columns if all are valid. Returns
 * the number of valid spheres. */
static uint32_t velocities_of(const caromi_cloud_block *block, float scratch[3][CAROMI_CLOUD_BLOCK],
                              const float *velocity[3])
{
    uint32_t valid = 0;
    for (int axis = 0; axis < 3; axis++)
        velocity[axis] = block->valid == block->count ? block->in[CLOUD_VX + axis] : scratch[axis];
    for (uint32_t i = 0; block->valid < block->count && i < block->count; i++) {
        for (int axis = 0; axis < 3; axis++)
            scratch[axis][valid] = block->in[CLOUD_VX + axis][i];
        valid += block->is_valid[i];
    }
    return block->valid;
}

/* Of few spheres the origin moves with the common velocity if there is one and they are enough to profit from it. */
enum { NOTICED = 32 /* spheres from which on a drift pays */ };
static void choose_velocity_of_few(const float *const velocity[3], uint32_t count, caromi_cloud_slices *slices)
{
    enum { TRIED_FIRST = 3, TRIED = 9 }; /* a test of few spheres comes before one of more */
    float scratch[CAROMI_CLOUD_BLOCK];
    double drift[CAROMI_DRIFTS][3];
    if (!caromi_drift_is_likely(velocity, count, TRIED_FIRST) || !caromi_drift_is_likely(velocity, count, TRIED))
        return;
    caromi_drift_candidates(velocity, count, scratch, drift);
    memcpy(slices->velocity, drift[0], sizeof slices->velocity);
}

/* Chooses the origin for few spheres: the first valid centre. */
static void begin_with_one_cell(const caromi_cloud *cloud, caromi_cloud_slices *slices)
{
    caromi_cloud_block block;
    float own[3][CAROMI_CLOUD_BLOCK];
    const float *velocity[3];
    uint32_t first = 0;
    if (cloud->count == 0)
        return;
    caromi_cloud_read(cloud, 0, cloud->count, &block);
    while (first < block.count && !block.is_valid[first])
        first++;
    for (int axis = 0; first < block.count && axis < 3; axis++)
        slices->origin[axis] = (double)block.in[CLOUD_X + axis][first];
    if (block.valid < NOTICED)
        return;
    const uint32_t valid = velocities_of(&block, own, velocity);
    choose_velocity_of_few(velocity, valid, slices);
}

/* The same of few spheres that are drawn, which are all. */
static void begin_with_few(const caromi_cloud_drawn *drawn, caromi_cloud_slices *slices)
{
    const float *const velocity[3] = {drawn->column[CLOUD_VX], drawn->column[CLOUD_VY], drawn->column[CLOUD_VZ]};
    for (int axis = 0; drawn->count > 0 && axis < 3; axis++)
        slices->origin[axis] = (double)drawn->column[CLOUD_X + axis][0];
    if (drawn->count >= NOTICED)
        choose_velocity_of_few(velocity, drawn->count, slices);
}

/* A time just behind a limit: a sphere with that limit is in no slice that begins there. */
static double behind(float limit)
{
    return (double)limit * (1 + 0x1p-20);
}

/* The time window as one slice. If it has no end, the spans end behind the largest finite limit. */
static caromi_cloud_slices whole_window(const caromi_cloud_limits *limits)
{
    caromi_cloud_slices slices = {.count = 1, .has_end = limits->end < INFINITY, .span_count = 1};
    slices.limit = slices.has_end ? (double)limits->end : behind(limits->last);
    slices.limit = slices.limit > 0 ? slices.limit : 0;
    slices.spans[0].slices = 1;
    return slices;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

/* Approximate nanoseconds per sphere: the sort of each slice, and the narrow phase of the spheres near its path in it.
 */
static double cost_of(const slice_costs *costs, double spheres, double slices, double time)
{
    const double volume = caromi_cloud_volume(costs->side, 2 * costs->radius);
    double near = 0;
    for (uint32_t i = 0; i < costs->speeds; i++) {
        const double reach = 2 * costs->radius + costs->speed[i] * time / slices;
        near += fmin(spheres / volume * 2 * reach * reach * reach, spheres);
    }
    return slices * (60 + 2e4 / spheres + 15 * near / costs->speeds);
}

/* Chooses the number of slices of a span: more slices mean more sorts, but a smaller narrow phase. Returns the
 * estimated cost. */
static double cut_span(const slice_costs *costs, double begin, caromi_cloud_span *span)
{
    double sampled_in_span = 0;
    for (uint32_t i = 0; i < costs->samples; i++)
        sampled_in_span += (double)costs->limit[i] >= begin;
    const double spheres = fmax(2, (double)costs->spheres * sampled_in_span / fmax(1, costs->samples));
    const double time = span->end - begin;
    double least = cost_of(costs, spheres, 1, time);
    span->slices = 1;
    for (uint32_t count = 2; count <= SLICES_MOST; count += (count + 1) / 2) {
        const double cost = cost_of(costs, spheres, count, time);
        if (cost < least) {
            least = cost;
            span->slices = count;
        }
    }
    return spheres * least;
}

/* Chooses the slices of all spans; returns their estimated cost. */
static double cut_spans(const slice_costs *costs, caromi_cloud_slices *slices)
{
    double cost = 0;
    slices->count = 0;
    for (uint32_t number = 0; number < slices->span_count; number++) {
        cost += cut_span(costs, number > 0 ? slices->spans[number - 1].end : 0, &slices->spans[number]);
        slices->count += slices->spans[number].slices;
    }
    return cost;
}

/* Ends spans where half of all spheres have passed their t_max, three quarters, and so on, but merges spans that end
 * close together. So the few spheres with a long t_max share slices of their own, and do not make the slices of all
 * others wide. */
static void choose_spans(slice_costs *costs, caromi_cloud_slices *slices)
{
    enum { APART = 4 }; /* least ratio of the ends of two spans */
    double first = 0;   /* first end of the last span, before other ends were merged into it */
    for (uint32_t rest = costs->samples / 2; rest > 0; rest /= 2) {
        const float limit = caromi_cloud_select(costs->limit, costs->samples, costs->samples - rest);
        if (!(limit > 0) || behind(limit) >= slices->limit)
            continue;
        if (slices->span_count == 0 || behind(limit) > APART * first)
            first = (slices->spans + slices->span_count++)->end = behind(limit);
        else
            slices->spans[slices->span_count - 1].end = behind(limit);
    }
    if (slices->span_count == 0 || slices->limit > APART * first)
        slices->span_count++;
    slices->spans[slices->span_count - 1].end = slices->limit;
}

/* ---- drift ------------------------------------------------------------------------------------------------------- */

/* Sets the speeds of some sampled spheres relative to a velocity. */
static void set_speeds(slice_costs *costs, const float *const velocity[3], const double against[3])
{
    costs->speeds = costs->samples < SPEEDS ? costs->samples : SPEEDS;
    for (uint32_t i = 0; i < costs->speeds; i++) {
        const uint32_t number = (uint32_t)caromi_slice_start(costs->samples, costs->speeds, i);
        double speed2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            const double component = (double)velocity[axis][number] - against[axis];
            speed2 += component * component;
        }
        costs->speed[i] = sqrt(speed2);
    }
}

/* The estimated cost with an origin that moves at velocity `against`. A window without an end adds the last slice, in
 * which each moving sphere is tested with all others. */
static double cost_against(slice_costs *costs, const caromi_cloud_slices *slices, const float *const velocity[3],
                           const double against[3])
{
    caromi_cloud_span span = {.end = slices->limit};
    double moving = 0;
    set_speeds(costs, velocity, against);
    for (uint32_t i = 0; i < costs->speeds && !slices->has_end; i++)
        moving += costs->speed[i] > 0;
    return cut_span(costs, 0, &span) + moving / costs->speeds * 15 * (double)costs->spheres * (double)costs->spheres;
}

/* Only relative motion makes pairs: the origin moves at a common velocity where that lowers the cost. */
static void choose_velocity(slice_costs *costs, caromi_cloud_slices *slices, const float *const velocity[3])
{
    static const double at_rest[3] = {0, 0, 0};
    double drift[CAROMI_DRIFTS][3], speed = costs->speed[0];
    float scratch[SAMPLE];
    if (costs->samples <= DRIFT_TRIED || !caromi_drift_is_likely(velocity, costs->samples, DRIFT_TRIED))
        return;
    caromi_drift_candidates(velocity, costs->samples, scratch, drift);
    double least = cost_against(costs, slices, velocity, at_rest);
    int best = -1;
    /* The candidate with the lowest cost, if that is lower than without a drift. */
    for (int number = 0; number < CAROMI_DRIFTS; number++) {
        const double cost = cost_against(costs, slices, velocity, drift[number]);
        best = cost < least ? number : best;
        least = fmin(cost, least);
    }
    /* No drift: the median speed alone is used again. */
    if (best < 0) {
        costs->speeds = 1;
        costs->speed[0] = speed;
        return;
    }
    set_speeds(costs, velocity, drift[best]);
    memcpy(slices->velocity, drift[best], sizeof slices->velocity);
}

/* Chooses the origin and its velocity by a sample of the spheres; then several spans, by the distribution of t_max, if
 * they are cheaper than one. */
static void cut_by_sample(caromi_cloud_drawn *drawn, caromi_cloud_slices *slices)
{
    const float *const velocity[3] = {drawn->column[CLOUD_VX], drawn->column[CLOUD_VY], drawn->column[CLOUD_VZ]};
    slice_costs costs;
    memcpy(costs.side, drawn->side, sizeof costs.side);
    set_medians(&costs, drawn, slices);
    choose_velocity(&costs, slices, velocity);
    if (costs.samples == 0 || !(slices->limit > 0))
        return;
    caromi_cloud_slices other = *slices;
    other.span_count = 0;
    choose_spans(&costs, &other);
    if (cut_spans(&costs, &other) < cut_spans(&costs, slices))
        *slices = other;
}

/* A window without an end gets a last slice [limit, +inf). */
static void add_endless_slice(caromi_cloud_slices *slices)
{
    if (slices->has_end)
        return;
    slices->span_count = slices->limit > 0 ? slices->span_count : 0;
    slices->count = slices->limit > 0 ? slices->count + 1 : 1;
}

void caromi_cloud_cut(const caromi_cloud *cloud, caromi_cloud_slices *slices)
{
    static const caromi_cloud_limits at_rest = {0};
    const caromi_cloud_limits limits = cloud->is_moving ? caromi_cloud_limits_of(cloud) : at_rest;
    *slices = whole_window(&limits);
    if (!cloud->is_moving)
        return;
    if (slices->has_end && !(slices->limit > 0) && caromi_cloud_leaves_start(cloud))
        slices->limit = 0x1p-149; /* not the instant 0, in which spheres rest */
    slices->spans[0].end = slices->limit;
    if (caromi_cloud_is_one_cell(cloud)) /* one cell: all pairs are tested in any case */
        begin_with_one_cell(cloud, slices);
    else {
        caromi_cloud_drawn drawn;
        caromi_cloud_draw(cloud, &drawn);
        cut_by_sample(&drawn, slices);
    }
    add_endless_slice(slices);
}

/* Whether a sphere is elsewhere at a time that rounds to 0 is not known: the window does not end before. */
void caromi_cloud_cut_drawn(caromi_cloud_drawn *drawn, caromi_cloud_slices *slices)
{
    *slices = whole_window(&drawn->limits);
    if (slices->has_end && !(slices->limit > 0))
        slices->limit = 0x1p-149;
    slices->spans[0].end = slices->limit;
    if (drawn->spheres <= CAROMI_CLOUD_ONE_CELL)
        begin_with_few(drawn, slices);
    else
        cut_by_sample(drawn, slices);
    add_endless_slice(slices);
}

/* The time at which slice `number` of a span begins. */
static double edge_of(double begin, const caromi_cloud_span *span, uint32_t number)
{
    return number == span->slices ? span->end : begin + (span->end - begin) * number / span->slices;
}

/* Slice `number`: looks for its span, then for its place in the span. */
caromi_cloud_slice caromi_cloud_slice_of(const caromi_cloud_slices *slices, uint32_t number)
{
    caromi_cloud_slice slice = {.begin = slices->limit, .end = (double)INFINITY};
    double begin = 0;
    for (uint32_t i = 0; i < slices->span_count; i++) {
        const caromi_cloud_span *span = &slices->spans[i];
        if (number < span->slices) {
            slice.begin = edge_of(begin, span, number);
            slice.end = edge_of(begin, span, number + 1);
            break;
        }
        number -= span->slices;
        begin = span->end;
    }
    if (!caromi_slice_is_instant(&slice)) {
        memcpy(slice.origin, slices->origin, sizeof slice.origin);
        memcpy(slice.velocity, slices->velocity, sizeof slice.velocity);
    }
    return slice;
}
