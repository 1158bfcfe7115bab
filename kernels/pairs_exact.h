/* SPDX-License-Identifier: MIT */
/* Columns in, floating-point filter, columns out: the exact bodies of sweeps, closest points and contacts. Other pair
 * queries have their bodies in their own headers. Only undecided pairs store NaN, in their first column (or
 * OVERLAP_UNDECIDED if that holds bytes). */
#ifndef CAROM_PAIRS_EXACT_H
#define CAROM_PAIRS_EXACT_H
#include "pairs.h"
#include "closest_exact.h"
#include "contact_exact.h"
#include "sweep_exact.h"
#include "touch_exact.h"

/* WIDE pairs in binary64, from their columns. */
FN residual_pair exact_wide_pair(in_columns in, size_t i, const real *scale, int moving)
{
    const wf zero = w_f(W(0.0));
    const w3 velocity = load3_wide(in, IN_VX, i),
             triangle_velocity = moving ? load3_wide(in, IN_WX, i) : w3_of(zero, zero, zero);
    return residual_pair_of(load3_wide(in, IN_CX, i), w_load(in[IN_R] + i),
                            moving ? w3_sub(velocity, triangle_velocity) : velocity, triangle_velocity,
                            load3_wide(in, IN_P0X, i), load3_wide(in, IN_P1X, i), load3_wide(in, IN_P2X, i),
                            w_load(scale));
}

/* Residuals at the guessed contacts, from the columns in binary64. */
FN void exact_residuals(in_columns in, size_t i, sweep_exact *filter, int want, int moving)
{
    residual_pair wide_pairs[PARTS];
    LANG_UNROLL
    for (int first_lane = 0; first_lane < LANES; first_lane += WIDE)
        wide_pairs[first_lane / WIDE] = exact_wide_pair(in, i + (size_t)first_lane, filter->scale + first_lane, moving);
    sweep_residuals(wide_pairs, filter, want);
}

/* Guesses contacts, proves them, stores the answers. */
FN void exact_sweep(in_columns in, out_columns out, size_t i, int want, int moving)
{
    sweep_exact filter;
    sweep_guess(load_sweep(in, i, moving), want, moving, &filter);
    exact_residuals(in, i, &filter, want, moving);
    store_sweep(out, i, sweep_prove(&filter, want).answer, want);
}

FN void pairs_contact_exact(in_columns in, out_columns out, size_t i)
{
    store_contact(out, i, contact_exact(load_sweep(in, i, TRIANGLE_AT_REST), MOTION_BY_VELOCITY));
}

FN void pairs_contact_ends_exact(in_columns in, out_columns out, size_t i)
{
    store_contact(out, i, contact_exact(load_sweep_ends(in, i), MOTION_BY_END));
}

FN void pairs_contact_carried_exact(in_columns in, out_columns out, size_t i)
{
    const sweep_in pair = load_carried(in, i, load_sweep(in, i, TRIANGLE_AT_REST));
    store_contact(out, i, contact_exact(pair, MOTION_BY_VELOCITY | TRIANGLE_CARRIED));
}

FN void pairs_contact_carried_ends_exact(in_columns in, out_columns out, size_t i)
{
    const sweep_in pair = load_carried(in, i, load_sweep_ends(in, i));
    store_contact(out, i, contact_exact(pair, MOTION_BY_END | TRIANGLE_CARRIED));
}

FN void pairs_closest_exact(in_columns in, out_columns out, size_t i)
{
    store_closest(out, i, closest_exact(load_closest(in, i)));
}

FN void pairs_touch_exact(in_columns in, out_columns out, size_t i)
{
    store_contact(out, i, touch_exact(load_closest(in, i)));
}

/* A kernel for each set of outputs, and for triangles at rest or in motion. */
FN void pairs_sweep_first_exact(in_columns in, out_columns out, size_t i)
{
    exact_sweep(in, out, i, SWEEP_FIRST, TRIANGLE_AT_REST);
}
FN void pairs_sweep_times_exact(in_columns in, out_columns out, size_t i)
{
    exact_sweep(in, out, i, SWEEP_TIMES, TRIANGLE_AT_REST);
}
FN void pairs_sweep_full_exact(in_columns in, out_columns out, size_t i)
{
    exact_sweep(in, out, i, SWEEP_FULL, TRIANGLE_AT_REST);
}
FN void pairs_sweep_first_moving_exact(in_columns in, out_columns out, size_t i)
{
    exact_sweep(in, out, i, SWEEP_FIRST, TRIANGLE_MOVING);
}
FN void pairs_sweep_times_moving_exact(in_columns in, out_columns out, size_t i)
{
    exact_sweep(in, out, i, SWEEP_TIMES, TRIANGLE_MOVING);
}
FN void pairs_sweep_full_moving_exact(in_columns in, out_columns out, size_t i)
{
    exact_sweep(in, out, i, SWEEP_FULL, TRIANGLE_MOVING);
}
#endif
