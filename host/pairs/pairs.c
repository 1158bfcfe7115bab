/* SPDX-License-Identifier: MIT */
/* The pair queries: check the arguments, name the columns, run the batch. All is made from PAIR_QUERIES and the tables
 * of arrays (kernels/pairs.h). */
#include <string.h>

#include "host/core/arrays.h"
#include "host/core/device.h"

/* ---- indices ----------------------------------------------------------------------------------------------------- */

static carom_status check_indices(const carom_pair_indices *x, carom_error *err)
{
    CHECK(caromi_check_optional_uints(&x->a, "indices.a", err));
    CHECK(caromi_check_optional_uints(&x->b, "indices.b", err));
    CHECK(caromi_check_count(x->a_count, "indices.a_count", err));
    return caromi_check_count(x->b_count, "indices.b_count", err);
}

/* Brings indices that lie on a device; what a call that prepares has been given may be undefined. */
static carom_status check_index_values(carom_context *context, const carom_pair_indices *x, const carom_batch *batch,
                                       carom_error *err)
{
    const uint64_t count = batch->count;
    if (x->a.data == NULL && x->b.data == NULL)
        return CAROM_OK;
    CHECK(caromi_staging_show_index(context, x->a.data, err));
    CHECK(caromi_staging_show_index(context, x->b.data, err));
    if (batch->prepare)
        return CAROM_OK;
    CHECK(caromi_check_index_values(&x->a, "indices.a", 0, count, x->a_count, "indices.a_count", "pair", err));
    return caromi_check_index_values(&x->b, "indices.b", 0, count, x->b_count, "indices.b_count", "pair", err);
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
static uint64_t elements(const carom_uints *index, uint64_t indexed, uint64_t count)
{
    return index->data != NULL ? indexed : count;
}

/* ---- what the tables make ---------------------------------------------------------------------------------------- */

/* Of each query: list_*, check_* and columns_*. */
#define LIST_INPUT(kind, name, side, column) CAROMI_READS_##kind(a, #name, &d->name, side##_elements);
#define LIST_OUTPUT(kind, name, column) CAROMI_WRITES_##kind(a, #name, out->name, d->batch.count);
#define CHECK_INPUT(kind, name, side, column) CHECK(CAROMI_CHECK_##kind(&d->name, #name, err));
#define CHECK_OUTPUT(kind, name, column) CHECK(CAROMI_CHECK_OUT_##kind(out->name, #name, err));
#define SET_INPUT(kind, name, side, column) \
    CAROMI_SET_##kind(&b->in[column], &d->name, caromi_index_of(&d->indices.side));
#define SET_OUTPUT(kind, name, column) CAROMI_SET_OUT_##kind(&b->out[column], out->name);
#define PAIR_QUERY(query, INPUTS, OUTPUTS)                                                                             \
    CAROMI_LIST list_##query(caromi_arrays *a, const carom_##query##_pairs_desc *d, const carom_##query##_result *out, \
                             const carom_stats *stats)                                                                 \
    {                                                                                                                  \
        const carom_pair_indices *x = &d->indices;                                                                     \
        const uint64_t a_elements = elements(&x->a, x->a_count, d->batch.count);                                       \
        const uint64_t b_elements = elements(&x->b, x->b_count, d->batch.count);                                       \
        caromi_reads(a, "desc", d, 1, 0, sizeof *d);                                                                   \
        caromi_reads(a, "out", out, 1, 0, sizeof *out);                                                                \
        INPUTS(LIST_INPUT)                                                                                             \
        caromi_reads_uints(a, "indices.a", &x->a, d->batch.count);                                                     \
        caromi_reads_uints(a, "indices.b", &x->b, d->batch.count);                                                     \
        caromi_writes(a, "stats", stats, 1, sizeof *stats);                                                            \
        OUTPUTS(LIST_OUTPUT)                                                                                           \
    }                                                                                                                  \
    static carom_status check_##query(carom_context *context, const carom_##query##_pairs_desc *d,                     \
                                      const carom_##query##_result *out, const carom_stats *stats, carom_error *err)   \
    {                                                                                                                  \
        CHECK(caromi_check_batch(&d->batch, sizeof *d, "carom_" #query "_pairs_desc", 0, err));                        \
        CHECK(caromi_check_desc(out->size, sizeof *out, "carom_" #query "_result", err));                              \
        OUTPUTS(CHECK_OUTPUT)                                                                                          \
        if (d->batch.count == 0)                                                                                       \
            return CAROM_OK;                                                                                           \
        INPUTS(CHECK_INPUT)                                                                                            \
        CHECK(check_indices(&d->indices, err));                                                                        \
        CAROMI_CHECK_CALL(&d->batch, 1, context, err, list_##query, d, out, stats);                                    \
        return check_index_values(context, &d->indices, &d->batch, err);                                               \
    }                                                                                                                  \
    static void columns_##query(const carom_##query##_pairs_desc *d, const carom_##query##_result *out,                \
                                caromi_pair_batch *b)                                                                  \
    {                                                                                                                  \
        memset(b, 0, sizeof *b);                                                                                       \
        b->count = d->batch.count;                                                                                     \
        INPUTS(SET_INPUT)                                                                                              \
        OUTPUTS(SET_OUTPUT)                                                                                            \
    }
PAIR_QUERY(sweep, SWEEP_INPUTS, SWEEP_OUTPUTS)
#define EACH_QUERY(query, kernel, INPUTS, OUTPUTS) PAIR_QUERY(query, INPUTS, OUTPUTS)
PAIR_QUERIES(EACH_QUERY)

/* ---- the calls --------------------------------------------------------------------------------------------------- */

/* The cheapest kernel that computes what the caller wants. */
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

/* kernel_of: the fast kernel of the batch `d`, `out`. */
#define PAIR_CALL(query, kernel_of)                                                                             \
    static carom_status query##_pairs(carom_context *context, const carom_##query##_pairs_desc *d,              \
                                      const carom_##query##_result *out, carom_stats *stats, carom_error *err)  \
    {                                                                                                           \
        CHECK(check_##query(context, d, out, stats, err));                                                      \
        if (d->batch.job != NULL)                                                                               \
            return CAROM_OK;                                                                                    \
        caromi_pair_batch b;                                                                                    \
        columns_##query(d, out, &b);                                                                            \
        b.kernel = kernel_for(kernel_of, d->batch.accuracy);                                                    \
        return caromi_run_pairs(context, &b, &d->batch, stats, err);                                            \
    }                                                                                                           \
    CAROMI_JOB_OF(carom_##query##_pairs)                                                                        \
    carom_status carom_##query##_pairs(carom_context *context, const carom_##query##_pairs_desc *d,             \
                                       const carom_##query##_result *out, carom_stats *stats, carom_error *err) \
    {                                                                                                           \
        CHECK(check_call(context, d, out, stats, err));                                                         \
        IN_BATCH_OF(carom_##query##_pairs, context, context, d, out, stats, err,                                \
                    query##_pairs(context, d, out, stats, err));                                                \
    }
PAIR_CALL(sweep, sweep_kernel(out, d->triangle_velocity.x != NULL))
#define EACH_CALL(query, kernel, INPUTS, OUTPUTS) PAIR_CALL(query, CAROMI_PAIR_##kernel)
PAIR_QUERIES(EACH_CALL)
