/* SPDX-License-Identifier: MIT */
#include "query.h"

#include <math.h>
#include <string.h>

#include "host/bvh/triangle.h"

caromi_values caromi_select_of(const carom_batch *batch)
{
    return caromi_indices_below(&batch->select, "batch.select", "query", batch->elements, "batch.elements");
}

carom_status caromi_check_select(const carom_batch *batch, carom_error *err)
{
    const caromi_values select = caromi_select_of(batch);
    return caromi_check_values(NULL, batch, &select, 1, err);
}

carom_status caromi_check_bundles(const carom_batch *batch, uint32_t bundle, uint64_t *extent, carom_error *err)
{
    if (bundle <= 1)
        return CAROM_OK;
    if (batch->count % bundle != 0)
        return caromi_fail_argument(err, "batch.count is %llu; it must be a multiple of bundle, which is %u",
                                    (unsigned long long)batch->count, bundle);
    extent[CAROMI_PER_QUERY] = batch->count / bundle;
    return CAROM_OK;
}

carom_status caromi_check_no_bundles(uint32_t bundle, carom_error *err)
{
    return bundle <= 1 ? CAROM_OK
                       : caromi_fail_argument(err,
                                              "bundle is %u; it must be 0 or 1, as bundles are for any hit, any "
                                              "overlap and closest points",
                                              bundle);
}

uint64_t caromi_mesh_piece(uint32_t bundle)
{
    const uint64_t each = bundle > 1 ? bundle : 1;
    return each < CAROMI_MESH_PIECE ? CAROMI_MESH_PIECE / each * each : each;
}

/* Each query's limit, an optional array, must be in [0, most]; most: 1 or infinity. */
static caromi_values limits_of(const carom_batch *batch, const carom_scalars *limits, const char *name, float most)
{
    caromi_values values = {.name = name, .one = "query", .elements = batch->elements, .are_limits = 1, .most = most};
    caromi_scalars_to_column(limits, caromi_index_of(&batch->select), &values.column);
    return values;
}

static carom_status check_one_motion(const carom_mesh_sweep_desc *desc, carom_error *err)
{
    const int velocity = desc->velocity.x != NULL, end = desc->end.x != NULL;
    return velocity != end
               ? CAROM_OK
               : caromi_fail_argument(err, velocity ? "velocity and end are both given; one of them must be NULL"
                                                    : "velocity is NULL, and so is end; one of them must be given");
}

caromi_values caromi_t_max_of(const carom_mesh_sweep_desc *desc)
{
    return limits_of(&desc->batch, &desc->t_max, "t_max", desc->end.x != NULL ? 1 : INFINITY);
}

caromi_values caromi_max_distance_of(const carom_mesh_closest_desc *desc)
{
    return limits_of(&desc->batch, &desc->max_distance, "max_distance", INFINITY);
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
    batch->options |= caromi_has_masks(mesh) ? MESH_TRIANGLE_MASKS : 0;
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
    if (mesh->scene != NULL && caromi_scene_has_velocities(mesh->scene))
        batch->options |= MESH_CARRIED | (ends && batch->exact ? MESH_ROUND_ONCE : 0);
    batch->bundle = desc->bundle;
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
    batch->bundle = desc->bundle;
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
    batch->bundle = desc->bundle;
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
