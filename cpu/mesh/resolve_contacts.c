/* SPDX-License-Identifier: MIT */
/* Second rung of exact mode for contacts: which of two triangles is closer, by a floating-point filter and then by
 * integers. */
#define LANES 1
#include "kernels/mesh_contacts_exact.h"
#include <math.h>

#include "cpu/exact/exact.h"
#include "contact_triangles.h"

/* The terms of one pair (IN_CLOSEST numbers). */
static closest_wide wide_of(const float *in)
{
    return closest_wide_of(w3_of((double)in[IN_NCX], (double)in[IN_NCY], (double)in[IN_NCZ]),
                           w3_of((double)in[IN_NP0X], (double)in[IN_NP0Y], (double)in[IN_NP0Z]),
                           w3_of((double)in[IN_NP1X], (double)in[IN_NP1Y], (double)in[IN_NP1Z]),
                           w3_of((double)in[IN_NP2X], (double)in[IN_NP2Y], (double)in[IN_NP2Z]));
}

/* Bounds of its distance. */
static closest_range range_of(const float *in)
{
    const closest_wide wide = wide_of(in);
    return closest_range_of(&wide);
}

/* The order of two distances: by their bounds, else in integers. */
int caromi_resolve_order(const float *in, const float *other, uint8_t *by_integers)
{
    const closest_range a = range_of(in), b = range_of(other);
    if (a.high < b.low || b.high < a.low)
        return a.high < b.low ? -1 : 1;
    *by_integers = 1;
    return caromi_exact_closest_order(in, other);
}

/* Three numbers as a vector of one lane. */
static v3 vector_of(const float *x)
{
    return v3_of(x[0], x[1], x[2]);
}

/* A pair as the solver's input. */
static closest_in pair_of(const float *in)
{
    const closest_in pair = {vector_of(in + IN_NCX), vector_of(in + IN_NP0X), vector_of(in + IN_NP1X),
                             vector_of(in + IN_NP2X)};
    return pair;
}

/* Bounds of the distance from the triangle's box. */
static closest_span span_of(closest_in pair, closest_view view, float scale)
{
    return closest_span_of(view, v3_mul(mesh_min3(pair.p0, pair.p1, pair.p2), scale),
                           v3_mul(mesh_max3(pair.p0, pair.p1, pair.p2), scale));
}

/* The binary32 to which every distance of the range rounds; NaN if there are two. */
static float distance_in(closest_range range)
{
    const float low = (float)range.low, high = (float)range.high;
    return low < high || low > high ? v_from_bits(R_NAN_BITS) : low;
}

/* The distance that `closest` gives a triangle; NaN in exact mode if the filter leaves it undecided. */
float caromi_own_distance(const caromi_mesh_view *mesh, const float *in, int exact)
{
    const closest_in pair = pair_of(in);
    if (exact)
        return distance_in(range_of(in));
    return contacts_solution_of(pair, span_of(pair, closest_view_of(pair.center, mesh->frame), mesh->frame.scale), 1, 1)
        .distance;
}

/* The record of one triangle, as the search makes it. */
void caromi_contact_record(const caromi_mesh_view *mesh, const float *in, int exact, mesh_record *record)
{
    const closest_in pair = pair_of(in);
    const closest_view view = closest_view_of(pair.center, mesh->frame);
    const float scale = mesh->frame.scale;
    if (exact) {
        const closest_wide wide = wide_of(in);
        record->t = distance_in(closest_range_of(&wide));
        record->state = (int)closest_point_of(&wide).feature;
        return;
    }
    const contacts_solution solution = contacts_solution_of(pair, span_of(pair, view, scale), 1, 0);
    record->t = contacts_distance(pair, view, &solution, 1, scale);
    record->state = solution.feature;
}

/* ---- the first triangle near two points -------------------------------------------------------------------------- */

/* A search for a triangle near two points that passes a test. */
typedef struct near_two_points {
    const caromi_mesh_view *mesh;
    closest_view view[2]; /* of both points */
    float limit[2];       /* largest distance from each */
    int (*test)(void *user, int32_t triangle);
    void *user;
} near_two_points;

/* The children that may hold triangles near both points, in ascending distance from the second; returns their
 * number. */
static int order_children(const near_two_points *search, const mesh_node *node, int child[MESH_WIDTH])
{
    float least[MESH_WIDTH];
    int count = 0;
    for (int slot = 0; slot < MESH_WIDTH; slot++) {
        const v3 lo = v3_of(node->lo_x[slot], node->lo_y[slot], node->lo_z[slot]);
        const v3 hi = v3_of(node->hi_x[slot], node->hi_y[slot], node->hi_z[slot]);
        if (node->child[slot] == 0 || !(closest_span_of(search->view[0], lo, hi).least <= search->limit[0]))
            continue;
        const float distance = closest_span_of(search->view[1], lo, hi).least;
        /* Insertion sort by the distance from the second point. */
        int position = count;
        if (!(distance <= search->limit[1]))
            continue;
        for (; position > 0 && least[position - 1] > distance; position--) {
            least[position] = least[position - 1];
            child[position] = child[position - 1];
        }
        least[position] = distance;
        child[position] = node->child[slot];
        count++;
    }
    return count;
}

/* Tests the triangles near both points in the subtree of a node or leaf. */
static int find_in_subtree(const near_two_points *search, int reference)
{
    int child[MESH_WIDTH];
    if (reference < 0) {
        const mesh_leaf *leaf = &search->mesh->leaves[MESH_LEAF_AT(reference)];
        for (int slot = 0; slot < MESH_WIDTH && leaf->triangle[slot] >= 0; slot++)
            if (search->test(search->user, leaf->triangle[slot]))
                return 1;
        return 0;
    }
    const int count = order_children(search, &search->mesh->nodes[reference], child);
    for (int i = 0; i < count; i++)
        if (find_in_subtree(search, child[i]))
            return 1;
    return 0;
}

/* The first triangle near both points that passes the test. */
int caromi_find_triangle(const caromi_mesh_view *mesh, const float *point, float point_distance, const float *center,
                         float center_distance, int (*test)(void *user, int32_t triangle), void *user)
{
    /* In exact mode a true distance may be above the number after rounding. */
    const near_two_points search = {
        .mesh = mesh,
        .view = {closest_view_of(vector_of(point), mesh->frame), closest_view_of(vector_of(center), mesh->frame)},
        .limit = {nextafterf(point_distance, INFINITY), nextafterf(center_distance, INFINITY)},
        .test = test,
        .user = user};
    return find_in_subtree(&search, mesh->frame.root);
}

/* Whether the normal, |n|^2 against its error, may be 0. */
int caromi_may_be_flat(const float *corners)
{
    const w3 p0 = w3_of((double)corners[0], (double)corners[1], (double)corners[2]);
    const w3 edge1 = w3_sub(w3_of((double)corners[3], (double)corners[4], (double)corners[5]), p0);
    const w3 edge2 = w3_sub(w3_of((double)corners[6], (double)corners[7], (double)corners[8]), p0);
    const w3 normal = w3_cross(edge1, edge2);
    /* The error of n is below 2^-50 |a| |b|. */
    return !(w3_dot(normal, normal) > 0x1p-96 * (w3_dot(edge1, edge1) * w3_dot(edge2, edge2)));
}
