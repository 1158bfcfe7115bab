/* SPDX-License-Identifier: MIT */
/* Reads the caller's spheres, and cuts the time window of moving ones into slices. */
#include <math.h>
#include <string.h>

#include "cloud.h"
#include "drift.h"

/* A column of a block's inputs. A full block of a packed and aligned column is read in place, else copied into `own`.
 */
static const float *read_column(const caromi_in_column *column, float missing, uint64_t first, uint32_t count,
                                float *own)
{
    const int is_packed = column->stride == sizeof *own && (uintptr_t)column->base % sizeof *own == 0;
    if (column->base != NULL && is_packed && count == CAROMI_CLOUD_BLOCK)
        return (const float *)column->base + first;
    if (column->base != NULL)
        caromi_gather(own, column, first, count);
    else
        for (uint32_t i = 0; i < count; i++)
            own[i] = missing;
    for (uint32_t i = count; i % CAROMI_CLOUD_PADDING; i++)
        own[i] = own[count - 1];
    return own;
}

void caromi_cloud_read(const caromi_cloud *cloud, uint64_t first, uint64_t end, caromi_cloud_block *block)
{
    const uint32_t count = end - first < CAROMI_CLOUD_BLOCK ? (uint32_t)(end - first) : CAROMI_CLOUD_BLOCK;
    const int columns = cloud->is_moving ? CLOUD_COLUMNS : CLOUD_VX;
    block->first = first;
    block->count = count;
    for (int c = 0; c < columns; c++)
        block->in[c] = read_column(&cloud->in[c], c == CLOUD_T_MAX ? INFINITY : 0, first, count, block->own[c]);
    const uint32_t finite = columns == CLOUD_COLUMNS ? CLOUD_T_MAX : CLOUD_VX;
    block->valid =
        cloud->context->isa->cloud_check(block->in, finite, CLOUD_R, count, block->own[CLOUD_R], block->is_valid);
    block->in[CLOUD_R] = block->own[CLOUD_R]; /* the copy, in which -0 has become 0 */
}

/* A binary32 number that is not below x. */
static float upwards(double x)
{
    const float rounded = (float)(x * (1 + 0x1p-22));
    return rounded + 0x1p-149f;
}

/* error: bound of the rounding of the offset to a periodic image, which may be as long as two periods. */
caromi_cloud_motion caromi_cloud_motion_in(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                           const caromi_cloud_cells *cells)
{
    caromi_cloud_motion motion = {.given = cells->given};
    if (caromi_slice_is_instant(slice))
        motion.given = NULL;
    motion.begin = (float)(slice->begin * (1 - 0x1p-22));
    motion.end = upwards(slice->end);
    for (int k = 0; k < 3; k++) {
        motion.period[k] = cloud->period[k];
        motion.error += cloud->period[k] * 0x1p-21f;
    }
    return motion;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

enum {
    SAMPLE = 1024,
    SLICES_MOST = 4096,
    SPEEDS = 64,     /* sampled spheres whose speeds enter the cost one by one */
    DRIFT_TRIED = 15 /* sampled spheres that must hint at a common velocity before it is searched for */
};

static float median(float *x, size_t count)
{
    return count ? caromi_cloud_select(x, count, count / 2) : 0;
}

/* A sample of the spheres, from which the cost of slices is estimated. */
typedef struct cut {
    const caromi_cloud *cloud;
    double radius, side[3];   /* radius: median; side: of the box that holds most spheres */
    double speed[SPEEDS];     /* the median alone or, with a drift, speeds of some spheres relative to it */
    uint32_t samples, speeds; /* entries of limit and of speed */
    float limit[SAMPLE];      /* t_max of the sampled spheres */
} cut;

static float limit_of(const caromi_cloud *cloud, uint64_t i)
{
    const caromi_in_column *column = &cloud->in[CLOUD_T_MAX];
    float t = INFINITY;
    if (column->base != NULL)
        memcpy(&t, caromi_element(column, column->stride == 0 ? 0 : i), sizeof t);
    return t;
}

/* The index of sample k: a pseudorandom one of its share of the spheres. A fixed step would miss a kind of spheres that
 * comes at a fixed period. */
static uint64_t sampled(const caromi_cloud *cloud, uint64_t k)
{
    const uint64_t samples = cloud->count < SAMPLE ? cloud->count : SAMPLE;
    const uint64_t first = caromi_slice_start(cloud->count, samples, k);
    return first +
           (k * UINT64_C(0x9e3779b97f4a7c15) >> 33) % (caromi_slice_start(cloud->count, samples, k + 1) - first);
}

/* Draws the sample: its velocities and limits, and medians of speed, radius and centre, which becomes the origin. */
static void sample(cut *of, caromi_cloud_slices *s, float velocity[3][SAMPLE])
{
    enum { SPEED = 3, RADIUS, NUMBERS };
    const caromi_cloud *cloud = of->cloud;
    float x[NUMBERS][SAMPLE];
    uint32_t n = 0;
    caromi_cloud_block block;
    for (uint64_t k = 0; k < SAMPLE && k < cloud->count; k++) {
        const uint64_t i = sampled(cloud, k);
        double speed2 = 0;
        caromi_cloud_read(cloud, i, i + 1, &block);
        if (!block.is_valid[0])
            continue;
        for (int c = 0; c < 3; c++) {
            x[c][n] = block.in[CLOUD_X + c][0];
            velocity[c][n] = block.in[CLOUD_VX + c][0];
            speed2 += (double)velocity[c][n] * (double)velocity[c][n];
        }
        x[SPEED][n] = (float)sqrt(speed2);
        of->limit[n] = limit_of(cloud, i);
        x[RADIUS][n++] = block.in[CLOUD_R][0];
    }
    for (int c = 0; c < 3; c++)
        s->origin[c] = (double)median(x[c], n);
    of->samples = n;
    of->speeds = 1;
    of->speed[0] = (double)median(x[SPEED], n);
    of->radius = (double)median(x[RADIUS], n);
    caromi_cloud_sides(cloud, of->side);
}

/* Compaction: columns with the velocities of a block's valid spheres, the block's own columns if all are valid. Returns
 * the number of valid spheres. */
static uint32_t velocities_of(const caromi_cloud_block *block, float room[3][CAROMI_CLOUD_BLOCK],
                              const float *velocity[3])
{
    uint32_t n = 0;
    for (int c = 0; c < 3; c++)
        velocity[c] = block->valid == block->count ? block->in[CLOUD_VX + c] : room[c];
    for (uint32_t i = 0; block->valid < block->count && i < block->count; i++) {
        for (int c = 0; c < 3; c++)
            room[c][n] = block->in[CLOUD_VX + c][i];
        n += block->is_valid[i];
    }
    return block->valid;
}

/* Chooses the origin for few spheres: the first valid centre. It moves with the common velocity if there is one and the
 * spheres are enough to profit from it. */
static void begin_with_one_cell(const caromi_cloud *cloud, caromi_cloud_slices *s)
{
    enum { NOTICED = 32, TRIED_FIRST = 3, TRIED = 9 };
    caromi_cloud_block block;
    float own[3][CAROMI_CLOUD_BLOCK], room[CAROMI_CLOUD_BLOCK];
    const float *velocity[3];
    double drift[CAROMI_DRIFTS][3];
    uint32_t first = 0;
    if (cloud->count == 0)
        return;
    caromi_cloud_read(cloud, 0, cloud->count, &block);
    while (first < block.count && !block.is_valid[first])
        first++;
    for (int c = 0; first < block.count && c < 3; c++)
        s->origin[c] = (double)block.in[CLOUD_X + c][first];
    if (block.valid < NOTICED)
        return;
    const uint32_t n = velocities_of(&block, own, velocity);
    if (!caromi_drift_is_likely(velocity, n, TRIED_FIRST) || !caromi_drift_is_likely(velocity, n, TRIED))
        return;
    caromi_drift_candidates(velocity, n, room, drift);
    memcpy(s->velocity, drift[0], sizeof s->velocity);
}

/* A time just behind a limit: a sphere with that limit is in no slice that begins there. */
static double behind(float limit)
{
    return (double)limit * (1 + 0x1p-20);
}

/* Finds the end of the time window. A pair has the smaller of its two t_max, so the second largest t_max ends the
 * window. If that is infinite, the spans end behind the largest finite one. */
static void set_limits(const caromi_cloud *cloud, caromi_cloud_slices *s)
{
    const caromi_in_column *column = &cloud->in[CLOUD_T_MAX];
    const int is_one = column->base == NULL || column->stride == 0;
    float first = -1, second = -1, finite = 0;
    for (uint64_t i = 0; i < (is_one ? 2 : cloud->count); i++) {
        const float t = limit_of(cloud, i);
        second = t > first ? first : t > second ? t : second;
        first = t > first ? t : first;
        finite = t > finite && t < INFINITY ? t : finite;
    }
    s->has_end = second < INFINITY;
    s->limit = s->has_end ? (double)second : behind(finite);
    s->limit = s->limit > 0 ? s->limit : 0;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

/* Approximate nanoseconds per sphere: the sort of each slice, and the narrow phase of the spheres near its path in it.
 */
static double cost_of(const cut *of, double spheres, double slices, double time)
{
    const double volume = caromi_cloud_volume(of->side, 2 * of->radius);
    double near = 0;
    for (uint32_t i = 0; i < of->speeds; i++) {
        const double reach = 2 * of->radius + of->speed[i] * time / slices;
        near += fmin(spheres / volume * 2 * reach * reach * reach, spheres);
    }
    return slices * (60 + 2e4 / spheres + 15 * near / of->speeds);
}

/* Chooses the number of slices of a span: more slices mean more sorts, but a smaller narrow phase. Returns the
 * estimated cost. */
static double cut_span(const cut *of, double begin, caromi_cloud_span *span)
{
    double in = 0;
    for (uint32_t i = 0; i < of->samples; i++)
        in += (double)of->limit[i] >= begin;
    const double spheres = fmax(2, (double)of->cloud->count * in / fmax(1, of->samples));
    const double time = span->end - begin;
    double least = cost_of(of, spheres, 1, time);
    span->slices = 1;
    for (uint32_t count = 2; count <= SLICES_MOST; count += (count + 1) / 2) {
        const double cost = cost_of(of, spheres, count, time);
        if (cost < least) {
            least = cost;
            span->slices = count;
        }
    }
    return spheres * least;
}

static double cut_spans(const cut *of, caromi_cloud_slices *s)
{
    double cost = 0;
    s->count = 0;
    for (uint32_t k = 0; k < s->span_count; k++) {
        cost += cut_span(of, k > 0 ? s->spans[k - 1].end : 0, &s->spans[k]);
        s->count += s->spans[k].slices;
    }
    return cost;
}

/* Ends spans where half of all spheres have passed their t_max, three quarters, and so on, but merges spans that end
 * close together. So the few spheres with a long t_max share slices of their own, and do not make the slices of all
 * others wide. */
static void choose_spans(cut *of, caromi_cloud_slices *s)
{
    enum { APART = 4 };
    double first = 0; /* first end of the last span, before other ends were merged into it */
    for (uint32_t rest = of->samples / 2; rest > 0; rest /= 2) {
        const float limit = caromi_cloud_select(of->limit, of->samples, of->samples - rest);
        if (!(limit > 0) || behind(limit) >= s->limit)
            continue;
        if (s->span_count == 0 || behind(limit) > APART * first)
            first = (s->spans + s->span_count++)->end = behind(limit);
        else
            s->spans[s->span_count - 1].end = behind(limit);
    }
    if (s->span_count == 0 || s->limit > APART * first)
        s->span_count++;
    s->spans[s->span_count - 1].end = s->limit;
}

/* ---- drift ------------------------------------------------------------------------------------------------------- */

/* Sets the speeds of some sampled spheres relative to a velocity. */
static void set_speeds(cut *of, const float velocity[3][SAMPLE], const double against[3])
{
    of->speeds = of->samples < SPEEDS ? of->samples : SPEEDS;
    for (uint32_t i = 0; i < of->speeds; i++) {
        const uint32_t at = (uint32_t)caromi_slice_start(of->samples, of->speeds, i);
        double speed2 = 0;
        for (int c = 0; c < 3; c++) {
            const double v = (double)velocity[c][at] - against[c];
            speed2 += v * v;
        }
        of->speed[i] = sqrt(speed2);
    }
}

/* The estimated cost with an origin that moves at velocity `against`. A window without an end adds the last slice, in
 * which each moving sphere is tested with all others. */
static double cost_against(cut *of, const caromi_cloud_slices *s, const float velocity[3][SAMPLE],
                           const double against[3])
{
    caromi_cloud_span span = {.end = s->limit};
    double moving = 0;
    set_speeds(of, velocity, against);
    for (uint32_t i = 0; i < of->speeds && !s->has_end; i++)
        moving += of->speed[i] > 0;
    return cut_span(of, 0, &span) + moving / of->speeds * 15 * (double)of->cloud->count * (double)of->cloud->count;
}

/* Only relative motion makes pairs: the origin moves at a common velocity where that lowers the cost. */
static void choose_velocity(cut *of, caromi_cloud_slices *s, const float velocity[3][SAMPLE])
{
    static const double rest[3] = {0, 0, 0};
    const float *const all[3] = {velocity[0], velocity[1], velocity[2]};
    double drift[CAROMI_DRIFTS][3], speed = of->speed[0];
    float room[SAMPLE];
    if (of->samples <= DRIFT_TRIED || !caromi_drift_is_likely(all, of->samples, DRIFT_TRIED))
        return;
    caromi_drift_candidates(all, of->samples, room, drift);
    double least = cost_against(of, s, velocity, rest);
    int best = -1;
    for (int k = 0; k < CAROMI_DRIFTS; k++) {
        const double cost = cost_against(of, s, velocity, drift[k]);
        best = cost < least ? k : best;
        least = fmin(cost, least);
    }
    if (best < 0) {
        of->speeds = 1;
        of->speed[0] = speed;
        return;
    }
    set_speeds(of, velocity, drift[best]);
    memcpy(s->velocity, drift[best], sizeof s->velocity);
}

static void begin_with_sample(cut *of, caromi_cloud_slices *s)
{
    float velocity[3][SAMPLE];
    sample(of, s, velocity);
    choose_velocity(of, s, velocity);
}

/* A window without an end gets a last slice [limit, +inf). */
void caromi_cloud_cut(const caromi_cloud *cloud, caromi_cloud_slices *s)
{
    cut of = {.cloud = cloud, .samples = 0}; /* stays empty for few spheres: they get one span of one slice */
    *s = (caromi_cloud_slices){.count = 1, .has_end = 1, .span_count = 1};
    s->spans[0].slices = 1;
    if (!cloud->is_moving)
        return;
    set_limits(cloud, s);
    s->spans[0].end = s->limit;
    if (caromi_cloud_is_one_cell(cloud)) /* one cell: all pairs are tested in any case */
        begin_with_one_cell(cloud, s);
    else
        begin_with_sample(&of, s);
    if (of.samples > 0 && s->limit > 0) {
        caromi_cloud_slices other = *s;
        other.span_count = 0;
        choose_spans(&of, &other);
        if (cut_spans(&of, &other) < cut_spans(&of, s))
            *s = other;
    }
    if (!s->has_end) {
        s->span_count = s->limit > 0 ? s->span_count : 0;
        s->count = s->limit > 0 ? s->count + 1 : 1;
    }
}

static double edge_of(double begin, const caromi_cloud_span *span, uint32_t number)
{
    return number == span->slices ? span->end : begin + (span->end - begin) * number / span->slices;
}

caromi_cloud_slice caromi_cloud_slice_of(const caromi_cloud_slices *s, uint32_t number)
{
    caromi_cloud_slice slice = {.begin = s->limit, .end = (double)INFINITY};
    double begin = 0;
    for (uint32_t k = 0; k < s->span_count; k++) {
        const caromi_cloud_span *span = &s->spans[k];
        if (number < span->slices) {
            slice.begin = edge_of(begin, span, number);
            slice.end = edge_of(begin, span, number + 1);
            break;
        }
        number -= span->slices;
        begin = span->end;
    }
    if (!caromi_slice_is_instant(&slice)) {
        memcpy(slice.origin, s->origin, sizeof slice.origin);
        memcpy(slice.velocity, s->velocity, sizeof slice.velocity);
    }
    return slice;
}
