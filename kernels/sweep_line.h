/* SPDX-License-Identifier: MIT */
/* Watertight ray-triangle test: whether the line of centres passes through the triangle, and at which height.
 *
 * A sphere much larger than the rounding errors touches an edge in both of its triangles, so it cannot slip between
 * them. For radii near 0 this test closes the gap. If the true line meets the true triangle, and does not lie in its
 * plane, the answer is yes. So a closed mesh is watertight: a true line cannot leave it without meeting a triangle.
 * docs/numerics.md, section 6, has the argument and the bounds.
 *
 * The line passes through if it is on the same side of all three edges. The sign of a side is taken from the view if it
 * is certain there. Near an edge it is computed from the caller's numbers with twice the precision. */
#ifndef CAROM_SWEEP_LINE_H
#define CAROM_SWEEP_LINE_H
#include "sweep_view.h"
#include "twofloat.h"

/* Edge functions: signed areas between the line and each edge, seen along the motion. Each area is the weight of the
 * opposite corner. */
typedef struct sweep_sides {
    vf e01, e12, e20;
} sweep_sides;

typedef struct sweep_line {
    vf enter, leave; /* heights of the crossing above P0; they differ if the line lies in the triangle's plane */
    vm through;
} sweep_line;

/* Whether all sides have the same sign, each within its slack. */
FN vm sweep_same_side(sweep_sides sides, sweep_sides slack)
{
    const vm left = v_and(v_and(v_le(-slack.e01, sides.e01), v_le(-slack.e12, sides.e12)), v_le(-slack.e20, sides.e20));
    const vm right = v_and(v_and(v_le(sides.e01, slack.e01), v_le(sides.e12, slack.e12)), v_le(sides.e20, slack.e20));
    return v_or(left, right);
}

/* Range of a coordinate over the corners. */
typedef struct sweep_range {
    vf least, most;
} sweep_range;

/* Extends the range to a number. */
FN void sweep_extend(sweep_range *range, twofloat a)
{
    const vf x = twofloat_value(a);
    range->least = v_min(range->least, x);
    range->most = v_max(range->most, x);
}

FN vm sweep_spans_zero(sweep_range range, vf slack)
{
    return v_and(v_le(range.least, slack), v_le(-slack, range.most));
}

/* A vector at right angles to the motion, without the coordinate in which the motion is fastest. */
typedef struct sweep_flat {
    twofloat x, y;
} sweep_flat;

/* The coordinates of a other than its fastest axis, in cyclic order. along_x, along_y: that axis is x, or y; else it is
 * z. */
FN sweep_flat sweep_flatten(twofloat3 a, vm along_x, vm along_y)
{
    sweep_flat flat;
    flat.x.hi = v_sel(along_x, a.y.hi, v_sel(along_y, a.z.hi, a.x.hi));
    flat.x.lo = v_sel(along_x, a.y.lo, v_sel(along_y, a.z.lo, a.x.lo));
    flat.y.hi = v_sel(along_x, a.z.hi, v_sel(along_y, a.x.hi, a.y.hi));
    flat.y.lo = v_sel(along_x, a.z.lo, v_sel(along_y, a.x.lo, a.y.lo));
    return flat;
}

/* Edge function of an edge, and its error bound. Both vectors are rotated by a right angle. */
FN vf sweep_side_close(sweep_flat corner_to_line, sweep_flat edge, vf relative_error, vf *slack)
{
    *slack = relative_error *
             ((v_abs(corner_to_line.x.hi) + v_abs(corner_to_line.y.hi)) + (v_abs(edge.x.hi) + v_abs(edge.y.hi)));
    return twofloat_value(twofloat_sub(twofloat_mul(corner_to_line.x, edge.y), twofloat_mul(corner_to_line.y, edge.x)));
}

/* The interpolated height of the crossing. It lies between the heights of the corners, however the sides are
 * rounded. */
FN vf sweep_mean_height(sweep_sides sides, vf e01h, vf e02h)
{
    const vf zero = v_f(R(0.0)), sign = v_copysign_one((sides.e01 + sides.e12) + sides.e20);
    const vf weight0 = v_max(sides.e12 * sign, zero), weight1 = v_max(sides.e20 * sign, zero),
             weight2 = v_max(sides.e01 * sign, zero);
    const vf sum = (weight0 + weight1) + weight2;
    return (weight1 * e01h + weight2 * e02h) / v_sel(v_lt(zero, sum), sum, v_f(R(1.0)));
}

/* The height at which the line crosses an edge between the heights `from` and `to`. Distances of its ends from the line
 * are measured along the longest edge in the view. An edge that the line does not reach is ignored, except the longest,
 * because only rounding can put the line beyond its ends. */
FN void sweep_cross_edge(sweep_line *line, vf from_distance, vf to_distance, vf from, vf to, vm longest)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0)), inf = v_infinity(), width = from_distance - to_distance;
    const vf share = v_max(v_min(from_distance / v_sel(v_eq(width, zero), one, width), one), zero),
             height = from + share * (to - from);
    const vm met = v_or(
        longest, v_and(v_le(v_min(from_distance, to_distance), zero), v_le(zero, v_max(from_distance, to_distance))));
    line->enter = v_min(v_sel(met, height, inf), line->enter);
    line->leave = v_max(v_sel(met, height, -inf), line->leave);
}

/* Edge-on in the view, a triangle is a line segment, and the line of centres crosses two of its edges, the longest
 * among them. Returns whether the triangle is so thin in the view that rounding would dominate the interpolated
 * height. */
FN vm sweep_edge_on(sweep_line *line, const sweep_view *view)
{
    const vf e12x = view->e02x - view->e01x, e12y = view->e02y - view->e01y;
    /* The longest edge, as seen in the view. */
    const vf e01_length2 = view->e01x * view->e01x + view->e01y * view->e01y, e12_length2 = e12x * e12x + e12y * e12y,
             e02_length2 = view->e02x * view->e02x + view->e02y * view->e02y;
    const vf longest2 = v_max(v_max(e01_length2, e12_length2), e02_length2);
    const vm e01_is_longest = v_eq(e01_length2, longest2), e02_is_longest = v_eq(e02_length2, longest2);
    const vf longest_x = v_sel(e01_is_longest, view->e01x, v_sel(e02_is_longest, view->e02x, e12x)),
             longest_y = v_sel(e01_is_longest, view->e01y, v_sel(e02_is_longest, view->e02y, e12y));
    /* Distances of the corners from the line of centres, along the longest edge. */
    const vf p0_distance = -(view->line_x * longest_x + view->line_y * longest_y);
    const vf p1_distance = -((view->line_x - view->e01x) * longest_x + (view->line_y - view->e01y) * longest_y),
             p2_distance = -((view->line_x - view->e02x) * longest_x + (view->line_y - view->e02y) * longest_y);
    line->enter = v_infinity();
    line->leave = -v_infinity();
    sweep_cross_edge(line, p0_distance, p1_distance, v_f(R(0.0)), view->e01h, e01_is_longest);
    sweep_cross_edge(line, p1_distance, p2_distance, view->e01h, view->e02h, v_eq(e12_length2, longest2));
    sweep_cross_edge(line, p2_distance, p0_distance, view->e02h, v_f(R(0.0)), e02_is_longest);
    /* Whether the triangle's width in the view is below the noise. */
    const vf area = view->e01x * view->e02y - view->e01y * view->e02x, thin = view->noise * R(0x1p-6);
    return v_le(area * area, longest2 * (thin * thin));
}

/* Near an edge: the test with twice the precision, on corners and edges at right angles to the motion. A line that
 * passes this test misses the triangle by at most 2^-37 of its distance. */
FN_RARE void sweep_line_close(const sweep_in *in, const sweep_view *view, sweep_line *line)
{
    const vf to_length = v_scale_down(view->length), to_unit = v_scale_down(view->unit);
    const v3 velocity = view->v;
    /* The fastest axis of the motion, and the error bounds that the speed gives. */
    const vf speed_x = v_abs(velocity.x), speed_y = v_abs(velocity.y), speed_z = v_abs(velocity.z),
             speed = (speed_x + speed_y) + speed_z;
    const vm along_x = v_and(v_lt(speed_y, speed_x), v_lt(speed_z, speed_x)),
             along_y = v_and(v_not(along_x), v_lt(speed_z, speed_y));
    const vf slip = speed * v_f(R(0x1p-41)), relative_error = speed * v_f(R(0x1p-39)), inf = v_infinity();
    const sweep_range none = {inf, -inf};
    sweep_range range_x = none, range_y = none, range_z = none;
    sweep_sides sides, slack;
    sides.e12 = sides.e20 = slack.e12 = slack.e20 = inf;
    v3 from = in->p0, to = in->p1, next = in->p2;
    LANG_ROLLED /* unrolled, three edges would need more registers than a GPU has */
        for (int edge = 0; edge < 3; edge++)
    {
        /* Vectors at right angles to the motion: from the edge's corner to the line, and the edge itself. */
        const twofloat3 line_from_corner = twofloat3_cross(velocity, twofloat3_difference(in->center, from, to_length));
        const twofloat3 edge_across = twofloat3_cross(velocity, twofloat3_difference(to, from, to_unit));
        const v3 begin = from;
        sweep_extend(&range_x, line_from_corner.x);
        sweep_extend(&range_y, line_from_corner.y);
        sweep_extend(&range_z, line_from_corner.z);
        /* Each step moves the edges on by one, so after three steps each result is in its place. */
        sides.e01 = sides.e12, sides.e12 = sides.e20;
        slack.e01 = slack.e12, slack.e12 = slack.e20;
        sides.e20 = sweep_side_close(sweep_flatten(line_from_corner, along_x, along_y),
                                     sweep_flatten(edge_across, along_x, along_y), relative_error, &slack.e20);
        from = to, to = next, next = begin;
    }
    /* For a triangle seen edge-on, edge functions are all noise: instead the line must lie between the corners. */
    const vm is_near =
        v_and(v_and(sweep_spans_zero(range_x, slip), sweep_spans_zero(range_y, slip)), sweep_spans_zero(range_z, slip));
    /* The heights: a triangle that is too thin in the view has those of its crossed edges. */
    line->through = v_and(is_near, sweep_same_side(sides, slack));
    const vm is_thin = sweep_edge_on(line, view);
    const vf mean = sweep_mean_height(sides, view->e01h, view->e02h);
    line->enter = v_sel(is_thin, line->enter, mean);
    line->leave = v_sel(is_thin, line->leave, mean);
}

/* Edge function, and its error bound. */
FN vf sweep_side(vf line_x, vf line_y, vf ex, vf ey)
{
    return line_x * ey - line_y * ex;
}
FN vf sweep_side_error(vf noise, vf line_x, vf line_y, vf ex, vf ey)
{
    return noise * ((v_abs(line_x) + v_abs(line_y)) + (v_abs(ex) + v_abs(ey)));
}

/* Whether the line of centres passes through the triangle, and at which heights. asked: the lanes whose answer is
 * needed. */
FN sweep_line sweep_line_of(sweep_in in, sweep_view view, vm asked)
{
    const vf line1_x = view.line_x - view.e01x, line1_y = view.line_y - view.e01y, e12x = view.e02x - view.e01x,
             e12y = view.e02y - view.e01y;
    sweep_sides sides;
    /* Edge functions of the three edges in the view, and their error bounds. */
    sides.e01 = sweep_side(view.line_x, view.line_y, view.e01x, view.e01y);
    sides.e12 = sweep_side(line1_x, line1_y, e12x, e12y);
    sides.e20 = -sweep_side(view.line_x, view.line_y, view.e02x, view.e02y);
    const vf error01 = sweep_side_error(view.noise, view.line_x, view.line_y, view.e01x, view.e01y);
    const vf error12 = sweep_side_error(view.noise, line1_x, line1_y, e12x, e12y);
    const vf error20 = sweep_side_error(view.noise, view.line_x, view.line_y, view.e02x, view.e02y);
    /* The line is beside the triangle if edge functions have opposite signs for certain. */
    const vm left = v_or(v_or(v_lt(error01, sides.e01), v_lt(error12, sides.e12)), v_lt(error20, sides.e20));
    const vm right = v_or(v_or(v_lt(sides.e01, -error01), v_lt(sides.e12, -error12)), v_lt(sides.e20, -error20));
    const vm certain =
        v_and(v_and(v_lt(error01, v_abs(sides.e01)), v_lt(error12, v_abs(sides.e12))), v_lt(error20, v_abs(sides.e20)));
    const vm is_beside = v_and(left, right), near = v_and(asked, v_not(v_or(is_beside, certain)));
    sweep_line line;
    line.through = v_and(certain, v_not(is_beside));
    line.enter = line.leave = sweep_mean_height(sides, view.e01h, view.e02h);
    if (v_any(near)) {
        const sweep_in in_copy =
            in; /* copies: passing the originals to a call would keep them in memory, which slows all other pairs */
        const sweep_view view_copy = view;
        sweep_line close;
        sweep_line_close(&in_copy, &view_copy, &close);
        line.enter = v_sel(near, close.enter, line.enter);
        line.leave = v_sel(near, close.leave, line.leave);
        line.through = v_or(line.through, v_and(near, close.through));
    }
    return line;
}
#endif
