/* SPDX-License-Identifier: MIT */
/* Closest triangle of a mesh, and the closest point on it, in exact mode. */
#include "mesh_closest_exact.h"
#include "mesh_closest_kernels.h"
