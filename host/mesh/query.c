/* SPDX-License-Identifier: MIT */
#include "query.h"

#include <math.h>
#include <string.h>

/* Checks the values of batch.select, after the arrays have been checked. */
carom_status caromi_check_select(const carom_batch *batch, carom_error *err)
{
    if (batch->prepare)
        return CAROM_OK;
    return caromi_check_index_values(&batch->select, "batch.select", batch->begin, batch->count, batch->elements,
                                     "batch.elements", "query", err);
}

/* Fails unless each query's limit, an optional array, is in [0, most]; most: 1 or infinity. */
static carom_status check_limits(const carom_batch *batch, const carom_scalars *limits, const char *name, float most,
                                 carom_error *err)
{
    const uint64_t end =
        limits->stride == CAROM_REPEAT && batch->count > batch->begin ? batch->begin + 1 : batch->count;
    caromi_in_column column;
    caromi_scalars_to_column(limits, caromi_index_of(&batch->select), &column);
    for (uint64_t i = batch->begin; limits->data != NULL && !batch->prepare && i < end; i++) {
        float limit;
        memcpy(&limit, caromi_element(&column, i), sizeof limit);
        if (!(limit >= 0 && limit <= most))
            return caromi_fail_argument(err, "query %llu: %s is %g; it must be >= 0%s", (unsigned long long)i, name,
                                        (double)limit, most < INFINITY ? ", and at most 1, when `end` is reached" : "");
    }
    return CAROM_OK;
}

static carom_status check_one_motion(const carom_mesh_sweep_desc *desc, carom_error *err)
{
    const int velocity = desc->velocity.x != NULL, end = desc->end.x != NULL;
    return velocity != end
               ? CAROM_OK
               : caromi_fail_argument(err, velocity ? "velocity and end are both given; one of them must be NULL"
                                                    : "velocity is NULL, and so is end; one of them must be given");
}

carom_status caromi_check_t_max(const carom_mesh_sweep_desc *desc, carom_error *err)
{
    return check_limits(&desc->batch, &desc->t_max, "t_max", desc->end.x != NULL ? 1 : INFINITY, err);
}

carom_status caromi_check_max_distance(const carom_mesh_closest_desc *desc, carom_error *err)
{
    return check_limits(&desc->batch, &desc->max_distance, "max_distance", INFINITY, err);
}

/* Checks the options of a sweep. */
carom_status caromi_check_sweep_options(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_sweep_desc *desc = request->desc;
    (void)extent;
    if (desc->cull_back > 1)
        return caromi_fail_argument(err, "cull_back is %d; it must be 0 or 1", desc->cull_back);
    if (desc->start != CAROM_START_REPORT && desc->start != CAROM_START_SKIP_PARTING && desc->start != CAROM_START_SKIP)
        return caromi_fail_argument(err, "start is %d; it must be report (0), skip-parting (1) or skip (2)",
                                    (int)desc->start);
    return desc->batch.count == 0 ? CAROM_OK : check_one_motion(desc, err);
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

/* Describes a checked descriptor as a batch of first hits without outputs. */
void caromi_mesh_sweep_batch(const carom_mesh_sweep_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    static const float forever = INFINITY, one = 1;
    const int ends = desc->end.x != NULL;
    const caromi_index index = caromi_index_of(&desc->batch.select);
    caromi_in_column *in = batch->in;
    set_batch(&desc->batch, &desc->mask, mesh, batch);
    batch->options |= desc->cull_back ? MESH_CULL_BACK : 0;
    batch->options |= desc->start == CAROM_START_SKIP           ? MESH_SKIP
                      : desc->start == CAROM_START_SKIP_PARTING ? MESH_SKIP_PARTING
                                                                : 0;
    batch->options |= ends ? MESH_ENDS : 0;
    caromi_set_inputs((caromi_members)CAROMI_MEMBERS(caromi_sweep_in), desc, index, index, in);
    if (desc->t_max.data == NULL)
        in[MESH_T_MAX] = repeat(ends ? &one : &forever);
}

/* Describes a checked descriptor of spheres at rest, in the columns of a sweep. */
void caromi_mesh_overlap_batch(const carom_mesh_overlap_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    static const float none = 0;
    const caromi_index index = caromi_index_of(&desc->batch.select);
    caromi_in_column *in = batch->in;
    set_batch(&desc->batch, &desc->mask, mesh, batch);
    caromi_set_inputs((caromi_members)CAROMI_MEMBERS(caromi_overlap_in), desc, index, index, in);
    for (int c = MESH_VX; c < CAROMI_MESH_IN; c++)
        in[c] = repeat(&none);
}

/* Describes a checked descriptor as a batch of closest triangles without outputs. */
void caromi_mesh_closest_batch(const carom_mesh_closest_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    static const float none = 0, anywhere = INFINITY;
    const caromi_index index = caromi_index_of(&desc->batch.select);
    caromi_in_column *in = batch->in;
    set_batch(&desc->batch, &desc->mask, mesh, batch);
    batch->kind = &caromi_closest_triangle;
    caromi_set_inputs((caromi_members)CAROMI_MEMBERS(caromi_closest_in), desc, index, index, in);
    if (desc->radius.data == NULL)
        in[MESH_RADIUS] = repeat(&none);
    if (desc->max_distance.data == NULL)
        in[MESH_MAX_DISTANCE] = repeat(&anywhere);
}

/* Describes a checked descriptor as a batch of contacts without outputs. */
void caromi_mesh_contacts_batch(const carom_mesh_contacts_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch)
{
    const caromi_index index = caromi_index_of(&desc->batch.select);
    caromi_in_column *in = batch->in;
    set_batch(&desc->batch, &desc->mask, mesh, batch);
    batch->kind = &caromi_contact_triangles;
    caromi_set_inputs((caromi_members)CAROMI_MEMBERS(caromi_contacts_in), desc, index, index, in);
    in[MESH_MAX_DISTANCE] = repeat(&desc->margin);
}

/* Whether the numbers of a query are valid: all finite, and the radius not negative. */
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
