/* SPDX-License-Identifier: MIT */
/* A column of a drop map: a traversal of the hierarchy that meets higher boxes first. Corners, which are points of the
 * mesh, bound the height from below; the plane that touches the height of a triangle's best corner bounds the triangle
 * from above. docs/drop.md adds up the errors. */
#include "drop.h"

/* One column. Lengths of `far` are in the mesh's unit, those of `near` in the caller's. */
typedef struct drop_frame {
    vf x, y, r2, slack; /* slack: of a square, by rounding */
} drop_frame;

typedef struct drop_descent {
    caromi_drop_column *column;
    drop_frame far, near;
    real scale, low; /* low: the height is not lower, in the caller's unit */
    int stacked;
    real top[MESH_STACK];
    int reference[MESH_STACK];
} drop_descent;

FN drop_frame drop_frame_of(real x, real y, real r)
{
    drop_frame f;
    f.x = v_f(x);
    f.y = v_f(y);
    f.r2 = v_f(r * r);
    f.slack = v_f(r * r * R(0x1p-20));
    return f;
}

FN vf drop_abs(vf x)
{
    return v_max(x, -x);
}

/* Upper bounds of what boxes lead to; -inf: nothing. */
FN vf drop_box_top(drop_frame f, v3 lo, v3 hi)
{
    const vf zero = v_f(R(0.0));
    const vf x = v_max(v_max(lo.x - f.x, f.x - hi.x), zero), y = v_max(v_max(lo.y - f.y, f.y - hi.y), zero);
    const vf square = (f.r2 + f.slack) - (x * x + y * y);
    const vf root = v_sqrt(v_max(square, zero));
    const vf top = (hi.z + root) + (drop_abs(hi.z) + root) * v_f(R(0x1p-21));
    return v_sel(v_lt(square, zero), v_f(-R(1.0) / R(0.0)), top);
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* LANES corners seen from the column. */
typedef struct drop_corner {
    v3 p;
    vf x, y;          /* of the column, from it */
    vf inverse;       /* of how far the centre is above it */
    vf height, error; /* to which it leads; -inf if the ball's side touches, or nothing */
} drop_corner;

FN drop_corner drop_corner_of(drop_frame f, v3 p)
{
    drop_corner c;
    c.p = p;
    c.x = f.x - p.x;
    c.y = f.y - p.y;
    const vf square = f.r2 - (c.x * c.x + c.y * c.y);
    const vm known = v_gt(square, f.r2 * v_f(R(0x1p-8)));
    const vf root = v_sqrt(v_sel(known, square, f.r2));
    c.inverse = v_f(R(1.0)) / root;
    c.error = f.slack * c.inverse + (drop_abs(p.z) + root) * v_f(R(0x1p-21));
    c.height = v_sel(known, p.z + root, v_f(-R(1.0) / R(0.0)));
    return c;
}

/* Brings the corner that leads higher to `a`. */
FN void drop_order(drop_corner *a, drop_corner *b)
{
    const vm swap = v_gt(b->height, a->height);
    const drop_corner first = *a, last = *b;
    a->p.x = v_sel(swap, last.p.x, first.p.x);
    a->p.y = v_sel(swap, last.p.y, first.p.y);
    a->p.z = v_sel(swap, last.p.z, first.p.z);
    a->x = v_sel(swap, last.x, first.x);
    a->y = v_sel(swap, last.y, first.y);
    a->inverse = v_sel(swap, last.inverse, first.inverse);
    a->height = v_sel(swap, last.height, first.height);
    a->error = v_sel(swap, last.error, first.error);
    b->p.x = v_sel(swap, first.p.x, last.p.x);
    b->p.y = v_sel(swap, first.p.y, last.p.y);
    b->p.z = v_sel(swap, first.p.z, last.p.z);
}

/* How much higher the way to another corner can lead. */
FN vf drop_rise(drop_frame f, const drop_corner *c, v3 to)
{
    const vf x = c->x * (to.x - c->p.x), y = c->y * (to.y - c->p.y), z = to.z - c->p.z;
    const vf loss = (v_f(R(1.0)) + f.r2 * c->inverse * c->inverse) * v_f(R(0x1p-20));
    return (x + y) * c->inverse + z + (drop_abs(x) + drop_abs(y)) * c->inverse * loss + drop_abs(z) * v_f(R(0x1p-22));
}

/* Upper bounds of LANES triangles; raises the column's lower bound by those that are `valid`. */
FN vf drop_triangles(drop_descent *d, mesh_corners p, vm valid)
{
    const drop_frame f = d->near;
    const vf zero = v_f(R(0.0));
    drop_corner a = drop_corner_of(f, p.p0), b = drop_corner_of(f, p.p1), c = drop_corner_of(f, p.p2);
    drop_order(&a, &b);
    drop_order(&a, &c);
    const vf low = v_sel(valid, a.height - a.error, v_f(-R(1.0) / R(0.0)));
    const real most = -v_reduce_min(-low);
    d->low = most > d->low ? most : d->low;
    const vf rise = v_max(v_max(drop_rise(f, &a, b.p), drop_rise(f, &a, c.p)), zero);
    const vf upper = a.height + (rise + a.error), by_corner = upper + drop_abs(upper) * v_f(R(0x1p-21));
    const vm unknown = v_lt(a.height, v_f(-R(0x1p126)));
    if (!v_any(v_and(unknown, valid)))
        return by_corner;
    const v3 lo = v3_of(v_min(v_min(p.p0.x, p.p1.x), p.p2.x), v_min(v_min(p.p0.y, p.p1.y), p.p2.y), zero);
    const v3 hi = v3_of(v_max(v_max(p.p0.x, p.p1.x), p.p2.x), v_max(v_max(p.p0.y, p.p1.y), p.p2.y),
                        v_max(v_max(p.p0.z, p.p1.z), p.p2.z));
    return v_sel(unknown, drop_box_top(f, lo, hi), by_corner);
}

/* ---- the traversal ----------------------------------------------------------------------------------------------- */

/* Makes room for a triangle; 0: there is none. */
FN int drop_make_room(drop_descent *d)
{
    caromi_drop_column *column = d->column;
    int count = 0;
    if (column->count < CAROMI_DROP_ROOM)
        return 1;
    for (int i = 0; i < CAROMI_DROP_ROOM; i++)
        if (column->upper[i] > d->low) {
            column->upper[count] = column->upper[i];
            column->triangle[count++] = column->triangle[i];
        }
    column->count = count;
    return count < CAROMI_DROP_ROOM;
}

FN int drop_visit_leaf(drop_descent *d, int reference)
{
    caromi_drop_column *column = d->column;
    const mesh_leaf *leaf = column->mesh->leaves + MESH_LEAF_AT(reference);
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        real uppers[LANES];
        const vi triangle = mesh_load_int(leaf->triangle + lane);
        const vm valid = mesh_unmasked(triangle, column->mesh->masks, reference, lane, -1, column->options);
        const vf upper = drop_triangles(d, mesh_corners_of(leaf, reference, lane), valid);
        v_store(uppers, upper);
        for (u32 left = v_bitmask(v_and(valid, v_gt(upper, v_f(d->low)))); left != 0; left &= left - 1) {
            const int i = bitmask_first(left);
            if (!drop_make_room(d))
                return 0;
            column->upper[column->count] = uppers[i];
            column->triangle[column->count++] = leaf->triangle[lane + i];
        }
    }
    return 1;
}

/* Children that may lead higher go to the stack, the highest on top. */
FN void drop_visit_node(drop_descent *d, int reference)
{
    const mesh_node *node = d->column->mesh->nodes + reference;
    const int from = d->stacked;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        real tops[LANES];
        const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_f(R(0.0)));
        const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
        const vf top = drop_box_top(d->far, lo, hi);
        const vm filled = v_not(vi_eq(mesh_load_int(node->child + lane), v_i(0)));
        v_store(tops, top);
        for (u32 left = v_bitmask(v_and(filled, v_gt(top, v_f(d->low * d->scale)))); left != 0; left &= left - 1) {
            const int i = bitmask_first(left);
            int at = d->stacked++;
            for (; at > from && d->top[at - 1] > tops[i]; at--) {
                d->top[at] = d->top[at - 1];
                d->reference[at] = d->reference[at - 1];
            }
            d->top[at] = tops[i];
            d->reference[at] = node->child[lane + i];
        }
    }
}

static void drop_column(caromi_drop_column *column)
{
    const mesh_frame frame = column->mesh->frame;
    drop_descent d;
    d.column = column;
    d.far = drop_frame_of(column->x * frame.scale, column->y * frame.scale, column->radius * frame.scale);
    d.near = drop_frame_of(column->x, column->y, column->radius);
    d.scale = frame.scale;
    d.low = -R(1.0) / R(0.0);
    d.stacked = 1;
    d.top[0] = R(1.0) / R(0.0);
    d.reference[0] = frame.root;
    column->count = 0;
    while (d.stacked > 0) {
        const int reference = d.reference[--d.stacked];
        if (!(d.top[d.stacked] > d.low * d.scale))
            continue;
        if (reference >= 0)
            drop_visit_node(&d, reference);
        else if (!drop_visit_leaf(&d, reference)) {
            column->count = -1;
            return;
        }
    }
}
