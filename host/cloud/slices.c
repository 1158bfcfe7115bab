/* SPDX-License-Identifier: MIT */
/* Spheres as they are given, and where they are in a slice of time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cloud.h"

static void read_column(const caromi_in_column *column, float missing, uint64_t first, uint32_t count, float *to)
{
    if (column->base != NULL)
        caromi_gather(to, column, first, count);
    else
        for (uint32_t i = 0; i < count; i++)
            to[i] = missing;
}

void caromi_cloud_read(const caromi_cloud *cloud, uint64_t first, uint64_t end, caromi_cloud_block *block)
{
    const uint32_t count = end - first < CAROMI_CLOUD_BLOCK ? (uint32_t)(end - first) : CAROMI_CLOUD_BLOCK;
    block->first = first;
    block->count = count;
    const int columns = cloud->is_moving || caromi_cloud_is_periodic(cloud) ? CLOUD_COLUMNS : CLOUD_VX;
    for (int c = 0; c < columns; c++)
        read_column(&cloud->in[c], c == CLOUD_T_MAX ? INFINITY : 0, first, count, block->in[c]);
    for (uint32_t i = 0; i < count; i++)
        block->is_valid[i] = block->in[CLOUD_R][i] >= 0;
    for (int c = 0; c < columns && c < CLOUD_T_MAX; c++)
        for (uint32_t i = 0; i < count; i++)
            block->is_valid[i] &= fabsf(block->in[c][i]) < INFINITY;
}

/* The least binary32 that is surely not below. */
static float upwards(double x)
{
    const float rounded = (float)(x * (1 + 0x1p-22));
    return rounded + 0x1p-149f;
}

/* `reach` bounds, for every time of the
 * slice, the way from the place to a point of the sphere; 2^-15 of all that it has moved is for the errors of fast
 * mode's times (docs/spheres.md). What does not fit into binary32 reaches everywhere. */
caromi_cloud_place caromi_cloud_place_within(const caromi_cloud *cloud, const caromi_cloud_slice *slice,
                                             const caromi_cloud_block *block, uint32_t i, int image)
{
    const double r = (double)block->in[CLOUD_R][i], half = (slice->end - slice->begin) / 2;
    const double middle = isfinite(half) ? slice->begin + half : 0;
    double way2 = 0, size = 0;
    caromi_cloud_place place;
    for (int k = 0; k < 3; k++) {
        const double v = (double)block->in[CLOUD_VX + k][i];
        const double x = (double)block->in[CLOUD_X + k][i] + caromi_image_step(image, k) * (double)cloud->period[k];
        const double at = x - slice->origin[k] + v * middle;
        place.at[k] = (float)at;
        way2 += v * v;
        size += fabs(at) + fabs(x) * 0x1p-24;
    }
    const double speed = sqrt(way2), moved = speed > 0 ? speed * slice->end : 0;
    const double reach = r + (speed > 0 ? speed * half : 0) + (r + moved) * 0x1p-15 + size * 0x1p-22;
    place.reach = upwards(reach);
    if (reach < 0x1p120 && size < 0x1p120)
        return place;
    place.reach = INFINITY;
    for (int k = 0; k < 3; k++)
        place.at[k] = 0;
    return place;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

enum { SAMPLE = 1024, SLICES_MOST = 4096 };

static int compare_floats(const void *one, const void *other)
{
    float a, b;
    memcpy(&a, one, sizeof a);
    memcpy(&b, other, sizeof b);
    return (a > b) - (a < b);
}

/* Medians of a sample: the speed and the radius. Its first valid centre is an origin as good as any. */
static void sample(const caromi_cloud *cloud, caromi_cloud_slices *s, float *speed, float *radius)
{
    float speeds[SAMPLE], radii[SAMPLE];
    size_t n = 0;
    caromi_cloud_block block;
    for (uint64_t k = 0; k < SAMPLE && k < cloud->count; k++) {
        const uint64_t i = caromi_slice_start(cloud->count, cloud->count < SAMPLE ? cloud->count : SAMPLE, k);
        caromi_cloud_read(cloud, i, i + 1, &block);
        if (!block.is_valid[0])
            continue;
        for (int c = 0; n == 0 && c < 3; c++)
            s->origin[c] = (double)block.in[CLOUD_X + c][0];
        const double x = (double)block.in[CLOUD_VX][0], y = (double)block.in[CLOUD_VY][0],
                     z = (double)block.in[CLOUD_VZ][0];
        speeds[n] = (float)sqrt(x * x + y * y + z * z);
        radii[n++] = block.in[CLOUD_R][0];
    }
    qsort(speeds, n, sizeof *speeds, compare_floats);
    qsort(radii, n, sizeof *radii, compare_floats);
    *speed = n ? speeds[n / 2] : 0;
    *radius = n ? radii[n / 2] : 0;
}

/* The latest of the limits of time. */
static double limit_of(const caromi_cloud *cloud)
{
    const caromi_in_column *column = &cloud->in[CLOUD_T_MAX];
    const uint64_t count = column->stride == 0 && cloud->count > 0 ? 1 : cloud->count;
    float most = 0;
    if (column->base == NULL)
        return INFINITY;
    for (uint64_t i = 0; i < count; i++) {
        float t;
        memcpy(&t, caromi_element(column, i), sizeof t);
        most = t > most ? t : most;
    }
    return (double)most;
}

/* Nanoseconds for each sphere, roughly: to sort it in each slice, and to ask about what is near its way there. */
static double cost_of(const caromi_cloud *cloud, double count, double way, double radius, double volume)
{
    const double reach = 2 * radius + way / count, near = (double)cloud->count / volume * 2 * reach * reach * reach;
    return count * (60 + 2e4 / (double)cloud->count + 15 * fmin(near, (double)cloud->count));
}

/* More slices sort more often, and ask less. */
void caromi_cloud_cut(const caromi_cloud *cloud, caromi_cloud_slices *s)
{
    float speed, radius;
    *s = (caromi_cloud_slices){.count = 1};
    if (!cloud->is_moving)
        return;
    sample(cloud, s, &speed, &radius);
    s->limit = limit_of(cloud);
    const double way = (double)speed * s->limit, volume = caromi_cloud_volume(cloud, 2 * (double)radius);
    double least = cost_of(cloud, 1, way, (double)radius, volume);
    for (uint32_t count = 2; isfinite(s->limit) && count <= SLICES_MOST; count += (count + 1) / 2) {
        const double cost = cost_of(cloud, count, way, (double)radius, volume);
        if (cost < least) {
            least = cost;
            s->count = count;
        }
    }
}

caromi_cloud_slice caromi_cloud_slice_of(const caromi_cloud_slices *s, uint32_t number)
{
    caromi_cloud_slice slice = {.begin = s->limit * number / s->count, .end = s->limit * (number + 1) / s->count};
    if (number == 0)
        slice.begin = 0; /* infinity * 0 */
    memcpy(slice.origin, s->origin, sizeof slice.origin);
    return slice;
}
