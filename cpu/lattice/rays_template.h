/* SPDX-License-Identifier: MIT */
/* Triangles that may meet a vertical ray through a column of a lattice: LANES boxes or triangles at a time. An excluded
 * box or triangle certainly meets no ray. Most triangles of a fine mesh lie between the columns, and most triangles
 * whose box holds one column do not meet it. docs/volumes.md, section 3, has the bounds. */
#include "rays.h"

/* Columns in an interval along an axis: the last one that it may hold, whether it may hold any, and whether at most
 * one. */
typedef struct rays_last {
    vf column;
    vm exists, is_single;
} rays_last;

/* Adding and subtracting 1.5 * 2^23 rounds to an integer. */
FN rays_last rays_last_of(const caromi_rays *rays, int axis, vf lo, vf hi)
{
    const real error = rays->error * rays->per_length;
    const vf origin = v_f(rays->origin[axis]), per_length = v_f(rays->per_length), magic = v_f(R(0x1.8p23));
    const vf first = v_f(rays->first[axis] - R(0.5)), end = v_f(rays->end[axis] - R(0.5));
    const vf from = v_max((lo - origin) * per_length, first) - v_f(error);
    const vf to = v_max(v_min((hi - origin) * per_length, end), first - v_f(R(1.0)));
    rays_last last;
    last.column = ((to + v_f(R(2.0) * error - R(0.5))) + magic) - magic;
    last.exists = v_le(from, last.column);
    last.is_single = v_lt(last.column - v_f(R(1.0)), from);
    return last;
}

/* Twice the area that a column and an edge span, seen from above. */
FN vf rays_side(vf x, vf y, v3 a, v3 b)
{
    return (a.x - x) * (b.y - y) - (a.y - y) * (b.x - x);
}

/* Whether a ray may meet the triangle. Corners are in the mesh's unit. */
FN vm rays_keep(const caromi_rays *rays, v3 p0, v3 p1, v3 p2)
{
    const v3 lo = mesh_min3(p0, p1, p2), hi = mesh_max3(p0, p1, p2);
    const rays_last x = rays_last_of(rays, AXIS_X, lo.x, hi.x), y = rays_last_of(rays, AXIS_Y, lo.y, hi.y);
    const vm keep = v_and(v_le(v_f(rays->lowest), hi.z), v_and(x.exists, y.exists));
    const vf at_x = v_f(rays->origin[0]) + x.column * v_f(rays->spacing);
    const vf at_y = v_f(rays->origin[1]) + y.column * v_f(rays->spacing);
    const vf a = rays_side(at_x, at_y, p0, p1), b = rays_side(at_x, at_y, p1, p2), c = rays_side(at_x, at_y, p2, p0);
    const vf width = v_max(hi.x - lo.x, hi.y - lo.y) + v_f(R(4.0) * rays->error);
    const vf error = width * (width * v_f(R(0x1p-19)) + v_f(R(8.0) * rays->error)) + v_f(R(0x1p-100));
    const vm beside = v_and(v_lt(v_min(v_min(a, b), c), -error), v_lt(error, v_max(v_max(a, b), c)));
    return v_and(keep, v_not(v_and(beside, v_and(x.is_single, y.is_single))));
}

static int rays_visit_leaf(const caromi_rays *rays, int reference)
{
    const mesh_leaf *leaf = rays->mesh->leaves + MESH_LEAF_AT(reference);
    const vf scale = v_f(rays->mesh->frame.scale);
    LANG_ALIGNED real row[9][LANES];
    int32_t found[MESH_WIDTH];
    real corners[MESH_WIDTH][9];
    u32 count = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const mesh_corners p = mesh_corners_of(leaf, reference, lane);
        const vm filled = vi_gt(mesh_load_int(leaf->triangle + lane), v_i(-1));
        u32 left =
            v_bitmask(v_and(filled, rays_keep(rays, v3_mul(p.p0, scale), v3_mul(p.p1, scale), v3_mul(p.p2, scale))));
        if (left == 0)
            continue;
        const vf values[] = {p.p0.x, p.p0.y, p.p0.z, p.p1.x, p.p1.y, p.p1.z, p.p2.x, p.p2.y, p.p2.z};
        for (int k = 0; k < 9; k++)
            v_store(row[k], values[k]);
        for (; left != 0; left &= left - 1) {
            const int at = bitmask_first(left);
            for (int k = 0; k < 9; k++)
                corners[count][k] = row[k][at];
            found[count++] = leaf->triangle[lane + at];
        }
    }
    return count == 0 || rays->found(rays->user, found, corners, count);
}

static void rays_search(const caromi_rays *rays)
{
    int pending[MESH_STACK], count = 1;
    pending[0] = rays->mesh->frame.root;
    while (count > 0) {
        const int next = pending[--count];
        if (next < 0) {
            if (!rays_visit_leaf(rays, next))
                return;
            continue;
        }
        const mesh_node *node = rays->mesh->nodes + next;
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
            const rays_last x = rays_last_of(rays, AXIS_X, v_load(node->lo_x + lane), v_load(node->hi_x + lane));
            const rays_last y = rays_last_of(rays, AXIS_Y, v_load(node->lo_y + lane), v_load(node->hi_y + lane));
            const vm filled = v_not(vi_eq(mesh_load_int(node->child + lane), v_i(0)));
            const vm above = v_and(filled, v_le(v_f(rays->lowest), v_load(node->hi_z + lane)));
            for (u32 left = v_bitmask(v_and(above, v_and(x.exists, y.exists))); left != 0; left &= left - 1)
                pending[count++] = node->child[lane + bitmask_first(left)];
        }
    }
}
