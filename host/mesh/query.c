/* SPDX-License-Identifier: MIT */
#include "query.h"

#include <math.h>
#include <string.h>

carom_status caromi_check_select(const carom_batch *b, carom_error *err)
{
    if (b->prepare)
        return CAROM_OK;
    return caromi_check_index_values(&b->select, "batch.select", b->begin, b->count, b->elements, "batch.elements",
                                     "query", err);
}

/* Fails unless each query's limit, an optional array, is in [0, most]; most: 1 or infinity. */
static carom_status check_limits(const carom_batch *b, const carom_scalars *limits, const char *name, float most,
                                 carom_error *err)
{
    const uint64_t end = limits->stride == CAROM_REPEAT && b->count > b->begin ? b->begin + 1 : b->count;
    caromi_in_column column;
    caromi_scalars_to_column(limits, caromi_index_of(&b->select), &column);
    for (uint64_t i = b->begin; limits->data != NULL && !b->prepare && i < end; i++) {
        float limit;
        memcpy(&limit, caromi_element(&column, i), sizeof limit);
        if (!(limit >= 0 && limit <= most))
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "query %llu: %s is %g; it must be >= 0%s",
                               (unsigned long long)i, name, (double)limit,
                               most < INFINITY ? ", and at most 1, when `end` is reached" : "");
    }
    return CAROM_OK;
}

static carom_status check_one_motion(const carom_mesh_sweep_desc *d, carom_error *err)
{
    const int velocity = d->velocity.x != NULL, end = d->end.x != NULL;
    return velocity != end ? CAROM_OK
                           : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                                         velocity ? "velocity and end are both given; one of them must be NULL"
                                                  : "velocity is NULL, and so is end; one of them must be given");
}

carom_status caromi_check_t_max(const carom_mesh_sweep_desc *d, carom_error *err)
{
    return check_limits(&d->batch, &d->t_max, "t_max", d->end.x != NULL ? 1 : INFINITY, err);
}

carom_status caromi_check_max_distance(const carom_mesh_closest_desc *d, carom_error *err)
{
    return check_limits(&d->batch, &d->max_distance, "max_distance", INFINITY, err);
}

carom_status caromi_check_sweep_options(const caromi_request *r, uint64_t *extent, carom_error *err)
{
    const carom_mesh_sweep_desc *d = r->desc;
    (void)extent;
    if (d->cull_back > 1)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "cull_back is %d; it must be 0 or 1", d->cull_back);
    if (d->start != CAROM_START_REPORT && d->start != CAROM_START_SKIP_PARTING && d->start != CAROM_START_SKIP)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "start is %d; it must be report (0), skip-parting (1) or skip (2)", (int)d->start);
    return d->batch.count == 0 ? CAROM_OK : check_one_motion(d, err);
}

/* One number for every query. */
static caromi_in_column repeat(const float *value)
{
    return (caromi_in_column){.base = value};
}

/* What all queries of a mesh share. */
static void set_batch(const carom_batch *b, const carom_uints *mask, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    *batch = (caromi_mesh_batch){.kind = &caromi_first_hit,
                                 .mesh = mesh,
                                 .begin = b->begin,
                                 .count = b->count,
                                 .exact = b->accuracy == CAROM_ACCURACY_EXACT};
    caromi_uints_to_column(mask, caromi_index_of(&b->select), &batch->mask);
    batch->options |= mask->data != NULL ? MESH_QUERY_MASKS : 0;
    batch->options |= mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0;
}

void caromi_mesh_sweep_batch(const carom_mesh_sweep_desc *d, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    static const float forever = INFINITY, one = 1;
    const int ends = d->end.x != NULL;
    const caromi_index index = caromi_index_of(&d->batch.select);
    caromi_in_column *in = batch->in;
    set_batch(&d->batch, &d->mask, mesh, batch);
    batch->options |= d->cull_back ? MESH_CULL_BACK : 0;
    batch->options |= d->start == CAROM_START_SKIP           ? MESH_SKIP
                      : d->start == CAROM_START_SKIP_PARTING ? MESH_SKIP_PARTING
                                                             : 0;
    batch->options |= ends ? MESH_ENDS : 0;
    caromi_set_inputs((caromi_members)CAROMI_MEMBERS(caromi_sweep_in), d, index, index, in);
    if (d->t_max.data == NULL)
        in[MESH_T_MAX] = repeat(ends ? &one : &forever);
}

void caromi_mesh_overlap_batch(const carom_mesh_overlap_desc *d, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    static const float none = 0;
    const caromi_index index = caromi_index_of(&d->batch.select);
    caromi_in_column *in = batch->in;
    set_batch(&d->batch, &d->mask, mesh, batch);
    caromi_set_inputs((caromi_members)CAROMI_MEMBERS(caromi_overlap_in), d, index, index, in);
    for (int c = MESH_VX; c < CAROMI_MESH_IN; c++)
        in[c] = repeat(&none);
}

void caromi_mesh_closest_batch(const carom_mesh_closest_desc *d, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    static const float none = 0, anywhere = INFINITY;
    const caromi_index index = caromi_index_of(&d->batch.select);
    caromi_in_column *in = batch->in;
    set_batch(&d->batch, &d->mask, mesh, batch);
    batch->kind = &caromi_closest_triangle;
    caromi_set_inputs((caromi_members)CAROMI_MEMBERS(caromi_closest_in), d, index, index, in);
    if (d->radius.data == NULL)
        in[MESH_RADIUS] = repeat(&none);
    if (d->max_distance.data == NULL)
        in[MESH_MAX_DISTANCE] = repeat(&anywhere);
}

void caromi_mesh_contacts_batch(const carom_mesh_contacts_desc *d, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    const caromi_index index = caromi_index_of(&d->batch.select);
    caromi_in_column *in = batch->in;
    set_batch(&d->batch, &d->mask, mesh, batch);
    batch->kind = &caromi_contact_triangles;
    caromi_set_inputs((caromi_members)CAROMI_MEMBERS(caromi_contacts_in), d, index, index, in);
    in[MESH_MAX_DISTANCE] = repeat(&d->margin);
}

int caromi_mesh_query_valid(const caromi_in_column *in, uint64_t query)
{
    int valid = 1;
    for (int c = 0; c <= MESH_VZ; c++) {
        float x;
        memcpy(&x, caromi_element(&in[c], query), sizeof x);
        valid = valid && isfinite(x) && (c != MESH_RADIUS || x >= 0);
    }
    return valid;
}
