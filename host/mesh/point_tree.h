/* SPDX-License-Identifier: MIT */
/* Points of which the nearest to a place is found, and taken out, in the order (distance, number). */
#ifndef CAROM_HOST_MESH_POINT_TREE_H
#define CAROM_HOST_MESH_POINT_TREE_H
#include "host/core/context.h"

enum { CAROMI_NO_POINT = -1 };

typedef struct caromi_tree_point {
    float at[3];
    uint32_t patch; /* the caller's */
    int64_t number; /* none is used twice */
    int is_taken;
} caromi_tree_point;

typedef struct caromi_point_box {
    float lower[3], upper[3];
    int64_t least; /* the lowest number of those that are not taken; CAROMI_NO_POINT: there is none */
} caromi_point_box;

typedef struct caromi_point_tree {
    caromi_tree_point *points;
    caromi_point_box *boxes;
    uint64_t *slot; /* [number - first] where a point is */
    int64_t first;
    uint64_t count;
} caromi_point_tree;

/* How many boxes so many points need. */
uint64_t caromi_point_tree_boxes(uint64_t points);
/* Arranges points, none of them taken; boxes and slot: memory. */
void caromi_point_tree_build(caromi_point_tree *tree);
/* The number of the nearest point that is not taken; CAROMI_NO_POINT: there is none. */
int64_t caromi_point_tree_find(const caromi_point_tree *tree, const float *place);
void caromi_point_tree_take(caromi_point_tree *tree, int64_t number);

/* The squared distance, off by less than 2^-50 of itself; and whether two such numbers decide. */
double caromi_square_between(const float *a, const float *b);
int caromi_squares_apart(double a, double b);
#endif
