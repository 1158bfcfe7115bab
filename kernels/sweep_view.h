/* SPDX-License-Identifier: MIT */
/* Preparation of a sweep for the solver: differences of the inputs, scaled so that nothing overflows, and the triangle
 * in a frame whose third axis is the relative motion: the view. docs/numerics.md, sections 1 to 4. */
#ifndef CAROM_SWEEP_VIEW_H
#define CAROM_SWEEP_VIEW_H
#include "vec.h"

typedef struct sweep_in {
    v3 center, velocity;
    vf radius;
    v3 p0, p1, p2, w;
    v3 u; /* subtracted with TRIANGLE_CARRIED, else 0 */
} sweep_in;

typedef struct sweep_out {
    vf t_first, t_last;
    vi state;
    v3 point_first, point_last;
    vi feature_first, feature_last;
} sweep_out;

/* Which outputs to compute. The value is a constant at every call, so the compiler removes the rest. */
#define SWEEP_FIRST 0 /* t_first */
#define SWEEP_TIMES 1 /* both times and the state */
#define SWEEP_FULL 2  /* and points and features */

/* Differences of the inputs: the solver computes with these alone. */
typedef struct sweep_relative {
    v3 center, center_error; /* centre - P0 at time 0, and its rounding error */
    v3 e01, e02;             /* edges from P0 to P1 and from P0 to P2 */
    v3 v;                    /* relative velocity */
    vi size;                 /* largest magnitude among edges and radius */
    vi length;               /* largest magnitude among edges, radius and d */
    vi speed;                /* largest magnitude among the components of v */
} sweep_relative;

/* Differences of a pair's inputs. moving: the bits tell which velocities are subtracted. */
FN sweep_relative sweep_relate(sweep_in in, int moving)
{
    sweep_relative relative;
    relative.center = v3_sub(in.center, in.p0);
    relative.center_error = v3_sub_error(in.center, in.p0, relative.center);
    relative.e01 = v3_sub(in.p1, in.p0);
    relative.e02 = v3_sub(in.p2, in.p0);
    relative.v = (moving & TRIANGLE_MOVING) != 0 ? v3_sub(in.velocity, in.w) : in.velocity;
    if ((moving & TRIANGLE_CARRIED) != 0)
        relative.v = v3_sub(relative.v, in.u);
    relative.size = vi_max(vi_max(v3_magnitude(relative.e01), v3_magnitude(relative.e02)), v_magnitude(in.radius));
    relative.length = vi_max(relative.size, v3_magnitude(relative.center));
    relative.speed = v3_magnitude(relative.v);
    return relative;
}

/* Lanes in which no input is NaN or infinite. */
FN vm sweep_is_finite(sweep_in in, int moving)
{
    vm ok = v_and(v_and(v3_finite(in.center), v3_finite(in.velocity)), v_finite(in.radius));
    ok = v_and(ok, v_and(v_and(v3_finite(in.p0), v3_finite(in.p1)), v3_finite(in.p2)));
    return (moving & TRIANGLE_MOVING) != 0 ? v_and(ok, v3_finite(in.w)) : ok;
}

/* A query whose differences are in range: scaled by 2^-8 if they would overflow, by 2^32 if lengths are denormal. */
typedef struct sweep_query {
    sweep_in in;
    sweep_relative relative;
    vf unscale;       /* factor that undoes the scaling of lengths */
    vi time_exponent; /* of the power of two that undoes the scaling of times */
    vm valid;         /* all inputs are finite and the radius is not negative */
} sweep_query;

/* Lanes whose squares would overflow or underflow. */
FN vm sweep_is_out_of_range(const sweep_relative *relative)
{
    const vm is_large = v_not(vi_gt(v_i(R_BIG_BITS), vi_max(relative->length, relative->speed)));
    return v_or(is_large, vi_gt(v_i(R_SMALL_BITS), relative->length));
}

/* Scales queries that are out of range. They are rare, so the caller branches. */
FN void sweep_rescue(sweep_query *query, int moving)
{
    const vm is_finite = sweep_is_finite(query->in, moving);
    /* Lanes to scale: all lengths are tiny, a length is huge, the speed is huge. */
    const vm is_near = vi_gt(v_i(R_SMALL_BITS), query->relative.length);
    const vm is_far = v_and(is_finite, v_not(vi_gt(v_i(R_BIG_BITS), query->relative.length)));
    const vm is_fast = v_and(is_finite, v_not(vi_gt(v_i(R_BIG_BITS), query->relative.speed)));
    const vf one = v_f(R(1.0)), small = v_f(R(0x1p-8));
    /* Factors by which lengths and velocities are scaled, and how the answer undoes that. */
    const vf length_factor = v_sel(is_near, v_f(R(0x1p32)), v_sel(is_far, small, one)),
             speed_factor = v_sel(is_fast, small, one);
    const vi none = v_i(0);
    query->valid = v_and(query->valid, is_finite);
    query->unscale = v_sel(is_near, v_f(R(0x1p-32)), v_sel(is_far, v_f(R(0x1p8)), one));
    query->time_exponent = vi_sel(is_near, v_i(-32), vi_sel(is_far, v_i(8), none)) - vi_sel(is_fast, v_i(8), none);
    /* The scaled inputs, and their differences. */
    query->in.center = v3_mul(query->in.center, length_factor);
    query->in.radius = query->in.radius * length_factor;
    query->in.p0 = v3_mul(query->in.p0, length_factor);
    query->in.p1 = v3_mul(query->in.p1, length_factor);
    query->in.p2 = v3_mul(query->in.p2, length_factor);
    query->in.velocity = v3_mul(query->in.velocity, speed_factor);
    if ((moving & TRIANGLE_MOVING) != 0)
        query->in.w = v3_mul(query->in.w, speed_factor);
    if ((moving & TRIANGLE_CARRIED) != 0)
        query->in.u = v3_mul(query->in.u, speed_factor);
    query->relative = sweep_relate(query->in, moving);
}

/* The velocity with which a contact point moves: that of the triangle, or of its instance. */
FN v3 sweep_point_velocity(const sweep_in *in, int moving)
{
    return (moving & TRIANGLE_CARRIED) != 0 ? in->u : in->w;
}

/* Differences of a pair, in range: a pair whose squares would overflow or underflow is scaled first. */
FN sweep_query sweep_prepare(sweep_in in, int moving)
{
    sweep_query query;
    query.in = in;
    query.relative = sweep_relate(in, moving);
    query.unscale = v_f(R(1.0));
    query.time_exponent = v_i(0);
    query.valid = v_le(v_f(R(0.0)), in.radius);
    if (v_any(sweep_is_out_of_range(&query.relative)))
        sweep_rescue(&query, moving);
    return query;
}

/* An orthonormal basis whose third axis is v / |v| (Duff et al., Building an Orthonormal Basis, Revisited). Divisions
 * and roots limit the throughput of the solver, so one division gives both 1 / |v| and 1 / (sign |v| + v.z). */
typedef struct sweep_basis {
    v3 s, w, u;   /* u is the direction of v; s and w are at right angles to it */
    vf per_speed; /* 1 / |v| */
} sweep_basis;

/* Orthonormal basis around the direction of v. The vector v is not zero. */
FN sweep_basis sweep_basis_of(v3 v)
{
    const vf sign = v_copysign_one(v.z), speed = v_sqrt(v3_dot(v, v));
    const vf sum = sign * speed + v.z;
    const vf per_speed_and_sum = v_f(R(1.0)) / (speed * sum);
    sweep_basis basis;
    basis.per_speed = per_speed_and_sum * sum;
    basis.u = v3_mul(v, basis.per_speed);
    const vf minus_per_sum = -(per_speed_and_sum * speed); /* -1 / (sign |v| + v.z) */
    const vf x_share = v.x * minus_per_sum, y_share = v.y * minus_per_sum;
    basis.s = v3_of(v_f(R(1.0)) + sign * (basis.u.x * x_share), sign * (basis.u.x * y_share), -(sign * basis.u.x));
    basis.w = v3_of(basis.u.x * y_share, sign + basis.u.y * y_share, -basis.u.y);
    return basis;
}

/* Direction of a motion. All triangles at rest share the heading of the sphere. */
typedef struct sweep_heading {
    v3 v; /* relative velocity, scaled to about 1 */
    sweep_basis axes;
} sweep_heading;

/* Direction of a velocity, which is scaled first so that no square overflows. */
FN sweep_heading sweep_heading_of(v3 velocity)
{
    sweep_heading heading;
    heading.v = v3_mul(velocity, v_scale_down(v_exponent(v3_magnitude(velocity))));
    heading.axes = sweep_basis_of(heading.v);
    return heading;
}

/* The triangle seen along the motion, in units of 2^exponent(size). */
typedef struct sweep_view {
    vf line_x, line_y;   /* the line of centres, which the view shows as a point, relative to P0 */
    vf p0_height;        /* height of P0 above the centre at time `start` */
    vf e01x, e01y, e01h; /* P1 - P0 */
    vf e02x, e02y, e02h; /* P2 - P0 */
    vf radius, radius2;
    vi unit, length; /* exponent fields of the largest length: among edges and radius; and the distance of P0 */
    vf noise;        /* error bound of the position of the line of centres relative to the triangle */
    vf start;        /* time, in scaled units, at which the centre has height 0 */
    vf time_per_height;
    sweep_basis axes;
    v3 v;                /* relative velocity, scaled to about 1 */
    v3 center, e01, e02; /* not rotated: centre at time `start`, relative to P0; edges from P0 */
} sweep_view;

/* The part of a view that times depend on, and the unit of the times. */
typedef struct sweep_sight {
    vf line_x, line_y, p0_height, e01x, e01y, e01h, e02x, e02y, e02h, radius, start, time_per_height;
    v_pow2 unit;
} sweep_sight;

/* The part of a view that times depend on. */
FN sweep_sight sweep_sight_of(const sweep_view *view, v_pow2 time_unit)
{
    sweep_sight sight;
    sight.line_x = view->line_x;
    sight.line_y = view->line_y;
    sight.p0_height = view->p0_height;
    sight.e01x = view->e01x;
    sight.e01y = view->e01y;
    sight.e01h = view->e01h;
    sight.e02x = view->e02x;
    sight.e02y = view->e02y;
    sight.e02h = view->e02h;
    sight.radius = view->radius;
    sight.start = view->start;
    sight.time_per_height = view->time_per_height;
    sight.unit = time_unit;
    return sight;
}

/* The view of a sight, as far as sweep_solve_spheres() needs it. */
FN sweep_view sweep_sight_view(const sweep_sight *sight)
{
    sweep_view view = {.line_x = sight->line_x, .line_y = sight->line_y, .p0_height = sight->p0_height};
    view.e01x = sight->e01x;
    view.e01y = sight->e01y;
    view.e01h = sight->e01h;
    view.e02x = sight->e02x;
    view.e02y = sight->e02y;
    view.e02h = sight->e02h;
    view.radius = sight->radius;
    view.radius2 = view.radius * view.radius;
    return view;
}

/* Moves the start of the motion next to P0, before any term is squared. The shift has 12 significant bits and the
 * velocity is split into two parts of 12 bits. So the products are exact, and a far start loses no precision. */
FN v3 sweep_shifted(v3 offset, v3 offset_error, v3 v, vf shift)
{
    const v3 head = v3_of(v_head(v.x), v_head(v.y), v_head(v.z));
    const v3 near = v3_add(offset, v3_mul(head, shift));
    return v3_add(v3_add(near, v3_mul(v3_sub(v, head), shift)), offset_error);
}

/* Exponent field of the view's unit. A triangle smaller than 2^-40 of its distance is a point within the rounding of
 * the answer. A smaller unit would push the distance out of range. */
FN vi sweep_unit_of(const sweep_relative *relative, vi length)
{
    return v_exponent(vi_max(relative->size, length - (40 << R_EXPONENT_SHIFT)));
}

/* Error bound of the position of the line of centres relative to the triangle. */
FN vf sweep_noise_of(vi length, vi unit)
{
    return v_f(R(0x1p-14)) + v_scale_ratio(length, unit) * v_f(R(0x1p-27));
}

/* Lanes that the solver's usual steps do not answer: out of range or invalid, without relative motion, or so small that
 * the line of centres decides. */
FN vm sweep_is_rare(const sweep_relative *relative, vf radius)
{
    const vi length = v_exponent(relative->length), unit = sweep_unit_of(relative, length);
    const vm is_sphere = v_lt(sweep_noise_of(length, unit), radius * v_scale_down(unit));
    return v_or(v_or(sweep_is_out_of_range(relative), vi_eq(relative->speed, v_i(0))), v_not(is_sphere));
}

/* The triangle in the frame of the motion: lengths get one unit, time starts where the centre passes P0, then all
 * vectors are rotated. */
FN sweep_view sweep_view_of(sweep_relative relative, vf radius, sweep_heading heading)
{
    const vi length = v_exponent(relative.length);
    const vi unit = sweep_unit_of(&relative, length);
    const vf to_unit = v_scale_down(unit), to_length = v_scale_down(length);
    const v3 v = heading.v;
    const sweep_basis basis = heading.axes;
    const v3 far_center = v3_mul(relative.center, to_length);
    sweep_view view;
    /* The time at which the centre is nearest to P0, and its offset from P0 then. */
    view.start = v_head(-(v3_dot(far_center, basis.u) * basis.per_speed));
    v3 center = sweep_shifted(far_center, v3_mul(relative.center_error, to_length), v, view.start);
    center = v3_mul(center, v_scale_ratio(length, unit));
    const v3 e01 = v3_mul(relative.e01, to_unit), e02 = v3_mul(relative.e02, to_unit);
    /* Vectors that are not rotated, and the scales. */
    view.v = v;
    view.center = center;
    view.unit = unit;
    view.length = length;
    view.noise = sweep_noise_of(length, unit);
    view.axes = basis;
    view.e01 = e01;
    view.e02 = e02;
    /* Rotated vectors: two coordinates across the motion, and the height along it. */
    view.line_x = v3_dot(center, basis.s);
    view.line_y = v3_dot(center, basis.w);
    view.p0_height = -v3_dot(center, basis.u);
    view.e01x = v3_dot(e01, basis.s);
    view.e01y = v3_dot(e01, basis.w);
    view.e01h = v3_dot(e01, basis.u);
    view.e02x = v3_dot(e02, basis.s);
    view.e02y = v3_dot(e02, basis.w);
    view.e02h = v3_dot(e02, basis.u);
    /* The radius, and the factor from heights to times. */
    view.radius = radius * to_unit;
    view.radius2 = view.radius * view.radius;
    view.time_per_height = basis.per_speed * v_scale_ratio(unit, length);
    return view;
}
#endif
