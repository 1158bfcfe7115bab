/* SPDX-License-Identifier: MIT */
/* Types of calls for spheres against a mesh. */
#ifndef CAROM_CALLS_MESH_H
#define CAROM_CALLS_MESH_H
#include "type.h"

/* Output columns of all kinds. */
enum {
    CAROMI_ANSWER_TRIANGLE,
    CAROMI_ANSWER_STATE,
    CAROMI_ANSWER_KEY, /* the minimized number: the time of a hit, the distance of the closest triangle */
    CAROMI_ANSWER_DEPTH,
    CAROMI_ANSWER_POINT,                            /* x y z */
    CAROMI_ANSWER_NORMAL = CAROMI_ANSWER_POINT + 3, /* x y z */
    CAROMI_ANSWER_FEATURE = CAROMI_ANSWER_NORMAL + 3,
    CAROMI_ANSWER_GRADIENT,                              /* x y z, of closest points */
    CAROMI_ANSWER_INSTANCE = CAROMI_ANSWER_GRADIENT + 3, /* of a scene */
    CAROMI_ANSWERS
};

#define CAROMI_MESH_VIEW(type, member, kind, column, needed) \
    CAROMI_VIEW(type, member, kind, CAROMI_PER_ELEMENT, column, needed)
#define CAROMI_MESH_MASK(type) CAROMI_MESH_VIEW(type, mask, CAROMI_UINTS, CAROMI_NO_COLUMN, CAROMI_OPTIONAL)
static const caromi_member caromi_sweep_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, center, CAROMI_POINTS, MESH_CX, CAROMI_REQUIRED),
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, radius, CAROMI_SCALARS, MESH_RADIUS, CAROMI_REQUIRED),
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, velocity, CAROMI_POINTS, MESH_VX,
                     CAROMI_OPTIONAL), /* one of these two is given */
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, end, CAROMI_POINTS, MESH_VX, CAROMI_OPTIONAL),
    CAROMI_MESH_VIEW(carom_mesh_sweep_desc, t_max, CAROMI_SCALARS, MESH_T_MAX, CAROMI_OPTIONAL),
    CAROMI_MESH_MASK(carom_mesh_sweep_desc),
};
static const caromi_member caromi_overlap_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_overlap_desc, center, CAROMI_POINTS, MESH_CX, CAROMI_REQUIRED),
    CAROMI_MESH_VIEW(carom_mesh_overlap_desc, radius, CAROMI_SCALARS, MESH_RADIUS, CAROMI_REQUIRED),
    CAROMI_MESH_MASK(carom_mesh_overlap_desc),
};
static const caromi_member caromi_closest_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_closest_desc, center, CAROMI_POINTS, MESH_CX, CAROMI_REQUIRED),
    CAROMI_MESH_VIEW(carom_mesh_closest_desc, radius, CAROMI_SCALARS, MESH_RADIUS, CAROMI_OPTIONAL),
    CAROMI_MESH_VIEW(carom_mesh_closest_desc, max_distance, CAROMI_SCALARS, MESH_MAX_DISTANCE, CAROMI_OPTIONAL),
    CAROMI_MESH_MASK(carom_mesh_closest_desc),
};
static const caromi_member caromi_contacts_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_contacts_desc, center, CAROMI_POINTS, MESH_CX, CAROMI_REQUIRED),
    CAROMI_MESH_VIEW(carom_mesh_contacts_desc, radius, CAROMI_SCALARS, MESH_RADIUS, CAROMI_REQUIRED),
    CAROMI_MESH_MASK(carom_mesh_contacts_desc),
    CAROMI_MEMBER(carom_mesh_contacts_desc, flat, CAROMI_NUMBER, CAROMI_SINGLE, CAROMI_NO_COLUMN, sizeof(double),
                  CAROMI_OPTIONAL),
};
/* Of hits: but for the triangle, alike in a result and a list. */
#define CAROMI_HIT_MEMBERS(type, extent)                                                                        \
    CAROMI_FILLED(type, state, extent, CAROMI_ANSWER_STATE), CAROMI_FILLED(type, t, extent, CAROMI_ANSWER_KEY), \
        CAROMI_FILLED_POINTS(type, point, extent, CAROMI_ANSWER_POINT),                                         \
        CAROMI_FILLED_POINTS(type, normal, extent, CAROMI_ANSWER_NORMAL),                                       \
        CAROMI_FILLED(type, feature, extent, CAROMI_ANSWER_FEATURE)
static const caromi_member caromi_hit_out[] = {
    CAROMI_FILLED(carom_mesh_hit_result, triangle, CAROMI_PER_QUERY, CAROMI_ANSWER_TRIANGLE),
    CAROMI_FILLED(carom_mesh_hit_result, instance, CAROMI_PER_QUERY, CAROMI_ANSWER_INSTANCE),
    CAROMI_HIT_MEMBERS(carom_mesh_hit_result, CAROMI_PER_QUERY),
};
static const caromi_member caromi_hit_list_out[] = {
    CAROMI_FILLED(carom_hit_list, offsets, CAROMI_PER_OFFSET, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_hit_list, query, CAROMI_PER_RECORD, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_hit_list, triangle, CAROMI_PER_RECORD, CAROMI_ANSWER_TRIANGLE),
    CAROMI_FILLED(carom_hit_list, instance, CAROMI_PER_RECORD, CAROMI_ANSWER_INSTANCE),
    CAROMI_HIT_MEMBERS(carom_hit_list, CAROMI_PER_RECORD),
};
static const caromi_member caromi_closest_out[] = {
    CAROMI_FILLED(carom_mesh_closest_result, triangle, CAROMI_PER_QUERY, CAROMI_ANSWER_TRIANGLE),
    CAROMI_FILLED(carom_mesh_closest_result, instance, CAROMI_PER_QUERY, CAROMI_ANSWER_INSTANCE),
    CAROMI_FILLED(carom_mesh_closest_result, distance, CAROMI_PER_QUERY, CAROMI_ANSWER_KEY),
    CAROMI_FILLED_POINTS(carom_mesh_closest_result, point, CAROMI_PER_QUERY, CAROMI_ANSWER_POINT),
    CAROMI_FILLED(carom_mesh_closest_result, feature, CAROMI_PER_QUERY, CAROMI_ANSWER_FEATURE),
    CAROMI_FILLED(carom_mesh_closest_result, depth, CAROMI_PER_QUERY, CAROMI_ANSWER_DEPTH),
    CAROMI_FILLED_POINTS(carom_mesh_closest_result, gradient, CAROMI_PER_QUERY, CAROMI_ANSWER_GRADIENT),
    CAROMI_FILLED(carom_mesh_closest_result, query, CAROMI_PER_QUERY, CAROMI_NO_COLUMN),
};
static const caromi_member caromi_contacts_out[] = {
    CAROMI_FILLED(carom_contact_list, offsets, CAROMI_PER_OFFSET, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_contact_list, query, CAROMI_PER_RECORD, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_contact_list, patch, CAROMI_PER_RECORD, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_contact_list, triangle, CAROMI_PER_RECORD, CAROMI_ANSWER_TRIANGLE),
    CAROMI_FILLED(carom_contact_list, instance, CAROMI_PER_RECORD, CAROMI_ANSWER_INSTANCE),
    CAROMI_FILLED(carom_contact_list, distance, CAROMI_PER_RECORD, CAROMI_ANSWER_KEY),
    CAROMI_FILLED(carom_contact_list, depth, CAROMI_PER_RECORD, CAROMI_ANSWER_DEPTH),
    CAROMI_FILLED_POINTS(carom_contact_list, point, CAROMI_PER_RECORD, CAROMI_ANSWER_POINT),
    CAROMI_FILLED_POINTS(carom_contact_list, normal, CAROMI_PER_RECORD, CAROMI_ANSWER_NORMAL),
    CAROMI_FILLED(carom_contact_list, feature, CAROMI_PER_RECORD, CAROMI_ANSWER_FEATURE),
};

CAROMI_CALL_TYPE(mesh_sweep_first, "mesh", carom_mesh_sweep_desc, CAROMI_MEMBERS(caromi_sweep_in), "out",
                 carom_mesh_hit_result, CAROMI_MEMBERS(caromi_hit_out), .serves = CAROMI_SERVES_SELECT, .stays = 1,
                 .enqueues = 1)
CAROMI_CALL_TYPE(mesh_sweep_list, "mesh", carom_mesh_sweep_desc, CAROMI_MEMBERS(caromi_sweep_in), "list",
                 carom_hit_list, CAROMI_MEMBERS(caromi_hit_list_out),
                 .serves = CAROMI_SERVES_SELECT | CAROMI_SERVES_BEGIN, .totals = offsetof(carom_hit_list, totals),
                 .has_which = 1, .stays = 1)
CAROMI_CALL_TYPE(mesh_sweep_any, "mesh", carom_mesh_sweep_desc, CAROMI_MEMBERS(caromi_sweep_in), "out",
                 carom_any_result, CAROMI_MEMBERS(caromi_any_out), .serves = CAROMI_SERVES_SELECT, .stays = 1,
                 .enqueues = 1)
CAROMI_CALL_TYPE(mesh_overlap_list, "mesh", carom_mesh_overlap_desc, CAROMI_MEMBERS(caromi_overlap_in), "list",
                 carom_hit_list, CAROMI_MEMBERS(caromi_hit_list_out),
                 .serves = CAROMI_SERVES_SELECT | CAROMI_SERVES_BEGIN, .totals = offsetof(carom_hit_list, totals),
                 .stays = 1)
CAROMI_CALL_TYPE(mesh_overlap_any, "mesh", carom_mesh_overlap_desc, CAROMI_MEMBERS(caromi_overlap_in), "out",
                 carom_any_result, CAROMI_MEMBERS(caromi_any_out), .serves = CAROMI_SERVES_SELECT, .stays = 1,
                 .enqueues = 1)
CAROMI_CALL_TYPE(mesh_closest, "mesh", carom_mesh_closest_desc, CAROMI_MEMBERS(caromi_closest_in), "out",
                 carom_mesh_closest_result, CAROMI_MEMBERS(caromi_closest_out), .serves = CAROMI_SERVES_SELECT,
                 .stays = 1, .enqueues = 1)
CAROMI_CALL_TYPE(mesh_contacts, "mesh", carom_mesh_contacts_desc, CAROMI_MEMBERS(caromi_contacts_in), "list",
                 carom_contact_list, CAROMI_MEMBERS(caromi_contacts_out),
                 .serves = CAROMI_SERVES_SELECT | CAROMI_SERVES_BEGIN, .totals = offsetof(carom_contact_list, totals),
                 .stays = 1)
#endif
