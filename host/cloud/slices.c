/* SPDX-License-Identifier: MIT */
/* Spheres as they are given, and where they are in a slice of time. */
#include <math.h>
#include <string.h>

#include "cloud.h"

/* A full block of a packed and aligned column is not copied. */
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
    const int columns = cloud->is_moving || caromi_cloud_is_periodic(cloud) ? CLOUD_COLUMNS : CLOUD_VX;
    block->first = first;
    block->count = count;
    for (int c = 0; c < columns; c++)
        block->in[c] = read_column(&cloud->in[c], c == CLOUD_T_MAX ? INFINITY : 0, first, count, block->own[c]);
    const uint32_t finite = columns == CLOUD_COLUMNS ? CLOUD_T_MAX : CLOUD_VX;
    block->valid =
        cloud->context->isa->cloud_check(block->in, finite, CLOUD_R, count, block->own[CLOUD_R], block->is_valid);
    block->in[CLOUD_R] = block->own[CLOUD_R]; /* without the sign of -0 */
}

/* The least binary32 that is surely not below. */
static float upwards(double x)
{
    const float rounded = (float)(x * (1 + 0x1p-22));
    return rounded + 0x1p-149f;
}

/* A way to an image has a rounded difference of centres in it, which may be as long as two periods. */
caromi_cloud_motion caromi_cloud_motion_in(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                           const caromi_cloud_cells *cells)
{
    caromi_cloud_motion motion = {.given = cells->given, .image = cells->image};
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

enum { SAMPLE = 1024, SLICES_MOST = 4096 };

static float median(float *x, size_t count)
{
    return count ? caromi_cloud_select(x, count, count / 2) : 0;
}

/* Medians of a sample: the speed, the radius and, as an origin, the centre. */
static void sample(const caromi_cloud *cloud, caromi_cloud_slices *s, float *speed, float *radius)
{
    enum { SPEED = 3, RADIUS, NUMBERS };
    float x[NUMBERS][SAMPLE];
    size_t n = 0;
    caromi_cloud_block block;
    for (uint64_t k = 0; k < SAMPLE && k < cloud->count; k++) {
        const uint64_t i = caromi_slice_start(cloud->count, cloud->count < SAMPLE ? cloud->count : SAMPLE, k);
        double way2 = 0;
        caromi_cloud_read(cloud, i, i + 1, &block);
        if (!block.is_valid[0])
            continue;
        for (int c = 0; c < 3; c++) {
            x[c][n] = block.in[CLOUD_X + c][0];
            way2 += (double)block.in[CLOUD_VX + c][0] * (double)block.in[CLOUD_VX + c][0];
        }
        x[SPEED][n] = (float)sqrt(way2);
        x[RADIUS][n++] = block.in[CLOUD_R][0];
    }
    for (int c = 0; c < 3; c++)
        s->origin[c] = (double)median(x[c], n);
    *speed = median(x[SPEED], n);
    *radius = median(x[RADIUS], n);
}

/* A pair has the smaller of two limits, so the second largest ends the window; and the largest that is finite. */
static void set_limits(const caromi_cloud *cloud, caromi_cloud_slices *s)
{
    const caromi_in_column *column = &cloud->in[CLOUD_T_MAX];
    const int is_one = column->base == NULL || column->stride == 0;
    float first = -1, second = -1, finite = 0;
    for (uint64_t i = 0; i < (is_one ? 2 : cloud->count); i++) {
        float t = INFINITY;
        if (column->base != NULL)
            memcpy(&t, caromi_element(column, is_one ? 0 : i), sizeof t);
        second = t > first ? first : t > second ? t : second;
        first = t > first ? t : first;
        finite = t > finite && t < INFINITY ? t : finite;
    }
    s->has_end = second < INFINITY;
    s->limit = (double)(s->has_end ? second : finite);
    s->limit = s->limit > 0 ? s->limit : 0;
}

/* Nanoseconds for each sphere, roughly: to sort it in each slice, and to ask about what is near its way there. */
static double cost_of(const caromi_cloud *cloud, double count, double way, double radius, double volume)
{
    const double reach = 2 * radius + way / count, near = (double)cloud->count / volume * 2 * reach * reach * reach;
    return count * (60 + 2e4 / (double)cloud->count + 15 * fmin(near, (double)cloud->count));
}

/* More slices sort more often, and ask less. What has no limit of time makes a slice of its own, the last. */
void caromi_cloud_cut(const caromi_cloud *cloud, caromi_cloud_slices *s)
{
    float speed, radius;
    *s = (caromi_cloud_slices){.count = 1, .has_end = 1};
    if (!cloud->is_moving)
        return;
    sample(cloud, s, &speed, &radius);
    set_limits(cloud, s);
    const double way = (double)speed * s->limit, volume = caromi_cloud_volume(cloud, 2 * (double)radius);
    double least = cost_of(cloud, 1, way, (double)radius, volume);
    for (uint32_t count = 2; count <= SLICES_MOST; count += (count + 1) / 2) {
        const double cost = cost_of(cloud, count, way, (double)radius, volume);
        if (cost < least) {
            least = cost;
            s->count = count;
        }
    }
    if (!s->has_end)
        s->count = s->limit > 0 ? s->count + 1 : 1;
}

caromi_cloud_slice caromi_cloud_slice_of(const caromi_cloud_slices *s, uint32_t number)
{
    const uint32_t finite = s->count - !s->has_end;
    caromi_cloud_slice slice = {.begin = s->limit, .end = (double)INFINITY};
    if (number < finite) {
        slice.begin = s->limit * number / finite;
        slice.end = s->limit * (number + 1) / finite;
    }
    if (!caromi_slice_is_instant(&slice))
        memcpy(slice.origin, s->origin, sizeof slice.origin);
    return slice;
}
