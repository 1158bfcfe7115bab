/* SPDX-License-Identifier: MIT */
/* Closest triangle of a mesh, and the closest point on it, in fast mode. */
#include "mesh_closest.h"
#include "mesh_closest_kernels.h"
