/* SPDX-License-Identifier: MIT */
/* Descriptors of queries against a mesh: checked, and as columns. */
#ifndef CAROM_HOST_MESH_QUERY_H
#define CAROM_HOST_MESH_QUERY_H
#include "host/core/row.h"
#include "batch.h"

enum { CAROMI_MESH_PIECE = 1 << 18 }; /* queries between two reports of progress */

/* The options of a sweep, as a row of calls checks them. */
carom_status caromi_check_sweep_options(const caromi_request *request, uint64_t *extent, carom_error *err);
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
/* Whether the numbers of a query are valid: all finite, and the radius not negative. */
int caromi_mesh_query_valid(const caromi_in_column *in, uint64_t query);

/* The members of descriptors and results, for rows of calls. */
#define CAROMI_MESH_VIEW(type, member, kind, column, needed) \
    CAROMI_VIEW(type, member, kind, CAROMI_PER_ELEMENT, column, needed)
#define CAROMI_MESH_MASK(type) CAROMI_MESH_VIEW(type, mask, CAROMI_UINTS, CAROMI_NO_COLUMN, 0)
static const caromi_member caromi_sweep_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, center, CAROMI_POINTS, MESH_CX, 1),
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, radius, CAROMI_SCALARS, MESH_RADIUS, 1),
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, velocity, CAROMI_POINTS, MESH_VX, 0), /* one of these two is given */
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, end, CAROMI_POINTS, MESH_VX, 0),
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, t_max, CAROMI_SCALARS, MESH_T_MAX, 0),
    CAROMI_MESH_MASK(carom_mesh_sweep_desc),
};
static const caromi_member caromi_overlap_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_overlap_desc, center, CAROMI_POINTS, MESH_CX, 1),
    CAROMI_MESH_VIEW(carom_mesh_overlap_desc, radius, CAROMI_SCALARS, MESH_RADIUS, 1),
    CAROMI_MESH_MASK(carom_mesh_overlap_desc),
};
static const caromi_member caromi_closest_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_closest_desc, center, CAROMI_POINTS, MESH_CX, 1),
    CAROMI_MESH_VIEW(carom_mesh_closest_desc, radius, CAROMI_SCALARS, MESH_RADIUS, 0),
    CAROMI_MESH_VIEW(carom_mesh_closest_desc, max_distance, CAROMI_SCALARS, MESH_MAX_DISTANCE, 0),
    CAROMI_MESH_MASK(carom_mesh_closest_desc),
};
static const caromi_member caromi_contacts_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_contacts_desc, center, CAROMI_POINTS, MESH_CX, 1),
    CAROMI_MESH_VIEW(carom_mesh_contacts_desc, radius, CAROMI_SCALARS, MESH_RADIUS, 1),
    CAROMI_MESH_MASK(carom_mesh_contacts_desc),
    CAROMI_MEMBER(carom_mesh_contacts_desc, flat, CAROMI_NUMBER, CAROMI_SINGLE, CAROMI_NO_COLUMN, sizeof(double), 0),
};
/* Of hits: but for the triangle, alike in a result and a list. */
#define CAROMI_HIT_MEMBERS(type, extent)                                                                        \
    CAROMI_FILLED(type, state, extent, CAROMI_ANSWER_STATE), CAROMI_FILLED(type, t, extent, CAROMI_ANSWER_KEY), \
        CAROMI_FILLED_POINTS(type, point, extent, CAROMI_ANSWER_POINT),                                         \
        CAROMI_FILLED_POINTS(type, normal, extent, CAROMI_ANSWER_NORMAL),                                       \
        CAROMI_FILLED(type, feature, extent, CAROMI_ANSWER_FEATURE)
static const caromi_member caromi_hit_out[] = {
    CAROMI_FILLED(carom_mesh_hit_result, triangle, CAROMI_PER_QUERY, CAROMI_ANSWER_TRIANGLE),
    CAROMI_HIT_MEMBERS(carom_mesh_hit_result, CAROMI_PER_QUERY),
};
static const caromi_member caromi_hit_list_out[] = {
    CAROMI_FILLED(carom_hit_list, offsets, CAROMI_PER_OFFSET, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_hit_list, query, CAROMI_PER_RECORD, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_hit_list, index, CAROMI_PER_RECORD, CAROMI_ANSWER_TRIANGLE),
    CAROMI_HIT_MEMBERS(carom_hit_list, CAROMI_PER_RECORD),
};
static const caromi_member caromi_closest_out[] = {
    CAROMI_FILLED(carom_mesh_closest_result, triangle, CAROMI_PER_QUERY, CAROMI_ANSWER_TRIANGLE),
    CAROMI_FILLED(carom_mesh_closest_result, distance, CAROMI_PER_QUERY, CAROMI_ANSWER_KEY),
    CAROMI_FILLED_POINTS(carom_mesh_closest_result, point, CAROMI_PER_QUERY, CAROMI_ANSWER_POINT),
    CAROMI_FILLED(carom_mesh_closest_result, feature, CAROMI_PER_QUERY, CAROMI_ANSWER_FEATURE),
    CAROMI_FILLED(carom_mesh_closest_result, depth, CAROMI_PER_QUERY, CAROMI_ANSWER_DEPTH),
};
static const caromi_member caromi_contacts_out[] = {
    CAROMI_FILLED(carom_contact_list, offsets, CAROMI_PER_OFFSET, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_contact_list, query, CAROMI_PER_RECORD, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_contact_list, patch, CAROMI_PER_RECORD, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_contact_list, triangle, CAROMI_PER_RECORD, CAROMI_ANSWER_TRIANGLE),
    CAROMI_FILLED(carom_contact_list, distance, CAROMI_PER_RECORD, CAROMI_ANSWER_KEY),
    CAROMI_FILLED(carom_contact_list, depth, CAROMI_PER_RECORD, CAROMI_ANSWER_DEPTH),
    CAROMI_FILLED_POINTS(carom_contact_list, point, CAROMI_PER_RECORD, CAROMI_ANSWER_POINT),
    CAROMI_FILLED_POINTS(carom_contact_list, normal, CAROMI_PER_RECORD, CAROMI_ANSWER_NORMAL),
    CAROMI_FILLED(carom_contact_list, feature, CAROMI_PER_RECORD, CAROMI_ANSWER_FEATURE),
};
#endif
