/* SPDX-License-Identifier: MIT */
/* Closest triangle of a scene in exact mode. */
#define MESH_SCENE
#define KERNEL_mesh_closest_exact
#include "scene_map.h"
#include "scene_own.h"
#include "mesh_closest_exact.h"
#include "mesh_closest_kernels.h"
