/* SPDX-License-Identifier: MIT */
/* Descriptors of queries against a mesh: checked, and as columns. */
#ifndef CAROM_HOST_MESH_QUERY_H
#define CAROM_HOST_MESH_QUERY_H
#include "host/core/arrays.h"
#include "batch.h"

enum { CAROMI_MESH_PIECE = 1 << 18 }; /* queries between two reports of progress */

/* serves: what the call serves of the head besides `select`, as in caromi_check_batch. */
carom_status caromi_check_mesh_sweep(const carom_mesh_sweep_desc *desc, int serves, carom_error *err);
carom_status caromi_check_mesh_overlap(const carom_mesh_overlap_desc *desc, int serves, carom_error *err);
carom_status caromi_check_mesh_closest(const carom_mesh_closest_desc *desc, carom_error *err);
/* Values in arrays that have been checked. None is read to prepare. */
carom_status caromi_check_select(const carom_batch *batch, carom_error *err);
carom_status caromi_check_t_max(const carom_mesh_sweep_desc *desc, carom_error *err);
carom_status caromi_check_max_distance(const carom_mesh_closest_desc *desc, carom_error *err);
/* Inputs, options and the rest of a checked descriptor, as a batch of first hits without outputs. */
void caromi_mesh_sweep_batch(const carom_mesh_sweep_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* Spheres at rest, in the columns of a sweep. */
void caromi_mesh_overlap_batch(const carom_mesh_overlap_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* As a batch of closest triangles without outputs. */
void caromi_mesh_closest_batch(const carom_mesh_closest_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* As a batch of contacts without outputs. */
void caromi_mesh_contacts_batch(const carom_mesh_contacts_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* A list without records, unless the call prepares. */
static inline void caromi_begin_list(const carom_batch *batch, uint64_t *offsets, carom_list_totals *totals)
{
    if (batch->prepare)
        return;
    *totals = (carom_list_totals){.complete = batch->begin};
    if (offsets != NULL)
        offsets[batch->begin] = 0;
}
/* Whether the numbers of a query are valid: all finite, and the radius not negative. */
int caromi_mesh_query_valid(const caromi_in_column *in, uint64_t query);

/* The arrays of these queries, besides mask: X(kind, name, column), in the order of the checks. */
#define CAROMI_MESH_OVERLAP_INPUTS(X) \
    X(points, center, MESH_CX)        \
    X(scalars, radius, MESH_RADIUS)
#define CAROMI_MESH_SWEEP_INPUTS(X)     \
    CAROMI_MESH_OVERLAP_INPUTS(X)       \
    X(one_of_points, velocity, MESH_VX) \
    X(one_of_points, end, MESH_VX)      \
    X(optional_scalars, t_max, MESH_T_MAX)
#define CAROMI_MESH_CLOSEST_INPUTS(X)        \
    X(points, center, MESH_CX)               \
    X(optional_scalars, radius, MESH_RADIUS) \
    X(optional_scalars, max_distance, MESH_MAX_DISTANCE)
#define CAROMI_CONTACT_OUTPUTS(X)           \
    X(array, state, CAROMI_ANSWER_STATE)    \
    X(array, t, CAROMI_ANSWER_KEY)          \
    X(points, point, CAROMI_ANSWER_POINT)   \
    X(points, normal, CAROMI_ANSWER_NORMAL) \
    X(array, feature, CAROMI_ANSWER_FEATURE)
#define CAROMI_HIT_OUTPUTS(X)                  \
    X(array, triangle, CAROMI_ANSWER_TRIANGLE) \
    CAROMI_CONTACT_OUTPUTS(X)
#define CAROMI_LIST_OUTPUTS(X)              \
    X(array, index, CAROMI_ANSWER_TRIANGLE) \
    CAROMI_CONTACT_OUTPUTS(X)
#define CAROMI_CLOSEST_OUTPUTS(X)              \
    X(array, triangle, CAROMI_ANSWER_TRIANGLE) \
    X(array, distance, CAROMI_ANSWER_KEY)      \
    X(points, point, CAROMI_ANSWER_POINT)      \
    X(array, feature, CAROMI_ANSWER_FEATURE)   \
    X(array, depth, CAROMI_ANSWER_DEPTH)

#define CAROMI_CONTACT_LIST_OUTPUTS(X)         \
    X(array, triangle, CAROMI_ANSWER_TRIANGLE) \
    X(array, distance, CAROMI_ANSWER_KEY)      \
    X(array, depth, CAROMI_ANSWER_DEPTH)       \
    X(points, point, CAROMI_ANSWER_POINT)      \
    X(points, normal, CAROMI_ANSWER_NORMAL)    \
    X(array, feature, CAROMI_ANSWER_FEATURE)

/* Rows of such a table in a function with a descriptor d, a result out, and a list a or an array of columns. */
#define CAROMI_LIST_INPUT(kind, name, column) CAROMI_READS_##kind(a, #name, &d->name, caromi_mesh_elements(&d->batch));
#define CAROMI_LIST_OUTPUT(kind, name, column) CAROMI_WRITES_##kind(a, #name, out->name, count);
#define CAROMI_CHECK_INPUT(kind, name, column) CHECK(CAROMI_CHECK_##kind(&d->name, #name, err));
#define CAROMI_CHECK_OUTPUT(kind, name, column) CHECK(CAROMI_CHECK_OUT_##kind(out->name, #name, err));
#define CAROMI_SET_INPUT(kind, name, column) CAROMI_SET_##kind(&in[column], &d->name, index);
#define CAROMI_SET_OUTPUT(kind, name, column) CAROMI_SET_OUT_##kind(&columns[column], out->name);

/* Elements of each input. */
static inline uint64_t caromi_mesh_elements(const carom_batch *batch)
{
    return batch->select.data != NULL ? batch->elements : batch->count;
}
CAROMI_LIST caromi_list_shared(caromi_arrays *a, const carom_batch *batch, const carom_uints *mask)
{
    caromi_reads_uints(a, "batch.select", &batch->select, batch->count);
    caromi_reads_uints(a, "mask", mask, caromi_mesh_elements(batch));
}
CAROMI_LIST caromi_list_sweep(caromi_arrays *a, const carom_mesh_sweep_desc *d)
{
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    CAROMI_MESH_SWEEP_INPUTS(CAROMI_LIST_INPUT)
    caromi_list_shared(a, &d->batch, &d->mask);
}
CAROMI_LIST caromi_list_overlap(caromi_arrays *a, const carom_mesh_overlap_desc *d)
{
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    CAROMI_MESH_OVERLAP_INPUTS(CAROMI_LIST_INPUT)
    caromi_list_shared(a, &d->batch, &d->mask);
}
CAROMI_LIST caromi_list_closest(caromi_arrays *a, const carom_mesh_closest_desc *d)
{
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    CAROMI_MESH_CLOSEST_INPUTS(CAROMI_LIST_INPUT)
    caromi_list_shared(a, &d->batch, &d->mask);
}
#endif
