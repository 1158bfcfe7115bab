/* SPDX-License-Identifier: MIT */
/* Depth and normal of a listed pair of spheres at its hit, in binary64 with bounds on all roundings. A number that the
 * bounds leave undecided is NaN, and integers decide it. One text serves both accuracies and all instruction sets. So
 * its answers, and the set of undecided ones, have the same bits everywhere. docs/spheres.md, section 8, derives the
 * bounds. */
#ifndef CAROM_CLOUD_COLUMNS_H
#define CAROM_CLOUD_COLUMNS_H
#include "cloud.h"

/* Inputs are those of a pair of a cloud, but the limit's column holds a flag: 1 for a pair whose hit is a first contact
 * ahead, 0 for a pair whose hit is at time 0. */
enum { IN_AHEAD = IN_LIMIT };
enum { OUT_PAIR_DEPTH, OUT_PAIR_NORMAL, OUT_PAIR_COLUMNS = OUT_PAIR_NORMAL + 3 };

#if defined(PAIR_SOLVERS) && defined(CAROM_WIDE_H)
/* to - from + shift, correct to the last place but one however much cancels: the errors of both sums are added back. */
FN wf columns_offset(wf from, wf to, wf shift)
{
    const wf offset = to - from, to_again = offset + from, sum = offset + shift, shift_part = sum - offset;
    const wf first_error = (to - to_again) - (from - (to_again - offset));
    const wf second_error = (offset - (sum - shift_part)) + (shift - shift_part);
    return sum + (second_error + first_error);
}

/* Offset from A to B, shifted. */
FN w3 columns_offset3(in_columns in, size_t i)
{
    const w3 a = load3_wide(in, IN_AX, i), b = load3_wide(in, IN_BX, i), shift = load3_wide(in, IN_SHIFT_X, i);
    return w3_of(columns_offset(a.x, b.x, shift.x), columns_offset(a.y, b.y, shift.y),
                 columns_offset(a.z, b.z, shift.z));
}

/* Offset from A to B at the first contact, whose length is `radius`; NaN if its error bound exceeds 2^-27 of the
 * radius. */
FN w3 columns_contact(w3 d, w3 v, wf speed, wf distance, wf radius)
{
    const w3 nearest_offset = w3_sub_scaled(d, v, w3_dot(d, v) / (speed * speed)); /* at the nearest approach */
    const wf nearest_distance = w_sqrt(w3_dot(nearest_offset, nearest_offset)), nearest_error = W_EPS(32.0) * distance;
    const wf chord2 = (radius - nearest_distance) * (radius + nearest_distance), half_chord = w_sqrt(chord2);
    const wf chord2_error = (W(2.0) * nearest_distance + nearest_error) * nearest_error +
                            W_EPS(16.0) * (radius + nearest_distance) * radius;
    const wf error = nearest_error + chord2_error / half_chord + W_EPS(8.0) * radius;
    const wm certain = w_and(w_lt(W(2.0) * chord2_error, chord2), w_le(error, W(0x1p-27) * radius));
    const w3 offset = w3_sub_scaled(nearest_offset, v, half_chord / speed);
    return w3_mul(offset, w_sel(certain, w_f(W(1.0)), w_f(W(0.0)) / w_f(W(0.0))));
}

/* Stores a column in binary32. */
FN void columns_store(out_columns out, int column, size_t i, wf x)
{
    w_store((G real *)out[column] + i, x + w_f(W(0.0))); /* no -0 */
}

/* Depth and normal of WIDE pairs from index i on. */
FN void cloud_columns(in_columns in, out_columns out, size_t i)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0));
    const w3 d = columns_offset3(in, i), v = w3_sub(load3_wide(in, IN_BVX, i), load3_wide(in, IN_AVX, i));
    const wf radius = w_load(in[IN_AR] + i) + w_load(in[IN_BR] + i), distance = w_sqrt(w3_dot(d, d));
    const wf depth = radius - distance, depth_error = W_EPS(8.0) * (radius + distance);
    const wf speed = w_sqrt(w3_dot(v, v));
    const wm is_ahead = w_eq(w_load(in[IN_AHEAD] + i), one), at_rest = w_eq(speed, zero);

    /* Offset from A to B, and its length. Where the length is 0 the normal is the direction against the motion. */
    const w3 contact = columns_contact(d, v, speed, distance, radius);
    const wf length = w_sel(is_ahead, radius, distance);
    const wm is_zero = w_eq(length, zero);
    const wf divisor = w_sel(is_zero, w_sel(at_rest, one, -speed), length);
    const w3 normal =
        w3_of(w_sel(is_ahead, contact.x, d.x), w_sel(is_ahead, contact.y, d.y), w_sel(is_ahead, contact.z, d.z));
    columns_store(out, OUT_PAIR_DEPTH, i, spheres_nearest(depth - depth_error, depth + depth_error));
    columns_store(out, OUT_PAIR_NORMAL, i, w_sel(is_zero, v.x, normal.x) / divisor);
    columns_store(out, OUT_PAIR_NORMAL + 1, i, w_sel(is_zero, v.y, normal.y) / divisor);
    columns_store(out, OUT_PAIR_NORMAL + 2, i, w_sel(is_zero, v.z, normal.z) / divisor);
}
#endif
#endif
