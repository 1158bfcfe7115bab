/* SPDX-License-Identifier: MIT */
/* Decides triangles that the floating-point filter of a mesh query leaves undecided: by their boxes, by the second
 * filter or in integers. */
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

/* ---- overlaps ---------------------------------------------------------------------------------------------------- */

int caromi_resolve_overlap(const caromi_mesh_query *query, const float *corners)
{
    float in[IN_OVERLAP];
    int overlap, axes;
    memcpy(in, query->in, IN_OP0X * sizeof *in);
    memcpy(in + IN_OP0X, corners, 9 * sizeof *in);
    caromi_exact_overlap_of(in, &overlap, &axes);
    return overlap == 1;
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

void caromi_undecided_hits_add(caromi_undecided_hits *undecided, const caromi_mesh_query *query, const float *corners,
                               float limit, mesh_record *record, caromi_hit_outcome *outcome)
{
    float in[IN_SWEEP_CARRIED] = {0};
    record->t = 0;
    record->state = STATE_MISS;
    memcpy(in, query->in, IN_P0X * sizeof *in);
    memcpy(in + IN_P0X, corners, 9 * sizeof *in);
    const int numbers = set_velocities(query, in);
    const uint32_t at = undecided->count++;
    for (int column = 0; column < numbers; column++)
        undecided->in[column][at] = in[column];
    undecided->hit[at] = (caromi_undecided_hit){record, outcome, limit, query->options, numbers};
    if (undecided->count == CAROMI_SECOND_SWEEPS)
        caromi_undecided_hits_decide(undecided);
}

/* Decides one sweep; `second` is what the second filter says of it. */
static void decide_hit(const caromi_undecided_hit *hit, const float *in, const caromi_second_answer *second)
{
    caromi_hit_outcome *outcome = hit->outcome;
    caromi_exact_sweep answer;
    if (outcome->one_is_enough && outcome->has_hit)
        return;
    if (hit->numbers == IN_SWEEP_CARRIED)
        caromi_exact_carried_of(in, hit->limit, &answer);
    else
        caromi_exact_sweep_after(in, second, CAROMI_EXACT_HIT, hit->limit, &answer);
    if (answer.by_integers)
        outcome->rung = CAROMI_INTEGERS;
    const int begins = answer.state == STATE_TOUCHING || answer.state == STATE_OVERLAPPING;
    if (!begins && (answer.state != STATE_APPROACHING || answer.beyond))
        return;
    if (is_culled(hit->options, in, hit->numbers, begins, &outcome->rung))
        return;
    hit->record->t = begins ? 0 : answer.t_first;
    hit->record->state = answer.state;
    outcome->has_hit = 1;
}

void caromi_undecided_hits_decide(caromi_undecided_hits *undecided)
{
    float first[CAROMI_SECOND_SWEEPS], last[CAROMI_SECOND_SWEEPS];
    uint8_t state[CAROMI_SECOND_SWEEPS];
    void *answers[OUT_SWEEP_FULL] = {first, last, state};
    if (undecided->count == 0)
        return;
    caromi_second_filter(undecided->isa, undecided->in, answers, undecided->count);
    for (uint32_t i = 0; i < undecided->count; i++) {
        const caromi_second_answer second = {first[i], last[i], state[i]};
        float in[IN_SWEEP_CARRIED];
        for (int column = 0; column < undecided->hit[i].numbers; column++)
            in[column] = undecided->in[column][i];
        decide_hit(&undecided->hit[i], in, &second);
    }
    undecided->count = 0;
}
