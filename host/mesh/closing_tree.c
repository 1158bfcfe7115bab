/* SPDX-License-Identifier: MIT */
/* The tree over the triangles of a closing. A node is split at the middle of its longest extent: along an axis, or by
 * the triangles' sizes, since one large triangle would spoil the bounds of the small ones beside it. */
#include <math.h>
#include <string.h>

#include "closing.h"

enum {
    FEATURES = 4,      /* of a triangle by which nodes are split: centroid and size */
    HALVING_DEPTH = 40 /* below it, splits halve the triangles: that bounds the depth for any input */
};

typedef struct closing_item {
    double feature[FEATURES];
    double normal[3], area; /* vector area and its length */
    uint32_t triangle;
} closing_item;

typedef struct closing_builder {
    caromi_closing *closing;
    closing_item *items, *spare;
} closing_builder;

static const double round_up = 1 + 0x1p-40; /* above the roundings of a bound */

/* Distance of a triangle's farthest corner from a point. */
static double farthest_corner(const float corners[9], const double from[3])
{
    double most = 0;
    for (int k = 0; k < 9; k += 3) {
        const double x = (double)corners[k] - from[0], y = (double)corners[k + 1] - from[1],
                     z = (double)corners[k + 2] - from[2];
        most = fmax(most, x * x + y * y + z * z);
    }
    return sqrt(most) * round_up;
}

static closing_item item_of(const float corners[9], uint32_t triangle)
{
    closing_item item = {.triangle = triangle};
    double e[3], f[3], square = 0;
    for (int k = 0; k < 3; k++) {
        e[k] = (double)corners[3 + k] - (double)corners[k];
        f[k] = (double)corners[6 + k] - (double)corners[k];
        item.feature[k] = (double)corners[k] + (e[k] + f[k]) / 3;
    }
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        item.normal[k] = (e[a] * f[b] - e[b] * f[a]) / 2;
        square += item.normal[k] * item.normal[k];
    }
    item.area = sqrt(square);
    item.feature[3] = 2 * farthest_corner(corners, item.feature);
    return item;
}

/* Sums up the triangles of a node. The roundings of a vector area are at most 2^-50 of the product of its edges. */
static void bound(const closing_builder *builder, const closing_item *items, caromi_closing_node *node)
{
    double area = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        area += items[i].area;
        for (int k = 0; k < 3; k++) {
            node->center[k] += items[i].feature[k] * items[i].area;
            node->normal[k] += items[i].normal[k];
        }
    }
    for (int k = 0; k < 3; k++)
        node->center[k] = area > 0 ? node->center[k] / area : items[0].feature[k];
    for (uint32_t i = 0; i < node->count; i++) {
        const double reach = farthest_corner(builder->closing->corners[items[i].triangle], node->center),
                     size = items[i].feature[3];
        node->radius = fmax(node->radius, reach);
        node->area += (items[i].area + 0x1p-48 * size * size) * round_up;
        node->moment += (items[i].area + 0x1p-48 * size * size) * reach * round_up;
    }
}

/* Moves the items below the middle of the longest extent to the front, and keeps their order. Returns how many they
 * are. */
static uint32_t split(const closing_builder *builder, closing_item *items, uint32_t count, int depth)
{
    double low[FEATURES], high[FEATURES];
    int axis = 0;
    for (int f = 0; f < FEATURES; f++) {
        low[f] = (double)INFINITY;
        high[f] = -(double)INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            low[f] = fmin(low[f], items[i].feature[f]);
            high[f] = fmax(high[f], items[i].feature[f]);
        }
        axis = high[f] - low[f] > high[axis] - low[axis] ? f : axis;
    }
    const double middle = low[axis] + (high[axis] - low[axis]) / 2;
    uint32_t below = 0, above = 0;
    if (depth >= HALVING_DEPTH || !(low[axis] < middle && middle < high[axis]))
        return count / 2;
    for (uint32_t i = 0; i < count; i++)
        if (items[i].feature[axis] < middle)
            items[below++] = items[i];
        else
            builder->spare[above++] = items[i];
    memcpy(items + below, builder->spare, above * sizeof *items);
    return below;
}

/* Builds the subtree over some items. */
static void grow(closing_builder *builder, uint32_t first, uint32_t count, int depth)
{
    caromi_closing *closing = builder->closing;
    caromi_closing_node *node = &closing->nodes[closing->node_count++];
    *node = (caromi_closing_node){.first = first, .count = count};
    bound(builder, builder->items + first, node);
    if (count == 1)
        return;
    const uint32_t below = split(builder, builder->items + first, count, depth);
    grow(builder, first, below, depth + 1);
    node->second = (uint32_t)closing->node_count;
    grow(builder, first + below, count - below, depth + 1);
}

/* Puts the triangles in the order of the tree's leaves. */
static void permute(const closing_builder *builder, float (*spare)[9])
{
    caromi_closing *closing = builder->closing;
    for (uint64_t i = 0; i < closing->count; i++)
        memcpy(spare[i], closing->corners[builder->items[i].triangle], sizeof *spare);
    memcpy(closing->corners, spare, closing->count * sizeof *spare);
}

carom_status caromi_closing_grow(caromi_closing *closing, carom_error *err)
{
    const carom_context *context = closing->context;
    closing_builder builder = {.closing = closing};
    builder.items = caromi_alloc(context, closing->count, sizeof *builder.items);
    builder.spare = caromi_alloc(context, closing->count, sizeof *builder.spare); /* larger than a triangle's corners */
    closing->nodes = caromi_alloc(context, 2 * closing->count - 1, sizeof *closing->nodes);
    const int has_memory = builder.items != NULL && builder.spare != NULL && closing->nodes != NULL;
    if (has_memory) {
        for (uint64_t i = 0; i < closing->count; i++)
            builder.items[i] = item_of(closing->corners[i], (uint32_t)i);
        grow(&builder, 0, (uint32_t)closing->count, 0);
        permute(&builder, (void *)builder.spare);
    }
    caromi_free(context, builder.items);
    caromi_free(context, builder.spare);
    return has_memory ? CAROM_OK
                      : caromi_fail_memory(err, "no memory for the tree over the %llu triangles that close a mesh",
                                           (unsigned long long)closing->count);
}
