/* SPDX-License-Identifier: MIT */
/* Nearest triangle of a mesh and the closest point of it, in exact mode. */
#include "mesh_closest_exact.h"
#include "mesh_closest_kernels.h"
