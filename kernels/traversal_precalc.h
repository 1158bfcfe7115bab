/* SPDX-License-Identifier: MIT */
/* Culling tests of a query against boxes and bounding spheres, and the terms of these tests that depend on the query
 * alone. The terms are computed once per query, before its traversal. Divisions and roots take as long for one query as
 * for LANES queries, so the terms of LANES queries are computed at a time, one query per lane. During the traversal the
 * lanes are boxes or triangles of one query: each term is broadcast to all lanes when it is loaded. */
#ifndef CAROM_TRAVERSAL_PRECALC_H
#define CAROM_TRAVERSAL_PRECALC_H
#include "sweep.h"

/* Pairs of several queries are packed for the solver: by lanes that can be compressed, or by the work-items of a group
 * that share queries (mesh_team.h). A work-item in a scene has no registers to spare for a query's heading. */
#if defined(LANG_HAS_COMPRESS) || defined(MESH_ITEMS) || (defined(MESH_SCENE) && defined(LANG_LOCKSTEP))
#define MESH_PACKED
#endif
#ifdef MESH_ITEMS /* pairs wait for the solver in the memory that a group shares, not in the work-item's own */
#define MESH_WAIT __local
#else
#define MESH_WAIT
#endif

typedef struct mesh_query {
    real cx, cy, cz, radius;
    real vx, vy, vz; /* the velocity, or with MESH_ENDS the centre at time 1 */
    real t_max;
    int options, mask; /* MESH_TRIANGLE_MASKS and so on; without options the mask is not read */
} mesh_query;

/* The velocity of LANES queries. The difference of end position and centre is rounded once; if it would overflow, both
 * are scaled down first. A traversal of a scene replaces it in instances that move (cpu/scene/motion.h). */
typedef struct mesh_motion {
    v3 velocity;
    vi smaller; /* the velocity is scaled by 2^-smaller; an exponent field */
} mesh_motion;

/* The velocity. given: velocities, or with MESH_ENDS the centre's positions at time 1. */
FN mesh_motion mesh_motion_of(v3 center, v3 given, int options)
{
    mesh_motion motion;
    motion.velocity = given;
    motion.smaller = v_i(0);
    if ((options & MESH_ENDS) == 0)
        return motion;
    motion.velocity = v3_sub(given, center);
    const vm is_large = v_not(vi_gt(v_i(R_BIG_BITS), v3_magnitude(motion.velocity)));
    if (v_any(is_large)) {
        const vf factor = v_f(R(0x1p-8));
        motion.velocity = v3_sel(is_large, v3_sub(v3_mul(given, factor), v3_mul(center, factor)), motion.velocity);
        motion.smaller = vi_sel(is_large, v_i(8 << R_EXPONENT_SHIFT), motion.smaller);
    }
    return motion;
}

/* Slab test of a query against boxes that are inflated by its reach. Units: the mesh's. The centre crosses the plane of
 * a lower side `lo` at the time (lo - below) / v, that of an upper side `hi` at (hi - above) / v. */
typedef struct mesh_slabs {
    v3 below, above; /* the centre plus its reach; the centre minus its reach */
    v3 per_v;        /* 1 / velocity */
    v_pow2 unit;     /* factor from these times to the caller's */
} mesh_slabs;

/* Velocities of 0 become tiny in slab tests, to avoid division by 0. A box is then entered very early or very late. The
 * distance that the centre drifts is far below `reach`. */
FN vf mesh_nonzero(vf v)
{
    const vf least = v_f(R(0x1p-60));
    return v_sel(v_lt(v_abs(v), least), v_from_bits((v_bits(v) & R_SIGN_MASK) | v_bits(least)), v);
}

/* Terms of the slab test: the centre plus and minus its reach, and the inverse velocity. */
FN mesh_slabs mesh_slabs_of(v3 center, vf radius, mesh_motion motion, mesh_frame frame)
{
    const vf one = v_f(R(1.0)), scale = v_f(frame.scale);
    const vi speed = v_exponent(vi_min(v3_magnitude(motion.velocity), v_i(R_BIG_BITS + 0x00800000)));
    const v3 mesh_velocity = v3_mul(motion.velocity, v_scale_down(speed));
    v3 mesh_center = v3_mul(center, scale);
    vf mesh_radius = radius * scale;
    /* At a distance of 2^60 mesh sizes one unit in the last place covers the mesh: every box passes the test. */
    const vf size =
        v_from_bits(vi_max(vi_max(v3_magnitude(mesh_center), v_magnitude(mesh_radius)), v_bits(v_f(R(2.0)))));
    const vm is_far = v_not(v_lt(size, v_f(R(0x1p60))));
    mesh_slabs slabs;
    /* The reach, with a margin for the roundings of the test. */
    const v3 zero = v3_of(v_f(R(0.0)), v_f(R(0.0)), v_f(R(0.0)));
    /* 2^-20 of the largest coordinate is 16 roundings of it; the tests below err by less than 12. */
    const vf reach = v_sel(is_far, v_f(R(0x1p100)), mesh_radius + size * v_f(R(0x1p-20)));
    mesh_center = v3_sel(is_far, zero, mesh_center);
    slabs.below = v3_of(mesh_center.x + reach, mesh_center.y + reach, mesh_center.z + reach);
    slabs.above = v3_of(mesh_center.x - reach, mesh_center.y - reach, mesh_center.z - reach);
    /* Inverse velocities, and the factor from scaled times to the caller's. */
    slabs.per_v.x = v_sel(is_far, one, one / mesh_nonzero(mesh_velocity.x));
    slabs.per_v.y = v_sel(is_far, one, one / mesh_nonzero(mesh_velocity.y));
    slabs.per_v.z = v_sel(is_far, one, one / mesh_nonzero(mesh_velocity.z));
    slabs.unit = v_pow2_of((v_i(frame.scale_field) - speed - motion.smaller) >> R_EXPONENT_SHIFT);
    return slabs;
}

/* `enter`: when the centre enters the inflated boxes, in the caller's unit of time. `exists`: whether the centre enters
 * them, and leaves them at time 0 or later. This is decided before the change of unit, which may round both times to
 * one number. */
typedef struct mesh_slab_interval {
    vf enter;
    vm exists;
} mesh_slab_interval;

/* Slab test of LANES boxes: the centre is inside all three slabs between `enter` and `leave`. */
FN mesh_slab_interval mesh_slab_test(mesh_slabs slabs, v3 lo, v3 hi)
{
    const v3 at_lower = v3_of((lo.x - slabs.below.x) * slabs.per_v.x, (lo.y - slabs.below.y) * slabs.per_v.y,
                              (lo.z - slabs.below.z) * slabs.per_v.z);
    const v3 at_upper = v3_of((hi.x - slabs.above.x) * slabs.per_v.x, (hi.y - slabs.above.y) * slabs.per_v.y,
                              (hi.z - slabs.above.z) * slabs.per_v.z);
    const vf enter = v_greater(v_greater(v_lesser(at_lower.x, at_upper.x), v_lesser(at_lower.y, at_upper.y)),
                               v_lesser(at_lower.z, at_upper.z));
    const vf leave = v_lesser(v_lesser(v_greater(at_lower.x, at_upper.x), v_greater(at_lower.y, at_upper.y)),
                              v_greater(at_lower.z, at_upper.z));
    mesh_slab_interval interval;
    interval.enter = v_ldexp(enter, slabs.unit);
    interval.exists = v_and(v_le(enter, leave), v_le(v_f(R(0.0)), leave));
    return interval;
}

/* The capsule that the sphere sweeps, against bounding spheres. The centre is closest to a point at the time ((point -
 * centre).velocity) per_v2. A bounding sphere of radius b is missed if its centre is then farther away than reach + b.
 * `reach` is infinity if this test is not made. Units: the caller's. */
typedef struct mesh_capsule {
    vf per_v2; /* 1 / v.v, 0 without motion */
    vf reach;  /* radius plus a margin */
} mesh_capsule;

/* Range of sizes and speeds whose squares and quotients are normal numbers. Outside this range no bounding sphere is
 * culled. */
#define MESH_LEAST_SIZE R(0x1p-30)
#define MESH_MOST_SIZE R(0x1p30)

/* The bounding spheres are tested only if `reach` is more than so many of their typical radii: with larger triangles
 * the test culls too few. */
#define MESH_LARGER R(1.25)

/* docs/numerics.md, section 11, derives the margins. */
FN mesh_capsule mesh_capsule_of(v3 center, vf radius, v3 velocity, mesh_frame frame)
{
    const vf zero = v_f(R(0.0)), least = v_f(MESH_LEAST_SIZE), most = v_f(MESH_MOST_SIZE);
    const vf size = v_from_bits(
        vi_max(vi_max(v3_magnitude(center), v_magnitude(radius)), v_i(frame.scale_field + (1 << R_EXPONENT_SHIFT))));
    const vf speed = v_from_bits(v3_magnitude(velocity));
    const vm rests = v_eq(speed, zero);
    const vm in_range = v_and(v_within(least, size, most), v_or(rests, v_within(least, speed, most)));
    mesh_capsule capsule;
    capsule.per_v2 = v_sel(rests, zero, v_f(R(1.0)) / v3_dot(velocity, velocity));
    const vf reach = radius * v_f(R(1.00390625)) + size * v_f(R(0x1p-16));
    const vm larger = v_lt(v_f(frame.ball * MESH_LARGER), reach);
    capsule.reach = v_sel(v_and(in_range, larger), reach, v_infinity());
    return capsule;
}

/* `limit` is the end of the query's time window; -1 for an invalid query. `heading` is left out if pairs of several
 * queries are packed (mesh_pairs.h): then each packet computes its own. */
typedef struct traversal_precalc {
    mesh_slabs slabs;
    mesh_capsule capsule;
    sweep_heading heading;
    vf limit;
} traversal_precalc;

/* clang-format off */
#define PRECALC_FIELDS(X) \
    X(limit) X(capsule.reach) X(capsule.per_v2) \
    X(slabs.below.x) X(slabs.above.x) X(slabs.below.y) X(slabs.above.y) X(slabs.below.z) X(slabs.above.z) \
    X(slabs.per_v.x) X(slabs.per_v.y) X(slabs.per_v.z) X(slabs.unit.a) X(slabs.unit.b) PRECALC_HEADING_FIELDS(X)
#ifdef MESH_PACKED
#define PRECALC_HEADING_FIELDS(X)
#else
#define PRECALC_HEADING_FIELDS(X) \
    X(heading.v.x) X(heading.v.y) X(heading.v.z) X(heading.axes.per_speed) \
    X(heading.axes.s.x) X(heading.axes.s.y) X(heading.axes.s.z) \
    X(heading.axes.w.x) X(heading.axes.w.y) X(heading.axes.w.z) \
    X(heading.axes.u.x) X(heading.axes.u.y) X(heading.axes.u.z)
#endif
#define PRECALC_COUNT(number) + 1
#define PRECALC_STORE(number) v_store(rows + LANES * row++, terms.number);
#define PRECALC_LOAD(number) terms.number = v_f(precalc[row++]);
/* clang-format on */
enum {
    PRECALC_LIMIT,
    PRECALC_REACH,
    PRECALC_SLABS = 3,
    PRECALC_UNIT = 12,
    PRECALC_ROWS = PRECALC_FIELDS(PRECALC_COUNT)
};

/* A sphere at rest hits at time 0 or never. -0 becomes +0, because mesh_key_bits compares bits. given: the velocity, or
 * the end position; velocity: relative to what is searched. */
FN vf mesh_limit_of(v3 center, vf radius, v3 given, v3 velocity, vf t_max)
{
    const vf zero = v_f(R(0.0));
    const vm is_finite = v_and(v_and(v3_finite(center), v3_finite(given)), v_finite(radius));
    const vm moves = v_not(v_eq(v_from_bits(v3_magnitude(velocity)), zero));
    const vf limit = v_sel(v_and(moves, v_lt(zero, t_max)), t_max, zero);
    return v_sel(v_and(is_finite, v_le(zero, radius)), limit, v_f(R(-1.0)));
}

/* Computes the terms of LANES queries with known motions into rows[PRECALC_ROWS][LANES]. given: velocities, or with
 * MESH_ENDS end positions. */
FN void traversal_precalculate_motion(real *rows, v3 center, vf radius, v3 given, mesh_motion motion, vf t_max,
                                      mesh_frame frame)
{
    int row = 0;
    traversal_precalc terms;
    terms.limit = mesh_limit_of(center, radius, given, motion.velocity, t_max);
    terms.slabs = mesh_slabs_of(center, radius, motion, frame);
    terms.capsule = mesh_capsule_of(center, radius, motion.velocity, frame);
#ifndef MESH_PACKED
    terms.heading = sweep_heading_of(motion.velocity);
#endif
    PRECALC_FIELDS(PRECALC_STORE)
}

/* Computes the terms of LANES queries. */
FN void traversal_precalculate(real *rows, v3 center, vf radius, v3 given, vf t_max, mesh_frame frame, int options)
{
    traversal_precalculate_motion(rows, center, radius, given, mesh_motion_of(center, given, options), t_max, frame);
}

/* Loads the terms of one query, broadcast to all lanes. */
FN traversal_precalc traversal_precalc_of(const real *precalc)
{
    int row = 0;
    traversal_precalc terms;
    PRECALC_FIELDS(PRECALC_LOAD)
    return terms;
}

/* How the solver reads a motion: MOTION_BY_VELOCITY or MOTION_BY_END, and in scenes TRIANGLE_CARRIED. */
FN int mesh_motion_kind(int options)
{
    const int motion = (options & MESH_ENDS) != 0 ? MOTION_BY_END : MOTION_BY_VELOCITY;
#ifdef MESH_SCENE_MOVES
    return motion | ((options & MESH_CARRIED) != 0 ? TRIANGLE_CARRIED : 0);
#else
    return motion;
#endif
}

/* The velocity W that the solver subtracts from V. With MESH_ENDS V is the end position and W the centre, so V - W is
 * the motion, with the error bounds of a moving pair. The triangle is at rest, so contact points are not moved by W. */
FN v3 mesh_relative_to(v3 center, int options)
{
    const vf zero = v_f(R(0.0));
    return (options & MESH_ENDS) != 0 ? center : v3_of(zero, zero, zero);
}

/* The query's sphere broadcast to all lanes. */
FN sweep_in mesh_sphere_of(const mesh_query *query, int options)
{
    sweep_in in;
    in.center = v3_of(v_f(query->cx), v_f(query->cy), v_f(query->cz));
    in.radius = v_f(query->radius);
    in.velocity = v3_of(v_f(query->vx), v_f(query->vy), v_f(query->vz));
    in.w = mesh_relative_to(in.center, options);
    in.u = v3_of(v_f(R(0.0)), v_f(R(0.0)), v_f(R(0.0)));
    return in;
}
#endif
