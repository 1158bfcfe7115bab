/* SPDX-License-Identifier: MIT */
/* Queries about pairs: the table of their kernels, and, where PAIR_SOLVERS is defined, the body of each: columns in,
 * solver, columns out, for LANES pairs from index i. A query that only pairs have is one header with columns, arrays,
 * solver and bodies, like spheres.h. Sweeps, overlaps and contacts have several headers, because meshes share them. */
#ifndef CAROM_PAIRS_H
#define CAROM_PAIRS_H
#include "layout.h"
#include "cloud.h"
#include "spheres.h"

/* clang-format off */
/* Masks of columns: radii among the inputs, bytes among the outputs. Columns not in the masks are reals. */
#define NO_COLUMNS 0
#define RADII_SWEEP (1 << IN_R)
#define RADII_OVERLAP (1 << IN_OR)
#define BYTES_FULL (1 << OUT_STATE | 1 << OUT_FIRST_FEATURE | 1 << OUT_LAST_FEATURE)

/* The pair kernels, once for every backend: X(name, input columns, radii, output columns, bytes). `pairs_name` is the
 * body of each, `pairs_name_exact` that of its exact twin. A twin may leave a pair undecided: its first output is then
 * NaN, or OVERLAP_UNDECIDED if it is a byte. TIME_KERNELS answer only times and states; POINT_KERNELS also points,
 * features or masks. */
#define SWEEP_TIME_KERNELS(X, accuracy) \
    X(sweep_first##accuracy, IN_SWEEP_RESTING, RADII_SWEEP, OUT_SWEEP_FIRST, NO_COLUMNS) \
    X(sweep_times##accuracy, IN_SWEEP_RESTING, RADII_SWEEP, OUT_SWEEP_TIMES, 1 << OUT_STATE) \
    X(sweep_first_moving##accuracy, IN_SWEEP_MOVING, RADII_SWEEP, OUT_SWEEP_FIRST, NO_COLUMNS) \
    X(sweep_times_moving##accuracy, IN_SWEEP_MOVING, RADII_SWEEP, OUT_SWEEP_TIMES, 1 << OUT_STATE)
#define SPHERE_TIME_KERNELS(X, accuracy) \
    X(spheres##accuracy, IN_SPHERES, RADII_SPHERES, OUT_SPHERES, 1 << OUT_U_STATE) \
    X(cloud##accuracy, IN_CLOUD, RADII_CLOUD, OUT_CLOUD, BYTES_CLOUD)
#define TIME_KERNELS(X, accuracy) SWEEP_TIME_KERNELS(X, accuracy) SPHERE_TIME_KERNELS(X, accuracy)
#define POINT_KERNELS(X, accuracy) \
    X(sweep_full##accuracy, IN_SWEEP_RESTING, RADII_SWEEP, OUT_SWEEP_FULL, BYTES_FULL) \
    X(sweep_full_moving##accuracy, IN_SWEEP_MOVING, RADII_SWEEP, OUT_SWEEP_FULL, BYTES_FULL) \
    X(overlap##accuracy, IN_OVERLAP, RADII_OVERLAP, OUT_OVERLAP_ALL, 1 << OUT_OVERLAP | 1 << OUT_AXES) \
    X(contact##accuracy, IN_SWEEP_RESTING, RADII_SWEEP, OUT_CONTACT, 1 << OUT_FEATURE) \
    X(contact_ends##accuracy, IN_SWEEP_RESTING, RADII_SWEEP, OUT_CONTACT, 1 << OUT_FEATURE) \
    X(contact_carried##accuracy, IN_SWEEP_MOVING, RADII_SWEEP, OUT_CONTACT, 1 << OUT_FEATURE) \
    X(contact_carried_ends##accuracy, IN_SWEEP_MOVING, RADII_SWEEP, OUT_CONTACT, 1 << OUT_FEATURE) \
    X(closest##accuracy, IN_CLOSEST, NO_COLUMNS, OUT_CLOSEST, 1 << OUT_CLOSEST_FEATURE) \
    X(touch##accuracy, IN_CLOSEST, NO_COLUMNS, OUT_CONTACT, 1 << OUT_FEATURE)
#define PAIR_KERNELS_OF(X, accuracy) TIME_KERNELS(X, accuracy) POINT_KERNELS(X, accuracy)
#define PAIR_KERNELS(X) PAIR_KERNELS_OF(X, ) PAIR_KERNELS_OF(X, _exact)
/* clang-format on */

/* The queries of the API: X(query, kernel, inputs, outputs). The arrays of a query stand in two tables: X(kind, name,
 * side, column) for each input, `side` being the index of a pair that selects its elements, and X(kind, name, column)
 * for each output. The names are those of carom_QUERY_pairs_desc and carom_QUERY_result, the order is that of the
 * checks, the column is the first one of the array. host/pairs/pairs.c makes the calls. A sweep has several kernels:
 * host/pairs/pairs.c chooses. */
#define PAIR_QUERIES(X)                                  \
    X(overlap, overlap, OVERLAP_INPUTS, OVERLAP_OUTPUTS) \
    X(sphere_sweep, spheres, SPHERE_INPUTS, SPHERE_OUTPUTS)

#define SWEEP_INPUTS(X)           \
    X(points, center, a, IN_CX)   \
    X(scalars, radius, a, IN_R)   \
    X(points, velocity, a, IN_VX) \
    X(points, p0, b, IN_P0X)      \
    X(points, p1, b, IN_P1X)      \
    X(points, p2, b, IN_P2X)      \
    X(optional_points, triangle_velocity, b, IN_WX)
#define SWEEP_OUTPUTS(X)                       \
    X(array, state, OUT_STATE)                 \
    X(array, t_first, OUT_T_FIRST)             \
    X(array, t_last, OUT_T_LAST)               \
    X(points, point_first, OUT_FIRST_X)        \
    X(points, point_last, OUT_LAST_X)          \
    X(array, feature_first, OUT_FIRST_FEATURE) \
    X(array, feature_last, OUT_LAST_FEATURE)

#define OVERLAP_INPUTS(X)        \
    X(points, center, a, IN_OCX) \
    X(scalars, radius, a, IN_OR) \
    X(points, p0, b, IN_OP0X)    \
    X(points, p1, b, IN_OP1X)    \
    X(points, p2, b, IN_OP2X)
#define OVERLAP_OUTPUTS(X)         \
    X(array, overlap, OUT_OVERLAP) \
    X(array, axes, OUT_AXES)

#ifdef PAIR_SOLVERS
#include "columns.h"
#include "closest.h"
#include "contact.h"
#include "overlap.h"
#include "sweep.h"
#include "touch.h"

/* Loads LANES sweeps from their columns. */
FN sweep_in load_sweep(in_columns in, size_t i, int moving)
{
    sweep_in pair;
    pair.center = load3(in, IN_CX, i);
    pair.radius = v_load(in[IN_R] + i);
    pair.velocity = load3(in, IN_VX, i);
    pair.p0 = load3(in, IN_P0X, i);
    pair.p1 = load3(in, IN_P1X, i);
    pair.p2 = load3(in, IN_P2X, i);
    pair.w = moving ? load3(in, IN_WX, i) : v3_of(v_f(R(0.0)), v_f(R(0.0)), v_f(R(0.0)));
    pair.u = v3_of(v_f(R(0.0)), v_f(R(0.0)), v_f(R(0.0)));
    return pair;
}

/* Loads a sweep whose velocity columns hold the centres at time 1. */
FN sweep_in load_sweep_ends(in_columns in, size_t i)
{
    sweep_in pair = load_sweep(in, i, TRIANGLE_AT_REST);
    pair.w = pair.center;
    return pair;
}

/* Adds the velocities of instances, in the columns of a triangle's. */
FN sweep_in load_carried(in_columns in, size_t i, sweep_in pair)
{
    pair.u = load3(in, IN_WX, i);
    return pair;
}

/* Loads LANES centres and triangles from their columns. */
FN closest_in load_closest(in_columns in, size_t i)
{
    closest_in query;
    query.center = load3(in, IN_NCX, i);
    query.p0 = load3(in, IN_NP0X, i);
    query.p1 = load3(in, IN_NP1X, i);
    query.p2 = load3(in, IN_NP2X, i);
    return query;
}

/* Stores the columns that `want` names. */
FN void store_sweep(out_columns out, size_t i, sweep_out answer, int want)
{
    store(out, OUT_T_FIRST, i, answer.t_first);
    if (want != SWEEP_FIRST) {
        store(out, OUT_T_LAST, i, answer.t_last);
        store_u8(out, OUT_STATE, i, answer.state);
    }
    if (want == SWEEP_FULL) {
        store3(out, OUT_FIRST_X, i, answer.point_first);
        store_u8(out, OUT_FIRST_FEATURE, i, answer.feature_first);
        store3(out, OUT_LAST_X, i, answer.point_last);
        store_u8(out, OUT_LAST_FEATURE, i, answer.feature_last);
    }
}

/* Stores point, normal and feature. */
FN void store_contact(out_columns out, size_t i, contact_out a)
{
    store3(out, OUT_POINT_X, i, a.point);
    store3(out, OUT_NORMAL_X, i, a.normal);
    store_u8(out, OUT_FEATURE, i, a.feature);
}

/* Stores point and feature. */
FN void store_closest(out_columns out, size_t i, closest_out a)
{
    store3(out, OUT_CLOSEST_X, i, a.point);
    store_u8(out, OUT_CLOSEST_FEATURE, i, a.feature);
}

FN void pairs_sweep(in_columns in, out_columns out, size_t i, int want, int moving)
{
    store_sweep(out, i, sweep(load_sweep(in, i, moving), want, moving), want);
}

FN void pairs_contact(in_columns in, out_columns out, size_t i)
{
    store_contact(out, i, contact(load_sweep(in, i, TRIANGLE_AT_REST), MOTION_BY_VELOCITY));
}

FN void pairs_contact_ends(in_columns in, out_columns out, size_t i)
{
    store_contact(out, i, contact(load_sweep_ends(in, i), MOTION_BY_END));
}

FN void pairs_contact_carried(in_columns in, out_columns out, size_t i)
{
    const sweep_in pair = load_carried(in, i, load_sweep(in, i, TRIANGLE_AT_REST));
    store_contact(out, i, contact(pair, MOTION_BY_VELOCITY | TRIANGLE_CARRIED));
}

FN void pairs_contact_carried_ends(in_columns in, out_columns out, size_t i)
{
    const sweep_in pair = load_carried(in, i, load_sweep_ends(in, i));
    store_contact(out, i, contact(pair, MOTION_BY_END | TRIANGLE_CARRIED));
}

FN void pairs_closest(in_columns in, out_columns out, size_t i)
{
    store_closest(out, i, closest(load_closest(in, i)));
}

FN void pairs_touch(in_columns in, out_columns out, size_t i)
{
    store_contact(out, i, touch(load_closest(in, i)));
}

/* Prefetches the cache lines of the pair PREFETCH_AHEAD pairs ahead, because columns of a large batch come from memory.
 * The CPU path calls it once for each line of reals, a work-item for its own lanes. Columns of bytes are prefetched
 * less often. */
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

/* A kernel for each set of outputs, and for triangles at rest or in motion. */
FN void pairs_sweep_first(in_columns in, out_columns out, size_t i)
{
    pairs_sweep(in, out, i, SWEEP_FIRST, TRIANGLE_AT_REST);
}
FN void pairs_sweep_times(in_columns in, out_columns out, size_t i)
{
    pairs_sweep(in, out, i, SWEEP_TIMES, TRIANGLE_AT_REST);
}
FN void pairs_sweep_full(in_columns in, out_columns out, size_t i)
{
    pairs_sweep(in, out, i, SWEEP_FULL, TRIANGLE_AT_REST);
}
FN void pairs_sweep_first_moving(in_columns in, out_columns out, size_t i)
{
    pairs_sweep(in, out, i, SWEEP_FIRST, TRIANGLE_MOVING);
}
FN void pairs_sweep_times_moving(in_columns in, out_columns out, size_t i)
{
    pairs_sweep(in, out, i, SWEEP_TIMES, TRIANGLE_MOVING);
}
FN void pairs_sweep_full_moving(in_columns in, out_columns out, size_t i)
{
    pairs_sweep(in, out, i, SWEEP_FULL, TRIANGLE_MOVING);
}
#endif
#endif
