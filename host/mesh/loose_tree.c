/* SPDX-License-Identifier: MIT */
/* Builds the tree by halves, each along the axis that tells edges apart best. */
#include "loose_tree.h"

#include <math.h>
#include <string.h>

#include "host/core/progress.h"

/* A tree while it is built. */
typedef struct loose_builder {
    const carom_context *context;
    caromi_loose_edge *edges;
    caromi_loose_node *nodes;
    const caromi_loose_limits *limits;
} loose_builder;

uint64_t caromi_loose_nodes(uint64_t edges)
{
    return edges <= CAROMI_LOOSE_LEAF ? 1 : 1 + caromi_loose_nodes(edges / 2) + caromi_loose_nodes(edges - edges / 2);
}

static float value_of(const caromi_loose_edge *e, int axis)
{
    const int k = axis % 3;
    return axis < LOOSE_DIRECTION ? 0.5f * (e->lower[k] + e->upper[k])
           : axis < LOOSE_MOMENT  ? (float)e->line_sign * e->direction[k]
           : axis < LOOSE_PLANE   ? (float)e->line_sign * e->moment[k]
           : axis < LOOSE_NORMAL  ? (float)e->plane_sign * e->normal[k]
                                  : (float)e->line_sign * e->normal[k];
}

static void widen(caromi_loose_node *node, int axis, float lower, float upper)
{
    node->lower[axis] = lower < node->lower[axis] ? lower : node->lower[axis];
    node->upper[axis] = upper > node->upper[axis] ? upper : node->upper[axis];
}

/* Sets a node's bounds; size: the mean size of the edges' boxes. */
static void set_bounds(const loose_builder *build, caromi_loose_node *node, double size[3])
{
    const caromi_loose_edge *edges = build->edges;
    for (int axis = 0; axis < LOOSE_AXES; axis++) {
        node->lower[axis] = INFINITY;
        node->upper[axis] = -INFINITY;
    }
    size[0] = size[1] = size[2] = 0;
    memcpy(node->end, edges[node->first].end, sizeof node->end);
    for (uint64_t i = 0; i < node->count && !caromi_look_at_times(build->context, i); i++) {
        const caromi_loose_edge *e = &edges[node->first + i];
        for (int k = 0; k < 2; k++)
            if (node->end[k] != e->end[0] && node->end[k] != e->end[1])
                node->end[k] = CAROMI_LOOSE_NO_END;
        for (int k = 0; k < 3; k++) {
            widen(node, LOOSE_POSITION + k, e->lower[k], e->upper[k]);
            size[k] += ((double)e->upper[k] - (double)e->lower[k]) / (double)node->count;
        }
        for (int axis = LOOSE_DIRECTION; axis < LOOSE_AXES; axis++) {
            const int is_any = !e->has_normal && axis >= LOOSE_PLANE;
            widen(node, axis, is_any ? -1.0f : value_of(e, axis), is_any ? 1.0f : value_of(e, axis));
        }
    }
}

static double extent_of(const caromi_loose_node *node, int axis)
{
    return (double)node->upper[axis] - (double)node->lower[axis];
}

/* The axis along which the fewest pairs of edges may meet: the one with the least ratio of the distance at which they
 * may to the extent. */
static int best_axis(const caromi_loose_node *node, const double size[3], const caromi_loose_limits *limits)
{
    double turn = 0, least = HUGE_VAL;
    int best = 0;
    for (int k = 0; k < 3; k++)
        turn = fmax(turn, extent_of(node, LOOSE_DIRECTION + k));
    for (int axis = 0; axis < LOOSE_SPLITS; axis++) {
        double extent = extent_of(node, axis), distance = limits->within;
        if (axis < LOOSE_DIRECTION) {
            extent -= size[axis];
            distance += size[axis];
        } else if (axis >= LOOSE_MOMENT && axis < LOOSE_PLANE) {
            distance += limits->radius * turn;
        } else {
            distance = sqrt(axis < LOOSE_MOMENT ? caromi_loose_turn2(node->end, node->end) : limits->normal2);
        }
        if (extent > 0 && distance / extent < least) {
            least = distance / extent;
            best = axis;
        }
    }
    return best;
}

/* Quickselect: the edges before `middle` are not above those after it. Pivots are pseudorandom, so that no order of the
 * input is slow; equal values go to both sides. */
static void select_middle(const loose_builder *build, int64_t begin, int64_t end, int64_t middle, int axis)
{
    caromi_loose_edge *edges = build->edges;
    uint64_t random = 1, swaps = 0;
    while (end - begin > 1) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const float pivot = value_of(&edges[begin + (int64_t)((random >> 32) % (uint64_t)(end - begin))], axis);
        int64_t low = begin, high = end - 1;
        while (low <= high) {
            while (value_of(&edges[low], axis) < pivot)
                low++;
            while (value_of(&edges[high], axis) > pivot)
                high--;
            if (low > high)
                break;
            if (caromi_look_at_times(build->context, ++swaps))
                return;
            const caromi_loose_edge was = edges[low];
            edges[low++] = edges[high];
            edges[high--] = was;
        }
        if (middle > high && middle < low)
            return;
        if (middle <= high)
            end = high + 1;
        else
            begin = low;
    }
}

/* Builds the subtree of a node whose edges are known. */
static void build_node(const loose_builder *build, uint64_t at)
{
    caromi_loose_node *nodes = build->nodes, *node = &nodes[at];
    double size[3];
    set_bounds(build, node, size);
    node->triangle = CAROMI_LOOSE_MIXED;
    node->second = 0;
    if (node->count <= CAROMI_LOOSE_LEAF || caromi_watch_ends(build->context->watch))
        return;
    const uint64_t half = node->count / 2;
    select_middle(build, (int64_t)node->first, (int64_t)(node->first + node->count), (int64_t)(node->first + half),
                  best_axis(node, size, build->limits));
    node->second = at + 1 + caromi_loose_nodes(half);
    nodes[at + 1].first = node->first;
    nodes[at + 1].count = half;
    nodes[node->second].first = node->first + half;
    nodes[node->second].count = node->count - half;
    build_node(build, at + 1);
    build_node(build, node->second);
}

void caromi_loose_build(const carom_context *context, caromi_loose_edge *edges, uint64_t count,
                        const caromi_loose_limits *limits, caromi_loose_node *nodes)
{
    const loose_builder build = {context, edges, nodes, limits};
    nodes[0].first = 0;
    nodes[0].count = count;
    build_node(&build, 0);
}

/* The square of the least distance between vectors of two nodes; those of b times sign. */
static double least_distance2(const caromi_loose_node *a, const caromi_loose_node *b, int axis, int sign)
{
    double sum = 0;
    for (int k = axis; k < axis + 3; k++) {
        const double low = sign > 0 ? (double)b->lower[k] : -(double)b->upper[k],
                     high = sign > 0 ? (double)b->upper[k] : -(double)b->lower[k], below = low - (double)a->upper[k],
                     above = (double)a->lower[k] - high, gap = below > above ? below : above;
        sum += gap > 0 ? gap * gap : 0;
    }
    return sum;
}

/* The square of the largest one. */
static double most_distance2(const caromi_loose_node *a, const caromi_loose_node *b, int axis, int sign)
{
    double sum = 0;
    for (int k = axis; k < axis + 3; k++) {
        const double low = sign > 0 ? (double)b->lower[k] : -(double)b->upper[k],
                     high = sign > 0 ? (double)b->upper[k] : -(double)b->lower[k], up = high - (double)a->lower[k],
                     down = (double)a->upper[k] - low;
        sum += up > down ? up * up : down * down;
    }
    return sum;
}

/* The least magnitude along an axis. */
static double least_component(const caromi_loose_node *node, int axis)
{
    return fmax(0, fmax((double)node->lower[axis], -(double)node->upper[axis]));
}

/* For points a, b on lines with directions d, e: a x d - b x e = (a - b) x d + b x (d - e). So the moments of edges
 * that run along each other differ by at most the distance and radius |d - e|. */
int caromi_loose_may_meet(const caromi_loose_node *a, const caromi_loose_node *b, const caromi_loose_limits *limits)
{
    for (int k = 0; k < 3; k++) {
        const float lower = a->lower[k] > b->lower[k] ? a->lower[k] : b->lower[k],
                    upper = a->upper[k] < b->upper[k] ? a->upper[k] : b->upper[k];
        const double share = fmin(least_component(a, LOOSE_DIRECTION + k), least_component(b, LOOSE_DIRECTION + k));
        if ((double)upper - (double)lower < caromi_loose_common(limits->within, share))
            return 0;
    }
    if (least_distance2(a, b, LOOSE_PLANE, 1) > limits->normal2 &&
        least_distance2(a, b, LOOSE_PLANE, -1) > limits->normal2)
        return 0;
    const double turn_most2 = caromi_loose_turn2(a->end, b->end);
    for (int sign = -1; sign <= 1; sign += 2) {
        const double turn = sqrt(most_distance2(a, b, LOOSE_DIRECTION, sign)) + 0x1p-20,
                     distance = limits->within + limits->radius * turn;
        if (least_distance2(a, b, LOOSE_DIRECTION, sign) <= turn_most2 &&
            least_distance2(a, b, LOOSE_NORMAL, -sign) <= limits->normal2 &&
            least_distance2(a, b, LOOSE_MOMENT, sign) <= distance * distance)
            return 1;
    }
    return 0;
}

double caromi_loose_remoteness(const caromi_loose_node *a, const caromi_loose_node *b)
{
    double same = 0, opposite = 0;
    for (int axis = 0; axis < LOOSE_PLANE; axis++) {
        const double own = (double)a->lower[axis] + (double)a->upper[axis],
                     other = (double)b->lower[axis] + (double)b->upper[axis];
        same += (own - other) * (own - other);
        opposite += axis < LOOSE_DIRECTION ? (own - other) * (own - other) : (own + other) * (own + other);
    }
    return fmin(same, opposite);
}
