/* SPDX-License-Identifier: MIT */
#define MESH_WIDTH 16
#include "cones_template.h"
#include "opposites_template.h"

const caromi_culling_makers caromi_culling_makers_16 = {opposites_fill, cones_fill};
