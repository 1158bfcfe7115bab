/* SPDX-License-Identifier: MIT */
/* The three pair queries: check the arguments, name the columns, run the batch.
 *
 * The arrays of a query stand in two tables: X(kind, name, side, column) for each input, `side` being the index of a
 * pair that selects its elements, and X(kind, name, column) for each output; the order is that of the checks. Checks,
 * the list of arrays that must not lie over each other, and the columns of the batch are made from them by
 * PAIR_QUERY. */
#include <string.h>

#include "arrays.h"
#include "host/opencl/opencl.h"

#define SWEEP_INPUTS(X)                \
    X(points, center, sphere, IN_CX)   \
    X(scalars, radius, sphere, IN_R)   \
    X(points, velocity, sphere, IN_VX) \
    X(points, p0, triangle, IN_P0X)    \
    X(points, p1, triangle, IN_P1X)    \
    X(points, p2, triangle, IN_P2X)    \
    X(optional_points, triangle_velocity, triangle, IN_WX)
#define SWEEP_OUTPUTS(X)                       \
    X(array, state, OUT_STATE)                 \
    X(array, t_first, OUT_T_FIRST)             \
    X(array, t_last, OUT_T_LAST)               \
    X(points, point_first, OUT_FIRST_X)        \
    X(points, point_last, OUT_LAST_X)          \
    X(array, feature_first, OUT_FIRST_FEATURE) \
    X(array, feature_last, OUT_LAST_FEATURE)

#define OVERLAP_INPUTS(X)             \
    X(points, center, sphere, IN_OCX) \
    X(scalars, radius, sphere, IN_OR) \
    X(points, p0, triangle, IN_OP0X)  \
    X(points, p1, triangle, IN_OP1X)  \
    X(points, p2, triangle, IN_OP2X)
#define OVERLAP_OUTPUTS(X)         \
    X(array, overlap, OUT_OVERLAP) \
    X(array, axes, OUT_AXES)

/* The second sphere is selected by indices.triangle. */
#define SPHERE_INPUTS(X)                \
    X(points, a0, sphere, IN_A0X)       \
    X(points, a1, sphere, IN_A1X)       \
    X(scalars, radius_a, sphere, IN_RA) \
    X(points, b0, triangle, IN_B0X)     \
    X(points, b1, triangle, IN_B1X)     \
    X(scalars, radius_b, triangle, IN_RB)
#define SPHERE_OUTPUTS(X)          \
    X(array, state, OUT_U_STATE)   \
    X(array, u_first, OUT_U_FIRST) \
    X(array, u_last, OUT_U_LAST)

/* ---- indices ----------------------------------------------------------------------------------------------------- */

static carom_status check_index_values(const carom_pair_indices *x, uint64_t count, carom_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        if (x->sphere[i] >= x->sphere_count)
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "pair %llu: sphere index %u, but there are %llu",
                               (unsigned long long)i, x->sphere[i], (unsigned long long)x->sphere_count);
        if (x->triangle[i] >= x->triangle_count)
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "pair %llu: triangle index %u, but there are %llu",
                               (unsigned long long)i, x->triangle[i], (unsigned long long)x->triangle_count);
    }
    return CAROM_OK;
}

static carom_status check_indices(const carom_pair_indices *x, carom_error *err)
{
    if (x->sphere == NULL && x->triangle == NULL)
        return CAROM_OK;
    if (x->sphere == NULL || x->triangle == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "indices: give both sphere and triangle, or neither");
    CHECK(caromi_check_count(x->sphere_count, "indices.sphere_count", err));
    return caromi_check_count(x->triangle_count, "indices.triangle_count", err);
}

static carom_status check_call(const carom_context *context, const void *desc, const void *out,
                               const carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    return caromi_check_stats(stats, err);
}

/* Of an array that is indexed, or not. */
static uint64_t elements(const uint32_t *index, uint64_t indexed, uint64_t count)
{
    return index != NULL ? indexed : count;
}

/* ---- what the tables make ---------------------------------------------------------------------------------------- */

/* Of each query: list_*, check_* and columns_*. */
#define LIST_INPUT(kind, name, side, column) CAROMI_READS_##kind(a, #name, &d->name, side##_elements);
#define LIST_OUTPUT(kind, name, column) CAROMI_WRITES_##kind(a, #name, out->name, d->count);
#define CHECK_INPUT(kind, name, side, column) CHECK(CAROMI_CHECK_##kind(&d->name, #name, err));
#define CHECK_OUTPUT(kind, name, column) CHECK(CAROMI_CHECK_OUT_##kind(out->name, #name, err));
#define SET_INPUT(kind, name, side, column) CAROMI_SET_##kind(&b->in[column], &d->name, d->indices.side);
#define SET_OUTPUT(kind, name, column) CAROMI_SET_OUT_##kind(&b->out[column], out->name);
#define PAIR_QUERY(query, INPUTS, OUTPUTS)                                                                             \
    CAROMI_LIST list_##query(caromi_arrays *a, const carom_##query##_pairs_desc *d, const carom_##query##_result *out, \
                             const carom_stats *stats)                                                                 \
    {                                                                                                                  \
        const carom_pair_indices *x = &d->indices;                                                                     \
        const uint64_t sphere_elements = elements(x->sphere, x->sphere_count, d->count);                               \
        const uint64_t triangle_elements = elements(x->triangle, x->triangle_count, d->count);                         \
        caromi_reads(a, "desc", d, 1, 0, sizeof *d);                                                                   \
        caromi_reads(a, "out", out, 1, 0, sizeof *out);                                                                \
        INPUTS(LIST_INPUT)                                                                                             \
        caromi_reads(a, "indices.sphere", x->sphere, d->count, sizeof(uint32_t), sizeof(uint32_t));                    \
        caromi_reads(a, "indices.triangle", x->triangle, d->count, sizeof(uint32_t), sizeof(uint32_t));                \
        caromi_writes(a, "stats", stats, 1, sizeof *stats);                                                            \
        OUTPUTS(LIST_OUTPUT)                                                                                           \
    }                                                                                                                  \
    static carom_status check_##query(const carom_##query##_pairs_desc *d, const carom_##query##_result *out,          \
                                      const carom_stats *stats, carom_error *err)                                      \
    {                                                                                                                  \
        CHECK(caromi_check_desc(d->size, sizeof *d, "carom_" #query "_pairs_desc", err));                              \
        CHECK(caromi_check_accuracy(d->accuracy, err));                                                                \
        OUTPUTS(CHECK_OUTPUT)                                                                                          \
        CHECK(caromi_check_count(d->count, "count", err));                                                             \
        if (d->count == 0)                                                                                             \
            return CAROM_OK;                                                                                           \
        INPUTS(CHECK_INPUT)                                                                                            \
        CHECK(check_indices(&d->indices, err));                                                                        \
        CAROMI_CHECK_ARRAYS(err, list_##query, d, out, stats);                                                         \
        return d->indices.sphere != NULL ? check_index_values(&d->indices, d->count, err) : CAROM_OK;                  \
    }                                                                                                                  \
    static void columns_##query(const carom_##query##_pairs_desc *d, const carom_##query##_result *out,                \
                                caromi_pair_batch *b)                                                                  \
    {                                                                                                                  \
        memset(b, 0, sizeof *b);                                                                                       \
        b->count = d->count;                                                                                           \
        INPUTS(SET_INPUT)                                                                                              \
        OUTPUTS(SET_OUTPUT)                                                                                            \
    }
PAIR_QUERY(sweep, SWEEP_INPUTS, SWEEP_OUTPUTS)
PAIR_QUERY(overlap, OVERLAP_INPUTS, OVERLAP_OUTPUTS)
PAIR_QUERY(sphere, SPHERE_INPUTS, SPHERE_OUTPUTS)

/* ---- the calls --------------------------------------------------------------------------------------------------- */

/* The cheapest kernel that answers what is asked. */
static enum caromi_pair_kernel sweep_kernel(const carom_sweep_result *out, int moving)
{
    const int full = out->point_first.x || out->point_last.x || out->feature_first || out->feature_last;
    const int times = out->state || out->t_last;
    if (moving)
        return full    ? CAROMI_PAIR_sweep_full_moving
               : times ? CAROMI_PAIR_sweep_times_moving
                       : CAROMI_PAIR_sweep_first_moving;
    return full ? CAROMI_PAIR_sweep_full : times ? CAROMI_PAIR_sweep_times : CAROMI_PAIR_sweep_first;
}

static enum caromi_pair_kernel kernel_for(enum caromi_pair_kernel kernel, carom_accuracy accuracy)
{
    return accuracy == CAROM_ACCURACY_EXACT ? caromi_exact_twin(kernel) : kernel;
}

static carom_status sweep_pairs(carom_context *context, const carom_sweep_pairs_desc *d, const carom_sweep_result *out,
                                carom_stats *stats, carom_error *err)
{
    CHECK(check_call(context, d, out, stats, err));
    CHECK(check_sweep(d, out, stats, err));
    caromi_pair_batch b;
    columns_sweep(d, out, &b);
    b.kernel = kernel_for(sweep_kernel(out, d->triangle_velocity.x != NULL), d->accuracy);
    return caromi_run_pairs(context, &b, &d->progress, stats, err);
}

carom_status carom_sweep_pairs(carom_context *context, const carom_sweep_pairs_desc *d, const carom_sweep_result *out,
                               carom_stats *stats, carom_error *err)
{
    IN_FLOAT_MODE(sweep_pairs(context, d, out, stats, err));
}

static carom_status overlap_pairs(carom_context *context, const carom_overlap_pairs_desc *d,
                                  const carom_overlap_result *out, carom_stats *stats, carom_error *err)
{
    CHECK(check_call(context, d, out, stats, err));
    CHECK(check_overlap(d, out, stats, err));
    caromi_pair_batch b;
    columns_overlap(d, out, &b);
    b.kernel = kernel_for(CAROMI_PAIR_overlap, d->accuracy);
    return caromi_run_pairs(context, &b, &d->progress, stats, err);
}

carom_status carom_overlap_pairs(carom_context *context, const carom_overlap_pairs_desc *d,
                                 const carom_overlap_result *out, carom_stats *stats, carom_error *err)
{
    IN_FLOAT_MODE(overlap_pairs(context, d, out, stats, err));
}

static carom_status sphere_pairs(carom_context *context, const carom_sphere_pairs_desc *d,
                                 const carom_sphere_result *out, carom_stats *stats, carom_error *err)
{
    CHECK(check_call(context, d, out, stats, err));
    CHECK(check_sphere(d, out, stats, err));
    caromi_pair_batch b;
    columns_sphere(d, out, &b);
    b.kernel = kernel_for(CAROMI_PAIR_spheres, d->accuracy);
    return caromi_run_pairs(context, &b, &d->progress, stats, err);
}

carom_status carom_sphere_pairs(carom_context *context, const carom_sphere_pairs_desc *d,
                                const carom_sphere_result *out, carom_stats *stats, carom_error *err)
{
    IN_FLOAT_MODE(sphere_pairs(context, d, out, stats, err));
}
