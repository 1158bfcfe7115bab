/* SPDX-License-Identifier: MIT */
#include "query.h"

#include <math.h>
#include <string.h>

carom_status caromi_check_t_max(const carom_mesh_sweep_desc *d, carom_error *err)
{
    for (uint64_t i = 0; d->t_max.data != NULL && i < (d->t_max.stride == 0 && d->count > 0 ? 1 : d->count); i++) {
        float t;
        memcpy(&t, (const char *)d->t_max.data + i * d->t_max.stride, sizeof t);
        if (!(t >= 0))
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "query %llu: t_max is %g; it must be >= 0",
                               (unsigned long long)i, (double)t);
    }
    return CAROM_OK;
}

carom_status caromi_check_mesh_sweep(const carom_mesh_sweep_desc *d, carom_error *err)
{
    CHECK(caromi_check_desc(d->size, sizeof *d, "carom_mesh_sweep_desc", err));
    CHECK(caromi_check_accuracy(d->accuracy, err));
    if (d->cull_back > 1)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "cull_back is %d; it must be 0 or 1", d->cull_back);
    if (d->start != CAROM_START_REPORT && d->start != CAROM_START_SKIP_PARTING && d->start != CAROM_START_SKIP)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "start is %d; it must be report (0), skip-parting (1) or skip (2)", (int)d->start);
    CHECK(caromi_check_count(d->count, "count", err));
    if (d->count == 0)
        return CAROM_OK;
    CAROMI_MESH_SWEEP_INPUTS(CAROMI_CHECK_INPUT)
    return CAROM_OK;
}

carom_status caromi_check_mesh_overlap(const carom_mesh_overlap_desc *d, carom_error *err)
{
    CHECK(caromi_check_desc(d->size, sizeof *d, "carom_mesh_overlap_desc", err));
    CHECK(caromi_check_accuracy(d->accuracy, err));
    CHECK(caromi_check_count(d->count, "count", err));
    if (d->count == 0)
        return CAROM_OK;
    CAROMI_MESH_OVERLAP_INPUTS(CAROMI_CHECK_INPUT)
    return CAROM_OK;
}

/* One number for every query. */
static caromi_in_column repeat(const float *value)
{
    return (caromi_in_column){value, 0, NULL};
}

static void set_masks(const uint32_t *mask, size_t stride, caromi_mesh_batch *batch)
{
    batch->mask = (caromi_in_column){mask, stride, NULL};
    batch->options |= mask != NULL ? MESH_QUERY_MASKS : 0;
    batch->options |= batch->mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0;
}

void caromi_mesh_sweep_batch(const carom_mesh_sweep_desc *d, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    static const float forever = INFINITY;
    caromi_in_column *in = batch->in;
    *batch = (caromi_mesh_batch){
        .kind = &caromi_first_hit, .mesh = mesh, .count = d->count, .exact = d->accuracy == CAROM_ACCURACY_EXACT};
    set_masks(d->mask, d->mask_stride, batch);
    batch->options |= d->cull_back ? MESH_CULL_BACK : 0;
    batch->options |= d->start == CAROM_START_SKIP           ? MESH_SKIP
                      : d->start == CAROM_START_SKIP_PARTING ? MESH_SKIP_PARTING
                                                             : 0;
    CAROMI_MESH_SWEEP_INPUTS(CAROMI_SET_INPUT)
    in[MESH_T_MAX] = d->t_max.data ? (caromi_in_column){d->t_max.data, d->t_max.stride, NULL} : repeat(&forever);
}

void caromi_mesh_overlap_batch(const carom_mesh_overlap_desc *d, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    static const float none = 0;
    caromi_in_column *in = batch->in;
    *batch = (caromi_mesh_batch){
        .kind = &caromi_first_hit, .mesh = mesh, .count = d->count, .exact = d->accuracy == CAROM_ACCURACY_EXACT};
    set_masks(d->mask, d->mask_stride, batch);
    CAROMI_MESH_OVERLAP_INPUTS(CAROMI_SET_INPUT)
    for (int c = MESH_VX; c < CAROMI_MESH_IN; c++)
        in[c] = repeat(&none);
}

int caromi_mesh_query_valid(const caromi_in_column *in, uint64_t query)
{
    int valid = 1;
    for (int c = 0; c <= MESH_VZ; c++) {
        float x;
        memcpy(&x, (const char *)in[c].base + query * in[c].stride, sizeof x);
        valid = valid && isfinite(x) && (c != MESH_RADIUS || x >= 0);
    }
    return valid;
}
