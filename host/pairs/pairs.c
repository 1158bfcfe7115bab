/* SPDX-License-Identifier: MIT */
/* The pair queries: handlers made from PAIR_QUERIES and the tables of arrays (kernels/pairs.h). */
#include "calls/pairs.h"
#include "host/core/device.h"
#include "host/core/handler.h"
#include "host/core/values.h"

/* ---- indices ----------------------------------------------------------------------------------------------------- */

/* Checks the indices; they tell how many elements the inputs have. */
static carom_status check_indices(const carom_pair_indices *indices, uint64_t *extent, carom_error *err)
{
    if (extent[CAROMI_PER_QUERY] == 0)
        return CAROM_OK;
    CHECK(caromi_check_optional_uints(&indices->a, "indices.a", err));
    CHECK(caromi_check_optional_uints(&indices->b, "indices.b", err));
    if (indices->a.data != NULL) {
        CHECK(caromi_check_count(indices->a_count, "indices.a_count", err));
        extent[CAROMI_PER_A] = indices->a_count;
    }
    if (indices->b.data != NULL) {
        CHECK(caromi_check_count(indices->b_count, "indices.b_count", err));
        extent[CAROMI_PER_B] = indices->b_count;
    }
    return CAROM_OK;
}

CAROMI_LIST list_indices(caromi_arrays *arrays, const carom_pair_indices *indices, uint64_t count)
{
    caromi_reads_uints(arrays, "indices.a", &indices->a, count);
    caromi_reads_uints(arrays, "indices.b", &indices->b, count);
}

/* Checks indices, on a device where they lie there; those of a call that prepares may be undefined. */
static carom_status check_index_values(carom_context *context, const carom_pair_indices *indices,
                                       const carom_batch *batch, carom_error *err)
{
    if (batch->count == 0 || (indices->a.data == NULL && indices->b.data == NULL))
        return CAROM_OK;
    const caromi_values values[] = {
        caromi_indices_below(&indices->a, "indices.a", "pair", indices->a_count, "indices.a_count"),
        caromi_indices_below(&indices->b, "indices.b", "pair", indices->b_count, "indices.b_count")};
    return caromi_check_values(context, batch, values, 2, err);
}

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

/* kernel_of: the fast kernel of the call `d`, `out`. */
#define PAIR_QUERY(query, INPUTS, OUTPUTS, kernel_of)                                                                 \
    static carom_status check_##query(const caromi_request *r, uint64_t *extent, carom_error *err)                    \
    {                                                                                                                 \
        return check_indices(&((const carom_##query##_pairs_desc *)r->desc)->indices, extent, err);                   \
    }                                                                                                                 \
    static inline void list_##query(caromi_arrays *a, const caromi_request *r)                                        \
    {                                                                                                                 \
        const carom_##query##_pairs_desc *d = r->desc;                                                                \
        list_indices(a, &d->indices, d->batch.count);                                                                 \
    }                                                                                                                 \
    static carom_status run_##query(const caromi_request *r, carom_error *err)                                        \
    {                                                                                                                 \
        const carom_##query##_pairs_desc *d = r->desc;                                                                \
        const carom_##query##_result *out = r->out;                                                                   \
        CHECK(check_index_values(r->subject, &d->indices, &d->batch, err));                                           \
        const carom_context *context = r->subject;                                                                    \
        caromi_pair_batch b = {                                                                                       \
            .count = d->batch.count, .kernel = kernel_for(kernel_of, d->batch.accuracy), .isa = context->isa};        \
        caromi_set_inputs(caromi_type_of_##query##_pairs()->in, d, caromi_index_of(&d->indices.a),                    \
                          caromi_index_of(&d->indices.b), b.in);                                                      \
        caromi_set_outputs(caromi_type_of_##query##_pairs()->out, out, b.out);                                        \
        return caromi_run_pairs(r->subject, &b, &d->batch, r->stats, err);                                            \
    }                                                                                                                 \
    static const caromi_handler handler_##query = {.check = check_##query, .more = list_##query, .run = run_##query}; \
    carom_status carom_##query##_pairs(carom_context *context, const carom_##query##_pairs_desc *d,                   \
                                       const carom_##query##_result *out, carom_stats *stats, carom_error *err)       \
    {                                                                                                                 \
        CHECK_NOT_NULL(context, "context", err);                                                                      \
        return caromi_answer(caromi_type_of_##query##_pairs(), &handler_##query, context,                             \
                             &(caromi_request){context, d, out, CAROMI_NO_WHICH, stats}, err);                        \
    }
PAIR_QUERY(sweep, SWEEP_INPUTS, SWEEP_OUTPUTS, sweep_kernel(out, d->triangle_velocity.x != NULL))
#define EACH_QUERY(query, kernel, INPUTS, OUTPUTS) PAIR_QUERY(query, INPUTS, OUTPUTS, CAROMI_PAIR_##kernel)
PAIR_QUERIES(EACH_QUERY)
