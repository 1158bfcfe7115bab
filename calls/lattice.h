/* SPDX-License-Identifier: MIT */
/* Types of calls for the nodes of a lattice, and for drops at places of the caller. */
#ifndef CAROM_CALLS_LATTICE_H
#define CAROM_CALLS_LATTICE_H
#include "mesh.h"

static const caromi_member caromi_distance_in[] = {
    CAROMI_MEMBER(carom_mesh_distance_desc, band, CAROMI_NUMBER, CAROMI_SINGLE, CAROMI_NO_COLUMN, sizeof(float),
                  CAROMI_OPTIONAL),
};
static const caromi_member caromi_distance_out[] = {
    CAROMI_FILLED(carom_mesh_distance_result, distance, CAROMI_PER_NODE, CAROMI_ANSWER_KEY),
    CAROMI_FILLED(carom_mesh_distance_result, triangle, CAROMI_PER_NODE, CAROMI_ANSWER_TRIANGLE),
    CAROMI_FILLED_POINTS(carom_mesh_distance_result, point, CAROMI_PER_NODE, CAROMI_ANSWER_POINT),
    CAROMI_FILLED(carom_mesh_distance_result, feature, CAROMI_PER_NODE, CAROMI_ANSWER_FEATURE),
    CAROMI_FILLED_POINTS(carom_mesh_distance_result, gradient, CAROMI_PER_NODE, CAROMI_ANSWER_GRADIENT),
};

static const caromi_member caromi_clearance_out[] = {
    CAROMI_FILLED(carom_mesh_clearance_result, clearance, CAROMI_PER_NODE, CAROMI_NO_COLUMN),
};

static const caromi_member caromi_drop_out[] = {
    CAROMI_FILLED(carom_mesh_drop_result, height, CAROMI_PER_NODE, CAROMI_NO_COLUMN),
};

static const caromi_member caromi_drop_at_in[] = {
    CAROMI_MESH_VIEW(carom_mesh_drop_at_desc, x, CAROMI_SCALARS, MESH_CX, CAROMI_REQUIRED),
    CAROMI_MESH_VIEW(carom_mesh_drop_at_desc, y, CAROMI_SCALARS, MESH_CX + 1, CAROMI_REQUIRED),
    CAROMI_MESH_MASK(carom_mesh_drop_at_desc),
};
static const caromi_member caromi_drop_at_out[] = {
    CAROMI_FILLED(carom_mesh_drop_at_result, height, CAROMI_PER_QUERY, CAROMI_ANSWER_KEY),
    CAROMI_FILLED(carom_mesh_drop_at_result, triangle, CAROMI_PER_QUERY, CAROMI_ANSWER_TRIANGLE),
    CAROMI_FILLED_POINTS(carom_mesh_drop_at_result, point, CAROMI_PER_QUERY, CAROMI_ANSWER_POINT),
    CAROMI_FILLED(carom_mesh_drop_at_result, feature, CAROMI_PER_QUERY, CAROMI_ANSWER_FEATURE),
};

CAROMI_CALL_TYPE(mesh_distance, "mesh", carom_mesh_distance_desc, CAROMI_MEMBERS(caromi_distance_in), "out",
                 carom_mesh_distance_result, CAROMI_MEMBERS(caromi_distance_out), .unit = CAROMI_UNIT_SLAB,
                 .serves = CAROMI_SERVES_BEGIN, .stays = 1, .lattice = offsetof(carom_mesh_distance_desc, lattice))
CAROMI_CALL_TYPE(mesh_clearance, "mesh", carom_mesh_clearance_desc, CAROMI_NO_MEMBERS, "out",
                 carom_mesh_clearance_result, CAROMI_MEMBERS(caromi_clearance_out), .unit = CAROMI_UNIT_SLAB,
                 .serves = CAROMI_SERVES_BEGIN, .stays = 1, .lattice = offsetof(carom_mesh_clearance_desc, lattice),
                 .radius = offsetof(carom_mesh_clearance_desc, radius))
CAROMI_CALL_TYPE(mesh_drop, "mesh", carom_mesh_drop_desc, CAROMI_NO_MEMBERS, "out", carom_mesh_drop_result,
                 CAROMI_MEMBERS(caromi_drop_out), .unit = CAROMI_UNIT_ROW, .serves = CAROMI_SERVES_BEGIN,
                 .lattice = offsetof(carom_mesh_drop_desc, lattice), .radius = offsetof(carom_mesh_drop_desc, radius))
CAROMI_CALL_TYPE(mesh_drop_at, "mesh", carom_mesh_drop_at_desc, CAROMI_MEMBERS(caromi_drop_at_in), "out",
                 carom_mesh_drop_at_result, CAROMI_MEMBERS(caromi_drop_at_out), .serves = CAROMI_SERVES_SELECT,
                 .radius = offsetof(carom_mesh_drop_at_desc, radius))
#endif
