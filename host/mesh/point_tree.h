/* SPDX-License-Identifier: MIT */
/* A set of points with removal: finds the closest point to a position, in the order (distance, number). */
#ifndef CAROM_HOST_MESH_POINT_TREE_H
#define CAROM_HOST_MESH_POINT_TREE_H
#include "host/core/context.h"

enum { CAROMI_NO_POINT = -1 };

/* A point of the tree. */
typedef struct caromi_tree_point {
    float at[3];
    uint64_t patch; /* for the caller's use */
    int64_t number; /* unique among the points */
    int is_removed;
} caromi_tree_point;

/* A node of the tree: the bounding box of its points. */
typedef struct caromi_point_box {
    float lower[3], upper[3];
    int64_t least; /* the lowest number of the box's points that are not removed; CAROMI_NO_POINT: all are */
} caromi_point_box;

/* A tree of points, from which points can be removed. */
typedef struct caromi_point_tree {
    caromi_tree_point *points;
    caromi_point_box *boxes;
    uint64_t *slot; /* [number - first] position of a point in the tree's array */
    int64_t first;
    uint64_t count;
} caromi_point_tree;

/* The number of boxes for so many points. */
uint64_t caromi_point_tree_boxes(uint64_t points);
/* Builds the tree over its points, none of them removed; `boxes` and `slot` are allocated by the caller. */
void caromi_point_tree_build(caromi_point_tree *tree);
/* The number of the closest point that is not removed; CAROMI_NO_POINT: there is none. The next function removes a
 * point. */
int64_t caromi_point_tree_find(const caromi_point_tree *tree, const float *place);
void caromi_point_tree_remove(caromi_point_tree *tree, int64_t number);

/* The squared distance, with a relative error below 2^-50; whether two such distances differ by more than their errors.
 */
double caromi_square_between(const float *a, const float *b);
int caromi_squares_apart(double a, double b);
#endif
