/* SPDX-License-Identifier: MIT */
/* Overlaps of spheres at rest with a mesh, in both modes: the filter of exact mode is in binary32. */
#include "mesh_overlap.h"
#include "mesh_kernels.h"
