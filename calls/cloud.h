/* SPDX-License-Identifier: MIT */
/* Types of calls for spheres among themselves. */
#ifndef CAROM_CALLS_CLOUD_H
#define CAROM_CALLS_CLOUD_H
#include "cloud_columns.h"
#include "type.h"

/* The caller's input columns, one number per sphere. */
enum { CLOUD_X, CLOUD_Y, CLOUD_Z, CLOUD_R, CLOUD_VX, CLOUD_VY, CLOUD_VZ, CLOUD_T_MAX, CLOUD_COLUMNS };

static const caromi_member caromi_spheres_in[] = {
    CAROMI_VIEW(carom_cloud_desc, center, CAROMI_POINTS, CAROMI_PER_QUERY, CLOUD_X, CAROMI_REQUIRED),
    CAROMI_VIEW(carom_cloud_desc, velocity, CAROMI_POINTS, CAROMI_PER_QUERY, CLOUD_VX, CAROMI_OPTIONAL),
    CAROMI_VIEW(carom_cloud_desc, radius, CAROMI_SCALARS, CAROMI_PER_QUERY, CLOUD_R, CAROMI_REQUIRED),
    CAROMI_VIEW(carom_cloud_desc, t_max, CAROMI_SCALARS, CAROMI_PER_QUERY, CLOUD_T_MAX, CAROMI_OPTIONAL),
    CAROMI_VIEW(carom_cloud_desc, mask, CAROMI_UINTS, CAROMI_PER_QUERY, CAROMI_NO_COLUMN, CAROMI_OPTIONAL),
    CAROMI_VIEW(carom_cloud_desc, group, CAROMI_UINTS, CAROMI_PER_QUERY, CAROMI_NO_COLUMN, CAROMI_OPTIONAL),
};
#define CAROMI_PAIR_RECORDS(member) CAROMI_FILLED(carom_cloud_pair_list, member, CAROMI_PER_RECORD, CAROMI_NO_COLUMN)
#define CAROMI_PAIR_NUMBER(X, member, words) CAROMI_PAIR_RECORDS(member),
#define CAROMI_PAIR_POINTS(X, member, x, y, z, words) \
    CAROMI_FILLED_POINTS(carom_cloud_pair_list, member, CAROMI_PER_RECORD, CAROMI_NO_COLUMN),
static const caromi_member caromi_pairs_out[] = {
    CAROMI_FILLED(carom_cloud_pair_list, offsets, CAROMI_PER_OFFSET, CAROMI_NO_COLUMN),
    CAROMI_PAIR_RECORDS(a),
    CAROMI_PAIR_RECORDS(b),
    CAROMI_PAIR_RECORDS(state),
    CAROMI_PAIR_RECORDS(t),
    CAROMI_MEMBER(carom_cloud_pair_list, shift, CAROMI_ARRAY, CAROMI_PER_RECORD, CAROMI_NO_COLUMN, 3, CAROMI_OPTIONAL),
    CAROMI_PAIR_NUMBERS(, CAROMI_PAIR_NUMBER, CAROMI_PAIR_POINTS) CAROMI_PAIR_RECORDS(previous),
};
static const caromi_member caromi_partner_out[] = {
    CAROMI_FILLED(carom_cloud_partner_result, other, CAROMI_PER_QUERY, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_cloud_partner_result, state, CAROMI_PER_QUERY, CAROMI_NO_COLUMN),
    CAROMI_FILLED(carom_cloud_partner_result, t, CAROMI_PER_QUERY, CAROMI_NO_COLUMN),
};
static const caromi_member caromi_count_out[] = {
    CAROMI_MEMBER(carom_cloud_count_result, partners, CAROMI_ARRAY, CAROMI_PER_QUERY, CAROMI_NO_COLUMN,
                  sizeof(uint32_t), CAROMI_REQUIRED),
};

CAROMI_CALL_TYPE(cloud_list, "context", carom_cloud_desc, CAROMI_MEMBERS(caromi_spheres_in), "list",
                 carom_cloud_pair_list, CAROMI_MEMBERS(caromi_pairs_out), .unit = CAROMI_UNIT_SPHERE, .stays = 1,
                 .serves = CAROMI_SERVES_BEGIN, .totals = offsetof(carom_cloud_pair_list, totals))
CAROMI_CALL_TYPE(cloud_first, "context", carom_cloud_desc, CAROMI_MEMBERS(caromi_spheres_in), "out",
                 carom_cloud_partner_result, CAROMI_MEMBERS(caromi_partner_out), .unit = CAROMI_UNIT_SPHERE, .stays = 1)
CAROMI_CALL_TYPE(cloud_any, "context", carom_cloud_desc, CAROMI_MEMBERS(caromi_spheres_in), "out", carom_any_result,
                 CAROMI_MEMBERS(caromi_any_out), .unit = CAROMI_UNIT_SPHERE, .stays = 1)
CAROMI_CALL_TYPE(cloud_count, "context", carom_cloud_desc, CAROMI_MEMBERS(caromi_spheres_in), "out",
                 carom_cloud_count_result, CAROMI_MEMBERS(caromi_count_out), .unit = CAROMI_UNIT_SPHERE, .stays = 1)
CAROMI_INLINED const caromi_call_type *caromi_type_of_cloud_order(void)
{
    static const caromi_call_type type = {.name = "carom_cloud_order",
                                          .subject = "context",
                                          .out_argument = "order",
                                          .desc_name = "carom_cloud_desc",
                                          .desc_size = sizeof(carom_cloud_desc),
                                          .out_element = sizeof(uint32_t),
                                          .in = CAROMI_MEMBERS(caromi_spheres_in),
                                          .unit = CAROMI_UNIT_SPHERE,
                                          .stays = 1,
                                          .call = caromi_call_cloud_order};
    return &type;
}
#endif
