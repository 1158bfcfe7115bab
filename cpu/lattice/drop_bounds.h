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

/* Makes a frame of the columns from (x0, y0) to (x1, y1) and a ball. */
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
    const vf gap_x = v_max(v_max(lo.x - frame.x1, frame.x0 - hi.x), zero),
             gap_y = v_max(v_max(lo.y - frame.y1, frame.y0 - hi.y), zero);
    const vf square = (frame.r2 + frame.slack) - (gap_x * gap_x + gap_y * gap_y);
    const vf above_box = v_sqrt(v_max(square, zero));
    const vf top = (hi.z + above_box) + ((v_abs(hi.z) + above_box) * v_f(R(0x1p-21)) + v_f(R(0x1p-120)));
    return v_sel(v_lt(square, zero), drop_minus_infinity(), top);
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* Contact of the ball with points of the mesh, for one column. */
typedef struct drop_points {
    vf height, error; /* height at which the ball touches the point, and its error; -inf if the side of the ball
                         touches, or nothing does */
    vf inverse;       /* inverse of how far the centre is above the point */
} drop_points;

/* Contact with LANES points. */
FN drop_points drop_points_of(drop_frame frame, v3 point)
{
    drop_points contact;
    const vf offset_x = frame.x0 - point.x, offset_y = frame.y0 - point.y,
             square = frame.r2 - (offset_x * offset_x + offset_y * offset_y);
    const vm is_known = v_gt(square, frame.r2 * v_f(R(0x1p-8)));
    const vf root = v_sqrt(v_sel(is_known, square, frame.r2));
    contact.inverse = v_f(R(1.0)) / root;
    contact.error = frame.slack * contact.inverse + (v_abs(point.z) + root) * v_f(R(0x1p-21));
    contact.height = v_sel(is_known, point.z + root, drop_minus_infinity());
    return contact;
}

/* Contacts with the vertices of a leaf, each computed once. */
typedef struct drop_vertices {
    LANG_ALIGNED real height[MESH_VERTICES], error[MESH_VERTICES], inverse[MESH_VERTICES];
} drop_vertices;

/* Returns whether the ball touches any vertex from above. */
FN int drop_vertices_of(drop_frame frame, G const mesh_leaf *leaf, drop_vertices *vertices)
{
    int any = 0;
    for (int first = 0; first < MESH_VERTICES; first += LANES) {
        const drop_points contact =
            drop_points_of(frame, v3_of(v_load(leaf->vertex[0] + first), v_load(leaf->vertex[1] + first),
                                        v_load(leaf->vertex[2] + first)));
        any |= v_any(v_gt(contact.height, v_f(-R(0x1p126))));
        v_store(vertices->height + first, contact.height);
        v_store(vertices->error + first, contact.error);
        v_store(vertices->inverse + first, contact.inverse);
    }
    return any;
}

/* Contacts of LANES corners, from those of the leaf's vertices. */
FN drop_points drop_lookup(const drop_vertices *vertices, const u8 *corner)
{
    drop_points contact;
    contact.height = v_table_lookup(vertices->height, corner);
    contact.error = v_table_lookup(vertices->error, corner);
    contact.inverse = v_table_lookup(vertices->inverse, corner);
    return contact;
}

/* Replaces `best` by the contact c with corner p where it is higher. */
FN void drop_choose_higher(drop_points *best, v3 *best_point, drop_points contact, v3 point)
{
    const vm higher = v_gt(contact.height, best->height);
    best->height = v_sel(higher, contact.height, best->height);
    best->error = v_sel(higher, contact.error, best->error);
    best->inverse = v_sel(higher, contact.inverse, best->inverse);
    *best_point = v3_sel(higher, point, *best_point);
}

/* How much the height can rise from a point of the triangle to a corner: linear bound. */
FN vf drop_rise(drop_frame frame, const drop_points *contact, v3 point, v3 corner, vf loss)
{
    const vf along_x = (frame.x0 - point.x) * (corner.x - point.x),
             along_y = (frame.y0 - point.y) * (corner.y - point.y), along_z = corner.z - point.z;
    return (along_x + along_y) * contact->inverse + along_z +
           (v_abs(along_x) + v_abs(along_y)) * contact->inverse * loss + v_abs(along_z) * v_f(R(0x1p-22));
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
    v3 highest = corners.p0;
    drop_bounds bounds;
    drop_choose_higher(&best, &highest, contact[1], corners.p1);
    drop_choose_higher(&best, &highest, contact[2], corners.p2);
    const vf loss = (v_f(R(1.0)) + frame.r2 * best.inverse * best.inverse) * v_f(R(0x1p-20));
    const vf rise = v_max(
        v_max(drop_rise(frame, &best, highest, corners.p0, loss), drop_rise(frame, &best, highest, corners.p1, loss)),
        v_max(drop_rise(frame, &best, highest, corners.p2, loss), zero));
    const vf upper = best.height + (rise + best.error), by_corner = upper + v_abs(upper) * v_f(R(0x1p-21));
    bounds.low = best.height - best.error;
    bounds.upper = v_sel(v_lt(best.height, v_f(-R(0x1p126))), v_infinity(), by_corner);
    return bounds;
}

/* Whether a column is certainly on the left, or on the right, of the edge from a to b. */
FN void drop_sides(drop_frame frame, v3 a, v3 b, vm *left, vm *right)
{
    const vf product = (b.x - a.x) * (frame.y0 - a.y), other_product = (b.y - a.y) * (frame.x0 - a.x),
             side = product - other_product;
    const vf error = (v_abs(product) + v_abs(other_product)) * v_f(R(0x1p-21)) + v_f(R(0x1p-120));
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
    const vm some_left = v_or(v_or(left[0], left[1]), left[2]), some_right = v_or(v_or(right[0], right[1]), right[2]);
    const vm inside = v_or(v_and(v_and(left[0], left[1]), left[2]), v_and(v_and(right[0], right[1]), right[2]));
    bounds.low = v_sel(inside, v_min(v_min(corners.p0.z, corners.p1.z), corners.p2.z), drop_minus_infinity());
    bounds.upper = v_sel(v_and(some_left, some_right), drop_minus_infinity(),
                         v_max(v_max(corners.p0.z, corners.p1.z), corners.p2.z));
    return bounds;
}

/* Lower bound for a ball: the point of the triangle straight below its centre. */
FN vf drop_low_over(drop_frame frame, mesh_corners corners, real radius)
{
    const vf z = drop_ray_bounds(frame, corners).low, ball_radius = v_f(radius);
    return (z + ball_radius) - (v_abs(z) + ball_radius) * v_f(R(0x1p-21));
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

/* Clamps x to [0, 1]. */
FN vf drop_unit(vf x)
{
    return v_max(v_min(x, v_f(R(1.0))), v_f(R(0.0))); /* NaN gives 1 */
}

/* The point where the ball touches the face's plane. It is the highest if it is inside the triangle, else it does not
 * count. */
FN void drop_touch_on_face(drop_frame frame, mesh_corners corners, drop_touch_point *touch)
{
    const vf zero = v_f(R(0.0));
    const v3 edge1 = v3_sub(corners.p1, corners.p0), edge2 = v3_sub(corners.p2, corners.p0),
             normal = v3_cross(edge1, edge2);
    const vf radius_per_normal = v_sqrt(frame.r2 / v3_dot(normal, normal)) * v_copysign_one(normal.z),
             per_area = v_f(R(1.0)) / normal.z;
    const vf offset_x = frame.x0 - corners.p0.x - normal.x * radius_per_normal,
             offset_y = frame.y0 - corners.p0.y - normal.y * radius_per_normal;
    const vf weight1 = (offset_x * edge2.y - offset_y * edge2.x) * per_area,
             weight2 = (offset_y * edge1.x - offset_x * edge1.y) * per_area;
    const vf most = (v_f(R(1.0)) - weight1) * v_f(R(0x1.fffffcp-1));
    const vm inside = v_and(v_le(zero, weight1), v_and(v_le(zero, weight2), v_le(weight2, most)));
    touch->p = corners;
    touch->b = v_sel(inside, weight1, zero);
    touch->c = v_sel(inside, weight2, zero);
    touch->rise = v_sel(inside, v_infinity(), drop_minus_infinity());
}

/* The point where the ball touches the edge from `p` to `next`: replaces `a` where it is higher. Returns these lanes.
 * up: height of `p` above P0 of the triangle. */
FN vm drop_touch_on_edge(drop_frame frame, v3 p, v3 next, vf up, drop_touch_point *touch)
{
    const vf zero = v_f(R(0.0));
    const v3 edge = v3_sub(next, p);
    const vf offset_x = frame.x0 - p.x, offset_y = frame.y0 - p.y, flat_length2 = edge.x * edge.x + edge.y * edge.y,
             length2 = flat_length2 + edge.z * edge.z;
    const vf per_lengths = v_f(R(1.0)) / (flat_length2 * length2), inverse = per_lengths * length2;
    const vf cross = edge.x * offset_y - edge.y * offset_x, chord2 = v_max(frame.r2 - cross * cross * inverse, zero);
    const vf weight =
        drop_unit((edge.x * offset_x + edge.y * offset_y) * inverse + edge.z * v_sqrt(chord2 * per_lengths));
    /* The height there. An edge that is out of reach gets a negative number. */
    const vf across_x = offset_x - weight * edge.x, across_y = offset_y - weight * edge.y,
             square = frame.r2 - (across_x * across_x + across_y * across_y);
    const vf rise = v_sel(v_gt(square, zero), up + weight * edge.z + v_sqrt(square), square * frame.far);
    const vm higher = v_gt(rise, touch->rise);
    touch->b = v_sel(higher, weight, touch->b);
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
 * directions from there to all corners lead away from the column. edge1_x + edge1_y, edge2_x + edge2_y: products of the
 * edges with the offset from the touch point to the column. */
FN vm drop_is_out(const drop_touch_point *touch, vf square, vf square_error, vf edge1_x, vf edge1_y, vf edge2_x,
                  vf edge2_y, vf position_error)
{
    const vf along1 = edge1_x + edge1_y, along2 = edge2_x + edge2_y, to_p0 = -(touch->b * along1 + touch->c * along2);
    const vf ahead = v_max(v_max(v_max(to_p0, along1 + to_p0), along2 + to_p0), v_f(R(0.0)));
    const vf error = v_f(R(0x1p-20)) * (v_abs(edge1_x) + v_abs(edge1_y) + v_abs(edge2_x) + v_abs(edge2_y)) +
                     v_f(R(4.0)) * position_error;
    return v_lt(v_f(R(2.0)) * (ahead + error) + v_f(R(2.0)) * square_error, -square);
}

/* Tight bounds from the tangent plane of the height at the touch point, like caromi_drop_triangle_bound() in binary64.
 * The upper bound is +inf if the side of the ball touches, where there is no tangent plane. */
FN drop_bounds drop_touch_bounds(drop_frame frame, const drop_touch_point *touch)
{
    const vf eps = v_f(R(0x1p-21)); /* eight roundings */
    const v3 edge1 = v3_sub(touch->p.p1, touch->p.p0), edge2 = v3_sub(touch->p.p2, touch->p.p0);
    const vf from_p0_x = frame.x0 - touch->p.p0.x, from_p0_y = frame.y0 - touch->p.p0.y;
    const vf offset_x = from_p0_x - (touch->b * edge1.x + touch->c * edge2.x),
             offset_y = from_p0_y - (touch->b * edge1.y + touch->c * edge2.y);
    const vf size1 = v_abs(edge1.x) + v_abs(edge1.y), size2 = v_abs(edge2.x) + v_abs(edge2.y);
    const vf position_error = eps * (v_abs(from_p0_x) + v_abs(from_p0_y) + touch->b * size1 + touch->c * size2);
    /* The height of the centre over the touch point, and its error. */
    const vf square = frame.r2 - (offset_x * offset_x + offset_y * offset_y);
    const vf square_error =
        eps * frame.r2 + (v_f(R(2.0)) * (v_abs(offset_x) + v_abs(offset_y)) + position_error) * position_error;
    const vm is_known = v_gt(square, v_f(R(1024.0)) * square_error);
    const vf root = v_sqrt(v_sel(is_known, square, frame.r2)), inverse = v_f(R(1.0)) / root;
    const vf loss = v_f(R(2.0)) * (square_error * inverse) * inverse + eps;
    const vf height = touch->p.p0.z + (touch->b * edge1.z + touch->c * edge2.z) + root;
    const vf error =
        v_f(R(2.0)) * (eps * (v_abs(touch->p.p0.z) + touch->b * v_abs(edge1.z) + touch->c * v_abs(edge2.z) + root) +
                       square_error * inverse);
    /* Slopes of the height along both edges, and their errors. */
    const vf edge1_x = offset_x * edge1.x, edge1_y = offset_y * edge1.y, edge2_x = offset_x * edge2.x,
             edge2_y = offset_y * edge2.y;
    const vf slope1 = (edge1_x + edge1_y) * inverse + edge1.z, slope2 = (edge2_x + edge2_y) * inverse + edge2.z;
    const vf slope_position_error = v_f(R(2.0)) * position_error * inverse;
    const vf slope_error1 =
        (v_abs(edge1_x) + v_abs(edge1_y)) * inverse * loss + slope_position_error * size1 + eps * v_abs(edge1.z);
    const vf slope_error2 =
        (v_abs(edge2_x) + v_abs(edge2_y)) * inverse * loss + slope_position_error * size2 + eps * v_abs(edge2.z);
    /* The rise of the tangent plane to the highest corner bounds the height from above. */
    const vf to_p0 = -(touch->b * slope1 + touch->c * slope2);
    const vf rise = v_max(v_max(v_max(to_p0, slope1 + to_p0), slope2 + to_p0), v_f(R(0.0)));
    const vf sum = height + (error + rise + v_f(R(3.0)) * (slope_error1 + slope_error2) +
                             v_f(R(2.0)) * eps * (v_abs(slope1) + v_abs(slope2)));
    drop_bounds bounds;
    bounds.low = v_sel(is_known, height - error, drop_minus_infinity());
    bounds.upper = v_sel(is_known, sum,
                         v_sel(drop_is_out(touch, square, square_error, edge1_x, edge1_y, edge2_x, edge2_y,
                                           position_error * (size1 + size2)),
                               drop_minus_infinity(), v_infinity()));
    return bounds;
}
