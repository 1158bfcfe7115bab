/* SPDX-License-Identifier: MIT */
/* Columns in, solver, columns out: the body of every pair kernel, for LANES pairs from index i. */
#ifndef CAROM_PAIRS_H
#define CAROM_PAIRS_H
#include "columns.h"
#include "closest.h"
#include "contact.h"
#include "overlap.h"
#include "spheres.h"
#include "sweep.h"

FN void pairs_sweep(in_columns in, out_columns out, size_t i, int want, int moving)
{
    store_sweep(out, i, sweep(load_sweep(in, i, moving), want, moving), want);
}

FN void pairs_overlap(in_columns in, out_columns out, size_t i)
{
    const overlap_out a = overlap(load_overlap(in, i));
    store_u8(out, OUT_OVERLAP, i, a.overlap);
    store_u8(out, OUT_AXES, i, a.axes);
}

FN void pairs_spheres(in_columns in, out_columns out, size_t i)
{
    spheres_in q;
    q.a0 = load3(in, IN_A0X, i);
    q.a1 = load3(in, IN_A1X, i);
    q.radius_a = v_load(in[IN_RA] + i);
    q.b0 = load3(in, IN_B0X, i);
    q.b1 = load3(in, IN_B1X, i);
    q.radius_b = v_load(in[IN_RB] + i);
    const spheres_out a = spheres(q);
    store(out, OUT_U_FIRST, i, a.u_first);
    store(out, OUT_U_LAST, i, a.u_last);
    store_u8(out, OUT_U_STATE, i, a.state);
}

FN void pairs_contact(in_columns in, out_columns out, size_t i)
{
    store_contact(out, i, contact(load_sweep(in, i, 0)));
}

FN void pairs_closest(in_columns in, out_columns out, size_t i)
{
    store_closest(out, i, closest(load_closest(in, i)));
}

/* Columns of a large batch come from memory: prefetches the cache lines of the pair PREFETCH_AHEAD pairs ahead. The
 * CPU path calls it once for a line of reals, a work-item for its own lanes; a column of bytes needs it less often. */
FN void pairs_prefetch(in_columns in, int in_count, out_columns out, int out_count, int bytes, size_t i)
{
    i += PREFETCH_AHEAD;
    LANG_UNROLL
    for (int c = 0; c < in_count; c++)
        v_prefetch(in[c], i * sizeof(real));
    LANG_UNROLL
    for (int c = 0; c < out_count; c++)
        if (!(bytes >> c & 1))
            v_prefetch(out[c], i * sizeof(real));
        else if (i % (4 * PREFETCH_LINE) == 0)
            v_prefetch(out[c], i);
}

/* clang-format off */
/* One body per line of PAIR_KERNELS. */
FN void pairs_sweep_first(in_columns in, out_columns out, size_t i) { pairs_sweep(in, out, i, SWEEP_FIRST, 0); }
FN void pairs_sweep_times(in_columns in, out_columns out, size_t i) { pairs_sweep(in, out, i, SWEEP_TIMES, 0); }
FN void pairs_sweep_full(in_columns in, out_columns out, size_t i) { pairs_sweep(in, out, i, SWEEP_FULL, 0); }
FN void pairs_sweep_first_moving(in_columns in, out_columns out, size_t i) { pairs_sweep(in, out, i, SWEEP_FIRST, 1); }
FN void pairs_sweep_times_moving(in_columns in, out_columns out, size_t i) { pairs_sweep(in, out, i, SWEEP_TIMES, 1); }
FN void pairs_sweep_full_moving(in_columns in, out_columns out, size_t i) { pairs_sweep(in, out, i, SWEEP_FULL, 1); }
/* clang-format on */
#endif
