/* SPDX-License-Identifier: MIT */
/* A tree of loose edges. Its boxes bound not only positions, but also directions, normals and moments, so that edges
 * around one corner, or side by side, are told apart. */
#ifndef CAROM_HOST_MESH_LOOSE_TREE_H
#define CAROM_HOST_MESH_LOOSE_TREE_H
#include "host/core/context.h"

#define CAROMI_LOOSE_NO_END UINT32_MAX
enum { CAROMI_LOOSE_LEAF = 8, CAROMI_LOOSE_MIXED = -1 };
/* Coordinates of an edge, three each: of its position; of its direction, the triangle's normal and the moment of its
 * line, which are turned if the edge runs the other way along the line; of the normal, turned if it has another sign.
 * So triangles on both sides of a line have opposite normals and one plane. Nodes are split by planes, but not by
 * normals: triangles that are to be joined are near each other in the tree. */
enum { LOOSE_POSITION, LOOSE_DIRECTION = 3, LOOSE_MOMENT = 6, LOOSE_PLANE = 9, LOOSE_SPLITS = 12, LOOSE_NORMAL = 12 };
enum { LOOSE_AXES = 15 };

/* An edge in the mesh's frame, as its triangle runs along it. */
typedef struct caromi_loose_edge {
    float lower[3], upper[3]; /* its box */
    float direction[3], normal[3], moment[3];
    uint32_t triangle, end[2];    /* end: the positions of its ends, as caromi_edge_position numbers them */
    int8_t line_sign, plane_sign; /* 1 or -1: how direction and plane are turned */
    uint8_t edge, has_normal;     /* has_normal: the normal is off by less than 2^-20, else it may be any */
} caromi_loose_edge;

/* Edges [first, first + count). The first child is the next node. */
typedef struct caromi_loose_node {
    float lower[LOOSE_AXES], upper[LOOSE_AXES];
    uint64_t first, count, second; /* second: the second child; 0: a leaf */
    uint32_t end[2];               /* positions at which all edges end; CAROMI_LOOSE_NO_END: none */
    int64_t triangle;              /* a triangle of the patch to which all edges belong; CAROMI_LOOSE_MIXED */
} caromi_loose_node;

/* Bounds along each axis, by which edges are told apart that cannot run along each other. */
typedef struct caromi_loose_limits {
    double within, normal2, radius; /* distance; square between normals; of all edges from the moments' origin */
} caromi_loose_limits;
/* The most square between the directions of edges that run along each other, rounded up. An edge that goes on for 8
 * distances within one distance of a line is at most asin(1 / 4) away from it. If both edges begin at one place, it has
 * left the line there, and goes on for 8 distances if it is at most asin(1 / 8) away. */
static inline double caromi_loose_turn2(const uint32_t one[2], const uint32_t other[2])
{
    const int have_common_end = (one[0] != CAROMI_LOOSE_NO_END && (one[0] == other[0] || one[0] == other[1])) ||
                                (one[1] != CAROMI_LOOSE_NO_END && (one[1] == other[0] || one[1] == other[1]));
    return have_common_end ? 0.016 : 0.064;
}

/* The least length that two boxes have in common along an axis, if edges in them run along each other: 8 distances
 * along the axis, less one at both ends. share: the least component of either direction. */
static inline double caromi_loose_common(double within, double share)
{
    const double length = (7.99 * share - 2.0) * within;
    return length > -within ? length : -within;
}

/* The number of nodes of a tree. */
uint64_t caromi_loose_nodes(uint64_t edges);
/* Builds the tree and reorders the edges. If the call ends early, the tree is unfinished. */
void caromi_loose_build(const carom_context *context, caromi_loose_edge *edges, uint64_t count,
                        const caromi_loose_limits *limits, caromi_loose_node *nodes);
/* Whether edges of two nodes may run along each other, with their triangles in one plane. */
int caromi_loose_may_meet(const caromi_loose_node *a, const caromi_loose_node *b, const caromi_loose_limits *limits);
/* A measure of how far apart the lines in the middles of two nodes are, whichever way they run. */
double caromi_loose_remoteness(const caromi_loose_node *a, const caromi_loose_node *b);
#endif
