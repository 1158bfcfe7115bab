/* SPDX-License-Identifier: MIT */
/* Columns: a column is a contiguous array of reals (or of bytes, for states and features); layout.h gives their
 * order. */
#ifndef CAROM_COLUMNS_H
#define CAROM_COLUMNS_H
#include "layout.h"
#include "closest.h"
#include "contact.h"
#include "overlap.h"

typedef G const real *const *in_columns;
typedef G void *const *out_columns;

FN v3 load3(in_columns in, int first, size_t i)
{
    return v3_of(v_load(in[first] + i), v_load(in[first + 1] + i), v_load(in[first + 2] + i));
}
FN void store(out_columns out, int column, size_t i, vf x)
{
    v_store((G real *)out[column] + i, x);
}
FN void store_u8(out_columns out, int column, size_t i, vi x)
{
    v_store_u8((G u8 *)out[column] + i, x);
}
FN void store3(out_columns out, int first, size_t i, v3 x)
{
    store(out, first, i, x.x);
    store(out, first + 1, i, x.y);
    store(out, first + 2, i, x.z);
}

FN sweep_in load_sweep(in_columns in, size_t i, int moving)
{
    sweep_in q;
    q.center = load3(in, IN_CX, i);
    q.radius = v_load(in[IN_R] + i);
    q.velocity = load3(in, IN_VX, i);
    q.p0 = load3(in, IN_P0X, i);
    q.p1 = load3(in, IN_P1X, i);
    q.p2 = load3(in, IN_P2X, i);
    q.w = moving ? load3(in, IN_WX, i) : v3_of(v_f(R(0.0)), v_f(R(0.0)), v_f(R(0.0)));
    return q;
}

FN overlap_in load_overlap(in_columns in, size_t i)
{
    overlap_in q;
    q.center = load3(in, IN_OCX, i);
    q.radius = v_load(in[IN_OR] + i);
    q.p0 = load3(in, IN_OP0X, i);
    q.p1 = load3(in, IN_OP1X, i);
    q.p2 = load3(in, IN_OP2X, i);
    return q;
}

FN closest_in load_closest(in_columns in, size_t i)
{
    closest_in q;
    q.center = load3(in, IN_NCX, i);
    q.p0 = load3(in, IN_NP0X, i);
    q.p1 = load3(in, IN_NP1X, i);
    q.p2 = load3(in, IN_NP2X, i);
    return q;
}

FN void store_sweep(out_columns out, size_t i, sweep_out a, int want)
{
    store(out, OUT_T_FIRST, i, a.t_first);
    if (want != SWEEP_FIRST) {
        store(out, OUT_T_LAST, i, a.t_last);
        store_u8(out, OUT_STATE, i, a.state);
    }
    if (want == SWEEP_FULL) {
        store3(out, OUT_FIRST_X, i, a.point_first);
        store_u8(out, OUT_FIRST_FEATURE, i, a.feature_first);
        store3(out, OUT_LAST_X, i, a.point_last);
        store_u8(out, OUT_LAST_FEATURE, i, a.feature_last);
    }
}

FN void store_contact(out_columns out, size_t i, contact_out a)
{
    store3(out, OUT_POINT_X, i, a.point);
    store3(out, OUT_NORMAL_X, i, a.normal);
    store_u8(out, OUT_FEATURE, i, a.feature);
}

FN void store_closest(out_columns out, size_t i, closest_out a)
{
    store3(out, OUT_CLOSEST_X, i, a.point);
    store_u8(out, OUT_CLOSEST_FEATURE, i, a.feature);
}
#endif
