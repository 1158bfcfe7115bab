/* SPDX-License-Identifier: MIT */
/* Overlaps of spheres at rest with a scene, in both modes. */
#define MESH_SCENE
#if defined(KERNEL_scene_overlaps)
#define KERNEL_mesh_overlaps
#elif defined(KERNEL_scene_overlaps_exact)
#define KERNEL_mesh_overlaps_exact
#endif
#include "scene_map.h"
#include "scene_own.h"
#include "mesh_overlap.h"
#include "mesh_kernels.h"
