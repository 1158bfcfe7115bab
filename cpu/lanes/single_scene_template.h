/* SPDX-License-Identifier: MIT */
/* Searches of a scene for one query at a time; included once for each width with MESH_WIDTH defined. */
#define LANES 1
#define MESH_SCENE
#define MESH_SCENE_MOVES
#include "kernels/wide.h" /* first: headers have exact bodies where it is */
#include "cpu/scene/motion.h"
#include "cpu/mesh/resolve_closest.h"
#include "cpu/mesh/resolve_mesh.h"

#define SINGLE_CAT_(a, b) a##b
#define SINGLE_CAT(a, b) SINGLE_CAT_(a, b)
const caromi_single_searches SINGLE_CAT(caromi_scene_searches_, MESH_WIDTH) = {.first = mesh_resolve,
                                                                               .closest = closest_resolve};
