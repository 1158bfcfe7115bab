/* SPDX-License-Identifier: MIT */
/* Sweeps of a scene whose instances have velocities. In an instance the sphere moves with the difference of both
 * velocities, and triangles are where they are at time 0. In the hierarchy over the instances a box has an interval of
 * velocities. docs/scenes.md, section 3, proves that its test loses no triangle. */
#ifndef CAROM_CPU_SCENE_MOTION_H
#define CAROM_CPU_SCENE_MOTION_H
#include "kernels/mesh_nodes.h"
#include "kernels/scene_map.h"
#include "kernels/scene_own.h"
#include "kernels/traversal_precalc.h"
#include "kernels/wide.h"

/* ---- in an instance ---------------------------------------------------------------------------------------------- */

FN v3 scene_velocity(const mesh_instance *at)
{
    return v3_of(v_f(at->velocity[0]), v_f(at->velocity[1]), v_f(at->velocity[2]));
}

FN int scene_has_velocity(const mesh_instance *at)
{
    return at->velocity[0] != R(0.0) || at->velocity[1] != R(0.0) || at->velocity[2] != R(0.0);
}

FN int scene_same_velocity(const mesh_instance *a, const mesh_instance *b)
{
    return a->velocity[0] == b->velocity[0] && a->velocity[1] == b->velocity[1] && a->velocity[2] == b->velocity[2];
}

/* end - center - u in binary64, to 2^-51: the error of the first difference (Knuth) is added to the second one. If that
 * one is not exact, it is at least half as large as the first (Sterbenz), so nothing cancels. */
FN double scene_difference(real end, real center, real u)
{
    const double a = (double)end, b = (double)center, first = a - b, minus_b = first - a,
                 error = (a - (first - minus_b)) - (b + minus_b);
    return (first - (double)u) + error;
}

/* The relative motion in an instance, rounded once, with MESH_ENDS. Large ones are scaled down. */
FN mesh_motion scene_motion_rounded_once(const mesh_query *query, const mesh_instance *at)
{
    const double x = scene_difference(query->vx, query->cx, at->velocity[0]),
                 y = scene_difference(query->vy, query->cy, at->velocity[1]),
                 z = scene_difference(query->vz, query->cz, at->velocity[2]);
    const double most = 0x1p100;
    const int is_large = !(x < most && x > -most && y < most && y > -most && z < most && z > -most);
    const double factor = is_large ? 0x1p-8 : 1.0;
    mesh_motion motion;
    motion.velocity = v3_of(v_f((real)(x * factor)), v_f((real)(y * factor)), v_f((real)(z * factor)));
    motion.smaller = v_i(is_large ? 8 << R_EXPONENT_SHIFT : 0);
    return motion;
}

/* The motion relative to an instance that has a velocity. Each difference is rounded once, as sweep_relate() does; if
 * one would overflow, all are scaled down first. */
FN mesh_motion scene_motion_of(v3 center, v3 given, v3 u, int options)
{
    const int by_end = (options & MESH_ENDS) != 0;
    mesh_motion motion;
    motion.velocity = v3_sub(by_end ? v3_sub(given, center) : given, u);
    motion.smaller = v_i(0);
    if (v_any(v_not(vi_gt(v_i(R_BIG_BITS), v3_magnitude(motion.velocity))))) {
        const vf factor = v_f(R(0x1p-8));
        const v3 scaled = v3_mul(given, factor);
        motion.velocity = v3_sub(by_end ? v3_sub(scaled, v3_mul(center, factor)) : scaled, v3_mul(u, factor));
        motion.smaller = v_i(8 << R_EXPONENT_SHIFT);
    }
    return motion;
}

/* The traversal's terms of a query in an instance, and the velocity that they are for. Bounding spheres are not tested
 * where the solver's motion and this one are rounded differently. */
FN void scene_precalculate(real *precalc, double velocity[3], const mesh_query *query, mesh_frame frame,
                           const mesh_instance *at)
{
    const v3 center = v3_of(v_f(query->cx), v_f(query->cy), v_f(query->cz)),
             given = v3_of(v_f(query->vx), v_f(query->vy), v_f(query->vz));
    const int once = (query->options & MESH_ROUND_ONCE) != 0;
    real rows[LANES * PRECALC_ROWS];
    const mesh_motion motion = !scene_has_velocity(at) ? mesh_motion_of(center, given, query->options)
                               : once                  ? scene_motion_rounded_once(query, at)
                                      : scene_motion_of(center, given, scene_velocity(at), query->options);
    const double scale = v_any(vi_gt(motion.smaller, v_i(0))) ? 0x1p8 : 1;
    scene_rows along;
    scene_store(&along, motion.velocity);
    velocity[0] = (double)along.x[0] * scale;
    velocity[1] = (double)along.y[0] * scale;
    velocity[2] = (double)along.z[0] * scale;
    traversal_precalculate_motion(rows, center, v_f(query->radius), given, motion, v_f(query->t_max), frame);
    for (int k = 0; k < PRECALC_ROWS; k++)
        precalc[k] = rows[LANES * k];
    if (once && scene_has_velocity(at))
        precalc[PRECALC_REACH] = R(1.0) / R(0.0);
}

/* ---- in the hierarchy over the instances ------------------------------------------------------------------------- */

typedef struct scene_velocities {
    SCENE_VELOCITIES(MESH_WIDTH);
} scene_velocities;

/* Boxes with intervals of velocities. */
typedef struct scene_moving_boxes {
    const float *lower[3], *upper[3]; /* [MESH_WIDTH] in the scene's scale, at time 0 */
    const float *least[3], *most[3];  /* [MESH_WIDTH] velocities in the world */
} scene_moving_boxes;

/* Bounds for times and velocities that exceed what rounding changes; docs/scenes.md, section 3. */
#define SCENE_SPEED_SLACK W(0x1p-18)
#define SCENE_LEAST_SPEED W(0x1p-180)
#define SCENE_LEAST_LENGTH W(0x1p-140)
#define SCENE_TIME_SLACK W(0x1p-40)

/* The times from 0 on at which the sphere may be in a slab. The relative velocity is between `slow` and `fast`.
 * to_lower: from the centre plus its reach to the lower end; to_upper: from the centre less its reach to the upper end.
 */
typedef struct scene_times {
    wf enter, leave;
} scene_times;

FN scene_times scene_times_in_slab(scene_times times, wf to_lower, wf to_upper, wf slow, wf fast)
{
    const wf zero = w_f(W(0.0)), infinity = w_infinity();
    const wf at_lower = to_lower / fast, at_upper = to_upper / slow;
    /* Not before the fastest is above the lower end. */
    const wm below = w_lt(zero, to_lower), above = w_lt(to_upper, zero);
    const wf enter_lower = w_sel(below, w_sel(w_lt(zero, fast), at_lower, infinity), zero),
             leave_lower = w_sel(below, infinity, w_sel(w_lt(fast, zero), at_lower, infinity));
    /* Not before the slowest is below the upper end. */
    const wf enter_upper = w_sel(above, w_sel(w_lt(slow, zero), at_upper, infinity), zero),
             leave_upper = w_sel(above, infinity, w_sel(w_lt(zero, slow), at_upper, infinity));
    times.enter = w_sel(w_lt(times.enter, enter_lower), enter_lower, times.enter);
    times.enter = w_sel(w_lt(times.enter, enter_upper), enter_upper, times.enter);
    times.leave = w_sel(w_lt(leave_lower, times.leave), leave_lower, times.leave);
    times.leave = w_sel(w_lt(leave_upper, times.leave), leave_upper, times.leave);
    return times;
}

FN wf scene_max(wf a, wf b)
{
    return w_sel(w_lt(a, b), b, a);
}

/* Terms of the test of WIDE boxes: lengths in the scene's scale, as scene_times_in_slab() takes them, and speeds in it
 * per unit of the caller's time. */
typedef struct scene_moving_terms {
    wf to_lower[3], to_upper[3], slow[3], fast[3];
} scene_moving_terms;

FN scene_moving_terms scene_terms_of_moving(const double velocity[3], const real *precalc, float scale,
                                            const scene_moving_boxes *boxes, int lane)
{
    const real *slabs = precalc + PRECALC_SLABS; /* below.x, above.x, below.y and so on */
    scene_moving_terms terms;
    wf speed = w_f(W(0.0));
    for (int k = 0; k < 3; k++) {
        const wf least = w_load(boxes->least[k] + lane), most = w_load(boxes->most[k] + lane), v = w_f(velocity[k]);
        speed = scene_max(speed, w_abs(v) + scene_max(w_abs(least), w_abs(most)));
        terms.slow[k] = v - most;
        terms.fast[k] = v - least;
    }
    const wf slack = speed * SCENE_SPEED_SLACK + SCENE_LEAST_SPEED, unit = w_f((double)scale);
    for (int k = 0; k < 3; k++) {
        terms.to_lower[k] = w_round(w_load(boxes->lower[k] + lane) - w_real(slabs[2 * k])) - SCENE_LEAST_LENGTH;
        terms.to_upper[k] = w_round(w_load(boxes->upper[k] + lane) - w_real(slabs[2 * k + 1])) + SCENE_LEAST_LENGTH;
        terms.slow[k] = (terms.slow[k] - slack) * unit;
        terms.fast[k] = (terms.fast[k] + slack) * unit;
    }
    return terms;
}

/* 0 where the boxes may be entered until t, else -1: by the way that can be made until then, without a division. */
FN wf scene_reaches(const scene_moving_terms *terms, real t)
{
    const wf zero = w_f(W(0.0)), until = w_real(t) * w_f(W(1.0) + SCENE_TIME_SLACK);
    wf reaches = zero;
    for (int k = 0; k < 3; k++) {
        /* An infinite time without speed is no number, and makes no way. */
        const wf forward = terms->fast[k] * until, backward = terms->slow[k] * until;
        const wf most = w_sel(w_lt(zero, forward), forward, zero), least = w_sel(w_lt(backward, zero), backward, zero);
        const wm misses = w_or(w_lt(most, terms->to_lower[k]), w_lt(terms->to_upper[k], least));
        reaches = w_sel(misses, w_f(W(-1.0)), reaches);
    }
    return reaches;
}

/* Lower bounds of the times at which the query enters the boxes, in the caller's unit; -1 where it never does. */
FN wf scene_enter_moving(const scene_moving_terms *terms)
{
    scene_times times = {w_f(W(0.0)), w_infinity()};
    for (int k = 0; k < 3; k++)
        times = scene_times_in_slab(times, terms->to_lower[k], terms->to_upper[k], terms->slow[k], terms->fast[k]);
    const wf enter = times.enter * (W(1.0) - SCENE_TIME_SLACK) - W(0x1p-148);
    const wm exists = w_and(w_lt(times.enter, w_infinity()), w_le(enter, times.leave * (W(1.0) + SCENE_TIME_SLACK)));
    return w_sel(exists, scene_max(enter, w_f(W(0.0))), w_f(W(-1.0)));
}

/* The same for all children of a node; also -1 where the query enters after `last`. */
FN void scene_test_moving(const mesh_query *query, const real *precalc, float scale, real last,
                          const scene_moving_boxes *boxes, real *enters)
{
    double velocity[3];
    scene_query_velocity(query, velocity);
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        scene_moving_terms terms[PARTS];
        wf reaches[PARTS];
        for (int part = 0; part < PARTS; part++) {
            terms[part] = scene_terms_of_moving(velocity, precalc, scale, boxes, lane + part * WIDE);
            reaches[part] = scene_reaches(&terms[part], last);
        }
        const vf none = w_join(reaches[0], reaches[PARTS - 1]);
        v_store(enters + lane, none);
        if (v_any(v_le(v_f(R(0.0)), none)))
            v_store(enters + lane, w_join(scene_enter_moving(&terms[0]), scene_enter_moving(&terms[PARTS - 1])));
    }
}
#endif
