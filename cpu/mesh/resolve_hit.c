/* SPDX-License-Identifier: MIT */
/* Decides a triangle that the floating-point filter of a mesh query leaves undecided, by the second filter or in
 * integers. */
#include "resolve_hit.h"

#include <math.h>
#include <string.h>

#include "cpu/exact/exact.h"

/* The velocity relative to the triangle along an axis, to 2^-51 of it. A difference of two binary32 numbers is rounded
 * once. Of three, the rounding error of the first difference is added to the second one. If that one is not exact, it
 * is at least half as large as the first (Sterbenz), so nothing cancels. */
static double relative_velocity(const caromi_mesh_query *query, int axis)
{
    const double given = (double)query->in[MESH_VX + axis], center = (double)query->in[MESH_CX + axis];
    const int by_end = (query->options & MESH_ENDS) != 0, carried = (query->options & MESH_CARRIED) != 0;
    const double own = by_end ? given - center : given;
    if (!carried)
        return own;
    const double minus_center = own - given,
                 error = by_end ? (given - (own - minus_center)) - (center + minus_center) : 0;
    return (own - (double)query->carried[axis]) + error;
}

/* Early out: whether a sphere is certainly outside a triangle's box, inflated by the radius, up to a time that rounds
 * to `until`. For nearly all distant triangles, which binary32 cannot separate from their neighbours, it spares the
 * integers. Differences of binary32 numbers are off by 2^-53 of their operands. A NaN is never outside. */
int caromi_hit_is_outside(const caromi_mesh_query *query, const float *corners, int moving, float until)
{
    double enter = 0, leave = (double)until * (1 + 0x1p-22) + 0x1p-148;
    for (int axis = 0; axis < 3; axis++) {
        const float *const coordinate = corners + axis;
        const double low = (double)fminf(coordinate[0], fminf(coordinate[3], coordinate[6])),
                     high = (double)fmaxf(coordinate[0], fmaxf(coordinate[3], coordinate[6]));
        const double center = (double)query->in[MESH_CX + axis], radius = (double)query->in[MESH_RADIUS];
        const double velocity = moving ? relative_velocity(query, axis) : 0;
        const double error = 0x1p-50 * (fabs(low) + fabs(high) + fabs(center) + radius);
        const double to_low = low - radius - center - error, to_high = high + radius - center + error;
        if (velocity == 0) {
            if (to_low > 0 || to_high < 0)
                return 1;
            continue;
        }
        /* Times at which the centre enters and leaves the inflated slab of this axis. */
        const double axis_enter = (velocity > 0 ? to_low : to_high) / velocity,
                     axis_leave = (velocity > 0 ? to_high : to_low) / velocity;
        enter = fmax(enter, axis_enter - 0x1p-50 * fabs(axis_enter));
        leave = fmin(leave, axis_leave + 0x1p-50 * fabs(axis_leave));
    }
    return enter > leave;
}

/* Whether the query's options cull the triangle: integers decide on which side it is hit, and whether the sphere parts
 * from it. */
static int is_culled(int options, const float *in, int count, int begins, caromi_rung *rung)
{
    const int culls_back = (options & MESH_CULL_BACK) != 0,
              skips_parting = (options & MESH_SKIP_PARTING) != 0 && begins;
    if ((options & MESH_SKIP) != 0 && begins)
        return 1;
    if (culls_back || skips_parting)
        *rung = CAROMI_INTEGERS;
    return (culls_back && caromi_exact_is_back(in, count)) || (skips_parting && caromi_exact_is_parting(in, count));
}

/* Whether each difference a - b is a binary32 number, and these differences. Overflow makes the error term NaN. */
static int differences_are_exact(const float *a, const float *b, float difference[3])
{
    int exact = 1;
    for (int axis = 0; axis < 3; axis++) {
        difference[axis] = a[axis] - b[axis];
        const float minus_b = difference[axis] - a[axis];
        exact &= (a[axis] - (difference[axis] - minus_b)) - (b[axis] + minus_b) == 0; /* Knuth's error term */
    }
    return exact;
}

/* Writes the velocities of a pair, whose difference is the relative motion, behind its other numbers; returns how many
 * numbers the pair has. With MESH_ENDS V is the end position, so W is the start; only with an instance's velocity, too,
 * three numbers are left, unless the difference of two is a number. */
static int set_velocities(const caromi_mesh_query *query, float in[IN_SWEEP_CARRIED])
{
    const int by_end = (query->options & MESH_ENDS) != 0;
    float motion[3];
    if ((query->options & MESH_CARRIED) == 0) {
        if (by_end)
            memcpy(in + IN_WX, query->in, 3 * sizeof *in);
        return IN_SWEEP_MOVING;
    }
    if (by_end && !differences_are_exact(query->in + MESH_VX, query->in + MESH_CX, motion)) {
        memcpy(in + IN_WX, query->in, 3 * sizeof *in);
        memcpy(in + IN_UX, query->carried, 3 * sizeof *in);
        return IN_SWEEP_CARRIED;
    }
    if (by_end)
        memcpy(in + IN_VX, motion, sizeof motion);
    memcpy(in + IN_WX, query->carried, 3 * sizeof *in);
    return IN_SWEEP_MOVING;
}

/* Decides a triangle by the second filter or in integers: 1 with time and state if it is hit. */
int caromi_resolve_sweep(const caromi_mesh_query *query, const float *corners, float limit, float *t, int *state,
                         caromi_rung *rung)
{
    float in[IN_SWEEP_CARRIED] = {0};
    caromi_exact_sweep answer;
    memcpy(in, query->in, IN_P0X * sizeof *in);
    memcpy(in + IN_P0X, corners, 9 * sizeof *in);
    const int count = set_velocities(query, in);
    if (count == IN_SWEEP_CARRIED)
        caromi_exact_carried_of(in, limit, &answer);
    else
        caromi_exact_sweep_of(in, CAROMI_EXACT_HIT, limit, &answer);
    if (answer.by_integers)
        *rung = CAROMI_INTEGERS;
    const int begins = answer.state == STATE_TOUCHING || answer.state == STATE_OVERLAPPING;
    *t = begins ? 0 : answer.t_first;
    *state = answer.state;
    if (!begins && (answer.state != STATE_APPROACHING || answer.beyond))
        return 0;
    return !is_culled(query->options, in, count, begins, rung);
}

/* Decides in integers whether a sphere at rest overlaps a triangle. */
static int resolve_overlap(const caromi_mesh_query *query, const float *corners)
{
    float in[IN_OVERLAP];
    int overlap, axes;
    memcpy(in, query->in, IN_OP0X * sizeof *in);
    memcpy(in + IN_OP0X, corners, 9 * sizeof *in);
    caromi_exact_overlap_of(in, &overlap, &axes);
    return overlap == 1;
}

/* Decides one triangle: by its box, by the second filter, in integers. */
int caromi_resolve_hit(const caromi_mesh_query *query, const float *corners, int overlap, mesh_record *hit,
                       caromi_rung *rung)
{
    int state = STATE_MISS;
    hit->t = 0;
    if (*rung < CAROMI_SECOND_FILTER)
        *rung = CAROMI_SECOND_FILTER;
    if (overlap) {
        if (caromi_hit_is_outside(query, corners, 0, 0))
            return 0;
        *rung = CAROMI_INTEGERS;
        return resolve_overlap(query, corners);
    }
    const float until = query->in[MESH_T_MAX];
    const int is_hit = !caromi_hit_is_outside(query, corners, 1, until) &&
                       caromi_resolve_sweep(query, corners, until, &hit->t, &state, rung);
    hit->state = state;
    return is_hit;
}
