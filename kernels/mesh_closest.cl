/* SPDX-License-Identifier: MIT */
/* Nearest triangle of a mesh and the closest point of it, in fast mode. */
#include "mesh_closest.h"
#include "mesh_closest_kernels.h"
