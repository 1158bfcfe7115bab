/* SPDX-License-Identifier: MIT */
/* Searches of a mesh for one query at a time; included once for each width with MESH_WIDTH defined. */
#define LANES 1
#include "kernels/wide.h" /* first: headers have exact bodies where it is */
#include "cpu/mesh/contact_triangles.h"
#include "cpu/mesh/resolve_closest.h"
#include "cpu/mesh/resolve_mesh.h"
#include "cpu/lattice/resolve_cube.h"

#define SINGLE_CAT_(a, b) a##b
#define SINGLE_CAT(a, b) SINGLE_CAT_(a, b)
const caromi_single_searches SINGLE_CAT(caromi_single_searches_, MESH_WIDTH) = {
    .first = mesh_resolve,
    .closest = closest_resolve,
    .cube = cube_resolve,
    .near_two_points = contact_find_triangle,
};
