/* SPDX-License-Identifier: MIT */
/* The first triangle near two points that passes a test. */
#include <math.h>

#include "kernels/mesh_closest.h"
#include "nodes.h"

/* Three numbers as a vector of one lane. */
static v3 contact_vector_of(const float *x)
{
    return v3_of(x[0], x[1], x[2]);
}

/* A search for a triangle near two points that passes a test. */
typedef struct contact_near_two {
    const caromi_mesh_view *mesh;
    closest_view view[2]; /* of both points */
    float limit[2];       /* largest distance from each */
    int (*test)(void *user, int32_t triangle);
    void *user;
} contact_near_two;

/* The children that may hold triangles near both points, in ascending distance from the second; returns their
 * number. */
static int contact_order_children(const contact_near_two *search, const mesh_node *node, int child[MESH_WIDTH])
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
static int contact_find_in_subtree(const contact_near_two *search, int reference)
{
    int child[MESH_WIDTH];
    if (reference < 0) {
        const mesh_leaf *leaf = mesh_leaf_at(search->mesh, reference);
        for (int slot = 0; slot < MESH_WIDTH && leaf->triangle[slot] >= 0; slot++)
            if (search->test(search->user, leaf->triangle[slot]))
                return 1;
        return 0;
    }
    const int count = contact_order_children(search, mesh_node_at(search->mesh, reference), child);
    for (int i = 0; i < count; i++)
        if (contact_find_in_subtree(search, child[i]))
            return 1;
    return 0;
}

/* The first triangle near both points that passes the test. */
static int contact_find_triangle(const caromi_mesh_view *mesh, const float *point, float point_distance,
                                 const float *center, float center_distance, int (*test)(void *user, int32_t triangle),
                                 void *user)
{
    /* In exact mode a true distance may be above the number after rounding. */
    const contact_near_two search = {
        .mesh = mesh,
        .view = {closest_view_of(contact_vector_of(point), mesh->frame),
                 closest_view_of(contact_vector_of(center), mesh->frame)},
        .limit = {nextafterf(point_distance, INFINITY), nextafterf(center_distance, INFINITY)},
        .test = test,
        .user = user};
    return contact_find_in_subtree(&search, mesh->frame.root);
}
