/* SPDX-License-Identifier: MIT */
/* Does the line of centres pass through the triangle itself, and at which height?
 *
 * A sphere much larger than rounding meets an edge from both of its triangles, so none passes between them. A point has
 * no such margin: for radii near 0 this test is the margin. If the true line meets the true triangle, and does not lie in
 * its plane, the answer is yes. A closed mesh is then watertight, because a true line cannot leave it without meeting a
 * triangle. docs/numerics.md, section 6, has the argument and the bounds.
 *
 * The line passes through if it is on the same side of all three edges. The sign of a side is taken from the view where
 * that is certain; near an edge it comes from the caller's numbers, with twice the digits. */
#ifndef CAROM_SWEEP_LINE_H
#define CAROM_SWEEP_LINE_H
#include "sweep_view.h"
#include "twofloat.h"

/* Signed areas between the line and each edge, as seen along the motion. Each is the weight of the opposite corner. */
typedef struct sweep_sides {
    vf e01, e12, e20;
} sweep_sides;

typedef struct sweep_line {
    vf enter, leave; /* heights of the crossing above P0: they differ where the line runs in the triangle's plane */
    vm through;
} sweep_line;

/* All sides at `least` or above, or all at -least or below */
FN vm sweep_same_side(sweep_sides s, vf least)
{
    const vm left = v_and(v_and(v_le(least, s.e01), v_le(least, s.e12)), v_le(least, s.e20));
    const vm right = v_and(v_and(v_le(s.e01, -least), v_le(s.e12, -least)), v_le(s.e20, -least));
    return v_or(left, right);
}

/* Is 0 between the least and the greatest of three coordinates? */
FN vm sweep_spans_zero(twofloat a, twofloat b, twofloat c)
{
    const vf slack = v_f(R(0x1p-40)), x = twofloat_value(a), y = twofloat_value(b), z = twofloat_value(c);
    return v_and(v_le(v_min(v_min(x, y), z), slack), v_le(-slack, v_max(v_max(x, y), z)));
}

/* The crossing as a mean of the corners: within the triangle, whatever the sides were rounded to. */
FN vf sweep_mean_height(sweep_sides s, vf e0h, vf e2h)
{
    const vf zero = v_f(R(0.0)), sign = v_copysign_one((s.e01 + s.e12) + s.e20);
    const vf w0 = v_max(s.e12 * sign, zero), w1 = v_max(s.e20 * sign, zero), w2 = v_max(s.e01 * sign, zero);
    const vf sum = (w0 + w1) + w2;
    return (w1 * e0h + w2 * e2h) / v_sel(v_lt(zero, sum), sum, v_f(R(1.0)));
}

/* An edge as it is seen: q is the line of centres from its first corner, which is at height `from` */
typedef struct sweep_seen_edge {
    vf qx, qy, ex, ey, from, eh, length2;
} sweep_seen_edge;

FN sweep_seen_edge sweep_see_edge(vf qx, vf qy, vf ex, vf ey, vf from, vf eh)
{
    sweep_seen_edge e;
    e.qx = qx;
    e.qy = qy;
    e.ex = ex;
    e.ey = ey;
    e.from = from;
    e.eh = eh;
    e.length2 = ex * ex + ey * ey;
    return e;
}

/* The crossing of an edge, if it is the longest or the line meets it, 2^-19 of the longest aside. */
FN void sweep_edge_crossing(sweep_line *line, sweep_seen_edge e, vf longest2)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0)), inf = v_infinity();
    const vf share = (e.qx * e.ex + e.qy * e.ey) / v_sel(v_lt(zero, e.length2), e.length2, one);
    const vf on = v_max(v_min(share, one), zero), dx = e.qx - on * e.ex, dy = e.qy - on * e.ey;
    const vm met = v_or(v_eq(e.length2, longest2), v_le(dx * dx + dy * dy, longest2 * v_f(R(0x1p-38))));
    const vf height = e.from + on * e.eh;
    line->enter = v_min(v_sel(met, height, inf), line->enter);
    line->leave = v_max(v_sel(met, height, -inf), line->leave);
}

/* A triangle seen edge-on: the line crosses two of its edges, and the one that is seen longest is among them. Returns
 * whether it is seen so thin that rounding would decide on a mean of its corners. */
FN vm sweep_edge_on(sweep_line *line, const sweep_view *k)
{
    const sweep_seen_edge e0 = sweep_see_edge(k->qx, k->qy, k->e0x, k->e0y, v_f(R(0.0)), k->e0h);
    const sweep_seen_edge e1 =
        sweep_see_edge(k->qx - k->e0x, k->qy - k->e0y, k->e2x - k->e0x, k->e2y - k->e0y, k->e0h, k->e2h - k->e0h);
    const sweep_seen_edge e2 = sweep_see_edge(k->qx, k->qy, k->e2x, k->e2y, v_f(R(0.0)), k->e2h);
    const vf longest2 = v_max(v_max(e0.length2, e1.length2), e2.length2);
    line->enter = v_infinity();
    line->leave = -v_infinity();
    sweep_edge_crossing(line, e0, longest2);
    sweep_edge_crossing(line, e1, longest2);
    sweep_edge_crossing(line, e2, longest2);
    const vf area = e0.ex * e2.ey - e0.ey * e2.ex, thin = k->noise * R(0x1p-6);
    return v_le(area * area, longest2 * (thin * thin));
}

/* Near an edge the answer comes from the caller's numbers. The sides are off by 2^-36 at most, in units where edges, ways
 * and speeds are about 1, and what is called through may miss the triangle by that much. */
FN_RARE void sweep_line_close(const sweep_in *in, const sweep_view *k, sweep_line *line)
{
    const vf to_length = v_scale_down(k->length), to_unit = v_scale_down(k->unit);
    /* The corners' ways to the line, turned by a right angle */
    const twofloat3 c0 = twofloat3_cross(k->v, twofloat3_difference(in->center, in->p0, to_length));
    const twofloat3 c1 = twofloat3_cross(k->v, twofloat3_difference(in->center, in->p1, to_length));
    const twofloat3 c2 = twofloat3_cross(k->v, twofloat3_difference(in->center, in->p2, to_length));
    /* Seen edge-on a triangle has no sides to speak of: it is where its corners are. */
    const vm near = v_and(v_and(sweep_spans_zero(c0.x, c1.x, c2.x), sweep_spans_zero(c0.y, c1.y, c2.y)),
                          sweep_spans_zero(c0.z, c1.z, c2.z));
    sweep_sides s;
    s.e01 = twofloat_value(twofloat3_dot(twofloat3_difference(in->p1, in->p0, to_unit), c0));
    s.e12 = twofloat_value(twofloat3_dot(twofloat3_difference(in->p2, in->p1, to_unit), c1));
    s.e20 = twofloat_value(twofloat3_dot(twofloat3_difference(in->p0, in->p2, to_unit), c2));
    line->through = v_and(near, sweep_same_side(s, v_f(R(-0x1p-36))));
    const vm thin = sweep_edge_on(line, k);
    const vf mean = sweep_mean_height(s, k->e0h, k->e2h);
    line->enter = v_sel(thin, line->enter, mean);
    line->leave = v_sel(thin, line->leave, mean);
}

/* Side of an edge, and how far rounding may have moved it */
FN vf sweep_side(vf qx, vf qy, vf ex, vf ey)
{
    return qx * ey - qy * ex;
}
FN vf sweep_side_error(vf noise, vf qx, vf qy, vf ex, vf ey)
{
    return noise * ((v_abs(qx) + v_abs(qy)) + (v_abs(ex) + v_abs(ey)));
}

FN sweep_line sweep_line_of(sweep_in in, sweep_view k, vm asked)
{
    const vf q1x = k.qx - k.e0x, q1y = k.qy - k.e0y, e1x = k.e2x - k.e0x, e1y = k.e2y - k.e0y;
    sweep_sides s;
    s.e01 = sweep_side(k.qx, k.qy, k.e0x, k.e0y);
    s.e12 = sweep_side(q1x, q1y, e1x, e1y);
    s.e20 = -sweep_side(k.qx, k.qy, k.e2x, k.e2y);
    const vf error01 = sweep_side_error(k.noise, k.qx, k.qy, k.e0x, k.e0y);
    const vf error12 = sweep_side_error(k.noise, q1x, q1y, e1x, e1y);
    const vf error20 = sweep_side_error(k.noise, k.qx, k.qy, k.e2x, k.e2y);
    const vm left = v_or(v_or(v_lt(error01, s.e01), v_lt(error12, s.e12)), v_lt(error20, s.e20));
    const vm right = v_or(v_or(v_lt(s.e01, -error01), v_lt(s.e12, -error12)), v_lt(s.e20, -error20));
    const vm certain =
        v_and(v_and(v_lt(error01, v_abs(s.e01)), v_lt(error12, v_abs(s.e12))), v_lt(error20, v_abs(s.e20)));
    const vm beside = v_and(left, right), near = v_and(asked, v_not(v_or(beside, certain)));
    sweep_line line;
    line.through = v_and(certain, v_not(beside));
    line.enter = line.leave = sweep_mean_height(s, k.e0h, k.e2h);
    if (v_any(near)) {
        const sweep_in pair = in; /* copies: what a call can reach is kept in memory, and slows all other pairs */
        const sweep_view view = k;
        sweep_line close;
        sweep_line_close(&pair, &view, &close);
        line.enter = v_sel(near, close.enter, line.enter);
        line.leave = v_sel(near, close.leave, line.leave);
        line.through = v_or(line.through, v_and(near, close.through));
    }
    return line;
}
#endif
