/* SPDX-License-Identifier: MIT */
/* What a search asks of every box and triangle, and what of it is the same for all of them: its course. Divisions and
 * roots in it take as long for one query as for LANES of them, so it is charted for LANES at a time; on the way each of
 * its numbers is spread to all lanes as it is read. */
#ifndef CAROM_MESH_COURSE_H
#define CAROM_MESH_COURSE_H
#include "sweep.h"

typedef struct mesh_query {
    real cx, cy, cz, radius, vx, vy, vz, t_max;
    int options, mask; /* MESH_TRIANGLE_MASKS and so on; without options the mask is not read */
} mesh_query;

/* A query against boxes: everything in mesh units, boxes inflated by `reach`. */
typedef struct mesh_slabs {
    vf cx, cy, cz, reach, per_vx, per_vy, per_vz;
    v_pow2 unit;
} mesh_slabs;

/* A motionless axis moves a little in box tests: its boxes are then entered very early or very late, and the distance
 * it wanders is far below `reach`. */
FN vf mesh_nonzero(vf v)
{
    const vf least = v_f(R(0x1p-60));
    return v_sel(v_lt(v_abs(v), least), v_from_bits((v_bits(v) & R_SIGN_MASK) | v_bits(least)), v);
}

FN mesh_slabs mesh_slabs_of(v3 center, vf radius, v3 velocity, mesh_frame frame)
{
    const vf one = v_f(R(1.0)), scale = v_f(frame.scale);
    const vi speed = v_exponent(vi_min(v3_magnitude(velocity), v_i(R_BIG_BITS + 0x00800000)));
    const v3 v = v3_mul(velocity, v_scale_down(speed));
    v3 c = v3_mul(center, scale);
    vf r = radius * scale;
    /* From 2^60 mesh sizes away one unit of the last place covers the mesh: no box is worth testing. */
    const vf size = v_from_bits(vi_max(vi_max(v3_magnitude(c), v_magnitude(r)), v_bits(v_f(R(2.0)))));
    const vm far = v_not(v_lt(size, v_f(R(0x1p60))));
    mesh_slabs s;
    s.cx = v_sel(far, v_f(R(0.0)), c.x);
    s.cy = v_sel(far, v_f(R(0.0)), c.y);
    s.cz = v_sel(far, v_f(R(0.0)), c.z);
    /* 2^-20 of the largest coordinate is 16 roundings of it; the tests below err by less than 12. */
    s.reach = v_sel(far, v_f(R(0x1p100)), r + size * v_f(R(0x1p-20)));
    s.per_vx = v_sel(far, one, one / mesh_nonzero(v.x));
    s.per_vy = v_sel(far, one, one / mesh_nonzero(v.y));
    s.per_vz = v_sel(far, one, one / mesh_nonzero(v.z));
    s.unit = v_pow2_of((v_i(frame.scale_field) - speed) >> R_EXPONENT_SHIFT);
    return s;
}

FN void mesh_axis(vf lo, vf hi, vf c, vf reach, vf per_v, vf *enter, vf *leave)
{
    const vf a = ((lo - reach) - c) * per_v, b = ((hi + reach) - c) * per_v;
    *enter = v_max(v_min(a, b), *enter);
    *leave = v_min(v_max(a, b), *leave);
}

/* Times, in the caller's unit, at which the centre is inside the inflated box; enter > leave: never. */
FN void mesh_box(mesh_slabs s, v3 lo, v3 hi, vf *enter, vf *leave)
{
    vf a = -v_infinity(), b = v_infinity();
    mesh_axis(lo.x, hi.x, s.cx, s.reach, s.per_vx, &a, &b);
    mesh_axis(lo.y, hi.y, s.cy, s.reach, s.per_vy, &a, &b);
    mesh_axis(lo.z, hi.z, s.cz, s.reach, s.per_vz, &a, &b);
    const vm never = v_lt(b, a); /* decided before the unit changes, which may round both to one number */
    *enter = v_sel(never, v_infinity(), v_ldexp(a, s.unit));
    *leave = v_sel(never, -v_infinity(), v_ldexp(b, s.unit));
}

/* `valid` is 1, or 0 where the query has no answer. */
typedef struct mesh_course {
    mesh_slabs slabs;
    sweep_heading heading;
    vf valid;
} mesh_course;

/* clang-format off */
#define MESH_COURSE_ROWS(X) \
    X(valid) \
    X(slabs.cx) X(slabs.cy) X(slabs.cz) X(slabs.reach) \
    X(slabs.per_vx) X(slabs.per_vy) X(slabs.per_vz) X(slabs.unit.a) X(slabs.unit.b) \
    X(heading.v.x) X(heading.v.y) X(heading.v.z) X(heading.axes.per_speed) \
    X(heading.axes.s.x) X(heading.axes.s.y) X(heading.axes.s.z) \
    X(heading.axes.w.x) X(heading.axes.w.y) X(heading.axes.w.z) \
    X(heading.axes.u.x) X(heading.axes.u.y) X(heading.axes.u.z)
#define MESH_COURSE_COUNT(number) + 1
#define MESH_COURSE_STORE(number) v_store(rows + LANES * row++, c.number);
#define MESH_COURSE_SPREAD(number) c.number = v_f(course[row++]);
/* clang-format on */
enum { MESH_COURSE_VALID, MESH_COURSE = MESH_COURSE_ROWS(MESH_COURSE_COUNT) };

/* The courses of LANES queries into rows[MESH_COURSE][LANES]. */
FN void mesh_chart(real *rows, v3 center, vf radius, v3 velocity, mesh_frame frame)
{
    const vm finite = v_and(v_and(v3_finite(center), v3_finite(velocity)), v_finite(radius));
    int row = 0;
    mesh_course c;
    c.valid = v_sel(v_and(finite, v_le(v_f(R(0.0)), radius)), v_f(R(1.0)), v_f(R(0.0)));
    c.slabs = mesh_slabs_of(center, radius, velocity, frame);
    c.heading = sweep_heading_of(velocity);
    MESH_COURSE_ROWS(MESH_COURSE_STORE)
}

/* One of them, in all lanes. */
FN mesh_course mesh_course_at(const real *course)
{
    int row = 0;
    mesh_course c;
    MESH_COURSE_ROWS(MESH_COURSE_SPREAD)
    return c;
}

/* The sphere in all lanes, for a triangle at rest. */
FN sweep_in mesh_sphere_of(const mesh_query *q)
{
    const vf zero = v_f(R(0.0));
    sweep_in in;
    in.center = v3_of(v_f(q->cx), v_f(q->cy), v_f(q->cz));
    in.radius = v_f(q->radius);
    in.velocity = v3_of(v_f(q->vx), v_f(q->vy), v_f(q->vz));
    in.w = v3_of(zero, zero, zero);
    return in;
}
#endif
