/* SPDX-License-Identifier: MIT */
/* Culling for lattices: which triangles can be the closest to a node of a block. LANES boxes, triangles or nodes are
 * tested at a time, and a test keeps everything that it cannot exclude. Lengths are in units of the mesh.
 *
 * A block knows a point of the mesh, the *bound point*. The distance of a node from it, plus a slack for all roundings,
 * is an upper bound of the node's answer. A box or a triangle can matter only if it is nearer than the bound point to
 * some node of the block: on the node's side of a bisector. docs/volumes.md, section 6, has the proofs and the
 * slacks. */
#ifndef CAROM_LATTICE_H
#define CAROM_LATTICE_H
#include "mesh_closest.h"

/* A block of nodes. */
typedef struct lattice_block {
    real low[3], high[3];           /* bounds of the nodes */
    real from_low[3], from_high[3]; /* squared distances of `low` and `high` from the bound point, along each axis;
                                       +inf: there is none */
    real middle[3];                 /* a point near the middle of the block */
    real spread[3];                 /* twice the greatest distance from there to a node, along each axis */
    real offset[3];                 /* from the middle to the bound point */
    real reach;                     /* at least the distance of every node from the bound point */
    real slack;                     /* of squared distances */
    real band2;                     /* square of the band: farther boxes do not matter */
    int has_bound_point;
} lattice_block;

/* The excess of a node is its squared distance from the bound point, less its squared distance from the box. This is
 * one axis' part of the greatest excess over all nodes. The excess is convex in the node's coordinate, so one end of
 * the block has the greatest. */
FN vf lattice_excess(const lattice_block *block, int axis, vf lo, vf hi)
{
    const vf zero = v_f(R(0.0)), low = v_f(block->low[axis]), high = v_f(block->high[axis]);
    const vf at_low = v_max(v_max(lo - low, low - hi), zero), at_high = v_max(v_max(lo - high, high - hi), zero);
    return v_max(v_f(block->from_low[axis]) - at_low * at_low, v_f(block->from_high[axis]) - at_high * at_high);
}

/* The distance between the box and the block along an axis. */
FN vf lattice_gap(const lattice_block *block, int axis, vf lo, vf hi)
{
    return v_max(v_max(lo - v_f(block->high[axis]), v_f(block->low[axis]) - hi), v_f(R(0.0)));
}

/* Whether a triangle in the box may be the answer of a node, and within the band. */
FN vm lattice_keeps_box(const lattice_block *block, v3 lo, v3 hi)
{
    const vf excess = lattice_excess(block, AXIS_X, lo.x, hi.x) + lattice_excess(block, AXIS_Y, lo.y, hi.y) +
                      lattice_excess(block, AXIS_Z, lo.z, hi.z);
    const vf x = lattice_gap(block, AXIS_X, lo.x, hi.x), y = lattice_gap(block, AXIS_Y, lo.y, hi.y),
             z = lattice_gap(block, AXIS_Z, lo.z, hi.z);
    return v_and(v_le(v_f(-block->slack), excess), v_le(x * x + y * y + z * z, v_f(block->band2)));
}

/* Squares of the distances from a point to LANES boxes. */
FN vf lattice_box_distance2(const real at[3], v3 lo, v3 hi)
{
    const vf x = v_f(at[0]), y = v_f(at[1]), z = v_f(at[2]), zero = v_f(R(0.0));
    const v3 gap = v3_of(v_max(v_max(lo.x - x, x - hi.x), zero), v_max(v_max(lo.y - y, y - hi.y), zero),
                         v_max(v_max(lo.z - z, z - hi.z), zero));
    return v3_dot(gap, gap);
}

/* Square of a limit in the mesh's unit, with a margin: boxes farther from a block are beyond the limit. Negative: all
 * boxes are. */
FN real lattice_reach2(real limit)
{
    const real reach = limit * (R(1.0) + R(0x1p-15)) + R(0x1p-40);
    return limit < R(0.0) ? R(-1.0) : reach * reach * (R(1.0) + R(0x1p-15));
}

/* Let w be the offset from the bound point to a point of the triangle, and u the offset to a node. The excess is 2 u.w
 * - w.w. The first term is greatest at a corner, except for the block's extent. The second term is at least the square
 * of the box's distance. */
typedef struct lattice_linear {
    vf corner[3]; /* 2 u.w for each corner w, with the middle of the block for u */
    vf extent;    /* the most that the block's extent can add */
    vf least2;    /* lower bound of w.w */
    vf size;      /* upper bound of the sum of the magnitudes of w */
} lattice_linear;

/* Adds one axis' part of each term. p0, p1, p2: coordinates of the corners. */
FN void lattice_add_axis(const lattice_block *block, int axis, vf p0, vf p1, vf p2, lattice_linear *terms)
{
    const vf middle = v_f(block->middle[axis]), offset = v_f(block->offset[axis]),
             minus_twice_offset = v_f(R(-2.0) * block->offset[axis]);
    const vf from_point0 = (p0 - middle) - offset, from_point1 = (p1 - middle) - offset,
             from_point2 = (p2 - middle) - offset;
    const vf low = v_min(v_min(from_point0, from_point1), from_point2),
             high = v_max(v_max(from_point0, from_point1), from_point2), zero = v_f(R(0.0));
    const vf least_size = v_max(v_max(low, -high), zero), most_size = v_max(high, -low);
    terms->corner[0] = terms->corner[0] + minus_twice_offset * from_point0;
    terms->corner[1] = terms->corner[1] + minus_twice_offset * from_point1;
    terms->corner[2] = terms->corner[2] + minus_twice_offset * from_point2;
    terms->extent = terms->extent + v_f(block->spread[axis]) * most_size;
    terms->least2 = terms->least2 + least_size * least_size;
    terms->size = terms->size + most_size;
}

/* Whether the triangle may be the answer of a node, and within the band. Corners are in units of the mesh. */
FN vm lattice_keeps_triangle(const lattice_block *block, v3 p0, v3 p1, v3 p2)
{
    const vf zero = v_f(R(0.0));
    vm keeps = lattice_keeps_box(block, mesh_min3(p0, p1, p2), mesh_max3(p0, p1, p2));
    if (!block->has_bound_point || !v_any(keeps))
        return keeps;
    lattice_linear terms = {{zero, zero, zero}, zero, zero, zero};
    lattice_add_axis(block, AXIS_X, p0.x, p1.x, p2.x, &terms);
    lattice_add_axis(block, AXIS_Y, p0.y, p1.y, p2.y, &terms);
    lattice_add_axis(block, AXIS_Z, p0.z, p1.z, p2.z, &terms);
    const vf excess = v_max(v_max(terms.corner[0], terms.corner[1]), terms.corner[2]) + terms.extent - terms.least2;
    const vf slack = v_f(block->slack) + terms.size * (v_f(block->reach * R(0x1p-15)) + terms.size * R(0x1p-20));
    return v_and(keeps, v_le(-slack, excess));
}

/* Rows of the filter for a triangle. Its samples are the corners and the middles of the edges: rows hold 2 v and -v.v
 * of each corner v, relative to the block's middle, and a quarter of the square of each edge. Then follows the cover,
 * rounded up: every point of the triangle has a sample of its own face, edge or corner within the root of the cover.
 * The last row is the cover of the corners alone. */
enum {
    LATTICE_MINUS_SQUARE = 3, /* within the rows of a corner */
    LATTICE_CORNER,           /* rows of a corner */
    LATTICE_EDGES = 3 * LATTICE_CORNER,
    LATTICE_COVER = LATTICE_EDGES + 3,
    LATTICE_CORNER_COVER,
    LATTICE_ROWS
};

/* Squared length of an edge. */
FN vf lattice_edge2(v3 a, v3 b)
{
    const v3 e = v3_sub(a, b);
    return v3_dot(e, e);
}

/* Four rows of a corner: 2 v and -v.v. */
FN void lattice_corner_rows(v3 corner, vf *rows)
{
    rows[0] = corner.x + corner.x;
    rows[1] = corner.y + corner.y;
    rows[2] = corner.z + corner.z;
    rows[LATTICE_MINUS_SQUARE] = -v3_dot(corner, corner);
}

/* Cover by the corners, from the squares of the edges. A third of the longest edge's square covers every triangle. A
 * quarter is enough if the angle opposite that edge is not acute; else a quarter over the square of the angle's sine is
 * enough. Triangles with a short edge, whose cosine is imprecise, take the third. */
FN vf lattice_cover2(vf square01, vf square12, vf square20)
{
    const vf longest = v_max(v_max(square01, square12), square20),
             shortest = v_min(v_min(square01, square12), square20), quarter = v_f(R(0.25));
    const vf middle = v_max(v_min(v_max(square01, square12), square20), v_min(square01, square12));
    const vf more = v_max((shortest + middle) - longest, v_f(R(0.0)));
    const vf cosine2 = v_min((more * more) / (shortest * middle * v_f(R(4.0))), quarter);
    const vf cover = longest * v_f(R(0.2505)) / (v_f(R(1.0)) - cosine2);
    return v_sel(v_lt(longest * v_f(R(0x1p-12)), shortest), cover, longest * v_f(R(0.3335)));
}

/* All rows of LANES triangles. */
FN void lattice_filter_rows(const lattice_block *block, v3 p0, v3 p1, v3 p2, vf rows[LATTICE_ROWS])
{
    const v3 middle = v3_of(v_f(block->middle[0]), v_f(block->middle[1]), v_f(block->middle[2]));
    const vf quarter = v_f(R(0.25)), square01 = lattice_edge2(p0, p1), square12 = lattice_edge2(p1, p2),
             square20 = lattice_edge2(p2, p0);
    lattice_corner_rows(v3_sub(p0, middle), rows);
    lattice_corner_rows(v3_sub(p1, middle), rows + LATTICE_CORNER);
    lattice_corner_rows(v3_sub(p2, middle), rows + 2 * LATTICE_CORNER);
    rows[LATTICE_EDGES] = square01 * quarter;
    rows[LATTICE_EDGES + 1] = square12 * quarter;
    rows[LATTICE_EDGES + 2] = square20 * quarter;
    rows[LATTICE_CORNER_COVER] = lattice_cover2(square01, square12, square20);
    rows[LATTICE_COVER] = rows[LATTICE_CORNER_COVER] * quarter;
}

/* The greatest excess over a box of nodes, less p.p, for LANES corners: a node's squared distance from a point p, less
 * its squared distance from the corner. The excess is linear in the node. The box is given by its middle and its half
 * extent, p by 2 p. */
FN vf lattice_corner_excess(const real middle[3], const real extent[3], const real twice[3], const real *rows,
                            int stride)
{
    vf excess = v_load(rows + LATTICE_MINUS_SQUARE * stride);
    LANG_UNROLL
    for (int axis = 0; axis < 3; axis++) {
        const vf offset = v_load(rows + axis * stride) - v_f(twice[axis]);
        excess = excess + (offset * v_f(middle[axis]) + v_abs(offset) * v_f(extent[axis]));
    }
    return excess;
}

/* A term of a sample is x.x less its squared distance from the node x. These are the terms of one triangle's corners
 * for LANES nodes; its rows are `stride` apart. */
typedef struct lattice_terms {
    vf a, b, c;
} lattice_terms;

/* The term of one corner for LANES nodes. */
FN vf lattice_corner_term(v3 node, const real *rows, int stride)
{
    return node.x * rows[0] + node.y * rows[stride] + node.z * rows[2 * stride] + rows[3 * stride];
}

/* The terms of the three corners of a triangle. */
FN lattice_terms lattice_terms_of(v3 node, const real *rows, int stride)
{
    const int corner_rows = LATTICE_CORNER * stride;
    const lattice_terms terms = {lattice_corner_term(node, rows, stride),
                                 lattice_corner_term(node, rows + corner_rows, stride),
                                 lattice_corner_term(node, rows + 2 * corner_rows, stride)};
    return terms;
}

/* The greatest term of the middles of the edges. The squared distance from the middle of two corners is the mean of
 * their squared distances, less a quarter of the edge's square. */
FN vf lattice_middle_term(lattice_terms terms, const real *rows, int stride)
{
    const vf a_half = v_f(R(0.5));
    const real *edges = rows + LATTICE_EDGES * stride;
    return v_max(v_max((terms.a + terms.b) * a_half + edges[0], (terms.b + terms.c) * a_half + edges[stride]),
                 (terms.c + terms.a) * a_half + edges[2 * stride]);
}

/* A triangle is excluded if its greatest term plus its cover is below this limit, where the root of `most2` bounds the
 * node's answer. square: x.x. 2^-120 is far above what products lose by underflow. */
FN vf lattice_filter_limit(vf square, vf most2, real radius2)
{
    return square - (most2 + (most2 * v_f(R(0x1p-15)) + v_f(radius2 * R(0x1p-15) + R(0x1p-120))));
}
#endif
