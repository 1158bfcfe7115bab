/* SPDX-License-Identifier: MIT */
/* Triangles of a leaf: LANES at a time, their corners and masks. */
#ifndef CAROM_MESH_LEAF_H
#define CAROM_MESH_LEAF_H
#include "mesh_nodes.h"
#include "vec.h"

FN v3 mesh_min3(v3 a, v3 b, v3 c)
{
    return v3_of(v_lesser(v_lesser(a.x, b.x), c.x), v_lesser(v_lesser(a.y, b.y), c.y),
                 v_lesser(v_lesser(a.z, b.z), c.z));
}
FN v3 mesh_max3(v3 a, v3 b, v3 c)
{
    return v3_of(v_greater(v_greater(a.x, b.x), c.x), v_greater(v_greater(a.y, b.y), c.y),
                 v_greater(v_greater(a.z, b.z), c.z));
}

FN vi mesh_load_int(G const int *from)
{
    return v_bits(v_load((G const real *)from));
}

/* Gathers one corner of the triangles of LANES queries; the mesh has `triangles` of them. A query without a triangle
 * takes triangle 0. So does an index out of range, which a search leaves if the device ended it too early. */
FN v3 mesh_gather_corner(G const real *vertices, G const u32 *indices, u32 triangles, G const int *triangle, int corner)
{
    real x[LANES], y[LANES], z[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const u32 index = (u32)triangle[lane] < triangles ? (u32)triangle[lane] : 0;
        G const real *p = vertices + 3 * (size_t)indices[3 * (size_t)index + (size_t)corner];
        x[lane] = p[0];
        y[lane] = p[1];
        z[lane] = p[2];
    }
    return v3_of(v_load(x), v_load(y), v_load(z));
}

/* Corners of LANES triangles of a leaf. */
typedef struct mesh_corners {
    v3 p0, p1, p2;
} mesh_corners;

/* One corner of LANES triangles of an unindexed leaf: rows of x, y and z. */
FN v3 mesh_unindexed_corner(G const real *rows)
{
    return v3_of(v_load(rows), v_load(rows + MESH_WIDTH), v_load(rows + 2 * MESH_WIDTH));
}

/* One corner of LANES triangles, looked up among the leaf's vertices. */
FN v3 mesh_indexed_corner(G const mesh_leaf *leaf, G const u8 *corner)
{
    return v3_of(v_table_lookup(leaf->vertex[0], corner), v_table_lookup(leaf->vertex[1], corner),
                 v_table_lookup(leaf->vertex[2], corner));
}

/* Corners of LANES triangles of a leaf, from slot `lane` on. */
FN mesh_corners mesh_corners_of(G const mesh_leaf *leaf, int reference, int lane)
{
    mesh_corners corners;
    if (MESH_IS_UNINDEXED(reference)) {
        G const real *rows = (G const real *)leaf + MESH_WIDTH + lane; /* after the triangle indices */
        corners.p0 = mesh_unindexed_corner(rows);
        corners.p1 = mesh_unindexed_corner(rows + 3 * MESH_WIDTH);
        corners.p2 = mesh_unindexed_corner(rows + 6 * MESH_WIDTH);
    } else {
        corners.p0 = mesh_indexed_corner(leaf, leaf->corner[0] + lane);
        corners.p1 = mesh_indexed_corner(leaf, leaf->corner[1] + lane);
        corners.p2 = mesh_indexed_corner(leaf, leaf->corner[2] + lane);
    }
    return corners;
}

/* Which of LANES slots of a leaf hold a triangle that passes the query's mask. */
FN vm mesh_unmasked(vi triangle, G const int *masks, int reference, int lane, int mask, int options)
{
    const vm filled = vi_gt(triangle, v_i(-1));
    if ((options & MESH_TRIANGLE_MASKS) == 0)
        return filled;
#if defined(MESH_SCENE) && !defined(SCENE_ON_DEVICE) /* there they are all written out */
    if (masks == NULL)
        return filled;
#endif
    const vi own = mesh_load_int(masks + MESH_WIDTH * (size_t)MESH_LEAF_AT(reference) + lane);
    return v_and(filled, v_not(vi_eq(own & v_i(mask), v_i(0))));
}
#endif
