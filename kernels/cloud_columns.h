/* SPDX-License-Identifier: MIT */
/* Depth and normal of a listed pair of spheres at its hit, in binary64 with bounds on all roundings. A number that the
 * bounds leave undecided is NaN, and integers decide it. One text serves both accuracies and all instruction sets. So
 * its answers, and the set of undecided ones, have the same bits everywhere. docs/spheres.md, section 3, derives the
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

/* A pair at its hit: what it is, and what follows. */
typedef struct columns_in {
    w3 a, b, a_velocity, b_velocity, shift;
    wf radius, ahead; /* radius: the sum of both; ahead: see IN_AHEAD */
} columns_in;
typedef struct columns_out {
    wf depth; /* NaN: undecided */
    w3 normal;
} columns_out;

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

/* Depth and normal of WIDE pairs. */
FN columns_out columns_of(columns_in in)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), radius = in.radius;
    const w3 d = w3_of(columns_offset(in.a.x, in.b.x, in.shift.x), columns_offset(in.a.y, in.b.y, in.shift.y),
                       columns_offset(in.a.z, in.b.z, in.shift.z));
    const w3 v = w3_sub(in.b_velocity, in.a_velocity);
    const wf distance = w_sqrt(w3_dot(d, d));
    const wf depth = radius - distance, depth_error = W_EPS(8.0) * (radius + distance);
    const wf speed = w_sqrt(w3_dot(v, v));
    const wm is_ahead = w_eq(in.ahead, one), at_rest = w_eq(speed, zero);

    /* Offset from A to B, and its length. Where the length is 0 the normal is the direction against the motion. */
    const w3 contact = columns_contact(d, v, speed, distance, radius);
    const wf length = w_sel(is_ahead, radius, distance);
    const wm is_zero = w_eq(length, zero);
    const wf divisor = w_sel(is_zero, w_sel(at_rest, one, -speed), length);
    const w3 normal =
        w3_of(w_sel(is_ahead, contact.x, d.x), w_sel(is_ahead, contact.y, d.y), w_sel(is_ahead, contact.z, d.z));
    columns_out out;
    out.depth = spheres_nearest(depth - depth_error, depth + depth_error);
    out.normal = w3_of(w_sel(is_zero, v.x, normal.x) / divisor, w_sel(is_zero, v.y, normal.y) / divisor,
                       w_sel(is_zero, v.z, normal.z) / divisor);
    return out;
}

/* A number that is no -0 in binary32, to which everything up to half of the least number rounds. */
FN wf columns_number(wf x)
{
    return w_sel(w_le(w_abs(x), w_f(W(0x1p-150))), w_f(W(0.0)), x);
}

/* Stores a column in binary32. */
FN void columns_store(G real *to, wf x)
{
    w_store(to, columns_number(x));
}

/* Columns in, columns out: WIDE pairs from index i on. */
FN void cloud_columns(in_columns in, out_columns out, size_t i)
{
    columns_in pair;
    pair.a = load3_wide(in, IN_AX, i);
    pair.b = load3_wide(in, IN_BX, i);
    pair.a_velocity = load3_wide(in, IN_AVX, i);
    pair.b_velocity = load3_wide(in, IN_BVX, i);
    pair.shift = load3_wide(in, IN_SHIFT_X, i);
    pair.radius = w_load(in[IN_AR] + i) + w_load(in[IN_BR] + i);
    pair.ahead = w_load(in[IN_AHEAD] + i);
    const columns_out found = columns_of(pair);
    columns_store((G real *)out[OUT_PAIR_DEPTH] + i, found.depth);
    columns_store((G real *)out[OUT_PAIR_NORMAL] + i, found.normal.x);
    columns_store((G real *)out[OUT_PAIR_NORMAL + 1] + i, found.normal.y);
    columns_store((G real *)out[OUT_PAIR_NORMAL + 2] + i, found.normal.z);
}
#endif
#endif
