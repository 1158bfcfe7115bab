/* SPDX-License-Identifier: MIT */
/* Bounds, in binary32, of the height of the ball's centre at which it touches a box or a triangle, for one column;
 * upper bounds for a block of columns and a box. docs/drop.md adds up the errors. */
#include "kernels/mesh_traversal.h"

/* The columns from (x0, y0) to (x1, y1), and the ball. For triangles it is a single column. Lengths are in the mesh's
 * unit for boxes, in the caller's unit for triangles. */
typedef struct drop_frame {
    vf x0, x1, y0, y1, r2, slack; /* slack: rounding error of a square */
    vf far;                       /* factor that makes a negative square less than all heights */
} drop_frame;

FN drop_frame drop_frame_of(real x0, real x1, real y0, real y1, real r)
{
    drop_frame frame;
    frame.x0 = v_f(x0);
    frame.x1 = v_f(x1);
    frame.y0 = v_f(y0);
    frame.y1 = v_f(y1);
    frame.r2 = v_f(r * r);
    frame.slack = v_f(r * r * R(0x1p-20));
    frame.far = v_f(R(0x1p80) / (r * r));
    return frame;
}

FN vf drop_minus_infinity(void)
{
    return v_f(-R(1.0) / R(0.0));
}

/* Upper bounds of the height at which the ball touches a box; -inf: it never does. */
FN vf drop_box_top(drop_frame frame, v3 lo, v3 hi)
{
    const vf zero = v_f(R(0.0));
    const vf x = v_max(v_max(lo.x - frame.x1, frame.x0 - hi.x), zero),
             y = v_max(v_max(lo.y - frame.y1, frame.y0 - hi.y), zero);
    const vf square = (frame.r2 + frame.slack) - (x * x + y * y);
    const vf root = v_sqrt(v_max(square, zero));
    const vf top = (hi.z + root) + ((v_abs(hi.z) + root) * v_f(R(0x1p-21)) + v_f(R(0x1p-120)));
    return v_sel(v_lt(square, zero), drop_minus_infinity(), top);
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* Contact of the ball with points of the mesh, for one column. */
typedef struct drop_points {
    vf height, error; /* height at which the ball touches the point, and its error; -inf if the side of the ball
                         touches, or nothing does */
    vf inverse;       /* inverse of how far the centre is above the point */
} drop_points;

FN drop_points drop_points_of(drop_frame frame, v3 p)
{
    drop_points contact;
    const vf x = frame.x0 - p.x, y = frame.y0 - p.y, square = frame.r2 - (x * x + y * y);
    const vm known = v_gt(square, frame.r2 * v_f(R(0x1p-8)));
    const vf root = v_sqrt(v_sel(known, square, frame.r2));
    contact.inverse = v_f(R(1.0)) / root;
    contact.error = frame.slack * contact.inverse + (v_abs(p.z) + root) * v_f(R(0x1p-21));
    contact.height = v_sel(known, p.z + root, drop_minus_infinity());
    return contact;
}

/* Contacts with the vertices of a leaf, each computed once. */
typedef struct drop_vertices {
    LANG_ALIGNED real height[MESH_WIDTH], error[MESH_WIDTH], inverse[MESH_WIDTH];
} drop_vertices;

/* Returns whether the ball touches any vertex from above. */
FN int drop_vertices_of(drop_frame frame, G const mesh_leaf *leaf, drop_vertices *vertices)
{
    int any = 0;
    for (int k = 0; k < MESH_WIDTH; k += LANES) {
        const drop_points contact = drop_points_of(
            frame, v3_of(v_load(leaf->vertex[0] + k), v_load(leaf->vertex[1] + k), v_load(leaf->vertex[2] + k)));
        any |= v_any(v_gt(contact.height, v_f(-R(0x1p126))));
        v_store(vertices->height + k, contact.height);
        v_store(vertices->error + k, contact.error);
        v_store(vertices->inverse + k, contact.inverse);
    }
    return any;
}

FN drop_points drop_lookup(const drop_vertices *vertices, const u8 *corner)
{
    drop_points contact;
    contact.height = v_table_lookup(vertices->height, corner);
    contact.error = v_table_lookup(vertices->error, corner);
    contact.inverse = v_table_lookup(vertices->inverse, corner);
    return contact;
}

/* Replaces `best` by the contact c with corner p where it is higher. */
FN void drop_choose_higher(drop_points *best, v3 *at, drop_points contact, v3 p)
{
    const vm higher = v_gt(contact.height, best->height);
    best->height = v_sel(higher, contact.height, best->height);
    best->error = v_sel(higher, contact.error, best->error);
    best->inverse = v_sel(higher, contact.inverse, best->inverse);
    *at = v3_sel(higher, p, *at);
}

/* How much the height can rise from a point of the triangle to a corner: linear bound. */
FN vf drop_rise(drop_frame frame, const drop_points *contact, v3 at, v3 to, vf loss)
{
    const vf x = (frame.x0 - at.x) * (to.x - at.x), y = (frame.y0 - at.y) * (to.y - at.y), z = to.z - at.z;
    return (x + y) * contact->inverse + z + (v_abs(x) + v_abs(y)) * contact->inverse * loss +
           v_abs(z) * v_f(R(0x1p-22));
}

/* Bounds of LANES triangles. */
typedef struct drop_bounds {
    vf low, upper;
} drop_bounds;

/* Bounds from the corner with the highest contact: the height there from below, and its tangent plane from above. The
 * upper bound is +inf if the ball touches no corner from above. */
FN drop_bounds drop_corner_bounds(drop_frame frame, mesh_corners corners, const drop_points contact[3])
{
    const vf zero = v_f(R(0.0));
    drop_points best = contact[0];
    v3 at = corners.p0;
    drop_bounds bounds;
    drop_choose_higher(&best, &at, contact[1], corners.p1);
    drop_choose_higher(&best, &at, contact[2], corners.p2);
    const vf loss = (v_f(R(1.0)) + frame.r2 * best.inverse * best.inverse) * v_f(R(0x1p-20));
    const vf rise =
        v_max(v_max(drop_rise(frame, &best, at, corners.p0, loss), drop_rise(frame, &best, at, corners.p1, loss)),
              v_max(drop_rise(frame, &best, at, corners.p2, loss), zero));
    const vf upper = best.height + (rise + best.error), by_corner = upper + v_abs(upper) * v_f(R(0x1p-21));
    bounds.low = best.height - best.error;
    bounds.upper = v_sel(v_lt(best.height, v_f(-R(0x1p126))), v_infinity(), by_corner);
    return bounds;
}

/* Whether a column is certainly on the left, or on the right, of the edge from a to b. */
FN void drop_sides(drop_frame frame, v3 a, v3 b, vm *left, vm *right)
{
    const vf plus = (b.x - a.x) * (frame.y0 - a.y), minus = (b.y - a.y) * (frame.x0 - a.x), side = plus - minus;
    const vf error = (v_abs(plus) + v_abs(minus)) * v_f(R(0x1p-21)) + v_f(R(0x1p-120));
    *left = v_gt(side, error);
    *right = v_lt(side, -error);
}

/* Bounds for a vertical ray (radius 0): the corners' z bound a triangle, if the column may be over it. */
FN drop_bounds drop_ray_bounds(drop_frame frame, mesh_corners corners)
{
    vm left[3], right[3];
    drop_bounds bounds;
    drop_sides(frame, corners.p0, corners.p1, &left[0], &right[0]);
    drop_sides(frame, corners.p1, corners.p2, &left[1], &right[1]);
    drop_sides(frame, corners.p2, corners.p0, &left[2], &right[2]);
    const vm a_left = v_or(v_or(left[0], left[1]), left[2]), a_right = v_or(v_or(right[0], right[1]), right[2]);
    const vm inside = v_or(v_and(v_and(left[0], left[1]), left[2]), v_and(v_and(right[0], right[1]), right[2]));
    bounds.low = v_sel(inside, v_min(v_min(corners.p0.z, corners.p1.z), corners.p2.z), drop_minus_infinity());
    bounds.upper =
        v_sel(v_and(a_left, a_right), drop_minus_infinity(), v_max(v_max(corners.p0.z, corners.p1.z), corners.p2.z));
    return bounds;
}

/* Lower bound for a ball: the point of the triangle straight below its centre. */
FN vf drop_low_over(drop_frame frame, mesh_corners corners, real radius)
{
    const vf z = drop_ray_bounds(frame, corners).low, r = v_f(radius);
    return (z + r) - (v_abs(z) + r) * v_f(R(0x1p-21));
}

/* ---- tight bounds ------------------------------------------------------------------------------------------------ */

/* The point of a triangle that the ball touches: p0 + b (p1 - p0) + c (p2 - p0). Corners are rotated so that a point on
 * an edge lies on the first edge. */
typedef struct drop_touch_point {
    mesh_corners p;
    vf b, c;
    vf rise; /* approximate height above P0 of the triangle; for a point out of reach a negative measure of its distance
              */
} drop_touch_point;

FN vf drop_unit(vf x)
{
    return v_max(v_min(x, v_f(R(1.0))), v_f(R(0.0))); /* NaN gives 1 */
}

/* The point where the ball touches the face's plane. It is the highest if it is inside the triangle, else it does not
 * count. */
FN void drop_touch_on_face(drop_frame frame, mesh_corners corners, drop_touch_point *touch)
{
    const vf zero = v_f(R(0.0));
    const v3 e = v3_sub(corners.p1, corners.p0), to = v3_sub(corners.p2, corners.p0), n = v3_cross(e, to);
    const vf per = v_sqrt(frame.r2 / v3_dot(n, n)) * v_copysign_one(n.z), inverse = v_f(R(1.0)) / n.z;
    const vf x = frame.x0 - corners.p0.x - n.x * per, y = frame.y0 - corners.p0.y - n.y * per;
    const vf b = (x * to.y - y * to.x) * inverse, c = (y * e.x - x * e.y) * inverse;
    const vf most = (v_f(R(1.0)) - b) * v_f(R(0x1.fffffcp-1));
    const vm inside = v_and(v_le(zero, b), v_and(v_le(zero, c), v_le(c, most)));
    touch->p = corners;
    touch->b = v_sel(inside, b, zero);
    touch->c = v_sel(inside, c, zero);
    touch->rise = v_sel(inside, v_infinity(), drop_minus_infinity());
}

/* The point where the ball touches the edge from `p` to `next`: replaces `a` where it is higher. Returns these lanes.
 * up: height of `p` above P0 of the triangle. */
FN vm drop_touch_on_edge(drop_frame frame, v3 p, v3 next, vf up, drop_touch_point *touch)
{
    const vf zero = v_f(R(0.0));
    const v3 e = v3_sub(next, p);
    const vf x = frame.x0 - p.x, y = frame.y0 - p.y, l2 = e.x * e.x + e.y * e.y, whole = l2 + e.z * e.z;
    const vf per = v_f(R(1.0)) / (l2 * whole), inverse = per * whole;
    const vf cross = e.x * y - e.y * x, near2 = v_max(frame.r2 - cross * cross * inverse, zero);
    const vf b = drop_unit((e.x * x + e.y * y) * inverse + e.z * v_sqrt(near2 * per));
    const vf dx = x - b * e.x, dy = y - b * e.y, square = frame.r2 - (dx * dx + dy * dy);
    const vf rise = v_sel(v_gt(square, zero), up + b * e.z + v_sqrt(square), square * frame.far);
    const vm higher = v_gt(rise, touch->rise);
    touch->b = v_sel(higher, b, touch->b);
    touch->c = v_sel(higher, zero, touch->c);
    touch->rise = v_sel(higher, rise, touch->rise);
    return higher;
}

/* The highest touch point of each triangle, without error bounds. */
FN drop_touch_point drop_find_touch_point(drop_frame frame, mesh_corners corners)
{
    drop_touch_point touch;
    drop_touch_on_face(frame, corners, &touch);
    (void)drop_touch_on_edge(frame, corners.p0, corners.p1, v_f(R(0.0)), &touch);
    const vm second = drop_touch_on_edge(frame, corners.p1, corners.p2, corners.p1.z - corners.p0.z, &touch);
    const vm third = drop_touch_on_edge(frame, corners.p2, corners.p0, corners.p2.z - corners.p0.z, &touch);
    touch.p.p0 = v3_sel(third, corners.p2, v3_sel(second, corners.p1, corners.p0));
    touch.p.p1 = v3_sel(third, corners.p0, v3_sel(second, corners.p2, corners.p1));
    touch.p.p2 = v3_sel(third, corners.p1, v3_sel(second, corners.p0, corners.p2));
    return touch;
}

/* Early out: whether the triangle is certainly farther than the radius, seen from above. The touch point is, and the
 * directions from there to all corners lead away from the column. ex + ey, fx + fy: products of the edges with the
 * offset from the touch point to the column. */
FN vm drop_is_out(const drop_touch_point *touch, vf square, vf square_error, vf ex, vf ey, vf fx, vf fy,
                  vf position_error)
{
    const vf e = ex + ey, to = fx + fy, back = -(touch->b * e + touch->c * to);
    const vf ahead = v_max(v_max(v_max(back, e + back), to + back), v_f(R(0.0)));
    const vf error = v_f(R(0x1p-20)) * (v_abs(ex) + v_abs(ey) + v_abs(fx) + v_abs(fy)) + v_f(R(4.0)) * position_error;
    return v_lt(v_f(R(2.0)) * (ahead + error) + v_f(R(2.0)) * square_error, -square);
}

/* Tight bounds from the tangent plane of the height at the touch point, like caromi_drop_triangle_bound() in binary64.
 * The upper bound is +inf if the side of the ball touches, where there is no tangent plane. */
FN drop_bounds drop_touch_bounds(drop_frame frame, const drop_touch_point *touch)
{
    const vf u = v_f(R(0x1p-21)); /* eight roundings */
    const v3 e = v3_sub(touch->p.p1, touch->p.p0), to = v3_sub(touch->p.p2, touch->p.p0);
    const vf dx = frame.x0 - touch->p.p0.x, dy = frame.y0 - touch->p.p0.y;
    const vf x = dx - (touch->b * e.x + touch->c * to.x), y = dy - (touch->b * e.y + touch->c * to.y);
    const vf e1 = v_abs(e.x) + v_abs(e.y), f1 = v_abs(to.x) + v_abs(to.y);
    const vf position_error = u * (v_abs(dx) + v_abs(dy) + touch->b * e1 + touch->c * f1);
    const vf square = frame.r2 - (x * x + y * y);
    const vf square_error = u * frame.r2 + (v_f(R(2.0)) * (v_abs(x) + v_abs(y)) + position_error) * position_error;
    const vm known = v_gt(square, v_f(R(1024.0)) * square_error);
    const vf root = v_sqrt(v_sel(known, square, frame.r2)), inverse = v_f(R(1.0)) / root;
    const vf loss = v_f(R(2.0)) * (square_error * inverse) * inverse + u;
    const vf height = touch->p.p0.z + (touch->b * e.z + touch->c * to.z) + root;
    const vf error = v_f(R(2.0)) * (u * (v_abs(touch->p.p0.z) + touch->b * v_abs(e.z) + touch->c * v_abs(to.z) + root) +
                                    square_error * inverse);
    const vf ex = x * e.x, ey = y * e.y, fx = x * to.x, fy = y * to.y;
    const vf along_e = (ex + ey) * inverse + e.z, along_f = (fx + fy) * inverse + to.z;
    const vf wide = v_f(R(2.0)) * position_error * inverse;
    const vf slope_error_e = (v_abs(ex) + v_abs(ey)) * inverse * loss + wide * e1 + u * v_abs(e.z);
    const vf slope_error_f = (v_abs(fx) + v_abs(fy)) * inverse * loss + wide * f1 + u * v_abs(to.z);
    const vf back = -(touch->b * along_e + touch->c * along_f);
    const vf rise = v_max(v_max(v_max(back, along_e + back), along_f + back), v_f(R(0.0)));
    const vf sum = height + (error + rise + v_f(R(3.0)) * (slope_error_e + slope_error_f) +
                             v_f(R(2.0)) * u * (v_abs(along_e) + v_abs(along_f)));
    drop_bounds bounds;
    bounds.low = v_sel(known, height - error, drop_minus_infinity());
    bounds.upper = v_sel(known, sum,
                         v_sel(drop_is_out(touch, square, square_error, ex, ey, fx, fy, position_error * (e1 + f1)),
                               drop_minus_infinity(), v_infinity()));
    return bounds;
}
