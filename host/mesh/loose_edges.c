/* SPDX-License-Identifier: MIT */
/* Patches across T-junctions and cracks: joins triangles whose loose edges run
 * along each other. Two trees are searched at once, which are the same tree;
 * pairs of nodes whose edges all belong to one patch already are left out. */
#include <math.h>

#include "cpu/exact/exact.h"
#include "edge_overlap.h"
#include "host/core/progress.h"
#include "loose_tree.h"
#include "mesh.h"
#include "patch_search.h"

#define NORMAL_ERROR 0x1p-20
/* No edge shorter than so many distances counts: an edge that goes on for 8 of
 * them within one of a line has ends on that line that are 6 apart. */
#define LENGTH_LEAST 5.99

/* The search for pairs of loose edges. */
typedef struct loose_search {
    const caromi_patch_search *patches;
    double scale, origin[3]; /* of the mesh's frame, and of moments in it */
    double within;           /* distance, in that frame */
    caromi_loose_limits limits;
    caromi_loose_edge *edges;
    uint64_t count;
    caromi_loose_node *nodes;
    uint64_t visits; /* of pairs of nodes */
} loose_search;

/* ---- loose edges
 * -------------------------------------------------------------------------------------------------
 */

/* The triangle's corners in the mesh's frame. */
static void corners_of(const loose_search *search, uint32_t triangle, double corners[3][3])
{
    for (int k = 0; k < 3; k++)
        for (int axis = 0; axis < 3; axis++)
            corners[k][axis] = (double)caromi_corner(search->patches->mesh, triangle, k)[axis] * search->scale;
}

static double length_of(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Whether an edge is long enough and nothing is joined across it. */
static int is_loose(const loose_search *search, uint32_t triangle, const double corners[3][3], int edge)
{
    double along[3];
    subtract(corners[(edge + 1) % 3], corners[edge], along);
    return (search->patches->joined[triangle] >> edge & 1) == 0 &&
           length_of(along) >= LENGTH_LEAST * search->limits.within;
}

/* The unit normal, and whether it is precise: the computed one is off by at
 * most 8 u |a| |b|, a and b the edges. */
static int normal_of(const double corners[3][3], float normal[3])
{
    double a[3], b[3], n[3];
    subtract(corners[1], corners[0], a);
    subtract(corners[2], corners[0], b);
    cross(a, b, n);
    const double length = length_of(n);
    for (int k = 0; k < 3; k++)
        normal[k] = length > 0 ? (float)(n[k] / length) : 0.0f;
    return length > 0x1p-30 * length_of(a) * length_of(b);
}

/* Of a vector and its opposite one has the sign 1. */
static int8_t sign_of(const float vector[3])
{
    int largest = 0;
    for (int k = 1; k < 3; k++)
        if (fabsf(vector[k]) > fabsf(vector[largest]))
            largest = k;
    return vector[largest] < 0 ? -1 : 1;
}

static void set_edge(const loose_search *search, uint32_t triangle, const double corners[3][3], int edge,
                     caromi_loose_edge *out)
{
    const double *from = corners[edge], *to = corners[(edge + 1) % 3];
    double along[3], offset[3], moment[3];
    subtract(to, from, along);
    subtract(from, search->origin, offset);
    cross(offset, along, moment);
    const double length = length_of(along);
    for (int k = 0; k < 3; k++) {
        out->lower[k] = (float)fmin(from[k], to[k]);
        out->upper[k] = (float)fmax(from[k], to[k]);
        out->direction[k] = (float)(along[k] / length);
        out->moment[k] = (float)(moment[k] / length);
    }
    out->has_normal = (uint8_t)normal_of(corners, out->normal);
    out->line_sign = sign_of(out->direction);
    out->plane_sign = sign_of(out->normal);
    out->triangle = triangle;
    out->edge = (uint8_t)edge;
    for (int k = 0; k < 2; k++)
        out->end[k] = caromi_edge_position(search->patches->edges, triangle, (edge + k) % 3);
}

static int has_area(const loose_search *search, uint32_t triangle)
{
    float corners[9];
    if (search->patches->faces[triangle].length > 0)
        return 1;
    caromi_patch_corners(search->patches->mesh, triangle, corners);
    return caromi_exact_has_area(corners);
}

/* Lists the loose edges, or counts them alone if there is no array yet. Fewer if the call ends early. */
static uint64_t list_edges(const loose_search *search)
{
    const uint32_t triangles = (uint32_t)search->patches->mesh->info.triangle_count;
    uint64_t count = 0;
    for (uint32_t t = 0; t < triangles && !caromi_look_at_times(search->patches->mesh->context, t); t++) {
        double corners[3][3];
        if (search->patches->joined[t] == 7)
            continue;
        corners_of(search, t, corners);
        int is_known = 0;
        for (int k = 0; k < 3; k++) {
            if (!is_loose(search, t, corners, k))
                continue;
            if (!is_known && !has_area(search, t))
                break;
            is_known = 1;
            if (search->edges != NULL)
                set_edge(search, t, corners, k, &search->edges[count]);
            count++;
        }
    }
    return count;
}

/* ---- pairs
 * -------------------------------------------------------------------------------------------------------
 */

static double distance2(const float a[3], const float b[3], double sign)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double d = (double)a[k] - sign * (double)b[k];
        sum += d * d;
    }
    return sum;
}

/* Whether the bounds of two edges let them run along each other in one plane.
 */
static int may_join(const loose_search *search, const caromi_loose_edge *a, const caromi_loose_edge *b, double sign)
{
    const caromi_loose_limits *limits = &search->limits;
    for (int k = 0; k < 3; k++) {
        const double common = fmin((double)a->upper[k], (double)b->upper[k]) -
                              fmax((double)a->lower[k], (double)b->lower[k]),
                     share = fmin(fabs((double)a->direction[k]), fabs((double)b->direction[k]));
        if (common < caromi_loose_common(limits->within, share))
            return 0;
    }
    const double turn2 = distance2(a->direction, b->direction, sign);
    if (turn2 > caromi_loose_turn2(a->end, b->end) ||
        (a->has_normal && b->has_normal && distance2(a->normal, b->normal, -sign) > limits->normal2))
        return 0;
    return sqrt(distance2(a->moment, b->moment, sign)) <= limits->within + limits->radius * (sqrt(turn2) + 0x1p-20);
}

static int run_along(const loose_search *search, const caromi_loose_edge *a, const caromi_loose_edge *b)
{
    double corners[2][3][3], ends[2][2][3];
    const caromi_loose_edge *edges[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        corners_of(search, edges[i]->triangle, corners[i]);
        memcpy(ends[i][0], corners[i][edges[i]->edge], sizeof ends[i][0]);
        memcpy(ends[i][1], corners[i][(edges[i]->edge + 1) % 3], sizeof ends[i][1]);
    }
    return caromi_edges_overlap((const double(*)[3])ends[0], (const double(*)[3])ends[1], search->within);
}

static void join_pair(const loose_search *search, const caromi_loose_edge *a, const caromi_loose_edge *b)
{
    const caromi_patch_search *patches = search->patches;
    const uint32_t root = caromi_patch_root(patches->parent, a->triangle),
                   other = caromi_patch_root(patches->parent, b->triangle);
    if (root == other)
        return;
    const int alike = distance2(a->direction, b->direction, 1.0) < 2.0;
    if (may_join(search, a, b, alike ? 1.0 : -1.0) &&
        caromi_patch_is_flat(patches, a->triangle, b->triangle, alike, patches->least) && run_along(search, a, b))
        caromi_patch_unite(patches->parent, root, other);
}

/* ---- the tree
 * ----------------------------------------------------------------------------------------------------
 */

/* Finds out whether all edges of a node belong to one patch. They stay in one,
 * so this is kept. */
static void find_patch(const loose_search *search, caromi_loose_node *node)
{
    uint32_t *parent = search->patches->parent;
    if (node->triangle != CAROMI_LOOSE_MIXED)
        return;
    if (node->second == 0) {
        const uint32_t root = caromi_patch_root(parent, search->edges[node->first].triangle);
        for (uint64_t i = 1; i < node->count; i++)
            if (caromi_patch_root(parent, search->edges[node->first + i].triangle) != root)
                return;
        node->triangle = root;
        return;
    }
    const int64_t one = node[1].triangle, other = search->nodes[node->second].triangle;
    if (one != CAROMI_LOOSE_MIXED && other != CAROMI_LOOSE_MIXED &&
        caromi_patch_root(parent, (uint32_t)one) == caromi_patch_root(parent, (uint32_t)other))
        node->triangle = one;
}

/* Whether all edges of both nodes belong to one patch. */
static int are_joined(const loose_search *search, caromi_loose_node *a, caromi_loose_node *b)
{
    uint32_t *parent = search->patches->parent;
    find_patch(search, a);
    find_patch(search, b);
    return a->triangle != CAROMI_LOOSE_MIXED && b->triangle != CAROMI_LOOSE_MIXED &&
           caromi_patch_root(parent, (uint32_t)a->triangle) == caromi_patch_root(parent, (uint32_t)b->triangle);
}

static void join_leaves(const loose_search *search, const caromi_loose_node *a, const caromi_loose_node *b)
{
    for (uint64_t i = 0; i < a->count; i++)
        for (uint64_t j = 0; j < (a == b ? i : b->count); j++)
            join_pair(search, &search->edges[a->first + i], &search->edges[b->first + j]);
}

static void join_nodes(loose_search *search, caromi_loose_node *a, caromi_loose_node *b);
/* The children of a node; a leaf is its own. Returns their number. */
static int children_of(const loose_search *search, caromi_loose_node *node, caromi_loose_node *out[2])
{
    out[0] = node->second == 0 ? node : node + 1;
    out[1] = &search->nodes[node->second];
    return node->second == 0 ? 1 : 2;
}

/* Joins edges of two nodes' children, near ones first. So far ones belong to
 * one patch in most cases by then, if any pair between them is near enough to
 * be joined. */
static void join_children(loose_search *search, caromi_loose_node *a, caromi_loose_node *b)
{
    caromi_loose_node *one[2], *other[2], *pairs[4][2];
    double remoteness[4];
    const int ones = children_of(search, a, one), others = children_of(search, b, other);
    int count = 0;
    for (int i = 0; i < ones; i++)
        for (int j = 0; j < others; j++) {
            const double own = caromi_loose_remoteness(one[i], other[j]);
            int at = count++;
            for (; at > 0 && remoteness[at - 1] > own; at--) {
                remoteness[at] = remoteness[at - 1];
                memcpy(pairs[at], pairs[at - 1], sizeof pairs[at]);
            }
            remoteness[at] = own;
            pairs[at][0] = one[i];
            pairs[at][1] = other[j];
        }
    for (int i = 0; i < count; i++)
        join_nodes(search, pairs[i][0], pairs[i][1]);
}

/* Whether the call ends early. A visit takes some tens of microseconds at most. */
static int ends(loose_search *search)
{
    caromi_watch *watch = search->patches->mesh->context->watch;
    return ++search->visits % 64 == 0 ? caromi_watch_look(watch) : caromi_watch_ends(watch);
}

/* Joins the triangles of all pairs of edges, one of each node. */
static void join_nodes(loose_search *search, caromi_loose_node *a, caromi_loose_node *b)
{
    if (ends(search) || are_joined(search, a, b) || (a != b && !caromi_loose_may_meet(a, b, &search->limits)))
        return;
    if (a->second == 0 && b->second == 0) {
        join_leaves(search, a, b);
    } else if (a == b) {
        join_nodes(search, a + 1, a + 1);
        join_nodes(search, &search->nodes[a->second], &search->nodes[a->second]);
        join_nodes(search, a + 1, &search->nodes[a->second]);
    } else {
        join_children(search, a, b);
    }
    find_patch(search, a);
    find_patch(search, b);
}

/* The frame of moments: its origin is the middle of the mesh's box. */
static void set_frame(loose_search *search)
{
    const carom_mesh *mesh = search->patches->mesh;
    double half[3];
    for (int k = 0; k < 3; k++) {
        const double lower = (double)mesh->info.lower[k] * search->scale,
                     upper = (double)mesh->info.upper[k] * search->scale;
        search->origin[k] = 0.5 * (lower + upper);
        half[k] = 0.5 * (upper - lower);
    }
    search->within = (double)search->patches->within * search->scale;
    search->limits.within = search->within + 0x1p-140; /* more than tiny coordinates lose in binary32 */
    search->limits.normal2 = 2.0 - 2.0 * search->patches->least + 4.0 * NORMAL_ERROR;
    search->limits.radius = length_of(half) * (1.0 + 0x1p-20);
}

int caromi_patch_join_loose(const caromi_patch_search *patches)
{
    const carom_mesh *mesh = patches->mesh;
    loose_search search = {.patches = patches, .scale = (double)mesh->view.frame.scale};
    set_frame(&search);
    search.count = list_edges(&search);
    if (search.count < 2 || caromi_watch_ends(mesh->context->watch))
        return 1;
    search.edges = caromi_alloc(mesh->context, search.count, sizeof *search.edges);
    search.nodes = caromi_alloc(mesh->context, caromi_loose_nodes(search.count), sizeof *search.nodes);
    const int complete = search.edges != NULL && search.nodes != NULL;
    if (complete && list_edges(&search) == search.count) { /* else the call ends early */
        caromi_loose_build(mesh->context, search.edges, search.count, &search.limits, search.nodes);
        join_nodes(&search, search.nodes, search.nodes);
    }
    caromi_free(mesh->context, search.edges);
    caromi_free(mesh->context, search.nodes);
    return complete;
}
